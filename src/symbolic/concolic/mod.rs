//! Concolic execution: a launch that ran is interpreted with every value as a term beside its bits; the conditions that decided
//! which way a work-item went are solved for another way.
//!
//! Inputs are symbols: scalars of arguments, contents of buffers, the NDRange, and the ids of one work-item at a time. What no
//! term says (atomics, mathematics, images) has the value that it has in the run. So a model is a guess, and each is interpreted
//! before it is proposed; launches that lead nowhere new by themselves, but nearer, are parents of others.

mod access;
mod calls;
mod fault_avoidance;
mod inputs;
mod instruction;
mod item;
mod local_search;
mod machine;
mod memory;
mod path_query;
mod product_graph;
mod proposal;
mod search;
mod trace;
mod value;
mod variables;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

pub use self::inputs::{Bound, Ranges};
pub use self::proposal::{Element, Proposal};

use self::inputs::Inputs;
use self::machine::Setup;
use self::product_graph::States;
use self::proposal::Changes;
use self::search::Candidate;
use self::trace::Run;
use self::variables::Variables;
use crate::kernel::interface::Interface;
use crate::program::Program;
use crate::solve::expression::Terms;
use crate::solve::query::SharedContext;
use crate::suite::launch::{ArgValue, Launch};

/// Instructions of one interpretation, of all work-items, unless the caller says otherwise.
pub const STEPS: u64 = 2_000_000;

/// A mark is given up after so many proposals for it that did not do what was expected.
const FAILURES: u32 = 5;

/// How far one search for a proposal may go.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub end: Option<Instant>,
    /// Instructions of one interpretation.
    pub steps: u64,
    /// Z3's measure of work, for one question.
    pub rlimit: u32,
    /// Conditions that are flipped.
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

/// What was done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Launches interpreted as they are, and work-items interpreted on terms.
    pub runs: u64,
    pub traces: u64,
    /// Steps of runs to where the graph of states does not lead: none, unless that is wrong.
    pub strays: u64,
    /// Conditions that were flipped.
    pub attempts: u64,
    /// Answers of the solver.
    pub satisfiable: u64,
    pub unsatisfiable: u64,
    pub undecided: u64,
    /// Values that were found without it.
    pub climbed: u64,
    /// Models whose launch went another way than was solved for.
    pub astray: u64,
    /// Launches that went there and did what no kernel may, which was to be put right.
    pub repaired: u64,
    pub proposals: u64,
    /// Proposals that did what was expected, and those that did not.
    pub confirmed: u64,
    pub refuted: u64,
}

/// A launch that others may be made from.
struct Node {
    launch: Launch,
    local: [u64; 3],
    /// The parent that the caller gave, and what was changed of it since.
    root: usize,
    changes: Changes,
    run: Run,
    /// Classes of work-items that are not traced yet, by position in the run.
    untraced: Vec<usize>,
    /// How often classes of it were traced.
    rounds: u32,
    /// It did not do what was expected of it.
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
    states: States,
    nodes: Vec<Node>,
    /// The parents that the caller gave, as positions among the nodes.
    parents: Vec<usize>,
    candidates: Vec<Candidate>,
    /// How often each way out of a state, and out of a block, was solved for.
    tried: HashMap<(u32, u32), u32>,
    tried_of_block: HashMap<(u32, u32), u32>,
    /// Steps that were solved for, by their paths.
    done: HashSet<u64>,
    /// How often work-items of a path were traced.
    traced: HashMap<u64, u32>,
    /// Launches that are known, and whether they come to their end.
    launches: HashMap<u64, bool>,
    /// Ways out of states that some launch took.
    ways: HashSet<u32>,
    failures: BTreeMap<u32, u32>,
    /// What was aimed at last, and how far states are from it.
    aim: (BTreeSet<u32>, Vec<u32>),
    statistics: Statistics,
    steps: u64,
    end: Option<Instant>,
}

