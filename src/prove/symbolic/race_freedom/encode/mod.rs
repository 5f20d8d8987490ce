//! Encodes what one work-item does in a segment: which copies of nodes it passes, what values are there, and which
//! memory it accesses.
//!
//! What both work-items compute together is one symbol for both. Names say so: those of symbols that each work-item has
//! for itself end with its number.

mod instructions;
mod loops;
mod value;

pub use self::value::{Place, Value};

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::llvm::IntPredicate;
use kassay_model::native::abi::placeholder::RETURNS;

use super::accesses::{Access, Base, Elements, Mode, Unsupported};
use super::graph::NodeId;
use super::invariant::Invariant;
use super::kernel::Kernel;
use super::launch::Launch;
use super::scope::{Item, Scope, Shape};
use super::segments::{Copy, CopyEdge, Cut, Segment};
use crate::program::{Definition, End, Instruction, Op, Region, ValueId};
use crate::solve::integers::{Fact, Integers, Polynomial, Range};

/// Two work-items in a segment.
pub struct Context<'k, 'p> {
    pub kernel: &'k Kernel<'p>,
    pub scope: Scope,
    pub segment: Segment,
    pub launch: Launch,
    /// By loop: whether one of its cycles passes no barrier at which segments end.
    free: Vec<bool>,
    /// Whether work-items come to the start in the same iterations: no branch that may part them decides who comes
    /// there, and how often.
    started_together: bool,
    /// Objects that are written in the segment.
    written: BTreeSet<Region>,
    /// By loop: what holds whenever its header is reached.
    invariants: &'k [Vec<Invariant>],
    /// When encoding is given up.
    end: Option<Instant>,
}

impl<'k, 'p> Context<'k, 'p> {
    /// Prepares the segment from `start` (the entry if `None`) to the barriers of `cut`.
    pub fn new(
        kernel: &'k Kernel<'p>,
        shape: Shape,
        scope: Scope,
        (start, cut): (Option<NodeId>, Cut),
        invariants: &'k [Vec<Invariant>],
        end: Option<Instant>,
        integers: &mut Integers,
    ) -> Result<Context<'k, 'p>, Unsupported> {
        let graph = &kernel.graph;
        let segment = Segment::of(graph, start, cut)?;
        let launch = Launch::new(kernel, shape, scope, integers);
        let free = (0..graph.loops.len()).map(|l| graph.has_free_cycle(l, |barrier| cut.is_at(barrier))).collect();
        let mut written = BTreeSet::new();
        for (node, _) in &segment.copies {
            for (_, accesses) in kernel.instructions(*node) {
                for access in accesses.iter().filter(|a| a.mode != Mode::Read) {
                    written.extend(kernel.regions(access.pointer));
                }
            }
        }
        let block = graph.nodes[start.unwrap_or(graph.order[0])].block;
        let started_together = kernel.uniformity.divergent_deciders(block).next().is_none();
        Ok(Context { kernel, scope, segment, launch, free, started_together, written, invariants, end })
    }

    /// What holds whenever a loop's header is reached.
    pub fn invariants(&self, l: usize) -> &[Invariant] {
        &self.invariants[l]
    }

    /// Whether work-items may come to a barrier in different iterations of a loop of the segment.
    pub fn is_entered_apart(&self, node: NodeId) -> bool {
        self.kernel.graph.nodes[node].loops.iter().any(|l| !self.is_convergent(*l))
    }

    /// Whether the iteration of a loop around the start in which it was passed is the same for both.
    fn starts_in_one_iteration(&self, l: usize) -> bool {
        self.segment.phase_of(l).is_some() && (self.started_together || self.is_convergent(l))
    }

    fn is_convergent(&self, l: usize) -> bool {
        self.kernel.is_convergent(l, self.free[l])
    }

    /// Whether both work-items pass a copy as often as each other, together.
    fn is_together(&self, (node, phase): Copy) -> bool {
        if self.scope == Scope::InterGroup {
            return false;
        }
        self.kernel.graph.nodes[node].loops.iter().all(|l| match self.segment.phase_of(*l) {
            // The iteration in which both passed the start.
            Some(own) if phase == 0 || own > phase => self.starts_in_one_iteration(*l),
            // The next one.
            Some(own) if own == phase => !self.free[*l],
            _ if phase == 0 && self.segment.is_before.contains(&node) => !self.kernel.uniformity.leaves_apart(*l),
            _ => !self.free[*l],
        })
    }
}

