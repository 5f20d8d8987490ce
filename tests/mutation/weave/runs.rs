//! Runs mutants on the device.

use std::sync::Arc;

use kassay_ir::instrument::mutants::infection::{self, MutantObservation};
use kassay_ir::instrument::mutants::{Edit, Form, schemata, single};
use kassay_ir::llvm::{Context, Inst, Opcode, Value};
use kassay_model::options::KernelOptions;
use kassay_run::exec::Executor;
use kassay_suite::launch::{ArgValue, Launch};

use super::edits;
use super::support::{Kernel, brief, options, run_mutant, start};
use crate::common::launches::line;
use crate::common::testdata::repository;

/// Returns whether an instruction is neither a barrier nor a mask that keeps indices within their buffers.
fn harmless(inst: Inst<'_>) -> bool {
    let mask = |v: Value<'_>| matches!(v.as_u64(), Some(15 | 63));
    let barrier = inst.callee().is_some_and(|c| c.contains("barrier"));
    !(barrier || inst.opcode() == Opcode::LLVMAnd && inst.operands().into_iter().any(mask))
}

fn launch() -> Launch {
    let ints =
        |f: &dyn Fn(i32) -> i32, n: i32| ArgValue::Buffer(Arc::new((0..n).flat_map(|i| f(i).to_le_bytes()).collect()));
    let floats =
        |f: &dyn Fn(i32) -> f32| ArgValue::Buffer(Arc::new((0..64).flat_map(|i| f(i).to_le_bytes()).collect()));
    Launch::new(
        line(64, 16),
        vec![
            ints(&|i| (i * 37 + 11) % 23 - 6, 64),
            ints(&|i| i * 5 % 19, 64),
            floats(&|i| (i % 7) as f32 * 0.25),
            ints(&|i| i % 9, 256),
            ints(&|_| 0, 64),
            floats(&|_| 0.0),
            ints(&|_| 0, 256),
            ints(&|_| 0, 128),
            ints(&|_| 0, 64),
        ],
    )
}

fn values(context: &Context) -> Kernel<'_> {
    let file = repository("tests/mutation/weave/kernels/values.cl");
    Kernel::read(context, &file, &KernelOptions::default(), None)
}

#[test]
fn a_mutant_of_a_schema_does_what_it_does_alone() {
    let context = Context::create();
    let kernel = values(&context);
    let (mut executor, launch) = (start(), launch());
    // A mutant that never ends takes its worker down: the schemata are loaded in another one.
    let mut other = start();
    let all = edits::all(&kernel, &harmless);
    let plain = executor.load(&kernel.code(&kernel.module.clone())).unwrap();
    let expected = executor.run(plain, &launch, &options(None)).unwrap().unwrap().outputs;
    let (mut same, mut different, mut faults) = (0, 0, 0);
    let numbered: Vec<(u32, &Edit)> = (1..).zip(&all).collect();
    let programs: Vec<_> = numbered
        .chunks(150)
        .flat_map(|part| {
            [Form::Branch, Form::Select].map(|form| {
                let module = kernel.module.clone();
                schemata::weave_as(&module, &kernel.sites, part, false, form).unwrap();
                executor.load(&kernel.code(&module)).unwrap()
            })
        })
        .collect();
    for program in &programs {
        let none = run_mutant(&mut executor, *program, &launch, kernel.layout(), (0, 0)).unwrap();
        assert!(none.outputs == expected, "no mutant");
    }
    for (number, edit) in numbered.iter().step_by(3) {
        let module = kernel.module.clone();
        single::apply(&module, &kernel.sites, edit).unwrap();
        let alone = other.load(&kernel.quick_code(&module)).unwrap();
        let Ok(alone_seen) = other.run(alone, &launch, &brief()).unwrap() else {
            faults += 1;
            continue;
        };
        other.unload(alone);
        for form in 0..2 {
            let program = programs[(*number as usize - 1) / 150 * 2 + form];
            let seen = run_mutant(&mut executor, program, &launch, kernel.layout(), (*number, 0));
            let seen = seen.unwrap_or_else(|| panic!("mutant {number} faults: {edit:?}"));
            assert!(seen.outputs == alone_seen.outputs, "mutant {number}: {edit:?}");
        }
        if alone_seen.outputs == expected { same += 1 } else { different += 1 }
    }
    println!("{} edits: {different} differ from the original, {same} do not, {faults} fault", all.len());
    assert!(different > 150 && faults < 20);
}

