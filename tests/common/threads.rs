//! Work on two threads, and work that must be alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs `work` for all items on two threads; the results are in any order.
pub fn spread<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    spread_with(items, || (), |(), item| work(item))
}

/// As [`spread`], with a state for each thread.
pub fn spread_with<T: Sync, S, R: Send>(
    items: &[T],
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut state = start();
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(&mut state, item);
                    done.lock().unwrap().push(result);
                }
            });
        }
    });
    done.into_inner().unwrap()
}

/// Lowering forks, and no other thread should use LLVM at that time.
static LLVM_LOCK: Mutex<()> = Mutex::new(());

pub fn lock_llvm() -> MutexGuard<'static, ()> {
    LLVM_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}
