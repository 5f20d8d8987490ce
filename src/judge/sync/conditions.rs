//! Looks for the weakest condition on launches under which nothing is found: launches that kassay makes need not be
//! ones that a host makes.

use kassay_base::error::Result;
use kassay_model::condition::{Condition, Quantity};
use kassay_model::native::table::{NativeTable, Storage};
use kassay_results::result::check::Verdict;
use kassay_run::exec::simulator::observation::{FaultKind, Simulation, SimulatorFault};
use kassay_suite::launch::{ArgValue, Launch};

use super::budget::Budget;
use super::checking::{self, Case, Simulate};
use super::findings::{ObservedLaunch, Reader};
use crate::generate::conditions::{Candidates, Concerns, Conditions};
use crate::generate::planned_launch::GeneratedLaunch;

/// Single conditions that are tried, at most.
const MAX_SINGLE: usize = 64;
/// Pairs that are tried, at most.
const MAX_PAIRS: usize = 32;
/// Conditions that are taken together with all that the code suggests, at most.
const MAX_JOINT: usize = 64;

/// A condition that says more than this is none that an author would have had in mind: only an accident of the explored
/// launches sets them apart.
const MAX_KINDS: usize = 3;
/// How often what has to do with the findings is determined anew.
const PASSES: u32 = 3;
/// So many conditions that the code suggests together are tried before single ones.
const MANY: usize = 4;
/// Launches in which something is found that are tried again, kept to a condition.
const EXAMPLES: usize = 4;
/// Of the time that is left, each launch may take this part.
const PARTS: usize = 8;

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
    let mut search =
        Search { reader, conditions, make, budget, bad: Vec::new(), concerns: Concerns::default(), misaligned: true };
    let mut only_solved = true;
    for (case, simulation) in cases.iter().zip(simulations) {
        if search.is_bad(case, simulation) {
            search.note(case.launch.clone(), simulation);
            only_solved &= case.origin == "solved";
        }
    }
    // A launch that was solved for differs from clean ones in single values: nearly any condition on them excludes it,
    // and says nothing of what is wrong.
    if search.bad.is_empty() || only_solved {
        return Ok(Searched::default());
    }
    let mut kept = None;
    for pass in 1..=PASSES {
        let known = (search.concerns.clone(), search.misaligned);
        search.budget = budget.up_to(f64::from(pass) / f64::from(PASSES + 1));
        kept = search.pass(sim)?;
        // What else was found on the way may need another condition.
        if kept.is_some() || known == (search.concerns.clone(), search.misaligned) {
            break;
        }
    }
    search.budget = budget;
    if let Some(found) = kept.take() {
        kept = Some(search.minimised(sim, found)?);
    }
    let kept = kept.filter(|kept| kept.condition.kinds() <= MAX_KINDS);
    Ok(Searched { kept, cut_short: budget.is_over() })
}

struct Search<'a, 'r, 'm> {
    reader: &'a Reader<'r>,
    conditions: &'a Conditions<'m>,
    make: &'a dyn Fn(GeneratedLaunch) -> Case,
    budget: Budget,
    /// Launches in which something is found: each condition must exclude all of them.
    bad: Vec<Launch>,
    /// What is found in them.
    concerns: Concerns,
    /// That is nothing but misaligned accesses.
    misaligned: bool,
}

