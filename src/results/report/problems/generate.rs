//! Goals that `kassay generate` did not reach.

use super::problem::{Places, Problem};
use super::rules;
use crate::report::texts::Texts;
use crate::result::generate::{GenerateResult, Goal, GoalStatus};

/// Returns a problem for each goal that is impossible, open, or only reached with a fault.
pub(super) fn problems(result: &GenerateResult, texts: &Texts) -> Vec<Problem> {
    let places = Places::of(texts, &result.header.source);
    let goals = result.goals.iter().filter_map(|goal| {
        let (rule, what) = match goal.status {
            GoalStatus::Infeasible => (&rules::INFEASIBLE_OUTCOME, "is impossible"),
            GoalStatus::Unknown => (&rules::OPEN_GOAL, "is not covered, and not proved impossible"),
            GoalStatus::CoveredWithFault => (&rules::FAULTING_GOAL, "is only reached by launches that fault"),
            GoalStatus::Covered | GoalStatus::Equivalent => return None,
        };
        let mut message = format!("{} {what}", name(goal));
        for (words, text) in [("", &goal.reason), ("tried: ", &goal.bound)] {
            if let Some(text) = text {
                message = format!("{message}; {words}{text}");
            }
        }
        if !goal.preconditions.is_empty() {
            message = format!("{message}; assumed: {}", goal.preconditions.join("; "));
        }
        let key = format!("{} {}", goal.kind, goal.outcome.as_deref().unwrap_or_default());
        let problem = Problem::new(rule, &result.header.kernel, places.at(&goal.location), message, key);
        // Ids of sites begin with the name of the function.
        let function = goal.site.as_deref().and_then(|site| site.split_once('.')).map_or("", |(name, _)| name);
        Some(problem.within(function))
    });
    goals.collect()
}

fn name(goal: &Goal) -> String {
    match (&goal.outcome, &goal.mutant) {
        (Some(outcome), _) => format!("outcome `{outcome}` of this {}", goal.kind),
        (None, Some(mutant)) => format!("mutant {mutant}"),
        (None, None) => goal.kind.clone(),
    }
}
