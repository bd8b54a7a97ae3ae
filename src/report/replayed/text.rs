//! A replay as a terminal shows it.

use crate::record::Reason;
use crate::replay::{Agreement, Agreements, Outcome, Played, Sums};
use crate::report::layout::align;
use crate::report::page::{BAD, BOLD, GOOD, Page};
use crate::report::reason_text;
use crate::report::table::{change_percent, count, part_percent, same_decimals};
use crate::units::PicoUsd;

/// A prediction that differs from the bill.
#[derive(Clone, Debug)]
pub struct Disagreement {
    place: String,
    request: String,
    predicted: [u64; 4],
    billed: [Option<u64>; 4],
    reason: String,
}

impl Disagreement {
    /// The request, where its prediction differs from the bill without a reason.
    pub fn of(played: &Played) -> Option<Disagreement> {
        let observed = played.observed?;
        (played.agreement == Some(Agreement::Unexplained)).then(|| Disagreement {
            place: format!("line {}", played.line),
            request: shown(&played.record.request),
            predicted: [
                played.record.read,
                played.record.write_5m,
                played.record.write_1h,
                played.record.uncached,
            ],
            billed: [observed.read, observed.write_5m, observed.write_1h, observed.uncached],
            reason: played.record.reason.clone(),
        })
    }
}

/// Most characters of a request's name that are shown.
const NAME_CHARS_MAX: usize = 36;

/// A name on one line of a terminal.
fn shown(name: &str) -> String {
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut name: String = name.chars().map(visible).collect();
    if let Some((end, _)) = name.char_indices().nth(NAME_CHARS_MAX) {
        name.truncate(end);
        name.push('…');
    }
    name
}

/// A replay as text of `width` columns (held between 80 and 120), ending in a newline.
/// `disagreements` are the first of them; how many there are stands in `outcome`.
pub fn text(
    source: &str,
    outcome: &Outcome,
    disagreements: &[Disagreement],
    width: usize,
    styled: bool,
) -> String {
    let mut page = Page::new(width, styled);
    header(&mut page, source, outcome);
    page.blank();
    if outcome.agreements.observed > 0 {
        agreement(&mut page, &outcome.agreements, disagreements);
        page.blank();
    }
    table(&mut page, &outcome.sums);
    page.blank();
    reasons(&mut page, &outcome.sums);
    for note in &outcome.notes {
        page.block("Note", BOLD, note);
    }
    page.out
}

fn header(page: &mut Page, source: &str, outcome: &Outcome) {
    let requests = outcome.sums.predicted.requests;
    let models: Vec<&str> =
        outcome.sums.models.keys().map(String::as_str).filter(|id| !id.is_empty()).collect();
    let models = match models.as_slice() {
        [] => "no model named".to_owned(),
        few @ ([_] | [_, _] | [_, _, _]) => few.join(", "),
        many => format!("{} models", many.len()),
    };
    let prices = outcome.priced_on.filter(|_| outcome.sums.predicted.unpriced < requests);
    let prices = prices.map_or(String::new(), |day| format!("   prices of {day}"));
    let name = page.paint(source, BOLD);
    let rest = format!("{}   {models}{prices}", requests_text(requests));
    if source.chars().count() + rest.chars().count() + 3 > page.width {
        page.line(&name);
        page.line(&format!("  {rest}"));
    } else {
        page.line(&format!("{name}   {rest}"));
    }
}

fn requests_text(requests: u64) -> String {
    let plural = if requests == 1 { "" } else { "s" };
    format!("{} request{plural}", count(requests))
}

