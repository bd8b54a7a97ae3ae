//! Token counts of texts and requests, and how far they are from what was billed.
//!
//! [`count_request`] and [`count_text`] count; [`calibrate()`] counts recorded requests, holds the
//! counts to their bills and fits what corrects them.

mod accuracy;
mod calibrate;
mod correction;
mod request;
mod rows;
mod statistics;

pub use accuracy::{Accuracy, Measured, evidence, measure, measured, percent};
pub use calibrate::{Calibration, Class, Half, Judged, RowResult, calibrate, class_of};
pub use correction::{Correction, CorrectionError, Corrections};
pub use request::{
    BlockCount, Counted, Exactness, SectionCount, TextCounter, count_request, count_text,
    exactness_of, last_sure_cut, may_be_request, model_in, model_of_request,
};
pub use rows::{Row, RowError, Skipped, read_row};
pub use statistics::Statistics;
