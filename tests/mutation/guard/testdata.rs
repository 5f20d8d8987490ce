//! Checks that guards do not change what a correct kernel computes: on every test of `testdata`, guarded and original
//! code give the same outputs bit for bit, and no guard reports a fault. Only floats of kernels whose precision OpenCL
//! leaves to the device may differ, within that precision.

use std::path::{Path, PathBuf};

use kassay_ir::kernel::precision::Precision;
use kassay_ir::llvm::Context;
use kassay_run::exec::{Executor, OpenClExecutor, ProgramId, RunOptions, Target};
use kassay_suite::compare::{self, Tolerance};
use kassay_suite::resolve::Test;

use super::support::*;
use crate::common::kernels::{Opened, OpenedSuite, open_suite};
use crate::common::testdata::{entries, files_below, name, repository, testdata};

/// A suite's kernel, plain and guarded.
struct Bench {
    name: String,
    tests: Vec<Test>,
    plain: ProgramId,
    guarded: Guarded,
    program: ProgramId,
    precision: Precision,
    has_loops: bool,
}

impl Bench {
    fn load(path: &Path, executor: &mut OpenClExecutor) -> TestResult<Bench> {
        let context = Context::create();
        let mut opened = open_suite(&context, path)?;
        opened.choose_local(executor.device());
        let OpenedSuite { kernel: Opened { under_test, .. }, tests, .. } = opened;
        let plain = executor.load(&under_test.plain(Target::SpirV)?)?;
        let guarded = guarded(&under_test)?;
        let program = executor.load(&guarded.code)?;
        let precision = Precision::of(&under_test.canonical_text());
        let has_loops = under_test.sites.functions.iter().any(|f| f.loops.iter().any(|l| !l.back_edges.is_empty()));
        Ok(Bench { name: under_test.entry, tests, plain, guarded, program, precision, has_loops })
    }
}

/// Returns the suites below `testdata`, except those of kernels with deliberate faults: the simulator accepts them,
/// devices need not. Nor those with a kernel for each set of values of specialisation constants, and the one whose
/// kernel reads in front of its pointer into shared virtual memory, where guards know no bounds; and that in which it
/// is left to the device whether a work-item sees a message. Nor products of matrices: Intel's compiler for CPUs loses
/// shuffles between loops that may end early, of which `mutate` says that no test tells anything.
fn suites() -> Vec<PathBuf> {
    let mut found = files_below(&testdata(""), "toml");
    found.retain(|file| name(file).contains("suite") && !file.starts_with(testdata("check")));
    found.retain(|file| !file.starts_with(testdata("gpu_faults")));
    found.retain(|file| !file.starts_with(testdata("spirv/spec_variants")));
    found.retain(|file| *file != testdata("aliases/suite-svm.toml"));
    found.retain(|file| !file.starts_with(testdata("faults/message")));
    found.retain(|file| !file.starts_with(testdata("cuda_tensors")));
    found
}

#[test]
fn guarded_kernels_compute_what_the_originals_do() -> TestResult {
    let mut executor = executor()?;
    let (mut wrong, mut compared) = (Vec::new(), 0);
    let suites = suites();
    for path in &suites {
        let bench = match Bench::load(path, &mut executor) {
            Ok(bench) => bench,
            Err(e) => {
                wrong.push(format!("{}: {e}", path.display()));
                continue;
            }
        };
        let mut most = 0;
        for test in &bench.tests {
            let at = format!("{}: {}", bench.name, test.name);
            let plain = executor.run(bench.plain, &test.launch, &once())?.map_err(|f| format!("{at}: {f:?}"))?;
            let seen = match bench.guarded.run(&mut executor, bench.program, &test.launch, FUEL, &once())? {
                Ok(seen) => seen,
                Err(fault) => {
                    wrong.push(format!("{at}: {fault:?}"));
                    continue;
                }
            };
            if seen.fault.is_some() {
                wrong.push(format!("{at}: item {}: {}", seen.item, seen.says));
            }
            most = most.max(seen.used);
            for ((position, a), (_, b)) in plain.outputs.iter().zip(&seen.observation.outputs) {
                compared += 1;
                let bound = bench.precision.bound();
                let ty = test.outputs.iter().find(|o| o.position == *position).map(|o| &o.ty);
                // Zero where OpenCL leaves nothing to the device.
                let tolerance = Tolerance { abs: 0.0, rel: bound as f64 * f64::from(f32::EPSILON) };
                if a != b && (bound == 0 || !compare::compare(a, b, ty, tolerance).passed()) {
                    let places = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).take(8);
                    let places: Vec<String> = places.map(|(i, (a, b))| format!("byte {i}: {a:#x}, {b:#x}")).collect();
                    let places = places.join("; ");
                    wrong.push(format!("{at}: argument {position} differs (precision bound: {bound} ULP): {places}"));
                }
            }
        }
        println!("{:24} most iterations of a work-item {most}", bench.name);
        if most == FUEL || (most == 0 && bench.has_loops) {
            wrong.push(format!("{}: {most} iterations", bench.name));
        }
        executor.unload(bench.plain);
        executor.unload(bench.program);
    }
    assert!(suites.len() >= 40 && compared >= 150, "{} {compared}", suites.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
#[ignore = "measures; takes minutes"]
fn what_guards_cost() -> TestResult {
    let wanted = std::env::var("KASSAY_GUARD_SUITES").unwrap_or_default();
    let mut executor = executor()?;
    for path in entries(&repository("benches/overhead")) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.split(',').any(|w| name.contains(w)) {
            continue;
        }
        let bench = Bench::load(&path, &mut executor).map_err(|e| format!("{name}: {e}"))?;
        let launch = &bench.tests[0].launch;
        let options = RunOptions { repeats: 3, outputs: true, ..once() };
        let (mut plain, mut guarded) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..3 {
            let seen = executor.run(bench.plain, launch, &options)?.map_err(|f| format!("{f:?}"))?;
            plain = seen.kernel_times.iter().map(|t| t.as_secs_f64() * 1e3).fold(plain, f64::min);
            let seen = bench.guarded.run(&mut executor, bench.program, launch, FUEL, &options)?;
            let seen = seen.map_err(|f| format!("{f:?}"))?;
            guarded = seen.observation.kernel_times.iter().map(|t| t.as_secs_f64() * 1e3).fold(guarded, f64::min);
            assert_eq!(seen.fault, None, "{name}: {}", seen.says);
        }
        println!("{name:20} {plain:8.2} ms {guarded:8.2} ms {:6.2}", guarded / plain);
        executor.unload(bench.plain);
        executor.unload(bench.program);
    }
    Ok(())
}
