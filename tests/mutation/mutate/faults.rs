//! Checks that mutants which hang or leave their buffers get a verdict with a place, and that the others are still run.

use serde_json::Value;

use super::bench::{Bench, TestResult, mutants, suite, text};

const KERNEL: &str = "kernel void k(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    int sum = 0;
    for (int j = 0; j < n; j++)
        sum += in[i + j];
    out[i] = sum / n;
}
";

const SUITE: &str = "kernel = \"k.cl\"

[[test]]
name = \"windows\"
global = [32]
local = [8]
[test.args]
in = { arange = { len = 36, start = 100, step = 7 } }
out = { fill = 0, len = 32 }
n = 5
";

fn find<'r>(result: &'r Value, operator: &str, replacement: &str, line: u64) -> TestResult<&'r Value> {
    let found = mutants(result).iter().find(|m| {
        text(m, "operator") == operator
            && text(m, "replacement") == replacement
            && m["location"]["start"]["line"] == line
    });
    found.ok_or_else(|| format!("no {operator} {replacement} in line {line}").into())
}

#[test]
fn verdicts_on_faulting_mutants_name_a_place() -> TestResult {
    let bench = Bench::of(KERNEL, SUITE)?;
    for args in [&[][..], &["--strategy", "rebuild"], &["--batch", "off"]] {
        let args = [&["--operators", "ROR,GII,CSD"], args].concat();
        let result = bench.mutate("suite.toml", &args)?;
        let hangs: Vec<&Value> = mutants(&result).iter().filter(|m| text(m, "status") == "timeout").collect();
        for hang in &hangs {
            assert!(text(hang, "reason").contains("ran out of loop iterations"), "{hang}");
        }
        let outside = find(&result, "GII", "get_global_id(0) + 1", 2)?;
        assert_eq!(text(outside, "status"), "runtime-error", "{outside}");
        assert!(text(outside, "reason").contains("access out of bounds at k.cl:"), "{outside}");
        assert_eq!(outside["killed_by"], Value::from(vec!["windows"]));
        // A loop without its condition leaves the buffer before it runs out of fuel.
        let endless = find(&result, "CSD", "true", 4)?;
        assert_eq!(text(endless, "status"), "runtime-error", "{endless}");
        assert!(text(endless, "reason").contains("access out of bounds at k.cl:5:"), "{endless}");
        let odd = mutants(&result)
            .iter()
            .filter(|m| text(m, "reason").contains("worker") || text(m, "reason").contains("signal"))
            .count();
        assert_eq!(odd, 0, "a worker died");
        assert!(mutants(&result).iter().any(|m| text(m, "status") == "killed"));
    }
    Ok(())
}

#[test]
fn an_endless_loop_is_a_time_out() -> TestResult {
    let kernel = "kernel void k(global int *out, int n) {
    int i = get_global_id(0);
    int steps = 0;
    while (n > 1) {
        n = (n & 1) ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[i] = steps + i / 4;
}
";
    let suite = "kernel = \"k.cl\"\n\n[[test]]\nname = \"t\"\nglobal = [16]\n[test.args]\nout = { fill = 0, len = 16 }\nn = 27\n";
    let bench = Bench::of(kernel, suite)?;
    let result = bench.mutate("suite.toml", &["--operators", "CSD,ROR"])?;
    let hang = find(&result, "CSD", "true", 4)?;
    assert_eq!(text(hang, "status"), "timeout", "{hang}");
    assert!(text(hang, "reason").ends_with("ran out of loop iterations at k.cl:4:5"), "{hang}");
    assert_eq!(hang["killed_by"], Value::from(vec!["t"]));
    Ok(())
}

#[test]
fn a_division_by_a_mutated_zero_is_a_fault_with_both_strategies() -> TestResult {
    let kernel = "int digit(int x) {
    return x % 10;
}
kernel void k(global int *out) {
    int i = get_global_id(0);
    int part = i < 8 ? 2 : 1;
    out[i] = digit(i * 7) / part;
}
";
    let suite =
        "kernel = \"k.cl\"\n\n[[test]]\nname = \"t\"\nglobal = [16]\n[test.args]\nout = { fill = 0, len = 16 }\n";
    let bench = Bench::of(kernel, suite)?;
    for args in [&[][..], &["--strategy", "rebuild"]] {
        let result = bench.mutate("suite.toml", &[&["--operators", "LVR"], args].concat())?;
        for (line, column, place) in [(2, 16, "k.cl:2:14"), (6, 28, "k.cl:7:27")] {
            let zero = mutants(&result).iter().find(|m| {
                let start = &m["location"]["start"];
                start["line"] == line && start["column"] == column && text(m, "replacement") == "0"
            });
            let zero = zero.ok_or("no such mutant")?;
            assert_eq!(text(zero, "status"), "runtime-error", "{args:?}: {zero}");
            assert!(text(zero, "reason").ends_with(&format!("overflowing at {place}")), "{zero}");
        }
    }
    Ok(())
}

#[test]
fn texels_beyond_an_image_are_faults_with_both_strategies() -> TestResult {
    let bench = Bench::new()?;
    for strategy in ["schemata", "rebuild"] {
        let result = bench.mutate(&suite("sobel_image"), &["--operators", "AI", "--strategy", strategy])?;
        assert_eq!(mutants(&result).len(), 4);
        for larger in mutants(&result) {
            assert_eq!(text(larger, "status"), "runtime-error", "{larger}");
            assert!(text(larger, "reason").contains("access out of bounds at"), "{larger}");
            // Both write to the image; which group is the first to fault is left open.
            let places = ["sobel_image.cl:22:9", "sobel_image.cl:39:5"];
            assert!(places.iter().any(|place| text(larger, "reason").ends_with(place)), "{larger}");
        }
    }
    Ok(())
}
