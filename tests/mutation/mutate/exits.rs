//! Checks a test whose original is unstable, and sources whose bytes and line ends are unusual. `tests/cli/thresholds.md`
//! and `tests/cli/flags.md` have exit codes and messages.

use super::bench::{Bench, TestResult, text};
use crate::common::program::kassay;

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
    let result = bench.mutated(1, "suite.toml", &["--operators", "GII,GID", "--repeats", "10"])?;
    let dropped = &result["tests"][0];
    assert_eq!(text(dropped, "status"), "dropped", "{result}");
    assert!(text(dropped, "reason").contains("not stable"), "{dropped}");
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
