//! From a kernel's code to what its arguments are for.

use super::model::KernelModel;
use crate::coverage::build::Assay;
use crate::error::Result;

/// Reads the kernel's roles off its canonical form.
///
/// # Errors
/// `Internal` if a pass fails.
pub fn infer(assay: &Assay<'_>) -> Result<KernelModel> {
    Ok(KernelModel { interface: assay.interface.clone(), args: Vec::new(), dims: 1, preconditions: Vec::new() })
}
