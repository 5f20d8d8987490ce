//! Checks that kernels whose ids are virtual compute what the originals do: as one run, with their work-groups in
//! another order, and as several runs in one launch.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_ir::instrument::ids;
use kassay_ir::instrument::layout::{GuardLayout, SLOT_WORDS, argument, header, slot};
use kassay_ir::instrument::mutants::schemata;
use kassay_ir::llvm::Context;
use kassay_ir::lower::spirv;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_model::code::Effort;
use kassay_model::interface::{Scalar, Type};
use kassay_model::options::KernelOptions;
use kassay_run::exec::{
    Batch, Code, Executor, OpenClExecutor, ProgramId, Reference, RunOptions, Sweep, SweepOutcome, Target, Variation,
    VariationOutcome,
};
use kassay_suite::compare::Tolerance;
use kassay_suite::launch::{ArgValue, Launch, NdRange};

use crate::common::TestResult;
use crate::common::devices::opencl;
use crate::common::kernels::{cl_std, open, open_suite, source_file};
use crate::common::launches::line;
use crate::common::testdata::main_suites;

/// A kernel without and with virtual ids.
struct Kernel {
    original: Code,
    batched: Code,
    layout: GuardLayout,
    inexact: bool,
}

fn build(under_test: &KernelUnderTest<'_>) -> TestResult<Kernel> {
    let KernelUnderTest { entry, machine, interface, sites, .. } = under_test;
    let layout = GuardLayout { args: u32::try_from(interface.args.len())? };
    let mut woven = under_test.module.clone();
    schemata::weave(&woven, sites, &[], false)?;
    ids::batched(&mut woven, entry, layout, machine)?;
    let batched = spirv::lower(&mut woven, entry, Effort::Full)??;
    let inexact = under_test.precision().bound() > 0;
    Ok(Kernel { original: under_test.plain(Target::SpirV)?, batched, layout, inexact })
}

/// Returns the work-groups of one run; `None` if they are not all of one size.
fn groups(range: &NdRange) -> Option<[u64; 3]> {
    let local = range.local?;
    (0..3).all(|d| range.global[d].is_multiple_of(local[d])).then(|| [0, 1, 2].map(|d| range.global[d] / local[d]))
}

/// Returns the header and the slots of the probe buffer, and the strides of the arguments.
fn head(layout: GuardLayout, launch: &Launch, slots: u32, map: Option<&[u32]>) -> TestResult<(Vec<u32>, Vec<u64>)> {
    let groups = groups(&launch.range).ok_or("uneven groups")?;
    let mut words = vec![0; layout.slot(slots) as usize];
    words[header::SLOTS as usize] = slots;
    for (d, groups) in groups.into_iter().enumerate() {
        words[header::GROUPS as usize + d] = u32::try_from(groups)?;
    }
    let mut strides = vec![0; launch.args.len()];
    for position in 0..launch.args.len() as u32 {
        let Some(ArgValue::Buffer(bytes)) = launch.value(position) else { continue };
        let stride = (bytes.len() as u64 + 1).next_multiple_of(128);
        strides[position as usize] = stride;
        words[(layout.argument(position) + argument::STRIDE) as usize] = stride as u32;
    }
    if let Some(map) = map {
        words[header::MAPPED as usize] = 1;
        words[header::MAP as usize] = layout.slot(slots);
        words.extend(map);
    }
    Ok((words, strides))
}

/// Runs one launch with `slots` slots; each variation's outputs are compared with `references`.
pub fn batch(
    executor: &mut OpenClExecutor,
    program: ProgramId,
    layout: GuardLayout,
    launch: &Launch,
    references: &[Reference],
    (slots, variations): (u32, u32),
    map: Option<&[u32]>,
) -> TestResult<SweepOutcome> {
    let (probe, strides) = head(layout, launch, slots, map)?;
    let variations: Vec<Variation> = (0..variations).map(|n| Variation { words: vec![(slot::MUTANT, n)] }).collect();
    let batch = Batch {
        slots,
        first_word: layout.slot(0),
        slot_words: SLOT_WORDS,
        dimension: launch.range.dims as usize - 1,
        strides,
    };
    Ok(executor.sweep(
        program,
        &Sweep {
            launch,
            probe: &probe,
            probe_words: probe.len() as u64,
            variations: &variations,
            references,
            repeats: 1,
            timeout: Duration::from_secs(20),
            words: 0..1,
            decisive: None,
            batch: Some(batch),
        },
    )?)
}

