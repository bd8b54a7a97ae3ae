//! Recorded calls: JSON lines, each with the body of a request and what was billed for it.
//!
//! Bodies are read whole and kept as blocks: identity, bytes, kind and marker. Calls are played in
//! the order of their times; one without a time goes one second after the call above it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::learn::Learnt;
use super::mistake::{Mistake, Place, TraceError};
use super::sized::{SizedBlocks, sizes};
use super::source::Source;
use super::{Observed, Sizes, Traced, time_of_seconds};
use crate::measure::identity;
use crate::provider::{self, Provider, RenderOptions, read_usage};
use crate::request::json::{Node, parse};
use crate::request::{
    BlockKind, Payload, RenderedPrompt, RequestBody, RequestEvent, RequestRole, StatedBlock,
    StatedPrompt,
};
use crate::units::{CacheTtl, SimTime};
use crate::usage::Usage;

/// Recorded calls in the order of their times.
#[derive(Debug)]
pub struct Capture {
    name: String,
    /// Each with what is known of its sizes.
    calls: Vec<(Call, SizedBlocks)>,
    /// What had to be assumed, or was left out, in words.
    pub notes: Vec<String>,
    /// The first call that stands below one that was sent later.
    pub out_of_order: Option<Box<Mistake>>,
}

/// One call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) line: u64,
    id: String,
    model: Arc<str>,
    scope: Arc<str>,
    platform: Arc<str>,
    namespace: Arc<str>,
    time: Option<Times>,
    start: SimTime,
    first_token_at: SimTime,
    pub(super) blocks: Vec<CallBlock>,
    /// Identities of the prefixes that end with each block.
    pub(super) prefixes: Vec<u128>,
    pub(super) usage: Usage,
    pub(super) observed: Observed,
}

/// One block of a recorded body.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallBlock {
    identity: u128,
    pub(super) bytes: u64,
    kind: BlockKind,
    pub(super) marker: Option<CacheTtl>,
}

/// When a call was sent and when its answer began, or at the latest ended.
#[derive(Clone, Copy, Debug)]
struct Times {
    start: SimTime,
    first_token_at: SimTime,
}

