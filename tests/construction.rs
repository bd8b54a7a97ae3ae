//! The construction path against an independent serialisation, and splicing against the recorded
//! bytes.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use forkcost::fork::boilerplate::Boilerplate;
use forkcost::fork::gate::{Call, Decision, Era, FORK_TYPE, ForkPermit, Gate, Session};
use forkcost::fork::guard::{Caller, Scan};
use forkcost::fork::{
    CloneShape, Dispatch, ForkPlan, PLACEHOLDER, ResultShape, boilerplate, child,
};
use forkcost::measure::{first_difference, shared_prefix, tokenize};
use forkcost::provider::anthropic::Anthropic;
use forkcost::provider::{Provider, RenderOptions};
use forkcost::request::build::build;
use forkcost::request::marker::{MarkerTtls, POLICIES, place};
use forkcost::request::{
    Base, Block, CapturedBody, Conversation, Draft, MarkerPolicy, Message, RawJson, RequestBody,
    ResultContent, Role, Tool, WireFormat,
};
use forkcost::tokens::ClaudeFamily;
use forkcost::tokens::{Tokenizer, TokenizerSpec};
use forkcost::units::CacheTtl;
use proptest::prelude::*;
use serde_json::{Value, json};

const TTLS: MarkerTtls = MarkerTtls { parent: CacheTtl::FiveMinutes, fork: CacheTtl::FiveMinutes };

fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[a-z\"\\\\\n\t\u{1}é—😀 ]{1,24}x").unwrap()
}

fn tools() -> impl Strategy<Value = Vec<Tool>> {
    proptest::collection::vec((text(), any::<bool>()), 0..4).prop_map(|texts| {
        let tool = |(n, (text, strict)): (usize, (String, bool))| Tool {
            name: format!("tool_{n}"),
            description: Some(text),
            input_schema: RawJson::new("{\"type\":\"object\",\"b\":1,\"a\":1e5}").ok(),
            more: if strict {
                vec![("strict".to_owned(), RawJson::new("true").unwrap())]
            } else {
                Vec::new()
            },
        };
        texts.into_iter().enumerate().map(tool).collect()
    })
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let system = proptest::collection::vec(text(), 0..3);
    let turns = proptest::collection::vec((text(), text()), 0..4);
    (tools(), system, turns, text()).prop_map(|(tools, system, turns, first)| {
        let mut messages = vec![Message { role: Role::User, blocks: vec![Block::Text(first)] }];
        for (n, (said, result)) in turns.into_iter().enumerate() {
            let id = format!("toolu_{n}");
            let call = Block::ToolUse {
                id: id.clone(),
                name: "Read".to_owned(),
                input: RawJson::new("{\"z\":1,\"a\":[2.50]}").unwrap(),
            };
            let content = ResultContent::Blocks(vec![Block::Text(result)]);
            let answer = Block::ToolResult { tool_use_id: id, content, is_error: n % 2 == 1 };
            let blocks = vec![Block::Text(said), call];
            messages.push(Message { role: Role::Assistant, blocks });
            messages.push(Message { role: Role::User, blocks: vec![answer] });
        }
        let parameters = vec![("stream".to_owned(), RawJson::new("true").unwrap())];
        let model = "claude-opus-5".to_owned();
        Conversation { model, max_tokens: 100, tools, system, messages, parameters }
    })
}

