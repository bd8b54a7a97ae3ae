//! The exact-size workhorse: units of text until the next one does not fit, then closing words of
//! one token each.
//!
//! Units are written so that their counts add up nearly everywhere, so a text is counted about
//! twice: unit by unit while it grows and whole when it stands. The second count is the one that
//! later stages ask for again, and the tokenizer remembers it.

use std::cmp::Ordering;

use super::ContentError;
use super::draw::Draw;
use super::words::{Closing, Ending};
use crate::tokens::Tokenizer;
use crate::units::Tokens;

/// Attempts before a size counts as out of reach; two are enough wherever there is a unit to give
/// up.
const ATTEMPTS_MAX: usize = 16;

/// When the first closing word stands without a space before it, whatever the size.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// Never: the head ends in text.
    Never,
    /// Where no unit fits.
    IfBare,
    /// Always: the joint ends in a quote.
    Always,
}

/// What stands around the units: `head units joint closing-words tail`.
pub(super) struct Frame {
    /// Before the units.
    pub(super) head: String,
    /// Between units and closing words.
    pub(super) joint: String,
    /// At the end.
    pub(super) tail: String,
    /// Whether the closing words begin the text.
    pub(super) opening: Opening,
    /// The mark, one token, that turns closing words into a comment.
    pub(super) comment: &'static str,
}

impl Frame {
    /// Units and closing words with nothing around them.
    pub(super) fn bare() -> Frame {
        Frame {
            head: String::new(),
            joint: String::new(),
            tail: String::new(),
            opening: Opening::IfBare,
            comment: "",
        }
    }

    fn assemble(&self, body: &str, closing: Closing, tokens: u64) -> String {
        let opens = match self.opening {
            Opening::Never => false,
            Opening::IfBare => body.is_empty(),
            Opening::Always => true,
        };
        let body = if self.joint.is_empty() { body.trim_end() } else { body };
        let mut out = format!("{}{body}{}", self.head, self.joint);
        let mut words = tokens;
        if opens {
            out.push_str(closing.opening());
        } else if words > 0 && !self.comment.is_empty() {
            out.push_str(self.comment);
            words -= 1;
        }
        let ending = if self.tail.is_empty() { Ending::Stop } else { Ending::Word };
        // Behind a digit a word costs two in some vocabularies, behind a full stop one in all.
        let is_behind_digit = out.ends_with(|last: char| last.is_ascii_digit());
        if is_behind_digit && (words > 1 || words == 1 && ending == Ending::Stop) {
            out.push('.');
            words -= 1;
        }
        out.push_str(&closing.words(usize::from(opens), words, ending));
        out.push_str(&self.tail);
        out
    }

    /// Tokens of the frame without any unit, under the vocabulary: the smallest size it can have.
    pub(super) fn smallest(&self, tokenizer: &Tokenizer) -> u64 {
        // Every closing sentence begins with one token, so any of them gives the same count.
        let closing = Closing::new(&mut Draw::new(0, "smallest", 0));
        tokenizer.count_unscaled(&self.assemble("", closing, 0))
    }
}

/// Makes texts of exact size.
pub(super) struct Fit<'a> {
    /// Counts.
    pub(super) tokenizer: &'a Tokenizer,
    /// What is made, for errors.
    pub(super) what: &'static str,
}

