//! Puts the id of a work-item last in a difference that is compared: `-1 - 128 * group - local + n >= 0` becomes
//! `(-1 - 128 * group + n) - local >= 0`, the same number by the rules of modular arithmetic.
//!
//! Intel's runtimes of 2024.2 to 2026.2 turn such comparisons into bounds of their loop over work-items, and get those wrong where
//! the id is subtracted before the last term is added: work-items behind the end then run, also of source that the driver itself
//! compiles. loopy guards every size in that form.

use inkwell::module::Module;

use crate::kernel::builtins;
use crate::llvm::{Inst, Opcode, Value, View};

/// More terms than a guard has.
const MAX_TERMS: usize = 32;

/// A term of a sum: what is added or subtracted.
struct Term<'m> {
    value: Value<'m>,
    is_subtracted: bool,
}

/// Rewrites all such comparisons of the module.
pub fn rewrite(module: &Module<'_>) {
    let view = View::of(module);
    for compare in view.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMICmp)) {
        for position in 0..2 {
            if let Some(sum) = compare.operand(position).as_instruction() {
                reorder(view, compare, position, sum);
            }
        }
    }
}

fn reorder<'m>(view: View<'m>, compare: Inst<'m>, position: u32, sum: Inst<'m>) {
    let mut terms = Vec::new();
    collect(sum.value(), false, &mut terms);
    let mut ids = terms.iter().enumerate().filter(|(_, term)| term.is_subtracted && is_local_id(term.value));
    let (Some((id, _)), None) = (ids.next(), ids.next()) else { return };
    let is_last = sum.is(Opcode::LLVMSub) && sum.operand(1) == terms[id].value;
    if is_last || terms.len() < 3 || terms.len() > MAX_TERMS {
        return;
    }
    let id = terms.remove(id);
    let builder = view.builder();
    builder.before(compare);
    // One that is added begins, so that nothing has to be negated, if there is one.
    let first = terms.iter().position(|term| !term.is_subtracted);
    let begin = first.map_or(sum.ty().null(), |first| terms.remove(first).value);
    let rest = terms.into_iter().fold(begin, |sum, term| match term.is_subtracted {
        true => builder.sub(sum, term.value, ""),
        false => builder.add(sum, term.value, ""),
    });
    let new = builder.sub(rest, id.value, "");
    drop(builder);
    compare.set_operand(position, new);
}

/// Collects the terms of a sum, down to what is no sum, difference or negation.
fn collect<'m>(value: Value<'m>, is_subtracted: bool, terms: &mut Vec<Term<'m>>) {
    let inst = value.as_instruction().filter(|_| terms.len() <= MAX_TERMS && value.ty().int_width().is_some());
    let minus_one = |value: Value<'m>| value.as_i64() == Some(-1);
    match inst.map(|inst| (inst.opcode(), inst)) {
        Some((Opcode::LLVMAdd, sum)) => {
            collect(sum.operand(0), is_subtracted, terms);
            collect(sum.operand(1), is_subtracted, terms);
        }
        Some((Opcode::LLVMSub, difference)) => {
            collect(difference.operand(0), is_subtracted, terms);
            collect(difference.operand(1), !is_subtracted, terms);
        }
        Some((Opcode::LLVMMul, product)) if minus_one(product.operand(0)) => {
            collect(product.operand(1), !is_subtracted, terms);
        }
        Some((Opcode::LLVMMul, product)) if minus_one(product.operand(1)) => {
            collect(product.operand(0), !is_subtracted, terms);
        }
        _ => terms.push(Term { value, is_subtracted }),
    }
}

/// Returns whether it is the id of a work-item in its group, perhaps of another width.
fn is_local_id(value: Value<'_>) -> bool {
    let Some(inst) = value.as_instruction() else { return false };
    match inst.opcode() {
        Opcode::LLVMTrunc | Opcode::LLVMZExt | Opcode::LLVMSExt => is_local_id(inst.operand(0)),
        Opcode::LLVMCall => inst
            .callee()
            .is_some_and(|name| builtins::demangle(&name).is_some_and(|(plain, _)| plain == "get_local_id")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    /// Returns the text of the module after the rewriting.
    fn rewritten(text: &str) -> String {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        rewrite(&module);
        module.verify().expect("valid IR");
        module.print_to_string().to_string()
    }

    fn guard(sum: &str) -> String {
        rewritten(&format!(
            "declare i64 @_Z12get_local_idj(i32)
            define i1 @k(i32 %n, i32 %group) {{
                %id = call i64 @_Z12get_local_idj(i32 0)
                %l = trunc i64 %id to i32
                {sum}
                %inside = icmp sge i32 %sum, 0
                ret i1 %inside
            }}"
        ))
    }

    #[test]
    fn an_id_is_subtracted_last() {
        let text = guard("%m = mul nsw i32 -1, %l\n %a = add nsw i32 %group, %m\n %sum = add nsw i32 %a, %n");
        assert!(text.contains("%1 = add i32 %group, %n\n  %2 = sub i32 %1, %l\n"), "{text}");
        assert!(text.contains("icmp sge i32 %2, 0"), "{text}");
        let text = guard("%a = sub i32 %group, %l\n %sum = sub i32 %a, %n");
        assert!(text.contains("%1 = sub i32 %group, %n\n  %2 = sub i32 %1, %l\n"), "{text}");
    }

    #[test]
    fn other_sums_stay() {
        for sum in [
            "%a = add i32 %group, %n\n %sum = sub i32 %a, %l",
            "%a = add i32 %group, %l\n %sum = add i32 %a, %n",
            "%sum = sub i32 %n, %l",
            "%a = sub i32 %n, %l\n %sum = sub i32 %a, %l",
        ] {
            let text = guard(sum);
            assert!(text.contains("icmp sge i32 %sum, 0"), "{text}");
        }
    }
}
