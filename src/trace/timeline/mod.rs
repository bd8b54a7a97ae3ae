//! Timelines: JSON lines that state the blocks, sizes and times of requests.
//!
//! The first line is a header; every other line is a request. `docs/replay.md` describes the
//! format. Lines come in any order; [`Timeline::sorted`] says in which they are to be played.

mod explain;
mod header;
mod wire;
mod write;

pub use header::Header;
pub use write::write;

use std::sync::Arc;

use super::mistake::{Mistake, Place, TraceError};
use super::source::{Lines, Source};
use super::{Observed, Sizes, Traced, time_of_seconds};
use crate::cache::PrefixMap;
use crate::measure::identity;
use crate::request::json::{Member, parse, write_canonical, write_string};
use crate::request::{Payload, RequestEvent, RequestRole, StatedBlock, StatedPrompt};
use crate::units::{CacheTtl, SimTime, Tokens};

use wire::WireRequest;

/// Most tokens of one block, and of an answer.
pub const TOKENS_MAX: u64 = 1_000_000_000_000;

/// Most markers that a request may carry; more are refused by the provider.
pub const MARKERS_MAX: usize = 4;

/// Number of ids whose sizes are remembered whatever their age, and for how long the others are
/// after the start of the last request that names them.
const REMEMBERED: (usize, i64) = (1_000_000, 7_200_000);

/// A timeline whose header has been read.
#[derive(Debug)]
pub struct Timeline {
    /// Its first line.
    pub header: Header,
    source: Source,
}

/// Where each line begins, in the order of their starts; lines that start together keep their
/// order.
#[derive(Clone, Debug)]
pub struct Sorted(Vec<(SimTime, u64, u64)>);

impl Timeline {
    /// Reads the header.
    ///
    /// # Errors
    /// Where it cannot be read or is not understood.
    pub fn open(source: Source) -> Result<Timeline, TraceError> {
        let mut lines = source.lines().map_err(|error| TraceError::io(source.name(), error))?;
        let header =
            match lines.next_line().map_err(|error| TraceError::io(source.name(), error))? {
                Some(line) => {
                    let (number, bytes, ended) = (line.number, line.bytes, line.ended);
                    Header::read(Place { name: source.name(), line: number, bytes, ended })?
                }
                None => Header::default(),
            };
        Ok(Timeline { header, source })
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// Its requests as they stand. One that starts before the request above it is
    /// [`TraceError::OutOfOrder`].
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn requests(&self) -> Result<Requests<'_>, TraceError> {
        self.requests_in(None)
    }

    /// Its requests in that order.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn requests_sorted(&self, order: Sorted) -> Result<Requests<'_>, TraceError> {
        self.requests_in(Some(order.0.into_iter()))
    }

    fn requests_in(
        &self,
        order: Option<std::vec::IntoIter<(SimTime, u64, u64)>>,
    ) -> Result<Requests<'_>, TraceError> {
        let mut lines = self.source.lines().map_err(|error| self.io(error))?;
        lines.next_line().map_err(|error| self.io(error))?;
        Ok(Requests { timeline: self, lines, order, latest: None, reader: Reader::default() })
    }

    /// The order of the starts. Keeps 24 bytes a request.
    ///
    /// # Errors
    /// Where it cannot be read, or a line has no start.
    pub fn sorted(&self) -> Result<Sorted, TraceError> {
        let mut requests = self.requests()?;
        let mut order = Vec::new();
        while let Some(line) = requests.lines.next_line().map_err(|error| self.io(error))? {
            let start = wire::start_of(line.bytes).and_then(time_of_seconds);
            let (number, bytes, ended) = (line.number, line.bytes, line.ended);
            let place = Place { name: self.name(), line: number, bytes, ended };
            let start = start.ok_or_else(|| explain::request(place))?;
            order.push((start, line.number, line.offset));
        }
        order.sort();
        Ok(Sorted(order))
    }

    fn io(&self, error: std::io::Error) -> TraceError {
        TraceError::io(self.name(), error)
    }
}

/// The requests of a timeline, one after the other.
pub struct Requests<'a> {
    timeline: &'a Timeline,
    lines: Lines,
    order: Option<std::vec::IntoIter<(SimTime, u64, u64)>>,
    latest: Option<(SimTime, u64)>,
    reader: Reader,
}

impl Iterator for Requests<'_> {
    type Item = Result<Traced, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl Requests<'_> {
    fn read(&mut self) -> Result<Option<Traced>, TraceError> {
        let name = self.timeline.name();
        if let Some(order) = &mut self.order {
            let Some((_, number, offset)) = order.next() else { return Ok(None) };
            self.lines.go_to(offset, number).map_err(|error| TraceError::io(name, error))?;
        }
        let line = self.lines.next_line().map_err(|error| TraceError::io(name, error))?;
        let Some(line) = line else { return Ok(None) };
        let place = Place { name, line: line.number, bytes: line.bytes, ended: line.ended };
        let traced = self.reader.request(place, &self.timeline.header)?;
        if let Some((latest, above)) = self.latest
            && traced.event.start < latest
        {
            let message = format!("starts before the request of line {above}");
            let help = "sort the requests by `start_s`, or leave out --strict";
            let mistake = explain::at_key(place, "start_s", message, help);
            return Err(TraceError::OutOfOrder(mistake));
        }
        self.latest = Some((traced.event.start, line.number));
        Ok(Some(traced))
    }
}

