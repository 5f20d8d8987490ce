//! Uses kassay as other programs do, through the functions of the crate, and compares the results with those of the
//! commands.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kassay::result::check::Verdict;
use kassay::{
    CheckOptions, CoverOptions, Error, GenerateOptions, Goal, InspectOptions, Level, MutateOptions, MutationLevel,
    Observer, OpenOptions, RunOptions, ScheduleOptions,
};
use serde_json::Value;

const KASSAY: &str = env!("CARGO_BIN_EXE_kassay");

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path)
}

/// Runs a command and returns its result.
fn command(arguments: &[&str]) -> Value {
    let output = Command::new(KASSAY).args(arguments).args(["--format", "json", "--quiet"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Asserts that a result is that of a command, but for times.
fn assert_same(library: impl serde::Serialize, command: Value) {
    fn without_times(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|key, _| !key.ends_with("_s") && key != "overhead" && key != "milliseconds");
                members.values_mut().for_each(without_times);
            }
            Value::Array(values) => values.iter_mut().for_each(without_times),
            _ => {}
        }
    }
    let [mut library, mut command] = [serde_json::to_value(library).unwrap(), command];
    without_times(&mut library);
    without_times(&mut command);
    assert_eq!(library, command);
}

fn options() -> OpenOptions {
    OpenOptions::new().device("sim".into()).worker(Some(KASSAY.into()))
}

