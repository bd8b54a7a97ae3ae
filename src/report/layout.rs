//! Plain text in columns and lines of a given width.

/// Columns padded to their widest cell: those in `left` to the left, the others to the right, with
/// three spaces between them, or fewer where that would be wider than `width` characters.
pub(crate) fn align(lines: &[Vec<String>], left: &[usize], width: usize) -> Vec<String> {
    let widths = widths(lines);
    let gap = [3, 2].into_iter().find(|gap| width_of(lines, *gap) <= width).unwrap_or(1);
    lines
        .iter()
        .map(|line| {
            let mut text = String::new();
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { 0 } else { gap };
                text.push_str(&match left.contains(&column) {
                    true => format!("{:gap$}{cell:<width$}", ""),
                    false => format!("{:gap$}{cell:>width$}", ""),
                });
            }
            text.truncate(text.trim_end().len());
            text
        })
        .collect()
}

/// The widest cell of each column.
fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.first().map_or(0, Vec::len);
    let widest = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    (0..columns).map(|column| widest(column).unwrap_or_default()).collect()
}

/// The width of a table in characters with `gap` spaces between its columns.
pub(crate) fn width_of(lines: &[Vec<String>], gap: usize) -> usize {
    let widths = widths(lines);
    widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1)
}

/// Divides the header into two lines, at the last space of each name.
pub(crate) fn break_header(lines: &mut Vec<Vec<String>>) {
    let header = lines.remove(0);
    let (upper, lower) = header
        .iter()
        .map(|name| name.rsplit_once(' ').unwrap_or(("", name)))
        .map(|(upper, lower)| (upper.to_owned(), lower.to_owned()))
        .unzip();
    lines.splice(0..0, [upper, lower]);
}

/// Text broken at spaces into lines of at most `width` characters; a longer word stands alone. A
/// unit stays with its figure, and runs of spaces, which separate figures, stay inside a line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let unit = word.starts_with('%') || ["TE", "TE,", "TE.", "B", "USD"].contains(&word);
        match words.last_mut() {
            Some(last) if unit => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) | None => words.push(word.to_owned()),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) | None => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &[&str]) -> Vec<String> {
        line.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn units_stay_with_their_figures() {
        assert_eq!(wrap("saves 29.47 % of it", 11), ["saves", "29.47 % of", "it"]);
        assert_eq!(wrap("a  b", 10), ["a  b"]);
        assert_eq!(wrap("incomprehensible", 4), ["incomprehensible"]);
    }

    #[test]
    fn columns_move_together_before_they_are_too_wide() {
        let lines = [cells(&["a", "bb", "c"]), cells(&["aa", "b", "ccc"])];
        assert_eq!(align(&lines, &[0, 2], 13), ["a    bb   c", "aa    b   ccc"]);
        assert_eq!(align(&lines, &[0, 2], 12), ["a   bb  c", "aa   b  ccc"]);
        assert_eq!(align(&lines, &[0, 2], 0), ["a  bb c", "aa  b ccc"]);
    }

    #[test]
    fn a_header_is_broken_at_its_last_space() {
        let mut lines = vec![cells(&["Input", "vs no cache"]), cells(&["x", "-"])];
        break_header(&mut lines);
        assert_eq!(lines[..2], [cells(&["", "vs no"]), cells(&["Input", "cache"])]);
        assert_eq!(width_of(&lines, 1), 11);
    }
}
