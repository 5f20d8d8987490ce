//! LLVM's target machine for this host, and what is done with it to any module.

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use kassay_base::error::{Error, Result};
use kassay_model::code::Effort;

use crate::lower::libclc;

/// Returns LLVM's target machine for this host and its processor.
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
    let level = match effort {
        Effort::Quick => OptimizationLevel::None,
        Effort::Full => OptimizationLevel::Default,
    };
    target
        .create_target_machine(
            &triple,
            &cpu.to_string(),
            &features.to_string(),
            level,
            // Calls of hooks go through stubs of the loader, so that hooks may be anywhere in memory.
            RelocMode::PIC,
            CodeModel::Small,
        )
        .ok_or_else(|| missing("no target machine".into()))
}

/// Returns everything besides the module that determines the code for this host: the processor and libclc.
pub fn host() -> Vec<u8> {
    let (cpu, features) = (TargetMachine::get_host_cpu_name(), TargetMachine::get_host_cpu_features());
    let mut all = format!("{cpu} {features} {}", TargetMachine::get_default_triple()).into_bytes();
    all.extend(libclc::stamp());
    all
}

/// Retargets `module`; the machine's data layout agrees with SPIR-V's for all types of OpenCL C.
pub(super) fn retarget(module: &Module<'_>, machine: &TargetMachine) {
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
}
