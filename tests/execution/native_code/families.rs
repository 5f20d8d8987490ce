//! Checks the builtins that kassay defines itself: atomics, collective functions, copies, images.

use kassay_ir::lower::native::emit::Effort;

use super::support::{Arg, Loaded, Range, code, run, words};

/// Returns `count` words of the output of the kernel `k(global int *out)`, which must be equal for both efforts.
#[track_caller]
fn result(source: &str, cl_std: &str, range: Range, count: usize) -> Vec<i32> {
    let [quick, full] = [Effort::Quick, Effort::Full].map(|effort| {
        let loaded = Loaded::new(&code(source, cl_std, effort).unwrap_or_else(|e| panic!("{e}")));
        let mut out = vec![0; count * 4];
        run(&loaded, range, &mut [Arg::Buffer(&mut out)]);
        words(&out)
    });
    assert_eq!(quick, full);
    full
}

#[test]
fn atomics_of_opencl_1_return_the_old_value() {
    let source = "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
    #define ALL(P, T, p) { \
        *p = 100; \
        o[0] = P##add(p, 5); o[1] = *p; o[2] = P##sub(p, 7); o[3] = *p; o[4] = P##xchg(p, 12); o[5] = *p; \
        o[6] = P##min(p, (T)-3); o[7] = *p; o[8] = P##max(p, 20); o[9] = *p; o[10] = P##and(p, 6); o[11] = *p; \
        o[12] = P##or(p, 9); o[13] = *p; o[14] = P##xor(p, 15); o[15] = *p; o[16] = P##inc(p); o[17] = *p; \
        o[18] = P##dec(p); o[19] = *p; o[20] = P##cmpxchg(p, 1, 2); o[21] = *p; o[22] = P##cmpxchg(p, *p, 77); \
        o[23] = *p; o += 24; }
    kernel void k(global int *out) {
        global int *o = out + 8;
        local int li; local uint lu; local long ll; local ulong lul; local float lf;
        ALL(atomic_, int, (volatile global int *)out)
        ALL(atomic_, uint, (volatile global uint *)out)
        ALL(atomic_, int, (&li))
        ALL(atomic_, uint, (&lu))
        ALL(atom_, int, (volatile global int *)out)
        ALL(atom_, long, (volatile global long *)(out + 2))
        ALL(atom_, ulong, (volatile global ulong *)(out + 2))
        ALL(atom_, long, (&ll))
        ALL(atom_, ulong, (&lul))
        lf = 1.5f;
        o[0] = (int)(10 * atomic_xchg(&lf, 2.5f)); o[1] = (int)(10 * lf);
    }";
    let seen = result(source, "CL1.2", Range::linear(1, 1), 8 + 9 * 24 + 2);
    let from = |least: i32, kept: i32| {
        [
            [100, 105, 105, 98, 98, 12, 12, least].as_slice(),
            &[least, kept, kept, kept & 6, kept & 6, kept & 6 | 9],
            &[kept & 6 | 9, (kept & 6 | 9) ^ 15, (kept & 6 | 9) ^ 15, ((kept & 6 | 9) ^ 15) + 1],
            &[((kept & 6 | 9) ^ 15) + 1, (kept & 6 | 9) ^ 15, (kept & 6 | 9) ^ 15, (kept & 6 | 9) ^ 15],
            &[(kept & 6 | 9) ^ 15, 77],
        ]
        .concat()
    };
    let (signed, unsigned) = (from(-3, 20), from(12, 20));
    for (i, is_signed) in [true, false, true, false, true, true, false, true, false].into_iter().enumerate() {
        assert_eq!(seen[8 + i * 24..][..24], if is_signed { signed.clone() } else { unsigned.clone() }, "{i}");
    }
    assert_eq!(seen[8 + 9 * 24..], [15, 25]);
}

