//! Measures how many pairs of a mutant and a test a device judges per second, by the number of runs in one launch.
//!
//! `cargo bench --bench device_mutants -- [--device nvidia|opencl] [--root FOLDER] [--kassay PROGRAM] [--runs N[,N...]] [KERNEL]...`
//! builds one module of all mutants of each kernel (of `testdata`; by default the seven of the prototype's table), with
//! guards, and runs them on the first test of its suite in joint launches of 1 to 65,536 runs: every launch resets the
//! memory of its runs, runs them, compares their outputs and returns a result for each. `pairs/s` is by the clock of
//! the whole sweep, with its set-up; `device` counts the kernel's own time alone. `one by one` is an ordinary sweep of
//! one launch for each pair.

mod common;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kassay::OpenOptions;
use kassay::Parsed;
use kassay_ir::instrument::layout::{GuardLayout, slot};
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::Context;
use kassay_judge::mutation::Selection;
use kassay_judge::mutation::build::module_builder::{Effort, ModuleBuilder, RunsPerLaunch, Woven};
use kassay_judge::mutation::catalogue::indices::TestIndex;
use kassay_judge::mutation::catalogue::subject::Subject;
use kassay_judge::mutation::enumerate;
use kassay_judge::mutation::run::baseline::{self, Original, TestBaseline};
use kassay_run::exec::joint::cannot_join;
use kassay_run::exec::{
    DeviceRequest, Executor, JointLaunch, JointOutcome, JointRun, JointSweep, ProgramId, StartingExecutors, Sweep,
    Variation, VariationOutcome, WorkerOptions,
};

/// The kernels of the table in the prototype's record.
const KERNELS: [&str; 7] =
    ["stencil_2d", "matmul_naive", "game_of_life", "kmeans_assign", "convolution_2d", "bitonic_sort", "sha_like"];

/// Numbers of runs in one launch.
const RUNS: [u32; 7] = [1, 64, 1024, 4096, 16_384, 65_536, 262_144];

/// About as long as each figure is measured.
const LEAST_TIME: Duration = Duration::from_millis(150);

/// Most runs of a sweep, whose results are kept.
const MOST_RUNS: u32 = 1 << 20;

/// Fuel and time, as multiples of the original's, as `kassay mutate` has them.
const FACTOR: f64 = 10.0;

struct Options {
    device: String,
    root: PathBuf,
    kassay: PathBuf,
    runs: Vec<u32>,
    kernels: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let request: DeviceRequest = options.device.as_str().into();
    let worker = WorkerOptions { exe: Some(options.kassay.clone()), ..WorkerOptions::default() };
    let started = StartingExecutors::start(&request, &worker, 1)?.ready()?;
    let mut executor = started.executors.into_iter().next().ok_or("no executor")?;
    println!("{}, {}", executor.device().name, executor.device().driver);
    println!("pairs of a mutant and the first test, per second; of which the kernel itself would allow (device)\n");
    print!("{:<16}{:>8}{:>8}{:>12}", "kernel", "mutants", "items", "one by one");
    options.runs.iter().for_each(|runs| print!("{runs:>11}{:>11}", "device"));
    println!();
    for name in &options.kernels {
        measure(executor.as_mut(), name, &options).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        device: "opencl".into(),
        root: common::root(),
        kassay: common::program(env!("CARGO_BIN_EXE_kassay")),
        runs: RUNS.to_vec(),
        kernels: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--bench" => {} // from cargo
            "--device" => options.device = value()?,
            "--root" => options.root = value()?.into(),
            "--kassay" => options.kassay = value()?.into(),
            "--runs" => {
                let numbers = value()?;
                let numbers: Result<Vec<u32>, _> = numbers.split(',').map(str::parse).collect();
                options.runs = numbers.map_err(|e| format!("--runs takes numbers with commas between: {e}"))?;
            }
            flag if flag.starts_with('-') => {
                return Err(format!("{flag} is no option; there are --device, --root, --kassay and --runs"));
            }
            word => options.kernels.push(word.to_owned()),
        }
    }
    if options.kernels.is_empty() {
        options.kernels = KERNELS.map(str::to_owned).to_vec();
    }
    Ok(options)
}

/// What is measured of one kernel.
struct Bench<'a, 't> {
    executor: &'a mut dyn Executor,
    program: ProgramId,
    layout: GuardLayout,
    woven: &'a Woven,
    baseline: &'a TestBaseline<'t>,
    mutants: u32,
}

