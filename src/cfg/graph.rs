//! Reads the control-flow graph of one function as plain data.

use std::collections::HashMap;

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::kernel::ir::{self, Block, DebugLocation, Function, Inst};

/// A block's position in its function; node `i` of the graph is block `i`.
pub type BlockIndex = usize;

/// An edge: the block that it leaves, and its position among the terminator's successors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub block: BlockIndex,
    pub successor: usize,
}

/// The way a block ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Terminator {
    /// `ret`.
    Return,
    /// An unconditional branch, or a conditional one or a `switch` on a constant.
    Goto,
    /// A branch on a condition: successor 0 if it is true, 1 if false.
    Branch,
    /// A `switch`: successor 0 is the default, successor `i` belongs to `cases[i - 1]`.
    Switch {
        cases: Vec<i64>,
    },
    Unreachable,
}

/// A basic block.
#[derive(Debug, Clone)]
pub struct BlockInfo {
    /// clang's label, or the user's; empty if names were discarded.
    pub label: String,
    pub terminator: Terminator,
    /// For a branch or switch: the source position at which its condition begins, as far as debug locations show it.
    pub condition_location: Option<DebugLocation>,
    /// For a branch whose condition is a `phi` of this block: the position of that `phi`.
    pub condition_phi: Option<usize>,
    /// For a branch on a constant: the successor that is always taken.
    pub taken: Option<usize>,
    /// For a block that tests a wide range of a `switch` (`case 1 ... 1000`): the first and last value.
    pub case_range: Option<(i64, i64)>,
    /// Whether the terminator carries `llvm.loop` metadata, by which clang marks the back edges of `for`,
    /// `while` and `do`.
    pub ends_loop: bool,
    pub instructions: Vec<InstInfo>,
}

/// What the analyses need to know about an instruction.
#[derive(Debug, Clone)]
pub struct InstInfo {
    pub location: Option<DebugLocation>,
    pub kind: InstKind,
}

/// The kinds of instruction that the analyses distinguish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstKind {
    /// A direct call of this function.
    Call(String),
    /// A `select` on a scalar condition. `as_number`: it chooses between 1 and 0, as when a bool is widened.
    Select {
        as_number: bool,
        condition_location: Option<DebugLocation>,
    },
    /// A `phi` of type `i1`, with its incoming blocks and values.
    BoolPhi(Vec<(BlockIndex, Incoming)>),
    Store,
    Alloca,
    Return,
    Goto,
    Other,
}

/// A value that a boolean `phi` receives from a predecessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incoming {
    Constant(bool),
    /// Another boolean `phi`, by block and position.
    Phi(BlockIndex, usize),
    Other,
}

/// One function of the canonical form.
#[derive(Debug, Clone)]
pub struct Cfg {
    pub function: String,
    pub blocks: Vec<BlockInfo>,
    /// Node `i` is block `i`; an edge's weight is its position among the terminator's successors.
    pub graph: DiGraph<(), usize>,
    /// For each block, whether it is reachable from the entry.
    pub reachable: Vec<bool>,
}

impl Cfg {
    /// Reads a function that has a body.
    pub fn read(function: Function) -> Cfg {
        let blocks = function.blocks();
        let position = |b: Block| blocks.iter().position(|x| *x == b).unwrap_or(0);
        let mut graph = DiGraph::with_capacity(blocks.len(), blocks.len() * 2);
        for _ in &blocks {
            graph.add_node(());
        }
        let places: HashMap<Inst, (BlockIndex, usize)> = blocks
            .iter()
            .enumerate()
            .flat_map(|(b, block)| block.instructions().into_iter().enumerate().map(move |(i, inst)| (inst, (b, i))))
            .collect();
        let mut infos = Vec::with_capacity(blocks.len());
        for (i, block) in blocks.iter().enumerate() {
            for (s, target) in block.terminator().successors().into_iter().enumerate() {
                graph.add_edge(NodeIndex::new(i), NodeIndex::new(position(target)), s);
            }
            let terminator = block.terminator();
            let condition = terminator.operands().first().copied().and_then(ir::as_instruction);
            infos.push(BlockInfo {
                label: block.label(),
                terminator: read_terminator(terminator),
                taken: always_taken(terminator),
                case_range: condition.filter(|_| block.label().starts_with("sw.caserange")).and_then(case_range),
                ends_loop: has_loop_metadata(terminator),
                condition_location: condition
                    .and_then(|c| earliest_location(*block, c))
                    .or_else(|| terminator.location()),
                condition_phi: condition
                    .filter(|c| c.opcode() == LLVMOpcode::LLVMPHI && c.block() == *block)
                    .and_then(|c| places.get(&c).map(|p| p.1)),
                instructions: block
                    .instructions()
                    .into_iter()
                    .map(|i| read_instruction(i, &position, &places))
                    .collect(),
            });
        }
        let mut reachable = vec![false; blocks.len()];
        let mut search = petgraph::visit::Dfs::new(&graph, NodeIndex::new(0));
        while let Some(n) = search.next(&graph) {
            reachable[n.index()] = true;
        }
        Cfg { function: function.name(), blocks: infos, graph, reachable }
    }

