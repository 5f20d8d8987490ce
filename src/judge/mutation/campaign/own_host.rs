//! Mutation runs of host programs of users' own: from the outcomes that they wrote down to a result. A pure function.

use std::collections::{BTreeMap, BTreeSet};

use kassay_base::error::{Error, Place, Result};
use kassay_base::hash::Fnv1a;
use kassay_ir::instrument::layout::{FaultKind, HEADER_WORDS};
use kassay_ir::instrument::mutants::infection::{InfectionLayout, MutantObservation};
use kassay_results::result::mutate::{self as result, MutateOptions, MutateResult, Status, TestNames, TestStatus};
use kassay_results::result::outcomes::{Outcome, RunEnd, Said};
use kassay_results::result::probe_map::{Change, LeftOut, Mutant, ProbeMap};
use kassay_results::result::{Header, mutate_summary};

use super::class_of;
use crate::mutation::catalogue::indices::TestIndex;
use crate::mutation::catalogue::level::MutationLevel;
use crate::mutation::run::verdict::{MutantOutcome, Shown, TestVerdict};

/// The limit of a mutant's loop iterations that `docs/bring-your-own-host.md` recommends, as a multiple of the
/// original's.
const FACTOR: f64 = 10.0;

/// The reason given for mutants that no outcome says anything of.
const NOT_RUN: &str = "no outcome of it was given";

/// What is known of a test.
#[derive(Default)]
struct TestRuns {
    name: String,
    /// Where it is named first.
    first: Option<Place>,
    /// Runs by module and number.
    runs: BTreeMap<(usize, u32), Vec<(RunEnd, u32)>>,
    /// By module: what the launch of the original reaches.
    reach: BTreeMap<usize, Vec<MutantObservation>>,
}

/// Makes a result of the outcomes of all tests. Statuses are those of `kassay mutate` (docs/mutate.md).
///
/// # Errors
/// `Caller`, with its place, if a test was not run on the original.
pub fn result(map: &ProbeMap, outcomes: Vec<Outcome>) -> Result<MutateResult> {
    let tests = by_test(map, outcomes);
    let dropped: Vec<Option<String>> = tests.iter().map(|test| dropped(map, test)).collect::<Result<_>>()?;
    let used: Vec<(TestIndex, &TestRuns)> = (tests.iter().enumerate().zip(&dropped))
        .filter_map(|((position, test), dropped)| dropped.is_none().then_some((TestIndex(position), test)))
        .collect();
    let mut judge = Judge { map, tests: &tests, used, full_matrix: true, pairs: 0, pruned_pairs: 0, notes: Vec::new() };
    let mut rows: Vec<result::Mutant> = map.mutants.iter().map(|mutant| judge.row(mutant)).collect();
    rows.extend(map.left_out.iter().map(left_out));
    // Both lists are in source order.
    rows.sort_by(|a, b| {
        let key = |row: &result::Mutant| (row.location.start.line == 0, row.location.file.clone(), row.location.start);
        key(a).cmp(&key(b))
    });
    let mut notes = std::mem::take(&mut judge.notes);
    if judge.used.iter().any(|(_, test)| test.reach.is_empty()) {
        notes.push(
            "without `reach` lines of a test, it counts as reaching all mutants that were run on it; the reach modules of \
             the map tell which these are"
                .to_owned(),
        );
    }
    if judge.used.is_empty() {
        notes.push("no test says anything of mutants: the original fails them all, or is not stable".to_owned());
    }
    notes.extend(map.notes.iter().cloned());
    let (full_matrix, pairs, pruned_pairs) = (judge.full_matrix, judge.pairs, judge.pruned_pairs);
    let header = &map.header;
    let mut done = MutateResult {
        header: Header::new(MutateResult::SCHEMA, header.kernel.clone(), header.source.clone(), None, header.seed),
        elapsed_s: 0.0,
        configuration: configuration(map, &tests),
        shard: None,
        options: MutateOptions {
            operators: map.operators.clone().unwrap_or_else(|| "all".to_owned()),
            order: 1,
            sample: None,
            changes: None,
            repeats: None,
            full_matrix,
            timeout_factor: FACTOR,
            strategy: "schemata".to_owned(),
            ir_level: MutationLevel::CANONICAL.optimisation().name().to_owned(),
            level: MutationLevel::CANONICAL.name_in_options().to_owned(),
        },
        texts: map.texts.clone(),
        summary: result::Summary::default(),
        pairs: None,
        operators: BTreeMap::new(),
        classes: BTreeMap::new(),
        lines: BTreeMap::new(),
        timing: result::Timing {
            executions: tests.iter().flat_map(|test| test.runs.values()).map(|runs| runs.len() as u64).sum(),
            pairs,
            pruned_pairs,
            module_sizes: map.modules.iter().map(|module| u64::from(module.mutants.unwrap_or(0))).collect(),
            ..result::Timing::default()
        },
        mutants: rows,
        tests: (tests.iter().zip(dropped))
            .map(|(test, reason)| result::TestOutcome {
                name: test.name.clone(),
                status: if reason.is_some() { TestStatus::Dropped } else { TestStatus::Used },
                reason,
                kills: 0,
                reaches: 0,
            })
            .collect(),
        basis: None,
        baseline: None,
        complaints: Vec::new(),
        solver: None,
        second_order: None,
        not_simulated: Vec::new(),
        excluded: Vec::new(),
        notes,
    };
    mutate_summary::finish(&mut done, &class_of);
    Ok(done)
}

