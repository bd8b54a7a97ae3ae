//! The shape of `[gate]`, `[limits]` and `fork.era`.

use schemars::JsonSchema;

/// Whether the session may fork.
#[derive(JsonSchema)]
#[schemars(rename = "Gate", deny_unknown_fields)]
pub(super) struct WireGate {
    /// Whether forking is switched on. Default: true.
    feature: Option<bool>,
    /// Whether the session only hands work out. Default: false.
    coordinator: Option<bool>,
    /// Whether somebody sits before the session. Default: true.
    interactive: Option<bool>,
    /// Whether a permission rule denies Agent(fork). Default: false.
    denied: Option<bool>,
    /// Query source of the parent's requests. Default: repl_main_thread.
    query_source: Option<String>,
    /// How the parent's messages are searched for the tag of a fork. Default: structural, in the
    /// era of the chapter substring.
    scan: Option<WireScan>,
}

/// How messages are searched for the tag of a fork.
#[derive(JsonSchema)]
#[schemars(rename = "Scan", rename_all = "snake_case")]
enum WireScan {
    /// A text of the user that starts with it.
    Structural,
    /// Anywhere in a text of the user.
    Substring,
}

/// How many agents a session may start.
#[derive(JsonSchema)]
#[schemars(rename = "Limits", deny_unknown_fields)]
pub(super) struct WireLimits {
    /// Most agents at once. Default: 20.
    #[schemars(range(min = 1, max = 100_000))]
    at_once: Option<u64>,
    /// Most agents in all. Default: 200.
    #[schemars(range(min = 1, max = 100_000))]
    in_all: Option<u64>,
    /// Most levels of agents below the main one. Default: no limit.
    #[schemars(range(max = 1_000))]
    depth: Option<u64>,
    /// Whether what exceeds a limit is refused instead of mentioned. Default: false.
    enforce: Option<bool>,
}

/// Whose rules of forking hold.
#[derive(JsonSchema)]
#[schemars(rename = "Era", rename_all = "snake_case")]
pub(super) enum WireEra {
    /// Those of today.
    Today,
    /// Those that the chapter describes.
    Chapter,
}
