//! Compares `testdata/mcdc_decisions` with its hand counts, from source and from modules without a syntax tree.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use kassay::result::Ratio;
use kassay::result::cover::CoverResult;
use kassay::result::mcdc::{Criterion, Mcdc, McdcDecision};
use serde::Deserialize;

use crate::common::TestResult;
use crate::common::program::{at, json, run};
use crate::common::testdata::{suite, testdata};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hand {
    decision: Vec<HandDecision>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandDecision {
    line: u32,
    /// If several are on the line.
    column: Option<u32>,
    construct: String,
    executed: Vec<String>,
    masking: Vec<usize>,
    unique: Vec<usize>,
    missing: BTreeMap<String, Vec<String>>,
}

fn cover(suite: &Path, criterion: &str, device: &str) -> TestResult<(CoverResult, Mcdc)> {
    let result = json(&["cover", at(suite), "--mcdc", criterion, "--device", device, "--repeats", "1", "--quiet"], 0)?;
    crate::common::program::valid(&result, "cover.schema.json")?;
    let result: CoverResult = serde_json::from_value(result)?;
    let mcdc = result.mcdc.clone().ok_or("no MC/DC")?;
    Ok((result, mcdc))
}

fn executed(decision: &McdcDecision) -> Vec<String> {
    let vectors = decision.vectors.iter().filter(|v| v.executed);
    vectors.map(|v| format!("{}={}", v.values, if v.result { 'T' } else { 'F' })).collect()
}

#[test]
fn decisions_match_the_hand_counts() -> TestResult {
    let hand: Hand = toml::from_str(&std::fs::read_to_string(testdata("mcdc_decisions/mcdc.toml"))?)?;
    for device in ["sim", "opencl"] {
        for (criterion, covered) in [(Criterion::Masking, 15), (Criterion::Unique, 13)] {
            let (result, mcdc) = cover(&suite("mcdc_decisions"), criterion.name(), device)?;
            let what = format!("{device}, {criterion:?}");
            assert_eq!(result.coverage.mcdc, Some(Ratio { covered, total: 24 }), "{what}");
            assert_eq!(mcdc.decisions.len(), hand.decision.len(), "{what}: {:#?}", mcdc.decisions);
            for expected in &hand.decision {
                let is_it = |d: &&McdcDecision| {
                    d.location.line == expected.line && expected.column.is_none_or(|column| d.location.column == column)
                };
                let found = mcdc.decisions.iter().find(is_it).ok_or_else(|| format!("{what}: no {expected:?}"))?;
                let what = format!("{what}: line {}", expected.line);
                assert_eq!(found.construct, expected.construct, "{what}");
                assert_eq!(executed(found), expected.executed, "{what}");
                let of_criterion = if criterion == Criterion::Masking { &expected.masking } else { &expected.unique };
                for (number, condition) in (1..).zip(&found.conditions) {
                    assert_eq!(condition.covered, of_criterion.contains(&number), "{what}, condition {number}");
                    let site = result.sites.iter().find(|site| site.id == condition.site);
                    assert_eq!(site.map(|site| site.kind.as_str()), Some("condition"), "{what}, condition {number}");
                    let missing = if condition.covered { None } else { expected.missing.get(&number.to_string()) };
                    assert_eq!(condition.missing, missing.cloned().unwrap_or_default(), "{what}, condition {number}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn vectors_are_those_of_the_tests_that_executed_them() -> TestResult {
    let (_, mcdc) = cover(&suite("mcdc_decisions"), "masking", "sim")?;
    let value = mcdc.decisions.iter().find(|d| d.location.line == 28).ok_or("the value")?;
    let by = |text: &str| value.vectors.iter().find(|v| v.values == text).map(|v| v.hits_by_test.clone());
    let hits = |first: u64, second: u64| Some(BTreeMap::from([("first".into(), first), ("second".into(), second)]));
    assert_eq!(by("T-T-FF"), hits(1, 0), "5");
    assert_eq!(by("T-T-T-"), hits(0, 1), "21");
    assert_eq!(by("FF----"), hits(1, 0));
    assert_eq!(by("FTFTFT"), hits(0, 1));
    assert_eq!(by("T-FF--"), hits(0, 0));
    Ok(())
}

#[test]
fn the_text_names_the_missing_vectors() -> TestResult {
    let (out, err, code) = run(&[
        "cover",
        at(&suite("mcdc_decisions")),
        "--summary",
        "--device",
        "sim",
        "--mcdc",
        "--fail-under",
        "mcdc=63",
    ])?;
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("mcdc coverage is 62.5 %, below 63 %"), "{err}");
    for expected in [
        "MC/DC (masking)",
        "decisions.h:13:13: `?:`, 2 of 3 conditions; executed: TT-=T TFT=T F-F=F",
        "condition 2 (13:18) not covered: TFF missing, of the pair TT- and TFF",
        "condition 3 (34:32) not covered: TTT- and TTFF missing, of the pair TTT- and TTFF",
        "3 decisions with all of their conditions covered",
    ] {
        assert!(out.contains(expected), "no `{expected}` in\n{out}");
    }
    let (out, ..) = run(&["cover", at(&suite("mcdc_decisions")), "--summary", "--device", "sim"])?;
    assert!(!out.contains("MC/DC"), "{out}");
    Ok(())
}

#[test]
fn modules_without_a_syntax_tree_have_the_same_conditions_covered() -> TestResult {
    let source = testdata("mcdc_decisions/mcdc_decisions.cl");
    let forms: [(&str, &[&str]); 3] = [
        ("k.ll", &["-target", "spir64-unknown-unknown", "-S", "-emit-llvm"]),
        ("named.ll", &["-target", "spir64-unknown-unknown", "-S", "-emit-llvm", "-fno-discard-value-names"]),
        ("k.spv", &["-target", "spirv64v1.2-unknown-unknown", "-c"]),
    ];
    for (name, options) in forms {
        let folder = tempfile::tempdir()?;
        let module = folder.path().join(name);
        let made = Command::new("clang-22")
            .args(["-x", "cl", "-cl-std=CL1.2", "-O0"])
            .args(options)
            .args([&source, Path::new("-o"), &module])
            .output()?;
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let text = std::fs::read_to_string(suite("mcdc_decisions"))?.replace("mcdc_decisions.cl", name);
        // Names of arguments are lost with the names of values.
        let text = if name.starts_with("k.") {
            text.replace("\nvalues =", "\n0 =").replace("\nout =", "\n1 =").replace("\nn =", "\n2 =")
        } else {
            text
        };
        let suite = folder.path().join("suite.toml");
        std::fs::write(&suite, text)?;
        for (criterion, covered) in [("masking", 15), ("unique", 13)] {
            let (result, mcdc) = cover(&suite, criterion, "sim")?;
            assert_eq!(result.coverage.mcdc, Some(Ratio { covered, total: 24 }), "{name}: {:#?}", mcdc.decisions);
        }
    }
    Ok(())
}
