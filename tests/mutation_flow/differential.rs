//! The same change made in the source and in the IR: both kernels must compute the same, on every row of the truth table.

use kassay::mutation::Mutant;

use crate::support::*;

/// Every mutant of `operators` against the source with its replacement. Returns how many there were.
fn agree(source: &str, operators: &[&str], items: u64, words: usize, keep: &dyn Fn(&Mutant) -> bool) -> usize {
    let _one = alone_here();
    let kernel = Kernel::new(source);
    let (plain, mutants) = kernel.code(operators, keep);
    assert!(!mutants.is_empty());
    let sources: Vec<_> = mutants.iter().map(|(m, _)| Kernel::new(&kernel.mutated(m)).code(&[], &|_| true).0).collect();
    let mut executor = executor();
    let original = outputs(&mut executor, &plain, items, words).unwrap();
    let mut differing = 0;
    for ((mutant, code), by_source) in mutants.iter().zip(&sources) {
        let what = format!("{:?} {} -> {}", mutant.range, mutant.original, mutant.replacement);
        let ours = outputs(&mut executor, code, items, words).unwrap_or_else(|e| panic!("{what}: {e}"));
        let theirs = outputs(&mut executor, by_source, items, words).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(ours, theirs, "{what}: {:?}", mutant.edit);
        differing += usize::from(ours != original);
    }
    assert!(differing > 0, "no mutant makes a difference");
    mutants.len()
}

/// `a`, `b`, `c`, `d` are the bits of the work-item's number.
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
    logic_agrees("if (a && 1) r = 1; if (b || 0) n = 1; if (c && 0) n = 5; n += d && 1;");
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
    let terminates = |m: &Mutant| m.replacement == "false" || m.range.as_ref().is_some_and(|r| r.start.line < 5);
    let body = "if (a) r = 1; if (!b) n = 2; if ((a && b) || !(c && d)) r += 4; r += c ? 10 : 20; n += (a || d ? o[g] + 1 : 7);\n \
                while (n-- > 3 && a) r++;\n for (int i = 0; i < 3; i++) r += i;\n do { r += 2; } while (r < 9);";
    assert_eq!(agree(&truth_table(body), &["CSD"], 16, 16, &terminates), 13);
}

#[test]
fn statements_loops_and_constants() {
    let body = "int p[4] = {0}; r = a + 5; n += 2; if (b) { n++; p[a + 1] = 7; }\n \
                for (int i = 0; i < 3 + a; i++) { r += p[i & 3] - 1; }\n while (n > c && n < 9) n--;\n r += p[2] * 3;";
    let source = truth_table(body);
    let ends = |m: &Mutant| !matches!(m.original.as_str(), "n--");
    agree(&source, &["SDL", "LBR"], 16, 16, &ends);
}
