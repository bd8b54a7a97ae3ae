//! Every script and every encoding: as a directive, as a scenario file, as a recorded body.

use crate::lab::{GOOD, Lab, good_but};

const SCRIPTS: [(&str, &str); 9] = [
    ("latin", "Read the log and say why it failed."),
    ("arabic", "اقرأ السجل وقل لماذا فشل."),
    ("hebrew", "קרא את היומן ואמור מדוע נכשל."),
    ("chinese", "阅读日志并说明失败的原因。"),
    ("japanese", "ログを読んで失敗の理由を述べよ。"),
    ("emoji", "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽"),
    ("combining", "e\u{301}\u{323} Z\u{35b}\u{321}a\u{334}lgo\u{489}"),
    ("overrides", "a\u{202e}txet desrever\u{202c} \u{200f}b \u{2066}c\u{2069}"),
    ("controls", "tab\tnul\\u0000 bell\u{7} del\u{7f} line\u{2028}sep"),
];

/// The directive in each child's body, read back from what `build` writes.
fn directive_of(body: &str) -> String {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap();
    last["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_directive_in_any_script_arrives_as_it_is() {
    for (name, text) in SCRIPTS {
        let lab = Lab::new();
        // A JSON string is also a TOML basic string, but for the delete character.
        let quoted = serde_json::to_string(text).unwrap().replace('\u{7f}', "\\u007f");
        lab.write("x.toml", good_but("{ tokens = 60 }", &format!("{{ texts = [{quoted}] }}")));
        lab.run(&["run", "x.toml", "--no-report", "-q"]).succeeded();
        lab.run(&["build", "x.toml", "-o", "bodies"]).succeeded();
        let found = directive_of(&lab.read("bodies/child-001.json"));
        assert!(found.ends_with(text), "{name}: {found:?}");
    }
}

#[test]
fn a_title_in_any_script_is_drawn_and_printed() {
    for (name, text) in SCRIPTS {
        let lab = Lab::new();
        let quoted = serde_json::to_string(text).unwrap().replace('\u{7f}', "\\u007f");
        lab.write("x.toml", good_but("\"Five children of a warm parent\"", &quoted));
        let ran = lab.run(&["run", "x.toml", "--json", "--png"]).succeeded();
        assert_eq!(ran.json()["title"], text, "{name}");
    }
}

#[test]
fn a_missing_half_of_a_surrogate_pair_is_never_a_panic() {
    for escape in ["\\ud800", "\\udc00", "\\udc00\\ud800", "\\ud83d\\ude00"] {
        let lab = Lab::new();
        let message = format!("{{\"role\":\"user\",\"content\":\"{escape} lone\"}}");
        let body =
            format!("{{\"model\":\"claude-opus-5\",\"max_tokens\":9,\"messages\":[{message}]}}");
        lab.write("body.json", &body);
        lab.write("x.toml", recorded("body.json"));
        lab.run(&["build", "x.toml", "-o", "bodies"]).succeeded();
        assert_eq!(lab.read("bodies/parent.json"), body, "the recorded bytes changed");
        lab.run(&["run", "x.toml", "--no-report"]).succeeded();
        // As a directive it cannot be put into a body again.
        lab.write("told.json", format!("[\"{escape}\"]"));
        lab.write("y.toml", good_but("{ tokens = 60 }", "{ file = \"told.json\" }"));
        let ran = lab.run(&["run", "y.toml", "--no-report"]);
        assert!(matches!(ran.code, Some(0 | 2)), "{:?}: {}", ran.code, ran.stderr);
    }
}

fn recorded(path: &str) -> String {
    format!(
        "version = 1\n[parent]\nrequest = \"{path}\"\n[fork]\nchildren = 2\n\
         directive = {{ texts = [\"a\", \"b\"] }}\n"
    )
}

#[test]
fn windows_line_ends_change_nothing() {
    let lab = Lab::with_good();
    let unix = lab.run(&["run", "good.toml", "--json", "--no-report"]).succeeded();
    lab.write("good.toml", GOOD.replace('\n', "\r\n"));
    let windows = lab.run(&["run", "good.toml", "--json", "--no-report"]).succeeded();
    assert_eq!(unix.stdout, windows.stdout);
}

#[test]
fn a_byte_order_mark_is_named() {
    Lab::new().refuses_scenario(format!("\u{feff}{GOOD}"), &["F0002", "byte order mark"]);
}

#[test]
fn a_nul_is_named_with_its_line() {
    Lab::new().refuses_scenario("version = 1\n\0", &["F0003", "NUL", "bad.toml:2:1"]);
}

#[test]
fn other_encodings_are_named() {
    let latin = [GOOD.as_bytes(), b"# caf\xe9\n"].concat();
    Lab::new().refuses_scenario(latin, &["F0001", "not UTF-8"]);
    let wide: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = [&[0xff, 0xfe], &wide[..]].concat();
    Lab::new().refuses_scenario(wide, &["F0001", "UTF-16"]);
}
