//! A bill and a comparison for a person.

use std::cmp::Ordering;

use crate::quote::numbers::usd_per_mtok;
use crate::quote::{Bill, CLASSES, Compared, Line, to_the_cent};
use crate::report::layout::{align, wrap};
use crate::units::{Tokens, grouped, grouped_decimal};

/// Rows that a text shows before it refers to JSON.
const ROWS_MAX: usize = 40;
/// Warnings that a text shows.
const WARNINGS_MAX: usize = 12;
/// Width of the labels of the lines below the table.
const LABEL: usize = 10;

/// The bill as text of `width` columns.
pub fn bill(bill: &Bill, width: usize) -> String {
    let mut out = String::new();
    if bill.lines.len() > 1 {
        rows(bill, width, &mut out);
    }
    for line in align(&classes(bill), &[0], width) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push('\n');
    let total = bill.cost.total();
    let exact = grouped_decimal(&total.to_usd_string());
    let cent = grouped_decimal(&to_the_cent(total));
    note("Total", &format!("{cent} USD to the cent, exactly {exact}"), width, &mut out);
    for words in distinct(bill.quotes().map(|quote| &quote.words)) {
        note("Price", &words.join("; "), width, &mut out);
    }
    let warnings: Vec<&str> = bill.warnings.iter().map(String::as_str).collect();
    notes(bill, &warnings, width, &mut out);
    out
}

/// Models side by side as text.
pub fn comparison(compared: &Compared, width: usize) -> String {
    let mut out = String::new();
    let mut lines =
        vec![header(&["model", "input TE", "input", "output", "total USD", "vs first"])];
    let column = |value: fn(&Bill) -> String| {
        let mut texts: Vec<String> = compared.bills.iter().map(|(_, bill)| value(bill)).collect();
        align_decimals(&mut texts);
        texts.into_iter().map(|text| grouped_decimal(&text)).collect::<Vec<_>>()
    };
    let input = column(|bill| bill.cost.input().to_usd_string());
    let output = column(|bill| bill.cost.output.to_usd_string());
    let total = column(|bill| bill.cost.total().to_usd_string());
    for (index, (listed, bill)) in compared.bills.iter().enumerate() {
        lines.push(vec![
            listed.model.id.clone(),
            bill.te(bill.cost.input()).map_or_else(dash, |te| grouped_decimal(&te)),
            input[index].clone(),
            output[index].clone(),
            total[index].clone(),
            compared.versus_first(index).map_or_else(dash, |percent| format!("{percent} %")),
        ]);
    }
    for line in align(&lines, &[0], width) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push('\n');
    let Some((_, first)) = compared.bills.first() else { return out };
    let counts =
        CLASSES.iter().map(|class| format!("{} {}", class.label, (class.tokens)(&first.usage)));
    note("Usage", &counts.collect::<Vec<_>>().join(", "), width, &mut out);
    for (_, bill) in &compared.bills {
        for words in distinct(bill.quotes().map(|quote| &quote.words)) {
            note("Price", &words.join("; "), width, &mut out);
        }
    }
    notes(first, &compared.warnings(), width, &mut out);
    let tokens = "the same tokens for each model; models count the same text differently";
    note("Note", tokens, width, &mut out);
    out
}

fn notes(bill: &Bill, warnings: &[&str], width: usize, out: &mut String) {
    for words in &bill.assumed {
        note("Assumed", words, width, out);
    }
    for words in warnings.iter().take(WARNINGS_MAX) {
        note("Warning", words, width, out);
    }
    let more = warnings.len().saturating_sub(WARNINGS_MAX);
    if more > 0 {
        note("Warning", &format!("{more} more warnings; --json lists them"), width, out);
    }
}

/// A line with a label and its continuation below the text.
pub(super) fn note(label: &str, text: &str, width: usize, out: &mut String) {
    for (index, line) in wrap(text, width - LABEL).into_iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        out.push_str(&format!("{label:<LABEL$}{line}\n"));
    }
}

