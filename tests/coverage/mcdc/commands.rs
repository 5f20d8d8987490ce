//! Checks MC/DC in the commands beside `cover`'s own result: launches that end early, generated suites, wrong flags.

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, json, run};

#[test]
fn launches_that_fault_keep_their_vectors() -> TestResult {
    let folder = tempfile::tempdir()?;
    let kernel = "kernel void k(global int *out, global const int *x) {
    const int i = get_global_id(0);
    if (x[i] > 0 && x[i] < 5)
        out[i] = 1;
    out[i + (i == 3 ? 100000 : 0)] += 2;
    if (x[i] > 7 || x[i] < -7)
        out[i] = 3;
}
";
    std::fs::write(folder.path().join("k.cl"), kernel)?;
    let suite = folder.path().join("suite.toml");
    std::fs::write(
        &suite,
        "kernel = \"k.cl\"\n[[test]]\nname = \"t\"\nglobal = [4]\nlocal = [4]\n\
         args = { out = { fill = 0, len = 4 }, x = { values = [3, 9, -1, 0] } }\n",
    )?;
    let result = json(&["cover", at(&suite), "--device", "sim", "--mcdc", "--quiet"], 1)?;
    assert_eq!(result["tests"][0]["status"], "faulted");
    let first = &result["mcdc"]["decisions"][0];
    let executed: Vec<&Value> =
        first["vectors"].as_array().ok_or("vectors")?.iter().filter(|v| v["executed"] == true).collect();
    let letters: Vec<&str> = executed.iter().filter_map(|v| v["values"].as_str()).collect();
    assert_eq!(letters, ["TT", "TF", "F-"]);
    assert!(result["coverage"]["mcdc"]["covered"].as_u64() >= Some(2), "{}", result["coverage"]);
    Ok(())
}

#[test]
fn generated_suites_show_conditions_or_prove_that_vectors_cannot_be() -> TestResult {
    let folder = tempfile::tempdir()?;
    let kernel = folder.path().join("k.cl");
    std::fs::write(
        &kernel,
        "kernel void k(global int *out, int a, int b, int c) {
    if (a > 3 && (b == 1717 || c < -5))
        out[0] = 1;
    const int x = a > 30 && (a > 10 || b == 2);
    out[1] = x;
}
",
    )?;
    let made = folder.path().join("made");
    let args = ["generate", at(&kernel), "-o", at(&made), "--goal", "mcdc", "--max-execs", "4000", "--quiet"];
    let result = json(&args, 0)?;
    let goals = result["goals"].as_array().ok_or("goals")?;
    let of = |line: u64| -> Vec<(&str, &str)> {
        let is_it = |g: &&Value| g["kind"] == "decision" && g["line"] == line;
        goals.iter().filter(is_it).filter_map(|g| Some((g["outcome"].as_str()?, g["status"].as_str()?))).collect()
    };
    assert_eq!(of(2), [("TT-", "covered"), ("TFT", "covered"), ("TFF", "covered"), ("F--", "covered")]);
    assert_eq!(of(4), [("TT-", "covered"), ("TFT", "infeasible"), ("TFF", "infeasible"), ("F--", "covered")]);
    assert!(goals.iter().any(|g| g["kind"] == "branch"), "branches remain goals");
    assert_eq!(result["coverage"]["mcdc"], serde_json::json!({ "covered": 4, "total": 6 }));
    let suite = made.join("suite.toml");
    let covered = json(&["cover", at(&suite), "--device", "sim", "--mcdc", "--quiet"], 0)?;
    assert_eq!(covered["coverage"], result["coverage"]);
    // Without the goal, neither goals nor the metric are there.
    let plain = folder.path().join("plain");
    let result = json(&["generate", at(&kernel), "-o", at(&plain), "--max-execs", "50", "--no-smt", "--quiet"], 0)?;
    assert_eq!(result["coverage"].get("mcdc"), None);
    assert!(result["goals"].as_array().ok_or("goals")?.iter().all(|g| g["kind"] == "branch"));
    Ok(())
}

#[test]
fn constant_operands_are_no_conditions_and_take_away_effects() -> TestResult {
    let folder = tempfile::tempdir()?;
    let kernel = "kernel void k(global int *out, int a, int b) {
    if (a && b && 1)
        out[0] = 1;
    out[1] = a && b && 0;
    out[2] = a && b && 1;
    out[3] = a && 1;
}
";
    std::fs::write(folder.path().join("k.cl"), kernel)?;
    let suite = folder.path().join("suite.toml");
    std::fs::write(
        &suite,
        "kernel = \"k.cl\"\n[[test]]\nname = \"t\"\nglobal = [1]\n\
         args = { out = { fill = 0, len = 4 }, a = 1, b = 1 }\n\
         [[test]]\nname = \"u\"\nglobal = [1]\n\
         args = { out = { fill = 0, len = 4 }, a = 0, b = 1 }\n",
    )?;
    let result = json(&["cover", at(&suite), "--device", "sim", "--mcdc", "--quiet"], 0)?;
    assert_eq!(result["coverage"]["mcdc"], serde_json::json!({ "covered": 2, "total": 4 }), "{}", result["mcdc"]);
    let decisions = result["mcdc"]["decisions"].as_array().ok_or("decisions")?;
    let conditions = |line: u64| -> Vec<(Option<bool>, Option<&str>)> {
        let of = decisions.iter().filter(|d| d["line"] == line).filter_map(|d| d["conditions"].as_array());
        of.flatten().map(|c| (c["covered"].as_bool(), c["reason"].as_str())).collect()
    };
    let without = Some("its value never changes the decision's result");
    assert_eq!(conditions(2), [(Some(true), None), (Some(false), None)]);
    assert_eq!(conditions(4), [(Some(false), without), (Some(false), without)]);
    assert_eq!(conditions(5), [(Some(true), None), (Some(false), None)]);
    assert_eq!(conditions(6), []);
    Ok(())
}

#[test]
fn a_wrong_criterion_is_refused() -> TestResult {
    let (_, err, code) = run(&["cover", "suite.toml", "--mcdc", "both"])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("masking") && err.contains("unique"), "{err}");
    Ok(())
}
