//! Session files of Claude Code: one JSON record a line, one block a record.

use std::collections::{HashMap, HashSet};

use super::prompt;
use super::source::{ImportError, Source};
use crate::request::json::{Node, Value};
use crate::request::{Block, Message, Role};

/// Reads the conversation of a session file, as the next request would carry it.
///
/// * The chain of `parentUuid` that leads to the last record is taken; a file without links is
///   taken in file order. Records of abandoned branches are left out. Parallel calls branch too:
///   all records of one response (same `message.id`) and the results of all its calls belong to
///   the chain. The chain starts behind the last compaction, with its summary, since a request
///   carries nothing of what was before. A microcompaction leaves no trace: the results that it
///   cleared are kept whole.
/// * Only `user` and `assistant` records count, without side chains, meta records and synthetic
///   answers. A file of side-chain records alone is a sub-agent's own session and is read whole.
/// * Records of one response are one message; user records behind it are one message, results
///   first. Blank text is left out.
/// * A response with a call that was never answered is left out with the results of its other
///   calls.
/// * The history starts and ends with a user message: leading responses and a final response
///   without calls are left out.
///
/// # Errors
/// Where a line is not a JSON object of that shape, is cut off, or no user message remains.
pub fn transcript(jsonl: &str) -> Result<Vec<Message>, ImportError> {
    let records = records(jsonl)?;
    let chain = chain(&records);
    let messages = messages(steps(records, &chain));
    if messages.is_empty() {
        return Err(ImportError::whole("no user message in this session file"));
    }
    Ok(messages)
}

/// One line that is part of the tree of records.
struct Record {
    uuid: Option<String>,
    parent: Option<String>,
    speech: Option<Speech>,
}

/// What a record adds to the conversation.
struct Speech {
    is_assistant: bool,
    message_id: Option<String>,
    blocks: Vec<Block>,
}

impl Record {
    fn answers(&self) -> impl Iterator<Item = &str> {
        let blocks = self.speech.iter().filter(|speech| !speech.is_assistant);
        blocks.flat_map(|speech| &speech.blocks).filter_map(answered)
    }
}

fn answered(block: &Block) -> Option<&str> {
    match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        Block::Text(_) | Block::Thinking { .. } | Block::ToolUse { .. } | Block::Other(_) => None,
    }
}

fn called(block: &Block) -> Option<&str> {
    match block {
        Block::ToolUse { id, .. } => Some(id),
        Block::Text(_) | Block::Thinking { .. } | Block::ToolResult { .. } | Block::Other(_) => {
            None
        }
    }
}

fn is_blank(block: &Block) -> bool {
    matches!(block, Block::Text(text) if text.trim().is_empty())
}

/// The records of the main chain, or of the side chain where the file holds nothing else.
fn records(jsonl: &str) -> Result<Vec<Record>, ImportError> {
    if jsonl.trim().is_empty() {
        return Err(ImportError::whole("the file is empty"));
    }
    let mut main = Vec::new();
    let mut side = Vec::new();
    let mut seen = HashSet::new();
    for (index, line) in jsonl.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let source = Source::parse_line(line, index + 1)?;
        let record = record(&source)?;
        if record.uuid.as_ref().is_some_and(|uuid| !seen.insert(uuid.clone())) {
            continue;
        }
        if source.flag(source.root(), "isSidechain") { &mut side } else { &mut main }.push(record);
    }
    let speaks = main.iter().any(|record| record.speech.is_some());
    Ok(if speaks { main } else { side })
}

fn record(source: &Source<'_>) -> Result<Record, ImportError> {
    let root = source.root();
    if !matches!(root.value, Value::Object(_)) {
        let kind = source.kind(root);
        let message = format!("a line of a session file must be an object, got {kind}");
        return Err(source.error(root, message));
    }
    let uuid = source.string(root, "uuid");
    let parent = source.string(root, "parentUuid");
    let speech = match source.string(root, "type").as_deref() {
        Some("user") if !source.flag(root, "isMeta") => Some(speech(source, root, false)?),
        Some("assistant") if !is_synthetic(source, root) => Some(speech(source, root, true)?),
        Some(_) | None => None,
    };
    Ok(Record { uuid, parent, speech })
}

