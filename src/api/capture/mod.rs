//! Captures the launches of a host program as suites.

mod batches;
mod replay;
mod suites;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_base::files::{self, OutputLock, private};
use kassay_base::json;
use kassay_results::result::capture::{self as result, CaptureResult};
use kassay_results::result::{Header, store};
use kassay_run::host::{
    self, BuildStatus, CaptureSettings, Ended, LaunchedKernel, Session, SourceFiles, Spool, Verify,
};

use super::host_kernel::{self, cannot_write, no_call};
use super::live::{CoverageWeaver, verified};
use super::options::{OpenOptions, options};

options! {
    /// Options of [`capture`].
    pub struct CaptureOptions {
        /// Whether requests for a GPU get the CPU device where there is no GPU.
        shown_as_gpu: bool = false,
        /// Launches kept of a kernel, at most.
        max_launches: u64 = 8,
        /// Bytes of contents kept of all launches together, at most.
        max_bytes: u64 = 1 << 30,
        /// Shell patterns of kernels' names (`fnmatch`); empty: all kernels.
        kernels: Vec<String> = Vec::new(),
        /// Whether to keep all launches, as far as `max_bytes` goes.
        all: bool = false,
        /// Whether launches that cover what no earlier one of their kernel has covered are kept, too. The program's
        /// kernels then run with probes.
        sample_by_coverage: bool = false,
        /// Which launches of a woven kernel are compared with the program's own.
        verify: Verify = Verify::First,
        /// Whether the suites are run: without, they expect what the program's launches left, bit for bit.
        replay: bool = true,
        /// Whether the program is run once more before, without kassay, to measure how long that takes. Whatever it
        /// does, it then does twice.
        measure_native: bool = false,
    }
}

/// The name of the result in its folder.
const RESULT: &str = "capture.json";
/// The folders that it is making: what a capture that is killed has left is known by it.
const UNFINISHED: &str = "capture.unfinished.json";

/// Runs a host program, keeps launches of its kernels as suites in `folder`, and runs these on the same device to find
/// out which tolerances they need. Writes `folder/capture.json`. The program runs with this process's standard streams
/// and working directory.
///
/// # Errors
/// `Caller` if there is no such program, or the folder holds anything but an earlier capture; `Environment` if the
/// program made no OpenCL call, or files cannot be written. What cannot be captured is part of the result.
pub fn capture(
    command: &[OsString],
    folder: &Path,
    open: &OpenOptions,
    options: &CaptureOptions,
) -> Result<CaptureResult> {
    capture_by(command, folder, open, options, |session| session.run(command))
}

/// Like [`capture`]; `run` runs the program.
///
/// # Errors
/// As [`capture`] and `run`.
pub(super) fn capture_by(
    command: &[OsString],
    folder: &Path,
    open: &OpenOptions,
    options: &CaptureOptions,
    run: impl FnOnce(&Session) -> Result<Ended>,
) -> Result<CaptureResult> {
    open.check()?;
    let started = Instant::now();
    let replaced = earlier(folder)?;
    let is_new = !folder.exists();
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    let _claim = OutputLock::of_folder(folder)?;
    let CaptureOptions { shown_as_gpu, max_launches, max_bytes, kernels, all, sample_by_coverage, verify, .. } =
        options.clone();
    let after = true;
    let settings = CaptureSettings {
        after,
        as_gpu: shown_as_gpu,
        max_launches,
        max_bytes,
        kernels,
        all,
        sample_by_coverage,
        verify,
    };
    let mut session = Session::new(folder, &settings)?;
    if sample_by_coverage {
        let weaver = CoverageWeaver::new(session.spool(), open, false, settings.kernels).with_one_slot();
        session.answer(Arc::new(weaver))?;
    }
    let natively = options.measure_native.then(|| host::run_natively(command)).transpose();
    let (natively, ended) = match natively {
        Ok(natively) => (natively, run(&session)),
        Err(error) => (None, Err(error)),
    };
    session.fall_silent();
    let read = ended.and_then(|ended| Ok((ended, Spool::read(session.spool())?)));
    let (ended, mut spool) = match read {
        Ok((ended, spool)) if !spool.processes.is_empty() => (ended, spool),
        other => {
            let drivers = session.drivers().to_vec();
            drop(session);
            if is_new {
                let _ = fs::remove_dir(folder);
            }
            return Err(other.map_or_else(|error| error, |(ended, _)| no_call(&ended, &drivers)));
        }
    };
    let most = (!options.all).then_some(options.max_launches);
    let kernels = host::kernels_of(&mut spool.processes, most);
    let folders = batches::folder_names(&kernels);
    // On a full disk it may fail, but what there is room for is kept.
    let _ = store::write(&folders, &folder.join(UNFINISHED));
    for old in replaced {
        let _ = fs::remove_dir_all(folder.join(old));
    }
    let _ = fs::remove_file(folder.join(RESULT));
    let staging = session.spool().join("suites");
    let maker = batches::Maker { folder, staging: &staging, spool: &spool, open, replay: options.replay };
    let mut suites = maker.make(&kernels, &folders)?;
    let lost = suites.lost.take();
    let result = assemble(command, (&ended, natively), &spool, kernels, suites, folder, started);
    // Its room is wanted on a disk that is full.
    drop(session);
    store::write(&result, &folder.join(RESULT))?;
    let _ = fs::remove_file(folder.join(UNFINISHED));
    lost.map_or(Ok(result), |error| Err(error.help(format!("free some space; {} says what is kept", RESULT))))
}