/// Describes what is wrong with an outcome in which every variation should agree.
pub fn wrong(outcome: &SweepOutcome) -> Option<String> {
    outcome.runs.iter().enumerate().find_map(|(n, run)| match run {
        VariationOutcome::Ran(runs) => {
            let run = runs.first()?;
            let words = (run.words != [n as u32]).then(|| format!("words {:?}", run.words));
            run.difference.clone().or(words).map(|what| format!("slot of variation {n}: {what}"))
        }
        VariationOutcome::Fault(fault) => Some(format!("variation {n}: {fault:?}")),
    })
}

/// Returns a permutation that follows from the number of elements.
fn shuffled(n: u64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..n as u32).collect();
    let mut state = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for i in (1..all.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.swap(i, (state >> 33) as usize % (i + 1));
    }
    all
}

/// Runs a launch in each batched form and describes the differences from the original.
fn check(
    executor: &mut OpenClExecutor,
    programs: (ProgramId, ProgramId),
    kernel: &Kernel,
    launch: &Launch,
    types: &dyn Fn(u32) -> Option<Type>,
) -> TestResult<Vec<String>> {
    let once = RunOptions { timeout: Duration::from_secs(60), repeats: 1, probe_words: None, outputs: true };
    let plain = executor.run(programs.0, launch, &once)?.map_err(|f| format!("{f:?}"))?;
    let tolerance = if kernel.inexact { Tolerance { abs: 1e-6, rel: 1e-4 } } else { Tolerance::default() };
    let references: Vec<Reference> = plain
        .outputs
        .into_iter()
        .map(|(position, bytes)| Reference {
            position,
            label: format!("argument {position}"),
            bytes: Arc::new(bytes),
            ty: types(position),
            tolerance,
        })
        .collect();
    let count = groups(&launch.range).map_or(0, |g| g.iter().product());
    let mut found = Vec::new();
    for (how, sizes, map) in [
        ("one run", (1, 1), None),
        ("mapped", (1, 1), Some(shuffled(count))),
        ("three slots", (3, 5), None),
        ("three slots, mapped", (3, 3), Some(shuffled(count))),
    ] {
        let done = batch(executor, programs.1, kernel.layout, launch, &references, sizes, map.as_deref())?;
        found.extend(wrong(&done).map(|what| format!("{how}: {what}")));
    }
    Ok(found)
}

#[test]
fn kernels_with_virtual_ids_compute_what_the_originals_do() -> TestResult {
    let mut executor = opencl()?;
    let (mut found, mut checked) = (Vec::new(), [0; 4]);
    for path in main_suites() {
        let name = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let context = Context::create();
        let mut opened = open_suite(&context, &path)?;
        opened.prepare_for(executor.device());
        let kernel = build(&opened.kernel.under_test).map_err(|e| format!("{name}: {e}"))?;
        let programs = (executor.load(&kernel.original)?, executor.load(&kernel.batched)?);
        for test in &opened.tests {
            let writes_images =
                test.outputs.iter().any(|o| matches!(test.launch.args[o.position as usize], ArgValue::Image { .. }));
            let cannot_batch = writes_images || !test.launch.has_whole_buffers();
            if groups(&test.launch.range).is_none() || cannot_batch || test.launch.range.items() == 0 {
                continue;
            }
            checked[test.launch.range.dims as usize] += 1;
            let types = |p: u32| test.outputs.iter().find(|o| o.position == p).map(|o| o.ty.clone());
            let wrong = check(&mut executor, programs, &kernel, &test.launch, &types)
                .map_err(|e| format!("{name}: {}: {e}", test.name))?;
            found.extend(wrong.into_iter().map(|w| format!("{name}: {}: {w}", test.name)));
        }
        executor.unload(programs.0);
        executor.unload(programs.1);
    }
    println!("{checked:?} tests by dimensions");
    assert!(checked[1] > 50 && checked[2] > 5 && checked[3] > 0, "{checked:?}");
    assert!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

/// Stores every id that a work-item can ask for, at its place in the launch; `turn` makes a dimension that is
/// not constant.
const ALL_IDS: &str =
    "__attribute__((noinline)) ulong helper(uint d) { return get_global_id(d) * 100 + get_group_id(d); }
kernel void k(global ulong *out, uint turn) {
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
           z = get_global_id(2) - get_global_offset(2);
    size_t item = (z * get_global_size(1) + y) * get_global_size(0) + x;
    global ulong *to = out + item * 52;
    for (uint d = 0; d < 4; d++) {
        uint e = (d + turn) & 3;
        to[0] = get_global_id(e); to[1] = get_global_size(e); to[2] = get_group_id(e); to[3] = get_num_groups(e);
        to[4] = get_local_id(e); to[5] = get_local_size(e); to[6] = get_global_offset(e); to[7] = helper(e);
        to += 8;
    }
    to[0] = get_global_id(0); to[1] = get_global_id(1); to[2] = get_global_id(2); to[3] = get_global_id(3);
    to[4] = get_global_size(0); to[5] = get_global_size(2); to[6] = get_global_size(3); to[7] = get_group_id(3);
    to[8] = get_num_groups(1); to[9] = get_num_groups(2); to[10] = get_num_groups(3); to[11] = get_work_dim();
    to[12] = get_group_id(0); to[13] = get_group_id(1); to[14] = get_group_id(2); to[15] = get_local_id(0);
    to[16] = get_global_offset(0); to[17] = get_global_offset(1); to[18] = get_local_size(1); to[19] = item;
}";

const LINEAR_IDS: &str = "kernel void k(global ulong *out) {
    global ulong *to = out + get_global_linear_id() * 3;
    to[0] = get_global_linear_id() + 1; to[1] = get_local_linear_id(); to[2] = get_enqueued_local_size(0) + get_global_id(1);
}";

