//! Checks that the normal form distinguishes programs that some test could distinguish; each case is a kernel and a
//! change of its text.

use kassay_judge::mutation::equivalence::normal::NormalForm;

use super::support::normal_form;

/// Returns a kernel's text around a body.
fn kernel(body: &str) -> String {
    format!(
        "int helper(int *p, int v) {{ *p += v; return *p; }}\n\
         __kernel void k(__global int *a, __global float *f, __local int *l, int n, uint u, float x, float y) {{\n\
             int i = get_global_id(0);\n{body}\n}}\n"
    )
}

/// Returns the normal forms of original and mutant: `OLD` in the body stands for `original` in the former, for `mutant`
/// in the latter.
fn pair(body: &str, original: &str, mutant: &str) -> (NormalForm, NormalForm) {
    (normal_form(&kernel(&body.replace("OLD", original))), normal_form(&kernel(&body.replace("OLD", mutant))))
}

#[track_caller]
fn same(body: &str, original: &str, mutant: &str) {
    let (one, two) = pair(body, original, mutant);
    assert!(matches!(one, NormalForm::Text(_)), "open: {body} with {original}");
    assert_eq!(one, two, "{body}: {original} -> {mutant}");
}

#[track_caller]
fn different(body: &str, original: &str, mutant: &str) {
    let (one, two) = pair(body, original, mutant);
    assert!(one != two || one == NormalForm::Indeterminate, "{body}: {original} -> {mutant}: {one:?}");
}

#[test]
fn values_that_cannot_differ_have_one_form() {
    same("a[i] = OLD;", "n * 2", "n << 1");
    same("a[i] = OLD;", "n + 0", "n - 0");
    same("a[i] = OLD;", "(n * 1)", "(n / 1)");
    same("a[i] = OLD;", "(n & n)", "(n | n)");
    same("a[i] = OLD;", "n - n", "0");
    same("if (n > 0 && OLD) a[i] = 1;", "n > 0", "1");
    same("if (OLD) a[i] = 1;", "(u & 0xff) < 256", "1");
    same("if (OLD) a[i] = 1;", "u >= 0", "1");
    same("if (i < n) { if (OLD) a[i] = 1; }", "i < n", "1");
    same("f[i] = OLD;", "x * 1.0f", "x / 1.0f");
}

#[test]
fn dead_code_is_no_difference() {
    same("int t = 3; OLD a[i] = n;", "t = n + 1;", "t = n - 1;");
    same("int t = OLD; t = n; a[i] = t;", "0", "1");
    same("int t = n; a[i] = OLD;", "t++", "t--");
    same("int t = 1; helper(&t, OLD); a[i] = n;", "1", "2");
    same("int2 v; v.x = n; v.y = OLD; v.y = 4; a[i] = v.x + v.y;", "1", "2");
    same("if (0) { OLD } a[i] = n;", "a[i] = 1;", "a[i] = 2;");
}

#[test]
fn order_of_pure_values_is_no_difference() {
    same("OLD a[i] = p; a[i + n] = q;", "int p = n * 3; int q = i * 5;", "int q = i * 5; int p = n * 3;");
}

#[test]
fn conditions_at_the_boundary_differ() {
    different("if (OLD) a[i] = 1;", "i < n", "i <= n");
    different("if (OLD) a[i] = 1;", "i < n", "i != n");
    different("if (OLD) a[i] = 1;", "i < n", "1");
    different("if (n > 0 && OLD) a[i] = 1;", "n > 1", "1");
    different("for (int j = 0; OLD; j++) a[j] = i;", "j < n", "j <= n");
    different("for (int j = 0; OLD; j++) a[j] = i;", "j < n", "j != n");
}

#[test]
fn what_other_work_items_see_differs() {
    different("l[get_local_id(0)] = n; OLD a[i] = l[0];", "barrier(CLK_LOCAL_MEM_FENCE);", "");
    different("a[i] = n; OLD f[i] = x;", "barrier(CLK_GLOBAL_MEM_FENCE);", "barrier(CLK_LOCAL_MEM_FENCE);");
    different("OLD barrier(CLK_LOCAL_MEM_FENCE); a[i] = l[0];", "l[get_local_id(0)] = n;", "");
    different("OLD l[0] = 2;", "l[0] = 1;", "");
    different("OLD a[i] = n;", "a[i] = 0;", "");
    different("__local int t[8]; OLD a[i] = n;", "t[i & 7] = 1;", "");
    different("int p = l[1]; barrier(CLK_LOCAL_MEM_FENCE); a[i] = OLD;", "p", "l[1]");
    different("int p = l[1]; a[i] = OLD;", "p", "l[1]");
    different("OLD a[i] = n;", "mem_fence(CLK_GLOBAL_MEM_FENCE);", "");
    different("OLD a[i] = n;", "atomic_add(a, 0);", "");
    different("OLD(a, 1);", "atomic_add", "atomic_sub");
    different(
        "if (OLD) { a[i] = 1; barrier(CLK_LOCAL_MEM_FENCE); } else { a[i] = 1; barrier(CLK_LOCAL_MEM_FENCE); }",
        "i < n",
        "i > n",
    );
}

