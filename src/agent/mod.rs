//! Plays a scenario: makes its text, builds its bodies, and says when each request is sent.
//!
//! [`prepare`] makes the text once; [`play`] turns it into events under one [`Variant`] of markers,
//! lifetimes and schedule, through the one construction path of [`crate::fork`] and
//! [`crate::request::build`].

pub mod content;
pub mod fresh;
pub mod material;
mod permission;
pub mod timing;
pub mod variant;

pub use fresh::play_fresh;
pub use material::{Material, prepare};
pub use variant::{Variant, changes};

use std::sync::Arc;

use crate::agent::content::ContentError;
use crate::fork::gate::Refusal;
use crate::fork::limits::Exceeded;
use crate::fork::{ForkError, ForkPlan, child};
use crate::provider;
use crate::provider::import::ImportError;
use crate::request::{Payload, RequestBody, RequestEvent, RequestRole};
use crate::scenario::{DirectiveSpec, Order, ParentPrompt, ParentState, Scenario};
use crate::units::{SimTime, Tokens};

/// Whose cache all requests of a run use: one workspace.
pub const SCOPE: &str = "workspace";

/// Why a scenario cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// A text cannot have the size asked for.
    #[error("{0}")]
    Content(#[from] ContentError),
    /// The children's requests cannot be built.
    #[error("{0}")]
    Fork(#[from] ForkError),
    /// The call would not become a fork.
    #[error("nothing is forked: {0}")]
    Gate(#[from] Refusal),
    /// More agents than the session may start, where that is enforced.
    #[error("limits.enforce refuses the fork: {0}")]
    Limit(Exceeded),
    /// The recorded request cannot be read.
    #[error("parent.request cannot be read: {0}")]
    Import(#[from] ImportError),
    /// The provider would refuse a request.
    #[error(
        "the provider would refuse {request}: {}", list(.refusals)
    )]
    Refused {
        /// Name of the request.
        request: String,
        /// Every reason.
        refusals: Vec<provider::Refusal>,
    },
    /// A body is larger than the provider accepts.
    #[error(
        "the body of {request} has {bytes} bytes, but the API accepts requests of at most {limit} \
         bytes ({} MB)",
        .limit / 1_048_576
    )]
    BodyTooLarge {
        /// Name of the request.
        request: String,
        /// Length of the body.
        bytes: u64,
        /// The provider's limit.
        limit: u64,
    },
}

impl AgentError {
    /// The key of the scenario that the error is about, and what to do.
    pub fn key(&self, scenario: &Scenario) -> (&'static str, &'static str) {
        let of_parent = match scenario.parent.prompt {
            ParentPrompt::Request(_) => "parent.request",
            ParentPrompt::Parts { .. } => "parent.history",
        };
        match self {
            AgentError::Gate(refusal) => permission::key(refusal, of_parent),
            AgentError::Limit(_) => (
                "fork.children",
                "fork fewer children, send them in waves, or raise the limit in [limits]",
            ),
            AgentError::Content(error) => (error.what(), "ask for more tokens, or for fewer parts"),
            AgentError::Fork(ForkError::Markers(_)) if scenario.fork.policy.is_explicit() => {
                ("fork.markers", "see the marker grammar in docs/scenario-format.md")
            }
            AgentError::Fork(ForkError::Markers(_)) => {
                ("fork.marker_policy", "take another policy or lifetime")
            }
            AgentError::Fork(ForkError::NothingLeft) => (
                "fork.clone",
                "put messages before the dispatch in parent.history (or parent.request), or set \
                 clone = \"full\"",
            ),
            AgentError::Fork(ForkError::Base(_)) | AgentError::Import(_) => {
                (of_parent, "give a request body of the Messages API, as it was sent")
            }
            AgentError::Refused { .. } => (
                of_parent,
                "each place is a JSON pointer into the body; mend the file it comes from",
            ),
            AgentError::BodyTooLarge { .. } => match scenario.fork.directive {
                DirectiveSpec::Texts(_) => {
                    ("fork.directive", "shorten the directive or the history")
                }
                DirectiveSpec::Sized(_) => (of_parent, "make the parent or fork.children smaller"),
            },
        }
    }
}

