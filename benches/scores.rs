//! Measures how many mutants generated suites kill, against the suites of `testdata` that were written by hand.
//!
//! `cargo bench --bench scores -- [--budget SECONDS] [--sample N] [--attempts N] [--seed N] [--device DEVICE] [WORD]...`
//! takes the suites whose names contain one of the words, in the words' order, or all. For each kernel it generates one
//! suite for the branches and one for the mutants; each command runs as a whole process. With `--sample` the same
//! mutants are drawn for all three suites.

mod common;

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use kassay::result::mutate::{MutateResult, Summary};
use kassay_suite::resolve::Suite;

/// The mean score of PENG's fuzz-made suites (chapter 5), in percent.
const PENG: f64 = 74.9;

struct Options {
    budget: String,
    sample: Option<String>,
    attempts: Option<String>,
    seed: String,
    device: String,
    words: Vec<String>,
}

/// The mutation result of one suite.
struct Outcome {
    tests: usize,
    summary: Summary,
    seconds: f64,
}

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("scores: {e}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    println!("{:<26}{:>8}{:>18}{:>27}{:>27}", "", "", "by hand", "for branches", "for mutants");
    let part = |with: bool| format!("{:>8}{:>10}{}", "tests", "score", if with { "        s" } else { "" });
    println!("{:<26}{:>8}{}{}{}", "suite", "mutants", part(false), part(true), part(true));
    let mut all: Vec<[Outcome; 3]> = Vec::new();
    for (name, suite) in common::suites(&options.words)? {
        match outcomes(&suite, &options) {
            Ok(outcomes) => {
                let [hand, branches, mutants] = &outcomes;
                let shown = |o: &Outcome| format!("{:>8}{:>10}", o.tests, percent(o.summary.score));
                println!(
                    "{name:<26}{:>8}{}{}{:>9.2}{}{:>9.2}",
                    hand.summary.total,
                    shown(hand),
                    shown(branches),
                    branches.seconds,
                    shown(mutants),
                    mutants.seconds
                );
                all.push(outcomes);
            }
            Err(e) => println!("{name:<26} {e}"),
        }
    }
    let column = |i: usize| all.iter().map(move |o| &o[i]);
    for (i, name) in ["by hand", "for branches", "for mutants"].into_iter().enumerate() {
        let scores: Vec<f64> = column(i).filter_map(|o| o.summary.score).collect();
        let detected: u64 = column(i).map(|o| detected(&o.summary)).sum();
        let counted: u64 = column(i).map(|o| counted(&o.summary)).sum();
        if scores.is_empty() || counted == 0 {
            continue;
        }
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let tests: usize = column(i).map(|o| o.tests).sum();
        println!(
            "{name}: mean score {mean:.1} %, least {:.1} %; {detected} of {counted} mutants ({:.1} %), {tests} tests",
            scores.iter().copied().fold(100.0, f64::min),
            100.0 * detected as f64 / counted as f64
        );
    }
    println!("PENG, fuzz-made suites: mean score {PENG} %");
    Ok(())
}

/// Returns the outcomes of the suite as it is, of one generated for branches, and of one for mutants.
fn outcomes(path: &Path, options: &Options) -> Result<[Outcome; 3], Box<dyn Error>> {
    let suite = Suite::load(path)?;
    let folder = tempfile::tempdir()?;
    let hand = mutate(path, &folder.path().join("hand.json"), options)?;
    let hand = Outcome { tests: suite.tests.len(), summary: hand.summary, seconds: 0.0 };
    let at = folder.path().join("branches");
    let seconds = generate(&suite, &at, "branch", options)?;
    let result = mutate(&at.join("suite.toml"), &folder.path().join("branches.json"), options)?;
    let branches = Outcome { tests: result.tests.len(), summary: result.summary, seconds };
    let at = folder.path().join("mutants");
    let seconds = generate(&suite, &at, "mutants", options)?;
    let result: MutateResult = serde_json::from_slice(&std::fs::read(at.join("mutate.json"))?)?;
    let mutants = Outcome { tests: result.tests.len(), summary: result.summary, seconds };
    Ok([hand, branches, mutants])
}

/// Generates a suite for the suite's kernel; returns the seconds that `kassay generate` took.
fn generate(suite: &Suite, folder: &Path, goal: &str, options: &Options) -> Result<f64, Box<dyn Error>> {
    let mut command = kassay("generate");
    command.arg(&suite.kernel).arg("-o").arg(folder).args(["--goal", goal, "--budget", &options.budget]);
    command.args(["--seed", &options.seed]);
    if let Some(entry) = &suite.entry {
        command.args(["--entry", entry]);
    }
    for option in &suite.options {
        command.arg(format!("--clang-arg={option}"));
    }
    if let Some(attempts) = &options.attempts {
        command.args(["--attempts", attempts]);
    }
    if goal == "mutants" {
        command.args(["--device", &options.device]);
        if let Some(sample) = &options.sample {
            command.args(["--sample", sample]);
        }
    }
    let started = Instant::now();
    finish(&mut command)?;
    Ok(started.elapsed().as_secs_f64())
}

fn mutate(suite: &Path, output: &Path, options: &Options) -> Result<MutateResult, Box<dyn Error>> {
    let mut command = kassay("mutate");
    command.arg(suite).args(["--device", &options.device]).arg("-o").arg(output);
    if let Some(sample) = &options.sample {
        command.args(["--sample", sample]);
    }
    // Generation draws its sample with seed 0, whatever `--seed` is.
    command.args(["--seed", "0"]);
    finish(&mut command)?;
    Ok(serde_json::from_slice(&std::fs::read(output)?)?)
}

fn kassay(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kassay"));
    command.args([name, "--quiet"]);
    command
}

fn finish(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let done = command.output()?;
    match done.status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(String::from_utf8_lossy(&done.stderr).lines().next().unwrap_or("ended").to_owned().into()),
    }
}

fn detected(s: &Summary) -> u64 {
    s.killed + s.runtime_error + s.timeout
}

fn counted(s: &Summary) -> u64 {
    s.total - s.equivalent - s.duplicate - s.ignored - s.compile_error - s.pending
}

fn percent(score: Option<f64>) -> String {
    score.map_or_else(|| "-".to_owned(), |s| format!("{s:.1}"))
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        budget: "60".into(),
        sample: None,
        attempts: None,
        seed: "0".into(),
        device: "sim".into(),
        words: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} takes a value"));
        match arg.as_str() {
            "--bench" => {} // from cargo
            "--budget" => options.budget = value()?,
            "--sample" => options.sample = Some(value()?),
            "--attempts" => options.attempts = Some(value()?),
            "--seed" => options.seed = value()?,
            "--device" => options.device = value()?,
            word => options.words.push(word.to_owned()),
        }
    }
    Ok(options)
}
