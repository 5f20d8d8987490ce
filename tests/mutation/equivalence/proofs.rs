//! Checks what the solver decides beyond the normal form, and what it must not.

use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::{Binary, Edit, Expr, Place, Predicate, Slot};
use kassay_judge::mutation::equivalence::Verdict;
use llvm_sys::LLVMOpcode;

use super::classify::{binary, compare, places, verdicts};

fn kernel(body: &str) -> String {
    format!(
        "__kernel void k(__global int *a, __global float *f, int n, int m, uint u, float x, float y) {{\n\
             size_t l = get_local_id(0); int i = (int)l;\n{body}\n}}\n"
    )
}

/// Returns the verdicts on edits of the comparison (`opcode`) at that position.
fn judged(body: &str, opcode: LLVMOpcode, position: usize, edits: impl Fn(Place) -> Vec<Edit>) -> Vec<Verdict> {
    verdicts(&kernel(body), |bitcode: &[u8], sites: &Sites| edits(places(bitcode, sites, opcode)[position].0))
}

#[track_caller]
fn comparison(body: &str, position: usize, equivalent: &[Predicate], distinct: &[Predicate]) {
    let all: Vec<Predicate> = equivalent.iter().chain(distinct).copied().collect();
    let opcode = if body.contains("FLOAT") { LLVMOpcode::LLVMFCmp } else { LLVMOpcode::LLVMICmp };
    let found =
        judged(&body.replace("FLOAT", ""), opcode, position, |place| all.iter().map(|p| compare(place, *p)).collect());
    for (i, (predicate, verdict)) in all.iter().zip(found).enumerate() {
        let proved = matches!(verdict, Verdict::Equivalent { .. });
        assert_eq!(proved, i < equivalent.len(), "{body}: {predicate:?}: {verdict:?}");
    }
}

#[track_caller]
fn forced(body: &str, position: usize, value: i128) -> bool {
    let force = |place| vec![Edit::Value { at: vec![Slot::Result(place)], by: Expr::Integer(value) }];
    matches!(judged(body, LLVMOpcode::LLVMICmp, position, force)[0], Verdict::Equivalent { .. })
}

#[test]
fn a_boundary_that_another_condition_excludes() {
    use Predicate::{Eq, Ne, Sge, Sgt, Sle};
    comparison("if (n != m) { if (n < m) a[i] = 1; }", 1, &[Sle], &[Sgt, Sge, Eq, Ne]);
    comparison("if (n < m) a[i] = 1;", 0, &[], &[Sle, Ne, Eq]);
    comparison("if (n <= m) { if (n < m) a[i] = 1; }", 1, &[Ne], &[Sle, Eq]);
    comparison("if (n != m) a[i] = 2; if (n < m) a[i] = 1;", 1, &[], &[Sle]);
    comparison("if (n % 8 == 1) { if (n < 24) a[i] = 1; }", 1, &[Sle], &[Ne, Eq]);
}

#[test]
fn implied_guards_can_be_forced() {
    assert!(forced("if (n > 10) { if (n > 3) a[i] = 1; }", 1, 1));
    assert!(!forced("if (n > 3) { if (n > 10) a[i] = 1; }", 1, 1));
    assert!(!forced("if (n > 10) { if (n + 1 > 3) a[i] = 1; }", 1, 1), "n + 1 may wrap");
    assert!(forced("if (n > 2 && m > 2 && n < 100 && m < 100) { if (n + m > 4) a[i] = 1; }", 4, 1));
    assert!(!forced("if (n > 2 && m > 2) { if (n * m > 4) a[i] = 1; }", 2, 1), "n * m may wrap");
}

