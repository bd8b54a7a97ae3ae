//! Requests whose parts stand between special tokens and are billed one by one.

use super::constants::{Apart, constants};
use super::{
    Framed, FramedBlock, Known, calls_begin, calls_end, last_said, media, spell_call, unknown_block,
};
use crate::provider::anthropic::parts::{MessagePart, Part, Parts, kind_of_part};
use crate::request::{Extra, ExtraKind, Frame, Mark, Role, Section, Standing};
use crate::tokens::ClaudeFamily;

pub(super) fn frame(parts: &Parts, family: ClaudeFamily, known: &Known) -> Framed {
    let numbers = &constants().apart;
    let [front, rest] = known.tool_prompts(parts, family);
    let blocks = super::before_messages(parts, family, front, |_| apart(Vec::new()));
    let request = numbers.request.get(family.name()).copied().unwrap_or_default();
    let start = request.saturating_sub(numbers.tail + numbers.message);
    let mut extras = vec![Extra::exact(ExtraKind::Frame, start, Mark::Measured)];
    if !parts.tools.is_empty() {
        extras.push(rest);
        let join = u64::from(!parts.system.is_empty());
        extras.push(Extra::exact(ExtraKind::Frame, join, Mark::Measured));
    }
    let mut writer = Writer { parts, family, numbers, blocks };
    extras.extend(writer.prompts());
    writer.messages(extras, known);
    let tail = Extra::exact(ExtraKind::Frame, numbers.tail, Mark::Measured);
    let mut tail = apart(vec![tail]);
    let unmodelled = super::unmodelled(parts, &mut tail);
    Framed { blocks: writer.blocks, tail, unmodelled }
}

fn apart(extras: Vec<Extra>) -> Frame {
    Frame { standing: Standing::Apart, extras, ..Frame::default() }
}

struct Writer<'a> {
    parts: &'a Parts,
    family: ClaudeFamily,
    numbers: &'static Apart,
    blocks: Vec<FramedBlock>,
}

impl Writer<'_> {
    fn prompts(&self) -> Vec<Extra> {
        let mut extras = Vec::new();
        if let Some(schema) = &self.parts.schema {
            let tokens = self.family.count_inside(schema);
            let schema = self.numbers.schema.extra(ExtraKind::OutputSchema);
            extras.push(super::plus(schema, tokens));
        }
        if self.parts.thinks {
            extras.push(self.numbers.thinking.extra(ExtraKind::Thinking));
        }
        if self.parts.messages.iter().any(|message| message.role == Role::System) {
            let tokens = self.numbers.mid_system;
            extras.push(Extra::exact(ExtraKind::Frame, tokens, Mark::Measured));
        }
        extras
    }

    fn messages(&mut self, mut first: Vec<Extra>, known: &Known) {
        let said = last_said(self.parts);
        for (index, message) in self.parts.messages.iter().enumerate() {
            let start = self.blocks.len();
            self.message(message, Some(index) > said || known.keeps_thinking);
            if let Some(block) = self.blocks.get_mut(start) {
                block.starts_message = true;
                first.push(Extra::exact(ExtraKind::Frame, self.numbers.message, Mark::Measured));
                block.frame.extras.splice(0..0, std::mem::take(&mut first));
            }
        }
    }

    fn message(&mut self, message: &MessagePart, keeps_thinking: bool) {
        let is_call = |(_, part): &&(String, Part)| matches!(part, Part::Call { .. });
        let calls = message.blocks.iter().filter(is_call).count();
        for (pointer, part) in &message.blocks {
            let (text, frame) = match part {
                Part::Text(text) => (text.clone(), apart(Vec::new())),
                Part::Call { name, arguments, .. } => {
                    (spell_call(name, arguments), self.call_frame(calls))
                }
                Part::Result { text, images, is_error, unknown, .. } => {
                    let mut extras: Vec<Extra> =
                        images.iter().map(|size| media::image(*size)).collect();
                    if text.is_empty() && images.is_empty() {
                        extras.push(self.numbers.empty_result.extra(ExtraKind::Frame));
                    }
                    if *is_error {
                        extras.push(self.numbers.error_result.extra(ExtraKind::Frame));
                    }
                    extras.extend(unknown.iter().map(|_| unknown_block(0)));
                    (text.clone(), apart(extras))
                }
                Part::Thinking(thought) if keeps_thinking => {
                    let frame = self.numbers.thinking_block.extra(ExtraKind::Thinking);
                    (thought.clone(), apart(vec![frame]))
                }
                Part::Thinking(_) => (String::new(), apart(Vec::new())),
                Part::Image(size) => (String::new(), apart(vec![media::image(*size)])),
                Part::Document { text, pages, cites } => {
                    let mut extras: Vec<Extra> =
                        media::document(part, *pages).into_iter().collect();
                    extras.extend(cites.then(media::citations));
                    (text.clone().unwrap_or_default(), apart(extras))
                }
                Part::Unknown(_, json) => {
                    let tokens = self.family.count_inside(json);
                    (String::new(), apart(vec![unknown_block(tokens)]))
                }
            };
            self.blocks.push(FramedBlock {
                pointer: pointer.clone(),
                section: Section::Messages,
                kind: kind_of_part(part),
                role: Some(message.role),
                starts_message: false,
                text,
                frame,
                is_dropped: matches!(part, Part::Thinking(_)) && !keeps_thinking,
            });
        }
    }

    /// Around a call: the tags that the other families spell it out in, less what special tokens
    /// save. With several calls in a message that is not measured.
    fn call_frame(&self, calls: usize) -> Frame {
        let tags =
            self.family.count_inside(&calls_begin()) + self.family.count_inside(&calls_end());
        let tokens = tags.saturating_sub(self.numbers.call_saves);
        let extra = if calls == 1 {
            Extra::exact(ExtraKind::Frame, tokens, Mark::Measured)
        } else {
            let off = self.numbers.call_uncertain;
            let low = tokens.saturating_sub(off);
            Extra::between(ExtraKind::Frame, low, tokens, tokens + off, Mark::Inferred)
        };
        Frame { extras: vec![extra], ..Frame::default() }
    }
}
