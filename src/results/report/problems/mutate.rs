//! Mutants that no test detects, and tests that cannot judge.

use super::problem::{Places, Problem};
use super::rules::{self, Level, Rule};
use crate::report::texts::Texts;
use crate::result::mutate::{Mutant, MutateResult, Status, TestStatus};

/// Returns a problem for each mutant that no test detects, without duplicates and pairs, and for each test that was
/// dropped.
pub(super) fn problems(result: &MutateResult, texts: &Texts) -> Vec<Problem> {
    let places = Places { digests: Some(&result.texts), ..Places::of(texts, &result.header.source) };
    let kernel = result.header.kernel.as_str();
    let single = result.mutants.iter().filter(|m| !m.is_pair() && m.duplicate_of.is_none());
    let of_mutants = single.filter_map(|mutant| {
        let (rule, level, what) = undetected(mutant.status)?;
        let because = mutant.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let message = format!("{} ({}) {what}{because}", change(mutant), mutant.operator);
        let key = [mutant.operator.as_str(), &mutant.original, &mutant.replacement].join(" ");
        let problem = Problem::new(rule, kernel, places.range(&mutant.location), message, key);
        Some(Problem { level, ..problem.within(&mutant.function) })
    });
    let dropped = result.tests.iter().filter(|test| test.status == TestStatus::Dropped);
    let of_tests = dropped.map(|test| {
        let reason = test.reason.as_deref().unwrap_or("it is not stable");
        let message = format!("test \"{}\" cannot judge mutants: {reason}", test.name);
        Problem::new(&rules::DROPPED_TEST, kernel, places.file(), message, test.name.clone())
    });
    of_mutants.chain(of_tests).collect()
}

/// Returns what is said of a mutant that no test detects; `None` of others.
fn undetected(status: Status) -> Option<(&'static Rule, Level, &'static str)> {
    match status {
        Status::Survived => Some((&rules::SURVIVED_MUTANT, Level::Warning, "is not noticed by any test")),
        Status::EquivalentForLaunches => {
            Some((&rules::SURVIVED_MUTANT, Level::Note, "cannot be noticed in launches of the tests' sizes"))
        }
        Status::NoCoverage => Some((&rules::UNREACHED_MUTANT, Level::Warning, "is not reached by any test")),
        Status::Undecided => Some((&rules::UNDECIDED_MUTANT, Level::Warning, "is noticed in some repeats only")),
        Status::Killed
        | Status::Timeout
        | Status::RuntimeError
        | Status::CompileError
        | Status::Ignored
        | Status::Pending
        | Status::Equivalent => None,
    }
}

/// Describes the change that a mutant makes.
fn change(mutant: &Mutant) -> String {
    match (mutant.original.as_str(), mutant.replacement.as_str()) {
        ("", new) => new.to_owned(),
        (old, "") => format!("deleting `{old}`"),
        (old, new) => format!("changing `{old}` to `{new}`"),
    }
}
