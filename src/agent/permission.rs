//! Whether a scenario's session may fork at all: its gate, its guard and its limits.

use super::{AgentError, timing};
use crate::fork::gate::{
    Because, Call, Closed, Decision, Era, FORK_TYPE, ForkPermit, Gate, Refusal,
};
use crate::fork::guard::{Caller, Evidence};
use crate::fork::limits::{Exceeded, Load};
use crate::request::Message;
use crate::scenario::Scenario;

/// The permit for the scenario's fork, whose parent holds `messages`.
///
/// # Errors
/// Where the call of the agent tool would not become a fork.
pub(super) fn permit(scenario: &Scenario, messages: &[Message]) -> Result<ForkPermit, AgentError> {
    let spec = &scenario.gate;
    let agent_type = match spec.session.era {
        Era::Today => Some(FORK_TYPE),
        Era::Chapter => None,
    };
    let call = Call { agent_type, remote: false };
    let caller = Caller { query_source: &spec.query_source, messages };
    match Gate::latch(&spec.session).decide(&call, &caller, spec.scan) {
        Ok(Decision::Fork(permit)) => Ok(permit),
        Ok(Decision::Ordinary { because: Because::Closed(closed), .. }) => {
            Err(AgentError::Gate(Refusal::Closed(closed)))
        }
        // The call above asks for a fork by the rule of its era, so no other kind comes of it.
        Ok(Decision::Ordinary { .. }) => Err(AgentError::Gate(Refusal::Denied)),
        Err(refusal) => Err(AgentError::Gate(refusal)),
    }
}

/// The limits that the scenario's children exceed.
///
/// # Errors
/// The first of them, where limits are enforced.
pub(super) fn exceeded(scenario: &Scenario) -> Result<Vec<Exceeded>, AgentError> {
    let children = scenario.fork.children;
    let at_once = timing::most_at_once(&scenario.schedule, children);
    // Children that have ended count for the total alone.
    let load = Load { running: 0, started: children - at_once, depth: 0 };
    scenario.limits.admit(&load, at_once).map_err(AgentError::Limit)
}

/// The key that a refusal is about, and what to do.
pub(super) fn key(refusal: &Refusal, of_parent: &'static str) -> (&'static str, &'static str) {
    match refusal {
        Refusal::Closed(Closed::Feature) => {
            ("gate.feature", "set feature = true; without it [fork] forks nothing")
        }
        Refusal::Closed(Closed::Coordinator) => {
            ("gate.coordinator", "set coordinator = false; it and [fork] exclude each other")
        }
        Refusal::Closed(Closed::NonInteractive) => (
            "gate.interactive",
            "set interactive = true, or fork.era = \"today\", in which such sessions fork",
        ),
        Refusal::Denied => ("gate.denied", "set denied = false; it and [fork] exclude each other"),
        Refusal::Remote => ("fork", "run the children on the parent's machine"),
        Refusal::Nested(Evidence::QuerySource) => {
            ("gate.query_source", "name a main agent's; a fork's and [fork] exclude each other")
        }
        Refusal::Nested(Evidence::Tag { .. }) => (
            of_parent,
            "give the history of a main agent, or set gate.scan = \"structural\" where the tag is \
             only quoted",
        ),
    }
}
