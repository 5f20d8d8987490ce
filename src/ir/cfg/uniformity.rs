//! Finds the branches on which the work-items of one work-group may diverge: those whose conditions depend on
//! ids inside the group, on memory read at addresses that do, on the results of atomics, or on the path that
//! a work-item took.
//!
//! Flow-insensitive in memory, over the kernel and its helpers with their private scalars promoted. Memory that all
//! work-items read at the same address counts as one value, and so does a value of one loop iteration for the
//! work-items in that iteration.

use std::collections::{BTreeSet, HashMap};

use inkwell::module::Module;

use super::dataflow::State;
use super::indices::{BlockIndex, FunctionIndex};
use super::interprocedural::{self, Place};
use super::points_to::{PointsTo, Root};
use super::sites::Sites;
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
            blocks.iter().map(|all| BlockIndex::enumerate(all).map(|(b, block)| (*block, b)).collect()).collect();
        let mut analysis = Analysis {
            sites,
            deciders: sites.functions.iter().map(|f| f.dominance.transitive_deciders(&f.cfg)).collect(),
            pointers: PointsTo::find(&functions),
            stores: HashMap::new(),
            functions,
            blocks,
            block_index,
        };
        analysis.find_stores();
        let mut state = State::default();
        interprocedural::solve(&analysis.functions, &analysis, &mut state);
        let ends = |f: FunctionIndex| {
            BlockIndex::first(analysis.blocks[f].len()).map(|b| analysis.branch_varies(f, b, &state)).collect()
        };
        Uniformity(FunctionIndex::first(analysis.functions.len()).map(ends).collect())
    }

    /// Returns whether work-items of one group may diverge at the branch of `block`. True for positions that
    /// do not exist.
    pub fn may_diverge(&self, function: FunctionIndex, block: BlockIndex) -> bool {
        self.0.get(function.0).and_then(|blocks| blocks.get(block.0)).copied().unwrap_or(true)
    }
}

/// What may differ between the work-items of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Location<'m> {
    Value(Value<'m>),
    /// The contents of a private variable.
    Variable(Value<'m>),
}

/// The locations that may differ.
type VaryingState<'m> = State<Location<'m>, ()>;

struct Analysis<'a, 'm> {
    sites: &'a Sites,
    functions: Vec<Function<'m>>,
    blocks: Vec<Vec<Block<'m>>>,
    /// For each function: the positions of its blocks.
    block_index: Vec<HashMap<Block<'m>, BlockIndex>>,
    /// For each function and block: the blocks that decide, directly or not, whether it is executed.
    deciders: Vec<Vec<BTreeSet<BlockIndex>>>,
    pointers: PointsTo<'m>,
    /// For each private variable: the functions and blocks that write to it.
    stores: HashMap<Value<'m>, BTreeSet<(FunctionIndex, BlockIndex)>>,
}

/// Returns whether a builtin, by its mangled name, yields different results for the work-items of a group.
fn is_item_specific(name: &str) -> bool {
    builtins::has(name, Effect::VariesWithinGroup)
}

impl<'m> Analysis<'_, 'm> {
    fn find_stores(&mut self) {
        for (f, blocks) in FunctionIndex::enumerate(&self.blocks) {
            for (b, inst) in BlockIndex::enumerate(blocks).flat_map(|(b, block)| block.walk().map(move |i| (b, i))) {
                let written = match inst.opcode() {
                    Opcode::LLVMStore => vec![inst.operand(1)],
                    Opcode::LLVMCall if !inst.called_function().is_some_and(Function::has_body) => pointers(inst),
                    _ => continue,
                };
                for variable in written.into_iter().flat_map(|p| private_variables(&self.pointers, p)) {
                    self.stores.entry(variable).or_default().insert((f, b));
                }
            }
        }
    }

    /// Returns whether work-items may diverge at the terminator of `block`.
    fn branch_varies(&self, f: FunctionIndex, block: BlockIndex, state: &VaryingState<'m>) -> bool {
        let end = self.blocks[f][block].terminator();
        end.operands().iter().any(|o| self.varies(f, block, *o, state))
    }

    /// Returns whether a value may differ where it is used. This includes a value defined in a loop that work-items
    /// leave after different numbers of iterations.
    fn varies(&self, f: FunctionIndex, used: BlockIndex, value: Value<'m>, state: &VaryingState<'m>) -> bool {
        if state.contains(Location::Value(value)) {
            return true;
        }
        let Some(defined) = value.as_instruction().and_then(|i| self.block_index[f].get(&i.block()).copied()) else {
            return false;
        };
        let function = &self.sites.functions[f];
        let is_left = |l: &&super::loops::Loop| l.blocks.contains(&defined) && !l.blocks.contains(&used);
        function.loops.iter().filter(is_left).any(|l| {
            let mut exits = l.exits(&function.cfg).into_iter();
            exits.any(|e| {
                let condition = self.blocks[f][e.block].terminator().operands();
                condition.iter().any(|o| state.contains(Location::Value(*o)))
            })
        })
    }

    /// Returns whether work-items that reach `other` may diverge on reaching `block`.
    fn diverges(&self, f: FunctionIndex, block: BlockIndex, other: BlockIndex, state: &VaryingState<'m>) -> bool {
        let mut block_only = self.deciders[f][block].difference(&self.deciders[f][other]);
        block_only.any(|d| *d != other && self.branch_varies(f, *d, state))
    }

    /// Returns whether the private memory that `pointer` points to may hold values that differ.
    fn memory_varies(&self, f: FunctionIndex, b: BlockIndex, pointer: Value<'m>, state: &VaryingState<'m>) -> bool {
        private_variables(&self.pointers, pointer).any(|variable| {
            let mut stores = self.stores.get(&variable).into_iter().flatten();
            state.contains(Location::Variable(variable))
                || stores.any(|(g, s)| *g == f && self.diverges(f, *s, b, state))
        })
    }

    /// Marks the private memory that `pointer` points to as varying.
    fn vary_memory(&self, pointer: Value<'m>, state: &mut VaryingState<'m>) {
        for variable in private_variables(&self.pointers, pointer) {
            state.join(Location::Variable(variable), ());
        }
    }
}