/// What is known from the lines above.
#[derive(Default)]
struct Reader {
    known: PrefixMap<u128, Known>,
    forget_above: usize,
    scope: Option<Arc<str>>,
    model: Option<Arc<str>>,
    /// The parameters of the request above, as written, and the namespace that they make.
    namespace: Option<(String, Arc<str>)>,
}

/// The size of a block, and who said so.
#[derive(Clone, Copy)]
struct Known {
    tokens: u64,
    line: u64,
    last: SimTime,
}

impl Reader {
    fn request(&mut self, place: Place<'_>, header: &Header) -> Result<Traced, Box<Mistake>> {
        let wire: WireRequest<'_> =
            serde_json::from_slice(place.bytes).map_err(|_| explain::request(place))?;
        let start = time_of_seconds(wire.start_s).ok_or_else(|| explain::request(place))?;
        let first =
            time_of_seconds(wire.first_token_at_s).ok_or_else(|| explain::request(place))?;
        if !wire.is_allowed() {
            return Err(explain::request(place));
        }
        let model = wire.model.as_deref().or(header.model.as_deref()).unwrap_or_default();
        let model = reuse(&mut self.model, model);
        let scope = reuse(&mut self.scope, wire.scope.as_deref().unwrap_or_default());
        let namespace = self.namespace(wire.params.map_or("{}", |params| params.get()));
        let mut blocks = Vec::with_capacity(wire.blocks.len());
        for (index, block) in wire.blocks.iter().enumerate() {
            let identity = identity::of_name(&block.id);
            if let Some(line) = self.contradicts(identity, block.tokens, place.line, start) {
                return Err(explain::two_sizes(place, index, line));
            }
            blocks.push(StatedBlock {
                identity,
                tokens: Tokens(block.tokens),
                kind: block.kind.unwrap_or_default().into(),
                marker: block.marker.map(CacheTtl::from),
            });
        }
        self.forget(start);
        let event = RequestEvent {
            id: wire
                .request
                .map_or_else(|| format!("line-{}", place.line), |name| name.into_owned()),
            role: RequestRole::Replayed,
            start,
            first_token_at: first,
            end: first,
            scope,
            model,
            output: Tokens(wire.output_tokens.unwrap_or(0)),
            payload: Payload::Blocks(StatedPrompt {
                namespace,
                blocks,
                tail: Tokens(wire.tail_tokens.unwrap_or(0)),
            }),
        };
        let observed = wire.observed.map(Observed::from);
        Ok(Traced { line: place.line, event, sizes: Sizes::Stated, observed })
    }

    /// The line that gave the block another size.
    fn contradicts(&mut self, block: u128, tokens: u64, line: u64, last: SimTime) -> Option<u64> {
        let known = self.known.entry(block).or_insert(Known { tokens, line, last });
        known.last = last;
        (known.tokens != tokens).then_some(known.line)
    }

    fn forget(&mut self, now: SimTime) {
        let (number, millis) = REMEMBERED;
        if self.known.len() > self.forget_above.max(number) {
            let moment = now.plus_ms(-millis);
            self.known.retain(|_, known| moment <= known.last);
            self.forget_above = 2 * self.known.len();
        }
    }

    fn namespace(&mut self, params: &str) -> Arc<str> {
        match &self.namespace {
            Some((written, namespace)) if written == params => Arc::clone(namespace),
            Some(_) | None => {
                let namespace: Arc<str> = Arc::from(namespace(params));
                self.namespace = Some((params.to_owned(), Arc::clone(&namespace)));
                namespace
            }
        }
    }
}

/// Parameters as canonical lines in the order of their keys, as a rendered body's are. The model is
/// not among them: requests to two models never share.
fn namespace(params: &str) -> String {
    let bytes = params.as_bytes();
    let root = parse(bytes).ok();
    let members = root.as_ref().map_or(&[][..], |root| root.members());
    let line = |member: &Member| {
        let mut line = Vec::new();
        write_string(&mut line, &member.key);
        line.push(b':');
        write_canonical(&mut line, bytes, &member.node);
        line.push(b'\n');
        String::from_utf8_lossy(&line).into_owned()
    };
    let mut lines: Vec<String> = members.iter().map(line).collect();
    lines.sort();
    lines.concat()
}

/// The same text in memory as last time where it is the same.
fn reuse(last: &mut Option<Arc<str>>, text: &str) -> Arc<str> {
    match last {
        Some(known) if **known == *text => Arc::clone(known),
        Some(_) | None => Arc::clone(last.insert(Arc::from(text))),
    }
}
