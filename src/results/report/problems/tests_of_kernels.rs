//! Tests that fail, or whose outcome depends on the schedule.

use super::problem::{Place, Places, Problem};
use super::rules;
use crate::report::text::{differs, mismatch};
use crate::report::texts::Texts;
use crate::result::run::{RunResult, Test, TestStatus};
use crate::result::schedule::{RunStatus, ScheduleResult, Test as Scheduled, Verdict};

/// Returns a problem for each test of `kassay run` that fails or does not complete.
pub(super) fn of_run(result: &RunResult, texts: &Texts) -> Vec<Problem> {
    let place = Places::of(texts, &result.header.source).file();
    let tests = result.tests.iter().filter_map(|test| {
        let rule = match test.status {
            TestStatus::Passed | TestStatus::Unchecked => return None,
            TestStatus::Failed => &rules::FAILED_TEST,
            TestStatus::Timeout | TestStatus::Crashed | TestStatus::Rejected => &rules::BROKEN_TEST,
        };
        let message = format!("test \"{}\" {}: {}", test.name, test.status.name(), why(test));
        Some(Problem::new(rule, &result.header.kernel, place.clone(), message, test.name.clone()))
    });
    tests.collect()
}

/// Says why a test does not pass.
pub(crate) fn why(test: &Test) -> String {
    let outputs = test.outputs.iter().filter(|output| !output.passed).map(mismatch);
    let reasons: Vec<String> = test.reason.iter().cloned().chain(outputs).collect();
    if reasons.is_empty() { "for no reason that is known".to_owned() } else { reasons.join("\n") }
}

/// Returns a problem for each test of `kassay schedule` that is not stable.
pub(super) fn of_schedule(result: &ScheduleResult, texts: &Texts) -> Vec<Problem> {
    let place: Place = Places::of(texts, &result.header.source).file();
    let tests = result.tests.iter().filter_map(|test| {
        let rule = match test.verdict {
            Verdict::Stable => return None,
            Verdict::OrderDependent | Verdict::Nondeterministic => &rules::UNSTABLE_TEST,
            Verdict::Failed => &rules::BROKEN_TEST,
        };
        let message = format!("test \"{}\" is {}: {}", test.name, test.verdict.name(), why_unstable(test));
        Some(Problem::new(rule, &result.header.kernel, place.clone(), message, test.name.clone()))
    });
    tests.collect()
}

/// Says how a test's runs differ, or why they fail.
pub(crate) fn why_unstable(test: &Scheduled) -> String {
    let ended = test.schedules.iter().filter(|ran| ran.status != RunStatus::Completed).map(|ran| {
        let reason = ran.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("schedule {} ended as {}{reason}", ran.index, ran.status.name())
    });
    let mut reasons: Vec<String> = test.differing_outputs.iter().map(differs).chain(ended).collect();
    let more = reasons.len().saturating_sub(REASONS);
    reasons.truncate(REASONS);
    if more > 0 {
        reasons.push(format!("and {more} more"));
    }
    if reasons.is_empty() { "its runs differ".to_owned() } else { reasons.join("\n") }
}

/// Number of differences that are reported of a test.
const REASONS: usize = 5;
