//! Counts of the Claude families against the counts of the package that their tables come from.
//!
//! `data/claude/vectors.jsonl` holds texts with the counts of one user message of that text; they
//! are the package's own, not ours.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use forkcost::request::json::decode_string;
use forkcost::tokens::ClaudeFamily;

#[derive(serde::Deserialize)]
struct Vector {
    id: u32,
    text: Option<String>,
    /// A JSON string: it may hold half of a surrogate pair, which no text can.
    json: Option<String>,
    repeat: Option<String>,
    n: Option<usize>,
    v3: u64,
    #[serde(rename = "v4.7")]
    v47: u64,
    #[serde(rename = "v4.8")]
    v48: u64,
}

impl Vector {
    fn text(&self) -> String {
        match (&self.text, &self.json, &self.repeat) {
            (Some(text), _, _) => text.clone(),
            (None, Some(json), _) => decode_string(json.as_bytes()),
            (None, None, Some(unit)) => unit.repeat(self.n.unwrap()),
            (None, None, None) => panic!("vector {} has no text", self.id),
        }
    }
}

#[test]
fn every_vector_has_the_counts_of_the_original() {
    let text = std::fs::read_to_string("data/claude/vectors.jsonl").unwrap();
    let mut different = Vec::new();
    let mut compared = 0;
    for line in text.lines().skip(1) {
        let vector: Vector = serde_json::from_str(line).unwrap();
        let text = vector.text();
        let found = ClaudeFamily::ALL.map(|family| family.count_message(&text));
        let original = [vector.v3, vector.v47, vector.v48];
        if found != original {
            different.push(format!("{}: {found:?}, not {original:?}: {text:?}", vector.id));
        }
        compared += 3;
    }
    assert!(compared > 6_000, "{compared}");
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}
