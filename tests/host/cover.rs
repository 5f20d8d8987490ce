//! `kassay cover -- COMMAND`: coverage counted by hand, programs that end in their own ways, code of all kinds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::TestResult;
use super::programs::{Program, kassay, repository};

/// The number of kassay's compiler.
const CLANG: u32 = 22;

impl Program {
    /// Covers the program with these flags and arguments. Returns kassay's output.
    fn cover(&self, flags: &[&str], arguments: &[&str]) -> TestResult<Output> {
        let output = kassay()
            .arg("cover")
            .arg("-o")
            .arg(self.folder.path().join("cover.json"))
            .args(flags)
            .arg("--")
            .arg(&self.path)
            .args(arguments)
            .current_dir(&self.directory)
            .output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!error.contains("panicked"), "{error}");
        Ok(output)
    }

    /// Covers the program, which must work, and returns the result, in which every launch ran with probes.
    fn coverage(&self, flags: &[&str], arguments: &[&str]) -> TestResult<Value> {
        let output = self.cover(flags, arguments)?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result = self.written()?;
        assert_eq!((&result["failed"], &result["left_out"]), (&json!([]), &json!([])), "{result:#}");
        Ok(result)
    }

    fn written(&self) -> TestResult<Value> {
        Ok(serde_json::from_str(&fs::read_to_string(self.folder.path().join("cover.json"))?)?)
    }
}

/// Returns the results of the kernels of this name.
fn covered<'a>(result: &'a Value, name: &str) -> Vec<&'a Value> {
    result["kernels"].as_array().into_iter().flatten().filter(|kernel| kernel["kernel"] == name).collect()
}

/// Returns the only kernel of this name, and checks its number of launches.
fn only<'a>(result: &'a Value, name: &str, launches: u64) -> &'a Value {
    let [kernel] = covered(result, name)[..] else { panic!("{result:#}") };
    assert_eq!(kernel["launches"], launches, "{kernel:#}");
    kernel
}

fn ratio(covered: u64, total: u64) -> Value {
    json!({"covered": covered, "total": total})
}

/// Loops that need not test anything before their bodies and cannot go on for ever.
fn loops(total: u64, zero: u64, one: u64, many: u64) -> Value {
    let applicable = json!({"zero": total, "boundary": total});
    json!({"total": total, "zero": zero, "one": one, "many": many, "boundary": total, "applicable": applicable})
}

#[test]
fn barriers_branches_and_loops_are_those_counted_by_hand() -> TestResult {
    let program = Program::of("local_scan")?;
    let result = program.coverage(&[], &[])?;
    let scan = only(&result, "scan_groups", 4);
    // 1000 elements end within a group, so all conditions go both ways; the loop always doubles from 1 to 64.
    assert_eq!(scan["coverage"]["branch"], ratio(10, 10));
    assert_eq!(scan["coverage"]["barrier"], ratio(4, 4));
    assert_eq!(scan["coverage"]["loop"], loops(1, 0, 0, 1));
    assert_eq!(only(&result, "add_sums", 2)["coverage"]["branch"], ratio(2, 2));
    assert_eq!((&result["total"]["branch"], &result["total"]["loop"]), (&ratio(12, 12), &loops(1, 0, 0, 1)));
    assert_eq!((&result["schema"], &result["exit_code"]), (&json!("kassay.cover-set/1"), &json!(0)));
    let schema: Value = serde_json::from_str(&fs::read_to_string(repository("docs/schema/cover-set.schema.json"))?)?;
    let errors: Vec<String> = jsonschema::validator_for(&schema)?.iter_errors(&result).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    Ok(())
}

#[test]
fn headers_that_the_program_has_removed_are_those_of_the_build() -> TestResult {
    let program = Program::compile(&repository("tests/host/gone.c"))?;
    let result = program.coverage(&[], &[])?;
    // The branch is in the header.
    assert_eq!(only(&result, "scale", 1)["coverage"]["branch"], ratio(2, 2), "{result:#}");
    Ok(())
}

