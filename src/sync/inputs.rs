//! What the launches leave that kassay made itself.

use crate::kernel::interface::{Access, AddressSpace, ArgKind, Interface, Scalar, Type};
use crate::suite::Output;
use crate::suite::compare::Tolerance;

/// What the kernel may write to: every buffer but `__constant` ones, every image but `read_only` ones. Buffers whose elements are not
/// told, and images, are bytes.
pub fn outputs(interface: &Interface) -> Vec<Output> {
    let byte = || Type::Scalar(Scalar::U8);
    let written = interface.args.iter().filter_map(|arg| {
        let ty = match &arg.kind {
            ArgKind::Buffer { space: AddressSpace::Constant, .. } => return None,
            ArgKind::Buffer { element, .. } => element.clone().filter(|t| t.size() > 0).unwrap_or_else(byte),
            ArgKind::Image(_) if arg.access != Access::ReadOnly => byte(),
            _ => return None,
        };
        let (position, label) = (arg.position, arg.label());
        Some(Output { position, label, ty, shape: Vec::new(), tolerance: Tolerance::default() })
    });
    written.collect()
}
