//! Checks that outcomes which no launch shows are proved infeasible, and those that some launch shows are not.

use kassay_ir::cfg::sites::SiteKind;
use kassay_model::options::KernelOptions;
use kassay_prove::symbolic::infeasible::{Assumption, ProofOutcome};

use super::support::{Judged, judge_source};

const PARAMETERS: &str = "__global int *out, __global const int *in, int n, int m, uint u, float x, float y, uchar c";

/// Returns the source of a kernel whose second line is the body.
fn kernel(body: &str) -> String {
    format!("__kernel void k({PARAMETERS}) {{ size_t g = get_global_id(0); size_t l = get_local_id(0);\n{body}\n}}\n")
}

/// Returns the branches of a body.
fn branches(body: &str) -> Vec<Judged> {
    let mut all = judge_source(&kernel(body), &KernelOptions::default(), &[]);
    all.retain(|j| j.kind == SiteKind::Branch);
    all
}

/// Asserts which outcomes of the last branch are infeasible: `t` for true, `f` for false.
#[track_caller]
fn last(body: &str, expected: &str) {
    let all = branches(body);
    let line = all.iter().map(|j| j.site.clone()).next_back().unwrap();
    let found: Vec<&Judged> = all.iter().filter(|j| j.site == line).collect();
    for judged in &found {
        let is = matches!(judged.proof, ProofOutcome::Infeasible { .. });
        let wanted = expected.contains(&judged.label[..1]);
        assert_eq!(is, wanted, "{body}\n{}: {:?}", judged.label, judged.proof);
    }
    assert!(found.len() >= 2, "{found:?}");
}

fn reason(body: &str) -> (String, Vec<String>) {
    let all = branches(body);
    let found = all.into_iter().find_map(|j| match j.proof {
        ProofOutcome::Infeasible { reason, preconditions } => Some((reason, preconditions)),
        ProofOutcome::Unknown { .. } => None,
    });
    found.unwrap()
}

#[test]
fn guards_that_contradict_each_other() {
    last("if (n < 5) { if (n > 10) out[0] = 1; }", "t");
    last("if (n < 5) { if (n > 3) out[0] = 1; }", "");
    last("if (n < 5 && m > n) { if (m < n) out[0] = 1; }", "t");
    last("if (n < 5) { if (n < 6) out[0] = 1; }", "f");
    last("if (n == 3) out[1] = 2; else if (n > 2) { if (n < 4) out[0] = 1; }", "t");
    last("if (n < 5) return; if (n < 4) out[0] = 1;", "t");
    last("int a = n > 0 ? 1 : 2; if (a == 3) out[0] = 1;", "t");
    last("int a = n > 0 ? 1 : 2; if (a == 2) out[0] = 1;", "");
    last("if (n > 0) { if (m > 0) { if (n + m < 0) { if (n == m) out[0] = 1; } } }", "");
    last("if (n > 0) { if (m > 0) { if (n + m == 0) out[0] = 1; } }", "t");
    last("if ((n & 3) == 5) out[0] = 1;", "t");
    last("if (n * n % 4 == 2) out[0] = 1;", "t");
    last("if (u < 0) out[0] = 1;", "t");
    last("if (c > 255) out[0] = 1;", "t");
    last("if (c > 254) out[0] = 1;", "");
    last("if (n % 8 == 9) out[0] = 1;", "t");
    last("if (m != 0 && n % m == m) out[0] = 1;", "");
    last("if (n / m == 7) { if (m == 0) out[0] = 1; }", "");
}

#[test]
fn reasons_name_what_contradicts_what() {
    let (text, preconditions) = reason("if (n < 5) {\n if (n > 10) out[0] = 1; }");
    assert_eq!(text, "`n > 10` (line 3) contradicts `n < 5` (line 2)");
    assert!(preconditions.is_empty());
    let (text, _) = reason("if (n < 5) {\n if (n < 6) out[0] = 1; }");
    assert_eq!(text, "not `n < 6` (line 3) contradicts `n < 5` (line 2)");
    let (text, _) = reason("if (n * n % 4 == 2) out[0] = 1;");
    assert_eq!(text, "`n * n % 4 == 2` (line 2) never holds");
    let (text, _) = reason("if (l >= get_local_size(0)) out[0] = 1;");
    assert_eq!(text, "`l >= get_local_size(0)` (line 2) contradicts that a local id is below its local size");
    let (text, _) = reason("switch (n & 1) { case 0: out[0] = 1; break; case 2: out[0] = 3; }");
    assert_eq!(text, "`n & 1` being 2 (line 2) never holds");
}

