//! Reads the control-flow graph of one function as plain data.

use std::collections::{HashMap, HashSet};

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::indices::BlockIndex;
use crate::kernel::inlined::LIBRARY;
use crate::llvm::{Block, DebugLocation, Function, Inst, IntPredicate, MetadataKind, Opcode, Value, View};

impl BlockIndex {
    /// Returns the block of a node of [`Cfg::graph`].
    pub fn of(node: NodeIndex) -> BlockIndex {
        BlockIndex(node.index())
    }

    /// Returns the node of [`Cfg::graph`] that is this block.
    pub fn node(self) -> NodeIndex {
        NodeIndex::new(self.0)
    }
}

/// An edge: the block that it leaves, and its position among the terminator's successors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The block that it leaves.
    pub block: BlockIndex,
    /// Position among the successors of the terminator.
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
        /// The values of the cases, sign-extended, in the order of the successors after the default.
        cases: Vec<i64>,
    },
    /// `unreachable`.
    Unreachable,
}

/// A basic block.
#[derive(Debug, Clone)]
pub struct BlockInfo {
    /// clang's label, or the user's; empty if names were discarded, of this block or of others of the function.
    pub label: String,
    /// How it ends.
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
    /// In order, the terminator last.
    pub instructions: Vec<InstInfo>,
}

/// What the analyses need to know about an instruction.
#[derive(Debug, Clone)]
pub struct InstInfo {
    /// Where it comes from; `None` without debug information.
    pub location: Option<DebugLocation>,
    /// What the analyses know it as.
    pub kind: InstKind,
    /// Whether it is inlined code of a header that kassay brings or the system has ([`LIBRARY`]).
    pub is_of_library: bool,
}

/// The kinds of metadata that tell what code is.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    /// `llvm.loop`.
    pub loops: MetadataKind,
    /// [`LIBRARY`].
    pub library: MetadataKind,
}

impl Kinds {
    /// Those of a module.
    pub fn of(view: View<'_>) -> Kinds {
        Kinds { loops: view.metadata_kind("llvm.loop"), library: view.metadata_kind(LIBRARY) }
    }
}

/// The kinds of instruction that the analyses distinguish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstKind {
    /// A direct call of this function.
    Call(String),
    /// A `select` on a scalar condition. `as_number`: it chooses between 1 and 0, as when a bool is widened.
    Select {
        /// Whether it chooses between 1 and 0.
        as_number: bool,
        /// Where its condition begins in the source, as far as debug locations show it.
        condition_location: Option<DebugLocation>,
    },
    /// A `phi` of type `i1`, with its incoming blocks and values.
    BoolPhi(Vec<(BlockIndex, Incoming)>),
    /// A `phi` of another type.
    Phi,
    /// A `store`.
    Store,
    /// An `alloca`.
    Alloca,
    /// A `ret`.
    Return,
    /// An unconditional branch.
    Goto,
    /// Any other instruction.
    Other,
}

/// A value that a boolean `phi` receives from a predecessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incoming {
    /// This constant.
    Constant(bool),
    /// Another boolean `phi`, by block and position.
    Phi(BlockIndex, usize),
    /// Another boolean `phi`, negated an odd number of times, or an even one.
    NotPhi {
        /// The block of the other `phi`.
        block: BlockIndex,
        /// The position of the other `phi` in its block.
        phi: usize,
        /// Whether it is negated an odd number of times.
        is_negated: bool,
    },
    /// Any other value.
    Other,
}

/// One function of the canonical form.
#[derive(Debug, Clone)]
pub struct Cfg {
    /// Its name in the module.
    pub function: String,
    /// By position, the entry block first.
    pub blocks: Vec<BlockInfo>,
    /// Node `i` is block `i`; an edge's weight is its position among the terminator's successors.
    pub graph: DiGraph<(), usize>,
    /// For each block, whether it is reachable from the entry.
    pub reachable: Vec<bool>,
    /// Whether the blocks stand in the order in which clang made them: the first arm of a construct directly after its
    /// condition, what follows a loop after the loop. False if their producer sorted them anew.
    pub is_in_source_order: bool,
    /// The branches that guard rotated loops: the loop's header, and the edge that skips the loop.
    pub guards: Vec<(BlockIndex, Edge)>,
}

