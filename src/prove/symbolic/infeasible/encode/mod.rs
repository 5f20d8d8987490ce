//! Encodes a kernel as a formula: visits its acyclic graph in topological order, with loops in the place of
//! their headers.

mod loops;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::time::Instant;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::instrument::marks::MARK;

use super::launch::LaunchQueries;
use super::loop_nest::{LoopNest, successors};
use super::memory::{Cells, Memory};
use crate::program::{Definition, End, Op, Program, ValueId};
use crate::solve::expression::{Operation, Term, Terms};
use crate::solve::query::Limits;
use crate::symbolic::implementation_defined::Choices;

/// Largest number of instructions in the formula, copies of loop bodies included.
const MAX_INSTRUCTIONS: usize = 60_000;
/// Same limit, with the copies of abandoned unrollings included.
const MAX_WORK: usize = 300_000;
/// Largest number of iterations that are unrolled.
const MAX_ITERATIONS: usize = 72;
/// Largest number of instructions in all copies of one unrolled loop.
const MAX_COPIED_INSTRUCTIONS: usize = 6_000;

/// A branch condition that holds whenever a block is reached, with its branch and the edge taken.
#[derive(Debug, Clone)]
pub struct Guard {
    pub holds: Term,
    pub block: BlockIndex,
    pub label: EdgeLabel,
}

/// The outcome of a branch or switch that leads along an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeLabel {
    Condition(bool),
    Case(Vec<u64>),
    Default,
}

/// An occurrence of a mark, in one copy of the code.
pub struct Occurrence {
    pub reach: Term,
    pub holds: Term,
    pub block: BlockIndex,
    pub guards: Rc<Vec<Guard>>,
    /// The marked value.
    pub value: ValueId,
    /// Number of loops in [`Encoded::loops`] that were encoded before it.
    pub loops: usize,
}

/// An edge into a header: the bit that says whether it is taken, and the lanes that a `phi` there receives.
pub type IncomingEdge = (Term, Vec<Term>);

/// A `phi` of a header.
pub struct Phi {
    pub value: ValueId,
    pub symbols: Vec<Term>,
    /// By entry edge.
    pub entries: Vec<IncomingEdge>,
    /// By back edge.
    pub back_edges: Vec<IncomingEdge>,
}

/// A loop that is cut at its header: its symbols stand for an arbitrary iteration.
pub struct HavockedLoop {
    pub header: BlockIndex,
    pub reach: Term,
    pub phis: Vec<Phi>,
    /// Terms of lower rank are composed of values that exist before the loop.
    pub begin: usize,
    /// Operands of integer comparisons in its body.
    pub compared: Vec<(Term, Term)>,
    /// One past the last of its inner loops in [`Encoded::loops`].
    pub inner_end: usize,
}

/// A kernel as a formula.
pub struct Encoded<'p> {
    pub program: &'p Program,
    pub terms: Terms,
    pub launch: LaunchQueries,
    pub loops: Vec<HavockedLoop>,
    pub marks: BTreeMap<u32, Vec<Occurrence>>,
    /// Number of loads of each value of a buffer that the kernel does not write.
    pub loads: HashMap<Term, usize>,
}

/// Builds the formula block by block.
pub struct Encoder<'p> {
    pub(super) program: &'p Program,
    loop_nest: &'p LoopNest,
    pub(super) terms: Terms,
    pub(super) launch: LaunchQueries,
    pub(super) memory: Memory,
    /// By value: its lanes at the encoder's current position.
    pub(super) values: Vec<Option<Vec<Term>>>,
    pub(super) cells: Cells,
    pub(super) choices: Choices,
    pub(super) loads: HashMap<Term, usize>,
    reach: Vec<Option<Term>>,
    guards: Vec<Rc<Vec<Guard>>>,
    edges: HashMap<(BlockIndex, BlockIndex), Term>,
    /// By edge: private memory at the end of its source block.
    states: HashMap<(BlockIndex, BlockIndex), Cells>,
    /// Headers of loops that are left after a known number of iterations.
    unrolled: BTreeSet<BlockIndex>,
    loops: Vec<HavockedLoop>,
    open_loops: Vec<usize>,
    marks: BTreeMap<u32, Vec<Occurrence>>,
    live_out: HashMap<usize, Vec<ValueId>>,
    steps: usize,
    work: usize,
    end: Option<Instant>,
}

