//! The conversation before the dispatch: a task, then turns of calls and their results.

use super::code::{self, Language};
use super::draw::Draw;
use super::fit::{Carry, Fit, Frame, Opening};
use super::prose::{self, Topic};
use super::texts::{TextKind, fill_kind};
use super::words::expand;
use super::{ContentError, Wording, exactly};
use crate::request::{Block, Message, RawJson, ResultContent, Role};
use crate::units::Tokens;

/// Average tokens of a turn under which it is a single call with the shortest arguments.
const TIGHT_TURN_TOKENS: u64 = 60;

/// Average tokens of a turn from which it may have several calls.
const WIDE_TURN_TOKENS: u64 = 300;

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Run,
    Read,
    Search,
    List,
    Edit,
    Write,
    Fetch,
}

impl Call {
    /// As often as they occur.
    const DECK: [Call; 10] = [
        Call::Run,
        Call::Run,
        Call::Read,
        Call::Read,
        Call::Read,
        Call::Search,
        Call::List,
        Call::Edit,
        Call::Write,
        Call::Fetch,
    ];

    fn tool(self) -> &'static str {
        match self {
            Call::Run => "Bash",
            Call::Read => "Read",
            Call::Search => "Grep",
            Call::List => "Glob",
            Call::Edit => "Edit",
            Call::Write => "Write",
            Call::Fetch => "WebFetch",
        }
    }

    /// Lightest and heaviest weight of its arguments and of its result.
    fn weights(self) -> [(usize, usize); 2] {
        match self {
            Call::Run => [(22, 40), (80, 600)],
            Call::Read => [(22, 34), (200, 1_100)],
            Call::Search => [(24, 36), (80, 500)],
            Call::List => [(20, 32), (50, 260)],
            Call::Edit => [(90, 260), (14, 40)],
            Call::Write => [(150, 500), (14, 30)],
            Call::Fetch => [(30, 50), (120, 600)],
        }
    }

    fn result(self, draw: &mut Draw) -> TextKind {
        let kinds: &[TextKind] = match self {
            Call::Run => &[TextKind::Log, TextKind::Log, TextKind::Diff, TextKind::Listing],
            Call::Read => &[TextKind::Rust, TextKind::TypeScript, TextKind::Python],
            Call::Search => &[TextKind::Matches],
            Call::List => &[TextKind::Listing],
            Call::Edit | Call::Write => &[TextKind::Notes],
            Call::Fetch => &[TextKind::Json, TextKind::Notes],
        };
        *draw.pick(kinds)
    }

    /// The arguments up to where units of text go, and what follows them.
    fn arguments(self, draw: &mut Draw) -> (String, &'static str) {
        let (template, joint) = match self {
            Call::Run => ("{\"command\":\"make ~noun~ && ./run ~verb~ --limit ~number~\",", ""),
            Call::Read => ("{\"file_path\":\"~file~\",\"offset\":~number~,", ""),
            Call::Search => ("{\"pattern\":\"~function~\",\"path\":\"~directory~\",", ""),
            Call::List => ("{\"pattern\":\"~directory~/**/*~noun~*\",", ""),
            Call::Edit => (
                "{\"file_path\":\"~file~\",\"old_string\":\"~function~(~noun~)\",\"new_string\":\"",
                "\",\"description\":\"",
            ),
            Call::Write => ("{\"file_path\":\"~file~\",\"content\":\"", "\",\"description\":\""),
            Call::Fetch => ("{\"url\":\"https://docs.example.com/~noun~/~stem~\",", ""),
        };
        let head = expand(draw, template);
        if joint.is_empty() { (head + "\"description\":\"", joint) } else { (head, joint) }
    }
}

/// A block that is to be made.
#[derive(Clone, Copy)]
enum Plan {
    /// The user's words.
    Ask,
    /// The model's words.
    Say,
    /// A call.
    Use(Call),
    /// The result of a call.
    Answer(Call),
}

/// One user message and `turns` pairs of an assistant and a user message, whose blocks' counts sum
/// to `tokens`; each call has its result in the message behind it.
///
/// # Errors
/// [`ContentError::TooSmall`] where the shortest calls and results take more.
pub fn history(
    seed: u64,
    tokens: u64,
    turns: u64,
    wording: &Wording<'_>,
) -> Result<Vec<Message>, ContentError> {
    let tokenizer = wording.tokenizer;
    let fit = Fit { tokenizer, what: "parent.history" };
    let plan = plan(seed, tokenizer.unscaled(Tokens(tokens)) / (turns + 1), turns);
    let tight = tight_call().smallest(tokenizer);
    let tight =
        fit.fill(&tight_call(), tight, &mut Draw::new(seed, "tight", 0), |_| String::new())?;
    let tight = wording.block(&split_call(&tight, String::new())?);
    let blocks = || plan.iter().flat_map(|message| message.iter());
    let minima: Vec<u64> = blocks()
        .map(|(block, _)| match block {
            Plan::Ask | Plan::Say | Plan::Answer(_) => 1,
            Plan::Use(_) => tight,
        })
        .collect();
    let weights: Vec<u64> = blocks().map(|(_, weight)| *weight).collect();
    let sizes = fit.share(tokens, &minima, &weights)?;
    let mut carry = Carry::new(tokenizer);
    let mut sizes = sizes.into_iter().zip(minima);
    let mut messages = Vec::with_capacity(plan.len());
    let mut ids: Vec<String> = Vec::new();
    for (index, message) in plan.iter().enumerate() {
        let mut draw = Draw::new(seed, "history.message", index as u64);
        let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
        let mut answered = std::mem::take(&mut ids).into_iter();
        let mut blocks = Vec::with_capacity(message.len());
        for ((block, _), (size, minimum)) in message.iter().zip(sizes.by_ref()) {
            let unscaled = carry.unscaled(size, minimum);
            let id = answered.next().unwrap_or_else(|| format!("toolu_{}", draw.base62(24)));
            if let Plan::Use(_) = block {
                ids.push(id.clone());
            }
            blocks.push(make(&fit, wording, *block, id, unscaled, &mut draw)?);
        }
        messages.push(Message { role, blocks });
    }
    Ok(messages)
}

