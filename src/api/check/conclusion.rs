//! From the first runs of a kernel's inputs to its result.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::generate::conditions::Conditions;
use kassay_judge::generate::launches::Request;
use kassay_judge::generate::planned_launch::GeneratedLaunch;
use kassay_judge::generate::roles;
use kassay_judge::sync::budget::Budget;
use kassay_judge::sync::checking::{self, Case};
use kassay_judge::sync::device_pass::Looked;
use kassay_judge::sync::divergence_cause::DivergenceAnalysis;
use kassay_judge::sync::findings::{self, Found, Reader};
use kassay_judge::sync::proofs::Proofs;
use kassay_judge::sync::replay::{self, Replayed};
use kassay_judge::sync::{amplification, inputs, lengths, proofs, reproduction, schedule_independence};
use kassay_model::condition::Condition;
use kassay_model::native::table::NativeTable;
use kassay_model::words::Words;
use kassay_results::result::check::{
    Amplification, CheckResult, DeviceRun, DeviceVerdict, Finding, FindingKind, HoldsFor, Input, Verdict,
};
use kassay_results::result::proofs::{Length, Proof, ProvedLaunches};
use kassay_results::result::{Device, Header};
use kassay_run::exec::simulator;
use kassay_run::exec::simulator::observation::Simulation;
use kassay_suite::launch::Launch;

use super::super::executors;
use super::super::input::Parsed;
use super::super::opened::Opened;
use super::conditions;
use super::loaded::LoadedSimulator;
use super::measurements;
use super::options::{CheckOptions, Proving};

/// Share of the budget for proofs that nobody asked for.
const PROVING_SHARE: f64 = 0.1;

/// A kernel that is judged.
pub(super) struct Judging<'a, 'c> {
    pub opened: &'a Opened,
    pub parsed: &'a Parsed<'c>,
    pub options: &'a CheckOptions,
    /// Ends further runs.
    pub budget: Budget,
    pub started: Instant,
    /// The device of the first pass, if there is one.
    pub first_pass: Option<Device>,
    /// Where the kernel's findings are written as suites.
    pub reproduce: Option<PathBuf>,
    /// Under which nothing was found in any input that keeps to it, if there is one.
    pub condition: Option<Condition>,
}

