//! Decides whether a verdict holds for every interleaving of the explored inputs (docs/check.md): it does unless a
//! value that depends on the interleaving decides what is accessed.

use std::collections::{BTreeMap, BTreeSet};

use kassay_base::error::Result;
use kassay_ir::cfg::schedule_dependence;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::{Block, DebugLocation, Function, Inst, Opcode, View};
use kassay_model::native::table::{Mode, NativeTable};
use kassay_results::result::check::{Finding, FindingKind};

use crate::coverage::build::KernelUnderTest;

/// Returns what another interleaving may decide differently, a sentence each.
///
/// # Errors
/// `Internal` if private variables cannot be promoted.
pub fn flows(under_test: &KernelUnderTest<'_>, findings: &[Finding]) -> Result<Vec<String>> {
    let module = under_test.promoted()?;
    let races = findings.iter().filter(|f| f.kind == FindingKind::DataRace);
    let places: BTreeSet<DebugLocation> = races
        .flat_map(|f| &f.accesses)
        .map(|a| &a.location)
        .map(|l| DebugLocation { file: l.file.clone(), line: l.line, column: l.column })
        .collect();
    let places: Vec<DebugLocation> = places.into_iter().collect();
    let flows = schedule_dependence::flows(&module, &under_test.entry, &places);
    let mut sentences: Vec<String> = Vec::new();
    for flow in flows.iter().map(ToString::to_string) {
        if !sentences.contains(&flow) {
            sentences.push(flow);
        }
    }
    Ok(sentences)
}

/// Returns whether atomics pass values on: several atomics access some variable, and the value that one of them reads
/// is used. Which value that is may depend on a barrier, although atomics never conflict.
pub fn atomics_read(under_test: &KernelUnderTest<'_>, table: &NativeTable) -> bool {
    let functions = View::of(&under_test.module).functions().into_iter();
    let all = functions.flat_map(Function::blocks).flat_map(Block::walk);
    let used: BTreeSet<(u32, u32)> =
        all.filter(|i| is_used_atomic(*i)).filter_map(|i| i.location()).map(|l| (l.line, l.column)).collect();
    // The two sites of a compare-exchange have the same path.
    let mut by_object: BTreeMap<Option<u32>, (BTreeSet<u32>, bool)> = BTreeMap::new();
    for site in table.accesses.iter().filter(|s| matches!(s.mode, Mode::Atomic | Mode::AtomicRead)) {
        let place = table.paths.get(site.path as usize).and_then(|p| p.frames.first());
        // Without a place it is unknown, so assume that it is used.
        let is_used = place.is_none_or(|p| p.line == 0 || used.contains(&(p.line, p.column)));
        let known = by_object.entry(site.object).or_default();
        known.0.insert(site.path);
        known.1 |= is_used;
    }
    by_object.values().any(|(paths, is_used)| paths.len() > 1 && *is_used)
}

/// Returns whether an instruction is an atomic whose value is used.
fn is_used_atomic(inst: Inst<'_>) -> bool {
    let is_atomic = match inst.opcode() {
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMLoad => inst.is_atomic(),
        _ => inst.callee().is_some_and(|name| builtins::family(&name) == Some(Family::Atomic)),
    };
    is_atomic && inst.is_used()
}
