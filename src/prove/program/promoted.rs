//! Produces the promoted form of a kernel, from which values are read: one function, with private scalars in SSA form.

use std::time::{Duration, Instant};

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::Result;
use kassay_base::forked::{self, Job, Limit};
use kassay_ir::instrument::components;
use kassay_ir::kernel::{canonical, inlined, module};
use kassay_ir::llvm::{AttributeIndex, Context, View, passes};
use kassay_ir::lower::native::prepare;
use kassay_ir::lower::spirv;

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
/// As [`promote`]; [`kassay_base::error::Error::late`] at the deadline.
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
    let (given, entry) = (canonical.write_bitcode_to_memory(), entry.to_owned());
    let job = Job::new(promote_in_child, &entry, given.as_slice());
    let bitcode = forked::attempt(Limit::of(LIMIT).until(deadline), "the form of this kernel that is analysed", job)?;
    module::parse_own(canonical.get_context(), &bitcode)
}

/// Like [`promote_until`], in the form that proofs of race freedom take (`crate::symbolic::race_freedom`): `return`s
/// are marked where barriers do not wait for those who came to one, values that are used after a loop go through a
/// `phi` there, and each loop has one back edge.
///
/// # Errors
/// As [`promote_until`].
pub fn with_simple_loops<'c>(
    canonical: &Module<'c>,
    entry: &str,
    machine: &TargetMachine,
    deadline: Option<Instant>,
) -> Result<Module<'c>> {
    let canonical = canonical.clone();
    // As in runs, an access is to the bytes that the source names, which shows while variables are in memory.
    for function in View::of(&canonical).functions().into_iter().filter(|function| function.has_body()) {
        components::separate(View::of(&canonical), function);
        components::separate_copies(View::of(&canonical), function);
    }
    prepare::note_returns(&canonical);
    let mut module = promote_until(&canonical, entry, machine, deadline)?;
    run(&mut module, "function(loop-simplify,lcssa)", machine)?;
    Ok(module)
}

/// In the child.
fn promote_in_child(entry: String, bitcode: &[u8]) -> Result<Vec<u8>> {
    let context = Context::create();
    let canonical = module::parse_own(&context, bitcode)?;
    Ok(promote(&canonical, &entry, &spirv::machine()?)?.write_bitcode_to_memory().as_slice().to_vec())
}

/// Runs passes, given in LLVM's pipeline syntax, and verifies the result.
///
/// # Errors
/// `Internal` if one fails or breaks the module.
pub fn run(module: &mut Module<'_>, pipeline: &str, machine: &TargetMachine) -> Result<()> {
    passes::run(module, Some(machine), pipeline)?;
    canonical::verify(module, "inlining and promotion")
}
