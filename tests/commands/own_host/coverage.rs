//! Coverage that hosts of users' own measure: what they read back, tallied, is what `kassay cover` measures of the same
//! launches.

use std::collections::BTreeMap;
use std::process::Command;

use kassay::result::probe_map::ProbeMap;
use serde_json::Value;

use super::{DIVERGENT_EXIT, HostBench, Launch, REDUCTION_TREE, SAXPY_TAIL, outcomes};
use crate::common::TestResult;
use crate::common::program::{at, json, run};
use crate::common::testdata::repository;

#[test]
fn hosts_of_users_own_measure_what_cover_measures() -> TestResult {
    let bench = HostBench::new()?;
    let kernels: [(&str, &[Launch]); 3] =
        [("saxpy_tail", &SAXPY_TAIL), ("reduction_tree", &REDUCTION_TREE), ("divergent_exit", &DIVERGENT_EXIT)];
    for (kernel, launches) in kernels {
        bench.lower(kernel, &["--coverage"])?;
        let suite = repository("testdata").join(kernel).join("suite.toml");
        let wanted = json(&["cover", at(&suite), "--device", "opencl"], 0)?;
        for (language, host) in [("c", HostBench::c as fn(&HostBench) -> Command), ("py", |_| HostBench::python())] {
            let name = |number: usize| format!("{kernel}.{language}{number}");
            for (number, launch) in launches.iter().enumerate() {
                bench.launch(host(&bench), kernel, &name(number), *launch, &[])?;
            }
            let names: Vec<String> = (0..launches.len()).map(name).collect();
            let found = bench.tally(kernel, &names)?;
            assert_eq!(found["coverage"], wanted["coverage"], "{kernel} {language}");
            assert_eq!(outcomes(&found), outcomes(&wanted), "{kernel} {language}");
            for key in ["work_items", "work_groups"] {
                let of = |result: &Value| -> Vec<Value> {
                    result["tests"].as_array().unwrap().iter().map(|test| test[key].clone()).collect()
                };
                assert_eq!(of(&found), of(&wanted), "{kernel} {language}");
            }
        }
    }
    let lcov = bench.at("saxpy_tail.lcov");
    let probe = bench.at("saxpy_tail.c1.0.bin");
    let result = bench.at("cover.json");
    run(&["tally", bench.at("saxpy_tail.json"), probe, "-o", result, "--quiet"])?;
    let (_, err, code) = run(&["report", result, "-o", lcov])?;
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(std::fs::read_to_string(lcov)?.contains("DA:17,1"));
    Ok(())
}

#[test]
fn a_buffer_of_any_length_tells_all_but_divergence() -> TestResult {
    let bench = HostBench::new()?;
    let map = bench.lower("divergent_exit", &["--coverage"])?;
    let coverage = &map["coverage"];
    let least = coverage["header_words"].as_u64().unwrap() + coverage["slot_words"].as_u64().unwrap();
    // Two work-groups, of which the second has work-items that leave before the barrier.
    let launch: Launch = ("32/16", &["ints=3,0,32", "ints=0,0,32", "local=64", "int=24", "int=0"]);
    let length = |words: u64| [("PROBE_WORDS", words.to_string())];
    bench.launch(bench.c(), "divergent_exit", "small", launch, &length(least))?;
    bench.launch(bench.c(), "divergent_exit", "large", launch, &length(1000))?;
    let [small, large] = ["small", "large"].map(|name| bench.tally("divergent_exit", &[name.to_owned()]).unwrap());
    let metrics = |result: &Value, wanted: bool| -> BTreeMap<String, u64> {
        let sites = result["sites"].as_array().unwrap().iter();
        let of_kind = sites.filter(|site| (site["kind"] == "barrier") == wanted);
        of_kind.map(|s| (format!("{} {}", s["id"], s["outcome"]), u64::from(s["covered"] == true))).collect()
    };
    assert_eq!(metrics(&small, false), metrics(&large, false));
    assert_eq!(metrics(&small, true).values().sum::<u64>(), 0, "{small}");
    assert_eq!(metrics(&large, true).values().sum::<u64>(), 1, "{large}");
    let divergent = |result: &Value| outcomes(result).iter().filter_map(|(_, _, groups)| *groups).sum::<u64>();
    assert_eq!(divergent(&small), 0);
    assert!(divergent(&large) > 0);
    assert!(small["notes"].to_string().contains("1 slot for 2 work-groups"), "{small}");
    assert!(!large["notes"].to_string().contains("slot"), "{large}");
    Ok(())
}

/// A probe buffer of one slot, as the module of a map leaves it if a single work-item sets no bit.
fn empty_buffer(map: &ProbeMap) -> Vec<u32> {
    let coverage = map.coverage.as_ref().unwrap();
    let mut words = vec![0; (coverage.header_words + coverage.slot_words) as usize];
    words[7] = words.len() as u32;
    for size in [3, 4, 5, 8, 9, 10, 11, 12, 13] {
        words[size] = 1;
    }
    (words[14], words[15]) = (0x5953_414b, coverage.id);
    words
}

