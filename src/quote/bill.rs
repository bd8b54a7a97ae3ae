//! Usages with their prices, and the sums.

use super::error::{QuoteError, at};
use super::input::{Input, Row};
use super::rates::{Listed, Quote, Rates};
use crate::pricing::{Cost, Price, cost};
use crate::provider::WriteSplit;
use crate::units::{CacheTtl, PicoUsd, Ratio, Tokens, grouped};
use crate::usage::Usage;

/// Most tokens that all rows together may have, far below overflow.
const TOKENS_MAX: u64 = 100_000_000_000_000_000;

/// One class of tokens with its own price.
#[derive(Debug)]
pub struct Class {
    /// Its name in JSON.
    pub key: &'static str,
    /// Its name in a table.
    pub label: &'static str,
    /// Whether it is input, which has token equivalents.
    pub is_input: bool,
    /// Its tokens in a usage.
    pub tokens: fn(&Usage) -> Tokens,
    /// Its part of a cost.
    pub cost: fn(&Cost) -> PicoUsd,
    /// Its price for one token.
    pub price: fn(&Price) -> PicoUsd,
}

/// Every class in the order of the tables.
pub const CLASSES: [Class; 5] = [
    Class {
        key: "read",
        label: "read",
        is_input: true,
        tokens: |usage| usage.read,
        cost: |cost| cost.read,
        price: |price| price.read,
    },
    Class {
        key: "write_5m",
        label: "write 5m",
        is_input: true,
        tokens: |usage| usage.write_5m,
        cost: |cost| cost.write_5m,
        price: |price| price.write_5m,
    },
    Class {
        key: "write_1h",
        label: "write 1h",
        is_input: true,
        tokens: |usage| usage.write_1h,
        cost: |cost| cost.write_1h,
        price: |price| price.write_1h,
    },
    Class {
        key: "uncached",
        label: "uncached",
        is_input: true,
        tokens: |usage| usage.uncached,
        cost: |cost| cost.uncached,
        price: |price| price.input,
    },
    Class {
        key: "output",
        label: "output",
        is_input: false,
        tokens: |usage| usage.output,
        cost: |cost| cost.output,
        price: |price| price.output,
    },
];

/// One usage with its price.
#[derive(Debug)]
pub struct Line {
    /// What was billed, and where it stands.
    pub row: Row,
    /// Its tokens by class, writes of unstated lifetime among them.
    pub usage: Usage,
    /// Its prompts with their prices, at least one: the length of each chooses its price.
    pub passes: Vec<PricedPass>,
    /// What it costs.
    pub cost: Cost,
}

/// One prompt of a usage with its price.
#[derive(Debug)]
pub struct PricedPass {
    /// Its tokens by class.
    pub usage: Usage,
    /// Its price.
    pub quote: Quote,
    /// What it costs.
    pub cost: Cost,
}

impl Line {
    /// The quote that all its prompts share; `None` where their prices differ.
    pub fn quote(&self) -> Option<&Quote> {
        let first = self.first_quote()?;
        self.quotes().all(|quote| quote.price == first.price).then_some(first)
    }

    /// The quotes of its prompts in order.
    pub fn quotes(&self) -> impl Iterator<Item = &Quote> {
        self.passes.iter().map(|pass| &pass.quote)
    }

