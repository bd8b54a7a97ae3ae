#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

//! Laws of synthetic content: exact sizes, the same bytes every time, calls and results in pairs.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::request::{Block, Message, Role, Tool};
use crate::scenario::DispatchSize;
use crate::tokens::{Tokenizer, TokenizerSpec, Vocabulary};

const SIZES: [u64; 10] = [1, 2, 5, 29, 30, 31, 100, 399, 4_000, 30_000];

fn exact(vocabulary: Vocabulary) -> Tokenizer {
    Tokenizer::new(TokenizerSpec::exact(vocabulary))
}

fn wording(tokenizer: &Tokenizer) -> Wording<'_> {
    Wording { tokenizer, provider: crate::provider::ALL[0] }
}

fn o200k() -> Tokenizer {
    exact(Vocabulary::O200k)
}

fn scaled(scale_milli: u32) -> Tokenizer {
    Tokenizer::new(TokenizerSpec { vocabulary: Vocabulary::O200k, scale_milli })
}

fn message_tokens(messages: &[Message], tokenizer: &Tokenizer) -> u64 {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    blocks.map(|block| tokenizer.scaled(wording(tokenizer).block(block)).0).sum()
}

fn tool_tokens(tools: &[Tool], tokenizer: &Tokenizer) -> u64 {
    tools.iter().map(|tool| tokenizer.scaled(wording(tokenizer).tool(tool)).0).sum()
}

fn smallest(error: ContentError) -> u64 {
    match error {
        ContentError::TooSmall { smallest, .. } => smallest,
        ContentError::NothingToFill { .. }
        | ContentError::NotExact { .. }
        | ContentError::BadJson { .. } => panic!("{error}"),
    }
}

/// What is made at that size, or at the smallest one, with its size.
fn at_least<T>(tokens: u64, make: impl Fn(u64) -> Result<T, ContentError>) -> (u64, T) {
    match make(tokens) {
        Ok(made) => (tokens, made),
        Err(error) => {
            let least = smallest(error);
            assert!(least > tokens);
            (least, make(least).unwrap())
        }
    }
}

fn ids(messages: &[Message]) -> Vec<String> {
    messages.iter().flat_map(Message::tool_use_ids).map(str::to_owned).collect()
}

#[test]
fn texts_of_every_kind_are_exact() {
    for vocabulary in Vocabulary::ALL {
        let tokenizer = exact(vocabulary);
        for kind in TextKind::ALL {
            for size in SIZES {
                let text = text(7, "test", kind, size, &tokenizer).unwrap();
                assert_eq!(tokenizer.count(&text).0, size, "{vocabulary} {kind:?}");
                assert!(!text.contains('~') && !text.trim().is_empty(), "{text}");
                if kind == TextKind::Json && size >= 20 {
                    assert!(serde_json::from_str::<Vec<serde_json::Value>>(&text).is_ok());
                }
            }
        }
    }
}

#[test]
fn single_texts_are_exact() {
    for tokenizer in Vocabulary::ALL.map(exact) {
        for size in SIZES {
            let system = system(7, size, &tokenizer).unwrap();
            let counts: Vec<u64> = system.iter().map(|text| tokenizer.count(text).0).collect();
            assert_eq!(counts.iter().sum::<u64>(), size);
            assert_eq!(counts[0], size.min(IDENTITY_TOKENS));
            for index in [0, 998] {
                let made = [
                    directive(7, index, size, &tokenizer).unwrap(),
                    prompt(7, index, size, &tokenizer).unwrap(),
                    identity_line(7, index, size, &tokenizer).unwrap(),
                    placeholder(7, size, &tokenizer).unwrap(),
                ];
                let counts = made.map(|text| tokenizer.count(&text).0);
                assert_eq!(counts, [size; 4]);
            }
        }
    }
    assert!(system(7, 0, &o200k()).unwrap().is_empty());
}

