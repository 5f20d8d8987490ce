//! Measures race checking against Oclgrind (Debian's package `oclgrind`) as whole processes, one thread each, on
//! launches that take Oclgrind seconds; and against the simulator without race checking and the OpenCL device.
//!
//! `cargo bench --bench races -- [--rounds N] [KERNEL]...` runs the suites in `benches/races` whose names contain one
//! of the words, or all. Oclgrind gets the same launch as a simulator file (`oclgrind-kernel`), with `--data-races` and
//! its default memory checks; kassay runs `check` with races, bounds and fuel, without the steps that go beyond one
//! launch (redundant barriers, amplification).

mod common;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use kassay::OpenOptions;
use kassay::Parsed;
use kassay_ir::llvm::Context;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::resolve::Suite;

/// How many times faster `check` has to be at the median, and the goal.
const LIMIT: f64 = 30.0;
const GOAL: f64 = 100.0;

struct Row {
    kernel: String,
    items: u64,
    /// Seconds of whole processes.
    oclgrind: f64,
    check: f64,
    /// `kassay run` on the simulator, without races, and on the OpenCL device.
    simulator: f64,
    device: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let mut rounds = 1;
    if let Some(at) = words.iter().position(|w| w == "--rounds") {
        rounds = words.get(at + 1).ok_or("--rounds takes a number")?.parse()?;
        words.drain(at..at + 2);
    }
    if Command::new("oclgrind-kernel").arg("--version").stdout(Stdio::null()).status().is_err() {
        return Err("oclgrind-kernel is not there; install Debian's package `oclgrind`".into());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/races");
    let mut suites: Vec<PathBuf> = std::fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<std::io::Result<_>>()?;
    suites.sort();
    let wanted = |p: &PathBuf| {
        let name = p.file_stem().unwrap_or_default().to_string_lossy();
        words.is_empty() || words.iter().any(|w| name.contains(w.as_str()))
    };
    println!(
        "{:<18}{:>9}{:>12}{:>11}{:>8}{:>13}{:>10}{:>11}{:>10}",
        "seconds", "items", "Oclgrind", "check", "times", "unchecked", "slower", "device", "slower"
    );
    let mut rows = Vec::new();
    for suite in suites.iter().filter(|p| wanted(p)) {
        let row = measure(suite, rounds).map_err(|e| format!("{}: {e}", suite.display()))?;
        let times = row.oclgrind / row.check;
        println!(
            "{:<18}{:>9}{:>12.2}{:>11.3}{:>8.0}{:>13.3}{:>10.2}{:>11.3}{:>10.2}",
            row.kernel,
            row.items,
            row.oclgrind,
            row.check,
            times,
            row.simulator,
            row.check / row.simulator,
            row.device,
            row.check / row.device
        );
        rows.push(row);
    }
    let mut limits = common::Limits::default();
    if let Some((least, median, most)) = spread(&rows, |r| r.oclgrind / r.check) {
        let verdict = limits.at_least("the median of the times that check is faster", median, LIMIT);
        println!(
            "check is faster than Oclgrind by: median {median:.0} (limit {LIMIT}: {verdict}, goal {GOAL}), \
             least {least:.0}, most {most:.0}"
        );
    }
    for (what, slower) in [
        ("the simulator without races", (|r| r.check / r.simulator) as fn(&Row) -> f64),
        ("the OpenCL device", |r| r.check / r.device),
    ] {
        if let Some((least, median, most)) = spread(&rows, slower) {
            println!("check is slower than {what} by: median {median:.2}, least {least:.2}, most {most:.2}");
        }
    }
    limits.end()
}

/// Returns the least, the median and the greatest value of all rows.
fn spread(rows: &[Row], of: impl Fn(&Row) -> f64) -> Option<(f64, f64, f64)> {
    let mut all: Vec<f64> = rows.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    Some((*all.first()?, *all.get(all.len() / 2)?, *all.last()?))
}

/// Returns the seconds of the fastest of `rounds` rounds.
fn time(rounds: u32, mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..rounds.max(1) {
        let begin = Instant::now();
        work()?;
        least = least.min(begin.elapsed().as_secs_f64());
    }
    Ok(least)
}

fn measure(path: &Path, rounds: u32) -> Result<Row, Box<dyn Error>> {
    let suite = Suite::load(path)?;
    let context = Context::create();
    let Parsed { under_test, tests, .. } = OpenOptions::new().syntax_tree(false).parse_suite(&context, path)?;
    let test = tests.first().ok_or("no test")?;

    let scratch = tempfile::tempdir()?;
    let described = scratch.path().join("launch.sim");
    std::fs::write(&described, simulator_file(&suite.kernel, &under_test.entry, &test.launch)?)?;
    let oclgrind = time(rounds, || {
        let mut command = Command::new("oclgrind-kernel");
        command.args(["--data-races", "--num-threads", "1"]);
        if !suite.options.is_empty() {
            command.args(["--build-options", &suite.options.join(" ")]);
        }
        quiet(command.arg(&described))
    })?;
    let kassay = |args: &[&str]| {
        quiet(Command::new(env!("CARGO_BIN_EXE_kassay")).args(args).arg(path).args(["-j", "1", "--quiet"]))
    };
    let check = time(rounds.max(3), || kassay(&["check", "--no-amplify", "--no-redundant"]))?;
    let simulator = time(rounds.max(3), || kassay(&["run", "--device", "sim"]))?;
    let device = time(rounds.max(3), || kassay(&["run"]))?;
    Ok(Row { kernel: under_test.entry, items: test.launch.range.items(), oclgrind, check, simulator, device })
}

/// Runs a command that must succeed and print nothing to standard error.
fn quiet(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let run = command.output()?;
    let said = String::from_utf8_lossy(&run.stderr);
    if !run.status.success() || !said.trim().is_empty() {
        return Err(format!("{command:?} ended with {:?}: {said}", run.status.code()).into());
    }
    Ok(())
}

/// Writes a launch in the format of `oclgrind-kernel`.
fn simulator_file(kernel: &Path, entry: &str, launch: &Launch) -> Result<String, Box<dyn Error>> {
    let range = &launch.range;
    let triple = |v: [u64; 3]| format!("{} {} {}", v[0], v[1], v[2]);
    let local = range.local.ok_or("the suite leaves `local` open")?;
    let mut text = format!("{}\n{entry}\n{}\n{}\n", kernel.display(), triple(range.global), triple(local));
    for arg in &launch.args {
        match arg {
            ArgValue::Local(bytes) => writeln!(text, "<size={bytes}>")?,
            ArgValue::Value(bytes) => data(&mut text, bytes)?,
            ArgValue::Buffer(bytes) => data(&mut text, bytes)?,
            other => return Err(format!("{other:?} has no form in a simulator file").into()),
        }
    }
    Ok(text)
}

/// Writes bytes as words or, where they are all the same, as the value that fills them.
fn data(text: &mut String, bytes: &[u8]) -> std::fmt::Result {
    let is_uniform = bytes.iter().all(|b| Some(b) == bytes.first());
    match (is_uniform, bytes.first()) {
        (true, Some(first)) if bytes.len() > 64 => writeln!(text, "<size={} uchar fill={first}>", bytes.len()),
        _ if bytes.len().is_multiple_of(4) => {
            writeln!(text, "<size={} uint>", bytes.len())?;
            for word in bytes.chunks_exact(4) {
                write!(text, "{} ", u32::from_le_bytes([word[0], word[1], word[2], word[3]]))?;
            }
            text.push('\n');
            Ok(())
        }
        _ => {
            writeln!(text, "<size={} uchar>", bytes.len())?;
            for byte in bytes {
                write!(text, "{byte} ")?;
            }
            text.push('\n');
            Ok(())
        }
    }
}
