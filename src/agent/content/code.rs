//! Code in three languages, and changes to it, line by line.

use std::collections::VecDeque;

use super::draw::Draw;
use super::words::expand;

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Rust.
    Rust,
    /// TypeScript.
    TypeScript,
    /// Python.
    Python,
}

const RUST: &[&str] = &[
    "pub fn ~function~(~noun~: &~Type~, limit: usize) -> Result<Vec<~Type~>, ~Type~Error> {
    let mut found = Vec::with_capacity(limit.min(~number~));
    for ~noun~ in ~2~.iter().take(limit) {
        if ~5~.is_~adjective~() {
            return Err(~4~Error::~Noun~ { at: found.len() });
        }
        found.push(~5~.~function~()?);
    }
    Ok(found)
}

",
    "#[derive(Clone, Debug, PartialEq)]
pub struct ~Type~ {
    pub ~noun~: Option<String>,
    pub ~stem~: u64,
    ~adjective~: Vec<~Type~>,
}

impl ~1~ {
    pub fn ~function~(&mut self, value: u64) -> u64 {
        self.~3~ = self.~3~.saturating_add(value).min(~large~);
        self.~3~
    }
}

",
    "#[test]
fn ~function~_keeps_the_~adjective~_~noun~() {
    let ~noun~ = ~Type~::with_limit(~number~);
    let result = ~4~.~1~(&[~digit~, ~number~, ~number~]);
    assert_eq!(result.len(), ~7~);
    assert!(!~4~.is_~2~(), \"~3~ after ~1~\");
}

",
];
const TYPESCRIPT: &[&str] = &[
    "export async function ~camel~(~noun~: ~Type~, signal?: AbortSignal): Promise<~Type~[]> {
  const response = await fetch(`api/~noun~/${~2~.id}?limit=~number~`, { signal });
  if (!response.ok) {
    throw new ~4~Error(`~adjective~ ~noun~: ${response.status}`);
  }
  const rows = (await response.json()) as ~4~[];
  return rows.filter((row) => row.~noun~ !== null);
}

",
    "interface ~Type~ {
  id: string;
  ~noun~: ~Type~ | null;
  ~camel~: (value: number) => void;
  state: '~label~' | '~label~';
}

",
    "describe('~camel~', () => {
  it('returns the ~adjective~ ~noun~', async () => {
    const ~noun~ = make~Type~({ limit: ~number~ });
    expect(await ~1~(~4~)).toHaveLength(~digit~);
  });
});

",
];
const PYTHON: &[&str] = &[
    "def ~function~(~noun~: ~Type~, limit: int = ~number~) -> list[~Type~]:
    rows = []
    for ~noun~ in ~2~.~stem~[:limit]:
        if ~6~.~adjective~:
            raise ValueError(f\"~8~ ~noun~: {~6~!r}\")
        rows.append(~6~.~function~())
    return rows


",
    "@dataclass(frozen=True)
class ~Type~:
    ~noun~: str
    ~stem~: int = ~large~
    ~adjective~: bool = False

    def ~function~(self) -> str:
        return f\"{self.~2~}:{self.~3~}\"


",
    "def test_~function~_with_~adjective~_~noun~(tmp_path):
    ~noun~ = ~Type~(tmp_path / \"~stem~.json\")
    assert ~4~.~1~(~digit~) == ~number~
    with pytest.raises(KeyError):
        ~4~.~1~(-~digit~)


",
];

/// Lines of code, each with its line break and the blank lines behind it.
pub(super) fn lines(language: Language) -> impl FnMut(&mut Draw) -> String {
    let templates = match language {
        Language::Rust => RUST,
        Language::TypeScript => TYPESCRIPT,
        Language::Python => PYTHON,
    };
    let mut queue: VecDeque<String> = VecDeque::new();
    move |draw| {
        if queue.is_empty() {
            let template = draw.word(templates);
            queue.extend(split_lines(&expand(draw, template)));
        }
        queue.pop_front().unwrap_or_default()
    }
}

/// Lines with the number of each before it, as a reader of files shows them.
pub(super) fn numbered(language: Language) -> impl FnMut(&mut Draw) -> String {
    let mut lines = lines(language);
    let mut number = 0;
    move |draw| {
        if number == 0 {
            number = draw.between(1, 400);
        }
        let line = lines(draw);
        let shown = format!("{number:>5}\t{}\n", line.trim_end());
        number += line.matches('\n').count();
        shown
    }
}

/// Lines as they stand inside a JSON string.
pub(super) fn escaped(language: Language) -> impl FnMut(&mut Draw) -> String {
    let mut lines = lines(language);
    move |draw| escape(&lines(draw))
}

/// A change of several files.
pub(super) fn diff(language: Language) -> impl FnMut(&mut Draw) -> String {
    let mut lines = lines(language);
    let mut left = 0;
    move |draw| {
        if left == 0 {
            left = draw.between(6, 24);
            return expand(
                draw,
                "diff --git a/~file~ b/~1~\nindex ~hex~..~hex~ 100644\n--- a/~1~\n+++ b/~1~\n\
                 @@ -~number~,~digit~ +~number~,~digit~ @@ ~function~\n",
            );
        }
        left -= 1;
        let mark = *draw.pick(&[' ', ' ', ' ', '+', '+', '-']);
        format!("{mark}{}\n", lines(draw).trim_end())
    }
}

/// The text as it stands between the quotes of a JSON string.
pub(super) fn escape(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn split_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        match lines.last_mut() {
            Some(last) if line == "\n" => last.push('\n'),
            Some(_) | None => lines.push(line.to_owned()),
        }
    }
    lines
}
