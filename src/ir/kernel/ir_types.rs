//! Derives types from LLVM IR and from the C spellings in the argument metadata, for modules without debug information.
//!
//! IR integers have no signedness: they count as signed unless a C spelling says otherwise.

use kassay_model::interface::{Field, ImageKind, Scalar, Struct, Type};

use crate::llvm::{self, DataLayout, TypeKind, View};

/// The in-memory type that corresponds to an IR type.
pub(super) fn from_ir<'m>(ty: llvm::Type<'m>, layout: DataLayout<'m>) -> Option<Type> {
    read(ty, layout, false)
}

/// Like [`from_ir`], for what is passed by value: pointers in it become [`Type::Pointer`].
pub(super) fn value_from_ir<'m>(ty: llvm::Type<'m>, layout: DataLayout<'m>) -> Option<Type> {
    read(ty, layout, true)
}

fn read<'m>(ty: llvm::Type<'m>, layout: DataLayout<'m>, is_value: bool) -> Option<Type> {
    let scalar = |ty: llvm::Type<'m>| match ty.kind() {
        TypeKind::LLVMIntegerTypeKind => integer(ty.int_width()?),
        TypeKind::LLVMHalfTypeKind => Some(Scalar::F16),
        TypeKind::LLVMFloatTypeKind => Some(Scalar::F32),
        TypeKind::LLVMDoubleTypeKind => Some(Scalar::F64),
        _ => None,
    };
    match ty.kind() {
        TypeKind::LLVMVectorTypeKind => {
            let (element, count) = ty.elements()?;
            let lanes = u32::try_from(count).ok().filter(|lanes| [2, 3, 4, 8, 16].contains(lanes))?;
            Some(Type::Vector(scalar(element)?, lanes))
        }
        TypeKind::LLVMArrayTypeKind => {
            let (element, count) = ty.elements()?;
            Some(Type::Array(Box::new(read(element, layout, is_value)?), count))
        }
        TypeKind::LLVMPointerTypeKind if is_value => Some(Type::Pointer { name: "void*".to_owned(), pointee: None }),
        TypeKind::LLVMStructTypeKind if ty.is_sized() => {
            let full_name = ty.struct_name();
            let name = full_name.strip_prefix("struct.").or_else(|| full_name.strip_prefix("union."));
            let field = |(position, part): (u32, llvm::Type<'m>)| {
                let opaque = || Type::Opaque { name: "pointer".to_owned(), size: layout.abi_size(part) };
                let offset = layout.field_offset(ty, position);
                Field { name: position.to_string(), offset, ty: read(part, layout, is_value).unwrap_or_else(opaque) }
            };
            Some(Type::Struct(Struct {
                name: name.unwrap_or(&full_name).to_owned(),
                size: layout.abi_size(ty),
                align: layout.alignment(ty).into(),
                fields: (0..).zip(ty.fields()).map(field).collect(),
                is_union: full_name.starts_with("union."),
            }))
        }
        _ => scalar(ty).map(Type::Scalar),
    }
}

fn integer(width: u32) -> Option<Scalar> {
    match width {
        8 => Some(Scalar::I8),
        16 => Some(Scalar::I16),
        32 => Some(Scalar::I32),
        64 => Some(Scalar::I64),
        _ => None,
    }
}

/// The type that a C spelling such as `uint4`, `unsigned int` or `struct P` names. Structs are looked up by
/// their IR type.
pub(super) fn from_c(text: &str, view: View<'_>) -> Option<Type> {
    let text = text.trim().trim_start_matches("const ").trim_start_matches("volatile ");
    if let Some(scalar) = Scalar::of_name(text) {
        return Some(Type::Scalar(scalar));
    }
    let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (name, lanes) = text.split_at(text.len() - digits);
    if let (Some(scalar), Ok(lanes @ (2 | 3 | 4 | 8 | 16))) = (Scalar::of_name(name), lanes.parse()) {
        return Some(Type::Vector(scalar, lanes));
    }
    let name = if text.starts_with("struct ") || text.starts_with("union ") {
        text.replacen(' ', ".", 1)
    } else if text.starts_with("struct.") || text.starts_with("union.") {
        text.to_owned()
    } else {
        format!("struct.{text}")
    };
    from_ir(view.named_struct(&name)?, view.layout())
}

/// Rewrites clang's spelling of a type to OpenCL C's: `uint __attribute__((ext_vector_type(4)))*` to `uint4*`.
pub(super) fn normal_spelling(text: &str) -> String {
    const VECTOR: &str = " __attribute__((ext_vector_type(";
    let Some((before, rest)) = text.split_once(VECTOR) else { return text.to_owned() };
    match rest.split_once(")))") {
        Some((lanes, after)) => normal_spelling(&format!("{before}{lanes}{after}")),
        None => text.to_owned(),
    }
}

/// The image kind of a type such as `image2d_t`, with or without an access qualifier (`image2d_ro_t`).
pub(super) fn image_kind(name: &str) -> Option<ImageKind> {
    let name = name.trim_start_matches("__read_only ").trim_start_matches("__write_only ");
    let name = name.trim_start_matches("__read_write ").trim_start_matches("opencl.");
    ImageKind::of_name(name)
}

/// The image kind of a `spirv.Image` type, from its integer parameters (those of SPIR-V's `OpTypeImage`): dimension,
/// depth, arrayed, multi-sampled, sampled, format, access.
pub(super) fn spirv_image_kind(params: &[u32]) -> ImageKind {
    match params {
        [0, 0, 0, 0, ..] => ImageKind::D1,
        [0, 0, 1, 0, ..] => ImageKind::D1Array,
        [5, 0, 0, 0, ..] => ImageKind::D1Buffer,
        [1, 0, 0, 0, ..] => ImageKind::D2,
        [1, 0, 1, 0, ..] => ImageKind::D2Array,
        [2, 0, 0, 0, ..] => ImageKind::D3,
        _ => ImageKind::Other,
    }
}
