//! Everything that is shown or written: tables, charts, the verdict, and the folder that holds
//! them.
//!
//! Files to read first: `terminal.rs` (the verdict), `charts/mod.rs` (the list of charts),
//! `write.rs` (how a folder comes into being). All of it is made from `Summary`, `RunRecord` and
//! `SegmentRecord`, so a report can be drawn again from its own CSV files. Deliberately absent:
//! printing, which is `cli`'s, and any arithmetic that decides something, which is `analysis`'s.

pub mod charts;
pub mod counted;
pub mod csv;
mod difference;
mod error;
#[cfg(test)]
pub(crate) mod fixtures;
pub(crate) mod layout;
pub mod manifest;
pub mod markdown;
mod overview;
mod page;
pub mod priced;
mod reasons;
pub mod replayed;
mod table;
pub mod terminal;
pub mod verified;
pub mod write;

pub use difference::diff_text;
pub use error::ReportError;
pub use manifest::Manifest;
pub use overview::{Reported, overview_csv, overview_markdown, overview_text};
pub use reasons::{REASONS, Reason, reason_text};
pub use terminal::verdict;
pub use write::{Disk, Images, Report, Storage, write};
