//! Made-up runs for the tests of this module; their sums are worked out here, apart from the code
//! under test.

use std::collections::BTreeMap;

use crate::analysis::{
    Baselines, Change, Finding, FirstDifference, Shared, Summary, TokenizerNote, Totals,
};
use crate::record::{RunRecord, SegmentRecord};
use crate::report::Manifest;
use crate::units::{PicoUsd, Ratio, Tokens};
use crate::usage::Usage;

const BASE: i128 = 5_000_000;
const READ: i128 = 500_000;
const WRITE_5M: i128 = 6_250_000;
const WRITE_1H: i128 = 10_000_000;
const OUTPUT: i128 = 25_000_000;

/// One made-up run.
pub(crate) struct Fixture {
    pub(crate) summary: Summary,
    pub(crate) records: Vec<RunRecord>,
    pub(crate) segments: Vec<SegmentRecord>,
}

/// What distinguishes the fixtures.
struct Shape {
    name: &'static str,
    children: u64,
    tools: u64,
    history: u64,
    markers: [&'static str; 6],
    parent_start_ms: i64,
    prewarm: Option<Usage>,
    first: Usage,
    later: Usage,
    gap_ms: i64,
}

fn usage(read: u64, write_5m: u64, write_1h: u64, uncached: u64) -> Usage {
    Usage {
        read: Tokens(read),
        write_5m: Tokens(write_5m),
        write_1h: Tokens(write_1h),
        uncached: Tokens(uncached),
        output: Tokens(0),
    }
}

fn tail_markers(
    identity: &'static str,
    system: &'static str,
    end: &'static str,
) -> [&'static str; 6] {
    let both: &'static str = Box::leak(format!("{identity} {system}").into_boxed_str());
    ["", both, "", "", "", end]
}

/// The chapter's five children of a warm parent.
pub(crate) fn golden() -> Fixture {
    build(&golden_shape())
}

fn golden_shape() -> Shape {
    Shape {
        name: "five-children-warm",
        children: 5,
        tools: 12_000,
        history: 30_000,
        markers: tail_markers("12030@5m", "16000@5m", "48700@5m"),
        parent_start_ms: -40_000,
        prewarm: None,
        first: usage(46_000, 2_700, 0, 0),
        later: usage(46_000, 2_700, 0, 0),
        gap_ms: 0,
    }
}

/// Sixty-four children: a long tail and rows left out of the timeline.
pub(crate) fn wide() -> Fixture {
    let input = 46_000 + 64 * 500 + 200;
    build(&Shape {
        name: "sixty-four",
        children: 64,
        markers: tail_markers("12030@5m", "16000@5m", "78200@5m"),
        first: usage(46_000, input - 46_000, 0, 0),
        later: usage(input - 200, 200, 0, 0),
        gap_ms: 250,
        ..golden_shape()
    })
}

/// One child, a parent of an hour ago, and answers.
pub(crate) fn one_child() -> Fixture {
    let later = Usage { output: Tokens(1_234), ..usage(16_000, 30_700, 0, 0) };
    build(&Shape {
        name: "one-child",
        children: 1,
        markers: tail_markers("12030@5m", "16000@5m", "46700@5m"),
        parent_start_ms: -3_600_000,
        first: later,
        later,
        ..golden_shape()
    })
}

/// Writes of both lifetimes in one request.
pub(crate) fn one_hour() -> Fixture {
    build(&Shape {
        name: "one-hour",
        children: 3,
        markers: tail_markers("12030@1h", "16000@1h", "47700@5m"),
        first: usage(0, 31_700, 16_000, 0),
        later: usage(16_000, 31_500, 0, 200),
        gap_ms: 20_000,
        ..golden_shape()
    })
}

/// A prewarm request before the children.
pub(crate) fn prewarm() -> Fixture {
    build(&Shape {
        name: "prewarm",
        children: 8,
        markers: tail_markers("12030@5m", "16000@5m", "50200@5m"),
        prewarm: Some(usage(46_000, 4_000, 0, 0)),
        first: usage(50_000, 200, 0, 0),
        later: usage(50_000, 200, 0, 0),
        ..golden_shape()
    })
}

/// Four hundred children of a small parent of which nothing is cached.
pub(crate) fn uncached() -> Fixture {
    let input = 100 + 4_000 + 50 + 400 * 500 + 200;
    build(&Shape {
        name: "all-uncached",
        children: 400,
        tools: 100,
        history: 50,
        markers: [""; 6],
        first: usage(0, 0, 0, input),
        later: usage(0, 0, 0, input),
        gap_ms: 1_000,
        ..golden_shape()
    })
}

/// Every fixture.
pub(crate) fn all() -> Vec<Fixture> {
    vec![golden(), wide(), one_child(), one_hour(), prewarm(), uncached()]
}

/// A manifest for any fixture.
pub(crate) fn manifest() -> Manifest {
    Manifest {
        scenario: "five-children-warm".to_owned(),
        scenario_hash: "b3-0123".to_owned(),
        model: "claude-opus-5".to_owned(),
        date: "2026-08-01".to_owned(),
        prices_from: "2026-07-24".to_owned(),
        facts_checked: "2026-08-01".to_owned(),
        tokenizer: "o200k_base".to_owned(),
        exactness: "estimated".to_owned(),
        seed: 7,
        ..Manifest::default()
    }
}

fn build(shape: &Shape) -> Fixture {
    let segments = segments(shape);
    let total = segments.last().map_or(0, |segment| segment.end_tokens);
    assert_eq!(shape.first.input().0, total, "{}", shape.name);
    assert_eq!(shape.later.input().0, total, "{}", shape.name);
    let records = records(shape, total);
    let summary = summary(shape, &records, total);
    Fixture { summary, records, segments }
}

fn segments(shape: &Shape) -> Vec<SegmentRecord> {
    let sizes = [
        ("tools", shape.tools, 41),
        ("system", 4_000, 2),
        ("history", shape.history, 25),
        ("dispatch", shape.children * 400, shape.children),
        ("placeholders", shape.children * 100, shape.children),
        ("directive", 200, 1),
    ];
    let mut start = 0;
    let mut rows = Vec::new();
    for (index, (segment, tokens, blocks)) in sizes.into_iter().enumerate() {
        rows.push(SegmentRecord {
            segment: segment.to_owned(),
            blocks,
            bytes: tokens * 4,
            tokens,
            start_tokens: start,
            end_tokens: start + tokens,
            markers: shape.markers[index].to_owned(),
            shared: if segment == "directive" { "own" } else { "all" }.to_owned(),
        });
        start += tokens;
    }
    rows
}

fn records(shape: &Shape, total: u64) -> Vec<RunRecord> {
    let mut rows = Vec::new();
    let parent = usage(0, shape.tools + 4_000 + shape.history, 0, 0);
    rows.push(row(0, "parent", "parent", shape.parent_start_ms, parent));
    if let Some(prewarm) = shape.prewarm {
        rows.push(row(1, "prewarm", "prewarm", 0, prewarm));
    }
    let begin_ms = if shape.prewarm.is_some() { 2_000 } else { 0 };
    for index in 0..shape.children {
        let usage = if index == 0 { shape.first } else { shape.later };
        let name = format!("child-{:03}", index + 1);
        let start_ms = begin_ms + shape.gap_ms * index as i64;
        rows.push(row(rows.len() as u32, &name, "child", start_ms, usage));
    }
    for plan in ["no_cache", "perfect", "fresh", "chapter"] {
        for index in 0..shape.children {
            let own = 200;
            let shared = total - own;
            let parents = shape.tools + 4_000 + shape.history;
            let usage = match (plan, index) {
                ("no_cache", _) | ("chapter", 0) => usage(0, 0, 0, total),
                ("perfect", 0) => usage(parents, 0, 0, total - parents),
                ("fresh", _) => usage(0, 16_200, 0, 0),
                _ => usage(shared, 0, 0, own),
            };
            let name = format!("child-{:03}", index + 1);
            let mut record = row(index as u32, &name, "child", 0, usage);
            record.plan = plan.to_owned();
            record.reason = String::new();
            rows.push(record);
        }
    }
    rows
}

fn row(seq: u32, request: &str, role: &str, start_ms: i64, usage: Usage) -> RunRecord {
    let pico = |tokens: Tokens, each: i128| i128::from(tokens.0) * each;
    let read = pico(usage.read, READ);
    let write_5m = pico(usage.write_5m, WRITE_5M);
    let write_1h = pico(usage.write_1h, WRITE_1H);
    let uncached = pico(usage.uncached, BASE);
    let input = read + write_5m + write_1h + uncached;
    RunRecord {
        plan: "this_plan".to_owned(),
        seq,
        request: request.to_owned(),
        role: role.to_owned(),
        model: "claude-opus-5".to_owned(),
        start_ms,
        first_token_ms: start_ms + 2_000,
        end_ms: start_ms + 20_000,
        read: usage.read.0,
        write_5m: usage.write_5m.0,
        write_1h: usage.write_1h.0,
        uncached: usage.uncached.0,
        input: usage.input().0,
        output: usage.output.0,
        read_pico_usd: read,
        write_5m_pico_usd: write_5m,
        write_1h_pico_usd: write_1h,
        uncached_pico_usd: uncached,
        input_pico_usd: input,
        output_pico_usd: pico(usage.output, OUTPUT),
        base_pico_usd: BASE,
        te: Ratio::new(input, BASE).map_or_else(String::new, |te| te.to_decimal(2)),
        reason: if usage.read.0 > 0 { "no_entry_at_boundary" } else { "no_marker" }.to_owned(),
        shared_end: usage.input().0 - 200,
        read_end: "/messages/24/content/0".to_owned(),
        body_bytes: 210_000,
        prompt_bytes: 200_000,
        shared_with_parent: 46_000,
        markers: "12030@5m 16000@5m".to_owned(),
        tokenizer: "o200k_base".to_owned(),
        exactness: "estimated".to_owned(),
    }
}

fn totals(records: &[RunRecord], plan: &str) -> Totals {
    let mut sums = Totals::default();
    let (mut input, mut all) = (0, 0);
    for record in records.iter().filter(|row| row.plan == plan && row.role != "parent") {
        sums.requests += 1;
        sums.read += record.read;
        sums.write_5m += record.write_5m;
        sums.write_1h += record.write_1h;
        sums.uncached += record.uncached;
        sums.output += record.output;
        input += record.input_pico_usd;
        all += record.input_pico_usd + record.output_pico_usd;
    }
    sums.te = Ratio::new(input, BASE).map_or_else(String::new, |te| te.to_decimal(2));
    sums.cost_pico_usd = all.to_string();
    sums.cost_usd = PicoUsd(all).to_usd_string();
    sums
}

fn summary(shape: &Shape, records: &[RunRecord], child_tokens: u64) -> Summary {
    let this_plan = totals(records, "this_plan");
    let no_cache = totals(records, "no_cache");
    let whole = |text: &str| text.replace('.', "").parse::<i128>().unwrap();
    let (te, base) = (whole(&this_plan.te), whole(&no_cache.te));
    let mut reasons = BTreeMap::new();
    for record in records.iter().filter(|row| row.plan == "this_plan" && row.role == "child") {
        *reasons.entry(record.reason.clone()).or_insert(0) += 1;
    }
    let shared = |prompt_tokens| Shared {
        body_bytes: 187_654,
        prompt_bytes: 181_234,
        prompt_tokens,
        head_tokens: 0,
    };
    Summary {
        schema_version: 1,
        scenario: shape.name.to_owned(),
        title: "Five children | of a *warm* parent".to_owned(),
        model: "claude-opus-5".to_owned(),
        marker_policy: "cc_tail".to_owned(),
        schedule: "simultaneous".to_owned(),
        prices_from: "2026-07-24".to_owned(),
        facts_checked: "2026-07-30".to_owned(),
        date: "2026-08-01".to_owned(),
        tokenizer: TokenizerNote {
            name: "o200k_base".to_owned(),
            exactness: "estimated".to_owned(),
            note: "another family's tokenizer; Claude's own counts differ".to_owned(),
        },
        children: shape.children,
        child_tokens,
        shared: shared(child_tokens - 200),
        shared_with_parent: shared(shape.tools + 4_000 + shape.history),
        saving_vs_no_cache: Ratio::new(base - te, base).unwrap().to_decimal(4),
        baselines: Baselines {
            no_cache,
            perfect: totals(records, "perfect"),
            chapter: totals(records, "chapter"),
            fresh: Some(totals(records, "fresh")),
        },
        fresh_kind: Some("same_type".to_owned()),
        totals: this_plan,
        first_difference: (shape.children > 1).then(|| FirstDifference {
            pointer: "/messages/26/content/5/text".to_owned(),
            byte: 187_654,
            part: Some("directive".to_owned()),
            excerpt: "look | at\nthe `tests`".to_owned(),
            other_excerpt: "look at <docs>".to_owned(),
        }),
        reasons,
        changes: changes(records),
        findings: vec![Finding {
            id: "prices_old".to_owned(),
            text: "the price table is 8 days older than the date asked for".to_owned(),
        }],
    }
}

fn changes(records: &[RunRecord]) -> Vec<Change> {
    let change = |id: &str, text: &str, saving: &str, keeps_context| Change {
        id: id.to_owned(),
        text: text.to_owned(),
        patch: vec![
            "fork.marker_policy = \"before_directive\"".to_owned(),
            "schedule.order = \"after_first_token\"".to_owned(),
        ],
        totals: Totals { te: "28125.00".to_owned(), ..totals(records, "this_plan") },
        saving: saving.to_owned(),
        keeps_context,
    };
    vec![
        change("fresh", "fresh agents instead of forks", "0.7680", false),
        change(
            "before_directive_first_alone",
            "marker before the directive and the first child alone",
            "0.2947",
            true,
        ),
        change("ttl_1h", "markers of one hour", "-0.2539", true),
    ]
}
