//! Lowers a kernel's module, woven or not, to the code of any target: the only way to code.
//!
//! It is part of this room because code with hooks gets them between two steps of its lowering.

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::code::{Code, Lowered, LoweringOptions, Target};
use kassay_model::interface::Interface;

use super::native;
use crate::lower::native::prepare;
use crate::lower::{image_buffers, ptx, spirv};

/// Lowers the kernel `entry`. `module` is in canonical form; probes may be woven in: the probe buffer follows the
/// arguments of `interface`.
///
/// # Errors
/// `Caller` if the kernel has something that the target lacks; `Environment` if a library is missing; `Internal` if it
/// cannot be lowered; [`Error::late`] at the deadline.
pub fn code(
    module: Module<'_>,
    entry: &str,
    interface: &Interface,
    target: Target,
    options: &LoweringOptions,
) -> Result<Code> {
    attempt(module, entry, interface, target, options)?
}

/// Like [`code`], for callers to which a refusal by the target's backend is a result.
///
/// # Errors
/// As [`code`]; the inner error is a refusal.
pub fn attempt(
    mut module: Module<'_>,
    entry: &str,
    interface: &Interface,
    target: Target,
    options: &LoweringOptions,
) -> Lowered {
    match target {
        Target::SpirV if !options.image_buffers => spirv::lower(&mut module, entry, options.effort),
        Target::SpirV | Target::Ptx => with_image_buffers(module, entry, target, options),
        Target::Source => Err(Error::internal("kassay makes no text of kernels")),
        Target::Native => match native::begin(module, entry, interface, options).and_then(native::PendingCode::end) {
            Err(refusal @ Error::Internal(_)) => Ok(Err(refusal)),
            ended => ended.map(Ok),
        },
    }
}

/// Keeps, for targets that ask for it, where CUDA's kernels return (`lower::native::prepare`), in a module that passes
/// will change before it is lowered.
pub fn keep_returns(module: &Module<'_>, target: Target) {
    if target == Target::Native {
        prepare::note_returns(module);
    }
}

/// Lowers a kernel for a device that is given buffers instead of images.
fn with_image_buffers(module: Module<'_>, entry: &str, target: Target, options: &LoweringOptions) -> Lowered {
    let read_only = image_buffers::read_only(&module, entry);
    let mut module = match image_buffers::emulate(module) {
        Err(refusal @ Error::Internal(_)) => return Ok(Err(refusal)),
        emulated => emulated?,
    };
    let lowered = match target {
        Target::Ptx => ptx::lower(module, entry, options),
        _ => spirv::lower(&mut module, entry, options.effort),
    };
    Ok(lowered?.map(|code| code.with_image_buffers(read_only)))
}

/// Code that is being made.
#[derive(Debug)]
pub enum PendingCode {
    /// Made already: by a target whose lowering takes little time.
    Ready(Code),
    /// In the making, for the simulator.
    Native(Box<native::PendingCode>),
}

/// Like [`code`], but returns while the code is being made, as far as the target allows.
///
/// # Errors
/// Those of [`code`] that show already.
pub fn begin(
    module: Module<'_>,
    entry: &str,
    interface: &Interface,
    target: Target,
    options: &LoweringOptions,
) -> Result<PendingCode> {
    Ok(match target {
        Target::Native => PendingCode::Native(Box::new(native::begin(module, entry, interface, options)?)),
        target => PendingCode::Ready(code(module, entry, interface, target, options)?),
    })
}

impl PendingCode {
    /// Waits for the code.
    ///
    /// # Errors
    /// As [`code`].
    pub fn end(self) -> Result<Code> {
        match self {
            PendingCode::Ready(code) => Ok(code),
            PendingCode::Native(pending) => pending.end(),
        }
    }
}
