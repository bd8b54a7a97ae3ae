//! A body that is compared: its own bytes, the places of its values, and its prompt.

use std::borrow::Cow;

use super::shape;
use crate::provider::{Provider, Refusal, RenderOptions};
use crate::request::json::{self, JsonError, Node, Value};
use crate::request::{RenderedBlock, RequestBody, Section};

/// Members of a row of a capture, or of a line of `forkcost build`, that hold a body.
const WRAPPERS: [&str; 2] = ["request", "body"];

/// Most keys that an error lists.
const KEYS_MAX: usize = 8;

/// One of the two bodies as it was given.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What to call it, e.g. a file's path.
    pub name: &'a str,
    /// The text that holds the body: the body itself, or an object around it.
    pub bytes: &'a [u8],
    /// Line of its file where the text is one of many, from 1.
    pub line: Option<usize>,
    /// Where the text begins in its file, in bytes from 0.
    pub file_byte: u64,
}

/// Why two bodies cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// Nothing stands there.
    #[error("{name}: empty: a request body is expected")]
    Empty {
        /// Name of the input.
        name: String,
    },
    /// Not JSON.
    #[error("{name}:{line}:{column}: not JSON: {message}")]
    NotJson {
        /// Name of the input, without the line.
        name: String,
        /// Line in the file, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// JSON, but no request body.
    #[error("{name}: not a request body: {found}")]
    NotRequest {
        /// Name of the input.
        name: String,
        /// What stands there instead.
        found: String,
    },
    /// A body of a shape that no provider takes.
    #[error("{name}: {pointer}: {expected} is expected")]
    Shape {
        /// Name of the input.
        name: String,
        /// JSON pointer of the value.
        pointer: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// A body of another API; its prompt would be misread.
    #[error("{name}: {pointer}: the body has the shape of {api}; give the Messages API body")]
    OtherApi {
        /// Name of the input.
        name: String,
        /// JSON pointer of the value that shows it.
        pointer: String,
        /// The other API.
        api: &'static str,
    },
    /// A rule cannot be set.
    #[error(transparent)]
    Rule(#[from] crate::provider::rules::RuleError),
}

impl DiffError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            DiffError::Empty { .. } | DiffError::NotJson { .. } => {
                "give one body of the Messages API as JSON, or FILE:LINE of a file with one JSON \
                 object a line"
            }
            DiffError::NotRequest { .. } => {
                "expected is an object with `messages`, or one with such an object in `request` \
                 or `body`"
            }
            DiffError::Shape { .. } => "compare bodies that the API accepts",
            DiffError::OtherApi { .. } => {
                "what the API caches can be told from the bodies as it gets them only"
            }
            DiffError::Rule(_) => "see docs/scenario-format.md, \"[rules]\"",
        }
    }
}

/// A value together with the bytes it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) node: &'a Node,
}

impl<'a> View<'a> {
    pub(super) fn of(self, node: &'a Node) -> View<'a> {
        View { bytes: self.bytes, node }
    }

    pub(super) fn get(self, key: &str) -> Option<View<'a>> {
        self.node.get(key).map(|node| self.of(node))
    }

    pub(super) fn raw(self) -> &'a [u8] {
        self.node.raw(self.bytes)
    }

    pub(super) fn raw_text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.raw())
    }

    pub(super) fn text(self) -> Option<String> {
        self.node.text(self.bytes)
    }
}

/// A body, parsed and rendered.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) input: Input<'a>,
    root: Node,
    wrapper: Option<&'static str>,
    /// Blocks of the prefix in the provider's order.
    pub(super) blocks: Vec<RenderedBlock>,
    /// Blocks up to its last marker, or all of them where it has none: what could be lost.
    pub(super) written: usize,
    /// Pointers of tools that stand outside the prefix.
    pub(super) outside: Vec<String>,
    /// The model, from the body or from the object around it.
    pub(super) model: Option<String>,
    /// Why the API refuses its markers; `None` where it takes them.
    pub(super) refused: Option<Refusal>,
}

/// The first reason to refuse the body that is about a marker: what it caches is open then.
fn refused_marker(provider: &dyn Provider, request: &RequestBody) -> Option<Refusal> {
    const ENDS: [&str; 2] = ["/cache_control", "/cache_control/ttl"];
    let is_marker = |one: &Refusal| ENDS.iter().any(|end| one.pointer.ends_with(end));
    provider.refusals(request).into_iter().find(is_marker)
}