/// Sorts outcomes by test, in the order in which the tests are named.
fn by_test(map: &ProbeMap, outcomes: Vec<Outcome>) -> Vec<TestRuns> {
    let mut tests: Vec<TestRuns> = Vec::new();
    let mut positions: BTreeMap<String, usize> = BTreeMap::new();
    for outcome in outcomes {
        let position = *positions.entry(outcome.test.clone()).or_insert(tests.len());
        if position == tests.len() {
            tests.push(TestRuns { name: outcome.test, first: Some(outcome.at), ..TestRuns::default() });
        }
        let test = &mut tests[position];
        match outcome.said {
            Said::Run { number, end, fault } => {
                test.runs.entry((outcome.module, number)).or_default().push((end, fault));
            }
            Said::Reach(words) => {
                let mut probe = vec![0; HEADER_WORDS as usize];
                probe.extend(words);
                let layout = InfectionLayout::of(map.modules[outcome.module].mutants.unwrap_or(0) as usize);
                let seen = layout.read(&probe);
                let known = test.reach.entry(outcome.module).or_insert_with(|| vec![Default::default(); seen.len()]);
                for (known, seen) in known.iter_mut().zip(seen) {
                    known.reached |= seen.reached;
                    known.infected |= seen.infected;
                }
            }
        }
    }
    tests
}

/// Returns why a test says nothing of mutants: the original does not pass it.
///
/// # Errors
/// `Caller` if the original was not run on it.
fn dropped(map: &ProbeMap, test: &TestRuns) -> Result<Option<String>> {
    let mut originals = test.runs.iter().filter(|((_, number), _)| *number == 0).peekable();
    if originals.peek().is_none() {
        let what = format!("test `{}` was not run on the original, which is number 0", test.name);
        let error = Error::caller(what)
            .help("run the test under number 0, too, and write its line: whether it passes is known only then");
        return Err(test.first.iter().fold(error, |error, place| error.at(place.clone())));
    }
    Ok(originals.find_map(|((module, _), runs)| {
        let verdict = verdict(map, *module, runs);
        let (TestVerdict::Killed(what)
        | TestVerdict::Flaky(what)
        | TestVerdict::Timeout(what)
        | TestVerdict::RuntimeError(what)
        | TestVerdict::Refused(what)) = verdict
        else {
            return None;
        };
        Some(format!("the original does not pass it: {what}"))
    }))
}

/// Judges the repeats of a test under one mutant.
fn verdict(map: &ProbeMap, module: usize, runs: &[(RunEnd, u32)]) -> TestVerdict {
    for (end, _) in runs {
        match end {
            RunEnd::Same | RunEnd::Different => {}
            RunEnd::Timeout => return TestVerdict::Timeout("it did not end, and the host ended it".to_owned()),
            RunEnd::Crash => return TestVerdict::RuntimeError("it took the process or the driver down".to_owned()),
            RunEnd::Refused => return TestVerdict::Refused("the device refused the launch".to_owned()),
        }
    }
    let shown = Shown::of(runs.iter().map(|(end, fault)| (*fault, *end == RunEnd::Different)), false);
    shown.in_words(&|word| describe(map, module, word), || "outputs differ from the reference".to_owned())
}

/// Describes a fault that a guard recorded.
fn describe(map: &ProbeMap, module: usize, word: u32) -> String {
    let Some((kind, number)) = FaultKind::read(word) else { return format!("fault {word}") };
    let place = map.modules[module].guarded.iter().find(|place| place.number == number);
    match place.map(|place| &place.location).filter(|at| at.line > 0) {
        Some(at) => format!("{} at {}:{}:{}", kind.words(), at.file, at.line, at.column),
        None => kind.words().to_owned(),
    }
}

