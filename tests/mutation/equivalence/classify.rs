//! Checks verdicts on edits of the canonical form.

use std::collections::BTreeMap;
use std::time::Instant;

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::{
    Action, Binary, EdgeChange, Edit, Expr, LaunchChange, LocalVariable, Place, Predicate, Slot,
};
use kassay_ir::llvm::{Context, View};
use kassay_judge::mutation::equivalence::{Verdict, classify};
use kassay_model::options::KernelOptions;
use llvm_sys::LLVMOpcode;

use super::support::{canonical_file, canonical_form, parse};
use crate::common::kernels::options_of;
use crate::common::testdata::{self, files, has_extension};

/// Returns the places of all instructions with that opcode, with their callees.
pub fn places(bitcode: &[u8], sites: &Sites, opcode: LLVMOpcode) -> Vec<(Place, Option<String>)> {
    let context = Context::create();
    let module = parse(&context, bitcode);
    let mut found = Vec::new();
    for (function, f) in FunctionIndex::enumerate(&sites.functions) {
        let f = View::of(&module).function(&f.cfg.function).unwrap();
        for (block, b) in BlockIndex::enumerate(f.blocks()) {
            for (instruction, i) in b.instructions().into_iter().enumerate().filter(|(_, i)| i.opcode() == opcode) {
                found.push((Place { function, block, instruction }, i.callee()));
            }
        }
    }
    found
}

pub fn compare(place: Place, predicate: Predicate) -> Edit {
    let operands = [Expr::Operand(0), Expr::Operand(1)].map(Box::new);
    let [left, right] = operands;
    Edit::Value { at: vec![Slot::Result(place)], by: Expr::Compare(predicate, left, right) }
}

pub fn binary(place: Place, operation: Binary) -> Edit {
    let operands = [Expr::Operand(0), Expr::Operand(1)].map(Box::new);
    let [left, right] = operands;
    Edit::Value { at: vec![Slot::Result(place)], by: Expr::Binary(operation, left, right) }
}

pub fn verdicts(source: &str, edits: impl FnOnce(&[u8], &Sites) -> Vec<Edit>) -> Vec<Verdict> {
    let (bitcode, sites) = canonical_form(source);
    let edits = edits(&bitcode, &sites);
    let mutants: Vec<&Edit> = edits.iter().collect();
    let found = classify(&bitcode, &sites, "k", &mutants, 2, None).unwrap();
    assert_eq!(found, classify(&bitcode, &sites, "k", &mutants, 1, None).unwrap(), "threads make no difference");
    found
}

fn is_equivalent(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Equivalent { .. })
}

#[test]
fn equivalents_and_duplicates_are_distinguished() {
    let source = "__kernel void k(__global int *a, uint n) { int i = get_global_id(0); uint s = n * 2;
        a[i] = s; }";
    let found = verdicts(source, |bitcode, sites| {
        let (multiplication, _) = places(bitcode, sites, LLVMOpcode::LLVMMul)[0].clone();
        let double = Expr::Binary(Binary::Add, Expr::Operand(0).into(), Expr::Operand(0).into());
        vec![
            binary(multiplication, Binary::Add),
            binary(multiplication, Binary::Sub),
            Edit::Value { at: vec![Slot::Result(multiplication)], by: double },
            binary(multiplication, Binary::Add),
            Edit::Launch(LaunchChange::Swap),
            Edit::Launch(LaunchChange::Swap),
            Edit::Value { at: vec![Slot::Operand(multiplication, 1)], by: Expr::Integer(0) },
            binary(multiplication, Binary::UDiv),
        ]
    });
    assert_eq!(found[0], Verdict::Distinct);
    assert_eq!(found[1], Verdict::Distinct);
    assert!(is_equivalent(&found[2]));
    assert_eq!(found[3], Verdict::DuplicateOf(0));
    assert_eq!(found[4..], [Verdict::Distinct, Verdict::Distinct, Verdict::Distinct, Verdict::Distinct]);
}

