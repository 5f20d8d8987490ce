//! How many work-items a kernel's sub-groups have: what it requires (`cl_intel_required_subgroup_size`), or what the user asks for.

use super::builtins::{self, Family};
use super::canonical;
use super::module;
use crate::llvm::{Function, Node, Operand, View};

/// The metadata of a kernel that requires a size, as clang writes it and LLVM's back end for SPIR-V reads it.
const REQUIRED: &str = "intel_reqd_sub_group_size";

/// The sizes that can be asked for: powers of two up to this. Ballots have bits for more, but no device has such sub-groups.
pub const LARGEST: u32 = 64;

/// The size that the simulator gives the sub-groups of a kernel that requires none.
pub const SIMULATED: u32 = 16;

/// Says which sizes there are.
pub const SIZES: &str = "give 1, 2, 4, 8, 16, 32 or 64";

/// Returns whether this is a size that can be asked for.
pub fn is_size(size: u32) -> bool {
    size.is_power_of_two() && size <= LARGEST
}

/// What a kernel says of its sub-groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum SubGroups {
    /// It does not use them.
    #[default]
    Unused,
    /// It uses them, whatever size they have.
    Any,
    /// It requires sub-groups of so many work-items; the last one of a group may have fewer.
    Of(u32),
}

impl SubGroups {
    /// What the function `kernel` says.
    pub fn of(view: View<'_>, kernel: Function<'_>) -> SubGroups {
        match required(view, kernel) {
            Some(size) => SubGroups::Of(size),
            None if are_used(view) => SubGroups::Any,
            None => SubGroups::Unused,
        }
    }

    /// The size with which the simulator runs a kernel that uses them.
    pub fn simulated(self) -> Option<u32> {
        match self {
            SubGroups::Unused => None,
            SubGroups::Any => Some(SIMULATED),
            SubGroups::Of(size) => Some(size),
        }
    }

    /// The size that the kernel requires.
    pub fn required(self) -> Option<u32> {
        if let SubGroups::Of(size) = self { Some(size) } else { None }
    }
}

/// Makes the kernels of a module require this size that do not require another, if any of the module's functions uses sub-groups.
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

fn are_used(view: View<'_>) -> bool {
    use Family::{IntelSubGroupFunction, SubGroupBarrier, SubGroupFunction, SubGroupQuery};
    let is_of_sub_groups =
        |family| matches!(family, SubGroupQuery | SubGroupBarrier | SubGroupFunction | IntelSubGroupFunction);
    view.functions()
        .into_iter()
        .filter(|f| f.is_declaration())
        .any(|f| builtins::family(&f.name()).is_some_and(is_of_sub_groups))
}