fn dispatch(calls: usize, thinking: bool) -> Message {
    let mut blocks = Vec::new();
    if thinking {
        let (text, signature) = ("Split it.".to_owned(), "c2ln".to_owned());
        blocks.push(Block::Thinking { text, signature });
    }
    blocks.extend((0..calls).map(|n| Block::ToolUse {
        id: format!("toolu_fork_{n}"),
        name: "Agent".to_owned(),
        input: RawJson::new(format!("{{\"prompt\":\"part {n}\"}}")).unwrap(),
    }));
    Message { role: Role::Assistant, blocks }
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

fn plan(base: Base, calls: usize, policy: MarkerPolicy) -> ForkPlan {
    ForkPlan {
        permit: permit(),
        base,
        dispatch: Dispatch::Appended(dispatch(calls, calls.is_multiple_of(2))),
        clone: if calls % 4 == 3 { CloneShape::Excise } else { CloneShape::Full },
        placeholder: PLACEHOLDER.to_owned(),
        results: if calls % 5 == 4 { ResultShape::String } else { ResultShape::Array },
        boilerplate: match calls % 3 {
            0 => Boilerplate::SameBlock(Era::Today),
            1 => Boilerplate::None,
            _ => Boilerplate::OwnBlock,
        },
        policy,
        ttls: TTLS,
    }
}

/// What stands behind the history, made here and not by the code under test: the dispatch, and one
/// placeholder for each of its calls in their order.
fn answered(plan: &ForkPlan) -> Vec<Message> {
    let Dispatch::Appended(message) = &plan.dispatch else { panic!("the dispatch is appended") };
    let mut results = Vec::new();
    for block in &message.blocks {
        if let Block::ToolUse { id, .. } = block {
            results.push(Block::ToolResult {
                tool_use_id: id.clone(),
                content: match plan.results {
                    ResultShape::Array => {
                        ResultContent::Blocks(vec![Block::Text(plan.placeholder.clone())])
                    }
                    ResultShape::String => ResultContent::Text(plan.placeholder.clone()),
                },
                is_error: false,
            });
        }
    }
    if plan.clone == CloneShape::Excise {
        results.clear();
    }
    let clone = if results.is_empty() { Vec::new() } else { vec![message.clone()] };
    if plan.boilerplate == Boilerplate::OwnBlock {
        results.push(Block::Text(boilerplate::STANDARD.trim_end().to_owned()));
    }
    clone.into_iter().chain([Message { role: Role::User, blocks: results }]).collect()
}

/// A plain serialisation of the same request by serde_json, without markers: the oracle.
fn plainly(conversation: &Conversation, plan: &ForkPlan, directive: &str) -> Value {
    let raw = |raw: &RawJson| -> Value { serde_json::from_str(raw.as_str()).unwrap() };
    let block = |block: &Block| match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Block::ToolUse { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": raw(input)})
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            let content = match content {
                ResultContent::Text(text) => json!(text),
                ResultContent::Blocks(blocks) => {
                    let Block::Text(text) = &blocks[0] else { panic!("of text") };
                    json!([{"type": "text", "text": text}])
                }
            };
            let mut value =
                json!({"type": "tool_result", "tool_use_id": tool_use_id, "content": content});
            if *is_error {
                value["is_error"] = json!(true);
            }
            value
        }
        Block::Other(other) => raw(other),
    };
    let message = |message: &Message| {
        let blocks: Vec<Value> = message.blocks.iter().map(block).collect();
        json!({"role": message.role.as_str(), "content": blocks})
    };
    let mut messages: Vec<Value> =
        conversation.messages.iter().chain(&answered(plan)).map(message).collect();
    let told = match plan.boilerplate {
        Boilerplate::SameBlock(_) => boilerplate::before(directive),
        Boilerplate::OwnBlock => format!("Your directive: {directive}"),
        Boilerplate::None => directive.to_owned(),
    };
    let last = messages.last_mut().unwrap();
    last["content"].as_array_mut().unwrap().push(json!({"type": "text", "text": told}));
    let mut body = json!({"model": conversation.model, "max_tokens": conversation.max_tokens});
    if !conversation.tools.is_empty() {
        let tool = |tool: &Tool| {
            let mut value = json!({"name": tool.name, "description": tool.description});
            value["input_schema"] = tool.input_schema.as_ref().map_or(Value::Null, raw);
            for (key, more) in &tool.more {
                value[key] = raw(more);
            }
            value
        };
        body["tools"] = conversation.tools.iter().map(tool).collect();
    }
    if !conversation.system.is_empty() {
        let system = |text: &String| json!({"type": "text", "text": text});
        body["system"] = conversation.system.iter().map(system).collect();
    }
    body["messages"] = Value::Array(messages);
    body["stream"] = json!(true);
    body
}

fn policies() -> impl Strategy<Value = MarkerPolicy> {
    (0..POLICIES.len()).prop_map(|index| POLICIES[index].1.clone())
}

/// The bytes with every marker removed by text, independent of the code under test.
fn without_markers(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
        .replace(",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}", "")
}

