//! Guesses from the uses of an argument what the module does not record of its type: the element type of a pointer, and
//! whether integers are unsigned.
//!
//! Not for what a module or a user says: guesses give way to both.

use std::collections::HashSet;

use kassay_model::interface::{Scalar, Type};

use super::builtins::{Spelt, demangle, spelt};
use super::ir_types::from_ir;
use crate::llvm::{self, DataLayout, Inst, IntPredicate, Opcode, Value};

/// The element type on which the uses of a pointer agree: the types that are loaded, stored, indexed and passed to
/// builtins. Vectors and their scalar count as that scalar, because kernels convert pointers to access several elements
/// at once.
pub(super) fn element<'m>(pointer: Value<'m>, layout: DataLayout<'m>) -> Option<Type> {
    let uses = pointer_uses(pointer, layout);
    let first = uses.types.first()?;
    let agreed = match uses.types.iter().all(|other| other == first) {
        true => first.clone(),
        false => {
            let lane = |ty: &Type| match ty {
                Type::Scalar(scalar) | Type::Vector(scalar, _) => Some(*scalar),
                Type::Array(..) | Type::Struct(_) | Type::Pointer { .. } | Type::Opaque { .. } => None,
            };
            let scalar = lane(first)?;
            uses.types.iter().all(|other| lane(other) == Some(scalar)).then_some(Type::Scalar(scalar))?
        }
    };
    Some(if uses.votes.are_for_unsigned() { unsigned(agreed) } else { agreed })
}

/// Makes an integer type, or a vector of integers, unsigned if that is how the elements that a pointer points to are
/// used.
pub(super) fn with_sign_of_elements<'m>(ty: Type, pointer: Value<'m>, layout: DataLayout<'m>) -> Type {
    if pointer_uses(pointer, layout).votes.are_for_unsigned() { unsigned(ty) } else { ty }
}

/// Makes an integer type, or a vector of integers, unsigned if that is how the value is used.
pub(super) fn with_sign_of(ty: Type, value: Value<'_>) -> Type {
    let mut votes = Votes::default();
    votes.count(value);
    if votes.are_for_unsigned() { unsigned(ty) } else { ty }
}

fn unsigned(ty: Type) -> Type {
    match ty {
        Type::Scalar(scalar) => Type::Scalar(scalar.unsigned()),
        Type::Vector(scalar, lanes) => Type::Vector(scalar.unsigned(), lanes),
        Type::Array(..) | Type::Struct(_) | Type::Pointer { .. } | Type::Opaque { .. } => ty,
    }
}

/// What the uses of a pointer show.
#[derive(Default)]
struct PointerUses {
    /// Integers are signed here.
    types: Vec<Type>,
    votes: Votes,
}

fn pointer_uses<'m>(pointer: Value<'m>, layout: DataLayout<'m>) -> PointerUses {
    let mut found = PointerUses::default();
    let mut seen = HashSet::new();
    let mut worklist = vec![pointer];
    while let Some(value) = worklist.pop() {
        if !seen.insert(value) {
            continue;
        }
        for user in value.uses().into_iter().filter_map(Value::as_instruction) {
            let accessed = match user.opcode() {
                Opcode::LLVMGetElementPtr if user.operand(0) == value => {
                    let element = user.value().gep_source();
                    // A step in bytes says nothing about the element type.
                    let is_byte = element.and_then(llvm::Type::int_width) == Some(8);
                    if is_byte || user.operand_count() == 2 {
                        worklist.push(user.value());
                    }
                    element.filter(|_| !is_byte)
                }
                Opcode::LLVMLoad => {
                    found.votes.count(user.value());
                    Some(user.ty())
                }
                Opcode::LLVMStore if user.operand(1) == value => {
                    found.votes.count_origin(user.operand(0));
                    Some(user.operand(0).ty())
                }
                Opcode::LLVMStore => {
                    // The pointer itself is stored in a variable.
                    worklist.extend(loads_of(user.operand(1)));
                    None
                }
                Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast | Opcode::LLVMPHI | Opcode::LLVMSelect => {
                    worklist.push(user.value());
                    None
                }
                Opcode::LLVMCall => {
                    worklist.extend(parameters_for(user, value));
                    for spelt in spelt_for(user, value).into_iter().filter(|spelt| spelt.pointer) {
                        found.types.extend(type_of(spelt));
                        found.votes.direct.unsigned += u32::from(is_unsigned(spelt));
                    }
                    None
                }
                _ => None,
            };
            found.types.extend(accessed.and_then(|ty| from_ir(ty, layout)));
        }
    }
    found
}