#[test]
fn ids_keep_to_the_sizes_of_the_launch() {
    last("if (l >= get_local_size(0)) out[0] = 1;", "t");
    last("if (g >= get_global_size(0)) out[0] = 1;", "");
    last("if (g - get_global_offset(0) >= get_global_size(0)) out[0] = 1;", "t");
    last("if (get_group_id(1) >= get_num_groups(1)) out[0] = 1;", "t");
    last("if (get_group_id(0) * get_local_size(0) + l + get_global_offset(0) != g) out[0] = 1;", "t");
    last("if (get_group_id(0) * get_local_size(0) + l != g) out[0] = 1;", "");
    last("if (get_local_size(0) == 0) out[0] = 1;", "t");
    last("if (get_work_dim() > 3) out[0] = 1;", "t");
    last("if (get_work_dim() == 1) { if (get_global_size(1) != 1) out[0] = 1; }", "t");
    last("if (get_work_dim() == 2) { if (get_global_size(1) != 1) out[0] = 1; }", "");
    last("if (get_global_id(3) != 0) out[0] = 1;", "t");
    last("int i = g; if (i < 0) out[0] = 1;", "");
    last("int i = l; if (i < 0) out[0] = 1;", "t");
}

#[test]
fn limits_of_devices_are_not_those_of_opencl() {
    last("if (l > 5000) out[0] = 1;", "");
    last("if (l > 1000000) out[0] = 1;", "");
    last("if (get_local_id(1) * get_local_size(0) + l > 100000) out[0] = 1;", "");
    last("if (get_group_id(0) > 1 << 20) out[0] = 1;", "");
    last("if (get_num_groups(2) > 0xffffffffUL) out[0] = 1;", "");
    last("if (g > 0xffffffffffffUL) out[0] = 1;", "");
    last("if (get_global_offset(1) > 0xffffffffffffUL) out[0] = 1;", "");
    last("if (get_global_size(0) == 3 * get_local_size(0)) out[0] = 1;", "");
}

#[test]
fn proofs_that_assume_a_maximum_group_size_say_so() {
    let leans = ["a work-group has less than 2^31 work-items"];
    assert_eq!(reason("int i = l; if (i < 0) out[0] = 1;").1, leans);
    assert_eq!(reason("if (l > 0xffffffffUL) out[0] = 1;").1, leans);
    assert_eq!(reason("for (int i = l; i < n; i++) { if (i < 0) out[0] = 1; }").1, leans);
    assert!(reason("if (l >= get_local_size(0)) out[0] = 1;").1.is_empty());
    assert!(reason("if (get_group_id(0) >= get_num_groups(0)) out[0] = 1;").1.is_empty());
    assert!(reason("if (l < n) out[1] = 1; for (int i = 0; i < n; i++) { if (i < 0) out[0] = 1; }").1.is_empty());
}

#[test]
fn required_sizes_are_kept() {
    let source = "__attribute__((reqd_work_group_size(8, 1, 1))) __kernel void k(__global int *out) {\n\
        if (get_local_id(0) > 7) out[0] = 1;\nif (get_local_size(0) == 8) out[1] = 2;\nif (get_local_id(0) > 6) out[2] = 3;\n}";
    let all = judge_source(source, &KernelOptions::default(), &[]);
    let proved: Vec<(u32, &str)> = all
        .iter()
        .filter(|j| j.kind == SiteKind::Branch && matches!(j.proof, ProofOutcome::Infeasible { .. }))
        .map(|j| (j.line, j.label.as_str()))
        .collect();
    assert_eq!(proved, [(2, "true"), (3, "false")]);
}

