//! Compares the id of a work-item with a bound where the difference of both is compared with 0:
//! `-1 - 128 * group - local + n >= 0` becomes `n - 1 - 128 * group >= local`, in 64 bits, so that nothing can overflow
//! that did not before.
//!
//! Intel's runtimes of 2024.2 to 2026.2 turn such comparisons into bounds of their loop over work-items, and get those
//! wrong where the id is subtracted: work-items after the end then run, or none where there is a lower bound, too;
//! also of source that the driver itself compiles. loopy guards every size in that form. Where the difference may wrap
//! around, only the id is put last, which the driver has right more often.

use inkwell::module::Module;

use crate::kernel::builtins;
use crate::llvm::{Inst, IntPredicate, Opcode, Value, View};

/// More terms than a guard has.
const MAX_TERMS: usize = 32;
/// The width of integers in which sums of so many narrower ones cannot overflow.
const WIDE: u32 = 64;

/// A term of a sum: what is added or subtracted.
#[derive(Clone, Copy)]
struct Term<'m> {
    value: Value<'m>,
    is_subtracted: bool,
}

/// The terms of a sum.
#[derive(Default)]
struct Sum<'m> {
    terms: Vec<Term<'m>>,
    /// Whether some of its additions may wrap around.
    may_wrap: bool,
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
    let mut all = Sum::default();
    collect(sum.value(), false, &mut all);
    let Sum { mut terms, may_wrap } = all;
    let mut ids = terms.iter().enumerate().filter(|(_, term)| term.is_subtracted && is_local_id(term.value));
    let (Some((id, _)), None) = (ids.next(), ids.next()) else { return };
    if terms.len() < 2 || terms.len() > MAX_TERMS {
        return;
    }
    let is_last = sum.is(Opcode::LLVMSub) && sum.operand(1) == terms[id].value;
    let id = terms.remove(id).value;
    let is_narrow = sum.ty().int_width().is_some_and(|width| width < WIDE);
    if let (Some(predicate), true, false) = (against_zero(compare, position), is_narrow, may_wrap) {
        let builder = view.builder();
        builder.before(compare);
        let wide = |value: Value<'m>| builder.int_cast(value, view.int_type(WIDE), true, "");
        let rest = added(view, compare, terms.iter().map(|term| Term { value: wide(term.value), ..*term }).collect());
        let new = builder.icmp(predicate, rest, wide(id), "");
        drop(builder);
        compare.replace_uses(new);
    } else if terms.len() > 1 && !is_last {
        let rest = added(view, compare, terms);
        let builder = view.builder();
        builder.before(compare);
        let new = builder.sub(rest, id, "");
        drop(builder);
        compare.set_operand(position, new);
    }
}

/// Returns how the sum compares with 0, as `>=` or `<`; `None` if it is compared with something else.
fn against_zero(compare: Inst<'_>, position: u32) -> Option<IntPredicate> {
    use IntPredicate::*;
    let other = compare.operand(1 - position).as_i64()?;
    let predicate = compare.int_predicate()?;
    let predicate = if position == 0 {
        predicate
    } else {
        match predicate {
            LLVMIntSGE => LLVMIntSLE,
            LLVMIntSGT => LLVMIntSLT,
            LLVMIntSLE => LLVMIntSGE,
            LLVMIntSLT => LLVMIntSGT,
            _ => return None,
        }
    };
    match (predicate, other) {
        (LLVMIntSGE, 0) | (LLVMIntSGT, -1) => Some(LLVMIntSGE),
        (LLVMIntSLT, 0) | (LLVMIntSLE, -1) => Some(LLVMIntSLT),
        _ => None,
    }
}

/// Adds terms, of which there is at least one, before an instruction.
fn added<'m>(view: View<'m>, before: Inst<'m>, mut terms: Vec<Term<'m>>) -> Value<'m> {
    let builder = view.builder();
    builder.before(before);
    // One that is added begins, so that nothing has to be negated, if there is one.
    let first = terms.iter().position(|term| !term.is_subtracted);
    let begin = first.map_or(terms[0].value.ty().null(), |first| terms.remove(first).value);
    terms.into_iter().fold(begin, |sum, term| match term.is_subtracted {
        true => builder.sub(sum, term.value, ""),
        false => builder.add(sum, term.value, ""),
    })
}

