//! Forks of real, recorded calls: every call of a Claude Code session that carries tools and
//! markers becomes a parent, and what its children send is checked against the recorded text.
//!
//! `FORKCOST_DATA` names the folder of the recording; where it is absent the tests are ignored.
//! The recorded text is taken apart here by hand, not by the code under test.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, process};

use forkcost::agent::{Play, Variant, play, prepare};
use forkcost::record::RunRecord;
use forkcost::request::RequestBody;
use forkcost::scenario::{self, Scenario};
use forkcost::tokens::Tokenizer;
use forkcost::whatif::{Study, study};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use serde_json::value::RawValue;

const RECORDING: &str = "captures/claude_code_1.0.6_conversation1.jsonl";

/// The form of every marker in the recording.
const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

const CHILDREN: u64 = 5;

/// How far a counted total may be from the billed one, in tokens: a bound, not the measured error.
const ERROR_TOKENS_MAX: u64 = 1;

/// How far the counted end of the parent's entry may be from where the API put it, in tokens: bills
/// end it a few tokens before or behind the end of the block.
const ENTRY_TOKENS_MAX: u64 = 4;

fn main() -> process::ExitCode {
    let data = env::var_os("FORKCOST_DATA").map(PathBuf::from);
    let path = data.map(|data| data.join(RECORDING)).filter(|path| path.is_file());
    let calls = path.as_deref().map(calls).unwrap_or_default();
    let trials = if calls.is_empty() { absent() } else { trials(calls) };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn absent() -> Vec<Trial> {
    let names = ["recorded_calls_fork", "recorded_dispatch_is_inherited", "token_error"];
    let none = || Err("no data".into());
    names.iter().map(|name| Trial::test(*name, none).with_ignored_flag(true)).collect()
}

fn trials(calls: Vec<Call>) -> Vec<Trial> {
    let calls = Arc::new(calls);
    let mut trials = Vec::new();
    for index in 0..calls.len() {
        let calls = Arc::clone(&calls);
        let name = format!("recorded_calls_fork::line_{:02}", calls[index].line);
        trials.push(Trial::test(name, move || forks(&calls[index])));
    }
    let (all, last) = (Arc::clone(&calls), Arc::clone(&calls));
    trials.push(Trial::test("all_marked_calls_are_seen", move || {
        law(calls.len() == 14, || format!("{} calls with tools and markers", calls.len()))
    }));
    trials.push(Trial::test("recorded_dispatch_is_inherited", move || inherits(&last)));
    trials.push(Trial::test("token_error", move || token_error(&all)));
    trials
}

/// One recorded call with tools and markers.
struct Call {
    /// Line of the recording, from 1.
    line: usize,
    /// The request as recorded.
    body: String,
    /// Input tokens as billed: read, written and uncached.
    billed: u64,
    /// Those of them that were read or written.
    cached: u64,
}

fn calls(path: &Path) -> Vec<Call> {
    #[derive(serde::Deserialize)]
    struct Row<'a> {
        #[serde(borrow)]
        request: &'a RawValue,
        usage: Value,
    }
    let text = fs::read_to_string(path).unwrap();
    let call = |(index, line): (usize, &str)| {
        let row: Row<'_> = serde_json::from_str(line).unwrap();
        let body = row.request.get().to_owned();
        let classes = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let tokens = |class: &&str| row.usage[*class].as_u64();
        let billed = classes.iter().filter_map(tokens).sum();
        let cached = classes[1..].iter().filter_map(tokens).sum();
        let is_marked = body.contains(MARKER) && body.contains("\"tools\":[{");
        is_marked.then_some(Call { line: index + 1, body, billed, cached })
    };
    text.lines().enumerate().filter_map(call).collect()
}

/// Fails with the message where `holds` is false.
fn law(holds: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(message().into()) }
}

/// A scenario whose parent is `body`, read from a file as a user's would be.
fn forked(body: &str, children: u64) -> Result<Scenario, Failed> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("body.json"), body)?;
    let text = format!(
        "version = 1\n[parent]\nrequest = \"body.json\"\ncache = {{ state = \"warm\" }}\n\
         [fork]\nchildren = {children}\ndirective = {{ tokens = 120 }}\n"
    );
    let path = folder.path().join("fork.toml");
    fs::write(&path, text)?;
    Ok(scenario::load(&path, &[])?)
}

fn played(scenario: &Scenario) -> Result<Play, Failed> {
    let material = prepare(scenario, &Tokenizer::new(scenario.tokenizer))?;
    Ok(play(scenario, &material, &Variant::of(scenario))?)
}

fn text_of(body: &RequestBody) -> Result<String, Failed> {
    Ok(String::from_utf8(body.to_vec())?)
}

