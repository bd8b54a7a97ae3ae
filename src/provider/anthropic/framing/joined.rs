//! Requests that are billed as one text: tools, system prompt and turns with their roles, and the
//! role of the answer at the end.

use std::collections::HashMap;
use std::sync::Arc;

use super::constants::{Joined, constants};
use super::{
    Framed, FramedBlock, Known, behind_role, calls_begin, calls_end, last_said, media, spell_call,
    unknown_block,
};
use crate::provider::anthropic::parts::{Choice, MessagePart, Part, Parts, kind_of_part};
use crate::request::{Extra, ExtraKind, Frame, Mark, Role, Section, Standing};
use crate::tokens::ClaudeFamily;

const FAMILY: ClaudeFamily = ClaudeFamily::V3;

/// Between a section and the next, and before a role.
const BREAK: &str = "\n\n";

pub(super) fn frame(parts: &Parts, known: &Known) -> Framed {
    let numbers = &constants().joined;
    let [front, rest] = known.tool_prompts(parts, FAMILY);
    let blocks = super::before_messages(parts, FAMILY, front, |before| {
        joined(if before.is_empty() { "" } else { BREAK }, "", Vec::new())
    });
    let mut writer = Writer { parts, known, numbers, blocks, names: HashMap::new() };
    // What stands between system prompt and messages belongs to the first block of those.
    let mut extras = vec![Extra::exact(ExtraKind::Frame, numbers.request, Mark::Measured)];
    if !parts.tools.is_empty() {
        extras.push(rest);
    }
    extras.extend(writer.prompts());
    writer.messages(extras);
    let mut tail = writer.tail();
    let mut unmodelled = super::unmodelled(parts, &mut tail);
    if parts.schema.is_some() && known.model.schema == 0 {
        unmodelled.push("schema of the answer".to_owned());
    }
    Framed { blocks: writer.blocks, tail, unmodelled }
}

fn joined(before: &str, after: &str, extras: Vec<Extra>) -> Frame {
    let standing = Standing::Joined;
    Frame { before: Arc::from(before), after: Arc::from(after), standing, extras, correction: 0 }
}

struct Writer<'a> {
    parts: &'a Parts,
    known: &'a Known,
    numbers: &'static Joined,
    blocks: Vec<FramedBlock>,
    /// Names of the tools that calls are of, by identifier.
    names: HashMap<&'a str, &'a str>,
}

/// Where in a turn the next block stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing stands before it.
    Start,
    /// Behind text.
    Text,
    /// Behind a call.
    Call,
    /// Behind a tool result.
    Result,
}

/// Messages of one role behind each other, which are one turn.
struct Turn<'a> {
    role: Role,
    /// Index of the first of the messages.
    start: usize,
    /// The blocks, each with whether it begins a message.
    blocks: Vec<(bool, &'a String, &'a Part)>,
}

/// How far the writing of a turn is.
struct Progress {
    role: &'static str,
    has_role: bool,
    place: Place,
    /// Tool results in the turn, and how many of them are written.
    results: usize,
    seen: usize,
    keeps_thinking: bool,
}

/// A block being written.
#[derive(Default)]
struct Piece {
    before: String,
    text: String,
    after: String,
    extras: Vec<Extra>,
    is_apart: bool,
}

impl Progress {
    /// The role, where it does not stand there yet.
    fn open(&mut self, text: &str) -> String {
        let has_role = std::mem::replace(&mut self.has_role, true);
        if has_role { String::new() } else { behind_role(self.role, text) }
    }
}

fn turns(messages: &[MessagePart]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (start, message) in messages.iter().enumerate() {
        if turns.last().is_none_or(|turn| turn.role != message.role) {
            turns.push(Turn { role: message.role, start, blocks: Vec::new() });
        }
        if let Some(turn) = turns.last_mut() {
            let blocks = message.blocks.iter().enumerate();
            turn.blocks.extend(blocks.map(|(index, (pointer, part))| (index == 0, pointer, part)));
        }
    }
    turns
}

impl<'a> Writer<'a> {
    /// Hidden prompts of a schema and of thinking. Each costs one more where something stands
    /// before it.
    fn prompts(&self) -> Vec<Extra> {
        let (parts, model) = (self.parts, self.known.model);
        let mut extras = Vec::new();
        let mut is_first = parts.tools.is_empty() && parts.system.is_empty();
        if let Some(schema) = parts.schema.as_ref().filter(|_| model.schema > 0) {
            let tokens = model.schema + FAMILY.count_inside(schema) + u64::from(!is_first);
            extras.push(Extra::exact(ExtraKind::OutputSchema, tokens, Mark::Measured));
            is_first = false;
        }
        if parts.thinks {
            let thinking = self.numbers.thinking.extra(ExtraKind::Thinking);
            extras.push(super::plus(thinking, u64::from(!is_first)));
        }
        if !parts.system.is_empty() && parts.tools.is_empty() && model.system_alone > 0 {
            extras.push(Extra::exact(ExtraKind::Frame, model.system_alone, Mark::Measured));
        }
        extras
    }

    fn messages(&mut self, mut first: Vec<Extra>) {
        let said = last_said(self.parts);
        for turn in &turns(&self.parts.messages) {
            let start = self.blocks.len();
            self.turn(turn, Some(turn.start) > said || self.known.keeps_thinking);
            if let Some(block) = self.blocks.get_mut(start) {
                block.frame.extras.splice(0..0, std::mem::take(&mut first));
            }
        }
    }

