//! Rules of calls and their results.
//!
//! Messages of one role in a row count as one turn, since the API joins them. Sources: Anthropic's
//! documentation of tool use (all results of a turn in the next user turn, results first), and
//! answers of the API: anthropics/claude-code#8210 (2025-09-26, call without result) and #18947
//! (2026-01-18, result without call).

use std::collections::HashSet;

use super::body::{BlockView, Body, Findings, Kind, MessageView};
use crate::request::Role;

type Turn<'t, 'a> = &'t [MessageView<'a>];

fn blocks<'t, 'a>(turn: Turn<'t, 'a>) -> impl Iterator<Item = &'t BlockView<'a>> {
    turn.iter().flat_map(|message| &message.blocks)
}

fn ids<'t>(turn: Option<&Turn<'t, '_>>, role: Role, kind: Kind) -> HashSet<&'t str> {
    let turn: Turn<'t, '_> =
        turn.filter(|turn| turn[0].role == Some(role)).map_or(&[], |turn| turn);
    let of_kind = blocks(turn).filter(|block| block.kind == kind);
    of_kind.filter_map(|block| block.id.as_deref()).collect()
}

/// Each call is answered in the turn behind it.
pub(super) fn unanswered_call(body: &Body<'_>, findings: &mut Findings<'_>) {
    let turns: Vec<_> = body.turns().collect();
    for (at, turn) in turns.iter().enumerate() {
        if turn[0].role != Some(Role::Assistant) {
            continue;
        }
        let answers = ids(turns.get(at + 1), Role::User, Kind::ToolResult);
        for call in blocks(turn).filter(|block| block.kind == Kind::ToolUse) {
            if let Some(id) = call.id.as_deref().filter(|id| !answers.contains(id)) {
                let reason = format!("the call `{id}` has no result in the next message");
                findings.add(call.node, reason);
            }
        }
    }
}

/// Each result answers a call of the turn before it.
pub(super) fn foreign_result(body: &Body<'_>, findings: &mut Findings<'_>) {
    let turns: Vec<_> = body.turns().collect();
    for (at, turn) in turns.iter().enumerate() {
        if turn[0].role != Some(Role::User) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| turns.get(before));
        let calls = ids(before, Role::Assistant, Kind::ToolUse);
        for result in blocks(turn).filter(|block| block.kind == Kind::ToolResult) {
            if let Some(id) = result.id.as_deref().filter(|id| !calls.contains(id)) {
                let reason = format!("the result answers `{id}`, no call of the message before");
                findings.add(result.node, reason);
            }
        }
    }
}

/// A call is answered once.
pub(super) fn second_result(body: &Body<'_>, findings: &mut Findings<'_>) {
    for turn in body.turns() {
        let mut seen = HashSet::new();
        for result in blocks(turn).filter(|block| block.kind == Kind::ToolResult) {
            if let Some(id) = result.id.as_deref().filter(|id| !seen.insert(*id)) {
                findings.add(result.node, format!("the call `{id}` has more than one result"));
            }
        }
    }
}

/// Text and media stand behind the results of their turn.
pub(super) fn content_before_result(body: &Body<'_>, findings: &mut Findings<'_>) {
    for turn in body.turns().filter(|turn| turn[0].role == Some(Role::User)) {
        let said = |message: &MessageView<'_>| {
            message.content.filter(|content| content.is_string()).map(|content| content.span.start)
        };
        let starts = blocks(turn)
            .filter(|block| matches!(block.kind, Kind::Text | Kind::Media))
            .map(|block| block.node.span.start)
            .chain(turn.iter().filter_map(said));
        let Some(first) = starts.min() else { continue };
        let late = |block: &&BlockView<'_>| {
            block.kind == Kind::ToolResult && block.node.span.start > first
        };
        for result in blocks(turn).filter(late) {
            findings.add(result.node, "results must stand before all other content of the turn");
        }
    }
}
