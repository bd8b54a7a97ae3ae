//! Plays timelines through the public interface and holds laws over many of them.

use std::env;
use std::io;
use std::ops::Range;

use forkcost::record::RunRecord;
use forkcost::replay::{self, Options, Played, ReplayError, Sink, Sums};
use forkcost::trace::{self, Source};

use crate::generator;
use crate::shrink::smallest;
use crate::timeline::Timeline;

/// First seed where `FORKCOST_SEED` sets none.
const SEED: u64 = 20_261_201;

/// Timelines a law where `FORKCOST_CASES` sets no number.
const CASES: u64 = 100_000;

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

/// Timelines a law.
pub(crate) fn cases() -> u64 {
    setting("FORKCOST_CASES", CASES)
}

/// Fails with the seed and a small timeline where `law` does not hold for one of the numbered
/// timelines. A law may draw choices of its own from the seed it is given.
pub(crate) fn hold(numbers: Range<u64>, mut law: impl FnMut(&Timeline, u64) -> Result<(), String>) {
    let base = setting("FORKCOST_SEED", SEED);
    for number in numbers {
        let seed = base.wrapping_add(number);
        let timeline = generator::timeline(seed);
        if law(&timeline, seed).is_err() {
            let small = smallest(timeline, |candidate| law(candidate, seed).is_err());
            let message = law(&small, seed).unwrap_err();
            panic!("FORKCOST_SEED={seed} FORKCOST_CASES=4\n{}\n{message}", small.text());
        }
    }
}

/// What a replay came to.
pub(crate) struct Replayed {
    pub(crate) rows: Vec<RunRecord>,
    pub(crate) sums: Sums,
}

struct Rows(Vec<RunRecord>);

impl Sink for Rows {
    fn row(&mut self, played: &Played) -> io::Result<()> {
        self.0.push(played.record.clone());
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.0.clear();
        Ok(())
    }
}

/// Writes the timeline, reads it back and plays it.
pub(crate) fn play(timeline: &Timeline) -> Result<Replayed, String> {
    play_text(timeline.text(), false).map_err(|error| error.to_string())
}

/// Plays the text of a timeline.
pub(crate) fn play_text(text: String, strict: bool) -> Result<Replayed, ReplayError> {
    let trace = trace::open(Source::of_bytes("random", text.into_bytes()))?;
    let options = Options { strict, ..Options::default() };
    let mut rows = Rows(Vec::new());
    let outcome = replay::replay(&trace, &options, &mut rows)?;
    Ok(Replayed { rows: rows.0, sums: outcome.sums })
}
