//! Small timelines as plain values, and as the JSON lines that `forkcost replay` reads.

/// The rules that a timeline states; `None` leaves the documented default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) count: Option<&'static str>,
    pub(crate) lookback: Option<usize>,
    pub(crate) min_tokens: Option<u64>,
    pub(crate) longer_ttl_extends: Option<bool>,
    pub(crate) match_inside_runs: Option<bool>,
    pub(crate) refresh_earlier: Option<bool>,
    pub(crate) thinking_positions: Option<bool>,
    pub(crate) tool_positions: Option<&'static str>,
    pub(crate) ttl_in_key: Option<bool>,
    pub(crate) write_below_hit: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    System,
    Text,
    ToolUse,
    ToolResult,
    Thinking,
    Image,
}

/// Lifetimes, the longer one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ttl {
    FiveMinutes,
    OneHour,
}

impl Ttl {
    pub(crate) fn millis(self) -> i64 {
        match self {
            Ttl::FiveMinutes => 300_000,
            Ttl::OneHour => 3_600_000,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) id: String,
    pub(crate) tokens: u64,
    pub(crate) kind: Kind,
    pub(crate) marker: Option<Ttl>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) name: String,
    pub(crate) start_ms: i64,
    pub(crate) first_token_ms: i64,
    /// `None`: that of the header.
    pub(crate) model: Option<&'static str>,
    pub(crate) scope: String,
    /// JSON text of an object; empty where it is left out.
    pub(crate) params: &'static str,
    pub(crate) output: u64,
    pub(crate) blocks: Vec<Block>,
}

/// A timeline. Its requests stand in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    pub(crate) date: &'static str,
    pub(crate) rules: Rules,
    pub(crate) requests: Vec<Request>,
}

/// The model of requests that name none.
pub(crate) const MODEL: &str = "claude-opus-5";
/// Another model: another cache, another minimum.
pub(crate) const OTHER_MODEL: &str = "claude-haiku-4-5";

impl Timeline {
    /// As JSON lines.
    pub(crate) fn text(&self) -> String {
        let rules = self.rules.members().join(",");
        let date = self.date;
        let mut text = format!(
            "{{\"forkcost_timeline\":1,\"model\":\"{MODEL}\",\"date\":\"{date}\",\
             \"rules\":{{{rules}}}}}\n"
        );
        for request in &self.requests {
            request.write(&mut text);
        }
        text
    }
}

impl Rules {
    fn members(&self) -> Vec<String> {
        let word = |key: &str, value: Option<&str>| value.map(|it| format!("\"{key}\":\"{it}\""));
        let number = |key: &str, value: Option<u64>| value.map(|it| format!("\"{key}\":{it}"));
        let switch = |key: &str, value: Option<bool>| value.map(|it| format!("\"{key}\":{it}"));
        let members = [
            word("count", self.count),
            number("lookback", self.lookback.map(|positions| positions as u64)),
            number("min_tokens", self.min_tokens),
            switch("longer_ttl_extends", self.longer_ttl_extends),
            switch("match_inside_runs", self.match_inside_runs),
            switch("refresh_earlier", self.refresh_earlier),
            switch("thinking_positions", self.thinking_positions),
            word("tool_positions", self.tool_positions),
            switch("ttl_in_key", self.ttl_in_key),
            switch("write_below_hit", self.write_below_hit),
        ];
        members.into_iter().flatten().collect()
    }
}

impl Request {
    fn write(&self, text: &mut String) {
        let (start, first) = (seconds(self.start_ms), seconds(self.first_token_ms));
        text.push_str(&format!(
            "{{\"start_s\":{start},\"first_token_at_s\":{first},\"request\":\"{}\"",
            self.name
        ));
        if let Some(model) = self.model {
            text.push_str(&format!(",\"model\":\"{model}\""));
        }
        if !self.scope.is_empty() {
            text.push_str(&format!(",\"scope\":\"{}\"", self.scope));
        }
        if !self.params.is_empty() {
            text.push_str(&format!(",\"params\":{}", self.params));
        }
        if self.output > 0 {
            text.push_str(&format!(",\"output_tokens\":{}", self.output));
        }
        text.push_str(",\"blocks\":[");
        for (index, block) in self.blocks.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            block.write(text);
        }
        text.push_str("]}\n");
    }
}

impl Block {
    fn write(&self, text: &mut String) {
        let kind = match self.kind {
            Kind::Tool => "tool",
            Kind::System => "system",
            Kind::Text => "text",
            Kind::ToolUse => "tool_use",
            Kind::ToolResult => "tool_result",
            Kind::Thinking => "thinking",
            Kind::Image => "image",
        };
        let (id, tokens) = (&self.id, self.tokens);
        text.push_str(&format!("{{\"id\":\"{id}\",\"tokens\":{tokens},\"kind\":\"{kind}\""));
        match self.marker {
            Some(Ttl::FiveMinutes) => text.push_str(",\"marker\":\"5m\"}"),
            Some(Ttl::OneHour) => text.push_str(",\"marker\":\"1h\"}"),
            None => text.push('}'),
        }
    }
}

/// Seconds with three decimals, exactly.
fn seconds(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "" };
    let millis = millis.unsigned_abs();
    format!("{sign}{}.{:03}", millis / 1_000, millis % 1_000)
}
