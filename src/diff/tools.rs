//! Tools, aligned by name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::align::rising;
use super::body::{Body, View};
use super::cause::Flavour;
use super::drill::{KeyOrder, Leaf, Shape, leaves};
use super::excerpt::cut;
use super::found::{Found, Pair, leaf_words};
use super::kind::Kind;
use crate::request::Section;

/// Most names that a cause lists.
const NAMES_MAX: usize = 6;

/// Most pairs of a tool that went and one that came that are compared for a changed name.
const RENAMES_MAX: usize = 10_000;

/// One tool: its block's index and its definition.
#[derive(Clone, Copy)]
struct Tool<'a> {
    index: usize,
    view: View<'a>,
}

/// Both lists of tools and which of them are the same.
struct Tools<'a> {
    pair: Pair<'a>,
    a: Vec<Tool<'a>>,
    b: Vec<Tool<'a>>,
    /// Places of the same tool in both lists, rising in A.
    common: Vec<(usize, usize)>,
    /// Places in A of tools that are equal but for their name.
    renamed: HashSet<usize>,
}

/// Every divergence of the tools.
pub(super) fn compare(pair: Pair<'_>) -> Vec<Found> {
    let (a, b) = (tools(pair.a), tools(pair.b));
    let common = by_name(&a, &b);
    let mut tools = Tools { pair, a, b, common, renamed: HashSet::new() };
    let mut found = tools.renamed();
    found.extend(tools.toggled());
    found.extend(tools.added());
    found.extend(tools.removed());
    found.extend(tools.reordered());
    for &(i, j) in &tools.common {
        let (block_a, block_b) = (tools.a[i].index, tools.b[j].index);
        let is_told = tools.renamed.contains(&i);
        if !is_told && pair.a.blocks[block_a].prompt_bytes != pair.b.blocks[block_b].prompt_bytes {
            found.extend(tools.changed(i, j));
        }
    }
    found.sort_by_key(|found| (found.position, found.b.as_ref().map(|spot| spot.byte)));
    found
}

fn tools<'a>(body: &'a Body<'_>) -> Vec<Tool<'a>> {
    let (start, blocks) = body.section(Section::Tools);
    let tool = |(n, block): (usize, &crate::request::RenderedBlock)| {
        Some(Tool { index: start + n, view: body.node(&block.pointer)? })
    };
    blocks.iter().enumerate().filter_map(tool).collect()
}

impl Tool<'_> {
    /// Its name; its type where it has none.
    fn name(self) -> String {
        let named = self.view.get("name").or_else(|| self.view.get("type"));
        named.and_then(View::text).unwrap_or_default()
    }
}

/// Pairs of equal name; the n-th of a name meets the n-th.
fn by_name(a: &[Tool<'_>], b: &[Tool<'_>]) -> Vec<(usize, usize)> {
    let mut places: HashMap<(String, usize), usize> = HashMap::new();
    for (at, key) in numbered(b).enumerate() {
        places.insert(key, at);
    }
    let pairs = numbered(a).enumerate();
    pairs.filter_map(|(at, key)| Some((at, *places.get(&key)?))).collect()
}

/// Names with how often each stood before.
fn numbered(tools: &[Tool<'_>]) -> impl Iterator<Item = (String, usize)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    tools.iter().map(move |tool| {
        let name = tool.name();
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        (name, *count)
    })
}

