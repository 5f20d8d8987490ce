//! What holds in a block because of the branches that lead there.

use llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use super::symbolic::{Poly, Symbols};
use crate::kernel::ir::DebugLocation;
use crate::program::{End, Op, Program, ValueId};

/// `less < than`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub less: Poly,
    pub than: Poly,
    /// The source compares by `<=` or `>=`: `than` has been raised by 1.
    pub inclusive: bool,
    /// Half of an equality.
    pub is_equal: bool,
    pub location: Option<DebugLocation>,
}

/// How far conditions are taken apart.
const DEPTH: u32 = 8;

/// By block.
pub fn find(symbols: &Symbols<'_>) -> Vec<Vec<Fact>> {
    let edges = edges(symbols);
    let program = symbols.program;
    (0..program.blocks.len())
        .map(|block| {
            let holding = edges.iter().filter(|(to, _)| program.dominance.dominates(*to, block));
            holding.flat_map(|(_, facts)| facts.iter().cloned()).collect()
        })
        .collect()
}

/// Blocks that are entered by one edge of a branch only, with what that edge says.
fn edges(symbols: &Symbols<'_>) -> Vec<(usize, Vec<Fact>)> {
    let program = symbols.program;
    let mut all = Vec::new();
    for code in &program.blocks {
        let End::Branch { condition, then, other } = code.end else { continue };
        for (to, truth) in [(then, true), (other, false)] {
            if then != other && program.cfg.incoming(to).len() == 1 {
                let mut facts = Vec::new();
                assume(symbols, condition, truth, DEPTH, &mut facts);
                all.push((to, facts));
            }
        }
    }
    all
}

/// What follows from a condition's truth.
fn assume(symbols: &Symbols<'_>, condition: ValueId, truth: bool, depth: u32, out: &mut Vec<Fact>) {
    let program = symbols.program;
    let Some(instruction) = program.instruction(condition).filter(|_| depth > 0) else { return };
    let operands = &instruction.operands;
    let constant = |i: usize| program.constant(operands[i]);
    match &instruction.op {
        Op::Compare(predicate) => {
            // A widened bool against zero.
            let (equal, differ) = (LLVMIntPredicate::LLVMIntEQ, LLVMIntPredicate::LLVMIntNE);
            if constant(1) == Some(0) && (*predicate == equal || *predicate == differ) && is_truth(program, operands[0])
            {
                return assume(symbols, operands[0], truth == (*predicate == differ), depth - 1, out);
            }
            if program.shape(operands[0]).is_int() {
                compare(symbols, *predicate, [operands[0], operands[1]], truth, instruction.location.as_ref(), out);
            }
        }
        Op::Binary(LLVMOpcode::LLVMAnd) if truth && is_truth(program, condition) => {
            operands.iter().for_each(|o| assume(symbols, *o, true, depth - 1, out));
        }
        Op::Binary(LLVMOpcode::LLVMOr) if !truth && is_truth(program, condition) => {
            operands.iter().for_each(|o| assume(symbols, *o, false, depth - 1, out));
        }
        Op::Binary(LLVMOpcode::LLVMXor) if matches!(constant(1), Some(1 | -1)) && is_truth(program, condition) => {
            assume(symbols, operands[0], !truth, depth - 1, out);
        }
        Op::Cast(_) | Op::Copy => assume(symbols, operands[0], truth, depth - 1, out),
        Op::Select => {
            let other = if truth { constant(2) == Some(0) } else { constant(1).is_some_and(|c| c != 0) };
            if other {
                assume(symbols, operands[0], truth, depth - 1, out);
                assume(symbols, operands[if truth { 1 } else { 2 }], truth, depth - 1, out);
            }
        }
        Op::Phi(from) => {
            let possible: Vec<usize> =
                (0..from.len()).filter(|i| constant(*i).is_none_or(|c| (c != 0) == truth)).collect();
            if let [only] = possible[..] {
                assume(symbols, operands[only], truth, depth - 1, out);
                for (to, facts) in edges_without_phis(symbols, depth - 1) {
                    if program.dominance.dominates(to, from[only]) {
                        out.extend(facts);
                    }
                }
            }
        }
        _ => {}
    }
}

fn edges_without_phis(symbols: &Symbols<'_>, depth: u32) -> Vec<(usize, Vec<Fact>)> {
    let program = symbols.program;
    let mut all = Vec::new();
    for code in &program.blocks {
        let End::Branch { condition, then, other } = code.end else { continue };
        let is_phi = program.instruction(condition).is_some_and(|i| matches!(i.op, Op::Phi(_)));
        for (to, truth) in [(then, true), (other, false)] {
            if !is_phi && then != other && program.cfg.incoming(to).len() == 1 {
                let mut facts = Vec::new();
                assume(symbols, condition, truth, depth.min(3), &mut facts);
                all.push((to, facts));
            }
        }
    }
    all
}

/// Whether a value is 0 or 1.
fn is_truth(program: &Program, value: ValueId) -> bool {
    use crate::program::Kind;
    if program.shape(value).kind == Kind::Int(1) {
        return true;
    }
    match program.instruction(value).map(|i| (&i.op, &i.operands)) {
        Some((Op::Cast(LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMSExt), operands)) => is_truth(program, operands[0]),
        Some((Op::Phi(_), operands)) => operands.iter().all(|o| {
            matches!(program.constant(*o), Some(0 | 1))
                || program
                    .instruction(*o)
                    .is_some_and(|i| matches!(i.op, Op::Cast(LLVMOpcode::LLVMZExt)) && is_truth(program, i.operands[0]))
        }),
        _ => false,
    }
}

fn compare(
    symbols: &Symbols<'_>,
    predicate: LLVMIntPredicate,
    of: [ValueId; 2],
    truth: bool,
    location: Option<&DebugLocation>,
    out: &mut Vec<Fact>,
) {
    use LLVMIntPredicate::*;
    let [a, b] = of.map(|v| symbols.poly(v));
    let one = Poly::constant(1);
    let is_equal = matches!((predicate, truth), (LLVMIntEQ, true) | (LLVMIntNE, false));
    let mut push = |less: &Poly, than: &Poly, inclusive: bool| {
        let than = if inclusive { than.add(&one) } else { than.clone() };
        out.push(Fact { less: less.clone(), than, inclusive, is_equal, location: location.cloned() });
    };
    match (predicate, truth) {
        (LLVMIntSLT | LLVMIntULT, true) | (LLVMIntSGE | LLVMIntUGE, false) => push(&a, &b, false),
        (LLVMIntSLE | LLVMIntULE, true) | (LLVMIntSGT | LLVMIntUGT, false) => push(&a, &b, true),
        (LLVMIntSGT | LLVMIntUGT, true) | (LLVMIntSLE | LLVMIntULE, false) => push(&b, &a, false),
        (LLVMIntSGE | LLVMIntUGE, true) | (LLVMIntSLT | LLVMIntULT, false) => push(&b, &a, true),
        (LLVMIntEQ, true) | (LLVMIntNE, false) => {
            push(&a, &b.add(&one), false);
            push(&b, &a.add(&one), false);
        }
        // Loops that count up to equality.
        (LLVMIntNE, true) | (LLVMIntEQ, false) => {
            let counts = |v: ValueId| symbols.program.instruction(v).is_some_and(|i| matches!(i.op, Op::Phi(_)));
            if counts(of[0]) {
                push(&a, &b, false);
            }
        }
    }
}
