//! Parameters and features: what they lose, and what never matters.

use serde_json::{Value, json};

use super::{base, base_but, list, of, of_bytes, places, set};
use crate::provider::rules::RuleValue;
use crate::provider::{Certainty, Survival};

#[track_caller]
fn loses(kind: &str, pointer: &str, left: Survival, change: impl FnOnce(&mut Value)) {
    let diff = of(&base(), &base_but(change));
    assert_eq!(places(&diff), [(kind, pointer)]);
    assert_eq!(diff.segments_valid, left);
    assert!(diff.is_break);
}

#[test]
fn each_parameter_loses_what_the_table_says() {
    loses("model_changed", "/model", Survival::NOTHING, |body| {
        set(body, "/model", "claude-haiku-4-5");
    });
    loses("tool_choice_changed", "/tool_choice", Survival::TO_SYSTEM, |body| {
        body["tool_choice"] = json!({"type": "none"});
    });
    loses("speed_changed", "/speed", Survival::TO_TOOLS, |body| body["speed"] = json!("fast"));
    loses("thinking_changed", "/thinking", Survival::NOTHING, |body| {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": 2048});
    });
    loses("effort_changed", "/output_config/effort", Survival::NOTHING, |body| {
        body["output_config"] = json!({"effort": "low"});
    });
    loses("betas_changed", "/betas", Survival::NOTHING, |body| body["betas"] = json!(["x"]));
    loses("parameter_changed", "/mcp_servers", Survival::NOTHING, |body| {
        body["mcp_servers"] = json!([]);
    });
}

#[test]
fn a_body_without_tools_and_system_loses_no_less() {
    let bare =
        |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "x"}]});
    let diff = of(&bare("claude-opus-5"), &bare("claude-opus-4-5"));
    assert_eq!(diff.segments_valid, Survival::NOTHING);
    let mut tooled = bare("claude-opus-5");
    tooled["tools"] = json!([{"name": "a", "input_schema": {}}]);
    assert_eq!(of(&bare("claude-opus-5"), &tooled).segments_valid, Survival::NOTHING);
}

#[test]
fn a_parameter_is_drilled_to_its_innermost_value_and_its_key_order_is_free() {
    let with = |choice: Value| base_but(|body| body["tool_choice"] = choice);
    let a = with(json!({"type": "auto", "disable_parallel_tool_use": false}));
    let diff = of(&a, &with(json!({"disable_parallel_tool_use": false, "type": "auto"})));
    assert_eq!(places(&diff), []);
    let diff = of(&a, &with(json!({"type": "auto", "disable_parallel_tool_use": true})));
    assert_eq!(places(&diff), [("tool_choice_changed", "/tool_choice/disable_parallel_tool_use")]);
    assert_eq!(diff.api_reason, None);
    assert_eq!(
        diff.cause.as_deref(),
        Some("`tool_choice.disable_parallel_tool_use` is false in A and true in B")
    );
}

#[test]
fn what_is_not_known_is_labelled() {
    let diff = of(&base(), &base_but(|body| body["thinking"] = json!({"type": "adaptive"})));
    assert_eq!(diff.divergences[0].certainty, Certainty::Assumed);
    assert!(diff.divergences[0].note.is_some());
}

#[test]
fn the_explicit_default_is_no_divergence() {
    let b = base_but(|body| body["output_config"] = json!({"effort": "high"}));
    let diff = of(&base(), &b);
    assert_eq!(places(&diff), []);
    assert!(diff.ignored[0].what.starts_with("output_config.effort"));
}

#[test]
fn images_key_all_messages_wherever_they_are() {
    let image = json!({"type": "image", "source": {"type": "base64", "data": "AAAA"}});
    let b = base_but(|body| list(body, "/messages/4/content").push(image.clone()));
    let diff = of(&base(), &b);
    assert_eq!(places(&diff), [("images_toggled", "/messages/4/content/1")]);
    assert_eq!((diff.segments_valid, diff.shared.blocks), (Survival::TO_SYSTEM, 5));

    let diff = of(&b, &base());
    assert_eq!(places(&diff), [("image_removed", "/messages/4/content/1")]);
    assert_eq!(diff.shared.blocks, 5);

    // With another image before it there is nothing to toggle.
    let with = |body: &mut Value| list(body, "/messages/2/content").insert(2, image.clone());
    let (a, b) = (
        base_but(with),
        base_but(|body| {
            with(body);
            list(body, "/messages/4/content").push(image.clone());
        }),
    );
    let diff = of(&a, &b);
    assert_eq!((places(&diff), diff.appended_blocks, diff.is_break), (vec![], 1, false));
}

