//! The rules of `docs/model.md`, sections 4 and 5, written down a second time: plain lists,
//! prefixes as text, every question answered by looking through everything. Slow, and meant to be
//! read.

use std::collections::BTreeMap;

use crate::timeline::{Kind, OTHER_MODEL, Request, Timeline, Ttl};

/// What one request comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) name: String,
    pub(crate) read: u64,
    pub(crate) write_5m: u64,
    pub(crate) write_1h: u64,
    pub(crate) uncached: u64,
    pub(crate) reason: &'static str,
    pub(crate) shared_end: u64,
    /// What a perfect cache would read.
    pub(crate) perfect: u64,
}

/// How often something worth testing happened.
pub(crate) type Seen = BTreeMap<&'static str, u64>;

/// All rules of a timeline, defaults filled in.
struct Settings {
    collapse: bool,
    lookback: usize,
    min_tokens: Option<u64>,
    longer_ttl_extends: bool,
    match_inside_runs: bool,
    refresh_earlier: bool,
    thinking_positions: bool,
    one_tool_position: bool,
    ttl_in_key: bool,
    write_below_hit: bool,
}

impl Settings {
    fn of(timeline: &Timeline) -> Settings {
        let rules = &timeline.rules;
        let documented =
            if timeline.date < "2026-09-15" { "per_block" } else { "collapse_tool_runs" };
        Settings {
            collapse: rules.count.unwrap_or(documented) == "collapse_tool_runs",
            lookback: rules.lookback.unwrap_or(20),
            min_tokens: rules.min_tokens,
            longer_ttl_extends: rules.longer_ttl_extends.unwrap_or(false),
            match_inside_runs: rules.match_inside_runs.unwrap_or(true),
            refresh_earlier: rules.refresh_earlier.unwrap_or(true),
            thinking_positions: rules.thinking_positions.unwrap_or(true),
            one_tool_position: rules.tool_positions.unwrap_or("each") == "one",
            ttl_in_key: rules.ttl_in_key.unwrap_or(false),
            write_below_hit: rules.write_below_hit.unwrap_or(false),
        }
    }
}

/// An entry. Those that have run out stay in the list.
#[derive(Clone, Debug)]
struct Entry {
    prefix: String,
    ttl: Ttl,
    readable_ms: i64,
    over_ms: i64,
}

impl Entry {
    fn is_alive(&self, now: i64) -> bool {
        now < self.over_ms
    }

    fn is_readable(&self, now: i64) -> bool {
        self.readable_ms <= now && self.is_alive(now)
    }
}

/// A request with everything about it that the rules ask for.
struct Prompt<'a> {
    request: &'a Request,
    /// The prefix that ends with each block, as text.
    prefixes: Vec<String>,
    /// Its tokens.
    sizes: Vec<u64>,
    /// The position of each block.
    positions: Vec<usize>,
    /// Where its markers are.
    markers: Vec<(usize, Ttl)>,
    /// Those whose prefix has the minimum.
    effective: Vec<(usize, Ttl)>,
}

/// What happened when a request came: the entries before it, how far it read, where it wrote.
struct Access {
    before: Vec<Entry>,
    /// Blocks that it read.
    read: usize,
    wrote: Vec<(usize, Ttl)>,
}

/// Every request of a timeline, in the order in which they are played.
pub(crate) fn interpret(timeline: &Timeline, seen: &mut Seen) -> Vec<Answer> {
    let settings = Settings::of(timeline);
    let mut requests: Vec<&Request> = timeline.requests.iter().collect();
    requests.sort_by_key(|request| request.start_ms);
    let prompts: Vec<Prompt<'_>> =
        requests.into_iter().map(|request| Prompt::of(request, &settings)).collect();
    let mut entries: Vec<Entry> = Vec::new();
    let mut accesses = Vec::new();
    for prompt in &prompts {
        let before = entries.clone();
        let read = read(prompt, &settings, &mut entries, seen);
        let wrote = write(prompt, &settings, read, &mut entries, seen);
        accesses.push(Access { before, read, wrote });
    }
    let answer = |index: usize| answer(&prompts, &accesses, index, &settings, seen);
    (0..prompts.len()).map(answer).collect()
}

