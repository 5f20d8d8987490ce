//! Tells a caller what happens while a function runs: notes, warnings of clang, progress.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kassay_base::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Receives what happens while a function runs. Every method ignores it by default.
pub trait Observer: Debug + Send + Sync {
    /// clang's warnings about the kernel, and those of them that clang reports as errors by default (OpenCL drivers,
    /// built on earlier versions of it, accept them). Both are empty if there are none.
    fn warnings(&self, _all: &str, _accepted_errors: &str) {}

    /// Something that the user should know: that the simulator replaces a device, for example.
    fn note(&self, _text: &str) {}

    /// A piece of work begins: so many `things` (such as `tests`) are to be done, if their number is known. `mutate`
    /// and `check` do not tell.
    fn begin(&self, _things: &'static str, _count: Option<u64>) {}

    /// Some of them are done. `message` says more, or is empty. Several threads may call this at a time, so numbers may
    /// come out of order.
    fn progress(&self, _done: u64, _message: &str) {}

    /// The work that began last has ended, or failed.
    fn end(&self) {}

    /// Returns whether to stop. Functions for several files ask; what they have done by then is kept where it is
    /// written as it is decided.
    fn stop(&self) -> bool {
        false
    }
}

/// Ignores everything.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}

/// What an observer received.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Message {
    Note(String),
    Warnings { all: String, accepted_errors: String },
}

impl Message {
    /// Tells it again.
    pub fn tell(&self, observer: &dyn Observer) {
        match self {
            Message::Note(text) => observer.note(text),
            Message::Warnings { all, accepted_errors } => observer.warnings(all, accepted_errors),
        }
    }
}

/// Keeps what it receives, because a child process has nowhere to report it.
#[derive(Debug, Default)]
pub(super) struct Keeper(Mutex<Vec<Message>>);

impl Keeper {
    /// Returns what it received.
    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, message: Message) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
}

impl Observer for Keeper {
    fn warnings(&self, all: &str, accepted_errors: &str) {
        if !all.is_empty() {
            self.keep(Message::Warnings { all: all.to_owned(), accepted_errors: accepted_errors.to_owned() });
        }
    }

    fn note(&self, text: &str) {
        self.keep(Message::Note(text.to_owned()));
    }
}

/// Tells an observer what happens in the specialisations of a suite: each note once, and no warnings about the kernel,
/// which it was given when the suite was opened.
#[derive(Debug)]
pub(super) struct OfSpecialisations {
    observer: Arc<dyn Observer>,
    noted: Mutex<HashSet<String>>,
}

impl OfSpecialisations {
    pub fn new(observer: Arc<dyn Observer>) -> OfSpecialisations {
        OfSpecialisations { observer, noted: Mutex::default() }
    }
}

impl Observer for OfSpecialisations {
    fn note(&self, text: &str) {
        let is_new = self.noted.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned());
        if is_new {
            self.observer.note(text);
        }
    }

    fn begin(&self, things: &'static str, count: Option<u64>) {
        self.observer.begin(things, count);
    }

    fn progress(&self, done: u64, message: &str) {
        self.observer.progress(done, message);
    }

    fn end(&self) {
        self.observer.end();
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }
}

/// Work that the observer has been informed of; tells it of the end when dropped.
pub(super) struct Work<'a>(&'a dyn Observer);

impl<'a> Work<'a> {
    /// Tells the observer that work begins.
    pub fn begin(observer: &'a dyn Observer, things: &'static str, count: Option<u64>) -> Work<'a> {
        observer.begin(things, count);
        Work(observer)
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Calls `work` for every item in parallel, each runner on one item at a time. Results are in the order of the items.
///
/// # Errors
/// The first error in the order of the items.
pub(super) fn run_parallel<T: Sync, R: Send, L: Send>(
    runners: &mut [L],
    items: &[T],
    things: &'static str,
    observer: &dyn Observer,
    work: impl Fn(&mut L, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let _work = Work::begin(observer, things, Some(items.len() as u64));
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let done: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for (started, runner) in runners.iter_mut().enumerate() {
            let (next, finished, done, work) = (&next, &finished, &done, &work);
            let run = move || loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(i) else { return };
                let result = work(runner, item);
                observer.progress(finished.fetch_add(1, Ordering::Relaxed) as u64 + 1, "");
                if let Ok(mut all) = done.lock() {
                    all[i] = Some(result);
                }
            };
            match std::thread::Builder::new().spawn_scoped(scope, run) {
                Ok(_) => {}
                // Those that there are do the work.
                Err(_) if started > 0 => break,
                Err(e) => return Err(Error::environment(format!("no thread can be started: {e}"))),
            }
        }
        Ok(())
    })?;
    let all = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::time::Duration;

    use super::*;

    #[derive(Debug)]
    struct Silent;

    impl Observer for Silent {}

    #[test]
    fn items_are_shared_and_a_thread_that_panics_leaves_none_waiting() {
        let items: Vec<u64> = (0..40).collect();
        let double = |_: &mut (), item: &u64| {
            std::thread::sleep(Duration::from_millis(item % 3));
            Ok(2 * item)
        };
        let doubled = run_parallel(&mut [(); 4], &items, "numbers", &Silent, double).expect("no item fails");
        assert_eq!(doubled, items.iter().map(|item| 2 * item).collect::<Vec<_>>());
        let broken = |_: &mut (), item: &u64| if *item == 7 { panic!("broken") } else { Ok(*item) };
        let outcome = catch_unwind(|| run_parallel(&mut [(); 4], &items, "numbers", &Silent, broken));
        assert!(outcome.is_err());
    }
}
