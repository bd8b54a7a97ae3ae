//! `price`: money to the cent, from published arithmetic, and what is refused.

use std::path::Path;

use forkcost::quote::numbers::usd_per_mtok;
use forkcost::report::priced::bill_json;
use forkcost::units::CacheTtl;
use forkcost::verify::CheckResult;
use forkcost::verify::money::{self, MoneyPrices, MoneyRow};
use proptest::prelude::*;
use serde_json::Value;

use crate::lab::Lab;

fn answer(lab: &Lab, args: &[&str]) -> Value {
    let args: Vec<&str> = ["price", "--json"].into_iter().chain(args.iter().copied()).collect();
    lab.run(&args).succeeded().json()
}

#[track_caller]
fn total(args: &str) -> String {
    let args: Vec<&str> = args.split(' ').collect();
    answer(&Lab::new(), &args)["total_usd"].as_str().unwrap().to_owned()
}

#[test]
fn published_totals_are_met_to_the_last_decimal() {
    for (args, usd) in [
        ("--model claude-3-7-sonnet-20250219 input=3 write_5m=12304 output=550", "0.054399"),
        ("--input-price 3 --output-price 15 input=13 write_5m=28635 output=33", "0.10791525"),
        ("--input-price 3 --output-price 15 input=13 read=28635 output=37", "0.0091845"),
        ("--model claude-fable-5 input=1.9k output=16.3k read=4.8M write_1h=533.8k", "16.31"),
        ("--model claude-fable-5 input=1.9k output=16.3k read=4.8M write_5m=533.8k", "12.3065"),
        ("--input-price 5 write_5m=600k write_1h=400k", "7.75"),
        ("--input-price 5 write_1h=344139", "3.44139"),
        ("--input-price 5 write_5m=344139", "2.15086875"),
    ] {
        assert_eq!(total(args), usd, "{args}");
    }
}

#[test]
fn a_long_prompt_makes_all_of_the_request_dearer() {
    let args = |threshold| {
        let rest = "--tier-factor 2 input=10k read=240k";
        format!("--input-price 3 --output-price 15 --tier-above {threshold} {rest}")
    };
    let read = |threshold| {
        let args = args(threshold);
        let answer = answer(&Lab::new(), &args.split(' ').collect::<Vec<_>>());
        answer["classes"]["read"]["cost_usd"].as_str().unwrap().to_owned()
    };
    assert_eq!(read("200k"), "0.144");
    assert_eq!(read("249999"), "0.144");
    assert_eq!(read("250k"), "0.072");
    assert_eq!(total(&args("200k")), "0.204");
}

#[test]
fn token_equivalents_do_not_depend_on_the_price() {
    for price in ["1", "3", "10"] {
        let args = ["--input-price", price, "write_5m=5586784", "read=72733002"];
        let answer = answer(&Lab::new(), &args);
        assert_eq!(answer["classes"]["write_5m"]["te"], "6983480.00");
        assert_eq!(answer["classes"]["read"]["te"], "7273300.20");
        assert_eq!(answer["input_te"], "14256780.20");
    }
}

#[test]
fn the_published_rows_that_ship_hold() {
    let lab = Lab::new();
    let rows = money::rows().unwrap();
    assert!(rows.len() >= 12);
    for row in rows {
        let number = row.source.replace('#', "/issues/");
        assert_eq!(row.url, format!("https://github.com/{number}"));
        assert!(row.what.ends_with('.'));
        let check = money::check(&row).unwrap();
        assert_eq!(check.result, CheckResult::Passed, "{}: {}", row.id, check.detail);
        let flags = flags(&row);
        let args: Vec<&str> = flags.iter().map(String::as_str).collect();
        assert_eq!(answer(&lab, &args), bill_json(&row.bill().unwrap()), "{}", row.id);
    }
}