fn list(refusals: &[provider::Refusal]) -> String {
    let lines = refusals.iter().map(|refusal| {
        let place = if refusal.pointer.is_empty() { "the body" } else { &refusal.pointer };
        format!("{place}: {} (status {})", refusal.reason, refusal.status)
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// The events of one plan, and the bodies of its children in the order in which they are sent.
#[derive(Clone, Debug)]
pub struct Play {
    /// All requests: the parent's unless it is cold, any prewarm, the children.
    pub events: Vec<RequestEvent>,
    /// The parent's request, also where it is cold and so in no event.
    pub parent: RequestBody,
    /// The pre-warming request, where there is one.
    pub prewarm: Option<RequestBody>,
    /// The children's.
    pub children: Vec<RequestBody>,
}

/// Builds the bodies of a variant and says when each is sent.
///
/// # Errors
/// Where a body cannot be built, would be refused, or is too large.
pub fn play(
    scenario: &Scenario,
    material: &Material,
    variant: &Variant,
) -> Result<Play, AgentError> {
    let plan =
        ForkPlan { policy: variant.policy.clone(), ttls: variant.ttls, ..material.plan.clone() };
    let format = scenario.provider;
    let family = plan.family(format)?;
    let children: Vec<RequestBody> =
        material.directives.iter().map(|directive| child(&plan, &family, directive)).collect();
    let parent = plan.parent(format)?;
    let prewarm = match variant.order {
        Order::Prewarm => Some(plan.prewarm(format)?),
        Order::Simultaneous
        | Order::Sequential
        | Order::AfterFirstToken
        | Order::Waves { .. }
        | Order::Stagger { .. } => None,
    };
    let of_parent = match scenario.parent.prompt {
        ParentPrompt::Request(_) => "the parent's request (parent.request)",
        ParentPrompt::Parts { .. } => {
            "the parent's request (parent.tools, parent.system, parent.history)"
        }
    };
    check(scenario, of_parent, &parent)?;
    prewarm.iter().try_for_each(|body| check(scenario, "the pre-warming request", body))?;
    check_children(scenario, &children)?;

    let events = events(scenario, variant, &parent, prewarm.as_ref(), &children);
    Ok(Play { events, parent, prewarm, children })
}

fn events(
    scenario: &Scenario,
    variant: &Variant,
    parent: &RequestBody,
    prewarm: Option<&RequestBody>,
    children: &[RequestBody],
) -> Vec<RequestEvent> {
    let schedule = &scenario.schedule;
    let sender = Sender::of(scenario);
    let mut events = Vec::with_capacity(children.len() + 2);
    if scenario.parent.cache.state != ParentState::Cold {
        let start = SimTime(-scenario.parent.cache.age_ms);
        // The parent's answer holds the dispatch, so it has begun and ended by the time of the
        // fork.
        let by_fork = |at: SimTime| at.min(SimTime(0)).max(start);
        events.push(sender.event("parent", RequestRole::Parent, start, parent, |start| {
            let first = by_fork(start.plus_ms(schedule.first_token_latency_ms));
            (first, by_fork(start.plus_ms(schedule.request_ms)).max(first))
        }));
    }
    if let Some(body) = prewarm {
        events.push(sender.event("prewarm", RequestRole::Prewarm, SimTime(0), body, |start| {
            let begins = start.plus_ms(schedule.first_token_latency_ms);
            (begins, begins)
        }));
    }
    let starts = timing::starts(variant.order, schedule, children.len());
    for (index, (body, start)) in children.iter().zip(starts).enumerate() {
        let id = format!("child-{:03}", index + 1);
        events.push(
            sender.event(&id, RequestRole::Child, start, body, |start| {
                timing::answer(schedule, start)
            }),
        );
    }
    events
}

/// What all requests of a run have in common.
struct Sender {
    scope: Arc<str>,
    model: Arc<str>,
}

impl Sender {
    fn of(scenario: &Scenario) -> Sender {
        Sender { scope: Arc::from(SCOPE), model: Arc::from(scenario.model_name.as_str()) }
    }

    fn event(
        &self,
        id: &str,
        role: RequestRole,
        start: SimTime,
        body: &RequestBody,
        answer: impl Fn(SimTime) -> (SimTime, SimTime),
    ) -> RequestEvent {
        let (first_token_at, end) = answer(start);
        RequestEvent {
            id: id.to_owned(),
            role,
            start,
            first_token_at,
            end,
            scope: Arc::clone(&self.scope),
            model: Arc::clone(&self.model),
            output: Tokens::ZERO,
            payload: Payload::Body(body.clone()),
        }
    }
}

/// Refuses what the provider would refuse: a request that fails costs nothing and answers nothing.
fn check(scenario: &Scenario, request: &str, body: &RequestBody) -> Result<(), AgentError> {
    let limit = scenario.provider.facts().body_bytes_max;
    let bytes = body.len() as u64;
    if bytes > limit {
        return Err(AgentError::BodyTooLarge { request: request.to_owned(), bytes, limit });
    }
    let refusals = scenario.provider.refusals(body);
    if refusals.is_empty() {
        return Ok(());
    }
    Err(AgentError::Refused { request: request.to_owned(), refusals })
}

/// Siblings differ in one text block only, so the first stands for all but for size and an empty
/// text.
fn check_children(scenario: &Scenario, children: &[RequestBody]) -> Result<(), AgentError> {
    let longest = children.iter().enumerate().max_by_key(|(_, body)| body.len());
    let shortest = children.iter().enumerate().min_by_key(|(_, body)| body.len());
    for (index, body) in longest.into_iter().chain(shortest) {
        check(scenario, &format!("the request of child {}", index + 1), body)?;
    }
    Ok(())
}
