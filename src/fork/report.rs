//! Reads the reports that children write by the rules text.

use std::fmt;

/// Most words of a report.
pub const WORDS_MAX: usize = 500;

/// The fields of a report, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The directive in one sentence.
    Scope,
    /// What was found out or done.
    Result,
    /// Paths that matter.
    KeyFiles,
    /// Paths and the commit's hash.
    FilesChanged,
    /// What is open or went wrong.
    Issues,
}

impl Field {
    /// All, in the order of the report.
    pub const ALL: [Field; 5] =
        [Field::Scope, Field::Result, Field::KeyFiles, Field::FilesChanged, Field::Issues];

    /// The words at the start of its line.
    pub fn label(self) -> &'static str {
        match self {
            Field::Scope => "Scope",
            Field::Result => "Result",
            Field::KeyFiles => "Key files",
            Field::FilesChanged => "Files changed",
            Field::Issues => "Issues",
        }
    }

    fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// One child's report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The line of the text it starts in, counted from 1.
    pub line: usize,
    /// What is not as the rules ask, in the order of the lines.
    pub faults: Vec<Fault>,
    fields: [Option<String>; 5],
}

/// What is not as the rules ask.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Text stands before the scope line.
    #[error("line {line}: text before the Scope line")]
    Preamble {
        /// The line it starts in.
        line: usize,
    },
    /// A field comes twice; the second is read as text of the field before it.
    #[error("line {line}: {field} comes twice")]
    Repeated {
        /// The field.
        field: Field,
        /// The line of the second.
        line: usize,
    },
    /// A field stands behind one that should follow it.
    #[error("line {line}: {field} stands behind {behind}")]
    OutOfOrder {
        /// The field.
        field: Field,
        /// The one before it.
        behind: Field,
        /// Its line.
        line: usize,
    },
    /// A field is not there.
    #[error("{0} is missing")]
    Missing(Field),
    /// A field says nothing.
    #[error("{0} is empty")]
    Empty(Field),
    /// There are too many words.
    #[error("{words} words, and {WORDS_MAX} are allowed")]
    TooLong {
        /// How many there are.
        words: usize,
    },
}

impl Report {
    /// What `field` says, without the space around it.
    pub fn field(&self, field: Field) -> Option<&str> {
        self.fields[field.index()].as_deref()
    }

    /// Whether it is as the rules ask.
    pub fn is_well_formed(&self) -> bool {
        self.faults.is_empty()
    }
}

/// The reports in `text`, one behind the other. A scope line starts the next one. Text without any
/// report gives one that says what it lacks; text of nothing but space gives none.
pub fn reports(text: &str) -> Vec<Report> {
    let mut found: Vec<Open> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let labelled = labelled(line);
        let starts = labelled.is_some_and(|(field, _)| field == Field::Scope);
        match (found.last_mut(), labelled) {
            // What stands before the first scope line belongs to the report that it starts.
            (Some(open), Some((field, value))) if !starts || open.only_preamble() => {
                open.begin(field, value, number);
            }
            (Some(open), None) => open.go_on(line, number),
            (None, None) if line.trim().is_empty() => {}
            (None, _) | (_, Some(_)) => {
                let mut open = Open::at(number);
                match labelled {
                    Some((field, value)) => open.begin(field, value, number),
                    None => open.go_on(line, number),
                }
                found.push(open);
            }
        }
    }
    found.into_iter().map(Open::close).collect()
}

/// A report that is being read.
struct Open {
    report: Report,
    last: Option<Field>,
    words: usize,
}

impl Open {
    fn at(line: usize) -> Open {
        Open { report: Report { line, ..Report::default() }, last: None, words: 0 }
    }

    fn only_preamble(&self) -> bool {
        self.last.is_none()
    }

    fn begin(&mut self, field: Field, value: &str, line: usize) {
        self.words += field.label().split(' ').count();
        if self.report.field(field).is_some() {
            self.report.faults.push(Fault::Repeated { field, line });
            return self.go_on(value, line);
        }
        if let Some(behind) = self.last.filter(|last| last.index() > field.index()) {
            self.report.faults.push(Fault::OutOfOrder { field, behind, line });
        }
        self.report.fields[field.index()] = Some(String::new());
        self.last = Some(field);
        self.go_on(value, line);
    }

    fn go_on(&mut self, text: &str, line: usize) {
        self.words += text.split_whitespace().count();
        let Some(field) = self.last else {
            if !text.trim().is_empty() && self.report.faults.is_empty() {
                self.report.faults.push(Fault::Preamble { line });
            }
            return;
        };
        if let Some(value) = &mut self.report.fields[field.index()] {
            value.push_str(text);
            value.push('\n');
        }
    }

    fn close(mut self) -> Report {
        for field in Field::ALL {
            let value = &mut self.report.fields[field.index()];
            let fault = match value {
                None => Some(Fault::Missing(field)),
                Some(text) => {
                    *text = text.trim().to_owned();
                    text.is_empty().then_some(Fault::Empty(field))
                }
            };
            self.report.faults.extend(fault);
        }
        if self.words > WORDS_MAX {
            self.report.faults.push(Fault::TooLong { words: self.words });
        }
        self.report
    }
}

