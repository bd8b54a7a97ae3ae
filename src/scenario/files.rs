//! Files that a scenario refers to: where they are, which line of them, and what they hold.

use std::io;
use std::path::{Path, PathBuf};

use super::diagnostic::{Mistakes, code};
use super::walk::Field;
use crate::provider::import::ImportError;
use crate::request::CapturedBody;
use crate::request::json::{self, JsonError};

/// The one variable that paths may use.
pub(super) const DATA_FOLDER: &str = "FORKCOST_DATA";

/// What a scenario is read against.
pub(super) struct Context<'c> {
    /// Relative paths start here.
    pub(super) base_dir: &'c Path,
    /// Value of [`DATA_FOLDER`].
    pub(super) data_folder: Option<PathBuf>,
}

/// A file, or one line of it.
pub(super) struct Content {
    /// As written in the scenario.
    path: String,
    text: String,
    /// Line of the file on which `text` starts, from 1.
    first_line: usize,
    is_json: bool,
}

/// A part of a JSON file.
pub(super) struct JsonPart {
    pub(super) text: String,
    path: String,
    line: usize,
    column: usize,
}

struct Failure {
    code: &'static str,
    message: String,
    help: &'static str,
}

impl Failure {
    fn new(code: &'static str, message: String, help: &'static str) -> Failure {
        Failure { code, message, help }
    }
}

impl Field<'_> {
    /// Reads the file that this field names, or the line of it.
    pub(super) fn content(&self, ctx: &Context<'_>, mistakes: &mut Mistakes) -> Option<Content> {
        let path = self.text(mistakes)?;
        self.settle(read(path, ctx), mistakes)
    }

    /// Reads the file at a path that is part of this field's text.
    pub(super) fn bytes_at(
        &self,
        path: &str,
        ctx: &Context<'_>,
        mistakes: &mut Mistakes,
    ) -> Option<Vec<u8>> {
        let read = expand(path, ctx).and_then(|place| read_bytes(path, &place));
        self.settle(read, mistakes)
    }

    /// Reads the file that this field names as one captured request body.
    pub(super) fn captured(
        &self,
        ctx: &Context<'_>,
        mistakes: &mut Mistakes,
    ) -> Option<CapturedBody> {
        let content = self.content(ctx, mistakes)?;
        self.settle(content.captured(), mistakes)
    }

    /// Reads the JSON file that this field names: its member `member`, or all of it where it is
    /// not an object.
    pub(super) fn json_part(
        &self,
        member: &str,
        ctx: &Context<'_>,
        mistakes: &mut Mistakes,
    ) -> Option<JsonPart> {
        let content = self.content(ctx, mistakes)?;
        self.part_of(&content, member, mistakes)
    }

    /// The same for a file that is read already.
    pub(super) fn part_of(
        &self,
        content: &Content,
        member: &str,
        mistakes: &mut Mistakes,
    ) -> Option<JsonPart> {
        self.settle(content.part(member), mistakes)
    }

    /// What an import gave of `part`; its error is reported at its place in the file.
    pub(super) fn imported<T>(
        &self,
        part: &JsonPart,
        result: Result<T, ImportError>,
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        self.settle(result.map_err(|error| part.failure(&error)), mistakes)
    }

    fn settle<T>(&self, result: Result<T, Failure>, mistakes: &mut Mistakes) -> Option<T> {
        result
            .map_err(|failure| {
                let message = format!("{}: {}", self.key, failure.message);
                self.report(failure.code, message, failure.help, mistakes);
            })
            .ok()
    }
}

fn read(written: &str, ctx: &Context<'_>) -> Result<Content, Failure> {
    let (path, line) = split_line(written)?;
    let place = expand(path, ctx)?;
    let bytes = read_bytes(path, &place)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("{path} is not UTF-8 text (byte {at})");
        Failure::new(code::FILE_NOT_UTF8, message, "save the file as UTF-8")
    })?;
    let extension = place.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_lines = extension.eq_ignore_ascii_case("jsonl");
    let is_json = is_lines || extension.eq_ignore_ascii_case("json") || line.is_some();
    let (text, first_line) = select(path, text, line)?;
    Ok(Content { path: path.to_owned(), text, first_line, is_json })
}

/// `path#N` is line N of a file; any other `#` is part of the path.
fn split_line(written: &str) -> Result<(&str, Option<usize>), Failure> {
    let Some((path, digits)) = written.rsplit_once('#') else { return Ok((written, None)) };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok((written, None));
    }
    match digits.parse::<usize>() {
        Ok(line) if line > 0 => Ok((path, Some(line))),
        Ok(_) | Err(_) => {
            let message = format!("{written} selects line {digits}, but lines count from 1");
            Err(Failure::new(code::LINE_SELECTION, message, "write #1 for the first line"))
        }
    }
}

