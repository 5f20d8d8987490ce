//! Checks sweeps: many runs of one launch that differ in words of the probe buffer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::Error;
use kassay_model::interface::{Scalar, Type};
use kassay_run::exec::{
    Batch, Executor, Fault, OpenClExecutor, ProgramId, Reference, Run, Sweep, Variation, VariationOutcome,
};
use kassay_suite::compare::Tolerance;
use kassay_suite::launch::{ImageShape, Launch, NdRange};

use super::support::*;

/// Word 16 of the probe buffer decides what it does; words 20 and on come back.
const BEHAVING: &str = "kernel void k(global float *y, global const float *x, int n, global uint *probe) {
    size_t i = get_global_id(0);
    uint what = probe[16];
    if (i < n) y[i] = y[i] + x[i];
    if (what == 1 && i == 3) y[i] = 2.5f;
    if (what == 2) { volatile global uint *p = probe; while (p[16] == 2) ; }
    if (what == 3) *(global int *)(((ulong)y) + (1UL << 46)) = 1;
    if (what == 4) y[i] += 0.001f;
    if (i == 0) { probe[20] = what * 10; probe[21] += 1 + probe[17]; }
}";

fn launch() -> Launch {
    Launch::new(range([8]), vec![floats(&[1.0; 8]), floats(&[0.0; 8]), int(8)])
}

fn behaviours(what: &[u32]) -> Vec<Variation> {
    what.iter().map(|w| Variation { words: vec![(16, *w)] }).collect()
}

fn label(position: u32) -> String {
    format!("argument {position}")
}

fn reference(position: u32, values: &[f32], tolerance: Tolerance) -> Reference {
    let bytes = Arc::new(bytes(values, f32::to_le_bytes));
    Reference { position, label: label(position), bytes, ty: Some(Type::Scalar(Scalar::F32)), tolerance }
}

struct Bench {
    executor: OpenClExecutor,
    program: ProgramId,
}

impl Bench {
    fn new(source: &str) -> Result<Bench, Box<dyn std::error::Error>> {
        let mut executor = executor()?;
        let program = executor.load(&compile(source)?)?;
        Ok(Bench { executor, program })
    }
}

/// Only an endless launch takes this long, even on a slow and busy machine.
const LIMIT: Duration = Duration::from_secs(2);

fn sweep<'a>(launch: &'a Launch, variations: &'a [Variation], references: &'a [Reference]) -> Sweep<'a> {
    Sweep {
        launch,
        probe: &[],
        probe_words: 32,
        variations,
        references,
        repeats: 1,
        timeout: LIMIT,
        words: 20..22,
        decisive: None,
        batch: None,
    }
}

fn agreed(words: &[u32]) -> Run {
    Run { difference: None, words: words.to_vec() }
}

#[test]
fn each_variation_is_compared_on_pristine_inputs() -> TestResult {
    let mut bench = Bench::new(BEHAVING)?;
    let launch = launch();
    let references = [reference(0, &[1.0; 8], Tolerance::default())];
    let variations = behaviours(&[0, 1, 0, 4, 0]);
    let done = bench
        .executor
        .sweep(bench.program, &Sweep { repeats: 3, probe: &[0; 18], ..sweep(&launch, &variations, &references) })?;
    assert_eq!(done.launches, 15);
    assert!(done.kernel_time > Duration::ZERO);
    let told = |at: &str, what: u32| {
        VariationOutcome::Ran(vec![
            Run { difference: Some(format!("argument 0 differs at {at}")), words: vec![what, 1] };
            3
        ])
    };
    let fine = VariationOutcome::Ran(vec![agreed(&[0, 1]); 3]);
    let (wrong, close) = (told("3: 2.5 instead of 1.0", 10), told("0: 1.001 instead of 1.0", 40));
    assert_eq!(done.runs, [fine.clone(), wrong, fine.clone(), close, fine.clone()]);
    // Without references nothing differs.
    let done = bench.executor.sweep(bench.program, &sweep(&launch, &variations, &[]))?;
    assert!(done.runs.iter().all(|r| matches!(r, VariationOutcome::Ran(runs) if runs[0].difference.is_none())));
    Ok(())
}