impl Search<'_, '_, '_> {
    fn is_bad(&self, case: &Case, simulation: &Simulation) -> bool {
        let observed = ObservedLaunch { input: 0, name: &case.name, launch: &case.launch, simulation };
        !matches!(self.reader.verdict_on(observed), Verdict::Clean | Verdict::Unknown)
    }

    /// Notes a launch in which something is found.
    fn note(&mut self, launch: Launch, simulation: &Simulation) {
        self.bad.push(launch);
        self.misaligned &= is_only_misaligned(simulation);
        concern(&mut self.concerns, self.reader.table, simulation);
    }

    /// Tries the conditions that have to do with what is found so far.
    fn pass<S: Simulate>(&mut self, sim: &mut S) -> Result<Option<Kept>> {
        let Candidates { mut single, joint } = self.conditions.candidates(&self.concerns);
        if self.misaligned {
            // Others would mend it by accident.
            single.retain(|condition| matches!(condition, Condition::MultipleOf(_, Quantity::Constant(_))));
        }
        let all = Condition::all(joint);
        let whole = self.budget;
        let mut kept = None;
        let rounds: [bool; 2] = if all.parts().len() < MANY { [false, true] } else { [true, false] };
        for (is_joint, share) in rounds.into_iter().zip([0.4, 0.7]) {
            self.budget = whole.up_to(share);
            if kept.is_none() && is_joint {
                kept = self.jointly(sim, &all)?;
            } else if kept.is_none() {
                kept = self.first(sim, single.iter().cloned(), MAX_SINGLE)?;
            }
        }
        if kept.is_none() {
            let pairs = self.pairs(&single);
            kept = self.first(sim, pairs.into_iter(), MAX_PAIRS)?;
        }
        self.budget = whole;
        if kept.is_none() && !all.parts().is_empty() {
            let is_new = |one: &&Condition| !all.parts().iter().any(|part| part == *one || are_opposed(part, one));
            let (sizes, others): (Vec<&Condition>, _) =
                single.iter().filter(is_new).partition(|one| is_of_sizes_or_contents(one));
            let (multiples, others): (Vec<&Condition>, Vec<&Condition>) =
                others.into_iter().partition(|one| matches!(one, Condition::MultipleOf(..)));
            let more = sizes.into_iter().chain(multiples).chain(others);
            let joined = more.map(|one| Condition::all([all.clone(), one.clone()]));
            kept = self.first(sim, joined, MAX_JOINT)?;
        }
        Ok(kept)
    }

    /// Tries those of the conditions together that exclude something, more of them as more is found, and all of them in
    /// the end.
    fn jointly<S: Simulate>(&mut self, sim: &mut S, all: &Condition) -> Result<Option<Kept>> {
        let mut tried = 0;
        loop {
            let excludes_some = |part: &&Condition| self.bad.iter().any(|launch| self.excludes(part, launch));
            let excluding: Vec<Condition> = all.parts().iter().filter(excludes_some).cloned().collect();
            if excluding.is_empty() || excluding.len() == tried || excluding.len() == all.parts().len() {
                break;
            }
            tried = excluding.len();
            let kept = self.first(sim, std::iter::once(Condition::all(excluding)), 1)?;
            if kept.is_some() {
                return Ok(kept);
            }
        }
        if all.parts().is_empty() { Ok(None) } else { self.first(sim, std::iter::once(all.clone()), 1) }
    }

    fn excludes(&self, condition: &Condition, launch: &Launch) -> bool {
        self.conditions.holds(condition, launch) == Some(false)
    }

    fn excludes_all(&self, condition: &Condition) -> bool {
        self.bad.iter().all(|launch| self.excludes(condition, launch))
    }

    /// Tries conditions in order, at most `most` that exclude what is known to be bad, and returns the first that
    /// holds.
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
            for (m, (b, by_b)) in excluded.iter().enumerate().skip(n + 1) {
                if !are_opposed(a, b) && by_a.iter().zip(by_b).all(|(a, b)| *a || *b) {
                    pairs.push((a.strength() + b.strength(), n, m));
                }
            }
        }
        pairs.sort_unstable();
        pairs.truncate(MAX_PAIRS * 8);
        pairs.into_iter().map(|(_, n, m)| Condition::all([excluded[n].0.clone(), excluded[m].0.clone()])).collect()
    }

    /// Runs launches that satisfy the condition. Returns them if nothing is found in any, and one shows that it says
    /// something: several work-items ran to their ends in it and left something in memory.
    fn attempt<S: Simulate>(&mut self, sim: &mut S, condition: Condition) -> Result<Option<Kept>> {
        let (mut cases, mut simulations) = (Vec::new(), Vec::new());
        let mut fails = false;
        let (conditions, mut bad) = (self.conditions, None);
        // What the condition leaves alone may be what matters, such as a value that was solved for.
        let last = self.bad.len().saturating_sub(EXAMPLES / 2).max(EXAMPLES / 2);
        let examples: Vec<&Launch> = self.bad.iter().take(EXAMPLES / 2).chain(self.bad.iter().skip(last)).collect();
        conditions.launches(&condition, &examples, &mut |launch| {
            let mut case = (self.make)(launch);
            let deadline = self.budget.part(PARTS);
            let simulation = checking::explore(sim, self.reader.table, &mut case, deadline)?;
            // A buffer that had to grow has other contents.
            if simulation.rejected.is_some() || conditions.holds(&condition, &case.launch) != Some(true) {
                return Ok(true);
            }
            fails = self.is_bad(&case, &simulation);
            if fails {
                bad = Some((case.launch, simulation));
            } else if simulation.completed {
                cases.push(case);
                simulations.push(simulation);
            }
            fails |= self.budget.is_over();
            Ok(!fails)
        })?;
        if let Some((launch, simulation)) = bad {
            self.note(launch, &simulation);
        }
        if fails {
            return Ok(None);
        }
        let says = |(case, simulation): (&Case, &Simulation)| {
            let items = case.launch.range.items();
            (items > 1 || condition == Condition::OneWorkItem) && leaves_something(&case.launch, simulation)
        };
        let is_worth = cases.iter().zip(&simulations).any(says);
        Ok(is_worth.then_some(Kept { condition, cases, simulations }))
    }

    /// Leaves out the parts of a condition that are not needed, the strongest first, of many parts a half at once.
    fn minimised<S: Simulate>(&mut self, sim: &mut S, mut kept: Kept) -> Result<Kept> {
        let mut parts = kept.condition.parts().to_vec();
        parts.sort_by_key(|part| std::cmp::Reverse(part.strength()));
        let mut size = parts.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < parts.len() && !self.budget.is_over() {
                let end = (at + size).min(parts.len());
                let without: Vec<Condition> = parts[..at].iter().chain(&parts[end..]).cloned().collect();
                // In the order of the candidates.
                let order = kept.condition.parts().iter().filter(|part| without.contains(part)).cloned();
                let weaker = Condition::all(order);
                let found =
                    if without.is_empty() || !self.excludes_all(&weaker) { None } else { self.attempt(sim, weaker)? };
                match found {
                    Some(found) => (kept, parts) = (found, without),
                    None => at = end,
                }
            }
            size /= 2;
        }
        Ok(kept)
    }
}

