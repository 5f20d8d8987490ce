//! Measures the time before a kernel's first launch: `kassay check` on launches of one work-group, as whole processes,
//! without the cache and with the entries of an earlier run, next to clang's own time for the same file.
//!
//! `cargo bench --bench start -- [--rounds N] [KERNEL]...` takes a kernel of one line and those of `benches/races`. It
//! prints processor time (user and system, children included) next to elapsed time, because on a busy machine only
//! processor time is reliable.

mod common;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Limits in processor time: a start from the cache relative to one without, and a start without the cache relative to
/// clang's own time.
const CACHED: f64 = 0.75;
const OF_CLANG: f64 = 4.0;

const ONE_LINE: &str = "kernel void one(global int *o) { o[get_global_id(0)] = 1; }\n";

type BenchResult<T> = Result<T, Box<dyn Error>>;

/// Elapsed and processor time in milliseconds.
type Times = [f64; 2];

struct Case {
    name: String,
    kernel: PathBuf,
    suite: PathBuf,
}

fn main() -> BenchResult<()> {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let mut rounds = 9;
    if let Some(at) = words.iter().position(|w| w == "--rounds") {
        rounds = words.get(at + 1).ok_or("--rounds takes a number")?.parse()?;
        words.drain(at..at + 2);
    }
    let folder = tempfile::tempdir()?;
    let mut cases = cases(folder.path())?;
    cases.retain(|case| words.is_empty() || words.iter().any(|word| case.name.contains(word)));
    println!("milliseconds, medians of {rounds}: wall (processor)\n");
    println!("{:<22}{:>18}{:>18}{:>18}{:>10}", "", "clang", "check, no cache", "check, cached", "share");
    let (mut shares, mut of_clang) = (Vec::new(), Vec::new());
    for case in &cases {
        let cache = folder.path().join("cache");
        let mut times: [Vec<Times>; 3] = Default::default();
        for round in 0..=rounds {
            let clang = clang(case, folder.path())?;
            let plain = check(case, &["--no-cache"])?;
            let cached = check(case, &["--cache", &cache.to_string_lossy()])?;
            // The first round fills the cache.
            if round > 0 {
                for (times, new) in times.iter_mut().zip([clang, plain, cached]) {
                    times.push(new);
                }
            }
        }
        let median_at = |times: &[Times], i: usize| common::median(&times.iter().map(|t| t[i]).collect::<Vec<f64>>());
        let [clang, plain, cached] = times.map(|times| [0, 1].map(|i| median_at(&times, i)));
        let shown = |[wall, cpu]: Times| format!("{wall:.1} ({cpu:.1})");
        let share = cached[1] / plain[1];
        println!("{:<22}{:>18}{:>18}{:>18}{share:>10.2}", case.name, shown(clang), shown(plain), shown(cached));
        shares.push(share);
        of_clang.push(plain[1] / clang[1]);
    }
    let (share, of_clang) = (common::median(&shares), common::median(&of_clang));
    let mut limits = common::Limits::default();
    let cache = limits.at_most("the time from the cache, relative to that without,", share, CACHED);
    let clang = limits.at_most("the time without the cache, relative to clang's,", of_clang, OF_CLANG);
    println!("\nmedian: cached / not {share:.2} (limit {CACHED}: {cache})");
    println!("median: not cached / clang {of_clang:.2} (limit {OF_CLANG}: {clang})");
    limits.end()
}

/// Writes the kernels with suites of one work-group each into `folder`.
fn cases(folder: &Path) -> BenchResult<Vec<Case>> {
    let one = folder.join("one.cl");
    std::fs::write(&one, ONE_LINE)?;
    let suite = "kernel = \"one.cl\"\n[[test]]\nglobal = [1]\nlocal = [1]\n[test.args]\no = { fill = 0, len = 1 }\n";
    std::fs::write(folder.join("one.toml"), suite)?;
    let mut cases = vec![Case { name: "one line".into(), kernel: one, suite: folder.join("one.toml") }];
    let races = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/races");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&races)?.map(|entry| Ok(entry?.path())).collect::<BenchResult<_>>()?;
    files.sort();
    for file in files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "toml")) {
        let mut suite: toml::Table = std::fs::read_to_string(&file)?.parse()?;
        let kernel = races.join(suite["kernel"].as_str().ok_or("a suite names its kernel")?).canonicalize()?;
        suite.insert("kernel".into(), kernel.to_string_lossy().into_owned().into());
        for test in suite["test"].as_array_mut().into_iter().flatten().filter_map(toml::Value::as_table_mut) {
            if let Some(local) = test.get("local").cloned() {
                test.insert("global".into(), local);
            }
        }
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let small = folder.join(&name).with_extension("toml");
        std::fs::write(&small, toml::to_string(&suite)?)?;
        cases.push(Case { name, kernel, suite: small });
    }
    Ok(cases)
}

fn clang(case: &Case, folder: &Path) -> BenchResult<Times> {
    let mut command = Command::new("clang-22");
    command.args([
        "-x",
        "cl",
        "-cl-std=CL1.2",
        "-target",
        "spirv64-unknown-unknown",
        "-O1",
        "-Xclang",
        "-disable-llvm-passes",
        "-g",
    ]);
    command.args(["-w", "-emit-llvm", "-c", "-o"]).arg(folder.join("clang.bc")).arg(&case.kernel);
    timed(&mut command, &[0])
}

fn check(case: &Case, cache: &[&str]) -> BenchResult<Times> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kassay"));
    command.arg("check").arg(&case.suite).args(["--no-amplify", "--quiet"]).args(cache);
    // A launch that was made smaller may have findings.
    timed(&mut command, &[0, 1])
}

fn timed(command: &mut Command, codes: &[i32]) -> BenchResult<Times> {
    let before = spent();
    let started = Instant::now();
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
    let wall = started.elapsed().as_secs_f64() * 1e3;
    let cpu = (spent() - before) * 1e3;
    match output.status.code() {
        Some(code) if codes.contains(&code) => Ok([wall, cpu]),
        _ => Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Returns the processor seconds of all children that have ended.
fn spent() -> f64 {
    // SAFETY: an all-zero `rusage` is a valid one, and the call only fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
