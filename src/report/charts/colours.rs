//! Colours: the palette of Okabe and Ito, which the usual kinds of colour blindness keep apart, and
//! pale tints.

/// Red, green and blue, 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Text and axes.
pub(crate) const INK: Colour = Colour(0x22, 0x22, 0x22);
/// Text beside the point.
pub(crate) const SOFT: Colour = Colour(0x59, 0x59, 0x59);
/// Lines from a place to its label.
pub(crate) const LEADER: Colour = Colour(0x8C, 0x8C, 0x8C);
/// Grid lines.
pub(crate) const GRID: Colour = Colour(0xE4, 0xE4, 0xE4);
/// Areas behind everything.
pub(crate) const SHADE: Colour = Colour(0xF3, 0xF3, 0xF3);
/// Background.
pub(crate) const PAPER: Colour = Colour(0xFF, 0xFF, 0xFF);

/// Input read from the cache.
pub(crate) const READ: Colour = Colour(0x00, 0x9E, 0x73);
/// Input written for five minutes.
pub(crate) const WRITE_5M: Colour = Colour(0xE6, 0x9F, 0x00);
/// Input written for one hour.
pub(crate) const WRITE_1H: Colour = Colour(0xD5, 0x5E, 0x00);
/// Input neither read nor written.
pub(crate) const UNCACHED: Colour = Colour(0x00, 0x72, 0xB2);

/// Waiting for the first token.
pub(crate) const WAITING: Colour = Colour(0xC9, 0xE4, 0xF6);
/// The response.
pub(crate) const ANSWER: Colour = Colour(0x56, 0xB4, 0xE9);

/// The colour of a segment of the prompt.
pub(crate) fn segment(name: &str) -> Colour {
    match name {
        "tool_prompt" | "hidden_prompts" | "answer" => Colour(0x8C, 0x6B, 0x4F),
        "tools" => Colour(0x56, 0xB4, 0xE9),
        "system" => Colour(0xB8, 0xDF, 0xF5),
        "history" => Colour(0xD4, 0xD4, 0xD4),
        "dispatch" => Colour(0xF0, 0xE4, 0x42),
        "placeholders" => Colour(0xCC, 0x79, 0xA7),
        "boilerplate" => Colour(0xA6, 0xC4, 0x8A),
        "directive" => Colour(0x4A, 0x4A, 0x4A),
        _ => Colour(0x99, 0x99, 0x99),
    }
}

/// Ink or paper, whichever is easier to read on `background`.
pub(crate) fn text_on(background: Colour) -> Colour {
    let Colour(red, green, blue) = background;
    let brightness = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    if brightness > 120_000 { INK } else { PAPER }
}
