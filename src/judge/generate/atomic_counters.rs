//! Recognises atomic counters that hand out slots: `slots[atomic_inc(&count)] = x`. Launches begin with counters that
//! are not negative, and with no more work-items per group than there are slots in local memory, unless the kernel
//! checks for that.

use kassay_ir::kernel::builtins::{self, Operation};
use kassay_ir::llvm::AtomicRmwOperation::LLVMAtomicRMWBinOpAdd;
use kassay_prove::program::{Definition, End, Instruction, Op, Program, Region, ValueId};

use super::access_summary::{AccessKind, AccessSummary};
use super::polynomial::Atom;

/// Returns whether an instruction increments atomically and its result is used.
fn claims_slot(program: &Program, instruction: &Instruction) -> bool {
    let counts = match &instruction.op {
        Op::AtomicRmw(operation) => *operation == LLVMAtomicRMWBinOpAdd,
        Op::Call(_, base) => matches!(builtins::operation(base), Some(Operation::Add | Operation::Inc)),
        _ => false,
    };
    let value = instruction.result;
    counts
        && (program.instructions().any(|(_, other)| other.operands.contains(&value))
            || program.blocks.iter().any(|block| match &block.end {
                End::Branch { condition, .. } => *condition == value,
                End::Switch { value: by, .. } => *by == value,
                _ => false,
            }))
}

/// Returns whether the buffer at `position` holds such counters.
pub fn is_counter(summary: &AccessSummary<'_>, position: u32) -> bool {
    let here =
        summary.accesses.iter().filter(|a| a.kind == AccessKind::Atomic && a.region == Region::Argument(position));
    here.filter_map(|a| summary.program.instruction(a.id)).any(|i| claims_slot(summary.program, i))
}

/// Returns the number of elements of the smallest static local array in which such counters allocate without a check.
pub fn smallest_slot_array(summary: &AccessSummary<'_>) -> Option<u64> {
    let program = summary.program;
    let mut least: Option<u64> = None;
    for (block, instruction) in program.instructions() {
        let Op::Address { steps, .. } = &instruction.op else { continue };
        if !is_local(program, instruction.result) {
            continue;
        }
        for step in steps {
            let (Some(extent), index) = (step.extent, instruction.operands[step.operand]) else { continue };
            let sources = summary.sources(index);
            let mut claimed =
                sources.iter().filter(|v| program.instruction(**v).is_some_and(|i| claims_slot(program, i)));
            let is_checked = |value: ValueId| {
                let mut facts = summary.facts.blocks[block].iter();
                facts.any(|f| {
                    f.rhs.as_constant().is_some()
                        && (f.lhs.has(Atom::Value(value)) || f.lhs == summary.symbols.poly(index))
                })
            };
            if claimed.any(|value| !is_checked(*value)) {
                least = Some(least.map_or(extent, |n| n.min(extent)).max(1));
            }
        }
    }
    least
}

/// Returns whether a pointer leads to a static local variable.
pub fn is_local(program: &Program, pointer: ValueId) -> bool {
    let mut at = pointer;
    loop {
        match &program.values[at as usize] {
            Definition::Variable(index, _) => return program.variables[*index].is_local,
            Definition::Inst { .. } => match program.instruction(at).map(|i| (&i.op, &i.operands)) {
                Some((Op::Address { .. } | Op::Cast(_), operands)) => at = operands[0],
                _ => return false,
            },
            _ => return false,
        }
    }
}
