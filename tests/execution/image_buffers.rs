//! Checks code whose images are buffers, as on NVIDIA GPUs, on an OpenCL device: suites with images give the outputs of
//! the simulator, and the coverage and the mutants' fates that they have with the device's own images. Such code takes
//! sub-buffers that begin anywhere, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kassay::result::cover::TestStatus;
use kassay_ir::instrument::ids;
use kassay_ir::instrument::layout::{FaultKind, GuardLayout, SLOT_WORDS, Slots, argument, header, slot};
use kassay_ir::instrument::mutants::{Edit, schemata};
use kassay_ir::llvm::Context;
use kassay_ir::lower::native::emit::{Effort as HostEffort, emit};
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::coverage::measure::{self, MeasureOptions, Programs};
use kassay_judge::coverage::summary;
use kassay_judge::mutation::build::module_builder::{Effort, ModuleBuilder};
use kassay_judge::mutation::catalogue::enumerate::enumerate;
use kassay_judge::mutation::catalogue::operators::Preset;
use kassay_judge::mutation::catalogue::selection::Selection;
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_run::exec::{
    Code, Executor, Fault, NativeCode, OpenClExecutor, ProgramId, Reference, Simulator, Sweep, SweepOutcome, Target,
    Variation, VariationOutcome,
};
use kassay_suite::launch::{ArgValue, ImageFormat, ImageShape, Launch, View};

use crate::batches;
use crate::common::TestResult;
use crate::common::devices::{completed, once, opencl};
use crate::common::kernels::{OpenedSuite, cl_std, open_bare, open_suite, source_file};
use crate::common::launches::{ints, ints_of, line, output};
use crate::common::testdata::{folders, suites, suites_in, testdata};

/// More iterations than any kernel here needs.
const FUEL: u32 = 100_000;

/// Returns the suites whose kernels have images.
fn suites_with_images() -> Vec<PathBuf> {
    let nested = [folders(&testdata("check")), folders(&testdata("faults"))].concat();
    let all = suites().into_iter().chain(nested.iter().flat_map(|folder| suites_in(folder)));
    let has_images = |suite: &PathBuf| {
        let folder = suite.parent().unwrap();
        let kernels = folder.read_dir().unwrap().filter_map(Result::ok).map(|entry| entry.path());
        let mut kernels = kernels.filter(|path| path.extension().is_some_and(|e| e == "cl"));
        kernels.any(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("_image")))
    };
    let found: Vec<PathBuf> = all.filter(has_images).collect();
    assert!(found.len() >= 9, "{found:?}");
    found
}

/// Reads a suite of which a test has an image; `None` if none has.
fn open<'c>(context: &'c Context, path: &Path, executor: &OpenClExecutor) -> Option<OpenedSuite<'c>> {
    let mut opened = open_suite(context, path).unwrap();
    opened.choose_local(executor.device());
    let is_image = |value: &ArgValue| matches!(value, ArgValue::Image { .. });
    opened.tests.iter().any(|test| test.launch.args.iter().any(is_image)).then_some(opened)
}

/// Lowers with the device's images and with buffers.
fn both<T>(under_test: &mut KernelUnderTest<'_>, lower: impl Fn(&KernelUnderTest<'_>) -> T) -> [T; 2] {
    [false, true].map(|image_buffers| {
        under_test.lowering.image_buffers = image_buffers;
        lower(under_test)
    })
}

#[test]
fn suites_give_the_simulators_outputs() -> TestResult {
    let mut executor = opencl()?;
    let mut simulator = Simulator::new(1)?;
    let mut compared = 0;
    for path in suites_with_images() {
        let context = Context::create();
        let Some(mut opened) = open(&context, &path, &executor) else { continue };
        let under_test = &mut opened.kernel.under_test;
        under_test.lowering.image_buffers = true;
        let program = executor.load(&under_test.plain(Target::SpirV)?)?;
        let (module, table) = under_test.hooked(under_test.module.clone(), false, false)?;
        let object = emit(&module, &under_test.entry, HostEffort::Full)?;
        let host = Arc::new(NativeCode { object, entry: under_test.entry.clone(), table });
        let simulated = simulator.load_native(&host)?;
        for test in &opened.tests {
            let seen = completed(executor.run(program, &test.launch, &once())?)?;
            let options = SimulationOptions::default();
            let ours = simulator.simulate(simulated, &test.launch, &options, Duration::from_secs(60), &[])?;
            for one in &test.outputs {
                let ours = output(&ours.observation, one.position)?;
                assert_eq!(output(&seen, one.position)?, ours, "{}: {}: {}", path.display(), test.name, one.label);
                compared += 1;
            }
            // Every launch begins with the images as they were.
            let twice = kassay_run::exec::RunOptions { repeats: 3, ..once() };
            assert_eq!(completed(executor.run(program, &test.launch, &twice)?)?.outputs, seen.outputs);
        }
        executor.unload(program);
        simulator.unload(simulated);
    }
    assert!(compared >= 20, "only {compared} outputs");
    Ok(())
}

