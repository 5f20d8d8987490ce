//! Finds barriers at which work-items may wait forever, because not all items of a group may reach them. An item's
//! coverage has to be flushed before it waits there: a device never sends it on to the kernel's end.

use std::collections::BTreeSet;

use inkwell::module::Module;
use kassay_base::error::Result;

use crate::cfg::indices::{BlockIndex, FunctionIndex};
use crate::cfg::sites::Sites;
use crate::cfg::uniformity::Uniformity;
use crate::llvm::{Block, Inst, View, passes};
use crate::lower::spirv;

/// The instructions of the kernel before which to flush: barriers, and calls of helpers that contain barriers, in
/// blocks that the items of a group may reach differently. Calls are identified by block and name, because weaving
/// replaces them.
#[derive(Debug, Default)]
pub struct EarlyFlushes<'m> {
    pub barriers: Vec<Inst<'m>>,
    pub calls: Vec<(BlockIndex, String)>,
}

impl<'m> EarlyFlushes<'m> {
    /// Reads a module in canonical form; `blocks` are those of the kernel.
    ///
    /// # Errors
    /// `Internal` if private variables cannot be promoted.
    pub fn find(module: &Module<'_>, sites: &Sites, blocks: &[Block<'m>]) -> Result<EarlyFlushes<'m>> {
        let Some(kernel) = sites.functions.first() else { return Ok(EarlyFlushes::default()) };
        let waiting = waiting(sites, module);
        let mut found = EarlyFlushes::default();
        for (block, position, _) in &kernel.barriers {
            found.barriers.extend(blocks.get(block.0).and_then(|b| b.instructions().get(*position).copied()));
        }
        for (b, block) in BlockIndex::enumerate(blocks) {
            let callees = block.instructions().into_iter().filter_map(Inst::callee);
            found.calls.extend(callees.filter(|name| waiting.contains(name)).map(|name| (b, name)));
        }
        if found.barriers.is_empty() && found.calls.is_empty() {
            return Ok(found);
        }
        let divergent = divergent_blocks(module, sites)?;
        let block_of = |inst: &Inst| blocks.iter().position(|b| *b == inst.block()).map(BlockIndex);
        found.barriers.retain(|inst| block_of(inst).is_some_and(|b| divergent.contains(&b)));
        found.calls.retain(|(b, _)| divergent.contains(b));
        Ok(found)
    }
}

/// Returns the helpers that contain barriers, directly or through calls.
fn waiting(sites: &Sites, module: &Module<'_>) -> BTreeSet<String> {
    let name = |f: &crate::cfg::sites::FunctionSites| f.cfg.function.clone();
    let helpers = || sites.functions.iter().skip(1);
    let mut all: BTreeSet<String> = helpers().filter(|f| !f.barriers.is_empty()).map(name).collect();
    let calls = |f: &str| -> BTreeSet<String> {
        let function = View::of(module).function(f).into_iter();
        function.flat_map(|f| f.instructions()).filter_map(Inst::callee).collect()
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

/// Returns the kernel's blocks whose execution depends on a branch that items of a group may take differently.
fn divergent_blocks(module: &Module<'_>, sites: &Sites) -> Result<BTreeSet<BlockIndex>> {
    let mut promoted = module.clone();
    // The CFG is preserved, so that blocks still correspond to those of the sites.
    passes::run(&mut promoted, Some(&spirv::machine()?), "function(sroa<preserve-cfg>)")?;
    let varying = Uniformity::of(&promoted, sites);
    let kernel = &sites.functions[FunctionIndex::KERNEL];
    let deciders = kernel.dominance.transitive_deciders(&kernel.cfg);
    let is_divergent =
        |block: &BlockIndex| deciders[*block].iter().any(|d| varying.may_diverge(FunctionIndex::KERNEL, *d));
    Ok(BlockIndex::first(deciders.len()).filter(is_divergent).collect())
}
