//! Checks def-use coverage: pairs counted by hand (`testdata/*/def_use.toml`), what counts as a pair, and that no run
//! shows a pair that the analysis excludes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use PairKind::{AcrossBarrier, AcrossGroups, HostToKernel, Private, SameWorkItem, WithinGroup};
use kassay::result::def_use::{DefUse, DefUsePair, PairKind};
use kassay::{CoverOptions, OpenOptions, cover};
use kassay_ir::instrument::def_use::DefUsePlan;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::def_use::{self, Followed};
use kassay_model::native::table::Relation;
use kassay_run::exec::simulator::Simulator;
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_suite::resolve::Test;
use serde::Deserialize;

use crate::common::kernels::open_suite;
use crate::common::program::kassay;
use crate::common::testdata;
use crate::common::threads::spread;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Count {
    pairs: u64,
    covered: u64,
}

/// Follows the tests of a suite, and returns the pairs with what the tests have shown of them. Checks that the code
/// that reports them computes what the original does.
fn followed(suite: &Path) -> (DefUsePlan, Vec<Followed>) {
    let context = Context::create();
    let mut opened = open_suite(&context, suite).unwrap();
    opened.choose_local(&kassay_run::exec::simulator::device());
    let under_test = &opened.kernel.under_test;
    let code = def_use::build(under_test).unwrap_or_else(|e| panic!("{}: {e}", suite.display()));
    let plain = under_test.for_simulator(&under_test.lowering).unwrap();
    let mut simulator = Simulator::new(1).unwrap();
    let program = simulator.load_native(&code.code).unwrap();
    let plain = simulator.load_native(&plain).unwrap();
    let limit = Duration::from_secs(60);
    let run = |test: &Test| {
        let followed = def_use::follow(&mut simulator, program, &code.plan, test, limit).unwrap();
        let options = SimulationOptions { schedule: test.launch.schedule.clone(), ..SimulationOptions::default() };
        let mut outputs =
            |program| simulator.simulate(program, &test.launch, &options, limit, &[]).unwrap().observation.outputs;
        assert_eq!(outputs(program), outputs(plain), "{}: outputs of {}", suite.display(), test.name);
        followed
    };
    let tests = opened.tests.iter().map(run).collect();
    (code.plan, tests)
}

fn counts(result: &DefUse) -> BTreeMap<PairKind, Count> {
    let count = |k: &kassay::result::def_use::KindSummary| (k.kind, Count { pairs: k.pairs, covered: k.covered });
    result.summary.iter().map(count).filter(|(_, count)| count.pairs > 0).collect()
}

