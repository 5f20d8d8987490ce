//! `kassay capture`: counts, suites that pass, programs that end in their own ways.

use std::fs;
use std::process::Command;

use super::TestResult;
use super::programs::{Program, kassay, kernels, launches, repository};

#[test]
fn aliases_become_suites_that_pass() -> TestResult {
    let program = Program::of("in_place")?;
    let result = program.result(&["--all"], &[])?;
    assert_eq!((result["schema"].as_str(), result["exit_code"].as_i64()), (Some("kassay.capture/1"), Some(0)));
    let [kernel] = kernels(&result, "combine")[..] else { panic!("{result:#}") };
    assert_eq!((kernel["launches"].as_u64(), kernel["kept"].as_u64()), (Some(5), Some(5)));
    assert_eq!(kernel["replay"]["exact"], 5, "{kernel:#}");
    program.passes(kernel)?;
    let suite = fs::read_to_string(program.captured().join("combine/suite.toml"))?;
    assert!(suite.contains("same_as = \"a\""), "{suite}");
    let schema: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(repository("docs/schema/capture.schema.json"))?)?;
    let errors: Vec<String> = jsonschema::validator_for(&schema)?.iter_errors(&result).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    Ok(())
}

#[test]
fn sub_buffers_and_several_kernels_become_suites_that_pass() -> TestResult {
    let program = Program::of("sub_buffers")?;
    let result = program.result(&[], &[])?;
    assert_eq!((launches(&result, "relax_slab"), launches(&result, "add_shifted")), (40, 1));
    let [relax] = kernels(&result, "relax_slab")[..] else { panic!("{result:#}") };
    assert!((2..=8).contains(&relax["kept"].as_u64().unwrap_or(0)), "{relax:#}");
    for name in ["relax_slab", "add_shifted"] {
        program.passes(kernels(&result, name)[0])?;
    }
    Ok(())
}

#[test]
fn kernels_of_one_name_get_suites_of_their_own() -> TestResult {
    let program = Program::of("built_twice")?;
    let result = program.result(&["--no-replay"], &[])?;
    let all = kernels(&result, "blend");
    let mut counts: Vec<_> = all.iter().filter_map(|kernel| kernel["launches"].as_u64()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 2, 3]);
    let suites: Vec<_> = all.iter().filter_map(|kernel| kernel["suite"].as_str()).collect();
    assert_eq!(suites[0], "blend/suite.toml");
    for (kernel, suite) in all.iter().zip(&suites).skip(1) {
        let hash = kernel["program"].as_str().and_then(|id| id.get(..8)).unwrap_or_default();
        assert_eq!(*suite, format!("blend-{hash}/suite.toml"));
    }
    for kernel in all {
        program.passes(kernel)?;
    }
    // A second capture takes the place of the first.
    let again = program.result(&["--no-replay", "--kernel", "no*"], &[])?;
    assert!(kernels(&again, "blend").iter().all(|kernel| kernel["suite"].is_null()));
    assert!(!program.captured().join("blend").exists());
    Ok(())
}

#[test]
fn suites_are_the_same_however_many_are_made_at_a_time() -> TestResult {
    let program = Program::of("many_kernels")?;
    let mut all = Vec::new();
    for jobs in ["1", "3"] {
        let result = program.result(&["-j", jobs], &["9"])?;
        let kernels = result["kernels"].as_array().cloned().unwrap_or_default();
        let names: Vec<String> = (0..9).map(|number| format!("element_{number}")).collect();
        assert_eq!(kernels.iter().map(|kernel| kernel["name"].as_str().unwrap_or("")).collect::<Vec<_>>(), names);
        assert!(kernels.iter().all(|kernel| kernel["replay"]["exact"] == 2), "{result:#}");
        let files: Vec<_> =
            result["programs"].as_array().into_iter().flatten().map(|program| &program["file"]).collect();
        assert!(files.iter().all(|file| file.is_string()), "{result:#}");
        // What memory holds that was never written is another thing in each run, and may be what a later launch begins
        // with.
        let written = |text: String| -> Vec<String> {
            let known = |line: &str| match line.split_once("}, ") {
                Some((expected, _)) if line.contains("uninitialised = true") => expected.to_owned(),
                // The same file, if these were the same bytes by chance.
                _ => line.replace("npy = \"out-2.npy\"", "npy = \"out.npy\""),
            };
            text.lines().map(known).collect()
        };
        let suites: Vec<Vec<String>> = kernels
            .iter()
            .map(|kernel| fs::read_to_string(program.captured().join(kernel["suite"].as_str().unwrap_or_default())))
            .map(|text| text.map(written))
            .collect::<Result<_, _>>()?;
        all.push((kernels, result["device"].clone(), suites));
    }
    assert_eq!(all[0], all[1]);
    Ok(())
}

