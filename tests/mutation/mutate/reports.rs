//! Checks the reports of a real run.

use serde_json::Value;

use super::bench::{Bench, TestResult, mutants, suite, text};
use crate::common::testdata::repository;

#[test]
fn reports_of_a_run_fit_the_schema_and_show_survivors() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("macro_mix");
    let finished = bench.run(&["mutate", &of, "-o", "r.json", "--sample", "60", "--seed", "2"])?;
    assert_eq!(finished.code, Some(0), "{}", finished.err);
    let result = super::bench::result(&bench.path("r.json"))?;
    let source = std::fs::read_to_string(of.replace("suite.toml", "macro_mix.cl"))?;
    let survivors: Vec<&Value> = mutants(&result)
        .iter()
        .filter(|m| {
            text(m, "status") == "survived" && m["duplicate_of"].is_null() && m["location"]["start"]["line"] != 0
        })
        .collect();
    assert!(!survivors.is_empty());
    for m in survivors {
        let line = m["location"]["start"]["line"].as_u64().unwrap_or_default() as usize;
        let shown = source.lines().nth(line - 1).map_or("", str::trim);
        assert!(finished.out.contains(shown), "`{shown}` is not shown for {}", text(m, "id"));
        assert!(finished.out.contains(text(m, "replacement")), "{}", text(m, "id"));
    }

    let finished = bench.run(&["report", "r.json", "-o", "r.stryker.json"])?;
    assert_eq!(finished.code, Some(0), "{}", finished.err);
    let report = super::bench::result(&bench.path("r.stryker.json"))?;
    let path = repository("tests/schemas/mutation-testing-report-schema.json");
    let validator = jsonschema::draft7::new(&super::bench::result(&path)?)?;
    let wrong: Vec<String> = validator.iter_errors(&report).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let files = report["files"].as_object().ok_or("no files")?;
    let listed: usize = files.values().map(|f| f["mutants"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(listed, mutants(&result).len());
    Ok(())
}
