//! Checks what becomes of launches that the device stops, as NVIDIA's driver does: a script takes the place of the
//! worker and answers as one would.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use kassay_base::error::Error;
use kassay_run::exec::{
    Code, DeviceSelector, Executor, Fault, OpenClExecutor, SpareWorker, Sweep, Variation, VariationOutcome,
    WorkerOptions,
};
use kassay_suite::launch::Launch;

use super::support::*;

/// Answers each request with a line of `worker.script`.
const SCRIPTED: &str = include_str!("scripted-worker.pl");

const OPENED: &str = r#"{"Opened": {"name": "scripted", "driver": "1", "kind": "gpu", "il_versions": ["SPIR-V_1.2"], "platform": "p", "index": [0, 0], "max_work_group_size": 64, "max_work_item_sizes": [64, 64, 64], "local_memory": 32768, "global_memory": 1073741824, "max_allocation": 268435456, "fp16": true, "fp64": true, "images": true, "sub_group_sizes": []}}"#;
const STOPPED: &str = r#"{"Stopped": {"error": "CL_INVALID_COMMAND_QUEUE"}}"#;
const LOST: &str = r#"{"Lost": {"error": "CL_OUT_OF_RESOURCES"}}"#;
const DONE: &str = r#"{"Done": {"kernel_times": [5]}}"#;

/// Starts an executor whose first worker answers with the lines `first`, and all others with `others`.
fn scripted(first: &[&str], others: &[&str]) -> TestResult<(OpenClExecutor, tempfile::TempDir)> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("worker");
    let either = r#"unlink("$folder/is_first") ? "$folder/first.script" : "$folder/worker.script""#;
    fs::write(&program, SCRIPTED.replace(r#""$folder/worker.script""#, either))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700))?;
    for (name, lines) in [("first.script", first), ("worker.script", others)] {
        fs::write(folder.path().join(name), [&[OPENED], lines].concat().join("\n"))?;
    }
    fs::write(folder.path().join("is_first"), "")?;
    let options = WorkerOptions { exe: Some(program), spare_worker: SpareWorker::Never, ..WorkerOptions::default() };
    Ok((OpenClExecutor::start(DeviceSelector::Any, options)?, folder))
}

fn code() -> Code {
    Code::spirv(vec![3, 2, 35, 7], "k", String::new())
}

fn launch() -> Launch {
    Launch::new(range([1]), vec![ints(&[3])])
}

#[test]
fn a_launch_that_the_device_stops_is_a_fault_and_the_next_one_has_a_new_worker() -> TestResult {
    let (mut executor, _folder) = scripted(&[r#""Loaded""#, STOPPED], &[r#""Loaded""#, DONE])?;
    let program = executor.load(&code())?;
    let fault = executor.run(program, &launch(), &once())?.err().ok_or("it ran")?;
    assert_eq!(fault, Fault::Stopped { error: "CL_INVALID_COMMAND_QUEUE".into() });
    assert!(fault.to_string().starts_with("was stopped by the device (CL_INVALID_COMMAND_QUEUE)"), "{fault}");
    completed(executor.run(program, &launch(), &once())?)?;
    Ok(())
}

#[test]
fn a_launch_that_finds_the_device_lost_runs_again() -> TestResult {
    let (mut executor, _folder) = scripted(&[r#""Loaded""#, LOST], &[r#""Loaded""#, DONE])?;
    let program = executor.load(&code())?;
    completed(executor.run(program, &launch(), &once())?)?;
    Ok(())
}

#[test]
fn a_device_that_stays_lost_is_the_environments_fault() -> TestResult {
    let (mut executor, _folder) = scripted(&[r#""Loaded""#, LOST], &[r#""Loaded""#, LOST])?;
    let program = executor.load(&code())?;
    let error = executor.run(program, &launch(), &once()).err().ok_or("it ran")?;
    assert!(matches!(error, Error::Environment(_)) && error.to_string().contains("scripted"), "{error}");
    Ok(())
}

#[test]
fn a_sweep_that_the_device_stops_has_faults_instead_of_refusals() -> TestResult {
    let (mut executor, _folder) = scripted(&[r#""Loaded""#, STOPPED], &[r#""Loaded""#, STOPPED])?;
    let program = executor.load(&code())?;
    let variations = vec![Variation { words: vec![(0, 1)] }, Variation { words: vec![(1, 2)] }];
    let sweep = Sweep {
        launch: &launch(),
        probe: &[1, 2],
        probe_words: 16,
        variations: &variations,
        references: &[],
        repeats: 1,
        timeout: once().timeout,
        words: 0..4,
        decisive: None,
        batch: None,
    };
    let swept = executor.sweep(program, &sweep)?;
    let stopped = |run: &VariationOutcome| matches!(run, VariationOutcome::Fault(Fault::Stopped { .. }));
    assert!(swept.runs.len() == 2 && swept.runs.iter().all(stopped), "{swept:?}");
    Ok(())
}

#[test]
fn a_kernel_that_is_too_large_for_the_device_is_not_kassays_fault() -> TestResult {
    let log = "ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)";
    let refused = format!(r#"{{"BuildFailed": {{"error": "CL_BUILD_PROGRAM_FAILURE", "log": "{log}"}}}}"#);
    let (mut executor, _folder) = scripted(&[&refused], &[])?;
    let error = executor.load(&code()).err().ok_or("it was loaded")?;
    assert!(matches!(error, Error::Environment(_)) && error.to_string().contains("0xc000 max"), "{error}");
    let (mut executor, _folder) = scripted(&[&refused.replace("too much", "no")], &[])?;
    assert!(matches!(executor.load(&code()), Err(Error::Internal(_))));
    Ok(())
}
