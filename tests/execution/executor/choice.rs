//! Checks which device is used, what `kassay devices` prints, and how long a start takes.

use std::process::Command;
use std::time::{Duration, Instant};

use kassay_base::error::Error;
use kassay_run::exec::{DeviceSelector, Executor, OpenClExecutor, RunOptions, Target, WorkerOptions, probe_devices};
use kassay_suite::launch::Launch;

use super::support::*;
use crate::common::program::kassay;

#[test]
fn devices_are_found_and_chosen_by_name_or_number() -> TestResult {
    let devices = probe_devices(&options())?;
    let first = devices.iter().find(|d| !d.il_versions.is_empty()).ok_or("no device takes SPIR-V")?;
    assert!(first.max_work_group_size > 0 && first.global_memory > 0 && !first.driver.is_empty());
    let (platform, device) = first.index.ok_or("no index")?;
    for selector in [
        DeviceSelector::Any,
        DeviceSelector::Index { platform, device },
        DeviceSelector::Name(first.name.to_uppercase()[1..].to_owned()),
    ] {
        assert_eq!(OpenClExecutor::start(selector, options())?.device(), first);
    }
    for selector in [DeviceSelector::Index { platform: 99, device: 0 }, DeviceSelector::Name("no such thing".into())] {
        let error = OpenClExecutor::start(selector, options()).err().ok_or("started")?;
        assert!(matches!(error, Error::Environment(_)), "{error}");
        assert!(error.to_string().contains(&first.name), "{error}");
    }
    Ok(())
}

#[test]
fn a_program_that_is_no_worker_is_an_environment_error() -> TestResult {
    for exe in ["/bin/false", "/nonexistent/kassay"] {
        let broken = WorkerOptions { exe: Some(exe.into()), ..WorkerOptions::default() };
        let error = OpenClExecutor::start(DeviceSelector::Any, broken).err().ok_or("started")?;
        assert!(matches!(error, Error::Environment(_)), "{error}");
    }
    Ok(())
}

fn devices(args: &[&str], vendors: Option<&str>) -> Result<(Option<i32>, String), Box<dyn std::error::Error>> {
    let mut command = kassay();
    command.arg("devices").args(args);
    if let Some(folder) = vendors {
        command.env("OCL_ICD_VENDORS", folder);
    }
    let done = command.output()?;
    Ok((done.status.code(), String::from_utf8(done.stdout)?))
}

#[test]
fn the_devices_command_says_what_runs_and_what_is_missing() -> TestResult {
    let (code, json) = devices(&["--format", "json"], None)?;
    let result: kassay::result::devices::DevicesResult = serde_json::from_str(&json)?;
    assert_eq!((code, result.schema.as_str()), (Some(0), "kassay.devices/1"));
    assert!(result.device.is_some_and(|d| !d.il_versions.is_empty()) && result.devices[0].id.starts_with("opencl:"));

    let empty = tempfile::tempdir()?;
    let (code, text) = devices(&[], Some(&empty.path().to_string_lossy()))?;
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("scripts/quickstart"), "{text}");
    Ok(())
}

#[test]
fn a_driver_that_fails_is_named() -> TestResult {
    let folder = tempfile::tempdir()?;
    // A library that ends the process when it is loaded.
    let library = folder.path().join("libends.so");
    let source = folder.path().join("ends.c");
    std::fs::write(&source, "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n")?;
    let built = Command::new("clang-22").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status()?;
    assert!(built.success());
    std::fs::write(folder.path().join("a.icd"), library.to_string_lossy().as_bytes())?;
    std::fs::write(folder.path().join("b.icd"), "libnotthere.so")?;
    let (code, text) = devices(&[], Some(&folder.path().to_string_lossy()))?;
    assert_eq!(code, Some(3), "{text}");
    assert!(
        text.contains("a.icd") && text.contains("libends.so) fails") && !text.contains("libnotthere.so) fails"),
        "{text}"
    );
    Ok(())
}

#[test]
#[ignore = "measures; run by hand"]
fn start_up_times() -> TestResult {
    let code = compile(COPY)?;
    for pause in [0, 60, 300] {
        let start = Instant::now();
        let starting = OpenClExecutor::spawn(DeviceSelector::Any, Target::SpirV, options())?;
        let spawned = start.elapsed();
        std::thread::sleep(Duration::from_millis(pause));
        let at = Instant::now();
        let mut executor = starting.ready()?;
        let ready = at.elapsed();
        let at = Instant::now();
        let program = executor.load(&code)?;
        let loaded = at.elapsed();
        let launch = Launch::new(range([4]), vec![ints(&[0; 4]), ints(&[1, 2, 3, 4]), int(3)]);
        let mut runs = Vec::new();
        for _ in 0..4 {
            let at = Instant::now();
            completed(executor.run(program, &launch, &once())?)?;
            runs.push(at.elapsed());
        }
        let at = Instant::now();
        let again = executor.load(&code)?;
        let reloaded = at.elapsed();
        executor.unload(again);
        let all = start.elapsed();
        let endless = executor.load(&compile("kernel void k(global volatile int *a) { while (a[0]) a[1]++; }")?)?;
        let launch = |go| Launch::new(range([1]), vec![ints(&[go, 0])]);
        let timeout = Duration::from_millis(50);
        let killed = executor.run(endless, &launch(1), &RunOptions { timeout, ..once() })?;
        assert!(killed.is_err());
        let at = Instant::now();
        completed(executor.run(endless, &launch(0), &once())?)?;
        println!("first launch after a kill: {:?}", at.elapsed());
        let at = Instant::now();
        drop(executor);
        println!(
            "pause {pause} ms: spawn {spawned:?} ready {ready:?} load {loaded:?} runs {runs:?} second load {reloaded:?} all {all:?} drop {:?}",
            at.elapsed()
        );
    }
    Ok(())
}
