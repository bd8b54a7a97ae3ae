//! What published measurements came to when they were replayed: a table for the terminal, JSON, and
//! the page `docs/accuracy.md`.

use crate::replay::Explanation;
use crate::report::page::{BAD, BOLD, GOOD, Page};
use crate::verify::{Check, CheckKind, CheckResult};

/// Width of the column of results.
const RESULT: usize = 8;

/// The checks as text of `width` columns (held between 80 and 120), ending in a newline.
pub fn text(checks: &[Check], width: usize, styled: bool) -> String {
    let mut page = Page::new(width, styled);
    for check in checks {
        let style = match check.result {
            CheckResult::Passed => GOOD,
            CheckResult::Skipped => BOLD,
            CheckResult::Failed => BAD,
        };
        let result = check.result.as_str();
        let gap = " ".repeat(RESULT - result.len());
        page.line(&format!("{}{gap}{}   {}", page.paint(result, style), check.name, check.source));
        page.paragraph(&check.detail, RESULT);
    }
    page.blank();
    page.line(&verdict(checks));
    page.out
}

/// How many passed, failed and were skipped.
pub fn verdict(checks: &[Check]) -> String {
    let count = |result| checks.iter().filter(|check| check.result == result).count();
    let (passed, skipped) = (count(CheckResult::Passed), count(CheckResult::Skipped));
    let failed = count(CheckResult::Failed);
    format!("{passed} passed, {failed} failed, {skipped} skipped")
}

/// The checks as JSON, ending in a newline.
///
/// # Errors
/// Where they cannot be written as JSON.
pub fn json(checks: &[Check]) -> serde_json::Result<String> {
    let rows: Vec<serde_json::Value> = checks
        .iter()
        .map(|check| {
            let agreements = check.agreements.as_ref().map(|agreements| {
                serde_json::json!({
                    "observed": agreements.observed,
                    "predictable": agreements.predictable(),
                    "exact": agreements.exact,
                    "explained": agreements.explained_total(),
                    "unexplained": agreements.unexplained,
                })
            });
            serde_json::json!({
                "name": check.name,
                "source": check.source,
                "url": if check.url.is_empty() { None } else { Some(&check.url) },
                "what": check.what,
                "result": check.result.as_str().to_lowercase(),
                "detail": check.detail,
                "agreement": agreements,
                "what_matters": check.matters,
            })
        })
        .collect();
    let all = serde_json::json!({"schema_version": 1, "checks": rows});
    Ok(format!("{}\n", serde_json::to_string_pretty(&all)?))
}

/// The page `docs/accuracy.md`.
pub fn markdown(checks: &[Check]) -> String {
    let mut out = String::from(HEAD);
    out.push_str("\n## Predictions against bills\n\n");
    out.push_str(
        "| data set | bills | predictable | exact | of them reads | explained | unexplained |\
         \x20result |\n\
         |---|--:|--:|--:|--:|--:|--:|---|\n",
    );
    let of = |kind| checks.iter().filter(move |check| check.kind == kind);
    let replays: Vec<&Check> = of(CheckKind::Replay).collect();
    let rules: Vec<&Check> = of(CheckKind::Rule).collect();
    let money: Vec<&Check> = of(CheckKind::Money).collect();
    for check in &replays {
        let result = check.result.as_str().to_lowercase();
        let row = match &check.agreements {
            Some(found) => format!(
                "{} | {} | {} | {} | {} | {}",
                found.observed,
                found.predictable(),
                found.exact,
                check.reads_exact,
                found.explained_total(),
                found.unexplained
            ),
            None => "- | - | - | - | - | -".to_owned(),
        };
        line(&mut out, &format!("| {} | {row} | {result} |", linked(check)));
    }
    explained(&mut out, &replays);
    out.push_str(
        "\n## Documented rules, worked\n\n\
         Numbers of our own: they show that the rules are kept as documented, not that a\n\
         provider keeps them.\n\n| rule | cases | as documented | result |\n|---|--:|--:|---|\n",
    );
    for check in &rules {
        let (cases, exact) =
            check.agreements.as_ref().map_or((0, 0), |found| (found.observed, found.exact));
        let result = check.result.as_str().to_lowercase();
        line(&mut out, &format!("| {} | {cases} | {exact} | {result} |", linked(check)));
    }
    out.push_str("\n## Published arithmetic\n\n| source | what | result |\n|---|---|---|\n");
    for check in &money {
        let result = check.result.as_str().to_lowercase();
        line(
            &mut out,
            &format!("| {} | {} | {result}: {} |", linked(check), check.what, check.detail),
        );
    }
    let tokens: Vec<&Check> = of(CheckKind::Tokens).collect();
    out.push_str(
        "\n## What is asked of token counts\n\n| check | asked | result |\n|---|---|---|\n",
    );
    for check in &tokens {
        let result = check.result.as_str().to_lowercase();
        line(
            &mut out,
            &format!("| {} | {} | {result}: {} |", check.name, check.what, check.detail),
        );
    }
    let replayed: Vec<&Check> = replays.iter().chain(&rules).copied().collect();
    assumptions(&mut out, &replayed);
    out.push_str("\n## What was published and what is derived\n");
    for check in replayed.iter().filter(|check| !check.what.is_empty()) {
        line(&mut out, &format!("\n* **{}**: {}", check.name, check.what));
    }
    out
}

