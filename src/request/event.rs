//! Waist 1: the only thing that enters the simulator.

use super::body::RequestBody;
use crate::units::{SimTime, Tokens};

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
}

impl RequestRole {
    /// The word in `records.csv`.
    pub fn as_str(self) -> &'static str {
        match self {
            RequestRole::Parent => "parent",
            RequestRole::Prewarm => "prewarm",
            RequestRole::Child => "child",
            RequestRole::Fresh => "fresh",
        }
    }
}

/// What a request sends.
#[derive(Clone, Debug)]
pub enum Payload {
    /// Its bytes.
    Body(RequestBody),
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
    pub scope: String,
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
            scope: String::new(),
            output: Tokens::ZERO,
            payload: Payload::Body(body),
        }
    }
}
