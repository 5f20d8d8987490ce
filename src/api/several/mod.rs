//! The functions for several suites or kernels at once: each in a process of its own, several side by side, one result
//! of all.

mod children;
mod files;
mod parts;
mod project;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_base::files::OutputLock;
use kassay_base::forked;
use kassay_base::json;
use kassay_ir::kernel::compile;
use kassay_results::result::Header;
use kassay_results::result::check::{CheckResult, CheckSet};
use kassay_results::result::cover::CoverResult;
use kassay_results::result::generate::{GenerateResult, GenerateSet};
use kassay_results::result::mutate::MutateResult;
use kassay_results::result::run::{RunResult, RunSet};
use kassay_results::result::schedule::{ScheduleResult, ScheduleSet};
use kassay_results::result::set::{CoverSet, Failed, Fault, InSet, KernelResult, MutateSet, SetResult};
use kassay_results::result::store;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::children::Task;
pub use self::files::{Wanted, are_several, expand, matching};
use self::parts::{Parts, name_of, part_of};
pub use self::project::{Asked, ProjectOptions, Question, ask_all};
use super::check::{CheckOptions, check};
use super::cover::{CoverOptions, cover};
use super::generate::{GenerateOptions, generate};
use super::mutate::{MutateOptions, mutate, too_low};
use super::observer::{Keeper, Message, Observer};
use super::options::OpenOptions;
use super::run::{RunOptions, run};
use super::schedule::{ScheduleOptions, schedule};

/// Runs the tests of several suites, as [`run`] does for each. `files` are suites, or folders with suites below them.
/// Outputs are saved in a folder for each suite.
///
/// # Errors
/// `Caller` if an option is wrong or a folder has no suite; `Environment` if a folder cannot be read. What fails for
/// one of the suites is part of the result.
pub fn run_all(files: &[PathBuf], open: &OpenOptions, options: &RunOptions) -> Result<RunSet> {
    let suites = expand(files, Wanted::Suites)?;
    each(files, &suites, open, |suite| {
        let own = options.save_outputs.as_ref().map(|folder| folder.join(part_of(suite)));
        options.clone().save_outputs(own)
    })
}

impl Measurement for RunOptions {
    type Result = RunResult;

    fn measure(self, suite: &Path, open: &OpenOptions) -> Result<RunResult> {
        run(&open.clone().syntax_tree(false).open(suite)?, &self)
    }
}

/// Measures the coverage of several suites, as [`cover`] does for each.
///
/// # Errors
/// As [`run_all`].
pub fn cover_all(files: &[PathBuf], open: &OpenOptions, options: &CoverOptions) -> Result<CoverSet> {
    let suites = expand(files, Wanted::Suites)?;
    each(files, &suites, open, |_| options.clone())
}

impl Measurement for CoverOptions {
    type Result = CoverResult;

    fn measure(self, suite: &Path, open: &OpenOptions) -> Result<CoverResult> {
        cover(&open.open(suite)?, &self)
    }
}

