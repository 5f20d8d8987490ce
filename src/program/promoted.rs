//! The form of a kernel that values are read from: one function, private scalars in SSA form.

use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;

use crate::error::{Error, Result};
use crate::kernel::{canonical, inlined, ir};

/// Passes that change how values are held, not which accesses and branches there are. Debug locations stay.
const PROMOTING: &str = "function(sroa,mem2reg)";

/// A clone of the canonical form in which everything is inlined into the kernel and private scalars are promoted.
///
/// # Errors
/// `Internal` if a pass fails or breaks the module.
pub fn promote<'c>(canonical: &Module<'c>, entry: &str, machine: &TargetMachine) -> Result<Module<'c>> {
    let module = canonical.clone();
    for f in ir::functions(&module).into_iter().filter(|f| f.has_body() && f.name() != entry) {
        canonical::add_attribute(f, "alwaysinline");
    }
    run(&module, &format!("{},{PROMOTING}", inlined::passes(&module, entry)), machine)?;
    Ok(module)
}

/// Runs passes by LLVM's names for them.
///
/// # Errors
/// `Internal` if one fails or breaks the module.
pub fn run(module: &Module<'_>, passes: &str, machine: &TargetMachine) -> Result<()> {
    module
        .run_passes(passes, machine, PassBuilderOptions::create())
        .map_err(|e| Error::internal(format!("`{passes}` failed: {e}")))?;
    canonical::verify(module, "inlining and promotion")
}