#[test]
fn one_opened_suite_serves_all_functions_as_the_commands_do() {
    let suite = testdata("histogram_atomic/suite.toml");
    let path = suite.to_str().unwrap();
    let opened = options().open(&suite).unwrap();
    let sim = ["--device", "sim"];
    let with = |name, more: &[&'static str]| command(&[&[name, path], &sim[..], more].concat());

    assert_same(kassay::run(&opened, &RunOptions::new()).unwrap(), with("run", &[]));
    assert_same(kassay::cover(&opened, &CoverOptions::new().counts(true)).unwrap(), with("cover", &["--counts"]));
    let sample = MutateOptions::new().sample(Some(30));
    assert_same(kassay::mutate(&opened, &sample).unwrap(), with("mutate", &["--sample", "30"]));
    assert_same(kassay::schedule(&opened, &ScheduleOptions::new()).unwrap(), with("schedule", &[]));
    assert_same(kassay::check(&opened, &CheckOptions::new()).unwrap(), with("check", &[]));
    // The first function again.
    assert_same(kassay::run(&opened, &RunOptions::new()).unwrap(), with("run", &[]));
}

#[test]
fn a_suite_runs_on_an_opencl_device_too() {
    let suite = testdata("vector_add/suite.toml");
    let opened = options().device("opencl".into()).open(&suite).unwrap();
    let path = suite.to_str().unwrap();
    let on_device = |name| command(&[name, path, "--device", "opencl"]);
    assert_same(kassay::run(&opened, &RunOptions::new()).unwrap(), on_device("run"));
    assert_same(kassay::cover(&opened, &CoverOptions::new()).unwrap(), on_device("cover"));
}

#[test]
fn a_kernel_is_inspected_checked_and_gets_a_suite() {
    let kernel = testdata("vector_add/vector_add.cl");
    let path = kernel.to_str().unwrap();
    let inspected = kassay::inspect(&kernel, &options(), &InspectOptions::new().draw(true)).unwrap();
    assert_same(inspected.result, command(&["inspect", path]));
    assert!(inspected.graph.unwrap().starts_with("digraph"));

    let opened = options().open_kernel(&kernel).unwrap();
    assert!(opened.tests().is_empty());
    let checked = kassay::check(&opened, &CheckOptions::new()).unwrap();
    assert_eq!(checked.verdict, Verdict::Clean);
    assert_same(checked, command(&["check", path]));

    let folder = tempfile::tempdir().unwrap();
    let goal = GenerateOptions::new().goal(Goal::Mutants).max_execs(Some(200));
    let result = kassay::generate(&opened, folder.path(), &goal).unwrap();
    assert_eq!(result.coverage.branch.percent(), Some(100.0));
    let generated = options().open(folder.path().join("suite.toml")).unwrap();
    assert_eq!(generated.tests().len(), result.tests.len());
}

#[test]
fn what_needs_a_suite_says_so_and_the_reverse() {
    let kernel = options().open_kernel(testdata("vector_add/vector_add.cl")).unwrap();
    let error = kassay::cover(&kernel, &CoverOptions::new()).unwrap_err();
    assert!(matches!(error, Error::Caller(_)) && error.to_string().contains("has no tests"), "{error}");
    let suite = options().open(testdata("vector_add/suite.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // With a suite, `generate` begins with its launches.
    let generated = kassay::generate(&suite, folder.path(), &GenerateOptions::new()).unwrap();
    assert_eq!(generated.from.map(|from| from.launches), Some(4));
    let sizes = CheckOptions::new().global(vec![16]);
    assert!(matches!(kassay::check(&suite, &sizes), Err(Error::Caller(_))));
}

#[test]
fn the_syntax_tree_is_read_when_it_is_needed() {
    let suite = testdata("short_circuit/suite.toml");
    let lean = options().syntax_tree(false).open(&suite).unwrap();
    let full = options().open(&suite).unwrap();
    let [lean, full] = [lean, full].map(|opened| kassay::cover(&opened, &CoverOptions::new()).unwrap());
    assert_same(lean, serde_json::to_value(full).unwrap());
}

#[test]
fn an_observer_hears_of_warnings_and_progress() {
    #[derive(Debug, Default)]
    struct Recorder(Mutex<Vec<String>>);

    impl Observer for Recorder {
        fn warnings(&self, all: &str, _: &str) {
            self.0.lock().unwrap().push(format!("warnings: {all}"));
        }
        fn begin(&self, things: &'static str, count: Option<u64>) {
            self.0.lock().unwrap().push(format!("{count:?} {things}"));
        }
        fn end(&self) {
            self.0.lock().unwrap().push("end".to_owned());
        }
    }
    let recorder = Arc::new(Recorder::default());
    let opened = options().observer(recorder.clone()).open(testdata("vector_add/suite.toml")).unwrap();
    let result = kassay::run(&opened, &RunOptions::new()).unwrap();
    let heard = recorder.0.lock().unwrap();
    assert_eq!(
        heard[..],
        ["warnings: ".to_owned(), format!("{:?} tests", Some(result.summary.total)), "end".to_owned()]
    );
}

#[test]
fn wrong_options_are_refused() {
    let refused = |what: &str, result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::Caller(_))), "{what}: {result:?}");
    };
    let path = testdata("vector_add/suite.toml");
    let open = |options: OpenOptions| options.open(&path).map(drop);
    refused("no job", open(options().jobs(0)));
    refused("no time", open(options().timeout(Duration::ZERO)));
    refused("endless time", open(options().timeout(Duration::MAX)));

    let suite = options().open(&path).unwrap();
    refused("no repeat", kassay::cover(&suite, &CoverOptions::new().repeats(0)).map(drop));
    refused("no schedule", kassay::schedule(&suite, &ScheduleOptions::new().schedules(0)).map(drop));
    for options in [
        MutateOptions::new().order(3),
        MutateOptions::new().timeout_factor(f64::NAN),
        MutateOptions::new().timeout_factor(1e300),
        MutateOptions::new().operators("NONE".to_owned()),
        MutateOptions::new().output(Some(std::env::temp_dir())),
        MutateOptions::new().resume(true),
    ] {
        refused("mutate", kassay::mutate(&suite, &options).map(drop));
    }
    let kernel = options().open_kernel(testdata("vector_add/vector_add.cl")).unwrap();
    for options in [
        CheckOptions::new().global(vec![16]).local(vec![0]),
        CheckOptions::new().local(vec![4]),
        CheckOptions::new().global(vec![1; 4]),
        CheckOptions::new().budget(Duration::MAX),
        CheckOptions::new().schedules(0),
    ] {
        refused("check", kassay::check(&kernel, &options).map(drop));
    }
    let folder = tempfile::tempdir().unwrap();
    for options in [GenerateOptions::new().budget(Duration::MAX), GenerateOptions::new().max_execs(Some(0))] {
        refused("generate", kassay::generate(&kernel, folder.path(), &options).map(drop));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn optimised_ir_is_for_mutants_only() {
    let opened = options().level(MutationLevel::Canonical(Level::O1)).open(testdata("vector_add/suite.toml")).unwrap();
    let error = kassay::cover(&opened, &CoverOptions::new()).unwrap_err();
    assert!(matches!(error, Error::Caller(_)) && error.to_string().contains("level O1"), "{error}");
    assert!(kassay::mutate(&opened, &MutateOptions::new()).unwrap().mutants.iter().any(|m| m.operator == "AOR"));
}

#[test]
fn time_between_opening_and_use_does_not_count() {
    let (started, idle) = (Instant::now(), Duration::from_secs(3));
    let opened = options().open_kernel(testdata("vector_add/vector_add.cl")).unwrap();
    std::thread::sleep(idle);
    let checked = kassay::check(&opened, &CheckOptions::new()).unwrap();
    // Holds on a busy machine, too: both sides take longer there.
    assert!(checked.elapsed_s + idle.as_secs_f64() <= started.elapsed().as_secs_f64(), "{}", checked.elapsed_s);
}

#[test]
fn results_are_merged_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let opened = options().open(testdata("vector_add/suite.toml")).unwrap();
    let shards = ["1/2", "2/2"].map(|shard| {
        let output = folder.path().join(shard.replace('/', "of"));
        let part = MutateOptions::new().shard(Some(shard.parse().unwrap())).output(Some(output.clone()));
        kassay::mutate(&opened, &part).unwrap();
        output
    });
    let merged = kassay::merge(&shards).unwrap();
    assert_eq!(merged.mutants.len(), kassay::mutate(&opened, &MutateOptions::new()).unwrap().mutants.len());
    let report = folder.path().join("mutants.stryker.json");
    kassay::report(&shards[..1], &report).unwrap();
    assert!(std::fs::read_to_string(report).unwrap().contains("vector_add.cl"));
}

#[test]
fn the_program_is_its_own_worker_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let renamed = folder.path().join("k2");
    std::fs::copy(KASSAY, &renamed).unwrap();
    let suite = testdata("vector_add/suite.toml");
    let mut run = Command::new(renamed);
    let output = run.args(["run", "--device", "opencl", "--quiet"]).arg(suite).env("PATH", "").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn without_kassay_in_the_path_the_simulator_runs_the_tests() {
    // A program that is not kassay must never be started as a worker, least of all this one.
    let exe = std::env::current_exe().unwrap();
    let missing = options().device("auto".into()).worker(Some(exe.with_file_name("no-such-program")));
    let opened = missing.open(testdata("vector_add/suite.toml")).unwrap();
    let result = kassay::run(&opened, &RunOptions::new()).unwrap();
    assert_eq!(result.header.device.unwrap().kind, "simulator");
}