/// Makes mutants of the kernels of several suites, as [`mutate`] does for each. With [`MutateOptions::output`] the
/// result is written there; what is decided of each kernel before that is kept beside it, and with
/// [`MutateOptions::resume`] an interrupted run goes on with that.
///
/// # Errors
/// As [`run_all`]; `Caller` if another process is writing the result, or it is that of other files; `Environment` if
/// files cannot be written.
pub fn mutate_all(files: &[PathBuf], open: &OpenOptions, options: &MutateOptions) -> Result<MutateSet> {
    options.check(open.level)?;
    let suites = expand(files, Wanted::Suites)?;
    let parts = options
        .output
        .as_deref()
        .map(|output| Parts::begin("mutate-set", output, &suites, options.resume))
        .transpose()?;
    let own = options.clone().fail_under(None);
    let of = |suite: &Path| own.clone().output(parts.as_ref().map(|parts| parts.of(suite)));
    let mut set = each(files, &suites, open, of)?;
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

impl Measurement for MutateOptions {
    type Result = MutateResult;

    fn measure(self, suite: &Path, open: &OpenOptions) -> Result<MutateResult> {
        mutate(&open.open(suite)?, &self)
    }
}

/// Checks several suites or kernels, as [`check`] does for each: of a folder, the suites below it. Reproductions are
/// written into a folder for each.
///
/// # Errors
/// As [`run_all`].
pub fn check_all(files: &[PathBuf], open: &OpenOptions, options: &CheckOptions) -> Result<CheckSet> {
    let targets = expand(files, Wanted::Suites)?;
    each(files, &targets, open, |target| {
        let own = options.reproduce.as_ref().map(|folder| folder.join(part_of(target)));
        options.clone().reproduce(own)
    })
}

impl Measurement for CheckOptions {
    type Result = CheckResult;

    fn measure(self, target: &Path, open: &OpenOptions) -> Result<CheckResult> {
        let opened = if compile::is_kernel(target) { open.open_kernel(target)? } else { open.open(target)? };
        check(&opened, &self)
    }
}

/// Runs the tests of several suites under many schedules, as [`schedule`] does for each.
///
/// # Errors
/// As [`run_all`].
pub fn schedule_all(files: &[PathBuf], open: &OpenOptions, options: &ScheduleOptions) -> Result<ScheduleSet> {
    let suites = expand(files, Wanted::Suites)?;
    each(files, &suites, open, |_| options.clone())
}

impl Measurement for ScheduleOptions {
    type Result = ScheduleResult;

    fn measure(self, suite: &Path, open: &OpenOptions) -> Result<ScheduleResult> {
        schedule(&open.clone().syntax_tree(false).open(suite)?, &self)
    }
}

/// Generates suites for several kernels, as [`generate`] does for each: `files` are kernels, or folders with sources of
/// kernels below them. Each suite is written into a folder of its own in `folder`, with the name of the kernel's file.
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
    each(files, &kernels, open, |kernel| {
        let own = kernels.iter().zip(&folders).find(|(other, _)| *other == kernel).map_or(folder, |(_, own)| own);
        Generation { folder: own.to_owned(), options: options.clone() }
    })
}

/// The generation of a suite into a folder of its own.
#[derive(Serialize, Deserialize)]
struct Generation {
    #[serde(with = "kassay_base::files::paths")]
    folder: PathBuf,
    options: GenerateOptions,
}

impl Measurement for Generation {
    type Result = GenerateResult;

    fn measure(self, kernel: &Path, open: &OpenOptions) -> Result<GenerateResult> {
        let own = &self.folder;
        std::fs::create_dir_all(own)
            .map_err(|e| Error::environment(format!("cannot create {}: {e}", own.display())))?;
        let interface = own.join("interface.toml");
        // As for one kernel: OpenCL C tells its interface, with which the file has to agree.
        let declares = open.interface.is_none() && !compile::is_source(kernel) && interface.exists();
        let open = if declares { open.clone().interface(Some(interface)) } else { open.clone() };
        generate(&open.open_kernel(kernel)?, own, &self.options)
    }
}

/// What a child does with a file.
trait Measurement: Serialize + DeserializeOwned {
    type Result: Serialize + DeserializeOwned;

    /// Does it.
    fn measure(self, file: &Path, open: &OpenOptions) -> Result<Self::Result>;
}

/// What a child is given: a file, how it is opened, and what is done with it.
#[derive(Serialize, Deserialize)]
struct Assignment<M> {
    #[serde(with = "kassay_base::files::paths")]
    file: PathBuf,
    open: OpenOptions,
    measurement: M,
}

/// What a child answers.
#[derive(Serialize, Deserialize)]
struct Answer<R> {
    result: R,
    told: Vec<Message>,
}