/// Returns the folders of the suites of an earlier capture, and what one that was killed has left; nothing if the
/// folder is empty or not there.
fn earlier(folder: &Path) -> Result<Vec<PathBuf>> {
    files::remove_left(folder);
    let names: Vec<OsString> = match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.file_name()).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Error::caller(format!("cannot capture into {}: {error}", folder.display()))
                .help("name a folder; it need not exist yet"));
        }
    };
    let is_spool = |name: &OsString| name.as_encoded_bytes().starts_with(private::SPOOL.as_bytes());
    let (spools, others): (Vec<OsString>, Vec<OsString>) = names.into_iter().partition(is_spool);
    let mut left: Vec<PathBuf> = spools.into_iter().map(PathBuf::from).collect();
    // Another capture, or a program that goes on after one was killed.
    left.retain(|spool| !private::is_in_use(&std::path::absolute(folder.join(spool)).unwrap_or_default()));
    if others.is_empty() {
        return Ok(left);
    }
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let known = text(RESULT).and_then(|text| json::read::<CaptureResult>(text.as_bytes()).ok());
    let unfinished = text(UNFINISHED).and_then(|text| json::read::<Vec<PathBuf>>(text.as_bytes()).ok());
    if known.is_none() && unfinished.is_none() {
        return Err(Error::caller(format!("{} holds files that are not of a capture", folder.display()))
            .help("name an empty folder, or one that does not exist"));
    }
    let kernels = known.iter().flat_map(|known| &known.kernels);
    let folders = kernels.filter_map(|kernel| Some(Path::new(kernel.suite.as_ref()?).parent()?.to_owned()));
    // A file that was edited must not lead out of the folder.
    let is_plain = |path: &PathBuf| path.components().count() == 1 && path.file_name().is_some();
    left.extend(folders.chain(unfinished.into_iter().flatten()).filter(is_plain));
    Ok(left)
}

