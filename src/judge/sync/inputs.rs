//! Determines the outputs of launches that kassay generates.

use kassay_model::interface::{Access, AddressSpace, ArgKind, Interface, Scalar, Type};
use kassay_suite::Output;
use kassay_suite::compare::Tolerance;

/// Returns what the kernel may write: every buffer but `__constant` ones, every image but `read_only` ones. Images, and
/// buffers of unknown element type, are compared as bytes.
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