#[test]
fn builtins_have_ranges() {
    last("if (min(n, 3) > 3) out[0] = 1;", "t");
    last("if (max(n, 3) < 3) out[0] = 1;", "t");
    last("if (clamp(n, 1, 5) == 6) out[0] = 1;", "t");
    last("if (clamp(n, 1, 5) == 5) out[0] = 1;", "");
    last("if (clamp(n, 5, m) > m) out[0] = 1;", "");
    last("if (abs(n) > 0x80000000u) out[0] = 1;", "t");
    last("if (popcount(u) > 32) out[0] = 1;", "t");
    last("if (clz(u) > 31) out[0] = 1;", "");
    last("if (add_sat(u, 5u) < 5) out[0] = 1;", "t");
    last("if (mul24(n, m) == 5) out[0] = 1;", "");
    last("if (any((int2)(n, m) < (int2)(m, n)) && n == m) out[0] = 1;", "t");
    last("if (fabs(x) < 0.0f) out[0] = 1;", "t");
    last("if (fmin(x, 1.0f) > 1.0f) out[0] = 1;", "t");
    last("if (floor(x) > x) out[0] = 1;", "");
    last("if (x > 1.0f && floor(x) > x) out[0] = 1;", "t");
    last("if (isnan(x)) { if (x > 0.0f) out[0] = 1; }", "t");
    last("if (convert_uchar_sat(n) > 255) out[0] = 1;", "t");
    last("if (convert_int(x) == 7) { if (x > 9.0f) out[0] = 1; }", "");
    last("if (exp(x) < 0.0f) out[0] = 1;", "");
}

/// Behaviour that devices may choose (`symbolic::implementation_defined`) must not support a proof; behaviour common to
/// all does.
#[test]
fn what_opencl_leaves_open_proves_nothing() {
    last("if (x != x && convert_uint_sat(x) != 0u) out[0] = 1;", "");
    last("if (x == x && x < 0.0f && convert_uint_sat(x) != 0u) out[0] = 1;", "t");
    last("if (x == 127.5f && convert_char_rtp(x) != 127) out[0] = 1;", "");
    last("if (x == 126.5f && convert_char_rtp(x) != 127) out[0] = 1;", "t");
    last("if (x != y && x - y == 0.0f) out[0] = 1;", "");
    last("if (x > 0.0f && x * 1.0f == 0.0f) out[0] = 1;", "");
    last("if (x > 1.0f && x * 1.0f == 0.0f) out[0] = 1;", "t");
    last("if (x == 1e-40f && x == 0.0f) out[0] = 1;", "");
    last("if (x == 1e-30f && x == 0.0f) out[0] = 1;", "t");
    last("if (x < y && !(y > x)) out[0] = 1;", "t");
    last("if (isinf(x) && max(x, 1.0f) < 1.0f) out[0] = 1;", "");
    last("if (isfinite(x) && max(x, 1.0f) < 1.0f) out[0] = 1;", "t");
    last("if (as_int(fmax(0.0f, -fabs(x))) != 0) out[0] = 1;", "");
    last("if (clamp(n, 5, 1) != 1) out[0] = 1;", "");
    last("if (mul24(0x1000000, n & 1) > 0x1000000) out[0] = 1;", "");
    last("if (x / y > 1.0f && x < 1.0f && y == 1.0f) out[0] = 1;", "");
    last("if (n == 0 && 5 / n == 7) out[0] = 1;", "");
    last("if (native_recip(x) > 1.0f && x > 2.0f) out[0] = 1;", "");
    // The bits of a NaN.
    last("if (isnan(x) && as_int(x + 1.0f) == 0x7fc12345) out[0] = 1;", "");
    last("if (isnan(x) && as_int(x + 1.0f) == 0x3f800000) out[0] = 1;", "t");
}

