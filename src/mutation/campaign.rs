//! A campaign: mutants of a kernel against the tests of a suite, from enumeration to the result.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::coverage::build::KernelUnderTest;
use crate::error::Result;
use crate::exec::{Executor, Target};
use crate::instrument::mutants::Edit;
use crate::kernel::ast::Ast;
use crate::kernel::ir;
use crate::kernel::source::Sources;
use crate::result::journal::Journal;
use crate::result::mutate::{self as result, MutateResult, Status};
use crate::result::shard::Shard;
use crate::result::{Device, hash, mutate_summary};
use crate::suite::resolve::Test;

use super::baseline::TestBaseline;
use super::configuration::{configuration, options_of};
use super::engine::{Engine, Expense, Options, Reach, Strategy};
use super::enumerate::{Enumeration, enumerate};
use super::equivalence;
pub use super::equivalence_classes::Class;
use super::equivalence_classes::Search;
use super::higher_order;
use super::item_interaction;
use super::ledger::{Ledger, MutantPair};
use super::module_builder::ModuleBuilder;
use super::mutant::Mutant;
use super::operators::{OPERATORS, Subject, launch};
use super::prunable;
use super::runner;
use super::selection::Selection;
use super::synchronisation::{self, Wanted, Watch};
use super::verdict::MutantOutcome;

/// What a campaign is asked to do.
#[derive(Debug, Clone)]
pub struct Request {
    pub selection: Selection,
    /// 1 or 2.
    pub order: u32,
    /// Of order 1: mutants to draw; of order 2: pairs.
    pub sample: Option<u64>,
    /// `None`: 1, and 3 where atomics, barriers or local memory are in play.
    pub repeats: Option<u32>,
    pub full_matrix: bool,
    pub factor: f64,
    pub strategy: Strategy,
    pub ir_level: String,
    pub shard: Option<Shard>,
    pub seed: u64,
    pub jobs: u32,
    /// Wall-clock limit of one run of the original.
    pub timeout: Duration,
    /// Whether pairs that infection rules out are left out. Not with a full matrix.
    pub prune: bool,
    pub batch: bool,
    /// When to stop: what is not decided then stays pending, what is not proved distinct.
    pub end: Option<Instant>,
    /// Have the solver asked of killed mutants too: one that it takes for equivalent is a fault of kassay.
    pub doubt: bool,
    /// Instructions that are brought into normal forms before anything runs, at most; with more to be done, mutants run first.
    pub most_before: u64,
}

/// A kernel with its tests.
pub struct CampaignContext<'a, 'c> {
    pub under_test: &'a KernelUnderTest<'c>,
    /// Canonical bitcode, for the search for equivalents.
    pub ast: Option<&'a Ast>,
    pub sources: &'a Sources,
    pub tests: &'a [Test],
    /// Path as given.
    pub source: String,
}

/// A line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// What the search for equivalents found, all of it: id, and what it is (the others are distinct).
    Classified(Vec<(String, Class)>),
    /// The same by normal forms alone: what no test detects is still to be proved.
    Sorted(Vec<(String, Class)>),
    /// Ids, each with whether it is proved to be equivalent.
    Proved(Vec<(String, bool)>),
    /// A mutant whose fate stands.
    Decided(Box<result::Mutant>),
}

/// The repeats of a kernel whose work-items meet, and of others (specification, section 2).
const REPEATS: (u32, u32) = (3, 1);

/// What [`Request::most_before`] usually is: some ten seconds on two processors. What mutants do, by which equals are sought in fewer
/// afterwards, may be luck where they read what nobody wrote, so that smaller kernels do without.
pub const MOST_BEFORE: u64 = 3_000_000;

/// The class of an operator of [`OPERATORS`], for scores.
pub fn class_of(operator: &str) -> String {
    OPERATORS.iter().find(|o| o.id == operator).map_or_else(String::new, |o| o.class.to_owned())
}

