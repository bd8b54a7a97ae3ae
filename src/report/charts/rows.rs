//! What several charts take from the rows.

use crate::record::RunRecord;
use crate::report::ReportError;
use crate::report::table::{children_text, count};
use crate::units::Ratio;

/// The requests of a plan that are in its totals, in the order in which they are sent.
pub(crate) fn billed<'a>(records: &'a [RunRecord], plan: &str) -> Vec<&'a RunRecord> {
    let mut rows: Vec<&RunRecord> =
        records.iter().filter(|row| row.plan == plan && row.role != "parent").collect();
    rows.sort_by_key(|row| row.seq);
    rows
}

/// The children of this plan in the order in which they are sent.
pub(crate) fn children<'a>(
    records: &'a [RunRecord],
    chart: &'static str,
) -> Result<Vec<&'a RunRecord>, ReportError> {
    let mut rows = billed(records, "this_plan");
    rows.retain(|row| row.role == "child");
    if rows.is_empty() {
        return Err(ReportError::NothingToDraw {
            chart,
            missing: "no row of a child in this_plan",
        });
    }
    Ok(rows)
}

/// Who was sent to which model, and how tokens were counted.
pub(crate) fn describe(children: &[&RunRecord]) -> String {
    let Some(first) = children.first() else {
        return String::new();
    };
    let number = children_text(children.len() as u64);
    format!("{number}, {}; tokens by {} ({})", first.model, first.tokenizer, first.exactness)
}

/// What a request read, wrote and left, in words.
pub(crate) fn usage_words(row: &RunRecord) -> String {
    let mut words = format!("read {}, wrote {}", count(row.read), count(row.write_5m));
    if row.write_1h > 0 {
        words.push_str(&format!(" for 5m and {} for 1h", count(row.write_1h)));
    }
    format!("{words}, uncached {} of {} tokens", count(row.uncached), count(row.input))
}

/// Token equivalents of a cost.
pub(crate) fn token_equivalents(cost_pico_usd: i128, base_pico_usd: i128) -> Ratio {
    Ratio::new(cost_pico_usd, base_pico_usd).unwrap_or(Ratio { numerator: 0, denominator: 1 })
}
