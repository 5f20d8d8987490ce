//! Measures how long kassay takes from a source file to the end of a kernel's first launch, stage by stage.
//!
//! `cargo bench --bench stages -- [--rounds N] [KERNEL]` takes the first test of a suite in `testdata`. Not for the
//! cost of probes in the kernel (`overhead`).

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::coverage::CoveragePlan;
use kassay_ir::instrument::layout::Slots;
use kassay_ir::kernel::compile::{self, Format, Loaded};
use kassay_ir::kernel::{canonical, module, signature};
use kassay_ir::llvm::Context;
use kassay_ir::lower::spirv;
use kassay_judge::coverage::build::{self, KernelFile};
use kassay_model::options::KernelOptions;
use kassay_run::exec::{Code, DeviceSelector, Executor, OpenClExecutor, ProgramId, RunOptions, Target, WorkerOptions};
use kassay_suite::resolve::{Suite, Test};

/// A kernel of about a hundred lines.
const KERNEL: &str = "loop_shapes";

/// From source to the end of the first launch, in milliseconds.
const GOAL_MS: f64 = 150.0;

type BenchResult<T> = Result<T, Box<dyn Error>>;

/// Times by stage, in milliseconds; the stages are in order of first appearance.
#[derive(Default)]
struct Stages {
    names: Vec<&'static str>,
    times: BTreeMap<&'static str, Vec<f64>>,
}

impl Stages {
    fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.add(stage, started.elapsed());
        result
    }

    fn add(&mut self, stage: &'static str, time: Duration) {
        if !self.names.contains(&stage) {
            self.names.push(stage);
        }
        self.times.entry(stage).or_default().push(time.as_secs_f64() * 1e3);
    }

    /// Prints medians and minima and returns the median of `last`.
    fn print(&mut self, last: &str) -> f64 {
        println!("{:<46}{:>10}{:>10}", "stage", "median ms", "least ms");
        let mut result = f64::NAN;
        for name in &self.names {
            let times = self.times.entry(name).or_default();
            times.sort_by(f64::total_cmp);
            let middle = times[times.len() / 2];
            println!("{name:<46}{middle:>10.1}{:>10.1}", times[0]);
            if *name == last {
                result = middle;
            }
        }
        result
    }
}

fn main() -> BenchResult<()> {
    let mut rounds = 15;
    let mut kernel = KERNEL.to_owned();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bench" => {} // from cargo
            "--rounds" => {
                rounds =
                    args.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0).ok_or("--rounds takes a number")?;
            }
            _ => kernel = arg,
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(&kernel).join("suite.toml");
    let lines = std::fs::read_to_string(Suite::load(&path)?.kernel)?.lines().count();
    println!("{kernel}, {lines} lines; medians of {rounds} rounds\n");
    let mut stages = Stages::default();
    let mut whole = Stages::default();
    for _ in 0..rounds {
        measure_stages(&path, &mut stages)?;
        for with_probes in [false, true] {
            let started = Instant::now();
            measure_end_to_end(&path, with_probes)?;
            whole.add(if with_probes { COVER } else { RUN }, started.elapsed());
        }
    }
    stages.print("");
    println!();
    let total = whole.print(RUN);
    println!("\n{RUN}: goal {GOAL_MS} ms {}", if total < GOAL_MS { "reached" } else { "missed" });
    Ok(())
}

const RUN: &str = "source to first launch, plain";
const COVER: &str = "source to first launches, plain and with probes";

fn worker() -> WorkerOptions {
    WorkerOptions { exe: Some(env!("CARGO_BIN_EXE_kassay").into()), ..WorkerOptions::default() }
}

fn load(suite: &Suite, with_ast: bool) -> BenchResult<Loaded> {
    let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
    Ok(compile::load(&suite.kernel, &options, with_ast)?)
}

/// Returns the first test, with a local size.
fn first_test(suite: &Suite, interface: &kassay_model::interface::Interface, most: u64) -> BenchResult<Test> {
    let mut test = suite.resolve(interface, 0)?.into_iter().next().ok_or("there is no test")?;
    let range = &mut test.launch.range;
    range.local = Some(range.local_or_default(interface.required_local, most));
    Ok(test)
}

