//! Def-use coverage: code that reports definitions and uses, launches of it on the simulator, and what these exercise.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use inkwell::module::Module;
use kassay_base::error::Result;
use kassay_ir::instrument::def_use::{AccessSite, DefUsePlan, Exercised, Pair};
use kassay_model::native::table::Relation;
use kassay_results::result::Location;
use kassay_results::result::def_use::{AccessPlace, DefUse, DefUsePair, PairKind};
use kassay_run::exec::simulator::flow::FlowTracker;
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_run::exec::simulator::{self, Simulator};
use kassay_run::exec::{NativeCode, ProgramId};
use kassay_suite::resolve::Test;

use super::build::KernelUnderTest;

/// Code that reports definitions and uses, and its pairs.
#[derive(Debug)]
pub struct DefUseCode {
    /// The code, for the simulator.
    pub code: Arc<NativeCode>,
    /// Its definitions, uses and pairs.
    pub plan: DefUsePlan,
}

/// What one test has shown.
#[derive(Debug, Clone)]
pub struct Followed {
    /// Name of the test.
    pub name: String,
    /// The pairs that it exercised.
    pub exercised: Exercised,
    /// Kernel time; `None` if the launch did not complete.
    pub time: Option<Duration>,
    /// Why it did not complete.
    pub incomplete: Option<String>,
}

/// Makes the code.
///
/// # Errors
/// `Caller` if the kernel has too many pairs, or something that the simulator lacks; `Internal` if it cannot be woven
/// or lowered.
pub fn build(under_test: &KernelUnderTest<'_>) -> Result<DefUseCode> {
    let (module, plan) = woven(under_test)?;
    let code = under_test.lower(module, simulator::CAPABILITIES.target, &under_test.lowering)?.into_native()?;
    Ok(DefUseCode { code, plan })
}

fn woven<'c>(under_test: &KernelUnderTest<'c>) -> Result<(Module<'c>, DefUsePlan)> {
    let module = under_test.module.clone();
    let arguments: Vec<String> = under_test.interface.args.iter().map(|arg| arg.label()).collect();
    let plan = DefUsePlan::weave(&module, &under_test.entry, &arguments)?;
    Ok((module, plan))
}

/// Returns the numbers of pairs of a kernel, by kind.
///
/// # Errors
/// `Caller` if the kernel has too many pairs; `Internal` if it cannot be woven.
pub fn count(under_test: &KernelUnderTest<'_>) -> Result<BTreeMap<PairKind, u64>> {
    let mut counts = BTreeMap::new();
    for pair in woven(under_test)?.1.pairs {
        *counts.entry(kind(pair.relation)).or_default() += 1;
    }
    Ok(counts)
}

/// Runs a test. `program`: the code, loaded.
///
/// # Errors
/// Failures of the environment and of the caller; the kernel's own faults are part of what is returned.
pub fn follow(
    simulator: &mut Simulator,
    program: ProgramId,
    plan: &DefUsePlan,
    test: &Test,
    timeout: Duration,
) -> Result<Followed> {
    let (pairs, accesses) = plan.reported();
    let options = SimulationOptions { schedule: test.launch.schedule.clone(), ..SimulationOptions::default() };
    let mut tracker = FlowTracker::new(pairs, accesses);
    let simulation = simulator.observe(program, &test.launch, &options, timeout, &[], Some(&mut tracker))?;
    let flows = tracker.finish();
    let memory = flows.memory.iter().map(|flow| (flow.definition, flow.usage, flow.relation));
    let exercised = plan.exercised(flows.pairs.iter().copied(), memory);
    let is_whole = simulation.completed && simulation.faults.is_empty() && simulation.divergences.is_empty();
    let incomplete = match simulation.rejected {
        Some(why) => Some(why),
        None => (!is_whole).then(|| "the simulator found a fault in the kernel; see the test's reason".to_owned()),
    };
    let time = simulation.observation.kernel_times.first().copied().filter(|_| incomplete.is_none());
    Ok(Followed { name: test.name.clone(), exercised, time, incomplete })
}

/// Adds up what tests have shown. `main_file` is the kernel's file.
pub fn result(plan: &DefUsePlan, tests: &[Followed], main_file: &str, overhead: Option<f64>) -> DefUse {
    let place = |access: usize| place(&plan.sites[access], main_file);
    let pair = |(at, (pair, id)): (usize, (&Pair, String))| {
        let shown = tests.iter().filter(|test| test.exercised.pairs.contains(&at));
        let tests: Vec<String> = shown.map(|test| test.name.clone()).collect();
        DefUsePair {
            id,
            variable: pair.variable.clone(),
            kind: kind(pair.relation),
            definition: pair.definition.map(place),
            usage: place(pair.usage),
            predicate: plan.sites[pair.usage].is_predicate,
            covered: !tests.is_empty(),
            tests,
        }
    };
    let pairs = plan.pairs.iter().zip(plan.ids()).enumerate().map(pair).collect();
    let unordered: BTreeSet<_> = tests.iter().flat_map(|test| &test.exercised.unordered).collect();
    DefUse::new(pairs, unordered.len() as u64, overhead)
}

fn place(site: &AccessSite, main_file: &str) -> AccessPlace {
    let location = match &site.location {
        Some(l) => Location { file: l.file.clone(), line: l.line, column: l.column },
        None => Location { file: main_file.to_owned(), line: 0, column: 0 },
    };
    AccessPlace { function: site.function.clone(), location, operation: site.operation.clone() }
}

fn kind(relation: Relation) -> PairKind {
    match relation {
        Relation::Private => PairKind::Private,
        Relation::SameWorkItem => PairKind::SameWorkItem,
        Relation::AcrossBarrier => PairKind::AcrossBarrier,
        Relation::WithinGroup => PairKind::WithinGroup,
        Relation::AcrossGroups => PairKind::AcrossGroups,
        Relation::HostToKernel => PairKind::HostToKernel,
    }
}

/// Returns remarks for the reader. `on_simulator`: whether the simulator is the device, so that nothing needs to be
/// said of that.
pub fn notes(plan: &DefUsePlan, tests: &[Followed], def_use: &DefUse, on_simulator: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !on_simulator {
        notes.push("def-use pairs are measured on the simulator, whatever the device".to_owned());
    }
    if !plan.pairs.iter().any(|pair| pair.relation == Relation::Private) {
        notes.push(
            "the kernel has no def-use pairs of private variables: an optimiser has put them into registers".to_owned(),
        );
    }
    if def_use.unordered > 0 {
        notes.push(format!(
            "{} definitions reached a use in another work-item although nothing orders the two; they are not counted as \
             pairs (`kassay check` finds races)",
            def_use.unordered
        ));
    }
    let unexpected: BTreeSet<_> = tests.iter().flat_map(|test| &test.exercised.unexpected).collect();
    if !unexpected.is_empty() {
        notes.push(format!(
            "{} definitions reached a use that they cannot reach: the kernel accesses memory out of bounds, or the \
             analysis of its pairs is at fault; they are not counted",
            unexpected.len()
        ));
    }
    for test in tests {
        if let Some(why) = &test.incomplete {
            notes.push(format!(
                "of the test `{}`, only def-use pairs that it exercised before it ended count: {why}",
                test.name
            ));
        }
    }
    notes
}
