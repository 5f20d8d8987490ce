//! Checks constructs and statements of kernels, read from the syntax tree of the real clang.

use std::fs;

use kassay_ir::kernel::ast::Ast;
use kassay_ir::kernel::compile::load;
use kassay_ir::kernel::constructs::{self, Context, Counts, FunctionConstructs, Kind, LoopForm};
use kassay_ir::kernel::statements::{self, Arm, StatementKind, Statements};
use kassay_model::options::KernelOptions;

use crate::common::kernels::source_file;

fn ast(text: &str) -> Ast {
    let (_folder, path) = source_file(text);
    load(&path, &KernelOptions::default(), true).unwrap().ast.unwrap()
}

fn constructs(text: &str, function: &str) -> FunctionConstructs {
    let ast = ast(text);
    constructs::of(&ast, ast.function(function).unwrap())
}

fn in_kernel(body: &str) -> FunctionConstructs {
    constructs(&format!("__kernel void k(__global int *o, int a, int b, int c) {{\n{body}\n}}"), "k")
}

fn statements_of(body: &str) -> Statements {
    let ast = ast(&format!("__kernel void k(__global int *o, int a, int b) {{\n{body}\n}}"));
    statements::of(&ast, ast.function("k").unwrap())
}

/// Returns the expansion line and column of each construct that is not folded.
fn places(found: &FunctionConstructs) -> Vec<(u32, u32)> {
    let alive = found.constructs.iter().filter(|construct| !construct.is_folded);
    alive.map(|construct| &construct.range.begin.expansion).map(|loc| (loc.line, loc.column)).collect()
}

#[test]
fn constructs_are_counted_where_they_stand() {
    let found = in_kernel(
        "if (a > 0) { o[0] = 1; } else if (b) o[1] = a > b ? 1 : 2;
switch (a) { case 1: case 2 ... 4: o[2] = 1; break; default: switch (b) { case 9: o[3] = 1; } }
for (int i = 0; i < a; i++) { barrier(CLK_LOCAL_MEM_FENCE); }
for (;;) { if (a++ > 9) break; }
while (b--) ;
do { c--; } while (c > 0);
do { o[4] = 1; } while (0);",
    );
    let wanted = Counts { ifs: 3, switches: 2, cases: 3, ternaries: 1, loops: 4, barriers: 1, ..Counts::default() };
    assert_eq!(found.counts(), wanted);
    let begin = [(2, 1), (2, 31), (2, 45), (3, 1), (3, 62), (4, 1), (4, 31), (5, 1), (5, 12), (6, 1), (7, 1), (8, 1)];
    assert_eq!(places(&found), begin);
    let loops: Vec<_> = (found.constructs.iter())
        .filter_map(|construct| match construct.kind {
            Kind::Loop { form, is_loop, has_boundary } => Some((form, is_loop, has_boundary)),
            _ => None,
        })
        .collect();
    use LoopForm::{Do, For, While};
    let wanted = [(For, true, true), (For, true, false), (While, true, true), (Do, true, true), (Do, false, false)];
    assert_eq!(loops, wanted);
    let switches: Vec<_> = (found.constructs.iter())
        .filter_map(|construct| match &construct.kind {
            Kind::Switch { cases, has_default } => Some((cases.len(), *has_default)),
            _ => None,
        })
        .collect();
    assert_eq!(switches, [(2, true), (1, false)]);
}

#[test]
fn a_vector_choice_is_data() {
    let text = "__kernel void k(__global int4 *o, int4 v, int a) { o[0] = v > 3 ? v : o[1]; o[1] = v && o[2]; o[2] = a ? v : 0; }";
    let found = constructs(text, "k");
    assert_eq!(found.counts(), Counts { ternaries: 1, ..Counts::default() });
}

fn decisions(found: &FunctionConstructs) -> Vec<(usize, Context)> {
    let decision = |kind: &Kind| match kind {
        Kind::ShortCircuit { leaves, context } => Some((leaves.len(), *context)),
        _ => None,
    };
    found.constructs.iter().filter_map(|construct| decision(&construct.kind)).collect()
}

