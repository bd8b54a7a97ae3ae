//! What is published, and where it stands.

use serde::Deserialize;

use crate::provider::rules::{RULE_KEYS, RuleKind, RuleValue};
use crate::trace::{self, Source, Trace};

/// The index that is part of the program.
const INDEX: &str = include_str!("published.toml");

/// The text of a timeline that is part of the program.
macro_rules! published {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../scenarios/published/", $name, ".jsonl")))),*]
    };
}

/// Every published timeline, by name.
const TIMELINES: &[(&str, &str)] = published![
    "documented-bill",
    "documented-lifetime",
    "documented-lookback",
    "documented-runs",
    "eighteen-parallel-calls",
    "four-spawns",
    "four-turns",
    "gaps-past-five-minutes",
    "lookback-live-test",
    "message-inserted",
    "named-agent-wakes",
    "one-word-differs",
    "ping-keeps-alive",
    "resumed-fork",
    "second-call-at-once",
    "subtask-fork",
    "timestamp-in-system",
    "two-at-once",
];

/// Everything that is checked by a replay.
#[derive(Clone, Debug)]
pub struct Index {
    /// Timelines in the order of the index.
    pub timelines: Vec<Timeline>,
    /// Recordings in the order of the index.
    pub recordings: Vec<Recording>,
    /// Recordings that token counts are held to.
    pub tokens: TokenRecordings,
}

/// Recordings that token counts are held to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRecordings {
    /// Their files below the folder of data.
    pub files: Vec<String>,
    /// How the names of the requests of one whole session begin.
    pub session: String,
    /// Requests that were not sent as they are recorded.
    pub left_out: Vec<LeftOut>,
    /// What is known of requests whose bill is not met.
    pub known: Vec<LeftOut>,
}

/// A request, and what is known of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// What its name holds, at its end where it is left out.
    pub id: String,
    /// What is known.
    pub why: String,
}

/// One published measurement.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Its name, and its file's in `scenarios/published`.
    pub file: String,
    /// Who published it.
    pub published_by: String,
    /// Where; empty where no link is known.
    pub url: String,
    /// Whether it works a documented rule instead of repeating a measurement.
    pub is_rule: bool,
    /// Published token equivalents.
    pub cost: Vec<StatedCost>,
    /// Rules under which it no longer gives the published bills.
    pub differs_under: Vec<(String, RuleValue)>,
    text: &'static str,
}

impl Timeline {
    /// Its text as a source of requests.
    pub fn source(&self) -> Source {
        let name = format!("scenarios/published/{}.jsonl", self.file);
        Source::of_bytes(&name, self.text.as_bytes())
    }

    /// What its first line says of it.
    pub fn comment(&self) -> Option<String> {
        match trace::open(self.source()).ok()? {
            Trace::Timeline(timeline) => timeline.header.comment,
            Trace::Capture(_) => None,
        }
    }
}

/// One recording outside the program, and what a replay of it comes to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Its file below the folder of data.
    pub file: String,
    /// Who published it.
    #[serde(rename = "source")]
    pub published_by: String,
    /// Where.
    pub url: String,
    /// Its calls.
    pub requests: u64,
    /// Calls that were billed a read.
    pub reads: u64,
    /// Calls whose read is predicted to the token.
    pub exact: u64,
    /// Calls whose read cannot be predicted, for a reason that has a name.
    pub explained: u64,
}

/// Published token equivalents of some requests together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedCost {
    /// Names of the requests.
    pub requests: Vec<String>,
    /// Token equivalents, with as many decimals as were published.
    pub te: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireIndex {
    timeline: Vec<WireTimeline>,
    recording: Vec<Recording>,
    tokens: TokenRecordings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireTimeline {
    file: String,
    source: String,
    url: String,
    #[serde(default)]
    rule: bool,
    #[serde(default)]
    cost: Vec<StatedCost>,
    #[serde(default)]
    differs_under: Vec<String>,
}

/// Why the index of the program cannot be used; a test proves that it can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// It is not understood.
    #[error("read the index of published measurements: {0}")]
    Shape(String),
    /// It names a timeline that is not there.
    #[error("read the index of published measurements: there is no timeline `{0}`")]
    Timeline(String),
    /// It names a rule that is none.
    #[error("read the index of published measurements: `{0}` is no rule")]
    Rule(String),
}

impl Index {
    /// The index of the program.
    ///
    /// # Errors
    /// Where it is not understood.
    pub fn published() -> Result<Index, IndexError> {
        let wire: WireIndex =
            toml::from_str(INDEX).map_err(|error| IndexError::Shape(error.to_string()))?;
        let timelines = wire.timeline.into_iter().map(timeline).collect::<Result<_, _>>()?;
        Ok(Index { timelines, recordings: wire.recording, tokens: wire.tokens })
    }
}

fn timeline(wire: WireTimeline) -> Result<Timeline, IndexError> {
    let text = TIMELINES.iter().find(|(name, _)| *name == wire.file);
    let text = text.ok_or_else(|| IndexError::Timeline(wire.file.clone()))?.1;
    let rules = wire.differs_under.iter().map(|rule| as_rule(rule)).collect::<Result<_, _>>()?;
    Ok(Timeline {
        file: wire.file,
        published_by: wire.source,
        url: wire.url,
        is_rule: wire.rule,
        cost: wire.cost,
        differs_under: rules,
        text,
    })
}

fn as_rule(text: &str) -> Result<(String, RuleValue), IndexError> {
    let wrong = || IndexError::Rule(text.to_owned());
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    let known = RULE_KEYS.iter().find(|known| known.key == key).ok_or_else(wrong)?;
    let value = match known.kind {
        RuleKind::Text => RuleValue::Text(value.to_owned()),
        RuleKind::Integer { .. } => RuleValue::Integer(value.parse().map_err(|_| wrong())?),
        RuleKind::Bool => RuleValue::Bool(value.parse().map_err(|_| wrong())?),
    };
    Ok((key.to_owned(), value))
}

/// `key=value`.
pub(super) fn as_text(key: &str, value: &RuleValue) -> String {
    match value {
        RuleValue::Text(text) => format!("{key}={text}"),
        RuleValue::Integer(number) => format!("{key}={number}"),
        RuleValue::Bool(on) => format!("{key}={on}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_names_every_timeline_once_and_no_other() {
        let index = Index::published().unwrap();
        let mut named: Vec<&str> =
            index.timelines.iter().map(|timeline| timeline.file.as_str()).collect();
        named.sort_unstable();
        let there: Vec<&str> = TIMELINES.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, there);
        for timeline in &index.timelines {
            let comment = timeline.comment().unwrap_or_default();
            // What was measured and what was made up to fit it are told apart.
            assert!(comment.contains("Ours: "), "{}", timeline.file);
        }
    }

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        for text in ["lookback=19", "count=per_block", "ttl_in_key=true"] {
            let (key, value) = as_rule(text).unwrap();
            assert_eq!(as_text(&key, &value), text);
        }
        for text in ["lookback", "lookback=x", "no=1", "ttl_in_key=2"] {
            assert_eq!(as_rule(text), Err(IndexError::Rule(text.to_owned())));
        }
    }
}
