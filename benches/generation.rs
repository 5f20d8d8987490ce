//! Measures what `kassay generate` achieves on the kernels of `testdata`, and how long it takes: by fuzzing alone, by
//! solving alone, and by both.
//!
//! `cargo bench --bench generation -- [--budget SECONDS] [KERNEL]...` takes the kernels whose names contain one of the
//! words, or all. Each runs as a whole process, one after the other, with the interface that kassay infers. A kernel is
//! whole if each outcome of its branches is covered or proved infeasible.

mod common;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use kassay::result::generate::{GenerateResult, GoalStatus};
use kassay_suite::resolve::Suite;

type BenchResult<T = ()> = Result<T, Box<dyn Error>>;

/// The percentage of kernels that have to be whole, and the goal for the mean seconds per kernel.
const LIMIT: f64 = 95.0;
const GOAL: f64 = 0.2;

/// The search modes: a name, and the options that leave out the other searches.
const MODES: [(&str, &[&str]); 3] = [("fuzz", &["--no-smt"]), ("smt", &["--no-fuzz"]), ("both", &[])];

/// The numbers of outcomes by status, and the seconds that the run took.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    covered: usize,
    infeasible: usize,
    unknown: usize,
    seconds: f64,
}

impl Tally {
    fn whole(&self) -> bool {
        self.unknown == 0
    }

    fn all(&self) -> usize {
        self.covered + self.infeasible + self.unknown
    }
}

fn main() -> BenchResult {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let mut budget = "60".to_owned();
    if let Some(at) = words.iter().position(|w| w == "--budget") {
        budget = words.get(at + 1).ok_or("--budget takes seconds")?.clone();
        words.drain(at..at + 2);
    }
    print!("{:<26}", "covered+infeasible/all");
    for (name, _) in MODES {
        print!("{name:>16}{:>9}", "s");
    }
    println!();
    let mut rows: Vec<[Tally; MODES.len()]> = Vec::new();
    for (name, suite) in kernels()? {
        if !words.is_empty() && !words.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        print!("{name:<26}");
        let mut row = [Tally::default(); MODES.len()];
        for (tally, (_, more)) in row.iter_mut().zip(MODES) {
            *tally = generate(&suite, more, &budget).map_err(|e| format!("{name}: {e}"))?;
            let covered = format!("{}+{}/{}", tally.covered, tally.infeasible, tally.all());
            print!("{covered:>16}{:>9.2}", tally.seconds);
        }
        println!();
        rows.push(row);
    }
    if rows.is_empty() {
        return Err("no kernel has such a name".into());
    }
    println!();
    summary(&rows)
}

/// Returns the kernels of `testdata` by name, each with a suite that knows its entry and options.
fn kernels() -> BenchResult<Vec<(String, Suite)>> {
    let sorted = |folder: &Path| -> BenchResult<Vec<PathBuf>> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<BenchResult<_>>()?;
        files.sort();
        Ok(files)
    };
    let mut all: Vec<(String, Suite)> = Vec::new();
    for folder in sorted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata"))?.iter().filter(|f| f.is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // These kernels have a line or two, for single operators.
        if name == "operators" {
            continue;
        }
        for file in sorted(folder)? {
            let file_name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !file_name.starts_with("suite") || !file_name.ends_with(".toml") {
                continue;
            }
            let suite = Suite::load(&file)?;
            if !all.iter().any(|(_, s)| s.kernel == suite.kernel && s.entry == suite.entry) {
                let entry = suite.entry.as_deref().filter(|e| *e != name);
                all.push((entry.map_or(name.clone(), |e| format!("{name}:{e}")), suite));
            }
        }
    }
    Ok(all)
}

