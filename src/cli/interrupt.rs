//! Ctrl-C: an interrupted command ends with its own exit code and leaves nothing half-written.

use std::sync::{Mutex, PoisonError};

use super::exit_code;

/// Held while files are written: an interruption waits until they are complete, which takes
/// milliseconds.
static WRITING: Mutex<()> = Mutex::new(());

/// Ends the process on Ctrl-C or a termination signal, between two writes. Where no handler can be
/// set the system's own stays.
pub(super) fn watch() {
    drop(ctrlc::set_handler(|| {
        let _complete = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        std::process::exit(i32::from(exit_code::INTERRUPTED));
    }));
}

/// Does work that an interruption waits for: writing files, never printing, which may block for as
/// long as its reader likes.
pub(super) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _complete = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}
