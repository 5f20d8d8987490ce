//! The OpenCL executor against a real device: every kind of argument, and everything a kernel can do wrong.
//!
//! Kernels are compiled here by the LLVM tools alone, so that these tests stand without kassay's own front half.

use std::io::{BufRead, BufReader};
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
fn values_of_every_size_and_local_memory_arrive() -> Test {
    let source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable
        struct s { char c; double d; int v[2]; };
        kernel void k(global double *out, char c, ushort s, uint u, long l, float f, double d, int3 v, float4 w,
                      struct s t, local int *scratch, constant int *table) {
            int i = get_local_id(0), n = get_local_size(0);
            scratch[i] = table[i]; barrier(CLK_LOCAL_MEM_FENCE);
            double all[] = {c, s, u, l, f, d, v.z, w.w, t.c, t.d, t.v[1], scratch[n - 1 - i]};
            for (int j = 0; j < 12; j++) out[12 * i + j] = all[j];
        }";
    let mut structure = vec![0xff_u8; 24];
    structure[0] = 9;
    structure[8..16].copy_from_slice(&10.5_f64.to_le_bytes());
    structure[20..24].copy_from_slice(&11_i32.to_le_bytes());
    let value = |bytes: &[u8]| ArgValue::Value(bytes.to_vec());
    let args = vec![
        ArgValue::Buffer(Arc::new(vec![0; 2 * 12 * 8])),
        value(&(-1_i8).to_le_bytes()),
        value(&60_000_u16.to_le_bytes()),
        value(&4_000_000_000_u32.to_le_bytes()),
        value(&(-5_000_000_000_i64).to_le_bytes()),
        value(&0.5_f32.to_le_bytes()),
        value(&0.25_f64.to_le_bytes()),
        value(&bytes(&[1, 2, 7, 0], i32::to_le_bytes)),
        value(&bytes(&[1.0, 2.0, 3.0, 8.0], f32::to_le_bytes)),
        value(&structure),
        ArgValue::Local(8),
        ints(&[100, 200]),
    ];
    let seen = completed(run(source, NdRange { local: Some([2, 1, 1]), ..range([2]) }, args)?)?;
    let doubles: Vec<f64> = output(&seen, 0)?.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    let fixed = [-1.0, 60_000.0, 4e9, -5e9, 0.5, 0.25, 7.0, 8.0, 9.0, 10.5, 11.0];
    assert_eq!(doubles[..11], fixed);
    assert_eq!(doubles[12..23], fixed);
    assert_eq!([doubles[11], doubles[23]], [200.0, 100.0]);
    Ok(())
}

#[test]
fn three_lanes_take_the_room_of_four() -> Test {
    let source = "kernel void k(global int3 *a) { a[get_global_id(0)].z += 10; }";
    let seen = completed(run(source, range([2]), vec![ints(&[1, 2, 3, 4, 5, 6, 7, 8])])?)?;
    let lanes = ints_of(&seen, 0)?;
    assert_eq!([lanes[2], lanes[6]], [13, 17]);
    assert_eq!([lanes[0], lanes[4]], [1, 5]);
    Ok(())
}

#[test]
fn three_dimensions_local_size_and_offset_reach_the_kernel() -> Test {
    let source = "kernel void k(global int *out) {
            int x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
                z = get_global_id(2) - get_global_offset(2);
            out[(z * get_global_size(1) + y) * get_global_size(0) + x] =
                get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2) + 1000000 * get_local_size(0);
        }";
    let range = NdRange { dims: 3, global: [4, 3, 2], local: Some([2, 3, 1]), offset: [5, 0, 7] };
    let seen = completed(run(source, range, vec![ints(&[0; 24])])?)?;
    let out = ints_of(&seen, 0)?;
    assert_eq!(out[0], 2_000_000 + 70_000 + 5);
    assert_eq!(out[23], 2_000_000 + 80_000 + 200 + 8);
    Ok(())
}

fn format(order: &str, ty: &str) -> ImageFormat {
    ImageFormat { channel_order: order.into(), channel_type: ty.into() }
}

