//! Recognises a global id that the kernel computes: the number of the work-group, times its size, plus the local id.
//! That is what kernels in CUDA have, which has no function for it.

use kassay_ir::kernel::builtins;
use kassay_ir::llvm::{Inst, Opcode, Value, View};
use kassay_suite::launch::NdRange;

use super::specialise::same_function;

/// Reads each such sum from the builtin instead, in launches of `range`, whose work-groups all have one size: with an
/// offset, the builtin says something else.
pub(super) fn recognise(module: View<'_>, range: &NdRange) {
    for sum in module.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMAdd)) {
        let Some((local_id, dimension)) = parts(sum) else { continue };
        if range.offset.get(dimension as usize) != Some(&0) {
            continue;
        }
        let function = same_function(module, local_id, &builtins::mangle("get_global_id", "j"));
        let builder = module.builder();
        builder.before(sum);
        let id = builder.call(function, &local_id.args(), "");
        // Sums modulo a power of two: only the lower bits of the numbers matter to those of the sum.
        let id = if id.ty() == sum.ty() { id.value() } else { builder.trunc(id, sum.ty(), "") };
        sum.replace_uses(id);
    }
}

/// The call for the local id and the dimension, if the sum is a global id.
fn parts(sum: Inst<'_>) -> Option<(Inst<'_>, u64)> {
    either_way(sum, |id, product| {
        let (local_id, dimension) = query(id, "get_local_id")?;
        let product = product.as_opcode(Opcode::LLVMMul)?;
        either_way(product, |group, size| {
            let queries = [query(group, "get_group_id")?, query(size, "get_local_size")?];
            queries.iter().all(|(_, of)| *of == dimension).then_some((local_id, dimension))
        })
    })
}

fn either_way<'m, T>(inst: Inst<'m>, found: impl Fn(Value<'m>, Value<'m>) -> Option<T>) -> Option<T> {
    let (x, y) = (inst.operand(0), inst.operand(1));
    found(x, y).or_else(|| found(y, x))
}

/// The call of a query, perhaps truncated, and its dimension.
fn query<'m>(value: Value<'m>, name: &str) -> Option<(Inst<'m>, u64)> {
    let inst = value.as_instruction()?;
    let call = if inst.is(Opcode::LLVMTrunc) { inst.operand(0).as_instruction()? } else { inst };
    let is_query = builtins::demangle(&call.callee()?).is_some_and(|of| of == (name, "j"));
    let dimension = call.args().first().and_then(|dimension| dimension.as_u64())?;
    is_query.then_some((call, dimension))
}