fn agreement(page: &mut Page, agreements: &Agreements, disagreements: &[Disagreement]) {
    let (exact, of) = (agreements.exact, agreements.predictable());
    let share = part_percent(exact, of);
    let text = format!(
        "{} of {} predictable requests are as billed ({share}), {} differ",
        count(exact),
        count(of),
        count(agreements.unexplained)
    );
    let style = if agreements.unexplained == 0 { GOOD } else { BAD };
    page.block("Agreement", style, &text);
    if !disagreements.is_empty() {
        let classes = ["read", "write 5m", "write 1h", "uncached"];
        let mut lines =
            vec![vec!["Differ".to_owned(), "predicted".into(), "billed".into(), String::new()]];
        for found in disagreements {
            lines.push(vec![
                format!("{} {}", found.place, found.request),
                String::new(),
                String::new(),
                found.reason.clone(),
            ]);
            for (class, (predicted, billed)) in
                classes.iter().zip(found.predicted.iter().zip(found.billed))
            {
                if let Some(billed) = billed.filter(|billed| billed != predicted) {
                    lines.push(vec![
                        format!("  {class}"),
                        count(*predicted),
                        count(billed),
                        String::new(),
                    ]);
                }
            }
        }
        align(&lines, &[0, 3], page.width).iter().for_each(|line| page.line(line));
        let more = agreements.unexplained.saturating_sub(disagreements.len() as u64);
        if more > 0 {
            page.line(&format!("… and {} more; --json has all", count(more)));
        }
    }
    for (why, requests) in &agreements.explained {
        let text = format!("{}: {}: {}", count(*requests), why.as_str(), why.text());
        page.block("Not predictable", BOLD, &text);
    }
}

fn table(page: &mut Page, sums: &Sums) {
    let mut rows = vec![("as predicted", &sums.predicted)];
    if sums.billed.requests == sums.predicted.requests && sums.billed.requests > 0 {
        rows.push(("as billed", &sums.billed));
    }
    rows.extend([("no cache", &sums.no_cache), ("perfect cache", &sums.perfect)]);
    let usd: Vec<String> = rows.iter().map(|(_, totals)| cents(totals.cost)).collect();
    let usd = same_decimals(usd.iter().map(String::as_str));
    let head = [
        "All requests",
        "read",
        "write 5m",
        "write 1h",
        "uncached",
        "output",
        "USD",
        "vs no cache",
    ];
    let mut lines: Vec<Vec<String>> = vec![head.iter().map(|name| (*name).to_owned()).collect()];
    for ((name, totals), usd) in rows.iter().zip(usd) {
        let usage = &totals.usage;
        let mut line = vec![(*name).to_owned()];
        let classes = [usage.read, usage.write_5m, usage.write_1h, usage.uncached, usage.output];
        line.extend(classes.iter().map(|tokens| count(tokens.0)));
        let is_priced = totals.unpriced < totals.requests;
        let versus = change_percent(totals.cost.0, sums.no_cache.cost.0);
        line.push(if is_priced { usd } else { "-".to_owned() });
        line.push(if *name == "no cache" || !is_priced { "-".to_owned() } else { versus });
        lines.push(line);
    }
    for (index, line) in align(&lines, &[0], page.width).into_iter().enumerate() {
        let line = if index <= 1 { page.paint(&line, BOLD) } else { line };
        page.line(&line);
    }
    for (id, model) in &sums.models {
        let te = model.te().map(|te| te.to_decimal(2));
        if let (Some(te), false) = (te, id.is_empty()) {
            let te = crate::report::table::decimal(&te);
            let requests = requests_text(model.totals.requests);
            page.line(&format!("{id}: {requests}, {te} TE of input"));
        }
    }
    page.paragraph("USD includes output. Perfect cache is a bound, not a plan.", 0);
}

/// Dollars with at least four decimals: small replays cost less than a cent.
fn cents(cost: PicoUsd) -> String {
    let tenth_of_cents = crate::units::Ratio::new(cost.0, 1_000_000_000_000);
    tenth_of_cents.map_or_else(String::new, |usd| usd.to_decimal(4))
}

fn reasons(page: &mut Page, sums: &Sums) {
    let mut reasons: Vec<(Reason, u64)> =
        sums.reasons.iter().map(|(reason, requests)| (*reason, *requests)).collect();
    reasons.sort_by_key(|(reason, requests)| (std::cmp::Reverse(*requests), *reason));
    for (index, (reason, requests)) in reasons.into_iter().enumerate() {
        let head = if index == 0 { "Why no more was read" } else { "" };
        let name = reason.as_str();
        let text = format!("{}: {name}: {}", count(requests), reason_text(name));
        page.block(head, BOLD, &text);
    }
}
