//! What recorded requests say of the counts.

use serde_json::{Value, json};

use crate::counting::{Accuracy, Calibration, Class, Half, Judged, RowResult, Statistics, percent};
use crate::report::page::{BOLD, Page};
use crate::report::table::count;
use crate::verify::TokenRecordings;

/// Rows that are listed where not all are asked for.
const ROWS_SHOWN: usize = 10;

/// A calibration as text of `width` columns; `all` lists every row that is off by more than one.
pub fn calibration_text(
    calibration: &Calibration,
    skipped: &[(&'static str, u64)],
    out: Option<&str>,
    all: bool,
    (width, styled): (usize, bool),
) -> String {
    let mut page = Page::new(width, styled);
    let rows = calibration.rows.len() as u64;
    let head =
        format!("{} recorded {}", count(rows), if rows == 1 { "request" } else { "requests" });
    page.line(&page.paint(&head, BOLD));
    for (why, rows) in skipped {
        page.line(&format!("  {rows} more {why} are left out"));
    }
    page.blank();
    page.line(&format!(
        "{:<24}{:<17}{:>5}{:>7}{:>8}{:>10}{:>10}{:>10}",
        "counted by, model", "class", "rows", "exact", "+-1", "median", "p95", "worst"
    ));
    for judged in calibration.judged.iter().filter(|judged| judged.half != Half::Fit) {
        let name = if judged.model.is_empty() {
            judged.tokenizer.to_string()
        } else {
            format!("  {}", judged.model.trim_start_matches("claude-"))
        };
        page.line(&row(&name, judged, &judged.errors));
        if judged.corrected != judged.errors {
            page.line(&row("  corrected", judged, &judged.corrected));
        }
    }
    off(&mut page, &calibration.rows, all);
    let fitted = calibration.corrections.corrections.len();
    page.blank();
    if fitted > 0 && calibration.judged.iter().all(|judged| judged.half == Half::All) {
        let text = "Corrected errors are of the requests that were fitted on; --split keeps a half \
                    of the recordings apart.";
        page.paragraph(text, 0);
    }
    let corrections =
        if fitted == 1 { "1 correction".to_owned() } else { format!("{fitted} corrections") };
    page.line(&match out {
        _ if fitted == 0 => "nothing to correct: no correction halves a median error".to_owned(),
        Some(path) => format!("{corrections} in {path}, for `run --calibration`"),
        None => format!("{corrections}: --out FILE writes them for `run --calibration FILE`"),
    });
    page.out
}

fn row(name: &str, judged: &Judged, errors: &Statistics) -> String {
    format!(
        "{:<24.23}{:<17}{:>5}{:>7}{:>8}{:>10}{:>10}{:>10}",
        name,
        judged.class.as_str(),
        errors.rows,
        errors.exact,
        errors.within_one,
        percent(errors.median_ppm),
        percent(errors.p95_ppm),
        percent(errors.worst_ppm),
    )
}

/// The rows that are off by more than a token, the worst first.
fn off(page: &mut Page, rows: &[RowResult], all: bool) {
    let mut off: Vec<&RowResult> = rows.iter().filter(|row| row.error().abs() > 1).collect();
    if off.is_empty() {
        return;
    }
    off.sort_by_key(|row| (std::cmp::Reverse(row.error().unsigned_abs()), row.line));
    let hidden = if all { 0 } else { off.len().saturating_sub(ROWS_SHOWN) };
    page.blank();
    page.line(&format!("{:>10}{:>10}{:>9}  {:<17}row", "billed", "counted", "off", "class"));
    for row in off.iter().take(off.len() - hidden) {
        page.line(&format!(
            "{:>10}{:>10}{:>+9}  {:<17}{}:{}: {}",
            count(row.billed),
            count(row.counted),
            row.error(),
            row.class.as_str(),
            row.file,
            row.line,
            row.id
        ));
    }
    if hidden > 0 {
        page.line(&format!("{hidden} more are off by more than one token: --rows lists them"));
    }
}

/// A calibration as JSON, ending in a newline.
pub fn calibration_json(calibration: &Calibration, skipped: &[(&'static str, u64)]) -> String {
    let judged = calibration.judged.iter().map(|judged| {
        json!({
            "model": judged.model,
            "family": judged.tokenizer.to_string(),
            "class": judged.class.as_str(),
            "half": judged.half.as_str(),
            "errors": statistics(&judged.errors),
            "corrected": statistics(&judged.corrected),
        })
    });
    let rows = calibration.rows.iter().map(|row| {
        json!({
            "file": &*row.file,
            "line": row.line,
            "id": row.id,
            "model": row.model,
            "family": row.tokenizer.to_string(),
            "class": row.class.as_str(),
            "half": row.half.as_str(),
            "exactness": row.exactness.as_str(),
            "billed": row.billed,
            "counted": row.counted,
            "low": row.between.0,
            "high": row.between.1,
            "corrected": row.corrected,
            "unmodelled": row.unmodelled,
        })
    });
    let skipped: Vec<Value> =
        skipped.iter().map(|(why, rows)| json!({"why": why, "rows": rows})).collect();
    let all = json!({
        "schema_version": 1,
        "judged": judged.collect::<Vec<_>>(),
        "corrections": calibration.corrections.corrections,
        "skipped": skipped,
        "rows": rows.collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}

fn statistics(errors: &Statistics) -> Value {
    json!({
        "rows": errors.rows,
        "exact": errors.exact,
        "within_one": errors.within_one,
        "inside": errors.inside,
        "median_ppm": errors.median_ppm,
        "p95_ppm": errors.p95_ppm,
        "worst_ppm": errors.worst_ppm,
        "worst_tokens": errors.worst_tokens,
    })
}

/// What the part on token counts says before its table.
const COUNTS_HEAD: &str = "
## Token counts against bills

Recorded requests, counted without a look at their bills. *Fit* and *report* are halves of the
recordings, told apart by a hash of the recording's name; the fit half alone is what corrections are
fitted on, and it finds none for the families' own counts. An error is the difference as a share of
the bill; *inside* counts the bills in the interval that a count states. `media` and `unmodelled`
are estimates by label. The public vocabularies stand beside them for comparison, over all classes
that are modelled.

| counted by | models | class | half | rows | exact | \u{b1}1 | inside | median | p95 | worst |
|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|
";

/// The part of `docs/accuracy.md` on token counts.
pub fn accuracy_markdown(accuracy: &Accuracy, recordings: &TokenRecordings) -> String {
    let (left_out, known) = (&recordings.left_out, &recordings.known);
    let mut out = String::from(COUNTS_HEAD);
    for entry in &accuracy.measured {
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            entry.tokenizer,
            entry.family,
            entry.class,
            entry.half,
            entry.rows,
            entry.exact,
            entry.within_one,
            entry.inside,
            percent(entry.median_ppm),
            percent(entry.p95_ppm),
            percent(entry.worst_ppm),
        ));
    }
    let (labelled, close) = accuracy.labelled_exact();
    out.push_str(&format!(
        "\nOf {labelled} counts labelled exact, {close} are within one token of the bill.\n\
         \n### Requests that the rules do not explain\n\n\
         Modelled classes, off by more than one token; counted less billed.\n\n\
         | off | billed | model | class | request | known |\n|--:|--:|---|---|---|---|\n"
    ));
    for row in accuracy.unexplained() {
        let why = known.iter().find(|known| row.id.contains(&known.id));
        let why = why.map_or("", |known| &known.why);
        out.push_str(&format!(
            "| {:+} | {} | {} | {} | `{}` | {why} |\n",
            row.error(),
            row.billed,
            row.model,
            row.class.as_str(),
            row.id
        ));
    }
    if !left_out.is_empty() {
        out.push_str("\nLeft out, because they were not sent as they are recorded:\n\n");
    }
    for left in left_out {
        out.push_str(&format!("* `{}`: {}\n", left.id, left.why));
    }
    let left = accuracy.rows.iter().filter(|row| row.class == Class::Unmodelled).count();
    out.push_str(&format!(
        "\n{left} more requests hold parts without a known rule, mostly the provider's own tools.\n"
    ));
    out
}