/// A published row as the words behind `forkcost price`.
fn flags(row: &MoneyRow) -> Vec<String> {
    let mut flags = Vec::new();
    match &row.prices {
        MoneyPrices::Model(name) => flags.extend(["--model".to_owned(), name.clone()]),
        MoneyPrices::Given(given) => {
            let prices = [
                ("--input-price", Some(given.input)),
                ("--output-price", given.output),
                ("--write-5m-price", given.write_5m),
                ("--write-1h-price", given.write_1h),
                ("--read-price", given.read),
            ];
            for (flag, price) in prices {
                flags.extend(price.into_iter().flat_map(|usd| [flag.into(), usd_per_mtok(usd)]));
            }
            if let Some((above, factor)) = given.tier {
                flags.extend(["--tier-above".to_owned(), above.0.to_string()]);
                flags.extend(["--tier-factor".to_owned(), factor.to_text()]);
            }
        }
    }
    let ttl = row.ttl.map(CacheTtl::label);
    flags.extend(ttl.into_iter().flat_map(|ttl| ["--ttl".to_owned(), ttl.to_owned()]));
    flags.extend(row.usage.iter().cloned());
    flags
}

#[test]
fn writes_without_lifetime_are_said_and_can_be_moved() {
    let lab = Lab::new();
    let args = ["price", "--input-price", "5", "write=1M"];
    let ran = lab.run(&args).succeeded();
    assert!(ran.stdout.contains("1,000,000 written tokens of unstated lifetime are 5m"));
    assert_eq!(total("--input-price 5 write=1M"), "6.25");
    assert_eq!(total("--input-price 5 --ttl 1h write=1M"), "10.00");
    // What is stated stays.
    assert_eq!(total("--input-price 5 --ttl 1h write_5m=1M"), "6.25");
}

#[test]
fn one_hour_writes_keep_their_own_price_when_only_the_other_is_given() {
    let args = "--input-price 5 --write-5m-price 6.25 write_1h=1M";
    assert_eq!(total(args), "10.00");
    let ran = Lab::new().run(&["price", "--input-price", "5", "write_1h=1M"]).succeeded();
    assert!(ran.stdout.contains("write 1h costs 10.00 USD"), "{}", ran.stdout);
    assert_eq!(total("--input-price 5 --write-1h-price 9 write_1h=1M"), "9.00");
}

#[test]
fn inclusive_and_exclusive_counts_of_one_call_cost_the_same() {
    let lab = Lab::new();
    let exclusive = r#"{"input_tokens":4,"cache_read_input_tokens":30000,"output_tokens":5}"#;
    let inclusive = r#"{"prompt_tokens":30004,"completion_tokens":5,
        "prompt_tokens_details":{"cached_tokens":30000}}"#;
    let camel = r#"{"inputTokens":4,"cacheReadInputTokens":30000,"outputTokens":5}"#;
    let plain = r#"{"uncached":4,"read":30000,"output":5}"#;
    for text in [exclusive, inclusive, camel, plain] {
        let answer = answer(&lab, &["--model", "claude-opus-5", text]);
        assert_eq!(answer["total_usd"], "0.015145", "{text}");
    }
    // Read as if the cache were counted apart: that is what the style is for.
    let forced = ["--model", "claude-opus-5", "--style", "openai", exclusive];
    assert_eq!(answer(&lab, &forced)["usage"]["uncached"], 0);
}

