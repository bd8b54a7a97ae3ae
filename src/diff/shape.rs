//! Bodies of other APIs that could be taken for one of the Messages API.

use super::body::View;

/// Names of the other APIs in errors.
const CONVERSE: &str = "Bedrock's Converse API";
const CHAT: &str = "OpenAI's Chat Completions API";

/// Top-level members that only a body of the Converse API has.
const CONVERSE_ONLY: [&str; 3] = ["toolConfig", "inferenceConfig", "additionalModelRequestFields"];

/// Members that are the type of a block there, where the Messages API has `type`.
const CONVERSE_BLOCKS: [&str; 9] = [
    "text",
    "toolUse",
    "toolResult",
    "cachePoint",
    "image",
    "document",
    "video",
    "reasoningContent",
    "guardContent",
];

/// The place that shows that a body is of another API, and which; `None` where nothing does.
pub(super) fn other_api(body: View<'_>) -> Option<(String, &'static str)> {
    let only = CONVERSE_ONLY.into_iter().find(|key| body.get(key).is_some());
    only.map(|key| (format!("/{key}"), CONVERSE))
        .or_else(|| converse_block(body.get("system")?, "/system"))
        .or_else(|| chat_tool(body))
        .or_else(|| {
            let messages = body.get("messages")?;
            let items = messages.node.items().iter().map(|node| messages.of(node)).enumerate();
            items.into_iter().find_map(|(index, message)| in_message(index, message))
        })
}

fn converse_block(list: View<'_>, pointer: &str) -> Option<(String, &'static str)> {
    let is_converse = |view: View<'_>| {
        view.get("type").is_none() && CONVERSE_BLOCKS.iter().any(|key| view.get(key).is_some())
    };
    let at = list.node.items().iter().position(|node| is_converse(list.of(node)))?;
    Some((format!("{pointer}/{at}"), CONVERSE))
}

/// A tool in the envelope of a function.
fn chat_tool(body: View<'_>) -> Option<(String, &'static str)> {
    let tools = body.get("tools")?;
    let is_function = |view: View<'_>| {
        let function = view.get("function").is_some_and(|inner| !inner.node.members().is_empty());
        function && view.get("name").is_none()
    };
    let at = tools.node.items().iter().position(|node| is_function(tools.of(node)))?;
    Some((format!("/tools/{at}"), CHAT))
}

fn in_message(index: usize, message: View<'_>) -> Option<(String, &'static str)> {
    let pointer = format!("/messages/{index}");
    let is_tool = message.get("role").and_then(View::text).is_some_and(|role| role == "tool");
    if is_tool || message.get("tool_calls").is_some() {
        return Some((pointer, CHAT));
    }
    converse_block(message.get("content")?, &format!("{pointer}/content"))
}
