//! A campaign: mutants of a kernel against the tests of a suite, from enumeration to the result.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::cfg::taint::Taint;
use crate::coverage::build::Assay;
use crate::error::{Error, Result};
use crate::exec::{Executor, Target};
use crate::instrument::mutants::Edit;
use crate::kernel::ast::Ast;
use crate::kernel::interface::ArgKind;
use crate::kernel::ir;
use crate::kernel::source::Sources;
use crate::result::journal::Journal;
use crate::result::mutate::{self as result, Location, MutateResult, Position, Status};
use crate::result::shard::Shard;
use crate::result::{Device, hash, mutate_summary};
use crate::suite::resolve::Test;

use super::configuration::{configuration, options_of};
use super::engine::{Engine, Expense, Options, Reach, Strategy};
use super::enumerate::{Enumeration, enumerate};
use super::equivalence::{self, Verdict};
use super::forge::Forge;
use super::mutant::{Mutant, SourceRange};
use super::operators::{OPERATORS, Subject, launch};
use super::orders;
use super::runner;
use super::selection::Selection;
use super::trial::Trial;
use super::verdict::Fate;

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
}

/// A kernel with its tests.
pub struct Matter<'a, 'c> {
    pub assay: &'a Assay<'c>,
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
    /// A mutant whose fate stands.
    Decided(Box<result::Mutant>),
}

/// What a mutant equals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The original, and why.
    Equivalent(String),
    /// The mutant of this id.
    Duplicate(String),
}

/// The repeats of a kernel whose work-items meet, and of others (specification, section 2).
const REPEATS: (u32, u32) = (3, 1);

/// The class of an operator of [`OPERATORS`], for scores.
pub fn class_of(operator: &str) -> String {
    OPERATORS.iter().find(|o| o.id == operator).map_or_else(String::new, |o| o.class.to_owned())
}

/// Runs a campaign. `lanes`: executors of one device. `known`: what a journal holds already.
///
/// # Errors
/// Of the environment; `Internal` if a pass fails. Tests that the original fails are named in the result.
pub fn run(
    matter: &Matter<'_, '_>,
    request: &Request,
    lanes: Vec<Box<dyn Executor>>,
    journal: Option<&Journal>,
    known: Vec<Entry>,
) -> Result<MutateResult> {
    let begun = Instant::now();
    let mutants = mutants(matter, request);
    let mut book = Book::open(&mutants, request, journal, known);
    let searched = Instant::now();
    book.classify(matter, request)?;
    let equivalence_s = searched.elapsed().as_secs_f64();

    let device = lanes.first().map(|lane| device(lane.as_ref()));
    let repeats = request.repeats.unwrap_or_else(|| match meets(matter.assay) {
        true => REPEATS.0,
        false => REPEATS.1,
    });
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
    let mut engine = Engine::new(Forge::new(matter.assay, target), lanes, matter.tests, &mutants, options);
    engine.prunable = prunable(matter.assay, &mutants);
    let mine: Vec<usize> = (0..mutants.len()).filter(|m| book.is_ours(*m)).collect();
    let pairs = match request.order {
        2 => book.pairs(&mutants, request),
        _ => Vec::new(),
    };
    // What is to be woven: what is to be run, alone or in a pair.
    let mut wanted: Vec<usize> = mine.iter().copied().filter(|m| !book.is_decided(*m)).collect();
    wanted.extend(pairs.iter().filter(|p| p.ours && p.conflict.is_none()).flat_map(|p| [p.first, p.second]));
    wanted.sort_unstable();
    wanted.dedup();
    engine.try_original(&wanted, request.order == 2)?;
    let reach: HashMap<usize, Reach> = wanted.iter().copied().zip(engine.reach(&wanted)?).collect();
    first_order(&mut engine, &mut book, &wanted, &reach)?;
    if !pairs.is_empty() {
        second_order(&mut engine, &mut book, &pairs, &reach)?;
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
        kernel: matter.assay.entry.clone(),
        source: matter.source.clone(),
        device,
        seed: request.seed,
        elapsed_s: begun.elapsed().as_secs_f64(),
        configuration: configuration(matter, request),
        shard: request.shard.map(|s| s.to_string()),
        options: options_of(request),
        texts: texts(matter, &book.rows),
        summary: result::Summary::default(),
        operators: BTreeMap::new(),
        classes: BTreeMap::new(),
        lines: BTreeMap::new(),
        timing: timing(&expense, equivalence_s, engine.trials()),
        mutants: book.into_rows(),
        tests,
        second_order: None,
        pairs: None,
        notes,
    };
    mutate_summary::finish(&mut done, &class_of);
    Ok(done)
}

