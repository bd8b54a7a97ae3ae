//! Files that a scenario names.

use std::path::Path;

use super::{load_in, minimal, mistakes_of, tool_count};
use crate::scenario::diagnostic::code;
use crate::scenario::{
    DirectiveSpec, HistorySpec, LoadError, ParentPrompt, Scenario, SystemSpec, load as load_file,
    parse,
};
use crate::units::CacheTtl;

const BODY: &str = concat!(
    r#"{"model":"claude-opus-5-latest","system":[{"type":"text","text":"s","#,
    r#""cache_control":{"type":"ephemeral","ttl":"1h"}}],"#,
    r#""messages":[{"role":"user","content":"1e5"}]}"#
);

const MESSAGES: &str = concat!(
    r#"[{"role":"user","content":"a"},"#,
    r#"{"role":"assistant","content":[{"type":"text","text":"b"}]}]"#
);

const TRANSCRIPT: &str = concat!(
    r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"a"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","#,
    r#""content":[{"type":"text","text":"b"}]}}"#,
    "\n",
    r#"{"type":"user","uuid":"3","parentUuid":"2","message":{"role":"user","content":"c"}}"#,
    "\n",
);

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("tools.json", r#"[{"name":"a","input_schema":{}},{"name":"b","input_schema":{}}]"#);
    write("bad-tools.json", "{\n  \"tools\": [\n      5]\n}");
    write("broken.json", "[1,\n 2,,]");
    write("system.txt", "You are a parent.\n");
    write("blank.txt", " \n");
    write("messages.json", MESSAGES);
    write("system.json", r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#);
    write("transcript.jsonl", TRANSCRIPT);
    write("none.json", "[]");
    write("blank-texts.json", "[\"x\", \" \\n\"]");
    write("texts.json", "[\"x\", \"y\"]");
    write("body.json", BODY);
    let wrapped = format!("{{\"id\": 1, \"request\": {BODY} }}");
    let spaced = wrapped.replace("\"1e5\"", "  \"\\u0031e5\"");
    write(
        "captures.jsonl",
        &format!("{wrapped}\n{spaced}\n\n{{\"request\":{{\"model\":\"claude-opus-5\"}}}}\n"),
    );
    write("one.jsonl", &format!("{wrapped}\n"));
    write("unknown-model.json", &BODY.replace("claude-opus-5-latest", "claude-opos-5"));
    write("no-model.json", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}");
    write("assistant.json", &BODY.replace("\"role\":\"user\"", "\"role\":\"assistant\""));
    std::fs::write(folder.path().join("latin1.txt"), b"caf\xe9").unwrap();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    folder
}

fn read(text: &str) -> Result<Scenario, LoadError> {
    load_in(text.as_bytes(), &[], folder().path(), None)
}

fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|error| panic!("{error}"))
}

fn request(path: &str, more: &str) -> String {
    let text = minimal(more).replace("model = \"claude-opus-5\"\n", "");
    text.replace("parent.history = { tokens = 30000 }", &format!("parent.request = \"{path}\""))
}

#[test]
fn parts_come_from_files() {
    let text = minimal("parent.tools.file = \"tools.json\"\nparent.system.file = \"system.txt\"")
        .replace("{ tokens = 30000 }", "{ file = \"messages.json\" }")
        .replace("{ tokens = 200 }", "{ file = \"system.txt\" }");
    let scenario = good(&text);
    assert_eq!(tool_count(&scenario), 2);
    let ParentPrompt::Parts { system: SystemSpec::Given(system), history, .. } =
        &scenario.parent.prompt
    else {
        panic!("not read")
    };
    assert_eq!(system, &["You are a parent.\n"]);
    let prompt = good(&text.replace("system.file = \"system.txt", "system.file = \"system.json"));
    let ParentPrompt::Parts { system: SystemSpec::Given(blocks), .. } = &prompt.parent.prompt
    else {
        panic!("not read")
    };
    assert_eq!(blocks, &["a", "b"]);
    assert!(matches!(history, HistorySpec::Given(messages) if messages.len() == 2));
    let texts = vec!["You are a parent.\n".to_owned()];
    assert_eq!(scenario.fork.directive, DirectiveSpec::Texts(texts));
    let text = minimal("").replace("{ tokens = 30000 }", "{ transcript = \"transcript.jsonl\" }");
    let ParentPrompt::Parts { history: HistorySpec::Given(messages), .. } =
        good(&text).parent.prompt
    else {
        panic!("not read")
    };
    assert_eq!(messages.len(), 3);
    let text = minimal("")
        .replace("{ tokens = 200 }", "{ file = \"texts.json\" }")
        .replace("children = 5", "children = 2");
    let texts = DirectiveSpec::Texts(vec!["x".to_owned(), "y".to_owned()]);
    assert_eq!(good(&text).fork.directive, texts);
}

