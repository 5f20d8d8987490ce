//! Runs a mutation campaign, the mutants of a kernel against the tests of a suite, from enumeration to the result.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::hash;
use crate::kernel::source::Sources;
use crate::result::journal::Journal;
use crate::result::mutate::{self as result, Comparison, MutateResult, Status, TestNames, TestStatus};
use crate::result::{Device, Header, mutate_summary};
use crate::solve;
use crate::suite::resolve::Test;

use super::baseline::{DropReason, TestBaseline};
pub use super::campaign_context::{CampaignContext, Request, dimensions};
use super::changed_lines::ChangedLines;
use super::configuration::{configuration, options_of};
use super::decided_row::DecidedRow;
use super::engine::{Engine, EngineCost, Options, Reach};
pub use super::equivalence_classes::Class;
use super::equivalence_classes::threads;
use super::indices::{ByMutant, MutantIndex, TestIndex};
use super::item_interaction;
pub use super::ledger::Entry;
use super::ledger::{self, Ledger, MutantPair};
use super::module_builder::ModuleBuilder;
use super::mutant::{Excluded, Mutant};
pub use super::mutant_set::mutants;
use super::mutant_set::{MutantSet, mutant_set};
use super::operators::OPERATORS;
use super::prunable;
use super::runner::Scenario;
pub use super::searched_ahead::SearchedAhead;
use super::searched_ahead::{instructions_to_normalise, search};
use super::source_level::SourceMutants;
use super::synchronisation::{self, MutantRuns, SimulatorJudge};
use super::takeover::{self, KnownVerdicts, Takeover};
use super::test_lists::TestLists;
use super::verdict::MutantOutcome;

/// Default repeats of a kernel whose work-items interact, and of any other (`--repeats` in docs/mutate.md).
const REPEATS: (u32, u32) = (3, 1);

/// Default of [`Request::most_before`]: takes some ten seconds on two processors. Afterwards, equal mutants are sought
/// only among those that behaved alike; behaviour may be a matter of chance where mutants read uninitialised memory, so
/// smaller kernels are normalised completely before anything runs.
pub const MOST_BEFORE: u64 = 3_000_000;

/// Returns the class of an operator of [`OPERATORS`], for scores; empty for an unknown id.
pub fn class_of(operator: &str) -> String {
    OPERATORS.iter().find(|o| o.id == operator).map_or_else(String::new, |o| o.class.to_owned())
}