struct Judge<'a> {
    map: &'a ProbeMap,
    tests: &'a [TestRuns],
    /// The tests that judge mutants, with their positions among all.
    used: Vec<(TestIndex, &'a TestRuns)>,
    /// Whether each mutant was run on every test that could tell it from the original.
    full_matrix: bool,
    pairs: u64,
    pruned_pairs: u64,
    notes: Vec<String>,
}

impl Judge<'_> {
    fn row(&mut self, mutant: &Mutant) -> result::Mutant {
        let mut row = row(&mutant.id, &mutant.operator, &mutant.function, Some(&mutant.change));
        row.duplicate_of.clone_from(&mutant.duplicate_of);
        if row.duplicate_of.is_some() {
            return row;
        }
        let module = mutant.module as usize;
        let (mut outcome, mut covered, mut missing) = (MutantOutcome::default(), Vec::new(), Vec::new());
        for (position, test) in &self.used {
            let seen = test.reach.get(&module).and_then(|all| all.get(mutant.number.wrapping_sub(1) as usize));
            let runs = test.runs.get(&(module, mutant.number));
            if seen.map_or(runs.is_some(), |seen| seen.reached) {
                covered.push(test.name.as_str().into());
            }
            match (runs, seen) {
                (Some(runs), _) => {
                    self.pairs += 1;
                    outcome.add(*position, &test.name, &verdict(self.map, module, runs));
                }
                // The test cannot tell it from the original.
                (None, Some(seen)) if !seen.reached => {}
                (None, Some(seen)) if !seen.infected => {
                    self.pruned_pairs += 1;
                    outcome.add(*position, &test.name, &TestVerdict::Passed);
                }
                (None, _) => missing.push(test.name.clone()),
            }
        }
        if let Some(reason) = &mutant.equivalent {
            if outcome.is_decided() {
                self.notes.push(format!(
                    "{}: it is equivalent for launches in bounds ({reason}), and yet a test detects it",
                    mutant.id
                ));
            } else {
                (row.status, row.reason) = (Status::Equivalent, Some(reason.clone()));
                return row;
            }
        }
        self.full_matrix &= missing.is_empty();
        (row.status, row.reason) = match missing.first() {
            Some(test) if !outcome.is_decided() => match missing.len() == self.used.len() {
                true => (Status::Pending, Some(NOT_RUN.to_owned())),
                false => (Status::Pending, Some(format!("no outcome of it on test \"{test}\" was given"))),
            },
            _ => outcome.status(!covered.is_empty()),
        };
        row.killed_by = outcome.killed_by.iter().map(|test| self.tests[test.0].name.as_str().into()).collect();
        row.covered_by = covered.into();
        row
    }
}

/// Returns the row of a mutant that no module holds.
fn left_out(mutant: &LeftOut) -> result::Mutant {
    let mut row = row(&mutant.id, &mutant.operator, &mutant.function, mutant.change.as_ref());
    row.duplicate_of.clone_from(&mutant.duplicate_of);
    (row.status, row.reason) = (Status::Ignored, Some(mutant.reason.clone()));
    row
}

/// Returns the row of a mutant about which nothing is known yet.
fn row(id: &str, operator: &str, function: &str, change: Option<&Change>) -> result::Mutant {
    let location = change.filter(|change| change.location.line > 0).map(|change| result::Location {
        file: change.location.file.clone(),
        start: result::Position { line: change.location.line, column: change.location.column },
        end: result::Position { line: change.end_line, column: change.end_column },
    });
    result::Mutant {
        id: id.to_owned(),
        operator: operator.to_owned(),
        function: function.to_owned(),
        original: change.map(|change| change.original.clone()).unwrap_or_default(),
        replacement: change.map(|change| change.replacement.clone()).unwrap_or_default(),
        location: location.unwrap_or_default(),
        spelling: change.and_then(|change| change.spelling.clone()),
        status: Status::Pending,
        killed_by: TestNames::default(),
        covered_by: TestNames::default(),
        duplicate_of: None,
        reason: None,
        schedule: None,
        parts: Vec::new(),
        decided_by: None,
        edit: None,
        taken_over: false,
    }
}

/// Returns a hash, in hexadecimal, of what determines mutants and verdicts, as far as it is known: the modules, the
/// mutants and the names of the tests.
fn configuration(map: &ProbeMap, tests: &[TestRuns]) -> String {
    let mut hash = Fnv1a::default();
    let modules = map.modules.iter().map(|module| module.hash.as_str());
    let ids = map.mutants.iter().map(|m| m.id.as_str()).chain(map.left_out.iter().map(|m| m.id.as_str()));
    let names: BTreeSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    for part in std::iter::once(env!("CARGO_PKG_VERSION")).chain(modules).chain(ids).chain(names) {
        hash.add(part.as_bytes());
        hash.add(&[0]);
    }
    format!("{:016x}", hash.value())
}
