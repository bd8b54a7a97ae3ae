//! Real inputs: recorded calls that the API answered, real tool lists, real session files.
//!
//! The data is not part of the package. `FORKCOST_DATA` names its folder; where a file is absent
//! the test is reported as ignored.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use forkcost::provider::anthropic::validate::refusals;
use forkcost::provider::import;
use forkcost::request::{Block, Message, ResultContent, Role};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};

fn main() -> process::ExitCode {
    let data = env::var_os("FORKCOST_DATA").map(PathBuf::from);
    let captures = "captures/claude_code_1.0.6_conversation1.jsonl";
    let trials = vec![
        trial("captured_bodies_are_accepted", &data, captures, captured_accepted),
        trial("captured_bodies_are_imported", &data, captures, captured_imported),
        trial("pairs_are_accepted", &data, "pairs/claude_messages.jsonl", |path| pairs(path, 411)),
        trial("cached_pairs_are_accepted", &data, "pairs/claude_cache.jsonl", |path| {
            pairs(path, 40)
        }),
        trial("tools_keep_their_bytes", &data, "tools/github_mcp_server_tools.json", tools),
        trial("session_files_are_imported", &data, "transcripts", transcripts),
        trial("parallel_calls_survive", &data, "transcripts/entire/54-bb2ec87cc8-2.jsonl", waves),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(
    name: &str,
    data: &Option<PathBuf>,
    file: &str,
    test: impl FnOnce(&Path) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let path = data.as_ref().map(|data| data.join(file)).filter(|path| path.exists());
    let ignored = path.is_none();
    Trial::test(name, move || path.map_or(Err("no data".into()), |path| test(&path)))
        .with_ignored_flag(ignored)
}

fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(message().into()) }
}

/// The `request` of each line, byte for byte, with the line's value.
fn requests(path: &Path) -> Result<Vec<(Value, String)>, Failed> {
    #[derive(serde::Deserialize)]
    struct Row<'a> {
        #[serde(borrow)]
        request: &'a serde_json::value::RawValue,
    }
    let text = fs::read_to_string(path)?;
    let row = |line: &str| {
        let request = serde_json::from_str::<Row<'_>>(line)?.request.get().to_owned();
        Ok((serde_json::from_str(line)?, request))
    };
    text.lines().map(row).collect()
}

fn captured_accepted(path: &Path) -> Result<(), Failed> {
    let requests = requests(path)?;
    check(requests.len() == 35, || format!("{} bodies", requests.len()))?;
    for (row, request) in requests {
        let found = refusals(request.as_bytes());
        check(found.is_empty(), || format!("seq {}: {found:?}", row["seq"]))?;
    }
    Ok(())
}

/// The importer reads the request of a recorded call as it reads the bare body, and loses no block.
fn captured_imported(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    for ((row, request), line) in requests(path)?.into_iter().zip(text.lines()) {
        let messages = import::messages(line)?;
        check(messages == import::messages(&request)?, || "wrapper and body differ".to_owned())?;
        let blocks: usize = messages.iter().map(|message| message.blocks.len()).sum();
        let list = row["request"]["messages"].as_array().ok_or("no messages")?;
        let size = |message: &Value| message["content"].as_array().map_or(1, Vec::len);
        let expected = list.iter().map(size).sum::<usize>();
        check(blocks == expected, || format!("{blocks} blocks of {expected}"))?;
        let count = |key: &str| row["request"][key].as_array().map_or(0, Vec::len);
        let tools = import::tools(&request)?;
        check(tools.len() == count("tools"), || format!("{} tools", tools.len()))?;
        for tool in &tools {
            let schema = tool.input_schema.as_ref().ok_or("a tool without schema")?;
            check(request.contains(schema.as_str()), || format!("schema of {}", tool.name))?;
        }
        let system = import::system(&request)?;
        check(system.len() == count("system"), || format!("{} system blocks", system.len()))?;
    }
    Ok(())
}

fn pairs(path: &Path, expected: usize) -> Result<(), Failed> {
    let mut seen = 0;
    for (row, request) in requests(path)? {
        if row["provider"] != "anthropic" || row["endpoint"] != "messages" {
            continue;
        }
        // An error has no usage: only what the model answered was accepted.
        check(row["usage"]["input_tokens"].is_u64(), || format!("{}: no usage", row["id"]))?;
        seen += 1;
        let found = refusals(request.as_bytes());
        check(found.is_empty(), || format!("{}: {found:?}", row["id"]))?;
        import::messages(&request).map_err(|error| format!("{}: {error}", row["id"]))?;
        import::system(&request).map_err(|error| format!("{}: {error}", row["id"]))?;
    }
    check(seen == expected, || format!("{seen} rows, {expected} expected"))
}

