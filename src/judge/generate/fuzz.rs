//! Mutation-based fuzzing (PENG algorithm 1): inputs are mutated one argument at a time and kept when coverage grows.

use std::cell::Cell;
use std::time::Instant;

use kassay_base::error::Result;
use kassay_results::result::generate::By;

use super::fault_avoidance;
use super::fill::mix;
use super::genotype::Genotype;
use super::input_mutations::Mutator;
use super::launches::{self, Request};
use super::search::{Limits, Search, StopReason};

/// The remaining time is divided by these for repairing the first launches, if all of them were rejected and if only
/// some were.
const REPAIR_DIVISOR_ALL: u32 = 3;
const REPAIR_DIVISOR_SOME: u32 = 10;

/// The part of the search's time and launches that fuzzing may use.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// When fuzzing has to end.
    pub end: Instant,
    /// The most launches; `None`: any number.
    pub max_execs: Option<u64>,
    /// Whether solving follows.
    pub solving: bool,
}

impl Share {
    /// Returns all of it, or half if solving follows.
    pub fn of(limits: &Limits, started: Instant, solving: bool) -> Share {
        if !solving {
            return Share { end: limits.end, max_execs: limits.max_execs, solving };
        }
        let end = started + limits.end.saturating_duration_since(started) / 2;
        Share { end, max_execs: limits.max_execs.map(|n| n.div_ceil(2)), solving }
    }

    fn stop_reason(&self, search: &Search<'_>) -> Option<StopReason> {
        // Solving starts from launches that completed, so fuzzing goes on until there is one.
        if search.corpus().is_empty() {
            return search.stop_reason();
        }
        if self.max_execs.is_some_and(|most| search.statistics().executions >= most) {
            return Some(StopReason::OutOfExecutions);
        }
        (Instant::now() >= self.end).then_some(StopReason::OutOfTime)
    }
}

/// Runs the first launches, then mutates the inputs that were kept. `close` is called between: what it closes is not
/// searched for.
///
/// # Errors
/// As [`super::search::CoverageRunner::run`] and the construction of the first launches.
pub fn fuzz<'s>(
    search: &mut Search<'s>,
    request: &Request,
    share: &Share,
    close: &mut dyn FnMut(&mut Search<'s>) -> Result<()>,
) -> Result<StopReason> {
    let problem = search.problem;
    let (mut parents, mut rejected): (Vec<Genotype>, Vec<Genotype>) = (Vec::new(), Vec::new());
    // A resumed search does not repeat the same mutations.
    let earlier = search.statistics().executions;
    // One launch is made in any case, however much of the time is used up.
    let (has_started, full_end) = (Cell::new(false), search.limits.end);
    let is_over = || Instant::now() >= if has_started.get() { share.end } else { full_end };
    for (mut planned, fitted) in launches::planned_launches(problem.launch_builder, request, is_over)? {
        has_started.set(true);
        if let Some(ended) = share.stop_reason(search) {
            return Ok(ended);
        }
        if planned.geometry.range.items() > problem.constraints.usual_items && request.range.is_none() {
            continue;
        }
        let name = std::mem::take(&mut planned.name);
        let scalars = planned.scalars.clone();
        let genotype = Genotype::from_planned(planned, problem.launch_builder.model, problem.constraints);
        // The user may require other scalars.
        let fitted = (genotype.scalars == scalars).then_some(fitted);
        parents.push(genotype.clone());
        match search.attempt(genotype.clone(), fitted, By::Seed)? {
            Some(found) => {
                search.consider(found, name)?;
            }
            None => rejected.push(genotype),
        }
        if search.all_covered() {
            return Ok(StopReason::Covered);
        }
    }
    if share.solving && !rejected.is_empty() {
        // Repair gets a larger part if there is nothing else to start from.
        let part = if search.corpus().is_empty() { REPAIR_DIVISOR_ALL } else { REPAIR_DIVISOR_SOME };
        let left = search.limits.end.saturating_duration_since(Instant::now());
        let is_all = search.corpus().is_empty();
        let repaired = fault_avoidance::avoid_fault(search, &rejected, Instant::now() + left / part)?;
        if is_all && !repaired.is_empty() {
            parents = repaired;
        }
        if search.all_covered() {
            return Ok(StopReason::Covered);
        }
    }
    let attempts = search.limits.attempts;
    if attempts == 0 {
        return Ok(StopReason::Fruitless);
    }
    if share.solving && !search.goals_covered() {
        close(search)?;
        if search.all_covered() {
            return Ok(StopReason::Covered);
        }
    }
    let mut mutator = Mutator::new(problem.launch_builder, problem.constraints, mix(request.seed, 1 + earlier));
    mutator.allows_faults = search.allows_faults();
    if mutator.targets() == 0 {
        return Ok(StopReason::NothingToChange);
    }
    let (mut fruitless, mut turn) = (0, 0);
    // Outcomes that are no goals are worth little effort.
    while fruitless < if search.goals_covered() { attempts.div_ceil(4) } else { attempts } {
        if let Some(ended) = share.stop_reason(search) {
            return Ok(ended);
        }
        turn += 1;
        let Some(child) = child(search, &parents, turn, &mut mutator) else { return Ok(StopReason::NothingToChange) };
        fruitless += 1;
        if let Some(found) = search.attempt(child, None, By::Fuzz)?
            && search.consider(found, "fuzzed".to_owned())?
        {
            fruitless = 0;
        }
        // Coming nearer is no gain yet, but a reason to go on. A distance cannot be halved for ever.
        if search.last_gain.halved {
            fruitless /= 2;
        }
        if search.all_covered() {
            return Ok(StopReason::Covered);
        }
    }
    Ok(StopReason::Fruitless)
}

/// Picks and mutates a parent. In turn: an input nearest to an uncovered branch direction, steered towards it; the
/// newest kept input; one in which comparisons happen unusually often or seldom; any kept input. As long as none is
/// kept, one of the first launches.
fn child(search: &mut Search<'_>, parents: &[Genotype], turn: usize, mutator: &mut Mutator<'_>) -> Option<Genotype> {
    let pick = |n: usize| (turn / 4) % n.max(1);
    if search.corpus().iter().all(|k| k.genotype.is_none()) {
        return mutator.child(parents.get(turn % parents.len().max(1))?);
    }
    if turn.is_multiple_of(2)
        && let Some((champion, tries)) = search.distances.next_champion()
    {
        return match mutator.below(8) {
            0 => mutator.child(&champion.genotype),
            _ => Some(mutator.steered(champion, tries)),
        };
    }
    let kept: Vec<&Genotype> = search.corpus().iter().filter_map(|k| k.genotype.as_ref()).collect();
    match turn % 4 {
        1 if !search.distances.varied().is_empty() => {
            mutator.child(&search.distances.varied()[pick(search.distances.varied().len())])
        }
        3 => mutator.child(kept[kept.len() - 1]),
        _ => mutator.child(kept[pick(kept.len())]),
    }
}