#[test]
fn short_circuit_decisions_are_maximal_trees_with_their_context() {
    let found = in_kernel(
        "if ((a && !(b || c)) && o[0]) o[1] = (a || b) + 1;
while (a-- && b) ;
for (int i = 0; !(i > 3 || c); i++) ;
do o[2]++; while (a || b);
o[3] = a && (b ? a && c : 0);
o[4] = (a || b) ? 1 : 2;
if ((a && b) == c) o[5] = 1;",
    );
    use Context::{Branch, Loop, Value};
    let wanted =
        [(4, Branch), (2, Value), (2, Loop), (2, Loop), (2, Loop), (2, Value), (2, Value), (2, Branch), (2, Value)];
    assert_eq!(decisions(&found), wanted);
    assert_eq!(found.counts().leaves, 20);
}

#[test]
fn what_clang_folds_is_marked() {
    let found = constructs(
        "#define ON 1
#define SIZE 16u
enum { ZERO, ONE, FOUR = 4, FIVE };
__constant int limit = 3;
__kernel void k(__global int *o, int a) {
  const int local_limit = limit + 1;
  if (0) { if (a) o[0] = 1; }
  if (ON && SIZE / 2 == 8) o[1] = 1;
  if (FIVE - FOUR != ONE || ZERO) o[2] = 1;
  if (sizeof(int) * 2 > sizeof(float4)) o[3] = 1;
  if (local_limit > 4) o[4] = 1;
  if (~0u < 5) o[5] = ON ? a : 2;
  if (a && ON) o[6] = 1;
  if (0 && a) o[7] = 1;
  return;
  if (a) o[8] = 1;
}",
        "k",
    );
    let alive: Vec<_> = found.constructs.iter().filter(|construct| !construct.is_folded).collect();
    assert_eq!(places(&found), [(13, 3), (13, 7)], "{alive:#?}");
    let Kind::ShortCircuit { leaves, .. } = &alive[1].kind else { panic!() };
    assert_eq!(leaves.iter().map(|leaf| leaf.is_folded).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_label_keeps_what_a_constant_rules_out() {
    let found = in_kernel("goto in;\nif (0) { in: if (a) o[0] = 1; }\nreturn;\nend: if (b) goto end;");
    assert_eq!(places(&found), [(3, 1), (3, 14), (5, 6)]);
}

#[test]
fn helpers_macros_and_included_files_are_located_at_their_expansion() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("part.h"), "\ninline int part(int a) { return a ? 1 : 2; }\n").unwrap();
    let path = folder.path().join("k.cl");
    let text = "#include \"part.h\"
#define GUARD(c, s) do { if (c) { s; } } while (0)
static inline int help(int a) { if (a) return 1; return 2; }
int plain(int a) { while (a) a--; return a; }
__kernel void k(__global int *o, int a) {
    GUARD(a && o[0], barrier(1));
    o[1] = part(a) + help(a) + plain(a);
}
";
    fs::write(&path, text).unwrap();
    let ast = load(&path, &KernelOptions::default(), true).unwrap().ast.unwrap();
    let all = constructs::all(&ast);
    let names: Vec<_> = all.iter().map(|found| (found.function.as_str(), found.is_kernel)).collect();
    assert_eq!(names, [("part", false), ("help", false), ("plain", false), ("k", true)]);
    assert_eq!(all[0].counts().ternaries, 1);
    assert!(all[0].constructs[0].range.begin.expansion.file.ends_with("part.h"));
    assert_eq!(places(&all[0]), [(2, 33)]);
    assert_eq!(places(&all[1]), [(3, 33)]);
    let k = &all[3];
    assert_eq!(k.counts(), Counts { ifs: 1, barriers: 1, short_circuits: 1, leaves: 2, ..Counts::default() });
    assert_eq!(places(k), [(6, 5); 4]);
    let barrier = k.constructs.iter().find(|construct| matches!(construct.kind, Kind::Barrier { .. })).unwrap();
    let begin = &barrier.range.begin;
    let spelling = begin.spelling.as_ref().unwrap();
    assert!(begin.is_macro_arg);
    assert_eq!((spelling.line, spelling.column, spelling.tok_len), (6, 22, 7));
}

