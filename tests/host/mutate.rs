//! `kassay mutate -- COMMAND`: verdicts compared with mutants made by hand, programs that hang, crash, or are not
//! stable.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::TestResult;
use super::programs::{Program, kassay, repository};

/// The program of `testdata/hosts/c/verdict.c` in a folder of its own, with its kernels.
fn verdict() -> TestResult<Program> {
    let mut program = Program::of("verdict")?;
    program.directory = program.folder.path().join("work");
    fs::create_dir(&program.directory)?;
    fs::copy(repository("testdata/hosts/c/verdict.cl"), program.directory.join("verdict.cl"))?;
    Ok(program)
}

impl Program {
    fn mutation(&self, flags: &[&str], arguments: &[&str]) -> Command {
        let mut command = kassay();
        command.arg("mutate").arg("-o").arg(self.folder.path().join("mutate.json")).args(flags);
        command.arg("--").arg(&self.path).args(arguments).current_dir(&self.directory);
        command
    }

    fn mutate(&self, flags: &[&str], arguments: &[&str]) -> TestResult<Output> {
        let output = self.mutation(flags, arguments).output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!error.contains("panicked"), "{error}");
        Ok(output)
    }

    /// Mutates, which must work for all kernels, and returns the result.
    fn mutants(&self, flags: &[&str], arguments: &[&str]) -> TestResult<Value> {
        let output = self.mutate(flags, arguments)?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result: Value = serde_json::from_str(&fs::read_to_string(self.folder.path().join("mutate.json"))?)?;
        assert_eq!(result["failed"], json!([]), "{result:#}");
        Ok(result)
    }

    fn refused(&self, flags: &[&str], arguments: &[&str]) -> TestResult<String> {
        let output = self.mutate(flags, arguments)?;
        let error = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(2), "{error}");
        Ok(error)
    }
}

/// All mutants of a result that are no duplicates, by kernel and id.
fn mutants(result: &Value) -> BTreeMap<(String, String), &Value> {
    let mut all = BTreeMap::new();
    for kernel in result["kernels"].as_array().into_iter().flatten() {
        for mutant in kernel["mutants"].as_array().into_iter().flatten() {
            if mutant["duplicate_of"].is_null() {
                let of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                all.insert((of(&kernel["kernel"]), of(&mutant["id"])), mutant);
            }
        }
    }
    all
}

fn statuses(result: &Value) -> BTreeMap<(String, String), (String, Value)> {
    let status = |mutant: &Value| mutant["status"].as_str().unwrap_or_default().to_owned();
    mutants(result).into_iter().map(|(key, mutant)| (key, (status(mutant), mutant["reason"].clone()))).collect()
}

/// Makes a mutant in the text of the kernels; nothing if it is no change within a line.
fn by_hand(text: &str, mutant: &Value) -> Option<String> {
    let place = |end: &str, what: &str| mutant["location"][end][what].as_u64().and_then(|n| usize::try_from(n).ok());
    let (line, from) = (place("start", "line")?.checked_sub(1)?, place("start", "column")?.checked_sub(1)?);
    let to = place("end", "column")?.checked_sub(1)?;
    let (original, replacement) = (mutant["original"].as_str()?, mutant["replacement"].as_str()?);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let changed = lines.get_mut(line).filter(|_| place("end", "line") == Some(line + 1))?;
    if changed.get(from..to)? != original || replacement.is_empty() {
        return None;
    }
    changed.replace_range(from..to, replacement);
    Some(lines.join("\n") + "\n")
}