fn forks(call: &Call) -> Result<(), Failed> {
    let scenario = forked(&call.body, CHILDREN)?;
    let plays = played(&scenario)?;
    law(text_of(&plays.parent)? == call.body, || "the parent's bytes changed".to_owned())?;
    law(plays.children.len() as u64 == CHILDREN, || "children are missing".to_owned())?;
    for body in plays.children.iter().chain([&plays.parent]) {
        let refusals = scenario.provider.refusals(body);
        law(refusals.is_empty(), || format!("{refusals:?}"))?;
    }
    let texts = plays.children.iter().map(text_of).collect::<Result<Vec<_>, _>>()?;
    for text in &texts {
        splice_is_undone(text, &call.body)?;
        markers_stand_where_the_policy_says(text)?;
    }
    let studied = study(&scenario, &mut |_| {})?;
    children_read_the_whole_parent(&studied, call)?;
    three_numbers_agree(&studied, &texts)
}

/// Takes the added messages out and puts the recorded markers back: the recorded bytes are there.
fn splice_is_undone(child: &str, recorded: &str) -> Result<(), Failed> {
    let (child, bare) = (child.replace(MARKER, ""), recorded.replace(MARKER, ""));
    let at = child.bytes().zip(bare.bytes()).take_while(|(ours, theirs)| ours == theirs).count();
    let added = child.len() - bare.len();
    let (head, rest) = child.split_at(at);
    let (inserted, tail) = rest.split_at(added);
    let messages: Vec<Value> =
        serde_json::from_str(&format!("[{}]", inserted.trim_start_matches(',')))?;
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    law(roles == ["assistant", "user"], || format!("{roles:?} were added"))?;
    let [dispatch, answer] = [&messages[0]["content"], &messages[1]["content"]];
    let calls = dispatch.as_array().ok_or("a dispatch without blocks")?;
    let blocks = answer.as_array().ok_or("an answer without blocks")?;
    let calls: Vec<&Value> = calls.iter().filter(|block| block["type"] == "tool_use").collect();
    law(calls.len() as u64 == CHILDREN, || format!("{} calls", calls.len()))?;
    law(blocks.len() == calls.len() + 1, || format!("{} blocks", blocks.len()))?;
    for (call, result) in calls.iter().zip(blocks) {
        let answers = result["type"] == "tool_result" && result["tool_use_id"] == call["id"];
        law(answers, || format!("{result} does not answer {}", call["id"]))?;
    }
    let own = blocks.last().ok_or("no block")?;
    law(own["type"] == "text", || format!("{own} is no directive"))?;
    law(with_markers(&format!("{head}{tail}"), recorded) == recorded, || {
        format!("bytes differ from {at} on")
    })
}

/// Puts markers into `bare` at the places where `recorded` has them.
fn with_markers(bare: &str, recorded: &str) -> String {
    let mut from = 0;
    let pieces = recorded.split(MARKER).map(|piece| {
        let start = from;
        from += piece.len();
        bare.get(start..from).unwrap_or_default()
    });
    pieces.collect::<Vec<_>>().join(MARKER)
}

/// `cc_tail`: both blocks of the system prompt, and the last block of the last message.
fn markers_stand_where_the_policy_says(child: &str) -> Result<(), Failed> {
    let body: Value = serde_json::from_str(child)?;
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    let last = last.and_then(|message| message["content"].as_array()?.last());
    let system = body["system"].as_array().ok_or("no system blocks")?;
    let marked = system.iter().chain(last).filter(|block| block["cache_control"].is_object());
    let marked = marked.count();
    let all = child.matches("\"cache_control\":{").count();
    law(marked == system.len() + 1 && all == marked, || format!("{marked} of {all} markers"))
}

fn of_plan<'s>(studied: &'s Study, role: &str) -> Vec<&'s RunRecord> {
    let rows = studied.records.iter().filter(|row| row.plan == "this_plan");
    rows.filter(|row| row.role == role).collect()
}

/// The recorded call marks its last block, so its entry is its whole prompt but for the cue to
/// answer, and each child reads just that.
fn children_read_the_whole_parent(studied: &Study, call: &Call) -> Result<(), Failed> {
    let body: Value = serde_json::from_str(&call.body)?;
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    let last = last.and_then(|message| message["content"].as_array()?.last());
    let is_marked = last.is_some_and(|block| block["cache_control"].is_object());
    law(is_marked, || "the recorded call does not mark its last block".to_owned())?;

    let parents = of_plan(studied, "parent");
    let [parent] = parents[..] else { return Err("not one parent".into()) };
    let marker = parent.markers.split(' ').next_back().unwrap_or_default();
    let entry = parent.input - parent.uncached;
    law(marker == format!("{entry}@5m"), || format!("last marker {marker}"))?;
    let off = entry.abs_diff(call.cached);
    law(off <= ENTRY_TOKENS_MAX, || format!("an entry of {entry}, billed {}", call.cached))?;
    let shared = studied.summary.shared_with_parent.prompt_tokens;
    law(shared == entry, || format!("{shared} of {entry} shared"))?;
    for child in of_plan(studied, "child") {
        let name = &child.request;
        law(child.read == entry, || format!("{name} reads {}", child.read))?;
        law(child.shared_with_parent == entry, || format!("{name}: {child:?}"))?;
        law(child.reason == "no_entry_at_boundary", || format!("{name}: {}", child.reason))?;
        let written = child.input - child.read - child.uncached;
        law(child.write_5m == written, || format!("{name}: {child:?}"))?;
    }
    Ok(())
}