/// Runs a campaign. `lanes`: executors of one device. `known`: what a journal holds already.
///
/// # Errors
/// Of the environment; `Internal` if a pass fails. Tests that the original fails are named in the result.
pub fn run(
    campaign: &CampaignContext<'_, '_>,
    request: &Request,
    lanes: Vec<Box<dyn Executor>>,
    journal: Option<&Journal>,
    known: Vec<Entry>,
) -> Result<MutateResult> {
    let begun = Instant::now();
    let Population { mutants, drawn } = population(campaign, request);
    let mut ledger = Ledger::open(&mutants, request, journal, known);
    let searched = Instant::now();
    // What is in no pair because it equals another follows from proofs; what was drawn is not thinned out.
    let search = match (request.order, &drawn) {
        (1, _) => Search::Forms,
        (_, Some(_)) => Search::Originals,
        (_, None) => Search::Proofs,
    };
    // Where normal forms take long, running comes first, if it can: what mutants do tells most of them apart. Pairs are made of what
    // is distinct, and shards share out what all of them know.
    let is_long = || {
        let edits: Vec<&Edit> = mutants.iter().map(|m| &m.edit).collect();
        equivalence::work(&campaign.under_test.module, &campaign.under_test.sites, &campaign.under_test.entry, &edits)
            > request.most_before
    };
    let runs_first = request.order == 1 && request.shard.is_none() && !ledger.is_searched() && is_long();
    match runs_first {
        true => ledger.classify_edits(),
        false => ledger.classify(campaign, request, search)?,
    }
    let mut equivalence = searched.elapsed();

    let device = lanes.first().map(|lane| device(lane.as_ref()));
    let meets = item_interaction::meets(campaign.under_test);
    let repeats = request.repeats.unwrap_or(if meets { REPEATS.0 } else { REPEATS.1 });
    let options = Options {
        strategy: request.strategy,
        repeats,
        full_matrix: request.full_matrix,
        factor: request.factor,
        timeout: request.timeout,
        prune: request.prune && !request.full_matrix,
        batch: request.batch,
        end: request.end,
    };
    let target = lanes.first().map_or(Target::SpirV, |lane| lane.target());
    let mut engine = Engine::new(
        ModuleBuilder::new(campaign.under_test, target).for_tests(campaign.tests)?,
        lanes,
        campaign.tests,
        &mutants,
        options,
    );
    engine.prunable = prunable::prunable(campaign.under_test, &mutants);
    let mine: Vec<usize> = (0..mutants.len()).filter(|m| ledger.is_ours(*m)).collect();
    let pairs = match request.order {
        2 => ledger.pairs(&mutants, drawn.as_deref(), request.seed),
        _ => Vec::new(),
    };
    // What is to be woven: what is to be run, alone or in a pair. Of pairs that cannot be in force it is told who reaches them.
    let mut wanted: Vec<usize> = mine.iter().copied().filter(|m| !ledger.is_decided(*m)).collect();
    wanted.extend(pairs.iter().filter(|p| p.ours).flat_map(|p| [p.first, p.second]));
    wanted.sort_unstable();
    wanted.dedup();
    engine.try_original(&wanted, request.order == 2)?;
    let reach: HashMap<usize, Reach> = wanted.iter().copied().zip(engine.reach(&wanted)?).collect();
    let mut open = first_order(&mut engine, &mut ledger, &wanted, &reach, meets)?;
    if runs_first {
        let searched = Instant::now();
        ledger.classify_outcomes(campaign, request, meets)?;
        equivalence += searched.elapsed();
        open.retain(|m| ledger.is_distinct(*m));
    }
    let not_simulated = watch(&engine, &mut ledger, campaign, &open, &reach, meets)?;
    let searched = Instant::now();
    ledger.prove(campaign, request)?;
    equivalence += searched.elapsed();
    if !pairs.is_empty() {
        second_order(&mut engine, &mut ledger, &pairs, &reach)?;
    }
    let tests = outcomes(&engine);
    let expense = engine.expense.clone();
    let mut notes = Vec::new();
    let untried = tests.iter().any(|t| t.reason.as_deref() == Some(runner::UNTRIED));
    if !untried && tests.iter().all(|t| t.status != "used") {
        notes.push("no test says anything of mutants: the original fails them all, or is not stable".to_owned());
    }
    let mut done = MutateResult {
        schema: MutateResult::SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        kernel: campaign.under_test.entry.clone(),
        source: campaign.source.clone(),
        device,
        seed: request.seed,
        elapsed_s: begun.elapsed().as_secs_f64(),
        configuration: configuration(campaign, request),
        shard: request.shard.map(|s| s.to_string()),
        options: options_of(request),
        texts: texts(campaign, &ledger.rows),
        summary: result::Summary::default(),
        operators: BTreeMap::new(),
        classes: BTreeMap::new(),
        lines: BTreeMap::new(),
        timing: timing(&expense, equivalence.as_secs_f64(), engine.baselines()),
        mutants: ledger.into_rows(),
        tests,
        second_order: None,
        pairs: None,
        not_simulated,
        notes,
    };
    mutate_summary::finish(&mut done, &class_of);
    Ok(done)
}

