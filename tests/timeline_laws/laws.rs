//! The laws. Each takes a timeline and says what is wrong with how it is played.

use std::collections::BTreeSet;

use forkcost::record::RunRecord;
use forkcost::replay::ReplayError;
use forkcost::trace::TraceError;

use crate::generator::Draw;
use crate::reference::{Answer, Seen, interpret};
use crate::runner::{Replayed, play, play_text};
use crate::timeline::{OTHER_MODEL, Request, Timeline, Ttl};

/// Whether a law holds, or what is wrong.
pub(crate) type Law = Result<(), String>;

/// A timeline as it was played, and the seed of the choices that a law makes.
pub(crate) struct Case<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) seed: u64,
    pub(crate) played: Replayed,
}

impl Case<'_> {
    pub(crate) fn of(timeline: &Timeline, seed: u64) -> Result<Case<'_>, String> {
        Ok(Case { timeline, seed, played: play(timeline)? })
    }

    /// Its choices, the same in every run.
    fn draw(&self) -> Draw {
        Draw::new(!self.seed)
    }
}

fn law(holds: bool, message: impl FnOnce() -> String) -> Law {
    if holds { Ok(()) } else { Err(message()) }
}

/// What a row says of what the reference answers. The bound is in no row.
fn answered(row: &RunRecord, reference: &Answer) -> Answer {
    let reasons = forkcost::record::Reason::ALL.map(|reason| reason.as_str());
    Answer {
        name: row.request.clone(),
        read: row.read,
        write_5m: row.write_5m,
        write_1h: row.write_1h,
        uncached: row.uncached,
        reason: reasons.into_iter().find(|word| *word == row.reason).unwrap_or("unknown"),
        shared_end: row.shared_end,
        perfect: reference.perfect,
    }
}

pub(crate) fn agrees_with_the_reference(case: &Case<'_>, seen: &mut Seen) -> Law {
    let expected = interpret(case.timeline, seen);
    let Replayed { rows, sums } = &case.played;
    law(rows.len() == expected.len(), || format!("{} rows", rows.len()))?;
    for (row, reference) in rows.iter().zip(&expected) {
        let program = answered(row, reference);
        law(program == *reference, || format!("program:   {program:?}\nreference: {reference:?}"))?;
        *seen.entry(reference.reason).or_default() += 1;
        *seen.entry("read").or_default() += u64::from(reference.read > 0);
    }
    let perfect: u64 = expected.iter().map(|answer| answer.perfect).sum();
    let usage = sums.perfect.usage;
    law(usage.read.0 == perfect, || {
        format!("perfect cache: program reads {}, reference {perfect}", usage.read.0)
    })
}

/// INV-1, of each request and of the sums, in tokens and in money.
pub(crate) fn inv_1_every_token_is_billed_once(case: &Case<'_>) -> Law {
    let (timeline, Replayed { rows, sums }) = (case.timeline, &case.played);
    let mut total = (0, 0);
    for (row, request) in rows.iter().zip(&timeline.requests) {
        let stated: u64 = request.blocks.iter().map(|block| block.tokens).sum();
        let billed = row.read + row.write_5m + row.write_1h + row.uncached;
        law(billed == stated && row.input == stated, || format!("{stated} stated: {row:?}"))?;
        law(row.output == request.output, || format!("{} stated: {row:?}", request.output))?;
        let writes = row.write_5m_pico_usd + row.write_1h_pico_usd;
        let money = row.read_pico_usd + writes + row.uncached_pico_usd;
        law(money == row.input_pico_usd, || format!("{money} pico-dollars: {row:?}"))?;
        total.0 += stated;
        total.1 += row.input_pico_usd + row.output_pico_usd;
    }
    let usages = [&sums.predicted, &sums.no_cache, &sums.perfect].map(|sum| sum.usage);
    law(usages.iter().all(|usage| usage.input().0 == total.0), || format!("{usages:?}"))?;
    law(sums.no_cache.usage.uncached.0 == total.0, || format!("{:?}", sums.no_cache))?;
    law(sums.predicted.cost.0 == total.1, || format!("{} is not {:?}", total.1, sums.predicted))
}

