//! Checks joint launches in whole campaigns: they give the fates that one launch for each run gives, whatever is asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kassay_ir::llvm::Context;
use kassay_judge::mutation::build::module_builder::ModuleBuilder;
use kassay_judge::mutation::enumerate;
use kassay_judge::mutation::run::engine::{Batching, Engine, Options, Strategy};
use kassay_judge::mutation::run::runner::Scenario;
use kassay_judge::mutation::{MutantIndex, Selection};
use kassay_run::exec::{
    Capabilities, Code, DeviceInfo, DeviceSelector, Executor, Fault, JointOutcome, JointSweep, OpenClExecutor,
    ProgramId, RunOptions, RunResult, Sweep, SweepOutcome, Target,
};
use kassay_suite::launch::Launch;
use serde_json::Value;

use super::bench::{Bench, TestResult, mutants, suite, text};
use crate::common::devices::worker;
use crate::common::kernels::open_suite;
use crate::common::testdata;

/// What is compared of each mutant: its status, the tests that detect it, and why, but for the values that differed,
/// which mutants whose work-items race leave to chance.
fn fates(result: &Value) -> BTreeMap<String, (String, Value, String)> {
    let fate = |m: &Value| {
        let reason = text(m, "reason").split(" instead of ").next().unwrap_or_default();
        let reason = reason.rsplit_once(": ").map_or(reason, |(before, _)| before).to_owned();
        (text(m, "id").to_owned(), (text(m, "status").to_owned(), m["killed_by"].clone(), reason))
    };
    mutants(result).iter().map(fate).collect()
}

#[test]
fn joint_launches_give_the_fates_of_single_ones() -> TestResult {
    let bench = Bench::new()?;
    for (kernel, args) in [
        // Vectors, and a loop for those left over.
        ("saxpy_tail", &["--full-matrix"][..]),
        // Structs by value and as outputs.
        ("nbody_step", &[]),
        // Local memory and barriers; two runs of each.
        ("reduction_tree", &["--sample", "60", "--repeats", "2", "--full-matrix"]),
        // Pairs of mutants, with those of the launch, which change its size.
        ("matmul_naive", &["--order", "2", "--sample", "60", "--operators", "AS,AI,AD,AOR,CBR,LBR"]),
        // Mutants that need more than twice the iterations, and mutants that never end.
        ("prefix_filter", &["--sample", "80"]),
        // Tests whose work-groups differ in size, which are not run in their order.
        ("prefix_filter", &["--sample", "40", "--full-matrix"]),
    ] {
        let of = suite(kernel);
        let run =
            |batch: &str| bench.mutate(&of, &[args, &["-j", "1", "--device", "opencl", "--batch", batch]].concat());
        let (single, joint) = (run("off")?, run("joint")?);
        assert_eq!(single["timing"]["batched_pairs"], 0, "{kernel}");
        let (pairs, in_joint) = (joint["timing"]["pairs"].as_u64(), joint["timing"]["batched_pairs"].as_u64());
        assert!(
            in_joint >= pairs.map(|pairs| pairs / 2),
            "{kernel}: {in_joint:?} of {pairs:?} pairs in joint launches"
        );
        let (single, joint) = (fates(&single), fates(&joint));
        let differ: Vec<_> = single.iter().filter(|(id, fate)| joint.get(*id) != Some(fate)).collect();
        assert!(differ.is_empty() && single.len() == joint.len(), "{kernel}: {differ:#?}\n{joint:#?}");
    }
    Ok(())
}

#[test]
fn mutants_of_several_modules_have_the_fates_of_single_launches() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("sha_like");
    let run = |batch: &str| bench.mutate(&of, &["--sample", "640", "-j", "1", "--device", "opencl", "--batch", batch]);
    let (single, joint) = (run("off")?, run("joint")?);
    let sizes = joint["timing"]["module_sizes"].as_array().ok_or("no sizes")?;
    assert!(sizes.len() > 1 && sizes.iter().all(|size| size.as_u64() <= Some(512)), "{sizes:?}");
    let (single, joint) = (fates(&single), fates(&joint));
    let differ: Vec<_> = single.iter().filter(|(id, fate)| joint.get(*id) != Some(fate)).collect();
    assert!(differ.is_empty() && single.len() == joint.len(), "{differ:#?}");
    Ok(())
}