impl Tools<'_> {
    fn only_in_a(&self) -> Vec<usize> {
        let common: Vec<usize> = self.common.iter().map(|(i, _)| *i).collect();
        (0..self.a.len()).filter(|i| common.binary_search(i).is_err()).collect()
    }

    fn only_in_b(&self) -> Vec<usize> {
        let mut common: Vec<usize> = self.common.iter().map(|(_, j)| *j).collect();
        common.sort_unstable();
        (0..self.b.len()).filter(|j| common.binary_search(j).is_err()).collect()
    }

    /// Tools that are equal but for their name; they are the same ones from here on.
    fn renamed(&mut self) -> Vec<Found> {
        let (gone, mut come) = (self.only_in_a(), self.only_in_b());
        if gone.len() * come.len() > RENAMES_MAX {
            return Vec::new();
        }
        let mut found = Vec::new();
        for i in gone {
            let same = come.iter().position(|j| {
                let all = leaves(self.a[i].view, self.b[*j].view, KeyOrder::Envelope);
                matches!(&all[..], [leaf] if leaf.path_a == "/name")
            });
            let Some(at) = same else { continue };
            let j = come.remove(at);
            let (a, b) = (self.a[i], self.b[j]);
            let cause = format!("the tool `{}` is called `{}`", a.name(), b.name());
            let all = leaves(a.view, b.view, KeyOrder::Envelope);
            if let Some(leaf) = all.first() {
                found.push(self.one(Kind::ToolRenamed, cause, (i, j), leaf));
            }
            let place = self.common.partition_point(|pair| pair.0 < i);
            self.common.insert(place, (i, j));
            self.renamed.insert(i);
        }
        found
    }

    /// A divergence inside the definitions of one tool.
    fn one(&self, kind: Kind, cause: String, (i, j): (usize, usize), leaf: &Leaf<'_>) -> Found {
        let (a, b) = (self.a[i].index, self.b[j].index);
        let base = (self.pair.a.blocks[a].pointer.as_str(), self.pair.b.blocks[b].pointer.as_str());
        Found::new(kind, Section::Tools.as_str(), a, cause)
            .at_leaf(self.pair, base, leaf)
            .blocks(a..a + 1, b..b + 1)
    }

    /// The feature that a tool switches on, where no tool of the other body does.
    fn feature(&self, tool: Tool<'_>, others: &[Tool<'_>]) -> Option<&'static str> {
        let of = |tool: Tool<'_>| self.pair.provider.tool_feature(tool.view.bytes, tool.view.node);
        let feature = of(tool)?;
        others.iter().all(|other| of(*other) != Some(feature)).then_some(feature)
    }

    /// Web tools in one of the two only: they key less than other tools.
    fn toggled(&self) -> Vec<Found> {
        let gone = self.only_in_a().into_iter().map(|i| (self.a[i], &self.b, "A"));
        let come = self.only_in_b().into_iter().map(|j| (self.b[j], &self.a, "B"));
        let mut found: Vec<Found> = Vec::new();
        for (tool, others, side) in gone.chain(come) {
            let Some(feature) = self.feature(tool, others) else { continue };
            let cause = format!("the web tool `{}` is in {side} only", tool.name());
            let range = tool.index..tool.index + 1;
            let (a, b) = if side == "A" { (range, 0..0) } else { (0..0, range) };
            let end = self.pair.a.section(Section::Tools).1.len();
            let one = Found::new(Kind::WebToolToggled, Section::Tools.as_str(), end, cause);
            let mut one = one.at_blocks(self.pair, a, b);
            one.rule = self.pair.provider.key_rule(feature);
            found.push(one);
        }
        found
    }

    fn added(&self) -> Vec<Found> {
        let come = self.only_in_b().into_iter();
        let come = come.filter(|j| self.feature(self.b[*j], &self.a).is_none());
        runs(come).into_iter().map(|run| self.added_run(run)).collect()
    }

    fn added_run(&self, run: Range<usize>) -> Found {
        let cause = match run.len() {
            1 => format!("B offers a tool more: {}", names(&self.b[run.clone()])),
            more => format!("B offers {more} tools more: {}", names(&self.b[run.clone()])),
        };
        // It stands behind the tool before it, wherever that stands in A.
        let before: BTreeMap<usize, usize> = self.common.iter().map(|(i, j)| (*j, *i)).collect();
        let previous = before.range(..run.start).next_back();
        let position = previous.map_or(0, |(_, i)| self.a[*i].index + 1);
        let blocks = self.b[run.start].index..self.b[run.end - 1].index + 1;
        Found::new(Kind::ToolAdded, Section::Tools.as_str(), position, cause).at_blocks(
            self.pair,
            0..0,
            blocks,
        )
    }

    fn removed(&self) -> Vec<Found> {
        let gone = self.only_in_a().into_iter();
        let gone = gone.filter(|i| self.feature(self.a[*i], &self.b).is_none());
        runs(gone).into_iter().map(|run| self.removed_run(run)).collect()
    }

    fn removed_run(&self, run: Range<usize>) -> Found {
        let cause = match run.len() {
            1 => format!("B lacks a tool: {}", names(&self.a[run.clone()])),
            more => format!("B lacks {more} tools: {}", names(&self.a[run.clone()])),
        };
        let blocks = self.a[run.start].index..self.a[run.end - 1].index + 1;
        Found::new(Kind::ToolRemoved, Section::Tools.as_str(), blocks.start, cause).at_blocks(
            self.pair,
            blocks,
            0..0,
        )
    }

    /// One divergence for all tools that stand elsewhere, at the first place where the orders part.
    fn reordered(&self) -> Option<Found> {
        let mut sorted: Vec<usize> = self.common.iter().map(|(_, j)| *j).collect();
        sorted.sort_unstable();
        let first = self.common.iter().zip(&sorted).position(|((_, j), sorted)| j != sorted)?;
        let kept = rising(&self.common);
        let moved: Vec<Tool<'_>> = self
            .common
            .iter()
            .filter(|pair| kept.binary_search(pair).is_err())
            .map(|(i, _)| self.a[*i])
            .collect();
        let cause = format!(
            "{} of the {} tools in both stand{} elsewhere: {}",
            moved.len(),
            self.common.len(),
            if moved.len() == 1 { "s" } else { "" },
            names(&moved)
        );
        let (i, j) = (self.common[first].0, sorted[first]);
        let (a, b) = (self.a[i].index, self.b[j].index);
        let one = Found::new(Kind::ToolReordered, Section::Tools.as_str(), a, cause);
        Some(one.at_blocks(self.pair, a..a + 1, b..b + 1))
    }

    /// One divergence for each member of a definition that differs.
    fn changed(&self, i: usize, j: usize) -> Vec<Found> {
        let all = leaves(self.a[i].view, self.b[j].view, KeyOrder::Envelope);
        let mut members: BTreeMap<String, Vec<Leaf<'_>>> = BTreeMap::new();
        for leaf in all {
            let member = leaf.path_b.split('/').nth(1).unwrap_or_default().to_owned();
            members.entry(member).or_default().push(leaf);
        }
        let name = self.b[j].name();
        let one = |(member, leaves): (&String, &Vec<Leaf<'_>>)| {
            let leaf = leaves.first()?;
            let (flavour, words) = leaf_words(leaf);
            let only_order = leaves.iter().all(|leaf| leaf.shape == Shape::KeyOrder);
            let kind = match (member.as_str(), flavour) {
                (_, Flavour::Whitespace) => Kind::WhitespaceOnly,
                (_, Flavour::Unicode) => Kind::UnicodeNormalised,
                ("description", Flavour::Words) => Kind::ToolDescriptionChanged,
                ("input_schema", Flavour::Words) if only_order => Kind::ToolSchemaKeyOrder,
                ("input_schema", Flavour::Words) => Kind::ToolSchemaChanged,
                (_, Flavour::Words) => Kind::ToolAttributeChanged,
            };
            let what = match member.as_str() {
                "description" => format!("the description of the tool `{name}`"),
                "input_schema" => format!("the schema of the tool `{name}`"),
                other => format!("`{other}` of the tool `{name}`"),
            };
            let found = self.one(kind, format!("{what}: {words}"), (i, j), leaf);
            Some(found.and_more(leaves.len() - 1))
        };
        members.iter().filter_map(one).collect()
    }
}

/// Runs of neighbours in a rising list.
fn runs(places: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in places {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            Some(_) | None => runs.push(at..at + 1),
        }
    }
    runs
}

fn names(tools: &[Tool<'_>]) -> String {
    let shown = tools.iter().take(NAMES_MAX).map(|tool| format!("`{}`", cut(&tool.name(), 40)));
    let list = shown.collect::<Vec<_>>().join(", ");
    match tools.len().saturating_sub(NAMES_MAX) {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}
