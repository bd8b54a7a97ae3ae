//! Hand-worked timelines of the prompt cache: the arithmetic stands in the comments.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use forkcost::cache::{
    CacheBlock, CacheOutcome, CacheRequest, CacheRules, Missed, PositionCount, PositionKind,
    PromptCache, ToolPositions,
};
use forkcost::replay::{Options, Played, Sink, replay};
use forkcost::trace::{self, Source};
use forkcost::units::{CacheTtl, SimTime, Tokens};

fn rules() -> CacheRules {
    CacheRules {
        lookback: 20,
        count: PositionCount::CollapseToolRuns,
        min_tokens: Tokens(512),
        refresh_earlier: true,
        ttl_in_key: false,
        match_inside_runs: true,
        write_below_hit: false,
        longer_ttl_extends: false,
        thinking_positions: true,
        tool_positions: ToolPositions::Each,
        hash_billing_line: false,
    }
}

/// Blocks of `tokens` each, named by one letter a block; the prefix is its letters.
fn blocks(letters: &str, tokens: u64, markers: &[(usize, CacheTtl)]) -> Vec<CacheBlock> {
    let mut hash: u128 = 7;
    let mut blocks = Vec::new();
    for (index, letter) in letters.bytes().enumerate() {
        hash = hash.wrapping_mul(0x1000_0000_01b3).wrapping_add(u128::from(letter));
        let kind = match letter {
            b'u' => PositionKind::ToolUse,
            b'r' => PositionKind::ToolResult,
            b't' => PositionKind::Thinking,
            _ => PositionKind::Plain,
        };
        let marker = markers.iter().find(|(at, _)| *at == index).map(|(_, ttl)| *ttl);
        let tokens_so_far = Tokens(tokens * (index as u64 + 1));
        blocks.push(CacheBlock { prefix_hash: hash, tokens_so_far, kind, marker });
    }
    blocks
}

const M5: CacheTtl = CacheTtl::FiveMinutes;
const H1: CacheTtl = CacheTtl::OneHour;

/// A cache with the seconds at which things happen.
struct Timeline(PromptCache);

impl Timeline {
    fn new(rules: CacheRules) -> Timeline {
        Timeline(PromptCache::new(rules))
    }

    /// Sends at `start_s`; the response begins two seconds later.
    fn send(&mut self, start_s: i64, blocks: &[CacheBlock]) -> CacheOutcome {
        let start = SimTime(start_s * 1_000);
        self.0.access(CacheRequest { blocks, start, readable_at: start.plus_ms(2_000) })
    }
}

fn classes(outcome: &CacheOutcome) -> [u64; 4] {
    [outcome.read.0, outcome.write_5m.0, outcome.write_1h.0, outcome.uncached.0]
}

#[test]
fn an_entry_is_written_at_the_marker_and_nowhere_else() {
    let mut cache = Timeline::new(rules());
    // Writes at the third block: 3 x 1,000; one block stays uncached.
    assert_eq!(classes(&cache.send(0, &blocks("abcd", 1_000, &[(2, M5)]))), [0, 3_000, 0, 1_000]);
    // The same two first blocks, marked there: equal content, but nobody wrote an entry there.
    assert_eq!(classes(&cache.send(10, &blocks("abx", 1_000, &[(1, M5)]))), [0, 2_000, 0, 1_000]);
    // The entry at the third block is found from a marker two positions behind it.
    assert_eq!(classes(&cache.send(20, &blocks("abcde", 1_000, &[(4, M5)]))), [3_000, 2_000, 0, 0]);
}

#[test]
fn the_vendors_worked_example_of_the_window() {
    let letters: String = (0..40).map(|n| char::from(b'A' + n)).collect();
    let prefix = |n: usize| blocks(&letters[..n], 100, &[(n - 1, M5)]);
    let mut cache = Timeline::new(rules());
    cache.send(0, &prefix(10));
    // Turn 2: 15 blocks, the entry at 10 is five back.
    assert_eq!(cache.send(10, &prefix(15)).read, Tokens(1_000));
    // Turn 3: 35 blocks, marker on 35: it looks at 35..16 and misses 15 by one.
    assert_eq!(cache.send(20, &prefix(35)).read, Tokens(0));
    // With 34 blocks the window 34..15 reaches it.
    let mut cache = Timeline::new(rules());
    cache.send(0, &prefix(15));
    assert_eq!(cache.send(10, &prefix(34)).read, Tokens(1_500));
    // A second marker on 15 has a window of its own.
    let mut cache = Timeline::new(rules());
    cache.send(0, &prefix(15));
    let two = blocks(&letters[..35], 100, &[(14, M5), (34, M5)]);
    assert_eq!(classes(&cache.send(10, &two)), [1_500, 2_000, 0, 0]);
}