#[test]
fn rows_are_priced_one_by_one_with_their_sum() {
    let lab = Lab::new();
    let rows = [
        r#"{"model":"claude-opus-5","usage":{"input_tokens":1000,"output_tokens":10}}"#,
        "",
        r#"{"model":"claude-sonnet-5","usage":{"input_tokens":1000,"output_tokens":10}}"#,
        r#"{"model":"claude-sonnet-5","usage":null}"#,
    ];
    lab.write("rows.jsonl", rows.join("\n"));
    let bill = answer(&lab, &["rows.jsonl"]);
    assert_eq!(bill["rows"][0]["total_usd"], "0.00525");
    assert_eq!(bill["rows"][1]["total_usd"], "0.0021");
    assert_eq!(bill["rows"][1]["row"], 3);
    assert_eq!(bill["total_usd"], "0.00735");
    assert_eq!(bill["input_te"], Value::Null);
    assert!(bill["warnings"][0].as_str().unwrap().contains("not priced: 1"));
    // One model for all, whatever the rows name, and it is said.
    let same = answer(&lab, &["--model", "claude-opus-5", "rows.jsonl"]);
    assert_eq!(same["total_usd"], "0.0105");
    assert_eq!(same["input_te"], "2000.00");
    assert!(same["warnings"][1].as_str().unwrap().contains("name another model"));
    let piped = lab.run_on(&["price", "--json", "-"], rows.join("\n").as_bytes()).succeeded();
    assert_eq!(piped.json()["total_usd"], "0.00735");
    lab.write("list.json", r#"[{"input_tokens":1}, {"input_tokens":2}]"#);
    let listed = answer(&lab, &["--model", "claude-opus-5", "list.json"]);
    assert_eq!(listed["usage"]["uncached"], 3);
}

#[test]
fn many_rows_are_shortened_in_the_text_only() {
    let lab = Lab::new();
    let row = r#"{"input_tokens":1,"cache_creation_input_tokens":2,
        "cache_creation":{"ephemeral_5m_input_tokens":0}}"#;
    lab.write("rows.json", format!("[{}]", vec![row; 100].join(",")));
    let ran = lab.run(&["price", "--model", "claude-opus-5", "rows.json"]).succeeded();
    assert!(ran.stdout.contains("60 more rows; --json"), "{}", ran.stdout);
    assert!(ran.stdout.contains("88 more warnings; --json"), "{}", ran.stdout);
    let bill = answer(&lab, &["--model", "claude-opus-5", "rows.json"]);
    assert_eq!(bill["rows"].as_array().unwrap().len(), 100);
    assert_eq!(bill["warnings"].as_array().unwrap().len(), 100);
}

#[test]
fn a_split_that_does_not_add_up_is_a_warning_with_the_difference() {
    let text = r#"{"input_tokens":2250,"cache_creation_input_tokens":11913,"output_tokens":104,
        "cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}}"#;
    let bill = answer(&Lab::new(), &["--model", "claude-haiku-4-5", text]);
    assert_eq!(bill["rows"][0]["warnings"][0]["difference"], 11_913);
    assert_eq!(bill["classes"]["write_5m"]["tokens"], 11_913);
    let moved = answer(&Lab::new(), &["--model", "claude-haiku-4-5", "--ttl", "1h", text]);
    assert_eq!(moved["classes"]["write_1h"]["tokens"], 11_913);
}

#[test]
fn a_gateways_hour_and_each_pass_have_their_own_price() {
    let hour = r#"{"prompt_tokens":2000,"cache_creation_input_tokens":1000,"cache_creation":
        {"ephemeral_1h_input_tokens":1000,"ephemeral_5m_input_tokens":0}}"#;
    let bill = answer(&Lab::new(), &["--model", "claude-opus-5", hour]);
    assert_eq!(bill["usage"]["write_1h"], 1000);
    assert_eq!(bill["total_usd"], "0.015");
    let passes = r#"{"input_tokens":200000,"speed":"fast",
        "iterations":[{"input_tokens":80000},{"input_tokens":120000}]}"#;
    let bill = answer(&Lab::new(), &["--model", "claude-haiku-5-5", passes]);
    let row = &bill["rows"][0];
    assert_eq!(row["price"], Value::Null);
    assert_eq!(row["passes"][0]["total_usd"], "0.008");
    assert_eq!(row["passes"][1]["total_usd"], "0.06");
    assert_eq!(bill["total_usd"], "0.068");
    let said = row["warnings"][0]["message"].as_str().unwrap();
    assert!(said.contains("standard price"), "{said}");
}