#[test]
fn suites_cover_what_they_cover_with_the_devices_images() -> TestResult {
    let mut executor = opencl()?;
    let mut outcomes = 0;
    for path in suites_with_images() {
        let context = Context::create();
        let Some(mut opened) = open(&context, &path, &executor) else { continue };
        let codes = both(&mut opened.kernel.under_test, |kernel| {
            (kernel.plain(Target::SpirV).unwrap(), kernel.instrumented(Slots::Groups, Target::SpirV).unwrap())
        });
        let sites = &opened.kernel.under_test.sites;
        let [own, buffers] = codes.map(|(plain, (instrumented, plan))| {
            let programs = Programs {
                plain: executor.load(&plain).unwrap(),
                instrumented: executor.load(&instrumented).unwrap(),
                mapped: None,
                plan: &plan,
                sites,
                inexact: false,
            };
            let options = MeasureOptions { timeout: Duration::from_secs(60), repeats: 1 };
            let tallies = opened.tests.iter().map(|test| {
                let measured = measure::test(&mut executor, &programs, test, &options).unwrap();
                assert_eq!(
                    measured.outcome.status,
                    TestStatus::Completed,
                    "{}: {:?}",
                    path.display(),
                    measured.outcome
                );
                measured.tally.unwrap()
            });
            let tallies = tallies.collect::<Vec<_>>();
            summary::outcomes(sites, &tallies, "kernel")
        });
        assert_eq!(own, buffers, "{}", path.display());
        outcomes += own.len();
    }
    assert!(outcomes > 100, "only {outcomes} outcomes");
    Ok(())
}

/// Returns what the probe buffer of a guarded kernel begins with.
fn head(layout: GuardLayout, launch: &Launch) -> Vec<u32> {
    let mut words = vec![0; layout.words(1, 0) as usize];
    words[header::FUEL as usize] = FUEL;
    words[header::SLOTS as usize] = 1;
    for position in 0..launch.args.len() as u32 {
        words[(layout.argument(position) + argument::EXTENT) as usize] = launch.reach(position).unwrap_or(0) as u32;
    }
    words
}

/// Runs the mutants of these numbers one after the other.
fn sweep(
    executor: &mut OpenClExecutor,
    program: ProgramId,
    layout: GuardLayout,
    launch: &Launch,
    references: &[Reference],
    numbers: std::ops::RangeInclusive<u32>,
) -> TestResult<SweepOutcome> {
    let head = head(layout, launch);
    let first = layout.slot(0);
    let variations: Vec<Variation> = numbers.map(|n| Variation { words: vec![(first + slot::MUTANT, n)] }).collect();
    Ok(executor.sweep(
        program,
        &Sweep {
            launch,
            probe: &head,
            probe_words: head.len() as u64,
            variations: &variations,
            references,
            repeats: 2,
            timeout: Duration::from_secs(20),
            words: first..first + SLOT_WORDS,
            decisive: None,
            batch: None,
        },
    )?)
}

fn references(executor: &mut OpenClExecutor, program: ProgramId, launch: &Launch) -> TestResult<Vec<Reference>> {
    let seen = completed(executor.run(program, launch, &once())?)?;
    let of = |(position, bytes)| Reference {
        position,
        label: format!("argument {position}"),
        bytes: Arc::new(bytes),
        ty: None,
        tolerance: Default::default(),
    };
    Ok(seen.outputs.into_iter().map(of).collect())
}

/// Returns for each run of a mutant the fault that a guard stopped, or else whether the outputs differ: they are void
/// after a fault.
fn fate(outcome: &VariationOutcome) -> Vec<(Option<FaultKind>, bool)> {
    let VariationOutcome::Ran(runs) = outcome else { panic!("{outcome:?}") };
    let of = |run: &kassay_run::exec::Run| {
        let fault = FaultKind::read(run.words[slot::FAULT as usize]).map(|(kind, _)| kind);
        (fault, fault.is_none() && run.difference.is_some())
    };
    runs.iter().map(of).collect()
}

