//! The price list as data.

use jiff::civil::Date;

use super::rates::Listed;
use crate::provider::{self, Provider};

/// Every model of every provider on `date`, by default the day on which the provider's prices were
/// last checked.
pub fn all(date: Option<Date>) -> Vec<Listed> {
    let of = |provider: &'static dyn Provider| {
        let facts = provider.facts();
        let date = date.unwrap_or(facts.checked);
        facts.models.iter().map(move |model| Listed {
            provider,
            model,
            name: model.id.clone(),
            date,
        })
    };
    provider::ALL.iter().flat_map(|provider| of(*provider)).collect()
}
