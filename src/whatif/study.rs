//! One scenario beside its baselines and the fixed set of changes.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::agent::{
    AgentError, Material, Play, Variant, changes, play, play_fresh, prepare, variant,
};
use crate::analysis::{
    Finding, FirstDifference, ProposalNote, Shared, Subject, Summary, TokenizerNote, segments,
    summarise,
};
use crate::counting::{self, Class, Corrections, Exactness};
use crate::fork::{CloneShape, Dispatch, ForkError};
use crate::measure::{
    BlockMeasure, Difference, SharedPrefix, TokenizedPrompt, first_difference, shared_prefix,
};
use crate::provider::{RenderOptions, ThinkingInHistory};
use crate::record::{RunRecord, SegmentRecord};
use crate::request::json::JsonError;
use crate::request::{
    BlockKind, Extra, ExtraKind, Mark, RenderedBlock, RequestBody, RequestEvent, RequestRole,
    Section,
};
use crate::scenario::{CountCorrection, ParentPrompt, Scenario};
use crate::simulate::{Billing, Measured, Rules, SimulateError, measure, simulate};
use crate::tokens::Tokenizer;

/// What a run found.
#[derive(Clone, Debug)]
pub struct Study {
    /// The verdict.
    pub summary: Summary,
    /// Every request of every plan.
    pub records: Vec<RunRecord>,
    /// What the first child's prompt is made of.
    pub segments: Vec<SegmentRecord>,
    /// The requests of this plan with their measured prompts, in order of their starts.
    pub played: Measured,
}

/// Why a scenario cannot be studied.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// It cannot be played.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// It cannot be billed.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A body cannot be read back.
    #[error("a request body cannot be read: {0}")]
    Render(#[from] JsonError),
}

impl StudyError {
    /// The key of the scenario that the error is about, and what to do.
    pub fn key(&self, scenario: &Scenario) -> (&'static str, &'static str) {
        match self {
            StudyError::Agent(error) => error.key(scenario),
            StudyError::Simulate(SimulateError::ContextWindow { .. }) => {
                let key = match scenario.parent.prompt {
                    ParentPrompt::Request(_) => "parent.request",
                    ParentPrompt::Parts { .. } => "parent.history",
                };
                (key, "make it or fork.children smaller, or take a model with a larger window")
            }
            StudyError::Simulate(SimulateError::NoPrice { .. }) => {
                ("date", "take a day on which the model has a price")
            }
            StudyError::Render(_) => ("parent.request", "give a request body as it was sent"),
        }
    }
}

/// Plays a scenario, bills it under its rules, its baselines and its changes, and sums up.
/// `progress` is told what is worked on.
///
/// # Errors
/// Where a body cannot be built, would be refused, or cannot be billed.
pub fn study(scenario: &Scenario, progress: &mut dyn FnMut(&str)) -> Result<Study, StudyError> {
    progress("making the text");
    let tokenizer = Tokenizer::new(scenario.tokenizer);
    let material = prepare(scenario, &tokenizer)?;
    progress("building and measuring the bodies");
    let run = Run { scenario, material: &material, tokenizer: &tokenizer };
    let played = play(scenario, &material, &Variant::of(scenario))?;
    let measured = run.measure(played.events.clone())?;

    let mut records = run.bill("this_plan", &measured, &run.cache())?;
    let children = without(&measured, |role| role == RequestRole::Prewarm);
    records.extend(run.bill("no_cache", &children, &Rules::NoCache)?);
    records.extend(run.bill("perfect", &children, &Rules::Perfect)?);
    progress("comparing with fresh agents");
    let fresh = run.measure(play_fresh(scenario, &material, &tokenizer)?)?;
    records.extend(run.bill("fresh", &fresh, &run.cache())?);
    records.extend(run.bill("chapter", &children, &Rules::Chapter)?);
    let proposals = changes(scenario);
    progress("trying the changes");
    let changed: Vec<_> = proposals.par_iter().map(|proposal| run.changed(proposal)).collect();
    for rows in changed {
        records.extend(rows?);
    }
    let proposals: Vec<ProposalNote> = proposals.into_iter().map(note).collect();
    let segments = run.segments(&measured)?;
    let subject = run.subject(&played, &measured, &records, &segments)?;
    let summary = summarise(subject, &records, &proposals);
    Ok(Study { summary, records, segments, played: measured })
}