impl<'p> Engine<'p> {
    /// For a kernel with marks. `bounds` and `ranges` say what launches may be changed to.
    pub fn new(program: &'p Program, interface: &Interface, bounds: &[Bound], ranges: Ranges) -> Engine<'p> {
        Engine {
            program,
            inputs: Inputs::new(program, interface, bounds, ranges),
            required: interface.required_local,
            terms: Terms::default(),
            shared: SharedContext::new(),
            variables: Variables::default(),
            states: States::of(program),
            nodes: Vec::new(),
            parents: Vec::new(),
            candidates: Vec::new(),
            tried: HashMap::new(),
            tried_of_block: HashMap::new(),
            done: HashSet::new(),
            traced: HashMap::new(),
            launches: HashMap::new(),
            ways: HashSet::new(),
            failures: BTreeMap::new(),
            aim: (BTreeSet::new(), Vec::new()),
            statistics: Statistics::default(),
            steps: STEPS,
            end: None,
        }
    }

    /// The same for launches that may fault: what they access out of bounds is skipped, and reads give 0.
    #[must_use]
    pub fn allowing_faults(mut self) -> Engine<'p> {
        self.inputs.allows_faults = true;
        self
    }

    /// How far interpretations go from now on.
    pub fn limit(&mut self, limits: &Limits) {
        self.steps = limits.steps;
        self.end = limits.end;
    }

    /// Adds a launch that ran, and gives its number. Marks that it covers are no aim by themselves: the caller says what is
    /// wanted.
    pub fn parent(&mut self, launch: &Launch) -> usize {
        let number = self.parents.len();
        self.parents.push(self.nodes.len());
        self.launches.insert(hash_of(launch), true);
        let run = self.interpret(launch, None, [[0; 3]; 2], self.end);
        self.add(launch.clone(), number, Changes::default(), run);
        number
    }

    /// The next launch to run for one of the wanted marks. `None` if no more is found within the limits.
    pub fn next(&mut self, wanted: &BTreeSet<u32>, limits: &Limits) -> Option<Proposal> {
        let given_up = |mark: &u32| self.failures.get(mark).is_some_and(|n| *n >= FAILURES);
        let wanted: BTreeSet<u32> = wanted.iter().copied().filter(|mark| !given_up(mark)).collect();
        self.search(&wanted, limits)
    }

    /// What came of a proposal: the launch that was run and covered what was wanted, if it did.
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

    /// How many parents there are: those that the caller gave, and launches that did something else than was foreseen.
    pub fn parents(&self) -> usize {
        self.parents.len()
    }

    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The marks that a launch covers, as far as its interpretation tells.
    pub fn covered(&mut self, launch: &Launch) -> BTreeSet<u32> {
        self.interpret(launch, None, [[0; 3]; 2], None).marks
    }

    fn local(&self, launch: &Launch) -> [u64; 3] {
        launch.range.local_or_default(self.required, self.inputs.ranges.max_group)
    }

    /// `whose`: see [`Setup::whose`].
    fn interpret(&mut self, launch: &Launch, expected: Option<u64>, whose: [[u64; 3]; 2], end: Option<Instant>) -> Run {
        self.statistics.runs += 1;
        let local = self.local(launch);
        let (program, states, inputs, steps) = (self.program, &self.states, &self.inputs, self.steps);
        let setup = Setup { program, states, inputs, launch, local, steps, end, expected, whose };
        let run = machine::run(setup);
        self.statistics.strays += run.strays;
        run
    }

    fn add(&mut self, launch: Launch, root: usize, changes: Changes, run: Run) -> usize {
        self.ways.extend(&run.ways);
        let local = self.local(&launch);
        let untraced = (0..run.classes.len()).collect();
        self.nodes.push(Node { launch, local, root, changes, run, untraced, rounds: 0, refuted: false });
        self.nodes.len() - 1
    }
}

/// A number that stands for a launch.
fn hash_of(launch: &Launch) -> u64 {
    let mut hasher = DefaultHasher::new();
    let range = &launch.range;
    (range.dims, range.global, range.local, range.offset).hash(&mut hasher);
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
