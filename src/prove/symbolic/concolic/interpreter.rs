//! The interpreter: executes a launch on bits, or a work-item of it on terms, and observes the paths.

use std::collections::HashSet;
use std::time::Instant;

use kassay_suite::launch::{ArgValue, Launch};

use super::inputs::Inputs;
use super::item::{Item, ItemData, Mode, START};
use super::memory::{self, Initial, MemoryBlock};
use super::product_graph::ProductGraph;
use super::trace::{Class, PathStep, Run, Trace};
use crate::program::machine::ndrange::{self, Ids, MANY_ITEMS};
use crate::program::machine::{self, Limits, Machine};
use crate::program::{Instruction, Op, Program, ValueId, arithmetic, signed};
use crate::solve::expression::{Operation, Term, Terms};

/// In launches of more than [`MANY_ITEMS`] work-items, only the first and last two groups of each dimension and the
/// group of interest are interpreted. In groups of more work-items than this without barriers, the same applies to
/// work-items.
const MANY_OF_GROUP: u64 = 1024;

/// A launch to interpret, with limits.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub program: &'a Program,
    pub graph: &'a ProductGraph,
    pub inputs: &'a Inputs,
    pub launch: &'a Launch,
    /// The work-group size.
    pub local: [u64; 3],
    /// Limit on the instructions of all work-items.
    pub steps: u64,
    pub end: Option<Instant>,
    /// Hash of a path that some work-item is expected to take.
    pub expected: Option<u64>,
    /// Group id and local id of a work-item of interest; in large launches, others may be left out.
    pub focus: [[u64; 3]; 2],
}

/// The state of an interpretation.
pub struct Interpreter<'a> {
    pub setup: Setup<'a>,
    /// Whether work-items are traced on terms.
    pub is_symbolic: bool,
    pub terms: &'a mut Terms,
    /// Scratch space for terms of constants.
    pub scratch: Terms,
    /// By region: arguments, then variables.
    pub memory_blocks: Vec<MemoryBlock>,
    pub run: Run,
    /// Number of terms before the first one of this interpretation.
    pub first_term: usize,
    /// By edge of the product graph: it was taken.
    pub taken: Vec<bool>,
    /// By state: the last work-item that was in it.
    last_visitor: Vec<u64>,
    /// Number of work-items so far.
    items: u64,
    hashes: HashSet<u64>,
}

/// Returns the hash of a path that is extended by an edge.
pub fn extended_hash(before: u64, block: u32, successor: u32) -> u64 {
    let step = u64::from(block) << 16 | u64::from(successor);
    (before.rotate_left(5) ^ step).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Interprets a launch on bits.
pub fn run(setup: Setup<'_>) -> Run {
    let mut unused = Terms::default();
    let mut machine = machine_for(setup, &mut unused, false);
    run_groups(&mut machine);
    machine.domain.finish()
}

/// Interprets a work-item on terms, with those that it synchronises with.
pub fn trace(setup: Setup<'_>, terms: &mut Terms, class: &Class) -> Trace {
    trace_subject(&mut machine_for(setup, terms, true), class)
}

fn machine_for<'a>(setup: Setup<'a>, terms: &'a mut Terms, is_symbolic: bool) -> Machine<'a, Interpreter<'a>> {
    let limits = Limits { steps: setup.steps, end: setup.end };
    Machine::new(setup.program, Interpreter::new(setup, terms, is_symbolic), limits)
}

fn run_groups(machine: &mut Machine<'_, Interpreter<'_>>) {
    let setup = machine.domain.setup;
    let counts = setup.launch.range.with_local(setup.local).group_counts();
    let is_large = setup.launch.range.items() > MANY_ITEMS;
    let groups = ids_near(counts, setup.focus[0], is_large);
    for group in ndrange::combinations(&groups) {
        if machine.domain.run.exhausted || machine.domain.run.faulty {
            return;
        }
        let mut items = machine.domain.items(group);
        machine.group(&mut items);
        for item in items.iter().filter(|i| i.steps > 0) {
            machine.domain.classify(item);
        }
    }
}

