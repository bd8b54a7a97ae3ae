//! Progress on stderr: on a terminal, for work over half a second.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::Output;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Counts steps of work.
pub(super) struct Progress {
    bar: ProgressBar,
    visible: bool,
    allowed: bool,
}

impl Progress {
    /// Progress over so many steps.
    pub(super) fn new(output: Output, steps: u64) -> Progress {
        let bar = ProgressBar::hidden();
        bar.set_length(steps);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Progress { bar, visible: false, allowed: output.shows_progress() }
    }

    /// What is worked on.
    pub(super) fn say(&mut self, what: &str) {
        if self.allowed && !self.visible && self.bar.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.visible = true;
        }
        self.bar.set_message(what.to_owned());
    }

    /// One more step is done.
    pub(super) fn step(&self) {
        self.bar.inc(1);
    }

    /// So many steps are done.
    pub(super) fn to(&self, steps: u64) {
        self.bar.set_position(steps);
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
