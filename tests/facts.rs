//! Every Claude price of two published price packages against the table of the program.
//!
//! The packages lie in the folder named by `FORKCOST_DATA`; without them the comparisons are
//! reported as ignored.

use std::collections::BTreeMap;
use std::path::PathBuf;

use forkcost::pricing::{Confidence, Price, PriceEntry};
use forkcost::provider::{ModelFacts, anthropic_facts, find_model};
use forkcost::units::{PicoUsd, Tokens};
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use serde_json::value::RawValue;

const LITELLM: &str = "litellm-1.110.2_model_prices_and_context_window.json";
const GENAI: &str = "genai-prices-0.2.3.json";

/// Models of the packages that the table leaves out: retired before the cache rules of the table,
/// without cache prices, or with prices that contradict each other.
const LEFT_OUT: &[&str] = &[
    "claude-2",
    "claude-3-5-sonnet",
    "claude-3-haiku",
    "claude-3-opus-latest",
    "claude-3-sonnet",
    "claude-mythos-preview",
    "claude-v1",
];

/// Models that LiteLLM lists no more under the API: the entry of a cloud at list price stands in.
const RETIRED: &[&str] = &[
    "anthropic.claude-3-5-haiku-20241022-v1:0",
    "anthropic.claude-3-7-sonnet-20250219-v1:0",
    "anthropic.claude-opus-4-1-20250805-v1:0",
    "anthropic.claude-opus-4-20250514-v1:0",
    "anthropic.claude-sonnet-4-20250514-v1:0",
];

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = litellm_trials();
    trials.extend(genai_trials());
    libtest_mimic::run(&arguments, trials).exit();
}

/// The text of a package; `None` where the folder or the file is absent.
fn package(name: &str) -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("FORKCOST_DATA")?);
    std::fs::read_to_string(folder.join("prices").join(name)).ok()
}

/// Stands for the comparisons that an absent package would have given.
fn absent(name: &str) -> Vec<Trial> {
    let reason = format!("prices/{name} is not in the folder named by FORKCOST_DATA");
    let trial = Trial::test(format!("compare {name}"), move || Err(Failed::from(reason)));
    vec![trial.with_ignored_flag(true)]
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(message().into()) }
}

fn model_of(name: &str) -> Result<&'static ModelFacts, Failed> {
    find_model(anthropic_facts(), name).map_err(|error| error.to_string().into())
}

/// The price for the shortest prompts on the day of the table.
fn current(model: &ModelFacts, input: u64) -> Result<&PriceEntry, Failed> {
    let entry = model.prices.at(anthropic_facts().checked, Tokens(input));
    entry.ok_or_else(|| format!("{} has no price", model.id).into())
}

/// `text`, a JSON number, times ten to the power of `places`; exact or a failure.
fn shifted(text: &str, places: i32) -> Result<PicoUsd, Failed> {
    let failed = || Failed::from(format!("{text} is no exact price"));
    let lower = text.to_ascii_lowercase();
    let (mantissa, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().map_err(|_| failed())?;
    let exponent: i32 = exponent.parse().map_err(|_| failed())?;
    let power = exponent + places - i32::try_from(fraction.len()).map_err(|_| failed())?;
    let scale = 10_i128.pow(power.unsigned_abs());
    match power {
        0.. => Ok(PicoUsd(digits * scale)),
        _ if digits % scale == 0 => Ok(PicoUsd(digits / scale)),
        _ => Err(failed()),
    }
}

fn litellm_trials() -> Vec<Trial> {
    let Some(text) = package(LITELLM) else { return absent(LITELLM) };
    let table: BTreeMap<String, Box<RawValue>> = match serde_json::from_str(&text) {
        Ok(table) => table,
        Err(error) => {
            let message = error.to_string();
            return vec![Trial::test("litellm is readable", move || Err(message.into()))];
        }
    };
    let rows: Vec<(String, Row)> = table
        .into_iter()
        .filter_map(|(name, raw)| {
            let row = row(&name, raw.get())?;
            Some((name, row))
        })
        .collect();
    let mut covered: Vec<&str> = Vec::new();
    let mut trials = Vec::new();
    for (name, row) in rows {
        if let Ok(model) = find_model(anthropic_facts(), &name) {
            covered.push(&model.id);
        }
        if !LEFT_OUT.contains(&name.as_str()) {
            trials.push(Trial::test(format!("litellm {name}"), move || compare_row(&name, &row)));
        }
    }
    // Newer than the package.
    let newer = ["claude-fable-5-2", "claude-mythos-5-2"];
    let missing: Vec<&str> = anthropic_facts()
        .models
        .iter()
        .map(|model| model.id.as_str())
        .filter(|id| !covered.contains(id) && !newer.contains(id))
        .collect();
    trials.push(Trial::test("litellm has every model", move || {
        ensure(missing.is_empty(), || format!("not compared: {missing:?}"))
    }));
    trials
}

/// The keys of one model that are compared; numbers stay text.
type Row = BTreeMap<String, String>;

/// The row of a model of the API.
fn row(name: &str, json: &str) -> Option<Row> {
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json).ok()?;
    let row: Row = fields.into_iter().map(|(key, raw)| (key, raw.get().to_owned())).collect();
    let api = row.get("litellm_provider").is_some_and(|provider| provider == "\"anthropic\"");
    (api || RETIRED.contains(&name)).then_some(row)
}

