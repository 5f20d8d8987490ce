//! Makes the same change in the source and in the IR: both kernels must compute the same, on every row of the
//! truth table.

use kassay_ir::instrument::layout::FaultKind;
use kassay_judge::mutation::Mutant;
use kassay_judge::mutation::catalogue::operators::Preset;

use super::support::*;

/// Compares every mutant of `operators` with the source with its replacement. Returns the number of mutants.
fn agree(source: &str, operators: &[&str], items: u64, words: usize, keep: &dyn Fn(&Mutant) -> bool) -> usize {
    let kernel = Kernel::new(source);
    let (mutants, woven) = kernel.woven(operators, keep);
    let replaced = kernel.replaced(&mutants);
    let mut executor = executor();
    let last = mutants.len() as u32;
    let ours = woven.run(&mut executor, last, items, words);
    let theirs = replaced.run(&mut executor, last, items, words);
    assert_eq!(ours[0], theirs[0], "no mutant");
    assert_eq!(ours[0].fault, None);
    let mut wrong = Vec::new();
    let is_same = |ours: &Effect, theirs: &Effect| match ours.fault {
        // A loop that runs out of fuel is left by an edge that leaves it: `while (true)` in the source has none.
        Some(FaultKind::Fuel | FaultKind::OutOfBounds | FaultKind::Trap) => ours.fault == theirs.fault,
        // clang may compile a division by a constant 0 to anything.
        Some(FaultKind::Division) => true,
        None => ours == theirs,
    };
    for (i, mutant) in mutants.iter().enumerate().filter(|(i, _)| !is_same(&ours[i + 1], &theirs[i + 1])) {
        let at = mutant.range.as_ref().map(|r| r.start);
        let what = format!("{} {at:?} {} -> {}", mutant.operator, mutant.original, mutant.replacement);
        wrong.push(format!("{what}\n{:?}\n{:?}\n{:?}", ours[i + 1], theirs[i + 1], mutant.edit));
    }
    assert!(wrong.is_empty(), "{} of {last} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ours[1..].iter().any(|did| *did != ours[0]), "no mutant makes a difference");
    mutants.len()
}

/// Returns a kernel around `body`, in which `a`, `b`, `c`, `d` are the bits of the work-item's number.
fn truth_table(body: &str) -> String {
    format!(
        "kernel void k(global int *o) {{\n int g = get_global_id(0), a = g & 1, b = g >> 1 & 1, c = g >> 2 & 1, d = g >> 3 & 1;\n \
         int r = 0, n = 0;\n {body}\n o[g] = r * 100 + n;\n}}\n"
    )
}

fn logic_agrees(body: &str) -> usize {
    agree(&truth_table(body), &["COR", "LCR"], 16, 16, &|_| true)
}

#[test]
fn nested_short_circuits_of_an_if() {
    assert_eq!(logic_agrees("if ((a && b) || (c && !d)) r = 1;"), 12);
    assert_eq!(logic_agrees("if (!(a || !(b && c)) && d) r = 1; else r = 2;"), 12);
    assert_eq!(logic_agrees("if ((a && b) && (c || d)) { r = 1; } if (!(a && b)) r += 2;"), 16);
}

#[test]
fn short_circuits_of_values() {
    assert_eq!(logic_agrees("r = ((a && b) || c) + 2 * !(c || d); n = (a && (b || c)) && !d;"), 24);
    assert_eq!(logic_agrees("bool t = a || (b && c); r = t == (c || !(d && a));"), 16);
}

#[test]
fn short_circuits_of_ternaries() {
    assert_eq!(logic_agrees("r = a && (b || !c) ? 1 : 2; n = (a || b ? o[g] + 1 : o[g] + 2);"), 12);
    assert_eq!(logic_agrees("if (a && (b ? c : d)) r = 1; if ((a ? b : c) || d) n = 1;"), 8);
}

#[test]
fn short_circuits_of_loops() {
    assert_eq!(logic_agrees("for (int i = 0; i < 5 && (i < 2 * a + b || (c && i < 4)); i++) r += i + 1;"), 12);
    assert_eq!(logic_agrees("while ((n < 3 && a) || !(b || n >= 2)) { n++; if (n > 6) break; }"), 12);
    assert_eq!(logic_agrees("do { n++; if (n > 6) break; } while (n < 4 && (a || n < 2));"), 8);
}

#[test]
fn dropped_operands_have_no_effects() {
    assert_eq!(logic_agrees("if (n++ < a && r++ < b) r += 5; r += (n++ || r++ > 2);"), 8);
}

#[test]
fn operands_that_are_constant() {
    let body = "if (a && 1) r = 1; if (b || 0) n = 1; if (c && 0) n = 5; n += d && 1;";
    // Of each COR, and LCR without `a && 1` to `a`, `b || 0` to `b`, `c && 0` to `0`, `d && 1` to `d`.
    assert_eq!(logic_agrees(body), 12);
    let same = Kernel::new(&truth_table(body)).find(&["LCR"], Preset::Full).reasons("LCR");
    assert_eq!(same.len(), 4);
    assert!(same.iter().all(|reason| reason.contains("nothing changes")), "{same:?}");
}

#[test]
fn vectors_are_data() {
    assert_eq!(
        logic_agrees("int2 v = (int2)(a, b) && (int2)(c, d); r = v.x * 2 + v.y; v = v || (int2)(d, d); n = v.x - v.y;"),
        8
    );
}

#[test]
fn forced_conditions() {
    let body = "if (a) r = 1; if (!b) n = 2; if ((a && b) || !(c && d)) r += 4; r += c ? 10 : 20; n += (a || d ? o[g] + 1 : 7);\n \
                while (n-- > 3 && a) r++;\n for (int i = 0; i < 3; i++) r += i;\n do { r += 2; } while (r < 9);";
    assert_eq!(agree(&truth_table(body), &["CSD"], 16, 16, &|_| true), 16);
}

#[test]
fn statements_and_loops() {
    let body = "int p[4] = {0}; r = a + 5; n += 2; if (b) { n++; p[a + 1] = 7; }\n \
                for (int i = 0; i < 3 + a; i++) { r += p[i & 3] - 1; }\n while (n > c && n < 9) n--;\n r += p[2] * 3;\n \
                int i = 2, j = 3; for (i = 1, j = 4; i < j; i++, j--) n += i * j; for (n = n; n < 0; n += 1) ;";
    // Five statements outside of the loops, three in loops' bodies, one after them; in heads `i++`, `i = 1`, `j = 4`,
    // `i++`, `j--`, `n = n`, `n += 1`; four loops.
    assert_eq!(agree(&truth_table(body), &["SDL", "LBR"], 16, 16, &|_| true), 5 + 3 + 1 + 7 + 4 * 3);
}

#[test]
fn loops_up_to_an_address() {
    let body = "int q[8] = {1, 2, 3, 4, 5, 6, 7, 8}; int *p, *end = q + 3 + a; for (p = q; p < end; p++) r += *p;\n \
                p = q + 1; do { n += *p++; } while (p != q + 6 - b); long4 *x = (long4 *)0; while (x) x = (long4 *)0;\n \
                short8 v[5] = {1, 2, 3, 4, 5}; short8 *u = v + 3; while (u > v + c) r += (u--)->s0;";
    let source = truth_table(body);
    // `p != q + 5 - b` and further ones run past the array: both forms are stopped there.
    assert_eq!(agree(&source, &["LBR"], 16, 16, &|_| true), 3 * 3 + 1);
    let left = Kernel::new(&source).find(&["LBR"], Preset::Full).reasons("LBR");
    assert_eq!(left.len(), 1, "{left:?}");
}

/// Compares the mutants of the constants in a body, with text before and after the kernel.
fn constants_agree(before: &str, body: &str, after: &str) -> usize {
    let source = format!("{before}{}{after}", truth_table(body));
    let first = before.lines().count() as u32 + 4;
    let is_of_body = |m: &Mutant| m.range.as_ref().is_some_and(|r| (first..first + 20).contains(&r.start.line));
    let is_of_end = |m: &Mutant| m.original == "100";
    agree(&source, &["LVR"], 16, 16, &|m| is_of_body(m) && !is_of_end(m))
}

#[test]
fn constants_of_operators_and_macros() {
    let body = "r = a + 2 * 3; n = (b + N) * 5; r += ADD(c); n -= -1; r += d - (N2 - 1);\n for (int i = 0; i < 3; i++) n += i << 1;";
    let before = "#define N 3\n#define ADD(x) ((x) + 11)\n#define M 3\n#define N2 (M * 2)\n";
    // In the order of the source; 2 has four replacements (0, 1, -1, 3), 1 has three, 0 has two, all others have five.
    let count = constants_agree(before, body, "#undef N\n#undef ADD\n#undef M\n#undef N2\n");
    assert_eq!(count, 4 + 5 + 5 + 5 + 5 + 3 + 5 + 4 + 3 + 2 + 5 + 3);
}

#[test]
fn constants_of_other_types() {
    let body = "float f = 1.5f * c + 0.25f; r += (int)(f * 4.0f); uint u = 7u + d; n += u / 3u > 2; char x = 'a'; r += x - '0';\n \
                n += b ? 6 : 9; r += (short)70000; long q = 5L; n += (int)(q >> 1); r += max(a, 2); r ^= 0x10;\n \
                r += (b + 2147483647) >> 3; n += (d + 0xFFFFFFFFu) / 3u > 2u; float h = 0x1.8p1f; n += (int)(h * a * 8);";
    assert!(constants_agree("", body, "") > 80);
}

#[test]
fn constants_of_indices_and_enumerators() {
    let body = "int p[6] = {4, 5, a, 7, 8, 9}; p[1] += 10; r += p[2 + a] + p[1]; enum { E = 4, F }; n += E * a - F;\n \
                if (n > 3 && a != 1) r ^= F; r += p[E - b];";
    let left = Kernel::new(&truth_table(body)).find(&["LVR"], Preset::Full);
    let names = left.mutants.iter().filter(|m| m.original == "E" || m.original == "F");
    // E by 0, 1, -1, 5, 3; F by 0, 1, -1, 6, 4.
    assert_eq!(names.count(), 4 * 5);
    assert!(constants_agree("", body, "") > 50);
}