impl Fit<'_> {
    /// A text of exactly `unscaled` tokens under the vocabulary; within [`slack`] of it under a
    /// file's.
    pub(super) fn fill(
        &self,
        frame: &Frame,
        unscaled: u64,
        draw: &mut Draw,
        mut unit: impl FnMut(&mut Draw) -> String,
    ) -> Result<String, ContentError> {
        let closing = Closing::new(draw);
        let smallest = frame.smallest(self.tokenizer);
        if unscaled < smallest {
            return Err(self.too_small(self.tokenizer.scaled(unscaled), smallest));
        }
        let opening = u64::from(frame.opening == Opening::IfBare);
        let mut room = unscaled - smallest + opening;
        let (mut body, mut ends) = (String::new(), Vec::new());
        loop {
            let mut next = unit(draw);
            if body.is_empty() && frame.opening == Opening::IfBare {
                next = next.trim_start_matches(' ').to_owned();
            }
            let tokens = self.tokenizer.count_unscaled(&next);
            if tokens == 0 || tokens > room {
                break;
            }
            room -= tokens;
            ends.push(body.len());
            body.push_str(&next);
        }
        if body.is_empty() {
            room = unscaled - smallest;
        }
        self.close(frame, unscaled, closing, Body { text: body, ends, room })
    }

    /// Adds closing words until the size is exact, giving up units where they are in the way.
    fn close(
        &self,
        frame: &Frame,
        unscaled: u64,
        closing: Closing,
        mut body: Body,
    ) -> Result<String, ContentError> {
        if self.tokenizer.spec().is_file() {
            return self.close_near(frame, unscaled, closing, body);
        }
        let mut words = body.room;
        let mut reached = 0;
        for attempt in 0..ATTEMPTS_MAX {
            let text = frame.assemble(&body.text, closing, words);
            reached = self.tokenizer.count_unscaled(&text);
            if reached == unscaled {
                return Ok(text);
            }
            let wanted = (words + unscaled).checked_sub(reached);
            match wanted {
                // A second miss means that a count is jumped over where unit and tail meet.
                Some(wanted) if attempt == 0 => words = wanted,
                Some(_) | None => {
                    if let Some(end) = body.ends.pop() {
                        body.text.truncate(end);
                        // From the first word on each adds one, so the base is the text with one.
                        let with_one = frame.assemble(&body.text, closing, 1);
                        let with_one = self.tokenizer.count_unscaled(&with_one);
                        words = (unscaled + 1).saturating_sub(with_one);
                    } else {
                        words = wanted.unwrap_or(0);
                    }
                }
            }
        }
        Err(ContentError::NotExact { what: self.what, asked: unscaled, reached })
    }

    /// The same where nothing is known of the closing words' tokens: their number is found by
    /// halving, and what comes nearest may stand.
    fn close_near(
        &self,
        frame: &Frame,
        unscaled: u64,
        closing: Closing,
        mut body: Body,
    ) -> Result<String, ContentError> {
        let mut nearest = Nearest::new(self.tokenizer, unscaled);
        for _ in 0..ATTEMPTS_MAX {
            self.offer(frame, closing, &body.text, &mut nearest);
            match body.ends.pop().filter(|_| !nearest.is_near()) {
                Some(end) => body.text.truncate(end),
                None => break,
            }
        }
        nearest.take(self.what)
    }

    /// Offers units with closing words, at last with as many as there is room for.
    fn offer(&self, frame: &Frame, closing: Closing, units: &str, nearest: &mut Nearest<String>) {
        let asked = nearest.asked;
        let mut reached = |words| {
            let text = frame.assemble(units, closing, words);
            let reached = self.tokenizer.count_unscaled(&text);
            nearest.offer(text, reached);
            reached
        };
        // A word has a token at least, so there are no more of them than tokens that are missing.
        let (mut fits, mut too_many) = (0, (asked + 1).saturating_sub(reached(0)));
        while fits + 1 < too_many {
            let tried = u64::midpoint(fits, too_many);
            match reached(tried).cmp(&asked) {
                Ordering::Less => fits = tried,
                Ordering::Equal => break,
                Ordering::Greater => too_many = tried,
            }
        }
    }

    /// The error that a size is below the smallest one, which is given under the vocabulary.
    pub(super) fn too_small(&self, asked: Tokens, smallest_unscaled: u64) -> ContentError {
        let smallest = self.tokenizer.scaled(smallest_unscaled).0;
        ContentError::TooSmall { what: self.what, asked: asked.0, smallest }
    }

    /// How many tokens each of several parts gets: its minimum, and a share by weight of what is
    /// left.
    ///
    /// Everything is in scaled tokens but `minima`, which are under the vocabulary.
    pub(super) fn share(
        &self,
        tokens: u64,
        minima: &[u64],
        weights: &[u64],
    ) -> Result<Vec<u64>, ContentError> {
        let minima: Vec<u64> =
            minima.iter().map(|minimum| self.tokenizer.scaled(*minimum).0).collect();
        let smallest: u64 = minima.iter().sum();
        let Some(left) = tokens.checked_sub(smallest) else {
            return Err(ContentError::TooSmall { what: self.what, asked: tokens, smallest });
        };
        let whole = weights.iter().sum::<u64>().max(1);
        let upto = |weight: u64| u128::from(left) * u128::from(weight) / u128::from(whole);
        let mut weight = 0;
        let parts = minima.iter().zip(weights).map(|(minimum, own)| {
            let before = upto(weight);
            weight += own;
            minimum + u64::try_from(upto(weight) - before).unwrap_or(0)
        });
        Ok(parts.collect())
    }
}

