//! Mutants judged by what the program's launches leave in memory: captured as suites, which then are the tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kassay_base::error::Result;
use kassay_base::files::private::PrivateFolder;
use kassay_results::result::capture::{CaptureResult, Kernel};
use kassay_results::result::mutate::MutateResult;
use kassay_results::result::set::{Failed, InSet as _, KernelResult, LeftOut, MutateSet, ProgramRun, SetResult};
use kassay_results::result::{Header, capture};
use kassay_run::exec::DeviceRequest;
use kassay_run::host::{Session, Trial};

use super::super::super::capture::{CaptureOptions, capture_by};
use super::super::super::host_kernel::cannot_write;
use super::super::super::mutate::{MutateOptions, mutate};
use super::super::super::options::{OpenOptions, StartWorkers};
use super::options::MutateProgramOptions;
use super::runs::{LONG, MOST_OUTPUT, ended};

/// Captures all launches of a host program, and runs the mutants on them.
///
/// # Errors
/// As [`capture`](super::super::super::capture()). Kernels without a suite are part of the result.
pub fn mutate_outputs(command: &[OsString], open: &OpenOptions, options: &MutateProgramOptions) -> Result<MutateSet> {
    let started = Instant::now();
    let temporary = PrivateFolder::temporary();
    let temporary = temporary.map_err(|error| cannot_write(&std::env::temp_dir(), &error))?;
    let kept = options.captured.clone().or(options.texts.clone());
    let folder = kept.clone().unwrap_or_else(|| temporary.path().join("captured"));
    let wanted = CaptureOptions::new()
        .shown_as_gpu(options.shown_as_gpu)
        .max_bytes(options.max_bytes)
        .kernels(options.kernels.clone())
        .all(true);
    let run = |session: &Session| {
        let trial = Trial { command, directory: None, limit: LONG, most_output: MOST_OUTPUT };
        session.try_run(&trial, None, None).map(|tried| ended(&tried))
    };
    let captured = capture_by(command, &folder, open, &wanted, run)?;
    let (mut kernels, mut failed, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for kernel in &captured.kernels {
        let (name, program) = (Some(kernel.name.clone()), Some(kernel.program.clone()));
        let rows = kernel.left_out.iter().map(|row| of_capture(row, name.clone(), program.clone()));
        left_out.extend(rows);
        if kernel.suite.is_none() && kernel.error.is_none() {
            continue;
        }
        match of_kernel(&captured, kernel, &folder, open, options) {
            Ok(result) => {
                let suite = kernel.suite.clone().filter(|_| kept.is_some());
                let suite = suite.map(|suite| folder.join(suite).display().to_string());
                kernels.push(KernelResult {
                    suite,
                    program,
                    launches: Some(kernel.launches),
                    ..KernelResult::of_suite(result, None)
                });
            }
            Err(error) => failed.push(Failed { kernel: name, suite: None, program, error, fault: None }),
        }
    }
    left_out.extend(captured.left_out.iter().map(|row| of_capture(row, None, None)));
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.result.header.kernel.as_str()).collect();
    let CaptureResult { header: Header { source, device, .. }, exit_code, signal, processes, program_s, .. } =
        captured.clone();
    let header = Header::new(MutateResult::SET_SCHEMA, names.join(", "), source, device, open.seed.unwrap_or(0));
    let program = ProgramRun { command: captured.command, exit_code, signal, processes, program_s, request: None };
    Ok(SetResult {
        elapsed_s: started.elapsed().as_secs_f64(),
        failed,
        left_out,
        notes: captured.notes,
        ..MutateSet::new(header, Some(program), kernels)
    })
}

fn of_capture(row: &capture::LeftOut, kernel: Option<String>, program: Option<String>) -> LeftOut {
    LeftOut { kernel, program, reason: row.reason.clone(), meaning: row.meaning.clone(), count: row.count }
}

/// Runs the mutants of a kernel on its suite; the error says why not, for people.
fn of_kernel(
    captured: &CaptureResult,
    kernel: &Kernel,
    folder: &Path,
    open: &OpenOptions,
    options: &MutateProgramOptions,
) -> std::result::Result<MutateResult, String> {
    let none = || kernel.error.clone().unwrap_or_else(|| "it has no suite".to_owned());
    let suite: PathBuf = folder.join(kernel.suite.as_ref().ok_or_else(none)?);
    let device = captured.programs.iter().find(|program| program.id == kernel.program).map(|program| &program.device);
    let device = device.filter(|name| !name.is_empty());
    let device = device.map_or(DeviceRequest::Auto, |name| DeviceRequest::Name(name.clone()));
    let opened =
        open.clone().device(device).start(StartWorkers::Jobs).open(suite).map_err(|error| error.to_string())?;
    let wanted = MutateOptions::new()
        .operators(options.operators.clone())
        .sample(options.sample)
        .timeout_factor(options.timeout_factor);
    let mut result = mutate(&opened, &wanted).map_err(|error| error.to_string())?;
    if let Some(replay) = kernel.replay.as_ref().filter(|replay| !replay.not_reproduced.is_empty()) {
        let count = replay.not_reproduced.len();
        result.notes.push(format!("{count} outputs of launches are not compared: two runs do not reproduce them"));
    }
    Ok(result)
}
