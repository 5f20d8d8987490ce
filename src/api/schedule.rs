//! Tests whether outputs depend on the order in which work-groups and work-items run.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use kassay_base::error::{Error, Result};
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::coverage::group_order::{self, MappedProgram};
use kassay_judge::sync::schedule_families;
use kassay_judge::sync::schedule_families::{Plan, Planned};
use kassay_judge::sync::scheduling::{self, ScheduleRunner};
use kassay_model::code::LoweringOptions;
use kassay_results::result::Header;
use kassay_results::result::schedule::{ScheduleResult, Test, Verdict};
use kassay_results::result::store;
use kassay_run::exec::{DeviceInfo, Executor, Schedules, Simulator, simulator};
use kassay_suite::resolve;
use serde::{Deserialize, Serialize};

use super::executors::{self, Runnable};
use super::input::SyntaxTree;
use super::observer::run_parallel;
use super::opened::Opened;
use super::options::{check_range, options};

options! {
    /// Options of [`schedule`].
    #[derive(Serialize, Deserialize)]
    pub struct ScheduleOptions {
        /// The number of schedules per test.
        schedules: u32 = 10,
        /// Runs of each schedule; `None`: 20, or 1 on the simulator, where all runs of a schedule are identical.
        repeats: Option<u32> = None,
        /// A schedule of an earlier result, to run again together with the one that it was compared with.
        replay: Option<Replay> = None,
    }
}

/// A schedule of an earlier result, by its index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    #[serde(with = "kassay_base::files::paths")]
    result: PathBuf,
    index: u64,
}

impl FromStr for Replay {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (path, index) = text.rsplit_once(':').ok_or("not of the form RESULT:INDEX")?;
        let index = index.parse().map_err(|_| format!("`{index}` is no index of a schedule"))?;
        Ok(Replay { result: path.into(), index })
    }
}

/// Default number of runs of a schedule on devices (PENG 4.3).
const DEVICE_REPEATS: u32 = 20;

/// Schedules of a test that are run again.
struct Replayed<'a> {
    /// The file that has them.
    result: &'a Path,
    /// The test's name.
    test: String,
    /// With their indices there.
    schedules: Vec<(u64, Planned)>,
}

/// Runs the tests of a suite under several orders of work-groups and, on the simulator, of work-items.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{OpenOptions, ScheduleOptions, schedule};
///
/// let opened =
///     OpenOptions::new().device("sim".into()).syntax_tree(false).open("testdata/vector_add/suite.toml")?;
/// let result = schedule(&opened, &ScheduleOptions::new())?;
/// assert_eq!(result.summary.stable, result.summary.total);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if a kernel without a suite was opened, the device cannot keep a schedule, or the one to replay does not
/// fit; `Environment` if there is no device or it fails.
pub fn schedule(opened: &Opened, options: &ScheduleOptions) -> Result<ScheduleResult> {
    check_range("schedules", options.schedules, 1..=100_000)?;
    options.repeats.map_or(Ok(()), |repeats| check_range("repeats", repeats, 1..=100_000))?;
    let started = opened.begin();
    opened.check_suite()?;
    let replayed = options.replay.as_ref().map(|replay| recorded(replay, opened)).transpose()?;
    let (mut tests, mut left_out, mut exact, mut ran) = (Vec::new(), Vec::new(), true, None);
    for specialisation in opened.specialisations() {
        // Only one specialisation has the test of the schedule to replay.
        let is_here = |replayed: &Replayed<'_>| specialisation.tests().iter().any(|test| test.name == replayed.test);
        if replayed.as_ref().is_none_or(is_here) {
            let scheduled = run_schedules(specialisation, options, replayed.as_ref())?;
            exact &= scheduled.exact;
            tests.extend(scheduled.tests);
            left_out.extend(scheduled.note);
            ran.get_or_insert((scheduled.device, scheduled.repeats));
        }
    }
    opened.sort_by_test(&mut tests, |test| &test.name);
    match &replayed {
        // Replayed ones keep their recorded indices.
        Some(Replayed { schedules, .. }) => {
            let recorded_index = |n: u64| usize::try_from(n).ok().and_then(|n| schedules.get(n)).map_or(n, |r| r.0);
            tests.iter_mut().for_each(|test| scheduling::renumber(test, recorded_index));
        }
        None => scheduling::number(&mut tests),
    }
    let notes = left_out.into_iter().chain(notes(&tests, exact)).collect();
    let (device, repeats) = ran.unzip();
    let device = device.as_ref().map(executors::device);
    Ok(ScheduleResult {
        header: Header::new(ScheduleResult::SCHEMA, opened.entry().to_owned(), opened.source(), device, opened.seed()),
        elapsed_s: started.elapsed().as_secs_f64(),
        schedules: u64::from(options.schedules),
        repeats: u64::from(repeats.unwrap_or(0)),
        summary: scheduling::summary(&tests),
        tests,
        notes,
    })
}

