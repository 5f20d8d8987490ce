//! Mutation-based fuzzing (PENG algorithm 1): inputs are changed one argument at a time and kept when coverage grows.

use std::time::Instant;

use super::fill::mix;
use super::genes::Genes;
use super::launches::{self, Request};
use super::mutate::Mutator;
use super::search::{Ended, Search};
use crate::error::Result;
use crate::result::generate::By;

/// Makes the first launches, then changes those that were kept.
///
/// # Errors
/// As of [`super::search::Runs::run`] and of the first launches.
pub fn fuzz(search: &mut Search<'_>, request: &Request) -> Result<Ended> {
    let subject = search.subject;
    let mut parents: Vec<Genes> = Vec::new();
    // A search that goes on does not make the same changes again.
    let earlier = search.tried().executions;
    let end = search.limits.end;
    for (mut planned, outcome) in launches::planned(subject.workshop, request, || Instant::now() >= end)? {
        if let Some(ended) = search.over() {
            return Ok(ended);
        }
        if planned.geometry.range.items() > subject.wishes.max_items && request.range.is_none() {
            continue;
        }
        let name = std::mem::take(&mut planned.name);
        let scalars = planned.scalars.clone();
        let genes = Genes::of(planned, subject.workshop.model, subject.wishes);
        // The user may want others.
        let tried = (genes.scalars == scalars).then_some(outcome);
        parents.push(genes.clone());
        if let Some(found) = search.attempt(genes, tried, By::Seed)? {
            search.consider(found, name)?;
        }
        if search.all_covered() {
            return Ok(Ended::Covered);
        }
    }
    let attempts = search.limits.attempts;
    if attempts == 0 {
        return Ok(Ended::Fruitless);
    }
    let mut mutator = Mutator::new(subject.workshop, subject.wishes, mix(request.seed, 1 + earlier));
    if mutator.targets() == 0 {
        return Ok(Ended::Nothing);
    }
    let (mut fruitless, mut turn) = (0, 0);
    while fruitless < attempts {
        if let Some(ended) = search.over() {
            return Ok(ended);
        }
        // Every other time the newest of those kept, else another of them; of the seeds as long as none runs.
        turn += 1;
        let parent = match search.kept() {
            [] => parents.get(turn % parents.len().max(1)),
            kept if turn % 2 == 0 => kept.last().and_then(|k| k.genes.as_ref()),
            kept => kept[turn / 2 % kept.len()].genes.as_ref(),
        };
        let Some(child) = parent.and_then(|parent| mutator.child(parent)) else { return Ok(Ended::Nothing) };
        fruitless += 1;
        if let Some(found) = search.attempt(child, None, By::Fuzz)?
            && search.consider(found, "fuzzed".to_owned())?
        {
            fruitless = 0;
        }
        if search.all_covered() {
            return Ok(Ended::Covered);
        }
    }
    Ok(Ended::Fruitless)
}
