//! Events with their measured prompts.

use std::collections::HashMap;

use crate::measure::{TokenizedPrompt, tokenize};
use crate::provider::{Provider, RenderOptions};
use crate::request::json::JsonError;
use crate::request::{Payload, RenderedPrompt, RequestBody, RequestEvent};
use crate::tokens::Tokenizer;

/// Events in order of their start, each with its measured prompt.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Events in order of their start.
    pub events: Vec<RequestEvent>,
    /// Their prompts, in the same order.
    pub prompts: Vec<TokenizedPrompt>,
}

/// Renders and measures the prompts of events, and sorts both by start.
///
/// # Errors
/// Where a body cannot be rendered.
pub fn measure(
    mut events: Vec<RequestEvent>,
    provider: &dyn Provider,
    options: RenderOptions,
    tokenizer: &Tokenizer,
) -> Result<Measured, JsonError> {
    events.sort_by_key(|event| event.start);
    let bodies: Vec<&RequestBody> = events.iter().filter_map(body_of).collect();
    let mut rendered = tokenize(render_all(&bodies, provider, options)?, tokenizer).into_iter();
    let prompts = events.iter().filter_map(|event| match &event.payload {
        Payload::Body(_) => rendered.next(),
        Payload::Blocks(stated) => Some(TokenizedPrompt::stated(stated)),
    });
    Ok(Measured { prompts: prompts.collect(), events })
}

fn body_of(event: &RequestEvent) -> Option<&RequestBody> {
    match &event.payload {
        Payload::Body(body) => Some(body),
        Payload::Blocks(_) => None,
    }
}

/// Renders bodies; of a family only the first in whole, of its siblings only the own block.
fn render_all(
    bodies: &[&RequestBody],
    provider: &dyn Provider,
    options: RenderOptions,
) -> Result<Vec<RenderedPrompt>, JsonError> {
    let mut firsts: HashMap<usize, usize> = HashMap::new();
    let mut prompts: Vec<RenderedPrompt> = Vec::with_capacity(bodies.len());
    for (index, body) in bodies.iter().enumerate() {
        let template = firsts.get(&body.family_key()).map(|first| &prompts[*first]);
        let prompt = match template.and_then(|prompt| Some((prompt, prompt.own.as_ref()?))) {
            Some((prompt, own)) => {
                let own = provider.render_own(body, own)?;
                RenderedPrompt { own: Some(own), ..prompt.clone() }
            }
            None => {
                firsts.insert(body.family_key(), index);
                provider.render(body, options)?
            }
        };
        prompts.push(prompt);
    }
    Ok(prompts)
}