fn image(shape: ImageShape, format: ImageFormat, texels: Vec<u8>) -> ArgValue {
    ArgValue::Image { shape, format, texels: Arc::new(texels) }
}

/// Nearest texel, by unnormalized coordinates.
fn nearest() -> ArgValue {
    ArgValue::Sampler { addressing: Addressing::ClampToEdge, filter: Filter::Nearest, normalized: false }
}

#[test]
fn images_of_each_shape_are_read() -> Test {
    let (w, h, n) = (4_u64, 3_u64, 2_u64);
    let int4 = "(int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0)";
    for (ty, shape, coordinates, sampler) in [
        ("image1d_t", ImageShape::D1 { width: w }, "(int)get_global_id(0)".to_owned(), true),
        ("image1d_buffer_t", ImageShape::D1Buffer { width: w }, "(int)get_global_id(0)".to_owned(), false),
        ("image1d_array_t", ImageShape::D1Array { width: w, layers: h }, format!("{int4}.xy"), true),
        ("image2d_t", ImageShape::D2 { width: w, height: h }, format!("{int4}.xy"), true),
        ("image2d_array_t", ImageShape::D2Array { width: w, height: h, layers: n }, int4.to_owned(), true),
        ("image3d_t", ImageShape::D3 { width: w, height: h, depth: n }, int4.to_owned(), true),
    ] {
        let read = if sampler { "img, smp" } else { "img" };
        let source = format!(
            "kernel void k(read_only {ty} img, sampler_t smp, global uint *out) {{
                size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
                out[i] = read_imageui({read}, {coordinates}).y; }}"
        );
        let global = match &shape {
            ImageShape::D1 { .. } | ImageShape::D1Buffer { .. } => [w, 1, 1],
            ImageShape::D1Array { .. } | ImageShape::D2 { .. } => [w, h, 1],
            ImageShape::D2Array { .. } | ImageShape::D3 { .. } => [w, h, n],
        };
        let count = global.iter().product::<u64>() as i32;
        let texels: Vec<u8> = (0..count).flat_map(|i| [0, i as u8, 0, 0]).collect();
        let args =
            vec![image(shape, format("RGBA", "UNSIGNED_INT8"), texels), nearest(), ints(&vec![0; count as usize])];
        let seen = completed(run(&source, range(global), args)?).map_err(|e| format!("{ty}: {e}"))?;
        assert_eq!(ints_of(&seen, 2)?, (0..count).collect::<Vec<_>>(), "{ty}");
    }
    Ok(())
}

#[test]
fn images_of_several_formats_are_written() -> Test {
    let source = "kernel void k(write_only image2d_t img, global int *n) {
            int2 p = (int2)(get_global_id(0), get_global_id(1));
            write_imagef(img, p, (float4)(p.x, p.y * 0.5f, 0, 1)); }";
    for (order, ty, expected) in [
        ("RGBA", "FLOAT", bytes(&[1.0, 0.5, 0.0, 1.0], f32::to_le_bytes)),
        ("RGBA", "UNORM_INT8", vec![255, 128, 0, 255]),
        ("BGRA", "UNORM_INT8", vec![0, 128, 255, 255]),
        ("R", "FLOAT", bytes(&[1.0], f32::to_le_bytes)),
        ("RG", "HALF_FLOAT", vec![0x00, 0x3c, 0x00, 0x38]),
    ] {
        let texel = expected.len();
        let shape = ImageShape::D2 { width: 3, height: 2 };
        let args = vec![image(shape, format(order, ty), vec![0; 6 * texel]), ints(&[0])];
        let seen = completed(run(source, range([3, 2]), args)?).map_err(|e| format!("{order} {ty}: {e}"))?;
        assert_eq!(output(&seen, 0)?[4 * texel..5 * texel], expected, "{order} {ty}");
    }
    Ok(())
}

