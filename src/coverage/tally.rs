//! Turns probe data into covered outcomes, as a pure function that is tested without a device.

use crate::cfg::sites::{SiteKind, Sites};
use crate::instrument::coverage::CoveragePlan;
use crate::instrument::layout::{HEADER_WORDS, Slots};
use crate::suite::launch::NdRange;

/// The probe data of one launch.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// The probe buffer after the launch, header included.
    pub words: &'a [u32],
    /// The range of the launch, with its work-group size decided.
    pub range: &'a NdRange,
}

/// The outcomes of one site that one launch covered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteTally {
    /// For each outcome: 0 or 1, or with slots per work-item the number of work-items that covered it.
    pub hits: Vec<u64>,
    /// For branches, the work-groups in which more than one outcome was taken; for barriers, those of which only
    /// a part arrived.
    pub divergent_groups: u64,
}

/// The evidence for an outcome, as masks over the words of a slot.
struct OutcomeMasks {
    always: bool,
    masks: Vec<(usize, u32)>,
}

impl OutcomeMasks {
    fn of(plan: &CoveragePlan, sites: &Sites, site: usize, outcome: usize) -> OutcomeMasks {
        let mut always = false;
        let mut masks: Vec<(usize, u32)> = Vec::new();
        for (f, fact) in &sites.sites[site].outcomes[outcome].facts {
            let evidence = plan.evidence(sites, *f, *fact);
            always |= evidence.always;
            for bit in evidence.bits {
                let (word, mask) = ((bit / 32) as usize, 1 << (bit % 32));
                match masks.iter_mut().find(|(w, _)| *w == word) {
                    Some((_, m)) => *m |= mask,
                    None => masks.push((word, mask)),
                }
            }
        }
        OutcomeMasks { always, masks }
    }

    fn holds(&self, slot: &[u32]) -> bool {
        self.always || self.masks.iter().any(|(w, m)| slot[*w] & m != 0)
    }

    /// For barriers: returns whether some work-item of the slot's group did not set the bit.
    fn missed(&self, plan: &CoveragePlan, slot: &[u32]) -> bool {
        let first = plan.layout.words as usize;
        !self.always && self.masks.iter().any(|(w, m)| slot.get(first + w).is_some_and(|word| word & m != 0))
    }
}

/// Tallies a launch, by site.
pub fn tally(sites: &Sites, plan: &CoveragePlan, probe: Probe<'_>) -> Vec<SiteTally> {
    let stride = plan.layout.stride() as usize;
    let slots = &probe.words[(HEADER_WORDS as usize).min(probe.words.len())..];
    let per_group = match plan.layout.slots {
        Slots::Groups => 1,
        Slots::Items => probe.range.first_group_items().max(1) as usize,
    };
    // A group at the end of a dimension uses only the first slots.
    let used = |group: u64| match plan.layout.slots {
        Slots::Groups => stride,
        Slots::Items => stride * probe.range.items_of(group) as usize,
    };
    (0..sites.sites.len())
        .map(|s| {
            let site = &sites.sites[s];
            let masks_of_outcomes: Vec<OutcomeMasks> =
                (0..site.outcomes.len()).map(|o| OutcomeMasks::of(plan, sites, s, o)).collect();
            let mut result = SiteTally { hits: vec![0; masks_of_outcomes.len()], divergent_groups: 0 };
            let groups = slots.chunks_exact(stride * per_group).take(probe.range.groups() as usize);
            for (number, group) in (0..).zip(groups) {
                let group = group.get(..used(number)).unwrap_or(group);
                if site.kind == SiteKind::Barrier {
                    barrier(plan, &masks_of_outcomes[0], group, stride, &mut result);
                } else {
                    outcomes(&masks_of_outcomes, group, stride, &mut result);
                }
            }
            if plan.layout.slots == Slots::Groups {
                result.hits.iter_mut().for_each(|h| *h = (*h).min(1));
            }
            result
        })
        .collect()
}

fn outcomes(masks_of_outcomes: &[OutcomeMasks], group: &[u32], stride: usize, result: &mut SiteTally) {
    let mut outcomes_taken = 0;
    for (hits, outcome) in result.hits.iter_mut().zip(masks_of_outcomes) {
        let items = group.chunks_exact(stride).filter(|slot| outcome.holds(slot)).count() as u64;
        *hits += items;
        outcomes_taken += u64::from(items > 0);
    }
    result.divergent_groups += u64::from(outcomes_taken > 1);
}

/// A barrier is hit by the work-items of groups in which all of them arrived.
fn barrier(plan: &CoveragePlan, arrival: &OutcomeMasks, group: &[u32], stride: usize, result: &mut SiteTally) {
    let slots: Vec<&[u32]> = group.chunks_exact(stride).collect();
    let arrived = slots.iter().filter(|s| arrival.holds(s)).count();
    let missed = match plan.layout.slots {
        Slots::Groups => slots.iter().any(|s| arrival.missed(plan, s)),
        Slots::Items => arrived < slots.len(),
    };
    if arrived > 0 && missed {
        result.divergent_groups += 1;
    } else if arrived > 0 {
        result.hits[0] += arrived as u64;
    }
}
