//! What keys the cache outside the blocks, and what differs without ever mattering.

use super::body::{Body, View};
use super::drill::{KeyOrder, Leaf, Shape, leaves};
use super::excerpt::cut;
use super::found::{Found, Pair, Spot, leaf_words};
use super::kind::Kind;
use super::outcome::Ignored;
use crate::provider::{Feature, KeyRule};
use crate::request::Section;
use crate::request::json::{Member, Value, write_canonical};

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

/// What a parameter says, as JSON with sorted keys and without what is the same as leaving it out:
/// null, and a default of the provider. Empty where that is all of it.
fn meaning(pair: Pair<'_>, name: &str, value: Option<View<'_>>) -> String {
    let Some(view) = value.filter(|view| view.raw() != b"null") else { return String::new() };
    let text = match &view.node.value {
        // A null deeper inside, e.g. in a schema, may mean something.
        Value::Object(members) => {
            let mut parts: Vec<String> = members
                .iter()
                .map(|member| (member, view.of(&member.node)))
                .filter(|(member, inner)| !is_left_out(pair, name, &member.key, *inner))
                .map(|(member, inner)| format!("{:?}:{}", member.key, plain(inner)))
                .collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(_) | Value::String | Value::Scalar => plain(view),
    };
    let is_default = pair.provider.key_default(name) == Some(text.as_str());
    if is_default { String::new() } else { text }
}

/// Whether a member of a parameter says what leaving it out says.
fn is_left_out(pair: Pair<'_>, name: &str, key: &str, value: View<'_>) -> bool {
    let default = pair.provider.key_default(&format!("{name}.{key}"));
    value.raw() == b"null" || default == Some(plain(value).as_str())
}

/// Canonical JSON in which the order of keys is free.
fn plain(view: View<'_>) -> String {
    let inner = |node| plain(view.of(node));
    match &view.node.value {
        Value::Object(members) => {
            let member = |one: &Member| format!("{:?}:{}", one.key, plain(view.of(&one.node)));
            let mut parts: Vec<String> = members.iter().map(member).collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inner).collect::<Vec<_>>().join(","))
        }
        Value::String | Value::Scalar => {
            let mut out = Vec::new();
            write_canonical(&mut out, view.bytes, view.node);
            String::from_utf8_lossy(&out).into_owned()
        }
    }
}

/// Divergences of parameters that key the cache, and those parameters that do not.
pub(super) fn compare(pair: Pair<'_>) -> (Vec<Found>, Vec<Ignored>) {
    let (mut found, mut ignored) = (Vec::new(), Vec::new());
    for parameter in parameters(pair) {
        let leaves = differences(&parameter);
        if leaves.is_empty() {
            continue;
        }
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
            Some(rule) => found.extend(changed(pair, &parameter, &leaves, rule)),
        }
    }
    (found, ignored)
}

/// The places at which the values differ.
fn differences<'a>(parameter: &Parameter<'a>) -> Vec<Leaf<'a>> {
    let whole = |shape| Leaf {
        path_a: String::new(),
        path_b: String::new(),
        a: parameter.a,
        b: parameter.b,
        shape,
    };
    match (parameter.a, parameter.b) {
        (Some(a), Some(b)) => leaves(a, b, KeyOrder::Free),
        (Some(_), None) => vec![whole(Shape::Removed)],
        (None, Some(_)) => vec![whole(Shape::Added)],
        (None, None) => Vec::new(),
    }
}

/// Both sides say the same, one by leaving out what the other writes.
fn is_default(pair: Pair<'_>, parameter: &Parameter<'_>) -> bool {
    let meaning = |value| meaning(pair, &parameter.name, value);
    meaning(parameter.a) == meaning(parameter.b)
}

/// The divergence of a parameter, at the first place that means something.
fn changed(
    pair: Pair<'_>,
    parameter: &Parameter<'_>,
    leaves: &[Leaf<'_>],
    rule: KeyRule,
) -> Option<Found> {
    let name = &parameter.name;
    let matters = |leaf: &&Leaf<'_>| match (leaf.a, leaf.b, member_of(leaf)) {
        (Some(only), None, Some(key)) | (None, Some(only), Some(key)) => {
            !is_left_out(pair, name, key, only)
        }
        (_, _, _) => true,
    };
    let count = leaves.iter().filter(matters).count();
    let leaf = leaves.iter().find(matters).or(leaves.first())?;
    let short = |view: Option<View<'_>>| {
        let raw = view.map(|view| view.raw_text().into_owned());
        raw.filter(|raw| raw.chars().count() <= SHORT_MAX)
    };
    let pointer = format!("/{}", name.replace('.', "/"));
    let at = match (member_of(leaf), path_of(leaf)) {
        (_, "") => name.clone(),
        (Some(key), _) => format!("{name}.{key}"),
        (None, path) => format!("{pointer}{path}"),
    };
    let cause = match (short(leaf.a), short(leaf.b)) {
        (Some(a), Some(b)) => format!("`{at}` is {a} in A and {b} in B"),
        (_, _) => match (leaf.a, leaf.b) {
            (Some(_), None) => format!("`{at}` is set in A only"),
            (None, Some(_)) => format!("`{at}` is set in B only"),
            (Some(_), Some(_)) | (None, None) => format!("`{at}`: {}", leaf_words(leaf).1),
        },
    };
    let mut found = Found::new(kind_of(name), SEGMENT, usize::MAX, cause)
        .at_leaf(pair, (&pointer, &pointer), leaf)
        .and_more(count.saturating_sub(1));
    found.rule = Some(rule);
    Some(found)
}

fn path_of<'a>(leaf: &'a Leaf<'_>) -> &'a str {
    if leaf.b.is_some() { &leaf.path_b } else { &leaf.path_a }
}

/// The name of a direct member of a parameter; `None` for an item and for what lies deeper.
fn member_of<'a>(leaf: &'a Leaf<'_>) -> Option<&'a str> {
    let key = path_of(leaf).strip_prefix('/')?;
    let is_index = key.bytes().all(|byte| byte.is_ascii_digit());
    (!is_index && !key.contains(['/', '~'])).then_some(key)
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
    let mut push = |what: &str, most: usize, a: Option<String>, b: Option<String>| {
        if a != b {
            // They are compared whole, since what differs may be behind the cut.
            let [a, b] = [a, b].map(|text| text.map(|text| cut(&text, most)));
            ignored.push(Ignored { what: what.to_owned(), a, b });
        }
    };
    push("markers", usize::MAX, markers(pair.a), markers(pair.b));
    push("billing_line", VALUE_MAX, billing_line(pair.a), billing_line(pair.b));
    let deferred = |body: &Body<'_>| {
        let names: Vec<String> = body
            .outside
            .iter()
            .filter_map(|pointer| body.node(pointer))
            .map(|tool| tool.raw_text().into_owned())
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    push("deferred_tools", VALUE_MAX, deferred(pair.a), deferred(pair.b));
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
    first.text().filter(|text| !is_rendered && !text.is_empty())
}
