//! Takes fates of mutants over from the result of an earlier run.
//!
//! A mutant is the code of the kernel and an edit of it. Where the code with everything that it calls, the options, the
//! device and kassay are the same, the same edit makes the same mutant, and an unchanged test gives the same verdict.
//! So with the same tests all fates are taken over; with others, verdicts of unchanged tests are, and the mutants are
//! run on the rest. docs/mutate.md states the rule.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use kassay_base::hash;
use kassay_results::result::mutate::{self as result, Basis, MutateResult, NotSimulated, Status, TestStatus};
use kassay_run::exec::DeviceInfo;
use kassay_suite::launch::ArgValue;
use kassay_suite::resolve::Test;

use super::configuration::options_of;
use super::content_hashes::ContentHashes;
use super::context::{CampaignContext, Request};
use super::equivalence_classes::Class;
use super::records::Entry;
use super::rows;
use crate::mutation::catalogue::indices::{MutantIndex, TestIndex};
use crate::mutation::catalogue::moved_places::MovedPlaces;
use crate::mutation::catalogue::mutant::Mutant;
use crate::mutation::equivalence::{PROVED, SAME_REFINED_FORM};
use crate::mutation::run::engine::Reach;
use crate::mutation::run::synchronisation::is_of_synchronisation;
use crate::mutation::run::test_lists::TestLists;
use crate::mutation::run::verdict;

/// Returns what a later run compares to know what has not changed.
pub fn basis(campaign: &CampaignContext<'_, '_>, request: &Request) -> Basis {
    Basis {
        code: hash_of(&[campaign.under_test.code_text().as_bytes()]),
        options: options(request),
        tests: campaign.tests.iter().map(|test| (test.name.clone(), of_test(test, &campaign.contents))).collect(),
    }
}

fn hash_of(parts: &[&[u8]]) -> String {
    format!("{:032x}", hash::wide(parts))
}

/// Returns the hash of the options that can change a verdict: which mutants are made is none of them.
fn options(request: &Request) -> String {
    let of_mutants = result::MutateOptions {
        operators: String::new(),
        sample: None,
        changes: None,
        order: 1,
        ..options_of(request)
    };
    let Request { seed, prune, launch_facts, .. } = request;
    hash_of(&[format!("{of_mutants:?} {seed} {prune} {launch_facts}").as_bytes()])
}

/// Returns the hash of what a test launches and expects.
fn of_test(test: &Test, contents: &ContentHashes) -> String {
    let launch = &test.launch;
    let mut text = format!(
        "{:?} {:?} {} {:?} {:?} {:?} {:?} {:?}",
        launch.range,
        launch.schedule,
        launch.allows_faults,
        launch.margins,
        launch.views,
        test.faulted,
        test.outputs,
        test.limit
    );
    // Contents may be large, and are hashed as they are.
    for arg in &launch.args {
        let _: std::fmt::Result = match arg {
            ArgValue::Buffer(bytes) => write!(text, " {}", contents.of(bytes)),
            ArgValue::Image { shape, format, texels } => write!(text, " {shape:?} {format:?} {}", contents.of(texels)),
            other => write!(text, " {other:?}"),
        };
    }
    for e in &test.expectations {
        let _: std::fmt::Result =
            write!(text, " {} {:?} {:?} {}", e.position, e.ty, e.tolerance, contents.of(&e.bytes));
    }
    hash_of(&[text.as_bytes()])
}

/// The verdicts of tests on a mutant, as far as an earlier run gave them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownVerdicts {
    /// Tests that it passes, if they reach it.
    passed: BTreeSet<TestIndex>,
    /// The test that detects it.
    detected: Option<Detection>,
}

#[derive(Debug, Clone, PartialEq)]
struct Detection {
    test: TestIndex,
    status: Status,
    reason: Option<String>,
}

impl KnownVerdicts {
    /// Returns whether the verdict of a test has to be found out: none is known, and none of an earlier test decides.
    fn is_open(&self, test: TestIndex) -> bool {
        !self.passed.contains(&test) && self.detected.as_ref().is_none_or(|detected| test < detected.test)
    }

