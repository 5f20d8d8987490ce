//! Checks joint launches: runs of several launches in one launch of the device see their own ids, arguments and memory,
//! and what the device says of their outputs is what the host would say.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kassay_ir::instrument::layout::{GuardLayout, header, slot};
use kassay_ir::instrument::mutants::schemata;
use kassay_ir::instrument::{access, ids};
use kassay_ir::llvm::Context;
use kassay_ir::lower::spirv;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_model::code::Effort;
use kassay_model::interface::{Arg, ArgKind, Field, Scalar, Struct, Type};
use kassay_model::joint::Values;
use kassay_model::options::KernelOptions;
use kassay_run::exec::joint::{cannot_join, complete};
use kassay_run::exec::{
    Code, Executor, Fault, JointLaunch, JointOutcome, JointResult, JointRun, JointSweep, OpenClExecutor, ProgramId,
    Reference, RunOptions, Target, difference,
};
use kassay_suite::compare::Tolerance;
use kassay_suite::launch::{ArgValue, Launch, NdRange};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::common::TestResult;
use crate::common::devices::opencl;
use crate::common::kernels::{cl_std, open, open_suite, source_file};
use crate::common::launches::line;
use crate::common::testdata::main_suites;

/// A kernel as it is, and woven for joint launches.
struct Kernel {
    original: Code,
    joint: Code,
    values: Values,
    written: Vec<bool>,
    layout: GuardLayout,
    inexact: bool,
}

/// `None` if the kernel takes what joint launches cannot give it.
fn build(under_test: &KernelUnderTest<'_>) -> TestResult<Option<Kernel>> {
    let KernelUnderTest { entry, machine, interface, sites, .. } = under_test;
    let can = |arg: &Arg| matches!(arg.kind, ArgKind::Value(_) | ArgKind::Buffer { .. } | ArgKind::Local { .. });
    if !interface.args.iter().all(can) || !ids::can_batch(&under_test.module) {
        return Ok(None);
    }
    let layout = GuardLayout { args: u32::try_from(interface.args.len())? };
    let size = |arg: &Arg| if let ArgKind::Value(ty) = &arg.kind { Some(ty.size()) } else { None };
    let values = Values::new(&interface.args.iter().map(size).collect::<Vec<_>>());
    let mut woven = under_test.module.clone();
    schemata::weave(&woven, sites, &[], false)?;
    ids::joint(&mut woven, entry, &values, machine)?;
    let written = access::written(&woven, entry, machine)?;
    let joint = spirv::lower(&mut woven, entry, Effort::Full)??;
    let inexact = under_test.precision().bound() > 0;
    Ok(Some(Kernel { original: under_test.plain(Target::SpirV)?, joint, values, written, layout, inexact }))
}

/// What the original leaves of a launch.
fn references(
    executor: &mut OpenClExecutor,
    program: ProgramId,
    kernel: &Kernel,
    launch: &Launch,
    types: &dyn Fn(u32) -> Option<Type>,
) -> TestResult<Vec<Reference>> {
    let once = RunOptions { timeout: Duration::from_secs(60), repeats: 1, probe_words: None, outputs: true };
    let plain = executor.run(program, launch, &once)?.map_err(|f| format!("{f:?}"))?;
    let tolerance = if kernel.inexact { Tolerance { abs: 1e-6, rel: 1e-4 } } else { Tolerance::default() };
    let reference = |(position, bytes)| Reference {
        position,
        label: format!("argument {position}"),
        bytes: Arc::new(bytes),
        ty: types(position),
        tolerance,
    };
    Ok(plain.outputs.into_iter().filter(|(p, _)| launch.owner(*p) == *p).map(reference).collect())
}

