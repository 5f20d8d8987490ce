//! Checks which inputs a race-free run stands for, on our own versions of the kernels of LEUNG figure 4, against that
//! paper's classification.

use std::path::Path;

use kassay_ir::llvm::Context;
use kassay_judge::sync::amplification::{Amplification, Branches, amplify, amplify_by};
use kassay_model::options::KernelOptions;

use crate::common::kernels::open_bare;
use crate::common::testdata::repository;

fn of(path: &Path, entry: Option<&str>, branches: Branches) -> Amplification {
    let context = Context::create();
    let under_test = open_bare(&context, path, entry, &KernelOptions::default()).unwrap().under_test;
    let found = amplify_by(&under_test, branches).unwrap();
    if branches == Branches::Guarding {
        assert_eq!(found, amplify(&under_test).unwrap());
    }
    found
}

fn of_file(file: &str, entry: &str, branches: Branches) -> Amplification {
    let path = repository("tests/sync/amplification/kernels").join(file);
    of(&path, Some(entry), branches)
}

fn of_source(source: &str) -> Amplification {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, source).unwrap();
    of(&path, None, Branches::Guarding)
}

/// File, kernel, and whether it is access invariant.
const KERNELS: [(&str, &str, bool); 25] = [
    ("reduction.cl", "reduction", true),
    ("sorting_networks.cl", "sort_by_branch", false),
    ("sorting_networks.cl", "sort_by_choice", true),
    ("sorting_networks.cl", "merge_by_branch", false),
    ("sorting_networks.cl", "merge_by_choice", true),
    ("convolution.cl", "convolution_rows", true),
    ("convolution.cl", "convolution_image", true),
    ("fast_walsh.cl", "fast_walsh", true),
    ("transpose.cl", "transpose", true),
    ("options.cl", "black_scholes_by_choice", true),
    ("options.cl", "binomial_by_choice", true),
    ("transforms.cl", "dwt_haar", true),
    ("transforms.cl", "dct_block", true),
    ("transforms.cl", "quantise", false),
    ("finite_differences.cl", "finite_differences", true),
    ("products.cl", "vector_add", true),
    ("products.cl", "scalar_product", true),
    ("products.cl", "matrix_product", true),
    ("histogram.cl", "count_bytes", false),
    ("histogram.cl", "merge_histograms", true),
    ("by_data.cl", "scatter_by_digit", false),
    ("by_data.cl", "bisect", false),
    ("by_data.cl", "order_colours", false),
    ("by_data.cl", "mark_digits", true),
    ("atomic.cl", "count_all", false),
];

#[test]
fn kernels_are_classified_as_in_the_paper() {
    for (file, entry, invariant) in KERNELS {
        let found = of_file(file, entry, Branches::Guarding);
        assert_eq!(found.access_invariant, invariant, "{entry}: {found:#?}");
        let by_all = of_file(file, entry, Branches::All);
        assert_eq!(by_all.access_invariant, invariant, "{entry}, all branches: {by_all:#?}");
    }
}

#[test]
fn branches_that_guard_nothing_count_only_where_all_do() {
    for entry in ["black_scholes_by_branch", "binomial_by_branch"] {
        assert!(!of_file("options.cl", entry, Branches::All).access_invariant, "{entry}");
        let found = of_file("options.cl", entry, Branches::Guarding);
        assert!(found.access_invariant, "{entry}: {found:#?}");
    }
}

#[test]
fn the_smallest_set_of_inputs_is_reported() {
    let rows = of_file("convolution.cl", "convolution_rows", Branches::Guarding);
    assert_eq!(rows.property_integrity_inputs, ["width"]);
    assert_eq!(rows.holds_for_all_values_of, ["out[]", "in[]", "filter[]", "height"]);
    let scatter = of_file("by_data.cl", "scatter_by_digit", Branches::Guarding);
    assert_eq!(scatter.property_integrity_inputs, ["keys[]", "offsets[]", "shift", "n"]);
}

