//! Requests from outside: timelines and recorded calls become [`RequestEvent`]s, and the events of
//! a run become a timeline.
//!
//! * [`timeline`] reads and writes the format that states blocks, sizes and times.
//! * [`capture`] reads recorded calls: real bodies with what was billed for them. The tokens of a
//!   prefix are learnt from the call that wrote it, before anything is played.
//! * [`open`] tells them apart by their first line.
//!
//! Deliberately absent: session transcripts, and formats of other tools.

pub mod capture;
pub mod source;
pub mod timeline;

mod learn;
mod mistake;
mod sized;

pub use capture::Capture;
pub use mistake::{Mistake, TraceError};
pub use source::Source;
pub use timeline::Timeline;

use crate::request::RequestEvent;
use crate::request::json::parse;
use crate::units::SimTime;

use mistake::Place;

/// One request of a trace.
#[derive(Clone, Debug)]
pub struct Traced {
    /// Its line, from 1.
    pub line: u64,
    /// The request.
    pub event: RequestEvent,
    /// Where its sizes come from.
    pub sizes: Sizes,
    /// What was billed for it, as far as the trace says.
    pub observed: Option<Observed>,
}

/// Where the sizes of a request's blocks come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// The trace states them.
    Stated,
    /// The size of the whole is what was billed; everything between known places is shared out by
    /// bytes.
    Learnt {
        /// Blocks, in order, at whose ends prefixes of known size end: that which a call that wrote
        /// them was billed.
        known: Vec<usize>,
    },
}

/// What was billed for a request; `None` where the trace does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Input read.
    pub read: Option<u64>,
    /// Input written for five minutes.
    pub write_5m: Option<u64>,
    /// Input written for one hour.
    pub write_1h: Option<u64>,
    /// Input neither read nor written.
    pub uncached: Option<u64>,
    /// Whether the provider ran tools of its own within the call: the numbers are then sums over
    /// several passes of the model.
    pub several_passes: bool,
}

/// A trace, told by its content.
#[derive(Debug)]
pub enum Trace {
    /// Blocks, sizes and times are stated.
    Timeline(Timeline),
    /// Recorded calls.
    Capture(Capture),
}

/// Reads the beginning of a trace and tells its kind.
///
/// # Errors
/// Where it cannot be read, is empty, or its first line is neither a timeline's nor a recorded
/// call.
pub fn open(source: Source) -> Result<Trace, TraceError> {
    let io = |error| TraceError::io(source.name(), error);
    let mut lines = source.lines().map_err(io)?;
    let Some(line) = lines.next_line().map_err(io)? else {
        let place = Place { name: source.name(), line: 1, bytes: b"", ended: true };
        let help = "a timeline (see docs/replay.md) or recorded calls with `request` and `usage`";
        return Err(place.whole("the file is empty", help).into());
    };
    let place =
        Place { name: source.name(), line: line.number, bytes: line.bytes, ended: line.ended };
    let root = parse(line.bytes).map_err(|error| place.syntax(&error))?;
    if root.get("forkcost_timeline").is_some() {
        return Ok(Trace::Timeline(Timeline::open(source)?));
    }
    if root.get("request").is_some() {
        return Ok(Trace::Capture(Capture::open(source)?));
    }
    let keys: Vec<&str> = root.members().iter().map(|member| member.key.as_str()).take(8).collect();
    let found = if keys.is_empty() { "no object".to_owned() } else { keys.join(", ") };
    let message = format!("neither a timeline nor a recorded call (its keys: {found})");
    let help = "a timeline's first line is {\"forkcost_timeline\": 1}; a recorded call has \
                `request` and `usage`; see docs/replay.md";
    Err(place.whole(message, help).into())
}

/// Milliseconds of a time in seconds; finer digits are rounded to the nearest.
fn time_of_seconds(seconds: f64) -> Option<SimTime> {
    let millis = (seconds * 1_000.0).round();
    (millis.abs() <= TIME_MS_MAX).then_some(SimTime(millis as i64))
}

/// Farthest moment from zero that a trace may name: some 30,000 years.
const TIME_MS_MAX: f64 = 1e15;
