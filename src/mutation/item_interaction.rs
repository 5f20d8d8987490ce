//! Decides whether a kernel's work-items interact: through atomics, barriers, fences or local memory. The outputs of
//! such a kernel may depend on the order in which work-items run.

use llvm_sys::LLVMOpcode;

use crate::coverage::build::KernelUnderTest;
use crate::kernel::builtins::{self, Effect};
use crate::kernel::interface::ArgKind;
use crate::kernel::ir::{self, Block, Function};

/// Returns whether work-items of the kernel may interact. Builtins are recognised among functions without a body; the
/// names of the user's own functions do not matter.
pub fn work_items_interact(under_test: &KernelUnderTest<'_>) -> bool {
    let functions = ir::functions(&under_test.module);
    let builtin = |f: &Function| !f.has_body() && builtins::has(&f.name(), Effect::Synchronises);
    let atomic = |f: Function| {
        let mut all = f.blocks().into_iter().flat_map(Block::instructions);
        all.any(|i| {
            matches!(i.opcode(), LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg | LLVMOpcode::LLVMFence)
        })
    };
    functions.iter().any(builtin)
        || functions.into_iter().any(atomic)
        || !under_test.interface.local_variables.is_empty()
        || under_test.interface.args.iter().any(|a| matches!(a.kind, ArgKind::Local { .. }))
}
