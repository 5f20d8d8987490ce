//! The search for equal mutants before a campaign's device is ready.

use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_ir::instrument::mutants::Edit;

use super::context::{CampaignContext, Request};
use super::equivalence_classes::{Classes, Search};
use super::mutant_set::{MutantSet, mutant_set};
use crate::coverage::build::KernelUnderTest;
use crate::mutation::catalogue::mutant::Mutant;
use crate::mutation::equivalence;

/// Most instructions to be normalised by a search for equal mutants while the device is being opened: if that fails,
/// the user hears of it only once the search has ended.
const MOST_INSTRUCTIONS: u64 = 300_000;

/// What was found out about the mutants of a campaign before its device was ready.
pub struct EarlySearch {
    started: Instant,
    taken: Duration,
    classes: Classes,
}

impl EarlySearch {
    /// Searches for equal mutants, which takes no device, and no work-group sizes that it would choose. `None` if that
    /// may take long, or may be known from an earlier run.
    ///
    /// # Errors
    /// `Internal` if an edit cannot be applied or a pass leaves a module that does not verify.
    pub fn new(campaign: &CampaignContext<'_, '_>, request: &Request) -> Result<Option<EarlySearch>> {
        let started = Instant::now();
        let MutantSet { mutants, drawn, .. } = mutant_set(campaign, request);
        let most = MOST_INSTRUCTIONS.min(request.most_before);
        if request.baseline.is_some() || instructions_to_normalise(campaign, &mutants) > most {
            return Ok(None);
        }
        let classes = Classes::search(campaign, &mutants, request, search(request, drawn.is_some()))?;
        Ok(Some(EarlySearch { started, taken: started.elapsed(), classes }))
    }

    /// When the search began.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// How long it took.
    pub fn taken(&self) -> Duration {
        self.taken
    }

    /// Returns what it found.
    pub fn classes(self) -> Classes {
        self.classes
    }
}

/// Returns how equal mutants are searched for. With all pairs, proofs decide which mutants equal another and so are in
/// no pair; a drawn sample is not thinned out.
pub fn search(request: &Request, is_drawn: bool) -> Search {
    match (request.order, is_drawn) {
        (1, _) => Search::NormalForms,
        (_, true) => Search::OriginalOnly,
        (_, false) => Search::Proofs,
    }
}

/// Returns how many instructions a search by normal forms normalises.
pub fn instructions_to_normalise(campaign: &CampaignContext<'_, '_>, mutants: &[Mutant]) -> u64 {
    let edits: Vec<&Edit> = mutants.iter().map(|m| &m.edit).collect();
    let KernelUnderTest { module, sites, entry, .. } = campaign.under_test;
    equivalence::instructions_to_normalise(module, sites, entry, &edits)
}
