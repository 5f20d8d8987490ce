//! The product of the control-flow graph with the values that a path chooses: `state = BROKEN`, a flag that was set,
//! the number of digits seen so far.
//!
//! Such values are not terms: they are constants selected by the path. A branch on them cannot be flipped by the
//! solver; an earlier branch has to go differently. Distances are therefore measured in a graph whose nodes are blocks
//! together with the values that later branches depend on. In this graph, the third step of a state machine is two
//! steps from the first one, although all of them are the same block.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::instrument::marks::MARK;
use kassay_ir::llvm::Opcode;

use crate::program::{Definition, End, Instruction, Kind, Op, Program, Shape, ValueId, arithmetic};

/// Distance of a state from which no wanted mark can be reached.
pub const UNREACHABLE: u32 = u32::MAX;

/// Largest number of values of one carrier, and of states. Beyond these, carriers are given up, those with the most
/// values first.
const MAX_VALUES: usize = 40;
const MAX_STATES: usize = 12_000;
/// Largest number of blocks and of carriers; beyond these, there is one state per block.
const MAX_BLOCKS: usize = 4_000;
const MAX_CARRIERS: usize = 600;
/// Number of explorations after which a single carrier is given up each; each further one gives up twice as many.
const SINGLE_ROUNDS: u32 = 16;
/// Largest number of operations in a chain from a carrier to a value that depends on it.
const MAX_HEIGHT: u32 = 10;

/// Known values of carriers, ascending by their numbers.
type KnownValues = Box<[(u32, u64)]>;

/// A node of the product graph.
#[derive(Debug)]
struct State {
    block: BlockIndex,
    known: KnownValues,
    /// By successor of the block: the states that it may lead to.
    next: Vec<Vec<u32>>,
    /// Number of its first edge.
    first_edge: u32,
}

/// The product graph.
#[derive(Debug)]
pub struct ProductGraph {
    states: Vec<State>,
    /// By block.
    of_block: Vec<Vec<u32>>,
    start: Vec<u32>,
    /// By carrier.
    values: Vec<ValueId>,
    /// By mark: the states in which it may hold.
    marks: BTreeMap<u32, Vec<u32>>,
    edge_count: u32,
    /// Cache of [`ProductGraph::similar_state`].
    similar: RefCell<HashMap<(u32, u32), u32>>,
}

impl ProductGraph {
    /// Builds the product graph of a kernel.
    pub fn of(program: &Program) -> ProductGraph {
        let mut carriers = Carriers::of(program);
        let mut round = 0u32;
        loop {
            let given_up = match Exploration::new(&carriers).explore() {
                Ok(states) => return states,
                Err(given_up) => given_up,
            };
            let many = 1usize << round.saturating_sub(SINGLE_ROUNDS).min(31);
            carriers = carriers.without(given_up, many);
            round += 1;
        }
    }

    /// States in which work-items start.
    pub fn start(&self) -> &[u32] {
        &self.start
    }

