//! Files of outcomes, written by hand: every status that they lead to, and what is refused.

use serde_json::Value;

use super::HostBench;
use crate::common::TestResult;
use crate::common::program::{json, run, valid};

/// saxpy_tail with the mutants of ROR, and files of outcomes of them.
struct Files {
    bench: HostBench,
    map: Value,
}

impl Files {
    fn new() -> TestResult<Files> {
        let bench = HostBench::without_host()?;
        let map = bench.lower("saxpy_tail", &["--mutants", "--operators", "ROR,CBR"])?;
        Ok(Files { bench, map })
    }

    /// The hash of the module, or of its reach module.
    fn hash(&self, reach: bool) -> &str {
        let module = &self.map["modules"][0];
        if reach { &module["reach"]["hash"] } else { &module["hash"] }.as_str().unwrap()
    }

    /// The numbers of mutants that have to run, and the number of all.
    fn numbers(&self) -> (Vec<u64>, u64) {
        let mutants = self.map["mutants"].as_array().unwrap();
        let distinct = mutants.iter().filter(|m| m["duplicate_of"].is_null() && m["equivalent"].is_null());
        (distinct.map(|m| m["number"].as_u64().unwrap()).collect(), mutants.len() as u64)
    }

    /// Writes a file of outcomes of the module: its first lines, then these.
    fn write(&self, name: &str, lines: &str) -> TestResult<&'static str> {
        let text = format!("kassay-outcomes 1\nmodule {}\n{lines}", self.hash(false));
        std::fs::write(self.bench.path(name), text)?;
        Ok(self.bench.at(name))
    }

    fn tally(&self, files: &[&str], code: i32) -> TestResult<Value> {
        let map = self.bench.at("saxpy_tail.json");
        let result = json(&[&["tally", map, "--outcomes"], files].concat(), code)?;
        valid(&result, "mutate.schema.json")?;
        Ok(result)
    }

    /// The row of the mutant with a number in a result.
    fn mutant<'r>(&self, result: &'r Value, number: u64) -> &'r Value {
        let listed = self.map["mutants"].as_array().unwrap().iter().find(|m| m["number"] == number).unwrap();
        result["mutants"].as_array().unwrap().iter().find(|m| m["id"] == listed["id"]).unwrap()
    }
}

#[test]
fn outcomes_lead_to_the_statuses_of_mutate() -> TestResult {
    let files = Files::new()?;
    let (numbers, _) = files.numbers();
    assert!(numbers.len() >= 8, "{numbers:?}");
    let place = files.map["modules"][0]["guarded"][0]["number"].as_u64().unwrap();
    // By mutant: lines of the tests `one` and `t w o`, the status, the tests that detect it.
    let cases: [(&[&str], &str, &[&str]); 8] = [
        (&["same 0 one", "different 0 t w o"], "killed", &["t w o"]),
        (&["same 0 one", "same 0 t w o"], "survived", &[]),
        (&["same 0 one", "different 0 one", "same 0 t w o"], "undecided", &[]),
        (&["different 1 one"], "timeout", &["one"]),
        (&["different 2 one", "different 0 t w o"], "runtime-error", &["one", "t w o"]),
        (&["crash - one"], "runtime-error", &["one"]),
        (&["refused - one", "refused - t w o"], "ignored", &[]),
        (&["same 0 one"], "pending", &[]),
    ];
    let mut lines = "# by hand\n\n0 same 0 one\n0 same 0 t w o\n".to_owned();
    for (number, (runs, ..)) in numbers.iter().zip(&cases) {
        for run in *runs {
            // Faults have a place.
            let run = run.replace("different 2", &format!("different {}", place << 8 | 2));
            lines.push_str(&format!("{number} {run}\n"));
        }
    }
    let result = files.tally(&[files.write("a.txt", &lines)?], 0)?;
    for (number, (runs, status, killed_by)) in numbers.iter().zip(&cases) {
        let mutant = files.mutant(&result, *number);
        assert_eq!(mutant["status"], *status, "{runs:?}: {mutant}");
        assert_eq!(mutant["killed_by"], serde_json::json!(killed_by), "{runs:?}: {mutant}");
    }
    let at = &files.map["modules"][0]["guarded"][0];
    let reason = files.mutant(&result, numbers[4])["reason"].to_string();
    assert!(
        reason.contains(&format!("access out of bounds at {}:{}", at["file"].as_str().unwrap(), at["line"])),
        "{reason}"
    );
    assert!(files.mutant(&result, numbers[7])["reason"].to_string().contains("on test \\\"t w o\\\""), "{result}");
    let summary = &result["summary"];
    assert_eq!((&summary["killed"], &summary["runtime_error"], &summary["timeout"]), (&1.into(), &2.into(), &1.into()));
    // Detected: 4; besides, one survives and one is undecided.
    assert_eq!(summary["score"].as_f64(), Some(100.0 * 4.0 / 6.0));
    assert_eq!(result["options"]["full_matrix"], false);

    // The same lines in two files, as of two machines; the order of tests is that of the files.
    let (one, two): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| line.ends_with("one"));
    let joined = |lines: Vec<&str>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let (one, two) = (files.write("one.txt", &joined(one))?, files.write("two.txt", &joined(two))?);
    let both = files.tally(&[one, two], 0)?;
    for key in ["mutants", "summary", "tests", "configuration"] {
        assert_eq!(both[key], result[key], "{key}");
    }

    let fails = |files_of: &[&str], code: i32, part: &str| -> TestResult {
        let map = files.bench.at("saxpy_tail.json");
        let (_, err, found) = run(&[&["tally", map, "--quiet"], files_of].concat())?;
        assert_eq!(found, code, "{err}");
        assert!(err.contains(part), "{part}: {err}");
        Ok(())
    };
    fails(&["--fail-under", "70", "--outcomes", one, two], 1, "the mutation score is 66.7 %, below 70 %")?;
    fails(&["--fail-under", "60", "--outcomes", one, two], 0, "")?;
    fails(&["--fail-under", "branch=60", "--outcomes", one], 2, "tell no coverage")?;
    fails(&["--outcomes", one, one], 2, "named twice")
}