/// The scenario, counted with what a calibration says of its model, tokenizer and kind of request;
/// as it is where the calibration says nothing of them.
///
/// # Errors
/// Where the parent's request cannot be built.
pub fn calibrated(scenario: &Scenario, corrections: &Corrections) -> Result<Scenario, StudyError> {
    let tokenizer = Tokenizer::new(scenario.tokenizer);
    let material = prepare(scenario, &tokenizer)?;
    let run = Run { scenario, material: &material, tokenizer: &tokenizer };
    let played = play(scenario, &material, &Variant::of(scenario))?;
    let parent = run.measure(vec![RequestEvent::at_once(played.parent)])?;
    let class = parent.prompts.first().map_or(Class::Text, counting::class_of);
    let found = corrections.find(&scenario.model.id, scenario.tokenizer, class);
    let Some(found) = found else { return Ok(scenario.clone()) };
    // A correction takes no more than the first block of the messages has.
    let first = parent.prompts.first().and_then(|prompt| {
        let of_messages =
            |(block, _): &(&RenderedBlock, &BlockMeasure)| block.section == Section::Messages;
        prompt.blocks().find(of_messages).map(|(_, measure)| measure.tokens.0)
    });
    let least = -i64::try_from(first.unwrap_or(0)).unwrap_or(i64::MAX);
    let tokens = found.tokens.max(least);
    let correction = CountCorrection { tokens, note: found.sentence(tokens) };
    let tokenizer = found.scaled(scenario.tokenizer);
    Ok(Scenario { tokenizer, correction: Some(correction), ..scenario.clone() })
}

fn note(proposal: variant::Proposal) -> ProposalNote {
    ProposalNote { id: proposal.id.to_owned(), text: proposal.text, patch: proposal.patch }
}

/// The events whose role is not left out.
fn without(measured: &Measured, left_out: impl Fn(RequestRole) -> bool) -> Measured {
    let kept = measured.events.iter().zip(&measured.prompts);
    let kept = kept.filter(|(event, _)| !left_out(event.role));
    let (events, prompts) = kept.map(|(event, prompt)| (event.clone(), prompt.clone())).unzip();
    Measured { events, prompts }
}

/// All blocks, those that siblings share once.
fn distinct_blocks(prompts: &[TokenizedPrompt]) -> Vec<&RenderedBlock> {
    let mut families = HashSet::new();
    let mut blocks = Vec::new();
    for prompt in prompts {
        let known = if families.insert(prompt.family_key()) { 0 } else { prompt.shared_len() };
        let more = (known..prompt.len()).filter_map(|index| prompt.block(index));
        blocks.extend(more.map(|(block, _)| block));
    }
    blocks
}

struct Run<'a> {
    scenario: &'a Scenario,
    material: &'a Material,
    tokenizer: &'a Tokenizer,
}

