//! `[fork]`: children, what they are told, and where the markers go.

use super::diagnostic::{Mistakes, code};
use super::files::Context;
use super::parent::{TOKENS_MAX, TTLS};
use super::walk::{Field, Section};
use super::{BoilerplateSpec, DirectiveSpec, ForkSpec, PlaceholderSpec, wire};
use crate::fork::gate::Era;
use crate::fork::{CloneShape, ResultShape};
use crate::request::json;
use crate::request::marker::{MARKERS_MAX, MarkerPlace, POLICIES};
use crate::request::{MarkerPolicy, MarkerSpec};
use crate::units::{CacheTtl, grouped};

/// Most children of one fork.
pub(super) const CHILDREN_MAX: u64 = 100_000;
/// Reads `fork.era`.
pub(super) fn era(section: &Section<'_>, mistakes: &mut Mistakes) -> Option<Era> {
    let words = [("today", Era::Today), ("chapter", Era::Chapter)];
    section.read("era", Era::Today, mistakes, |field, m| field.choice(&words, m))
}

/// Reads `[fork]`, whose defaults follow the era.
pub(super) fn fork(
    section: &Section<'_>,
    era: Era,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<ForkSpec> {
    let children = section.required("children", "write e.g. children = 5", mistakes);
    let children = children.and_then(|field| field.integer(1..=CHILDREN_MAX, mistakes));
    let directive = directive(section, children, ctx, mistakes);
    let boilerplate = section.read("boilerplate", BoilerplateSpec::Standard, mistakes, boilerplate);
    let placeholder = placeholder(section, era, mistakes);
    let clone = section.read("clone", CloneShape::Full, mistakes, clone);
    let results = section.read("result_content", ResultShape::Array, mistakes, |field, m| {
        field.choice(&[("array", ResultShape::Array), ("string", ResultShape::String)], m)
    });
    let policy = policy(section, mistakes);
    let ttl =
        section.read("ttl", CacheTtl::FiveMinutes, mistakes, |field, m| field.choice(&TTLS, m));
    let clone = clone?;
    has_results(section, clone, mistakes)?;
    in_one_block(section, boilerplate?, era, mistakes)?;
    Some(ForkSpec {
        children: children?,
        directive: directive?,
        boilerplate: boilerplate?,
        placeholder: placeholder?,
        results: results?,
        clone,
        policy: policy?,
        ttl: ttl?,
    })
}

/// Reads a word of which some are for later versions.
fn available<T: Clone>(
    field: &Field<'_>,
    words: &[(&str, Option<T>)],
    mistakes: &mut Mistakes,
) -> Option<T> {
    let found = field.choice(words, mistakes)?;
    if found.is_none() {
        let got = mistakes.sources.excerpt(&field.node.span);
        let message = format!("{} = {got} is not available in this version", field.key);
        let here: Vec<&str> =
            words.iter().filter(|(_, value)| value.is_some()).map(|(word, _)| *word).collect();
        let help = format!("available: {}", here.join(", "));
        field.report(code::NOT_AVAILABLE, message, help, mistakes);
    }
    found
}

fn boilerplate(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<BoilerplateSpec> {
    let words = [
        ("standard", BoilerplateSpec::Standard),
        ("none", BoilerplateSpec::None),
        ("own_block", BoilerplateSpec::OwnBlock),
    ];
    field.choice(&words, mistakes)
}

/// Reports rules text in a block of its own in the era of the chapter, whose directive stands
/// inside it.
fn in_one_block(
    section: &Section<'_>,
    boilerplate: BoilerplateSpec,
    era: Era,
    mistakes: &mut Mistakes,
) -> Option<()> {
    let apart = era == Era::Chapter && boilerplate == BoilerplateSpec::OwnBlock;
    let Some(field) = section.field("boilerplate").filter(|_| apart) else { return Some(()) };
    let message = format!(
        "{} = \"own_block\" contradicts fork.era = \"chapter\", whose directive stands inside the \
         rules text",
        field.key
    );
    let help = "set boilerplate = \"standard\" or era = \"today\"";
    field.report(code::CONTRADICTION, message, help, mistakes);
    None
}

fn clone(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<CloneShape> {
    let words =
        [("full", Some(CloneShape::Full)), ("single", None), ("excise", Some(CloneShape::Excise))];
    available(field, &words, mistakes)
}

/// Reports keys of the results where the clone has none.
fn has_results(section: &Section<'_>, clone: CloneShape, mistakes: &mut Mistakes) -> Option<()> {
    let keys = ["placeholder", "result_content"];
    let given = keys.into_iter().filter_map(|name| section.field(name));
    let mut idle = given.filter(|_| clone == CloneShape::Excise).peekable();
    let sound = idle.peek().is_none();
    for field in idle {
        let message = format!(
            "{} has no effect with fork.clone = \"excise\": no call is answered",
            field.key
        );
        field.report(code::CONTRADICTION, message, "delete it, or set clone = \"full\"", mistakes);
    }
    sound.then_some(())
}

fn directive(
    fork: &Section<'_>,
    children: Option<u64>,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<DirectiveSpec> {
    const EXAMPLE: &str = "write directive = { tokens = 200 }, { texts = [\"...\"] } or \
                           { file = \"...\" }";
    fork.required("directive", EXAMPLE, mistakes)?;
    let section = fork.table("directive", wire::DIRECTIVE, mistakes)?;
    let alone = section.at_most_one(&["tokens", "texts", "file"], mistakes);
    let (field, texts) = if let Some(field) = section.field("texts") {
        let texts = field.texts(mistakes)?.into_iter().map(str::to_owned).collect();
        (field, texts)
    } else if let Some(field) = section.field("file") {
        let texts = file_texts(&field, ctx, mistakes)?;
        (field, texts)
    } else {
        let field = section.field("tokens");
        if field.is_none() {
            section.missing(
                &section.path,
                &format!("{} is empty", section.path),
                EXAMPLE,
                mistakes,
            );
        }
        let tokens = field?.integer(1..=TOKENS_MAX, mistakes)?;
        return Some(DirectiveSpec::Sized(tokens));
    };
    let count = texts.len() as u64;
    if let Some(children) = children.filter(|children| count != 1 && count != *children) {
        let message = format!(
            "{} has {} texts for {} children",
            field.key,
            grouped(count.into()),
            grouped(children.into())
        );
        let help = format!("give one text for all, or set fork.children = {count}");
        field.report(code::CONTRADICTION, message, help, mistakes);
        return None;
    }
    alone.then_some(DirectiveSpec::Texts(texts))
}

/// The texts of a directive file: a plain text, or a JSON string or array of strings.
fn file_texts(
    field: &Field<'_>,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<Vec<String>> {
    let content = field.content(ctx, mistakes)?;
    let texts = if content.is_json() {
        let part = field.part_of(&content, "texts", mistakes)?;
        let bytes = part.text.as_bytes();
        json::parse(bytes).ok().and_then(|root| match root.value {
            json::Value::Array(items) => items.iter().map(|item| item.text(bytes)).collect(),
            json::Value::String => root.text(bytes).map(|text| vec![text]),
            json::Value::Object(_) | json::Value::Scalar => None,
        })
    } else {
        Some(vec![content.into_text()])
    };
    let texts = texts.unwrap_or_default();
    if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
        let message = format!("{}: the file holds no directive, or an empty one", field.key);
        let help = "plain text is one directive; JSON is a string or an array of strings";
        field.report(code::FILE_CONTENT, message, help, mistakes);
        return None;
    }
    Some(texts)
}

fn placeholder(fork: &Section<'_>, era: Era, mistakes: &mut Mistakes) -> Option<PlaceholderSpec> {
    let section = fork.table("placeholder", wire::PLACEHOLDER, mistakes)?;
    let alone = section.at_most_one(&["text", "tokens"], mistakes);
    let spec = if let Some(field) = section.field("tokens") {
        PlaceholderSpec::Sized(field.integer(1..=TOKENS_MAX, mistakes)?)
    } else if let Some(field) = section.field("text") {
        PlaceholderSpec::Text(field.text(mistakes)?.to_owned())
    } else {
        PlaceholderSpec::Text(crate::fork::placeholder(era).to_owned())
    };
    alone.then_some(spec)
}

fn policy(fork: &Section<'_>, mistakes: &mut Mistakes) -> Option<MarkerPolicy> {
    let alone = fork.at_most_one(&["marker_policy", "markers"], mistakes);
    if let Some(field) = fork.field("markers") {
        return markers(&field, mistakes).filter(|_| alone).map(MarkerPolicy::Explicit);
    }
    fork.read("marker_policy", MarkerPolicy::CcTail, mistakes, |field, m| {
        field.choice(&POLICIES, m)
    })
}

fn markers(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<Vec<MarkerSpec>> {
    let texts = field.texts(mistakes)?;
    let mut specs: Vec<MarkerSpec> = Vec::new();
    let mut problem = None;
    for text in &texts {
        match MarkerSpec::parse(text) {
            Ok(spec) if specs.iter().any(|other| other.place == spec.place) => {
                problem = Some((code::MARKERS, format!("marker `{text}` is set twice")));
            }
            Ok(spec) => specs.push(spec),
            Err(error) => problem = Some((code::MARKER, error.to_string())),
        }
    }
    if problem.is_none() && texts.len() > MARKERS_MAX {
        let message =
            format!("{} markers, but a request may carry at most {MARKERS_MAX}", texts.len());
        problem = Some((code::MARKERS, message));
    }
    let Some((code, message)) = problem else { return Some(specs) };
    let help = "each block at most once, at most four in all, e.g. [\"system.1\", \"directive\"]";
    field.report(code, format!("{}: {message}", field.key), help, mistakes);
    None
}

/// Reports a one-hour marker behind a five-minute one, as far as the places alone tell; the rest
/// is known when the markers are put on a request. `has_system` says whether the parent has any
/// block that a named policy marks with the parent's lifetime.
pub(super) fn check_ttl_order(
    section: &Section<'_>,
    fork: &ForkSpec,
    parent_ttl: CacheTtl,
    has_system: bool,
    mistakes: &mut Mistakes,
) {
    let late = match &fork.policy {
        MarkerPolicy::None | MarkerPolicy::Automatic => false,
        MarkerPolicy::Explicit(specs) => {
            let ttl = |spec: &MarkerSpec| {
                let default = if rank(spec.place) < 2 { parent_ttl } else { fork.ttl };
                spec.ttl.unwrap_or(default)
            };
            specs.iter().any(|early| {
                let hour_behind = |late: &MarkerSpec| {
                    rank(late.place) > rank(early.place) && ttl(late) == CacheTtl::OneHour
                };
                ttl(early) == CacheTtl::FiveMinutes && specs.iter().any(hour_behind)
            })
        }
        MarkerPolicy::CcTail
        | MarkerPolicy::BeforeDirective
        | MarkerPolicy::BeforeDirectiveAndTail
        | MarkerPolicy::SecondToLastMessage
        | MarkerPolicy::ParentEndAndTail
        | MarkerPolicy::ToolsAndTail => {
            has_system && parent_ttl == CacheTtl::FiveMinutes && fork.ttl == CacheTtl::OneHour
        }
    };
    let field = section.field("ttl").or_else(|| section.field("markers"));
    if let Some(field) = field.filter(|_| late) {
        let message = format!(
            "{} puts a 1h marker behind a 5m marker: every 1h marker must come before every 5m one",
            field.key
        );
        let help = "set parent.cache.ttl and fork.ttl to the same lifetime, or use fork.markers";
        field.report(code::CONTRADICTION, message, help, mistakes);
    }
}

/// The section of a place: tools, system, messages.
fn rank(place: MarkerPlace) -> u8 {
    match place {
        MarkerPlace::LastTool => 0,
        MarkerPlace::System(_) => 1,
        MarkerPlace::MessageLast(_)
        | MarkerPlace::MessageBlock(..)
        | MarkerPlace::Directive
        | MarkerPlace::BeforeDirective
        | MarkerPlace::ParentEnd => 2,
    }
}