    /// Returns the values of carriers that are known in a state.
    pub fn known(&self, state: u32) -> impl Iterator<Item = (ValueId, u64)> + '_ {
        self.states[state as usize].known.iter().map(|(carrier, bits)| (self.values[*carrier as usize], *bits))
    }

    /// Returns the states to which an edge may lead.
    pub fn next(&self, state: u32, successor: u32) -> &[u32] {
        self.states[state as usize].next.get(successor as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the state among `among` of a work-item in this block with these values. If there is none, which does not
    /// happen unless the graph is wrong, `Err` contains some other state of the block.
    pub fn locate(&self, among: &[u32], block: BlockIndex, value: impl Fn(ValueId) -> u64) -> Result<u32, u32> {
        let fits = |state: &&u32| {
            let State { block: of, known, .. } = &self.states[**state as usize];
            *of == block && known.iter().all(|(c, bits)| value(self.values[*c as usize]) == *bits)
        };
        let other = || self.of_block[block].iter().find(fits).or(self.of_block[block].first()).copied();
        among.iter().find(fits).copied().ok_or_else(|| other().unwrap_or(0))
    }

    /// Returns the state of the same block that is most similar to this one and has an edge to this successor: a
    /// `select` on a symbolic condition may choose differently while the path stays the same.
    pub fn similar_state(&self, state: u32, successor: u32) -> u32 {
        if !self.next(state, successor).is_empty() {
            return state;
        }
        if let Some(known) = self.similar.borrow().get(&(state, successor)) {
            return *known;
        }
        let State { block, known, .. } = &self.states[state as usize];
        let agreement = |other: &u32| self.states[*other as usize].known.iter().filter(|k| known.contains(k)).count();
        let others = self.of_block[*block].iter().filter(|o| !self.next(**o, successor).is_empty());
        let found = others.max_by_key(|o| agreement(o)).copied().unwrap_or(state);
        self.similar.borrow_mut().insert((state, successor), found);
        found
    }

    /// Number of the edge from a state to a successor of its block, less than [`ProductGraph::edge_count`].
    pub fn edge(&self, state: u32, successor: u32) -> u32 {
        self.states[state as usize].first_edge + successor
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Number of edges, including those that cannot be taken.
    pub fn edge_count(&self) -> u32 {
        self.edge_count
    }

    /// Returns the states in which a mark may hold.
    pub fn marked(&self, goal: u32) -> &[u32] {
        self.marks.get(&goal).map_or(&[], Vec::as_slice)
    }

    /// By state: the least number of choices on a path to one of these states.
    pub fn distances(&self, to: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.states.len()];
        for (number, state) in (0u32..).zip(&self.states) {
            for next in state.next.iter().flatten() {
                before[*next as usize].push(number);
            }
        }
        let mut found = vec![UNREACHABLE; self.states.len()];
        let mut todo = VecDeque::new();
        for state in to {
            found[state as usize] = 0;
            todo.push_back(state);
        }
        while let Some(state) = todo.pop_front() {
            for from in &before[state as usize] {
                let is_choice = self.states[*from as usize].next.iter().map(Vec::len).sum::<usize>() > 1;
                let through = found[state as usize] + u32::from(is_choice);
                if through < found[*from as usize] {
                    found[*from as usize] = through;
                    if is_choice { todo.push_back(*from) } else { todo.push_front(*from) }
                }
            }
        }
        found
    }
}

/// Carriers: integers chosen by the path, which `phi` and `select` merge.
struct Carriers<'p> {
    program: &'p Program,
    values: Vec<ValueId>,
    number: HashMap<ValueId, u32>,
    /// Maps a value that is computed from constants and carriers to the carriers.
    depends: HashMap<ValueId, BTreeSet<u32>>,
    /// By block: carriers that later branches depend on, after the block's own `select`s.
    live: Vec<BTreeSet<u32>>,
    /// By block: the same at its start, before its `phi`s have their values.
    needed: Vec<BTreeSet<u32>>,
}

fn is_integer(shape: Shape) -> bool {
    matches!(shape.kind, Kind::Int(1..=64)) && shape.lanes == 0
}

impl<'p> Carriers<'p> {
    fn of(program: &'p Program) -> Carriers<'p> {
        let is_carrier = |i: &Instruction| {
            matches!(i.op, Op::Phi(_) | Op::Select)
                && is_integer(program.shape(i.result))
                && !counts_to_input(program, i)
        };
        let all = program.instructions().map(|(_, i)| i).filter(|i| is_carrier(i)).map(|i| i.result);
        let is_small = program.blocks.len() <= MAX_BLOCKS;
        let all: Vec<ValueId> = all.filter(|_| is_small).collect();
        Carriers::new(program, if all.len() > MAX_CARRIERS { Vec::new() } else { all })
    }

    /// Gives up the carrier at this position, and others after it: `many` in all.
    fn without(&self, given_up: usize, many: usize) -> Carriers<'p> {
        let mut values = self.values.clone();
        let end = (given_up + many).min(values.len());
        values.drain(given_up..end);
        Carriers::new(self.program, values)
    }

