//! The numbers behind what requests cost beyond their text, as dated data.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::civil::Date;
use serde::Deserialize;

use crate::request::{Extra, ExtraKind, Mark};

const TABLE: &str = include_str!("../counting.toml");

/// The table that is part of the program; empty, if it does not parse, which a test rules out.
pub(super) fn constants() -> &'static Constants {
    static CONSTANTS: LazyLock<Constants> =
        LazyLock::new(|| toml::from_str(TABLE).unwrap_or_default());
    &CONSTANTS
}

/// All numbers.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Constants {
    /// Day on which the table was checked.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table, and its test"))]
    checked: Option<toml::value::Datetime>,
    /// Where the rules stand.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table, and its test"))]
    source: String,
    /// Where documented numbers were read.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table, and its test"))]
    documented: String,
    /// Families whose request is one text.
    pub(super) joined: Joined,
    /// Families whose parts stand between special tokens.
    pub(super) apart: Apart,
    /// What a part that no rule is known for can add.
    pub(super) unmodelled: Span,
    /// Images and documents.
    pub(super) media: Media,
    /// By model.
    pub(super) models: Vec<Model>,
    /// Tools that the provider defines.
    pub(super) server_tools: Vec<ServerTool>,
}

/// Families whose request is one text.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Joined {
    /// Of a request.
    pub(super) request: u64,
    /// The hidden prompt of extended thinking.
    pub(super) thinking: Span,
    /// Of a thinking block that is kept.
    pub(super) thinking_block: u64,
    /// Of a tool result without text.
    pub(super) empty_result: Span,
    /// Of a tool result that says that the call failed.
    pub(super) error_result: u64,
}

/// Families whose parts stand between special tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Apart {
    /// Behind the last message.
    pub(super) tail: u64,
    /// Of each message.
    pub(super) message: u64,
    /// Once, where the conversation has a system message in it.
    pub(super) mid_system: u64,
    /// What a call costs less than the text that the other families spell it out in.
    pub(super) call_saves: u64,
    /// How far a call beside others may be off, up and down.
    pub(super) call_uncertain: u64,
    /// The hidden prompt of extended thinking.
    pub(super) thinking: Span,
    /// Of a thinking block that is kept.
    pub(super) thinking_block: Span,
    /// The hidden prompt of a schema.
    pub(super) schema: Span,
    /// Of a tool result without text.
    pub(super) empty_result: Span,
    /// Of a tool result that says that the call failed.
    pub(super) error_result: Span,
    /// Of a request with one empty message, by family.
    pub(super) request: BTreeMap<String, u64>,
}

/// Images and documents.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Media {
    /// Pixels of an image to a token.
    pub(super) pixels_per_token: u64,
    /// Longest edge in pixels; a longer one is scaled down to it.
    pub(super) image_edge_max: u64,
    /// Most tokens of an image; a larger one is scaled down to it.
    pub(super) image_tokens_max: u64,
    /// Around an image.
    pub(super) image_frame: Span,
    /// An image whose size cannot be seen.
    pub(super) image_unknown: Span,
    /// A page of a PDF.
    pub(super) pdf_page: Span,
    /// Most pages of a PDF whose pages cannot be seen.
    pub(super) pdf_pages_max: u64,
    /// Around a document that is text.
    pub(super) text_document: Span,
    /// Once, where citations are on.
    pub(super) citations: Span,
}

/// A number that is known as an interval, or exactly where all three are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Span {
    /// What is counted.
    pub(super) tokens: u64,
    /// The fewest; `tokens` where it is absent.
    pub(super) low: Option<u64>,
    /// The most; `tokens` where it is absent.
    pub(super) high: Option<u64>,
    /// Where it comes from; inferred where nothing is said.
    #[serde(default)]
    pub(super) mark: MarkWord,
    /// Recorded requests that show it.
    pub(super) rows: Option<u64>,
}

/// A [`Mark`] in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MarkWord {
    Measured,
    Documented,
    #[default]
    Inferred,
}

/// What is known of models by a part of their names.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    /// Parts of names.
    pub(super) names: Vec<String>,
    /// The family, where the price list does not have the model.
    pub(super) family: Option<String>,
    /// Requests before this day; absent for all others.
    pub(super) until: Option<toml::value::Datetime>,
    /// Tokens of the hidden tool-use prompt before the system prompt.
    pub(super) front: u64,
    /// All of it under `tool_choice` auto or none.
    pub(super) auto: Span,
    /// Under any.
    pub(super) any: Span,
    /// Under auto with one call an answer; unknown where absent.
    pub(super) auto_one_call: Option<u64>,
    /// Under a named tool with one call an answer, without the name; unknown where absent.
    pub(super) named_one_call: Option<u64>,
    /// Of an answer in the history that has calls and no text.
    #[serde(default)]
    pub(super) call_without_text: u64,
    /// Of a system prompt without tools.
    #[serde(default)]
    pub(super) system_alone: u64,
    /// The hidden prompt of a schema of the answer.
    #[serde(default)]
    pub(super) schema: u64,
}

