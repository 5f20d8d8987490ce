//! Measures the cost of coverage: kernel times with probes against those without, on large launches of the kernels
//! in `testdata`.
//!
//! `cargo bench --bench overhead -- [--device D] [--counts] [--mcdc] [--def-use] [--rounds N] [--json FILE]
//! [KERNEL]...` runs the suites in `benches/overhead` whose names contain one of the words, or all. Definitions are
//! followed on the simulator only, so that this ratio is to the simulator's own time for the original, of smaller
//! launches. Not for the time that kassay itself takes (`stages`).
//!
//! The program also runs by itself, where there is no cargo: `--root FOLDER` names the repository (default: where it
//! was built, or else the current folder), `--kassay PROGRAM` the program that workers are.

mod common;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kassay::OpenOptions;
use kassay::Parsed;
use kassay_ir::cfg::sites::SiteKind;
use kassay_ir::instrument::layout::Slots;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::coverage::def_use;
use kassay_run::exec::simulator::Simulator;
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_run::exec::{DeviceRequest, Executor, ProgramId, RunOptions, StartingExecutors, Target, WorkerOptions};
use kassay_suite::launch::Launch;
use kassay_suite::resolve::Test;

use common::{Limits, median};

/// Launches in one call of the executor, on the same buffers.
const REPEATS: u32 = 2;

/// The most work-items of a launch on the simulator.
const SIMULATED_ITEMS: u64 = 2048;

/// The longest launch.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is asked of a kind of devices.
struct Demand {
    /// A launch of fewer milliseconds says more about launching than about the kernel. A GPU's own clock has no such
    /// part, and its launches are short.
    least_ms: f64,
    rounds: u32,
    /// Limits of the cost of coverage: for the median of the ratios, and for the worst one; and the goals.
    median_limit: f64,
    median_goal: f64,
    worst_limit: f64,
    worst_goal: f64,
}

const PROCESSORS: Demand =
    Demand { least_ms: 10.0, rounds: 6, median_limit: 1.3, median_goal: 1.15, worst_limit: 2.5, worst_goal: 2.5 };
const GPUS: Demand =
    Demand { least_ms: 0.0, rounds: 20, median_limit: 1.2, median_goal: 1.1, worst_limit: 2.5, worst_goal: 2.0 };

struct Options {
    counts: bool,
    mcdc: bool,
    def_use: bool,
    /// `None`: as the kind of devices demands.
    rounds: Option<u32>,
    device: String,
    root: Option<PathBuf>,
    kassay: Option<PathBuf>,
    json: Option<PathBuf>,
    words: Vec<String>,
}

/// The times of one version of a kernel, in milliseconds.
struct Times(Vec<f64>);

impl Times {
    fn median(&self) -> f64 {
        median(&self.0)
    }

    fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

struct Row {
    kernel: String,
    items: u64,
    original: Times,
    instrumented: Times,
    counted: Option<Times>,
    /// With the test vectors of decisions.
    mcdc: Option<Times>,
    /// Whether the kernel has decisions with test vectors.
    has_vectors: bool,
    /// With definitions followed: the ratio on the simulator.
    def_use: Option<f64>,
    is_long_enough: bool,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.instrumented.median() / self.original.median()
    }

    fn counts_ratio(&self) -> Option<f64> {
        self.counted.as_ref().map(|t| t.median() / self.original.median())
    }

    fn mcdc_ratio(&self) -> Option<f64> {
        self.mcdc.as_ref().map(|t| t.median() / self.original.median())
    }

    fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "kernel": self.kernel,
            "items": self.items,
            "original_ms": self.original.median(),
            "instrumented_ms": self.instrumented.median(),
            "ratio": self.ratio(),
            "ratio_of_minima": self.instrumented.least() / self.original.least(),
            "counts": self.counts_ratio(),
            "mcdc": self.mcdc_ratio().filter(|_| self.has_vectors),
            "def_use": self.def_use,
            "is_long_enough": self.is_long_enough,
        })
    }

    fn print(&self) {
        let least = self.instrumented.least() / self.original.least();
        let counts = self.counts_ratio().map_or(String::new(), |r| format!("{r:>8.2}"));
        let mcdc = match self.mcdc_ratio() {
            Some(ratio) if self.has_vectors => format!("{ratio:>8.2}"),
            Some(_) => format!("{:>8}", "-"),
            None => String::new(),
        };
        let def_use = self.def_use.map_or(String::new(), |r| format!("{r:>9.1}"));
        let mark = if self.is_long_enough { "" } else { "  too short" };
        println!(
            "{:<18}{:>10}{:>12.2}{:>14.2}{:>8.2}{:>12.2}{counts}{mcdc}{def_use}{mark}",
            self.kernel,
            self.items,
            self.original.median(),
            self.instrumented.median(),
            self.ratio(),
            least
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let exe = options.kassay.clone().unwrap_or_else(|| common::program(env!("CARGO_BIN_EXE_kassay")));
    let worker = WorkerOptions { exe: Some(exe), ..WorkerOptions::default() };
    let request: DeviceRequest = options.device.as_str().into();
    let started = StartingExecutors::start(&request, &worker, 1)?.ready()?;
    let mut executor = started.executors.into_iter().next().ok_or("there is no executor")?;
    let demand = if executor.device().kind == "gpu" { GPUS } else { PROCESSORS };
    let rounds = options.rounds.unwrap_or(demand.rounds);
    println!("{}, {}", executor.device().name, executor.device().driver);
    println!("medians of {} launches of each version, alternating; times in ms\n", rounds * REPEATS);
    let counts = if options.counts { "  counts" } else { "" };
    let mcdc = if options.mcdc { "    mcdc" } else { "" };
    let def_use = if options.def_use { "  def-use" } else { "" };
    println!(
        "{:<18}{:>10}{:>12}{:>14}{:>8}{:>12}{counts}{mcdc}{def_use}",
        "kernel", "items", "original", "instrumented", "ratio", "of minima"
    );
    let (mut rows, mut limits, mut failures) = (Vec::new(), Limits::default(), 0);
    for suite in suites(&options)? {
        match measure(&mut *executor, &suite, &options, rounds) {
            Ok(mut row) => {
                row.is_long_enough = row.original.median() >= demand.least_ms;
                row.print();
                rows.push(row);
            }
            Err(e) => {
                println!("{}: {e}", suite.display());
                failures += 1;
            }
        }
        // After every kernel: if the program is ended early, what there is stays.
        if let Some(file) = &options.json {
            let device = executor.device();
            let kernels: Vec<serde_json::Value> = rows.iter().map(Row::to_json).collect();
            let launches = rounds * REPEATS;
            let all = serde_json::json!({
                "device": device.name, "driver": device.driver, "launches": launches, "kernels": kernels,
            });
            std::fs::write(file, serde_json::to_vec_pretty(&all)?)?;
        }
    }
    let long = || rows.iter().filter(|r| r.is_long_enough);
    summary(&mut limits, &demand, "coverage", long().map(Row::ratio).collect());
    if options.counts {
        summary(&mut limits, &demand, "counts", long().filter_map(Row::counts_ratio).collect());
    }
    if options.mcdc {
        // It is asked for, and has no limit.
        let with_vectors = long().filter(|r| r.has_vectors);
        let ratios: Vec<f64> = with_vectors.filter_map(Row::mcdc_ratio).collect();
        let worst = ratios.iter().copied().fold(f64::NAN, f64::max);
        println!("\nmcdc, {} kernels with decisions: median {:.2}, worst {worst:.2}", ratios.len(), median(&ratios));
    }
    if options.def_use {
        // Likewise.
        let ratios: Vec<f64> = rows.iter().filter_map(|row| row.def_use).collect();
        let worst = ratios.iter().copied().fold(f64::NAN, f64::max);
        println!(
            "\ndef-use on one thread of the simulator, launches of at most {SIMULATED_ITEMS} work-items, {} kernels: median \
             {:.1}, worst {worst:.1}",
            ratios.len(),
            median(&ratios)
        );
    }
    if failures > 0 {
        return Err(format!("{failures} kernels could not be measured").into());
    }
    limits.end()
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        counts: false,
        mcdc: false,
        def_use: false,
        rounds: None,
        device: "opencl".to_owned(),
        root: None,
        kassay: None,
        json: None,
        words: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} takes a value"));
        match arg.as_str() {
            "--bench" => {} // from cargo
            "--counts" => options.counts = true,
            "--mcdc" => options.mcdc = true,
            "--def-use" => options.def_use = true,
            "--device" => options.device = value()?,
            "--root" => options.root = Some(value()?.into()),
            "--kassay" => options.kassay = Some(value()?.into()),
            "--json" => options.json = Some(value()?.into()),
            "--rounds" => {
                let rounds = value()?.parse().ok().filter(|n| *n > 0);
                options.rounds = Some(rounds.ok_or("--rounds takes a number above 0")?);
            }
            flag if flag.starts_with('-') => {
                return Err(format!(
                    "{flag} is no option; there are --device D, --counts, --mcdc, --def-use, --rounds N, --json FILE, --root \
                     FOLDER and --kassay PROGRAM"
                ));
            }
            word => options.words.push(word.to_owned()),
        }
    }
    Ok(options)
}

/// Returns the suites whose names contain one of the words (all, if there are none), in order.
fn suites(options: &Options) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let words = &options.words;
    let folder = options.root.clone().unwrap_or_else(common::root).join("benches/overhead");
    let mut found: Vec<PathBuf> = folder
        .read_dir()
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    found.retain(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        words.is_empty() || words.iter().any(|w| name.contains(w.as_str()))
    });
    found.sort();
    if found.is_empty() {
        return Err(format!("no suite in {} has such a name", folder.display()).into());
    }
    Ok(found)
}