#[test]
fn verdicts_are_those_of_mutants_made_by_hand() -> TestResult {
    let program = verdict()?;
    let result = program.mutants(&["-j", "2", "--operators", "ROR,AOR,LCR"], &[])?;
    assert_eq!((&result["schema"], &result["exit_code"]), (&json!("kassay.mutate-set/1"), &json!(0)));
    let schema: Value = serde_json::from_str(&fs::read_to_string(repository("docs/schema/mutate-set.schema.json"))?)?;
    let errors: Vec<String> = jsonschema::validator_for(&schema)?.iter_errors(&result).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let text = fs::read_to_string(program.directory.join("verdict.cl"))?;
    let folder = tempfile::tempdir()?;
    let mut seen = BTreeMap::new();
    for mutant in mutants(&result).values() {
        let status = mutant["status"].as_str().unwrap_or_default();
        let expected = match status {
            "killed" => Some(1),
            "survived" | "equivalent" => Some(0),
            _ => None,
        };
        let (Some(expected), Some(mutated)) = (expected, by_hand(&text, mutant)) else { continue };
        let count = seen.entry(status.to_owned()).or_insert(0);
        if *count >= 8 {
            continue;
        }
        *count += 1;
        assert_eq!(mutant["location"]["file"], "verdict.cl", "{mutant:#}");
        fs::write(folder.path().join("verdict.cl"), mutated)?;
        let native = program.native(folder.path())?;
        let error = String::from_utf8_lossy(&native.stderr);
        assert_eq!(native.status.code(), Some(expected), "{error}{mutant:#}");
    }
    let of = |status: &str| seen.get(status).copied().unwrap_or(0);
    assert!(of("killed") >= 5 && of("survived") >= 2, "{seen:?}");
    Ok(())
}

#[test]
fn programs_that_crash_or_hang_under_a_mutant_are_ended() -> TestResult {
    let program = verdict()?;
    let flags = ["-j", "2", "--timeout", "5", "--kernel", "mark", "--operators", "ROR"];
    let judged = statuses(&program.mutants(&flags, &[])?);
    let crashed = statuses(&program.mutants(&flags, &["abort"])?);
    let hung = statuses(&program.mutants(&flags, &["wait"])?);
    assert!(judged.values().any(|(status, _)| status == "killed"), "{judged:?}");
    for (key, (status, _)) in &judged {
        let (expected, why) = match status.as_str() {
            "killed" => ("runtime-error", "SIGABRT"),
            other => (other, ""),
        };
        let (status, reason) = &crashed[key];
        assert_eq!(status, expected, "{key:?}: {reason}");
        assert!(why.is_empty() || reason.to_string().contains(why), "{reason}");
        let expected = if expected == "runtime-error" && why == "SIGABRT" { "timeout" } else { expected };
        assert_eq!(hung[key].0, expected, "{key:?}: {}", hung[key].1);
    }
    Ok(())
}

#[test]
fn output_and_files_judge_as_well() -> TestResult {
    let program = verdict()?;
    let flags = ["-j", "2", "--kernel", "mark", "--operators", "ROR,LCR"];
    let by = |oracle: &str, argument: &str| -> TestResult<_> {
        let flags = [&["--oracle", oracle][..], &flags].concat();
        let result = program.mutants(&flags, &[argument])?;
        let only = |(status, _): &(String, Value)| status.clone();
        Ok(statuses(&result).into_iter().map(|(key, status)| (key, only(&status))).collect::<BTreeMap<_, _>>())
    };
    let by_exit = by("exit", "")?;
    assert!(by_exit.values().any(|status| status == "killed"), "{by_exit:?}");
    assert_eq!(by("stdout", "print")?, by_exit);
    assert_eq!(by("files:*.out", "write")?, by_exit);
    assert!(!program.directory.join("verdict.out").exists(), "it runs in a copy");
    Ok(())
}

/// Mutants of a result that this decided about.
fn decided_by(result: &Value, what: &str) -> BTreeMap<(String, String), String> {
    let of = mutants(result).into_iter().filter(|(_, mutant)| mutant["decided_by"] == what);
    of.map(|(key, mutant)| (key, mutant["status"].as_str().unwrap_or_default().to_owned())).collect()
}

fn kernel_notes(result: &Value) -> String {
    result["kernels"].as_array().into_iter().flatten().map(|kernel| kernel["notes"].to_string()).collect()
}

