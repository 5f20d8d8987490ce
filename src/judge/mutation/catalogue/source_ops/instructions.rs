//! Reads the instructions of the canonical form into plain data, as far as operators need them.

use std::collections::HashMap;

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::{Place, Predicate};
use kassay_ir::llvm::{DebugLocation, Function, Inst, IntPredicate, Opcode, RealPredicate, TypeKind, Value, View};

use super::super::mutant::same_file;

/// The class of numbers that an operation computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating-point numbers.
    Float,
    /// Pointers.
    Pointer,
}

/// The C type of an operation's operands, as far as the IR and the syntax tree reveal it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ty {
    /// The class of its numbers.
    pub class: Class,
    /// Width of an element; 0 for pointers.
    pub bits: u32,
    /// 1 for scalars.
    pub lanes: u32,
}

/// A constant number; for a vector, the number that all lanes hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant {
    /// Sign-extended from this many bits.
    Integer(i128, u32),
    /// A floating-point number, as a double.
    Float(f64),
    /// The null pointer.
    Null,
}

impl Constant {
    /// Returns whether it is the integer `value`, read as signed or unsigned.
    pub fn is_integer(self, value: i128) -> bool {
        match self {
            Constant::Integer(own, bits) if bits < 128 => {
                let mask = (1i128 << bits) - 1;
                own & mask == value & mask && (value >= -(1i128 << (bits.max(1) - 1))) && value <= mask
            }
            Constant::Null => value == 0,
            _ => false,
        }
    }
}

/// An operand of an instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    /// Another instruction of the function, by its position in [`Code::instructions`].
    Instruction(usize),
    /// A number that is known.
    Constant(Constant),
    /// A parameter, or anything else.
    Other,
}

/// An instruction as plain data.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// Where it is.
    pub place: Place,
    /// What it does.
    pub opcode: Opcode,
    /// Where it comes from; `None` without debug information.
    pub location: Option<DebugLocation>,
    /// Of a comparison.
    pub predicate: Option<Predicate>,
    /// Type of the result; for comparisons and stores, of the first operand. Integers count as signed unless the opcode
    /// or predicate is unsigned.
    pub ty: Option<Ty>,
    /// In order; of a call without the function.
    pub operands: Vec<Operand>,
    /// The name of its result in the module; empty if it has none.
    pub name: String,
    /// The function that a call names.
    pub callee: Option<String>,
    /// Positions of the instructions that use the result.
    pub users: Vec<usize>,
    /// `nsw` of `add`, `sub`, `mul`: clang's mark of signed arithmetic.
    pub no_signed_wrap: bool,
    /// Whether its block is reachable.
    pub is_reachable: bool,
}

/// One function's instructions, in order.
#[derive(Debug)]
pub struct Code {
    /// The function's name.
    pub name: String,
    /// In order of blocks, and in each of its instructions.
    pub instructions: Vec<Instruction>,
    by_spot: HashMap<(u32, u32), Vec<usize>>,
}

/// Reads all functions, in the order of `sites`.
pub fn read(module: View<'_>, sites: &Sites) -> Vec<Code> {
    let functions = FunctionIndex::enumerate(&sites.functions);
    functions
        .map(|(f, own)| {
            let function = module.function(&own.cfg.function);
            let blocks = function.map(Function::blocks).unwrap_or_default();
            let mut handles = Vec::new();
            for (b, block) in BlockIndex::enumerate(blocks) {
                let is_reachable = own.cfg.reachable.get(b.0).copied().unwrap_or(false);
                for (i, inst) in block.instructions().into_iter().enumerate() {
                    handles.push((Place { function: f, block: b, instruction: i }, inst, is_reachable));
                }
            }
            // What a library computes is no operator of the source, though it has the place of the call.
            let is_of_library = |at: Place| {
                let block = own.cfg.blocks.get(at.block.0);
                block.and_then(|block| block.instructions.get(at.instruction)).is_some_and(|own| own.is_of_library)
            };
            function_code(own.cfg.function.clone(), &handles, &is_of_library)
        })
        .collect()
}

