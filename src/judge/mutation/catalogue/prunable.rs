//! Decides which mutants may be pruned: those that need not run on tests that do not infect them.

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::cfg::taint::Taint;
use kassay_ir::instrument::mutants::{Edit, Place};
use kassay_ir::llvm::{AddressSpace, Function, Inst, Opcode, View};

use super::indices::ByMutant;
use super::mutant::Mutant;
use crate::coverage::build::KernelUnderTest;

/// Returns by mutant whether a single run of the original with probes suffices to decide whether the mutant would
/// compute a different value in any run. That holds if everything that the mutant changes, and everything that it reads
/// for that, is the same in every run.
pub fn prunable(under_test: &KernelUnderTest<'_>, mutants: &[Mutant]) -> ByMutant<bool> {
    let taint = Taint::of(&under_test.module, &under_test.sites);
    let terminator = |f: FunctionIndex, b: BlockIndex| {
        under_test.sites.functions[f].cfg.blocks[b].instructions.len().saturating_sub(1)
    };
    let view = View::of(&under_test.module);
    let functions: Vec<Option<Function<'_>>> =
        under_test.sites.functions.iter().map(|f| view.function(&f.cfg.function)).collect();
    let is_private = |at: &Place| {
        let block = functions[at.function].and_then(|f| f.blocks().get(at.block.0).copied());
        block.and_then(|b| b.instructions().get(at.instruction).copied()).is_some_and(stores_privately)
    };
    let stable = |m: &Mutant| {
        let places = m.edit.places(&terminator);
        !m.is_structural
            && matches!(&m.edit, Edit::Value { by, .. } if !by.reads_current() || places.iter().all(is_private))
            && places.iter().all(|p| !taint.is_tainted(p.function, p.block, p.instruction))
    };
    mutants.iter().map(stable).collect()
}

/// Returns whether the instruction is a store to private memory. Other memory may be uninitialised before the store, as
/// local memory is at first, and hold a different value in each run.
fn stores_privately(inst: Inst<'_>) -> bool {
    inst.is(Opcode::LLVMStore) && inst.operand(1).ty().space() == Some(AddressSpace::Private)
}
