//! Words and the small language of templates: `~noun~` stands for a noun, `~2~` for what the second
//! slot of the same template became.

use super::draw::Draw;

const NOUNS: &[&str] = &[
    "scheduler",
    "cache",
    "parser",
    "session",
    "queue",
    "router",
    "planner",
    "table",
    "worker",
    "config",
    "token",
    "request",
    "response",
    "buffer",
    "cursor",
    "snapshot",
    "migration",
    "schema",
    "ledger",
    "budget",
    "timeout",
    "retry",
    "lock",
    "batch",
    "stream",
    "handler",
    "registry",
    "plugin",
    "template",
    "report",
    "metric",
    "signal",
    "policy",
    "channel",
    "message",
    "profile",
    "branch",
    "manifest",
    "resolver",
    "fixture",
    "driver",
    "pipeline",
    "record",
    "segment",
    "window",
    "header",
];
const ADJECTIVES: &[&str] = &[
    "stale",
    "blank",
    "shared",
    "nested",
    "remote",
    "local",
    "partial",
    "pending",
    "closed",
    "signed",
    "cached",
    "sorted",
    "broken",
    "duplicate",
    "slow",
    "narrow",
    "public",
    "hidden",
    "frozen",
    "late",
];
const VERBS: &[&str] = &[
    "check", "load", "merge", "split", "drop", "read", "write", "trace", "count", "sort", "update",
    "replace", "compare", "collect", "render", "validate", "close", "open", "retry", "skip",
];
const DIRECTORIES: &[&str] = &[
    "src/core",
    "src/net",
    "src/store",
    "src/cli",
    "src/api",
    "src/auth",
    "lib/render",
    "lib/sync",
    "server/jobs",
    "server/routes",
    "web/views",
    "web/state",
    "tools/bench",
    "tests/flows",
    "crates/wire/src",
    "crates/plan/src",
    "packages/ui/src",
    "services/billing",
    "services/search",
];
const EXTENSIONS: &[&str] = &["rs", "ts", "py", "tsx", "go", "sql", "toml", "md"];
const AREAS: &[&str] = &[
    "error handling",
    "retry logic",
    "input validation",
    "lock order",
    "memory use",
    "test coverage",
    "logging",
    "the public interface",
    "start-up time",
    "paging",
    "access checks",
    "time zones",
    "number formats",
    "the upgrade path",
    "back pressure",
    "clean shutdown",
];
const LABELS: &[&str] =
    &["info", "warn", "error", "debug", "ready", "failed", "queued", "done", "open", "closed"];

/// One filled slot.
fn slot(draw: &mut Draw, name: &str) -> String {
    match name {
        "noun" => draw.word(NOUNS).to_owned(),
        "adjective" => draw.word(ADJECTIVES).to_owned(),
        "verb" => draw.word(VERBS).to_owned(),
        "Verb" => capital(draw.word(VERBS)),
        "Noun" => capital(draw.word(NOUNS)),
        "area" => draw.word(AREAS).to_owned(),
        "label" => draw.word(LABELS).to_owned(),
        "directory" => draw.word(DIRECTORIES).to_owned(),
        "stem" => format!("{}_{}", draw.word(NOUNS), draw.word(NOUNS)),
        "file" => {
            let (directory, extension) = (draw.word(DIRECTORIES), draw.word(EXTENSIONS));
            format!("{directory}/{}_{}.{extension}", draw.word(ADJECTIVES), draw.word(NOUNS))
        }
        "Type" => format!("{}{}", capital(draw.word(ADJECTIVES)), capital(draw.word(NOUNS))),
        "function" => format!("{}_{}", draw.word(VERBS), draw.word(NOUNS)),
        "camel" => format!("{}{}", draw.word(VERBS), capital(draw.word(NOUNS))),
        "digit" => draw.between(2, 9).to_string(),
        "number" => draw.between(10, 999).to_string(),
        "large" => draw.between(1_000, 99_999).to_string(),
        "hex" => draw.characters(b"0123456789abcdef", 7),
        // A misspelt slot stays visible; the tests look for the marks.
        unknown => format!("~{unknown}~"),
    }
}

