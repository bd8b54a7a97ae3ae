//! `forkcost price`: what a usage costs, and the price list.

use std::io::Read;
use std::path::Path;

use jiff::civil::Date;

use super::error::CliError;
use super::output::Output;
use crate::provider::UsageStyle;
use crate::quote::numbers;
use crate::quote::{
    self, Bill, Compared, Factor, GivenPrices, Input, Listed, Rates, RowRates, Typed,
};
use crate::report::priced;
use crate::units::{CacheTtl, PicoUsd, Tokens};

/// Arguments of `price`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What was billed: a provider's usage object as JSON, a file of it or of one JSON object a
    /// line, `-` for the standard input, or words such as input=3 write_5m=12304 output=550 (keys:
    /// input or uncached, read, write_5m, write_1h, write, output; k and M for thousands and
    /// millions). Without it the price list is shown.
    #[arg(value_name = "USAGE")]
    pub usage: Vec<String>,
    /// Price as this model, whatever the rows name; alone it shows the model's price history.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Price for several models side by side; repeat it.
    #[arg(long, value_name = "MODEL")]
    pub compare: Vec<String>,
    /// Prices of this day; by default of the day on which they were last checked.
    #[arg(long, value_name = "DAY", value_parser = numbers::parse_day)]
    pub date: Option<Date>,
    /// USD per million tokens of uncached input, in place of a model. Writes and reads follow it
    /// (1.25, 2 and 0.1 times) where they have no price of their own.
    #[arg(long, value_name = "USD", value_parser = numbers::parse_price)]
    #[arg(allow_negative_numbers = true)]
    pub input_price: Option<PicoUsd>,
    /// USD per million tokens of output.
    #[arg(long, value_name = "USD", value_parser = numbers::parse_price)]
    #[arg(allow_negative_numbers = true)]
    pub output_price: Option<PicoUsd>,
    /// USD per million tokens written for five minutes.
    #[arg(long, value_name = "USD", value_parser = numbers::parse_price)]
    #[arg(allow_negative_numbers = true)]
    pub write_5m_price: Option<PicoUsd>,
    /// USD per million tokens written for one hour.
    #[arg(long, value_name = "USD", value_parser = numbers::parse_price)]
    #[arg(allow_negative_numbers = true)]
    pub write_1h_price: Option<PicoUsd>,
    /// USD per million tokens read from the cache.
    #[arg(long, value_name = "USD", value_parser = numbers::parse_price)]
    #[arg(allow_negative_numbers = true)]
    pub read_price: Option<PicoUsd>,
    /// Prompts of more tokens than this cost --tier-factor times the price, all of the request.
    #[arg(long, value_name = "TOKENS", value_parser = numbers::parse_count)]
    #[arg(allow_negative_numbers = true)]
    pub tier_above: Option<Tokens>,
    /// How many times dearer a request past --tier-above is.
    #[arg(long, value_name = "N", value_parser = numbers::parse_factor)]
    #[arg(allow_negative_numbers = true)]
    pub tier_factor: Option<Factor>,
    /// Lifetime of writes for which the usage states none: 5m (the default) or 1h.
    #[arg(long, value_name = "TTL", value_parser = numbers::parse_ttl)]
    pub ttl: Option<CacheTtl>,
    /// Style of usage objects, told by their field names by default: anthropic or bedrock (input
    /// without the cache), openai (input with the cache), plain (the words above).
    #[arg(long, value_name = "STYLE", value_parser = numbers::parse_style)]
    pub style: Option<UsageStyle>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  forkcost price                                  all models
  forkcost price --model claude-opus-5            one model's prices by day
  forkcost price --model claude-opus-5 input=3 read=46k write_5m=2.7k
  forkcost price --model claude-opus-5 '{\"input_tokens\": 3}'
  forkcost price --input-price 3 --output-price 15 input=3 output=550
  forkcost price rows.jsonl                       `model` and `usage` a line";

/// What a command line asks for.
#[derive(Debug)]
enum Answer {
    Bill(Box<Bill>),
    Comparison(Compared),
    List(Vec<Listed>),
    History(Listed),
}

/// Prices, compares or lists.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    let answer = answer(args)?;
    if args.json {
        return output.result(format!("{:#}\n", answer.to_json()).as_bytes());
    }
    output.result(answer.to_text(output.width()).as_bytes())
}

impl Answer {
    fn to_json(&self) -> serde_json::Value {
        match self {
            Answer::Bill(bill) => priced::bill_json(bill),
            Answer::Comparison(compared) => priced::comparison_json(compared),
            Answer::List(models) => priced::list_json(models),
            Answer::History(listed) => priced::history_json(listed),
        }
    }

    fn to_text(&self, width: usize) -> String {
        match self {
            Answer::Bill(bill) => priced::bill_text(bill, width),
            Answer::Comparison(compared) => priced::comparison_text(compared, width),
            Answer::List(models) => priced::list_text(models, width),
            Answer::History(listed) => priced::history_text(listed, width),
        }
    }
}

