//! Variables of the program whose types SPIR-V lacks: they become bytes, as LLVM lays them out.

use kassay_base::error::{Error, Result};

use super::types::{self, is_legal_in_memory};
use crate::llvm::{Builder, DataLayout, Global, Value, View};

/// Rewrites all of these in a module.
///
/// # Errors
/// `Caller` if a variable holds what has no bytes, such as a pointer.
pub fn rewrite(view: View<'_>) -> Result<()> {
    for variable in view.globals() {
        if !is_legal_in_memory(variable.value_type()) {
            as_bytes(view, variable)?;
        }
    }
    Ok(())
}

fn as_bytes<'m>(view: View<'m>, variable: Global<'m>) -> Result<()> {
    let refused = || {
        Error::caller(format!("the variable `{}` has a type that no device has", variable.name()))
            .details(variable.value_type().text())
            .help("use integers of 8, 16, 32 or 64 bits")
    };
    let (ty, layout) = (variable.value_type(), view.layout());
    let size = layout.element_size(ty).ok_or_else(refused)?;
    let bytes = match variable.initializer() {
        Some(value) if value.is_undef() || value.is_poison() => Ok(None),
        Some(value) => {
            let builder = view.builder();
            // It only folds constants, but has to stand somewhere.
            let somewhere = view.functions().into_iter().find(|f| f.has_body());
            builder.before(somewhere.ok_or_else(refused)?.entry().terminator());
            bytes_of(&builder, value, size, layout).map(Some).ok_or_else(refused)
        }
        None => Ok(None),
    }?;
    // LLVM's constants of bytes end with a zero.
    let array = view.types().int(8).array(size + 1);
    let space = variable.ty().space().ok_or_else(refused)?;
    let name = variable.name();
    variable.set_name("");
    let new = view.add_global(&name, array, space);
    match (bytes, variable.initializer()) {
        (Some(bytes), _) => new.set_initializer(view.types().text(&bytes)),
        (None, Some(_)) => new.set_initializer(array.undef()),
        (None, None) => {}
    }
    new.set_linkage(variable.linkage());
    new.set_alignment(variable.value().alignment().unwrap_or(0).max(layout.alignment(ty)));
    new.set_constant(variable.is_constant());
    // SAFETY: both are pointers to the same address space, and no handle of what is made of the variable is kept.
    unsafe {
        variable.value().replace_constant(new);
        variable.delete();
    }
    Ok(())
}

/// Returns the bytes of a constant.
fn bytes_of<'m>(builder: &Builder<'m>, value: Value<'m>, size: u64, layout: DataLayout<'m>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    put(builder, value, 0, layout, &mut bytes)?;
    Some(bytes)
}

fn put<'m>(
    builder: &Builder<'m>,
    value: Value<'m>,
    offset: u64,
    layout: DataLayout<'m>,
    bytes: &mut [u8],
) -> Option<()> {
    let ty = value.ty();
    if value.is_null() || value.is_undef() || value.is_poison() {
        return Some(());
    }
    let elements = ty.elements().map_or(ty.fields().len() as u64, |(_, count)| count);
    if ty.is_struct() || ty.is_array() || ty.is_vector() {
        for n in 0..u32::try_from(elements).ok()? {
            let element = value.element(n)?;
            let at = match (ty.is_struct(), ty.elements()) {
                (true, _) => 8 * layout.field_offset(ty, n),
                (_, Some((of, _))) if ty.is_vector() => u64::from(n) * of.bits()?,
                (_, Some((of, _))) => u64::from(n) * 8 * layout.element_size(of)?,
                _ => return None,
            };
            put(builder, element, offset + at, layout, bytes)?;
        }
        return Some(());
    }
    let bits = types::leaves(ty, layout)?.first()?.ty.bits()?;
    let number = value.bits()?;
    for bit in (0..bits).step_by(8) {
        // LLVM folds this.
        let byte = builder.lshr(number, number.ty().int(bit), "");
        let byte = builder.int_cast(byte, builder.types().int(8.min(bits as u32)), false, "").as_u64()?;
        let (at, shift) = (usize::try_from((offset + bit) / 8).ok()?, (offset + bit) % 8);
        *bytes.get_mut(at)? |= (byte << shift) as u8;
        if shift > 0 && byte >> (8 - shift) != 0 {
            *bytes.get_mut(at + 1)? |= (byte >> (8 - shift)) as u8;
        }
    }
    Some(())
}