impl Judging<'_, '_> {
    /// Judges the inputs by the simulations of their first runs, which are in the same order, and by further runs.
    /// `notes` come before those of the judgement; `looked` is what a first pass on a device saw.
    pub(super) fn judge(
        &self,
        table: &NativeTable,
        simulators: &mut [LoadedSimulator<'_>],
        cases: &[Case],
        simulations: Vec<Simulation>,
        mut notes: Vec<String>,
        looked: Looked,
    ) -> Result<CheckResult> {
        let Judging { opened, parsed, options, budget, started, .. } = *self;
        let under_test = &parsed.under_test;
        let source = opened.source();
        // Few kernels diverge.
        let divergence_analysis = OnceCell::new();
        let diverging_branch = |divergence: &_| {
            let divergence_analysis = divergence_analysis.get_or_init(|| DivergenceAnalysis::of(under_test, &source));
            divergence_analysis.as_ref().ok()?.branch(table, divergence)
        };
        let reader =
            Reader { table, interface: &under_test.interface, source: &source, diverging_branch: &diverging_branch };
        let atomics_read = schedule_independence::atomics_read(under_test, table);
        let checking_options = checking::CheckOptions {
            atomics_read,
            redundant: options.redundant,
            budget,
            ..checking::CheckOptions::default()
        };
        let mut checked = checking::judge(simulators, &reader, cases, simulations, checking_options)?;
        let measured = match options.measure {
            true => measurements::notes(simulators, &reader, cases, &checked.inputs, budget)?,
            false => Vec::new(),
        };
        let races = checked.found.iter().take_while(|found| found.finding.kind == FindingKind::DataRace).count();
        let unconfirmed = looked.unconfirmed.into_iter().map(|(input, finding)| Found::of_input(finding, input));
        checked.found.splice(races..races, unconfirmed);
        // Before suites are written that reproduce findings, which have their messages.
        let words = Words::of(self.opened.source());
        checked.found.iter_mut().for_each(|found| words.put(&mut found.finding.message));
        if let Some(folder) = &self.reproduce {
            self.reproduce(folder, &mut checked.found, cases)?;
        }
        // A device may have finished what the simulator has not.
        let on_device = looked.runs.iter().flatten().any(|run| run.verdict == DeviceVerdict::Clean);
        let finished = on_device || checked.inputs.iter().any(Input::is_finished);
        let mut verdict = findings::verdict(checked.found.iter().map(|f| &f.finding), finished);
        let condition = self.condition.as_ref().filter(|_| !matches!(verdict, Verdict::Clean | Verdict::Unknown));
        let condition = condition.map(|condition| {
            verdict = Verdict::Conditional;
            conditions::describe(condition, words, &under_test.interface, cases, &mut checked.found)
        });
        let findings: Vec<Finding> = checked.found.into_iter().map(|f| f.finding).collect();
        let flows = schedule_independence::flows(under_test, &findings)?;
        let open = (&checked.ordered_by_atomics[..], &checked.asked_active[..]);
        let (mut holds_for, mut holds_for_because) = checking::holds_for(&flows, open, &checked.inputs);
        if !checked.sampled.is_empty() {
            holds_for = HoldsFor::ExploredSchedules;
            holds_for_because.extend(checked.sampled);
        }
        for (input, run) in checked.inputs.iter_mut().zip(looked.runs) {
            let holds_for = if flows.is_empty() { HoldsFor::AllInterleavings } else { HoldsFor::ExploredSchedules };
            input.device = run
                .map(|run| DeviceRun { holds_for: (run.verdict == DeviceVerdict::Clean).then_some(holds_for), ..run });
        }
        if !looked.only_races.is_empty() {
            holds_for = HoldsFor::ExploredSchedules;
            holds_for_because.extend(looked.only_races);
        }
        notes.extend(checked.left_out);
        notes.extend(checked.rows);
        notes.extend(looked.notes);
        notes.extend(measured);
        let mut amplification = match options.amplify {
            true => amplify(under_test, budget, &mut notes)?,
            false => None,
        };
        let proving = match options.prove {
            Proving::Never => None,
            Proving::Briefly => Some(budget.share(PROVING_SHARE)),
            Proving::Long => Some(budget),
        };
        let Proofs { mut proofs, models } = match proving {
            None => Proofs::default(),
            Some(budget) => self.prove(cases, budget, &mut notes)?,
        };
        let lengths = match proving {
            None => Vec::new(),
            Some(budget) => self.lengths(budget)?,
        };
        notes.extend(proofs::refute(&mut proofs, &findings, &under_test.interface, opened.is_suite()));
        if let (Proving::Long, Some(simulator)) = (options.prove, simulators.first_mut()) {
            self.replay(simulator, &reader, (&mut proofs, &models))?;
        }
        proofs::rest_on_convergence(&mut proofs);
        if let Some(amplification) = &mut amplification {
            amplification.proved = ProvedLaunches::of(&proofs);
        }
        if let Some(Err(e)) = divergence_analysis.into_inner() {
            return Err(e);
        }
        let launches = simulators.iter().map(|s| s.launches).sum();
        Ok(CheckResult {
            header: self.header(),
            elapsed_s: started.elapsed().as_secs_f64(),
            verdict,
            condition,
            holds_for,
            holds_for_because,
            summary: checking::summary(&findings, &checked.inputs, &checked.barriers, launches),
            findings,
            inputs: checked.inputs,
            barriers: checked.barriers,
            amplification,
            proofs,
            lengths,
            repairs: Vec::new(),
            first_pass: self.first_pass.clone(),
            warp_sync: self.options.warp_sync,
            notes,
        }
        .in_words())
    }

    /// Proves what holds of all launches, or of those like a suite's.
    fn prove(&self, cases: &[Case], budget: Budget, notes: &mut Vec<String>) -> Result<Proofs> {
        let of_suite: Vec<&Launch> = match self.opened.is_suite() {
            true => cases.iter().map(|case| &case.launch).collect(),
            false => Vec::new(),
        };
        match proofs::prove(&self.parsed.under_test, &of_suite, &self.opened.source(), budget.end()) {
            Err(e) if e.is_late() => {
                notes.push(format!("nothing was proved: {} was over", budget.words()));
                Ok(Proofs::default())
            }
            found => found,
        }
    }

    /// Finds how many elements buffers need; nothing if the budget is over.
    fn lengths(&self, budget: Budget) -> Result<Vec<Length>> {
        match lengths::lengths(&self.parsed.under_test, &self.opened.source(), budget.end()) {
            Err(e) if e.is_late() => Ok(Vec::new()),
            found => found,
        }
    }

    /// Runs launches that may refute what is not proved. Those that do are written beside the findings.
    fn replay(
        &self,
        simulator: &mut LoadedSimulator<'_>,
        reader: &Reader<'_>,
        (proofs, models): (&mut [Proof], &[Option<Condition>]),
    ) -> Result<()> {
        let (under_test, budget) = (&self.parsed.under_test, self.budget);
        if budget.is_over() || !models.iter().any(Option::is_some) {
            return Ok(());
        }
        let model = match roles::infer_until(under_test, budget.end()) {
            Err(e) if e.is_late() => return Ok(()),
            model => model?,
        };
        let conditions = Conditions::new(&model, Request { range: None, seed: self.opened.seed() });
        let make = |launch| case(launch, "replayed", under_test, None);
        let Replayed { cases, mut found } =
            replay::replay(simulator, reader, (&mut *proofs, models), &conditions, &make, budget)?;
        if let Some(folder) = self.reproduce.as_ref().filter(|_| !found.is_empty()) {
            self.reproduce(&folder.join("proofs"), &mut found, &cases)?;
            let refuted = proofs.iter_mut().filter(|proof| proof.replayed);
            for (proof, found) in refuted.zip(found) {
                proof.why_not.extend(found.finding.reproduction.map(|path| format!("see it by kassay check {path}")));
            }
        }
        Ok(())
    }

    fn reproduce(
        &self,
        folder: &Path,
        found: &mut [kassay_judge::sync::findings::Found],
        cases: &[Case],
    ) -> Result<()> {
        let (opened, under_test) = (self.opened, &self.parsed.under_test);
        let arguments = opened.kernel_options().as_arguments();
        let kernel = reproduction::Kernel {
            path: opened.kernel_file(),
            entry: &under_test.entry,
            interface: &under_test.interface,
            options: &arguments,
            spec: &opened.kernel_options().spec,
        };
        reproduction::write(folder, kernel, found, cases)
    }

    fn header(&self) -> Header {
        Header::new(
            CheckResult::SCHEMA,
            self.parsed.under_test.entry.clone(),
            self.opened.source(),
            Some(executors::device(&simulator::device())),
            self.opened.seed(),
        )
    }

    /// Returns the result for a kernel whose code was not ready within the budget: verdict `unknown`.
    pub(super) fn unknown(&self, mut notes: Vec<String>, late: &Error) -> CheckResult {
        let why = &late.report().what;
        notes.push(format!("no input was run: {why} ({}); --budget gives more time", self.budget.words()));
        CheckResult {
            header: self.header(),
            elapsed_s: self.started.elapsed().as_secs_f64(),
            verdict: Verdict::Unknown,
            condition: None,
            holds_for: HoldsFor::ExploredSchedules,
            holds_for_because: vec!["no input was run".to_owned()],
            summary: checking::summary(&[], &[], &[], 0),
            findings: Vec::new(),
            inputs: Vec::new(),
            barriers: Vec::new(),
            amplification: None,
            proofs: Vec::new(),
            lengths: Vec::new(),
            repairs: Vec::new(),
            first_pass: self.first_pass.clone(),
            warp_sync: self.options.warp_sync,
            notes,
        }
        .in_words()
    }
}

/// Determines for which input values a clean verdict holds; `None`, with a note, if the budget is over.
fn amplify(under_test: &KernelUnderTest<'_>, budget: Budget, notes: &mut Vec<String>) -> Result<Option<Amplification>> {
    let found = match budget.is_over() {
        true => None,
        false => match amplification::amplify_until(under_test, budget.end()) {
            Err(e) if e.is_late() => None,
            found => Some(found?),
        },
    };
    let Some(found) = found else {
        notes.push(format!(
            "for which values of the inputs the verdict holds was not asked: {} was over",
            budget.words()
        ));
        return Ok(None);
    };
    Ok(Some(Amplification {
        access_invariant: found.access_invariant,
        holds_for_all_values_of: found.holds_for_all_values_of,
        property_integrity_inputs: found.property_integrity_inputs,
        why_not: found.why_not,
        proved: None,
    }))
}

/// Chooses the work-group size that the suite and the kernel leave open.
pub(super) fn with_local_size(mut launch: Launch, under_test: &KernelUnderTest<'_>) -> Launch {
    let max_group = kassay_run::exec::simulator::device().max_work_group_size;
    let range = &mut launch.range;
    range.decide_local(under_test.interface.required_local, max_group);
    launch
}

/// Returns the input for a generated launch.
pub(super) fn case(
    made: GeneratedLaunch,
    origin: &'static str,
    under_test: &KernelUnderTest<'_>,
    fitness: Option<f64>,
) -> Case {
    let outputs = inputs::outputs(&under_test.interface);
    let (launch, preconditions) = (with_local_size(made.launch, under_test), made.preconditions);
    Case { name: made.name, origin, launch, outputs, fitness, preconditions, guesses: made.guesses }
}
