//! The table of the program against numbers typed a second time, and the laws that would notice a
//! slip made twice.

use std::collections::BTreeMap;

use jiff::civil::{Date, date};

use crate::pricing::{Price, cost};
use crate::provider::facts::{ANTHROPIC, Facts, FactsError, ThinkingInHistory, anthropic_facts};
use crate::units::{PicoUsd, Tokens};
use crate::usage::Usage;

/// Day on which the table was compared with the provider's pages.
const TODAY: Date = date(2026, 12, 1);

/// Model, minimum, then pico-dollars a token: input, output, write 5m, write 1h, read.
type Row = (&'static str, u64, [i128; 5]);

const GOLDEN: &[Row] = &[
    ("claude-fable-5-2", 512, [8_000_000, 40_000_000, 10_000_000, 16_000_000, 200_000]),
    ("claude-mythos-5-2", 512, [8_000_000, 40_000_000, 10_000_000, 16_000_000, 200_000]),
    ("claude-fable-5-1", 512, [10_000_000, 50_000_000, 12_500_000, 20_000_000, 250_000]),
    ("claude-mythos-5-1", 512, [10_000_000, 50_000_000, 12_500_000, 20_000_000, 250_000]),
    ("claude-fable-5", 512, [10_000_000, 50_000_000, 12_500_000, 20_000_000, 1_000_000]),
    ("claude-mythos-5", 512, [10_000_000, 50_000_000, 12_500_000, 20_000_000, 1_000_000]),
    ("claude-opus-5-5", 512, [4_000_000, 20_000_000, 5_000_000, 8_000_000, 200_000]),
    ("claude-opus-5", 512, [5_000_000, 25_000_000, 6_250_000, 10_000_000, 500_000]),
    ("claude-opus-4-8", 1_024, [5_000_000, 25_000_000, 6_250_000, 10_000_000, 500_000]),
    ("claude-opus-4-7", 2_048, [5_000_000, 25_000_000, 6_250_000, 10_000_000, 500_000]),
    ("claude-opus-4-6", 4_096, [5_000_000, 25_000_000, 6_250_000, 10_000_000, 500_000]),
    ("claude-opus-4-5", 4_096, [5_000_000, 25_000_000, 6_250_000, 10_000_000, 500_000]),
    ("claude-sonnet-5-5", 512, [2_000_000, 10_000_000, 2_500_000, 4_000_000, 100_000]),
    ("claude-sonnet-5", 1_024, [2_000_000, 10_000_000, 2_500_000, 4_000_000, 200_000]),
    ("claude-sonnet-4-6", 1_024, [3_000_000, 15_000_000, 3_750_000, 6_000_000, 300_000]),
    ("claude-sonnet-4-5", 1_024, [3_000_000, 15_000_000, 3_750_000, 6_000_000, 300_000]),
    ("claude-haiku-5-5", 512, [100_000, 500_000, 125_000, 200_000, 10_000]),
    ("claude-haiku-4-5", 4_096, [1_000_000, 5_000_000, 1_250_000, 2_000_000, 100_000]),
    ("claude-opus-4-1", 1_024, [15_000_000, 75_000_000, 18_750_000, 30_000_000, 1_500_000]),
    ("claude-opus-4", 1_024, [15_000_000, 75_000_000, 18_750_000, 30_000_000, 1_500_000]),
    ("claude-sonnet-4", 1_024, [3_000_000, 15_000_000, 3_750_000, 6_000_000, 300_000]),
    ("claude-3-7-sonnet", 1_024, [3_000_000, 15_000_000, 3_750_000, 6_000_000, 300_000]),
    ("claude-3-5-haiku", 2_048, [800_000, 4_000_000, 1_000_000, 1_600_000, 80_000]),
];

fn price_of(id: &str, day: Date, input: u64) -> Price {
    let model = anthropic_facts().models.iter().find(|model| model.id == id).unwrap();
    model.prices.at(day, Tokens(input)).unwrap().price
}

fn input_cost(usage: Usage, price: &Price) -> String {
    cost(&usage, price).input().to_usd_string()
}

#[test]
fn the_table_of_the_program_parses() {
    let facts = Facts::parse(ANTHROPIC).unwrap();
    assert_eq!(&facts, anthropic_facts());
}

#[test]
fn every_model_has_the_price_and_the_minimum_of_the_price_list() {
    let facts = anthropic_facts();
    let ids: Vec<&str> = facts.models.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, GOLDEN.iter().map(|row| row.0).collect::<Vec<_>>());
    for (model, (id, minimum, [input, output, write_5m, write_1h, read])) in
        facts.models.iter().zip(GOLDEN)
    {
        let golden = Price {
            input: PicoUsd(*input),
            write_5m: PicoUsd(*write_5m),
            write_1h: PicoUsd(*write_1h),
            read: PicoUsd(*read),
            output: PicoUsd(*output),
        };
        assert_eq!(price_of(id, TODAY, 1_000), golden, "{id}");
        assert_eq!(model.min_tokens, Tokens(*minimum), "{id}");
    }
}

