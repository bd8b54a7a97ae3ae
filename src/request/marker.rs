//! Where cache markers go: policies, the explicit grammar, and their resolution to blocks.

use super::conversation::Role;
use super::rendered::BlockKind;
use crate::units::CacheTtl;

/// Markers a request may carry.
pub const MARKERS_MAX: usize = 4;

/// One explicit marker as written in a scenario, e.g. `messages.3.last@1h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerSpec {
    /// The place.
    pub place: MarkerPlace,
    /// Its lifetime where one is written.
    pub ttl: Option<CacheTtl>,
}

/// A place in the explicit grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerPlace {
    /// `tools.last`
    LastTool,
    /// `system.N`
    System(usize),
    /// `messages.N.last`
    MessageLast(usize),
    /// `messages.N.M`
    MessageBlock(usize, usize),
    /// `directive`
    Directive,
    /// `before_directive`
    BeforeDirective,
    /// `parent_end`
    ParentEnd,
}

/// How markers are placed on a child's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkerPolicy {
    /// Identity line, main prompt, and the last block of the last user message.
    CcTail,
    /// Identity line, main prompt, and the last block that all children share.
    BeforeDirective,
    /// As `BeforeDirective`, and the tail.
    BeforeDirectiveAndTail,
    /// Identity line, main prompt, and the last block of the second-to-last message.
    SecondToLastMessage,
    /// Identity line, main prompt, the last block inherited from the parent, and the tail.
    ParentEndAndTail,
    /// The last tool, identity line, main prompt, and the tail.
    ToolsAndTail,
    /// One marker at the top level of the body: the provider marks the last block that can carry
    /// one.
    Automatic,
    /// No marker.
    None,
    /// The listed markers and no others.
    Explicit(Vec<MarkerSpec>),
}

/// Every named policy with its name in scenario files.
pub const POLICIES: [(&str, MarkerPolicy); 8] = [
    ("cc_tail", MarkerPolicy::CcTail),
    ("before_directive", MarkerPolicy::BeforeDirective),
    ("before_directive_and_tail", MarkerPolicy::BeforeDirectiveAndTail),
    ("second_to_last_message", MarkerPolicy::SecondToLastMessage),
    ("parent_end_and_tail", MarkerPolicy::ParentEndAndTail),
    ("tools_and_tail", MarkerPolicy::ToolsAndTail),
    ("automatic", MarkerPolicy::Automatic),
    ("none", MarkerPolicy::None),
];

impl MarkerPolicy {
    /// Its name in scenario files; `explicit` for a list of markers.
    pub fn name(&self) -> &'static str {
        let named = POLICIES.iter().find(|(_, policy)| policy == self);
        named.map_or("explicit", |(name, _)| name)
    }

    /// Whether the markers are listed one by one.
    pub fn is_explicit(&self) -> bool {
        matches!(self, MarkerPolicy::Explicit(_))
    }

    /// How the parent and fresh agents are marked beside children of this policy: as Claude Code
    /// does, unless the policy is to mark nothing or to let the provider mark.
    pub fn of_parent(&self) -> MarkerPolicy {
        match self {
            MarkerPolicy::Automatic => MarkerPolicy::Automatic,
            MarkerPolicy::None => MarkerPolicy::None,
            MarkerPolicy::CcTail
            | MarkerPolicy::BeforeDirective
            | MarkerPolicy::BeforeDirectiveAndTail
            | MarkerPolicy::SecondToLastMessage
            | MarkerPolicy::ParentEndAndTail
            | MarkerPolicy::ToolsAndTail
            | MarkerPolicy::Explicit(_) => MarkerPolicy::CcTail,
        }
    }
}

/// Why markers cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// The text is not in the grammar.
    #[error(
        "marker `{text}` is not understood; allowed: tools.last, system.N, messages.N.last, \
         messages.N.M, directive, \
         before_directive, parent_end, each optionally followed by @5m or @1h"
    )]
    Grammar {
        /// The text.
        text: String,
    },
    /// The request has no such block.
    #[error("marker `{place}` names a block that the request does not have ({have})")]
    NoSuchBlock {
        /// The place as written.
        place: String,
        /// What the request has.
        have: String,
    },
    /// The block cannot carry a marker.
    #[error("marker `{place}` is on a {kind} block, which cannot carry one")]
    NotMarkable {
        /// The place as written.
        place: String,
        /// Kind of the block.
        kind: &'static str,
    },
    /// More than [`MARKERS_MAX`].
    #[error("{count} markers, but a request may carry at most {MARKERS_MAX}")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// Two markers with different lifetimes on one block.
    #[error("marker `{place}` is set twice")]
    Twice {
        /// The place as written.
        place: String,
    },
    /// A one-hour marker behind a five-minute one.
    #[error(
        "the 1h marker at {late} stands behind the 5m marker at {early}: every 1h marker must come \
         before every 5m \
         marker; set parent.cache.ttl and fork.ttl to the same lifetime, or write the lifetimes out"
    )]
    TtlOrder {
        /// The five-minute marker.
        early: String,
        /// The one-hour marker.
        late: String,
    },
}

