//! Checks that texts of results stay texts in every format, and that other tools read what is written.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::formats::{results, sarif_results, write_all};
use crate::common::TestResult;
use crate::common::testdata::repository;

/// What a kernel's author may have put into names, messages and files.
const HOSTILE: &str = "\u{1b}[31m\0</details><script>alert(1)</script>|`*_[x](http://evil.example)\r\n::error file=x::%0A]]>&amp;\u{ffff}\"'=1+1 @me #1";

/// Adds [`HOSTILE`] to all texts that do not come from kassay itself.
fn poison(value: &mut Value) {
    const KEYS: &[&str] = &[
        "kernel",
        "source",
        "name",
        "reason",
        "message",
        "original",
        "replacement",
        "function",
        "variable",
        "file",
        "construct",
        "input",
        "error",
        "argument",
        "test",
        "id",
        "reproduction",
        "bound",
        "mutant",
        "site",
        "driver",
    ];
    match value {
        Value::Object(map) => {
            map.remove("texts");
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(text) if KEYS.contains(&key.as_str()) => text.push_str(HOSTILE),
                    Value::Array(list) if key == "notes" => list.push(HOSTILE.into()),
                    _ => poison(value),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(poison),
        _ => {}
    }
}

pub fn hostile_results() -> Vec<(&'static str, &'static str, Value)> {
    let mut results = results();
    results.iter_mut().for_each(|(_, _, result)| poison(result));
    results
}

#[test]
fn texts_stay_texts_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for file in write_all(&hostile_results(), folder.path()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        // Line breaks and tabs are the only control characters, and in CSV what was in the result.
        let is_bad = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        if !name.ends_with(".csv") {
            assert!(!text.contains(is_bad), "{name}: {text}");
        }
        match name.split_once('.').unwrap().1 {
            "md" => markdown(&text, &name),
            "github" => {
                assert!(text.lines().all(|line| line.starts_with("::") ^ line.starts_with("kassay: ")), "{text}");
                for line in text.lines().filter(|line| line.starts_with("::")) {
                    let properties = line.split("::").nth(1).unwrap();
                    let command = properties.split(' ').next().unwrap();
                    assert!(["error", "warning", "notice"].contains(&command), "{line}");
                }
            }
            "sarif" => assert!(!sarif_results(&text).is_empty() || name == "inspect.sarif"),
            "junit.xml" => {
                let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
                assert!(report.tests > 0);
                assert!(!text.contains(['\u{fffe}', '\u{ffff}']), "{name} is no XML");
            }
            "cobertura.xml" => {
                let mut reader = quick_xml::Reader::from_str(&text);
                while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
                assert!(!text.contains(['\u{fffe}', '\u{ffff}']));
            }
            "csv" => {
                let mut reader = csv::Reader::from_reader(text.as_bytes());
                assert!(reader.records().all(|row| row.is_ok()));
                assert!(text.contains("</script>|`*_[x]"), "values stand as they are");
            }
            "codequality.json" => assert!(serde_json::from_str::<Value>(&text).unwrap().is_array()),
            "lcov" => {}
            other => panic!("{other} is not looked at"),
        }
    }
}

/// Only the tags of the format itself are tags, and every row of a table has as many cells as its head.
fn markdown(text: &str, name: &str) {
    let mut rest = text.to_owned();
    for tag in ["<code>", "</code>", "<br>", "<details>", "</details>", "<summary>", "</summary>"] {
        rest = rest.replace(tag, "");
    }
    assert!(!rest.contains('<') && !rest.contains("](") && !rest.contains("http:"), "{name}: {rest}");
    let mut cells = 0;
    for line in text.lines() {
        let own = line.matches('|').count();
        if line.starts_with("| ") && cells > 0 {
            assert_eq!(own, cells, "{name}: {line}");
        }
        cells = if line.starts_with("| ") { own } else { 0 };
    }
}

/// `scripts/test-formats` installs the tools and sets the variable.
#[test]
#[ignore = "needs the tools that scripts/test-formats installs"]
fn other_tools_read_what_is_written() -> TestResult {
    let tools = std::env::var("KASSAY_FORMAT_TOOLS").map_err(|_| "scripts/test-formats runs this")?;
    let folder = tempfile::tempdir()?;
    for (name, results) in [("plain", results()), ("hostile", hostile_results())] {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder)?;
        write_all(&results, &folder);
        let script = repository("scripts/lib/read-formats.py");
        let done =
            Command::new(Path::new(&tools).join("venv/bin/python")).arg(script).arg(&tools).arg(&folder).output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = format!("{}{}", text(&done.stdout), text(&done.stderr));
        assert!(done.status.success(), "{name}: {said}");
        println!("{name}: {said}");
    }
    Ok(())
}
