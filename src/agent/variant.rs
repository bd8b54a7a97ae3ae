//! A plan's free choices (markers, lifetimes, schedule), and the fixed set of changes that every
//! run tries.

use crate::request::MarkerPolicy;
use crate::request::marker::MarkerTtls;
use crate::scenario::{Order, ParentPrompt, ParentState, Scenario};
use crate::units::CacheTtl;

/// What can be chosen about a fork without changing what the children know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Where the children's markers go.
    pub policy: MarkerPolicy,
    /// Lifetimes of markers.
    pub ttls: MarkerTtls,
    /// When the children are sent.
    pub order: Order,
}

/// One change of the fixed set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Stable name.
    pub id: &'static str,
    /// In words.
    pub text: String,
    /// Lines to change in the scenario.
    pub patch: Vec<String>,
    /// The changed plan.
    pub variant: Variant,
}

impl Variant {
    /// The scenario's own choices.
    pub fn of(scenario: &Scenario) -> Variant {
        Variant {
            policy: scenario.fork.policy.clone(),
            ttls: MarkerTtls { parent: scenario.parent.cache.ttl, fork: scenario.fork.ttl },
            order: scenario.schedule.order,
        }
    }
}

/// The fixed set: the marker before the directive, one child first, both, and the other lifetime.
/// Changes that would change nothing, or that the scenario's other keys rule out, are left out.
pub fn changes(scenario: &Scenario) -> Vec<Proposal> {
    let own = Variant::of(scenario);
    let before = Variant { policy: MarkerPolicy::BeforeDirective, ..own.clone() };
    let first = Variant { order: Order::AfterFirstToken, ..own.clone() };
    let both = Variant { policy: MarkerPolicy::BeforeDirective, ..first.clone() };
    let marker = own.policy != MarkerPolicy::BeforeDirective;
    let order = own.order != Order::AfterFirstToken && scenario.fork.children > 1;
    let mut proposals = Vec::new();
    if marker {
        proposals.push(Proposal {
            id: "before_directive",
            text: "marker before the directive".to_owned(),
            patch: marker_patch(&own),
            variant: before,
        });
    }
    if order {
        proposals.push(Proposal {
            id: "first_alone",
            text: "the first child alone, all others at its first token".to_owned(),
            patch: order_patch(&own),
            variant: first,
        });
    }
    if marker && order {
        proposals.push(Proposal {
            id: "before_directive_first_alone",
            text: "marker before the directive and the first child alone".to_owned(),
            patch: [marker_patch(&own), order_patch(&own)].concat(),
            variant: both,
        });
    }
    proposals.extend(other_lifetime(scenario, &own));
    proposals
}

/// A line that takes a key away.
fn remove(key: &str) -> String {
    format!("# remove {key}")
}

fn marker_patch(own: &Variant) -> Vec<String> {
    let set = "fork.marker_policy = \"before_directive\"".to_owned();
    if own.policy.is_explicit() { vec![remove("fork.markers"), set] } else { vec![set] }
}

fn order_patch(own: &Variant) -> Vec<String> {
    let set = "schedule.order = \"after_first_token\"".to_owned();
    match own.order {
        Order::Waves { .. } => vec![remove("schedule.wave_width"), set],
        Order::Stagger { .. } => vec![remove("schedule.stagger_s"), set],
        Order::Simultaneous | Order::Sequential | Order::AfterFirstToken | Order::Prewarm => {
            vec![set]
        }
    }
}

/// One hour instead of five minutes, or the reverse, for parent and children. Left out where the
/// parent was recorded (it wrote what it wrote), or where its entry would then be in another state.
fn other_lifetime(scenario: &Scenario, own: &Variant) -> Option<Proposal> {
    let cache = scenario.parent.cache;
    let ttl = match own.ttls.fork {
        CacheTtl::FiveMinutes => CacheTtl::OneHour,
        CacheTtl::OneHour => CacheTtl::FiveMinutes,
    };
    let same_state = match cache.state {
        ParentState::Warm => cache.age_ms < ttl.as_millis(),
        ParentState::Cold => true,
        ParentState::Expired => cache.age_ms >= ttl.as_millis(),
    };
    let recorded = matches!(scenario.parent.prompt, ParentPrompt::Request(_));
    (same_state && !recorded).then(|| Proposal {
        id: "other_ttl",
        text: format!(
            "lifetime of {ttl} for parent and children (the parent's own write is in no total)"
        ),
        patch: vec![format!("fork.ttl = \"{ttl}\""), format!("parent.cache.ttl = \"{ttl}\"")],
        variant: Variant { ttls: MarkerTtls { parent: ttl, fork: ttl }, ..own.clone() },
    })
}