/// The blocks of each message with their weights; `average` is tokens of a turn, unscaled.
fn plan(seed: u64, average: u64, turns: u64) -> Vec<Vec<(Plan, u64)>> {
    let mut messages = vec![vec![(Plan::Ask, 150)]];
    for turn in 0..turns {
        let mut draw = Draw::new(seed, "history.plan", turn);
        let mut said = Vec::new();
        let calls = if average >= WIDE_TURN_TOKENS { draw.between(1, 3) } else { 1 };
        if average >= TIGHT_TURN_TOKENS && draw.chance(60) {
            said.push((Plan::Say, draw.between(25, 90) as u64));
        }
        let mut answers = Vec::new();
        for _ in 0..calls {
            let call = *draw.pick(&Call::DECK);
            let [arguments, result] = call.weights();
            said.push((Plan::Use(call), draw.between(arguments.0, arguments.1) as u64));
            answers.push((Plan::Answer(call), draw.between(result.0, result.1) as u64));
        }
        messages.push(said);
        messages.push(answers);
    }
    messages
}

fn make(
    fit: &Fit<'_>,
    wording: &Wording<'_>,
    block: Plan,
    id: String,
    unscaled: u64,
    draw: &mut Draw,
) -> Result<Block, ContentError> {
    Ok(match block {
        Plan::Ask => Block::Text(fill_kind(fit, TextKind::Task, unscaled, draw)?),
        Plan::Say => Block::Text(fill_kind(fit, TextKind::Notes, unscaled, draw)?),
        Plan::Use(call) => {
            let start = draw.clone();
            let mut sized = |frame_of: FrameOf| {
                *draw = start.clone();
                let make =
                    |size, draw: &mut Draw| tool_use(fit, call, id.clone(), size, frame_of, draw);
                exactly(fit, unscaled, draw, make, |call| wording.block(call))
            };
            sized(FrameOf::TheCall).or_else(|_| sized(FrameOf::Any))?
        }
        Plan::Answer(call) => {
            let kind = call.result(draw);
            let text = fill_kind(fit, kind, unscaled, draw)?;
            let content = ResultContent::Blocks(vec![Block::Text(text)]);
            Block::ToolResult { tool_use_id: id, content, is_error: false }
        }
    })
}

/// The shortest call there is; it stands in for every call that has no room for its own arguments.
fn tight_call() -> Frame {
    Frame {
        head: "Bash\n{\"command\":\"make".to_owned(),
        tail: "\"}".to_owned(),
        opening: Opening::Never,
        ..Frame::bare()
    }
}

/// Which arguments a call has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameOf {
    /// Its own.
    TheCall,
    /// The shortest there are.
    Any,
}

fn tool_use(
    fit: &Fit<'_>,
    call: Call,
    id: String,
    unscaled: u64,
    frame_of: FrameOf,
    draw: &mut Draw,
) -> Result<Block, ContentError> {
    let (arguments, joint) = call.arguments(draw);
    let full = Frame {
        head: format!("{}\n{arguments}", call.tool()),
        joint: joint.to_owned(),
        tail: "\"}".to_owned(),
        opening: if joint.is_empty() { Opening::IfBare } else { Opening::Always },
        comment: "",
    };
    let counted = if frame_of == FrameOf::Any {
        fit.fill(&tight_call(), unscaled, draw, |_| String::new())?
    } else if joint.is_empty() {
        fit.fill(&full, unscaled, draw, prose::running(Topic::Notes))?
    } else {
        let language = *draw.pick(&[Language::Rust, Language::TypeScript, Language::Python]);
        fit.fill(&full, unscaled, draw, code::escaped(language))?
    };
    split_call(&counted, id)
}

/// The block of a call whose counted text is `counted`: the name, a line break, the arguments.
pub(super) fn split_call(counted: &str, id: String) -> Result<Block, ContentError> {
    let (name, input) = counted.split_once('\n').unwrap_or((counted, "{}"));
    let input =
        RawJson::new(input).map_err(|source| ContentError::BadJson { what: "call", source })?;
    Ok(Block::ToolUse { id, name: name.to_owned(), input })
}