/// The tests of a specialisation with what their schedules led to.
struct Scheduled {
    tests: Vec<Test>,
    device: DeviceInfo,
    /// Runs of each schedule.
    repeats: u32,
    /// Whether the device can keep an order of work-items.
    exact: bool,
    /// Says which tests are left out.
    note: Option<String>,
}

/// Runs the tests of a specialisation, or the one of which schedules are replayed.
fn run_schedules(opened: &Opened, options: &ScheduleOptions, replayed: Option<&Replayed<'_>>) -> Result<Scheduled> {
    opened.with_suite(SyntaxTree::NotNeeded, |parsed| {
        let under_test = &parsed.under_test;
        let (mut runners, device) = start_runners(opened, under_test)?;
        let Some(capabilities) = runners.first().map(ScheduleRunner::capabilities) else {
            return Err(Error::internal("no runner is ready"));
        };
        let is_wanted = |test: &&resolve::Test| replayed.is_none_or(|replayed| replayed.test == test.name);
        let tests: Vec<resolve::Test> = parsed.tests.iter().filter(is_wanted).cloned().collect();
        let Runnable { tests, note, trapping: _ } =
            executors::runnable(&tests, under_test, &device, capabilities)?.without_trapping()?;
        let tests = executors::with_local_sizes(&tests, &under_test.interface, &device);
        let exact = runners.iter().all(ScheduleRunner::is_exact);
        if let Some(test) = tests.iter().find(|t| !exact && !t.launch.schedule.is_map()) {
            return Err(Error::caller(format!(
                "{} cannot keep the schedule of the test \"{}\"",
                device.name, test.name
            ))
            .help("run it on the simulator with --device sim, or leave `item_order` and `preemptions` out"));
        }
        let jobs: Vec<&resolve::Test> = tests.iter().collect();
        if let Some(replayed) = replayed {
            jobs.iter().try_for_each(|test| replayed.check(test))?;
            if !exact && !replayed.schedules.iter().all(|(_, planned)| planned.schedule.is_map()) {
                return Err(Error::caller(format!("{} cannot keep an order of work-items", device.name))
                    .help("the schedule to replay has one: run it on the simulator with --device sim"));
            }
        }
        let repeats = options.repeats.unwrap_or(if exact { 1 } else { DEVICE_REPEATS });
        let running = scheduling::ScheduleOptions { repeats, timeout: opened.options().timeout };
        let (count, seed) = (options.schedules as usize, opened.seed());
        let results = run_parallel(&mut runners, &jobs, "tests", opened.observer(), |runner, test| {
            let plan = match replayed {
                Some(replayed) => replayed.schedules.iter().map(|(_, planned)| planned.clone()).collect(),
                None => plan(runner, test, count, seed, running)?,
            };
            scheduling::run(runner, &test.name, &test.launch, &test.outputs, &plan, running)
        })?;
        Ok(Scheduled { tests: results, device, repeats, exact, note })
    })
}

/// Starts the runners: devices with a kernel that reads its ids through a map, or simulators.
fn start_runners(opened: &Opened, under_test: &KernelUnderTest<'_>) -> Result<(Vec<ScheduleRunner>, DeviceInfo)> {
    let starting = opened.start(opened.workers())?;
    // Code is generated before threads start, while workers are starting.
    let expected = starting.capabilities();
    let mapped = (expected.schedules != Schedules::All).then(|| group_order::build(under_test, expected.target));
    let mapped = mapped.transpose()?;
    let started = starting.ready()?;
    started.note.iter().for_each(|why| opened.observer().note(why));
    if let (Some(mut mapped), Some(first)) = (mapped, started.executors.first())
        && first.capabilities().schedules != Schedules::All
    {
        let device = first.device().clone();
        if first.target() != expected.target {
            mapped = group_order::build(under_test, first.target())?;
        }
        let mut runners = Vec::new();
        for mut executor in started.executors {
            let program = mapped.begin_load(executor.as_mut())?;
            runners.push((executor, program));
        }
        let ready = |(mut executor, program): (Box<dyn Executor>, MappedProgram)| {
            program.finish_load(executor.as_mut())?;
            Ok(ScheduleRunner::Mapped { executor, program })
        };
        return Ok((runners.into_iter().map(ready).collect::<Result<_>>()?, device));
    }
    drop(started);
    let code = under_test.for_simulator(&LoweringOptions { races: true, ..LoweringOptions::default() })?;
    let runner = |_| {
        let mut simulator = Box::new(Simulator::new(1)?);
        let program = simulator.load_native(&code)?;
        Ok(ScheduleRunner::Simulator { simulator, program })
    };
    let runners: Vec<ScheduleRunner> = (0..opened.options().jobs.max(1)).map(runner).collect::<Result<_>>()?;
    Ok((runners, simulator::device()))
}

