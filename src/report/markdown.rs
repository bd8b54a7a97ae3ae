//! `report.md`: the run as one page, fit for a pull request.

use crate::analysis::{Shared, Summary, Totals};
use crate::record::SegmentRecord;
use crate::report::overview::best_change;
use crate::report::table::{
    PlanRow, children_text, count, decimal, is_positive, part_percent, plan_rows, same_decimals,
    share_percent,
};
use crate::report::terminal::{reason_sentence, reasons_by_count};

/// A chart as `report.md` shows it: its title and its file, relative to the report's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartLink {
    /// Title, also the text for readers who do not see the image.
    pub title: String,
    /// Path with `/`, relative to the folder.
    pub path: String,
}

/// The text of `report.md`.
pub fn report_markdown(
    summary: &Summary,
    segments: &[SegmentRecord],
    charts: &[ChartLink],
) -> String {
    let mut out = String::new();
    for section in [
        opening(summary),
        plans(summary),
        shared(summary),
        reasons(summary),
        changes(summary),
        findings(summary),
        segments_table(segments, summary.child_tokens),
        chart_links(charts),
        how_to_read(summary),
    ] {
        out.push_str(&section);
    }
    out
}

fn opening(summary: &Summary) -> String {
    format!(
        "# {title}\n\n{verdict}\n\n\
         {scenario}: {children}, sent {schedule}, markers {policy}; model {model}, prices of \
         {prices} (table checked {checked}) looked up for {date}; tokens by {tokenizer} \
         ({exactness}{note}).\n\n",
        title = cell(&summary.title),
        verdict = verdict_sentence(summary),
        scenario = code(&summary.scenario),
        children = children_text(summary.children),
        schedule = code(&summary.schedule),
        policy = code(&summary.marker_policy),
        model = code(&summary.model),
        prices = summary.prices_from,
        checked = summary.facts_checked,
        date = summary.date,
        tokenizer = code(&summary.tokenizer.name),
        exactness = summary.tokenizer.exactness,
        note = tokenizer_note(summary),
    )
}

/// The note on the tokenizer behind a colon, if there is one.
fn tokenizer_note(summary: &Summary) -> String {
    let note = &summary.tokenizer.note;
    if note.is_empty() { String::new() } else { format!(": {}", cell(note)) }
}

