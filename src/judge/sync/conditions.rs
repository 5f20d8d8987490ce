//! Looks for the weakest condition on launches under which nothing is found: launches that kassay makes need not be ones
//! that a host makes.

use kassay_base::error::Result;
use kassay_model::condition::Condition;
use kassay_results::result::check::Verdict;
use kassay_run::exec::simulator::observation::Simulation;
use kassay_suite::launch::{ArgValue, Launch};

use super::budget::Budget;
use super::checking::{self, Case, Simulate};
use super::findings::{ObservedLaunch, Reader};
use crate::generate::conditions::{Candidates, Conditions};
use crate::generate::planned_launch::GeneratedLaunch;

/// Single conditions that are tried, at most.
const MAX_SINGLE: usize = 64;
/// Pairs that are tried, at most.
const MAX_PAIRS: usize = 32;
/// Conditions that are taken together with all that the code suggests, at most.
const MAX_JOINT: usize = 16;

/// A condition, with inputs that satisfy it and were run.
#[derive(Debug)]
pub struct Kept {
    /// In none of the inputs that satisfy it something is found.
    pub condition: Condition,
    /// New inputs that satisfy it.
    pub cases: Vec<Case>,
    /// What was seen of them.
    pub simulations: Vec<Simulation>,
}

/// The result of a search for a condition.
#[derive(Debug, Default)]
pub struct Searched {
    /// `None`: none of the conditions that the code suggests is enough.
    pub kept: Option<Kept>,
    /// The time was over before all were tried.
    pub cut_short: bool,
}

/// Looks for a condition that excludes all inputs in which something is found. `make` makes an input of a launch.
///
/// # Errors
/// As of [`Simulate::simulate`], and if no launches can be made.
pub fn weakest<S: Simulate>(
    sim: &mut S,
    reader: &Reader<'_>,
    (cases, simulations): (&[Case], &[Simulation]),
    conditions: &Conditions<'_>,
    make: &dyn Fn(GeneratedLaunch) -> Case,
    budget: Budget,
) -> Result<Searched> {
    let mut search = Search { reader, conditions, make, budget, bad: Vec::new() };
    for (case, simulation) in cases.iter().zip(simulations) {
        if search.is_bad(case, simulation) {
            search.bad.push(case.launch.clone());
        }
    }
    if search.bad.is_empty() {
        return Ok(Searched::default());
    }
    let Candidates { single, joint } = conditions.candidates();
    let mut kept = search.first(sim, single.iter().cloned(), MAX_SINGLE)?;
    if kept.is_none() {
        let pairs = search.pairs(&single);
        kept = search.first(sim, pairs.into_iter(), MAX_PAIRS)?;
    }
    if kept.is_none() && !joint.is_empty() {
        let all = Condition::all(joint);
        let more = single.iter().filter(|one| !all.parts().contains(one));
        let joined = more.map(|one| Condition::all([all.clone(), one.clone()]));
        let joined: Vec<Condition> = std::iter::once(all.clone()).chain(joined).collect();
        kept = search.first(sim, joined.into_iter(), MAX_JOINT)?;
        if let Some(found) = kept.take() {
            kept = Some(search.minimised(sim, found)?);
        }
    }
    Ok(Searched { kept, cut_short: budget.is_over() })
}

struct Search<'a, 'r, 'm> {
    reader: &'a Reader<'r>,
    conditions: &'a Conditions<'m>,
    make: &'a dyn Fn(GeneratedLaunch) -> Case,
    budget: Budget,
    /// Launches in which something is found: each condition must exclude all of them.
    bad: Vec<Launch>,
}