#[test]
fn floats_follow_ieee_754() {
    last("if (x * x < 0.0f) out[0] = 1;", "t");
    last("if (x < 1.0f) { if (x > 2.0f) out[0] = 1; }", "t");
    last("if (x != x) out[0] = 1;", "");
    last("if (!(x >= 1.0f) && !(x < 1.0f)) out[0] = 1;", "");
    last("if (x / y < 0.0f && x > 0.0f && y > 0.0f) out[0] = 1;", "");
    last("if (x < 3.0f) { if ((double)x > 3.5) out[0] = 1; }", "t");
    last("if (x * y - x * y != 0.0f && fabs(x) < 2.0f && fabs(y) < 2.0f) out[0] = 1;", "");
    last("if (as_uint(x) == 0x7fc00001u) out[0] = 1;", "");
    last("if ((as_uint(x) >> 31) == 2) out[0] = 1;", "t");
    let (_, preconditions) = reason("if (x * x < 0.0f) out[0] = 1;");
    assert!(preconditions.is_empty(), "{preconditions:?}");
}

#[test]
fn a_helper_with_a_constant_has_dead_branches() {
    let source = "int f(int mode, int v) {\n if (mode == 0) return v;\n return -v; }\n\
        __kernel void k(__global int *out, int n) {\n out[0] = f(1, n);\n out[1] = f(2, n); }";
    let all = judge_source(source, &KernelOptions::default(), &[]);
    let proofs: Vec<bool> = all.iter().map(|j| matches!(j.proof, ProofOutcome::Infeasible { .. })).collect();
    assert_eq!(proofs, [true, false], "{all:?}");
}

#[test]
fn dead_cases_of_a_switch() {
    let all =
        branches("switch (n & 3) { case 0: out[0] = 1; break; case 3: out[0] = 2; break; case 4: out[0] = 3; break; }");
    let dead: Vec<&str> =
        all.iter().filter(|j| matches!(j.proof, ProofOutcome::Infeasible { .. })).map(|j| j.label.as_str()).collect();
    assert_eq!(dead, ["case 4"]);
    last(
        "if (n >= 0 && n < 2) switch (n) { case 0: out[0] = 1; break; case 1: out[0] = 2; break; default: out[0] = 3; }",
        "d",
    );
}

#[test]
fn loops_bound_their_variables() {
    last("uint i; for (i = 0; i < u; i++) out[i] = 1; if (i > u) out[0] = 1;", "t");
    last("int i; for (i = 0; i < n; i++) out[i] = 1; if (i > n) out[0] = 1;", "");
    last("int i; for (i = 0; i < n; i++) out[i] = 1; if (n > 0 && i > n) out[0] = 1;", "t");
    last("for (int i = 0; i < n; i++) if (i < 0) out[i] = 1;", "t");
    last("for (int i = 0; i < n; i++) if (i >= n) out[i] = 1;", "t");
    last("for (int i = 0; i < n; i += 2) if (i & 1) out[i] = 1;", "t");
    last("for (int i = 0; i < n; i += 2) if (i == 7) out[i] = 1;", "t");
    last("for (int i = 0; i < n; i++) if (i == 7) out[i] = 1;", "");
    last("for (int i = 10; i > 0; i--) if (i > 10) out[i] = 1;", "t");
    last("for (uint i = u; i > 0; i >>= 1) if (i > u) out[i] = 1;", "t");
    last("for (uint s = 256; s > 0; s >>= 1) if ((s & (s - 1)) != 0) out[s] = 1;", "t");
    last("for (int i = 0, j = 3; i < n; i++, j++) if (j != i + 3) out[i] = 1;", "t");
    last("while (n < 100) { n++; } if (n < 100) out[0] = 1;", "t");
    last("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) if (j >= n) out[i] = 1;", "t");
    last("int s = 0; for (int i = 0; i < n; i++) { s += in[i]; } if (s < 0) out[0] = 1;", "");
}

#[test]
fn small_loops_are_unrolled_completely() {
    last("int s = 0; for (int i = 0; i < 4; i++) s += i; if (s == 6) out[0] = 1;", "f");
    last("int s = 0; for (int i = 0; i < 4; i++) if (in[i] > 0) s++; if (s > 4) out[0] = 1;", "t");
    last("int s = 0; for (int i = 0; i < 4; i++) if (in[i] > 0) s++; if (s == 4) out[0] = 1;", "");
    last("int i; for (i = 0; i < 8; i++) if (in[i] == 5) break; if (i > 8) out[0] = 1;", "t");
    last("int i; for (i = 0; i < 8; i++) if (in[i] == 5) break; if (i == 3) out[0] = 1;", "");
    last("int s = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) s += i * j; if (s == 9) out[0] = 1;", "f");
    last("int a[4]; for (int i = 0; i < 4; i++) a[i] = i * i; if (a[3] != 9) out[0] = 1;", "t");
    last("int a[4]; for (int i = 0; i < 4; i++) a[i] = n; a[m & 3] = 1; if (a[3] != n) out[0] = 1;", "");
}

