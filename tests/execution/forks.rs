//! Checks that forks and queries of the solver do not hinder each other.

use std::process::exit;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use kassay::kernel::forked::{self, Limit};
use kassay::solve::expression::{Operation, Sort, Terms};
use kassay::solve::query::{self, Answer, Limits};

/// Asks a query with a time limit, for which Z3 uses a timer thread.
fn ask() {
    let mut terms = Terms::default();
    let wide = Sort::Bits(32);
    let x = terms.symbol("x", wide);
    let square = terms.apply(Operation::Mul, vec![x, x], wide);
    let sixteen = terms.constant(16, wide);
    let condition = terms.compare(Operation::Eq, square, sixteen);
    let limits = Limits { rlimit: 0, end: Some(Instant::now() + Duration::from_secs(20)) };
    assert!(matches!(query::solve(&terms, &[condition], &limits), Answer::Sat(_)));
}

#[test]
fn threads_that_fork_and_ask_the_solver_come_to_an_end() {
    let (done, waiting) = mpsc::channel();
    for _ in 0..4 {
        let done = done.clone();
        std::thread::spawn(move || {
            for n in 0..40u8 {
                ask();
                let answer = forked::run(Limit::of(Duration::from_secs(60)), move || Ok(vec![n]));
                assert_eq!(answer, Ok(Ok(vec![n])));
            }
            done.send(()).unwrap();
        });
    }
    for _ in 0..4 {
        if waiting.recv_timeout(Duration::from_secs(120)).is_err() {
            // The threads could not be ended otherwise.
            eprintln!("a thread waits for ever");
            exit(1);
        }
    }
}
