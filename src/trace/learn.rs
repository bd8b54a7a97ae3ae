//! Sizes of prefixes, learnt from the calls that wrote them.
//!
//! What a call was billed for reading and writing is the size of the prefix that ends with its last
//! marker. That is learnt from calls that wrote something, and never from a read alone: what is
//! read is what a replay predicts.

use std::collections::HashMap;

use super::capture::Call;

/// The sizes of prefixes, by their identity.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    sizes: HashMap<u128, u64>,
    /// Lines of calls that were billed another size than the first that wrote the same prefix.
    pub(super) conflicts: Vec<u64>,
}

impl Learnt {
    /// Learns from calls in the order of their starts; the first that wrote a prefix counts.
    pub(super) fn from(calls: &[Call]) -> Learnt {
        let mut learnt = Learnt::default();
        for call in calls {
            for (block, tokens) in written(call) {
                let known = *learnt.sizes.entry(call.prefixes[block]).or_insert(tokens);
                if known != tokens && learnt.conflicts.last() != Some(&call.line) {
                    learnt.conflicts.push(call.line);
                }
            }
        }
        learnt
    }

    /// The size of a prefix, where a call that wrote it says so.
    pub(super) fn size(&self, prefix: u128) -> Option<u64> {
        self.sizes.get(&prefix).copied()
    }
}

/// Blocks at whose ends the call wrote an entry of a size that its bill tells.
pub(super) fn written(call: &Call) -> Vec<(usize, u64)> {
    let usage = &call.usage;
    let (five, hour) = (usage.write_5m.0, usage.write_1h.0);
    if five + hour == 0 || call.observed.several_passes {
        return Vec::new();
    }
    let last = |is_hour: bool| {
        call.blocks.iter().rposition(|block| {
            block.marker.is_some_and(|ttl| !is_hour || ttl == crate::units::CacheTtl::OneHour)
        })
    };
    let mut ends = Vec::new();
    if five > 0 && hour > 0 {
        ends.extend(last(true).map(|block| (block, usage.read.0 + hour)));
    }
    ends.extend(last(false).map(|block| (block, usage.read.0 + hour + five)));
    ends
}