/// A tool that the provider defines.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerTool {
    /// How its type begins.
    pub(super) name: String,
    /// In a family whose request is one text.
    pub(super) joined: Span,
    /// In the other families.
    pub(super) apart: Span,
}

impl Span {
    /// The same number, as what it is for.
    pub(super) fn extra(self, kind: ExtraKind) -> Extra {
        self.times(kind, 1)
    }

    /// So many of it.
    pub(super) fn times(self, kind: ExtraKind, count: u64) -> Extra {
        let (low, high) = (self.low.unwrap_or(self.tokens), self.high.unwrap_or(self.tokens));
        let mark = match self.mark {
            MarkWord::Measured => Mark::Measured,
            MarkWord::Documented => Mark::Documented,
            MarkWord::Inferred => Mark::Inferred,
        };
        Extra::between(kind, low * count, self.tokens * count, high * count, mark)
    }
}

impl Constants {
    /// What is known of the model on that day; of the newest table where no day is given.
    pub(super) fn model(&self, name: &str, date: Option<Date>) -> Option<&Model> {
        let name = name.to_ascii_lowercase().replace(['.', '_'], "-");
        let day = |until: &toml::value::Datetime| {
            let until = until.date?;
            Date::new(i16::try_from(until.year).ok()?, until.month as i8, until.day as i8).ok()
        };
        let holds = |model: &&Model| match (&model.until, date) {
            (None, _) => true,
            (Some(until), Some(date)) => day(until).is_some_and(|until| date < until),
            (Some(_), None) => false,
        };
        let longest = |model: &Model| {
            let fits = model.names.iter().filter(|part| name.contains(part.as_str()));
            fits.map(String::len).max()
        };
        let known = self.models.iter().filter(holds);
        let known = known.filter_map(|model| Some((longest(model)?, model.until.is_some(), model)));
        known.max_by_key(|(length, dated, _)| (*length, *dated)).map(|(_, _, model)| model)
    }

    /// What is known of a tool of that type.
    pub(super) fn server_tool(&self, kind: &str) -> Option<&ServerTool> {
        let known = self.server_tools.iter().filter(|tool| kind.starts_with(&tool.name));
        known.max_by_key(|tool| tool.name.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::anthropic_facts;

    #[test]
    fn the_table_of_the_program_is_read_and_sound() {
        let table: Constants = toml::from_str(TABLE).unwrap();
        assert!(table.checked.is_some() && !table.source.is_empty());
        assert!(table.documented.starts_with("https://"));
        let m = &table.media;
        let (j, a) = (&table.joined, &table.apart);
        let spans = table.models.iter().flat_map(|model| [model.auto, model.any]);
        let spans =
            spans.chain(table.server_tools.iter().flat_map(|tool| [tool.joined, tool.apart]));
        let single = [m.image_frame, m.image_unknown, m.pdf_page, m.text_document, m.citations];
        let single = single.into_iter().chain([j.thinking, j.empty_result, a.thinking, a.schema]);
        let single =
            single.chain([a.empty_result, a.error_result, a.thinking_block, table.unmodelled]);
        for span in spans.chain(single) {
            let extra = span.extra(ExtraKind::Frame);
            assert!(extra.low <= extra.tokens && extra.tokens <= extra.high, "{span:?}");
            // What was measured says on how many requests.
            assert_eq!(span.mark == MarkWord::Measured, span.rows.is_some(), "{span:?}");
        }
        for model in &table.models {
            assert!(model.front <= model.auto.low.unwrap_or(model.auto.tokens), "{model:?}");
            assert!(model.auto.tokens <= model.any.tokens, "{model:?}");
        }
    }

    #[test]
    fn every_model_of_the_price_list_has_its_own_entry_and_dated_ones_hold_while_they_hold() {
        for model in &anthropic_facts().models {
            let found = constants().model(&model.id, None).unwrap();
            assert!(found.names.iter().all(|name| !name.is_empty()), "{}", model.id);
        }
        let auto = |name: &str, date| constants().model(name, date).unwrap().auto.tokens;
        assert_eq!(auto("us.anthropic.claude-sonnet-4-5-20250929-v1:0", None), 489);
        assert_eq!(auto("anthropic/claude-sonnet-4.5", Some(Date::constant(2025, 10, 1))), 306);
        assert_eq!(auto("anthropic/claude-sonnet-4.5", Some(Date::constant(2026, 10, 1))), 489);
        assert_eq!(auto("claude-sonnet-4-20250514", None), 306);
        assert_eq!(auto("claude-sonnet-5-5", None), 281);
        assert_eq!(auto("something-else", None), 306);
    }
}
