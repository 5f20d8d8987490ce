//! Checks that the records of the syntax tree from kassay's own run of clang equal those of clang's `-ast-dump=json`,
//! as far as some kernel reaches them.

mod json;

use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use kassay_ir::kernel::ast::{Ast, Node};
use kassay_ir::kernel::compile::{self, Loaded};
use kassay_model::options::KernelOptions;

use crate::common::testdata::files_below;

/// The features that `options` first switches off for CL 3.0.
const CL3: &str = "-cl-ext=-__opencl_c_generic_address_space,-__opencl_c_device_enqueue,-__opencl_c_pipes,\
                   -__opencl_c_program_scope_global_variables";

fn options(arguments: &[String]) -> KernelOptions {
    KernelOptions { suite_options: arguments.to_vec(), ..KernelOptions::default() }
}

/// Returns the tree from a run of the program clang; where the reduced CL 3.0 does not suffice, with all features.
fn dumped(source: &Path, arguments: &[String]) -> Ast {
    run(source, arguments, true).or_else(|_| run(source, arguments, false)).unwrap_or_else(|why| panic!("{why}"))
}

fn run(source: &Path, arguments: &[String], reduced: bool) -> Result<Ast, String> {
    let mut command = Command::new("clang-22");
    command.args([
        "-x",
        "cl",
        "-cl-std=CL1.2",
        "-target",
        "spirv64-unknown-unknown",
        "-O1",
        "-g",
        "-cl-kernel-arg-info",
        "-D__OPENCL_VERSION__=300",
        "-Xclang",
        "-cl-ext=-cl_amd_media_ops,-cl_amd_media_ops2",
    ]);
    command.args(["-Wno-error=int-conversion", "-Wno-error=incompatible-pointer-types", "-Wno-error=return-mismatch"]);
    command.arg("-Wno-error=implicit-int");
    if reduced && arguments.iter().any(|argument| argument.starts_with("-cl-std=CL3")) {
        command.args(["-Xclang", CL3]);
    }
    command.args(arguments).args(["-fsyntax-only", "-w", "-Xclang", "-ast-dump=json", "--"]).arg(source);
    let output = command.output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(json::read(&output.stdout[..]).unwrap())
}

/// Keeps only what kernels reach, in the same order; declarations are named by the order of their first use.
fn reachable(mut ast: Ast) -> Ast {
    let mut wanted: BTreeSet<String> =
        ast.functions.iter().filter(|function| function.is_kernel).map(|function| function.name.clone()).collect();
    loop {
        let before = wanted.len();
        for function in ast.functions.iter().filter(|function| wanted.contains(&function.name)).collect::<Vec<_>>() {
            function.body.walk(&mut |node| {
                if node.referenced_kind.as_deref() == Some("FunctionDecl") {
                    wanted.extend(node.name.iter().map(|name| name.to_string()));
                }
            });
        }
        if wanted.len() == before {
            break;
        }
    }
    ast.functions.retain(|function| wanted.contains(&function.name));

    let mut names: HashMap<Arc<str>, Arc<str>> = HashMap::new();
    let mut order: Vec<Arc<str>> = Vec::new();
    let mut rename = |node: &mut Node| {
        each(node, &mut |node| {
            if let Some(id) = &mut node.referenced {
                let next = names.len();
                *id = names
                    .entry(id.clone())
                    .or_insert_with(|| {
                        order.push(id.clone());
                        format!("declaration {next}").into()
                    })
                    .clone();
            }
        });
        std::mem::take(&mut order)
    };
    let mut todo: Vec<Arc<str>> = Vec::new();
    for function in &mut ast.functions {
        todo.extend(rename(&mut function.body));
    }
    let mut initializers = Vec::new();
    let mut at = 0;
    while at < todo.len() {
        if let Some(mut node) = ast.initializers.get(&todo[at]).cloned() {
            todo.extend(rename(&mut node));
            initializers.push((todo[at].clone(), node));
        }
        at += 1;
    }
    ast.initializers = initializers.into_iter().map(|(id, node)| (names[&id].clone(), node)).collect();
    let values = std::mem::take(&mut ast.enum_values);
    ast.enum_values = values.into_iter().filter_map(|(id, value)| Some((names.get(&id)?.clone(), value))).collect();
    ast
}

fn each(node: &mut Node, change: &mut impl FnMut(&mut Node)) {
    change(node);
    for child in &mut node.children {
        each(child, change);
    }
}

fn compare(source: &Path, arguments: &[String]) {
    let loaded = compile::load(source, &options(arguments), true).unwrap_or_else(|error| panic!("{error}"));
    compare_tree(loaded, source, arguments);
}