#[test]
fn an_image_format_that_the_device_lacks_is_rejected_with_those_it_has() -> Test {
    let source = "kernel void k(read_only image2d_t img, global int *n) { n[0] = get_image_width(img); }";
    let shape = ImageShape::D2 { width: 2, height: 2 };
    let rejected =
        run(source, range([1]), vec![image(shape.clone(), format("RGB", "FLOAT"), vec![0; 48]), ints(&[0])])?;
    let Err(Fault::Rejected { explanation, .. }) = rejected else { return Err(format!("{rejected:?}").into()) };
    assert!(explanation.contains("RGBA/UNORM_INT8"), "{explanation}");
    let rejected = run(source, range([1]), vec![image(shape, format("RGBA", "WIDE"), vec![0; 48]), ints(&[0])])?;
    assert!(matches!(rejected, Err(Fault::Rejected { explanation, .. }) if explanation.contains("UNSIGNED_INT32")));
    Ok(())
}

#[test]
fn samplers_decide_how_an_image_is_read() -> Test {
    let source = "kernel void k(read_only image2d_t img, sampler_t smp, global float *out, float x) {
            out[0] = read_imagef(img, smp, (float2)(x, 0.5f)).x; }";
    let read = |x: f32, addressing, filter, normalized| -> Result<f32, Box<dyn std::error::Error>> {
        let texels = bytes(&[0.0, 1.0, 2.0, 3.0], f32::to_le_bytes);
        let args = vec![
            image(ImageShape::D2 { width: 4, height: 1 }, format("R", "FLOAT"), texels),
            ArgValue::Sampler { addressing, filter, normalized },
            floats(&[0.0]),
            ArgValue::Value(x.to_le_bytes().to_vec()),
        ];
        Ok(floats_of(&completed(run(source, range([1]), args)?)?, 2)?[0])
    };
    assert_eq!(read(2.2, Addressing::ClampToEdge, Filter::Nearest, false)?, 2.0);
    assert_eq!(read(2.0, Addressing::ClampToEdge, Filter::Linear, false)?, 1.5);
    assert_eq!(read(0.9, Addressing::ClampToEdge, Filter::Nearest, true)?, 3.0);
    assert_eq!(read(9.0, Addressing::ClampToEdge, Filter::Nearest, false)?, 3.0);
    assert_eq!(read(1.3, Addressing::Repeat, Filter::Nearest, true)?, 1.0);
    Ok(())
}

#[test]
fn printf_is_the_observation_of_its_own_launch() -> Test {
    let source = "kernel void k(int n) { if (get_global_id(0) == 0) printf(\"n is %d\\n\", n); }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    for n in [5, 6] {
        let launch = Launch { range: range([4]), args: vec![int(n)] };
        assert_eq!(completed(executor.run(program, &launch, &once())?)?.printf, format!("n is {n}\n"));
    }
    Ok(())
}

#[test]
fn after_an_endless_loop_the_next_launch_works() -> Test {
    let source = "kernel void k(global volatile int *a) { while (a[0]) a[1]++; a[1] = 7; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch = |go: i32| Launch { range: range([1]), args: vec![ints(&[go, 0])] };
    let limit = Duration::from_millis(300);
    let start = Instant::now();
    let fault = executor.run(program, &launch(1), &RunOptions { timeout: limit, ..once() })?;
    assert_eq!(fault, Err(Fault::Timeout { limit }));
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(ints_of(&completed(executor.run(program, &launch(0), &once())?)?, 0)?, [0, 7]);
    Ok(())
}

#[test]
fn after_a_wild_write_the_next_launch_works() -> Test {
    let source = "kernel void k(global int *a, long far) { a[far] = 7; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch =
        |far: i64| Launch { range: range([1]), args: vec![ints(&[0, 0]), ArgValue::Value(far.to_le_bytes().to_vec())] };
    let fault = executor.run(program, &launch(1 << 44), &once())?;
    assert!(matches!(fault, Err(Fault::Crash { signal: Some(libc::SIGSEGV), .. })), "{fault:?}");
    assert_eq!(ints_of(&completed(executor.run(program, &launch(1), &once())?)?, 0)?, [0, 7]);
    Ok(())
}

