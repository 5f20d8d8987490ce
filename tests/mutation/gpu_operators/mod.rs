//! Checks barrier, fence, atomic, index, local-memory and image operators against counts by hand on fixtures and
//! small kernels.

mod private;

use std::path::Path;

use kassay_ir::instrument::mutants::edit::{Action, Edit, Expr, Float, LocalVariable};
use kassay_ir::llvm::Context;
use kassay_judge::mutation::Selection;
use kassay_judge::mutation::catalogue::mutant::{Excluded, Mutant};
use kassay_judge::mutation::enumerate;
use kassay_model::options::KernelOptions;

use crate::common::kernels::{open, source_file};
use crate::common::program::kassay;
use crate::common::testdata;

/// Returns the mutants of a kernel file by some operators, and the places that these excluded.
fn found(path: &Path, cl_std: Option<&str>, operators: &str) -> (Vec<Mutant>, Vec<Excluded>) {
    let options = KernelOptions { cl_std: cl_std.map(str::to_owned), ..KernelOptions::default() };
    let context = Context::create();
    let opened = open(&context, path, None, &options).unwrap();
    let selection = Selection::parse(operators).unwrap();
    let all = enumerate(&opened.subject(selection.preset()), &selection);
    (all.mutants, all.excluded)
}

fn fixture(name: &str, operators: &str) -> Vec<Mutant> {
    let cl_std = (name == "atomics_cl20").then_some("CL3.0");
    found(&testdata::kernel(name), cl_std, operators).0
}

/// As [`found`], for a kernel given as text.
fn inline(text: &str, operators: &str) -> (Vec<Mutant>, Vec<Excluded>) {
    let (_folder, path) = source_file(text);
    found(&path, Some("CL3.0"), operators)
}

/// Formats mutants as `line:column original -> replacement`.
fn shown(mutants: &[Mutant]) -> Vec<String> {
    let at = |m: &Mutant| m.range.as_ref().map_or("?".into(), |r| format!("{}:{}", r.start.line, r.start.column));
    mutants.iter().map(|m| format!("{} {} -> {}", at(m), m.original, m.replacement)).collect()
}

fn count(mutants: &[Mutant], operator: &str) -> usize {
    mutants.iter().filter(|m| m.operator == operator).count()
}

#[test]
fn barriers_are_removed_or_order_the_other_memory() {
    let mutants = fixture("matmul_tiled", "SYR,BFR");
    let expected = [
        "29:9 barrier(CLK_LOCAL_MEM_FENCE) -> ",
        "29:9 barrier(CLK_LOCAL_MEM_FENCE) -> barrier(CLK_GLOBAL_MEM_FENCE)",
        "34:9 barrier(CLK_LOCAL_MEM_FENCE) -> ",
        "34:9 barrier(CLK_LOCAL_MEM_FENCE) -> barrier(CLK_GLOBAL_MEM_FENCE)",
    ];
    assert_eq!(shown(&mutants), expected);
    assert_eq!(mutants[0].id, "matmul_tiled.SYR@matmul_tiled.cl:29:9:");
    let Edit::Instead { by: Action::Call { callee, args }, at } = &mutants[1].edit else { panic!() };
    assert_eq!((callee.as_str(), args.as_slice(), at.len()), ("_Z7barrierj", [Expr::Integer(2)].as_slice(), 1));
    assert!(mutants.iter().all(|m| m.is_structural));
    let end = &mutants[0].range.as_ref().unwrap().end;
    assert_eq!((end.line, end.column), (29, 37));
}

#[test]
fn a_barrier_of_both_memories_has_two_replacements_and_scopes_stay() {
    let text = "kernel void k(global int *a) {
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device);
    barrier(0);
    barrier(a[0]);
}
";
    let (mutants, excluded) = inline(text, "BFR,SYR,FR");
    let expected = [
        "-> ",
        "-> work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device)",
        "-> work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_device)",
        "-> ",
        "-> ",
    ];
    let replacements: Vec<String> = mutants.iter().map(|m| format!("-> {}", m.replacement)).collect();
    assert_eq!(replacements, expected);
    let reasons: Vec<String> = excluded.iter().map(Excluded::to_string).collect();
    assert_eq!(reasons.len(), 2);
    assert!(
        reasons[0].ends_with("k.cl:3:5: BFR: barrier(0): it orders neither local nor global memory"),
        "{reasons:?}"
    );
    assert!(reasons[1].ends_with("BFR: barrier(a[0]): its flags are no constant"), "{reasons:?}");
}