/// Runs a campaign. `executors`: all of one device. `known`: entries of an earlier journal. Tests that the original
/// fails are named in the result.
///
/// # Errors
/// `Caller` if the device cannot apply a test's map of work-groups; `Environment` if the device, a worker or the
/// journal fails; `Internal` if a pass fails.
pub fn run(
    campaign: &CampaignContext<'_, '_>,
    request: &Request,
    (executors, ahead): (Vec<Box<dyn Executor>>, Option<SearchedAhead>),
    journal: Option<&Journal>,
    known: Vec<Entry>,
) -> Result<MutateResult> {
    let begun = ahead.as_ref().map_or_else(Instant::now, SearchedAhead::begun);
    let MutantSet { mutants, drawn, elsewhere, notes: of_set } = mutant_set(campaign, request);
    let items_interact = item_interaction::work_items_interact(campaign.under_test);
    let device_info = executors.first().map(|executor| executor.device());
    let takeover = request
        .baseline
        .as_ref()
        .map(|before| Takeover::of(before, campaign, request, &mutants, device_info, items_interact));
    let mut takeover = takeover.unwrap_or_default();
    // What the journal knows comes first: this run found it.
    let known = known.into_iter().chain(std::mem::take(&mut takeover.entries)).collect();
    let lists = TestLists::new(campaign.tests);
    let mut ledger = Ledger::open(&mutants, &lists, request, journal, known);
    let searched = Instant::now();
    // If normal forms take long, mutants run first where that is possible: their behaviour tells most of them apart. It
    // is not possible with pairs, which are formed from distinct mutants, nor with shards, which must agree on the
    // classes before they divide the mutants.
    let is_long = || ahead.is_none() && instructions_to_normalise(campaign, &mutants) > request.most_before;
    let runs_first = request.order == 1 && request.shard.is_none() && !ledger.is_searched() && is_long();
    let taken_ahead = ahead.as_ref().map_or(Duration::ZERO, SearchedAhead::taken);
    match runs_first {
        true => ledger.classify_edits(),
        false => {
            let search = search(request, drawn.is_some());
            ledger.classify(campaign, request, search, ahead.map(SearchedAhead::classes))?;
        }
    }
    let mut equivalence = taken_ahead + searched.elapsed();

    let device = executors.first().map(|executor| device(executor.as_ref()));
    let repeats = request.repeats.unwrap_or(if items_interact { REPEATS.0 } else { REPEATS.1 });
    let options = Options {
        strategy: request.strategy,
        repeats,
        full_matrix: request.full_matrix,
        factor: request.factor,
        timeout: request.timeout,
        prune: request.prune && !request.full_matrix,
        batching: request.batching,
        end: request.end,
    };
    let capabilities = executors.first().map(|executor| executor.capabilities()).unwrap_or_default();
    let mut engine = Engine::new(
        ModuleBuilder::new(campaign.under_test, capabilities.target).for_tests(capabilities, campaign.tests)?,
        executors,
        campaign.tests,
        &mutants,
        options,
    );
    engine.prunable = prunable::prunable(campaign.under_test, &mutants);
    let shard_mutants: Vec<MutantIndex> = ledger.rows.positions().filter(|m| ledger.is_in_shard(*m)).collect();
    let pairs = match request.order {
        2 => ledger.pairs(&mutants, drawn.as_deref(), request.seed),
        _ => Vec::new(),
    };
    // Woven are the mutants to be run, alone or in a pair. For pairs that conflict, the tests that reach them are
    // still reported.
    let mut wanted: Vec<MutantIndex> = shard_mutants.iter().copied().filter(|m| !ledger.is_decided(*m)).collect();
    wanted.extend(pairs.iter().filter(|p| p.in_shard).flat_map(|p| [p.first, p.second]));
    wanted.sort_unstable();
    wanted.dedup();
    let may_run = |m: &MutantIndex| takeover.may_run(*m, campaign.tests.len());
    let woven: Vec<MutantIndex> = wanted.iter().copied().filter(may_run).collect();
    engine.establish_baselines(&woven, request.order == 2, &wanted)?;
    // Proofs that decide about one mutant alone are sought while the device is at work.
    let left_out = ledger.left_out(campaign, request);
    let (reach, mut open, proofs) = std::thread::scope(|scope| -> Result<_> {
        let seeking = left_out.as_ref().map(|proofs| scope.spawn(|| proofs.seek()));
        let reach: HashMap<MutantIndex, Reach> = wanted.iter().copied().zip(engine.reach(&wanted)?).collect();
        let open = first_order(&mut engine, &mut ledger, &wanted, &reach, items_interact, &takeover)?;
        let waiting = Instant::now();
        let lost = || Err(Error::internal("the thread that sought proofs ended early"));
        let proofs = seeking.map(|seeking| seeking.join().unwrap_or_else(|_| lost())).transpose()?;
        equivalence += waiting.elapsed();
        Ok((reach, open, proofs))
    })?;
    if let Some(proofs) = proofs {
        ledger.complete_classes(proofs)?;
    }
    if runs_first {
        let searched = Instant::now();
        ledger.classify_outcomes(campaign, request, items_interact)?;
        equivalence += searched.elapsed();
        open.retain(|m| ledger.is_distinct(*m));
    }
    let judged = Instant::now();
    let mut not_simulated = takeover.not_simulated;
    let judged_now = judge_on_simulator(&engine, &mut ledger, campaign, request, &open, &reach, items_interact)?;
    not_simulated.extend(judged_now.into_iter().filter(|one| !not_simulated.contains(one)).collect::<Vec<_>>());
    let simulator = judged.elapsed();
    let searched = Instant::now();
    let all_ran = !engine.is_out_of_time() && engine.dropped.values().all(Option::is_none);
    ledger.prove(campaign, request, all_ran)?;
    equivalence += searched.elapsed();
    if !pairs.is_empty() {
        second_order(&mut engine, &mut ledger, &pairs, &reach)?;
    }
    let tests = test_outcomes(&engine);
    let cost = engine.cost.clone();
    let mut notes: Vec<String> = request.changes.iter().map(|changes| on_changed_lines(changes, elsewhere)).collect();
    notes.extend(of_set);
    if !engine.is_out_of_time() && tests.iter().all(|t| t.status != TestStatus::Used) {
        notes.push("no test says anything of mutants: the original fails them all, or is not stable".to_owned());
    }
    let mut done = MutateResult {
        header: Header::new(
            MutateResult::SCHEMA,
            campaign.under_test.entry.clone(),
            campaign.source.clone(),
            device,
            request.seed,
        ),
        elapsed_s: begun.elapsed().as_secs_f64(),
        configuration: configuration(campaign, request),
        shard: request.shard.map(|s| s.to_string()),
        options: options_of(request),
        texts: texts(campaign, &ledger.rows),
        summary: result::Summary::default(),
        operators: BTreeMap::new(),
        classes: BTreeMap::new(),
        lines: BTreeMap::new(),
        timing: timing(&cost, equivalence, simulator, engine.baselines()),
        mutants: ledger.into_rows(),
        tests,
        basis: Some(takeover::basis(campaign, request)),
        baseline: takeover.why_not.map(|why| Comparison { why_not: Some(why), ..Comparison::default() }),
        second_order: None,
        pairs: None,
        not_simulated,
        excluded: campaign.source_mutants.map(excluded).unwrap_or_default(),
        complaints: Vec::new(),
        solver: Some(solve::solver()),
        notes,
    };
    mutate_summary::finish(&mut done, &class_of);
    Ok(done)
}

