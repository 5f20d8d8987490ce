//! Checks the text form of results.

use kassay::result::Ratio;
use kassay_results::report::Style;
use kassay_results::report::text::{self, CoverOptions};

use super::examples::*;
use crate::common::stored::expect_file;

const PLAIN: Style = Style { color: false, width: 100 };

#[test]
fn cover_text_points_at_what_is_not_covered() {
    let text = text::cover(&cover_result(), CoverOptions::default(), &sources, &PLAIN);
    expect_file("tests/snapshots/cover.txt", &text);
}

#[test]
fn cover_text_with_counts_shows_work_items_and_files_without_text() {
    let text = text::cover(&counted_result(), CoverOptions::default(), &sources, &PLAIN);
    expect_file("tests/snapshots/cover-counts.txt", &text);
}

#[test]
fn cover_text_says_when_the_source_has_changed() {
    let short = |_: &str| Some(SOURCE.lines().take(12).map(|l| format!("{l}\n")).collect());
    let text = text::cover(&cover_result(), CoverOptions::default(), &short, &PLAIN);
    assert!(text.contains("not executed: 14-15"), "{text}");
    assert!(text.contains("13:9: branch `if`: `true` not covered"), "{text}");
    assert!(text.contains("fewer lines"), "{text}");
}

#[test]
fn cover_text_in_short_leaves_the_source_out() {
    let mut result = cover_result();
    result.coverage.condition = Ratio::default();
    let text = text::cover(&result, CoverOptions { summary_only: true }, &sources, &PLAIN);
    expect_file("tests/snapshots/cover-summary.txt", &text);
}

#[test]
fn colour_adds_escapes_and_nothing_else() {
    let result = counted_result();
    let options = CoverOptions::default();
    let colored = text::cover(&result, options, &sources, &Style { color: true, ..PLAIN });
    let plain = text::cover(&result, options, &sources, &PLAIN);
    assert!(!plain.contains('\x1b'));
    let mut stripped = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    let trimmed = |s: &str| s.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&stripped), trimmed(&plain));
    assert!(colored.contains("\x1b[31m") && colored.contains("\x1b[32m"));
}

#[test]
fn run_text_has_a_line_per_test_and_the_first_mismatches() {
    expect_file("tests/snapshots/run.txt", &text::run(&run_result(), &PLAIN));
}

#[test]
fn inspect_text_shows_the_interface_and_the_sites() {
    expect_file("tests/snapshots/inspect.txt", &text::inspect(&inspect_result(), &PLAIN));
}