impl<'a> Prompt<'a> {
    fn of(request: &'a Request, settings: &Settings) -> Prompt<'a> {
        let model = request.model.unwrap_or("");
        // The same parameters in another order are the same.
        let params = match request.params {
            "" | "{}" => "",
            written => {
                if written.contains("\"c\"") {
                    "a and b"
                } else {
                    written
                }
            }
        };
        let mut prefix = format!("{}|{model}|{params}|", request.scope);
        let (mut prefixes, mut sizes, mut size) = (Vec::new(), Vec::new(), 0);
        for block in &request.blocks {
            prefix = format!("{prefix}/{}", block.id);
            size += block.tokens;
            prefixes.push(prefix.clone());
            sizes.push(size);
        }
        let of_model = if request.model == Some(OTHER_MODEL) { 4_096 } else { 512 };
        let least = settings.min_tokens.unwrap_or(of_model);
        let markers: Vec<(usize, Ttl)> = request
            .blocks
            .iter()
            .enumerate()
            .filter_map(|(index, block)| block.marker.map(|ttl| (index, ttl)))
            .collect();
        let effective = markers.iter().copied().filter(|(at, _)| sizes[*at] >= least).collect();
        let positions = positions(request, settings);
        Prompt { request, prefixes, sizes, positions, markers, effective }
    }

    /// Tokens of the first `blocks` blocks.
    fn tokens(&self, blocks: usize) -> u64 {
        blocks.checked_sub(1).map_or(0, |last| self.sizes[last])
    }

    /// How many blocks it has in common with another, from the start.
    fn shares(&self, other: &Prompt<'_>) -> usize {
        self.prefixes.iter().take_while(|prefix| other.prefixes.contains(prefix)).count()
    }

    fn start(&self) -> i64 {
        self.request.start_ms
    }
}

/// "Each block is a position", but for runs of tool calls and of results, and where a switch joins
/// blocks.
fn positions(request: &Request, settings: &Settings) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut position = 0;
    for (index, block) in request.blocks.iter().enumerate() {
        if index > 0 {
            let above = request.blocks[index - 1].kind;
            let joins = match block.kind {
                Kind::ToolUse | Kind::ToolResult => settings.collapse && above == block.kind,
                Kind::Thinking => !settings.thinking_positions,
                Kind::Tool => settings.one_tool_position && above == Kind::Tool,
                Kind::System | Kind::Text | Kind::Image => false,
            };
            if !joins {
                position += 1;
            }
        }
        positions.push(position);
    }
    positions
}

/// Whether a marker finds an entry, were it there, at the end of block `at`.
fn looks_at(prompt: &Prompt<'_>, settings: &Settings, marker: usize, at: usize) -> bool {
    if at > marker {
        return false;
    }
    let position = |block: usize| prompt.positions[block];
    let in_window = position(marker) - position(at) < settings.lookback;
    let ends_position = at == marker || position(at) != position(at + 1);
    in_window && (settings.match_inside_runs || ends_position)
}

