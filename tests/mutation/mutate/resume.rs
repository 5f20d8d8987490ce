//! Checks that runs which are killed at any moment and resumed lose nothing and decide nothing twice.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::bench::{Bench, TestResult, lasting, result, same, suite};

const RESULT: &str = "killed.json";
const JOURNAL: &str = "killed.json.journal.jsonl";

/// Starts a run and kills it with SIGKILL after `delay`, unless it has ended by then. Returns whether it has.
fn killed_after(command: &mut Command, delay: Duration) -> TestResult<bool> {
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let started = Instant::now();
    loop {
        if child.try_wait()?.is_some() {
            let output = child.wait_with_output()?;
            let err = String::from_utf8_lossy(&output.stderr);
            return if output.status.success() { Ok(true) } else { Err(format!("{}: {err}", output.status).into()) };
        }
        if started.elapsed() >= delay {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the complete lines of the journal, which has at most one for each mutant.
fn lines(bench: &Bench) -> TestResult<Vec<String>> {
    let Ok(text) = std::fs::read_to_string(bench.path(JOURNAL)) else { return Ok(Vec::new()) };
    // A line that was only partly written when the run was killed is cut off.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let (mut seen, mut classified) = (BTreeSet::new(), 0);
    for line in lines.iter().skip(1) {
        let entry: Value = serde_json::from_str(line)?;
        match entry["decided"]["id"].as_str().or_else(|| entry["ran"]["row"]["id"].as_str()) {
            Some(id) => assert!(seen.insert(id.to_owned()), "{id} was decided twice"),
            None => classified += usize::from(entry["proved"].is_null() && entry["proved-for-launches"].is_null()),
        }
    }
    assert!(classified <= 1, "the search for equivalents was made twice");
    Ok(lines)
}

/// Kills a run again and again, at times that follow from `seed`, and compares the result with that of an
/// uninterrupted run.
fn killed_and_resumed(kernel: &str, args: &[&str], longest: u64, seed: u64) -> TestResult {
    killed_and_resumed_with(kernel, args, longest, seed, &[])
}

/// As [`killed_and_resumed`], with these variables in the environment of the runs that are killed.
fn killed_and_resumed_with(
    kernel: &str,
    args: &[&str],
    longest: u64,
    seed: u64,
    variables: &[(&str, &str)],
) -> TestResult {
    let bench = Bench::new()?;
    let undisturbed = bench.mutate(&suite(kernel), args)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let suite = suite(kernel);
    let begin = [&["mutate", suite.as_str(), "-o", RESULT, "--quiet"], args].concat();
    let resume = [begin.as_slice(), &["--resume"]].concat();
    let mut before = Vec::new();
    let (mut rounds, mut interrupted) = (0, 0);
    loop {
        // Later rounds may take longer, so that the run ends even where the start takes all of the time.
        let delay = Duration::from_millis(random.random_range(50..longest + 300 * rounds));
        let mut command = bench.command(if rounds == 0 { &begin } else { &resume });
        let done = killed_after(command.envs(variables.iter().copied()), delay)?;
        rounds += 1;
        if done {
            break;
        }
        if !bench.path(JOURNAL).exists() {
            continue;
        }
        let after = lines(&bench)?;
        assert!(after.starts_with(&before), "an entry was lost after {delay:?}");
        interrupted += u64::from(after.len() > before.len());
        before = after;
    }
    assert!(!bench.path(JOURNAL).exists(), "the journal outlives the run");
    eprintln!("{kernel}: {rounds} rounds, {interrupted} of them decided something and were killed");
    let resumed = result(&bench.path(RESULT))?;
    same(&lasting(&undisturbed, &[]), &lasting(&resumed, &[]), kernel)
}

/// Returns a new seed in every run; `KASSAY_TEST_SEED` repeats one.
fn seed() -> u64 {
    let given = std::env::var("KASSAY_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(|| {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos().into())
    });
    eprintln!("KASSAY_TEST_SEED={seed}");
    seed
}

#[test]
fn a_schemata_run_is_killed_and_resumed() -> TestResult {
    killed_and_resumed("rng_lcg_long", &["--sample", "40", "--batch", "off"], 800, seed())
}

#[test]
fn a_run_that_compares_normal_forms_last_is_killed_and_resumed() -> TestResult {
    killed_and_resumed_with("rng_lcg_long", &["--batch", "off"], 800, seed(), &[("KASSAY_MOST_BEFORE", "0")])
}

#[test]
fn a_run_on_the_sources_text_is_killed_and_resumed() -> TestResult {
    let of = ["--level", "source", "--device", "sim", "--operators", "ROR,AOR,SDL,GIR"];
    killed_and_resumed("liu_example", &of, 2_000, seed())
}

#[test]
fn a_rebuild_run_is_killed_and_resumed() -> TestResult {
    killed_and_resumed("palette_1d", &["--strategy", "rebuild", "--sample", "12"], 1500, seed())
}

#[test]
fn a_run_of_pairs_is_killed_and_resumed() -> TestResult {
    killed_and_resumed("vector_add", &["--order", "2", "--sample", "80"], 700, seed())
}

#[test]
fn a_run_of_all_pairs_with_proofs_is_killed_and_resumed() -> TestResult {
    killed_and_resumed("knapsack_dp", &["--order", "2", "--operators", "ROR", "--device", "sim"], 700, seed())
}

#[test]
fn a_run_on_optimised_ir_is_killed_and_resumed() -> TestResult {
    killed_and_resumed("vector_add", &["--level", "ir:O2", "--order", "2", "--sample", "30"], 700, seed())
}

#[test]
fn a_complete_result_is_resumed_as_it_is_and_no_other() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("vector_add");
    let first = bench.mutate(&of, &["--operators", "ROR"])?;
    let again = bench.mutate(&of, &["--operators", "ROR", "--resume"])?;
    assert_eq!(first, again);
    let path = bench.path("result.json");
    let path = path.to_str().ok_or("a path that is no text")?;
    for other in [&["--operators", "AOR"][..], &["--operators", "ROR", "--shard", "1/2"]] {
        let finished = bench.run(&[&["mutate", &of, "-o", path, "--resume"], other].concat())?;
        assert_eq!(finished.code, Some(2), "{}", finished.err);
        assert!(finished.err.contains("is the result of another run"), "{}", finished.err);
        assert_eq!(result(path.as_ref())?, first);
    }
    Ok(())
}

#[test]
fn only_the_same_run_can_be_resumed() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("palette_1d");
    let begin = ["mutate", &of, "-o", RESULT, "--quiet", "--strategy", "rebuild", "--repeats", "2"];
    let mut child = bench.command(&begin).stderr(Stdio::null()).spawn()?;
    let started = Instant::now();
    while lines(&bench)?.len() < 4 {
        assert!(child.try_wait()?.is_none() && started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    let journal = std::fs::read(bench.path(JOURNAL))?;
    let other = ["mutate", &of, "-o", RESULT, "--quiet", "--strategy", "rebuild", "--repeats", "3", "--resume"];
    let finished = bench.run(&other)?;
    assert_eq!(finished.code, Some(2), "{}", finished.err);
    assert!(finished.err.contains("journal of another run") && finished.err.contains("--resume"), "{}", finished.err);
    assert_eq!(std::fs::read(bench.path(JOURNAL))?, journal);
    let finished = bench.run(&["mutate", &of, "--resume"])?;
    assert_eq!(finished.code, Some(2), "{}", finished.err);
    assert!(finished.err.contains("-o"), "{}", finished.err);
    Ok(())
}
