//! Checks everything that can go wrong in a launch, and that the next launch works.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

use kassay_base::error::Error;
use kassay_run::exec::{Code, Executor, Fault, RunOptions};
use kassay_suite::launch::{ArgValue, Launch, NdRange};

use super::support::*;

#[test]
fn after_an_endless_loop_the_next_launch_works() -> TestResult {
    let source = "kernel void k(global volatile int *a) { while (a[0]) a[1]++; a[1] = 7; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch = |go: i32| Launch::new(range([1]), vec![ints(&[go, 0])]);
    let limit = Duration::from_secs(1);
    let start = Instant::now();
    let fault = executor.run(program, &launch(1), &RunOptions { timeout: limit, ..once() })?;
    assert_eq!(fault, Err(Fault::Timeout { limit }));
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(ints_of(&completed(executor.run(program, &launch(0), &once())?)?, 0)?, [0, 7]);
    Ok(())
}

#[test]
fn after_a_wild_write_the_next_launch_works() -> TestResult {
    let source = "kernel void k(global int *a, long far) { a[far] = 7; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch = |far: i64| Launch::new(range([1]), vec![ints(&[0, 0]), ArgValue::Value(far.to_le_bytes().to_vec())]);
    let fault = executor.run(program, &launch(1 << 44), &once())?;
    assert!(matches!(fault, Err(Fault::Crash { signal: Some(libc::SIGSEGV), .. })), "{fault:?}");
    assert_eq!(ints_of(&completed(executor.run(program, &launch(1), &once())?)?, 0)?, [0, 7]);
    Ok(())
}

#[test]
fn a_division_by_zero_is_a_crash_at_worst() -> TestResult {
    let source = "kernel void k(global int *a) { a[0] = a[0] / a[1]; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch = |by: i32| Launch::new(range([1]), vec![ints(&[6, by])]);
    let result = executor.run(program, &launch(0), &once())?;
    assert!(matches!(result, Ok(_) | Err(Fault::Crash { .. })), "{result:?}");
    assert_eq!(ints_of(&completed(executor.run(program, &launch(2), &once())?)?, 0)?, [3, 2]);
    Ok(())
}

#[test]
fn after_broken_code_the_next_program_loads() -> TestResult {
    let good = compile(COPY)?;
    let mut executor = executor()?;
    let kept = executor.load(&good)?;
    let good_code = good.as_device().ok_or("no SPIR-V")?;
    let half = good_code.bytes[..good_code.bytes.len() / 2 / 4 * 4].to_vec();
    let truncated = Code::spirv(half, "k", String::new());
    assert!(matches!(executor.load(&truncated), Err(Error::Internal(_))));
    let nameless = Code::spirv(good_code.bytes.to_vec(), "nobody", String::new());
    let refused = executor.load(&nameless).err().ok_or("loaded")?;
    assert!(refused.to_string().contains("CL_INVALID_KERNEL_NAME"), "{refused}");
    let launch = Launch::new(range([1]), vec![ints(&[0]), ints(&[1]), int(1)]);
    for program in [kept, executor.load(&good)?] {
        assert_eq!(ints_of(&completed(executor.run(program, &launch, &once())?)?, 0)?, [2]);
    }
    executor.unload(kept);
    assert!(matches!(executor.run(kept, &launch, &once()), Err(Error::Internal(_))));
    Ok(())
}

#[test]
fn launches_that_do_not_fit_are_rejected_with_the_reason() -> TestResult {
    let mut executor = executor()?;
    let program = executor.load(&compile(COPY)?)?;
    let mut why =
        |range: NdRange, args: Vec<ArgValue>, options: &RunOptions| -> Result<String, Box<dyn std::error::Error>> {
            match executor.run(program, &Launch::new(range, args), options)? {
                Err(Fault::Rejected { error, explanation }) => Ok(format!("{error}: {explanation}")),
                other => Err(format!("{other:?}").into()),
            }
        };
    let args = || vec![ints(&[0; 4]), ints(&[0; 4]), int(4)];
    let too_wide = NdRange { local: Some([1 << 20, 1, 1]), ..range([1 << 20]) };
    assert!(why(too_wide, args(), &once())?.contains("CL_INVALID_WORK_"));
    let few = why(range([4]), vec![ints(&[0; 4])], &once())?;
    assert!(few.contains("takes 3 arguments, the launch gives 1"), "{few}");
    let mut long = args();
    long[2] = ArgValue::Value(vec![0; 8]);
    let long = why(range([4]), long, &once())?;
    assert!(long.contains("CL_INVALID_ARG_SIZE") && long.contains("argument 2"), "{long}");
    let huge = why(range([4]), args(), &RunOptions { probe_words: Some(1 << 60), ..once() })?;
    assert!(huge.contains("the probe buffer") && huge.contains("4611686018427387904"), "{huge}");
    Ok(())
}

