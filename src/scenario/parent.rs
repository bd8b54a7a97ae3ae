//! `[parent]`: tools, system, history or a captured request, the dispatch, and the cache entry.

use std::sync::Arc;

use super::diagnostic::{Mistakes, code};
use super::files::Context;
use super::walk::{Field, Section};
use super::{
    DispatchSize, DispatchSpec, HistorySpec, ParentCache, ParentPrompt, ParentSpec, ParentState,
    SystemSpec, ToolsSpec, wire,
};
use crate::provider::import;
use crate::request::{CapturedBody, Message, Role, json};
use crate::units::{CacheTtl, grouped};

/// Largest size in tokens that a scenario may declare.
pub(super) const TOKENS_MAX: u64 = 20_000_000;
/// Words for lifetimes.
pub(super) const TTLS: [(&str, CacheTtl); 2] =
    [("5m", CacheTtl::FiveMinutes), ("1h", CacheTtl::OneHour)];

const TOOLS_MAX: u64 = 10_000;
const TURNS_MAX: u64 = 100_000;
const DISPATCH_BLOCKS_MAX: u64 = 1_000;
const AGE_S_MAX: i64 = 31_536_000;
const TOKENS_PER_TOOL: u64 = 300;
const TOKENS_PER_TURN: u64 = 2_500;
const WARM_AGE_MS: i64 = 30_000;
const EXPIRED_MARGIN_MS: i64 = 60_000;
const STATES: [(&str, ParentState); 3] =
    [("warm", ParentState::Warm), ("cold", ParentState::Cold), ("expired", ParentState::Expired)];

/// A captured request and the key that named it.
pub(super) struct Captured<'a> {
    pub(super) field: Field<'a>,
    pub(super) body: Arc<CapturedBody>,
}

impl Captured<'_> {
    /// The model that the body names.
    pub(super) fn model(&self) -> Option<String> {
        self.body.tree().get("model")?.text(self.body.bytes())
    }

    fn member_items(&self, member: &str) -> &[json::Node] {
        self.body.tree().get(member).map_or(&[], json::Node::items)
    }

    /// Lifetime asked for by the markers on tools and system blocks: an hour where any of them
    /// asks for one. `None` where there is no such marker.
    fn marker_ttl(&self) -> Option<CacheTtl> {
        let blocks = self.member_items("tools").iter().chain(self.member_items("system"));
        let markers = blocks.filter_map(|block| block.get("cache_control"));
        let ttls = markers.filter(|marker| !marker.members().is_empty()).map(|marker| {
            let ttl = marker.get("ttl");
            let hour = ttl.is_some_and(|ttl| ttl.is_text(self.body.bytes(), "1h"));
            if hour { CacheTtl::OneHour } else { CacheTtl::FiveMinutes }
        });
        ttls.max()
    }

    fn ends_in_assistant(&self) -> bool {
        let last = self.member_items("messages").last();
        let role = last.and_then(|message| message.get("role"));
        role.is_some_and(|role| role.is_text(self.body.bytes(), Role::Assistant.as_str()))
    }
}

/// Reads `parent.request`, where it stands. The outer `None` stands for a mistake.
pub(super) fn captured<'a>(
    parent: &Section<'a>,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<Option<Captured<'a>>> {
    let Some(field) = parent.field("request") else { return Some(None) };
    let mut alone = true;
    for part in ["tools", "system", "history"] {
        alone &= parent.at_most_one(&["request", part], mistakes);
    }
    let body = field.captured(ctx, mistakes)?;
    alone.then(|| Some(Captured { field, body: Arc::new(body) }))
}

/// Reads the rest of `[parent]`.
pub(super) fn parent(
    section: &Section<'_>,
    captured: Option<&Captured<'_>>,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<ParentSpec> {
    let prompt = match captured {
        Some(captured) => Some(ParentPrompt::Request(Arc::clone(&captured.body))),
        None if section.field("request").is_some() => None,
        None => parts(section, ctx, mistakes),
    };
    let cache = cache(section, captured, mistakes);
    let dispatch = dispatch(section, mistakes);
    let prompt = prompt?;
    let recorded = match &prompt {
        ParentPrompt::Request(_) => captured.is_some_and(Captured::ends_in_assistant),
        ParentPrompt::Parts { history: HistorySpec::Given(messages), .. } => {
            messages.last().is_some_and(|message| message.role == Role::Assistant)
        }
        ParentPrompt::Parts { history: HistorySpec::Sized { .. }, .. } => false,
    };
    if let Some(field) = section.field("dispatch").filter(|_| recorded) {
        let message = format!(
            "{} cannot be set: the parent's messages end in an assistant message, which is the \
             dispatch",
            field.key
        );
        field.report(code::CONFLICT, message, "delete parent.dispatch", mistakes);
    }
    Some(ParentSpec { prompt, dispatch: dispatch?, cache: cache? })
}

fn parts(
    section: &Section<'_>,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<ParentPrompt> {
    let tools = tools(section, ctx, mistakes);
    let system = system(section, ctx, mistakes);
    let history = history(section, ctx, mistakes);
    Some(ParentPrompt::Parts { tools: tools?, system: system?, history: history? })
}

