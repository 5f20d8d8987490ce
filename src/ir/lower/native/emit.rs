//! Compiles a woven kernel to an object file for this host.

use std::time::Duration;

use inkwell::module::Module;
use inkwell::targets::{FileType, TargetMachine};
use kassay_base::error::{Error, Result};
pub use kassay_model::code::Effort;
use kassay_model::native::{abi, runtime_support};

use super::machine::machine;
use super::{plain, wrapper};
use crate::kernel::module;
use crate::llvm::{Context, View, passes};
use crate::lower::forked::{self, Job, Limit};

/// LLVM's time limit for one module.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Maximum size in instructions of a woven kernel that gets more than [`Effort::Quick`]. The time of `-O2` grows faster
/// than the code: for several times as many instructions it takes minutes, far longer than the launches do.
const MAX_OPTIMISED_INSTRUCTIONS: usize = 40_000;

/// Emits a woven kernel, whose last parameter is the item, as an ELF object that defines [`abi::ENTRY`] and calls hooks
/// ([`abi::hook`]) and functions of [`runtime_support`]. The module does not change: the work is done in a child
/// process. The same module gives the same bytes on the same machine.
///
/// # Errors
/// `Internal` if LLVM refuses, crashes or hangs, or if the object would call anything else.
pub fn emit(module: &Module<'_>, entry: &str, effort: Effort) -> Result<Vec<u8>> {
    let input = (entry.to_owned(), effort);
    forked::attempt(
        Limit::of(LIMIT),
        WHAT,
        Job::new(emit_in_child, &input, module.write_bitcode_to_memory().as_slice()),
    )
}

fn emit_in_child((entry, effort): (String, Effort), bitcode: &[u8]) -> Result<Vec<u8>> {
    let context = Context::create();
    object(&mut module::parse_own(&context, bitcode)?, &entry, effort)
}

/// Name of the product, for messages.
pub const WHAT: &str = "code of this kernel for the simulator";

/// Does the work of [`emit`] in the current process. To be called in a child: it changes the module, and options of the
/// whole process.
///
/// # Errors
/// `Internal` if LLVM refuses, or if the object would call anything else.
pub fn object(module: &mut Module<'_>, entry: &str, effort: Effort) -> Result<Vec<u8>> {
    let kernel = View::of(module).function(entry);
    let size: usize = kernel.map_or(0, |kernel| kernel.blocks().into_iter().map(|b| b.walk().count()).sum());
    let effort = if size > MAX_OPTIMISED_INSTRUCTIONS { Effort::Quick } else { effort };
    let object = code(module, entry, effort, &machine(effort)?)?;
    check(&object)?;
    Ok(object)
}

/// Returns LLVM's passes for code of this effort.
fn passes_of(effort: Effort) -> &'static str {
    match effort {
        // Only promotes private variables to registers.
        Effort::Quick => "function(sroa,early-cse,simplifycfg)",
        Effort::Full => "default<O2>",
    }
}

/// Disables tail merging, whose time is quadratic in a kernel's branches: every check has a block of its own, which
/// LLVM compares with all others to merge their ends. Options apply to the whole process, so only a child may set them.
fn disable_tail_merging() {
    // SAFETY: only a child process gets here, whose one thread this is.
    unsafe { passes::set_option(c"-enable-tail-merge=false") };
}

fn code(module: &mut Module<'_>, entry: &str, effort: Effort, machine: &TargetMachine) -> Result<Vec<u8>> {
    disable_tail_merging();
    let view = View::of(module);
    // Positions are kept in the table of sites; the code carries none.
    view.strip_debug_info();
    // The attributes that weaving gave to hooks are correct and stay.
    for f in view.functions().into_iter().filter(|f| !abi::hook::ALL.contains(&f.name().as_str())) {
        plain::strip_function(f);
    }
    for inst in view.instructions() {
        plain::strip_instruction(inst);
        plain::freeze_result(view, inst);
    }
    wrapper::add(module, entry)?;
    crate::kernel::canonical::verify(module, "wrapping the kernel for this host")?;
    passes::run(module, Some(machine), passes_of(effort))?;
    machine
        .write_to_memory_buffer(module, FileType::Object)
        .map(|buffer| buffer.as_slice().to_vec())
        .map_err(|e| Error::internal(e.to_string()))
}

/// Checks that every symbol will be defined when the object is loaded.
fn check(object: &[u8]) -> Result<()> {
    use object::{Object, ObjectSymbol};
    let file = object::File::parse(object)
        .map_err(|e| Error::internal("the simulator's code is no object file").details(e.to_string()))?;
    let known = |name: &str| abi::hook::ALL.contains(&name) || runtime_support::address(name).is_some();
    let unknown: Vec<String> = file
        .symbols()
        .filter(|s| s.is_undefined())
        .filter_map(|s| s.name().ok().map(str::to_owned))
        .filter(|name| !name.is_empty() && name != "_GLOBAL_OFFSET_TABLE_" && !known(name))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Error::internal(format!("the simulator has no function {}", unknown.join(", "))))
}