#[test]
fn citations_and_web_tools_leave_the_tools() {
    let document = |on: bool| {
        json!({"type": "document", "source": {"type": "text", "data": "x"},
               "citations": {"enabled": on}})
    };
    let with = |on| base_but(|body| list(body, "/messages/4/content").insert(0, document(on)));
    let diff = of(&with(false), &with(true));
    assert_eq!(places(&diff), [("document_changed", "/messages/4/content/0/citations/enabled")]);
    assert_eq!(diff.segments_valid, Survival::TO_TOOLS);

    let web = json!({"type": "web_search_20250305", "name": "web_search"});
    let diff = of(&base(), &base_but(|body| list(body, "/tools").push(web)));
    assert_eq!(places(&diff), [("web_tool_toggled", "/tools/3")]);
    assert_eq!(diff.segments_valid, Survival::TO_TOOLS);
}

#[test]
fn what_never_matters_is_listed_and_no_divergence() {
    let b = base_but(|body| {
        body["max_tokens"] = json!(5);
        body["stream"] = json!(true);
        body["metadata"] = json!({"user_id": "u"});
        body["stop_sequences"] = json!(["x"]);
        body["temperature"] = json!(0.5);
        body["system"][1].as_object_mut().unwrap().remove("cache_control");
        super::mark(body, "/tools/2");
    });
    let diff = of(&base(), &b);
    assert_eq!((places(&diff), diff.is_break), (vec![], false));
    let names: Vec<&str> = diff.ignored.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(
        names,
        ["max_tokens", "metadata", "stop_sequences", "stream", "temperature", "markers"]
    );
}

#[test]
fn deferred_tools_stand_outside_the_prefix() {
    let deferred = json!({"name": "late", "input_schema": {}, "defer_loading": true});
    let diff = of(&base(), &base_but(|body| list(body, "/tools").push(deferred.clone())));
    assert_eq!((places(&diff), diff.is_break), (vec![], false));
    assert_eq!(diff.ignored[0].what, "deferred_tools");
}

#[test]
fn the_billing_line_counts_only_where_it_is_asked_for() {
    let with = |line: &str| {
        let text = format!("x-anthropic-billing-header: {line}");
        base_but(|body| list(body, "/system").insert(0, json!({"type": "text", "text": text})))
    };
    let (a, b) = (with("cch=1").to_string(), with("cch=2").to_string());
    let diff = of_bytes(a.as_bytes(), b.as_bytes(), &[]).unwrap();
    assert_eq!((places(&diff), diff.ignored[0].what.as_str()), (vec![], "billing_line"));
    let rules = [("hash_billing_line".to_owned(), RuleValue::Bool(true))];
    let diff = of_bytes(a.as_bytes(), b.as_bytes(), &rules).unwrap();
    assert_eq!(places(&diff), [("system_text_changed", "/system/0/text")]);
    let unknown = [("hash_billing_lin".to_owned(), RuleValue::Bool(true))];
    assert!(of_bytes(a.as_bytes(), b.as_bytes(), &unknown).is_err());
}