#[test]
fn reach_lines_tell_what_need_not_run() -> TestResult {
    let files = Files::new()?;
    let (numbers, all) = files.numbers();
    let bits = |by_mutant: &dyn Fn(u64) -> u32| -> String {
        let mut words = vec![0u32; all.div_ceil(16) as usize];
        (0..all).for_each(|n| words[n as usize / 16] |= by_mutant(n + 1) << (n % 16 * 2));
        words.iter().map(|word| format!("{word:08x}")).collect()
    };
    // The first mutant is infected, the second reached; the others are neither.
    let one = bits(&|number| if number == numbers[0] { 3 } else { u32::from(number == numbers[1]) });
    let lines = format!(
        "0 same 0 one\n{} same 0 one\nmodule {}\nreach {one} one\nmodule {}\n",
        numbers[0],
        files.hash(true),
        files.hash(false)
    );
    let result = files.tally(&[files.write("a.txt", &lines)?], 0)?;
    let status = |number: u64| files.mutant(&result, number)["status"].as_str().unwrap();
    assert_eq!((status(numbers[0]), status(numbers[1]), status(numbers[2])), ("survived", "survived", "no-coverage"));
    assert_eq!(files.mutant(&result, numbers[1])["covered_by"], serde_json::json!(["one"]));
    assert_eq!(files.mutant(&result, numbers[2])["covered_by"], serde_json::json!([]));
    assert_eq!((&result["timing"]["pairs"], &result["timing"]["pruned_pairs"]), (&1.into(), &1.into()));
    assert_eq!(result["options"]["full_matrix"], true);
    assert_eq!(result["summary"]["pending"], 0);

    // Lines that are OR-ed: another launch of the test infects the third.
    let two = bits(&|number| if number == numbers[2] { 3 } else { 0 });
    let more = format!("{lines}module {}\nreach {two} one\n", files.hash(true));
    let result = files.tally(&[files.write("b.txt", &more)?], 0)?;
    assert_eq!(files.mutant(&result, numbers[2])["status"], "pending");
    Ok(())
}