impl Capture {
    /// Reads all calls.
    ///
    /// # Errors
    /// Where a line cannot be read or is no recorded call.
    pub fn open(source: Source) -> Result<Capture, TraceError> {
        let io = |error| TraceError::io(source.name(), error);
        let mut lines = source.lines().map_err(io)?;
        let mut calls = Vec::new();
        let mut left_out: BTreeMap<LeftOut, usize> = BTreeMap::new();
        while let Some(line) = lines.next_line().map_err(io)? {
            let (number, bytes, ended) = (line.number, line.bytes, line.ended);
            match call(Place { name: source.name(), line: number, bytes, ended })? {
                Ok(call) => calls.push(call),
                Err(why) => *left_out.entry(why).or_default() += 1,
            }
        }
        let mut notes = Vec::new();
        for (why, number) in &left_out {
            let (calls, are) = if *number == 1 { ("call", "is") } else { ("calls", "are") };
            notes.push(format!("{number} {calls} {} {are} left out", why.text()));
        }
        let untimed = give_times(&mut calls);
        if untimed > 0 {
            notes.push(format!(
                "{untimed} of {} calls have no time: each is taken as sent one second after the \
                 call above it",
                calls.len()
            ));
        }
        let name = source.name().to_owned();
        let out_of_order = out_of_order(&name, &calls);
        calls.sort_by_key(|call| call.start);
        let learnt = Learnt::from(&calls);
        if !learnt.conflicts.is_empty() {
            notes.push(format!(
                "billed with another size than the first write of the same prefix: lines {}",
                listed(&learnt.conflicts)
            ));
        }
        let calls: Vec<(Call, SizedBlocks)> = calls
            .into_iter()
            .map(|call| {
                let sized = sizes(&call, &learnt);
                (call, sized)
            })
            .collect();
        let contradicted = calls.iter().filter(|(_, sized)| sized.contradicts);
        let contradicted: Vec<u64> = contradicted.map(|(call, _)| call.line).collect();
        if !contradicted.is_empty() {
            notes.push(format!(
                "billed less than a prefix that they contain: lines {}",
                listed(&contradicted)
            ));
        }
        Ok(Capture { name, calls, notes, out_of_order })
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its requests in the order of their times, and the platform and the day of each.
    pub fn requests(&self) -> impl Iterator<Item = Recorded> {
        self.calls.iter().map(|(call, sized)| Recorded {
            traced: traced(call, sized),
            platform: Arc::clone(&call.platform),
            day: call.time.and_then(|time| day_of(time.start)),
        })
    }
}

fn traced(call: &Call, sized: &SizedBlocks) -> Traced {
    let blocks = call.blocks.iter().zip(&sized.tokens).map(|(block, tokens)| StatedBlock {
        identity: block.identity,
        tokens: *tokens,
        kind: block.kind,
        marker: block.marker,
    });
    let namespace = Arc::clone(&call.namespace);
    let event = RequestEvent {
        id: call.id.clone(),
        role: RequestRole::Replayed,
        start: call.start,
        first_token_at: call.first_token_at,
        end: call.first_token_at,
        scope: Arc::clone(&call.scope),
        model: Arc::clone(&call.model),
        output: call.usage.output,
        payload: Payload::Blocks(StatedPrompt {
            namespace,
            blocks: blocks.collect(),
            tail: crate::units::Tokens::ZERO,
        }),
    };
    let sizes = Sizes::Learnt { known: sized.known.clone() };
    Traced { line: call.line, event, sizes, observed: Some(call.observed) }
}

/// One recorded request.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The request.
    pub traced: Traced,
    /// Whom it was sent to, as the recording says.
    pub platform: Arc<str>,
    /// The day on which it was sent (UTC), where the recording says.
    pub day: Option<Date>,
}

/// A line as it is written; what is not named here is not looked at.
#[derive(Deserialize)]
struct WireCall<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    usage: Option<serde_json::Value>,
    endpoint: Option<String>,
    id: Option<serde_json::Value>,
    model: Option<String>,
    provider: Option<String>,
    scope: Option<String>,
    t_request: Option<f64>,
    t_first_token: Option<f64>,
    t_response: Option<f64>,
    source: Option<WireSource>,
}

#[derive(Default, Deserialize)]
struct WireSource {
    repo: Option<String>,
    recorded_at: Option<serde_json::Value>,
}

/// The platform of a recording that names none.
fn platform_default() -> &'static str {
    provider::ALL.first().map_or("", |provider| provider.name())
}

/// A line that holds a call, for messages about its members.
struct CallLine<'a> {
    place: Place<'a>,
    root: Node,
}

impl CallLine<'_> {
    fn wrong(&self, key: &str, message: impl Into<String>, help: &str) -> Box<Mistake> {
        match self.root.get(key) {
            Some(node) => self.place.at(node, message, help),
            None => self.place.whole(message, help),
        }
    }

    fn prompt(&self, provider: &dyn Provider, body: &str) -> Result<RenderedPrompt, Box<Mistake>> {
        let help = "give the body of the request as it was sent";
        if self.root.get("request").and_then(|body| body.get("messages")).is_none() {
            return Err(self.wrong("request", "a request body with `messages` expected", help));
        }
        let body = RequestBody::captured(body.as_bytes().to_vec());
        let prompt = provider.render_recorded(&body, RenderOptions::default());
        prompt.map_err(|error| self.wrong("request", error.to_string(), help))
    }
}

/// Why a call is not played.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LeftOut {
    /// Nobody says what was billed: it failed, or was not recorded whole.
    NoUsage,
    /// It only asked for a count.
    NotSent,
    /// The cache rules of where it was sent are not known.
    Platform(String),
}

