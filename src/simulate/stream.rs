//! The simulator: requests in order of their start in, one verdict a request out.
//!
//! It remembers what prompts contained and what was written, and nothing of the requests
//! themselves, so a stream of any length can be played. What nobody has sent for
//! [`REMEMBERED_MS`] is forgotten once more than [`REMEMBERED_PREFIXES`] prefixes are known: no
//! read depends on it, only whether an old entry counts as expired or as never written.

use std::collections::{HashMap, HashSet};

use super::reason::{Marks, reason_of};
use crate::cache::{CacheBlock, CacheOutcome, CacheRequest, CacheRules, PrefixMap, PromptCache};
use crate::record::Reason;
use crate::units::{SimTime, Tokens};

/// How long a prefix is remembered after the start of the last request that contained it: twice the
/// longest lifetime.
pub const REMEMBERED_MS: i64 = 7_200_000;

/// Number of prefixes up to which nothing is forgotten.
pub const REMEMBERED_PREFIXES: usize = 1_000_000;

/// One request on its way into the simulator.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Whose cache it uses: scope and model. Requests of two lanes never share.
    pub lane: (&'a str, &'a str),
    /// The rules by which it is billed; `None`, for all requests of its lane, where nothing is
    /// cached.
    pub rules: Option<&'a CacheRules>,
    /// Its blocks in the provider's order.
    pub blocks: &'a [CacheBlock],
    /// Tokens behind them, which no cache holds.
    pub tail: Tokens,
    /// When it is sent.
    pub start: SimTime,
    /// When its response begins.
    pub readable_at: SimTime,
    /// Where blocks are known to be those of other requests.
    pub siblings: Option<Siblings>,
}

/// The first blocks of a request are known to be those of its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Siblings {
    /// The same for all siblings, another for all others.
    pub key: usize,
    /// Number of blocks that all of them have in common.
    pub shared: usize,
}

/// Requests that start at one moment, in the order in which they are sent.
pub trait Together {
    /// How many they are.
    fn len(&self) -> usize;

    /// True where there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them; called several times for each.
    fn arrival(&mut self, index: usize) -> Arrival<'_>;
}

/// What became of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What the cache made of it.
    pub outcome: CacheOutcome,
    /// Why it read no more.
    pub reason: Reason,
    /// Number of leading blocks that another request, starting no later, also has.
    pub shared_end: usize,
    /// Number of leading blocks that a request before it also has; of those that start together the
    /// ones sent before it count. What a perfect cache reads.
    pub seen_end: usize,
}

/// Everything that is remembered of the requests played so far.
pub struct Simulator {
    lanes: Vec<Lane>,
    by_name: HashMap<String, HashMap<String, usize>>,
    group: u64,
    /// Number of prefixes up to which nothing is forgotten, at least.
    remembers: usize,
    forgets_above: usize,
    remembered: usize,
}

impl Default for Simulator {
    fn default() -> Simulator {
        Simulator::remembering(REMEMBERED_PREFIXES)
    }
}

impl Simulator {
    /// A simulator that has played nothing.
    pub fn new() -> Simulator {
        Simulator::default()
    }

    /// A simulator that forgets nothing as long as it knows no more than `prefixes` prefixes.
    pub fn remembering(prefixes: usize) -> Simulator {
        Simulator {
            lanes: Vec::new(),
            by_name: HashMap::new(),
            group: 0,
            remembers: prefixes,
            forgets_above: prefixes,
            remembered: 0,
        }
    }

    /// Plays requests that start at one moment, not earlier than any before them. Gives one verdict
    /// a request, in the same order.
    ///
    /// # Panics
    /// Where they start before requests that have been played (INV-9).
    pub fn play(&mut self, requests: &mut impl Together) -> Vec<Verdict> {
        if requests.is_empty() {
            return Vec::new();
        }
        self.group += 1;
        self.forget(requests.arrival(0).start);
        let group = self.group;
        let mut lanes = Vec::with_capacity(requests.len());
        let mut seen = Vec::with_capacity(requests.len());
        for index in 0..requests.len() {
            let arrival = requests.arrival(index);
            let lane = self.lane(&arrival);
            let before = self.lanes[lane].seen.len();
            seen.push(self.lanes[lane].note(group, &arrival));
            self.remembered += self.lanes[lane].seen.len() - before;
            lanes.push(lane);
        }
        let mut played = Vec::with_capacity(requests.len());
        for (index, lane) in lanes.iter().enumerate() {
            let alone = requests.len() == 1;
            let arrival = requests.arrival(index);
            let lane = &mut self.lanes[*lane];
            // Alone at its moment, only what came before it can be shared.
            let shared = if alone { seen[0] } else { lane.shared_end(group, &arrival) };
            let mut outcome = lane.access(group, &arrival);
            outcome.uncached += arrival.tail;
            played.push((outcome, shared));
        }
        let mut verdicts = Vec::with_capacity(played.len());
        for (index, (outcome, shared_end)) in played.into_iter().enumerate() {
            let lane = &self.lanes[lanes[index]];
            let blocks = requests.arrival(index).blocks;
            let reason = reason_of(blocks, &outcome, shared_end, &lane.moment, &lane.earlier);
            verdicts.push(Verdict { outcome, reason, shared_end, seen_end: seen[index] });
        }
        for (index, verdict) in verdicts.iter().enumerate() {
            let arrival = requests.arrival(index);
            let earlier = &mut self.lanes[lanes[index]].earlier;
            earlier.note(arrival.blocks, &verdict.outcome, arrival.start);
        }
        verdicts
    }