/// Encodes the kernel. `None` if the formula becomes too large or the time runs out.
pub fn encode<'p>(program: &'p Program, loop_nest: &'p LoopNest, limits: &Limits) -> Option<Encoded<'p>> {
    let blocks = program.blocks.len();
    let mut encoder = Encoder {
        program,
        loop_nest,
        terms: Terms::default(),
        launch: LaunchQueries::default(),
        memory: Memory::of(program),
        values: vec![None; program.values.len()],
        cells: Cells::default(),
        choices: Choices::default(),
        loads: HashMap::new(),
        reach: vec![None; blocks],
        guards: vec![Rc::default(); blocks],
        edges: HashMap::new(),
        states: HashMap::new(),
        unrolled: BTreeSet::new(),
        loops: Vec::new(),
        open_loops: Vec::new(),
        marks: BTreeMap::new(),
        live_out: used_outside(program, loop_nest),
        steps: 0,
        work: 0,
        end: limits.end,
    };
    let yes = encoder.terms.truth(true);
    encoder.reach[0] = Some(yes);
    encoder.encode_blocks(&loop_nest.order, None)?;
    Some(Encoded {
        program,
        terms: encoder.terms,
        launch: encoder.launch,
        loops: encoder.loops,
        marks: encoder.marks,
        loads: encoder.loads,
    })
}

/// By loop: the values that are defined in it and used outside of it.
fn used_outside(program: &Program, loop_nest: &LoopNest) -> HashMap<usize, Vec<ValueId>> {
    let mut found: HashMap<usize, BTreeSet<ValueId>> = HashMap::new();
    let mut uses: Vec<(BlockIndex, ValueId)> = Vec::new();
    for (block, code) in BlockIndex::enumerate(&program.blocks) {
        for instruction in &code.instructions {
            match &instruction.op {
                // A `phi` uses its operand at the end of the predecessor.
                Op::Phi(from) => uses.extend(from.iter().copied().zip(instruction.operands.iter().copied())),
                _ => uses.extend(instruction.operands.iter().map(|o| (block, *o))),
            }
        }
        match &code.end {
            End::Branch { condition, .. } => uses.push((block, *condition)),
            End::Switch { value, .. } => uses.push((block, *value)),
            _ => {}
        }
    }
    for (block, value) in uses {
        let Definition::Inst { block: home, .. } = program.values[value as usize] else { continue };
        for i in loop_nest.exited_loops(home, block) {
            found.entry(i).or_default().insert(value);
        }
    }
    // If the `phi` is outside the loop, its operand is used at the end of a block inside.
    for (block, phi) in program.instructions().filter(|(_, x)| matches!(x.op, Op::Phi(_))) {
        for operand in &phi.operands {
            let Some(home) = program.block_of(*operand) else { continue };
            for i in loop_nest.exited_loops(home, block) {
                found.entry(i).or_default().insert(*operand);
            }
        }
    }
    found.into_iter().map(|(i, values)| (i, values.into_iter().collect())).collect()
}

impl<'p> Encoder<'p> {
    /// Encodes blocks in this order. If the first one is the loop's own header, its reach must be set already.
    fn encode_blocks(&mut self, order: &[BlockIndex], own_header: Option<BlockIndex>) -> Option<()> {
        for block in order {
            if let Some(node) = self.loop_nest.by_header.get(block).copied()
                && own_header != Some(*block)
            {
                self.encode_loop(node)?;
            } else {
                self.encode_block(*block, own_header == Some(*block))?;
            }
        }
        Some(())
    }

    fn false_term(&mut self) -> Term {
        self.terms.truth(false)
    }

    fn edge(&mut self, from: BlockIndex, to: BlockIndex) -> Term {
        match self.edges.get(&(from, to)) {
            Some(active) => *active,
            None => self.false_term(),
        }
    }

    /// Returns the edges into a block that may be taken, without the back edges if the block is a header.
    fn incoming_edges(&mut self, block: BlockIndex) -> Vec<(BlockIndex, Term)> {
        let node = self.loop_nest.by_header.get(&block).map(|i| &self.loop_nest.nodes[*i]);
        let inside = |p: &BlockIndex| node.is_some_and(|c| c.blocks.contains(p));
        let from: Vec<BlockIndex> = self.loop_nest.predecessors[block].iter().copied().filter(|p| !inside(p)).collect();
        let mut incoming = Vec::new();
        for p in from {
            let active = self.edge(p, block);
            if self.terms.as_constant(active) != Some(0) {
                incoming.push((p, active));
            }
        }
        incoming
    }

    fn any_taken(&mut self, incoming: &[(BlockIndex, Term)]) -> Term {
        let mut any = self.false_term();
        for (_, active) in incoming {
            any = self.terms.or(any, *active);
        }
        any
    }