#[test]
fn mutants_have_the_fates_that_they_have_with_the_devices_images() -> TestResult {
    let mut executor = opencl()?;
    let (mut compared, mut killed) = (0, 0);
    for path in suites_with_images() {
        let context = Context::create();
        let Some(opened) = open(&context, &path, &executor) else { continue };
        let OpenedSuite { mut kernel, tests, .. } = opened;
        let found = enumerate(&kernel.subject(Preset::Full), &Selection::parse("all")?);
        let woven: Vec<&Edit> =
            found.mutants.iter().map(|mutant| &mutant.edit).filter(|edit| edit.is_woven()).collect();
        let edits: Vec<(u32, &Edit)> = (1..).zip(woven).collect();
        let codes = both(&mut kernel.under_test, |kernel| {
            let builder = ModuleBuilder::new(kernel, Target::SpirV);
            let all = builder.schemata(&edits, false, Effort::Quick, false).unwrap().unwrap();
            (kernel.plain(Target::SpirV).unwrap(), all.code, builder.layout)
        });
        for test in &tests {
            let mut outcomes = Vec::new();
            for (plain, all, layout) in &codes {
                let (plain, all) = (executor.load(plain)?, executor.load(all)?);
                let references = references(&mut executor, plain, &test.launch)?;
                let last = edits.len() as u32;
                outcomes.push(sweep(&mut executor, all, *layout, &test.launch, &references, 0..=last)?.runs);
                executor.unload(plain);
                executor.unload(all);
            }
            for (number, (own, buffers)) in outcomes[0].iter().zip(&outcomes[1]).enumerate() {
                assert_eq!(fate(own), fate(buffers), "{}: {}: mutant {number}", path.display(), test.name);
                compared += 1;
                killed += usize::from(fate(own) != [(None, false); 2]);
            }
        }
    }
    assert!(compared > 1000 && killed > 300, "{killed} of {compared}");
    Ok(())
}

fn format(order: &str, ty: &str) -> ImageFormat {
    ImageFormat { channel_order: order.into(), channel_type: ty.into() }
}

/// Reads a kernel whose images are buffers.
fn with_buffers<T>(source: &str, f: impl FnOnce(&KernelUnderTest<'_>) -> T) -> TestResult<T> {
    let (_folder, path) = source_file(source);
    let context = Context::create();
    let mut under_test = open_bare(&context, &path, Some("k"), &cl_std("CL1.2"))?.under_test;
    under_test.lowering.image_buffers = true;
    Ok(f(&under_test))
}

#[test]
fn coordinates_out_of_bounds_are_faults_of_guarded_kernels() -> TestResult {
    let source =
        "kernel void k(write_only image2d_t to, int x) { write_imagei(to, (int2)(x, 1), (int4)(7, 7, 7, 7)); }";
    let (code, layout) = with_buffers(source, |kernel| {
        let builder = ModuleBuilder::new(kernel, Target::SpirV);
        (builder.alone(&[], Effort::Full).unwrap().unwrap().code, builder.layout)
    })?;
    let mut executor = opencl()?;
    let program = executor.load(&code)?;
    for (x, fault) in [(1_i32, None), (2, Some(FaultKind::OutOfBounds)), (-1, Some(FaultKind::OutOfBounds))] {
        let image = ArgValue::Image {
            shape: ImageShape::D2 { width: 2, height: 2 },
            format: format("R", "SIGNED_INT32"),
            texels: Arc::new(vec![0; 16]),
        };
        let launch = Launch::new(line(1, 1), vec![image, ArgValue::Value(x.to_le_bytes().to_vec())]);
        let words = head(layout, &launch);
        let options = kassay_run::exec::RunOptions { probe_words: Some(words.len() as u64), ..once() };
        let seen = completed(executor.run_with_probe(program, &launch, &options, &words)?)?;
        let word = seen.probe[(layout.slot(0) + slot::FAULT) as usize];
        assert_eq!(FaultKind::read(word).map(|(kind, _)| kind), fault, "x = {x}");
        let written = if fault.is_none() { vec![0, 0, 0, 7] } else { vec![0; 4] };
        assert_eq!(ints_of(&seen, 0)?, written, "x = {x}");
    }
    Ok(())
}

#[test]
fn slots_of_a_launch_share_the_images_that_the_kernel_only_reads() -> TestResult {
    let source = "kernel void k(read_only image1d_t from, global int *to) {
        int i = get_global_id(0);
        to[i] = read_imagei(from, i).x;
    }";
    let (plain, batched, layout) = with_buffers(source, |kernel| {
        let layout = GuardLayout { args: 2 };
        let mut woven = kernel.module.clone();
        schemata::weave(&woven, &kernel.sites, &[], false).unwrap();
        ids::batched(&mut woven, &kernel.entry, layout, &kernel.machine).unwrap();
        let batched = kernel.lower(woven, Target::SpirV, &kernel.lowering).unwrap();
        (kernel.plain(Target::SpirV).unwrap(), batched, layout)
    })?;
    assert_eq!(plain.as_device().map(|code| code.read_only.clone()), Some(vec![true, false]));
    let mut executor = opencl()?;
    let texels: Vec<u8> = [3_i32, 1, 4, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
    let image = ArgValue::Image {
        shape: ImageShape::D1 { width: 4 },
        format: format("R", "SIGNED_INT32"),
        texels: Arc::new(texels),
    };
    let launch = Launch::new(line(4, 2), vec![image, ints(&[0; 4])]);
    let (plain, batched) = (executor.load(&plain)?, executor.load(&batched)?);
    let references = references(&mut executor, plain, &launch)?;
    assert_eq!(references.iter().map(|one| one.position).collect::<Vec<_>>(), [1], "what is only read is no output");
    let done = batches::batch(&mut executor, batched, layout, &launch, &references, (3, 5), None)?;
    assert_eq!(batches::wrong(&done), None);
    Ok(())
}

/// Adds its second argument to its first.
const ADD: &str = "kernel void k(global int *a, global const int *b) {
    int i = get_global_id(0);
    a[i] += b[i];
}";

