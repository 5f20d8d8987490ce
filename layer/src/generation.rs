//! Which process this is, among those that were forked from one another without a new program.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the forks between the process that loaded the library and this one.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Tells a process from the one that it was forked from.
pub fn current() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Counts a fork, in the child.
pub fn begin() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
