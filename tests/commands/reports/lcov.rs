//! Parses lcov tracefiles back.

use std::collections::BTreeMap;

use kassay_results::report::lcov;

use super::examples::*;

/// What lcov would read, by (test, file).
#[derive(Debug, Default, PartialEq)]
struct Section {
    lines: BTreeMap<u32, u64>,
    /// By line, block, branch.
    branches: BTreeMap<(u32, u32, u32), Option<u64>>,
    functions: BTreeMap<String, (u32, u64)>,
    totals: BTreeMap<String, u64>,
}

fn parse_lcov(text: &str) -> BTreeMap<(String, String), Section> {
    let mut sections = BTreeMap::new();
    let (mut test, mut file, mut section) = (String::new(), String::new(), Section::default());
    for line in text.lines() {
        if line == "end_of_record" {
            sections.insert((test.clone(), file.clone()), std::mem::take(&mut section));
            continue;
        }
        let (key, value) = line.split_once(':').unwrap();
        let fields: Vec<&str> = value.split(',').collect();
        let number = |i: usize| fields[i].parse::<u32>().unwrap();
        match key {
            "TN" => test = value.to_owned(),
            "SF" => file = value.to_owned(),
            "DA" => assert_eq!(section.lines.insert(number(0), fields[1].parse().unwrap()), None),
            "BRDA" => {
                let taken = (fields[3] != "-").then(|| fields[3].parse().unwrap());
                assert_eq!(section.branches.insert((number(0), number(1), number(2)), taken), None);
            }
            "FN" => assert_eq!(section.functions.insert(fields[1].to_owned(), (number(0), 0)), None),
            "FNDA" => section.functions.get_mut(fields[1]).unwrap().1 = fields[0].parse().unwrap(),
            _ => assert_eq!(section.totals.insert(key.to_owned(), value.parse().unwrap()), None),
        }
    }
    assert_eq!(section, Section::default(), "the last section has no end");
    sections
}

#[test]
fn lcov_has_a_section_per_test_and_file() {
    let sections = parse_lcov(&lcov::tracefile(&[&counted_result()]));
    let keys: Vec<_> = sections.keys().map(|(t, f)| format!("{t} {f}")).collect();
    assert_eq!(
        keys,
        ["even kernels/clip.h", "even kernels/sum.cl", "odd_length kernels/clip.h", "odd_length kernels/sum.cl"]
    );
    let sum = &sections[&("odd_length".to_owned(), "kernels/sum.cl".to_owned())];
    assert_eq!(sum.lines.len(), 11);
    assert_eq!((sum.lines[&3], sum.lines[&14]), (1024, 0));
    assert_eq!(sum.branches[&(13, 0, 0)], Some(0));
    assert_eq!(sum.branches[&(13, 0, 1)], Some(1024));
    assert_eq!(sum.functions["clamp_to"], (3, 1024));
    assert_eq!(sum.functions["sum"], (8, 1024));
    for (key, total) in [("LF", 11), ("LH", 9), ("BRF", 6), ("BRH", 4), ("FNF", 2), ("FNH", 2)] {
        assert_eq!(sum.totals[key], total, "{key}");
    }
    let clip = &sections[&("odd_length".to_owned(), "kernels/clip.h".to_owned())];
    assert_eq!(clip.branches.values().collect::<Vec<_>>(), [&None, &None, &None]);
    assert_eq!(clip.functions["clip"], (4, 0));
}

#[test]
fn lcov_keeps_tests_apart_whose_names_lcov_cannot_tell_apart() {
    let mut result = cover_result();
    for site in &mut result.sites {
        let hits = site.hits_by_test["odd length"];
        site.hits_by_test.insert("odd-length".into(), hits);
    }
    result.tests[2].name = "odd-length".into();
    let sections = parse_lcov(&lcov::tracefile(&[&result, &cover_result()]));
    let tests: Vec<&str> = sections.keys().map(|(t, _)| t.as_str()).collect();
    assert_eq!(tests, ["endless", "even", "even_2", "odd_length", "odd_length_2", "odd_length_3"]);
}

#[test]
fn lcov_without_hits_by_test_has_one_section_without_a_name() {
    let mut result = cover_result();
    result.sites.iter_mut().for_each(|s| s.hits_by_test.clear());
    let sections = parse_lcov(&lcov::tracefile(&[&result]));
    assert_eq!(sections.len(), 1);
    let section = &sections[&(String::new(), "kernels/sum.cl".to_owned())];
    assert_eq!((section.totals["LH"], section.totals["BRH"]), (9, 4));
}