fn verdict_sentence(summary: &Summary) -> String {
    let saving = share_percent(&summary.saving_vs_no_cache);
    let against = match saving.strip_prefix('-') {
        Some(more) => format!("{more} % more than"),
        None => format!("{saving} % less than"),
    };
    let mut text = format!(
        "**{children} cost {te} TE of input ({usd} USD), {against} without a cache \
         ({no_cache} TE).** \
         A perfect cache would bill {perfect} TE.",
        children = capitalised(&children_text(summary.children)),
        te = decimal(&summary.totals.te),
        usd = decimal(&summary.totals.cost_usd),
        no_cache = decimal(&summary.baselines.no_cache.te),
        perfect = decimal(&summary.baselines.perfect.te),
    );
    if let Some(best) = best_change(summary) {
        text.push_str(&format!(
            " Best change: {}: {} TE, {} % less than this plan.",
            cell(&best.text),
            decimal(&best.totals.te),
            share_percent(&best.saving)
        ));
    }
    text
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

fn plans(summary: &Summary) -> String {
    let rows = plan_rows(summary);
    let one_hour = rows.iter().any(|row| row.totals.write_1h > 0);
    let output = rows.iter().any(|row| row.totals.output > 0);
    let mut header = vec!["plan", "requests", "read", "write 5m"];
    header.extend(one_hour.then_some("write 1h"));
    header.push("uncached");
    header.extend(output.then_some("output"));
    header.extend(["TE (input)", "USD", "TE vs no cache"]);
    let lines: Vec<Vec<String>> =
        rows.iter().map(|row| plan_cells(row, one_hour, output)).collect();
    let note = "The totals hold the children and any prewarm request, never the parent's own. \
                No cache and perfect cache are bounds, not plans; fresh agents do not have the \
                parent's context; \
                chapter's model (first child at full price, every later one reads all before its \
                directive, no write premium) is how no provider bills.";
    format!("## What it costs\n\n{}\n{note}\n\n", table(&header, 1, &lines))
}

fn plan_cells(row: &PlanRow<'_>, one_hour: bool, output: bool) -> Vec<String> {
    let totals: &Totals = row.totals;
    let mut cells =
        vec![row.label.clone(), count(totals.requests), count(totals.read), count(totals.write_5m)];
    cells.extend(one_hour.then(|| count(totals.write_1h)));
    cells.push(count(totals.uncached));
    cells.extend(output.then(|| count(totals.output)));
    cells.extend([decimal(&totals.te), row.usd.clone(), row.versus_no_cache.clone()]);
    cells
}

fn shared(summary: &Summary) -> String {
    let line = |name: &str, shared: &Shared| {
        vec![
            name.to_owned(),
            count(shared.body_bytes),
            count(shared.prompt_bytes),
            count(shared.prompt_tokens),
            part_percent(shared.prompt_tokens, summary.child_tokens),
            count(shared.head_tokens),
        ]
    };
    let header = [
        "from the start, equal in",
        "body bytes (exact)",
        "prompt bytes (exact)",
        &format!("prompt tokens ({})", summary.tokenizer.exactness),
        "of a child's input",
        "tokens in the block that differs",
    ];
    let lines = [
        line("all children", &summary.shared),
        line("parent and all children", &summary.shared_with_parent),
    ];
    let mut out = format!("## What is shared\n\n{}\n", table(&header, 1, &lines));
    match &summary.first_difference {
        Some(difference) => out.push_str(&format!(
            "The children first differ at {pointer}, byte {byte} of the body{part}: one has \
             {one}, another {other}.\n\n",
            part = difference
                .part
                .as_ref()
                .map_or(String::new(), |part| { format!(", in the {}", cell(part)) }),
            pointer = code(&difference.pointer),
            byte = count(difference.byte),
            one = code(&difference.excerpt),
            other = code(&difference.other_excerpt),
        )),
        None => out.push_str("The children do not differ.\n\n"),
    }
    out
}

fn reasons(summary: &Summary) -> String {
    let lines: Vec<Vec<String>> = reasons_by_count(summary)
        .into_iter()
        .map(|(name, requests)| {
            vec![code(name), count(requests), cell(&reason_sentence(summary, name))]
        })
        .collect();
    let header = ["reason", "requests", "in words"];
    format!("## Why no more was read\n\n{}\n", table(&header, 1, &lines))
}

fn changes(summary: &Summary) -> String {
    if summary.changes.is_empty() {
        return String::new();
    }
    let usd = same_decimals(summary.changes.iter().map(|change| change.totals.cost_usd.as_str()));
    let lines: Vec<Vec<String>> = summary
        .changes
        .iter()
        .zip(usd)
        .map(|(change, usd)| {
            let patch: Vec<String> = change.patch.iter().map(|line| code(line)).collect();
            let context = if change.keeps_context { "kept" } else { "lost" };
            let saving = share_percent(&change.saving);
            let versus = match saving.strip_prefix('-') {
                Some(more) => format!("+{more} %"),
                None if is_positive(&saving) => format!("-{saving} %"),
                None => format!("{saving} %"),
            };
            vec![
                cell(&change.text),
                decimal(&change.totals.te),
                usd,
                versus,
                context.to_owned(),
                patch.join("<br>"),
            ]
        })
        .collect();
    let header = ["change", "TE then", "USD then", "vs this plan", "parent's context", "patch"];
    let table = format!(
        "| {} |\n|---|--:|--:|--:|---|---|\n{}",
        header.join(" | "),
        lines.iter().map(|line| format!("| {} |\n", line.join(" | "))).collect::<String>()
    );
    format!("## What could change\n\n{table}\n")
}

fn findings(summary: &Summary) -> String {
    if summary.findings.is_empty() {
        return String::new();
    }
    let lines: String = summary
        .findings
        .iter()
        .map(|finding| format!("- {} ({})\n", cell(&finding.text), code(&finding.id)))
        .collect();
    format!("## Findings\n\n{lines}\n")
}

fn segments_table(segments: &[SegmentRecord], child_tokens: u64) -> String {
    let lines: Vec<Vec<String>> = segments
        .iter()
        .map(|segment| {
            vec![
                cell(&segment.segment),
                count(segment.blocks),
                count(segment.bytes),
                count(segment.tokens),
                part_percent(segment.tokens, child_tokens),
                count(segment.end_tokens),
                cell(&segment.markers),
                match segment.shared.as_str() {
                    "all" => "same in all children".to_owned(),
                    "own" => "each child's own".to_owned(),
                    other => cell(other),
                },
            ]
        })
        .collect();
    let header =
        ["segment", "blocks", "prompt bytes", "tokens", "share", "ends at", "markers", "bytes are"];
    format!("## What a child's input is made of\n\n{}\n", table(&header, 1, &lines))
}

fn chart_links(charts: &[ChartLink]) -> String {
    if charts.is_empty() {
        return String::new();
    }
    let images: String = charts
        .iter()
        .map(|chart| format!("![{}]({})\n\n", cell(&chart.title), chart.path))
        .collect();
    format!("## Charts\n\n{images}Each is drawn from rows of `records.csv` and `segments.csv`.\n\n")
}

fn how_to_read(summary: &Summary) -> String {
    let tokenizer = &summary.tokenizer;
    format!(
        "## How to read this\n\n\
         One TE (input-token equivalent) costs what one uncached input token of the model costs; \
         TE \
         counts input only, USD also output.\n\n\
         - exact: bytes, the first difference, the arithmetic of cache and money on the token \
         counts\n\
         - {exactness}: token counts, by {name}{note}; everything in TE and USD inherits this\n\
         - assumed: response times, the schedule, sizes of parts the scenario only gives as \
         numbers, \
         and cache rules that the provider does not document (`manifest.toml` lists overrides)\n",
        exactness = tokenizer.exactness,
        name = code(&tokenizer.name),
        note = tokenizer_note(summary),
    )
}

/// A table whose first `left` columns are aligned to the left and all others to the right, except
/// that columns of words keep the left too: those whose cells do not end in a digit or a percent
/// sign.
fn table(header: &[&str], left: usize, lines: &[Vec<String>]) -> String {
    let numeric = |column: usize| {
        column >= left
            && lines.iter().all(|line| {
                line[column].ends_with(|last: char| last.is_ascii_digit() || "%-".contains(last))
            })
    };
    let rule: String =
        (0..header.len()).map(|column| if numeric(column) { "--:|" } else { "---|" }).collect();
    let mut out = format!("| {} |\n|{rule}\n", header.join(" | "));
    for line in lines {
        out.push_str(&format!("| {} |\n", line.join(" | ")));
    }
    out
}

/// Text inside a table cell, a heading or a list: nothing in it is markup and it stays on one line.
pub(crate) fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let letters: Vec<char> = one_line(text).chars().collect();
    for (index, &letter) in letters.iter().enumerate() {
        let word = |at: Option<&char>| at.is_some_and(|letter| letter.is_alphanumeric());
        let inside_word = word(index.checked_sub(1).and_then(|before| letters.get(before)))
            && word(letters.get(index + 1));
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '_' if inside_word => out.push('_'),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' => {
                out.push('\\');
                out.push(letter);
            }
            other => out.push(other),
        }
    }
    out
}

