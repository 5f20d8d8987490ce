//! The interpreter: runs work-groups one after the other, and within a group the work-items in turn between barriers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Instant;

use super::inputs::{self, Inputs};
use super::item::{Item, Mode, START, State};
use super::memory::{self, Initial, MemoryBlock};
use super::product_graph::ProductGraph;
use super::trace::{Class, PathStep, Run, Trace};
use super::value::{self, Lane, Value};
use crate::program::{Definition, End, Instruction, Kind, Op, Program};
use crate::solve::expression::{Operation, Sort, Term, Terms};
use crate::suite::launch::{ArgValue, Launch};

/// In launches of more than `MANY_ITEMS` work-items, only the first and last two groups of each dimension and the
/// group of interest are interpreted. In groups of more than `MANY_OF_GROUP` work-items without barriers, the same
/// applies to work-items.
const MANY_ITEMS: u64 = 4096;
const MANY_OF_GROUP: u64 = 1024;
/// Steps between two looks at the clock.
const CLOCK: u64 = 1 << 14;
/// Largest number of steps of a path; a longer one is abandoned.
const LONGEST_PATH: usize = 20_000;
/// Largest number of terms of a trace; with more, it is abandoned.
const MAX_TERMS: usize = 400_000;

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

/// Largest number of values, over all work-items of a group, that are kept at a time. Work-items beyond that are
/// left out.
const MAX_VALUES: usize = 1 << 22;

/// The state of an interpretation.
pub struct Machine<'a> {
    pub setup: Setup<'a>,
    pub terms: &'a mut Terms,
    /// Scratch space for terms of constants.
    pub scratch: Terms,
    /// By region: arguments, then variables.
    pub memory_blocks: Vec<MemoryBlock>,
    pub run: Run,
    steps: u64,
    first_term: usize,
    /// Initial values of constants, variables and arguments: with concrete and with symbolic arguments.
    initial_values: [Vec<Value>; 2],
    spare: Vec<Vec<Value>>,
    /// By edge of the product graph: it was taken.
    taken: Vec<bool>,
    /// By state: the last work-item that was in it.
    last_visitor: Vec<u64>,
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
    let mut machine = Machine::new(setup, &mut unused);
    machine.groups();
    machine.finish()
}

/// Interprets a work-item on terms, with those that it synchronises with.
pub fn trace(setup: Setup<'_>, terms: &mut Terms, class: &Class) -> Trace {
    Machine::new(setup, terms).trace_subject(class)
}