#[test]
fn a_division_by_zero_is_a_crash_at_worst() -> Test {
    let source = "kernel void k(global int *a) { a[0] = a[0] / a[1]; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch = |by: i32| Launch { range: range([1]), args: vec![ints(&[6, by])] };
    let result = executor.run(program, &launch(0), &once())?;
    assert!(matches!(result, Ok(_) | Err(Fault::Crash { .. })), "{result:?}");
    assert_eq!(ints_of(&completed(executor.run(program, &launch(2), &once())?)?, 0)?, [3, 2]);
    Ok(())
}

#[test]
fn after_broken_code_the_next_program_loads() -> Test {
    let good = compile(COPY)?;
    let mut executor = executor()?;
    let kept = executor.load(&good)?;
    let half = good.spirv[..good.spirv.len() / 2 / 4 * 4].to_vec();
    let truncated = Code { spirv: Arc::new(half), ..good.clone() };
    assert!(matches!(executor.load(&truncated), Err(Error::Internal(_))));
    let nameless = Code { entry: "nobody".into(), ..good.clone() };
    let refused = executor.load(&nameless).err().ok_or("loaded")?;
    assert!(refused.to_string().contains("CL_INVALID_KERNEL_NAME"), "{refused}");
    let launch = Launch { range: range([1]), args: vec![ints(&[0]), ints(&[1]), int(1)] };
    for program in [kept, executor.load(&good)?] {
        assert_eq!(ints_of(&completed(executor.run(program, &launch, &once())?)?, 0)?, [2]);
    }
    executor.unload(kept);
    assert!(matches!(executor.run(kept, &launch, &once()), Err(Error::Internal(_))));
    Ok(())
}

#[test]
fn launches_that_do_not_fit_are_rejected_with_the_reason() -> Test {
    let mut executor = executor()?;
    let program = executor.load(&compile(COPY)?)?;
    let mut why =
        |range: NdRange, args: Vec<ArgValue>, options: &RunOptions| -> Result<String, Box<dyn std::error::Error>> {
            match executor.run(program, &Launch { range, args }, options)? {
                Err(Fault::Rejected { error, explanation }) => Ok(format!("{error}: {explanation}")),
                other => Err(format!("{other:?}").into()),
            }
        };
    let args = || vec![ints(&[0; 4]), ints(&[0; 4]), int(4)];
    let too_wide = NdRange { local: Some([1 << 20, 1, 1]), ..range([1 << 20]) };
    assert!(why(too_wide, args(), &once())?.contains("CL_INVALID_WORK_"));
    let few = why(range([4]), vec![ints(&[0; 4])], &once())?;
    assert!(few.contains("takes 3 arguments, the launch gives 1"), "{few}");
    let mut long = args();
    long[2] = ArgValue::Value(vec![0; 8]);
    let long = why(range([4]), long, &once())?;
    assert!(long.contains("CL_INVALID_ARG_SIZE") && long.contains("argument 2"), "{long}");
    let huge = why(range([4]), args(), &RunOptions { probe_words: Some(1 << 60), ..once() })?;
    assert!(huge.contains("the probe buffer") && huge.contains("4611686018427387904"), "{huge}");
    Ok(())
}

/// OpenCL 2.0 allows work-groups of different sizes; for kernels of OpenCL C 1.x the build option forbids them.
#[test]
fn an_uneven_local_size_is_rejected_where_the_program_asks_for_even_ones() -> Test {
    let mut executor = executor()?;
    let code = Code { build_options: "-cl-uniform-work-group-size".into(), ..compile(COPY)? };
    let program = executor.load(&code)?;
    let uneven = NdRange { local: Some([3, 1, 1]), ..range([4]) };
    let launch = Launch { range: uneven, args: vec![ints(&[0; 4]), ints(&[0; 4]), int(4)] };
    let result = executor.run(program, &launch, &once())?;
    assert!(
        matches!(&result, Err(Fault::Rejected { error, .. }) if error == "CL_INVALID_WORK_GROUP_SIZE"),
        "{result:?}"
    );
    Ok(())
}