/// What stands where there is no value.
pub(super) fn dash() -> String {
    "-".to_owned()
}

/// The first line of a table.
pub(super) fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Decimal texts with as many decimals as the longest has, so that their points stand in a column.
/// Texts that are no decimals stay.
pub(super) fn align_decimals(texts: &mut [String]) {
    let places = |text: &String| text.split_once('.').map(|(_, fraction)| fraction.len());
    let most = texts.iter().filter_map(places).max().unwrap_or_default();
    for text in texts {
        if let Some(own) = places(text)
            && own.cmp(&most) == Ordering::Less
        {
            text.push_str(&"0".repeat(most - own));
        }
    }
}

/// Items in order of their first appearance.
fn distinct<'a>(items: impl Iterator<Item = &'a Vec<String>>) -> Vec<&'a Vec<String>> {
    let mut seen: Vec<&Vec<String>> = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// One line a row.
fn rows(bill: &Bill, width: usize, out: &mut String) {
    let named = bill.lines.iter().any(|line| line.model().is_some());
    let mut names = header(&["row", "read", "written", "uncached", "output", "TE", "USD"]);
    if named {
        names.insert(1, "model".to_owned());
    }
    let shown: Vec<&Line> = bill.lines.iter().take(ROWS_MAX).collect();
    let mut usd: Vec<String> = shown.iter().map(|line| line.cost.total().to_usd_string()).collect();
    align_decimals(&mut usd);
    let mut lines = vec![names];
    for (line, usd) in shown.iter().zip(usd) {
        let usage = &line.usage;
        let mut cells = vec![
            line.row.number.to_string(),
            usage.read.to_string(),
            (usage.write_5m + usage.write_1h).to_string(),
            usage.uncached.to_string(),
            usage.output.to_string(),
            line.te().map_or_else(dash, |te| grouped_decimal(&te.to_decimal(2))),
            grouped_decimal(&usd),
        ];
        if named {
            cells.insert(1, line.model().unwrap_or("-").to_owned());
        }
        lines.push(cells);
    }
    let left: &[usize] = if named { &[1] } else { &[] };
    for line in align(&lines, left, width) {
        out.push_str(&line);
        out.push('\n');
    }
    let more = bill.lines.len() - shown.len();
    if more > 0 {
        let more = grouped(i128::try_from(more).unwrap_or(i128::MAX));
        out.push_str(&format!("... {more} more rows; --json lists them\n"));
    }
    out.push('\n');
}

/// The table by class, with its sum.
fn classes(bill: &Bill) -> Vec<Vec<String>> {
    let quote = bill.one_quote();
    let mut usd: Vec<String> =
        CLASSES.iter().map(|class| (class.cost)(&bill.cost).to_usd_string()).collect();
    usd.push(bill.cost.total().to_usd_string());
    align_decimals(&mut usd);
    let mut prices: Vec<String> = CLASSES
        .iter()
        .map(|class| quote.map_or_else(dash, |quote| usd_per_mtok((class.price)(&quote.price))))
        .collect();
    align_decimals(&mut prices);
    let mut lines = vec![header(&["class", "tokens", "USD/M", "USD", "TE", "share"])];
    for ((class, usd), price) in CLASSES.iter().zip(&usd).zip(prices) {
        let cost = (class.cost)(&bill.cost);
        lines.push(vec![
            class.label.to_owned(),
            (class.tokens)(&bill.usage).to_string(),
            price,
            grouped_decimal(usd),
            bill.class_te(class).map_or_else(dash, |te| grouped_decimal(&te)),
            bill.share(cost).map_or_else(dash, |share| format!("{share} %")),
        ]);
    }
    let all: Tokens = bill.usage.input() + bill.usage.output;
    lines.push(vec![
        "total".to_owned(),
        all.to_string(),
        String::new(),
        usd.last().map_or_else(dash, |usd| grouped_decimal(usd)),
        bill.te(bill.cost.input()).map_or_else(dash, |te| grouped_decimal(&te)),
        String::new(),
    ]);
    lines
}
