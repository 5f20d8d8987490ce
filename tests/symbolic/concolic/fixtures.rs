//! Checks on kernels of `testdata` that interpretations agree with the simulator, and that searches end.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::generate::instrumented::Instrumented;
use kassay_judge::generate::launches::{Request, launches};
use kassay_judge::generate::roles;
use kassay_judge::generate::search::{CoverageRunner, RunOutcome};
use kassay_model::interface::ArgKind;
use kassay_prove::symbolic::concolic::{Engine, Limits, Ranges, Statistics};
use kassay_suite::launch::Launch;
use kassay_suite::resolve::Suite;

use super::support::{Kernel, marked, outcomes};
use crate::common::kernels::with_file;
use crate::common::testdata::main_suites;

fn suites() -> impl Iterator<Item = Suite> {
    main_suites().into_iter().map(|path| Suite::load(&path).unwrap())
}

/// Returns the marks that the simulator's coverage shows; `None` if the launch faults.
fn simulated(
    under_test: &KernelUnderTest<'_>,
    instrumented: &mut Instrumented<'_>,
    launch: &Launch,
) -> Option<BTreeSet<u32>> {
    let RunOutcome::Completed(shown) = instrumented.run(launch, Duration::from_secs(20)).unwrap() else { return None };
    let tally = shown.tally;
    let all = outcomes(&under_test.sites);
    let covered = (0u32..).zip(&all).filter(|(_, (s, o))| tally[*s].hits[*o] > 0);
    Some(covered.map(|(mark, _)| mark).collect())
}

/// Returns the first launches that run, with the marks that they cover, and the differences between simulator
/// and interpreter.
fn first(
    under_test: &KernelUnderTest<'_>,
    kernel: &Kernel,
    instrumented: &mut Instrumented<'_>,
) -> (Vec<(Launch, BTreeSet<u32>)>, Vec<String>) {
    let mut engine = Engine::new(&kernel.program, &kernel.interface, &[], Ranges::default());
    let model = roles::infer(under_test).unwrap();
    let (mut found, mut differences) = (Vec::new(), Vec::new());
    for generated in launches(&model, &Request::default()).unwrap() {
        let Some(covered) = simulated(under_test, instrumented, &generated.launch) else { continue };
        let interpreted = engine.covered(&generated.launch);
        if covered != interpreted {
            let different = covered.symmetric_difference(&interpreted).copied().collect();
            differences.push(format!("{}, {}: {:?}", under_test.entry, generated.name, kernel.names(&different)));
        }
        found.push((generated.launch, covered));
    }
    let graph_misses = engine.statistics().graph_misses;
    if graph_misses > 0 {
        differences
            .push(format!("{}: {graph_misses} steps to where the graph of states does not lead", under_test.entry));
    }
    (found, differences)
}

#[test]
fn interpretations_agree_with_the_simulator() {
    let mut differences = Vec::new();
    for suite in suites() {
        with_file(&suite.kernel, suite.entry.as_deref(), &suite.options, |under_test| {
            // The interpreter interprets neither texels nor functions of sub-groups.
            let has_images = under_test.interface.args.iter().any(|a| matches!(a.kind, ArgKind::Image(_)));
            if !has_images && !under_test.module.print_to_string().to_string().contains("sub_group_") {
                let mut instrumented = Instrumented::new(under_test, 1, None).unwrap();
                differences.extend(first(under_test, &marked(under_test), &mut instrumented).1);
            }
        });
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns what a search from the first launches leaves uncovered; every proposal has to run and to cover something on
/// the simulator.
fn left(under_test: &KernelUnderTest<'_>, budget: Duration) -> (Kernel, BTreeSet<u32>, Statistics) {
    let kernel = marked(under_test);
    let mut instrumented = Instrumented::new(under_test, 1, None).unwrap();
    let mut engine = Engine::new(&kernel.program, &kernel.interface, &[], Ranges::default());
    let mut open: BTreeSet<u32> = (0..kernel.outcomes.len() as u32).collect();
    let (parents, _) = first(under_test, &kernel, &mut instrumented);
    for (launch, covered) in &parents {
        open.retain(|mark| !covered.contains(mark));
        engine.parent(launch);
    }
    let limits = Limits { end: Some(Instant::now() + budget), ..Limits::default() };
    while !open.is_empty() {
        let Some(proposal) = engine.next(&open, &limits) else { break };
        let launch = proposal.apply(&parents[proposal.parent].0);
        let covered =
            simulated(under_test, &mut instrumented, &launch).unwrap_or_else(|| panic!("{proposal:?} faults"));
        assert!(covered.contains(&proposal.aims_at), "{}: {proposal:?}", under_test.entry);
        open.retain(|mark| !covered.contains(mark));
        engine.outcome(&proposal, Some(&launch));
    }
    let statistics = engine.statistics();
    assert_eq!(statistics.graph_misses, 0, "{}", under_test.entry);
    (kernel, open, statistics)
}

#[test]
fn searches_cover_what_first_launches_leave() {
    let names = [
        "convolution_2d",
        "divergent_exit",
        "double_math",
        "game_of_life",
        "half_math",
        "hash_fnv",
        "knapsack_dp",
        "liu_array_bean",
        "liu_example",
        "lu_step",
        "long_vectors",
        "mandelbrot",
        "printf_debug",
        "sha_like",
        "short_circuit",
        "string_search",
        "struct_args",
    ];
    let mut complaints = Vec::new();
    for suite in suites() {
        let folder = suite.kernel.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
        if !names.contains(&folder.as_str()) {
            continue;
        }
        with_file(&suite.kernel, suite.entry.as_deref(), &suite.options, |under_test| {
            let started = Instant::now();
            let (kernel, open, statistics) = left(under_test, Duration::from_secs(60));
            eprintln!("{folder}: {:?} {statistics:?}", started.elapsed());
            if !open.is_empty() {
                complaints.push(format!("{folder}: {:?}, {statistics:?}", kernel.names(&open)));
            }
        });
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