#[test]
fn a_buffer_may_be_empty() -> Test {
    let seen = completed(run(COPY, range([2]), vec![ints(&[]), ints(&[]), int(0)])?)?;
    assert!(output(&seen, 0)?.is_empty());
    Ok(())
}

#[test]
fn every_repeat_starts_from_pristine_inputs_and_a_zeroed_probe() -> Test {
    let source = "kernel void k(global int *a, global int *empty, write_only image2d_t img, global uint *probe) {
            if (get_global_id(0) == 0) write_imageui(img, (int2)(a[0], 0), (uint4)(9));
            a[get_global_id(0)] += 1; atomic_add(&probe[1], 1); }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let texels = image(ImageShape::D2 { width: 4, height: 1 }, format("R", "UNSIGNED_INT32"), vec![0; 16]);
    let launch = Launch { range: range([3]), args: vec![ints(&[1, 2, 3]), ints(&[]), texels] };
    let options = RunOptions { repeats: 5, probe_words: Some(3), ..once() };
    for _ in 0..2 {
        let seen = completed(executor.run(program, &launch, &options)?)?;
        assert_eq!(ints_of(&seen, 0)?, [2, 3, 4]);
        assert_eq!(ints_of(&seen, 2)?, [0, 9, 0, 0]);
        assert_eq!(seen.probe, [0, 3, 0]);
        assert_eq!(seen.kernel_times.len(), 5);
    }
    let seen = completed(executor.run(program, &launch, &RunOptions { outputs: false, ..options })?)?;
    assert!(seen.outputs.is_empty() && seen.probe == [0, 3, 0]);
    Ok(())
}

#[test]
fn large_buffers_come_and_go() -> Test {
    let n = 80 << 20;
    let source = "kernel void k(global uchar *a) { a[get_global_id(0) * 1048576] += 1; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch = Launch { range: range([80]), args: vec![ArgValue::Buffer(Arc::new(vec![3; n]))] };
    let small = Launch { range: range([1]), args: vec![ArgValue::Buffer(Arc::new(vec![3; 2]))] };
    for _ in 0..2 {
        let seen = completed(executor.run(program, &launch, &once())?)?;
        let out = output(&seen, 0)?;
        assert_eq!((out.len(), out[79 << 20], out[n - 1]), (n, 4, 3));
        assert_eq!(output(&completed(executor.run(program, &small, &once())?)?, 0)?, [4, 3]);
    }
    Ok(())
}

#[test]
fn devices_are_found_and_chosen_by_name_or_number() -> Test {
    let devices = probe_devices(&options())?;
    let first = devices.iter().find(|d| !d.il_versions.is_empty()).ok_or("no device takes SPIR-V")?;
    assert!(first.max_work_group_size > 0 && first.global_memory > 0 && !first.driver.is_empty());
    let (platform, device) = first.index.ok_or("no index")?;
    for request in [
        DeviceRequest::Any,
        DeviceRequest::Opencl { platform, device },
        DeviceRequest::Name(first.name.to_uppercase()[1..].to_owned()),
    ] {
        assert_eq!(OpenClExecutor::start(request, options())?.device(), first);
    }
    for request in [
        DeviceRequest::Opencl { platform: 99, device: 0 },
        DeviceRequest::Name("no such thing".into()),
        DeviceRequest::Simulator,
    ] {
        let error = OpenClExecutor::start(request.clone(), options()).err().ok_or("started")?;
        assert!(matches!(error, Error::Environment(_)), "{error}");
        assert!(request == DeviceRequest::Simulator || error.to_string().contains(&first.name), "{error}");
    }
    Ok(())
}

