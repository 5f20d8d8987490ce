//! The operations and comparisons of terms that LLVM's opcodes and predicates stand for.

use kassay_ir::llvm::{IntPredicate, Opcode, RealPredicate};

use super::expression::{Operation, Sort, Term, Terms};

/// Returns the operation on two integers that an opcode is; `None` if it is none.
pub fn integer_operation(opcode: Opcode) -> Option<Operation> {
    use Opcode::*;
    Some(match opcode {
        LLVMAdd => Operation::Add,
        LLVMSub => Operation::Sub,
        LLVMMul => Operation::Mul,
        LLVMUDiv => Operation::UDiv,
        LLVMSDiv => Operation::SDiv,
        LLVMURem => Operation::URem,
        LLVMSRem => Operation::SRem,
        LLVMAnd => Operation::And,
        LLVMOr => Operation::Or,
        LLVMXor => Operation::Xor,
        LLVMShl => Operation::Shl,
        LLVMLShr => Operation::LShr,
        LLVMAShr => Operation::AShr,
        _ => return None,
    })
}

/// Returns the one-bit term that a comparison of integers is.
pub fn compare_integers(terms: &mut Terms, predicate: IntPredicate, l: Term, r: Term) -> Term {
    use IntPredicate::*;
    let (operation, l, r) = match predicate {
        LLVMIntEQ | LLVMIntNE => (Operation::Eq, l, r),
        LLVMIntULT => (Operation::Ult, l, r),
        LLVMIntULE => (Operation::Ule, l, r),
        LLVMIntUGT => (Operation::Ult, r, l),
        LLVMIntUGE => (Operation::Ule, r, l),
        LLVMIntSLT => (Operation::Slt, l, r),
        LLVMIntSLE => (Operation::Sle, l, r),
        LLVMIntSGT => (Operation::Slt, r, l),
        LLVMIntSGE => (Operation::Sle, r, l),
    };
    let holds = terms.compare(operation, l, r);
    if predicate == LLVMIntNE { terms.not(holds) } else { holds }
}

/// Returns the one-bit term that a comparison of floats is.
pub fn compare_floats(terms: &mut Terms, predicate: RealPredicate, l: Term, r: Term) -> Term {
    use RealPredicate::*;
    match predicate {
        LLVMRealPredicateFalse => terms.truth(false),
        LLVMRealPredicateTrue => terms.truth(true),
        LLVMRealOEQ => terms.compare(Operation::FEq, l, r),
        LLVMRealOLT => terms.compare(Operation::FLt, l, r),
        LLVMRealOLE => terms.compare(Operation::FLe, l, r),
        LLVMRealOGT => terms.compare(Operation::FLt, r, l),
        LLVMRealOGE => terms.compare(Operation::FLe, r, l),
        LLVMRealONE => {
            let (less, greater) = (terms.compare(Operation::FLt, l, r), terms.compare(Operation::FLt, r, l));
            terms.or(less, greater)
        }
        LLVMRealUNO => {
            let [left, right] = [l, r].map(|x| terms.apply(Operation::IsNan, vec![x], Sort::Bits(1)));
            terms.or(left, right)
        }
        // An unordered predicate is the negation of the opposite ordered one.
        LLVMRealUNE => negated(terms, LLVMRealOEQ, l, r),
        LLVMRealUGE => negated(terms, LLVMRealOLT, l, r),
        LLVMRealUGT => negated(terms, LLVMRealOLE, l, r),
        LLVMRealULE => negated(terms, LLVMRealOGT, l, r),
        LLVMRealULT => negated(terms, LLVMRealOGE, l, r),
        LLVMRealUEQ => negated(terms, LLVMRealONE, l, r),
        LLVMRealORD => negated(terms, LLVMRealUNO, l, r),
    }
}

fn negated(terms: &mut Terms, predicate: RealPredicate, l: Term, r: Term) -> Term {
    let holds = compare_floats(terms, predicate, l, r);
    terms.not(holds)
}