#[test]
fn both_mutants_of_a_pair_are_active() {
    let context = Context::create();
    let kernel = values(&context);
    let (mut executor, mut other, launch) = (start(), start(), launch());
    let all = edits::all(&kernel, &|inst| {
        harmless(inst) && !matches!(inst.opcode(), Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMICmp)
    });
    let some: Vec<&Edit> = all.iter().step_by(11).collect();
    let numbered: Vec<(u32, &Edit)> = (1..).zip(some.iter().copied()).collect();
    let module = kernel.module.clone();
    schemata::weave(&module, &kernel.sites, &numbered, true).unwrap();
    let program = executor.load(&kernel.code(&module)).unwrap();
    let mut compared = 0;
    for (a, b) in (0..some.len()).zip((0..some.len()).skip(5)).step_by(2) {
        let module = kernel.module.clone();
        single::apply_all(&module, &kernel.sites, &[some[a], some[b]]).unwrap();
        let both = other.load(&kernel.code(&module)).unwrap();
        let Ok(expected) = other.run(both, &launch, &brief()).unwrap() else { continue };
        other.unload(both);
        for (first, second) in [(a, b), (b, a)] {
            let numbers = (first as u32 + 1, second as u32 + 1);
            let seen = run_mutant(&mut executor, program, &launch, kernel.layout(), numbers).unwrap();
            assert!(seen.outputs == expected.outputs, "{:?} and {:?}", some[a], some[b]);
        }
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn uninfected_mutants_change_no_output() {
    let context = Context::create();
    let kernel = values(&context);
    let (mut executor, launch) = (start(), launch());
    let all = edits::all(&kernel, &harmless);
    let numbered: Vec<(u32, &Edit)> = (1..).zip(&all).collect();
    let plain = executor.load(&kernel.code(&kernel.module.clone())).unwrap();
    let expected = executor.run(plain, &launch, &options(None)).unwrap().unwrap().outputs;
    let mut seen = Vec::new();
    for part in numbered.chunks(300) {
        let module = kernel.module.clone();
        let mutants: Vec<(u32, &Edit, bool)> = part.iter().map(|(n, e)| (*n, *e, false)).collect();
        let layout = infection::weave(&module, &kernel.sites, &mutants).unwrap();
        let program = executor.load(&kernel.code(&module)).unwrap();
        let run = executor.run(program, &launch, &options(Some(layout.words()))).unwrap().unwrap();
        assert!(run.outputs == expected, "probes");
        seen.extend(layout.read(&run.probe));
    }
    let module = kernel.module.clone();
    let silent: Vec<&(u32, &Edit)> =
        numbered.iter().zip(&seen).filter(|(_, seen)| !seen.infected).map(|(m, _)| m).collect();
    let woven: Vec<(u32, &Edit)> = silent.iter().map(|m| **m).collect();
    schemata::weave(&module, &kernel.sites, &woven, false).unwrap();
    let program = executor.load(&kernel.code(&module)).unwrap();
    for (number, edit) in &woven {
        let run = run_mutant(&mut executor, program, &launch, kernel.layout(), (*number, 0)).unwrap();
        assert!(run.outputs == expected, "{edit:?}");
    }
    let infected = seen.iter().filter(|s| s.infected).count();
    assert!(seen.iter().all(|s| s.reached || !s.infected));
    assert!(woven.len() > 20 && infected > all.len() / 2, "{} silent, {infected} infected", woven.len());
    assert!(seen.contains(&MutantObservation { reached: true, infected: false }));
}
