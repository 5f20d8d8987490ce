//! What results say should be looked at, in a form that SARIF, code quality reports, annotations and summaries share:
//! findings, survivors, what no test covers, tests that fail.
//!
//! Must never know: a format.

mod check;
mod cover;
mod generate;
mod mutate;
mod problem;
pub(super) mod rules;
pub(super) mod tests_of_kernels;

use std::collections::{HashMap, HashSet};

use kassay_base::hash;

use super::parts;
use super::texts::Texts;
use crate::result::any::{KERNEL_COMMANDS, Part};
use crate::result::store::ResultFile;
pub(super) use problem::{Fix, Flow, Place, Problem, Step};
pub(super) use rules::Level;

/// Returns the problems of results, gravest first, otherwise in the order of the results; those that are the same in
/// several results once.
pub(super) fn collect(results: &[ResultFile], texts: &Texts) -> Vec<Problem> {
    let mut problems = Vec::new();
    for part in parts::parts(results) {
        match part {
            Part::Check(result) => problems.extend(check::problems(result, texts)),
            Part::Mutate(result) => problems.extend(mutate::problems(result, texts)),
            Part::Cover(result) => problems.extend(cover::problems(result, texts)),
            Part::Generate(result) => problems.extend(generate::problems(result, texts)),
            Part::Run(result) => problems.extend(tests_of_kernels::of_run(result, texts)),
            Part::Schedule(result) => problems.extend(tests_of_kernels::of_schedule(result, texts)),
            Part::Devices(_) | Part::Inspect(_) | Part::Compare(_) | Part::Capture(_) => {}
        }
    }
    for gap in parts::gaps(results) {
        let place = Place { file: texts.shown(gap.file()), ..Place::default() };
        let message = format!("{} has no result: {}", gap.name(), gap.failed.error);
        problems.push(Problem::new(&rules::UNASSAYED_KERNEL, gap.name(), place, message, String::new()));
    }
    let mut seen = HashSet::new();
    problems
        .retain(|p| seen.insert((p.rule.id, p.place.clone(), p.function.clone(), p.message.clone(), p.key.clone())));
    problems.sort_by_key(|problem| problem.level);
    identify(&mut problems);
    problems
}

/// Sets the fingerprints. Those that are alike in all their words are told apart by their order.
fn identify(problems: &mut [Problem]) {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for problem in problems {
        let text = problem.place.text.as_deref().unwrap_or_default();
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let Problem { rule, kernel, function, place, key, .. } = &*problem;
        let words = [rule.id, &place.file, kernel, function, &text, key].join("\0");
        let count = counts.entry(words.clone()).or_default();
        problem.fingerprint = format!("{:032x}", hash::wide(&[words.as_bytes(), &count.to_le_bytes()]));
        *count += 1;
    }
}

/// The commands whose results have problems.
pub(super) const COMMANDS: &[&[&str]] = &[KERNEL_COMMANDS];
