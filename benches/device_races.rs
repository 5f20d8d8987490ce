//! Measures what the search for races costs on a device: kernel times with shadow memory against those without, on
//! large launches of the kernels in `testdata`.
//!
//! `cargo bench --bench device_races -- [--device opencl|nvidia] [--kassay PROGRAM] [--root FOLDER] [--rounds N] [--fixtures] [KERNEL]...`
//! runs the suites in `benches/overhead` whose names contain one of the words, or all. The program needs no cargo:
//! FOLDER is the repository, and PROGRAM is what runs as the device's worker.
//!
//! With `--fixtures`, what is found in the suites of `testdata/check` is compared with their names, which begin with
//! `race_` or `clean_`; times are not measured.

mod common;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kassay::OpenOptions;
use kassay::Parsed;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::device_races::{Outcome, RaceSearch, Ran};
use kassay_run::exec::{DeviceRequest, Executor, RunOptions, StartingExecutors, WorkerOptions};

use common::{Limits, median};

/// The longest launch.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Limits of the ratios.
const MEDIAN_LIMIT: f64 = 3.0;
const WORST_LIMIT: f64 = 15.0;

struct Options {
    device: String,
    kassay: PathBuf,
    root: PathBuf,
    rounds: u32,
    fixtures: bool,
    words: Vec<String>,
}

struct Row {
    kernel: String,
    items: u64,
    /// Milliseconds.
    plain: Vec<f64>,
    searched: Vec<f64>,
    /// Pairs of accesses that race.
    pairs: u32,
}

/// A kernel that is measured, or the reason why it is not.
enum Measured {
    Row(Row),
    NotRun(String),
}

impl Row {
    fn ratio(&self) -> f64 {
        median(&self.searched) / median(&self.plain)
    }

    fn print(&self) {
        let Row { kernel, items, plain, searched, pairs } = self;
        let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let of_minima = least(searched) / least(plain);
        let (middle, with) = (median(plain), median(searched));
        println!("{kernel:<18}{items:>10}{middle:>12.3}{with:>12.3}{:>8.2}{of_minima:>12.2}{pairs:>7}", self.ratio());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let worker = WorkerOptions { exe: Some(options.kassay.clone()), ..WorkerOptions::default() };
    let request = DeviceRequest::from(options.device.as_str());
    let mut executors = StartingExecutors::start(&request, &worker, 1)?.ready()?.executors;
    let executor = executors.first_mut().ok_or("there is no device")?;
    println!("{}, {}", executor.device().name, executor.device().driver);
    if options.fixtures {
        return fixtures(executor.as_mut(), &options);
    }
    println!("medians of {} launches of each version, alternating; times in ms\n", options.rounds);
    println!(
        "{:<18}{:>10}{:>12}{:>12}{:>8}{:>12}{:>7}",
        "kernel", "items", "plain", "searched", "ratio", "of minima", "pairs"
    );
    let mut ratios = Vec::new();
    for suite in suites(&options)? {
        match measure(executor.as_mut(), &suite, options.rounds).map_err(|e| format!("{}: {e}", suite.display()))? {
            Measured::Row(row) => {
                row.print();
                ratios.push(row.ratio());
            }
            Measured::NotRun(why) => println!("{}: {why}", suite.display()),
        }
    }
    let mut limits = Limits::default();
    let worst = ratios.iter().copied().fold(f64::NAN, f64::max);
    let middle = median(&ratios);
    println!("\n{} kernels:", ratios.len());
    println!("  median {middle:.2}, limit {MEDIAN_LIMIT} ({})", limits.at_most("the median", middle, MEDIAN_LIMIT));
    println!("  worst  {worst:.2}, limit {WORST_LIMIT} ({})", limits.at_most("the worst ratio", worst, WORST_LIMIT));
    limits.end()
}

/// Looks for races in the tests of every suite and prints what is found. Fails if some name says otherwise.
fn fixtures(executor: &mut dyn Executor, options: &Options) -> Result<(), Box<dyn Error>> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in options.root.join("testdata/check").read_dir()? {
        folders.push(entry?.path());
    }
    folders.sort();
    let (mut right, mut handed_over, mut wrong) = (0, 0, Vec::new());
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_racy = name.starts_with("race_");
        let is_asked = options.words.is_empty() || options.words.iter().any(|word| name.contains(word.as_str()));
        if !is_asked || !(is_racy || name.starts_with("clean_")) {
            continue;
        }
        let (what, verdict) = match searched(executor, &folder.join("suite.toml")) {
            Ok(Some(pairs)) => (format!("{pairs} pairs"), Some((pairs > 0) == is_racy)),
            Ok(None) => ("handed over".to_owned(), None),
            Err(e) => (e.to_string(), Some(false)),
        };
        println!("{name:<40} {what}{}", if verdict == Some(false) { "  WRONG" } else { "" });
        match verdict {
            Some(true) => right += 1,
            None => handed_over += 1,
            Some(false) => wrong.push(name),
        }
    }
    println!("\n{right} right, {handed_over} handed over, {} wrong: {}", wrong.len(), wrong.join(", "));
    if wrong.is_empty() { Ok(()) } else { Err("not all fixtures are judged right".into()) }
}

