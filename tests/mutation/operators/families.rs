//! Compares mutants of small kernels with counts by hand.

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::instrument::mutants::{Edit, Expr, Place, Slot, Unary};
use kassay_judge::mutation::catalogue::enumerate::leave_out_malformed;
use kassay_judge::mutation::catalogue::operators::{OPERATORS, OperatorOutput, Preset};
use kassay_judge::mutation::enumerate;
use kassay_judge::mutation::{Mutant, OperatorLevel, Selection};

use super::support::{self, Known};

const HEAD: &str = "#define SQ(x) ((x) * (x))\n\
__kernel void k(__global int *o, __global float *f, int a, int b, uint u) {\n";

fn mutants(body: &str, operator: &str, known: Known, preset: Preset) -> Vec<Mutant> {
    support::kernel(&format!("{HEAD}{body}\n}}\n"), known, preset, |subject| {
        let mut found = OperatorOutput::default();
        let operator = OPERATORS.iter().find(|o| o.id == operator).expect("an operator");
        (operator.enumerate)(subject, &mut found);
        found.mutants
    })
}

/// Formats mutants as `line:column original>replacement`, sorted; lines count from the kernel's body.
fn shown(body: &str, operator: &str, known: Known, preset: Preset) -> String {
    let mut all: Vec<String> = mutants(body, operator, known, preset)
        .iter()
        .map(|m| {
            let place = m.range.as_ref().map_or("?".into(), |r| format!("{}:{}", r.start.line - 2, r.start.column));
            format!("{place} {}>{}", m.original, m.replacement)
        })
        .collect();
    all.sort();
    all.join(", ")
}

fn both(body: &str, operator: &str, preset: Preset, expected: &str) {
    assert_eq!(shown(body, operator, Known::Syntax, preset), expected, "{operator}, with the syntax tree");
    assert_eq!(shown(body, operator, Known::Tokens, preset), expected, "{operator}, by tokens");
}

#[test]
fn relational_operators() {
    let body = "if (a < b) o[0] = f[0] != f[1];";
    both(body, "CBR", Preset::Full, "1:7 <><=");
    both(body, "NCR", Preset::Liu, "1:24 !=>==, 1:7 <>>=");
    both(body, "ROR", Preset::Peng, "1:24 !=>==, 1:7 <><=, 1:7 <>>, 1:7 <>>=");
    assert_eq!(mutants(body, "ROR", Known::Opcodes, Preset::Full).len(), 10);
    assert_eq!(mutants(body, "ROR", Known::Syntax, Preset::Full).len(), 10);
}

#[test]
fn arithmetic_operators() {
    both(
        "o[0] = a + b % 3;",
        "AOR",
        Preset::Peng,
        "1:10 +>*, 1:10 +>-, 1:10 +>/, 1:14 %>*, 1:14 %>+, 1:14 %>-, 1:14 %>/",
    );
    both("f[0] = f[1] + f[2];", "AOR", Preset::Full, "1:13 +>*, 1:13 +>-, 1:13 +>/");
    both("f[0] = f[1] * f[2]; o[1] = a << b;", "MR", Preset::Liu, "1:13 *>/, 1:30 <<>>>");
    both("o = o + a;", "MR", Preset::Liu, "1:7 +>-");
    // Debug information places the step at the `*`: only the syntax tree shows which operator it is.
    assert_eq!(shown("*(o - b) = 1;", "MR", Known::Syntax, Preset::Liu), "1:5 ->+");
}

