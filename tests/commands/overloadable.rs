//! Checks the names that overloadable functions have in results.

use crate::common::TestResult;
use crate::common::program::{at, json, run};

#[test]
fn overloadable_functions_have_the_names_of_the_source() -> TestResult {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("k.cl");
    let kernel = "#define OVERLOADABLE __attribute__((overloadable))
OVERLOADABLE int first(global int *p) { return p[0] > 0 ? 1 : 2; }
OVERLOADABLE int first(local int *p) { return p[0] > 0 ? 1 : 2; }
OVERLOADABLE int only(float x) { return x > 0 ? 1 : 2; }
OVERLOADABLE int some(int x) { return x > 0 ? 1 : 2; }
int some(float x) { return x > 0 ? 1 : 2; }
kernel void k(global int *o) {
    local int l;
    l = 1;
    o[0] = first(o) + first(&l) + only(1.0f) + some(3) + some(2.0f);
}
";
    std::fs::write(&file, kernel)?;
    let (shown, err, code) = run(&["inspect", at(&file)])?;
    assert_eq!(code, 0, "{err}");
    for (name, line) in
        [("first(global int*)", 2), ("first(local int*)", 3), ("only", 4), ("some(int)", 5), ("some", 6)]
    {
        let at = shown.find(&format!("sites in {name}\n")).ok_or_else(|| format!("no {name}: {shown}"))?;
        let sites: Vec<&str> = shown[at..].lines().skip(2).take(2).collect();
        // Statements need the function's syntax tree.
        let is_complete = sites[0].contains("branch") && sites[1].contains("statement  return");
        assert!(is_complete && sites.iter().all(|site| site.starts_with(&format!("    {line}:"))), "{sites:?}");
    }
    assert!(!shown.contains("_Z"), "{shown}");
    let result = json(&["inspect", at(&file)], 0)?;
    assert!(!result.to_string().contains("_Z"), "{result:#}");
    Ok(())
}
