//! Dated prices and the exact cost of a request, in pico-dollars.

use jiff::civil::Date;

use crate::units::{PicoUsd, Tokens};
use crate::usage::Usage;

/// Prices of one token by class, in pico-dollars (one USD per million tokens is 1,000,000).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Input neither read nor written; the unit of token equivalents.
    pub input: PicoUsd,
    /// Input written for five minutes.
    pub write_5m: PicoUsd,
    /// Input written for one hour.
    pub write_1h: PicoUsd,
    /// Input read from the cache.
    pub read: PicoUsd,
    /// Output.
    pub output: PicoUsd,
}

/// How sure a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// The provider's own text states it.
    Documented,
    /// A published price table that cites the provider states it.
    PricePackage,
    /// Someone quotes the provider.
    Secondary,
    /// Nobody states it; it follows from other facts.
    Inferred,
}

/// One price with the time and the prompt length for which it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceEntry {
    /// First day on which it holds.
    pub from: Date,
    /// First day on which it no longer holds; `None` while it holds.
    pub to: Option<Date>,
    /// It holds for prompts of more tokens than this; 0 for all.
    pub above_tokens: Tokens,
    /// The price.
    pub price: Price,
    /// Where it was read.
    pub source: String,
    /// When it was read.
    pub checked: Date,
    /// How sure it is.
    pub mark: Confidence,
}

/// All prices of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceTable {
    /// Entries in no particular order; for a date and a length at most the one with the highest
    /// threshold counts.
    pub entries: Vec<PriceEntry>,
}

impl PriceTable {
    /// The price of a request with `input` tokens in all on `date`: the whole request has one
    /// price, also where it passes a threshold.
    pub fn at(&self, date: Date, input: Tokens) -> Option<&PriceEntry> {
        self.entries
            .iter()
            .filter(|entry| {
                entry.holds_on(date)
                    && (entry.above_tokens == Tokens::ZERO || input > entry.above_tokens)
            })
            .max_by_key(|entry| entry.above_tokens)
    }

    /// The entry of [`PriceTable::at`] beside the price of one token equivalent; `None` where the
    /// day has not both.
    pub fn with_base(&self, date: Date, input: Tokens) -> Option<(&PriceEntry, PicoUsd)> {
        self.at(date, input).zip(self.base(date))
    }

    /// The price of one token equivalent on `date`: uncached input of the shortest prompts.
    pub fn base(&self, date: Date) -> Option<PicoUsd> {
        self.at(date, Tokens::ZERO).map(|entry| entry.price.input)
    }
}

impl PriceEntry {
    /// Whether it holds on `date`, for prompts of its length.
    pub fn holds_on(&self, date: Date) -> bool {
        self.from <= date && self.to.is_none_or(|to| date < to)
    }
}

/// What one request costs, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cache reads.
    pub read: PicoUsd,
    /// Five-minute writes.
    pub write_5m: PicoUsd,
    /// One-hour writes.
    pub write_1h: PicoUsd,
    /// Uncached input.
    pub uncached: PicoUsd,
    /// Output.
    pub output: PicoUsd,
}

impl Cost {
    /// Cost of the input alone.
    pub fn input(&self) -> PicoUsd {
        self.read + self.write_5m + self.write_1h + self.uncached
    }

    /// Cost of input and output.
    pub fn total(&self) -> PicoUsd {
        self.input() + self.output
    }
}

