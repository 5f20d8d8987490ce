//! Turns probe data into covered outcomes, as a pure function that is tested without a device.

use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_ir::instrument::coverage::{CoveragePlan, Evidence};
use kassay_ir::instrument::layout::{CoverageLayout, HEADER_WORDS, Slots};
use kassay_suite::launch::NdRange;

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

/// What shows the outcomes of a site in a slot: all that is needed to tally it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteEvidence {
    /// Whether it is a barrier, which all work-items of a group have to reach.
    pub is_barrier: bool,
    /// By outcome.
    pub outcomes: Vec<Evidence>,
}

/// Returns the evidence for all sites, in their order.
pub fn evidence(sites: &Sites, plan: &CoveragePlan) -> Vec<SiteEvidence> {
    let of_facts = |facts: &[_]| {
        let mut all = Evidence::default();
        for (f, fact) in facts {
            let one = plan.evidence(sites, *f, *fact);
            all.always |= one.always;
            all.bits.extend(one.bits);
        }
        all
    };
    let of_site = |site: &kassay_ir::cfg::sites::Site| SiteEvidence {
        is_barrier: site.kind == SiteKind::Barrier,
        outcomes: site.outcomes.iter().map(|o| of_facts(&o.facts)).collect(),
    };
    sites.sites.iter().map(of_site).collect()
}

/// The evidence for an outcome, as masks over the words of a slot.
struct OutcomeMasks {
    always: bool,
    masks: Vec<(usize, u32)>,
}

impl OutcomeMasks {
    fn of(evidence: &Evidence) -> OutcomeMasks {
        let mut masks: Vec<(usize, u32)> = Vec::new();
        for bit in &evidence.bits {
            let (word, mask) = ((bit / 32) as usize, 1 << (bit % 32));
            match masks.iter_mut().find(|(w, _)| *w == word) {
                Some((_, m)) => *m |= mask,
                None => masks.push((word, mask)),
            }
        }
        OutcomeMasks { always: evidence.always, masks }
    }

    fn holds(&self, slot: &[u32]) -> bool {
        self.always || self.masks.iter().any(|(w, m)| slot[*w] & m != 0)
    }

    /// For barriers: returns whether some work-item of the slot's group did not set the bit.
    fn missed(&self, layout: &CoverageLayout, slot: &[u32]) -> bool {
        let first = layout.words as usize;
        !self.always && self.masks.iter().any(|(w, m)| slot.get(first + w).is_some_and(|word| word & m != 0))
    }
}

/// The slots of one work-group, or of several that share one.
#[derive(Clone, Copy)]
struct Group<'a> {
    words: &'a [u32],
    /// Whether other groups have written to the same slot: whether work-items of one group diverged is unknown then.
    is_shared: bool,
}

/// Tallies a launch, by site.
pub fn tally(sites: &Sites, plan: &CoveragePlan, probe: Probe<'_>) -> Vec<SiteTally> {
    tally_evidence(&evidence(sites, plan), &plan.layout, probe)
}

/// Tallies any number of launches with one buffer that has slots per work-group, by site: its words, header included.
/// Nothing tells which launch wrote what, so whether a work-group diverged is unknown, and a barrier is covered if in
/// some slot all work-items that came by arrived there.
pub fn tally_launches(sites: &[SiteEvidence], layout: &CoverageLayout, words: &[u32]) -> Vec<SiteTally> {
    let slots = &words[(HEADER_WORDS as usize).min(words.len())..];
    let one = |words| Group { words, is_shared: true };
    let stride = layout.stride() as usize;
    sites.iter().map(|site| tally_site(site, layout, slots.chunks_exact(stride).map(one))).collect()
}

/// Tallies a launch, by site, from evidence that may have been written down before. A barrier in a slot that
/// work-groups share is covered if all of their work-items arrived there.
pub fn tally_evidence(sites: &[SiteEvidence], layout: &CoverageLayout, probe: Probe<'_>) -> Vec<SiteTally> {
    let stride = layout.stride() as usize;
    let slots = &probe.words[(HEADER_WORDS as usize).min(probe.words.len())..];
    let per_item = layout.slots.are_per_item();
    let per_group = if per_item { probe.range.first_group_items().max(1) as usize } else { 1 };
    // A group at the end of a dimension uses only the first slots.
    let used = |group: u64| if per_item { stride * probe.range.items_of(group) as usize } else { stride };
    let launched = probe.range.groups();
    let available = (slots.len() / (stride * per_group)) as u64;
    let (read, shared) = match layout.slots {
        Slots::Groups | Slots::Items | Slots::BoundedItems { .. } => (launched, None),
        // An earlier launch with the same buffer may have had more groups.
        Slots::Bounded { .. } => (available, available.checked_sub(1).filter(|_| available < launched)),
    };
    let tally = |site: &SiteEvidence| {
        let groups = slots.chunks_exact(stride * per_group).take(read as usize);
        let groups = (0..).zip(groups).map(|(number, words)| Group {
            words: words.get(..used(number)).unwrap_or(words),
            is_shared: shared == Some(number),
        });
        tally_site(site, layout, groups)
    };
    sites.iter().map(tally).collect()
}

fn tally_site<'a>(site: &SiteEvidence, layout: &CoverageLayout, groups: impl Iterator<Item = Group<'a>>) -> SiteTally {
    let stride = layout.stride() as usize;
    let masks_of_outcomes: Vec<OutcomeMasks> = site.outcomes.iter().map(OutcomeMasks::of).collect();
    let mut result = SiteTally { hits: vec![0; masks_of_outcomes.len()], divergent_groups: 0 };
    for group in groups {
        match masks_of_outcomes.first() {
            Some(arrival) if site.is_barrier => barrier(layout, arrival, group, stride, &mut result),
            _ => outcomes(&masks_of_outcomes, group, stride, &mut result),
        }
    }
    if !layout.slots.are_per_item() {
        result.hits.iter_mut().for_each(|h| *h = (*h).min(1));
    }
    result
}

fn outcomes(masks_of_outcomes: &[OutcomeMasks], group: Group<'_>, stride: usize, result: &mut SiteTally) {
    let mut outcomes_taken = 0;
    for (hits, outcome) in result.hits.iter_mut().zip(masks_of_outcomes) {
        let items = group.words.chunks_exact(stride).filter(|slot| outcome.holds(slot)).count() as u64;
        *hits += items;
        outcomes_taken += u64::from(items > 0);
    }
    result.divergent_groups += u64::from(outcomes_taken > 1 && !group.is_shared);
}

/// A barrier is hit by the work-items of groups in which all of them arrived.
fn barrier(layout: &CoverageLayout, arrival: &OutcomeMasks, group: Group<'_>, stride: usize, result: &mut SiteTally) {
    let slots: Vec<&[u32]> = group.words.chunks_exact(stride).collect();
    let arrived = slots.iter().filter(|s| arrival.holds(s)).count();
    let missed = match layout.slots.are_per_item() {
        true => arrived < slots.len(),
        false => slots.iter().any(|s| arrival.missed(layout, s)),
    };
    if arrived > 0 && missed {
        result.divergent_groups += u64::from(!group.is_shared);
    } else if arrived > 0 {
        result.hits[0] += arrived as u64;
    }
}
