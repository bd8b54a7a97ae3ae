//! What is a break, what of A's entries is left, and whether B's markers find it.

use serde_json::{Value, json};

use super::{base, base_but, list, mark, of, places, set};
use crate::provider::Survival;

#[test]
fn a_difference_behind_the_last_marker_is_not_a_break() {
    let moved = |body: &mut Value| {
        let last = body.pointer_mut("/messages/4/content/0").unwrap().as_object_mut().unwrap();
        last.remove("cache_control");
        mark(body, "/messages/3/content/0");
    };
    let a = base_but(moved);
    let b = base_but(|body| {
        moved(body);
        set(body, "/messages/4/content/0/text", "Write the tests.");
    });
    let diff = of(&a, &b);
    assert_eq!(places(&diff), [("message_edited", "/messages/4/content/0/text")]);
    assert!(!diff.is_break && !diff.divergences[0].breaks);
    assert_eq!(diff.segments_valid, Survival::ALL);
    assert_eq!((diff.cause.clone(), diff.api_reason), (None, None));
    assert!(diff.entries.iter().all(|entry| entry.valid));
    assert_eq!(diff.read.unwrap().block, 14);
}

#[test]
fn an_earlier_entry_stays_valid() {
    let b = base_but(|body| set(body, "/messages/2/content/2/text", "Go back."));
    let diff = of(&base(), &b);
    let entries: Vec<(u64, bool)> = diff.entries.iter().map(|e| (e.block, e.valid)).collect();
    assert_eq!(entries, [(5, true), (15, false)]);
    assert_eq!(diff.segments_valid, Survival::TO_SYSTEM);
    assert_eq!((diff.shared.blocks, diff.divergences[0].valid_blocks), (12, 12));
    assert_eq!(diff.read.unwrap().pointer, "/system/1");
}

#[test]
fn a_tool_more_at_the_end_loses_the_tools_but_not_the_entry_at_an_earlier_one() {
    let marked = |body: &mut Value| mark(body, "/tools/2");
    let b = base_but(|body| {
        marked(body);
        list(body, "/tools").push(json!({"name": "late", "input_schema": {}}));
    });
    let diff = of(&base_but(marked), &b);
    assert_eq!(diff.segments_valid, Survival::NOTHING);
    let valid: Vec<bool> = diff.entries.iter().map(|entry| entry.valid).collect();
    assert_eq!(valid, [true, false, false]);
    assert_eq!(diff.read.unwrap().pointer, "/tools/2");
}

#[test]
fn a_change_behind_the_only_marked_part_keeps_all_that_was_written() {
    let a = base_but(|body| {
        let last = body.pointer_mut("/messages/4/content/0").unwrap().as_object_mut().unwrap();
        last.remove("cache_control");
    });
    let diff = of(&a, &base_but(|body| set(body, "/messages/0/content", "Other.")));
    assert!(!diff.is_break);
    assert_eq!(diff.segments_valid, Survival::ALL);
}

#[test]
fn without_a_marker_the_whole_prompt_is_judged() {
    let unmarked = |body: &mut Value| {
        for pointer in ["/system/1", "/messages/4/content/0"] {
            body.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove("cache_control");
        }
    };
    let a = base_but(unmarked);
    let b = base_but(|body| {
        unmarked(body);
        set(body, "/messages/4/content/0/text", "Write the tests.");
    });
    let diff = of(&a, &b);
    assert!(diff.is_break);
    assert!(diff.notes[0].starts_with("A has no marker"));
    assert!(!of(&a, &a).is_break);
}

#[test]
fn an_automatic_marker_stands_on_the_last_block() {
    let automatic = base_but(|body| {
        for pointer in ["/system/1", "/messages/4/content/0"] {
            body.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove("cache_control");
        }
        body["cache_control"] = json!({"type": "ephemeral"});
    });
    let diff = of(&automatic, &base());
    assert_eq!((places(&diff), diff.entries.len()), (vec![], 1));
    assert_eq!(diff.entries[0].pointer, "/messages/4/content/0");
}

