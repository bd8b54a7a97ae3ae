//! What a usage costs: which price it has, the bill, models side by side, and the price list.
//!
//! Usages come as words or as text that the caller has read (`input.rs`), prices from the list or
//! as given (`rates.rs`); both meet in a bill (`bill.rs`). Numbers are exact decimals or refused.
//! Deliberately absent: files, and how a bill is shown, which is `report`'s.

mod bill;
mod compare;
mod error;
mod input;
mod list;
pub mod numbers;
mod rates;
#[cfg(test)]
mod tests;

pub use bill::{Bill, CLASSES, Class, Line, PricedPass, RowRates, to_the_cent};
pub use compare::Compared;
pub use error::QuoteError;
pub use input::{Input, Row, USAGE_HELP, is_json, is_word, read_text, read_words};
pub use list::all;
pub use numbers::Factor;
pub use rates::{GivenPrices, Listed, Quote, Rates, Typed, mark_words};
