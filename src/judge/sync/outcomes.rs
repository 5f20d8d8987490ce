//! Compares the outputs of one launch under several schedules.
//!
//! Pure: from outputs to verdicts (docs/schedule.md).

use kassay_results::result::check::Witness;
use kassay_results::result::schedule::{Difference, RunStatus, Verdict};
use kassay_suite::Output;
use kassay_suite::compare::{self, Mismatch};
use kassay_suite::schedule::Schedule;

/// By argument position: the contents of every output after the launch.
pub type Outputs = Vec<(u32, Vec<u8>)>;

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// All work-items have ended, with these outputs.
    Completed(Outputs),
    /// The status, and the reason.
    Failed {
        /// How results call it.
        status: RunStatus,
        /// Why, as a sentence.
        reason: String,
    },
}

/// A difference between two outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputDifference {
    /// Name of the argument, or its position.
    pub argument: String,
    /// The first mismatch.
    pub mismatch: Mismatch,
    /// Number of elements that differ.
    pub mismatches: u64,
    /// Number of elements compared.
    pub elements: u64,
}

/// Returns the outputs that differ by more than their tolerance, one entry for each.
pub fn differences(a: &Outputs, b: &Outputs, outputs: &[Output]) -> Vec<OutputDifference> {
    let of = |all: &Outputs, position: u32| all.iter().find(|(p, _)| *p == position).map(|(_, bytes)| bytes.clone());
    let mut positions: Vec<u32> = a.iter().chain(b).map(|(p, _)| *p).collect();
    positions.sort_unstable();
    positions.dedup();
    let differs = |position: u32| {
        let known = outputs.iter().find(|o| o.position == position);
        let (x, y) = (of(a, position).unwrap_or_default(), of(b, position).unwrap_or_default());
        let found = compare::compare(&x, &y, known.map(|o| &o.ty), known.map(|o| o.tolerance).unwrap_or_default());
        Some(OutputDifference {
            argument: known.map_or_else(|| position.to_string(), |o| o.label.clone()),
            mismatch: found.first?,
            mismatches: found.mismatches,
            elements: found.elements,
        })
    };
    positions.into_iter().filter_map(differs).collect()
}

/// Returns two schedules with the first difference between their outputs.
pub fn witness(schedules: [&Schedule; 2], outcomes: [&Outputs; 2], outputs: &[Output]) -> Option<Witness> {
    let first = differences(outcomes[0], outcomes[1], outputs).into_iter().next()?;
    Some(Witness {
        schedules: schedules.map(Clone::clone),
        argument: first.argument,
        index: first.mismatch.index,
        field: first.mismatch.field,
        values: [first.mismatch.expected, first.mismatch.actual],
    })
}

/// Outcomes of the runs of one schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Numbers of the distinct outcomes of the runs that completed, in the order of their first occurrence.
    pub outcomes: Vec<u64>,
    /// Status and reason of the first run that did not complete.
    pub failed: Option<(RunStatus, String)>,
}

/// The distinct outcomes of a test.
pub struct Outcomes<'a> {
    outputs: &'a [Output],
    /// With the number of the schedule that had it first.
    known: Vec<(usize, Outputs)>,
    /// By schedule.
    tallies: Vec<Tally>,
}

