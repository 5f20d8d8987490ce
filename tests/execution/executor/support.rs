//! Compiles kernels with the LLVM tools alone, so that these tests do not depend on kassay's own front end, and makes
//! launches concisely.

use std::process::Command;
use std::sync::Arc;

use kassay_run::exec::{Code, Executor, Observation, RunResult};
use kassay_suite::launch::{ArgValue, ImageFormat, ImageShape, Launch, NdRange};

pub use crate::common::TestResult;
pub use crate::common::devices::{completed, once, opencl as executor, worker as options};
pub use crate::common::launches::{int, ints, ints_of, output};

/// Compiles OpenCL C to SPIR-V; the kernel under test is `k`.
pub fn compile(source: &str) -> Result<Code, Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let run = |program: &str, args: &[&str]| -> TestResult {
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
    // clang puts the body into a function next to the kernel, and forbids inlining it.
    let text = std::fs::read_to_string(&ll)?.replace(" noinline", " alwaysinline").replace(" optnone", "");
    std::fs::write(&ll, text)?;
    run("opt-22", &["-passes=always-inline,globaldce,function(sroa,mem2reg)", "-S", &ll, "-o", &opt])?;
    run("llc-22", &["-mtriple=spirv64v1.2-unknown-unknown", "-O0", "-filetype=obj", &opt, "-o", &spv])?;
    Ok(Code::spirv(std::fs::read(spv)?, "k", String::new()))
}

pub fn range<const N: usize>(global: [u64; N]) -> NdRange {
    let mut all = [1; 3];
    all[..N].copy_from_slice(&global);
    NdRange { dims: N as u32, global: all, local: None, offset: [0; 3] }
}

pub fn bytes<T: Copy, const B: usize>(values: &[T], to: fn(T) -> [u8; B]) -> Vec<u8> {
    values.iter().flat_map(|v| to(*v)).collect()
}

pub fn floats(values: &[f32]) -> ArgValue {
    ArgValue::Buffer(Arc::new(bytes(values, f32::to_le_bytes)))
}

pub fn floats_of(seen: &Observation, position: u32) -> Result<Vec<f32>, String> {
    Ok(output(seen, position)?.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
}

/// Compiles, loads and runs once.
pub fn run(source: &str, range: NdRange, args: Vec<ArgValue>) -> Result<RunResult, Box<dyn std::error::Error>> {
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    Ok(executor.run(program, &Launch::new(range, args), &once())?)
}

pub const COPY: &str = "kernel void k(global int *out, global const int *in, int n) { \
                    size_t i = get_global_id(0); if (i < n) out[i] = in[i] + n; }";

pub fn format(order: &str, ty: &str) -> ImageFormat {
    ImageFormat { channel_order: order.into(), channel_type: ty.into() }
}

pub fn image(shape: ImageShape, format: ImageFormat, texels: Vec<u8>) -> ArgValue {
    ArgValue::Image { shape, format, texels: Arc::new(texels) }
}