/// Text as code in a table cell: the fence is longer than any run of backticks inside, and a pipe
/// is escaped, which tables undo before they show code.
fn code(text: &str) -> String {
    let text = one_line(text).replace('|', "\\|");
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    if text.is_empty() { String::new() } else { format!("{fence}{pad}{text}{pad}{fence}") }
}

fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    fn report(fixture: &fixtures::Fixture) -> String {
        let chart = ChartLink { title: "Cost".to_owned(), path: "charts/cost.svg".to_owned() };
        report_markdown(&fixture.summary, &fixture.segments, &[chart])
    }

    /// Cells of a table line: pipes that no backslash escapes divide.
    fn cells(line: &str) -> usize {
        line.replace("\\|", "").matches('|').count() - 1
    }

    #[test]
    fn every_line_of_a_table_has_as_many_cells_as_its_header() {
        for fixture in fixtures::all() {
            let text = report(&fixture);
            let mut header = None;
            for line in text.lines() {
                if !line.starts_with('|') {
                    header = None;
                    continue;
                }
                assert_eq!(cells(line), *header.get_or_insert(cells(line)), "{line}");
            }
        }
    }

    #[test]
    fn the_golden_report_has_its_figures_and_links() {
        let text = report(&fixtures::golden());
        assert!(text.starts_with("# Five children \\| of a \\*warm\\* parent\n"), "{text}");
        for expected in [
            "**5 children cost 39,875.00 TE of input (0.199375 USD), 83.62 % less than",
            "| this plan | 5 | 230,000 | 13,500 | 0 | 39,875.00 | 0.199375 | -83.62 % |",
            "| no cache | 5 | 0 | 0 | 243,500 | 243,500.00 | 1.217500 | - |",
            "| fresh agents, same type | 5 |",
            "prices of 2026-07-24 (table checked 2026-07-30) looked up for 2026-08-01",
            "byte 187,654 of the body, in the directive: one has",
            "| `no_entry_at_boundary` | 5 |",
            "`fork.marker_policy = \"before_directive\"`<br>",
            "![Cost](charts/cost.svg)",
            "## How to read this",
            "- exact:",
            "- estimated:",
            "- assumed:",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn every_segment_is_a_line() {
        for fixture in fixtures::all() {
            let text = report(&fixture);
            for segment in &fixture.segments {
                let line = format!("| {} | {} |", segment.segment, count(segment.blocks));
                assert!(text.contains(&line), "{line}");
            }
        }
    }

    #[test]
    fn a_plan_that_costs_more_says_so() {
        let mut summary = fixtures::golden().summary;
        summary.saving_vs_no_cache = "-0.2500".to_owned();
        assert!(verdict_sentence(&summary).contains("25.00 % more than without a cache"));
    }

    #[test]
    fn markup_in_text_is_shown_as_text() {
        assert_eq!(cell("a|b\n<c> no_marker _d_"), "a\\|b &lt;c&gt; no_marker \\_d\\_");
        assert_eq!(code("a|`b`"), "`` a\\|`b` ``");
        assert_eq!(code("line\nbreak"), "`line break`");
    }
}
