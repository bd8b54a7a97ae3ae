//! Every exit code, in one place.

/// Done.
pub const DONE: u8 = 0;
/// An expectation, threshold or gate was not met.
pub const NOT_MET: u8 = 1;
/// Bad usage or bad input.
pub const BAD_INPUT: u8 = 2;
/// A file could not be read or written.
pub const IO: u8 = 3;
/// A bug (a panic).
pub const BUG: u8 = 101;
/// Interrupted.
pub const INTERRUPTED: u8 = 130;

/// The table in the help text.
pub const HELP: &str = "\
Exit codes:
  0    done
  1    an expectation, threshold or gate was not met
  2    bad usage or input
  3    a file could not be read or written
  101  a bug
  130  interrupted";