#[test]
fn only_states_that_are_set_are_reachable() {
    let machine = "int s = 0; for (int i = 0; i < n; i++) { switch (s) { case 0: s = in[i] > 3 ? 1 : 0; break; \
        case 1: s = in[i] < 2 ? 2 : 0; break; case 2: s = 0; break; default: s = 0; } }";
    let all = branches(machine);
    let dead: Vec<&str> =
        all.iter().filter(|j| matches!(j.proof, ProofOutcome::Infeasible { .. })).map(|j| j.label.as_str()).collect();
    assert_eq!(dead, ["default"], "{all:?}");
}

#[test]
fn values_that_others_write_may_be_anything() {
    last("if (out[g] == 1) { if (out[g] == 2) out[0] = 1; }", "");
    last("if (in[g] == 1) { if (in[g] == 2) out[0] = 1; }", "t");
    let (_, preconditions) = reason("if (in[g] == 1) { if (in[g] == 2) out[0] = 1; }");
    assert_eq!(preconditions, ["nothing writes the buffer of argument 1 during the launch"]);
    let (_, preconditions) = reason("if ((in[g] & 1) == 2) out[0] = 1;");
    assert!(preconditions.is_empty());
    last("__local int t[4]; t[l & 3] = 5; barrier(CLK_LOCAL_MEM_FENCE); if (t[0] != 5) out[0] = 1;", "");
    last("volatile __global const int *p = in; if (p[g] == 1) { if (p[g] == 2) out[0] = 1; }", "");
    last("if (atomic_inc(out) == 1) { if (out[0] == 5) out[1] = 1; }", "");
}

#[test]
fn constant_tables_hold_their_initial_values() {
    let source = "__constant int table[4] = {1, 3, 5, 7};\n__kernel void k(__global int *out, int n) {\n\
        int v = table[n & 3];\n if (v == 4) out[0] = 1;\n if (v == 7) out[1] = 1;\n if (table[n] == 4) out[2] = 1; }";
    let all = judge_source(source, &KernelOptions::default(), &[]);
    let proved: Vec<(u32, &str)> = all
        .iter()
        .filter(|j| matches!(j.proof, ProofOutcome::Infeasible { .. }))
        .map(|j| (j.line, j.label.as_str()))
        .collect();
    assert_eq!(proved, [(4, "true")]);
}

#[test]
fn assumptions_are_named_where_they_are_needed() {
    let assumption = Assumption {
        text: "`n` is at most 100".to_owned(),
        argument: 2,
        offset: 0,
        width: 32,
        is_signed: true,
        least: None,
        most: Some(100),
    };
    let all = judge_source(
        &kernel("if (n > 200) out[0] = 1;\nif ((n & 1) == 2) out[1] = 1;"),
        &KernelOptions::default(),
        &[assumption],
    );
    let proved: Vec<(u32, Vec<String>)> = all
        .into_iter()
        .filter_map(|j| match j.proof {
            ProofOutcome::Infeasible { preconditions, .. } => Some((j.line, preconditions)),
            ProofOutcome::Unknown { .. } => None,
        })
        .collect();
    assert_eq!(proved, [(2, vec!["`n` is at most 100".to_owned()]), (3, vec![])]);
}

#[test]
fn classes_of_loops_that_cannot_occur() {
    let all = judge_source(&kernel("for (int i = 0; i < 5; i++) out[i] = 1;"), &KernelOptions::default(), &[]);
    let dead: Vec<&str> = all
        .iter()
        .filter(|j| j.kind == SiteKind::Loop && matches!(j.proof, ProofOutcome::Infeasible { .. }))
        .map(|j| j.label.as_str())
        .collect();
    assert_eq!(dead, ["zero", "one"], "{all:?}");
}
