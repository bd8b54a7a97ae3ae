//! One usage at the prices of several models.

use jiff::civil::Date;

use super::bill::{Bill, RowRates};
use super::input::{Input, usage};
use super::rates::{Listed, Rates};
use crate::cli::error::CliError;
use crate::units::{CacheTtl, Ratio};

/// The same input for each model.
#[derive(Debug)]
pub(super) struct Compared {
    /// At least two, in the order of the command line.
    pub(super) bills: Vec<(Listed, Bill)>,
}

impl Compared {
    /// Prices `input` for each of `models`.
    pub(super) fn of(
        input: &Input,
        models: &[String],
        date: Option<Date>,
        ttl: Option<CacheTtl>,
    ) -> Result<Compared, CliError> {
        if models.len() < 2 {
            return Err(usage(
                "--compare names one model, and a comparison needs two".to_owned(),
                "repeat it: --compare claude-opus-5 --compare claude-sonnet-5".to_owned(),
            ));
        }
        let mut bills = Vec::new();
        for name in models {
            let listed = Listed::find(name, date)?;
            let rates = Rates::Listed(listed.clone());
            bills.push((listed, Bill::of(input, &RowRates::Same(&rates), ttl)?));
        }
        Ok(Compared { bills })
    }

    /// How much dearer a model is than the first, in percent with a sign; `None` for the first, and
    /// where that one costs nothing.
    pub(super) fn versus_first(&self, index: usize) -> Option<String> {
        let first = self.bills.first().filter(|_| index > 0)?.1.cost.total();
        let own = self.bills.get(index)?.1.cost.total();
        let percent = Ratio::new((own.0 - first.0) * 100, first.0)?.to_decimal(2);
        let sign = if percent.starts_with('-') { "" } else { "+" };
        Some(format!("{sign}{percent}"))
    }
}