#[test]
fn a_captured_body_keeps_its_bytes() {
    let bytes = |path: &str| match good(&request(path, "")).parent.prompt {
        ParentPrompt::Request(body) => String::from_utf8(body.bytes().to_vec()).unwrap(),
        ParentPrompt::Parts { .. } => panic!("not a request"),
    };
    assert_eq!(bytes("body.json"), BODY);
    assert_eq!(bytes("one.jsonl"), BODY);
    assert_eq!(bytes("captures.jsonl#1"), BODY);
    assert_eq!(bytes("captures.jsonl#2"), BODY.replace("\"1e5\"", "  \"\\u0031e5\""));
    for name in ["claude-opus-5", "claude-opus-5-latest", "claude-opus-5-20260724"] {
        let scenario = good(&request("body.json", &format!("model = \"{name}\"")));
        let names = (scenario.model_name.as_str(), scenario.model.id.as_str());
        assert_eq!(names, ("claude-opus-5-latest", "claude-opus-5"), "{name}");
        assert_eq!(scenario.parent.cache.ttl, CacheTtl::OneHour);
    }
}

#[test]
fn the_data_folder_is_expanded() {
    let folder = folder();
    let text = request("${FORKCOST_DATA}/captures.jsonl#1", "");
    let read = |data| load_in(text.as_bytes(), &[], Path::new("elsewhere"), data);
    assert!(read(Some(folder.path())).is_ok());
    let Err(LoadError::DataFolderUnset(found)) = read(None) else { panic!("not told apart") };
    assert_eq!((found.0[0].line, found.0[0].code), (2, code::DATA_FOLDER_UNSET));
    assert_eq!(found.0[0].key.as_deref(), Some("parent.request"));
    // With another mistake beside it, the file is wrong whatever the folder.
    let text = text.replace("children = 5", "children = 0");
    let found = mistakes_of(load_in(text.as_bytes(), &[], Path::new(""), None));
    let codes: Vec<&str> = found.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, [code::DATA_FOLDER_UNSET, code::OUT_OF_RANGE]);
}

/// Scenario text, code, line, key, and words of message and help.
type Case<'a> = (String, &'a str, usize, &'a str, &'a str, &'a str);

