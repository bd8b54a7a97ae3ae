//! Which price a usage has: the one of a model on a day, or one that was typed.

use jiff::civil::Date;

use super::error::QuoteError;
use super::numbers::{Factor, exact, usd_per_mtok};
use crate::pricing::{Confidence, Price, PriceEntry};
use crate::provider::{self, ModelFacts, Provider, UnknownModel, find_model};
use crate::units::{PicoUsd, Tokens};
use crate::usage::Usage;

/// Where prices come from.
#[derive(Clone, Debug)]
pub enum Rates {
    /// The price list.
    Listed(Listed),
    /// Prices that were given.
    Typed(Box<Typed>),
}

/// A model of the price list on a day.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Whose model it is.
    pub provider: &'static dyn Provider,
    /// The model.
    pub model: &'static ModelFacts,
    /// The name that was asked for.
    pub name: String,
    /// The day whose prices hold.
    pub date: Date,
}

/// Prices as they are given, for one token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenPrices {
    /// Uncached input.
    pub input: PicoUsd,
    /// Output; without it a usage with output has no price.
    pub output: Option<PicoUsd>,
    /// Writes for five minutes, by default 1.25 times input.
    pub write_5m: Option<PicoUsd>,
    /// Writes for one hour, by default 2 times input.
    pub write_1h: Option<PicoUsd>,
    /// Reads, by default 0.1 times input.
    pub read: Option<PicoUsd>,
    /// Prompts of more tokens than this cost a multiple, all of the request.
    pub tier: Option<(Tokens, Factor)>,
}

/// A price for every class, by given ones.
#[derive(Clone, Debug)]
pub struct Typed {
    price: Price,
    output_given: bool,
    tier: Option<Tier>,
    /// What follows from the input price, in words.
    pub assumed: Vec<String>,
}

#[derive(Clone, Debug)]
struct Tier {
    above: Tokens,
    factor: Factor,
    price: Price,
}

/// The price of one usage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The price of one token by class.
    pub price: Price,
    /// Uncached input of the shortest prompts: the unit of token equivalents.
    pub base: PicoUsd,
    /// The model's id; `None` for typed prices.
    pub model: Option<&'static str>,
    /// The day for which the price list was read; `None` for typed prices.
    pub date: Option<Date>,
    /// The entry of the price list.
    pub entry: Option<PriceEntry>,
    /// The price and what it is, in words.
    pub words: Vec<String>,
}

impl Rates {
    /// The price of `usage`.
    ///
    /// # Errors
    /// Where there is none.
    pub fn quote(&self, usage: &Usage) -> Result<Quote, QuoteError> {
        match self {
            Rates::Listed(listed) => listed.quote(usage),
            Rates::Typed(typed) => typed.quote(usage),
        }
    }

    /// Says that a prompt of `input` tokens is longer than the model takes.
    pub(super) fn past_window(&self, input: Tokens) -> Option<String> {
        match self {
            Rates::Listed(listed) => {
                let (id, window) = (&listed.model.id, listed.model.context_window);
                (input > window).then(|| {
                    format!(
                        "a prompt of {input} tokens is longer than the context window of {id}, \
                         {window}: is it the sum of several?"
                    )
                })
            }
            Rates::Typed(_) => None,
        }
    }
}

impl Listed {
    /// The model called `name` of any provider, on `date`; without one on the day on which its
    /// provider's prices were last checked.
    ///
    /// # Errors
    /// Where no model has the name, with the nearest.
    pub fn find(name: &str, date: Option<Date>) -> Result<Listed, QuoteError> {
        let mut unknown: Option<UnknownModel> = None;
        for provider in provider::ALL {
            match find_model(provider.facts(), name) {
                Ok(model) => {
                    let date = date.unwrap_or(provider.facts().checked);
                    return Ok(Listed { provider: *provider, model, name: name.to_owned(), date });
                }
                Err(error) => unknown = Some(error),
            }
        }
        let nearest = unknown.map(|error| error.nearest).unwrap_or_default();
        let help = match nearest.as_slice() {
            [] => "`forkcost price` lists the models; --input-price prices any other".to_owned(),
            some => format!("the nearest are {}; `forkcost price` lists all", some.join(", ")),
        };
        Err(QuoteError::Model { message: format!("no model is called `{name}`"), help })
    }

    fn quote(&self, usage: &Usage) -> Result<Quote, QuoteError> {
        let found = self.model.prices.with_base(self.date, usage.input());
        let (entry, base) = found.ok_or_else(|| self.no_price())?;
        Ok(Quote {
            price: entry.price,
            base,
            model: Some(&self.model.id),
            date: Some(self.date),
            entry: Some(entry.clone()),
            words: self.words(entry),
        })
    }

