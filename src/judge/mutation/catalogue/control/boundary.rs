//! Finds the boundary of a loop's condition: the comparison, and its operand that the loop does not change.

use std::collections::HashSet;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::cfg::loops::Loop;
use kassay_ir::instrument::mutants::{Place, Slot};
use kassay_ir::kernel::ast::Node;
use kassay_ir::llvm::{Inst, Opcode, TypeKind, Value};

use super::super::subject::Subject;
use super::effects::{Body, has_effects};
use super::formula::is_not;
use super::short_circuit_decisions;

/// The boundary of a loop.
pub struct Boundary<'a> {
    /// The operand of the comparison.
    pub slot: Slot,
    /// Kind of the operand's type.
    pub kind: TypeKind,
    /// The comparison or truth test in the source, where there is a syntax tree.
    pub leaf: Option<&'a Node>,
}

/// Returns the boundary of a loop's condition, if it has one.
pub fn find<'a>(subject: &Subject<'_>, body: &Body<'_>, l: &Loop, condition: Option<&'a Node>) -> Option<Boundary<'a>> {
    let block = l.condition?;
    let value = *body.inst(body.terminator(block)).operands().first()?;
    let tests = tests(subject, body, condition, value.as_instruction()?);
    let changed = |inst: Inst<'_>, operand: usize| changes(body, l, inst, operand);
    let comparisons: Vec<(Inst<'_>, Option<&Node>)> =
        tests.into_iter().filter_map(|(value, leaf)| Some((comparison(value)?, leaf))).collect();
    let is_moving = |(inst, _): &&(Inst<'_>, Option<&Node>)| changed(*inst, 0) || changed(*inst, 1);
    let (inst, leaf) = comparisons.iter().find(is_moving).or(comparisons.first())?;
    let is_plain = leaf.is_none_or(is_comparison);
    let operand = u32::from(!(is_plain && changed(*inst, 1) && !changed(*inst, 0)));
    let (place, _) = body.instructions().find(|(_, other)| other == inst)?;
    Some(Boundary { slot: Slot::Operand(place, operand), kind: inst.operand(operand).ty().kind(), leaf: *leaf })
}

/// Returns the values that a condition tests, one for each operand of a short-circuit, with their expressions in
/// the source.
fn tests<'a, 'm>(
    subject: &Subject<'_>,
    body: &Body<'m>,
    condition: Option<&'a Node>,
    value: Inst<'m>,
) -> Vec<(Inst<'m>, Option<&'a Node>)> {
    let value = without_negations(value);
    if value.opcode() != Opcode::LLVMPHI {
        return vec![(value, condition.map(stripped))];
    }
    let places: Option<Place> = body.instructions().find(|(_, inst)| *inst == value).map(|(place, _)| place);
    let Some(phi) = places.map(|place| (place.block, place.instruction)) else { return Vec::new() };
    let last = incoming_value(value);
    let tested = |block: BlockIndex| body.inst(body.terminator(block)).operands().first()?.as_instruction();
    let of_blocks = |leaves: &[Vec<BlockIndex>]| -> Vec<Option<Inst<'m>>> {
        let mut all: Vec<Option<Inst<'m>>> =
            leaves.iter().map(|blocks| blocks.first().copied().and_then(tested).map(without_negations)).collect();
        if let Some(end) = all.last_mut().filter(|_| leaves.last().is_some_and(Vec::is_empty)) {
            *end = last.map(without_negations);
        }
        all
    };
    let mut found = Vec::new();
    if let (Some(ast), Some(condition)) = (subject.ast, condition) {
        for decision in short_circuit_decisions::find(body, ast, subject.sources) {
            let Some(circuit) = decision.circuit.as_ref().filter(|c| c.phi == Some(phi)) else { continue };
            let nodes = corresponding(stripped(condition), &decision.written.leaves);
            let insts = of_blocks(&circuit.leaves);
            for (i, inst) in insts.into_iter().enumerate() {
                found.extend(inst.map(|inst| (inst, nodes.get(i).copied().flatten())));
            }
        }
    }
    if found.is_empty() {
        let candidates = super::short_circuits::UnmatchedCircuits::of(&body.sites.cfg, &body.sites.dominance);
        for circuit in candidates.rest().into_iter().filter(|c| c.phi == Some(phi)) {
            found.extend(of_blocks(&circuit.leaves).into_iter().flatten().map(|inst| (inst, None)));
        }
    }
    // The last operand may be a short-circuit itself.
    let nested = found.iter().position(|(inst, _)| inst.opcode() == Opcode::LLVMPHI);
    if let Some(i) = nested {
        let (inst, leaf) = found.remove(i);
        if inst != value {
            found.extend(tests(subject, body, leaf, inst));
        }
    }
    found
}

