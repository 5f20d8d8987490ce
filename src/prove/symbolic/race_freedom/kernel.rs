//! What is known of a kernel before anything is encoded.

use std::collections::{BTreeSet, HashSet};

use kassay_ir::kernel::builtins::{self, Builtin, Effect, Family};
use kassay_model::interface::Interface;

use super::accesses::{Access, Base, Memory, Mode, Unsupported, accesses, memory_of};
use super::copies::Copies;
use super::graph::{Graph, NodeId};
use super::powers::Powers;
use super::uniformity::Uniformity;
use crate::program::ids::{Id, id_of};
use crate::program::{Definition, End, Instruction, Op, Program, Region, ValueId};

/// A kernel that can be encoded.
pub struct Kernel<'p> {
    pub program: &'p Program,
    pub interface: &'p Interface,
    pub graph: Graph,
    pub uniformity: Uniformity,
    pub copies: Copies,
    pub powers: Powers,
    /// By block and instruction.
    accesses: Vec<Vec<Vec<Access>>>,
    /// Objects that it may write.
    pub written: BTreeSet<Region>,
    /// Values on which addresses, branches and barriers depend.
    relevant: HashSet<ValueId>,
    /// Dimensions that its launches have: those of which it reads ids.
    pub dimensions: [bool; 3],
    /// A call for which parts of a group wait, and to which not all of such a part may come.
    pub parts_wait: Option<Unsupported>,
}

impl<'p> Kernel<'p> {
    /// Collects what is known.
    pub fn of(program: &'p Program, interface: &'p Interface) -> Result<Kernel<'p>, Unsupported> {
        let graph = Graph::of(program)?;
        let uniformity = Uniformity::of(program, &graph)?;
        let mut all = Vec::with_capacity(program.blocks.len());
        let mut written = BTreeSet::new();
        for code in &program.blocks {
            let mut of_block = Vec::with_capacity(code.instructions.len());
            for instruction in &code.instructions {
                let found = accesses(program, instruction)?;
                for access in found.iter().filter(|a| a.mode != Mode::Read) {
                    written.extend(regions(program, access.pointer));
                }
                of_block.push(found);
            }
            all.push(of_block);
        }
        // Nobody changes the texels of images that are only read.
        let is_written = |access: &Access| regions(program, access.pointer).iter().any(|r| written.contains(r));
        all.iter_mut().flatten().for_each(|of| of.retain(|a| a.texel.is_none() || is_written(a)));
        group_wide_calls_are_uniform(program, &uniformity)?;
        let copies = Copies::of(program, &graph, &uniformity)?;
        let parts_wait = parts_wait(program, &uniformity);
        let relevant = relevant(program, &all);
        let dimensions = dimensions(program)?;
        Ok(Kernel {
            program,
            interface,
            graph,
            uniformity,
            copies,
            powers: Powers::of(program),
            accesses: all,
            written,
            relevant,
            dimensions,
            parts_wait,
        })
    }

    /// The instructions of a node, each with its accesses.
    pub fn instructions(&self, node: NodeId) -> impl Iterator<Item = (&'p Instruction, &[Access])> {
        let node = &self.graph.nodes[node];
        let code = &self.program.blocks[node.block].instructions[node.instructions.clone()];
        code.iter().zip(self.accesses[node.block.0][node.instructions.clone()].iter().map(Vec::as_slice))
    }

    /// Whether an address, a branch or a barrier depends on a value.
    pub fn is_relevant(&self, value: ValueId) -> bool {
        self.relevant.contains(&value)
    }

    /// The objects that a pointer may point into.
    pub fn regions(&self, pointer: ValueId) -> Vec<Region> {
        regions(self.program, pointer)
    }

    /// Whether an argument is a struct that is passed by value.
    pub fn is_by_value(&self, position: u32) -> bool {
        self.program.by_value.get(position as usize).copied().flatten().is_some()
    }

    /// The size of an array, if the program says it.
    pub fn bytes(&self, region: Region) -> Option<u64> {
        match region {
            Region::Variable(index) => Some(self.program.variables[index].bytes),
            Region::Private(alloca) => match self.program.instruction(alloca)?.op {
                Op::Alloca(bytes) => Some(bytes),
                _ => None,
            },
            Region::Argument(position) => self.program.by_value.get(position as usize).copied().flatten(),
            Region::Unknown => None,
        }
    }

    /// Whether it has arrays of known size.
    pub fn has_arrays(&self) -> bool {
        let is_alloca = |(_, i): (_, &Instruction)| matches!(i.op, Op::Alloca(_));
        !self.program.variables.is_empty() || self.program.instructions().any(is_alloca)
    }

    /// Whether it writes images.
    pub fn writes_images(&self) -> bool {
        self.written.iter().any(|region| self.memory(*region) == Memory::Image)
    }

    /// Whether all that writes an object of global memory, anywhere in the kernel, is of a kind.
    pub fn is_only_written_by(&self, region: Region, is_meant: &dyn Fn(&Instruction) -> bool) -> bool {
        let written = self.program.blocks.iter().zip(&self.accesses);
        let mut writes =
            written.flat_map(|(code, accesses)| code.instructions.iter().zip(accesses)).filter(|(_, all)| {
                let meets = |access: &Access| self.regions(access.pointer).iter().any(|r| self.may_overlap(region, *r));
                all.iter().any(|access| access.mode != Mode::Read && meets(access))
            });
        writes.all(|(instruction, _)| is_meant(instruction))
    }

    /// The memory of an object.
    pub fn memory(&self, region: Region) -> Memory {
        memory_of(self.program, self.interface, region)
    }

    /// Whether nobody writes an object while the kernel runs.
    pub fn is_only_read(&self, base: Base, written: &BTreeSet<Region>) -> bool {
        let Base::Object(region) = base else { return false };
        if written.contains(&Region::Unknown) {
            return false;
        }
        match region {
            Region::Unknown | Region::Private(_) => false,
            _ => !written.iter().any(|other| self.may_overlap(region, *other)),
        }
    }

    /// Whether two objects may be the same memory: arguments of which a launch may pass one for the other.
    pub fn may_overlap(&self, one: Region, other: Region) -> bool {
        let shares = |region| match region {
            Region::Argument(p) => self.program.may_share.get(p as usize).copied().unwrap_or(false),
            _ => false,
        };
        one == other || one == Region::Unknown || other == Region::Unknown || (shares(one) && shares(other))
    }

    /// Whether a loop ends for all work-items of a group in the same iteration: all its cycles pass a barrier of which
    /// `cuts` holds, or no branch in it parts them.
    pub fn is_convergent(&self, l: usize, has_free_cycle: bool) -> bool {
        let parts = |n: &NodeId| self.uniformity.branches_apart(self.graph.nodes[*n].block);
        !has_free_cycle || !self.graph.loops[l].body.iter().any(parts)
    }
}

