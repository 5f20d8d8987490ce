//! The OpenCL executor against a real device: every kind of argument, and everything a kernel can do wrong.
//!
//! Kernels are compiled here by the LLVM tools alone, so that these tests stand without kassay's own front half.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay::error::Error;
use kassay::exec::{
    Code, DeviceRequest, Executor, Fault, Observation, OpenClExecutor, RunOptions, RunResult, WorkerOptions,
    probe_devices,
};
use kassay::suite::launch::{Addressing, ArgValue, Filter, ImageFormat, ImageShape, Launch, NdRange};

type Test = Result<(), Box<dyn std::error::Error>>;

fn options() -> WorkerOptions {
    WorkerOptions { exe: Some(PathBuf::from(env!("CARGO_BIN_EXE_kassay"))), ..WorkerOptions::default() }
}

fn executor() -> Result<OpenClExecutor, Error> {
    OpenClExecutor::start(DeviceRequest::Any, options())
}

/// Compiles OpenCL C to SPIR-V; the kernel under test is `k`.
fn compile(source: &str) -> Result<Code, Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let run = |program: &str, args: &[&str]| -> Test {
        let done = Command::new(program).args(args).output()?;
        if done.status.success() {
            Ok(())
        } else {
            Err(format!("{program}: {}", String::from_utf8_lossy(&done.stderr)).into())
        }
    };
    std::fs::write(path("k.cl"), source)?;
    let clang = "-x cl -cl-std=CL1.2 -ffp-contract=off -target spirv64-unknown-unknown -O1 -Xclang -disable-llvm-passes \
                 -Xclang -disable-lifetime-markers -emit-llvm -S";
    let mut args: Vec<&str> = clang.split_whitespace().collect();
    let (cl, ll, opt, spv) = (path("k.cl"), path("k.ll"), path("opt.ll"), path("k.spv"));
    args.extend([cl.as_str(), "-o", &ll]);
    run("clang-22", &args)?;
    // clang puts the body into a function beside the kernel, and forbids inlining it.
    let text = std::fs::read_to_string(&ll)?.replace(" noinline", " alwaysinline").replace(" optnone", "");
    std::fs::write(&ll, text)?;
    run("opt-22", &["-passes=always-inline,globaldce,function(sroa,mem2reg)", "-S", &ll, "-o", &opt])?;
    run("llc-22", &["-mtriple=spirv64v1.2-unknown-unknown", "-O0", "-filetype=obj", &opt, "-o", &spv])?;
    Ok(Code { spirv: Arc::new(std::fs::read(spv)?), entry: "k".into(), build_options: String::new() })
}

fn once() -> RunOptions {
    RunOptions { timeout: Duration::from_secs(60), repeats: 1, probe_words: None, outputs: true }
}

fn range<const N: usize>(global: [u64; N]) -> NdRange {
    let mut all = [1; 3];
    all[..N].copy_from_slice(&global);
    NdRange { dims: N as u32, global: all, local: None, offset: [0; 3] }
}

fn bytes<T: Copy, const B: usize>(values: &[T], to: fn(T) -> [u8; B]) -> Vec<u8> {
    values.iter().flat_map(|v| to(*v)).collect()
}

fn ints(values: &[i32]) -> ArgValue {
    ArgValue::Buffer(Arc::new(bytes(values, i32::to_le_bytes)))
}

fn floats(values: &[f32]) -> ArgValue {
    ArgValue::Buffer(Arc::new(bytes(values, f32::to_le_bytes)))
}

fn int(value: i32) -> ArgValue {
    ArgValue::Value(value.to_le_bytes().to_vec())
}

fn output(seen: &Observation, position: u32) -> Result<&[u8], String> {
    let found = seen.outputs.iter().find(|(p, _)| *p == position);
    found.map(|(_, b)| b.as_slice()).ok_or_else(|| format!("no output at {position}"))
}

fn ints_of(seen: &Observation, position: u32) -> Result<Vec<i32>, String> {
    Ok(output(seen, position)?.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b)).collect())
}

fn floats_of(seen: &Observation, position: u32) -> Result<Vec<f32>, String> {
    Ok(output(seen, position)?.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
}

/// Compiles, loads and runs once.
fn run(source: &str, range: NdRange, args: Vec<ArgValue>) -> Result<RunResult, Box<dyn std::error::Error>> {
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    Ok(executor.run(program, &Launch { range, args }, &once())?)
}

fn completed(result: RunResult) -> Result<Observation, String> {
    result.map_err(|fault| format!("{fault:?}"))
}

const COPY: &str = "kernel void k(global int *out, global const int *in, int n) { \
                    size_t i = get_global_id(0); if (i < n) out[i] = in[i] + n; }";

#[test]
fn buffers_and_values_arrive_and_come_back() -> Test {
    let seen = completed(run(COPY, range([4]), vec![ints(&[0; 4]), ints(&[1, 2, 3, 4]), int(3)])?)?;
    assert_eq!(ints_of(&seen, 0)?, [4, 5, 6, 0]);
    assert_eq!(ints_of(&seen, 1)?, [1, 2, 3, 4]);
    assert_eq!(seen.kernel_times.len(), 1);
    assert!(seen.kernel_times[0] > Duration::ZERO && seen.probe.is_empty() && seen.printf.is_empty());
    Ok(())
}

#[test]
#[ignore = "measures; run by hand"]
fn how_long_things_take() -> Test {
    let code = compile(COPY)?;
    for pause in [0, 60, 300] {
        let start = Instant::now();
        let starting = OpenClExecutor::spawn(DeviceRequest::Any, options())?;
        let spawned = start.elapsed();
        std::thread::sleep(Duration::from_millis(pause));
        let at = Instant::now();
        let mut executor = starting.ready()?;
        let ready = at.elapsed();
        let at = Instant::now();
        let program = executor.load(&code)?;
        let loaded = at.elapsed();
        let launch = Launch { range: range([4]), args: vec![ints(&[0; 4]), ints(&[1, 2, 3, 4]), int(3)] };
        let mut runs = Vec::new();
        for _ in 0..4 {
            let at = Instant::now();
            completed(executor.run(program, &launch, &once())?)?;
            runs.push(at.elapsed());
        }
        let at = Instant::now();
        let again = executor.load(&code)?;
        let reloaded = at.elapsed();
        executor.unload(again);
        let all = start.elapsed();
        let at = Instant::now();
        drop(executor);
        println!("pause {pause} ms: spawn {spawned:?} ready {ready:?} load {loaded:?} runs {runs:?} second load {reloaded:?} all {all:?} drop {:?}", at.elapsed());
    }
    Ok(())
}
