//! Checks what is read from C++ for OpenCL: names, sites, and what is refused.

use std::path::PathBuf;

use kassay_base::error::{Error, Result};
use kassay_ir::kernel::compile::{Loaded, load};
use kassay_ir::kernel::constructs::{self, Kind};
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{KernelFile, sources_of};
use kassay_model::options::KernelOptions;

struct Read {
    /// The functions with sites, in the module's order.
    functions: Vec<String>,
    /// Construct and number of outcomes of each decision, in order of function and place.
    decisions: Vec<(&'static str, usize)>,
    loops: Vec<&'static str>,
    local_variables: Vec<String>,
    loaded: Loaded,
}

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.clcpp");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn try_read(text: &str) -> Result<Read> {
    let (_folder, path) = file(text);
    let loaded = load(&path, &KernelOptions::default(), true)?;
    let context = Context::create();
    let kernels = KernelFile::parse(&context, &loaded)?;
    let under_test = kernels.under_test("k", &loaded, &sources_of(&path))?;
    let all = &under_test.sites.functions;
    let decisions = all.iter().flat_map(|f| &f.decisions);
    Ok(Read {
        functions: all.iter().map(|f| f.cfg.function.clone()).collect(),
        decisions: decisions.map(|d| (d.construct, d.outcomes.len())).collect(),
        loops: all.iter().flat_map(|f| &f.loops).map(|l| l.construct).collect(),
        local_variables: under_test.interface.local_variables.iter().map(|v| v.name.clone()).collect(),
        loaded,
    })
}

fn read(text: &str) -> Read {
    try_read(text).unwrap()
}

fn message(error: &Error) -> String {
    error.to_string()
}

#[test]
fn functions_have_the_names_of_the_source_in_module_and_tree() {
    let found = read(
        "namespace ns { template <typename T, int N> struct Box { T v[N]; T &at(int i) { return v[i]; } ~Box() { v[0] = 0; } }; }
         int norm(int x) { return x < 0 ? -x : x; }
         float norm(float x) { return x < 0 ? -x : x; }
         template <typename F> int call(F f) { return f(2); }
         kernel void k(global int *out) {
             local int tile[4];
             ns::Box<int, 3> box;
             tile[0] = 1;
             box.at(0) = norm(out[0]) + (int)norm(1.5f) + tile[0];
             out[0] = box.at(0) + call([=](int x) { return x + 1; });
         }",
    );
    let mut functions = found.functions.clone();
    assert_eq!(functions.remove(0), "k");
    functions.sort();
    assert_eq!(
        functions,
        [
            "call<{lambda:10}>",
            "k::{lambda:10}::operator()",
            "norm(float)",
            "norm(int)",
            "ns::Box<int, 3>::at",
            "ns::Box<int, 3>::~Box",
        ]
    );
    let ast = found.loaded.ast.unwrap();
    let unknown: Vec<_> = found.functions.iter().filter(|name| ast.function(name).is_none()).collect();
    assert!(unknown.is_empty(), "the tree lacks {unknown:?}");
    assert_eq!(found.local_variables, ["tile"]);
}

#[test]
fn only_what_the_source_decides_is_a_decision() {
    // Two destructors after an early return make clang emit a switch of its own.
    let found = read(
        "struct Guard { int &n; Guard(int &n) : n(n) {} ~Guard() { ++n; } };
         struct Flag { bool is; };
         bool operator&&(Flag a, Flag b) { return a.is & b.is; }
         template <int N> int size(int x) { if constexpr (N > 2) { return x; } else { return x > N ? 1 : 2; } }
         constexpr int twice(int x) { return x * 2; }
         kernel void k(global int *out, int n) {
             int done = 0;
             { Guard one(done), two(done); if (n == 3) return; }
             if (Flag{n > 1} && Flag{n > 2}) out[0] = 1;
             if (twice(2) == 5) out[1] = 2;
             if (const int left = n - 1; left > 4 || left < -4) out[2] = left;
             switch (int low = n & 3; low) { case 0: out[3] = 1; break; default: out[3] = low; }
             out[4] = size<1>(n) + size<3>(n) + done;
         }",
    );
    let mut decisions = found.decisions.clone();
    decisions.sort_unstable();
    assert_eq!(decisions, [("?:", 2), ("if", 2), ("if", 2), ("if", 2), ("switch", 2)]);
    let ast = found.loaded.ast.unwrap();
    let kernel = constructs::of(&ast, ast.function("k").unwrap());
    let folded: Vec<_> = kernel.constructs.iter().filter(|c| c.is_folded).map(|c| &c.kind).collect();
    assert_eq!(folded, [&Kind::If { has_else: false }]);
    assert_eq!(kernel.counts().leaves, 2, "those of the `if` with an initialiser");
}

#[test]
fn a_range_for_is_a_loop() {
    let found = read(
        "struct Range { int n; struct It { int i; int operator*() const { return i; } It &operator++() { ++i; return *this; }
             bool operator!=(const It &o) const { return i != o.i; } };
             It begin() const { return {0}; } It end() const { return {n}; } };
         kernel void k(global int *out, int n) {
             for (int i : Range{n}) out[i] = i;
             int a[2] = {1, 2};
             for (int &x : a) { x += n; }
             out[0] = a[0];
         }",
    );
    assert_eq!(found.loops, ["for", "for"]);
    assert!(found.decisions.is_empty(), "{:?}", found.decisions);
}

#[test]
fn what_does_not_compile_or_would_never_run_is_refused() {
    let error =
        try_read("template <typename T> T f(T x) { return x + y; }\nkernel void k(global int *o) { *o = f(1); }");
    let Err(Error::Caller(report)) = error else { panic!() };
    assert_eq!(report.place.as_ref().map(|at| (at.line, at.column)), Some((1, 45)));
    assert!(report.details.as_ref().is_some_and(|d| d.contains("use of undeclared identifier 'y'")), "{report:?}");

    let error = try_read(
        "int twice(int x) { return 2 * x; }\nglobal int start = twice(4);\nkernel void k(global int *o) { *o = start; }",
    );
    let Err(error) = error else { panic!() };
    assert!(message(&error).contains("whose initial value code computes"), "{}", message(&error));
    let Error::Caller(report) = error else { panic!("{error:?}") };
    assert_eq!(report.place.as_ref().map(|at| at.line), Some(2));

    let constant = "constexpr int twice(int x) { return 2 * x; }\nglobal int start = twice(4);\nkernel void k(global int *o) { *o = start; }";
    assert!(try_read(constant).is_ok());
}
