//! Static taint analysis: finds the instructions that may see values which differ between runs of the same launch,
//! because they come from atomics or from memory that another work-item may write concurrently.
//!
//! The guarantee is about what is left untainted: such an instruction computes the same in every run, whatever the
//! order of work-items, as long as the kernel stays in bounds.

use std::collections::{BTreeSet, HashSet};

use super::graph::BlockIndex;
use super::points_to::{self, PointsTo, Root, Roots};
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
        let mut analysis = Analysis::new(&functions, sites);
        while analysis.propagate(sites) {}
        analysis.collect()
    }

    /// Returns whether the operands or the result of the instruction, or whether it is executed at all, may differ
    /// between runs. True for positions that do not exist.
    pub fn is_tainted(&self, function: usize, block: BlockIndex, instruction: usize) -> bool {
        let blocks = self.instructions.get(function);
        let found = blocks.and_then(|b| b.get(block)).and_then(|i| i.get(instruction));
        found.copied().unwrap_or(true)
    }
}

struct Analysis<'m> {
    functions: Vec<Function<'m>>,
    blocks: Vec<Vec<Block<'m>>>,
    instructions: Vec<Vec<Vec<Inst<'m>>>>,
    /// For each function and block: the blocks that decide whether it is executed.
    deciders: Vec<Vec<BTreeSet<BlockIndex>>>,
    pointers: PointsTo<'m>,
    /// The objects that the kernel may write to.
    written: Roots<'m>,
    writes_images: bool,
    /// Tainted values.
    values: HashSet<Value<'m>>,
    /// Private variables that may hold tainted values.
    variables: HashSet<Value<'m>>,
    /// For each function and block: whether its execution is tainted.
    tainted_execution: Vec<Vec<bool>>,
}

/// Returns whether a builtin, by its mangled name, only reads through its pointers.
fn only_reads(name: &str) -> bool {
    builtins::has(name, Effect::OnlyReads)
}

/// Returns whether the result of a builtin depends on other work-items' values.
fn exchanges(name: &str) -> bool {
    builtins::has(name, Effect::DependsOnOthers)
}

