//! How one request's tokens are billed, in a partition that every provider's counts map onto.

use std::ops::Add;

use crate::units::Tokens;

/// The billed tokens of one request. `read + write_5m + write_1h + uncached` is its whole input
/// (INV-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input read from the cache.
    pub read: Tokens,
    /// Input written with a lifetime of five minutes.
    pub write_5m: Tokens,
    /// Input written with a lifetime of one hour.
    pub write_1h: Tokens,
    /// Input neither read nor written.
    pub uncached: Tokens,
    /// Tokens the model answers with.
    pub output: Tokens,
}

impl Usage {
    /// All input tokens: the sum of the four input classes.
    pub fn input(&self) -> Tokens {
        self.read + self.write_5m + self.write_1h + self.uncached
    }

    /// The usage of `input` tokens of which nothing is read and nothing written.
    pub fn all_uncached(input: Tokens, output: Tokens) -> Usage {
        Usage { uncached: input, output, ..Usage::default() }
    }
}

impl Add for Usage {
    type Output = Usage;
    fn add(self, other: Usage) -> Usage {
        Usage {
            read: self.read + other.read,
            write_5m: self.write_5m + other.write_5m,
            write_1h: self.write_1h + other.write_1h,
            uncached: self.uncached + other.uncached,
            output: self.output + other.output,
        }
    }
}
