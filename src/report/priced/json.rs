//! Bills, comparisons and price lists as JSON. Money is decimal text and, exact, whole
//! pico-dollars as text; no number of it is a float.

use serde_json::{Map, Value, json};

use crate::pricing::{Cost, Price, PriceEntry};
use crate::provider::WriteSplit;
use crate::quote::numbers::usd_per_mtok;
use crate::quote::{
    Bill, CLASSES, Compared, Line, Listed, PricedPass, Quote, mark_words, to_the_cent,
};
use crate::units::{PicoUsd, Tokens};
use crate::usage::Usage;

/// Version of all these forms.
const SCHEMA_VERSION: u32 = 1;

/// A bill.
pub fn bill(bill: &Bill) -> Value {
    let mut members = Map::new();
    members.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
    members.extend(sums(bill));
    members.insert("rows".to_owned(), bill.lines.iter().map(line).collect());
    members.insert("assumed".to_owned(), json!(bill.assumed));
    members.insert("warnings".to_owned(), json!(bill.warnings));
    Value::Object(members)
}

/// Models side by side.
pub fn comparison(compared: &Compared) -> Value {
    let models: Vec<Value> = compared
        .bills
        .iter()
        .enumerate()
        .map(|(index, (listed, bill))| {
            let mut members = Map::new();
            members.insert("model".to_owned(), json!(listed.model.id));
            members.insert("versus_first_percent".to_owned(), json!(compared.versus_first(index)));
            members.extend(sums(bill));
            let quotes = bill.quotes().map(price);
            members.insert("prices".to_owned(), distinct(quotes));
            Value::Object(members)
        })
        .collect();
    let first = compared.bills.first().map(|(_, bill)| bill);
    json!({
        "schema_version": SCHEMA_VERSION,
        "models": models,
        "assumed": first.map(|bill| &bill.assumed),
        "warnings": compared.warnings(),
    })
}

/// A model with the entries of its prices that `shown` takes.
pub(super) fn model(listed: &Listed, shown: impl Fn(&PriceEntry) -> bool) -> Value {
    let model = listed.model;
    let entries = model.prices.entries.iter().filter(|entry| shown(entry));
    json!({
        "model": model.id,
        "provider": listed.provider.name(),
        "aliases": model.aliases,
        "min_tokens": model.min_tokens,
        "context_window": model.context_window,
        "notes": model.notes,
        "prices": entries.map(entry).collect::<Vec<_>>(),
    })
}

/// The price list on `date`, or the history of one model.
pub(super) fn list(date: &str, checked: &str, models: Vec<Value>) -> Value {
    json!({
        "schema_version": SCHEMA_VERSION, "date": date, "checked": checked, "models": models,
    })
}

/// What a bill comes to.
fn sums(bill: &Bill) -> Map<String, Value> {
    let mut classes = Map::new();
    for class in &CLASSES {
        let cost = (class.cost)(&bill.cost);
        let one = json!({
            "tokens": (class.tokens)(&bill.usage),
            "usd_per_mtok": bill.one_quote().map(|q| usd_per_mtok((class.price)(&q.price))),
            "cost_usd": cost.to_usd_string(),
            "cost_pico_usd": cost.0.to_string(),
            "te": bill.class_te(class),
            "share_percent": bill.share(cost),
        });
        classes.insert(class.key.to_owned(), one);
    }
    let (input, total) = (bill.cost.input(), bill.cost.total());
    let members = json!({
        "usage": usage(&bill.usage),
        "classes": classes,
        "input_te": bill.te(input),
        "input_usd": input.to_usd_string(),
        "input_pico_usd": input.0.to_string(),
        "total_usd": total.to_usd_string(),
        "total_usd_to_the_cent": to_the_cent(total),
        "total_pico_usd": total.0.to_string(),
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn line(line: &Line) -> Value {
    let billed = &line.row.billed;
    let assumed = match billed.split {
        WriteSplit::Stated => Tokens::ZERO,
        WriteSplit::Assumed(tokens) => tokens,
    };
    let said =
        |message: String, difference: Tokens| json!({"message": message, "difference": difference});
    let read = billed.warnings.iter().map(|one| said(one.to_string(), one.difference()));
    let unpriced = billed.unpriced.iter().map(|one| said(one.to_string(), Tokens::ZERO));
    let warnings: Vec<Value> = read.chain(unpriced).collect();
    let total = line.cost.total();
    json!({
        "row": line.row.number,
        "place": line.row.place,
        "model": line.row.model,
        "style": billed.style.label(),
        "usage": usage(&line.usage),
        "writes_of_unstated_lifetime": assumed,
        "cost_usd": money(&line.cost, |cost| cost.to_usd_string()),
        "cost_pico_usd": money(&line.cost, |cost| cost.0.to_string()),
        "total_usd": total.to_usd_string(),
        "total_pico_usd": total.0.to_string(),
        "input_te": line.te().map(|te| te.to_decimal(2)),
        "price": line.quote().map(price),
        "passes": passes(line),
        "warnings": warnings,
    })
}

/// The prompts of a line that has several.
fn passes(line: &Line) -> Vec<Value> {
    if line.passes.len() < 2 {
        return Vec::new();
    }
    let pass = |pass: &PricedPass| {
        json!({
            "usage": usage(&pass.usage),
            "usd_per_mtok": per_mtok(&pass.quote.price),
            "total_usd": pass.cost.total().to_usd_string(),
            "total_pico_usd": pass.cost.total().0.to_string(),
        })
    };
    line.passes.iter().map(pass).collect()
}

fn usage(usage: &Usage) -> Value {
    let classes = CLASSES.iter().map(|class| (class.key, json!((class.tokens)(usage))));
    classes.map(|(key, tokens)| (key.to_owned(), tokens)).collect::<Map<_, _>>().into()
}

fn money(cost: &Cost, text: fn(PicoUsd) -> String) -> Value {
    let classes = CLASSES.iter().map(|class| (class.key, json!(text((class.cost)(cost)))));
    classes.map(|(key, cost)| (key.to_owned(), cost)).collect::<Map<_, _>>().into()
}

/// The price of a usage and where it comes from.
fn price(quote: &Quote) -> Value {
    json!({
        "model": quote.model,
        "date": quote.date.map(|date| date.to_string()),
        "usd_per_mtok": per_mtok(&quote.price),
        "entry": quote.entry.as_ref().map(entry),
        "words": quote.words,
    })
}

fn entry(entry: &PriceEntry) -> Value {
    json!({
        "from": entry.from.to_string(),
        "to": entry.to.map(|to| to.to_string()),
        "above_tokens": entry.above_tokens,
        "usd_per_mtok": per_mtok(&entry.price),
        "mark": mark_words(entry.mark),
        "source": entry.source,
        "checked": entry.checked.to_string(),
    })
}

fn per_mtok(price: &Price) -> Value {
    let classes =
        CLASSES.iter().map(|class| (class.key, json!(usd_per_mtok((class.price)(price)))));
    classes.map(|(key, price)| (key.to_owned(), price)).collect::<Map<_, _>>().into()
}

/// Items in order of their first appearance.
fn distinct(items: impl Iterator<Item = Value>) -> Value {
    let mut seen: Vec<Value> = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    Value::Array(seen)
}
