//! The text of a scenario, made once and used by every variant.

use std::sync::Arc;

use super::AgentError;
use super::content::{self, Wording};
use super::permission;
use crate::fork::boilerplate::Boilerplate;
use crate::fork::definition::AGENT_TOOLS;
use crate::fork::limits::Exceeded;
use crate::fork::{Dispatch, ForkPlan};
use crate::provider::import;
use crate::request::marker::MarkerTtls;
use crate::request::{Base, CapturedBody, Conversation, Message, RawJson, Role};
use crate::scenario::{
    BoilerplateSpec, DirectiveSpec, HistorySpec, ParentPrompt, PlaceholderSpec, Scenario,
    SystemSpec, ToolsSpec,
};
use crate::tokens::Tokenizer;

/// Most tokens that a synthetic request may be answered with.
const MAX_TOKENS: u64 = 8_192;

/// The text of a scenario.
#[derive(Clone, Debug)]
pub struct Material {
    /// What all children share.
    pub plan: ForkPlan,
    /// What each child is told, in the order in which children are sent.
    pub directives: Vec<String>,
    /// The limits of the session that the children exceed.
    pub exceeded: Vec<Exceeded>,
}

/// Makes the text of a scenario from its seed and its files.
///
/// # Errors
/// Where a text cannot have the size asked for, or the recorded request cannot be read.
pub fn prepare(scenario: &Scenario, tokenizer: &Tokenizer) -> Result<Material, AgentError> {
    within_limit(scenario)?;
    let directives = directives(scenario, tokenizer)?;
    let exceeded = permission::exceeded(scenario)?;
    let (base, dispatch) = match &scenario.parent.prompt {
        ParentPrompt::Parts { tools, system, history } => {
            parts(scenario, tools, system, history, &directives, tokenizer)?
        }
        ParentPrompt::Request(captured) => recorded(scenario, captured, &directives, tokenizer)?,
    };
    let placeholder = match &scenario.fork.placeholder {
        PlaceholderSpec::Text(text) => text.clone(),
        PlaceholderSpec::Sized(tokens) => content::placeholder(scenario.seed, *tokens, tokenizer)?,
    };
    let permit = match &base {
        Base::Built(conversation) => permission::permit(scenario, &conversation.messages)?,
        Base::Captured(captured) => {
            let text = String::from_utf8_lossy(captured.bytes());
            permission::permit(scenario, &import::messages(&text)?)?
        }
    };
    let plan = ForkPlan {
        permit,
        base,
        dispatch,
        clone: scenario.fork.clone,
        placeholder,
        results: scenario.fork.results,
        boilerplate: match scenario.fork.boilerplate {
            BoilerplateSpec::Standard => Boilerplate::SameBlock(scenario.gate.session.era),
            BoilerplateSpec::OwnBlock => Boilerplate::OwnBlock,
            BoilerplateSpec::None => Boilerplate::None,
        },
        policy: scenario.fork.policy.clone(),
        ttls: MarkerTtls { parent: scenario.parent.cache.ttl, fork: scenario.fork.ttl },
    };
    Ok(Material { plan, directives, exceeded })
}

/// A directive that alone is larger than any request may be is refused before it is counted.
fn within_limit(scenario: &Scenario) -> Result<(), AgentError> {
    let DirectiveSpec::Texts(texts) = &scenario.fork.directive else { return Ok(()) };
    let limit = scenario.provider.facts().body_bytes_max;
    let bytes = texts.iter().map(|text| text.len() as u64).max().unwrap_or(0);
    if bytes <= limit {
        return Ok(());
    }
    let request = "a child (fork.directive)".to_owned();
    Err(AgentError::BodyTooLarge { request, bytes, limit })
}

fn directives(scenario: &Scenario, tokenizer: &Tokenizer) -> Result<Vec<String>, AgentError> {
    let children = scenario.fork.children;
    match &scenario.fork.directive {
        DirectiveSpec::Sized(tokens) => (0..children)
            .map(|index| Ok(content::directive(scenario.seed, index, *tokens, tokenizer)?))
            .collect(),
        DirectiveSpec::Texts(texts) => {
            let text = |index: u64| texts[index as usize % texts.len()].clone();
            Ok((0..children).take_while(|_| !texts.is_empty()).map(text).collect())
        }
    }
}