    fn no_price(&self) -> QuoteError {
        let first = self.model.prices.entries.iter().map(|entry| entry.from).min();
        let help = match first {
            Some(first) if self.date < first => {
                format!("its prices begin on {first}: --date {first}")
            }
            Some(_) | None => format!("`forkcost price --model {}` shows its days", self.model.id),
        };
        refusal(format!("{} has no price on {}", self.model.id, self.date), help)
    }

    fn words(&self, entry: &PriceEntry) -> Vec<String> {
        let mut words = vec![format!(
            "{} since {}, on {} ({}, checked {}): {}",
            self.model.id,
            entry.from,
            self.date,
            mark_words(entry.mark),
            entry.checked,
            entry.source
        )];
        if entry.above_tokens > Tokens::ZERO {
            words.push(format!(
                "the prompt is longer than {} tokens: the whole request has this price",
                entry.above_tokens
            ));
        }
        words
    }
}

impl Typed {
    /// Completes given prices: what is not given follows from the input price, in exact decimals.
    ///
    /// # Errors
    /// Where a price that follows is no whole number of pico-dollars.
    pub fn of(given: &GivenPrices) -> Result<Typed, QuoteError> {
        let input = given.input;
        let mut assumed = Vec::new();
        let mut follows = |own: Option<PicoUsd>, name: &str, flag: &str, (times, by), factor| {
            if let Some(price) = own {
                return Ok::<PicoUsd, QuoteError>(price);
            }
            let price = exact(input.0 * times, by).map(PicoUsd).ok_or_else(|| {
                let usd = usd_per_mtok(input);
                refusal(
                    format!("{factor} times {usd} USD is no exact price for {name}"),
                    format!("give it with {flag}"),
                )
            })?;
            let usd = usd_per_mtok(price);
            assumed
                .push(format!("{name} costs {usd} USD per million tokens, {factor} times input"));
            Ok(price)
        };
        let (w5, w1) = (given.write_5m, given.write_1h);
        let price = Price {
            input,
            write_5m: follows(w5, "write 5m", "--write-5m-price", (5, 4), "1.25")?,
            write_1h: follows(w1, "write 1h", "--write-1h-price", (2, 1), "2")?,
            read: follows(given.read, "read", "--read-price", (1, 10), "0.1")?,
            output: given.output.unwrap_or_default(),
        };
        let tier = given.tier.map(|(above, factor)| Tier::of(above, factor, &price)).transpose()?;
        Ok(Typed { price, output_given: given.output.is_some(), tier, assumed })
    }

    fn quote(&self, usage: &Usage) -> Result<Quote, QuoteError> {
        if usage.output > Tokens::ZERO && !self.output_given {
            return Err(refusal(
                format!("no price is given for output, of which the usage has {}", usage.output),
                "give it with --output-price, in USD per million tokens".to_owned(),
            ));
        }
        let mut words = vec!["as given on the command line".to_owned()];
        let price = match self.tier.as_ref().filter(|tier| usage.input() > tier.above) {
            Some(tier) => {
                words.push(format!(
                    "the prompt of {} tokens is longer than {}: the whole request costs {} times \
                     the price",
                    usage.input(),
                    tier.above,
                    tier.factor.to_text()
                ));
                tier.price
            }
            None => self.price,
        };
        Ok(Quote { price, base: self.price.input, model: None, date: None, entry: None, words })
    }
}

impl Tier {
    fn of(above: Tokens, factor: Factor, price: &Price) -> Result<Tier, QuoteError> {
        let times = |each: PicoUsd| {
            factor.of(each).ok_or_else(|| {
                let (factor, usd) = (factor.to_text(), usd_per_mtok(each));
                refusal(
                    format!("{factor} times {usd} USD is no exact price"),
                    "use a factor with fewer decimals".to_owned(),
                )
            })
        };
        let price = Price {
            input: times(price.input)?,
            write_5m: times(price.write_5m)?,
            write_1h: times(price.write_1h)?,
            read: times(price.read)?,
            output: times(price.output)?,
        };
        Ok(Tier { above, factor, price })
    }
}

/// How sure a price is, in words.
pub fn mark_words(mark: Confidence) -> &'static str {
    match mark {
        Confidence::Documented => "documented",
        Confidence::PricePackage => "price package",
        Confidence::Secondary => "secondary",
        Confidence::Inferred => "inferred",
    }
}

/// The refusal of a usage, or of prices, that have no exact price.
fn refusal(message: String, help: String) -> QuoteError {
    QuoteError::Price { message, help }
}
