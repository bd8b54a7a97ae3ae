//! A comparison of two requests as text: the verdict, then each divergence with what stands on
//! either side, lined up.

use std::collections::{BTreeMap, BTreeSet};

use anstyle::{AnsiColor, Color, Style};

use crate::diff::{BlockPlace, Diff, Divergence, Excerpt, Kind, Side};
use crate::provider::{Certainty, Survival};
use crate::report::layout::wrap;
use crate::units::grouped;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Red)));
const GREEN: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Green)));

/// Most divergences that are shown whole, and of one kind.
const SHOWN_MAX: usize = 20;
const OF_KIND_MAX: usize = 5;

/// Most columns of an input's name.
const NAME_MAX: usize = 36;

/// Indent below a divergence's heading, and the width of the labels there.
const INDENT: usize = 4;
const LABEL: usize = 10;

/// The comparison as text of `width` columns (held between 80 and 120), ending in a newline.
/// Escape sequences stand in it only where `styled`; the text is the same otherwise.
pub fn diff_text(diff: &Diff, width: usize, styled: bool) -> String {
    let mut page = Page { out: String::new(), width: width.clamp(80, 120), styled };
    verdict(&mut page, diff);
    sides(&mut page, diff);
    reach(&mut page, diff);
    let mut advised = BTreeSet::new();
    let (shown, hidden) = chosen(diff);
    let number_width = shown.last().map_or(1, |(number, _)| number.to_string().len());
    for (number, one) in shown {
        page.line("");
        heading(&mut page, number, number_width, one);
        excerpts(&mut page, one);
        explanation(&mut page, diff, one, advised.insert(one.kind));
    }
    rest(&mut page, &hidden);
    closing(&mut page, diff);
    page.out
}

/// Text that grows downwards.
struct Page {
    out: String,
    width: usize,
    styled: bool,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn paint(&self, text: &str, style: Style) -> String {
        if self.styled && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// A label and wrapped text beside it.
    fn labelled(&mut self, label: &str, text: &str) {
        let start = INDENT + LABEL;
        for (index, line) in wrap(text, self.width - start).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let painted = self.paint(label, DIM);
            let gap = " ".repeat(LABEL - label.len());
            self.line(&format!("{:INDENT$}{painted}{gap}{line}", ""));
        }
    }
}

fn verdict(page: &mut Page, diff: &Diff) {
    let (word, style) = if diff.is_break { ("break", RED) } else { ("no break", GREEN) };
    let lines = wrap(&format!("{word}: {}", sentence(diff)), page.width);
    for (index, line) in lines.iter().enumerate() {
        match line.strip_prefix(word).filter(|_| index == 0) {
            Some(rest) => {
                let painted = page.paint(word, style.bold());
                page.line(&format!("{painted}{rest}"));
            }
            None => page.line(line),
        }
    }
}

fn sentence(diff: &Diff) -> String {
    let blocks = plural(diff.a.blocks, "block");
    let count = plural(diff.divergences.len() as u64, "divergence");
    let appended = match diff.appended_blocks {
        0 => String::new(),
        more => format!(" and appends {}", grouped(i128::from(more))),
    };
    if diff.is_break {
        let none_or = |count: u64| match count {
            0 => "none".to_owned(),
            count => grouped(i128::from(count)),
        };
        let valid = diff.entries.iter().filter(|entry| entry.valid).count() as u64;
        let kept = match diff.entries.len() {
            0 => String::new(),
            1 => ", and not its one entry".to_owned(),
            entries => format!(" and {} of its {entries} entries", none_or(valid)),
        };
        return format!("B keeps {} of A's {blocks}{kept}; {count}", none_or(diff.shared.blocks));
    }
    match (diff.divergences.is_empty(), diff.entries.last()) {
        (true, _) if diff.appended_blocks == 0 => format!(
            "the prompts are equal, {blocks} and {} prompt bytes",
            grouped(i128::from(diff.shared.prompt_bytes))
        ),
        (false, Some(last)) => format!(
            "all that A wrote, up to {} (block {} of {}), is in B{}; {count} behind it",
            last.pointer,
            last.block,
            diff.a.blocks,
            if appended.is_empty() { String::new() } else { format!(", which{}", &appended[4..]) },
        ),
        (true, _) | (false, None) => format!("B keeps all {blocks} of A{appended}"),
    }
}

fn sides(page: &mut Page, diff: &Diff) {
    let name = |side: &Side| match side.line {
        Some(line) => format!("{}:{line}", side.name),
        None => side.name.clone(),
    };
    let name = |side: &Side| keep_end(&name(side), NAME_MAX);
    let longest = [&diff.a, &diff.b].map(|side| name(side).chars().count()).into_iter().max();
    for (letter, side, style) in [("A", &diff.a, RED), ("B", &diff.b, GREEN)] {
        let letter = page.paint(letter, style);
        let text = format!(
            "  {letter}  {:<wide$}   {}, {}   {}",
            name(side),
            plural(side.blocks, "block"),
            plural(side.markers, "marker"),
            side.model.as_deref().unwrap_or("no model named"),
            wide = longest.unwrap_or_default(),
        );
        page.line(&text);
    }
}