#[test]
fn a_test_that_the_original_does_not_pass_judges_nothing() -> TestResult {
    let files = Files::new()?;
    let number = files.numbers().0[0];
    let lines =
        format!("0 same 0 one\n0 different 0 one\n{number} different 0 one\n0 same 0 two\n{number} same 0 two\n");
    let result = files.tally(&[files.write("a.txt", &lines)?], 1)?;
    assert_eq!(files.mutant(&result, number)["status"], "survived");
    assert_eq!(files.mutant(&result, number)["covered_by"], serde_json::json!(["two"]));
    let tests: Vec<&str> = result["tests"].as_array().unwrap().iter().map(|t| t["status"].as_str().unwrap()).collect();
    assert_eq!(tests, ["dropped", "used"]);
    assert!(result["tests"][0]["reason"].to_string().contains("the original does not pass it"), "{result}");
    let result = files.tally(&[files.write("b.txt", "0 same 258 one\n")?], 1)?;
    assert!(result["notes"].to_string().contains("the original fails them all"), "{result}");
    Ok(())
}

#[test]
fn wrong_files_of_outcomes_are_refused_with_their_place() -> TestResult {
    let files = Files::new()?;
    let (_, all) = files.numbers();
    let (module, reach) = (files.hash(false), files.hash(true));
    let digits = 8 * all.div_ceil(16) as usize;
    let beyond = format!("{} same 0 one\n", all + 1);
    let many = format!("there is no mutant {}", all + 1);
    // What follows the line of the module, in line 3.
    let cases: [(&str, &[&str]); 13] = [
        ("one same 0 test\n", &[":3:1: `one` is no number of a mutant", "lines begin with"]),
        (&beyond, &[":3:1: ", &many, "0 is the original"]),
        ("0  equal 0 one\n", &[":3:4: `equal` is no result of a run", "results are same, different"]),
        ("0 same none one\n", &[":3:8: `none` is no fault", "decimal"]),
        ("0 same 9 one\n", &[":3:8: `9` is no fault"]),
        ("0 same\n", &[":3:7: the fault is missing", "NUMBER RESULT FAULT TEST"]),
        ("0 same 0\n", &[":3:9: the name of the test is missing"]),
        ("0 same 0 one", &[":3:13: the file ends within a line", "drop this line"]),
        ("module\n", &[":3:7: the hash of the module is missing"]),
        ("module 0123456789abcdef\n", &[":3:8: the map has no module with the hash `0123456789abcdef`", module]),
        ("reach 00000000 one\n", &[":3:1: a module with mutants does not tell which are reached"]),
        ("module 0 extra\n", &[":3:10: nothing follows the hash"]),
        ("1 same 0 one\n", &[":3:1: test `one` was not run on the original", "under number 0"]),
    ];
    let tally = |path: &str, parts: &[&str]| -> TestResult {
        let (_, err, code) = run(&["tally", files.bench.at("saxpy_tail.json"), "--outcomes", path])?;
        assert_eq!(code, 2, "{err}");
        parts.iter().for_each(|part| assert!(err.contains(part), "{part}: {err}"));
        assert!(err.contains("help: "), "{err}");
        Ok(())
    };
    for (lines, parts) in cases {
        tally(files.write("a.txt", lines)?, parts)?;
    }
    let of_reach = |line: &str| format!("module {reach}\n{line}\n");
    let short = of_reach(&format!("reach {} one", "0".repeat(digits - 1)));
    tally(files.write("a.txt", &short)?, &[":4:7: ", "digits are not those of"])?;
    let wrong = of_reach(&format!("reach 0x{} one", "0".repeat(digits - 2)));
    tally(files.write("a.txt", &wrong)?, &[":4:8: this is no hexadecimal digit"])?;
    tally(files.write("a.txt", &of_reach("1 same 0 one"))?, &[":4:1: the module named last has no mutants"])?;

    let path = files.bench.at("b.txt");
    for (text, part) in [
        ("", ":1:1: this is not a file of outcomes"),
        ("kassay-outcomes 2\n", ":1:1: this is not a file of outcomes that this kassay reads"),
        ("kassay-outcomes 1\n0 same 0 one\n", ":2:1: no line says which module"),
    ] {
        std::fs::write(path, text)?;
        tally(path, &[part])?;
    }
    tally(files.bench.at("none.txt"), &["cannot read"])?;
    files.bench.lower("saxpy_tail", &["--coverage"])?;
    tally(path, &["the map of a module with coverage, which has no mutants", "--mutants"])
}
