//! Compares a JSON result with the part of it that a page shows.
//!
//! An object has at least the keys that are shown; `null` also stands for a key that is not there. A list has exactly
//! the elements that are shown, but for `"..."`, which stands for any number of them. In a string `[..]` stands for any
//! part. A result has to be valid against the schema that is published for it, too.

use serde_json::Value;

use super::output::matches;
use crate::common::program::valid;

/// Returns what differs between the output of a command and the part that is shown, if anything does.
pub fn difference(actual: &str, shown: &str) -> Option<String> {
    let whole: Value = match serde_json::from_str(actual) {
        Ok(whole) => whole,
        Err(error) => return Some(format!("this is no JSON: {error}\n{actual}")),
    };
    let part: Value = match serde_json::from_str(shown) {
        Ok(part) => part,
        Err(error) => return Some(format!("the page shows no JSON: {error}\n{shown}")),
    };
    let mut differences = Vec::new();
    compare(&whole, &part, "", &mut differences);
    differences.extend(invalid(&whole));
    (!differences.is_empty()).then(|| differences.join("\n"))
}

/// Returns what the schema that a result names does not allow.
fn invalid(whole: &Value) -> Option<String> {
    let (command, _version) = whole["schema"].as_str()?.strip_prefix("kassay.")?.split_once('/')?;
    valid(whole, &format!("{command}.schema.json")).err().map(|error| error.to_string())
}

/// Lists where the part is not in the whole.
fn compare(whole: &Value, part: &Value, at: &str, differences: &mut Vec<String>) {
    match (whole, part) {
        (Value::Object(_), Value::Object(keys)) => {
            keys.iter().for_each(|(key, shown)| compare(&whole[key], shown, &format!("{at}/{key}"), differences));
        }
        (Value::Array(all), Value::Array(shown)) if shown.iter().any(is_gap) => {
            if !fits(all, shown) {
                differences.push(format!("{at}: not these, in this order, in {whole}"));
            }
        }
        (Value::Array(all), Value::Array(shown)) if all.len() == shown.len() => {
            let pairs = all.iter().zip(shown).enumerate();
            pairs.for_each(|(n, (one, shown))| compare(one, shown, &format!("{at}/{n}"), differences));
        }
        (Value::String(text), Value::String(pattern)) if matches(text, pattern) => {}
        _ if whole == part => {}
        _ => differences.push(format!("{at}: {whole}, but the page shows {part}")),
    }
}

fn is_gap(element: &Value) -> bool {
    element == "..."
}

/// Returns whether elements are those that are shown, of which some are gaps.
fn fits(all: &[Value], shown: &[Value]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return all.is_empty() };
    if is_gap(first) {
        return (0..=all.len()).any(|skipped| fits(&all[skipped..], rest));
    }
    all.split_first().is_some_and(|(one, others)| {
        let mut differences = Vec::new();
        compare(one, first, "", &mut differences);
        differences.is_empty() && fits(others, rest)
    })
}

#[test]
fn a_part_is_in_the_whole() {
    let whole = r#"{ "a": 1, "b": ["x", { "c": "one two three" }, "y"], "d": { "e": null, "f": true } }"#;
    for part in [
        r#"{ }"#,
        r#"{ "a": 1, "d": { "f": true } }"#,
        r#"{ "none": null, "d": { "e": null } }"#,
        r#"{ "b": ["x", { }, "y"] }"#,
        r#"{ "b": ["...", { "c": "one[..]three" }, "..."] }"#,
        r#"{ "b": ["...", "x", "...", "y", "..."] }"#,
    ] {
        assert_eq!(difference(whole, part), None, "{part}");
    }
    for part in [
        r#"{ "a": 2 }"#,
        r#"{ "g": 1 }"#,
        r#"{ "a": null }"#,
        r#"{ "b": ["x", "y"] }"#,
        r#"{ "b": ["...", { "c": "one" }, "..."] }"#,
        r#"{ "b": ["...", "y", "...", "x", "..."] }"#,
        r#"{ "b": ["...", "y", "y"] }"#,
        r#"[]"#,
        r#"no JSON"#,
    ] {
        assert!(difference(whole, part).is_some(), "{part}");
    }
    assert!(difference("no JSON", "{ }").is_some());
    assert!(difference(r#"{ "schema": "kassay.run/1" }"#, "{ }").is_some(), "it lacks what its schema requires");
}
