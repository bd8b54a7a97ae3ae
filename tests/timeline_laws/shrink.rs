//! Makes a timeline smaller while a law still fails for it.

use crate::timeline::{Rules, Timeline};

/// Tries every single step, again and again, until none of them leaves a failure.
pub(crate) fn smallest(start: Timeline, mut fails: impl FnMut(&Timeline) -> bool) -> Timeline {
    let mut small = start;
    while let Some(smaller) = steps(&small).into_iter().find(&mut fails) {
        small = smaller;
    }
    small
}

fn steps(timeline: &Timeline) -> Vec<Timeline> {
    let mut steps = Vec::new();
    let mut push = |change: &dyn Fn(&mut Timeline)| {
        let mut changed = timeline.clone();
        change(&mut changed);
        if changed != *timeline {
            steps.push(changed);
        }
    };
    for request in 0..timeline.requests.len() {
        push(&|it| drop(it.requests.remove(request)));
    }
    for (request, it) in timeline.requests.iter().enumerate() {
        for block in 0..it.blocks.len() {
            push(&|it| drop(it.requests[request].blocks.remove(block)));
            push(&|it| it.requests[request].blocks[block].marker = None);
        }
        push(&|it| it.requests[request].params = "");
        push(&|it| it.requests[request].scope.clear());
        push(&|it| it.requests[request].model = None);
        push(&|it| it.requests[request].output = 0);
    }
    push(&|it| it.rules.count = None);
    push(&|it| it.rules.lookback = None);
    push(&|it| it.rules.longer_ttl_extends = None);
    push(&|it| it.rules.match_inside_runs = None);
    push(&|it| it.rules.refresh_earlier = None);
    push(&|it| it.rules.thinking_positions = None);
    push(&|it| it.rules.tool_positions = None);
    push(&|it| it.rules.ttl_in_key = None);
    push(&|it| it.rules.write_below_hit = None);
    push(&|it| it.rules = Rules { min_tokens: Some(0), ..it.rules.clone() });
    steps
}
