//! Pure arithmetic over records: totals, savings, findings.

pub mod expect;
pub mod segments;
pub mod summarise;
pub mod summary;

pub use segments::segments;
pub use summarise::{ProposalNote, Subject, summarise, totals};
pub use summary::{
    Baselines, Change, Finding, FirstDifference, Shared, Summary, TokenizerNote, Totals,
};
