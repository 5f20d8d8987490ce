//! `kassay check`: races, barrier divergence, memory faults, redundant barriers.

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
use crate::exec::{Code, DeviceRequest, ProgramId, Simulator};
use crate::generate::collisions::Suspect;
use crate::generate::evolve::{self, Search};
use crate::generate::launches::{self, FirstRound, GeneratedLaunch, Request};
use crate::generate::roles;
use crate::instrument::host::HostOptions;
use crate::kernel::compile::{self, Loaded};
use crate::kernel::options::KernelOptions;
use crate::lower::host::table::HostTable;
use crate::report::text::{self, CheckView};
use crate::result::Header;
use crate::result::check::{Amplification, CheckResult, Finding, HoldsFor, Verdict};
use crate::suite::launch::{Launch, NdRange};
use crate::suite::resolve::Suite;
use crate::sync::budget::Budget;
use crate::sync::checking::{self, Case, CheckOptions, Simulate};
use crate::sync::divergence_cause::Splits;
use crate::sync::findings::Reader;
use crate::sync::reproduction;
use crate::sync::schedule_families::Plan;
use crate::sync::solved_inputs::{self, Suspicion};
use crate::sync::{amplification, inputs, schedule_independence};

/// Look for races, barrier divergence, memory faults and redundant barriers
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A suite file (TOML or JSON), whose tests are the inputs; or a kernel (.cl, .ll, .bc, .spv), for which inputs are made
    #[arg(value_name = "SUITE|KERNEL")]
    pub target: PathBuf,
    /// Work-items of the launches that are made for a kernel, such as 256,256; several small launches are tried without it
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub global: Vec<u64>,
    /// Work-group size of these launches
    #[arg(long, value_name = "SIZES", value_delimiter = ',', requires = "global", value_parser = clap::value_parser!(u64).range(1..))]
    pub local: Vec<u64>,
    /// Do not ask for which values of the inputs a clean verdict holds
    #[arg(long)]
    pub no_amplify: bool,
    /// Do not run the inputs again without each barrier, which tells the redundant ones
    #[arg(long)]
    pub no_redundant: bool,
    /// Wall-clock seconds of the whole command; what was not done by then is said
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = super::generate::budget)]
    pub budget: f64,
    /// Also search for inputs in which work-items meet at addresses
    #[arg(long)]
    pub evolve: bool,
    /// Write a suite for each finding that shows it again: DIR/<n>/suite.toml
    #[arg(long, value_name = "DIR")]
    pub reproduce: Option<PathBuf>,
    /// Run every input under so many schedules
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub schedules: u32,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// A kernel and what it is to be run on.
struct Opened<'c> {
    under_test: KernelUnderTest<'c>,
    loaded: Loaded,
    cases: Vec<Case>,
    /// Launches that are inputs if work-items meet in them.
    suspicions: Vec<Suspicion>,
    /// Not all of those were found.
    unsolved: bool,
    /// There was no time for inputs.
    late: Option<Error>,
    seed: u64,
    path: PathBuf,
    options: KernelOptions,
    /// What the reader should know of how the inputs were made.
    notes: Vec<String>,
}

/// The simulator with the kernel.
struct Watched {
    simulator: Simulator,
    program: ProgramId,
    timeout: Duration,
    launches: u64,
}

/// Of the time, what the making of inputs may take.
const INPUTS: f64 = 0.25;

/// Of the time, what it may take to solve for launches in which work-items meet, and what to run them.
const SOLVING: f64 = 0.05;
const CONFIRMING: f64 = 0.1;

/// Of the time, what the search for inputs may be over by.
const SEARCH: f64 = 0.5;

impl Simulate for Watched {
    fn simulate(&mut self, launch: &Launch, options: &SimulationOptions) -> Result<Simulation> {
        self.launches += 1;
        self.simulator.simulate(self.program, launch, options, self.timeout, &[])
    }
}

