//! Runs mutants that inputs are searched for on the simulator: determines what a launch shows of each, and which it
//! kills. For searches that want more, [`mark_infections`] says in the code where a mutant's value differs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
pub use kassay_ir::instrument::mutants::infection::MutantObservation;
use kassay_ir::instrument::mutants::infection::{self, InfectionLayout};
use kassay_ir::instrument::mutants::{Edit, LocalVariable};
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_run::exec::{Code, Executor, ProgramId, Simulator};
use kassay_suite::Output;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::resolve::Test;

use super::baseline::{Original, RunSettings};
use super::runner::{self, Case, Scenario};
use crate::coverage::build::KernelUnderTest;
use crate::mutation::build::module_builder::{Effort, ModuleBuilder, Woven};
use crate::mutation::catalogue::indices::{ByMutant, MutantIndex, TestIndex};
use crate::mutation::catalogue::mutant::Mutant;

/// Mutants in one module, at most.
const MAX_PER_MODULE: usize = 1000;

/// Bytes of the private copies of a `__local` argument: the mutant is skipped for launches that make it larger.
const PRIVATE_BYTES: u64 = 1 << 12;

/// Mutants, built and loaded into the simulator.
pub struct MutantPool<'m> {
    simulator: Simulator,
    mutants: ByMutant<&'m Mutant>,
    running: RunSettings,
    outputs: &'m [Output],
    probes: Vec<InfectionProbes>,
    /// In the first one, number 0 is the original.
    modules: Vec<LoadedModule>,
    /// By mutant: why it cannot be searched for.
    pub refused: ByMutant<Option<String>>,
}

/// The original with infection probes.
struct InfectionProbes {
    program: ProgramId,
    layout: InfectionLayout,
    /// The mutants, in the order of the layout.
    members: Vec<MutantIndex>,
}

/// A module with mutants.
struct LoadedModule {
    woven: Woven,
    program: ProgramId,
    /// Numbers of the mutants in the module; 0: always active.
    numbers: HashMap<MutantIndex, u32>,
}

/// Parameters for building and judging mutants.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    /// Fuel and time as a multiple of the original's.
    pub factor: f64,
    /// Threads of the simulator.
    pub threads: usize,
    /// When building and running stop.
    pub end: Instant,
}

