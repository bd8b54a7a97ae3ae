//! Forks of known size, and what they are compared with: the plain way to do each job.
//!
//! Benches and `tests/construction_equivalence.rs` use the same fixtures, so what is timed is what
//! is known to be equal.

#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use forkcost::cache::{
    CacheBlock, CacheRules, PositionCount, PositionKind, PromptCache, ToolPositions,
};
use forkcost::fork::boilerplate::Boilerplate;
use forkcost::fork::gate::{Call, Decision, FORK_TYPE, ForkPermit, Gate, Session};
use forkcost::fork::guard::{Caller, Scan};
use forkcost::fork::{CloneShape, Dispatch, ForkPlan, PLACEHOLDER, ResultShape, child};
use forkcost::provider::anthropic::Anthropic;
use forkcost::request::marker::MarkerTtls;
use forkcost::request::{
    Base, Block, Conversation, MarkerPolicy, Message, RawJson, RequestBody, RequestEvent,
    ResultContent, Role, Tool,
};
use forkcost::units::{CacheTtl, Tokens};
use rand_core::Rng;
use serde_json::{Value, json};

/// Calls in the dispatch, whatever the number of children: the shared part has one size in every
/// row.
pub const CALLS: usize = 8;

/// Bytes of one child's directive.
pub const DIRECTIVE_BYTES: usize = 800;

const TTLS: MarkerTtls = MarkerTtls { parent: CacheTtl::FiveMinutes, fork: CacheTtl::FiveMinutes };

const WORDS: [&str; 24] = [
    "cache",
    "parser",
    "the",
    "reads",
    "before",
    "queue",
    "of",
    "closed",
    "session",
    "is",
    "limit",
    "worker",
    "every",
    "and",
    "retry",
    "budget",
    "with",
    "schema",
    "not",
    "übergabe",
    "snapshot",
    "—",
    "driver",
    "window",
];

/// One fork in two forms: as the product holds it, and as a JSON value that ends before the
/// directive.
pub struct Fork {
    pub plan: ForkPlan,
    pub value: Value,
}

/// Text that looks like prose with line breaks and quotes; another one for each `stream`.
pub fn text(stream: u64, bytes: usize) -> String {
    let mut state = stream.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut out = format!("{stream}:");
    while out.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = WORDS[(state >> 33) as usize % WORDS.len()];
        match (state >> 50) % 16 {
            0 => out.push_str(&format!("\n\"{word}\"")),
            1 => out.push_str(&format!(" {}", (state >> 40) % 1_000)),
            _ => out.push_str(&format!(" {word}")),
        }
    }
    out
}

/// What child `index` is told.
pub fn directive(index: usize) -> String {
    text(1_000_000 + index as u64, DIRECTIVE_BYTES)
}

/// A fork whose shared prefix has about `prefix_bytes` bytes; another text for each `salt`.
pub fn fork(prefix_bytes: usize, salt: u64) -> Fork {
    let stream = |n: u64| salt * 1_000_003 + n;
    let tools = (0..16).map(|n| tool(n, &text(stream(n), 1_200))).collect();
    let system = vec!["You work in a terminal.".to_owned(), text(stream(99), 8_000)];
    let mut messages =
        vec![Message { role: Role::User, blocks: vec![Block::Text(text(stream(100), 600))] }];
    // Tools, system, dispatch and placeholders, with their keys and escapes.
    let mut bytes = 38_000;
    for turn in 0.. {
        if bytes >= prefix_bytes {
            break;
        }
        let size = if prefix_bytes > 1 << 20 { 24_000 } else { 4_000 };
        messages.extend(pair(turn, text(stream(200 + 2 * turn), size)));
        bytes += size + size / 32 + 600;
    }
    let conversation = Conversation {
        model: "claude-opus-5".to_owned(),
        max_tokens: 8_192,
        tools,
        system,
        messages,
        parameters: vec![("stream".to_owned(), RawJson::new("true").unwrap())],
    };
    let plan = ForkPlan {
        base: Base::Built(Arc::new(conversation.clone())),
        permit: permit(),
        dispatch: Dispatch::Appended(dispatch(salt)),
        clone: CloneShape::Full,
        placeholder: PLACEHOLDER.to_owned(),
        results: ResultShape::Array,
        boilerplate: Boilerplate::None,
        policy: MarkerPolicy::CcTail,
        ttls: TTLS,
    };
    let value = value(&conversation, &plan.appended());
    Fork { plan, value }
}