fn is_synthetic(source: &Source<'_>, root: &Node) -> bool {
    let model = root.get("message").and_then(|message| source.string(message, "model"));
    model.as_deref() == Some("<synthetic>")
}

fn speech(source: &Source<'_>, root: &Node, is_assistant: bool) -> Result<Speech, ImportError> {
    let Some(message) = root.get("message") else {
        return Err(source.error(root, "a user or assistant record must have `message`"));
    };
    let mut blocks = prompt::content(source, message)?;
    blocks.retain(|block| !is_blank(block));
    Ok(Speech { is_assistant, message_id: source.string(message, "id"), blocks })
}

/// Which records belong to the chain that leads to the last one.
fn chain(records: &[Record]) -> Vec<bool> {
    let last = records.iter().rposition(|record| record.speech.is_some());
    let Some(last) = last.filter(|last| records[*last].uuid.is_some()) else {
        return vec![true; records.len()];
    };
    let by_uuid: HashMap<&str, usize> = records
        .iter()
        .enumerate()
        .filter_map(|(index, record)| Some((record.uuid.as_deref()?, index)))
        .collect();
    let mut taken = vec![false; records.len()];
    let mut next = Some(last);
    while let Some(index) = next.filter(|index| !taken[*index]) {
        taken[index] = true;
        next = records[index].parent.as_deref().and_then(|uuid| by_uuid.get(uuid).copied());
    }
    take_parallel(records, &mut taken);
    taken
}

/// Adds what stands on the side branches of parallel calls: the other records of a response, and
/// the results of its calls.
fn take_parallel(records: &[Record], taken: &mut [bool]) {
    let responses = |record: &Record| {
        let speech = record.speech.as_ref().filter(|speech| speech.is_assistant)?;
        speech.message_id.clone()
    };
    let on_chain = |taken: &[bool]| {
        let pairs = records.iter().zip(taken).filter(|(_, taken)| **taken);
        pairs.map(|(record, _)| record).collect::<Vec<_>>()
    };
    let ids: HashSet<String> = on_chain(taken).into_iter().filter_map(responses).collect();
    for (record, taken) in records.iter().zip(taken.iter_mut()) {
        *taken |= responses(record).is_some_and(|id| ids.contains(&id));
    }
    let chain = on_chain(taken);
    let speeches = chain.iter().filter_map(|record| record.speech.as_ref());
    let calls: HashSet<&str> =
        speeches.flat_map(|speech| &speech.blocks).filter_map(called).collect();
    let mut answers: HashSet<&str> = chain.iter().flat_map(|record| record.answers()).collect();
    for (record, taken) in records.iter().zip(taken.iter_mut()).filter(|(_, taken)| !**taken) {
        let mut results = record.answers().peekable();
        let is_answer = results.peek().is_some();
        if is_answer && results.all(|id| calls.contains(id) && !answers.contains(id)) {
            answers.extend(record.answers());
            *taken = true;
        }
    }
}

/// One response, the results of its calls, and what the user says then. The first step of a
/// conversation has no response.
#[derive(Default)]
struct Step {
    message_id: Option<String>,
    said: Vec<Block>,
    results: Vec<Block>,
    then: Vec<Block>,
}

impl Step {
    fn is_answered(&self) -> bool {
        let answers: HashSet<&str> = self.results.iter().filter_map(answered).collect();
        self.said.iter().filter_map(called).all(|id| answers.contains(id))
    }
}