/// Notes what was found in a launch.
fn concern(concerns: &mut Concerns, table: &NativeTable, simulation: &Simulation) {
    concerns.has_others |= !simulation.divergences.is_empty();
    let mut access = |object: Option<u32>| match object.and_then(|o| table.objects.get(o as usize)).map(|o| o.storage) {
        Some(Storage::Argument(position)) => {
            concerns.arguments.insert(position);
        }
        Some(_) => concerns.has_variables = true,
        None => concerns.has_others = true,
    };
    simulation.conflicts.iter().for_each(|conflict| access(Some(conflict.object)));
    let counts = |fault: &&SimulatorFault| fault.kind != FaultKind::Uninitialised;
    simulation.faults.iter().filter(counts).for_each(|fault| access(fault.object));
}

/// Returns whether a condition is on sizes of the launch alone, or on what buffers hold.
fn is_of_sizes_or_contents(condition: &Condition) -> bool {
    matches!(
        condition,
        Condition::Equal(Quantity::LocalSize(_) | Quantity::GlobalSize(_) | Quantity::Groups(_), _)
            | Condition::PowerOfTwo(_)
            | Condition::Within(..)
            | Condition::Rising(_)
            | Condition::Distinct(_)
            | Condition::Apart(_)
    )
}

/// Returns whether one says that a scalar is the greater of two, and the other that the other one is: both together
/// hold only where they say nothing.
fn are_opposed(a: &Condition, b: &Condition) -> bool {
    fn sides(condition: &Condition) -> Option<(&Quantity, &Quantity)> {
        match condition {
            Condition::AtLeast(greater, less) => Some((greater, less)),
            Condition::Strides { outer, inner, .. } => Some((outer, inner)),
            _ => None,
        }
    }
    match (sides(a), sides(b)) {
        (Some((greater, less)), Some((other_greater, other_less))) => greater == other_less && less == other_greater,
        _ => false,
    }
}

/// Returns whether nothing but misaligned accesses was found.
fn is_only_misaligned(simulation: &Simulation) -> bool {
    let is_misaligned = |fault: &SimulatorFault| matches!(fault.kind, FaultKind::Misaligned | FaultKind::Uninitialised);
    simulation.conflicts.is_empty() && simulation.divergences.is_empty() && simulation.faults.iter().all(is_misaligned)
}

/// Returns whether a launch changed the contents of a buffer or an image, as far as its outputs are known.
fn leaves_something(launch: &Launch, simulation: &Simulation) -> bool {
    simulation.observation.outputs.iter().any(|(position, after)| match launch.args.get(*position as usize) {
        Some(ArgValue::Buffer(before)) => before[..] != after[..],
        Some(ArgValue::Image { .. }) => true,
        _ => false,
    })
}
