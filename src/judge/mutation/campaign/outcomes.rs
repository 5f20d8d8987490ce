//! Runs mutants and pairs of mutants, and writes the outcomes into their rows.

use std::collections::HashMap;

use kassay_base::error::Result;
use kassay_results::result::mutate::{self as result, Status, TestNames};

use super::context::{CampaignContext, Request};
use super::decided_row::DecidedRow;
use super::equivalence_classes::threads;
use super::records::{Entry, Records};
use super::reuse::{KnownVerdicts, Reuse};
use super::rows::{MutantPair, Rows};
use crate::mutation::catalogue::indices::{MutantIndex, TestIndex};
use crate::mutation::catalogue::mutant::Mutant;
use crate::mutation::run::engine::{Engine, Reach};
use crate::mutation::run::runner::Scenario;
use crate::mutation::run::synchronisation::{self, MutantRuns, SimulatorJudge};
use crate::mutation::run::test_lists::TestLists;
use crate::mutation::run::verdict::MutantOutcome;

/// Runs the open first-order mutants of this shard and enters their outcomes. Returns those that were run.
pub fn first_order(
    engine: &mut Engine<'_, '_>,
    (rows, records): (&mut Rows<'_>, &Records<'_>),
    wanted: &[MutantIndex],
    reach: &HashMap<MutantIndex, Reach>,
    items_interact: bool,
    reuse: &Reuse,
) -> Result<Vec<MutantIndex>> {
    let used = engine.used();
    for m in wanted {
        rows.set_covered(*m, rows.lists.of(reach[m].tests(&used)));
    }
    let open: Vec<MutantIndex> =
        wanted.iter().copied().filter(|m| rows.is_in_shard(*m) && !rows.is_decided(*m)).collect();
    let mut runs = Vec::with_capacity(open.len());
    for m in &open {
        let known = reuse.known(*m, &used);
        let tests = known.as_ref().map_or_else(|| reach[m].runs.clone(), |known| known.open(&reach[m], &used));
        runs.push(OpenRow::new(vec![*m], &reach[m], tests, known, &mut rows.rows[*m]));
    }
    let mutants = engine.mutants;
    // Mutants that the simulator judges too are journalled after it has.
    let is_final = |at: usize, status: Status| !is_simulated(&mutants[open[at]], status, items_interact);
    let ran = run_rows(engine, (records, rows.lists), runs, engine.is_for_pairs(), &is_final)?;
    for (m, row) in open.iter().zip(ran) {
        rows.decide(*m, row);
    }
    Ok(open)
}

/// Runs the open pairs of this shard and enters the rows of all pairs.
pub fn second_order(
    engine: &mut Engine<'_, '_>,
    (rows, records): (&mut Rows<'_>, &Records<'_>),
    pairs: &[MutantPair],
    reach: &HashMap<MutantIndex, Reach>,
) -> Result<()> {
    let used = engine.used();
    let either = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(a, b)| *a || *b).collect::<Vec<bool>>();
    let both: Vec<Reach> = pairs
        .iter()
        .map(|p| match (reach.get(&p.first), reach.get(&p.second)) {
            (Some(a), Some(b)) => Reach { reached: either(&a.reached, &b.reached), runs: either(&a.runs, &b.runs) },
            _ => Reach::default(),
        })
        .collect();
    let covering = both.iter().map(|reach| rows.lists.of(reach.tests(&used))).collect();
    let mut of_pairs = rows.pair_rows(pairs, covering);
    let open: Vec<usize> =
        (0..pairs.len()).filter(|p| of_pairs[*p].status == Status::Pending && pairs[*p].in_shard).collect();
    let parts = |p: usize| vec![pairs[p].first, pairs[p].second];
    let run = |p: &usize| OpenRow::new(parts(*p), &both[*p], both[*p].runs.clone(), None, &mut of_pairs[*p]);
    let runs = open.iter().map(run).collect();
    for (p, row) in open.iter().zip(run_rows(engine, (records, rows.lists), runs, true, &|_, _| true)?) {
        of_pairs[*p] = row;
    }
    rows.pairs = of_pairs;
    Ok(())
}

/// A mutant or a pair that is to be run.
struct OpenRow<'a> {
    mutants: Vec<MutantIndex>,
    reach: &'a Reach,
    /// The tests that it is run on, by position of the baseline.
    runs: Vec<bool>,
    /// Verdicts of other tests.
    known: Option<KnownVerdicts>,
    /// Row of the mutant in the result, without an outcome and without tests.
    row: result::Mutant,
    /// The tests that reach it.
    covered_by: TestNames,
}