/// Bytes of bodies, bytes of prompts, tokens: counted on the texts, or bounded by what must be in
/// them.
fn three_numbers_agree(studied: &Study, children: &[String]) -> Result<(), Failed> {
    let (shared, parent) = (studied.summary.shared, studied.summary.shared_with_parent);
    let first = children.first().ok_or("no child")?;
    let common = |other: &String| {
        first.bytes().zip(other.bytes()).take_while(|(ours, theirs)| ours == theirs).count()
    };
    let bytes = children.iter().skip(1).map(common).min().unwrap_or(0);
    law(shared.body_bytes == bytes as u64, || format!("{} of {bytes} bytes", shared.body_bytes))?;
    let difference = studied.summary.first_difference.as_ref().ok_or("all children are equal")?;
    law(difference.byte == bytes as u64, || format!("{difference:?}"))?;
    // Messages stand before system and tools here, so the bodies part before the prompts do.
    law(shared.prompt_bytes > shared.body_bytes, || format!("{shared:?}"))?;
    let tokens = shared.prompt_tokens + shared.head_tokens;
    law(tokens < studied.summary.child_tokens, || format!("{shared:?}"))?;
    let grows = shared.prompt_tokens > parent.prompt_tokens
        && shared.prompt_bytes > parent.prompt_bytes
        && parent.head_tokens == 0;
    law(grows, || format!("{shared:?} and with the parent {parent:?}"))
}

/// A recorded body that ends in an assistant message with three calls: that message is the
/// dispatch.
fn inherits(calls: &[Call]) -> Result<(), Failed> {
    let call = calls.iter().find(|call| call.line == 33).ok_or("line 33 is absent")?;
    let end = call.body.find("],\"temperature\":").ok_or("messages do not end as expected")?;
    let call_block = |id: usize| {
        let input = r#"{"description":"d","prompt":"p"}"#;
        format!(r#"{{"type":"tool_use","id":"toolu_x{id}","name":"Task","input":{input}}}"#)
    };
    let blocks = (0..3).map(call_block).collect::<Vec<_>>().join(",");
    let message = format!(r#",{{"role":"assistant","content":[{blocks}]}}"#);
    let ended = format!("{}{message}{}", &call.body[..end], &call.body[end..]);
    let scenario = forked(&ended, 3)?;
    let plays = played(&scenario)?;
    let parent = text_of(&plays.parent)?;
    law(parent.replace(MARKER, "") == call.body.replace(MARKER, ""), || {
        "the parent's request is not the recording without the dispatch".to_owned()
    })?;
    for body in &plays.children {
        let (text, bare) = (text_of(body)?.replace(MARKER, ""), ended.replace(MARKER, ""));
        let at = text.bytes().zip(bare.bytes()).take_while(|(a, b)| a == b).count();
        let inserted = &text[at..at + text.len() - bare.len()];
        let answer: Value = serde_json::from_str(inserted.trim_start_matches(','))?;
        let blocks = answer["content"].as_array().ok_or("no blocks")?;
        let ids: Vec<&str> = blocks.iter().filter_map(|b| b["tool_use_id"].as_str()).collect();
        law(ids == ["toolu_x0", "toolu_x1", "toolu_x2"], || format!("{ids:?}"))?;
        law(blocks.len() == 4 && answer["role"] == "user", || format!("{} blocks", blocks.len()))?;
        law(text[at + inserted.len()..] == bare[at..], || "the rest differs".to_owned())?;
    }
    let studied = study(&scenario, &mut |_| {})?;
    let parents = of_plan(&studied, "parent");
    let parent = parents.first().ok_or("no parent")?;
    let entry = parent.input - parent.uncached;
    let reads = of_plan(&studied, "child").iter().all(|child| child.read == entry);
    law(reads, || "a child does not read the parent's whole request".to_owned())
}

/// The counts of the model's family against what the API billed.
fn token_error(calls: &[Call]) -> Result<(), Failed> {
    let mut errors = Vec::new();
    for call in calls {
        let scenario = forked(&call.body, 1)?;
        let studied = study(&scenario, &mut |_| {})?;
        let parents = of_plan(&studied, "parent");
        let ours = parents.first().ok_or("no parent")?.input;
        println!("line {:2}: {ours} counted, {} billed", call.line, call.billed);
        errors.push(ours.abs_diff(call.billed));
    }
    errors.sort_unstable();
    let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    println!("median {median}, worst {worst} tokens off");
    law(worst <= ERROR_TOKENS_MAX, || format!("{worst} tokens off"))
}