impl MarkerSpec {
    /// Reads one explicit marker.
    ///
    /// # Errors
    /// [`MarkerError::Grammar`].
    pub fn parse(text: &str) -> Result<MarkerSpec, MarkerError> {
        let (place, ttl) = match text.split_once('@') {
            None => (text, None),
            Some((place, "5m")) => (place, Some(CacheTtl::FiveMinutes)),
            Some((place, "1h")) => (place, Some(CacheTtl::OneHour)),
            Some(_) => ("", None),
        };
        let place = MarkerPlace::parse(place)
            .ok_or_else(|| MarkerError::Grammar { text: text.to_owned() })?;
        Ok(MarkerSpec { place, ttl })
    }
}

impl MarkerPlace {
    fn parse(text: &str) -> Option<MarkerPlace> {
        match text {
            "tools.last" => return Some(MarkerPlace::LastTool),
            "directive" => return Some(MarkerPlace::Directive),
            "before_directive" => return Some(MarkerPlace::BeforeDirective),
            "parent_end" => return Some(MarkerPlace::ParentEnd),
            _ => {}
        }
        let parts: Vec<&str> = text.split('.').collect();
        match parts[..] {
            ["system", n] => Some(MarkerPlace::System(index(n)?)),
            ["messages", n, "last"] => Some(MarkerPlace::MessageLast(index(n)?)),
            ["messages", n, m] => Some(MarkerPlace::MessageBlock(index(n)?, index(m)?)),
            _ => None,
        }
    }
}

fn index(text: &str) -> Option<usize> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

impl std::fmt::Display for MarkerPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MarkerPlace::LastTool => f.write_str("tools.last"),
            MarkerPlace::System(n) => write!(f, "system.{n}"),
            MarkerPlace::MessageLast(n) => write!(f, "messages.{n}.last"),
            MarkerPlace::MessageBlock(n, m) => write!(f, "messages.{n}.{m}"),
            MarkerPlace::Directive => f.write_str("directive"),
            MarkerPlace::BeforeDirective => f.write_str("before_directive"),
            MarkerPlace::ParentEnd => f.write_str("parent_end"),
        }
    }
}

/// The address of a block in a request; the order is the provider's cache order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockAddress {
    /// A tool by index.
    Tool(usize),
    /// A system block by index.
    System(usize),
    /// A block of a message: message index, block index.
    Message(usize, usize),
}

impl std::fmt::Display for BlockAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BlockAddress::Tool(n) => write!(f, "tools.{n}"),
            BlockAddress::System(n) => write!(f, "system.{n}"),
            BlockAddress::Message(n, m) => write!(f, "messages.{n}.{m}"),
        }
    }
}

/// A block as marker placement sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// Its kind.
    pub kind: BlockKind,
    /// Whether it can carry a marker.
    pub markable: bool,
}

/// A message as marker placement sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageShape {
    /// Who speaks.
    pub role: Role,
    /// Its blocks in order.
    pub blocks: Vec<BlockShape>,
}

/// A request as marker placement sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptShape {
    /// Number of tools.
    pub tools: usize,
    /// System blocks in order; a billing line cannot carry a marker.
    pub system: Vec<BlockShape>,
    /// Messages in order.
    pub messages: Vec<MessageShape>,
    /// How many of the messages are inherited from the parent.
    pub inherited: usize,
    /// True where the very last block is the request's own.
    pub own_block: bool,
}

/// The markers of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    markers: Vec<(BlockAddress, CacheTtl)>,
    automatic: Option<CacheTtl>,
    own: Option<BlockAddress>,
}

impl Placement {
    /// Markers on blocks, in cache order.
    pub fn markers(&self) -> &[(BlockAddress, CacheTtl)] {
        &self.markers
    }

