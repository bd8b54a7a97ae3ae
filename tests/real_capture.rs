//! The cache model against what a provider really billed: recorded calls of one session in their
//! real order and at their real times.
//!
//! Token counts are not ours here: the tokens of a prefix are learnt from the call that wrote it
//! (what it read and what it created, both as billed). No prefix size is learnt from a read.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::path::PathBuf;

use forkcost::cache::{CacheBlock, CacheRequest, CacheRules, PositionKind, PromptCache};
use forkcost::measure::{TokenizedPrompt, tokenize};
use forkcost::provider::anthropic::Anthropic;
use forkcost::provider::rules::documented_rules;
use forkcost::provider::{Provider, RenderOptions, anthropic_facts, find_model};
use forkcost::request::{BlockKind, RequestBody};
use forkcost::tokens::{Tokenizer, TokenizerSpec};
use forkcost::units::{SimTime, Tokens};
use libtest_mimic::{Arguments, Failed, Trial};

const CAPTURE: &str = "captures/claude_code_1.0.6_conversation1.jsonl";

/// One recorded call.
struct Call {
    line: usize,
    model: String,
    start: SimTime,
    end: SimTime,
    body: Vec<u8>,
    read: u64,
    created: u64,
    marked: bool,
}

fn main() {
    let path = std::env::var_os("FORKCOST_DATA").map(|folder| PathBuf::from(folder).join(CAPTURE));
    let present = path.as_ref().is_some_and(|path| path.is_file());
    let trial = Trial::test("every_read_of_the_recorded_session_is_predicted", move || {
        predict(&std::fs::read_to_string(path.unwrap_or_default())?)
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial.with_ignored_flag(!present)]).exit();
}

fn calls(text: &str) -> Vec<Call> {
    let mut calls: Vec<Call> =
        text.lines().enumerate().map(|(n, line)| call(n + 1, line)).collect();
    calls.sort_by_key(|call| call.start);
    calls
}

fn call(line: usize, text: &str) -> Call {
    #[derive(serde::Deserialize)]
    struct Raw<'a> {
        model: String,
        t_request: f64,
        t_response: f64,
        #[serde(borrow)]
        request: &'a serde_json::value::RawValue,
        usage: serde_json::Value,
    }
    let raw: Raw<'_> = serde_json::from_str(text).unwrap();
    let millis = |seconds: f64| SimTime((seconds * 1_000.0) as i64);
    let billed = |key: &str| raw.usage[key].as_u64().unwrap_or(0);
    let body = raw.request.get().as_bytes().to_vec();
    Call {
        line,
        model: raw.model,
        start: millis(raw.t_request),
        end: millis(raw.t_response),
        marked: raw.request.get().contains("\"cache_control\""),
        read: billed("cache_read_input_tokens"),
        created: billed("cache_creation_input_tokens"),
        body,
    }
}

fn prompt(call: &Call) -> TokenizedPrompt {
    let body = RequestBody::captured(call.body.clone());
    let rendered = Anthropic.render(&body, RenderOptions::default()).unwrap();
    let spec = TokenizerSpec::parse("o200k_base").unwrap();
    tokenize(vec![rendered], &Tokenizer::new(spec)).remove(0)
}

fn rules(model: &str) -> CacheRules {
    let facts = anthropic_facts();
    let model = find_model(facts, model).unwrap();
    let rules = documented_rules(facts, model, facts.checked);
    // Whether a prefix reaches the minimum is decided by its billed size below, not by our count.
    CacheRules { min_tokens: Tokens::ZERO, ..rules }
}

fn blocks(prompt: &TokenizedPrompt) -> Vec<CacheBlock> {
    let kind = |kind| match kind {
        BlockKind::Tool => PositionKind::Tool,
        BlockKind::ToolUse => PositionKind::ToolUse,
        BlockKind::ToolResult => PositionKind::ToolResult,
        BlockKind::Thinking => PositionKind::Thinking,
        _ => PositionKind::Plain,
    };
    let block = |(block, measure): (
        &forkcost::request::RenderedBlock,
        &forkcost::measure::BlockMeasure,
    )| {
        CacheBlock {
            prefix_hash: measure.prefix_hash,
            tokens_so_far: measure.tokens_so_far,
            kind: kind(block.kind),
            marker: block.marker,
        }
    };
    prompt.blocks().map(block).collect()
}

fn predict(text: &str) -> Result<(), Failed> {
    let mut caches: HashMap<String, PromptCache> = HashMap::new();
    let mut billed: HashMap<u128, u64> = HashMap::new();
    let (mut cached, mut reads, mut none) = (0, 0, 0);
    for call in calls(text) {
        if call.created + call.read == 0 {
            // Unmarked, or marked below the minimum: nothing was cached, and nothing is predicted.
            none += 1;
            let small = find_model(anthropic_facts(), &call.model).unwrap().min_tokens;
            assert!(!call.marked || prompt(&call).tokens() < small, "line {}", call.line);
            continue;
        }
        let prompt = prompt(&call);
        let blocks = blocks(&prompt);
        let cache = caches
            .entry(call.model.clone())
            .or_insert_with(|| PromptCache::new(rules(&call.model)));
        let request = CacheRequest { blocks: &blocks, start: call.start, readable_at: call.end };
        let outcome = cache.access(request);
        let predicted = outcome.read_block.map_or(0, |block| billed[&blocks[block].prefix_hash]);
        assert_eq!(predicted, call.read, "cache_read_input_tokens of line {}", call.line);
        let last = blocks.iter().rfind(|block| block.marker.is_some()).unwrap();
        billed.insert(last.prefix_hash, call.read + call.created);
        cached += 1;
        reads += usize::from(call.read > 0);
    }
    assert_eq!((cached, reads, none), (14, 12, 21));
    Ok(())
}