#[test]
fn a_day_and_a_length_choose_the_price() {
    let read = |day| total(&format!("--model claude-sonnet-5-5 --date {day} read=1M"));
    assert_eq!([read("2026-10-06"), read("2026-10-07")], ["0.20", "0.10"]);
    assert_eq!(total("--model claude-haiku-5-5 input=100000"), "0.01");
    assert_eq!(total("--model claude-haiku-5-5 input=100001"), "0.0500005");
    let bill = answer(&Lab::new(), &["--model", "claude-haiku-5-5", "input=100001"]);
    let price = &bill["rows"][0]["price"];
    assert_eq!(price["entry"]["above_tokens"], 100_000);
    assert_eq!(price["entry"]["mark"], "documented");
    assert_eq!(bill["input_te"], "500005.00");
}

#[test]
fn one_usage_is_compared_for_several_models() {
    let args = ["--compare", "claude-opus-5", "--compare", "claude-sonnet-5-5", "read=1M"];
    let compared = answer(&Lab::new(), &args);
    let models = compared["models"].as_array().unwrap();
    let totals: Vec<&str> = models.iter().map(|m| m["total_usd"].as_str().unwrap()).collect();
    assert_eq!(totals, ["0.50", "0.10"]);
    assert_eq!(models[0]["versus_first_percent"], Value::Null);
    assert_eq!(models[1]["versus_first_percent"], "-80.00");
}

#[test]
fn the_list_and_the_history_show_the_facts() {
    let lab = Lab::new();
    let list = answer(&lab, &[]);
    let models = list["models"].as_array().unwrap();
    assert_eq!(models.len(), forkcost::provider::anthropic_facts().models.len());
    let haiku = models.iter().find(|model| model["model"] == "claude-haiku-5-5").unwrap();
    assert_eq!(haiku["prices"].as_array().unwrap().len(), 2);
    let text = lab.run(&["price"]).succeeded().stdout;
    for model in models {
        assert!(text.contains(model["model"].as_str().unwrap()));
    }
    let history = answer(&lab, &["--model", "claude-sonnet-5-5"]);
    let prices = history["models"][0]["prices"].as_array().unwrap();
    assert_eq!(prices.len(), 2);
    assert_eq!(prices[0]["to"], "2026-10-07");
    assert_eq!(prices[1]["usd_per_mtok"]["read"], "0.10");
    let early = answer(&lab, &["--date", "2024-12-31"]);
    let held = |model: &&Value| !model["prices"].as_array().unwrap().is_empty();
    assert_eq!(early["models"].as_array().unwrap().iter().filter(held).count(), 1);
}

#[test]
fn no_line_is_wider_than_eighty_columns() {
    let lab = Lab::new();
    let row =
        r#"{"model":"claude-3-7-sonnet","usage":{"input_tokens":123456789,"output_tokens":1}}"#;
    lab.write("rows.jsonl", format!("{row}\n{row}\n"));
    for args in [
        vec!["price"],
        vec!["price", "--model", "claude-opus-4-6"],
        vec!["price", "--model", "claude-haiku-5-5", "input=4.8M", "write=1k"],
        vec!["price", "--compare", "claude-opus-5", "--compare", "claude-3-7-sonnet", "read=1M"],
        vec!["price", "rows.jsonl"],
    ] {
        let ran = lab.run_with(&args, &[("COLUMNS", "80")]).succeeded();
        for line in ran.stdout.lines().filter(|line| !line.contains("https://")) {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
    }
}

/// Every command that the page shows prints what stands below it.
#[test]
fn the_page_shows_what_its_commands_print() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/price.md");
    let page = std::fs::read_to_string(path).unwrap();
    let lab = Lab::new();
    let mut count = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("\n```").next().unwrap();
        let (command, expected) = block.split_once('\n').unwrap();
        let words: Vec<&str> = command.strip_prefix("$ forkcost ").unwrap().split(' ').collect();
        let ran = lab.run_with(&words, &[("COLUMNS", "80")]).succeeded();
        assert_eq!(ran.stdout.trim_end(), expected, "{command}");
        count += 1;
    }
    assert!(count >= 3);
}