#[test]
fn tools_sum_up_whatever_their_number() {
    for tokenizer in Vocabulary::ALL.map(exact) {
        for count in [1, 2, 41, 300] {
            for tokens in [5_000, 12_000, 12_001, 30_000] {
                let make = |tokens| tools(7, count, tokens, &wording(&tokenizer));
                let (tokens, tools) = at_least(tokens, make);
                assert_eq!(tools.len() as u64, count);
                assert_eq!(tool_tokens(&tools, &tokenizer), tokens);
                let names: BTreeSet<&String> = tools.iter().map(|tool| &tool.name).collect();
                assert_eq!(names.len(), tools.len());
                assert!(names.contains(&"Agent".to_owned()));
                for tool in &tools {
                    let schema = tool.input_schema.as_ref().unwrap().as_str();
                    let value: serde_json::Value = serde_json::from_str(schema).unwrap();
                    assert_eq!(value["type"], "object");
                    assert_eq!(value.to_string(), schema, "compact");
                }
            }
        }
    }
    assert!(tools(7, 0, 0, &wording(&o200k())).unwrap().is_empty());
    assert!(matches!(tools(7, 0, 5, &wording(&o200k())), Err(ContentError::NothingToFill { .. })));
}

#[test]
fn histories_sum_up_whatever_their_turns() {
    for tokenizer in Vocabulary::ALL.map(exact) {
        for turns in [0, 1, 12, 30] {
            for tokens in [399, 1_500, 4_000, 30_000] {
                let make = |tokens| history(7, tokens, turns, &wording(&tokenizer));
                let (tokens, history) = at_least(tokens, make);
                assert_eq!(history.len() as u64, 1 + 2 * turns);
                assert_eq!(message_tokens(&history, &tokenizer), tokens, "{turns} turns");
            }
        }
    }
}

#[test]
fn every_call_has_its_result_in_the_next_message() {
    let history = history(7, 30_000, 30, &wording(&o200k())).unwrap();
    let ids = ids(&history);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    assert!(ids.len() > 30);
    for (index, pair) in history.windows(2).enumerate() {
        let [asked, answered] = pair else { panic!("a window of two") };
        assert_eq!(asked.role == Role::User, index % 2 == 0);
        let results = answered.blocks.iter().filter_map(|block| match block {
            Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            Block::Text(_) | Block::Thinking { .. } | Block::ToolUse { .. } | Block::Other(_) => {
                None
            }
        });
        let calls: Vec<&str> = asked.tool_use_ids().collect();
        assert_eq!(calls, results.collect::<Vec<_>>());
        assert!(index % 2 == 0 || !calls.is_empty());
        assert!(calls.iter().all(|id| id.len() == 30 && id.starts_with("toolu_")));
    }
    let last = history.last().unwrap().blocks.last().unwrap();
    assert!(wording(&o200k()).block(last) > 0);
}

#[test]
fn dispatches_sum_up_and_hold_the_directives() {
    for tokenizer in Vocabulary::ALL.map(exact) {
        let directives: Vec<String> =
            (0..5).map(|index| directive(7, index, 200, &tokenizer).unwrap()).collect();
        for (blocks, size) in [(0, 400), (2, 400), (0, 100), (2, 100), (1, 30), (0, 230)] {
            let wording = wording(&tokenizer);
            let make = |tokens| {
                let size = DispatchSize::Total(tokens);
                dispatch(7, &directives, size, blocks, blocks, "Agent", &wording)
            };
            let (tokens, message) = at_least(5 * size, make);
            assert_eq!(message_tokens(std::slice::from_ref(&message), &tokenizer), tokens);
            assert_eq!(message.tool_use_ids().collect::<BTreeSet<_>>().len(), 5);
            assert_eq!(message.blocks.len() as u64, 5 + 2 * blocks);
            for (directive, block) in directives.iter().zip(&message.blocks[2 * blocks as usize..])
            {
                let Block::ToolUse { name, input, .. } = block else { panic!("{block:?}") };
                assert_eq!(name, "Agent");
                let input: serde_json::Value = serde_json::from_str(input.as_str()).unwrap();
                assert_eq!(input["subagent_type"], "fork");
                let prompt = input["prompt"].as_str().unwrap();
                // What is written around a call takes most room in a Claude family.
                let is_claude = tokenizer.spec().claude_family().is_some();
                if !is_claude || size > 230 {
                    assert_eq!(prompt.starts_with(directive.as_str()), size > 205, "{prompt}");
                }
                if !is_claude || size > 100 {
                    assert!(prompt.starts_with(&directive[..2]), "{prompt}");
                }
            }
        }
    }
}

