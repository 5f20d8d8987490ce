//! Turns logical operators on truth values back into branches: the short-circuits of the source that an optimiser
//! merged into values.
//!
//! `a && b` becomes `select i1 a, b, false` or `and i1 a, b` once the evaluation of `b` is cheap and without effects,
//! and SPIR-V has these as `OpSelect` and `OpLogicalAnd`. Each gets the blocks that clang gives it: one that branches
//! on `a`, one in which `b` is the value, and one in which a `phi` joins them. What is computed, and when, stays: `b`
//! has been computed before the first branch, but its truth only counts where `a` does not decide. Not for vectors,
//! whose truth values are data.

use crate::llvm::{Block, Builder, Function, Inst, Opcode, Value, View};

/// Makes branches of the logical operators in all functions of a module.
pub fn unfold(view: View<'_>) {
    let builder = view.builder();
    for function in view.functions() {
        loop {
            // What is left of one round are operands that could not be joined with their operator.
            let roots = outermost(function);
            if roots.is_empty() {
                break;
            }
            roots.into_iter().for_each(|root| unfold_one(&builder, root));
        }
    }
}

/// `first && second` or `first || second`, in terms of truth values.
#[derive(Clone, Copy)]
struct Operator<'m> {
    first: Value<'m>,
    second: Value<'m>,
    /// The truth of `first` that decides, so that `second` does not count: false for `&&`, true for `||`.
    decisive: bool,
    /// The operator's value if `first` decides.
    decided: bool,
}

impl<'m> Operator<'m> {
    /// Reads an instruction as a logical operator.
    fn of(inst: Inst<'m>) -> Option<Operator<'m>> {
        if !inst.ty().is_bool() {
            return None;
        }
        let operands = inst.operands();
        match (inst.opcode(), &operands[..]) {
            (Opcode::LLVMAnd, &[first, second]) => Operator { first, second, decisive: false, decided: false }.proper(),
            (Opcode::LLVMOr, &[first, second]) => Operator { first, second, decisive: true, decided: true }.proper(),
            (Opcode::LLVMSelect, &[first, yes, no]) if first.ty().is_bool() => match (yes.as_bool(), no.as_bool()) {
                (None, Some(decided)) => Operator { first, second: yes, decisive: false, decided }.proper(),
                (Some(decided), None) => Operator { first, second: no, decisive: true, decided }.proper(),
                _ => None,
            },
            _ => None,
        }
    }

    fn proper(self) -> Option<Operator<'m>> {
        (!self.first.is_constant() && !self.second.is_constant()).then_some(self)
    }

    fn name(self) -> &'static str {
        if self.decided { "lor" } else { "land" }
    }
}