fn measure(executor: &mut dyn Executor, name: &str, options: &Options) -> Result<(), Box<dyn Error>> {
    let path = options.root.join("testdata").join(name).join("suite.toml");
    let context = Context::create();
    let Parsed { under_test, loaded, tests } = OpenOptions::new().parse_suite(&context, &path)?;
    let test = tests.first().ok_or("the suite has no tests")?;
    let sources = Sources::default();
    let found = enumerate(&Subject::of(&under_test, loaded.ast.as_ref(), &sources), &Selection::parse("all")?);
    let edits: BTreeMap<u32, &Edit> =
        (1..).zip(found.mutants.iter().map(|m| &m.edit).filter(|edit| edit.is_woven())).collect();
    let edits: Vec<(u32, &Edit)> = edits.into_iter().collect();
    let builder = ModuleBuilder::new(&under_test, executor.target());
    let woven = builder.schemata_for(&edits, false, Effort::Quick, RunsPerLaunch::Joint)??;
    let program = executor.load(&woven.code)?;
    let (layout, timeout) = (builder.layout, Duration::from_secs(60));
    let mut original = Original { executor: &mut *executor, program, woven: &woven, layout, repeats: 1, timeout };
    let baseline = original.establish((TestIndex(0), test))?;
    if let Some(reason) = &baseline.dropped {
        return Err(reason.to_string().into());
    }
    let items = test.launch.range.items();
    let mutants = edits.len() as u32;
    let mut bench = Bench {
        executor: &mut *executor,
        program,
        layout: builder.layout,
        woven: &woven,
        baseline: &baseline,
        mutants,
    };
    print!("{name:<16}{mutants:>8}{items:>8}{:>12}", rate(bench.one_by_one()?));
    for runs in &options.runs {
        let (whole, device) = bench.jointly(*runs)?;
        print!("{:>11}{:>11}", rate(whole), rate(device));
    }
    println!();
    executor.unload(program);
    Ok(())
}

impl Bench<'_, '_> {
    /// Pairs a second with a launch for each.
    fn one_by_one(&mut self) -> Result<f64, Box<dyn Error>> {
        let layout = self.layout;
        let fuel = self.baseline.fuel(FACTOR);
        let head = baseline::head_for(self.woven, layout, &self.baseline.test.launch, fuel);
        let first = layout.slot(0);
        let words = |n| Variation { words: vec![(first + slot::MUTANT, 1 + n % self.mutants)] };
        let variations: Vec<Variation> = (0..self.mutants).map(words).collect();
        let started = Instant::now();
        let done = self.executor.sweep(
            self.program,
            &Sweep {
                launch: &self.baseline.test.launch,
                probe: &head,
                probe_words: head.len() as u64,
                variations: &variations,
                references: &self.baseline.references,
                repeats: 1,
                timeout: self.baseline.limit(FACTOR),
                words: first..layout.slot(1),
                decisive: None,
                batch: None,
            },
        )?;
        let faults = done.runs.iter().filter(|run| matches!(run, VariationOutcome::Fault(_))).count();
        if faults > 0 {
            return Err(format!("{faults} runs ended the worker").into());
        }
        Ok(f64::from(self.mutants) / started.elapsed().as_secs_f64())
    }

    /// Pairs a second with so many runs in a launch: by the clock, and by the kernel's time alone.
    fn jointly(&mut self, most_runs: u32) -> Result<(f64, f64), Box<dyn Error>> {
        let module = self.woven.joint.as_ref().ok_or("the kernel takes what joint launches cannot give it")?;
        let (launch, references) = (&self.baseline.test.launch, &self.baseline.references);
        if let Some(why) = cannot_join(launch, references) {
            return Err(why.into());
        }
        let block = baseline::head_for(self.woven, self.layout, launch, self.baseline.fuel(FACTOR));
        let launches = [JointLaunch { launch, block, references }];
        let (mut pairs, mut kernel) = (0_u64, Duration::ZERO);
        // Times are kept of so many launches only.
        let most = most_runs.saturating_mul(1024).min(MOST_RUNS);
        let mut count = most_runs.saturating_mul(4).max(64).min(most);
        let mut started = Instant::now();
        let mut is_warm = false;
        loop {
            let words = |n| [1 + n % self.mutants, 0];
            let runs: Vec<JointRun> = (0..count).map(|n| JointRun { launch: 0, words: words(n) }).collect();
            let sweep = JointSweep {
                values: &module.values,
                written: &module.written,
                launches: &launches,
                runs: &runs,
                repeats: 1,
                most_runs,
                outputs: false,
                timeout: Duration::from_secs(60),
            };
            match self.executor.sweep_jointly(self.program, &sweep)? {
                JointOutcome::Ran { kernel_time, .. } if is_warm => {
                    pairs += u64::from(count);
                    kernel += kernel_time;
                }
                // The first one compiles what compares, and pages memory in.
                JointOutcome::Ran { .. } => {
                    is_warm = true;
                    started = Instant::now();
                }
                JointOutcome::Lost(fault) => return Err(fault.to_string().into()),
            }
            let elapsed = started.elapsed();
            if pairs > 0 && elapsed >= LEAST_TIME {
                let pairs = pairs as f64;
                return Ok((pairs / elapsed.as_secs_f64(), pairs / kernel.as_secs_f64()));
            }
            if pairs > 0 {
                count = count.saturating_mul(4).min(most);
            }
        }
    }
}

/// A rate with its unit.
fn rate(per_second: f64) -> String {
    match per_second {
        r if r >= 1e7 => format!("{:.1} M", r / 1e6),
        r if r >= 1e6 => format!("{:.2} M", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k", r / 1e3),
        r => format!("{r:.0}"),
    }
}