#[test]
fn a_natural_dispatch_has_the_directives_as_prompts() {
    let directives = ["Say \"hi\"\n\\ done ".to_owned(), "\u{1f600}".to_owned()];
    let natural = DispatchSize::Natural;
    let message = dispatch(7, &directives, natural, 0, 1, "Agent", &wording(&o200k())).unwrap();
    for (directive, block) in directives.iter().zip(&message.blocks[1..]) {
        let Block::ToolUse { input, .. } = block else { panic!("{block:?}") };
        let input: serde_json::Value = serde_json::from_str(input.as_str()).unwrap();
        assert_eq!(input["prompt"], directive.as_str());
    }
}

#[test]
fn sizes_too_small_name_the_smallest_that_works() {
    let tokenizer = o200k();
    let least = smallest(tools(7, 41, 10, &wording(&tokenizer)).unwrap_err());
    assert_eq!(tool_tokens(&tools(7, 41, least, &wording(&tokenizer)).unwrap(), &tokenizer), least);
    assert_eq!(smallest(tools(7, 41, least - 1, &wording(&tokenizer)).unwrap_err()), least);
    let least = smallest(history(7, 0, 30, &wording(&tokenizer)).unwrap_err());
    assert_eq!(
        message_tokens(&history(7, least, 30, &wording(&tokenizer)).unwrap(), &tokenizer),
        least
    );
    assert_eq!(smallest(history(7, least - 1, 30, &wording(&tokenizer)).unwrap_err()), least);
    let told = vec!["Go".to_owned(); 3];
    let made = |tokens| {
        dispatch(7, &told, DispatchSize::Total(tokens), 1, 1, "Agent", &wording(&tokenizer))
    };
    let least = smallest(made(0).unwrap_err());
    assert_eq!(message_tokens(&[made(least).unwrap()], &tokenizer), least);
    assert_eq!(smallest(made(least - 1).unwrap_err()), least);
    assert_eq!(smallest(directive(7, 12_345, 1, &tokenizer).unwrap_err()), 2);
    assert_eq!(smallest(text(7, "a", TextKind::Rust, 0, &tokenizer).unwrap_err()), 1);
    assert_eq!(smallest(placeholder(7, 0, &tokenizer).unwrap_err()), 1);
}

#[test]
fn the_same_seed_gives_the_same_text_and_another_seed_another() {
    let tokenizer = o200k();
    let all = |seed| {
        let directives = [directive(seed, 0, 200, &tokenizer).unwrap()];
        let size = DispatchSize::PerCall(400);
        (
            tools(seed, 41, 12_000, &wording(&tokenizer)).unwrap(),
            system(seed, 4_000, &tokenizer).unwrap(),
            history(seed, 30_000, 12, &wording(&tokenizer)).unwrap(),
            dispatch(seed, &directives, size, 1, 1, "Agent", &wording(&tokenizer)).unwrap(),
        )
    };
    let (first, second, other) = (all(7), all(7), all(8));
    assert_eq!(first, second);
    assert!(first.0 != other.0 && first.1[1] != other.1[1] && first.2 != other.2);
    assert!(ids(&first.2).iter().all(|id| !ids(&other.2).contains(id)));
    assert_ne!(first.3, other.3);
}

#[test]
fn directives_differ_near_their_start() {
    let tokenizer = o200k();
    let heads: BTreeSet<String> = (0..2_000)
        .map(|index| directive(7, index, 40, &tokenizer).unwrap()[..5].to_owned())
        .collect();
    assert_eq!(heads.len(), 2_000);
}

