//! The kernel with coverage probes on the simulator, where a search runs its launches.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_ir::cfg::sites::Sites;
use kassay_model::code::LoweringOptions;
use kassay_model::interface::Interface;
use kassay_model::native::table::Space;
use kassay_run::exec::simulator::compare::Comparisons;
use kassay_run::exec::simulator::observation::{FaultKind, Simulation, SimulationOptions};
use kassay_run::exec::{NativeCode, ProgramId, Simulator};
use kassay_suite::launch::{Launch, NdRange};

use super::buffer_growth;
use super::faulting_launches;
use super::search::{CoverageRunner, RunObservation, RunOutcome};
use crate::coverage::build::KernelUnderTest;
use crate::coverage::observed::{self, ObservedCode, PendingCode};
use crate::coverage::tally::Probe;

/// Loop iterations of all work-items of a launch: more than any kernel needs on small launches, few enough to end soon.
/// The other two constants bound each work-item's share.
const LAUNCH_FUEL: u64 = 1 << 22;
const MIN_ITEM_FUEL: u64 = 1 << 12;
const MAX_ITEM_FUEL: u64 = 1 << 20;
/// After a launch ran out of fuel, later ones get up to `2^MAX_HALVINGS` times less; every `FULL_FUEL_PERIOD`th gets
/// the full amount.
const FULL_FUEL_PERIOD: u64 = 32;
const MAX_HALVINGS: u32 = 6;

/// The kernel, instrumented with coverage probes and loaded into the simulator.
pub struct Instrumented<'a> {
    simulator: Simulator,
    program: ProgramId,
    observed: ObservedCode,
    sites: &'a Sites,
    interface: &'a Interface,
    fuel_policy: FuelPolicy,
    unwritten: Option<UnwrittenReads<'a>>,
}

/// Detects reads of local memory that no work-item has written.
struct UnwrittenReads<'a> {
    /// Makes code that follows every access, until then at the latest.
    code: Box<dyn Fn(Instant) -> Result<Arc<NativeCode>> + 'a>,
    /// That code, once it is wanted.
    program: Option<ProgramId>,
}

impl<'a> Instrumented<'a> {
    /// Compiles the kernel with coverage probes, until `deadline` at the latest.
    ///
    /// # Errors
    /// `Internal` if instrumentation or lowering fails; `Environment` without memory; [`Error::late`] at the deadline.
    pub fn new(
        under_test: &'a KernelUnderTest<'_>,
        threads: usize,
        deadline: Option<Instant>,
    ) -> Result<Instrumented<'a>> {
        Instrumented::load(under_test, threads, observed::begin(under_test, deadline)?)
    }

    /// Waits for a build that was already started, and loads the code.
    ///
    /// # Errors
    /// As [`Instrumented::new`].
    pub fn load(
        under_test: &'a KernelUnderTest<'_>,
        threads: usize,
        observing: PendingCode,
    ) -> Result<Instrumented<'a>> {
        let observed = observing.end()?;
        let mut simulator = Simulator::new(threads)?;
        let program = simulator.load_native(&observed.code)?;
        let (sites, interface) = (&under_test.sites, &under_test.interface);
        Ok(Instrumented {
            simulator,
            program,
            observed,
            sites,
            interface,
            fuel_policy: FuelPolicy::default(),
            unwritten: None,
        })
    }

    /// Takes launches for undefined in which a work-item reads local memory that none has written. Without this, they
    /// are like others.
    pub fn refusing_unwritten_reads(mut self, under_test: &'a KernelUnderTest<'_>) -> Instrumented<'a> {
        if self.observed.code.table.objects.iter().any(|object| object.space == Space::Local) {
            let lowering = |deadline| LoweringOptions { races: true, deadline, ..under_test.lowering };
            let code = move |end| under_test.for_simulator(&lowering(Some(end)));
            self.unwritten = Some(UnwrittenReads { code: Box::new(code), program: None });
        }
        self
    }
}