#[test]
fn a_run_of_tool_blocks_is_one_position_or_many() {
    // Marker behind 30 calls and 30 results: 1 + 1 + 1 + 1 positions back where runs collapse.
    let letters = format!("a{}{}z", "u".repeat(30), "r".repeat(30));
    let parent = blocks("a", 1_000, &[(0, M5)]);
    let child = blocks(&letters, 1_000, &[(61, M5)]);
    let mut cache = Timeline::new(rules());
    cache.send(0, &parent);
    assert_eq!(cache.send(10, &child).read, Tokens(1_000));
    let mut cache = Timeline::new(CacheRules { count: PositionCount::PerBlock, ..rules() });
    cache.send(0, &parent);
    let missed = cache.send(10, &child);
    assert_eq!((missed.read, missed.missed), (Tokens(0), vec![(0, Missed::OutOfReach)]));
}

#[test]
fn reasoning_between_calls_breaks_a_run() {
    // "tu" ten times: 20 positions of their own, so the entry in front is at position 21.
    let letters = format!("a{}", "tu".repeat(10));
    let mut cache = Timeline::new(rules());
    cache.send(0, &blocks("a", 1_000, &[(0, M5)]));
    assert_eq!(cache.send(10, &blocks(&letters, 1_000, &[(20, M5)])).read, Tokens(0));
    // Where reasoning is no position of its own, "u" blocks split by it are ten positions.
    let without = CacheRules { thinking_positions: false, ..rules() };
    let mut cache = Timeline::new(without);
    cache.send(0, &blocks("a", 1_000, &[(0, M5)]));
    assert_eq!(cache.send(10, &blocks(&letters, 1_000, &[(20, M5)])).read, Tokens(1_000));
}

#[test]
fn an_entry_inside_a_run_is_found_or_not_as_the_switch_says() {
    let writer = blocks("auu", 1_000, &[(2, M5)]);
    let reader = blocks("auuuu", 1_000, &[(4, M5)]);
    let mut cache = Timeline::new(rules());
    cache.send(0, &writer);
    assert_eq!(cache.send(10, &reader).read, Tokens(3_000));
    let mut cache = Timeline::new(CacheRules { match_inside_runs: false, ..rules() });
    cache.send(0, &writer);
    assert_eq!(cache.send(10, &reader).read, Tokens(0));
}

#[test]
fn nothing_is_readable_before_the_response_begins() {
    let mut cache = Timeline::new(rules());
    let request = blocks("ab", 1_000, &[(1, M5)]);
    assert_eq!(cache.send(0, &request).read, Tokens(0));
    let early = cache.send(1, &request);
    assert_eq!((early.read, early.missed), (Tokens(0), vec![(1, Missed::NotYetReadable)]));
    assert_eq!(cache.send(2, &request).read, Tokens(2_000), "the first writer has begun");
}

#[test]
fn a_lifetime_counts_from_the_start_and_a_read_restarts_it() {
    let request = blocks("ab", 1_000, &[(1, M5)]);
    let mut cache = Timeline::new(rules());
    cache.send(0, &request);
    // Read at 299 s: alive until 599 s. Read at 598: alive until 898. At 898 it is over.
    assert_eq!(cache.send(299, &request).read, Tokens(2_000));
    assert_eq!(cache.send(598, &request).read, Tokens(2_000));
    let late = cache.send(898, &request);
    assert_eq!((late.read, late.missed), (Tokens(0), vec![(1, Missed::Expired)]));
    let mut cache = Timeline::new(rules());
    cache.send(0, &request);
    assert_eq!(cache.send(300, &request).read, Tokens(0), "five minutes are over at 300 s");
}