fn steps(records: Vec<Record>, chain: &[bool]) -> Vec<Step> {
    let mut steps = vec![Step::default()];
    let mut step_of_call: HashMap<String, usize> = HashMap::new();
    let mut answers: HashSet<String> = HashSet::new();
    let taken = records.into_iter().zip(chain).filter(|(_, taken)| **taken);
    for speech in taken.filter_map(|(record, _)| record.speech) {
        if speech.is_assistant {
            let step = step_of_response(&mut steps, speech.message_id);
            for block in speech.blocks {
                let id = called(&block).map(str::to_owned);
                if id.is_none_or(|id| step_of_call.insert(id, step).is_none()) {
                    steps[step].said.push(block);
                }
            }
            continue;
        }
        let last = steps.len() - 1;
        for block in speech.blocks {
            match answered(&block) {
                Some(id) => {
                    let step = step_of_call.get(id).copied();
                    if let Some(step) = step.filter(|_| answers.insert(id.to_owned())) {
                        steps[step].results.push(block);
                    }
                }
                None => steps[last].then.push(block),
            }
        }
    }
    steps
}

/// The step of the response with that id: its records are not always adjacent, because a tool may
/// end before the response does.
fn step_of_response(steps: &mut Vec<Step>, message_id: Option<String>) -> usize {
    let same = |step: &Step| step.message_id.is_some() && step.message_id == message_id;
    if let Some(step) = steps.iter().rposition(same) {
        return step;
    }
    steps.push(Step { message_id, ..Step::default() });
    steps.len() - 1
}

/// Alternating messages, from the first to the last user message.
fn messages(steps: Vec<Step>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for step in steps {
        let leads = messages.is_empty() && !step.said.is_empty();
        if step.is_answered() && !leads {
            push(&mut messages, Role::Assistant, step.said);
            push(&mut messages, Role::User, step.results);
        }
        push(&mut messages, Role::User, step.then);
    }
    if messages.last().is_some_and(|message| message.role == Role::Assistant) {
        messages.pop();
    }
    messages
}

