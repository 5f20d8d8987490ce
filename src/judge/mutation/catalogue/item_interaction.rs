//! Decides whether a kernel's work-items interact: through atomics, barriers, fences or local memory. The outputs of
//! such a kernel may depend on the order in which work-items run.

use kassay_ir::kernel::builtins::{self, Effect};
use kassay_ir::llvm::{Function, Inst, View};
use kassay_model::interface::ArgKind;

use crate::coverage::build::KernelUnderTest;

/// Returns whether work-items of the kernel may interact. Builtins are recognised among functions without a body; the
/// names of the user's own functions do not matter.
pub fn work_items_interact(under_test: &KernelUnderTest<'_>) -> bool {
    let functions = View::of(&under_test.module).functions();
    let builtin = |f: &Function<'_>| !f.has_body() && builtins::has(&f.name(), Effect::Synchronises);
    let atomic = |f: &Function<'_>| f.instructions().into_iter().any(Inst::is_atomic);
    functions.iter().any(builtin)
        || functions.iter().any(atomic)
        || !under_test.interface.local_variables.is_empty()
        || under_test.interface.args.iter().any(|a| matches!(a.kind, ArgKind::Local { .. }))
}