#[test]
fn a_default_written_out_and_null_are_no_divergence() {
    for (name, value) in [
        ("tool_choice", json!({"type": "auto"})),
        ("tool_choice", json!({"disable_parallel_tool_use": false, "type": "auto"})),
        ("tool_choice", json!(null)),
        ("speed", json!("standard")),
        ("speed", json!(null)),
        ("thinking", json!({"type": "disabled"})),
        ("thinking", json!(null)),
        ("betas", json!(null)),
        ("mcp_servers", json!(null)),
    ] {
        let b = base_but(|body| body[name] = value.clone());
        for (diff, side) in [(of(&base(), &b), "b"), (of(&b, &base()), "a")] {
            assert_eq!((places(&diff), diff.is_break), (vec![], false), "{name} {value}");
            assert_eq!(diff.ignored[0].what, format!("{name} (left out is the default)"));
            let written = if side == "a" { &diff.ignored[0].a } else { &diff.ignored[0].b };
            assert_eq!(written.as_deref(), Some(value.to_string().as_str()));
        }
    }
    let with = |choice: Value| base_but(|body| body["tool_choice"] = choice);
    let any = |parallel: Value| json!({"type": "any", "disable_parallel_tool_use": parallel});
    for value in [json!(false), json!(null)] {
        let diff = of(&with(json!({"type": "any"})), &with(any(value)));
        assert_eq!((places(&diff), diff.ignored.len()), (vec![], 1));
    }
    // The place is that of what means something.
    let diff = of(&with(any(json!(false))), &with(json!({"type": "none"})));
    assert_eq!(places(&diff), [("tool_choice_changed", "/tool_choice/type")]);
    assert_eq!(diff.divergences[0].more_places, 0);
}

#[test]
fn what_is_no_default_stays_a_divergence() {
    for (name, value) in [
        ("tool_choice", json!({"type": "auto", "disable_parallel_tool_use": true})),
        ("tool_choice", json!({"type": "any"})),
        ("speed", json!("fast")),
        ("thinking", json!({"type": "adaptive"})),
        ("thinking", json!({"type": "disabled", "display": "x"})),
        ("betas", json!([])),
        ("mcp_servers", json!([null])),
    ] {
        let diff = of(&base(), &base_but(|body| body[name] = value.clone()));
        assert_eq!(diff.divergences.len(), 1, "{name} {value}");
        assert!(diff.is_break, "{name} {value}");
    }
    // A null inside a schema means something.
    let with = |schema: Value| {
        base_but(|body| body["output_config"] = json!({"format": {"schema": schema}}))
    };
    let diff = of(&with(json!({"default": null})), &with(json!({})));
    assert_eq!(places(&diff), [("output_format_changed", "/output_config/format/schema/default")]);
}

#[test]
fn the_innermost_place_of_a_parameter_is_named_and_the_others_are_counted() {
    let servers = |url: &str, token: &str| {
        base_but(|body| {
            body["mcp_servers"] = json!([{"name": "one", "url": url, "token": {"id": token}}]);
        })
    };
    let diff = of(&servers("a", "x"), &servers("b", "y"));
    assert_eq!(places(&diff), [("parameter_changed", "/mcp_servers/0/token/id")]);
    assert_eq!(
        diff.cause.as_deref(),
        Some("`/mcp_servers/0/token/id` is \"x\" in A and \"y\" in B")
    );
    assert_eq!(diff.divergences[0].more_places, 1);
}

#[test]
fn values_are_compared_before_they_are_shortened() {
    let with = |name: &str| {
        let description = format!("{}{name}", "x".repeat(90));
        let tool = json!({"name": "late", "description": description, "defer_loading": true});
        base_but(|body| list(body, "/tools").push(tool))
    };
    let diff = of(&with("one"), &with("two"));
    assert_eq!((places(&diff), diff.ignored[0].what.as_str()), (vec![], "deferred_tools"));

    let line = |end: &str| {
        let text = format!("x-anthropic-billing-header: {}{end}", "x".repeat(90));
        base_but(|body| list(body, "/system").insert(0, json!({"type": "text", "text": text})))
    };
    let diff = of(&line("1"), &line("2"));
    assert_eq!((places(&diff), diff.ignored[0].what.as_str()), (vec![], "billing_line"));
}

#[test]
fn what_stands_behind_a_billing_line_in_its_block_counts() {
    let with = |more: &str| {
        let text = format!("x-anthropic-billing-header: cch=1;\n{more}");
        base_but(|body| list(body, "/system").insert(0, json!({"type": "text", "text": text})))
    };
    let diff = of(&with("You are one."), &with("You are two."));
    assert_eq!(places(&diff), [("system_text_changed", "/system/0/text")]);
    assert!(diff.is_break);
}
