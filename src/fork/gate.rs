//! Whether a call of the agent tool becomes a fork, decided before anything is built.
//!
//! A [`ForkPermit`] is the only way to a [`ForkPlan`](super::ForkPlan), and only
//! [`Gate::decide`] makes one.

use std::fmt;

use super::guard::{Caller, Evidence, Scan, evidence};

/// The type that asks for a fork by name today.
pub const FORK_TYPE: &str = "fork";

/// What a call without a type gives where it is no fork.
pub const GENERAL_PURPOSE: &str = "general-purpose";

/// Whose rules decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Era {
    /// A fork is asked for by its type; sessions without a terminal may fork, too.
    #[default]
    Today,
    /// A call without a type is a fork; only sessions with a terminal fork.
    Chapter,
}

/// What the gate is latched on when a process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Whose rules decide.
    pub era: Era,
    /// Whether forking is switched on.
    pub feature: bool,
    /// Whether the session only hands work out.
    pub coordinator: bool,
    /// Whether somebody sits before the session.
    pub interactive: bool,
    /// Whether a permission rule denies `Agent(fork)`.
    pub denied: bool,
}

impl Default for Session {
    fn default() -> Session {
        Session {
            era: Era::Today,
            feature: true,
            coordinator: false,
            interactive: true,
            denied: false,
        }
    }
}

/// Why a gate is closed, in the order in which the conditions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Forking is switched off.
    Feature,
    /// The session is a coordinator.
    Coordinator,
    /// Nobody sits before the session (chapter only).
    NonInteractive,
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Closed::Feature => "forking is switched off",
            Closed::Coordinator => "a coordinator does not fork",
            Closed::NonInteractive => "a session without a terminal does not fork",
        })
    }
}

/// Latched once per process: were it read anew, the schema of the agent tool could change in the
/// middle of a session, and with it everything that is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    era: Era,
    closed: Option<Closed>,
    denied: bool,
}

/// A call of the agent tool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call<'a> {
    /// The type that was asked for.
    pub agent_type: Option<&'a str>,
    /// Whether it is to run on another machine.
    pub remote: bool,
}

/// Allows one fork. Nobody outside this module can make one.
///
/// ```compile_fail,E0423
/// let permit = forkcost::fork::gate::ForkPermit(());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkPermit(());

/// What a call becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A fork.
    Fork(ForkPermit),
    /// An agent with a context of its own.
    Ordinary {
        /// Its type.
        agent_type: String,
        /// Why it is no fork.
        because: Because,
    },
}

/// Why a call is no fork although nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// It names another type.
    OtherType,
    /// It names no type, which means [`GENERAL_PURPOSE`] today.
    NoType,
    /// It names no type, and the gate is closed (chapter only).
    Closed(Closed),
}

/// Why a fork that was asked for is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The gate is closed.
    #[error("{0}")]
    Closed(Closed),
    /// A permission rule denies it.
    #[error("a permission rule denies Agent(fork)")]
    Denied,
    /// A fork cannot run on another machine.
    #[error("a fork inherits from its parent and cannot run remotely")]
    Remote,
    /// The caller is a fork itself.
    #[error("a fork cannot fork: {0}")]
    Nested(Evidence),
}

impl Gate {
    /// The gate of a process that starts as `session` says.
    pub fn latch(session: &Session) -> Gate {
        let conditions = [
            (!session.feature, Closed::Feature),
            (session.coordinator, Closed::Coordinator),
            (session.era == Era::Chapter && !session.interactive, Closed::NonInteractive),
        ];
        let closed = conditions.into_iter().find_map(|(holds, closed)| holds.then_some(closed));
        Gate { era: session.era, closed, denied: session.denied }
    }

    /// Why it is closed; none where it is open.
    pub fn closed(&self) -> Option<Closed> {
        self.closed
    }

    /// Whether the schema of the agent tool offers `run_in_background`. An open gate sends every
    /// agent to the background, so the model is not asked.
    pub fn offers_background(&self) -> bool {
        self.closed.is_some()
    }

