//! The mutants that are searched for, in modules on the simulator: what a launch shows of each, and which it kills.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::coverage::build::KernelUnderTest;
use crate::error::{Error, Result};
use crate::exec::simulator::observation::SimulationOptions;
use crate::exec::{Code, Executor, ProgramId, Simulator, Target};
use crate::generate::campaign::patience;
use crate::instrument::mutants::infection::{InfectionLayout, MutantObservation};
use crate::instrument::mutants::{Edit, LocalVariable};
use crate::mutation::baseline::{self, BaselineOptions, RunSettings};
use crate::mutation::module_builder::{Effort, ModuleBuilder, Woven};
use crate::mutation::runner::{self, Case, Scenario};
use crate::mutation::{ByMutant, Mutant, MutantIndex, TestIndex};
use crate::suite::Output;
use crate::suite::launch::{ArgValue, Launch};
use crate::suite::resolve::Test;

/// More mutants are never put into one module.
const MOST: usize = 1000;

/// Bytes of the copies that work-items get of a `__local` argument: a launch that gives it more says nothing of that mutant.
const PRIVATE: u64 = 1 << 12;

/// Mutants on the simulator.
pub struct MutantPool<'m> {
    simulator: Simulator,
    mutants: ByMutant<&'m Mutant>,
    running: RunSettings,
    outputs: &'m [Output],
    probes: Vec<Probes>,
    /// The first one holds the original at number 0.
    modules: Vec<Held>,
    /// By mutant: why it cannot be searched for.
    pub refused: ByMutant<Option<String>>,
}

/// The original with infection probes.
struct Probes {
    program: ProgramId,
    layout: InfectionLayout,
    /// By position in the layout.
    members: Vec<MutantIndex>,
}

/// A module with mutants.
struct Held {
    woven: Woven,
    program: ProgramId,
    /// Their numbers there; 0: in force in any case.
    numbers: HashMap<MutantIndex, u32>,
}

/// How an arena judges.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Fuel and time as a multiple of the original's.
    pub factor: f64,
    pub threads: usize,
    /// When to stop building and running.
    pub end: Instant,
}

impl<'m> MutantPool<'m> {
    /// Weaves and loads `mutants`; those that the end of time leaves out are refused. `outputs`: what the kernel may write to.
    ///
    /// # Errors
    /// `Internal` if a pass fails or the original cannot be built; `Environment` if there is no memory.
    pub fn new(
        under_test: &KernelUnderTest<'_>,
        mutants: ByMutant<&'m Mutant>,
        outputs: &'m [Output],
        rules: Rules,
    ) -> Result<MutantPool<'m>> {
        let module_builder = ModuleBuilder::new(under_test, Target::Host);
        let running = RunSettings {
            layout: module_builder.layout,
            // The simulator is repeatable.
            repeats: 1,
            full_matrix: false,
            factor: rules.factor,
            required_local: under_test.interface.required_local,
            end: Some(rules.end),
        };
        let mut pool = MutantPool {
            simulator: Simulator::new(rules.threads)?,
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
        for part in woven.chunks(MOST) {
            pool.probe(&module_builder, part)?;
        }
        if woven.is_empty() {
            pool.weave(&module_builder, &[])?;
        }
        for part in woven.chunks(MOST) {
            pool.weave(&module_builder, part)?;
        }
        for m in of(&pool, false) {
            pool.alone(&module_builder, m)?;
        }
        Ok(pool)
    }

    fn probe(&mut self, module_builder: &ModuleBuilder<'_, '_>, members: &[MutantIndex]) -> Result<()> {
        let mutant = |m: &MutantIndex| (m.0 as u32 + 1, &self.mutants[*m].edit, self.mutants[*m].is_structural);
        let (code, layout) = module_builder.infection(&members.iter().map(mutant).collect::<Vec<_>>())?;
        let program = self.load(&code)?;
        self.probes.push(Probes { program, layout, members: members.to_vec() });
        Ok(())
    }