/// Reads the longest entry that any marker finds, and restarts what a read restarts. Returns how
/// many blocks were read.
fn read(prompt: &Prompt<'_>, settings: &Settings, entries: &mut [Entry], seen: &mut Seen) -> usize {
    let now = prompt.start();
    let same = |ttl: Ttl, entry: &Entry| !settings.ttl_in_key || ttl == entry.ttl;
    let finds = |(marker, ttl): (usize, Ttl), entry: &Entry, at: usize| {
        entry.prefix == prompt.prefixes[at]
            && entry.is_readable(now)
            && same(ttl, entry)
            && looks_at(prompt, settings, marker, at)
    };
    // The longest; of two entries of one prefix the one that the last marker finds.
    let mut read: Option<(usize, usize)> = None;
    for marker in prompt.effective.iter().rev() {
        for (number, entry) in entries.iter().enumerate() {
            let found = (0..prompt.prefixes.len()).find(|at| finds(*marker, entry, *at));
            if let Some(at) = found.filter(|at| read.is_none_or(|(longest, _)| longest < *at)) {
                read = Some((at, number));
            }
        }
    }
    let Some((end, number)) = read else { return 0 };
    if prompt.effective.iter().all(|(marker, _)| *marker != end) {
        let next = prompt.positions[end + 1];
        let inside = prompt.positions[end] == next;
        note(seen, if inside { "found inside a position" } else { "found by looking back" });
    }
    for (index, entry) in entries.iter_mut().enumerate() {
        let is_read = index == number;
        let marker = prompt.effective.iter().find(|(at, ttl)| {
            *at <= end && prompt.prefixes[*at] == entry.prefix && same(*ttl, entry)
        });
        let marked = marker.is_some() && entry.is_readable(now);
        let edges = [
            (is_read && entry.readable_ms == now, "read as its answer begins"),
            (is_read && entry.over_ms == now + 1, "read in its last millisecond"),
            (!is_read && marked && settings.refresh_earlier, "restarted below the read"),
        ];
        edges.iter().filter(|(happened, _)| *happened).for_each(|(_, what)| note(seen, what));
        if is_read || marked && settings.refresh_earlier {
            entry.over_ms = entry.over_ms.max(now + entry.ttl.millis());
        }
        let longer = marker.is_some_and(|(_, ttl)| *ttl > entry.ttl);
        if settings.longer_ttl_extends && marked && longer {
            entry.ttl = Ttl::OneHour;
            entry.over_ms = now + entry.ttl.millis();
            note(seen, "longer lifetime by a read");
        }
    }
    end + 1
}

/// Writes entries at the effective markers behind what was read.
fn write(
    prompt: &Prompt<'_>,
    settings: &Settings,
    read: usize,
    entries: &mut Vec<Entry>,
    seen: &mut Seen,
) -> Vec<(usize, Ttl)> {
    let now = prompt.start();
    let mut wrote = Vec::new();
    for (at, ttl) in prompt.effective.iter().copied() {
        if at < read && !settings.write_below_hit {
            continue;
        }
        wrote.push((at, ttl));
        let entry = Entry {
            prefix: prompt.prefixes[at].clone(),
            ttl,
            readable_ms: prompt.request.first_token_ms,
            over_ms: now + ttl.millis(),
        };
        let same = |other: &&mut Entry| {
            other.prefix == entry.prefix && (!settings.ttl_in_key || other.ttl == ttl)
        };
        match entries.iter_mut().find(same) {
            Some(other) if other.is_alive(now) => {
                note(
                    seen,
                    if other.is_readable(now) { "written twice" } else { "written at once" },
                );
                other.readable_ms = other.readable_ms.min(entry.readable_ms);
                other.over_ms = other.over_ms.max(entry.over_ms);
                other.ttl = other.ttl.max(ttl);
            }
            Some(other) => *other = entry,
            None => entries.push(entry),
        }
    }
    wrote
}