#[test]
fn atomics_of_many_items_lose_nothing() {
    let source = "kernel void k(global int *out) {
        local int sum;
        if (get_local_id(0) == 0) sum = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 1000; i++) { atomic_inc(&sum); atomic_add(out, 2); }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0) out[1 + get_group_id(0)] = sum;
    }";
    assert_eq!(result(source, "CL1.2", Range::linear(24, 8), 4), [48000, 8000, 8000, 8000]);
}

/// Compiled for OpenCL C 3.0 with and without generic pointers: kassay compiles without them first.
#[test]
fn c11_atomics_work_with_every_order_and_scope() {
    let source = "
    #define MORE(T, A, p) { atomic_init(p, (T)10); T e = 3; \
        o[0] = atomic_fetch_add_explicit(p, (T)5, memory_order_relaxed); \
        o[1] = atomic_fetch_sub_explicit(p, (T)1, memory_order_acq_rel, memory_scope_work_group); \
        o[2] = atomic_fetch_max_explicit(p, (T)40, memory_order_release, memory_scope_device); \
        o[3] = atomic_fetch_min_explicit(p, (T)30, memory_order_acquire, memory_scope_work_item); \
        o[4] = atomic_exchange_explicit(p, (T)8, memory_order_relaxed, memory_scope_all_svm_devices); \
        o[5] = atomic_compare_exchange_strong_explicit(p, &e, (T)9, memory_order_seq_cst, memory_order_relaxed, memory_scope_device); \
        o[6] = e; \
        o[7] = atomic_compare_exchange_strong_explicit(p, &e, (T)9, memory_order_acq_rel, memory_order_acquire); \
        o[8] = atomic_load_explicit(p, memory_order_acquire, memory_scope_work_group); \
        atomic_store_explicit(p, (T)21, memory_order_release); \
        o[9] = atomic_load_explicit(p, memory_order_relaxed); o += 10; }
    #define BITS(T, p) { atomic_init(p, (T)12); \
        o[0] = atomic_fetch_or_explicit(p, (T)3, memory_order_relaxed); \
        o[1] = atomic_fetch_and_explicit(p, (T)6, memory_order_seq_cst, memory_scope_device); \
        o[2] = atomic_fetch_xor_explicit(p, (T)1, memory_order_acq_rel, memory_scope_work_group); \
        o[3] = atomic_load_explicit(p, memory_order_seq_cst); o += 4; }
    kernel void k(global int *out) {
        global int *o = out + 8;
        local atomic_uint lu; local atomic_long ll; local atomic_float lf; local atomic_double ld; local atomic_flag flag;
        MORE(int, atomic_int, (volatile global atomic_int *)out)
        MORE(uint, atomic_uint, (&lu))
        MORE(long, atomic_long, (&ll))
        MORE(ulong, atomic_ulong, (volatile global atomic_ulong *)(out + 2))
        BITS(int, (volatile global atomic_int *)out)
        BITS(ulong, (volatile global atomic_ulong *)(out + 2))
        atomic_flag_clear_explicit(&flag, memory_order_relaxed);
        o[0] = atomic_flag_test_and_set_explicit(&flag, memory_order_acquire);
        o[1] = atomic_flag_test_and_set_explicit(&flag, memory_order_relaxed, memory_scope_device);
        atomic_init(&lf, 1.5f); atomic_store_explicit(&lf, 2.25f, memory_order_relaxed);
        o[2] = 100 * atomic_exchange_explicit(&lf, 4.0f, memory_order_relaxed);
        o[3] = 100 * atomic_load_explicit(&lf, memory_order_relaxed);
        int order = get_local_id(0) == 0 ? memory_order_acquire : memory_order_relaxed;
        o[4] = atomic_load_explicit((volatile global atomic_int *)out, (memory_order)order);
    }";
    let seen = result(source, "CL3.0", Range::linear(1, 1), 8 + 40 + 8 + 5);
    for values in seen[8..48].chunks_exact(10) {
        assert_eq!(values, [10, 15, 14, 40, 30, 0, 8, 1, 9, 21]);
    }
    for values in seen[48..56].chunks_exact(4) {
        assert_eq!(values, [12, 15, 6, 7]);
    }
    assert_eq!(seen[56..], [0, 1, 225, 400, 7]);
    // Without orders, and through generic pointers.
    let source = "kernel void k(global int *out) {
        volatile generic atomic_int *p = (volatile global atomic_int *)out;
        int e = 5;
        atomic_store(p, 4);
        out[1] = atomic_fetch_add(p, 1);
        out[2] = atomic_compare_exchange_weak(p, &e, 6);
        out[3] = atomic_load(p);
        out[4] = atomic_add((volatile global int *)out, 3);
        out[5] = atomic_flag_test_and_set((volatile global atomic_flag *)(out + 6));
        local atomic_uintptr_t u;
        atomic_init(&u, (uintptr_t)100);
        out[7] = atomic_fetch_add(&u, (ptrdiff_t)-1);
        out[8] = atomic_load(&u);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    }";
    assert_eq!(result(source, "CL2.0", Range::linear(1, 1), 9), [9, 4, 1, 6, 6, 0, 1, 100, 99]);
}

