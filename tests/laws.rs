//! The invariants of `docs/invariants.md`, over scenarios drawn at random.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "common/replayed.rs"]
mod replayed;

use forkcost::agent::{Play, Variant, play, prepare};
use forkcost::fork::boilerplate::STANDARD;
use forkcost::fork::gate::Era;
use forkcost::fork::guard::Scan;
use forkcost::fork::{CloneShape, ResultShape};
use forkcost::measure::first_difference;
use forkcost::provider::RenderOptions;
use forkcost::record::RunRecord;
use forkcost::request::MarkerPolicy;
use forkcost::request::marker::POLICIES;
use forkcost::scenario::{
    BoilerplateSpec, DispatchSize, HistorySpec, Order, ParentPrompt, ParentState, Scenario,
    SystemSpec, ToolsSpec,
};
use forkcost::simulate::{Billing, Measured, Rules, measure, simulate};
use forkcost::tokens::Tokenizer;
use forkcost::units::CacheTtl;
use forkcost::whatif::{Study, study};
use proptest::prelude::*;

fn studied(scenario: &Scenario) -> Study {
    study(scenario, &mut |_| {}).unwrap()
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Simultaneous),
        Just(Order::Sequential),
        Just(Order::AfterFirstToken),
        Just(Order::Prewarm),
        (1_u64..4).prop_map(|width| Order::Waves { width }),
        (0_i64..400_000).prop_map(|gap_ms| Order::Stagger { gap_ms }),
    ]
}

fn state() -> impl Strategy<Value = (ParentState, i64)> {
    prop_oneof![
        (0_i64..300_000).prop_map(|age| (ParentState::Warm, age)),
        Just((ParentState::Cold, 0)),
        (300_000_i64..4_000_000).prop_map(|age| (ParentState::Expired, age)),
    ]
}

/// Small scenarios of every kind: sizes around the minimum, all orders, policies and states.
fn scenario() -> impl Strategy<Value = Scenario> {
    let sizes = (1_u64..7, 0_u64..3, 1_u64..8, 200_u64..1_500);
    let policy = (0..POLICIES.len()).prop_map(|index| POLICIES[index].1.clone());
    (sizes, policy, order(), state(), 0_u64..3, any::<([bool; 6], u8, u16)>()).prop_map(
        |((children, turns, tools, history), policy, order, (state, age_ms), thinking, bits)| {
            let ([one_hour, per_block, boilerplate, excised, strings, chapter], apart, seed) = bits;
            let mut scenario = common::golden();
            scenario.seed = u64::from(seed);
            scenario.parent.prompt = ParentPrompt::Parts {
                tools: ToolsSpec::Sized { count: tools, tokens: tools * 120 },
                system: SystemSpec::Sized { tokens: 300 },
                history: HistorySpec::Sized { tokens: history + turns * 200, turns },
            };
            scenario.parent.dispatch.size = DispatchSize::PerCall(150);
            scenario.parent.dispatch.thinking_blocks = thinking;
            scenario.parent.cache.state = state;
            scenario.parent.cache.age_ms = age_ms;
            if one_hour {
                scenario.parent.cache.ttl = CacheTtl::OneHour;
                scenario.fork.ttl = CacheTtl::OneHour;
            }
            if per_block {
                scenario.rules.count = forkcost::cache::PositionCount::PerBlock;
            }
            if boilerplate {
                scenario.fork.boilerplate = BoilerplateSpec::Standard;
            }
            if excised {
                scenario.fork.clone = CloneShape::Excise;
            }
            if strings {
                scenario.fork.results = ResultShape::String;
            }
            if boilerplate && !chapter && apart % 2 == 1 {
                scenario.fork.boilerplate = BoilerplateSpec::OwnBlock;
            }
            if chapter {
                scenario.gate.session.era = Era::Chapter;
                scenario.gate.scan = Scan::Substring;
            }
            scenario.fork.children = children;
            scenario.fork.policy = policy;
            scenario.schedule.order = order;
            scenario
        },
    )
}

fn played(scenario: &Scenario) -> (Play, Measured) {
    let tokenizer = Tokenizer::new(scenario.tokenizer);
    let material = prepare(scenario, &tokenizer).unwrap();
    let play = play(scenario, &material, &Variant::of(scenario)).unwrap();
    let options = RenderOptions::default();
    let measured = measure(play.events.clone(), scenario.provider, options, &tokenizer).unwrap();
    (play, measured)
}

