//! `kassay check`: finds races, barrier divergence, memory faults and redundant barriers.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use inkwell::context::Context;

use super::options::{ExecutionFlags, KernelFlags, OutputFlags, shown, warn};
use super::session;
use crate::coverage::build::{self, KernelFile, KernelUnderTest};
use crate::error::{Error, Result};
use crate::exec::simulator::observation::{Simulation, SimulationOptions};
use crate::exec::{ProgramId, Simulator};
use crate::generate::collisions::Suspect;
use crate::generate::evolve::{self, EvolutionParameters};
use crate::generate::launches::{self, FirstRound, GeneratedLaunch, Request};
use crate::generate::roles;
use crate::kernel::compile::{self, Loaded};
use crate::kernel::options::KernelOptions;
use crate::lower::code::LoweringOptions;
use crate::lower::host::table::HostTable;
use crate::report::text::{self, CheckView};
use crate::result::Header;
use crate::result::check::{Amplification, CheckResult, Finding, HoldsFor, Verdict};
use crate::suite::launch::{Launch, NdRange};
use crate::suite::resolve::Suite;
use crate::sync::budget::Budget;
use crate::sync::checking::{self, Case, CheckOptions, Simulate};
use crate::sync::divergence_cause::DivergenceAnalysis;
use crate::sync::findings::Reader;
use crate::sync::reproduction;
use crate::sync::schedule_families::Plan;
use crate::sync::solved_inputs::{self, SuspectedConflict};
use crate::sync::{amplification, inputs, schedule_independence};

/// Look for races, barrier divergence, memory faults and redundant barriers
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A suite file (TOML or JSON), whose tests are the inputs, or a kernel (.cl, .ll, .bc, .spv), for which inputs
    /// are generated
    #[arg(value_name = "SUITE|KERNEL")]
    pub target: PathBuf,
    /// Global work size of the launches generated for a kernel, such as 256,256; if left out, several small ones
    /// are tried
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub global: Vec<u64>,
    /// Work-group size of the launches generated for a kernel
    #[arg(long, value_name = "SIZES", value_delimiter = ',', requires = "global", value_parser = clap::value_parser!(u64).range(1..))]
    pub local: Vec<u64>,
    /// Do not determine the input values for which a clean verdict holds
    #[arg(long)]
    pub no_amplify: bool,
    /// Do not look for redundant barriers, which takes further runs without each barrier
    #[arg(long)]
    pub no_redundant: bool,
    /// Time limit for the command in seconds; notes say what was left undone
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = super::generate::budget)]
    pub budget: f64,
    /// Also search for inputs in which work-items access the same addresses
    #[arg(long)]
    pub evolve: bool,
    /// Write a suite that reproduces each finding to DIR/<n>/suite.toml
    #[arg(long, value_name = "DIR")]
    pub reproduce: Option<PathBuf>,
    /// Run every input under N schedules
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub schedules: u32,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// A kernel and its inputs.
struct Opened<'c> {
    under_test: KernelUnderTest<'c>,
    loaded: Loaded,
    cases: Vec<Case>,
    /// Launches that are inputs if work-items meet in them.
    suspected: Vec<SuspectedConflict>,
    /// Not all of those were found.
    unsolved: bool,
    /// Set if the time limit was reached before inputs could be generated.
    late: Option<Error>,
    seed: u64,
    path: PathBuf,
    options: KernelOptions,
    /// Notes on how the inputs were generated.
    notes: Vec<String>,
}

/// A simulator with the kernel loaded; counts its launches.
struct LoadedSimulator {
    simulator: Simulator,
    program: ProgramId,
    timeout: Duration,
    launches: u64,
}

/// Share of the budget by which generating inputs must end.
const GENERATION_SHARE: f64 = 0.25;

/// Share of the budget for solving for launches with conflicting accesses.
const SOLVING_SHARE: f64 = 0.05;
/// Share of the budget for running the solved launches.
const CONFIRMING_SHARE: f64 = 0.1;

/// Share of the budget by which the search for further inputs must end.
const SEARCH_SHARE: f64 = 0.5;

impl Simulate for LoadedSimulator {
    fn simulate(&mut self, launch: &Launch, options: &SimulationOptions) -> Result<Simulation> {
        self.launches += 1;
        self.simulator.simulate(self.program, launch, options, self.timeout, &[])
    }
}

