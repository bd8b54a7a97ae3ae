//! The table as it stands in the file, and its checks.
//!
//! Sources and days are optional here only so that their absence can be reported with the name of
//! the entry.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::Deserialize;
use toml::value::Datetime;

use crate::cache::{CacheRules, PositionCount, ToolPositions};
use crate::pricing::{Confidence, Price, PriceEntry, PriceTable};
use crate::provider::facts::{
    Evidence, Facts, FactsError, FamilyFacts, ModelFacts, RuleSource, RuleSwitch, ThinkingInHistory,
};
use crate::tokens::TokenizerSpec;
use crate::units::{PicoUsd, Tokens};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFacts {
    checked: Datetime,
    families: Vec<WireFamily>,
    rules: WireRules,
    models: Vec<WireModel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFamily {
    name: String,
    tokenizer: String,
    spread: String,
    source: Option<String>,
    checked: Option<Datetime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRules {
    lookback: WireNumber<u32>,
    markers_max: WireNumber<u32>,
    body_bytes_max: WireNumber<u64>,
    runs_collapse_from: WireNumber<Datetime>,
    switches: WireSwitches,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireNumber<T> {
    value: T,
    note: String,
    mark: WireConfidence,
    source: Option<String>,
    checked: Option<Datetime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSwitches {
    refresh_earlier: WireSwitch<bool>,
    ttl_in_key: WireSwitch<bool>,
    match_inside_runs: WireSwitch<bool>,
    write_below_hit: WireSwitch<bool>,
    longer_ttl_extends: WireSwitch<bool>,
    thinking_positions: WireSwitch<bool>,
    tool_positions: WireSwitch<WireToolPositions>,
    hash_billing_line: WireSwitch<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSwitch<T> {
    default: T,
    reason: String,
    source: Option<String>,
    checked: Option<Datetime>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireToolPositions {
    Each,
    One,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireConfidence {
    Documented,
    PricePackage,
    Secondary,
    Inferred,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireThinking {
    Kept,
    Stripped,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireModel {
    id: String,
    aliases: Vec<String>,
    family: String,
    context_window: u64,
    thinking: WireThinking,
    min_tokens: u64,
    min_mark: WireConfidence,
    min_source: Option<String>,
    min_checked: Option<Datetime>,
    notes: Vec<String>,
    #[serde(default)]
    prices: Vec<WirePriceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WirePriceEntry {
    from: Datetime,
    to: Option<Datetime>,
    #[serde(default)]
    above_tokens: u64,
    price: WirePrice,
    mark: WireConfidence,
    source: Option<String>,
    checked: Option<Datetime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WirePrice {
    input: String,
    write_5m: String,
    write_1h: String,
    read: String,
    output: String,
}

/// Reads and checks a table.
pub(super) fn parse(text: &str) -> Result<Facts, FactsError> {
    let wire: WireFacts =
        toml::from_str(text).map_err(|error| FactsError::Shape(error.to_string()))?;
    let families = wire.families.into_iter().map(family).collect::<Result<Vec<_>, _>>()?;
    let models = wire
        .models
        .into_iter()
        .map(|model| self::model(model, &families))
        .collect::<Result<Vec<_>, _>>()?;
    check_names(&models)?;
    let WireRules { lookback, markers_max, body_bytes_max, runs_collapse_from, switches } =
        wire.rules;
    let (mut rules, switches) = read_switches(switches)?;
    rules.lookback = lookback.value;
    Ok(Facts {
        checked: day("the table", wire.checked)?,
        models,
        families,
        markers_max: markers_max.value,
        body_bytes_max: body_bytes_max.value,
        runs_collapse_from: day("rules.runs_collapse_from", runs_collapse_from.value)?,
        rules,
        rule_sources: vec![
            rule_source("lookback", lookback)?,
            rule_source("markers_max", markers_max)?,
            rule_source("body_bytes_max", body_bytes_max)?,
            rule_source("runs_collapse_from", runs_collapse_from)?,
        ],
        switches,
    })
}

/// The rules under which the least is read: what holds where no table says more.
pub(super) fn strictest_rules() -> CacheRules {
    CacheRules {
        lookback: 1,
        count: PositionCount::PerBlock,
        min_tokens: Tokens::ZERO,
        refresh_earlier: false,
        ttl_in_key: true,
        match_inside_runs: false,
        write_below_hit: false,
        longer_ttl_extends: false,
        thinking_positions: true,
        tool_positions: ToolPositions::Each,
        hash_billing_line: true,
    }
}

fn family(wire: WireFamily) -> Result<FamilyFacts, FactsError> {
    let entry = format!("family {}", wire.name);
    let tokenizer = TokenizerSpec::parse(&wire.tokenizer)
        .map_err(|_| FactsError::Tokenizer { entry: entry.clone(), value: wire.tokenizer })?;
    Ok(FamilyFacts {
        tokenizer,
        spread: wire.spread,
        source: required(&entry, "source", wire.source)?,
        checked: required_day(&entry, "checked", wire.checked)?,
        name: wire.name,
    })
}

fn rule_source<T>(key: &'static str, wire: WireNumber<T>) -> Result<RuleSource, FactsError> {
    let entry = format!("rules.{key}");
    Ok(RuleSource {
        key,
        note: wire.note,
        evidence: Evidence {
            source: required(&entry, "source", wire.source)?,
            checked: required_day(&entry, "checked", wire.checked)?,
            mark: confidence(wire.mark),
        },
    })
}

fn read_switches(wire: WireSwitches) -> Result<(CacheRules, Vec<RuleSwitch>), FactsError> {
    let tool_positions = match wire.tool_positions.default {
        WireToolPositions::Each => ToolPositions::Each,
        WireToolPositions::One => ToolPositions::One,
    };
    let tool_positions_text = match tool_positions {
        ToolPositions::Each => "each",
        ToolPositions::One => "one",
    };
    let rules = CacheRules {
        refresh_earlier: wire.refresh_earlier.default,
        ttl_in_key: wire.ttl_in_key.default,
        match_inside_runs: wire.match_inside_runs.default,
        write_below_hit: wire.write_below_hit.default,
        longer_ttl_extends: wire.longer_ttl_extends.default,
        thinking_positions: wire.thinking_positions.default,
        tool_positions,
        hash_billing_line: wire.hash_billing_line.default,
        ..strictest_rules()
    };
    let flag = |key, wire: WireSwitch<bool>| {
        let text = wire.default.to_string();
        switch(key, text, wire)
    };
    let switches = vec![
        flag("hash_billing_line", wire.hash_billing_line)?,
        flag("longer_ttl_extends", wire.longer_ttl_extends)?,
        flag("match_inside_runs", wire.match_inside_runs)?,
        flag("refresh_earlier", wire.refresh_earlier)?,
        flag("thinking_positions", wire.thinking_positions)?,
        switch("tool_positions", tool_positions_text.to_owned(), wire.tool_positions)?,
        flag("ttl_in_key", wire.ttl_in_key)?,
        flag("write_below_hit", wire.write_below_hit)?,
    ];
    Ok((rules, switches))
}

fn switch<T>(
    key: &'static str,
    default: String,
    wire: WireSwitch<T>,
) -> Result<RuleSwitch, FactsError> {
    let entry = format!("rules.switches.{key}");
    Ok(RuleSwitch {
        key,
        default,
        reason: wire.reason,
        source: required(&entry, "source", wire.source)?,
        checked: required_day(&entry, "checked", wire.checked)?,
    })
}

fn model(wire: WireModel, families: &[FamilyFacts]) -> Result<ModelFacts, FactsError> {
    let entry = wire.id.clone();
    let Some(family) = families.iter().find(|family| family.name == wire.family) else {
        return Err(FactsError::Family { entry, family: wire.family });
    };
    if wire.prices.is_empty() {
        return Err(FactsError::NoPrice { entry });
    }
    let entries = wire
        .prices
        .into_iter()
        .enumerate()
        .map(|(index, price)| price_entry(&price_name(&entry, index), price))
        .collect::<Result<Vec<_>, _>>()?;
    check_overlaps(&entry, &entries)?;
    Ok(ModelFacts {
        aliases: wire.aliases,
        min_tokens: Tokens(wire.min_tokens),
        min_evidence: Evidence {
            source: required(&entry, "min_source", wire.min_source)?,
            checked: required_day(&entry, "min_checked", wire.min_checked)?,
            mark: confidence(wire.min_mark),
        },
        context_window: Tokens(wire.context_window),
        thinking: match wire.thinking {
            WireThinking::Kept => ThinkingInHistory::Kept,
            WireThinking::Stripped => ThinkingInHistory::Stripped,
        },
        tokenizer: family.tokenizer,
        family: wire.family,
        prices: PriceTable { entries },
        notes: wire.notes,
        id: wire.id,
    })
}

fn price_name(model: &str, index: usize) -> String {
    format!("{model}, price {}", index + 1)
}

fn price_entry(entry: &str, wire: WirePriceEntry) -> Result<PriceEntry, FactsError> {
    let from = day(entry, wire.from)?;
    let to = wire.to.map(|to| day(entry, to)).transpose()?;
    let checked = required_day(entry, "checked", wire.checked)?;
    if to.is_some_and(|to| to <= from) {
        return Err(FactsError::Backwards { entry: entry.to_owned() });
    }
    if checked < from {
        return Err(FactsError::Future { entry: entry.to_owned(), checked });
    }
    let usd = |key, value: String| {
        parse_usd_per_mtok(&value).ok_or(FactsError::Price { entry: entry.to_owned(), key, value })
    };
    Ok(PriceEntry {
        from,
        to,
        above_tokens: Tokens(wire.above_tokens),
        price: Price {
            input: usd("input", wire.price.input)?,
            write_5m: usd("write_5m", wire.price.write_5m)?,
            write_1h: usd("write_1h", wire.price.write_1h)?,
            read: usd("read", wire.price.read)?,
            output: usd("output", wire.price.output)?,
        },
        source: required(entry, "source", wire.source)?,
        checked,
        mark: confidence(wire.mark),
    })
}

/// Refuses two prices of one tier that hold on the same day.
fn check_overlaps(model: &str, entries: &[PriceEntry]) -> Result<(), FactsError> {
    let ends_by = |entry: &PriceEntry, start: Date| entry.to.is_some_and(|to| to <= start);
    for (index, entry) in entries.iter().enumerate() {
        let other = entries[..index].iter().position(|other| {
            other.above_tokens == entry.above_tokens
                && !ends_by(other, entry.from)
                && !ends_by(entry, other.from)
        });
        if let Some(other) = other {
            let (entry, other) = (price_name(model, index), price_name(model, other));
            return Err(FactsError::Overlap { entry, other });
        }
    }
    Ok(())
}

fn check_names(models: &[ModelFacts]) -> Result<(), FactsError> {
    let mut seen = BTreeSet::new();
    for model in models {
        for name in std::iter::once(&model.id).chain(&model.aliases) {
            if !seen.insert(name) {
                let (entry, name) = (model.id.clone(), name.clone());
                return Err(FactsError::Duplicate { entry, name });
            }
        }
    }
    Ok(())
}

fn confidence(wire: WireConfidence) -> Confidence {
    match wire {
        WireConfidence::Documented => Confidence::Documented,
        WireConfidence::PricePackage => Confidence::PricePackage,
        WireConfidence::Secondary => Confidence::Secondary,
        WireConfidence::Inferred => Confidence::Inferred,
    }
}

/// A text that has to be there and not to be blank.
fn required(entry: &str, key: &'static str, value: Option<String>) -> Result<String, FactsError> {
    value
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| FactsError::Missing { entry: entry.to_owned(), key })
}

fn required_day(
    entry: &str,
    key: &'static str,
    value: Option<Datetime>,
) -> Result<Date, FactsError> {
    value
        .ok_or_else(|| FactsError::Missing { entry: entry.to_owned(), key })
        .and_then(|value| day(entry, value))
}

fn day(entry: &str, value: Datetime) -> Result<Date, FactsError> {
    let text = value.to_string();
    match text.parse() {
        Ok(date) if value.time.is_none() => Ok(date),
        Ok(_) | Err(_) => Err(FactsError::Day { entry: entry.to_owned(), value: text }),
    }
}

/// USD per million tokens as pico-dollars a token: a shift by six decimals, exact; `None` where the
/// text is no plain decimal with at most six decimals.
pub fn parse_usd_per_mtok(text: &str) -> Option<PicoUsd> {
    parse_shifted(text, 6).map(PicoUsd)
}

/// A plain decimal times ten to the power of `places`; `None` where that is no integer.
fn parse_shifted(text: &str, places: usize) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > places {
        return None;
    }
    format!("{whole}{fraction:0<places$}").parse().ok()
}
