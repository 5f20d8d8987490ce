//! Measures the cost of mutation testing: mutant schemata against a build for each mutant, on the suites of `testdata`.
//!
//! `cargo bench --bench mutation -- [--operators LIST] [--rounds N] [--differential] [SUITE]...` takes the suites
//! whose names contain one of the words, in the words' order, or all. Both strategies run on the same machine, one
//! after the other, each as a whole process; `--differential` lists every verdict on which they disagree, with three
//! repeats each.

mod common;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

use kassay::result::mutate::{MutateResult, Status};

/// The ratio of times that schemata must reach at the median for kernels with [`MANY`] mutants or more, and the goal.
const LIMIT: f64 = 30.0;
const GOAL: f64 = 100.0;
const MANY: usize = 100;

struct Options {
    operators: String,
    rounds: usize,
    differential: bool,
    words: Vec<String>,
}

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("mutation: {e}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    println!(
        "{:<26}{:>8}{:>6}{:>8}{:>11}{:>11}{:>11}{:>8}{:>10}{:>10}{:>9}",
        "suite",
        "mutants",
        "tests",
        "builds",
        "schemata s",
        "rebuild s",
        "ratio",
        "score",
        "pairs/s",
        "pairs/s",
        "equiv s"
    );
    let (mut ratios, mut disagreements) = (Vec::new(), 0);
    for (name, suite) in common::suites(&options.words)? {
        let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        let mut last: Option<[MutateResult; 2]> = None;
        for _ in 0..options.rounds {
            let schemata = mutate(&suite, "schemata", &options)?;
            let rebuild = mutate(&suite, "rebuild", &options)?;
            times[0].push(schemata.timing.build_s + schemata.timing.run_s);
            times[1].push(rebuild.timing.build_s + rebuild.timing.run_s);
            last = Some([schemata, rebuild]);
        }
        let Some([schemata, rebuild]) = last else { continue };
        let (a, b) = (common::median(&times[0]), common::median(&times[1]));
        // Mutants that are decided before any build cost neither strategy anything.
        let run =
            schemata.mutants.iter().filter(|m| m.duplicate_of.is_none() && m.status != Status::Equivalent).count();
        let rate = |r: &MutateResult, seconds: f64| r.timing.pairs as f64 / seconds;
        println!(
            "{:<26}{:>8}{:>6}{:>8}{:>11.3}{:>11.3}{:>11.1}{:>8}{:>10.0}{:>10.0}{:>9.3}",
            name,
            schemata.mutants.len(),
            schemata.tests.len(),
            schemata.timing.builds,
            a,
            b,
            b / a,
            schemata.summary.score.map_or_else(|| "-".to_owned(), |s| format!("{s:.1}")),
            rate(&schemata, a),
            rate(&rebuild, b),
            schemata.timing.equivalence_s,
        );
        if run >= MANY {
            ratios.push(b / a);
        }
        if options.differential {
            // Printed as soon as it is known, because all suites together take long.
            let lines = compare(&name, &schemata, &rebuild);
            lines.iter().for_each(|line| println!("  {line}"));
            disagreements += lines.len();
        }
    }
    let mut limits = common::Limits::default();
    if !ratios.is_empty() {
        let count = ratios.len();
        let middle = common::median(&ratios);
        let verdict = limits.at_least("the median of the ratios", middle, LIMIT);
        println!(
            "\n{count} suites with {MANY} mutants to run or more: schemata take {middle:.1} times less at the median \
             (least {:.1}, most {:.1}; limit {LIMIT}: {verdict}, goal {GOAL})",
            ratios[0],
            ratios[count - 1]
        );
    }
    if options.differential {
        println!("\n{disagreements} disagreements");
    }
    limits.end()
}

fn options() -> Result<Options, String> {
    let mut options = Options { operators: "all".into(), rounds: 1, differential: false, words: Vec::new() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bench" => {} // from cargo
            "--differential" => options.differential = true,
            "--operators" => options.operators = args.next().ok_or("--operators takes a list")?,
            "--rounds" => {
                let rounds = args.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
                options.rounds = rounds.ok_or("--rounds takes a number above 0")?;
            }
            word => options.words.push(word.to_owned()),
        }
    }
    Ok(options)
}

fn mutate(suite: &Path, strategy: &str, options: &Options) -> Result<MutateResult, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("result.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kassay"));
    command.arg("mutate").arg(suite).args(["--quiet", "--strategy", strategy, "--operators", &options.operators]);
    if options.differential {
        command.args(["--repeats", "3"]);
    }
    let done = command.arg("-o").arg(&output).output()?;
    if !matches!(done.status.code(), Some(0 | 1)) {
        return Err(format!("{}: {}", suite.display(), String::from_utf8_lossy(&done.stderr)).into());
    }
    Ok(serde_json::from_slice(&std::fs::read(output)?)?)
}

/// Describes the verdicts on which the strategies differ.
fn compare(name: &str, schemata: &MutateResult, rebuild: &MutateResult) -> Vec<String> {
    let other: BTreeMap<&str, _> = rebuild.mutants.iter().map(|m| (m.id.as_str(), m)).collect();
    let mut lines = Vec::new();
    for mutant in &schemata.mutants {
        let Some(twin) = other.get(mutant.id.as_str()) else {
            lines.push(format!("{name}: {} is missing with rebuild", mutant.id));
            continue;
        };
        if mutant.status != twin.status {
            let reason = |m: &kassay::result::mutate::Mutant| m.reason.clone().unwrap_or_default();
            lines.push(format!(
                "{name}: {}: schemata {:?} ({}), rebuild {:?} ({})",
                mutant.id,
                mutant.status,
                reason(mutant),
                twin.status,
                reason(twin)
            ));
        }
    }
    lines
}