#[test]
fn the_device_is_described_as_its_driver_describes_it() -> TestResult {
    let devices: Value = serde_json::from_slice(&kassay().args(["devices", "--format", "json"]).output()?.stdout)?;
    for flags in [&[][..], &["--as-gpu"]] {
        let result = Program::of("in_place")?.coverage(flags, &[])?;
        let device = &result["kernels"][0]["device"];
        assert_eq!(device, &result["device"]);
        let mut known = devices["devices"].as_array().into_iter().flatten();
        let known = known.find(|known| known["name"] == device["name"] && known["driver"] == device["driver"]);
        let known = known.ok_or_else(|| format!("{device} is not of {devices:#}"))?;
        assert_eq!((&device["kind"], &device["il_versions"]), (&known["kind"], &known["il_versions"]));
        assert_ne!((&device["kind"], &device["il_versions"]), (&json!("unknown"), &json!([])));
    }
    Ok(())
}

/// The files of a cache, below all of its folders.
fn files_below(folder: &Path) -> TestResult<BTreeSet<PathBuf>> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(files_below(&path)?)
        } else {
            all.extend([path])
        };
    }
    Ok(all)
}

#[test]
fn what_an_earlier_run_has_compiled_is_not_compiled_again() -> TestResult {
    // Headers, several texts, and one text alone.
    for source in ["tests/host/gone.c", "testdata/hosts/c/many_strings.c", "testdata/hosts/c/in_place.c"] {
        let program = Program::compile(&repository(source))?;
        let cache = program.folder.path().join("cache");
        let flag = cache.to_str().unwrap_or_default();
        for command in ["cover", "check"] {
            let run = || -> TestResult<BTreeSet<PathBuf>> {
                let output = kassay()
                    .args([command, "--cache", flag, "--"])
                    .arg(&program.path)
                    .current_dir(&program.directory)
                    .output()?;
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                files_below(&cache)
            };
            let before = if cache.exists() { files_below(&cache)? } else { BTreeSet::new() };
            let first = run()?;
            // At least a compilation and the code made of it are new, and none of it is in a second run.
            assert!(first.len() > before.len(), "{source}: {command} has kept nothing");
            assert_eq!(run()?, first, "{source}: {command}");
        }
    }
    Ok(())
}

#[test]
fn threads_that_launch_at_the_same_time_share_their_coverage() -> TestResult {
    let program = Program::of("two_threads")?;
    let result = program.coverage(&[], &[])?;
    let collatz = only(&result, "collatz", 100);
    // It starts with 1, 2, 3: no step, one, several.
    assert_eq!(collatz["coverage"]["loop"], loops(1, 1, 1, 1));
    assert_eq!(collatz["coverage"]["branch"], ratio(2, 2));
    Ok(())
}

#[test]
fn processes_are_united() -> TestResult {
    let program = Program::of("forks")?;
    for (how, launches, processes) in [("before", 5, 2), ("idle", 3, 1), ("exec", 5, 2)] {
        let result = program.coverage(&[], &[how])?;
        let kernel = only(&result, "sum_squares", launches);
        assert_eq!(kernel["coverage"]["loop"], loops(1, 0, 0, 1), "{how}");
        assert_eq!(kernel["tests"].as_array().map(Vec::len), Some(processes), "{how}: {kernel:#}");
    }
    let missed = program.cover(&["--fail-under", "line=100,loop=75"], &["idle"])?;
    let error = String::from_utf8(missed.stderr)?;
    assert_eq!(missed.status.code(), Some(1), "{error}");
    assert!(error.contains("loop coverage is 50.0 %, below 75 %"), "{error}");
    Ok(())
}

#[test]
fn what_was_recorded_survives_sudden_ends() -> TestResult {
    let program = Program::of("sudden_end")?;
    for (how, exit, signal) in [
        ("exit", json!(5), Value::Null),
        ("crash", Value::Null, json!("SIGSEGV")),
        ("abort", Value::Null, json!("SIGABRT")),
        ("kill", Value::Null, json!("SIGKILL")),
    ] {
        let result = program.coverage(&[], &[how])?;
        assert_eq!((&result["exit_code"], &result["signal"]), (&exit, &signal), "{how}");
        assert_eq!(only(&result, "halve", 20)["coverage"]["branch"], ratio(2, 2), "{how}");
    }
    Ok(())
}