    /// Number of prefixes that are remembered.
    pub fn remembered(&self) -> usize {
        self.remembered
    }

    fn lane(&mut self, arrival: &Arrival<'_>) -> usize {
        let (scope, model) = arrival.lane;
        let known = self.by_name.get(scope).and_then(|models| models.get(model));
        if let Some(lane) = known {
            return *lane;
        }
        let lane = self.lanes.len();
        self.lanes.push(Lane::new(arrival.rules));
        self.by_name.entry(scope.to_owned()).or_default().insert(model.to_owned(), lane);
        lane
    }

    fn forget(&mut self, now: SimTime) {
        if self.remembered() <= self.forgets_above {
            return;
        }
        let moment = now.plus_ms(-REMEMBERED_MS);
        self.lanes.iter_mut().for_each(|lane| lane.forget(moment));
        self.remembered = self.lanes.iter().map(|lane| lane.seen.len()).sum();
        // What is left is needed; the next look is worth it when that has doubled.
        self.forgets_above = self.remembers.max(2 * self.remembered());
    }
}

/// One cache and what is known of the prompts that used it.
struct Lane {
    cache: Option<PromptCache>,
    seen: PrefixMap<u128, Seen>,
    /// Siblings noted so far, by family.
    noted: HashMap<usize, usize>,
    /// Families of which one has been looked at.
    looked: HashSet<usize>,
    /// The group that `moment` is of.
    group: u64,
    moment: Marks,
    earlier: Marks,
}

/// Who contained a prefix.
#[derive(Clone, Copy)]
struct Seen {
    last: SimTime,
    /// The latest group with a request that contains it, and how many of its requests do.
    group: u64,
    of_group: u32,
    /// Whether a request of an earlier group contains it.
    before: bool,
}

impl Lane {
    fn new(rules: Option<&CacheRules>) -> Lane {
        Lane {
            cache: rules.map(|rules| PromptCache::new(rules.clone())),
            seen: PrefixMap::default(),
            noted: HashMap::new(),
            looked: HashSet::new(),
            group: 0,
            moment: Marks::default(),
            earlier: Marks::default(),
        }
    }

    /// Takes note of what a prompt contains. Gives the number of leading blocks that were seen
    /// before. Of siblings the first two say all about the blocks that they share.
    fn note(&mut self, group: u64, arrival: &Arrival<'_>) -> usize {
        let (mut known, mut skipped) = (0, 0);
        if let Some(siblings) = arrival.siblings {
            let members = self.noted.entry(siblings.key).or_default();
            *members += 1;
            known = if *members > 1 { siblings.shared } else { 0 };
            skipped = if *members > 2 { siblings.shared } else { 0 };
        }
        let (mut end, mut unbroken) = (known, true);
        for (index, block) in arrival.blocks.iter().enumerate().skip(skipped) {
            let was_there = self.note_prefix(group, block.prefix_hash, arrival.start);
            if index >= known {
                unbroken &= was_there;
                end += usize::from(unbroken);
            }
        }
        end
    }

    fn note_prefix(&mut self, group: u64, hash: u128, start: SimTime) -> bool {
        let Some(seen) = self.seen.get_mut(&hash) else {
            self.seen.insert(hash, Seen { last: start, group, of_group: 1, before: false });
            return false;
        };
        seen.before |= seen.group != group;
        seen.of_group = if seen.group == group { seen.of_group + 1 } else { 1 };
        seen.group = group;
        seen.last = start;
        true
    }

    /// Number of leading blocks that another request, starting no later, also has.
    fn shared_end(&mut self, group: u64, arrival: &Arrival<'_>) -> usize {
        // What an earlier sibling shares with this request needs no look.
        let is_known = |siblings: &Siblings| !self.looked.insert(siblings.key);
        let known = arrival.siblings.filter(is_known).map_or(0, |siblings| siblings.shared);
        let more = arrival.blocks.iter().skip(known).take_while(|block| {
            let seen = self.seen.get(&block.prefix_hash);
            seen.is_some_and(|seen| seen.before || (seen.group == group && seen.of_group > 1))
        });
        known + more.count()
    }

