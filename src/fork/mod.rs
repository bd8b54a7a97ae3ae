//! The fork: what a child inherits, the messages it is given, and its request.
//!
//! [`ForkPlan`] is what a harness holds at the moment of a fork; [`child`] makes one child's
//! request from it. No type of the simulator stands in this module's surface.
//!
//! * [`gate`] decides whether a call becomes a fork, with [`guard`] against forks of forks and
//!   [`limits`] on how many there are.
//! * [`definition`] says what an agent's requests start with, and [`history`] which messages are
//!   inherited.
//! * [`boilerplate`] is the rules text, and [`report`] reads what children report by it.

pub mod boilerplate;
pub mod definition;
pub mod gate;
pub mod guard;
pub mod history;
pub mod limits;
pub mod report;

use self::boilerplate::Boilerplate;
use self::gate::{Era, ForkPermit};
use crate::request::build::build;
use crate::request::json::JsonError;
use crate::request::marker::{BlockShape, MarkerTtls, place};
use crate::request::{
    Base, Block, BlockKind, BodyFamily, Draft, MarkerError, MarkerPolicy, Message, PromptShape,
    RequestBody, ResultContent, Role, WireFormat,
};
use crate::units::CacheTtl;

/// What stands in for every result of the dispatch: one constant, so that all children stay equal.
pub const PLACEHOLDER: &str = "Fork started \u{2014} processing in background";

/// The constant as the chapter prints it, with two hyphens: one byte shorter, and so another
/// prefix.
pub const CHAPTER_PLACEHOLDER: &str = "Fork started -- processing in background";

/// The constant of an era.
pub fn placeholder(era: Era) -> &'static str {
    match era {
        Era::Today => PLACEHOLDER,
        Era::Chapter => CHAPTER_PLACEHOLDER,
    }
}

/// The assistant message that holds the calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// It is cloned behind the inherited messages.
    Appended(Message),
    /// It is the last message of the base already; these are its calls.
    Inherited(Vec<String>),
    /// There is none: the child gets the directive alone.
    None,
}

/// What of the dispatch a child is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CloneShape {
    /// The whole message, and a placeholder for each of its calls.
    #[default]
    Full,
    /// Nothing: the directive follows the history before the dispatch.
    Excise,
}

/// How the content of a placeholder result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultShape {
    /// A list of one text block.
    #[default]
    Array,
    /// A bare string.
    String,
}

/// Everything that the children of one fork share.
#[derive(Clone, Debug)]
pub struct ForkPlan {
    /// That it may be forked.
    pub permit: ForkPermit,
    /// The parent's request: rendered system prompt, exact tools, history.
    pub base: Base,
    /// The message that holds the calls.
    pub dispatch: Dispatch,
    /// What of it the children are given.
    pub clone: CloneShape,
    /// The constant that stands in for each result.
    pub placeholder: String,
    /// How each result is written.
    pub results: ResultShape,
    /// Where the rules text stands.
    pub boilerplate: Boilerplate,
    /// Where the children's markers go.
    pub policy: MarkerPolicy,
    /// Lifetimes of markers.
    pub ttls: MarkerTtls,
}

