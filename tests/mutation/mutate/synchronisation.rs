//! Checks that mutants of synchronisation have the same verdict with every strategy and device.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bench::{Bench, TestResult, mutants, suite, text};

const OPERATORS: &str = "SYR,FR,BFR,AR,AOP,SHR";

/// Returns the status and the killing tests by id.
fn verdicts(result: &Value) -> BTreeMap<&str, (&str, &Value)> {
    mutants(result).iter().map(|m| (text(m, "id"), (text(m, "status"), &m["killed_by"]))).collect()
}

/// Checks that all strategies and devices agree on a kernel; returns the number of mutants, and how many of them the
/// simulator decided.
fn agree(kernel: &str) -> TestResult<(usize, usize)> {
    let bench = Bench::new()?;
    let run = |args: &[&str]| bench.mutate(&suite(kernel), &[&["--operators", OPERATORS], args].concat());
    let schemata = run(&[])?;
    assert!(schemata["not_simulated"].is_null(), "{kernel}: {}", schemata["not_simulated"]);
    for args in [["--strategy", "rebuild"], ["--device", "sim"]] {
        let other = run(&args)?;
        assert_eq!(verdicts(&schemata), verdicts(&other), "{kernel}: as it is, and with {args:?}");
    }
    let decided = mutants(&schemata).iter().filter(|m| text(m, "reason").contains("on the simulator")).count();
    Ok((mutants(&schemata).len(), decided))
}

/// Uses suites on which devices differ without the simulator; `KASSAY_TEST_KERNELS` names others.
#[test]
fn strategies_and_devices_agree() -> TestResult {
    let kernels = std::env::var("KASSAY_TEST_KERNELS")
        .unwrap_or_else(|_| "levenshtein kmeans_assign string_search monte_carlo_pi odd_even_sort".into());
    let (mut all, mut decided) = (0, 0);
    for kernel in kernels.split_whitespace() {
        let (mutants, simulated) = agree(kernel)?;
        eprintln!("{kernel}: {mutants} mutants, {simulated} decided by the simulator");
        all += mutants;
        decided += simulated;
    }
    assert!(all > 10 && decided > 5, "{all} mutants, {decided} decided by the simulator");
    Ok(())
}

/// Each work-item reads what its neighbour wrote; the values are equal in all of them, so that no output ever differs.
const NEIGHBOURS: &str = "kernel void k(global int *o, local int *tile) {
    int l = get_local_id(0);
    tile[l] = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = tile[(l + 1) % get_local_size(0)];
}
";

const SUITE: &str = "kernel = \"k.cl\"\n[[test]]\nname = \"two groups\"\nglobal = [16]\nlocal = [8]\n[test.args]\n\
                     o = { fill = 0, len = 16 }\ntile = { local = 32 }\n";

#[test]
fn a_race_that_no_output_shows_kills() -> TestResult {
    let bench = Bench::of(NEIGHBOURS, SUITE)?;
    let result = bench.mutate("suite.toml", &["--operators", "SYR,BFR"])?;
    let all = mutants(&result);
    assert_eq!(all.len(), 2);
    for mutant in all {
        assert_eq!(text(mutant, "status"), "killed", "{mutant}");
        assert_eq!(mutant["killed_by"], serde_json::json!(["two groups"]));
        let reason = text(mutant, "reason");
        for part in ["two groups", "schedule natural", "a data race on `tile`", "k.cl:3:", "k.cl:5:"] {
            assert!(reason.contains(part), "{reason}");
        }
    }
    Ok(())
}

#[test]
fn what_the_simulator_cannot_judge_is_listed() -> TestResult {
    let bench = Bench::of(NEIGHBOURS, &SUITE.replace("[16]", "[262144]").replace("len = 16", "len = 262144"))?;
    let result = bench.mutate("suite.toml", &["--operators", "SYR"])?;
    let left = result["not_simulated"].as_array().ok_or("nothing is listed")?;
    assert_eq!(left.len(), 1);
    assert_eq!(text(&left[0], "test"), "two groups");
    assert!(text(&left[0], "reason").contains("262144 work-items"), "{}", left[0]);
    Ok(())
}

/// The first barrier is needed by the neighbour's value, the second one by nobody.
const NEEDLESS: &str = "kernel void k(global const int *in, global int *o, local int *tile) {
    int l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    tile[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = tile[n - 1 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = v;
}
";

#[test]
fn a_barrier_that_is_proved_to_order_nothing_is_equivalent() -> TestResult {
    let bench = Bench::of(NEEDLESS, &SUITE.replace("o = {", "in = { arange = { len = 16 } }\no = {"))?;
    let result = bench.mutate("suite.toml", &["--operators", "SYR,BFR"])?;
    let of = |id: &str| {
        let mutant = mutants(&result).iter().find(|m| text(m, "id").starts_with(id));
        mutant.map(|m| (text(m, "status"), text(m, "reason"))).unwrap_or_default()
    };
    assert_eq!(of("k.SYR@k.cl:4:5").0, "killed", "{result}");
    assert_eq!(of("k.BFR@k.cl:4:").0, "killed", "{result}");
    for (id, what) in [("k.SYR@k.cl:6:5", "without it"), ("k.BFR@k.cl:6:", "with either")] {
        let (status, reason) = of(id);
        assert_eq!(status, "equivalent", "{id}: {reason}");
        assert!(reason.contains(what) && reason.contains("no work-items race"), "{id}: {reason}");
    }
    Ok(())
}

#[test]
fn work_items_of_a_dimension_that_is_not_read_race_so_that_no_barrier_is_needless() -> TestResult {
    let rows = SUITE.replace("o = {", "in = { arange = { len = 16 } }\no = {").replace("[16]", "[16, 2]");
    let bench = Bench::of(NEEDLESS, &rows.replace("[8]", "[8, 2]"))?;
    let result = bench.mutate("suite.toml", &["--operators", "SYR,BFR"])?;
    for mutant in mutants(&result) {
        assert_ne!(text(mutant, "status"), "equivalent", "{mutant}");
    }
    assert_eq!(mutants(&result).len(), 4);
    Ok(())
}
