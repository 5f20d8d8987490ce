//! Concolic execution: interprets a launch that ran with a term beside the bits of every value, and solves the branch
//! conditions that decided a work-item's path for a launch that takes another path.
//!
//! The input is symbolic: scalar arguments, buffer contents, the NDRange, and the ids of one work-item at a time. A
//! value that no term describes (atomics, mathematics, images) is the one observed in the run. A model is therefore
//! only a guess, and each resulting launch is interpreted before it is proposed. Launches that cover nothing new
//! themselves but get closer to a mark become parents of others.

mod access;
mod calls;
mod candidate;
mod domain;
mod fault_avoidance;
mod inputs;
mod instruction;
mod interpreter;
mod item;
mod local_search;
mod memory;
mod path_query;
mod product_graph;
mod proposal;
mod search;
mod trace;
mod value;
mod variables;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::time::Instant;

use kassay_base::hash::StableHasher;
use kassay_model::interface::Interface;
use kassay_suite::launch::{ArgValue, Launch};

use self::candidate::Candidate;
use self::inputs::Inputs;
pub use self::inputs::{Bound, Ranges};
use self::interpreter::Setup;
use self::product_graph::ProductGraph;
use self::proposal::Changes;
pub use self::proposal::{Element, Proposal};
use self::trace::Run;
use self::variables::Variables;
use crate::program::Program;
use crate::solve::expression::Terms;
use crate::solve::query::SharedContext;

/// Default limit on the instructions of one interpretation, over all work-items.
pub const STEPS: u64 = 2_000_000;

/// Number of proposals for a mark that may fail before the mark is given up.
const FAILURES: u32 = 5;

/// Limits of one search for a proposal.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// When it has to end; `None`: never.
    pub end: Option<Instant>,
    /// Instructions of one interpretation.
    pub steps: u64,
    /// Z3's measure of work for one query.
    pub rlimit: u32,
    /// Conditions that may be flipped.
    pub attempts: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { end: None, steps: STEPS, rlimit: 2_000_000, attempts: 400 }
    }
}

impl Limits {
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// Counters of the work done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Launches interpreted on bits.
    pub runs: u64,
    /// Work-items interpreted on terms.
    pub traces: u64,
    /// Steps of runs along which the product graph has no edge: 0 unless the graph is wrong.
    pub graph_misses: u64,
    /// Conditions that were flipped.
    pub attempts: u64,
    /// Answers of the solver.
    pub satisfiable: u64,
    /// Queries that no assignment fulfils.
    pub unsatisfiable: u64,
    /// Queries that the solver gave up.
    pub undecided: u64,
    /// Values found by local search, without the solver.
    pub found_locally: u64,
    /// Models whose launch took another path than was solved for.
    pub diverged: u64,
    /// Launches that took the intended path and then faulted, which repair was attempted on.
    pub repaired: u64,
    /// Launches that were proposed.
    pub proposals: u64,
    /// Proposals that had the expected effect, and those that did not.
    pub confirmed: u64,
    /// Proposals that did not have the expected effect.
    pub refuted: u64,
}

/// A launch from which others may be derived.
struct Node {
    launch: Launch,
    local: [u64; 3],
    /// The caller's launch that it is derived from, and all changes since.
    root: usize,
    changes: Changes,
    run: Run,
    /// Classes of work-items that are not traced yet, as positions in the run.
    untraced: Vec<usize>,
    /// How often classes of this launch were traced.
    rounds: u32,
    /// It did not have the expected effect.
    refuted: bool,
}

/// Finds launches that cover marks, starting from launches that ran.
pub struct Engine<'p> {
    program: &'p Program,
    inputs: Inputs,
    required: Option<[u64; 3]>,
    terms: Terms,
    shared: SharedContext,
    variables: Variables,
    graph: ProductGraph,
    nodes: Vec<Node>,
    /// The caller's launches, as positions in `nodes`.
    parents: Vec<usize>,
    candidates: Vec<Candidate>,
    /// How often each edge of the product graph, and of the control-flow graph, was solved for.
    tried: HashMap<(u32, u32), u32>,
    tried_of_block: HashMap<(u32, u32), u32>,
    /// Hashes of the steps that were solved for; each includes the path to the step.
    solved: HashSet<u64>,
    /// How often work-items of a path were traced, by the path's hash.
    traced: HashMap<u64, u32>,
    /// Hashes of the known launches, and whether each runs to its end.
    launches: HashMap<u64, bool>,
    /// Edges of the product graph that some launch took.
    taken_edges: HashSet<u32>,
    failures: BTreeMap<u32, u32>,
    /// The marks last searched for, and the distance of each state to the nearest of them.
    wanted: (BTreeSet<u32>, Vec<u32>),
    statistics: Statistics,
    steps: u64,
    end: Option<Instant>,
}

