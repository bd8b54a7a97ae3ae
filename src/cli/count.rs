//! `forkcost count`: the tokens of a text or a request.

use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::civil::Date;

use super::error::CliError;
use super::output::Output;
use super::progress::Progress;
use super::tokenizer;
use crate::counting::{self, Counted, TextCounter};
use crate::provider::{self, Provider, find_model};
use crate::quote::numbers;
use crate::report::counted;
use crate::tokens::{ClaudeFamily, TokenizerSpec, Vocabulary};

/// Longest input that is held whole; a longer one is counted as text, part by part.
const WHOLE_BYTES_MAX: u64 = 64 << 20;

/// Most of a longer text without a place to cut it.
const UNCUT_BYTES_MAX: usize = 256 << 20;

/// Bytes that are read at a time.
const READ_BYTES: usize = 4 << 20;

/// Arguments of `count`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A text, or a request body as JSON (Messages API, Bedrock Converse, or chat completions);
    /// `-` for the standard input.
    #[arg(value_name = "FILE|-", default_value = "-")]
    pub file: PathBuf,
    /// Count as this model does, whatever the body names.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Count by this tokenizer instead of the model's own: claude-v3, claude-v4.7, claude-v4.8,
    /// o200k_base, cl100k_base, or hf:PATH for a HuggingFace tokenizer.json (cargo feature
    /// huggingface), each optionally with a factor such as o200k_base*1.65.
    #[arg(long, value_name = "NAME")]
    pub tokenizer: Option<String>,
    /// Show the total under every tokenizer as well.
    #[arg(long, value_name = "WHICH", value_parser = ["all"])]
    pub families: Option<String>,
    /// Take the input as this, whatever it looks like.
    #[arg(long = "as", value_name = "KIND", value_parser = ["text", "request"])]
    pub kind: Option<String>,
    /// Each line is a JSON string to be counted by itself, or a request body; prints one JSON
    /// object a line.
    #[arg(long, conflicts_with_all = ["kind", "blocks"])]
    pub each_line: bool,
    /// Day of the request, where the provider's hidden prompts depend on it; today's by default.
    #[arg(long, value_name = "DAY", value_parser = numbers::parse_day)]
    pub date: Option<Date>,
    /// Show every block of a request, not only the largest.
    #[arg(long)]
    pub blocks: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  forkcost count prompt.txt --families all
  forkcost count request.json                     by block, section and total
  forkcost count request.json --model claude-opus-5 --json
  jq -c .request rows.jsonl | forkcost count --each-line";

/// Counts and prints.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    let options = Options::of(args)?;
    let (reader, size) = open(&args.file)?;
    let mut input = Input { reader, path: &args.file, size, output };
    if args.each_line {
        return lines(&options, &mut input, output);
    }
    let name = name_of(&args.file);
    let head = input.head()?;
    let (bytes, counted, others) = match head {
        Head::Whole(bytes) => {
            let (counted, others) = whole(&options, &bytes, &args.file)?;
            (bytes.len() as u64, counted, others)
        }
        Head::Long(start)
            if options.kind == Some(Kind::Request)
                || options.kind.is_none() && counting::may_be_request(&start) =>
        {
            let larger = format!(": it is larger than {} MB", WHOLE_BYTES_MAX >> 20);
            return Err(unsure(&args.file, &larger));
        }
        Head::Long(start) => {
            let (bytes, mut all) = long(&options, start, &mut input)?;
            (bytes, all.remove(0), all)
        }
    };
    let text = if args.json {
        counted::count_json(&name, bytes, &counted, &others)
    } else {
        let page = (output.width(), output.styles_stdout());
        counted::count_text(&name, bytes, &counted, &others, args.blocks, page)
    };
    output.result(text.as_bytes())
}

fn name_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// The error that an input looks like a request and is none.
fn unsure(path: &Path, why: &str) -> CliError {
    CliError::Usage {
        message: format!("{} looks like a request but is none that is read{why}", name_of(path)),
        help: "give one body with `messages` as it was sent, or count it as it is with --as text"
            .to_owned(),
    }
}

/// What the input is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Request,
}

/// How to count.
struct Options {
    provider: &'static dyn Provider,
    model: Option<String>,
    tokenizer: Option<TokenizerSpec>,
    families: bool,
    kind: Option<Kind>,
    date: Option<Date>,
}

