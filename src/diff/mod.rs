//! Where a later request parts from an earlier one, what that loses of the prompt cache, and why.
//!
//! Files to read first: `body.rs` (a body with the places of its values), `sequence.rs` and
//! `gap.rs` (blocks that went, came or changed), `drill.rs` (the innermost place), `outcome.rs`
//! (what is said). The prompts are compared as the provider caches them; places are given on the
//! bytes as they are. Deliberately absent: sizes in tokens, prices, lifetimes and reading files.

mod align;
mod body;
mod cause;
mod changed;
mod drill;
mod excerpt;
mod fold;
mod found;
mod gap;
mod kind;
mod likeness;
mod moment;
mod outcome;
mod parameters;
mod reach;
mod sequence;
mod shape;
#[cfg(test)]
mod tests;
mod tools;

pub use body::{DiffError, Input};
pub use excerpt::Excerpt;
pub use kind::Kind;
pub use outcome::{
    BlockPlace, Diff, Divergence, Entry, FirstDivergence, Ignored, Lookback, SCHEMA_VERSION,
    Shared, Side,
};

use body::Body;
use found::{Found, Pair};

use crate::cache::CacheRules;
use crate::provider::rules::{RuleValue, apply, documented_rules};
use crate::provider::{Certainty, Provider, RenderOptions, Survival, find_model};
use crate::request::Section;

/// Compares the earlier body `a` with the later body `b` under the provider's rules and overrides
/// of them (keys of `[rules]`, applied in their order).
///
/// # Errors
/// Where an input holds no request body, or a rule cannot be set.
pub fn diff(
    a: Input<'_>,
    b: Input<'_>,
    provider: &'static dyn Provider,
    overrides: &[(String, RuleValue)],
) -> Result<Diff, DiffError> {
    let mut rules = provider.facts().rules.clone();
    set_rules(&mut rules, overrides)?;
    let options =
        RenderOptions { hash_billing_line: rules.hash_billing_line, ..RenderOptions::default() };
    let (a, b) = (Body::open(a, provider, options)?, Body::open(b, provider, options)?);
    let facts = provider.facts();
    if let Some(model) = b.model.as_ref().and_then(|model| find_model(facts, model).ok()) {
        rules = documented_rules(facts, model, facts.checked);
        set_rules(&mut rules, overrides)?;
    }
    let pair = Pair { a: &a, b: &b, provider };
    let (found, appended, ignored) = compare(pair);
    Ok(assemble(pair, found, appended, ignored, &rules))
}

fn set_rules(rules: &mut CacheRules, overrides: &[(String, RuleValue)]) -> Result<(), DiffError> {
    for (key, value) in overrides {
        apply(rules, key, value.clone())?;
    }
    Ok(())
}

/// Every divergence in the order of the prompt, the blocks that B appends, and what never matters.
fn compare(pair: Pair<'_>) -> (Vec<Found>, usize, Vec<Ignored>) {
    let (mut found, mut ignored) = parameters::compare(pair);
    found.extend(tools::compare(pair));
    let (system, _) = sequence::compare(pair, Section::System);
    let (messages, appended) = sequence::compare(pair, Section::Messages);
    found.extend(system);
    found.extend(messages);
    parameters::features(pair, &mut found);
    ignored.extend(parameters::ignored(pair));
    for one in &mut found {
        one.position = one.position.min(limit_of_rule(pair, one));
    }
    (found, appended, ignored)
}

/// Blocks of A that the rule of a parameter or feature leaves.
fn limit_of_rule(pair: Pair<'_>, found: &Found) -> usize {
    let Some(rule) = found.rule else { return usize::MAX };
    let end = |section| {
        let (start, blocks) = pair.a.section(section);
        start + blocks.len()
    };
    match rule.survives {
        Survival { messages: true, .. } => usize::MAX,
        Survival { system: true, .. } => end(Section::System),
        Survival { tools: true, .. } => end(Section::Tools),
        Survival { .. } => 0,
    }
}

