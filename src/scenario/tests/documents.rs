//! Documents and code say the same.

use std::collections::BTreeSet;

use super::{good, load, mistakes_of};
use crate::provider::rules::RULE_NAMES;
use crate::scenario::diagnostic::code;
use crate::scenario::{CODES, STARTER, schema, wire};

const FORMAT: &str = include_str!("../../../docs/scenario-format.md");
const SCHEMA: &str = include_str!("../../../docs/scenario.schema.json");

/// Tables of the format with the keys that the walk allows.
const TABLES: [(&str, &[&str]); 13] = [
    ("", wire::ROOT),
    ("parent", wire::PARENT),
    ("parent.tools", wire::TOOLS),
    ("parent.system", wire::SYSTEM),
    ("parent.history", wire::HISTORY),
    ("parent.dispatch", wire::DISPATCH),
    ("parent.cache", wire::CACHE),
    ("fork", wire::FORK),
    ("fork.directive", wire::DIRECTIVE),
    ("fork.placeholder", wire::PLACEHOLDER),
    ("schedule", wire::SCHEDULE),
    ("rules", RULE_NAMES),
    ("baselines.fresh", wire::FRESH),
];

/// The keys that the schema allows in the table at a dotted path.
fn schema_keys(path: &str) -> BTreeSet<String> {
    let schema = schema();
    let mut at = &schema;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        at = &at["properties"][part];
        let inner = at["allOf"].get(0).unwrap_or(at);
        let reference = inner["$ref"].as_str().expect("a table is a reference");
        at = &schema["definitions"][reference.rsplit('/').next().expect("a name")];
    }
    assert_eq!(at["additionalProperties"], false, "{path}");
    at["properties"].as_object().expect("properties").keys().cloned().collect()
}

#[test]
fn the_walk_accepts_exactly_the_keys_of_the_schema() {
    for (path, keys) in TABLES {
        let of_walk: BTreeSet<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        assert_eq!(schema_keys(path), of_walk, "{path}");
    }
    assert_eq!(schema_keys("baselines"), BTreeSet::from(["fresh".to_owned()]));
}

#[test]
fn every_key_is_known_and_every_other_is_not() {
    for (path, keys) in TABLES {
        for key in keys.iter().copied().chain(["zebra"]) {
            let dotted = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            // A list of lists is the right type of no key, so each gives some mistake.
            let found = mistakes_of(load(&format!("{dotted} = [[]]")));
            let unknown = found.iter().any(|mistake| mistake.code == code::UNKNOWN_KEY);
            assert_eq!(unknown, key == "zebra", "{dotted}");
            let named = |mistake: &&crate::scenario::Diagnostic| {
                mistake.key.as_ref().is_some_and(|found| found.starts_with(&dotted))
            };
            assert!(found.iter().any(|mistake| named(&mistake)), "{dotted}: {found:#?}");
        }
    }
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    let committed: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(committed == schema(), "write the output of `forkcost schema` to docs/");
    assert!(!SCHEMA.contains("\"null\""));
}

#[test]
fn the_starter_parses_and_shows_every_key() {
    let scenario = good(STARTER);
    assert_eq!((scenario.fork.children, scenario.seed), (5, 1));
    for key in wire::ROOT.iter().chain(wire::PARENT).chain(wire::FORK).chain(wire::SCHEDULE) {
        assert!(STARTER.contains(key), "{key}");
    }
}

#[test]
fn commented_lines_of_the_starter_are_right_too() {
    for line in STARTER.lines().filter(|line| line.starts_with("# ") && line.contains(" = ")) {
        let lone = line.trim_start_matches("# ");
        assert!(lone.parse::<toml::Table>().is_ok(), "{lone}");
    }
}

#[test]
fn every_code_and_key_is_documented() {
    for (code, meaning) in CODES {
        assert!(FORMAT.contains(&format!("| `{code}` | {meaning} |\n")), "{code}");
    }
    for (path, keys) in TABLES {
        for key in keys {
            assert!(FORMAT.contains(&format!("`{key}`")), "{path}: {key}");
        }
    }
    for (name, _) in crate::request::marker::POLICIES {
        assert!(FORMAT.contains(&format!("`{name}`")), "{name}");
    }
}
