//! Compares what a command prints with what a page shows.
//!
//! A line `...` stands for any lines, `[..]` for any part of a line. Times, the device and the overhead may differ.

use std::sync::LazyLock;

use regex::Regex;
use snapbox::{Assert, Data};

/// What differs from run to run or from machine to machine, and what takes its place on both sides.
static VARYING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (r" *\b\d+(\.\d+)? (ns|us|ms|s|min)\b", " TIME"),
        (r" on .+ \((cpu|gpu|accelerator), driver [^)]*\)", " on DEVICE"),
        (r"overhead: \d+(\.\d+)? times", "overhead: N times"),
        (r"kassay simulator \d+\.\d+\.\d+", "kassay simulator VERSION"),
    ];
    patterns.map(|(pattern, name)| (Regex::new(pattern).unwrap(), name)).into()
});

/// Returns the difference, if there is one.
pub fn difference(actual: &str, shown: &str) -> Option<String> {
    let (actual, shown) = (stable(actual), stable(shown));
    // Of kassay's own Assert only the comparison is used: the default would rewrite files on request.
    let assert = Assert::new().action(snapbox::assert::Action::Verify).normalize_paths(false);
    let result = assert.try_eq(None, Data::text(actual), Data::text(shown));
    result.err().map(|difference| difference.to_string())
}

/// Returns whether a text is what a pattern shows, in which `[..]` stands for any part.
pub fn matches(text: &str, pattern: &str) -> bool {
    let parts: Vec<String> = pattern.split("[..]").map(regex::escape).collect();
    Regex::new(&format!("(?s)^{}$", parts.join(".*"))).is_ok_and(|regex| regex.is_match(text))
}

fn stable(text: &str) -> String {
    let line = |line: &str| {
        let replaced =
            VARYING.iter().fold(line.to_owned(), |line, (pattern, name)| pattern.replace_all(&line, *name).into());
        replaced.trim_end().to_owned()
    };
    let lines: Vec<String> = text.trim_matches('\n').lines().map(line).collect();
    lines.join("\n") + "\n"
}

#[test]
fn only_what_varies_may_differ() {
    let shown = "k (k.cl) on AMD EPYC (cpu, driver 1.2)\n  passed  a   439 us\n...\n3 tests: 3 passed (1.2 s)\n";
    let actual = "k (k.cl) on Intel(R) Xeon(R) (cpu, driver 3)\n  passed  a  1.93 ms\n  passed  b  2 us\n3 tests: 3 passed (185 ms)\n";
    assert_eq!(difference(actual, shown), None);
    for wrong in
        [actual.replace("passed  a", "failed  a"), actual.replace("3 tests", "4 tests"), actual.replace("k.cl", "l.cl")]
    {
        assert!(difference(&wrong, shown).is_some(), "{wrong}");
    }
    assert!(difference("", shown).is_some());
    assert_eq!(difference("a 12 b", "a [..] b"), None);
    assert!(difference("a 12 c", "a [..] b").is_some());
}
