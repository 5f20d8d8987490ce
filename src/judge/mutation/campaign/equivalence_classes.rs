//! Equivalence classes: finds mutants that equal the original or another mutant, by their edits, by normal forms and
//! by proofs.

use std::collections::HashMap;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::Edit;
use serde::{Deserialize, Serialize};

use super::context::{CampaignContext, Request};
use crate::coverage::build::KernelUnderTest;
use crate::mutation::catalogue::enumerate::first_with_equal_edit;
use crate::mutation::catalogue::indices::{self, ByMutant, MutantIndex};
use crate::mutation::catalogue::mutant::Mutant;
use crate::mutation::equivalence::{self, Kernel, LaunchFacts, Verdict};

/// What a mutant equals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The original, and why.
    Equivalent(String),
    /// The mutant with this id.
    Duplicate(String),
}

/// How thorough the search for equal mutants is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// By normal forms, and only for mutants that equal the original.
    OriginalOnly,
    /// By normal forms.
    NormalForms,
    /// By normal forms, and proofs of equivalence for mutants with a normal form of their own.
    Proofs,
}

/// What is known about the equality of a run's mutants, by position.
#[derive(Debug, Default)]
pub struct Classes {
    /// The first mutant with the same edit; nothing else is determined for later ones.
    same_edit: ByMutant<MutantIndex>,
    /// The first mutant with the same normal form.
    same_form: ByMutant<MutantIndex>,
    /// Why it equals the original.
    equivalent: ByMutant<Option<String>>,
    /// The proof that it equals the original, if one was found; `None`: none was sought.
    proved: ByMutant<Option<Option<String>>>,
    /// Of which proofs are still to be sought.
    left_out: Vec<MutantIndex>,
}

/// A search for proofs that mutants equal the original, which needs nothing of the thread that prepares it.
#[derive(Debug)]
pub struct Proofs<'a> {
    bitcode: Vec<u8>,
    sites: &'a Sites,
    entry: &'a str,
    edits: Vec<&'a Edit>,
    threads: usize,
    end: Option<Instant>,
}

impl<'a> Proofs<'a> {
    /// Prepares the search for proofs about `which`.
    pub fn new(
        campaign: &CampaignContext<'a, '_>,
        mutants: &'a [Mutant],
        request: &Request,
        which: &[MutantIndex],
    ) -> Proofs<'a> {
        let KernelUnderTest { module, sites, entry, .. } = campaign.under_test;
        Proofs {
            bitcode: module.write_bitcode_to_memory().as_slice().to_vec(),
            sites,
            entry,
            edits: which.iter().map(|m| &mutants[*m].edit).collect(),
            threads: threads(request),
            end: request.end,
        }
    }

    /// Seeks the proofs, and returns their reasons.
    ///
    /// # Errors
    /// As for [`equivalence::prove`].
    pub fn seek(&self) -> Result<Vec<Option<String>>> {
        let kernel = Kernel { bitcode: &self.bitcode, sites: self.sites, entry: self.entry };
        let found = equivalence::prove(kernel, &self.edits, self.threads, self.end)?;
        Ok(found.into_iter().map(Option::flatten).collect())
    }
}

impl Classes {
    /// Searches for equal mutants among all, but leaves out proofs that decide about one mutant alone: those of mutants
    /// whose normal form no other has. [`Classes::left_out`] says which.
    ///
    /// # Errors
    /// As for [`equivalence::classify`].
    pub fn search(
        campaign: &CampaignContext<'_, '_>,
        mutants: &[Mutant],
        request: &Request,
        search: Search,
    ) -> Result<Classes> {
        let forms = if search == Search::Proofs { Search::NormalForms } else { search };
        let all: Vec<MutantIndex> = indices::positions(mutants.len()).collect();
        let mut classes = Classes::search_among(&all, campaign, mutants, request, forms)?;
        if search == Search::Proofs {
            let (alone, shared) = classes.of_own_form();
            for (m, proof) in shared.iter().zip(Classes::prove(campaign, mutants, request, &shared)?) {
                classes.set_proved(*m, proof.flatten());
            }
            classes.left_out = alone;
        }
        Ok(classes)
    }