    fn new(program: &'p Program, values: Vec<ValueId>) -> Carriers<'p> {
        let number = values.iter().copied().zip(0u32..).collect();
        let none = vec![BTreeSet::new(); program.blocks.len()];
        let mut carriers =
            Carriers { program, values, number, depends: HashMap::new(), live: none.clone(), needed: none };
        carriers.compute_dependencies();
        carriers.compute_liveness();
        carriers
    }

    /// Finds the values that are computed from constants and carriers.
    fn compute_dependencies(&mut self) {
        let mut heights: HashMap<ValueId, u32> = HashMap::new();
        // Definitions precede uses except in `phi`s, provided that blocks are in order; where they are not, a value
        // stays unknown.
        for (_, instruction) in self.program.instructions() {
            if let Some(carrier) = self.number.get(&instruction.result) {
                self.depends.insert(instruction.result, [*carrier].into());
                heights.insert(instruction.result, 0);
            }
        }
        for (_, instruction) in self.program.instructions() {
            if self.number.contains_key(&instruction.result) || !is_known(self.program, instruction) {
                continue;
            }
            let mut depends = BTreeSet::new();
            let mut height = Some(0);
            for operand in &instruction.operands {
                match (self.depends.get(operand), heights.get(operand)) {
                    (Some(carriers), Some(below)) => {
                        depends.extend(carriers);
                        height = height.map(|h: u32| h.max(below + 1)).filter(|h| *h <= MAX_HEIGHT);
                    }
                    _ if self.constant(*operand).is_some() => {}
                    _ => height = None,
                }
            }
            if let Some(height) = height {
                self.depends.insert(instruction.result, depends);
                heights.insert(instruction.result, height);
            }
        }
    }

    fn constant(&self, value: ValueId) -> Option<u64> {
        match &self.program.values[value as usize] {
            Definition::Constant(bits) if is_integer(self.program.shape(value)) => bits.first().copied(),
            _ => None,
        }
    }

    fn depends(&self, value: ValueId) -> impl Iterator<Item = u32> + '_ {
        self.depends.get(&value).into_iter().flatten().copied()
    }

    /// Evaluates a value that depends only on known carriers.
    fn value(&self, value: ValueId, known: &[(u32, u64)]) -> Option<u64> {
        if let Some(bits) = self.constant(value) {
            return Some(bits);
        }
        if let Some(carrier) = self.number.get(&value) {
            return known.binary_search_by_key(carrier, |k| k.0).ok().map(|i| known[i].1);
        }
        // Only values that are computed from constants and carriers have an entry.
        self.depends.get(&value)?;
        let program = self.program;
        let instruction = program.instruction(value)?;
        let kind = program.shape(value).kind;
        let operand = |i: usize| self.value(instruction.operands[i], known);
        match &instruction.op {
            Op::Binary(opcode) => arithmetic::binary(*opcode, kind, operand(0)?, operand(1)?),
            Op::Compare(predicate) => {
                let width = arithmetic::width(program.shape(instruction.operands[0]).kind);
                Some(arithmetic::compare(*predicate, width, operand(0)?, operand(1)?).into())
            }
            Op::Cast(opcode) => {
                Some(arithmetic::cast(*opcode, program.shape(instruction.operands[0]).kind, kind, operand(0)?))
            }
            _ => operand(0),
        }
    }

    fn selects(&self, block: BlockIndex) -> impl Iterator<Item = (u32, &'p Instruction)> + '_ {
        let all = self.program.blocks[block].instructions.iter().filter(|i| matches!(i.op, Op::Select));
        all.filter_map(|i| Some((*self.number.get(&i.result)?, i)))
    }

    /// Returns the `phi`s of a block, each with the value that it takes when the block is entered from `from`.
    fn phis(&self, block: BlockIndex, from: BlockIndex) -> impl Iterator<Item = (u32, Option<ValueId>)> + '_ {
        let all = self.program.blocks[block].instructions.iter().map_while(|i| match &i.op {
            Op::Phi(before) => Some((i, before)),
            _ => None,
        });
        all.filter_map(move |(i, before)| {
            let at = before.iter().position(|b| *b == from);
            Some((*self.number.get(&i.result)?, at.map(|at| i.operands[at])))
        })
    }

