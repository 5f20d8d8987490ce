//! Runs the tests of a suite and compares their outputs with the expectations.

use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_judge::coverage::group_order::{self, MappedProgram};
use kassay_model::interface::Type;
use kassay_results::result::run::{AgainstSource, Comparison, Mismatch, Output, RunResult, Summary, Test, TestStatus};
use kassay_results::result::{Device, Header};
use kassay_run::exec::simulator::Simulator;
use kassay_run::exec::{Code, Executor, Fault, Observation, ProgramId, SIMULATOR};
use kassay_suite::resolve;
use kassay_suite::{compare, npy};
use serde::{Deserialize, Serialize};

use super::against_source;
use super::executors::{self, Loading};
use super::input::{Parsed, SyntaxTree};
use super::observer::run_parallel;
use super::opened::Opened;
use super::options::options;
use super::second_opinion;

options! {
    /// Options of [`run`].
    #[derive(Serialize, Deserialize)]
    pub struct RunOptions {
        /// The folder to which the outputs of each test are written, as `<test>/<argument>.npy`.
        #[serde(with = "kassay_base::files::paths")]
        save_outputs: Option<PathBuf> = None,
        /// Whether the driver's own compiler makes the same of the kernel's text: each test runs with both.
        against_source: bool = false,
    }
}

/// An executor with the kernel loaded; on a device also with a version that follows an order of work-groups, if some
/// test has one.
struct Runner {
    executor: Box<dyn Executor>,
    plain: ProgramId,
    mapped: Option<MappedProgram>,
    /// The kernel as the driver compiles its text, if that is asked for; or why it is not there.
    source: Option<std::result::Result<ProgramId, String>>,
}

/// Which code of a kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// kassay's.
    Kernel,
    /// What the driver compiles, if it was asked for and can be.
    Source,
}

/// Runs a test. The inner error says why the code is not there.
type Runs<'r> = dyn FnMut(Of) -> Result<std::result::Result<Ended, String>> + 'r;

/// Runs the tests of a suite and compares their outputs with the expectations.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{OpenOptions, RunOptions, run};
///
/// let opened =
///     OpenOptions::new().device("sim".into()).syntax_tree(false).open("testdata/vector_add/suite.toml")?;
/// let result = run(&opened, &RunOptions::new())?;
/// assert_eq!(result.summary.failed + result.summary.broken, 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if a kernel without a suite was opened, or the device does not support a test; `Environment` if there is
/// no device or it fails, or outputs cannot be saved. Faults of the kernel are part of the result.
pub fn run(opened: &Opened, options: &RunOptions) -> Result<RunResult> {
    options.check()?;
    let started = opened.begin();
    opened.check_suite()?;
    let (mut results, mut device, mut notes) = (Vec::new(), None, Vec::new());
    for specialisation in opened.specialisations() {
        let ran = run_tests(specialisation, options)?;
        results.extend(ran.results);
        device.get_or_insert(ran.device);
        notes.extend(ran.note);
    }
    opened.sort_by_test(&mut results, |test| &test.name);
    if device.as_ref().is_some_and(|device| device.kind != SIMULATOR) {
        second_opinion::add(opened, &mut results, |simulated| Ok(run(simulated, &RunOptions::new())?.tests));
    }
    let mut summary = Summary { total: results.len() as u64, ..Summary::default() };
    for test in &results {
        match test.status {
            TestStatus::Passed => summary.passed += 1,
            TestStatus::Failed => summary.failed += 1,
            TestStatus::Unchecked => summary.unchecked += 1,
            TestStatus::Timeout | TestStatus::Crashed | TestStatus::Rejected => summary.broken += 1,
        }
    }
    Ok(RunResult {
        header: Header::new(RunResult::SCHEMA, opened.entry().to_owned(), opened.source(), device, opened.seed()),
        elapsed_s: started.elapsed().as_secs_f64(),
        tests: results,
        summary,
        notes,
    })
}