/// The hashes of the files that rows refer to, as far as they can be read.
fn texts(campaign: &CampaignContext<'_, '_>, rows: &[result::Mutant]) -> BTreeMap<String, String> {
    let spellings = rows.iter().filter_map(|r| r.spelling.as_ref());
    let files: BTreeSet<&str> =
        rows.iter().map(|r| &r.location).chain(spellings).map(|l| l.file.as_str()).filter(|f| !f.is_empty()).collect();
    let hash =
        |file: &str| campaign.sources.text(file).map(|text| (file.to_owned(), hash::hex_digest(text.as_bytes())));
    files.into_iter().filter_map(hash).collect()
}

/// The mutants of a run, and the pairs that were drawn of them.
struct Population {
    mutants: Vec<Mutant>,
    /// By position, of a run of a sample of pairs: its mutants are their parts and no others.
    drawn: Option<Vec<(usize, usize)>>,
}

/// All mutants, launch mutants behind the others; with `--sample` those drawn, or the parts of the pairs that were drawn.
fn population(campaign: &CampaignContext<'_, '_>, request: &Request) -> Population {
    let under_test = campaign.under_test;
    let subject = Subject {
        module: ir::shortened(&under_test.module),
        entry: &under_test.entry,
        interface: &under_test.interface,
        sites: &under_test.sites,
        ast: campaign.ast,
        sources: campaign.sources,
        preset: request.selection.preset(),
        read: Default::default(),
    };
    let Enumeration { mut mutants, mut duplicate_of, .. } = enumerate(&subject, &request.selection);
    let dimensions = campaign.tests.iter().map(|t| t.launch.range.dims as usize).max().unwrap_or(0);
    mutants.extend(launch::mutants(&under_test.entry, dimensions, &request.selection));
    duplicate_of.resize(mutants.len(), None);
    let Some(count) = request.sample else { return Population { mutants, drawn: None } };
    let (kept, drawn) = match request.order {
        1 => (higher_order::sample(mutants.len(), count, request.seed), None),
        _ => {
            // What is the same edit makes the same pairs.
            let first: Vec<usize> = (0..mutants.len()).filter(|m| duplicate_of[*m].is_none()).collect();
            let pairs = higher_order::pairs(&first, Some(count), request.seed);
            let mut parts: Vec<usize> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
            parts.sort_unstable();
            parts.dedup();
            let place = |m: usize| parts.binary_search(&m).unwrap_or(0);
            let pairs = pairs.iter().map(|(a, b)| (place(*a), place(*b))).collect();
            (parts, Some(pairs))
        }
    };
    let mut all: Vec<Option<Mutant>> = mutants.into_iter().map(Some).collect();
    Population { mutants: kept.into_iter().filter_map(|m| all[m].take()).collect(), drawn }
}

/// The mutants of a run, in the order of its result.
pub fn mutants(campaign: &CampaignContext<'_, '_>, request: &Request) -> Vec<Mutant> {
    population(campaign, request).mutants
}

