//! What forking an LLM agent into N children costs, what of it is read from the provider's prompt
//! cache, where the prefix breaks, and what to change.
//!
//! # Where to start reading
//!
//! 1. `cli/run.rs`: the main job in five steps (load, study, write, print, check).
//! 2. `whatif/study.rs`: a scenario beside its baselines and changes.
//! 3. `agent/mod.rs`: a scenario becomes requests, through `fork::child` and `request::build`.
//! 4. `simulate/plan.rs` and `cache/state.rs`: requests become billed records.
//!
//! # Layers
//!
//! A module imports only from lines above its own. `tests/tidy.rs` reads this table and judges.
//!
//! ```text
//! 0  units
//! 1  usage
//! 2  request   tokens     cache
//! 3  pricing   fork       measure
//! 4  provider  record
//! 5  scenario  simulate   analysis  trace    diff    quote
//! 6  agent     replay    counting
//! 7  whatif    verify
//! 8  report
//! 9  cli
//! ```

pub mod agent;
pub mod analysis;
pub mod cache;
pub mod cli;
pub mod counting;
pub mod diff;
pub mod fork;
pub mod measure;
pub mod pricing;
pub mod provider;
pub mod quote;
pub mod record;
pub mod replay;
pub mod report;
pub mod request;
pub mod scenario;
pub mod simulate;
pub mod tokens;
pub mod trace;
pub mod units;
pub mod usage;
pub mod verify;
pub mod whatif;