/// What B reads of A, and whether a marker of B looks far enough back.
fn reach(page: &mut Page, diff: &Diff) {
    if diff.entries.is_empty() || diff.a.refused.is_some() || diff.b.refused.is_some() {
        return;
    }
    let place = |place: &BlockPlace| format!("{} (block {})", place.pointer, place.block);
    let read = match &diff.read {
        Some(read) => format!("sent right after A, B reads up to {}", place(read)),
        None => "sent right after A, B reads nothing of it".to_owned(),
    };
    let why = diff.lookback.as_ref().map(|lookback| match &lookback.marker {
        Some(marker) => format!(
            ": A's entry at {} is more than {} positions before {}, the next marker of B",
            place(&lookback.entry),
            lookback.positions,
            place(marker)
        ),
        None => format!(": no marker of B is at or behind A's entry at {}", place(&lookback.entry)),
    });
    for line in wrap(&format!("{read}{}", why.unwrap_or_default()), page.width - 2) {
        page.line(&format!("  {line}"));
    }
}

fn heading(page: &mut Page, number: usize, number_width: usize, one: &Divergence) {
    let place = match (&one.pointer_a, one.char_offset_in_string) {
        (_, Some(char)) => format!("{}, character {}", one.pointer, grouped(i128::from(char))),
        (Some(a), None) if one.pointer_b.is_none() => format!("{a} of A"),
        (_, None) => one.pointer.clone(),
    };
    let elsewhere = match (&one.pointer_a, &one.pointer_b) {
        (Some(a), Some(b)) if a != b => format!("  (in A {a})"),
        (_, _) => String::new(),
    };
    let kind = page.paint(one.kind.as_str(), BOLD);
    let aside = if one.breaks { "" } else { "  not a break" };
    page.line(&format!("{number:>number_width$}  {kind}  {place}{elsewhere}{aside}"));
}

/// Both sides, the equal part before the difference in the same columns, and the difference marked.
fn excerpts(page: &mut Page, one: &Divergence) {
    let byte = |byte: Option<u64>| byte.map_or("-".to_owned(), |byte| grouped(i128::from(byte)));
    let (byte_a, byte_b) = (byte(one.byte_a), byte(one.byte_b));
    let wide = byte_a.len().max(byte_b.len());
    let start = INDENT + LABEL + wide + 2;
    let room = page.width - start;
    let sides =
        [("A", one.excerpt_a.as_ref(), byte_a, RED), ("B", one.excerpt_b.as_ref(), byte_b, GREEN)];
    let before = sides.iter().filter_map(|side| side.1).map(|e| columns(&visible(&e.before))).max();
    let before_max = before.unwrap_or_default().min(room / 3);
    let mut marks = (0, 0);
    for (letter, excerpt, byte, style) in sides {
        let shown = excerpt.map(|excerpt| Shown::fit(excerpt, before_max, room));
        let text = match &shown {
            Some(shown) if shown.is_empty() => page.paint("(empty)", DIM),
            Some(shown) => {
                format!("{}{}{}", shown.before, page.paint(&shown.differs, style), shown.after)
            }
            None => page.paint("(nothing)", DIM),
        };
        if let Some(shown) = &shown {
            marks = (columns(&shown.before), marks.1.max(columns(&shown.differs)));
        }
        let label = page.paint(&format!("{letter} byte"), DIM);
        page.line(&format!(
            "{:INDENT$}{label}{:pad$}{byte:>wide$}  {text}",
            "",
            "",
            pad = LABEL - 6
        ));
    }
    let in_text = sides_in_text(one);
    if in_text && marks.1 > 0 {
        let carets = page.paint(&"^".repeat(marks.1.min(room)), BOLD);
        page.line(&format!("{:pad$}{carets}", "", pad = start + marks.0));
    }
}

/// Whether the two sides have something equal around the difference, so that marks help.
fn sides_in_text(one: &Divergence) -> bool {
    let both = one.excerpt_a.as_ref().zip(one.excerpt_b.as_ref());
    both.is_some_and(|(a, _)| !a.before.is_empty() || !a.after.is_empty())
}

/// An excerpt cut to the room that there is.
struct Shown {
    before: String,
    differs: String,
    after: String,
}

impl Shown {
    fn fit(excerpt: &Excerpt, before_max: usize, room: usize) -> Shown {
        let before = keep_end(&visible(&excerpt.before), before_max);
        let left = room - columns(&before);
        let differs = keep_start(&visible(&excerpt.differs), left);
        let left = left - columns(&differs);
        let after = keep_start(&visible(&excerpt.after), left);
        Shown { before, differs, after }
    }

    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.differs.is_empty() && self.after.is_empty()
    }
}