impl<'p> Engine<'p> {
    /// Creates an engine for a kernel with marks. `bounds` and `ranges` limit what may change in a launch.
    pub fn new(program: &'p Program, interface: &Interface, bounds: &[Bound], ranges: Ranges) -> Engine<'p> {
        Engine {
            program,
            inputs: Inputs::new(program, interface, bounds, ranges),
            required: interface.required_local,
            terms: Terms::default(),
            shared: SharedContext::new(),
            variables: Variables::default(),
            graph: ProductGraph::of(program),
            nodes: Vec::new(),
            parents: Vec::new(),
            candidates: Vec::new(),
            tried: HashMap::new(),
            tried_of_block: HashMap::new(),
            solved: HashSet::new(),
            traced: HashMap::new(),
            launches: HashMap::new(),
            taken_edges: HashSet::new(),
            failures: BTreeMap::new(),
            wanted: (BTreeSet::new(), Vec::new()),
            statistics: Statistics::default(),
            steps: STEPS,
            end: None,
        }
    }

    /// Same for launches that may fault: accesses out of bounds are skipped, and reads give 0.
    #[must_use]
    pub fn allowing_faults(mut self) -> Engine<'p> {
        self.inputs.allows_faults = true;
        self
    }

    /// Sets the limits of interpretations from now on.
    pub fn limit(&mut self, limits: &Limits) {
        self.steps = limits.steps;
        self.end = limits.end;
    }

    /// Adds a launch that ran, and returns its number. The marks that it covers do not affect the search: the caller
    /// says which marks are wanted.
    pub fn parent(&mut self, launch: &Launch) -> usize {
        let number = self.parents.len();
        self.parents.push(self.nodes.len());
        self.launches.insert(hash_of(launch), true);
        let run = self.interpret(launch, None, [[0; 3]; 2], self.end);
        self.add(launch.clone(), number, Changes::default(), run);
        number
    }

    /// Returns the next launch to run for one of the wanted marks. `None` if no more are found within the limits.
    pub fn next(&mut self, wanted: &BTreeSet<u32>, limits: &Limits) -> Option<Proposal> {
        let given_up = |mark: &u32| self.failures.get(mark).is_some_and(|n| *n >= FAILURES);
        let wanted: BTreeSet<u32> = wanted.iter().copied().filter(|mark| !given_up(mark)).collect();
        self.search(&wanted, limits)
    }

    /// Reports the result of a proposal: the launch that was run if it covered the intended mark, otherwise `None`.
    pub fn outcome(&mut self, proposal: &Proposal, launched: Option<&Launch>) {
        match launched {
            Some(launch) => {
                self.statistics.confirmed += 1;
                if self.nodes.get(proposal.node).is_none_or(|n| n.launch != *launch) {
                    self.parent(launch);
                }
            }
            None => {
                self.statistics.refuted += 1;
                *self.failures.entry(proposal.aims_at).or_insert(0) += 1;
                if let Some(node) = self.nodes.get_mut(proposal.node) {
                    node.refuted = true;
                }
                self.candidates.retain(|c| c.node != proposal.node);
            }
        }
    }

    /// Number of parents: the caller's launches, and launches that ran in the place of the proposed ones.
    pub fn parents(&self) -> usize {
        self.parents.len()
    }

    /// Counters of the work done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Returns the marks that a launch covers according to its interpretation.
    pub fn covered(&mut self, launch: &Launch) -> BTreeSet<u32> {
        self.interpret(launch, None, [[0; 3]; 2], None).marks
    }

    fn local(&self, launch: &Launch) -> [u64; 3] {
        launch.range.local_or_default(self.required, self.inputs.ranges.max_group)
    }

    /// `focus`: see [`Setup::focus`].
    fn interpret(&mut self, launch: &Launch, expected: Option<u64>, focus: [[u64; 3]; 2], end: Option<Instant>) -> Run {
        self.statistics.runs += 1;
        let local = self.local(launch);
        let (program, graph, inputs, steps) = (self.program, &self.graph, &self.inputs, self.steps);
        let setup = Setup { program, graph, inputs, launch, local, steps, end, expected, focus };
        let run = interpreter::run(setup);
        self.statistics.graph_misses += run.graph_misses;
        run
    }

    fn add(&mut self, launch: Launch, root: usize, changes: Changes, run: Run) -> usize {
        self.taken_edges.extend(&run.edges);
        let local = self.local(&launch);
        let untraced = (0..run.classes.len()).collect();
        self.nodes.push(Node { launch, local, root, changes, run, untraced, rounds: 0, refuted: false });
        self.nodes.len() - 1
    }
}

/// Hash that identifies a launch.
fn hash_of(launch: &Launch) -> u64 {
    let mut hasher = StableHasher::new();
    let range = &launch.range;
    (range.dims, range.global, range.local, range.offset).hash(&mut hasher);
    launch.views.hash(&mut hasher);
    for value in &launch.args {
        match value {
            ArgValue::Value(bytes) => bytes.hash(&mut hasher),
            ArgValue::Buffer(bytes) | ArgValue::Image { texels: bytes, .. } => bytes.hash(&mut hasher),
            ArgValue::Local(bytes) => bytes.hash(&mut hasher),
            ArgValue::Same(other) => other.hash(&mut hasher),
            ArgValue::Sampler { .. } => {}
        }
    }
    hasher.finish()
}