fn parts(
    scenario: &Scenario,
    tools: &ToolsSpec,
    system: &SystemSpec,
    history: &HistorySpec,
    directives: &[String],
    tokenizer: &Tokenizer,
) -> Result<(Base, Dispatch), AgentError> {
    let seed = scenario.seed;
    let wording = Wording { tokenizer, provider: scenario.provider };
    let tools = match tools {
        ToolsSpec::Sized { count, tokens } => content::tools(seed, *count, *tokens, &wording)?,
        ToolsSpec::Given(tools) => tools.clone(),
    };
    let system = match system {
        SystemSpec::Sized { tokens } => content::system(seed, *tokens, tokenizer)?,
        SystemSpec::Given(blocks) => blocks.clone(),
    };
    let mut messages = match history {
        HistorySpec::Sized { tokens, turns } => content::history(seed, *tokens, *turns, &wording)?,
        HistorySpec::Given(messages) => messages.clone(),
    };
    let ends = messages.last().filter(|message| message.role == Role::Assistant);
    let dispatch = match ends.map(|message| message.tool_use_ids().count()) {
        // An answer without calls stays history: there is nothing to clone.
        Some(0) => Dispatch::None,
        Some(_) => messages.pop().map_or(Dispatch::None, Dispatch::Appended),
        None => {
            let names = tools.iter().map(|tool| tool.name.as_str());
            Dispatch::Appended(dispatch(scenario, names, directives, tokenizer)?)
        }
    };
    let conversation = Conversation {
        model: scenario.model_name.clone(),
        max_tokens: MAX_TOKENS,
        tools,
        system,
        messages,
        parameters: parameters(scenario),
    };
    Ok((Base::Built(Arc::new(conversation)), dispatch))
}

/// `stream` as harnesses send it, and reasoning where the dispatch holds some.
fn parameters(scenario: &Scenario) -> Vec<(String, RawJson)> {
    let reasons = scenario.parent.dispatch.thinking_blocks > 0;
    let thinking = reasons.then_some(("thinking", "{\"type\":\"adaptive\"}"));
    let all = thinking.into_iter().chain([("stream", "true")]);
    all.filter_map(|(key, value)| Some((key.to_owned(), RawJson::new(value).ok()?))).collect()
}

fn dispatch<'a>(
    scenario: &Scenario,
    tool_names: impl Iterator<Item = &'a str>,
    directives: &[String],
    tokenizer: &Tokenizer,
) -> Result<Message, AgentError> {
    let names: Vec<&str> = tool_names.collect();
    let tool = AGENT_TOOLS.into_iter().find(|name| names.contains(name)).unwrap_or(AGENT_TOOLS[0]);
    let spec = scenario.parent.dispatch;
    Ok(content::dispatch(
        scenario.seed,
        directives,
        spec.size,
        spec.thinking_blocks,
        spec.text_blocks,
        tool,
        &Wording { tokenizer, provider: scenario.provider },
    )?)
}

fn recorded(
    scenario: &Scenario,
    captured: &Arc<CapturedBody>,
    directives: &[String],
    tokenizer: &Tokenizer,
) -> Result<(Base, Dispatch), AgentError> {
    let text = String::from_utf8_lossy(captured.bytes());
    let messages = import::messages(&text)?;
    let base = Base::Captured(Arc::clone(captured));
    if let Some(last) = messages.last().filter(|message| message.role == Role::Assistant) {
        let calls: Vec<String> = last.tool_use_ids().map(str::to_owned).collect();
        let dispatch = if calls.is_empty() { Dispatch::None } else { Dispatch::Inherited(calls) };
        return Ok((base, dispatch));
    }
    let (bytes, tree) = (captured.bytes(), captured.tree());
    let tools = tree.get("tools").map_or(&[][..], |tools| tools.items());
    let names: Vec<String> =
        tools.iter().filter_map(|tool| tool.get("name")?.text(bytes)).collect();
    let message = dispatch(scenario, names.iter().map(String::as_str), directives, tokenizer)?;
    Ok((base, Dispatch::Appended(message)))
}
