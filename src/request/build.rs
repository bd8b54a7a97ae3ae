//! The one construction path: nothing else makes request bytes.

use std::sync::Arc;

use super::body::{RequestBody, SharedBytes};
use super::conversation::{Conversation, Message};
use super::json::{self, JsonError};
use super::marker::{MessageShape, Placement, PromptShape};
use crate::units::CacheTtl;

/// Proof that the caller is [`build`]: a wire format cannot be asked for bytes without it, and
/// nobody else can make one.
///
/// ```compile_fail,E0423
/// let token = forkcost::request::BuildToken(());
/// ```
#[derive(Debug)]
pub struct BuildToken(());

/// A recorded body with the positions of all its values.
#[derive(Debug)]
pub struct CapturedBody {
    bytes: Vec<u8>,
    tree: json::Node,
}

impl CapturedBody {
    /// Reads `bytes` as one JSON value and keeps them as they are.
    ///
    /// # Errors
    /// Where the bytes are not UTF-8 or not JSON, with line and column.
    pub fn parse(bytes: Vec<u8>) -> Result<CapturedBody, JsonError> {
        let tree = json::parse(&bytes)?;
        Ok(CapturedBody { bytes, tree })
    }

    /// The recorded bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The positions of all values in [`bytes`](Self::bytes).
    pub fn tree(&self) -> &json::Node {
        &self.tree
    }
}

/// What a request starts with: a conversation to be written out, or a recorded body to be spliced.
#[derive(Clone, Debug)]
pub enum Base {
    /// Written out by the wire format.
    Built(Arc<Conversation>),
    /// Spliced: every byte but the cache markers stays.
    Captured(Arc<CapturedBody>),
}

/// One family of requests: a base, what is appended to it, and where the markers go.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What it starts with.
    pub base: Base,
    /// How many of the base's messages are inherited, from the first; all of them where `None`.
    pub kept_messages: Option<usize>,
    /// Messages behind the base's, in order. Where `own_block` is set the last of them is left open
    /// for one more text block, which is each body's own.
    pub appended: Vec<Message>,
    /// Whether each body ends in a text block of its own inside the last appended message.
    pub own_block: bool,
    /// Where the markers go.
    pub placement: Placement,
    /// Replaces the base's `max_tokens`; `Some(0)` makes a pre-warming request, which is never
    /// streamed.
    pub max_tokens: Option<u64>,
}

/// What a wire format makes of a [`Draft`]: the bytes before and behind the own block.
#[derive(Debug)]
pub struct EncodedFamily {
    /// All bytes up to the own block, or the whole body where there is none.
    pub head: Vec<u8>,
    /// All bytes behind the own block.
    pub tail: Vec<u8>,
}

/// How one provider writes requests.
pub trait WireFormat {
    /// The blocks of a base, so that markers can be placed.
    ///
    /// # Errors
    /// Where a recorded body does not have the provider's shape.
    fn shape(&self, base: &Base) -> Result<PromptShape, JsonError>;

    /// The blocks of a message that is to be appended, so that markers can be placed.
    fn message_shape(&self, message: &Message) -> MessageShape;

    /// Writes all that the bodies of a family share.
    fn encode(&self, token: &BuildToken, draft: &Draft) -> EncodedFamily;

    /// Writes one own text block, with its marker if it carries one.
    fn encode_own(&self, token: &BuildToken, text: &str, marker: Option<CacheTtl>) -> Vec<u8>;
}

/// Bodies that differ in their own text block only.
pub struct BodyFamily<'a> {
    format: &'a dyn WireFormat,
    shared: Arc<SharedBytes>,
    own_marker: Option<CacheTtl>,
}

/// Serialises what a family shares, once.
pub fn build<'a>(format: &'a dyn WireFormat, draft: &Draft) -> BodyFamily<'a> {
    let EncodedFamily { head, tail } = format.encode(&BuildToken(()), draft);
    BodyFamily {
        format,
        shared: Arc::new(SharedBytes { head, tail }),
        own_marker: draft.placement.own_marker(),
    }
}

impl BodyFamily<'_> {
    /// The body whose own block says `text`; its shared bytes are not copied.
    pub fn body(&self, text: &str) -> RequestBody {
        let own = self.format.encode_own(&BuildToken(()), text, self.own_marker);
        RequestBody::built(&self.shared, own)
    }

    /// The body of a draft without an own block.
    pub fn whole(&self) -> RequestBody {
        RequestBody::built(&self.shared, Vec::new())
    }
}