#[test]
fn statements_count_as_liu_counts_them() {
    let found = statements_of(
        "int x = a; ;
o[0] = x;
if (a) { int y = 3; o[1] = y; o[2] = 1; } else o[3] = 1;
{ b++; }
for (int i = 0; i < a; i++) { if (b) continue; barrier(1); }
switch (a) { case 1: case 2: o[4] = 1; break; default: return; }
end: o[5] = 1;",
    );
    use StatementKind::{Break, Continue, Expression, For, If, Return, Switch};
    let kinds: Vec<_> = found.statements.iter().map(|statement| statement.kind).collect();
    let wanted = [
        Expression, If, Expression, Expression, Expression, Expression, For, If, Continue, Expression, Switch,
        Expression, Break, Return, Expression,
    ];
    assert_eq!(kinds, wanted);
    let begins: Vec<_> = found.statements.iter().map(|s| s.range.begin.expansion.line).collect();
    assert_eq!(begins, [3, 4, 4, 4, 4, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8]);
    let head = &found.statements[6].range;
    assert_eq!((head.begin.expansion.column, head.end.expansion.column), (1, 25));
    let regions: Vec<_> = found.regions.iter().filter(|region| !region.statements.is_empty()).collect();
    let runs: Vec<_> = regions.iter().map(|region| region.statements.clone()).collect();
    let wanted: [&[usize]; 10] = [&[0, 1], &[2, 3], &[4], &[5, 6], &[7], &[8], &[9], &[10], &[11, 12], &[13]];
    assert_eq!(runs[..10], wanted);
    assert_eq!(runs[10], [14]);
    assert_eq!((&regions[1].arm, regions[1].head, regions[1].parent), (&Arm::Then, Some(1), Some(0)));
    assert_eq!((&regions[2].arm, regions[2].head), (&Arm::Else, Some(1)));
    assert_eq!((&regions[3].arm, regions[3].after, regions[3].head), (&Arm::Function, Some(1), None));
    assert_eq!((&regions[4].arm, regions[4].head), (&Arm::LoopBody, Some(6)));
    assert_eq!((&regions[6].arm, regions[6].head, regions[6].after), (&Arm::LoopBody, Some(6), Some(7)));
    let Arm::Case(labels) = &regions[8].arm else { panic!("{:?}", regions[8]) };
    assert_eq!(labels.iter().map(|label| label.is_default).collect::<Vec<_>>(), [false, false]);
    let Arm::Case(labels) = &regions[9].arm else { panic!("{:?}", regions[9]) };
    assert!(labels[0].is_default);
    for (i, statement) in found.statements.iter().enumerate() {
        assert!(found.regions[statement.region].statements.contains(&i));
    }
}

#[test]
fn statements_that_clang_drops_are_marked() {
    let found = statements_of("if (0) o[0] = 1; else o[1] = 1;\nwhile (a) { break; o[2] = 1; }\nreturn;\no[3] = 1;");
    let dropped: Vec<_> = (found.statements.iter().filter(|statement| statement.is_folded))
        .map(|s| (s.range.begin.expansion.line, s.range.begin.expansion.column))
        .collect();
    assert_eq!(dropped, [(2, 8), (3, 20), (5, 1)]);
}

#[test]
fn deep_expressions_do_not_overflow_the_stack() {
    let deep = format!("o[0] = {}a{};", "(".repeat(200), ")".repeat(200));
    assert_eq!(in_kernel(&deep).counts(), Counts::default());
    let sum = |terms| format!("__kernel void k(__global int *o, int a) {{ o[0] = a{}; }}", " + a".repeat(terms));
    let ast = ast(&sum(950));
    assert_eq!(constructs::of(&ast, &ast.functions[0]).counts(), Counts::default());
    assert_eq!(statements::of(&ast, &ast.functions[0]).statements.len(), 1);
    let (_folder, path) = source_file(&sum(1500));
    let loaded = load(&path, &KernelOptions::default(), true).unwrap();
    assert_eq!(loaded.ast, None, "the kernel is loaded without its tree");
}

#[test]
fn thousands_of_declarations_are_skipped() {
    let text = "__kernel void k(__global int *o) {\n  if (o[0]) barrier(CLK_LOCAL_MEM_FENCE);\n}\n";
    let (_folder, path) = source_file(text);
    let arguments = ["-cl-no-stdinc", "-include", "opencl-c-base.h", "-include", "opencl-c.h"];
    let options = KernelOptions { clang_args: arguments.map(str::to_owned).to_vec(), ..KernelOptions::default() };
    let ast = load(&path, &options, true).unwrap().ast.unwrap();
    let k = constructs::of(&ast, ast.function("k").unwrap());
    assert_eq!(k.counts(), Counts { ifs: 1, barriers: 1, ..Counts::default() });
    assert_eq!(places(&k), [(2, 3), (2, 13)]);
    assert!(k.constructs[0].range.begin.expansion.file.ends_with("k.cl"));
}