/// Runs every launch `runs` times in launches of the device with at most `most` runs each.
fn sweep<'l>(
    executor: &mut OpenClExecutor,
    program: ProgramId,
    kernel: &Kernel,
    launches: &[(&'l Launch, &'l [Reference])],
    (runs, most): (u32, u32),
) -> TestResult<JointOutcome> {
    let of = launches.iter();
    let joint = |(launch, references): &(&'l Launch, &'l [Reference])| {
        let mut block = Vec::new();
        complete(&mut block, &kernel.values, launch);
        JointLaunch { launch, block, references }
    };
    let of: Vec<JointLaunch<'_>> = of.map(joint).collect();
    let all: Vec<JointRun> =
        (0..of.len() as u32).flat_map(|launch| (0..runs).map(move |n| JointRun { launch, words: [n, 0] })).collect();
    Ok(executor.sweep_jointly(
        program,
        &JointSweep {
            values: &kernel.values,
            written: &kernel.written,
            launches: &of,
            runs: &all,
            repeats: 2,
            most_runs: most,
            outputs: true,
            timeout: Duration::from_secs(60),
        },
    )?)
}

/// Describes what is wrong where every run should agree.
fn wrong(outcome: &JointOutcome, launches: &[(&Launch, &[Reference])], runs: u32) -> Option<String> {
    let JointOutcome::Ran { results, .. } = outcome else { return Some(format!("{outcome:?}")) };
    let told = |(n, result): (usize, &JointResult)| {
        let (launch, references) = launches[n / runs as usize];
        let text = result.difference()?.text(references);
        Some(format!("run {n} of {:?}: {text}", launch.range))
    };
    results.iter().find_map(|repeat| {
        let missing = (repeat.len() != launches.len() * runs as usize).then(|| format!("{} results", repeat.len()));
        missing.or_else(|| repeat.iter().enumerate().find_map(told))
    })
}

/// An ordinary launch of the woven kernel.
fn ordinary(
    executor: &mut OpenClExecutor,
    program: ProgramId,
    kernel: &Kernel,
    launch: &Launch,
    references: &[Reference],
) -> TestResult<Option<String>> {
    let mut head = vec![0; kernel.layout.slot(1) as usize];
    head[header::SLOTS as usize] = 1;
    complete(&mut head, &kernel.values, launch);
    let options = RunOptions {
        timeout: Duration::from_secs(60),
        repeats: 1,
        probe_words: Some(head.len() as u64),
        outputs: true,
    };
    let left = executor.run_with_probe(program, launch, &options, &head)?.map_err(|f| format!("{f:?}"))?;
    let differs = |r: &Reference| {
        let (_, bytes) = left.outputs.iter().find(|(p, _)| *p == r.position)?;
        difference::first(&r.label, r.ty.as_ref(), r.tolerance, &r.bytes, bytes)
    };
    Ok(references.iter().find_map(differs))
}

