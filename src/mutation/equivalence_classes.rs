//! Classes of equals: which mutants are the original, which are another mutant; by the edit, by normal forms, by proofs.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::campaign::{CampaignContext, Request};
use super::equivalence::{self, Kernel, PROVED, Verdict};
use super::mutant::Mutant;
use crate::error::{Error, Result};
use crate::instrument::mutants::Edit;

/// What a mutant equals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The original, and why.
    Equivalent(String),
    /// The mutant of this id.
    Duplicate(String),
}

/// How far equals are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// By normal forms, and only for what equals the original.
    OriginalOnly,
    /// By normal forms.
    NormalForms,
    /// By proofs too.
    Proofs,
}

/// What is known of the mutants of a run, by position.
#[derive(Debug, Default)]
pub struct Classes {
    /// The first one whose edit is the same; of others nothing else is asked.
    same_edit: Vec<usize>,
    /// The first one of the same normal form.
    same_form: Vec<usize>,
    /// Why it is the original.
    equivalent: Vec<Option<String>>,
    /// Whether it is proved to be the original; `None`: nobody asked.
    proved: Vec<Option<bool>>,
}

impl Classes {
    /// Looks for equals among all mutants.
    ///
    /// # Errors
    /// As of [`equivalence::classify`].
    pub fn search(
        campaign: &CampaignContext<'_, '_>,
        mutants: &[Mutant],
        request: &Request,
        search: Search,
    ) -> Result<Classes> {
        let all: Vec<usize> = (0..mutants.len()).collect();
        Classes::search_among(&all, campaign, mutants, request, search)
    }

    /// Looks for equals among some mutants, by position and in order; what is the same edit is found among all.
    ///
    /// # Errors
    /// As of [`equivalence::classify`].
    pub fn search_among(
        some: &[usize],
        campaign: &CampaignContext<'_, '_>,
        mutants: &[Mutant],
        request: &Request,
        search: Search,
    ) -> Result<Classes> {
        let mut classes = Classes::by_edit(mutants);
        // What is the same edit needs no proof.
        let distinct: Vec<usize> = some.iter().copied().filter(|m| classes.same_edit[*m] == *m).collect();
        if distinct.is_empty() {
            return Ok(classes);
        }
        let edits: Vec<&Edit> = distinct.iter().map(|m| &mutants[*m].edit).collect();
        let bitcode = campaign.under_test.module.write_bitcode_to_memory();
        let kernel = kernel(campaign, bitcode.as_slice());
        let verdicts = match search {
            Search::OriginalOnly | Search::NormalForms => {
                equivalence::classify_by_normal_form(kernel, &edits, threads(request), request.end)?
            }
            Search::Proofs => equivalence::classify(
                kernel.bitcode,
                kernel.sites,
                kernel.entry,
                &edits,
                threads(request),
                request.end,
            )?,
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
            classes.proved[*m] = (search == Search::Proofs).then_some(false);
        }
        Ok(classes)
    }

    /// A test tells it from the original, whatever their normal forms.
    pub fn set_detected(&mut self, m: usize) {
        self.equivalent[m] = None;
    }

    /// What an earlier search found: [`Classes::entries`].
    pub fn from_entries(mutants: &[Mutant], entries: &[(String, Class)], search: Search) -> Classes {
        let mut classes = Classes::by_edit(mutants);
        if search == Search::Proofs {
            classes.proved.fill(Some(false));
        }
        let positions: HashMap<&str, usize> = mutants.iter().enumerate().map(|(i, m)| (m.id.as_str(), i)).collect();
        for (id, class) in entries {
            let Some(m) = positions.get(id.as_str()).copied().filter(|m| classes.same_edit[*m] == *m) else { continue };
            match class {
                Class::Equivalent(reason) => classes.equivalent[m] = Some(reason.clone()),
                Class::Duplicate(of) => classes.same_form[m] = positions.get(of.as_str()).copied().unwrap_or(m),
            }
        }
        classes
    }