#[test]
fn launches_decide_what_processes_would() -> TestResult {
    let program = verdict()?;
    let flags = ["-j", "2", "--operators", "ASR,LCR"];
    let by_launches = program.mutants(&flags, &[])?;
    let by_processes = program.mutants(&[&["--no-replay"][..], &flags].concat(), &[])?;
    let only = |result: &Value| -> BTreeMap<_, _> {
        statuses(result).into_iter().map(|(key, (status, _))| (key, status)).collect()
    };
    assert_eq!(only(&by_launches), only(&by_processes));
    let decided = decided_by(&by_launches, "launches");
    assert!(!decided.is_empty() && decided.values().all(|status| status == "survived"), "{decided:?}");
    assert!(decided_by(&by_processes, "launches").is_empty());
    let count = |result: &Value, key: &str| -> u64 {
        result["kernels"].as_array().into_iter().flatten().filter_map(|kernel| kernel["timing"][key].as_u64()).sum()
    };
    assert_eq!(count(&by_launches, "by_launches"), decided.len() as u64);
    assert_eq!(count(&by_launches, "pairs") + count(&by_launches, "by_launches"), count(&by_processes, "pairs"));
    assert_eq!(count(&by_launches, "pairs"), decided_by(&by_launches, "process").len() as u64);
    assert!(by_launches["notes"].to_string().contains("survive without one"), "{}", by_launches["notes"]);
    Ok(())
}

#[test]
fn where_launches_do_not_say_enough_processes_decide() -> TestResult {
    let program = verdict()?;
    let flags = ["-j", "2", "--operators", "ASR", "--kernel", "smooth"];
    let whole = decided_by(&program.mutants(&flags, &[])?, "launches");
    // What an element that is not written holds is a matter of chance.
    let raw = decided_by(&program.mutants(&flags, &["raw"])?, "launches");
    assert!(raw.len() < whole.len() && raw.keys().all(|key| whole.contains_key(key)), "{raw:?} {whole:?}");
    let incomplete = program.mutants(&[&["--max-bytes", "1"][..], &flags].concat(), &[])?;
    assert!(decided_by(&incomplete, "launches").is_empty());
    let notes = kernel_notes(&incomplete);
    assert!(notes.contains("1 of its launches were not captured"), "{notes}");
    for (name, kernel, why) in
        [("printing", "announce", "it prints"), ("program_variable", "deposit", "variables of its program")]
    {
        let program = Program::of(name)?;
        if program.native(&program.directory)?.status.code() != Some(0) {
            continue;
        }
        let result = program.mutants(&["-j", "2", "--sample", "3", "--kernel", kernel], &[])?;
        assert!(decided_by(&result, "launches").is_empty());
        assert!(kernel_notes(&result).contains(why), "{}", kernel_notes(&result));
    }
    Ok(())
}

#[test]
fn a_kernel_that_does_something_else_when_woven_has_no_mutants() -> TestResult {
    let program = Program::of("own_compiler")?;
    let native = String::from_utf8(program.native(&program.directory)?.stdout)?;
    let output = program.mutate(&["-j", "2", "--sample", "4"], &[])?;
    let text = fs::read_to_string(program.folder.path().join("mutate.json"))?;
    let result: Value = serde_json::from_str(&text)?;
    let names: Vec<&Value> =
        result["kernels"].as_array().into_iter().flatten().map(|kernel| &kernel["kernel"]).collect();
    if native.trim_end() == "own_compiler: 22" {
        assert_eq!((names.len(), output.status.code()), (2, Some(0)));
        return Ok(());
    }
    assert_eq!((names, output.status.code()), (vec![&json!("double_up")], Some(1)));
    assert_eq!(result["left_out"][0]["reason"], "differs-when-woven");
    assert_eq!(result["failed"], json!([]));
    Ok(())
}

