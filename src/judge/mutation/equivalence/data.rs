//! Finds kernels that read no data, so that a launch shows what launches with the same arguments by value always do.

use kassay_ir::kernel::builtins::{self, Effect, Family};
use kassay_ir::llvm::{AddressSpace, Inst, Opcode, Value, View};

use super::opaque_calls;

/// Returns whether a refined kernel reads no buffers, images, results of atomics and variables without a value: what
/// these hold in a run, another one need not show.
pub(super) fn is_ignored(refined: View<'_>) -> bool {
    refined.instructions().into_iter().all(reads_nothing)
}

fn reads_nothing(inst: Inst<'_>) -> bool {
    match inst.opcode() {
        Opcode::LLVMLoad => is_private(inst.operand(0)),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => false,
        Opcode::LLVMCall => {
            let name = inst.callee().unwrap_or_default();
            if name.starts_with(opaque_calls::UNKNOWN_CONTENTS) {
                return false;
            }
            // Other work-items and sub-groups are as little known as data.
            let is_open = |name: &str| builtins::has(name, Effect::DependsOnOthers);
            match builtins::family(&name) {
                Some(Family::Barrier | Family::ImageQuery | Family::ImageWrite | Family::VectorStore) => true,
                Some(Family::WorkItemId | Family::LaunchQuery | Family::Fence) => !is_open(&name),
                Some(Family::Conversion | Family::Reinterpretation) => true,
                Some(_) => false,
                None => {
                    inst.args().into_iter().filter(|value| value.ty().is_pointer()).all(is_private)
                        && builtins::may_be_builtin(&name)
                        && !name.contains(builtins::SPIRV_BUILT_IN)
                }
            }
        }
        _ => true,
    }
}

/// Whether a pointer is to private memory.
fn is_private(pointer: Value<'_>) -> bool {
    pointer.ty().space() == Some(AddressSpace::Private)
}
