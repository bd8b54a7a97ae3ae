//! What keys the cache outside the blocks, and what differs without ever mattering.

use super::body::{Body, View};
use super::drill::{KeyOrder, Leaf, Shape, leaves};
use super::excerpt::cut;
use super::found::{Found, Pair, Spot, leaf_words};
use super::kind::Kind;
use super::outcome::Ignored;
use crate::provider::{Feature, KeyRule};
use crate::request::Section;

/// The parts of a prompt; everything else at the top of a body is a parameter.
const PROMPT: [&str; 3] = ["tools", "system", "messages"];

/// A parameter whose members are parameters of their own.
const NESTED: &str = "output_config";

/// Most characters of a value under `ignored`.
const VALUE_MAX: usize = 60;

/// Most characters of a value in a cause.
const SHORT_MAX: usize = 40;

/// The segment of a divergence outside the blocks.
pub(super) const SEGMENT: &str = "parameters";

/// A parameter: its dotted path and its value on both sides.
struct Parameter<'a> {
    name: String,
    a: Option<View<'a>>,
    b: Option<View<'a>>,
}

/// Every parameter of either body, the model first, then by name.
fn parameters<'a>(pair: Pair<'a>) -> Vec<Parameter<'a>> {
    let mut names = vec!["model".to_owned()];
    for body in [pair.a, pair.b] {
        for member in body.view().node.members() {
            let inner = member.node.members();
            if member.key == NESTED && !inner.is_empty() {
                names.extend(inner.iter().map(|inner| format!("{NESTED}.{}", inner.key)));
            } else if !PROMPT.contains(&member.key.as_str()) && member.key != NESTED {
                names.push(member.key.clone());
            }
        }
    }
    names[1..].sort_unstable();
    names.dedup();
    names.retain(|name| !name.is_empty());
    let first = names.iter().rposition(|name| name == "model").unwrap_or(0);
    if first > 0 {
        names.remove(first);
    }
    let named = |name: String| {
        let (a, b) = (value(pair.a, &name), value(pair.b, &name));
        Parameter { name, a, b }
    };
    names.into_iter().map(named).collect()
}

fn value<'a>(body: &'a Body<'_>, name: &str) -> Option<View<'a>> {
    if name == "model" {
        return body.model_view();
    }
    match name.strip_prefix(NESTED).and_then(|rest| rest.strip_prefix('.')) {
        Some(inner) => body.view().get(NESTED)?.get(inner),
        None => body.view().get(name),
    }
}

/// Divergences of parameters that key the cache, and those parameters that do not.
pub(super) fn compare(pair: Pair<'_>) -> (Vec<Found>, Vec<Ignored>) {
    let (mut found, mut ignored) = (Vec::new(), Vec::new());
    for parameter in parameters(pair) {
        let Some(leaf) = difference(&parameter) else { continue };
        let text = |view: Option<View<'_>>| view.map(|view| cut(&view.raw_text(), VALUE_MAX));
        let (a, b) = (text(parameter.a), text(parameter.b));
        let is_marker = parameter.name == "cache_control";
        match pair.provider.key_rule(&parameter.name) {
            _ if is_marker => {}
            None => ignored.push(Ignored { what: parameter.name, a, b }),
            Some(_) if is_default(pair, &parameter) => {
                let what = format!("{} (left out is the default)", parameter.name);
                ignored.push(Ignored { what, a, b });
            }
            Some(rule) => found.push(changed(pair, &parameter, &leaf, rule)),
        }
    }
    (found, ignored)
}

/// The first place at which the values differ.
fn difference<'a>(parameter: &Parameter<'a>) -> Option<Leaf<'a>> {
    let whole = |shape| Leaf {
        path_a: String::new(),
        path_b: String::new(),
        a: parameter.a,
        b: parameter.b,
        shape,
    };
    match (parameter.a, parameter.b) {
        (Some(a), Some(b)) => leaves(a, b, KeyOrder::Free).into_iter().next(),
        (Some(_), None) => Some(whole(Shape::Removed)),
        (None, Some(_)) => Some(whole(Shape::Added)),
        (None, None) => None,
    }
}

/// One side leaves the parameter out and the other sets what that means.
fn is_default(pair: Pair<'_>, parameter: &Parameter<'_>) -> bool {
    let default = pair.provider.key_default(&parameter.name);
    match (parameter.a, parameter.b) {
        (Some(set), None) | (None, Some(set)) => {
            default.is_some_and(|default| default.as_bytes() == set.raw())
        }
        (Some(_), Some(_)) | (None, None) => false,
    }
}

fn changed(pair: Pair<'_>, parameter: &Parameter<'_>, leaf: &Leaf<'_>, rule: KeyRule) -> Found {
    let name = &parameter.name;
    let short = |view: Option<View<'_>>| {
        let raw = view.map(|view| view.raw_text().into_owned());
        raw.filter(|raw| raw.chars().count() <= SHORT_MAX)
    };
    let at = last_key(leaf).map_or(name.clone(), |inner| format!("{name}.{inner}"));
    let cause = match (short(leaf.a), short(leaf.b)) {
        (Some(a), Some(b)) => format!("`{at}` is {a} in A and {b} in B"),
        (_, _) => match (leaf.a, leaf.b) {
            (Some(_), None) => format!("`{at}` is set in A only"),
            (None, Some(_)) => format!("`{at}` is set in B only"),
            (Some(_), Some(_)) | (None, None) => format!("`{at}`: {}", leaf_words(leaf).1),
        },
    };
    let pointer = format!("/{}", name.replace('.', "/"));
    let mut found = Found::new(kind_of(name), SEGMENT, usize::MAX, cause).at_leaf(
        pair,
        (&pointer, &pointer),
        leaf,
    );
    found.rule = Some(rule);
    found
}

