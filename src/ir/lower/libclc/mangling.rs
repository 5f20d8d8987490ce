//! Translates the names of builtins to libclc's, which have other address spaces.

use crate::kernel::builtins::types::{self, Type};
use crate::kernel::builtins::{demangle, mangle};

/// Where libclc's functions find what a kernel calls constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constants {
    /// In constant memory, address space 4 of NVPTX.
    Constant,
    /// In global memory, address space 1.
    Global,
}

/// Replaces SPIR's address spaces by those of libclc for NVPTX, where generic is private.
fn with_libclc_address_spaces(ty: &Type, constants: Constants) -> Type {
    let inner = |ty: &Type| Box::new(with_libclc_address_spaces(ty, constants));
    match ty {
        Type::Plain(_) | Type::Named(_) => ty.clone(),
        Type::Pointer(to) => Type::Pointer(inner(to)),
        Type::Vector(count, of) => Type::Vector(*count, inner(of)),
        Type::Extended(name, of) => Type::Extended(name.clone(), inner(of)),
        Type::Qualified(space, qualifiers, of) => {
            let space = match space.as_deref() {
                Some("AS2") => Some(if constants == Constants::Constant { "AS4" } else { "AS1" }.to_owned()),
                Some("AS4" | "AS0") | None => None,
                Some(other) => Some(other.to_owned()),
            };
            match space.is_none() && qualifiers.is_empty() {
                true => with_libclc_address_spaces(of, constants),
                false => Type::Qualified(space, qualifiers.clone(), inner(of)),
            }
        }
    }
}

/// Returns the name in libclc for NVPTX of the builtin that is called `name` for SPIR; `None` if that is not
/// a mangled name.
pub fn name_in_libclc(name: &str, constants: Constants) -> Option<String> {
    let (base, parameters) = demangle(name)?;
    let spir = types::parse(parameters)?;
    let libclc: Vec<Type> = spir.iter().map(|ty| with_libclc_address_spaces(ty, constants)).collect();
    Some(mangle(base, &types::print(&libclc)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn maps(spir: &str, libclc: &str) {
        assert_eq!(name_in_libclc(spir, Constants::Constant).as_deref(), Some(libclc), "{spir}");
    }

    #[test]
    fn address_spaces_are_mapped() {
        maps("_Z3sinDv4_f", "_Z3sinDv4_f");
        maps("_Z5fractfPU3AS4f", "_Z5fractfPf");
        maps("_Z5fractfPU3AS1f", "_Z5fractfPU3AS1f");
        maps("_Z6vload4mPU3AS2Kf", "_Z6vload4mPU3AS4Kf");
        maps("_Z6vload4mPU3AS4Kf", "_Z6vload4mPKf");
        maps("_Z5clampDv4_fS_S_", "_Z5clampDv4_fS_S_");
        let vload = name_in_libclc("_Z6vload4mPU3AS2Kf", Constants::Global);
        assert_eq!(vload.as_deref(), Some("_Z6vload4mPU3AS1Kf"));
    }

    #[test]
    fn back_references_are_renumbered() {
        // Components: the vector, the vector with its address space, the pointer to that.
        maps("_Z6sincosDv4_fPU3AS4S_", "_Z6sincosDv4_fPS_");
        maps("_Z6remquoDv2_fS_PU3AS4Dv2_i", "_Z6remquoDv2_fS_PDv2_i");
        maps("_Z1fPU3AS4Dv2_fPU3AS4Dv2_iS3_", "_Z1fPDv2_fPDv2_iS1_");
        maps("_Z1fPU3AS4iPU3AS2KiS1_", "_Z1fPiPU3AS4KiS0_");
        maps("_Z39atomic_compare_exchange_strong_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_", {
            // Components in libclc: the atomic, volatile, the pointer, the pointer to int, the order.
            "_Z39atomic_compare_exchange_strong_explicitPVU7_AtomiciPii12memory_orderS3_"
        });
    }

    #[test]
    fn other_names_are_none() {
        assert_eq!(name_in_libclc("helper", Constants::Constant), None);
        assert_eq!(name_in_libclc("_Z1fS_", Constants::Constant), None);
        assert_eq!(name_in_libclc("_Z1fDv2", Constants::Constant), None);
        assert_eq!(name_in_libclc("_Z1fPU", Constants::Constant), None);
    }
}