#[test]
fn kernels_of_one_name_are_several() -> TestResult {
    let program = Program::of("built_twice")?;
    let result = program.coverage(&[], &[])?;
    let mut all: Vec<(u64, &Value)> = covered(&result, "blend")
        .into_iter()
        .map(|kernel| (kernel["launches"].as_u64().unwrap_or(0), &kernel["coverage"]["branch"]))
        .collect();
    all.sort_by_key(|(launches, _)| *launches);
    // Only two of the programs have the branch.
    assert_eq!(all, [(1, &ratio(2, 2)), (2, &ratio(2, 2)), (3, &ratio(0, 0))]);
    let kept = fs::read_dir(program.folder.path().join("cover-texts"))?.count();
    assert_eq!(kept, 3);
    let source = result["kernels"][0]["source"].as_str().unwrap_or_default();
    assert!(fs::read_to_string(source)?.contains("kernel void blend"), "{source}");
    Ok(())
}

#[test]
fn variants_of_a_kernel_are_united_by_place() -> TestResult {
    let program = Program::of("tuned")?;
    assert_eq!(covered(&program.coverage(&[], &[])?, "clip").len(), 3);
    let result = program.coverage(&["--unite", "--mcdc"], &[])?;
    let clip = only(&result, "clip", 6);
    // Each `if` goes the other way in some variant, but for that of marked numbers; the loop runs once in one of them.
    assert_eq!(clip["coverage"]["branch"], ratio(5, 6), "{clip:#}");
    assert_eq!(clip["coverage"]["loop"], loops(1, 0, 1, 1));
    assert_eq!((&clip["coverage"]["line"], &clip["coverage"]["statement"]), (&ratio(7, 7), &ratio(7, 8)));
    assert_eq!((&clip["source"], &result["total"]["branch"]), (&json!("tuned.cl"), &ratio(5, 6)));
    let sites = clip["sites"].as_array().ok_or("no sites")?;
    let hits = |line: u64, outcome: &str| {
        let is_it = |site: &&Value| site["kind"] == "branch" && site["line"] == line && site["outcome"] == outcome;
        let found: Vec<&Value> = sites.iter().filter(is_it).map(|site| &site["hits_by_test"]).collect();
        assert_eq!(found.len(), 1, "{line} {outcome}");
        found[0].clone()
    };
    let by_variant = |hits: [u64; 3]| {
        let [one, two, three] = hits;
        json!({"process 1, variant 1": one, "process 1, variant 2": two, "process 1, variant 3": three})
    };
    assert_eq!((hits(6, "true"), hits(6, "false")), (by_variant([0, 1, 0]), by_variant([1, 0, 1])));
    // The first variant has no such code.
    assert_eq!(hits(8, "true"), json!({"process 1, variant 2": 0, "process 1, variant 3": 1}));
    let variants = clip["variants"].as_array().ok_or("no variants")?;
    let key = |key: &str| variants.iter().map(|variant| variant[key].clone()).collect::<Vec<_>>();
    assert_eq!(key("launches"), [3, 2, 1]);
    assert_eq!(variants[0]["defines"], json!(["TILE=4", "MARKED(x)=((x) == 7)"]));
    assert_eq!(variants[1]["defines"], json!(["TILE=8", "HIGH=1", "MARKED(x)=((x) == 7 || (x) == 9)"]));
    assert_eq!(key("tests")[2], json!(["process 1, variant 3"]));
    assert_eq!(clip["program"], variants[0]["program"]);
    // Two and three conditions at one place are two decisions.
    assert_eq!(clip["coverage"]["mcdc"], ratio(0, 5));
    let notes = clip["notes"].to_string();
    assert!(notes.contains("decisions whose conditions differ from one variant to the next"), "{notes}");
    Ok(())
}