/// The hashes of the files that rows refer to, as far as they can be read.
fn texts(matter: &Matter<'_, '_>, rows: &[result::Mutant]) -> BTreeMap<String, String> {
    let spellings = rows.iter().filter_map(|r| r.spelling.as_ref());
    let files: BTreeSet<&str> =
        rows.iter().map(|r| &r.location).chain(spellings).map(|l| l.file.as_str()).filter(|f| !f.is_empty()).collect();
    let hash = |file: &str| matter.sources.text(file).map(|text| (file.to_owned(), hash::of_text(text.as_bytes())));
    files.into_iter().filter_map(hash).collect()
}

/// All mutants, launch mutants behind the others; with `--sample`, of order 1, those drawn.
pub fn mutants(matter: &Matter<'_, '_>, request: &Request) -> Vec<Mutant> {
    let assay = matter.assay;
    let subject = Subject {
        module: ir::shortened(&assay.module),
        entry: &assay.entry,
        interface: &assay.interface,
        sites: &assay.sites,
        ast: matter.ast,
        sources: matter.sources,
        preset: request.selection.preset(),
    };
    let Enumeration { mut mutants, .. } = enumerate(&subject, &request.selection);
    let dimensions = matter.tests.iter().map(|t| t.launch.range.dims as usize).max().unwrap_or(0);
    mutants.extend(launch::mutants(&assay.entry, dimensions, &request.selection));
    if let (1, Some(count)) = (request.order, request.sample) {
        let drawn = orders::sample(mutants.len(), count, request.seed);
        let mut all: Vec<Option<Mutant>> = mutants.into_iter().map(Some).collect();
        mutants = drawn.into_iter().filter_map(|m| all[m].take()).collect();
    }
    mutants
}

/// Whether work-items of the kernel meet: in atomics, barriers or local memory.
fn meets(assay: &Assay<'_>) -> bool {
    let calls = ir::functions(&assay.module).into_iter().map(ir::Function::name);
    let by_name = calls.into_iter().any(|name| {
        ["atomic_", "atom_", "barrier", "mem_fence", "work_group_", "sub_group_"].iter().any(|part| name.contains(part))
    });
    by_name
        || !assay.interface.local_variables.is_empty()
        || assay.interface.args.iter().any(|a| matches!(a.kind, ArgKind::Local { .. }))
}

/// By mutant: whether all that it changes computes the same in every run of the original.
fn prunable(assay: &Assay<'_>, mutants: &[Mutant]) -> Vec<bool> {
    let taint = Taint::of(&assay.module, &assay.sites);
    let terminator = |f: usize, b: usize| assay.sites.functions[f].cfg.blocks[b].instructions.len().saturating_sub(1);
    let stable = |m: &Mutant| {
        let places = m.edit.places(&terminator);
        !m.is_structural
            && matches!(m.edit, Edit::Value { .. })
            && places.iter().all(|p| !taint.is_tainted(p.function, p.block, p.instruction))
    };
    mutants.iter().map(stable).collect()
}