/// Tokens by which a text may miss its size: none under a built-in vocabulary, whose closing words
/// are one token each; a hundredth and four under a file's, of which nothing is known.
fn slack(tokenizer: &Tokenizer, unscaled: u64) -> u64 {
    if tokenizer.spec().is_file() { unscaled / 100 + 4 } else { 0 }
}

/// What was made so far that misses its size the least.
pub(super) struct Nearest<T> {
    asked: u64,
    slack: u64,
    found: Option<(T, u64)>,
}

impl<T> Nearest<T> {
    /// Nothing is made.
    pub(super) fn new(tokenizer: &Tokenizer, asked: u64) -> Nearest<T> {
        Nearest { asked, slack: slack(tokenizer, asked), found: None }
    }

    /// Keeps what is nearer than all before.
    pub(super) fn offer(&mut self, made: T, reached: u64) {
        let miss = |reached: u64| reached.abs_diff(self.asked);
        if self.found.as_ref().is_none_or(|(_, best)| miss(reached) < miss(*best)) {
            self.found = Some((made, reached));
        }
    }

    /// True where what was made may stand.
    pub(super) fn is_near(&self) -> bool {
        let inside = |(_, reached): &(T, u64)| reached.abs_diff(self.asked) <= self.slack;
        self.found.as_ref().is_some_and(inside)
    }

    /// What may stand, or how near it is.
    pub(super) fn take(self, what: &'static str) -> Result<T, ContentError> {
        let (is_near, asked) = (self.is_near(), self.asked);
        match self.found {
            Some((made, _)) if is_near => Ok(made),
            Some((_, reached)) => Err(ContentError::NotExact { what, asked, reached }),
            None => Err(ContentError::NothingToFill { what, asked }),
        }
    }
}

/// Units so far, where each begins, and the tokens that are left for closing words.
struct Body {
    text: String,
    ends: Vec<usize>,
    room: u64,
}

/// Turns scaled sizes of consecutive blocks into sizes under the vocabulary, and hands the rounding
/// of each block on to the next, so that a sum of blocks is off by no more than one block.
pub(super) struct Carry<'a> {
    tokenizer: &'a Tokenizer,
    owed: i64,
}

impl<'a> Carry<'a> {
    /// Owes nothing.
    pub(super) fn new(tokenizer: &'a Tokenizer) -> Carry<'a> {
        Carry { tokenizer, owed: 0 }
    }

    /// The size under the vocabulary, at least `minimum`, of a block that is to have `tokens`.
    pub(super) fn unscaled(&mut self, tokens: u64, minimum: u64) -> u64 {
        let wanted = tokens.saturating_add_signed(self.owed);
        let unscaled = self.tokenizer.unscaled(Tokens(wanted)).max(minimum);
        let got = self.tokenizer.scaled(unscaled).0;
        self.owed += i64::try_from(tokens).unwrap_or(0) - i64::try_from(got).unwrap_or(0);
        unscaled
    }
}