#[test]
fn pairs_match_the_hand_counts() {
    let folders = testdata::folders(&testdata::testdata(""));
    let folders: Vec<_> = folders.into_iter().filter(|folder| folder.join("def_use.toml").is_file()).collect();
    assert!(folders.len() >= 10, "only {} hand counts", folders.len());
    let wrong: Vec<String> = (spread(&folders, |folder| {
        let text = std::fs::read_to_string(folder.join("def_use.toml")).unwrap();
        let expected: BTreeMap<PairKind, Count> =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let (plan, tests) = followed(&folder.join("suite.toml"));
        let result = def_use::result(&plan, &tests, "kernel", None);
        let found = counts(&result);
        let shown = || {
            let pairs: Vec<String> =
                result.pairs.iter().map(|p| format!("  {} {}", if p.covered { "+" } else { "-" }, p.id)).collect();
            format!("{}: {found:?}, not {expected:?}\n{}", folder.display(), pairs.join("\n"))
        };
        (found != expected).then(shown)
    }))
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_test_shows_a_pair_that_the_analysis_excludes() {
    let mut suites = testdata::suites();
    let clean = testdata::folders(&testdata::testdata("check"));
    let clean = clean.into_iter().filter(|folder| testdata::name(folder).starts_with("clean_"));
    suites.extend(clean.flat_map(|folder| testdata::suites_in(&folder)));
    assert!(suites.len() > 100, "only {} suites", suites.len());
    let wrong: Vec<String> = spread(&suites, |suite| {
        let (plan, tests) = followed(suite);
        let unexpected: BTreeSet<_> = tests.iter().flat_map(|test| &test.exercised.unexpected).collect();
        let shown = |(definition, usage, relation): &(Option<usize>, usize, _)| {
            format!("{relation:?}: {:?} to {:?}", definition.map(|d| &plan.sites[d]), plan.sites[*usage])
        };
        let shown: Vec<String> = unexpected.into_iter().map(shown).collect();
        (!shown.is_empty()).then(|| format!("{}:\n  {}", suite.display(), shown.join("\n  ")))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_the_analysis_excludes_is_told_from_what_nothing_orders() {
    let (plan, _) = followed(&testdata::suite("matmul_tiled"));
    let pair = plan.pairs.iter().find(|pair| pair.relation == Relation::AcrossBarrier).unwrap();
    let (definition, usage) = (pair.definition.unwrap() as u32, pair.usage as u32);
    let shown = |relation| plan.exercised([], [(Some(definition), usage, relation)]);
    let counts = |relation| {
        let shown = shown(relation);
        [shown.pairs.len(), shown.unordered.len(), shown.unexpected.len()]
    };
    assert_eq!(counts(Relation::AcrossBarrier), [1, 0, 0]);
    assert_eq!(counts(Relation::WithinGroup), [0, 1, 0]);
    assert_eq!(counts(Relation::Private), [0, 0, 1]);
    // A use is never defined by itself.
    assert_eq!(plan.exercised([], [(Some(usage), usage, Relation::SameWorkItem)]).unexpected.len(), 1);
}

/// Covers a kernel with the given arguments of the only test, and returns its pairs.
fn covered(kernel: &str, launch: &str, jobs: u32) -> DefUse {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.cl"), kernel).unwrap();
    let suite = folder.path().join("suite.toml");
    std::fs::write(&suite, format!("kernel = \"k.cl\"\n[[test]]\nname = \"t\"\n{launch}\n")).unwrap();
    let opened = OpenOptions::new().device("sim".into()).jobs(jobs).cl_std(Some("CL2.0".into())).open(&suite).unwrap();
    let result = cover(&opened, &CoverOptions::new().def_use(true).repeats(1)).unwrap();
    let notes = result.notes.join("\n");
    assert!(!notes.contains("cannot reach"), "{notes}");
    result.def_use.unwrap()
}

/// The pairs of a variable: line of the definition (0: the host), line of the use, kind, and whether it is covered.
fn pairs_of<'r>(result: &'r DefUse, variable: &str) -> Vec<(u32, u32, PairKind, bool)> {
    let line = |pair: &'r DefUsePair| pair.definition.as_ref().map_or(0, |d| d.location.line);
    let of_variable = result.pairs.iter().filter(|pair| pair.variable == variable);
    let mut all: Vec<_> =
        of_variable.map(|pair| (line(pair), pair.usage.location.line, pair.kind, pair.covered)).collect();
    all.sort();
    all
}

/// As [`pairs_of`], of the memory that an argument points to, without the argument itself.
fn memory_of(result: &DefUse, argument: &str) -> Vec<(u32, u32, PairKind, bool)> {
    pairs_of(result, argument).into_iter().filter(|(_, _, kind, _)| *kind != Private).collect()
}

#[test]
fn groups_that_hand_over_by_an_atomic_have_pairs_across_groups() {
    let kernel = "kernel void k(global int *parts, global int *done, global int *out) {
    int group = get_group_id(0);
    parts[group] = group + 1;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (atomic_inc(done) == get_num_groups(0) - 1) {
        int sum = 0;
        for (int i = 0; i < get_num_groups(0); i++)
            sum += parts[i];
        *out = sum;
    }
}";
    let launch = "global = [4]\nlocal = [1]\n[test.args]\nparts = { fill = 0, len = 4 }\ndone = { fill = 0, len = 1 }\n\
                  out = { fill = 0, len = 1 }";
    let result = covered(kernel, launch, 1);
    let parts = [
        (0, 8, HostToKernel, false),
        (3, 8, SameWorkItem, true),
        (3, 8, WithinGroup, false),
        (3, 8, AcrossGroups, true),
    ];
    assert_eq!(memory_of(&result, "parts"), parts);
    let done = [(0, 5, HostToKernel, true), (5, 5, WithinGroup, false), (5, 5, AcrossGroups, true)];
    assert_eq!(memory_of(&result, "done"), done);
    assert_eq!(result.unordered, 0);
}

#[test]
fn what_a_race_shows_is_no_pair() {
    let kernel = "kernel void k(global int *x) {
    int i = get_global_id(0);
    x[i] = i;
    int left = x[i > 0 ? i - 1 : 0];
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[i] = left;
}";
    let launch = "global = [8]\nlocal = [4]\n[test.args]\nx = { fill = 0, len = 8 }";
    let result = covered(kernel, launch, 1);
    // The first work-item reads its own element, the others one that their neighbour has just written.
    assert_eq!(memory_of(&result, "x"), [(0, 4, HostToKernel, false), (3, 4, SameWorkItem, true)]);
    assert_eq!(result.unordered, 2, "within a group, and across groups");
}

#[test]
fn a_barrier_relates_only_accesses_to_memory_that_it_orders() {
    let kernel = |flags: &str| {
        format!(
            "kernel void k(global int *x, global int *y) {{
    int i = get_local_id(0);
    x[i] = i;
    barrier({flags});
    y[i] = x[3 - i];
}}"
        )
    };
    let launch = "global = [4]\nlocal = [4]\n[test.args]\nx = { fill = 0, len = 4 }\ny = { fill = 0, len = 4 }";
    let ordered = covered(&kernel("CLK_GLOBAL_MEM_FENCE"), launch, 1);
    let expected = [(0, 5, HostToKernel, false), (3, 5, SameWorkItem, false), (3, 5, AcrossBarrier, true)];
    assert_eq!(memory_of(&ordered, "x"), expected);
    assert_eq!(ordered.unordered, 0);
    let unordered = covered(&kernel("CLK_LOCAL_MEM_FENCE"), launch, 1);
    assert_eq!(memory_of(&unordered, "x"), [(0, 5, HostToKernel, false), (3, 5, SameWorkItem, false)]);
    assert_eq!(unordered.unordered, 1);
}