impl Run<'_> {
    fn measure(&self, events: Vec<RequestEvent>) -> Result<Measured, JsonError> {
        let scenario = self.scenario;
        let options = RenderOptions {
            hash_billing_line: scenario.rules.hash_billing_line,
            family: scenario.tokenizer.claude_family(),
            date: Some(scenario.date),
            model: Some(&scenario.model.id),
            correction: scenario.correction.as_ref().map_or(0, |correction| correction.tokens),
        };
        measure(events, self.scenario.provider, options, self.tokenizer)
    }

    /// The records of one change; none where its markers cannot stand beside the scenario's own.
    fn changed(&self, proposal: &variant::Proposal) -> Result<Vec<RunRecord>, StudyError> {
        let changed = match play(self.scenario, self.material, &proposal.variant) {
            Err(AgentError::Fork(ForkError::Markers(_))) => return Ok(Vec::new()),
            played => played?,
        };
        let measured = self.measure(changed.events)?;
        let plan = format!("change.{}", proposal.id);
        Ok(self.bill(&plan, &measured, &self.cache())?)
    }

    fn cache(&self) -> Rules {
        Rules::Cache(self.scenario.rules.clone())
    }

    fn bill(
        &self,
        plan: &str,
        measured: &Measured,
        rules: &Rules,
    ) -> Result<Vec<RunRecord>, SimulateError> {
        let billing = Billing {
            model: self.scenario.model,
            date: self.scenario.date,
            tokenizer: self.scenario.tokenizer.to_string(),
            exactness: exactness(self.scenario, measured).as_str(),
        };
        simulate(plan, measured, rules, &billing)
    }

    fn segments(&self, measured: &Measured) -> Result<Vec<SegmentRecord>, StudyError> {
        let inherited = self.material.plan.inherited_messages(self.scenario.provider);
        let inherited = inherited.map_err(AgentError::from)?;
        let events = measured.events.iter().zip(&measured.prompts);
        let mut children = events.filter(|(event, _)| event.role == RequestRole::Child);
        Ok(children.next().map_or(Vec::new(), |(_, prompt)| segments(prompt, inherited)))
    }

    fn subject(
        &self,
        played: &Play,
        measured: &Measured,
        records: &[RunRecord],
        segments: &[SegmentRecord],
    ) -> Result<Subject, StudyError> {
        let scenario = self.scenario;
        let children = without(measured, |role| role != RequestRole::Child);
        let shared = shared_prefix(&played.children, &children.prompts, self.tokenizer);
        let difference = first_difference(&played.children)?;
        let with_parent = self.shared_with_parent(played, children.prompts)?;
        let longest = records.iter().map(|row| row.input).max().unwrap_or(0);
        let entry = scenario.model.prices.at(scenario.date, crate::units::Tokens(longest));
        Ok(Subject {
            scenario: scenario.name.clone(),
            title: scenario.title.clone(),
            model: scenario.model.id.clone(),
            marker_policy: scenario.fork.policy.name().to_owned(),
            schedule: scenario.schedule.order.name().to_owned(),
            prices_from: entry.map_or_else(String::new, |entry| entry.from.to_string()),
            facts_checked: scenario.provider.facts().checked.to_string(),
            date: scenario.date.to_string(),
            tokenizer: tokenizer_note(scenario, measured),
            shared: as_shared(shared),
            shared_with_parent: as_shared(with_parent),
            first_difference: difference.map(|found| as_difference(found, shared, segments)),
            fresh_same_type: scenario.fresh.same_type,
            fresh_assumed: scenario.fresh.prompt_tokens.is_none(),
            findings: self.findings(measured),
        })
    }

    /// The parent's request beside the children's, also where it is cold and so in no event.
    fn shared_with_parent(
        &self,
        played: &Play,
        children: Vec<TokenizedPrompt>,
    ) -> Result<SharedPrefix, StudyError> {
        let mut bodies: Vec<RequestBody> = vec![played.parent.clone()];
        bodies.extend(played.children.iter().cloned());
        let parent = RequestEvent::at_once(played.parent.clone());
        let mut prompts = self.measure(vec![parent])?.prompts;
        prompts.extend(children);
        Ok(shared_prefix(&bodies, &prompts, self.tokenizer))
    }

    fn findings(&self, measured: &Measured) -> Vec<Finding> {
        let finding = |id: &str, text: String| Finding { id: id.to_owned(), text };
        let mut findings = Vec::new();
        let blocks = distinct_blocks(&measured.prompts);
        if blocks.iter().flat_map(|block| &block.frame.extras).any(is_image) {
            findings.push(finding(
                "images_assumed",
                "Images are counted with an assumed size, not by their pixels.".to_owned(),
            ));
        }
        let strips = self.scenario.model.thinking == ThinkingInHistory::Stripped;
        if strips && blocks.iter().any(|block| block.kind == BlockKind::Thinking) {
            let text = match self.scenario.tokenizer.claude_family() {
                Some(_) => {
                    "This model drops earlier reasoning once a user text follows: it is not \
                     counted from there on, and nothing behind it is read."
                }
                None => {
                    "This model drops earlier reasoning once a user text follows. That loss is not \
                     modelled under this tokenizer."
                }
            };
            findings.push(finding("thinking_stripped", text.to_owned()));
        }
        findings.extend(self.calls_beside_children());
        findings.extend(self.material.exceeded.iter().map(|exceeded| {
            finding("limit_exceeded", format!("Limits of the session: {exceeded}."))
        }));
        let parent = measured.events.iter().position(|event| event.role == RequestRole::Parent);
        if parent.is_some_and(|index| measured.prompts[index].marked().count() == 0) {
            findings.push(finding(
                "parent_unmarked",
                "The parent's request carries no marker, so it left no entry to read.".to_owned(),
            ));
        }
        let checked = self.scenario.provider.facts().checked;
        if self.scenario.date > checked {
            findings.push(finding(
                "prices_may_be_old",
                format!(
                    "Prices and rules are those known on {checked}, before the date asked for."
                ),
            ));
        }
        if !self.scenario.rule_overrides.is_empty() {
            findings.push(finding(
                "rules_overridden",
                format!(
                    "The scenario changes cache rules: {}.",
                    self.scenario.rule_overrides.join(", ")
                ),
            ));
        }
        findings.extend(
            self.scenario.model.notes.iter().map(|note| finding("model_note", note.clone())),
        );
        findings
    }

    /// A dispatch that was recorded holds the calls of as many children as were forked then.
    fn calls_beside_children(&self) -> Option<Finding> {
        let calls = match &self.material.plan.dispatch {
            Dispatch::Inherited(calls) => calls.len(),
            Dispatch::Appended(message) => message.tool_use_ids().count(),
            Dispatch::None => 0,
        };
        let children = self.material.directives.len();
        let cloned = self.material.plan.clone == CloneShape::Full;
        (cloned && calls > 0 && calls != children).then(|| Finding {
            id: "calls_beside_children".to_owned(),
            text: format!("the dispatch holds {calls} calls, but {children} children are forked"),
        })
    }
}