/// The instructions that load from the variable that `slot` points to.
fn loads_of(slot: Value<'_>) -> Vec<Value<'_>> {
    let users = variable_and_casts(slot).into_iter().flat_map(Value::uses);
    users.filter(|load| load.as_opcode(Opcode::LLVMLoad).is_some()).collect()
}

/// The variable that a pointer is a cast of, and all casts of it.
fn variable_and_casts(slot: Value<'_>) -> Vec<Value<'_>> {
    let mut root = slot;
    while let Some(cast) = root.as_opcode(Opcode::LLVMBitCast) {
        root = cast.operand(0);
    }
    let mut all = vec![root];
    all.extend(root.uses().into_iter().filter(|user| user.as_opcode(Opcode::LLVMBitCast).is_some()));
    all
}

/// The parameters for which a call of a function with a body passes `value`.
fn parameters_for<'m>(call: Inst<'m>, value: Value<'m>) -> Vec<Value<'m>> {
    let callee = call.called_function().filter(|callee| !callee.is_declaration());
    let params = callee.map(llvm::Function::params).unwrap_or_default();
    params.into_iter().zip(call.args()).filter(|(_, arg)| *arg == value).map(|(param, _)| param).collect()
}

/// The types, as the mangled name of a builtin spells them, of the parameters for which a call passes `value`.
fn spelt_for<'m>(call: Inst<'m>, value: Value<'m>) -> Vec<Spelt> {
    let callee = call.called_function().filter(|callee| callee.is_declaration()).map(llvm::Function::name);
    let Some((_, params)) = callee.as_deref().and_then(demangle) else { return Vec::new() };
    let spelt = spelt(params).into_iter().zip(call.args());
    spelt.filter(|(_, arg)| *arg == value).filter_map(|(spelt, _)| spelt).collect()
}

/// The type of a spelt parameter; signed for integers, as those of the IR are read.
fn type_of(spelt: Spelt) -> Option<Type> {
    let scalar = match spelt.lane {
        'c' | 'a' | 'h' | 'b' => Scalar::I8,
        's' | 't' => Scalar::I16,
        'i' | 'j' => Scalar::I32,
        'l' | 'm' | 'x' | 'y' => Scalar::I64,
        'D' => Scalar::F16,
        'f' => Scalar::F32,
        'd' => Scalar::F64,
        _ => return None,
    };
    match u32::try_from(spelt.lanes).ok()? {
        1 => Some(Type::Scalar(scalar)),
        lanes => Some(Type::Vector(scalar, lanes)),
    }
}

/// Whether a spelt type is an unsigned integer. Translators of SPIR-V spell all others as signed, so that only this
/// says anything.
fn is_unsigned(spelt: Spelt) -> bool {
    matches!(spelt.lane, 'h' | 't' | 'j' | 'm' | 'y')
}

/// Uses of a value that differ between signed and unsigned integers.
#[derive(Default)]
struct Votes {
    /// Of the value itself, also after it was stored in a variable or passed to a function.
    direct: Tally,
    /// Of what is computed from it.
    indirect: Tally,
}

#[derive(Default)]
struct Tally {
    signed: u32,
    unsigned: u32,
}

impl Votes {
    fn are_for_unsigned(&self) -> bool {
        let Tally { signed, unsigned } = match self.direct {
            Tally { signed: 0, unsigned: 0 } => &self.indirect,
            _ => &self.direct,
        };
        unsigned > signed
    }

    /// Adds how a value that is stored was computed.
    fn count_origin(&mut self, value: Value<'_>) {
        match value.as_instruction().map(Inst::opcode) {
            Some(Opcode::LLVMUDiv | Opcode::LLVMURem | Opcode::LLVMLShr | Opcode::LLVMZExt | Opcode::LLVMFPToUI) => {
                self.indirect.unsigned += 1
            }
            Some(Opcode::LLVMSDiv | Opcode::LLVMSRem | Opcode::LLVMAShr | Opcode::LLVMSExt | Opcode::LLVMFPToSI) => {
                self.indirect.signed += 1
            }
            _ => {}
        }
    }

    /// Adds the uses of a value.
    fn count(&mut self, value: Value<'_>) {
        let mut seen = HashSet::new();
        let mut worklist = vec![(value, true)];
        while let Some((value, is_direct)) = worklist.pop() {
            if !seen.insert(value) {
                continue;
            }
            for user in value.uses().into_iter().filter_map(Value::as_instruction) {
                let tally = if is_direct { &mut self.direct } else { &mut self.indirect };
                match user.opcode() {
                    Opcode::LLVMICmp => match user.int_predicate() {
                        Some(predicate) if is_unsigned_order(predicate) => tally.unsigned += 1,
                        Some(IntPredicate::LLVMIntEQ | IntPredicate::LLVMIntNE) | None => {}
                        Some(_) => tally.signed += 1,
                    },
                    Opcode::LLVMUDiv | Opcode::LLVMURem | Opcode::LLVMUIToFP | Opcode::LLVMZExt => tally.unsigned += 1,
                    Opcode::LLVMSDiv | Opcode::LLVMSRem | Opcode::LLVMSIToFP | Opcode::LLVMSExt => tally.signed += 1,
                    Opcode::LLVMLShr if user.operand(0) == value => tally.unsigned += 1,
                    Opcode::LLVMAShr if user.operand(0) == value => tally.signed += 1,
                    Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul => {
                        // C defines what unsigned integers do on overflow.
                        tally.signed += u32::from(user.has_no_signed_wrap());
                        worklist.push((user.value(), false));
                    }
                    Opcode::LLVMAnd | Opcode::LLVMOr | Opcode::LLVMXor => worklist.push((user.value(), false)),
                    Opcode::LLVMShl if user.operand(0) == value => worklist.push((user.value(), false)),
                    Opcode::LLVMPHI
                    | Opcode::LLVMSelect
                    | Opcode::LLVMFreeze
                    | Opcode::LLVMExtractElement
                    | Opcode::LLVMInsertElement
                    | Opcode::LLVMShuffleVector => worklist.push((user.value(), is_direct)),
                    Opcode::LLVMStore if user.operand(0) == value => {
                        let is_variable = |slot: &Value<'_>| slot.as_opcode(Opcode::LLVMAlloca).is_some();
                        if variable_and_casts(user.operand(1)).first().is_some_and(is_variable) {
                            worklist.extend(loads_of(user.operand(1)).into_iter().map(|load| (load, is_direct)));
                        }
                    }
                    Opcode::LLVMCall => {
                        let spelt = spelt_for(user, value);
                        tally.unsigned += spelt.into_iter().filter(|spelt| is_unsigned(*spelt)).count() as u32;
                        worklist.extend(parameters_for(user, value).into_iter().map(|param| (param, is_direct)));
                    }
                    _ => {}
                }
            }
        }
    }
}

fn is_unsigned_order(predicate: IntPredicate) -> bool {
    use IntPredicate::*;
    matches!(predicate, LLVMIntUGT | LLVMIntUGE | LLVMIntULT | LLVMIntULE)
}

#[cfg(test)]
mod tests {
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;
    use crate::llvm::{Context, View};

    const TEXT: &str = "
        declare i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1))
        declare i32 @_Z10atomic_addPU3AS1Vii(ptr addrspace(1), i32)
        declare void @_Z11vstore_halffmPU3AS1Dh(float, i64, ptr addrspace(1))
        define void @helper(ptr addrspace(1) %p, i32 %n) {
          %slot = alloca i32
          store i32 %n, ptr %slot
          %v = load i32, ptr %slot
          %c = icmp ult i32 7, %v
          %e = getelementptr i32, ptr addrspace(1) %p, i64 3
          %b = call i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1) %e)
          ret void
        }
        define void @k(ptr addrspace(1) %counts, i32 %limit, ptr addrspace(1) %halves, ptr addrspace(1) %bytes,
                       i32 %both, ptr addrspace(1) %mixed, ptr addrspace(1) %wide, i32 %plain) {
          %slot = alloca ptr addrspace(1)
          store ptr addrspace(1) %counts, ptr %slot
          %p = load ptr addrspace(1), ptr %slot
          call void @helper(ptr addrspace(1) %p, i32 %limit)
          call void @_Z11vstore_halffmPU3AS1Dh(float 1.0, i64 0, ptr addrspace(1) %halves)
          %byte = load i8, ptr addrspace(1) %bytes
          %promoted = zext i8 %byte to i32
          %q = sdiv i32 %both, 3
          %r = srem i32 %both, 3
          %s = udiv i32 %both, 3
          %x = load float, ptr addrspace(1) %mixed
          %y = load i32, ptr addrspace(1) %mixed
          %z = load <4 x float>, ptr addrspace(1) %wide
          %f = getelementptr float, ptr addrspace(1) %wide, i64 5
          %sum = add i32 %plain, 1
          %old = call i32 @_Z10atomic_addPU3AS1Vii(ptr addrspace(1) %p, i32 %sum)
          ret void
        }";

    #[test]
    fn uses_tell_elements_and_signedness_through_variables_helpers_and_builtins() {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(TEXT.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        let view = View::of(&module);
        let kernel = view.function("k").unwrap();
        let param = |i: u32| kernel.param(i).unwrap();
        let element = |i: u32| element(param(i), view.layout());
        let sign = |i: u32| with_sign_of(Type::Scalar(Scalar::I32), param(i));
        assert_eq!(element(0), Some(Type::Scalar(Scalar::U32)));
        assert_eq!(sign(1), Type::Scalar(Scalar::U32));
        assert_eq!(element(2), Some(Type::Scalar(Scalar::F16)));
        assert_eq!(element(3), Some(Type::Scalar(Scalar::U8)));
        assert_eq!(sign(4), Type::Scalar(Scalar::I32));
        assert_eq!(element(5), None);
        assert_eq!(element(6), Some(Type::Scalar(Scalar::F32)));
        assert_eq!(sign(7), Type::Scalar(Scalar::I32));
    }
}