#[test]
fn two_barriers_of_a_macro_are_two_and_peng_leaves_them_alone() {
    let text = "#define TWICE barrier(CLK_LOCAL_MEM_FENCE); barrier(CLK_GLOBAL_MEM_FENCE)
#define ALSO(x) do { if (a[0]) { x; } else { x; } } while (0)
kernel void k(global int *a) {
    TWICE;
    ALSO(barrier(CLK_LOCAL_MEM_FENCE));
}
";
    let (mutants, _) = inline(text, "SYR");
    let expected = [
        "4:5 barrier(CLK_LOCAL_MEM_FENCE) -> ",
        "4:5 barrier(CLK_GLOBAL_MEM_FENCE) -> ",
        "5:10 barrier(CLK_LOCAL_MEM_FENCE) -> ",
    ];
    assert_eq!(shown(&mutants), expected);
    assert_eq!(mutants[1].id, "k.SYR@k.cl:4:5:#2");
    let spelt = mutants[1].spelling.as_ref().unwrap().start;
    assert_eq!((spelt.line, spelt.column), (1, 45));
    assert!(mutants[2].spelling.is_none());
    // The argument is one call of the source and two instructions.
    let lens: Vec<usize> = mutants.iter().map(|m| m.edit.places(&|_, _| 0).len()).collect();
    assert_eq!(lens, [1, 1, 2]);

    let (mutants, excluded) = inline(text, "peng");
    assert_eq!(count(&mutants, "SYR"), 0);
    assert_eq!(excluded.iter().filter(|e| e.operator == "SYR").count(), 3);
}

#[test]
fn fences_are_removed() {
    let text = "kernel void k(global int *a) {
    mem_fence(CLK_LOCAL_MEM_FENCE);
    read_mem_fence(CLK_GLOBAL_MEM_FENCE);
    write_mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    barrier(CLK_LOCAL_MEM_FENCE);
}
";
    let (mutants, _) = inline(text, "FR");
    let lines: Vec<u32> = mutants.iter().filter_map(|m| Some(m.range.as_ref()?.start.line)).collect();
    assert_eq!(lines, [2, 3, 4, 5]);
}

#[test]
fn atomics_of_opencl_1_become_plain_or_other_operations() {
    let mutants = fixture("histogram_atomic", "AR,AOP");
    let expected = [
        "22:13 atomic_inc(&outside[0]) -> plain: outside[0]++",
        "22:13 atomic_inc(&outside[0]) -> atomic_dec(&outside[0])",
        "24:13 atomic_inc(&outside[1]) -> plain: outside[1]++",
        "24:13 atomic_inc(&outside[1]) -> atomic_dec(&outside[1])",
        "27:13 atomic_inc(&mine[b]) -> plain: mine[b]++",
        "27:13 atomic_inc(&mine[b]) -> atomic_dec(&mine[b])",
        "34:13 atomic_add(&bins[b], mine[b]) -> plain: bins[b] += mine[b]",
        "34:13 atomic_add(&bins[b], mine[b]) -> atomic_sub(&bins[b], mine[b])",
    ];
    assert_eq!(shown(&mutants), expected);
    let callees: Vec<&str> = mutants.iter().filter_map(|m| callee(&m.edit)).collect();
    let expected =
        ["_Z10atomic_decPU3AS1Vj", "_Z10atomic_decPU3AS1Vj", "_Z10atomic_decPU3AS3Vj", "_Z10atomic_subPU3AS1Vjj"];
    assert_eq!(callees, expected);
}

fn callee(edit: &Edit) -> Option<&str> {
    match edit {
        Edit::Instead { by: Action::Call { callee, .. }, .. } => Some(callee),
        Edit::Value { by: Expr::Call { callee, .. }, .. } => Some(callee),
        _ => None,
    }
}

#[test]
fn atomics_of_c11_become_plain_or_other_operations() {
    // Three fetch_add, two fetch_max, one compare_exchange, two loads; atomic_init is not an atomic operation.
    let mutants = fixture("atomics_cl20", "AR,AOP");
    assert_eq!((count(&mutants, "AR"), count(&mutants, "AOP")), (6, 5));
    let exchange = mutants.iter().find(|m| m.original.starts_with("atomic_compare")).unwrap();
    assert!(matches!(&exchange.edit, Edit::Instead { by: Action::PlainCompareExchange { .. }, .. }));
    assert_eq!(exchange.replacement, "plain: taken[b] == nobody ? (taken[b] = 1, true) : (nobody = taken[b], false)");
    let callees: Vec<&str> = mutants.iter().filter_map(|m| callee(&m.edit)).collect();
    assert_eq!(callees[0], "_Z25atomic_fetch_sub_explicitPU3AS3VU7_Atomicjj12memory_order12memory_scope");
    assert_eq!(callees[1], "_Z25atomic_fetch_min_explicitPU3AS3VU7_Atomicjj12memory_order12memory_scope");
}

