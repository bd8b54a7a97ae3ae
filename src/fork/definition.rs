//! The agent that a fork is, and what an agent's requests start with.
//!
//! A fork starts with its parent's request as it was rendered: system prompt and tools byte for
//! byte, history, parameters. What a harness adds on the way (instructions before the first
//! message, the state of the repository behind the system prompt) stands in them already and is
//! not made again. Any other agent gets a prompt of its own and a selection of the tools, and
//! shares nothing.

use std::sync::Arc;

use super::history::without_incomplete_calls;
use crate::request::{Base, Conversation, Message, Tool};

/// The tools that start agents, by the names that harnesses give them; the first where a parent has
/// none of them.
pub const AGENT_TOOLS: [&str; 2] = ["Agent", "Task"];

/// Which of the parent's tools an agent has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSelection {
    /// All of them (`*`).
    All,
    /// Those with these names.
    Named(&'static [&'static str]),
}

/// Which model an agent runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelSelection {
    /// The parent's; one that a call asks for is ignored.
    Inherit,
    /// What the call asks for, else the parent's.
    CallOrParent,
}

/// Where a question for permission is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionMode {
    /// In the parent's terminal.
    Bubble,
    /// Nowhere: what is not allowed is refused.
    Refuse,
}

/// How an agent is set up.
#[derive(Clone, Copy, Debug)]
pub struct AgentDefinition {
    /// Its type.
    pub agent_type: &'static str,
    /// Its tools.
    pub tools: ToolSelection,
    /// Its model.
    pub model: ModelSelection,
    /// Most turns until it is stopped.
    pub max_turns: u64,
    /// Where its questions for permission go.
    pub permission_mode: PermissionMode,
    /// Whether the model may choose it from the list of agents.
    pub listed: bool,
    /// Whether it starts with the parent's request.
    pub inherits: bool,
    /// Makes its system prompt. An agent that inherits never calls it.
    pub prompt: fn() -> Vec<String>,
}

/// The fork.
pub const FORK: AgentDefinition = AgentDefinition {
    agent_type: super::gate::FORK_TYPE,
    tools: ToolSelection::All,
    model: ModelSelection::Inherit,
    max_turns: 200,
    permission_mode: PermissionMode::Bubble,
    listed: false,
    inherits: true,
    prompt: Vec::new,
};

impl AgentDefinition {
    /// What the agent's requests start with. `model` is the one that the call asks for.
    ///
    /// A parent whose calls are all answered is handed on by reference. To an agent that inherits
    /// nothing its task is still to be said.
    pub fn base(&self, parent: &Arc<Conversation>, model: Option<&str>) -> Base {
        if self.inherits {
            return inherited(parent);
        }
        let mut own = Conversation {
            system: (self.prompt)(),
            tools: self.resolved(&parent.tools),
            messages: Vec::new(),
            model: parent.model.clone(),
            max_tokens: parent.max_tokens,
            parameters: parent.parameters.clone(),
        };
        // Reasoning is a fork's: another agent goes without.
        own.parameters.retain(|(key, _)| key != "thinking");
        if let (ModelSelection::CallOrParent, Some(model)) = (self.model, model) {
            model.clone_into(&mut own.model);
        }
        Base::Built(Arc::new(own))
    }

    /// The tools of an agent that does not inherit: those it names, without the ones that start
    /// agents, by name. A fork takes the parent's as they are, since each of these steps changes
    /// the first bytes of the prompt.
    pub fn resolved(&self, parent: &[Tool]) -> Vec<Tool> {
        let named = |tool: &&Tool| match self.tools {
            ToolSelection::All => true,
            ToolSelection::Named(names) => names.contains(&tool.name.as_str()),
        };
        let allowed = |tool: &&Tool| !AGENT_TOOLS.contains(&tool.name.as_str());
        let mut tools: Vec<Tool> = parent.iter().filter(named).filter(allowed).cloned().collect();
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        tools
    }
}

