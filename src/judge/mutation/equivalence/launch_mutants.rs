//! Proves that another NDRange leaves a kernel's results as they are: work-items of both launches do the same in both,
//! and those of one only do nothing.

use kassay_base::error::Result;
use kassay_ir::instrument::mutants::edit::LaunchChange;
use kassay_ir::kernel::builtins::{self, Effect, Family};
use kassay_ir::llvm::{AddressSpace, Inst, Opcode, View};
use kassay_prove::solve::purity;
use kassay_suite::launch::NdRange;

use super::global_ids;
use super::launch_facts::{LaunchFacts, Span};
use super::normal;
use super::parts::CanonicalForm;
use crate::mutation::catalogue::operators::launch::{self, Limits};

/// Queries whose answer for a work-item does not depend on how many others there are.
const OF_ITEM: &[&str] = &["get_global_id", "get_global_offset", "get_work_dim"];

/// Queries whose answer depends on the sizes of work-groups as well, not on their number.
const OF_GROUP: &[&str] =
    &["get_local_id", "get_local_linear_id", "get_local_size", "get_enqueued_local_size", "get_group_id"];

/// The device has refused what it does not take, so limits need not be checked again.
const NO_LIMITS: Limits = Limits { group: 0, sizes: [0; 3], required: None };

/// Returns whether launches of which `facts` is known compute the same with a changed NDRange.
///
/// # Errors
/// `Internal` if a pass fails.
pub(super) fn is_same(canonical: &CanonicalForm<'_, '_>, change: LaunchChange, facts: &LaunchFacts) -> Result<bool> {
    let Some(range) = facts.range().filter(|range| range.local.is_some()) else { return Ok(false) };
    // A launch that the device refuses is not run.
    let Ok(changed) = launch::apply(range, change, &NO_LIMITS) else { return Ok(true) };
    if !range.has_uniform_groups() || !changed.has_uniform_groups() {
        return Ok(false);
    }
    let has_same_groups = changed.local == range.local;
    let allowed: Vec<&str> = OF_ITEM.iter().chain(OF_GROUP.iter().filter(|_| has_same_groups)).copied().collect();
    let mut shared = facts.clone();
    shared.keep(&allowed);
    for d in 0..3 {
        let ids = ids(range, d, 0, range.global[d].min(changed.global[d]));
        shared.set("get_global_id", d, ids);
    }
    let does_same = |view: View<'_>| is_independent(view, &allowed, has_same_groups);
    if !holds(canonical, &shared, does_same)? {
        return Ok(false);
    }
    for d in 0..3 {
        let (fewer, more) = (range.global[d].min(changed.global[d]), range.global[d].max(changed.global[d]));
        if fewer == more {
            continue;
        }
        let mut others = facts.clone();
        others.keep(OF_ITEM);
        for e in 0..3 {
            others.set("get_global_id", e, ids(range, e, 0, range.global[e].max(changed.global[e])));
        }
        others.set("get_global_id", d, ids(range, d, fewer, more));
        if !holds(canonical, &others, does_nothing)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The global ids of the work-items from one number to another in a dimension.
fn ids(range: &NdRange, d: usize, from: u64, to: u64) -> Span {
    (range.offset[d].saturating_add(from), range.offset[d].saturating_add(to - 1))
}

/// Returns whether something holds of the kernel in its refined form for launches of which `facts` is known.
fn holds(canonical: &CanonicalForm<'_, '_>, facts: &LaunchFacts, property: impl Fn(View<'_>) -> bool) -> Result<bool> {
    let Some(mut module) = canonical.whole() else { return Ok(false) };
    if !normal::promote(&mut module, canonical.kernel.entry)? {
        return Ok(false);
    }
    // All callers have seen that groups are uniform.
    facts.range().into_iter().for_each(|range| global_ids::recognise(View::of(&module), range));
    normal::refine(&mut module, canonical.kernel.entry, Some(facts))?;
    Ok(property(View::of(&module)))
}

/// Returns whether what the code does depends on no query but the allowed ones and, unless work-groups are the same,
/// not on which work-items are in one.
fn is_independent(view: View<'_>, allowed: &[&str], has_same_groups: bool) -> bool {
    view.instructions().into_iter().all(|inst| {
        let is_local = |inst: Inst<'_>| {
            inst.operands()
                .into_iter()
                .any(|value| value.ty().is_pointer() && value.ty().space() == Some(AddressSpace::Local))
        };
        if !has_same_groups && is_local(inst) {
            return false;
        }
        let Some(name) = inst.callee() else { return true };
        let plain = builtins::demangle(&name).map_or(name.as_str(), |(plain, _)| plain);
        match builtins::family(&name) {
            Some(Family::WorkItemId | Family::LaunchQuery) => allowed.contains(&plain),
            Some(Family::SubGroupQuery | Family::SubGroupFunction | Family::SubGroupBarrier) => false,
            Some(Family::IntelSubGroupFunction | Family::SpirvGroup) => false,
            Some(Family::Barrier) if plain == builtins::GRID_BARRIER => false,
            Some(_) => has_same_groups || !builtins::has(&name, Effect::GroupWide),
            // Ids of kernels that were not compiled from OpenCL C.
            None => !name.contains(builtins::SPIRV_BUILT_IN),
        }
    })
}

/// Returns whether the kernel computes nothing but values that are not used.
fn does_nothing(view: View<'_>) -> bool {
    view.instructions().into_iter().all(|inst| purity::computes_term(inst) || is_harmless(inst))
}

fn is_harmless(inst: Inst<'_>) -> bool {
    matches!(
        inst.opcode(),
        Opcode::LLVMRet | Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMPHI | Opcode::LLVMAlloca
    )
}
