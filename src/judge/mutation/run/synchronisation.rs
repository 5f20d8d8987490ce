//! Judges mutants of synchronisation on the simulator. Whether a device shows what they break is a matter of chance, as
//! it may run the work-items of a vector in lockstep. The simulator detects races, diverging barriers and reads of
//! uninitialised memory, and behaves the same on every machine.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_ir::instrument::layout::slot;
use kassay_ir::instrument::mutants::{Edit, LocalVariable};
use kassay_model::native::table::{Mode, NativeTable};
use kassay_results::result::mutate::NotSimulated;
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay_run::exec::simulator::schedule_families::{Plan, Planned};
use kassay_run::exec::{Executor, NativeCode, ProgramId, Reference, Simulator, difference};
use kassay_suite::launch::ArgValue;
use kassay_suite::schedule::Schedule;

use super::baseline::{RunSettings, TestBaseline, probe_head};
use super::simulator_verdict::{self, OriginalRun};
use super::verdict::{MutantOutcome, TestVerdict};
use crate::coverage::build::KernelUnderTest;
use crate::mutation::build::module_builder::{ModuleBuilder, Refusable};
use crate::mutation::catalogue::indices::MutantIndex;
use crate::mutation::catalogue::mutant::Mutant;

/// The operators that change how work-items synchronise, or what they share.
const SYNCHRONISATION_OPERATORS: [&str; 8] = ["SYR", "SCR", "FR", "BFR", "AR", "AOP", "SHR", "IMO"];

/// Most schedules in which a test is run: its own or the natural one, then others.
const MAX_SCHEDULES: usize = 4;

/// Limit on the number of work-items times the loop iterations of the longest-running one: larger tests are skipped, as
/// recording every access is slow.
const MAX_WORK: u64 = 1 << 20;

/// Loop iterations that stand for the work of a work-item outside loops.
const FIXED_WORK: u64 = 8;

/// Most mutants in one module.
const MAX_MUTANTS_PER_MODULE: usize = 300;

/// Wall-clock limit of one launch: a safety net besides the fuel.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns whether a mutant changes how work-items synchronise.
pub fn synchronises(mutant: &Mutant) -> bool {
    is_of_synchronisation(mutant.operator)
}

/// Returns whether the mutants of an operator change how work-items synchronise.
pub fn is_of_synchronisation(operator: &str) -> bool {
    SYNCHRONISATION_OPERATORS.contains(&operator)
}

/// Judges mutants on the simulator by the baselines of a suite.
pub struct SimulatorJudge<'a, 'c> {
    /// The kernel in canonical form.
    pub under_test: &'a KernelUnderTest<'c>,
    /// All mutants, by [`MutantIndex`].
    pub mutants: &'a [Mutant],
    /// The tests.
    pub baselines: &'a [TestBaseline<'a>],
    /// What all runs share.
    pub settings: &'a RunSettings,
    /// How many threads share the mutants.
    pub threads: usize,
}

/// A mutant to be judged: its position, and by position of the baseline whether it is run there.
#[derive(Clone, Copy)]
pub struct MutantRuns<'a> {
    /// Which mutant.
    pub mutant: MutantIndex,
    /// By position of the baseline.
    pub runs: &'a [bool],
}

/// The simulator's outcome of a mutant.
#[derive(Debug, Clone, Default)]
pub struct SimulatedOutcome {
    /// The outcome over all tests.
    pub outcome: MutantOutcome,
    /// The schedule under which the deciding test detects it.
    pub schedule: Schedule,
}

/// The outcomes of all judged mutants, and what could not be judged.
#[derive(Debug, Default)]
pub struct JudgeReport {
    /// By position of the mutant.
    pub outcomes: HashMap<MutantIndex, SimulatedOutcome>,
    /// Those that were left to the device, with the reason.
    pub not_simulated: Vec<NotSimulated>,
}

/// Simulator code that holds mutants.
struct SimulatedModule {
    code: Arc<NativeCode>,
    /// Whether it takes the probe buffer.
    probed: bool,
    /// The mutants' numbers in it; 0: in force unconditionally.
    numbers: HashMap<MutantIndex, u32>,
}

/// Builds the modules of mutants.
struct ModuleSet<'a, 'c> {
    judge: &'a SimulatorJudge<'a, 'c>,
    module_builder: ModuleBuilder<'a, 'c>,
    /// The first module holds the original at number 0.
    modules: Vec<SimulatedModule>,
    not_simulated: Vec<NotSimulated>,
}