fn prompts(bodies: &[RequestBody]) -> Vec<forkcost::measure::TokenizedPrompt> {
    let spec = TokenizerSpec::parse("o200k_base").unwrap();
    let render = |body: &RequestBody| Anthropic.render(body, RenderOptions::default()).unwrap();
    tokenize(bodies.iter().map(render).collect(), &Tokenizer::new(spec))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// INV-5 for built bodies, and the shared prefix: what is written once equals what is written
    /// plainly.
    #[test]
    fn a_child_equals_a_plain_serialisation(
        conversation in conversation(), calls in 0_usize..5, policy in policies(), told in text(),
    ) {
        // 1e5 and 2.50 do not survive a round trip through a value, so the oracle has neither.
        let mut conversation = conversation;
        for tool in &mut conversation.tools {
            tool.input_schema = RawJson::new("{\"type\":\"object\",\"b\":1,\"a\":2}").ok();
        }
        let call = |block: &mut Block| if let Block::ToolUse { input, .. } = block {
            *input = RawJson::new("{\"z\":1,\"a\":[2]}").unwrap();
        };
        conversation.messages.iter_mut().flat_map(|message| &mut message.blocks).for_each(call);
        let plan = plan(Base::Built(Arc::new(conversation.clone())), calls, policy);
        let family = plan.family(&Anthropic).unwrap();
        let body = child(&plan, &family, &told);
        let plain = plainly(&conversation, &plan, &told).to_string();
        prop_assert_eq!(without_markers(&body.to_vec()), plain);
        prop_assert_eq!(body.to_vec(), child(&plan, &family, &told).to_vec());
        prop_assert_eq!(body.len(), body.to_vec().len());
    }

    /// INV-4: children share all but the directive, and first differ inside it.
    #[test]
    fn children_first_differ_inside_the_directive(
        conversation in conversation(), calls in 1_usize..5, policy in policies(),
        a in text(), b in text(),
    ) {
        prop_assume!(a != b);
        let messages = conversation.messages.len();
        let plan = plan(Base::Built(Arc::new(conversation)), calls, policy);
        let family = plan.family(&Anthropic).unwrap();
        let bodies = [child(&plan, &family, &a), child(&plan, &family, &b)];
        let difference = first_difference(&bodies).unwrap().unwrap();
        let rules = usize::from(plan.boilerplate == Boilerplate::OwnBlock);
        let (message, before) = match plan.clone {
            CloneShape::Full => (messages + 1, calls + rules),
            CloneShape::Excise => (messages, rules),
        };
        let expected = format!("/messages/{message}/content/{before}/text");
        prop_assert_eq!(difference.pointer, expected);
        let shared = shared_prefix(
            &bodies,
            &prompts(&bodies),
            &Tokenizer::new(TokenizerSpec::parse("o200k_base").unwrap()),
        );
        prop_assert_eq!(shared.body_bytes, difference.byte);
        prop_assert_eq!(shared.blocks + 1, prompts(&bodies)[0].len());
    }

    /// Markers are no part of the prompt: two policies give the same prompt and differ in the body
    /// alone.
    #[test]
    fn a_moved_marker_changes_only_the_body(
        conversation in conversation(), calls in 1_usize..5, one in policies(), other in policies(),
    ) {
        let base = Base::Built(Arc::new(conversation));
        let body = |policy| {
            let plan = plan(base.clone(), calls, policy);
            child(&plan, &plan.family(&Anthropic).unwrap(), "Look.")
        };
        let prompts = prompts(&[body(one), body(other)]);
        prop_assert_eq!(prompts[0].last(), prompts[1].last());
    }

    /// What siblings share in memory changes no measure: the fast way equals rendering each body by
    /// itself.
    #[test]
    fn a_family_measures_like_bodies_by_themselves(
        conversation in conversation(), calls in 0_usize..5, policy in policies(), told in text(),
    ) {
        let plan = plan(Base::Built(Arc::new(conversation)), calls, policy);
        let family = plan.family(&Anthropic).unwrap();
        let bodies = [child(&plan, &family, "First."), child(&plan, &family, &told)];
        let families = ClaudeFamily::ALL.map(Some);
        for family in std::iter::once(None).chain(families) {
            let options = RenderOptions { family, ..RenderOptions::default() };
            let first = Anthropic.render(&bodies[0], options).unwrap();
            let own = Anthropic.render_own(&bodies[1], first.own.as_ref().unwrap()).unwrap();
            let alone = RequestBody::captured(bodies[1].to_vec());
            let whole = Anthropic.render(&alone, options).unwrap();
            prop_assert_eq!(Some(&own), whole.blocks().last());
            prop_assert!(first.shared.iter().eq(whole.blocks().take(whole.shared.len() - 1)));
            prop_assert_eq!(first.namespace, whole.namespace);
            prop_assert_eq!(first.tail, whole.tail);
        }
    }

    /// INV-5 for recorded bodies: only markers change, and undoing the splice gives the file.
    #[test]
    fn a_recorded_body_is_spliced_and_never_written_again(
        conversation in conversation(), recorded in policies(), wanted in policies(),
        pretty in any::<bool>(), calls in 1_usize..4,
    ) {
        let recorded_bytes = record(&conversation, &recorded, pretty);
        let captured = Arc::new(CapturedBody::parse(recorded_bytes.clone()).unwrap());
        let plan = plan(Base::Captured(Arc::clone(&captured)), calls, wanted);
        let parent = plan.parent(&Anthropic).unwrap();
        prop_assert_eq!(parent.to_vec(), recorded_bytes.clone(), "the parent goes as it was");
        let family = plan.family(&Anthropic).unwrap();
        let body = child(&plan, &family, "Look.").to_vec();
        let kept = conversation.messages.len();
        let bare = |bytes: &[u8], kept| rewrite(bytes, &MarkerPolicy::None, kept);
        prop_assert_eq!(bare(&body, Some(kept)), bare(&recorded_bytes, None));
        if !pretty {
            prop_assert_eq!(rewrite(&body, &recorded, Some(kept)), recorded_bytes);
        }
        let spliced = prompts(&[RequestBody::captured(body)]).remove(0);
        let original = prompts(&[parent]).remove(0);
        let equal = forkcost::measure::shared_prefix::equal_blocks(&spliced, &original);
        prop_assert_eq!(equal, original.len(), "the child holds the whole parent");
    }
}