fn inherited(parent: &Arc<Conversation>) -> Base {
    let kept: Option<Vec<Message>> = match without_incomplete_calls(&parent.messages) {
        std::borrow::Cow::Borrowed(_) => None,
        std::borrow::Cow::Owned(messages) => Some(messages),
    };
    Base::Built(match kept {
        None => Arc::clone(parent),
        Some(messages) => Arc::new(Conversation { messages, ..Conversation::clone(parent) }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Block, RawJson, Role};

    fn tool(name: &str) -> Tool {
        Tool { name: name.to_owned(), description: None, input_schema: None, more: Vec::new() }
    }

    fn parent(open_call: bool) -> Arc<Conversation> {
        let said = |role, block| Message { role, blocks: vec![block] };
        let call = Block::ToolUse {
            id: "toolu_1".to_owned(),
            name: "Agent".to_owned(),
            input: RawJson::new("{}").unwrap(),
        };
        let mut messages = vec![said(Role::User, Block::Text("Look.".to_owned()))];
        messages.extend(open_call.then(|| said(Role::Assistant, call)));
        Arc::new(Conversation {
            model: "claude-opus-4-8".to_owned(),
            max_tokens: 8_192,
            tools: ["Read", "Agent", "Bash"].map(tool).to_vec(),
            system: vec!["As rendered.".to_owned()],
            messages,
            parameters: vec![("thinking".to_owned(), RawJson::new("{}").unwrap())],
        })
    }

    fn built(base: Base) -> Arc<Conversation> {
        let Base::Built(conversation) = base else { panic!("a built base") };
        conversation
    }

    #[test]
    fn a_fork_is_not_listed_and_asks_its_parent() {
        assert_eq!((FORK.agent_type, FORK.max_turns), ("fork", 200));
        assert_eq!((FORK.tools, FORK.model), (ToolSelection::All, ModelSelection::Inherit));
        assert_eq!((FORK.permission_mode, FORK.listed), (PermissionMode::Bubble, false));
    }

    #[test]
    fn a_forks_prompt_is_never_made() {
        let fork = AgentDefinition { prompt: || unreachable!("a fork has its parent's"), ..FORK };
        for open_call in [false, true] {
            let parent = parent(open_call);
            let base = built(fork.base(&parent, Some("claude-haiku-4-5")));
            assert_eq!((&base.system, &base.tools), (&parent.system, &parent.tools));
            assert_eq!((&base.model, &base.parameters), (&parent.model, &parent.parameters));
        }
    }

    #[test]
    fn a_complete_parent_is_handed_on_by_reference_and_an_open_call_goes() {
        let complete = parent(false);
        assert!(Arc::ptr_eq(&built(FORK.base(&complete, None)), &complete));
        let open = parent(true);
        assert_eq!(built(FORK.base(&open, None)).messages, open.messages[..1]);
    }

    #[test]
    fn another_agent_has_its_own_prompt_a_selection_of_tools_and_no_history() {
        let agent = AgentDefinition {
            agent_type: "general-purpose",
            model: ModelSelection::CallOrParent,
            inherits: false,
            prompt: || vec!["You are an agent.".to_owned()],
            ..FORK
        };
        let parent = parent(true);
        let own = built(agent.base(&parent, Some("claude-haiku-4-5")));
        assert_eq!(own.system, ["You are an agent."]);
        let names: Vec<&str> = own.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["Bash", "Read"], "filtered, denied, reordered");
        assert_eq!((own.model.as_str(), own.messages.len()), ("claude-haiku-4-5", 0));
        assert!(own.parameters.is_empty(), "{:?}", own.parameters);
        let reader = AgentDefinition { tools: ToolSelection::Named(&["Read", "Agent"]), ..agent };
        assert_eq!(reader.resolved(&parent.tools), [tool("Read")]);
    }
}
