//! Derives types from LLVM IR and from the C spellings in the argument metadata, for modules without debug information.
//!
//! IR integers have no signedness: they count as signed unless a C spelling says otherwise.

use std::collections::HashSet;

use inkwell::module::Module;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::interface::{Field, ImageKind, Scalar, Struct, Type};
use super::raw::{self, Layout};

/// The in-memory type that corresponds to an IR type.
pub(super) fn from_ir(ty: raw::Type, layout: Layout) -> Option<Type> {
    read(ty, layout, false)
}

/// Like [`from_ir`], for what is passed by value: pointers in it become [`Type::Pointer`].
pub(super) fn value_from_ir(ty: raw::Type, layout: Layout) -> Option<Type> {
    read(ty, layout, true)
}

fn read(ty: raw::Type, layout: Layout, is_value: bool) -> Option<Type> {
    let scalar = |ty: raw::Type| match ty.kind() {
        LLVMTypeKind::LLVMIntegerTypeKind => integer(ty.int_width()),
        LLVMTypeKind::LLVMHalfTypeKind => Some(Scalar::F16),
        LLVMTypeKind::LLVMFloatTypeKind => Some(Scalar::F32),
        LLVMTypeKind::LLVMDoubleTypeKind => Some(Scalar::F64),
        _ => None,
    };
    match ty.kind() {
        LLVMTypeKind::LLVMVectorTypeKind => {
            let (element, count) = ty.elements();
            let lanes = u32::try_from(count).ok().filter(|lanes| [2, 3, 4, 8, 16].contains(lanes))?;
            Some(Type::Vector(scalar(element)?, lanes))
        }
        LLVMTypeKind::LLVMArrayTypeKind => {
            let (element, count) = ty.elements();
            Some(Type::Array(Box::new(read(element, layout, is_value)?), count))
        }
        LLVMTypeKind::LLVMPointerTypeKind if is_value => {
            Some(Type::Pointer { name: "void*".to_owned(), pointee: None })
        }
        LLVMTypeKind::LLVMStructTypeKind if ty.is_sized() => {
            let (size, align) = ty.size(layout);
            let full_name = ty.struct_name();
            let name = full_name.strip_prefix("struct.").or_else(|| full_name.strip_prefix("union."));
            let field = |(position, (ty, offset)): (usize, (raw::Type, u64))| {
                let opaque = || Type::Opaque { name: "pointer".to_owned(), size: ty.size(layout).0 };
                let ty = read(ty, layout, is_value).unwrap_or_else(opaque);
                Field { name: position.to_string(), offset, ty }
            };
            Some(Type::Struct(Struct {
                name: name.unwrap_or(&full_name).to_owned(),
                size,
                align,
                fields: ty.fields(layout).into_iter().enumerate().map(field).collect(),
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
pub(super) fn from_c(text: &str, module: &Module) -> Option<Type> {
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
    from_ir(raw::named_struct(module, &name)?, raw::layout(module))
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
pub(super) fn from_uses(pointer: raw::Value, layout: Layout) -> Option<Type> {
    let mut found: Vec<Type> = Vec::new();
    let mut seen = HashSet::new();
    let mut worklist = vec![pointer];
    while let Some(value) = worklist.pop() {
        if !seen.insert(value) {
            continue;
        }
        for user in value.users() {
            let accessed = match user.opcode() {
                Some(LLVMOpcode::LLVMGetElementPtr) if user.operand(0) == Some(value) => {
                    let element = user.gep_element();
                    // A step in bytes says nothing about the element type.
                    let is_byte = element.kind() == LLVMTypeKind::LLVMIntegerTypeKind && element.int_width() == 8;
                    if is_byte {
                        worklist.push(user);
                    }
                    (!is_byte).then_some(element)
                }
                Some(LLVMOpcode::LLVMLoad) => Some(user.ty()),
                Some(LLVMOpcode::LLVMStore) if user.operand(1) == Some(value) => user.operand(0).map(|v| v.ty()),
                Some(LLVMOpcode::LLVMStore) => {
                    // The pointer itself is stored in a variable: continue where it is loaded.
                    let slots = user.operand(1).map(|slot| variable_and_casts(slot)).unwrap_or_default();
                    worklist.extend(
                        slots
                            .into_iter()
                            .flat_map(|slot| slot.users())
                            .filter(|load| load.opcode() == Some(LLVMOpcode::LLVMLoad)),
                    );
                    None
                }
                Some(
                    LLVMOpcode::LLVMBitCast
                    | LLVMOpcode::LLVMAddrSpaceCast
                    | LLVMOpcode::LLVMPHI
                    | LLVMOpcode::LLVMSelect,
                ) => {
                    worklist.push(user);
                    None
                }
                Some(LLVMOpcode::LLVMCall) => {
                    let params = user.callee().map(|callee| callee.params()).unwrap_or_default();
                    let passed = params.into_iter().enumerate();
                    worklist
                        .extend(passed.filter(|(i, _)| user.operand(*i as u32) == Some(value)).map(|(_, param)| param));
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
fn variable_and_casts(slot: raw::Value) -> Vec<raw::Value> {
    let mut root = slot;
    while root.opcode() == Some(LLVMOpcode::LLVMBitCast) {
        let Some(inner) = root.operand(0) else { break };
        root = inner;
    }
    let mut all = vec![root];
    all.extend(root.users().into_iter().filter(|user| user.opcode() == Some(LLVMOpcode::LLVMBitCast)));
    all
}
