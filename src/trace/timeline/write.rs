//! The requests of a run as a timeline.

use std::collections::HashMap;
use std::io::{self, Write};

use super::header::{Header, VERSION};
use crate::measure::{TokenizedPrompt, identity};
use crate::provider::rules::RuleValue;
use crate::request::json::write_string;
use crate::request::{Payload, RequestEvent};

/// Writes a header and one line a request. `prompts` are the measured prompts of `events`, in the
/// same order; a block's id is its identity in 32 hexadecimal digits.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(
    out: &mut impl Write,
    header: &Header,
    events: &[RequestEvent],
    prompts: &[TokenizedPrompt],
) -> io::Result<()> {
    write_header(out, header)?;
    let mut sizes = HashMap::new();
    for (event, prompt) in events.iter().zip(prompts) {
        let mut line = b"{\"start_s\":".to_vec();
        line.extend(event.start.to_seconds_string().bytes());
        line.extend(b",\"first_token_at_s\":");
        line.extend(event.first_token_at.to_seconds_string().bytes());
        text(&mut line, "request", &event.id);
        text(&mut line, "model", &event.model);
        text(&mut line, "scope", &event.scope);
        line.extend(b",\"params\":{");
        line.extend(parameters(prompt.namespace()).bytes());
        line.push(b'}');
        if prompt.tail().0 > 0 {
            line.extend(format!(",\"tail_tokens\":{}", prompt.tail().0).bytes());
        }
        line.extend(b",\"output_tokens\":");
        line.extend(event.output.0.to_string().bytes());
        line.extend(b",\"blocks\":[");
        blocks(&mut line, event, prompt, &mut sizes);
        line.extend(b"]}\n");
        out.write_all(&line)?;
    }
    Ok(())
}

fn write_header(out: &mut impl Write, header: &Header) -> io::Result<()> {
    let mut line = format!("{{\"forkcost_timeline\":{VERSION}").into_bytes();
    if let Some(model) = &header.model {
        text(&mut line, "model", model);
    }
    if let Some(date) = header.date {
        text(&mut line, "date", &date.to_string());
    }
    if let Some(tokenizer) = &header.tokenizer {
        text(&mut line, "tokenizer", tokenizer);
    }
    if let Some(comment) = &header.comment {
        text(&mut line, "comment", comment);
    }
    line.extend(b",\"rules\":{");
    for (index, (key, value)) in header.rules.iter().enumerate() {
        if index > 0 {
            line.push(b',');
        }
        write_string(&mut line, key);
        line.push(b':');
        match value {
            RuleValue::Text(text) => write_string(&mut line, text),
            RuleValue::Integer(number) => line.extend(number.to_string().bytes()),
            RuleValue::Bool(on) => line.extend(on.to_string().bytes()),
        }
    }
    line.extend(b"}}\n");
    out.write_all(&line)
}

fn text(line: &mut Vec<u8>, key: &str, value: &str) {
    line.push(b',');
    write_string(line, key);
    line.push(b':');
    write_string(line, value);
}

/// The members of a namespace without the model, which has a key of its own.
fn parameters(namespace: &str) -> String {
    let members = namespace.lines().filter(|line| !line.starts_with("\"model\":"));
    members.collect::<Vec<_>>().join(",")
}

/// A block whose tokens depend on what stands before it has an id for each of its sizes: equal
/// blocks behind equal prefixes have equal sizes.
fn blocks(
    line: &mut Vec<u8>,
    event: &RequestEvent,
    prompt: &TokenizedPrompt,
    sizes: &mut HashMap<u128, u64>,
) {
    for (index, (block, measure)) in prompt.blocks().enumerate() {
        let identity = match &event.payload {
            Payload::Body(_) => identity::of_block(block),
            Payload::Blocks(stated) => stated.blocks[index].identity,
        };
        let comma = if index > 0 { "," } else { "" };
        let (tokens, kind) = (measure.tokens.0, block.kind.as_str());
        let first = *sizes.entry(identity).or_insert(tokens);
        let size = if first == tokens { String::new() } else { format!("-{tokens}") };
        line.extend(
            format!(
                "{comma}{{\"id\":\"{identity:032x}{size}\",\"tokens\":{tokens},\"kind\":\"{kind}\""
            )
            .bytes(),
        );
        if let Some(ttl) = block.marker {
            text(line, "marker", ttl.label());
        }
        line.push(b'}');
    }
}