impl Cfg {
    /// Reads a function that has a body.
    pub fn read(function: Function<'_>, kinds: Kinds) -> Cfg {
        let blocks = function.blocks();
        let positions: HashMap<Block<'_>, BlockIndex> =
            BlockIndex::enumerate(&blocks).map(|(b, block)| (*block, b)).collect();
        let position = |b: Block<'_>| positions.get(&b).copied().unwrap_or(BlockIndex(0));
        let mut graph = DiGraph::with_capacity(blocks.len(), blocks.len() * 2);
        for _ in &blocks {
            graph.add_node(());
        }
        let places: HashMap<Inst<'_>, (BlockIndex, usize)> = BlockIndex::enumerate(&blocks)
            .flat_map(|(b, block)| block.instructions().into_iter().enumerate().map(move |(i, inst)| (inst, (b, i))))
            .collect();
        let mut infos = Vec::with_capacity(blocks.len());
        for (i, block) in blocks.iter().enumerate() {
            for (s, target) in block.terminator().successors().into_iter().enumerate() {
                graph.add_edge(NodeIndex::new(i), position(target).node(), s);
            }
            let terminator = block.terminator();
            let condition = terminator.operands().first().and_then(|condition| condition.as_instruction());
            infos.push(BlockInfo {
                label: block.label(),
                terminator: read_terminator(terminator),
                taken: always_taken(terminator),
                case_range: condition.filter(|_| block.label().starts_with("sw.caserange")).and_then(case_range),
                ends_loop: terminator.metadata(kinds.loops).is_some(),
                condition_location: condition
                    .and_then(|c| earliest_location(*block, c))
                    .or_else(|| terminator.location()),
                condition_phi: condition
                    .filter(|c| c.is(Opcode::LLVMPHI) && c.block() == *block)
                    .and_then(|c| places.get(&c).map(|p| p.1)),
                instructions: block
                    .instructions()
                    .into_iter()
                    .map(|i| read_instruction(i, kinds.library, &position, &places))
                    .collect(),
            });
        }
        let mut reachable = vec![false; blocks.len()];
        let mut search = petgraph::visit::Dfs::new(&graph, NodeIndex::new(0));
        while let Some(n) = search.next(&graph) {
            reachable[n.index()] = true;
        }
        // Labels tell constructs apart only if every block has one: where some were lost, the absence of a label says
        // nothing. Translators of SPIR-V label a few blocks that they make (`.loopexit`).
        let all_labelled = infos.iter().zip(&reachable).skip(1).all(|(b, reachable)| !reachable || !b.label.is_empty());
        let mut cfg = Cfg {
            function: function.name(),
            blocks: infos,
            graph,
            reachable,
            is_in_source_order: true,
            guards: Vec::new(),
        };
        if !all_labelled {
            cfg.clear_labels();
        }
        cfg
    }

