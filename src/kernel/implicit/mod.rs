//! Implicit arguments: what a launch must supply besides the parameters that the source names. In the canonical form each becomes a
//! parameter of the kernel, a plain pointer to a buffer, so that everything behind it (weaving, analyses, devices) knows buffers only.
//!
//! - A pointer in a struct that is passed by value (allowed since OpenCL C 2.0; 6.11 of OpenCL C 3.0) points to a buffer of its own.
//!   The kernel works on a copy of the struct that holds the address of that buffer. No device has to know raw addresses for that.
//! - A variable of the program in global memory (OpenCL C 2.0, 6.5.1) is a buffer that holds the initialiser's bytes before each
//!   launch, so that no launch sees what another one left.

mod members;
mod variables;

pub use members::may_share;

use inkwell::module::Module;

use super::canonical;
use super::interface::{ArgSource, Interface};
use crate::error::{Error, Result};

/// The most implicit arguments that a kernel may have.
const MOST: usize = 256;

/// Gives the kernel of a module in canonical form its implicit arguments, and its interface too.
///
/// # Errors
/// `Caller` if there are too many, or a variable's initial contents are not known before it is loaded; `Internal` if the result does
/// not verify.
pub fn append(module: &Module<'_>, interface: &mut Interface) -> Result<()> {
    members::append(module, interface)?;
    variables::append(module, interface)?;
    let count = interface.args.iter().filter(|a| a.source != ArgSource::Parameter).count();
    match count {
        0 => Ok(()),
        1..=MOST => canonical::verify(module, "giving the kernel its implicit arguments"),
        _ => Err(Error::caller(format!(
            "the kernel `{}` takes {count} pointers in structs and variables of the program, more than {MOST}",
            interface.name
        ))
        .help("pass them as elements of fewer buffers")),
    }
}
