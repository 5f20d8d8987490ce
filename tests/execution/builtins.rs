//! Builtins whose mangled names LLVM's SPIR-V backend reads otherwise than OpenCL C means them, plain and with probes:
//! values by hand. `scripts/conformance` compares all of them with the driver's own compiler.

use std::path::Path;

use kassay_ir::instrument::layout::Slots;
use kassay_ir::kernel::spirv::words::{Words, op};
use kassay_ir::llvm::Context;
use kassay_run::exec::{Code, Executor, RunOptions, Simulator, Target};
use kassay_suite::launch::Launch;

use crate::common::devices::{once, opencl};
use crate::common::kernels::{self, open, source_file};
use crate::common::launches::{ints, line, words};

/// Runs the kernel `k` of one work-item: see [`written_by`].
#[track_caller]
fn writes(source: &str, cl_std: &str, expected: &[i32]) {
    written_by(1, source, cl_std, expected);
}

/// Runs the kernel `k` of a group of work-items, plain and with coverage probes, on the device and on the simulator,
/// and compares what it writes into its only argument, whose first element is the number of elements.
#[track_caller]
fn written_by(items: u64, source: &str, cl_std: &str, expected: &[i32]) {
    let (_folder, path) = source_file(source);
    written_by_file(items, &path, cl_std, expected);
}

/// The same for the kernel of a file, whatever it holds.
#[track_caller]
fn written_by_file(items: u64, path: &Path, cl_std: &str, expected: &[i32]) {
    let context = Context::create();
    let under_test = open(&context, path, Some("k"), &kernels::cl_std(cl_std)).unwrap().under_test;
    let executors: [Box<dyn Executor>; 2] = [Box::new(opencl().unwrap()), Box::new(Simulator::new(1).unwrap())];
    for mut executor in executors {
        let target = executor.target();
        let plain = under_test.plain(target).unwrap();
        let (woven, _) = under_test.instrumented(Slots::Groups, target).unwrap();
        for (code, probe_words) in [(plain, None), (woven, Some(1 << 12))] {
            assert_eq!(imports(&code), 0, "{}", path.display());
            let program = executor.load(&code).unwrap();
            let mut given = vec![0; expected.len()];
            given[0] = expected.len() as i32;
            let launch = Launch::new(line(items, items), vec![ints(&given)]);
            let seen = executor.run(program, &launch, &RunOptions { probe_words, ..once() }).unwrap().unwrap();
            let found: Vec<i32> = words(&seen.outputs[0].1);
            assert_eq!(found, expected, "{target:?}: {}", path.display());
        }
    }
}

#[test]
fn asynchronous_copies_of_a_module_that_is_read() {
    let (folder, path) = source_file(
        "kernel void k(global int *out) {
             local int from[16], first[16], second[16];
             int i = get_local_id(0);
             from[i] = i;
             if (i == 0) from[0] = out[0];
             barrier(CLK_LOCAL_MEM_FENCE);
             event_t events[2];
             events[0] = async_work_group_copy(out, from, 16, 0);
             wait_group_events(1, events);
             barrier(CLK_GLOBAL_MEM_FENCE);
             event_t *last = &events[1];
             events[0] = async_work_group_copy(first, out, 16, 0);
             *last = async_work_group_strided_copy(second, out, 8, 2, events[0]);
             wait_group_events(2, events);
             barrier(CLK_LOCAL_MEM_FENCE);
             out[i] = first[15 - i] + 100 * second[i / 2];
         }",
    );
    let expected: Vec<i32> = (0..16)
        .map(|i| {
            let copied = |i: i32| if i == 0 { 16 } else { i };
            copied(15 - i) + 100 * copied(i / 2 * 2)
        })
        .collect();
    let context = Context::create();
    let from_source = open(&context, &path, Some("k"), &kernels::cl_std("CL2.0")).unwrap().under_test;
    let module = folder.path().join("k.spv");
    let code = from_source.plain(Target::SpirV).unwrap();
    std::fs::write(&module, &*code.as_device().unwrap().bytes).unwrap();
    written_by_file(16, &path, "CL2.0", &expected);
    written_by_file(16, &module, "CL2.0", &expected);
}