/// OpenCL 2.0 allows work-groups of different sizes; for kernels of OpenCL C 1.x the build option forbids them.
#[test]
fn an_uneven_local_size_is_rejected_where_the_program_asks_for_even_ones() -> TestResult {
    let mut executor = executor()?;
    let built = compile(COPY)?;
    let spirv = built.as_device().ok_or("no SPIR-V")?.bytes.to_vec();
    let code = Code::spirv(spirv, "k", "-cl-uniform-work-group-size".into());
    let program = executor.load(&code)?;
    let uneven = NdRange { local: Some([3, 1, 1]), ..range([4]) };
    let launch = Launch::new(uneven, vec![ints(&[0; 4]), ints(&[0; 4]), int(4)]);
    let result = executor.run(program, &launch, &once())?;
    assert!(
        matches!(&result, Err(Fault::Rejected { error, .. }) if error == "CL_INVALID_WORK_GROUP_SIZE"),
        "{result:?}"
    );
    Ok(())
}

#[test]
#[ignore = "runs until it is killed; for the test below"]
fn a_kernel_that_runs_for_a_minute() -> TestResult {
    let source = "kernel void k(global volatile int *a) { while (a[0]) a[1]++; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    println!("launched");
    let launch = Launch::new(range([1]), vec![ints(&[1, 0])]);
    executor.run(program, &launch, &once())?.map(|_| ()).map_err(|fault| format!("{fault:?}").into())
}

#[test]
fn a_worker_ends_with_its_parent_even_in_an_endless_kernel() -> TestResult {
    let mut parent = Command::new(std::env::current_exe()?)
        .args(["--ignored", "--exact", "--nocapture", "executor::faults::a_kernel_that_runs_for_a_minute"])
        .stdout(std::process::Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(parent.stdout.take().ok_or("no stdout")?).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("launched")), "it did not start");
    std::thread::sleep(Duration::from_millis(100));
    let workers = children_of(parent.id())?;
    assert!(!workers.is_empty());
    parent.kill()?;
    parent.wait()?;
    let alive = || workers.iter().any(|pid| parent_of(*pid).is_some());
    let start = Instant::now();
    while alive() && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!alive(), "{workers:?} still run");
    Ok(())
}

/// Returns a living process's parent; zombies do not count as living.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next() == Some("Z") { None } else { fields.next()?.parse().ok() }
}

/// Returns the living children of a process.
pub fn children_of(parent: u32) -> std::io::Result<Vec<u32>> {
    let pids = std::fs::read_dir("/proc")?.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    Ok(pids.filter(|pid| parent_of(*pid) == Some(parent)).collect())
}

#[test]
fn a_launch_without_work_items_is_not_kassays_fault() -> TestResult {
    // OpenCL 2.1 allows a launch without work-items, earlier versions refuse it.
    let result = run(COPY, range([0]), vec![ints(&[5]), ints(&[0]), int(1)])?;
    match result {
        Ok(seen) => assert_eq!(ints_of(&seen, 0)?, [5]),
        Err(fault) => assert!(matches!(fault, Fault::Rejected { .. }), "{fault:?}"),
    }
    Ok(())
}

#[test]
fn programs_are_built_while_the_caller_does_other_things() -> TestResult {
    let mut executor = executor()?;
    let good = compile(COPY)?;
    let spirv = good.as_device().ok_or("no SPIR-V")?.bytes.to_vec();
    let bad = Code::spirv(spirv, "another", String::new());
    let (one, other) = (executor.begin_load(&good)?, executor.begin_load(&bad)?);
    let last = executor.begin_load(&good)?;
    let refused = executor.finish_load(other).expect_err("there is no such kernel");
    assert!(refused.to_string().contains("another"), "{refused}");
    executor.finish_load(last)?;
    executor.unload(last);
    let dropped = executor.begin_load(&bad)?;
    executor.unload(dropped);
    executor.finish_load(one)?;
    let launch = Launch::new(range([4]), vec![ints(&[0; 4]), ints(&[1, 2, 3, 4]), int(4)]);
    let seen = completed(executor.run(one, &launch, &once())?)?;
    assert_eq!(ints_of(&seen, 0)?, [5, 6, 7, 8]);
    Ok(())
}
