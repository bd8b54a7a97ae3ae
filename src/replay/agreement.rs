//! Predicted against billed.

use std::collections::BTreeMap;

use crate::cache::{CacheBlock, CacheOutcome};
use crate::simulate::Verdict;
use crate::trace::{Observed, Sizes};
use crate::units::Tokens;

/// How a prediction stands to the bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Every number that can be compared is equal.
    Exact,
    /// The trace does not hold what a prediction needs.
    Explained(Explanation),
    /// The prediction is wrong, or the bill has a cause that the model does not know.
    Unexplained,
}

/// Why a bill cannot be predicted from the trace alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Explanation {
    /// It read something although no request of the trace before it shares its first block: the
    /// entry is older than the trace.
    WarmStart,
    /// It read what a request with other parameters wrote. Parameters key the whole prompt here,
    /// although a provider lets some of them key only a part of it.
    OtherParameters,
    /// It read, as predicted, but no call in the trace tells the size of the prefix: the one that
    /// wrote it is missing, or its bill is a sum over several passes.
    SizeNotLearnt,
    /// The provider ran tools of its own within the call, and the bill is a sum over several passes
    /// of the model.
    SeveralPasses,
}

impl Explanation {
    /// Every explanation.
    pub const ALL: [Explanation; 4] = [
        Explanation::WarmStart,
        Explanation::OtherParameters,
        Explanation::SizeNotLearnt,
        Explanation::SeveralPasses,
    ];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Explanation::WarmStart => "warm_start",
            Explanation::OtherParameters => "other_parameters",
            Explanation::SizeNotLearnt => "size_not_learnt",
            Explanation::SeveralPasses => "several_passes",
        }
    }

    /// What it means, in words.
    pub fn text(self) -> &'static str {
        match self {
            Explanation::WarmStart => "it read an entry older than the trace",
            Explanation::OtherParameters => {
                "it read what a request with other parameters wrote, which is another cache here"
            }
            Explanation::SizeNotLearnt => {
                "it read as predicted, but no call in the trace tells the size of that prefix"
            }
            Explanation::SeveralPasses => {
                "the provider ran its own tools: the bill is a sum over several passes"
            }
        }
    }
}

impl Agreement {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Agreement::Exact => "exact",
            Agreement::Explained(_) => "explained",
            Agreement::Unexplained => "unexplained",
        }
    }

    /// Compares one request.
    ///
    /// Of recorded calls the read is compared, and whether something was written for each lifetime:
    /// how much follows from the read and from the whole, which is billed, not predicted.
    pub(super) fn judge(seen: &Seen<'_>, observed: &Observed) -> Agreement {
        let Seen { sizes, verdict, .. } = *seen;
        match sizes {
            Sizes::Stated if is_equal(&verdict.outcome, observed) => Agreement::Exact,
            Sizes::Stated => seen.older_than_the_trace(observed),
            Sizes::Learnt { .. } if observed.several_passes => {
                Agreement::Explained(Explanation::SeveralPasses)
            }
            Sizes::Learnt { known } => seen.learnt(known, observed),
        }
    }
}

/// One request as it was played.
pub(super) struct Seen<'a> {
    pub(super) sizes: &'a Sizes,
    pub(super) verdict: &'a Verdict,
    pub(super) blocks: &'a [CacheBlock],
    pub(super) min_tokens: Tokens,
    /// Whether a request before it begins with the same block, whatever its parameters.
    pub(super) begins_as_another: bool,
}

impl Seen<'_> {
    /// Why a read was billed that cannot come from the trace, if that is so.
    fn older_than_the_trace(&self, observed: &Observed) -> Agreement {
        let billed = observed.read.unwrap_or(0);
        let whole = self.blocks.last().map_or(0, |block| block.tokens_so_far.0);
        let is_possible = billed >= self.min_tokens.0.max(1) && billed <= whole;
        match (self.verdict.shared_end, is_possible, self.begins_as_another) {
            (0, true, false) => Agreement::Explained(Explanation::WarmStart),
            (0, true, true) => Agreement::Explained(Explanation::OtherParameters),
            _ => Agreement::Unexplained,
        }
    }

    fn learnt(&self, known: &[usize], observed: &Observed) -> Agreement {
        let outcome = &self.verdict.outcome;
        let billed = observed.read.unwrap_or(0);
        match outcome.read_block {
            Some(block) if !known.contains(&block) => {
                if self.is_possible(block, known, billed) {
                    Agreement::Explained(Explanation::SizeNotLearnt)
                } else {
                    Agreement::Unexplained
                }
            }
            Some(_) | None => {
                let writes = |billed: Option<u64>, predicted: Tokens| {
                    billed.is_none_or(|billed| (billed > 0) == (predicted > Tokens::ZERO))
                };
                let is_exact = outcome.read.0 == billed
                    && writes(observed.write_5m, outcome.write_5m)
                    && writes(observed.write_1h, outcome.write_1h);
                if is_exact { Agreement::Exact } else { self.older_than_the_trace(observed) }
            }
        }
    }

    /// Whether the prefix that ends with the block can have that size: it lies between its
    /// neighbours of known size, and is long enough to be cached.
    fn is_possible(&self, block: usize, known: &[usize], billed: u64) -> bool {
        let at = |block: &usize| self.blocks[*block].tokens_so_far.0;
        let least = known.iter().rfind(|known| **known < block).map_or(0, at);
        let last = self.blocks.len().saturating_sub(1);
        let most = at(known.iter().find(|known| **known > block).unwrap_or(&last));
        billed >= self.min_tokens.0.max(1) && (least..=most).contains(&billed)
    }
}

fn is_equal(outcome: &CacheOutcome, observed: &Observed) -> bool {
    let pairs = [
        (observed.read, outcome.read),
        (observed.write_5m, outcome.write_5m),
        (observed.write_1h, outcome.write_1h),
        (observed.uncached, outcome.uncached),
    ];
    pairs.iter().all(|(billed, predicted)| billed.is_none_or(|billed| billed == predicted.0))
}

/// How many requests agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreements {
    /// Requests of which the trace says what was billed.
    pub observed: u64,
    /// Those whose prediction equals the bill.
    pub exact: u64,
    /// Those that the trace does not hold enough for, by the reason.
    pub explained: BTreeMap<Explanation, u64>,
    /// Those whose prediction differs from the bill.
    pub unexplained: u64,
}

impl Agreements {
    pub(super) fn note(&mut self, agreement: Agreement) {
        self.observed += 1;
        match agreement {
            Agreement::Exact => self.exact += 1,
            Agreement::Explained(why) => *self.explained.entry(why).or_default() += 1,
            Agreement::Unexplained => self.unexplained += 1,
        }
    }

    /// Requests whose bill can be predicted from the trace.
    pub fn predictable(&self) -> u64 {
        self.exact + self.unexplained
    }

    /// Requests whose bill cannot be predicted, for a reason that has a name.
    pub fn explained_total(&self) -> u64 {
        self.explained.values().sum()
    }
}
