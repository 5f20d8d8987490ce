//! Starts device workers and runs programs on them.

use std::path::PathBuf;
use std::time::Duration;

use kassay_base::error::Result;
use kassay_run::exec::{DeviceSelector, Observation, OpenClExecutor, RunOptions, RunResult, WorkerOptions};

/// Returns the options of workers that are the program under test, instead of the running one.
pub fn worker() -> WorkerOptions {
    WorkerOptions { exe: Some(PathBuf::from(env!("CARGO_BIN_EXE_kassay"))), ..WorkerOptions::default() }
}

/// Starts a worker on the first OpenCL device.
pub fn opencl() -> Result<OpenClExecutor> {
    OpenClExecutor::start(DeviceSelector::Any, worker())
}

/// A run without probes.
pub fn once() -> RunOptions {
    RunOptions { timeout: Duration::from_secs(60), repeats: 1, probe_words: None, outputs: true }
}

pub fn completed(result: RunResult) -> std::result::Result<Observation, String> {
    result.map_err(|fault| format!("{fault:?}"))
}
