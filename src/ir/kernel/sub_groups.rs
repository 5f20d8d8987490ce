//! How many work-items a kernel's sub-groups have: what it requires (`cl_intel_required_subgroup_size`), or what the
//! user asks for.

use kassay_model::sub_groups::SubGroups;

use super::builtins::{self, Builtin, Family};
use super::canonical;
use super::module;
use crate::llvm::{Function, Node, Operand, View};

/// The metadata of a kernel that requires a size, as clang writes it and LLVM's back end for SPIR-V reads it.
const REQUIRED: &str = "intel_reqd_sub_group_size";

/// Returns what the function `kernel` says of its sub-groups.
pub fn of(view: View<'_>, kernel: Function<'_>) -> SubGroups {
    match required(view, kernel) {
        Some(size) => SubGroups::Of(size),
        None if are_used(view) => SubGroups::Any,
        None => SubGroups::Unused,
    }
}

/// Makes the kernels of a module require this size that do not require another, if any of the module's functions uses
/// sub-groups.
pub fn require(view: View<'_>, size: u32) {
    if !are_used(view) {
        return;
    }
    let kernels = view.functions().into_iter().filter(|f| module::is_kernel(*f));
    for kernel in kernels.filter(|kernel| required(view, *kernel).is_none()) {
        let size = Operand::Value(view.int_type(32).int(size.into()));
        kernel.set_metadata(view.metadata_kind(REQUIRED), Node::new(kernel.ty(), &[size]));
    }
}

fn required(view: View<'_>, kernel: Function<'_>) -> Option<u32> {
    let kind = view.metadata_kind(REQUIRED);
    let body = canonical::body_of(view, kernel);
    let node = kernel.metadata(kind).or_else(|| body?.metadata(kind))?;
    node.operand(0).number()?.try_into().ok()
}

/// Returns whether a module calls functions of CUDA's warps for which only a run knows which lanes take part.
pub fn take_lanes(view: View<'_>) -> bool {
    let takes_lanes = |f: &Function<'_>| Builtin::of(&f.name()).is_some_and(Builtin::takes_lanes);
    view.functions().into_iter().filter(|f| f.is_declaration() && f.is_used()).any(|f| takes_lanes(&f))
}

fn are_used(view: View<'_>) -> bool {
    use Family::{IntelSubGroupFunction, SubGroupBarrier, SubGroupFunction, SubGroupQuery};
    let is_of_sub_groups =
        |family| matches!(family, SubGroupQuery | SubGroupBarrier | SubGroupFunction | IntelSubGroupFunction);
    view.functions()
        .into_iter()
        .filter(|f| f.is_declaration())
        .any(|f| builtins::family(&f.name()).is_some_and(is_of_sub_groups))
}