#[test]
fn processes_after_the_first_build_no_module() -> TestResult {
    let program = verdict()?;
    let flags = ["--no-replay", "--kernel", "mark", "--operators", "ROR"];
    let expected = program.mutants(&flags, &[])?;
    // Without its SPIR-V, a module can only come from what the first process has kept.
    let script = |of_binary: &str| -> TestResult<Value> {
        let text = format!(
            "for binary in \"$KASSAY_SPOOL\"/woven/*.bin; do [ -f \"$binary\" ] && {of_binary}; done; exec \"$0\""
        );
        let path = program.path.to_str().ok_or("no path")?;
        let output = program.folder.path().join("mutate.json");
        let status = kassay()
            .args(["mutate", "--quiet", "-o"])
            .arg(&output)
            .args(flags)
            .args(["--", "sh", "-c", &text, path])
            .current_dir(&program.directory)
            .status()?;
        assert!(status.success());
        Ok(serde_json::from_str(&fs::read_to_string(output)?)?)
    };
    let kept = script("rm -f \"${binary%.spv.*}.spv\"")?;
    assert_eq!(statuses(&kept), statuses(&expected));
    let damaged = script("echo damaged > \"$binary\"")?;
    assert_eq!(statuses(&damaged), statuses(&expected));
    assert!(statuses(&expected).values().any(|(status, _)| status == "killed"));
    Ok(())
}

#[test]
fn a_finished_result_is_resumed_at_once() -> TestResult {
    let program = verdict()?;
    let flags = ["--operators", "ROR", "--kernel", "mark", "--sample", "2"];
    let mark = program.directory.join("runs");
    let text = format!("echo run >> {}; exec \"$0\"", mark.display());
    let run = |more: &[&str]| -> TestResult<Output> {
        let mut command = kassay();
        command.args(["mutate", "-o"]).arg(program.folder.path().join("mutate.json")).args(flags).args(more);
        command.args(["--", "sh", "-c", &text]).arg(&program.path).current_dir(&program.directory);
        Ok(command.output()?)
    };
    let first = run(&[])?;
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let result = fs::read_to_string(program.folder.path().join("mutate.json"))?;
    let runs = fs::read_to_string(&mark)?;
    let again = run(&["--resume"])?;
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(fs::read_to_string(program.folder.path().join("mutate.json"))?, result);
    assert_eq!(fs::read_to_string(&mark)?, runs, "the program ran again");
    let other = run(&["--resume", "--timeout", "5"])?;
    let error = String::from_utf8(other.stderr)?;
    assert_eq!(other.status.code(), Some(2), "{error}");
    assert!(error.contains("another run"), "{error}");
    let text = fs::read_to_string(program.directory.join("verdict.cl"))?;
    fs::write(program.directory.join("verdict.cl"), text + "\n")?;
    let changed = run(&["--resume"])?;
    let error = String::from_utf8(changed.stderr)?;
    assert_eq!(changed.status.code(), Some(2), "{error}");
    assert!(error.contains("verdict.cl is not what it was"), "{error}");
    Ok(())
}

#[test]
fn captured_outputs_notice_what_the_program_does_not() -> TestResult {
    let program = verdict()?;
    let flags = ["--kernel", "smooth", "--operators", "ROR"];
    let by_exit = statuses(&program.mutants(&["-j", "2", flags[0], flags[1], flags[2], flags[3]], &[])?);
    let keep = program.folder.path().join("captured");
    let keep = keep.to_str().ok_or("no path")?;
    let result = program.mutants(&[&["--oracle", "outputs", "--keep", keep][..], &flags].concat(), &[])?;
    let by_outputs = statuses(&result);
    assert!(Path::new(result["kernels"][0]["suite"].as_str().ok_or("no suite")?).is_file());
    let detected = |all: &BTreeMap<_, (String, Value)>| {
        let is = |status: &str| ["killed", "timeout", "runtime-error"].contains(&status);
        all.values().filter(|(status, _)| is(status)).count()
    };
    assert_eq!(by_outputs.len(), by_exit.len());
    assert!(detected(&by_outputs) > detected(&by_exit), "{by_outputs:?} {by_exit:?}");
    let error = program.refused(&["--oracle", "outputs", "--resume"], &[])?;
    assert!(error.contains("cannot be resumed"), "{error}");
    Ok(())
}