    /// The lifetime of the top-level marker, where there is one.
    pub fn automatic(&self) -> Option<CacheTtl> {
        self.automatic
    }

    /// The marker on a block.
    pub fn at(&self, address: BlockAddress) -> Option<CacheTtl> {
        self.markers.iter().find(|(at, _)| *at == address).map(|(_, ttl)| *ttl)
    }

    /// The marker on the request's own block.
    pub fn own_marker(&self) -> Option<CacheTtl> {
        self.own.and_then(|address| self.at(address))
    }
}

/// Lifetimes of markers: those on tools and system keep the parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerTtls {
    /// On tools and system blocks.
    pub parent: CacheTtl,
    /// On message blocks.
    pub fork: CacheTtl,
}

/// Places the markers of `policy` on a request of this shape.
///
/// # Errors
/// Where an explicit marker names no markable block, there are more than [`MARKERS_MAX`], or a
/// one-hour marker stands behind a five-minute one.
pub fn place(
    policy: &MarkerPolicy,
    shape: &PromptShape,
    ttls: MarkerTtls,
) -> Result<Placement, MarkerError> {
    let own = if shape.own_block { shape.last_block() } else { None };
    let mut placement = Placement { own, ..Placement::default() };
    match policy {
        MarkerPolicy::None => return Ok(placement),
        MarkerPolicy::Automatic => {
            placement.automatic = Some(ttls.fork);
            return Ok(placement);
        }
        MarkerPolicy::Explicit(specs) => placement.markers = explicit(specs, shape, ttls)?,
        MarkerPolicy::CcTail
        | MarkerPolicy::BeforeDirective
        | MarkerPolicy::BeforeDirectiveAndTail
        | MarkerPolicy::SecondToLastMessage
        | MarkerPolicy::ParentEndAndTail
        | MarkerPolicy::ToolsAndTail => placement.markers = named(policy, shape, ttls),
    }
    check(&placement.markers)?;
    Ok(placement)
}

fn named(
    policy: &MarkerPolicy,
    shape: &PromptShape,
    ttls: MarkerTtls,
) -> Vec<(BlockAddress, CacheTtl)> {
    let tail = shape.tail();
    let in_messages: [Option<BlockAddress>; 2] = match policy {
        MarkerPolicy::BeforeDirective => [shape.before_own(), None],
        MarkerPolicy::BeforeDirectiveAndTail => [shape.before_own(), tail],
        MarkerPolicy::SecondToLastMessage => [shape.second_to_last(), None],
        MarkerPolicy::ParentEndAndTail => [shape.parent_end(), tail],
        MarkerPolicy::CcTail
        | MarkerPolicy::ToolsAndTail
        | MarkerPolicy::Automatic
        | MarkerPolicy::None
        | MarkerPolicy::Explicit(_) => [tail, None],
    };
    let mut markers: Vec<(BlockAddress, CacheTtl)> = Vec::new();
    if *policy == MarkerPolicy::ToolsAndTail && shape.tools > 0 {
        markers.push((BlockAddress::Tool(shape.tools - 1), ttls.parent));
    }
    markers.extend(shape.system_markers().map(|address| (address, ttls.parent)));
    markers.extend(in_messages.into_iter().flatten().map(|address| (address, ttls.fork)));
    markers.sort_by_key(|(address, _)| *address);
    markers.dedup_by_key(|(address, _)| *address);
    let identity = shape.system_markers().next();
    if markers.len() > MARKERS_MAX {
        markers.retain(|(address, _)| Some(*address) != identity);
    }
    markers
}

fn explicit(
    specs: &[MarkerSpec],
    shape: &PromptShape,
    ttls: MarkerTtls,
) -> Result<Vec<(BlockAddress, CacheTtl)>, MarkerError> {
    let mut markers: Vec<(BlockAddress, CacheTtl)> = Vec::new();
    for spec in specs {
        let address = shape.resolve(spec.place)?;
        let default = match address {
            BlockAddress::Tool(_) | BlockAddress::System(_) => ttls.parent,
            BlockAddress::Message(..) => ttls.fork,
        };
        if markers.iter().any(|(at, _)| *at == address) {
            return Err(MarkerError::Twice { place: spec.place.to_string() });
        }
        markers.push((address, spec.ttl.unwrap_or(default)));
    }
    markers.sort_by_key(|(address, _)| *address);
    Ok(markers)
}

