//! Fresh agents, for comparison: the same tools and system, a prompt of their own instead of the
//! history.

use std::sync::Arc;

use super::content;
use super::material::Material;
use super::{AgentError, Sender, check, timing};
use crate::provider::import;
use crate::request::build::build;
use crate::request::marker::{BlockShape, MarkerTtls, MessageShape, place};
use crate::request::{
    Base, BlockKind, BodyFamily, Conversation, Draft, Message, RequestBody, RequestEvent,
    RequestRole, Role,
};
use crate::scenario::{DirectiveSpec, Order, ParentState, Scenario};
use crate::tokens::Tokenizer;
use crate::units::SimTime;

/// The events of as many fresh agents as the scenario has children, on the same schedule; where
/// that pre-warms, they go all at once. The parent's request stands before them, as it does before
/// the children.
///
/// # Errors
/// Where a prompt cannot have its size, or a body cannot be built.
pub fn play_fresh(
    scenario: &Scenario,
    material: &Material,
    tokenizer: &Tokenizer,
) -> Result<Vec<RequestEvent>, AgentError> {
    let bodies = bodies(scenario, material, tokenizer)?;
    bodies
        .first()
        .into_iter()
        .try_for_each(|body| check(scenario, "a fresh agent's request", body))?;
    let sender = Sender::of(scenario);
    let mut events = Vec::with_capacity(bodies.len() + 1);
    if scenario.parent.cache.state != ParentState::Cold {
        let start = SimTime(-scenario.parent.cache.age_ms);
        let parent = material.plan.parent(scenario.provider)?;
        events.push(
            sender.event("parent", RequestRole::Parent, start, &parent, |start| (start, start)),
        );
    }
    let order = match scenario.schedule.order {
        Order::Prewarm => Order::Simultaneous,
        other @ (Order::Simultaneous
        | Order::Sequential
        | Order::AfterFirstToken
        | Order::Waves { .. }
        | Order::Stagger { .. }) => other,
    };
    let starts = timing::starts(order, &scenario.schedule, bodies.len());
    for (index, (body, start)) in bodies.iter().zip(starts).enumerate() {
        let id = format!("fresh-{:03}", index + 1);
        events.push(sender.event(&id, RequestRole::Fresh, start, body, |start| {
            timing::answer(&scenario.schedule, start)
        }));
    }
    Ok(events)
}

/// Tokens of each agent's prompt: as asked for, else as many as its directive has.
fn prompt_tokens(scenario: &Scenario, index: usize, tokenizer: &Tokenizer) -> u64 {
    let directive = || match &scenario.fork.directive {
        DirectiveSpec::Sized(tokens) => *tokens,
        DirectiveSpec::Texts(texts) => {
            let text = texts.get(index % texts.len().max(1));
            text.map_or(1, |text| tokenizer.count(text).0)
        }
    };
    scenario.fresh.prompt_tokens.unwrap_or_else(directive)
}

fn bodies(
    scenario: &Scenario,
    material: &Material,
    tokenizer: &Tokenizer,
) -> Result<Vec<RequestBody>, AgentError> {
    let children = material.directives.len();
    let prompt = |index: usize| {
        let tokens = prompt_tokens(scenario, index, tokenizer);
        content::prompt(scenario.seed, index as u64, tokens, tokenizer)
    };
    if scenario.fresh.same_type {
        let family = family(scenario, &material.plan.base)?;
        return (0..children).map(|index| Ok(family.body(&prompt(index)?))).collect();
    }
    let own = conversation(scenario, &material.plan.base)?;
    (0..children)
        .map(|index| {
            let other = of_another_type(scenario, &own, index, tokenizer)?;
            let family = family(scenario, &Base::Built(Arc::new(other)))?;
            Ok(family.body(&prompt(index)?))
        })
        .collect()
}

/// Tools and system of the base without its messages, and one open user message.
fn family<'a>(scenario: &Scenario, base: &Base) -> Result<BodyFamily<'a>, AgentError> {
    let format = scenario.provider;
    let mut shape = format.shape(base).map_err(crate::fork::ForkError::from)?;
    let own = BlockShape { kind: BlockKind::Text, markable: true };
    shape.messages = vec![MessageShape { role: Role::User, blocks: vec![own] }];
    shape.inherited = 0;
    shape.own_block = true;
    let ttls = MarkerTtls { parent: scenario.parent.cache.ttl, fork: scenario.fork.ttl };
    let policy = scenario.fork.policy.of_parent();
    let draft = Draft {
        base: base.clone(),
        kept_messages: Some(0),
        appended: vec![Message { role: Role::User, blocks: Vec::new() }],
        own_block: true,
        placement: place(&policy, &shape, ttls).map_err(crate::fork::ForkError::from)?,
        max_tokens: None,
    };
    Ok(build(format, &draft))
}

/// The base as a conversation; a recorded one is read into its parts.
fn conversation(scenario: &Scenario, base: &Base) -> Result<Conversation, AgentError> {
    match base {
        Base::Built(conversation) => Ok(Conversation::clone(conversation)),
        Base::Captured(captured) => {
            let text = String::from_utf8_lossy(captured.bytes());
            Ok(Conversation {
                model: scenario.model_name.clone(),
                max_tokens: 1,
                tools: import::tools(&text)?,
                system: import::system(&text)?,
                messages: Vec::new(),
                parameters: Vec::new(),
            })
        }
    }
}

/// An agent with an identity line of its own and its tools in an order of their own: same sizes,
/// nothing shared.
fn of_another_type(
    scenario: &Scenario,
    own: &Conversation,
    index: usize,
    tokenizer: &Tokenizer,
) -> Result<Conversation, AgentError> {
    let mut other = own.clone();
    other.messages.clear();
    if !other.tools.is_empty() {
        let by = (index + 1) % other.tools.len();
        other.tools.rotate_left(by);
    }
    if let Some(identity) = other.system.first_mut() {
        let tokens = tokenizer.count(identity).0;
        *identity = content::identity_line(scenario.seed, index as u64, tokens, tokenizer)?;
    }
    Ok(other)
}