#[test]
fn joint_runs_compute_what_the_originals_do() -> TestResult {
    let mut executor = opencl()?;
    let (mut found, mut checked, mut mixed, mut unwritten) = (Vec::new(), 0, 0, 0);
    for path in main_suites() {
        let name = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let context = Context::create();
        let mut opened = open_suite(&context, &path)?;
        opened.choose_local(executor.device());
        let Some(kernel) = build(&opened.kernel.under_test).map_err(|e| format!("{name}: {e}"))? else { continue };
        unwritten += kernel.written.iter().filter(|written| !**written).count();
        let programs = (executor.load(&kernel.original)?, executor.load(&kernel.joint)?);
        let mut classes: BTreeMap<[u64; 3], Vec<(&Launch, Vec<Reference>)>> = BTreeMap::new();
        for test in &opened.tests {
            let Some(local) = test.launch.range.local else { continue };
            if test.launch.range.items() == 0 || test.launch.allows_faults {
                continue;
            }
            let types = |p: u32| test.outputs.iter().find(|o| o.position == p).map(|o| o.ty.clone());
            let expected = references(&mut executor, programs.0, &kernel, &test.launch, &types)?;
            let alone = ordinary(&mut executor, programs.1, &kernel, &test.launch, &expected)?;
            found.extend(alone.map(|what| format!("{name}: {}: alone: {what}", test.name)));
            if cannot_join(&test.launch, &expected).is_none() {
                checked += 1;
                classes.entry(local).or_default().push((&test.launch, expected));
            }
        }
        for class in classes.values() {
            let class: Vec<(&Launch, &[Reference])> = class.iter().map(|(l, r)| (*l, &r[..])).collect();
            mixed += usize::from(class.len() > 1);
            for (runs, most) in [(1, 64), (5, 64), (5, 3)] {
                let done = sweep(&mut executor, programs.1, &kernel, &class, (runs, most))?;
                found.extend(wrong(&done, &class, runs).map(|what| format!("{name}: {runs} runs, {most}: {what}")));
            }
        }
        executor.unload(programs.0);
        executor.unload(programs.1);
    }
    println!("{checked} tests, {mixed} mixed launches, {unwritten} arguments that are not written");
    assert!(checked > 80 && mixed > 20 && unwritten > 50, "{checked}, {mixed}, {unwritten}");
    assert!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

/// Stores what a work-item can ask for, and what the kernel was given, at its place in the launch.
const EVERYTHING: &str = "struct pair { char c; ulong n; };
kernel void k(global ulong *out, uchar b, float3 v, struct pair p, half_or_short h, local int *scratch, constant int *c, global int *null) {
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
           z = get_global_id(2) - get_global_offset(2);
    size_t item = (z * get_global_size(1) + y) * get_global_size(0) + x;
    global ulong *to = out + item * 40;
    size_t local_id = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
    scratch[local_id] = (int)item;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 0; d < 4; d++) {
        to[0] = get_global_id(d); to[1] = get_global_size(d); to[2] = get_group_id(d); to[3] = get_num_groups(d);
        to[4] = get_local_id(d); to[5] = get_local_size(d); to[6] = get_global_offset(d); to[7] = get_work_dim();
        to += 8;
    }
    to[0] = b; to[1] = (ulong)v.x; to[2] = (ulong)v.z; to[3] = p.c; to[4] = p.n; to[5] = h; to[6] = scratch[0] + c[1];
    to[7] = null == 0;
}";

#[test]
fn runs_of_launches_of_any_shape_get_what_is_theirs() -> TestResult {
    let mut executor = opencl()?;
    let (_folder, file) = source_file(EVERYTHING.replace("half_or_short", "short").as_str());
    let context = Context::create();
    let kernel = build(&open(&context, &file, Some("k"), &cl_std("CL1.2"))?.under_test)?.ok_or("cannot join")?;
    let programs = (executor.load(&kernel.original)?, executor.load(&kernel.joint)?);
    let mut launches = Vec::new();
    for (n, (dims, global, offset)) in [
        (1, [12, 1, 1], [0, 0, 0]),
        (1, [30, 1, 1], [7, 0, 0]),
        (2, [6, 4, 1], [5, 9, 0]),
        (3, [6, 4, 6], [1, 2, 3]),
        (3, [12, 2, 1], [0, 0, 40_000]),
    ]
    .into_iter()
    .enumerate()
    {
        for local in [[3, 1, 1], [6, 2, 1]] {
            let range = NdRange { dims, global, local: Some(local), offset };
            if !range.has_uniform_groups() || (dims == 1 && local[1] > 1) {
                continue;
            }
            let n = n as u8;
            let floats: Vec<u8> =
                [f32::from(n), 1.0, 7.0 + f32::from(n), 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
            let pair: Vec<u8> =
                [vec![n + 3, 0, 0, 0, 0, 0, 0, 0], (u64::MAX - u64::from(n)).to_le_bytes().to_vec()].concat();
            let constants: Vec<u8> = [5, 1000 + i32::from(n)].iter().flat_map(|c: &i32| c.to_le_bytes()).collect();
            let null = if n.is_multiple_of(2) { Vec::new() } else { vec![0; 4] };
            let args = vec![
                ArgValue::Buffer(Arc::new(vec![0; range.items() as usize * 40 * 8])),
                ArgValue::Value(vec![200 + n]),
                ArgValue::Value(floats),
                ArgValue::Value(pair),
                ArgValue::Value(i16::from(n).wrapping_neg().to_le_bytes().to_vec()),
                ArgValue::Local(48 + 16 * u64::from(n)),
                ArgValue::Buffer(Arc::new(constants)),
                ArgValue::Buffer(Arc::new(null)),
            ];
            launches.push(Launch::new(range, args));
        }
    }
    let types = |p: u32| (p == 0).then_some(Type::Scalar(Scalar::U64));
    let mut by_local: BTreeMap<_, Vec<(&Launch, Vec<Reference>)>> = BTreeMap::new();
    for launch in &launches {
        let expected = references(&mut executor, programs.0, &kernel, launch, &types)?;
        let expected: Vec<Reference> = expected.into_iter().filter(|r| r.position == 0).collect();
        assert_eq!(ordinary(&mut executor, programs.1, &kernel, launch, &expected)?, None, "{:?}", launch.range);
        by_local.entry(launch.range.local).or_default().push((launch, expected));
    }
    assert_eq!(by_local.values().map(Vec::len).collect::<Vec<_>>(), [5, 3]);
    for class in by_local.values() {
        let class: Vec<(&Launch, &[Reference])> = class.iter().map(|(l, r)| (*l, &r[..])).collect();
        for (runs, most) in [(1, 64), (4, 64), (7, 10)] {
            let done = sweep(&mut executor, programs.1, &kernel, &class, (runs, most))?;
            assert_eq!(wrong(&done, &class, runs), None, "{runs} runs, at most {most} at once");
        }
    }
    Ok(())
}

/// Copies bytes.
const COPY: &str = "kernel void k(global uchar *to, global const uchar *from) {
    size_t i = get_global_id(0);
    to[i] = from[i]; }";