    fn marks(&self, block: BlockIndex) -> impl Iterator<Item = (u32, ValueId)> + '_ {
        self.program.blocks[block].instructions.iter().filter_map(|i| match (&i.op, &i.operands[..]) {
            (Op::Call(name, _), [goal, holds, ..]) if name == MARK => {
                Some((self.program.constant(*goal)? as u32, *holds))
            }
            _ => None,
        })
    }

    /// Computes which carriers are live where, backwards from the ends of blocks.
    fn compute_liveness(&mut self) {
        let program = self.program;
        let mut before: Vec<Vec<BlockIndex>> = vec![Vec::new(); program.blocks.len()];
        for (block, code) in BlockIndex::enumerate(&program.blocks) {
            for successor in code.end.successors() {
                before[successor].push(block);
            }
        }
        let mut todo: VecDeque<BlockIndex> = BlockIndex::first(program.blocks.len()).rev().collect();
        let mut waits = vec![true; program.blocks.len()];
        while let Some(block) = todo.pop_front() {
            waits[block] = false;
            let code = &program.blocks[block];
            let mut live: BTreeSet<u32> = match &code.end {
                End::Branch { condition, .. } => self.depends(*condition).collect(),
                End::Switch { value, .. } => self.depends(*value).collect(),
                _ => BTreeSet::new(),
            };
            live.extend(self.marks(block).flat_map(|(_, holds)| self.depends(holds).collect::<Vec<_>>()));
            for successor in code.end.successors() {
                let mut needed = self.needed[successor].clone();
                for (phi, value) in self.phis(successor, block) {
                    if needed.remove(&phi) {
                        live.extend(value.into_iter().flat_map(|v| self.depends(v)));
                    }
                }
                live.extend(needed);
            }
            let mut needed = live.clone();
            let selects: Vec<(u32, &Instruction)> = self.selects(block).collect();
            for (select, instruction) in selects.iter().rev() {
                if needed.remove(select) {
                    needed.extend(instruction.operands.iter().flat_map(|o| self.depends(*o)));
                }
            }
            self.live[block] = live;
            if needed != self.needed[block] {
                self.needed[block] = needed;
                for from in &before[block] {
                    if !std::mem::replace(&mut waits[*from], true) {
                        todo.push_back(*from);
                    }
                }
            }
        }
    }
}

/// Returns whether the result is determined by the bits of the operands, all of them integers.
fn is_known(program: &Program, instruction: &Instruction) -> bool {
    let integers = || instruction.operands.iter().all(|o| is_integer(program.shape(*o)));
    let op = match &instruction.op {
        Op::Binary(_) | Op::Compare(_) | Op::Copy => true,
        Op::Cast(opcode) => {
            matches!(opcode, Opcode::LLVMTrunc | Opcode::LLVMZExt | Opcode::LLVMSExt)
        }
        _ => false,
    };
    op && is_integer(program.shape(instruction.result)) && integers()
}

/// Returns whether a `phi` counts towards a value that is not a constant, and so may take arbitrarily many values.
fn counts_to_input(program: &Program, phi: &Instruction) -> bool {
    let is_next = |v: &ValueId| {
        program.instruction(*v).is_some_and(|i| matches!(i.op, Op::Binary(_)) && i.operands.contains(&phi.result))
    };
    let counts: Vec<ValueId> = phi.operands.iter().copied().filter(is_next).chain([phi.result]).collect();
    if !matches!(phi.op, Op::Phi(_)) || counts.len() < 2 {
        return false;
    }
    program.instructions().any(|(_, i)| {
        matches!(i.op, Op::Compare(_))
            && i.operands.iter().any(|o| counts.contains(o))
            && i.operands.iter().any(|o| match &program.values[*o as usize] {
                Definition::Param(_) => true,
                Definition::Inst { .. } => {
                    !counts.contains(o) && !matches!(program.instruction(*o), Some(i) if matches!(i.op, Op::Phi(_)))
                }
                _ => false,
            })
    })
}

/// Explores the reachable states.
struct Exploration<'c, 'p> {
    carriers: &'c Carriers<'p>,
    states: Vec<State>,
    numbers: HashMap<(BlockIndex, KnownValues), u32>,
    /// By carrier.
    seen: Vec<HashSet<u64>>,
}

impl<'c, 'p> Exploration<'c, 'p> {
    fn new(carriers: &'c Carriers<'p>) -> Exploration<'c, 'p> {
        let seen = vec![HashSet::new(); carriers.values.len()];
        Exploration { carriers, states: Vec::new(), numbers: HashMap::new(), seen }
    }

    /// Returns all states, or the carrier that has too many values.
    fn explore(mut self) -> Result<ProductGraph, usize> {
        let program = self.carriers.program;
        let start = self.enter(BlockIndex::ENTRY, Vec::new())?;
        let mut done = 0;
        while done < self.states.len() {
            let (block, known) = (self.states[done].block, self.states[done].known.clone());
            let mut next = Vec::new();
            for (taken, successor) in program.blocks[block].end.successors().into_iter().enumerate() {
                next.push(match self.may_take(block, &known, taken) {
                    true => self.follow_edge(block, &known, successor)?,
                    false => Vec::new(),
                });
            }
            self.states[done].next = next;
            done += 1;
        }
        Ok(self.finish(start))
    }