    /// The number of blocks, including unreachable ones.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The block that an edge leads to.
    pub fn target(&self, edge: Edge) -> BlockIndex {
        self.successors(edge.block)[edge.successor]
    }

    /// The successors in the terminator's order.
    pub fn successors(&self, block: BlockIndex) -> Vec<BlockIndex> {
        let mut all: Vec<(usize, usize)> =
            self.graph.edges(NodeIndex::new(block)).map(|e| (*e.weight(), e.target().index())).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, target)| target).collect()
    }

    /// The edges that enter `block` from reachable blocks.
    pub fn incoming(&self, block: BlockIndex) -> Vec<Edge> {
        let mut all: Vec<Edge> = self
            .graph
            .edges_directed(NodeIndex::new(block), petgraph::Direction::Incoming)
            .filter(|e| self.reachable[e.source().index()])
            .map(|e| Edge { block: e.source().index(), successor: *e.weight() })
            .collect();
        all.sort_unstable();
        all
    }

    /// The edges that leave `block`, in the terminator's order.
    pub fn edges_out(&self, block: BlockIndex) -> impl Iterator<Item = Edge> + use<> {
        (0..self.successors(block).len()).map(move |successor| Edge { block, successor })
    }

    /// Returns whether blocks have clang's labels, by which constructs can be distinguished.
    pub fn has_labels(&self) -> bool {
        self.blocks.iter().skip(1).any(|b| !b.label.is_empty())
    }

    /// Returns whether a block's label is clang's `prefix`, with or without the number that makes it unique.
    pub fn is_labelled(&self, block: BlockIndex, prefix: &str) -> bool {
        let label = &self.blocks[block].label;
        label.strip_prefix(prefix).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    }
}

fn read_terminator(inst: Inst) -> Terminator {
    match inst.opcode() {
        LLVMOpcode::LLVMRet => Terminator::Return,
        LLVMOpcode::LLVMBr if inst.branch_condition().is_some() => Terminator::Branch,
        LLVMOpcode::LLVMBr => Terminator::Goto,
        LLVMOpcode::LLVMSwitch if inst.operands().first().is_some_and(|o| is_constant(*o)) => Terminator::Goto,
        LLVMOpcode::LLVMSwitch => {
            // SAFETY: `inst` is a switch of a living module; successor 0 is the default, and each other one has
            // an integer constant.
            let value = |i| unsafe { LLVMConstIntGetSExtValue(LLVMGetSwitchCaseValue(inst.0, i)) };
            Terminator::Switch { cases: (1..inst.successors().len() as u32).map(value).collect() }
        }
        _ => Terminator::Unreachable,
    }
}

fn always_taken(terminator: Inst) -> Option<usize> {
    // SAFETY: the terminator belongs to a living module, and the condition is read only from conditional branches.
    let condition = unsafe {
        let is_branch = terminator.opcode() == LLVMOpcode::LLVMBr && LLVMIsConditional(terminator.0) != 0;
        is_branch.then(|| LLVMGetCondition(terminator.0))?
    };
    ir::constant_bool(condition).map(|value| usize::from(!value))
}

/// The range of values that satisfy clang's test `(x - first) <= (last - first)`.
fn case_range(test: Inst) -> Option<(i64, i64)> {
    let [difference, span] = test.operands()[..] else { return None };
    let difference = ir::as_instruction(difference).filter(|d| d.opcode() == LLVMOpcode::LLVMSub)?;
    let first = difference.operands().get(1).copied()?;
    // SAFETY: both operands belong to a living module, and only integer constants are read as numbers.
    unsafe {
        if LLVMIsAConstantInt(first).is_null() || LLVMIsAConstantInt(span).is_null() {
            return None;
        }
        let first = LLVMConstIntGetSExtValue(first);
        Some((first, first.wrapping_add(LLVMConstIntGetZExtValue(span).cast_signed())))
    }
}