/// Collects the terms of a sum, down to what is no sum, difference or negation.
fn collect<'m>(value: Value<'m>, is_subtracted: bool, sum: &mut Sum<'m>) {
    let inst = value.as_instruction().filter(|_| sum.terms.len() <= MAX_TERMS && value.ty().int_width().is_some());
    let minus_one = |value: Value<'m>| value.as_i64() == Some(-1);
    let parts = match inst.map(|inst| (inst.opcode(), inst)) {
        Some((Opcode::LLVMAdd, inst)) => vec![(inst.operand(0), is_subtracted), (inst.operand(1), is_subtracted)],
        Some((Opcode::LLVMSub, inst)) => vec![(inst.operand(0), is_subtracted), (inst.operand(1), !is_subtracted)],
        Some((Opcode::LLVMMul, inst)) if minus_one(inst.operand(0)) => vec![(inst.operand(1), !is_subtracted)],
        Some((Opcode::LLVMMul, inst)) if minus_one(inst.operand(1)) => vec![(inst.operand(0), !is_subtracted)],
        _ => {
            sum.terms.push(Term { value, is_subtracted });
            return;
        }
    };
    sum.may_wrap |= inst.is_some_and(|inst| !inst.has_no_signed_wrap());
    for (part, is_subtracted) in parts {
        collect(part, is_subtracted, sum);
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
    use super::super::rewriting::rewritten;
    use super::*;

    fn guard(sum: &str) -> String {
        rewritten(
            rewrite,
            &format!(
                "declare i64 @_Z12get_local_idj(i32)
            define i1 @k(i32 %n, i32 %group) {{
                %id = call i64 @_Z12get_local_idj(i32 0)
                %l = trunc i64 %id to i32
                {sum}
                %inside = icmp sge i32 %sum, 0
                ret i1 %inside
            }}"
            ),
        )
    }

    #[test]
    fn a_bound_is_compared_with_the_id() {
        let text = guard("%m = mul nsw i32 -1, %l\n %a = add nsw i32 %group, %m\n %sum = add nsw i32 %a, %n");
        assert!(text.contains("%3 = add i64 %1, %2\n"), "{text}");
        assert!(text.contains("%4 = sext i32 %l to i64\n  %5 = icmp sge i64 %3, %4\n"), "{text}");
        assert!(text.contains("ret i1 %5"), "{text}");
        // Also where it is last already.
        let text = guard("%a = sub nsw i32 %n, %group\n %sum = sub nsw i32 %a, %l");
        assert!(text.contains("%3 = sub i64 %1, %2\n") && text.contains("icmp sge i64 %3, %4\n"), "{text}");
    }

    #[test]
    fn where_a_sum_may_wrap_the_id_is_subtracted_last() {
        let text = guard("%m = mul nsw i32 -1, %l\n %a = add i32 %group, %m\n %sum = add nsw i32 %a, %n");
        assert!(text.contains("%1 = add i32 %group, %n\n  %2 = sub i32 %1, %l\n"), "{text}");
        assert!(text.contains("icmp sge i32 %2, 0"), "{text}");
        let text = guard("%a = sub i32 %group, %l\n %sum = sub i32 %a, %n");
        assert!(text.contains("%1 = sub i32 %group, %n\n  %2 = sub i32 %1, %l\n"), "{text}");
    }

    #[test]
    fn other_sums_stay() {
        for sum in [
            "%a = add i32 %group, %n\n %sum = sub i32 %a, %l",
            "%a = add nsw i32 %group, %l\n %sum = add nsw i32 %a, %n",
            "%sum = sub i32 %n, %l",
            "%a = sub nsw i32 %n, %l\n %sum = sub nsw i32 %a, %l",
        ] {
            let text = guard(sum);
            assert!(text.contains("icmp sge i32 %sum, 0"), "{text}");
        }
    }
}
