//! Checks which kernels cannot be compiled for the host, with which messages; and what inlining must not lose.

use kassay_base::error::Error;
use kassay_ir::lower::native::emit::Effort;
use kassay_model::options::KernelOptions;

use super::support::{code, prepared};

#[test]
fn recursion_is_the_callers_mistake() {
    let source =
        "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } kernel void k(global int *a) { a[0] = f(a[1]); }";
    let error = code(source, "CL1.2", Effort::Quick).unwrap_err();
    assert!(matches!(error, Error::Caller(_)), "{error}");
    assert!(error.to_string().contains("`f` cannot be inlined into the kernel: it calls itself"), "{error}");
}

#[test]
fn unknown_builtins_are_named() {
    let source = "uint __attribute__((overloadable)) amd_bitalign(uint, uint, uint);
        kernel void k(global uint *a) { a[0] = amd_bitalign(a[0], a[1], 5u); }";
    let error = code(source, "CL2.0", Effort::Quick).unwrap_err();
    assert!(error.to_string().contains("the simulator has no `amd_bitalign`"), "{error}");
}

#[test]
fn kernels_that_grow_too_large_are_refused() {
    let mut source = String::from("void f0(global int *a) { a[0] += a[1]; }");
    for i in 1..16 {
        source += &format!("void f{i}(global int *a) {{ f{0}(a); f{0}(a + 1); f{0}(a + 2); }}", i - 1);
    }
    source += "kernel void k(global int *a) { f15(a); }";
    let error = code(&source, "CL1.2", Effort::Quick).unwrap_err();
    assert!(error.to_string().contains("`k` is too large for the simulator"), "{error}");
}

#[test]
fn unused_loads_and_divisions_by_zero_stay() {
    let source = "void unused(global int *a, int n) { int x = a[n]; x = n / 0; (void)a[5]; vload4(3, a); }
        kernel void k(global int *a) { unused(a, 3); }";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, source).unwrap();
    let text =
        prepared(&path, &KernelOptions::default(), None, |module, _| module.print_to_string().to_string()).unwrap();
    assert_eq!(text.matches("sdiv i32").count(), 1, "{text}");
    assert_eq!(text.matches("load i32, ptr addrspace(1)").count(), 2, "{text}");
    assert_eq!(text.matches("load <4 x i32>, ptr addrspace(1)").count(), 1, "{text}");
    assert!(text.contains("!kassay.builtin") && text.contains("!{!\"vload4\"}"), "{text}");
}
