//! Checks that `kassay generate` keeps to its budget on kernels with endless loops, paths and rounds, and ends without
//! a fault of its own for any seed: a sample of what `scripts/soak` does with all kernels.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::common::program::kassay;
use crate::common::testdata::{files_below, testdata};

/// Runs `kassay generate`; returns its output and the elapsed time.
fn generate(kernel: &Path, more: &[&str]) -> (Output, Duration) {
    let scratch = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let run = kassay()
        .arg("generate")
        .arg(kernel)
        .arg("-o")
        .arg(scratch.path().join("out"))
        .args(more)
        .args(["--format", "json"])
        .output()
        .unwrap();
    (run, started.elapsed())
}

/// Not a timing test: without a deadline these kernels take minutes. In unoptimised code, next to other tests, the
/// steps before the search may take long.
#[test]
fn deep_loops_and_long_paths_end_with_the_budget() {
    const BUDGET: u64 = 6;
    const GRACE: u64 = 24;
    for name in ["generate/hard_queens.cl", "generate/hard_deep_nest.cl", "generate/large/unrolled.cl"] {
        let (run, took) = generate(&testdata(name), &["--budget", &BUDGET.to_string(), "--seed", "3"]);
        assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
        assert!(took.as_secs() <= BUDGET + GRACE, "{name}: {} s", took.as_secs());
        let result: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        assert!(result["summary"]["executions"].as_u64().unwrap() > 0, "{name}: no launch was made");
        assert!(result["summary"]["tests"].as_u64().unwrap() > 0, "{name}: no test was made");
    }
}

/// Each function calls the one before it twice: half a million instructions once everything is inlined, whose code and
/// paths would take minutes.
#[test]
fn goals_say_so_if_there_was_no_time_for_the_kernels_code() {
    const BUDGET: u64 = 2;
    let mut text = "int f0(global const int *b, int i) { return b[i & 63] > i ? b[(i + 1) & 63] : i; }\n".to_owned();
    for n in 1..=13 {
        let less = n - 1;
        text += &format!(
            "int f{n}(global const int *b, int i) {{ int r = f{less}(b, i + {n}); if (r & {}) r += f{less}(b, r); return r; }}\n",
            1 << n
        );
    }
    text += "kernel void k(global int *a, global const int *b) { int i = get_global_id(0); a[i] = f13(b, i); }\n";
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("doubling.cl");
    std::fs::write(&kernel, text).unwrap();
    let (run, took) = generate(&kernel, &["--budget", &BUDGET.to_string(), "--no-cache"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(took.as_secs() <= BUDGET + 8, "{took:?}");
    let result: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&result["summary"]["tests"], &result["summary"]["executions"]), (&0.into(), &0.into()));
    let goals = result["goals"].as_array().unwrap();
    assert!(!goals.is_empty());
    for goal in goals {
        assert_eq!(goal["status"], "unknown");
        let reason = goal["reason"].as_str().unwrap();
        assert!(reason.contains("no launch was made: the time was over before"), "{reason}");
    }
}

#[test]
fn no_seed_ends_with_a_fault_of_kassay() {
    let kernels = ["generate/struct_tree.cl", "generate/struct_records.cl", "generate/struct_nodes.cl", "struct_args"];
    for (name, seed) in kernels.iter().flat_map(|name| (1..=3).map(move |seed| (name, seed))) {
        let mut kernel = testdata(name);
        if kernel.is_dir() {
            kernel = files_below(&kernel, "cl").swap_remove(0);
        }
        let (run, _) = generate(&kernel, &["--budget", "10", "--max-execs", "120", "--seed", &seed.to_string()]);
        assert!(run.status.success(), "{name} --seed {seed}: {}", String::from_utf8_lossy(&run.stderr));
    }
}