fn regions(program: &Program, pointer: ValueId) -> Vec<Region> {
    match &program.values[pointer as usize] {
        Definition::Variable(index, _) => vec![Region::Variable(*index)],
        Definition::Param(position) => vec![Region::Argument(*position)],
        _ => {
            let found = program.roots[pointer as usize].clone();
            if found.is_empty() { vec![Region::Unknown] } else { found }
        }
    }
}

/// The values that addresses and branches are computed from, through memory, too, as addresses of loads are addresses.
fn relevant(program: &Program, accesses: &[Vec<Vec<Access>>]) -> HashSet<ValueId> {
    let mut todo: Vec<ValueId> = Vec::new();
    for access in accesses.iter().flatten().flatten() {
        todo.push(access.pointer);
        todo.extend(access.index.map(|(index, _)| index));
        todo.extend(access.texel);
        todo.extend(access.elements.iter().flat_map(|e| e.stride.into_iter().chain([e.count])));
    }
    for code in &program.blocks {
        if let End::Branch { condition: value, .. } | End::Switch { value, .. } = &code.end {
            todo.push(*value);
        }
    }
    let mut all = HashSet::new();
    while let Some(value) = todo.pop() {
        if !all.insert(value) {
            continue;
        }
        if let Some(instruction) = program.instruction(value) {
            todo.extend(&instruction.operands);
        }
    }
    all
}

/// That all work-items of a group come to the calls, other than barriers, that all have to come to.
fn group_wide_calls_are_uniform(program: &Program, uniformity: &Uniformity) -> Result<(), Unsupported> {
    for (block, instruction) in program.instructions() {
        let Op::Call(_, base) = &instruction.op else { continue };
        let is_call_of_all = builtins::has(base, Effect::GroupWide) && builtins::family(base) != Some(Family::Barrier);
        if is_call_of_all && uniformity.divergent_deciders(block).next().is_some() {
            let what = format!("calls of `{base}` that some work-items of a group may not come to");
            return Err(Unsupported::new(what, instruction.location.clone()));
        }
    }
    Ok(())
}

/// The first call of a sub-group to which some of it may not come. Which lanes those of CUDA's warps name is not asked.
fn parts_wait(program: &Program, uniformity: &Uniformity) -> Option<Unsupported> {
    program.instructions().find_map(|(block, instruction)| {
        let Op::Call(_, base) = &instruction.op else { return None };
        let builtin = Builtin::of(base).filter(|b| b.has(Effect::Waits) && !b.has(Effect::GroupWide))?;
        let may_miss = builtin.takes_lanes() || uniformity.divergent_deciders(block).next().is_some();
        let what = if builtin.is_barrier() { "barriers of sub-groups" } else { "functions of sub-groups" };
        may_miss.then(|| Unsupported::new(what, instruction.location.clone()))
    })
}

/// The dimensions of which ids are read.
fn dimensions(program: &Program) -> Result<[bool; 3], Unsupported> {
    let mut all = [true, false, false];
    for (_, instruction) in program.instructions() {
        let Op::Call(_, base) = &instruction.op else { continue };
        match (id_of(base), base.as_str()) {
            (_, "get_global_linear_id" | "get_local_linear_id" | "get_work_dim") | (None, _) => {}
            (Some(id), _) => {
                let dimension = instruction.operands.first().and_then(|d| program.constant(*d));
                let Some(dimension) = dimension else {
                    let what = "ids of a dimension that is no constant";
                    return Err(Unsupported::new(what, instruction.location.clone()));
                };
                let reads = matches!(id, Id::Global | Id::Local | Id::Group);
                if let (true, Ok(d @ 0..3)) = (reads, usize::try_from(dimension)) {
                    all[d] = true;
                }
            }
        }
    }
    Ok(all)
}
