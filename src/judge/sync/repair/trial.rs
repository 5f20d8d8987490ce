//! Compiles a changed kernel, and sees what is found in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_ir::kernel::compile::Loaded;
use kassay_ir::kernel::variants::{self, Compiled, EditedFile};
use kassay_model::code::{LoweringOptions, NativeCode};
use kassay_model::native::table::{self, AccessSite};
use kassay_model::options::KernelOptions;
use kassay_results::result::check::{Finding, FindingKind, Memory, Mode, Scope};
use kassay_results::result::proofs::{Proof, ProvedFor, Status, are_race_free};
use kassay_results::result::repairs::Verified;
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_run::exec::simulator::schedule_families::Plan;
use kassay_suite::Output;
use kassay_suite::compare::Tolerance;
use kassay_suite::launch::Launch;

use super::super::budget::Budget;
use super::super::checking::{Case, Simulate, explore};
use super::super::findings::{Findings, ObservedLaunch, Reader};
use super::super::{outcomes, proofs, schedule_independence};
use crate::coverage::build::KernelUnderTest;
use crate::coverage::changed_kernel;
use crate::mutation::catalogue::source_level::text_edit::TextEdit;

/// Loads code into a simulator of its own.
pub trait Rig {
    /// A simulator that has loaded it.
    type Loaded: Simulate;

    /// Loads code.
    ///
    /// # Errors
    /// Those of the environment.
    fn load(&mut self, code: &Arc<NativeCode>) -> Result<Self::Loaded>;
}

/// What a finding is about, apart from columns and examples: the same in texts that differ elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    kind: FindingKind,
    scope: Option<Scope>,
    memory: Option<Memory>,
    variable: Option<String>,
    places: Vec<(u32, Option<Mode>)>,
}

impl Signature {
    /// `line` is the original's line of a line.
    pub fn of(finding: &Finding, line: &dyn Fn(u32) -> u32) -> Signature {
        let mut places: Vec<_> = finding.accesses.iter().map(|a| (line(a.location.line), a.mode)).collect();
        places.sort();
        let Finding { kind, scope, memory, variable, .. } = finding;
        Signature { kind: *kind, scope: *scope, memory: *memory, variable: variable.clone(), places }
    }
}

/// What was seen of a kernel.
#[derive(Debug, Default)]
pub struct Seen {
    /// Each with the number of its occurrences.
    pub findings: BTreeMap<Signature, u64>,
    /// By input: whether every work-item ended.
    pub completed: Vec<bool>,
    /// By input: the outputs, if it completed and nothing was found in it.
    pub outputs: Vec<Option<outcomes::Outputs>>,
    /// Whether there are atomics, whose order may be seen in outputs.
    pub has_atomics: bool,
}

/// What all trials of a kernel share.
pub struct Ground<'a, 'c> {
    /// The original.
    pub under_test: &'a KernelUnderTest<'c>,
    pub loaded: &'a Loaded,
    pub options: &'a KernelOptions,
    /// The text that edits are of.
    pub text: &'a [u8],
    /// The file's name, as results have it.
    pub source: &'a str,
    /// The inputs; those that show something come first.
    pub cases: Vec<&'a Case>,
    /// Whether they are a suite's.
    pub is_suite: bool,
    pub budget: Budget,
    pub jobs: usize,
    pub proves: bool,
}

/// Why an edit is no repair.
pub enum Refused {
    DoesNotCompile,
    /// Something is found that the original does not show, or an input does not end any more.
    Worse,
    /// The time is over.
    Late,
}

/// What is known of a kernel in which nothing is found that must not be.
#[derive(Debug, Default)]
pub struct Verdict {
    pub verified: Vec<Verified>,
    pub conditions: Vec<String>,
}

impl Ground<'_, '_> {
    /// Compiles the texts that edits make.
    pub fn compile(&self, edits: &[TextEdit]) -> Result<Vec<Compiled>> {
        let file = |edit: &TextEdit| {
            let text = edit.apply_exactly(self.text)?;
            Some(EditedFile { path: edit.file.clone(), text })
        };
        let files: Option<Vec<EditedFile>> = edits.iter().map(file).collect();
        let files = files.ok_or_else(|| Error::internal("an edit is outside the text that it was made for"))?;
        variants::compile(self.loaded, self.options, &files, false, self.jobs)
    }