#[test]
fn programs_without_a_stable_verdict_are_refused() -> TestResult {
    let program = verdict()?;
    let error = program.refused(&["--oracle", "stdout"], &["pid"])?;
    assert!(error.contains("do not agree") && error.contains("line 1") && error.contains("--oracle exit"), "{error}");
    let error = program.refused(&["--oracle", "files:*.none"], &[])?;
    assert!(error.contains("no file") && error.contains("help:"), "{error}");
    fs::remove_file(program.directory.join("verdict.cl"))?;
    let error = program.refused(&[], &[])?;
    assert!(error.contains("exit code 1") && error.contains("cannot open verdict.cl"), "{error}");
    Ok(())
}

#[test]
fn an_interrupted_run_is_resumed() -> TestResult {
    let program = verdict()?;
    let flags = ["--operators", "ROR"];
    let whole = program.mutants(&flags, &[])?;
    let result = program.folder.path().join("mutate.json");
    fs::remove_file(&result)?;
    let journal = program.folder.path().join("mutate.json.journal.jsonl");
    let mut interrupted = program.mutation(&flags, &[]).stderr(Stdio::null()).spawn()?;
    // Mutants with a fault stay runtime errors, whatever the program does.
    let noticed = "\"end\":\"different\",\"fault\":0";
    let has_noticed = |path: &Path| fs::read_to_string(path).unwrap_or_default().contains(noticed);
    while !has_noticed(&journal) && interrupted.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupted.kill()?;
    interrupted.wait()?;
    assert!(has_noticed(&journal) && !result.exists());
    // An entry that says the opposite shows that it is used.
    let text = fs::read_to_string(&journal)?;
    let changed = text.replace(noticed, "\"end\":\"same\",\"fault\":0");
    let killed = text.matches(noticed).count() as u64;
    fs::write(&journal, &changed)?;
    let other = program.refused(&["--operators", "ROR", "--resume", "--timeout", "5"], &[])?;
    assert!(other.contains("another run"), "{other}");
    let resumed = program.mutants(&["--operators", "ROR", "--resume"], &[])?;
    let number = |result: &Value, key: &str| result["total"][key].as_u64().unwrap_or(0);
    assert_eq!(number(&resumed, "total"), number(&whole, "total"));
    assert_eq!(number(&resumed, "killed") + killed, number(&whole, "killed"));
    assert!(killed > 0 && !journal.exists());
    Ok(())
}

#[test]
fn kernels_that_share_variables_run_woven_together() -> TestResult {
    let program = Program::of("program_variable")?;
    if program.native(&program.directory)?.status.code() == Some(77) {
        return Ok(());
    }
    let result = program.mutants(&["-j", "2", "--sample", "12", "--kernel", "deposit"], &[])?;
    assert_eq!(result["total"]["total"], 12);
    assert!(result["total"]["killed"].as_u64() > Some(0), "{}", result["total"]);
    Ok(())
}

#[test]
fn wrong_calls_are_refused_before_the_program_runs() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mark = folder.path().join("ran");
    let touch = mark.to_str().unwrap_or_default();
    for (arguments, what) in [
        (vec![], "SUITE"),
        (vec!["suite.toml", "--", "touch", touch], "cannot be used with"),
        (vec!["suite.toml", "--as-gpu"], "--as-gpu"),
        (vec!["suite.toml", "--oracle", "exit"], "--oracle"),
        (vec!["--order", "2", "--", "touch", touch], "--order"),
        (vec!["--device", "sim", "--", "touch", touch], "--device"),
        (vec!["--oracle", "files", "--", "touch", touch], "files:GLOB"),
        (vec!["--operators", "XYZ", "--", "touch", touch], "XYZ"),
        (vec!["--resume", "--", "touch", touch], "-o"),
    ] {
        let output = kassay().arg("mutate").args(&arguments).current_dir(folder.path()).output()?;
        let error = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(what), "{arguments:?}: {error}");
        assert!(!mark.exists());
    }
    let output = kassay().args(["mutate", "--", "sh", "-c", "exit 4"]).output()?;
    assert_eq!(output.status.code(), Some(3));
    Ok(())
}
