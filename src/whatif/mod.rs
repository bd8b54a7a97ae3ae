//! Drives agent, simulator and analysis over one scenario and its alternatives.

pub mod study;

pub use study::{Study, StudyError, calibrated, study};