fn has_loop_metadata(terminator: Inst) -> bool {
    // SAFETY: the terminator belongs to a living module, and the kind's name has the given length of nine bytes.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(terminator.0));
        let kind = LLVMGetMDKindIDInContext(context, c"llvm.loop".as_ptr(), 9);
        !LLVMGetMetadata(terminator.0, kind).is_null()
    }
}

/// The earliest source position among the instructions of `block` that compute `value`.
fn earliest_location(block: Block, value: Inst) -> Option<DebugLocation> {
    let mut worklist = vec![value];
    let mut seen = Vec::new();
    let mut begin: Option<DebugLocation> = None;
    while let Some(inst) = worklist.pop() {
        if seen.contains(&inst) || inst.block() != block {
            continue;
        }
        seen.push(inst);
        if let Some(location) = inst.location().filter(|l| l.line > 0)
            && begin
                .as_ref()
                .is_none_or(|b| b.file == location.file && (location.line, location.column) < (b.line, b.column))
        {
            begin = Some(location);
        }
        if inst.opcode() != LLVMOpcode::LLVMPHI {
            worklist.extend(inst.operand_instructions());
        }
    }
    begin
}

fn read_phi(
    inst: Inst,
    position: &dyn Fn(Block) -> BlockIndex,
    places: &HashMap<Inst, (BlockIndex, usize)>,
) -> Vec<(BlockIndex, Incoming)> {
    // SAFETY: `inst` is a phi of a living module, and callers pass indices below the incoming count.
    let incoming = |i| unsafe { (Block(LLVMGetIncomingBlock(inst.0, i)), LLVMGetIncomingValue(inst.0, i)) };
    // SAFETY: `inst` is a phi of a living module.
    let count = unsafe { LLVMCountIncoming(inst.0) };
    (0..count)
        .map(|i| {
            let (block, value) = incoming(i);
            let kind = match (ir::constant_bool(value), ir::as_instruction(value)) {
                (Some(b), _) => Incoming::Constant(b),
                (None, Some(v)) if v.opcode() == LLVMOpcode::LLVMPHI => {
                    places.get(&v).map_or(Incoming::Other, |p| Incoming::Phi(p.0, p.1))
                }
                _ => Incoming::Other,
            };
            (position(block), kind)
        })
        .collect()
}

fn read_instruction(
    inst: Inst,
    position: &dyn Fn(Block) -> BlockIndex,
    places: &HashMap<Inst, (BlockIndex, usize)>,
) -> InstInfo {
    let kind = match inst.opcode() {
        LLVMOpcode::LLVMCall => inst.callee().map_or(InstKind::Other, InstKind::Call),
        LLVMOpcode::LLVMSelect => {
            let operands = inst.operands();
            match operands.first() {
                Some(&condition) if ir::is_bool(condition) && !is_constant(condition) => InstKind::Select {
                    as_number: is_one(operands[1]) && is_zero(operands[2]),
                    condition_location: ir::as_instruction(condition)
                        .and_then(|c| earliest_location(inst.block(), c))
                        .or_else(|| inst.location()),
                },
                _ => InstKind::Other,
            }
        }
        LLVMOpcode::LLVMPHI if ir::is_bool(inst.0) => InstKind::BoolPhi(read_phi(inst, position, places)),
        LLVMOpcode::LLVMStore => InstKind::Store,
        LLVMOpcode::LLVMAlloca => InstKind::Alloca,
        LLVMOpcode::LLVMRet => InstKind::Return,
        LLVMOpcode::LLVMBr if inst.branch_condition().is_none() => InstKind::Goto,
        _ => InstKind::Other,
    };
    InstInfo { location: inst.location(), kind }
}

fn is_constant(value: llvm_sys::prelude::LLVMValueRef) -> bool {
    // SAFETY: `value` is an operand of an instruction of a living module.
    unsafe { !LLVMIsAConstant(value).is_null() }
}

fn is_zero(value: llvm_sys::prelude::LLVMValueRef) -> bool {
    // SAFETY: `value` is an operand of an instruction of a living module, and only constants are tested for zero.
    unsafe { is_constant(value) && LLVMIsNull(value) != 0 }
}

fn is_one(value: llvm_sys::prelude::LLVMValueRef) -> bool {
    // SAFETY: `value` is an operand of an instruction of a living module, and only integer constants are
    // read as numbers.
    unsafe { !LLVMIsAConstantInt(value).is_null() && matches!(LLVMConstIntGetSExtValue(value), 1 | -1) }
}