fn compare_tree(loaded: Loaded, source: &Path, arguments: &[String]) {
    let mut ours = loaded.ast.unwrap_or_else(|| panic!("{}: no tree", source.display()));
    for function in &mut ours.functions {
        // Overloadable functions are told apart by the types of their parameters, which the dump's names lack.
        let plain = function.name.split('(').next().unwrap_or_default().to_owned();
        function.name = plain;
    }
    let ours = reachable(ours);
    let theirs = reachable(dumped(source, arguments));
    let names = |ast: &Ast| -> Vec<String> { ast.functions.iter().map(|function| function.name.clone()).collect() };
    assert_eq!(names(&ours), names(&theirs), "{}", source.display());
    for (ours, theirs) in ours.functions.iter().zip(&theirs.functions) {
        same(&ours.body, &theirs.body, &format!("{}: {}", source.display(), ours.name));
        assert_eq!((ours.is_kernel, &ours.location), (theirs.is_kernel, &theirs.location), "{}", source.display());
    }
    assert_eq!(ours.enum_values, theirs.enum_values, "{}", source.display());
    assert_eq!(ours.initializers, theirs.initializers, "{}", source.display());
}

/// Names the node where the trees differ, instead of printing whole trees.
fn same(ours: &Node, theirs: &Node, node_path: &str) {
    let bare = |node: &Node| Node { children: Vec::new(), ..node.clone() };
    assert_eq!(bare(ours), bare(theirs), "{node_path}");
    let kinds = |node: &Node| -> Vec<Arc<str>> { node.children.iter().map(|child| child.kind.clone()).collect() };
    let node_path = format!("{node_path} > {}", ours.kind);
    assert_eq!(kinds(ours), kinds(theirs), "{node_path}");
    for (ours, theirs) in ours.children.iter().zip(&theirs.children) {
        same(ours, theirs, &node_path);
    }
}

/// Returns the kernels of `testdata`, with the options of their suites.
fn testdata() -> Vec<(PathBuf, Vec<String>)> {
    let options_of = |kernel: &PathBuf| -> Vec<String> {
        let suite = std::fs::read_to_string(kernel.with_file_name("suite.toml")).unwrap_or_default();
        let suite: toml::Table = suite.parse().unwrap_or_default();
        let options = suite.get("options").and_then(|options| options.as_array()).cloned().unwrap_or_default();
        options.iter().filter_map(|option| option.as_str().map(str::to_owned)).collect()
    };
    let kernels = files_below(&crate::common::testdata::testdata(""), "cl");
    kernels.into_iter().map(|kernel| (kernel.clone(), options_of(&kernel))).collect()
}

