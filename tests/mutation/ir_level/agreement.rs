//! Checks that mutants of the IR have the same verdicts in a module of many as alone, and pruned or not.

use crate::common::TestResult;
use crate::mutate::bench::{Bench, mutants, statuses, suite, text};

/// Verdicts that need not agree: of runs that leave a buffer or divide by zero, and of mutants that the repeats could
/// not decide.
fn excepted(status: &str) -> bool {
    matches!(status, "runtime-error" | "undecided")
}

/// Runs both strategies on a sample: ids and statuses have to be the same, unless the status is excepted in one of
/// them.
fn strategies_agree(kernel: &str, level: &str, count: &str) -> TestResult<usize> {
    let bench = Bench::new()?;
    let options = ["--level", level, "--sample", count, "--seed", "3", "--repeats", "3"];
    let together = bench.mutate(&suite(kernel), &options)?;
    assert_eq!(text(&together["options"], "level"), level);
    let refused: Vec<&str> =
        mutants(&together).iter().filter(|m| text(m, "status") == "compile-error").map(|m| text(m, "id")).collect();
    assert!(refused.is_empty(), "{kernel} at {level}: {refused:?}");
    let alone = bench.mutate(&suite(kernel), &[&options, &["--strategy", "rebuild"][..]].concat())?;
    let (together, alone) = (statuses(&together), statuses(&alone));
    assert!(together.keys().eq(alone.keys()), "{kernel} at {level}: other mutants");
    let mut compared = 0;
    for ((id, a), b) in together.iter().zip(alone.values()).filter(|((_, a), b)| !excepted(a) && !excepted(b)) {
        assert_eq!(a, b, "{kernel} at {level}: {id}");
        compared += 1;
    }
    Ok(compared)
}

#[test]
fn strategies_agree_at_every_level() -> TestResult {
    let mut compared = 0;
    for (kernel, level) in [
        ("loop_shapes", "ir:raw"),
        ("loop_shapes", "ir:O2"),
        ("switch_machine", "ir:O1"),
        ("helper_thrice", "ir:O3"),
        ("reduction_tree", "ir:O2"),
        ("long_vectors", "ir:raw"),
        ("struct_args", "ir:O2"),
    ] {
        compared += strategies_agree(kernel, level, "12")?;
    }
    assert!(compared >= 50, "only {compared} compared");
    Ok(())
}

#[test]
fn pruning_changes_no_verdict() -> TestResult {
    for level in ["ir:raw", "ir:O2"] {
        let bench = Bench::new()?;
        let options = ["--level", level, "--sample", "60", "--seed", "5"];
        let pruned = bench.mutate(&suite("half_math"), &options)?;
        let full = bench.mutate(&suite("half_math"), &[&options[..], &["--no-prune"]].concat())?;
        assert_eq!(statuses(&pruned), statuses(&full), "{level}");
    }
    Ok(())
}