#[test]
fn folded_operators_change_the_constant() {
    let body = "o[0] = a << (1 + 2); o[1] = -4 * 2; int c[8 / 2]; c[a] = b + 6 / 2; o[2] = c[0];";
    assert_eq!(
        shown(body, "AOR", Known::Syntax, Preset::Peng),
        "1:16 +>*, 1:16 +>-, 1:16 +>/, 1:32 *>+, 1:32 *>-, 1:32 *>/, 1:60 +>*, 1:60 +>-, 1:60 +>/, 1:64 />*, 1:64 />+, 1:64 />-"
    );
    let values: Vec<Expr> = mutants("o[0] = b + 6 / 2;", "AOR", Known::Syntax, Preset::Peng)
        .into_iter()
        .filter(|m| m.original == "/")
        .map(|m| match m.edit {
            Edit::Value { at, by } if at.len() == 1 => by,
            edit => panic!("{edit:?}"),
        })
        .collect();
    assert_eq!(values, [Expr::Integer(8), Expr::Integer(4), Expr::Integer(12)]);
}

#[test]
fn bitwise_operators() {
    both("o[0] = a & b; o[1] = u >> 3;", "BOR", Preset::Peng, "1:10 &>|, 1:24 >>><<");
    assert_eq!(mutants("o[0] = a & b; o[1] = u >> 3;", "BOR", Known::Syntax, Preset::Full).len(), 10);
    assert_eq!(mutants("o[0] = a & b; o[1] = u >> b;", "BOR", Known::Opcodes, Preset::Full).len(), 10);
}

#[test]
fn assignments_and_increments() {
    let body = "uchar c = 1; c += a; f[0] *= 2; o[0] <<= b; o[1] %= 3; o[2] = c; o += 2;";
    both(
        body,
        "ASR",
        Preset::Peng,
        "1:16 +=>*=, 1:16 +=>-=, 1:16 +=>/=, 1:27 *=>+=, 1:27 *=>-=, 1:27 *=>/=, 1:38 <<=>>>=, \
         1:50 %=>*=, 1:50 %=>+=, 1:50 %=>-=, 1:50 %=>/=, 1:68 +=>-=",
    );
    both(
        "int i = a; i++; --o; ++f[0]; o[0] = i--;",
        "ARS",
        Preset::Full,
        "1:13 ++>--, 1:17 -->++, 1:22 ++>--, 1:38 -->++",
    );
    let plain = mutants("o[0] = a;", "ASR", Known::Syntax, Preset::Full);
    assert_eq!(plain.len(), 10);
    assert!(mutants("o[0] += a;", "ASR", Known::Opcodes, Preset::Full).is_empty());
}

#[test]
fn unary_operators() {
    both("o[0] = ~a; o[1] = -b; f[0] = -f[1];", "AOD", Preset::Peng, "1:19 ->, 1:30 ->, 1:8 ~>");
    both("o[0] = !a; f[0] = !f[1];", "COD", Preset::Peng, "1:19 !>, 1:8 !>");
    let body = "if (!a) o[0] = 1; if (!(a < b) && !u) o[1] = 2; while (!(a == b || u)) a--; if (!(a && b)) o[2] = 1;";
    assert_eq!(shown(body, "COD", Known::Syntax, Preset::Peng), "1:23 !>, 1:35 !>, 1:5 !>, 1:56 !>, 1:81 !>");
    assert_eq!(
        shown("o[0] = a + b * 2;", "AIU", Known::Syntax, Preset::Liu),
        "1:12 b * 2>-(b * 2), 1:12 b>-(b), 1:8 a + b * 2>-(a + b * 2), 1:8 a>-(a)"
    );
}