/// Returns the nodes below `condition` that `leaves` are.
fn corresponding<'a>(condition: &'a Node, leaves: &[&Node]) -> Vec<Option<&'a Node>> {
    fn same<'a>(node: &'a Node, leaf: &Node) -> Option<&'a Node> {
        if std::ptr::eq(node, leaf) {
            return Some(node);
        }
        node.children.iter().find_map(|child| same(child, leaf))
    }
    leaves.iter().map(|leaf| same(condition, leaf).map(stripped)).collect()
}

/// Returns the incoming value of a short-circuit's `phi` that is not constant.
fn incoming_value(phi: Inst<'_>) -> Option<Inst<'_>> {
    phi.incoming().into_iter().find_map(|(value, _)| value.as_instruction())
}

/// Strips negations and zero-extensions of a truth value.
fn without_negations(mut value: Inst<'_>) -> Inst<'_> {
    loop {
        let inner = match value.opcode() {
            Opcode::LLVMXor | Opcode::LLVMZExt if value.operand(0).ty().is_bool() => value.operand(0).as_instruction(),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => return value,
        }
    }
}

fn comparison(value: Inst<'_>) -> Option<Inst<'_>> {
    matches!(value.opcode(), Opcode::LLVMICmp | Opcode::LLVMFCmp).then_some(value)
}

/// Returns whether the loop changes anything that an operand is computed from: a variable that it stores to, other
/// memory, or the result of a call with effects.
fn changes(body: &Body<'_>, l: &Loop, inst: Inst<'_>, operand: usize) -> bool {
    let stored: Vec<Value<'_>> = l
        .blocks
        .iter()
        .flat_map(|b| &body.blocks[*b])
        .filter(|inst| inst.opcode() == Opcode::LLVMStore)
        .map(|inst| inst.operand(1))
        .collect();
    let mut work: Vec<_> = inst.operands().get(operand).copied().into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(value) = work.pop() {
        let Some(inst) = value.as_instruction().filter(|inst| seen.insert(*inst)) else { continue };
        match inst.opcode() {
            Opcode::LLVMLoad => {
                let address = inst.operand(0);
                let root = address.as_instruction();
                if stored.contains(&address) || root.is_some_and(|r| !r.is(Opcode::LLVMAlloca)) {
                    return true;
                }
            }
            Opcode::LLVMCall if has_effects(inst) => return true,
            _ => work.extend(inst.operands()),
        }
    }
    false
}

/// Strips parentheses, implicit casts and `!`.
fn stripped(mut node: &Node) -> &Node {
    loop {
        node = node.without_parentheses();
        match node.children.first() {
            Some(inner) if is_not(node) => node = inner,
            _ => return node,
        }
    }
}

fn is_comparison(node: &Node) -> bool {
    node.is("BinaryOperator") && matches!(node.opcode.as_deref(), Some("<" | ">" | "<=" | ">=" | "==" | "!="))
}

/// Returns the source operand of a comparison that a slot corresponds to; `None` for a truth test.
pub fn side(leaf: &Node, slot: Slot) -> Option<&Node> {
    let Slot::Operand(_, operand) = slot else { return None };
    is_comparison(leaf).then(|| leaf.children.get(operand as usize)).flatten()
}
