//! Writes tests and verdicts as JUnit XML, which continuous integration services read.
//!
//! JUnit has no standard; these are the elements of Ant's and Maven's reports that all services know.

use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_model::words::Words;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

use super::parts;
use super::problems::tests_of_kernels::{why, why_unstable};
use super::style::{percent, visible};
use super::text::headline;
use crate::result::Header;
use crate::result::any::Part;
use crate::result::check::{CheckResult, Finding, FindingKind, Verdict};
use crate::result::cover::{self, CoverResult};
use crate::result::mutate::{MutateResult, TestStatus};
use crate::result::run::{self, RunResult};
use crate::result::schedule::{self, ScheduleResult};
use crate::result::store::ResultFile;

/// Returns the report of loaded results: a suite for each, a case for each test, and for each checked kernel one.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let mut report = Report::new("kassay");
    for part in parts::parts(results) {
        report.add_test_suites(match part {
            Part::Run(result) => Some(of_run(result)),
            Part::Check(result) => Some(of_check(result)),
            Part::Schedule(result) => Some(of_schedule(result)),
            Part::Cover(result) => Some(of_cover(result)),
            Part::Mutate(result) => Some(of_mutate(result)),
            Part::Devices(_) | Part::Inspect(_) | Part::Generate(_) | Part::Compare(_) | Part::Capture(_) => None,
        });
    }
    let complaints = parts::complaints(results);
    if !complaints.is_empty() {
        let mut suite = TestSuite::new("not as it was asked for");
        for parts::Complaint { header, text } in complaints {
            // Such as kassay.cover-set/1.
            let command = header.schema.trim_start_matches("kassay.").split(['-', '/']).next().unwrap_or_default();
            let first = text.lines().next().unwrap_or_default();
            let status = ended(NonSuccessKind::Failure, "threshold", first, text);
            suite.add_test_case(case(header, &format!("{command} {}", header.kernel), status, None));
        }
        report.add_test_suite(suite);
    }
    let gaps = parts::gaps(results);
    if !gaps.is_empty() {
        let mut suite = TestSuite::new("kernels without a result");
        for gap in gaps {
            let error = &gap.failed.error;
            let status = ended(NonSuccessKind::Error, "no-result", error.lines().next().unwrap_or_default(), error);
            suite.add_test_case(TestCase::new(shown(gap.name()), status));
        }
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|e| Error::internal(format!("cannot turn the report into XML: {e}")))
}

fn suite(command: &str, header: &Header) -> TestSuite {
    let mut suite = TestSuite::new(shown(&format!("{command} {}", header.kernel)));
    suite.add_property(("source", shown(&header.source).as_str()));
    if let Some(device) = &header.device {
        suite.add_property(("device", shown(&device.name).as_str()));
    }
    suite
}

fn case(header: &Header, name: &str, status: TestCaseStatus, seconds: Option<f64>) -> TestCase {
    let mut case = TestCase::new(shown(name), status);
    case.set_classname(shown(&header.kernel));
    if let Some(time) = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()) {
        case.set_time(time);
    }
    case
}

/// The status of a case that is no success: what it is, in a line, and in full.
fn ended(kind: NonSuccessKind, word: &str, line: &str, full: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(word).set_message(shown(line)).set_description(shown(full));
    status
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(shown(why));
    status
}