fn first_order(
    engine: &mut Engine<'_, '_>,
    ledger: &mut Ledger<'_>,
    wanted: &[usize],
    reach: &HashMap<usize, Reach>,
    meets: bool,
) -> Result<Vec<usize>> {
    let names: Vec<String> = engine.baselines().iter().map(|t| t.test.name.clone()).collect();
    for m in wanted {
        ledger.covered(*m, &reach[m], &names);
    }
    let open: Vec<usize> = wanted.iter().copied().filter(|m| ledger.is_ours(*m) && !ledger.is_decided(*m)).collect();
    let cases = open.iter().map(|m| (vec![*m], reach[m].runs.clone())).collect();
    let all: Vec<String> = engine.tests.iter().map(|t| t.name.clone()).collect();
    let journal = ledger.journal;
    let rows = &ledger.rows;
    let row = |at: usize, fate: &MutantOutcome| {
        let mut row = rows[open[at]].clone();
        settle(&mut row, fate, reach[&open[at]].reached.contains(&true), &all);
        row
    };
    let mutants = engine.mutants;
    let decided = |at: usize, fate: &MutantOutcome| {
        let row = row(at, fate);
        match journal {
            // What the simulator judges too is told when it has.
            Some(_) if is_watched(&mutants[open[at]], row.status, meets) => Ok(()),
            Some(journal) => journal.append(&Entry::Decided(Box::new(row))),
            None => Ok(()),
        }
    };
    let fates = engine.run(cases, engine.is_for_pairs(), &decided)?;
    let done: Vec<result::Mutant> = fates.iter().enumerate().map(|(at, fate)| row(at, fate)).collect();
    for (m, row) in open.iter().zip(done) {
        ledger.decide(*m, row);
    }
    Ok(open)
}

/// Whether the simulator judges a mutant too: one that changes synchronisation; and where work-items meet, any whose runs differ,
/// fault or do not end, which is what a race may come to or not.
fn is_watched(mutant: &Mutant, status: Status, meets: bool) -> bool {
    let is_lucky = matches!(status, Status::Undecided | Status::RuntimeError | Status::Timeout);
    let was_run = is_lucky || matches!(status, Status::Killed | Status::Survived);
    was_run && synchronisation::synchronises(mutant) || is_lucky && meets && mutant.edit.is_woven()
}

/// Has the simulator judge what devices decide by luck. Returns what it could not judge.
fn watch(
    engine: &Engine<'_, '_>,
    ledger: &mut Ledger<'_>,
    campaign: &CampaignContext<'_, '_>,
    open: &[usize],
    reach: &HashMap<usize, Reach>,
    meets: bool,
) -> Result<Vec<result::NotSimulated>> {
    let mutants = engine.mutants;
    let judged = open.iter().copied().filter(|m| is_watched(&mutants[*m], ledger.rows[*m].status, meets));
    let judged: Vec<usize> = judged.collect();
    if judged.is_empty() || engine.running().is_over() {
        return Ok(Vec::new());
    }
    let wanted: Vec<Wanted<'_>> = judged.iter().map(|m| Wanted { mutant: *m, runs: &reach[m].runs }).collect();
    let watch =
        Watch { under_test: campaign.under_test, mutants, baselines: engine.baselines(), running: engine.running() };
    let watched = watch.judge(&wanted)?;
    let all: Vec<String> = engine.tests.iter().map(|t| t.name.clone()).collect();
    for m in judged {
        let found = watched.found.get(&m).filter(|found| found.fate.is_decided());
        if let Some(found) = found {
            let row = &mut ledger.rows[m];
            settle(row, &found.fate, true, &all);
            row.schedule = Some(found.schedule.clone()).filter(|s| !s.is_natural());
        }
        if let Some(journal) = ledger.journal {
            journal.append(&Entry::Decided(Box::new(ledger.rows[m].clone())))?;
        }
    }
    Ok(watched.left_out)
}

