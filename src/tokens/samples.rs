//! Text that tests draw.

use proptest::prelude::*;

/// Text of up to `parts` parts of mixed classes: words, numbers, blanks, marks, CJK, emoji, control
/// characters.
pub(super) fn mixed(parts: usize) -> impl Strategy<Value = String> {
    let class = prop_oneof![
        4 => "[a-zA-Z]{1,12}",
        2 => "[ \t\r\n\u{a0}\u{3000}\u{85}]{1,4}",
        2 => " ",
        1 => "[0-9]{1,7}",
        2 => "[-!-/:-@\\[-`{-~]{1,4}",
        1 => "['\u{2019}](s|S|re|LL|\u{17f}|d)",
        1 => "[\u{4e00}-\u{4eff}\u{3041}-\u{3096}\u{ac00}-\u{acff}]{1,4}",
        1 => "[\u{1f600}-\u{1f64f}\u{200d}\u{fe0f}]{1,3}",
        1 => "[\u{0}-\u{1f}\u{7f}]{1,2}",
        1 => "[\u{300}-\u{36f}\u{391}-\u{3c9}\u{410}-\u{44f}\u{1c5}\u{2b0}]{1,4}",
        1 => "\\PC{1,3}",
    ];
    proptest::collection::vec(class, 0..parts).prop_map(|parts| parts.concat())
}