impl LeftOut {
    fn text(&self) -> String {
        match self {
            LeftOut::NoUsage => "without usage".to_owned(),
            LeftOut::NotSent => "that only asked for a token count".to_owned(),
            LeftOut::Platform(name) => format!("to `{name}`, whose cache rules are not known,"),
        }
    }
}

fn call(place: Place<'_>) -> Result<Result<Call, LeftOut>, TraceError> {
    let root = parse(place.bytes).map_err(|error| place.syntax(&error))?;
    let line = CallLine { place, root };
    let wire: WireCall<'_> = serde_json::from_slice(place.bytes).map_err(|error| {
        let mut mistake = place.whole(
            format!("not a recorded call: {}", without_place(&error)),
            "`request` is the body as an object, `usage` what was billed, times are seconds",
        );
        mistake.column = error.column();
        mistake
    })?;
    let Some(usage) = wire.usage.filter(|usage| !usage.is_null()) else {
        return Ok(Err(LeftOut::NoUsage));
    };
    if wire.endpoint.as_deref() == Some("count_tokens") {
        return Ok(Err(LeftOut::NotSent));
    }
    let platform = wire.provider.unwrap_or_else(|| platform_default().to_owned());
    let Some(provider) = provider::ALL.iter().find(|provider| provider.serves(&platform)) else {
        return Ok(Err(LeftOut::Platform(platform)));
    };
    let help = "give the provider's own usage object";
    let billed =
        read_usage(&usage, None).map_err(|error| line.wrong("usage", error.to_string(), help))?;
    let request = wire.request.get();
    let rendered = line.prompt(*provider, request)?;
    let model = wire.model.or_else(|| text_of(request, "model")).ok_or_else(|| {
        place.whole("no model is named", "give `model` beside `request`, or in it")
    })?;
    let source = wire.source.unwrap_or_default();
    let answer = wire.t_first_token.or(wire.t_response);
    let times = times(wire.t_request, answer, &source).map_err(|key| {
        let help = match key {
            "source" => "write `recorded_at` as 2026-08-02T17:44:17Z",
            _ => "seconds since 1970, e.g. 1748554704.293; an answer is not before its request",
        };
        line.wrong(key, "not a possible time", help)
    })?;
    let scope = wire.scope.or(source.repo).unwrap_or_default();
    let several_passes = has_several_passes(&usage);
    let mut call = Call {
        line: place.line,
        id: wire.id.map_or_else(|| format!("line-{}", place.line), plain),
        model: Arc::from(model),
        scope: Arc::from(format!("{platform} {scope}").trim_end()),
        platform: Arc::from(platform),
        namespace: Arc::from(without_model(&rendered.namespace)),
        time: times,
        start: SimTime(0),
        first_token_at: SimTime(0),
        blocks: rendered.blocks().map(block_of).collect(),
        prefixes: Vec::new(),
        usage: billed.usage,
        observed: observed(&billed.usage, several_passes),
    };
    call.prefixes = prefixes(&call);
    // A lifetime that the bill does not state is that of the markers, where they agree.
    if call.blocks.iter().all(|block| block.marker != Some(CacheTtl::FiveMinutes)) {
        call.usage = billed.with_assumed_writes(CacheTtl::OneHour);
        call.observed = observed(&call.usage, several_passes);
    }
    Ok(Ok(call))
}

/// What the reader of JSON says, without a line that is always the first and without our own names.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    text.replace("struct WireSource", "an object").replace("struct WireCall", "an object")
}

fn block_of(block: &crate::request::RenderedBlock) -> CallBlock {
    CallBlock {
        identity: identity::of_block(block),
        bytes: block.prompt_bytes.len() as u64,
        kind: block.kind,
        marker: block.marker,
    }
}

/// Sizes depend on the model, so its name is part of a prefix here.
fn prefixes(call: &Call) -> Vec<u128> {
    let mut prefix = identity::of_namespace(&format!("{}\n{}", call.model, call.namespace));
    let blocks = call.blocks.iter();
    blocks
        .map(|block| {
            prefix = identity::followed_by(prefix, block.identity);
            prefix
        })
        .collect()
}

