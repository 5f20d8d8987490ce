//! Accessors of results of `kassay mutate`, and comparisons of two.

use std::collections::BTreeMap;

use serde_json::Value;

pub use crate::common::TestResult;
pub use crate::common::bench::Bench;
pub use crate::common::program::read as result;
use crate::common::testdata;

/// Returns the path of the suite of a kernel of `testdata/`.
pub fn suite(kernel: &str) -> String {
    testdata::suite(kernel).to_string_lossy().into_owned()
}

/// Returns the text at a key; empty if there is none.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

pub fn mutants(result: &Value) -> &[Value] {
    result["mutants"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the statuses by id.
pub fn statuses(result: &Value) -> BTreeMap<&str, &str> {
    mutants(result).iter().map(|m| (text(m, "id"), text(m, "status"))).collect()
}

/// Mutants whose work-items race: they are killed every time, but their outputs vary.
const RACING: [&str; 1] = [
    // Its loop counts down instead of up, into the elements of other work-items.
    "half_math.ARS@half_math.cl:29:44:--",
];

/// Returns a mutant's reason; for [`RACING`] mutants without the values that differed.
pub fn reason(mutant: &Value) -> &str {
    const DIFFERS: &str = " differs at ";
    let whole = text(mutant, "reason");
    let told = whole.find(DIFFERS).filter(|_| RACING.contains(&text(mutant, "id")));
    told.map_or(whole, |at| &whole[..at + DIFFERS.len()])
}

/// Returns a result without the parts that may differ between runs with the same verdicts.
pub fn lasting(result: &Value, also: &[&str]) -> Value {
    let mut result = result.clone();
    for mutant in result["mutants"].as_array_mut().into_iter().flatten() {
        let reason = reason(mutant).to_owned();
        if !reason.is_empty() {
            mutant["reason"] = Value::from(reason);
        }
    }
    if let Some(keys) = result.as_object_mut() {
        for key in ["elapsed_s", "timing"].iter().chain(also) {
            keys.shift_remove(*key);
        }
    }
    result
}

/// Describes where two results differ; empty if nowhere.
pub fn differences(a: &Value, b: &Value, at: &str) -> Vec<String> {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let mut keys: Vec<&String> = x.keys().chain(y.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter().flat_map(|k| differences(&a[k], &b[k], &format!("{at}/{k}"))).collect()
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            x.iter().zip(y).enumerate().flat_map(|(i, (x, y))| differences(x, y, &format!("{at}/{i}"))).collect()
        }
        _ if a == b => Vec::new(),
        _ => vec![format!("{at}: {a} and {b}")],
    }
}

/// Fails with the differences, if there are any.
pub fn same(a: &Value, b: &Value, what: &str) -> TestResult {
    match differences(a, b, "").as_slice() {
        [] => Ok(()),
        some => Err(format!("{what}: {}", some.join("\n")).into()),
    }
}
