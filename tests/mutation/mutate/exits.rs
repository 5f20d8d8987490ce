//! Checks exit codes, and the messages about tests that are dropped.

use serde_json::Value;

use super::bench::{Bench, TestResult, suite, text};
use crate::common::program::kassay;

const ADD: &str = "kernel void k(global const int *in, global int *out, int n) {
    size_t i = get_global_id(0);
    if (i < n) out[i] = in[i] + 1;
}
";

const ADD_SUITE: &str = "kernel = \"k.cl\"

[[test]]
name = \"right\"
global = [8]
[test.args]
in = { arange = { len = 8, start = 5, step = 3 } }
out = { fill = 0, len = 8 }
n = 7
";

/// Returns the test of this name in a result.
fn test<'r>(result: &'r Value, name: &str) -> &'r Value {
    let tests = result["tests"].as_array().map_or(&[][..], Vec::as_slice);
    tests.iter().find(|t| text(t, "name") == name).unwrap_or(&Value::Null)
}

#[test]
fn a_score_below_the_threshold_is_a_finding() -> TestResult {
    let bench = Bench::of(ADD, ADD_SUITE)?;
    let of = ["--operators", "ROR,SDL", "--no-launch-facts", "--fail-under"];
    let met = bench.ends(0, "suite.toml", &[&of[..], &["10"]].concat())?;
    let score = met["summary"]["score"].as_f64().ok_or("no score")?;
    // `!=` in place of `<` changes nothing for so few work-items.
    assert!((10.0..100.0).contains(&score), "{score}");
    let finished = bench.run(&[&["mutate", "suite.toml"], &of[..], &["99.9"]].concat())?;
    assert_eq!(finished.code, Some(1), "{}", finished.err);
    assert!(finished.err.contains("99.9") && finished.err.contains("mutation score"), "{}", finished.err);
    Ok(())
}

#[test]
fn tests_that_the_original_fails_are_dropped_and_named() -> TestResult {
    let wrong = ADD_SUITE
        .replace("right", "wrong")
        .replace("fill = 0, len = 8", "fill = 0, len = 8, expect = { fill = 1, len = 8 }");
    let (_, wrong) = wrong.split_once("[[test]]").ok_or("no test")?;
    // 12 items with buffers of 8 elements.
    let outside = ADD_SUITE.replace("right", "outside").replace("[8]", "[12]").replace("n = 7", "n = 12");
    let (_, outside) = outside.split_once("[[test]]").ok_or("no test")?;
    let bench = Bench::of(ADD, &format!("{ADD_SUITE}\n[[test]]{wrong}\n[[test]]{outside}"))?;
    let result = bench.ends(1, "suite.toml", &["--operators", "ROR"])?;
    assert_eq!(text(test(&result, "right"), "status"), "used");
    let dropped = test(&result, "wrong");
    assert_eq!(text(dropped, "status"), "dropped");
    assert!(text(dropped, "reason").contains("the original fails it: `out` is 6 at 0 instead of 1"), "{dropped}");
    let dropped = test(&result, "outside");
    assert_eq!(text(dropped, "status"), "dropped");
    assert!(text(dropped, "reason").contains("access out of bounds at k.cl:3:"), "{dropped}");
    // A dropped test neither kills nor reaches a mutant.
    assert_eq!((&dropped["kills"], &dropped["reaches"]), (&0.into(), &0.into()));
    let finished = bench.run(&["mutate", "suite.toml", "--operators", "ROR"])?;
    assert_eq!(finished.code, Some(1));
    assert!(finished.out.contains("wrong") && finished.out.contains("outside"), "{}", finished.out);
    Ok(())
}

#[test]
fn a_suite_whose_tests_are_all_dropped_says_so() -> TestResult {
    let bench = Bench::of(ADD, &ADD_SUITE.replace("n = 7", "n = 9").replace("[8]", "[9]"))?;
    let result = bench.ends(1, "suite.toml", &["--operators", "ROR"])?;
    assert!(text(&result["notes"], "0").is_empty() && result["notes"].to_string().contains("no test says anything"));
    assert_eq!(result["summary"]["no_coverage"], result["summary"]["total"]);
    Ok(())
}

#[test]
fn a_test_with_an_unstable_original_is_dropped() -> TestResult {
    // Which work-item comes first differs from run to run: each takes its time, so that several processors get to it.
    let kernel = "kernel void k(global int *next, global int *order) {
    for (volatile int i = 0; i < 300; i++) {
    }
    order[get_global_id(0)] = atomic_inc(next);
}
";
    let suite = "kernel = \"k.cl\"

[[test]]
name = \"many groups\"
global = [65536]
local = [16]
[test.args]
next = { fill = 0, len = 1 }
order = { fill = 0, len = 65536 }
";
    let bench = Bench::of(kernel, suite)?;
    let result = bench.ends(1, "suite.toml", &["--operators", "GII,GID", "--repeats", "10"])?;
    let dropped = test(&result, "many groups");
    assert_eq!(text(dropped, "status"), "dropped", "{result}");
    assert!(text(dropped, "reason").contains("not stable"), "{dropped}");
    Ok(())
}

#[test]
fn mistakes_of_the_caller_and_missing_devices_are_refused() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("vector_add");
    for (code, args, part) in [
        (2, &["--operators", "ROR,XYZ"][..], "there is no mutation operator `XYZ`"),
        (2, &["--shard", "4/3"], "4/3"),
        (2, &["--order", "3"], "--order"),
        (2, &["--fail-under", "101"], "--fail-under"),
        (2, &["--resume"], "-o"),
        (2, &["-o", "missing/r.json"], "missing"),
        (3, &["--device", "no such device"], "no such device"),
    ] {
        let finished = bench.run(&[&["mutate", &of], args].concat())?;
        assert_eq!(finished.code, Some(code), "{args:?}: {}", finished.err);
        assert!(finished.err.contains(part), "{args:?}: {}", finished.err);
    }
    Ok(())
}

#[test]
fn bytes_that_are_no_utf8_and_other_line_ends_cost_no_mutants() {
    let folder = tempfile::tempdir().unwrap();
    let counts = |name: &str, text: &[u8]| -> serde_json::Value {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let done = kassay().args(["inspect", "--format", "json"]).arg(&file).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let result: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        result["kernels"][0]["mutants_by_operator"].clone()
    };
    let source = "// size\nkernel void k(global int *o, int n) {\n  int i = get_global_id(0); /* u */ if (i < n) o[i] = i + n;\n}\n";
    let plain = counts("plain.cl", source.as_bytes());
    assert!(plain.as_object().is_some_and(|operators| operators.len() > 3), "{plain}");
    let comment = source.find("/* u").unwrap() + 3;
    let mut latin = source.as_bytes().to_vec();
    latin[comment] = 0xfc;
    assert_eq!(counts("latin.cl", &latin), plain);
    assert_eq!(counts("carriage.cl", source.replace('\n', "\r").as_bytes()), plain);
    assert_eq!(counts("both.cl", source.replace('\n', "\r\n").as_bytes()), plain);
}