    fn access(&mut self, group: u64, arrival: &Arrival<'_>) -> CacheOutcome {
        if self.group != group {
            self.group = group;
            self.moment.clear();
        }
        let Some(cache) = &mut self.cache else {
            let total = arrival.blocks.last().map_or(Tokens::ZERO, |block| block.tokens_so_far);
            return CacheOutcome { uncached: total, ..CacheOutcome::default() };
        };
        arrival.rules.into_iter().for_each(|rules| cache.follow(rules));
        let outcome = cache.access(CacheRequest {
            blocks: arrival.blocks,
            start: arrival.start,
            readable_at: arrival.readable_at,
        });
        self.moment.note(arrival.blocks, &outcome, arrival.start);
        outcome
    }

    fn forget(&mut self, moment: SimTime) {
        self.seen.retain(|_, seen| moment <= seen.last);
        self.earlier.forget(moment);
        self.cache.iter_mut().for_each(|cache| cache.forget_expired(moment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{PositionKind, PromptCache};
    use crate::provider::rules::documented_rules;
    use crate::provider::{anthropic_facts, find_model};
    use crate::units::CacheTtl;

    struct One<'a> {
        blocks: Vec<CacheBlock>,
        rules: &'a CacheRules,
        start: SimTime,
    }

    impl Together for One<'_> {
        fn len(&self) -> usize {
            1
        }

        fn arrival(&mut self, _index: usize) -> Arrival<'_> {
            Arrival {
                lane: ("", ""),
                rules: Some(self.rules),
                blocks: &self.blocks,
                tail: Tokens::ZERO,
                start: self.start,
                readable_at: self.start,
                siblings: None,
            }
        }
    }

    fn rules() -> CacheRules {
        let facts = anthropic_facts();
        let model = find_model(facts, "claude-opus-5").unwrap();
        documented_rules(facts, model, facts.checked)
    }

    /// A prompt that every tenth request shares, and one of its own for each of the others.
    fn blocks(number: u128) -> Vec<CacheBlock> {
        let family = if number.is_multiple_of(10) { 0 } else { number };
        let block = |index: u64| CacheBlock {
            prefix_hash: (family << 64) | u128::from(index),
            tokens_so_far: Tokens(1_000 * (index + 1)),
            kind: PositionKind::Plain,
            marker: (index == 9).then_some(CacheTtl::FiveMinutes),
        };
        (0..10).map(block).collect()
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_requests_and_no_read_changes() {
        let rules = rules();
        let (mut small, mut whole) = (Simulator::remembering(1_000), Simulator::new());
        let mut most = 0;
        for number in 0..20_000_u128 {
            // Twenty seconds apart: two hours are 360 requests, 3,250 prefixes of ten blocks.
            let start = SimTime(20_000 * number as i64);
            let play = |simulator: &mut Simulator| {
                let mut one = One { blocks: blocks(number), rules: &rules, start };
                simulator.play(&mut one).remove(0)
            };
            let (few, all) = (play(&mut small), play(&mut whole));
            assert_eq!(few.outcome.read, all.outcome.read, "request {number}");
            let read = if number > 0 && number.is_multiple_of(10) { 10_000 } else { 0 };
            assert_eq!(all.outcome.read, Tokens(read), "request {number}");
            most = most.max(small.remembered());
        }
        assert!(most < 10_000, "{most} prefixes");
        assert!(whole.remembered() > 170_000);
        let entries = |simulator: &Simulator| {
            let lanes = simulator.lanes.iter();
            lanes.filter_map(|lane| lane.cache.as_ref()).map(PromptCache::len).sum::<usize>()
        };
        assert!(entries(&small) < 1_000 && entries(&whole) > 17_000);
    }

    #[test]
    fn each_request_has_its_own_rules() {
        let usual = rules();
        let strict = CacheRules { min_tokens: Tokens(1_000_000), ..usual.clone() };
        let mut simulator = Simulator::new();
        let mut play = |rules: &CacheRules, start_ms| {
            let mut one = One { blocks: blocks(0), rules, start: SimTime(start_ms) };
            simulator.play(&mut one).remove(0).outcome
        };
        assert_eq!(play(&strict, 0).written, []);
        assert_eq!(play(&usual, 1_000).written.len(), 1);
        assert_eq!(play(&strict, 2_000).read, Tokens::ZERO);
        assert_eq!(play(&usual, 3_000).read, Tokens(10_000));
    }

    #[test]
    fn what_is_forgotten_is_never_what_can_be_read() {
        let rules = rules();
        let mut simulator = Simulator::remembering(0);
        let hour = |number: u128, start_ms: i64| {
            let mut blocks = blocks(number);
            blocks[9].marker = Some(CacheTtl::OneHour);
            One { blocks, rules: &rules, start: SimTime(start_ms) }
        };
        simulator.play(&mut hour(0, 0));
        for minute in 1..60 {
            simulator.play(&mut hour(1 + u128::from(minute as u32), minute * 60_000 - 1));
        }
        let late = simulator.play(&mut hour(0, 3_599_999)).remove(0);
        assert_eq!((late.outcome.read, late.reason), (Tokens(10_000), Reason::Hit));
    }
}
