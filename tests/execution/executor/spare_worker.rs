//! Checks the workers beside the one that runs launches: one that stands by takes over from one that a launch has
//! ended, others prebuild programs, and no process is left.

use std::time::{Duration, Instant};

use kassay_run::exec::{
    Code, DeviceSelector, Executor, OpenClExecutor, ProgramId, RunOptions, SpareWorker, WorkerOptions,
};
use kassay_suite::launch::{ArgValue, Launch};

use super::faults::children_of;
use super::support::*;

/// Stores 7 where `far` leads, unless that is 0; never ends if it is negative.
const SOURCE: &str = "kernel void k(global volatile int *a, long far) { while (far < 0) a[0]++; a[far] = 7; }";

fn start(spare_worker: SpareWorker) -> Result<(OpenClExecutor, ProgramId), Box<dyn std::error::Error>> {
    let mut executor = OpenClExecutor::start(DeviceSelector::Any, WorkerOptions { spare_worker, ..options() })?;
    let program = executor.load(&compile(SOURCE)?)?;
    Ok((executor, program))
}

fn launch(far: i64) -> Launch {
    Launch::new(range([1]), vec![ints(&[0, 0]), ArgValue::Value(far.to_le_bytes().to_vec())])
}

/// The workers of this process.
fn workers() -> Result<Vec<u32>, Box<dyn std::error::Error>> {
    let mut all = children_of(std::process::id())?;
    all.retain(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).any(|word| word == b"worker")
    });
    all.sort_unstable();
    Ok(all)
}

/// Waits until as many workers live.
fn wait_for(count: usize) -> Result<Vec<u32>, Box<dyn std::error::Error>> {
    let start = Instant::now();
    loop {
        let found = workers()?;
        if found.len() == count || start.elapsed() > Duration::from_secs(30) {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs alone in its process, because it counts processes.
#[test]
#[ignore = "counts the processes of its own process; the test below runs it alone"]
fn alone_a_worker_stands_by() -> TestResult {
    let (mut executor, program) = start(SpareWorker::Always)?;
    assert_eq!(workers()?.len(), 1, "a worker stands by before there was a launch");
    let good = |executor: &mut OpenClExecutor| -> TestResult {
        assert_eq!(ints_of(&completed(executor.run(program, &launch(1), &once())?)?, 0)?, [0, 7]);
        Ok(())
    };
    good(&mut executor)?;
    let mut before = wait_for(2)?;
    assert_eq!(before.len(), 2, "no worker stands by after a launch");
    for far in [1 << 44, -1, 1 << 44] {
        let limit = Duration::from_millis(300);
        let fault = executor.run(program, &launch(far), &RunOptions { timeout: limit, ..once() })?;
        assert!(fault.is_err(), "{far}: {fault:?}");
        good(&mut executor)?;
        let now = wait_for(2)?;
        let stayed = now.iter().filter(|pid| before.contains(pid)).count();
        assert_eq!((now.len(), stayed), (2, 1), "{far}: {before:?}, then {now:?}");
        before = now;
    }
    drop(executor);
    assert!(wait_for(0)?.is_empty(), "workers are left");

    let (mut executor, program) = start(SpareWorker::Never)?;
    completed(executor.run(program, &launch(1), &once())?)?;
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(workers()?.len(), 1, "a worker stands by that was not wanted");
    Ok(())
}

/// As the one above.
#[test]
#[ignore = "counts the processes of its own process; the test below runs it alone"]
fn alone_programs_are_prebuilt() -> TestResult {
    let builders = Some(1);
    let mut executor = OpenClExecutor::start(DeviceSelector::Any, WorkerOptions { builders, ..options() })?;
    let good = compile(SOURCE)?;
    let spirv = good.as_device().ok_or("no SPIR-V")?.bytes.to_vec();
    let bad = Code::spirv(spirv, "another", String::new());
    for code in [&good, &bad] {
        // The one before may be about to end, and is the only one that may build.
        let start = Instant::now();
        while workers()?.len() != 2 {
            assert!(start.elapsed() < Duration::from_secs(30), "nothing is prebuilt");
            executor.prebuild(code);
        }
        // Known already, and one too many.
        executor.prebuild(&good);
        executor.prebuild(&bad);
        assert_eq!(wait_for(1)?.len(), 1, "who has built is left, or another one was started");
    }
    executor.prebuild(&bad);
    assert!(executor.load(&bad).expect_err("there is no such kernel").to_string().contains("another"));
    let program = executor.load(&good)?;
    assert_eq!(ints_of(&completed(executor.run(program, &launch(1), &once())?)?, 0)?, [0, 7]);
    executor.prebuild(&compile(&SOURCE.replace('7', "8"))?);
    drop(executor);
    assert!(wait_for(0)?.is_empty(), "workers are left");

    let mut executor = OpenClExecutor::start(DeviceSelector::Any, options())?;
    // A builder of the executor before may have been on its way when that was dropped.
    let own = wait_for(1)?;
    executor.prebuild(&good);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!((workers()?, own.len()), (own, 1), "a program is prebuilt for a device that gains nothing");
    Ok(())
}

#[test]
fn a_worker_that_stands_by_takes_over_and_no_process_is_left() -> TestResult {
    alone("executor::spare_worker::alone_a_worker_stands_by")
}

#[test]
fn programs_are_prebuilt_by_processes_of_their_own() -> TestResult {
    alone("executor::spare_worker::alone_programs_are_prebuilt")
}

/// Runs a test in a process of its own.
fn alone(name: &str) -> TestResult {
    let done = std::process::Command::new(std::env::current_exe()?)
        .args(["--ignored", "--exact", "--nocapture", name])
        .output()?;
    assert!(
        done.status.success(),
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
    Ok(())
}

/// Prints how long it takes from a fault to the end of the next launch, for both; asserts nothing of times.
#[test]
#[ignore = "measures"]
fn time_until_the_next_launch_has_run() -> TestResult {
    for spare_worker in [SpareWorker::Never, SpareWorker::Always] {
        let (mut executor, program) = start(spare_worker)?;
        completed(executor.run(program, &launch(1), &once())?)?;
        let mut times = Vec::new();
        for _ in 0..9 {
            std::thread::sleep(Duration::from_millis(500));
            let started = Instant::now();
            assert!(executor.run(program, &launch(1 << 44), &once())?.is_err());
            completed(executor.run(program, &launch(1), &once())?)?;
            times.push(started.elapsed());
        }
        times.sort_unstable();
        println!("{spare_worker:?}: median {:?}, from {:?} to {:?}", times[4], times[0], times[8]);
    }
    Ok(())
}
