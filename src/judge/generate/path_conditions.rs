//! Derives what holds in each block from the branches that lead there.

use std::rc::Rc;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::llvm::{DebugLocation, IntPredicate, Opcode};
use kassay_prove::program::{End, Op, Program, ValueId};

use super::polynomial::{Poly, Symbols};

/// The inequality `lhs < rhs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub lhs: Poly,
    pub rhs: Poly,
    /// The source compares by `<=` or `>=`: `rhs` has been raised by 1.
    pub inclusive: bool,
    /// It is one of the two inequalities of an equality.
    pub is_equal: bool,
    pub location: Option<DebugLocation>,
}

/// Nesting depth to which conditions are decomposed.
const DEPTH: u32 = 8;

/// Facts per block, from the nearest branches that dominate it; also the limit per edge.
const MAX_FACTS: usize = 96;
/// Dominators of a block that contribute facts.
const MAX_DOMINATORS: usize = 1024;
/// Nesting depth to which branches on a `phi` are decomposed.
const PHI_DEPTH: u32 = 3;

/// Facts that follow from branches.
#[derive(Debug, Default)]
pub struct PathConditions {
    /// By block: the facts of the edge that enters it, if there is only one and it belongs to a branch.
    pub edges: Vec<Vec<Rc<Fact>>>,
    /// By block: the facts that hold there.
    pub blocks: Vec<Vec<Rc<Fact>>>,
}

impl PathConditions {
    /// Returns the facts of every edge, with the block that it enters.
    pub fn all(&self) -> impl Iterator<Item = (BlockIndex, &Rc<Fact>)> {
        BlockIndex::enumerate(&self.edges).flat_map(|(block, facts)| facts.iter().map(move |fact| (block, fact)))
    }
}

/// Computes the facts of all edges and blocks.
pub fn find(symbols: &Symbols<'_>) -> PathConditions {
    let mut finder = Finder { symbols, plain: Vec::new() };
    // Conditions other than `phi`s come first, at every depth at which a `phi` may ask for them.
    for depth in 0..=PHI_DEPTH {
        let edges = finder.edges(depth, true);
        finder.plain.push(edges);
    }
    let edges = finder.edges(DEPTH, false);
    let blocks =
        BlockIndex::first(symbols.program.blocks.len()).map(|block| facts_at(symbols.program, &edges, block)).collect();
    PathConditions { edges, blocks }
}

/// Returns the facts of the edges that enter a block and its dominators, the farthest first.
fn facts_at(program: &Program, edges: &[Vec<Rc<Fact>>], block: BlockIndex) -> Vec<Rc<Fact>> {
    let mut found: Vec<&Rc<Fact>> = Vec::new();
    let mut at = Some(block).filter(|b| program.dominates(*b, *b));
    for _ in 0..MAX_DOMINATORS {
        let Some(here) = at.filter(|_| found.len() < MAX_FACTS) else { break };
        found.extend(edges[here].iter().rev());
        at = program.immediate_dominator(here);
    }
    found.truncate(MAX_FACTS);
    found.into_iter().rev().cloned().collect()
}

struct Finder<'s, 'p> {
    symbols: &'s Symbols<'p>,
    /// By depth and block: facts of branches whose conditions are no `phi`s.
    plain: Vec<Vec<Vec<Rc<Fact>>>>,
}

impl Finder<'_, '_> {
    /// Returns, by block, the facts of the edge that enters it, if there is only one and it belongs to a branch.
    fn edges(&self, depth: u32, without_phis: bool) -> Vec<Vec<Rc<Fact>>> {
        let program = self.symbols.program;
        let mut all = vec![Vec::new(); program.blocks.len()];
        for code in &program.blocks {
            let End::Branch { condition, then, other } = code.end else { continue };
            let is_phi = program.instruction(condition).is_some_and(|i| matches!(i.op, Op::Phi(_)));
            for (to, truth) in [(then, true), (other, false)] {
                if !(is_phi && without_phis) && then != other && program.cfg.incoming(to).len() == 1 {
                    let mut facts = Vec::new();
                    self.assume(condition, truth, depth, &mut facts);
                    facts.truncate(MAX_FACTS);
                    all[to] = facts;
                }
            }
        }
        all
    }

