//! What the cache made of one request.

use crate::units::{CacheTtl, Tokens};
use crate::usage::Usage;

/// What the cache made of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheOutcome {
    /// Input read.
    pub read: Tokens,
    /// Input written for five minutes.
    pub write_5m: Tokens,
    /// Input written for one hour.
    pub write_1h: Tokens,
    /// Input neither read nor written.
    pub uncached: Tokens,
    /// Index of the block at whose end the read ends.
    pub read_block: Option<usize>,
    /// Blocks at whose end an entry was written, with its lifetime.
    pub written: Vec<(usize, CacheTtl)>,
    /// Blocks within what was read at whose end an entry was left, unbilled.
    pub left: Vec<usize>,
    /// Number of markers whose prefix reaches the minimum.
    pub markers_effective: usize,
    /// Blocks with a marker whose prefix is below the minimum.
    pub below_minimum: Vec<usize>,
    /// Entries behind the end of the read that could not be read, by block, in prompt order. A
    /// block has two where lifetimes are in the key and there is an entry of each.
    pub missed: Vec<(usize, Missed)>,
}

/// Why an entry that the request contains was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missed {
    /// Its writer's response has not begun.
    NotYetReadable,
    /// Its lifetime is over.
    Expired,
    /// It is alive and readable, and a marker stands behind it, but none looks back so far.
    OutOfReach,
    /// It is alive and readable, but no marker stands at or behind it.
    NotLookedFor,
}

impl CacheOutcome {
    /// The billed classes, with `output` tokens of answer.
    pub fn usage(&self, output: Tokens) -> Usage {
        Usage {
            read: self.read,
            write_5m: self.write_5m,
            write_1h: self.write_1h,
            uncached: self.uncached,
            output,
        }
    }
}
