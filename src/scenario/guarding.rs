//! `[gate]` and `[limits]`: whether a session may fork, and how many agents it may start.

use super::diagnostic::Mistakes;
use super::forking::CHILDREN_MAX;
use super::walk::Section;
use super::{GateSpec, wire};
use crate::fork::gate::{Era, Session};
use crate::fork::guard::Scan;
use crate::fork::limits::Limits;

/// The query source of a main agent.
pub(super) const MAIN_SOURCE: &str = "repl_main_thread";
/// Most levels of agents that a limit may name.
const DEPTH_MAX: u64 = 1_000;

/// Reads `[gate]`, whose defaults follow the era.
pub(super) fn gate(root: &Section<'_>, era: Era, mistakes: &mut Mistakes) -> Option<GateSpec> {
    let section = root.table("gate", wire::GATE, mistakes)?;
    let usual = Session { era, ..Session::default() };
    let mut flag =
        |name: &str, absent: bool| section.read(name, absent, mistakes, |field, m| field.flag(m));
    let feature = flag("feature", usual.feature);
    let coordinator = flag("coordinator", usual.coordinator);
    let interactive = flag("interactive", usual.interactive);
    let denied = flag("denied", usual.denied);
    let query_source =
        section.read("query_source", MAIN_SOURCE, mistakes, |field, m| field.text(m));
    let words = [("structural", Scan::Structural), ("substring", Scan::Substring)];
    let scan = match era {
        Era::Today => Scan::Structural,
        Era::Chapter => Scan::Substring,
    };
    let scan = section.read("scan", scan, mistakes, |field, m| field.choice(&words, m));
    Some(GateSpec {
        session: Session {
            era,
            feature: feature?,
            coordinator: coordinator?,
            interactive: interactive?,
            denied: denied?,
        },
        query_source: query_source?.to_owned(),
        scan: scan?,
    })
}

/// Reads `[limits]`.
pub(super) fn limits(root: &Section<'_>, mistakes: &mut Mistakes) -> Option<Limits> {
    let section = root.table("limits", wire::LIMITS, mistakes)?;
    let usual = Limits::default();
    let mut most = |name: &str, absent: u64| {
        section.read(name, absent, mistakes, |field, m| field.integer(1..=CHILDREN_MAX, m))
    };
    let at_once = most("at_once", usual.at_once);
    let in_all = most("in_all", usual.in_all);
    let depth = section
        .read("depth", usual.depth, mistakes, |field, m| field.integer(0..=DEPTH_MAX, m).map(Some));
    let enforce = section.read("enforce", usual.enforce, mistakes, |field, m| field.flag(m));
    Some(Limits { at_once: at_once?, in_all: in_all?, depth: depth?, enforce: enforce? })
}
