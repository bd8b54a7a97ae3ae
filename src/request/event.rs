//! Waist 1: the only thing that enters the simulator.

use std::sync::Arc;

use super::body::RequestBody;
use super::frame::Frame;
use super::rendered::{BlockKind, RenderedBlock, RenderedPrompt, Section};
use crate::units::{CacheTtl, SimTime, Tokens};

/// What part a request plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestRole {
    /// The parent's last request before the fork; paid either way and in no total.
    Parent,
    /// A request with `max_tokens: 0` that only fills the cache.
    Prewarm,
    /// A child's first request.
    Child,
    /// A fresh agent's first request, for comparison.
    Fresh,
    /// A request that comes from outside: nobody here knows what it was for.
    Replayed,
}

impl RequestRole {
    /// The word in `records.csv`.
    pub fn as_str(self) -> &'static str {
        match self {
            RequestRole::Parent => "parent",
            RequestRole::Prewarm => "prewarm",
            RequestRole::Child => "child",
            RequestRole::Fresh => "fresh",
            RequestRole::Replayed => "replayed",
        }
    }
}

/// What a request sends.
#[derive(Clone, Debug)]
pub enum Payload {
    /// Its bytes.
    Body(RequestBody),
    /// Its blocks, as somebody else measured them.
    Blocks(StatedPrompt),
}

/// A prompt without its bytes: blocks in the provider's order, each with its identity and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedPrompt {
    /// What besides the prompt keys the cache (model and parameters), as canonical text.
    pub namespace: Arc<str>,
    /// The blocks.
    pub blocks: Vec<StatedBlock>,
    /// Tokens behind the last block, which no cache holds.
    pub tail: Tokens,
}

/// One block of such a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedBlock {
    /// Equal for equal blocks in equal places, and only for those.
    pub identity: u128,
    /// Its tokens.
    pub tokens: Tokens,
    /// Its kind.
    pub kind: BlockKind,
    /// The lifetime asked for where it carries a marker.
    pub marker: Option<CacheTtl>,
}

impl StatedPrompt {
    /// The prompt as far as it is known: its blocks have no bytes and no text.
    pub fn rendered(&self) -> RenderedPrompt {
        let shared = self.blocks.iter().enumerate().map(|(index, block)| RenderedBlock {
            section: match block.kind {
                BlockKind::Tool => Section::Tools,
                BlockKind::System => Section::System,
                BlockKind::Text
                | BlockKind::ToolUse
                | BlockKind::ToolResult
                | BlockKind::Thinking
                | BlockKind::Image
                | BlockKind::Document
                | BlockKind::Other => Section::Messages,
            },
            kind: block.kind,
            role: None,
            starts_message: false,
            pointer: format!("/blocks/{index}"),
            prompt_bytes: Arc::from([]),
            counted_text: Arc::from(""),
            frame: Frame::default(),
            marker: block.marker,
        });
        let namespace = Arc::clone(&self.namespace);
        RenderedPrompt { shared: shared.collect(), namespace, ..RenderedPrompt::default() }
    }
}

/// One request: who sends what, and when.
#[derive(Clone, Debug)]
pub struct RequestEvent {
    /// Name of the request, unique in its run, e.g. `child-003`.
    pub id: String,
    /// Its part.
    pub role: RequestRole,
    /// When it is sent; lifetimes count from here.
    pub start: SimTime,
    /// When the response begins; what it writes is readable from here. Not before `start`.
    pub first_token_at: SimTime,
    /// When the response ends. Not before `first_token_at`.
    pub end: SimTime,
    /// Whose cache it uses: requests of two scopes never share.
    pub scope: Arc<str>,
    /// The model as the request names it; empty where nobody says. Requests to two models never
    /// share.
    pub model: Arc<str>,
    /// Tokens of the answer.
    pub output: Tokens,
    /// What it sends.
    pub payload: Payload,
}

impl RequestEvent {
    /// A request sent and answered at the moment of the fork, where only its prompt matters.
    pub fn at_once(body: RequestBody) -> RequestEvent {
        RequestEvent {
            id: String::new(),
            role: RequestRole::Child,
            start: SimTime(0),
            first_token_at: SimTime(0),
            end: SimTime(0),
            scope: Arc::from(""),
            model: Arc::from(""),
            output: Tokens::ZERO,
            payload: Payload::Body(body),
        }
    }
}