/// Runs mutants or pairs and returns their rows with the outcomes. An outcome with a status `is_final`, by the position
/// of the row, if nothing else decides about it: it is then journalled.
fn run_rows(
    engine: &mut Engine<'_, '_>,
    (records, lists): (&Records<'_>, &TestLists),
    open: Vec<OpenRow<'_>>,
    pairs: bool,
    is_final: &(dyn Fn(usize, Status) -> bool + Sync),
) -> Result<Vec<result::Mutant>> {
    let used = engine.used();
    let decided = |at: usize, outcome: &MutantOutcome| {
        let Some(journal) = records.journal() else { return Ok(()) };
        let row = open[at].with(outcome, lists);
        if is_final(at, row.status) { journal.append(&open[at].entry(row, outcome, &used)) } else { Ok(()) }
    };
    let scenario = |open: &OpenRow<'_>| Scenario { mutants: open.mutants.clone(), tests: open.runs.clone() };
    let outcomes = engine.run(open.iter().map(scenario).collect(), pairs, &decided)?;
    Ok(open.into_iter().zip(&outcomes).map(|(open, outcome)| open.complete(outcome, lists)).collect())
}

impl<'a> OpenRow<'a> {
    /// Takes the tests that reach the mutant from its row.
    fn new(
        mutants: Vec<MutantIndex>,
        reach: &'a Reach,
        runs: Vec<bool>,
        known: Option<KnownVerdicts>,
        row: &mut result::Mutant,
    ) -> OpenRow<'a> {
        let covered_by = std::mem::take(&mut row.covered_by);
        OpenRow { mutants, reach, runs, known, row: row.clone(), covered_by }
    }

    /// Returns its row with an outcome, and without the tests that this run has found to detect the mutant, or to reach
    /// it.
    fn with(&self, outcome: &MutantOutcome, lists: &TestLists) -> result::Mutant {
        let mut row = self.row.clone();
        record_status(&mut row, outcome, self.reach.reached.contains(&true));
        if let Some(known) = self.known.as_ref().filter(|_| !outcome.is_decided()) {
            known.complete(&mut row, lists);
            row.taken_over = !self.runs.contains(&true) && row.status != Status::NoCoverage;
        }
        row
    }

    /// Returns the entry of the journal for the row that [`OpenRow::with`] returned. `used`: the tests of baselines.
    fn entry(&self, mut row: result::Mutant, outcome: &MutantOutcome, used: &[TestIndex]) -> Entry {
        if !row.killed_by.is_empty() {
            row.covered_by = self.covered_by.clone();
            return Entry::Decided(Box::new(row));
        }
        Entry::Ran(Box::new(DecidedRow::new(row, outcome.killed_by.iter().copied(), self.reach.tests(used))))
    }

    /// Returns its row with an outcome and all tests.
    fn complete(self, outcome: &MutantOutcome, lists: &TestLists) -> result::Mutant {
        let mut row = self.with(outcome, lists);
        if row.killed_by.is_empty() {
            row.killed_by = lists.of(outcome.killed_by.iter().copied());
        }
        row.covered_by = self.covered_by;
        row
    }
}

/// Decides whether the simulator judges a mutant too: one that changes synchronisation; and, where work-items interact,
/// any whose runs differ, fault or do not terminate, which a race may or may not cause.
fn is_simulated(mutant: &Mutant, status: Status, items_interact: bool) -> bool {
    let may_depend_on_schedule = matches!(status, Status::Undecided | Status::RuntimeError | Status::Timeout);
    let was_run = may_depend_on_schedule || matches!(status, Status::Killed | Status::Survived);
    was_run && synchronisation::synchronises(mutant)
        || may_depend_on_schedule && items_interact && mutant.edit.is_woven()
}

/// Judges on the simulator the mutants whose outcome on a device depends on chance. Returns what it could not judge.
pub fn judge_on_simulator(
    engine: &Engine<'_, '_>,
    (rows, records): (&mut Rows<'_>, &Records<'_>),
    campaign: &CampaignContext<'_, '_>,
    request: &Request,
    open: &[MutantIndex],
    reach: &HashMap<MutantIndex, Reach>,
    items_interact: bool,
) -> Result<Vec<result::NotSimulated>> {
    let mutants = engine.mutants;
    let judged = open.iter().copied().filter(|m| is_simulated(&mutants[*m], rows.rows[*m].status, items_interact));
    let judged: Vec<MutantIndex> = judged.collect();
    if judged.is_empty() || engine.settings().is_over() {
        return Ok(Vec::new());
    }
    let wanted: Vec<MutantRuns<'_>> = judged.iter().map(|m| MutantRuns { mutant: *m, runs: &reach[m].runs }).collect();
    let judge = SimulatorJudge {
        under_test: campaign.under_test,
        mutants,
        baselines: engine.baselines(),
        settings: engine.settings(),
        threads: threads(request),
    };
    let report = judge.judge(&wanted)?;
    for m in judged {
        let found = report.outcomes.get(&m).filter(|found| found.outcome.is_decided());
        if let Some(found) = found {
            let row = &mut rows.rows[m];
            record_outcome(row, &found.outcome, true, rows.lists);
            row.schedule = Some(found.schedule.clone()).filter(|s| !s.is_natural());
        }
        records.append(&Entry::Decided(Box::new(rows.rows[m].clone())))?;
    }
    Ok(report.not_simulated)
}

/// Writes an outcome into a mutant's row.
fn record_outcome(row: &mut result::Mutant, outcome: &MutantOutcome, reached: bool, lists: &TestLists) {
    record_status(row, outcome, reached);
    row.killed_by = lists.of(outcome.killed_by.iter().copied());
}

/// Writes an outcome without its tests into a mutant's row.
fn record_status(row: &mut result::Mutant, outcome: &MutantOutcome, reached: bool) {
    (row.status, row.reason) = outcome.status(reached);
}