fn first_order(
    engine: &mut Engine<'_, '_>,
    book: &mut Book<'_>,
    wanted: &[usize],
    reach: &HashMap<usize, Reach>,
) -> Result<()> {
    let names: Vec<String> = engine.trials().iter().map(|t| t.test.name.clone()).collect();
    for m in wanted {
        book.covered(*m, &reach[m], &names);
    }
    let open: Vec<usize> = wanted.iter().copied().filter(|m| book.is_ours(*m) && !book.is_decided(*m)).collect();
    let cases = open.iter().map(|m| (vec![*m], reach[m].runs.clone())).collect();
    let all: Vec<String> = engine.tests.iter().map(|t| t.name.clone()).collect();
    let journal = book.journal;
    let rows = &book.rows;
    let row = |at: usize, fate: &Fate| {
        let mut row = rows[open[at]].clone();
        settle(&mut row, fate, reach[&open[at]].reached.contains(&true), &all);
        row
    };
    let decided = |at: usize, fate: &Fate| match journal {
        Some(journal) => journal.append(&Entry::Decided(Box::new(row(at, fate)))),
        None => Ok(()),
    };
    let fates = engine.run(cases, engine.is_for_pairs(), &decided)?;
    let done: Vec<result::Mutant> = fates.iter().enumerate().map(|(at, fate)| row(at, fate)).collect();
    for (m, row) in open.into_iter().zip(done) {
        book.decide(m, row);
    }
    Ok(())
}

fn second_order(
    engine: &mut Engine<'_, '_>,
    book: &mut Book<'_>,
    pairs: &[Pair],
    reach: &HashMap<usize, Reach>,
) -> Result<()> {
    let names: Vec<String> = engine.trials().iter().map(|t| t.test.name.clone()).collect();
    let all: Vec<String> = engine.tests.iter().map(|t| t.name.clone()).collect();
    let either = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(a, b)| *a || *b).collect::<Vec<bool>>();
    let both: Vec<Reach> = pairs
        .iter()
        .map(|p| match (reach.get(&p.first), reach.get(&p.second)) {
            (Some(a), Some(b)) => Reach { reached: either(&a.reached, &b.reached), runs: either(&a.runs, &b.runs) },
            _ => Reach::default(),
        })
        .collect();
    let mut rows: Vec<result::Mutant> =
        pairs.iter().zip(&both).map(|(p, reach)| book.pair_row(p, reach, &names)).collect();
    let open: Vec<usize> = (0..pairs.len()).filter(|p| rows[*p].status == Status::Pending && pairs[*p].ours).collect();
    let cases = open.iter().map(|p| (vec![pairs[*p].first, pairs[*p].second], both[*p].runs.clone())).collect();
    let journal = book.journal;
    let row = |at: usize, fate: &Fate| {
        let mut row = rows[open[at]].clone();
        settle(&mut row, fate, both[open[at]].reached.contains(&true), &all);
        row
    };
    let decided = |at: usize, fate: &Fate| match journal {
        Some(journal) => journal.append(&Entry::Decided(Box::new(row(at, fate)))),
        None => Ok(()),
    };
    let fates = engine.run(cases, true, &decided)?;
    let done: Vec<result::Mutant> = fates.iter().enumerate().map(|(at, fate)| row(at, fate)).collect();
    for (p, row) in open.into_iter().zip(done) {
        rows[p] = row;
    }
    book.pairs = rows;
    Ok(())
}

