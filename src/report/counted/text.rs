//! Counts as a page for a terminal.

use super::evidence;
use crate::counting::{BlockCount, Counted};
use crate::report::page::{BOLD, Page};
use crate::report::table::count;

/// Blocks that are shown where not all are asked for.
const BLOCKS_SHOWN: usize = 10;

/// Width of the columns of counts.
const NUMBER: usize = 12;

/// A count as text of `width` columns; `others` are the same input under other tokenizers, `all`
/// shows every block.
pub fn count_text(
    name: &str,
    bytes: u64,
    counted: &Counted,
    others: &[Counted],
    all: bool,
    (width, styled): (usize, bool),
) -> String {
    let mut page = Page::new(width, styled);
    let total = page.paint(&tokens(counted.total), BOLD);
    let size = format!("{} bytes", count(bytes));
    page.line(&format!("{name}: {total} by {} ({size})", counted.tokenizer));
    if counted.between != (counted.total, counted.total) {
        let (low, high) = counted.between;
        let text = format!("between {} and {} by what is known", count(low), count(high));
        page.paragraph(&text, 2);
    }
    page.paragraph(&evidence(counted), 2);
    if let Some(message) = counted.as_message {
        let text = format!("{} as the one message of a request", tokens(message));
        page.paragraph(&text, 2);
    }
    for part in &counted.unmodelled {
        page.paragraph(&format!("no rule is known for {part}: an interval stands in for it"), 2);
    }
    if !counted.sections.is_empty() {
        sections(&mut page, counted);
        blocks(&mut page, counted, all);
    }
    if !others.is_empty() {
        page.blank();
        page.line("tokenizer         tokens     exactness     between");
        for other in others {
            let (low, high) = other.between;
            let between = if low == high {
                String::new()
            } else {
                format!("{} to {}", count(low), count(high))
            };
            let name = other.tokenizer.to_string();
            page.line(&format!(
                "{name:<12}{:>NUMBER$}     {:<14}{between}",
                count(other.total),
                other.exactness.as_str()
            ));
        }
    }
    page.out
}

fn tokens(number: u64) -> String {
    if number == 1 { "1 token".to_owned() } else { format!("{} tokens", count(number)) }
}

fn sections(page: &mut Page, counted: &Counted) {
    page.blank();
    page.line("section         tokens      blocks   of them in no text");
    for section in &counted.sections {
        page.line(&format!(
            "{:<10}{:>NUMBER$}{:>NUMBER$}   {:>19}",
            section.section,
            count(section.tokens),
            count(section.blocks),
            count(section.extra_tokens),
        ));
    }
}

fn blocks(page: &mut Page, counted: &Counted, all: bool) {
    let mut shown: Vec<&BlockCount> = counted.blocks.iter().collect();
    let largest = !all && shown.len() > BLOCKS_SHOWN;
    if largest {
        shown.sort_by_key(|block| std::cmp::Reverse(block.tokens));
        shown.truncate(BLOCKS_SHOWN);
    }
    page.blank();
    let title = if largest { "largest blocks" } else { "block" };
    page.line(&format!("{title:<34}{:<12}{:>NUMBER$}", "kind", "tokens"));
    for block in shown {
        let mut kinds: Vec<(&str, u64)> = Vec::new();
        for extra in block.extras.iter().filter(|extra| extra.high > 0) {
            match kinds.iter_mut().find(|(kind, _)| *kind == extra.kind.as_str()) {
                Some((_, tokens)) => *tokens += extra.tokens,
                None => kinds.push((extra.kind.as_str(), extra.tokens)),
            }
        }
        let extras: Vec<String> =
            kinds.iter().map(|(kind, tokens)| format!("{kind} {}", count(*tokens))).collect();
        let note =
            if extras.is_empty() { String::new() } else { format!("   {}", extras.join(", ")) };
        page.line(&format!(
            "{:<34}{:<12}{:>NUMBER$}{note}",
            block.pointer,
            block.kind,
            count(block.tokens)
        ));
    }
    if largest {
        let rest = counted.blocks.len() - BLOCKS_SHOWN;
        page.line(&format!("{rest} more blocks: --blocks shows all"));
    }
}
