//! The interpreter: work-groups in turn, in a group the work-items between two barriers in turn.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Instant;

use super::inputs::{self, Inputs};
use super::item::{Item, Mode, START, State};
use super::memory::{self, Block, Initial};
use super::product_graph::States;
use super::trace::{Class, Entry, Run, Trace};
use super::value::{self, Lane, Value};
use crate::program::{Definition, End, Instruction, Kind, Op, Program};
use crate::solve::expression::{Operation, Sort, Term, Terms};
use crate::suite::launch::{ArgValue, Launch};

/// In launches of more work-items only the first and last groups of each dimension are interpreted, and the one of interest;
/// in groups of more that do not meet only the first and last work-items, and the one of interest.
const MANY_ITEMS: u64 = 4096;
const MANY_OF_GROUP: u64 = 1024;
/// Steps between two looks at the clock.
const CLOCK: u64 = 1 << 14;
/// A path with more steps is not followed any farther.
const LONGEST_PATH: usize = 20_000;
/// Nor are paths that make more terms.
const MOST_TERMS: usize = 400_000;

/// What is interpreted.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub program: &'a Program,
    pub states: &'a States,
    pub inputs: &'a Inputs,
    pub launch: &'a Launch,
    /// The work-group size.
    pub local: [u64; 3],
    /// Instructions in all.
    pub steps: u64,
    pub end: Option<Instant>,
    /// A way that some work-item is expected to go.
    pub expected: Option<u64>,
    /// Ids of the group, and in it, of a work-item that is of interest: in large launches others may be left out.
    pub whose: [[u64; 3]; 2],
}

/// Values of all work-items of a group that are kept at a time; work-items that there is no room for are left out.
const MOST_VALUES: usize = 1 << 22;

pub struct Machine<'a> {
    pub setup: Setup<'a>,
    pub terms: &'a mut Terms,
    /// For what is made of constants.
    pub scratch: Terms,
    /// By region: arguments, then variables.
    pub blocks: Vec<Block>,
    pub run: Run,
    steps: u64,
    first_term: usize,
    /// Values that are none of instructions: as they are, and with arguments as symbols.
    known: [Vec<Value>; 2],
    spare: Vec<Vec<Value>>,
    /// By way out of a state.
    taken: Vec<bool>,
    /// By state, the last work-item that was in it.
    visitors: Vec<u64>,
    items: u64,
    hashes: HashSet<u64>,
}

