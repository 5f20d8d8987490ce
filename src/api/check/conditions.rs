//! Conditions on launches: looked for if something is found in launches that kassay made, and described in results.

use kassay_base::error::Result;
use kassay_judge::generate::conditions::{self, Conditions};
use kassay_judge::sync::checking::Case;
use kassay_judge::sync::conditions::weakest;
use kassay_judge::sync::findings::{Found, Reader};
use kassay_model::condition::Condition;
use kassay_model::interface::Interface;
use kassay_model::native::table::NativeTable;
use kassay_model::words::Words;
use kassay_results::result::check::{FindingKind, LaunchCondition};
use kassay_run::exec::simulator::observation::Simulation;

use super::loaded::LoadedSimulator;
use super::{Checking, Inputs, case, with_unique_name};

/// Share of the budget for looking for a condition.
const SHARE: f64 = 0.25;

/// Looks for the weakest condition under which nothing is found, and adds the inputs that were run under it. `None` if
/// nothing is found anyway, if there is no such condition, or if the launches are a suite's.
pub(super) fn look(
    checking: &Checking<'_, '_>,
    simulator: &mut LoadedSimulator<'_>,
    table: &NativeTable,
    (inputs, simulations): (&mut Inputs, &mut Vec<Simulation>),
) -> Result<Option<Condition>> {
    let Some(model) = inputs.model.as_ref() else { return Ok(None) };
    let under_test = &checking.parsed.under_test;
    let source = checking.opened.source();
    let reader = Reader { table, interface: &under_test.interface, source: &source, diverging_branch: &|_| None };
    let known = Conditions::new(model, checking.request()?);
    let budget = checking.budget.share(SHARE);
    let make = |launch| case(launch, "generated", under_test, None);
    let seen = (&inputs.cases[..], &simulations[..]);
    let searched = weakest(simulator, &reader, seen, &known, &make, budget)?;
    if searched.kept.is_none() && searched.cut_short {
        let what = "whether a host that keeps to some condition avoids what was found was not asked to the end";
        inputs.notes.push(format!("{what}, because of {}; --budget gives more time", checking.budget.words()));
    }
    let Some(kept) = searched.kept else { return Ok(None) };
    for (case, simulation) in kept.cases.into_iter().zip(kept.simulations) {
        if inputs.cases.iter().all(|known| known.launch != case.launch) {
            let case = with_unique_name(case, &inputs.cases);
            inputs.cases.push(case);
            simulations.push(simulation);
        }
    }
    Ok(Some(kept.condition))
}

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
