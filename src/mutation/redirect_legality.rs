//! Whether edges may be led elsewhere: in optimised IR blocks use what other blocks computed, and a way that goes round
//! these has nothing to offer.

use std::collections::{HashMap, HashSet};

use llvm_sys::LLVMOpcode;
use llvm_sys::core::{
    LLVMCountIncoming, LLVMGetIncomingBlock, LLVMGetIncomingValue, LLVMGetIntTypeWidth, LLVMGetTypeKind, LLVMTypeOf,
};
use petgraph::algo::dominators::{self, Dominators};
use petgraph::graph::NodeIndex;

use crate::cfg::graph::{BlockIndex, Cfg};
use crate::cfg::sites::Sites;
use crate::instrument::mutants::Edit;
use crate::instrument::mutants::edit::EdgeChange;
use crate::kernel::ir::{self, Block, Inst};

/// What blocks of a function need of others.
struct DefUse {
    blocks: Vec<Block>,
    /// A block that computes something, and one that uses it. The first block, which is before all others, is left out.
    uses: Vec<(BlockIndex, BlockIndex)>,
    /// The first ones of `uses`.
    definitions: HashSet<BlockIndex>,
    /// Of the unchanged function.
    dominators: Option<Dominators<NodeIndex>>,
}

/// Judges edits of a module. The functions are those of its sites, in their order.
pub struct RedirectLegality<'a> {
    sites: &'a Sites,
    functions: Vec<DefUse>,
}

impl<'a> RedirectLegality<'a> {
    pub fn of(module: &inkwell::module::Module<'_>, sites: &'a Sites) -> RedirectLegality<'a> {
        let blocks = |name: &str| ir::function(module, name).map_or_else(Vec::new, |f| f.blocks());
        let def_use = |cfg: &Cfg| {
            let mut def_use = DefUse::of(blocks(&cfg.function));
            def_use.dominators =
                (!def_use.uses.is_empty()).then(|| dominators::simple_fast(&cfg.graph, NodeIndex::new(0)));
            def_use
        };
        let functions = sites.functions.iter().map(|f| def_use(&f.cfg)).collect();
        RedirectLegality { sites, functions }
    }

    /// Whether every value is there on the new ways of an edit.
    pub fn allows(&self, edit: &Edit) -> bool {
        match edit {
            Edit::Redirect { edges } => self.phis_have_values(edges) && self.definitions_dominate(edges),
            Edit::All(edits) => edits.iter().all(|e| self.allows(e)),
            _ => true,
        }
    }

    fn phis_have_values(&self, edges: &[EdgeChange]) -> bool {
        edges.iter().all(|edge| {
            let blocks = &self.functions[edge.function].blocks;
            let phis = blocks[edge.to].instructions().into_iter().take_while(|i| i.opcode() == LLVMOpcode::LLVMPHI);
            let mut phis = phis.map(|phi| {
                let is_given = edge.phi.is_some() && is_bool(phi);
                is_given || incoming(phi).iter().any(|(from, _)| *from == blocks[edge.block])
            });
            phis.all(|there| there)
        })
    }

    /// Whether what is used is still computed before, on all ways, old and new.
    fn definitions_dominate(&self, edges: &[EdgeChange]) -> bool {
        let Some(function) = edges.first().map(|e| e.function) else { return true };
        let uses = &self.functions[function].uses;
        if edges.iter().all(|edge| self.functions[function].keeps_dominance(edge)) {
            return true;
        }
        let cfg = &self.sites.functions[function].cfg;
        let mut graph = cfg.graph.clone();
        for edge in edges {
            graph.add_edge(NodeIndex::new(edge.block), NodeIndex::new(edge.to), edge.successor);
        }
        let before = dominators::simple_fast(&graph, NodeIndex::new(0));
        uses.iter().filter(|(_, used)| cfg.reachable[*used]).all(|(definition, used)| {
            before.dominators(NodeIndex::new(*used)).is_none_or(|mut all| all.any(|d| d.index() == *definition))
        })
    }
}

impl DefUse {
    /// Whether an edge certainly goes round nothing that is used. What a block computes is there behind the new edge if that
    /// block is before the edge's source on all ways; and where it was not before the target on all ways, nothing that
    /// uses it follows.
    fn keeps_dominance(&self, edge: &EdgeChange) -> bool {
        let Some(dominators) = &self.dominators else { return true };
        if dominators.dominators(NodeIndex::new(edge.to)).is_none() {
            return false;
        }
        let over = |block: BlockIndex| dominators.dominators(NodeIndex::new(block)).into_iter().flatten();
        let missed: Vec<BlockIndex> = over(edge.to)
            .map(NodeIndex::index)
            .filter(|over| *over != edge.to && self.definitions.contains(over))
            .collect();
        missed.is_empty() || {
            let before: HashSet<BlockIndex> = over(edge.block).map(NodeIndex::index).collect();
            missed.iter().all(|block| before.contains(block))
        }
    }

    fn of(blocks: Vec<Block>) -> DefUse {
        let index: HashMap<Block, BlockIndex> = (0..).zip(&blocks).map(|(at, block)| (*block, at)).collect();
        let position = |block: Block| index.get(&block).copied();
        let mut uses = Vec::new();
        for (here, block) in blocks.iter().enumerate() {
            for inst in block.instructions() {
                let used: Vec<(Option<BlockIndex>, Inst)> = match inst.opcode() {
                    LLVMOpcode::LLVMPHI => {
                        incoming(inst).into_iter().filter_map(|(b, v)| Some((position(b), v?))).collect()
                    }
                    _ => inst.operand_instructions().into_iter().map(|i| (Some(here), i)).collect(),
                };
                uses.extend(used.into_iter().filter_map(|(at, value)| Some((position(value.block())?, at?))));
            }
        }
        uses.retain(|(definition, used)| definition != used && *definition != 0);
        uses.sort_unstable();
        uses.dedup();
        let definitions = uses.iter().map(|(definition, _)| *definition).collect();
        DefUse { blocks, uses, definitions, dominators: None }
    }
}

/// What a `phi` takes from where, as far as it is an instruction's.
fn incoming(phi: Inst) -> Vec<(Block, Option<Inst>)> {
    // SAFETY: alive and a phi; indices are below the count.
    unsafe {
        (0..LLVMCountIncoming(phi.0))
            .map(|i| (Block(LLVMGetIncomingBlock(phi.0, i)), ir::as_instruction(LLVMGetIncomingValue(phi.0, i))))
            .collect()
    }
}

fn is_bool(phi: Inst) -> bool {
    // SAFETY: alive; only integers have a width.
    unsafe {
        let ty = LLVMTypeOf(phi.0);
        LLVMGetTypeKind(ty) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 1
    }
}
