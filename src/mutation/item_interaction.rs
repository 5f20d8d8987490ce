//! Whether work-items of a kernel meet: in atomics, barriers, fences or local memory. What such a kernel leaves may depend on who
//! came first.

use llvm_sys::LLVMOpcode;

use crate::coverage::build::KernelUnderTest;
use crate::kernel::builtins;
use crate::kernel::interface::ArgKind;
use crate::kernel::ir::{self, Block, Function};

/// Builtins are what has no body; what the user's own functions are called says nothing.
pub fn work_items_interact(under_test: &KernelUnderTest<'_>) -> bool {
    let functions = ir::functions(&under_test.module);
    let builtin = |f: &Function| {
        let name = f.name();
        !f.has_body() && builtins::synchronises(builtins::demangle(&name).map_or(&name, |(plain, _)| plain))
    };
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