/// Interprets a work-item with symbolic ids, together with its group if work-items synchronise.
fn trace_subject(machine: &mut Machine<'_, Interpreter<'_>>, class: &Class) -> Trace {
    let setup = machine.domain.setup;
    let mut items = if setup.inputs.synchronises { machine.domain.items(class.group) } else { Vec::new() };
    if items.is_empty() {
        items = vec![Item::new(class.group, class.local, machine.domain.data(Mode::Concrete))];
    }
    let ids: Vec<[u64; 3]> = items.iter().map(|i| i.local_id).collect();
    let subject = ids.iter().position(|id| *id == class.local).unwrap_or(0);
    let (ids, subject) = select_items(ids, subject, machine::capacity(setup.program));
    items.clear();
    for (number, local) in ids.into_iter().enumerate() {
        let mode = if number == subject { Mode::Full } else { Mode::Data };
        let mut data = machine.domain.data(mode);
        data.number = number as u32;
        items.push(Item::new(class.group, local, data));
    }
    machine.group(&mut items);
    let mut found = Trace { subject, group: class.group, local: class.local, ..Trace::default() };
    // A fault of the subject itself comes first; other faults may be consequences.
    let faults = items.iter().enumerate().filter_map(|(i, item)| Some((i, item.own.fault?)));
    found.fault = faults.min_by_key(|(i, _)| *i != subject);
    for item in items {
        found.paths.push(item.own.path);
        found.prefix_hashes.push(item.own.prefix_hashes);
        found.states.push(item.own.states);
        found.chosen.push(item.own.chosen);
    }
    found
}

/// Selects as many work-items as there is room for, the subject among them.
fn select_items(mut ids: Vec<[u64; 3]>, subject: usize, capacity: usize) -> (Vec<[u64; 3]>, usize) {
    if ids.len() <= capacity {
        return (ids, subject);
    }
    let first = subject.min(ids.len() - capacity);
    ids.drain(..first);
    ids.truncate(capacity);
    (ids, subject - first)
}

/// Returns all ids, or if there are too many, those at the ends of each dimension and those of interest.
fn ids_near(counts: [u64; 3], focus: [u64; 3], is_large: bool) -> Ids {
    match is_large {
        true => [0, 1, 2].map(|d| ndrange::boundary_ids(counts[d], 2, Some(focus[d]))),
        false => ndrange::all_ids(counts),
    }
}