/// An access in a copy of a node.
pub struct Occurrence<'p> {
    pub instruction: &'p Instruction,
    /// What the instruction says of it.
    pub access: Access,
    pub mode: Mode,
    pub places: Vec<Place>,
    pub bytes: u64,
    /// The coordinates, of an access to an image.
    pub texel: Option<Vec<Value>>,
    /// When the copy is passed.
    pub reach: Fact,
    /// What an atomic returns, if anything depends on it.
    pub result: Option<Polynomial>,
}

/// An operation that is that of integers only if its result fits its type.
pub struct Obligation<'p> {
    pub instruction: &'p Instruction,
    pub value: Polynomial,
    pub range: Range,
    pub reach: Fact,
}

/// What comes after a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The barrier that begins a node, reached from a copy of a phase.
    Barrier(NodeId, usize),
    /// The work-item ends, but by a `return` after which the others do not wait for it.
    End,
}

/// The `phi`s of a loop in one copy of its header.
pub struct HeaderValues {
    pub l: usize,
    pub copy: Copy,
    /// By `phi`: its value, and that with which the loop was entered.
    pub phis: Vec<(ValueId, Value, Value)>,
}

/// Encodes one work-item.
pub struct Encoder<'a, 'k, 'p> {
    pub context: &'a Context<'k, 'p>,
    pub item: Item,
    pub integers: &'a mut Integers,
    values: HashMap<(ValueId, usize), Value>,
    reach: HashMap<Copy, Fact>,
    /// By copy: its incoming edges with the conditions under which they are taken.
    taken: HashMap<Copy, Vec<(Copy, Fact)>>,
    /// By loop around the start: how many iterations came before that in which the start was passed.
    iterations: HashMap<usize, Polynomial>,
    /// By `phi` of such a loop: the value with which it was entered.
    entered: HashMap<ValueId, Value>,
    pub headers: Vec<HeaderValues>,
    pub accesses: Vec<Occurrence<'p>>,
    pub events: Vec<(Event, Fact)>,
    /// When a `return` is passed that is marked as one.
    left: Vec<Fact>,
    pub obligations: Vec<Obligation<'p>>,
    /// When the copy that is being encoded is passed.
    here: Fact,
}

