//! Static taint analysis: finds the instructions that may see values which differ between runs of the same launch,
//! because they come from atomics or from memory that another work-item may write concurrently.
//!
//! The guarantee is about what is left untainted: such an instruction computes the same in every run, whatever the
//! order of work-items, as long as the kernel stays in bounds.

use std::collections::BTreeSet;

use super::dataflow::State;
use super::indices::{BlockIndex, FunctionIndex};
use super::interprocedural::{self, Place};
use super::points_to::{PointsTo, Root, Roots};
use super::sites::Sites;
use crate::kernel::builtins::{self, Effect, Family};
use crate::llvm::{Block, Function, Inst, Opcode, Value, View};

/// The result, by function (as in [`Sites::functions`]), block and instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taint {
    instructions: Vec<Vec<Vec<bool>>>,
}

impl Taint {
    /// Analyses the canonical form from which `sites` were read.
    pub fn of(module: &inkwell::module::Module<'_>, sites: &Sites) -> Taint {
        let view = View::of(module);
        let functions: Vec<Function<'_>> =
            sites.functions.iter().filter_map(|f| view.function(&f.cfg.function)).collect();
        let analysis = Analysis::new(functions, sites);
        let mut state = State::default();
        interprocedural::solve(&analysis.functions, &analysis, &mut state);
        analysis.collect(&state)
    }

    /// Returns whether the operands or the result of the instruction, or whether it is executed at all, may differ
    /// between runs. True for positions that do not exist.
    pub fn is_tainted(&self, function: FunctionIndex, block: BlockIndex, instruction: usize) -> bool {
        let blocks = self.instructions.get(function.0);
        let found = blocks.and_then(|b| b.get(block.0)).and_then(|i| i.get(instruction));
        found.copied().unwrap_or(true)
    }
}

/// What can be tainted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Location<'m> {
    Value(Value<'m>),
    /// The contents of a private variable.
    Variable(Value<'m>),
    /// The execution of a block, by function.
    Execution(FunctionIndex, BlockIndex),
}

/// The tainted locations.
type TaintState<'m> = State<Location<'m>, ()>;

struct Analysis<'s, 'm> {
    sites: &'s Sites,
    functions: Vec<Function<'m>>,
    blocks: Vec<Vec<Block<'m>>>,
    /// For each function and block: the blocks that decide whether it is executed.
    deciders: Vec<Vec<BTreeSet<BlockIndex>>>,
    pointers: PointsTo<'m>,
    /// The objects that the kernel may write to.
    written: Roots<'m>,
    writes_images: bool,
}

/// Returns whether a builtin, by its mangled name, only reads through its pointers.
fn only_reads(name: &str) -> bool {
    builtins::has(name, Effect::OnlyReads)
}

/// Returns whether the result of a builtin depends on other work-items' values.
fn exchanges(name: &str) -> bool {
    builtins::has(name, Effect::DependsOnOthers)
}

impl<'s, 'm> Analysis<'s, 'm> {
    fn new(functions: Vec<Function<'m>>, sites: &'s Sites) -> Analysis<'s, 'm> {
        let mut analysis = Analysis {
            sites,
            blocks: functions.iter().map(|f| f.blocks()).collect(),
            deciders: sites.functions.iter().map(|f| f.dominance.deciders(&f.cfg)).collect(),
            pointers: PointsTo::find(&functions),
            written: Roots::new(),
            writes_images: false,
            functions,
        };
        analysis.find_written();
        analysis
    }

    fn find_written(&mut self) {
        let mut written = Roots::new();
        for inst in self.blocks.iter().flatten().flat_map(|b| b.walk()) {
            let operands = inst.operands();
            match inst.opcode() {
                Opcode::LLVMStore => written.extend(self.pointers.roots(operands[1])),
                Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                    written.extend(self.pointers.roots(operands[0]));
                }
                Opcode::LLVMCall => {
                    let callee = inst.called_function();
                    if callee.is_some_and(Function::has_body) {
                        continue;
                    }
                    let name = callee.map(Function::name).unwrap_or_default();
                    self.writes_images |= builtins::family(&name) == Some(Family::ImageWrite);
                    if !only_reads(&name) {
                        let pointers = operands.iter().filter(|o| o.ty().is_pointer());
                        written.extend(pointers.flat_map(|o| self.pointers.roots(*o)));
                    }
                }
                _ => {}
            }
        }
        self.written = written;
    }

    /// Returns whether a load through these roots may see what another work-item writes.
    fn is_shared(&self, roots: &Roots<'m>) -> bool {
        let all = self.written.contains(&Root::Unknown);
        roots.is_empty()
            || roots.iter().any(|root| match root {
                own if self.pointers.is_private(own) => false,
                Root::Unknown => true,
                other => all || self.written.contains(other),
            })
    }

    /// Returns whether the terminator of `block` depends on a tainted value.
    fn has_tainted_terminator(&self, f: FunctionIndex, block: BlockIndex, state: &TaintState<'m>) -> bool {
        let end = self.blocks[f][block].terminator();
        end.operands().iter().any(|o| state.contains(Location::Value(*o)))
    }

    fn taint_variables(&self, pointer: Value<'m>, state: &mut TaintState<'m>) {
        for root in self.pointers.roots(pointer) {
            if let Root::Private(alloca) = root {
                state.join(Location::Variable(alloca), ());
            }
        }
    }

    /// Returns whether the result of a builtin is tainted, and taints the variables that it writes.
    fn builtin(
        &self,
        place: Place<'m>,
        operands: &[Value<'m>],
        operand_tainted: bool,
        state: &mut TaintState<'m>,
    ) -> bool {
        // The last operand of a call is the callee.
        let operands = &operands[..operands.len().saturating_sub(1)];
        let name = place.inst.callee().unwrap_or_default();
        let pointer_roots: Vec<Roots<'_>> =
            operands.iter().filter(|o| o.ty().is_pointer()).map(|o| self.pointers.roots(*o)).collect();
        let reads = pointer_roots.iter().any(|roots| self.is_shared(roots) || holds_taint(roots, state));
        let is_image_read = builtins::family(&name) == Some(Family::ImageRead) && self.writes_images;
        let tainted = operand_tainted || exchanges(&name) || is_image_read || reads;
        let is_executed_by_taint = || state.contains(Location::Execution(place.function, place.block));
        if (tainted || is_executed_by_taint()) && !only_reads(&name) {
            // What it writes through its pointers is as tainted as what it reads.
            for pointer in operands.iter().filter(|o| o.ty().is_pointer()) {
                self.taint_variables(*pointer, state);
            }
        }
        tainted
    }

    /// Returns whether taint decides which of several `return`s ends the function.
    fn taint_decides_return(&self, f: FunctionIndex, state: &TaintState<'m>) -> bool {
        BlockIndex::first(self.blocks[f].len())
            .any(|b| self.blocks[f][b].terminator().is(Opcode::LLVMRet) && state.contains(Location::Execution(f, b)))
    }

    fn collect(&self, state: &TaintState<'m>) -> Taint {
        let is_tainted = |inst: Inst<'m>| {
            let mut values = inst.operands().into_iter().chain([inst.value()]);
            values.any(|v| state.contains(Location::Value(v)))
        };
        let instructions = FunctionIndex::enumerate(&self.blocks)
            .map(|(f, blocks)| {
                let block_taint = |(b, block): (BlockIndex, &Block<'m>)| {
                    let is_executed_by_taint = state.contains(Location::Execution(f, b));
                    block.walk().map(|inst| is_executed_by_taint || is_tainted(inst)).collect()
                };
                BlockIndex::enumerate(blocks).map(block_taint).collect()
            })
            .collect();
        Taint { instructions }
    }
}