#[test]
fn long_haiku_prompts_have_the_price_of_the_price_list() {
    let golden = Price {
        input: PicoUsd(500_000),
        write_5m: PicoUsd(625_000),
        write_1h: PicoUsd(1_000_000),
        read: PicoUsd(50_000),
        output: PicoUsd(2_500_000),
    };
    assert_eq!(price_of("claude-haiku-5-5", TODAY, 100_001), golden);
}

#[test]
fn writes_and_reads_are_multiples_of_the_input_price() {
    // Reads per thousand of the input price; every other model has 100.
    let special = BTreeMap::from([
        ("claude-opus-5-5", 50),
        ("claude-sonnet-5-5", 50),
        ("claude-fable-5-1", 25),
        ("claude-mythos-5-1", 25),
        ("claude-fable-5-2", 25),
        ("claude-mythos-5-2", 25),
    ]);
    for model in &anthropic_facts().models {
        for entry in &model.prices.entries {
            let Price { input, write_5m, write_1h, read, output } = entry.price;
            let before_cut = model.id == "claude-sonnet-5-5" && entry.to.is_some();
            let per_mille =
                if before_cut { 100 } else { *special.get(model.id.as_str()).unwrap_or(&100) };
            assert_eq!(write_5m.0 * 4, input.0 * 5, "{}", model.id);
            assert_eq!(write_1h.0, input.0 * 2, "{}", model.id);
            assert_eq!(read.0 * 1_000, input.0 * per_mille, "{}", model.id);
            assert!(output > write_1h, "{}", model.id);
        }
    }
}

#[test]
fn every_fact_has_a_source_and_a_day_and_no_day_lies_ahead() {
    let facts = anthropic_facts();
    let mut evidence: Vec<(&str, &str, Date)> = Vec::new();
    for model in &facts.models {
        evidence.push((&model.id, &model.min_evidence.source, model.min_evidence.checked));
        for entry in &model.prices.entries {
            evidence.push((&model.id, &entry.source, entry.checked));
            assert!(entry.from <= entry.checked, "{}", model.id);
        }
    }
    evidence.extend(facts.families.iter().map(|f| (&*f.name, &*f.source, f.checked)));
    evidence.extend(facts.switches.iter().map(|s| (s.key, &*s.source, s.checked)));
    evidence.extend(
        facts.rule_sources.iter().map(|s| (s.key, &*s.evidence.source, s.evidence.checked)),
    );
    assert!(evidence.len() > 2 * GOLDEN.len());
    for (name, source, checked) in evidence {
        assert!(!source.is_empty(), "{name}");
        assert!(checked <= facts.checked, "{name}");
    }
}

#[test]
fn a_model_has_at_most_one_price_for_a_day_and_a_length() {
    for model in &anthropic_facts().models {
        let entries = &model.prices.entries;
        let mut days: Vec<Date> = entries.iter().map(|entry| entry.from).collect();
        days.push(TODAY);
        for day in days {
            let mut tiers: Vec<Tokens> = entries
                .iter()
                .filter(|entry| entry.from <= day && entry.to.is_none_or(|to| day < to))
                .map(|entry| entry.above_tokens)
                .collect();
            tiers.sort();
            assert_eq!(tiers.first(), Some(&Tokens::ZERO), "{} on {day}", model.id);
            let count = tiers.len();
            tiers.dedup();
            assert_eq!(tiers.len(), count, "{} on {day}", model.id);
        }
    }
}

