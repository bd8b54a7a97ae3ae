//! The passes of one call: the iterations of the Messages API, each a prompt of its own.

use crate::provider::billed::fields::Fields;
use crate::provider::billed::styles::{Reading, exclusive};
use crate::provider::billed::{COUNT_MAX, UsageError, UsageWarning, moved};
use crate::provider::{ALL, find_model};
use crate::units::{CacheTtl, Tokens};
use crate::usage::Usage;

/// One prompt and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Its tokens.
    pub usage: Usage,
    /// Tokens of its `write_5m` whose lifetime is not stated.
    pub assumed: Tokens,
}

impl Pass {
    /// Its tokens with the writes of unstated lifetime taken as `ttl`.
    pub fn with_assumed_writes(&self, ttl: CacheTtl) -> Usage {
        moved(self.usage, self.assumed, ttl)
    }
}

/// The Messages API: the iterations where there are any, else the top level. `model` is the one
/// that the call names, where that is known.
pub(super) fn messages(fields: &Fields<'_>, model: Option<&str>) -> Result<Reading, UsageError> {
    let top = exclusive(fields)?;
    let iterations = fields.list("iterations")?;
    if iterations.is_empty() {
        return Ok(top);
    }
    let own = model.or_else(|| own_model(&iterations));
    let mut sum = Reading::default();
    for iteration in &iterations {
        let one = exclusive(iteration)?;
        let named = iteration.text("model");
        // An advisor's answer is billed at the price of the model that it names.
        if let Some(model) = named.filter(|name| own.is_none_or(|own| !same_model(own, name))) {
            let model = model.to_owned();
            sum.warnings.push(UsageWarning::OtherModel { model, usage: one.usage });
            continue;
        }
        sum.passes.push(Pass { usage: one.usage, assumed: one.assumed });
        sum.usage = sum.usage + one.usage;
        sum.assumed += one.assumed;
        sum.warnings.extend(one.warnings);
        if sum.usage.input().0.max(sum.usage.output.0) > COUNT_MAX {
            return Err(UsageError::Overflow { key: "iterations".to_owned() });
        }
    }
    if sum.passes.is_empty() {
        sum.warnings.extend(top.warnings);
        return Ok(Reading { warnings: sum.warnings, ..top });
    }
    if without_lifetimes(&top.usage) == without_lifetimes(&sum.usage) {
        take_lifetimes(&top, &mut sum);
    } else {
        let count = sum.passes.len();
        let warning = UsageWarning::Iterations { count, top: top.usage, sum: sum.usage };
        sum.warnings.insert(0, warning);
    }
    Ok(sum)
}

/// The call's model by its iterations: none where some name none, as those are the call's own, else
/// the first that is no advisor.
fn own_model<'a>(iterations: &[Fields<'a>]) -> Option<&'a str> {
    if iterations.iter().any(|iteration| iteration.text("model").is_none()) {
        return None;
    }
    let own = iterations.iter().find(|one| one.text("type") != Some("advisor_message"));
    own.and_then(|iteration| iteration.text("model"))
}

/// Whether two names are names of one model.
fn same_model(one: &str, other: &str) -> bool {
    let id = |name: &str| {
        ALL.iter()
            .find_map(|provider| find_model(provider.facts(), name).ok())
            .map(|model| &model.id)
    };
    one == other || id(one).is_some_and(|one| id(other) == Some(one))
}

/// Counts as far as a top level states them: writes in one sum.
fn without_lifetimes(usage: &Usage) -> [Tokens; 4] {
    [usage.uncached, usage.read, usage.write_5m + usage.write_1h, usage.output]
}

/// Lifetimes that only the top level states are those of the passes.
fn take_lifetimes(top: &Reading, sum: &mut Reading) {
    if top.assumed > Tokens::ZERO || top.usage.write_1h < sum.usage.write_1h {
        return;
    }
    let mut left = top.usage.write_1h - sum.usage.write_1h;
    for pass in &mut sum.passes {
        let taken = Tokens(pass.assumed.0.min(left.0));
        pass.usage = moved(pass.usage, taken, CacheTtl::OneHour);
        pass.assumed = Tokens::ZERO;
        left = left - taken;
        sum.usage = moved(sum.usage, taken, CacheTtl::OneHour);
    }
    sum.assumed = Tokens::ZERO;
}