    /// The number of blocks, including unreachable ones.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The positions of all blocks, in order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = BlockIndex> + ExactSizeIterator + Clone + use<> {
        BlockIndex::first(self.len())
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
        let mut all: Vec<(usize, BlockIndex)> =
            self.graph.edges(block.node()).map(|e| (*e.weight(), BlockIndex::of(e.target()))).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, target)| target).collect()
    }

    /// The successors of every block, each in the terminator's order, as plain numbers for algorithms on any graph.
    pub fn all_successors(&self) -> Vec<Vec<usize>> {
        self.indices().map(|block| self.successors(block).into_iter().map(|to| to.0).collect()).collect()
    }

    /// The edges that enter `block` from reachable blocks.
    pub fn incoming(&self, block: BlockIndex) -> Vec<Edge> {
        let mut all: Vec<Edge> = self
            .graph
            .edges_directed(block.node(), petgraph::Direction::Incoming)
            .filter(|e| self.reachable[e.source().index()])
            .map(|e| Edge { block: BlockIndex::of(e.source()), successor: *e.weight() })
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

    /// Returns whether blocks with labels have been merged into others, so that constructs lack the labels of some of
    /// their blocks: in clang's own code, only a loop's condition branches to what follows the loop's body.
    pub fn has_merged_labels(&self) -> bool {
        let is_any = |b: &BlockIndex, labels: &[&str]| labels.iter().any(|label| self.is_labelled(*b, label));
        let is_branch = |b: &BlockIndex| self.reachable[*b] && self.blocks[*b].terminator == Terminator::Branch;
        self.indices().filter(is_branch).map(|b| self.successors(b)).any(|targets| {
            let following = ["for.inc", "for.end", "while.cond", "while.end", "do.cond", "do.end"];
            let bodies = ["for.body", "while.body", "do.body"];
            targets.iter().any(|t| is_any(t, &following)) && !targets.iter().any(|t| is_any(t, &bodies))
        })
    }

    /// Forgets the labels of all blocks.
    pub fn clear_labels(&mut self) {
        self.blocks.iter_mut().for_each(|b| b.label.clear());
    }

    /// Returns whether a library's code decides where this block leads.
    pub fn is_of_library(&self, block: BlockIndex) -> bool {
        self.blocks[block].instructions.last().is_some_and(|terminator| terminator.is_of_library)
    }

    /// Returns whether the branch of a block guards a rotated loop.
    pub fn is_guard(&self, block: BlockIndex) -> bool {
        self.guards.iter().any(|(_, skip)| skip.block == block)
    }

    /// Returns whether a block's label is clang's `prefix`, with or without the number that makes it unique.
    pub fn is_labelled(&self, block: BlockIndex, prefix: &str) -> bool {
        let label = &self.blocks[block].label;
        label.strip_prefix(prefix).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    }
}

fn read_terminator(inst: Inst<'_>) -> Terminator {
    match inst.opcode() {
        Opcode::LLVMRet => Terminator::Return,
        Opcode::LLVMBr if inst.branch_condition().is_some() => Terminator::Branch,
        Opcode::LLVMBr => Terminator::Goto,
        Opcode::LLVMSwitch if inst.operand(0).is_constant() || leaves_scope(inst) => Terminator::Goto,
        Opcode::LLVMSwitch => {
            let value = |(value, _): (Value<'_>, Block<'_>)| value.as_i64().unwrap_or_default();
            Terminator::Switch { cases: inst.switch_cases().into_iter().map(value).collect() }
        }
        _ => Terminator::Unreachable,
    }
}

/// Returns whether clang goes on with this switch after destructors that several jumps share: no `switch` of the
/// source.
fn leaves_scope(switch: Inst<'_>) -> bool {
    switch.operand(0).name().starts_with("cleanup.dest")
}

fn always_taken(terminator: Inst<'_>) -> Option<usize> {
    terminator.condition()?.as_bool().map(|value| usize::from(!value))
}

/// The range of values that satisfy clang's test `(x - first) <= (last - first)`.
fn case_range(test: Inst<'_>) -> Option<(i64, i64)> {
    let [difference, span] = test.operands()[..] else { return None };
    let difference = difference.as_opcode(Opcode::LLVMSub)?;
    let first = difference.operand(1).as_i64()?;
    Some((first, first.wrapping_add(span.as_u64()?.cast_signed())))
}

/// The earliest source position among the instructions of `block` that compute `value`.
fn earliest_location<'m>(block: Block<'m>, value: Inst<'m>) -> Option<DebugLocation> {
    let mut worklist = vec![value];
    let mut seen = HashSet::new();
    let mut begin: Option<DebugLocation> = None;
    while let Some(inst) = worklist.pop() {
        if inst.block() != block || !seen.insert(inst) {
            continue;
        }
        if let Some(location) = inst.location().filter(|l| l.line > 0)
            && begin
                .as_ref()
                .is_none_or(|b| b.file == location.file && (location.line, location.column) < (b.line, b.column))
        {
            begin = Some(location);
        }
        if !inst.is(Opcode::LLVMPHI) {
            worklist.extend(inst.operand_instructions());
        }
    }
    begin
}

