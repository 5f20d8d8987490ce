//! Recognises atomic counters that hand out slots: `slots[atomic_inc(&count)] = x`. Launches begin with counters that
//! are not negative, and with no more work-items per group than there are slots in local memory, unless the kernel
//! checks for that.

use llvm_sys::LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd;

use super::access_summary::{Reading, Way};
use super::polynomial::Atom;
use crate::kernel::builtins::{self, Operation};
use crate::program::{Definition, End, Instruction, Op, Program, Region, ValueId};

/// Whether an instruction increments atomically and its result is used.
fn claims(program: &Program, instruction: &Instruction) -> bool {
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

/// Whether the buffer at `position` holds such counters.
pub fn is_counter(reading: &Reading<'_>, position: u32) -> bool {
    let here = reading.accesses.iter().filter(|a| a.way == Way::Atomic && a.region == Region::Argument(position));
    here.filter_map(|a| reading.program.instruction(a.id)).any(|i| claims(reading.program, i))
}

/// Number of elements of the smallest static local array in which such counters allocate without a check.
pub fn places(reading: &Reading<'_>) -> Option<u64> {
    let program = reading.program;
    let mut least: Option<u64> = None;
    for (block, instruction) in program.instructions() {
        let Op::Address { steps, .. } = &instruction.op else { continue };
        if !is_local(program, instruction.result) {
            continue;
        }
        for step in steps {
            let (Some(extent), index) = (step.extent, instruction.operands[step.operand]) else { continue };
            let sources = reading.sources(index);
            let mut claimed = sources.iter().filter(|v| program.instruction(**v).is_some_and(|i| claims(program, i)));
            let is_checked = |value: ValueId| {
                let mut facts = reading.facts.blocks[block].iter();
                facts.any(|f| {
                    f.than.as_constant().is_some()
                        && (f.less.has(Atom::Value(value)) || f.less == reading.symbols.poly(index))
                })
            };
            if claimed.any(|value| !is_checked(*value)) {
                least = Some(least.map_or(extent, |n| n.min(extent)).max(1));
            }
        }
    }
    least
}

/// Whether a pointer leads to a static local variable.
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