#[test]
fn a_group_defines_what_it_copies() {
    let kernel = "kernel void k(global const int *x, global int *y, int again) {
    local int t[8];
    event_t e = async_work_group_copy(t, x, 8, 0);
    wait_group_events(1, &e);
    y[get_local_id(0)] = t[get_local_id(0)];
    if (again) {
        barrier(CLK_LOCAL_MEM_FENCE);
        t[get_local_id(0)] = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        e = async_work_group_copy(y, t, 4, 0);
        wait_group_events(1, &e);
    }
}";
    let launch =
        "global = [8]\nlocal = [8]\n[test.args]\nx = { fill = 3, len = 8 }\ny = { fill = 0, len = 8 }\nagain = 1";
    let result = covered(kernel, launch, 1);
    let tile = [(3, 5, AcrossBarrier, true), (3, 10, AcrossBarrier, false), (8, 10, AcrossBarrier, true)];
    assert_eq!(pairs_of(&result, "t"), tile);
    assert_eq!(memory_of(&result, "x"), [(0, 3, HostToKernel, true)]);
    assert_eq!(result.unordered, 0);
}

#[test]
fn private_memory_is_followed_through_arrays_structs_and_helpers() {
    let kernel = "typedef struct { int a; int b; } two;
int sum(two t) {
    return t.a + t.b;
}
void set(int *p, int v) {
    *p = v;
}
kernel void k(global int *out, int n) {
    int a[2];
    a[0] = n;
    a[1] = 2;
    two t;
    t.a = a[0];
    t.b = 5;
    int x = 1;
    if (n > 100)
        x = 2;
    set(&x, x + 1);
    float4 w = vload4(0, (global float *)out);
    w.x = 0;
    vstore4(w, 0, (global float *)out);
    out[4] = sum(t) + x;
}";
    let launch = "global = [1]\nlocal = [1]\n[test.args]\nout = { fill = 0, len = 8 }\nn = 7";
    let result = covered(kernel, launch, 1);
    // Elements at constant positions are told apart, as are fields.
    assert_eq!(pairs_of(&result, "a"), [(10, 13, Private, true)]);
    let x = [
        (6, 22, Private, true),
        (15, 18, Private, true),
        (15, 22, Private, false),
        (17, 18, Private, false),
        (17, 22, Private, false),
    ];
    assert_eq!(pairs_of(&result, "x"), x);
    // A call uses what it passes by value, and defines the parameter.
    let t = [(2, 3, Private, true), (2, 3, Private, true), (13, 22, Private, true), (14, 22, Private, true)];
    assert_eq!(pairs_of(&result, "t"), t);
    assert_eq!(pairs_of(&result, "w"), [(19, 20, Private, true), (20, 21, Private, true)]);
    let out = memory_of(&result, "out");
    assert!(out.contains(&(0, 19, HostToKernel, true)), "{out:?}");
}

