//! Measures what `check` spends on redundant barriers: processor time of whole processes, `check` against
//! `check --no-redundant`, in turns.
//!
//! `cargo bench --bench check -- [--rounds N] [WORD]...` takes the suites of `benches/races`, and those of
//! `testdata/check` whose kernels are clean and have barriers and whose path contains one of the words (or all, without
//! words). The least of N rounds (3) counts.

mod common;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The most that `check` may take, as a multiple of its time without the search for redundant barriers.
const LIMIT: f64 = 2.0;

/// User and system seconds of all children that have ended so far.
fn children() -> f64 {
    // SAFETY: an all-zero `rusage` is a valid one, and the call only fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    #[expect(clippy::cast_precision_loss, reason = "seconds and microseconds are small")]
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Returns the processor seconds of one `check`.
fn time(suite: &Path, more: &[&str]) -> Result<f64, Box<dyn Error>> {
    let before = children();
    let status = Command::new(env!("CARGO_BIN_EXE_kassay"))
        .arg("check")
        .arg(suite)
        .args(["--quiet", "--no-amplify"])
        .args(more)
        .stdout(Stdio::null())
        .status()?;
    if status.code().is_none_or(|code| code > 1) {
        return Err(format!("{}: {status}", suite.display()).into());
    }
    Ok(children() - before)
}

fn suites(words: &[String]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for entry in std::fs::read_dir(root.join("benches/races"))? {
        all.push(entry?.path());
    }
    for entry in std::fs::read_dir(root.join("testdata/check"))? {
        all.push(entry?.path().join("suite.toml"));
    }
    let has_barriers = |suite: &Path| {
        let folder = suite.parent().unwrap_or(root);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(folder.join(format!("{name}.cl"))).unwrap_or_default();
        folder.ends_with("races") || (text.contains("// expect: clean") && text.contains("barrier("))
    };
    let is_wanted = |p: &Path| words.is_empty() || words.iter().any(|w| p.to_string_lossy().contains(w.as_str()));
    all.retain(|p| p.is_file() && has_barriers(p) && is_wanted(p));
    all.sort();
    Ok(all)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let mut rounds = 3;
    if let Some(at) = words.iter().position(|w| w == "--rounds") {
        rounds = words.get(at + 1).ok_or("--rounds takes a number")?.parse()?;
        words.drain(at..at + 2);
    }
    println!("{:<44}{:>10}{:>10}{:>8}", "processor seconds", "check", "without", "ratio");
    let mut ratios = Vec::new();
    for suite in suites(&words)? {
        let (mut with, mut without) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..rounds.max(1) {
            with = with.min(time(&suite, &[])?);
            without = without.min(time(&suite, &["--no-redundant"])?);
        }
        let folder = suite.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let stem = suite.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = if stem == "suite" { folder } else { stem };
        println!("{name:<44}{with:>10.3}{without:>10.3}{:>8.2}", with / without);
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    let Some(worst) = ratios.last() else { return Err("no suite has such a name".into()) };
    let mut limits = common::Limits::default();
    let verdict = limits.at_most("the worst ratio", *worst, LIMIT);
    println!("redundant barriers: median {:.2}, worst {worst:.2} (limit {LIMIT}: {verdict})", ratios[ratios.len() / 2]);
    limits.end()
}