    /// Collects what follows from the truth of a condition.
    fn assume(&self, condition: ValueId, truth: bool, depth: u32, out: &mut Vec<Rc<Fact>>) {
        let symbols = self.symbols;
        let program = symbols.program;
        let Some(instruction) = program.instruction(condition).filter(|_| depth > 0) else { return };
        let operands = &instruction.operands;
        let constant = |i: usize| program.constant(operands[i]);
        match &instruction.op {
            Op::Compare(predicate) => {
                // A widened boolean compared with zero.
                let (equal, differ) = (IntPredicate::LLVMIntEQ, IntPredicate::LLVMIntNE);
                if constant(1) == Some(0)
                    && (*predicate == equal || *predicate == differ)
                    && is_boolean(program, operands[0])
                {
                    return self.assume(operands[0], truth == (*predicate == differ), depth - 1, out);
                }
                if program.shape(operands[0]).is_int() {
                    add_comparison(
                        symbols,
                        *predicate,
                        [operands[0], operands[1]],
                        truth,
                        instruction.location.as_ref(),
                        out,
                    );
                }
            }
            Op::Binary(Opcode::LLVMAnd) if truth && is_boolean(program, condition) => {
                operands.iter().for_each(|o| self.assume(*o, true, depth - 1, out));
            }
            Op::Binary(Opcode::LLVMOr) if !truth && is_boolean(program, condition) => {
                operands.iter().for_each(|o| self.assume(*o, false, depth - 1, out));
            }
            Op::Binary(Opcode::LLVMXor) if matches!(constant(1), Some(1 | -1)) && is_boolean(program, condition) => {
                self.assume(operands[0], !truth, depth - 1, out);
            }
            Op::Cast(_) | Op::Copy => self.assume(operands[0], truth, depth - 1, out),
            Op::Select => {
                let other = if truth { constant(2) == Some(0) } else { constant(1).is_some_and(|c| c != 0) };
                if other {
                    self.assume(operands[0], truth, depth - 1, out);
                    self.assume(operands[if truth { 1 } else { 2 }], truth, depth - 1, out);
                }
            }
            Op::Phi(from) => {
                let possible: Vec<usize> =
                    (0..from.len()).filter(|i| constant(*i).is_none_or(|c| (c != 0) == truth)).collect();
                if let [only] = possible[..] {
                    self.assume(operands[only], truth, depth - 1, out);
                    let plain = (depth - 1).min(PHI_DEPTH) as usize;
                    if let Some(edges) = self.plain.get(plain) {
                        out.extend(facts_at(program, edges, from[only]));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a value is a boolean, possibly widened.
fn is_boolean(program: &Program, value: ValueId) -> bool {
    use kassay_prove::program::Kind;
    if program.shape(value).kind == Kind::Int(1) {
        return true;
    }
    match program.instruction(value).map(|i| (&i.op, &i.operands)) {
        Some((Op::Cast(Opcode::LLVMZExt | Opcode::LLVMSExt), operands)) => is_boolean(program, operands[0]),
        Some((Op::Phi(_), operands)) => operands.iter().all(|o| {
            matches!(program.constant(*o), Some(0 | 1))
                || program
                    .instruction(*o)
                    .is_some_and(|i| matches!(i.op, Op::Cast(Opcode::LLVMZExt)) && is_boolean(program, i.operands[0]))
        }),
        _ => false,
    }
}

fn add_comparison(
    symbols: &Symbols<'_>,
    predicate: IntPredicate,
    operands: [ValueId; 2],
    truth: bool,
    location: Option<&DebugLocation>,
    out: &mut Vec<Rc<Fact>>,
) {
    use IntPredicate::*;
    let [a, b] = operands.map(|v| symbols.poly(v));
    let one = Poly::constant(1);
    let is_equal = matches!((predicate, truth), (LLVMIntEQ, true) | (LLVMIntNE, false));
    let mut push = |lhs: &Poly, rhs: &Poly, inclusive: bool| {
        let rhs = if inclusive { rhs.add(&one) } else { rhs.clone() };
        out.push(Rc::new(Fact { lhs: lhs.clone(), rhs, inclusive, is_equal, location: location.cloned() }));
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
        // A loop counter that counts up to equality.
        (LLVMIntNE, true) | (LLVMIntEQ, false) => {
            let counts = |v: ValueId| symbols.program.instruction(v).is_some_and(|i| matches!(i.op, Op::Phi(_)));
            if counts(operands[0]) {
                push(&a, &b, false);
            }
        }
    }
}
