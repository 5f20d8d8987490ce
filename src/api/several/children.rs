//! Does independent pieces of work in children, several at a time: each has a process, which cannot take the others
//! with it.

use std::collections::VecDeque;
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_base::forked::{self, Failure, Job, Limit, Running};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::observer::{Observer, Work};

/// A piece of work.
#[derive(Debug)]
pub struct Task<I> {
    /// What it is about, for progress and messages.
    pub name: String,
    /// What the child is given.
    pub input: I,
}

/// Does a task in a child, with so many workers, and returns an answer.
pub type Does<I> = fn((u32, I), &[u8]) -> Result<Vec<u8>>;

/// How often the observer is asked whether to stop.
const ATTENTION: Duration = Duration::from_millis(100);

/// Commands have their own limits: this one is out of reach.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Does all tasks with so many workers in all. `done` is given each task's number and answer as soon as it has ended,
/// in any order. Returns whether all were done: if the observer says to stop, those that are under way are killed.
///
/// # Errors
/// Errors of `done`, which end everything. That a task fails, crashes or panics is its answer.
pub fn run<I: Serialize + DeserializeOwned>(
    tasks: Vec<Task<I>>,
    does: Does<I>,
    jobs: u32,
    things: &'static str,
    observer: &dyn Observer,
    mut done: impl FnMut(usize, Result<Vec<u8>>) -> Result<()>,
) -> Result<bool> {
    let tasks_count = tasks.len() as u64;
    let mut waiting: VecDeque<(usize, Task<I>)> = tasks.into_iter().enumerate().collect();
    let (mut under_way, mut free, mut ended): (Vec<UnderWay>, u32, u64) = (Vec::new(), jobs.max(1), 0);
    let _work = Work::begin(observer, things, Some(tasks_count));
    while !waiting.is_empty() || !under_way.is_empty() {
        while free > 0
            && let Some((number, task)) = waiting.pop_front()
        {
            // What is left shares the free workers, so that the last ones are not alone with one each.
            let others = u32::try_from(waiting.len()).unwrap_or(u32::MAX).saturating_add(1);
            let share = free / others.min(free);
            let Task { name, input } = task;
            match forked::begin(Limit::of(LONGEST), Job::new(does, &(share, input), &[]).with_children()) {
                Ok(child) => {
                    free -= share;
                    under_way.push(UnderWay { number, name, share, child });
                }
                Err(failure) => done(number, Err(error_of(failure, &name)))?,
            }
        }
        let children: Vec<&Running> = under_way.iter().map(|one| &one.child).collect();
        let mut answering = forked::answering(&children, ATTENTION);
        if observer.stop() {
            return Ok(false);
        }
        // From the end, so that positions stay true.
        while let Some(at) = answering.pop() {
            let UnderWay { number, name, share, child } = under_way.swap_remove(at);
            free += share;
            ended += 1;
            let answer = match child.end() {
                Ok(Ok(bytes)) => Ok(bytes),
                Ok(Err(message)) => Err(forked::error_in(message)),
                Err(failure) => Err(error_of(failure, &name)),
            };
            observer.progress(ended, &name);
            done(number, answer)?;
        }
    }
    Ok(true)
}

/// A task that a child does.
struct UnderWay {
    number: usize,
    name: String,
    /// The workers that it has.
    share: u32,
    child: Running,
}

fn error_of(failure: Failure, name: &str) -> Error {
    match failure {
        Failure::Crashed { how, stderr } => {
            let error = Error::internal(format!("kassay {how} while it worked on {name}"));
            if stderr.is_empty() { error } else { error.details(stderr) }
        }
        Failure::TimedOut(_) | Failure::Late => Error::internal(format!("kassay did not come to an end with {name}")),
        Failure::System(why) => Error::environment(format!("no process to work on {name}: {why}"))
            .help("let fewer processes run at a time: a smaller -j"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use super::super::super::observer::Silent;
    use super::*;

    fn task(name: &str) -> Task<String> {
        Task { name: name.to_owned(), input: name.to_owned() }
    }

    fn several_things((share, name): (u32, String), _: &[u8]) -> Result<Vec<u8>> {
        match &*name {
            "a" => Ok(vec![1]),
            "b" => Err(Error::caller("wrong")),
            "c" => std::process::abort(),
            "d" => panic!("lost"),
            // More than a pipe holds.
            "e" => Ok(vec![5; 1 << 20]),
            "sleep" => {
                std::thread::sleep(Duration::from_secs(100));
                Ok(Vec::new())
            }
            _ => Ok(share.to_le_bytes().to_vec()),
        }
    }

    #[test]
    fn a_task_that_fails_crashes_or_panics_takes_no_other_with_it() {
        let tasks = ["a", "b", "c", "d", "e"].map(task).into();
        let mut answers: Vec<Option<Result<Vec<u8>>>> = vec![None; 5];
        let all = run(tasks, several_things, 2, "tasks", &Silent, |number, answer| {
            assert!(answers[number].replace(answer).is_none());
            Ok(())
        });
        assert_eq!(all, Ok(true));
        let answers: Vec<Result<Vec<u8>>> = answers.into_iter().flatten().collect();
        assert_eq!(answers[..2], [Ok(vec![1]), Err(Error::caller("wrong"))]);
        let message = |at: usize| answers[at].as_ref().unwrap_err().to_string();
        assert!(message(2).contains("signal 6 while it worked on c"), "{}", message(2));
        assert!(message(3).contains("worked on d") && message(3).contains("lost"), "{}", message(3));
        assert_eq!(answers[4], Ok(vec![5; 1 << 20]));
    }

    #[test]
    fn workers_are_shared() {
        let shares = |count: usize, jobs: u32| {
            let tasks = (0..count).map(|_| task("share")).collect();
            let mut shares = vec![0; count];
            run(tasks, several_things, jobs, "tasks", &Silent, |number, answer| {
                shares[number] = u32::from_le_bytes(answer?.try_into().unwrap());
                Ok(())
            })
            .unwrap();
            shares
        };
        assert_eq!(shares(3, 8), [2, 3, 3]);
        assert_eq!(shares(1, 4), [4]);
        assert_eq!(shares(3, 3), [1, 1, 1]);
        assert_eq!(shares(2, 0), [1, 1]);
    }

    #[derive(Debug)]
    struct Impatient(AtomicBool);

    impl Observer for Impatient {
        fn stop(&self) -> bool {
            self.0.swap(true, Ordering::Relaxed)
        }
    }

    #[test]
    fn work_stops_at_once_when_it_is_to() {
        let started = Instant::now();
        let tasks = ["sleep", "sleep", "sleep"].map(task).into();
        let impatient = Impatient(AtomicBool::new(false));
        let all = run(tasks, several_things, 2, "tasks", &impatient, |_, _| panic!("none ends"));
        assert_eq!(all, Ok(false));
        assert!(started.elapsed() < Duration::from_secs(50));
    }
}