    /// Returns the tests that a mutant still has to be run on, by position of the baseline. `used`: the tests that
    /// these are of.
    pub fn open(&self, reach: &Reach, used: &[TestIndex]) -> Vec<bool> {
        reach.runs.iter().zip(used).map(|(runs, test)| *runs && self.is_open(*test)).collect()
    }

    /// Forgets the verdict of a test that is not used now.
    fn only(mut self, used: &[TestIndex]) -> KnownVerdicts {
        self.detected = self.detected.filter(|detected| used.contains(&detected.test));
        self
    }

    /// Writes the known detection into the row of a mutant that no other test detects.
    pub fn complete(&self, row: &mut result::Mutant, lists: &TestLists) {
        if let Some(Detection { test, status, reason }) = &self.detected {
            (row.status, row.reason) = (*status, reason.clone());
            row.killed_by = lists.of([*test]);
        }
    }
}

/// What is taken over from an earlier result.
#[derive(Debug, Default)]
pub struct Reuse {
    /// What is known of mutants, as a journal would tell.
    pub entries: Vec<Entry>,
    /// What the simulator could not judge.
    pub not_simulated: Vec<NotSimulated>,
    /// Why not everything is taken over.
    pub why_not: Option<String>,
    /// Verdicts on mutants that are not decided yet.
    known: HashMap<MutantIndex, KnownVerdicts>,
}

impl Reuse {
    /// Returns what a run takes over. `items_interact`: whether work-items do.
    pub fn of(
        before: &MutateResult,
        campaign: &CampaignContext<'_, '_>,
        request: &Request,
        mutants: &[Mutant],
        device: Option<&DeviceInfo>,
        items_interact: bool,
    ) -> Reuse {
        let now = basis(campaign, request);
        let nothing = |why: &str| Reuse { why_not: Some(why.to_owned()), ..Reuse::default() };
        let Some(then) = &before.basis else { return nothing("the baseline does not tell what its fates depend on") };
        let same_device = match (&before.header.device, device) {
            (Some(a), Some(b)) => (&a.name, &a.driver, &a.kind) == (&b.name, &b.driver, &b.kind),
            _ => false,
        };
        let differing = [
            (before.header.version != env!("CARGO_PKG_VERSION"), "the baseline is of another version of kassay"),
            (!same_device, "the baseline is of another device"),
            (then.options != now.options, "the baseline is of other options"),
            (then.code != now.code, "the kernel, or something that it calls, has changed"),
        ];
        if let Some((_, why)) = differing.iter().find(|(differs, _)| *differs) {
            return nothing(why);
        }
        let old = OldTests::of(before, then, &now, campaign.tests);
        let why_not = match (old.all_same, items_interact, request.full_matrix) {
            (true, ..) => None,
            (false, true, _) => return nothing("tests have changed, and the work-items of the kernel interact"),
            (false, false, true) => return nothing("tests have changed, and --full-matrix wants verdicts of all"),
            (false, false, false) => Some("tests have changed: only verdicts of the others are taken over".to_owned()),
        };
        let rows = Rows::of(before, mutants);
        let mut all = Reuse { why_not, ..Reuse::default() };
        all.entries.extend(rows.classes(mutants));
        all.entries.push(Entry::Proved(rows.proofs(mutants)));
        if old.all_same && request.launch_facts {
            let survived = |(m, row): (MutantIndex, &result::Mutant)| {
                (row.status == Status::Survived).then(|| (mutants[m].id.clone(), false))
            };
            all.entries.push(Entry::ProvedForLaunches(rows.distinct().filter_map(survived).collect()));
            all.not_simulated = rows.not_simulated(&before.not_simulated, mutants);
        }
        let places = MovedPlaces::between(rows.pairs.iter().map(|(m, row)| (&row.location, &mutants[*m])));
        for (m, row) in rows.distinct() {
            let is_here = request.shard.is_none_or(|shard| shard.owns(&mutants[m].id, None));
            if !is_here || row.status == Status::Timeout && verdict::is_by_the_clock(row.reason.as_deref()) {
                continue;
            }
            let reason = row.reason.as_ref().map(|reason| places.moved(reason));
            let is_final = match old.all_same {
                true => !matches!(row.status, Status::Pending | Status::Undecided),
                // Proofs say nothing of tests.
                false => row.status == Status::Equivalent,
            };
            if is_final {
                all.entries.push(Entry::Decided(Box::new(result::Mutant {
                    status: row.status,
                    killed_by: row.killed_by.clone(),
                    covered_by: row.covered_by.clone(),
                    reason,
                    schedule: row.schedule.clone(),
                    taken_over: row.status != Status::Equivalent,
                    ..rows::row(&mutants[m])
                })));
            } else if !old.all_same
                && let Some(known) = old.verdicts(row, reason, request.repeats.unwrap_or(1) == 1)
                && mutants[m].edit.is_woven()
                && !is_of_synchronisation(mutants[m].operator)
            {
                all.known.insert(m, known);
            }
        }
        all
    }