fn billed(scenario: &Scenario, measured: &Measured, rules: &Rules) -> Vec<RunRecord> {
    let billing = Billing {
        model: scenario.model,
        date: scenario.date,
        tokenizer: String::new(),
        exactness: "estimated",
    };
    simulate("x", measured, rules, &billing).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn inv_1_every_input_token_is_billed_once(scenario in scenario()) {
        let study = studied(&scenario);
        prop_assert!(!study.records.is_empty());
        for row in &study.records {
            prop_assert_eq!(row.read + row.write_5m + row.write_1h + row.uncached, row.input);
            let writes = row.write_5m_pico_usd + row.write_1h_pico_usd;
            let cost = row.read_pico_usd + writes + row.uncached_pico_usd;
            prop_assert_eq!(cost, row.input_pico_usd);
        }
        let total: u64 = study.segments.iter().map(|row| row.tokens).sum();
        prop_assert_eq!(total, study.summary.child_tokens);
    }

    #[test]
    fn inv_2_one_thread_and_many_give_the_same(scenario in scenario()) {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| studied(&scenario))
        };
        let (one, many) = (with(1), with(4));
        prop_assert_eq!(one.summary, many.summary);
        prop_assert_eq!(one.records, many.records);
        prop_assert_eq!(one.segments, many.segments);
    }

    #[test]
    fn inv_3_reads_lie_between_none_and_the_perfect_cache(scenario in scenario()) {
        let (_, measured) = played(&scenario);
        let real = billed(&scenario, &measured, &Rules::Cache(scenario.rules.clone()));
        let perfect = billed(&scenario, &measured, &Rules::Perfect);
        let none = billed(&scenario, &measured, &Rules::NoCache);
        for ((real, perfect), none) in real.iter().zip(&perfect).zip(&none) {
            prop_assert_eq!(none.read, 0);
            prop_assert!(real.read <= perfect.read, "{} > {}", real.read, perfect.read);
            prop_assert!(real.read <= real.shared_end, "no more is read than is shared");
            prop_assert_eq!(real.reason == "hit", real.read == real.shared_end && real.read > 0);
        }
    }

    #[test]
    fn inv_4_children_share_the_parent_and_differ_inside_the_directive(scenario in scenario()) {
        prop_assume!(scenario.fork.children > 1);
        let study = studied(&scenario);
        let shared = study.summary.shared;
        let own = study.segments.last().unwrap();
        prop_assert_eq!(own.segment.as_str(), "directive");
        prop_assert_eq!(shared.prompt_tokens, own.start_tokens);
        prop_assert_eq!(shared.prompt_tokens + own.tokens, study.summary.child_tokens);
        if scenario.fork.boilerplate == BoilerplateSpec::Standard {
            let rules = Tokenizer::new(scenario.tokenizer)
                .count(STANDARD.trim_end().trim_end_matches("</fork-boilerplate>"));
            prop_assert!(shared.head_tokens >= rules.0);
        }
        let history = study.segments.iter().find(|row| row.segment == "history").unwrap();
        let with_parent = study.summary.shared_with_parent;
        prop_assert_eq!(with_parent.prompt_tokens, history.end_tokens);
        let pointer = study.summary.first_difference.unwrap().pointer;
        prop_assert!(pointer.ends_with("/text"), "{}", pointer);
    }

    #[test]
    fn inv_5_a_scenario_built_again_gives_the_same_bytes(scenario in scenario()) {
        let (first, again) = (played(&scenario).0, played(&scenario).0);
        prop_assert_eq!(first.parent.to_vec(), again.parent.to_vec());
        for (a, b) in first.children.iter().zip(&again.children) {
            prop_assert_eq!(a.to_vec(), b.to_vec());
        }
        let mut other = scenario;
        other.seed += 1;
        prop_assert_ne!(played(&other).0.parent.to_vec(), first.parent.to_vec());
    }

    #[test]
    fn inv_6_a_run_equals_the_replay_of_its_timeline(scenario in scenario()) {
        let same = replayed::run_equals_replay(&scenario, &studied(&scenario));
        prop_assert!(same.is_ok(), "{}", same.unwrap_err());
    }

    #[test]
    fn inv_9_nothing_is_read_before_it_is_visible_or_after_it_expired(scenario in scenario()) {
        let (_, measured) = played(&scenario);
        let records = billed(&scenario, &measured, &Rules::Cache(scenario.rules.clone()));
        let lifetime = scenario.fork.ttl.max(scenario.parent.cache.ttl).as_millis();
        for (index, row) in records.iter().enumerate().filter(|(_, row)| row.read > 0) {
            // What is read ends where an earlier request of the same prefix had a marker, and that
            // request had begun to answer.
            let shares = |earlier: usize| {
                let (one, other) = (&measured.prompts[earlier], &measured.prompts[index]);
                let blocks = forkcost::measure::shared_prefix::equal_blocks(one, other);
                let last = blocks.checked_sub(1).and_then(|last| one.block(last));
                last.map_or(0, |(_, measure)| measure.tokens_so_far.0) >= row.read
            };
            let at = format!("{}@", row.read);
            let wrote = |earlier: &RunRecord| {
                earlier.markers.split(' ').any(|marker| marker.starts_with(&at))
            };
            let mut writers = records[..index]
                .iter()
                .enumerate()
                .filter(|(earlier, other)| shares(*earlier) && wrote(other));
            let visible = writers.any(|(_, other)| other.first_token_ms <= row.start_ms);
            prop_assert!(visible, "{} read what nobody had written", row.request);
            // The last request that wrote or read that prefix started less than a lifetime ago.
            let touched = records[..index].iter().enumerate().any(|(earlier, other)| {
                shares(earlier)
                    && (wrote(other) || other.read == row.read)
                    && row.start_ms - other.start_ms < lifetime
            });
            prop_assert!(touched, "{} read what had run out", row.request);
        }
        let starts: Vec<i64> = records.iter().map(|row| row.start_ms).collect();
        prop_assert!(starts.is_sorted());
    }

    #[test]
    fn sequential_gives_what_after_first_token_gives(scenario in scenario()) {
        let te = |order| {
            let mut scenario = scenario.clone();
            scenario.schedule.order = order;
            studied(&scenario).summary.totals.te
        };
        prop_assert_eq!(te(Order::Sequential), te(Order::AfterFirstToken));
    }
}