#[test]
fn variants_by_options_have_one_text() -> TestResult {
    let program = Program::of("built_twice")?;
    let result = program.coverage(&["--unite"], &[])?;
    let blend = only(&result, "blend", 6);
    // Some variants lack the branch.
    assert_eq!(blend["coverage"]["branch"], ratio(2, 2));
    assert_eq!(blend["variants"][2]["defines"], json!(["WIDTH=16", "KEEP=3"]));
    assert_eq!(fs::read_dir(program.folder.path().join("cover-texts"))?.count(), 1);
    // Other texts are other kernels, whatever their names.
    let result = Program::of("many_strings")?.coverage(&["--unite"], &[])?;
    assert_eq!(covered(&result, "weave").len(), 2);
    assert!(result["notes"].to_string().contains("no kernels are united"), "{result:#}");
    Ok(())
}

#[test]
fn lines_are_those_of_the_users_files() -> TestResult {
    let program = Program::of("many_strings")?;
    let result = program.coverage(&["--mcdc"], &[])?;
    let all = covered(&result, "weave");
    assert_eq!(all.len(), 2);
    for kernel in all {
        let sites = kernel["sites"].as_array().ok_or("no sites")?;
        // if (i % PERIOD == 0), in the fifth line of the file that both programs contain.
        let branch = sites.iter().find(|site| site["kind"] == "branch" && site["construct"] == "if");
        let branch = branch.ok_or("no branch")?;
        assert_eq!((&branch["file"], &branch["line"]), (&json!("many_strings_body.cl"), &json!(5)));
        assert_eq!(kernel["coverage"]["branch"], ratio(4, 4));
    }
    let program = Program::of("image_blur")?;
    let result = program.coverage(&[], &[])?;
    let blur = only(&result, "blur", 4);
    assert_eq!((&blur["source"], &blur["coverage"]["loop"]), (&json!("image_blur.cl"), &loops(2, 0, 0, 2)));
    only(&result, "luma", 1);
    assert!(!program.folder.path().join("cover-texts").exists());
    Ok(())
}

#[test]
fn linked_programs_il_and_variables_are_covered() -> TestResult {
    let result = Program::of("compile_link")?.coverage(&[], &[])?;
    let root = only(&result, "root_table", 3);
    assert_eq!(root["coverage"]["branch"], ratio(2, 2));
    only(&result, "sine_table", 1);
    let result = Program::of("program_variable")?.coverage(&[], &[])?;
    if result["exit_code"] != 77 {
        assert_eq!(only(&result, "deposit", 4)["coverage"]["branch"], ratio(2, 2));
        assert_eq!(only(&result, "balance", 2)["coverage"]["branch"], ratio(2, 2));
    }
    let mut program = Program::of("from_il")?;
    program.directory = program.folder.path().to_owned();
    let module = program.directory.join("from_il.spv");
    let text = repository("testdata/hosts/c/from_il.spvasm");
    assert!(Command::new("spirv-as").arg(text).arg("-o").arg(module).status()?.success());
    let result = program.coverage(&[], &[])?;
    if result["exit_code"] != 77 {
        let launches: u64 = covered(&result, "gcd_table").iter().filter_map(|k| k["launches"].as_u64()).sum();
        assert_eq!(launches, 3);
    }
    Ok(())
}

#[test]
fn headers_and_failed_builds_are_no_obstacle() -> TestResult {
    let mut program = Program::of("include_paths")?;
    program.directory = program.folder.path().to_owned();
    let copied =
        Command::new("cp").arg("-r").arg(repository("testdata/hosts/c/life")).arg(&program.directory).status()?;
    assert!(copied.success());
    let result = program.coverage(&[], &[])?;
    assert_eq!(result["exit_code"], 0);
    let mut launches: Vec<_> = covered(&result, "generation").iter().filter_map(|k| k["launches"].as_u64()).collect();
    launches.sort_unstable();
    assert_eq!(launches, [8, 12]);
    for kernel in covered(&result, "generation") {
        assert_eq!(kernel["source"], "life/kernels.cl");
    }
    let result = Program::of("errors")?.coverage(&[], &[])?;
    assert_eq!(result["exit_code"], 0);
    only(&result, "scale", 2);
    Ok(())
}

