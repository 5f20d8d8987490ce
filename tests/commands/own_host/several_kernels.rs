//! Modules with several kernels of a file: with probes in each, or with the others as they are.

use serde_json::Value;

use super::{HostBench, Launch, outcomes};
use crate::common::TestResult;
use crate::common::program::{at, json, read, run, valid};
use crate::common::testdata::repository;

/// The kernels of multi_kernel with a launch, and the suite's text of that.
const KERNELS: [(&str, Launch, &str); 3] = [
    (
        "normalise",
        ("64/16", &["floats=-9,0.5,60", "floats=0,0,60", "int=60", "float=-4", "float=4"]),
        "out = { fill = 0, len = 60 }\nn = 60\nlow = -4.0\nhigh = 4.0\n",
    ),
    (
        "threshold",
        ("64/16", &["floats=-9,0.5,60", "ints=0,0,16", "int=60", "float=-4", "float=4", "float=2"]),
        "mask = { fill = 0, len = 64 }\nn = 60\nlow = -4.0\nhigh = 4.0\nlevel = 2.0\n",
    ),
    (
        "block_sum",
        ("64/8", &["floats=-9,0.5,60", "floats=0,0,64", "int=58", "int=5"]),
        "sums = { fill = 0, len = 64 }\nn = 58\nblock = 5\n",
    ),
];

/// What `kassay cover` measures of a launch.
fn covered(bench: &HostBench, kernel: &str, launch: Launch, arguments: &str) -> TestResult<Value> {
    let (global, local) = launch.0.split_once('/').unwrap();
    let suite = format!(
        "kernel = '{}'\nentry = '{kernel}'\n[[test]]\nname = 'a'\nglobal = [{global}]\nlocal = [{local}]\n[test.args]\n\
         in = {{ arange = {{ len = 60, start = -9, step = 0.5 }} }}\n{arguments}",
        at(&repository("testdata/multi_kernel/multi_kernel.cl"))
    );
    std::fs::write(bench.path("suite.toml"), suite)?;
    json(&["cover", bench.at("suite.toml"), "--device", "opencl"], 0)
}

#[test]
fn several_kernels_of_a_module_have_probes_and_a_map_each() -> TestResult {
    let bench = HostBench::new()?;
    let source = repository("testdata/multi_kernel/multi_kernel.cl");
    let lower = |flags: &[&str]| -> TestResult<Vec<u8>> {
        let files = ["-o", bench.at("p.spv"), "--map", bench.at("p.map.json"), "--coverage"];
        let (_, err, code) = run(&[&["lower", at(&source)], &files[..], flags].concat())?;
        assert_eq!((code, err.as_str()), (0, ""));
        Ok(std::fs::read(bench.path("p.spv"))?)
    };
    let named = lower(&["--kernel", "normalise", "--kernel", "threshold", "--kernel", "block_sum"])?;
    assert_eq!(lower(&["--kernel", "all"])?, named);
    let mut files = Vec::new();
    for (kernel, launch, _) in KERNELS {
        bench.launch_code(bench.c(), "p.spv", (kernel, kernel), launch, &[])?;
        files.push(bench.at(&format!("{kernel}.0.bin")));
    }
    for (kernel, launch, arguments) in KERNELS {
        let map = bench.path(&format!("p.{kernel}.map.json"));
        valid(&read(&map)?, "map.schema.json")?;
        // All buffers are given: those of the others are passed over.
        let found = json(&[&["tally", at(&map)], &files[..]].concat(), 0)?;
        let wanted = covered(&bench, kernel, launch, arguments)?;
        assert_eq!(found["coverage"], wanted["coverage"], "{kernel}");
        assert_eq!(outcomes(&found), outcomes(&wanted), "{kernel}");
        assert_eq!(found["tests"].as_array().unwrap().len(), 1);
        assert!(found["notes"].to_string().contains("2 of 3 probe buffers are of other kernels"), "{found}");
    }
    let (_, err, code) = run(&["tally", bench.at("p.normalise.map.json"), files[1], files[2]])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("none is of `normalise`") && err.contains("the map of"), "{err}");

    // Two with probes; the third is as it is.
    lower(&["--kernel", "block_sum", "--kernel", "threshold"])?;
    let map = read(&bench.path("p.threshold.map.json"))?;
    assert_eq!(map["other_kernels"], serde_json::json!(["normalise"]));
    for (kernel, launch, _) in KERNELS {
        std::fs::remove_file(bench.path(&format!("{kernel}.0.bin")))?;
        bench.launch_code(bench.c(), "p.spv", (kernel, kernel), launch, &[])?;
        assert_eq!(bench.path(&format!("{kernel}.0.bin")).exists(), kernel != "normalise");
    }

    let fails = |flags: &[&str], part: &str| -> TestResult {
        let (_, err, code) = run(&[&["lower", at(&source), "-o", bench.at("x.spv")], flags].concat())?;
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(part), "{part}: {err}");
        Ok(())
    };
    fails(&["--coverage", "--kernel", "tea"], "has no kernel `tea`")?;
    fails(&["--mutants", "--kernel", "all"], "several kernels of one module can have coverage probes")
}