#[test]
fn what_cannot_be_priced_is_refused_with_a_remedy() {
    let lab = Lab::new();
    let opus = ["price", "--model", "claude-opus-5"];
    for (words, expected) in [
        (vec!["inputs=3"], vec!["`inputs` is no count; is `input` meant?"]),
        (vec!["input=-3"], vec!["input=-3", "is negative; 0 or more"]),
        (vec!["input=NaN"], vec!["input=NaN", "such as 12304, 1.9k or 4.8M"]),
        (vec!["input=1.5"], vec!["not a whole number of tokens"]),
        (vec!["input=99999999999999999999"], vec!["more tokens than can be counted"]),
        (vec!["input=9999999999999999"], vec!["too large", "1,000,000,000,000,000"]),
        (vec!["input=1", "input=2"], vec!["`input` is given twice"]),
        (vec!["input=1", "uncached=2"], vec!["`uncached` and `input` are both given"]),
        (vec!["write=1", "write_1h=2"], vec!["`write` and `write_1h` are both given"]),
        (vec!["input"], vec!["`input` is neither a file nor a usage", "input=3"]),
        (vec!["input=1", "output"], vec!["`output` is no key=value word"]),
        (vec!["--style", "bedrock", "input=1"], vec!["key=value words are always plain"]),
        (vec!["--style", "azure", "input=1"], vec!["anthropic, bedrock, openai, plain"]),
        (vec!["--input-price", "3", "input=1"], vec!["--model and --input-price", "leave one"]),
        (vec!["--date", "2025-01-01", "input=1"], vec!["no price on 2025-01-01", "2026-07-24"]),
        (vec!["--date", "soon", "input=1"], vec!["a day such as 2026-07-24"]),
        (vec!["--ttl", "2h", "input=1"], vec!["5m or 1h expected"]),
        (vec!["{\"foo\": 3}"], vec!["no known count; found foo", "input_tokens"]),
        (vec!["{\"input_tokens\": -3}"], vec!["`input_tokens` is negative: -3", "from 0 to"]),
        (vec!["{\"input_tokens\": 1.5}"], vec!["not written as a whole number: 1.5"]),
        (vec!["{\"input_tokens\": 1e999}"], vec!["not JSON: number out of range"]),
        (vec!["{\"input_tokens\":"], vec!["the usage:1:16: not JSON: EOF"]),
        (vec!["{ \"input_tokens\":", "3", "}"], vec!["put the JSON into quotes"]),
        (vec!["[]"], vec!["holds no usage"]),
        (vec!["--tier-above", "1", "--tier-factor", "2", "input=1"], vec!["give --input-price"]),
    ] {
        let args: Vec<&str> = opus.into_iter().chain(words).collect();
        lab.refuses(&args, 2, &expected);
    }
}