/// Checks a kernel and delivers the result. Returns the exit code: 1 unless the verdict is `clean`.
///
/// # Errors
/// Those of the suite and the kernel; `Caller` if the flags are wrong.
pub fn run(args: &CheckArgs) -> Result<u8> {
    let begun = Instant::now();
    let budget = Budget::of(begun, args.budget);
    args.output.check()?;
    if !args.execution.device.admits(|executor| executor.checks.races) {
        return Err(Error::caller(format!("kassay check runs on the simulator, not on `{}`", args.execution.device))
            .help("leave --device out"));
    }
    let context = Context::create();
    let mut opened = match is_kernel(&args.target) {
        true => open_kernel(&context, args, budget)?,
        false => open_suite(&context, args, budget)?,
    };
    warn(&opened.loaded, args.output.verbose, args.output.quiet);
    let wanted = LoweringOptions { races: true, deadline: budget.end(), ..LoweringOptions::default() };
    let code = match opened.late.take().map_or_else(|| opened.under_test.for_simulator(&wanted), Err) {
        Ok(code) => code,
        Err(e) if e.is_late() => return deliver_unknown(args, opened, &e, budget, begun),
        Err(e) => return Err(e),
    };
    let load = |_| {
        let mut simulator = Simulator::new(1)?;
        let program = simulator.load_host(&code)?;
        Ok(LoadedSimulator { simulator, program, timeout: session::timeout(&args.execution), launches: 0 })
    };
    let mut simulators: Vec<LoadedSimulator> = (0..args.execution.jobs.max(1)).map(load).collect::<Result<_>>()?;
    if let Some(simulator) = simulators.first_mut() {
        add_confirmed(&mut opened, simulator, &code.table, budget)?;
    }
    if let (true, Some(simulator)) = (args.evolve, simulators.first_mut()) {
        add_evolved(&mut opened, simulator, args, budget)?;
    }
    if let (2.., Some(simulator)) = (args.schedules, simulators.first_mut()) {
        add_schedules(&mut opened, simulator, &code.table, args.schedules as usize, budget)?;
    }

    let source = shown(&opened.path);
    // Few kernels diverge.
    let divergence_analysis = OnceCell::new();
    let diverging_branch = |divergence: &_| {
        let divergence_analysis =
            divergence_analysis.get_or_init(|| DivergenceAnalysis::of(&opened.under_test, &source));
        divergence_analysis.as_ref().ok()?.branch(&code.table, divergence)
    };
    let reader = Reader {
        table: &code.table,
        interface: &opened.under_test.interface,
        source: &source,
        diverging_branch: &diverging_branch,
    };
    let atomics_read = schedule_independence::atomics_read(&opened.under_test, &code.table);
    let options = CheckOptions { atomics_read, redundant: !args.no_redundant, budget, ..CheckOptions::default() };
    let mut checked = checking::check(&mut simulators, &reader, &mut opened.cases, options)?;
    if let Some(Err(e)) = divergence_analysis.into_inner() {
        return Err(e);
    }
    if let Some(folder) = &args.reproduce {
        let options = opened.options.as_arguments();
        let kernel = reproduction::Kernel {
            path: &opened.path,
            entry: &opened.under_test.entry,
            interface: &opened.under_test.interface,
            options: &options,
        };
        reproduction::write(folder, kernel, &mut checked.found, &opened.cases)?;
    }
    let findings: Vec<Finding> = checked.found.into_iter().map(|f| f.finding).collect();
    let flows = schedule_independence::flows(&opened.under_test, &findings)?;
    let (mut holds_for, mut holds_for_because) =
        checking::holds_for(&flows, &checked.ordered_by_atomics, &checked.inputs);
    if !checked.sampled.is_empty() {
        holds_for = HoldsFor::ExploredSchedules;
        holds_for_because.extend(checked.sampled);
    }
    let mut notes = std::mem::take(&mut opened.notes);
    notes.extend(checked.left_out);
    let amplification = match args.no_amplify {
        true => None,
        false => amplify(&opened.under_test, budget, &mut notes)?,
    };
    let launches = simulators.iter().map(|s| s.launches).sum();
    let result = CheckResult {
        header: Header::new(
            CheckResult::SCHEMA,
            opened.under_test.entry.clone(),
            source.clone(),
            Some(session::device(&crate::exec::simulator::device())),
            opened.seed,
        ),
        elapsed_s: begun.elapsed().as_secs_f64(),
        verdict: checked.verdict,
        holds_for,
        holds_for_because,
        summary: checking::summary(&findings, &checked.inputs, &checked.barriers, launches),
        findings,
        inputs: checked.inputs,
        barriers: checked.barriers,
        amplification,
        notes,
    };
    deliver(args, &result, &opened.path)
}