pub fn run(args: &CheckArgs) -> Result<u8> {
    let begun = Instant::now();
    let budget = Budget::of(begun, args.budget);
    args.output.check()?;
    if !matches!(args.execution.device, DeviceRequest::Auto | DeviceRequest::Simulator) {
        return Err(Error::caller(format!("kassay check runs on the simulator, not on `{}`", args.execution.device))
            .help("leave --device out"));
    }
    let context = Context::create();
    let mut opened = match is_kernel(&args.target) {
        true => open_kernel(&context, args, budget)?,
        false => open_suite(&context, args, budget)?,
    };
    warn(&opened.loaded, args.output.verbose, args.output.quiet);
    let wanted = HostOptions { races: true, deadline: budget.end(), ..HostOptions::default() };
    let code = match opened.late.take().map_or_else(|| opened.under_test.for_host(&wanted), Err) {
        Ok(Code::Host(code)) => code,
        Ok(Code::SpirV(_)) => return Err(Error::internal("code for the simulator was asked for")),
        Err(e) if e.is_late() => return unjudged(args, opened, &e, budget, begun),
        Err(e) => return Err(e),
    };
    let lane = |_| {
        let mut simulator = Simulator::new(1)?;
        let program = simulator.load_host(&code)?;
        Ok(Watched { simulator, program, timeout: session::limit(&args.execution), launches: 0 })
    };
    let mut lanes: Vec<Watched> = (0..args.execution.jobs.max(1)).map(lane).collect::<Result<_>>()?;
    if let Some(watched) = lanes.first_mut() {
        confirmed(&mut opened, watched, &code.table, budget)?;
    }
    if let (true, Some(watched)) = (args.evolve, lanes.first_mut()) {
        evolved(&mut opened, watched, args, budget)?;
    }
    if let (2.., Some(watched)) = (args.schedules, lanes.first_mut()) {
        scheduled(&mut opened, watched, &code.table, args.schedules as usize, budget)?;
    }

    let source = shown(&opened.path);
    // Few kernels diverge.
    let splits = OnceCell::new();
    let split = |divergence: &_| {
        let splits = splits.get_or_init(|| Splits::of(&opened.under_test, &source));
        splits.as_ref().ok()?.branch(&code.table, divergence)
    };
    let reader = Reader { table: &code.table, interface: &opened.under_test.interface, source: &source, split: &split };
    let atomics_read = schedule_independence::atomics_read(&opened.under_test, &code.table);
    let options = CheckOptions { atomics_read, redundant: !args.no_redundant, budget, ..CheckOptions::default() };
    let mut checked = checking::check(&mut lanes, &reader, &mut opened.cases, options)?;
    if let Some(Err(e)) = splits.into_inner() {
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
    let (mut holds_for, mut holds_for_because) = checking::holds_for(&flows, &checked.leaning, &checked.inputs);
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
    let launches = lanes.iter().map(|lane| lane.launches).sum();
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

/// What is said of a kernel for whose code there was no time.
fn unjudged(args: &CheckArgs, opened: Opened<'_>, late: &Error, budget: Budget, begun: Instant) -> Result<u8> {
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
        let (outputs, launch) = (test.outputs, decided(test.launch, &under_test));
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
    let (suspicions, unsolved, notes) = (Vec::new(), false, Vec::new());
    let path = suite.kernel;
    Ok(Opened { cases, suspicions, unsolved, late: None, under_test, loaded, seed, path, options, notes })
}

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
                suspicions: Vec::new(),
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
    let time = budget.up_to(INPUTS);
    let solving = Cell::new(None::<Budget>);
    // Its time begins when it is first asked for.
    let solving_over = || {
        let until = solving.get().unwrap_or_else(|| budget.share(SOLVING));
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
    let suspicion = |s: Suspect| Suspicion { case: case(s.launch, "solved", &under_test, None), argument: s.argument };
    let suspicions = suspects.into_iter().map(suspicion).collect();
    Ok(Opened {
        cases,
        suspicions,
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

fn case(made: GeneratedLaunch, origin: &'static str, under_test: &KernelUnderTest<'_>, fitness: Option<f64>) -> Case {
    let outputs = inputs::outputs(&under_test.interface);
    let (launch, preconditions) = (decided(made.launch, under_test), made.preconditions);
    Case { name: made.name, origin, launch, outputs, fitness, preconditions, guesses: made.guesses }
}

/// With the work-group size that suite and kernel leave open.
fn decided(mut launch: Launch, under_test: &KernelUnderTest<'_>) -> Launch {
    let most = crate::exec::simulator::device().max_work_group_size;
    let range = &mut launch.range;
    range.decide_local(under_test.interface.required_local, most);
    launch
}

/// The sizes that `--global` and `--local` ask for.
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

/// Adds the launches that were solved for, if work-items do meet in them.
fn confirmed(opened: &mut Opened<'_>, watched: &mut Watched, table: &HostTable, budget: Budget) -> Result<()> {
    let suspicions = std::mem::take(&mut opened.suspicions);
    let confirmed = solved_inputs::confirmed(watched, table, suspicions, budget.share(CONFIRMING))?;
    confirmed.cases.into_iter().for_each(|case| add(&mut opened.cases, case));
    opened.unsolved |= confirmed.left > 0;
    if opened.unsolved {
        let what = "whether work-items meet for single values of scalars was not asked to the end";
        opened.notes.push(format!("{what}, because of {}; --budget gives more time", budget.words()));
    }
    Ok(())
}

/// Adds the launches that an evolutionary search finds (SIMULEE 3.1).
fn evolved(opened: &mut Opened<'_>, watched: &mut Watched, args: &CheckArgs, budget: Budget) -> Result<()> {
    let model = roles::infer(&opened.under_test)?;
    let request = Request { range: range(args, &opened.under_test)?, seed: opened.seed };
    let under_test = &opened.under_test;
    let time = budget.up_to(SEARCH);
    let mut fitness = |launch: &Launch, _| {
        if time.is_over() {
            return Ok(None);
        }
        let deadline = time.end();
        let options = SimulationOptions { races: true, footprint: true, deadline, ..SimulationOptions::default() };
        Ok(watched.simulate(&decided(launch.clone(), under_test), &options)?.footprint)
    };
    let found = evolve::evolve(&model, &request, &Search { deadline: time.end(), ..Search::default() }, &mut fitness)?;
    if time.is_over() {
        opened.notes.push(format!("the search for inputs was not finished, because of {}", budget.words()));
    }
    for scored in found {
        let score = scored.score();
        add(&mut opened.cases, case(scored.launch, "evolved", &opened.under_test, Some(score)));
    }
    Ok(())
}

/// Adds an input unless it is among them.
fn add(cases: &mut Vec<Case>, case: Case) {
    if cases.iter().all(|known| known.launch != case.launch) {
        let case = named(case, cases);
        cases.push(case);
    }
}

/// With a name that no other has.
fn named(mut case: Case, others: &[Case]) -> Case {
    let plain = case.name.clone();
    let mut number = 1;
    while others.iter().any(|o| o.name == case.name) {
        number += 1;
        case.name = format!("{plain} ({number})");
    }
    case
}

/// Adds every input under other schedules.
fn scheduled(
    opened: &mut Opened<'_>,
    watched: &mut Watched,
    table: &HostTable,
    count: usize,
    budget: Budget,
) -> Result<()> {
    let mut all = Vec::new();
    let (time, cases) = (budget.up_to(SEARCH), std::mem::take(&mut opened.cases));
    let total = cases.len();
    for (n, mut case) in cases.into_iter().enumerate() {
        let races = checking::explore(watched, table, &mut case, time.part(total - n))?.conflicts;
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
