//! One change of the base body, and the kind and place of its one divergence.

use serde_json::{Value, json};

use super::{base, base_but, list, of, set};

/// Changes the base and checks the one divergence, also the other way round.
#[track_caller]
fn says(kind: &str, pointer: &str, reason: &str, change: impl FnOnce(&mut Value)) -> String {
    let (a, b) = (base(), base_but(change));
    let diff = of(&a, &b);
    let places = super::places(&diff);
    assert_eq!(places, [(kind, pointer)], "{:?}", diff.divergences);
    assert!(diff.is_break && !diff.segments_valid.messages);
    assert_eq!(diff.api_reason, Some(reason));
    let back = of(&b, &a);
    let sides = |diff: &super::Diff| {
        let first = diff.first_divergence.clone().unwrap();
        (first.pointer_a, first.pointer_b, first.byte_a, first.byte_b)
    };
    let (a, b, byte_a, byte_b) = sides(&diff);
    assert_eq!(sides(&back), (b, a, byte_b, byte_a));
    diff.divergences[0].cause.clone()
}

const TOOLS: &str = "tools_changed";
const SYSTEM: &str = "system_changed";
const MESSAGES: &str = "messages_changed";

#[test]
fn tools_that_came_went_or_moved() {
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    says("tool_added", "/tools/3", TOOLS, |body| list(body, "/tools").push(tool("agent")));
    says("tool_added", "/tools/0", TOOLS, |body| list(body, "/tools").insert(0, tool("agent")));
    says("tool_removed", "/tools/1", TOOLS, |body| drop(list(body, "/tools").remove(1)));
    says("tool_removed", "/tools/0", TOOLS, |body| list(body, "/tools").clear());
    let cause = says("tool_reordered", "/tools/0", TOOLS, |body| {
        list(body, "/tools").rotate_left(1);
    });
    assert!(cause.contains("1 of the 3 tools") && cause.contains("`bash`"), "{cause}");
    says("tool_renamed", "/tools/1/name", TOOLS, |body| set(body, "/tools/1/name", "Edit"));
}

#[test]
fn what_changed_in_a_tool() {
    let cause = says("tool_description_changed", "/tools/2/description", TOOLS, |body| {
        set(body, "/tools/2/description", "Runs read since 2026-12-02.");
    });
    assert!(cause.contains("`read`") && cause.contains("date"), "{cause}");
    says("tool_schema_changed", "/tools/0/input_schema/properties/c", TOOLS, |body| {
        body["tools"][0]["input_schema"]["properties"]["c"] = json!({"type": "boolean"});
    });
    says("tool_schema_changed", "/tools/0/input_schema/required/1", TOOLS, |body| {
        list(body, "/tools/0/input_schema/required").push(json!("b"));
    });
    says("tool_schema_key_order", "/tools/1/input_schema/properties", TOOLS, |body| {
        let properties = json!({"b": {"type": "integer"}, "a": {"type": "string"}});
        set(body, "/tools/1/input_schema/properties", properties);
    });
    says("tool_attribute_changed", "/tools/0/strict", TOOLS, |body| {
        body["tools"][0]["strict"] = json!(true);
    });
    says("whitespace_only", "/tools/0/description", TOOLS, |body| {
        set(body, "/tools/0/description", "Runs  bash since 2026-12-01.");
    });
}

#[test]
fn one_divergence_for_each_part_of_a_tool() {
    let b = base_but(|body| {
        set(body, "/tools/0/description", "Other words here.");
        set(body, "/tools/0/input_schema/type", "array");
    });
    assert_eq!(
        super::places(&of(&base(), &b)),
        [
            ("tool_description_changed", "/tools/0/description"),
            ("tool_schema_changed", "/tools/0/input_schema/type")
        ]
    );
}

#[test]
fn the_system_prompt() {
    let cause = says("system_text_changed", "/system/1/text", SYSTEM, |body| {
        set(body, "/system/1/text", "cwd: /home/ana/two\nBe brief.\n");
    });
    assert!(cause.contains("a path"), "{cause}");
    says("whitespace_only", "/system/1/text", SYSTEM, |body| {
        set(body, "/system/1/text", "cwd: /home/ana/one\nBe brief.");
    });
    let text = |text: &str| json!({"type": "text", "text": text});
    says("system_block_added", "/system/1", SYSTEM, |body| {
        list(body, "/system").insert(1, text("Agent 7."));
    });
    says("system_block_removed", "/system/0", SYSTEM, |body| drop(list(body, "/system").remove(0)));
    says("system_block_split", "/system/1", SYSTEM, |body| {
        list(body, "/system").pop();
        list(body, "/system").extend([text("cwd: /home/ana/one\n"), text("Be brief.")]);
        super::mark(body, "/system/2");
    });
    says("system_block_joined", "/system", SYSTEM, |body| {
        body["system"] = json!("You are an agent.cwd: /home/ana/one\nBe brief.\n");
    });
    says("system_reordered", "/system/0", SYSTEM, |body| list(body, "/system").swap(0, 1));
    says("system_attribute_changed", "/system/0/x", SYSTEM, |body| {
        body["system"][0]["x"] = json!(1);
    });
}

