//! Derives numbers, scores and the breakdown of pairs from the statuses of mutants. Pure; used by runs and by `merge`.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxHashMap;

use super::mutate::{Mutant, MutateResult, SecondOrder, Status, Summary};
use super::sum;

impl Status {
    /// Returns whether some test distinguishes the mutant from the original (LIU 6.4.2).
    pub fn is_detected(self) -> bool {
        matches!(self, Status::Killed | Status::RuntimeError | Status::Timeout)
    }

    /// Returns whether no test distinguishes the mutant from the original, although it could be run.
    pub fn is_undetected(self) -> bool {
        matches!(self, Status::Survived | Status::Undecided | Status::NoCoverage | Status::EquivalentForLaunches)
            || self.is_equivalent()
    }

    /// Returns whether the mutant is proved to behave like the original in all launches. Of one that does so in those
    /// of the tests alone, tests of other sizes may tell: the suite has missed it.
    pub fn is_equivalent(self) -> bool {
        self == Status::Equivalent
    }
}

impl Mutant {
    /// Returns whether this is a pair of first-order mutants.
    pub fn is_pair(&self) -> bool {
        !self.parts.is_empty()
    }
}

/// Counts mutants one by one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    counts: Summary,
    /// Those that some test reaches.
    reached: u64,
}

impl Tally {
    /// Counts a mutant.
    pub fn add(&mut self, mutant: &Mutant) {
        let s = &mut self.counts;
        s.total += 1;
        if mutant.duplicate_of.is_some() {
            s.duplicate += 1;
            return;
        }
        let counted = !matches!(mutant.status, Status::Ignored | Status::Pending);
        self.reached += u64::from(counted && !mutant.covered_by.is_empty());
        *match mutant.status {
            Status::Killed => &mut s.killed,
            Status::Survived => &mut s.survived,
            Status::Timeout => &mut s.timeout,
            Status::RuntimeError => &mut s.runtime_error,
            Status::CompileError => &mut s.compile_error,
            Status::NoCoverage => &mut s.no_coverage,
            Status::Ignored => &mut s.ignored,
            Status::Pending => &mut s.pending,
            Status::Undecided => &mut s.undecided,
            Status::Equivalent => &mut s.equivalent,
            Status::EquivalentForLaunches => &mut s.equivalent_for_launches,
        } += 1;
    }

    /// Returns the numbers and scores of what was counted (docs/mutate.md).
    pub fn summary(&self) -> Summary {
        let Tally { counts: mut s, reached } = *self;
        let run = s.total - s.duplicate - s.ignored - s.pending;
        let judged = run - s.equivalent - s.compile_error;
        s.score = percent(sum([s.killed, s.runtime_error, s.timeout]), judged);
        s.score_without_timeouts = percent(sum([s.killed, s.runtime_error]), judged - s.timeout);
        s.mutation_coverage = percent(reached, run);
        s
    }
}

