//! Compares what the operators of the IR find in small kernels with lists by hand.

use kassay::OperatorLevel;
use kassay_judge::mutation::catalogue::operators::{OPERATORS, OperatorOutput, Preset, Subject};

use crate::operators::support::{self, Known};

/// Returns what an operator finds in a kernel of this body, as clang compiles it, and what it leaves out: both as text.
pub(super) fn found(body: &str, operator: &str) -> (Vec<String>, Vec<String>) {
    let source = format!("__kernel void k(__global int *o, __global float *f, int a, int b, uint u) {{\n{body}\n}}\n");
    support::kernel(&source, Known::Tokens, Preset::Full, |subject| {
        let mut found = OperatorOutput::default();
        let operator = OPERATORS.iter().find(|o| o.id == operator).expect("an operator");
        (operator.enumerate)(&Subject { level: OperatorLevel::Ir, ..subject.clone() }, &mut found);
        let mut mutants: Vec<String> =
            found.mutants.iter().map(|m| format!("{} > {}", m.original, m.replacement)).collect();
        mutants.sort();
        (mutants, found.excluded.into_iter().map(|e| e.reason).collect())
    })
}

pub(super) fn mutants(body: &str, operator: &str) -> Vec<String> {
    found(body, operator).0
}

/// Checks that exactly one instruction is replaced, by each of these.
pub(super) fn replaces(body: &str, operator: &str, original: &str, replacements: &[&str]) {
    let mut expected: Vec<String> = replacements.iter().map(|by| format!("{original} > {by}")).collect();
    expected.sort();
    assert_eq!(mutants(body, operator), expected, "{operator}");
}

#[test]
fn opcodes_of_arithmetic() {
    replaces("o[0] = a + 3;", "IAO", "add nsw _, 3", &["sub", "mul", "udiv", "sdiv", "urem", "srem"]);
    replaces("o[0] = u / 3;", "IAO", "udiv _, 3", &["add", "sub", "mul", "sdiv", "urem", "srem"]);
    replaces("f[0] = f[1] * 2;", "IAO", "fmul _, 2.0", &["fadd", "fsub", "fdiv"]);
}

#[test]
fn opcodes_of_bits() {
    replaces("o[0] = u >> 2;", "IBO", "lshr _, 2", &["and", "or", "xor", "shl", "ashr"]);
    replaces("o[0] = a & b;", "IBO", "and _, _", &["or", "xor", "shl", "lshr", "ashr"]);
    // Booleans have no shifts.
    replaces("o[0] = !a;", "IBO", "xor %tobool, true", &["and", "or"]);
}