fn deliver(args: &CheckArgs, result: &CheckResult, path: &Path) -> Result<u8> {
    let sources = build::sources_of(path);
    let view = CheckView { verbose: args.output.verbose };
    args.output.deliver(result, |style| text::check(result, view, &|file| sources.text(file), style))?;
    Ok(u8::from(result.verdict != Verdict::Clean))
}

/// Delivers the result for a kernel whose code was not ready within the budget: verdict `unknown`.
fn deliver_unknown(args: &CheckArgs, opened: Opened<'_>, late: &Error, budget: Budget, begun: Instant) -> Result<u8> {
    let Opened { path, under_test, seed, mut notes, .. } = opened;
    let why = &late.report().what;
    notes.push(format!("no input was run: {why} ({}); --budget gives more time", budget.words()));
    let result = CheckResult {
        header: Header::new(
            CheckResult::SCHEMA,
            under_test.entry,
            shown(&path),
            Some(session::device(&crate::exec::simulator::device())),
            seed,
        ),
        elapsed_s: begun.elapsed().as_secs_f64(),
        verdict: Verdict::Unknown,
        holds_for: HoldsFor::ExploredSchedules,
        holds_for_because: vec!["no input was run".to_owned()],
        summary: checking::summary(&[], &[], &[], 0),
        findings: Vec::new(),
        inputs: Vec::new(),
        barriers: Vec::new(),
        amplification: None,
        notes,
    };
    deliver(args, &result, &path)
}

fn is_kernel(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    ["cl", "ll", "bc", "spv"].iter().any(|kernel| extension.as_deref() == Some(kernel.as_ref()))
}

/// Opens a suite; its tests are the inputs.
fn open_suite<'c>(context: &'c Context, args: &CheckArgs, budget: Budget) -> Result<Opened<'c>> {
    if !args.global.is_empty() {
        return Err(Error::caller("--global and --local are for kernels; the tests of a suite have their own sizes")
            .help("leave them out, or give the kernel's file instead of the suite"));
    }
    let suite = Suite::load(&args.target)?;
    let options = KernelOptions { deadline: budget.end(), ..args.kernel.kernel_options(suite.options.clone()) };
    let loaded = compile::load(&suite.kernel, &options, true)?;
    let file = KernelFile::parse(context, &loaded)?;
    let entry = match (&args.kernel.entry, &suite.entry) {
        (None, Some(name)) => file.choose(Some(name)).map_err(|e| suite.at_entry(e))?,
        (name, _) => file.choose(name.as_deref())?,
    };
    let under_test = file.under_test(&entry, &loaded, &build::sources_of(&suite.kernel))?;
    let seed = args.execution.seed.or(suite.seed).unwrap_or(0);
    let tests = suite.resolve(&under_test.interface, seed)?;
    let cases = tests.into_iter().map(|test| {
        let (outputs, launch) = (test.outputs, with_local_size(test.launch, &under_test));
        Case {
            name: test.name,
            origin: "suite",
            launch,
            outputs,
            fitness: None,
            preconditions: Vec::new(),
            guesses: Vec::new(),
        }
    });
    let cases = cases.collect();
    let (suspected, unsolved, notes) = (Vec::new(), false, Vec::new());
    let path = suite.kernel;
    Ok(Opened { cases, suspected, unsolved, late: None, under_test, loaded, seed, path, options, notes })
}

