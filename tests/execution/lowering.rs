//! Checks kernels on which LLVM's SPIR-V backend fails, or would fail without kassay's rewrites: the resulting code,
//! and how it runs.

use kassay_base::error::{Error, Result};
use kassay_ir::instrument::layout::Slots;
use kassay_ir::llvm::Context;
use kassay_run::exec::{Code, Executor, RunOptions, Target};
use kassay_suite::launch::Launch;

use crate::common::devices::{once, opencl};
use crate::common::kernels::{self, open, source_file};
use crate::common::launches::{ints, line, words};
use crate::common::program::kassay;

/// Lowers the kernel `k`, plain and with coverage probes.
fn lower(source: &str, cl_std: &str) -> Result<[Code; 2]> {
    let (_folder, path) = source_file(source);
    let context = Context::create();
    let under_test = open(&context, &path, Some("k"), &kernels::cl_std(cl_std))?.under_test;
    Ok([under_test.plain(Target::SpirV)?, under_test.instrumented(Slots::Groups, Target::SpirV)?.0])
}

/// Runs one work-group of `items` on the only argument, a buffer of ints.
fn run(code: &Code, probe_words: Option<u64>, items: u64, values: &[i32]) -> Vec<i32> {
    let mut executor = opencl().unwrap();
    let program = executor.load(code).unwrap();
    let launch = Launch::new(line(items, items), vec![ints(values)]);
    let limit = RunOptions { probe_words, ..once() };
    let seen = executor.run(program, &launch, &limit).unwrap().unwrap();
    words(&seen.outputs[0].1)
}

#[test]
fn what_ends_the_backend_is_an_error_of_that_kernel() {
    let (_folder, path) = source_file("kernel void k(global ulong *a) { a[0] = __builtin_readsteadycounter(); }");
    let done = kassay().arg("lower").arg(&path).output().unwrap();
    let message = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{message}");
    assert!(message.contains("LLVM's SPIR-V backend could not lower this kernel: it exited with code 1"), "{message}");
}

#[test]
fn after_a_fatal_error_of_the_backend_the_next_kernel_is_lowered() {
    let refused =
        lower("kernel void k(global ulong *a) { a[0] = __builtin_readcyclecounter(); }", "CL1.2").unwrap_err();
    assert!(matches!(refused, Error::Internal(_)), "{refused}");
    assert!(refused.to_string().contains("unable to legalize instruction"), "{refused}");
    let [plain, _] = lower("kernel void k(global int *a) { a[0]++; }", "CL1.2").unwrap();
    assert_eq!(run(&plain, None, 1, &[4]), [5]);
}

#[test]
fn casts_in_a_row_have_the_right_widths() {
    let source = "kernel void k(global int *a) {
        int at = get_global_id(0);
        ulong x = 0x123456789abcdef0ul + (ulong)a[at];
        ushort short_of_byte = (ushort)(uchar)x;
        uint of_byte = (uint)(uchar)x, of_short = (uint)(ushort)x;
        ulong4 v = (ulong4)(x, x + 1, x + 2, x + 3);
        uint4 bytes = __builtin_convertvector(__builtin_convertvector(v, uchar4), uint4);
        short4 shorts = __builtin_convertvector((char4)((char)x), short4);
        ulong4 words = __builtin_convertvector(as_ushort4(shorts), ulong4);
        a[at] = short_of_byte + (int)(of_byte * 3) + (int)(of_short * 5) + (int)(bytes.s3 * 7) + (int)(words.s1 % 1000);
    }";
    let [plain, woven] = lower(source, "CL1.2").unwrap();
    let value = |given: i32| {
        let x = 0x1234_5678_9abc_def0_u64.wrapping_add(given as i64 as u64);
        let word = u64::from(x as u8 as i8 as i16 as u16);
        i32::from(x as u8)
            + i32::from(x as u8) * 3
            + i32::from(x as u16) * 5
            + i32::from((x + 3) as u8) * 7
            + (word % 1000) as i32
    };
    let given = [0, 1, -7, 0x1234];
    assert_eq!(run(&plain, None, 4, &given), given.map(value));
    assert_eq!(run(&woven, Some(1 << 12), 4, &given), given.map(value));
}

#[test]
fn asynchronous_copies_run() {
    let source = "kernel void k(global int *a) {
        local int kept[4];
        event_t there = async_work_group_copy(kept, a, 4, 0);
        wait_group_events(1, &there);
        int mine = kept[3 - get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        kept[get_local_id(0)] = 10 * mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        event_t back = async_work_group_strided_copy(a, kept, 2, 2, 0);
        wait_group_events(1, &back);
    }";
    let [plain, woven] = lower(source, "CL1.2").unwrap();
    assert_eq!(run(&plain, None, 4, &[1, 2, 3, 4]), [40, 2, 30, 4]);
    assert_eq!(run(&woven, Some(1 << 12), 4, &[1, 2, 3, 4]), [40, 2, 30, 4]);
}

#[test]
fn atomics_on_pointers_without_an_address_space_run() {
    let source = "kernel void k(global int *a) {
        atomic_fetch_add((global atomic_int *)a, 5);
        atomic_int mine;
        atomic_init(&mine, 3);
        a[1] = atomic_fetch_add(&mine, 1) + atomic_load(&mine);
    }";
    let [plain, woven] = lower(source, "CL2.0").unwrap();
    assert_eq!(plain.as_device().unwrap().build_options, "-cl-std=CL3.0");
    assert_eq!(run(&plain, None, 1, &[1, 0]), [6, 7]);
    assert_eq!(run(&woven, Some(1 << 12), 1, &[1, 0]), [6, 7]);
}

