//! What a Claude model bills around the text of a request.
//!
//! The older families read a request as one long text with tags and roles in it ([`joined`]); the
//! newer ones put special tokens between its parts ([`apart`]). Both spell tools and calls out
//! alike. `docs/claude-requests.md` has the rules and the recorded requests that they were learnt
//! from; what those do not show is an interval.

mod apart;
mod constants;
mod joined;
mod media;

use std::sync::{Arc, LazyLock};

use jiff::civil::Date;

use super::parts::{Choice, Part, Parts, ToolKind, ToolPart, arguments, kind_of_part, spell_tool};
use super::render::assumed_image;
use crate::provider::facts::anthropic_facts;
use crate::provider::{ThinkingInHistory, find_model};
use crate::request::json::parse;
use crate::request::{BlockKind, Extra, ExtraKind, Frame, Mark, Role, Section, Standing};
use crate::tokens::ClaudeFamily;
use constants::{Model, constants};

/// Begins the name of a tag around calls.
const CALL_TAG: &str = "antml:";

/// A request as it is billed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Framed {
    /// Its blocks, in order.
    pub(super) blocks: Vec<FramedBlock>,
    /// What is billed behind them.
    pub(super) tail: Frame,
    /// What no rule is known for, by its name in the request.
    pub(super) unmodelled: Vec<String>,
}

/// One block as it is billed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FramedBlock {
    /// JSON pointer.
    pub(super) pointer: String,
    /// Its part of the prompt.
    pub(super) section: Section,
    /// Its kind.
    pub(super) kind: BlockKind,
    /// Who speaks; `None` outside messages.
    pub(super) role: Option<Role>,
    /// True on the first block of a message.
    pub(super) starts_message: bool,
    /// Its text.
    pub(super) text: String,
    /// What is around it.
    pub(super) frame: Frame,
    /// Whether the model does not get it: reasoning of earlier turns.
    pub(super) is_dropped: bool,
}

impl FramedBlock {
    /// A block outside messages.
    fn new(
        pointer: &str,
        section: Section,
        kind: BlockKind,
        text: String,
        frame: Frame,
    ) -> FramedBlock {
        FramedBlock {
            pointer: pointer.to_owned(),
            section,
            kind,
            role: None,
            starts_message: false,
            text,
            frame,
            is_dropped: false,
        }
    }
}

/// The request as a model of that family bills it, on that day or today. Without a family the texts
/// stand alone.
pub(super) fn frame(parts: &Parts, family: Option<ClaudeFamily>, date: Option<Date>) -> Framed {
    match family {
        None => plain(parts),
        Some(ClaudeFamily::V3) => joined::frame(parts, &Known::of(parts, date)),
        Some(family @ (ClaudeFamily::V47 | ClaudeFamily::V48)) => {
            apart::frame(parts, family, &Known::of(parts, date))
        }
    }
}

/// The family of a model that the price list does not have, by its name.
pub(super) fn family_of_retired(name: &str) -> Option<&'static str> {
    constants().model(name, None)?.family.as_deref()
}

/// What no rule is known for: its names, and an interval for it behind the last block.
fn unmodelled(parts: &Parts, tail: &mut Frame) -> Vec<String> {
    let mut names: Vec<String> = server_tools(&parts.tools).collect();
    for name in &parts.unmodelled {
        names.push(name.clone());
        tail.extras.push(constants().unmodelled.extra(ExtraKind::Unknown));
    }
    names
}

/// What of a frame depends on the text of the block: the space behind a role.
pub(super) fn reframe(frame: &Frame, text: &str) -> Frame {
    let role = frame.before.trim_end_matches(' ');
    if !role.ends_with(':') {
        return frame.clone();
    }
    Frame { before: Arc::from(behind_role(role, text)), ..frame.clone() }
}

/// The role and the space behind it, which a text that begins with one brings along.
fn behind_role(role: &str, text: &str) -> String {
    if text.starts_with(' ') { role.to_owned() } else { format!("{role} ") }
}