fn push(messages: &mut Vec<Message>, role: Role, blocks: Vec<Block>) {
    if blocks.is_empty() {
        return;
    }
    match messages.last_mut() {
        Some(last) if last.role == role => last.blocks.extend(blocks),
        Some(_) | None => messages.push(Message { role, blocks }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: &str, [uuid, parent]: [&str; 2], message: &str) -> String {
        let place = format!(r#""uuid":"{uuid}","parentUuid":"{parent}""#);
        format!(r#"{{"type":"{kind}",{place},"message":{{{message}}}}}"#)
    }

    fn user(uuid: &str, parent: &str, content: &str) -> String {
        line("user", [uuid, parent], &format!(r#""role":"user","content":{content}"#))
    }

    fn said(uuid: &str, parent: &str, id: &str, block: &str) -> String {
        let message = format!(r#""id":"{id}","model":"m","role":"assistant","content":[{block}]"#);
        line("assistant", [uuid, parent], &message)
    }

    fn call(id: &str) -> String {
        format!(r#"{{"type":"tool_use","id":"{id}","name":"n","input":{{}}}}"#)
    }

    fn result(id: &str) -> String {
        format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]"#)
    }

    fn text(words: &str) -> String {
        format!(r#"{{"type":"text","text":"{words}"}}"#)
    }

    /// One word a message: `u` or `a` and the kinds of its blocks.
    fn layout(lines: &[String]) -> Vec<String> {
        let word = |block: &Block| match block {
            Block::Text(text) => text.clone(),
            Block::Thinking { .. } => "thinking".to_owned(),
            Block::ToolUse { id, .. } => format!("+{id}"),
            Block::ToolResult { tool_use_id, .. } => format!("-{tool_use_id}"),
            Block::Other(_) => "other".to_owned(),
        };
        let messages = transcript(&lines.join("\n")).unwrap();
        let line = |message: &Message| {
            let words: Vec<String> = message.blocks.iter().map(word).collect();
            format!("{}: {}", message.role.as_str(), words.join(" "))
        };
        messages.iter().map(line).collect()
    }

    #[test]
    fn parallel_calls_are_joined_across_their_branches() {
        // The result of c1 hangs on the record of c1, beside the record of c2.
        let lines = [
            user("1", "", "\"go\""),
            said("2", "1", "m1", &text("sure")),
            said("3", "2", "m1", &call("c1")),
            user("5", "3", &result("c1")),
            said("4", "3", "m1", &call("c2")),
            user("6", "4", &result("c2")),
            said("7", "6", "m2", &text("done")),
            user("8", "7", "\"more\""),
        ];
        assert_eq!(
            layout(&lines),
            [
                "user: go",
                "assistant: sure +c1 +c2",
                "user: -c1 -c2",
                "assistant: done",
                "user: more"
            ]
        );
    }

    #[test]
    fn an_abandoned_branch_is_left_out() {
        let lines = [
            user("1", "", "\"go\""),
            said("2", "1", "m1", &text("wrong")),
            user("3", "2", "\"no\""),
            said("4", "1", "m2", &text("right")),
            user("5", "4", "\"yes\""),
        ];
        assert_eq!(layout(&lines), ["user: go", "assistant: right", "user: yes"]);
    }

    #[test]
    fn a_response_with_an_open_call_goes_with_the_results_of_its_siblings() {
        let lines = [
            user("1", "", "\"go\""),
            said("2", "1", "m1", &call("c1")),
            said("3", "2", "m1", &call("c2")),
            user("4", "2", &result("c1")),
            user("5", "4", "\"stop\""),
        ];
        assert_eq!(layout(&lines), ["user: go stop"]);
    }

    #[test]
    fn the_history_ends_with_a_user_message() {
        let lines = [user("1", "", "\"go\""), said("2", "1", "m1", &text("done"))];
        assert_eq!(layout(&lines), ["user: go"]);
    }

    #[test]
    fn results_come_before_what_the_user_typed_meanwhile() {
        let lines = [
            user("1", "", "\"go\""),
            said("2", "1", "m1", &call("c1")),
            user("3", "2", "\"wait\""),
            user("4", "3", &result("c1")),
        ];
        assert_eq!(layout(&lines), ["user: go", "assistant: +c1", "user: -c1 wait"]);
    }

    #[test]
    fn side_chains_meta_synthetic_and_blank_records_are_left_out() {
        let side = user("2", "1", "\"side\"").replace(r#""uuid""#, r#""isSidechain":true,"uuid""#);
        let meta = user("3", "1", "\"meta\"").replace(r#""uuid""#, r#""isMeta":true,"uuid""#);
        let synthetic = said("4", "3", "m1", &text("no")).replace("\"m\"", "\"<synthetic>\"");
        let lines = [
            r#"{"type":"summary","summary":"s","leafUuid":"9"}"#.to_owned(),
            user("1", "", "\"go\""),
            side.clone(),
            meta,
            synthetic,
            user("5", "4", &format!("[{},{}]", text(" "), text("on"))),
        ];
        assert_eq!(layout(&lines), ["user: go on"]);
        assert_eq!(layout(&[side]), ["user: side"]);
    }

    #[test]
    fn a_compacted_history_starts_with_its_summary() {
        let lines = [
            user("1", "", "\"old\""),
            r#"{"type":"system","subtype":"compact_boundary","uuid":"2","parentUuid":null}"#
                .to_owned(),
            user("3", "2", "\"summary\""),
        ];
        assert_eq!(layout(&lines), ["user: summary"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let first = user("1", "", "\"go\"");
        let cut = format!("{first}\n\n{}", &first[..40]);
        let error = transcript(&cut).unwrap_err();
        assert_eq!((error.line, error.column), (3, 41));
        assert!(error.message.starts_with("line 3 is cut off"), "{error}");
        let list = transcript(&format!("{first}\n[]")).unwrap_err();
        assert!(list.message.contains("must be an object, got an array"), "{list}");
        let bad = transcript(&user("1", "", "[{\"type\":\"tool_use\"}]")).unwrap_err();
        assert_eq!(bad.pointer, "/message/content/0");
        let nobody = transcript(r#"{"type":"system"}"#).unwrap_err();
        assert!(nobody.message.contains("no user message"), "{nobody}");
        assert_eq!(transcript("\n").unwrap_err().message, "the file is empty");
    }
}
