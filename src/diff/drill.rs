//! The innermost places at which two values differ.

use super::body::View;
use crate::request::json::{Member, Node, Value, write_canonical};

/// Most places that are gathered of one pair of values.
const LEAVES_MAX: usize = 64;

/// Whether the order of an object's members matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrder {
    /// It never does: parameters.
    Free,
    /// Not in a block and in the blocks of its `content`; everywhere below it does.
    Envelope,
    /// It does: schemas and arguments.
    Kept,
}

/// What differs at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Two texts, from this character of the decoded string on.
    Text {
        /// Characters before the difference.
        char: usize,
    },
    /// Two values that are not both texts.
    Value,
    /// Members in another order.
    KeyOrder,
    /// Stands in B only.
    Added,
    /// Stands in A only.
    Removed,
    /// The same value under another name.
    Renamed,
}

/// One place at which two values differ.
#[derive(Clone, Debug)]
pub(super) struct Leaf<'a> {
    /// JSON pointer below the value in A (below its parent's place where it is added).
    pub(super) path_a: String,
    /// The same in B.
    pub(super) path_b: String,
    /// The value in A.
    pub(super) a: Option<View<'a>>,
    /// The value in B.
    pub(super) b: Option<View<'a>>,
    /// What differs.
    pub(super) shape: Shape,
}

/// The places at which two values differ, in their order, at most 64; none where they are equal.
pub(super) fn leaves<'a>(a: View<'a>, b: View<'a>, order: KeyOrder) -> Vec<Leaf<'a>> {
    let mut drill = Drill { leaves: Vec::new(), most: LEAVES_MAX };
    drill.values(a, b, order, Paths::default());
    drill.leaves
}

/// True where nothing differs.
fn same(a: View<'_>, b: View<'_>, order: KeyOrder) -> bool {
    if a.raw() == b.raw() {
        return true;
    }
    let mut drill = Drill { leaves: Vec::new(), most: 1 };
    drill.values(a, b, order, Paths::default());
    drill.leaves.is_empty()
}

/// Where a drill stands on both sides.
#[derive(Clone, Debug, Default)]
struct Paths {
    a: String,
    b: String,
}

impl Paths {
    fn step(&self, a: &str, b: &str) -> Paths {
        let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
        Paths { a: format!("{}/{}", self.a, escape(a)), b: format!("{}/{}", self.b, escape(b)) }
    }

    fn key(&self, key: &str) -> Paths {
        self.step(key, key)
    }

    fn index(&self, a: usize, b: usize) -> Paths {
        self.step(&a.to_string(), &b.to_string())
    }
}

struct Drill<'a> {
    leaves: Vec<Leaf<'a>>,
    most: usize,
}

impl<'a> Drill<'a> {
    fn push(&mut self, a: Option<View<'a>>, b: Option<View<'a>>, paths: Paths, shape: Shape) {
        if self.leaves.len() < self.most {
            self.leaves.push(Leaf { path_a: paths.a, path_b: paths.b, a, b, shape });
        }
    }

    fn values(&mut self, a: View<'a>, b: View<'a>, order: KeyOrder, paths: Paths) {
        if a.raw() == b.raw() || self.leaves.len() >= self.most {
            return;
        }
        match (&a.node.value, &b.node.value) {
            (Value::Object(x), Value::Object(y)) => match order {
                KeyOrder::Free | KeyOrder::Envelope => self.unordered(a, b, order, &paths),
                KeyOrder::Kept => self.ordered((a, x), (b, y), &paths),
            },
            (Value::Array(x), Value::Array(y)) => self.arrays((a, x), (b, y), order, &paths),
            (Value::String, Value::String) => self.strings(a, b, paths),
            _ => self.push(Some(a), Some(b), paths, Shape::Value),
        }
    }

