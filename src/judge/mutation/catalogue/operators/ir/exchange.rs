//! Exchanges: `ISO` exchanges operands, `IPH` values that a `phi` takes, `IVL` lanes of a shuffle.

use std::collections::HashMap;

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::instrument::mutants::Expr;
use kassay_ir::instrument::mutants::edit::PhiValue;
use kassay_ir::llvm::{Block, Inst, Opcode, Value};
use petgraph::algo::dominators::{self, Dominators};
use petgraph::graph::NodeIndex;

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::arithmetic::binary;
use super::site::{Site, is_number, shown, shown_with, sites};

/// Exchanges the operands of instructions that are not commutative.
pub const ISO: Operator = Operator {
    id: "ISO",
    name: "operand exchange",
    class: "arithmetic",
    description: "the operands of `sub udiv sdiv urem srem fsub fdiv shl lshr ashr` exchanged",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::IrAlone,
    levels: level::IR,
    enumerate: operands,
};

/// Exchanges the values that a `phi` takes from two blocks.
pub const IPH: Operator = Operator {
    id: "IPH",
    name: "phi exchange",
    class: "memory",
    description: "two values that a `phi` takes exchanged, where both are known on both ways",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::IrAlone,
    levels: level::IR,
    enumerate: phis,
};

/// Exchanges lanes of shuffled vectors.
pub const IVL: Operator = Operator {
    id: "IVL",
    name: "lane exchange",
    class: "memory",
    description: "two neighbouring lanes of a `shufflevector` exchanged",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::IrAlone,
    levels: level::IR,
    enumerate: lanes,
};

fn operands(subject: &Subject<'_>, found: &mut OperatorOutput) {
    use Opcode::*;
    let is_ordered = |inst: Inst<'_>| {
        let ordered =
            [LLVMSub, LLVMUDiv, LLVMSDiv, LLVMURem, LLVMSRem, LLVMFSub, LLVMFDiv, LLVMShl, LLVMLShr, LLVMAShr];
        ordered.contains(&inst.opcode()) && is_number(inst.ty()) && !inst.ty().scalar().is_bool()
    };
    for site in sites(subject, is_ordered) {
        let (x, y) = (site.inst.operand(0), site.inst.operand(1));
        let Some(op) = binary(site.inst.opcode()).filter(|_| x != y) else { continue };
        let text = shown_with(site.inst, &|i| Some(shown(if i == 0 { y } else { x })));
        let by = Expr::Binary(op, Box::new(Expr::Operand(1)), Box::new(Expr::Operand(0)));
        site.replace(ISO.id, site.result(), by, text, found);
    }
}

fn phis(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let mut known: Option<(FunctionIndex, Scopes<'_>)> = None;
    for site in sites(subject, |inst| inst.is(Opcode::LLVMPHI)) {
        let function = site.place.function;
        let scopes = match known.take().filter(|(own, _)| *own == function) {
            Some((_, scopes)) => scopes,
            None => Scopes::of(subject, function, site.inst),
        };
        exchange_incoming(&site, &scopes, found);
        known = Some((function, scopes));
    }
}

fn exchange_incoming(site: &Site<'_>, scopes: &Scopes<'_>, found: &mut OperatorOutput) {
    let incoming = site.inst.incoming();
    if (1..incoming.len()).any(|i| incoming[..i].iter().any(|(_, block)| *block == incoming[i].1)) {
        return site.exclude(IPH.id, "one block leads to it in several ways", found);
    }
    for second in 1..incoming.len() {
        for first in 0..second {
            let ((x, from_x), (y, from_y)) = (incoming[first], incoming[second]);
            if x == y {
                continue;
            }
            if [x, y].into_iter().any(|value| value.is_undef() || value.is_poison()) {
                site.exclude(IPH.id, "one of its values is undefined", found);
                continue;
            }
            if !scopes.is_known(x, from_y) || !scopes.is_known(y, from_x) {
                let reason = format!("{} or {} is not known on the other way", shown(x), shown(y));
                site.exclude(IPH.id, reason, found);
                continue;
            }
            let exchanged = |at: usize| match at {
                at if at == first => second,
                at if at == second => first,
                at => at,
            };
            let values = (0..incoming.len()).map(|at| PhiValue::Incoming(exchanged(at) as u32)).collect();
            let text = shown_with(site.inst, &|at| Some(shown(incoming[exchanged(at as usize)].0)));
            site.replace(IPH.id, site.result(), Expr::Phi(values), text, found);
        }
    }
}

/// Where the values of a function are known.
struct Scopes<'a> {
    blocks: HashMap<Block<'a>, BlockIndex>,
    dominators: Dominators<NodeIndex>,
}

impl<'a> Scopes<'a> {
    fn of(subject: &Subject<'a>, function: FunctionIndex, inst: Inst<'a>) -> Scopes<'a> {
        let graph = &subject.sites.functions[function].cfg.graph;
        let dominators = dominators::simple_fast(graph, NodeIndex::new(0));
        let blocks = BlockIndex::enumerate(inst.function().blocks()).map(|(b, block)| (block, b)).collect();
        Scopes { blocks, dominators }
    }

    /// Returns whether a value is known at the end of a block.
    fn is_known(&self, value: Value<'a>, block: Block<'a>) -> bool {
        let Some(definition) = value.as_instruction().and_then(Inst::try_block) else { return true };
        let (Some(definition), Some(block)) = (self.blocks.get(&definition), self.blocks.get(&block)) else {
            return false;
        };
        self.dominators.dominators(block.node()).is_some_and(|mut all| all.any(|node| node == definition.node()))
    }
}

fn lanes(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for site in sites(subject, |inst| inst.is(Opcode::LLVMShuffleVector) && is_number(inst.ty())) {
        let Some(mask) = site.inst.shuffle_mask() else { continue };
        for i in 1..mask.len() {
            // A lane that may hold anything is not looked at.
            let (Some(x), Some(y)) = (mask[i - 1], mask[i]) else { continue };
            if x == y {
                continue;
            }
            let (low, high) = (i as u32 - 1, i as u32);
            let lane = |of: u32| Box::new(Expr::Lane(Box::new(Expr::Original), of));
            let once = Expr::WithLane(Box::new(Expr::Original), low, lane(high));
            let by = Expr::WithLane(Box::new(once), high, lane(low));
            site.replace(IVL.id, site.result(), by, format!("shufflevector, lanes {low} and {high} exchanged"), found);
        }
    }
}