#[test]
fn a_read_of_a_one_hour_entry_by_a_five_minute_marker_keeps_the_hour() {
    let mut cache = Timeline::new(rules());
    cache.send(0, &blocks("ab", 1_000, &[(1, H1)]));
    let five = blocks("ab", 1_000, &[(1, M5)]);
    assert_eq!(cache.send(3_599, &five).read, Tokens(2_000));
    assert_eq!(cache.send(7_198, &five).read, Tokens(2_000));
    let mut cache = Timeline::new(CacheRules { ttl_in_key: true, ..rules() });
    cache.send(0, &blocks("ab", 1_000, &[(1, H1)]));
    assert_eq!(cache.send(10, &five).read, Tokens(0), "another lifetime is another entry");
}

#[test]
fn a_longer_marker_on_an_entry_that_is_read_extends_it_only_by_the_switch() {
    let five = blocks("ab", 1_000, &[(1, M5)]);
    let hour = blocks("ab", 1_000, &[(1, H1)]);
    let at_400 = |rules: CacheRules| {
        let mut cache = Timeline::new(rules);
        cache.send(0, &five);
        cache.send(10, &hour);
        cache.send(400, &five).read
    };
    assert_eq!(at_400(rules()), Tokens(0));
    assert_eq!(at_400(CacheRules { longer_ttl_extends: true, ..rules() }), Tokens(2_000));
}

#[test]
fn what_has_run_out_is_not_extended() {
    // The first entry is written at 0 s and runs out at 300 s. The second is written at 1 s, when
    // the first cannot be read, and read at 250 s. At 400 s it is read again, and the one-hour
    // marker on the first finds nothing alive to extend.
    let rules = CacheRules { longer_ttl_extends: true, refresh_earlier: false, ..rules() };
    let mut cache = Timeline::new(rules);
    cache.send(0, &blocks("ab", 1_000, &[(1, M5)]));
    cache.send(1, &blocks("abcd", 1_000, &[(3, M5)]));
    cache.send(250, &blocks("abcd", 1_000, &[(3, M5)]));
    let both = blocks("abcd", 1_000, &[(1, H1), (3, M5)]);
    assert_eq!(classes(&cache.send(400, &both)), [4_000, 0, 0, 0]);
    assert_eq!(cache.send(410, &blocks("ab", 1_000, &[(1, M5)])).read, Tokens(0));
}

#[test]
fn with_lifetimes_in_the_key_a_read_refreshes_the_entry_that_was_read() {
    let rules = CacheRules { ttl_in_key: true, ..rules() };
    let mut cache = Timeline::new(rules);
    let (five, hour) = (blocks("ab", 1_000, &[(1, M5)]), blocks("ab", 1_000, &[(1, H1)]));
    cache.send(0, &five);
    cache.send(10, &hour);
    assert_eq!(cache.send(200, &hour).read, Tokens(2_000));
    // The five-minute entry was not read at 200 s: it ran out at 300 s.
    assert_eq!(cache.send(310, &five).read, Tokens(0));
}

#[test]
fn an_entry_behind_the_last_marker_is_not_looked_for() {
    let mut cache = Timeline::new(rules());
    cache.send(0, &blocks("abcd", 1_000, &[(3, M5)]));
    let outcome = cache.send(10, &blocks("abcd", 1_000, &[(1, M5)]));
    assert_eq!((outcome.read, outcome.missed), (Tokens(0), vec![(3, Missed::NotLookedFor)]));
}

#[test]
fn a_marked_block_without_tokens_behind_the_hit_is_written() {
    let mut cache = Timeline::new(rules());
    let zero = |markers: &[(usize, CacheTtl)]| {
        let mut blocks = blocks("ab", 1_000, markers);
        blocks[1].tokens_so_far = Tokens(1_000);
        blocks
    };
    cache.send(0, &zero(&[(0, M5)]));
    let outcome = cache.send(10, &zero(&[(1, M5)]));
    assert_eq!((outcome.read_block, outcome.written), (Some(0), vec![(1, M5)]));
    assert_eq!(cache.send(20, &zero(&[(1, M5)])).read_block, Some(1));
}

#[test]
fn two_lifetimes_are_billed_by_a_b_and_c() {
    // A: 10 blocks read; B: the one-hour marker at 30; C: the five-minute marker at 34; 6 uncached.
    let letters: String = (0..40).map(|n| char::from(b'A' + n)).collect();
    let mut cache = Timeline::new(rules());
    cache.send(0, &blocks(&letters[..10], 1_000, &[(9, H1)]));
    let mixed = blocks(&letters, 1_000, &[(9, H1), (29, H1), (33, M5)]);
    assert_eq!(classes(&cache.send(10, &mixed)), [10_000, 4_000, 20_000, 6_000]);
}

