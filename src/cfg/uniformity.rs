//! Finds the branches on which the work-items of one work-group may diverge: those whose conditions depend on
//! ids inside the group, on memory read at addresses that do, on the results of atomics, or on the path that
//! a work-item took.
//!
//! Flow-insensitive in memory, over the kernel and its helpers with their private scalars promoted. Memory that all
//! work-items read at the same address counts as one value, and so does a value of one loop iteration for the
//! work-items in that iteration.

use std::collections::{BTreeSet, HashMap, HashSet};

use inkwell::module::Module;

use super::graph::BlockIndex;
use super::points_to::{self, PointsTo, Root};
use super::sites::{FunctionSites, Sites};
use crate::kernel::builtins::{self, Effect};
use crate::llvm::{Block, Function, Inst, Opcode, Value, View};

/// For each function (as in [`Sites::functions`]) and block: whether work-items may diverge at its branch or switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uniformity(Vec<Vec<bool>>);

impl Uniformity {
    /// Analyses a module whose blocks are those of the form from which `sites` were read.
    pub fn of(module: &Module<'_>, sites: &Sites) -> Uniformity {
        let view = View::of(module);
        let functions: Vec<Function<'_>> =
            sites.functions.iter().filter_map(|f| view.function(&f.cfg.function)).collect();
        let blocks: Vec<Vec<Block<'_>>> = functions.iter().map(|f| f.blocks()).collect();
        let block_index =
            blocks.iter().map(|all| all.iter().enumerate().map(|(b, block)| (*block, b)).collect()).collect();
        let mut analysis = Analysis {
            sites,
            deciders: sites.functions.iter().map(deciders).collect(),
            pointers: PointsTo::find(&functions),
            values: HashSet::new(),
            variables: HashSet::new(),
            stores: HashMap::new(),
            functions,
            blocks,
            block_index,
        };
        while analysis.propagate() {}
        let ends = |f: usize| (0..analysis.blocks[f].len()).map(|b| analysis.branch_varies(f, b)).collect();
        Uniformity((0..analysis.functions.len()).map(ends).collect())
    }

    /// Returns whether work-items of one group may diverge at the branch of `block`. True for positions that
    /// do not exist.
    pub fn may_diverge(&self, function: usize, block: BlockIndex) -> bool {
        self.0.get(function).and_then(|blocks| blocks.get(block)).copied().unwrap_or(true)
    }
}

/// For each block: all blocks that decide, directly or transitively, whether it is executed.
fn deciders(function: &FunctionSites) -> Vec<BTreeSet<BlockIndex>> {
    let count = function.cfg.len();
    let dependences = function.dominance.control_dependences(&function.cfg);
    let direct: Vec<Vec<BlockIndex>> =
        dependences.into_iter().map(|edges| edges.into_iter().map(|e| e.block).collect()).collect();
    let all_deciders = |block: BlockIndex| {
        let mut all = BTreeSet::new();
        let mut worklist = direct[block].clone();
        while let Some(decider) = worklist.pop() {
            if all.insert(decider) {
                worklist.extend(&direct[decider]);
            }
        }
        all
    };
    (0..count).map(all_deciders).collect()
}

struct Analysis<'a, 'm> {
    sites: &'a Sites,
    functions: Vec<Function<'m>>,
    blocks: Vec<Vec<Block<'m>>>,
    /// For each function: the positions of its blocks.
    block_index: Vec<HashMap<Block<'m>, BlockIndex>>,
    deciders: Vec<Vec<BTreeSet<BlockIndex>>>,
    pointers: PointsTo<'m>,
    /// Values that may differ between work-items of a group.
    values: HashSet<Value<'m>>,
    /// Private variables that may hold such values.
    variables: HashSet<Value<'m>>,
    /// For each private variable: the functions and blocks that write to it.
    stores: HashMap<Value<'m>, BTreeSet<(usize, BlockIndex)>>,
}

/// Returns whether a builtin, by its mangled name, yields different results for the work-items of a group.
fn is_item_specific(name: &str) -> bool {
    builtins::has(name, Effect::VariesWithinGroup)
}

