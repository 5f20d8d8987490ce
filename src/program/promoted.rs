//! The form of a kernel that values are read from: one function, private scalars in SSA form.

use std::time::{Duration, Instant};

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;

use crate::error::{Error, Result};
use crate::kernel::forked::{self, Limit};
use crate::kernel::{canonical, inlined, ir};

/// Passes that change how values are held, not which accesses and branches there are. Debug locations stay.
const PROMOTING: &str = "function(sroa,mem2reg)";

/// How long the passes may take.
const LIMIT: Duration = Duration::from_secs(600);

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

/// The same until `deadline`, when whoever asked has no more time: of large kernels it is done in a child, which can be ended.
///
/// # Errors
/// As of [`promote`]; [`Error::late`] at the deadline.
pub fn promote_until<'c>(
    canonical: &Module<'c>,
    entry: &str,
    machine: &TargetMachine,
    deadline: Option<Instant>,
) -> Result<Module<'c>> {
    // A function that calls itself is refused later.
    if deadline.is_none() || inlined::size(canonical, entry).unwrap_or(0) <= inlined::LARGE {
        return promote(canonical, entry, machine);
    }
    let bitcode =
        forked::attempt(Limit::of(LIMIT).until(deadline), "the form of this kernel that is analysed", || {
            Ok(promote(canonical, entry, machine)?.write_bitcode_to_memory().as_slice().to_vec())
        })?;
    let buffer = MemoryBuffer::create_from_memory_range_copy(&bitcode, "promoted");
    Module::parse_bitcode_from_buffer(&buffer, canonical.get_context())
        .map_err(|e| Error::internal("LLVM cannot read what it wrote").details(e.to_string()))
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