#[test]
fn buffers_and_maps_that_do_not_belong_together_are_refused() -> TestResult {
    let bench = HostBench::without_host()?;
    let text = bench.lower("saxpy_tail", &["--coverage"])?;
    let map: ProbeMap = serde_json::from_value(text.clone())?;
    let words = empty_buffer(&map);
    let probe = bench.at("p.bin");
    let tally = |map: &str, bytes: &[u8], code: i32, parts: &[&str]| -> TestResult {
        std::fs::write(probe, bytes)?;
        let (_, err, found) = run(&["tally", map, probe, "--quiet"])?;
        assert_eq!(found, code, "{err}");
        parts.iter().for_each(|part| assert!(err.contains(part), "{part}: {err}"));
        Ok(())
    };
    let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let file = bench.at("saxpy_tail.json");
    tally(file, &bytes(&words), 0, &[])?;

    let changed = |position: usize, value: u32| {
        let mut words = words.clone();
        words[position] = value;
        bytes(&words)
    };
    let cases: [(Vec<u8>, &[&str]); 9] = [
        (bytes(&words)[1..].to_vec(), &["p.bin: ", "no whole number of 32-bit words", "help: "]),
        (bytes(&words[..8]), &["8 words are no probe buffer", "header alone has 16"]),
        (bytes(&words[..16]), &["it has 16 words, but word 7 says 17", "help: "]),
        (changed(7, 0), &["it has 17 words, but word 7 says 0", "write the buffer's length in words to word 7"]),
        (changed(14, 0), &["no kernel with coverage probes has written to it", "wait for the launch to end"]),
        (changed(15, 1), &["another module wrote it: its number is 0x00000001", "one run of `kassay lower`"]),
        (
            changed(3, 2),
            &["its header is damaged: 1 x 1 x 1 work-items in groups of 1 x 1 x 1 are not 2 x 1 x 1 groups"],
        ),
        (words.iter().flat_map(|word| word.to_be_bytes()).collect(), &["its words have the high byte first"]),
        (
            {
                let mut header = words[..16].to_vec();
                header[7] = 16;
                bytes(&header)
            },
            &["no room for a slot", "at least 17 words"],
        ),
    ];
    for (contents, parts) in &cases {
        tally(file, contents, 2, parts)?;
    }

    let map = bench.at("other.json");
    let with = |change: &dyn Fn(&mut Value), parts: &[&str]| -> TestResult {
        let mut other = text.clone();
        change(&mut other);
        std::fs::write(map, serde_json::to_string_pretty(&other)?)?;
        tally(map, &bytes(&words), 2, parts)
    };
    with(&|m| m["schema"] = "kassay.map/2".into(), &["its schema is `kassay.map/2`", "reads `kassay.map/1`"])?;
    with(&|m| m["layout"] = 2.into(), &["version 2 of the probe buffer", "reads version 1"])?;
    with(&|m| m["purpose"] = 7.into(), &["other.json:", "not a valid map"])?;
    with(&|m| m["coverage"]["bit_words"] = 0.into(), &["contradicts itself", "help: "])?;
    with(&|m| m["coverage"]["sites"][0]["outcomes"][0]["bits"][0] = 32.into(), &["has bit 32, and there are 32"])?;
    with(&|m| m["coverage"]["sites"][0]["kind"] = "tea".into(), &["unknown kind `tea`"])?;
    std::fs::write(map, "{")?;
    tally(map, &bytes(&words), 2, &["other.json:1:", "this is not a map of kassay"])?;

    std::fs::write(probe, bytes(&words))?;
    let fails = |args: &[&str], code: i32, part: &str| -> TestResult {
        let (_, err, found) = run(args)?;
        assert_eq!(found, code, "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
        Ok(())
    };
    fails(&["tally", file, probe, probe], 2, "named twice")?;
    fails(&["tally", file, bench.at("none.bin")], 2, "cannot read")?;
    fails(&["tally", bench.at("none.json"), probe], 2, "cannot read")?;
    fails(&["tally", file, probe, "--fail-under", "branch=50", "--quiet"], 1, "branch coverage is 0.0 %, below 50 %")?;
    fails(&["tally", file, probe, "--fail-under", "average_statement=5"], 2, "hold no counts")?;
    let kernel = repository("testdata/saxpy_tail/saxpy_tail.cl");
    fails(&["lower", at(&kernel), "-o", bench.at("x.spv"), "--map", map], 2, "add --coverage, --mutants or --guards")?;
    bench.lower("saxpy_tail", &["--guards"])?;
    fails(&["tally", file, probe], 2, "the map of a module with guards, which records no coverage")
}