#[test]
fn macros_are_one_site_for_each_place() {
    let body = "o[0] = SQ(a + b); o[1] = SQ(a) * u;";
    let all = "1:13 +>*, 1:13 +>-, 1:13 +>/, 1:26 *>+, 1:26 *>-, 1:26 *>/, 1:32 *>+, 1:32 *>-, 1:32 *>/, \
               1:8 *>+, 1:8 *>-, 1:8 *>/";
    let own = |known| {
        let kept = mutants(body, "AOR", known, Preset::Full).into_iter().filter(|m| m.replacement != "%");
        let mut all: Vec<String> = kept
            .map(|m| {
                let range = m.range.unwrap();
                format!("{}:{} {}>{}", range.start.line - 2, range.start.column, m.original, m.replacement)
            })
            .collect();
        all.sort();
        all.join(", ")
    };
    assert_eq!(own(Known::Syntax), all);
    assert_eq!(own(Known::Tokens), all);
    both(body, "AOR", Preset::Peng, "1:32 *>+, 1:32 *>-, 1:32 *>/");
    let argument = mutants(body, "AOR", Known::Syntax, Preset::Full).into_iter().find(|m| m.original == "+").unwrap();
    assert!(matches!(&argument.edit, Edit::Value { at, .. } if at.len() == 2), "{:?}", argument.edit);
    let in_body = mutants(body, "AOR", Known::Syntax, Preset::Full);
    let spelt = in_body.iter().filter_map(|m| m.spelling.as_ref()).map(|s| (s.start.line, s.start.column));
    assert!(spelt.clone().count() == 8 && spelt.into_iter().all(|s| s == (1, 20)));
}

#[test]
fn one_macro_may_compute_with_numbers_of_several_types() {
    // Everything in its body has the place of its name: the assignment of the float is not that of the integer.
    let head = "#define STEP int d = a - b; f[a] = d; if (f[a] < f[b] && d < b) f[b] = -f[a] + (-d)\n";
    let source = |cut: &str| format!("{head}kernel void k(global int *o, global float *f, int a, int b) {{ {cut} }}\n");
    support::kernel(&source("STEP;"), Known::Syntax, Preset::Full, |subject| {
        let all = enumerate(subject, &Selection::all(OperatorLevel::Source));
        let malformed: Vec<&String> =
            all.excluded.iter().map(|e| &e.reason).filter(|r| r.contains("malformed")).collect();
        assert!(malformed.is_empty(), "{malformed:?}");
        let stores = all.mutants.iter().filter(|m| m.operator == "UOI" || m.original == "=").count();
        assert!(stores > 0);
    });
}

#[test]
fn the_null_pointer_is_no_number() {
    let body = "const short *p = 0; o[0] = p == 0 ? 7 : *p;";
    support::kernel(&format!("{HEAD}{body}\n}}\n"), Known::Syntax, Preset::Full, |subject| {
        let all = enumerate(subject, &Selection::all(OperatorLevel::Source));
        assert!(all.excluded.iter().all(|e| !e.reason.contains("malformed")), "{:?}", all.excluded);
    });
}

#[test]
fn mutants_that_cannot_be_woven_are_left_out_with_the_reason() {
    support::kernel(&format!("{HEAD}f[0] = a;\n}}\n"), Known::Syntax, Preset::Full, |subject| {
        let mut all = enumerate(subject, &Selection::all(OperatorLevel::Source));
        let (before, left) = (all.mutants.len(), all.excluded.len());
        assert!(before > 1);
        // The negation of an integer, where a pointer is stored.
        let place = Place { function: FunctionIndex::KERNEL, block: BlockIndex(0), instruction: 0 };
        let by = Expr::Unary(Unary::Neg, Box::new(Expr::Original));
        let is_left_out = (0..64).any(|instruction| {
            let at = vec![Slot::Operand(Place { instruction, ..place }, 0)];
            let mut bad = all.mutants[0].clone();
            bad.edit = Edit::Value { at, by: by.clone() };
            all.mutants.insert(0, bad);
            leave_out_malformed(&mut all, subject.module, subject.sites);
            let is_left_out = all.mutants.len() == before;
            if !is_left_out {
                all.mutants.remove(0);
            }
            is_left_out
        });
        assert!(is_left_out);
        assert_eq!((all.mutants.len(), all.excluded.len()), (before, left + 1));
        assert!(all.excluded[left].reason.contains("an edit is malformed"), "{}", all.excluded[left].reason);
        assert_eq!(all.duplicate_of.positions().count(), before);
        let told = all.malformed.as_deref().unwrap_or_default();
        assert!(told.starts_with("1 mutant is left out, because kassay cannot weave it: "), "{told}");
        assert!(told.contains("an edit is malformed"), "{told}");
    });
}
