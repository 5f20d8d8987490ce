//! Checks which functions calls of CUDA's kernels are of: overloads, builtins with constants of their own, the host's, and
//! those behind pointers.

use std::collections::BTreeSet;
use std::fs;

use kassay_ir::kernel::compile::load;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{KernelFile, sources_of};
use kassay_model::options::KernelOptions;

use crate::common::kernels::cl_std;
use crate::cuda::{file, read, refusal};

/// Libstdc++'s functions and those of devices are overloads of each other, also in a file beside one of a header's name.
#[test]
fn headers_are_of_the_system_and_clash_with_none() {
    let (folder, path) = file(
        "#include <cmath>
         #include <algorithm>
         using std::isnan;
         __global__ void k(float *p) {
             p[0] = isfinite(p[1]) && std::isfinite(p[2]) && !isnan(p[3]) ? std::abs(p[4]) : std::max(p[5], fabsf(p[6]));
         }",
    );
    fs::write(folder.path().join("cuda_runtime.h"), "#error the user's own file of that name\n").unwrap();
    load(&path, &KernelOptions::default(), true).unwrap();
}

/// The numbers in the header are those of OpenCL C's orders and scopes.
#[test]
fn fences_have_the_orders_and_scopes_of_opencl() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    let flags = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst";
    let scopes = ["work_group", "device", "all_svm_devices"];
    let calls: String =
        scopes.iter().map(|scope| format!("atomic_work_item_fence({flags}, memory_scope_{scope});")).collect();
    fs::write(&path, format!("__kernel void k(global int *p) {{ p[0] = 1; {calls} p[1] = 2; }}")).unwrap();
    let options = cl_std("CL2.0");
    let loaded = load(&path, &options, true).unwrap();
    let context = Context::create();
    let all = KernelFile::parse(&context, &loaded).unwrap();
    let of_opencl = all.under_test("k", &loaded, &sources_of(&path)).unwrap().module.print_to_string().to_string();
    let of_cuda = read(
        "__global__ void k(int *p) {
             p[0] = 1; __threadfence_block(); __threadfence(); __threadfence_system(); p[1] = 2;
         }",
    );
    let fences = |text: &str| -> Vec<String> {
        let calls = text.lines().filter(|line| line.contains("call") && line.contains("atomic_work_item_fence"));
        calls.map(|line| line.split_once('(').unwrap().1.split(')').next().unwrap().replace(" noundef", "")).collect()
    };
    assert_eq!(fences(&of_cuda.text), fences(&of_opencl));
    assert_eq!(fences(&of_opencl).len(), 3);
}

/// Functions of the host are no device's, unless they are `constexpr`; the message says which.
#[test]
fn functions_of_the_host_are_refused_unless_they_are_constant() {
    read(
        "constexpr int twice(int x) { return 2 * x; }
         struct pair { int a; constexpr int plus(int b) const { return a + b; } };
         __global__ void k(int *p) { p[0] = twice(p[0]) + pair{p[1]}.plus(2); }",
    );
    let what = refusal("inline int twice(int x) { return 2 * x; }\n__global__ void k(int *p) { p[0] = twice(p[0]); }");
    assert!(what.contains("'twice'") && what.contains("call to __host__ function"), "{what}");
}

const FUNCTIONS: &str = "typedef int (*fn)(int);
    __device__ int a(int x) { return x + 1; }
    __device__ int b(int x) { return x * 2; }
    __device__ int c(int x) { return x * 3; }
    __device__ int fact(int x) { return x < 2 ? 1 : x * fact(x - 1); }
    struct apply { fn f; __device__ apply(fn f) : f(f) {} __device__ int operator()(int x) const { return f(x); } };
    __device__ int map(apply f, int x) { return f(x); }
    __device__ fn chosen = c;
    __device__ fn const table[2] = {b, fact};
    __global__ void other(int *p) { p[0] = table[p[1] & 1](3) + chosen(3); }";

/// What a call may be is known by where its pointer comes from: other functions of the type, recursive ones and those that a
/// host may set, are no business of it.
#[test]
fn calls_through_pointers_choose_among_what_they_may_be() {
    for (body, wanted) in [
        ("fn f = p[0] > 0 ? a : b; p[0] = f(p[0]);", vec!["a", "b"]),
        ("fn own[2] = {a, c}; p[0] = own[p[0] & 1](p[0]);", vec!["a", "c"]),
        ("p[0] = map(apply(b), p[0]) + map(apply(c), p[1]);", vec!["b", "c"]),
    ] {
        let text = read(&format!("{FUNCTIONS}\n__global__ void k(int *p) {{ {body} }}")).text;
        assert!(!text.contains("cuda.pointer"), "{body}\n{text}");
        let calls: Vec<&str> = text.lines().filter(|line| line.contains(" call ")).collect();
        let is_called = |f: &&str| calls.iter().any(|line| line.contains(&format!("@{f}(")));
        let called: BTreeSet<&str> = ["a", "b", "c", "fact"].into_iter().filter(is_called).collect();
        assert_eq!(called.into_iter().collect::<Vec<_>>(), wanted, "{body}\n{text}");
    }
    let text = read(&format!("{FUNCTIONS}\n__global__ void k(int *p) {{ p[0] = chosen(p[0]); }}")).text;
    assert!(text.contains("cuda.pointer unknown"), "{text}");
}

#[test]
fn calls_through_pointers_to_too_many_functions_are_refused() {
    let table = |count: usize| {
        let all: String = (0..count).map(|i| format!("__device__ int f{i}(int x) {{ return x * {i}; }}\n")).collect();
        let names: Vec<String> = (0..count).map(|i| format!("f{i}")).collect();
        let names = names.join(", ");
        format!(
            "{all}__device__ int (*const table[])(int) = {{{names}}};\n__global__ void k(int *p) {{ p[0] = table[p[0]](p[1]); }}"
        )
    };
    assert!(!read(&table(64)).text.contains("cuda.pointer"));
    assert!(read(&table(65)).text.contains("cuda.pointer many"));
}
