//! Whether a caller is itself a fork: a fork must not fork.
//!
//! The query source says it for certain, and it outlives a compaction of the messages. Where a
//! harness does not hand it down, the tag of the rules text in the messages is the evidence that is
//! left, and a compaction takes it away.

use std::fmt;

use super::boilerplate::OPENING_TAG;
use crate::request::{Block, Message, ResultContent, Role};

/// The query source of a fork's requests.
pub const FORK_SOURCE: &str = "agent:builtin:fork";

/// How the messages are searched for the tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
    /// A text block of a user message that starts with the tag, as the builder writes it.
    #[default]
    Structural,
    /// The tag anywhere in a text block of a user message. A conversation that quotes the tag
    /// counts as a fork (anthropics/claude-code#68233).
    Substring,
}

/// What shows that the caller is a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Its query source is [`FORK_SOURCE`].
    QuerySource,
    /// A text block with the tag.
    Tag {
        /// The message it stands in, counted from 0.
        message: usize,
        /// The block in the message, counted from 0.
        block: usize,
    },
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::QuerySource => write!(f, "its query source is {FORK_SOURCE}"),
            Evidence::Tag { message, block } => {
                write!(f, "messages[{message}].content[{block}] holds {OPENING_TAG}")
            }
        }
    }
}

/// Who calls the agent tool.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The query source of its requests, e.g. `repl_main_thread` or [`FORK_SOURCE`].
    pub query_source: &'a str,
    /// Its messages as they are now.
    pub messages: &'a [Message],
}

/// What shows that `caller` is a fork; none where nothing does.
pub fn evidence(caller: &Caller<'_>, scan: Scan) -> Option<Evidence> {
    if caller.query_source == FORK_SOURCE {
        return Some(Evidence::QuerySource);
    }
    let holds = |text: &str| match scan {
        Scan::Structural => text.starts_with(OPENING_TAG),
        Scan::Substring => text.contains(OPENING_TAG),
    };
    let of_user = caller.messages.iter().enumerate().filter(|(_, said)| said.role == Role::User);
    let mut blocks = of_user.flat_map(|(message, said)| {
        said.blocks.iter().enumerate().map(move |(block, content)| (message, block, content))
    });
    blocks.find_map(|(message, block, content)| match content {
        Block::Text(text) if holds(text) => Some(Evidence::Tag { message, block }),
        Block::Text(_)
        | Block::Thinking { .. }
        | Block::ToolUse { .. }
        | Block::ToolResult { .. }
        | Block::Other(_) => None,
    })
}

/// What a fork that wanted to fork reads instead of a child's report: a failed result of its call.
/// It costs the fork one more turn and no other request.
pub fn rejected(tool_use_id: &str, reason: &dyn fmt::Display) -> Message {
    let text = format!("No fork was started: {reason}. Finish this with your own tools.");
    let result = Block::ToolResult {
        tool_use_id: tool_use_id.to_owned(),
        content: ResultContent::Blocks(vec![Block::Text(text)]),
        is_error: true,
    };
    Message { role: Role::User, blocks: vec![result] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::boilerplate;

    fn user(text: &str) -> Message {
        Message { role: Role::User, blocks: vec![Block::Text(text.to_owned())] }
    }

    fn found(query_source: &str, messages: &[Message], scan: Scan) -> Option<Evidence> {
        evidence(&Caller { query_source, messages }, scan)
    }

    #[test]
    fn a_forks_own_directive_is_found_by_either_scan() {
        let messages = [user("Hello."), user(&boilerplate::before("Look at src."))];
        for scan in [Scan::Structural, Scan::Substring] {
            let tag = Evidence::Tag { message: 1, block: 0 };
            assert_eq!(found("sdk", &messages, scan), Some(tag), "{scan:?}");
        }
    }

    /// anthropics/claude-code#68233: an ordinary session that quotes the tag could not fork.
    #[test]
    fn a_session_that_quotes_the_tag_is_a_fork_by_the_substring_rule_only() {
        let messages = [user(&format!("Why does {OPENING_TAG} stand in my transcript?"))];
        assert_eq!(found("sdk", &messages, Scan::Structural), None);
        let tag = Evidence::Tag { message: 0, block: 0 };
        assert_eq!(found("sdk", &messages, Scan::Substring), Some(tag));
    }

    #[test]
    fn what_the_model_says_or_a_tool_gives_is_no_evidence() {
        let text = boilerplate::before("Look at src.");
        let said = Message { role: Role::Assistant, blocks: vec![Block::Text(text.clone())] };
        let given = Message {
            role: Role::User,
            blocks: vec![Block::ToolResult {
                tool_use_id: "toolu_1".to_owned(),
                content: ResultContent::Blocks(vec![Block::Text(text)]),
                is_error: false,
            }],
        };
        assert_eq!(found("sdk", &[said, given], Scan::Substring), None);
    }

    #[test]
    fn a_compaction_takes_the_tag_away_and_leaves_the_query_source() {
        let before = [user(&boilerplate::before("Look at src."))];
        let after = [user("Summary of what was said so far: …")];
        assert!(found("sdk", &before, Scan::Structural).is_some());
        assert_eq!(found("sdk", &after, Scan::Substring), None);
        assert_eq!(found(FORK_SOURCE, &after, Scan::Structural), Some(Evidence::QuerySource));
    }

    #[test]
    fn a_rejected_call_is_answered_by_a_failed_result_in_the_users_role() {
        let message = rejected("toolu_1", &"a fork cannot fork");
        assert_eq!(message.role, Role::User);
        let [Block::ToolResult { tool_use_id, is_error: true, .. }] = &message.blocks[..] else {
            panic!("one failed result: {message:?}");
        };
        assert_eq!(tool_use_id, "toolu_1");
    }
}