impl CoverageRunner for Instrumented<'_> {
    fn run(&mut self, launch: &Launch, limit: Duration) -> Result<RunOutcome> {
        let range = &launch.range;
        let Some(words) = self.observed.probe_words(range) else { return Ok(RunOutcome::Rejected) };
        let allows = launch.allows_faults;
        let fuel_options = SimulationOptions { halts: !allows, ..self.fuel_policy.apply(fuel_options(range)) };
        let options = SimulationOptions { probe_words: Some(words), ..fuel_options };
        let mut compared = Comparisons::new(self.observed.comparisons);
        let simulator = &mut self.simulator;
        let simulation = match simulator.observe(self.program, launch, &options, limit, &[], Some(&mut compared)) {
            Ok(simulation) => simulation,
            // The launch exceeds the simulator's limits.
            Err(Error::Caller(_)) => return Ok(RunOutcome::Rejected),
            Err(e) => return Err(e),
        };
        self.fuel_policy.note(&simulation);
        let is_allowed = simulation.faults.iter().all(|f| allows && f.kind.is_skipped());
        if !simulation.completed || !is_allowed || !simulation.divergences.is_empty() {
            let reached = buffer_growth::reached(&self.observed.code.table, &simulation.faults);
            return Ok(if reached.is_empty() { RunOutcome::Rejected } else { RunOutcome::OutOfBounds(reached) });
        }
        let probe = Probe { words: &simulation.observation.probe, range };
        let tally = self.observed.tally(self.sites, probe);
        let faulted = faulting_launches::describe_faults(&self.observed.code.table, self.interface, &simulation.faults);
        Ok(RunOutcome::Completed(RunObservation { tally, compared: compared.stats, faulted }))
    }

    fn reads_unwritten(&mut self, launch: &Launch, limit: Duration) -> Result<bool> {
        let Some(unwritten) = &mut self.unwritten else { return Ok(false) };
        let end = Instant::now() + limit;
        let program = match unwritten.program {
            Some(program) => program,
            None => match (unwritten.code)(end) {
                Ok(code) => *unwritten.program.insert(self.simulator.load_native(&code)?),
                // What the time does not allow is not known.
                Err(e) if e.is_late() => return Ok(false),
                Err(e) => return Err(e),
            },
        };
        let options = SimulationOptions { races: true, deadline: Some(end), ..fuel_options(&launch.range) };
        let options = SimulationOptions { halts: !launch.allows_faults, ..options };
        match self.simulator.simulate(program, launch, &options, limit, &[]) {
            Ok(simulation) => Ok(simulation.faults.iter().any(|fault| fault.kind == FaultKind::Uninitialised)),
            Err(Error::Caller(_)) => Ok(false),
            Err(e) => Err(e),
        }
    }
}

/// Reduces fuel after launches ran out of it: a kernel that seldom ends would use up the time with few launches.
#[derive(Debug, Default)]
struct FuelPolicy {
    /// Fuel is divided by `2^halvings`.
    halvings: u32,
    launches: u64,
}

impl FuelPolicy {
    fn gets_full_fuel(&self) -> bool {
        self.launches.is_multiple_of(FULL_FUEL_PERIOD)
    }

    fn apply(&self, options: SimulationOptions) -> SimulationOptions {
        let halvings = if self.gets_full_fuel() { 0 } else { self.halvings };
        SimulationOptions { fuel: options.fuel.map(|f| f >> halvings), ..options }
    }

    fn note(&mut self, simulation: &Simulation) {
        if simulation.faults.iter().any(|f| f.kind == FaultKind::NonTermination) {
            self.halvings = (self.halvings + 1).min(MAX_HALVINGS);
        } else if self.gets_full_fuel() {
            self.halvings = self.halvings.saturating_sub(1);
        }
        self.launches += 1;
    }
}

/// Sets the fuel of a launch, in loop iterations per work-item. It halts at its first fault, as it is useless then.
pub fn fuel_options(range: &NdRange) -> SimulationOptions {
    let fuel = (LAUNCH_FUEL / range.items().max(1)).clamp(MIN_ITEM_FUEL, MAX_ITEM_FUEL);
    SimulationOptions { fuel: Some(fuel), halts: true, ..SimulationOptions::default() }
}

#[cfg(test)]
mod tests {
    use kassay_run::exec::simulator::observation::SimulatorFault;

    use super::*;

    #[test]
    fn launches_after_endless_ones_get_less_fuel_but_every_nth_gets_all() {
        let endless = SimulatorFault::of(FaultKind::NonTermination);
        let endless = Simulation { faults: vec![endless], ..Simulation::default() };
        let options = SimulationOptions { fuel: Some(LAUNCH_FUEL), ..SimulationOptions::default() };
        let mut fuel_policy = FuelPolicy::default();
        let mut fuels = Vec::new();
        for _ in 0..2 * FULL_FUEL_PERIOD {
            fuels.extend(fuel_policy.apply(options.clone()).fuel);
            fuel_policy.note(&endless);
        }
        let full: Vec<usize> = fuels.iter().enumerate().filter(|(_, f)| **f == LAUNCH_FUEL).map(|(i, _)| i).collect();
        assert_eq!(full, [0, FULL_FUEL_PERIOD as usize]);
        assert_eq!(fuels[1..8], [1u32, 2, 3, 4, 5, 6, 6].map(|n| LAUNCH_FUEL >> n));
        for _ in 0..u64::from(MAX_HALVINGS) * FULL_FUEL_PERIOD {
            fuel_policy.note(&Simulation::default());
        }
        fuel_policy.note(&Simulation::default());
        assert_eq!(fuel_policy.apply(options).fuel, Some(LAUNCH_FUEL));
    }
}