    /// Returns whether the mutant may have to be run. `tests`: how many tests there are.
    pub fn may_run(&self, m: MutantIndex, tests: usize) -> bool {
        self.known.get(&m).is_none_or(|known| (0..tests).any(|test| known.is_open(TestIndex(test))))
    }

    /// Returns the known verdicts of the tests that are used on a mutant.
    pub fn known(&self, m: MutantIndex, used: &[TestIndex]) -> Option<KnownVerdicts> {
        self.known.get(&m).map(|known| known.clone().only(used))
    }
}

/// The tests of the earlier run.
struct OldTests<'a> {
    /// In their order, with the position now of those that have not changed.
    tests: Vec<(&'a str, Option<TestIndex>)>,
    /// Whether they are the tests of now, in the same order.
    all_same: bool,
}

impl<'a> OldTests<'a> {
    fn of(before: &'a MutateResult, then: &Basis, now: &Basis, tests: &[Test]) -> OldTests<'a> {
        let positions: HashMap<&str, usize> = tests.iter().map(|test| test.name.as_str()).zip(0..).collect();
        let position = |test: &'a result::TestOutcome| {
            let name = test.name.as_str();
            let is_same = test.status == TestStatus::Used
                && then.tests.contains_key(name)
                && then.tests.get(name) == now.tests.get(name);
            (name, positions.get(name).filter(|_| is_same).map(|at| TestIndex(*at)))
        };
        let old: Vec<(&str, Option<TestIndex>)> = before.tests.iter().map(position).collect();
        let in_order = old.iter().enumerate().all(|(at, (_, now))| *now == Some(TestIndex(at)));
        OldTests { all_same: in_order && old.len() == tests.len(), tests: old }
    }

    /// Returns what a row tells of verdicts of tests that have not changed; `None`: the mutant has to be run on all.
    /// `once`: it was run once on each test, so that one which does not detect it has passed.
    fn verdicts(&self, row: &result::Mutant, reason: Option<String>, once: bool) -> Option<KnownVerdicts> {
        let unchanged = |tests: &[(&str, Option<TestIndex>)]| tests.iter().filter_map(|(_, now)| *now).collect();
        match row.status {
            Status::Survived | Status::NoCoverage => {
                Some(KnownVerdicts { passed: unchanged(&self.tests), detected: None })
            }
            Status::EquivalentForLaunches if once => {
                Some(KnownVerdicts { passed: unchanged(&self.tests), detected: None })
            }
            Status::Killed | Status::RuntimeError | Status::Timeout => {
                let killer = row.killed_by.first()?;
                let at = self.tests.iter().position(|(name, _)| **name == **killer)?;
                let detected = self.tests[at].1.map(|test| Detection { test, status: row.status, reason });
                // For the tests before, it is not known whether repeated runs differed: that matters only if none
                // detects it.
                let passed = if once || detected.is_some() { unchanged(&self.tests[..at]) } else { BTreeSet::new() };
                Some(KnownVerdicts { passed, detected })
            }
            _ => None,
        }
    }
}

