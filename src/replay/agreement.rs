//! Predicted against billed.

use std::collections::BTreeMap;

use crate::cache::CacheOutcome;
use crate::simulate::Verdict;
use crate::trace::{Observed, Sizes};

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
    /// It read, as predicted, but no call in the trace tells the size of the prefix: the one that
    /// wrote it is missing, or its bill is a sum over several passes.
    SizeNotLearnt,
    /// The provider ran tools of its own within the call, and the bill is a sum over several passes
    /// of the model.
    SeveralPasses,
}

impl Explanation {
    /// Every explanation.
    pub const ALL: [Explanation; 3] =
        [Explanation::WarmStart, Explanation::SizeNotLearnt, Explanation::SeveralPasses];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Explanation::WarmStart => "warm_start",
            Explanation::SizeNotLearnt => "size_not_learnt",
            Explanation::SeveralPasses => "several_passes",
        }
    }

    /// What it means, in words.
    pub fn text(self) -> &'static str {
        match self {
            Explanation::WarmStart => "it read an entry older than the trace",
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

    /// Compares one request. Of recorded calls only the read is compared: what was written and what
    /// was left follow from it and from the whole, which is billed, not predicted.
    pub(super) fn judge(sizes: &Sizes, verdict: &Verdict, observed: &Observed) -> Agreement {
        let outcome = &verdict.outcome;
        let billed_read = observed.read.unwrap_or(0);
        let is_warm_start = verdict.shared_end == 0 && billed_read > 0;
        match sizes {
            Sizes::Stated if is_equal(outcome, observed) => Agreement::Exact,
            Sizes::Stated if is_warm_start => Agreement::Explained(Explanation::WarmStart),
            Sizes::Stated => Agreement::Unexplained,
            Sizes::Learnt(_) if observed.several_passes => {
                Agreement::Explained(Explanation::SeveralPasses)
            }
            Sizes::Learnt(known) => {
                let is_known = outcome.read_block.is_none_or(|block| known.contains(&block));
                if is_known && outcome.read.0 == billed_read {
                    Agreement::Exact
                } else if !is_known && billed_read > 0 {
                    Agreement::Explained(Explanation::SizeNotLearnt)
                } else if is_warm_start {
                    Agreement::Explained(Explanation::WarmStart)
                } else {
                    Agreement::Unexplained
                }
            }
        }
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