fn tools(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let tools = import::tools(&text)?;
    check(tools.len() == 59, || format!("{} tools", tools.len()))?;
    let list: Vec<Value> = serde_json::from_str(&text)?;
    for (tool, value) in tools.iter().zip(list) {
        let schema = tool.input_schema.as_ref().ok_or("a tool without schema")?.as_str();
        check(text.contains(schema), || format!("bytes of {} changed", tool.name))?;
        // `preserve_order` is on, so equal text means equal key order.
        let parsed: Value = serde_json::from_str(schema)?;
        let [ours, theirs] = [&parsed, &value["input_schema"]].map(Value::to_string);
        let same = ours == theirs;
        check(same && value["name"] == tool.name.as_str(), || tool.name.clone())?;
    }
    Ok(())
}

fn session_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failed> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            session_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
    Ok(())
}

fn transcripts(folder: &Path) -> Result<(), Failed> {
    let mut files = Vec::new();
    session_files(folder, &mut files)?;
    files.sort();
    check(files.len() == 19, || format!("{} files", files.len()))?;
    for file in files {
        let name = file.display();
        let messages = import::transcript(&fs::read_to_string(&file)?)
            .map_err(|error| format!("{name}: {error}"))?;
        let ends = [messages.first(), messages.last()];
        let ends_are_users =
            ends.iter().all(|message| message.is_some_and(|message| message.role == Role::User));
        check(ends_are_users, || format!("{name}: does not start and end with the user"))?;
        let found = refusals(body(&messages)?.as_bytes());
        check(found.is_empty(), || format!("{name}: {found:?}"))?;
        conserved(&file, &messages).map_err(|error| format!("{name}: {}", text_of(&error)))?;
    }
    Ok(())
}

fn text_of(error: &Failed) -> &str {
    error.message().unwrap_or("failed")
}

/// Every answered call of the chain is imported, and no other: counted on the raw records.
fn conserved(file: &Path, messages: &[Message]) -> Result<(), Failed> {
    let text = fs::read_to_string(file)?;
    let records: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    // What stands before a compaction is not part of the next request.
    let boundary = |record: &Value| record["subtype"] == "compact_boundary";
    let start = records.iter().rposition(boundary).unwrap_or(0);
    let speaks = |record: &Value| record["type"] == "user" || record["type"] == "assistant";
    let is_side = |record: &Value| record["isSidechain"] == true;
    let has_main =
        records.iter().any(|record| speaks(record) && !is_side(record) && record["isMeta"] != true);
    let chain = records[start..].iter().filter(|record| is_side(record) != has_main);
    let (mut calls, mut answers) = (BTreeSet::new(), BTreeSet::new());
    for record in chain.filter(|record| speaks(record)) {
        for block in record["message"]["content"].as_array().into_iter().flatten() {
            calls.extend(block["id"].as_str().filter(|_| block["type"] == "tool_use"));
            answers.extend(block["tool_use_id"].as_str());
        }
    }
    let expected: BTreeSet<&str> = calls.intersection(&answers).copied().collect();
    let imported: BTreeSet<&str> = messages.iter().flat_map(Message::tool_use_ids).collect();
    check(imported == expected, || format!("{} calls of {}", imported.len(), expected.len()))
}

/// Both waves of three parallel calls are whole, each in one message.
fn waves(path: &Path) -> Result<(), Failed> {
    let messages = import::transcript(&fs::read_to_string(path)?)?;
    let widths = messages.iter().map(|message| message.tool_use_ids().count());
    let wide = widths.filter(|width| *width == 3).count();
    check(wide >= 2, || format!("{wide} messages with three calls"))
}

/// The messages as a request body, written by this test's own hand.
fn body(messages: &[Message]) -> Result<String, Failed> {
    let messages = messages.iter().map(|message| {
        let content = message.blocks.iter().map(block).collect::<Result<Vec<_>, Failed>>()?;
        Ok(json!({"role": message.role.as_str(), "content": content}))
    });
    let messages = messages.collect::<Result<Vec<_>, Failed>>()?;
    Ok(json!({"model": "m", "max_tokens": 1, "messages": messages}).to_string())
}

fn block(block: &Block) -> Result<Value, Failed> {
    Ok(match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Block::ToolUse { id, name, input } => {
            let input: Value = serde_json::from_str(input.as_str())?;
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            let content = match content {
                ResultContent::Text(text) => json!(text),
                ResultContent::Blocks(blocks) => {
                    json!(blocks.iter().map(self::block).collect::<Result<Vec<_>, Failed>>()?)
                }
            };
            let id = tool_use_id;
            let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
            result["is_error"] = json!(is_error);
            result
        }
        Block::Other(raw) => serde_json::from_str(raw.as_str())?,
    })
}