    /// Calls `work` with the kernel that bitcode holds; `None` if it is another kernel to a launch.
    fn with_kernel<R>(
        &self,
        bitcode: &[u8],
        work: impl FnOnce(&KernelUnderTest<'_>) -> Result<R>,
    ) -> Result<Option<R>> {
        let shared: BTreeSet<u32> = self.cases.iter().flat_map(|case| case.launch.sharing()).collect();
        changed_kernel::with(self.under_test, self.loaded, bitcode, &shared, work)
    }

    /// Runs all inputs. `allowed`: what may be found; anything else ends it. `line` gives the original's lines.
    pub fn explore<R: Rig>(
        &self,
        rig: &mut R,
        bitcode: &[u8],
        allowed: Option<(&BTreeMap<Signature, u64>, &[bool])>,
        line: &dyn Fn(u32) -> u32,
    ) -> Result<std::result::Result<Seen, Refused>> {
        let explored = self.with_kernel(bitcode, |kernel| {
            let wanted = LoweringOptions { races: true, deadline: self.budget.end(), ..LoweringOptions::default() };
            let code = match kernel.for_simulator(&wanted) {
                Ok(code) => code,
                Err(e) if e.is_late() => return Ok(Err(Refused::Late)),
                Err(Error::Caller(_)) => return Ok(Err(Refused::DoesNotCompile)),
                Err(e) => return Err(e),
            };
            let mut simulator = rig.load(&code)?;
            let (native, interface) = (&code.table, &kernel.interface);
            let reader = Reader { table: native, interface, source: self.source, diverging_branch: &|_| None };
            let is_atomic = |site: &AccessSite| matches!(site.mode, table::Mode::Atomic | table::Mode::AtomicRead);
            let mut seen = Seen { has_atomics: code.table.accesses.iter().any(is_atomic), ..Seen::default() };
            for (input, case) in self.cases.iter().enumerate() {
                let mut case = (*case).clone();
                let simulation = explore(&mut simulator, native, &mut case, self.budget.end())?;
                if simulation.cut_short {
                    return Ok(Err(Refused::Late));
                }
                let mut findings = Findings::default();
                findings.add(
                    &reader,
                    ObservedLaunch { input, name: &case.name, launch: &case.launch, simulation: &simulation },
                );
                let found = findings.finish();
                let is_clean = found.is_empty() && simulation.completed;
                for found in found {
                    let count = seen.findings.entry(Signature::of(&found.finding, line)).or_default();
                    *count = count.saturating_add(found.finding.count);
                }
                if let Some((known, completed)) = allowed {
                    let is_new = seen.findings.keys().any(|found| !known.contains_key(found));
                    let ends_no_more = completed.get(input) == Some(&true) && !simulation.completed;
                    if is_new || ends_no_more {
                        return Ok(Err(Refused::Worse));
                    }
                }
                seen.completed.push(simulation.completed);
                seen.outputs.push(is_clean.then_some(simulation.observation.outputs));
            }
            Ok(Ok(seen))
        });
        match explored {
            Ok(Some(seen)) => Ok(seen),
            Ok(None) | Err(Error::Caller(_)) => Ok(Err(Refused::DoesNotCompile)),
            Err(e) if e.is_late() => Ok(Err(Refused::Late)),
            Err(e) => Err(e),
        }
    }

    /// What is known of a changed kernel, of which `seen` was seen; `None` if its outputs are not the original's where
    /// these are defined, or depend on the order of atomics that it has in place of plain updates (`new_atomics`).
    pub fn verify<R: Rig>(
        &self,
        rig: &mut R,
        (bitcode, seen): (&[u8], &Seen),
        original: &Seen,
        new_atomics: bool,
    ) -> Result<Option<Verdict>> {
        let verdict = self.with_kernel(bitcode, |kernel| {
            let mut verdict = Verdict::default();
            let is_clean = seen.findings.is_empty();
            verdict.verified.push(if is_clean { Verified::CleanInExploredInputs } else { Verified::FewerFindings });
            // Without races and atomics, each read has one value in all schedules.
            let is_independent = is_clean && !seen.has_atomics && schedule_independence::flows(kernel, &[])?.is_empty();
            if is_independent {
                let mut compared = false;
                for (case, both) in self.cases.iter().zip(seen.outputs.iter().zip(&original.outputs)) {
                    let (Some(new), Some(old)) = both else { continue };
                    if !outcomes::differences(old, new, &case.outputs).is_empty() {
                        return Ok(None);
                    }
                    compared = true;
                }
                verdict.verified.extend(compared.then_some(Verified::SameOutputs));
                verdict.verified.push(Verified::ScheduleIndependent);
            } else if is_clean {
                match self.is_same_in_schedules(rig, kernel, seen)? {
                    true => verdict.verified.push(Verified::SameOutputsInExploredSchedules),
                    false if new_atomics => return Ok(None),
                    false => {}
                }
            }
            if let Some((holds_for, conditions)) = self.prove(kernel)? {
                verdict.verified.push(Verified::by_proof(holds_for));
                verdict.conditions = conditions;
            }
            Ok(Some(verdict))
        })?;
        Ok(verdict.flatten())
    }

    /// Proves race freedom and convergence; returns for which launches, and under which conditions.
    fn prove(&self, kernel: &KernelUnderTest<'_>) -> Result<Option<(ProvedFor, Vec<String>)>> {
        if !self.proves {
            return Ok(None);
        }
        let launches: Vec<&Launch> = match self.is_suite {
            true => self.cases.iter().map(|case| &case.launch).collect(),
            false => Vec::new(),
        };
        let time = self.budget.share(PROVING);
        let all = match proofs::prove(kernel, &launches, self.source, time.end()) {
            Err(e) if e.is_late() => return Ok(None),
            all => all?.proofs,
        };
        if !are_race_free(&all, false) {
            return Ok(None);
        }
        let is_proved = |proof: &&Proof| proof.status == Status::Proved;
        let holds_for = all.iter().filter(is_proved).filter_map(|proof| proof.holds_for).max();
        let conditions: BTreeSet<String> = all.iter().filter_map(|proof| proof.condition.clone()).collect();
        Ok(holds_for.map(|holds_for| (holds_for, conditions.into_iter().collect())))
    }

    /// Runs inputs in a few other schedules.
    fn is_same_in_schedules<R: Rig>(&self, rig: &mut R, kernel: &KernelUnderTest<'_>, seen: &Seen) -> Result<bool> {
        let wanted = LoweringOptions { races: true, deadline: self.budget.end(), ..LoweringOptions::default() };
        let mut simulator = rig.load(&kernel.for_simulator(&wanted)?)?;
        for (case, outputs) in self.cases.iter().zip(&seen.outputs).take(INPUTS_IN_SCHEDULES) {
            let Some(outputs) = outputs else { continue };
            // The order of floats that are added shows in their last digits.
            let rounded = |output: &Output| {
                let tolerance = Tolerance { rel: output.tolerance.rel.max(ROUNDING), ..output.tolerance };
                Output { tolerance, ..output.clone() }
            };
            let compared: Vec<Output> = case.outputs.iter().map(rounded).collect();
            let range = &case.launch.range;
            let plan = Plan { range, count: SCHEDULES, seed: 0, test: &case.name, own: None, exact: true, races: &[] };
            for planned in plan.schedules().into_iter().skip(1) {
                if self.budget.is_over() {
                    return Ok(false);
                }
                let launch = Launch { schedule: planned.schedule, ..case.launch.clone() };
                let (schedule, deadline) = (launch.schedule.clone(), self.budget.end());
                let options = SimulationOptions { schedule, deadline, ..SimulationOptions::default() };
                let other = simulator.simulate(&launch, &options)?;
                if !other.completed || !outcomes::differences(outputs, &other.observation.outputs, &compared).is_empty()
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Share of the budget that the proof of one changed kernel may take.
const PROVING: f64 = 0.1;

/// The relative difference of sums of the same floats in another order.
const ROUNDING: f64 = 1e-4;

/// Inputs that are run in other schedules, and how many schedules.
const INPUTS_IN_SCHEDULES: usize = 4;
const SCHEDULES: usize = 6;

/// Returns whether a proof is among what is known.
pub fn is_proved(verified: &[Verified]) -> bool {
    verified.iter().any(|verified| *verified >= Verified::ProvedForGivenLaunches)
}