impl<'m> Analysis<'_, 'm> {
    /// Visits all instructions once; returns whether anything changed.
    fn propagate(&mut self) -> bool {
        let size = |s: &Analysis<'_, '_>| {
            (s.values.len(), s.variables.len(), s.stores.values().map(BTreeSet::len).sum::<usize>())
        };
        let before = size(self);
        for f in 0..self.functions.len() {
            for b in 0..self.blocks[f].len() {
                for inst in self.blocks[f][b].instructions() {
                    if self.visit(f, b, inst) {
                        self.values.insert(inst.value());
                    }
                }
            }
        }
        before != size(self)
    }

    /// Returns whether work-items may diverge at the terminator of `block`.
    fn branch_varies(&self, f: usize, block: BlockIndex) -> bool {
        let end = self.blocks[f][block].terminator();
        end.operands().iter().any(|o| self.varies(f, block, *o))
    }

    /// Returns whether a value may differ where it is used. This includes a value defined in a loop that work-items
    /// leave after different numbers of iterations.
    fn varies(&self, f: usize, used: BlockIndex, value: Value<'m>) -> bool {
        if self.values.contains(&value) {
            return true;
        }
        let Some(defined) = value.as_instruction().and_then(|i| self.block_index[f].get(&i.block()).copied()) else {
            return false;
        };
        let function = &self.sites.functions[f];
        let is_left = |l: &&super::loops::Loop| l.blocks.contains(&defined) && !l.blocks.contains(&used);
        function.loops.iter().filter(is_left).any(|l| {
            let mut exits = l.exits(&function.cfg).into_iter();
            exits.any(|e| self.blocks[f][e.block].terminator().operands().iter().any(|o| self.values.contains(o)))
        })
    }

    /// Returns whether work-items that reach `other` may diverge on reaching `block`.
    fn diverges(&self, f: usize, block: BlockIndex, other: BlockIndex) -> bool {
        let mut block_only = self.deciders[f][block].difference(&self.deciders[f][other]);
        block_only.any(|d| *d != other && self.branch_varies(f, *d))
    }

    /// Returns whether private memory behind `pointer` may hold values that differ.
    fn memory_varies(&self, f: usize, b: BlockIndex, pointer: Value<'m>) -> bool {
        self.pointers.roots(pointer).into_iter().any(|root| {
            let Root::Private(variable) = root else { return false };
            let mut stores = self.stores.get(&variable).into_iter().flatten();
            self.variables.contains(&variable) || stores.any(|(g, s)| *g == f && self.diverges(f, *s, b))
        })
    }

    /// Records a write to private memory.
    fn record_write(&mut self, f: usize, b: BlockIndex, pointer: Value<'m>, varying: bool) {
        for root in self.pointers.roots(pointer) {
            if let Root::Private(variable) = root {
                self.stores.entry(variable).or_default().insert((f, b));
                if varying {
                    self.variables.insert(variable);
                }
            }
        }
    }

    fn visit(&mut self, f: usize, b: BlockIndex, inst: Inst<'m>) -> bool {
        let operands = inst.operands();
        let operands_vary = |s: &Self| operands.iter().any(|o| s.varies(f, b, *o));
        match inst.opcode() {
            Opcode::LLVMLoad => operands_vary(self) || self.memory_varies(f, b, operands[0]),
            Opcode::LLVMStore => {
                let varying = operands_vary(self);
                self.record_write(f, b, operands[1], varying);
                false
            }
            Opcode::LLVMPHI => {
                let incoming = self.sites.functions[f].cfg.incoming(b);
                let path_dependent = |s: &Self| {
                    let varies_outside =
                        |p: BlockIndex| p != b && !s.deciders[f][b].contains(&p) && s.branch_varies(f, p);
                    incoming.iter().any(|e| varies_outside(e.block) || s.diverges(f, e.block, b))
                };
                operands.iter().any(|o| self.values.contains(o)) || path_dependent(self)
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
            Opcode::LLVMCall => {
                let operands_varying = operands_vary(self);
                self.call(f, b, inst, &operands, operands_varying)
            }
            _ => operands_vary(self),
        }
    }

    fn call(
        &mut self,
        f: usize,
        b: BlockIndex,
        inst: Inst<'m>,
        operands: &[Value<'m>],
        operands_varying: bool,
    ) -> bool {
        // The last operand of a call is the callee.
        let operands = &operands[..operands.len().saturating_sub(1)];
        let callee = inst.called_function();
        if let Some(position) = callee.and_then(|c| self.functions.iter().position(|g| *g == c)) {
            let function = self.functions[position];
            for (param, argument) in function.params().into_iter().zip(operands) {
                if self.varies(f, b, *argument) {
                    self.values.insert(param);
                }
            }
            let returns_diverge = (0..self.blocks[position].len())
                .any(|r| self.blocks[position][r].terminator().is(Opcode::LLVMRet) && self.diverges(position, r, 0));
            return returns_diverge || points_to::returns(function).iter().any(|v| self.values.contains(v));
        }
        let name = callee.map(Function::name).unwrap_or_default();
        let pointers: Vec<Value<'_>> = operands.iter().copied().filter(|o| o.ty().is_pointer()).collect();
        let varying =
            operands_varying || is_item_specific(&name) || pointers.iter().any(|p| self.memory_varies(f, b, *p));
        for pointer in pointers {
            self.record_write(f, b, pointer, varying);
        }
        varying
    }
}