/// Counts the functions that a module of SPIR-V has no body for.
fn imports(code: &Code) -> usize {
    let Some(device) = code.as_device().filter(|device| device.target == Target::SpirV) else { return 0 };
    let module = Words::parse(&device.bytes).unwrap();
    let count = |opcode: u32| module.instructions().filter(|instruction| instruction.opcode == opcode).count();
    let bodies = {
        let mut previous = 0;
        let mut bodies = 0;
        for instruction in module.instructions() {
            bodies += usize::from(
                instruction.opcode == op::LABEL && [op::FUNCTION, op::FUNCTION_PARAMETER].contains(&previous),
            );
            previous = instruction.opcode;
        }
        bodies
    };
    count(op::FUNCTION) - bodies
}

#[test]
fn conversions_between_integers_extend_by_the_sign_of_what_they_convert() {
    let source = "kernel void k(global int *a) {
        int n = a[0] - 8;
        a[0] = convert_int((short)(n - 5));
        a[1] = convert_int((ushort)(n - 5));
        a[2] = convert_char_sat(n - 1);
        a[3] = convert_uchar_sat(n - 1);
        a[4] = convert_char_sat((uchar)(n + 200));
        a[5] = convert_uint_sat((short)(n - 3));
        a[6] = convert_int4((char4)(n - 1, n, n + 1, n - 128)).w;
        a[7] = convert_int_sat_rte(((long)n + 5) << 40) == INT_MAX;
    }";
    writes(source, "CL1.2", &[-5, 65531, -1, 0, 127, 0, -128, 1]);
}

#[test]
fn conversions_to_the_same_type_or_width_keep_the_value() {
    let source = "kernel void k(global int *a) {
        int n = a[0] - 4;
        a[0] = convert_int(n - 7);
        a[1] = convert_uint(n - 7) == 0xfffffff9;
        a[2] = convert_float(n + 2.5f) == 2.5f;
        a[3] = convert_float4_rtz((float4)(n + 0.5f)).y == 0.5f;
    }";
    writes(source, "CL1.2", &[-7, 1, 1, 1]);
}

#[test]
fn any_and_all_look_at_the_sign() {
    let source = "kernel void k(global int *a) {
        int n = a[0] - 6;
        a[0] = any((int4)(n + 1, n + 2, n + 3, n));
        a[1] = any((int4)(n, n, n - 1, n));
        a[2] = all((int2)(n - 1, n + 1));
        a[3] = all((int2)(n - 1, n - 2));
        a[4] = any(n + 5);
        a[5] = all((char)(n - 1));
    }";
    writes(source, "CL1.2", &[0, 1, 0, 1, 0, 1]);
}

#[test]
fn vectors_are_loaded_and_stored_at_the_start_of_variables() {
    let source = "constant float table[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
        typedef struct { half h[8]; int n; } pair;
        kernel void k(global int *a) {
            local int kept[8];
            local pair p;
            int n = a[0] - 6;
            vstore4((int4)(n + 1, n + 2, n + 3, n + 4), 1, kept);
            vstore4((int4)(n + 5), 0, kept);
            a[0] = vload4(1, kept).z;
            a[1] = kept[3];
            a[2] = (int)vload4(1, table).y;
            p.n = 9;
            vstore_half(n + 1.5f, 1, p.h);
            a[3] = vload_half(1, p.h) == 1.5f;
            a[4] = p.n;
            vstorea_half3((float3)(1, 2, 3), 1, p.h);
            a[5] = vload_half(4, p.h) == 1.0f && vloada_half3(1, p.h).z == 3.0f;
        }";
    writes(source, "CL1.2", &[3, 5, 5, 1, 9, 1]);
}