#[test]
fn every_run_of_a_batch_sees_its_own_ids() -> TestResult {
    let mut executor = opencl()?;
    for (source, standard, words) in [(ALL_IDS, "CL1.2", 52), (LINEAR_IDS, "CL2.0", 3)] {
        let (_folder, file) = source_file(source);
        let context = Context::create();
        let kernel = build(&open(&context, &file, Some("k"), &cl_std(standard))?.under_test)?;
        let programs = (executor.load(&kernel.original)?, executor.load(&kernel.batched)?);
        for (dims, global, local, offset) in [
            (1, [12, 1, 1], [3, 1, 1], [0, 0, 0]),
            (1, [12, 1, 1], [4, 1, 1], [7, 0, 0]),
            (2, [6, 4, 1], [3, 2, 1], [0, 0, 0]),
            (2, [6, 4, 1], [2, 4, 1], [5, 9, 0]),
            (3, [4, 6, 6], [2, 3, 2], [0, 0, 0]),
            (3, [4, 2, 6], [2, 1, 3], [1, 2, 3]),
        ] {
            let range = NdRange { dims, global, local: Some(local), offset };
            let room = vec![0; range.items() as usize * words * 8];
            let mut args = vec![ArgValue::Buffer(Arc::new(room))];
            args.extend((words == 52).then(|| ArgValue::Value(1_u32.to_le_bytes().to_vec())));
            let launch = Launch::new(range, args);
            let types = |_| Some(Type::Scalar(Scalar::U64));
            let found = check(&mut executor, programs, &kernel, &launch, &types)?;
            assert!(found.is_empty(), "{standard} {global:?} {local:?} {offset:?}: {found:?}");
        }
    }
    Ok(())
}

/// Adds two vectors.
const ADD: &str = "kernel void k(global float *y, global const float *x, int n) {
    size_t i = get_global_id(0);
    if (i < n) y[i] = y[i] + x[i]; }";

#[test]
#[ignore = "prints how many runs a second there are"]
fn rates() -> TestResult {
    let (_folder, file) = source_file(ADD);
    let context = Context::create();
    let mut executor = opencl()?;
    let kernel = build(&open(&context, &file, Some("k"), &KernelOptions::default())?.under_test)?;
    let program = executor.load(&kernel.batched)?;
    for items in [64_usize, 1024, 16384] {
        let floats =
            |value: f32| Arc::new(vec![value; items].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        let n = ArgValue::Value((items as i32).to_le_bytes().to_vec());
        let launch =
            Launch::new(line(items as u64, 64), vec![ArgValue::Buffer(floats(1.0)), ArgValue::Buffer(floats(0.5)), n]);
        let reference = Reference {
            position: 0,
            label: "argument 0".to_owned(),
            bytes: floats(1.5),
            ty: Some(Type::Scalar(Scalar::F32)),
            tolerance: Tolerance::default(),
        };
        for slots in [1, 16, 64, 256] {
            let count = 1_000_000 / items.max(64) as u32 + 4000;
            let start = Instant::now();
            let references = std::slice::from_ref(&reference);
            let done = batch(&mut executor, program, kernel.layout, &launch, references, (slots, count), None)?;
            let rate = f64::from(count) / start.elapsed().as_secs_f64();
            assert_eq!(wrong(&done), None);
            println!("{items} items, {slots} slots: {rate:.0} runs a second, kernel {:?}", done.kernel_time);
        }
    }
    Ok(())
}
