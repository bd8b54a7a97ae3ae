//! One usage at the prices of several models.

use jiff::civil::Date;

use super::bill::{Bill, RowRates};
use super::error::QuoteError;
use super::input::Input;
use super::rates::{Listed, Rates};
use crate::units::{CacheTtl, Ratio};

/// The same input for each model.
#[derive(Debug)]
pub struct Compared {
    /// At least two, in the order in which they were named.
    pub bills: Vec<(Listed, Bill)>,
}

impl Compared {
    /// Prices `input` for each of `models` on `date`, with writes of unstated lifetime as `ttl`.
    ///
    /// # Errors
    /// Where there are fewer than two models, one is unknown, or the usage has no price.
    pub fn of(
        input: &Input,
        models: &[String],
        date: Option<Date>,
        ttl: Option<CacheTtl>,
    ) -> Result<Compared, QuoteError> {
        if models.len() < 2 {
            return Err(QuoteError::Comparison {
                message: "--compare names one model, and a comparison needs two".to_owned(),
                help: "repeat it: --compare claude-opus-5 --compare claude-sonnet-5".to_owned(),
            });
        }
        let mut bills = Vec::new();
        for name in models {
            let listed = Listed::find(name, date)?;
            let rates = Rates::Listed(listed.clone());
            bills.push((listed, Bill::summed(input, &RowRates::Same(&rates), None, ttl)?));
        }
        Ok(Compared { bills })
    }

    /// What does not add up for any of the models, each once.
    pub fn warnings(&self) -> Vec<&str> {
        let mut warnings: Vec<&str> = Vec::new();
        for words in self.bills.iter().flat_map(|(_, bill)| &bill.warnings) {
            if !warnings.contains(&words.as_str()) {
                warnings.push(words);
            }
        }
        warnings
    }

    /// How much dearer a model is than the first, in percent with a sign; `None` for the first, and
    /// where that one costs nothing.
    pub fn versus_first(&self, index: usize) -> Option<String> {
        let first = self.bills.first().filter(|_| index > 0)?.1.cost.total();
        let own = self.bills.get(index)?.1.cost.total();
        let percent = Ratio::new((own.0 - first.0) * 100, first.0)?.to_decimal(2);
        let sign = if percent.starts_with('-') { "" } else { "+" };
        Some(format!("{sign}{percent}"))
    }
}
