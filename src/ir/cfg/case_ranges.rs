//! Joins the outcomes of `switch` labels that stand for several values (`case 1 ... 3`). clang expands narrow ranges
//! into one case per value, and only the syntax tree records which belong together. Not for wide ranges, which the
//! IR shows (`decisions`).

use super::decisions::{Decision, Outcome};
use crate::kernel::constructs::{Case, FunctionConstructs, Kind};

/// Joins the outcomes of each label in the decisions of one function. If the IR and the syntax tree have different
/// numbers of switches, nothing is joined.
pub fn join(decisions: &mut [Decision], syntax: &FunctionConstructs) {
    let written: Vec<&[Case]> = (syntax.constructs.iter().filter(|construct| !construct.is_folded))
        .filter_map(|construct| match &construct.kind {
            Kind::Switch { cases, .. } => Some(&cases[..]),
            _ => None,
        })
        .collect();
    let mut found: Vec<&mut Decision> = decisions.iter_mut().filter(|d| d.construct == "switch").collect();
    if found.len() == written.len() {
        for (decision, cases) in found.iter_mut().zip(written) {
            cases.iter().for_each(|case| join_case(&mut decision.outcomes, case));
        }
    }
}

fn join_case(outcomes: &mut Vec<Outcome>, case: &Case) {
    let Some((first, last)) = case.values.filter(|(first, last)| first < last) else { return };
    let position = |value: i128| outcomes.iter().position(|o| is_label_of(&o.label, value));
    let Some(places) = (first..=last).take(MAX_RANGE_VALUES + 1).map(position).collect::<Option<Vec<_>>>() else {
        return;
    };
    let events = places.iter().flat_map(|p| outcomes[*p].events.clone()).collect();
    outcomes[places[0]] = Outcome { label: format!("case {first} ... {last}"), events };
    let mut index = 0;
    outcomes.retain(|_| {
        index += 1;
        !places[1..].contains(&(index - 1))
    });
}

/// The largest number of values in a range that clang expands into single cases.
const MAX_RANGE_VALUES: usize = 64;

/// Compares a label of the IR, whose value is sign-extended from the condition's width, with a value of the source.
fn is_label_of(label: &str, value: i128) -> bool {
    let truncated = |value: i128| i128::from(value as i32);
    let ir = label.strip_prefix("case ").and_then(|text| text.parse::<i128>().ok());
    ir.is_some_and(|ir| ir == value || (value > i128::from(i32::MAX) && ir == truncated(value)))
}