    fn strings(&mut self, a: View<'a>, b: View<'a>, paths: Paths) {
        let (x, y) = (a.text().unwrap_or_default(), b.text().unwrap_or_default());
        if x != y {
            let char = x.chars().zip(y.chars()).take_while(|(x, y)| x == y).count();
            return self.push(Some(a), Some(b), paths, Shape::Text { char });
        }
        // Halves of surrogate pairs decode to the same replacement; their escapes tell them apart.
        let canonical = |view: View<'_>| {
            let mut out = Vec::new();
            write_canonical(&mut out, view.bytes, view.node);
            out
        };
        if canonical(a) != canonical(b) {
            self.push(Some(a), Some(b), paths, Shape::Value);
        }
    }

    /// Members by name, in the order of names; markers are not looked at.
    fn unordered(&mut self, a: View<'a>, b: View<'a>, order: KeyOrder, paths: &Paths) {
        let is_block = order == KeyOrder::Envelope;
        let mut keys: Vec<&str> = [a, b]
            .into_iter()
            .flat_map(|view| view.node.members())
            .map(|member| member.key.as_str())
            .filter(|key| !(is_block && *key == "cache_control"))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let paths = paths.key(key);
            match (a.get(key), b.get(key)) {
                (Some(x), Some(y)) => self.values(x, y, inner_order(order, key, x, y), paths),
                (Some(x), None) => self.push(Some(x), None, paths, Shape::Removed),
                (None, Some(y)) => self.push(None, Some(y), paths, Shape::Added),
                (None, None) => {}
            }
        }
    }

    /// Members in their order: where the names part, one is gone, or one has come, or both, or they
    /// stand in another order.
    fn ordered(
        &mut self,
        (a, x): (View<'a>, &'a [Member]),
        (b, y): (View<'a>, &'a [Member]),
        paths: &Paths,
    ) {
        let (mut i, mut j) = (0, 0);
        let mut reordered = false;
        let unknown = |member: Option<&Member>, other: View<'_>| {
            member.is_some_and(|member| other.node.get(&member.key).is_none())
        };
        while i < x.len() || j < y.len() {
            let (left, right) = (x.get(i), y.get(j));
            match (unknown(left, b), unknown(right, a), left, right) {
                (true, true, Some(m), Some(n)) => {
                    self.renamed(a.of(&m.node), b.of(&n.node), paths.step(&m.key, &n.key));
                    (i, j) = (i + 1, j + 1);
                }
                (true, _, Some(m), _) => {
                    self.push(Some(a.of(&m.node)), None, paths.key(&m.key), Shape::Removed);
                    i += 1;
                }
                (_, true, _, Some(n)) => {
                    self.push(None, Some(b.of(&n.node)), paths.key(&n.key), Shape::Added);
                    j += 1;
                }
                (_, _, Some(m), Some(n)) => {
                    if m.key != n.key && !reordered {
                        reordered = true;
                        self.push(Some(a), Some(b), paths.clone(), Shape::KeyOrder);
                    }
                    let same_place = (m.key == n.key).then(|| b.of(&n.node));
                    if let Some(value) = same_place.or_else(|| b.get(&m.key)) {
                        self.values(a.of(&m.node), value, KeyOrder::Kept, paths.key(&m.key));
                    }
                    (i, j) = (i + 1, j + 1);
                }
                // The same name more than once on one side.
                (_, _, _, _) => {
                    self.push(Some(a), Some(b), paths.clone(), Shape::Value);
                    return;
                }
            }
        }
    }

    fn renamed(&mut self, a: View<'a>, b: View<'a>, paths: Paths) {
        self.push(Some(a), Some(b), paths, Shape::Renamed);
    }

    /// Items between the equal head and the equal tail, one beside the other.
    fn arrays(
        &mut self,
        (a, x): (View<'a>, &'a [Node]),
        (b, y): (View<'a>, &'a [Node]),
        order: KeyOrder,
        paths: &Paths,
    ) {
        let equal = |(m, n): &(&'a Node, &'a Node)| same(a.of(m), b.of(n), order);
        let head = x.iter().zip(y).take_while(equal).count();
        let (rest_x, rest_y) = (&x[head..], &y[head..]);
        let tail = rest_x.iter().rev().zip(rest_y.iter().rev()).take_while(equal).count();
        let (in_x, in_y) = (rest_x.len() - tail, rest_y.len() - tail);
        for n in 0..in_x.max(in_y) {
            let at = head + n;
            match (rest_x[..in_x].get(n), rest_y[..in_y].get(n)) {
                (Some(m), Some(n)) => self.values(a.of(m), b.of(n), order, paths.index(at, at)),
                (Some(m), None) => {
                    self.push(Some(a.of(m)), None, paths.index(at, at), Shape::Removed);
                }
                (None, Some(n)) => {
                    self.push(None, Some(b.of(n)), paths.index(at, at), Shape::Added);
                }
                (None, None) => {}
            }
        }
    }
}