/// Operations of SPIR-V: an atomic load, an atomic store, a fence (SPIR-V 3.42.18 and 3.42.20).
const ATOMIC_LOAD: u32 = 227;
const ATOMIC_STORE: u32 = 228;
const MEMORY_BARRIER: u32 = 225;

#[test]
fn atomic_instructions_stay_atomic() {
    let source = "kernel void k(global int *a) {
        __atomic_store_n(a, __atomic_load_n(a + 1, __ATOMIC_ACQUIRE) + 1, __ATOMIC_RELEASE);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        a[2] = __atomic_fetch_add(a, 5, __ATOMIC_RELAXED);
    }";
    let [plain, woven] = lower(source, "CL1.2").unwrap();
    let bytes = &plain.as_device().unwrap().bytes;
    let module: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let mut operations = Vec::new();
    // After the header of five words, each instruction begins with its length and its operation.
    let mut at = 5;
    while at < module.len() {
        operations.push(module[at] & 0xffff);
        at += (module[at] >> 16) as usize;
    }
    for wanted in [ATOMIC_LOAD, ATOMIC_STORE, MEMORY_BARRIER] {
        assert_eq!(operations.iter().filter(|operation| **operation == wanted).count(), 1, "{wanted}");
    }
    assert_eq!(run(&plain, None, 1, &[1, 3, 0]), [9, 3, 4]);
    assert_eq!(run(&woven, Some(1 << 12), 1, &[1, 3, 0]), [9, 3, 4]);
}

#[test]
fn a_function_without_a_body_is_the_callers_error() {
    let refused = lower("int helper(int);\nkernel void k(global int *a) { a[0] = helper(1); }", "CL1.2").unwrap_err();
    assert!(matches!(refused, Error::Caller(_)), "{refused}");
    let message = refused.to_string();
    assert!(message.contains("`helper`, which has no body here") && message.contains(":2:"), "{message}");
}

#[test]
fn inline_helpers_are_lowered() {
    let source = "inline int twice(int x) { return 2 * x; }
        kernel void k(global int *a) { a[0] = twice(a[0]); }";
    let [plain, woven] = lower(source, "CL1.2").unwrap();
    assert_eq!(run(&plain, None, 1, &[21]), [42]);
    assert_eq!(run(&woven, Some(1 << 12), 1, &[21]), [42]);
}

#[test]
fn extensions_that_a_kernel_needs_are_enabled() {
    // Each work-item reads its own lane, whatever the size of a sub-group is.
    let source = "int __attribute__((overloadable)) intel_sub_group_shuffle(int value, uint lane);
        uint __attribute__((overloadable)) get_sub_group_local_id(void);
        kernel void k(global int *a) {
            int mine = a[get_global_id(0)];
            a[get_global_id(0)] = intel_sub_group_shuffle(mine + 1, get_sub_group_local_id());
        }";
    let [plain, woven] = lower(source, "CL2.0").unwrap();
    for (code, probe_words) in [(&plain, None), (&woven, Some(1 << 12))] {
        let names: Vec<u8> = code.bytes().to_vec();
        assert!(names.windows(19).any(|window| window == b"SPV_INTEL_subgroups"));
        assert_eq!(run(code, probe_words, 4, &[1, 2, 3, 4]), [2, 3, 4, 5]);
    }
}

#[test]
fn helpers_that_calls_forbid_to_inline_are_inlined() {
    // As translators of SPIR-V write what a front end compiled without optimisation.
    let text = "target triple = \"spir64-unknown-unknown\"
        define spir_func i32 @twice(i32 %x) #0 { %y = shl i32 %x, 1 ret i32 %y }
        define spir_kernel void @k(ptr addrspace(1) %a) {
          %x = load i32, ptr addrspace(1) %a
          %y = call spir_func i32 @twice(i32 %x) #0
          store i32 %y, ptr addrspace(1) %a
          ret void
        }
        attributes #0 = { noinline nounwind optnone }";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ll");
    std::fs::write(&path, text).unwrap();
    let done = kassay().args(["lower", "--print", "prepared"]).arg(&path).output().unwrap();
    let printed = String::from_utf8_lossy(&done.stdout);
    assert!(printed.contains("@k(") && !printed.contains("@twice"), "{printed}");
}

#[test]
fn kernels_keep_the_names_that_hosts_ask_for() {
    // Kernels of SYCL and of Numba have mangled names; helpers get readable ones.
    let source = "int twice(int x) { return 2 * x; }
        kernel void _ZN4main5scaleEPU3AS1i(global int *a) { a[get_global_id(0)] = twice(a[get_global_id(0)]); }";
    let folder = tempfile::tempdir().unwrap();
    let [text, first, second] = ["k.cl", "first.spv", "second.spv"].map(|name| folder.path().join(name));
    std::fs::write(&text, source).unwrap();
    for (from, to) in [(&text, &first), (&first, &second)] {
        let done = kassay().arg("lower").arg(from).arg("-o").arg(to).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let module = std::fs::read(to).unwrap();
        let name = b"_ZN4main5scaleEPU3AS1i\0";
        assert!(module.windows(name.len()).any(|window| window == name), "{}", to.display());
    }
}