/// Does with every file what `measurement` says, and puts the results together, in the order of the files.
fn each<M>(
    given: &[PathBuf],
    files: &[PathBuf],
    open: &OpenOptions,
    measurement: impl Fn(&Path) -> M,
) -> Result<SetResult<M::Result, <M::Result as InSet>::Total>>
where
    M: Measurement<Result: InSet>,
{
    open.check()?;
    let started = Instant::now();
    let task = |file: &PathBuf| {
        let given = Assignment { file: file.clone(), open: open.clone(), measurement: measurement(file) };
        Task { name: file.display().to_string(), input: given }
    };
    let answers: Vec<Result<M::Result>> = answers(
        files.iter().map(task).collect::<Vec<Task<Assignment<M>>>>(),
        open.jobs,
        "files",
        &*open.observer,
        |_, _| Ok(()),
    )?;
    let (mut kernels, mut failed) = (Vec::new(), Vec::new());
    for (file, answer) in files.iter().zip(answers) {
        let suite = Some(file.display().to_string());
        match answer {
            Ok(result) => kernels.push(KernelResult::of_suite(result, suite)),
            Err(error) => failed.push(failure(suite, &error)),
        }
    }
    Ok(SetResult { elapsed_s: started.elapsed().as_secs_f64(), ..assemble(given, open, kernels, failed) })
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
    let mut set = SetResult { failed, ..SetResult::new(header, None, kernels) };
    if !set.failed.is_empty() {
        R::count_missing(&mut set.total);
    }
    set
}

fn failure(suite: Option<String>, error: &Error) -> Failed {
    Failed { kernel: None, suite, program: None, error: error.to_string(), fault: Some(Fault::of(error)) }
}

/// Does all tasks. `keep` is given each result as soon as it is there.
///
/// # Errors
/// Errors of `keep`; `Environment` if the observer says to stop.
fn answers<M: Measurement>(
    tasks: Vec<Task<Assignment<M>>>,
    jobs: u32,
    things: &'static str,
    observer: &dyn Observer,
    mut keep: impl FnMut(usize, &M::Result) -> Result<()>,
) -> Result<Vec<Result<M::Result>>> {
    let count = tasks.len();
    let mut answers: Vec<Option<Result<M::Result>>> = tasks.iter().map(|_| None).collect();
    let mut known: BTreeSet<Message> = BTreeSet::new();
    let all = children::run(tasks, measured::<M>, jobs, things, observer, |number, bytes| {
        let answer = bytes.and_then(|bytes| {
            json::read::<Answer<M::Result>>(&bytes)
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
    let done: Vec<Result<M::Result>> = answers.into_iter().flatten().collect();
    match all && done.len() == count {
        true => Ok(done),
        false => Err(Error::environment(format!("interrupted: {} of {count} {things} are done", done.len()))),
    }
}

/// In a child: does what is to be done, and returns the bytes of its answer.
fn measured<M: Measurement>((jobs, given): (u32, Assignment<M>), _: &[u8]) -> Result<Vec<u8>> {
    forked::die_of_signals();
    let keeper = Arc::new(Keeper::default());
    let Assignment { file, open, measurement } = given;
    let result = measurement.measure(&file, &open.jobs(jobs).observer(keeper.clone()))?;
    json::bytes(&Answer { result, told: keeper.take() })
        .map_err(|e| Error::internal(format!("the result cannot be written as JSON: {e}")))
}

/// Returns the folder of what is generated for each file: that with the name of the file, or of the folder that a
/// `suite.toml` is in; if several have it, the one of [`part_of`].
fn suite_folders(kernels: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let stem = |kernel: &PathBuf| name_of(kernel).unwrap_or_default();
    let of = |kernel: &PathBuf| {
        let is_only = kernels.iter().filter(|other| stem(other) == stem(kernel)).count() == 1;
        if is_only { folder.join(stem(kernel)) } else { folder.join(part_of(kernel)) }
    };
    kernels.iter().map(of).collect()
}