#[test]
fn a_compare_exchange_that_fails_defines_nothing() {
    let kernel = "kernel void k(global int *lock, global int *out) {
    int old = atomic_cmpxchg(lock, 7, 1);
    out[get_global_id(0)] = atomic_add(lock, 0);
}";
    let launch = |value: i32| {
        format!(
            "global = [1]\nlocal = [1]\n[test.args]\nlock = {{ fill = {value}, len = 1 }}\nout = {{ fill = 0, len = 1 }}"
        )
    };
    let to_the_sum = |value| {
        let result = covered(kernel, &launch(value), 1);
        let pairs = memory_of(&result, "lock");
        let covered = |definition| {
            pairs.contains(&(definition, 3, if definition == 0 { HostToKernel } else { SameWorkItem }, true))
        };
        (covered(0), covered(2))
    };
    assert_eq!(to_the_sum(7), (false, true));
    assert_eq!(to_the_sum(8), (true, false));
}

#[test]
fn uses_that_decide_branches_are_marked() {
    let kernel = "kernel void k(global int *out, int n) {
    int i = get_global_id(0);
    if (i + 1 < n)
        out[i] = 1;
}";
    let launch = "global = [4]\n[test.args]\nout = { fill = 0, len = 4 }\nn = 3";
    let result = covered(kernel, launch, 1);
    let marks: Vec<(&str, u32, bool)> =
        result.pairs.iter().map(|p| (p.variable.as_str(), p.usage.location.line, p.predicate)).collect();
    assert_eq!(marks, [("i", 3, true), ("n", 3, true), ("out", 4, false), ("i", 4, false)]);
}

#[test]
fn results_are_the_same_on_any_device_and_number_of_workers() {
    let run = |args: &[&str]| {
        let mut command = kassay();
        command.args(["cover", "--def-use", "--repeats", "1", "--quiet", "--format", "json"]).args(args);
        let output = command.arg(testdata::suite("reduction_tree")).output().unwrap();
        let mut result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let def_use = result["def_use"].as_object_mut().unwrap();
        def_use.remove("overhead");
        assert!(!def_use["pairs"].as_array().unwrap().is_empty());
        serde_json::to_string(def_use).unwrap()
    };
    let first = run(&["--device", "sim"]);
    assert_eq!(run(&["--device", "sim", "-j", "3"]), first);
    assert_eq!(run(&["--device", "sim"]), first);
    assert_eq!(run(&[]), first);
}

#[test]
fn the_example_of_the_documentation_has_the_pairs_that_it_says() {
    let kernel = "kernel void rotate(global int *x, local int *tile) {
    int i = get_local_id(0);
    tile[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = tile[(i + 1) % get_local_size(0)];
}";
    let page = std::fs::read_to_string(testdata::repository("docs/coverage-metrics.md")).unwrap();
    assert!(page.contains(kernel), "docs/coverage-metrics.md has another example");
    let pairs = |size: u32| {
        let launch = format!(
            "global = [{size}]\nlocal = [{size}]\n[test.args]\nx = {{ fill = 1, len = {size} }}\ntile = {{ local = 16 }}"
        );
        counts(&covered(kernel, &launch, 1))
    };
    let expected = |same, across| {
        let count = |pairs, covered| Count { pairs, covered };
        let kinds = [(Private, count(8, 8)), (SameWorkItem, count(1, same)), (AcrossBarrier, count(1, across))];
        BTreeMap::from_iter(kinds.into_iter().chain([(HostToKernel, count(1, 1))]))
    };
    assert_eq!(pairs(1), expected(1, 0));
    assert_eq!(pairs(2), expected(0, 1));
}
