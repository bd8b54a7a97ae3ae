//! How many agents a session may start. Forks count as agents.

use std::fmt;

/// The limits of a session. They warn, unless they are enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most agents at once.
    pub at_once: u64,
    /// Most agents in all.
    pub in_all: u64,
    /// Most levels of agents below the main one, where there is such a limit.
    pub depth: Option<u64>,
    /// Whether what exceeds a limit is refused.
    pub enforce: bool,
}

impl Default for Limits {
    /// 20 at once and 200 in all (Claude Code since 2.1.217 and 2.1.212); the depth is not
    /// published.
    fn default() -> Limits {
        Limits { at_once: 20, in_all: 200, depth: None, enforce: false }
    }
}

/// What a session has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Agents that run.
    pub running: u64,
    /// Agents that were started, those that run included.
    pub started: u64,
    /// Levels between the caller and the main agent, which is at 0.
    pub depth: u64,
}

/// Which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::at_once`].
    AtOnce,
    /// [`Limits::in_all`].
    InAll,
    /// [`Limits::depth`].
    Depth,
}

/// A limit that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{would_be} {limit}, and {allowed} are allowed")]
pub struct Exceeded {
    /// Which one.
    pub limit: Limit,
    /// What it allows.
    pub allowed: u64,
    /// What there would be.
    pub would_be: u64,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::AtOnce => "agents at once",
            Limit::InAll => "agents in all",
            Limit::Depth => "levels of agents",
        })
    }
}

impl Limits {
    /// The limits that `children` more agents exceed, of which none is refused where they only
    /// warn.
    ///
    /// # Errors
    /// The first limit that is exceeded, where they are enforced.
    pub fn admit(&self, load: &Load, children: u64) -> Result<Vec<Exceeded>, Exceeded> {
        let asked = [
            (Limit::AtOnce, Some(self.at_once), load.running.saturating_add(children)),
            (Limit::InAll, Some(self.in_all), load.started.saturating_add(children)),
            (Limit::Depth, self.depth, load.depth.saturating_add(1)),
        ];
        let exceeded = asked.into_iter().filter_map(|(limit, allowed, would_be)| {
            let allowed = allowed?;
            (would_be > allowed).then_some(Exceeded { limit, allowed, would_be })
        });
        let exceeded: Vec<Exceeded> = exceeded.collect();
        match exceeded.first() {
            Some(first) if self.enforce => Err(*first),
            _ => Ok(exceeded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_exactly_is_not_exceeded() {
        let load = Load { running: 15, started: 195, depth: 0 };
        assert_eq!(Limits::default().admit(&load, 5), Ok(Vec::new()));
        let over = Limits::default().admit(&load, 6).unwrap();
        let [at_once, in_all] = over[..] else { panic!("two limits: {over:?}") };
        assert_eq!((at_once.limit, at_once.would_be), (Limit::AtOnce, 21));
        assert_eq!((in_all.limit, in_all.would_be), (Limit::InAll, 201));
        assert_eq!(at_once.to_string(), "21 agents at once, and 20 are allowed");
    }

    #[test]
    fn enforced_limits_refuse() {
        let limits = Limits { depth: Some(1), enforce: true, ..Limits::default() };
        let nested = Load { depth: 1, ..Load::default() };
        let expected = Exceeded { limit: Limit::Depth, allowed: 1, would_be: 2 };
        assert_eq!(limits.admit(&nested, 1), Err(expected));
        assert_eq!(limits.admit(&Load::default(), 1), Ok(Vec::new()));
    }

    #[test]
    fn counts_near_their_end_do_not_wrap() {
        let load = Load { running: u64::MAX, started: u64::MAX, depth: u64::MAX };
        let limits = Limits { depth: Some(9), ..Limits::default() };
        assert_eq!(limits.admit(&load, u64::MAX).unwrap().len(), 3);
    }
}
