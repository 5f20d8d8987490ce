//! Measures with host programs that use nothing of kassay (`testdata/hosts`): what they read back or write down,
//! tallied, is what `kassay cover` and `kassay mutate` find out of the same launches.

mod counts;
mod coverage;
mod mcdc;
mod mutants;
mod outcomes;
mod several_kernels;

use std::path::{Path, PathBuf};
use std::process::Command;

use kassay_run::exec::discover::Vendors;
use serde_json::Value;

use crate::common::TestResult;
use crate::common::bench::Bench;
use crate::common::program::{at, json, read, run, valid};
use crate::common::testdata::repository;

/// A folder with the compiled host, and a way to start it.
struct HostBench {
    bench: Bench,
    drivers: Vendors,
}

/// A launch: the range and the kernel's arguments, as the hosts take them.
type Launch = (&'static str, &'static [&'static str]);

const SAXPY_TAIL: [Launch; 3] = [
    ("64/16", &["int=256", "float=2", "floats=0,1,256", "floats=10,1,256"]),
    ("64/16", &["int=250", "float=-0.5", "floats=0,2,250", "floats=8,0,250"]),
    ("16/16", &["int=63", "float=0.25", "floats=4,4,63", "floats=1,1,63"]),
];

const REDUCTION_TREE: [Launch; 4] = [
    ("256/64", &["ints=0,1,256", "ints=-1,0,4", "local=256", "int=256"]),
    ("64/16", &["ints=5,0,50", "ints=-1,0,4", "local=64", "int=50"]),
    ("8/2", &["ints=1,1,8", "ints=-1,0,4", "local=8", "int=8"]),
    ("3/1", &["ints=1,1,3", "ints=-1,0,3", "local=4", "int=3"]),
];

const DIVERGENT_EXIT: [Launch; 3] = [
    ("64/16", &["ints=3,0,64", "ints=0,0,64", "local=64", "int=64", "int=0"]),
    ("16/4", &["ints=1,1,8", "ints=0,0,8", "local=16", "int=8", "int=0"]),
    ("16/16", &["ints=2,0,10", "ints=0,0,10", "local=64", "int=10", "int=1"]),
];

impl HostBench {
    fn without_host() -> TestResult<HostBench> {
        Ok(HostBench { bench: Bench::new()?, drivers: Vendors::discover() })
    }

    fn new() -> TestResult<HostBench> {
        let bench = HostBench::without_host()?;
        let source = repository("testdata/hosts/host.c");
        let compiler =
            Command::new("cc").args(["-Wall", "-Werror", "-o", bench.at("host"), at(&source), "-ldl"]).output()?;
        assert!(compiler.status.success(), "{}", String::from_utf8_lossy(&compiler.stderr));
        Ok(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bench.path(name)
    }

    fn at(&self, name: &str) -> &'static str {
        Box::leak(self.path(name).display().to_string().into_boxed_str())
    }

    /// Lowers a kernel of testdata to `{kernel}.spv` and `{kernel}.json`.
    fn lower(&self, kernel: &str, flags: &[&str]) -> TestResult<Value> {
        let source = repository("testdata").join(kernel).join(format!("{kernel}.cl"));
        let (code, map) = (self.at(&format!("{kernel}.spv")), self.at(&format!("{kernel}.json")));
        let (_, err, exit) = run(&[&["lower", at(&source), "-o", code, "--map", map], flags].concat())?;
        assert_eq!(exit, 0, "{err}");
        let map = read(Path::new(map))?;
        valid(&map, "map.schema.json")?;
        Ok(map)
    }

    fn c(&self) -> Command {
        Command::new(self.path("host"))
    }

    fn python() -> Command {
        let mut command = Command::new("python3");
        command.arg(repository("testdata/hosts/host.py"));
        command
    }

    /// Launches a kernel by a host and returns what that prints. The probe buffer goes to `{prefix}.0.bin`.
    fn launch(
        &self,
        host: Command,
        kernel: &str,
        prefix: &str,
        launch: Launch,
        variables: &[(&str, String)],
    ) -> TestResult<String> {
        self.launch_code(host, &format!("{kernel}.spv"), (kernel, prefix), launch, variables)
    }

    /// Likewise, with the code in a file. The host runs in the folder, so that `prefix` needs no path.
    fn launch_code(
        &self,
        mut host: Command,
        code: &str,
        (kernel, prefix): (&str, &str),
        (range, arguments): Launch,
        variables: &[(&str, String)],
    ) -> TestResult<String> {
        let (folder, _temporary) = self.drivers.loader_folder()?;
        if let Some(folder) = folder {
            host.env("OCL_ICD_VENDORS", folder);
        }
        host.current_dir(self.bench.folder()).args([code, kernel, range, prefix]).args(arguments);
        let output = host.envs(variables.iter().map(|(name, value)| (name, value))).output()?;
        assert!(output.status.success(), "{host:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Tallies the probe files of these prefixes.
    fn tally(&self, kernel: &str, prefixes: &[String]) -> TestResult<Value> {
        let map = self.at(&format!("{kernel}.json"));
        let probes: Vec<&str> = prefixes.iter().map(|prefix| self.at(&format!("{prefix}.0.bin"))).collect();
        let result = json(&[&["tally", map], &probes[..]].concat(), 0)?;
        valid(&result, "cover.schema.json")?;
        Ok(result)
    }
}

/// Returns the sites of a coverage result with their hits in the order of `tests`, whatever these are called.
fn outcomes(result: &Value) -> Vec<(String, Vec<u64>, Option<u64>)> {
    let tests: Vec<&str> = result["tests"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    let row = |site: &Value| {
        let hits = tests.iter().map(|test| site["hits_by_test"][test].as_u64().unwrap()).collect();
        (format!("{} {}", site["id"], site["outcome"]), hits, site["divergent_groups"].as_u64())
    };
    result["sites"].as_array().unwrap().iter().map(row).collect()
}