fn tools(parent: &Section<'_>, ctx: &Context<'_>, mistakes: &mut Mistakes) -> Option<ToolsSpec> {
    let section = parent.table("tools", wire::TOOLS, mistakes)?;
    if parent.field("tools").is_none() {
        return Some(ToolsSpec::Sized { count: 0, tokens: 0 });
    }
    let alone = section.at_most_one(&["file", "tokens"], mistakes)
        & section.at_most_one(&["file", "count"], mistakes);
    if let Some(field) = section.field("file") {
        let part = field.json_part("tools", ctx, mistakes)?;
        let tools = field.imported(&part, import::tools(&part.text), mistakes);
        return tools.filter(|_| alone).map(ToolsSpec::Given);
    }
    let tokens =
        section.required("tokens", "write { tokens = 12000 } or { file = \"...\" }", mistakes);
    let tokens = tokens.and_then(|field| field.integer(0..=TOKENS_MAX, mistakes));
    let default = tokens.map_or(0, |tokens| tokens.div_ceil(TOKENS_PER_TOOL));
    let count =
        section.read("count", default, mistakes, |field, m| field.integer(0..=TOOLS_MAX, m));
    let (tokens, count) = (tokens?, count?);
    let Some(field) = section.field("count") else {
        return Some(ToolsSpec::Sized { count: count.min(TOOLS_MAX), tokens });
    };
    if count > tokens || (count == 0 && tokens > 0) {
        let message = format!(
            "{} is {}, but parent.tools.tokens is {}: each tool has at least one token, and \
             without tools there are none",
            field.key,
            grouped(count.into()),
            grouped(tokens.into())
        );
        let help = "raise the tokens, or delete the count for one tool every 300 tokens";
        field.report(code::TOO_SMALL, message, help, mistakes);
        return None;
    }
    Some(ToolsSpec::Sized { count, tokens })
}

fn system(parent: &Section<'_>, ctx: &Context<'_>, mistakes: &mut Mistakes) -> Option<SystemSpec> {
    let section = parent.table("system", wire::SYSTEM, mistakes)?;
    if parent.field("system").is_none() {
        return Some(SystemSpec::Sized { tokens: 0 });
    }
    let alone = section.at_most_one(&["file", "tokens"], mistakes);
    let Some(field) = section.field("file") else {
        let help = "write { tokens = 4000 } or { file = \"...\" }";
        let field = section.required("tokens", help, mistakes)?;
        let tokens = field.integer(0..=TOKENS_MAX, mistakes)?;
        return Some(SystemSpec::Sized { tokens });
    };
    let content = field.content(ctx, mistakes)?;
    if !content.is_json() {
        let text = content.into_text();
        if text.trim().is_empty() {
            empty_file(&field, "text", mistakes);
            return None;
        }
        return alone.then(|| SystemSpec::Given(vec![text]));
    }
    let part = field.part_of(&content, "system", mistakes)?;
    let blocks = field.imported(&part, import::system(&part.text), mistakes);
    blocks.filter(|_| alone).map(SystemSpec::Given)
}

fn empty_file(field: &Field<'_>, what: &str, mistakes: &mut Mistakes) {
    let message = format!("{}: the file holds no {what}", field.key);
    field.report(code::FILE_CONTENT, message, "name another file, or write { tokens }", mistakes);
}

fn history(
    parent: &Section<'_>,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<HistorySpec> {
    const EXAMPLE: &str = "write history = { tokens = 30000 }, { file = \"...\" } or \
                           { transcript = \"...\" }, or name a captured request";
    parent.required("history", EXAMPLE, mistakes)?;
    let section = parent.table("history", wire::HISTORY, mistakes)?;
    let alone = section.at_most_one(&["tokens", "file", "transcript"], mistakes)
        & section.at_most_one(&["turns", "file"], mistakes)
        & section.at_most_one(&["turns", "transcript"], mistakes);
    if let Some(field) = section.field("file") {
        let part = field.json_part("messages", ctx, mistakes)?;
        let messages = field.imported(&part, import::messages(&part.text), mistakes);
        return given(&field, messages?, mistakes).filter(|_| alone);
    }
    if let Some(field) = section.field("transcript") {
        let part = field.content(ctx, mistakes)?.whole();
        let messages = field.imported(&part, import::transcript(&part.text), mistakes);
        return given(&field, messages?, mistakes).filter(|_| alone);
    }
    let tokens = section.required("tokens", EXAMPLE, mistakes);
    let tokens = tokens.and_then(|field| field.integer(1..=TOKENS_MAX, mistakes));
    let default = tokens.unwrap_or(0) / TOKENS_PER_TURN;
    let turns =
        section.read("turns", default, mistakes, |field, m| field.integer(0..=TURNS_MAX, m));
    let (tokens, turns) = (tokens?, turns?);
    let messages = 2 * turns + 1;
    if let Some(field) = section.field("turns").filter(|_| messages > tokens) {
        let message = format!(
            "{} makes {} messages, but parent.history.tokens is {}: each message has at least \
             one token",
            field.key,
            grouped(messages.into()),
            grouped(tokens.into())
        );
        let help = format!("write at most {} turns", tokens.saturating_sub(1) / 2);
        field.report(code::TOO_SMALL, message, help, mistakes);
        return None;
    }
    Some(HistorySpec::Sized { tokens, turns })
}