/// A number for the way of a work-item that goes on from a block to this successor.
pub fn way(before: u64, block: u32, successor: u32) -> u64 {
    let step = u64::from(block) << 16 | u64::from(successor);
    (before.rotate_left(5) ^ step).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Interprets a launch as it is.
pub fn run(setup: Setup<'_>) -> Run {
    let mut unused = Terms::default();
    let mut machine = Machine::new(setup, &mut unused);
    machine.groups();
    machine.finish()
}

/// Interprets a work-item, with those that it meets, on terms.
pub fn trace(setup: Setup<'_>, terms: &mut Terms, class: &Class) -> Trace {
    Machine::new(setup, terms).subject(class)
}

impl<'a> Machine<'a> {
    fn new(setup: Setup<'a>, terms: &'a mut Terms) -> Machine<'a> {
        let program = setup.program;
        let blocks = setup.launch.args.iter().enumerate().map(|(position, value)| match value {
            ArgValue::Buffer(bytes) if setup.inputs.args.get(position).is_some_and(|i| i.is_free) => {
                Block::buffer(bytes.clone(), Initial::Input(position))
            }
            ArgValue::Buffer(bytes) => Block::buffer(bytes.clone(), Initial::Known),
            ArgValue::Local(bytes) => Block::local((*bytes).min(memory::LARGEST)),
            ArgValue::Value(bytes) => Block::fixed(bytes.clone()),
            ArgValue::Same(_) | ArgValue::Image { .. } | ArgValue::Sampler { .. } => Block::fixed(Vec::new()),
        });
        let mut blocks: Vec<Block> = blocks.collect();
        blocks.resize_with(program.params.len(), || Block::fixed(Vec::new()));
        blocks.extend(program.variables.iter().map(|v| {
            let mut bytes = v.initial.clone();
            bytes.resize(v.bytes.min(memory::LARGEST) as usize, 0);
            Block::fixed(bytes)
        }));
        let first_term = terms.len();
        let mut machine = Machine {
            setup,
            terms,
            scratch: Terms::default(),
            blocks,
            run: Run::default(),
            steps: 0,
            first_term,
            known: [Vec::new(), Vec::new()],
            spare: Vec::new(),
            taken: vec![false; setup.states.ways() as usize],
            visitors: vec![0; setup.states.len()],
            items: 0,
            hashes: HashSet::new(),
        };
        machine.known = [machine.constants(false), Vec::new()];
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
        self.run.ways = (0u32..).zip(&self.taken).filter(|(_, taken)| **taken).map(|(way, _)| way).collect();
        let args = self.setup.launch.args.len();
        self.run.reached = self.blocks[..args].iter().map(|b| b.high).collect();
        self.run
    }

    fn groups(&mut self) {
        let (range, local) = (&self.setup.launch.range, self.setup.local);
        let count = range.with_local(local).group_counts();
        let is_large = range.items() > MANY_ITEMS;
        let ids = |d: usize| match is_large {
            true => edges(count[d], self.setup.whose[0][d]),
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

    /// The work-items of a group, as they start; local memory is renewed.
    fn items(&mut self, group: [u64; 3]) -> Vec<Item> {
        let program = self.setup.program;
        for (i, variable) in program.variables.iter().enumerate() {
            if variable.is_local {
                self.blocks[program.params.len() + i].renew();
            }
        }
        for (i, value) in self.setup.launch.args.iter().enumerate() {
            if matches!(value, ArgValue::Local(_)) {
                self.blocks[i].renew();
            }
        }
        let (range, local) = (&self.setup.launch.range, self.setup.local);
        let mut items = Vec::new();
        let is_large = !self.setup.inputs.meets && local.iter().product::<u64>() > MANY_OF_GROUP;
        let ids = |d: usize| match is_large {
            true => edges(local[d], self.setup.whose[1][d]),
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
            // They come when it begins to run, and go when it has ended.
            Mode::Concrete => Vec::new(),
            _ => {
                if self.known[1].is_empty() {
                    self.known[1] = self.constants(true);
                }
                self.known[1].clone()
            }
        };
        self.items += 1;
        Item {
            values,
            block: 0,
            previous: 0,
            state_of: START,
            way_out: 0,
            index: 0,
            privates: HashMap::new(),
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
            ways: Vec::new(),
            states: Vec::new(),
            chosen: BTreeMap::new(),
            said: HashSet::new(),
            depends: BTreeMap::new(),
            fault: None,
        }
    }

    /// A work-item does what no kernel may.
    pub fn fault(&mut self, item: &Item) {
        if self.setup.inputs.allows_faults {
            return;
        }
        self.run.faulty = true;
        self.run.culprit.get_or_insert((item.group_id, item.local_id));
    }

    /// Adds what has to hold for nothing to be done that no kernel may; `holds`: whether it does.
    pub fn sound(&mut self, item: &mut Item, condition: Term, holds: bool) {
        if item.mode == Mode::Concrete {
            return;
        }
        if !holds {
            item.fault.get_or_insert(item.path.len());
        }
        item.step(Entry::Sound(condition));
    }

    /// Interprets a work-item whose ids are symbols, with its group if items meet.
    fn subject(&mut self, class: &Class) -> Trace {
        let mut items = if self.setup.inputs.meets { self.items(class.group) } else { Vec::new() };
        if items.is_empty() {
            items = vec![self.item(class.group, class.local, Mode::Concrete)];
        }
        let ids: Vec<[u64; 3]> = items.iter().map(|i| i.local_id).collect();
        let subject = ids.iter().position(|id| *id == class.local).unwrap_or(0);
        let (ids, subject) = self.some(ids, subject);
        items.clear();
        for (number, local) in ids.into_iter().enumerate() {
            let mode = if number == subject { Mode::Full } else { Mode::Data };
            let mut item = self.item(class.group, local, mode);
            item.number = number as u32;
            items.push(item);
        }
        self.group(&mut items);
        let mut found = Trace { subject, group: class.group, local: class.local, ..Trace::default() };
        // The culprit's own first; others may have followed it.
        let faults = items.iter().enumerate().filter_map(|(i, item)| Some((i, item.fault?)));
        found.fault = faults.min_by_key(|(i, _)| *i != subject);
        for item in items {
            found.paths.push(item.path);
            found.ways.push(item.ways);
            found.states.push(item.states);
            found.chosen.push(item.chosen);
        }
        found
    }

    /// As many of the work-items, the subject among them, as there is room for.
    fn some(&self, mut ids: Vec<[u64; 3]>, subject: usize) -> (Vec<[u64; 3]>, usize) {
        let room = self.room();
        if ids.len() <= room {
            return (ids, subject);
        }
        let first = subject.min(ids.len() - room);
        ids.drain(..first);
        ids.truncate(room);
        (ids, subject - first)
    }

    /// Of how many work-items values can be kept at a time.
    fn room(&self) -> usize {
        (MOST_VALUES / self.setup.program.values.len().max(1)).max(1)
    }

    fn group(&mut self, items: &mut [Item]) {
        let room = self.room();
        let mut begun = 0;
        loop {
            for item in items.iter_mut().filter(|i| i.state == State::Running) {
                if item.values.is_empty() && !self.known[0].is_empty() {
                    if begun >= room {
                        item.state = State::Done;
                        continue;
                    }
                    // Every use follows its definition, so nobody sees what another left.
                    item.values = self.spare.pop().unwrap_or_else(|| self.known[0].clone());
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
            // Barriers are for all work-items of a group, or none (OpenCL C 6.12.8).
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

    /// Whether there is no time, or no room, for more.
    fn is_over(&mut self, item: &Item) -> bool {
        let late = |end: Instant| self.steps.is_multiple_of(CLOCK) && Instant::now() >= end;
        item.steps > self.setup.steps / 8
            || self.steps > self.setup.steps
            || item.path.len() > LONGEST_PATH
            || self.terms.len() - self.first_term > MOST_TERMS
            || self.setup.end.is_some_and(late)
    }

    /// Runs a work-item to the next barrier or its end.
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
                if self.is_over(item) {
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
            self.settle(item);
            let Some((successor, next)) = self.leave(item, &code.end) else {
                item.state = State::Done;
                return;
            };
            if let Some(taken) = self.taken.get_mut(self.setup.states.way(item.state_of, successor) as usize) {
                *taken = true;
            }
            if !matches!(code.end, End::Goto(_)) {
                item.hash = way(item.hash, item.block as u32, successor);
                self.run.arrived |= self.setup.expected == Some(item.hash);
            }
            item.way_out = successor;
            item.previous = item.block;
            item.block = next;
            item.index = 0;
        }
    }

    /// Finds out in which state the work-item is at the end of its block.
    fn settle(&mut self, item: &mut Item) {
        let states = self.setup.states;
        let among = match item.state_of {
            START => states.start(),
            before => states.next(before, item.way_out),
        };
        let state =
            states.settle(among, item.block, |value| item.values[value as usize].bits()).unwrap_or_else(|other| {
                self.run.strays += 1;
                other
            });
        item.state_of = state;
        if std::mem::replace(&mut self.visitors[state as usize], item.serial) != item.serial {
            item.visited.push(state);
        }
    }

    /// Which way a block is left.
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
                        item.step(Entry::Branch { block, condition, taken });
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
                    item.step(Entry::Switch { block, value, taken });
                }
                Some((taken, found.map_or(*default, |i| cases[i].1)))
            }
            End::Return | End::Unreachable => None,
        }
    }

    /// Notes what makes the state the one that it is, for the step that comes.
    fn note_choices(&mut self, item: &mut Item) {
        let mut chosen = Vec::new();
        for (value, bits) in self.setup.states.known(item.state_of) {
            if let Some(term) = item.values[value as usize].first().term {
                let bits = self.terms.constant(bits, self.terms.sort(term));
                chosen.push(self.terms.compare(Operation::Eq, term, bits));
            }
        }
        if !chosen.is_empty() {
            item.chosen.insert(item.path.len(), chosen);
        }
    }

    /// How far a comparison is from going to the other successor.
    fn note_gap(&mut self, item: &Item, condition: u32, other: u32) {
        let program = self.setup.program;
        let Some(Instruction { op: Op::Compare(_), operands, .. }) = program.instruction(condition) else { return };
        let [left, right] = [0, 1].map(|i| item.values[operands[i] as usize].bits());
        let width = crate::program::arithmetic::width(program.shape(operands[0]).kind);
        let (left, right) = (crate::program::signed(left, width), crate::program::signed(right, width));
        let gap = self.run.gaps.entry((item.state_of, other)).or_insert(u64::MAX);
        *gap = (*gap).min(left.abs_diff(right));
    }
}

/// The first and last ids of a dimension, and one more, in order.
fn edges(count: u64, also: u64) -> Vec<u64> {
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