impl<'a> Outcomes<'a> {
    /// Creates an empty set of outcomes, which are compared within the tolerances of `outputs`.
    pub fn new(outputs: &'a [Output]) -> Outcomes<'a> {
        Outcomes { outputs, known: Vec::new(), tallies: Vec::new() }
    }

    /// Starts the next schedule, to which the following runs belong.
    pub fn begin(&mut self) {
        self.tallies.push(Tally::default());
    }

    /// Adds a run of the current schedule.
    pub fn add(&mut self, ended: Ended) {
        let schedule = self.tallies.len().saturating_sub(1);
        let Some(tally) = self.tallies.last_mut() else { return };
        match ended {
            Ended::Failed { status, reason } => {
                tally.failed.get_or_insert((status, reason));
            }
            Ended::Completed(outputs) => {
                let alike = |(_, known): &(usize, Outputs)| {
                    *known == outputs || differences(known, &outputs, self.outputs).is_empty()
                };
                let number = self.known.iter().position(alike).unwrap_or(self.known.len());
                if number == self.known.len() {
                    self.known.push((schedule, outputs));
                }
                if !tally.outcomes.contains(&(number as u64)) {
                    tally.outcomes.push(number as u64);
                }
            }
        }
    }

    /// The outcomes by schedule.
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// Decides whether the outcomes depend on the schedule.
    pub fn verdict(&self) -> Verdict {
        if self.tallies.iter().all(|t| t.outcomes.is_empty()) {
            return Verdict::Failed;
        }
        let kinds = |t: &Tally| t.outcomes.len() + usize::from(t.failed.is_some());
        if self.tallies.iter().any(|t| kinds(t) > 1) {
            return Verdict::Nondeterministic;
        }
        let first = &self.tallies[0];
        let alike = |t: &Tally| t.outcomes == first.outcomes && t.failed.is_some() == first.failed.is_some();
        if self.tallies.iter().all(alike) { Verdict::Stable } else { Verdict::OrderDependent }
    }

    /// Returns every outcome that differs from the first one. `index` maps a position to the schedule's number.
    pub fn differences(&self, index: impl Fn(usize) -> u64) -> Vec<Difference> {
        let Some(((first, reference), others)) = self.known.split_first() else { return Vec::new() };
        let of = |(schedule, outputs): &(usize, Outputs)| {
            let schedules = [index(*first), index(*schedule)];
            let differs = differences(reference, outputs, self.outputs).into_iter();
            differs
                .map(|d| Difference {
                    argument: d.argument,
                    schedules,
                    index: d.mismatch.index,
                    field: d.mismatch.field,
                    values: [d.mismatch.expected, d.mismatch.actual],
                    mismatches: d.mismatches,
                    elements: d.elements,
                })
                .collect::<Vec<_>>()
        };
        others.iter().flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use kassay_model::interface::{Scalar, Type};
    use kassay_suite::compare::Tolerance;

    use super::*;

    fn output() -> Output {
        let tolerance = Tolerance { abs: 0.5, rel: 0.0 };
        Output { position: 1, label: "y".into(), ty: Type::Scalar(Scalar::F32), shape: vec![2], tolerance }
    }

    fn run(values: [f32; 2]) -> Ended {
        Ended::Completed(vec![(1, values.iter().flat_map(|v| v.to_le_bytes()).collect())])
    }

    fn failed() -> Ended {
        Ended::Failed { status: RunStatus::Timeout, reason: "too long".into() }
    }

    fn verdict(schedules: Vec<Vec<Ended>>) -> Verdict {
        let outputs = [output()];
        let mut all = Outcomes::new(&outputs);
        for runs in schedules {
            all.begin();
            runs.into_iter().for_each(|r| all.add(r));
        }
        all.verdict()
    }

    #[test]
    fn verdicts_depend_on_which_runs_differ() {
        let (a, b) = (|| run([1.0, 2.0]), || run([1.0, 3.0]));
        assert_eq!(verdict(vec![vec![a(), a()], vec![a(), run([1.25, 2.0])]]), Verdict::Stable);
        assert_eq!(verdict(vec![vec![a(), a()], vec![b(), b()]]), Verdict::OrderDependent);
        assert_eq!(verdict(vec![vec![a(), b()], vec![b(), b()]]), Verdict::Nondeterministic);
        assert_eq!(verdict(vec![vec![a(), failed()], vec![a(), a()]]), Verdict::Nondeterministic);
        assert_eq!(verdict(vec![vec![a(), a()], vec![failed()]]), Verdict::OrderDependent);
        assert_eq!(verdict(vec![vec![failed()], vec![failed()]]), Verdict::Failed);
    }

    #[test]
    fn differences_are_reported_with_their_schedules() {
        let outputs = [output()];
        let mut all = Outcomes::new(&outputs);
        for values in [[1.0, 2.0], [1.0, 2.0], [1.0, 4.5]] {
            all.begin();
            all.add(run(values));
        }
        let found = all.differences(|n| n as u64 + 10);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].schedules, found[0].index, found[0].mismatches), ([10, 12], 1, 1));
        assert_eq!(found[0].values, ["2.0", "4.5"]);
        assert_eq!(all.tallies().iter().map(|t| t.outcomes.clone()).collect::<Vec<_>>(), [[0], [0], [1]]);
    }
}
