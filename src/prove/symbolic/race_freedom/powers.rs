//! Values that are powers of two where they are positive: steps that halve or double, as in sorting networks and trees.
//!
//! Two properties are followed through the code, and what remains of both when nothing more can be excluded holds:
//! that at most one bit is set, which operations on bits keep whatever the numbers are; and that a number, read as
//! signed and computed without overflow, is a power of two or not positive.

use std::collections::HashSet;

use kassay_ir::llvm::Opcode;

use crate::program::{Instruction, Kind, Op, Program, ValueId, signed};

/// Which values they are.
pub struct Powers {
    /// At most one of their bits is set.
    single: HashSet<ValueId>,
    /// They are powers of two, or not positive.
    positive: HashSet<ValueId>,
}

impl Powers {
    /// The greatest fixpoint.
    pub fn of(program: &Program) -> Powers {
        let is_int =
            |value: &ValueId| matches!(program.shape(*value).kind, Kind::Int(2..=64)) && program.shape(*value).is_int();
        let of_code = program.instructions().map(|(_, instruction)| instruction.result);
        let all: HashSet<ValueId> = of_code.filter(is_int).collect();
        let mut powers = Powers { single: all.clone(), positive: all };
        loop {
            let before = powers.single.len() + powers.positive.len();
            for (_, instruction) in program.instructions() {
                if powers.single.contains(&instruction.result) && !powers.keeps_single(program, instruction) {
                    powers.single.remove(&instruction.result);
                }
                let result = instruction.result;
                if powers.positive.contains(&result)
                    && !powers.single.contains(&result)
                    && !powers.keeps_positive(program, instruction)
                {
                    powers.positive.remove(&result);
                }
            }
            if powers.single.len() + powers.positive.len() == before {
                return powers;
            }
        }
    }

    /// Whether a value is a power of two wherever it is positive.
    pub fn contains(&self, program: &Program, value: ValueId) -> bool {
        self.is_positive(program, value)
    }

    fn is_single(&self, program: &Program, value: ValueId) -> bool {
        match constant(program, value) {
            Some(bits) => bits.count_ones() <= 1,
            None => self.single.contains(&value),
        }
    }

    fn is_positive(&self, program: &Program, value: ValueId) -> bool {
        match (constant(program, value), program.shape(value).kind) {
            (Some(bits), Kind::Int(width)) => {
                let number = signed(bits, width);
                number <= 0 || number.count_ones() == 1
            }
            _ => self.single.contains(&value) || self.positive.contains(&value),
        }
    }

    fn keeps_single(&self, program: &Program, instruction: &Instruction) -> bool {
        let operands = &instruction.operands;
        let is = |i: usize| operands.get(i).is_some_and(|o| self.is_single(program, *o));
        match &instruction.op {
            Op::Phi(_) => operands.iter().all(|o| self.is_single(program, *o)),
            Op::Select => is(1) && is(2),
            Op::Copy | Op::Cast(Opcode::LLVMZExt | Opcode::LLVMTrunc) => is(0) && program.shape(operands[0]).is_int(),
            Op::Binary(Opcode::LLVMShl | Opcode::LLVMLShr) => is(0),
            Op::Binary(Opcode::LLVMMul | Opcode::LLVMUDiv) => is(0) && is(1),
            Op::Binary(Opcode::LLVMAnd) => is(0) || is(1),
            Op::Binary(Opcode::LLVMAdd) => operands[0] == operands[1] && is(0),
            _ => false,
        }
    }

    fn keeps_positive(&self, program: &Program, instruction: &Instruction) -> bool {
        let operands = &instruction.operands;
        let is = |i: usize| operands.get(i).is_some_and(|o| self.is_positive(program, *o));
        let factor = |i: usize| {
            let constant = operands.get(i).and_then(|o| program.constant(*o));
            constant.is_some_and(|n| n > 0 && n.count_ones() == 1)
        };
        match &instruction.op {
            Op::Phi(_) => operands.iter().all(|o| self.is_positive(program, *o)),
            Op::Select => is(1) && is(2),
            Op::Copy | Op::Cast(Opcode::LLVMSExt) => is(0) && program.shape(operands[0]).is_int(),
            Op::Cast(Opcode::LLVMTrunc) => is(0) && matches!(program.shape(instruction.result).kind, Kind::Int(32..)),
            Op::Binary(Opcode::LLVMShl | Opcode::LLVMAShr) => is(0),
            Op::Binary(Opcode::LLVMSDiv) => is(0) && factor(1),
            Op::Binary(Opcode::LLVMMul) => (is(0) && factor(1)) || (factor(0) && is(1)),
            Op::Binary(Opcode::LLVMAdd) => operands[0] == operands[1] && is(0),
            _ => false,
        }
    }
}

/// The bits of a constant.
fn constant(program: &Program, value: ValueId) -> Option<u64> {
    match &program.values[value as usize] {
        crate::program::Definition::Constant(bits) if !program.undefined.contains(&value) => bits.first().copied(),
        _ => None,
    }
}