impl Options {
    fn of(args: &Args) -> Result<Options, CliError> {
        let provider = provider::ALL[0];
        let wrong =
            |message: String, help: &str| CliError::Usage { message, help: help.to_owned() };
        let tokenizer = args.tokenizer.as_deref().map(tokenizer::named).transpose()?;
        if let Some(model) = args.model.as_ref().filter(|m| provider.tokenizer_for(m).is_none()) {
            find_model(provider.facts(), model)
                .map_err(|error| wrong(error.to_string(), "`forkcost price` lists the models"))?;
        }
        Ok(Options {
            provider,
            model: args.model.clone(),
            tokenizer,
            families: args.families.is_some(),
            kind: args.kind.as_deref().map(|kind| match kind {
                "request" => Kind::Request,
                _ => Kind::Text,
            }),
            date: args.date,
        })
    }

    /// The tokenizer for a request to that model, or for a text without one.
    fn tokenizer(&self, model: Option<&str>) -> TokenizerSpec {
        let named = self.model.as_deref().or(model);
        let own = named.and_then(|name| self.provider.tokenizer_for(name));
        // The current family stands in for a model that is not known.
        let current = TokenizerSpec::exact(Vocabulary::Claude(ClaudeFamily::V48));
        self.tokenizer.or(own).unwrap_or(current)
    }

    /// All tokenizers, where they are asked for.
    fn others(&self) -> Vec<TokenizerSpec> {
        let all = Vocabulary::ALL.map(TokenizerSpec::exact).to_vec();
        if self.families { all } else { Vec::new() }
    }

    /// A request that names that model.
    fn request(
        &self,
        bytes: &[u8],
        model: Option<&str>,
        spec: TokenizerSpec,
    ) -> Result<Counted, String> {
        let model = self.model.as_deref().or(model);
        counting::count_request(bytes, self.provider, spec, model, self.date)
            .map_err(|error| error.to_string())
    }
}

/// Counts an input that is held whole, by the main tokenizer and by the others.
fn whole(
    options: &Options,
    bytes: &[u8],
    path: &Path,
) -> Result<(Counted, Vec<Counted>), CliError> {
    let found = match options.kind {
        Some(Kind::Text) => None,
        Some(Kind::Request) => Some(counting::model_in(bytes)),
        None => counting::model_of_request(bytes),
    };
    if options.kind.is_none() && found.is_none() && counting::may_be_request(bytes) {
        return Err(unsure(path, ""));
    }
    let wrong = |message: String| CliError::Usage {
        message: format!("{}: {message}", name_of(path)),
        help: "give a request body with `messages`, or a text in UTF-8 (--as text)".to_owned(),
    };
    if let Some(model) = found.as_ref().map(Option::as_deref) {
        let counted = options.request(bytes, model, options.tokenizer(model)).map_err(wrong)?;
        let others = options.others().into_iter();
        let others = others.map(|spec| options.request(bytes, model, spec));
        return Ok((counted, others.collect::<Result<_, _>>().map_err(wrong)?));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| wrong(format!("not UTF-8 at byte {}", error.valid_up_to())))?;
    let counted = counting::count_text(text, options.tokenizer(None));
    let others = options.others().into_iter().map(|spec| counting::count_text(text, spec));
    Ok((counted, others.collect()))
}

/// Counts a text part by part: by the main tokenizer first, then by the others.
fn long(
    options: &Options,
    start: Vec<u8>,
    input: &mut Input<'_>,
) -> Result<(u64, Vec<Counted>), CliError> {
    let mut specs = vec![options.tokenizer(None)];
    if specs[0].is_file() {
        return Err(CliError::Usage {
            message: format!(
                "{} is larger than {} MB and would be counted in parts, whose counts under {} need \
                 not add up",
                name_of(input.path),
                WHOLE_BYTES_MAX >> 20,
                specs[0]
            ),
            help: "break it into files, or count by a built-in vocabulary".to_owned(),
        });
    }
    specs.extend(options.others());
    let mut counters: Vec<TextCounter> = specs.into_iter().map(TextCounter::new).collect();
    let mut progress = Progress::new(input.output, input.size.unwrap_or(0) >> 20);
    let (mut held, mut bytes, mut is_last) = (start, 0, false);
    while !is_last {
        is_last = input.more(&mut held)?;
        let end = if is_last { held.len() } else { counting::last_sure_cut(&held) };
        let text = std::str::from_utf8(&held[..end])
            .map_err(|error| input.not_text(bytes + error.valid_up_to() as u64))?;
        counters.iter_mut().for_each(|counter| counter.add(text));
        bytes += end as u64;
        held.drain(..end);
        progress.say("MB");
        progress.to(bytes >> 20);
        if held.len() > UNCUT_BYTES_MAX {
            return Err(CliError::Usage {
                message: format!(
                    "{} has more than {} MB without a line that begins with a letter or digit, \
                     from byte {bytes} on",
                    name_of(input.path),
                    UNCUT_BYTES_MAX >> 20
                ),
                help: "such a text is counted in one piece; break it into lines or files"
                    .to_owned(),
            });
        }
    }
    progress.finish();
    Ok((bytes, counters.into_iter().map(TextCounter::finish).collect()))
}

