//! Which mutants equal the original or each other, in the steps of a campaign: found by normal forms and proofs, kept
//! in the journal, and written into the rows.

use std::collections::HashMap;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_results::result::mutate::Status;

use super::context::{CampaignContext, Request};
use super::equivalence_classes::{Classes, Proofs, Search, positions};
use super::records::{Entry, Records};
use super::rows::Rows;
use crate::mutation::catalogue::indices::MutantIndex;
use crate::mutation::catalogue::mutant::Mutant;
use crate::mutation::equivalence::SAME_FOR_LAUNCHES;

/// Number of mutants submitted to the solver between two journal entries: the most proofs that an interrupted
/// run loses.
const PROOFS: usize = 128;

/// The equality of a campaign's mutants, as far as it is known.
pub struct Equality<'a, 'c> {
    campaign: &'a CampaignContext<'a, 'c>,
    request: &'a Request,
    mutants: &'a [Mutant],
    classes: Classes,
}

impl<'a, 'c> Equality<'a, 'c> {
    /// Nothing is known yet.
    pub fn new(campaign: &'a CampaignContext<'a, 'c>, request: &'a Request, mutants: &'a [Mutant]) -> Equality<'a, 'c> {
        Equality { campaign, request, mutants, classes: Classes::default() }
    }

    /// Finds equivalents and duplicates among all mutants, not only those of this shard, so that every shard finds the
    /// same ones. `early`: what such a search has found already.
    ///
    /// # Errors
    /// As for [`Classes::search`]; `Environment` if the journal cannot be written.
    pub fn classify(
        &mut self,
        rows: &mut Rows<'_>,
        records: &Records<'_>,
        search: Search,
        early: Option<Classes>,
    ) -> Result<()> {
        self.classes = match records.classes() {
            Some((all, search)) => Classes::from_entries(self.mutants, all, search),
            None => self.search(records, search, early)?,
        };
        rows.write_classes(self.classes.all(self.mutants));
        rows.divide_among_shards();
        Ok(())
    }

    /// Searches, unless `early` is the outcome. With proofs left out, it is journalled once these have been sought.
    fn search(&self, records: &Records<'_>, search: Search, early: Option<Classes>) -> Result<Classes> {
        let searched = || Classes::search(self.campaign, self.mutants, self.request, search);
        let classes = early.map_or_else(searched, Ok)?;
        if classes.left_out().is_empty() {
            let entries = classes.entries(self.mutants);
            records.append(&match search {
                Search::OriginalOnly | Search::NormalForms => Entry::Sorted(entries),
                Search::Proofs => Entry::Classified(entries),
            })?;
        }
        Ok(classes)
    }