/// Texts alone, without anything around them.
fn plain(parts: &Parts) -> Framed {
    let mut framed = Framed { unmodelled: parts.unmodelled.clone(), ..Framed::default() };
    let alone = |pointer: &str, section, kind, text| {
        FramedBlock::new(pointer, section, kind, text, Frame::default())
    };
    for tool in &parts.tools {
        framed.blocks.push(alone(&tool.pointer, Section::Tools, BlockKind::Tool, tool.plain()));
    }
    for (pointer, text) in &parts.system {
        framed.blocks.push(alone(pointer, Section::System, BlockKind::System, text.clone()));
    }
    for message in &parts.messages {
        for (index, (pointer, part)) in message.blocks.iter().enumerate() {
            let mut block = alone(pointer, Section::Messages, kind_of_part(part), part.plain());
            block.role = Some(message.role);
            block.starts_message = index == 0;
            if let Part::Image(_) = part {
                block.frame.extras.push(assumed_image());
            }
            framed.blocks.push(block);
        }
    }
    framed
}

/// What is known of the request's model.
struct Known {
    model: &'static Model,
    /// Whether reasoning of earlier turns stays input.
    keeps_thinking: bool,
}

impl Known {
    fn of(parts: &Parts, date: Option<Date>) -> Known {
        static NOTHING: LazyLock<Model> = LazyLock::new(Model::default);
        let facts = find_model(anthropic_facts(), &parts.model);
        Known {
            model: constants().model(&parts.model, date).unwrap_or(&NOTHING),
            keeps_thinking: facts.is_ok_and(|model| model.thinking == ThinkingInHistory::Kept),
        }
    }

    /// The two parts of the hidden tool-use prompt: before the system prompt and behind it.
    fn tool_prompts(&self, parts: &Parts, family: ClaudeFamily) -> [Extra; 2] {
        let (auto, any) = (self.model.auto, self.model.any);
        let front = Extra::exact(ExtraKind::ToolPrompt, self.model.front, Mark::Inferred);
        let whole = match (&parts.choice, parts.one_call) {
            (Choice::Auto, false) => auto.extra(ExtraKind::ToolChoicePrompt),
            (Choice::Any, false) => any.extra(ExtraKind::ToolChoicePrompt),
            (Choice::Tool(name), false) => {
                let whole = any.extra(ExtraKind::ToolChoicePrompt);
                plus(whole, 2 + family.count_inside(name))
            }
            (Choice::Auto, true) => one_call(self.model.auto_one_call, auto.tokens, 0),
            (Choice::Any, true) => one_call(None, any.tokens, 0),
            (Choice::Tool(name), true) => {
                let name = family.count_inside(name);
                one_call(self.model.named_one_call, any.tokens + 2, name)
            }
        };
        let rest = Extra {
            tokens: whole.tokens.saturating_sub(front.tokens),
            low: whole.low.saturating_sub(front.tokens),
            high: whole.high.saturating_sub(front.tokens),
            ..whole
        };
        [Extra { mark: rest.mark, ..front }, rest]
    }
}

/// The hidden prompt where an answer has at most one call: measured, or somewhere between less and
/// what it is otherwise.
fn one_call(measured: Option<u64>, otherwise: u64, name: u64) -> Extra {
    let kind = ExtraKind::ToolChoicePrompt;
    match measured {
        Some(tokens) => Extra::exact(kind, tokens + name, Mark::Measured),
        None => {
            let (low, high) = (otherwise * 2 / 5 + name, otherwise + 10 + name);
            Extra::between(kind, low, otherwise + name, high, Mark::Inferred)
        }
    }
}

/// So many tokens more.
fn plus(extra: Extra, tokens: u64) -> Extra {
    Extra {
        tokens: extra.tokens + tokens,
        low: extra.low + tokens,
        high: extra.high + tokens,
        ..extra
    }
}

/// The blocks before the messages: tools, the first with the part of the hidden prompt that stands
/// in front of them, and the system prompt, each text in the frame that `around` gives it behind
/// the blocks so far.
fn before_messages(
    parts: &Parts,
    family: ClaudeFamily,
    front: Extra,
    around: impl Fn(&[FramedBlock]) -> Frame,
) -> Vec<FramedBlock> {
    let mut blocks = tools(parts, family);
    if let Some(tool) = blocks.first_mut() {
        tool.frame.extras.push(front);
    }
    for (pointer, text) in &parts.system {
        let (section, kind, frame) = (Section::System, BlockKind::System, around(&blocks));
        blocks.push(FramedBlock::new(pointer, section, kind, text.clone(), frame));
    }
    blocks
}