    /// Returns the mutants of which it is not known what they equal, those whose normal form no other has apart from
    /// the others.
    fn of_own_form(&self) -> (Vec<MutantIndex>, Vec<MutantIndex>) {
        let open: Vec<MutantIndex> =
            self.same_edit.positions().filter(|m| self.same_edit[*m] == *m && self.equivalent[*m].is_none()).collect();
        let mut members: HashMap<MutantIndex, usize> = HashMap::new();
        open.iter().for_each(|m| *members.entry(self.same_form[*m]).or_default() += 1);
        open.into_iter().partition(|m| members[&self.same_form[*m]] == 1)
    }

    /// The mutants of which [`Classes::search`] sought no proof.
    pub fn left_out(&self) -> &[MutantIndex] {
        &self.left_out
    }

    /// Enters what [`Proofs::seek`] found of these.
    pub fn complete(&mut self, found: Vec<Option<String>>) {
        for (m, proof) in std::mem::take(&mut self.left_out).into_iter().zip(found) {
            self.set_proved(m, proof);
        }
    }

    /// Searches for equal mutants among `some`, given by position in ascending order. Equal edits are found among all.
    ///
    /// # Errors
    /// As for [`equivalence::classify`].
    pub fn search_among(
        some: &[MutantIndex],
        campaign: &CampaignContext<'_, '_>,
        mutants: &[Mutant],
        request: &Request,
        search: Search,
    ) -> Result<Classes> {
        Classes::search_kernel(some, campaign.under_test, mutants, (threads(request), request.end), search)
    }

    /// Searches without a campaign on several threads, with a deadline.
    fn search_kernel(
        some: &[MutantIndex],
        under_test: &KernelUnderTest<'_>,
        mutants: &[Mutant],
        (threads, end): (usize, Option<Instant>),
        search: Search,
    ) -> Result<Classes> {
        let mut classes = Classes::by_edit(mutants);
        // Equal edits need no normal form.
        let distinct: Vec<MutantIndex> = some.iter().copied().filter(|m| classes.same_edit[*m] == *m).collect();
        if distinct.is_empty() {
            return Ok(classes);
        }
        let edits: Vec<&Edit> = distinct.iter().map(|m| &mutants[*m].edit).collect();
        let bitcode = under_test.module.write_bitcode_to_memory();
        let kernel = kernel(under_test, bitcode.as_slice());
        let verdicts = match search {
            Search::OriginalOnly | Search::NormalForms => {
                equivalence::classify_by_normal_form(kernel, &edits, threads, end)?
            }
            Search::Proofs => equivalence::classify(kernel.bitcode, kernel.sites, kernel.entry, &edits, threads, end)?,
        };
        if verdicts.len() != distinct.len() {
            return Err(Error::internal("the search for equivalents lost a mutant"));
        }
        for (m, verdict) in distinct.iter().zip(verdicts) {
            match verdict {
                Verdict::Distinct => {}
                Verdict::Equivalent { reason } => classes.equivalent[*m] = Some(reason),
                Verdict::DuplicateOf(_) if search == Search::OriginalOnly => {}
                Verdict::DuplicateOf(other) => classes.same_form[*m] = distinct[other],
            }
            classes.proved[*m] = (search == Search::Proofs).then_some(None);
        }
        Ok(classes)
    }

    /// Records that a test tells a mutant from the original, whatever their normal forms.
    pub fn set_detected(&mut self, m: MutantIndex) {
        self.equivalent[m] = None;
    }