#[test]
fn the_simulator_runs_one_by_one_what_is_asked_for_jointly() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("vector_add");
    let run = |batch: &str| bench.mutate(&of, &["--device", "sim", "--batch", batch]);
    let (single, joint) = (run("off")?, run("joint")?);
    assert_eq!(joint["timing"]["batched_pairs"], 0);
    assert_eq!(fates(&single), fates(&joint));
    Ok(())
}

/// A device on which every joint sweep ends the worker.
struct Losing {
    executor: OpenClExecutor,
    lost: Arc<AtomicUsize>,
}

impl Executor for Losing {
    fn device(&self) -> &DeviceInfo {
        self.executor.device()
    }

    fn capabilities(&self) -> Capabilities {
        self.executor.capabilities()
    }

    fn begin_load(&mut self, code: &Code) -> kassay::Result<ProgramId> {
        self.executor.begin_load(code)
    }

    fn finish_load(&mut self, program: ProgramId) -> kassay::Result<()> {
        self.executor.finish_load(program)
    }

    fn run_with_probe(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        head: &[u32],
    ) -> kassay::Result<RunResult> {
        self.executor.run_with_probe(program, launch, options, head)
    }

    fn sweep(&mut self, program: ProgramId, sweep: &Sweep<'_>) -> kassay::Result<SweepOutcome> {
        self.executor.sweep(program, sweep)
    }

    fn begin_jointly(&mut self, _: ProgramId, _: &JointSweep<'_>) -> kassay::Result<()> {
        self.lost.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn finish_jointly(&mut self) -> kassay::Result<JointOutcome> {
        Ok(JointOutcome::Lost(Fault::Stopped { error: "CL_OUT_OF_RESOURCES".into() }))
    }
}

#[test]
fn what_joint_launches_lose_is_run_one_by_one() -> TestResult {
    let context = Context::create();
    let mut opened = open_suite(&context, &testdata::suite("vector_add"))?;
    let selection = Selection::parse("all")?;
    let mutants = enumerate(&opened.kernel.subject(selection.preset()), &selection).mutants;
    let lost = Arc::new(AtomicUsize::new(0));
    let mut outcomes = Vec::new();
    for batching in [Batching::Off, Batching::Joint] {
        let executor = OpenClExecutor::spawn(DeviceSelector::Any, Target::SpirV, worker())?.ready()?;
        opened.choose_local(executor.device());
        let executor = Losing { executor, lost: Arc::clone(&lost) };
        let options = Options {
            strategy: Strategy::Schemata,
            repeats: 1,
            full_matrix: true,
            factor: 10.0,
            timeout: Duration::from_secs(60),
            prune: false,
            batching,
            end: None,
        };
        let builder = ModuleBuilder::new(&opened.kernel.under_test, Target::SpirV);
        let mut engine = Engine::new(builder, vec![Box::new(executor)], &opened.tests, &mutants, options);
        let wanted: Vec<MutantIndex> =
            (0..mutants.len()).map(MutantIndex).filter(|m| mutants[m.0].edit.is_woven()).collect();
        engine.establish_baselines(&wanted, false, &wanted)?;
        let runs = vec![true; engine.baselines().len()];
        let scenarios = wanted.iter().map(|m| Scenario { mutants: vec![*m], tests: runs.clone() }).collect();
        outcomes.push(engine.run(scenarios, false, &|_, _| Ok(()))?);
    }
    assert!(lost.load(Ordering::Relaxed) > 0, "no joint sweep was asked for");
    assert!(outcomes[0].iter().filter(|outcome| !outcome.killed_by.is_empty()).count() > 5);
    assert_eq!(outcomes[0], outcomes[1]);
    Ok(())
}