/// What survives a divergence: all, where it is behind everything that A wrote; else what the
/// provider's rule leaves, or, without one, the sections before its own. So a tool more at the end
/// loses the tools, as the provider's table says, although an entry at an earlier tool is a prefix
/// still; entries are judged one by one.
fn survival(pair: Pair<'_>, one: &Found) -> Survival {
    if one.position >= pair.a.written {
        return Survival::ALL;
    }
    let by_section = match section_of(one) {
        Some(Section::Tools) if one.rule.is_none() => Survival::NOTHING,
        Some(Section::System) => Survival::TO_TOOLS,
        Some(Section::Messages) => Survival::TO_SYSTEM,
        Some(Section::Tools) | None => Survival::ALL,
    };
    one.rule.map_or(by_section, |rule| both(rule.survives, by_section))
}

fn both(one: Survival, other: Survival) -> Survival {
    Survival {
        tools: one.tools && other.tools,
        system: one.system && other.system,
        messages: one.messages && other.messages,
    }
}

/// The section that a divergence is in; `None` for a parameter.
fn section_of(one: &Found) -> Option<Section> {
    let sections = [Section::Tools, Section::System, Section::Messages];
    sections.into_iter().find(|section| section.as_str() == one.segment)
}

fn assemble(
    pair: Pair<'_>,
    found: Vec<Found>,
    appended: usize,
    ignored: Vec<Ignored>,
    rules: &CacheRules,
) -> Diff {
    let valid = found.iter().map(|one| one.position).min().unwrap_or(usize::MAX);
    let all = found.iter().map(|one| survival(pair, one));
    let segments_valid = all.fold(Survival::ALL, both);
    let shared_blocks = valid.min(pair.a.blocks.len()).min(pair.b.blocks.len());
    let is_taken = pair.a.refused.is_none() && pair.b.refused.is_none();
    let reach =
        if is_taken { reach::reach(pair, shared_blocks, rules) } else { Default::default() };
    let notes = notes(pair, &found, appended);
    let key_differs = found.iter().any(|one| one.segment == parameters::SEGMENT);
    let divergences: Vec<Divergence> = found.into_iter().map(|one| divergence(pair, one)).collect();
    let breaking = divergences.iter().find(|one| one.breaks);
    Diff {
        schema_version: SCHEMA_VERSION,
        a: side(pair.a),
        b: side(pair.b),
        is_break: !segments_valid.messages,
        first_divergence: divergences.first().map(first_divergence),
        cause: breaking.map(|one| one.cause.clone()),
        api_reason: breaking.and_then(|one| one.api_reason),
        segments_valid,
        shared: shared(pair, shared_blocks, key_differs),
        appended_blocks: appended as u64,
        entries: entries(pair.a, valid),
        read: reach.read,
        lookback: reach.lookback,
        divergences,
        ignored,
        notes,
    }
}

fn side(body: &Body<'_>) -> Side {
    let view = body.view();
    Side {
        name: body.input.name.to_owned(),
        line: body.input.line,
        body_byte: body.file_byte(view),
        body_bytes: view.raw().len() as u64,
        model: body.model.clone(),
        blocks: body.blocks.len() as u64,
        blocks_before_messages: body.section(Section::Messages).0 as u64,
        refused: body.refused.as_ref().map(|refusal| refusal.reason.clone()),
        markers: body.blocks.iter().filter(|block| block.marker.is_some()).count() as u64,
    }
}

fn first_divergence(one: &Divergence) -> FirstDivergence {
    FirstDivergence {
        pointer: one.pointer.clone(),
        pointer_a: one.pointer_a.clone(),
        pointer_b: one.pointer_b.clone(),
        byte_a: one.byte_a,
        byte_b: one.byte_b,
        char_offset_in_string: one.char_offset_in_string,
        kind: one.kind,
    }
}

