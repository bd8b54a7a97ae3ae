//! Requests: what a harness means to send, the one path that makes its bytes, and what a provider
//! caches of it.
//!
//! * [`Conversation`] and [`Draft`] say what is to be sent, without any provider's JSON.
//! * [`build`](build::build) is the only producer of built bytes: a [`WireFormat`] asks for a
//!   [`BuildToken`]
//!   that only this module makes.
//! * [`RenderedPrompt`] is the prompt in the provider's cache order.
//! * [`RequestEvent`] is the only thing that enters the simulator (waist 1).

pub mod body;
pub mod build;
pub mod conversation;
pub mod event;
pub mod frame;
pub mod json;
pub mod marker;
pub mod rendered;

pub use body::{Origin, RequestBody};
pub use build::{Base, BodyFamily, BuildToken, CapturedBody, Draft, EncodedFamily, WireFormat};
pub use conversation::{Block, Conversation, Message, RawJson, ResultContent, Role, Tool};
pub use event::{Payload, RequestEvent, RequestRole, StatedBlock, StatedPrompt};
pub use frame::{Extra, ExtraKind, Frame, Mark, Standing};
pub use marker::{BlockAddress, MarkerError, MarkerPolicy, MarkerSpec, Placement, PromptShape};
pub use rendered::{
    BlockKind, RenderedBlock, RenderedPrompt, Section, counted_tool, counted_tool_use,
};
