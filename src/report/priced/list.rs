//! The price list of a day, and the price history of a model.

use serde_json::Value;

use super::json;
use super::text::{align_decimals, dash, header, note};
use crate::pricing::PriceEntry;
use crate::quote::numbers::usd_per_mtok;
use crate::quote::{CLASSES, Listed, mark_words};
use crate::report::layout::align;
use crate::units::Tokens;

/// The list as text.
pub fn text(models: &[Listed], width: usize) -> String {
    let mut lines =
        vec![header(&["model", "input", "5m", "1h", "read", "output", "min", "window"])];
    let mut without = Vec::new();
    for listed in models {
        let entries: Vec<&PriceEntry> = listed
            .model
            .prices
            .entries
            .iter()
            .filter(|entry| entry.holds_on(listed.date))
            .collect();
        if entries.is_empty() {
            without.push(listed.model.id.as_str());
        }
        for entry in entries {
            let model = listed.model;
            let (name, minimum, window) = if entry.above_tokens == Tokens::ZERO {
                (model.id.clone(), model.min_tokens.to_string(), model.context_window.to_string())
            } else {
                (format!("  above {}", entry.above_tokens), String::new(), String::new())
            };
            let mut line = vec![name];
            line.extend(prices(entry));
            line.extend([minimum, window]);
            lines.push(line);
        }
    }
    let mut out = table(lines, 1..6, width);
    out.push('\n');
    let day = |listed: &Listed| (listed.date, listed.provider.facts().checked);
    if let Some((date, checked)) = models.first().map(day) {
        let about = format!(
            "USD per million tokens on {date}, checked {checked}: uncached input, writes for 5m \
             and 1h, reads, output; the shortest prefix that is cached and the context window, in \
             tokens"
        );
        note("Prices", &about, width, &mut out);
    }
    if !without.is_empty() {
        note("Without", &format!("a price on that day: {}", without.join(", ")), width, &mut out);
    }
    let more = "`forkcost price --model M` shows days and sources of one model";
    note("Note", more, width, &mut out);
    out
}

/// The history of one model as text.
pub fn history(listed: &Listed, width: usize) -> String {
    let model = listed.model;
    let mut lines =
        vec![header(&["", "from", "to", "above", "input", "5m", "1h", "read", "output", "mark"])];
    let mut entries: Vec<&PriceEntry> = model.prices.entries.iter().collect();
    entries.sort_by_key(|entry| (entry.from, entry.above_tokens));
    for entry in &entries {
        let mut line = vec![
            if entry.holds_on(listed.date) { "*" } else { "" }.to_owned(),
            entry.from.to_string(),
            entry.to.map_or_else(dash, |to| to.to_string()),
            entry.above_tokens.to_string(),
        ];
        line.extend(prices(entry));
        line.push(mark_words(entry.mark).to_owned());
        lines.push(line);
    }
    let mut out = format!("{}\n", model.id);
    out.push_str(&table(lines, 4..9, width));
    out.push('\n');
    let day = listed.date;
    note("Prices", &format!("USD per million tokens; * holds on {day}"), width, &mut out);
    let mut sources: Vec<String> = Vec::new();
    for entry in &entries {
        let source = format!("{}, checked {}", entry.source, entry.checked);
        if !sources.contains(&source) {
            note("Source", &source, width, &mut out);
            sources.push(source);
        }
    }
    let minimum = format!(
        "{} tokens ({}); context window {} tokens",
        model.min_tokens,
        mark_words(model.min_evidence.mark),
        model.context_window
    );
    note("Minimum", &minimum, width, &mut out);
    if !model.aliases.is_empty() {
        note("Aliases", &model.aliases.join(", "), width, &mut out);
    }
    for words in &model.notes {
        note("Note", words, width, &mut out);
    }
    out
}

/// The list as JSON: the entries that hold on the day.
pub fn to_json(models: &[Listed]) -> Value {
    let values =
        models.iter().map(|listed| json::model(listed, |entry| entry.holds_on(listed.date)));
    with_day(models, values.collect())
}

/// The history of one model as JSON: all entries.
pub fn history_to_json(listed: &Listed) -> Value {
    with_day(std::slice::from_ref(listed), vec![json::model(listed, |_| true)])
}

fn with_day(models: &[Listed], values: Vec<Value>) -> Value {
    let date = models.first().map(|listed| listed.date.to_string()).unwrap_or_default();
    let checked = models.first().map(|listed| listed.provider.facts().checked.to_string());
    json::list(&date, &checked.unwrap_or_default(), values)
}

/// Input, writes, reads and output in the order of a price list.
fn prices(entry: &PriceEntry) -> Vec<String> {
    ["uncached", "write_5m", "write_1h", "read", "output"]
        .into_iter()
        .filter_map(|key| CLASSES.iter().find(|class| class.key == key))
        .map(|class| usd_per_mtok((class.price)(&entry.price)))
        .collect()
}

/// Lines with the decimals of some columns aligned.
fn table(mut lines: Vec<Vec<String>>, decimals: std::ops::Range<usize>, width: usize) -> String {
    for column in decimals {
        let mut texts: Vec<String> = lines[1..].iter().map(|line| line[column].clone()).collect();
        align_decimals(&mut texts);
        for (line, text) in lines[1..].iter_mut().zip(texts) {
            line[column] = text;
        }
    }
    let last = lines[0].len() - 1;
    let left: Vec<usize> = if lines[0][last] == "mark" { vec![0, 1, 2, last] } else { vec![0] };
    align(&lines, &left, width).into_iter().map(|line| format!("{line}\n")).collect()
}