#[test]
fn below_the_minimum_nothing_is_written_or_read() {
    let mut cache = Timeline::new(rules());
    let short = blocks("a", 511, &[(0, M5)]);
    assert_eq!(classes(&cache.send(0, &short)), [0, 0, 0, 511]);
    assert_eq!(classes(&cache.send(10, &short)), [0, 0, 0, 511]);
    let long = blocks("a", 512, &[(0, M5)]);
    assert_eq!(classes(&cache.send(20, &long)), [0, 512, 0, 0]);
    assert_eq!(classes(&cache.send(30, &long)), [512, 0, 0, 0]);
}

#[test]
fn a_marker_before_the_end_of_a_read_leaves_an_entry_only_by_the_switch() {
    let long = blocks("abcd", 1_000, &[(3, M5)]);
    let both = blocks("abcd", 1_000, &[(1, M5), (3, M5)]);
    let short = blocks("abx", 1_000, &[(1, M5), (2, M5)]);
    let read = |rules: CacheRules| {
        let mut cache = Timeline::new(rules);
        cache.send(0, &long);
        let middle = cache.send(10, &both);
        assert_eq!(classes(&middle), [4_000, 0, 0, 0], "nothing is billed for it");
        cache.send(20, &short).read
    };
    assert_eq!(read(rules()), Tokens(0));
    assert_eq!(read(CacheRules { write_below_hit: true, ..rules() }), Tokens(2_000));
}

#[test]
fn a_read_refreshes_earlier_markers_or_not_as_the_switch_says() {
    let long = blocks("abcd", 1_000, &[(1, M5), (3, M5)]);
    let short = blocks("abx", 1_000, &[(1, M5), (2, M5)]);
    let read = |rules: CacheRules| {
        let mut cache = Timeline::new(rules);
        cache.send(0, &long);
        cache.send(200, &long);
        cache.send(400, &short).read
    };
    assert_eq!(read(rules()), Tokens(2_000));
    assert_eq!(read(CacheRules { refresh_earlier: false, ..rules() }), Tokens(0));
}

#[test]
#[should_panic(expected = "order of their start")]
fn time_never_runs_backwards() {
    let mut cache = Timeline::new(rules());
    cache.send(10, &blocks("a", 1_000, &[]));
    cache.send(9, &blocks("a", 1_000, &[]));
}