#[test]
fn deleted_actions_are_distinct_unless_dead() {
    let source = "__kernel void k(__global int *a, __local int *l) { int i = get_local_id(0); int dead = 7;
        l[i] = i; barrier(CLK_LOCAL_MEM_FENCE); a[i] = l[0]; }";
    let (bitcode, sites) = canonical_form(source);
    let mut edits: Vec<(String, Edit)> = Vec::new();
    let nothing = |place| Edit::Instead { at: vec![place], by: Action::Nothing };
    for (i, (place, _)) in places(&bitcode, &sites, LLVMOpcode::LLVMStore).into_iter().enumerate() {
        edits.push((format!("store {i}"), nothing(place)));
    }
    for (place, callee) in places(&bitcode, &sites, LLVMOpcode::LLVMCall) {
        if callee.is_some_and(|name| name.contains("barrier")) {
            edits.push(("barrier".to_owned(), nothing(place)));
        }
    }
    edits.push(("local".to_owned(), Edit::Privatise { variable: LocalVariable::Argument(1) }));
    let mutants: Vec<&Edit> = edits.iter().map(|(_, edit)| edit).collect();
    let found = classify(&bitcode, &sites, "k", &mutants, 2, None).unwrap();
    let equivalent: Vec<&str> =
        edits.iter().zip(&found).filter(|(_, v)| is_equivalent(v)).map(|((name, _), _)| name.as_str()).collect();
    // The stores are those of both arguments, `i`, `dead`, `l[i]` and `a[i]`.
    assert_eq!(equivalent, ["store 3"]);
    assert!(!found.iter().any(|v| matches!(v, Verdict::DuplicateOf(_))), "{found:?}");
}

#[test]
fn a_loop_that_never_ends_is_no_equivalent() {
    let source = "__kernel void k(__global int *a, int n) { int s = 0; for (int j = 0; j < n; j++) s += j; a[0] = n; }";
    let found = verdicts(source, |bitcode, sites| {
        let (comparison, _) = places(bitcode, sites, LLVMOpcode::LLVMICmp)[0].clone();
        let loops = &sites.functions[0].loops[0];
        let header = EdgeChange {
            function: FunctionIndex::KERNEL,
            block: loops.header,
            successor: 1,
            to: loops.header,
            phi: None,
        };
        vec![
            Edit::Value { at: vec![Slot::Result(comparison)], by: Expr::Integer(1) },
            Edit::Value { at: vec![Slot::Result(comparison)], by: Expr::Integer(0) },
            compare(comparison, Predicate::Ne),
            Edit::Redirect { edges: vec![header] },
        ]
    });
    assert!(!found.iter().any(is_equivalent), "{found:?}");
}

/// Returns all edits of comparisons and arithmetic that a few operators would make, and deletions of all stores
/// and calls.
fn many(bitcode: &[u8], sites: &Sites) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (place, _) in places(bitcode, sites, LLVMOpcode::LLVMICmp) {
        for predicate in [Predicate::Slt, Predicate::Sle, Predicate::Eq, Predicate::Ne, Predicate::Uge] {
            edits.push(compare(place, predicate));
        }
    }
    for opcode in [LLVMOpcode::LLVMAdd, LLVMOpcode::LLVMMul, LLVMOpcode::LLVMSub, LLVMOpcode::LLVMAnd] {
        for (place, _) in places(bitcode, sites, opcode) {
            for operation in [Binary::Add, Binary::Sub, Binary::Mul, Binary::SDiv, Binary::And] {
                edits.push(binary(place, operation));
            }
        }
    }
    for (place, _) in places(bitcode, sites, LLVMOpcode::LLVMStore) {
        edits.push(Edit::Instead { at: vec![place], by: Action::Nothing });
    }
    edits
}

const MUTANTS_PER_KERNEL: usize = 20;

/// Each kernel's original has a normal form, and replacing an operation by itself is equivalent. Prints how long the
/// search takes.
#[test]
fn every_kernel_of_testdata_has_a_normal_form() {
    let mut times: BTreeMap<String, String> = BTreeMap::new();
    let mut open = Vec::new();
    let is_source = |file: &std::path::PathBuf| has_extension(file, "cl") || has_extension(file, "clcpp");
    for file in files().into_iter().filter(is_source) {
        let folder = file.parent().unwrap();
        let suite = folder.join("suite.toml");
        if !suite.exists() {
            continue;
        }
        let suite = kassay_suite::resolve::Suite::load(&suite).unwrap();
        if suite.kernel.file_name() != file.file_name() {
            continue;
        }
        let stem = folder.file_name().unwrap().to_string_lossy().into_owned();
        let entry = suite.entry.clone().unwrap_or_else(|| stem.clone());
        let (bitcode, sites) = canonical_file(&suite.kernel, &entry, &options_of(&suite));
        let all = many(&bitcode, &sites);
        let step = all.len().div_ceil(MUTANTS_PER_KERNEL);
        let mut edits: Vec<Edit> = all.into_iter().step_by(step.max(1)).collect();
        let itself = places(&bitcode, &sites, LLVMOpcode::LLVMAdd).first().map(|(p, _)| binary(*p, Binary::Add));
        let has_itself = itself.is_some();
        edits.extend(itself);
        let mutants: Vec<&Edit> = edits.iter().collect();
        let start = Instant::now();
        let found = classify(&bitcode, &sites, &entry, &mutants, 2, None).unwrap();
        let each = start.elapsed().as_secs_f64() * 1e3 / mutants.len() as f64;
        let equivalent = found.iter().filter(|v| is_equivalent(v)).count();
        let duplicates = found.iter().filter(|v| matches!(v, Verdict::DuplicateOf(_))).count();
        times.insert(
            stem.clone(),
            format!("{} mutants, {equivalent} equivalent, {duplicates} duplicates, {each:.2} ms each", mutants.len()),
        );
        if has_itself && !found.last().is_some_and(is_equivalent) {
            open.push(stem.clone());
        }
    }
    for (kernel, line) in &times {
        println!("{kernel}: {line}");
    }
    assert_eq!(open, [""; 0], "an operation replaced by itself is an equivalent");
}

