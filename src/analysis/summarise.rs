//! From records to a summary.

use std::collections::BTreeMap;

use super::summary::{
    Baselines, Change, Finding, FirstDifference, SCHEMA_VERSION, Shared, Summary, TokenizerNote,
    Totals,
};
use crate::record::RunRecord;
use crate::units::{PicoUsd, Ratio, grouped};

/// What a summary says about the scenario besides its records.
#[derive(Clone, Debug)]
pub struct Subject {
    /// File stem of the scenario.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// Model as billed.
    pub model: String,
    /// How the children are marked.
    pub marker_policy: String,
    /// When they are sent.
    pub schedule: String,
    /// First day of the prices used.
    pub prices_from: String,
    /// Day on which prices and rules were last compared with their source.
    pub facts_checked: String,
    /// Day for which prices and rules were looked up.
    pub date: String,
    /// How tokens were counted.
    pub tokenizer: TokenizerNote,
    /// What all children share.
    pub shared: Shared,
    /// What the parent and all children share.
    pub shared_with_parent: Shared,
    /// Where the children first differ.
    pub first_difference: Option<FirstDifference>,
    /// Whether fresh agents have the parent's type.
    pub fresh_same_type: bool,
    /// Whether the size of a fresh agent's prompt is assumed.
    pub fresh_assumed: bool,
    /// Findings that do not come from records.
    pub findings: Vec<Finding>,
}

/// A change that was tried: its records have the plan `change.<id>`.
#[derive(Clone, Debug)]
pub struct ProposalNote {
    /// Stable name.
    pub id: String,
    /// In words.
    pub text: String,
    /// Lines to change in the scenario.
    pub patch: Vec<String>,
}

/// The sums over all requests of a plan but the parent's own.
pub fn totals(records: &[RunRecord], plan: &str) -> Option<Totals> {
    let rows: Vec<&RunRecord> =
        records.iter().filter(|row| row.plan == plan && row.role != "parent").collect();
    let base = rows.first()?.base_pico_usd;
    let sum = |of: fn(&RunRecord) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
    let input: i128 = rows.iter().map(|row| row.input_pico_usd).sum();
    let output: i128 = rows.iter().map(|row| row.output_pico_usd).sum();
    Some(Totals {
        requests: rows.len() as u64,
        read: sum(|row| row.read),
        write_5m: sum(|row| row.write_5m),
        write_1h: sum(|row| row.write_1h),
        uncached: sum(|row| row.uncached),
        output: sum(|row| row.output),
        te: Ratio::new(input, base)?.to_decimal(2),
        cost_pico_usd: (input + output).to_string(),
        cost_usd: PicoUsd(input + output).to_usd_string(),
    })
}

/// Cost of the input of a plan in pico-dollars.
fn input_pico_usd(records: &[RunRecord], plan: &str) -> i128 {
    let rows = records.iter().filter(|row| row.plan == plan && row.role != "parent");
    rows.map(|row| row.input_pico_usd).sum()
}

/// `1 - plan / other`, four decimals.
fn saving(records: &[RunRecord], plan: &str, other: &str) -> String {
    let (plan, other) = (input_pico_usd(records, plan), input_pico_usd(records, other));
    Ratio::new(other - plan, other).map_or_else(|| "0.0000".to_owned(), |r| r.to_decimal(4))
}

/// Makes the summary of a run. `records` holds the plans `this_plan`, `no_cache`, `perfect`,
/// `chapter`, `fresh` where compared, and `change.<id>` for each proposal.
pub fn summarise(subject: Subject, records: &[RunRecord], proposals: &[ProposalNote]) -> Summary {
    let of = |plan: &str| totals(records, plan).unwrap_or_default();
    let children: Vec<&RunRecord> =
        records.iter().filter(|row| row.plan == "this_plan" && row.role == "child").collect();
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for row in &children {
        *reasons.entry(row.reason.clone()).or_default() += 1;
    }
    let mut findings = findings(records, &subject);
    findings.extend(subject.findings);
    Summary {
        schema_version: SCHEMA_VERSION,
        scenario: subject.scenario,
        title: subject.title,
        model: subject.model,
        marker_policy: subject.marker_policy,
        schedule: subject.schedule,
        prices_from: subject.prices_from,
        facts_checked: subject.facts_checked,
        date: subject.date,
        tokenizer: subject.tokenizer,
        children: children.len() as u64,
        child_tokens: children.first().map_or(0, |row| row.input),
        shared: subject.shared,
        shared_with_parent: subject.shared_with_parent,
        totals: of("this_plan"),
        baselines: Baselines {
            no_cache: of("no_cache"),
            perfect: of("perfect"),
            chapter: of("chapter"),
            fresh: totals(records, "fresh"),
        },
        fresh_kind: fresh_kind(records, subject.fresh_same_type),
        saving_vs_no_cache: saving(records, "this_plan", "no_cache"),
        first_difference: subject.first_difference,
        reasons,
        changes: changes(records, proposals),
        findings,
    }
}

