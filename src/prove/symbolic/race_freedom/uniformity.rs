//! Which values and branches may differ between the work-items of a group.
//!
//! Loads at an address that is the same for all are taken to give all the same value: if another work-item wrote there
//! meanwhile, that write would race with the load, which is asked separately. What is concluded holds up to the first
//! race, and so where there is none.

use std::collections::{BTreeSet, HashSet};

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::builtins::{self, Effect, Family};

use super::accesses::{Mode, Unsupported, accesses};
use super::graph::Graph;
use crate::program::{Definition, End, Instruction, Op, Program, Region, ValueId, control};

/// What may differ.
pub struct Uniformity {
    values: HashSet<ValueId>,
    branches: HashSet<BlockIndex>,
    /// Numbers of the loops that work-items may leave in different iterations.
    exits: HashSet<usize>,
    /// Arguments passed by value of which work-items change their copies differently.
    private: HashSet<Region>,
    /// By block: the branches that decide, directly or not, whether it is executed.
    deciders: Vec<BTreeSet<BlockIndex>>,
}

impl Uniformity {
    /// The least fixpoint.
    pub fn of(program: &Program, graph: &Graph) -> Result<Uniformity, Unsupported> {
        // Each work-item may see another value of what is undefined, and what somebody else changes.
        let mut all = Uniformity {
            values: program.undefined.union(&program.volatile).copied().collect(),
            branches: HashSet::new(),
            exits: HashSet::new(),
            private: HashSet::new(),
            deciders: program.dominance.transitive_deciders(&program.cfg),
        };
        let joined = control::joined_branches(program);
        loop {
            let before = (all.values.len(), all.branches.len(), all.exits.len(), all.private.len());
            for (block, instruction) in program.instructions() {
                if all.differs(program, graph, &joined, block, instruction) {
                    all.values.insert(instruction.result);
                }
                for access in accesses(program, instruction)?.iter().filter(|a| a.mode != Mode::Read) {
                    all.write(program, block, instruction, access.pointer);
                }
            }
            for (block, code) in BlockIndex::enumerate(&program.blocks) {
                if let End::Branch { condition: value, .. } | End::Switch { value, .. } = &code.end
                    && all.values.contains(value)
                {
                    all.branches.insert(block);
                }
            }
            for (i, l) in graph.loops.iter().enumerate() {
                let leaves = |node: &usize| {
                    let block = graph.nodes[*node].block;
                    let together = program.dominance.immediate_post_dominator(&program.cfg, block);
                    graph.last[block.0] == *node
                        && all.branches.contains(&block)
                        && together.is_none_or(|b| !l.body.iter().any(|n| graph.nodes[*n].block == b))
                };
                if l.body.iter().any(leaves) {
                    all.exits.insert(i);
                }
            }
            if before == (all.values.len(), all.branches.len(), all.exits.len(), all.private.len()) {
                return Ok(all);
            }
        }
    }

    /// Whether a value may differ between work-items that compute it together.
    pub fn is_divergent(&self, value: ValueId) -> bool {
        self.values.contains(&value)
    }

    /// Whether work-items may take different ways at the end of a block.
    pub fn branches_apart(&self, block: BlockIndex) -> bool {
        self.branches.contains(&block)
    }

    /// Whether work-items may leave a loop in different iterations.
    pub fn leaves_apart(&self, l: usize) -> bool {
        self.exits.contains(&l)
    }

    /// The branches that may make some work-items of a group miss a block.
    pub fn divergent_deciders(&self, block: BlockIndex) -> impl Iterator<Item = BlockIndex> {
        self.deciders[block.0].iter().copied().filter(|b| self.branches.contains(b))
    }

    fn roots(program: &Program, pointer: ValueId) -> Vec<Region> {
        match &program.values[pointer as usize] {
            Definition::Variable(index, _) => vec![Region::Variable(*index)],
            _ => program.roots[pointer as usize].clone(),
        }
    }