#[test]
fn groups_reduce_scan_and_broadcast() {
    let source = "kernel void k(global int *out) {
        global int *o = out + 32 * get_local_linear_id();
        int x = (int)((get_local_linear_id() * 7) % 13) - 5;
        o[0] = work_group_reduce_add(x); o[1] = work_group_reduce_min((long)x); o[2] = work_group_reduce_max((float)x);
        o[3] = work_group_scan_inclusive_add((uint)(x + 5)); o[4] = work_group_scan_exclusive_add((double)x);
        o[5] = work_group_scan_inclusive_min(x); o[6] = work_group_scan_exclusive_max(x);
        o[7] = work_group_broadcast(x, 3, 1); o[8] = work_group_all(x > -6); o[9] = work_group_any(x == 7);
        o[10] = work_group_all(x > -5);
    }";
    let range = Range { dimensions: 2, global: [7, 5, 1], local: [7, 5, 1], ..Range::linear(1, 1) };
    let seen = result(source, "CL2.0", range, 32 * 35);
    let x: Vec<i32> = (0..35).map(|i| i * 7 % 13 - 5).collect();
    for (i, o) in seen.chunks_exact(32).enumerate() {
        let wanted = [
            x.iter().sum(),
            *x.iter().min().unwrap(),
            *x.iter().max().unwrap(),
            x[..=i].iter().map(|x| x + 5).sum(),
            x[..i].iter().sum(),
            *x[..=i].iter().min().unwrap(),
            x[..i].iter().copied().max().unwrap_or(i32::MIN),
            x[10],
            1,
            i32::from(x.contains(&7)),
            0,
        ];
        assert_eq!(o[..11], wanted, "{i}");
    }
}