#[test]
fn predicates() {
    let others = ["eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "sle"];
    replaces("o[0] = a < b;", "ICP", "icmp slt _, _", &others);
    let others = ["oeq", "ogt", "oge", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"];
    replaces("o[0] = f[0] < 1;", "ICP", "fcmp olt _, 1.0", &others);
}

#[test]
fn branches_and_selects() {
    replaces("if (a) o[0] = 1;", "IBR", "br %tobool", &["br not %tobool", "br true", "br false"]);
    let chosen = ["select %cmp, 2, 1", "select true, 1, 2", "select false, 1, 2"];
    replaces("o[0] = a > 3 ? 1 : 2;", "ISL", "select %cmp, 1, 2", &chosen);
}

#[test]
fn constants() {
    replaces("o[0] = a + 3;", "ICN", "add nsw _, 3", &["add _, 0", "add _, 1", "add _, -1", "add _, 4", "add _, 2"]);
    let of_floats = ["fadd _, 0.0", "fadd _, 1.0", "fadd _, -1.0", "fadd _, 1.5", "fadd _, -0.5"];
    replaces("f[0] = f[1] + 0.5f;", "ICN", "fadd _, 0.5", &of_floats);
    // What a barrier or an id takes belongs to other operators.
    assert!(mutants("barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = a;", "ICN").is_empty());
    let truth = mutants("o[0] = a && b;", "ICN");
    assert!(truth.contains(&"phi false, %tobool1 > phi true, %tobool1".to_owned()), "{truth:?}");
    assert_eq!(truth.len(), 1 + 2 * 2, "{truth:?}");
}

#[test]
fn negations() {
    let of = |body: &str, opcode: &str| {
        let mut all = mutants(body, "INE");
        all.retain(|m| m.starts_with(opcode));
        all
    };
    assert_eq!(of("o[0] = a + 3;", "add"), ["add nsw _, 3 > add -_, 3"]);
    assert_eq!(of("o[0] = a & b;", "and"), ["and _, _ > and _, ~_", "and _, _ > and ~_, _"]);
    assert_eq!(of("o[0] = a;", "store _"), ["store _, %arrayidx > store -_, %arrayidx"]);
    assert_eq!(of("o[0] = -a;", "sub"), ["sub nsw 0, _ > _"]);
    assert_eq!(of("o[0] = ~a;", "xor"), ["xor _, -1 > _"]);
    assert_eq!(of("f[0] = -f[1];", "fneg"), ["fneg _ > _"]);
    assert_eq!(of("o[0] = !a;", "xor"), ["xor %tobool, true > %tobool"]);
}

#[test]
fn deletions() {
    let (stores, left) = found("o[0] = 7;", "IST");
    let expected = ["store %a, %a.addr > ", "store %b, %b.addr > ", "store %u, %u.addr > ", "store 7, %arrayidx > "];
    let mut stores = stores;
    stores.sort_by_key(|text| text.starts_with("store 7"));
    assert_eq!(stores, expected);
    assert_eq!(left.len(), 2, "two pointers: {left:?}");
    replaces("o[0] = max(a, b);", "ICA", "max(_, _)", &["0"]);
    replaces("prefetch(o, 1);", "ICA", "prefetch(_, 1)", &[""]);
    let (calls, left) = found("barrier(CLK_LOCAL_MEM_FENCE);", "ICA");
    assert!(calls.is_empty() && left.len() == 1, "{calls:?} {left:?}");
}

#[test]
fn ids_and_addresses() {
    let ids = ["get_local_id(0)", "get_group_id(0)", "get_global_id(0) + 1", "get_global_id(0) - 1"];
    replaces("o[get_global_id(0)] = 1;", "IID", "get_global_id(0)", &ids);
    let moved = ["getelementptr _, %idxprom + 1", "getelementptr _, %idxprom - 1"];
    replaces("o[a] = 1;", "IGP", "getelementptr inbounds _, %idxprom", &moved);
    replaces("o[2] = 1;", "IGP", "getelementptr inbounds _, 2", &["getelementptr _, 3", "getelementptr _, 1"]);
}

#[test]
fn signs_and_exchanges() {
    replaces("o[a] = 1;", "ICX", "sext _", &["zext"]);
    replaces("f[0] = u;", "ICX", "uitofp _", &["sitofp"]);
    replaces("o[0] = a - 5;", "ISO", "sub nsw _, 5", &["sub 5, _"]);
    replaces("o[0] = a ? (o[1] = 4, 3) : 5;", "IPH", "phi 3, 5", &["phi 5, 3"]);
    // One of the values is computed on one way only.
    let (phis, left) = found("o[0] = a ? b / a : 5;", "IPH");
    assert!(phis.is_empty() && left.len() == 1 && left[0].contains("not known"), "{phis:?} {left:?}");
    let lanes = mutants("int2 v = (int2)(a, b); vstore2(v.yx, 0, o);", "IVL");
    assert_eq!(lanes.len(), 1, "{lanes:?}");
}

#[test]
fn synchronisation() {
    assert_eq!(mutants("barrier(CLK_LOCAL_MEM_FENCE);", "SYR"), ["barrier(1) > "]);
    assert_eq!(mutants("atomic_add(o, a);", "AOP"), ["atomic_add(_, _) > atomic_sub(_, _)"]);
    // The source has one call, the IR two.
    assert_eq!(mutants("#define TWICE(x) x; x\nTWICE(barrier(CLK_LOCAL_MEM_FENCE));", "SYR").len(), 2);
}