/// Opens a kernel and generates inputs for it.
fn open_kernel<'c>(context: &'c Context, args: &CheckArgs, budget: Budget) -> Result<Opened<'c>> {
    let options = KernelOptions { deadline: budget.end(), ..args.kernel.kernel_options(Vec::new()) };
    let loaded = compile::load(&args.target, &options, true)?;
    let file = KernelFile::parse(context, &loaded)?;
    let entry = file.choose(args.kernel.entry.as_deref())?;
    let under_test = file.under_test(&entry, &loaded, &build::sources_of(&args.target))?;
    let seed = args.execution.seed.unwrap_or(0);
    under_test.fits_the_simulator()?;
    let request = Request { range: range(args, &under_test)?, seed };
    let model = match roles::infer_until(&under_test, budget.end()) {
        Err(e) if e.is_late() => {
            return Ok(Opened {
                cases: Vec::new(),
                suspected: Vec::new(),
                unsolved: false,
                late: Some(e),
                under_test,
                loaded,
                seed,
                path: args.target.clone(),
                options,
                notes: Vec::new(),
            });
        }
        model => model?,
    };
    let time = budget.up_to(GENERATION_SHARE);
    let solving = Cell::new(None::<Budget>);
    // The time for solving starts with the first query.
    let solving_over = || {
        let until = solving.get().unwrap_or_else(|| budget.share(SOLVING_SHARE));
        solving.set(Some(until));
        until.is_over()
    };
    let FirstRound { launches, suspects, cut_short } =
        launches::first_round(&model, &request, || time.is_over(), solving_over)?;
    let mut notes = Vec::new();
    if time.is_over() {
        let what = format!(
            "only {} inputs were made, because of {}; --budget gives more time",
            launches.len(),
            budget.words()
        );
        notes.push(what);
    }
    let cases = launches.into_iter().map(|g| case(g, "generated", &under_test, None)).collect();
    let suspected_conflict =
        |s: Suspect| SuspectedConflict { case: case(s.launch, "solved", &under_test, None), argument: s.argument };
    let suspected = suspects.into_iter().map(suspected_conflict).collect();
    Ok(Opened {
        cases,
        suspected,
        unsolved: cut_short,
        late: None,
        under_test,
        loaded,
        seed,
        path: args.target.clone(),
        options,
        notes,
    })
}

/// Returns the input for a generated launch.
fn case(made: GeneratedLaunch, origin: &'static str, under_test: &KernelUnderTest<'_>, fitness: Option<f64>) -> Case {
    let outputs = inputs::outputs(&under_test.interface);
    let (launch, preconditions) = (with_local_size(made.launch, under_test), made.preconditions);
    Case { name: made.name, origin, launch, outputs, fitness, preconditions, guesses: made.guesses }
}

/// Chooses the work-group size that the suite and the kernel leave open.
fn with_local_size(mut launch: Launch, under_test: &KernelUnderTest<'_>) -> Launch {
    let max_group = crate::exec::simulator::device().max_work_group_size;
    let range = &mut launch.range;
    range.decide_local(under_test.interface.required_local, max_group);
    launch
}

/// Returns the NDRange that `--global` and `--local` request, if any.
fn range(args: &CheckArgs, under_test: &KernelUnderTest<'_>) -> Result<Option<NdRange>> {
    let (global, local) = (&args.global, &args.local);
    if global.is_empty() {
        return Ok(None);
    }
    let bad = |what: &str, help: &str| Err(Error::caller(what).help(help));
    if global.len() > 3 {
        return bad("--global has more than three dimensions", "give one to three sizes, such as 256,256");
    }
    if !local.is_empty() && local.len() != global.len() {
        return bad("--global and --local have different numbers of dimensions", "give both the same number of sizes");
    }
    if under_test.interface.uniform_groups && global.iter().zip(local).any(|(g, l)| g % l != 0) {
        return bad("--local does not divide --global", "give sizes that go into those of --global without rest");
    }
    let sizes = |all: &[u64]| [0, 1, 2].map(|d| all.get(d).copied().unwrap_or(1));
    let local = (!local.is_empty()).then(|| sizes(local));
    Ok(Some(NdRange { dims: global.len() as u32, global: sizes(global), local, offset: [0; 3] }))
}

/// Runs the solved launches and adds those in which accesses do conflict.
fn add_confirmed(
    opened: &mut Opened<'_>,
    simulator: &mut LoadedSimulator,
    table: &HostTable,
    budget: Budget,
) -> Result<()> {
    let suspected = std::mem::take(&mut opened.suspected);
    let confirmed = solved_inputs::confirmed(simulator, table, suspected, budget.share(CONFIRMING_SHARE))?;
    confirmed.cases.into_iter().for_each(|case| add_case(&mut opened.cases, case));
    opened.unsolved |= confirmed.left > 0;
    if opened.unsolved {
        let what = "whether work-items meet for single values of scalars was not asked to the end";
        opened.notes.push(format!("{what}, because of {}; --budget gives more time", budget.words()));
    }
    Ok(())
}

