//! Checks the check of inputs, on a simulator with scripted results.

use kassay::result::check::{FindingKind, HoldsFor, Verdict};
use kassay_base::error::Result;
use kassay_judge::sync::checking::{self, Case, CheckOptions, Checked, Simulate};
use kassay_judge::sync::findings::Reader;
use kassay_judge::sync::reproduction::{self, Kernel};
use kassay_model::interface::{Scalar, Type};
use kassay_model::native::table::Mode;
use kassay_run::exec::simulator::observation::{Conflict, Simulation, SimulationOptions};
use kassay_suite::Output;
use kassay_suite::compare::Tolerance;
use kassay_suite::launch::Launch;
use kassay_suite::resolve::Suite;

use super::support::{Tables, TestResult, access, conflict, interface, launch, place, simulation};

/// Returns the result of a function of launch and options.
struct ScriptedSimulator<F>(F);

impl<F: FnMut(&Launch, &SimulationOptions) -> Simulation> Simulate for ScriptedSimulator<F> {
    fn simulate(&mut self, launch: &Launch, options: &SimulationOptions) -> Result<Simulation> {
        Ok((self.0)(launch, options))
    }
}

fn case(name: &str) -> Case {
    let output = Output {
        position: 0,
        label: "x".into(),
        ty: Type::Scalar(Scalar::I32),
        shape: vec![8],
        tolerance: Tolerance::default(),
    };
    Case {
        name: name.into(),
        origin: "suite",
        launch: launch(8, 4),
        outputs: vec![output],
        fitness: None,
        preconditions: Vec::new(),
        guesses: Vec::new(),
    }
}

fn check(
    table: &Tables,
    cases: &[Case],
    told: impl FnMut(&Launch, &SimulationOptions) -> Simulation + Send,
) -> Result<Checked> {
    let interface = interface();
    let reader = Reader { table: &table.0, interface: &interface, source: "k.cl", diverging_branch: &|_| None };
    checking::check(&mut [ScriptedSimulator(told)], &reader, &mut cases.to_vec(), CheckOptions::default())
}

#[test]
fn a_barrier_is_redundant_if_nothing_new_is_found_without_it() -> TestResult {
    let mut table = Tables::new();
    for (source, line) in [(0, 5), (1, 7), (2, 9)] {
        table.barrier(source, vec![place("k", line, 5)]);
    }
    // The first barrier is needed, the second is not, and no work-item reaches the third.
    let mut launches = 0;
    let done = check(&table, &[case("a"), case("b")], |_, options| {
        launches += 1;
        Simulation {
            conflicted: options.first_conflict && options.ignored_barriers.contains(&0),
            reached: vec![0, 1],
            ..simulation()
        }
    })?;
    assert_eq!(done.verdict, Verdict::Clean);
    let judged: Vec<_> = done.barriers.iter().map(|b| (b.location.line, b.redundant, b.reached)).collect();
    assert_eq!(judged, [(5, Some(false), 2), (7, Some(true), 2), (9, None, 0)]);
    let found: Vec<_> = done.found.iter().map(|f| (f.finding.kind, f.finding.accesses[0].location.line)).collect();
    assert_eq!(found, [(FindingKind::RedundantBarrier, 7)]);
    // Two inputs: the first without both barriers, then without each; the other without the second alone.
    assert_eq!(launches, 6);
    Ok(())
}

#[test]
fn groups_of_a_single_work_item_do_not_judge_barriers() -> TestResult {
    let mut table = Tables::new();
    table.barrier(0, vec![place("k", 5, 5)]);
    let alone = || Case { launch: launch(8, 1), ..case("alone") };
    let judged = |cases: &[Case]| -> TestResult<_> {
        let done = check(&table, cases, |_, _| Simulation { reached: vec![0], ..simulation() })?;
        let barrier = &done.barriers[0];
        Ok((barrier.redundant, barrier.reached, barrier.reason.clone(), done.found.len()))
    };
    assert_eq!(judged(&[alone()])?, (None, 0, "only groups of a single work-item reach it".to_owned(), 0));
    let with_others = judged(&[alone(), case("b")])?;
    assert_eq!(with_others, (Some(true), 1, "nothing new is found without it".to_owned(), 1));
    Ok(())
}

#[test]
fn a_race_comes_with_schedules_between_which_outputs_differ() -> TestResult {
    let mut table = Tables::new();
    let site = table.access(Mode::Write, 0, vec![place("k", 3, 1)]);
    let race = Conflict { ..conflict([access(site, Mode::Write, 1, 2), access(site, Mode::Write, 2, 2)], 0, 4) };
    let mut done = check(&table, &[case("a")], |launch, _| {
        let mut seen = Simulation { conflicts: vec![race.clone()], ..simulation() };
        let last = if launch.schedule.preemptions.first().is_some_and(|p| p.item == 1) { 1_u32 } else { 2 };
        let bytes: Vec<u8> = [0, last, 0, 0, 0, 0, 0, 0].iter().flat_map(|v: &u32| v.to_le_bytes()).collect();
        seen.observation.outputs = vec![(0, bytes)];
        seen
    })?;
    assert_eq!(done.verdict, Verdict::Racy);
    let witness = done.found[0].finding.witness.clone().ok_or("no witness")?;
    assert_eq!((witness.argument.as_str(), witness.index), ("x", 1));
    assert_eq!(witness.values, ["2", "1"]);
    assert!(witness.schedules[0].is_natural());
    assert_eq!((witness.schedules[1].preemptions[0].item, witness.schedules[1].preemptions[0].to), (1, Some(2)));

    let folder = tempfile::tempdir()?;
    let source = folder.path().join("k.cl");
    std::fs::write(&source, "kernel void k(global int *x) {}")?;
    let interface = interface();
    let kernel = Kernel { path: &source, entry: "k", interface: &interface, options: &[], spec: &[] };
    let into = folder.path().join("again");
    reproduction::write(&into, kernel, &mut done.found, &[case("a")])?;
    let suite = Suite::load(&into.join("1/suite.toml"))?;
    let tests = suite.resolve(&interface, 0)?;
    assert_eq!(tests.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["a", "a, order 2"]);
    assert_eq!(tests[0].launch, launch(8, 4));
    assert_eq!(tests[1].launch.schedule, witness.schedules[1]);
    assert!(done.found[0].finding.reproduction.as_deref().is_some_and(|p| p.ends_with("again/1/suite.toml")));
    Ok(())
}

#[test]
fn verdicts_hold_for_all_interleavings_only_of_inputs_that_end() -> TestResult {
    let table = Tables::new();
    let mut all = check(&table, &[case("a")], |_, _| simulation())?;
    assert_eq!(checking::holds_for(&[], (&[], &[]), &all.inputs).0, HoldsFor::AllInterleavings);
    let flows = ["an atomic decides".to_owned()];
    assert_eq!(checking::holds_for(&flows, (&[], &[]), &all.inputs), (HoldsFor::ExploredSchedules, flows.to_vec()));
    all.inputs[0].completed = false;
    assert_eq!(checking::holds_for(&[], (&[], &[]), &all.inputs).0, HoldsFor::ExploredSchedules);
    Ok(())
}
