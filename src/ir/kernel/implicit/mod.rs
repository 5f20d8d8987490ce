//! Turns implicit arguments into parameters: what a launch must supply besides the parameters that the source names. In
//! the canonical form each becomes a parameter of the kernel, a plain pointer to a buffer, so that all later stages
//! (weaving, analyses, devices) only deal with buffers.
//!
//! - A pointer in a struct that is passed by value (allowed since OpenCL C 2.0; 6.11 of OpenCL C 3.0) points to a
//!   buffer of its own. The kernel works on a copy of the struct that holds the address of that buffer. No device has
//!   to know raw addresses for that.
//! - Pointers in buffers, such as those of `float **`, point into one buffer of their own for each of the element's
//!   pointers; what the host's buffer holds are indices into it.
//! - A program-scope variable in global memory (OpenCL C 2.0, 6.5.1) is a buffer that holds the initialiser's bytes
//!   before each launch, so that no launch sees what another one left.
//! - Dynamic shared memory of CUDA (`extern __shared__`) is an ordinary parameter in local memory, the last of the
//!   kernel's own.

mod addresses;
mod elements;
mod members;
mod placeholders;
mod pointer_loads;
mod variables;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::interface::{Arg, ArgKind, ArgSource, Interface};

use super::canonical;
pub use elements::HeldPointers;
pub use members::{may_share, note_sharing};
pub use variables::is_needed as has_variables;

/// The largest number of implicit arguments that a kernel may have.
const MAX_IMPLICIT_ARGS: usize = 256;

/// Adds the implicit arguments to the kernel of a module in canonical form and to its interface. `original`: the
/// arguments of the kernel whose variant this is, if it is one. Its dynamic shared memory and its variables of the
/// program become parameters in the same order, even if the variant does not use them: so it takes what the kernel
/// takes.
///
/// # Errors
/// `Caller` if there are too many, or if a variable's initial contents are not known before the program is loaded;
/// `Internal` if the result does not verify.
pub fn append(module: &Module<'_>, interface: &mut Interface, original: &[Arg], held: HeldPointers) -> Result<()> {
    let is_local = |arg: &&Arg| matches!(arg.kind, ArgKind::Local { .. });
    let dynamic = original.iter().rfind(is_local).and_then(|arg| arg.name.as_deref());
    variables::append_dynamic(module, interface, dynamic)?;
    elements::append(module, interface, original, held)?;
    members::append(module, interface)?;
    let is_variable = |arg: &&Arg| matches!(arg.source, ArgSource::Variable { .. });
    let variables: Vec<String> = original.iter().filter(is_variable).filter_map(|arg| arg.name.clone()).collect();
    variables::append(module, interface, &variables)?;
    let count = interface.args.iter().filter(|a| a.source != ArgSource::Parameter).count();
    match count {
        0 => Ok(()),
        1..=MAX_IMPLICIT_ARGS => canonical::verify(module, "giving the kernel its implicit arguments"),
        _ => Err(Error::caller(format!(
            "the kernel `{}` takes {count} pointers in structs and buffers and variables of the program, more than {MAX_IMPLICIT_ARGS}",
            interface.name
        ))
        .help("pass them as elements of fewer buffers")),
    }
}