fn expand(path: &str, ctx: &Context<'_>) -> Result<PathBuf, Failure> {
    let unknown = |name: &str| {
        let message = format!("{path} uses {name}, but only ${{{DATA_FOLDER}}} is expanded");
        let help = "write the path out, or start it with ${FORKCOST_DATA}/";
        Failure::new(code::PATH_VARIABLE, message, help)
    };
    let Some(at) = path.find("${") else { return Ok(ctx.base_dir.join(path)) };
    let Some(end) = path[at..].find('}') else { return Err(unknown(&path[at..])) };
    let (name, rest) = (&path[at + 2..at + end], &path[at + end + 1..]);
    let rest = rest.strip_prefix('/').filter(|rest| !rest.contains("${"));
    let (0, DATA_FOLDER, Some(rest)) = (at, name, rest) else {
        return Err(unknown(&path[at..=at + end]));
    };
    let folder = ctx.data_folder.as_ref().ok_or_else(|| {
        let message = format!("{path} uses {DATA_FOLDER}, which is not set");
        Failure::new(code::DATA_FOLDER_UNSET, message, "set FORKCOST_DATA to the data folder")
    })?;
    Ok(folder.join(rest))
}

fn read_bytes(path: &str, place: &Path) -> Result<Vec<u8>, Failure> {
    if place.is_dir() {
        let message = format!("{path} is a folder, not a file");
        return Err(Failure::new(code::FILE_IS_FOLDER, message, "name a file inside it"));
    }
    std::fs::read(place).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::new(
            code::FILE_MISSING,
            format!("{path} does not exist"),
            "paths start at the scenario file's folder; `path#N` selects line N",
        ),
        _ => Failure::new(
            code::FILE_UNREADABLE,
            format!("{path} cannot be read: {error}"),
            "check the file's permissions",
        ),
    })
}

/// The selected line, or the whole text, and the line on which it starts.
fn select(path: &str, text: String, line: Option<usize>) -> Result<(String, usize), Failure> {
    let Some(line) = line else { return Ok((text, 1)) };
    let message = match text.lines().nth(line - 1) {
        Some(found) if !found.trim().is_empty() => return Ok((found.to_owned(), line)),
        Some(_) => format!("line {line} of {path} is empty"),
        None => {
            format!("{path} has no line {line}, its last line is {}", text.lines().count())
        }
    };
    Err(Failure::new(code::LINE_SELECTION, message, "write #N for line N"))
}

impl Content {
    /// True for `.json`, `.jsonl` and selected lines.
    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    /// The text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// All of it as one part, e.g. a transcript.
    pub(super) fn whole(self) -> JsonPart {
        JsonPart { text: self.text, path: self.path, line: self.first_line, column: 1 }
    }

    fn tree(&self) -> Result<json::Node, Failure> {
        let full = self.text.lines().filter(|line| !line.trim().is_empty()).count();
        let is_lines = self.path.to_ascii_lowercase().ends_with(".jsonl");
        if is_lines && full > 1 {
            let message = format!("{} holds {full} lines, and one is wanted", self.path);
            let help = "add #N to the path to select line N, from 1";
            return Err(Failure::new(code::LINE_SELECTION, message, help));
        }
        json::parse(self.text.as_bytes()).map_err(|error| {
            let JsonError { line, column, message, .. } = error;
            let line = line + self.first_line - 1;
            let message = format!("{}:{line}:{column}: not JSON: {message}", self.path);
            Failure::new(code::FILE_SYNTAX, message, "the file must hold one JSON value")
        })
    }

    /// The request: the value itself, or the member `request` of a recording around it.
    fn request<'t>(&self, root: &'t json::Node) -> &'t json::Node {
        let inner = root.get("request").filter(|request| !request.members().is_empty());
        if root.get("messages").is_some() { root } else { inner.unwrap_or(root) }
    }

    fn captured(&self) -> Result<CapturedBody, Failure> {
        let root = self.tree()?;
        let request = self.request(&root);
        let messages = request.get("messages").map_or(0, |messages| messages.items().len());
        if messages == 0 {
            let message = format!("{} holds no request with messages", self.path);
            let help = "a body is an object with `messages`, alone or as member `request`";
            return Err(Failure::new(code::FILE_CONTENT, message, help));
        }
        let bytes = request.raw(self.text.as_bytes()).to_vec();
        CapturedBody::parse(bytes).map_err(|error| {
            let message = format!("{}: {error}", self.path);
            Failure::new(code::FILE_SYNTAX, message, "the file must hold one JSON value")
        })
    }

    fn part(&self, member: &str) -> Result<JsonPart, Failure> {
        let root = self.tree()?;
        let mut node = &root;
        if matches!(root.value, json::Value::Object(_)) {
            node =
                self.request(&root).get(member).or_else(|| root.get(member)).ok_or_else(|| {
                    let message = format!("{} is an object without `{member}`", self.path);
                    let help = "the file holds the value itself, or a request that has it";
                    Failure::new(code::FILE_CONTENT, message, help)
                })?;
        }
        let start = JsonError::at(self.text.as_bytes(), node.span.start, "");
        let line = start.line + self.first_line - 1;
        let text = self.text.get(node.span.clone()).unwrap_or_default().to_owned();
        Ok(JsonPart { text, path: self.path.clone(), line, column: start.column })
    }
}

impl JsonPart {
    /// An import's error at its place in the file.
    fn failure(&self, error: &ImportError) -> Failure {
        let line = self.line + error.line.saturating_sub(1);
        let shift = if error.line <= 1 { self.column.saturating_sub(1) } else { 0 };
        let column = error.column + shift;
        let message = format!("{}:{line}:{column}: {}", self.path, error.message);
        Failure::new(code::FILE_CONTENT, message, "see docs/scenario-format.md, \"Files\"")
    }
}
