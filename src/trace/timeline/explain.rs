//! What is wrong with a line that is not understood: slower than reading it, and exact.

use super::wire::{BLOCK_KEYS, KINDS, OBSERVED_KEYS, REQUEST_KEYS, TTLS};
use super::{MARKERS_MAX, TOKENS_MAX};
use crate::request::json::{Node, Value, parse};
use crate::trace::mistake::{Mistake, Place};
use crate::trace::{TIME_MS_MAX, time_of_seconds};

/// What is wrong with a request.
pub(super) fn request(place: Place<'_>) -> Box<Mistake> {
    let root = match parse(place.bytes) {
        Ok(root) => root,
        Err(error) => return place.syntax(&error),
    };
    let found = Look { place }.request(&root);
    let unknown = || place.whole("not understood as a request", "see docs/replay.md");
    found.err().unwrap_or_else(unknown)
}

/// A mistake at a key of a request that is otherwise understood.
pub(super) fn at_key(
    place: Place<'_>,
    key: &str,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Box<Mistake> {
    match parse(place.bytes).ok().as_ref().and_then(|root| root.get(key)) {
        Some(node) => place.at(node, message, help),
        None => place.whole(message, help),
    }
}

/// A block whose id had another size in another line.
pub(super) fn two_sizes(place: Place<'_>, index: usize, other: u64) -> Box<Mistake> {
    let root = parse(place.bytes).ok();
    let block = root.as_ref().and_then(|root| root.get("blocks")?.items().get(index));
    let id = block.and_then(|block| block.get("id")?.text(place.bytes)).unwrap_or_default();
    let message = format!("the block `{id}` has another size in line {other}");
    let help = "an id stands for the bytes of a block, so it has one size: give the other block \
                another id";
    match block.and_then(|block| block.get("tokens")) {
        Some(node) => place.at(node, message, help),
        None => place.whole(message, help),
    }
}

/// Looks at the values of one line.
pub(super) struct Look<'a> {
    pub(super) place: Place<'a>,
}

type Found = Result<(), Box<Mistake>>;