    /// By their edits alone.
    pub fn by_edit(mutants: &[Mutant]) -> Classes {
        let mut first: HashMap<String, usize> = HashMap::new();
        let same_edit = mutants.iter().enumerate();
        let same_edit = same_edit.map(|(i, m)| *first.entry(format!("{:?}", m.edit)).or_insert(i)).collect();
        let none = vec![None; mutants.len()];
        Classes {
            same_edit,
            same_form: (0..mutants.len()).collect(),
            equivalent: none,
            proved: vec![None; mutants.len()],
        }
    }

    /// By position.
    pub fn all(&self, mutants: &[Mutant]) -> Vec<Option<Class>> {
        // A mutant that is proved to be the original stands for no normal form: the next one of it does.
        let mut first: HashMap<usize, usize> = HashMap::new();
        let mut classes: Vec<Option<Class>> = vec![None; mutants.len()];
        for m in (0..mutants.len()).filter(|m| self.same_edit[*m] == *m) {
            classes[m] = match (&self.equivalent[m], self.proved[m]) {
                (Some(reason), _) => Some(Class::Equivalent(reason.clone())),
                (None, Some(true)) => Some(Class::Equivalent(PROVED.to_owned())),
                (None, _) => {
                    let representative = *first.entry(self.same_form[m]).or_insert(m);
                    (representative != m).then(|| Class::Duplicate(mutants[representative].id.clone()))
                }
            };
        }
        for m in (0..mutants.len()).filter(|m| self.same_edit[*m] != *m) {
            // A duplicate's status is that of the first; of a duplicate's duplicate, of that one's.
            classes[m] = match &classes[self.same_edit[m]] {
                Some(Class::Duplicate(id)) => Some(Class::Duplicate(id.clone())),
                _ => Some(Class::Duplicate(mutants[self.same_edit[m]].id.clone())),
            };
        }
        classes
    }

    /// Those that are not distinct, by id.
    pub fn entries(&self, mutants: &[Mutant]) -> Vec<(String, Class)> {
        let all = self.all(mutants).into_iter().zip(mutants);
        all.filter_map(|(class, mutant)| Some((mutant.id.clone(), class?))).collect()
    }

    /// All that share a normal form with one of `these` and of which nobody asked the solver.
    pub fn unproved(&self, these: &[usize]) -> Vec<usize> {
        let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
        for m in (0..self.same_form.len()).filter(|m| self.same_edit[*m] == *m && self.equivalent[*m].is_none()) {
            members.entry(self.same_form[m]).or_default().push(m);
        }
        let forms = these.iter().filter_map(|m| members.remove(&self.same_form[*m]));
        forms.flatten().filter(|m| self.proved[*m].is_none()).collect()
    }

    pub fn set_proved(&mut self, m: usize, proved: bool) {
        self.proved[m] = Some(proved);
    }

    /// Asks the solver of some of the mutants; `None`: the time was up.
    ///
    /// # Errors
    /// As of [`equivalence::prove`].
    pub fn prove(
        campaign: &CampaignContext<'_, '_>,
        mutants: &[Mutant],
        request: &Request,
        which: &[usize],
    ) -> Result<Vec<Option<bool>>> {
        if which.is_empty() {
            return Ok(Vec::new());
        }
        let edits: Vec<&Edit> = which.iter().map(|m| &mutants[*m].edit).collect();
        let bitcode = campaign.under_test.module.write_bitcode_to_memory();
        equivalence::prove(kernel(campaign, bitcode.as_slice()), &edits, threads(request), request.end)
    }
}

fn kernel<'a>(campaign: &'a CampaignContext<'_, '_>, bitcode: &'a [u8]) -> Kernel<'a> {
    Kernel { bitcode, sites: &campaign.under_test.sites, entry: &campaign.under_test.entry }
}

fn threads(request: &Request) -> usize {
    (request.jobs as usize).max(std::thread::available_parallelism().map_or(1, usize::from))
}