#[test]
fn children_of_one_fork_are_recognised() {
    let b = base_but(|body| set(body, "/messages/4/content/0/text", "Write the tests."));
    let diff = of(&base(), &b);
    assert!(diff.is_break);
    assert!(diff.notes[0].contains("children of one fork"));
}

#[test]
fn a_marker_that_does_not_look_far_enough_back_is_told() {
    let turns = |count: usize| {
        base_but(|body| {
            body.pointer_mut("/messages/4/content/0").unwrap()["cache_control"].take();
            let messages = list(body, "/messages");
            for n in 0..count {
                let role = if n % 2 == 0 { "assistant" } else { "user" };
                let block = json!({"type": "text", "text": format!("turn {n}")});
                messages.push(json!({"role": role, "content": [block]}));
            }
            let last = format!("/messages/{}/content/0", 4 + count);
            mark(body, &last);
        })
    };
    let (a, near, far) = (turns(0), turns(19), turns(20));
    let diff = of(&a, &near);
    assert_eq!(diff.read.unwrap().block, 15);
    assert!(diff.lookback.is_none());
    let diff = of(&a, &far);
    assert!(!diff.is_break);
    assert_eq!(diff.read.unwrap().block, 5);
    let lookback = diff.lookback.unwrap();
    assert_eq!((lookback.reason, lookback.entry.block), ("lookback_exceeded", 15));
    assert_eq!((lookback.marker.unwrap().block, lookback.positions), (35, 20));
}

#[test]
fn several_divergences_stand_in_the_order_of_the_prompt() {
    let b = base_but(|body| {
        set(body, "/messages/4/content/0/text", "Write the tests.");
        set(body, "/system/0/text", "You are a child.");
        list(body, "/tools").remove(1);
        set(body, "/model", "claude-opus-4-5");
    });
    let diff = of(&base(), &b);
    assert_eq!(
        places(&diff),
        [
            ("model_changed", "/model"),
            ("tool_removed", "/tools/1"),
            ("system_text_changed", "/system/0/text"),
            ("message_edited", "/messages/4/content/0/text")
        ]
    );
    assert_eq!(diff.api_reason, Some("model_changed"));
    assert_eq!(diff.segments_valid, Survival::NOTHING);
}

#[test]
fn shared_bytes_are_whole_blocks_and_the_equal_head_of_the_next() {
    let text = |text: &str| json!({"model": "m", "messages": [{"role": "user", "content": text}]});
    let diff = of(&text("abcX"), &text("abcY"));
    // {"text":"abc
    assert_eq!((diff.shared.blocks, diff.shared.prompt_bytes), (0, 12));
}

#[test]
fn what_b_reads_is_left_open_where_the_api_refuses_the_markers() {
    let refused = |change: &dyn Fn(&mut Value), words: &str| {
        let bad = base_but(|body| change(body));
        for (diff, name) in [(of(&bad, &base()), "A"), (of(&base(), &bad), "B")] {
            assert!(diff.read.is_none() && diff.lookback.is_none(), "{words}");
            let side = if name == "A" { &diff.a } else { &diff.b };
            assert!(side.refused.as_ref().is_some_and(|why| why.contains(words)), "{side:?}");
            let note = &diff.notes[0];
            assert!(note.starts_with(&format!("the API refuses this request ({name}, ")), "{note}");
            assert!(note.contains(words), "{note}");
        }
    };
    let many = ["/tools/0", "/tools/1", "/system/0"];
    refused(&|body| many.iter().for_each(|pointer| mark(body, pointer)), "at most 4");
    let ttl = |body: &mut Value, ttl: &str| {
        let pointer = "/messages/4/content/0/cache_control";
        body.pointer_mut(pointer).unwrap()["ttl"] = json!(ttl);
    };
    refused(&|body| ttl(body, "1h"), "one-hour");
    refused(&|body| ttl(body, "2h"), "`5m` or `1h`");
    // Four are taken.
    let four = base_but(|body| many[..2].iter().for_each(|pointer| mark(body, pointer)));
    let diff = of(&four, &four);
    assert!(diff.read.is_some() && diff.a.refused.is_none() && diff.notes.is_empty());
}