    /// The model that prices it; `None` for typed prices.
    pub fn model(&self) -> Option<&'static str> {
        self.first_quote()?.model
    }

    /// Input in token equivalents; `None` where uncached input costs nothing.
    pub fn te(&self) -> Option<Ratio> {
        Ratio::new(self.cost.input().0, self.first_quote()?.base.0)
    }

    fn first_quote(&self) -> Option<&Quote> {
        self.passes.first().map(|pass| &pass.quote)
    }

    fn of(row: Row, rates: &Rates, ttl: CacheTtl) -> Result<Line, QuoteError> {
        let usage = row.billed.with_assumed_writes(ttl);
        let mut passes = Vec::with_capacity(row.billed.passes.len());
        let mut whole = Cost::default();
        for pass in &row.billed.passes {
            let usage = pass.with_assumed_writes(ttl);
            let quote = rates.quote(&usage).map_err(|error| error.at(&row.place))?;
            let cost = cost(&usage, &quote.price);
            whole = sum(&whole, &cost);
            passes.push(PricedPass { usage, quote, cost });
        }
        Ok(Line { row, usage, passes, cost: whole })
    }

    /// What does not add up, and what is not part of the price, with its place.
    fn warnings(&self, rates: &Rates) -> Vec<String> {
        let billed = &self.row.billed;
        let longest = self.passes.iter().map(|pass| pass.usage.input()).max().unwrap_or_default();
        let read = billed.warnings.iter().map(ToString::to_string);
        let unpriced = billed.unpriced.iter().map(ToString::to_string);
        let all = read.chain(unpriced).chain(rates.past_window(longest));
        all.map(|words| at(&self.row.place, &words)).collect()
    }
}

/// All usages with their prices and what they come to.
#[derive(Debug)]
pub struct Bill {
    /// At least one.
    pub lines: Vec<Line>,
    /// The tokens of all lines.
    pub usage: Usage,
    /// The cost of all lines.
    pub cost: Cost,
    /// What was assumed about the usages, in words.
    pub assumed: Vec<String>,
    /// What does not add up, in words, with its place.
    pub warnings: Vec<String>,
}

impl Bill {
    /// Prices every row at `rates`; writes of unstated lifetime are taken as `ttl`, five minutes by
    /// default. A warning says how many rows name another model than the one that prices them.
    ///
    /// # Errors
    /// Where a row has no price, or all of them together more tokens than are counted.
    pub fn of(
        input: &Input,
        rates: &RowRates<'_>,
        ttl: Option<CacheTtl>,
    ) -> Result<Bill, QuoteError> {
        let model = match rates {
            RowRates::Same(Rates::Listed(listed)) => Some(listed.model.id.as_str()),
            RowRates::Same(Rates::Typed(_)) | RowRates::Named(_) => None,
        };
        let mut bill = Bill::summed(input, rates, model, ttl)?;
        if let RowRates::Same(Rates::Listed(listed)) = rates {
            bill.warnings.extend(overridden(input, listed));
        }
        Ok(bill)
    }

    /// [`Bill::of`], without a word about the models that rows name; rows that name none are calls
    /// of `model`.
    pub(super) fn summed(
        input: &Input,
        rates: &RowRates<'_>,
        model: Option<&str>,
        ttl: Option<CacheTtl>,
    ) -> Result<Bill, QuoteError> {
        let mut bill = Bill {
            lines: Vec::with_capacity(input.rows.len()),
            usage: Usage::default(),
            cost: Cost::default(),
            assumed: Vec::new(),
            warnings: Vec::new(),
        };
        let mut unstated = Tokens::ZERO;
        for row in &input.rows {
            let row = row.of_model(model)?;
            let rates = rates.of(&row)?;
            let line = Line::of(row, &rates, ttl.unwrap_or(CacheTtl::FiveMinutes))?;
            if let WriteSplit::Assumed(tokens) = line.row.billed.split {
                unstated += tokens;
            }
            bill.warnings.extend(line.warnings(&rates));
            bill.usage = bill.usage + line.usage;
            bill.cost = sum(&bill.cost, &line.cost);
            if (bill.usage.input() + bill.usage.output).0 > TOKENS_MAX {
                let most = grouped(i128::from(TOKENS_MAX));
                let message = format!("the rows have more than {most} tokens together");
                return Err(QuoteError::Usage { message, help: "price them in parts".to_owned() });
            }
            bill.lines.push(line);
        }
        bill.assumed.extend(unstated_lifetime(unstated, ttl));
        bill.assumed.extend(rates.assumed());
        if input.without_usage > 0 {
            let count = input.without_usage;
            bill.warnings.push(format!("rows without a usage, not priced: {count}"));
        }
        Ok(bill)
    }