impl<'a, 'k, 'p> Encoder<'a, 'k, 'p> {
    /// Encodes a work-item in a segment.
    pub fn encode(
        context: &'a Context<'k, 'p>,
        item: Item,
        integers: &'a mut Integers,
    ) -> Result<Encoder<'a, 'k, 'p>, Unsupported> {
        let mut encoder = Encoder {
            context,
            item,
            integers,
            values: HashMap::new(),
            reach: HashMap::new(),
            taken: HashMap::new(),
            iterations: HashMap::new(),
            entered: HashMap::new(),
            headers: Vec::new(),
            accesses: Vec::new(),
            events: Vec::new(),
            left: Vec::new(),
            obligations: Vec::new(),
            here: Fact::True,
        };
        encoder.run()?;
        Ok(encoder)
    }

    fn run(&mut self) -> Result<(), Unsupported> {
        let (segment, graph) = (&self.context.segment, &self.context.kernel.graph);
        for node in &segment.before {
            let from: Vec<CopyEdge> = graph.nodes[*node]
                .predecessors
                .iter()
                .filter(|(p, _)| graph.position[*p] < graph.position[*node] && segment.is_before.contains(p))
                .map(|(p, outcome)| ((*p, 0), *outcome))
                .collect();
            let reach = if *node == graph.order[0] { Fact::True } else { self.join((*node, 0), &from) };
            self.node((*node, 0), reach, true)?;
        }
        for copy in &segment.copies {
            let reach = if *copy == segment.first {
                // A barrier has one predecessor: what stands before it in its block.
                let before = graph.nodes[copy.0].barrier.as_ref().and(graph.nodes[copy.0].predecessors.first());
                before.and_then(|(p, _)| self.reach.get(&(*p, 0)).cloned()).unwrap_or(Fact::True)
            } else {
                let from = segment.incoming.get(copy).cloned().unwrap_or_default();
                self.join(*copy, &from)
            };
            self.node(*copy, reach.clone(), false)?;
            let node = &graph.nodes[copy.0];
            let is_last = graph.last[node.block.0] == copy.0;
            if is_last && matches!(self.context.kernel.program.blocks[node.block].end, End::Return) {
                // Who has come to a `return` is missed by nobody, in CUDA; without such marks none is.
                let left = Fact::any(self.left.iter().cloned());
                self.events.push((Event::End, reach.and(&left.negated())));
            }
        }
        for (copy, to) in &segment.ends {
            let reach = self.reach[copy].clone();
            self.events.push((Event::Barrier(*to, copy.1), reach));
        }
        Ok(())
    }

    fn node(&mut self, copy: Copy, reach: Fact, is_before: bool) -> Result<(), Unsupported> {
        let kernel = self.context.kernel;
        if self.context.end.is_some_and(|end| Instant::now() >= end) {
            return Err(Unsupported::new("no time was left", None));
        }
        self.reach.insert(copy, reach.clone());
        self.here = reach;
        let header = kernel.graph.headers[copy.0];
        if let Some(l) = header {
            self.header(copy, l, is_before);
        }
        for (instruction, accesses) in kernel.instructions(copy.0) {
            if matches!(&instruction.op, Op::Call(name, _) if name == RETURNS) {
                self.left.push(self.here.clone());
            }
            for access in accesses.iter().filter(|_| !is_before) {
                self.access(instruction, access, copy);
            }
            if !kernel.is_relevant(instruction.result) {
                continue;
            }
            match &instruction.op {
                Op::Phi(_) if header.is_some() => {}
                Op::Phi(from) => {
                    let value = self.joined(instruction, from, copy);
                    self.values.insert((instruction.result, copy.1), value);
                }
                _ => {
                    let args = instruction.operands.iter().map(|o| self.value(*o, copy)).collect();
                    let value = self.result(instruction, args, copy, is_before)?;
                    if let Some(access) = self.accesses.last_mut().filter(|a| std::ptr::eq(a.instruction, instruction))
                    {
                        access.result = value.number().cloned();
                    }
                    self.values.insert((instruction.result, copy.1), value);
                }
            }
        }
        Ok(())
    }

    fn access(&mut self, instruction: &'p Instruction, access: &Access, copy: Copy) {
        let mut places = match self.value(access.pointer, copy) {
            _ if access.texel.is_some() => {
                let region = self.context.kernel.regions(access.pointer).first().copied().unwrap_or(Region::Unknown);
                vec![Place { when: Fact::True, base: Base::Object(region), offset: Polynomial::default() }]
            }
            Value::Pointer(places) => places,
            _ => vec![Place { when: Fact::True, base: Base::UNKNOWN, offset: Polynomial::default() }],
        };
        if let Some((index, stride)) = access.index {
            let index = self.number(index, copy);
            let bytes = self.integers.multiply(&index, &Polynomial::constant(i128::from(stride)));
            for place in &mut places {
                place.offset = self.integers.add(&place.offset, &bytes);
            }
        }
        if let Some(elements) = access.elements {
            self.one_of(elements, access.bytes, &mut places, copy);
        }
        let texel = access.texel.map(|coordinates| self.texel(coordinates, copy));
        let (mode, bytes, reach) = (access.mode, access.bytes, self.here.clone());
        let access = access.clone();
        self.accesses.push(Occurrence { instruction, access, mode, places, bytes, texel, reach, result: None });
    }

    /// Moves places to any of the elements that begin there.
    fn one_of(&mut self, elements: Elements, bytes: u64, places: &mut [Place], copy: Copy) {
        let count = self.number(elements.count, copy);
        let element = self.integers.fresh("element", Range::from(0));
        let is_copied = self.integers.below(&element, &count);
        let mut offset = self.integers.multiply(&element, &Polynomial::constant(i128::from(bytes)));
        if let Some(stride) = elements.stride {
            let stride = self.number(stride, copy);
            offset = self.integers.multiply(&offset, &stride);
        }
        for place in places {
            place.when = place.when.and(&is_copied);
            place.offset = self.integers.add(&place.offset, &offset);
        }
    }

    /// The coordinates of a texel: the last ones of four mean nothing (OpenCL C 3.0, 6.15.15.4).
    fn texel(&mut self, coordinates: ValueId, copy: Copy) -> Vec<Value> {
        let lanes = self.context.kernel.program.shape(coordinates).lanes;
        let all = self.value(coordinates, copy);
        (0..lanes.clamp(1, 3) as usize).map(|lane| all.lane(lane)).collect()
    }

    /// The condition under which a copy is passed, given its predecessors.
    fn join(&mut self, copy: Copy, from: &[CopyEdge]) -> Fact {
        let mut taken = Vec::new();
        for (before, outcome) in from {
            let along = self.outcome(*before, *outcome);
            let along = self.reach[before].and(&along);
            taken.push((*before, along));
        }
        let any = Fact::any(taken.iter().map(|(_, fact)| fact.clone()));
        self.taken.insert(copy, taken);
        let Fact::Open(_) = any else { return any };
        let bit = self.integers.bit(&format!("pass {}@{}{}", copy.0, copy.1, self.item.suffix()));
        let same = bit.same(&any);
        self.integers.assert(&same);
        bit
    }

    /// The condition under which the branch at the end of a copy has an outcome.
    fn outcome(&mut self, copy: Copy, outcome: Option<usize>) -> Fact {
        let Some(outcome) = outcome else { return Fact::True };
        let block = self.context.kernel.graph.nodes[copy.0].block;
        match &self.context.kernel.program.blocks[block].end {
            End::Branch { condition, .. } => {
                let holds = match self.value(*condition, copy) {
                    Value::Bit(bit) => bit,
                    _ => {
                        let name = self.name(*condition, copy);
                        self.integers.bit(&format!("{name} as condition"))
                    }
                };
                if outcome == 0 { holds } else { holds.negated() }
            }
            End::Switch { value, cases, .. } => {
                let number = self.number(*value, copy);
                let bits = match self.context.kernel.program.shape(*value).kind {
                    crate::program::Kind::Int(bits) => bits,
                    _ => 64,
                };
                let mut is = |case: u64| {
                    let case = Polynomial::constant(i128::from(crate::program::signed(case, bits)));
                    self.integers.compare(IntPredicate::LLVMIntEQ, &number, &case)
                };
                match outcome.checked_sub(1).and_then(|i| cases.get(i)) {
                    Some((case, _)) => is(*case),
                    None => Fact::all(cases.iter().map(|(case, _)| is(*case).negated()).collect::<Vec<Fact>>()),
                }
            }
            _ => Fact::True,
        }
    }

    /// The name of a value in a copy: one for both work-items if they compute it together.
    fn name(&self, value: ValueId, copy: Copy) -> String {
        let together = !self.context.kernel.uniformity.is_divergent(value) && self.context.is_together(copy);
        let suffix = if together { "" } else { self.item.suffix() };
        format!("%{value}@{}{suffix}", copy.1)
    }

    /// A value as it is seen in a copy.
    pub fn value(&mut self, value: ValueId, copy: Copy) -> Value {
        let program = self.context.kernel.program;
        let shape = program.shape(value);
        match &program.values[value as usize] {
            Definition::Constant(_) if program.undefined.contains(&value) => {
                let name = self.integers.unique("undefined");
                Value::unknown(self.integers, shape, &name)
            }
            Definition::Constant(bits) => Value::constant(bits, shape),
            Definition::Variable(index, offset) => Value::at(Base::Object(Region::Variable(*index)), *offset),
            Definition::Param(position) if shape.kind == crate::program::Kind::Pointer => {
                Value::at(Base::Object(Region::Argument(*position)), 0)
            }
            Definition::Param(position) => {
                let bits = match shape.kind {
                    crate::program::Kind::Int(bits) => bits,
                    _ => 0,
                };
                Value::unknown(self.integers, shape, &super::scalars::scalar_name(*position, 0, bits))
            }
            Definition::Inst { block, index } => {
                let node = self.node_of(*block, *index);
                let phases = [copy.1, 0];
                for phase in phases {
                    let is_own = phase == 0
                        || self
                            .context
                            .segment
                            .loop_of(phase)
                            .is_some_and(|l| self.context.kernel.graph.loops[l].body.contains(&node));
                    if let (true, Some(known)) = (is_own, self.values.get(&(value, phase))) {
                        return known.clone();
                    }
                }
                // It is not reached on this way.
                let name = format!("%{value}?{}{}", copy.1, self.item.suffix());
                Value::unknown(self.integers, shape, &name)
            }
        }
    }

    /// The node of an instruction.
    fn node_of(&self, block: BlockIndex, index: usize) -> NodeId {
        let graph = &self.context.kernel.graph;
        let mut node = graph.last[block.0];
        while graph.nodes[node].instructions.start > index {
            node -= 1;
        }
        node
    }

    /// A value as a number.
    fn number(&mut self, value: ValueId, copy: Copy) -> Polynomial {
        match self.value(value, copy) {
            Value::Number(number) => number,
            Value::Bit(bit) => self.integers.choose(&bit, &Polynomial::constant(1), &Polynomial::default()),
            _ => self.integers.fresh("number", Range::signed(64)),
        }
    }

    /// The values that a `phi` may take, by the edge that is taken.
    fn incoming(&mut self, instruction: &Instruction, from: &[BlockIndex], copy: Copy) -> Vec<(Fact, Value)> {
        let last: Vec<NodeId> = from.iter().map(|b| self.context.kernel.graph.last[b.0]).collect();
        let taken = self.taken.get(&copy).cloned().unwrap_or_default();
        let mut all = Vec::new();
        for (before, fact) in taken {
            if let Some(i) = last.iter().position(|node| *node == before.0) {
                all.push((fact, self.value(instruction.operands[i], before)));
            }
        }
        all
    }

    /// The value of a `phi` that is no loop's.
    fn joined(&mut self, instruction: &Instruction, from: &[BlockIndex], copy: Copy) -> Value {
        let incoming = self.incoming(instruction, from, copy);
        let name = self.name(instruction.result, copy);
        self.merged(instruction, incoming, &name)
    }

    /// What the `phi`s of a loop's header become in the next iteration, by back edge.
    pub fn next_values(&mut self, l: usize, copy: Copy) -> Vec<(Fact, HashMap<ValueId, Value>)> {
        let kernel = self.context.kernel;
        let graph = &kernel.graph;
        let mut all = Vec::new();
        for (from, outcome) in &graph.nodes[copy.0].predecessors {
            let latch = (*from, copy.1);
            let Some(reach) = self.reach.get(&latch).cloned().filter(|_| graph.loops[l].latches.contains(from)) else {
                continue;
            };
            let along = reach.and(&self.outcome(latch, *outcome));
            let mut values = HashMap::new();
            for phi in &kernel.program.blocks[graph.nodes[copy.0].block].instructions {
                let Op::Phi(blocks) = &phi.op else { break };
                if let Some(i) = blocks.iter().position(|b| graph.last[b.0] == *from) {
                    values.insert(phi.result, self.value(phi.operands[i], latch));
                }
            }
            all.push((along, values));
        }
        all
    }

    /// When a copy is passed.
    pub fn reach(&self, copy: Copy) -> Fact {
        self.reach.get(&copy).cloned().unwrap_or(Fact::False)
    }

    /// One of several values.
    fn merged(&mut self, instruction: &Instruction, incoming: Vec<(Fact, Value)>, name: &str) -> Value {
        let shape = self.context.kernel.program.shape(instruction.result);
        if shape.lanes > 0 {
            return Value::unknown(self.integers, shape, name);
        }
        let numbers: Option<Vec<&Polynomial>> = incoming.iter().map(|(_, v)| v.number()).collect();
        let bits: Option<Vec<&Fact>> = incoming.iter().map(|(_, v)| v.bit()).collect();
        match (numbers, bits) {
            _ if incoming.is_empty() => Value::unknown(self.integers, shape, name),
            (Some(numbers), _) => {
                if numbers.iter().all(|n| *n == numbers[0]) {
                    return Value::Number(numbers[0].clone());
                }
                let range = numbers
                    .iter()
                    .skip(1)
                    .fold(self.integers.range(numbers[0]), |range, n| range.hull(self.integers.range(n)));
                let value = self.integers.symbol(name, range);
                for (taken, number) in incoming.iter().filter_map(|(taken, v)| Some((taken, v.number()?))) {
                    let same = self.integers.equal(&value, number);
                    self.integers.assert(&taken.implies(&same));
                }
                Value::Number(value)
            }
            (_, Some(_)) => {
                let bit = self.integers.bit(name);
                for (taken, known) in incoming.iter().filter_map(|(taken, v)| Some((taken, v.bit()?))) {
                    self.integers.assert(&taken.implies(&bit.same(known)));
                }
                Value::Bit(bit)
            }
            _ => self.merged_pointers(incoming, shape, name),
        }
    }

    fn merged_pointers(&mut self, incoming: Vec<(Fact, Value)>, shape: crate::program::Shape, name: &str) -> Value {
        let mut places = Vec::new();
        for (taken, value) in incoming {
            let Value::Pointer(all) = value else { return Value::unknown(self.integers, shape, name) };
            places.extend(all.into_iter().map(|place| Place { when: taken.and(&place.when), ..place }));
        }
        let Some(first) = places.first().map(|place| place.base) else {
            return Value::unknown(self.integers, shape, name);
        };
        if places.iter().any(|place| place.base != first) {
            return Value::Pointer(places);
        }
        let offset = self.integers.symbol(&format!("{name} offset"), Range::ALL);
        for place in &places {
            let same = self.integers.equal(&offset, &place.offset);
            self.integers.assert(&place.when.implies(&same));
        }
        Value::Pointer(vec![Place { when: Fact::True, base: first, offset }])
    }
}
