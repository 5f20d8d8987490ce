//! Removes assumptions of libclc that only hold on GPUs.
//!
//! libclc reads tables before it knows whether it needs the value, since an index out of range does no harm on a GPU;
//! here, such an access goes to the first element instead. It also converts floats that are out of an integer type's
//! range and relies on getting the largest integer.

use crate::llvm::{Function, Inst, IntPredicate, Opcode, Type, Value, View};

/// Confines every access of `f` to a variable, program-scope or local to the function, whose address is computed.
pub fn confine<'m>(view: View<'m>, f: Function<'m>) {
    let layout = view.layout();
    for inst in f.instructions() {
        let (position, accessed) = match inst.opcode() {
            Opcode::LLVMLoad => (0, inst.ty()),
            Opcode::LLVMStore => (1, inst.operand(0).ty()),
            _ => continue,
        };
        let Some((variable, ty)) = indexed_variable(inst.operand(position)) else { continue };
        let last = layout.abi_size(ty).saturating_sub(layout.store_size(accessed));
        guard(view, inst, position, variable, last);
    }
}

/// Makes conversions of floats to integers saturate.
pub fn saturate<'m>(view: View<'m>, f: Function<'m>) {
    for inst in f.instructions() {
        let name = match inst.opcode() {
            Opcode::LLVMFPToSI => "llvm.fptosi.sat",
            Opcode::LLVMFPToUI => "llvm.fptoui.sat",
            _ => continue,
        };
        let value = inst.operand(0);
        let types = [inst.ty(), value.ty()];
        let ty = inst.ty().function(&types[1..], false);
        let callee = view.function_or_declared(&view.intrinsic_name(name, &types), ty);
        let builder = view.builder();
        builder.before(inst);
        let saturated = builder.call(callee, &[value], "");
        drop(builder);
        inst.replace_and_erase(saturated);
    }
}

/// Returns the variable that a pointer is computed from by address arithmetic, with the variable's type.
fn indexed_variable(pointer: Value<'_>) -> Option<(Value<'_>, Type<'_>)> {
    let mut inst = pointer.as_instruction()?;
    let mut steps = false;
    loop {
        match inst.opcode() {
            Opcode::LLVMGetElementPtr => steps = true,
            Opcode::LLVMAddrSpaceCast => {}
            Opcode::LLVMAlloca => return inst.allocated_type().filter(|_| steps).map(|ty| (inst.value(), ty)),
            _ => return None,
        }
        let base = inst.operand(0);
        if let Some(global) = base.as_global() {
            return steps.then(|| (base, global.value_type()));
        }
        inst = base.as_instruction()?;
    }
}

/// Makes `inst`, which has its pointer at that position, access the variable's first element if the pointer is more
/// than `last` bytes after its beginning.
fn guard<'m>(view: View<'m>, inst: Inst<'m>, position: u32, variable: Value<'m>, last: u64) {
    let pointer = inst.operand(position);
    let builder = view.builder();
    builder.before(inst);
    let word = view.int_type(64);
    let begin = builder.ptr_to_int(variable, word, "");
    let here = builder.ptr_to_int(pointer, word, "");
    let offset = builder.sub(here, begin, "");
    let within = builder.icmp(IntPredicate::LLVMIntULE, offset, word.int(last), "");
    let first = builder.address_space_cast(variable, pointer.ty(), "");
    let confined = builder.select(within, pointer, first, "");
    inst.set_operand(position, confined);
}