#[test]
fn reasons_say_where() {
    let found = of_source(
        "kernel void k(global const int *row, global float *x, int n) {
            int i = get_global_id(0);
            if (row[i] > n)
                barrier(CLK_LOCAL_MEM_FENCE);
            x[row[i]] = 1.0f;
        }",
    );
    let has = |parts: &[&str]| found.why_not.iter().any(|why| parts.iter().all(|part| why.contains(part)));
    assert!(has(&["row[] flows into the address of x", "k.cl:5:"]), "{found:#?}");
    assert!(has(&["row[] flows into the branch", "k.cl:3:", "who reaches the barrier", "k.cl:4:"]), "{found:#?}");
    assert!(has(&["n flows into the branch"]), "{found:#?}");
    assert_eq!(found.holds_for_all_values_of, ["x[]"]);
}

#[test]
fn contents_flow_through_local_memory_and_helpers() {
    let found = of_source(
        "int twice(local const int *t, int i) { return 2 * t[i]; }
        kernel void k(global const int *a, global int *b, local int *t) {
            int i = get_local_id(0);
            t[i] = a[i];
            barrier(CLK_LOCAL_MEM_FENCE);
            b[twice(t, i ^ 1)] = 0;
        }",
    );
    assert_eq!(found.property_integrity_inputs, ["a[]"]);
}

#[test]
fn values_counted_by_a_loop_matter_only_after_it() {
    let source = |at: &str| {
        format!(
            "kernel void k(global const int *a, global int *b, int n) {{
                int i = get_global_id(0);
                int seen = a[i];
                int count = 0;
                for (int k = 0; seen > 1 && k < 100; k++) {{
                    seen = seen & 1 ? 3 * seen + 1 : seen / 2;
                    count++;
                }}
                b[{at}] = count;
            }}"
        )
    };
    assert!(of_source(&source("i")).access_invariant);
    assert!(!of_source(&source("count")).access_invariant);
}

#[test]
fn early_exits_by_data_taint_what_they_guard_and_not_the_loop_counters() {
    let found = of_source(
        "kernel void k(global const int *a, global int *b, int n) {
            int i = get_global_id(0);
            if (a[i] < 0)
                return;
            for (int k = 0; k < n; k++)
                b[i * n + k] = k;
        }",
    );
    assert!(!found.access_invariant);
    assert!(found.why_not.iter().all(|why| !why.contains("a[] flows into the address")), "{found:#?}");
}

#[test]
fn private_variables_are_not_shared_memory_but_variable_indices_in_them_count() {
    let found = of_source(
        "kernel void k(global const int *a, global int *b) {
            int i = get_global_id(0);
            int table[4] = {1, 2, 3, 4};
            int x = a[i];
            int y = 7;
            if (x > 3)
                y = x;
            b[i] = y + table[1];
        }",
    );
    assert!(found.access_invariant, "{found:#?}");
    let found = of_source(
        "kernel void k(global const int *a, global int *b) {
            int i = get_global_id(0);
            int table[4] = {1, 2, 3, 4};
            b[i] = table[a[i] & 3];
        }",
    );
    assert!(!found.access_invariant, "{found:#?}");
}

#[test]
fn atomics_are_left_out() {
    let found = of_file("atomic.cl", "count_all", Branches::Guarding);
    assert!(!found.access_invariant && found.holds_for_all_values_of.is_empty());
    assert!(
        found.why_not.iter().any(|why| why.contains("atomic_add at") && why.contains("not amplified")),
        "{found:#?}"
    );
}

#[test]
fn arguments_without_names_are_reported_by_position() {
    let text = "target triple = \"spir64-unknown-unknown\"
        define spir_kernel void @k(ptr addrspace(1) %0, ptr addrspace(1) %1) !kernel_arg_addr_space !0 !kernel_arg_type !1 {
          %3 = load i64, ptr addrspace(1) %0, align 8
          %4 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %3
          store i32 1, ptr addrspace(1) %4, align 4
          ret void
        }
        !0 = !{i32 1, i32 1}
        !1 = !{!\"long*\", !\"int*\"}\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ll");
    std::fs::write(&path, text).unwrap();
    let found = of(&path, None, Branches::Guarding);
    assert_eq!(found.holds_for_all_values_of, ["argument 1[]"]);
    assert_eq!(found.why_not, ["argument 0[] flows into the address of argument 1"]);
}
