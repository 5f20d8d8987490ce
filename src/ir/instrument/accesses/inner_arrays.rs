//! Checks indices into arrays that lie inside other objects: members of structs, rows of arrays of arrays. In C, an
//! index beyond such an array is undefined even if the access stays within the object, so the bounds of objects do not
//! reveal it. Rows are told apart, because much code means flat access to the array of arrays.

use kassay_model::native::abi::{OF_ROWS, hook};

use super::emit::Emitter;
use crate::llvm::IntPredicate::LLVMIntUGE;
use crate::llvm::{Inst, Opcode, Value};

/// An index and the number of elements of its array.
#[derive(Debug, Clone, Copy)]
pub struct Index<'m> {
    /// The `getelementptr`, and the position of the index among its operands. The index itself may be replaced by what
    /// is woven elsewhere.
    step: Inst<'m>,
    operand: u32,
    length: u64,
    /// Whether it is one of an array of arrays that lies in no struct, as far as the address is computed from indices.
    is_row: bool,
}

impl<'m> Index<'m> {
    fn value(&self) -> Value<'m> {
        self.step.operand(self.operand)
    }

    /// Returns whether it is a constant within its array.
    fn is_within(&self) -> bool {
        self.value().as_u64().is_some_and(|n| n < self.length)
    }
}

/// Returns the indices into inner arrays that an access through `pointer` depends on, as far as the address is computed
/// by a chain of `getelementptr`s and casts. Arrays of at most one element are left out: as last members of structs
/// they stand for arrays of any length.
pub fn indices(pointer: Value<'_>) -> Vec<Index<'_>> {
    let mut all = Vec::new();
    let mut at = pointer;
    while let Some(inst) = at.as_instruction() {
        match inst.opcode() {
            Opcode::LLVMGetElementPtr => {
                let (indices, in_struct) = own_indices(inst);
                // What is nearer to the access lies inside.
                all.iter_mut().for_each(|index: &mut Index<'_>| index.is_row &= !in_struct);
                all.extend(indices);
            }
            Opcode::LLVMAddrSpaceCast => {}
            _ => break,
        }
        at = inst.operand(0);
    }
    all.retain(|index| !index.is_within());
    all
}

/// Returns the indices into inner arrays of one `getelementptr`, and whether it leads into a struct.
fn own_indices(step: Inst<'_>) -> (Vec<Index<'_>>, bool) {
    let mut all = Vec::new();
    let mut in_struct = false;
    let Some(mut ty) = step.value().gep_source() else { return (all, in_struct) };
    // The first index counts objects; the outermost array of a variable is the object itself.
    let mut outermost = is_variable(step.operand(0));
    for operand in 2..step.operand_count() {
        let value = step.operand(operand);
        let next = match ty.is_array() {
            true => ty.elements().map(|(element, length)| {
                if length > 1 && !outermost && value.ty().int_width().is_some_and(|bits| bits <= 64) {
                    all.push(Index { step, operand, length, is_row: !in_struct });
                }
                element
            }),
            false => {
                in_struct = true;
                value.as_u64().and_then(|field| ty.fields().get(field as usize).copied())
            }
        };
        let Some(next) = next else { break };
        ty = next;
        outermost = false;
    }
    (all, in_struct)
}

/// Returns whether the value is a variable of the kernel or of the program.
fn is_variable(value: Value<'_>) -> bool {
    value.as_opcode(Opcode::LLVMAlloca).is_some() || value.as_global().is_some()
}

/// Builds the calls that report an index beyond its array to the simulator before the access `inst`, whose number is
/// `site`.
pub fn weave<'m>(e: &Emitter<'m>, inst: Inst<'m>, site: u32, indices: &[Index<'m>]) {
    for index in indices {
        e.before(inst);
        let wide = e.builder.int_cast(index.value(), e.long, true, "");
        let length = e.const_i64(index.length);
        let beyond = e.compare(LLVMIntUGE, wide, length);
        e.emit_if(inst, beyond, || {
            let length = if index.is_row { e.const_i64(index.length | OF_ROWS) } else { length };
            e.hook(hook::INNER, e.void(), &[e.const_i32(site), wide, length]);
        });
    }
}