fn explanation(page: &mut Page, diff: &Diff, one: &Divergence, advise: bool) {
    let more = match one.more_places {
        0 => String::new(),
        1 => "; one place more differs in it".to_owned(),
        more => format!("; {} places more differ in it", grouped(i128::from(more))),
    };
    page.labelled("cause", &format!("{}{more}", one.cause));
    let why = match (one.certainty, one.note) {
        (Certainty::Assumed, Some(note)) => format!(" (assumed: {note})"),
        (Certainty::Documented, Some(note)) => format!(" ({note})"),
        (_, None) => String::new(),
    };
    let api = one.api_reason.map_or(String::new(), |reason| format!("; the API says {reason}"));
    page.labelled("survives", &format!("{}{why}{api}", survivors(diff, one)));
    if advise {
        page.labelled("remedy", one.remedy);
    }
}

fn survivors(diff: &Diff, one: &Divergence) -> String {
    let Survival { tools, system, messages } = one.survives;
    match (tools, system, messages) {
        (_, _, true) => "everything that A wrote".to_owned(),
        (_, true, false) if one.valid_blocks > diff.a.blocks_before_messages => {
            format!(
                "tools, system, and messages up to block {} of {}",
                one.valid_blocks, diff.a.blocks
            )
        }
        (_, true, false) => "tools and system".to_owned(),
        (true, false, false) => "tools".to_owned(),
        (false, false, false) => "nothing".to_owned(),
    }
}

/// The divergences that are shown, with their numbers, and the others: many of one kind say no more
/// than a few do.
fn chosen(diff: &Diff) -> (Vec<(usize, &Divergence)>, Vec<&Divergence>) {
    let (mut shown, mut hidden) = (Vec::new(), Vec::new());
    let mut of_kind: BTreeMap<Kind, usize> = BTreeMap::new();
    for (index, one) in diff.divergences.iter().enumerate() {
        let count = of_kind.entry(one.kind).or_default();
        *count += 1;
        if *count <= OF_KIND_MAX && shown.len() < SHOWN_MAX {
            shown.push((index + 1, one));
        } else {
            hidden.push(one);
        }
    }
    (shown, hidden)
}

/// Divergences that are not shown, by kind.
fn rest(page: &mut Page, hidden: &[&Divergence]) {
    if hidden.is_empty() {
        return;
    }
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for one in hidden {
        let name = one.kind.as_str();
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => kinds.push((name, 1)),
        }
    }
    let list: Vec<String> = kinds.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let text = format!("and {} more (--json lists all): {}", hidden.len(), list.join(", "));
    page.line("");
    for line in wrap(&text, page.width) {
        page.line(&line);
    }
}

/// Notes, and what differs without mattering.
fn closing(page: &mut Page, diff: &Diff) {
    if !diff.notes.is_empty() || !diff.ignored.is_empty() {
        page.line("");
    }
    for note in &diff.notes {
        for (index, line) in wrap(note, page.width - 6).iter().enumerate() {
            let head = if index == 0 { page.paint("note", BOLD) } else { "    ".to_owned() };
            page.line(&format!("{head}  {line}"));
        }
    }
    if !diff.ignored.is_empty() {
        let names: Vec<&str> = diff.ignored.iter().map(|one| one.what.as_str()).collect();
        for line in wrap(&format!("differs and never matters: {}", names.join(", ")), page.width) {
            let line = page.paint(&line, DIM);
            page.line(&line);
        }
    }
}

fn plural(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        more => format!("{} {noun}s", grouped(i128::from(more))),
    }
}

/// Text on one line: line ends, tabs and other control characters as escapes.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{200b}' | '\u{feff}' | '\u{a0}' => out.extend(char.escape_unicode()),
            other if other.is_control() => out.extend(other.escape_unicode()),
            other => out.push(other),
        }
    }
    out
}

/// Columns that a terminal gives a text: two for wide letters and pictures, none for combining
/// signs.
fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(char: char) -> usize {
    match char {
        '\u{300}'..='\u{36f}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// The beginning of a text in so many columns.
fn keep_start(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for char in text.chars() {
        used += columns_of(char);
        if used > room {
            break;
        }
        out.push(char);
    }
    if room > 0 {
        out.push('…');
    }
    out
}

/// The end of a text in so many columns.
fn keep_end(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |(_, char): &(usize, char)| {
        used += columns_of(*char);
        used <= room
    };
    let start = text.char_indices().rev().take_while(fits).last();
    if room == 0 {
        return String::new();
    }
    format!("…{}", start.map_or("", |(at, _)| &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_columns_not_by_bytes() {
        assert_eq!(keep_start("日本語です", 5), "日本…");
        assert_eq!(keep_end("日本語です", 5), "…です");
        assert_eq!(keep_start("abc", 3), "abc");
        assert_eq!((keep_start("abc", 0), keep_end("abc", 0)), (String::new(), String::new()));
        assert_eq!(columns("e\u{301}x"), 2);
        assert_eq!(visible("a\n\u{1}\u{a0}"), "a\\n\\u{1}\\u{a0}");
    }
}
