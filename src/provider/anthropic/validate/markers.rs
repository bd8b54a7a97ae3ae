//! Rules of cache markers.
//!
//! Source: platform.claude.com/docs/en/build-with-claude/prompt-caching (copy of 2026-09): at most
//! four markers, the automatic one among them; one-hour markers before five-minute ones; none on
//! thinking, on empty text, or inside a result on a block other than the last.

use super::body::{Body, Fill, Findings, Kind, is_object};
use crate::request::json::Node;
use crate::request::marker::MARKERS_MAX;
use crate::units::CacheTtl;

/// What carries a marker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Tool,
    System,
    Block(Kind),
    /// A block inside a result; the last one lends its marker to the result.
    Inner {
        is_last: bool,
    },
}

/// One marker on a block.
struct Marker<'a> {
    carrier: Carrier,
    owner: &'a Node,
    node: &'a Node,
}

/// All markers on blocks in prompt order: tools, system, messages.
fn explicit<'a>(body: &Body<'a>) -> Vec<Marker<'a>> {
    let mut markers = Vec::new();
    let mut take = |carrier, owner: &'a Node| {
        if let Some(node) = body.member(owner, "cache_control") {
            markers.push(Marker { carrier, owner, node });
        }
    };
    body.tools().iter().for_each(|tool| take(Carrier::Tool, tool));
    body.system().iter().for_each(|block| take(Carrier::System, block));
    for block in body.messages.iter().flat_map(|message| &message.blocks) {
        if block.kind == Kind::ToolResult {
            let inner = block.node.get("content").map_or(&[][..], Node::items);
            for (at, node) in inner.iter().enumerate() {
                take(Carrier::Inner { is_last: at + 1 == inner.len() }, node);
            }
        }
        take(Carrier::Block(block.kind), block.node);
    }
    markers
}

fn automatic<'a>(body: &Body<'a>) -> Option<&'a Node> {
    body.member(body.root, "cache_control")
}

/// The lifetime that a marker asks for; `None` where it is none that exists.
fn lifetime(body: &Body<'_>, marker: &Node) -> Option<CacheTtl> {
    let Some(ttl) = body.member(marker, "ttl") else { return Some(CacheTtl::FiveMinutes) };
    match ttl.text(body.bytes).as_deref() {
        Some("5m") => Some(CacheTtl::FiveMinutes),
        Some("1h") => Some(CacheTtl::OneHour),
        Some(_) | None => None,
    }
}

/// The marker on the block that the automatic marker falls on: the last one that can carry any.
/// The outer `None` says that this block has no marker.
fn marker_on_last_block<'a>(body: &Body<'a>) -> Option<&'a Node> {
    for message in body.messages.iter().rev() {
        if message
            .content
            .is_some_and(|content| content.is_string() && body.fill(content) != Fill::Empty)
        {
            return None;
        }
        let can_carry = |kind: Kind, node: &Node| match kind {
            Kind::Thinking | Kind::RedactedThinking | Kind::Untyped => false,
            Kind::Text => node.get("text").is_some_and(|text| body.fill(text) != Fill::Empty),
            Kind::ToolUse | Kind::ToolResult | Kind::Media | Kind::Other => true,
        };
        let mut blocks = message.blocks.iter().rev();
        if let Some(block) = blocks.find(|block| can_carry(block.kind, block.node)) {
            return body.member(block.node, "cache_control");
        }
    }
    None
}

/// At most four markers, the automatic one among them.
pub(super) fn too_many(body: &Body<'_>, findings: &mut Findings<'_>) {
    let explicit = explicit(body);
    let count = explicit.len() + usize::from(automatic(body).is_some());
    if count > MARKERS_MAX {
        let at = explicit.get(MARKERS_MAX).map(|marker| marker.node).or(automatic(body));
        let reason = format!("{count} cache markers, at most {MARKERS_MAX} are allowed");
        findings.add(at.unwrap_or(body.root), reason);
    }
}

fn check_shape(body: &Body<'_>, findings: &mut Findings<'_>, marker: &Node) {
    if !is_object(marker) || !body.says(marker, "type", "ephemeral") {
        findings.add(marker, "a cache marker must be an object of type `ephemeral`");
    }
}

fn check_ttl(body: &Body<'_>, findings: &mut Findings<'_>, marker: &Node) {
    if lifetime(body, marker).is_none() {
        let at = marker.get("ttl").unwrap_or(marker);
        findings.add(at, "`ttl` of a cache marker must be `5m` or `1h`");
    }
}

/// A marker is of type `ephemeral`.
pub(super) fn shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    explicit(body).iter().for_each(|marker| check_shape(body, findings, marker.node));
}

/// A marker lives five minutes or an hour.
pub(super) fn ttl(body: &Body<'_>, findings: &mut Findings<'_>) {
    explicit(body).iter().for_each(|marker| check_ttl(body, findings, marker.node));
}

/// The automatic marker is one of type `ephemeral` with a lifetime that exists.
pub(super) fn automatic_shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    if let Some(marker) = automatic(body) {
        check_shape(body, findings, marker);
        check_ttl(body, findings, marker);
    }
}

/// Thinking carries no marker.
pub(super) fn on_thinking(body: &Body<'_>, findings: &mut Findings<'_>) {
    for marker in explicit(body) {
        if let Carrier::Block(Kind::Thinking | Kind::RedactedThinking) = marker.carrier {
            findings.add(marker.node, "thinking cannot carry a cache marker");
        }
    }
}

/// Empty text carries no marker.
pub(super) fn on_empty_text(body: &Body<'_>, findings: &mut Findings<'_>) {
    for marker in explicit(body).iter().filter(|marker| marker.carrier != Carrier::Tool) {
        let text = marker.owner.get("text").filter(|text| text.is_string());
        if text.is_some_and(|text| body.fill(text) == Fill::Empty) {
            findings.add(marker.node, "empty text cannot carry a cache marker");
        }
    }
}

/// Inside a result only the last block carries a marker.
pub(super) fn on_inner_block(body: &Body<'_>, findings: &mut Findings<'_>) {
    for marker in explicit(body) {
        if marker.carrier == (Carrier::Inner { is_last: false }) {
            findings.add(marker.node, "inside a result only the last block carries a cache marker");
        }
    }
}

/// One-hour markers stand before all five-minute ones. The automatic marker is the last, unless
/// the block it falls on has its own.
pub(super) fn order(body: &Body<'_>, findings: &mut Findings<'_>) {
    let mut markers: Vec<&Node> = explicit(body).iter().map(|marker| marker.node).collect();
    markers.extend(automatic(body).filter(|_| marker_on_last_block(body).is_none()));
    let mut five_minutes_seen = false;
    for marker in markers {
        match lifetime(body, marker) {
            Some(CacheTtl::FiveMinutes) => five_minutes_seen = true,
            Some(CacheTtl::OneHour) if five_minutes_seen => {
                findings.add(marker, "a one-hour marker must not stand behind a five-minute one");
            }
            Some(CacheTtl::OneHour) | None => {}
        }
    }
}

/// The automatic marker agrees with the one that its block has already.
pub(super) fn automatic_conflict(body: &Body<'_>, findings: &mut Findings<'_>) {
    let Some(automatic) = automatic(body) else { return };
    let Some(own) = marker_on_last_block(body) else { return };
    if let (Some(one), Some(other)) = (lifetime(body, automatic), lifetime(body, own))
        && one != other
    {
        findings.add(automatic, "the automatic marker and the last block's ask for two lifetimes");
    }
}
