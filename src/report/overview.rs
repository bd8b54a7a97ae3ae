//! One table over several scenarios.

use serde::Serialize;

use crate::analysis::Summary;
use crate::report::ReportError;
use crate::report::csv::rows_to_csv;
use crate::report::layout::{align, break_header, width_of, wrap};
use crate::report::markdown::cell;
use crate::report::table::{count, decimal, is_positive, plan_rows, same_decimals, share_percent};

/// A summary, and where its report stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Path of the report's folder with `/`, relative to the folder of the overview.
    pub folder: String,
    /// What the run found.
    pub summary: Summary,
}

/// One line of `overview.csv`.
#[derive(Serialize)]
struct OverviewRow<'a> {
    scenario: &'a str,
    folder: &'a str,
    model: &'a str,
    children: u64,
    child_tokens: u64,
    shared_prompt_tokens: u64,
    read: u64,
    write_5m: u64,
    write_1h: u64,
    uncached: u64,
    te: &'a str,
    cost_usd: &'a str,
    no_cache_te: &'a str,
    perfect_te: &'a str,
    saving_vs_no_cache: &'a str,
    best_change: &'a str,
    best_change_te: &'a str,
    exactness: &'a str,
}

/// The bytes of `overview.csv`: one line a scenario, in the order given.
///
/// # Errors
/// [`ReportError::Csv`] where a row cannot be written.
pub fn overview_csv(runs: &[Reported]) -> Result<Vec<u8>, ReportError> {
    let rows: Vec<OverviewRow<'_>> = runs.iter().map(overview_row).collect();
    rows_to_csv("overview.csv", &rows)
}

fn overview_row(run: &Reported) -> OverviewRow<'_> {
    let summary = &run.summary;
    let best = best_change(summary);
    OverviewRow {
        scenario: &summary.scenario,
        folder: &run.folder,
        model: &summary.model,
        children: summary.children,
        child_tokens: summary.child_tokens,
        shared_prompt_tokens: summary.shared.prompt_tokens,
        read: summary.totals.read,
        write_5m: summary.totals.write_5m,
        write_1h: summary.totals.write_1h,
        uncached: summary.totals.uncached,
        te: &summary.totals.te,
        cost_usd: &summary.totals.cost_usd,
        no_cache_te: &summary.baselines.no_cache.te,
        perfect_te: &summary.baselines.perfect.te,
        saving_vs_no_cache: &summary.saving_vs_no_cache,
        best_change: best.map_or("", |change| &change.id),
        best_change_te: best.map_or("", |change| &change.totals.te),
        exactness: &summary.tokenizer.exactness,
    }
}

/// The overview as Markdown: one line a scenario with a link to its report, beside both bounds.
pub fn overview_markdown(runs: &[Reported]) -> String {
    let mut out = String::from(
        "# Overview\n\n\
         | scenario | children | child's input | TE | USD | vs no cache | no cache, TE \
         | perfect cache, TE | best change | TE then |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|---|--:|\n",
    );
    let usd = same_decimals(runs.iter().map(|run| run.summary.totals.cost_usd.as_str()));
    for (run, usd) in runs.iter().zip(usd) {
        let summary = &run.summary;
        let versus = plan_rows(summary).swap_remove(0).versus_no_cache;
        let best = best_change(summary);
        let text = best.map_or_else(String::new, |change| {
            format!("{} ({} % less)", cell(&change.text), share_percent(&change.saving))
        });
        let best_te = best.map_or_else(String::new, |change| decimal(&change.totals.te));
        out.push_str(&format!(
            "| [{name}]({link}/report.md) | {} | {} | {} | {usd} | {versus} | {} | {} | {text} \
             | {best_te} |\n",
            count(summary.children),
            count(summary.child_tokens),
            decimal(&summary.totals.te),
            decimal(&summary.baselines.no_cache.te),
            decimal(&summary.baselines.perfect.te),
            name = cell(&summary.scenario),
            link = link(&run.folder),
        ));
    }
    out.push_str(&format!("\n{NOTE}\n"));
    out
}

/// What a reader of the table must know.
const NOTE: &str = "TE: input-token equivalents; one costs what one uncached input token of the \
                    model costs. No cache and perfect cache are bounds, not plans.";

/// Columns of [`overview_text`] in the order in which they give way in a narrow text.
const GIVE_WAY: [usize; 3] = [6, 2, 8];