    /// A module of these; if the backend refuses it, halves of it.
    fn weave(&mut self, module_builder: &ModuleBuilder<'_, '_>, members: &[MutantIndex]) -> Result<()> {
        if self.running.is_over() && !self.modules.is_empty() {
            return self.leave(members);
        }
        let edits: Vec<(u32, &Edit)> = members.iter().zip(1..).map(|(m, n)| (n, &self.mutants[*m].edit)).collect();
        match module_builder.schemata(&edits, false, Effort::Quick, false)? {
            Ok(woven) => {
                let program = self.load(&woven.code)?;
                let numbers = members.iter().copied().zip(1..).collect();
                self.modules.push(Held { woven, program, numbers });
                Ok(())
            }
            Err(why) => match members {
                [] => Err(Error::internal(why)),
                [one] => {
                    self.refused[*one] = Some(format!("it cannot be built for the simulator: {why}"));
                    // The original is needed all the same.
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

    fn leave(&mut self, members: &[MutantIndex]) -> Result<()> {
        members.iter().for_each(|m| self.refused[*m] = Some("the time was up before it was built".to_owned()));
        Ok(())
    }

    /// What cannot share a module: a change of the launch runs the original, a private variable has a module of its own.
    fn alone(&mut self, module_builder: &ModuleBuilder<'_, '_>, m: MutantIndex) -> Result<()> {
        let Edit::Privatise { variable } = &self.mutants[m].edit else {
            self.modules[0].numbers.insert(m, 0);
            return Ok(());
        };
        if self.running.is_over() {
            return self.leave(&[m]);
        }
        let bytes = if matches!(variable, LocalVariable::Argument(_)) { PRIVATE } else { 0 };
        match module_builder.private(variable, bytes, Effort::Quick)? {
            Ok(Ok(woven)) => {
                let program = self.load(&woven.code)?;
                self.modules.push(Held { woven, program, numbers: HashMap::from([(m, 0)]) });
            }
            Ok(Err(why)) | Err(why) => self.refused[m] = Some(why),
        }
        Ok(())
    }

    fn load(&mut self, code: &Code) -> Result<ProgramId> {
        let Code::Host(code) = code else {
            return Err(Error::internal("code for the simulator was asked for"));
        };
        self.simulator.load_host(code)
    }

    /// Runs the original: what it shows of each mutant; `None` if it did what no kernel may, did not end, or cannot be launched.
    /// Mutants that change no code count as infected.
    ///
    /// # Errors
    /// Of the environment, or of kassay.
    pub fn observe(&mut self, launch: &Launch, limit: Duration) -> Result<Option<ByMutant<MutantObservation>>> {
        let mut seen = ByMutant::filled(MutantObservation { reached: true, infected: true }, self.mutants.len());
        let options = patience(&launch.range);
        for probes in &self.probes {
            let options = SimulationOptions { probe_words: Some(probes.layout.words()), ..options.clone() };
            let simulation = match self.simulator.simulate(probes.program, launch, &options, limit, &[]) {
                Ok(simulation) => simulation,
                // It does not fit the simulator's limits.
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

    /// Which of these mutants a launch kills, as `kassay mutate` judges it; none where the original itself is at fault.
    ///
    /// # Errors
    /// Of the environment.
    pub fn kills(&mut self, launch: &Launch, which: &[MutantIndex], limit: Duration) -> Result<Vec<MutantIndex>> {
        let mut killed = Vec::new();
        if which.is_empty() {
            return Ok(killed);
        }
        let test = Test {
            name: "input".to_owned(),
            launch: launch.clone(),
            faulted: Vec::new(),
            expectations: Vec::new(),
            outputs: self.outputs.to_vec(),
        };
        let Some(first) = self.modules.first() else { return Ok(killed) };
        let trying = BaselineOptions { repeats: 1, timeout: limit };
        let trial = baseline::establish(
            &mut self.simulator,
            first.program,
            &first.woven,
            self.running.layout,
            (TestIndex(0), &test),
            trying,
        )?;
        if trial.dropped.is_some() {
            return Ok(killed);
        }
        let trials = [trial];
        for held in &self.modules {
            let members = which.iter().filter(|m| held.numbers.contains_key(m) && self.has_room(**m, launch));
            let mut cases: Vec<Case> = members
                .enumerate()
                .map(|(at, m)| {
                    let scenario = Scenario { mutants: vec![*m], tests: vec![true] };
                    let case = Case::new(at, scenario, |m| &self.mutants[m].edit);
                    Case { numbers: [held.numbers[m], 0], ..case }
                })
                .collect();
            if cases.is_empty() {
                continue;
            }
            let mut lanes = [(&mut self.simulator as &mut dyn Executor, held.program)];
            runner::run(&mut lanes, &held.woven, &trials, &mut cases, &self.running, &|_| Ok(()))?;
            let detected = cases.iter().filter(|c| !c.outcome.killed_by.is_empty());
            killed.extend(detected.flat_map(|c| c.scenario.mutants.iter().copied()));
        }
        killed.sort_unstable();
        Ok(killed)
    }

    /// Whether a launch's local memory fits the copies of a private variable.
    fn has_room(&self, m: MutantIndex, launch: &Launch) -> bool {
        let Edit::Privatise { variable: LocalVariable::Argument(position) } = self.mutants[m].edit else { return true };
        !matches!(launch.args.get(position as usize), Some(ArgValue::Local(bytes)) if *bytes > PRIVATE)
    }
}