/// The rows of the earlier result, by the mutants of now.
struct Rows<'a> {
    pairs: BTreeMap<MutantIndex, &'a result::Mutant>,
    /// By an id in the earlier result.
    positions: HashMap<&'a str, MutantIndex>,
    /// Whether each mutant has a row.
    is_complete: bool,
}

impl<'a> Rows<'a> {
    /// Pairs mutants with rows of the same edit, in the order of both.
    fn of(before: &'a MutateResult, mutants: &[Mutant]) -> Rows<'a> {
        let mut waiting: HashMap<&str, std::collections::VecDeque<&result::Mutant>> = HashMap::new();
        for row in before.mutants.iter().filter(|row| !row.is_pair()) {
            if let Some(edit) = row.edit.as_deref() {
                waiting.entry(edit).or_default().push_back(row);
            }
        }
        let mut pairs = BTreeMap::new();
        for (m, mutant) in mutants.iter().enumerate() {
            if let Some(row) =
                waiting.get_mut(mutant.edit_hash().as_str()).and_then(std::collections::VecDeque::pop_front)
            {
                pairs.insert(MutantIndex(m), row);
            }
        }
        let positions = pairs.iter().map(|(m, row)| (row.id.as_str(), *m)).collect();
        Rows { is_complete: pairs.len() == mutants.len(), pairs, positions }
    }

    /// Returns the mutants that are no duplicates, with their rows.
    fn distinct(&self) -> impl Iterator<Item = (MutantIndex, &'a result::Mutant)> {
        self.pairs.iter().filter(|(_, row)| row.duplicate_of.is_none()).map(|(m, row)| (*m, *row))
    }

    /// Returns what mutants equal by their normal forms, if that is known of all.
    fn classes(&self, mutants: &[Mutant]) -> Option<Entry> {
        let mut entries = Vec::new();
        // Where the mutant that others equal is not made now, the first of them stands for it.
        let mut first: HashMap<&str, MutantIndex> = HashMap::new();
        for (m, row) in &self.pairs {
            let class = match (row.duplicate_of.as_deref(), row.status) {
                (Some(of), _) => {
                    let of = *first.entry(of).or_insert_with(|| self.positions.get(of).copied().unwrap_or(*m));
                    (of != *m).then(|| Class::Duplicate(mutants[of].id.clone()))
                }
                (None, Status::Equivalent) if !is_proof(row) => row.reason.clone().map(Class::Equivalent),
                _ => None,
            };
            entries.extend(class.map(|class| (mutants[*m].id.clone(), class)));
        }
        self.is_complete.then_some(Entry::Sorted(entries))
    }

    /// Returns which proofs were sought and found: those of what no test detected.
    fn proofs(&self, mutants: &[Mutant]) -> Vec<(String, Option<String>)> {
        let proof = |(m, row): (&MutantIndex, &&result::Mutant)| {
            let sought = row.status.is_undetected() && (row.status != Status::Equivalent || is_proof(row));
            let found = row.reason.clone().filter(|_| row.status == Status::Equivalent);
            sought.then(|| (mutants[*m].id.clone(), found))
        };
        self.pairs.iter().filter_map(proof).collect()
    }

    /// Returns what the simulator could not judge, with the ids of now.
    fn not_simulated(&self, before: &[NotSimulated], mutants: &[Mutant]) -> Vec<NotSimulated> {
        let renamed = |one: &NotSimulated| match &one.mutant {
            None => Some(one.clone()),
            Some(id) => {
                let m = self.positions.get(id.as_str())?;
                Some(NotSimulated { mutant: Some(mutants[*m].id.clone()), ..one.clone() })
            }
        };
        before.iter().filter_map(renamed).collect()
    }
}

fn is_proof(row: &result::Mutant) -> bool {
    row.reason.as_deref().is_some_and(|reason| reason == PROVED || reason == SAME_REFINED_FORM)
}
