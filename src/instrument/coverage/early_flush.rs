//! Where work-items may wait for ever: barriers that not all items of a group may reach. What an item covered has to be told before it
//! waits there, for on a device nobody sends it to the kernel's end.

use std::collections::BTreeSet;

use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;

use crate::cfg::graph::BlockIndex;
use crate::cfg::sites::Sites;
use crate::cfg::uniformity::Uniformity;
use crate::error::{Error, Result};
use crate::kernel::ir::{self, Block, Inst};
use crate::lower::spirv;

/// The instructions of the kernel before which to tell: barriers, and calls of helpers that wait, in blocks that the items of a group may
/// reach differently. Calls are told by block and name, because weaving replaces them.
#[derive(Debug, Default)]
pub struct Early {
    pub barriers: Vec<Inst>,
    pub calls: Vec<(BlockIndex, String)>,
}

impl Early {
    /// Reads a module in canonical form; `blocks` are the kernel's.
    ///
    /// # Errors
    /// `Internal` if private variables cannot be promoted.
    pub fn find(module: &Module<'_>, sites: &Sites, blocks: &[Block]) -> Result<Early> {
        let Some(kernel) = sites.functions.first() else { return Ok(Early::default()) };
        let waiting = waiting(sites, module);
        let mut found = Early::default();
        for (block, position, _) in &kernel.barriers {
            found.barriers.extend(blocks.get(*block).and_then(|b| b.instructions().get(*position).copied()));
        }
        for (b, block) in blocks.iter().enumerate() {
            let callees = block.instructions().into_iter().filter_map(Inst::callee);
            found.calls.extend(callees.filter(|name| waiting.contains(name)).map(|name| (b, name)));
        }
        if found.barriers.is_empty() && found.calls.is_empty() {
            return Ok(found);
        }
        let doubtful = doubtful(module, sites)?;
        let block_of = |inst: &Inst| blocks.iter().position(|b| *b == inst.block());
        found.barriers.retain(|inst| block_of(inst).is_some_and(|b| doubtful.contains(&b)));
        found.calls.retain(|(b, _)| doubtful.contains(b));
        Ok(found)
    }
}

/// Helpers that wait at barriers, or call some that do.
fn waiting(sites: &Sites, module: &Module<'_>) -> BTreeSet<String> {
    let name = |f: &crate::cfg::sites::FunctionSites| f.cfg.function.clone();
    let helpers = || sites.functions.iter().skip(1);
    let mut all: BTreeSet<String> = helpers().filter(|f| !f.barriers.is_empty()).map(name).collect();
    let calls = |f: &str| -> BTreeSet<String> {
        let blocks = ir::function(module, f).map(|f| f.blocks()).unwrap_or_default();
        blocks.into_iter().flat_map(Block::instructions).filter_map(Inst::callee).collect()
    };
    while !all.is_empty() {
        let more = helpers().map(name).find(|f| !all.contains(f) && !calls(f).is_disjoint(&all));
        match more {
            Some(f) => drop(all.insert(f)),
            None => break,
        }
    }
    all
}

/// Blocks of the kernel whose execution depends on a branch that items of a group may take differently.
fn doubtful(module: &Module<'_>, sites: &Sites) -> Result<BTreeSet<BlockIndex>> {
    let promoted = module.clone();
    // Blocks stay those of the sites.
    promoted
        .run_passes("function(sroa<preserve-cfg>)", &spirv::machine()?, PassBuilderOptions::create())
        .map_err(|e| Error::internal(format!("promoting private variables failed: {e}")))?;
    let varying = Uniformity::of(&promoted, sites);
    let kernel = &sites.functions[0];
    let dependences = kernel.dominance.control_dependences(&kernel.cfg);
    let mut doubtful: BTreeSet<BlockIndex> = BTreeSet::new();
    loop {
        let before = doubtful.len();
        for (block, edges) in dependences.iter().enumerate() {
            if edges.iter().any(|e| varying.may_diverge(0, e.block) || doubtful.contains(&e.block)) {
                doubtful.insert(block);
            }
        }
        if doubtful.len() == before {
            return Ok(doubtful);
        }
    }
}
