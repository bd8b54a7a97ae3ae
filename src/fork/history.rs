//! Which messages of a parent a child inherits.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::request::{Block, Message};

/// The messages without the assistant messages that hold a call which nothing answers. Such a
/// message goes whole; results of the calls of others stay. Messages that need no change are
/// lent, not copied.
///
/// The filter runs on the inherited history alone, before the dispatch is cloned behind it.
pub fn without_incomplete_calls(messages: &[Message]) -> Cow<'_, [Message]> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let answered: HashSet<&str> = blocks
        .filter_map(|block| match block {
            Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            Block::Text(_) | Block::Thinking { .. } | Block::ToolUse { .. } | Block::Other(_) => {
                None
            }
        })
        .collect();
    let complete =
        |message: &Message| message.tool_use_ids().all(|called| answered.contains(called));
    if messages.iter().all(complete) {
        return Cow::Borrowed(messages);
    }
    Cow::Owned(messages.iter().filter(|message| complete(message)).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{RawJson, ResultContent, Role};
    use proptest::prelude::*;

    fn call(id: &str) -> Block {
        Block::ToolUse {
            id: id.to_owned(),
            name: "Read".to_owned(),
            input: RawJson::new("{}").unwrap(),
        }
    }

    fn result(id: &str) -> Block {
        Block::ToolResult {
            tool_use_id: id.to_owned(),
            content: ResultContent::Text("done".to_owned()),
            is_error: false,
        }
    }

    fn message(role: Role, blocks: Vec<Block>) -> Message {
        Message { role, blocks }
    }

    #[test]
    fn a_message_with_one_open_call_goes_whole_and_the_others_results_stay() {
        let messages = [
            message(Role::User, vec![Block::Text("Look.".to_owned())]),
            message(
                Role::Assistant,
                vec![Block::Text("Two calls.".to_owned()), call("a"), call("b")],
            ),
            message(Role::User, vec![result("a")]),
            message(Role::Assistant, vec![call("c")]),
            message(Role::User, vec![result("c")]),
        ];
        let kept = without_incomplete_calls(&messages);
        let expected =
            [messages[0].clone(), messages[2].clone(), messages[3].clone(), messages[4].clone()];
        assert_eq!(kept.as_ref(), expected);
    }

    #[test]
    fn a_complete_history_is_lent() {
        let messages =
            [message(Role::Assistant, vec![call("a")]), message(Role::User, vec![result("a")])];
        assert!(matches!(without_incomplete_calls(&messages), Cow::Borrowed(_)));
        assert!(matches!(without_incomplete_calls(&[]), Cow::Borrowed([])));
    }

    /// Ids of the blocks of a message, and whether they are calls or results.
    fn turn() -> impl Strategy<Value = (Vec<u8>, bool)> {
        (prop::collection::vec(0..12_u8, 0..4), any::<bool>())
    }

    proptest! {
        /// What is left has no open call, nothing else is lost, and a second time nothing happens.
        #[test]
        fn only_messages_with_open_calls_go(
            turns in prop::collection::vec(turn(), 0..12),
        ) {
            let messages: Vec<Message> = turns
                .iter()
                .map(|(ids, calls)| {
                    let role = if *calls { Role::Assistant } else { Role::User };
                    let made = if *calls { call } else { result };
                    message(role, ids.iter().map(|id| made(&id.to_string())).collect())
                })
                .collect();
            let answered: Vec<u8> =
                turns.iter().filter(|(_, calls)| !calls).flat_map(|(ids, _)| ids.clone()).collect();
            let open = |(ids, calls): &(Vec<u8>, bool)| {
                *calls && ids.iter().any(|id| !answered.contains(id))
            };
            let kept = without_incomplete_calls(&messages).into_owned();
            let expected: Vec<Message> = messages
                .iter()
                .zip(&turns)
                .filter(|(_, turn)| !open(turn))
                .map(|(message, _)| message.clone())
                .collect();
            prop_assert_eq!(&kept, &expected);
            let again = without_incomplete_calls(&kept);
            prop_assert!(matches!(again, Cow::Borrowed(_)), "{:?}", again);
        }
    }
}