#[test]
fn children_in_parallel_get_the_same_text() {
    use rayon::prelude::*;
    let make = |index: u64| directive(7, index, 60, &o200k()).unwrap();
    let one_by_one: Vec<String> = (0..100).map(make).collect();
    let at_once: Vec<String> = (0..100_u64).into_par_iter().map(make).collect();
    assert_eq!(one_by_one, at_once);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_size_is_exact(
        seed: u64, tokens in 1_u64..3_000, kind in 0..TextKind::ALL.len(),
        vocabulary in proptest::sample::select(Vocabulary::ALL.to_vec()),
    ) {
        let tokenizer = exact(vocabulary);
        let made = text(seed, "any", TextKind::ALL[kind], tokens, &tokenizer).unwrap();
        prop_assert_eq!(tokenizer.count(&made).0, tokens);
        let made = directive(seed, 99_998, tokens + 2, &tokenizer).unwrap();
        prop_assert_eq!(tokenizer.count(&made).0, tokens + 2);
    }

    #[test]
    fn any_parent_is_exact(
        seed: u64, turns in 0_u64..12, count in 1_u64..60, more in 0_u64..9_000,
        vocabulary in proptest::sample::select(Vocabulary::ALL.to_vec()),
    ) {
        let tokenizer = exact(vocabulary);
        let wording = wording(&tokenizer);
        let (tokens, made) = at_least(100 + more, |tokens| history(seed, tokens, turns, &wording));
        prop_assert_eq!(message_tokens(&made, &tokenizer), tokens);
        let size = 20 * count + more;
        let (tokens, made) = at_least(size, |tokens| tools(seed, count, tokens, &wording));
        prop_assert_eq!(tool_tokens(&made, &tokenizer), tokens);
    }

    #[test]
    fn any_dispatch_is_exact(
        seed: u64, told in proptest::collection::vec("\\PC{0,80}|[ -~\n\t]{0,200}", 1..4),
        more in 0_u64..300, blocks in 0_u64..3,
        vocabulary in proptest::sample::select(Vocabulary::ALL.to_vec()),
    ) {
        let tokenizer = exact(vocabulary);
        let wording = wording(&tokenizer);
        let tokens = 17 * told.len() as u64 + 2 * blocks + more;
        let make = |tokens| {
            let size = DispatchSize::Total(tokens);
            dispatch(seed, &told, size, blocks, blocks, "Agent", &wording)
        };
        let (tokens, made) = at_least(tokens, make);
        prop_assert_eq!(message_tokens(&[made], &tokenizer), tokens);
    }

    #[test]
    fn scaled_sizes_are_within_one(
        seed: u64, scale_milli in 200_u32..=3_000, tokens in 1_000_u64..6_000,
    ) {
        let tokenizer = scaled(scale_milli);
        let made = text(seed, "any", TextKind::Notes, tokens, &tokenizer).unwrap();
        prop_assert!(tokenizer.count(&made).0.abs_diff(tokens) <= 1);
        // Each block hands its rounding on, so sums are within one too.
        let sum: u64 =
            system(seed, tokens, &tokenizer).unwrap().iter().map(|t| tokenizer.count(t).0).sum();
        prop_assert!(sum.abs_diff(tokens) <= 1);
        let made = history(seed, tokens, 5, &wording(&tokenizer)).unwrap();
        prop_assert!(message_tokens(&made, &tokenizer).abs_diff(tokens) <= 1);
        let made = tools(seed, 12, tokens, &wording(&tokenizer)).unwrap();
        prop_assert!(tool_tokens(&made, &tokenizer).abs_diff(tokens) <= 1);
        let told = vec!["Go on.".to_owned(); 4];
        let size = DispatchSize::PerCall(tokens);
        let made = dispatch(seed, &told, size, 1, 1, "Agent", &wording(&tokenizer)).unwrap();
        prop_assert!(message_tokens(&[made], &tokenizer).abs_diff(4 * tokens) <= 1);
    }
}