impl Search<'_, '_, '_> {
    fn is_bad(&self, case: &Case, simulation: &Simulation) -> bool {
        let observed = ObservedLaunch { input: 0, name: &case.name, launch: &case.launch, simulation };
        !matches!(self.reader.verdict_on(observed), Verdict::Clean | Verdict::Unknown)
    }

    fn excludes(&self, condition: &Condition, launch: &Launch) -> bool {
        self.conditions.holds(condition, launch) == Some(false)
    }

    fn excludes_all(&self, condition: &Condition) -> bool {
        self.bad.iter().all(|launch| self.excludes(condition, launch))
    }

    /// Tries conditions in order, at most `most` that exclude what is known to be bad, and returns the first that holds.
    fn first<S: Simulate>(
        &mut self,
        sim: &mut S,
        conditions: impl Iterator<Item = Condition>,
        most: usize,
    ) -> Result<Option<Kept>> {
        let mut tried = 0;
        for condition in conditions {
            if tried == most || self.budget.is_over() {
                break;
            }
            if !self.excludes_all(&condition) {
                continue;
            }
            tried += 1;
            if let Some(kept) = self.attempt(sim, condition)? {
                return Ok(Some(kept));
            }
        }
        Ok(None)
    }

    /// Returns pairs of which each excludes what the other does not, the weakest first.
    fn pairs(&self, single: &[Condition]) -> Vec<Condition> {
        let excluded: Vec<(&Condition, Vec<bool>)> = single
            .iter()
            .map(|one| (one, self.bad.iter().map(|launch| self.excludes(one, launch)).collect::<Vec<bool>>()))
            .filter(|(_, excluded)| excluded.iter().any(|is| *is))
            .collect();
        let mut pairs = Vec::new();
        for (n, (a, by_a)) in excluded.iter().enumerate() {
            for (b, by_b) in &excluded[n + 1..] {
                if by_a.iter().zip(by_b).all(|(a, b)| *a || *b) {
                    pairs.push(Condition::all([(*a).clone(), (*b).clone()]));
                }
            }
        }
        pairs.sort_by_key(Condition::strength);
        pairs
    }

    /// Runs launches that satisfy the condition. Returns them if nothing is found in any, and one shows that it says
    /// something: several work-items ran to their ends in it and left something in memory.
    fn attempt<S: Simulate>(&mut self, sim: &mut S, condition: Condition) -> Result<Option<Kept>> {
        let (mut cases, mut simulations) = (Vec::new(), Vec::new());
        let launches = self.conditions.launches(&condition, &|| self.budget.is_over())?;
        let count = launches.len();
        for (n, launch) in launches.into_iter().enumerate() {
            if self.budget.is_over() {
                return Ok(None);
            }
            let mut case = (self.make)(launch);
            let simulation = checking::explore(sim, self.reader.table, &mut case, self.budget.part(count - n))?;
            // A buffer that had to grow has other contents.
            if simulation.rejected.is_some() || self.conditions.holds(&condition, &case.launch) != Some(true) {
                continue;
            }
            if self.is_bad(&case, &simulation) {
                self.bad.push(case.launch);
                return Ok(None);
            }
            if simulation.completed {
                cases.push(case);
                simulations.push(simulation);
            }
        }
        let says = |(case, simulation): (&Case, &Simulation)| {
            let items = case.launch.range.items();
            (items > 1 || condition == Condition::OneWorkItem) && leaves_something(&case.launch, simulation)
        };
        let is_worth = cases.iter().zip(&simulations).any(says);
        Ok(is_worth.then_some(Kept { condition, cases, simulations }))
    }

    /// Leaves out the parts of a condition that are not needed, the strongest first.
    fn minimised<S: Simulate>(&mut self, sim: &mut S, mut kept: Kept) -> Result<Kept> {
        let mut parts = kept.condition.parts().to_vec();
        parts.sort_by_key(|part| std::cmp::Reverse(part.strength()));
        for part in parts {
            let others = || kept.condition.parts().iter().filter(|other| **other != part).cloned();
            let weaker = Condition::all(others());
            if self.budget.is_over() || kept.condition.parts().len() < 2 || !self.excludes_all(&weaker) {
                continue;
            }
            if let Some(found) = self.attempt(sim, weaker)? {
                kept = found;
            }
        }
        Ok(kept)
    }
}

/// Returns whether a launch changed the contents of a buffer or an image, as far as its outputs are known.
fn leaves_something(launch: &Launch, simulation: &Simulation) -> bool {
    simulation.observation.outputs.iter().any(|(position, after)| match launch.args.get(*position as usize) {
        Some(ArgValue::Buffer(before)) => before[..] != after[..],
        Some(ArgValue::Image { .. }) => true,
        _ => false,
    })
}