fn holds_taint<'m>(roots: &Roots<'m>, state: &TaintState<'m>) -> bool {
    roots.iter().any(|root| matches!(root, Root::Private(alloca) if state.contains(Location::Variable(*alloca))))
}

impl<'m> interprocedural::Analysis<'m> for Analysis<'_, 'm> {
    type Location = Location<'m>;
    type Element = ();

    fn value(value: Value<'m>) -> Location<'m> {
        Location::Value(value)
    }

    fn enter(&self, f: FunctionIndex, block: BlockIndex, state: &mut TaintState<'m>) {
        let mut deciders = self.deciders[f][block].iter();
        if deciders.any(|d| state.contains(Location::Execution(f, *d)) || self.has_tainted_terminator(f, *d, state)) {
            state.join(Location::Execution(f, block), ());
        }
    }

    fn transfer(&self, place: Place<'m>, operands: &[Value<'m>], state: &mut TaintState<'m>) -> Option<()> {
        let Place { function: f, block: b, inst } = place;
        let operand_tainted = operands.iter().any(|o| state.contains(Location::Value(*o)));
        let tainted = match inst.opcode() {
            Opcode::LLVMLoad => {
                let roots = self.pointers.roots(operands[0]);
                operand_tainted || self.is_shared(&roots) || holds_taint(&roots, state)
            }
            Opcode::LLVMStore => {
                if operand_tainted || state.contains(Location::Execution(f, b)) {
                    self.taint_variables(operands[1], state);
                }
                false
            }
            Opcode::LLVMPHI => {
                let incoming = self.sites.functions[f].cfg.incoming(b);
                let is_left_by_taint =
                    |from| state.contains(Location::Execution(f, from)) || self.has_tainted_terminator(f, from, state);
                operand_tainted || incoming.iter().any(|e| is_left_by_taint(e.block))
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
            Opcode::LLVMCall => self.builtin(place, operands, operand_tainted, state),
            _ => operand_tainted,
        };
        tainted.then_some(())
    }

    fn argument(&self, _: Place<'m>, argument: Value<'m>, state: &TaintState<'m>) -> Option<()> {
        self.returned(argument, state)
    }

    fn returned(&self, value: Value<'m>, state: &TaintState<'m>) -> Option<()> {
        state.get(Location::Value(value)).copied()
    }

    /// Passes tainted execution on to the callee's blocks, and the choice between several `return`s to the result.
    fn call(&self, call: Place<'m>, callee: Function<'m>, state: &mut TaintState<'m>) -> Option<()> {
        let position = self.functions.iter().position(|f| *f == callee).map(FunctionIndex)?;
        if state.contains(Location::Execution(call.function, call.block)) {
            for block in BlockIndex::first(self.blocks[position].len()) {
                state.join(Location::Execution(position, block), ());
            }
        }
        self.taint_decides_return(position, state).then_some(())
    }
}
