//! An exact model of a provider's prompt cache, as a value: no clock, no IO.
//!
//! [`CacheRules`] is data; [`PromptCache`] is its one interpreter. Time is an argument of every
//! call. Deliberately absent: capacity and eviction, routing misses, and any effect of a hit on
//! latency.

pub mod outcome;
pub mod positions;
pub mod prefix_map;
pub mod rules;
pub mod state;

pub use outcome::{CacheOutcome, Missed};
pub use positions::{CacheBlock, PositionKind};
pub use prefix_map::PrefixMap;
pub use rules::{CacheRules, PositionCount, ToolPositions};
pub use state::{CacheRequest, PromptCache};
