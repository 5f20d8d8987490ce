//! Replaces variables of a module within one function: constant expressions over their addresses become instructions.

use std::collections::HashMap;

use kassay_base::error::{Error, Result};

use crate::llvm::{Block, Builder, Function, Inst, Opcode, Value};

/// What stands for variables, by variable.
type Replacements<'m> = HashMap<Value<'m>, Value<'m>>;

/// Replaces every use of a variable in `function`, directly or in a constant expression, by the value that
/// `replacements` maps it to. That value must dominate every such use.
///
/// # Errors
/// `Internal` if the address is part of a constant that no instruction can compute.
pub fn replace<'m>(function: Function<'m>, replacements: &Replacements<'m>) -> Result<()> {
    let builder = function.view().builder();
    let mut instructions = function.instructions().into_iter();
    instructions.try_for_each(|inst| replace_in_instruction(&builder, inst, replacements))
}

fn replace_in_instruction<'m>(builder: &Builder<'m>, inst: Inst<'m>, replacements: &Replacements<'m>) -> Result<()> {
    // For phis: several edges may come from one block, and must then have the same value.
    let mut built: HashMap<(Block<'m>, Value<'m>), Value<'m>> = HashMap::new();
    for (i, operand) in (0..).zip(inst.operands()) {
        if !depends_on(operand, replacements) {
            continue;
        }
        let at = match inst.opcode() {
            Opcode::LLVMPHI => inst.incoming()[i as usize].1.terminator(),
            _ => inst,
        };
        let key = (at.block(), operand);
        let value = match built.get(&key) {
            Some(value) => *value,
            None => materialise(builder, operand, at, replacements)?,
        };
        built.insert(key, value);
        inst.set_operand(i, value);
    }
    Ok(())
}

/// Returns whether a value is one of the variables or a constant that is computed from one.
pub(crate) fn depends_on<'m>(value: Value<'m>, replacements: &Replacements<'m>) -> bool {
    if !value.is_constant() {
        return false;
    }
    // Functions and variables lead nowhere.
    replacements.contains_key(&value)
        || !value.is_global() && value.operands().into_iter().any(|part| depends_on(part, replacements))
}

/// Emits instructions before `at` that compute a constant which depends on a variable.
fn materialise<'m>(
    builder: &Builder<'m>,
    constant: Value<'m>,
    at: Inst<'m>,
    replacements: &Replacements<'m>,
) -> Result<Value<'m>> {
    use Opcode::*;
    if let Some(place) = replacements.get(&constant) {
        return Ok(*place);
    }
    if !depends_on(constant, replacements) {
        return Ok(constant);
    }
    let not_computable = || Error::internal("a constant holds the address of a variable");
    let opcode = constant.opcode().ok_or_else(not_computable)?;
    let computed = constant.operands().into_iter().map(|part| materialise(builder, part, at, replacements));
    let operands: Vec<Value<'m>> = computed.collect::<Result<_>>()?;
    builder.before_records(at);
    builder.set_location(at.debug_location());
    match opcode {
        LLVMGetElementPtr => {
            let element = constant.gep_source().ok_or_else(not_computable)?;
            Ok(builder.gep(element, operands[0], &operands[1..], ""))
        }
        LLVMAddrSpaceCast | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMTrunc => {
            Ok(builder.cast(opcode, operands[0], constant.ty(), ""))
        }
        LLVMAdd | LLVMSub | LLVMXor => Ok(builder.binary(opcode, operands[0], operands[1], "")),
        _ => Err(not_computable()),
    }
}

#[cfg(test)]
mod tests {
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;
    use crate::llvm::{Context, View};

    #[test]
    fn constants_over_a_variable_are_computed_where_they_are_used() {
        const TEXT: &str = "
            @v = global [4 x i32] zeroinitializer
            define i64 @f(i1 %c, ptr %place) {
            entry:
              br i1 %c, label %left, label %right
            left:
              br label %right
            right:
              %p = phi ptr [ getelementptr (i8, ptr @v, i64 4), %entry ], [ @v, %left ]
              store i32 1, ptr %p
              ret i64 sub (i64 ptrtoint (ptr @v to i64), i64 3)
            }";
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(TEXT.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        let view = View::of(&module);
        let (f, v) = (view.function("f").unwrap(), view.global("v").unwrap());
        replace(f, &HashMap::from([(v.value(), f.param(1).unwrap())])).expect("instructions can compute all of them");
        assert!(f.instructions().iter().all(|inst| !inst.operands().iter().any(|operand| *operand == v)));
        let computed = f.entry().first_instruction().expect("the address is computed at the end of the entry");
        let phi = f.blocks()[2].phis()[0];
        assert_eq!(phi.incoming_from(f.entry()), Some(computed.value()));
        assert_eq!(phi.incoming_from(f.blocks()[1]), f.param(1));
        assert_eq!(module.verify(), Ok(()));
    }
}
