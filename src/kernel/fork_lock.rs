//! Keeps forks apart from each other, from queries to the solver and from threads that work in the background.
//!
//! Z3 ends its idle timer threads in a handler that runs before each fork. The handler of Z3 before 4.15 waits until it
//! has itself ended every thread that there is (fixed by Z3's pull request 7618): two handlers at a time share the
//! threads between them and wait for ever, and one that runs during a query spins until the query ends and may damage
//! the list that the query returns its thread to.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static LOCK: RwLock<()> = RwLock::new(());

/// Held by who works in the background. Taken before [`LOCK`], which such work may take, too.
static BACKGROUND: RwLock<()> = RwLock::new(());

/// Keeps others away while it exists.
#[derive(Debug)]
pub struct Alone {
    _background: RwLockWriteGuard<'static, ()>,
    _queries: RwLockWriteGuard<'static, ()>,
}

/// Waits until nothing is done in the background and no query and no other fork is under way; keeps all of them away while the guard
/// exists. The child inherits the guard's state and must drop it too.
pub fn forking() -> Alone {
    let _background = BACKGROUND.write().unwrap_or_else(PoisonError::into_inner);
    Alone { _background, _queries: LOCK.write().unwrap_or_else(PoisonError::into_inner) }
}

/// Keeps forks away while the guard exists, for work with LLVM or the solver beside a thread that may fork: a child cannot release the
/// locks of libraries that other threads held. No thread of this work may fork.
pub fn in_background() -> RwLockReadGuard<'static, ()> {
    BACKGROUND.read().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps forks away while the guard exists. A thread that holds one must not fork.
pub fn querying() -> RwLockReadGuard<'static, ()> {
    LOCK.read().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_fork_waits_for_work_in_the_background_and_for_queries_of_it() {
        let (send, forked) = channel();
        let work = in_background();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                drop(forking());
                send.send(()).unwrap();
            });
            // Even while somebody waits to fork, the work may begin queries.
            assert!(forked.recv_timeout(Duration::from_millis(50)).is_err());
            drop(querying());
            assert!(forked.try_recv().is_err());
            drop(work);
            forked.recv_timeout(Duration::from_secs(60)).unwrap();
        });
    }
}