fn answer(args: &Args) -> Result<Answer, CliError> {
    check(args)?;
    if args.usage.is_empty() {
        return match &args.model {
            Some(model) => Ok(Answer::History(Listed::find(model, args.date)?)),
            None => Ok(Answer::List(quote::all(args.date))),
        };
    }
    let rates = rates(args)?;
    let input = read(&args.usage, args.style)?;
    if !args.compare.is_empty() {
        let compared = Compared::of(&input, &args.compare, args.date, args.ttl)?;
        return Ok(Answer::Comparison(compared));
    }
    let rates = rates.as_ref().map_or(RowRates::Named(args.date), RowRates::Same);
    Ok(Answer::Bill(Box::new(Bill::of(&input, &rates, args.ttl)?)))
}

/// The one price of all rows; `None` where each names its own model.
fn rates(args: &Args) -> Result<Option<Rates>, CliError> {
    if let Some(input) = args.input_price {
        let given = GivenPrices {
            input,
            output: args.output_price,
            write_5m: args.write_5m_price,
            write_1h: args.write_1h_price,
            read: args.read_price,
            tier: args.tier_above.zip(args.tier_factor),
        };
        return Ok(Some(Rates::Typed(Box::new(Typed::of(&given)?))));
    }
    let listed = args.model.as_ref().map(|model| Listed::find(model, args.date)).transpose()?;
    Ok(listed.map(Rates::Listed))
}

/// Reads the words behind the verb: words of a usage, JSON, or what holds it.
fn read(words: &[String], style: Option<UsageStyle>) -> Result<Input, CliError> {
    let all_words = words.iter().all(|word| quote::is_word(word));
    if all_words && !(words.len() == 1 && Path::new(&words[0]).is_file()) {
        return Ok(quote::read_words(words, style)?);
    }
    let [word] = words else {
        let odd = words.iter().find(|word| !quote::is_word(word)).map_or("", String::as_str);
        let help = match quote::is_json(odd) {
            true => "put the JSON into quotes, so that the shell passes it as one word",
            false => quote::USAGE_HELP,
        };
        return Err(usage(
            format!("`{odd}` is no key=value word, and several words are given"),
            help,
        ));
    };
    if quote::is_json(word.trim_start()) {
        return Ok(quote::read_text("", word, style)?);
    }
    let name = if word == "-" { "stdin" } else { word.as_str() };
    let text = String::from_utf8(bytes_of(word)?)
        .map_err(|_| usage(format!("{name} is not UTF-8 text"), quote::USAGE_HELP))?;
    Ok(quote::read_text(name, &text, style)?)
}

fn bytes_of(word: &str) -> Result<Vec<u8>, CliError> {
    let failed = |source| CliError::Io { action: "read", path: word.into(), source };
    if word != "-" {
        return match std::fs::read(word) {
            // A name with a dot or a slash is meant as a file.
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound && !word.contains(['.', '/']) =>
            {
                let message = format!("`{word}` is neither a file nor a usage");
                Err(usage(message, quote::USAGE_HELP))
            }
            read => read.map_err(failed),
        };
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn usage(message: String, help: &str) -> CliError {
    CliError::Usage { message, help: help.to_owned() }
}

/// Refuses flags that exclude each other or have no effect.
fn check(args: &Args) -> Result<(), CliError> {
    let typed = args.input_price.is_some();
    let other_prices =
        [args.output_price, args.write_5m_price, args.write_1h_price, args.read_price];
    let other_price = other_prices.iter().any(Option::is_some);
    let tier = args.tier_above.is_some() || args.tier_factor.is_some();
    let whole_tier = args.tier_above.is_some() == args.tier_factor.is_some();
    let compares = !args.compare.is_empty();
    let faults = [
        (
            args.model.is_some() && typed,
            "--model and --input-price are both given",
            "a model brings its prices; leave one of them out",
        ),
        (
            compares && (args.model.is_some() || typed),
            "--compare names the models, and --model or --input-price is given too",
            "leave out what is beside --compare",
        ),
        (
            !typed && other_price,
            "a price is given without --input-price",
            "give --input-price, the price that the others are measured by",
        ),
        (
            !typed && tier,
            "--tier-above and --tier-factor are for prices that are given by hand",
            "give --input-price; the models of the price list have their tiers in it",
        ),
        (
            !whole_tier,
            "--tier-above and --tier-factor belong together",
            "give both, e.g. --tier-above 200k --tier-factor 2",
        ),
        (
            typed && args.date.is_some(),
            "--date has no effect on prices that are given by hand",
            "leave it out, or name a model",
        ),
        (
            args.usage.is_empty()
                && (typed || compares || args.ttl.is_some() || args.style.is_some()),
            "there is no usage to be priced",
            "name one, e.g. input=3 write_5m=12304 output=550, or a file",
        ),
    ];
    match faults.into_iter().find(|(wrong, _, _)| *wrong) {
        Some((_, message, help)) => Err(usage(message.to_owned(), help)),
        None => Ok(()),
    }
}
