//! Refuses atomics of fewer than 32 bits (CUDA's sums of halves, its exchanges of 16 bits): SPIR-V for OpenCL has none,
//! and drivers say that a symbol is missing.

use kassay_base::error::{Error, Result};

use crate::llvm::{Inst, Opcode, Type, View};

/// # Errors
/// `Environment` for the first one, with its place if debug information has it.
pub fn refuse(view: View<'_>) -> Result<()> {
    let is_narrow = |ty: Type<'_>| ty.scalar().bits().is_some_and(|bits| bits < 32);
    let all = view.instructions().into_iter().filter_map(|inst| Some((inst, accessed(inst)?)));
    let narrow: Vec<_> = all.filter(|(_, ty)| is_narrow(*ty)).collect();
    let location = |inst: Inst<'_>| inst.location().filter(|at| at.line > 0);
    // What mutants add has no lines; the original beside it has.
    let Some(&(inst, ty)) = narrow.iter().find(|(inst, _)| location(*inst).is_some()).or(narrow.first()) else {
        return Ok(());
    };
    let place = match location(inst) {
        Some(at) => at.to_string(),
        None => format!("in `{}`", inst.function().name()),
    };
    let bits = ty.scalar().bits().unwrap_or(0);
    Err(Error::environment(format!(
        "the kernel has an atomic of {bits} bits ({place}), and OpenCL's devices have none"
    ))
    .help("run it on the simulator with --device sim, or on a GPU with --device nvidia"))
}

/// The type of what an atomic instruction reads or writes.
fn accessed(inst: Inst<'_>) -> Option<Type<'_>> {
    match inst.opcode() {
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => Some(inst.operand(1).ty()),
        Opcode::LLVMLoad if inst.is_atomic() => Some(inst.ty()),
        Opcode::LLVMStore if inst.is_atomic() => Some(inst.operand(0).ty()),
        _ => None,
    }
}
