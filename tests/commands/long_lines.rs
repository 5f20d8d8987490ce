//! Lines that are longer than LLVM's debug locations have columns: what is lost of them is told with its number.

use std::path::Path;

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, json};

/// A kernel on one line, with something between its first and its other statements.
fn write(folder: &Path, name: &str, between: &str) -> TestResult<[std::path::PathBuf; 2]> {
    let text = format!(
        "kernel void k(global const int *in, global int *out, int n) {{ int s = 1; if (n > 1) s += 1;{between} \
         int i = get_global_id(0), j = get_global_id(0); if (s > 1 && n > 3) s = s * 2; out[i] = in[j] + s; }}\n"
    );
    let (kernel, suite) = (folder.join(format!("{name}.cl")), folder.join(format!("{name}.toml")));
    std::fs::write(&kernel, text)?;
    std::fs::write(
        &suite,
        format!(
            "kernel = \"{name}.cl\"\n[[test]]\nname = \"t\"\nglobal = [4]\n[test.args]\nn = 4\nin = [1, 2, 3, 4]\n\
             out = {{ fill = 0, len = 4 }}\n"
        ),
    )?;
    Ok([kernel, suite])
}

/// The notes about columns.
fn notes(result: &Value) -> Vec<&str> {
    let all = result["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    all.filter(|note| note.contains("columns")).collect()
}

const SITES: &str = "LLVM records no columns beyond 65535: of what is further right on its line, 3 sites are told at column 0, and \
                     3 statements are left out; break the line to have them";

#[test]
fn what_is_too_far_to_the_right_is_told_with_its_number() -> TestResult {
    let folder = tempfile::tempdir()?;
    let [kernel, suite] = write(folder.path(), "long", &" ".repeat(66_000))?;
    let [_, broken] = write(folder.path(), "broken", &"\n".repeat(66_000))?;
    let inspected = json(&["inspect", at(&kernel)], 0)?;
    let told = notes(&inspected);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.contains(&SITES), "{told:?}");
    let covered = json(&["cover", at(&suite), "--device", "sim"], 0)?;
    assert_eq!(notes(&covered), [SITES]);
    let statements = |result: &Value| result["coverage"]["statement"]["total"].as_u64().ok_or("no statements");
    let all = json(&["cover", at(&broken), "--device", "sim"], 0)?;
    assert_eq!((notes(&all), statements(&all)? - statements(&covered)?), (Vec::new(), 3));
    // Branches and conditions are the same.
    assert_eq!((&covered["coverage"]["branch"], &covered["coverage"]["condition"]), {
        (&all["coverage"]["branch"], &all["coverage"]["condition"])
    });
    Ok(())
}

#[test]
fn mutants_there_are_no_other_places_and_what_is_not_mutated_is_counted() -> TestResult {
    let folder = tempfile::tempdir()?;
    let [kernel, suite] = write(folder.path(), "long", &" ".repeat(66_000))?;
    let [_, broken] = write(folder.path(), "broken", "\n")?;
    let mutated = json(&["mutate", at(&suite), "--device", "sim"], 0)?;
    let told = notes(&mutated);
    let [note] = told[..] else { panic!("{told:?}") };
    // Two comparisons and their numbers, `&&`, two assignments and their statements, `*` and its number, `+`, two numbers of dimensions.
    assert!(note.contains(": 14 places are not mutated (by "), "{note}");
    let all = json(&["mutate", at(&broken), "--device", "sim"], 0)?;
    assert!(notes(&all).is_empty());
    let mutants = |result: &'_ Value| result["mutants"].as_array().cloned().unwrap_or_default();
    let of = |result: &Value, operator: &str| -> Vec<Value> {
        mutants(result).into_iter().filter(|mutant| mutant["operator"] == operator).collect()
    };
    // Each call is one of its own; where it is on the line is not known.
    let calls = of(&mutated, "GIR");
    assert_eq!(calls.len(), of(&all, "GIR").len());
    let at_no_column = |mutant: &Value| {
        let location = &mutant["location"];
        location["start"]["column"] == 0 && location["end"]["column"] == 0
    };
    assert!(calls.iter().all(at_no_column), "{calls:#?}");
    // No reason speaks of what clang did not do.
    let (out, _, _) = crate::common::program::run(&["inspect", at(&kernel), "-v"])?;
    assert!(!out.contains("clang made no instruction") && !out.contains("clang folds"), "{out}");
    Ok(())
}
