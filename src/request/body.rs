//! The exact bytes of a request.

use std::sync::Arc;

/// Where the bytes of a request come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Made by [`build`](super::build::build).
    Built,
    /// Recorded from real traffic and never serialised again.
    Captured,
}

/// The bytes that all bodies of one family have in common, before and behind what each has of its
/// own.
#[derive(Debug)]
pub(super) struct SharedBytes {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
}

/// The JSON bytes of one HTTP request: a head and a tail that siblings share, and its own bytes
/// between them.
#[derive(Clone, Debug)]
pub struct RequestBody {
    shared: Arc<SharedBytes>,
    own: Vec<u8>,
    origin: Origin,
}

impl RequestBody {
    /// A recorded body, byte for byte.
    pub fn captured(bytes: Vec<u8>) -> RequestBody {
        let shared = SharedBytes { head: bytes, tail: Vec::new() };
        RequestBody { shared: Arc::new(shared), own: Vec::new(), origin: Origin::Captured }
    }

    pub(super) fn built(shared: &Arc<SharedBytes>, own: Vec<u8>) -> RequestBody {
        RequestBody { shared: Arc::clone(shared), own, origin: Origin::Built }
    }

    /// Where the bytes come from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.shared.head.len() + self.own.len() + self.shared.tail.len()
    }

    /// True where there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in order, without a copy: shared head, own part, shared tail.
    pub fn parts(&self) -> [&[u8]; 3] {
        [&self.shared.head, &self.own, &self.shared.tail]
    }

    /// The block that is this body's own, as JSON; empty where the body has no siblings.
    pub fn own_block(&self) -> &[u8] {
        &self.own
    }

    /// True where both bodies share head and tail in memory, i.e. were built as one family.
    pub fn same_family(&self, other: &RequestBody) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// The same number for all bodies of one family, another for each other family that is alive: a
    /// key for maps whose order is never looked at.
    pub fn family_key(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// One contiguous copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        for part in self.parts() {
            bytes.extend_from_slice(part);
        }
        bytes
    }
}
