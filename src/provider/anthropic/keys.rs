//! Parameter or feature -> segments that survive a difference -> the API's name for it.
//!
//! From the page on prompt caching ("what invalidates the cache") and that on cache diagnostics,
//! both as of the facts' day. Where the page says that it depends on the model, or nothing, the
//! worse case is taken and labelled.

use super::render::{NOT_IN_KEY, kind_of};
use crate::provider::keys::{Certainty, Feature, KeyRule, Survival};
use crate::request::json::Node;
use crate::request::{BlockKind, Section};

/// A tool definition with this member set is no part of the prefix.
const DEFERRED: &str = "defer_loading";

/// Server tools that change the system prompt by being there, by how their type begins.
const WEB_TOOLS: [&str; 2] = ["web_search", "web_fetch"];

const BY_MODEL: &str = "which of tools and system survive depends on the model, and no table of \
                        models is published; the worse case is taken";
const UNDOCUMENTED: &str = "no page says whether it keys the cache; the worse case is taken";

const fn documented(survives: Survival, note: &'static str) -> KeyRule {
    KeyRule { survives, api_reason: None, certainty: Certainty::Documented, note }
}

const fn assumed(note: &'static str) -> KeyRule {
    KeyRule { survives: Survival::NOTHING, api_reason: None, certainty: Certainty::Assumed, note }
}

const RULES: [(&str, KeyRule); 13] = [
    (
        "model",
        KeyRule {
            survives: Survival::NOTHING,
            api_reason: Some("model_changed"),
            certainty: Certainty::Documented,
            note: "every model has a cache of its own",
        },
    ),
    ("thinking", assumed(BY_MODEL)),
    ("output_config.effort", assumed(BY_MODEL)),
    ("output_config.format", assumed(UNDOCUMENTED)),
    ("output_format", assumed(UNDOCUMENTED)),
    ("tool_choice", documented(Survival::TO_SYSTEM, "it is rendered behind the system prompt")),
    ("speed", documented(Survival::TO_TOOLS, "fast and standard never share system or messages")),
    ("betas", assumed(UNDOCUMENTED)),
    ("anthropic_beta", assumed(UNDOCUMENTED)),
    ("images", documented(Survival::TO_SYSTEM, "whether there is any image keys the messages")),
    ("citations", documented(Survival::TO_TOOLS, "the toggle changes the system prompt")),
    ("web_search", documented(Survival::TO_TOOLS, "the toggle changes the system prompt")),
    ("web_fetch", documented(Survival::TO_TOOLS, "the toggle changes the system prompt")),
];

/// The rule of a parameter, by its dotted path, or of a feature; `None` for a parameter that is no
/// part of the key.
pub(super) fn key_rule(name: &str) -> Option<KeyRule> {
    let top = name.split('.').next().unwrap_or(name);
    // The id of the message to compare with says nothing about this prompt.
    if NOT_IN_KEY.contains(&top) || top == "diagnostics" {
        return None;
    }
    let named = RULES.iter().find(|(known, _)| *known == name || *known == top);
    Some(named.map_or(assumed(UNDOCUMENTED), |(_, rule)| *rule))
}

/// The value that is the same as leaving the parameter or member out, as JSON without white space
/// and with sorted keys.
pub(super) fn key_default(name: &str) -> Option<&'static str> {
    match name {
        "output_config.effort" => Some("\"high\""),
        "speed" => Some("\"standard\""),
        "thinking" => Some("{\"type\":\"disabled\"}"),
        "tool_choice" => Some("{\"type\":\"auto\"}"),
        "tool_choice.disable_parallel_tool_use" => Some("false"),
        _ => None,
    }
}

/// The API's name for a difference inside a section.
pub(super) fn section_reason(section: Section) -> &'static str {
    match section {
        Section::Tools => "tools_changed",
        Section::System => "system_changed",
        Section::Messages => "messages_changed",
    }
}

/// Whether a tool definition stands outside the prefix.
pub(super) fn is_outside_prefix(bytes: &[u8], tool: &Node) -> bool {
    tool.get(DEFERRED).is_some_and(|node| node.raw(bytes) == b"true")
}

