//! Checks that children start and end, whatever other threads of the process do meanwhile.

use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use kassay_base::forked::{self, Job, Limit};
use kassay_prove::solve::expression::{Operation, Sort, Terms};
use kassay_prove::solve::query::{self, Answer, Limits};

use crate::common::TestResult;

/// The variable that says how many children are started, if not so many as take a few seconds.
const VARIABLE: &str = "KASSAY_STARTS";
const FEW: usize = 1000;

const LONG: Duration = Duration::from_secs(120);

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

/// What hung in children of a process with threads: a thread of their own, LLVM, and the environment.
fn work(number: u64, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let doubled = std::thread::spawn(move || 2 * number).join().map_err(|_| "it panicked")?;
    let context = kassay_ir::llvm::Context::create();
    let module = context.create_module("k");
    let path = std::env::var_os("PATH").map_or(0, |path| path.len());
    let size = module.print_to_string().to_bytes().len().min(1) + path.min(1) + bytes.len();
    Ok([&doubled.to_le_bytes()[..], &[size as u8]].concat())
}

fn start(number: u64) {
    let answer = forked::run(Limit::of(LONG), Job::new(work, &number, b"ab"));
    assert_eq!(answer, Ok(Ok([&(2 * number).to_le_bytes()[..], &[4]].concat())));
}

/// Threads that come and go, ask the solver, use LLVM and allocate, until they are to stop.
fn load(stop: &AtomicBool) {
    std::thread::scope(|scope| {
        for kind in 0..3 {
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    match kind {
                        0 => drop(std::thread::spawn(|| std::env::var_os("PATH")).join()),
                        1 => drop(kassay_ir::llvm::Context::create().create_module("m").print_to_string()),
                        _ => ask(),
                    }
                }
            });
        }
    });
}

#[test]
fn children_start_whatever_other_threads_do() {
    let wanted = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(FEW);
    let (done, waiting) = mpsc::channel();
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    std::thread::spawn(|| load(stop));
    for thread in 0..4 {
        let done = done.clone();
        std::thread::spawn(move || {
            for number in (thread..wanted).step_by(4) {
                start(number as u64);
                done.send(()).unwrap();
            }
        });
    }
    for number in 0..wanted {
        if waiting.recv_timeout(LONG).is_err() {
            // The threads could not be ended otherwise.
            eprintln!("after {number} children, one hangs");
            exit(1);
        }
    }
    stop.store(true, Ordering::Relaxed);
}

fn sleep(_: (), _: &[u8]) -> Result<Vec<u8>, String> {
    std::thread::sleep(LONG);
    Ok(Vec::new())
}

fn own_number(_: (), _: &[u8]) -> Result<Vec<u8>, String> {
    Ok(std::process::id().to_le_bytes().to_vec())
}

/// Processes whose command line and parent tell that they belong to this test.
fn family() -> TestResult<Vec<u32>> {
    let own = std::process::id();
    let (mut all, mut parents) = (Vec::new(), vec![own]);
    let mut processes = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let mut fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
        let (state, parent) = (fields.next().unwrap_or("Z"), fields.next().and_then(|text| text.parse::<u32>().ok()));
        if state != "Z" {
            processes.push((number, parent.unwrap_or(0)));
        }
    }
    while let Some(parent) = parents.pop() {
        for (number, _) in processes.iter().filter(|(_, of)| *of == parent) {
            all.push(*number);
            parents.push(*number);
        }
    }
    Ok(all)
}

#[test]
fn a_child_is_gone_with_its_handle_and_an_early_one_does_not_wait_for_a_late_one() -> TestResult {
    // The server alone.
    assert_eq!(family()?.len(), 1);
    let handles: Vec<_> = (0..3).map(|_| forked::begin(Limit::of(LONG), Job::new(sleep, &(), &[]))).collect();
    let started = Instant::now();
    let number = forked::run(Limit::of(LONG), Job::new(own_number, &(), &[])).map_err(|e| format!("{e:?}"))??;
    assert_ne!(number, std::process::id().to_le_bytes());
    assert_eq!(family()?.len(), 4);
    drop(handles);
    assert_eq!(family()?.len(), 1);
    assert!(started.elapsed() < LONG / 2);
    Ok(())
}
