//! Simulates requests: events in, one record a request out, left to right, nothing comes back.
//!
//! body → rendered prompt → tokens and hashes → cache → usage → cost → record. The order of events
//! is the order of their starts; events that start together keep the order in which they are given.

pub mod bounds;
pub mod measured;
pub mod plan;
pub mod reason;
pub mod row;
pub mod stream;

pub use measured::{Measured, measure};
pub use plan::{Billing, Rules, SimulateError, simulate};
pub use row::{Priced, Row, markers, priced};
pub use stream::{Arrival, Siblings, Simulator, Together, Verdict};
