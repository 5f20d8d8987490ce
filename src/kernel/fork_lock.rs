//! Keeps forks apart from each other and from queries to the solver.
//!
//! Z3 ends its idle timer threads in a handler that runs before each fork. The handler of Z3 before 4.15 waits until it
//! has itself ended every thread that there is (fixed by Z3's pull request 7618): two handlers at a time share the
//! threads between them and wait for ever, and one that runs during a query spins until the query ends and may damage
//! the list that the query returns its thread to.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static LOCK: RwLock<()> = RwLock::new(());

/// Waits until no query and no other fork is under way; keeps them away while the guard exists. The child inherits the
/// guard's state and must drop it too.
pub fn forking() -> RwLockWriteGuard<'static, ()> {
    LOCK.write().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps forks away while the guard exists. A thread that holds one must not fork.
pub fn querying() -> RwLockReadGuard<'static, ()> {
    LOCK.read().unwrap_or_else(PoisonError::into_inner)
}