#[test]
fn ids_are_within_their_sizes() {
    assert!(forced("if (i >= 0) a[i] = 1;", 0, 1));
    assert!(forced("if (l < get_local_size(0)) a[i] = 1;", 0, 1));
    assert!(!forced("if (l < get_local_size(1)) a[i] = 1;", 0, 1));
    assert!(!forced("if (l + 1 < get_local_size(0)) a[i] = 1;", 0, 1));
    assert!(!forced("if ((int)get_global_id(0) >= 0) a[i] = 1;", 0, 1));
    assert!(!forced("if (get_global_id(0) < n) a[i] = 1;", 0, 1));
    assert!(forced("if (get_group_id(2) < get_num_groups(2)) a[i] = 1;", 0, 1));
}

#[test]
fn builtins_of_integers_are_exact() {
    assert!(forced("if (min(n, 7) <= 7) a[i] = 1;", 0, 1));
    assert!(!forced("if (min(n, 7) < 7) a[i] = 1;", 0, 1));
    assert!(forced("if (clamp(n, 2, 9) >= 2) a[i] = 1;", 0, 1));
    assert!(!forced("if (max(u, 0u) > 0) a[i] = 1;", 0, 1));
    assert!(!forced("if (max((int)u, n) >= u) a[i] = 1;", 0, 1));
}

#[test]
fn the_contents_of_memory_are_unknown() {
    assert!(!forced("if (a[i] > 10) { if (a[i] > 3) a[i] = 1; }", 1, 1), "another work-item may write between");
    assert!(forced("int v = a[i]; if (v > 10) { if (v > 3) a[i] = 1; }", 1, 1));
}

#[test]
fn loops_bring_other_values() {
    use Predicate::{Ne, Sle};
    comparison("for (int j = 0; j < n; j++) a[j] = i;", 0, &[], &[Ne, Sle]);
    assert!(!forced("for (int j = 0; j < n; j++) { if (j < 1) a[j] = i; }", 1, 1));
    assert!(forced("for (int j = 0; j < n; j++) { if (j < n) a[j] = i; }", 1, 1));
    assert!(!forced("int s = 0; for (int j = 0; j < n; j++) { if (s < n) a[j] = i; s += 2; }", 1, 1));
}

#[test]
fn floats_may_be_nan() {
    use Predicate::{FOeq, FOge, FOgt, FOle, FOlt, FUne};
    comparison("FLOATif (x != y) { if (x < y) f[i] = 1; }", 1, &[FOle], &[FOgt, FUne]);
    comparison("FLOATif (!(x < y)) { if (x >= y) f[i] = 1; }", 1, &[], &[FOgt, FOlt, FUne, FOeq]);
    let negated = "if (x >= y) f[i] = 1;";
    let found = judged(negated, LLVMOpcode::LLVMFCmp, 0, |place| {
        let less = Expr::Compare(Predicate::FOlt, Expr::Operand(0).into(), Expr::Operand(1).into());
        let by = Expr::Unary(kassay_ir::instrument::mutants::Unary::Not, less.into());
        vec![Edit::Value { at: vec![Slot::Result(place)], by }, compare(place, FOge)]
    });
    assert_eq!(found[0], Verdict::Distinct, "a number that is none is not less, nor is it greater or equal");
    assert!(matches!(found[1], Verdict::Equivalent { .. }));
}

#[test]
fn arithmetic_that_agrees_where_it_is_used() {
    let found = judged("if (u < 8) a[u] = (int)(u ^ 8);", LLVMOpcode::LLVMXor, 0, |place| {
        vec![
            binary(place, Binary::Or),
            binary(place, Binary::Add),
            binary(place, Binary::Sub),
            binary(place, Binary::And),
        ]
    });
    assert!(matches!(&found[0], Verdict::Equivalent { .. }), "{found:?}");
    assert!(matches!(&found[1], Verdict::Equivalent { .. }), "{found:?}");
    assert_eq!(found[2..], [Verdict::Distinct, Verdict::Distinct]);
    let found = judged("a[u] = (int)(u ^ 8);", LLVMOpcode::LLVMXor, 0, |place| vec![binary(place, Binary::Or)]);
    assert_eq!(found, [Verdict::Distinct]);
}