impl Look<'_> {
    fn request(&self, root: &Node) -> Found {
        self.object(root, &REQUEST_KEYS)?;
        let start = self.time(root, "start_s")?;
        let first = self.time(root, "first_token_at_s")?;
        if first < start {
            let node = root.get("first_token_at_s").unwrap_or(root);
            let help = "an answer begins at or after the start of its request";
            return self.wrong(node, "earlier than `start_s`", help);
        }
        for key in ["request", "model", "scope"] {
            self.optional(root, key, |node| self.text(node, "a string"))?;
        }
        self.optional(root, "params", |node| self.object(node, &[]))?;
        self.optional(root, "tail_tokens", |node| self.whole_number(node))?;
        self.optional(root, "output_tokens", |node| self.whole_number(node))?;
        self.blocks(root)?;
        self.optional(root, "observed", |node| {
            self.object(node, &OBSERVED_KEYS)?;
            let numbers = node.members().iter();
            numbers.map(|member| &member.node).try_for_each(|node| self.whole_number(node))
        })
    }

    fn blocks(&self, root: &Node) -> Found {
        let blocks = self.required(root, "blocks")?;
        if !matches!(blocks.value, Value::Array(_)) {
            return self.wrong(blocks, "an array of blocks expected", "[] for an empty prompt");
        }
        let mut markers = Vec::new();
        for block in blocks.items() {
            self.object(block, &BLOCK_KEYS)?;
            let id = self.required(block, "id")?;
            self.text(id, "a string that stands for the block's bytes")?;
            self.whole_number(self.required(block, "tokens")?)?;
            self.optional(block, "kind", |node| self.one_of(node, &KINDS))?;
            self.optional(block, "marker", |node| self.one_of(node, &TTLS))?;
            markers.extend(block.get("marker").filter(|node| node.is_string()));
        }
        if let Some(node) = markers.get(MARKERS_MAX) {
            let message = format!("marker {} of {}", MARKERS_MAX + 1, markers.len());
            let help = format!("the provider refuses requests with more than {MARKERS_MAX}");
            return self.wrong(node, &message, &help);
        }
        let is_hour = |node: &&Node| node.is_text(self.place.bytes, "1h");
        let late = markers.windows(2).find(|pair| !is_hour(&pair[0]) && is_hour(&pair[1]));
        match late {
            Some(pair) => {
                let help = "the provider refuses it: longer lifetimes come first";
                self.wrong(pair[1], "a 1h marker behind a 5m marker", help)
            }
            None => Ok(()),
        }
    }

    fn wrong(&self, node: &Node, message: &str, help: &str) -> Found {
        Err(self.place.at(node, message, help))
    }

    /// An object with none but the known keys, each once; any keys where none are named.
    pub(super) fn object(&self, node: &Node, keys: &[&str]) -> Found {
        if !matches!(node.value, Value::Object(_)) {
            return self.wrong(node, "an object expected", "{…}");
        }
        for (index, member) in node.members().iter().enumerate() {
            let key = member.key.as_str();
            let key_node = Node { span: member.key_span.clone(), value: Value::String };
            if !keys.is_empty() && !keys.contains(&key) {
                let message = format!("unknown key `{key}`{}", nearest(key, keys));
                let help = format!("allowed: {}", keys.join(", "));
                return self.wrong(&key_node, &message, &help);
            }
            if node.members()[..index].iter().any(|before| before.key == key) {
                return self.wrong(&key_node, &format!("`{key}` stands twice"), "give it once");
            }
        }
        Ok(())
    }

    fn required<'n>(&self, node: &'n Node, key: &str) -> Result<&'n Node, Box<Mistake>> {
        node.get(key).ok_or_else(|| {
            let help = "see docs/replay.md for the keys of a timeline";
            self.place.at(node, format!("`{key}` is missing"), help)
        })
    }

    /// `null` counts as absent.
    pub(super) fn optional(&self, node: &Node, key: &str, check: impl Fn(&Node) -> Found) -> Found {
        let value = node.get(key).filter(|value| value.raw(self.place.bytes) != b"null");
        value.map_or(Ok(()), check)
    }

    fn time(&self, root: &Node, key: &str) -> Result<f64, Box<Mistake>> {
        let node = self.required(root, key)?;
        let number = std::str::from_utf8(node.raw(self.place.bytes)).unwrap_or_default();
        let seconds: Option<f64> = if node.is_string() {
            None
        } else {
            number.parse().ok().filter(|s: &f64| s.is_finite())
        };
        match seconds {
            Some(seconds) if time_of_seconds(seconds).is_some() => Ok(seconds),
            Some(_) | None => {
                let help = format!("seconds from -{0:e} to {0:e}, e.g. -40.5", TIME_MS_MAX / 1e3);
                Err(self.place.at(node, "a number of seconds expected", help))
            }
        }
    }

    pub(super) fn text(&self, node: &Node, what: &str) -> Found {
        if node.is_string() {
            return Ok(());
        }
        self.wrong(node, &format!("{what} expected"), "put it in double quotes")
    }

    fn whole_number(&self, node: &Node) -> Found {
        let text = std::str::from_utf8(node.raw(self.place.bytes)).unwrap_or_default();
        let number: Option<u64> = text.parse().ok();
        if number.is_some_and(|number| number <= TOKENS_MAX) || text == "null" {
            return Ok(());
        }
        let message = format!("a whole number of tokens from 0 to {TOKENS_MAX} expected");
        self.wrong(node, &message, "write it without quotes, sign, point or exponent")
    }

    fn one_of(&self, node: &Node, allowed: &[&str]) -> Found {
        let text = node.text(self.place.bytes);
        if text.as_deref().is_some_and(|text| allowed.contains(&text)) {
            return Ok(());
        }
        let near = text.map_or(String::new(), |text| nearest(&text, allowed));
        let help = format!("allowed: {}", allowed.join(", "));
        self.wrong(node, &format!("not understood{near}"), &help)
    }
}

/// `, did you mean …` where something known looks like it.
pub(super) fn nearest(word: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(word, known), known))
        .filter(|(distance, known)| *distance <= known.len().min(word.len()) / 2)
        .min();
    near.map_or(String::new(), |(_, known)| format!(", did you mean `{known}`?"))
}
