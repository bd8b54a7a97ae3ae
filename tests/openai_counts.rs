//! Counts of the vocabularies of OpenAI, held to those of the reference encoder.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use forkcost::tokens::{Tokenizer, TokenizerSpec, Vocabulary};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

const VOCABULARIES: [Vocabulary; 2] = [Vocabulary::O200k, Vocabulary::Cl100k];

/// Seed of the random strings.
const SEED: u64 = 20_261_201;

fn count(vocabulary: Vocabulary, text: &str) -> u64 {
    Tokenizer::new(TokenizerSpec::exact(vocabulary)).count_unscaled(text)
}

fn reference(vocabulary: Vocabulary, text: &str) -> u64 {
    let encoder = match vocabulary {
        Vocabulary::O200k => tiktoken_rs::o200k_base_singleton(),
        _ => tiktoken_rs::cl100k_base_singleton(),
    };
    encoder.encode_ordinary(text).len() as u64
}

/// Characters of one kind each; a random string jumps between them.
const KINDS: &[&str] = &[
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "etaoin the",
    "0123456789\u{b2}\u{bd}\u{661}\u{2160}\u{1d7d9}",
    " ",
    "\t \r\n\u{b}\u{c}\u{85}\u{a0}\u{1680}\u{2003}\u{2028}\u{202f}\u{3000}",
    "\n\r/",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "''''sStTmMdDlLrRvVeEſ\u{2019}\u{212a}",
    "\u{0}\u{1}\u{7}\u{8}\u{1b}\u{7f}\u{80}\u{9f}\u{ad}\u{200b}\u{200d}\u{feff}\u{fffd}\u{e000}",
    "éüßñÉÜÑøØıİŁł",
    "ǅǈʰˠªºⅷ℃ⓐⒶ",
    "\u{300}\u{301}\u{327}\u{483}\u{591}\u{5bc}\u{93f}\u{e31}\u{20e3}\u{fe0f}\u{e0100}",
    "абвгдАБВГД",
    "אבגدهوนมर्कि",
    "的一是不了人我在有他日本語ひらカタ한국어",
    "\u{1f600}\u{1f468}\u{200d}\u{1f469}\u{1f3fd}\u{1f1e9}\u{1f1ea}\u{2764}\u{fe0f}",
    "𝐀𝐚𐐀𐐨𞤀𞤢\u{10ffff}\u{10fffd}",
];

/// A string of a few runs, each of one kind or of one character.
fn random_text(random: &mut Pcg64Mcg) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.next_u32() % 12 {
        let kind: Vec<char> = KINDS[random.next_u32() as usize % KINDS.len()].chars().collect();
        let length = match random.next_u32() % 16 {
            0 => random.next_u32() % 200,
            1..4 => random.next_u32() % 20,
            _ => 1 + random.next_u32() % 4,
        };
        let is_one = random.next_u32().is_multiple_of(8);
        let first = random.next_u32();
        for _ in 0..length {
            let at = if is_one { first } else { random.next_u32() };
            text.push(kind[at as usize % kind.len()]);
        }
        if random.next_u32().is_multiple_of(32) {
            text.extend(char::from_u32(random.next_u32() % 0x32_000));
        }
    }
    text
}

#[test]
fn random_strings_have_the_reference_counts() {
    let wrong = (0..100_000_u64).into_par_iter().find_map_first(|number| {
        let text = random_text(&mut Pcg64Mcg::seed_from_u64(SEED + number));
        let is_wrong =
            |vocabulary: &Vocabulary| count(*vocabulary, &text) != reference(*vocabulary, &text);
        let vocabulary = VOCABULARIES.into_iter().find(is_wrong)?;
        Some((number, vocabulary, text))
    });
    if let Some((number, vocabulary, text)) = wrong {
        panic!(
            "seed {SEED} + {number}: {vocabulary:?} counts {}, the reference {}: {text:?}",
            count(vocabulary, &text),
            reference(vocabulary, &text),
        );
    }
}

#[test]
fn every_character_has_the_reference_count_between_letters() {
    // Capitals, spaces and apostrophes around it show each class at work. Beyond the third plane
    // nothing is assigned but tags and selectors; the classes of those are compared one by one.
    let blocks: Vec<u32> = (0..0x3_2000).chain(0xe_0000..0xe_0200).step_by(64).collect();
    blocks.par_iter().for_each(|first| {
        let characters = (*first..first + 64).filter_map(char::from_u32);
        let text: String = characters.map(|c| format!("a{c}B{c}'s {c}{c}A \n{c} ")).collect();
        for vocabulary in VOCABULARIES {
            assert_eq!(
                count(vocabulary, &text),
                reference(vocabulary, &text),
                "{vocabulary:?} U+{first:04X} and the 63 behind it"
            );
        }
    });
}

