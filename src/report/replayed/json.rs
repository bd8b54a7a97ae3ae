//! A replay as JSON: the rows one by one, then the sums.

use serde::Serialize;

use crate::record::Reason;
use crate::replay::{Agreement, Agreements, Explanation, Outcome, Played, Sums, Totals};
use crate::units::{PicoUsd, SimTime};

/// Version of the shape; it rises when old readers would misread it.
const SCHEMA_VERSION: u32 = 1;

/// One request.
#[derive(Serialize)]
struct Row<'a> {
    request: &'a str,
    line: u64,
    start_s: String,
    model: Option<&'a str>,
    read: u64,
    write_5m: u64,
    write_1h: u64,
    uncached: u64,
    output: u64,
    cost_pico_usd: Option<String>,
    te: Option<&'a str>,
    reason: &'a str,
    shared_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<Billed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agreement: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'static str>,
}

#[derive(Serialize)]
struct Billed {
    read: Option<u64>,
    write_5m: Option<u64>,
    write_1h: Option<u64>,
    uncached: Option<u64>,
}

/// What stands before the rows.
///
/// # Errors
/// Where `source` cannot be written as JSON.
pub fn head(source: &str) -> serde_json::Result<String> {
    let source = serde_json::to_string(source)?;
    Ok(format!(
        "{{\n  \"schema_version\": {SCHEMA_VERSION},\n  \"source\": {source},\n  \"requests\": ["
    ))
}

/// One request as one line; `first` says whether none stands before it.
///
/// # Errors
/// Where it cannot be written as JSON.
pub fn row(played: &Played, first: bool) -> serde_json::Result<String> {
    let record = &played.record;
    let observed = played.observed.map(|observed| Billed {
        read: observed.read,
        write_5m: observed.write_5m,
        write_1h: observed.write_1h,
        uncached: observed.uncached,
    });
    let cost = record.input_pico_usd + record.output_pico_usd;
    let row = Row {
        request: &record.request,
        line: played.line,
        start_s: SimTime(record.start_ms).to_seconds_string(),
        model: Some(record.model.as_str()).filter(|model| !model.is_empty()),
        read: record.read,
        write_5m: record.write_5m,
        write_1h: record.write_1h,
        uncached: record.uncached,
        output: record.output,
        cost_pico_usd: played.is_priced.then(|| cost.to_string()),
        te: played.is_priced.then_some(record.te.as_str()),
        reason: &record.reason,
        shared_tokens: record.shared_end,
        observed,
        agreement: played.agreement.map(Agreement::as_str),
        explanation: match played.agreement {
            Some(Agreement::Explained(why)) => Some(why.as_str()),
            Some(Agreement::Exact | Agreement::Unexplained) | None => None,
        },
    };
    let comma = if first { "\n    " } else { ",\n    " };
    Ok(format!("{comma}{}", serde_json::to_string(&row)?))
}

/// What stands behind the rows.
///
/// # Errors
/// Where it cannot be written as JSON.
pub fn tail(outcome: &Outcome) -> serde_json::Result<String> {
    let mut out = String::from("\n  ],\n");
    let notes = serde_json::to_string(&outcome.notes)?;
    let members = [
        ("totals", serde_json::to_string_pretty(&sums(&outcome.sums))?),
        ("agreement", serde_json::to_string_pretty(&agreement(&outcome.agreements))?),
        ("prices_of", serde_json::to_string(&outcome.priced_on.map(|day| day.to_string()))?),
        ("notes", notes),
    ];
    for (index, (key, value)) in members.iter().enumerate() {
        let comma = if index + 1 < members.len() { "," } else { "" };
        let value = value.replace('\n', "\n  ");
        out.push_str(&format!("  \"{key}\": {value}{comma}\n"));
    }
    out.push_str("}\n");
    Ok(out)
}

fn sums(sums: &Sums) -> serde_json::Value {
    let mut value = totals(&sums.predicted);
    let models: serde_json::Map<String, serde_json::Value> = sums
        .models
        .iter()
        .map(|(id, model)| {
            let mut value = totals(&model.totals);
            value["te"] = model.te().map(|te| te.to_decimal(2)).into();
            (if id.is_empty() { "unnamed".to_owned() } else { id.clone() }, value)
        })
        .collect();
    let reasons = Reason::ALL.iter().filter_map(|reason| {
        Some((reason.as_str().to_owned(), (*sums.reasons.get(reason)?).into()))
    });
    value["no_cache"] = totals(&sums.no_cache);
    value["perfect"] = totals(&sums.perfect);
    if sums.billed.requests > 0 {
        value["billed"] = totals(&sums.billed);
        value["predicted_of_billed"] = totals(&sums.predicted_of_billed);
    }
    value["models"] = models.into();
    value["reasons"] = reasons.collect::<serde_json::Map<_, _>>().into();
    value
}

fn totals(totals: &Totals) -> serde_json::Value {
    let usage = &totals.usage;
    let PicoUsd(cost) = totals.cost;
    let priced = totals.unpriced < totals.requests || totals.requests == 0;
    serde_json::json!({
        "requests": totals.requests,
        "read": usage.read.0,
        "write_5m": usage.write_5m.0,
        "write_1h": usage.write_1h.0,
        "uncached": usage.uncached.0,
        "output": usage.output.0,
        "input_cost_pico_usd": priced.then(|| totals.input_cost.0.to_string()),
        "cost_pico_usd": priced.then(|| cost.to_string()),
        "cost_usd": priced.then(|| totals.cost.to_usd_string()),
        "unpriced_requests": totals.unpriced,
    })
}

fn agreement(agreements: &Agreements) -> serde_json::Value {
    let explained: serde_json::Map<String, serde_json::Value> = Explanation::ALL
        .iter()
        .filter_map(|why| Some((why.as_str().to_owned(), (*agreements.explained.get(why)?).into())))
        .collect();
    serde_json::json!({
        "observed": agreements.observed,
        "predictable": agreements.predictable(),
        "exact": agreements.exact,
        "explained": agreements.explained_total(),
        "unexplained": agreements.unexplained,
        "explained_by": explained,
    })
}