impl Summary {
    /// Computes the numbers and scores of a set of mutants.
    pub fn of<'m>(mutants: impl IntoIterator<Item = &'m Mutant>) -> Summary {
        let mut tally = Tally::default();
        mutants.into_iter().for_each(|mutant| tally.add(mutant));
        tally.summary()
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// Recomputes everything that follows from `mutants`: the statuses of duplicates, `summary`, `pairs`, `operators`,
/// `classes`, `lines`, `kills` and `reaches` of the tests and, except in a shard, `second_order`. `class_of` returns
/// the class of an operator by its id.
pub fn finish(result: &mut MutateResult, class_of: &dyn Fn(&str) -> String) {
    copy_to_duplicates(&mut result.mutants);
    let first: Vec<&Mutant> = result.mutants.iter().filter(|m| !m.is_pair()).collect();
    result.summary = Summary::of(first.iter().copied());
    result.operators = summaries_by(&first, |m| Some(m.operator.clone()));
    result.classes = summaries_by(&first, |m| Some(class_of(&m.operator)));
    result.lines = summaries_by(&first, |m| {
        let at = &m.location;
        (at.start.line > 0).then(|| format!("{}:{}", at.file, at.start.line))
    });
    let (mut kills, mut reaches): (FxHashMap<&str, u64>, FxHashMap<&str, u64>) = Default::default();
    for mutant in first.iter().filter(|m| m.duplicate_of.is_none()) {
        mutant.killed_by.iter().for_each(|t| *kills.entry(&**t).or_default() += 1);
        mutant.covered_by.iter().for_each(|t| *reaches.entry(&**t).or_default() += 1);
    }
    for test in &mut result.tests {
        test.kills = kills.get(test.name.as_str()).copied().unwrap_or(0);
        test.reaches = reaches.get(test.name.as_str()).copied().unwrap_or(0);
    }
    let of_pairs = result.options.order > 1;
    result.pairs = of_pairs.then(|| Summary::of(result.mutants.iter().filter(|m| m.is_pair())));
    result.second_order = (of_pairs && result.shard.is_none()).then(|| second_order(&result.mutants));
}

/// Copies to each duplicate the status, the tests, the schedule and the reason of the mutant that it equals; a
/// duplicate's own reason is kept.
fn copy_to_duplicates(mutants: &mut [Mutant]) {
    let index: HashMap<&str, usize> = mutants.iter().enumerate().map(|(at, m)| (m.id.as_str(), at)).collect();
    let originals: Vec<(usize, usize)> = (0..mutants.len())
        .filter_map(|at| {
            let mut original = at;
            // Normally one step: originals are not duplicates themselves. The bound ends even a cyclic chain.
            for _ in 0..mutants.len() {
                let Some(next) = mutants[original].duplicate_of.as_deref().and_then(|id| index.get(id)) else { break };
                original = *next;
            }
            (original != at).then_some((at, original))
        })
        .collect();
    for (at, original) in originals {
        let Mutant { status, killed_by, covered_by, reason, schedule, .. } = mutants[original].clone();
        let duplicate = &mut mutants[at];
        duplicate.status = status;
        duplicate.killed_by = killed_by;
        duplicate.covered_by = covered_by;
        duplicate.schedule = schedule;
        duplicate.reason = duplicate.reason.take().or(reason);
    }
}

/// Summarises the mutants by key; those without a key are left out.
fn summaries_by(mutants: &[&Mutant], key: impl Fn(&Mutant) -> Option<String>) -> BTreeMap<String, Summary> {
    let mut groups: BTreeMap<String, Vec<&Mutant>> = BTreeMap::new();
    for mutant in mutants {
        if let Some(key) = key(mutant) {
            groups.entry(key).or_default().push(mutant);
        }
    }
    groups.into_iter().map(|(key, mutants)| (key, Summary::of(mutants))).collect()
}

/// Computes LIU's table 8.4. A part that is not among `mutants` counts as detected.
fn second_order(mutants: &[Mutant]) -> SecondOrder {
    let status: HashMap<&str, Status> = mutants.iter().map(|m| (m.id.as_str(), m.status)).collect();
    let mut table = SecondOrder::default();
    for pair in mutants.iter().filter(|m| m.is_pair() && m.duplicate_of.is_none()) {
        if !pair.status.is_detected() && !pair.status.is_undetected() {
            continue;
        }
        table.pairs += 1;
        if pair.status.is_detected() {
            continue;
        }
        table.survived += 1;
        let (mut equivalent, mut survived) = (0, 0);
        for part in pair.parts.iter().filter_map(|id| status.get(id.as_str())) {
            equivalent += u32::from(part.is_equivalent());
            survived += u32::from(!part.is_equivalent() && part.is_undetected());
        }
        *match (equivalent, survived) {
            (0, 0) => &mut table.others,
            (1, 0) | (0, 1) => &mut table.by_one_equivalent_or_survived,
            (_, 0) => &mut table.by_two_equivalent,
            (0, _) => &mut table.by_two_survived,
            _ => &mut table.by_equivalent_and_survived,
        } += 1;
    }
    table
}
