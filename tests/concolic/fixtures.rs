//! Kernels of `testdata`: interpretations agree with the simulator, and searches end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kassay::coverage::build::Assay;
use kassay::generate::campaign::Lane;
use kassay::generate::fuzz::Runs;
use kassay::generate::launches::{Request, launches};
use kassay::generate::roles;
use kassay::suite::launch::Launch;
use kassay::suite::resolve::Suite;
use kassay::symbolic::concolic::{Engine, Limits, Ranges};

use super::support::{Kernel, marked, outcomes, with_file};

/// The suites below `testdata`, one for each kernel.
pub fn fixtures() -> Vec<Suite> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let sorted = |folder: &Path| {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        files
    };
    let mut all: Vec<Suite> = Vec::new();
    for folder in sorted(&root).into_iter().filter(|f| f.is_dir()) {
        let suite = folder.join("suite.toml");
        if suite.is_file() {
            all.push(Suite::load(&suite).unwrap());
        }
    }
    all
}

/// The marks that the simulator's coverage shows; `None` if the launch faults.
fn simulated(assay: &Assay<'_>, lane: &mut Lane<'_>, launch: &Launch) -> Option<BTreeSet<u32>> {
    let tally = lane.run(launch, Duration::from_secs(20)).unwrap()?;
    let all = outcomes(&assay.sites);
    let covered = (0u32..).zip(&all).filter(|(_, (s, o))| tally[*s].hits[*o] > 0);
    Some(covered.map(|(mark, _)| mark).collect())
}

struct Outcome {
    name: String,
    kernel: Kernel,
    open: BTreeSet<u32>,
    disagreements: Vec<String>,
    note: String,
}

fn explore(assay: &Assay<'_>, budget: Duration) -> Outcome {
    let kernel = marked(assay);
    let mut lane = Lane::new(assay, 1).unwrap();
    let mut engine = Engine::new(&kernel.program, &kernel.interface, &[], Ranges::default());
    let mut open: BTreeSet<u32> = (0..kernel.outcomes.len() as u32).collect();
    let mut disagreements = Vec::new();
    let mut parents = Vec::new();
    let model = roles::infer(assay).unwrap();
    for generated in launches(&model, &Request::default()).unwrap() {
        let Some(covered) = simulated(assay, &mut lane, &generated.launch) else { continue };
        let interpreted = engine.covered(&generated.launch);
        if covered != interpreted {
            let apart: BTreeSet<u32> = covered.symmetric_difference(&interpreted).copied().collect();
            disagreements.push(format!("{}: {:?}", generated.name, kernel.names(&apart)));
        }
        open.retain(|mark| !covered.contains(mark));
        assert_eq!(engine.parent(&generated.launch), parents.len());
        parents.push(generated.launch);
    }
    let before = open.len();
    let begun = Instant::now();
    let (mut faulted, mut useless) = (0, 0);
    let limits = Limits { end: Some(begun + budget), ..Limits::default() };
    while !open.is_empty() {
        let Some(proposal) = engine.next(&open, &limits) else { break };
        let launch = proposal.apply(&parents[proposal.parent]);
        let covered = simulated(assay, &mut lane, &launch);
        faulted += u32::from(covered.is_none());
        let gained = covered.iter().flatten().filter(|mark| open.remove(mark)).count();
        useless += u32::from(covered.is_some() && gained == 0);
        engine.outcome(&proposal, (gained > 0).then_some(&launch));
    }
    let note = format!(
        "{before} open, {} left, {:.2} s, {faulted} faulted, {useless} useless, {:?}",
        open.len(),
        begun.elapsed().as_secs_f64(),
        engine.statistics()
    );
    Outcome { name: assay.entry.clone(), kernel, open, disagreements, note }
}

#[test]
fn interpretations_agree_with_the_simulator_and_searches_end() {
    for suite in fixtures() {
        with_file(&suite.kernel, suite.entry.as_deref(), &suite.options, |assay| {
            let o = explore(assay, Duration::from_secs(5));
            eprintln!(
                "{}: {}\n    left {:?}\n    apart {:?}",
                o.name,
                o.note,
                o.kernel.names(&o.open),
                o.disagreements
            );
        });
    }
}
