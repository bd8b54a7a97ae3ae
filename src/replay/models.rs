//! What is known of the models that a trace names: rules and prices, looked up once each.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::Date;

use super::{Options, ReplayError};
use crate::cache::{CacheRules, PositionCount};
use crate::provider::rules::{RuleValue, apply, documented_rules};
use crate::provider::{self, Facts, ModelFacts, Provider, find_model};
use crate::simulate::{Priced, priced};
use crate::units::Tokens;
use crate::usage::Usage;

/// Shortest cached prefix where no model is named: the most common one.
pub const MIN_TOKENS_ASSUMED: Tokens = Tokens(1_024);

/// A model on a platform and a day.
#[derive(Debug)]
pub(super) struct Known {
    /// Its id, or empty where no model is named.
    pub(super) id: String,
    /// Its prices, where it is named.
    facts: Option<&'static ModelFacts>,
    /// Day whose prices hold.
    pub(super) day: Date,
    pub(super) rules: CacheRules,
}

impl Known {
    /// What a usage costs.
    pub(super) fn price(&self, usage: &Usage) -> Option<Priced> {
        priced(self.facts?, self.day, usage)
    }
}

/// Name, platform and day.
type Named = (Arc<str>, Arc<str>, Option<Date>);

/// Models by the name, platform and day with which a trace names them.
pub(super) struct Models<'a> {
    pub(super) options: &'a Options,
    /// Rules that the trace itself states.
    stated: &'a [(String, RuleValue)],
    known: HashMap<Named, Arc<Known>>,
    /// Requests that are priced on another day than their own, because no price of it is known.
    pub(super) on_another_day: u64,
}

impl<'a> Models<'a> {
    pub(super) fn new(options: &'a Options, stated: &'a [(String, RuleValue)]) -> Models<'a> {
        Models { options, stated, known: HashMap::new(), on_another_day: 0 }
    }

    /// The model of a request at that place: the trace's name and the line.
    pub(super) fn find(
        &mut self,
        name: &Arc<str>,
        platform: &Arc<str>,
        day: Option<Date>,
        place: (&str, u64),
    ) -> Result<Arc<Known>, ReplayError> {
        let day = self.options.date.or(day);
        let key = (Arc::clone(name), Arc::clone(platform), day);
        let known = match self.known.get(&key) {
            Some(known) => Arc::clone(known),
            None => {
                let known = Arc::new(self.look_up(name, platform, day, place)?);
                self.known.insert(key, Arc::clone(&known));
                known
            }
        };
        let is_other = known.facts.is_some() && day.is_some_and(|day| day != known.day);
        self.on_another_day += u64::from(is_other);
        Ok(known)
    }

    fn look_up(
        &self,
        name: &str,
        platform: &str,
        day: Option<Date>,
        (trace, line): (&str, u64),
    ) -> Result<Known, ReplayError> {
        let name = if name.is_empty() { self.options.model.as_deref() } else { Some(name) };
        let (provider, facts) = match name {
            Some(name) => {
                let (provider, model) = find(name).map_err(|source| ReplayError::Model {
                    trace: trace.to_owned(),
                    line,
                    source,
                })?;
                (provider, Some(model))
            }
            None => (provider::ALL[0], None),
        };
        let table = provider.facts();
        let mut rules = rules_of(table, facts, day.unwrap_or(table.checked));
        if provider.counts_every_block(platform) {
            rules.count = PositionCount::PerBlock;
        }
        for (key, value) in self.stated.iter().chain(&self.options.rules) {
            apply(&mut rules, key, value.clone()).map_err(ReplayError::Rule)?;
        }
        let day = day.filter(|day| facts.is_some_and(|facts| facts.prices.base(*day).is_some()));
        let id = facts.map_or(String::new(), |facts| facts.id.clone());
        Ok(Known { id, facts, day: day.unwrap_or(table.checked), rules })
    }
}

fn rules_of(table: &Facts, model: Option<&ModelFacts>, day: Date) -> CacheRules {
    match model.or(table.models.first()) {
        Some(known) => {
            let rules = documented_rules(table, known, day);
            let min_tokens = model.map_or(MIN_TOKENS_ASSUMED, |model| model.min_tokens);
            CacheRules { min_tokens, ..rules }
        }
        None => CacheRules { min_tokens: MIN_TOKENS_ASSUMED, ..table.rules.clone() },
    }
}

fn find(
    name: &str,
) -> Result<(&'static dyn Provider, &'static ModelFacts), provider::UnknownModel> {
    let mut failed = None;
    for provider in provider::ALL {
        match find_model(provider.facts(), name) {
            Ok(model) => return Ok((*provider, model)),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.unwrap_or_else(|| provider::UnknownModel {
        name: name.to_owned(),
        nearest: Vec::new(),
        known: Vec::new(),
    }))
}
