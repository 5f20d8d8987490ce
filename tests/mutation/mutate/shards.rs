//! Checks that merged shards equal the run without shards.

use super::bench::{Bench, TestResult, lasting, mutants, result, same, suite, text};

fn shards_are_the_whole(kernel: &str, args: &[&str]) -> TestResult {
    let bench = Bench::new()?;
    let of = suite(kernel);
    let whole = bench.mutate(&of, args)?;
    let (mut run, mut share) = (0, Vec::new());
    for k in ["1/3", "2/3", "3/3"] {
        let name = format!("shard{}.json", &k[..1]);
        let finished = bench.run(&[&["mutate", &of, "--quiet", "-o", &name, "--shard", k], args].concat())?;
        assert_eq!(finished.code, Some(0), "{kernel} {k}: {}", finished.err);
        let part = result(&bench.path(&name))?;
        let ours = mutants(&part).iter().filter(|m| text(m, "status") != "pending").count();
        assert!(ours < mutants(&part).len(), "{kernel}: shard {k} ran everything");
        run += ours;
        share.push(name);
    }
    assert_eq!(run, mutants(&whole).len(), "{kernel}: each mutant is of one shard");
    let finished = bench.run(&["merge", &share[2], &share[0], &share[1], "-o", "merged.json"])?;
    assert_eq!(finished.code, Some(0), "{}", finished.err);
    let merged = result(&bench.path("merged.json"))?;
    let but = ["device", "shard"];
    same(&lasting(&whole, &but), &lasting(&merged, &but), kernel)
}

#[test]
fn shards_of_first_order_mutants_merge_to_the_whole_run() -> TestResult {
    shards_are_the_whole("liu_example", &["--operators", "ROR,AOR,SDL,SYR,GIR,AS"])?;
    shards_are_the_whole("half_math", &["--sample", "24", "--full-matrix"])
}

#[test]
fn shards_of_the_sources_text_merge_to_the_whole_run() -> TestResult {
    let of = ["--level", "source", "--device", "sim", "--sample", "24"];
    shards_are_the_whole("liu_example", &[&of[..], &["--operators", "ROR,AOR,SDL,SYR,GIR"]].concat())
}

#[test]
fn shards_of_pairs_merge_to_the_whole_run() -> TestResult {
    shards_are_the_whole("vector_add", &["--order", "2", "--sample", "60"])
}

#[test]
fn a_shard_that_is_missing_is_named() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("vector_add");
    for k in ["1/3", "3/3"] {
        bench.run(&[
            "mutate",
            &of,
            "--quiet",
            "--operators",
            "ROR",
            "-o",
            &format!("{}.json", &k[..1]),
            "--shard",
            k,
        ])?;
    }
    let finished = bench.run(&["merge", "1.json", "3.json", "-o", "merged.json"])?;
    assert_eq!(finished.code, Some(2));
    assert!(finished.err.contains("2/3"), "{}", finished.err);
    Ok(())
}