/// Prices a usage: each class at its own price, nothing rounded.
pub fn cost(usage: &Usage, price: &Price) -> Cost {
    let times = |tokens: Tokens, each: PicoUsd| PicoUsd(i128::from(tokens.0) * each.0);
    Cost {
        read: times(usage.read, price.read),
        write_5m: times(usage.write_5m, price.write_5m),
        write_1h: times(usage.write_1h, price.write_1h),
        uncached: times(usage.uncached, price.input),
        output: times(usage.output, price.output),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    /// A price whose classes are told apart by their digits.
    fn price(input: i128) -> Price {
        Price {
            input: PicoUsd(input),
            write_5m: PicoUsd(input * 5 / 4),
            write_1h: PicoUsd(input * 2),
            read: PicoUsd(input / 10),
            output: PicoUsd(input * 5),
        }
    }

    fn entry(from: Date, to: Option<Date>, above_tokens: u64, input: i128) -> PriceEntry {
        PriceEntry {
            from,
            to,
            above_tokens: Tokens(above_tokens),
            price: price(input),
            source: "test".to_owned(),
            checked: date(2026, 12, 1),
            mark: Confidence::Inferred,
        }
    }

    fn table() -> PriceTable {
        let cut = date(2026, 10, 7);
        PriceTable {
            entries: vec![
                entry(cut, None, 100_000, 500_000),
                entry(date(2026, 6, 1), Some(cut), 0, 200_000),
                entry(cut, None, 0, 100_000),
            ],
        }
    }

    fn input_at(day: Date, tokens: u64) -> Option<i128> {
        table().at(day, Tokens(tokens)).map(|entry| entry.price.input.0)
    }

    #[test]
    fn a_price_holds_from_its_first_day_to_the_day_before_its_end() {
        assert_eq!(input_at(date(2026, 5, 31), 1), None);
        assert_eq!(input_at(date(2026, 6, 1), 1), Some(200_000));
        assert_eq!(input_at(date(2026, 10, 6), 1), Some(200_000));
        assert_eq!(input_at(date(2026, 10, 7), 1), Some(100_000));
    }

    #[test]
    fn a_threshold_belongs_to_the_lower_price() {
        let day = date(2026, 12, 1);
        assert_eq!(input_at(day, 0), Some(100_000));
        assert_eq!(input_at(day, 100_000), Some(100_000));
        assert_eq!(input_at(day, 100_001), Some(500_000));
        assert_eq!(table().base(day), Some(PicoUsd(100_000)));
        assert_eq!(table().base(date(2026, 1, 1)), None);
    }

    #[test]
    fn each_class_has_its_own_price() {
        let usage = Usage {
            read: Tokens(1),
            write_5m: Tokens(10),
            write_1h: Tokens(100),
            uncached: Tokens(1_000),
            output: Tokens(10_000),
        };
        let cost = cost(&usage, &price(4_000_000));
        assert_eq!(cost.read, PicoUsd(400_000));
        assert_eq!(cost.write_5m, PicoUsd(50_000_000));
        assert_eq!(cost.write_1h, PicoUsd(800_000_000));
        assert_eq!(cost.uncached, PicoUsd(4_000_000_000));
        assert_eq!(cost.output, PicoUsd(200_000_000_000));
        assert_eq!(cost.input(), PicoUsd(4_850_400_000));
        assert_eq!(cost.total(), PicoUsd(204_850_400_000));
    }

    fn usages() -> impl Strategy<Value = Usage> {
        let tokens = || (0_u64..2_000_000).prop_map(Tokens);
        (tokens(), tokens(), tokens(), tokens(), tokens()).prop_map(
            |(read, write_5m, write_1h, uncached, output)| Usage {
                read,
                write_5m,
                write_1h,
                uncached,
                output,
            },
        )
    }

    proptest! {
        #[test]
        fn the_cost_of_a_sum_is_the_sum_of_the_costs(one in usages(), two in usages()) {
            let price = price(5_000_000);
            let apart = cost(&one, &price).total() + cost(&two, &price).total();
            prop_assert_eq!(cost(&(one + two), &price).total(), apart);
        }

        #[test]
        fn no_input_costs_less_than_reading_it_or_more_than_writing_it(usage in usages()) {
            let price = price(5_000_000);
            let all = i128::from(usage.input().0);
            let input = cost(&usage, &price).input().0;
            prop_assert!(all * price.read.0 <= input);
            prop_assert!(input <= all * price.write_1h.0);
        }
    }
}
