//! What arithmetic alone can refuse, before any text is made.
//!
//! Sizes that are known only after counting (files, given texts) enter with the least they can be,
//! so nothing that would fit is refused here; the exact check follows on the built bodies.

use super::diagnostic::{Mistakes, code};
use super::walk::Section;
use super::{
    DirectiveSpec, DispatchSize, ForkSpec, HistorySpec, ParentPrompt, ParentSpec, PlaceholderSpec,
    SystemSpec, ToolsSpec,
};
use crate::fork::CloneShape;
use crate::provider::ModelFacts;
use crate::units::grouped;

/// Reports a dispatch with fewer tokens than blocks, and sizes past the model's context window.
pub(super) fn check(
    sections: (&Section<'_>, &Section<'_>),
    parent: &ParentSpec,
    fork: &ForkSpec,
    model: &ModelFacts,
    mistakes: &mut Mistakes,
) {
    dispatch_blocks(sections.0, parent, fork, mistakes);
    context_window(sections, parent, fork, model, mistakes);
}

fn dispatch_blocks(
    section: &Section<'_>,
    parent: &ParentSpec,
    fork: &ForkSpec,
    mistakes: &mut Mistakes,
) {
    let tokens = match parent.dispatch.size {
        DispatchSize::PerCall(each) => each * fork.children,
        DispatchSize::Total(tokens) => tokens,
        DispatchSize::Natural => return,
    };
    let extra = parent.dispatch.thinking_blocks + parent.dispatch.text_blocks;
    let blocks = fork.children + extra;
    let Some(field) = section.field("dispatch").filter(|_| tokens < blocks) else { return };
    let message = format!(
        "{} has {} tokens for {} blocks ({} calls and {} others): each has at least one token",
        field.key,
        grouped(tokens.into()),
        grouped(blocks.into()),
        grouped(fork.children.into()),
        extra
    );
    let help = format!("raise its size to at least {blocks} tokens in all");
    field.report(code::TOO_SMALL, message, help, mistakes);
}

/// The least tokens of a child's prompt: what does not depend on the number of children, with the
/// key that sets each part, and what comes with each child.
struct Sizes {
    fixed: Vec<(&'static str, u64)>,
    per_child: u64,
}

impl Sizes {
    fn of(parent: &ParentSpec, fork: &ForkSpec) -> Sizes {
        let (tools, system, history) = match &parent.prompt {
            ParentPrompt::Request(_) => (0, 0, 0),
            ParentPrompt::Parts { tools, system, history } => (
                match tools {
                    ToolsSpec::Sized { tokens, .. } => *tokens,
                    ToolsSpec::Given(_) => 0,
                },
                match system {
                    SystemSpec::Sized { tokens } => *tokens,
                    SystemSpec::Given(_) => 0,
                },
                match history {
                    HistorySpec::Sized { tokens, .. } => *tokens,
                    HistorySpec::Given(_) => 0,
                },
            ),
        };
        let directive = match &fork.directive {
            DirectiveSpec::Sized(tokens) => *tokens,
            DirectiveSpec::Texts(_) => 1,
        };
        let placeholder = match fork.placeholder {
            PlaceholderSpec::Sized(tokens) => tokens,
            PlaceholderSpec::Text(_) => 1,
        };
        let (total, call) = match parent.dispatch.size {
            DispatchSize::PerCall(tokens) => (0, tokens),
            DispatchSize::Total(tokens) => (tokens, 0),
            DispatchSize::Natural => (0, directive),
        };
        let (total, per_child) = match fork.clone {
            CloneShape::Full => (total, call + placeholder),
            CloneShape::Excise => (0, 0),
        };
        let fixed = vec![
            ("parent.history", history),
            ("parent.tools", tools),
            ("parent.system", system),
            ("parent.dispatch", total),
            ("fork.directive", directive),
        ];
        Sizes { fixed, per_child }
    }
}

fn context_window(
    (parent_section, fork_section): (&Section<'_>, &Section<'_>),
    parent: &ParentSpec,
    fork: &ForkSpec,
    model: &ModelFacts,
    mistakes: &mut Mistakes,
) {
    let sizes = Sizes::of(parent, fork);
    let window = model.context_window.0;
    let fixed: u64 = sizes.fixed.iter().map(|(_, tokens)| tokens).sum();
    let size = fixed + sizes.per_child * fork.children;
    if size <= window {
        return;
    }
    let fitting = window.saturating_sub(fixed) / sizes.per_child.max(1);
    let largest = sizes.fixed.iter().rev().max_by_key(|(_, tokens)| *tokens);
    let largest = largest.map_or(("fork.directive", 0), |largest| *largest);
    let (key, help) = if fitting > 0 && sizes.per_child > 0 {
        let help = format!("at most {} children fit with these sizes", grouped(fitting.into()));
        ("fork.children", help)
    } else {
        let over = size - window;
        let help = format!("lower the sizes by {} tokens in all", grouped(over.into()));
        (largest.0, format!("{help}; the largest is {}", largest.0))
    };
    let (table, name) = key.split_once('.').unwrap_or(("fork", "children"));
    let section = if table == "parent" { parent_section } else { fork_section };
    let Some(field) = section.field(name) else { return };
    let message = format!(
        "{key}: a child's prompt has at least {} tokens, but the context window of {} is {}",
        grouped(size.into()),
        model.id,
        grouped(window.into())
    );
    field.report(code::CONTEXT_WINDOW, message, help, mistakes);
}