/// The feature that a tool definition switches on by being there.
pub(super) fn tool_feature(bytes: &[u8], tool: &Node) -> Option<&'static str> {
    let kind = tool.get("type")?.text(bytes)?;
    WEB_TOOLS.into_iter().find(|feature| kind.starts_with(feature))
}

/// The features in use, each with its first place.
pub(super) fn features(bytes: &[u8], root: &Node) -> Vec<Feature> {
    let mut search = Search { bytes, found: Vec::new() };
    let messages = root.get("messages").map_or(&[][..], |node| node.items());
    for (index, message) in messages.iter().enumerate() {
        let Some(content) = message.get("content") else { continue };
        search.content(content, &format!("/messages/{index}/content"));
    }
    search.found
}

struct Search<'a> {
    bytes: &'a [u8],
    found: Vec<Feature>,
}

impl Search<'_> {
    fn content(&mut self, content: &Node, pointer: &str) {
        for (index, block) in content.items().iter().enumerate() {
            let is_image = kind_of(self.bytes, block) == BlockKind::Image;
            let enabled = block.get("citations").and_then(|citations| citations.get("enabled"));
            let cites = enabled.is_some_and(|node| node.raw(self.bytes) == b"true");
            for (name, _) in
                [("images", is_image), ("citations", cites)].iter().filter(|(_, on)| *on)
            {
                self.note(name, || format!("{pointer}/{index}"));
            }
            if let Some(inner) = block.get("content") {
                self.content(inner, &format!("{pointer}/{index}/content"));
            }
        }
    }

    fn note(&mut self, name: &'static str, pointer: impl Fn() -> String) {
        if !self.found.iter().any(|feature| feature.name == name) {
            self.found.push(Feature { name, pointer: pointer() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::json::parse;

    #[test]
    fn the_table_of_the_page_on_prompt_caching() {
        for (name, survives) in [
            ("model", Survival::NOTHING),
            ("speed", Survival::TO_TOOLS),
            ("citations", Survival::TO_TOOLS),
            ("web_search", Survival::TO_TOOLS),
            ("tool_choice", Survival::TO_SYSTEM),
            ("images", Survival::TO_SYSTEM),
        ] {
            let rule = key_rule(name).unwrap();
            assert_eq!(
                (rule.survives, rule.certainty),
                (survives, Certainty::Documented),
                "{name}"
            );
        }
        for name in ["thinking", "output_config.effort", "betas", "anything_else"] {
            let rule = key_rule(name).unwrap();
            assert_eq!(rule.certainty, Certainty::Assumed, "{name}");
            assert_eq!(rule.survives, Survival::NOTHING, "{name}");
        }
        for name in ["max_tokens", "stream", "metadata", "stop_sequences", "temperature"] {
            assert_eq!(key_rule(name), None, "{name}");
        }
    }

    #[test]
    fn a_default_is_json_with_sorted_keys() {
        for (name, default) in [
            ("tool_choice", Some("{\"type\":\"auto\"}")),
            ("tool_choice.disable_parallel_tool_use", Some("false")),
            ("speed", Some("\"standard\"")),
            ("thinking", Some("{\"type\":\"disabled\"}")),
            ("betas", None),
        ] {
            assert_eq!(key_default(name), default, "{name}");
        }
    }

    #[test]
    fn features_are_found_also_inside_results() {
        let body = br#"{"messages":[{"role":"user","content":"x"},{"role":"user","content":[
            {"type":"tool_result","content":[{"type":"image"},{"type":"image"}]},
            {"type":"document","citations":{"enabled":true}}]}]}"#;
        let found = features(body, &parse(body).unwrap());
        let places: Vec<_> = found.iter().map(|f| (f.name, f.pointer.as_str())).collect();
        assert_eq!(
            places,
            [("images", "/messages/1/content/0/content/0"), ("citations", "/messages/1/content/1")]
        );
        let off = br#"{"messages":[{"content":[{"citations":{"enabled":false}}]}]}"#;
        assert_eq!(features(off, &parse(off).unwrap()), []);
    }
}
