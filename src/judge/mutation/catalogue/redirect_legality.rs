//! Decides whether a CFG edge may be redirected. In optimised IR, blocks use values defined by their dominators; an
//! edge that bypasses a definition would leave its uses undefined.

use std::collections::{HashMap, HashSet};

use kassay_ir::cfg::graph::Cfg;
use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::instrument::mutants::edit::EdgeChange;
use kassay_ir::llvm::{Block, Inst, Opcode, View};
use petgraph::algo::dominators::{self, Dominators};
use petgraph::graph::NodeIndex;

/// Definitions and uses across the blocks of a function.
struct DefUse<'m> {
    blocks: Vec<Block<'m>>,
    /// Pairs of a defining block and a using block. The entry block, which dominates all others, is left out as
    /// a definer.
    uses: Vec<(BlockIndex, BlockIndex)>,
    /// The defining blocks of `uses`.
    definitions: HashSet<BlockIndex>,
    /// Dominators of the unchanged function; `None` if nothing is used across blocks.
    dominators: Option<Dominators<NodeIndex>>,
}

/// Judges the edits of a module; its functions are those of `sites`, in their order.
pub struct RedirectLegality<'a> {
    sites: &'a Sites,
    functions: Vec<DefUse<'a>>,
}

impl<'a> RedirectLegality<'a> {
    /// Reads the definitions and uses of the module that `sites` were read from.
    pub fn of(module: View<'a>, sites: &'a Sites) -> RedirectLegality<'a> {
        let blocks = |name: &str| module.function(name).map_or_else(Vec::new, |f| f.blocks());
        let def_use = |cfg: &Cfg| {
            let mut def_use = DefUse::of(blocks(&cfg.function));
            def_use.dominators =
                (!def_use.uses.is_empty()).then(|| dominators::simple_fast(&cfg.graph, NodeIndex::new(0)));
            def_use
        };
        let functions = sites.functions.iter().map(|f| def_use(&f.cfg)).collect();
        RedirectLegality { sites, functions }
    }

    /// Returns whether all values are defined along the redirected edges of an edit.
    pub fn allows(&self, edit: &Edit) -> bool {
        match edit {
            Edit::Redirect { edges } => self.phis_have_values(edges) && self.definitions_dominate(edges),
            Edit::All(edits) => edits.iter().all(|e| self.allows(e)),
            Edit::Value { .. } | Edit::Instead { .. } | Edit::Privatise { .. } | Edit::Launch(_) => true,
            Edit::Variant(_) | Edit::Uncompilable { .. } => true,
        }
    }

    /// Returns whether every `phi` of an edge's target has a value for the new predecessor: one that the edit gives, or
    /// one of an edge that exists already.
    fn phis_have_values(&self, edges: &[EdgeChange]) -> bool {
        edges.iter().all(|edge| {
            let blocks = &self.functions[edge.function].blocks;
            blocks[edge.to].phis().into_iter().all(|phi| {
                let is_given = edge.phi.is_some() && phi.ty().is_bool();
                is_given || phi.incoming_from(blocks[edge.block]).is_some()
            })
        })
    }

    /// Returns whether every definition still dominates its uses, with the new edges in addition to the old ones.
    fn definitions_dominate(&self, edges: &[EdgeChange]) -> bool {
        let Some(function) = edges.first().map(|e| e.function) else { return true };
        let uses = &self.functions[function].uses;
        if edges.iter().all(|edge| self.functions[function].keeps_dominance(edge)) {
            return true;
        }
        let cfg = &self.sites.functions[function].cfg;
        let mut graph = cfg.graph.clone();
        for edge in edges {
            graph.add_edge(edge.block.node(), edge.to.node(), edge.successor);
        }
        let before = dominators::simple_fast(&graph, NodeIndex::new(0));
        uses.iter().filter(|(_, used)| cfg.reachable[*used]).all(|(definition, used)| {
            before.dominators(used.node()).is_none_or(|mut all| all.any(|d| BlockIndex::of(d) == *definition))
        })
    }
}

impl<'m> DefUse<'m> {
    /// Returns whether an edge certainly bypasses no definition that is used: a sufficient condition. A definition
    /// still dominates the target if its block dominates the edge's source; and if its block did not dominate the
    /// target before, no use of it is reachable from the target without passing the definition.
    fn keeps_dominance(&self, edge: &EdgeChange) -> bool {
        let Some(dominators) = &self.dominators else { return true };
        if dominators.dominators(edge.to.node()).is_none() {
            return false;
        }
        let over = |block: BlockIndex| dominators.dominators(block.node()).into_iter().flatten();
        let missed: Vec<BlockIndex> = over(edge.to)
            .map(BlockIndex::of)
            .filter(|over| *over != edge.to && self.definitions.contains(over))
            .collect();
        missed.is_empty() || {
            let before: HashSet<BlockIndex> = over(edge.block).map(BlockIndex::of).collect();
            missed.iter().all(|block| before.contains(block))
        }
    }

    fn of(blocks: Vec<Block<'m>>) -> DefUse<'m> {
        let index: HashMap<Block<'m>, BlockIndex> =
            BlockIndex::enumerate(&blocks).map(|(at, block)| (*block, at)).collect();
        let position = |block: Block<'m>| index.get(&block).copied();
        let mut uses = Vec::new();
        for (here, block) in BlockIndex::enumerate(&blocks) {
            for inst in block.instructions() {
                let used: Vec<(Option<BlockIndex>, Inst<'m>)> = match inst.opcode() {
                    Opcode::LLVMPHI => {
                        let incoming = inst.incoming().into_iter();
                        incoming.filter_map(|(value, b)| Some((position(b), value.as_instruction()?))).collect()
                    }
                    _ => inst.operand_instructions().into_iter().map(|i| (Some(here), i)).collect(),
                };
                uses.extend(used.into_iter().filter_map(|(at, value)| Some((position(value.block())?, at?))));
            }
        }
        uses.retain(|(definition, used)| definition != used && *definition != BlockIndex::ENTRY);
        uses.sort_unstable();
        uses.dedup();
        let definitions = uses.iter().map(|(definition, _)| *definition).collect();
        DefUse { blocks, uses, definitions, dominators: None }
    }
}
