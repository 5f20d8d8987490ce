//! Chooses the mutants of a campaign: all that its operators find, or a sample.

use std::collections::HashSet;

use super::campaign_context::{CampaignContext, Request};
use super::enumerate::{Enumeration, enumerate};
use super::higher_order;
use super::indices::{ByMutant, MutantIndex, positions};
use super::mutant::Mutant;
use super::operators::{Subject, launch};

/// The mutants of a run, and the pairs drawn from them.
pub struct MutantSet {
    pub mutants: Vec<Mutant>,
    /// With a sample of pairs: the pairs drawn, by position. `mutants` are then exactly their parts.
    pub drawn: Option<Vec<(MutantIndex, MutantIndex)>>,
}

/// Returns all mutants, launch mutants last; with `--sample` those drawn, or the parts of the pairs drawn.
pub fn mutant_set(campaign: &CampaignContext<'_, '_>, request: &Request) -> MutantSet {
    let under_test = campaign.under_test;
    if let Some(of_source) = campaign.source_mutants {
        let mut mutants = of_source.mutants.clone();
        if let Some(count) = request.sample {
            let kept: HashSet<usize> = higher_order::sample(mutants.len(), count, request.seed).into_iter().collect();
            mutants = mutants.into_iter().enumerate().filter(|(m, _)| kept.contains(m)).map(|(_, m)| m).collect();
        }
        return MutantSet { mutants, drawn: None };
    }
    let subject = Subject::of(under_test, campaign.ast, campaign.sources);
    let Enumeration { mut mutants, duplicate_of, .. } = enumerate(&subject, &request.selection);
    mutants.extend(launch::mutants(&under_test.entry, campaign.dimensions as usize, request.selection.operators()));
    let Some(count) = request.sample else { return MutantSet { mutants, drawn: None } };
    let (kept, drawn): (Vec<MutantIndex>, _) = match request.order {
        1 => (higher_order::sample(mutants.len(), count, request.seed).into_iter().map(MutantIndex).collect(), None),
        _ => {
            // Equal edits would make equal pairs. Edits of the launch count as equal to no other.
            let is_duplicate = |m: &MutantIndex| m.0 < duplicate_of.len() && duplicate_of[*m].is_some();
            let first: Vec<MutantIndex> = positions(mutants.len()).filter(|m| !is_duplicate(m)).collect();
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
    MutantSet { mutants: kept.into_iter().filter_map(|m| all[m].take()).collect(), drawn }
}

/// Returns the mutants of a run, in the order of its result.
pub fn mutants(campaign: &CampaignContext<'_, '_>, request: &Request) -> Vec<Mutant> {
    mutant_set(campaign, request).mutants
}