/// What comparisons with the driver's own compiler have shown.
#[derive(Default)]
pub(super) struct BesideSources {
    /// Of tests that leave something else.
    pub complaints: Vec<String>,
    /// Of tests that were not compared.
    pub notes: Vec<String>,
}

/// Compares what all tests leave with what they leave as the driver compiles the kernel.
///
/// # Errors
/// As [`run`].
pub(super) fn beside_sources(opened: &Opened) -> Result<BesideSources> {
    let result = run(opened, &RunOptions::new().against_source(true))?;
    let mut beside = BesideSources::default();
    let kernel = &result.header.kernel;
    for test in &result.tests {
        let Some(AgainstSource { comparison, message: Some(message) }) = &test.against_source else { continue };
        let name = &test.name;
        match comparison {
            Comparison::Differs => beside.complaints.push(format!(
                "{kernel}, test {name}: kassay's code leaves something else than the driver makes of the source: {message}"
            )),
            _ => beside.notes.push(format!("test {name} was not compared with the source: {message}")),
        }
    }
    beside.notes.dedup();
    Ok(beside)
}

/// Runs the tests of a specialisation. Returns their rows.
fn run_tests(opened: &Opened, options: &RunOptions) -> Result<Ran<Test>> {
    let source = options.against_source.then(|| against_source::code(opened));
    let types = match options.against_source {
        true => opened.with_suite(SyntaxTree::NotNeeded, |parsed| Ok(parsed.under_test.memory_types()))?,
        false => Vec::new(),
    };
    each_test_again(opened, source, |t, runs| {
        let result = &kernel(runs)?;
        let observation = match result {
            Ok(observation) => Some(observation),
            Err(Fault::Checked { observation, .. }) => Some(&**observation),
            Err(_) => None,
        };
        if let (Some(folder), Some(observation)) = (&options.save_outputs, observation) {
            save(folder, t, &observation.outputs)?;
        }
        let row = match result {
            Ok(observation) => judge(t, observation),
            Err(fault) => faulted(t, fault),
        };
        let against_source = if options.against_source { Some(beside_source(t, &types, result, runs)?) } else { None };
        Ok(Test { against_source, ..row })
    })
}

/// Runs a test with kassay's code.
fn kernel(runs: &mut Runs<'_>) -> Result<Ended> {
    runs(Of::Kernel)?.map_err(Error::internal)
}

/// Runs a test as the driver compiles the kernel, and compares.
fn beside_source(
    test: &resolve::Test,
    types: &[Option<Type>],
    result: &Ended,
    runs: &mut Runs<'_>,
) -> Result<AgainstSource> {
    match runs(Of::Source)? {
        Ok(source) => {
            against_source::compared(test, types, result, &source, || runs(Of::Source)?.map_err(Error::internal))
        }
        Err(why) => Ok(AgainstSource { comparison: Comparison::NotCompared, message: Some(why) }),
    }
}

/// What was made of the tests of a specialisation.
struct Ran<T> {
    results: Vec<T>,
    device: Device,
    /// Says which tests were left out.
    note: Option<String>,
}

/// What was made of the tests, the executors that ran them, and which tests were left out.
type Judged<T> = (Vec<T>, Vec<Box<dyn Executor>>, Option<String>);

/// How a launch ended.
pub(super) type Ended = std::result::Result<Observation, Fault>;

/// Runs each test of a specialisation once. Returns what `judge` makes of how they ended.
pub(super) fn each_test<T: Send>(
    opened: &Opened,
    judge: impl Fn(&resolve::Test, &Ended) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    Ok(each_test_again(opened, None, |test, runs| judge(test, &kernel(runs)?))?.results)
}

