//! The shape of a scenario file: the keys of each table, and the JSON Schema made from them.
//!
//! The structs exist for the schema alone; the walk reads the tree, since it reports every mistake
//! of a file with its place. A test holds both to the same keys.

#![expect(dead_code, reason = "the structs exist for their schema")]

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

mod session;

use session::{WireEra, WireGate, WireLimits};

/// Keys of the file.
pub(super) const ROOT: &[&str] = &[
    "version",
    "title",
    "model",
    "date",
    "seed",
    "tokenizer",
    "parent",
    "fork",
    "gate",
    "limits",
    "schedule",
    "rules",
    "baselines",
    "expect",
];
/// Keys of `[parent]`.
pub(super) const PARENT: &[&str] = &["tools", "system", "history", "request", "dispatch", "cache"];
/// Keys of `parent.tools`.
pub(super) const TOOLS: &[&str] = &["count", "tokens", "file"];
/// Keys of `parent.system`.
pub(super) const SYSTEM: &[&str] = &["tokens", "file"];
/// Keys of `parent.history`.
pub(super) const HISTORY: &[&str] = &["tokens", "turns", "file", "transcript"];
/// Keys of `parent.dispatch`.
pub(super) const DISPATCH: &[&str] =
    &["tokens_per_call", "tokens", "thinking_blocks", "text_blocks"];
/// Keys of `parent.cache`.
pub(super) const CACHE: &[&str] = &["state", "age_s", "ttl"];
/// Keys of `[fork]`.
pub(super) const FORK: &[&str] = &[
    "era",
    "children",
    "directive",
    "boilerplate",
    "placeholder",
    "result_content",
    "clone",
    "marker_policy",
    "markers",
    "ttl",
];
/// Keys of `fork.directive`.
pub(super) const DIRECTIVE: &[&str] = &["tokens", "texts", "file"];
/// Keys of `fork.placeholder`.
pub(super) const PLACEHOLDER: &[&str] = &["text", "tokens"];
/// Keys of `[gate]`.
pub(super) const GATE: &[&str] =
    &["feature", "coordinator", "interactive", "denied", "query_source", "scan"];
/// Keys of `[limits]`.
pub(super) const LIMITS: &[&str] = &["at_once", "in_all", "depth", "enforce"];
/// Keys of `[schedule]`.
pub(super) const SCHEDULE: &[&str] =
    &["order", "wave_width", "stagger_s", "first_token_latency_s", "request_s"];
/// Keys of `[baselines]`.
pub(super) const BASELINES: &[&str] = &["fresh"];
/// Keys of `baselines.fresh`.
pub(super) const FRESH: &[&str] = &["prompt_tokens", "same_type"];

/// The marker grammar.
const MARKER_PATTERN: &str = concat!(
    r"^(tools\.last|system\.[0-9]+|messages\.[0-9]+\.([0-9]+|last)|",
    r"directive|before_directive|parent_end)(@(5m|1h))?$"
);

/// The JSON Schema (draft 7, which editors understand) of the scenario file.
pub fn schema() -> serde_json::Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut value = generator.into_root_schema_for::<WireScenario>().to_value();
    tidy(&mut value);
    value
}