#[test]
fn small_differences_are_tolerated_where_they_may_be() -> TestResult {
    let mut bench = Bench::new(BEHAVING)?;
    let launch = launch();
    let references = [reference(0, &[1.0; 8], Tolerance { abs: 0.0, rel: 0.01 })];
    let done = bench.executor.sweep(bench.program, &sweep(&launch, &behaviours(&[4, 1]), &references))?;
    assert_eq!(done.runs[0], VariationOutcome::Ran(vec![agreed(&[40, 1])]));
    assert!(matches!(&done.runs[1], VariationOutcome::Ran(runs) if runs[0].difference.is_some()));
    Ok(())
}

#[test]
fn a_nondeterministic_variation_ends_early() -> TestResult {
    // A counter in a buffer would be reset; only the device's memory outside the buffers, here a margin, survives
    // a launch.
    let source = "kernel void k(global int *y, global uint *probe) {
        volatile global int *outside = (volatile global int *)y - 16;
        if (probe[16] == 0) { y[0] = *outside % 3; *outside = *outside + 1; } else y[0] = 0; }";
    let mut bench = Bench::new(source)?;
    let launch = Launch::new(range([1]), vec![ints(&[0])]);
    let expected = Reference {
        position: 0,
        label: label(0),
        bytes: Arc::new(vec![0; 4]),
        ty: Some(Type::Scalar(Scalar::I32)),
        tolerance: Tolerance::default(),
    };
    let variations = behaviours(&[0, 1]);
    let references = [expected];
    let done =
        bench.executor.sweep(bench.program, &Sweep { repeats: 9, ..sweep(&launch, &variations, &references) })?;
    let VariationOutcome::Ran(runs) = &done.runs[0] else { return Err(format!("{done:?}").into()) };
    assert!(runs.len() < 9 && runs.len() > 1, "{runs:?}");
    let last = runs.last().is_some_and(|r| r.difference.is_none());
    assert!(runs[..runs.len() - 1].iter().all(|r| r.difference.is_none() != last), "{runs:?}");
    assert!(matches!(&done.runs[1], VariationOutcome::Ran(runs) if runs.len() == 9));
    Ok(())
}

#[test]
fn endless_loops_and_wild_writes_stop_only_their_variations() -> TestResult {
    let mut bench = Bench::new(BEHAVING)?;
    let launch = launch();
    let references = [reference(0, &[1.0; 8], Tolerance::default())];
    let what = [0, 2, 0, 3, 3, 1, 0];
    let variations = behaviours(&what);
    let done = bench.executor.sweep(bench.program, &sweep(&launch, &variations, &references))?;
    for (run, what) in done.runs.iter().zip(what) {
        let right = match run {
            VariationOutcome::Ran(runs) => runs[0].difference.is_some() == (what == 1) && (what < 2),
            VariationOutcome::Fault(Fault::Timeout { limit }) => what == 2 && *limit == LIMIT,
            VariationOutcome::Fault(Fault::Crash { signal, .. }) => what == 3 && *signal == Some(libc::SIGSEGV),
            VariationOutcome::Fault(Fault::Stopped { .. } | Fault::Rejected { .. } | Fault::Checked { .. }) => false,
        };
        assert!(right, "{what}: {run:?}");
    }
    // The executor works as before.
    assert!(
        bench
            .executor
            .run(bench.program, &launch, &kassay_run::exec::RunOptions { probe_words: Some(32), ..once() })?
            .is_ok()
    );
    Ok(())
}

#[test]
fn the_variation_that_spoils_the_worker_for_others_is_found() -> TestResult {
    // A variation leaves a trap outside its buffer; a later one falls into it.
    let source = "kernel void k(global int *y, global uint *probe) {
        volatile global int *outside = (volatile global int *)y - 16;
        if (probe[16] == 0) *outside = 0;
        if (probe[16] == 5) *outside = 77;
        if (probe[16] == 6 && *outside == 77) *(global int *)(((ulong)y) + (1UL << 46)) = 1;
        y[0] = probe[16]; }";
    let mut bench = Bench::new(source)?;
    let launch = Launch::new(range([1]), vec![ints(&[0])]);
    let what = [0, 1, 1, 6, 1, 1, 5, 1, 1, 1, 6, 1, 6];
    let variations = behaviours(&what);
    let done = bench.executor.sweep(bench.program, &Sweep { words: 16..17, ..sweep(&launch, &variations, &[]) })?;
    for (run, what) in done.runs.iter().zip(what) {
        match run {
            VariationOutcome::Ran(runs) => assert_eq!(runs[..], [agreed(&[what])]),
            fault => {
                assert!(matches!(fault, VariationOutcome::Fault(Fault::Crash { .. })) && what == 5, "{what}: {fault:?}")
            }
        }
    }
    assert!(matches!(done.runs[6], VariationOutcome::Fault(_)), "{:?}", done.runs);
    Ok(())
}