#[test]
fn reasoning_is_stripped_on_older_models_only() {
    let stripped: Vec<&str> = anthropic_facts()
        .models
        .iter()
        .filter(|model| model.thinking == ThinkingInHistory::Stripped)
        .map(|model| model.id.as_str())
        .collect();
    let older = [
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
        "claude-opus-4-1",
        "claude-opus-4",
        "claude-sonnet-4",
        "claude-3-7-sonnet",
        "claude-3-5-haiku",
    ];
    assert_eq!(stripped, older);
}

#[test]
fn a_model_counts_by_its_own_family() {
    for model in &anthropic_facts().models {
        assert_eq!(model.tokenizer.to_string(), model.family, "{}", model.id);
        assert!(model.tokenizer.claude_family().is_some(), "{}", model.id);
    }
    let family = |id: &str| {
        let model = anthropic_facts().models.iter().find(|model| model.id == id).unwrap();
        model.family.as_str()
    };
    assert_eq!(family("claude-opus-4-6"), "claude-v3");
    assert_eq!(family("claude-opus-4-7"), "claude-v4.7");
    assert_eq!(family("claude-haiku-5-5"), "claude-v4.8");
}

#[test]
fn the_rules_have_their_numbers() {
    let facts = anthropic_facts();
    assert_eq!(facts.rules.lookback, 20);
    assert_eq!(facts.markers_max, 4);
    assert_eq!(facts.body_bytes_max, 32 * 1024 * 1024);
    assert_eq!(facts.runs_collapse_from, date(2026, 9, 15));
    let switches: Vec<(&str, &str)> =
        facts.switches.iter().map(|switch| (switch.key, switch.default.as_str())).collect();
    let golden = [
        ("hash_billing_line", "false"),
        ("longer_ttl_extends", "false"),
        ("match_inside_runs", "true"),
        ("refresh_earlier", "true"),
        ("thinking_positions", "true"),
        ("tool_positions", "each"),
        ("ttl_in_key", "false"),
        ("write_below_hit", "false"),
    ];
    assert_eq!(switches, golden);
}

#[test]
fn past_its_threshold_a_whole_haiku_request_has_the_higher_price() {
    let usd = |tokens: u64| {
        let price = price_of("claude-haiku-5-5", TODAY, tokens);
        input_cost(Usage::all_uncached(Tokens(tokens), Tokens::ZERO), &price)
    };
    assert_eq!(usd(100_000), "0.01");
    assert_eq!(usd(100_001), "0.0500005");
}

#[test]
fn mixed_lifetimes_are_billed_in_three_parts() {
    // Highest hit at 10,000, last 1h marker at 30,000, last marker at 34,000, which is the end:
    // 10,000 * 0.20 + 20,000 * 8 + 4,000 * 5 USD per million.
    let usage = Usage {
        read: Tokens(10_000),
        write_1h: Tokens(20_000),
        write_5m: Tokens(4_000),
        ..Usage::default()
    };
    assert_eq!(input_cost(usage, &price_of("claude-opus-5-5", TODAY, 34_000)), "0.182");
}

#[test]
fn reads_are_not_a_tenth_of_the_input_everywhere() {
    let price = price_of("claude-fable-5-2", TODAY, 40_000);
    let usage = Usage { read: Tokens(40_000), ..Usage::default() };
    assert_eq!(input_cost(usage, &price), "0.008");
    let tenth = Price { read: PicoUsd(price.input.0 / 10), ..price };
    assert_eq!(input_cost(usage, &tenth), "0.032");
}

#[test]
fn sonnet_reads_are_halved_on_a_day() {
    let read = |day| price_of("claude-sonnet-5-5", day, 1_000).read;
    assert_eq!(read(date(2026, 10, 6)), PicoUsd(200_000));
    assert_eq!(read(date(2026, 10, 7)), PicoUsd(100_000));
}

#[test]
fn long_prompts_lose_their_surcharge_on_a_day() {
    let input = |day, tokens| price_of("claude-opus-4-6", day, tokens).input;
    assert_eq!(input(date(2026, 3, 12), 200_000), PicoUsd(5_000_000));
    assert_eq!(input(date(2026, 3, 12), 200_001), PicoUsd(10_000_000));
    assert_eq!(input(date(2026, 3, 13), 200_001), PicoUsd(5_000_000));
}

