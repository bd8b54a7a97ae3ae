//! The comparison that the verdict, the report and the overview print: one row a plan, beside its
//! baselines.

use crate::analysis::{Summary, Totals};
use crate::units::{Ratio, grouped, grouped_decimal};

/// One plan of the comparison.
pub(crate) struct PlanRow<'a> {
    /// The plan in words; fresh agents with their kind.
    pub(crate) label: String,
    /// The sums.
    pub(crate) totals: &'a Totals,
    /// Cost in USD with separators and as many decimals as in every other row.
    pub(crate) usd: String,
    /// Token equivalents against no cache, e.g. `-83.62 %`; `-` for the baseline itself.
    pub(crate) versus_no_cache: String,
}

/// The plan in words.
pub(crate) fn plan_label(plan: &str) -> &str {
    match plan {
        "this_plan" => "this plan",
        "no_cache" => "no cache",
        "perfect" => "perfect cache",
        "fresh" => "fresh agents",
        "chapter" => "chapter's model",
        other => other,
    }
}

/// The rows in the order of `record::PLANS`, without plans that the summary does not have.
pub(crate) fn plan_rows(summary: &Summary) -> Vec<PlanRow<'_>> {
    let baselines = &summary.baselines;
    let plans = [
        ("this_plan", Some(&summary.totals)),
        ("no_cache", Some(&baselines.no_cache)),
        ("perfect", Some(&baselines.perfect)),
        ("fresh", baselines.fresh.as_ref()),
        ("chapter", Some(&baselines.chapter)),
    ];
    let plans: Vec<(&'static str, &Totals)> =
        plans.into_iter().filter_map(|(plan, totals)| Some((plan, totals?))).collect();
    let usd = same_decimals(plans.iter().map(|(_, totals)| totals.cost_usd.as_str()));
    plans
        .into_iter()
        .zip(usd)
        .map(|((plan, totals), usd)| {
            let versus_no_cache = match plan {
                "no_cache" => "-".to_owned(),
                _ => hundredths(&totals.te)
                    .zip(hundredths(&baselines.no_cache.te))
                    .map_or_else(|| "-".to_owned(), |(te, base)| change_percent(te, base)),
            };
            PlanRow { label: label_of(summary, plan), totals, usd, versus_no_cache }
        })
        .collect()
}

/// The plan in words, with what the summary knows of it.
fn label_of(summary: &Summary, plan: &str) -> String {
    let label = plan_label(plan);
    match &summary.fresh_kind {
        Some(kind) if plan == "fresh" => format!("{label}, {}", kind.replace('_', " ")),
        Some(_) | None => label.to_owned(),
    }
}

/// Decimal texts with separators, and with as many decimals as the longest of them has, so that
/// their points stand in a column.
pub(crate) fn same_decimals<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let parts: Vec<(&str, &str)> =
        texts.map(|text| text.split_once('.').unwrap_or((text, ""))).collect();
    match parts.iter().map(|(_, fraction)| fraction.len()).max().unwrap_or_default() {
        0 => parts.iter().map(|(whole, _)| decimal(whole)).collect(),
        places => parts
            .iter()
            .map(|(whole, fraction)| decimal(&format!("{whole}.{fraction:0<places$}")))
            .collect(),
    }
}

/// `part / whole - 1` in percent with a sign and two decimals, e.g. `-83.62 %`; `-` where
/// `whole` is zero.
pub(crate) fn change_percent(part: i128, whole: i128) -> String {
    let Some(ratio) = Ratio::new((part - whole) * 100, whole) else {
        return "-".to_owned();
    };
    let plus = if ratio.numerator > 0 { "+" } else { "" };
    format!("{plus}{} %", ratio.to_decimal(2))
}

/// A share such as `0.2947` in percent, e.g. `29.47`; text that is no decimal stays as it is.
pub(crate) fn share_percent(share: &str) -> String {
    ten_thousandths(share)
        .and_then(|value| Ratio::new(value, 100))
        .map_or_else(|| share.to_owned(), |ratio| ratio.to_decimal(2))
}

/// `part` of `whole` in percent with one decimal; `-` where `whole` is zero.
pub(crate) fn part_percent(part: u64, whole: u64) -> String {
    Ratio::new(i128::from(part) * 100, i128::from(whole))
        .map_or_else(|| "-".to_owned(), |ratio| format!("{} %", ratio.to_decimal(1)))
}

/// Whether a decimal text is greater than zero.
pub(crate) fn is_positive(decimal: &str) -> bool {
    !decimal.starts_with('-') && decimal.chars().any(|digit| ('1'..='9').contains(&digit))
}

/// A count of tokens or bytes with separators.
pub(crate) fn count(value: u64) -> String {
    grouped(i128::from(value))
}

/// A decimal text with separators.
pub(crate) fn decimal(text: &str) -> String {
    grouped_decimal(text)
}

/// `1 child`, `5 children`.
pub(crate) fn children_text(children: u64) -> String {
    if children == 1 { "1 child".to_owned() } else { format!("{} children", count(children)) }
}

fn hundredths(decimal: &str) -> Option<i128> {
    scaled(decimal, 2)
}

fn ten_thousandths(decimal: &str) -> Option<i128> {
    scaled(decimal, 4)
}

/// A decimal text times ten to the `places`; `None` where it is no decimal or has more places.
fn scaled(decimal: &str, places: usize) -> Option<i128> {
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    if fraction.len() > places || fraction.contains(['-', '+']) {
        return None;
    }
    format!("{whole}{fraction:0<places$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn percentages_carry_their_sign() {
        assert_eq!(change_percent(39_875, 243_500), "-83.62 %");
        assert_eq!(change_percent(300, 200), "+50.00 %");
        assert_eq!(change_percent(200, 200), "0.00 %");
        assert_eq!(change_percent(1, 0), "-");
        assert_eq!(share_percent("0.2947"), "29.47");
        assert_eq!(share_percent("-0.0500"), "-5.00");
        assert_eq!(part_percent(48_500, 48_700), "99.6 %");
    }

    #[test]
    fn decimals_are_filled_with_zeros() {
        let padded = |texts: &[&str]| same_decimals(texts.iter().copied());
        let expected = ["1,234.500000", "0.199375", "3.000000"];
        assert_eq!(padded(&["1234.5", "0.199375", "3"]), expected);
        assert_eq!(padded(&["7", "1000"]), ["7", "1,000"]);
        assert!(padded(&[]).is_empty());
    }

    #[test]
    fn only_figures_above_zero_are_positive() {
        assert!(is_positive("0.0001"));
        assert!(!is_positive("0.0000"));
        assert!(!is_positive("-0.2000"));
    }

    #[test]
    fn this_plan_agrees_with_the_saving_of_the_summary() {
        for fixture in fixtures::all() {
            let rows = plan_rows(&fixture.summary);
            let saving = share_percent(&fixture.summary.saving_vs_no_cache);
            let change = rows[0].versus_no_cache.trim_end_matches(" %");
            let negated = change
                .strip_prefix('-')
                .map_or_else(|| change.replacen('+', "-", 1), str::to_owned);
            assert_eq!(saving, negated, "{}", fixture.summary.scenario);
        }
    }
}