/// How tokens were counted, how sure that is, and how far such counts are from bills.
fn tokenizer_note(scenario: &Scenario, measured: &Measured) -> TokenizerNote {
    let spec = scenario.tokenizer;
    let class = families(measured).map(counting::class_of).max().unwrap_or(Class::Text);
    let note = counting::evidence(spec, Some(scenario.model.tokenizer), class);
    let note = match &scenario.correction {
        Some(correction) => format!("{}; {note}", correction.note),
        None => note,
    };
    let longest = measured.prompts.iter().max_by_key(|prompt| prompt.tokens());
    let between = longest.map(|prompt| (prompt.tokens(), prompt.tokens_between()));
    let note = match between {
        Some((tokens, (low, high))) if low != high => {
            format!("{note}; the longest prompt, {tokens}, lies between {low} and {high}")
        }
        Some(_) | None => note,
    };
    let exactness = exactness(scenario, measured).as_str().to_owned();
    TokenizerNote { name: spec.to_string(), exactness, note }
}

/// The least sure of all prompts. What is corrected is an estimate.
fn exactness(scenario: &Scenario, measured: &Measured) -> Exactness {
    if scenario.correction.is_some() {
        return Exactness::Estimated;
    }
    let own = Some(scenario.model.tokenizer);
    let of = |prompt| counting::exactness_of(prompt, scenario.tokenizer, own);
    families(measured).map(of).max().unwrap_or(Exactness::Estimated)
}

/// One prompt of each set of siblings: what stands around their texts is the same for all of them.
fn families(measured: &Measured) -> impl Iterator<Item = &TokenizedPrompt> {
    let mut seen = HashSet::new();
    measured.prompts.iter().filter(move |prompt| seen.insert(prompt.family_key()))
}

/// Widest interval, in tokens, of an image whose pixels are looked at.
const BY_PIXELS_RANGE: u64 = 100;

/// Whether it is an image of assumed size.
fn is_image(extra: &Extra) -> bool {
    // By its pixels an image is known to a few tokens.
    let by_pixels = extra.low < extra.high && extra.high - extra.low <= BY_PIXELS_RANGE;
    extra.kind == ExtraKind::Image && extra.mark == Mark::Inferred && !by_pixels
}

fn as_shared(prefix: SharedPrefix) -> Shared {
    Shared {
        body_bytes: prefix.body_bytes,
        prompt_bytes: prefix.prompt_bytes,
        prompt_tokens: prefix.prompt_tokens.0,
        head_tokens: prefix.head_tokens.0,
    }
}

fn as_difference(
    difference: Difference,
    shared: SharedPrefix,
    segments: &[SegmentRecord],
) -> FirstDifference {
    let in_prompt =
        ["/tools", "/system", "/messages"].iter().any(|part| difference.pointer.starts_with(part));
    // A marker stands beside a block's prompt bytes, not in them.
    let part = (in_prompt && !difference.pointer.contains("/cache_control"))
        .then(|| segments.iter().find(|segment| segment.end_tokens > shared.prompt_tokens.0))
        .flatten()
        .map(|segment| segment.segment.clone());
    FirstDifference {
        pointer: difference.pointer,
        byte: difference.byte,
        part,
        excerpt: difference.excerpt,
        other_excerpt: difference.other_excerpt,
    }
}