    fn differs(
        &self,
        program: &Program,
        graph: &Graph,
        joined: &[Vec<BlockIndex>],
        block: BlockIndex,
        instruction: &Instruction,
    ) -> bool {
        let taken = instruction.operands.iter().any(|o| self.values.contains(o));
        match &instruction.op {
            Op::AtomicRmw(_) | Op::CompareExchange => true,
            // Reductions, votes and broadcasts give all the same.
            Op::Call(_, base)
                if builtins::family(base) == Some(Family::WorkGroupFunction)
                    && !builtins::has(base, Effect::VariesWithinGroup) =>
            {
                false
            }
            Op::Call(name, base) => {
                let depends = |effect| builtins::has(base, effect);
                // Of functions that are not OpenCL's, such as clocks, nothing is known.
                let is_known = builtins::demangle(name).is_some() || name.starts_with("llvm.");
                let loads = || instruction.operands.iter().any(|o| self.loads_apart(program, *o));
                taken
                    || !is_known
                    || name.contains("cycle")
                    || depends(Effect::VariesWithinGroup)
                    || depends(Effect::DependsOnOthers)
                    || loads()
            }
            Op::Load => taken || self.loads_apart(program, instruction.operands[0]),
            Op::Alloca(_) => false,
            Op::Phi(from) => taken || self.chooses(graph, joined, block, from, instruction),
            Op::Other => true,
            _ => taken,
        }
    }

    /// Whether a pointer may be to private memory that differs, or to memory that is not known.
    fn loads_apart(&self, program: &Program, pointer: ValueId) -> bool {
        if program.shape(pointer).kind != crate::program::Kind::Pointer {
            return false;
        }
        // Arrays of a work-item may have parts that are never set.
        let roots = Uniformity::roots(program, pointer);
        let differs = |r: &Region| matches!(r, Region::Unknown | Region::Private(_)) || self.private.contains(r);
        roots.is_empty() || roots.iter().any(differs)
    }

    /// Whether a `phi` depends on a branch at which work-items part, or on when they leave a loop.
    fn chooses(
        &self,
        graph: &Graph,
        joined: &[Vec<BlockIndex>],
        block: BlockIndex,
        from: &[BlockIndex],
        instruction: &Instruction,
    ) -> bool {
        let node = |b: BlockIndex| graph.last[b.0];
        let leaves = |b: &BlockIndex| {
            let around = &graph.nodes[node(*b)].loops;
            around.iter().any(|l| self.exits.contains(l) && !graph.nodes[node(block)].loops.contains(l))
        };
        let one = instruction.operands.windows(2).all(|pair| pair[0] == pair[1]);
        let parts = joined[block.0].iter().any(|b| self.branches.contains(b));
        (parts && !one) || from.iter().any(leaves)
    }

    /// Notes what is written to private memory.
    fn write(&mut self, program: &Program, block: BlockIndex, instruction: &Instruction, pointer: ValueId) {
        let taken = instruction.operands.iter().any(|o| self.values.contains(o) || self.loads_apart(program, *o));
        let parted = || self.deciders[block.0].iter().any(|b| self.branches.contains(b));
        let computed = !matches!(&instruction.op, Op::Store) && !is_memory_intrinsic(instruction);
        if !(taken || computed || parted()) {
            return;
        }
        let by_value = |p: &u32| program.by_value.get(*p as usize).copied().flatten().is_some();
        let roots = Uniformity::roots(program, pointer);
        if roots.is_empty() || roots.contains(&Region::Unknown) {
            let all = (0..program.params.len() as u32).filter(by_value);
            self.private.extend(all.map(Region::Argument));
        }
        self.private.extend(roots.into_iter().filter(|root| matches!(root, Region::Argument(p) if by_value(p))));
    }
}

fn is_memory_intrinsic(instruction: &Instruction) -> bool {
    matches!(&instruction.op, Op::Call(name, _) if name.starts_with("llvm.mem"))
}
