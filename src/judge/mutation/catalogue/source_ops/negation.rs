//! Handles a `!` for which clang emits no instruction: in a condition it exchanges the targets of a branch instead.

use kassay_ir::cfg::graph::Terminator;
use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::instrument::mutants::{EdgeChange, Place, Slot};
use kassay_ir::kernel::ast::Node;
use kassay_ir::llvm::Opcode;

use super::context::Context;
use super::operation::Implementation;
use super::syntax;

const NO_BRANCH: &str = "no branch of its own is found for this `!`";

/// Returns what deleting the `!` `node` changes.
///
/// # Errors
/// The reason, if nothing can be changed.
pub fn find<'a>(context: &Context<'a, '_>, node: &Node) -> Result<Implementation<'a>, &'static str> {
    let operand = node.children.first().map(Node::without_parentheses).ok_or(NO_BRANCH)?;
    if operand.is_short_circuit() {
        return exchanged_edges(context, operand).map(Implementation::Edges);
    }
    truth_slots(context, operand).map(Implementation::Truth)
}

/// Returns the branch conditions that are the truth value of `operand`.
fn truth_slots(context: &Context<'_, '_>, operand: &Node) -> Result<Vec<Slot>, &'static str> {
    if operand.is("UnaryOperator") && operand.opcode.as_deref() == Some("!") {
        return operand
            .children
            .first()
            .map(Node::without_parentheses)
            .map_or(Err(NO_BRANCH), |inner| truth_slots(context, inner));
    }
    if operand.is("ConditionalOperator")
        && let [_, yes, no] = &operand.children[..]
    {
        let mut slots = truth_slots(context, yes.without_parentheses())?;
        slots.extend(truth_slots(context, no.without_parentheses())?);
        return Ok(slots);
    }
    let branches = branches_within(context, operand);
    match &branches[..] {
        [one] => Ok(vec![Slot::Operand(terminator(context, *one), 0)]),
        _ => Err(NO_BRANCH),
    }
}

/// Returns the edge changes that invert the decision of a short-circuit operand.
fn exchanged_edges(context: &Context<'_, '_>, operand: &Node) -> Result<Vec<EdgeChange>, &'static str> {
    let branches = branches_within(context, operand);
    let cfg = &context.sites.cfg;
    let mut exits: Vec<BlockIndex> = branches.iter().flat_map(|b| cfg.successors(*b)).collect();
    exits.retain(|exit| !branches.contains(exit));
    exits.sort_unstable();
    exits.dedup();
    let [yes, no] = exits[..] else { return Err(NO_BRANCH) };
    let has_phi = |block: BlockIndex| {
        let mut own = context.code.instructions.iter().filter(|i| i.place.block == block);
        own.any(|i| i.opcode == Opcode::LLVMPHI)
    };
    if has_phi(yes) || has_phi(no) {
        return Err("the ways of its operands are values, not branches");
    }
    let edges = branches.iter().flat_map(|b| cfg.edges_out(*b));
    let changed = edges.filter_map(|edge| {
        let to = match cfg.target(edge) {
            target if target == yes => no,
            target if target == no => yes,
            _ => return None,
        };
        Some(EdgeChange { function: context.index, block: edge.block, successor: edge.successor, to, phi: None })
    });
    Ok(changed.collect())
}

/// Returns the blocks that branch on a value computed within `node`.
fn branches_within(context: &Context<'_, '_>, node: &Node) -> Vec<BlockIndex> {
    let Some(extent) = syntax::extent(context.function, node) else { return Vec::new() };
    let code = context.code;
    let branches = code.instructions.iter().enumerate().filter(|(_, i)| i.is_reachable);
    let is_branch = |block: BlockIndex| context.sites.cfg.blocks[block].terminator == Terminator::Branch;
    branches
        .filter(|(_, inst)| inst.opcode == Opcode::LLVMBr && is_branch(inst.place.block))
        .filter(|(i, _)| {
            let condition = code.definition(*i, 0).map(|d| &code.instructions[d]);
            condition
                .filter(|c| c.opcode != Opcode::LLVMPHI)
                .and_then(|c| c.location.as_ref())
                .is_some_and(|at| extent.contains(at))
        })
        .map(|(_, inst)| inst.place.block)
        .collect()
}

fn terminator(context: &Context<'_, '_>, block: BlockIndex) -> Place {
    let last = context.sites.cfg.blocks[block].instructions.len().saturating_sub(1);
    Place { function: context.index, block, instruction: last }
}