#[test]
fn hostile_texts_have_the_reference_counts() {
    let long = 50_000;
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let mut drawn = |alphabet: &str| {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..long).map(|_| alphabet[random.next_u32() as usize % alphabet.len()]).collect::<String>()
    };
    let random_texts = [
        drawn("abcdefghijklmnopqrstuvwxyz"),
        drawn("ab"),
        drawn("ABCDEFabcdef0123456789+/"),
        drawn("0123456789abcdef"),
        drawn("=-*#~_"),
        drawn(" \t\u{a0}\n"),
        drawn("\u{301}\u{302}\u{303}e"),
        drawn("的一是不了人我在有他"),
    ];
    let units = [
        "a",
        "A",
        "aA",
        "Aa",
        "日A",
        "é",
        "\u{301}",
        "a\u{301}",
        "\u{301}A",
        "7",
        "½",
        " ",
        "\t",
        "\u{a0}",
        "\u{3000}",
        "\n",
        "\r\n",
        " \n",
        "\n ",
        "\t ",
        "\u{85}",
        "=",
        "-",
        "!",
        "!\n/",
        "/",
        "'",
        "'s",
        "'S'",
        "\0",
        "\u{1f600}",
        "👨\u{200d}👩\u{200d}👧",
        "\u{4e00}",
        "ा",
        "{\"a\":1},",
    ];
    let repeated = units.iter().flat_map(|unit| {
        let run = unit.repeat(long / unit.len());
        [format!("fn{run}end"), format!("{run} "), run]
    });
    let texts: Vec<String> = repeated.chain(random_texts).collect();
    texts.par_iter().for_each(|text| {
        for vocabulary in VOCABULARIES {
            let start: String = text.chars().take(20).collect();
            assert_eq!(
                count(vocabulary, text),
                reference(vocabulary, text),
                "{vocabulary:?} {start:?}"
            );
        }
    });
}

#[test]
fn runs_of_every_length_have_the_reference_counts() {
    let units = [" ", "\t", "\u{a0}", "\n", "a", "=", "-", "0", "\u{301}", "\u{3000}", "é", "ab"];
    let lengths: Vec<usize> = (0..600).chain([1_000, 1_023, 1_025, 4_095, 4_097]).collect();
    lengths.par_iter().for_each(|length| {
        for unit in units {
            let run = unit.repeat(*length);
            for text in [format!("x{run}x"), format!("b{run}\n"), run] {
                for vocabulary in VOCABULARIES {
                    let expected = reference(vocabulary, &text);
                    assert_eq!(count(vocabulary, &text), expected, "{unit:?} {length}");
                }
            }
        }
    });
}

#[test]
fn runs_of_white_space_that_end_the_reference_are_counted() {
    // The longest run that the reference survives, and runs beyond it: a token more each time
    // that the longest token fits once more.
    let count_of = |vocabulary, unit: &str, length| count(vocabulary, &unit.repeat(length));
    let cases = VOCABULARIES.map(|vocabulary| [" ", "\t", "\u{a0}"].map(|unit| (vocabulary, unit)));
    cases.concat().par_iter().for_each(|(vocabulary, unit)| {
        let (survived, step) = (999_998, 1 << 12);
        let text = format!("{}x", unit.repeat(survived));
        assert_eq!(count(*vocabulary, &text), reference(*vocabulary, &text), "{unit:?}");
        let expected = count_of(*vocabulary, unit, survived);
        let added = expected - count_of(*vocabulary, unit, survived - step);
        for times in 1..4 {
            let longer = count_of(*vocabulary, unit, survived + times * step);
            assert_eq!(longer, expected + times as u64 * added, "{vocabulary:?} {unit:?}");
        }
    });
}

/// Text of mixed classes: words, numbers, blanks, marks, CJK, emoji, control characters.
fn mixed() -> impl Strategy<Value = String> {
    let class = prop_oneof![
        4 => "[a-zA-Z]{1,12}",
        2 => "[ \t\r\n\u{a0}\u{3000}\u{85}]{1,4}",
        2 => " ",
        1 => "[0-9]{1,7}",
        2 => "[-!-/:-@\\[-`{-~]{1,4}",
        1 => "['’](s|S|re|LL|ſ|d)",
        1 => "[\u{4e00}-\u{4eff}\u{3041}-\u{3096}\u{ac00}-\u{acff}]{1,4}",
        1 => "[\u{1f600}-\u{1f64f}\u{200d}\u{fe0f}]{1,3}",
        1 => "[\u{0}-\u{1f}\u{7f}]{1,2}",
        1 => "[\u{300}-\u{36f}Α-ωА-яǅʰ]{1,4}",
        1 => "\\PC{1,3}",
    ];
    proptest::collection::vec(class, 0..120).prop_map(|parts| parts.concat())
}

/// Borders of the patterns against one another: contractions, marks, capitals and white space where
/// alternatives have to give characters back, and runs long enough for windows.
fn nasty() -> impl Strategy<Value = String> {
    let class = prop_oneof![
        3 => "[A-Zǅa-zʰ\u{301}\u{5d0}日]{1,5}",
        2 => "'{1,2}(s|t|re|ve|m|ll|d|S|T|RE|Ve|M|lL|D|ſ|r|v|l)?",
        2 => "[ \u{a0}\t]{0,3}[\r\n]{0,2}[ \u{2028}\t]{0,3}",
        1 => "[!/\n\r\u{301}.]{1,5}",
        1 => "[0-9\u{b2}\u{2160}]{1,5}[\u{301}']?",
        1 => "(a|ab|A| |=|\t|\n|é|\u{301}|日|\u{1f600}){100,400}",
        1 => "[a-z]{200,600}",
        1 => "[\u{0}-\u{10ffff}]{1,4}",
        2 => "[A-Z]{1,3}[\u{301}日ʰ]?[A-Z]{0,2}",
    ];
    proptest::collection::vec(class, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn mixed_text_has_the_reference_count(text in mixed()) {
        for vocabulary in VOCABULARIES {
            prop_assert_eq!(count(vocabulary, &text), reference(vocabulary, &text));
        }
    }

    #[test]
    fn nasty_text_has_the_reference_count(text in nasty()) {
        for vocabulary in VOCABULARIES {
            prop_assert_eq!(count(vocabulary, &text), reference(vocabulary, &text));
        }
    }
}