/// Requests of a timeline as text, with the rules given; what each read, and why no more.
fn replayed(rules: &str, requests: &[String]) -> Vec<(u64, String)> {
    struct Rows(Vec<(u64, String)>);
    impl Sink for Rows {
        fn row(&mut self, played: &Played) -> std::io::Result<()> {
            self.0.push((played.record.read, played.record.reason.clone()));
            Ok(())
        }
        fn restart(&mut self) -> std::io::Result<()> {
            self.0.clear();
            Ok(())
        }
    }
    let header =
        format!(r#"{{"forkcost_timeline":1,"model":"claude-opus-5","rules":{{{rules}}}}}"#);
    let text = format!("{header}\n{}\n", requests.join("\n"));
    let trace = trace::open(Source::of_bytes("worked", text.into_bytes())).unwrap();
    let options = Options { strict: true, ..Options::default() };
    let mut rows = Rows(Vec::new());
    replay(&trace, &options, &mut rows).unwrap();
    rows.0
}

/// A request whose response begins a second after its start. Blocks are `id:tokens` or
/// `id:tokens:marker`.
fn sent(start_s: u32, blocks: &str) -> String {
    let block = |word: &str| {
        let parts: Vec<&str> = word.split(':').collect();
        let marker = parts.get(2).map_or(String::new(), |ttl| format!(r#","marker":"{ttl}""#));
        format!(r#"{{"id":"{}","tokens":{}{marker}}}"#, parts[0], parts[1])
    };
    let blocks = blocks.split(' ').map(block).collect::<Vec<_>>().join(",");
    let first = start_s + 1;
    format!(r#"{{"start_s":{start_s},"first_token_at_s":{first},"blocks":[{blocks}]}}"#)
}

/// The reason of the last request.
fn last_reason(rules: &str, requests: &[String]) -> String {
    replayed(rules, requests).pop().unwrap().1
}

#[test]
fn blocks_without_tokens_leave_nothing_to_save() {
    // The shared end is behind `z`, the read ends before it: both are at 800 tokens.
    let rows = replayed("", &[sent(0, "a:800:5m z:0"), sent(2, "a:800 z:0:5m")]);
    assert_eq!(rows[1], (800, "hit".to_owned()));
    assert_eq!(last_reason("", &[sent(0, "z:0:5m"), sent(2, "z:0:5m")]), "first_of_prefix");
}

#[test]
fn a_readable_entry_without_a_marker_behind_it_comes_before_a_short_prefix() {
    // Its only marker is below the minimum; but the entry at `b` would be read from a marker there.
    let reader = sent(2, "a:100:5m b:900");
    assert_eq!(last_reason("", &[sent(0, "a:100 b:900:5m"), reader.clone()]), "no_marker");
    // Where nothing was written behind it, the short prefix is the reason.
    assert_eq!(last_reason("", &[sent(0, "a:100 b:900"), reader]), "below_minimum");
}

#[test]
fn with_two_entries_at_one_place_the_first_cause_of_either_holds() {
    let (rules, late) = (r#""ttl_in_key":true"#, sent(400, "a:900:5m"));
    // At 400 s the 5-minute entry is over; that of an hour is alive and no marker looks for it.
    let both = [sent(0, "a:900:5m"), sent(1, "a:900:1h"), late.clone()];
    assert_eq!(last_reason(rules, &both), "no_marker");
    assert_eq!(last_reason(rules, &[sent(0, "a:900:5m"), late]), "expired");
}

#[test]
fn what_is_left_at_the_same_moment_is_not_yet_readable_whoever_is_sent_first() {
    let rules = r#""write_below_hit":true"#;
    let writer = sent(0, "a:900 b:900 c:900:5m");
    let looks = sent(9, "a:900 b:900 x:900:5m");
    // Reads up to `c` and leaves an entry at `b`, unbilled.
    let leaves = sent(9, "a:900 b:900:5m c:900:5m");
    let first = replayed(rules, &[writer.clone(), looks.clone(), leaves.clone()]);
    assert_eq!(first[1], (0, "not_yet_readable".to_owned()));
    assert_eq!(first[2], (2_700, "hit".to_owned()));
    let second = replayed(rules, &[writer, leaves, looks]);
    assert_eq!((&second[1], &second[2]), (&first[2], &first[1]));
}

#[test]
fn a_marker_of_an_hour_extends_no_entry_that_has_the_hour() {
    let rules = CacheRules { longer_ttl_extends: true, refresh_earlier: false, ..rules() };
    let mut cache = Timeline::new(rules);
    cache.send(0, &blocks("abc", 1_000, &[(0, H1), (2, H1)]));
    // Reads at `c` and restarts that entry alone.
    let again = cache.send(3_000, &blocks("abc", 1_000, &[(0, H1), (2, H1)]));
    assert_eq!(classes(&again), [3_000, 0, 0, 0]);
    // The entry at `a` ended at 3,600 s.
    let late = cache.send(3_600, &blocks("ax", 1_000, &[(1, M5)]));
    assert_eq!((classes(&late), late.missed), ([0, 2_000, 0, 0], vec![(0, Missed::Expired)]));
}

/// Why "an equal earlier request never makes another read less" is no law: only uncached input is
/// bounded so (`tests/timeline_laws`). Here the copy lets the second request read farther, so it no
/// longer writes where the third looks.
#[test]
fn an_equal_earlier_request_can_cost_another_request_its_read() {
    let copied = blocks("abc", 1_000, &[(2, M5)]);
    let second = blocks("abc", 1_000, &[(1, M5), (2, M5)]);
    let third = blocks("abx", 1_000, &[(1, M5)]);
    let mut without = Timeline::new(rules());
    without.send(10, &second);
    assert_eq!(classes(&without.send(20, &third)), [2_000, 0, 0, 1_000]);
    let mut with = Timeline::new(rules());
    with.send(0, &copied);
    assert_eq!(classes(&with.send(10, &second)), [3_000, 0, 0, 0]);
    assert_eq!(classes(&with.send(20, &third)), [0, 2_000, 0, 1_000]);
    assert_eq!(classes(&with.send(30, &copied)), [3_000, 0, 0, 0]);
}