/// The field that a line starts, and the rest of the line. Models also write labels in bold or as
/// headings.
fn labelled(line: &str) -> Option<(Field, &str)> {
    let plain = line.trim_start_matches(['#', '*', ' ']);
    Field::ALL.into_iter().find_map(|field| {
        let label = field.label();
        let start = plain.get(..label.len()).filter(|start| start.eq_ignore_ascii_case(label))?;
        let rest = plain[start.len()..].trim_start_matches('*').strip_prefix(':')?;
        Some((field, rest.strip_prefix("**").unwrap_or(rest)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::boilerplate::STANDARD;
    use proptest::prelude::*;

    const GOOD: &str = "Scope: count the tests\nResult: there are 12\nin three files\n\
        Key files: tests/a.rs (most)\nFiles changed: none\nIssues: none\n";

    fn one(text: &str) -> Report {
        let [report] = &reports(text)[..] else { panic!("one report: {:?}", reports(text)) };
        report.clone()
    }

    #[test]
    fn the_fields_are_those_that_the_rules_ask_for_in_their_order() {
        let asked: Vec<&str> = STANDARD
            .lines()
            .filter_map(|line| line.split_once(':').map(|(label, _)| label))
            .filter(|label| Field::ALL.iter().any(|field| field.label() == *label))
            .collect();
        assert_eq!(asked, Field::ALL.map(Field::label));
        assert!(STANDARD.contains(&format!("below {WORDS_MAX} words")));
    }

    #[test]
    fn a_good_report_is_read_whole() {
        let report = one(GOOD);
        assert!(report.is_well_formed(), "{:?}", report.faults);
        assert_eq!(report.field(Field::Scope), Some("count the tests"));
        assert_eq!(report.field(Field::Result), Some("there are 12\nin three files"));
        assert_eq!(report.field(Field::Issues), Some("none"));
    }

    #[test]
    fn several_reports_are_read_at_once_and_only_the_bad_one_is_faulted() {
        let text = format!("{GOOD}\n{}{GOOD}", GOOD.replace("Issues: none\n", ""));
        let found = reports(&text);
        let lines: Vec<usize> = found.iter().map(|report| report.line).collect();
        assert_eq!(lines, [1, 8, 13]);
        assert_eq!(found[1].faults, [Fault::Missing(Field::Issues)]);
        assert!(found[0].is_well_formed() && found[2].is_well_formed());
    }

    #[test]
    fn each_fault_has_its_name_and_line() {
        let early = one(&format!("Here is my report.\n{GOOD}"));
        assert_eq!(early.faults, [Fault::Preamble { line: 1 }]);
        let twice = one(&GOOD.replace("Key files", "Result: more\nKey files"));
        assert_eq!(twice.faults, [Fault::Repeated { field: Field::Result, line: 4 }]);
        assert_eq!(twice.field(Field::Result), Some("there are 12\nin three files\n more"));
        let swapped = one("Scope: a\nKey files: b\nResult: c\nFiles changed: d\nIssues: e");
        let (field, behind) = (Field::Result, Field::KeyFiles);
        assert_eq!(swapped.faults, [Fault::OutOfOrder { field, behind, line: 3 }]);
        assert_eq!(
            one(&GOOD.replace("there are 12\nin three files", "")).faults,
            [Fault::Empty(Field::Result)]
        );
        let long = one(&GOOD.replace("there are 12", &"word ".repeat(WORDS_MAX)));
        let words = GOOD.split_whitespace().count() - 3 + WORDS_MAX;
        assert_eq!(long.faults, [Fault::TooLong { words }]);
    }

    #[test]
    fn bold_labels_and_headings_are_labels() {
        let bold = GOOD.replace("Scope:", "**Scope:**").replace("Result:", "## result:");
        let report = one(&bold.replace("Issues:", "**Issues**:"));
        assert!(report.is_well_formed(), "{:?}", report.faults);
        assert_eq!(report.field(Field::Issues), Some("none"));
    }

    #[test]
    fn prose_is_one_report_that_lacks_everything_and_space_is_none() {
        let report = one("Done, it works.");
        let missing = Field::ALL.map(Fault::Missing);
        assert_eq!(report.faults[0], Fault::Preamble { line: 1 });
        assert_eq!(report.faults[1..], missing);
        assert_eq!(reports(" \n\n"), []);
    }

    fn fields() -> impl Strategy<Value = [String; 5]> {
        prop::array::uniform5("[a-z][a-z :*#\n]{0,30}[a-z]")
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            values in prop::collection::vec(fields(), 1..4),
        ) {
            let says_no_label = |text: &String| text.lines().all(|line| labelled(line).is_none());
            prop_assume!(values.iter().flatten().all(says_no_label));
            let write = |fields: &[String; 5]| -> String {
                let lines = Field::ALL.iter().zip(fields);
                lines.map(|(field, text)| format!("{field}: {text}\n")).collect()
            };
            let text: String = values.iter().map(write).collect();
            let found = reports(&text);
            prop_assert_eq!(found.len(), values.len());
            for (report, fields) in found.iter().zip(&values) {
                prop_assert!(report.is_well_formed(), "{:?}", report.faults);
                for (field, text) in Field::ALL.into_iter().zip(fields) {
                    prop_assert_eq!(report.field(field), Some(text.as_str()));
                }
            }
        }

        #[test]
        fn no_text_is_too_odd(
            text in "(?s)((Scope|Result|\\*\\*Key files\\*\\*|é):? ?|.{0,9}|\n){0,20}",
        ) {
            let found = reports(&text);
            prop_assert_eq!(found.is_empty(), text.trim().is_empty());
        }
    }
}
