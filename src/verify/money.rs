//! Published arithmetic: what a usage costs, as people worked it out in public.

use serde::Deserialize;
use serde_json::Value;

use super::index::IndexError;
use super::{Check, CheckKind, CheckResult};
use crate::units::{PicoUsd, Ratio};

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
    /// The words behind `forkcost price`.
    pub args: Vec<String>,
    /// What was published, by key.
    claims: Vec<(String, String)>,
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
    let args = wire.remove("args").ok_or_else(|| missing("args"))?;
    let args: Vec<String> =
        args.try_into().map_err(|_| IndexError::Shape("`args` is a list of words".to_owned()))?;
    let mut text = |key: &str| match wire.remove(key) {
        Some(toml::Value::String(text)) => Ok(text),
        Some(_) | None => Err(missing(key)),
    };
    let (id, source, url, what) = (text("id")?, text("source")?, text("url")?, text("what")?);
    let claim = |(key, value): (String, toml::Value)| match value {
        toml::Value::String(claimed) => Ok((key, claimed)),
        _ => Err(IndexError::Shape(format!("`{key}` of `{id}` is text"))),
    };
    let claims: Vec<_> = wire.into_iter().map(claim).collect::<Result<_, _>>()?;
    if claims.is_empty() {
        return Err(IndexError::Shape(format!("`{id}` claims nothing")));
    }
    Ok(MoneyRow { id, source, url, what, args, claims })
}

/// Compares what `forkcost price --json` answers with what was published.
pub fn check(row: &MoneyRow, answer: &Value) -> Check {
    let results: Vec<Result<String, String>> =
        row.claims.iter().map(|(key, claimed)| claim(answer, key, claimed)).collect();
    let faults: Vec<&str> =
        results.iter().filter_map(|r| r.as_ref().err()).map(String::as_str).collect();
    let holds: Vec<&str> =
        results.iter().filter_map(|r| r.as_ref().ok()).map(String::as_str).collect();
    Check {
        kind: CheckKind::Money,
        name: row.id.clone(),
        source: row.source.clone(),
        url: row.url.clone(),
        what: row.what.clone(),
        result: if faults.is_empty() { CheckResult::Passed } else { CheckResult::Failed },
        detail: if faults.is_empty() { holds.join(", ") } else { faults.join("; ") },
        agreements: None,
        matters: Vec::new(),
    }
}

/// How a claim compares: the answer rounded to its decimals is it or not, or lies on one side.
#[derive(Clone, Copy)]
enum Relation {
    Equal,
    Unequal,
    AtLeast,
    AtMost,
}

/// What holds, or what does not, in words.
fn claim(answer: &Value, key: &str, claimed: &str) -> Result<String, String> {
    let (relation, field) = if let Some(key) = key.strip_prefix("not_") {
        (Relation::Unequal, key)
    } else if let Some(key) = key.strip_suffix("_min") {
        (Relation::AtLeast, key)
    } else if let Some(key) = key.strip_suffix("_max") {
        (Relation::AtMost, key)
    } else {
        (Relation::Equal, key)
    };
    let found = match field.rsplit_once('_') {
        Some(("total", "usd")) => &answer["total_usd"],
        Some((class, "usd")) => &answer["classes"][class]["cost_usd"],
        Some((class, "te")) => &answer["classes"][class]["te"],
        Some(_) | None => &Value::Null,
    };
    let words = field.replace('_', " ");
    let text = found.as_str().ok_or_else(|| format!("{words} is not in the answer"))?;
    let value = exact(text).ok_or_else(|| format!("{words} is {text}, no decimal"))?;
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
        let answer = serde_json::json!({
            "total_usd": "16.3056", "classes": {"read": {"cost_usd": "0.45", "te": "6983480.00"}},
        });
        let holds = |key: &str, claimed: &str| claim(&answer, key, claimed).is_ok();
        assert!(holds("total_usd", "16.31") && holds("total_usd", "16.3056"));
        assert!(!holds("total_usd", "16.30") && !holds("not_total_usd", "16.31"));
        assert!(holds("not_total_usd", "12.31"));
        assert!(holds("read_te", "6.98M") && !holds("read_te", "6.99M"));
        assert!(holds("read_usd_min", "0.45") && !holds("read_usd_min", "0.451"));
        assert!(holds("read_usd_max", "0.45") && !holds("read_usd_max", "0.449"));
        assert!(!holds("write_usd", "1") && !holds("nonsense", "1"));
    }

    #[test]
    fn every_row_claims_something_of_a_source() {
        let rows = rows().unwrap();
        assert!(rows.len() >= 8);
        for row in rows {
            assert!(row.url.starts_with("https://") && !row.args.is_empty(), "{}", row.id);
        }
    }
}