/// What the page says before its tables.
const HEAD: &str = "\
# Accuracy

Made by `forkcost verify --markdown`; a test compares it. Every row is computed from a replay.

A bill is *predictable* where the trace holds what a prediction needs; it is *exact* where the
prediction equals it to the token, *unexplained* where it does not. Of recorded calls only the
tokens read are predicted: what was written and what was left follow from them and from the whole,
which is billed. A bill that cannot be predicted is *explained* by a reason with a name. In
timelines of measurements the sums are published and the sizes behind them are derived, so such a
timeline proves that the rules can give the published bills, and which rules cannot; a recording
proves more, because nothing in it is ours. Of recorded calls it is compared, too, whether something
was written for each lifetime.

What no recording here proves: that runs of tool blocks count as one position, when exactly an entry
becomes readable, and that its lifetime counts from the start of a request. Those rest on
documentation, on published measurements, and on the worked rules below and in
`tests/cache_timelines.rs`.
";

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn linked(check: &Check) -> String {
    if check.url.is_empty() {
        format!("`{}`: {}", check.name, check.source)
    } else {
        format!("`{}`: [{}]({})", check.name, check.source, check.url)
    }
}

fn explained(out: &mut String, replays: &[&Check]) {
    let found: Vec<String> = replays
        .iter()
        .flat_map(|check| {
            let explained = check.agreements.iter().flat_map(|found| &found.explained);
            explained.map(|(why, bills)| row(&check.name, *why, *bills))
        })
        .collect();
    if !found.is_empty() {
        out.push_str("\n| data set | not predictable | bills | because |\n|---|---|--:|---|\n");
        found.iter().for_each(|row| line(out, row));
    }
}

fn row(name: &str, why: Explanation, bills: u64) -> String {
    format!("| `{name}` | `{}` | {bills} | {} |", why.as_str(), why.text())
}

fn assumptions(out: &mut String, replays: &[&Check]) {
    out.push_str(
        "\n## Assumptions that mattered\n\n\
         Each rule was changed, alone, and the bills that are then no longer predicted were\n\
         counted. *Readable at once*: every entry is readable from the start of the request that\n\
         writes it. *Next to nothing expires*: time runs a hundred times faster. What stands in\n\
         no row here is proved by none of these data.\n\n\
         | data set | what makes it fail |\n|---|---|\n",
    );
    for check in replays.iter().filter(|check| check.agreements.is_some()) {
        let matters =
            if check.matters.is_empty() { "none".to_owned() } else { check.matters.join(", ") };
        line(out, &format!("| `{}` | {matters} |", check.name));
    }
}
