//! Barriers and fences (OpenCL C 3.0, 6.15.8 and 6.15.12.4) as SPIR-V's OpControlBarrier and OpMemoryBarrier.

use super::call::{Call, Replacement};
use crate::llvm::Value;

/// Scopes (SPIR-V 3.27).
pub(super) mod scope {
    pub const CROSS_DEVICE: u32 = 0;
    pub const DEVICE: u32 = 1;
    pub const WORKGROUP: u32 = 2;
    pub const SUBGROUP: u32 = 3;
    pub const INVOCATION: u32 = 4;
}

/// Memory semantics (SPIR-V 3.25): orders, and memory that is ordered.
pub(super) mod semantics {
    pub const RELAXED: u32 = 0;
    pub const ACQUIRE: u32 = 0x2;
    pub const RELEASE: u32 = 0x4;
    pub const ACQUIRE_RELEASE: u32 = 0x8;
    pub const SEQUENTIALLY_CONSISTENT: u32 = 0x10;
    pub const WORKGROUP_MEMORY: u32 = 0x100;
    pub const CROSS_WORKGROUP_MEMORY: u32 = 0x200;
    pub const IMAGE_MEMORY: u32 = 0x800;
    /// All memory that `cl_mem_fence_flags` can name.
    pub const EVERYWHERE: u32 = WORKGROUP_MEMORY | CROSS_WORKGROUP_MEMORY | IMAGE_MEMORY;
}

/// `barrier(flags)` and `work_group_barrier(flags, scope)`.
pub(super) fn work_group<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    barrier(call, scope::WORKGROUP)
}

/// `sub_group_barrier(flags, scope)`.
pub(super) fn sub_group<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    barrier(call, scope::SUBGROUP)
}

/// `kassay_grid_barrier(flags)`, in launches of one group: others must not run on devices.
pub(super) fn grid<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let semantics = semantics::SEQUENTIALLY_CONSISTENT | memory_of(*call.args.first()?);
    let args = [scope::WORKGROUP, scope::DEVICE, semantics].map(|word| call.word(word));
    call.spirv("ControlBarrier", call.result, &args, "iii");
    Some(Replacement::Built)
}

fn barrier<'m>(call: &Call<'_, 'm>, execution: u32) -> Option<Replacement<'m>> {
    let (&flags, scope) = call.args.split_first()?;
    let memory = scope.first().map_or(execution, |scope| scope_of(*scope));
    let semantics = semantics::SEQUENTIALLY_CONSISTENT | memory_of(flags);
    let args = [execution, memory, semantics].map(|word| call.word(word));
    call.spirv("ControlBarrier", call.result, &args, "iii");
    Some(Replacement::Built)
}

/// `mem_fence(flags)` and its kin, which name no scope: kernels of OpenCL 1.x count on the whole device; and
/// `atomic_work_item_fence(flags, order, scope)`.
pub(super) fn fence<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let (scope, order) = match (call.name, &call.args[..]) {
        ("read_mem_fence", _) => (scope::DEVICE, semantics::ACQUIRE),
        ("write_mem_fence", _) => (scope::DEVICE, semantics::RELEASE),
        ("mem_fence", _) => (scope::DEVICE, semantics::ACQUIRE_RELEASE),
        (_, [_, order, scope]) => (scope_of(*scope), order_of(*order)),
        _ => return None,
    };
    let args = [scope, order | memory_of(*call.args.first()?)].map(|word| call.word(word));
    call.spirv("MemoryBarrier", call.result, &args, "ii");
    Some(Replacement::Built)
}

/// Returns the memory that `cl_mem_fence_flags` name: `CLK_LOCAL_MEM_FENCE` is 1, `CLK_GLOBAL_MEM_FENCE` 2,
/// `CLK_IMAGE_MEM_FENCE` 4. Flags that only a run knows name all.
fn memory_of(flags: Value<'_>) -> u32 {
    let Some(flags) = flags.as_u64() else { return semantics::EVERYWHERE };
    let memory =
        [(1, semantics::WORKGROUP_MEMORY), (2, semantics::CROSS_WORKGROUP_MEMORY), (4, semantics::IMAGE_MEMORY)];
    memory.into_iter().filter(|(flag, _)| flags & flag != 0).map(|(_, memory)| memory).sum()
}

/// Returns the scope that a `memory_scope` (clang's numbers) stands for; the widest one, if only a run knows it.
pub(super) fn scope_of(scope: Value<'_>) -> u32 {
    match scope.as_u64() {
        Some(0) => scope::INVOCATION,
        Some(1) => scope::WORKGROUP,
        Some(2) => scope::DEVICE,
        Some(4) => scope::SUBGROUP,
        _ => scope::CROSS_DEVICE,
    }
}

/// Returns what a `memory_order` (C11's numbers) stands for; the strongest one, if only a run knows it.
pub(super) fn order_of(order: Value<'_>) -> u32 {
    match order.as_u64() {
        Some(0) => semantics::RELAXED,
        Some(1 | 2) => semantics::ACQUIRE,
        Some(3) => semantics::RELEASE,
        Some(4) => semantics::ACQUIRE_RELEASE,
        _ => semantics::SEQUENTIALLY_CONSISTENT,
    }
}
