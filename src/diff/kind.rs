//! The kinds of divergence: a stable name for each, and what to do about it.

/// Declares the kinds: doc, variant, name, remedy.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident $name:literal $remedy:expr;)*) => {
        /// What kind of divergence it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $variant,)*
        }

        impl Kind {
            /// Every kind, in the order of the prompt.
            pub const ALL: &[Kind] = &[$(Kind::$variant,)*];

            /// Its stable name in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Kind::$variant => $name,)* }
            }

            /// What to do about it.
            pub fn remedy(self) -> &'static str {
                match self { $(Kind::$variant => $remedy,)* }
            }
        }
    };
}

const FREEZE_TOOLS: &str =
    "build the tools once per session and send their bytes again; offer late ones as deferred";
const THREAD_SYSTEM: &str =
    "send the rendered system prompt again as it was; what changes goes into the last message";
const APPEND: &str = "keep what was sent and append only; what is new goes behind the last message";
const KEEP_BYTES: &str = "store the bytes that were sent and send them again unparsed";
const FREEZE_PARAMETERS: &str =
    "send the parent's value in every request that is to read its cache";

kinds! {
    /// Another model.
    ModelChanged "model_changed" "caches are never shared between models; send the parent's";
    /// Thinking on, off, or with another budget.
    ThinkingChanged "thinking_changed" FREEZE_PARAMETERS;
    /// Another effort.
    EffortChanged "effort_changed" FREEZE_PARAMETERS;
    /// Another `tool_choice` or parallel switch.
    ToolChoiceChanged "tool_choice_changed" FREEZE_PARAMETERS;
    /// Another speed.
    SpeedChanged "speed_changed" FREEZE_PARAMETERS;
    /// Another format of structured output.
    OutputFormatChanged "output_format_changed" FREEZE_PARAMETERS;
    /// Other beta features.
    BetasChanged "betas_changed" "latch the set of betas for the session, also in children";
    /// Any other parameter.
    ParameterChanged "parameter_changed" FREEZE_PARAMETERS;
    /// Images in one of the two only.
    ImagesToggled "images_toggled" "keep one image in the prefix, or none, from the first request";
    /// Citations on in one of the two only.
    CitationsToggled "citations_toggled" "decide on citations before the first request";
    /// A web tool in one of the two only.
    WebToolToggled "web_tool_toggled" "decide on web tools before the first request";

    /// A tool more.
    ToolAdded "tool_added" FREEZE_TOOLS;
    /// A tool less.
    ToolRemoved "tool_removed" "keep the tool and refuse its calls, so that the array stays equal";
    /// The same tool under another name.
    ToolRenamed "tool_renamed" FREEZE_TOOLS;
    /// The same tools in another order.
    ToolReordered "tool_reordered" "sort the tools by name before sending";
    /// Another description.
    ToolDescriptionChanged "tool_description_changed"
        "keep what changes (dates, ids, rosters) out of descriptions";
    /// Another `input_schema`.
    ToolSchemaChanged "tool_schema_changed" "build schemas once per session; latch the flags";
    /// The same `input_schema` with its keys in another order.
    ToolSchemaKeyOrder "tool_schema_key_order" "serialise schemas with a fixed key order";
    /// Any other member of a tool.
    ToolAttributeChanged "tool_attribute_changed" FREEZE_TOOLS;

    /// Another text in a system block.
    SystemTextChanged "system_text_changed" THREAD_SYSTEM;
    /// A system block more.
    SystemBlockAdded "system_block_added" THREAD_SYSTEM;
    /// A system block less.
    SystemBlockRemoved "system_block_removed" THREAD_SYSTEM;
    /// The same text in more blocks.
    SystemBlockSplit "system_block_split" "cut the system prompt into the same blocks each time";
    /// The same text in fewer blocks.
    SystemBlockJoined "system_block_joined" "cut the system prompt into the same blocks each time";
    /// The same blocks in another order.
    SystemReordered "system_reordered" THREAD_SYSTEM;
    /// Any other member of a system block.
    SystemAttributeChanged "system_attribute_changed" THREAD_SYSTEM;

    /// Messages more, before the end.
    MessageInserted "message_inserted" APPEND;
    /// Messages less, in the middle.
    MessageRemoved "message_removed" APPEND;
    /// The beginning or the end of the conversation is gone.
    HistoryTruncated "history_truncated"
        "send the whole history, or cut it once and write the rest anew";
    /// Several messages make way for others.
    HistoryReplaced "history_replaced"
        "compact rarely and at once; what follows pays one write of the summary";
    /// Another text in a message.
    MessageEdited "message_edited" APPEND;
    /// The same message from another speaker.
    MessageRoleChanged "message_role_changed" KEEP_BYTES;
    /// One message became several.
    MessageSplit "message_split" "send all results and the text of a turn in one user message";
    /// Several messages became one.
    MessageJoined "message_joined" KEEP_BYTES;
    /// The same messages or blocks at another place.
    BlockMoved "block_moved" "leave blocks where they were first sent";
    /// The same blocks of a message in another order.
    BlocksReordered "blocks_reordered" "send the blocks of a message in their first order";
    /// Blocks more, inside a message.
    BlockInserted "block_inserted" APPEND;
    /// Blocks less, inside a message.
    BlockRemoved "block_removed" APPEND;
    /// A block of another kind.
    BlockReplaced "block_replaced" KEEP_BYTES;
    /// Any other difference inside a block.
    BlockChanged "block_changed" KEEP_BYTES;
    /// The same text in more blocks of a message.
    TextSplit "text_split" KEEP_BYTES;
    /// The same text in fewer blocks of a message.
    TextJoined "text_joined" KEEP_BYTES;
    /// A tool call more, inside a message.
    ToolCallAdded "tool_call_added" "clone the assistant message whole, with all its calls";
    /// A tool call less, inside a message.
    ToolCallRemoved "tool_call_removed" "clone the assistant message whole, with all its calls";
    /// Other arguments, or another tool called.
    ToolCallChanged "tool_call_changed" KEEP_BYTES;
    /// The same arguments with their keys in another order.
    ToolInputKeyOrder "tool_input_key_order"
        "keep the arguments as the model wrote them; do not parse and write them again";
    /// Another id of a call.
    ToolCallIdChanged "tool_call_id_changed" "keep the ids of calls; never make them anew";
    /// A result more.
    ResultAdded "result_added" APPEND;
    /// A result less.
    ResultRemoved "result_removed" APPEND;
    /// Another content of a result.
    ResultChanged "result_changed"
        "give every child the same constant placeholder; keep old results as they were sent";
    /// The content of a result as text in one, as blocks in the other.
    ResultShapeChanged "result_shape_changed" "write the content of results in one shape";
    /// The same results in another order.
    ResultOrderChanged "result_order_changed"
        "order results by the calls they answer, not by when they finished";
    /// `is_error` in one of the two only, or with another value.
    ResultErrorChanged "result_error_changed" "leave `is_error` out where it is false, always";
    /// An image more.
    ImageAdded "image_added" APPEND;
    /// An image less, or text in its place.
    ImageRemoved "image_removed" "keep images as long as the messages around them";
    /// Another image.
    ImageChanged "image_changed" "encode an image once and keep its bytes";
    /// Another document.
    DocumentChanged "document_changed" "encode a document once and keep its bytes";
    /// Reasoning more.
    ThinkingAdded "thinking_added" KEEP_BYTES;
    /// Reasoning less.
    ThinkingDropped "thinking_dropped"
        "clone the assistant message with its thinking blocks and their signatures";
    /// Other reasoning, or another signature.
    ThinkingEdited "thinking_edited"
        "clone the assistant message with its thinking blocks and their signatures";

    /// The same text in another Unicode form or with other typographic signs.
    UnicodeNormalised "unicode_normalised" "send the characters as they are; normalise nothing";
    /// The same text with other white space.
    WhitespaceOnly "whitespace_only" "do not trim or reflow what was sent";
}

impl serde::Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
