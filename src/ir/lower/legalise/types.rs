//! Which types SPIR-V has for kernels, and what the others are made of.

use crate::llvm::{DataLayout, Type};

/// Lengths of vectors (SPIR-V 1.2, 2.16.1, with the capability Vector16).
const LENGTHS: [u32; 5] = [2, 3, 4, 8, 16];

/// Structs and arrays with more parts are left alone.
const MOST_PARTS: u64 = 1 << 12;

/// Returns whether instructions can have operands and results of the type.
pub fn is_legal(ty: Type<'_>) -> bool {
    if let Some(bits) = ty.int_width() {
        return matches!(bits, 1 | 8 | 16 | 32 | 64);
    }
    if ty.is_floating_point() && ty.bits().is_some_and(|bits| bits > 64) {
        return false;
    }
    match ty.lanes() {
        Some(lanes) => LENGTHS.contains(&lanes) && !ty.scalar().is_pointer() && is_legal(ty.scalar()),
        None => !ty.is_struct() && !ty.is_array(),
    }
}

/// Returns whether a variable can have the type, and a pointer step through it. Booleans have no bits in memory.
pub fn is_legal_in_memory(ty: Type<'_>) -> bool {
    if ty.is_struct() {
        return ty.fields().into_iter().all(is_legal_in_memory);
    }
    if ty.is_array() {
        return ty.elements().is_none_or(|(element, _)| is_legal_in_memory(element));
    }
    is_legal(ty) && !ty.scalar().is_bool()
}

/// A scalar that a value consists of.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'m> {
    pub ty: Type<'m>,
    /// Where it is in memory, in bits from the beginning of the value.
    pub offset: u64,
}

/// Returns the scalars that a value of the type consists of, in order; `None` if there are too many, or it has none.
pub fn leaves<'m>(ty: Type<'m>, layout: DataLayout<'m>) -> Option<Vec<Leaf<'m>>> {
    let mut all = Vec::new();
    collect(ty, 0, layout, &mut all)?;
    Some(all)
}

fn collect<'m>(ty: Type<'m>, offset: u64, layout: DataLayout<'m>, all: &mut Vec<Leaf<'m>>) -> Option<()> {
    if all.len() as u64 > MOST_PARTS {
        return None;
    }
    if ty.is_struct() {
        for (field, of) in ty.fields().into_iter().enumerate() {
            collect(of, offset + 8 * layout.field_offset(ty, field as u32), layout, all)?;
        }
        return Some(());
    }
    if ty.is_array() || ty.is_vector() {
        let (element, count) = ty.elements()?;
        // Elements of arrays are aligned, lanes of vectors are not.
        let step = match (ty.is_array(), element.bits()) {
            (true, _) => 8 * layout.element_size(element)?,
            (false, Some(bits)) => bits,
            (false, None) => 8 * layout.element_size(element)?,
        };
        (count <= MOST_PARTS).then_some(())?;
        return (0..count).try_for_each(|n| collect(element, offset + n * step, layout, all));
    }
    all.push(Leaf { ty, offset });
    Some(())
}
