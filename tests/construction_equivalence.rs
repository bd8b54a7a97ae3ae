//! What the benches time equals the plain way, on the same fixtures; and what building many
//! children takes.

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../benches/fixtures.rs"]
mod fixtures;

use forkcost::measure::common::{common_body_prefix, common_prefix};
use forkcost::measure::{first_difference, shared_body_bytes, shared_prefix};
use forkcost::provider::RenderOptions;
use forkcost::provider::anthropic::Anthropic;
use forkcost::request::RequestBody;
use forkcost::simulate::{Measured, measure};
use forkcost::tokens::{Tokenizer, TokenizerSpec};

const SIZES: [usize; 2] = [200_000, 4_000_000];

fn tokenizer() -> Tokenizer {
    Tokenizer::new(TokenizerSpec::parse("o200k_base").unwrap())
}

fn measured(bodies: &[RequestBody]) -> Measured {
    measure(fixtures::events(bodies), &Anthropic, RenderOptions::default(), &tokenizer()).unwrap()
}

#[test]
fn a_built_body_has_the_bytes_of_the_plain_serialisation() {
    for size in SIZES {
        let fork = fixtures::fork(size, 1);
        for (index, body) in fixtures::build(&fork, &fixtures::directives(3)).iter().enumerate() {
            let (built, plain) =
                (body.to_vec(), fixtures::naive(&fork, &fixtures::directive(index)));
            let at = fixtures::byte_loop(&built, &plain);
            let end =
                |bytes: &[u8]| String::from_utf8_lossy(&bytes[at..]).chars().take(60).collect();
            let (one, other): (String, String) = (end(&built), end(&plain));
            assert!(built == plain, "child {index} differs at {at}: {one} instead of {other}");
        }
    }
}

#[test]
fn fixtures_have_the_size_that_the_benches_name() {
    for size in SIZES {
        let bytes = fixtures::build(&fixtures::fork(size, 1), &fixtures::directives(1))[0].len();
        assert!(bytes.abs_diff(size) < size / 8, "{bytes} bytes instead of {size}");
    }
}

#[test]
fn shared_prefixes_equal_the_byte_loop() {
    for size in SIZES {
        let bodies = fixtures::build(&fixtures::fork(size, 1), &fixtures::directives(20));
        let bytes: Vec<Vec<u8>> = bodies.iter().map(RequestBody::to_vec).collect();
        let loops: Vec<usize> =
            bytes.iter().skip(1).map(|other| fixtures::byte_loop(&bytes[0], other)).collect();
        for (index, expected) in loops.iter().enumerate() {
            assert_eq!(common_body_prefix(&bodies[0], &bodies[index + 1]), *expected);
            assert_eq!(common_prefix(&bytes[0], &bytes[index + 1]), *expected);
        }
        let shortest = *loops.iter().min().unwrap() as u64;
        assert_eq!(shared_body_bytes(&bodies), shortest);
        assert_eq!(first_difference(&bodies).unwrap().unwrap().byte, shortest);
        // Bodies that share nothing in memory are compared on their bytes.
        let apart: Vec<RequestBody> = bytes.into_iter().map(RequestBody::captured).collect();
        assert_eq!(shared_body_bytes(&apart), shortest);
        assert_eq!(first_difference(&apart).unwrap(), first_difference(&bodies).unwrap());
    }
}

#[test]
fn counts_of_a_family_equal_the_sum_over_each_body_by_itself() {
    let bodies = fixtures::build(&fixtures::fork(200_000, 2), &fixtures::directives(4));
    let measured = measured(&bodies);
    for (body, prompt) in bodies.iter().zip(&measured.prompts) {
        assert_eq!(prompt.tokens().0, fixtures::recount(&body.to_vec()));
    }
}

#[test]
fn what_siblings_share_in_memory_changes_no_measure() {
    let bodies = fixtures::build(&fixtures::fork(200_000, 3), &fixtures::directives(5));
    let apart: Vec<RequestBody> =
        bodies.iter().map(|body| RequestBody::captured(body.to_vec())).collect();
    let (family, alone) = (measured(&bodies), measured(&apart));
    for (one, other) in family.prompts.iter().zip(&alone.prompts) {
        assert!(one.blocks().map(|(_, measure)| measure).eq(other.blocks().map(|(_, m)| m)));
    }
    let tokenizer = tokenizer();
    assert_eq!(
        shared_prefix(&bodies, &family.prompts, &tokenizer),
        shared_prefix(&apart, &alone.prompts, &tokenizer)
    );
}

/// Building a child takes two allocations, and no more than its own text and a kilobyte: nothing of
/// the prefix.
#[test]
fn a_child_takes_its_own_text_and_two_allocations() {
    const CHILDREN: usize = 10_000;
    let fork = fixtures::fork(200_000, 4);
    let family = fork.plan.family(&Anthropic).unwrap();
    let directives: Vec<String> = (0..CHILDREN).map(fixtures::directive).collect();
    let own: usize = directives.iter().map(String::len).sum();
    let mut bodies = Vec::with_capacity(CHILDREN);
    let taken = allocation_counter::measure(|| {
        let made = directives.iter().map(|text| forkcost::fork::child(&fork.plan, &family, text));
        bodies.extend(made);
    });
    println!("{taken:?} for {CHILDREN} children, own text {own} bytes");
    assert_eq!(bodies.len(), CHILDREN);
    assert!(taken.count_total <= 2 * CHILDREN as u64, "{taken:?}");
    assert!(taken.bytes_max <= (own + 1_024 * CHILDREN) as u64, "{taken:?}");
    assert!(taken.bytes_max <= 30_000_000, "{taken:?}");
}
