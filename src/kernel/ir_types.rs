//! Derives types from LLVM IR and from the C spellings in the argument metadata, for modules without debug information.
//!
//! IR integers have no signedness: they count as signed unless a C spelling says otherwise.

use std::collections::HashSet;

use super::interface::{Field, ImageKind, Scalar, Struct, Type};
use crate::llvm::{self, DataLayout, Opcode, TypeKind, Value, View};

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
    if let Some(scalar) = scalar(text) {
        return Some(Type::Scalar(scalar));
    }
    let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (name, lanes) = text.split_at(text.len() - digits);
    if let (Some(scalar), Ok(lanes @ (2 | 3 | 4 | 8 | 16))) = (scalar(name), lanes.parse()) {
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

fn scalar(text: &str) -> Option<Scalar> {
    Some(match text {
        "char" | "signed char" => Scalar::I8,
        "uchar" | "unsigned char" | "bool" => Scalar::U8,
        "short" => Scalar::I16,
        "ushort" | "unsigned short" => Scalar::U16,
        "int" => Scalar::I32,
        "uint" | "unsigned int" => Scalar::U32,
        "long" | "long long" => Scalar::I64,
        "ulong" | "unsigned long" | "unsigned long long" => Scalar::U64,
        "half" | "_Float16" => Scalar::F16,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        _ => return None,
    })
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
    let kind = name.strip_prefix("image")?.strip_suffix("_t")?;
    let kind = ["_ro", "_wo", "_rw"].iter().find_map(|access| kind.strip_suffix(access)).unwrap_or(kind);
    Some(match kind {
        "1d" => ImageKind::D1,
        "1d_array" => ImageKind::D1Array,
        "1d_buffer" => ImageKind::D1Buffer,
        "2d" => ImageKind::D2,
        "2d_array" => ImageKind::D2Array,
        "3d" => ImageKind::D3,
        _ => ImageKind::Other,
    })
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

/// The element type on which all uses of an undeclared pointer agree: the types that are loaded, stored and indexed.
pub(super) fn from_uses<'m>(pointer: Value<'m>, layout: DataLayout<'m>) -> Option<Type> {
    let mut found: Vec<Type> = Vec::new();
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
                    if is_byte {
                        worklist.push(user.value());
                    }
                    element.filter(|_| !is_byte)
                }
                Opcode::LLVMLoad => Some(user.ty()),
                Opcode::LLVMStore if user.operand(1) == value => Some(user.operand(0).ty()),
                Opcode::LLVMStore => {
                    // The pointer itself is stored in a variable: continue where it is loaded.
                    let users = variable_and_casts(user.operand(1)).into_iter().flat_map(Value::uses);
                    worklist.extend(users.filter(|load| load.as_opcode(Opcode::LLVMLoad).is_some()));
                    None
                }
                Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast | Opcode::LLVMPHI | Opcode::LLVMSelect => {
                    worklist.push(user.value());
                    None
                }
                Opcode::LLVMCall => {
                    let callee = user.called_function().filter(|callee| !callee.is_declaration());
                    let params = callee.map(llvm::Function::params).unwrap_or_default();
                    let passed = params.into_iter().zip(user.args());
                    worklist.extend(passed.filter(|(_, arg)| *arg == value).map(|(param, _)| param));
                    None
                }
                _ => None,
            };
            found.extend(accessed.and_then(|ty| from_ir(ty, layout)));
        }
    }
    let first = found.pop()?;
    found.iter().all(|other| *other == first).then_some(first)
}

/// The variable behind a pointer's casts, and all casts of it.
fn variable_and_casts(slot: Value<'_>) -> Vec<Value<'_>> {
    let mut root = slot;
    while let Some(cast) = root.as_opcode(Opcode::LLVMBitCast) {
        root = cast.operand(0);
    }
    let mut all = vec![root];
    all.extend(root.uses().into_iter().filter(|user| user.as_opcode(Opcode::LLVMBitCast).is_some()));
    all
}
