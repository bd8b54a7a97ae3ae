//! From the tree to a [`Scenario`]: all tables, the model, its rules, and what must fit together.

use std::sync::Arc;

use jiff::civil::Date;

use super::diagnostic::{Mistakes, code};
use super::files::Context;
use super::parent::{Captured, captured};
use super::tree::{Table, Value};
use super::walk::{Field, Section};
use super::{
    ParentPrompt, Places, Scenario, SystemSpec, extras, forking, guarding, limits, parent, wire,
};
use crate::provider::rules::{RULE_NAMES, documented_rules};
use crate::provider::{self, ModelFacts, Provider, find_model};
use crate::request::Base;
use crate::tokens::{TokenizerError, TokenizerSpec};

/// Version of the format.
const VERSION: i128 = 1;

/// Reads the whole table. `None` stands for at least one mistake.
pub(super) fn resolve(
    table: &Table,
    name: &str,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<Scenario> {
    check_version(table, mistakes)?;
    let root = Section::root(table, wire::ROOT, mistakes);
    let parent_section = root.table("parent", wire::PARENT, mistakes);
    let recorded = parent_section.as_ref().and_then(|s| captured(s, ctx, mistakes));
    let model = recorded.as_ref().and_then(|r| model(&root, r.as_ref(), mistakes));
    let recorded = recorded.flatten();
    let parent =
        parent_section.as_ref().and_then(|s| parent::parent(s, recorded.as_ref(), ctx, mistakes));
    let fork_section = root.table("fork", wire::FORK, mistakes);
    let era = fork_section.as_ref().and_then(|s| forking::era(s, mistakes));
    let fork = fork_section
        .as_ref()
        .and_then(|s| forking::fork(s, era.unwrap_or_default(), ctx, mistakes));
    let gate = guarding::gate(&root, era.unwrap_or_default(), mistakes);
    let session_limits = guarding::limits(&root, mistakes);
    let schedule = root.table("schedule", wire::SCHEDULE, mistakes);
    let schedule = schedule.and_then(|section| extras::schedule(&section, mistakes));
    let baselines = root.table("baselines", wire::BASELINES, mistakes);
    let fresh = baselines.and_then(|section| extras::fresh(&section, mistakes));
    let expect = extras::expect(&root, mistakes);
    let rules_section = root.table("rules", RULE_NAMES, mistakes);
    let overrides = rules_section.map(|section| extras::rule_values(&section, mistakes));
    let title = root.read("title", name, mistakes, |field, m| field.text(m));
    let seed = root.read("seed", 1, mistakes, |field, m| field.integer(0..=i64::MAX as u64, m));
    let date = root.read("date", None, mistakes, |field, m| field.date(m).map(Some));
    let tokenizer =
        root.read("tokenizer", None, mistakes, |field, m| tokenizer(field, ctx, m).map(Some));
    era?;
    let (known, model_name) = model?;
    let date = date?.unwrap_or(known.provider.facts().checked);
    check_price(&root, known.model, date, mistakes);
    let mut rules = documented_rules(known.provider.facts(), known.model, date);
    let rule_overrides = extras::apply_rules(overrides?, &mut rules, mistakes);
    let (parent, fork) = (parent?, fork?);
    let sections = (&parent_section?, &fork_section?);
    limits::check(sections, &parent, &fork, known.model, mistakes);
    let marked = has_system(known.provider, &parent.prompt);
    forking::check_ttl_order(sections.1, &fork, parent.cache.ttl, marked, mistakes);
    Some(Scenario {
        name: name.to_owned(),
        title: title?.to_owned(),
        source_hash: String::new(),
        places: Places::default(),
        provider: known.provider,
        model: known.model,
        model_name,
        date,
        seed: seed?,
        tokenizer: tokenizer?.unwrap_or(known.model.tokenizer),
        correction: None,
        parent,
        fork,
        gate: gate?,
        limits: session_limits?,
        schedule: schedule?,
        rules,
        rule_overrides,
        fresh: fresh?,
        expect: expect?,
    })
}

/// Whether the parent has a system prompt, whose blocks carry the parent's lifetime.
fn has_system(provider: &dyn Provider, prompt: &ParentPrompt) -> bool {
    match prompt {
        ParentPrompt::Request(body) => provider
            .shape(&Base::Captured(Arc::clone(body)))
            .is_ok_and(|shape| shape.system.iter().any(|block| block.markable)),
        ParentPrompt::Parts { system: SystemSpec::Sized { tokens }, .. } => *tokens > 0,
        ParentPrompt::Parts { system: SystemSpec::Given(blocks), .. } => !blocks.is_empty(),
    }
}

/// Reports the version alone where it is another one: nothing is known of that format's keys.
fn check_version(table: &Table, mistakes: &mut Mistakes) -> Option<()> {
    let root = Section::unchecked(table);
    let Some(field) = root.required("version", "write version = 1 on the first line", mistakes)
    else {
        return Some(());
    };
    match &field.node.value {
        Value::Integer(Some(VERSION)) => return Some(()),
        Value::Integer(_) => {
            let got = mistakes.sources.excerpt(&field.node.span);
            let message = format!("version must be {VERSION}, got {got}");
            let help = "write version = 1; a later format needs a later forkcost";
            field.report(code::VERSION, message, help, mistakes);
        }
        Value::Text(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Date(_)
        | Value::List(_)
        | Value::Table(_)
        | Value::Null => field.wrong_type("a whole number", mistakes),
    }
    None
}

/// A model and whose it is.
#[derive(Clone, Copy)]
struct KnownModel {
    provider: &'static dyn Provider,
    model: &'static ModelFacts,
}

/// The model that `field` calls `name`, of any provider.
fn find(name: &str, field: &Field<'_>, mistakes: &mut Mistakes) -> Option<KnownModel> {
    let mut nearest = Vec::new();
    for provider in provider::ALL {
        match find_model(provider.facts(), name) {
            Ok(model) => return Some(KnownModel { provider: *provider, model }),
            Err(unknown) => nearest.extend(unknown.nearest),
        }
    }
    let hint = match nearest.as_slice() {
        [] => String::new(),
        names => format!("did you mean {}? ", names.join(" or ")),
    };
    let message = format!("{}: the price list has no model \"{name}\"", field.key);
    let models = provider::ALL.iter().flat_map(|provider| &provider.facts().models);
    let ids: Vec<&str> = models.map(|model| model.id.as_str()).collect();
    let help = format!("{hint}known models: {}", ids.join(", "));
    field.report(code::UNKNOWN_MODEL, message, help, mistakes);
    None
}

fn model(
    root: &Section<'_>,
    captured: Option<&Captured<'_>>,
    mistakes: &mut Mistakes,
) -> Option<(KnownModel, String)> {
    let named = match (root.field("model"), captured) {
        (None, None) => {
            root.required("model", "write e.g. model = \"claude-opus-5\"", mistakes)?;
            return None;
        }
        (None, Some(_)) => None,
        (Some(field), _) => {
            let name = field.text(mistakes)?;
            let known = find(name, &field, mistakes)?;
            Some((field, known, name.to_owned()))
        }
    };
    let Some(captured) = captured else { return named.map(|(_, known, name)| (known, name)) };
    let Some(name) = captured.model() else {
        let message = format!("{}: the body names no model", captured.field.key);
        let help = "a request body has a member `model`";
        captured.field.report(code::FILE_CONTENT, message, help, mistakes);
        return None;
    };
    let known = find(&name, &captured.field, mistakes)?;
    // Two names of one model, e.g. an alias and a dated id, do not contradict each other.
    if let Some((field, other, written)) = named.filter(|(_, k, _)| k.model.id != known.model.id) {
        let message = format!(
            "model is \"{written}\" ({}), but the captured body names \"{name}\"",
            other.model.id
        );
        let help = "delete model; the captured body names its own";
        field.report(code::CONTRADICTION, message, help, mistakes);
        return None;
    }
    Some((known, name))
}

fn tokenizer(
    field: &Field<'_>,
    ctx: &Context<'_>,
    mistakes: &mut Mistakes,
) -> Option<TokenizerSpec> {
    let text = field.text(mistakes)?;
    // No error stands for one that is reported already.
    let read = |path: &str| field.bytes_at(path, ctx, mistakes).ok_or(None);
    TokenizerSpec::parse_with::<Option<TokenizerError>>(text, read)
        .map_err(|error| {
            let Some(error) = error else { return };
            let code = match error {
                TokenizerError::UnknownVocabulary { .. }
                | TokenizerError::BadFactor { .. }
                | TokenizerError::FileNotAllowed { .. }
                | TokenizerError::NoPath { .. } => code::TOKENIZER,
                TokenizerError::NoFileSupport { .. } => code::NOT_AVAILABLE,
                TokenizerError::FileSyntax { .. } => code::FILE_SYNTAX,
                TokenizerError::FileContent { .. } => code::FILE_CONTENT,
            };
            let help = error.file_remedy().unwrap_or(
                "leave it out for the model's own, or write one of these, as in o200k_base*1.65",
            );
            field.report(code, error.to_string(), help, mistakes);
        })
        .ok()
}

/// Reports a day on which the model has no price.
fn check_price(root: &Section<'_>, model: &ModelFacts, date: Date, mistakes: &mut Mistakes) {
    if model.prices.base(date).is_some() {
        return;
    }
    let places = ["date", "model", "parent"];
    let Some(field) = places.iter().find_map(|name| root.field(name)) else { return };
    let first = model.prices.entries.iter().map(|entry| entry.from).min();
    let message = match first {
        Some(first) if date < first => {
            format!("{} has no price on {date}: its first is of {first}", model.id)
        }
        Some(_) | None => format!("{} has no price on {date}", model.id),
    };
    let help = match first {
        Some(first) => format!("write date = {first} or a later day, or take another model"),
        None => "take another model".to_owned(),
    };
    field.report(code::NO_PRICE, message, help, mistakes);
}