/// Says how many mutants are not on the lines that are wanted.
fn on_changed_lines(changes: &ChangedLines, elsewhere: usize) -> String {
    let mutants = if elsewhere == 1 { "1 mutant is".to_owned() } else { format!("{elsewhere} mutants are") };
    format!("{mutants} left out: only lines that {} changed are mutated", changes.origin)
}

fn excluded(of_source: &SourceMutants) -> Vec<result::Excluded> {
    let row = |excluded: &Excluded| result::Excluded {
        operator: excluded.operator.to_owned(),
        function: excluded.function.clone(),
        location: excluded.range.as_ref().map(ledger::location).unwrap_or_default(),
        reason: excluded.reason.clone(),
    };
    of_source.excluded.iter().map(row).collect()
}

/// Returns the hashes of the files that rows refer to, as far as they can be read.
fn texts(campaign: &CampaignContext<'_, '_>, rows: &ByMutant<result::Mutant>) -> BTreeMap<String, String> {
    let spellings = rows.values().filter_map(|r| r.spelling.as_ref());
    texts_of(rows.values().map(|r| &r.location).chain(spellings).map(|l| l.file.as_str()), campaign.sources)
}

/// Returns the hashes of the files with these names, as far as they can be read.
pub fn texts_of<'f>(files: impl Iterator<Item = &'f str>, sources: &Sources) -> BTreeMap<String, String> {
    let files: BTreeSet<&str> = files.filter(|f| !f.is_empty()).collect();
    let hash = |file: &str| sources.text(file).map(|text| (file.to_owned(), hash::hex_digest(text.as_bytes())));
    files.into_iter().filter_map(hash).collect()
}

/// Runs the open first-order mutants of this shard and enters their outcomes into the ledger. Returns those that
/// were run.
fn first_order(
    engine: &mut Engine<'_, '_>,
    ledger: &mut Ledger<'_>,
    wanted: &[MutantIndex],
    reach: &HashMap<MutantIndex, Reach>,
    items_interact: bool,
    takeover: &Takeover,
) -> Result<Vec<MutantIndex>> {
    let used = engine.used();
    for m in wanted {
        ledger.set_covered(*m, ledger.lists.of(reach[m].tests(&used)));
    }
    let open: Vec<MutantIndex> =
        wanted.iter().copied().filter(|m| ledger.is_in_shard(*m) && !ledger.is_decided(*m)).collect();
    let mut runs = Vec::with_capacity(open.len());
    for m in &open {
        let known = takeover.known(*m, &used);
        let tests = known.as_ref().map_or_else(|| reach[m].runs.clone(), |known| known.open(&reach[m], &used));
        runs.push(OpenRow::new(vec![*m], &reach[m], tests, known, &mut ledger.rows[*m]));
    }
    let mutants = engine.mutants;
    // Mutants that the simulator judges too are journalled after it has.
    let is_final = |at: usize, status: Status| !is_simulated(&mutants[open[at]], status, items_interact);
    let rows = run_rows(engine, (ledger.journal, ledger.lists), runs, engine.is_for_pairs(), &is_final)?;
    for (m, row) in open.iter().zip(rows) {
        ledger.decide(*m, row);
    }
    Ok(open)
}