/// Returns the launch of [`ADD`] on two parts of one buffer of 12 numbers: from the third and the ninth on.
fn on_parts() -> Launch {
    let views = vec![View { offset: 8, size: Some(16), ..View::default() }, View { offset: 32, ..View::default() }];
    let numbers: Vec<i32> = (0..12).collect();
    Launch { views, ..Launch::new(line(4, 2), vec![ints(&numbers), ArgValue::Same(0)]) }
}

#[test]
fn sub_buffers_begin_anywhere() -> TestResult {
    let code = with_buffers(ADD, |kernel| kernel.plain(Target::SpirV).unwrap())?;
    let mut executor = opencl()?;
    let program = executor.load(&code)?;
    let sums = [0, 1, 10, 12, 14, 16, 6, 7, 8, 9, 10, 11];
    for repeats in [1, 3] {
        let options = kassay_run::exec::RunOptions { repeats, ..once() };
        let seen = completed(executor.run(program, &on_parts(), &options)?)?;
        assert_eq!(ints_of(&seen, 0)?, sums, "{repeats} repeats");
    }
    let with_margin = Launch { margins: vec![100], ..on_parts() };
    assert_eq!(ints_of(&completed(executor.run(program, &with_margin, &once())?)?, 0)?, sums);
    // Other code gets real sub-buffers, which cannot begin there.
    let native: Code = {
        let (_folder, path) = source_file(ADD);
        let context = Context::create();
        open_bare(&context, &path, Some("k"), &cl_std("CL1.2"))?.under_test.plain(Target::SpirV)?
    };
    let native = executor.load(&native)?;
    let refused = executor.run(native, &on_parts(), &once())?;
    assert!(matches!(refused, Err(Fault::Rejected { error, .. }) if error.contains("MISALIGNED")));
    Ok(())
}

/// Counts the runs whose outputs were not those expected.
fn differences(outcome: &SweepOutcome) -> usize {
    let runs = outcome.runs.iter().map(|outcome| match outcome {
        VariationOutcome::Ran(runs) => runs.iter().filter(|run| run.difference.is_some()).count(),
        VariationOutcome::Fault(fault) => panic!("{fault:?}"),
    });
    runs.sum()
}

#[test]
fn sweeps_reset_and_compare_buffers_whose_parts_begin_anywhere() -> TestResult {
    let (plain, all, layout) = with_buffers(ADD, |kernel| {
        let builder = ModuleBuilder::new(kernel, Target::SpirV);
        let all = builder.schemata(&[], false, Effort::Quick, false).unwrap().unwrap();
        (kernel.plain(Target::SpirV).unwrap(), all.code, builder.layout)
    })?;
    let mut executor = opencl()?;
    let (plain, all) = (executor.load(&plain)?, executor.load(&all)?);
    let mut references = references(&mut executor, plain, &on_parts())?;
    let done = sweep(&mut executor, all, layout, &on_parts(), &references, 0..=3)?;
    assert_eq!(differences(&done), 0);
    references[0].bytes = Arc::new(vec![0; 48]);
    let done = sweep(&mut executor, all, layout, &on_parts(), &references, 0..=3)?;
    assert_eq!(differences(&done), 8);
    Ok(())
}