fn observed(usage: &Usage, several_passes: bool) -> Observed {
    Observed {
        read: Some(usage.read.0),
        write_5m: Some(usage.write_5m.0),
        write_1h: Some(usage.write_1h.0),
        uncached: Some(usage.uncached.0),
        several_passes,
    }
}

/// The model has a cache of its own, whatever name it goes by.
fn without_model(namespace: &str) -> String {
    let kept = namespace.lines().filter(|line| !line.starts_with("\"model\":"));
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// Text of a top-level member.
fn text_of(json: &str, key: &str) -> Option<String> {
    parse(json.as_bytes()).ok()?.get(key)?.text(json.as_bytes())
}

fn plain(id: serde_json::Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// Whether passes of the model are billed as one: between them the provider ran tools of its own,
/// or made the history shorter.
fn has_several_passes(usage: &serde_json::Value) -> bool {
    let counts = usage.get("server_tool_use").and_then(serde_json::Value::as_object);
    let ran_tools = counts.is_some_and(|counts| {
        counts.values().any(|count| count.as_u64().is_some_and(|count| count > 0))
    });
    let passes = usage.get("iterations").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
    ran_tools || passes > 1
}

/// The key of the time that cannot be read is the error.
fn times(
    start: Option<f64>,
    answer: Option<f64>,
    source: &WireSource,
) -> Result<Option<Times>, &'static str> {
    if let Some(seconds) = start {
        let start = time_of_seconds(seconds).ok_or("t_request")?;
        let first = answer.map_or(Some(start), time_of_seconds).ok_or("t_response")?;
        if first < start {
            return Err("t_response");
        }
        return Ok(Some(Times { start, first_token_at: first }));
    }
    let start = match &source.recorded_at {
        None | Some(serde_json::Value::Null) => return Ok(None),
        Some(serde_json::Value::Number(seconds)) => seconds.as_f64().and_then(time_of_seconds),
        Some(serde_json::Value::String(text)) => moment_of(text),
        Some(_) => None,
    };
    let start = start.ok_or("source")?;
    Ok(Some(Times { start, first_token_at: start }))
}

/// A moment as text, in UTC where it names no offset.
fn moment_of(text: &str) -> Option<SimTime> {
    let stamp = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok())?;
    Some(SimTime(stamp.as_millisecond()))
}

/// The day of a moment, UTC.
fn day_of(moment: SimTime) -> Option<Date> {
    let stamp = Timestamp::from_millisecond(moment.0).ok()?;
    Some(Offset::UTC.to_datetime(stamp).date())
}

/// At most ten numbers, and how many more there are.
fn listed(lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(10).map(u64::to_string).collect();
    let more = lines.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Gives every call its times; one that has none goes a second after the one above it, and a first
/// one as many seconds before the first that has. Gives the number of those.
fn give_times(calls: &mut [Call]) -> usize {
    let first = calls.iter().position(|call| call.time.is_some());
    let mut next = match first {
        Some(first) => {
            let start = calls[first].time.map_or(SimTime(0), |time| time.start);
            start.plus_ms(-1_000 * first as i64)
        }
        None => SimTime(0),
    };
    let mut untimed = 0;
    for call in calls {
        let assumed = Times { start: next, first_token_at: next };
        untimed += usize::from(call.time.is_none());
        let time = call.time.unwrap_or(assumed);
        (call.start, call.first_token_at) = (time.start, time.first_token_at);
        next = time.start.plus_ms(1_000);
    }
    untimed
}

fn out_of_order(name: &str, calls: &[Call]) -> Option<Box<Mistake>> {
    let pair = calls.windows(2).find(|pair| pair[1].start < pair[0].start)?;
    let place = Place { name, line: pair[1].line, bytes: b"", ended: true };
    let message = format!("sent before the call of line {}", pair[0].line);
    let help = "sort the calls by the time at which they were sent, or leave out --strict";
    Some(place.whole(message, help))
}