/// The name of the innermost member.
fn last_key<'a>(leaf: &'a Leaf<'_>) -> Option<&'a str> {
    let path = if leaf.b.is_some() { &leaf.path_b } else { &leaf.path_a };
    path.rsplit('/').next().filter(|key| !key.is_empty())
}

fn kind_of(name: &str) -> Kind {
    match name {
        "model" => Kind::ModelChanged,
        "thinking" => Kind::ThinkingChanged,
        "output_config.effort" => Kind::EffortChanged,
        "output_config.format" | "output_format" => Kind::OutputFormatChanged,
        "tool_choice" => Kind::ToolChoiceChanged,
        "speed" => Kind::SpeedChanged,
        "betas" | "anthropic_beta" => Kind::BetasChanged,
        _ => Kind::ParameterChanged,
    }
}

/// What is used in the messages of one body only keys the cache: it joins the divergence that is
/// about the block where it is used, or is one of its own.
pub(super) fn features(pair: Pair<'_>, found: &mut Vec<Found>) {
    let of = |body: &Body<'_>| pair.provider.features(body.input.bytes, body.view().node);
    let (in_a, in_b) = (of(pair.a), of(pair.b));
    let lacks = |features: &[Feature], name| !features.iter().any(|other| other.name == name);
    for feature in in_a.iter().filter(|feature| lacks(&in_b, feature.name)) {
        toggled(pair, feature, Only::A, found);
    }
    for feature in in_b.iter().filter(|feature| lacks(&in_a, feature.name)) {
        toggled(pair, feature, Only::B, found);
    }
}

/// The body that has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Only {
    A,
    B,
}

fn toggled(pair: Pair<'_>, feature: &Feature, only: Only, found: &mut Vec<Found>) {
    let Some(rule) = pair.provider.key_rule(feature.name) else { return };
    let body = match only {
        Only::A => pair.a,
        Only::B => pair.b,
    };
    let inside = |pointer: &str, outer: &str| {
        pointer.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let block = body.blocks.iter().position(|block| inside(&feature.pointer, &block.pointer));
    let about = found.iter_mut().find(|found| {
        let range = match only {
            Only::A => &found.blocks_a,
            Only::B => &found.blocks_b,
        };
        found.segment != SEGMENT && block.is_some_and(|block| range.contains(&block))
    });
    if let Some(about) = about {
        about.rule = Some(rule);
        about.cause.push_str(&format!("; {} are used in {} only", feature.name, only.name()));
        return;
    }
    let kind = match feature.name {
        "citations" => Kind::CitationsToggled,
        _ => Kind::ImagesToggled,
    };
    let cause = format!("{} are used in {} only", feature.name, only.name());
    let mut one = Found::new(kind, Section::Messages.as_str(), pair.a.blocks.len(), cause);
    let spot = body
        .node(&feature.pointer)
        .map(|view| Spot { pointer: feature.pointer.clone(), byte: body.file_byte(view) });
    match only {
        Only::A => one.a = spot,
        Only::B => one.b = spot,
    }
    one.rule = Some(rule);
    found.push(one);
}

impl Only {
    fn name(self) -> &'static str {
        match self {
            Only::A => "A",
            Only::B => "B",
        }
    }
}

/// Markers, the billing line and tools outside the prefix, where they differ.
pub(super) fn ignored(pair: Pair<'_>) -> Vec<Ignored> {
    let mut ignored = Vec::new();
    let mut push = |what: &str, a: Option<String>, b: Option<String>| {
        if a != b {
            ignored.push(Ignored { what: what.to_owned(), a, b });
        }
    };
    push("markers", markers(pair.a), markers(pair.b));
    push("billing_line", billing_line(pair.a), billing_line(pair.b));
    let deferred = |body: &Body<'_>| {
        let names: Vec<String> = body
            .outside
            .iter()
            .filter_map(|pointer| body.node(pointer))
            .map(|tool| tool.raw_text().into_owned())
            .collect();
        (!names.is_empty()).then(|| cut(&names.join(", "), VALUE_MAX))
    };
    push("deferred_tools", deferred(pair.a), deferred(pair.b));
    ignored
}

/// Pointers of the marked blocks with their lifetimes.
fn markers(body: &Body<'_>) -> Option<String> {
    let marked: Vec<String> = body
        .blocks
        .iter()
        .filter_map(|block| block.marker.map(|ttl| format!("{} ({})", block.pointer, ttl.label())))
        .collect();
    (!marked.is_empty()).then(|| marked.join(", "))
}

/// The first system block where it is not among the blocks of the prefix.
fn billing_line(body: &Body<'_>) -> Option<String> {
    let system = body.view().get("system")?;
    let (first, pointer) = match system.node.items().first() {
        Some(block) => (system.of(block).get("text")?, "/system/0"),
        None => (system, "/system"),
    };
    let is_rendered = body.blocks.iter().any(|block| block.pointer == pointer);
    first.text().filter(|text| !is_rendered && !text.is_empty()).map(|text| cut(&text, VALUE_MAX))
}