#[test]
fn dot_products_of_bytes_are_summed() {
    let source = "kernel void k(global int *a) {
        int n = a[0] - 5;
        a[0] = dot_4x8packed_ss_int(0x01ff02fe + n, 0x03030303);
        a[1] = dot_4x8packed_uu_uint(0x01ff02fe + n, 0x03030303);
        a[2] = dot_acc_sat_4x8packed_ss_int(0x7f7f7f7f + n, 0x7f7f7f7f, 2147483000);
        a[3] = dot((char4)(n - 1, 2, 3, 4), (char4)(1, 1, 1, 1));
        a[4] = dot_acc_sat((uchar4)(n + 255), (uchar4)(255), 0xfffffff0) == 0xffffffff;
    }";
    writes(source, "CL3.0", &[0, 1536, i32::MAX, 8, 1]);
}

#[test]
fn fields_of_bits_are_inserted_extracted_and_reversed() {
    let source = "#pragma OPENCL EXTENSION cl_khr_extended_bit_ops : enable
        kernel void k(global int *a) {
            int n = a[0] - 5;
            a[0] = bitfield_insert(n, -1, 4, 8);
            a[1] = bitfield_extract_signed(n + 0xf0, 4, 4);
            a[2] = bitfield_extract_unsigned(n + 0xf0, 4, 4);
            a[3] = bit_reverse(n + 1) == INT_MIN;
            a[4] = bitfield_insert(n + 7, -1, 0, 0);
        }";
    writes(source, "CL3.0", &[0xff0, -1, 15, 1, 7]);
}

#[test]
fn atomics_of_all_versions_are_instructions() {
    let source = "kernel void k(global int *a) {
        local uint kept;
        kept = a[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        a[0] = atomic_max(&kept, 9u);
        a[1] = atomic_inc(&kept);
        a[1] = 10 * a[1] + atomic_dec(&kept);
        a[2] = atomic_xchg(&kept, 3u);
        a[3] = atomic_min(a + 1, -5);
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        a[4] = atomic_cmpxchg(&kept, 3u, 8u);
        a[4] = 10 * a[4] + kept;
        a[5] = atom_max(a + 1, 20);
    }";
    writes(source, "CL1.2", &[6, 20, 9, 100, 38, -5]);
    let source = "kernel void k(global int *a) {
        local atomic_uint kept;
        atomic_init(&kept, (uint)a[0]);
        a[0] = atomic_fetch_max_explicit(&kept, 9u, memory_order_relaxed, memory_scope_work_group);
        a[1] = atomic_fetch_min(&kept, 4u);
        uint expected = 4;
        a[2] = atomic_compare_exchange_strong(&kept, &expected, 6u);
        expected = 7;
        a[3] = atomic_compare_exchange_weak_explicit(&kept, &expected, 1u, memory_order_acq_rel, memory_order_acquire, memory_scope_device);
        a[4] = (int)expected;
        atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
        a[5] = atomic_load_explicit(&kept, memory_order_acquire, memory_scope_work_group);
    }";
    writes(source, "CL3.0", &[6, 9, 1, 0, 6, 6]);
}

#[test]
fn floats_are_exchanged_where_they_are_expected() {
    let source = "kernel void k(global int *a) {
        local atomic_float kept;
        float given = a[0] / 2.0f;
        atomic_init(&kept, given);
        float expected = 1.25f;
        a[0] = atomic_compare_exchange_strong_explicit(&kept, &expected, 8.0f, memory_order_relaxed, memory_order_relaxed);
        a[1] = (int)(expected * 4);
        a[2] = atomic_compare_exchange_strong_explicit(&kept, &expected, given + 8, memory_order_relaxed, memory_order_relaxed);
        a[3] = (int)(expected * 4);
        a[4] = (int)(atomic_load(&kept) * 4);
    }";
    writes(source, "CL3.0", &[0, 10, 1, 10, 42]);
}

