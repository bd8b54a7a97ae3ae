use serde_json::{Value, json};

use super::*;
use crate::units::{CacheTtl, Tokens};

fn listed(model: &str) -> Rates {
    Rates::Listed(Listed::find(model, None).unwrap())
}

fn bill_at(model: &str, value: &Value, ttl: Option<CacheTtl>) -> Bill {
    let input = read_text("", &value.to_string(), None).unwrap();
    Bill::of(&input, &RowRates::Same(&listed(model)), ttl).unwrap()
}

fn bill(model: &str, value: &Value) -> Bill {
    bill_at(model, value, None)
}

fn usd(bill: &Bill) -> String {
    bill.cost.total().to_usd_string()
}

#[test]
fn a_stated_hour_has_its_own_price_in_the_inclusive_style() {
    let split = json!({"ephemeral_1h_input_tokens": 1000, "ephemeral_5m_input_tokens": 0});
    let value = json!({
        "prompt_tokens": 2000, "cache_creation_input_tokens": 1000, "cache_creation": split
    });
    let bill = bill("claude-opus-5", &value);
    assert_eq!(bill.usage.write_1h, Tokens(1000));
    assert_eq!(usd(&bill), "0.015");
    assert!(bill.warnings.is_empty(), "{:?}", bill.warnings);
    assert!(bill.assumed.is_empty(), "{:?}", bill.assumed);
}

#[test]
fn each_pass_has_the_price_of_its_own_length() {
    let passes = json!({
        "input_tokens": 120_000, "iterations": [{"input_tokens": 60_000}, {"input_tokens": 60_000}]
    });
    let bill_of_two = bill("claude-haiku-5-5", &passes);
    assert_eq!(usd(&bill_of_two), "0.012");
    assert_eq!(usd(&bill("claude-haiku-5-5", &json!({"input_tokens": 120_000}))), "0.06");
    assert_eq!(bill_of_two.lines[0].quote().unwrap().base, bill_of_two.base().unwrap());

    let mixed = json!({
        "input_tokens": 200_000, "iterations": [{"input_tokens": 80_000}, {"input_tokens": 120_000}]
    });
    let mixed = bill("claude-haiku-5-5", &mixed);
    assert_eq!(usd(&mixed), "0.068");
    assert!(mixed.lines[0].quote().is_none() && mixed.one_quote().is_none());
    assert_eq!(mixed.te(mixed.cost.input()).unwrap(), "680000.00");
}

#[test]
fn iterations_of_the_model_that_prices_are_part_of_the_sum() {
    let usage = json!({"input_tokens": 12, "iterations": [
        {"type": "message", "model": "anthropic.claude-opus-5", "input_tokens": 5},
        {"type": "message", "model": "claude-haiku-4-5", "input_tokens": 7}
    ]});
    let row = json!({"model": "claude-haiku-4-5", "usage": usage});
    let input = read_text("", &row.to_string(), None).unwrap();
    let named = Bill::of(&input, &RowRates::Named(None), None).unwrap();
    assert_eq!(named.usage.uncached, Tokens(7));
    assert!(named.warnings.iter().any(|words| words.contains("input 5, output 0 of anthropic")));
    assert_eq!(bill("claude-haiku-4-5", &usage).usage.uncached, Tokens(7));
    assert_eq!(bill("claude-opus-5", &usage).usage.uncached, Tokens(5));
    // No iteration is of this model: the first says whose call it is.
    assert_eq!(bill("claude-sonnet-4-5", &usage).usage.uncached, Tokens(5));
}

#[test]
fn other_prices_and_tools_are_said() {
    let value = json!({
        "input_tokens": 3, "service_tier": "batch", "speed": "fast", "inference_geo": "us",
        "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 0}
    });
    let warnings = bill("claude-opus-5", &value).warnings;
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert!(warnings[0].starts_with("`service_tier` is \"batch\": the standard price is used"));
    assert!(warnings[1].contains("`speed` is \"fast\""));
    assert!(warnings[2].contains("`inference_geo` is \"us\""));
    assert!(warnings[3].starts_with("`server_tool_use.web_search_requests` is 2"));
    let standard = json!({
        "input_tokens": 3, "service_tier": "standard", "speed": "standard",
        "inference_geo": "not_available", "server_tool_use": {"web_search_requests": 0}
    });
    assert!(bill("claude-opus-5", &standard).warnings.is_empty());
}

#[test]
fn a_prompt_past_the_window_is_said() {
    let said = |input: u64| bill("claude-opus-5", &json!({"input_tokens": input})).warnings;
    assert!(said(1_000_000).is_empty());
    let warnings = said(1_000_001);
    assert!(warnings[0].contains("1,000,001 tokens is longer than the context window"));
    // Two passes that fit are no long prompt.
    let passes = vec![json!({"input_tokens": 600_000}); 2];
    let passes = json!({"input_tokens": 1_200_000, "iterations": passes});
    assert!(bill("claude-opus-5", &passes).warnings.is_empty());
}

#[test]
fn the_lifetime_by_flag_and_the_warning_do_not_contradict() {
    let value = json!({
        "input_tokens": 1, "cache_creation_input_tokens": 100,
        "cache_creation": {"ephemeral_5m_input_tokens": 40}
    });
    let bill = bill_at("claude-opus-5", &value, Some(CacheTtl::OneHour));
    assert_eq!([bill.usage.write_5m, bill.usage.write_1h], [Tokens(40), Tokens(60)]);
    assert!(bill.warnings[0].ends_with("the difference has no stated lifetime"));
    assert_eq!(bill.assumed, ["60 written tokens of unstated lifetime are 1h, by --ttl"]);
}
