//! Checks joint launches in whole campaigns: they give the fates that one launch for each run gives, whatever is asked.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bench::{Bench, TestResult, mutants, suite, text};

/// What is compared of each mutant: its status, the tests that detect it, and why, but for the values that differed, which mutants whose
/// work-items race leave to chance.
fn fates(result: &Value) -> BTreeMap<String, (String, Value, String)> {
    let fate = |m: &Value| {
        let reason = text(m, "reason").split(" instead of ").next().unwrap_or_default();
        let reason = reason.rsplit_once(": ").map_or(reason, |(before, _)| before).to_owned();
        (text(m, "id").to_owned(), (text(m, "status").to_owned(), m["killed_by"].clone(), reason))
    };
    mutants(result).iter().map(fate).collect()
}

#[test]
fn joint_launches_give_the_fates_of_single_ones() -> TestResult {
    let bench = Bench::new()?;
    for (kernel, args) in [
        // Vectors, and a loop for those left over.
        ("saxpy_tail", &["--full-matrix"][..]),
        // Structs by value and as outputs.
        ("nbody_step", &[]),
        // Local memory and barriers; two runs of each.
        ("reduction_tree", &["--sample", "60", "--repeats", "2", "--full-matrix"]),
        // Pairs of mutants, with those of the launch, which change its size.
        ("matmul_naive", &["--order", "2", "--sample", "60", "--operators", "AS,AI,AD,AOR,CBR,LBR"]),
        // Mutants that need more than twice the iterations, and mutants that never end.
        ("prefix_filter", &["--sample", "80"]),
    ] {
        let of = suite(kernel);
        let run =
            |batch: &str| bench.mutate(&of, &[args, &["-j", "1", "--device", "opencl", "--batch", batch]].concat());
        let (single, joint) = (run("off")?, run("joint")?);
        assert_eq!(single["timing"]["batched_pairs"], 0, "{kernel}");
        let (pairs, in_joint) = (joint["timing"]["pairs"].as_u64(), joint["timing"]["batched_pairs"].as_u64());
        assert!(
            in_joint >= pairs.map(|pairs| pairs / 2),
            "{kernel}: {in_joint:?} of {pairs:?} pairs in joint launches"
        );
        let (single, joint) = (fates(&single), fates(&joint));
        let differ: Vec<_> = single.iter().filter(|(id, fate)| joint.get(*id) != Some(fate)).collect();
        assert!(differ.is_empty() && single.len() == joint.len(), "{kernel}: {differ:#?}\n{joint:#?}");
    }
    Ok(())
}

/// A mutant of the first line makes the second one write far outside of the buffer: past what guards look at.
const WILD: &str = "kernel void k(global int *out, int n) {
    size_t far = (size_t)n;
    int i = get_global_id(0);
    *(global int *)((size_t)(out + i) + far * 1024 * 1024 * 1024 * 1024) = i + 1;
}
";

#[test]
fn a_run_that_ends_the_worker_takes_no_other_mutant_along() -> TestResult {
    let suite = "kernel = \"k.cl\"\n[[test]]\nname = \"a\"\nglobal = [8]\nlocal = [4]\n[test.args]\nout = { fill = 0, len = 8 }\nn = 0\n";
    let bench = Bench::of(WILD, suite)?;
    let run = |batch: &str| bench.mutate("suite.toml", &["-j", "1", "--device", "opencl", "--batch", batch]);
    let (single, joint) = (run("off")?, run("joint")?);
    let crashed = mutants(&single).iter().filter(|m| text(m, "reason").contains("signal")).count();
    assert!(crashed > 0, "no mutant ends the worker: {single:#}");
    assert_eq!(fates(&single), fates(&joint));
    Ok(())
}