#[test]
fn sub_groups_exchange() {
    let source = "#pragma OPENCL EXTENSION cl_khr_subgroups : enable
    kernel void k(global int *out) {
        uint i = get_local_linear_id();
        global int *o = out + 32 * i;
        int x = 100 + i;
        o[0] = sub_group_reduce_add(x); o[1] = sub_group_scan_exclusive_add(x); o[2] = sub_group_scan_inclusive_max(x);
        o[3] = sub_group_broadcast(x, 0); o[4] = sub_group_all(x > 100); o[5] = sub_group_any(x == 120);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        o[6] = sub_group_shuffle(x, 1); o[7] = sub_group_shuffle_xor(x, 1); o[8] = sub_group_shuffle_down(x, 2);
        o[9] = sub_group_shuffle_up(x, 3); o[10] = sub_group_clustered_reduce_add(x, 4); o[11] = sub_group_rotate(x, 5);
        uint4 odd = sub_group_ballot(x % 2);
        o[12] = odd.x; o[13] = odd.y; o[14] = odd.z | odd.w;
        o[15] = sub_group_ballot_bit_count(odd); o[16] = sub_group_ballot_inclusive_scan(odd);
        o[17] = sub_group_ballot_exclusive_scan(odd); o[18] = sub_group_inverse_ballot(odd);
        o[19] = sub_group_ballot_find_lsb(odd); o[20] = sub_group_ballot_find_msb(odd);
        o[21] = sub_group_ballot_bit_count((uint4)(~0u)); o[22] = sub_group_ballot_find_msb((uint4)(~0u));
        uint4 masks[5] = {get_sub_group_eq_mask(), get_sub_group_ge_mask(), get_sub_group_gt_mask(),
                          get_sub_group_le_mask(), get_sub_group_lt_mask()};
        for (uint m = 0; m < 5; m++) {
            o[23 + m] = masks[m].x ^ masks[m].y * 3;
        }
    }";
    for size in [1, 4, 16, 32, 64] {
        let range = Range { sub_group: size, ..Range::linear(100, 100) };
        let seen = result(source, "CL3.0", range, 32 * 100);
        let size = size as i32;
        for (i, o) in seen.chunks_exact(32).enumerate() {
            let i = i as i32;
            let first = i / size * size;
            let (count, rank) = ((100 - first).min(size), i - first);
            let x = |i: i32| 100 + i;
            let all = first..first + count;
            let within = |rank: i32| if (0..count).contains(&rank) { x(first + rank) } else { x(i) };
            let cluster = first + rank / 4 * 4;
            let bits = |of: &dyn Fn(i32) -> bool| (0..count).filter(|k| of(*k)).fold(0_u64, |bits, k| bits | 1 << k);
            let odd = bits(&|k| (first + k) % 2 == 1);
            let below = |k: i32| odd & ((1_u128 << k) - 1) as u64;
            let words = |bits: u64| [bits as i32, (bits >> 32) as i32];
            let folded = |bits: u64| words(bits)[0] ^ words(bits)[1].wrapping_mul(3);
            let [low, high] = words(odd);
            let wanted = [
                all.clone().map(x).sum(),
                (first..i).map(x).sum(),
                x(i),
                x(first),
                i32::from(first > 0),
                i32::from(all.contains(&20)),
                within(1),
                within(rank ^ 1),
                within(rank + 2),
                within(rank - 3),
                (cluster..(cluster + 4).min(first + count)).map(x).sum(),
                x(first + (rank + 5) % count),
                low,
                high,
                0,
                odd.count_ones() as i32,
                below(rank + 1).count_ones() as i32,
                below(rank).count_ones() as i32,
                (odd >> rank & 1) as i32,
                if odd == 0 { 0 } else { odd.trailing_zeros() as i32 },
                if odd == 0 { 0 } else { 63 - odd.leading_zeros() as i32 },
                count,
                count - 1,
                folded(bits(&|k| k == rank)),
                folded(bits(&|k| k >= rank)),
                folded(bits(&|k| k > rank)),
                folded(bits(&|k| k <= rank)),
                folded(bits(&|k| k < rank)),
            ];
            assert_eq!(o[..28], wanted, "{i}, {size} in a sub-group");
        }
    }
}

#[test]
fn groups_copy() {
    let source = "kernel void k(global int *out) {
        local int a[8]; local int3 b[2];
        int n = get_local_id(0);
        for (int i = n; i < 32; i += 4) out[i] = i;
        barrier(CLK_GLOBAL_MEM_FENCE);
        event_t e = async_work_group_copy(a, out + 4, 8, 0);
        e = async_work_group_strided_copy(a + 1, out, 2, 3, e);
        e = async_work_group_copy(b, (global int3 *)(out + 16), 2, e);
        wait_group_events(1, &e);
        prefetch(out, 4);
        out[32 + 2 * n] = a[n]; out[33 + 2 * n] = b[n / 2].s2;
        barrier(CLK_LOCAL_MEM_FENCE);
        e = async_work_group_strided_copy(out + 40, a, 4, 2, 0);
        wait_group_events(1, &e);
    }";
    let seen = result(source, "CL1.2", Range::linear(4, 4), 48);
    // `a` is then 4, 0, 3, 7; its words go to every other one of the buffer.
    assert_eq!(seen[32..40], [4, 18, 0, 18, 3, 22, 7, 22]);
    assert_eq!(seen[40..], [4, 0, 0, 0, 3, 0, 7, 0]);
}