/// Counts line after line.
fn lines(options: &Options, input: &mut Input<'_>, output: Output) -> Result<(), CliError> {
    let (mut held, mut number, mut is_last) = (Vec::new(), 0_u64, false);
    while !is_last {
        is_last = input.more(&mut held)?;
        if held.len() as u64 > WHOLE_BYTES_MAX && !held.contains(&b'\n') {
            return Err(CliError::Usage {
                message: format!(
                    "{}:{}: a line of more than {} MB",
                    name_of(input.path),
                    number + 1,
                    WHOLE_BYTES_MAX >> 20
                ),
                help: "give one JSON string or one request body a line".to_owned(),
            });
        }
        let mut end = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if is_last {
            end = held.len();
        }
        let rest = held.split_off(end);
        for line in held.split_inclusive(|byte| *byte == b'\n') {
            number += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                output.result(counted_line(options, line, number, input.path)?.as_bytes())?;
            }
        }
        held = rest;
    }
    Ok(())
}

fn counted_line(
    options: &Options,
    line: &[u8],
    number: u64,
    path: &Path,
) -> Result<String, CliError> {
    let wrong = |message: String| CliError::Usage {
        message: format!("{}:{number}: {message}", name_of(path)),
        help: "each line is one JSON string or one request body".to_owned(),
    };
    let node = crate::request::json::parse(line).map_err(|error| wrong(error.message))?;
    let mut specs = options.others();
    let counted: Result<Vec<Counted>, String> = match node.text(line) {
        Some(text) => {
            if specs.is_empty() {
                specs.push(options.tokenizer(None));
            }
            Ok(specs.into_iter().map(|spec| counting::count_text(&text, spec)).collect())
        }
        None => {
            let model = counting::model_in(line);
            let model = model.as_deref();
            if specs.is_empty() {
                specs.push(options.tokenizer(model));
            }
            specs.into_iter().map(|spec| options.request(line, model, spec)).collect()
        }
    };
    Ok(counted::line_json(number, &counted.map_err(wrong)?))
}

/// The beginning of an input.
enum Head {
    /// All of it.
    Whole(Vec<u8>),
    /// More follows.
    Long(Vec<u8>),
}

/// An input being read.
struct Input<'a> {
    reader: Box<dyn Read>,
    path: &'a Path,
    size: Option<u64>,
    output: Output,
}

fn open(path: &Path) -> Result<(Box<dyn Read>, Option<u64>), CliError> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(std::io::stdin().lock()), None));
    }
    let failed = |source| CliError::Io { action: "read", path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    Ok((Box::new(file), Some(size)))
}

impl Input<'_> {
    fn head(&mut self) -> Result<Head, CliError> {
        let mut bytes = Vec::new();
        let mut limited = (&mut self.reader).take(WHOLE_BYTES_MAX + 1);
        limited.read_to_end(&mut bytes).map_err(|source| failed(self.path, source))?;
        let is_whole = bytes.len() as u64 <= WHOLE_BYTES_MAX;
        Ok(if is_whole { Head::Whole(bytes) } else { Head::Long(bytes) })
    }

    /// Reads on; true at the end.
    fn more(&mut self, held: &mut Vec<u8>) -> Result<bool, CliError> {
        let before = held.len();
        let mut limited = (&mut self.reader).take(READ_BYTES as u64);
        limited.read_to_end(held).map_err(|source| failed(self.path, source))?;
        Ok(held.len() == before)
    }

    fn not_text(&self, byte: u64) -> CliError {
        CliError::Usage {
            message: format!("{}: not UTF-8 at byte {byte}", name_of(self.path)),
            help: "give a text in UTF-8".to_owned(),
        }
    }
}

fn failed(path: &Path, source: std::io::Error) -> CliError {
    CliError::Io { action: "read", path: path.to_owned(), source }
}
