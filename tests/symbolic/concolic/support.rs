//! Reads kernels with marks, makes launches of zeros, and searches by running proposals.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_ir::instrument::marks;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_model::interface::{ArgKind, Interface};
use kassay_prove::program::{Program, promoted, reader};
use kassay_prove::symbolic::concolic::{Bound, Engine, Limits, Proposal, Ranges, Statistics};
use kassay_suite::launch::{ArgValue, Launch};

use crate::common::kernels::with_source;
use crate::common::launches::line;

/// A kernel, read with marks for its branches' outcomes.
pub struct Kernel {
    pub program: Program,
    pub interface: Interface,
    /// By mark: the line of the branch, and the outcome.
    pub outcomes: Vec<(u32, String)>,
}

/// Returns the outcomes of branches and conditions, as positions of site and outcome.
pub fn outcomes(sites: &Sites) -> Vec<(usize, usize)> {
    let watched = |kind| matches!(kind, SiteKind::Branch | SiteKind::Condition);
    let sites = sites.sites.iter().enumerate().filter(|(_, s)| watched(s.kind));
    sites.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect()
}

pub fn marked(under_test: &KernelUnderTest<'_>) -> Kernel {
    let wanted = outcomes(&under_test.sites);
    let module = under_test.module.clone();
    marks::weave(&module, &under_test.sites, &wanted).unwrap();
    let promoted = promoted::promote(&module, &under_test.entry, &under_test.machine).unwrap();
    let outcome = |(s, o): &(usize, usize)| {
        let site = &under_test.sites.sites[*s];
        (site.location.as_ref().map_or(0, |l| l.line), format!("{}: {}", site.construct, site.outcomes[*o].label))
    };
    Kernel {
        program: reader::read(&promoted, &under_test.entry).unwrap(),
        interface: under_test.interface.clone(),
        outcomes: wanted.iter().map(outcome).collect(),
    }
}

pub fn kernel(source: &str) -> Kernel {
    with_source(source, marked)
}

/// Returns a launch of zeros.
pub fn zeros(interface: &Interface, global: u64, local: u64, elements: u64) -> Launch {
    let value = |arg: &kassay_model::interface::Arg| match &arg.kind {
        ArgKind::Value(ty) => ArgValue::Value(vec![0; ty.size() as usize]),
        ArgKind::Buffer { element, .. } => {
            let bytes = element.as_ref().map_or(4, |e| e.size()) * elements;
            ArgValue::Buffer(Arc::new(vec![0; bytes as usize]))
        }
        ArgKind::Local { element } => ArgValue::Local(element.as_ref().map_or(4, |e| e.size()) * elements),
        other => panic!("{other:?}"),
    };
    Launch::new(line(global, local), interface.args.iter().map(value).collect())
}

/// The result of a search.
pub struct SearchResult {
    pub open: BTreeSet<u32>,
    /// The proposals, and the launches that they yield.
    pub proposals: Vec<Proposal>,
    pub launches: Vec<Launch>,
    pub statistics: Statistics,
}

/// Searches from one launch; every proposal has to cover its goal when it is interpreted.
pub fn search(kernel: &Kernel, seed: &Launch, bounds: &[Bound], ranges: Ranges, most: usize) -> SearchResult {
    let mut engine = Engine::new(&kernel.program, &kernel.interface, bounds, ranges);
    assert_eq!(engine.parent(seed), 0);
    let mut open: BTreeSet<u32> = (0..kernel.outcomes.len() as u32).collect();
    let covered = engine.covered(seed);
    open.retain(|mark| !covered.contains(mark));
    let limits = Limits { end: Some(Instant::now() + Duration::from_secs(120)), ..Limits::default() };
    let mut found = SearchResult { open, launches: Vec::new(), proposals: Vec::new(), statistics: engine.statistics() };
    while !found.open.is_empty() && found.proposals.len() < most {
        let Some(proposal) = engine.next(&found.open, &limits) else { break };
        let launch = proposal.apply(seed);
        let covered = engine.covered(&launch);
        assert!(found.open.contains(&proposal.aims_at) && covered.contains(&proposal.aims_at), "{proposal:?}");
        found.open.retain(|mark| !covered.contains(mark));
        engine.outcome(&proposal, Some(&launch));
        found.launches.push(launch);
        found.proposals.push(proposal);
    }
    found.statistics = engine.statistics();
    assert_eq!(found.statistics.graph_misses, 0);
    found
}

impl Kernel {
    pub fn names(&self, marks: &BTreeSet<u32>) -> Vec<&(u32, String)> {
        marks.iter().map(|m| &self.outcomes[*m as usize]).collect()
    }
}
