//! Computes what one input of a kernel flows to: explicitly through values and memory, implicitly through branches.
//!
//! Memory is distinguished by variable and argument; two arguments are assumed to be different buffers.

use std::collections::{BTreeMap, HashSet};

use crate::llvm::DebugLocation;
use crate::program::{Definition, End, Instruction, Kind, Op, Program, Region, ValueId};

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

/// The values, memory and blocks tainted by an input.
pub struct Flow<'p> {
    program: &'p Program,
    /// By block: the branches that decide whether it is executed.
    controlling_branches: Vec<Vec<usize>>,
    /// By block: the branches that decide by which edge it is entered.
    choices: Vec<Vec<usize>>,
    /// Loops: their blocks, and those of them that have an edge out of the loop.
    loops: Vec<(HashSet<usize>, Vec<usize>)>,
    /// By block: the loops that contain it.
    enclosing: Vec<Vec<usize>>,
    values: HashSet<ValueId>,
    contents: HashSet<Region>,
    control_tainted: Vec<bool>,
}

/// A memory access of a builtin or instruction.
struct Access {
    pointer: ValueId,
    /// Operands that contribute to the address or the size of the access.
    address: Vec<ValueId>,
}

/// Returns whether a builtin synchronises work-items.
fn synchronises(base: &str) -> bool {
    matches!(base, "barrier" | "work_group_barrier" | "sub_group_barrier" | "wait_group_events")
        || base.starts_with("work_group_")
        || base.starts_with("sub_group_")
        || base.starts_with("__spirv_Group")
        || base.starts_with("__spirv_ControlBarrier")
}

/// By block: the branches from which two successors lead there before their paths have joined or returned to
/// the branch.
fn choices(program: &Program) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); program.blocks.len()];
    for branch in 0..program.blocks.len() {
        let sides = program.cfg.successors(branch);
        if sides.len() < 2 {
            continue;
        }
        let together = program.dominance.immediate_post_dominator(&program.cfg, branch);
        let mut ways = vec![0u32; program.blocks.len()];
        for side in sides {
            let mut seen = HashSet::new();
            let mut todo = vec![side];
            while let Some(block) = todo.pop() {
                if seen.insert(block) {
                    ways[block] += 1;
                    if block != branch && Some(block) != together {
                        todo.extend(program.cfg.successors(block));
                    }
                }
            }
        }
        for (block, _) in ways.iter().enumerate().filter(|(_, n)| **n > 1) {
            all[block].push(branch);
        }
    }
    all
}

/// Finds natural loops, with the blocks that leave them.
fn loops(program: &Program) -> Vec<(HashSet<usize>, Vec<usize>)> {
    let cfg = &program.cfg;
    let mut bodies: BTreeMap<usize, HashSet<usize>> = BTreeMap::new();
    for latch in (0..cfg.len()).filter(|b| cfg.reachable[*b]) {
        for header in cfg.successors(latch).into_iter().filter(|h| program.dominance.dominates(*h, latch)) {
            let blocks = bodies.entry(header).or_insert_with(|| [header].into());
            let mut todo = vec![latch];
            while let Some(block) = todo.pop() {
                if blocks.insert(block) {
                    todo.extend(cfg.incoming(block).into_iter().map(|e| e.block));
                }
            }
        }
    }
    let with_exits = |blocks: HashSet<usize>| {
        let leaves = |b: &usize| cfg.successors(*b).iter().any(|s| !blocks.contains(s));
        let exits = blocks.iter().copied().filter(leaves).collect();
        (blocks, exits)
    };
    bodies.into_values().map(with_exits).collect()
}