fn record() -> Type {
    let field = |name: &str, offset, ty| Field { name: name.to_owned(), offset, ty };
    let fields = vec![
        field("x", 0, Type::Vector(Scalar::F32, 3)),
        field("n", 16, Type::Scalar(Scalar::I16)),
        field("h", 18, Type::Scalar(Scalar::F16)),
        field("d", 24, Type::Array(Box::new(Type::Scalar(Scalar::F64)), 2)),
    ];
    Type::Struct(Struct { name: "record".into(), size: 48, align: 16, fields, is_union: false })
}

/// Bytes in which floats are often special or close to one another.
fn contents(bytes: usize) -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        any::<u32>(),
        Just(0x7fc0_0001),
        Just(0x7f80_0000),
        Just(0x8000_0000),
        (0_u32..8).prop_map(|n| 0x3f80_0000 + n),
        (0_u32..8).prop_map(|n| 0x3ff0_0000 + n),
        Just(0x3c00_3c01),
    ];
    proptest::collection::vec(word, bytes / 4).prop_map(|words| words.iter().flat_map(|w| w.to_le_bytes()).collect())
}

#[test]
fn what_the_device_says_of_outputs_is_what_the_host_says() -> TestResult {
    let executor = std::cell::RefCell::new(opencl()?);
    let (_folder, file) = source_file(COPY);
    let context = Context::create();
    let kernel =
        build(&open(&context, &file, Some("k"), &KernelOptions::default())?.under_test)?.ok_or("cannot join")?;
    assert_eq!(kernel.written[..2], [true, false], "the kernel writes to its first argument only");
    let program = executor.borrow_mut().load(&kernel.joint)?;
    let types = [
        None,
        Some(Type::Scalar(Scalar::U8)),
        Some(Type::Scalar(Scalar::I16)),
        Some(Type::Scalar(Scalar::U64)),
        Some(Type::Scalar(Scalar::F16)),
        Some(Type::Scalar(Scalar::F32)),
        Some(Type::Scalar(Scalar::F64)),
        Some(Type::Vector(Scalar::F32, 4)),
        Some(Type::Vector(Scalar::F32, 3)),
        Some(Type::Array(Box::new(Type::Vector(Scalar::I32, 2)), 2)),
        Some(record()),
    ];
    const BYTES: usize = 48 * 20;
    // Few cases, because each goes through a driver; each has runs of many kinds.
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let changes = proptest::collection::vec((0..BYTES, any::<u8>()), 0..4);
    let one = (
        contents(BYTES),
        changes,
        prop_oneof![Just(0.0), Just(1e-6), Just(f64::INFINITY)],
        prop_oneof![Just(0.0), Just(1e-3)],
    );
    let strategy = proptest::collection::vec(one, types.len());
    let differing = std::cell::Cell::new(0);
    runner.run(&strategy, |cases| {
        let mut launches = Vec::new();
        let mut expected = Vec::new();
        for ((bytes, changes, abs, rel), ty) in cases.iter().zip(&types) {
            let mut changed = bytes.clone();
            changes.iter().for_each(|(at, byte)| changed[*at] ^= byte & if *abs > 0.0 { 3 } else { 255 });
            let args = vec![ArgValue::Buffer(Arc::new(vec![0; BYTES])), ArgValue::Buffer(Arc::new(changed))];
            launches.push(Launch::new(line(BYTES as u64, 32), args));
            let reference = Reference {
                position: 0,
                label: "`out`".into(),
                bytes: Arc::new(bytes.clone()),
                ty: ty.clone(),
                tolerance: Tolerance { abs: *abs, rel: *rel },
            };
            expected.push(vec![reference]);
        }
        let class: Vec<(&Launch, &[Reference])> = launches.iter().zip(&expected).map(|(l, r)| (l, &r[..])).collect();
        let done = sweep(&mut executor.borrow_mut(), program, &kernel, &class, (1, 64))
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        let JointOutcome::Ran { results, .. } = done else { return Err(TestCaseError::fail("the worker was lost")) };
        for ((result, launch), references) in results[0].iter().zip(&launches).zip(&expected) {
            let ArgValue::Buffer(actual) = &launch.args[1] else { continue };
            let r = &references[0];
            let host = difference::first(&r.label, r.ty.as_ref(), r.tolerance, &r.bytes, actual);
            let device = result.difference().map(|d| d.text(references));
            differing.set(differing.get() + usize::from(host.is_some()));
            prop_assert_eq!(device, host, "{:?}", r.ty);
        }
        Ok(())
    })?;
    assert!(differing.get() > 20, "only {} of the outputs differed", differing.get());
    Ok(())
}

