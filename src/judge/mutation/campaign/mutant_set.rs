//! Chooses the mutants of a campaign: all that its operators find, or a sample.

use std::collections::HashSet;

use super::context::{CampaignContext, Request};
use crate::mutation::catalogue::enumerate::{Enumeration, enumerate};
use crate::mutation::catalogue::higher_order;
use crate::mutation::catalogue::indices::{ByMutant, MutantIndex, positions};
use crate::mutation::catalogue::mutant::{Mutant, too_wide};
use crate::mutation::catalogue::operators::{Subject, launch};

/// The mutants of a run, and the pairs drawn from them.
pub struct MutantSet {
    /// By [`MutantIndex`].
    pub mutants: Vec<Mutant>,
    /// With a sample of pairs: the pairs drawn, by position. `mutants` are then exactly their parts.
    pub drawn: Option<Vec<(MutantIndex, MutantIndex)>>,
    /// The number of mutants that are left out because they are not on the lines that are wanted.
    pub elsewhere: usize,
    /// What is not mutated, for people.
    pub notes: Vec<String>,
}

/// Returns all mutants on the lines that are wanted, launch mutants last; with `--sample` those drawn of them, or the
/// parts of the pairs drawn.
pub fn mutant_set(campaign: &CampaignContext<'_, '_>, request: &Request) -> MutantSet {
    let under_test = campaign.under_test;
    let is_wanted = |mutant: &Mutant| request.changes.as_ref().is_none_or(|changes| changes.touch(mutant));
    if let Some(of_source) = campaign.source_mutants {
        let mut mutants: Vec<Mutant> = of_source.mutants.iter().filter(|mutant| is_wanted(mutant)).cloned().collect();
        let elsewhere = of_source.mutants.len() - mutants.len();
        if let Some(count) = request.sample {
            let kept: HashSet<usize> = higher_order::sample(mutants.len(), count, request.seed).into_iter().collect();
            mutants = mutants.into_iter().enumerate().filter(|(m, _)| kept.contains(m)).map(|(_, m)| m).collect();
        }
        let notes = too_wide(&of_source.excluded).into_iter().collect();
        return MutantSet { mutants, drawn: None, elsewhere, notes };
    }
    let subject = Subject::of(under_test, campaign.ast, campaign.sources);
    let Enumeration { mut mutants, duplicate_of, excluded, malformed, .. } = enumerate(&subject, &request.selection);
    mutants.extend(launch::mutants(&under_test.entry, campaign.dimensions as usize, request.selection.operators()));
    let wanted: Vec<MutantIndex> =
        positions(mutants.len()).filter(|m: &MutantIndex| is_wanted(&mutants[m.0])).collect();
    let elsewhere = mutants.len() - wanted.len();
    let (kept, drawn): (Vec<MutantIndex>, _) = match (request.sample, request.order) {
        (None, _) => (wanted, None),
        (Some(count), 1) => {
            let drawn = higher_order::sample(wanted.len(), count, request.seed);
            (drawn.into_iter().map(|at| wanted[at]).collect(), None)
        }
        (Some(count), _) => {
            // Equal edits would make equal pairs. Edits of the launch count as equal to no other.
            let equals = |m: &MutantIndex| if m.0 < duplicate_of.len() { duplicate_of[*m] } else { None };
            let is_duplicate = |m: &MutantIndex| equals(m).is_some_and(|other| wanted.binary_search(&other).is_ok());
            let first: Vec<MutantIndex> = wanted.iter().copied().filter(|m| !is_duplicate(m)).collect();
            let pairs = higher_order::pairs(&first, Some(count), request.seed);
            let mut parts: Vec<MutantIndex> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
            parts.sort_unstable();
            parts.dedup();
            let place = |m: MutantIndex| MutantIndex(parts.binary_search(&m).unwrap_or(0));
            let pairs = pairs.iter().map(|(a, b)| (place(*a), place(*b))).collect();
            (parts, Some(pairs))
        }
    };
    let mut all: ByMutant<Option<Mutant>> = mutants.into_iter().map(Some).collect();
    let mutants = kept.into_iter().filter_map(|m| all[m].take()).collect();
    MutantSet { mutants, drawn, elsewhere, notes: too_wide(&excluded).into_iter().chain(malformed).collect() }
}

/// Returns the mutants of a run, in the order of its result.
pub fn mutants(campaign: &CampaignContext<'_, '_>, request: &Request) -> Vec<Mutant> {
    mutant_set(campaign, request).mutants
}
