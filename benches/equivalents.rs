//! Measures the share of the search for equivalent and duplicate mutants in the time of `kassay mutate`.
//!
//! `cargo bench --bench equivalents -- [WORD]...` runs whole processes, one after the other, on the suites with 100
//! mutants or more whose names contain one of the words (or on all of them, without words).

mod common;

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use kassay::result::mutate::MutateResult;

/// Suites with fewer mutants are left out: they say little.
const LEAST: u64 = 100;

/// The share of the total time that the search may take, at the median.
const LIMIT: f64 = 0.65;

/// Suites with fewer mutants are not judged by their time per mutant: starting takes most of it.
const MANY: u64 = 500;

/// The milliseconds that a whole process should take at most per mutant, for suites with [`MANY`] mutants or more.
const EACH: f64 = 15.0;

/// The seconds that a whole process should take at the median, on an otherwise idle machine.
const GOAL: f64 = 1.2;

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("equivalents: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the benchmark, which fails if the limit is missed.
fn bench() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    println!("{:<28}{:>8}{:>9}{:>9}{:>9}", "suite", "mutants", "whole s", "search s", "share");
    let (mut wholes, mut shares) = (Vec::new(), Vec::new());
    let mut dearest = 0.0_f64;
    for (name, suite) in common::suites(&words)? {
        let (result, seconds) = mutate(&suite)?;
        if result.summary.total < LEAST {
            continue;
        }
        let share = result.timing.equivalence_s / seconds;
        let (total, search) = (result.summary.total, result.timing.equivalence_s);
        println!("{name:<28}{total:>8}{seconds:>9.2}{search:>9.2}{share:>9.2}");
        if total >= MANY {
            dearest = dearest.max(seconds * 1000.0 / total as f64);
        }
        wholes.push(seconds);
        shares.push(share);
    }
    if wholes.is_empty() {
        return Err("no suite has so many mutants".into());
    }
    let (whole, share) = (common::median(&wholes), common::median(&shares));
    let mut limits = common::Limits::default();
    let verdict = limits.at_most("the share of the search", share, LIMIT);
    println!(
        "median: {whole:.2} s (goal {GOAL}), the search {:.0} % of it (limit {:.0} %: {verdict})",
        share * 100.0,
        LIMIT * 100.0
    );
    println!("suites with {MANY} mutants or more: {dearest:.1} ms a mutant at most (goal {EACH})");
    limits.end()
}

/// Runs `kassay mutate` on a suite; returns the result and the elapsed seconds.
fn mutate(suite: &Path) -> Result<(MutateResult, f64), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("result.json");
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_kassay"))
        .arg("mutate")
        .arg(suite)
        .arg("--quiet")
        .arg("-o")
        .arg(&file)
        .output()?;
    let seconds = started.elapsed().as_secs_f64();
    let text = std::fs::read_to_string(&file).map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
    Ok((serde_json::from_str(&text)?, seconds))
}
