//! The Anthropic Messages API: how its requests are written, rendered and refused.

pub mod canonical;
mod converse;
mod framing;
pub mod keys;
mod media;
mod parts;
pub mod render;
pub mod splice;
pub mod validate;
pub mod wire;

use super::{Facts, Feature, KeyRule, Provider, Refusal, RenderOptions, find_model};
use crate::request::json::{JsonError, Node};
use crate::request::marker::MessageShape;
use crate::request::{
    Base, BuildToken, Draft, EncodedFamily, Message, PromptShape, RenderedBlock, RenderedPrompt,
    RequestBody, Section, WireFormat, counted_tool, counted_tool_use,
};
use crate::tokens::{ClaudeFamily, TokenizerSpec};
use crate::units::CacheTtl;

/// The provider.
#[derive(Clone, Copy, Debug)]
pub struct Anthropic;

impl WireFormat for Anthropic {
    fn shape(&self, base: &Base) -> Result<PromptShape, JsonError> {
        match base {
            Base::Built(conversation) => Ok(wire::shape(conversation)),
            Base::Captured(captured) => splice::shape(captured),
        }
    }

    fn message_shape(&self, message: &Message) -> MessageShape {
        wire::message_shape(message)
    }

    fn encode(&self, _token: &BuildToken, draft: &Draft) -> EncodedFamily {
        match &draft.base {
            Base::Built(conversation) => wire::encode(conversation, draft),
            Base::Captured(captured) => splice::encode(captured, draft),
        }
    }

    fn encode_own(&self, _token: &BuildToken, text: &str, marker: Option<CacheTtl>) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() + 96);
        wire::write_text_block(&mut out, text, marker);
        out
    }
}

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn facts(&self) -> &'static Facts {
        super::facts::anthropic_facts()
    }

    fn tokenizer_for(&self, model: &str) -> Option<TokenizerSpec> {
        let listed = find_model(self.facts(), model).ok().map(|facts| facts.tokenizer);
        listed.or_else(|| TokenizerSpec::parse(framing::family_of_retired(model)?).ok())
    }

    fn render(
        &self,
        body: &RequestBody,
        options: RenderOptions,
    ) -> Result<RenderedPrompt, JsonError> {
        render::render(body, options)
    }

    fn render_recorded(
        &self,
        body: &RequestBody,
        options: RenderOptions,
    ) -> Result<RenderedPrompt, JsonError> {
        render::render_recorded(body, options)
    }

    fn unmodelled(&self, body: &[u8]) -> Vec<String> {
        render::unmodelled(body)
    }

    fn counts_every_block(&self, platform: &str) -> bool {
        platform.to_ascii_lowercase().starts_with("bedrock")
    }

    fn serves(&self, platform: &str) -> bool {
        let platform = platform.to_ascii_lowercase();
        platform == self.name() || ["bedrock", "vertex"].iter().any(|c| platform.starts_with(c))
    }

    fn render_own(
        &self,
        body: &RequestBody,
        sibling: &RenderedBlock,
    ) -> Result<RenderedBlock, JsonError> {
        render::render_own(body, sibling)
    }

    fn refusals(&self, body: &RequestBody) -> Vec<Refusal> {
        validate::refusals(&body.to_vec())
    }

    fn counted_tool(
        &self,
        family: Option<ClaudeFamily>,
        name: &str,
        description: Option<&str>,
        schema: Option<&str>,
    ) -> String {
        match family {
            None => counted_tool(name, description, schema),
            Some(_) => framing::counted_tool(name, description, schema),
        }
    }

    fn counted_call(&self, family: Option<ClaudeFamily>, name: &str, input: &str) -> String {
        match family {
            None => counted_tool_use(name, input),
            Some(_) => framing::counted_call(name, input),
        }
    }

    fn key_rule(&self, name: &str) -> Option<KeyRule> {
        keys::key_rule(name)
    }

    fn key_default(&self, parameter: &str) -> Option<&'static str> {
        keys::key_default(parameter)
    }

    fn section_reason(&self, section: Section) -> &'static str {
        keys::section_reason(section)
    }

    fn features(&self, bytes: &[u8], body: &Node) -> Vec<Feature> {
        keys::features(bytes, body)
    }

    fn tool_feature(&self, bytes: &[u8], tool: &Node) -> Option<&'static str> {
        keys::tool_feature(bytes, tool)
    }

    fn is_outside_prefix(&self, bytes: &[u8], tool: &Node) -> bool {
        keys::is_outside_prefix(bytes, tool)
    }
}