fn compare_row(name: &str, row: &Row) -> Result<(), Failed> {
    let model = model_of(name)?;
    compare_tier(row, "", &current(model, 0)?.price)?;
    let tier = "_above_100k_tokens";
    if row.contains_key(&format!("input_cost_per_token{tier}")) {
        let entry = current(model, 100_001)?;
        ensure(entry.above_tokens == Tokens(100_000), || "no tier from 100,000".to_owned())?;
        compare_tier(row, tier, &entry.price)?;
    } else {
        ensure(current(model, u64::MAX)? == current(model, 0)?, || "a tier too many".to_owned())?;
    }
    for (key, ours) in
        [("max_input_tokens", model.context_window), ("prompt_cache_min_tokens", model.min_tokens)]
    {
        // Where the package has no minimum either, the table may only infer one.
        let inferred = model.min_evidence.mark == Confidence::Inferred;
        if key == "prompt_cache_min_tokens" && inferred && !row.contains_key(key) {
            continue;
        }
        let theirs = row.get(key).cloned().unwrap_or_default();
        ensure(theirs == ours.0.to_string(), || format!("{key}: {theirs}, ours {}", ours.0))?;
    }
    Ok(())
}

/// Compares all five prices; USD a token is pico-dollars shifted by twelve decimals.
fn compare_tier(row: &Row, tier: &str, ours: &Price) -> Result<(), Failed> {
    for (key, ours) in [
        ("input_cost_per_token", ours.input),
        ("output_cost_per_token", ours.output),
        ("cache_creation_input_token_cost", ours.write_5m),
        ("cache_creation_input_token_cost_above_1hr", ours.write_1h),
        ("cache_read_input_token_cost", ours.read),
    ] {
        let key = format!("{key}{tier}");
        let Some(text) = row.get(&key) else {
            // That cloud sold these models without the one-hour cache.
            let cloud = row.get("litellm_provider").is_some_and(|p| p.starts_with("\"bedrock"));
            ensure(cloud && key.ends_with("_above_1hr"), || format!("{key} is absent"))?;
            continue;
        };
        let theirs = shifted(text, 12)?;
        ensure(theirs == ours, || format!("{key}: {theirs:?}, ours {ours:?}"))?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct GenaiFile {
    providers: Vec<GenaiProvider>,
}

/// A provider; its models are read only where it is the one that is compared.
#[derive(Deserialize)]
struct GenaiProvider {
    id: String,
    models: Box<RawValue>,
}

#[derive(Deserialize)]
struct GenaiModel {
    id: String,
    context_window: Option<u64>,
    prices: Box<RawValue>,
}

fn genai_trials() -> Vec<Trial> {
    let Some(text) = package(GENAI) else { return absent(GENAI) };
    let models = match genai_models(&text) {
        Ok(models) => models,
        Err(error) => {
            let message = error.to_string();
            return vec![Trial::test("genai-prices is readable", move || Err(message.into()))];
        }
    };
    let mut trials = Vec::new();
    let count = models.len();
    trials.push(Trial::test("genai-prices has its models", move || {
        ensure(count >= 20, || format!("only {count} models"))
    }));
    for model in models {
        if !LEFT_OUT.contains(&model.id.as_str()) {
            let name = format!("genai-prices {}", model.id);
            trials.push(Trial::test(name, move || compare_genai(&model)));
        }
    }
    trials
}

fn genai_models(text: &str) -> serde_json::Result<Vec<GenaiModel>> {
    let file: GenaiFile = serde_json::from_str(text)?;
    let mut models = Vec::new();
    for provider in file.providers.iter().filter(|provider| provider.id == "anthropic") {
        let of_provider: Vec<GenaiModel> = serde_json::from_str(provider.models.get())?;
        models.extend(of_provider);
    }
    Ok(models)
}

/// One class of a price.
type PriceField = fn(&Price) -> PicoUsd;

/// A price of the package: one number, or one with tiers.
type GenaiPrices = BTreeMap<String, Box<RawValue>>;

#[derive(Deserialize)]
struct GenaiDated {
    constraint: Option<GenaiConstraint>,
    prices: GenaiPrices,
}

#[derive(Deserialize)]
struct GenaiConstraint {
    start_date: String,
}

#[derive(Deserialize)]
struct GenaiTiered {
    base: Box<RawValue>,
    tiers: Vec<GenaiTier>,
}

#[derive(Deserialize)]
struct GenaiTier {
    price: Box<RawValue>,
    start: u64,
}

fn compare_genai(theirs: &GenaiModel) -> Result<(), Failed> {
    let model = model_of(&theirs.id)?;
    let window = theirs.context_window;
    ensure(window == Some(model.context_window.0), || format!("context window {window:?}"))?;
    let text = theirs.prices.get();
    let dated: Vec<GenaiDated> = if text.starts_with('[') {
        serde_json::from_str(text).map_err(|error| error.to_string())?
    } else {
        let prices = serde_json::from_str(text).map_err(|error| error.to_string())?;
        vec![GenaiDated { constraint: None, prices }]
    };
    let only = dated.len() == 1;
    for entry in dated {
        // An undated price is the current one if nothing follows it, else the first one.
        let first = model.prices.entries.iter().map(|entry| entry.from).min();
        let day = match entry.constraint {
            Some(constraint) => {
                constraint.start_date.parse().map_err(|_| "a start that is no date")?
            }
            None if only => anthropic_facts().checked,
            None => first.ok_or("no price")?,
        };
        compare_genai_prices(model, day, &entry.prices)?;
    }
    Ok(())
}

fn compare_genai_prices(
    model: &ModelFacts,
    day: jiff::civil::Date,
    prices: &GenaiPrices,
) -> Result<(), Failed> {
    let fields: [(&str, PriceField); 5] = [
        ("input_mtok", |price| price.input),
        ("output_mtok", |price| price.output),
        ("cache_write_mtok", |price| price.write_5m),
        ("cache_write_1h_mtok", |price| price.write_1h),
        ("cache_read_mtok", |price| price.read),
    ];
    for (key, field) in fields {
        let Some(raw) = prices.get(key) else { return Err(format!("{key} is absent").into()) };
        let (base, tiers) = if raw.get().starts_with('{') {
            let tiered: GenaiTiered =
                serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
            (shifted(tiered.base.get(), 6)?, tiered.tiers)
        } else {
            (shifted(raw.get(), 6)?, Vec::new())
        };
        let ours = model.prices.at(day, Tokens::ZERO).map(|entry| field(&entry.price));
        ensure(ours == Some(base), || format!("{key} on {day}: {base:?}, ours {ours:?}"))?;
        for tier in tiers {
            let theirs = shifted(tier.price.get(), 6)?;
            // A tier may be history that the package gives no end: any day will do.
            let found = model.prices.entries.iter().any(|entry| {
                entry.above_tokens == Tokens(tier.start) && field(&entry.price) == theirs
            });
            ensure(found, || format!("{key} above {}: {theirs:?} is not ours", tier.start))?;
        }
    }
    Ok(())
}