/// How the value of a member is compared: blocks lie in the `content` of a block.
fn inner_order(order: KeyOrder, key: &str, a: View<'_>, b: View<'_>) -> KeyOrder {
    let are_arrays = [a, b].iter().all(|view| matches!(view.node.value, Value::Array(_)));
    match order {
        KeyOrder::Free => KeyOrder::Free,
        KeyOrder::Envelope if key == "content" && are_arrays => KeyOrder::Envelope,
        KeyOrder::Envelope | KeyOrder::Kept => KeyOrder::Kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::json::parse;

    fn found(a: &str, b: &str, order: KeyOrder) -> Vec<(String, String, Shape)> {
        let (x, y) = (parse(a.as_bytes()).unwrap(), parse(b.as_bytes()).unwrap());
        let (x, y) =
            (View { bytes: a.as_bytes(), node: &x }, View { bytes: b.as_bytes(), node: &y });
        let leaves = leaves(x, y, order);
        leaves.into_iter().map(|leaf| (leaf.path_a, leaf.path_b, leaf.shape)).collect()
    }

    fn one(a: &str, b: &str, order: KeyOrder) -> (String, Shape) {
        let mut all = found(a, b, order);
        assert_eq!(all.len(), 1, "{all:?}");
        let (path_a, path_b, shape) = all.remove(0);
        assert_eq!(path_a, path_b);
        (path_a, shape)
    }

    #[test]
    fn texts_are_told_by_character_and_escapes_do_not_matter() {
        assert_eq!(found(r#""é/""#, r#""\u00e9\/""#, KeyOrder::Kept), []);
        let (path, shape) = one(r#"{"a":"éx"}"#, r#"{"a":"\u00e9y"}"#, KeyOrder::Kept);
        assert_eq!((path.as_str(), shape), ("/a", Shape::Text { char: 1 }));
        let (_, shape) = one(r#""\ud800""#, r#""\ud801""#, KeyOrder::Kept);
        assert_eq!(shape, Shape::Value);
    }

    #[test]
    fn key_order_matters_below_a_block_only() {
        let (a, b) = (r#"{"x":{"p":1,"q":2}}"#, r#"{"x":{"q":2,"p":1}}"#);
        assert_eq!(one(a, b, KeyOrder::Envelope), ("/x".to_owned(), Shape::KeyOrder));
        assert_eq!(found(a, b, KeyOrder::Free), []);
        let (a, b) = (r#"{"p":1,"q":[2]}"#, r#"{ "q":[ 2 ], "p":1, "cache_control":{"t":1}}"#);
        assert_eq!(found(a, b, KeyOrder::Envelope), []);
        assert_eq!(found(a, b, KeyOrder::Kept).len(), 2);
    }

    #[test]
    fn a_key_that_came_went_or_changed_its_name() {
        let kept = KeyOrder::Kept;
        assert_eq!(one(r#"{"a":1}"#, r#"{"a":1,"b":2}"#, kept), ("/b".to_owned(), Shape::Added));
        assert_eq!(one(r#"{"a":1,"b":2}"#, r#"{"b":2}"#, kept), ("/a".to_owned(), Shape::Removed));
        let renamed = found(r#"{"a":1,"c":3}"#, r#"{"b":1,"c":3}"#, kept);
        assert_eq!(renamed, [("/a".to_owned(), "/b".to_owned(), Shape::Renamed)]);
        assert_ne!(found(r#"{"a":1,"a":2}"#, r#"{"a":2}"#, kept), []);
        assert_eq!(found(r#"{"a":1,"a":2}"#, r#"{"a":1, "a":2}"#, kept), []);
    }

    #[test]
    fn an_item_in_the_middle_of_an_array_is_one_place() {
        let (path, shape) = one("[1,2,4]", "[1,2,3,4]", KeyOrder::Kept);
        assert_eq!((path.as_str(), shape), ("/2", Shape::Added));
        let (path, shape) = one(r#"[{"a":1},2]"#, r#"[{"a":3},2]"#, KeyOrder::Kept);
        assert_eq!((path.as_str(), shape), ("/0/a", Shape::Value));
    }
}
