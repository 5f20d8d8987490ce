//! Computes what one input of a kernel flows to: explicitly through values and memory, implicitly through branches.
//!
//! Memory is distinguished by variable and argument; two arguments are assumed to be different buffers.

use std::collections::{BTreeSet, HashSet};

use kassay_ir::cfg::dataflow::State;
use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::cfg::natural_loops;
use kassay_ir::kernel::builtins::{self, Effect, Family};
use kassay_ir::llvm::DebugLocation;
use kassay_prove::program::{Definition, End, Instruction, Kind, Op, Program, Region, ValueId, control};

/// An input of a launch, by the argument's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Passed by value.
    Value(u32),
    /// The contents of a buffer or image.
    Contents(u32),
}

/// A place where an input affects which accesses are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    Address {
        of: Vec<Region>,
        location: Option<DebugLocation>,
    },
    /// A branch, with the access that it guards (`None` if the branch itself counts).
    Branch {
        location: Option<DebugLocation>,
        guards: Option<(Vec<Region>, Option<DebugLocation>)>,
    },
    Barrier {
        location: Option<DebugLocation>,
        barrier: Option<DebugLocation>,
    },
}

/// What an input can taint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Location {
    Value(ValueId),
    Contents(Region),
    /// The contents of some region.
    AnyContents,
    /// The contents of some region that may be memory of any buffer.
    AnyBuffer,
    /// The execution of a block.
    Execution(BlockIndex),
}

/// The tainted locations.
type TaintState = State<Location, ()>;

/// The values, memory and blocks tainted by an input.
pub struct Flow<'p> {
    propagation: &'p Propagation<'p>,
    state: TaintState,
}

/// The propagation of taint in a program.
pub struct Propagation<'p> {
    program: &'p Program,
    /// By block: the branches that decide whether it is executed.
    controlling_branches: Vec<BTreeSet<BlockIndex>>,
    /// By block: the branches that decide by which edge it is entered.
    choices: Vec<Vec<BlockIndex>>,
    /// Loops: their blocks, and those of them that have an edge out of the loop.
    loops: Vec<(BTreeSet<BlockIndex>, Vec<BlockIndex>)>,
    /// By block: the loops that contain it.
    enclosing: Vec<Vec<usize>>,
}

/// What taint is propagated through.
#[derive(Clone, Copy)]
enum Node<'p> {
    Block(BlockIndex),
    /// An instruction of a block.
    Instruction(BlockIndex, &'p Instruction),
}

/// A memory access of a builtin or instruction.
struct Access {
    pointer: ValueId,
    /// Operands that contribute to the address or the size of the access.
    address: Vec<ValueId>,
}

/// Returns whether a builtin writes nothing through its pointers.
fn only_reads(base: &str) -> bool {
    builtins::has(base, Effect::OnlyReads) || builtins::family(base) == Some(Family::Printf)
}

/// Returns whether a builtin synchronises work-items.
fn synchronises(base: &str) -> bool {
    builtins::has(base, Effect::Waits)
}

/// Finds natural loops, with the blocks that leave them.
fn loops(program: &Program) -> Vec<(BTreeSet<BlockIndex>, Vec<BlockIndex>)> {
    let successors = program.cfg.all_successors();
    let with_exits = |blocks: BTreeSet<usize>| {
        let blocks: BTreeSet<BlockIndex> = blocks.into_iter().map(BlockIndex).collect();
        let leaves = |b: &BlockIndex| successors[*b].iter().any(|s| !blocks.contains(&BlockIndex(*s)));
        let exits = blocks.iter().copied().filter(leaves).collect();
        (blocks, exits)
    };
    let all = natural_loops::find(&successors, |a, b| program.dominates(BlockIndex(a), BlockIndex(b)));
    all.into_iter().map(|l| with_exits(l.blocks)).collect()
}

