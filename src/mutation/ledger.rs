//! Keeps what is known about each mutant while a run goes on: its row of the result, its equivalence class, whether it
//! belongs to this shard.

use std::collections::HashMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::campaign_context::{CampaignContext, Request};
use super::decided_row::DecidedRow;
use super::equivalence::SAME_FOR_LAUNCHES;
use super::equivalence_classes::{Class, Classes, Proofs, Search, positions};
use super::higher_order;
use super::indices::{ByMutant, MutantIndex};
use super::mutant::{Mutant, SourceRange, Spot};
use super::test_lists::TestLists;
use crate::error::{Error, Result};
use crate::result::journal::Journal;
use crate::result::mutate::{self as result, Location, Position, Status, TestNames};
use crate::result::shard::Shard;

/// Number of mutants submitted to the solver between two journal entries: the most proofs that an interrupted
/// run loses.
const PROOFS: usize = 128;

/// A line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// The complete outcome of the search for equivalents: ids with their classes (all others are distinct).
    Classified(Vec<(String, Class)>),
    /// The same by normal forms alone: mutants that no test detects are still to be proved.
    Sorted(Vec<(String, Class)>),
    /// Ids, each with the proof that it is equivalent, if one was found.
    Proved(Vec<(String, Option<String>)>),
    /// Ids, each with whether it is proved to be equivalent in the launches of the tests.
    ProvedForLaunches(Vec<(String, bool)>),
    /// A mutant whose outcome is final.
    Decided(Box<result::Mutant>),
    /// The same, of one that this run has decided.
    Ran(Box<DecidedRow>),
}

/// A pair of first-order mutants, by position.
pub struct MutantPair {
    pub id: String,
    pub first: MutantIndex,
    pub second: MutantIndex,
    /// Why the two cannot be in force at once; `None` if they can.
    pub conflict: Option<&'static str>,
    /// Whether the pair belongs to this shard.
    pub in_shard: bool,
}

/// The state of each mutant of a run.
pub struct Ledger<'a> {
    pub journal: Option<&'a Journal>,
    /// The lists of tests that rows share.
    pub lists: &'a TestLists,
    /// Rows of the first-order mutants, by position.
    pub rows: ByMutant<result::Mutant>,
    decided: ByMutant<bool>,
    in_shard: ByMutant<bool>,
    /// Entries of the journal about classes and proofs.
    known: Vec<Entry>,
    classes: Classes,
    /// Rows of pairs: at first those of the journal, in the end all.
    pub pairs: Vec<result::Mutant>,
    mutants: &'a [Mutant],
    shard: Option<Shard>,
}

