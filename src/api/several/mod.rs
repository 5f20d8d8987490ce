//! The functions for several suites or kernels at once: each in a process of its own, several side by side, one result of all.

mod children;
mod files;
mod parts;
mod project;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::children::Task;
pub use self::files::{Wanted, are_several, expand, matching};
use self::parts::{Parts, name_of, part_of};
pub use self::project::{Asked, Given, ProjectOptions, Question, ask_all};
use super::check::{CheckOptions, check};
use super::cover::{CoverOptions, cover};
use super::generate::{GenerateOptions, generate};
use super::mutate::{MutateOptions, mutate, too_low};
use super::observer::{Keeper, Message, Observer};
use super::options::OpenOptions;
use super::run::{RunOptions, run};
use super::schedule::{ScheduleOptions, schedule};
use crate::error::{Error, Result};
use crate::files::OutputLock;
use crate::kernel::compile;
use crate::result::Header;
use crate::result::check::CheckSet;
use crate::result::generate::GenerateSet;
use crate::result::run::RunSet;
use crate::result::schedule::ScheduleSet;
use crate::result::set::{CoverSet, Failed, Fault, InSet, KernelResult, MutateSet, SetResult};
use crate::result::store;

/// Runs the tests of several suites, as [`run`] does for each. `files` are suites, or folders with suites below them. Outputs are
/// saved in a folder for each suite.
///
/// # Errors
/// `Caller` if an option is wrong or a folder has no suite; `Environment` if a folder cannot be read. What fails for one of
/// the suites is part of the result.
pub fn run_all(files: &[PathBuf], open: &OpenOptions, options: &RunOptions) -> Result<RunSet> {
    let suites = expand(files, Wanted::Suites)?;
    let open = open.clone().syntax_tree(false);
    each(files, &suites, &open, |suite, open| {
        let own = options.save_outputs.as_ref().map(|folder| folder.join(part_of(suite)));
        run(&open.open(suite)?, &options.clone().save_outputs(own))
    })
}

/// Measures the coverage of several suites, as [`cover`] does for each.
///
/// # Errors
/// As [`run_all`].
pub fn cover_all(files: &[PathBuf], open: &OpenOptions, options: &CoverOptions) -> Result<CoverSet> {
    let suites = expand(files, Wanted::Suites)?;
    each(files, &suites, open, |suite, open| cover(&open.open(suite)?, options))
}

/// Makes mutants of the kernels of several suites, as [`mutate`] does for each. With [`MutateOptions::output`] the result is written
/// there; what is decided of each kernel before that is kept beside it, and with [`MutateOptions::resume`] an interrupted run
/// goes on with that.
///
/// # Errors
/// As [`run_all`]; `Caller` if another process is writing the result, or it is that of other files; `Environment` if files
/// cannot be written.
pub fn mutate_all(files: &[PathBuf], open: &OpenOptions, options: &MutateOptions) -> Result<MutateSet> {
    options.check()?;
    let suites = expand(files, Wanted::Suites)?;
    let parts = options
        .output
        .as_deref()
        .map(|output| Parts::begin("mutate-set", output, &suites, options.resume))
        .transpose()?;
    let own = options.clone().fail_under(None);
    let mut set = each(files, &suites, open, |suite, open| {
        let output = parts.as_ref().map(|parts| parts.of(suite));
        mutate(&open.open(suite)?, &own.clone().output(output))
    })?;
    set.complaints.extend(too_low(options.fail_under, set.total.score));
    if let (Some(output), Some(parts)) = (&options.output, parts) {
        store::write(&set, output)?;
        // The result is complete: what stays must not cost it.
        if let Err(e) = parts.end() {
            open.observer.note(&e.to_string());
        }
    }
    Ok(set)
}

/// Checks several suites or kernels, as [`check`] does for each: of a folder, the suites below it. Reproductions are written
/// into a folder for each.
///
/// # Errors
/// As [`run_all`].
pub fn check_all(files: &[PathBuf], open: &OpenOptions, options: &CheckOptions) -> Result<CheckSet> {
    let targets = expand(files, Wanted::Suites)?;
    let mut set = each(files, &targets, open, |target, open| {
        let opened = if compile::is_kernel(target) { open.open_kernel(target)? } else { open.open(target)? };
        let own = options.reproduce.as_ref().map(|folder| folder.join(part_of(target)));
        check(&opened, &options.clone().reproduce(own))
    })?;
    if !set.failed.is_empty() {
        set.total.add_unknown();
    }
    Ok(set)
}

/// Runs the tests of several suites under many schedules, as [`schedule`] does for each.
///
/// # Errors
/// As [`run_all`].
pub fn schedule_all(files: &[PathBuf], open: &OpenOptions, options: &ScheduleOptions) -> Result<ScheduleSet> {
    let suites = expand(files, Wanted::Suites)?;
    let open = open.clone().syntax_tree(false);
    each(files, &suites, &open, |suite, open| schedule(&open.open(suite)?, options))
}

/// Generates suites for several kernels, as [`generate`] does for each: `files` are kernels, or folders with sources of kernels
/// below them. Each suite is written into a folder of its own in `folder`, with the name of the kernel's file.
///
/// # Errors
/// As [`run_all`], and if `folder` is none.
pub fn generate_all(
    files: &[PathBuf],
    open: &OpenOptions,
    folder: &Path,
    options: &GenerateOptions,
) -> Result<GenerateSet> {
    options.check(open, folder)?;
    let kernels = expand(files, Wanted::Kernels)?;
    let folders = suite_folders(&kernels, folder);
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::environment(format!("cannot create {}: {e}", folder.display())))?;
    let _claim = OutputLock::of_folder(folder)?;
    each(files, &kernels, open, |kernel, open| {
        let own = kernels.iter().zip(&folders).find(|(other, _)| *other == kernel).map_or(folder, |(_, own)| own);
        std::fs::create_dir_all(own)
            .map_err(|e| Error::environment(format!("cannot create {}: {e}", own.display())))?;
        let interface = own.join("interface.toml");
        // As for one kernel: OpenCL C tells its interface, with which the file has to agree.
        let declares = open.interface.is_none() && !compile::is_source(kernel) && interface.exists();
        let open = if declares { open.clone().interface(Some(interface)) } else { open.clone() };
        generate(&open.open_kernel(kernel)?, own, options)
    })
}