#[test]
fn a_program_that_is_no_worker_is_an_environment_error() -> Test {
    for exe in ["/bin/false", "/nonexistent/kassay"] {
        let broken = WorkerOptions { exe: Some(exe.into()), ..WorkerOptions::default() };
        let error = OpenClExecutor::start(DeviceRequest::Any, broken).err().ok_or("started")?;
        assert!(matches!(error, Error::Environment(_)), "{error}");
    }
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
        println!(
            "pause {pause} ms: spawn {spawned:?} ready {ready:?} load {loaded:?} runs {runs:?} second load {reloaded:?} all {all:?} drop {:?}",
            at.elapsed()
        );
    }
    Ok(())
}

#[test]
#[ignore = "runs until it is killed; for the test below"]
fn a_kernel_that_runs_for_a_minute() -> Test {
    let source = "kernel void k(global volatile int *a) { while (a[0]) a[1]++; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    println!("launched");
    let launch = Launch { range: range([1]), args: vec![ints(&[1, 0])] };
    executor.run(program, &launch, &once())?.map(|_| ()).map_err(|fault| format!("{fault:?}").into())
}

#[test]
fn a_worker_ends_with_its_parent_even_in_an_endless_kernel() -> Test {
    let mut parent = Command::new(std::env::current_exe()?)
        .args(["--ignored", "--exact", "--nocapture", "a_kernel_that_runs_for_a_minute"])
        .stdout(std::process::Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(parent.stdout.take().ok_or("no stdout")?).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("launched")), "it did not start");
    std::thread::sleep(Duration::from_millis(100));
    let workers = children_of(parent.id())?;
    assert!(!workers.is_empty());
    parent.kill()?;
    parent.wait()?;
    let alive = || workers.iter().any(|pid| parent_of(*pid).is_some());
    let start = Instant::now();
    while alive() && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!alive(), "{workers:?} still run");
    Ok(())
}

/// A living process's parent; zombies do not live.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next() == Some("Z") { None } else { fields.next()?.parse().ok() }
}

fn children_of(parent: u32) -> std::io::Result<Vec<u32>> {
    let pids = std::fs::read_dir("/proc")?.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    Ok(pids.filter(|pid| parent_of(*pid) == Some(parent)).collect())
}

fn devices(args: &[&str], vendors: Option<&str>) -> Result<(Option<i32>, String), Box<dyn std::error::Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kassay"));
    command.arg("devices").args(args);
    if let Some(folder) = vendors {
        command.env("OCL_ICD_VENDORS", folder);
    }
    let done = command.output()?;
    Ok((done.status.code(), String::from_utf8(done.stdout)?))
}

#[test]
fn the_devices_command_says_what_runs_and_what_is_missing() -> Test {
    let (code, json) = devices(&["--format", "json"], None)?;
    let result: kassay::result::devices::DevicesResult = serde_json::from_str(&json)?;
    assert_eq!((code, result.schema.as_str()), (Some(0), "kassay.devices/1"));
    assert!(result.device.is_some_and(|d| !d.il_versions.is_empty()) && result.devices[0].id.starts_with("opencl:"));

    let empty = tempfile::tempdir()?;
    let (code, text) = devices(&[], Some(&empty.path().to_string_lossy()))?;
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("scripts/quickstart"), "{text}");
    Ok(())
}

#[test]
fn a_driver_that_fails_is_named() -> Test {
    let folder = tempfile::tempdir()?;
    // A library that ends the process as it is loaded.
    let library = folder.path().join("libends.so");
    let source = folder.path().join("ends.c");
    std::fs::write(&source, "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n")?;
    let built = Command::new("clang-22").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status()?;
    assert!(built.success());
    std::fs::write(folder.path().join("a.icd"), library.to_string_lossy().as_bytes())?;
    std::fs::write(folder.path().join("b.icd"), "libnotthere.so")?;
    let (code, text) = devices(&[], Some(&folder.path().to_string_lossy()))?;
    assert_eq!(code, Some(3), "{text}");
    assert!(
        text.contains("a.icd") && text.contains("libends.so) fails") && !text.contains("libnotthere.so) fails"),
        "{text}"
    );
    Ok(())
}
