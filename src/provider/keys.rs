//! What a difference outside the blocks of a prompt loses: the words, without any provider's table.

/// Which parts of a prompt can still match what was written before. Later parts never survive
/// where an earlier one does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Survival {
    /// Entries that end in the tools.
    pub tools: bool,
    /// Entries that end in the system prompt.
    pub system: bool,
    /// Entries that end in the messages.
    pub messages: bool,
}

impl Survival {
    /// All of it.
    pub const ALL: Survival = Survival { tools: true, system: true, messages: true };
    /// Tools and system prompt.
    pub const TO_SYSTEM: Survival = Survival { tools: true, system: true, messages: false };
    /// Tools only.
    pub const TO_TOOLS: Survival = Survival { tools: true, system: false, messages: false };
    /// Nothing.
    pub const NOTHING: Survival = Survival { tools: false, system: false, messages: false };
}

/// How well a rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The provider's pages say so.
    Documented,
    /// No page says so, or it differs by model; the worse case is taken.
    Assumed,
}

/// What a difference in one parameter or feature loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRule {
    /// What survives.
    pub survives: Survival,
    /// The name that the provider's own diagnosis has for it; `None` where it has none.
    pub api_reason: Option<&'static str>,
    /// How well this is known.
    pub certainty: Certainty,
    /// Why, in words.
    pub note: &'static str,
}

/// Something that keys the cache by being used anywhere in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name, e.g. `images`; [`Provider::key_rule`](super::Provider::key_rule) knows it.
    pub name: &'static str,
    /// JSON pointer of the first place of use.
    pub pointer: String,
}
