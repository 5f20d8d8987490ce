//! A value that one thread makes while the others wait, though not for ever, and without a lock held while it is made.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::boundary;
use crate::lock::lock;

/// How often a waiting thread checks whether the one that makes the value has failed.
const LOOK: Duration = Duration::from_millis(100);

/// The value, once it is made.
pub struct Once<T> {
    slot: Mutex<Slot<T>>,
    made: Condvar,
}

enum Slot<T> {
    Empty,
    UnderWay,
    Made(T),
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once { slot: Mutex::new(Slot::Empty), made: Condvar::new() }
    }
}

impl<T: Clone> Once<T> {
    /// Returns the value if it has been made.
    pub fn peek(&self) -> Option<T> {
        match &*lock(&self.slot) {
            Slot::Made(value) => Some(value.clone()),
            Slot::Empty | Slot::UnderWay => None,
        }
    }

    /// Returns the value, which `make` makes if no thread has begun to. `None` if another thread takes longer than
    /// `limit` for it, or if the layer has failed meanwhile.
    pub fn get(&self, limit: Duration, make: impl FnOnce() -> T) -> Option<T> {
        let began = Instant::now();
        let mut slot = lock(&self.slot);
        loop {
            match &*slot {
                Slot::Made(value) => return Some(value.clone()),
                Slot::Empty => break,
                Slot::UnderWay if began.elapsed() >= limit || boundary::has_stepped_aside() => return None,
                Slot::UnderWay => {
                    let waited = self.made.wait_timeout(slot, LOOK.min(limit));
                    slot = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        *slot = Slot::UnderWay;
        drop(slot);
        let value = make();
        *lock(&self.slot) = Slot::Made(value.clone());
        self.made.notify_all();
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_makes_it_and_all_get_it() {
        let (once, made) = (Arc::new(Once::default()), Arc::new(AtomicU32::new(0)));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let (once, made) = (once.clone(), made.clone());
                std::thread::spawn(move || {
                    once.get(Duration::from_secs(60), || made.fetch_add(1, Ordering::Relaxed) + 41)
                })
            })
            .collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == Some(41)));
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let once = Arc::new(Once::default());
        let (began, going_on) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = once.clone();
        let thread = std::thread::spawn(move || {
            other.get(Duration::ZERO, || {
                began.send(()).unwrap();
                ended.recv().unwrap();
                1
            })
        });
        going_on.recv().unwrap();
        assert_eq!(once.get(Duration::ZERO, || 2), None);
        end.send(()).unwrap();
        assert_eq!(thread.join().unwrap(), Some(1));
        assert_eq!(once.get(Duration::ZERO, || 2), Some(1));
    }
}