/// Adds the launches found by an evolutionary search (SIMULEE 3.1).
fn add_evolved(
    opened: &mut Opened<'_>,
    simulator: &mut LoadedSimulator,
    args: &CheckArgs,
    budget: Budget,
) -> Result<()> {
    let model = roles::infer(&opened.under_test)?;
    let request = Request { range: range(args, &opened.under_test)?, seed: opened.seed };
    let under_test = &opened.under_test;
    let time = budget.up_to(SEARCH_SHARE);
    let mut fitness = |launch: &Launch, _| {
        if time.is_over() {
            return Ok(None);
        }
        let deadline = time.end();
        let options = SimulationOptions { races: true, footprint: true, deadline, ..SimulationOptions::default() };
        Ok(simulator.simulate(&with_local_size(launch.clone(), under_test), &options)?.footprint)
    };
    let found = evolve::evolve(
        &model,
        &request,
        &EvolutionParameters { deadline: time.end(), ..EvolutionParameters::default() },
        &mut fitness,
    )?;
    if time.is_over() {
        opened.notes.push(format!("the search for inputs was not finished, because of {}", budget.words()));
    }
    for scored in found {
        let score = scored.score();
        add_case(&mut opened.cases, case(scored.launch, "evolved", &opened.under_test, Some(score)));
    }
    Ok(())
}

/// Adds an input unless one with an equal launch exists.
fn add_case(cases: &mut Vec<Case>, case: Case) {
    if cases.iter().all(|known| known.launch != case.launch) {
        let case = with_unique_name(case, cases);
        cases.push(case);
    }
}

/// Gives an input a unique name.
fn with_unique_name(mut case: Case, others: &[Case]) -> Case {
    let plain = case.name.clone();
    let mut number = 1;
    while others.iter().any(|o| o.name == case.name) {
        number += 1;
        case.name = format!("{plain} ({number})");
    }
    case
}

/// Replaces every input by the input under each of its schedules.
fn add_schedules(
    opened: &mut Opened<'_>,
    simulator: &mut LoadedSimulator,
    table: &HostTable,
    count: usize,
    budget: Budget,
) -> Result<()> {
    let mut all = Vec::new();
    let (time, cases) = (budget.up_to(SEARCH_SHARE), std::mem::take(&mut opened.cases));
    let total = cases.len();
    for (n, mut case) in cases.into_iter().enumerate() {
        let races = checking::explore(simulator, table, &mut case, time.part(total - n))?.conflicts;
        let own = Some(&case.launch.schedule).filter(|s| !s.is_natural());
        let (range, test) = (&case.launch.range, &case.name);
        let plan = Plan { range, count, seed: opened.seed, test, own, exact: true, races: &races }.schedules();
        for (n, planned) in plan.into_iter().enumerate() {
            let name = if n == 0 { case.name.clone() } else { format!("{}, schedule {n}", case.name) };
            let launch = Launch { schedule: planned.schedule, ..case.launch.clone() };
            all.push(Case { name, launch, ..case.clone() });
        }
    }
    opened.cases = all;
    Ok(())
}

/// Determines for which input values a clean verdict holds; `None`, with a note, if the budget is over.
fn amplify(under_test: &KernelUnderTest<'_>, budget: Budget, notes: &mut Vec<String>) -> Result<Option<Amplification>> {
    let found = match budget.is_over() {
        true => None,
        false => match amplification::amplify_until(under_test, budget.end()) {
            Err(e) if e.is_late() => None,
            found => Some(found?),
        },
    };
    let Some(found) = found else {
        notes.push(format!(
            "for which values of the inputs the verdict holds was not asked: {} was over",
            budget.words()
        ));
        return Ok(None);
    };
    Ok(Some(Amplification {
        access_invariant: found.access_invariant,
        holds_for_all_values_of: found.holds_for_all_values_of,
        property_integrity_inputs: found.property_integrity_inputs,
        why_not: found.why_not,
    }))
}
