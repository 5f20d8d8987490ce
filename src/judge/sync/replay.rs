//! Runs launches with the sizes and scalars of a solver's model of what it could not exclude. A model is only a hint:
//! it chooses what loads return and where loops are. What shows in a run refutes a property, nothing else.

use kassay_base::error::Result;
use kassay_model::condition::{Condition, Quantity};
use kassay_model::interface::Interface;
use kassay_model::words::Words;
use kassay_results::result::check::Finding;
use kassay_results::result::proofs::{Proof, Status};

use super::budget::Budget;
use super::checking::{self, Case, Simulate};
use super::findings::{Found, Reader};
use super::proofs::refute;
use crate::generate::conditions::Conditions;
use crate::generate::planned_launch::GeneratedLaunch;

/// Launches of a model that are run, with contents of different kinds.
const MAX_LAUNCHES: usize = 4;

/// Most work-items of a launch that is run.
const MAX_WORK_ITEMS: i128 = 1 << 16;

/// What refuted properties.
#[derive(Debug, Default)]
pub struct Replayed {
    /// The launches.
    pub cases: Vec<Case>,
    /// What was found in them that a property excludes: one of each launch.
    pub found: Vec<Found>,
}

/// Runs launches of the models of properties that are not known, which come in the same order, until the budget ends.
/// `make` makes an input of a launch. Properties that do not hold in one of them become refuted.
///
/// # Errors
/// As of [`Simulate::simulate`], and if no launches can be made.
pub fn replay<S: Simulate>(
    sim: &mut S,
    reader: &Reader<'_>,
    (proofs, models): (&mut [Proof], &[Option<Condition>]),
    conditions: &Conditions<'_>,
    make: &dyn Fn(GeneratedLaunch) -> Case,
    budget: Budget,
) -> Result<Replayed> {
    let mut replayed = Replayed::default();
    let words = Words::of(reader.source);
    for (proof, model) in proofs.iter_mut().zip(models) {
        let is_open = proof.status == Status::Unknown;
        let Some(model) = model.as_ref().filter(|model| is_open && is_small(model)) else { continue };
        let mut tried = 0;
        conditions.launches(model, &[], &mut |launch| {
            if budget.is_over() {
                return Ok(false);
            }
            tried += 1;
            let mut case = make(launch);
            let simulation = checking::explore(sim, reader.table, &mut case, budget.part(MAX_LAUNCHES))?;
            let input = replayed.cases.len();
            for mut found in checking::findings_of(reader, input, &case, &simulation) {
                words.put(&mut found.finding.message);
                if is_refuted(proof, &found.finding, reader.interface) {
                    proof.replayed = true;
                    proof.counterexample = Some(model.text(words));
                    replayed.found.push(found);
                    replayed.cases.push(case);
                    return Ok(false);
                }
            }
            Ok(tried < MAX_LAUNCHES)
        })?;
    }
    Ok(replayed)
}

/// Whether the sizes of a model are those of a launch that can be run.
fn is_small(model: &Condition) -> bool {
    let size = |part: &Condition| match part {
        Condition::Equal(Quantity::LocalSize(_) | Quantity::Groups(_), Quantity::Constant(n)) => i128::from(*n),
        _ => 1,
    };
    model.parts().iter().try_fold(1, |all: i128, part| all.checked_mul(size(part))).is_some_and(|n| n <= MAX_WORK_ITEMS)
}

fn is_refuted(proof: &mut Proof, finding: &Finding, interface: &Interface) -> bool {
    refute(std::slice::from_mut(proof), std::slice::from_ref(finding), interface, false);
    proof.status == Status::Refuted
}