/// Returns the pairs of accesses that race in the tests of a suite; `None` if the kernel is one for the simulator.
fn searched(executor: &mut dyn Executor, path: &Path) -> Result<Option<u32>, Box<dyn Error>> {
    let context = Context::create();
    let Parsed { under_test, mut tests, .. } = OpenOptions::new().parse_suite(&context, path)?;
    let mut search = RaceSearch::new(&under_test);
    let mut pairs = 0;
    for test in &mut tests {
        test.launch.range.decide_local(under_test.interface.required_local, executor.device().max_work_group_size);
        match search.run(executor, &test.launch, TIMEOUT, false)? {
            Outcome::Ran(Ran { seen, .. }) => pairs += seen.found,
            Outcome::HandedOver(_) => return Ok(None),
            Outcome::Ended(fault) => return Err(format!("the kernel {fault}").into()),
        }
    }
    Ok(Some(pairs))
}

fn options() -> Result<Options, String> {
    let kassay = common::program(env!("CARGO_BIN_EXE_kassay"));
    let (device, root) = ("opencl".to_owned(), common::root());
    let mut options = Options { device, kassay, root, rounds: 5, fixtures: false, words: Vec::new() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} takes a value"));
        match arg.as_str() {
            "--bench" => {} // from cargo
            "--fixtures" => options.fixtures = true,
            "--device" => options.device = value()?,
            "--kassay" => options.kassay = PathBuf::from(value()?),
            "--root" => options.root = PathBuf::from(value()?),
            "--rounds" => {
                let rounds = value()?.parse().ok().filter(|n| *n > 0);
                options.rounds = rounds.ok_or("--rounds takes a number above 0")?;
            }
            flag if flag.starts_with('-') => {
                return Err(format!(
                    "{flag} is no option; there are --device, --kassay, --root, --fixtures and --rounds N"
                ));
            }
            word => options.words.push(word.to_owned()),
        }
    }
    Ok(options)
}

/// Returns the suites whose names contain one of the words (all, if there are none), in order.
fn suites(options: &Options) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let (folder, words) = (options.root.join("benches/overhead"), &options.words);
    let entries = folder.read_dir().map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    found.retain(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|e| e == "toml")
            && (words.is_empty() || words.iter().any(|w| name.contains(w.as_str())))
    });
    found.sort();
    if found.is_empty() {
        return Err(format!("no suite in {} has such a name", folder.display()).into());
    }
    Ok(found)
}

/// Times the only test of a suite, both versions of the kernel in turn.
fn measure(executor: &mut dyn Executor, path: &Path, rounds: u32) -> Result<Measured, Box<dyn Error>> {
    let context = Context::create();
    let Parsed { under_test, mut tests, .. } = OpenOptions::new().parse_suite(&context, path)?;
    let test = tests.first_mut().ok_or("there is no test")?;
    test.launch.range.decide_local(under_test.interface.required_local, executor.device().max_work_group_size);
    let original = executor.load(&under_test.plain(executor.target())?)?;
    let mut search = RaceSearch::new(&under_test);
    let options = RunOptions { timeout: TIMEOUT, repeats: 1, probe_words: None, outputs: false };
    let (kernel, items) = (under_test.entry.clone(), test.launch.range.items());
    let mut row = Row { kernel, items, plain: Vec::new(), searched: Vec::new(), pairs: 0 };
    // The first round is not counted: code is made, and shadow memory cleared.
    for round in 0..=rounds {
        let plain = executor.run(original, &test.launch, &options)?.map_err(|fault| fault.to_string())?;
        let searched = match search.run(executor, &test.launch, TIMEOUT, false)? {
            Outcome::Ran(Ran { seen, observation, .. }) => {
                row.pairs = row.pairs.max(seen.found);
                observation
            }
            Outcome::HandedOver(why) => return Ok(Measured::NotRun(format!("the kernel {why}"))),
            Outcome::Ended(fault) => return Ok(Measured::NotRun(format!("the kernel {fault}"))),
        };
        if round > 0 {
            row.plain.extend(plain.kernel_times.iter().map(|time| time.as_secs_f64() * 1e3));
            row.searched.extend(searched.kernel_times.iter().map(|time| time.as_secs_f64() * 1e3));
        }
    }
    executor.unload(original);
    Ok(Measured::Row(row))
}