/// Returns the schedules to run a test under.
fn plan(
    runner: &mut ScheduleRunner,
    test: &resolve::Test,
    count: usize,
    seed: u64,
    options: scheduling::ScheduleOptions,
) -> Result<Vec<Planned>> {
    let races = if count > 1 { runner.races(&test.launch, options.timeout)? } else { Vec::new() };
    let own = Some(&test.launch.schedule).filter(|s| !s.is_natural());
    let (range, test) = (&test.launch.range, &test.name);
    Ok(Plan { range, count, seed, test, own, exact: runner.is_exact(), races: &races }.schedules())
}

/// Finds a recorded schedule by its index, together with the one that it was compared with: the first of its test.
fn recorded<'a>(replay: &'a Replay, opened: &Opened) -> Result<Replayed<'a>> {
    let path = replay.result.display();
    let result: ScheduleResult = store::read(&replay.result)?
        .one()
        .map_err(|other| wrong(format!("{path} is a result of kassay {}, not of schedule", other.command_line())))?;
    if result.header.kernel != opened.entry() {
        return Err(wrong(format!("{path} is about the kernel {}, not {}", result.header.kernel, opened.entry())));
    }
    let has_index = |t: &&Test| t.schedules.iter().any(|s| s.index == replay.index);
    let Some(known) = result.tests.iter().find(has_index) else {
        let last = result.tests.iter().flat_map(|t| &t.schedules).map(|s| s.index).max().unwrap_or(0);
        return Err(Error::caller(format!("{path} has no schedule {}", replay.index))
            .help(format!("its schedules have the indices 0 to {last}")));
    };
    if opened.tests().iter().all(|test| test.name != known.name) {
        return Err(wrong(format!("the suite has no test \"{}\", of which that schedule is", known.name)));
    }
    let first = known.schedules.first().map_or(replay.index, |s| s.index);
    let wanted = known.schedules.iter().filter(|s| s.index == first || s.index == replay.index);
    let schedules = wanted.map(|s| (s.index, scheduling::recorded(s))).collect();
    Ok(Replayed { result: &replay.result, test: known.name.clone(), schedules })
}

impl Replayed<'_> {
    /// Checks that the schedules fit the test, whose work-group size is decided.
    fn check(&self, test: &resolve::Test) -> Result<()> {
        self.schedules.iter().try_for_each(|(index, planned)| {
            planned.schedule.check(&test.launch.range).map_err(|what| {
                let path = self.result.display();
                wrong(format!("schedule {index} of {path} does not fit the test \"{}\": {what}", test.name))
            })
        })
    }
}

fn wrong(what: String) -> Error {
    Error::caller(what).help("name a result that `kassay schedule -o` wrote for this suite")
}

fn notes(tests: &[Test], exact: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let single = tests.iter().filter(|t| t.work_groups == 1).count();
    if !exact && single > 0 {
        notes.push(format!(
            "{single} of {} tests launch a single work-group, whose order cannot be changed on a device; --device sim also \
             changes the order of work-items",
            tests.len()
        ));
    }
    if !exact && single < tests.len() && tests.iter().all(|t| t.verdict == Verdict::Stable) {
        notes.push(
            "only work-groups changed places; --device sim also orders and interrupts work-items, and kassay check tells whether \
             accesses race"
                .to_owned(),
        );
    }
    if tests.iter().any(|t| !t.differing_outputs.is_empty()) {
        notes.push("kassay check tells which accesses race".to_owned());
    }
    let directed = schedule_families::Family::Directed.name();
    if tests.iter().flat_map(|t| &t.schedules).any(|s| s.family == directed) {
        notes.push("directed schedules bring accesses that race into a certain order".to_owned());
    }
    notes
}