impl<'p> Flow<'p> {
    /// Computes the fixpoint of the taint of one input.
    pub fn of(program: &'p Program, input: Input) -> Flow<'p> {
        let dependences = program.dominance.control_dependences(&program.cfg);
        let controlling_branches =
            dependences.into_iter().map(|edges| edges.into_iter().map(|e| e.block).collect()).collect();
        let loops = loops(program);
        let mut enclosing = vec![Vec::new(); program.blocks.len()];
        for (number, (blocks, _)) in loops.iter().enumerate() {
            blocks.iter().for_each(|block| enclosing[*block].push(number));
        }
        let mut flow = Flow {
            program,
            controlling_branches,
            choices: choices(program),
            loops,
            enclosing,
            values: HashSet::new(),
            contents: HashSet::new(),
            control_tainted: vec![false; program.blocks.len()],
        };
        match input {
            Input::Contents(position) => {
                flow.contents.insert(Region::Argument(position));
            }
            Input::Value(position) => {
                let param = program.params[position as usize];
                if program.by_value[position as usize].is_some() {
                    flow.contents.insert(Region::Argument(position));
                } else {
                    flow.values.insert(param);
                }
            }
        }
        while flow.propagate() {}
        flow
    }

    fn size(&self) -> usize {
        self.values.len() + self.contents.len() + self.control_tainted.iter().filter(|e| **e).count()
    }

    /// Visits all instructions once; returns whether anything new was tainted.
    fn propagate(&mut self) -> bool {
        let before = self.size();
        for b in 0..self.program.blocks.len() {
            let decided =
                self.controlling_branches[b].iter().any(|d| self.control_tainted[*d] || self.ends_tainted(*d));
            self.control_tainted[b] |= decided;
            for instruction in &self.program.blocks[b].instructions {
                if self.visit(b, instruction) {
                    self.values.insert(instruction.result);
                }
            }
        }
        self.size() > before
    }

    fn ends_tainted(&self, block: usize) -> bool {
        match &self.program.blocks[block].end {
            End::Branch { condition, .. } => self.values.contains(condition),
            End::Switch { value, .. } => self.values.contains(value),
            _ => false,
        }
    }

    /// Returns whether taint decides which value a `phi` takes: by the edge through which its block is entered, or by
    /// when a loop is left.
    fn is_chosen_by_taint(&self, block: usize, from: &[usize]) -> bool {
        let left_by_taint = |b: &usize| {
            let left =
                self.enclosing[*b].iter().map(|l| &self.loops[*l]).filter(|(blocks, _)| !blocks.contains(&block));
            left.flat_map(|(_, exits)| exits).any(|e| self.ends_tainted(*e))
        };
        self.choices[block].iter().any(|d| self.ends_tainted(*d)) || from.iter().any(left_by_taint)
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

    fn holds_taint(&self, pointer: ValueId) -> bool {
        let roots = self.roots(pointer);
        // A struct passed by value is private to the work-item.
        let own = |r: &Region| match r {
            Region::Argument(position) => self.program.by_value[*position as usize].is_some(),
            Region::Private(_) => true,
            Region::Variable(_) | Region::Unknown => false,
        };
        if !roots.is_empty() && roots.iter().all(own) {
            return roots.iter().any(|r| self.contents.contains(r));
        }
        let anything = roots.is_empty() || roots.iter().any(|r| self.may_be_any_buffer(r));
        let unknown = self.contents.iter().any(|r| self.may_be_any_buffer(r));
        unknown || (anything && !self.contents.is_empty()) || roots.iter().any(|r| self.contents.contains(r))
    }

    fn taint_contents(&mut self, pointer: ValueId) {
        let roots = self.roots(pointer);
        if roots.is_empty() {
            self.contents.insert(Region::Unknown);
        }
        self.contents.extend(roots);
    }

    fn is_pointer(&self, value: ValueId) -> bool {
        self.program.shape(value).kind == Kind::Pointer
    }

    /// Returns whether an instruction's result is tainted, and taints the memory that it writes.
    fn visit(&mut self, block: usize, instruction: &Instruction) -> bool {
        let taken = instruction.operands.iter().any(|o| self.values.contains(o));
        match &instruction.op {
            Op::Load => taken || self.holds_taint(instruction.operands[0]),
            Op::Store => {
                if taken || self.control_tainted[block] {
                    self.taint_contents(instruction.operands[1]);
                }
                false
            }
            Op::AtomicRmw(_) | Op::CompareExchange => {
                let tainted = taken || self.control_tainted[block] || self.holds_taint(instruction.operands[0]);
                if tainted {
                    self.taint_contents(instruction.operands[0]);
                }
                tainted
            }
            Op::Phi(from) => taken || self.is_chosen_by_taint(block, from),
            Op::Call(_, base) => self.call(block, instruction, base, taken),
            _ => taken,
        }
    }

    fn call(&mut self, block: usize, instruction: &Instruction, base: &str, taken: bool) -> bool {
        let pointers: Vec<ValueId> = instruction.operands.iter().copied().filter(|o| self.is_pointer(*o)).collect();
        let image = |o: &ValueId| match self.program.values[*o as usize] {
            Definition::Param(position) => self.contents.contains(&Region::Argument(position)) && !self.is_pointer(*o),
            _ => false,
        };
        // Only some builtins read the contents of an image; the others query its size and type.
        let reads_image = base.starts_with("read_image") && instruction.operands.iter().any(image);
        let given = reads_image || pointers.iter().any(|p| self.holds_taint(*p));
        let tainted = taken || given;
        if base.starts_with("write_image")
            && (taken || self.control_tainted[block])
            && let Some(Definition::Param(position)) =
                instruction.operands.first().map(|o| self.program.values[*o as usize].clone())
        {
            self.contents.insert(Region::Argument(position));
        }
        let only_reads = ["vload", "prefetch", "read_image", "get_image", "printf"];
        if (tainted || self.control_tainted[block]) && !only_reads.iter().any(|p| base.starts_with(p)) {
            for pointer in pointers {
                self.taint_contents(pointer);
            }
        }
        tainted || (synchronises(base) && self.control_tainted[block])
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
                let numbers: &[usize] = match base.as_str() {
                    b if b.starts_with("vload") => &[0],
                    b if b.starts_with("vstore") => &[1],
                    b if b.starts_with("async_work_group") => &[2, 3],
                    b if b.starts_with("write_image") => &[1, 2],
                    _ if name.starts_with("llvm.mem") => &[2],
                    _ => &[],
                };
                if name.starts_with("llvm.lifetime") || name.starts_with("llvm.assume") {
                    return Vec::new();
                }
                let numbers: Vec<ValueId> = numbers.iter().filter_map(|i| operands.get(*i).copied()).collect();
                let pointers: Vec<ValueId> = operands.iter().filter(is_memory).copied().collect();
                if base.starts_with("write_image") {
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

    /// Returns the tainted branch that the execution of `block` depends on.
    fn tainting_branch(&self, block: usize) -> Option<usize> {
        let mut seen = HashSet::new();
        let mut todo = vec![block];
        while let Some(b) = todo.pop() {
            for controlling in &self.controlling_branches[b] {
                if self.ends_tainted(*controlling) {
                    return Some(*controlling);
                }
                if seen.insert(*controlling) {
                    todo.push(*controlling);
                }
            }
        }
        None
    }

    fn branch_location(&self, block: usize) -> Option<DebugLocation> {
        let code = &self.program.blocks[block];
        let condition = match &code.end {
            End::Branch { condition: value, .. } | End::Switch { value, .. } => self.program.instruction(*value),
            _ => None,
        };
        condition.and_then(|c| c.location.clone()).or_else(|| code.end_location.clone().filter(|l| l.line > 0))
    }

    /// Returns the sinks that the input flows to. `any_branch`: every tainted branch counts.
    pub fn sinks(&self, any_branch: bool) -> Vec<Sink> {
        let mut sinks = Vec::new();
        for (b, instruction) in self.program.instructions().filter(|(b, _)| self.program.cfg.reachable[*b]) {
            let accesses = self.accesses(instruction);
            for access in &accesses {
                if access.address.iter().any(|v| self.values.contains(v)) {
                    sinks.push(Sink::Address { of: self.region_of(access), location: instruction.location.clone() });
                }
            }
            if !self.control_tainted[b] {
                continue;
            }
            let location = self.tainting_branch(b).and_then(|g| self.branch_location(g));
            if let Some(access) = accesses.first() {
                let guards = Some((self.region_of(access), instruction.location.clone()));
                sinks.push(Sink::Branch { location: location.clone(), guards });
            }
            if matches!(&instruction.op, Op::Call(_, base) if synchronises(base)) {
                sinks.push(Sink::Barrier { location, barrier: instruction.location.clone() });
            }
        }
        if any_branch && sinks.is_empty() {
            let tainted = (0..self.program.blocks.len()).filter(|b| self.ends_tainted(*b));
            sinks.extend(tainted.map(|b| Sink::Branch { location: self.branch_location(b), guards: None }));
        }
        sinks
    }
}