fn check(cases: &[Case<'_>]) {
    for (text, code, line, key, message, help) in cases {
        let found = mistakes_of(read(text));
        let [only] = found.as_slice() else { panic!("{text}\n{found:#?}") };
        assert_eq!((only.code, only.line, only.key.as_deref()), (*code, *line, Some(*key)));
        assert!(only.message.contains(message), "{} / {message}", only.message);
        assert!(only.help.contains(help), "{} / {help}", only.help);
    }
}

#[test]
fn files_that_cannot_be_used() {
    let tools = |path: &str| minimal(&format!("parent.tools.file = \"{path}\""));
    let system = |path: &str| minimal(&format!("parent.system.file = \"{path}\""));
    let history = |entry: &str| minimal("").replace("{ tokens = 30000 }", entry);
    let directive =
        |path: &str| minimal("").replace("{ tokens = 200 }", &format!("{{ file = \"{path}\" }}"));
    let (t, s) = ("parent.tools.file", "parent.system.file");
    let (h, d) = ("parent.history.file", "fork.directive.file");
    check(&[
        (tools("no.json"), code::FILE_MISSING, 6, t, "no.json does not exist", "folder"),
        (tools("inner"), code::FILE_IS_FOLDER, 6, t, "inner is a folder", "inside"),
        (tools("broken.json"), code::FILE_SYNTAX, 6, t, "broken.json:2:4: not JSON", "one JSON"),
        (tools("bad-tools.json"), code::FILE_CONTENT, 6, t, "bad-tools.json:3:7: a tool", "doc"),
        (tools("body.json"), code::FILE_CONTENT, 6, t, "object without `tools`", "request"),
        (tools("${HOME}/x"), code::PATH_VARIABLE, 6, t, "uses ${HOME}", "FORKCOST_DATA"),
        (tools("a${FORKCOST_DATA}/x"), code::PATH_VARIABLE, 6, t, "only", "FORKCOST_DATA"),
        (tools("${X"), code::PATH_VARIABLE, 6, t, "only", "write the path out"),
        (tools("tools.json#0"), code::LINE_SELECTION, 6, t, "count from 1", "#1"),
        (tools("tools.json#9"), code::LINE_SELECTION, 6, t, "no line 9, its last line is 1", "#N"),
        (system("latin1.txt"), code::FILE_NOT_UTF8, 6, s, "byte 3", "UTF-8"),
        (system("blank.txt"), code::FILE_CONTENT, 6, s, "no text", "another file"),
        (history("{ file = \"none.json\" }"), code::FILE_CONTENT, 3, h, "no message", "another"),
        (directive("blank.txt"), code::FILE_CONTENT, 5, d, "empty", "plain"),
        (directive("blank-texts.json"), code::FILE_CONTENT, 5, d, "empty", "plain"),
        (directive("texts.json"), code::CONTRADICTION, 5, d, "2 texts for 5", "= 2"),
        (
            history("{ file = \"messages.json\" }\nparent.dispatch = { tokens = 100 }"),
            code::CONFLICT,
            4,
            "parent.dispatch",
            "assistant message",
            "delete parent.dispatch",
        ),
    ]);
}

#[test]
fn captured_bodies_that_cannot_be_used() {
    let r = "parent.request";
    check(&[
        (request("captures.jsonl", ""), code::LINE_SELECTION, 2, r, "holds 3 lines", "#N"),
        (request("captures.jsonl#3", ""), code::LINE_SELECTION, 2, r, "line 3", "#N"),
        (request("captures.jsonl#4", ""), code::FILE_CONTENT, 2, r, "no request with", "messages"),
        (request("tools.json", ""), code::FILE_CONTENT, 2, r, "no request with", "messages"),
        (
            request("unknown-model.json", ""),
            code::UNKNOWN_MODEL,
            2,
            r,
            "claude-opos-5",
            "claude-opus-5",
        ),
        (request("no-model.json", ""), code::FILE_CONTENT, 2, r, "names no model", "`model`"),
        (
            request("body.json", "model = \"claude-haiku-4-5\""),
            code::CONTRADICTION,
            5,
            "model",
            "claude-opus-5-latest",
            "delete",
        ),
        (
            request("body.json", "parent.cache.ttl = \"5m\""),
            code::CONTRADICTION,
            5,
            "parent.cache.ttl",
            "ask for 1h",
            "write \"1h\"",
        ),
        (
            request("body.json", "parent.tools.tokens = 5"),
            code::CONFLICT,
            5,
            "parent.tools",
            "parent.request and parent.tools exclude",
            "keep one",
        ),
        (
            request("assistant.json", "parent.dispatch = { tokens = 100 }"),
            code::CONFLICT,
            5,
            "parent.dispatch",
            "assistant message",
            "delete",
        ),
    ]);
}

#[test]
fn the_scenario_file_itself_may_be_missing_or_a_folder() {
    let folder = folder();
    let load = |name: &str| load_file(&folder.path().join(name), &[]);
    for (name, words) in [("no.toml", "no such file"), ("inner", "it is a folder")] {
        let Err(error @ LoadError::Io { .. }) = load(name) else { panic!("{name} was read") };
        assert!(error.to_string().contains(words) && error.to_string().contains(name));
    }
    let path = folder.path().join("five.v2.toml");
    std::fs::write(&path, minimal("parent.tools.file = \"tools.json\"")).unwrap();
    let scenario = load("five.v2.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.name.as_str(), scenario.title.as_str()), ("five.v2", "five.v2"));
    std::fs::write(&path, minimal("seed = -1")).unwrap();
    let found = mistakes_of(load("five.v2.toml"));
    assert_eq!(found[0].source.label, path.display().to_string());
    let text = minimal("parent.tools.file = \"tools.json\"");
    let read = parse(text.as_bytes(), "stdin", folder.path(), &[]);
    assert_eq!(read.unwrap_or_else(|error| panic!("{error}")).name, "stdin");
}
