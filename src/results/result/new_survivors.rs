//! Tells which survivors are new, compared with an earlier result. Pure.

use std::collections::{BTreeMap, HashMap};

use super::mutate::{Mutant, NewSurvivor};

/// Most entries of the table that pairs the mutants of a function. Where more would be needed, mutants that read alike
/// are paired in their order.
const MAX_TABLE: usize = 16_000_000;

/// Returns the mutants that no test detects and that the earlier run does not have, or has as detected. Mutants are the
/// same if they make the same change in the same function, in an order that leaves most of them the same: lines may
/// have moved.
pub fn new_survivors(before: &[Mutant], now: &[Mutant]) -> Vec<NewSurvivor> {
    let counterparts = counterparts(before, now);
    let new = |(at, mutant): (usize, &Mutant)| {
        let survives = mutant.duplicate_of.is_none()
            && !mutant.is_pair()
            && mutant.status.is_undetected()
            && !mutant.status.is_equivalent();
        let status = counterparts.get(&at).map(|then| before[*then].status);
        let is_new = survives && status.is_none_or(|status| status.is_detected());
        is_new.then(|| NewSurvivor { id: mutant.id.clone(), before: status })
    };
    now.iter().enumerate().filter_map(new).collect()
}

/// What makes mutants of a function alike.
type Change<'m> = (&'m str, &'m str, &'m str);

/// Returns the positions of mutants of the earlier run, by the positions of the same mutants now.
fn counterparts(before: &[Mutant], now: &[Mutant]) -> HashMap<usize, usize> {
    let (before, now) = (by_function(before), by_function(now));
    let mut all = HashMap::new();
    for (function, now) in &now {
        if let Some(before) = before.get(function) {
            pair(before, now, &mut all);
        }
    }
    all
}

fn by_function(mutants: &[Mutant]) -> BTreeMap<&str, Vec<(Change<'_>, usize)>> {
    let mut all: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (at, mutant) in mutants.iter().enumerate().filter(|(_, mutant)| !mutant.is_pair()) {
        let change = (mutant.operator.as_str(), mutant.original.as_str(), mutant.replacement.as_str());
        all.entry(&mutant.function).or_default().push((change, at));
    }
    all
}

/// Pairs the mutants of one function by a longest common subsequence.
fn pair(mut before: &[(Change<'_>, usize)], mut now: &[(Change<'_>, usize)], all: &mut HashMap<usize, usize>) {
    while let ([first, rest @ ..], [same, others @ ..]) = (before, now)
        && first.0 == same.0
    {
        all.insert(same.1, first.1);
        (before, now) = (rest, others);
    }
    while let ([rest @ .., last], [others @ .., same]) = (before, now)
        && last.0 == same.0
    {
        all.insert(same.1, last.1);
        (before, now) = (rest, others);
    }
    let width = now.len() + 1;
    if (before.len() + 1).saturating_mul(width) > MAX_TABLE {
        let mut waiting: HashMap<Change<'_>, Vec<usize>> = HashMap::new();
        before.iter().rev().for_each(|(change, at)| waiting.entry(*change).or_default().push(*at));
        for (change, at) in now {
            if let Some(then) = waiting.get_mut(change).and_then(Vec::pop) {
                all.insert(*at, then);
            }
        }
        return;
    }
    // How many of the mutants from here on can be paired.
    let mut table = vec![0u32; (before.len() + 1) * width];
    for b in (0..before.len()).rev() {
        for n in (0..now.len()).rev() {
            let at = b * width + n;
            table[at] = match before[b].0 == now[n].0 {
                true => table[at + width + 1] + 1,
                false => table[at + width].max(table[at + 1]),
            };
        }
    }
    let (mut b, mut n) = (0, 0);
    while b < before.len() && n < now.len() {
        let at = b * width + n;
        if before[b].0 == now[n].0 {
            all.insert(now[n].1, before[b].1);
            (b, n) = (b + 1, n + 1);
        } else if table[at + width] >= table[at + 1] {
            b += 1;
        } else {
            n += 1;
        }
    }
}