#[test]
fn uninitialised_variables_have_no_convenient_value() {
    different("int t OLD; a[i] = t;", "= 5", "");
    different("int t OLD; if (n) t = 5; a[i] = t;", "= 5", "");
    different("int t OLD; for (int j = 0; j < n; j++) t += j; a[i] = t;", "= 0", "");
    different("int t[4]; t[0] = 1; OLD t[2] = 1; t[3] = 1; a[i] = t[n & 3];", "t[1] = 1;", "");
    different("int t[2]; t[0] = 1; OLD a[i] = t[0] + t[1];", "t[1] = 1;", "");
    different("int2 v; v.x = n; OLD a[i] = v.x + v.y;", "v.y = 4;", "");
    different("struct { int p, q; } s; s.p = 1; OLD a[i] = s.p + s.q;", "s.q = 2;", "");
}

#[test]
fn faults_differ() {
    different("int t = OLD; a[i] = n;", "n / 3", "n / i");
    different("int t = OLD; a[i] = n;", "n + i", "n % i");
    different("int t = OLD; a[i] = n;", "n / 3", "n / 0");
    different("a[i] = OLD;", "n / 3", "n / 0");
    different("a[i] = OLD;", "n / 0", "7");
    different("a[i] = OLD;", "n / n", "1");
    different("int t = OLD; a[i] = n;", "a[i]", "a[i + 1]");
    different("int t[4]; t[0] = 1; int s = t[OLD]; a[i] = n;", "0", "i");
    different("int t[4]; t[OLD] = 1; a[i] = n;", "0", "n");
    different("int t[4] = {1, 2, 3, 4}; a[i] = t[OLD];", "3", "4");
    different("int t[4] = {1, 2, 3, 4}; OLD a[i] = n;", "", "t[5] = 1;");
    different("float4 v = vload4(OLD, f); a[i] = n;", "0", "1");
    different("if (OLD) a[i] = n; else __builtin_unreachable();", "n > 0", "n >= 0");
    different("if (OLD) __builtin_unreachable(); a[i] = n;", "n > 0", "0");
    different("a[i] = OLD;", "(int)x", "(int)(x + 1.0f)");
    different("__builtin_assume(n > 0); if (OLD) a[i] = 1;", "n > 0", "1");
}

#[test]
fn loops_that_do_not_end_differ() {
    different("OLD a[i] = n;", "", "for (;;) ;");
    different("int j = 0; while (j < n) OLD; a[i] = n;", "j++", "j");
    different("int j = 0; while (j != n) { j += OLD; } a[i] = n;", "1", "2");
    // A long loop without a result consumes fuel.
    different("for (int j = 0; j < OLD; j++) ; a[i] = n;", "10", "2000000000");
    different("for (int j = 0; j < 10; OLD) ; a[i] = n;", "j++", "j--");
    different("uint j = 0; do { j++; } while (OLD); a[i] = n;", "j < 10", "j > 0");
}

#[test]
fn signed_overflow_wraps() {
    different("if (OLD) a[i] = 1;", "n + 1 > n", "1");
    different("if (OLD) a[i] = 1;", "n * 2 / 2 == n", "1");
    different("if (OLD) a[i] = 1;", "-n > 0 || n >= 0", "1");
    different("for (int j = n; OLD; j++) a[j] = 1;", "j >= n", "1");
    different("long w = OLD; a[i] = w > n;", "(long)(n + 1)", "(long)n + 1");
}

#[test]
fn floats_are_not_reals() {
    different("if (OLD) a[i] = 1;", "!(x < y)", "x >= y");
    different("f[i] = OLD;", "x + 0.0f", "x");
    different("f[i] = OLD;", "x - x", "0.0f");
    different("f[i] = OLD;", "x * 0.0f", "0.0f");
    different("f[i] = OLD;", "0.0f - x", "-x");
    different("if (OLD) a[i] = 1;", "x == x", "1");
    different("f[i] = OLD;", "(x + y) + 1.0f", "x + (y + 1.0f)");
    different("f[i] = OLD;", "x / y", "x * (1.0f / y)");
    different("f[i] = OLD;", "x * y / y", "x");
}

#[test]
fn shifts_are_modulo_the_width() {
    different("a[i] = OLD;", "n << u", "0");
    different("a[i] = OLD;", "(n << u) >> u", "n");
    same("a[i] = OLD;", "n << u", "n << (u & 31)");
}
