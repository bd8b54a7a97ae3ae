//! What tools print: listings, matches, test logs, JSON.

use super::draw::Draw;
use super::words::expand;

/// Files one a line: bare paths, or each with its size and time.
pub(super) fn listing() -> impl FnMut(&mut Draw) -> String {
    let mut detailed = None;
    move |draw| {
        let path = expand(draw, "~file~\n");
        if !*detailed.get_or_insert_with(|| draw.chance(50)) {
            return path;
        }
        let size = expand(draw, "~large~");
        let (month, day) = (draw.between(1, 7), draw.between(1, 28));
        let (hour, minute) = (draw.below(24), draw.below(60));
        format!("-rw-r--r--  {size}  2026-{month:02}-{day:02} {hour:02}:{minute:02}  {path}")
    }
}

const MATCHES: &[&str] = &[
    "~file~:~number~:    let ~noun~ = ~function~(&~noun~)?;\n",
    "~file~:~number~:  return ~camel~(~noun~, { limit: ~number~ });\n",
    "~file~:~number~:        self.~noun~.~function~(~noun~)\n",
    "~file~:~number~:pub struct ~Type~ {\n",
    "~file~:~number~:import { ~Type~ } from '../~noun~';\n",
    "~file~:~number~:    # the ~noun~ is ~adjective~ here\n",
    "~file~:~number~:    if ~noun~.is_~adjective~() && limit > ~digit~ {\n",
];

/// Matches of a search: path, line, text.
pub(super) fn matches() -> impl FnMut(&mut Draw) -> String {
    |draw| {
        let template = draw.word(MATCHES);
        expand(draw, template)
    }
}

const LOG: &[&str] = &[
    "test ~noun~::tests::~function~_~adjective~ ... ok\n",
    "test ~noun~::~noun~::~function~ ... ok\n",
    "test ~noun~::tests::~function~_after_~noun~ ... ok (~number~ ms)\n",
    "test ~noun~::tests::~adjective~_~noun~ ... FAILED\n",
    "   Compiling ~stem~ v0.~digit~.~digit~ (~directory~)\n",
    "warning: unused variable: `~noun~` in ~file~:~number~:~digit~\n",
    "thread '~function~' panicked at ~file~:~number~:~digit~: ~adjective~ ~noun~\n",
    "  left: ~number~\n",
    " right: ~number~\n",
    "[~label~] ~noun~ ~hex~: ~large~ rows in ~number~ ms\n",
];

/// A run of tests.
pub(super) fn log() -> impl FnMut(&mut Draw) -> String {
    |draw| {
        let template = draw.word(LOG);
        expand(draw, template)
    }
}

const ROWS: &[&str] = &[
    "{\"id\":~large~,\"~noun~\":\"~stem~\",\"state\":\"~label~\",\"size\":~number~},\n",
    "{\"id\":~large~,\"path\":\"~file~\",\"~noun~\":null,\"~noun~_ms\":~number~},\n",
    "{\"id\":~large~,\"tags\":[\"~adjective~\",\"~label~\"],\"~noun~\":{\"hash\":\"~hex~\"}},\n",
];

/// Items of a JSON array, each with the comma behind it.
pub(super) fn rows() -> impl FnMut(&mut Draw) -> String {
    |draw| {
        let template = draw.word(ROWS);
        expand(draw, template)
    }
}