impl<'a> Ledger<'a> {
    /// Creates the ledger of a run on tests with these names, and enters what the journal knows.
    pub fn open(
        mutants: &'a [Mutant],
        lists: &'a TestLists,
        request: &Request,
        journal: Option<&'a Journal>,
        known: Vec<Entry>,
    ) -> Ledger<'a> {
        let mut ledger = Ledger {
            journal,
            lists,
            rows: mutants.iter().map(row).collect(),
            decided: ByMutant::filled(false, mutants.len()),
            in_shard: ByMutant::filled(true, mutants.len()),
            known: Vec::new(),
            classes: Classes::default(),
            pairs: Vec::new(),
            mutants,
            shard: request.shard,
        };
        let positions = positions(mutants);
        for entry in known {
            let row = match entry {
                Entry::Decided(row) => *row,
                // What is damaged is run again.
                Entry::Ran(row) => match row.with_names(lists) {
                    Some(row) => row,
                    None => continue,
                },
                other => {
                    ledger.known.push(other);
                    continue;
                }
            };
            match positions.get(row.id.as_str()) {
                Some(m) => {
                    ledger.rows[*m] = row;
                    ledger.decided[*m] = true;
                }
                None => ledger.pairs.push(row),
            }
        }
        ledger
    }

    /// Returns whether a mutant is to be run by this shard; duplicates are not.
    pub fn is_in_shard(&self, m: MutantIndex) -> bool {
        self.in_shard[m] && self.rows[m].duplicate_of.is_none()
    }

    /// Returns whether a mutant's row is final.
    pub fn is_decided(&self, m: MutantIndex) -> bool {
        self.decided[m]
    }

    /// Makes `row` the final row of a mutant.
    pub fn decide(&mut self, m: MutantIndex, row: result::Mutant) {
        self.rows[m] = row;
        self.decided[m] = true;
    }

    /// Returns whether a mutant equals neither the original nor another mutant, as far as is known.
    pub fn is_distinct(&self, m: MutantIndex) -> bool {
        self.rows[m].duplicate_of.is_none() && self.rows[m].status != Status::Equivalent
    }

    fn append_to_journal(&self, entry: &Entry) -> Result<()> {
        self.journal.map_or(Ok(()), |journal| journal.append(entry))
    }

    /// Returns whether the journal holds the outcome of a search for equal mutants.
    pub fn is_searched(&self) -> bool {
        self.known.iter().any(|entry| matches!(entry, Entry::Classified(_) | Entry::Sorted(_)))
    }

    /// Finds equivalents and duplicates among all mutants, not only those of this shard, so that every shard finds the
    /// same ones. `ahead`: what such a search has found already.
    ///
    /// # Errors
    /// As for [`Classes::search`]; `Environment` if the journal cannot be written.
    pub fn classify(
        &mut self,
        campaign: &CampaignContext<'_, '_>,
        request: &Request,
        search: Search,
        ahead: Option<Classes>,
    ) -> Result<()> {
        let found = self.known.iter().find_map(|entry| match entry {
            Entry::Classified(all) => Some((all, Search::Proofs)),
            Entry::Sorted(all) => Some((all, Search::NormalForms)),
            _ => None,
        });
        self.classes = match found {
            Some((all, search)) => Classes::from_entries(self.mutants, all, search),
            None => {
                let searched = || Classes::search(campaign, self.mutants, request, search);
                let classes = ahead.map_or_else(searched, Ok)?;
                // With proofs left out, they are entered once these have been sought.
                if classes.left_out().is_empty() {
                    let entries = classes.entries(self.mutants);
                    self.append_to_journal(&match search {
                        Search::OriginalOnly | Search::NormalForms => Entry::Sorted(entries),
                        Search::Proofs => Entry::Classified(entries),
                    })?;
                }
                classes
            }
        };
        self.write_classes();
        if let Some(shard) = self.shard {
            for m in self.rows.positions() {
                let id = self.rows[m].duplicate_of.as_ref().unwrap_or(&self.rows[m].id);
                self.in_shard[m] = shard.owns(id, None);
                if !self.in_shard[m] {
                    self.rows[m].status = Status::Pending;
                    self.rows[m].reason = None;
                }
            }
        }
        Ok(())
    }

    /// Returns the search for proofs that [`Ledger::classify`] has left out, if there are any to be sought.
    pub fn left_out(&self, campaign: &CampaignContext<'a, '_>, request: &Request) -> Option<Proofs<'a>> {
        let which = self.classes.left_out();
        (!which.is_empty()).then(|| Proofs::new(campaign, self.mutants, request, which))
    }

    /// Enters what that search found. What runs of a mutant showed that is proved to be equivalent is dropped from its row.
    ///
    /// # Errors
    /// `Environment` if the journal cannot be written.
    pub fn complete_classes(&mut self, found: Vec<Option<String>>) -> Result<()> {
        let before = self.classes.all(self.mutants);
        self.classes.complete(found);
        self.append_to_journal(&Entry::Classified(self.classes.entries(self.mutants)))?;
        self.apply_proofs(&before);
        Ok(())
    }

    /// Finds the mutants whose edits are equal, before anything is run.
    pub fn classify_edits(&mut self) {
        self.classes = Classes::by_edit(self.mutants);
        self.write_classes();
    }

    /// Finds equivalents and duplicates by normal forms once all mutants have run. Equal mutants behave alike on every
    /// test, and a detected mutant does not equal the original: so a mutant that was detected and behaved like no other
    /// need not be normalised.
    ///
    /// # Errors
    /// As for [`Classes::search`]; `Environment` if the journal cannot be written.
    pub fn classify_outcomes(
        &mut self,
        campaign: &CampaignContext<'_, '_>,
        request: &Request,
        items_interact: bool,
    ) -> Result<()> {
        let possibly_equal = self.possibly_equal(items_interact);
        let mut classes = Classes::search_among(&possibly_equal, campaign, self.mutants, request, Search::NormalForms)?;
        possibly_equal.into_iter().filter(|m| self.rows[*m].status.is_detected()).for_each(|m| classes.set_detected(m));
        self.classes = classes;
        self.append_to_journal(&Entry::Sorted(self.classes.entries(self.mutants)))?;
        self.write_classes();
        Ok(())
    }

    /// Returns the mutants that may equal the original or another mutant, judging by their behaviour. `items_interact`:
    /// whether work-items do, so that equal mutants may compute different values in each run.
    fn possibly_equal(&self, items_interact: bool) -> Vec<MutantIndex> {
        let behaviour = |m: MutantIndex| {
            let row = &self.rows[m];
            let values = (row.status == Status::Killed && !items_interact).then_some((&row.killed_by, &row.reason));
            (row.status, values)
        };
        let ran: Vec<MutantIndex> = self.rows.positions().filter(|m| self.rows[*m].duplicate_of.is_none()).collect();
        let mut count: HashMap<_, usize> = HashMap::new();
        for m in &ran {
            *count.entry(behaviour(*m)).or_default() += 1;
        }
        ran.into_iter().filter(|m| !self.rows[*m].status.is_detected() || count[&behaviour(*m)] > 1).collect()
    }

    /// Writes the classes into the rows. The row of a mutant that equals another or the original holds nothing else.
    fn write_classes(&mut self) {
        for (m, class) in self.rows.positions().zip(self.classes.all(self.mutants).into_values()) {
            let Some(class) = class else { continue };
            let mut row = row(&self.mutants[m]);
            match class {
                Class::Equivalent(reason) => (row.status, row.reason) = (Status::Equivalent, Some(reason)),
                Class::Duplicate(of) => row.duplicate_of = Some(of),
            }
            self.decide(m, row);
        }
    }

    /// Seeks proofs for the mutants that no test detects. A mutant that is proved equivalent stops being a
    /// duplicate or the representative of others, and what its runs showed is dropped from its row.
    ///
    /// # Errors
    /// As for [`Classes::prove`]; `Environment` if the journal cannot be written; `Internal` if a killed mutant is
    /// proved to be equivalent ([`Request::doubt`]).
    pub fn prove(&mut self, campaign: &CampaignContext<'_, '_>, request: &Request, all_ran: bool) -> Result<()> {
        let before = self.classes.all(self.mutants);
        let positions = positions(self.mutants);
        for (id, proved) in self
            .known
            .iter()
            .filter_map(|entry| if let Entry::Proved(all) = entry { Some(all) } else { None })
            .flatten()
        {
            if let Some(m) = positions.get(id.as_str()) {
                self.classes.set_proved(*m, proved.clone());
            }
        }
        let undetected = |m: MutantIndex| {
            let status = self.rows[m].status;
            self.is_in_shard(m) && status.is_undetected() && !status.is_equivalent()
        };
        let open: Vec<MutantIndex> = self.rows.positions().filter(|m| undetected(*m)).collect();
        // Mutants with the same normal form as an undetected one have its outcome.
        let asked = self.classes.unproved(&open);
        self.seek_proofs(campaign, request, &asked)?;
        self.apply_proofs(&before);
        if request.launch_facts {
            self.prove_for_launches(campaign, request, all_ran)?;
        }
        if request.doubt {
            self.check_killed(campaign, request)?;
        }
        Ok(())
    }

    /// Seeks proofs for `asked` until the deadline, and journals the outcomes.
    fn seek_proofs(
        &mut self,
        campaign: &CampaignContext<'_, '_>,
        request: &Request,
        asked: &[MutantIndex],
    ) -> Result<()> {
        for some in asked.chunks(PROOFS) {
            if request.end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            let found = Classes::prove(campaign, self.mutants, request, some)?;
            let answers: Vec<(MutantIndex, Option<String>)> =
                some.iter().zip(found).filter_map(|(m, proof)| Some((*m, proof?))).collect();
            self.append_to_journal(&Entry::Proved(
                answers.iter().map(|(m, proof)| (self.mutants[*m].id.clone(), proof.clone())).collect(),
            ))?;
            answers.into_iter().for_each(|(m, proof)| self.classes.set_proved(m, proof));
        }
        Ok(())
    }

    /// Asks of the mutants that tests reach and do not detect whether other data in launches of the same sizes could.
    /// Their duplicates go with them.
    fn prove_for_launches(&mut self, campaign: &CampaignContext<'_, '_>, request: &Request, ran: bool) -> Result<()> {
        let positions = positions(self.mutants);
        let mut known: HashMap<MutantIndex, bool> = HashMap::new();
        for entry in &self.known {
            let Entry::ProvedForLaunches(all) = entry else { continue };
            known.extend(all.iter().filter_map(|(id, proved)| Some((*positions.get(id.as_str())?, *proved))));
        }
        let is_open = |m: &MutantIndex| {
            self.is_in_shard(*m) && matches!(self.rows[*m].status, Status::Survived | Status::Undecided)
        };
        let open: Vec<MutantIndex> = self.rows.positions().filter(is_open).collect();
        let is_asked = |m: &MutantIndex| !known.contains_key(m);
        let (survived, undecided): (Vec<MutantIndex>, Vec<MutantIndex>) =
            open.iter().copied().filter(is_asked).partition(|m| self.rows[*m].status == Status::Survived);
        let chunks = |all: &[MutantIndex], ran: bool| -> Vec<(Vec<MutantIndex>, bool)> {
            all.chunks(PROOFS).map(|some| (some.to_vec(), ran)).collect()
        };
        let asked = [chunks(&survived, ran), chunks(&undecided, false)].concat();
        for (some, ran) in &asked {
            let found = Classes::prove_for_launches(campaign, self.mutants, request, some, *ran)?;
            let answers: Vec<(MutantIndex, bool)> =
                some.iter().zip(found).filter_map(|(m, proved)| Some((*m, proved?))).collect();
            self.append_to_journal(&Entry::ProvedForLaunches(
                answers.iter().map(|(m, proved)| (self.mutants[*m].id.clone(), *proved)).collect(),
            ))?;
            known.extend(answers);
        }
        for m in open.into_iter().filter(|m| known.get(m) == Some(&true)) {
            let row = &mut self.rows[m];
            (row.status, row.reason) = (Status::EquivalentForLaunches, Some(SAME_FOR_LAUNCHES.to_owned()));
            row.schedule = None;
        }
        Ok(())
    }

    /// Writes into the rows how proofs changed the classes.
    fn apply_proofs(&mut self, before: &ByMutant<Option<Class>>) {
        let after = self.classes.all(self.mutants);
        let positions = positions(self.mutants);
        let inherited: ByMutant<Option<result::Mutant>> = before
            .values()
            .zip(after.values())
            .map(|(before, after)| match (before, after) {
                // Proofs separate it from the mutant that it duplicated; it takes over that mutant's outcome, which
                // would have been its own.
                (Some(Class::Duplicate(of)), None) => positions.get(of.as_str()).map(|m| self.rows[*m].clone()),
                _ => None,
            })
            .collect();
        for m in self.rows.positions().filter(|m| self.in_shard[*m] && before[*m] != after[*m]) {
            let row = &mut self.rows[m];
            match (&after[m], &inherited[m]) {
                (Some(Class::Equivalent(reason)), _) => {
                    (row.status, row.reason) = (Status::Equivalent, Some(reason.clone()));
                    (row.duplicate_of, row.killed_by, row.covered_by) =
                        (None, TestNames::default(), TestNames::default());
                    row.schedule = None;
                }
                (Some(Class::Duplicate(of)), _) => row.duplicate_of = Some(of.clone()),
                (None, Some(source)) => {
                    (row.status, row.reason, row.duplicate_of) = (source.status, source.reason.clone(), None);
                    (row.killed_by, row.covered_by) = (source.killed_by.clone(), source.covered_by.clone());
                }
                (None, None) => {}
            }
        }
    }

    /// Seeks proofs for killed mutants: there must be none.
    fn check_killed(&self, campaign: &CampaignContext<'_, '_>, request: &Request) -> Result<()> {
        let killed = |m: &MutantIndex| {
            matches!(self.rows[*m].status, Status::Killed | Status::RuntimeError) && self.is_in_shard(*m)
        };
        let killed: Vec<MutantIndex> = self.rows.positions().filter(killed).collect();
        let proved = Classes::prove(campaign, self.mutants, request, &killed)?;
        let mut wrong: Vec<MutantIndex> =
            killed.iter().zip(proved).filter(|(_, proof)| matches!(proof, Some(Some(_)))).map(|(m, _)| *m).collect();
        if request.launch_facts {
            let proved = Classes::prove_for_launches(campaign, self.mutants, request, &killed, false)?;
            wrong.extend(killed.iter().zip(proved).filter(|(_, proved)| *proved == Some(true)).map(|(m, _)| *m));
        }
        let wrong: Vec<&str> = wrong.into_iter().map(|m| self.mutants[m].id.as_str()).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Error::internal("mutants that a test kills were proved to be equivalent").details(wrong.join("\n")))
    }

    /// Enters the tests that reach a mutant, unless its row is final or belongs to another shard.
    pub fn set_covered(&mut self, m: MutantIndex, covering: TestNames) {
        if self.is_in_shard(m) && !self.decided[m] {
            self.rows[m].covered_by = covering;
        }
    }

    /// Returns the pairs of first-order mutants, without duplicates (LIU 6.2.1): those that were drawn, or all.
    pub fn pairs(
        &self,
        mutants: &[Mutant],
        drawn: Option<&[(MutantIndex, MutantIndex)]>,
        seed: u64,
    ) -> Vec<MutantPair> {
        let all = || {
            let first: Vec<MutantIndex> =
                self.rows.positions().filter(|m| self.rows[*m].duplicate_of.is_none()).collect();
            higher_order::pairs(&first, None, seed)
        };
        let pairs = drawn.map_or_else(all, <[(MutantIndex, MutantIndex)]>::to_vec);
        let pair = |(first, second): (MutantIndex, MutantIndex)| {
            let id = format!("{} + {}", mutants[first].id, mutants[second].id);
            MutantPair {
                first,
                second,
                conflict: higher_order::conflict(&mutants[first].edit, &mutants[second].edit),
                in_shard: self.shard.is_none_or(|shard| shard.owns(&id, None)),
                id,
            }
        };
        pairs.into_iter().map(pair).collect()
    }

    /// Returns the rows of pairs: those known from the journal, pending ones for the rest. `covering`: for each the tests that reach it.
    pub fn pair_rows(&self, pairs: &[MutantPair], covering: Vec<TestNames>) -> Vec<result::Mutant> {
        let known: HashMap<&str, &result::Mutant> = self.pairs.iter().map(|row| (row.id.as_str(), row)).collect();
        let row = |(pair, covering): (&MutantPair, TestNames)| match known.get(pair.id.as_str()) {
            Some(row) => (*row).clone(),
            None => self.pair_row(pair, covering),
        };
        pairs.iter().zip(covering).map(row).collect()
    }

    fn pair_row(&self, pair: &MutantPair, covering: TestNames) -> result::Mutant {
        let (a, b) = (&self.rows[pair.first], &self.rows[pair.second]);
        let conflict = pair.conflict.filter(|_| pair.in_shard);
        result::Mutant {
            id: pair.id.clone(),
            operator: format!("{}+{}", a.operator, b.operator),
            function: a.function.clone(),
            original: format!("{} … {}", a.original, b.original),
            replacement: format!("{} … {}", a.replacement, b.replacement),
            location: a.location.clone(),
            spelling: None,
            status: if conflict.is_some() { Status::Ignored } else { Status::Pending },
            killed_by: TestNames::default(),
            covered_by: if pair.in_shard { covering } else { TestNames::default() },
            duplicate_of: None,
            reason: conflict.map(str::to_owned),
            schedule: None,
            parts: vec![a.id.clone(), b.id.clone()],
            decided_by: None,
            edit: None,
            taken_over: false,
        }
    }

    /// Returns all rows, those of pairs last.
    pub fn into_rows(self) -> Vec<result::Mutant> {
        self.rows.into_values().into_iter().chain(self.pairs).collect()
    }
}

/// Returns the row of a mutant about which nothing is known yet.
pub(super) fn row(mutant: &Mutant) -> result::Mutant {
    result::Mutant {
        id: mutant.id.clone(),
        operator: mutant.operator.to_owned(),
        function: mutant.function.clone(),
        original: mutant.original.clone(),
        replacement: mutant.replacement.clone(),
        location: mutant.range.as_ref().map(location).unwrap_or_default(),
        spelling: mutant.spelling.as_ref().map(location),
        status: Status::Pending,
        killed_by: TestNames::default(),
        covered_by: TestNames::default(),
        duplicate_of: None,
        reason: None,
        schedule: None,
        parts: Vec::new(),
        decided_by: None,
        edit: Some(mutant.edit_hash()),
        taken_over: false,
    }
}

/// Returns a range as results have it.
pub fn location(range: &SourceRange) -> Location {
    let position = |s: Spot| Position { line: s.line, column: s.column };
    Location { file: range.file.clone(), start: position(range.start), end: position(range.end) }
}