/// INV-3. What was seen before is what a perfect cache reads.
pub(crate) fn inv_3_reads_lie_between_none_and_perfect(case: &Case<'_>) -> Law {
    let (timeline, Replayed { rows, sums }) = (case.timeline, &case.played);
    let mut total = 0;
    for (index, row) in rows.iter().enumerate() {
        let request = &timeline.requests[index];
        let above = &timeline.requests[..index];
        let seen = above.iter().map(|other| shares(request, other)).max().unwrap_or(0);
        let perfect = tokens(request, seen);
        law(row.read <= perfect, || format!("perfect {perfect}: {row:?}"))?;
        law(row.read <= row.shared_end, || format!("read past the shared end: {row:?}"))?;
        law((row.reason == "hit") == (row.read == row.shared_end && row.read > 0), || {
            format!("{row:?}")
        })?;
        total += perfect;
    }
    let bound = sums.perfect.usage;
    law(bound.read.0 == total, || format!("{total} seen before, {bound:?}"))?;
    law(bound.write_5m.0 + bound.write_1h.0 == 0, || format!("{bound:?}"))
}

/// INV-9 from the requests alone: who could have written what was read, and when it was last used.
pub(crate) fn inv_9_nothing_is_read_early_or_late(case: &Case<'_>) -> Law {
    let (timeline, rows) = (case.timeline, &case.played.rows);
    let starts: Vec<i64> = rows.iter().map(|row| row.start_ms).collect();
    law(starts.is_sorted(), || format!("{starts:?}"))?;
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.read > 0) {
        let request = &timeline.requests[index];
        let above = &timeline.requests[..index];
        // Blocks without tokens leave several ends for one number.
        let ends = (1..=request.blocks.len()).filter(|end| tokens(request, *end) == row.read);
        let mut possible = ends.filter(|end| {
            let marked = |other: &&Request| {
                shares(request, other) >= *end && other.blocks[end - 1].marker.is_some()
            };
            let hour = |other: &Request| other.blocks[end - 1].marker == Some(Ttl::OneHour);
            let readable = |other: &Request| other.first_token_ms <= request.start_ms;
            let longest =
                if above.iter().filter(marked).any(hour) { Ttl::OneHour } else { Ttl::FiveMinutes };
            let used = |other: &Request| {
                let last = other.blocks.iter().rposition(|block| block.marker.is_some());
                shares(request, other) >= *end
                    && last.is_some_and(|last| last + 1 >= *end)
                    && request.start_ms - other.start_ms < longest.millis()
            };
            above.iter().filter(marked).any(readable) && above.iter().any(used)
        });
        law(possible.next().is_some(), || format!("nobody left what was read: {row:?}"))?;
    }
    Ok(())
}

/// INV-9: lines in any order give what they give in the order of their starts, or are refused.
pub(crate) fn inv_9_lines_out_of_order(case: &Case<'_>) -> Law {
    let (timeline, sorted) = (case.timeline, &case.played);
    let mut shuffled = timeline.clone();
    case.draw().shuffle(&mut shuffled.requests);
    // Requests that start together keep their order.
    for start in timeline.requests.iter().map(|request| request.start_ms).collect::<BTreeSet<_>>() {
        let mut together = timeline.requests.iter().filter(|request| request.start_ms == start);
        for request in shuffled.requests.iter_mut().filter(|request| request.start_ms == start) {
            request.clone_from(together.next().unwrap());
        }
    }
    let any = play(&shuffled)?;
    law(any.rows == sorted.rows, || difference(&any.rows, &sorted.rows))?;
    law(any.sums.predicted == sorted.sums.predicted, || format!("{:?}", any.sums))?;
    let is_sorted = shuffled.requests.is_sorted_by_key(|request| request.start_ms);
    let strict = play_text(shuffled.text(), true);
    let refused = matches!(&strict, Err(ReplayError::Trace(TraceError::OutOfOrder(_))));
    law(refused != is_sorted, || format!("sorted: {is_sorted}; {:?}", strict.map(|it| it.rows)))
}

/// The timeline with a copy of one of its requests at or before that one. `None` without requests.
fn with_a_copy(timeline: &Timeline, draw: &mut Draw) -> Option<Timeline> {
    let number = timeline.requests.len();
    let original = (number > 0).then(|| draw.below(number))?;
    let place = draw.below(original + 1);
    let mut copy = timeline.requests[original].clone();
    let latency = draw.pick(&[0, 1, copy.first_token_ms - copy.start_ms]);
    copy.name = "copy".to_owned();
    copy.start_ms = timeline.requests[place].start_ms;
    copy.first_token_ms = copy.start_ms + latency;
    let mut more = timeline.clone();
    more.requests.insert(place, copy);
    Some(more)
}

fn rows_but(rows: &[RunRecord], name: &str) -> Vec<RunRecord> {
    rows.iter().filter(|row| row.request != name).cloned().collect()
}

