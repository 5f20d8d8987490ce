//! Unites results of variants of a kernel, whose sites are not the same: some variants may lack what others have.

use std::collections::BTreeMap;

use kassay_results::result::cover::{CoverResult, Coverage};
use kassay_results::result::mcdc::{Mcdc, McdcDecision};
use kassay_results::result::merge::{distinct, join_devices};

use super::{mcdc, merge};

/// Unites results of variants in which what is at the same place has the same id. An outcome is covered if some variant
/// covers it, and counts if some variant has it. Names of tests get `variant N` appended, from 1. Decisions of MC/DC
/// with other conditions or vectors than an earlier variant's stay by themselves; a note says so. `None` if there is no
/// result.
pub fn unite(variants: Vec<CoverResult>) -> Option<CoverResult> {
    let devices = join_devices(variants.iter().filter_map(|variant| variant.header.device.as_ref()));
    let notes = distinct(variants.iter().flat_map(|variant| &variant.notes));
    let mut numbered = (1..).zip(variants).map(|(number, mut variant)| {
        let names = variant.tests.iter().map(|test| test.name.clone());
        let names = names.map(|name| (name.clone(), format!("{name}, variant {number}"))).collect();
        merge::rename(&mut variant, &names);
        (number, variant)
    });
    let (_, mut united) = numbered.next()?;
    united.header.device = devices;
    united.notes = notes;
    let mut apart = 0;
    for (number, other) in numbered {
        merge::sites(&mut united.sites, other.sites);
        if let (Some(own), Some(mcdc)) = (&mut united.mcdc, other.mcdc) {
            apart += decisions(&mut own.decisions, mcdc.decisions, number);
        }
        united.tests.extend(other.tests);
    }
    if apart > 0 {
        let text =
            "MC/DC: decisions whose conditions differ from one variant to the next count for each variant by itself";
        united.notes.push(format!("{text} ({apart} more)"));
    }
    united.sites.sort_by(|a, b| a.location.cmp(&b.location));
    united.mcdc = united.mcdc.map(|own| mcdc::judge(own.decisions, own.criterion));
    united.coverage = Coverage {
        mcdc: united.mcdc.as_ref().map(Mcdc::ratio),
        ..merge::coverage(&united.sites, &united.tests, false)
    };
    Some(united)
}

/// Unites decisions. Returns how many of the others stay by themselves although there is one at their place.
fn decisions(all: &mut Vec<McdcDecision>, others: Vec<McdcDecision>, variant: usize) -> usize {
    let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
    by_id.extend(all.iter().enumerate().map(|(at, decision)| (decision.id.clone(), at)));
    let mut apart = 0;
    for mut other in others {
        match by_id.get(&other.id).and_then(|at| all.get_mut(*at)) {
            Some(own) if is_same(own, &other) => merge::vectors(own, other),
            Some(_) => {
                other.id = format!("{} (variant {variant})", other.id);
                all.push(other);
                apart += 1;
            }
            None => all.push(other),
        }
    }
    apart
}

/// Whether two decisions have the same conditions, and the same ways to evaluate them.
fn is_same(a: &McdcDecision, b: &McdcDecision) -> bool {
    let shape = |decision: &McdcDecision| {
        let conditions: Vec<String> = decision.conditions.iter().map(|condition| condition.site.clone()).collect();
        let vectors: Vec<(String, bool)> = decision.vectors.iter().map(|v| (v.values.clone(), v.result)).collect();
        (conditions, vectors, decision.reason.clone())
    };
    shape(a) == shape(b)
}
