//! `forkcost price`: what a usage costs, and the price list.

mod bill;
mod compare;
mod input;
mod json;
mod list;
mod numbers;
mod rates;
mod text;

use jiff::civil::Date;
use serde_json::Value;

use super::error::CliError;
use super::output::Output;
use super::{Cli, Command};
use crate::provider::UsageStyle;
use crate::units::{CacheTtl, PicoUsd, Tokens};
use bill::{Bill, RowRates};
use compare::Compared;
use numbers::Factor;
use rates::{Listed, Rates, Typed};

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
    pub(crate) tier_factor: Option<Factor>,
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

/// What `forkcost price` prints with `--json` for these words behind the verb.
///
/// # Errors
/// Where the command would refuse them.
pub fn to_json(words: &[String]) -> Result<Value, CliError> {
    let verb = ["forkcost", "price"].into_iter();
    let parsed =
        <Cli as clap::Parser>::try_parse_from(verb.chain(words.iter().map(String::as_str)));
    let help = || "`forkcost help price` lists the flags".to_owned();
    match parsed.map_err(|error| input::usage(error.to_string(), help()))?.command {
        Command::Price(args) => Ok(answer(&args)?.to_json()),
        other => Err(input::usage(format!("{other:?} is no usage"), help())),
    }
}

impl Answer {
    fn to_json(&self) -> Value {
        match self {
            Answer::Bill(bill) => json::bill(bill),
            Answer::Comparison(compared) => json::comparison(compared),
            Answer::List(models) => list::to_json(models),
            Answer::History(listed) => list::history_to_json(listed),
        }
    }

    fn to_text(&self, width: usize) -> String {
        match self {
            Answer::Bill(bill) => text::bill(bill, width),
            Answer::Comparison(compared) => text::comparison(compared, width),
            Answer::List(models) => list::text(models, width),
            Answer::History(listed) => list::history(listed, width),
        }
    }
}

fn answer(args: &Args) -> Result<Answer, CliError> {
    check(args)?;
    if args.usage.is_empty() {
        return match &args.model {
            Some(model) => Ok(Answer::History(Listed::find(model, args.date)?)),
            None => Ok(Answer::List(list::all(args.date))),
        };
    }
    let typed = Typed::of(args)?.map(|typed| Rates::Typed(Box::new(typed)));
    let listed = args.model.as_ref().map(|model| Listed::find(model, args.date)).transpose()?;
    let input = input::read(&args.usage, args.style)?;
    if !args.compare.is_empty() {
        let compared = Compared::of(&input, &args.compare, args.date, args.ttl)?;
        return Ok(Answer::Comparison(compared));
    }
    let rates = typed.or(listed.clone().map(Rates::Listed));
    let rates = rates.as_ref().map_or(RowRates::Named(args.date), RowRates::Same);
    let mut bill = Bill::of(&input, &rates, args.ttl)?;
    bill.warnings.extend(listed.and_then(|listed| bill::overridden(&input, &listed)));
    Ok(Answer::Bill(Box::new(bill)))
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
        Some((_, message, help)) => Err(input::usage(message.to_owned(), help.to_owned())),
        None => Ok(()),
    }
}
