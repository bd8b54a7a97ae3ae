//! Random small timelines: few ids, so that prefixes are shared often, and times that lie on the
//! very millisecond at which an entry becomes readable or runs out.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::timeline::{Block, Kind, OTHER_MODEL, Request, Rules, Timeline, Ttl};

/// Choices that follow from a seed.
pub(crate) struct Draw(Pcg64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw(Pcg64::seed_from_u64(seed))
    }

    /// From 0 to `end - 1`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from((u128::from(self.0.next_u64()) * end as u128) >> 64).unwrap()
    }

    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index + 1));
        }
    }
}

/// A timeline in the order of its starts.
pub(crate) fn timeline(seed: u64) -> Timeline {
    let mut draw = Draw::new(seed);
    let (date, rules) = rules(&mut draw);
    let blocks = alphabet(&mut draw);
    let number = draw.between(2, 9);
    let mut requests: Vec<Request> = Vec::new();
    for index in 0..number {
        let request = request(&mut draw, index, &requests, &blocks);
        requests.push(request);
    }
    times(&mut draw, &mut requests);
    Timeline { date, rules, requests }
}

fn rules(draw: &mut Draw) -> (&'static str, Rules) {
    fn some<T: Clone>(draw: &mut Draw, percent: usize, values: &[T]) -> Option<T> {
        draw.chance(percent).then(|| draw.pick(values))
    }
    let both = [true, false];
    let rules = Rules {
        count: some(draw, 80, &["per_block", "collapse_tool_runs"]),
        lookback: some(draw, 85, &[1, 2, 2, 3, 3, 4, 5]),
        min_tokens: some(draw, 94, &[0, 0, 1, 40, 100, 100, 300, 500]),
        longer_ttl_extends: some(draw, 40, &both),
        match_inside_runs: some(draw, 50, &both),
        refresh_earlier: some(draw, 50, &both),
        thinking_positions: some(draw, 50, &both),
        tool_positions: some(draw, 50, &["each", "one"]),
        ttl_in_key: some(draw, 40, &both),
        write_below_hit: some(draw, 40, &both),
    };
    (draw.pick(&["2026-09-14", "2026-09-15", "2026-11-30"]), rules)
}

/// Every block that a timeline may use, in three groups: tools, system, messages.
fn alphabet(draw: &mut Draw) -> [Vec<Block>; 3] {
    let sizes = [0, 1, 39, 40, 60, 100, 100, 150, 200, 300, 700];
    let kinds = [
        Kind::Text,
        Kind::Text,
        Kind::ToolUse,
        Kind::ToolUse,
        Kind::ToolResult,
        Kind::ToolResult,
        Kind::Thinking,
        Kind::Image,
    ];
    let mut group = |letter: &str, low, high, kinds: &[Kind]| {
        let number = draw.between(low, high);
        let block = |index| {
            let (tokens, kind) = (draw.pick(&sizes), draw.pick(kinds));
            Block { id: format!("{letter}{index}"), tokens, kind, marker: None }
        };
        (0..number).map(block).collect::<Vec<Block>>()
    };
    [group("t", 0, 2, &[Kind::Tool]), group("s", 0, 2, &[Kind::System]), group("m", 2, 6, &kinds)]
}

/// A request that mostly goes on from one above, as turns, forks and repetitions do.
fn request(draw: &mut Draw, index: usize, above: &[Request], known: &[Vec<Block>; 3]) -> Request {
    let mut blocks: Vec<Block> = Vec::new();
    let source = (!above.is_empty() && draw.chance(92)).then(|| draw.below(above.len()));
    if let Some(source) = source {
        let source = &above[source].blocks;
        let kept = if draw.chance(60) { source.len() } else { draw.below(source.len() + 1) };
        blocks.extend_from_slice(&source[..kept]);
    }
    if blocks.is_empty() {
        for group in &known[..2] {
            let number = draw.below(group.len() + 1);
            blocks.extend_from_slice(&group[..number]);
        }
    }
    let more = draw.pick(if source.is_some() { &[0, 0, 1, 1, 2, 3, 5] } else { &[1, 2, 3, 4, 6] });
    for _ in 0..more {
        let last = blocks.last().map_or(0, |block| group_of(block.kind));
        let from = if draw.chance(90) { 2 } else { draw.between(last, 2) };
        if !known[from].is_empty() {
            blocks.push(draw.pick(&known[from]));
        }
    }
    let keeps_markers = draw.chance(55);
    for block in &mut blocks {
        block.marker = block.marker.filter(|_| keeps_markers);
    }
    mark(draw, &mut blocks);
    let start = Request {
        name: format!("r{index}"),
        start_ms: 0,
        first_token_ms: 0,
        model: None,
        scope: String::new(),
        params: "",
        output: draw.pick(&[0, 0, 25]),
        blocks,
    };
    in_a_cache(draw, start, source.map(|source| &above[source]))
}