impl<'a> Machine<'a> {
    fn new(setup: Setup<'a>, terms: &'a mut Terms) -> Machine<'a> {
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
        let first_term = terms.len();
        let mut machine = Machine {
            setup,
            terms,
            scratch: Terms::default(),
            memory_blocks: blocks,
            run: Run::default(),
            steps: 0,
            first_term,
            initial_values: [Vec::new(), Vec::new()],
            spare: Vec::new(),
            taken: vec![false; setup.graph.edge_count() as usize],
            last_visitor: vec![0; setup.graph.len()],
            items: 0,
            hashes: HashSet::new(),
        };
        machine.initial_values = [machine.constants(false), Vec::new()];
        machine
    }

    fn constants(&mut self, symbolic: bool) -> Vec<Value> {
        let program = self.setup.program;
        let params = program.params.len() as u64;
        let mut values = Vec::with_capacity(program.values.len());
        for (id, definition) in program.values.iter().enumerate() {
            let shape = program.shapes[id];
            values.push(match definition {
                Definition::Constant(lanes) => Value::of_bits(lanes.iter().copied(), shape),
                Definition::Variable(index, offset) => Value::known(memory::pointer(params + *index as u64, *offset)),
                Definition::Param(position) => self.param(*position as usize, shape, symbolic),
                Definition::Inst { .. } => Value::of(Vec::new(), shape),
            });
        }
        values
    }

    fn param(&mut self, position: usize, shape: crate::program::Shape, symbolic: bool) -> Value {
        let setup = self.setup;
        match setup.launch.args.get(position) {
            Some(ArgValue::Value(bytes)) if setup.program.by_value[position].is_none() => {
                let size = shape.lane_bytes().max(1) as usize;
                let is_free = symbolic && setup.inputs.args.get(position).is_some_and(|i| i.is_free);
                let mut lanes = Vec::new();
                for (offset, chunk) in (0u64..).step_by(size).zip(bytes.chunks(size)) {
                    let bits = value::from_bytes(chunk, shape.kind);
                    let term = (is_free && shape.kind != Kind::Other).then(|| {
                        let symbol = inputs::scalar_symbol(position, offset);
                        let stored = self.terms.symbol(symbol, Sort::Bits(8 * size as u32));
                        value::loaded(self.terms, stored, shape.kind)
                    });
                    lanes.push(Lane { bits, term });
                }
                Value::of(lanes, shape)
            }
            Some(ArgValue::Buffer(bytes)) if bytes.is_empty() => Value::known(0),
            Some(ArgValue::Same(other)) => self.param(*other as usize, shape, symbolic),
            Some(ArgValue::Value(_) | ArgValue::Buffer(_) | ArgValue::Local(_)) => {
                Value::known(memory::pointer(position as u64, 0))
            }
            _ => Value::of(Vec::new(), shape),
        }
    }

    fn finish(mut self) -> Run {
        self.run.edges = (0u32..).zip(&self.taken).filter(|(_, taken)| **taken).map(|(edge, _)| edge).collect();
        let args = self.setup.launch.args.len();
        self.run.access_ends = self.memory_blocks[..args].iter().map(|b| b.access_end).collect();
        self.run
    }

    fn groups(&mut self) {
        let (range, local) = (&self.setup.launch.range, self.setup.local);
        let count = range.with_local(local).group_counts();
        let is_large = range.items() > MANY_ITEMS;
        let ids = |d: usize| match is_large {
            true => boundary_ids(count[d], self.setup.focus[0][d]),
            false => (0..count[d]).collect(),
        };
        let ids = [0, 1, 2].map(ids);
        for &z in &ids[2] {
            for &y in &ids[1] {
                for &x in &ids[0] {
                    if self.run.exhausted || self.run.faulty {
                        return;
                    }
                    let mut items = self.items([x, y, z]);
                    self.group(&mut items);
                    for item in items.iter().filter(|i| i.steps > 0) {
                        self.classify(item);
                    }
                }
            }
        }
    }

    fn classify(&mut self, item: &Item) {
        if self.hashes.insert(item.hash) {
            let mut states = item.visited.clone();
            states.sort_unstable();
            states.dedup();
            self.run.classes.push(Class { hash: item.hash, group: item.group_id, local: item.local_id, states });
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
        let (range, local) = (&self.setup.launch.range, self.setup.local);
        let mut items = Vec::new();
        let is_large = !self.setup.inputs.synchronises && local.iter().product::<u64>() > MANY_OF_GROUP;
        let ids = |d: usize| match is_large {
            true => boundary_ids(local[d], self.setup.focus[1][d]),
            false => (0..local[d]).collect::<Vec<u64>>(),
        };
        let ids = [0, 1, 2].map(ids);
        for &z in &ids[2] {
            for &y in &ids[1] {
                for &x in &ids[0] {
                    let local_id = [x, y, z];
                    let within = |d: usize| group[d] * local[d] + local_id[d] < range.global[d];
                    if (0..3).all(within) {
                        items.push(self.item(group, local_id, Mode::Concrete));
                    }
                }
            }
        }
        items
    }

    fn item(&mut self, group: [u64; 3], local: [u64; 3], mode: Mode) -> Item {
        let values = match mode {
            // Allocated when the work-item starts, released when it has ended.
            Mode::Concrete => Vec::new(),
            _ => {
                if self.initial_values[1].is_empty() {
                    self.initial_values[1] = self.constants(true);
                }
                self.initial_values[1].clone()
            }
        };
        self.items += 1;
        Item {
            values,
            block: 0,
            previous: 0,
            graph_state: START,
            successor_taken: 0,
            index: 0,
            private_memory: HashMap::new(),
            state: State::Running,
            local_id: local,
            group_id: group,
            mode,
            number: 0,
            serial: self.items,
            steps: 0,
            hash: 0,
            visited: Vec::new(),
            path: Vec::new(),
            prefix_hashes: Vec::new(),
            states: Vec::new(),
            chosen: BTreeMap::new(),
            pinned: HashSet::new(),
            depends: BTreeMap::new(),
            fault: None,
        }
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
        if item.mode == Mode::Concrete {
            return;
        }
        if !holds {
            item.fault.get_or_insert(item.path.len());
        }
        item.step(PathStep::NoFault(condition));
    }

    /// Interprets a work-item with symbolic ids, together with its group if work-items synchronise.
    fn trace_subject(&mut self, class: &Class) -> Trace {
        let mut items = if self.setup.inputs.synchronises { self.items(class.group) } else { Vec::new() };
        if items.is_empty() {
            items = vec![self.item(class.group, class.local, Mode::Concrete)];
        }
        let ids: Vec<[u64; 3]> = items.iter().map(|i| i.local_id).collect();
        let subject = ids.iter().position(|id| *id == class.local).unwrap_or(0);
        let (ids, subject) = self.select_items(ids, subject);
        items.clear();
        for (number, local) in ids.into_iter().enumerate() {
            let mode = if number == subject { Mode::Full } else { Mode::Data };
            let mut item = self.item(class.group, local, mode);
            item.number = number as u32;
            items.push(item);
        }
        self.group(&mut items);
        let mut found = Trace { subject, group: class.group, local: class.local, ..Trace::default() };
        // A fault of the subject itself comes first; other faults may be consequences.
        let faults = items.iter().enumerate().filter_map(|(i, item)| Some((i, item.fault?)));
        found.fault = faults.min_by_key(|(i, _)| *i != subject);
        for item in items {
            found.paths.push(item.path);
            found.prefix_hashes.push(item.prefix_hashes);
            found.states.push(item.states);
            found.chosen.push(item.chosen);
        }
        found
    }

    /// Selects as many work-items as there is room for, the subject among them.
    fn select_items(&self, mut ids: Vec<[u64; 3]>, subject: usize) -> (Vec<[u64; 3]>, usize) {
        let capacity = self.capacity();
        if ids.len() <= capacity {
            return (ids, subject);
        }
        let first = subject.min(ids.len() - capacity);
        ids.drain(..first);
        ids.truncate(capacity);
        (ids, subject - first)
    }

    /// Number of work-items whose values can be kept at a time.
    fn capacity(&self) -> usize {
        (MAX_VALUES / self.setup.program.values.len().max(1)).max(1)
    }

    fn group(&mut self, items: &mut [Item]) {
        let capacity = self.capacity();
        let mut begun = 0;
        loop {
            for item in items.iter_mut().filter(|i| i.state == State::Running) {
                if item.values.is_empty() && !self.initial_values[0].is_empty() {
                    if begun >= capacity {
                        item.state = State::Done;
                        continue;
                    }
                    // Definitions precede uses, so stale values of another work-item are never read.
                    item.values = self.spare.pop().unwrap_or_else(|| self.initial_values[0].clone());
                    begun += 1;
                }
                self.advance(item);
                if item.state == State::Done && item.mode == Mode::Concrete {
                    self.spare.push(std::mem::take(&mut item.values));
                    begun -= 1;
                }
            }
            let mut waiting = items.iter().filter(|i| matches!(i.state, State::Waiting(..)));
            let Some(first) = waiting.next().map(|i| i.state) else { return };
            // A barrier is executed by all work-items of a group or by none (OpenCL C 1.2, 6.12.8).
            if items.iter().any(|i| i.state != first) {
                self.run.faulty = true;
            }
            if self.run.exhausted {
                return;
            }
            for item in items.iter_mut().filter(|i| matches!(i.state, State::Waiting(..))) {
                item.state = State::Running;
            }
        }
    }

    /// Returns whether a limit on time, steps, path length or terms is exceeded.
    fn exceeds_limits(&mut self, item: &Item) -> bool {
        let late = |end: Instant| self.steps.is_multiple_of(CLOCK) && Instant::now() >= end;
        item.steps > self.setup.steps / 8
            || self.steps > self.setup.steps
            || item.path.len() > LONGEST_PATH
            || self.terms.len() - self.first_term > MAX_TERMS
            || self.setup.end.is_some_and(late)
    }

    /// Runs a work-item to the next barrier or to its end.
    fn advance(&mut self, item: &mut Item) {
        let program = self.setup.program;
        loop {
            let code = &program.blocks[item.block];
            if item.index == 0 {
                phis(item, &code.instructions);
            }
            while let Some(instruction) = code.instructions.get(item.index) {
                item.index += 1;
                item.steps += 1;
                self.steps += 1;
                if self.exceeds_limits(item) {
                    self.run.exhausted = true;
                    item.state = State::Done;
                    return;
                }
                if matches!(instruction.op, Op::Phi(_)) {
                    continue;
                }
                let result = self.instruction(item, instruction);
                item.values[instruction.result as usize] = result;
                if item.state != State::Running {
                    return;
                }
            }
            self.locate(item);
            let Some((successor, next)) = self.leave(item, &code.end) else {
                item.state = State::Done;
                return;
            };
            if let Some(taken) = self.taken.get_mut(self.setup.graph.edge(item.graph_state, successor) as usize) {
                *taken = true;
            }
            if !matches!(code.end, End::Goto(_)) {
                item.hash = extended_hash(item.hash, item.block as u32, successor);
                self.run.arrived |= self.setup.expected == Some(item.hash);
            }
            item.successor_taken = successor;
            item.previous = item.block;
            item.block = next;
            item.index = 0;
        }
    }

    /// Determines the work-item's state in the product graph at the end of its block.
    fn locate(&mut self, item: &mut Item) {
        let graph = self.setup.graph;
        let among = match item.graph_state {
            START => graph.start(),
            before => graph.next(before, item.successor_taken),
        };
        let state =
            graph.locate(among, item.block, |value| item.values[value as usize].bits()).unwrap_or_else(|other| {
                self.run.graph_misses += 1;
                other
            });
        item.graph_state = state;
        if std::mem::replace(&mut self.last_visitor[state as usize], item.serial) != item.serial {
            item.visited.push(state);
        }
    }

    /// Decides which successor of a block is taken; returns its number and the block.
    fn leave(&mut self, item: &mut Item, end: &End) -> Option<(u32, usize)> {
        let block = item.block as u32;
        match end {
            End::Goto(to) => Some((0, *to)),
            End::Branch { condition, then, other } => {
                let decided = item.values[*condition as usize].first();
                let taken = decided.bits & 1 != 0;
                match decided.term {
                    Some(condition) => {
                        self.note_choices(item);
                        item.step(PathStep::Branch { block, condition, taken });
                    }
                    None if item.mode == Mode::Concrete => self.note_gap(item, *condition, u32::from(taken)),
                    None => {}
                }
                Some(if taken { (0, *then) } else { (1, *other) })
            }
            End::Switch { value, default, cases } => {
                let decided = item.values[*value as usize].first();
                let found = cases.iter().position(|(case, _)| *case == decided.bits);
                let taken = found.map_or(0, |i| i as u32 + 1);
                if let Some(value) = decided.term {
                    self.note_choices(item);
                    item.step(PathStep::Switch { block, value, taken });
                }
                Some((taken, found.map_or(*default, |i| cases[i].1)))
            }
            End::Return | End::Unreachable => None,
        }
    }

    /// Notes the symbolic conditions that determined the current state, for the next step.
    fn note_choices(&mut self, item: &mut Item) {
        let mut chosen = Vec::new();
        for (value, bits) in self.setup.graph.known(item.graph_state) {
            if let Some(term) = item.values[value as usize].first().term {
                let bits = self.terms.constant(bits, self.terms.sort(term));
                chosen.push(self.terms.compare(Operation::Eq, term, bits));
            }
        }
        if !chosen.is_empty() {
            item.chosen.insert(item.path.len(), chosen);
        }
    }

    /// Notes how far a comparison is from taking the other successor.
    fn note_gap(&mut self, item: &Item, condition: u32, other: u32) {
        let program = self.setup.program;
        let Some(Instruction { op: Op::Compare(_), operands, .. }) = program.instruction(condition) else { return };
        let [left, right] = [0, 1].map(|i| item.values[operands[i] as usize].bits());
        let width = crate::program::arithmetic::width(program.shape(operands[0]).kind);
        let (left, right) = (crate::program::signed(left, width), crate::program::signed(right, width));
        let gap = self.run.gaps.entry((item.graph_state, other)).or_insert(u64::MAX);
        *gap = (*gap).min(left.abs_diff(right));
    }
}

/// Returns the first two and last two ids of a dimension, and `also`, ascending.
fn boundary_ids(count: u64, also: u64) -> Vec<u64> {
    let all: BTreeSet<u64> = [0, 1, count.saturating_sub(2), count.saturating_sub(1), also].into();
    all.into_iter().filter(|id| *id < count).collect()
}

fn phis(item: &mut Item, instructions: &[Instruction]) {
    let mut found = Vec::new();
    for instruction in instructions {
        let Op::Phi(from) = &instruction.op else { break };
        if let Some(i) = from.iter().position(|b| *b == item.previous) {
            found.push((instruction.result, item.values[instruction.operands[i] as usize].clone()));
        }
    }
    for (result, value) in found {
        item.values[result as usize] = value;
    }
}
