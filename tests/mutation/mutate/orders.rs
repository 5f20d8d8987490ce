//! Checks second-order mutants.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bench::{Bench, TestResult, mutants, suite, text};

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

#[test]
fn pairs_have_parts_a_status_and_a_breakdown() -> TestResult {
    let bench = Bench::new()?;
    let result = bench.mutate(&suite("saxpy_tail"), &["--order", "2", "--sample", "250", "--seed", "3"])?;
    let is_pair = |m: &&Value| m["parts"].is_array();
    let first: BTreeMap<&str, &Value> =
        mutants(&result).iter().filter(|m| !is_pair(m)).map(|m| (text(m, "id"), m)).collect();
    let pairs: Vec<&Value> = mutants(&result).iter().filter(is_pair).collect();
    assert_eq!(pairs.len(), 250);
    assert_eq!(first.len() as u64, number(&result["summary"], "total"));
    let (mut ignored, mut survived) = (0, 0);
    for pair in &pairs {
        let parts: Vec<&str> = pair["parts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let [a, b] = parts[..] else { return Err("not two parts".into()) };
        assert_eq!(text(pair, "id"), format!("{a} + {b}"));
        assert_eq!(text(pair, "operator"), format!("{}+{}", text(first[a], "operator"), text(first[b], "operator")));
        // A duplicate is not a part of a pair.
        assert!(first[a]["duplicate_of"].is_null() && first[b]["duplicate_of"].is_null());
        match text(pair, "status") {
            "ignored" => {
                ignored += 1;
                assert!(!text(pair, "reason").is_empty(), "{a} + {b}");
            }
            "survived" => survived += 1,
            "killed" | "timeout" | "runtime-error" => assert_eq!(pair["killed_by"].as_array().map(Vec::len), Some(1)),
            "no-coverage" => {}
            other => return Err(format!("{a} + {b} is {other}").into()),
        }
    }
    assert!(ignored > 0 && survived > 0, "{ignored} conflicts, {survived} survivors");
    let (sums, table) = (&result["pairs"], &result["second_order"]);
    assert_eq!((number(sums, "total"), number(sums, "ignored")), (250, ignored));
    assert_eq!(number(table, "pairs"), 250 - ignored);
    let by = ["by_two_equivalent", "by_two_survived", "by_equivalent_and_survived", "by_one_equivalent_or_survived"];
    let kinds: u64 = by.iter().chain(&["others"]).map(|key| number(table, key)).sum();
    assert_eq!(number(table, "survived"), kinds);
    let undetected: u64 = ["survived", "undecided", "no_coverage", "equivalent"].iter().map(|k| number(sums, k)).sum();
    assert_eq!(number(table, "survived"), undetected);
    Ok(())
}

/// The solver proves one mutant to be equivalent while the tests run on it: its row is as if it had not run.
#[test]
fn a_mutant_of_all_pairs_that_is_proved_equivalent_shows_no_runs() -> TestResult {
    let bench = Bench::new()?;
    let of = ["--order", "2", "--operators", "ROR", "--device", "sim", "--full-matrix"];
    let result = bench.mutate(&suite("knapsack_dp"), &of)?;
    let (pairs, first): (Vec<&Value>, Vec<&Value>) = mutants(&result).iter().partition(|m| m["parts"].is_array());
    let [proved] = first.iter().filter(|m| text(m, "reason").contains("Z3")).collect::<Vec<_>>()[..] else {
        return Err("one mutant was to be proved equivalent".into());
    };
    assert_eq!((text(proved, "status"), text(proved, "replacement")), ("equivalent", "<="));
    assert!(proved["killed_by"].as_array().is_some_and(Vec::is_empty), "{proved}");
    assert!(proved["covered_by"].as_array().is_some_and(Vec::is_empty), "{proved}");
    let distinct = first.iter().filter(|m| m["duplicate_of"].is_null()).count();
    assert_eq!(pairs.len(), distinct * (distinct - 1) / 2);
    let with = |pair: &&&Value| pair["parts"].as_array().into_iter().flatten().any(|part| part == &proved["id"]);
    assert_eq!(pairs.iter().filter(with).count(), distinct - 1);
    let alone = |id: &Value| first.iter().find(|m| m["id"] == *id).map(|m| &m["killed_by"]);
    for pair in pairs.iter().filter(with) {
        let other = pair["parts"].as_array().into_iter().flatten().find(|part| *part != &proved["id"]);
        let is_ignored = text(pair, "status") == "ignored";
        assert!(is_ignored || other.and_then(alone) == Some(&pair["killed_by"]), "{pair}");
    }
    Ok(())
}
