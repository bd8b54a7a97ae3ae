//! Where a body is found, its places in the file, and what is no body.

use super::{base, of_bytes};
use crate::diff::{DiffError, Input, diff};
use crate::provider::ALL;

fn error(bytes: &[u8]) -> DiffError {
    of_bytes(bytes, base().to_string().as_bytes(), &[]).unwrap_err()
}

#[test]
fn a_body_is_found_in_a_row_and_its_model_beside_it() {
    let mut body = base();
    body.as_object_mut().unwrap().remove("model");
    let row = format!("{{\"id\":1,\"model\":\"claude-opus-5\",\"request\":{body}}}");
    let built = format!("{{\"request\":\"child-001\",\"body\":{}}}", base());
    let diff = of_bytes(row.as_bytes(), built.as_bytes(), &[]).unwrap();
    assert!(diff.divergences.is_empty());
    assert_eq!(diff.a.model.as_deref(), Some("claude-opus-5"));
    assert_eq!(diff.b.body_byte, built.find("{\"model\"").unwrap() as u64);
}

#[test]
fn bytes_are_those_of_the_file_and_characters_those_of_the_text() {
    let text =
        |text: &str| format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}");
    let (a, b) = (text("é\\u00e9\\nX"), text("éé\\nY"));
    let input = |name, bytes, file_byte| Input { name, bytes, line: Some(7), file_byte };
    let diff =
        diff(input("a", a.as_bytes(), 1000), input("b", b.as_bytes(), 0), ALL[0], &[]).unwrap();
    let first = diff.first_divergence.unwrap();
    assert_eq!(first.char_offset_in_string, Some(3));
    assert_eq!(first.byte_a, Some(1000 + a.find('X').unwrap() as u64));
    assert_eq!(first.byte_b, Some(b.find('Y').unwrap() as u64));
    let excerpt = diff.divergences[0].excerpt_a.clone().unwrap();
    assert_eq!((excerpt.before.as_str(), excerpt.differs.as_str()), ("éé\n", "X"));
}

#[test]
fn what_is_no_body_is_refused_with_its_place() {
    assert!(matches!(error(b" \n"), DiffError::Empty { .. }));
    let DiffError::NotJson { line, column, .. } = error(b"{\n  \"messages\": [}") else {
        panic!("JSON")
    };
    assert_eq!((line, column), (2, 16));
    for (text, words) in [
        ("{\"prompt\":1,\"x\":2}", "its keys are `prompt`, `x`"),
        ("{}", "empty"),
        ("[1]", "array"),
        ("3", "number"),
        ("{\"request\":\"child-001\"}", "`request`"),
    ] {
        let error = error(text.as_bytes());
        assert!(matches!(error, DiffError::NotRequest { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(!error.help().is_empty());
    }
    for (text, pointer) in [
        ("{\"messages\":{}}", "/messages:"),
        ("{\"messages\":[1]}", "/messages/0:"),
        ("{\"messages\":[{\"role\":\"user\"}]}", "/messages/0/content:"),
        ("{\"messages\":[{\"content\":[\"x\"]}]}", "/messages/0/content/0:"),
        ("{\"messages\":[],\"tools\":{}}", "/tools:"),
        ("{\"messages\":[],\"system\":[\"x\"]}", "/system/0:"),
    ] {
        let error = error(text.as_bytes());
        assert!(error.to_string().contains(pointer), "{error}");
    }
}

#[test]
fn bodies_of_other_apis_are_refused() {
    let user = r#"{"role":"user","content":[{"type":"text","text":"x"}]}"#;
    let with = |more: &str| format!("{{\"messages\":[{user}],{more}}}");
    let said = |message: &str| format!("{{\"messages\":[{user},{message}]}}");
    for (text, pointer, api) in [
        (with(r#""toolConfig":{"tools":[]}"#), "/toolConfig:", "Converse"),
        (with(r#""inferenceConfig":{}"#), "/inferenceConfig:", "Converse"),
        (with(r#""system":[{"text":"x"}]"#), "/system/0:", "Converse"),
        (said(r#"{"role":"user","content":[{"text":"x"}]}"#), "/messages/1/content/0:", "Converse"),
        (
            said(r#"{"content":[{"type":"text","text":"x"},{"cachePoint":{"type":"default"}}]}"#),
            "/messages/1/content/1:",
            "Converse",
        ),
        (
            with(r#""tools":[{"type":"function","function":{"name":"a","parameters":{}}}]"#),
            "/tools/0:",
            "OpenAI",
        ),
        (said(r#"{"role":"tool","tool_call_id":"a","content":"x"}"#), "/messages/1:", "OpenAI"),
    ] {
        let error = error(text.as_bytes());
        assert!(matches!(error, DiffError::OtherApi { .. }), "{text}: {error}");
        let words = error.to_string();
        assert!(words.contains(pointer) && words.contains(api), "{words}");
        assert!(words.ends_with("give the Messages API body"), "{words}");
        // B is looked at as well.
        let good = base().to_string();
        assert!(of_bytes(good.as_bytes(), text.as_bytes(), &[]).is_err(), "{text}");
    }
}
