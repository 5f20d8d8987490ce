//! Conditions on launches, as results describe them.

use kassay_judge::generate::conditions;
use kassay_judge::sync::checking::Case;
use kassay_judge::sync::findings::Found;
use kassay_model::condition::Condition;
use kassay_model::interface::Interface;
use kassay_model::words::Words;
use kassay_results::result::check::{FindingKind, LaunchCondition};

/// Describes a condition, and says of each finding which part of it fails where it was found.
pub(super) fn describe(
    condition: &Condition,
    words: Words,
    interface: &Interface,
    cases: &[Case],
    found: &mut [Found],
) -> LaunchCondition {
    let fails = |part: &Condition, input: usize| {
        cases.get(input).is_some_and(|case| conditions::holds(part, interface, &case.launch) == Some(false))
    };
    for found in found {
        if matches!(found.finding.kind, FindingKind::Uninitialised | FindingKind::RedundantBarrier) {
            continue;
        }
        let enough = condition.parts().iter().find(|part| found.shown_by().all(|input| fails(part, input)));
        found.finding.unless = Some(enough.unwrap_or(condition).text(words));
    }
    let keeps = |case: &&Case| conditions::holds(condition, interface, &case.launch) == Some(true);
    LaunchCondition {
        text: condition.text(words),
        all_of: condition.parts().iter().map(|part| part.text(words)).collect(),
        inputs: cases.iter().filter(keeps).map(|case| case.name.clone()).collect(),
    }
}