/// TOML has no null: what may be absent is absent, so no type of the schema is `null`. Lines of a
/// description are joined.
fn tidy(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
                branches.retain(|branch| branch.get("type") != Some(&Value::from("null")));
                if let [only] = branches.as_slice() {
                    // In draft 7 nothing counts beside a reference, so it stays in a list.
                    let only = Value::Array(vec![only.clone()]);
                    object.shift_remove("anyOf");
                    object.insert("allOf".to_owned(), only);
                }
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A scenario: a parent agent that forks into children, and what is asked about it.
#[derive(JsonSchema)]
#[schemars(rename = "Scenario", deny_unknown_fields)]
struct WireScenario {
    /// Version of this format.
    #[schemars(range(min = 1, max = 1))]
    version: u64,
    /// Title in reports. Default: the file's name without its ending.
    title: Option<String>,
    /// Model name or alias. Required without parent.request, which names it itself.
    model: Option<String>,
    /// Day whose prices and rules hold, 2020-01-01 to 2099-12-31. Default: the day on which
    /// the tables were last checked.
    #[schemars(regex(pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    date: Option<String>,
    /// Seed of synthetic text. Default: 1.
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    seed: Option<u64>,
    /// Counts tokens: claude-v3, claude-v4.7, claude-v4.8, o200k_base, cl100k_base, or hf: and the
    /// path of a HuggingFace tokenizer.json (cargo feature huggingface), each optionally with a
    /// factor such as o200k_base*1.65. Default: the model's own family.
    tokenizer: Option<String>,
    /// The parent's request.
    parent: WireParent,
    /// The fork.
    fork: WireFork,
    /// Whether the session may fork.
    gate: Option<WireGate>,
    /// How many agents the session may start.
    limits: Option<WireLimits>,
    /// When the children are sent.
    schedule: Option<WireSchedule>,
    /// Overrides of the provider's cache rules.
    rules: Option<WireRules>,
    /// What to compare with.
    baselines: Option<WireBaselines>,
    /// Expected results: dotted paths of summary.json.
    expect: Option<WireExpect>,
}

/// The parent: either request, or history with tools and system.
#[derive(JsonSchema)]
#[schemars(rename = "Parent", deny_unknown_fields)]
struct WireParent {
    /// Tool definitions. Default: none.
    tools: Option<WireTools>,
    /// System prompt. Default: none.
    system: Option<WireSystem>,
    /// Messages. Required without request.
    history: Option<WireHistory>,
    /// Path of one captured request body; stands for tools, system and history.
    request: Option<String>,
    /// The assistant message that holds the calls. Default: what the directives take.
    dispatch: Option<WireDispatch>,
    /// State of the parent's cache entry.
    cache: Option<WireCache>,
}

/// Synthetic tools of a size, or a file.
#[derive(JsonSchema)]
#[schemars(rename = "Tools", deny_unknown_fields)]
struct WireTools {
    /// Number of tools. Default: one for every 300 tokens, at least one.
    #[schemars(range(max = 10_000))]
    count: Option<u64>,
    /// Tokens of all tools.
    #[schemars(range(max = 20_000_000))]
    tokens: Option<u64>,
    /// JSON file: an array of tools, or a request that has tools.
    file: Option<String>,
}

/// A synthetic system prompt of a size, or a file.
#[derive(JsonSchema)]
#[schemars(rename = "System", deny_unknown_fields)]
struct WireSystem {
    /// Tokens of all blocks.
    #[schemars(range(max = 20_000_000))]
    tokens: Option<u64>,
    /// Text file (one block), or JSON: a string, an array of text blocks, or a request.
    file: Option<String>,
}

/// Synthetic messages of a size, a file, or a session transcript.
#[derive(JsonSchema)]
#[schemars(rename = "History", deny_unknown_fields)]
struct WireHistory {
    /// Tokens of all messages.
    #[schemars(range(min = 1, max = 20_000_000))]
    tokens: Option<u64>,
    /// Pairs of an assistant and a user message behind the first. Default: one for every
    /// 2,500 tokens.
    #[schemars(range(max = 100_000))]
    turns: Option<u64>,
    /// JSON file: an array of messages, or a request.
    file: Option<String>,
    /// Session transcript in JSON lines.
    transcript: Option<String>,
}

/// Size of the dispatch.
#[derive(JsonSchema)]
#[schemars(rename = "Dispatch", deny_unknown_fields)]
struct WireDispatch {
    /// Tokens for each call.
    #[schemars(range(min = 1, max = 20_000_000))]
    tokens_per_call: Option<u64>,
    /// Tokens in all.
    #[schemars(range(min = 1, max = 20_000_000))]
    tokens: Option<u64>,
    /// Reasoning blocks before the calls, inside the size. Default: 0.
    #[schemars(range(max = 1_000))]
    thinking_blocks: Option<u64>,
    /// Text blocks before the calls, inside the size. Default: 0.
    #[schemars(range(max = 1_000))]
    text_blocks: Option<u64>,
}

/// State of the parent's cache entry at the fork.
#[derive(JsonSchema)]
#[schemars(rename = "ParentCache", deny_unknown_fields)]
struct WireCache {
    /// Whether it is there. Default: warm.
    state: Option<WireState>,
    /// Seconds since the start of the parent's last request. Default: 30 when warm, a minute
    /// past the lifetime when expired; not allowed when cold.
    #[schemars(range(max = 31_536_000))]
    age_s: Option<f64>,
    /// Lifetime of the parent's markers. Default: 5m, or that of the markers of request.
    ttl: Option<WireTtl>,
}

/// The fork.
#[derive(JsonSchema)]
#[schemars(rename = "Fork", deny_unknown_fields)]
struct WireFork {
    /// Whose rules of forking hold. Default: today.
    era: Option<WireEra>,
    /// Number of children.
    #[schemars(range(min = 1, max = 100_000))]
    children: u64,
    /// What each child is told.
    directive: WireDirective,
    /// The rules text before the directive. Default: standard.
    boilerplate: Option<WireBoilerplate>,
    /// What stands in for each tool result. Default: a constant short text.
    placeholder: Option<WirePlaceholder>,
    /// How the content of each result is written. Default: array.
    result_content: Option<WireResultContent>,
    /// What of the parent a child inherits. Default: full.
    clone: Option<WireClone>,
    /// Where cache markers go. Default: cc_tail.
    marker_policy: Option<WirePolicy>,
    /// Explicit cache markers instead of a policy, at most four.
    #[schemars(
        length(min = 1, max = 4),
        inner(regex(pattern = MARKER_PATTERN))
    )]
    markers: Option<Vec<String>>,
    /// Lifetime of markers on messages. Default: 5m.
    ttl: Option<WireTtl>,
}