impl<'p> Flow<'p> {
    /// Computes the fixpoint of the taint of one input.
    pub fn of(propagation: &'p Propagation<'p>, input: Input) -> Flow<'p> {
        let program = propagation.program;
        let mut state = TaintState::default();
        match input {
            Input::Contents(position) => propagation.taint_region(Region::Argument(position), &mut state),
            Input::Value(position) if program.by_value[position as usize].is_some() => {
                propagation.taint_region(Region::Argument(position), &mut state);
            }
            Input::Value(position) => _ = state.join(Location::Value(program.params[position as usize]), ()),
        }
        let mut nodes = Vec::new();
        for (b, code) in BlockIndex::enumerate(&program.blocks) {
            nodes.push(Node::Block(b));
            nodes.extend(code.instructions.iter().map(|instruction| Node::Instruction(b, instruction)));
        }
        state.solve(nodes.len(), |node, state| propagation.visit(nodes[node], state));
        Flow { propagation, state }
    }

    /// Returns the tainted branch that the execution of `block` depends on.
    fn tainting_branch(&self, block: BlockIndex) -> Option<BlockIndex> {
        let mut seen = HashSet::new();
        let mut todo = vec![block];
        while let Some(b) = todo.pop() {
            for controlling in &self.propagation.controlling_branches[b] {
                if self.propagation.ends_tainted(*controlling, &self.state) {
                    return Some(*controlling);
                }
                if seen.insert(*controlling) {
                    todo.push(*controlling);
                }
            }
        }
        None
    }

    /// Returns the sinks that the input flows to. `any_branch`: every tainted branch counts.
    pub fn sinks(&self, any_branch: bool) -> Vec<Sink> {
        let Flow { propagation, state } = self;
        let program = propagation.program;
        let mut sinks = Vec::new();
        for (b, instruction) in program.instructions().filter(|(b, _)| program.cfg.reachable[*b]) {
            let accesses = propagation.accesses(instruction);
            for access in &accesses {
                if access.address.iter().any(|v| state.contains(Location::Value(*v))) {
                    let of = propagation.region_of(access);
                    sinks.push(Sink::Address { of, location: instruction.location.clone() });
                }
            }
            if !state.contains(Location::Execution(b)) {
                continue;
            }
            let location = self.tainting_branch(b).and_then(|g| propagation.branch_location(g));
            if let Some(access) = accesses.first() {
                let guards = Some((propagation.region_of(access), instruction.location.clone()));
                sinks.push(Sink::Branch { location: location.clone(), guards });
            }
            if matches!(&instruction.op, Op::Call(_, base) if synchronises(base)) {
                sinks.push(Sink::Barrier { location, barrier: instruction.location.clone() });
            }
        }
        if any_branch && sinks.is_empty() {
            let tainted = BlockIndex::first(program.blocks.len()).filter(|b| propagation.ends_tainted(*b, state));
            sinks.extend(tainted.map(|b| Sink::Branch { location: propagation.branch_location(b), guards: None }));
        }
        sinks
    }
}

