//! Checks that coverage probes do not change what a kernel computes: on every test of `testdata`, original and
//! instrumented code give the same outputs on the OpenCL device, and those that the suite expects.
//!
//! The outputs are equal bit for bit, except floats of kernels that use operations whose precision OpenCL leaves to the
//! device (which then may differ between two programs): these agree within twice the error that is allowed to one of
//! them. The class is read from the kernel's canonical form; the table is printed (`--no-capture`). No output of
//! `testdata` depends on the order in which work-items run.

use std::collections::BTreeSet;
use std::path::Path;

use kassay_ir::instrument::layout::{CoverageLayout, Slots};
use kassay_ir::kernel::precision::Precision;
use kassay_ir::llvm::Context;
use kassay_model::interface::{Scalar, Type};
use kassay_run::exec::{Executor, Observation, OpenClExecutor, ProgramId, RunOptions, Target};
use kassay_suite::resolve::Test;
use kassay_suite::scalar_layout;

use crate::common::TestResult;
use crate::common::devices::{completed, once, opencl};
use crate::common::kernels::open_suite;
use crate::common::outputs::{distance, expected};
use crate::common::testdata::suites;

/// A suite's kernel on a device: plain, and with probes of both kinds.
struct Bench {
    entry: String,
    tests: Vec<Test>,
    precision: Precision,
    plain: ProgramId,
    woven: Vec<(Slots, ProgramId, CoverageLayout)>,
    /// Whether the kernel is one block of code, which needs no probe: running it covers it.
    is_straight: bool,
}

impl Bench {
    fn load(path: &Path, executor: &mut OpenClExecutor) -> TestResult<Bench> {
        let context = Context::create();
        let mut opened = open_suite(&context, path)?;
        opened.prepare_for(executor.device());
        let (under_test, tests) = (opened.kernel.under_test, opened.tests);
        let plain = executor.load(&under_test.plain(Target::SpirV)?)?;
        let mut woven = Vec::new();
        for slots in [Slots::Groups, Slots::Items] {
            let (code, plan) = under_test.instrumented(slots, Target::SpirV)?;
            woven.push((slots, executor.load(&code)?, plan.layout));
        }
        let is_straight = under_test.sites.functions.iter().all(|f| f.cfg.blocks.len() == 1);
        let precision = Precision::of(&under_test.canonical_text());
        Ok(Bench { entry: under_test.entry, tests, precision, plain, woven, is_straight })
    }

    /// Returns what is wrong with one test, and the largest distance found.
    fn check(&self, executor: &mut OpenClExecutor, test: &Test) -> TestResult<(Vec<String>, u64)> {
        let (mut wrong, mut largest) = (Vec::new(), 0);
        let plain = completed(executor.run(self.plain, &test.launch, &once())?)?;
        expected(test, &plain, "original", &mut wrong);
        let range = &test.launch.range;
        let local = range.local.ok_or("no local size")?;
        let groups = (0..3).map(|d| range.global[d] / local[d]).product();
        for (slots, program, layout) in &self.woven {
            let words = layout.buffer_words(groups, range.items());
            let seen = completed(executor.run(*program, &test.launch, &probed(words))?)?;
            if !self.is_straight && seen.probe.iter().all(|w| *w == 0) {
                wrong.push(format!("{slots:?}: the probes saw nothing"));
            }
            expected(test, &seen, "instrumented", &mut wrong);
            for output in &test.outputs {
                let of = |o: &Observation| {
                    o.outputs.iter().find(|(p, _)| *p == output.position).map(|(_, bytes)| bytes.clone())
                };
                let (Some(a), Some(b)) = (of(&plain), of(&seen)) else { continue };
                match distance(&output.ty, &a, &b, self.precision.bound()) {
                    Ok(apart) => largest = largest.max(apart),
                    Err(how) => wrong.push(format!("{slots:?}: {}{how}", output.label)),
                }
            }
        }
        Ok((wrong, largest))
    }
}

fn probed(probe_words: Option<u64>) -> RunOptions {
    RunOptions { probe_words, ..once() }
}

#[test]
fn instrumented_kernels_compute_what_the_originals_do() -> TestResult {
    let mut executor = opencl()?;
    let (mut wrong, mut compared, mut expectations) = (Vec::new(), 0, 0);
    let suites = suites();
    for path in &suites {
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path).display().to_string();
        let bench = Bench::load(path, &mut executor).map_err(|e| format!("{name}: {e}"))?;
        let mut largest = 0;
        for test in &bench.tests {
            let (found, apart) = bench.check(&mut executor, test).map_err(|e| format!("{name}: {}: {e}", test.name))?;
            wrong.extend(found.iter().map(|w| format!("{name}: {}: {w}", test.name)));
            largest = largest.max(apart);
            compared += test.outputs.len();
            expectations += test.expectations.len();
        }
        let class = match bench.precision.bound() {
            0 => "exact".to_owned(),
            bound => format!(
                "{bound} ULP ({})",
                Vec::from_iter(bench.precision.uses().iter().map(String::as_str)).join(", ")
            ),
        };
        let floats: BTreeSet<&str> =
            bench.tests.iter().flat_map(|t| &t.outputs).filter(|o| is_float(&o.ty)).map(|o| o.label.as_str()).collect();
        let floats = Vec::from_iter(floats).join(", ");
        println!("{:20} {class:40} seen {largest}  floats: {floats}", bench.entry);
        executor.unload(bench.plain);
        bench.woven.iter().for_each(|(_, program, _)| executor.unload(*program));
    }
    assert!(suites.len() >= 40 && compared >= 150 && expectations >= 50, "{} {compared} {expectations}", suites.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

fn is_float(ty: &Type) -> bool {
    scalar_layout::leaves(ty).iter().any(|l| l.scalar.is_float())
}

#[test]
fn distances_count_the_floats_between() {
    let ty = Type::Scalar(Scalar::F32);
    let apart = |a: f32, b: f32, bound| distance(&ty, &a.to_le_bytes(), &b.to_le_bytes(), bound);
    assert_eq!(apart(1.0, f32::from_bits(1.0f32.to_bits() + 3), 3), Ok(3));
    assert_eq!(apart(f32::from_bits(1), -f32::from_bits(1), 2), Ok(2));
    assert!(apart(1.0, f32::from_bits(1.0f32.to_bits() + 1), 0).is_err());
    assert!(apart(f32::NAN, 1.0, 9).is_err());
    let int = Type::Scalar(Scalar::I32);
    assert!(distance(&int, &[1, 0, 0, 0], &[2, 0, 0, 0], 9).is_err());
}
