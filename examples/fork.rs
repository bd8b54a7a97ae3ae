//! Builds the request bodies of a fork from one's own system prompt, tools and history, and prints
//! them, one a line: `cargo run --example fork`.

use std::error::Error;
use std::io::{Write, stdout};
use std::sync::Arc;

use forkcost::fork::definition::FORK;
use forkcost::fork::gate::{Call, Decision, Gate, Session};
use forkcost::fork::guard::{Caller, Scan};
use forkcost::fork::{Dispatch, ForkPlan, child};
use forkcost::provider::anthropic::Anthropic;
use forkcost::request::{Block, Conversation, MarkerPolicy, Message, RawJson, Role, Tool};

fn main() -> Result<(), Box<dyn Error>> {
    let call = |id: &str, prompt: &str| -> Result<Block, serde_json::Error> {
        let input = RawJson::new(format!("{{\"prompt\":{}}}", RawJson::string(prompt)))?;
        Ok(Block::ToolUse { id: id.to_owned(), name: "Agent".to_owned(), input })
    };
    let schema = RawJson::new(r#"{"type":"object","properties":{"prompt":{"type":"string"}}}"#)?;
    let parent = Arc::new(Conversation {
        model: "claude-opus-5".to_owned(),
        max_tokens: 8_192,
        tools: vec![Tool {
            name: "Agent".to_owned(),
            description: Some("Starts an agent.".to_owned()),
            input_schema: Some(schema),
            more: Vec::new(),
        }],
        system: vec!["You are a careful engineer.".to_owned()],
        messages: vec![Message { role: Role::User, blocks: vec![Block::Text("Go.".to_owned())] }],
        parameters: Vec::new(),
    });
    let directives = ["Read the tests.", "Read the docs."];
    let calls = directives.iter().zip(["toolu_1", "toolu_2"]).map(|(text, id)| call(id, text));
    let dispatch = Message { role: Role::Assistant, blocks: calls.collect::<Result<_, _>>()? };

    let asked = Call { agent_type: Some("fork"), remote: false };
    let caller = Caller { query_source: "my_main_loop", messages: &parent.messages };
    let gate = Gate::latch(&Session::default());
    let Decision::Fork(permit) = gate.decide(&asked, &caller, Scan::Structural)? else {
        return Err("the call is no fork".into());
    };
    // A marker where all children part lets each read what the first one wrote.
    let plan = ForkPlan {
        policy: MarkerPolicy::BeforeDirective,
        ..ForkPlan::new(permit, FORK.base(&parent, None), Dispatch::Appended(dispatch))
    };
    let family = plan.family(&Anthropic)?;
    for directive in directives {
        stdout().write_all(&child(&plan, &family, directive).to_vec())?;
        stdout().write_all(b"\n")?;
    }
    Ok(())
}