#[test]
fn the_launch_that_covers_something_new_is_kept_if_that_is_asked_for() -> TestResult {
    let program = Program::of("late_branch")?;
    let suite = program.captured().join("settle/suite.toml");
    let plain = program.result(&["--no-replay"], &[])?;
    let [kernel] = kernels(&plain, "settle")[..] else { panic!("{plain:#}") };
    assert_eq!((kernel["kept"].as_u64(), kernel["kept_for_coverage"].as_u64()), (Some(8), Some(0)));
    assert!(!fs::read_to_string(&suite)?.contains("launch 1000"));
    let result = program.result(&["--sample-by-coverage"], &[])?;
    let [kernel] = kernels(&result, "settle")[..] else { panic!("{result:#}") };
    assert_eq!((kernel["kept"].as_u64(), kernel["kept_for_coverage"].as_u64()), (Some(8), Some(1)), "{kernel:#}");
    assert!(fs::read_to_string(&suite)?.contains("launch 1000"));
    assert_eq!(kernel["replay"]["exact"], 8, "{kernel:#}");
    program.passes(kernel)?;
    // Without it the branch is not covered.
    let covered = kassay().arg("cover").arg(&suite).args(["--format", "json"]).output()?;
    let covered: serde_json::Value = serde_json::from_slice(&covered.stdout)?;
    assert_eq!(covered["coverage"]["branch"]["covered"], covered["coverage"]["branch"]["total"], "{covered:#}");
    Ok(())
}

#[test]
fn what_was_kept_before_a_crash_is_there() -> TestResult {
    let program = Program::of("sudden_end")?;
    let result = program.result(&["--no-replay"], &["crash"])?;
    assert_eq!((result["exit_code"].as_i64(), result["signal"].as_str()), (None, Some("SIGSEGV")));
    assert_eq!(launches(&result, "halve"), 20);
    program.passes(kernels(&result, "halve")[0])?;
    let result = program.result(&["--no-replay"], &["exit"])?;
    assert_eq!((result["exit_code"].as_i64(), launches(&result, "halve")), (Some(5), 20));
    Ok(())
}

#[test]
fn a_program_that_asks_for_a_gpu_gets_the_cpu_if_it_is_told_so() -> TestResult {
    let program = Program::of("gpu_only")?;
    let result = program.result(&["--as-gpu", "--no-replay"], &[])?;
    assert_eq!((result["exit_code"].as_i64(), launches(&result, "dither")), (Some(0), 2));
    program.passes(kernels(&result, "dither")[0])
}

#[test]
fn what_variables_held_before_a_launch_is_told_to_be_unknown() -> TestResult {
    let program = Program::of("program_variable")?;
    let result = program.result(&["--kernel", "balance"], &[])?;
    if result["exit_code"] == 77 {
        return Ok(());
    }
    let [balance] = kernels(&result, "balance")[..] else { panic!("{result:#}") };
    let not = &balance["replay"]["not_reproduced"][0];
    assert_eq!(
        (not["reason"].as_str(), not["argument"].as_str()),
        (Some("program-variables"), Some("out")),
        "{balance:#}"
    );
    let message = not["message"].as_str().unwrap_or_default();
    assert!(message.contains("what deposits and accounts held before the launch is not known"), "{message}");
    program.passes(balance)
}