/// Runs the open pairs of this shard and enters the rows of all pairs into the ledger.
fn second_order(
    engine: &mut Engine<'_, '_>,
    ledger: &mut Ledger<'_>,
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
    let covering = both.iter().map(|reach| ledger.lists.of(reach.tests(&used))).collect();
    let mut rows = ledger.pair_rows(pairs, covering);
    let open: Vec<usize> =
        (0..pairs.len()).filter(|p| rows[*p].status == Status::Pending && pairs[*p].in_shard).collect();
    let parts = |p: usize| vec![pairs[p].first, pairs[p].second];
    let run = |p: &usize| OpenRow::new(parts(*p), &both[*p], both[*p].runs.clone(), None, &mut rows[*p]);
    let runs = open.iter().map(run).collect();
    for (p, row) in open.iter().zip(run_rows(engine, (ledger.journal, ledger.lists), runs, true, &|_, _| true)?) {
        rows[*p] = row;
    }
    ledger.pairs = rows;
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

/// Runs mutants or pairs and returns their rows with the outcomes. An outcome with a status `is_final`, by the position of the row, if
/// nothing else decides about it: it is then journalled.
fn run_rows(
    engine: &mut Engine<'_, '_>,
    (journal, lists): (Option<&Journal>, &TestLists),
    open: Vec<OpenRow<'_>>,
    pairs: bool,
    is_final: &(dyn Fn(usize, Status) -> bool + Sync),
) -> Result<Vec<result::Mutant>> {
    let used = engine.used();
    let decided = |at: usize, outcome: &MutantOutcome| {
        let Some(journal) = journal else { return Ok(()) };
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

    /// Returns its row with an outcome, and without the tests that this run has found to detect the mutant, or to reach it.
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
fn judge_on_simulator(
    engine: &Engine<'_, '_>,
    ledger: &mut Ledger<'_>,
    campaign: &CampaignContext<'_, '_>,
    request: &Request,
    open: &[MutantIndex],
    reach: &HashMap<MutantIndex, Reach>,
    items_interact: bool,
) -> Result<Vec<result::NotSimulated>> {
    let mutants = engine.mutants;
    let judged = open.iter().copied().filter(|m| is_simulated(&mutants[*m], ledger.rows[*m].status, items_interact));
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
            let row = &mut ledger.rows[m];
            record_outcome(row, &found.outcome, true, ledger.lists);
            row.schedule = Some(found.schedule.clone()).filter(|s| !s.is_natural());
        }
        if let Some(journal) = ledger.journal {
            journal.append(&Entry::Decided(Box::new(ledger.rows[m].clone())))?;
        }
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

fn test_outcomes(engine: &Engine<'_, '_>) -> Vec<result::TestOutcome> {
    let outcome = |(test, dropped): (&Test, &Option<DropReason>)| result::TestOutcome {
        name: test.name.clone(),
        status: if dropped.is_some() { TestStatus::Dropped } else { TestStatus::Used },
        reason: dropped.as_ref().map(DropReason::to_string),
        kills: 0,
        reaches: 0,
    };
    engine.tests.iter().zip(engine.dropped.values()).map(outcome).collect()
}

fn timing(
    cost: &EngineCost,
    equivalence: Duration,
    simulator: Duration,
    baselines: &[TestBaseline<'_>],
) -> result::Timing {
    result::Timing {
        build_s: cost.build.as_secs_f64(),
        run_s: cost.run.as_secs_f64(),
        equivalence_s: equivalence.as_secs_f64(),
        simulator_s: simulator.as_secs_f64(),
        builds: cost.builds,
        executions: cost.executions,
        pruned_pairs: cost.pruned_pairs,
        pairs: cost.pairs,
        by_launches: 0,
        module_sizes: cost.module_sizes.clone(),
        batched_pairs: cost.batched_pairs,
        distrusted_modules: cost.distrusted,
        originals_s: baselines
            .iter()
            .filter(|t| !t.kernel_time.is_zero())
            .map(|t| (t.test.name.clone(), t.kernel_time.as_secs_f64()))
            .collect(),
    }
}

fn device(executor: &dyn Executor) -> Device {
    let info = executor.device();
    Device {
        name: info.name.clone(),
        driver: info.driver.clone(),
        kind: info.kind.clone(),
        il_versions: info.languages(),
    }
}

/// Returns the classes of an earlier result as a `known` entry for [`run`], so that campaigns on the same mutants with
/// more tests do not repeat the search for equivalents: mutants that more tests leave undetected were undetected by
/// fewer too, and so have been submitted to the solver already.
pub fn classified(before: &MutateResult) -> Entry {
    let class = |row: &result::Mutant| match (&row.duplicate_of, row.status) {
        (Some(of), _) => Some(Class::Duplicate(of.clone())),
        (None, Status::Equivalent) => Some(Class::Equivalent(row.reason.clone().unwrap_or_default())),
        _ => None,
    };
    Entry::Classified(before.mutants.iter().filter_map(|row| Some((row.id.clone(), class(row)?))).collect())
}
