//! Finds the floats that a kernel stores through its arguments, of which the types of `void *` and `uchar *` say
//! nothing.

use kassay_model::interface::Scalar;

use super::points_to::{PointsTo, Root};
use crate::kernel::builtins::{self, Effect, Family};
use crate::llvm::{Function, Inst, Opcode, Type, Value};

/// Returns by position of the argument the type of all that is stored through it; `None` if that is not one
/// floating-point type. `functions`: the kernel, then its helpers, in canonical form.
pub fn by_argument(functions: &[Function<'_>]) -> Vec<Option<Scalar>> {
    let Some(kernel) = functions.first() else { return Vec::new() };
    let pointers = PointsTo::find_without_sharing(functions);
    // Nothing is stored, one type is, others are.
    let mut found: Vec<Option<Option<Scalar>>> = vec![None; kernel.param_count() as usize];
    let instructions = functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions());
    for (pointer, scalar) in instructions.flat_map(stored) {
        for root in pointers.roots(pointer) {
            if let Root::Argument(position) = root
                && let Some(known) = found.get_mut(position as usize)
            {
                *known = Some(scalar.filter(|_| known.is_none_or(|known| known == scalar)));
            }
        }
    }
    found.into_iter().map(Option::flatten).collect()
}

/// Returns where an instruction may store, and which float.
fn stored<'m>(inst: Inst<'m>) -> Vec<(Value<'m>, Option<Scalar>)> {
    match inst.opcode() {
        Opcode::LLVMStore => vec![(inst.operand(1), float(inst.operand(0).ty()))],
        Opcode::LLVMAtomicRMW => vec![(inst.operand(0), float(inst.ty()))],
        Opcode::LLVMAtomicCmpXchg => vec![(inst.operand(0), None)],
        _ => inst.called_function().filter(|callee| !callee.has_body()).map_or_else(Vec::new, |callee| {
            let (name, args) = (callee.name(), inst.args());
            let pointers = args.iter().copied().filter(|arg| arg.ty().is_pointer());
            let scalar = match builtins::family(&name) {
                _ if builtins::has(&name, Effect::OnlyReads) => return Vec::new(),
                Some(Family::VectorStore)
                    if builtins::demangle(&name).is_some_and(|(plain, _)| plain.contains("half")) =>
                {
                    Some(Scalar::F16)
                }
                Some(Family::VectorStore) => args.first().and_then(|value| float(value.ty())),
                // Copies, atomics and the like may store anything.
                _ => None,
            };
            pointers.map(|pointer| (pointer, scalar)).collect()
        }),
    }
}

fn float(ty: Type<'_>) -> Option<Scalar> {
    let scalar = ty.scalar();
    match scalar.bits().filter(|_| scalar.is_floating_point())? {
        16 => Some(Scalar::F16),
        32 => Some(Scalar::F32),
        64 => Some(Scalar::F64),
        _ => None,
    }
}