/// A synthetic directive of a size, texts, or a file: one of the three.
#[derive(JsonSchema)]
#[schemars(rename = "Directive", deny_unknown_fields)]
struct WireDirective {
    /// Tokens of each child's directive.
    #[schemars(range(min = 1, max = 20_000_000))]
    tokens: Option<u64>,
    /// One text for each child, or one for all.
    #[schemars(length(min = 1))]
    texts: Option<Vec<String>>,
    /// Text file (one text for all), or JSON: a string or an array of strings.
    file: Option<String>,
}

/// A text, or a constant synthetic text of a size: one of the two.
#[derive(JsonSchema)]
#[schemars(rename = "Placeholder", deny_unknown_fields)]
struct WirePlaceholder {
    /// The text.
    text: Option<String>,
    /// Tokens of a constant text.
    #[schemars(range(min = 1, max = 20_000_000))]
    tokens: Option<u64>,
}

/// When the children are sent.
#[derive(JsonSchema)]
#[schemars(rename = "Schedule", deny_unknown_fields)]
struct WireSchedule {
    /// The order. Default: simultaneous.
    order: Option<WireOrder>,
    /// Children in a wave; with order waves only, and required there.
    #[schemars(range(min = 1, max = 100_000))]
    wave_width: Option<u64>,
    /// Seconds between two children; with order stagger only, and required there.
    #[schemars(range(min = 0.001, max = 86_400))]
    stagger_s: Option<f64>,
    /// Seconds from the start of a request to its first token. Default: 2.
    #[schemars(range(min = 0, max = 86_400))]
    first_token_latency_s: Option<f64>,
    /// Seconds that one request runs. Default: 20.
    #[schemars(range(min = 0, max = 86_400))]
    request_s: Option<f64>,
}

/// Overrides of the cache rules; docs/model.md says what each means.
#[derive(JsonSchema)]
#[schemars(rename = "Rules", deny_unknown_fields)]
struct WireRules {
    /// What one position of the lookback is: per_block or collapse_tool_runs.
    count: Option<String>,
    /// Positions that a marker looks back over, its own included.
    #[schemars(range(min = 1, max = 1_000))]
    lookback: Option<u64>,
    /// Shortest prefix that is cached.
    #[schemars(range(max = 1_000_000))]
    min_tokens: Option<u64>,
    /// Whether a read refreshes the entries at earlier markers too.
    refresh_earlier: Option<bool>,
    /// Whether entries of different lifetimes are different entries.
    ttl_in_key: Option<bool>,
    /// Whether an entry inside a collapsed run is found.
    match_inside_runs: Option<bool>,
    /// Whether a marker before the end of what is read leaves an entry.
    write_below_hit: Option<bool>,
    /// Whether a 1h marker on an entry that is read gives it one hour.
    longer_ttl_extends: Option<bool>,
    /// Whether reasoning blocks are positions.
    thinking_positions: Option<bool>,
    /// How tools count in the lookback: each or one.
    tool_positions: Option<String>,
    /// Whether a leading billing line of the system prompt is part of the prompt.
    hash_billing_line: Option<bool>,
}

