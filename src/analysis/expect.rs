//! Expected results against a summary.

use serde_json::Value;

use super::summary::Summary;
use crate::record::Reason;

/// One expectation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// Dotted path into `summary.json`.
    pub path: String,
    /// What was expected.
    pub expected: String,
    /// What is there; `None` where the path leads nowhere.
    pub found: Option<String>,
}

/// Compares what stands at `path` in the summary with `expected`: decimals at the precision of
/// `expected`, everything else by its text. `total_te` stands for `totals.te`. `None` where it
/// holds.
pub fn check(summary: &Summary, path: &str, expected: &str) -> Option<Unmet> {
    let path = if path == "total_te" { "totals.te" } else { path };
    let root = serde_json::to_value(summary).unwrap_or(Value::Null);
    let found = lookup(&root, path);
    let holds = found.as_deref().is_some_and(|found| equal(found, expected));
    let unmet = || Unmet { path: path.to_owned(), expected: expected.to_owned(), found };
    (!holds).then(unmet)
}

/// Follows a dotted path; a part may be an index into a list or the `id` of an item. A reason that
/// did not occur counts 0.
fn lookup(root: &Value, path: &str) -> Option<String> {
    let mut value = root;
    for part in path.split('.') {
        value = match value {
            Value::Object(members) => match members.get(part) {
                Some(member) => member,
                None if absent_reason(path) => return Some("0".to_owned()),
                None => return None,
            },
            Value::Array(items) => {
                let by_index = part.parse::<usize>().ok().and_then(|index| items.get(index));
                let by_id = || {
                    items.iter().find(|item| item.get("id").and_then(Value::as_str) == Some(part))
                };
                by_index.or_else(by_id)?
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    Some(match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// True for a reason that exists but did not occur.
fn absent_reason(path: &str) -> bool {
    let name = path.strip_prefix("reasons.");
    name.is_some_and(|name| Reason::ALL.iter().any(|reason| reason.as_str() == name))
}

/// Text is equal as it stands; decimals are equal where `found`, rounded to the decimals of
/// `expected`, is it.
fn equal(found: &str, expected: &str) -> bool {
    if found == expected {
        return true;
    }
    let (Some((found, found_scale)), Some((expected, scale))) = (decimal(found), decimal(expected))
    else {
        return false;
    };
    if found_scale <= scale {
        return found * 10_i128.pow(scale - found_scale) == expected;
    }
    let divisor = 10_i128.pow(found_scale - scale);
    let magnitude = (2 * found.abs() + divisor) / (2 * divisor);
    magnitude * found.signum() == expected
}

/// A decimal as an integer and its number of decimals (at most 18 digits behind the point).
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = digits.len() + fraction.len() <= 30 && fraction.len() <= 18;
    if digits.is_empty() || !plain(digits) || !plain(fraction) || !fits {
        return None;
    }
    let value: i128 = format!("{digits}{fraction}").parse().ok()?;
    let scale = u32::try_from(fraction.len()).ok()?;
    Some((if whole.starts_with('-') { -value } else { value }, scale))
}

#[cfg(test)]
mod tests {
    use super::equal;

    #[test]
    fn decimals_compare_at_the_precision_of_the_expectation() {
        assert!(equal("0.8362", "0.836"));
        assert!(equal("0.8362", "0.84"));
        assert!(equal("39875.00", "39875"));
        assert!(equal("5", "5.00"));
        assert!(equal("-0.25", "-0.3"));
        assert!(!equal("0.8362", "0.8363"));
        assert!(!equal("0.8362", "0.8360"));
        assert!(!equal("hit", "0"));
    }
}