impl<'p> Propagation<'p> {
    /// Prepares the propagation of inputs.
    pub fn new(program: &'p Program) -> Propagation<'p> {
        let loops = loops(program);
        let mut enclosing = vec![Vec::new(); program.blocks.len()];
        for (number, (blocks, _)) in loops.iter().enumerate() {
            blocks.iter().for_each(|block| enclosing[*block].push(number));
        }
        let controlling_branches = program.dominance.deciders(&program.cfg);
        Propagation { program, controlling_branches, choices: control::joined_branches(program), loops, enclosing }
    }

    /// Applies the transfer function of a node.
    fn visit(&self, node: Node<'_>, state: &mut TaintState) {
        match node {
            Node::Block(b) => {
                let is_tainted =
                    |branch| state.contains(Location::Execution(branch)) || self.ends_tainted(branch, state);
                if self.controlling_branches[b].iter().any(|d| is_tainted(*d)) {
                    state.join(Location::Execution(b), ());
                }
            }
            Node::Instruction(b, instruction) => {
                if self.transfer(b, instruction, state) {
                    state.join(Location::Value(instruction.result), ());
                }
            }
        }
    }

    fn ends_tainted(&self, block: BlockIndex, state: &TaintState) -> bool {
        match &self.program.blocks[block].end {
            End::Branch { condition: value, .. } | End::Switch { value, .. } => state.contains(Location::Value(*value)),
            _ => false,
        }
    }

    /// Returns whether taint decides which value a `phi` takes: by the edge through which its block is entered, or by
    /// when a loop is left.
    fn is_chosen_by_taint(&self, block: BlockIndex, from: &[BlockIndex], state: &TaintState) -> bool {
        let left_by_taint = |b: &BlockIndex| {
            let left =
                self.enclosing[*b].iter().map(|l| &self.loops[*l]).filter(|(blocks, _)| !blocks.contains(&block));
            left.flat_map(|(_, exits)| exits).any(|e| self.ends_tainted(*e, state))
        };
        self.choices[block].iter().any(|d| self.ends_tainted(*d, state)) || from.iter().any(left_by_taint)
    }

    fn roots(&self, pointer: ValueId) -> Vec<Region> {
        match &self.program.values[pointer as usize] {
            Definition::Variable(index, _) => vec![Region::Variable(*index)],
            _ => self.program.roots[pointer as usize].clone(),
        }
    }

    /// Returns whether the region may be memory of any buffer.
    fn may_be_any_buffer(&self, region: &Region) -> bool {
        match region {
            Region::Unknown => true,
            Region::Argument(position) => self.program.may_share.get(*position as usize).copied().unwrap_or(false),
            _ => false,
        }
    }

    fn holds_taint(&self, pointer: ValueId, state: &TaintState) -> bool {
        let roots = self.roots(pointer);
        let any_root = || roots.iter().any(|r| state.contains(Location::Contents(*r)));
        // A struct passed by value is private to the work-item.
        let own = |r: &Region| match r {
            Region::Argument(position) => self.program.by_value[*position as usize].is_some(),
            Region::Private(_) => true,
            Region::Variable(_) | Region::Unknown => false,
        };
        if !roots.is_empty() && roots.iter().all(own) {
            return any_root();
        }
        let anything = roots.is_empty() || roots.iter().any(|r| self.may_be_any_buffer(r));
        state.contains(Location::AnyBuffer) || (anything && state.contains(Location::AnyContents)) || any_root()
    }

    fn taint_region(&self, region: Region, state: &mut TaintState) {
        state.join(Location::Contents(region), ());
        state.join(Location::AnyContents, ());
        if self.may_be_any_buffer(&region) {
            state.join(Location::AnyBuffer, ());
        }
    }

    fn taint_contents(&self, pointer: ValueId, state: &mut TaintState) {
        let roots = self.roots(pointer);
        if roots.is_empty() {
            self.taint_region(Region::Unknown, state);
        }
        roots.into_iter().for_each(|region| self.taint_region(region, state));
    }

    fn is_pointer(&self, value: ValueId) -> bool {
        self.program.shape(value).kind == Kind::Pointer
    }

    /// Returns whether an instruction's result is tainted, and taints the memory that it writes.
    fn transfer(&self, block: BlockIndex, instruction: &Instruction, state: &mut TaintState) -> bool {
        let taken = instruction.operands.iter().any(|o| state.contains(Location::Value(*o)));
        match &instruction.op {
            Op::Load => taken || self.holds_taint(instruction.operands[0], state),
            Op::Store => {
                if taken || state.contains(Location::Execution(block)) {
                    self.taint_contents(instruction.operands[1], state);
                }
                false
            }
            Op::AtomicRmw(_) | Op::CompareExchange => {
                let pointer = instruction.operands[0];
                let tainted = taken || state.contains(Location::Execution(block)) || self.holds_taint(pointer, state);
                if tainted {
                    self.taint_contents(pointer, state);
                }
                tainted
            }
            Op::Phi(from) => taken || self.is_chosen_by_taint(block, from, state),
            Op::Call(_, base) => self.call(block, instruction, base, taken, state),
            _ => taken,
        }
    }

    fn call(
        &self,
        block: BlockIndex,
        instruction: &Instruction,
        base: &str,
        taken: bool,
        state: &mut TaintState,
    ) -> bool {
        let pointers: Vec<ValueId> = instruction.operands.iter().copied().filter(|o| self.is_pointer(*o)).collect();
        let image = |o: &ValueId| match self.program.values[*o as usize] {
            Definition::Param(position) => {
                state.contains(Location::Contents(Region::Argument(position))) && !self.is_pointer(*o)
            }
            _ => false,
        };
        // Only some builtins read the contents of an image; the others query its size and type.
        let reads_image = builtins::family(base) == Some(Family::ImageRead) && instruction.operands.iter().any(image);
        let given = reads_image || pointers.iter().any(|p| self.holds_taint(*p, state));
        let tainted = taken || given;
        let is_executed_by_taint = state.contains(Location::Execution(block));
        if builtins::family(base) == Some(Family::ImageWrite)
            && (taken || is_executed_by_taint)
            && let Some(Definition::Param(position)) =
                instruction.operands.first().map(|o| self.program.values[*o as usize].clone())
        {
            self.taint_region(Region::Argument(position), state);
        }
        if (tainted || is_executed_by_taint) && !only_reads(base) {
            for pointer in pointers {
                self.taint_contents(pointer, state);
            }
        }
        tainted || (synchronises(base) && is_executed_by_taint)
    }

    /// Returns an instruction's accesses to memory that work-items share, or to private arrays at a variable index.
    fn accesses(&self, instruction: &Instruction) -> Vec<Access> {
        let operands = &instruction.operands;
        let at = |pointer: ValueId| Access { pointer, address: vec![pointer] };
        let all = match &instruction.op {
            Op::Load | Op::AtomicRmw(_) | Op::CompareExchange => vec![at(operands[0])],
            Op::Store => vec![at(operands[1])],
            Op::Call(name, base) => {
                let is_memory = |o: &&ValueId| self.is_pointer(**o);
                // Operands other than pointers that contribute to the address or the size of the access.
                let family = builtins::family(base);
                let numbers: &[usize] = match family {
                    Some(Family::VectorLoad) => &[0],
                    Some(Family::VectorStore) => &[1],
                    Some(Family::AsyncCopy) => &[2, 3],
                    Some(Family::ImageWrite) => &[1, 2],
                    None if name.starts_with("llvm.mem") => &[2],
                    _ => &[],
                };
                if name.starts_with("llvm.lifetime") || name.starts_with("llvm.assume") {
                    return Vec::new();
                }
                let numbers: Vec<ValueId> = numbers.iter().filter_map(|i| operands.get(*i).copied()).collect();
                let pointers: Vec<ValueId> = operands.iter().filter(is_memory).copied().collect();
                if family == Some(Family::ImageWrite) {
                    // The last operand is the colour.
                    let address = numbers.into_iter().filter(|n| operands.last() != Some(n)).collect();
                    return vec![Access { pointer: operands[0], address }];
                }
                let with_numbers = |pointer: ValueId| {
                    let mut address = vec![pointer];
                    address.extend(&numbers);
                    Access { pointer, address }
                };
                pointers.into_iter().map(with_numbers).collect()
            }
            _ => Vec::new(),
        };
        all.into_iter().filter(|a| !self.is_plainly_private(a.pointer)).collect()
    }

    /// Returns whether a pointer is a private variable, or points to a constant offset of one.
    fn is_plainly_private(&self, pointer: ValueId) -> bool {
        match self.program.instruction(pointer).map(|i| (&i.op, &i.operands)) {
            Some((Op::Alloca(_), _)) => true,
            Some((Op::Address { steps, .. }, operands)) => steps.is_empty() && self.is_plainly_private(operands[0]),
            Some((Op::Cast(_), operands)) => self.is_plainly_private(operands[0]),
            _ => match self.program.values[pointer as usize] {
                Definition::Param(position) => self.program.by_value[position as usize].is_some(),
                _ => false,
            },
        }
    }

    fn region_of(&self, access: &Access) -> Vec<Region> {
        match self.program.values[access.pointer as usize] {
            Definition::Param(position) => vec![Region::Argument(position)],
            _ => self.roots(access.pointer),
        }
    }

    fn branch_location(&self, block: BlockIndex) -> Option<DebugLocation> {
        let code = &self.program.blocks[block];
        let condition = match &code.end {
            End::Branch { condition: value, .. } | End::Switch { value, .. } => self.program.instruction(*value),
            _ => None,
        };
        condition.and_then(|c| c.location.clone()).or_else(|| code.end_location.clone().filter(|l| l.line > 0))
    }
}