#[test]
fn modules_have_the_other_kernels_as_they_are() -> TestResult {
    let bench = HostBench::new()?;
    let source = repository("testdata/multi_kernel/multi_kernel.cl");
    let lower = |flags: &[&str], file: &str| -> TestResult {
        let (_, err, code) = run(&[&["lower", at(&source), "-o", bench.at(file)], flags].concat())?;
        assert_eq!((code, err.as_str()), (0, ""));
        Ok(())
    };
    let entry = |kernel| ["--entry", kernel];
    let mut alone = Vec::new();
    for (kernel, launch, _) in KERNELS {
        lower(&entry(kernel), "alone.spv")?;
        alone.push(bench.launch_code(bench.c(), "alone.spv", (kernel, "x"), launch, &[])?);
    }
    let purposes: [&[&str]; 3] = [&["--coverage"], &["--mutants", "--operators", "ROR", "--no-proofs"], &["--guards"]];
    for purpose in purposes {
        let flags = [purpose, &entry("threshold"), &["--map", bench.at("w.map.json")]].concat();
        lower(&flags, "w.spv")?;
        let map = read(&bench.path("w.map.json"))?;
        assert_eq!(map["other_kernels"], serde_json::json!(["normalise", "block_sum"]));
        let modules = [Some("w.spv"), purpose.contains(&"--mutants").then_some("w.reach.spv")];
        for module in modules.into_iter().flatten() {
            for ((kernel, launch, _), wanted) in
                KERNELS.iter().zip(&alone).filter(|((name, ..), _)| *name != "threshold")
            {
                for host in [bench.c(), HostBench::python()] {
                    let found = bench.launch_code(host, module, (kernel, "x"), *launch, &[])?;
                    assert_eq!(found, *wanted, "{purpose:?} {module} {kernel}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_kernel_that_cannot_be_lowered_is_left_out_and_named() -> TestResult {
    let bench = HostBench::new()?;
    let source = "int nowhere(int);\nconstant int table[2] = {1, 2};\n\
                  kernel void good(global int *a) { if (a[0] > 0) a[0] = table[a[1]]; }\n\
                  kernel void fine(global int *a) { a[1] = table[a[1] & 1]; }\n\
                  kernel void bad(global int *a) { a[0] = nowhere(1); }\n";
    std::fs::write(bench.path("k.cl"), source)?;
    let map = bench.at("k.map.json");
    let flags = ["--coverage", "--entry", "good", "-o", bench.at("k.spv"), "--map", map];
    let (_, err, code) = run(&[&["lower", bench.at("k.cl")], &flags[..]].concat())?;
    assert_eq!((code, err.as_str()), (0, ""));
    let map = read(&bench.path("k.map.json"))?;
    assert_eq!(map["other_kernels"], serde_json::json!(["fine"]));
    assert!(map["notes"].to_string().contains("the module lacks the kernel `bad`"), "{map}");
    let launched = bench.launch_code(bench.c(), "k.spv", ("fine", "x"), ("1/1", &["ints=5,0,2"]), &[])?;
    assert!(launched.starts_with("launch 0 argument 0 "), "{launched}");
    Ok(())
}
