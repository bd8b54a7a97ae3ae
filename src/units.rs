//! Numbers with a unit: tokens, pico-dollars, simulated time, cache lifetimes.
//!
//! Everything is an integer, so sums are associative and a run gives the same bytes on any machine.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// A count of tokens under the scenario's tokenizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Tokens {
    /// No tokens.
    pub const ZERO: Tokens = Tokens(0);
}

impl Add for Tokens {
    type Output = Tokens;
    fn add(self, other: Tokens) -> Tokens {
        Tokens(self.0 + other.0)
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        self.0 += other.0;
    }
}

impl Sub for Tokens {
    type Output = Tokens;
    fn sub(self, other: Tokens) -> Tokens {
        Tokens(self.0 - other.0)
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Tokens>>(items: I) -> Tokens {
        items.fold(Tokens::ZERO, Add::add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&grouped(i128::from(self.0)))
    }
}

/// Money in pico-dollars (10⁻¹² USD): one USD per million tokens is exactly 1,000,000 pico-dollars
/// a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PicoUsd(pub i128);

impl PicoUsd {
    /// No money.
    pub const ZERO: PicoUsd = PicoUsd(0);

    /// Plain decimal dollars without rounding, e.g. `0.199375`: at least two and at most twelve
    /// decimals.
    pub fn to_usd_string(self) -> String {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        let whole = magnitude / 1_000_000_000_000;
        let fraction = format!("{:012}", magnitude % 1_000_000_000_000);
        let kept = fraction.trim_end_matches('0').len().max(2);
        format!("{sign}{whole}.{}", &fraction[..kept])
    }
}

impl Add for PicoUsd {
    type Output = PicoUsd;
    fn add(self, other: PicoUsd) -> PicoUsd {
        PicoUsd(self.0 + other.0)
    }
}

impl AddAssign for PicoUsd {
    fn add_assign(&mut self, other: PicoUsd) {
        self.0 += other.0;
    }
}

impl Sub for PicoUsd {
    type Output = PicoUsd;
    fn sub(self, other: PicoUsd) -> PicoUsd {
        PicoUsd(self.0 - other.0)
    }
}

impl Sum for PicoUsd {
    fn sum<I: Iterator<Item = PicoUsd>>(items: I) -> PicoUsd {
        items.fold(PicoUsd::ZERO, Add::add)
    }
}

/// An exact ratio of two integers, for token equivalents and savings; never a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Upper number; its sign is the sign of the ratio.
    pub numerator: i128,
    /// Lower number, greater than zero.
    pub denominator: i128,
}

impl Ratio {
    /// `numerator / denominator`; `None` unless the denominator is positive.
    pub fn new(numerator: i128, denominator: i128) -> Option<Ratio> {
        (denominator > 0).then_some(Ratio { numerator, denominator })
    }

    /// Decimal text with `places` decimals, halves rounded away from zero.
    pub fn to_decimal(self, places: u32) -> String {
        let scale = 10_i128.pow(places);
        let magnitude = self.numerator.unsigned_abs() * scale.unsigned_abs();
        let denominator = self.denominator.unsigned_abs();
        let rounded = (2 * magnitude + denominator) / (2 * denominator);
        let sign = if self.numerator < 0 && rounded > 0 { "-" } else { "" };
        let (whole, fraction) = (rounded / scale.unsigned_abs(), rounded % scale.unsigned_abs());
        if places == 0 {
            return format!("{sign}{whole}");
        }
        format!("{sign}{whole}.{fraction:0width$}", width = places as usize)
    }

    /// The nearest float, for drawing only.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// Simulated time in milliseconds; zero is the moment of the fork, earlier moments are negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(pub i64);

impl SimTime {
    /// The moment `millis` later.
    pub fn plus_ms(self, millis: i64) -> SimTime {
        SimTime(self.0.saturating_add(millis))
    }

    /// Seconds with three decimals, e.g. `-40.000`.
    pub fn to_seconds_string(self) -> String {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        format!("{sign}{}.{:03}", magnitude / 1000, magnitude % 1000)
    }
}

/// How long an entry lives after the start of the request that wrote or last read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CacheTtl {
    /// Five minutes.
    FiveMinutes,
    /// One hour.
    OneHour,
}

impl CacheTtl {
    /// Lifetime in milliseconds.
    pub fn as_millis(self) -> i64 {
        match self {
            CacheTtl::FiveMinutes => 300_000,
            CacheTtl::OneHour => 3_600_000,
        }
    }

    /// The provider's word for it: `5m` or `1h`.
    pub fn label(self) -> &'static str {
        match self {
            CacheTtl::FiveMinutes => "5m",
            CacheTtl::OneHour => "1h",
        }
    }
}

impl fmt::Display for CacheTtl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// An integer with a comma between groups of three digits, e.g. `1,234,567`.
pub fn grouped(value: i128) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value < 0 {
        out.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Decimal text such as `39875.00` with a comma between groups of three digits before the point.
pub fn grouped_decimal(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let negative = whole.starts_with('-');
    let digits: i128 = whole.trim_start_matches('-').parse().unwrap_or(0);
    let mut out = if negative { format!("-{}", grouped(digits)) } else { grouped(digits) };
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_prints_without_rounding() {
        assert_eq!(PicoUsd(199_375_000_000).to_usd_string(), "0.199375");
        assert_eq!(PicoUsd(1_500_000_000_000).to_usd_string(), "1.50");
        assert_eq!(PicoUsd(-37_500).to_usd_string(), "-0.0000000375");
    }

    #[test]
    fn ratios_round_halves_away_from_zero() {
        let text = |n, d, p| Ratio::new(n, d).map(|r| r.to_decimal(p));
        assert_eq!(text(1, 8, 2).as_deref(), Some("0.13"));
        assert_eq!(text(-1, 8, 2).as_deref(), Some("-0.13"));
        assert_eq!(text(-1, 1000, 2).as_deref(), Some("0.00"));
        assert_eq!(text(39_875, 1, 2).as_deref(), Some("39875.00"));
        assert_eq!(text(7, 2, 0).as_deref(), Some("4"));
        assert_eq!(text(1, 0, 2), None);
    }

    #[test]
    fn numbers_are_grouped_by_three() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(-999), "-999");
        assert_eq!(grouped_decimal("243500.00"), "243,500.00");
        assert_eq!(grouped_decimal("-0.25"), "-0.25");
    }
}
