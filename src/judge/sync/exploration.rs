//! Runs the inputs of a check once each, with all accesses watched.

use std::collections::BTreeSet;
use std::time::Instant;

use kassay_base::error::Result;
use kassay_model::native::table::NativeTable;
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay_suite::Output;
use kassay_suite::launch::Launch;

use super::findings::Key;
use crate::generate::buffer_growth::{self, Guess};

/// Number of times that a launch's arguments may grow.
const ROUNDS: usize = 12;

/// Runs launches with all accesses watched.
pub trait Simulate {
    /// Runs a launch under its schedule.
    ///
    /// # Errors
    /// Only those of the environment; what the kernel does is observed.
    fn simulate(&mut self, launch: &Launch, options: &SimulationOptions) -> Result<Simulation>;
}

/// An input to explore.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name in results.
    pub name: String,
    /// `suite`, `generated`, `solved` or `evolved`.
    pub origin: &'static str,
    /// With a definite work-group size.
    pub launch: Launch,
    /// The memory that the kernel may write, as far as its types are known.
    pub outputs: Vec<Output>,
    /// SIMULEE's fitness, for inputs found by search.
    pub fitness: Option<f64>,
    /// Assumptions made in generating it.
    pub preconditions: Vec<String>,
    /// Arguments made by kassay whose size the kernel does not reveal: they grow where the kernel accesses them out
    /// of bounds.
    pub guesses: Vec<Guess>,
}

/// An input that was run.
pub(super) struct Explored {
    pub(super) keys: BTreeSet<Key>,
    pub(super) simulation: Simulation,
}

/// Runs a case under its own schedule, until `deadline` at most. If it accesses an argument of guessed length out of
/// bounds, the argument grows and the case is run again.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn explore<S: Simulate>(
    sim: &mut S,
    table: &NativeTable,
    case: &mut Case,
    deadline: Option<Instant>,
) -> Result<Simulation> {
    let mut simulation = watched(sim, &case.launch, deadline)?;
    for _ in 0..ROUNDS {
        let reached = buffer_growth::reached(table, &simulation.faults);
        if !buffer_growth::grow(&mut case.guesses, &mut case.launch, &mut case.preconditions, &reached) {
            break;
        }
        simulation = watched(sim, &case.launch, deadline)?;
    }
    Ok(simulation)
}

/// Runs a launch with all accesses watched.
fn watched<S: Simulate>(sim: &mut S, launch: &Launch, deadline: Option<Instant>) -> Result<Simulation> {
    let schedule = launch.schedule.clone();
    sim.simulate(launch, &SimulationOptions { schedule, races: true, deadline, ..SimulationOptions::default() })
}