#[test]
fn several_outputs_and_images_are_compared() -> TestResult {
    let source = "kernel void k(global int *a, write_only image2d_t img, read_only image2d_t in, global int *b, global uint *probe) {
        int2 p = (int2)(get_global_id(0), get_global_id(1));
        int i = p.x + 3 * p.y;
        uint what = probe[16];
        a[i] = read_imageui(in, p).x; b[i] = what == 2 && i == 4 ? 9 : i;
        if (what != 3) write_imageui(img, p, (uint4)(what == 1 && i == 5 ? 200 : i, 0, 0, 0)); }";
    let mut bench = Bench::new(source)?;
    let shape = ImageShape::D2 { width: 3, height: 2 };
    let texels = || (0..6).flat_map(|i| [i + 1, 0, 0, 0]).collect::<Vec<u8>>();
    let form = || format("RGBA", "UNSIGNED_INT8");
    let args =
        vec![ints(&[0; 6]), image(shape.clone(), form(), vec![0; 24]), image(shape, form(), texels()), ints(&[0; 6])];
    let launch = Launch::new(range([3, 2]), args);
    let output = |position, bytes: Vec<u8>, ty| Reference {
        position,
        label: label(position),
        bytes: Arc::new(bytes),
        ty: Some(ty),
        tolerance: Tolerance::default(),
    };
    let written = (0..6).flat_map(|i| [i, 0, 0, 0]).collect();
    let references = [
        output(0, bytes(&[1, 2, 3, 4, 5, 6], i32::to_le_bytes), Type::Scalar(Scalar::I32)),
        output(1, written, Type::Vector(Scalar::U8, 4)),
        output(3, bytes(&[0, 1, 2, 3, 4, 5], i32::to_le_bytes), Type::Scalar(Scalar::I32)),
    ];
    let variations = behaviours(&[0, 1, 2, 3, 0]);
    let done =
        bench.executor.sweep(bench.program, &Sweep { repeats: 2, ..sweep(&launch, &variations, &references) })?;
    let told: Vec<String> = done
        .runs
        .iter()
        .map(|r| match r {
            VariationOutcome::Ran(runs) if runs.len() == 2 && runs[0] == runs[1] => {
                runs[0].difference.clone().unwrap_or_default()
            }
            other => format!("{other:?}"),
        })
        .collect();
    let image = |at, is| format!("argument 1 differs at {at}.s0: {is} instead of {at}");
    let expected = ["", &image(5, 200), "argument 3 differs at 4: 9 instead of 4", &image(1, 0), ""];
    assert_eq!(told, expected);
    Ok(())
}

#[test]
fn a_launch_that_the_driver_refuses_is_refused_for_each_variation() -> TestResult {
    let mut bench = Bench::new(BEHAVING)?;
    let mut launch = launch();
    launch.args.pop();
    let variations = behaviours(&[0, 1]);
    let done = bench.executor.sweep(bench.program, &sweep(&launch, &variations, &[]))?;
    assert_eq!(done.runs.len(), 2);
    assert!(done.runs.iter().all(|r| matches!(r, VariationOutcome::Fault(Fault::Rejected { .. }))), "{done:?}");
    let far = behaviours(&[0]).into_iter().chain([Variation { words: vec![(32, 1)] }]).collect::<Vec<_>>();
    assert!(matches!(bench.executor.sweep(bench.program, &sweep(&launch, &far, &[])), Err(Error::Internal(_))));
    Ok(())
}