/// Why a fork cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The recorded body does not have the provider's shape.
    #[error("the parent's request cannot be read: {0}")]
    Base(#[from] JsonError),
    /// The markers cannot be placed.
    #[error("{0}")]
    Markers(#[from] MarkerError),
    /// Without the dispatch there is nothing to inherit.
    #[error("without the dispatch no message is left to inherit")]
    NothingLeft,
}

/// The request of the child that is told `directive`. `family` is [`ForkPlan::family`]'s; what it
/// holds is not copied.
pub fn child(plan: &ForkPlan, family: &BodyFamily<'_>, directive: &str) -> RequestBody {
    match plan.boilerplate {
        // Nothing is put before it, so nothing is copied.
        Boilerplate::None => family.body(directive),
        other @ (Boilerplate::SameBlock(_) | Boilerplate::OwnBlock) => {
            family.body(&other.own(directive))
        }
    }
}

impl ForkPlan {
    /// A fork as Claude Code builds it today, all markers for five minutes; its fields say
    /// otherwise.
    pub fn new(permit: ForkPermit, base: Base, dispatch: Dispatch) -> ForkPlan {
        ForkPlan {
            permit,
            base,
            dispatch,
            clone: CloneShape::Full,
            placeholder: PLACEHOLDER.to_owned(),
            results: ResultShape::Array,
            boilerplate: Boilerplate::SameBlock(Era::Today),
            policy: MarkerPolicy::CcTail,
            ttls: MarkerTtls { parent: CacheTtl::FiveMinutes, fork: CacheTtl::FiveMinutes },
        }
    }

    /// Serialises what all children share, once.
    ///
    /// # Errors
    /// Where the base cannot be read or the markers cannot be placed.
    pub fn family<'a>(&self, format: &'a dyn WireFormat) -> Result<BodyFamily<'a>, ForkError> {
        Ok(build(format, &self.draft(format, &self.policy, true)?))
    }

    /// The pre-warming request: the shared part alone, marked at its end, with `max_tokens: 0`.
    ///
    /// # Errors
    /// As [`family`](Self::family).
    pub fn prewarm(&self, format: &dyn WireFormat) -> Result<RequestBody, ForkError> {
        let policy = match self.policy.of_parent() {
            MarkerPolicy::None => MarkerPolicy::CcTail,
            other => other,
        };
        let mut draft = self.draft(format, &policy, false)?;
        draft.max_tokens = Some(0);
        Ok(build(format, &draft).whole())
    }

    /// The parent's own last request, from which the children inherit; a recorded one goes as it
    /// was recorded.
    ///
    /// # Errors
    /// As [`family`](Self::family).
    pub fn parent(&self, format: &dyn WireFormat) -> Result<RequestBody, ForkError> {
        let inherited = matches!(self.dispatch, Dispatch::Inherited(_));
        if let (Base::Captured(captured), false) = (&self.base, inherited) {
            return Ok(RequestBody::captured(captured.bytes().to_vec()));
        }
        let mut shape = format.shape(&self.base)?;
        shape.messages.truncate(self.parent_messages(&shape));
        let ttls = MarkerTtls { parent: self.ttls.parent, fork: self.ttls.parent };
        let draft = Draft {
            base: self.base.clone(),
            kept_messages: Some(shape.messages.len()),
            appended: Vec::new(),
            own_block: false,
            placement: place(&self.policy.of_parent(), &shape, ttls)?,
            max_tokens: None,
        };
        Ok(build(format, &draft).whole())
    }

    /// The messages behind what is inherited: the clone of the dispatch, and one user message with
    /// a placeholder for each of its calls, in their order; the user message alone where the
    /// dispatch is excised. Rules text with a block of its own follows. The last message is open
    /// for the directive.
    pub fn appended(&self) -> Vec<Message> {
        let dispatch = match self.clone {
            CloneShape::Full => &self.dispatch,
            CloneShape::Excise => &Dispatch::None,
        };
        let (clone, calls): (Option<Message>, Vec<String>) = match dispatch {
            Dispatch::Appended(message) => {
                let calls: Vec<String> = message.tool_use_ids().map(str::to_owned).collect();
                // Without a call there is nothing to answer, so the clone is left out.
                ((!calls.is_empty()).then(|| message.clone()), calls)
            }
            Dispatch::Inherited(calls) => (None, calls.clone()),
            Dispatch::None => (None, Vec::new()),
        };
        let results = calls.into_iter().map(|tool_use_id| Block::ToolResult {
            tool_use_id,
            content: match self.results {
                ResultShape::Array => {
                    ResultContent::Blocks(vec![Block::Text(self.placeholder.clone())])
                }
                ResultShape::String => ResultContent::Text(self.placeholder.clone()),
            },
            is_error: false,
        });
        let rules = self.boilerplate.shared().map(|text| Block::Text(text.to_owned()));
        let answers = Message { role: Role::User, blocks: results.chain(rules).collect() };
        clone.into_iter().chain([answers]).collect()
    }

    /// How many messages the children inherit from the parent's request.
    ///
    /// # Errors
    /// Where the base cannot be read.
    pub fn inherited_messages(&self, format: &dyn WireFormat) -> Result<usize, ForkError> {
        Ok(self.parent_messages(&format.shape(&self.base)?))
    }

    fn parent_messages(&self, shape: &PromptShape) -> usize {
        let inherited = matches!(self.dispatch, Dispatch::Inherited(_));
        // A request of one message is not left without any, unless it is to be excised.
        let least = usize::from(self.clone == CloneShape::Full);
        shape.messages.len() - usize::from(inherited && shape.messages.len() > least)
    }

    fn draft(
        &self,
        format: &dyn WireFormat,
        policy: &MarkerPolicy,
        own_block: bool,
    ) -> Result<Draft, ForkError> {
        let mut shape = format.shape(&self.base)?;
        shape.inherited = self.parent_messages(&shape);
        shape.own_block = own_block;
        let excised = self.clone == CloneShape::Excise;
        if excised && shape.inherited == 0 {
            return Err(ForkError::NothingLeft);
        }
        if excised {
            shape.messages.truncate(shape.inherited);
        }
        let mut appended = self.appended();
        appended.retain(|message| own_block || !message.blocks.is_empty());
        shape.messages.extend(appended.iter().map(|message| format.message_shape(message)));
        if own_block {
            let own = BlockShape { kind: BlockKind::Text, markable: true };
            shape.messages.last_mut().into_iter().for_each(|message| message.blocks.push(own));
        }
        Ok(Draft {
            base: self.base.clone(),
            kept_messages: excised.then_some(shape.inherited),
            appended,
            own_block,
            placement: place(policy, &shape, self.ttls)?,
            max_tokens: None,
        })
    }
}