    fn turn(&mut self, turn: &Turn<'a>, keeps_thinking: bool) {
        let results = turn.blocks.iter().filter(|(_, _, part)| matches!(part, Part::Result { .. }));
        let role = match turn.role {
            Role::Assistant => "\n\nAssistant:",
            Role::User | Role::System => "\n\nHuman:",
        };
        let (place, results) = (Place::Start, results.count());
        let mut progress =
            Progress { role, has_role: false, place, results, seen: 0, keeps_thinking };
        for (index, (starts_message, pointer, part)) in turn.blocks.iter().enumerate() {
            let next = turn.blocks.get(index + 1).map(|(_, _, part)| *part);
            let piece = self.piece(&mut progress, part, next);
            let standing = if piece.is_apart { Standing::Apart } else { Standing::Joined };
            self.blocks.push(FramedBlock {
                pointer: (*pointer).clone(),
                section: Section::Messages,
                kind: kind_of_part(part),
                role: Some(turn.role),
                starts_message: *starts_message,
                text: piece.text,
                frame: Frame { standing, ..joined(&piece.before, &piece.after, piece.extras) },
                is_dropped: matches!(part, Part::Thinking(_)) && !piece.is_apart,
            });
        }
    }

    fn piece(&mut self, progress: &mut Progress, part: &'a Part, next: Option<&Part>) -> Piece {
        let mut piece = Piece::default();
        match part {
            Part::Text(said) => {
                // Text behind results is a turn of its own.
                progress.has_role &= progress.place != Place::Result;
                piece.before = progress.open(said);
                piece.text.clone_from(said);
                progress.place = Place::Text;
            }
            Part::Call { id, name, arguments, .. } => {
                piece = self.call(progress, name, arguments, next);
                self.names.insert(id, name);
                progress.place = Place::Call;
            }
            Part::Result { id, text, images, is_error, unknown } => {
                piece.before = progress.open("");
                progress.seen += 1;
                let name = self.names.get(id.as_str()).copied().unwrap_or_default();
                let around = around_result(progress.seen, progress.results, name);
                piece.before.push_str(&around[0]);
                piece.after.push_str(&around[1]);
                piece.text.clone_from(text);
                piece.extras.extend(images.iter().map(|size| media::image(*size)));
                piece.extras.extend(self.of_result(text, images.is_empty(), *is_error));
                piece.extras.extend(unknown.iter().map(|_| unknown_block(0)));
                progress.place = Place::Result;
            }
            Part::Thinking(thought) => {
                if progress.keeps_thinking {
                    piece.text.clone_from(thought);
                    piece.is_apart = true;
                    let tokens = self.numbers.thinking_block;
                    piece.extras.push(Extra::exact(ExtraKind::Thinking, tokens, Mark::Measured));
                }
            }
            Part::Image(size) => {
                piece.before = progress.open("");
                piece.extras.push(media::image(*size));
            }
            Part::Document { text, pages, cites } => {
                piece.before = progress.open("");
                piece.text = text.clone().unwrap_or_default();
                piece.extras.extend(media::document(part, *pages));
                piece.extras.extend(cites.then(media::citations));
            }
            Part::Unknown(_, json) => {
                piece.extras.push(unknown_block(FAMILY.count_inside(json)));
            }
        }
        piece
    }

    fn call(
        &self,
        progress: &mut Progress,
        name: &str,
        arguments: &[(String, String)],
        next: Option<&Part>,
    ) -> Piece {
        let mut piece = Piece { before: progress.open(""), ..Piece::default() };
        if progress.place != Place::Call {
            piece.before.push_str(if progress.place == Place::Text { BREAK } else { "" });
            piece.before.push_str(&calls_begin());
            piece.extras.extend(self.call_without_text(progress.place));
        }
        piece.text = spell_call(name, arguments);
        if !matches!(next, Some(Part::Call { .. })) {
            piece.after = calls_end();
        }
        piece
    }

    /// Some models bill one more for an answer that begins with a call.
    fn call_without_text(&self, place: Place) -> Option<Extra> {
        let tokens = self.known.model.call_without_text;
        let bills = tokens > 0 && place == Place::Start && self.parts.choice != Choice::Any;
        bills.then(|| Extra::exact(ExtraKind::Frame, tokens, Mark::Measured))
    }

    fn of_result(&self, text: &str, is_text: bool, is_error: bool) -> Vec<Extra> {
        let mut extras = Vec::new();
        if text.is_empty() && is_text {
            extras.push(self.numbers.empty_result.extra(ExtraKind::Frame));
        }
        if is_error {
            let tokens = self.numbers.error_result;
            extras.push(Extra::exact(ExtraKind::Frame, tokens, Mark::Measured));
        }
        extras
    }

    /// The role of the answer, unless the answer is begun already; then white space at its end is
    /// cut.
    fn tail(&mut self) -> Frame {
        let last = self.parts.messages.last();
        if last.is_none_or(|message| message.role != Role::Assistant) {
            return joined("\n\nAssistant:", "", Vec::new());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.text.truncate(block.text.trim_end().len());
        }
        Frame::default()
    }
}

/// What stands around result number `seen` of `results` in a message.
fn around_result(seen: usize, results: usize, name: &str) -> [String; 2] {
    if results == 1 {
        return ["<output>".to_owned(), "</output>".to_owned()];
    }
    let begin = if seen == 1 { "<results>\n" } else { "" };
    let end = if seen == results { "</results>" } else { "" };
    [
        format!("{begin}<result>\n<name>{name}</name>\n<output>"),
        format!("</output>\n</result>\n{end}"),
    ]
}
