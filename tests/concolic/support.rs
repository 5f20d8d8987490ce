//! Kernels with marks, launches of zeros, and searches that run what they find.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inkwell::context::Context;
use kassay::cfg::sites::{SiteKind, Sites};
use kassay::coverage::build::{self, Assay, File};
use kassay::instrument::marks;
use kassay::kernel::compile;
use kassay::kernel::interface::{ArgKind, Interface};
use kassay::kernel::options::KernelOptions;
use kassay::program::{Program, promoted, read};
use kassay::suite::launch::{ArgValue, Launch, NdRange};
use kassay::symbolic::concolic::{Bound, Engine, Limits, Proposal, Ranges, Statistics};

/// A kernel, read with marks for its branches' outcomes.
pub struct Kernel {
    pub program: Program,
    pub interface: Interface,
    /// By mark: the line of the branch, and the outcome.
    pub outcomes: Vec<(u32, String)>,
}

/// Outcomes of branches and conditions.
pub fn outcomes(sites: &Sites) -> Vec<(usize, usize)> {
    let watched = |kind| matches!(kind, SiteKind::Branch | SiteKind::Condition);
    let sites = sites.sites.iter().enumerate().filter(|(_, s)| watched(s.kind));
    sites.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect()
}

pub fn marked(assay: &Assay<'_>) -> Kernel {
    let wanted = outcomes(&assay.sites);
    let module = assay.module.clone();
    marks::weave(&module, &assay.sites, &wanted).unwrap();
    let promoted = promoted::promote(&module, &assay.entry, &assay.machine).unwrap();
    let said = |(s, o): &(usize, usize)| {
        let site = &assay.sites.sites[*s];
        (site.location.as_ref().map_or(0, |l| l.line), format!("{}: {}", site.construct, site.outcomes[*o].label))
    };
    Kernel {
        program: read::read(&promoted, &assay.entry).unwrap(),
        interface: assay.interface.clone(),
        outcomes: wanted.iter().map(said).collect(),
    }
}

pub fn with_file<T>(path: &Path, entry: Option<&str>, options: &[String], f: impl FnOnce(&Assay<'_>) -> T) -> T {
    let options = KernelOptions { suite_options: options.to_vec(), ..KernelOptions::default() };
    let loaded = compile::load(path, &options, false).unwrap();
    let context = Context::create();
    let file = File::parse(&context, &loaded).unwrap();
    let entry = file.choose(entry).unwrap();
    let assay = file.assay(&entry, &loaded, &build::sources_of(path)).unwrap();
    f(&assay)
}

pub fn kernel(source: &str) -> Kernel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, source).unwrap();
    with_file(&path, None, &[], marked)
}

/// A launch of zeros.
pub fn zeros(interface: &Interface, global: u64, local: u64, elements: u64) -> Launch {
    let value = |arg: &kassay::kernel::interface::Arg| match &arg.kind {
        ArgKind::Value(ty) => ArgValue::Value(vec![0; ty.size() as usize]),
        ArgKind::Buffer { element, .. } => {
            let bytes = element.as_ref().map_or(4, |e| e.size()) * elements;
            ArgValue::Buffer(Arc::new(vec![0; bytes as usize]))
        }
        ArgKind::Local { element } => ArgValue::Local(element.as_ref().map_or(4, |e| e.size()) * elements),
        other => panic!("{other:?}"),
    };
    let range = NdRange { dims: 1, global: [global, 1, 1], local: Some([local, 1, 1]), offset: [0; 3] };
    Launch::new(range, interface.args.iter().map(value).collect())
}

/// What a search came to.
pub struct Found {
    pub open: BTreeSet<u32>,
    pub proposals: Vec<Proposal>,
    pub statistics: Statistics,
}

pub fn search(kernel: &Kernel, seed: &Launch, bounds: &[Bound], ranges: Ranges, most: usize) -> Found {
    let mut engine = Engine::new(&kernel.program, &kernel.interface, bounds, ranges);
    let mut parents = vec![seed.clone()];
    assert_eq!(engine.parent(seed), 0);
    let mut covered: BTreeMap<u32, Launch> = BTreeMap::new();
    let mut open: BTreeSet<u32> = (0..kernel.outcomes.len() as u32).collect();
    let note = |launch: &Launch, engine: &mut Engine<'_>, open: &mut BTreeSet<u32>, covered: &mut BTreeMap<_, _>| {
        let mut fresh = 0;
        for mark in engine.covered(launch) {
            if open.remove(&mark) {
                covered.insert(mark, launch.clone());
                fresh += 1;
            }
        }
        fresh
    };
    note(seed, &mut engine, &mut open, &mut covered);
    let limits = Limits { end: Some(Instant::now() + Duration::from_secs(120)), ..Limits::default() };
    let mut proposals = Vec::new();
    while !open.is_empty() && proposals.len() < most {
        let Some(proposal) = engine.next(&open, &limits) else { break };
        let launch = proposal.apply(&parents[proposal.parent]);
        assert!(open.contains(&proposal.aims_at));
        let gained = note(&launch, &mut engine, &mut open, &mut covered);
        assert!(gained > 0, "{proposal:?} covers nothing new");
        assert!(covered.contains_key(&proposal.aims_at));
        let before = parents.len();
        engine.outcome(&proposal, Some(&launch));
        if engine.parent(&launch) == before {
            parents.push(launch);
        }
        proposals.push(proposal);
    }
    Found { open, proposals, statistics: engine.statistics() }
}

impl Kernel {
    pub fn names(&self, marks: &BTreeSet<u32>) -> Vec<&(u32, String)> {
        marks.iter().map(|m| &self.outcomes[*m as usize]).collect()
    }
}

#[test]
fn timing() {
    use kassay::solve::expression::{Operation, Sort, Terms};
    use kassay::solve::query;
    for _ in 0..5 {
        let begun = Instant::now();
        let mut terms = Terms::default();
        let x = terms.symbol("x", Sort::Bits(32));
        let c = terms.constant(5, Sort::Bits(32));
        let same = terms.compare(Operation::Eq, x, c);
        query::solve(&terms, &[same], &query::Limits { rlimit: 1000000, end: None });
        eprintln!("fresh {:?}", begun.elapsed());
        let begun = Instant::now();
        query::solve(
            &terms,
            &[same],
            &query::Limits { rlimit: 1000000, end: Some(Instant::now() + Duration::from_secs(10)) },
        );
        eprintln!("with time {:?}", begun.elapsed());
    }
}