/// The overview as plain text of at most `width` characters, ending in a newline: one line a
/// scenario. Less important columns are left out where there is no room for them; only long names
/// make it wider. Nothing without runs.
pub fn overview_text(runs: &[Reported], width: usize) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let usd = same_decimals(runs.iter().map(|run| run.summary.totals.cost_usd.as_str()));
    let header = [
        "Scenario",
        "children",
        "input each",
        "TE",
        "USD",
        "vs no cache",
        "perfect, TE",
        "best change",
        "by",
    ];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    lines.extend(runs.iter().zip(usd).map(|(run, usd)| text_cells(run, usd, runs)));
    if width_of(&lines, 2) > width {
        break_header(&mut lines);
    }
    let mut kept: Vec<usize> = (0..header.len()).collect();
    let mut shown = lines.clone();
    for column in GIVE_WAY {
        if width_of(&shown, 2) > width {
            kept.retain(|other| *other != column);
            let cells = |line: &Vec<String>| kept.iter().map(|at| line[*at].clone()).collect();
            shown = lines.iter().map(cells).collect();
        }
    }
    // Words keep left: the name, and the change where it is shown.
    let words: Vec<usize> = (0..kept.len()).filter(|at| [0, 8].contains(&kept[*at])).collect();
    let mut out = align(&shown, &words, width).join("\n");
    out.push_str("\n\n");
    let note = format!("{NOTE} Best change: against this plan, with the parent's context kept.");
    for line in wrap(&note, width) {
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// The cells of a run; its folder instead of its name where another has the same name.
fn text_cells(run: &Reported, usd: String, runs: &[Reported]) -> Vec<String> {
    let summary = &run.summary;
    let same = runs.iter().filter(|other| other.summary.scenario == summary.scenario).count();
    let best = best_change(summary);
    vec![
        if same > 1 { &run.folder } else { &summary.scenario }.clone(),
        count(summary.children),
        count(summary.child_tokens),
        decimal(&summary.totals.te),
        usd,
        plan_rows(summary).swap_remove(0).versus_no_cache,
        decimal(&summary.baselines.perfect.te),
        best.map_or("-".to_owned(), |change| format!("-{} %", share_percent(&change.saving))),
        best.map_or(String::new(), |change| change.id.clone()),
    ]
}

/// The first change that keeps the parent's context and costs less.
pub(crate) fn best_change(summary: &Summary) -> Option<&crate::analysis::Change> {
    summary.changes.iter().find(|change| change.keeps_context && is_positive(&change.saving))
}

/// A path as part of a link: whatever ends a Markdown link is percent-encoded.
fn link(name: &str) -> String {
    name.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    fn runs() -> Vec<Reported> {
        let summaries = fixtures::all().into_iter().map(|fixture| fixture.summary);
        summaries
            .map(|summary| Reported { folder: format!("made up/{}", summary.scenario), summary })
            .collect()
    }

    #[test]
    fn each_scenario_is_one_line_in_every_form() {
        let runs = runs();
        let csv = String::from_utf8(overview_csv(&runs).unwrap()).unwrap();
        let (markdown, text) = (overview_markdown(&runs), overview_text(&runs, 120));
        assert_eq!(csv.lines().count(), runs.len() + 1);
        for Reported { folder, summary } in &runs {
            let name = &summary.scenario;
            assert!(csv.contains(&format!("\n{name},{folder},")));
            let line = markdown.lines().find(|line| line.contains(name)).unwrap();
            assert!(line.contains(&decimal(&summary.totals.te)), "{line}");
            assert!(line.contains(&format!("(made%20up/{name}/report.md)")), "{line}");
            assert_eq!(line.matches(" | ").count(), 9, "{line}");
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            assert!(line.contains(&decimal(&summary.totals.te)), "{line}");
            assert!(line.contains("before_directive_first_alone"), "{line}");
        }
    }

    #[test]
    fn a_narrow_text_leaves_out_what_matters_least() {
        let (wide, narrow) = (overview_text(&runs(), 120), overview_text(&runs(), 80));
        for text in [&wide, &narrow] {
            assert!(text.contains("vs no") && text.contains("best"), "{text}");
        }
        let named = |text: &str| text.contains("before_directive_first_alone");
        assert!(named(&wide) && !named(&narrow), "{narrow}");
        for line in narrow.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(overview_text(&[], 80), "");
    }

    #[test]
    fn scenarios_of_one_name_are_told_apart_by_their_folders() {
        let mut runs = runs();
        runs[1].summary.scenario = runs[0].summary.scenario.clone();
        let text = overview_text(&runs, 120);
        assert!(runs[..2].iter().all(|run| text.contains(&run.folder)), "{text}");
    }

    #[test]
    fn a_change_that_loses_the_context_is_never_the_best() {
        let summary = fixtures::golden().summary;
        assert_eq!(best_change(&summary).unwrap().id, "before_directive_first_alone");
    }

    #[test]
    fn odd_names_do_not_break_the_link() {
        assert_eq!(link("a b)/c"), "a%20b%29/c");
    }
}
