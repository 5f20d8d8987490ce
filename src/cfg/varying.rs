//! Which branches the work-items of one group may take differently: those whose conditions depend on ids inside the group, on
//! memory read at places that do, or on what atomics return.
//!
//! Flow-insensitive, over the kernel and its helpers. Memory read at one place by all counts as one value.

use std::collections::{BTreeSet, HashSet};

use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::LLVMValueRef;

use super::graph::BlockIndex;
use super::pointers::{self, Pointers, Root};
use super::sites::Sites;
use crate::kernel::ir::{self, Block, Function, Inst};

/// By function (as in [`Sites::functions`]) and block: whether its branch or switch may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varying(Vec<Vec<bool>>);

impl Varying {
    /// Reads the canonical form that `sites` come from.
    pub fn of(module: &Module<'_>, sites: &Sites) -> Varying {
        let functions: Vec<Function> =
            sites.functions.iter().filter_map(|f| ir::function(module, &f.cfg.function)).collect();
        let blocks: Vec<Vec<Block>> = functions.iter().map(|f| f.blocks()).collect();
        let deciders = sites.functions.iter().map(|f| {
            let of = |b| f.dominance.control_dependence(&f.cfg, b).into_iter().map(|e| e.block).collect();
            (0..f.cfg.len()).map(of).collect()
        });
        let mut search = Search {
            deciders: deciders.collect(),
            pointers: Pointers::find(&functions),
            values: HashSet::new(),
            variables: HashSet::new(),
            executed: blocks.iter().map(|b| vec![false; b.len()]).collect(),
            functions,
            blocks,
        };
        while search.round(sites) {}
        let ends = |f: usize| (0..search.blocks[f].len()).map(|b| search.ends_varying(f, b)).collect();
        Varying((0..search.functions.len()).map(ends).collect())
    }

    /// True for places that are not there.
    pub fn branch(&self, function: usize, block: BlockIndex) -> bool {
        self.0.get(function).and_then(|blocks| blocks.get(block)).copied().unwrap_or(true)
    }
}

struct Search {
    functions: Vec<Function>,
    blocks: Vec<Vec<Block>>,
    /// By function and block: the blocks that decide whether it is executed.
    deciders: Vec<Vec<BTreeSet<BlockIndex>>>,
    pointers: Pointers,
    values: HashSet<LLVMValueRef>,
    /// Private variables that may hold different values.
    variables: HashSet<LLVMValueRef>,
    /// Blocks that only some items may execute.
    executed: Vec<Vec<bool>>,
}

/// Whether a builtin, by its mangled name, gives each item of a group something else.
fn differs(name: &str) -> bool {
    const PARTS: [&str; 9] = [
        "get_global_id",
        "get_local_id",
        "get_global_linear_id",
        "get_local_linear_id",
        "get_sub_group",
        "sub_group_",
        "work_group_scan",
        "atomic_",
        "atom_",
    ];
    let atomic_fence = name.contains("fence");
    PARTS.iter().any(|part| name.contains(part)) && !atomic_fence || name.contains("__spirv_Atomic")
}

impl Search {
    /// One pass over everything; whether anything was new.
    fn round(&mut self, sites: &Sites) -> bool {
        let size = |s: &Search| {
            let executed = s.executed.iter().flatten().filter(|e| **e).count();
            (s.values.len(), s.variables.len(), executed)
        };
        let before = size(self);
        for f in 0..self.functions.len() {
            for b in 0..self.blocks[f].len() {
                let decided = self.deciders[f][b].iter().any(|d| self.executed[f][*d] || self.ends_varying(f, *d));
                self.executed[f][b] |= decided;
                for inst in self.blocks[f][b].instructions() {
                    self.visit(f, b, inst, sites);
                }
            }
        }
        before != size(self)
    }

    fn ends_varying(&self, f: usize, block: BlockIndex) -> bool {
        self.blocks[f][block].terminator().operands().iter().any(|o| self.values.contains(o))
    }

    fn holds(&self, pointer: LLVMValueRef) -> bool {
        let held = |root: Root| matches!(root, Root::Private(variable) if self.variables.contains(&variable));
        self.pointers.roots(pointer).into_iter().any(held)
    }

    fn mark(&mut self, pointer: LLVMValueRef) {
        for root in self.pointers.roots(pointer) {
            if let Root::Private(variable) = root {
                self.variables.insert(variable);
            }
        }
    }

    fn visit(&mut self, f: usize, b: BlockIndex, inst: Inst, sites: &Sites) {
        let operands = inst.operands();
        let taken = operands.iter().any(|o| self.values.contains(o));
        let varying = match inst.opcode() {
            LLVMOpcode::LLVMLoad => taken || self.holds(operands[0]),
            LLVMOpcode::LLVMStore => {
                if taken || self.executed[f][b] {
                    self.mark(operands[1]);
                }
                false
            }
            LLVMOpcode::LLVMPHI => {
                let cfg = &sites.functions[f].cfg;
                taken || cfg.incoming(b).iter().any(|e| self.executed[f][e.block] || self.ends_varying(f, e.block))
            }
            LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => true,
            LLVMOpcode::LLVMCall => self.call(f, b, inst, &operands, taken),
            _ => taken,
        };
        if varying {
            self.values.insert(inst.0);
        }
    }

    fn call(&mut self, f: usize, b: BlockIndex, inst: Inst, operands: &[LLVMValueRef], taken: bool) -> bool {
        // The last operand of a call is the callee.
        let operands = &operands[..operands.len().saturating_sub(1)];
        let callee = pointers::called(inst);
        if let Some(position) = callee.and_then(|c| self.functions.iter().position(|g| *g == c)) {
            let function = self.functions[position];
            for (param, argument) in pointers::params(function).into_iter().zip(operands) {
                if self.values.contains(argument) {
                    self.values.insert(param);
                }
            }
            if self.executed[f][b] {
                self.executed[position].iter_mut().for_each(|e| *e = true);
            }
            let returns_apart = (0..self.blocks[position].len()).any(|r| {
                self.blocks[position][r].terminator().opcode() == LLVMOpcode::LLVMRet && self.executed[position][r]
            });
            return returns_apart || pointers::returns(function).iter().any(|v| self.values.contains(v));
        }
        let name = callee.map(Function::name).unwrap_or_default();
        let through: Vec<LLVMValueRef> = operands.iter().copied().filter(|o| pointers::is_pointer(*o)).collect();
        let varying = taken || differs(&name) || through.iter().any(|p| self.holds(*p));
        if varying || self.executed[f][b] {
            for pointer in through {
                self.mark(pointer);
            }
        }
        varying
    }
}