#[test]
fn an_array_of_events_is_waited_for() {
    let source = "kernel void k(global int *a) {
        local int kept[2];
        event_t both[2];
        a[1] = a[0] + 5;
        both[0] = async_work_group_copy(kept, a, 1, 0);
        both[1] = async_work_group_copy(kept + 1, a + 1, 1, 0);
        wait_group_events(2, both);
        a[0] = kept[0] + kept[1];
    }";
    writes(source, "CL1.2", &[9, 7]);
}

#[test]
fn variables_of_128_bytes_and_more_are_aligned_as_they_are_declared() {
    let source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable
    kernel void k(global int *a) {
        double n = a[0];
        double16 x = (double16)(n + 0.25) + (double16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), whole;
        double16 part = fract(x, &whole);
        __attribute__((aligned(256))) int far[3];
        far[a[0] & 1] = 5;
        a[0] = (int)whole.s0;
        a[1] = (int)whole.sf;
        a[2] = (int)(part.s0 * 4 + part.sf * 4);
        a[3] = far[0] + ((int)(ulong)&far & 255);
    }";
    writes(source, "CL1.2", &[4, 19, 2, 5]);
}

#[test]
fn a_float_that_is_loaded_stays_what_it_is() {
    let source = "kernel void k(global int *a) {
        global atomic_float *f = (global atomic_float *)a;
        // What a driver loads by adding 0 becomes another zero.
        *(volatile global int *)(a + 1) = as_int(-0.0f);
        a[2] = as_int(atomic_load(f + 1));
        a[3] = *(volatile global int *)(a + 1);
        atomic_store(f, -0.0f);
        a[4] = as_int(atomic_exchange(f + 1, 1.5f));
    }";
    let zero = i32::MIN;
    writes(source, "CL3.0", &[zero, 0x3fc0_0000, zero, zero, zero]);
}

/// So many work-items have the simulator take memory for their values from the system, which begins after its size.
#[test]
fn work_items_exchange_vectors_of_all_widths() {
    let source = "#pragma OPENCL EXTENSION cl_khr_subgroup_extended_types : enable
    kernel void k(global int *a) {
        // How many there are in a sub-group is left to the device.
        uint at = get_group_id(0);
        long i = get_local_id(0), first = i - get_sub_group_local_id();
        long3 x = sub_group_broadcast((long3)(i, i + 1, i + 2), at) - first;
        long4 y = sub_group_broadcast((long4)(i), at) - first;
        long8 z = sub_group_broadcast((long8)(i * 2), at) - first * 2;
        long16 w = sub_group_broadcast((long16)(i * 3), at) - first * 3;
        if (i == 300) {
            vstore3(convert_int3(x), 0, a);
            vstore4(convert_int4(y) + 4, 0, a + 3);
            vstore8(convert_int8(z) + 8, 0, a + 7);
            vstore16(convert_int16(w) + 16, 0, a + 15);
        }
    }";
    let expected = [vec![0, 1, 2], vec![4; 4], vec![8; 8], vec![16; 16]].concat();
    written_by(512, source, "CL3.0", &expected);
}

#[test]
fn zeros_and_infinities_have_their_signs() {
    let source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable
    kernel void k(global int *a) {
        float zero = (a[0] - 10) * -0.0f, infinity = (a[0] - 9) * INFINITY, part, whole;
        double nan = infinity - infinity;
        a[0] = as_int(fract(-zero, &whole)) == as_int(-zero);
        a[1] = lgamma(-infinity) == infinity;
        a[2] = tgamma(zero) == -infinity || tgamma(zero) == infinity;
        a[3] = as_int(tgamma(zero - 50.5f));
        a[4] = isnan(ldexp(nan, 2000));
        a[5] = fract(zero - 3.0f, &whole) == 0 && whole == -3;
        a[6] = (int)remainder((double)zero + 7.5, 2.0) * 10 + (remainder(1e300, 3e-300 + zero) < 2e-300);
        a[7] = 7;
        a[8] = 8;
        a[9] = 9;
    }";
    writes(source, "CL1.2", &[1, 1, 1, i32::MIN, 1, 1, 1, 7, 8, 9]);
}
