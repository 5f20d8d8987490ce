//! Checks the sizes, contents and arguments of generated launches.

use kassay_judge::generate::launches::{Request, launches};
use kassay_judge::generate::planned_launch::GeneratedLaunch;
use kassay_judge::generate::roles;
use kassay_suite::launch::{ArgValue, NdRange};

use super::support::{fixtures, with_file, with_source};
use crate::common::launches::words;

fn of(source: &str, request: &Request) -> Vec<GeneratedLaunch> {
    with_source(source, |under_test| launches(&roles::infer(under_test).unwrap(), request).unwrap())
}

fn bytes(launch: &GeneratedLaunch, position: usize) -> u64 {
    match &launch.launch.args[position] {
        ArgValue::Buffer(bytes) => bytes.len() as u64,
        ArgValue::Local(bytes) => *bytes,
        other => panic!("{other:?}"),
    }
}

fn int(launch: &GeneratedLaunch, position: usize) -> i32 {
    match &launch.launch.args[position] {
        ArgValue::Value(bytes) => i32::from_le_bytes(bytes[..4].try_into().unwrap()),
        other => panic!("{other:?}"),
    }
}

fn ints(launch: &GeneratedLaunch, position: usize) -> Vec<i32> {
    match &launch.launch.args[position] {
        ArgValue::Buffer(bytes) => words(bytes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn fixtures_get_several_launches_of_plausible_sizes() {
    for suite in fixtures() {
        with_file(&suite.kernel, suite.entry.as_deref(), &suite.options, |under_test| {
            let model = roles::infer(under_test).unwrap();
            let all = launches(&model, &Request::default()).unwrap();
            let name = &under_test.entry;
            assert!(all.len() >= 3, "{name}: {}", all.len());
            let mut ranges: Vec<NdRange> = all.iter().map(|g| g.launch.range.clone()).collect();
            ranges.dedup();
            assert!(ranges.len() >= 2, "{name}: one geometry only");
            for (i, generated) in all.iter().enumerate() {
                assert_eq!(generated.launch.args.len(), under_test.interface.args.len(), "{name}");
                assert!(all[..i].iter().all(|g| g.name != generated.name), "{name}: two of {}", generated.name);
                let range = &generated.launch.range;
                let local = range.local.unwrap();
                let even = (0..3).all(|d| range.global[d] % local[d] == 0);
                assert!(even || !under_test.interface.uniform_groups, "{name}: {range:?}");
                assert!(under_test.interface.required_local.is_none_or(|r| r == local), "{name}: {local:?}");
                for value in &generated.launch.args {
                    if let ArgValue::Buffer(bytes) = value {
                        assert!((1..1 << 20).contains(&bytes.len()), "{name}: {} bytes", bytes.len());
                    }
                }
            }
            let again = launches(&model, &Request::default()).unwrap();
            assert!(all == again, "{name}: equal seeds give equal launches");
        });
    }
}

#[test]
fn lengths_follow_the_sizes_and_buffers_the_lengths() {
    let all = of(
        "kernel void k(global float *a, int n, int w, global int *b) {
            int i = get_global_id(0);
            if (i < n) a[i] = 1;
            b[get_global_id(1) * w + i] = 2;
        }",
        &Request::default(),
    );
    assert!(all.iter().any(|g| int(g, 1) < g.launch.range.global[0] as i32), "some lengths do not divide");
    for g in &all {
        assert_eq!(bytes(g, 0), 4 * int(g, 1) as u64, "{}", g.name);
        assert!(int(g, 2) >= g.launch.range.global[0] as i32, "{}: rows would overlap", g.name);
    }
}

#[test]
fn indices_in_buffers_stay_within_what_they_index() {
    let all = of(
        "kernel void k(global const int *start, global const int *column, global const float *x, global float *y, int n) {
            int i = get_global_id(0);
            if (i >= n) return;
            float s = 0;
            for (int k = start[i]; k < start[i + 1]; k++) s += x[column[k]];
            y[i] = s;
        }",
        &Request::default(),
    );
    for g in &all {
        let start = ints(g, 0);
        assert_eq!(start.len(), int(g, 4) as usize + 1, "{}", g.name);
        assert!(start.is_sorted() && start[0] >= 0, "{start:?}");
        assert!(ints(g, 1).len() >= *start.last().unwrap() as usize);
        let elements = (bytes(g, 2) / 4) as i32;
        assert!(ints(g, 1)[..*start.last().unwrap() as usize].iter().all(|c| (0..elements).contains(c)), "{}", g.name);
    }
}

#[test]
fn given_sizes_are_kept() {
    let range = NdRange { dims: 1, global: [96, 1, 1], local: Some([32, 1, 1]), offset: [0; 3] };
    let request = Request { range: Some(range.clone()), seed: 3 };
    let source = "kernel void k(global int *a, int n) { int i = get_global_id(0); if (i < n) a[i] += 3; }";
    let all = of(source, &request);
    assert!(all.len() >= 3 && all.iter().all(|g| g.launch.range == range));
    assert!(all.iter().any(|g| int(g, 1) == 96) && all.iter().any(|g| int(g, 1) < 96));
    let other = of(source, &Request { seed: 4, ..request });
    assert!(all.iter().zip(&other).any(|(a, b)| a.launch != b.launch));
    let wrong = with_source(
        "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k(global int *a) { a[get_global_id(0)] = 1; }",
        |under_test| launches(&roles::infer(under_test).unwrap(), &Request { range: Some(range), seed: 0 }),
    );
    assert_eq!(wrong.unwrap_err().exit_code(), 2);
}

#[test]
fn every_kind_of_argument_is_given() {
    let all = of(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        #pragma OPENCL EXTENSION cl_khr_fp64 : enable
        typedef struct { char c; double d; struct { short s[3]; float4 v; } in; } nested;
        kernel void k(char a, ushort b, long c, half d, double e, float3 f, uchar16 g, nested h, global nested *i, local int *j,
                      read_only image2d_t l, write_only image3d_t m, sampler_t o, global half4 *p, global double *q) {
            int x = get_global_id(0);
            j[get_local_id(0)] = a + b + c;
            i[x].in.s[2] = j[0] + h.c;
            p[x] = (half4)(d);
            q[x] = e + f.y + g.s3 + read_imagef(l, o, (int2)(x, 0)).x;
        }",
        &Request::default(),
    );
    let args = &all[0].launch.args;
    let size = |i: usize| match &args[i] {
        ArgValue::Value(bytes) => bytes.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(size), [1, 2, 8, 2, 8, 16, 16]);
    assert_eq!(size(7), 48);
    let items = all[0].launch.range.items();
    assert_eq!(bytes(&all[0], 8) % 48, 0);
    assert_eq!(bytes(&all[0], 13), 8 * items);
    assert!(matches!(args[10], ArgValue::Image { .. }) && matches!(args[12], ArgValue::Sampler { .. }));
    let queue = "kernel void k(queue_t q, global int *a) { a[0] = 1; }";
    let unsupported = std::panic::catch_unwind(|| of(queue, &Request::default()));
    assert!(unsupported.is_err(), "no launch can give a queue");
}

#[test]
fn groups_are_as_large_as_literal_halves_and_steps_ask_for() {
    let sizes = |source: &str| -> Vec<u64> {
        of(source, &Request::default()).iter().map(|l| l.launch.range.decided().local[0]).collect()
    };
    let halved = sizes(
        "kernel void k(global const float *in, global float *out, local float *sums) {
            int l = get_local_id(0);
            sums[l] = in[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int s = 24; s > 0; s >>= 1) {
                if (l < s) sums[l] += sums[l + s];
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (l == 0) out[get_group_id(0)] = sums[0];
        }",
    );
    assert!(halved.iter().all(|size| *size == 48), "{halved:?}");
    // With fewer than 16 work-items the loop would not get on.
    let steps = sizes(
        "kernel void k(global const float *in, global float *out, local float *tile, int pitch) {
            int l = get_local_id(0);
            for (int row = l / 16; row < 64; row += get_local_size(0) / 16)
                tile[row * 16 + l % 16] = in[row * pitch + l % 16];
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_global_id(0)] = tile[l];
        }",
    );
    assert!(steps.iter().all(|size| size % 16 == 0), "{steps:?}");
    let rows = sizes(
        "kernel void k(global const float *in, global float *out) {
            local float tile[64 * 8];
            for (int i = 0; i < 64; i += 4)
                tile[(get_local_id(0) + i) * 8 + get_local_id(1)] = in[get_global_id(0) + i];
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_global_id(0)] = tile[get_local_id(1)];
        }",
    );
    assert!(rows.iter().all(|size| *size == 4), "{rows:?}");
}
