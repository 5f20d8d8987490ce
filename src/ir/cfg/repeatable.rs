//! Says whether a launch of a kernel can be repeated on copies of what its arguments reach, without a difference that
//! can be observed.

use super::points_to::{PointsTo, Root};
use crate::kernel::builtins::{self, Family};
use crate::llvm::{Function, Inst, Value};

/// Returns why it cannot be; `None` if it can. `functions`: the kernel, then its helpers, in canonical form.
pub fn obstacle<'m>(functions: &[Function<'m>]) -> Option<&'static str> {
    let pointers = PointsTo::find_without_sharing(functions);
    let instructions =
        || functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions());
    if instructions().any(prints) {
        return Some("the kernel prints");
    }
    // Pointers that are made of numbers have no root at all.
    let is_elsewhere = |pointer: Value<'m>| {
        let roots = pointers.roots(pointer);
        roots.contains(&Root::Unknown) || roots.is_empty() && !pointer.is_constant()
    };
    let mut accessed = instructions().flat_map(accessed);
    accessed.any(is_elsewhere).then_some("the kernel follows pointers that are in memory")
}

fn prints(inst: Inst<'_>) -> bool {
    inst.callee().is_some_and(|name| builtins::family(&name) == Some(Family::Printf))
}

/// The pointers through which an instruction accesses memory; those of all calls whose functions have no body.
fn accessed(inst: Inst<'_>) -> Vec<Value<'_>> {
    match inst.called_function() {
        Some(function) if function.has_body() => Vec::new(),
        Some(_) => inst.args().into_iter().filter(|argument| argument.ty().is_pointer()).collect(),
        None => inst.accessed_pointer().into_iter().collect(),
    }
}