#[test]
fn a_write_pays_from_the_second_use_for_five_minutes_and_the_third_for_an_hour() {
    for model in &anthropic_facts().models {
        let price = price_of(&model.id, TODAY, 1_000);
        let first_cheaper_use = |write: PicoUsd| {
            (1_i128..10).find(|uses| write.0 + (uses - 1) * price.read.0 < uses * price.input.0)
        };
        assert_eq!(first_cheaper_use(price.write_5m), Some(2), "{}", model.id);
        assert_eq!(first_cheaper_use(price.write_1h), Some(3), "{}", model.id);
    }
}

#[test]
fn prices_are_exact_or_refused() {
    let parse = crate::provider::facts::wire::parse_usd_per_mtok;
    assert_eq!(parse("0.000001"), Some(PicoUsd(1)));
    assert_eq!(parse("12.50"), Some(PicoUsd(12_500_000)));
    assert_eq!(parse("15"), Some(PicoUsd(15_000_000)));
    for text in ["0.0000001", "", ".5", "5.", "-1", "+1", "1e3", "1_000", " 1", "1.2.3"] {
        assert_eq!(parse(text), None, "{text}");
    }
}

/// The error of the table with the first `from` replaced by `to`; `from` has to stand in it.
fn error_with(from: &str, to: &str) -> FactsError {
    assert!(ANTHROPIC.contains(from), "{from}");
    Facts::parse(&ANTHROPIC.replacen(from, to, 1)).unwrap_err()
}

#[test]
fn errors_name_the_entry() {
    let at = "from = 2026-07-24\n";
    let opus_5 = "mark = \"documented\"\nsource = \"https://platform.claude.com/docs/en/\
                  build-with-claude/prompt-caching\"\nchecked = 2026-12-01\n";
    let price = format!(
        "{at}price = {{ input = \"5\", write_5m = \"6.25\", write_1h = \"10\", read = \"0.50\", \
         output = \"25\" }}\n"
    );
    let entry = format!("{price}{opus_5}");
    let changed = |from: &str, to: &str| {
        assert!(entry.contains(from), "{from}");
        error_with(&entry, &entry.replace(from, to)).to_string()
    };
    let name = "claude-opus-5, price 1";
    let no_source = entry.lines().find(|line| line.starts_with("source")).unwrap();
    assert_eq!(changed(no_source, ""), format!("read {name}: `source` is missing"));
    assert_eq!(changed(no_source, "source = \" \""), format!("read {name}: `source` is missing"));
    assert_eq!(changed("checked = 2026-12-01", ""), format!("read {name}: `checked` is missing"));
    assert!(changed("checked = 2026-12-01", "checked = 2026-07-23").contains("before it can be"));
    assert!(changed("\"6.25\"", "\"6.2500001\"").starts_with(&format!("read {name}: `write_5m")));
    assert!(changed(at, "from = 2026-07-24\nto = 2026-07-24\n").contains("not later"));
    let twice = format!("{entry}\n[[models.prices]]\n{entry}");
    assert_eq!(
        error_with(&entry, &twice).to_string(),
        format!("read claude-opus-5, price 2: it overlaps {name}")
    );
}

#[test]
fn unknown_families_double_names_and_unknown_keys_are_refused() {
    let family = error_with("family = \"claude-v4.7\"", "family = \"claude-v9\"");
    assert!(matches!(family, FactsError::Family { entry, .. } if entry == "claude-opus-4-7"));
    let alias = error_with("[\"claude-opus-5-latest\"]", "[\"claude-opus-4-8\"]");
    assert!(matches!(alias, FactsError::Duplicate { name, .. } if name == "claude-opus-4-8"));
    let tokenizer = error_with("tokenizer = \"claude-v3\"", "tokenizer = \"claude-v3*1.2555\"");
    assert!(matches!(tokenizer, FactsError::Tokenizer { .. }));
    assert!(matches!(error_with("thinking =", "thoughts ="), FactsError::Shape(_)));
    let to_date_time = error_with("from = 2026-07-24", "from = 2026-07-24T10:00:00");
    assert!(matches!(to_date_time, FactsError::Day { .. }));
}