/// In a kernel that is large with all it calls, claims within the changed function hold for the whole kernel, and
/// nothing is claimed that only its callers reveal.
#[test]
fn claims_within_a_function_of_a_large_kernel_hold_for_the_whole() {
    let source = |calls: usize| {
        let calls = "    s += step(5, a + s);\n".repeat(calls);
        format!(
            "int step(int x, __global int *a) {{ int y = x * 2; if (y > 3) a[0] = y; return y + x; }}
            __kernel void k(__global int *a) {{ int s = get_global_id(0);\n{calls}    a[s] = s; }}"
        )
    };
    let edits = |bitcode: &[u8], sites: &Sites| {
        let of = |opcode| -> Place {
            let all = places(bitcode, sites, opcode);
            let mut inside = all.into_iter().filter(|(p, _)| sites.functions[p.function].cfg.function == "step");
            inside.next().unwrap().0
        };
        let (product, sum) = (of(LLVMOpcode::LLVMMul), of(LLVMOpcode::LLVMAdd));
        let double = Expr::Binary(Binary::Add, Expr::Operand(0).into(), Expr::Operand(0).into());
        let swapped = Expr::Binary(Binary::Add, Expr::Operand(1).into(), Expr::Operand(0).into());
        vec![
            Edit::Value { at: vec![Slot::Result(product)], by: double },
            Edit::Value { at: vec![Slot::Result(sum)], by: swapped },
            Edit::Value { at: vec![Slot::Result(product)], by: Expr::Integer(10) },
            binary(product, Binary::Shl),
            Edit::Value { at: vec![Slot::Operand(product, 1)], by: Expr::Integer(4) },
            binary(sum, Binary::Sub),
            compare(of(LLVMOpcode::LLVMICmp), Predicate::Sge),
        ]
    };
    let (small, large) = (verdicts(&source(2), edits), verdicts(&source(1500), edits));
    assert!(is_equivalent(&small[2]) && large[2] == Verdict::Distinct, "only the callers know that x is 5");
    let claimed = |verdicts: &[Verdict]| verdicts.iter().filter(|v| **v != Verdict::Distinct).count();
    // Twice a number is never 3: `y >= 3` is `y > 3`.
    assert_eq!(claimed(&large), 4, "{large:?}");
    for (small, large) in small.iter().zip(&large).filter(|(_, large)| **large != Verdict::Distinct) {
        assert_eq!(is_equivalent(small), is_equivalent(large), "{small:?} {large:?}");
    }
    assert_eq!(large[4], Verdict::DuplicateOf(3), "x << 2 is x * 4");
}

/// The original is brought into its normal form in the same way as mutants; otherwise some equivalent mutants would
/// have another form: a state that is never negative is 0 where it is at most 0.
#[test]
fn the_original_is_normalised_as_mutants_are() {
    let file = testdata::kernel("switch_machine");
    let (bitcode, sites) = canonical_file(&file, "switch_machine", &KernelOptions::default());
    let compares = places(&bitcode, &sites, LLVMOpcode::LLVMICmp);
    let edits: Vec<Edit> = compares.iter().map(|(place, _)| compare(*place, Predicate::Sle)).collect();
    let mutants: Vec<&Edit> = edits.iter().collect();
    let found = classify(&bitcode, &sites, "switch_machine", &mutants, 2, None).unwrap();
    let same =
        |v: &&Verdict| matches!(v, Verdict::Equivalent { reason } if reason.starts_with("the same optimised IR"));
    assert!(found.iter().filter(same).count() >= 2, "{found:?}");
}