fn check(markers: &[(BlockAddress, CacheTtl)]) -> Result<(), MarkerError> {
    if markers.len() > MARKERS_MAX {
        return Err(MarkerError::TooMany { count: markers.len() });
    }
    for pair in markers.windows(2) {
        if let [(early, CacheTtl::FiveMinutes), (late, CacheTtl::OneHour)] = pair {
            return Err(MarkerError::TtlOrder { early: early.to_string(), late: late.to_string() });
        }
    }
    Ok(())
}

impl PromptShape {
    /// Identity line and main prompt: the first and the last system block that can carry a marker.
    fn system_markers(&self) -> impl Iterator<Item = BlockAddress> + use<> {
        let first = self.system.iter().position(|block| block.markable);
        let last = self
            .system
            .iter()
            .rposition(|block| block.markable)
            .filter(|last| Some(*last) != first);
        [first, last].into_iter().flatten().map(BlockAddress::System)
    }

    fn last_block(&self) -> Option<BlockAddress> {
        let message = self.messages.len().checked_sub(1)?;
        let block = self.messages[message].blocks.len().checked_sub(1)?;
        Some(BlockAddress::Message(message, block))
    }

    /// The last block, at or before `message` and `end`, that can carry a marker and satisfies the
    /// message test.
    fn markable_up_to(&self, message: usize, end: usize) -> Option<BlockAddress> {
        (0..=message).rev().find_map(|m| {
            let blocks = &self.messages[m].blocks;
            let end = if m == message { end.min(blocks.len()) } else { blocks.len() };
            let block = blocks[..end].iter().rposition(|block| block.markable)?;
            Some(BlockAddress::Message(m, block))
        })
    }

    /// The last markable block of the last user message.
    fn tail(&self) -> Option<BlockAddress> {
        let message = self.messages.iter().rposition(|message| message.role == Role::User)?;
        let block = self.messages[message].blocks.iter().rposition(|block| block.markable)?;
        Some(BlockAddress::Message(message, block))
    }

    /// The last markable block before the own block; where there is no own block, the last of all.
    fn before_own(&self) -> Option<BlockAddress> {
        let message = self.messages.len().checked_sub(1)?;
        let len = self.messages[message].blocks.len();
        self.markable_up_to(message, if self.own_block { len.saturating_sub(1) } else { len })
    }

    fn second_to_last(&self) -> Option<BlockAddress> {
        let message = self.messages.len().checked_sub(2)?;
        self.markable_up_to(message, usize::MAX)
    }

    fn parent_end(&self) -> Option<BlockAddress> {
        self.markable_up_to(self.inherited.checked_sub(1)?, usize::MAX)
    }

    fn resolve(&self, place: MarkerPlace) -> Result<BlockAddress, MarkerError> {
        let missing = || MarkerError::NoSuchBlock {
            place: place.to_string(),
            have: format!(
                "{} tools, {} system blocks, {} messages",
                self.tools,
                self.system.len(),
                self.messages.len()
            ),
        };
        let address = match place {
            MarkerPlace::LastTool => self.tools.checked_sub(1).map(BlockAddress::Tool),
            MarkerPlace::System(n) => Some(BlockAddress::System(n)),
            MarkerPlace::MessageLast(n) => {
                let last =
                    self.messages.get(n).and_then(|message| message.blocks.len().checked_sub(1));
                last.map(|block| BlockAddress::Message(n, block))
            }
            MarkerPlace::MessageBlock(n, m) => Some(BlockAddress::Message(n, m)),
            MarkerPlace::Directive => self.last_block().filter(|_| self.own_block),
            MarkerPlace::BeforeDirective => self.before_own(),
            MarkerPlace::ParentEnd => self.parent_end(),
        };
        let address = address.ok_or_else(missing)?;
        let block = self.block(address).ok_or_else(missing)?;
        if !block.markable {
            return Err(MarkerError::NotMarkable {
                place: place.to_string(),
                kind: block.kind.as_str(),
            });
        }
        Ok(address)
    }

    fn block(&self, address: BlockAddress) -> Option<BlockShape> {
        match address {
            BlockAddress::Tool(n) => {
                (n < self.tools).then_some(BlockShape { kind: BlockKind::Tool, markable: true })
            }
            BlockAddress::System(n) => self.system.get(n).copied(),
            BlockAddress::Message(n, m) => self.messages.get(n)?.blocks.get(m).copied(),
        }
    }
}
