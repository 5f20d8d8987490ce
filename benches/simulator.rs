//! Measures the cost of the simulator: launches of 64 work-items per second, accesses, barriers, large launches.
//!
//! `cargo bench --bench simulator`. Times are processor times of one thread, after a first run: medians of
//! several runs.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_ir::kernel::compile;
use kassay_ir::llvm::Context;
use kassay_ir::lower::native::emit::{Effort, emit};
use kassay_judge::coverage::build::{self, KernelFile, KernelUnderTest};
use kassay_model::options::KernelOptions;
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_run::exec::{NativeCode, ProgramId, Simulator};
use kassay_suite::launch::{ArgValue, Launch, NdRange};

/// Vector addition, a reduction, a matrix product, and loops of accesses and barriers alone.
const SOURCE: &str = "
kernel void add(global float *c, global const float *a, global const float *b) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}
kernel void reduce(global float *out, global const float *in, local float *tmp) {
    size_t l = get_local_id(0);
    tmp[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (l < s) tmp[l] += tmp[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = tmp[0];
}
kernel void product(global float *c, global const float *a, global const float *b, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
kernel void reads(global int *out, global const int *in, int n) {
    int sum = 0;
    for (int k = 0; k < n; k++) sum += in[k & 1023];
    out[get_global_id(0)] = sum;
}
kernel void barriers(global int *out, int n) {
    for (int k = 0; k < n; k++) barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = n;
}
";

type BenchResult<T = ()> = Result<T, Box<dyn Error>>;

fn buffer(words: usize) -> ArgValue {
    let bytes = (0..words).flat_map(|i| ((i % 7) as f32).to_le_bytes()).collect();
    ArgValue::Buffer(Arc::new(bytes))
}

fn int(value: i32) -> ArgValue {
    ArgValue::Value(value.to_le_bytes().into())
}

fn launch(global: [u64; 3], local: [u64; 3], args: Vec<ArgValue>) -> Launch {
    let dims = if global[1] > 1 { 2 } else { 1 };
    Launch::new(NdRange { dims, global, local: Some(local), offset: [0; 3] }, args)
}

fn code(under_test: &KernelUnderTest<'_>, races: bool) -> BenchResult<Arc<NativeCode>> {
    let (module, table) = under_test.hooked(under_test.module.clone(), false, races)?;
    let object = emit(&module, &under_test.entry, Effort::Full)?;
    Ok(Arc::new(NativeCode { object, entry: under_test.entry.clone(), table }))
}

/// Returns the processor time of this thread so far, in seconds. Elapsed time would include other programs.
fn clock() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes only to `time`, which outlives it.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Returns the seconds of a run, the median of several that take at least 0.3 s together.
fn time(simulator: &mut Simulator, program: ProgramId, launch: &Launch, races: bool) -> BenchResult<f64> {
    let options = SimulationOptions { races, ..SimulationOptions::default() };
    let mut once = || -> BenchResult<f64> {
        let start = clock();
        let simulation = simulator.simulate(program, launch, &options, Duration::from_secs(60), &[])?;
        if !simulation.completed || !simulation.faults.is_empty() || !simulation.conflicts.is_empty() {
            return Err(format!("{:?} {:?}", simulation.faults, simulation.conflicts).into());
        }
        Ok(clock() - start)
    };
    once()?;
    let (begin, mut times) = (Instant::now(), Vec::new());
    while begin.elapsed() < Duration::from_millis(300) || times.len() < 3 {
        times.push(once()?);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn main() -> BenchResult {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bench.cl");
    std::fs::write(&path, SOURCE)?;
    let loaded = compile::load(&path, &KernelOptions::default(), false)?;
    let context = Context::create();
    let file = KernelFile::parse(&context, &loaded)?;
    let mut simulator = Simulator::new(1)?;
    let sources = build::sources_of(&path);
    let mut measure = |entry: &str, races: bool, launch: &Launch| -> BenchResult<f64> {
        let under_test = file.under_test(entry, &loaded, &sources)?;
        let program = simulator.load_native(&code(&under_test, races)?)?;
        time(&mut simulator, program, launch, races)
    };
    let line = [64, 1, 1];
    let small = launch(line, line, vec![buffer(64), buffer(64), buffer(64)]);
    let small_reduce = launch(line, line, vec![buffer(1), buffer(64), ArgValue::Local(256)]);
    for (name, entry, launch) in [("add", "add", &small), ("reduce", "reduce", &small_reduce)] {
        for races in [false, true] {
            let seconds = measure(entry, races, launch)?;
            println!("{name:10} 64 work-items, races {races:5}: {:>10.0} launches a second", 1.0 / seconds);
        }
    }
    let n = 100_000;
    let reads = launch([16, 1, 1], [16, 1, 1], vec![buffer(16), buffer(1024), int(n)]);
    for races in [false, true] {
        let seconds = measure("reads", races, &reads)?;
        println!("reads      races {races:5}: {:.2} ns each", seconds * 1e9 / (16.0 * f64::from(n)));
    }
    let n = 1000;
    for items in [64, 256] {
        let barriers = launch([items, 1, 1], [items, 1, 1], vec![buffer(items as usize), int(n)]);
        for races in [false, true] {
            let seconds = measure("barriers", races, &barriers)?;
            let each = seconds * 1e9 / (items as f64 * f64::from(n));
            println!("barriers   {items} work-items, races {races:5}: {each:.1} ns per work-item");
        }
    }
    let million = 1 << 20;
    let large = launch([million, 1, 1], line, vec![buffer(1 << 20), buffer(1 << 20), buffer(1 << 20)]);
    let large_reduce = launch([million, 1, 1], line, vec![buffer(1 << 14), buffer(1 << 20), ArgValue::Local(256)]);
    let square = vec![buffer(1 << 16), buffer(1 << 16), buffer(1 << 16), int(256)];
    let product = launch([256, 256, 1], [8, 8, 1], square);
    for (name, entry, launch) in
        [("add 1M", "add", &large), ("product", "product", &product), ("reduce 1M", "reduce", &large_reduce)]
    {
        for races in [false, true] {
            println!("{name:10} races {races:5}: {:.1} ms", measure(entry, races, launch)? * 1e3);
        }
    }
    Ok(())
}