fn capital(word: &str) -> String {
    let mut characters = word.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// The template with every slot filled.
pub(super) fn expand(draw: &mut Draw, template: &str) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut filled: Vec<String> = Vec::new();
    for (index, part) in template.split('~').enumerate() {
        if index % 2 == 0 {
            out.push_str(part);
        } else if let Ok(earlier) = part.parse::<usize>() {
            out.push_str(filled.get(earlier.wrapping_sub(1)).map_or("", String::as_str));
        } else {
            let text = slot(draw, part);
            out.push_str(&text);
            filled.push(text);
        }
    }
    out
}

/// Sentences that end a text at its exact size: each word, with the space before it, is one token
/// of every vocabulary, and each first word is one without the space too.
const CLOSINGS: &[&str] = &[
    "See what the code around it does and use the same names",
    "List each place where the order of the results can change",
    "First read the file and only then change the part that you need",
    "After each step check that the test still works",
    "If a name says less than it should then use a better one",
    "When there is an error say what was given and what is required",
    "For now do not add a second way to do the same job",
    "While you work note what you found and where you found it",
];

/// An endless run of closing words.
#[derive(Clone, Copy)]
pub(super) struct Closing {
    start: usize,
}

impl Closing {
    /// Begins with a seeded sentence.
    pub(super) fn new(draw: &mut Draw) -> Closing {
        Closing { start: draw.below(CLOSINGS.len()) }
    }

    /// The first word, without a space before it: one token at the start of a text.
    pub(super) fn opening(self) -> &'static str {
        CLOSINGS[self.start].split(' ').next().unwrap_or("See")
    }

    /// Words and full stops of `tokens` tokens in all, made to follow a letter, digit or
    /// punctuation; `skip` words of the first sentence are left out.
    pub(super) fn words(self, skip: usize, tokens: u64, ending: Ending) -> String {
        let sentences = CLOSINGS.iter().cycle().skip(self.start);
        let items = sentences.flat_map(|sentence| {
            let words = sentence.split(' ').map(|word| (" ", word));
            words.chain(std::iter::once(("", ".")))
        });
        let mut out = String::new();
        let mut remaining = tokens;
        let mut stopped = skip == 0;
        for (space, word) in items.skip(skip) {
            if remaining == 0 {
                break;
            }
            remaining -= 1;
            let (space, word) = match (remaining, ending) {
                // A full stop cannot follow another one: the two would be one token.
                (0, Ending::Stop) if !stopped => ("", "."),
                (0, Ending::Word) if word == "." => (" ", "too"),
                _ => (space, word),
            };
            out.push_str(space);
            out.push_str(word);
            stopped = word == ".";
        }
        out
    }
}

/// How closing words end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// In a full stop where one can stand.
    Stop,
    /// In a word: a full stop would merge with punctuation or a line break behind it.
    Word,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{Tokenizer, TokenizerSpec, Vocabulary};

    #[test]
    fn slots_are_filled_and_referred_to() {
        let mut draw = Draw::new(1, "expand", 0);
        let text = expand(&mut draw, "~noun~ ~1~ ~file~ ~2~");
        let words: Vec<&str> = text.split(' ').collect();
        assert_eq!((words[0], words[2]), (words[1], words[3]));
        assert_eq!(expand(&mut draw, "no slots"), "no slots");
        assert!(expand(&mut draw, "~nuon~").contains('~'));
    }

    #[test]
    fn closing_words_are_one_token_each() {
        for vocabulary in Vocabulary::ALL {
            let tokenizer = Tokenizer::new(TokenizerSpec::exact(vocabulary));
            for (start, sentence) in CLOSINGS.iter().enumerate() {
                let closing = Closing { start };
                assert_eq!(tokenizer.count_unscaled(closing.opening()), 1, "{}", closing.opening());
                let alone = tokenizer.count_unscaled("word");
                for word in sentence.split(' ') {
                    let both = tokenizer.count_unscaled(&format!("word {word}"));
                    assert_eq!(both - alone, 1, "{word}");
                }
                for tokens in 0..60 {
                    for ending in [Ending::Stop, Ending::Word] {
                        let words = closing.words(1, tokens, ending);
                        let text = format!("{}{words}", closing.opening());
                        assert_eq!(tokenizer.count_unscaled(&text), tokens + 1, "{text}");
                        let text = format!("All.{}", closing.words(0, tokens, ending));
                        assert_eq!(tokenizer.count_unscaled(&text), tokens + 2, "{text}");
                    }
                    let text = format!("word{}\n{{", closing.words(1, tokens + 1, Ending::Word));
                    assert_eq!(tokenizer.count_unscaled(&text), alone + tokens + 3, "{text}");
                }
            }
        }
    }
}