    /// What `call` of `caller` becomes. An ordinary agent is not refused to a fork.
    ///
    /// # Errors
    /// Where a fork is asked for and cannot be had, with the reason.
    pub fn decide(
        &self,
        call: &Call<'_>,
        caller: &Caller<'_>,
        scan: Scan,
    ) -> Result<Decision, Refusal> {
        let ordinary = |agent_type: &str, because| {
            Ok(Decision::Ordinary { agent_type: agent_type.to_owned(), because })
        };
        match (self.era, call.agent_type, self.closed) {
            (Era::Today, Some(FORK_TYPE), Some(closed)) => return Err(Refusal::Closed(closed)),
            (Era::Today, Some(FORK_TYPE), None) | (Era::Chapter, None, None) => {}
            (Era::Chapter, None, Some(closed)) => {
                return ordinary(GENERAL_PURPOSE, Because::Closed(closed));
            }
            (Era::Today, None, _) => return ordinary(GENERAL_PURPOSE, Because::NoType),
            (_, Some(other), _) => return ordinary(other, Because::OtherType),
        }
        if self.denied {
            return Err(Refusal::Denied);
        }
        if call.remote {
            return Err(Refusal::Remote);
        }
        match evidence(caller, scan) {
            Some(found) => Err(Refusal::Nested(found)),
            None => Ok(Decision::Fork(ForkPermit(()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::guard::FORK_SOURCE;

    const MAIN: Caller<'static> = Caller { query_source: "repl_main_thread", messages: &[] };
    const FORK: Caller<'static> = Caller { query_source: FORK_SOURCE, messages: &[] };

    fn today() -> Session {
        Session::default()
    }

    fn chapter() -> Session {
        Session { era: Era::Chapter, ..Session::default() }
    }

    fn decided(
        session: Session,
        agent_type: Option<&str>,
        caller: &Caller<'_>,
    ) -> Result<Decision, Refusal> {
        let call = Call { agent_type, remote: false };
        Gate::latch(&session).decide(&call, caller, Scan::Structural)
    }

    fn forks(session: Session, agent_type: Option<&str>) -> bool {
        matches!(decided(session, agent_type, &MAIN), Ok(Decision::Fork(_)))
    }

    #[test]
    fn the_trigger_is_the_type_today_and_its_absence_in_the_chapter() {
        assert!(forks(today(), Some("fork")) && !forks(today(), None));
        assert!(forks(chapter(), None) && !forks(chapter(), Some("fork")));
        let ordinary = decided(today(), None, &MAIN).unwrap();
        let agent_type = GENERAL_PURPOSE.to_owned();
        assert_eq!(ordinary, Decision::Ordinary { agent_type, because: Because::NoType });
    }

    #[test]
    fn the_first_condition_that_fails_is_named_in_every_combination() {
        for bits in 0..16_u8 {
            let [chapter, feature, coordinator, interactive] =
                [1, 2, 4, 8].map(|bit| bits & bit != 0);
            let era = if chapter { Era::Chapter } else { Era::Today };
            let session = Session { era, feature, coordinator, interactive, denied: false };
            let expected = if !feature {
                Some(Closed::Feature)
            } else if coordinator {
                Some(Closed::Coordinator)
            } else if chapter && !interactive {
                Some(Closed::NonInteractive)
            } else {
                None
            };
            let gate = Gate::latch(&session);
            assert_eq!(gate.closed(), expected, "{session:?}");
            assert_eq!(gate.offers_background(), expected.is_some(), "{session:?}");
        }
    }

    #[test]
    fn a_closed_gate_refuses_a_named_fork_and_makes_an_unnamed_one_ordinary() {
        let off = |session: Session| Session { feature: false, ..session };
        let refused = decided(off(today()), Some("fork"), &MAIN).unwrap_err();
        assert_eq!(refused, Refusal::Closed(Closed::Feature));
        let because = Because::Closed(Closed::Feature);
        let agent_type = GENERAL_PURPOSE.to_owned();
        let ordinary = decided(off(chapter()), None, &MAIN).unwrap();
        assert_eq!(ordinary, Decision::Ordinary { agent_type, because });
    }

    #[test]
    fn denied_and_remote_forks_are_refused() {
        let denied = Session { denied: true, ..today() };
        assert_eq!(decided(denied, Some("fork"), &MAIN), Err(Refusal::Denied));
        let call = Call { agent_type: Some("fork"), remote: true };
        let gate = Gate::latch(&today());
        assert_eq!(gate.decide(&call, &MAIN, Scan::Structural), Err(Refusal::Remote));
    }

    /// anthropics/claude-code#89101: an agent of another type is still started by a fork.
    #[test]
    fn a_fork_cannot_fork_but_starts_ordinary_agents() {
        let nested = decided(today(), Some("fork"), &FORK).unwrap_err();
        assert_eq!(nested, Refusal::Nested(Evidence::QuerySource));
        let agent_type = "Explore".to_owned();
        let ordinary = decided(today(), Some("Explore"), &FORK).unwrap();
        assert_eq!(ordinary, Decision::Ordinary { agent_type, because: Because::OtherType });
    }

    #[test]
    fn a_latched_gate_does_not_follow_its_session() {
        let mut session = today();
        let gate = Gate::latch(&session);
        session.feature = false;
        assert_eq!(gate.closed(), None);
        assert_eq!(Gate::latch(&session).closed(), Some(Closed::Feature));
    }
}
