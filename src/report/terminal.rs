//! The verdict: what the terminal shows first.

use crate::analysis::{Summary, Totals};
use crate::report::layout::{align, break_header, width_of};
use crate::report::overview::best_change;
use crate::report::page::{BOLD, GOOD, HEAD, Page};
use crate::report::reason_text;
use crate::report::table::{children_text, count, decimal, part_percent, plan_rows, share_percent};

/// The verdict on a run as text of `width` columns (held between 80 and 120), ending in a newline;
/// only a table of huge figures is wider.
/// Escape sequences stand in it only where `styled`; the text is the same otherwise.
pub fn verdict(summary: &Summary, width: usize, styled: bool) -> String {
    let mut page = Page::new(width, styled);
    header(&mut page, summary);
    page.blank();
    shared(&mut page, summary);
    page.blank();
    input_table(&mut page, summary);
    page.blank();
    reasons(&mut page, summary);
    change(&mut page, summary);
    if !summary.findings.is_empty() {
        page.blank();
    }
    for finding in &summary.findings {
        page.block("Note", BOLD, &finding.text);
    }
    page.out
}

fn header(page: &mut Page, summary: &Summary) {
    let parts = [
        format!("{}, {}", children_text(summary.children), summary.schedule),
        summary.model.clone(),
        format!("prices of {}, checked {}", summary.prices_from, summary.facts_checked),
    ];
    let mut used = summary.scenario.chars().count();
    let mut text = page.paint(&summary.scenario, BOLD);
    for part in parts {
        let length = part.chars().count();
        if used + 3 + length > page.width {
            page.line(&text);
            text = format!("  {part}");
            used = 2 + length;
        } else {
            text.push_str("   ");
            text.push_str(&part);
            used += 3 + length;
        }
    }
    page.line(&text);
    let tokenizer = &summary.tokenizer;
    let note = if tokenizer.note.is_empty() { "" } else { ": " };
    page.paragraph(
        &format!("tokens: {} ({}{note}{})", tokenizer.name, tokenizer.exactness, tokenizer.note),
        2,
    );
}

fn shared(page: &mut Page, summary: &Summary) {
    let shared = &summary.shared;
    let title = match summary.children {
        1 => "The only child".to_owned(),
        children => format!("Shared by all {} children", count(children)),
    };
    let title = page.paint(&title, BOLD);
    page.line(&title);
    page.paragraph(
        &format!(
            "body {} B   prompt {} B   {} tokens of {} ({})",
            count(shared.body_bytes),
            count(shared.prompt_bytes),
            count(shared.prompt_tokens),
            count(summary.child_tokens),
            part_percent(shared.prompt_tokens, summary.child_tokens),
        ),
        2,
    );
    if shared.head_tokens > 0 {
        page.paragraph(
            &format!(
                "and {} tokens at the head of the block that differs: no cache reads part of \
                 a block",
                count(shared.head_tokens)
            ),
            2,
        );
    }
    if let Some(difference) = &summary.first_difference {
        let place = difference.part.as_ref().map_or(String::new(), |part| format!(": the {part}"));
        let (pointer, byte) = (&difference.pointer, count(difference.byte));
        page.paragraph(&format!("first difference {pointer}, byte {byte}{place}"), 2);
    }
}

/// What one column prints of a plan's sums.
type Cell = fn(&Totals) -> String;

fn input_table(page: &mut Page, summary: &Summary) {
    let rows = plan_rows(summary);
    let mut columns: Vec<(&str, Cell)> =
        vec![("read", |totals| count(totals.read)), ("write 5m", |totals| count(totals.write_5m))];
    if rows.iter().any(|row| row.totals.write_1h > 0) {
        columns.push(("write 1h", |totals| count(totals.write_1h)));
    }
    columns.push(("uncached", |totals| count(totals.uncached)));
    columns.push(("TE", |totals| decimal(&totals.te)));
    let mut lines: Vec<Vec<String>> = vec![vec!["Input".to_owned()]];
    lines[0].extend(columns.iter().map(|(name, _)| (*name).to_owned()));
    lines[0].extend(["USD".to_owned(), "vs no cache".to_owned()]);
    for row in &rows {
        let mut line = vec![row.label.clone()];
        line.extend(columns.iter().map(|(_, cell)| cell(row.totals)));
        line.extend([row.usd.clone(), row.versus_no_cache.clone()]);
        lines.push(line);
    }
    if width_of(&lines, 1) > page.width {
        break_header(&mut lines);
    }
    // Names give way before figures do; each step only where the one before was not enough.
    let shorter = [
        ("fresh agents, ", "fresh, "),
        ("fresh, same type", "fresh agents"),
        ("chapter's model", "chapter"),
    ];
    for (long, short) in shorter {
        if width_of(&lines, 1) > page.width {
            lines.iter_mut().for_each(|line| line[0] = line[0].replace(long, short));
        }
    }
    let head = lines.len() - rows.len();
    for (index, text) in align(&lines, &[0], page.width).into_iter().enumerate() {
        // The header and this plan stand out.
        let text = if index <= head { page.paint(&text, BOLD) } else { text };
        page.line(&text);
    }
    let others = summary.totals.requests.saturating_sub(summary.children);
    if others > 0 {
        let text =
            format!("This plan counts {} for warming beside the children.", requests(others));
        page.paragraph(&text, 0);
    }
    if summary.totals.output > 0 {
        let text = format!("USD includes {} tokens of output.", count(summary.totals.output));
        page.paragraph(&text, 0);
    }
    page.paragraph(
        "TE: input in tokens at the uncached price. Perfect cache is a bound, not a plan. Fresh \
         agents lack the parent's context. Chapter's model (the first child at full price, the \
         others read all before their directive) is how no provider bills.",
        0,
    );
}