#[test]
fn prices_by_hand_are_refused_with_a_remedy() {
    let lab = Lab::new();
    for (words, expected) in [
        (vec!["--input-price", "NaN", "input=1"], vec!["at most 6 decimals expected"]),
        (vec!["--input-price", "-3", "input=1"], vec!["is negative; 0 or more"]),
        (vec!["--input-price", "1000001", "input=1"], vec!["more than 1,000,000 USD"]),
        (vec!["--input-price", "3", "output=1"], vec!["no price is given for output", "--output-"]),
        (vec!["--output-price", "3", "input=1"], vec!["give --input-price"]),
        (vec!["--input-price", "0.000001", "input=1"], vec!["1.25 times", "--write-5m-price"]),
        (vec!["--input-price", "3"], vec!["no usage to be priced"]),
        (vec!["--input-price", "3", "--tier-above", "1", "input=1"], vec!["belong together"]),
        (vec!["--input-price", "3", "--date", "2026-12-01", "input=1"], vec!["no effect"]),
        (vec!["--model", "claude-opos-5", "input=1"], vec!["`claude-opos-5`", "claude-opus-5"]),
        (vec!["--model", "gpt-4o", "input=1"], vec!["`gpt-4o`", "--input-price prices any other"]),
        (vec!["--compare", "claude-opus-5", "input=1"], vec!["a comparison needs two"]),
        (vec!["input=1"], vec!["no model and no price is given", "--model"]),
    ] {
        let args: Vec<&str> = ["price"].into_iter().chain(words).collect();
        lab.refuses(&args, 2, &expected);
    }
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let lab = Lab::new();
    let good = r#"{"model":"claude-opus-5","usage":{"input_tokens":1}}"#;
    for (name, text, words) in [
        ("empty.json", String::new(), vec!["empty.json is empty"]),
        ("cut.jsonl", format!("{good}\n{good}\n{}", &good[..40]), vec!["cut.jsonl:3:40: not JSON"]),
        ("bad.json", "{\"input_tokens\":\n nope}".to_owned(), vec!["bad.json:2:3: not JSON"]),
        ("no.jsonl", format!("{good}\n5\n"), vec!["no.jsonl:2: failed to read the usage"]),
        ("neg.jsonl", format!("{good}\n{}", good.replace("1}", "-1}")), vec!["neg.jsonl:2", "-1"]),
        (
            "who.jsonl",
            format!("{good}\n{}", good.replace("-5", "-6")),
            vec!["who.jsonl:2", "opus-6"],
        ),
        ("null.json", "{\"usage\": null}".to_owned(), vec!["null.json holds no usage"]),
    ] {
        lab.write(name, text);
        lab.refuses(&["price", name], 2, &words);
    }
    lab.write("latin.json", b"{\"input_tokens\": \xff}");
    lab.refuses(&["price", "latin.json"], 2, &["latin.json is not UTF-8"]);
    lab.refuses(&["price", "missing.json"], 3, &["missing.json"]);
}

#[test]
fn the_largest_counts_and_prices_do_not_overflow() {
    let lab = Lab::new();
    let most = "1000000000000000";
    let words: Vec<String> = ["input", "read", "write_5m", "write_1h", "output"]
        .iter()
        .map(|key| format!("{key}={most}"))
        .collect();
    let mut args = vec!["--input-price", "1000000", "--output-price", "1000000"];
    args.extend(["--tier-above", "0", "--tier-factor", "1000"]);
    args.extend(words.iter().map(String::as_str));
    // (1 + 0.1 + 1.25 + 2 + 1) times 10^15 tokens at 1000 * 1 USD each.
    assert_eq!(answer(&lab, &args)["total_usd"], "5350000000000000000.00");
    let row = format!("{{\"input_tokens\":{most}}}");
    lab.write("rows.json", format!("[{}]", vec![row.as_str(); 101].join(",")));
    let args = ["price", "--model", "claude-opus-5", "rows.json"];
    lab.refuses(&args, 2, &["more than 100,000,000,000,000,000 tokens together"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_cost_of_rows_is_linear(
        counts in prop::collection::vec([0..2_000_000_u64, 0..2_000_000, 0..2_000_000], 1..6),
    ) {
        let row = |[input, read, write]: &[u64; 3]| {
            format!("{{\"input\":{input},\"read\":{read},\"write_1h\":{write}}}")
        };
        let rows: Vec<String> = counts.iter().map(row).collect();
        let sum = counts.iter().fold([0; 3], |sum, one| [0, 1, 2].map(|i| sum[i] + one[i]));
        let words = ["price", "--json", "--model", "claude-opus-5", "-"];
        let lab = Lab::new();
        let apart = lab.run_on(&words, rows.join("\n").as_bytes()).succeeded().json();
        let together = lab.run_on(&words, row(&sum).as_bytes()).succeeded().json();
        prop_assert_eq!(&apart["total_pico_usd"], &together["total_pico_usd"]);
        prop_assert_eq!(&apart["input_te"], &together["input_te"]);
        let expected = i128::from(sum[0]) * 5_000_000
            + i128::from(sum[1]) * 500_000
            + i128::from(sum[2]) * 10_000_000;
        prop_assert_eq!(apart["total_pico_usd"].as_str().unwrap(), expected.to_string());
    }
}