impl<'a> Interpreter<'a> {
    fn new(setup: Setup<'a>, terms: &'a mut Terms, is_symbolic: bool) -> Interpreter<'a> {
        let program = setup.program;
        let blocks = setup.launch.args.iter().enumerate().map(|(position, value)| match value {
            ArgValue::Buffer(bytes) if setup.inputs.args.get(position).is_some_and(|i| i.is_free) => {
                MemoryBlock::buffer(bytes.clone(), Initial::Input(position))
            }
            ArgValue::Buffer(bytes) => MemoryBlock::buffer(bytes.clone(), Initial::Known),
            ArgValue::Local(bytes) => MemoryBlock::local((*bytes).min(memory::MAX_BUFFER_BYTES)),
            ArgValue::Value(bytes) => MemoryBlock::fixed(bytes.clone()),
            ArgValue::Same(_) | ArgValue::Image { .. } | ArgValue::Sampler { .. } => MemoryBlock::fixed(Vec::new()),
        });
        let mut blocks: Vec<MemoryBlock> = blocks.collect();
        blocks.resize_with(program.params.len(), || MemoryBlock::fixed(Vec::new()));
        blocks.extend(program.variables.iter().map(|v| {
            let mut bytes = v.initial.clone();
            bytes.resize(v.bytes.min(memory::MAX_BUFFER_BYTES) as usize, 0);
            MemoryBlock::fixed(bytes)
        }));
        Interpreter {
            setup,
            is_symbolic,
            first_term: terms.len(),
            terms,
            scratch: Terms::default(),
            memory_blocks: blocks,
            run: Run::default(),
            taken: vec![false; setup.graph.edge_count() as usize],
            last_visitor: vec![0; setup.graph.len()],
            items: 0,
            hashes: HashSet::new(),
        }
    }

    fn finish(mut self) -> Run {
        self.run.edges = (0u32..).zip(&self.taken).filter(|(_, taken)| **taken).map(|(edge, _)| edge).collect();
        let args = self.setup.launch.args.len();
        self.run.access_ends = self.memory_blocks[..args].iter().map(|b| b.access_end).collect();
        self.run
    }

    fn classify(&mut self, item: &Item) {
        if self.hashes.insert(item.own.hash) {
            let mut states = item.own.visited.clone();
            states.sort_unstable();
            states.dedup();
            self.run.classes.push(Class { hash: item.own.hash, group: item.group_id, local: item.local_id, states });
        }
    }

    /// Creates the work-items of a group in their initial state, and resets local memory.
    fn items(&mut self, group: [u64; 3]) -> Vec<Item> {
        let program = self.setup.program;
        for (i, variable) in program.variables.iter().enumerate() {
            if variable.is_local {
                self.memory_blocks[program.params.len() + i].reset();
            }
        }
        for (i, value) in self.setup.launch.args.iter().enumerate() {
            if matches!(value, ArgValue::Local(_)) {
                self.memory_blocks[i].reset();
            }
        }
        let range = self.setup.launch.range.with_local(self.setup.local);
        let is_large = !self.setup.inputs.synchronises && range.group_items() > MANY_OF_GROUP;
        let ids = ids_near(range.local, self.setup.focus[1], is_large);
        ndrange::items(&range, group, &ids, |_| self.data(Mode::Concrete))
    }

    /// Creates what is kept of another work-item.
    fn data(&mut self, mode: Mode) -> ItemData {
        self.items += 1;
        ItemData::new(mode, 0, self.items)
    }

    /// Records that a work-item faults.
    pub fn fault(&mut self, item: &Item) {
        if self.setup.inputs.allows_faults {
            return;
        }
        self.run.faulty = true;
        self.run.faulting_item.get_or_insert((item.group_id, item.local_id));
    }

    /// Appends the condition for the absence of a fault to the path; `holds`: whether it holds in this run.
    pub fn require_no_fault(&mut self, item: &mut Item, condition: Term, holds: bool) {
        if item.own.mode == Mode::Concrete {
            return;
        }
        if !holds {
            item.own.fault.get_or_insert(item.own.path.len());
        }
        item.own.step(PathStep::NoFault(condition));
    }

    /// Determines the work-item's state in the product graph at the end of its block.
    pub(super) fn locate(&mut self, item: &mut Item) {
        let graph = self.setup.graph;
        let among = match item.own.graph_state {
            START => graph.start(),
            before => graph.next(before, item.own.successor_taken),
        };
        let state =
            graph.locate(among, item.block, |value| item.values[value as usize].first().bits).unwrap_or_else(|other| {
                self.run.graph_misses += 1;
                other
            });
        item.own.graph_state = state;
        if std::mem::replace(&mut self.last_visitor[state as usize], item.own.serial) != item.own.serial {
            item.own.visited.push(state);
        }
    }

    /// Notes the symbolic conditions that determined the current state, for the next step.
    pub(super) fn note_choices(&mut self, item: &mut Item) {
        let mut chosen = Vec::new();
        for (value, bits) in self.setup.graph.known(item.own.graph_state) {
            if let Some(term) = item.values[value as usize].first().term {
                let bits = self.terms.constant(bits, self.terms.sort(term));
                chosen.push(self.terms.compare(Operation::Eq, term, bits));
            }
        }
        if !chosen.is_empty() {
            item.own.chosen.insert(item.own.path.len(), chosen);
        }
    }

    /// Notes how far a comparison is from taking the other successor.
    pub(super) fn note_gap(&mut self, item: &Item, condition: ValueId, other: u32) {
        let program = self.setup.program;
        let Some(Instruction { op: Op::Compare(_), operands, .. }) = program.instruction(condition) else { return };
        let [left, right] = [0, 1].map(|i| item.values[operands[i] as usize].first().bits);
        let width = arithmetic::width(program.shape(operands[0]).kind);
        let (left, right) = (signed(left, width), signed(right, width));
        let gap = self.run.gaps.entry((item.own.graph_state, other)).or_insert(u64::MAX);
        *gap = (*gap).min(left.abs_diff(right));
    }
}