impl<'a> Body<'a> {
    /// # Errors
    /// Where the text is not JSON or holds no body.
    pub(super) fn open(
        input: Input<'a>,
        provider: &dyn Provider,
        options: RenderOptions,
    ) -> Result<Body<'a>, DiffError> {
        let name = input.label();
        if input.bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(DiffError::Empty { name });
        }
        let not_json = |error: JsonError| DiffError::NotJson {
            name: input.name.to_owned(),
            line: input.line.map_or(error.line, |line| line + error.line - 1),
            column: error.column,
            message: error.message,
        };
        let root = json::parse(input.bytes).map_err(not_json)?;
        let wrapper = wrapper_of(&root, &name)?;
        let mut body = Body {
            input,
            root,
            wrapper,
            blocks: Vec::new(),
            written: 0,
            outside: Vec::new(),
            model: None,
            refused: None,
        };
        body.check_shape()?;
        let view = body.view();
        if let Some((pointer, api)) = shape::other_api(view) {
            return Err(DiffError::OtherApi { name, pointer, api });
        }
        let model = body.model_view().and_then(View::text);
        let request = RequestBody::captured(view.raw().to_vec());
        let rendered = provider.render(&request, options).map_err(not_json)?;
        let (outside, blocks): (Vec<_>, Vec<_>) = rendered.blocks().cloned().partition(|block| {
            block.section == Section::Tools
                && body
                    .node(&block.pointer)
                    .is_some_and(|tool| provider.is_outside_prefix(input.bytes, tool.node))
        });
        body.outside = outside.into_iter().map(|block| block.pointer).collect();
        let last = blocks.iter().rposition(|block| block.marker.is_some());
        body.written = last.map_or(blocks.len(), |last| last + 1);
        body.blocks = blocks;
        body.model = model;
        body.refused = refused_marker(provider, &request);
        Ok(body)
    }

    /// The body itself.
    pub(super) fn view(&self) -> View<'_> {
        let node = self.wrapper.and_then(|key| self.root.get(key)).unwrap_or(&self.root);
        View { bytes: self.input.bytes, node }
    }

    /// The model, in the body or else in the object around it.
    pub(super) fn model_view(&self) -> Option<View<'_>> {
        let row = View { bytes: self.input.bytes, node: &self.root };
        self.view().get("model").or_else(|| row.get("model"))
    }

    /// The value at a pointer of the body.
    pub(super) fn node(&self, pointer: &str) -> Option<View<'_>> {
        let mut view = self.view();
        for step in pointer.split('/').skip(1) {
            let next = match &view.node.value {
                Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                Value::Object(_) => view.node.get(&step.replace("~1", "/").replace("~0", "~"))?,
                Value::String | Value::Scalar => return None,
            };
            view = view.of(next);
        }
        Some(view)
    }

    /// Where a value begins in the file, in bytes from 0.
    pub(super) fn file_byte(&self, view: View<'_>) -> u64 {
        self.input.file_byte + view.node.span.start as u64
    }

    /// The blocks of one section, with the index of the first.
    pub(super) fn section(&self, section: Section) -> (usize, &[RenderedBlock]) {
        let start = self.blocks.partition_point(|block| block.section < section);
        let end = self.blocks.partition_point(|block| block.section <= section);
        (start, &self.blocks[start..end])
    }

    fn check_shape(&self) -> Result<(), DiffError> {
        let body = self.view();
        let fail = |pointer: String, expected: &'static str| {
            Err(DiffError::Shape { name: self.input.label(), pointer, expected })
        };
        let objects = |view: View<'_>, pointer: &str| match &view.node.value {
            Value::Array(items) => items
                .iter()
                .position(|item| !matches!(item.value, Value::Object(_)))
                .map(|at| (format!("{pointer}/{at}"), "an object")),
            Value::Object(_) | Value::String | Value::Scalar => {
                Some((pointer.to_owned(), "an array"))
            }
        };
        for key in ["tools", "messages", "system"] {
            let Some(value) = body.get(key) else { continue };
            let is_shorthand = key == "system" && value.node.is_string();
            let fault = objects(value, &format!("/{key}")).filter(|_| !is_shorthand);
            if let Some((pointer, expected)) = fault {
                return fail(pointer, expected);
            }
        }
        let messages = body.node.get("messages").map_or(&[][..], |node| node.items());
        for (index, message) in messages.iter().enumerate() {
            let pointer = format!("/messages/{index}/content");
            match message.get("content") {
                Some(content) if content.is_string() => {}
                Some(content) => {
                    if let Some((pointer, expected)) = objects(body.of(content), &pointer) {
                        return fail(pointer, expected);
                    }
                }
                None => return fail(pointer, "a string or an array of blocks"),
            }
        }
        Ok(())
    }
}

impl Input<'_> {
    /// The name, with the line where it has one.
    pub(super) fn label(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// The member that holds the body; `None` where the object is the body itself.
fn wrapper_of(root: &Node, name: &str) -> Result<Option<&'static str>, DiffError> {
    let is_body = |node: &Node| node.get("messages").is_some();
    if is_body(root) {
        return Ok(None);
    }
    let holds = |key: &&str| root.get(key).is_some_and(is_body);
    if let Some(key) = WRAPPERS.into_iter().find(holds) {
        return Ok(Some(key));
    }
    let found = match &root.value {
        Value::Object(members) if members.is_empty() => "the object is empty".to_owned(),
        Value::Object(members) => {
            let keys: Vec<String> =
                members.iter().take(KEYS_MAX).map(|member| format!("`{}`", member.key)).collect();
            let more = if members.len() > KEYS_MAX { ", ..." } else { "" };
            format!("no `messages`; its keys are {}{more}", keys.join(", "))
        }
        Value::Array(_) => "it is an array".to_owned(),
        Value::String => "it is a string".to_owned(),
        Value::Scalar => "it is a number, true, false or null".to_owned(),
    };
    Err(DiffError::NotRequest { name: name.to_owned(), found })
}
