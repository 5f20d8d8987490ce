//! Undoes the vectors that translators of SPIR-V make of ids and sizes.
//!
//! SPIR-V has them as variables with a value for each dimension, so that `get_global_id(0)` comes back as three calls,
//! a vector of their results, and an element of the vector. Here the element's call takes its place; calls that nothing
//! uses go, because the source does not have them. Elements whose index is computed stay.

use std::collections::HashSet;

use super::builtins::{Builtin, Family};
use crate::llvm::{Inst, Opcode, Value, View};

/// Replaces elements of vectors of ids by the calls that yield them, in all functions of a module.
pub fn dissolve(view: View<'_>) {
    let mut vectors = Vec::new();
    for element in view.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMExtractElement)) {
        let operands = element.operands();
        let Some(index) = operands[1].as_u64() else { continue };
        let mut chain = Vec::new();
        if let Some(call) = inserted(operands[0], index, &mut chain).filter(|value| is_query(*value)) {
            vectors.extend(chain);
            element.replace_and_erase(call);
        }
    }
    erase_unused(vectors);
}

/// Finds the value that a chain of insertions puts at an index, and adds the chain's instructions, the last one first.
fn inserted<'m>(vector: Value<'m>, index: u64, chain: &mut Vec<Inst<'m>>) -> Option<Value<'m>> {
    let mut found = None;
    let mut vector = Some(vector);
    while let Some(insertion) = vector.and_then(|v| v.as_opcode(Opcode::LLVMInsertElement)) {
        let operands = insertion.operands();
        chain.push(insertion);
        if found.is_none() && operands[2].as_u64()? == index {
            found = Some(operands[1]);
        }
        vector = Some(operands[0]);
    }
    found
}

/// Returns whether a value is an id or a size of the launch, which can be asked for without effect.
fn is_query(value: Value<'_>) -> bool {
    let callee = value.as_instruction().and_then(Inst::callee);
    let family = callee.and_then(|callee| Builtin::of(&callee)).map(Builtin::family);
    matches!(family, Some(Family::WorkItemId | Family::LaunchQuery))
}

/// Erases the insertions that nothing uses, and the queries that nothing else uses.
fn erase_unused(insertions: Vec<Inst<'_>>) {
    let mut left: HashSet<Inst<'_>> = HashSet::new();
    let each_once: Vec<Inst<'_>> = insertions.into_iter().filter(|insertion| left.insert(*insertion)).collect();
    let mut unused: Vec<Inst<'_>> = each_once.into_iter().filter(|insertion| !insertion.is_used()).collect();
    let mut queries = Vec::new();
    // A vector's last insertion uses the one before it.
    while let Some(insertion) = unused.pop() {
        left.remove(&insertion);
        let operands = insertion.operands();
        queries.extend(operands[1].as_instruction().filter(|call| is_query(call.value())));
        insertion.erase();
        unused.extend(operands[0].as_instruction().filter(|before| left.contains(before) && !before.is_used()));
    }
    let mut seen = HashSet::new();
    for query in queries.into_iter().filter(|query| seen.insert(*query)) {
        if !query.is_used() {
            query.erase();
        }
    }
}