fn generate(suite: &Suite, more: &[&str], budget: &str) -> BenchResult<Tally> {
    let scratch = tempfile::tempdir()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_kassay"));
    command.arg("generate").arg(&suite.kernel).arg("-o").arg(scratch.path());
    command.args(["--quiet", "--budget", budget]).args(more);
    command.args(suite.entry.iter().map(|e| format!("--entry={e}")));
    command.args(suite.options.iter().map(|o| format!("--clang-arg={o}")));
    let started = Instant::now();
    let run = command.output()?;
    let seconds = started.elapsed().as_secs_f64();
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned().into());
    }
    let result: GenerateResult = serde_json::from_str(&std::fs::read_to_string(scratch.path().join("generate.json"))?)?;
    let count = |status| result.goals.iter().filter(|g| g.status == status).count();
    Ok(Tally {
        covered: count(GoalStatus::Covered),
        infeasible: count(GoalStatus::Infeasible),
        unknown: count(GoalStatus::Unknown),
        seconds,
    })
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

/// Prints a table with a column for each search mode, and PENG's figures (sections 5.4.1 and 5.4.4, 217 kernels) where
/// there are any.
fn summary(rows: &[[Tally; MODES.len()]]) -> BenchResult {
    println!("{:<34}{:>9}{:>9}{:>9}{:>14}{:>10}", "", "fuzz", "smt", "both", "PENG: fuzz", "both");
    let line = |what: &str, of: &dyn Fn(usize) -> f64, decimals: usize, fuzz: &str, both: &str| {
        print!("{what:<34}");
        for mode in 0..MODES.len() {
            print!("{:>9.decimals$}", of(mode));
        }
        println!("{fuzz:>14}{both:>10}");
    };
    let sum = |mode: usize, of: &dyn Fn(&Tally) -> usize| rows.iter().map(|r| of(&r[mode])).sum::<usize>();
    let share = |mode, of: &dyn Fn(&Tally) -> usize| percent(sum(mode, of), sum(mode, &Tally::all));
    let kernels = |mode: usize, of: &dyn Fn(&Tally) -> bool| rows.iter().filter(|r| of(&r[mode])).count();
    line("kernels", &|_| rows.len() as f64, 0, "217", "217");
    line("outcomes", &|m| sum(m, &Tally::all) as f64, 0, "", "");
    line("covered", &|m| sum(m, &|f| f.covered) as f64, 0, "", "");
    line("infeasible", &|m| sum(m, &|f| f.infeasible) as f64, 0, "", "");
    line("unknown", &|m| sum(m, &|f| f.unknown) as f64, 0, "", "");
    line("covered, %", &|m| share(m, &|f| f.covered), 1, "91.5", "100");
    line("covered or infeasible, %", &|m| share(m, &|f| f.covered + f.infeasible), 1, "", "");
    line(
        "kernels with all covered, %",
        &|m| percent(kernels(m, &|f| f.covered == f.all()), rows.len()),
        1,
        "85.7",
        "100",
    );
    line("kernels whole, %", &|m| percent(kernels(m, &Tally::whole), rows.len()), 1, "", "");
    let times: Vec<Vec<f64>> = (0..MODES.len())
        .map(|m| {
            let mut times: Vec<f64> = rows.iter().map(|r| r[m].seconds).collect();
            times.sort_by(f64::total_cmp);
            times
        })
        .collect();
    let mean = |m: usize| times[m].iter().sum::<f64>() / times[m].len() as f64;
    let deviation = |m: usize| {
        let squares: f64 = times[m].iter().map(|t| (t - mean(m)).powi(2)).sum();
        (squares / times[m].len() as f64).sqrt()
    };
    let quantile = |m: usize, share: f64| times[m][((times[m].len() - 1) as f64 * share).round() as usize];
    line("seconds a kernel, mean", &mean, 2, "", "0.8");
    line("standard deviation", &deviation, 2, "", "");
    line("median", &|m| quantile(m, 0.5), 2, "", "");
    line("nine of ten within", &|m| quantile(m, 0.9), 2, "", "");
    line("worst", &|m| quantile(m, 1.0), 2, "2", "60");
    let last = MODES.len() - 1;
    let mut limits = common::Limits::default();
    let (whole, seconds) = (percent(kernels(last, &Tally::whole), rows.len()), mean(last));
    println!(
        "\nwhole with both: {whole:.1} % of kernels (limit {LIMIT}: {}); mean {seconds:.2} s (goal {GOAL}: {})",
        limits.at_least("the percentage of kernels that are whole", whole, LIMIT),
        if seconds <= GOAL { "reached" } else { "not reached" }
    );
    limits.end()
}
