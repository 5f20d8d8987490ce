//! A woven kernel as an object file for this host.

use std::time::Duration;

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine};

use super::{abi, plain, runtime_support, wrapper};
use crate::error::{Error, Result};
use crate::kernel::ir::{self, Block, Function};
use crate::lower::forked::{self, Limit};

/// How much is done for fast code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Effort {
    /// Private variables in registers, no more: for code that is run once.
    Quick,
    /// What `-O2` does.
    #[default]
    Full,
}

/// How long LLVM may take for one module.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Instructions of a woven kernel that are worth more than [`Effort::Quick`]. What `-O2` takes grows faster than the code: of several
/// times as many instructions it takes minutes, and launches are over long before.
const MOST: usize = 40_000;

impl Effort {
    fn passes(self) -> &'static str {
        match self {
            Effort::Quick => "function(sroa,early-cse,simplifycfg)",
            Effort::Full => "default<O2>",
        }
    }

    fn level(self) -> OptimizationLevel {
        match self {
            Effort::Quick => OptimizationLevel::None,
            Effort::Full => OptimizationLevel::Default,
        }
    }
}

/// LLVM's target machine for this host and its processor.
///
/// # Errors
/// `Environment` if this LLVM cannot emit code for this host.
pub fn machine(effort: Effort) -> Result<TargetMachine> {
    Target::initialize_all(&InitializationConfig::default());
    let triple = TargetMachine::get_default_triple();
    let missing = |why: String| {
        Error::environment(format!("this LLVM cannot emit code for this host: {why}"))
            .help("install LLVM 22 for this machine's architecture (Debian: llvm-22-dev)")
    };
    let target = Target::from_triple(&triple).map_err(|e| missing(e.to_string()))?;
    let (cpu, features) = (TargetMachine::get_host_cpu_name(), TargetMachine::get_host_cpu_features());
    target
        .create_target_machine(
            &triple,
            &cpu.to_string(),
            &features.to_string(),
            effort.level(),
            // Calls of hooks go through stubs of the loader, so that these may be anywhere in memory.
            RelocMode::PIC,
            CodeModel::Small,
        )
        .ok_or_else(|| missing("no target machine".into()))
}

/// All that decides what code for this host is like, beside the module: the processor and libclc.
pub fn host() -> Vec<u8> {
    let (cpu, features) = (TargetMachine::get_host_cpu_name(), TargetMachine::get_host_cpu_features());
    let mut all = format!("{cpu} {features} {}", TargetMachine::get_default_triple()).into_bytes();
    all.extend(super::builtins::stamp());
    all
}

/// Makes `module` one for that machine; its layout agrees with SPIR-V's in everything OpenCL C has.
pub(super) fn retarget(module: &Module<'_>, machine: &TargetMachine) {
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
}

/// Emits a woven kernel, whose last parameter is the item, as an ELF object that defines [`abi::ENTRY`] and calls hooks
/// ([`abi::hook`]) and functions of [`runtime_support`]. The module stays as it is: all is done in a child process. The same module
/// gives the same bytes on the same machine.
///
/// # Errors
/// `Internal` if LLVM refuses, crashes or hangs, or if the object would call anything else.
pub fn emit(module: &Module<'_>, entry: &str, effort: Effort) -> Result<Vec<u8>> {
    forked::attempt(Limit::of(LIMIT), WHAT, || object(module, entry, effort))
}

/// What is made, for messages.
pub const WHAT: &str = "code of this kernel for the simulator";

/// What [`emit`] does, to be called in a child: it changes the module, and options of the whole process.
///
/// # Errors
/// `Internal` if LLVM refuses, or if the object would call anything else.
pub fn object(module: &Module<'_>, entry: &str, effort: Effort) -> Result<Vec<u8>> {
    let size: usize =
        ir::function(module, entry).map_or(0, |kernel| kernel.blocks().into_iter().map(|b| b.walk().count()).sum());
    let effort = if size > MOST { Effort::Quick } else { effort };
    let object = code(module, entry, effort, &machine(effort)?)?;
    check(&object)?;
    Ok(object)
}

/// Leaves out of code generation what takes time with the square of a kernel's branches: every check has a block of its own, which LLVM
/// compares with all others to merge their ends. These options are of the whole process: only a child may set them.
fn keep_ends_apart() {
    let arguments = [c"kassay".as_ptr(), c"-enable-tail-merge=false".as_ptr()];
    // SAFETY: two C strings, which LLVM copies; LLVM knows the option.
    unsafe {
        let count = arguments.len() as i32;
        llvm_sys::support::LLVMParseCommandLineOptions(count, arguments.as_ptr(), std::ptr::null());
    }
}

fn code(module: &Module<'_>, entry: &str, effort: Effort, machine: &TargetMachine) -> Result<Vec<u8>> {
    keep_ends_apart();
    // SAFETY: the module is alive. Positions are kept in the table of sites; the code carries none.
    unsafe { llvm_sys::debuginfo::LLVMStripModuleDebugInfo(module.as_mut_ptr()) };
    // What weaving says of hooks holds.
    for f in ir::functions(module).into_iter().filter(|f| !abi::hook::ALL.contains(&f.name().as_str())) {
        plain::function(f);
    }
    for inst in ir::functions(module).into_iter().flat_map(Function::blocks).flat_map(Block::instructions) {
        plain::instruction(inst);
        plain::steady(inst);
    }
    wrapper::add(module, entry)?;
    crate::kernel::canonical::verify(module, "wrapping the kernel for this host")?;
    module
        .run_passes(effort.passes(), machine, PassBuilderOptions::create())
        .map_err(|e| Error::internal(format!("optimising failed: {e}")))?;
    machine
        .write_to_memory_buffer(module, FileType::Object)
        .map(|buffer| buffer.as_slice().to_vec())
        .map_err(|e| Error::internal(e.to_string()))
}

/// Nothing may be missing when the object is loaded.
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
