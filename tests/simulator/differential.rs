//! Checks that every test of `testdata` gives the same outputs on the simulator as on an OpenCL device, and that no
//! check reports a fault.
//!
//! Outputs are equal bit for bit, except floats of kernels with operations whose precision OpenCL leaves to the device:
//! these agree within twice the error that is allowed to one of them, or within a small relative error where the kernel
//! computes with such results.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_ir::kernel::precision::Precision;
use kassay_ir::llvm::Context;
use kassay_ir::lower::native::emit::{Effort, emit};
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_run::exec::simulator::observation::{FaultKind, SimulationOptions};
use kassay_run::exec::{Executor, NativeCode, OpenClExecutor, Simulator, Target};
use kassay_suite::compare::{self, Tolerance};

use crate::common::TestResult;
use crate::common::devices::{completed, once, opencl};
use crate::common::kernels::open_suite;
use crate::common::outputs::{distance, expected};
use crate::common::testdata::suites;

/// Suites whose barriers diverge, which devices may not notice.
const DIVERGENT: [&str; 1] = ["divergent_exit"];

/// The error that errors of single operations may grow to.
const ACCUMULATED: Tolerance = Tolerance { abs: 1e-5, rel: 1e-5 };

fn native_code(under_test: &KernelUnderTest<'_>, races: bool, effort: Effort) -> TestResult<Arc<NativeCode>> {
    let (module, table) = under_test.hooked(under_test.module.clone(), false, races)?;
    let object = emit(&module, &under_test.entry, effort)?;
    Ok(Arc::new(NativeCode { object, entry: under_test.entry.clone(), table }))
}

/// Returns what is wrong with a suite.
fn check(path: &Path, device: &mut OpenClExecutor, simulator: &mut Simulator) -> TestResult<(Vec<String>, usize)> {
    let context = Context::create();
    let mut opened = open_suite(&context, path)?;
    opened.prepare_for(device.device());
    let (under_test, tests) = (opened.kernel.under_test, opened.tests);
    let bound = Precision::of(&under_test.canonical_text()).bound();
    let plain = device.load(&under_test.plain(Target::SpirV)?)?;
    let programs = [(false, Effort::Full), (true, Effort::Full), (false, Effort::Quick)];
    let mut loaded = Vec::new();
    for (races, effort) in programs {
        loaded.push((races, simulator.load_native(&native_code(&under_test, races, effort)?)?));
    }
    let (mut wrong, mut compared, mut diverged) = (Vec::new(), 0, 0);
    for test in &tests {
        let reference = completed(device.run(plain, &test.launch, &once())?)?;
        for (races, program) in &loaded {
            let options = SimulationOptions { races: *races, ..SimulationOptions::default() };
            let start = Instant::now();
            let seen = simulator.simulate(*program, &test.launch, &options, Duration::from_secs(60), &[])?;
            let took = start.elapsed();
            if took > Duration::from_secs(2) {
                println!("{}: {}: {took:?} with races {races}", path.display(), test.name);
            }
            let mut complain = |what: String| wrong.push(format!("{}, races {races}: {what}", test.name));
            if DIVERGENT.iter().any(|d| path.iter().any(|part| part == *d)) {
                if seen.completed != seen.divergences.is_empty() || !seen.faults.is_empty() {
                    complain(format!("completed: {}, but {:?}", seen.completed, seen.divergences));
                }
                diverged += usize::from(!seen.completed);
                continue;
            }
            if !seen.completed || !seen.divergences.is_empty() {
                complain(format!("not completed: {:?}", seen.divergences));
            }
            for fault in seen.faults.iter().filter(|f| f.kind != FaultKind::Uninitialised) {
                complain(format!("{fault:?}"));
            }
            if seen.observation.printf != reference.printf && test.launch.range.items() == 1 {
                complain(format!("printed {:?}, not {:?}", seen.observation.printf, reference.printf));
            }
            let mut unexpected = Vec::new();
            expected(test, &seen.observation, "simulated", &mut unexpected);
            unexpected.into_iter().for_each(&mut complain);
            for output in &test.outputs {
                let of = |outputs: &[(u32, Vec<u8>)]| {
                    outputs.iter().find(|(p, _)| *p == output.position).map(|(_, bytes)| bytes.clone())
                };
                let (a, b) = (of(&reference.outputs), of(&seen.observation.outputs));
                let (Some(a), Some(b)) = (a, b) else {
                    complain(format!("{} is not there", output.label));
                    continue;
                };
                compared += 1;
                let grown = || bound > 0 && compare::compare(&a, &b, Some(&output.ty), ACCUMULATED).passed();
                if let Err(how) = distance(&output.ty, &a, &b, bound)
                    && !grown()
                {
                    complain(format!("{}{how}", output.label));
                }
            }
        }
    }
    if diverged == 0 && DIVERGENT.iter().any(|d| path.iter().any(|part| part == *d)) {
        wrong.push("no divergence was seen".to_owned());
    }
    device.unload(plain);
    loaded.iter().for_each(|(_, program)| simulator.unload(*program));
    Ok((wrong, compared))
}

#[test]
fn suites_give_what_they_give_on_a_device() -> TestResult {
    let mut device = opencl()?;
    let mut simulator = Simulator::new(2)?;
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for path in suites() {
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&path).display().to_string();
        match check(&path, &mut device, &mut simulator) {
            Ok((found, outputs)) => {
                wrong.extend(found.iter().map(|w| format!("{name}: {w}")));
                compared += outputs;
            }
            Err(e) => wrong.push(format!("{name}: {e}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 300, "{compared}");
    Ok(())
}