fn function_code(name: String, handles: &[(Place, Inst<'_>, bool)], is_of_library: &dyn Fn(Place) -> bool) -> Code {
    let positions: HashMap<Inst<'_>, usize> = handles.iter().enumerate().map(|(i, (_, inst, _))| (*inst, i)).collect();
    let mut instructions: Vec<Instruction> =
        handles.iter().map(|(place, inst, reachable)| instruction(*place, *inst, *reachable, &positions)).collect();
    let mut by_spot: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for i in 0..instructions.len() {
        for operand in instructions[i].operands.clone() {
            if let Operand::Instruction(definition) = operand {
                instructions[definition].users.push(i);
            }
        }
        if let Some(at) = instructions[i].location.as_ref().filter(|at| at.line > 0)
            && instructions[i].is_reachable
            && !is_of_library(instructions[i].place)
        {
            by_spot.entry((at.line, at.column)).or_default().push(i);
        }
    }
    Code { name, instructions, by_spot }
}

impl Code {
    /// Returns the reachable instructions at a line and column.
    pub fn at(&self, file: &str, line: u32, column: u32) -> Vec<usize> {
        let all = self.by_spot.get(&(line, column)).map(Vec::as_slice).unwrap_or_default();
        let is_there = |i: &usize| self.instructions[*i].location.as_ref().is_some_and(|at| same_file(&at.file, file));
        all.iter().copied().filter(is_there).collect()
    }

    /// Returns the position of the instruction at a place.
    pub fn position(&self, place: Place) -> Option<usize> {
        self.instructions.binary_search_by_key(&place, |i| i.place).ok()
    }

    /// Returns the instruction that defines an operand.
    pub fn definition(&self, instruction: usize, operand: usize) -> Option<usize> {
        match self.instructions[instruction].operands.get(operand)? {
            Operand::Instruction(i) => Some(*i),
            _ => None,
        }
    }

    /// Returns the constant that an operand is.
    pub fn constant(&self, instruction: usize, operand: usize) -> Option<Constant> {
        match self.instructions[instruction].operands.get(operand)? {
            Operand::Constant(constant) => Some(*constant),
            _ => None,
        }
    }

    /// Returns whether clang inserted this `and` to keep a shift amount below the width.
    pub fn is_shift_mask(&self, i: usize) -> bool {
        let own = &self.instructions[i];
        let is_shift = |user: &usize| {
            let user = &self.instructions[*user];
            let is_shift = matches!(user.opcode, Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr);
            is_shift && user.operands.get(1) == Some(&Operand::Instruction(i))
        };
        let width = own.ty.map_or(0, |ty| i128::from(ty.bits));
        own.opcode == Opcode::LLVMAnd
            && !own.users.is_empty()
            && own.users.iter().all(is_shift)
            && matches!(self.constant(i, 1), Some(Constant::Integer(mask, _)) if mask == width - 1)
    }
}

fn instruction<'m>(
    place: Place,
    inst: Inst<'m>,
    is_reachable: bool,
    positions: &HashMap<Inst<'m>, usize>,
) -> Instruction {
    let opcode = inst.opcode();
    let predicate = predicate(inst);
    let operands = inst.operands();
    let typed = match opcode {
        Opcode::LLVMICmp | Opcode::LLVMFCmp | Opcode::LLVMStore => operands.first().copied(),
        _ => Some(inst.value()),
    };
    let mut ty = typed.and_then(type_of);
    let is_unsigned = matches!(opcode, Opcode::LLVMUDiv | Opcode::LLVMURem | Opcode::LLVMLShr)
        || matches!(predicate, Some(Predicate::Ult | Predicate::Ule | Predicate::Ugt | Predicate::Uge));
    if let Some(ty) = ty.as_mut().filter(|ty| is_unsigned && ty.class == Class::Signed) {
        ty.class = Class::Unsigned;
    }
    let wraps = matches!(opcode, Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul);
    let operand = |value: Value<'m>| match value.as_instruction().and_then(|i| positions.get(&i)) {
        Some(i) => Operand::Instruction(*i),
        None => constant(value).map_or(Operand::Other, Operand::Constant),
    };
    Instruction {
        place,
        opcode,
        location: inst.location(),
        predicate,
        ty,
        operands: operands.into_iter().map(operand).collect(),
        name: inst.name(),
        callee: inst.callee(),
        users: Vec::new(),
        no_signed_wrap: wraps && inst.has_no_signed_wrap(),
        is_reachable,
    }
}

fn type_of(value: Value<'_>) -> Option<Ty> {
    let scalar = value.ty().scalar();
    let class = match scalar.kind() {
        TypeKind::LLVMIntegerTypeKind => Class::Signed,
        TypeKind::LLVMHalfTypeKind | TypeKind::LLVMFloatTypeKind | TypeKind::LLVMDoubleTypeKind => Class::Float,
        TypeKind::LLVMPointerTypeKind => Class::Pointer,
        _ => return None,
    };
    let bits = scalar.bits().map_or(0, |bits| bits as u32);
    Some(Ty { class, bits, lanes: value.ty().lanes().unwrap_or(1) })
}

/// Returns the number that a constant is, in all its lanes.
fn constant(value: Value<'_>) -> Option<Constant> {
    if let (Some(number), Some(bits)) = (value.as_i64(), value.ty().int_width()) {
        return Some(Constant::Integer(i128::from(number), bits));
    }
    if let Some((number, _)) = value.as_f64() {
        return Some(Constant::Float(number));
    }
    if value.is_null_pointer() {
        return Some(Constant::Null);
    }
    let lanes = value.ty().lanes()?;
    let lane = |i| value.element(i).filter(|lane| !lane.ty().is_vector()).and_then(constant);
    let first = lane(0)?;
    (1..lanes).all(|i| lane(i) == Some(first)).then_some(first)
}

fn predicate(inst: Inst<'_>) -> Option<Predicate> {
    let of_integers = inst.int_predicate().map(|predicate| match predicate {
        IntPredicate::LLVMIntEQ => Predicate::Eq,
        IntPredicate::LLVMIntNE => Predicate::Ne,
        IntPredicate::LLVMIntSLT => Predicate::Slt,
        IntPredicate::LLVMIntSLE => Predicate::Sle,
        IntPredicate::LLVMIntSGT => Predicate::Sgt,
        IntPredicate::LLVMIntSGE => Predicate::Sge,
        IntPredicate::LLVMIntULT => Predicate::Ult,
        IntPredicate::LLVMIntULE => Predicate::Ule,
        IntPredicate::LLVMIntUGT => Predicate::Ugt,
        IntPredicate::LLVMIntUGE => Predicate::Uge,
    });
    let of_floats = || match inst.real_predicate()? {
        RealPredicate::LLVMRealOEQ => Some(Predicate::FOeq),
        RealPredicate::LLVMRealUNE => Some(Predicate::FUne),
        RealPredicate::LLVMRealOLT => Some(Predicate::FOlt),
        RealPredicate::LLVMRealOLE => Some(Predicate::FOle),
        RealPredicate::LLVMRealOGT => Some(Predicate::FOgt),
        RealPredicate::LLVMRealOGE => Some(Predicate::FOge),
        _ => None,
    };
    of_integers.or_else(of_floats)
}