/// Finds the logical operators that are no operand of another one which is their only user.
fn outermost(function: Function<'_>) -> Vec<Inst<'_>> {
    let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
    let operators = instructions.filter(|inst| Operator::of(*inst).is_some());
    operators.filter(|inst| inst.is_used() && only_user(*inst).and_then(Operator::of).is_none()).collect()
}

fn only_user(inst: Inst<'_>) -> Option<Inst<'_>> {
    match inst.users()[..] {
        [user] => user.as_instruction(),
        _ => None,
    }
}

/// Reads an operand that is a logical operator used nowhere else, and stands for it.
fn inner(value: Value<'_>) -> Option<(Inst<'_>, Operator<'_>)> {
    let inst = value.as_instruction().filter(|inst| only_user(*inst).is_some())?;
    Some((inst, Operator::of(inst)?))
}

fn unfold_one<'m>(builder: &Builder<'m>, root: Inst<'m>) {
    // Read now: an operand may have been replaced meanwhile, even by a constant.
    let Some(operator) = Operator::of(root) else { return };
    let join = root.block();
    let label = join.label();
    if !label.is_empty() {
        join.set_name(&format!("{}.end", operator.name()));
    }
    let head = Block::split_before(root, &label);
    let mut unfolding = Unfolding { builder, is_labelled: !label.is_empty(), origin: root, replaced: vec![root] };
    let phi = unfolding.value(operator, head, join);
    root.replace_uses(phi);
    let replaced = unfolding.replaced;
    builder.at_end(head);
    for inst in replaced {
        inst.erase()
    }
}

/// The replacement of one outermost operator.
struct Unfolding<'a, 'm> {
    builder: &'a Builder<'m>,
    /// Whether the function's blocks have labels; new ones then get clang's.
    is_labelled: bool,
    /// The operator, whose debug location the new code gets.
    origin: Inst<'m>,
    /// The operators that branches stand for, each before its operands.
    replaced: Vec<Inst<'m>>,
}

impl<'m> Unfolding<'_, 'm> {
    /// Evaluates an operator from the end of `from`, which has no terminator yet, and returns the `phi` with its value
    /// at the start of `join`, to which nothing leads yet.
    fn value(&mut self, operator: Operator<'m>, from: Block<'m>, join: Block<'m>) -> Inst<'m> {
        let rhs = self.block_before(join, operator, "rhs");
        let (yes, no) = if operator.decisive { (join, rhs) } else { (rhs, join) };
        self.branch(operator.first, from, yes, no, rhs);
        let decided = self.origin.ty().int(operator.decided.into());
        let leads_to_join = |b: &Block<'m>| b.try_terminator().is_some_and(|last| last.successors().contains(&join));
        let deciding = join.function().blocks().into_iter().filter(leads_to_join);
        let mut incoming: Vec<(Value<'m>, Block<'m>)> = deciding.map(|block| (decided, block)).collect();
        let (value, end) = match inner(operator.second) {
            Some((inst, nested)) => {
                self.replaced.push(inst);
                let end = self.block_before(join, nested, "end");
                (self.value(nested, rhs, end).value(), end)
            }
            None => (operator.second, rhs),
        };
        self.at_end(end);
        self.builder.br(join);
        incoming.push((value, end));
        match join.first_instruction() {
            Some(first) => self.builder.before_records(first),
            None => self.builder.at_end(join),
        }
        self.builder.phi(self.origin.ty(), &incoming, "")
    }

    /// Branches on a truth value at the end of `from`, which has no terminator yet. New blocks go in front of `next`.
    fn branch(&mut self, value: Value<'m>, from: Block<'m>, yes: Block<'m>, no: Block<'m>, next: Block<'m>) {
        match inner(value) {
            // One that negates its first operand (`select i1 a, b, true`) is left, and unfolded as a value later.
            Some((inst, operator)) if operator.decisive == operator.decided => {
                self.replaced.push(inst);
                let rhs = self.block_before(next, operator, "rhs");
                let (first_yes, first_no) = if operator.decisive { (yes, rhs) } else { (rhs, no) };
                self.branch(operator.first, from, first_yes, first_no, rhs);
                self.branch(operator.second, rhs, yes, no, next);
            }
            _ => {
                self.at_end(from);
                self.builder.cond_br(value, yes, no);
            }
        }
    }

    fn block_before(&self, next: Block<'m>, operator: Operator<'m>, part: &str) -> Block<'m> {
        next.insert_before(&if self.is_labelled { format!("{}.{part}", operator.name()) } else { String::new() })
    }

    fn at_end(&self, block: Block<'m>) {
        self.builder.at_end(block);
        self.builder.set_location(self.origin.debug_location());
    }
}

#[cfg(test)]
mod tests {
    use crate::llvm::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    /// What an optimiser leaves: a debug record in front of an operator, where its `phi` will be.
    const RECORDED: &str = r#"
        define i1 @k(i32 %n, i1 %c) !dbg !4 {
          %a = icmp sgt i32 %n, 3, !dbg !8
          %b = icmp slt i32 %n, 9, !dbg !8
            #dbg_value(i32 %n, !7, !DIExpression(), !8)
          %both = and i1 %a, %b, !dbg !8
            #dbg_value(i1 %both, !7, !DIExpression(), !8)
          %any = select i1 %both, i1 true, i1 %c, !dbg !8
          ret i1 %any, !dbg !8
        }
        !llvm.dbg.cu = !{!0}
        !llvm.module.flags = !{!2}
        !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, isOptimized: true, emissionKind: FullDebug)
        !1 = !DIFile(filename: "k.cl", directory: ".")
        !2 = !{i32 2, !"Debug Info Version", i32 3}
        !3 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
        !4 = distinct !DISubprogram(name: "k", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
        !5 = !DISubroutineType(types: !6)
        !6 = !{!3, !3}
        !7 = !DILocalVariable(name: "n", arg: 1, scope: !4, file: !1, line: 1, type: !3)
        !8 = !DILocation(line: 1, column: 2, scope: !4)
    "#;

    #[test]
    fn no_debug_record_stands_before_a_phi() {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(RECORDED.as_bytes(), "k.ll");
        let module = context.create_module_from_ir(buffer).unwrap();
        unfold(View::of(&module));
        module.verify().unwrap_or_else(|error| panic!("{error}\n{}", module.print_to_string()));
        let text = module.print_to_string().to_string();
        // Both operators are branches now.
        assert!(text.matches("br i1").count() == 2 && text.contains("phi i1"), "{text}");
        assert!(text.matches("#dbg_value").count() == 2, "{text}");
    }
}