    /// Sets the reach, the guards and the memory of a block from its incoming edges.
    fn enter(&mut self, block: BlockIndex, incoming: &[(BlockIndex, Term)]) {
        let dominator = if block == BlockIndex::ENTRY { None } else { self.program.immediate_dominator(block) };
        let mut reach = if block == BlockIndex::ENTRY { self.terms.truth(true) } else { self.any_taken(incoming) };
        if let Some(d) = dominator
            && let Some(before) = self.reach_from_dominator(d, block)
        {
            reach = before;
        }
        self.reach[block] = Some(reach);
        self.guards[block] = self.guards_at(block, dominator);
        let mut cells: Option<Cells> = None;
        for (p, active) in incoming {
            let state = self.states.get(&(*p, block)).cloned().unwrap_or_default();
            cells = Some(match cells {
                None => state,
                Some(others) => state.merged(&mut self.terms, *active, &others),
            });
        }
        self.cells = cells.unwrap_or_default();
    }

    /// Returns the reach of `dominator` if every path from there leads to `block`.
    fn reach_from_dominator(&mut self, dominator: BlockIndex, block: BlockIndex) -> Option<Term> {
        let mut from = dominator;
        // A dominator inside a loop that does not contain the block is replaced by that loop's header.
        while let Some(node) = self
            .loop_nest
            .nodes
            .iter()
            .find(|c| c.header != from && c.blocks.contains(&from) && !c.blocks.contains(&block))
        {
            from = node.header;
        }
        let leaves = self.loop_nest.nodes.iter().any(|c| c.header == from && !c.blocks.contains(&block));
        if leaves && !self.unrolled.contains(&from) {
            return None;
        }
        let (mut todo, mut seen) = (vec![from], BTreeSet::new());
        while let Some(at) = todo.pop() {
            if at == block || !seen.insert(at) {
                continue;
            }
            let node = self.loop_nest.by_header.get(&at).map(|i| &self.loop_nest.nodes[*i]);
            let next: Vec<BlockIndex> = match node {
                Some(c) if !c.blocks.contains(&block) => {
                    if !self.unrolled.contains(&at) {
                        return None;
                    }
                    let out = |b: &BlockIndex| successors(&self.program.blocks[*b].end);
                    c.blocks.iter().flat_map(out).filter(|b| !c.blocks.contains(b)).collect()
                }
                _ => successors(&self.program.blocks[at].end),
            };
            // Give up at a return, and at a back edge to a loop around both blocks.
            let back = |b: &BlockIndex| *b != block && self.program.dominates(*b, at);
            if next.is_empty() || next.iter().any(back) {
                return None;
            }
            todo.extend(next);
            if seen.len() > 200 {
                return None;
            }
        }
        self.reach[from]
    }

    fn guards_at(&mut self, block: BlockIndex, dominator: Option<BlockIndex>) -> Rc<Vec<Guard>> {
        let Some(d) = dominator else { return Rc::default() };
        // For an unrolled loop, the recorded conditions are those of the last copy, which need not be those of
        // every exit.
        let copies = |b: BlockIndex| {
            self.loop_nest
                .nodes
                .iter()
                .find(|c| self.unrolled.contains(&c.header) && c.blocks.contains(&b) && !c.blocks.contains(&block))
        };
        let mut from = d;
        let mut plain = true;
        while let Some(node) = copies(from) {
            plain = false;
            match self.program.immediate_dominator(node.header) {
                Some(before) => from = before,
                None => return Rc::default(),
            }
        }
        let before = self.guards[from].clone();
        let single =
            self.loop_nest.predecessors[block].iter().filter(|p| !self.program.dominates(block, **p)).count() == 1;
        if !plain || !single || !self.loop_nest.predecessors[block].contains(&d) {
            return before;
        }
        match self.condition_of(d, block) {
            Some((holds, label)) if self.terms.as_constant(holds) != Some(1) => {
                let mut guards = (*before).clone();
                guards.push(Guard { holds, block: d, label });
                Rc::new(guards)
            }
            _ => before,
        }
    }

