//! Tool definitions of exact size.

use std::collections::BTreeSet;

use super::draw::Draw;
use super::fit::{Carry, Fit, Frame, Opening};
use super::prose::{self, Topic};
use super::words::expand;
use super::{ContentError, Wording, exactly};
use crate::request::{RawJson, Tool};
use crate::tokens::Tokenizer;

/// The schema of a tool that has no room for parameters.
const EMPTY_SCHEMA: &str = "{\"type\":\"object\"}";

/// Share of a tool's tokens, in percent, that parameters may take; its description takes the rest.
const SCHEMA_PERCENT: u64 = 60;

/// Tools that any coding agent has, with their first parameters and their weight among tools.
const KNOWN: &[(&str, &[&str], u64)] = &[
    ("Agent", &["description", "prompt", "subagent_type"], 30),
    ("Bash", &["command", "timeout_ms", "description"], 36),
    ("Read", &["file_path", "offset", "limit"], 14),
    ("Edit", &["file_path", "old_string", "new_string"], 14),
    ("Write", &["file_path", "content"], 9),
    ("Glob", &["pattern", "path"], 8),
    ("Grep", &["pattern", "path", "output_mode"], 16),
    ("WebFetch", &["url", "prompt"], 10),
    ("WebSearch", &["query", "allowed_domains"], 9),
    ("NotebookEdit", &["notebook_path", "cell_id"], 8),
    ("TodoWrite", &["todos"], 20),
    ("AskUser", &["question", "options"], 9),
    ("TaskOutput", &["task_id", "timeout_ms"], 7),
    ("TaskStop", &["task_id"], 5),
    ("ListResources", &["server"], 5),
    ("ReadResource", &["server", "uri"], 6),
];
const SERVERS: &[&str] =
    &["tracker", "metrics", "deploy", "registry", "docs", "browser", "database", "mail"];
const ACTIONS: &[&str] = &["list", "get", "create", "update", "search", "close", "export"];
const OBJECTS: &[&str] =
    &["issue", "dashboard", "release", "package", "page", "session", "table", "thread", "label"];
const PARAMETERS: &[&str] = &[
    "id",
    "path",
    "query",
    "limit",
    "offset",
    "filter",
    "format",
    "since",
    "until",
    "owner",
    "labels",
    "state",
    "order",
    "depth",
    "branch",
    "revision",
    "message",
    "title",
    "fields",
    "include",
    "exclude",
    "recursive",
    "dry_run",
    "timeout_ms",
    "encoding",
    "max_bytes",
    "page",
    "region",
    "priority",
];

/// `count` tools whose counts sum to `tokens`; the first is the one that starts agents.
///
/// # Errors
/// [`ContentError::TooSmall`] where names alone take more, [`ContentError::NothingToFill`] for no
/// tools.
pub fn tools(
    seed: u64,
    count: u64,
    tokens: u64,
    wording: &Wording<'_>,
) -> Result<Vec<Tool>, ContentError> {
    let tokenizer = wording.tokenizer;
    let fit = Fit { tokenizer, what: "parent.tools" };
    if count == 0 && tokens > 0 {
        return Err(ContentError::NothingToFill { what: fit.what, asked: tokens });
    }
    let drawn = |index| Draw::new(seed, "tool", index);
    let smallest = |index| {
        let size = frame(&name(index), EMPTY_SCHEMA).smallest(tokenizer);
        Ok(wording.tool(&tool(&fit, index, size, 0, &mut drawn(index))?))
    };
    let minima = (0..count).map(smallest).collect::<Result<Vec<u64>, ContentError>>()?;
    let weights: Vec<u64> = (0..count).map(|index| weight(seed, index)).collect();
    let sizes = fit.share(tokens, &minima, &weights)?;
    let mut carry = Carry::new(tokenizer);
    let mut made = Vec::with_capacity(sizes.len());
    for (index, (size, minimum)) in (0..count).zip(sizes.into_iter().zip(minima)) {
        let unscaled = carry.unscaled(size, minimum);
        let room = unscaled * SCHEMA_PERCENT / 100;
        let sized = |room| {
            let make = |size, draw: &mut Draw| tool(&fit, index, size, room, draw);
            exactly(&fit, unscaled, &mut drawn(index), make, |tool| wording.tool(tool))
        };
        // Where parameters do not fit whatever the size of the description, there are none.
        made.push(sized(room).or_else(|_| sized(0))?);
    }
    Ok(made)
}

fn known(index: u64) -> Option<&'static (&'static str, &'static [&'static str], u64)> {
    usize::try_from(index).ok().and_then(|index| KNOWN.get(index))
}

fn weight(seed: u64, index: u64) -> u64 {
    let mut draw = Draw::new(seed, "tool.weight", index);
    known(index).map_or_else(|| draw.between(4, 12) as u64, |(_, _, weight)| *weight)
}

/// The name of tool `index`, no two alike.
fn name(index: u64) -> String {
    if let Some((name, _, _)) = known(index) {
        return (*name).to_owned();
    }
    let number = usize::try_from(index).unwrap_or(usize::MAX) - KNOWN.len();
    let (action, rest) = (ACTIONS[number % ACTIONS.len()], number / ACTIONS.len());
    let (server, rest) = (SERVERS[rest % SERVERS.len()], rest / SERVERS.len());
    let (object, round) = (OBJECTS[rest % OBJECTS.len()], rest / OBJECTS.len());
    let suffix = if round == 0 { String::new() } else { format!("_{}", round + 1) };
    format!("mcp__{server}__{action}_{object}{suffix}")
}

