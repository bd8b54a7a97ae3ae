//! Prices, counts and factors as they are typed: exact decimals or a refusal, never a float.

use crate::provider::{UsageStyle, parse_usd_per_mtok};
use crate::units::{CacheTtl, PicoUsd, Tokens};

/// One million, by which both a price and a count are shifted to lose their decimals.
const MILLION: i128 = 1_000_000;

/// Dearest price that is taken, in USD per million tokens: far above any, far below overflow.
const USD_PER_MTOK_MAX: i128 = 1_000_000;

/// Largest factor of a tier.
const FACTOR_MAX: i128 = 1_000;

/// A factor in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor(i128);

impl Factor {
    /// The price times the factor; `None` where that is no whole number of pico-dollars.
    pub fn of(self, price: PicoUsd) -> Option<PicoUsd> {
        exact(price.0 * self.0, MILLION).map(PicoUsd)
    }

    /// The factor as a plain decimal, e.g. `2` or `1.5`.
    pub fn to_text(self) -> String {
        let text = format!("{}.{:06}", self.0 / MILLION, self.0 % MILLION);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// `numerator / denominator` where that is a whole number.
pub(super) fn exact(numerator: i128, denominator: i128) -> Option<i128> {
    (numerator % denominator == 0).then_some(numerator / denominator)
}

/// A price in USD per million tokens, `3.75` or `$3.75`, up to 1,000,000.
///
/// # Errors
/// Says what is expected instead of a price that is no exact decimal.
pub fn parse_price(text: &str) -> Result<PicoUsd, String> {
    let plain = text.strip_prefix('$').unwrap_or(text);
    refuse_negative(plain)?;
    match parse_usd_per_mtok(plain) {
        Some(price) if price.0 <= USD_PER_MTOK_MAX * MILLION => Ok(price),
        Some(_) => Err("more than 1,000,000 USD per million tokens".to_owned()),
        None => {
            Err("USD per million tokens with at most 6 decimals expected, e.g. 3.75".to_owned())
        }
    }
}

/// A count of tokens: `12304`, `12_304`, `1.9k`, `4.8M`.
///
/// # Errors
/// Says what is expected instead of a text that is no whole number of tokens.
pub fn parse_count(text: &str) -> Result<Tokens, String> {
    refuse_negative(text)?;
    let expected = || "a count such as 12304, 1.9k or 4.8M expected".to_owned();
    let (digits, scale) = match (text.strip_suffix('k'), text.strip_suffix('M')) {
        (Some(digits), _) => (digits, 1_000),
        (None, Some(digits)) => (digits, MILLION),
        (None, None) => (text, 1),
    };
    let grouped = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    let digits = if grouped { String::new() } else { digits.replace('_', "") };
    let too_many = || "more tokens than can be counted".to_owned();
    let millionths = match parse_usd_per_mtok(&digits) {
        Some(millionths) => millionths.0,
        None if all_digits(&digits) => return Err(too_many()),
        None => return Err(expected()),
    };
    let scaled = millionths.checked_mul(scale).ok_or_else(too_many)?;
    let count = exact(scaled, MILLION).ok_or("not a whole number of tokens")?;
    u64::try_from(count).map(Tokens).map_err(|_| too_many())
}

/// A factor above zero, e.g. `2` or `1.5`.
///
/// # Errors
/// Says what is expected instead of a text that is no such factor.
pub fn parse_factor(text: &str) -> Result<Factor, String> {
    refuse_negative(text)?;
    let expected = "a factor above 0 and up to 1000 with at most 6 decimals expected, e.g. 2";
    match parse_usd_per_mtok(text) {
        Some(PicoUsd(factor)) if (1..=FACTOR_MAX * MILLION).contains(&factor) => Ok(Factor(factor)),
        Some(_) | None => Err(expected.to_owned()),
    }
}

/// A day of the calendar, `2026-07-24`.
///
/// # Errors
/// Says what is expected instead of a text that is no day.
pub fn parse_day(text: &str) -> Result<jiff::civil::Date, String> {
    // The parser would take a time of day too.
    let plain = text.len() == "2026-07-24".len();
    let day = if plain { text.parse().ok() } else { None };
    day.ok_or_else(|| "a day such as 2026-07-24 expected".to_owned())
}

/// The lifetime of a write, `5m` or `1h`.
///
/// # Errors
/// Says what is expected instead of any other text.
pub fn parse_ttl(text: &str) -> Result<CacheTtl, String> {
    [CacheTtl::FiveMinutes, CacheTtl::OneHour]
        .into_iter()
        .find(|ttl| ttl.label() == text)
        .ok_or_else(|| "5m or 1h expected".to_owned())
}

/// The style of a usage object, by its label.
///
/// # Errors
/// Says what is expected instead of any other text.
pub fn parse_style(text: &str) -> Result<UsageStyle, String> {
    UsageStyle::parse(text).ok_or_else(|| {
        let labels: Vec<&str> = UsageStyle::ALL.iter().map(|style| style.label()).collect();
        format!("one of {} expected", labels.join(", "))
    })
}

fn refuse_negative(text: &str) -> Result<(), String> {
    match text.strip_prefix('-') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            Err("is negative; 0 or more is allowed".to_owned())
        }
        Some(_) | None => Ok(()),
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Decimals of USD per million tokens, e.g. `3.75`.
pub fn usd_per_mtok(price: PicoUsd) -> String {
    PicoUsd(price.0 * MILLION).to_usd_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_are_exact_or_refused() {
        let count = |text| parse_count(text).map(|tokens| tokens.0);
        for (text, tokens) in
            [("0", 0), ("12304", 12_304), ("12_304", 12_304), ("1.9k", 1_900), ("4.8M", 4_800_000)]
        {
            assert_eq!(count(text), Ok(tokens), "{text}");
        }
        assert_eq!(count("0.000001M"), Ok(1));
        assert_eq!(count("-5").unwrap_err(), "is negative; 0 or more is allowed");
        assert_eq!(count("1.5").unwrap_err(), "not a whole number of tokens");
        assert_eq!(count("1.2345k").unwrap_err(), "not a whole number of tokens");
        for text in ["", "k", "NaN", "1e3", "1,000", "0x10", "1.9K", "_1", "1_", "1__0", "٣", "inf"]
        {
            assert!(count(text).unwrap_err().contains("such as 12304"), "{text}");
        }
        for text in ["18446744073709551616", "99999999999999M", &"9".repeat(80)] {
            assert!(count(text).unwrap_err().contains("more tokens"), "{text}");
        }
    }

    #[test]
    fn prices_and_factors_are_exact_or_refused() {
        assert_eq!(parse_price("3.75"), Ok(PicoUsd(3_750_000)));
        assert_eq!(parse_price("$0.000001"), Ok(PicoUsd(1)));
        assert_eq!(parse_price("-3").unwrap_err(), "is negative; 0 or more is allowed");
        for text in ["", "NaN", "inf", "1e3", "3.7500001", "3,75", "1000001"] {
            assert!(parse_price(text).is_err(), "{text}");
        }
        let half_more = parse_factor("1.5").unwrap();
        assert_eq!(half_more.of(PicoUsd(3)), None);
        assert_eq!(half_more.of(PicoUsd(4)), Some(PicoUsd(6)));
        assert_eq!(half_more.to_text(), "1.5");
        assert_eq!(parse_factor("20").unwrap().to_text(), "20");
        for text in ["0", "-2", "NaN", "1000.1", ""] {
            assert!(parse_factor(text).is_err(), "{text}");
        }
    }

    #[test]
    fn days_lifetimes_and_styles_are_words_of_a_list() {
        assert!(parse_day("2026-07-24").is_ok());
        for text in ["2026-02-30", "2026-07-24T10:00", "today", ""] {
            assert!(parse_day(text).is_err(), "{text}");
        }
        assert_eq!(parse_ttl("1h"), Ok(CacheTtl::OneHour));
        assert!(parse_ttl("60m").is_err());
        assert!(parse_style("plain").is_ok());
        assert!(parse_style("azure").unwrap_err().contains("bedrock"));
    }

    proptest! {
        #[test]
        fn a_printed_price_is_read_back(pico in 0..=USD_PER_MTOK_MAX * MILLION) {
            let price = PicoUsd(pico);
            prop_assert_eq!(parse_price(&usd_per_mtok(price)), Ok(price));
        }

        #[test]
        fn a_count_is_read_back_in_every_unit(count in 0..1_000_000_000_000_u64) {
            let written = [
                count.to_string(),
                format!("{}.{:03}k", count / 1_000, count % 1_000),
                format!("{}.{:06}M", count / 1_000_000, count % 1_000_000),
            ];
            for text in written {
                prop_assert_eq!(parse_count(&text), Ok(Tokens(count)), "{}", text);
            }
        }
    }
}
