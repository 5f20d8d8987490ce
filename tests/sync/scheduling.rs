//! Runs tests under several schedules on the OpenCL device, through a map of work-groups.

use std::sync::Arc;
use std::time::Duration;

use kassay::result::schedule::{RunStatus, Test, Verdict};
use kassay_ir::llvm::Context;
use kassay_judge::coverage::group_order;
use kassay_judge::sync::schedule_families::{Family, Plan};
use kassay_judge::sync::scheduling::{self, ScheduleOptions, ScheduleRunner};
use kassay_model::interface::{Scalar, Type};
use kassay_run::exec::{Executor, StartingExecutors};
use kassay_suite::Output;
use kassay_suite::compare::Tolerance;
use kassay_suite::launch::{ArgValue, Launch, NdRange};

use super::support::{TestResult, under_test};
use crate::common::devices::worker;

fn run(source: &str, range: NdRange) -> TestResult<Test> {
    let context = Context::create();
    let (_folder, _path, under_test) = under_test(&context, source)?;
    let started = StartingExecutors::start(&"opencl".into(), &worker(), 1)?.ready()?;
    let mut executor: Box<dyn Executor> = started.executors.into_iter().next().ok_or("no executor")?;
    let program = group_order::build(&under_test, executor.target())?.load(executor.as_mut())?;
    let mut runner = ScheduleRunner::Mapped { executor, program };
    let buffer = || ArgValue::Buffer(Arc::new(vec![0; range.items() as usize * 4]));
    let launch = Launch::new(range.clone(), vec![buffer(), buffer()]);
    let output = |position: u32, label: &str| Output {
        position,
        label: label.into(),
        ty: Type::Scalar(Scalar::U32),
        shape: vec![range.items()],
        tolerance: Tolerance::default(),
    };
    let outputs = [output(0, "x"), output(1, "y")];
    let plan = Plan { range: &range, count: 10, seed: 3, test: "t", own: None, exact: false, races: &[] }.schedules();
    assert_eq!(plan.len(), 10);
    assert!(plan.iter().any(|p| p.family == Family::OneGroupFirst));
    let options = ScheduleOptions { repeats: 2, timeout: Duration::from_secs(20) };
    Ok(scheduling::run(&mut runner, "t", &launch, &outputs, &plan, options)?)
}

fn ranges() -> [NdRange; 3] {
    let range = |dims, global, local, offset| NdRange { dims, global, local: Some(local), offset };
    [
        range(1, [64, 1, 1], [4, 1, 1], [5, 0, 0]),
        range(2, [8, 8, 1], [4, 1, 1], [0; 3]),
        range(3, [4, 4, 4], [2, 2, 1], [1, 2, 3]),
    ]
}

#[test]
fn a_kernel_with_independent_groups_is_stable() -> TestResult {
    let source = "kernel void k(global uint *x, global uint *y) {
    size_t at = (get_global_id(2) - get_global_offset(2)) * get_global_size(1) * get_global_size(0)
              + (get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0) - get_global_offset(0);
    x[at] = at * 3 + get_group_id(0);
    atomic_inc(&y[0]);
}";
    for range in ranges() {
        let test = run(source, range.clone())?;
        assert_eq!(test.verdict, Verdict::Stable, "{range:?}: {:?}", test.differing_outputs);
        assert!(test.schedules.iter().all(|s| s.status == RunStatus::Completed && s.outcomes == 1));
    }
    Ok(())
}

#[test]
fn a_kernel_that_numbers_its_groups_by_arrival_is_not() -> TestResult {
    let source = "kernel void k(global uint *x, global uint *y) {
    size_t group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
    if (get_local_id(0) + get_local_id(1) + get_local_id(2) == 0)
        x[group] = atomic_inc(&y[0]) + 1;
}";
    for range in ranges() {
        let mut tests = [run(source, range.clone())?, run(source, range)?];
        scheduling::number(&mut tests);
        let test = &tests[1];
        assert!(matches!(test.verdict, Verdict::OrderDependent | Verdict::Nondeterministic), "{:?}", test.verdict);
        let difference = test.differing_outputs.first().ok_or("nothing differs")?;
        assert_eq!(difference.argument, "x");
        assert_ne!(difference.values[0], difference.values[1]);
        assert!(difference.schedules.iter().all(|index| (10..20).contains(index)));
        assert_eq!(scheduling::summary(&tests).stable, 0);
    }
    Ok(())
}