    /// Restores the outcome of an earlier search from its [`Classes::entries`].
    pub fn from_entries(mutants: &[Mutant], entries: &[(String, Class)], search: Search) -> Classes {
        let mut classes = Classes::by_edit(mutants);
        if search == Search::Proofs {
            classes.proved.fill(Some(None));
        }
        let positions = positions(mutants);
        for (id, class) in entries {
            let Some(m) = positions.get(id.as_str()).copied().filter(|m| classes.same_edit[*m] == *m) else { continue };
            match class {
                Class::Equivalent(reason) => classes.equivalent[m] = Some(reason.clone()),
                Class::Duplicate(of) => classes.same_form[m] = positions.get(of.as_str()).copied().unwrap_or(m),
            }
        }
        classes
    }

    /// Classifies mutants by their edits alone.
    pub fn by_edit(mutants: &[Mutant]) -> Classes {
        Classes {
            same_edit: first_with_equal_edit(mutants),
            same_form: indices::positions(mutants.len()).collect(),
            equivalent: ByMutant::filled(None, mutants.len()),
            proved: ByMutant::filled(None, mutants.len()),
            left_out: Vec::new(),
        }
    }

    /// Returns the class of each mutant by position; `None`: it is distinct.
    pub fn all(&self, mutants: &[Mutant]) -> ByMutant<Option<Class>> {
        // A mutant that is proved equivalent does not represent its normal form: the next one with that form does.
        let mut first: HashMap<MutantIndex, MutantIndex> = HashMap::new();
        let mut classes: ByMutant<Option<Class>> = ByMutant::filled(None, mutants.len());
        for m in self.same_edit.positions().filter(|m| self.same_edit[*m] == *m) {
            classes[m] = match (&self.equivalent[m], &self.proved[m]) {
                (Some(reason), _) | (None, Some(Some(reason))) => Some(Class::Equivalent(reason.clone())),
                (None, _) => {
                    let representative = *first.entry(self.same_form[m]).or_insert(m);
                    (representative != m).then(|| Class::Duplicate(mutants[representative].id.clone()))
                }
            };
        }
        for m in self.same_edit.positions().filter(|m| self.same_edit[*m] != *m) {
            // A duplicate has the status of the first mutant with its edit; where that one is a duplicate itself, both
            // refer to its representative.
            classes[m] = match &classes[self.same_edit[m]] {
                Some(Class::Duplicate(id)) => Some(Class::Duplicate(id.clone())),
                _ => Some(Class::Duplicate(mutants[self.same_edit[m]].id.clone())),
            };
        }
        classes
    }

    /// Returns the mutants that are not distinct, by id.
    pub fn entries(&self, mutants: &[Mutant]) -> Vec<(String, Class)> {
        let all = self.all(mutants).into_values().into_iter().zip(mutants);
        all.filter_map(|(class, mutant)| Some((mutant.id.clone(), class?))).collect()
    }

    /// Returns all mutants that share a normal form with one of `these` and of which no proof was sought.
    pub fn unproved(&self, these: &[MutantIndex]) -> Vec<MutantIndex> {
        let mut members: HashMap<MutantIndex, Vec<MutantIndex>> = HashMap::new();
        let all = self.same_form.positions();
        for m in all.filter(|m| self.same_edit[*m] == *m && self.equivalent[*m].is_none()) {
            members.entry(self.same_form[m]).or_default().push(m);
        }
        let forms = these.iter().filter_map(|m| members.remove(&self.same_form[*m]));
        forms.flatten().filter(|m| self.proved[*m].is_none()).collect()
    }

    /// Records the outcome of the search for a proof: its reason, if there is one.
    pub fn set_proved(&mut self, m: MutantIndex, proof: Option<String>) {
        self.proved[m] = Some(proof);
    }