fn launch(
    executor: &mut OpenClExecutor,
    program: ProgramId,
    test: &Test,
    plan: Option<&CoveragePlan>,
) -> BenchResult<()> {
    let range = &test.launch.range;
    let group: u64 = range.local.unwrap_or([1; 3]).iter().product();
    let probe_words = match plan {
        Some(plan) => Some(plan.layout.buffer_words(range.items() / group, range.items()).ok_or("too large a launch")?),
        None => None,
    };
    let options = RunOptions { timeout: Duration::from_secs(60), repeats: 1, probe_words, outputs: true };
    executor.run(program, &test.launch, &options)?.map_err(|fault| format!("{fault:?}"))?;
    Ok(())
}

/// Times every stage by itself, one after the other.
fn measure_stages(path: &Path, stages: &mut Stages) -> BenchResult<()> {
    let context = Context::create();
    let suite = stages.time("read the suite", || Suite::load(path))?;
    stages.time("clang: bitcode alone", || load(&suite, false))?;
    let loaded = stages.time("clang: bitcode, and the syntax tree beside it", || load(&suite, true))?;
    let mut parsed = stages.time("parse bitcode", || module::parse(&context, &loaded.bitcode, &loaded.source))?;
    let kernels = module::kernels(&parsed);
    let entry = suite.entry.clone().or_else(|| kernels.first().cloned()).ok_or("there is no kernel")?;
    let machine = spirv::machine()?;
    let interface = stages.time("interface and canonical form", || {
        let interface = signature::interface(&parsed, &entry)?;
        canonical::canonicalise(&mut parsed, &entry, &machine).map(|()| interface)
    })?;
    let sources = build::sources_of(&suite.kernel);
    let from_spirv = loaded.format == Format::SpirV;
    let sites = stages.time("sites", || Sites::read(&parsed, &entry, from_spirv, loaded.ast.as_ref(), &sources));
    let mut woven = parsed.clone();
    let plan = stages.time("plan and weave probes", || {
        let plan = CoveragePlan::new(&sites, Slots::Groups);
        plan.weave(&woven, &sites, Target::SpirV).map(|()| plan)
    })?;
    stages.time("prepare, plain", || spirv::prepare(&mut parsed, &entry, &machine))?;
    stages.time("prepare, with probes", || spirv::prepare(&mut woven, &entry, &machine))?;
    let code = |spirv| Code::spirv(spirv, &entry, String::new());
    let plain = code(stages.time("emit SPIR-V, plain", || spirv::emit(&parsed))?);
    let probed = code(stages.time("emit SPIR-V, with probes", || spirv::emit(&woven))?);
    let mut executor =
        stages.time("start a worker (while clang runs)", || OpenClExecutor::start(DeviceSelector::Any, worker()))?;
    let test = stages
        .time("make the test's data", || first_test(&suite, &interface, executor.device().max_work_group_size))?;
    let first = stages.time("build on the device, plain (the worker's first)", || executor.load(&plain))?;
    let second = stages.time("build on the device, with probes", || executor.load(&probed))?;
    stages.time("first launch, plain", || launch(&mut executor, first, &test, None))?;
    stages.time("first launch, with probes", || launch(&mut executor, second, &test, Some(&plan)))?;
    stages.time("second launch, plain", || launch(&mut executor, first, &test, None))
}

/// Times the stages as `kassay run` and, with probes, `kassay cover` perform them: the worker starts while
/// clang compiles.
fn measure_end_to_end(path: &Path, with_probes: bool) -> BenchResult<()> {
    let context = Context::create();
    let suite = Suite::load(path)?;
    let starting = OpenClExecutor::spawn(DeviceSelector::Any, Target::SpirV, worker())?;
    let loaded = load(&suite, with_probes)?;
    let file = KernelFile::parse(&context, &loaded)?;
    let entry = file.choose(suite.entry.as_deref())?;
    let under_test = file.under_test(&entry, &loaded, &build::sources_of(&suite.kernel))?;
    let probed = if with_probes { Some(under_test.instrumented(Slots::Groups, Target::SpirV)?) } else { None };
    let plain = under_test.plain(Target::SpirV)?;
    let mut executor = starting.ready()?;
    let test = first_test(&suite, &under_test.interface, executor.device().max_work_group_size)?;
    let program = executor.load(&plain)?;
    launch(&mut executor, program, &test, None)?;
    if let Some((code, plan)) = probed {
        let program = executor.load(&code)?;
        launch(&mut executor, program, &test, Some(&plan))?;
    }
    Ok(())
}