/// The golden total, whatever holds the tokens.
#[test]
fn cost_depends_on_tokens_not_on_blocks() {
    for (tools, turns) in [(1, 12), (41, 0), (41, 12), (3, 30)] {
        let mut scenario = common::golden();
        scenario.parent.prompt = ParentPrompt::Parts {
            tools: ToolsSpec::Sized { count: tools, tokens: 12_000 },
            system: SystemSpec::Sized { tokens: 4_000 },
            history: HistorySpec::Sized { tokens: 30_000, turns },
        };
        assert_eq!(
            studied(&scenario).summary.totals.te,
            "39875.00",
            "{tools} tools, {turns} turns"
        );
    }
}

/// Beside the goldens: the same totals from the sizes alone, by the arithmetic of `docs/model.md`.
#[test]
fn totals_follow_from_the_sizes() {
    for children in [1_u64, 2, 5, 9, 16] {
        for directive in [1_u64, 57, 200, 345] {
            let mut scenario = common::golden();
            scenario.fork.children = children;
            scenario.fork.directive = forkcost::scenario::DirectiveSpec::Sized(directive);
            let tail = children * 500;
            let warm = |write: u64| children * (46_000 * 10 + write * 125);
            let te = studied(&scenario).summary.totals.te;
            assert_eq!(te, decimal(warm(tail + directive)), "{children} x {directive}");
            scenario.fork.policy = MarkerPolicy::BeforeDirective;
            scenario.schedule.order = Order::AfterFirstToken;
            let te = studied(&scenario).summary.totals.te;
            let first = 46_000 * 10 + tail * 125 + directive * 100;
            let later = (children - 1) * ((46_000 + tail) * 10 + directive * 100);
            assert_eq!(te, decimal(first + later), "{children} x {directive}");
        }
    }
}

/// Hundredths as decimal text.
fn decimal(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[test]
fn equal_directives_leave_no_difference() {
    let mut scenario = common::golden();
    let texts = vec!["Look at src.".to_owned()];
    scenario.fork.directive = forkcost::scenario::DirectiveSpec::Texts(texts);
    let (play, _) = played(&scenario);
    assert_eq!(first_difference(&play.children).unwrap(), None);
    assert_eq!(
        studied(&scenario).summary.shared.prompt_tokens,
        studied(&scenario).summary.child_tokens
    );
}
