//! Simulators with a kernel.

use std::time::Duration;

use kassay_base::error::Result;
use kassay_judge::sync::checking::Simulate;
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay_run::exec::simulator::observer::AnyObserver;
use kassay_run::exec::{ProgramId, Simulator};
use kassay_suite::launch::Launch;

/// A simulator that has loaded the kernel; counts its launches.
pub(super) struct LoadedSimulator<'s> {
    pub simulator: &'s mut Simulator,
    pub program: ProgramId,
    pub timeout: Duration,
    pub launches: u64,
}

impl LoadedSimulator<'_> {
    /// Runs a launch that an observer may watch.
    pub fn observe(
        &mut self,
        launch: &Launch,
        options: &SimulationOptions,
        observer: Option<&mut AnyObserver>,
    ) -> Result<Simulation> {
        self.launches += 1;
        self.simulator.observe(self.program, launch, options, self.timeout, &[], observer)
    }
}

impl Simulate for LoadedSimulator<'_> {
    fn simulate(&mut self, launch: &Launch, options: &SimulationOptions) -> Result<Simulation> {
        self.observe(launch, options, None)
    }
}