    /// The quote that all lines share; `None` where they differ.
    pub fn one_quote(&self) -> Option<&Quote> {
        let first = self.quotes().next()?;
        self.quotes().all(|quote| quote == first).then_some(first)
    }

    /// The quotes of all prompts in order.
    pub fn quotes(&self) -> impl Iterator<Item = &Quote> {
        self.lines.iter().flat_map(Line::quotes)
    }

    /// The price of a token equivalent that all lines share.
    pub fn base(&self) -> Option<PicoUsd> {
        let first = self.quotes().next()?.base;
        self.quotes().all(|quote| quote.base == first).then_some(first)
    }

    /// `cost` in token equivalents; `None` where lines have different units or the unit is free.
    pub fn te(&self, cost: PicoUsd) -> Option<String> {
        self.base().and_then(|base| Ratio::new(cost.0, base.0)).map(|te| te.to_decimal(2))
    }

    /// The cost of a class in token equivalents; `None` for output, and where [`Bill::te`] is.
    pub fn class_te(&self, class: &Class) -> Option<String> {
        if class.is_input { self.te((class.cost)(&self.cost)) } else { None }
    }

    /// `cost` as a part of the total in percent; `None` where nothing costs anything.
    pub fn share(&self, cost: PicoUsd) -> Option<String> {
        Ratio::new(cost.0 * 100, self.cost.total().0).map(|share| share.to_decimal(1))
    }
}

/// Dollars rounded to the cent, halves away from zero.
pub fn to_the_cent(cost: PicoUsd) -> String {
    Ratio { numerator: cost.0, denominator: 1_000_000_000_000 }.to_decimal(2)
}

fn sum(one: &Cost, other: &Cost) -> Cost {
    Cost {
        read: one.read + other.read,
        write_5m: one.write_5m + other.write_5m,
        write_1h: one.write_1h + other.write_1h,
        uncached: one.uncached + other.uncached,
        output: one.output + other.output,
    }
}

fn unstated_lifetime(tokens: Tokens, ttl: Option<CacheTtl>) -> Option<String> {
    (tokens > Tokens::ZERO).then(|| match ttl {
        Some(ttl) => format!("{tokens} written tokens of unstated lifetime are {ttl}, by --ttl"),
        None => format!(
            "{tokens} written tokens of unstated lifetime are 5m; --ttl 1h takes them as 1h"
        ),
    })
}

/// Where the price of each row comes from.
#[derive(Debug)]
pub enum RowRates<'a> {
    /// One for all rows.
    Same(&'a Rates),
    /// The model that the row names, on a day.
    Named(Option<jiff::civil::Date>),
}

impl RowRates<'_> {
    fn of(&self, row: &Row) -> Result<Rates, QuoteError> {
        match self {
            RowRates::Same(rates) => Ok((*rates).clone()),
            RowRates::Named(date) => match &row.model {
                Some(name) => Listed::find(name, *date)
                    .map(Rates::Listed)
                    .map_err(|error| error.at(&row.place)),
                None => Err(QuoteError::Price {
                    message: at(&row.place, "no model and no price is given"),
                    help: "name one with --model, or give prices with --input-price and \
                           --output-price"
                        .to_owned(),
                }),
            },
        }
    }

    fn assumed(&self) -> Vec<String> {
        match self {
            RowRates::Same(Rates::Typed(typed)) => typed.assumed.clone(),
            RowRates::Same(Rates::Listed(_)) | RowRates::Named(_) => Vec::new(),
        }
    }
}

/// Says how many rows name another model than the one that prices them.
fn overridden(input: &Input, listed: &Listed) -> Option<String> {
    let is_other = |name: &&str| {
        **name != *listed.name
            && Listed::find(name, None).map_or(true, |own| own.model.id != listed.model.id)
    };
    let others = input.rows.iter().filter_map(|row| row.model.as_deref()).filter(is_other);
    let count = others.count();
    (count > 0).then(|| {
        format!(
            "rows that name another model, priced for {} all the same: {count}",
            listed.model.id
        )
    })
}