/// Calls `judge` with each test of a specialisation and a function that runs it.
fn each_test_again<T: Send>(
    opened: &Opened,
    source: Option<std::result::Result<Code, String>>,
    judge: impl Fn(&resolve::Test, &mut Runs<'_>) -> Result<T> + Sync,
) -> Result<Ran<T>> {
    let (results, executors, note) = opened.with_suite(SyntaxTree::NotNeeded, |parsed| {
        each_loaded(opened, parsed, (Loading::begin(opened, parsed)?, source), judge)
    })?;
    Ok(Ran { results, device: executors::device(executors[0].device()), note })
}

/// Like `each_test_again`, on executors that are ready, of which there is at least one. They are given back, with
/// nothing loaded.
///
/// # Errors
/// Errors of the device, which is then not to be used again; `Caller` if it does not support a test.
pub(super) fn each_test_on<T: Send>(
    executors: Vec<Box<dyn Executor>>,
    opened: &Opened,
    judge: impl Fn(&resolve::Test, &mut dyn FnMut() -> Result<Ended>) -> Result<T> + Sync,
) -> Result<Judged<T>> {
    opened.with_suite(SyntaxTree::NotNeeded, |parsed| {
        let loading = Loading::begin_on(opened, executors, parsed)?;
        each_loaded(opened, parsed, (loading, None), |test, runs| judge(test, &mut || kernel(runs)))
    })
}

fn each_loaded<T: Send>(
    opened: &Opened,
    parsed: &Parsed<'_>,
    (loading, source): (Loading, Option<std::result::Result<Code, String>>),
    judge: impl Fn(&resolve::Test, &mut Runs<'_>) -> Result<T> + Sync,
) -> Result<Judged<T>> {
    let under_test = &parsed.under_test;
    let capabilities = loading.capabilities();
    if source.is_some() && !capabilities.compiles {
        return Err(Error::caller("the simulator has no compiler of its own to compare with")
            .help("name an OpenCL device (--device opencl), or leave --against-source out"));
    }
    let Loading { tests, executors, mut note, trapping } = loading;
    let is_mapped = |t: &resolve::Test| !t.launch.schedule.map.is_empty();
    let is_wanted = group_order::is_needed(capabilities, &tests);
    let code = is_wanted.then(|| group_order::build(under_test, capabilities.target)).transpose()?;
    let mut runners = Vec::new();
    for (mut executor, plain) in executors {
        executor.finish_load(plain)?;
        let mapped = code.as_ref().map(|code| code.load(executor.as_mut())).transpose()?;
        let built =
            |code: &Code| executor.load(code).map_err(|error| format!("the driver does not take the text: {error}"));
        let source = source.as_ref().map(|code| code.as_ref().map_err(Clone::clone).and_then(built));
        runners.push(Runner { executor, plain, mapped, source });
    }
    let timeout = opened.options().timeout;
    let launching = kassay_run::exec::RunOptions { timeout, repeats: 1, probe_words: None, outputs: true };
    let mut results = run_parallel(&mut runners, &tests, "tests", opened.observer(), |runner, t| {
        judge(t, &mut |of| {
            let executor = &mut *runner.executor;
            let ended = match (of, runner.mapped.filter(|_| is_mapped(t)), &runner.source) {
                (Of::Source, _, Some(Ok(source))) => executor.run(*source, &t.launch, &launching),
                (Of::Source, _, Some(Err(why))) => return Ok(Err(why.clone())),
                (_, Some(program), _) => program.run(executor, &t.launch, &launching),
                _ => executor.run(runner.plain, &t.launch, &launching),
            };
            ended.map(Ok)
        })
    })?;
    if let Some(trapping) = trapping {
        // What the device does not report must not pass for well.
        let mut simulator = Simulator::new(1)?;
        let program = simulator.load(&under_test.plain(simulator.target())?)?;
        for test in &trapping.tests {
            results.push(judge(test, &mut |of| match of {
                Of::Kernel => simulator.run(program, &test.launch, &launching).map(Ok),
                Of::Source => Ok(Err("the device does not report traps".to_owned())),
            })?);
        }
        note = note.into_iter().chain([trapping.simulated()]).reduce(executors::joined);
    }
    let unloaded = runners.into_iter().map(|mut runner| {
        runner.executor.unload(runner.plain);
        runner.source.and_then(std::result::Result::ok).into_iter().for_each(|source| runner.executor.unload(source));
        runner.executor
    });
    Ok((results, unloaded.collect(), note))
}

impl RunOptions {
    /// Checks the options.
    ///
    /// # Errors
    /// `Caller` if outputs cannot be saved.
    pub(crate) fn check(&self) -> Result<()> {
        match self.save_outputs.as_ref().filter(|f| f.exists() && !f.is_dir()) {
            None => Ok(()),
            Some(file) => Err(Error::caller(format!("cannot save outputs in {}: it is not a folder", file.display()))
                .help("give --save-outputs a folder; it need not exist yet")),
        }
    }
}

/// Compares the outputs of a completed launch with the expectations.
fn judge(test: &resolve::Test, observation: &Observation) -> Test {
    let outputs: Vec<Output> = test
        .expectations
        .iter()
        .map(|e| {
            let actual = observation.outputs.iter().find(|(p, _)| *p == e.position).map_or(&[][..], |(_, b)| b);
            let c = compare::compare(&e.bytes, actual, Some(&e.ty), e.tolerance);
            let label = test.outputs.iter().find(|o| o.position == e.position).map(|o| o.label.clone());
            Output {
                arg: label.unwrap_or_else(|| e.position.to_string()),
                passed: c.passed(),
                mismatches: c.mismatches,
                elements: c.elements,
                first: c.first.map(|m| Mismatch {
                    index: m.index,
                    field: m.field,
                    expected: m.expected,
                    actual: m.actual,
                }),
                largest_absolute_error: c.largest_absolute_error,
            }
        })
        .collect();
    let status = match () {
        () if outputs.is_empty() => TestStatus::Unchecked,
        () if outputs.iter().all(|o| o.passed) => TestStatus::Passed,
        () => TestStatus::Failed,
    };
    Test {
        name: test.name.clone(),
        status,
        reason: observation.allowed.as_ref().map(|what| format!("as the test allows: {what}")),
        outputs,
        kernel_s: observation.kernel_times.last().map(std::time::Duration::as_secs_f64),
        printf: observation.printf.clone(),
        against_source: None,
    }
}

/// Returns the row of a test whose launch faulted or did not complete.
fn faulted(test: &resolve::Test, fault: &Fault) -> Test {
    let reason = Some(format!("the kernel {fault}"));
    let status = match fault {
        // The launch went on after the fault; its outputs are compared too.
        Fault::Checked { observation, .. } => {
            return Test { status: TestStatus::Failed, reason, ..judge(test, observation) };
        }
        Fault::Timeout { .. } => TestStatus::Timeout,
        Fault::Crash { .. } | Fault::Stopped { .. } => TestStatus::Crashed,
        Fault::Rejected { .. } => TestStatus::Rejected,
    };
    Test {
        name: test.name.clone(),
        status,
        reason,
        outputs: Vec::new(),
        kernel_s: None,
        printf: String::new(),
        against_source: None,
    }
}

/// Returns a name as that of a file or a folder: it may not lead elsewhere.
fn file_name(name: &str) -> String {
    let safe: String = name.chars().map(|c| if c == '/' || c == '\0' { '_' } else { c }).collect();
    if safe.chars().all(|c| c == '.') { "_".repeat(safe.len().max(1)) } else { safe }
}

/// Writes the outputs of a test as `.npy` files.
fn save(folder: &Path, test: &resolve::Test, outputs: &[(u32, Vec<u8>)]) -> Result<()> {
    let folder = folder.join(file_name(&test.name));
    std::fs::create_dir_all(&folder).map_err(|e| {
        Error::environment(format!("cannot make the folder {}: {e}", folder.display()))
            .help("give --save-outputs a folder in which files can be made")
    })?;
    for output in &test.outputs {
        if let Some((_, bytes)) = outputs.iter().find(|(p, _)| *p == output.position) {
            npy::write(&folder.join(format!("{}.npy", file_name(&output.label))), &output.ty, &output.shape, bytes)?;
        }
    }
    Ok(())
}