impl<'m> MutantPool<'m> {
    /// Builds and loads `mutants`; those that are not built in time are refused. `outputs`: what the kernel may
    /// write to.
    ///
    /// # Errors
    /// `Internal` if a pass fails or the original cannot be built; `Environment` if there is no memory.
    pub fn new(
        under_test: &KernelUnderTest<'_>,
        mutants: ByMutant<&'m Mutant>,
        outputs: &'m [Output],
        pool_options: PoolOptions,
    ) -> Result<MutantPool<'m>> {
        let simulator = Simulator::new(pool_options.threads)?;
        let module_builder = ModuleBuilder::new(under_test, simulator.target());
        let running = RunSettings {
            layout: module_builder.layout,
            // The simulator is deterministic.
            repeats: 1,
            full_matrix: false,
            factor: pool_options.factor,
            required_local: under_test.interface.required_local,
            end: Some(pool_options.end),
        };
        let mut pool = MutantPool {
            simulator,
            refused: ByMutant::filled(None, mutants.len()),
            mutants,
            running,
            outputs,
            probes: Vec::new(),
            modules: Vec::new(),
        };
        let of = |pool: &MutantPool<'_>, woven: bool| -> Vec<MutantIndex> {
            pool.mutants.positions().filter(|m| pool.mutants[*m].edit.is_woven() == woven).collect()
        };
        let woven = of(&pool, true);
        for part in woven.chunks(MAX_PER_MODULE) {
            pool.build_probes(&module_builder, part)?;
        }
        if woven.is_empty() {
            pool.weave(&module_builder, &[])?;
        }
        for part in woven.chunks(MAX_PER_MODULE) {
            pool.weave(&module_builder, part)?;
        }
        for m in of(&pool, false) {
            pool.build_alone(&module_builder, m)?;
        }
        Ok(pool)
    }

    fn build_probes(&mut self, module_builder: &ModuleBuilder<'_, '_>, members: &[MutantIndex]) -> Result<()> {
        let mutant = |m: &MutantIndex| (m.0 as u32 + 1, &self.mutants[*m].edit, self.mutants[*m].is_structural);
        let (code, layout) = module_builder.infection(&members.iter().map(mutant).collect::<Vec<_>>())?;
        let program = self.load(&code)?;
        self.probes.push(InfectionProbes { program, layout, members: members.to_vec() });
        Ok(())
    }

    /// Builds a module of these mutants; if the backend refuses it, modules of each half.
    fn weave(&mut self, module_builder: &ModuleBuilder<'_, '_>, members: &[MutantIndex]) -> Result<()> {
        if self.running.is_over() && !self.modules.is_empty() {
            return self.refuse_late(members);
        }
        let edits: Vec<(u32, &Edit)> = members.iter().zip(1..).map(|(m, n)| (n, &self.mutants[*m].edit)).collect();
        match module_builder.schemata(&edits, false, Effort::Quick, false)? {
            Ok(woven) => {
                let program = self.load(&woven.code)?;
                let numbers = members.iter().copied().zip(1..).collect();
                self.modules.push(LoadedModule { woven, program, numbers });
                Ok(())
            }
            Err(why) => match members {
                [] => Err(Error::internal(why)),
                [one] => {
                    self.refused[*one] = Some(format!("it cannot be built for the simulator: {why}"));
                    // The original is needed nevertheless.
                    if self.modules.is_empty() { self.weave(module_builder, &[]) } else { Ok(()) }
                }
                _ => {
                    let (a, b) = members.split_at(members.len() / 2);
                    self.weave(module_builder, a)?;
                    self.weave(module_builder, b)
                }
            },
        }
    }

    fn refuse_late(&mut self, members: &[MutantIndex]) -> Result<()> {
        members.iter().for_each(|m| self.refused[*m] = Some("the time was up before it was built".to_owned()));
        Ok(())
    }

    /// Builds a mutant that cannot share a module: a change of the launch runs the original, a private variable needs a
    /// module of its own.
    fn build_alone(&mut self, module_builder: &ModuleBuilder<'_, '_>, m: MutantIndex) -> Result<()> {
        let Edit::Privatise { variable } = &self.mutants[m].edit else {
            self.modules[0].numbers.insert(m, 0);
            return Ok(());
        };
        if self.running.is_over() {
            return self.refuse_late(&[m]);
        }
        let bytes = if matches!(variable, LocalVariable::Argument(_)) { PRIVATE_BYTES } else { 0 };
        match module_builder.private(variable, bytes, Effort::Quick)? {
            Ok(Ok(woven)) => {
                let program = self.load(&woven.code)?;
                self.modules.push(LoadedModule { woven, program, numbers: HashMap::from([(m, 0)]) });
            }
            Ok(Err(why)) | Err(why) => self.refused[m] = Some(why),
        }
        Ok(())
    }

    fn load(&mut self, code: &Code) -> Result<ProgramId> {
        self.simulator.load(code)
    }

    /// Runs the original, with these `options`, and returns what it shows of each mutant. `None` if the launch does
    /// something undefined, does not terminate, or cannot be launched. Mutants that change no code count as infected.
    ///
    /// # Errors
    /// `Environment` or `Internal`; a launch that fails is no error.
    pub fn observe(
        &mut self,
        launch: &Launch,
        options: &SimulationOptions,
        limit: Duration,
    ) -> Result<Option<ByMutant<MutantObservation>>> {
        let mut seen = ByMutant::filled(MutantObservation { reached: true, infected: true }, self.mutants.len());
        for probes in &self.probes {
            let options = SimulationOptions { probe_words: Some(probes.layout.words()), ..options.clone() };
            let simulation = match self.simulator.simulate(probes.program, launch, &options, limit, &[]) {
                Ok(simulation) => simulation,
                // The launch exceeds the simulator's limits.
                Err(Error::Caller(_)) => return Ok(None),
                Err(e) => return Err(e),
            };
            if !simulation.completed || !simulation.faults.is_empty() || !simulation.divergences.is_empty() {
                return Ok(None);
            }
            for (m, shown) in probes.members.iter().zip(probes.layout.read(&simulation.observation.probe)) {
                seen[*m] = shown;
            }
        }
        Ok(Some(seen))
    }

    /// Returns the mutants among `which` that a launch kills, as `kassay mutate` judges it; none if the original
    /// itself faults.
    ///
    /// # Errors
    /// `Environment`, if a run fails for reasons other than the launch.
    pub fn kills(&mut self, launch: &Launch, which: &[MutantIndex], limit: Duration) -> Result<Vec<MutantIndex>> {
        let mut killed = Vec::new();
        if which.is_empty() {
            return Ok(killed);
        }
        let test = Test {
            name: "input".to_owned(),
            launch: launch.clone(),
            faulted: Vec::new(),
            limit: None,
            expectations: Vec::new(),
            outputs: self.outputs.to_vec(),
        };
        let Some(first) = self.modules.first() else { return Ok(killed) };
        let mut original = Original {
            executor: &mut self.simulator,
            program: first.program,
            woven: &first.woven,
            layout: self.running.layout,
            repeats: 1,
            timeout: limit,
        };
        let original = original.establish((TestIndex(0), &test))?;
        if original.dropped.is_some() {
            return Ok(killed);
        }
        let originals = [original];
        for module in &self.modules {
            let members = which.iter().filter(|m| module.numbers.contains_key(m) && self.has_room(**m, launch));
            let mut cases: Vec<Case> = members
                .enumerate()
                .map(|(at, m)| {
                    let scenario = Scenario { mutants: vec![*m], tests: vec![true] };
                    let case = Case::new(at, scenario, |m| &self.mutants[m].edit);
                    Case { numbers: [module.numbers[m], 0], ..case }
                })
                .collect();
            if cases.is_empty() {
                continue;
            }
            let mut executors = [(&mut self.simulator as &mut dyn Executor, module.program)];
            runner::run(&mut executors, &module.woven, &originals, &mut cases, &self.running, &|_| Ok(()))?;
            let detected = cases.iter().filter(|c| !c.outcome.killed_by.is_empty());
            killed.extend(detected.flat_map(|c| c.scenario.mutants.iter().copied()));
        }
        killed.sort_unstable();
        Ok(killed)
    }

    /// Returns whether the copies of a private variable are large enough for a launch's local memory.
    fn has_room(&self, m: MutantIndex, launch: &Launch) -> bool {
        let Edit::Privatise { variable: LocalVariable::Argument(position) } = self.mutants[m].edit else { return true };
        !matches!(launch.args.get(position as usize), Some(ArgValue::Local(bytes)) if *bytes > PRIVATE_BYTES)
    }
}

/// Returns the kernel's module with a mark wherever a mutant that changes code is infected, and the mutant of each
/// mark.
///
/// # Errors
/// `Internal` if a pass fails.
pub fn mark_infections<'c>(
    under_test: &KernelUnderTest<'c>,
    mutants: &ByMutant<&Mutant>,
) -> Result<(Module<'c>, Vec<MutantIndex>)> {
    let members: Vec<MutantIndex> = mutants.positions().filter(|m| mutants[*m].edit.is_woven()).collect();
    let edit = |m: &MutantIndex| (m.0 as u32, &mutants[*m].edit, mutants[*m].is_structural);
    let edits: Vec<(u32, &Edit, bool)> = members.iter().map(edit).collect();
    let module = under_test.module.clone();
    infection::mark(&module, &under_test.sites, &edits)?;
    Ok((module, members))
}