/// Which fresh agents are compared, where any are.
fn fresh_kind(records: &[RunRecord], same_type: bool) -> Option<String> {
    let kind = if same_type { "same_type" } else { "different_types" };
    records.iter().any(|row| row.plan == "fresh").then(|| kind.to_owned())
}

fn changes(records: &[RunRecord], proposals: &[ProposalNote]) -> Vec<Change> {
    let mut changes: Vec<(i128, Change)> = proposals
        .iter()
        .filter_map(|proposal| {
            let plan = format!("change.{}", proposal.id);
            let change = Change {
                id: proposal.id.clone(),
                text: proposal.text.clone(),
                patch: proposal.patch.clone(),
                totals: totals(records, &plan)?,
                saving: saving(records, &plan, "this_plan"),
                keeps_context: true,
            };
            Some((input_pico_usd(records, &plan), change))
        })
        .collect();
    if let Some(totals) = totals(records, "fresh") {
        let change = Change {
            id: "fresh".to_owned(),
            text: "fresh agents instead of forks".to_owned(),
            patch: Vec::new(),
            totals,
            saving: saving(records, "fresh", "this_plan"),
            keeps_context: false,
        };
        changes.push((input_pico_usd(records, "fresh"), change));
    }
    changes.sort_by_key(|(cost, _)| *cost);
    changes.into_iter().map(|(_, change)| change).collect()
}

fn findings(records: &[RunRecord], subject: &Subject) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (plan, none) = (input_pico_usd(records, "this_plan"), input_pico_usd(records, "no_cache"));
    if plan > none {
        let more = Ratio::new((plan - none) * 100, none.max(1));
        findings.push(Finding {
            id: "caching_costs_more".to_owned(),
            text: format!(
                "Caching makes this {} % dearer than no cache: the writes cost more than the reads \
                 save.",
                more.map_or_else(String::new, |more| more.to_decimal(2))
            ),
        });
    }
    findings.extend(unread(records));
    findings.extend(fresh_break_even(records, subject));
    findings
}

/// Tokens that several children write alike although each could have read them.
fn unread(records: &[RunRecord]) -> Option<Finding> {
    let children = records.iter().filter(|row| row.plan == "this_plan" && row.role == "child");
    let again: Vec<u64> = children
        .filter(|row| row.reason != "first_of_prefix" && row.shared_end > row.read)
        .map(|row| row.shared_end - row.read)
        .collect();
    let (count, tokens) = (again.len(), again.iter().sum::<u64>());
    (count > 0).then(|| Finding {
        id: "shared_but_not_read".to_owned(),
        text: format!(
            "{} did not read {} tokens that another request sends too.",
            if count == 1 {
                "1 child".to_owned()
            } else {
                format!("{} children", grouped(count as i128))
            },
            grouped(i128::from(tokens))
        ),
    })
}

/// What a fresh agent may spend on reading back the context before it is dearer than a fork.
fn fresh_break_even(records: &[RunRecord], subject: &Subject) -> Option<Finding> {
    let fresh = totals(records, "fresh")?;
    let first = records.iter().find(|row| row.plan == "fresh" && row.role == "fresh")?;
    let (plan, other) = (input_pico_usd(records, "this_plan"), input_pico_usd(records, "fresh"));
    let children = i128::from(fresh.requests.max(1));
    let each = Ratio::new((plan - other).abs(), first.base_pico_usd * children)?.to_decimal(0);
    let each = each.parse::<i128>().map_or(each, grouped);
    let assumed = if subject.fresh_assumed {
        " Its prompt is assumed to be as long as a directive."
    } else {
        ""
    };
    let text = if plan > other {
        format!(
            "A fresh agent is cheaper unless it spends more than {each} TE on reading back what a \
             fork knows.{assumed}"
        )
    } else {
        format!("A fork is {each} TE a child cheaper than a fresh agent.{assumed}")
    };
    Some(Finding { id: "fresh_break_even".to_owned(), text })
}