/// Mostly in the cache of the request that it goes on from.
fn in_a_cache(draw: &mut Draw, request: Request, source: Option<&Request>) -> Request {
    let written = ["{}", "{\"a\":1,\"b\":{\"c\":2}}", "{\"b\": {\"c\": 2}, \"a\": 1}"];
    if let Some(source) = source.filter(|_| draw.chance(92)) {
        let params = match source.params {
            "" | "{}" => draw.pick(&["", "", "", "{}"]),
            _ => draw.pick(&written[1..]),
        };
        let (model, scope) = (source.model, source.scope.clone());
        return Request { model, scope, params, ..request };
    }
    Request {
        model: draw.chance(10).then_some(OTHER_MODEL),
        scope: draw.pick(&["", "", "", "", "", "a", "b"]).to_owned(),
        params: if draw.chance(20) { draw.pick(&written) } else { "" },
        ..request
    }
}

/// The place of a kind in the order of a prompt.
fn group_of(kind: Kind) -> usize {
    match kind {
        Kind::Tool => 0,
        Kind::System => 1,
        Kind::Text | Kind::ToolUse | Kind::ToolResult | Kind::Thinking | Kind::Image => 2,
    }
}

/// Up to four markers beside those that are there; those of an hour first.
fn mark(draw: &mut Draw, blocks: &mut [Block]) {
    if blocks.is_empty() {
        return;
    }
    for _ in 0..draw.pick(&[0, 1, 1, 2, 2, 2, 3, 4]) {
        let last = blocks.len() - 1;
        let at = if draw.chance(50) { last } else { draw.below(blocks.len()) };
        blocks[at].marker = Some(Ttl::FiveMinutes);
    }
    let mut marked: Vec<usize> =
        (0..blocks.len()).filter(|index| blocks[*index].marker.is_some()).collect();
    while marked.len() > 4 {
        let dropped = marked.remove(draw.below(marked.len()));
        blocks[dropped].marker = None;
    }
    let hours = if draw.chance(45) { 0 } else { draw.below(marked.len() + 1) };
    for (number, at) in marked.into_iter().enumerate() {
        let ttl = if number < hours { Ttl::OneHour } else { Ttl::FiveMinutes };
        blocks[at].marker = Some(ttl);
    }
}

/// Starts beside which something happens to an entry, and answers that begin beside starts.
fn times(draw: &mut Draw, requests: &mut [Request]) {
    let edges = [
        0, 0, 1, 1_000, 2_000, 30_000, 60_000, 200_000, 290_000, 299_999, 300_000, 300_001,
        3_599_999, 3_600_000, 3_600_001,
    ];
    let mut starts = vec![draw.pick(&[0, -5_000, -3_600_000, 1_234])];
    while starts.len() < requests.len() {
        let anchor = draw.pick(&starts);
        let far = i64::try_from(draw.below(4_000_000)).unwrap();
        starts.push(anchor + if draw.chance(92) { draw.pick(&edges) } else { far });
    }
    starts.sort_unstable();
    for (index, request) in requests.iter_mut().enumerate() {
        request.start_ms = starts[index];
        let edge = draw.pick(&starts[index..]) + draw.pick(&[-1, 0, 1]);
        let latency = draw.pick(&[0, 1, 1, 2_000, 2_000, 2_000, 30_000, 300_000, 400_000]);
        let first = if draw.chance(35) { edge } else { starts[index] + latency };
        request.first_token_ms = first.max(starts[index]);
    }
}