    /// Returns the condition under which a block branches to `to`.
    fn condition_of(&mut self, block: BlockIndex, to: BlockIndex) -> Option<(Term, EdgeLabel)> {
        match &self.program.blocks[block].end {
            End::Branch { condition, then, other } if then != other => {
                let bit = *self.value(*condition).first()?;
                let is_then = *then == to;
                let holds = if is_then { bit } else { self.terms.not(bit) };
                Some((holds, EdgeLabel::Condition(is_then)))
            }
            End::Switch { value, default, cases } => {
                let of = *self.value(*value).first()?;
                let sort = self.terms.sort(of);
                let mut any = self.false_term();
                let mut named = Vec::new();
                let is_default = *default == to;
                // For the default, exclude all cases that branch elsewhere.
                for (case, _) in cases.iter().filter(|(_, target)| (*target == to) != is_default) {
                    let number = self.terms.constant(*case, sort);
                    let is = self.terms.compare(Operation::Eq, of, number);
                    any = self.terms.or(any, is);
                    named.push(*case);
                }
                if is_default {
                    return Some((self.terms.not(any), EdgeLabel::Default));
                }
                Some((any, EdgeLabel::Case(named)))
            }
            _ => None,
        }
    }

    fn encode_block(&mut self, block: BlockIndex, entered: bool) -> Option<()> {
        if !entered {
            let incoming = self.incoming_edges(block);
            self.enter(block, &incoming);
            self.phis(block, &incoming);
        }
        let reach = self.reach[block].unwrap_or_else(|| self.terms.truth(false));
        let dead = self.terms.as_constant(reach) == Some(0);
        let size = self.program.blocks[block].instructions.len() + 1;
        self.steps += size;
        self.work += size;
        let is_late = || self.end.is_some_and(|end| Instant::now() >= end);
        if self.steps > MAX_INSTRUCTIONS || self.work > MAX_WORK || is_late() {
            return None;
        }
        let program = self.program;
        for instruction in &program.blocks[block].instructions {
            match &instruction.op {
                Op::Phi(_) => {}
                Op::Call(name, _) if name == MARK => self.mark(block, reach, &instruction.operands),
                _ if dead => {}
                _ => {
                    let lanes = self.instruction(instruction);
                    if let (Op::Compare(_), [l, r]) = (&instruction.op, &instruction.operands[..]) {
                        self.note_comparison(*l, *r);
                    }
                    self.values[instruction.result as usize] = Some(lanes);
                }
            }
        }
        for to in successors(&program.blocks[block].end) {
            let active = match self.condition_of(block, to) {
                _ if dead => self.false_term(),
                Some((holds, _)) => self.terms.and(reach, holds),
                None => reach,
            };
            self.edges.insert((block, to), active);
            self.states.insert((block, to), self.cells.clone());
        }
        Some(())
    }

    fn note_comparison(&mut self, left: ValueId, right: ValueId) {
        let (l, r) = (self.value(left), self.value(right));
        if let ([l], [r]) = (&l[..], &r[..]) {
            for i in &self.open_loops {
                self.loops[*i].compared.push((*l, *r));
            }
        }
    }

    fn mark(&mut self, block: BlockIndex, reach: Term, operands: &[ValueId]) {
        let (Some(goal), Some(value)) = (operands.first(), operands.get(1)) else { return };
        let Some(goal) = self.program.constant(*goal).and_then(|g| u32::try_from(g).ok()) else { return };
        let holds = match self.terms.as_constant(reach) {
            Some(0) => reach,
            _ => match self.value(*value).first() {
                Some(bit) => *bit,
                None => return,
            },
        };
        let guards = self.guards[block].clone();
        let occurrence = Occurrence { reach, holds, block, guards, value: *value, loops: self.loops.len() };
        self.marks.entry(goal).or_default().push(occurrence);
    }

    /// Merges the operands of a `phi` over the given edges, lane by lane.
    fn merge_operands(
        &mut self,
        from: &[BlockIndex],
        operands: &[ValueId],
        incoming: &[(BlockIndex, Term)],
    ) -> Option<Vec<Term>> {
        let mut chosen: Option<Vec<Term>> = None;
        for (p, active) in incoming {
            let i = from.iter().position(|b| b == p)?;
            let lanes = self.value(operands[i]);
            chosen = Some(match chosen {
                None => lanes,
                Some(others) => {
                    let pairs: Vec<(Term, Term)> = lanes.into_iter().zip(others).collect();
                    pairs.into_iter().map(|(lane, other)| self.terms.select(*active, lane, other)).collect()
                }
            });
        }
        chosen
    }

    fn phis(&mut self, block: BlockIndex, incoming: &[(BlockIndex, Term)]) {
        let program = self.program;
        let mut found = Vec::new();
        for instruction in &program.blocks[block].instructions {
            let Op::Phi(from) = &instruction.op else { break };
            let lanes = match self.merge_operands(from, &instruction.operands, incoming) {
                Some(lanes) => lanes,
                None => self.fresh(instruction.result, "nowhere"),
            };
            found.push((instruction.result, lanes));
        }
        for (result, lanes) in found {
            self.values[result as usize] = Some(lanes);
        }
    }
}
