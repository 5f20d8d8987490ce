//! Checks arguments, NDRanges, repeats and outputs.

use std::sync::Arc;
use std::time::Duration;

use kassay_run::exec::{Executor, Kept, RunOptions};
use kassay_suite::launch::{ArgValue, ImageShape, Launch, NdRange};

use super::support::*;

#[test]
fn buffers_and_values_arrive_and_come_back() -> TestResult {
    let seen = completed(run(COPY, range([4]), vec![ints(&[0; 4]), ints(&[1, 2, 3, 4]), int(3)])?)?;
    assert_eq!(ints_of(&seen, 0)?, [4, 5, 6, 0]);
    assert_eq!(ints_of(&seen, 1)?, [1, 2, 3, 4]);
    assert_eq!(seen.kernel_times.len(), 1);
    assert!(seen.kernel_times[0] > Duration::ZERO && seen.probe.is_empty() && seen.printf.is_empty());
    Ok(())
}

#[test]
fn values_of_every_size_and_local_memory_arrive() -> TestResult {
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
    assert_eq!(seen.outputs.len(), 1, "constant memory is no output");
    Ok(())
}

#[test]
fn vectors_of_three_take_the_space_of_four() -> TestResult {
    let source = "kernel void k(global int3 *a) { a[get_global_id(0)].z += 10; }";
    let seen = completed(run(source, range([2]), vec![ints(&[1, 2, 3, 4, 5, 6, 7, 8])])?)?;
    let lanes = ints_of(&seen, 0)?;
    assert_eq!([lanes[2], lanes[6]], [13, 17]);
    assert_eq!([lanes[0], lanes[4]], [1, 5]);
    Ok(())
}

#[test]
fn three_dimensions_local_size_and_offset_reach_the_kernel() -> TestResult {
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

#[test]
fn printf_output_belongs_to_its_own_launch() -> TestResult {
    let source = "kernel void k(int n) { if (get_global_id(0) == 0) printf(\"n is %d\\n\", n); }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    for n in [5, 6] {
        let launch = Launch::new(range([4]), vec![int(n)]);
        assert_eq!(completed(executor.run(program, &launch, &once())?)?.printf, format!("n is {n}\n"));
    }
    Ok(())
}

#[test]
fn a_buffer_may_be_empty() -> TestResult {
    let seen = completed(run(COPY, range([2]), vec![ints(&[]), ints(&[]), int(0)])?)?;
    assert!(output(&seen, 0)?.is_empty());
    Ok(())
}

#[test]
fn every_repeat_starts_from_pristine_inputs_and_a_zeroed_probe() -> TestResult {
    let source = "kernel void k(global int *a, global int *empty, write_only image2d_t img, global uint *probe) {
            if (get_global_id(0) == 0) write_imageui(img, (int2)(a[0], 0), (uint4)(9));
            a[get_global_id(0)] += 1; atomic_add(&probe[1], 1); }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let texels = image(ImageShape::D2 { width: 4, height: 1 }, format("R", "UNSIGNED_INT32"), vec![0; 16]);
    let launch = Launch::new(range([3]), vec![ints(&[1, 2, 3]), ints(&[]), texels]);
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
fn memory_after_the_probe_buffer_stays_until_it_is_renewed_or_grows() -> TestResult {
    let source = "kernel void k(global uint *probe) { probe[0] += 1; probe[5] += 1; probe[1] = probe[5]; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch = Launch::new(range([1]), Vec::new());
    let options = RunOptions { probe_words: Some(2), ..once() };
    let mut seen = |words, renew| -> TestResult<Vec<u32>> {
        let ran = executor.run_with_kept(program, &launch, &options, &[6], Kept { words, renew })?;
        Ok(completed(ran)?.probe)
    };
    // The probe buffer itself begins anew each time, and only it comes back.
    assert_eq!(seen(8, false)?, [7, 1]);
    assert_eq!(seen(8, false)?, [7, 2]);
    assert_eq!(seen(4, false)?, [7, 3]);
    assert_eq!(seen(8, true)?, [7, 1]);
    assert_eq!(seen(8, false)?, [7, 2]);
    assert_eq!(seen(1 << 20, false)?, [7, 1]);
    Ok(())
}

#[test]
fn large_buffers_come_and_go() -> TestResult {
    let n = 80 << 20;
    let source = "kernel void k(global uchar *a) { a[get_global_id(0) * 1048576] += 1; }";
    let mut executor = executor()?;
    let program = executor.load(&compile(source)?)?;
    let launch = Launch::new(range([80]), vec![ArgValue::Buffer(Arc::new(vec![3; n]))]);
    let small = Launch::new(range([1]), vec![ArgValue::Buffer(Arc::new(vec![3; 2]))]);
    for _ in 0..2 {
        let seen = completed(executor.run(program, &launch, &once())?)?;
        let out = output(&seen, 0)?;
        assert_eq!((out.len(), out[79 << 20], out[n - 1]), (n, 4, 3));
        assert_eq!(output(&completed(executor.run(program, &small, &once())?)?, 0)?, [4, 3]);
    }
    Ok(())
}

#[test]
fn endless_printf_output_is_cut() -> TestResult {
    let source = "kernel void k(int n) { for (int i = 0; i < n; i++) printf(\"0123456789012345678901234567890123456789%d\\n\", i); }";
    let seen = completed(run(source, range([1]), vec![int(2_000_000)])?)?;
    assert!(seen.printf.len() < 70 << 20 && seen.printf.contains("cut after"), "{}", seen.printf.len());
    Ok(())
}