/// Writes a fate into a mutant's row.
fn settle(row: &mut result::Mutant, fate: &Fate, reached: bool, tests: &[String]) {
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

fn timing(expense: &Expense, equivalence_s: f64, trials: &[Trial<'_>]) -> result::Timing {
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
        originals_s: trials.iter().map(|t| (t.test.name.clone(), t.kernel_time.as_secs_f64())).collect(),
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

/// A pair of first-order mutants, by position.
struct Pair {
    id: String,
    first: usize,
    second: usize,
    conflict: Option<&'static str>,
    /// Of this shard.
    ours: bool,
}

/// What is known of each mutant.
struct Book<'a> {
    journal: Option<&'a Journal>,
    rows: Vec<result::Mutant>,
    decided: Vec<bool>,
    ours: Vec<bool>,
    classified: Option<Vec<(String, Class)>>,
    /// Rows of pairs, those of the journal first.
    pairs: Vec<result::Mutant>,
    mutants: &'a [Mutant],
    shard: Option<Shard>,
}

impl<'a> Book<'a> {
    fn open(mutants: &'a [Mutant], request: &Request, journal: Option<&'a Journal>, known: Vec<Entry>) -> Book<'a> {
        let mut book = Book {
            journal,
            rows: mutants.iter().map(row).collect(),
            decided: vec![false; mutants.len()],
            ours: vec![true; mutants.len()],
            classified: None,
            pairs: Vec::new(),
            mutants,
            shard: request.shard,
        };
        let positions: HashMap<&str, usize> = mutants.iter().enumerate().map(|(i, m)| (m.id.as_str(), i)).collect();
        for entry in known {
            match entry {
                Entry::Classified(all) => book.classified = Some(all),
                Entry::Decided(row) => match positions.get(row.id.as_str()) {
                    Some(m) => {
                        book.rows[*m] = *row;
                        book.decided[*m] = true;
                    }
                    None => book.pairs.push(*row),
                },
            }
        }
        book
    }

    fn is_ours(&self, m: usize) -> bool {
        self.ours[m] && self.rows[m].duplicate_of.is_none()
    }

    fn is_decided(&self, m: usize) -> bool {
        self.decided[m]
    }

    fn decide(&mut self, m: usize, row: result::Mutant) {
        self.rows[m] = row;
        self.decided[m] = true;
    }

    /// Finds equivalents and duplicates, among all mutants, so that every shard finds the same ones.
    fn classify(&mut self, matter: &Matter<'_, '_>, request: &Request) -> Result<()> {
        let classes = match self.classified.take() {
            Some(classes) => classes,
            None => {
                let classes = classes(matter, self.mutants, request)?;
                if let Some(journal) = self.journal {
                    journal.append(&Entry::Classified(classes.clone()))?;
                }
                classes
            }
        };
        let positions: HashMap<&str, usize> =
            self.mutants.iter().enumerate().map(|(i, m)| (m.id.as_str(), i)).collect();
        for (id, class) in &classes {
            let Some(m) = positions.get(id.as_str()).copied() else { continue };
            match class {
                Class::Equivalent(reason) => {
                    self.rows[m].status = Status::Equivalent;
                    self.rows[m].reason = Some(reason.clone());
                    self.decided[m] = true;
                }
                Class::Duplicate(of) => {
                    self.rows[m].duplicate_of = Some(of.clone());
                    self.decided[m] = true;
                }
            }
        }
        if let Some(shard) = self.shard {
            for m in 0..self.rows.len() {
                let id = self.rows[m].duplicate_of.as_ref().unwrap_or(&self.rows[m].id);
                self.ours[m] = shard.owns(id, None);
                if !self.ours[m] {
                    self.rows[m].status = Status::Pending;
                    self.rows[m].reason = None;
                }
            }
        }
        Ok(())
    }

    fn covered(&mut self, m: usize, reach: &Reach, names: &[String]) {
        if self.is_ours(m) && !self.decided[m] {
            self.rows[m].covered_by = covered(reach, names);
        }
    }

    /// Pairs of first-order mutants that are not the same as another (LIU 6.2.1).
    fn pairs(&self, mutants: &[Mutant], request: &Request) -> Vec<Pair> {
        let first: Vec<usize> = (0..mutants.len()).filter(|m| self.rows[*m].duplicate_of.is_none()).collect();
        orders::pairs(&first, request.sample, request.seed)
            .into_iter()
            .map(|(first, second)| {
                let id = format!("{} + {}", mutants[first].id, mutants[second].id);
                Pair {
                    first,
                    second,
                    conflict: orders::conflict(&mutants[first].edit, &mutants[second].edit),
                    ours: self.shard.is_none_or(|shard| shard.owns(&id, None)),
                    id,
                }
            })
            .collect()
    }

    fn pair_row(&self, pair: &Pair, reach: &Reach, names: &[String]) -> result::Mutant {
        if let Some(known) = self.pairs.iter().find(|row| row.id == pair.id) {
            return known.clone();
        }
        let (a, b) = (&self.rows[pair.first], &self.rows[pair.second]);
        let conflict = pair.conflict.filter(|_| pair.ours);
        result::Mutant {
            id: pair.id.clone(),
            operator: format!("{}+{}", a.operator, b.operator),
            function: a.function.clone(),
            original: format!("{} … {}", a.original, b.original),
            replacement: format!("{} … {}", a.replacement, b.replacement),
            location: a.location.clone(),
            spelling: None,
            status: if conflict.is_some() { Status::Ignored } else { Status::Pending },
            killed_by: Vec::new(),
            covered_by: if pair.ours { covered(reach, names) } else { Vec::new() },
            duplicate_of: None,
            reason: conflict.map(str::to_owned),
            parts: vec![a.id.clone(), b.id.clone()],
        }
    }

    fn into_rows(self) -> Vec<result::Mutant> {
        self.rows.into_iter().chain(self.pairs).collect()
    }
}

fn covered(reach: &Reach, names: &[String]) -> Vec<String> {
    names.iter().zip(&reach.reached).filter(|(_, reached)| **reached).map(|(name, _)| name.clone()).collect()
}

/// What [`run`] may be given as known, so that several campaigns search for equivalents once.
///
/// # Errors
/// As of [`equivalence::classify`].
pub fn classified(matter: &Matter<'_, '_>, request: &Request) -> Result<Entry> {
    classes(matter, &mutants(matter, request), request).map(Entry::Classified)
}

/// The search for equivalents and duplicates.
fn classes(matter: &Matter<'_, '_>, mutants: &[Mutant], request: &Request) -> Result<Vec<(String, Class)>> {
    // What is the same edit needs no proof.
    let mut first: HashMap<String, usize> = HashMap::new();
    let same: Vec<usize> =
        mutants.iter().enumerate().map(|(i, m)| *first.entry(format!("{:?}", m.edit)).or_insert(i)).collect();
    let distinct: Vec<usize> = (0..mutants.len()).filter(|m| same[*m] == *m).collect();
    let edits: Vec<&Edit> = distinct.iter().map(|m| &mutants[*m].edit).collect();
    let bitcode = matter.assay.module.write_bitcode_to_memory();
    let verdicts = equivalence::classify(
        bitcode.as_slice(),
        &matter.assay.sites,
        &matter.assay.entry,
        &edits,
        (request.jobs as usize).max(std::thread::available_parallelism().map_or(1, usize::from)),
        request.end,
    )?;
    if verdicts.len() != distinct.len() {
        return Err(Error::internal("the search for equivalents lost a mutant"));
    }
    let mut classes: Vec<Option<Class>> = vec![None; mutants.len()];
    for (m, verdict) in distinct.iter().zip(verdicts) {
        classes[*m] = match verdict {
            Verdict::Distinct => None,
            Verdict::Equivalent { reason } => Some(Class::Equivalent(reason)),
            Verdict::DuplicateOf(other) => Some(Class::Duplicate(mutants[distinct[other]].id.clone())),
        };
    }
    for m in (0..mutants.len()).filter(|m| same[*m] != *m) {
        // A duplicate's status is that of the first; of a duplicate's duplicate, of that one's.
        classes[m] = match &classes[same[m]] {
            Some(Class::Duplicate(id)) => Some(Class::Duplicate(id.clone())),
            _ => Some(Class::Duplicate(mutants[same[m]].id.clone())),
        };
    }
    Ok(mutants.iter().zip(classes).filter_map(|(mutant, class)| Some((mutant.id.clone(), class?))).collect())
}

/// The row of a mutant of which nothing is known yet.
fn row(mutant: &Mutant) -> result::Mutant {
    result::Mutant {
        id: mutant.id.clone(),
        operator: mutant.operator.to_owned(),
        function: mutant.function.clone(),
        original: mutant.original.clone(),
        replacement: mutant.replacement.clone(),
        location: mutant.range.as_ref().map(location).unwrap_or_default(),
        spelling: mutant.spelling.as_ref().map(location),
        status: Status::Pending,
        killed_by: Vec::new(),
        covered_by: Vec::new(),
        duplicate_of: None,
        reason: None,
        parts: Vec::new(),
    }
}

fn location(range: &SourceRange) -> Location {
    let position = |s: super::mutant::Spot| Position { line: s.line, column: s.column };
    Location { file: range.file.clone(), start: position(range.start), end: position(range.end) }
}
