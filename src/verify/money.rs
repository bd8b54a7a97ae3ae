//! Published arithmetic: what a usage costs, as people worked it out in public.

use serde::Deserialize;

use super::index::IndexError;
use super::{Check, CheckKind, CheckResult};
use crate::quote::numbers::{parse_count, parse_factor, parse_price, parse_ttl};
use crate::quote::{self, Bill, CLASSES, GivenPrices, Listed, QuoteError, Rates, RowRates, Typed};
use crate::units::{CacheTtl, PicoUsd, Ratio};

/// The rows that are part of the program.
const ROWS: &str = include_str!("money.toml");

/// One published cost.
#[derive(Clone, Debug)]
pub struct MoneyRow {
    /// Its name.
    pub id: String,
    /// Who published it.
    pub source: String,
    /// Where.
    pub url: String,
    /// What it shows, in words.
    pub what: String,
    /// By which prices.
    pub prices: MoneyPrices,
    /// Lifetime of writes that state none, by default five minutes.
    pub ttl: Option<CacheTtl>,
    /// What was billed, as `key=value` words.
    pub usage: Vec<String>,
    /// What was published, by key.
    claims: Vec<(String, String)>,
}

/// Where the prices of a published cost come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoneyPrices {
    /// The price list, by the name of a model.
    Model(String),
    /// The publication.
    Given(GivenPrices),
}

impl MoneyRow {
    /// What the usage costs, on the day on which the prices were last checked.
    ///
    /// # Errors
    /// Where the usage is not understood or has no price.
    pub fn bill(&self) -> Result<Bill, QuoteError> {
        let rates = match &self.prices {
            MoneyPrices::Model(name) => Rates::Listed(Listed::find(name, None)?),
            MoneyPrices::Given(given) => Rates::Typed(Box::new(Typed::of(given)?)),
        };
        let input = quote::read_words(&self.usage, None)?;
        Bill::of(&input, &RowRates::Same(&rates), self.ttl)
    }
}

#[derive(Deserialize)]
struct WireRows {
    row: Vec<toml::Table>,
}

/// Every row, in the order of the file.
///
/// # Errors
/// Where the file is not understood.
pub fn rows() -> Result<Vec<MoneyRow>, IndexError> {
    let wire: WireRows =
        toml::from_str(ROWS).map_err(|error| IndexError::Shape(error.to_string()))?;
    wire.row.into_iter().map(row).collect()
}

fn row(mut wire: toml::Table) -> Result<MoneyRow, IndexError> {
    let missing = |key: &str| IndexError::Shape(format!("a row of money.toml lacks `{key}`"));
    let usage = wire.remove("usage").ok_or_else(|| missing("usage"))?;
    let usage: Vec<String> =
        usage.try_into().map_err(|_| IndexError::Shape("`usage` is a list of words".to_owned()))?;
    let mut text = |key: &str| match wire.remove(key) {
        Some(toml::Value::String(text)) => Ok(text),
        Some(_) | None => Err(missing(key)),
    };
    let (id, source, url, what) = (text("id")?, text("source")?, text("url")?, text("what")?);
    let prices = prices(&mut wire)?;
    let ttl = taken(&mut wire, "ttl", parse_ttl)?;
    let claim = |(key, value): (String, toml::Value)| match value {
        toml::Value::String(claimed) => Ok((key, claimed)),
        _ => Err(IndexError::Shape(format!("`{key}` of `{id}` is text"))),
    };
    let claims: Vec<_> = wire.into_iter().map(claim).collect::<Result<_, _>>()?;
    if claims.is_empty() {
        return Err(IndexError::Shape(format!("`{id}` claims nothing")));
    }
    Ok(MoneyRow { id, source, url, what, prices, ttl, usage, claims })
}

/// The prices of a row, taken out of it: a model or an input price, not both.
fn prices(wire: &mut toml::Table) -> Result<MoneyPrices, IndexError> {
    let shape = |text: &str| IndexError::Shape(text.to_owned());
    let model = taken(wire, "model", |name| Ok(name.to_owned()))?;
    let input = taken(wire, "input_price", parse_price)?;
    let output = taken(wire, "output_price", parse_price)?;
    let above = taken(wire, "tier_above", parse_count)?;
    let factor = taken(wire, "tier_factor", parse_factor)?;
    if above.is_some() != factor.is_some() {
        return Err(shape("`tier_above` and `tier_factor` belong together"));
    }
    let tier = above.zip(factor);
    match (model, input) {
        (Some(name), None) if output.is_none() && tier.is_none() => Ok(MoneyPrices::Model(name)),
        (None, Some(input)) => {
            Ok(MoneyPrices::Given(GivenPrices { input, output, tier, ..GivenPrices::default() }))
        }
        (Some(_), _) => Err(shape("a row with a `model` has no other price")),
        (None, None) => Err(shape("a row of money.toml lacks `model` or `input_price`")),
    }
}