/// Uncached input is what stands behind the last effective marker, whatever the cache holds:
/// nothing is read past that marker, for every search begins at one. So it is even equal.
pub(crate) fn an_equal_earlier_request_increases_no_uncached_input(case: &Case<'_>) -> Law {
    let Some(more) = with_a_copy(case.timeline, &mut case.draw()) else { return Ok(()) };
    let (less, more) = (&case.played, play(&more)?);
    let others = rows_but(&more.rows, "copy");
    for (row, before) in others.iter().zip(&less.rows) {
        law(row.uncached <= before.uncached, || format!("{before:?}\nwith a copy {row:?}"))?;
        law(row.uncached == before.uncached, || format!("{before:?}\nwith a copy {row:?}"))?;
    }
    let (with, without): (u64, u64) = (
        others.iter().map(|row| row.uncached).sum(),
        less.rows.iter().map(|row| row.uncached).sum(),
    );
    law(with <= without, || format!("{with} uncached with a copy, {without} without"))
}

/// Where every marker leaves an entry and nothing runs out, what the cache holds after each request
/// only grows by the copy, so no request reads less. Without these two that is no law: a request
/// that reads farther no longer writes, or no longer restarts, the entry that a third one reads.
pub(crate) fn an_equal_earlier_request_costs_no_read(case: &Case<'_>) -> Law {
    let mut timeline = case.timeline.clone();
    timeline.rules.write_below_hit = Some(true);
    for request in &mut timeline.requests {
        request.start_ms /= 200;
        request.first_token_ms /= 200;
    }
    let Some(more) = with_a_copy(&timeline, &mut case.draw()) else { return Ok(()) };
    let first = timeline.requests.first().map_or(0, |request| request.start_ms);
    let last = timeline.requests.last().map_or(0, |request| request.start_ms);
    law(last - first < Ttl::FiveMinutes.millis(), || format!("{first} to {last} ms"))?;
    let (less, more) = (play(&timeline)?, play(&more)?);
    for (row, before) in rows_but(&more.rows, "copy").iter().zip(&less.rows) {
        law(row.read >= before.read, || format!("{before:?}\nwith a copy {row:?}"))?;
    }
    Ok(())
}

/// A request whose equal was sent just before, and answered in time, reads all that it marks.
pub(crate) fn an_equal_request_just_before_is_read(case: &Case<'_>) -> Law {
    let (timeline, mut draw) = (case.timeline, case.draw());
    let number = timeline.requests.len();
    if number == 0 {
        return Ok(());
    }
    let place = draw.below(number);
    let gap = draw.pick(&[1, 2_000, 299_999]);
    let mut twice = timeline.clone();
    for request in &mut twice.requests[place..] {
        request.start_ms += gap;
        request.first_token_ms += gap;
    }
    let mut copy = timeline.requests[place].clone();
    copy.name = "copy".to_owned();
    copy.first_token_ms = copy.start_ms + draw.pick(&[0, 1, gap]);
    twice.requests.insert(place, copy);
    let rows = play(&twice)?.rows;
    let (row, request) = (&rows[place + 1], &twice.requests[place + 1]);
    let least = timeline.rules.min_tokens.unwrap_or(match request.model {
        Some(OTHER_MODEL) => 4_096,
        Some(_) | None => 512,
    });
    let last = request.blocks.iter().rposition(|block| block.marker.is_some());
    let marked = last.map_or(0, |last| tokens(request, last + 1));
    let expected = if marked < least { 0 } else { marked };
    law(row.read == expected, || format!("{expected} expected, {gap} ms later: {row:?}"))?;
    law(row.write_5m + row.write_1h == 0, || format!("{row:?}"))
}

/// Rows without their number.
fn numberless(rows: &[RunRecord]) -> Vec<RunRecord> {
    let mut rows: Vec<RunRecord> =
        rows.iter().map(|row| RunRecord { seq: 0, ..row.clone() }).collect();
    rows.sort_by(|a, b| a.request.cmp(&b.request));
    rows
}

/// Requests of one group can share, those of two never.
fn group(request: &Request) -> (&str, &str, bool) {
    (&request.scope, request.model.unwrap_or(""), request.params.len() > 2)
}

/// Scopes with other names, and sent in another order where they start together.
pub(crate) fn independent_scopes_change_nothing(case: &Case<'_>) -> Law {
    let (timeline, mut draw) = (case.timeline, case.draw());
    let mut names = ["", "a", "b", "c"];
    draw.shuffle(&mut names);
    let mut ranks = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    draw.shuffle(&mut ranks);
    let mut changed = timeline.clone();
    let groups: BTreeSet<_> = timeline.requests.iter().map(group).collect();
    let groups: Vec<_> = groups.into_iter().collect();
    let rank = |request: &Request| {
        ranks[groups.iter().position(|known| *known == group(request)).unwrap()]
    };
    changed.requests.sort_by_key(|request| (request.start_ms, rank(request)));
    for request in &mut changed.requests {
        let old = ["", "a", "b"].iter().position(|name| request.scope == *name).unwrap();
        request.scope = names[old].to_owned();
    }
    let (before, after) = (&case.played, play(&changed)?);
    let (rows, others) = (numberless(&before.rows), numberless(&after.rows));
    law(rows == others, || difference(&others, &rows))?;
    law(before.sums.predicted == after.sums.predicted, || format!("{:?}", after.sums))?;
    law(before.sums.perfect == after.sums.perfect, || format!("{:?}", after.sums))
}