    fn finish(mut self, start: Vec<u32>) -> ProductGraph {
        let program = self.carriers.program;
        let mut of_block = vec![Vec::new(); program.blocks.len()];
        let mut marks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut edge_count = 0;
        for (number, state) in (0u32..).zip(&mut self.states) {
            of_block[state.block].push(number);
            state.first_edge = edge_count;
            edge_count += state.next.len() as u32;
            for (goal, holds) in self.carriers.marks(state.block) {
                if self.carriers.value(holds, &state.known) != Some(0) {
                    marks.entry(goal).or_default().push(number);
                }
            }
        }
        ProductGraph {
            states: self.states,
            of_block,
            start,
            values: self.carriers.values.clone(),
            marks,
            edge_count,
            similar: RefCell::default(),
        }
    }

    /// Returns whether a block may be left by this successor.
    fn may_take(&self, block: BlockIndex, known: &[(u32, u64)], successor: usize) -> bool {
        let taken = match &self.carriers.program.blocks[block].end {
            End::Branch { condition, .. } => self.carriers.value(*condition, known).map(|c| usize::from(c & 1 == 0)),
            End::Switch { value, cases, .. } => {
                let found = |bits| cases.iter().position(|(case, _)| *case == bits).map_or(0, |i| i + 1);
                self.carriers.value(*value, known).map(found)
            }
            _ => None,
        };
        taken.is_none_or(|taken| taken == successor)
    }

    /// Returns the states in which a block may be entered from `from`.
    fn follow_edge(&mut self, from: BlockIndex, known: &[(u32, u64)], block: BlockIndex) -> Result<Vec<u32>, usize> {
        let carriers = self.carriers;
        let needed = &carriers.needed[block];
        let mut values: BTreeMap<u32, u64> = known.iter().copied().filter(|(c, _)| needed.contains(c)).collect();
        for (phi, value) in carriers.phis(block, from).filter(|(phi, _)| needed.contains(phi)) {
            match value.and_then(|v| carriers.value(v, known)) {
                Some(bits) => values.insert(phi, bits),
                None => values.remove(&phi),
            };
        }
        self.enter(block, values.into_iter().collect())
    }

    /// Returns the states of a block after its `select`s, of which each may have chosen either operand.
    fn enter(&mut self, block: BlockIndex, values: Vec<(u32, u64)>) -> Result<Vec<u32>, usize> {
        let carriers = self.carriers;
        let mut all = vec![values];
        for (select, instruction) in carriers.selects(block) {
            let mut after = Vec::new();
            for known in all {
                let [condition, then, other] = [0, 1, 2].map(|i| carriers.value(instruction.operands[i], &known));
                let mut chosen = match condition {
                    Some(bits) if bits & 1 != 0 => vec![then],
                    Some(_) => vec![other],
                    None => vec![then, other],
                };
                chosen.dedup();
                for bits in chosen {
                    let mut known = known.clone();
                    known.retain(|(c, _)| *c != select);
                    if let Some(bits) = bits {
                        let at = known.partition_point(|(c, _)| *c < select);
                        known.insert(at, (select, bits));
                    }
                    after.push(known);
                }
            }
            if after.len() > MAX_VALUES {
                return Err(select as usize);
            }
            all = after;
        }
        let mut entered = Vec::new();
        for mut known in all {
            known.retain(|(c, _)| carriers.live[block].contains(c));
            let state = self.state(block, known.into_boxed_slice())?;
            if !entered.contains(&state) {
                entered.push(state);
            }
        }
        Ok(entered)
    }

    fn state(&mut self, block: BlockIndex, known: KnownValues) -> Result<u32, usize> {
        if let Some(number) = self.numbers.get(&(block, known.clone())) {
            return Ok(*number);
        }
        for (carrier, bits) in &known {
            let seen = &mut self.seen[*carrier as usize];
            seen.insert(*bits);
            if seen.len() > MAX_VALUES {
                return Err(*carrier as usize);
            }
        }
        if self.states.len() >= MAX_STATES
            && let Some(largest) = (0..self.seen.len()).max_by_key(|c| self.seen[*c].len())
        {
            return Err(largest);
        }
        let number = self.states.len() as u32;
        self.numbers.insert((block, known.clone()), number);
        self.states.push(State { block, known, next: Vec::new(), first_edge: 0 });
        Ok(number)
    }
}