/// The private variables that a pointer may point into.
fn private_variables<'m>(pointers: &PointsTo<'m>, pointer: Value<'m>) -> impl Iterator<Item = Value<'m>> {
    pointers.roots(pointer).into_iter().filter_map(|root| match root {
        Root::Private(variable) => Some(variable),
        _ => None,
    })
}

/// The pointers that a call passes.
fn pointers(call: Inst<'_>) -> Vec<Value<'_>> {
    let mut operands = call.operands();
    // The last operand of a call is the callee.
    operands.pop();
    operands.retain(|o| o.ty().is_pointer());
    operands
}

impl<'m> interprocedural::Analysis<'m> for Analysis<'_, 'm> {
    type Location = Location<'m>;
    type Element = ();

    fn value(value: Value<'m>) -> Location<'m> {
        Location::Value(value)
    }

    fn transfer(&self, place: Place<'m>, operands: &[Value<'m>], state: &mut VaryingState<'m>) -> Option<()> {
        let Place { function: f, block: b, inst } = place;
        let operands_vary = |state: &_| operands.iter().any(|o| self.varies(f, b, *o, state));
        let varies = match inst.opcode() {
            Opcode::LLVMLoad => operands_vary(state) || self.memory_varies(f, b, operands[0], state),
            Opcode::LLVMStore => {
                if operands_vary(state) {
                    self.vary_memory(operands[1], state);
                }
                false
            }
            Opcode::LLVMPHI => {
                let incoming = self.sites.functions[f].cfg.incoming(b);
                let varies_outside =
                    |p: BlockIndex| p != b && !self.deciders[f][b].contains(&p) && self.branch_varies(f, p, state);
                operands.iter().any(|o| state.contains(Location::Value(*o)))
                    || incoming.iter().any(|e| varies_outside(e.block) || self.diverges(f, e.block, b, state))
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
            Opcode::LLVMCall => {
                let pointers = pointers(inst);
                let varies = operands_vary(state)
                    || is_item_specific(&inst.callee().unwrap_or_default())
                    || pointers.iter().any(|p| self.memory_varies(f, b, *p, state));
                if varies {
                    pointers.into_iter().for_each(|pointer| self.vary_memory(pointer, state));
                }
                varies
            }
            _ => operands_vary(state),
        };
        varies.then_some(())
    }

    fn argument(&self, call: Place<'m>, argument: Value<'m>, state: &VaryingState<'m>) -> Option<()> {
        self.varies(call.function, call.block, argument, state).then_some(())
    }

    fn returned(&self, value: Value<'m>, state: &VaryingState<'m>) -> Option<()> {
        state.get(Location::Value(value)).copied()
    }

    /// Returns whether the work-items may diverge on reaching one of the callee's `return`s.
    fn call(&self, _: Place<'m>, callee: Function<'m>, state: &mut VaryingState<'m>) -> Option<()> {
        let position = self.functions.iter().position(|f| *f == callee).map(FunctionIndex)?;
        let mut returns = BlockIndex::first(self.blocks[position].len())
            .filter(|b| self.blocks[position][*b].terminator().is(Opcode::LLVMRet));
        returns.any(|b| self.diverges(position, b, BlockIndex::ENTRY, state)).then_some(())
    }
}
