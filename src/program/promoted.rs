//! Produces the promoted form of a kernel, from which values are read: one function, with private scalars in SSA form.

use std::time::{Duration, Instant};

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

use crate::error::{Error, Result};
use crate::kernel::forked::{self, Limit};
use crate::kernel::{canonical, inlined};
use crate::llvm::{AttributeIndex, View, passes};

/// Passes that change how values are represented, but not which accesses and branches there are. They
/// keep debug locations.
const PROMOTION_PASSES: &str = "function(sroa,mem2reg)";

/// Time limit for the passes.
const LIMIT: Duration = Duration::from_secs(600);

/// Clones the canonical form, inlines everything into the kernel and promotes private scalars.
///
/// # Errors
/// `Internal` if a pass fails or breaks the module.
pub fn promote<'c>(canonical: &Module<'c>, entry: &str, machine: &TargetMachine) -> Result<Module<'c>> {
    let mut module = canonical.clone();
    for f in View::of(&module).functions().into_iter().filter(|f| f.has_body() && f.name() != entry) {
        f.attributes(AttributeIndex::Function).add_flag("alwaysinline");
    }
    let pipeline = format!("{},{PROMOTION_PASSES}", inlined::passes(&module, entry));
    run(&mut module, &pipeline, machine)?;
    Ok(module)
}

/// Like [`promote`], with a deadline: large kernels are promoted in a child, which can be killed.
///
/// # Errors
/// Those of [`promote`]; [`Error::late`] at the deadline.
pub fn promote_until<'c>(
    canonical: &Module<'c>,
    entry: &str,
    machine: &TargetMachine,
    deadline: Option<Instant>,
) -> Result<Module<'c>> {
    // Recursive functions are rejected later.
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

/// Runs passes, given in LLVM's pipeline syntax, and verifies the result.
///
/// # Errors
/// `Internal` if one fails or breaks the module.
pub fn run(module: &mut Module<'_>, pipeline: &str, machine: &TargetMachine) -> Result<()> {
    passes::run(module, Some(machine), pipeline)?;
    canonical::verify(module, "inlining and promotion")
}