#[test]
fn messages_that_came_went_or_moved() {
    let said = json!({"role": "user", "content": "<system-reminder>x</system-reminder>"});
    let cause = says("message_inserted", "/messages/2/content", MESSAGES, |body| {
        list(body, "/messages").insert(2, said);
    });
    assert!(cause.starts_with("1 message") && cause.contains("reminder"), "{cause}");
    says("message_removed", "/messages/2/content/0", MESSAGES, |body| {
        list(body, "/messages").drain(2..4);
    });
    let cause = says("history_truncated", "/messages/0/content", MESSAGES, |body| {
        list(body, "/messages").drain(..2);
    });
    assert!(cause.contains("the first 2 messages"), "{cause}");
    says("history_replaced", "/messages/0/content", MESSAGES, |body| {
        list(body, "/messages").drain(..4);
        list(body, "/messages").insert(0, json!({"role": "assistant", "content": "12345 67890"}));
    });
    says("block_moved", "/messages/2/content/0", MESSAGES, |body| {
        let call = list(body, "/messages/1/content").pop().unwrap();
        list(body, "/messages/3/content").push(call);
    });
    says("message_role_changed", "/messages/1/role", MESSAGES, |body| {
        set(body, "/messages/1/role", "user");
    });
}

#[test]
fn the_end_of_a_conversation_that_is_gone_is_a_break_and_one_that_comes_is_growth() {
    let shorter = base_but(|body| list(body, "/messages").truncate(2));
    let diff = of(&base(), &shorter);
    assert_eq!(super::places(&diff), [("history_truncated", "/messages/2/content/0")]);
    assert!(diff.is_break);
    let diff = of(&shorter, &base());
    assert_eq!((super::places(&diff), diff.appended_blocks), (vec![], 5));
    assert!(!diff.is_break);
}

#[test]
fn messages_that_were_cut_elsewhere() {
    says("message_split", "/messages/3/content/0", MESSAGES, |body| {
        let text = list(body, "/messages/2/content").pop().unwrap();
        list(body, "/messages").insert(3, json!({"role": "user", "content": [text]}));
    });
    says("text_split", "/messages/4/content/0", MESSAGES, |body| {
        let text = |text: &str| json!({"type": "text", "text": text});
        set(body, "/messages/4/content", json!([text("Write the "), text("report.")]));
    });
}

#[test]
fn texts() {
    says("message_edited", "/messages/4/content/0/text", MESSAGES, |body| {
        set(body, "/messages/4/content/0/text", "Write the tests.");
    });
    says("unicode_normalised", "/messages/0/content", MESSAGES, |body| {
        set(body, "/messages/0/content", "Look -- then act.");
    });
    says("block_inserted", "/messages/4/content/0", MESSAGES, |body| {
        let notice = json!({"type": "text", "text": "You are in a worktree."});
        list(body, "/messages/4/content").insert(0, notice);
    });
    says("block_removed", "/messages/2/content/2", MESSAGES, |body| {
        list(body, "/messages/2/content").pop();
    });
}

#[test]
fn calls() {
    says("tool_input_key_order", "/messages/1/content/2/input", MESSAGES, |body| {
        set(body, "/messages/1/content/2/input", json!({"b": 1, "a": "ls"}));
    });
    says("tool_call_changed", "/messages/1/content/2/input/a", MESSAGES, |body| {
        set(body, "/messages/1/content/2/input/a", "ls -l");
    });
    says("tool_call_id_changed", "/messages/1/content/2/id", MESSAGES, |body| {
        set(body, "/messages/1/content/2/id", "u1");
    });
    says("tool_call_removed", "/messages/1/content/3", MESSAGES, |body| {
        list(body, "/messages/1/content").pop();
    });
    let cause = says("tool_call_changed", "/messages/1/content/2/input/b", MESSAGES, |body| {
        let number: Value = serde_json::from_str("1.0").unwrap();
        set(body, "/messages/1/content/2/input/b", number);
    });
    assert!(cause.contains("the same number in another form"), "{cause}");
}

#[test]
fn results() {
    says("result_changed", "/messages/2/content/1/content", MESSAGES, |body| {
        set(body, "/messages/2/content/1/content", "placeholder 10:41");
    });
    says("result_shape_changed", "/messages/2/content/0/content", MESSAGES, |body| {
        set(body, "/messages/2/content/0/content", "one.txt");
    });
    says("result_order_changed", "/messages/2/content/0", MESSAGES, |body| {
        list(body, "/messages/2/content").swap(0, 1);
    });
    says("result_error_changed", "/messages/2/content/0/is_error", MESSAGES, |body| {
        body["messages"][2]["content"][0]["is_error"] = json!(false);
    });
    says("result_removed", "/messages/2/content/1", MESSAGES, |body| {
        list(body, "/messages/2/content").remove(1);
    });
}

#[test]
fn thinking() {
    says("thinking_dropped", "/messages/1/content/0", MESSAGES, |body| {
        list(body, "/messages/1/content").remove(0);
    });
    says("thinking_edited", "/messages/1/content/0/signature", MESSAGES, |body| {
        set(body, "/messages/1/content/0/signature", "b3RoZXI=");
    });
}

#[test]
fn a_shuffled_message_is_one_divergence() {
    let results = |order: &[usize]| {
        let result = |n: &usize| {
            json!({"type": "tool_result", "tool_use_id": format!("t{n}"),
                   "content": format!("out {n}")})
        };
        let all: Vec<Value> = order.iter().map(result).collect();
        base_but(|body| set(body, "/messages/2/content", all))
    };
    let diff = of(&results(&[0, 1, 2, 3, 4, 5]), &results(&[0, 5, 3, 1, 4, 2]));
    assert_eq!(super::places(&diff), [("result_order_changed", "/messages/2/content/1")]);
}

#[test]
fn every_kind_has_a_name_of_its_own_and_a_remedy() {
    let names: std::collections::BTreeSet<&str> =
        super::super::Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(names.len(), super::super::Kind::ALL.len());
    for kind in super::super::Kind::ALL {
        assert!(!kind.remedy().is_empty(), "{kind:?}");
        let row = format!("| `{}` |", kind.as_str());
        assert!(include_str!("../../../docs/diff.md").contains(&row), "{row} is not in the docs");
    }
}
