//! Token counts, held to the bills of recorded requests.

use std::sync::Arc;

use super::index::TokenRecordings;
use super::{Check, CheckKind, CheckResult};
use crate::counting::{
    Accuracy, Class, Half, RowResult, Statistics, measure, measured, percent, read_row,
};
use crate::provider;

/// Share of texts within one token that is asked for, in hundredths of a per cent.
const TEXT_WITHIN_ONE_BP_MIN: u64 = 9_800;

/// Largest median and 95th percentile of requests with tools, in millionths.
const TOOLS_PPM_MAX: (u64, u64) = (10_000, 30_000);

/// Largest error of a whole recorded session, in millionths.
const SESSION_PPM_MAX: u64 = 10_000;

/// Measures the counts on recordings, each by its name below the folder of data and its text, and
/// holds them to what is asked of them. Without all of the recordings every check is skipped.
pub fn tokens(
    index: &TokenRecordings,
    texts: &[(String, Option<String>)],
) -> (Vec<Check>, Option<Accuracy>) {
    let skipped =
        |what| check(what, Err("the recordings are not here: set FORKCOST_DATA, or use --data"));
    let mut rows = Vec::new();
    for (file, text) in texts {
        let Some(text) = text else {
            return ([TEXTS, TOOLS, SESSION, HALVES, TABLE].map(skipped).to_vec(), None);
        };
        let name: Arc<str> = Arc::from(file.as_str());
        for (number, line) in text.lines().enumerate() {
            let mut row = match read_row(&name, number as u64 + 1, line) {
                Ok(Ok(row)) => row,
                Ok(Err(_)) => continue,
                Err(error) => {
                    let wrong = |what| check(what, Ok((false, format!("{file}: {error}"))));
                    return ([TEXTS, TOOLS, SESSION, HALVES, TABLE].map(wrong).to_vec(), None);
                }
            };
            if index.left_out.iter().any(|left| row.id.ends_with(&left.id)) {
                continue;
            }
            if row.recording.is_empty() {
                row.recording.clone_from(file);
            }
            rows.push(row);
        }
    }
    let found = measure(&rows, provider::ALL[0]);
    let checks = vec![
        check(TEXTS, Ok(texts_of(&found))),
        check(TOOLS, Ok(tools_of(&found))),
        check(SESSION, Ok(session_of(&found, &index.session))),
        check(HALVES, Ok(halves_of(&found))),
        check(TABLE, Ok(table_of(&found))),
    ];
    (checks, Some(found))
}

/// Name and claim of each check.
const TEXTS: (&str, &str) = (
    "texts",
    "on the report half, texts are counted within one token in at least 98 % of requests",
);
const TOOLS: (&str, &str) = (
    "tools",
    "on the report half, requests with tools and a system prompt have a median error of at most \
     1 % and a 95th percentile of at most 3 %",
);
const SESSION: (&str, &str) =
    ("session", "every request of a recorded session is counted within 1 %");
const HALVES: (&str, &str) = (
    "halves",
    "the fit half alone finds nothing that corrects the counts of a kind that rules are known for",
);
const TABLE: (&str, &str) = ("table", "the errors that reports state are these");

fn check((name, what): (&str, &str), found: Result<(bool, String), &str>) -> Check {
    let (result, detail) = match found {
        Ok((true, detail)) => (CheckResult::Passed, detail),
        Ok((false, detail)) => (CheckResult::Failed, detail),
        Err(why) => (CheckResult::Skipped, why.to_owned()),
    };
    Check {
        kind: CheckKind::Tokens,
        name: format!("token counts: {name}"),
        source: "recorded requests with their bills".to_owned(),
        url: String::new(),
        what: what.to_owned(),
        result,
        detail,
        agreements: None,
        reads_exact: 0,
        matters: Vec::new(),
    }
}

/// All families together.
fn texts_of(found: &Accuracy) -> (bool, String) {
    let texts =
        found.rows.iter().filter(|row| row.half == Half::Report && row.class == Class::Text);
    let (mut rows, mut close) = (0_u64, 0_u64);
    for row in texts {
        rows += 1;
        close += u64::from(row.error().abs() <= 1);
    }
    let share = (close * 10_000).checked_div(rows).unwrap_or(0);
    (share >= TEXT_WITHIN_ONE_BP_MIN, format!("{close} of {rows} within one token"))
}

fn tools_of(found: &Accuracy) -> (bool, String) {
    let judged = |row: &&RowResult| row.half == Half::Report && row.class == Class::ToolsAndSystem;
    let rows: Vec<&RowResult> = found.rows.iter().filter(judged).collect();
    let errors = Statistics::of_rows(&rows);
    let (median_max, p95_max) = TOOLS_PPM_MAX;
    let holds = errors.rows > 0 && errors.median_ppm <= median_max && errors.p95_ppm <= p95_max;
    let (median, p95) = (percent(errors.median_ppm), percent(errors.p95_ppm));
    (holds, format!("{} requests: median {median}, 95th percentile {p95}", errors.rows))
}

fn session_of(found: &Accuracy, name: &str) -> (bool, String) {
    let session: Vec<&RowResult> =
        found.rows.iter().filter(|row| row.id.starts_with(name)).collect();
    let errors = Statistics::of_rows(&session);
    let worst = percent(errors.worst_ppm);
    let text =
        format!("{} of {} to the token, the worst off by {worst}", errors.exact, errors.rows);
    (errors.rows > 0 && errors.worst_ppm <= SESSION_PPM_MAX, text)
}

fn halves_of(found: &Accuracy) -> (bool, String) {
    let corrections = found.corrections_of_rules();
    (corrections == 0, format!("{corrections} corrections"))
}

fn table_of(found: &Accuracy) -> (bool, String) {
    let holds = found.measured == measured();
    let text = if holds {
        format!("{} rows", found.measured.len())
    } else {
        "the table of the program differs: `forkcost verify --measured` makes it".to_owned()
    };
    (holds, text)
}