/// Several runs in one launch, laid out by hand: eight work-items each, whose four words begin at word 16.
const BATCHED: &str = "kernel void k(global int *y, global const int *x, global uint *probe) {
    uint slot = get_group_id(0) / 2;
    uint i = get_global_id(0) % 8;
    global uint *words = probe + 16 + 4 * slot;
    global int *own = y + 32 * slot;
    if (words[0] == 2) { volatile global uint *w = words; while (*w == 2) ; }
    if (words[0] == 3) *(global int *)(((ulong)y) + (1UL << 46)) = 1;
    own[i] += x[i] + (words[0] == 1 && i == 5);
    if (i == 0) words[1] = slot * 100 + words[0]; }";

#[test]
fn a_batch_is_compared_slot_by_slot_and_its_faulting_runs_are_found() -> TestResult {
    let mut bench = Bench::new(BATCHED)?;
    let range = NdRange { local: Some([4, 1, 1]), ..range([8]) };
    let launch = Launch::new(range, vec![ints(&[1; 8]), ints(&[2; 8])]);
    let expected = bytes(&[3; 8], i32::to_le_bytes);
    let (ty, tolerance) = (Some(Type::Scalar(Scalar::I32)), Tolerance::default());
    let references = [Reference { position: 0, label: label(0), bytes: Arc::new(expected), ty, tolerance }];
    let batch = Batch { slots: 8, first_word: 16, slot_words: 4, dimension: 0, strides: vec![128, 0] };
    let run = |executor: &mut OpenClExecutor, batch: &Batch, what: &[u32]| {
        let variations: Vec<Variation> = what.iter().map(|w| Variation { words: vec![(0, *w)] }).collect();
        let sweep = Sweep {
            probe_words: 48,
            words: 1..2,
            batch: Some(batch.clone()),
            ..sweep(&launch, &variations, &references)
        };
        executor.sweep(bench.program, &Sweep { repeats: 2, ..sweep })
    };
    let what = [0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0];
    let done = run(&mut bench.executor, &batch, &what)?;
    assert_eq!(done.launches, 4);
    for (n, (seen, what)) in done.runs.iter().zip(what).enumerate() {
        let difference = (what == 1).then(|| "argument 0 differs at 5: 4 instead of 3".to_owned());
        let words = vec![n as u32 % 8 * 100 + what];
        assert_eq!(*seen, VariationOutcome::Ran(vec![Run { difference, words }; 2]), "{n}");
    }
    let what = [0, 0, 0, 3, 0, 1, 0, 0, 0, 2, 0, 1];
    for (seen, what) in run(&mut bench.executor, &batch, &what)?.runs.iter().zip(what) {
        let right = match seen {
            VariationOutcome::Ran(runs) => runs.len() == 2 && what < 2 && runs[0].difference.is_some() == (what == 1),
            VariationOutcome::Fault(Fault::Crash { .. }) => what == 3,
            VariationOutcome::Fault(Fault::Timeout { .. }) => what == 2,
            VariationOutcome::Fault(Fault::Stopped { .. } | Fault::Rejected { .. } | Fault::Checked { .. }) => false,
        };
        assert!(right, "{what}: {seen:?}");
    }
    // A stride shorter than the buffer is kassay's fault.
    let short = Batch { strides: vec![16, 0], ..batch };
    assert!(matches!(run(&mut bench.executor, &short, &[0]), Err(Error::Internal(_))));
    Ok(())
}

#[test]
#[ignore = "prints how many variations a second are run"]
fn rates() -> TestResult {
    let mut bench = Bench::new(BEHAVING)?;
    for items in [64_usize, 1024, 16384] {
        let launch = Launch::new(
            range([items as u64]),
            vec![floats(&vec![1.0; items]), floats(&vec![0.0; items]), int(items as i32)],
        );
        let references = [reference(0, &vec![1.0; items], Tolerance::default())];
        let variations: Vec<u32> = (0..100_000).map(|i| i % 2).collect();
        let variations = behaviours(&variations);
        let start = Instant::now();
        let done = bench.executor.sweep(bench.program, &sweep(&launch, &variations, &references))?;
        let rate = variations.len() as f64 / start.elapsed().as_secs_f64();
        println!("{items} items: {rate:.0} variations a second, kernel {:?}", done.kernel_time);
    }
    Ok(())
}
