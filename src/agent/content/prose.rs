//! Sentences: notes, tasks, rules, descriptions of tools.

use super::draw::Draw;
use super::words::expand;

/// What sentences are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// What was found in the code.
    Notes,
    /// What is to be done.
    Task,
    /// How to work.
    Rules,
    /// What a tool does.
    Tool,
}

const NOTES: &[&str] = &[
    "The ~noun~ in ~file~ still reads the ~adjective~ ~noun~ before the ~noun~ is closed.",
    "I traced the failure to `~function~`: it keeps a ~adjective~ ~noun~ after a ~noun~ error.",
    "Two callers of `~function~` expect the ~noun~ to be ~adjective~, the others do not care.",
    "A ~adjective~ ~noun~ reaches `~Type~` only when the ~noun~ was restarted in between.",
    "The tests cover the ~adjective~ case, but nothing checks ~area~ in ~directory~.",
    "Since the ~noun~ moved to ~directory~, the old ~noun~ has no owner and can be removed.",
    "With ~number~ rows in the ~noun~ the ~noun~ takes about ~number~ ms, most of it in `~camel~`.",
    "The limit of ~large~ comes from the ~noun~ of the ~noun~, not from the ~noun~ itself.",
    "If the ~noun~ is ~adjective~, `~function~` returns early and the ~noun~ is never updated.",
    "There is one more place to look at: ~file~ builds its own ~noun~ from the raw ~noun~.",
    "We agreed to keep ~area~ as it is and to change only how the ~noun~ reports a ~noun~.",
    "Line ~number~ of ~file~ compares the ~noun~ with a ~adjective~ copy and never matches.",
    "The commit ~hex~ renamed the ~noun~, and the ~noun~ for ~area~ was left behind.",
    "My guess is that the ~noun~ and the ~noun~ share a lock, which would explain ~area~.",
    "Reading ~file~ again, the ~noun~ is built once per ~noun~, which is ~digit~ times too often.",
    "Nothing else depends on `~Type~`, so its ~noun~ can become private.",
];
const TASKS: &[&str] = &[
    "Review ~area~ in ~directory~ and list each ~noun~ that a ~adjective~ ~noun~ can reach.",
    "Find every caller of `~function~` and say which of them pass a ~adjective~ ~noun~.",
    "Move the ~noun~ out of ~file~ and let the ~noun~ own it.",
    "Write a test that fails while the ~noun~ is ~adjective~ and passes once it is rebuilt.",
    "Look at ~file~ first, then at the ~noun~ that `~camel~` returns.",
    "Explain why the ~noun~ grows to ~large~ entries and propose the smallest remedy.",
    "Replace the ~adjective~ ~noun~ by a ~noun~ and keep ~area~ unchanged.",
    "Do not touch ~directory~: another task is changing the ~noun~ there.",
    "Report the file, the line and the ~noun~ for each finding, at most ~number~ lines in all.",
    "Measure `~function~` with ~large~ items before and after, and give both figures.",
    "Compare how ~file~ and ~file~ handle a ~adjective~ ~noun~, and pick one way.",
    "Stop as soon as the ~noun~ is ~adjective~ and say what is missing.",
    "Run only the tests under ~directory~; the full set takes ~number~ seconds.",
    "Treat a missing ~noun~ as an error with the name of the ~noun~ in its text.",
];
const RULES: &[&str] = &[
    "Read a file before you edit it, and keep its ~adjective~ parts as they are.",
    "Prefer the smallest change that fixes the ~noun~; leave ~area~ to its own task.",
    "Never guess the name of a ~noun~: search for it, then quote the line that defines it.",
    "When a command fails, show its last ~number~ lines and say what you will try next.",
    "Ask before you delete a ~noun~ that other people may still use.",
    "Names in code follow the ~noun~ around them; do not introduce a second word for a ~noun~.",
    "A test that needs the network is marked as such and does not run by default.",
    "Keep answers short: what changed, where, and what is still open about ~area~.",
    "Do not print a ~noun~ that may hold a secret, not even a ~adjective~ one.",
    "Independent calls go out together; a call that needs a result waits for it.",
    "If the ~noun~ and the ~noun~ disagree, trust the code and mention the difference.",
    "Commit only when asked, with one line that says what the user gets.",
    "Use absolute paths in calls, and paths relative to the project in answers.",
    "A plan has at most ~digit~ steps, each of which can be checked on its own.",
    "Long output belongs into a file under the ~noun~ directory, with a summary of ~digit~ lines.",
];
const TOOLS: &[&str] = &[
    "Returns at most ~large~ lines; a longer ~noun~ is cut and marked.",
    "Use it when the ~noun~ is known by name, not to explore ~area~.",
    "Fails with a message that names the ~noun~ if the ~noun~ is ~adjective~.",
    "The ~noun~ is resolved against the project's root and must exist.",
    "Several calls may run at once unless they change the same ~noun~.",
    "Without a ~noun~ it covers the whole project, which takes up to ~number~ seconds.",
    "The result lists each ~noun~ with its ~adjective~ state, newest first.",
    "It never changes a ~adjective~ ~noun~; call it again after an update to see the difference.",
    "Ask for a narrow ~noun~ rather than for everything: results count against the window.",
    "Values outside the allowed range are refused before the ~noun~ is opened.",
    "A ~adjective~ ~noun~ is reported as a warning and does not stop the call.",
    "Give the ~noun~ exactly as it stands in the ~noun~, including upper and lower case.",
];
const HEADINGS: &[&str] = &[
    "Before a change",
    "Working with files",
    "Running commands",
    "Answers",
    "Tests and checks",
    "Planning",
    "When something fails",
    "Names and style",
    "Other agents",
    "Safety",
];

/// Sentences on a topic, no template twice in a row.
struct Talk {
    templates: &'static [&'static str],
    last: usize,
}

impl Talk {
    fn new(topic: Topic) -> Talk {
        let templates = match topic {
            Topic::Notes => NOTES,
            Topic::Task => TASKS,
            Topic::Rules => RULES,
            Topic::Tool => TOOLS,
        };
        Talk { templates, last: 0 }
    }

    fn sentence(&mut self, draw: &mut Draw) -> String {
        let count = self.templates.len();
        self.last = (self.last + 1 + draw.below(count - 1)) % count;
        expand(draw, self.templates[self.last])
    }
}

/// Sentences on one line, each with the space before it.
pub(super) fn running(topic: Topic) -> impl FnMut(&mut Draw) -> String {
    let mut talk = Talk::new(topic);
    move |draw| format!(" {}", talk.sentence(draw))
}

/// Sentences in paragraphs of two to six.
pub(super) fn paragraphs(topic: Topic) -> impl FnMut(&mut Draw) -> String {
    let mut talk = Talk::new(topic);
    let mut left = 0;
    move |draw| {
        let first = left == 0;
        left = if first { draw.between(1, 5) } else { left - 1 };
        let space = if first { "" } else { " " };
        let end = if left == 0 { "\n\n" } else { "" };
        format!("{space}{}{end}", talk.sentence(draw))
    }
}

/// Lists of rules under headings.
pub(super) fn rules() -> impl FnMut(&mut Draw) -> String {
    let mut talk = Talk::new(Topic::Rules);
    let mut left = 0;
    move |draw| {
        if left == 0 {
            left = draw.between(3, 8);
            return format!("# {}\n\n", draw.word(HEADINGS));
        }
        left -= 1;
        let end = if left == 0 { "\n\n" } else { "\n" };
        format!("- {}{end}", talk.sentence(draw))
    }
}