fn frame(name: &str, schema: &str) -> Frame {
    Frame {
        head: format!("{name}\n"),
        tail: format!("\n{schema}"),
        opening: Opening::IfBare,
        ..Frame::bare()
    }
}

/// A tool of that size as name, description and schema, one a line; `room` is for the schema.
fn tool(
    fit: &Fit<'_>,
    index: u64,
    unscaled: u64,
    room: u64,
    draw: &mut Draw,
) -> Result<Tool, ContentError> {
    let name = name(index);
    let schema = schema(fit.tokenizer, index, room, draw);
    let full = frame(&name, &schema);
    let fits = full.smallest(fit.tokenizer) <= unscaled;
    let (schema, frame) =
        if fits { (schema, full) } else { (EMPTY_SCHEMA.to_owned(), frame(&name, EMPTY_SCHEMA)) };
    let counted = fit.fill(&frame, unscaled, draw, prose::running(Topic::Tool))?;
    let description = counted[frame.head.len()..counted.len() - frame.tail.len()].to_owned();
    let schema =
        RawJson::new(schema).map_err(|source| ContentError::BadJson { what: "schema", source })?;
    Ok(Tool { name, description: Some(description), input_schema: Some(schema), more: Vec::new() })
}

/// A schema of about `room` tokens, or the empty one where no parameter fits.
fn schema(tokenizer: &Tokenizer, index: u64, room: u64, draw: &mut Draw) -> String {
    let first: &[&str] = known(index).map_or(&[], |(_, parameters, _)| parameters);
    let mut names = BTreeSet::new();
    let (mut properties, mut required) = (Vec::new(), Vec::new());
    let mut used = 0;
    loop {
        let name = match first.get(properties.len()) {
            Some(name) => (*name).to_owned(),
            None => unique(draw, &names),
        };
        let property = property(draw, &name, 0);
        // A fifth of a parameter more: its name among the required ones, and the comma.
        used += tokenizer.count_unscaled(&property) * 6 / 5;
        if used > room {
            break;
        }
        if properties.len() < first.len().min(2) || draw.chance(20) {
            required.push(format!("\"{name}\""));
        }
        names.insert(name);
        properties.push(property);
    }
    if properties.is_empty() {
        return EMPTY_SCHEMA.to_owned();
    }
    let (properties, required) = (properties.join(","), required.join(","));
    format!(
        "{{\"type\":\"object\",\"properties\":{{{properties}}},\"required\":[{required}],\
         \"additionalProperties\":false}}"
    )
}

/// A parameter's name that is not taken.
fn unique(draw: &mut Draw, taken: &BTreeSet<String>) -> String {
    let free: Vec<&&str> = PARAMETERS.iter().filter(|name| !taken.contains(**name)).collect();
    if let Some(name) = free.get(draw.below(free.len())) {
        return (**name).to_owned();
    }
    let stem = expand(draw, "~adjective~_~noun~");
    if taken.contains(&stem) { format!("{stem}_{}", taken.len()) } else { stem }
}

const SCALARS: &[&str] = &[
    "\"type\":\"string\"",
    "\"type\":\"string\",\"minLength\":1,\"maxLength\":~large~",
    "\"type\":\"string\",\"enum\":[\"~label~\",\"~adjective~\",\"~verb~\"]",
    "\"type\":\"integer\",\"minimum\":0,\"maximum\":~large~",
    "\"type\":\"integer\",\"minimum\":1,\"default\":~number~",
    "\"type\":\"boolean\",\"default\":false",
    "\"type\":[\"string\",\"null\"]",
    "\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":~number~",
];
const MEANINGS: &[&str] = &[
    "The ~noun~ to ~verb~, as it stands in the ~noun~",
    "How many of each ~noun~ to return; more are cut",
    "Only a ~noun~ that is ~adjective~ or newer",
    "What to do with a ~adjective~ ~noun~ in ~area~",
    "Absolute path of the ~noun~",
    "Whether the ~noun~ is ~adjective~ before the call",
    "Where to begin in the ~noun~, from ~digit~",
    "The ~adjective~ ~noun~ that the ~noun~ belongs to",
];

/// One member of `properties`; objects nest two deep.
fn property(draw: &mut Draw, name: &str, depth: usize) -> String {
    let template = draw.word(MEANINGS);
    let meaning = expand(draw, template);
    if depth == 2 || draw.chance(82) {
        let template = draw.word(SCALARS);
        let kind = expand(draw, template);
        return format!("\"{name}\":{{{kind},\"description\":\"{meaning}\"}}");
    }
    let mut names = BTreeSet::new();
    let members: Vec<String> = (0..draw.between(2, 3))
        .map(|_| {
            let name = unique(draw, &names);
            let member = property(draw, &name, depth + 1);
            names.insert(name);
            member
        })
        .collect();
    let first = names.first().map_or("", String::as_str);
    let object = format!(
        "\"type\":\"object\",\"properties\":{{{}}},\"required\":[\"{first}\"]",
        members.join(",")
    );
    if draw.chance(40) {
        return format!(
            "\"{name}\":{{\"type\":\"array\",\"items\":{{{object}}},\"description\":\"{meaning}\"}}"
        );
    }
    format!("\"{name}\":{{{object},\"description\":\"{meaning}\"}}")
}