fn answer(
    prompts: &[Prompt<'_>],
    accesses: &[Access],
    index: usize,
    settings: &Settings,
    seen: &mut Seen,
) -> Answer {
    let (prompt, access) = (&prompts[index], &accesses[index]);
    let behind = || prompt.effective.iter().filter(|(at, _)| at + 1 > access.read);
    let a = access.read;
    let b = behind().filter(|(_, ttl)| *ttl == Ttl::OneHour).map(|(at, _)| at + 1).max();
    let b = b.unwrap_or(a);
    let c = behind().map(|(at, _)| at + 1).max().unwrap_or(b);
    let tokens = |blocks| prompt.tokens(blocks);
    let others = || (0..prompts.len()).filter(|other| *other != index);
    let no_later = |other: &usize| prompts[*other].start() <= prompt.start();
    let shares = |other: usize| prompt.shares(&prompts[other]);
    let shared = others().filter(no_later).map(shares).max().unwrap_or(0);
    let perfect = (0..index).map(shares).max().unwrap_or(0);
    Answer {
        name: prompt.request.name.clone(),
        read: tokens(a),
        write_1h: tokens(b) - tokens(a),
        write_5m: tokens(c) - tokens(b),
        uncached: tokens(prompt.sizes.len()) - tokens(c),
        reason: reason(prompts, accesses, index, shared, settings, seen),
        shared_end: tokens(shared),
        perfect: tokens(perfect),
    }
}

/// The first of the reasons that applies.
fn reason(
    prompts: &[Prompt<'_>],
    accesses: &[Access],
    index: usize,
    shared: usize,
    settings: &Settings,
    seen: &mut Seen,
) -> &'static str {
    let (prompt, access) = (&prompts[index], &accesses[index]);
    if prompt.tokens(shared) == 0 {
        return "first_of_prefix";
    }
    if prompt.tokens(access.read) == prompt.tokens(shared) {
        return "hit";
    }
    if prompt.markers.is_empty() {
        return "no_marker";
    }
    let places = (access.read..shared).rev().map(|at| Place::at(prompts, accesses, index, at));
    let deciding = places.into_iter().find(Place::is_any);
    let searches = |at: usize, ttl: Ttl| {
        let mut markers = prompt.markers.iter();
        markers.any(|(marker, other)| *marker >= at && (!settings.ttl_in_key || *other == ttl))
    };
    if let Some(place) = &deciding
        && place.readable.iter().any(|ttl| !searches(place.block, *ttl))
    {
        note(seen, "no marker at or behind a readable entry");
        return "no_marker";
    }
    if prompt.effective.is_empty() {
        return "below_minimum";
    }
    let Some(place) = deciding else { return "no_entry_at_boundary" };
    if place.marked_below_minimum {
        return "below_minimum";
    }
    if place.not_yet_readable {
        return "not_yet_readable";
    }
    if let Some((late_ms, ttl)) = place.over_since {
        let lifetime = match ttl {
            Ttl::FiveMinutes => "expired after five minutes",
            Ttl::OneHour => "expired after an hour",
        };
        note(seen, lifetime);
        if late_ms == 0 {
            note(seen, "expired to the millisecond");
        }
        return "expired";
    }
    "lookback_exceeded"
}

/// What happened at the end of one block.
struct Place {
    block: usize,
    /// Lifetimes of the entries that are alive and readable.
    readable: Vec<Ttl>,
    marked_below_minimum: bool,
    not_yet_readable: bool,
    /// An entry that has run out: for how many milliseconds, and its lifetime.
    over_since: Option<(i64, Ttl)>,
}

impl Place {
    fn at(prompts: &[Prompt<'_>], accesses: &[Access], index: usize, block: usize) -> Place {
        let prompt = &prompts[index];
        let now = prompt.start();
        let here = |entry: &&Entry| entry.prefix == prompt.prefixes[block];
        let mut place = Place {
            block,
            readable: Vec::new(),
            marked_below_minimum: false,
            not_yet_readable: false,
            over_since: None,
        };
        for entry in accesses[index].before.iter().filter(here) {
            if entry.is_readable(now) {
                place.readable.push(entry.ttl);
            } else if entry.is_alive(now) {
                place.not_yet_readable = true;
            } else {
                place.over_since = Some((now - entry.over_ms, entry.ttl));
            }
        }
        for (other, theirs) in prompts.iter().enumerate() {
            let same = theirs.prefixes.get(block) == Some(&prompt.prefixes[block]);
            if other == index || theirs.start() > now || !same {
                continue;
            }
            let marked = theirs.markers.iter().any(|(at, _)| *at == block);
            let effective = theirs.effective.iter().any(|(at, _)| *at == block);
            place.marked_below_minimum |= marked && !effective;
            let wrote = accesses[other].wrote.iter().any(|(at, _)| *at == block);
            place.not_yet_readable |= wrote && theirs.start() == now;
        }
        place
    }

    fn is_any(&self) -> bool {
        let left = !self.readable.is_empty() || self.not_yet_readable || self.over_since.is_some();
        left || self.marked_below_minimum
    }
}

fn note(seen: &mut Seen, what: &'static str) {
    *seen.entry(what).or_default() += 1;
}
