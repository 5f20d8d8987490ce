//! Runs captured suites: each test twice, compared with what the program's own launch left.

use std::collections::BTreeMap;

use kassay_base::error::Result;
use kassay_model::interface::{Arg, ArgSource, Interface};
use kassay_results::result::capture::{MeasuredTolerance, NotReproduced, NotReproducedReason, Replay};
use kassay_run::exec::{Executor, Fault, Observation};
use kassay_run::host::Launch;
use kassay_suite::compare::{self, Deviation, Tolerance};
use kassay_suite::resolve::{self, Expectation};

use super::super::opened::Opened;
use super::super::run;

/// A launch as a test, without its contents.
pub(super) struct Test {
    pub name: String,
    pub description: Option<String>,
    pub launch: Launch,
    /// What it expects otherwise than the launch left, by the argument's position: a tolerance, or `None`, nothing.
    pub changes: BTreeMap<u32, Option<Tolerance>>,
}

impl Test {
    /// Changes what a test expects that was made of the launch.
    pub fn change(&self, expectations: &mut Vec<Expectation>) {
        expectations.retain(|expectation| self.changes.get(&expectation.position) != Some(&None));
        for expectation in expectations {
            if let Some(Some(tolerance)) = self.changes.get(&expectation.position) {
                expectation.tolerance = *tolerance;
            }
        }
    }
}

/// What two runs of a test have shown of one output.
enum Shown {
    Exact,
    Within { largest: f64, tolerance: Tolerance },
    Not { reason: NotReproducedReason, message: String },
}

/// What two runs of a test have shown: of each output, by its position, or why it did not end.
type Ran = std::result::Result<Vec<(u32, Shown)>, String>;

/// Runs the tests and changes what they expect: tolerances as they were measured, and nothing of what was not
/// reproduced. Returns what was found, and the executors.
///
/// # Errors
/// As [`run::each_test_on`].
pub(super) fn replay(
    executors: Vec<Box<dyn Executor>>,
    opened: &Opened,
    interface: &Interface,
    tests: &mut [Test],
) -> Result<(Replay, Vec<Box<dyn Executor>>)> {
    let (rows, executors, _) = run::each_test_on(executors, opened, |test, again| {
        let runs = [again()?, again()?];
        Ok((test.name.clone(), judge(test, &runs)))
    })?;
    let mut rows: BTreeMap<String, Ran> = rows.into_iter().collect();
    let mut replay = Replay::default();
    let variables: Vec<String> = interface.args.iter().filter(|arg| is_variable(arg)).map(Arg::label).collect();
    let label = |position: u32| interface.args.get(position as usize).map_or_else(|| position.to_string(), Arg::label);
    for test in tests {
        match rows.remove(&test.name) {
            Some(Ok(outputs)) => apply(test, outputs, &label, &variables, &mut replay),
            Some(Err(message)) => replay.not_reproduced.push(NotReproduced {
                test: test.name.clone(),
                argument: None,
                reason: NotReproducedReason::Fault,
                message,
            }),
            None => {}
        }
    }
    Ok((replay, executors))
}

/// Whether an argument of the suite is a variable at program scope.
fn is_variable(arg: &Arg) -> bool {
    matches!(arg.source, ArgSource::Variable { .. })
}

fn judge(test: &resolve::Test, runs: &[std::result::Result<Observation, Fault>; 2]) -> Ran {
    let [first, second] = match runs {
        [Ok(first), Ok(second)] => [first, second],
        [Err(fault), _] | [_, Err(fault)] => return Err(format!("the kernel {fault}")),
    };
    let show = |expectation: &Expectation| {
        let actual = |run: &'_ Observation| {
            run.outputs.iter().find(|(position, _)| *position == expectation.position).map(|(_, bytes)| bytes.clone())
        };
        let (first, second) = (actual(first).unwrap_or_default(), actual(second).unwrap_or_default());
        (expectation.position, shown(expectation, &first, &second))
    };
    Ok(test.expectations.iter().map(show).collect())
}

fn shown(expectation: &Expectation, first: &[u8], second: &[u8]) -> Shown {
    let Expectation { bytes, ty, .. } = expectation;
    let exact = Tolerance::default();
    let compared = [first, second].map(|actual| compare::compare(bytes, actual, Some(ty), exact));
    if compared.iter().all(compare::Comparison::passed) {
        return Shown::Exact;
    }
    let deviation =
        Deviation::between(bytes, first, ty).and_then(|a| Some(a.max(Deviation::between(bytes, second, ty)?)));
    if let Some(deviation) = deviation
        && let Some(tolerance) = deviation.tolerance()
    {
        return Shown::Within { largest: deviation.absolute, tolerance };
    }
    let is_same = compare::compare(first, second, Some(ty), exact).passed();
    let reason = if is_same { NotReproducedReason::Differs } else { NotReproducedReason::Nondeterministic };
    let message = compared.iter().find_map(|compared| compared.message("the program's launch", "the test"));
    let message = message.unwrap_or_default();
    Shown::Not { reason, message }
}

/// `variables`: those at program scope that the kernel has.
fn apply(
    test: &mut Test,
    outputs: Vec<(u32, Shown)>,
    label: &impl Fn(u32) -> String,
    variables: &[String],
    replay: &mut Replay,
) {
    let (mut is_exact, mut is_whole, mut remarks) = (true, true, Vec::new());
    for (position, shown) in outputs {
        let argument = label(position);
        match shown {
            Shown::Exact => {}
            Shown::Within { largest, tolerance } => {
                is_exact = false;
                test.changes.insert(position, Some(tolerance));
                remarks.push(format!(
                    "{argument}: the program's launch left values that differ by up to {largest:.3e}; the tolerance is twice what was measured"
                ));
                let Tolerance { abs, rel } = tolerance;
                let name = test.name.clone();
                replay.tolerances.push(MeasuredTolerance {
                    test: name,
                    argument,
                    largest_difference: largest,
                    abs,
                    rel,
                });
            }
            Shown::Not { reason, message } => {
                is_whole = false;
                test.changes.insert(position, None);
                let differs = "the program's launch left something else than the test";
                let (reason, what, message) = match reason {
                    NotReproducedReason::Differs if !variables.is_empty() => {
                        let names = variables.join(" and ");
                        let why = format!("what {names} held before the launch is not known");
                        (
                            NotReproducedReason::ProgramVariables,
                            format!("{differs}; {why}"),
                            format!("{message}; {why}"),
                        )
                    }
                    NotReproducedReason::Nondeterministic => (reason, "two runs differ".to_owned(), message),
                    _ => (reason, differs.to_owned(), message),
                };
                remarks.push(format!("{argument} is not expected: {what}"));
                let name = test.name.clone();
                replay.not_reproduced.push(NotReproduced { test: name, argument: Some(argument), reason, message });
            }
        }
    }
    match (is_whole, is_exact) {
        (true, true) => replay.exact += 1,
        (true, false) => replay.within_tolerance += 1,
        (false, _) => {}
    }
    if !remarks.is_empty() {
        test.description = Some(remarks.join("; "));
    }
}