/// Times the only test of a suite, all versions of the kernel in turn.
fn measure(executor: &mut dyn Executor, path: &Path, options: &Options, rounds: u32) -> Result<Row, Box<dyn Error>> {
    let target = executor.target();
    let context = Context::create();
    let Parsed { under_test, mut tests, .. } = OpenOptions::new().parse_suite(&context, path)?;
    let test = tests.first_mut().ok_or("there is no test")?;
    let range = &mut test.launch.range;
    let local = range.local_or_default(under_test.interface.required_local, executor.device().max_work_group_size);
    range.local = Some(local);
    let (items, group) = (range.items(), local.iter().product::<u64>());

    let mut versions = vec![(executor.load(&under_test.plain(target)?)?, None, Times(Vec::new()))];
    let vectors = under_test.with_vectors()?;
    let kinds = [
        (true, Slots::Groups, &under_test),
        (options.counts, Slots::Items, &under_test),
        (options.mcdc, Slots::Groups, &vectors),
    ];
    for (_, slots, kernel) in kinds.into_iter().filter(|(is_wanted, ..)| *is_wanted) {
        let (code, plan) = kernel.instrumented(slots, target)?;
        let words = plan.layout.buffer_words(items / group, items).ok_or("the launch is too large")?;
        versions.push((executor.load(&code)?, Some(words), Times(Vec::new())));
    }
    for (program, words, _) in &versions {
        time(executor, *program, &test.launch, *words)?;
    }
    for _ in 0..rounds {
        for (program, words, times) in &mut versions {
            times.0.extend(time(executor, *program, &test.launch, *words)?);
        }
    }
    for (program, ..) in &versions {
        executor.unload(*program);
    }
    let mut times = versions.into_iter().map(|(_, _, times)| times);
    let (Some(original), Some(instrumented)) = (times.next(), times.next()) else { return Err("no times".into()) };
    let counted = if options.counts { times.next() } else { None };
    let mcdc = if options.mcdc { times.next() } else { None };
    let has_vectors = vectors.sites.of_kind(SiteKind::Decision).any(|site| !site.outcomes.is_empty());
    let def_use = if options.def_use { Some(def_use_ratio(&under_test, test, rounds)?) } else { None };
    let kernel = under_test.entry;
    Ok(Row { kernel, items, original, instrumented, counted, mcdc, has_vectors, def_use, is_long_enough: true })
}

/// Returns how many times longer a test takes on one thread of the simulator if definitions are followed; the launch is
/// a part of the test's.
fn def_use_ratio(under_test: &KernelUnderTest<'_>, test: &Test, rounds: u32) -> Result<f64, Box<dyn Error>> {
    let mut test = test.clone();
    let range = &mut test.launch.range;
    let local = range.local.ok_or("the work-groups' size is open")?;
    while range.items() > SIMULATED_ITEMS {
        let groups = |d: usize| range.global[d] / local[d];
        let Some(longest) = (0..3).max_by_key(|d| groups(*d)).filter(|d| groups(*d) > 1) else { break };
        range.global[longest] = groups(longest) / 2 * local[longest];
    }
    let mut simulator = Simulator::new(1)?;
    let plain = simulator.load_native(&under_test.plain(Target::Native)?.into_native()?)?;
    let code = def_use::build(under_test)?;
    let followed = simulator.load_native(&code.code)?;
    let (mut original, mut with_definitions) = (Times(Vec::new()), Times(Vec::new()));
    for _ in 0..=rounds {
        let simulation = simulator.simulate(plain, &test.launch, &SimulationOptions::default(), TIMEOUT, &[])?;
        original.0.extend(simulation.observation.kernel_times.iter().map(Duration::as_secs_f64));
        let run = def_use::follow(&mut simulator, followed, &code.plan, &test, TIMEOUT)?;
        with_definitions.0.push(run.time.ok_or("following definitions did not complete")?.as_secs_f64());
    }
    Ok(with_definitions.median() / original.median())
}

/// Returns the milliseconds on the device, one number for each of [`REPEATS`] launches.
fn time(
    executor: &mut dyn Executor,
    program: ProgramId,
    launch: &Launch,
    probe_words: Option<u64>,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let options = RunOptions { timeout: TIMEOUT, repeats: REPEATS, probe_words, outputs: false };
    let observation = executor.run(program, launch, &options)?.map_err(|fault| format!("{fault:?}"))?;
    Ok(observation.kernel_times.iter().map(|t| t.as_secs_f64() * 1e3).collect())
}

fn summary(limits: &mut Limits, demand: &Demand, what: &str, ratios: Vec<f64>) {
    println!("\n{what}, {} kernels:", ratios.len());
    if ratios.is_empty() {
        return;
    }
    let worst = ratios.iter().copied().fold(f64::NAN, f64::max);
    let middle = median(&ratios);
    println!(
        "  median {middle:.3}, limit {} ({}), goal {} ({})",
        demand.median_limit,
        limits.at_most(&format!("{what}: the median of the ratios"), middle, demand.median_limit),
        demand.median_goal,
        reached(middle, demand.median_goal)
    );
    println!(
        "  worst  {worst:.3}, limit {} ({}), goal {} ({})",
        demand.worst_limit,
        limits.at_most(&format!("{what}: the worst ratio"), worst, demand.worst_limit),
        demand.worst_goal,
        reached(worst, demand.worst_goal)
    );
}

fn reached(ratio: f64, goal: f64) -> &'static str {
    if ratio <= goal { "reached" } else { "not reached" }
}