/// What to compare with, besides no cache, a perfect cache and the chapter's model.
#[derive(JsonSchema)]
#[schemars(rename = "Baselines", deny_unknown_fields)]
struct WireBaselines {
    /// Fresh agents: a prompt of their own instead of the parent's history.
    fresh: Option<WireFresh>,
}

/// Fresh agents to compare with.
#[derive(JsonSchema)]
#[schemars(rename = "Fresh", deny_unknown_fields)]
struct WireFresh {
    /// Tokens of each agent's prompt. Default: as many as its directive has.
    #[schemars(range(min = 1, max = 20_000_000))]
    prompt_tokens: Option<u64>,
    /// Whether all have the parent's tools and system; otherwise each has its own of the same
    /// size. Default: true.
    same_type: Option<bool>,
}

/// Whether the parent's entry is there.
#[derive(JsonSchema)]
#[schemars(rename = "State", rename_all = "snake_case")]
enum WireState {
    /// Written and alive.
    Warm,
    /// Never written.
    Cold,
    /// Written, its lifetime over.
    Expired,
}

/// Lifetime of a marker.
#[derive(JsonSchema)]
#[schemars(rename = "Ttl")]
enum WireTtl {
    /// Five minutes.
    #[schemars(rename = "5m")]
    FiveMinutes,
    /// One hour.
    #[schemars(rename = "1h")]
    OneHour,
}

/// The rules text before the directive.
#[derive(JsonSchema)]
#[schemars(rename = "Boilerplate", rename_all = "snake_case")]
enum WireBoilerplate {
    /// In the directive's block, before it.
    Standard,
    /// In a block of its own before the directive's, which all children share.
    OwnBlock,
    /// None.
    None,
}

/// What of the parent a child inherits.
#[derive(JsonSchema)]
#[schemars(rename = "Clone", rename_all = "snake_case")]
enum WireClone {
    /// Everything, with the dispatch and a placeholder for every call.
    Full,
    /// What stands before the dispatch.
    Excise,
}

/// How the content of a tool result is written.
#[derive(JsonSchema)]
#[schemars(rename = "ResultContent", rename_all = "snake_case")]
enum WireResultContent {
    /// A list of one text block.
    Array,
    /// A bare string.
    String,
}

/// Where cache markers go.
#[derive(JsonSchema)]
#[schemars(rename = "MarkerPolicy", rename_all = "snake_case")]
enum WirePolicy {
    /// Identity line, main prompt, and the last block of the last user message.
    CcTail,
    /// Identity line, main prompt, and the last block that all children share.
    BeforeDirective,
    /// As before_directive, and the tail.
    BeforeDirectiveAndTail,
    /// Identity line, main prompt, and the last block of the second-to-last message.
    SecondToLastMessage,
    /// Identity line, main prompt, the last block of the parent, and the tail.
    ParentEndAndTail,
    /// The last tool, identity line, main prompt, and the tail.
    ToolsAndTail,
    /// One marker at the top level of the body.
    Automatic,
    /// No marker.
    None,
}

/// In which order children are sent.
#[derive(JsonSchema)]
#[schemars(rename = "Order", rename_all = "snake_case")]
enum WireOrder {
    /// All at once.
    Simultaneous,
    /// Each when the one before has ended.
    Sequential,
    /// The first alone; all others when its first token is there.
    AfterFirstToken,
    /// wave_width at once; the next wave when the one before has ended.
    Waves,
    /// One every stagger_s seconds.
    Stagger,
    /// A pre-warming request first; all children when its response begins.
    Prewarm,
}

/// Expected results; any path into `summary.json`.
struct WireExpect;

impl JsonSchema for WireExpect {
    fn schema_name() -> Cow<'static, str> {
        "Expect".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let nested = generator.subschema_for::<WireExpect>();
        json_schema!({
            "description": "Dotted paths of summary.json, quoted or nested, with the value \
                expected there. Decimals are text and compared at their own precision.",
            "type": "object",
            "additionalProperties": {
                "anyOf": [
                    { "type": "string" },
                    { "type": "integer" },
                    { "type": "boolean" },
                    nested,
                ]
            }
        })
    }
}