/// Writes far outside, where its argument says.
const WILD: &str = "kernel void k(global int *to, ulong far) {
    *(global int *)((ulong)to + far) = 1; }";

#[test]
fn a_joint_sweep_that_kills_the_worker_is_lost_and_the_next_one_runs() -> TestResult {
    let mut executor = opencl()?;
    let (_folder, file) = source_file(WILD);
    let context = Context::create();
    let kernel =
        build(&open(&context, &file, Some("k"), &KernelOptions::default())?.under_test)?.ok_or("cannot join")?;
    let program = executor.load(&kernel.joint)?;
    let launch = |far: u64| {
        let args = vec![ArgValue::Buffer(Arc::new(vec![0; 4])), ArgValue::Value(far.to_le_bytes().to_vec())];
        Launch::new(line(1, 1), args)
    };
    let (wild, tame) = (launch(1 << 46), launch(0));
    let lost = sweep(&mut executor, program, &kernel, &[(&tame, &[]), (&wild, &[])], (1, 64))?;
    assert!(matches!(lost, JointOutcome::Lost(Fault::Crash { .. })), "{lost:?}");
    let ran = sweep(&mut executor, program, &kernel, &[(&tame, &[])], (3, 64))?;
    let JointOutcome::Ran { results, .. } = ran else { return Err(format!("{ran:?}").into()) };
    assert_eq!(results[0].len(), 3);
    assert!(results[0].iter().all(JointResult::agrees));
    assert_eq!(results[0][1].words()[slot::FAULT as usize - 2], 0);
    Ok(())
}