impl SimulatorJudge<'_, '_> {
    /// Judges mutants on all tests that have a baseline.
    ///
    /// # Errors
    /// `Internal` if a pass fails; `Environment` if there is no memory.
    pub fn judge(&self, wanted: &[MutantRuns<'_>]) -> Result<JudgeReport> {
        let module_builder = ModuleBuilder::new(self.under_test, Simulator::new(1)?.target());
        let mut set = ModuleSet { judge: self, module_builder, modules: Vec::new(), not_simulated: Vec::new() };
        set.build(wanted)?;
        let ModuleSet { modules, not_simulated, .. } = set;
        let (mutants, baselines, settings) = (self.mutants, self.baselines, self.settings);
        let threads = self.threads.clamp(1, wanted.len().max(1));
        let share = |number: usize| -> Result<JudgeReport> {
            let own: Vec<MutantRuns<'_>> = wanted.iter().skip(number).step_by(threads).copied().collect();
            let session = JudgeSession::begin(mutants, baselines, settings, &modules)?;
            session.judge(&own)
        };
        let share = &share;
        let reports: Vec<Result<JudgeReport>> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|number| scope.spawn(move || share(number))).collect();
            let lost = || Err(Error::internal("a thread that judged mutants on the simulator ended early"));
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(|_| lost())).collect()
        });
        let mut all = JudgeReport { not_simulated, ..JudgeReport::default() };
        let mut skipped: Vec<NotSimulated> = Vec::new();
        for report in reports {
            let report = report?;
            all.outcomes.extend(report.outcomes);
            // Each thread skips a test for the same reason.
            skipped.extend(report.not_simulated.into_iter().filter(|one| !skipped.contains(one)).collect::<Vec<_>>());
        }
        let position = |one: &NotSimulated| baselines.iter().position(|b| one.test.as_ref() == Some(&b.test.name));
        skipped.sort_by_key(position);
        all.not_simulated.extend(skipped);
        Ok(all)
    }
}

impl ModuleSet<'_, '_> {
    /// Builds the modules of all wanted mutants, at least one that holds the original.
    fn build(&mut self, wanted: &[MutantRuns<'_>]) -> Result<()> {
        let (woven, others): (Vec<MutantIndex>, Vec<MutantIndex>) =
            wanted.iter().map(|w| w.mutant).partition(|m| self.judge.mutants[*m].edit.is_woven());
        for some in woven.chunks(self.module_builder.most_per_module(self.judge.mutants, MAX_MUTANTS_PER_MODULE)) {
            self.weave(some)?;
        }
        if self.modules.is_empty() {
            self.weave(&[])?;
        }
        for m in others {
            self.privatise(m)?;
        }
        Ok(())
    }

    /// Builds a module of these mutants; one that is refused is bisected until the offending mutant is isolated.
    fn weave(&mut self, members: &[MutantIndex]) -> Result<()> {
        let edits: Vec<(u32, &Edit)> = (1..).zip(members.iter().map(|m| &self.judge.mutants[*m].edit)).collect();
        match self.module_builder.for_simulator(&edits)? {
            Ok(code) => {
                let numbers = members.iter().copied().zip(1..).collect();
                self.modules.push(SimulatedModule { code, probed: true, numbers });
                Ok(())
            }
            Err(why) => match members {
                [] => Err(Error::internal(why)),
                [one] => {
                    self.skip_mutant(*one, &why);
                    if self.modules.is_empty() { self.weave(&[]) } else { Ok(()) }
                }
                _ => {
                    let (a, b) = members.split_at(members.len() / 2);
                    self.weave(a)?;
                    self.weave(b)
                }
            },
        }
    }

    /// Builds the module of a privatised variable, which holds that mutant only.
    fn privatise(&mut self, m: MutantIndex) -> Result<()> {
        let Edit::Privatise { variable } = &self.judge.mutants[m].edit else { return Ok(()) };
        let bytes = match variable {
            LocalVariable::Global(_) => 0,
            LocalVariable::Argument(position) => {
                let of = |t: &super::baseline::TestBaseline<'_>| match t.test.launch.args.get(*position as usize) {
                    Some(ArgValue::Local(bytes)) => Some(*bytes),
                    _ => None,
                };
                self.judge.baselines.iter().filter_map(of).max().unwrap_or(1)
            }
        };
        let made: Refusable<Refusable<Arc<NativeCode>>> =
            self.module_builder.privatised_for_simulator(variable, bytes)?;
        match made {
            Ok(Ok(code)) => {
                self.modules.push(SimulatedModule { code, probed: false, numbers: HashMap::from([(m, 0)]) });
                Ok(())
            }
            // Where the kernel does not permit it, the engine has reported that already.
            Ok(Err(why)) | Err(why) => {
                self.skip_mutant(m, &why);
                Ok(())
            }
        }
    }