/// A key's text as `parse` reads it, taken out of the row; `None` where the row lacks it.
fn taken<T>(
    wire: &mut toml::Table,
    key: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, IndexError> {
    let read = |value: toml::Value| {
        let text = value.as_str().ok_or_else(|| "text expected".to_owned())?;
        parse(text)
    };
    let parsed = wire.remove(key).map(read).transpose();
    parsed.map_err(|fault| IndexError::Shape(format!("`{key}` of a row of money.toml: {fault}")))
}

/// Prices the usage and compares the bill with what was published.
///
/// # Errors
/// Where the usage has no price.
pub fn check(row: &MoneyRow) -> Result<Check, QuoteError> {
    let bill = row.bill()?;
    let results: Vec<Result<String, String>> = row
        .claims
        .iter()
        .map(|(key, claimed)| claim(|field| figure(&bill, field), key, claimed))
        .collect();
    let faults: Vec<&str> =
        results.iter().filter_map(|r| r.as_ref().err()).map(String::as_str).collect();
    let holds: Vec<&str> =
        results.iter().filter_map(|r| r.as_ref().ok()).map(String::as_str).collect();
    Ok(Check {
        kind: CheckKind::Money,
        name: row.id.clone(),
        source: row.source.clone(),
        url: row.url.clone(),
        what: row.what.clone(),
        result: if faults.is_empty() { CheckResult::Passed } else { CheckResult::Failed },
        detail: if faults.is_empty() { holds.join(", ") } else { faults.join("; ") },
        agreements: None,
        reads_exact: 0,
        matters: Vec::new(),
    })
}

/// The figure of a bill that a claim is about: `total_usd`, `<class>_usd` or `<class>_te`.
fn figure(bill: &Bill, field: &str) -> Option<String> {
    let (name, unit) = field.rsplit_once('_')?;
    if field == "total_usd" {
        return Some(bill.cost.total().to_usd_string());
    }
    let class = CLASSES.iter().find(|class| class.key == name)?;
    match unit {
        "usd" => Some((class.cost)(&bill.cost).to_usd_string()),
        "te" => bill.class_te(class),
        _ => None,
    }
}

/// How a claim compares: the answer rounded to its decimals is it or is not it, or lies on one
/// side.
#[derive(Clone, Copy)]
enum Relation {
    Equal,
    Unequal,
    AtLeast,
    AtMost,
}

/// What holds, or what does not, in words.
fn claim(
    figure: impl Fn(&str) -> Option<String>,
    key: &str,
    claimed: &str,
) -> Result<String, String> {
    let (relation, field) = if let Some(key) = key.strip_prefix("not_") {
        (Relation::Unequal, key)
    } else if let Some(key) = key.strip_suffix("_min") {
        (Relation::AtLeast, key)
    } else if let Some(key) = key.strip_suffix("_max") {
        (Relation::AtMost, key)
    } else {
        (Relation::Equal, key)
    };
    let words = field.replace('_', " ");
    let text = figure(field).ok_or_else(|| format!("{words} is not in the answer"))?;
    let value = exact(&text).ok_or_else(|| format!("{words} is {text}, no decimal"))?;
    let (plain, unit) = claimed.strip_suffix('M').map_or((claimed, 1), |text| (text, 1_000_000));
    let places = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let places = u32::try_from(places).unwrap_or(0);
    let stated = exact(plain).ok_or_else(|| format!("{claimed} is no decimal"))?.0 * unit;
    let one = 1_000_000_000_000 * unit;
    let rounded = Ratio::new(value.0, one).map(|ratio| ratio.to_decimal(places));
    let is_same = rounded.as_deref() == Some(plain);
    let (holds, relation) = match relation {
        Relation::Equal => (is_same, "is"),
        Relation::Unequal => (!is_same, "is not"),
        Relation::AtLeast => (value.0 >= stated, "is at least"),
        Relation::AtMost => (value.0 <= stated, "is at most"),
    };
    if holds {
        Ok(format!("{words} {relation} {claimed}"))
    } else {
        Err(format!("{words} is {text}, but was published: {relation} {claimed}"))
    }
}

/// A decimal with at most twelve places, in millionths of millionths.
fn exact(text: &str) -> Option<PicoUsd> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 12 || !digits(whole) || !digits(decimals) {
        return None;
    }
    format!("{whole}{decimals:0<12}").parse().ok().map(PicoUsd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_rounded_to_their_own_decimals() {
        let figures = |field: &str| match field {
            "total_usd" => Some("16.3056".to_owned()),
            "read_usd" => Some("0.45".to_owned()),
            "read_te" => Some("6983480.00".to_owned()),
            _ => None,
        };
        let holds = |key: &str, claimed: &str| claim(figures, key, claimed).is_ok();
        assert!(holds("total_usd", "16.31") && holds("total_usd", "16.3056"));
        assert!(!holds("total_usd", "16.30") && !holds("not_total_usd", "16.31"));
        assert!(holds("not_total_usd", "12.31"));
        assert!(holds("read_te", "6.98M") && !holds("read_te", "6.99M"));
        assert!(holds("read_usd_min", "0.45") && !holds("read_usd_min", "0.451"));
        assert!(holds("read_usd_max", "0.45") && !holds("read_usd_max", "0.449"));
        assert!(!holds("write_usd", "1") && !holds("nonsense", "1"));
    }

    #[test]
    fn a_row_has_one_source_of_prices() {
        let read = |text: &str| prices(&mut toml::from_str(text).unwrap());
        assert_eq!(read("model = 'm'"), Ok(MoneyPrices::Model("m".to_owned())));
        let given = GivenPrices { input: PicoUsd(3_000_000), ..GivenPrices::default() };
        assert_eq!(read("input_price = '3'"), Ok(MoneyPrices::Given(given)));
        for text in [
            "",
            "input_price = 3",
            "input_price = '-3'",
            "model = 'm'\ninput_price = '3'",
            "model = 'm'\noutput_price = '3'",
            "input_price = '3'\ntier_above = '200k'",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_row_claims_something_of_a_source() {
        let rows = rows().unwrap();
        assert!(rows.len() >= 8);
        for row in rows {
            assert!(row.url.starts_with("https://") && !row.usage.is_empty(), "{}", row.id);
        }
    }
}
