//! The built command, as its users meet it: exit codes, what stands on which stream, what stays on
//! disk.

#![allow(missing_docs, clippy::unwrap_used)]

mod commands;
mod count;
mod diff;
mod files;
mod lab;
mod mutations;
mod price;
mod recorded;
mod replay;
mod scenarios;
mod session;
mod settings;
mod streams;
mod texts;