#[test]
fn every_atomic_of_opencl_1_has_its_plain_form() {
    let text = "kernel void k(global int *a, global uint *u, global float *f) {
    a[0] = atomic_sub(a, 1) + atomic_xchg(a, 2) + atomic_cmpxchg(a, 3, 4) + atomic_min(a, 5) + atomic_max(a + 1, 6);
    u[0] = atomic_and(u, 1) + atomic_or(u, 2) + atomic_xor(u, 3) + atomic_min(u, 4) + atomic_dec(u);
    f[0] = atomic_xchg(f, 1.0f);
}
";
    let (mutants, excluded) = inline(text, "AR,AOP");
    let plain: Vec<&str> = mutants.iter().filter(|m| m.operator == "AR").map(|m| &*m.replacement).collect();
    let expected = [
        "plain: *a -= 1",
        "plain: *a = 2",
        "plain: *a = *a == 3 ? 4 : *a",
        "plain: *a = min(*a, 5)",
        "plain: *(a + 1) = max(*(a + 1), 6)",
        "plain: *u &= 1",
        "plain: *u |= 2",
        "plain: *u ^= 3",
        "plain: *u = min(*u, 4)",
        "plain: *u--",
        "plain: *f = 1.0f",
    ];
    assert_eq!(plain, expected);
    let names: Vec<&str> = mutants.iter().filter_map(|m| callee(&m.edit)).collect();
    let expected = [
        "_Z10atomic_addPU3AS1Vii",
        "_Z10atomic_addPU3AS1Vii",
        "_Z10atomic_maxPU3AS1Vii",
        "_Z10atomic_minPU3AS1Vii",
        "_Z9atomic_orPU3AS1Vjj",
        "_Z10atomic_andPU3AS1Vjj",
        "_Z9atomic_orPU3AS1Vjj",
        "_Z10atomic_maxPU3AS1Vjj",
        "_Z10atomic_incPU3AS1Vj",
    ];
    assert_eq!(names, expected);
    // Neither a compare-exchange nor an exchange of floats has a counterpart.
    assert_eq!(excluded.len(), 2);
}

#[test]
fn indices_are_replaced_incremented_and_decremented() {
    let mutants = fixture("matmul_tiled", "GIR,GII,GID");
    // Four calls, each replaced by two other builtins and by the other of two dimensions.
    assert_eq!((count(&mutants, "GIR"), count(&mutants, "GII"), count(&mutants, "GID")), (12, 4, 4));
    let first: Vec<String> = shown(&mutants).into_iter().take(5).collect();
    let expected = [
        "16:20 get_local_id(0) -> get_global_id(0)",
        "16:20 get_local_id(0) -> get_group_id(0)",
        "16:20 get_local_id(0) -> get_local_id(1)",
        "16:20 get_local_id(0) -> get_local_id(0) + 1",
        "16:20 get_local_id(0) -> get_local_id(0) - 1",
    ];
    assert_eq!(first, expected);
    assert_eq!(callee(&mutants[0].edit), Some("_Z13get_global_idj"));
    assert!(mutants.iter().all(|m| !m.is_structural));
    // LIU does not replace dimensions.
    assert_eq!(count(&fixture("matmul_tiled", "liu"), "GIR"), 8);
    // A kernel of one dimension has no other dimension to use.
    assert_eq!(count(&fixture("reduction_tree", "GIR"), "GIR"), 6);
}

#[test]
fn an_index_in_a_helper_counts_and_a_dimension_in_a_variable_cannot_be_replaced() {
    let text = "size_t mine(uint d) { return get_global_id(d); }
kernel void k(global int *a) { a[mine(0)] = get_group_id(1); }
";
    let (mutants, excluded) = inline(text, "GIR,GII,GID");
    let functions: Vec<(&str, &str)> = mutants.iter().map(|m| (m.operator, &*m.function)).collect();
    let expected = [("GII", "mine"), ("GID", "mine"), ("GIR", "k"), ("GIR", "k"), ("GII", "k"), ("GID", "k")];
    assert_eq!(functions, expected);
    assert_eq!(excluded.len(), 1);
}