/// A body as some client would have sent it, with its own markers.
fn record(conversation: &Conversation, policy: &MarkerPolicy, pretty: bool) -> Vec<u8> {
    let base = Base::Built(Arc::new(conversation.clone()));
    let bytes = rewrite_base(base, policy, None);
    if !pretty {
        return bytes;
    }
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    serde_json::to_vec_pretty(&value).unwrap()
}

/// The body with the markers of a policy and only its first messages.
fn rewrite(bytes: &[u8], policy: &MarkerPolicy, kept: Option<usize>) -> Vec<u8> {
    let captured = CapturedBody::parse(bytes.to_vec()).unwrap();
    rewrite_base(Base::Captured(Arc::new(captured)), policy, kept)
}

fn rewrite_base(base: Base, policy: &MarkerPolicy, kept: Option<usize>) -> Vec<u8> {
    let mut shape = Anthropic.shape(&base).unwrap();
    shape.messages.truncate(kept.unwrap_or(usize::MAX));
    shape.inherited = shape.messages.len();
    let draft = Draft {
        base,
        kept_messages: kept,
        appended: Vec::new(),
        own_block: false,
        placement: place(policy, &shape, TTLS).unwrap(),
        max_tokens: None,
    };
    build(&Anthropic, &draft).whole().to_vec()
}

#[test]
fn a_string_that_stands_for_a_block_is_the_same_prompt_and_can_be_marked() {
    let short = br#"{"model":"m","max_tokens":1,"system":"Be brief.",
        "messages":[{"role":"user","content":"Hi"}]}"#;
    let long = br#"{"max_tokens":9,"model":"m",
        "messages":[{"content":[{"text":"H\u0069","type":"text"}],"role":"user"}],
        "system":[{"type":"text","text":"Be brief."}]}"#;
    let both =
        prompts(&[RequestBody::captured(short.to_vec()), RequestBody::captured(long.to_vec())]);
    assert_eq!(both[0].last(), both[1].last());
    let marked = rewrite(short, &MarkerPolicy::CcTail, None);
    let text = String::from_utf8(marked.clone()).unwrap();
    assert!(text.contains(
        r#""system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]"#
    ));
    assert_eq!(prompts(&[RequestBody::captured(marked)])[0].last(), both[0].last());
}

#[test]
fn key_order_numbers_and_unicode_form_inside_arguments_count() {
    let body = |input: &str| {
        let text = format!(
            r#"{{"messages":[{{"role":"assistant","content":[
                {{"type":"tool_use","id":"a","name":"b","input":{input}}}]}}]}}"#
        );
        prompts(&[RequestBody::captured(text.into_bytes())]).remove(0).last().unwrap().prefix_hash
    };
    let plain = body(r#"{"a":1,"b":"é"}"#);
    assert_eq!(plain, body(r#"{ "a" : 1, "b" : "\u00e9" }"#));
    assert_ne!(plain, body(r#"{"b":"é","a":1}"#));
    assert_ne!(plain, body(r#"{"a":1.0,"b":"é"}"#));
    assert_ne!(plain, body("{\"a\":1,\"b\":\"e\u{301}\"}"));
}

#[test]
fn the_same_bytes_said_by_another_or_in_another_message_are_another_prompt() {
    let hash = |messages: &str| {
        let text = format!(r#"{{"messages":[{messages}]}}"#);
        prompts(&[RequestBody::captured(text.into_bytes())]).remove(0).last().unwrap().prefix_hash
    };
    let text = r#"{"type":"text","text":"x"}"#;
    let one = hash(&format!(r#"{{"role":"user","content":[{text},{text}]}}"#));
    let two = hash(&format!(
        r#"{{"role":"user","content":[{text}]}},{{"role":"user","content":[{text}]}}"#
    ));
    let other = hash(&format!(
        r#"{{"role":"user","content":[{text}]}},{{"role":"assistant","content":[{text}]}}"#
    ));
    assert_ne!(one, two);
    assert_ne!(two, other);
}
