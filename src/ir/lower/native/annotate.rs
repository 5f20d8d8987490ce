//! Marks instructions in builtins (see [`mark`](kassay_model::native::abi::mark)): those that represent the call in the
//! kernel's source, and those that need no check.

use std::collections::HashSet;

use kassay_model::native::abi::{self, mark};

use crate::llvm::{Function, Inst, Node, Opcode, Operand, Value, View};

/// Marks the accesses and placeholders of a builtin in which everything is inlined.
pub fn builtin<'m>(view: View<'m>, f: Function<'m>, name: &str) {
    let builtin = view.metadata_kind(mark::BUILTIN);
    let trusted = view.metadata_kind(mark::TRUSTED);
    for inst in f.instructions() {
        let pointers = pointers(inst);
        let is_placeholder = inst.callee().is_some_and(|callee| callee.starts_with("__kassay_at_"));
        if pointers.is_empty() && !is_placeholder {
            continue;
        }
        let kind = match !is_placeholder && pointers.iter().all(|p| is_trusted(*p, &mut HashSet::new())) {
            true => trusted,
            false => builtin,
        };
        inst.set_metadata(kind, Some(Node::new(f.ty(), &[Operand::Text(name.to_owned())])));
    }
}

/// Removes all marks, which may come with a kernel, from its module, except that stores of initial values need no
/// check.
pub fn forget(view: View<'_>) {
    let kinds = [mark::BUILTIN, mark::TRUSTED, mark::PROOF].map(|kind| view.metadata_kind(kind));
    let begins = view.metadata_kind(mark::BEGINS);
    for inst in view.instructions() {
        kinds.into_iter().for_each(|kind| inst.set_metadata(kind, None));
        if let Some(node) = inst.metadata(begins).filter(|_| inst.is(Opcode::LLVMStore)) {
            inst.set_metadata(kinds[1], Some(node));
        }
    }
}

/// Returns the pointers through which an instruction accesses memory.
fn pointers(inst: Inst<'_>) -> Vec<Value<'_>> {
    use Opcode::*;
    let operands = inst.operands();
    match inst.opcode() {
        LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => operands.into_iter().take(1).collect(),
        LLVMStore => operands.into_iter().skip(1).collect(),
        LLVMCall if inst.callee().is_some_and(|n| n.starts_with("llvm.mem")) => {
            let is_copy = inst.callee().is_some_and(|n| !n.starts_with("llvm.memset"));
            operands.into_iter().take(if is_copy { 2 } else { 1 }).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns whether a pointer comes from a variable of the builtin, from the item's context, or from an exchange.
fn is_trusted<'m>(pointer: Value<'m>, seen: &mut HashSet<Value<'m>>) -> bool {
    use Opcode::*;
    if !seen.insert(pointer) {
        return true;
    }
    if pointer.as_global().is_some() {
        return true;
    }
    if pointer.is_constant_expression() {
        let is_step = matches!(pointer.opcode(), Some(LLVMGetElementPtr | LLVMAddrSpaceCast));
        return is_step && pointer.operand(0).is_some_and(|base| is_trusted(base, seen));
    }
    let Some(inst) = pointer.as_instruction() else { return false };
    let operands = inst.operands();
    match inst.opcode() {
        LLVMAlloca => true,
        LLVMGetElementPtr | LLVMAddrSpaceCast => is_trusted(operands[0], seen),
        LLVMLoad => is_context(operands[0]),
        LLVMSelect => is_trusted(operands[1], seen) && is_trusted(operands[2], seen),
        LLVMPHI => operands.into_iter().all(|p| is_trusted(p, seen)),
        LLVMCall => inst.callee().is_some_and(|name| name == abi::ITEM || name == abi::placeholder::EXCHANGE),
        _ => false,
    }
}

/// Returns whether a pointer leads into the item's context, or to exchanged values, so that a pointer that is loaded
/// from there is the simulator's.
fn is_context(mut pointer: Value<'_>) -> bool {
    use Opcode::*;
    while let Some(inst) = pointer.as_instruction() {
        match inst.opcode() {
            LLVMGetElementPtr | LLVMAddrSpaceCast | LLVMLoad => pointer = inst.operand(0),
            LLVMCall => {
                return inst.callee().is_some_and(|name| name == abi::ITEM || name == abi::placeholder::EXCHANGE);
            }
            _ => return false,
        }
    }
    false
}