/// The blocks of the tools, spelt out line by line between a tag and its end.
fn tools(parts: &Parts, family: ClaudeFamily) -> Vec<FramedBlock> {
    let mut blocks = Vec::with_capacity(parts.tools.len());
    let last = parts.tools.len().saturating_sub(1);
    for (index, tool) in parts.tools.iter().enumerate() {
        let mut before = if index == 0 { "<functions>\n" } else { "" }.to_owned();
        let (mut after, mut text, mut extras) = (String::new(), String::new(), Vec::new());
        match &tool.kind {
            ToolKind::Client => {
                before.push_str("<function>");
                text.push_str(&tool.spelt);
                after.push_str("</function>\n");
            }
            ToolKind::Deferred => {}
            ToolKind::Server(kind) => extras.extend(server_tool(kind, family)),
        }
        if index == last {
            after.push_str("</functions>");
        }
        let (before, after) = (Arc::from(before), Arc::from(after));
        let frame = Frame { before, after, standing: Standing::Joined, extras, correction: 0 };
        let (section, kind) = (Section::Tools, BlockKind::Tool);
        blocks.push(FramedBlock::new(&tool.pointer, section, kind, text, frame));
    }
    blocks
}

fn server_tool(kind: &str, family: ClaudeFamily) -> Option<Extra> {
    let known = constants().server_tool(kind)?;
    let span = match family {
        ClaudeFamily::V3 => known.joined,
        ClaudeFamily::V47 | ClaudeFamily::V48 => known.apart,
    };
    Some(span.extra(ExtraKind::Unknown))
}

/// The names of tools that are the provider's, for the list of what is not modelled.
fn server_tools(tools: &[ToolPart]) -> impl Iterator<Item = String> {
    let is_known =
        |kind: &str| constants().server_tool(kind).is_some_and(|tool| !tool.name.is_empty());
    tools.iter().filter_map(move |tool| match &tool.kind {
        ToolKind::Server(kind) if is_known(kind) => None,
        ToolKind::Server(kind) => Some(format!("server tool {kind}")),
        ToolKind::Client | ToolKind::Deferred => None,
    })
}

/// One call as it is spelt out.
fn spell_call(name: &str, arguments: &[(String, String)]) -> String {
    let mut out = format!("<{CALL_TAG}invoke name=\"{name}\">\n");
    for (key, value) in arguments {
        out.push_str(&format!(
            "<{CALL_TAG}parameter name=\"{key}\">{value}</{CALL_TAG}parameter>\n"
        ));
    }
    out.push_str(&format!("</{CALL_TAG}invoke>\n"));
    out
}

/// A tool definition as it is spelt out, a line; a schema that is no JSON counts as none.
pub(super) fn counted_tool(name: &str, description: Option<&str>, schema: Option<&str>) -> String {
    let bytes = schema.unwrap_or_default().as_bytes();
    let schema = parse(bytes).ok();
    let spelt = spell_tool(bytes, name, description, schema.as_ref());
    format!("<function>{spelt}</function>\n")
}

/// A call as it is spelt out; an input that is no JSON counts as none.
pub(super) fn counted_call(name: &str, input: &str) -> String {
    let input_bytes = input.as_bytes();
    let arguments = parse(input_bytes).map(|node| arguments(input_bytes, &node));
    spell_call(name, &arguments.unwrap_or_default())
}

fn calls_begin() -> String {
    format!("<{CALL_TAG}function_calls>\n")
}

fn calls_end() -> String {
    format!("</{CALL_TAG}function_calls>")
}

/// Index of the last message in which the user says something, which begins the turn that thinking
/// belongs to.
fn last_said(parts: &Parts) -> Option<usize> {
    let says = |part: &Part| matches!(part, Part::Text(_));
    parts.messages.iter().rposition(|message| {
        message.role == Role::User && message.blocks.iter().any(|(_, part)| says(part))
    })
}

/// A block that no rule is known for, of that many tokens as JSON.
fn unknown_block(tokens: u64) -> Extra {
    Extra::between(ExtraKind::Unknown, 0, tokens, tokens * 2 + 100, Mark::Inferred)
}
