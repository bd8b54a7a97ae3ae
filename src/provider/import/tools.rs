//! Tool definitions in the shapes that real systems use.

use super::source::{ImportError, Source};
use crate::request::json::{Node, Value};
use crate::request::{RawJson, Tool};

/// Whose words a definition uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `input_schema`; attributes of any name belong to the definition.
    Messages,
    /// `inputSchema`; annotations are for the client and never reach the model.
    Mcp,
    /// `parameters`.
    Function,
}

impl Shape {
    fn schema_key(self) -> &'static str {
        match self {
            Shape::Messages => "input_schema",
            Shape::Mcp => "inputSchema",
            Shape::Function => "parameters",
        }
    }
}

/// Reads tool definitions: an array of them, or an object with `tools` (a request body, a recorded
/// call, an MCP `tools/list` result). A request body without tools gives none.
///
/// A definition may have the shape of the Messages API, of MCP (`inputSchema`; its `title`,
/// `annotations` and `outputSchema` are dropped, since no harness sends them to a model), or of
/// OpenAI (`function` with `parameters`).
///
/// # Errors
/// Where the text is not JSON or a definition has none of these shapes, with its place.
pub fn tools(json: &str) -> Result<Vec<Tool>, ImportError> {
    let source = Source::parse(json)?;
    let Some(list) = source.part("tools")? else { return Ok(Vec::new()) };
    if !matches!(list.value, Value::Array(_)) {
        let kind = source.kind(list);
        return Err(source.error(list, format!("tools must be an array, got {kind}")));
    }
    list.items().iter().map(|item| tool(&source, item)).collect()
}

fn tool(source: &Source<'_>, item: &Node) -> Result<Tool, ImportError> {
    if !matches!(item.value, Value::Object(_)) {
        let kind = source.kind(item);
        return Err(source.error(item, format!("a tool must be an object, got {kind}")));
    }
    let (shape, definition) = shape(source, item);
    let name = source.required(definition, "a tool", "name")?;
    let description = match definition.get("description") {
        Some(text) if !source.is_null(text) => Some(source.text(text).ok_or_else(|| {
            let kind = source.kind(text);
            source.error(text, format!("`description` of a tool must be a string, got {kind}"))
        })?),
        Some(_) | None => None,
    };
    let input_schema = match definition.get(shape.schema_key()) {
        Some(schema) if matches!(schema.value, Value::Object(_)) => Some(source.raw_json(schema)?),
        Some(other) => {
            let (key, kind) = (shape.schema_key(), source.kind(other));
            return Err(source.error(other, format!("`{key}` must be an object, got {kind}")));
        }
        None => None,
    };
    Ok(Tool { name, description, input_schema, more: more(source, shape, definition)? })
}

fn shape<'n>(source: &Source<'_>, item: &'n Node) -> (Shape, &'n Node) {
    let function = source.string(item, "type").is_some_and(|word| word == "function");
    match item.get("function") {
        Some(inner) if function => (Shape::Function, inner),
        Some(_) | None if function => (Shape::Function, item),
        Some(_) | None if item.get("inputSchema").is_some() => (Shape::Mcp, item),
        Some(_) | None => (Shape::Messages, item),
    }
}

fn more(
    source: &Source<'_>,
    shape: Shape,
    definition: &Node,
) -> Result<Vec<(String, RawJson)>, ImportError> {
    let own = |key: &str| {
        let read = ["name", "description", "cache_control", shape.schema_key()].contains(&key);
        let is_tag = shape == Shape::Function && key == "type";
        !(read || is_tag)
    };
    if shape == Shape::Mcp {
        return Ok(Vec::new());
    }
    let members = definition.members().iter().filter(|member| own(&member.key));
    members.map(|member| Ok((member.key.clone(), source.raw_json(&member.node)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_keeps_its_bytes_and_further_attributes_their_order() {
        let json = r#"[{"strict": true, "name":"a", "description":"d",
            "input_schema":{ "z":1 , "a":[1.0]}, "cache_control":{"type":"ephemeral"},
            "defer_loading":false}]"#;
        let tools = tools(json).unwrap();
        let schema = tools[0].input_schema.as_ref().unwrap();
        assert_eq!(schema.as_str(), r#"{ "z":1 , "a":[1.0]}"#);
        let more = tools[0].more.iter().map(|(key, raw)| (key.as_str(), raw.as_str()));
        assert_eq!(more.collect::<Vec<_>>(), [("strict", "true"), ("defer_loading", "false")]);
    }

    #[test]
    fn three_shapes_of_one_tool_agree() {
        let plain = r#"[{"name":"a","description":"d","input_schema":{"type":"object"}}]"#;
        let others = [
            r#"{"tools":[{"name":"a","description":"d","inputSchema":{"type":"object"},
                "annotations":{"readOnlyHint":true}}]}"#,
            r#"[{"type":"function","function":{"name":"a","description":"d",
                "parameters":{"type":"object"}}}]"#,
            r#"[{"type":"function","name":"a","description":"d",
                "parameters":{"type":"object"}}]"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","description":"d",
                "inputSchema":{"type":"object"}}]}}"#,
        ];
        for other in others {
            assert_eq!(tools(other).unwrap(), tools(plain).unwrap(), "{other}");
        }
    }

    #[test]
    fn a_body_without_tools_has_none() {
        assert_eq!(tools(r#"{"messages":[]}"#).unwrap(), []);
        assert_eq!(tools(r#"{"tools":null}"#).unwrap(), []);
    }

    #[test]
    fn errors_name_the_place() {
        let error = tools("[{\"name\":\"a\"},\n {\"description\":\"d\"}]").unwrap_err();
        assert_eq!((error.line, error.column, error.pointer.as_str()), (2, 2, "/1"));
        assert_eq!(
            error.to_string(),
            "line 2, column 2 (/1): a tool must have `name`, and it is missing"
        );
        assert_eq!(tools(" \n").unwrap_err().message, "the file is empty");
        assert!(tools("[1").unwrap_err().message.starts_with("not JSON: the text ends early"));
        assert!(tools("{\"a\":1}").unwrap_err().message.contains("`tools`"));
        assert!(tools("[3]").unwrap_err().message.contains("got a number"));
        let schema = tools(r#"[{"name":"a","input_schema":"x"}]"#).unwrap_err();
        assert_eq!(schema.pointer, "/0/input_schema");
    }
}