/// `1 request`, `2 requests`.
fn requests(number: u64) -> String {
    if number == 1 { "1 request".to_owned() } else { format!("{} requests", count(number)) }
}

fn reasons(page: &mut Page, summary: &Summary) {
    let children: u64 = summary.reasons.values().sum();
    for (index, (name, requests)) in reasons_by_count(summary).into_iter().enumerate() {
        let head = if index == 0 { "Why no more was read" } else { "" };
        let words = reason_sentence(summary, name);
        let text = format!("{} of {}: {name}: {words}", count(requests), count(children));
        page.block(head, BOLD, &text);
    }
}

/// Reasons and their numbers of requests, the most frequent first.
pub(crate) fn reasons_by_count(summary: &Summary) -> Vec<(&str, u64)> {
    let mut reasons: Vec<(&str, u64)> =
        summary.reasons.iter().map(|(name, requests)| (name.as_str(), *requests)).collect();
    reasons.sort_by_key(|(name, requests)| (std::cmp::Reverse(*requests), *name));
    reasons
}

/// The words of a reason, with the figures of this run where they explain it.
pub(crate) fn reason_sentence(summary: &Summary, name: &str) -> String {
    let words = reason_text(name);
    let (shared, parent) = (summary.shared.prompt_tokens, summary.shared_with_parent.prompt_tokens);
    if name == "no_entry_at_boundary" && 0 < parent && parent < shared {
        return format!(
            "{words} (the children share {} tokens, {} of them with the parent's request)",
            count(shared),
            count(parent)
        );
    }
    words.to_owned()
}

fn change(page: &mut Page, summary: &Summary) {
    let Some(best) = best_change(summary) else {
        page.block("Best change", GOOD, "nothing in the fixed set is cheaper");
        return;
    };
    let text = format!(
        "{}: {} TE, {} % less than this plan",
        best.text,
        decimal(&best.totals.te),
        share_percent(&best.saving)
    );
    page.block("Best change", GOOD, &text);
    for line in &best.patch {
        page.line(&format!("{}{line}", " ".repeat(HEAD + 2)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn the_golden_verdict_says_what_it_costs() {
        let text = verdict(&fixtures::golden().summary, 120, false);
        let line = text.lines().find(|line| line.starts_with("this plan")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().skip(2).collect();
        assert_eq!(cells, ["230,000", "13,500", "0", "39,875.00", "0.199375", "-83.62", "%"]);
        assert!(!text.contains("write 1h"), "{text}");
        assert!(text.contains("48,500 tokens of 48,700 (99.6 %)"), "{text}");
        assert!(text.contains("5 of 5: no_entry_at_boundary"), "{text}");
        assert!(text.contains("/text, byte 187,654: the directive\n"), "{text}");
        assert!(text.contains("prices of 2026-07-24, checked 2026-07-30"), "{text}");
        assert!(text.contains("(estimated: another family's tokenizer;"), "{text}");
        assert!(text.contains("\nfresh agents, same type "), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("28,125.00 TE, 29.47 % less than this plan"), "{text}");
    }

    #[test]
    fn figures_of_a_column_stand_point_below_point() {
        for fixture in fixtures::all() {
            let text = verdict(&fixture.summary, 100, false);
            let mut points: Vec<Vec<usize>> = text
                .lines()
                .skip_while(|line| !line.starts_with("this plan"))
                .take(5)
                .map(|line| line.match_indices('.').map(|(at, _)| at).take(2).collect())
                .collect();
            assert_eq!(points.len(), 5);
            points.dedup();
            assert_eq!(points.len(), 1, "{text}");
        }
    }

    #[test]
    fn every_reason_has_its_count() {
        let mut summary = fixtures::golden().summary;
        summary.reasons = [("hit".to_owned(), 4), ("expired".to_owned(), 1)].into();
        let text = verdict(&summary, 100, false);
        let (hit, expired) = (text.find("4 of 5: hit: "), text.find("1 of 5: expired: "));
        assert!(hit.is_some() && hit < expired, "{text}");
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for fixture in fixtures::all() {
            for width in [0, 80, 100, 120, 400] {
                let text = verdict(&fixture.summary, width, false);
                for line in text.lines() {
                    assert!(line.chars().count() <= width.clamp(80, 120), "{text}");
                    assert_eq!(line, line.trim_end());
                }
            }
        }
    }

    #[test]
    fn styles_add_nothing_but_escapes() {
        for fixture in fixtures::all() {
            let styled = verdict(&fixture.summary, 100, true);
            let plain = verdict(&fixture.summary, 100, false);
            assert!(styled.contains('\u{1b}') && !plain.contains('\u{1b}'));
            assert_eq!(anstream::adapter::strip_str(&styled).to_string(), plain);
        }
    }

    #[test]
    fn writes_of_one_hour_get_a_column_only_where_there_are_any() {
        let text = verdict(&fixtures::one_hour().summary, 100, false);
        assert!(text.contains("write 1h"), "{text}");
    }

    #[test]
    fn without_a_cheaper_change_it_says_so() {
        let mut summary = fixtures::golden().summary;
        summary.changes.retain(|change| !change.keeps_context);
        let text = verdict(&summary, 100, false);
        assert!(text.contains("nothing in the fixed set is cheaper"), "{text}");
    }
}
