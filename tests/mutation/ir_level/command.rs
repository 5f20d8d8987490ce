//! Checks `--level` of `mutate` and `inspect`: shards, resumed runs, reports, and what is refused.

use serde_json::Value;

use crate::common::TestResult;
use crate::mutate::bench::{Bench, lasting, mutants, same, suite, text};

fn inspected(bench: &Bench, args: &[&str]) -> TestResult<Value> {
    let kernel = crate::common::testdata::kernel("vector_add").to_string_lossy().into_owned();
    let run = bench.run(&[&["inspect", kernel.as_str(), "--format", "json"], args].concat())?;
    assert_eq!(run.code, Some(0), "{}", run.err);
    Ok(serde_json::from_str(&run.out)?)
}

#[test]
fn inspect_counts_what_mutate_makes() -> TestResult {
    let bench = Bench::new()?;
    for level in ["canonical", "ir:raw", "ir:O1", "ir:O2", "ir:O3"] {
        let inspected = inspected(&bench, &["--level", level])?;
        let kernel = &inspected["kernels"][0];
        assert_eq!(text(kernel, "level"), level);
        // A suite has mutants of launches, too.
        let result = bench.mutate(&suite("vector_add"), &["--level", level])?;
        let of_code = mutants(&result).iter().filter(|m| !text(m, "id").contains("@launch")).count();
        assert_eq!(kernel["counts"]["mutants"], of_code, "{level}");
    }
    Ok(())
}

#[test]
fn shards_of_a_level_merge_to_the_whole() -> TestResult {
    for options in [
        &["--level", "ir:O2", "--sample", "30"][..],
        &["--level", "ir:raw", "--order", "2", "--sample", "12"],
        &["--level", "ir:O1", "--full-matrix", "--sample", "10", "--seed", "4"],
    ] {
        shards_merge("vector_add", options)?;
    }
    // Atomic instructions are judged on the simulator, too.
    shards_merge("atomic_instructions", &["--level", "ir:O3", "--operators", "FR,AOP"])
}

/// Runs a suite as a whole and in two parts; what is merged of these has to equal it, and Stryker's report has all.
fn shards_merge(kernel: &str, options: &[&str]) -> TestResult {
    let bench = Bench::new()?;
    let of = suite(kernel);
    let whole = bench.mutate(&of, options)?;
    for part in ["1/2", "2/2"] {
        let shard = bench.mutate(&of, &[options, &["--shard", part]].concat())?;
        bench.put(&format!("{}.json", &part[..1]), shard.to_string())?;
    }
    let merged = bench.run(&["merge", "1.json", "2.json", "-o", "merged.json"])?;
    assert_eq!(merged.code, Some(0), "{options:?}: {}", merged.err);
    let merged = crate::mutate::bench::result(&bench.path("merged.json"))?;
    same(&lasting(&whole, &["device", "shard"]), &lasting(&merged, &["device", "shard"]), &format!("{options:?}"))?;
    let report = bench.run(&["report", "merged.json", "-o", "merged.stryker.json"])?;
    assert_eq!(report.code, Some(0), "{options:?}: {}", report.err);
    let stryker = crate::mutate::bench::result(&bench.path("merged.stryker.json"))?.to_string();
    // Pairs are no mutants of Stryker's.
    for mutant in mutants(&whole).iter().filter(|m| m["parts"].as_array().is_none_or(Vec::is_empty)) {
        assert!(stryker.contains(&format!("\"mutatorName\":{}", mutant["operator"])), "{options:?}: {mutant}");
    }
    Ok(())
}

#[test]
fn results_of_other_levels_are_neither_resumed_nor_merged() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("vector_add");
    for (part, level) in [("1/2", "ir:O1"), ("2/2", "ir:O2")] {
        let shard = bench.mutate(&of, &["--level", level, "--shard", part])?;
        bench.put(&format!("{}.json", &part[..1]), shard.to_string())?;
    }
    let merged = bench.run(&["merge", "1.json", "2.json", "-o", "merged.json"])?;
    assert_eq!(merged.code, Some(2), "{}", merged.err);
    let resumed = bench.run(&["mutate", &of, "--level", "ir:O3", "--shard", "1/2", "-o", "1.json", "--resume"])?;
    assert_eq!(resumed.code, Some(2), "{}", resumed.err);
    Ok(())
}

#[test]
fn a_level_is_refused_with_the_reason() -> TestResult {
    let bench = Bench::new()?;
    for (args, expected) in [
        (
            &["--level", "ir:O4"][..],
            "possible values: source, canonical, canonical:O1, canonical:O2, ir:raw, ir:O1, ir:O2, ir:O3",
        ),
        (&["--level", "ir:O2", "--ir-level", "O1"], "cannot be used with"),
        (&["--level", "ir:O2", "--operators", "ROR"], "of the IR there is ICP"),
        (&["--operators", "IAO"], "`IAO` is an operator of the IR"),
        (&["--level", "ir:raw", "--operators", "peng"], "of operators of the source"),
    ] {
        let of = suite("vector_add");
        let run = bench.run(&[&["mutate", of.as_str()], args].concat())?;
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.err);
        assert!(run.err.contains(expected), "{args:?}: {}", run.err);
    }
    Ok(())
}