    /// Seeks proofs that the mutants `which` equal the original, and returns their reasons; `None`: the deadline passed
    /// first.
    ///
    /// # Errors
    /// As for [`equivalence::prove`].
    pub fn prove(
        campaign: &CampaignContext<'_, '_>,
        mutants: &[Mutant],
        request: &Request,
        which: &[MutantIndex],
    ) -> Result<Vec<Option<Option<String>>>> {
        let mut found = seek(campaign, mutants, which, |kernel, edits| {
            equivalence::prove(kernel, edits, threads(request), request.end)
        })?;
        let open = which
            .iter()
            .zip(&mut found)
            .filter(|(m, found)| matches!(found, Some(None)) && equivalence::race_freedom::applies_to(&mutants[**m]));
        let (asked, places): (Vec<&Mutant>, Vec<_>) = open.map(|(m, found)| (&mutants[*m], found)).unzip();
        let reasons = equivalence::race_freedom::prove(campaign.under_test, &asked, campaign.dimensions, request.end)?;
        for (place, reason) in places.into_iter().zip(reasons) {
            *place = Some(reason);
        }
        Ok(found)
    }

    /// Seeks proofs that the mutants `which` equal the original in the launches of the tests; `None`: the deadline
    /// passed first. `ran`: all tests were run, and showed no difference.
    ///
    /// # Errors
    /// As for [`equivalence::prove_for_launches`].
    pub fn prove_for_launches(
        campaign: &CampaignContext<'_, '_>,
        mutants: &[Mutant],
        request: &Request,
        which: &[MutantIndex],
        ran: bool,
    ) -> Result<Vec<Option<bool>>> {
        let launches = LaunchFacts::of(campaign.tests);
        seek(campaign, mutants, which, |kernel, edits| {
            equivalence::prove_for_launches(kernel, &launches, ran, edits, threads(request), request.end)
        })
    }
}

/// Calls `prove` for the edits of some mutants.
fn seek<T>(
    campaign: &CampaignContext<'_, '_>,
    mutants: &[Mutant],
    which: &[MutantIndex],
    prove: impl Fn(Kernel<'_>, &[&Edit]) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    if which.is_empty() {
        return Ok(Vec::new());
    }
    let edits: Vec<&Edit> = which.iter().map(|m| &mutants[*m].edit).collect();
    let bitcode = campaign.under_test.module.write_bitcode_to_memory();
    prove(kernel(campaign.under_test, bitcode.as_slice()), &edits)
}

/// Returns what each mutant of a kernel equals, for mutants that have not been run yet: by edits, normal forms and, if
/// `proofs` are wanted, by proofs; by edits alone if more than `most` instructions would have to be normalised, which
/// the second value says.
///
/// # Errors
/// As for [`equivalence::classify`].
pub fn classify(
    under_test: &KernelUnderTest<'_>,
    mutants: &[Mutant],
    proofs: bool,
    most: u64,
) -> Result<(ByMutant<Option<Class>>, bool)> {
    let edits: Vec<&Edit> = mutants.iter().map(|m| &m.edit).collect();
    let KernelUnderTest { module, sites, entry, .. } = under_test;
    if equivalence::instructions_to_normalise(module, sites, entry, &edits) > most {
        return Ok((Classes::by_edit(mutants).all(mutants), true));
    }
    let all: Vec<MutantIndex> = indices::positions(mutants.len()).collect();
    let search = if proofs { Search::Proofs } else { Search::NormalForms };
    let classes = Classes::search_kernel(&all, under_test, mutants, (processors(), None), search)?;
    Ok((classes.all(mutants), false))
}

/// Returns the positions of mutants by their ids.
pub fn positions(mutants: &[Mutant]) -> HashMap<&str, MutantIndex> {
    mutants.iter().zip(indices::positions(mutants.len())).map(|(mutant, m)| (mutant.id.as_str(), m)).collect()
}

fn kernel<'a>(under_test: &'a KernelUnderTest<'_>, bitcode: &'a [u8]) -> Kernel<'a> {
    Kernel { bitcode, sites: &under_test.sites, entry: &under_test.entry }
}

/// Returns how many threads work on what needs no device.
pub fn threads(request: &Request) -> usize {
    (request.jobs as usize).max(processors())
}

/// How many processors this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