/// For an `i1` that equals another one or is its negation: that one, and whether it is the negation. LLVM negates by
/// `xor`; SPIR-V compares with a constant.
fn equal_or_opposite(value: Value<'_>) -> Option<(Value<'_>, bool)> {
    let inst = value.as_instruction()?;
    let constant = || inst.operand(1).as_bool();
    match (inst.opcode(), inst.int_predicate()) {
        (Opcode::LLVMXor, _) => Some((inst.operand(0), constant()?)),
        (Opcode::LLVMICmp, Some(IntPredicate::LLVMIntNE)) => Some((inst.operand(0), constant()?)),
        (Opcode::LLVMICmp, Some(IntPredicate::LLVMIntEQ)) => Some((inst.operand(0), !constant()?)),
        _ => None,
    }
}

fn read_phi<'m>(
    inst: Inst<'m>,
    position: &dyn Fn(Block<'m>) -> BlockIndex,
    places: &HashMap<Inst<'m>, (BlockIndex, usize)>,
) -> Vec<(BlockIndex, Incoming)> {
    let read = |(value, block): (Value<'m>, Block<'m>)| {
        let place = |value: Value<'m>| places.get(&value.as_opcode(Opcode::LLVMPHI)?).copied();
        let (mut negated, mut is_negated) = (value, false);
        while let Some((operand, is_opposite)) = equal_or_opposite(negated) {
            (negated, is_negated) = (operand, is_negated != is_opposite);
        }
        let kind = match (value.as_bool(), place(value), place(negated)) {
            (Some(b), ..) => Incoming::Constant(b),
            (None, Some((block, phi)), _) => Incoming::Phi(block, phi),
            (None, None, Some((block, phi))) => Incoming::NotPhi { block, phi, is_negated },
            (None, None, None) => Incoming::Other,
        };
        (position(block), kind)
    };
    inst.incoming().into_iter().map(read).collect()
}

fn read_instruction<'m>(
    inst: Inst<'m>,
    library: MetadataKind,
    position: &dyn Fn(Block<'m>) -> BlockIndex,
    places: &HashMap<Inst<'m>, (BlockIndex, usize)>,
) -> InstInfo {
    let kind = match inst.opcode() {
        Opcode::LLVMCall => inst.callee().map_or(InstKind::Other, InstKind::Call),
        Opcode::LLVMSelect => {
            let operands = inst.operands();
            match operands.first() {
                Some(&condition) if condition.ty().is_bool() && !condition.is_constant() => InstKind::Select {
                    as_number: picks_one_or_zero(&operands) && !is_ternary_of_clang(inst, condition),
                    condition_location: condition
                        .as_instruction()
                        .and_then(|c| earliest_location(inst.block(), c))
                        .or_else(|| inst.location()),
                },
                _ => InstKind::Other,
            }
        }
        Opcode::LLVMPHI if inst.ty().is_bool() => InstKind::BoolPhi(read_phi(inst, position, places)),
        Opcode::LLVMPHI => InstKind::Phi,
        Opcode::LLVMStore => InstKind::Store,
        Opcode::LLVMAlloca => InstKind::Alloca,
        Opcode::LLVMRet => InstKind::Return,
        Opcode::LLVMBr if inst.branch_condition().is_none() => InstKind::Goto,
        _ => InstKind::Other,
    };
    InstInfo { location: inst.location(), kind, is_of_library: inst.metadata(library).is_some() }
}

fn picks_one_or_zero(operands: &[Value<'_>]) -> bool {
    is_one(operands[1]) && operands[2].is_null()
}

/// Returns whether a `select` that picks 1 or 0 stands for a `?:` in a module that was translated from SPIR-V, where a
/// widened bool looks alike: clang widens the condition of a `?:` to 64 bits before it (to count executions, if asked)
/// and leaves that value unused.
fn is_ternary_of_clang(inst: Inst<'_>, condition: Value<'_>) -> bool {
    let instructions = inst.block().instructions();
    let before = instructions.iter().take_while(|other| **other != inst).last();
    before.is_some_and(|before| {
        let operands = before.operands();
        before.is(Opcode::LLVMSelect)
            && !before.is_used()
            && operands[0] == condition
            && before.ty().int_width() == Some(64)
            && picks_one_or_zero(&operands)
    })
}

fn is_one(value: Value<'_>) -> bool {
    matches!(value.as_i64(), Some(1 | -1))
}