    fn skip_mutant(&mut self, m: MutantIndex, why: &str) {
        let mutant = Some(self.judge.mutants[m].id.clone());
        let reason = format!("it cannot be built for the simulator: {}", why.lines().next().unwrap_or_default());
        self.not_simulated.push(NotSimulated { test: None, mutant, reason });
    }
}

/// Judges a share of the mutants.
struct JudgeSession<'a> {
    mutants: &'a [Mutant],
    baselines: &'a [TestBaseline<'a>],
    settings: &'a RunSettings,
    modules: &'a [SimulatedModule],
    simulator: Simulator,
    /// By module.
    programs: Vec<ProgramId>,
    report: JudgeReport,
}

impl<'a> JudgeSession<'a> {
    fn begin(
        mutants: &'a [Mutant],
        baselines: &'a [TestBaseline<'a>],
        settings: &'a RunSettings,
        modules: &'a [SimulatedModule],
    ) -> Result<JudgeSession<'a>> {
        let mut simulator = Simulator::new(1)?;
        let programs = modules.iter().map(|module| simulator.load_native(&module.code)).collect::<Result<_>>()?;
        Ok(JudgeSession { mutants, baselines, settings, modules, simulator, programs, report: JudgeReport::default() })
    }

    /// Judges mutants on all tests that have a baseline.
    fn judge(mut self, wanted: &[MutantRuns<'_>]) -> Result<JudgeReport> {
        for position in 0..self.baselines.len() {
            if self.settings.is_over() {
                break;
            }
            self.judge_test(position, wanted)?;
        }
        Ok(self.report)
    }

    fn skip_test(&mut self, name: &str, reason: String) {
        self.report.not_simulated.push(NotSimulated { test: Some(name.to_owned()), mutant: None, reason });
    }

    /// Judges on one test all mutants that are still undecided.
    fn judge_test(&mut self, position: usize, wanted: &[MutantRuns<'_>]) -> Result<()> {
        let (settings, baseline) = (self.settings, &self.baselines[position]);
        let is_open =
            |found: Option<&SimulatedOutcome>| settings.full_matrix || !found.is_some_and(|f| f.outcome.is_decided());
        let place: HashMap<MutantIndex, usize> =
            (0..).zip(self.modules).flat_map(|(at, module)| module.numbers.keys().map(move |m| (*m, at))).collect();
        let open: Vec<(MutantIndex, usize)> = wanted
            .iter()
            .filter(|w| w.runs[position] && is_open(self.report.outcomes.get(&w.mutant)))
            .filter_map(|w| Some((w.mutant, *place.get(&w.mutant)?)))
            .collect();
        if open.is_empty() {
            return Ok(());
        }
        if baseline.test.launch.allows_faults {
            self.skip_test(&baseline.test.name, "it allows faults, after which races say little".to_owned());
            return Ok(());
        }
        let range = &baseline.test.launch.range;
        let work = range.items().saturating_mul(u64::from(baseline.fuel_used) + FIXED_WORK);
        if work > MAX_WORK {
            let text = format!(
                "too large to watch every access: {} work-items of up to {} loop iterations",
                range.items(),
                baseline.fuel_used
            );
            self.skip_test(&baseline.test.name, text);
            return Ok(());
        }
        let own = Some(&baseline.test.launch.schedule).filter(|s| !s.is_natural());
        let plan =
            Plan { range, count: MAX_SCHEDULES, seed: 0, test: &baseline.test.name, own, exact: true, races: &[] };
        let mut originals: Vec<(Planned, OriginalRun)> = Vec::new();
        for planned in plan.schedules() {
            if originals.first().is_some_and(|(_, first)| first.is_determined) {
                break;
            }
            match self.run_original(baseline, &planned)? {
                Ok(original) => originals.push((planned, original)),
                Err(why) => {
                    self.skip_test(&baseline.test.name, why);
                    return Ok(());
                }
            }
        }
        for (m, module) in open {
            if settings.is_over() {
                break;
            }
            self.judge_mutant(baseline, m, module, &originals)?;
        }
        Ok(())
    }

    /// Judges a mutant on one test, under each schedule until one detects it.
    fn judge_mutant(
        &mut self,
        baseline: &TestBaseline<'_>,
        m: MutantIndex,
        module: usize,
        originals: &[(Planned, OriginalRun)],
    ) -> Result<()> {
        // The first test that detects it decides; of later ones only whether they detect it is of interest.
        let is_decided = self.report.outcomes.get(&m).is_some_and(|found| found.outcome.is_decided());
        // A mutant that changes no synchronisation races under any schedule, if at all.
        let count = if synchronises(&self.mutants[m]) { originals.len() } else { 1 };
        let mut detected = (TestVerdict::Passed, Schedule::default());
        for (planned, original) in &originals[..count.min(originals.len())] {
            let number = self.modules[module].numbers.get(&m).copied().unwrap_or(0);
            let fuel = Some(u64::from(baseline.fuel(self.settings.factor)));
            let only_whether = is_decided && original.keys.is_empty();
            let launched = self.launch(baseline, &planned.schedule, (module, number), fuel, only_whether)?;
            let Some(simulation) = launched else { continue };
            let verdict = simulator_verdict::verdict(&simulation, self.table(module), original);
            if verdict.detects() {
                detected = (with_schedule(verdict, planned), planned.schedule.clone());
                break;
            }
        }
        let found = self.report.outcomes.entry(m).or_default();
        if detected.0.detects() && !found.outcome.is_decided() {
            found.schedule = detected.1;
        }
        found.outcome.add(baseline.position, &baseline.test.name, &detected.0);
        Ok(())
    }

    /// Runs the original on a test under a schedule. The inner error says why that cannot serve as a reference
    /// for mutants.
    fn run_original(
        &mut self,
        baseline: &TestBaseline<'_>,
        planned: &Planned,
    ) -> Result<std::result::Result<OriginalRun, String>> {
        let Some(simulation) = self.launch(baseline, &planned.schedule, (0, 0), None, false)? else {
            return Ok(Err("it is too large to look for races".to_owned()));
        };
        if let Some(why) = simulator_verdict::unusable(&simulation) {
            return Ok(Err(simulation.rejected.unwrap_or_else(|| why.to_owned())));
        }
        let mut references: Vec<Reference> = Vec::new();
        for known in &baseline.references {
            let outputs = &simulation.observation.outputs;
            let Some((_, left)) = outputs.iter().find(|(p, _)| *p == known.position) else { continue };
            let expected = baseline.test.expectations.iter().any(|e| e.position == known.position);
            if expected
                && let Some(what) =
                    difference::first(&known.label, known.ty.as_ref(), known.tolerance, &known.bytes, left)
            {
                return Ok(Err(format!("the original fails it on the simulator: {what}")));
            }
            // Floats may differ from the device's.
            let bytes = if expected { Arc::clone(&known.bytes) } else { Arc::new(left.clone()) };
            references.push(Reference { bytes, ..known.clone() });
        }
        let keys = simulator_verdict::keys(&simulation, self.table(0));
        let is_determined = keys.is_empty() && simulation.sampled.is_none() && !self.has_atomics();
        Ok(Ok(OriginalRun { keys, references, is_determined }))
    }

    /// Returns whether the original or any mutant uses atomics.
    fn has_atomics(&self) -> bool {
        let sites = self.modules.iter().flat_map(|module| &module.code.table.accesses);
        sites.into_iter().any(|site| matches!(site.mode, Mode::Atomic | Mode::AtomicRead))
    }

    fn table(&self, module: usize) -> &NativeTable {
        &self.modules[module].code.table
    }

    /// Runs one launch of the mutant with this number in a module; `None`: it exceeds the simulator's limits.
    /// `only_whether`: it ends where a race or a fault shows.
    fn launch(
        &mut self,
        baseline: &TestBaseline<'_>,
        schedule: &Schedule,
        (module, number): (usize, u32),
        fuel: Option<u64>,
        only_whether: bool,
    ) -> Result<Option<Simulation>> {
        let layout = self.settings.layout;
        let (program, module) = (self.programs[module], &self.modules[module]);
        let mut head = Vec::new();
        if module.probed {
            head = probe_head(layout, &baseline.test.launch, i32::MAX as u32);
            head[(layout.slot(0) + slot::MUTANT) as usize] = number;
        }
        let options = SimulationOptions {
            schedule: schedule.clone(),
            races: true,
            first_conflict: only_whether,
            halts: only_whether,
            fuel,
            probe_words: module.probed.then_some(head.len() as u64),
            ..SimulationOptions::default()
        };
        match self.simulator.simulate(program, &baseline.test.launch, &options, LAUNCH_TIMEOUT, &head) {
            Ok(simulation) => Ok(Some(simulation)),
            Err(Error::Caller(_)) => Ok(None),
            Err(e) => Err(e),
        }
    }
}

/// Adds the schedule to the text of a verdict.
fn with_schedule(verdict: TestVerdict, planned: &Planned) -> TestVerdict {
    let on_schedule = |text: String| format!("on the simulator, schedule {}: {text}", planned.family.name());
    match verdict {
        TestVerdict::Killed(text) => TestVerdict::Killed(on_schedule(text)),
        TestVerdict::Timeout(text) => TestVerdict::Timeout(on_schedule(text)),
        TestVerdict::RuntimeError(text) => TestVerdict::RuntimeError(on_schedule(text)),
        other => other,
    }
}
