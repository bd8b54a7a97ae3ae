//! A scenario made without a file, for laws that vary its parts.

use forkcost::fork::gate::Session;
use forkcost::fork::guard::Scan;
use forkcost::fork::limits::Limits;
use forkcost::fork::{CloneShape, ResultShape};
use forkcost::provider::anthropic::Anthropic;
use forkcost::provider::rules::documented_rules;
use forkcost::provider::{anthropic_facts, find_model};
use forkcost::request::MarkerPolicy;
use forkcost::scenario::{
    BoilerplateSpec, DirectiveSpec, DispatchSize, DispatchSpec, ForkSpec, FreshSpec, GateSpec,
    HistorySpec, Order, ParentCache, ParentPrompt, ParentSpec, ParentState, PlaceholderSpec,
    Scenario, Schedule, SystemSpec, ToolsSpec,
};
use forkcost::tokens::TokenizerSpec;
use forkcost::units::CacheTtl;

/// The golden scenario: five children of a warm parent.
pub(crate) fn golden() -> Scenario {
    let facts = anthropic_facts();
    let model = find_model(facts, "claude-opus-5").unwrap();
    Scenario {
        name: "golden".to_owned(),
        title: "golden".to_owned(),
        source_hash: String::new(),
        provider: &Anthropic,
        model,
        model_name: model.id.clone(),
        date: facts.checked,
        seed: 7,
        tokenizer: TokenizerSpec::parse("o200k_base").unwrap(),
        correction: None,
        parent: ParentSpec {
            prompt: ParentPrompt::Parts {
                tools: ToolsSpec::Sized { count: 41, tokens: 12_000 },
                system: SystemSpec::Sized { tokens: 4_000 },
                history: HistorySpec::Sized { tokens: 30_000, turns: 12 },
            },
            dispatch: DispatchSpec {
                size: DispatchSize::PerCall(400),
                thinking_blocks: 0,
                text_blocks: 0,
            },
            cache: ParentCache {
                state: ParentState::Warm,
                age_ms: 40_000,
                ttl: CacheTtl::FiveMinutes,
            },
        },
        fork: ForkSpec {
            children: 5,
            directive: DirectiveSpec::Sized(200),
            boilerplate: BoilerplateSpec::None,
            placeholder: PlaceholderSpec::Sized(100),
            results: ResultShape::Array,
            clone: CloneShape::Full,
            policy: MarkerPolicy::CcTail,
            ttl: CacheTtl::FiveMinutes,
        },
        gate: GateSpec {
            session: Session::default(),
            query_source: "repl_main_thread".to_owned(),
            scan: Scan::Structural,
        },
        limits: Limits::default(),
        schedule: Schedule {
            order: Order::Simultaneous,
            first_token_latency_ms: 2_000,
            request_ms: 20_000,
        },
        rules: documented_rules(facts, model, facts.checked),
        rule_overrides: Vec::new(),
        fresh: FreshSpec { prompt_tokens: Some(1_000), same_type: true },
        expect: Vec::new(),
        places: forkcost::scenario::Places::default(),
    }
}
