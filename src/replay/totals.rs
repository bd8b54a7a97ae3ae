//! Sums over a replay, beside its two bounds.

use std::collections::BTreeMap;

use crate::pricing::Cost;
use crate::record::Reason;
use crate::simulate::Priced;
use crate::units::{PicoUsd, Ratio};
use crate::usage::Usage;

/// Tokens and money of some requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many.
    pub requests: u64,
    /// Their tokens by class.
    pub usage: Usage,
    /// Cost of their input.
    pub input_cost: PicoUsd,
    /// Cost of their input and output.
    pub cost: PicoUsd,
    /// Requests without a known price; they are in no cost.
    pub unpriced: u64,
}

impl Totals {
    pub(super) fn add(&mut self, usage: Usage, price: Option<Priced>) {
        let none = Cost::default();
        let cost = price.as_ref().map_or(&none, |priced| &priced.cost);
        self.requests += 1;
        self.usage = self.usage + usage;
        self.input_cost += cost.input();
        self.cost += cost.total();
        self.unpriced += u64::from(price.is_none());
    }
}

/// One model's part, with the price of one token equivalent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelTotals {
    /// Its requests.
    pub totals: Totals,
    /// Price of one token equivalent; `None` where no price is known or it changed on the way.
    pub base: Option<PicoUsd>,
}

impl ModelTotals {
    /// Token equivalents of the input.
    pub fn te(&self) -> Option<Ratio> {
        Ratio::new(self.totals.input_cost.0, self.base?.0)
    }
}

/// All sums of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// As predicted.
    pub predicted: Totals,
    /// The same requests without a cache.
    pub no_cache: Totals,
    /// The same requests with a perfect cache.
    pub perfect: Totals,
    /// As billed, over the requests of which the whole bill is known.
    pub billed: Totals,
    /// What was predicted for those.
    pub predicted_of_billed: Totals,
    /// By model id; empty for requests that name none.
    pub models: BTreeMap<String, ModelTotals>,
    /// Requests by reason.
    pub reasons: BTreeMap<Reason, u64>,
}

impl Sums {
    pub(super) fn add_model(&mut self, id: &str, usage: Usage, price: Option<Priced>) {
        let base = price.map(|priced| priced.base);
        let model = match self.models.get_mut(id) {
            Some(model) => model,
            None => self
                .models
                .entry(id.to_owned())
                .or_insert(ModelTotals { totals: Totals::default(), base }),
        };
        model.totals.add(usage, price);
        if model.base != base {
            model.base = None;
        }
    }
}