#[test]
fn images_go_through_their_hooks() {
    let source = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
    kernel void k(global int *out, read_only image2d_t two, read_only image3d_t three, read_only image1d_array_t lines,
                  read_only image1d_buffer_t buffer, write_only image2d_array_t stack, sampler_t given) {
        const sampler_t written = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
        vstore4(convert_int4(read_imagef(two, given, (float2)(3.5f, 4))), 0, out);
        vstore4(read_imagei(two, written, (int2)(5, 6)), 1, out);
        vstore4(convert_int4(read_imageui(three, given, (int4)(7, 8, 9, 10))), 2, out);
        vstore4(convert_int4(read_imageh(lines, written, (float2)(11, 12))), 3, out);
        vstore4(convert_int4(read_imagef(buffer, 13)), 4, out);
        out[20] = get_image_width(two); out[21] = get_image_height(three); out[22] = get_image_depth(three);
        out[23] = get_image_array_size(stack); out[24] = get_image_channel_data_type(two);
        out[25] = get_image_channel_order(buffer); out[26] = get_image_dim(three).z; out[27] = get_image_dim(two).y;
        write_imagei(stack, (int4)(1, 2, 3, 0), (int4)(4, 5, 6, 7));
    }";
    let loaded = Loaded::new(&code(source, "CL1.2", Effort::Full).unwrap_or_else(|e| panic!("{e}")));
    let mut out = vec![0; 28 * 4];
    let mut stack = [0; 36];
    let mut images = [[0; 8]; 5];
    let [a, b, c, d, sampler] = &mut images;
    let mut args = [
        Arg::Buffer(&mut out),
        Arg::Buffer(a),
        Arg::Buffer(b),
        Arg::Buffer(c),
        Arg::Buffer(d),
        Arg::Buffer(&mut stack),
        Arg::Value(&sampler[..]),
    ];
    run(&loaded, Range::linear(1, 1), &mut args);
    let seen = words(&out);
    // The sampler in the source: normalised 1, clamp 4, linear 0x20.
    assert_eq!(seen[..4], [3, 4, 0, 8]);
    assert_eq!(seen[4..8], [5, 6, 0, 1 + 100 * 0x25]);
    assert_eq!(seen[8..12], [7, 8, 9, 2]);
    assert_eq!(seen[12..16], [11, 12, 0, 3712]);
    assert_eq!(seen[16..20], [13, 0, 0, 0]);
    assert_eq!(seen[20..], [1000, 1001, 1002, 1003, 1004, 1005, 1002, 1001]);
    assert_eq!(words(&stack), [1, 2, 3, 0, 4, 5, 6, 7, 1]);
}

#[test]
fn chains_of_helpers_are_inlined_whatever_their_length() {
    for length in [1, 7, 8, 9, 40, 300] {
        let mut source = "int h0(int x) { return 3 * x + 1; }\n".to_owned();
        for n in 1..length {
            // Every fifth one is called twice further up.
            let twice = if n % 5 == 0 && n < 40 { format!(" - h{}(n)", n - 1) } else { String::new() };
            source += &format!("int h{n}(int x) {{ int n = x + {n}; return (h{}(n) ^ {n}){twice}; }}\n", n - 1);
        }
        source +=
            &format!("kernel void k(global int *out) {{ out[get_global_id(0)] = h{}(get_global_id(0)); }}", length - 1);
        fn wanted(n: i32, x: i32) -> i32 {
            if n == 0 {
                return 3 * x + 1;
            }
            let below = wanted(n - 1, x + n);
            (below ^ n) - if n % 5 == 0 && n < 40 { below } else { 0 }
        }
        let seen = result(&source, "CL1.2", Range::linear(4, 4), 4);
        assert_eq!(seen, (0..4).map(|x| wanted(length - 1, x)).collect::<Vec<i32>>(), "{length} helpers");
    }
}