/// Whole equal blocks, and the equal head of the next, unless a parameter ends what is shared.
fn shared(pair: Pair<'_>, blocks: usize, key_differs: bool) -> Shared {
    let whole: usize = pair.a.blocks[..blocks].iter().map(|block| block.prompt_bytes.len()).sum();
    let next = pair.a.blocks.get(blocks).zip(pair.b.blocks.get(blocks));
    let head = next.filter(|_| !key_differs).map_or(0, |(a, b)| {
        let bytes = a.prompt_bytes.iter().zip(b.prompt_bytes.iter());
        bytes.take_while(|(x, y)| x == y).count()
    });
    Shared { blocks: blocks as u64, prompt_bytes: (whole + head) as u64 }
}

fn entries(body: &Body<'_>, valid: usize) -> Vec<Entry> {
    let marked = body.blocks.iter().enumerate();
    let entry = |(index, block): (usize, &crate::request::RenderedBlock)| {
        Some(Entry {
            pointer: block.pointer.clone(),
            block: index as u64 + 1,
            ttl: block.marker?.label(),
            valid: index < valid,
        })
    };
    marked.filter_map(entry).collect()
}

fn divergence(pair: Pair<'_>, one: Found) -> Divergence {
    let survives = survival(pair, &one);
    let section = section_of(&one);
    let (pointer_a, byte_a) = one.a.map(|spot| (spot.pointer, spot.byte)).unzip();
    let (pointer_b, byte_b) = one.b.map(|spot| (spot.pointer, spot.byte)).unzip();
    let by_rule = one.rule.and_then(|rule| rule.api_reason);
    Divergence {
        pointer: pointer_b.clone().or_else(|| pointer_a.clone()).unwrap_or_default(),
        pointer_a,
        pointer_b,
        byte_a,
        byte_b,
        char_offset_in_string: one.char.map(|char| char as u64),
        kind: one.kind,
        segment: one.segment,
        cause: one.cause,
        remedy: one.kind.remedy(),
        excerpt_a: one.excerpt_a,
        excerpt_b: one.excerpt_b,
        blocks_a: one.blocks_a.len() as u64,
        blocks_b: one.blocks_b.len() as u64,
        more_places: one.more as u64,
        breaks: !survives.messages,
        survives,
        certainty: one.rule.map_or(Certainty::Documented, |rule| rule.certainty),
        note: one.rule.map(|rule| rule.note),
        api_reason: by_rule.or_else(|| section.map(|one| pair.provider.section_reason(one))),
        valid_blocks: one.position.min(pair.a.blocks.len()) as u64,
    }
}

fn notes(pair: Pair<'_>, found: &[Found], appended: usize) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, body) in [("A", pair.a), ("B", pair.b)] {
        if let Some(refusal) = &body.refused {
            notes.push(format!(
                "the API refuses this request ({name}, {}): {}; what B would read is left open",
                refusal.pointer, refusal.reason
            ));
        }
    }
    if pair.a.blocks.iter().all(|block| block.marker.is_none()) {
        notes.push(
            "A has no marker, so it writes nothing that could be read; the verdict is about all of \
             A's prompt"
                .to_owned(),
        );
    }
    let (last_a, last_b) = (pair.a.blocks.len(), pair.b.blocks.len());
    let at_the_end = |one: &Found| {
        one.kind == Kind::MessageEdited
            && one.blocks_a == (last_a.saturating_sub(1)..last_a)
            && one.blocks_b == (last_b.saturating_sub(1)..last_b)
    };
    if let ([one], 0) = (found, appended)
        && at_the_end(one)
        && last_a == last_b
        && one.position < pair.a.written
    {
        notes.push(
            "only the last block differs, as between the children of one fork: neither reads the \
             other's end, and both read what their parent wrote; compare each with the parent"
                .to_owned(),
        );
    }
    notes
}
