//! Counts of work-items in hosts of users' own are those of `kassay cover --counts`.

use serde_json::Value;

use super::{DIVERGENT_EXIT, HostBench, Launch, REDUCTION_TREE, SAXPY_TAIL, outcomes};
use crate::common::TestResult;
use crate::common::program::{at, json, run, valid};
use crate::common::testdata::repository;

/// Launches a kernel, and returns the tally.
fn measured(bench: &HostBench, kernel: &str, launches: &[Launch]) -> TestResult<Value> {
    let names: Vec<String> = (0..launches.len()).map(|number| format!("{kernel}.{number}")).collect();
    for (name, launch) in names.iter().zip(launches) {
        bench.launch(bench.c(), kernel, name, *launch, &[])?;
    }
    bench.tally(kernel, &names)
}

#[test]
fn counts_are_those_of_cover() -> TestResult {
    let bench = HostBench::new()?;
    let kernels: [(&str, &[Launch], &[&str]); 3] = [
        ("saxpy_tail", &SAXPY_TAIL, &["opencl", "sim"]),
        ("reduction_tree", &REDUCTION_TREE, &["opencl", "sim"]),
        // Its barrier diverges, where the simulator stops.
        ("divergent_exit", &DIVERGENT_EXIT, &["opencl"]),
    ];
    for (kernel, launches, devices) in kernels {
        let map = bench.lower(kernel, &["--coverage", "--counts"])?;
        assert_eq!((&map["layout"], &map["coverage"]["slots"]), (&Value::from(2), &Value::from("work-items")));
        let found = measured(&bench, kernel, launches)?;
        assert!(outcomes(&found).iter().flat_map(|(_, hits, _)| hits).any(|hits| *hits > 1), "{found}");
        let suite = repository("testdata").join(kernel).join("suite.toml");
        for device in devices {
            let wanted = json(&["cover", at(&suite), "--counts", "--device", device], 0)?;
            assert_eq!(found["coverage"], wanted["coverage"], "{kernel} {device}");
            assert_eq!(outcomes(&found), outcomes(&wanted), "{kernel} {device}");
        }
    }
    Ok(())
}

#[test]
fn work_groups_that_are_smaller_at_the_end_are_counted_too() -> TestResult {
    let bench = HostBench::new()?;
    bench.lower("saxpy_tail", &["--coverage", "--counts", "--cl-std", "CL2.0"])?;
    let launch: Launch = ("40/16", &["int=150", "float=2", "floats=0,1,150", "floats=10,1,150"]);
    let found = measured(&bench, "saxpy_tail", &[launch])?;
    let suite = format!(
        "kernel = '{}'\noptions = ['-cl-std=CL2.0']\n[[test]]\nname = 'a'\nglobal = [40]\nlocal = [16]\n[test.args]\n\
         n = 150\na = 2.0\nx = {{ arange = {{ len = 150, start = 0, step = 1 }} }}\n\
         y = {{ arange = {{ len = 150, start = 10, step = 1 }} }}\n",
        at(&repository("testdata/saxpy_tail/saxpy_tail.cl"))
    );
    std::fs::write(bench.path("suite.toml"), suite)?;
    let wanted = json(&["cover", bench.at("suite.toml"), "--counts", "--device", "opencl"], 0)?;
    assert_eq!((&found["tests"][0]["work_items"], &found["tests"][0]["work_groups"]), (&40.into(), &3.into()));
    assert_eq!(found["coverage"], wanted["coverage"]);
    assert_eq!(outcomes(&found), outcomes(&wanted));
    Ok(())
}

#[test]
fn a_buffer_without_a_slot_for_each_work_item_is_refused_with_the_length_that_it_needs() -> TestResult {
    let bench = HostBench::new()?;
    let map = bench.lower("saxpy_tail", &["--coverage", "--counts"])?;
    let needed = 16 + 64 * map["coverage"]["slot_words"].as_u64().unwrap();
    let tally = |words: u64, more: &[&str]| -> TestResult<(String, i32)> {
        bench.launch(bench.c(), "saxpy_tail", "short", SAXPY_TAIL[0], &[("PROBE_WORDS", words.to_string())])?;
        let files = [bench.at("saxpy_tail.json"), bench.at("short.0.bin"), "--quiet"];
        let (_, err, code) = run(&[&["tally"], &files[..], more].concat())?;
        Ok((err, code))
    };
    let (err, code) = tally(needed - 1, &[])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("too few for 64 x 1 x 1 work-items in groups of 16 x 1 x 1"), "{err}");
    assert!(err.contains(&format!("needs a buffer of {needed} words")), "{err}");
    assert_eq!(tally(needed, &[])?, (String::new(), 0));
    let (err, code) = tally(needed, &["--fail-under", "average_statement=99"])?;
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("average statement coverage is") || err.contains("average_statement coverage is"), "{err}");
    // The same module without counts wrote no such buffer.
    bench.lower("saxpy_tail", &["--coverage"])?;
    let (_, err, code) = run(&["tally", bench.at("saxpy_tail.json"), bench.at("short.0.bin")])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("another module wrote it"), "{err}");
    let kernel = repository("testdata/saxpy_tail/saxpy_tail.cl");
    assert_eq!(run(&["lower", at(&kernel), "--mutants", "--counts"])?.2, 2);
    valid(&map, "map.schema.json")
}