#[test]
fn kernels_that_nobody_asked_for_run_as_they_are() -> TestResult {
    let program = Program::of("local_scan")?;
    let output = program.cover(&["--kernel", "add_*"], &[])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result = program.written()?;
    only(&result, "add_sums", 2);
    assert!(covered(&result, "scan_groups").is_empty());
    let [left_out] = &result["left_out"].as_array().ok_or("nothing left out")?[..] else { panic!("{result:#}") };
    let of = |key: &str| &left_out[key];
    assert_eq!((of("kernel"), of("reason"), of("count")), (&json!("scan_groups"), &json!("not-selected"), &json!(4)));
    assert_eq!(result["failed"], json!([]));
    Ok(())
}

#[test]
fn standard_output_is_the_programs() -> TestResult {
    let program = Program::of("in_place")?;
    let output = program.cover(&[], &[])?;
    assert_eq!(String::from_utf8(output.stdout)?, "in_place: right\n");
    let error = String::from_utf8(output.stderr)?;
    assert!(error.contains("exit code 0") && error.contains("combine"), "{error}");
    let quiet = program.cover(&["--quiet"], &[])?;
    assert_eq!(String::from_utf8(quiet.stderr)?, "");
    let lines = program.folder.path().join("lines.lcov");
    let report = kassay().arg("report").arg(program.folder.path().join("cover.json")).arg("-o").arg(&lines).output()?;
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    let lines = fs::read_to_string(lines)?;
    assert!(lines.contains("DA:3,1") && lines.contains("program.cl"), "{lines}");
    Ok(())
}

#[test]
fn a_kernel_that_does_something_else_when_woven_stays_as_it_is() -> TestResult {
    let program = Program::of("own_compiler")?;
    let native = program.native(&program.directory)?;
    if !native.status.success() {
        return Ok(());
    }
    for flags in [&[][..], &["--verify", "all"]] {
        let output = program.cover(flags, &[])?;
        assert_eq!(output.stdout, native.stdout, "{flags:?}");
        let result = program.written()?;
        only(&result, "double_up", 3);
        if String::from_utf8(native.stdout.clone())?.trim_end() == format!("own_compiler: {CLANG}") {
            // The driver's compiler is the same as kassay's.
            assert_eq!((&result["left_out"], output.status.code()), (&json!([]), Some(0)));
            continue;
        }
        assert!(covered(&result, "stamp").is_empty());
        let left_out = &result["left_out"][0];
        let of = |key: &str| &left_out[key];
        assert_eq!(
            (of("kernel"), of("reason"), of("count")),
            (&json!("stamp"), &json!("differs-when-woven"), &json!(6)),
            "{flags:?}"
        );
        assert!(of("meaning").as_str().is_some_and(|meaning| meaning.starts_with("argument out: element 0: ")));
        let error = String::from_utf8(output.stderr)?;
        assert!(error.contains("the program's own stamp stays") && output.status.code() == Some(1), "{error}");
    }
    let output = program.cover(&["--verify", "none"], &[])?;
    assert_eq!(String::from_utf8(output.stdout)?, format!("own_compiler: {CLANG}\n"));
    assert_eq!(only(&program.written()?, "stamp", 6)["coverage"]["branch"], ratio(2, 2));
    Ok(())
}

#[test]
fn what_cannot_be_compared_is_said() -> TestResult {
    for (name, why) in
        [("printing", "the kernel prints"), ("svm_list", "the kernel follows pointers that are in memory")]
    {
        let program = Program::of(name)?;
        if program.native(&program.directory)?.status.code() != Some(0) {
            continue;
        }
        let notes = program.coverage(&[], &[])?["notes"].to_string();
        assert!(notes.contains(why), "{notes}");
        let output = program.cover(&["--verify", "all"], &[])?;
        let result = program.written()?;
        assert!(output.status.success() && covered(&result, "walk").is_empty());
        assert!(result["left_out"][0]["count"].as_u64() > Some(0), "{result:#}");
        assert_eq!(result["left_out"][0]["reason"], "unrepeatable");
    }
    Ok(())
}
