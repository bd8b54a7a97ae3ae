//! A run written as a timeline, read back and played (INV-6).

use std::io;

use forkcost::provider::rules;
use forkcost::record::RunRecord;
use forkcost::replay::{Options, Played, Sink, replay};
use forkcost::scenario::Scenario;
use forkcost::simulate::Measured;
use forkcost::trace::timeline::{self, Header};
use forkcost::trace::{self, Source};
use forkcost::whatif::Study;

struct Rows(Vec<RunRecord>);

impl Sink for Rows {
    fn row(&mut self, played: &Played) -> io::Result<()> {
        self.0.push(played.record.clone());
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        Err(io::Error::other("a run is written in the order of its starts"))
    }
}

/// The rows of the timeline that `run --timeline` writes for this scenario.
fn replayed(scenario: &Scenario, played: &Measured) -> Result<Vec<RunRecord>, String> {
    let header = Header {
        model: Some(scenario.model_name.clone()),
        date: Some(scenario.date),
        tokenizer: Some(scenario.tokenizer.to_string()),
        rules: rules::stated(&scenario.rules),
        comment: None,
    };
    let mut bytes = Vec::new();
    timeline::write(&mut bytes, &header, &played.events, &played.prompts)
        .map_err(|error| error.to_string())?;
    let trace = trace::open(Source::of_bytes("run", bytes)).map_err(|error| error.to_string())?;
    let options = Options { strict: true, ..Options::default() };
    let mut rows = Rows(Vec::new());
    replay(&trace, &options, &mut rows).map_err(|error| error.to_string())?;
    Ok(rows.0)
}

/// What a run and its replay must have in common, by name.
fn compared(row: &RunRecord) -> [(&'static str, String); 20] {
    [
        ("request", row.request.clone()),
        ("start_ms", row.start_ms.to_string()),
        ("first_token_ms", row.first_token_ms.to_string()),
        ("read", row.read.to_string()),
        ("write_5m", row.write_5m.to_string()),
        ("write_1h", row.write_1h.to_string()),
        ("uncached", row.uncached.to_string()),
        ("input", row.input.to_string()),
        ("output", row.output.to_string()),
        ("read_pico_usd", row.read_pico_usd.to_string()),
        ("write_5m_pico_usd", row.write_5m_pico_usd.to_string()),
        ("write_1h_pico_usd", row.write_1h_pico_usd.to_string()),
        ("uncached_pico_usd", row.uncached_pico_usd.to_string()),
        ("input_pico_usd", row.input_pico_usd.to_string()),
        ("output_pico_usd", row.output_pico_usd.to_string()),
        ("base_pico_usd", row.base_pico_usd.to_string()),
        ("te", row.te.clone()),
        ("reason", row.reason.clone()),
        ("shared_end", row.shared_end.to_string()),
        ("markers", row.markers.clone()),
    ]
}

/// INV-6: usage, cost and reason of a run equal those of replaying its timeline.
///
/// # Errors
/// With every value that differs, or why it cannot be replayed.
pub(crate) fn run_equals_replay(scenario: &Scenario, study: &Study) -> Result<(), String> {
    let run: Vec<&RunRecord> = study.records.iter().filter(|row| row.plan == "this_plan").collect();
    let replay = replayed(scenario, &study.played)?;
    if run.is_empty() || run.len() != replay.len() {
        return Err(format!("{} requests were run, {} replayed", run.len(), replay.len()));
    }
    let mut differences = Vec::new();
    for (row, again) in run.iter().zip(&replay) {
        for ((name, was), (_, is)) in compared(row).into_iter().zip(compared(again)) {
            if was != is {
                differences.push(format!("{}: {name} is {was}, replayed {is}", row.request));
            }
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
}