/// The permit that a main agent is given.
fn permit() -> ForkPermit {
    let call = Call { agent_type: Some(FORK_TYPE), remote: false };
    let caller = Caller { query_source: "repl_main_thread", messages: &[] };
    match Gate::latch(&Session::default()).decide(&call, &caller, Scan::Structural) {
        Ok(Decision::Fork(permit)) => permit,
        other => panic!("a main agent forks: {other:?}"),
    }
}

fn tool(n: u64, description: &str) -> Tool {
    let schema =
        r#"{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}}}"#;
    Tool {
        name: format!("tool_{n}"),
        description: Some(description.to_owned()),
        input_schema: RawJson::new(schema).ok(),
        more: Vec::new(),
    }
}

/// A call and its result.
fn pair(turn: u64, result: String) -> [Message; 2] {
    let id = format!("toolu_{turn:08}");
    let input = RawJson::new(format!(r#"{{"path":"src/{turn}.rs","limit":{turn}}}"#)).unwrap();
    let call = Block::ToolUse { id: id.clone(), name: "tool_1".to_owned(), input };
    let said = Block::Text(text(turn, 300));
    let content = ResultContent::Blocks(vec![Block::Text(result)]);
    let answer = Block::ToolResult { tool_use_id: id, content, is_error: false };
    [
        Message { role: Role::Assistant, blocks: vec![said, call] },
        Message { role: Role::User, blocks: vec![answer] },
    ]
}

fn dispatch(salt: u64) -> Message {
    let calls = (0..CALLS).map(|n| Block::ToolUse {
        id: format!("toolu_fork_{n}"),
        name: "Agent".to_owned(),
        input: RawJson::new(json!({"prompt": text(salt + n as u64, 400)}).to_string()).unwrap(),
    });
    Message { role: Role::Assistant, blocks: calls.collect() }
}

/// What each of so many children is told.
pub fn directives(children: usize) -> Vec<String> {
    (0..children).map(directive).collect()
}

/// The bodies of children, by the product.
pub fn build(fork: &Fork, directives: &[String]) -> Vec<RequestBody> {
    let family = fork.plan.family(&Anthropic).unwrap();
    directives.iter().map(|directive| child(&fork.plan, &family, directive)).collect()
}

/// The body of one child, the plain way: the conversation is copied, the directive is added, all is
/// serialised.
pub fn naive(fork: &Fork, directive: &str) -> Vec<u8> {
    let mut value = fork.value.clone();
    let own = json!({
        "type": "text", "text": directive, "cache_control": {"type": "ephemeral"},
    });
    let last = value["messages"].as_array_mut().unwrap().last_mut().unwrap();
    last["content"].as_array_mut().unwrap().push(own);
    serde_json::to_vec(&value).unwrap()
}

fn value(conversation: &Conversation, appended: &[Message]) -> Value {
    let raw = |raw: &RawJson| -> Value { serde_json::from_str(raw.as_str()).unwrap() };
    let tool = |tool: &Tool| {
        let schema = tool.input_schema.as_ref().map(raw);
        json!({"name": tool.name, "description": tool.description, "input_schema": schema})
    };
    let marker = || json!({"type": "ephemeral"});
    let system = |text: &String| json!({"type": "text", "text": text, "cache_control": marker()});
    let block = |block: &Block| match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::ToolUse { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": raw(input)})
        }
        Block::ToolResult { tool_use_id, content: ResultContent::Blocks(inner), .. } => {
            let Block::Text(text) = &inner[0] else { panic!("results are texts here") };
            let content = json!([{"type": "text", "text": text}]);
            json!({"type": "tool_result", "tool_use_id": tool_use_id, "content": content})
        }
        other => panic!("no fixture holds {other:?}"),
    };
    let message = |message: &Message| {
        let blocks: Vec<Value> = message.blocks.iter().map(block).collect();
        json!({"role": message.role.as_str(), "content": blocks})
    };
    json!({
        "model": conversation.model,
        "max_tokens": conversation.max_tokens,
        "tools": conversation.tools.iter().map(tool).collect::<Vec<Value>>(),
        "system": conversation.system.iter().map(system).collect::<Vec<Value>>(),
        "messages": conversation.messages.iter().chain(appended).map(message).collect::<Vec<_>>(),
        "stream": true,
    })
}

/// The bodies as events that are all sent at once.
pub fn events(bodies: &[RequestBody]) -> Vec<RequestEvent> {
    bodies.iter().map(|body| RequestEvent::at_once(body.clone())).collect()
}

/// Length of the longest common prefix, byte by byte.
pub fn byte_loop(a: &[u8], b: &[u8]) -> usize {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at
}

/// Tokens of a body, the plain way: it is read into values and the text of every block is counted
/// by the reference encoder, by the definitions of `docs/model.md`.
pub fn recount(body: &[u8]) -> u64 {
    let encoder = tiktoken_rs::o200k_base_singleton();
    let count = |text: &str| encoder.encode_ordinary(text).len() as u64;
    let body: Value = serde_json::from_slice(body).unwrap();
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tools = items(&body["tools"]);
    let tools = tools.iter().map(|tool| {
        let (name, description) = (tool["name"].as_str().unwrap(), &tool["description"]);
        let description = description.as_str().unwrap();
        count(&format!("{name}\n{description}\n{}", tool["input_schema"]))
    });
    let system = items(&body["system"]);
    let system = system.iter().map(|block| count(block["text"].as_str().unwrap()));
    let blocks: Vec<Value> =
        items(&body["messages"]).iter().flat_map(|message| items(&message["content"])).collect();
    let blocks = blocks.iter().map(|block| match block["type"].as_str().unwrap() {
        "tool_use" => count(&format!("{}\n{}", block["name"].as_str().unwrap(), block["input"])),
        "tool_result" => count(block["content"][0]["text"].as_str().unwrap()),
        _ => count(block["text"].as_str().unwrap()),
    });
    tools.chain(system).chain(blocks).sum()
}

/// The blocks of one of many children: 39 that all share and one of its own, marked at three
/// places.
pub fn cache_blocks(request: usize) -> Vec<CacheBlock> {
    let block = |index: usize| {
        let own = if index == 39 { 1_000_000 * (request as u128 + 1) } else { 0 };
        let spread = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        CacheBlock {
            prefix_hash: (index as u128 + 1 + own).wrapping_mul(spread),
            tokens_so_far: Tokens(1_200 * (index as u64 + 1)),
            kind: if index < 12 { PositionKind::Tool } else { PositionKind::Plain },
            marker: [12, 13, 39].contains(&index).then_some(CacheTtl::FiveMinutes),
        }
    };
    (0..40).map(block).collect()
}

/// An empty cache with the rules that hold by default.
pub fn empty_cache() -> PromptCache {
    PromptCache::new(CacheRules {
        lookback: 20,
        count: PositionCount::CollapseToolRuns,
        min_tokens: Tokens(512),
        refresh_earlier: true,
        ttl_in_key: false,
        match_inside_runs: true,
        write_below_hit: false,
        longer_ttl_extends: false,
        thinking_positions: true,
        tool_positions: ToolPositions::Each,
        hash_billing_line: false,
    })
}

/// A timeline of agents that share eight system prompts: each request is one that was sent before
/// with two more blocks, forty in the middle of its life; one in thirty begins an agent.
pub fn timeline(requests: usize) -> String {
    let mut random = rand_pcg::Pcg64::new(7, 11);
    let mut below = |limit: u64| random.next_u64() % limit;
    let mut agents: Vec<Vec<String>> = Vec::new();
    let mut text = String::from("{\"forkcost_timeline\":1,\"model\":\"claude-opus-5\"}\n");
    let mut fresh = 0;
    for number in 0..requests {
        if agents.len() < 50 || below(30) == 0 {
            let system = below(8);
            agents.push((0..10).map(|block| format!("s{system}.{block}")).collect());
        }
        if agents.len() > 400 {
            agents.remove(0);
        }
        let chosen = below(agents.len() as u64) as usize;
        let blocks = &mut agents[chosen];
        if blocks.len() >= 70 {
            blocks.truncate(10);
        }
        for _ in 0..2 {
            blocks.push(format!("b{fresh}"));
            fresh += 1;
        }
        let last = blocks.len() - 1;
        let written: Vec<String> = blocks
            .iter()
            .enumerate()
            .map(|(index, id)| {
                let marker = if index == 9 || index == last { ",\"marker\":\"5m\"" } else { "" };
                format!("{{\"id\":\"{id}\",\"tokens\":{}{marker}}}", 50 + 37 * id.len())
            })
            .collect();
        let start = number / 5;
        text.push_str(&format!(
            "{{\"start_s\":{start},\"first_token_at_s\":{},\"blocks\":[{}]}}\n",
            start + 2,
            written.join(",")
        ));
    }
    text
}