/// What a child answers.
#[derive(Serialize, Deserialize)]
struct Answer<R> {
    result: R,
    told: Vec<Message>,
}

/// Does something with every file and puts the results together, in the order of the files.
fn each<R>(
    given: &[PathBuf],
    files: &[PathBuf],
    open: &OpenOptions,
    work: impl Fn(&Path, &OpenOptions) -> Result<R> + Copy,
) -> Result<SetResult<R, R::Total>>
where
    R: InSet + Serialize + DeserializeOwned,
{
    open.check()?;
    let begun = Instant::now();
    let task = |file: &PathBuf| {
        let (file, open) = (file.clone(), open.clone());
        let name = file.display().to_string();
        Task { name, work: Box::new(move |jobs| answer(&open.jobs(jobs), |open| work(&file, open))) }
    };
    let answers = answers(files.iter().map(task).collect(), open.jobs, "files", &*open.observer, |_, _: &R| Ok(()))?;
    let (mut kernels, mut failed) = (Vec::new(), Vec::new());
    for (file, answer) in files.iter().zip(answers) {
        let suite = Some(file.display().to_string());
        match answer {
            Ok(result) => kernels.push(KernelResult { result, suite, program: None, launches: None }),
            Err(error) => failed.push(failure(suite, &error)),
        }
    }
    Ok(SetResult { elapsed_s: begun.elapsed().as_secs_f64(), ..assemble(given, open, kernels, failed) })
}

/// Puts results together.
fn assemble<R: InSet>(
    given: &[PathBuf],
    open: &OpenOptions,
    kernels: Vec<KernelResult<R>>,
    failed: Vec<Failed>,
) -> SetResult<R, R::Total> {
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.result.header().kernel.as_str()).collect();
    let first = kernels.first().and_then(|kernel| kernel.result.header().device.clone());
    let device = first.filter(|first| kernels.iter().all(|k| k.result.header().device.as_ref() == Some(first)));
    let given: Vec<String> = given.iter().map(|path| path.display().to_string()).collect();
    let header = Header::new(R::SET_SCHEMA, names.join(", "), given.join(", "), device, open.seed.unwrap_or(0));
    SetResult { failed, ..SetResult::new(header, None, kernels) }
}

fn failure(suite: Option<String>, error: &Error) -> Failed {
    Failed { kernel: None, suite, program: None, error: error.to_string(), fault: Some(Fault::of(error)) }
}

/// Does all tasks, whose answers are those of [`answer`]. `keep` is given each result as soon as it is there.
///
/// # Errors
/// Those of `keep`; `Environment` if the observer says to stop.
fn answers<R: DeserializeOwned>(
    tasks: Vec<Task<'_>>,
    jobs: u32,
    things: &'static str,
    observer: &dyn Observer,
    mut keep: impl FnMut(usize, &R) -> Result<()>,
) -> Result<Vec<Result<R>>> {
    let count = tasks.len();
    let mut answers: Vec<Option<Result<R>>> = tasks.iter().map(|_| None).collect();
    let mut known: BTreeSet<Message> = BTreeSet::new();
    let all = children::run(tasks, jobs, things, observer, |number, bytes| {
        let answer = bytes.and_then(|bytes| {
            serde_json::from_slice::<Answer<R>>(&bytes)
                .map_err(|e| Error::internal(format!("a result cannot be read back: {e}")))
        });
        answers[number] = Some(match answer {
            Ok(Answer { result, told }) => {
                // Such as that the simulator replaces a device, for every kernel.
                told.into_iter()
                    .filter(|message| known.insert(message.clone()))
                    .for_each(|message| message.tell(observer));
                keep(number, &result)?;
                Ok(result)
            }
            Err(error) => Err(error),
        });
        Ok(())
    })?;
    let done: Vec<Result<R>> = answers.into_iter().flatten().collect();
    match all && done.len() == count {
        true => Ok(done),
        false => Err(Error::environment(format!("interrupted: {} of {count} {things} are done", done.len()))),
    }
}

/// Does the work, in the child, and returns the bytes of its answer.
fn answer<R: Serialize>(open: &OpenOptions, work: impl FnOnce(&OpenOptions) -> Result<R>) -> Result<Vec<u8>> {
    let keeper = Arc::new(Keeper::default());
    let result = work(&open.clone().observer(keeper.clone()))?;
    serde_json::to_vec(&Answer { result, told: keeper.take() })
        .map_err(|e| Error::internal(format!("the result cannot be written as JSON: {e}")))
}

/// Returns the folder of what is generated for each file: that with the name of the file, or of the folder that a `suite.toml` is in;
/// if several have it, the one of [`part_of`].
fn suite_folders(kernels: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let stem = |kernel: &PathBuf| name_of(kernel).unwrap_or_default();
    let of = |kernel: &PathBuf| {
        let is_only = kernels.iter().filter(|other| stem(other) == stem(kernel)).count() == 1;
        if is_only { folder.join(stem(kernel)) } else { folder.join(part_of(kernel)) }
    };
    kernels.iter().map(of).collect()
}