fn assemble(
    command: &[OsString],
    (ended, natively): (&Ended, Option<Ended>),
    spool: &Spool,
    kernels: Vec<LaunchedKernel>,
    suites: batches::Suites,
    folder: &Path,
    started: Instant,
) -> CaptureResult {
    let batches::Suites { made, files, device, lost: _ } = suites;
    let launched: BTreeSet<&str> = kernels.iter().map(|kernel| kernel.program.as_str()).collect();
    let programs = programs(spool, &launched, &files, folder);
    let mut notes = spool.notes.clone();
    if kernels.is_empty() {
        notes.push("the program launched no kernel".to_owned());
    }
    if let Some(natively) =
        natively.filter(|native| (native.exit_code, native.signal) != (ended.exit_code, ended.signal))
    {
        notes.push(format!("without kassay, {}", host_kernel::end(&natively)));
    }
    let command: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    names.dedup();
    let source = command.first().cloned().unwrap_or_default();
    let header = Header::new(CaptureResult::SCHEMA, names.join(", "), source, device, 0);
    let row = |(kernel, made): (LaunchedKernel, suites::Made)| result::Kernel {
        name: kernel.name,
        program: kernel.program,
        launches: kernel.launches,
        refused: kernel.refused,
        kept: made.kept,
        kept_for_coverage: made.kept_for_coverage,
        left_out: made.left_out,
        suite: made.suite,
        error: made.error,
        replay: made.replay,
    };
    let differ = kernels.iter().filter_map(|kernel| verified::differs(spool, kernel));
    let complaints = differ.map(|row| row.complaint()).collect();
    notes.extend(verified::not_compared(spool));
    CaptureResult {
        header,
        complaints,
        elapsed_s: started.elapsed().as_secs_f64(),
        program_s: ended.seconds,
        native_s: natively.map(|ended| ended.seconds),
        command,
        exit_code: ended.exit_code,
        signal: ended.signal.map(host::signal_name),
        processes: spool.processes.len() as u64,
        programs,
        kernels: kernels.into_iter().zip(made).map(row).collect(),
        left_out: suites::left_out(host::unknown_launches(&spool.processes)),
        notes,
    }
}

fn programs(
    spool: &Spool,
    launched: &BTreeSet<&str>,
    files: &BTreeMap<String, String>,
    folder: &Path,
) -> Vec<result::Program> {
    let working = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let below = SourceFiles::below(&working, folder);
    let row = |program: &host::Program| {
        let texts = match &program.origin {
            host::Origin::Source { pieces } => pieces.iter().filter_map(|piece| spool.contents(&piece.blob)).collect(),
            _ => Vec::new(),
        };
        let same = host::same_texts(&below, &texts).into_iter();
        let options = program.options.clone().unwrap_or_default();
        let directory = program.directory.as_deref().unwrap_or(Path::new("/"));
        result::Program {
            id: program.id.clone(),
            origin: origin(spool, program, 0),
            dropped_options: host::translate(&options, directory).dropped,
            options,
            file: files.get(&program.id).cloned(),
            same_text: same
                .map(|same| result::SameText { file: same.file.display().to_string(), line: same.line })
                .collect(),
            device: program.device.name.clone(),
            status: match program.status {
                BuildStatus::Error => result::BuildStatus::Failed,
                BuildStatus::Success => result::BuildStatus::Built,
                // It has kernels, so it was built.
                BuildStatus::Unknown if launched.contains(program.id.as_str()) => result::BuildStatus::Built,
                BuildStatus::Unknown => result::BuildStatus::Unknown,
            },
            log: program.log.clone(),
        }
    };
    spool.programs.values().map(row).collect()
}

/// Where a program's code comes from; of one that was linked, where that of its first part comes from.
fn origin(spool: &Spool, program: &host::Program, depth: u32) -> result::Origin {
    match &program.origin {
        host::Origin::Source { .. } => result::Origin::Source,
        host::Origin::Il { .. } => result::Origin::Il,
        host::Origin::Binary { .. } => result::Origin::Binary,
        host::Origin::BuiltIn { .. } => result::Origin::BuiltIn,
        host::Origin::Linked { inputs } => {
            let first = inputs.iter().find_map(|id| spool.programs.get(id));
            // Libraries are linked from others, but a damaged file could say so without end.
            match first.filter(|_| depth < 100) {
                Some(first) => origin(spool, first, depth + 1),
                None => result::Origin::Binary,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_capture_left_is_known_and_what_is_not_of_one_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("k")).unwrap();
        fs::write(at("k/suite.toml"), "").unwrap();
        assert!(earlier(folder.path()).is_err());
        fs::write(at(UNFINISHED), r#"["k", "../elsewhere", "/", "not-yet-made"]"#).unwrap();
        // One that it was writing.
        fs::write(at(".kassay-4999999-abc.tmp"), "[").unwrap();
        assert_eq!(earlier(folder.path()).unwrap(), [PathBuf::from("k"), "not-yet-made".into()]);
        assert!(!at(".kassay-4999999-abc.tmp").exists() && at("k/suite.toml").exists());
        fs::write(at(UNFINISHED), "[").unwrap();
        assert!(earlier(folder.path()).is_err());
    }
}