fn second_order(
    engine: &mut Engine<'_, '_>,
    ledger: &mut Ledger<'_>,
    pairs: &[MutantPair],
    reach: &HashMap<usize, Reach>,
) -> Result<()> {
    let names: Vec<String> = engine.baselines().iter().map(|t| t.test.name.clone()).collect();
    let all: Vec<String> = engine.tests.iter().map(|t| t.name.clone()).collect();
    let either = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(a, b)| *a || *b).collect::<Vec<bool>>();
    let both: Vec<Reach> = pairs
        .iter()
        .map(|p| match (reach.get(&p.first), reach.get(&p.second)) {
            (Some(a), Some(b)) => Reach { reached: either(&a.reached, &b.reached), runs: either(&a.runs, &b.runs) },
            _ => Reach::default(),
        })
        .collect();
    let mut rows = ledger.pair_rows(pairs, &both, &names);
    let open: Vec<usize> = (0..pairs.len()).filter(|p| rows[*p].status == Status::Pending && pairs[*p].ours).collect();
    let cases = open.iter().map(|p| (vec![pairs[*p].first, pairs[*p].second], both[*p].runs.clone())).collect();
    let journal = ledger.journal;
    let row = |at: usize, fate: &MutantOutcome| {
        let mut row = rows[open[at]].clone();
        settle(&mut row, fate, both[open[at]].reached.contains(&true), &all);
        row
    };
    let decided = |at: usize, fate: &MutantOutcome| match journal {
        Some(journal) => journal.append(&Entry::Decided(Box::new(row(at, fate)))),
        None => Ok(()),
    };
    let fates = engine.run(cases, true, &decided)?;
    let done: Vec<result::Mutant> = fates.iter().enumerate().map(|(at, fate)| row(at, fate)).collect();
    for (p, row) in open.into_iter().zip(done) {
        rows[p] = row;
    }
    ledger.pairs = rows;
    Ok(())
}

/// Writes a fate into a mutant's row.
fn settle(row: &mut result::Mutant, fate: &MutantOutcome, reached: bool, tests: &[String]) {
    let (status, reason) = fate.status(reached);
    row.status = status;
    row.reason = reason;
    row.killed_by = fate.killed_by.iter().filter_map(|t| tests.get(*t).cloned()).collect();
}

fn outcomes(engine: &Engine<'_, '_>) -> Vec<result::TestOutcome> {
    let outcome = |(i, test): (usize, &Test)| result::TestOutcome {
        name: test.name.clone(),
        status: if engine.dropped[i].is_some() { "dropped".into() } else { "used".into() },
        reason: engine.dropped[i].clone(),
        kills: 0,
        reaches: 0,
    };
    engine.tests.iter().enumerate().map(outcome).collect()
}

fn timing(expense: &Expense, equivalence_s: f64, baselines: &[TestBaseline<'_>]) -> result::Timing {
    result::Timing {
        build_s: expense.build.as_secs_f64(),
        run_s: expense.run.as_secs_f64(),
        equivalence_s,
        builds: expense.builds,
        executions: expense.executions,
        pruned_pairs: expense.pruned_pairs,
        pairs: expense.pairs,
        module_sizes: expense.module_sizes.clone(),
        batched_pairs: expense.batched_pairs,
        distrusted_modules: expense.distrusted,
        originals_s: baselines.iter().map(|t| (t.test.name.clone(), t.kernel_time.as_secs_f64())).collect(),
    }
}

fn device(lane: &dyn Executor) -> Device {
    let info = lane.device();
    Device {
        name: info.name.clone(),
        driver: info.driver.clone(),
        kind: info.kind.clone(),
        il_versions: info.il_versions.clone(),
    }
}

/// What [`run`] may be given as known of the same mutants with more tests, so that campaigns after the first look for no
/// equivalents: what more tests leave was left by fewer.
pub fn classified(before: &MutateResult) -> Entry {
    let class = |row: &result::Mutant| match (&row.duplicate_of, row.status) {
        (Some(of), _) => Some(Class::Duplicate(of.clone())),
        (None, Status::Equivalent) => Some(Class::Equivalent(row.reason.clone().unwrap_or_default())),
        _ => None,
    };
    Entry::Classified(before.mutants.iter().filter_map(|row| Some((row.id.clone(), class(row)?))).collect())
}