#[test]
fn local_variables_and_arguments_become_private() {
    let mutants = fixture("matmul_tiled", "SHR");
    let expected = [
        "13:5 __local float tile_a[TILE][TILE] -> float tile_a[TILE][TILE]",
        "14:5 __local float tile_b[TILE][TILE] -> float tile_b[TILE][TILE]",
    ];
    assert_eq!(shown(&mutants), expected);
    let expected = Edit::Privatise { variable: LocalVariable::Global("matmul_tiled.tile_a".into()) };
    assert_eq!(mutants[0].edit, expected);

    let mutants = fixture("reduction_tree", "SHR");
    assert_eq!(shown(&mutants), ["6:77 __local int *tile -> __private int *tile"]);
    assert_eq!(mutants[0].edit, Edit::Privatise { variable: LocalVariable::Argument(2) });

    let (mutants, _) = inline(
        "kernel void k(global int *a) {
    __local int x[4], y[4];
    x[get_local_id(0)] = a[0]; y[0] = x[1]; a[1] = y[0];
}
",
        "SHR",
    );
    assert_eq!(shown(&mutants), ["2:17 __local x -> __private x", "2:23 __local y -> __private y"]);
}

#[test]
fn image_coordinates_are_stepped_and_exchanged() {
    // Two reads and two writes of a 2D image: each coordinate is changed twice, and each call has one exchange.
    let mutants = fixture("blur_image", "ICR");
    assert_eq!(mutants.len(), 20);
    let first: Vec<&str> = mutants.iter().take(5).map(|m| &*m.replacement).collect();
    let expected = [
        "read_imagef(src, smp, at with .x + 1)",
        "read_imagef(src, smp, at with .x - 1)",
        "read_imagef(src, smp, at with .x and .y exchanged)",
        "read_imagef(src, smp, at with .y + 1)",
        "read_imagef(src, smp, at with .y - 1)",
    ];
    assert_eq!(first, expected);
    assert!(mutants.iter().any(|m| m.replacement == "write_imagef(dst, at with .y + 1, sum)"));
    assert_eq!(count(&fixture("blur_image", "peng"), "ICR"), 20);

    // One read of a 3D image: three coordinates are changed twice, and there are three pairs to exchange.
    let mutants = fixture("volume_slice", "ICR");
    assert_eq!(mutants.len(), 9);
    assert!(mutants.iter().all(|m| m.function == "voxel"));

    // One read of a 1D image: its coordinate is a scalar, for which PENG has no mutant.
    let mutants = fixture("palette_1d", "ICR");
    let expected = [
        "20:20 read_imageui(palette, PICK, index) -> read_imageui(palette, PICK, index + 1)",
        "20:20 read_imageui(palette, PICK, index) -> read_imageui(palette, PICK, index - 1)",
    ];
    assert_eq!(shown(&mutants), expected);
    assert_eq!(count(&fixture("palette_1d", "peng"), "ICR"), 0);
}

#[test]
fn layers_are_coordinates_and_floats_are_stepped_by_one() {
    let text = "kernel void k(read_only image2d_array_t a, write_only image1d_array_t b, sampler_t s, int n) {
    float4 c = read_imagef(a, s, (float4)(0.5f, 1.5f, n, 0));
    write_imagef(b, (int2)(n, 1), c);
}
";
    let (mutants, _) = inline(text, "ICR");
    assert_eq!(mutants.len(), 9 + 5);
    let Edit::Value { by: Expr::WithLane(_, 0, step), .. } = &mutants[0].edit else { panic!("{:?}", mutants[0].edit) };
    assert!(matches!(&**step, Expr::Binary(_, _, one) if **one == Expr::Float(Float(1.0))));
}

fn inspect(kernel: &str, args: &[&str]) -> std::process::Output {
    kassay().arg("inspect").arg(testdata::kernel(kernel)).args(args).output().unwrap()
}

#[test]
fn inspect_counts_by_operator_and_says_what_is_left_out() {
    let out = inspect("matmul_tiled", &["--operators", "syr,bfr,shr,gir,ai", "--format", "json"]);
    let result: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let kernel = &result["kernels"][0];
    let expected = serde_json::json!({ "BFR": 2, "GIR": 12, "SHR": 2, "SYR": 2 });
    assert_eq!(kernel["mutants_by_operator"], expected);
    assert_eq!(kernel["counts"]["mutants"], 18);

    // Reasons appear only with `-v`.
    for (flags, says) in [(["--format", "json", "-v"].as_slice(), true), (["--format", "json"].as_slice(), false)] {
        let out = inspect("palette_1d", &[["--operators", "peng"].as_slice(), flags].concat());
        let result: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        let notes = result["notes"].to_string();
        let reason = "palette_1d.cl:20:20: ICR: read_imageui(palette, PICK, index): PENG changes";
        assert_eq!(notes.contains(reason), says, "{notes}");
    }
    let out = inspect("palette_1d", &["--operators", "IRC"]);
    assert_eq!(out.status.code(), Some(2));
    let text = String::from_utf8(out.stderr).unwrap();
    assert!(text.contains("did you mean `ICR`?"), "{text}");
}