fn given(
    field: &Field<'_>,
    messages: Vec<Message>,
    mistakes: &mut Mistakes,
) -> Option<HistorySpec> {
    if messages.is_empty() {
        empty_file(field, "message", mistakes);
        return None;
    }
    Some(HistorySpec::Given(messages))
}

fn dispatch(parent: &Section<'_>, mistakes: &mut Mistakes) -> Option<DispatchSpec> {
    let section = parent.table("dispatch", wire::DISPATCH, mistakes)?;
    let alone = section.at_most_one(&["tokens_per_call", "tokens"], mistakes);
    let tokens = |field: &Field<'_>, m: &mut Mistakes| field.integer(1..=TOKENS_MAX, m);
    let size = if let Some(field) = section.field("tokens_per_call") {
        tokens(&field, mistakes).map(DispatchSize::PerCall)
    } else if let Some(field) = section.field("tokens") {
        tokens(&field, mistakes).map(DispatchSize::Total)
    } else {
        Some(DispatchSize::Natural)
    };
    let mut blocks = |name| {
        section.read(name, 0, mistakes, |field, m| field.integer(0..=DISPATCH_BLOCKS_MAX, m))
    };
    let (thinking, text) = (blocks("thinking_blocks"), blocks("text_blocks"));
    let (size, thinking_blocks, text_blocks) = (size?, thinking?, text?);
    if size == DispatchSize::Natural && thinking_blocks + text_blocks > 0 {
        let field = section.field("thinking_blocks").or_else(|| section.field("text_blocks"))?;
        let message =
            format!("{} needs a size: the blocks are inside the dispatch's tokens", field.key);
        let help = "add tokens_per_call = 400, or tokens = 2000 for all calls together";
        field.report(code::NEEDS_KEY, message, help, mistakes);
        return None;
    }
    alone.then_some(DispatchSpec { size, thinking_blocks, text_blocks })
}

fn cache(
    parent: &Section<'_>,
    captured: Option<&Captured<'_>>,
    mistakes: &mut Mistakes,
) -> Option<ParentCache> {
    let section = parent.table("cache", wire::CACHE, mistakes)?;
    let recorded = captured.and_then(Captured::marker_ttl);
    let default = recorded.unwrap_or(CacheTtl::FiveMinutes);
    let ttl = section.read("ttl", default, mistakes, |field, m| field.choice(&TTLS, m));
    let state =
        section.read("state", ParentState::Warm, mistakes, |field, m| field.choice(&STATES, m));
    let age =
        section.read("age_s", None, mistakes, |field, m| field.millis(0..=AGE_S_MAX, m).map(Some));
    let (ttl, state, age) = (ttl?, state?, age?);
    if let (Some(field), Some(recorded)) = (section.field("ttl"), recorded.filter(|r| *r != ttl)) {
        let message = format!(
            "{} is {ttl}, but the captured markers on tools and system ask for {recorded}",
            field.key
        );
        field.report(code::CONTRADICTION, message, format!("write \"{recorded}\""), mistakes);
        return None;
    }
    let Some(age_ms) = age else {
        let age_ms = match state {
            ParentState::Warm => WARM_AGE_MS,
            ParentState::Cold => 0,
            ParentState::Expired => ttl.as_millis() + EXPIRED_MARGIN_MS,
        };
        return Some(ParentCache { state, age_ms, ttl });
    };
    check_age(&section.field("age_s")?, state, age_ms, ttl, mistakes).then_some(ParentCache {
        state,
        age_ms,
        ttl,
    })
}

/// True where an entry of this lifetime can have this age in this state.
fn check_age(
    field: &Field<'_>,
    state: ParentState,
    age_ms: i64,
    ttl: CacheTtl,
    mistakes: &mut Mistakes,
) -> bool {
    let lifetime = ttl.as_millis();
    let key = &field.key;
    let (message, help) = match state {
        ParentState::Warm if age_ms >= lifetime => (
            format!(
                "{key} must be less than {} s while the entry is warm ({ttl})",
                lifetime / 1000
            ),
            "lower the age, or set parent.cache.state = \"expired\"",
        ),
        ParentState::Expired if age_ms < lifetime => (
            format!(
                "{key} must be at least {} s once the entry is expired ({ttl})",
                lifetime / 1000
            ),
            "raise the age, or set parent.cache.state = \"warm\"",
        ),
        ParentState::Cold => (
            format!("{key} has no effect on a cold entry, which was never written"),
            "delete parent.cache.age_s, or set parent.cache.state = \"warm\"",
        ),
        ParentState::Warm | ParentState::Expired => return true,
    };
    field.report(code::CONTRADICTION, message, help, mistakes);
    false
}