    /// Returns the search for proofs that [`Equality::classify`] has left out, if there are any to be sought.
    pub fn left_out(&self) -> Option<Proofs<'a>> {
        let which = self.classes.left_out();
        (!which.is_empty()).then(|| Proofs::new(self.campaign, self.mutants, self.request, which))
    }

    /// Enters what that search found. What runs of a mutant showed that is proved to be equivalent is dropped from its
    /// row.
    ///
    /// # Errors
    /// `Environment` if the journal cannot be written.
    pub fn complete(&mut self, rows: &mut Rows<'_>, records: &Records<'_>, found: Vec<Option<String>>) -> Result<()> {
        let before = self.classes.all(self.mutants);
        self.classes.complete(found);
        records.append(&Entry::Classified(self.classes.entries(self.mutants)))?;
        rows.apply_proofs(&before, &self.classes.all(self.mutants));
        Ok(())
    }

    /// Finds the mutants whose edits are equal, before anything is run.
    pub fn classify_edits(&mut self, rows: &mut Rows<'_>) {
        self.classes = Classes::by_edit(self.mutants);
        rows.write_classes(self.classes.all(self.mutants));
    }

    /// Finds equivalents and duplicates by normal forms once all mutants have run. Equal mutants behave alike on every
    /// test, and a detected mutant does not equal the original: so a mutant that was detected and behaved like no other
    /// need not be normalised.
    ///
    /// # Errors
    /// As for [`Classes::search`]; `Environment` if the journal cannot be written.
    pub fn classify_outcomes(
        &mut self,
        rows: &mut Rows<'_>,
        records: &Records<'_>,
        items_interact: bool,
    ) -> Result<()> {
        let possibly_equal = possibly_equal(rows, items_interact);
        let forms = Search::NormalForms;
        let mut classes = Classes::search_among(&possibly_equal, self.campaign, self.mutants, self.request, forms)?;
        possibly_equal.into_iter().filter(|m| rows.rows[*m].status.is_detected()).for_each(|m| classes.set_detected(m));
        self.classes = classes;
        records.append(&Entry::Sorted(self.classes.entries(self.mutants)))?;
        rows.write_classes(self.classes.all(self.mutants));
        Ok(())
    }

    /// Seeks proofs for the mutants that no test detects. A mutant that is proved equivalent stops being a
    /// duplicate or the representative of others, and what its runs showed is dropped from its row.
    ///
    /// # Errors
    /// As for [`Classes::prove`]; `Environment` if the journal cannot be written; `Internal` if a killed mutant is
    /// proved to be equivalent ([`Request::doubt`]).
    pub fn prove(&mut self, rows: &mut Rows<'_>, records: &Records<'_>, all_ran: bool) -> Result<()> {
        let before = self.classes.all(self.mutants);
        let positions = positions(self.mutants);
        for (id, proved) in records.proofs() {
            if let Some(m) = positions.get(id) {
                self.classes.set_proved(*m, proved.clone());
            }
        }
        let undetected = |m: &MutantIndex| {
            let status = rows.rows[*m].status;
            rows.is_in_shard(*m) && status.is_undetected() && !status.is_equivalent()
        };
        let open: Vec<MutantIndex> = rows.rows.positions().filter(undetected).collect();
        // Mutants with the same normal form as an undetected one have its outcome.
        let asked = self.classes.unproved(&open);
        self.seek_proofs(records, &asked)?;
        rows.apply_proofs(&before, &self.classes.all(self.mutants));
        if self.request.launch_facts {
            self.prove_for_launches(rows, records, all_ran)?;
        }
        if self.request.doubt {
            self.check_killed(rows)?;
        }
        Ok(())
    }

    /// Seeks proofs for `asked` until the deadline, and journals the outcomes.
    fn seek_proofs(&mut self, records: &Records<'_>, asked: &[MutantIndex]) -> Result<()> {
        for some in asked.chunks(PROOFS) {
            if self.request.end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            let found = Classes::prove(self.campaign, self.mutants, self.request, some)?;
            let answers = self.journalled(records, some, found, Entry::Proved)?;
            answers.into_iter().for_each(|(m, proof)| self.classes.set_proved(m, proof));
        }
        Ok(())
    }

    /// Asks of the mutants that tests reach and do not detect whether other data in launches of the same sizes could.
    /// Their duplicates go with them.
    fn prove_for_launches(&self, rows: &mut Rows<'_>, records: &Records<'_>, ran: bool) -> Result<()> {
        let positions = positions(self.mutants);
        let mut known: HashMap<MutantIndex, bool> =
            records.proofs_for_launches().filter_map(|(id, proved)| Some((*positions.get(id)?, *proved))).collect();
        let is_open = |m: &MutantIndex| {
            rows.is_in_shard(*m) && matches!(rows.rows[*m].status, Status::Survived | Status::Undecided)
        };
        let open: Vec<MutantIndex> = rows.rows.positions().filter(is_open).collect();
        let is_asked = |m: &MutantIndex| !known.contains_key(m);
        let (survived, undecided): (Vec<MutantIndex>, Vec<MutantIndex>) =
            open.iter().copied().filter(is_asked).partition(|m| rows.rows[*m].status == Status::Survived);
        for (asked, ran) in [(survived, ran), (undecided, false)] {
            for some in asked.chunks(PROOFS) {
                let found = Classes::prove_for_launches(self.campaign, self.mutants, self.request, some, ran)?;
                known.extend(self.journalled(records, some, found, Entry::ProvedForLaunches)?);
            }
        }
        for m in open.into_iter().filter(|m| known.get(m) == Some(&true)) {
            let row = &mut rows.rows[m];
            (row.status, row.reason) = (Status::EquivalentForLaunches, Some(SAME_FOR_LAUNCHES.to_owned()));
            row.schedule = None;
        }
        Ok(())
    }

    /// Journals the answers about `asked` that were found before the deadline, and returns them.
    fn journalled<T: Clone>(
        &self,
        records: &Records<'_>,
        asked: &[MutantIndex],
        found: Vec<Option<T>>,
        entry: fn(Vec<(String, T)>) -> Entry,
    ) -> Result<Vec<(MutantIndex, T)>> {
        let answers: Vec<(MutantIndex, T)> =
            asked.iter().zip(found).filter_map(|(m, answer)| Some((*m, answer?))).collect();
        records.append(&entry(
            answers.iter().map(|(m, answer)| (self.mutants[*m].id.clone(), answer.clone())).collect(),
        ))?;
        Ok(answers)
    }

    /// Seeks proofs for killed mutants: there must be none.
    fn check_killed(&self, rows: &Rows<'_>) -> Result<()> {
        let killed = |m: &MutantIndex| {
            matches!(rows.rows[*m].status, Status::Killed | Status::RuntimeError) && rows.is_in_shard(*m)
        };
        let killed: Vec<MutantIndex> = rows.rows.positions().filter(killed).collect();
        let proved = Classes::prove(self.campaign, self.mutants, self.request, &killed)?;
        let mut wrong: Vec<MutantIndex> =
            killed.iter().zip(proved).filter(|(_, proof)| matches!(proof, Some(Some(_)))).map(|(m, _)| *m).collect();
        if self.request.launch_facts {
            let proved = Classes::prove_for_launches(self.campaign, self.mutants, self.request, &killed, false)?;
            wrong.extend(killed.iter().zip(proved).filter(|(_, proved)| *proved == Some(true)).map(|(m, _)| *m));
        }
        let wrong: Vec<&str> = wrong.into_iter().map(|m| self.mutants[m].id.as_str()).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Error::internal("mutants that a test kills were proved to be equivalent").details(wrong.join("\n")))
    }
}

/// Returns the mutants that may equal the original or another mutant, judging by their behaviour. `items_interact`:
/// whether work-items do, so that equal mutants may compute different values in each run.
fn possibly_equal(rows: &Rows<'_>, items_interact: bool) -> Vec<MutantIndex> {
    let behaviour = |m: MutantIndex| {
        let row = &rows.rows[m];
        let values = (row.status == Status::Killed && !items_interact).then_some((&row.killed_by, &row.reason));
        (row.status, values)
    };
    let ran: Vec<MutantIndex> = rows.rows.positions().filter(|m| rows.rows[*m].duplicate_of.is_none()).collect();
    let mut count: HashMap<_, usize> = HashMap::new();
    for m in &ran {
        *count.entry(behaviour(*m)).or_default() += 1;
    }
    ran.into_iter().filter(|m| !rows.rows[*m].status.is_detected() || count[&behaviour(*m)] > 1).collect()
}