impl<'m> Analysis<'m> {
    fn new(functions: &[Function<'m>], sites: &Sites) -> Analysis<'m> {
        let blocks: Vec<Vec<Block<'m>>> = functions.iter().map(|f| f.blocks()).collect();
        let instructions: Vec<Vec<Vec<Inst<'m>>>> =
            blocks.iter().map(|blocks| blocks.iter().map(|b| b.instructions()).collect()).collect();
        let deciders = sites
            .functions
            .iter()
            .map(|f| {
                let dependences = f.dominance.control_dependences(&f.cfg);
                dependences.into_iter().map(|edges| edges.into_iter().map(|e| e.block).collect()).collect()
            })
            .collect();
        let tainted_execution = blocks.iter().map(|b| vec![false; b.len()]).collect();
        let mut analysis = Analysis {
            functions: functions.to_vec(),
            blocks,
            instructions,
            deciders,
            pointers: PointsTo::find(functions),
            written: Roots::new(),
            writes_images: false,
            values: HashSet::new(),
            variables: HashSet::new(),
            tainted_execution,
        };
        analysis.find_written();
        analysis
    }

    fn find_written(&mut self) {
        let mut written = Roots::new();
        for inst in self.instructions.iter().flatten().flatten() {
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

    fn holds_taint(&self, roots: &Roots<'m>) -> bool {
        roots.iter().any(|root| matches!(root, Root::Private(alloca) if self.variables.contains(alloca)))
    }

    /// Visits all instructions once; returns whether anything changed.
    fn propagate(&mut self, sites: &Sites) -> bool {
        let before = (self.values.len(), self.variables.len(), self.tainted_blocks());
        for f in 0..self.functions.len() {
            for b in 0..self.blocks[f].len() {
                let decided = self.deciders[f][b]
                    .iter()
                    .any(|d| self.tainted_execution[f][*d] || self.has_tainted_terminator(f, *d));
                self.tainted_execution[f][b] |= decided;
                for i in 0..self.instructions[f][b].len() {
                    self.visit(f, b, self.instructions[f][b][i], sites);
                }
            }
        }
        before != (self.values.len(), self.variables.len(), self.tainted_blocks())
    }

    fn tainted_blocks(&self) -> usize {
        self.tainted_execution.iter().flatten().filter(|e| **e).count()
    }

    /// Returns whether the terminator of `block` depends on a tainted value.
    fn has_tainted_terminator(&self, f: usize, block: BlockIndex) -> bool {
        let end = self.blocks[f][block].terminator();
        end.operands().iter().any(|o| self.values.contains(o))
    }

    fn visit(&mut self, f: usize, b: BlockIndex, inst: Inst<'m>, sites: &Sites) {
        let operands = inst.operands();
        let operand_tainted = operands.iter().any(|o| self.values.contains(o));
        let tainted = match inst.opcode() {
            Opcode::LLVMLoad => {
                let roots = self.pointers.roots(operands[0]);
                operand_tainted || self.is_shared(&roots) || self.holds_taint(&roots)
            }
            Opcode::LLVMStore => {
                if operand_tainted || self.tainted_execution[f][b] {
                    self.taint_variables(operands[1]);
                }
                false
            }
            Opcode::LLVMPHI => {
                let cfg = &sites.functions[f].cfg;
                operand_tainted
                    || cfg
                        .incoming(b)
                        .iter()
                        .any(|e| self.tainted_execution[f][e.block] || self.has_tainted_terminator(f, e.block))
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
            Opcode::LLVMCall => self.call(f, b, inst, &operands, operand_tainted),
            _ => operand_tainted,
        };
        if tainted {
            self.values.insert(inst.value());
        }
    }

    fn taint_variables(&mut self, pointer: Value<'m>) {
        for root in self.pointers.roots(pointer) {
            if let Root::Private(alloca) = root {
                self.variables.insert(alloca);
            }
        }
    }

    fn call(&mut self, f: usize, b: BlockIndex, inst: Inst<'m>, operands: &[Value<'m>], operand_tainted: bool) -> bool {
        // The last operand of a call is the callee.
        let operands = &operands[..operands.len().saturating_sub(1)];
        let callee = inst.called_function();
        if let Some(position) = callee.and_then(|c| self.functions.iter().position(|g| *g == c)) {
            let function = self.functions[position];
            for (param, argument) in function.params().into_iter().zip(operands) {
                if self.values.contains(argument) {
                    self.values.insert(param);
                }
            }
            if self.tainted_execution[f][b] {
                self.tainted_execution[position].iter_mut().for_each(|e| *e = true);
            }
            return points_to::returns(function).iter().any(|v| self.values.contains(v))
                || self.taint_decides_return(position);
        }
        let name = callee.map(Function::name).unwrap_or_default();
        let pointer_roots: Vec<Roots<'_>> =
            operands.iter().filter(|o| o.ty().is_pointer()).map(|o| self.pointers.roots(*o)).collect();
        let reads = pointer_roots.iter().any(|roots| self.is_shared(roots) || self.holds_taint(roots));
        let is_image_read = builtins::family(&name) == Some(Family::ImageRead) && self.writes_images;
        let tainted = operand_tainted || exchanges(&name) || is_image_read || reads;
        if (tainted || self.tainted_execution[f][b]) && !only_reads(&name) {
            // What it writes through its pointers is as tainted as what it reads.
            for pointer in operands.iter().filter(|o| o.ty().is_pointer()) {
                self.taint_variables(*pointer);
            }
        }
        tainted
    }

    /// Returns whether taint decides which of several `return`s ends the function.
    fn taint_decides_return(&self, f: usize) -> bool {
        (0..self.blocks[f].len())
            .any(|b| self.blocks[f][b].terminator().is(Opcode::LLVMRet) && self.tainted_execution[f][b])
    }

    fn collect(self) -> Taint {
        let instructions = (self.instructions.iter().enumerate())
            .map(|(f, blocks)| {
                let block_taint = |(b, instructions): (usize, &Vec<Inst<'_>>)| {
                    let is_tainted = |inst: &Inst<'_>| {
                        self.tainted_execution[f][b]
                            || self.values.contains(&inst.value())
                            || inst.operands().iter().any(|o| self.values.contains(o))
                    };
                    instructions.iter().map(is_tainted).collect()
                };
                blocks.iter().enumerate().map(block_taint).collect()
            })
            .collect();
        Taint { instructions }
    }
}