/// Text without characters that XML cannot hold; line breaks and tabs stay.
fn shown(text: &str) -> XmlString {
    let lines: Vec<_> = text.lines().map(visible).collect();
    XmlString::new(lines.join("\n").replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}

fn of_run(result: &RunResult) -> TestSuite {
    let mut suite = suite("run", &result.header);
    for test in &result.tests {
        let reason = why(test);
        let line = reason.lines().next().unwrap_or_default();
        let word = test.status.name();
        let status = match test.status {
            run::TestStatus::Passed => TestCaseStatus::success(),
            run::TestStatus::Unchecked => skipped("the launch completed, but the suite states no expectation"),
            run::TestStatus::Failed => ended(NonSuccessKind::Failure, word, line, &reason),
            run::TestStatus::Timeout | run::TestStatus::Crashed | run::TestStatus::Rejected => {
                ended(NonSuccessKind::Error, word, line, &reason)
            }
        };
        let mut case = case(&result.header, &test.name, status, test.kernel_s);
        if !test.printf.is_empty() {
            case.set_system_out(shown(&test.printf));
        }
        suite.add_test_case(case);
    }
    suite
}

fn of_check(result: &CheckResult) -> TestSuite {
    let mut suite = suite("check", &result.header);
    let counts = |f: &&Finding| !matches!(f.kind, FindingKind::RedundantBarrier | FindingKind::Uninitialised);
    let words = result.header.words();
    let of = |one: &Finding| finding(words, one);
    let full: Vec<String> = result.findings.iter().filter(counts).map(of).collect();
    let line = format!("{}: {}", result.verdict.name(), result.findings.iter().filter(counts).count());
    let line = if full.len() == 1 { format!("{line} finding") } else { format!("{line} findings") };
    let status = match result.verdict {
        Verdict::Clean | Verdict::Conditional => TestCaseStatus::success(),
        Verdict::Unknown => ended(NonSuccessKind::Error, "unknown", "no input completed", "no input completed"),
        Verdict::Racy | Verdict::Divergent | Verdict::MemoryFault => {
            ended(NonSuccessKind::Failure, result.verdict.name(), &line, &full.join("\n\n"))
        }
    };
    let mut case = case(&result.header, "check", status, Some(result.elapsed_s));
    let mut others: Vec<String> = result.findings.iter().filter(|f| !counts(f)).map(of).collect();
    if let Some(condition) = &result.condition {
        others.insert(0, format!("clean if {}; else: {}", condition.text, full.join("\n\n")));
    }
    if !others.is_empty() {
        case.set_system_out(shown(&others.join("\n\n")));
    }
    suite.add_test_case(case);
    suite
}

fn finding(words: Words, finding: &Finding) -> String {
    let places = finding.accesses.iter().map(|access| format!("\n  at {}", access.location));
    format!("{}: {}{}", headline(words, finding), finding.message, places.collect::<String>())
}

fn of_schedule(result: &ScheduleResult) -> TestSuite {
    let mut suite = suite("schedule", &result.header);
    for test in &result.tests {
        let kind = match test.verdict {
            schedule::Verdict::Stable => None,
            schedule::Verdict::OrderDependent | schedule::Verdict::Nondeterministic => Some(NonSuccessKind::Failure),
            schedule::Verdict::Failed => Some(NonSuccessKind::Error),
        };
        let status = kind.map_or_else(TestCaseStatus::success, |kind| {
            let reason = why_unstable(test);
            ended(kind, test.verdict.name(), reason.lines().next().unwrap_or_default(), &reason)
        });
        suite.add_test_case(case(&result.header, &test.name, status, None));
    }
    suite
}

fn of_cover(result: &CoverResult) -> TestSuite {
    let mut suite = suite("cover", &result.header);
    for metric in &cover::METRICS {
        if let Some(reached) = (metric.measure)(&result.coverage).percent() {
            suite.add_property((metric.key, percent(reached).as_str()));
        }
    }
    for test in &result.tests {
        let kind = match test.status {
            cover::TestStatus::Completed => None,
            cover::TestStatus::OutputDiffers => Some(NonSuccessKind::Failure),
            _ => Some(NonSuccessKind::Error),
        };
        let reason = test.reason.as_deref().unwrap_or(test.status.name());
        let status = kind.map_or_else(TestCaseStatus::success, |kind| {
            ended(kind, test.status.name(), reason.lines().next().unwrap_or_default(), reason)
        });
        suite.add_test_case(case(&result.header, &test.name, status, test.original_s));
    }
    suite
}

fn of_mutate(result: &MutateResult) -> TestSuite {
    let mut suite = suite("mutate", &result.header);
    if let Some(score) = result.summary.score {
        suite.add_property(("score", percent(score).as_str()));
    }
    for test in &result.tests {
        let reason = test.reason.as_deref().unwrap_or("it cannot judge mutants");
        let status = match test.status {
            TestStatus::Used => TestCaseStatus::success(),
            TestStatus::Dropped => {
                ended(NonSuccessKind::Failure, "dropped", reason.lines().next().unwrap_or_default(), reason)
            }
        };
        let mut case = case(&result.header, &test.name, status, result.timing.originals_s.get(&test.name).copied());
        case.add_property(("kills", test.kills.to_string().as_str()));
        case.add_property(("reaches", test.reaches.to_string().as_str()));
        suite.add_test_case(case);
    }
    suite
}