#[test]
fn the_records_of_kernels_of_testdata_are_those_of_clangs_dump() {
    let root = crate::common::testdata::testdata("");
    let mut seen: HashMap<Option<Component>, usize> = HashMap::new();
    let mut compared = 0;
    let sources = testdata();
    for (source, arguments) in &sources {
        // In folders of many fixtures these are alike: each fourth does.
        let folder = source.strip_prefix(&root).ok().and_then(|below| below.components().next());
        let position = seen.entry(folder).or_default();
        *position += 1;
        if *position > 20 && !position.is_multiple_of(4) {
            continue;
        }
        if let Ok(loaded) = compile::load(source, &options(arguments), true) {
            compare_tree(loaded, source, arguments);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// The arguments that `options` gives clang, for the clang program.
const ARGUMENTS: &str = "-x cl -cl-std=CL1.2 -target spirv64-unknown-unknown -ffp-contract=off -O1 -Xclang -disable-llvm-passes -Xclang \
                         -disable-lifetime-markers -g -fdebug-macro -fdebug-compilation-dir=. -fno-discard-value-names \
                         -cl-kernel-arg-info -D__OPENCL_VERSION__=300 -Xclang -cl-ext=-cl_amd_media_ops,-cl_amd_media_ops2 \
                         -emit-llvm -c -o";

#[test]
fn bitcode_is_that_of_the_program_clang() {
    for (source, arguments) in testdata().into_iter().filter(|(_, arguments)| arguments.is_empty()).step_by(20) {
        let Ok(loaded) = compile::load(&source, &options(&arguments), true) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let bitcode = folder.path().join("k.bc");
        let status =
            Command::new("clang-22").args(ARGUMENTS.split_whitespace()).arg(&bitcode).arg(&source).status().unwrap();
        assert!(status.success());
        assert!(loaded.bitcode == std::fs::read(&bitcode).unwrap(), "{}", source.display());
    }
}

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Constructs that are rare in `testdata`.
const ODDITIES: &str = r#"
#define PASTE(a, b) a ## b
#define TWICE(x) ((x) + (x))
#define LOOP(i, n) for (int i = 0; i < (n); i++)
#define BODY(o) do { o[0] += TWICE(o[1]); if (o[2]) break; } while (0)
enum { FIRST = 3, SECOND, THIRD = FIRST + 4, NEGATIVE = -7 };
typedef struct { int a; float b[3]; } pair;
typedef uint word;
__constant int table[4] = { 1, 2 };
__constant int limit = THIRD * 2;
__constant float aligned_one __attribute__((aligned(16))) = 1.5f;
int prototype(int x);
int never(int x) { return x; }
int recursive_a(int x) { return x > 0 ? prototype(x - 1) : 0; }
int prototype(int x) { return recursive_a(x) + SECOND; }
float __attribute__((overloadable)) over(float x) { return x; }
int __attribute__((overloadable)) over(int x) { return x; }
__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void k(__global int *o, __global float4 *v, __constant pair *p, __local word *l, image2d_t picture, sampler_t smp) {
  /// A documented variable.
  const int width = 5, height = width * 2; ///< and another
  int list[8] = { 1, 2, [5] = 7 };
  int whole[3] = { 1, 2, 3 };
  pair q = { .a = 1, .b = { 1.0f } };
  enum here { INNER = 12 } e = INNER;
  struct inner { int x; word y; } s = { 1, 2u };
  typedef int number;
  number PASTE(na, me) = width;
  __attribute__((opencl_unroll_hint(2)))
  for (;;) { break; }
  for (int i = 0, j = 4; i < j; ++i, j--) o[i] = j;
  LOOP(i, height) o[i] ^= i;
  BODY(o);
  #pragma unroll 4
  while (o[0]-- > 0) if (o[1]) continue; else o[2] = ~o[1];
  do o[3] <<= 1; while (!o[4]);
  switch (o[5]) { case 1 ... 3: o[6] = 'x'; break; case FIRST + 1: default: o[7] = L'\x41'; }
  v[0].xyz = v[1].s012 * 2.5f + (float3)(1.0f, 2.0e-3f, 0x1p-4f);
  v[1] = (float4)(v[0].lo, v[0].hi) == v[2] ? v[0] : v[1];
  o[8] = sizeof(pair) + sizeof o[0] + __alignof__(word) + vec_step(v[0]);
  o[9] = p->a + (int)p->b[1] + q.a + name;
  o[10] = (o[0] && o[1]) || !(o[2] & 1), o[11] = o[12];
  o[13] = over(1) + (int)over(1.0f) + prototype(2) + table[1] + limit + (int)aligned_one + NEGATIVE;
  o[14] = convert_int_sat(v[0].x) + as_int(v[0].y) + (int)read_imagef(picture, smp, (int2)(0, 1)).x;
  printf("%d \"quoted\"\n", o[0] + s.x + e + list[0] + whole[1] + name);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  l[0] = ({ int t = 3; t + 1; });
  goto end;
end:
  o[15] = __builtin_popcount(o[14]) + (true ? 18446744073709551615UL > 3 : 0);
}
"#;

#[test]
fn the_records_of_odd_constructs_are_those_of_clangs_dump() {
    let folder = folder_with(&[("odd.cl", ODDITIES)]);
    compare(&folder.path().join("odd.cl"), &[]);
    compare(&folder.path().join("odd.cl"), &["-cl-std=CL2.0".to_owned()]);
    compare(&folder.path().join("odd.cl"), &["-cl-std=CL3.0".to_owned(), "-cl-fast-relaxed-math".to_owned()]);
}

#[test]
fn an_include_of_thousands_of_unused_functions_costs_nothing_in_the_tree() {
    let unused: String =
        (0..3_000).map(|i| format!("int unused{i}(int x) {{ return x * {i} + C{}; }}\n", i % 50)).collect();
    let constants: String = (0..50).map(|i| format!("__constant int C{i} = {i};\n")).collect();
    let library = format!("{constants}{unused}int used(int x) {{ return x + C7; }}\n");
    let kernel = "#include \"library.h\"\n__kernel void k(__global int *o) { o[0] = used(o[1]); }\n";
    let folder = folder_with(&[("library.h", &library), ("k.cl", kernel)]);
    let source = folder.path().join("k.cl");
    let ast = compile::load(&source, &options(&[]), true).unwrap().ast.unwrap();
    let names: Vec<&str> = ast.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["used", "k"]);
    assert_eq!(ast.initializers.len(), 1);
    compare(&source, &[]);
}