#[test]
fn the_time_without_kassay_is_measured_if_it_is_asked_for() -> TestResult {
    let folder = tempfile::tempdir()?;
    let program = Program::of("in_place")?;
    let runs = folder.path().join("runs");
    // As a script, so that the runs can be counted.
    let script = format!("echo run >> {}; exec {}", runs.display(), program.path.display());
    for (flags, count) in [(&[][..], 1), (&["--measure-native"], 2)] {
        let _ = fs::remove_file(&runs);
        let output = kassay()
            .args(["capture", "--no-replay", "-o"])
            .arg(program.captured())
            .args(flags)
            .args(["--", "sh", "-c", &script])
            .output()?;
        let text = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert_eq!(fs::read_to_string(&runs)?.lines().count(), count);
        let result: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(program.captured().join("capture.json"))?)?;
        assert_eq!(result["native_s"].as_f64().is_some_and(|seconds| seconds > 0.0), count == 2, "{result:#}");
        assert_eq!(text.contains(" without kassay)"), count == 2, "{text}");
    }
    Ok(())
}

#[test]
fn programs_from_il_become_suites_of_spir_v() -> TestResult {
    let mut program = Program::of("from_il")?;
    program.directory = program.folder.path().to_owned();
    let module = program.directory.join("from_il.spv");
    let text = repository("testdata/hosts/c/from_il.spvasm");
    assert!(Command::new("spirv-as").arg(text).arg("-o").arg(module).status()?.success());
    let result = program.result(&[], &[])?;
    if result["exit_code"] == 77 {
        return Ok(());
    }
    assert_eq!(launches(&result, "gcd_table"), 3);
    for kernel in kernels(&result, "gcd_table") {
        program.passes(kernel)?;
    }
    let file = result["programs"][0]["file"].as_str().unwrap_or_default();
    assert!(file.ends_with(".spv"), "{result:#}");
    Ok(())
}

#[test]
fn standard_output_is_the_programs() -> TestResult {
    let program = Program::of("in_place")?;
    let output = program.capture(&["--no-replay"], &[])?;
    assert_eq!(String::from_utf8(output.stdout)?, "in_place: right\n");
    assert!(String::from_utf8(output.stderr)?.contains("1 suite in "));
    Ok(())
}

#[test]
fn launches_without_work_items_are_told_as_such() -> TestResult {
    let program = Program::of("no_work_items")?;
    let result = program.result(&["--no-replay"], &[])?;
    let [kernel] = kernels(&result, "fill")[..] else { panic!("{result:#}") };
    assert_eq!((kernel["launches"].as_u64(), kernel["kept"].as_u64()), (Some(3), Some(1)), "{kernel:#}");
    let [left_out] = &kernel["left_out"].as_array().cloned().unwrap_or_default()[..] else { panic!("{kernel:#}") };
    assert_eq!((&left_out["reason"], left_out["count"].as_u64()), (&"empty-range".into(), Some(2)));
    // Nothing is said of kernels that were not seen being made.
    assert!(result["left_out"].as_array().is_none_or(Vec::is_empty), "{result:#}");
    program.passes(kernel)
}

#[test]
fn headers_with_absolute_paths_come_along() -> TestResult {
    let program = Program::of("absolute_headers")?;
    let result = program.result(&["--no-replay"], &[])?;
    // The program has removed its headers.
    for kernel in kernels(&result, "step") {
        program.passes(kernel)?;
        let suite = program.captured().join(kernel["suite"].as_str().ok_or("no suite")?);
        for file in [suite.clone(), suite.with_file_name("step.cl")] {
            assert!(!fs::read_to_string(&file)?.contains("\"/"), "{}", file.display());
        }
    }
    assert_eq!(launches(&result, "step"), 4);
    Ok(())
}