/// Each scope, model and set of parameters alone, and the sum of what they cost.
pub(crate) fn independent_requests_cost_alone_the_same(case: &Case<'_>) -> Law {
    let (timeline, together) = (case.timeline, &case.played);
    let groups: BTreeSet<_> = timeline.requests.iter().map(group).collect();
    let (mut rows, mut cost, mut perfect) = (Vec::new(), 0, 0);
    for one in groups {
        let mut alone = timeline.clone();
        alone.requests.retain(|request| group(request) == one);
        let played = play(&alone)?;
        rows.extend(played.rows);
        cost += played.sums.predicted.cost.0;
        perfect += played.sums.perfect.cost.0;
    }
    let (rows, all) = (numberless(&rows), numberless(&together.rows));
    law(rows == all, || difference(&rows, &all))?;
    let sums = (together.sums.predicted.cost.0, together.sums.perfect.cost.0);
    law(sums == (cost, perfect), || format!("{sums:?} together, {:?} alone", (cost, perfect)))
}

/// Blocks with other ids, all moved in time.
pub(crate) fn names_and_the_hour_change_nothing(case: &Case<'_>) -> Law {
    let (timeline, mut draw) = (case.timeline, case.draw());
    let by = i64::try_from(draw.below(200_000_000_000)).unwrap() - 100_000_000_000;
    let mut changed = timeline.clone();
    for request in &mut changed.requests {
        request.start_ms += by;
        request.first_token_ms += by;
        for block in &mut request.blocks {
            block.id = format!("é/{}/{}", case.seed, block.id.chars().rev().collect::<String>());
        }
    }
    let back = |row: &RunRecord| RunRecord {
        start_ms: row.start_ms - by,
        first_token_ms: row.first_token_ms - by,
        end_ms: row.end_ms - by,
        ..row.clone()
    };
    let (before, after) = (&case.played, play(&changed)?);
    let rows: Vec<RunRecord> = after.rows.iter().map(back).collect();
    law(rows == before.rows, || difference(&rows, &before.rows))
}

/// Until the first row that differs both caches hold the same, and a longer window finds all that a
/// shorter one finds: so that row reads more. What holds only where equal rows mean equal caches is
/// left out: blocks without tokens, and two entries of one prefix.
pub(crate) fn a_longer_window_first_reads_more(case: &Case<'_>) -> Law {
    let mut short = case.timeline.clone();
    short.rules.ttl_in_key = Some(false);
    for block in short.requests.iter_mut().flat_map(|request| &mut request.blocks) {
        block.tokens += 1;
    }
    let lookback = short.rules.lookback.unwrap_or(20);
    let mut long = short.clone();
    long.rules.lookback = Some(lookback + case.draw().between(1, 5));
    let (short, long) = (play(&short)?.rows, play(&long)?.rows);
    let classes = |row: &RunRecord| [row.read, row.write_5m, row.write_1h, row.uncached];
    let first = short.iter().zip(&long).find(|(short, long)| classes(short) != classes(long));
    let reads_more = first.is_none_or(|(short, long)| long.read > short.read);
    law(reads_more, || difference(&long, &short))
}

/// Whole blocks that two requests have in common, from the start; none across caches.
fn shares(request: &Request, other: &Request) -> usize {
    if group(request) != group(other) {
        return 0;
    }
    let pairs = request.blocks.iter().zip(&other.blocks);
    pairs.take_while(|(one, two)| one.id == two.id).count()
}

/// Tokens of the first blocks.
fn tokens(request: &Request, blocks: usize) -> u64 {
    request.blocks[..blocks].iter().map(|block| block.tokens).sum()
}

/// The first rows that differ.
fn difference(rows: &[RunRecord], expected: &[RunRecord]) -> String {
    let pair = rows.iter().zip(expected).find(|(row, expected)| row != expected);
    pair.map_or_else(
        || format!("{} rows, {} expected", rows.len(), expected.len()),
        |(row, expected)| format!("{row:?}\nexpected {expected:?}"),
    )
}
