//! Reads from a kernel's SPIR-V which of its arguments can be written (drivers do not report it for programs created
//! from IL), and what the device must have.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::{DeviceCode, DeviceInfo};

// Opcodes and operands of the SPIR-V specification 1.0, sections 3.7, 3.17, 3.31 and 3.32.
const OP_LINE: u32 = 8;
const OP_EXT_INST: u32 = 12;
const OP_CAPABILITY: u32 = 17;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_VECTOR: u32 = 23;
const OP_CONSTANT: u32 = 43;
const OP_F_CONVERT: u32 = 115;
/// Its number among OpenCL's extended instructions.
const PRINTF: u32 = 184;
const CAPABILITY_FLOAT16: u32 = 9;
const CAPABILITY_FLOAT64: u32 = 10;
const CAPABILITY_IMAGE_BASIC: u32 = 13;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_TYPE_IMAGE: u32 = 25;
const OP_TYPE_POINTER: u32 = 32;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_PARAMETER: u32 = 55;
const OP_FUNCTION_END: u32 = 56;
const CAPABILITY_SUBGROUP_DISPATCH: u32 = 58;
const MODE_SUBGROUP_SIZE: u32 = 35;
const STORAGE_UNIFORM_CONSTANT: u32 = 0;
const ACCESS_READ_ONLY: u32 = 0;
/// The name of PoCL's platform.
const POCL: &str = "Portable Computing Language";
const MAGIC: u32 = 0x0723_0203;
/// The header: magic, version, generator, bound, schema.
const HEADER_WORDS: usize = 5;

/// By position, whether the kernel `entry` cannot write to an argument: `__constant` memory and read-only images. The
/// list is shorter than the argument list, or empty, if the module does not say or is no SPIR-V.
pub fn read_only(spirv: &[u8], entry: &str) -> Vec<bool> {
    let words = words(spirv);
    let mut kernel = None;
    let mut types = HashMap::new();
    let mut params = Vec::new();
    let mut inside = false;
    for (opcode, operands) in instructions(&words) {
        match (opcode, operands) {
            (OP_ENTRY_POINT, [_, function, name @ ..]) if text(name) == entry => kernel = Some(*function),
            (OP_TYPE_POINTER, [id, storage, ..]) => drop(types.insert(*id, *storage == STORAGE_UNIFORM_CONSTANT)),
            // Seven operands describe the image; the eighth, its access, is optional.
            (OP_TYPE_IMAGE, [id, _, _, _, _, _, _, _, access @ ..]) => {
                types.insert(*id, access.first() == Some(&ACCESS_READ_ONLY));
            }
            (OP_FUNCTION, [_, id, ..]) => inside = kernel == Some(*id),
            (OP_FUNCTION_PARAMETER, [ty, ..]) if inside => params.push(types.get(ty).copied().unwrap_or(false)),
            (OP_FUNCTION_END, _) if inside => break,
            _ => {}
        }
    }
    params
}

/// What a module needs and a device does not list, by its name in OpenCL C in the plural; `None` also for code that is
/// no SPIR-V.
pub fn lacking(spirv: &[u8], device: &DeviceInfo) -> Option<String> {
    // PoCL 6 and 7 compute with halves on CPUs without listing them; other drivers crash, or take none as arguments.
    let has_half = device.fp16 || device.platform == POCL;
    let words = words(spirv);
    let mut needed = instructions(&words).take_while(|(opcode, _)| *opcode == OP_CAPABILITY);
    let lacks = needed.find_map(|(_, operands)| match operands {
        [CAPABILITY_FLOAT64] if !device.fp64 && computes_with_doubles(&words) => Some("doubles"),
        [CAPABILITY_IMAGE_BASIC] if !device.images => Some("images"),
        [CAPABILITY_FLOAT16] if !has_half => Some("halves"),
        _ => None,
    });
    // A device that lists no sizes is not asked for one ([`suited`]).
    let is_listed = |size: u32| device.sub_group_sizes.is_empty() || device.sub_group_sizes.contains(&size.into());
    let size = instructions(&words).take_while(|(opcode, _)| *opcode != OP_FUNCTION).find_map(sub_group_size);
    lacks.map(str::to_owned).or_else(|| {
        let size = size.filter(|size| !is_listed(*size))?;
        Some(format!("sub-groups of {size} work-items"))
    })
}

/// The size that an instruction requires of sub-groups.
fn sub_group_size((opcode, operands): (u32, &[u32])) -> Option<u32> {
    match (opcode, operands) {
        (OP_EXECUTION_MODE, [_, MODE_SUBGROUP_SIZE, size]) => Some(*size),
        _ => None,
    }
}

/// The code as this device takes it: if it lists no sizes, none is required.
pub fn suited(code: &DeviceCode, device: &DeviceInfo) -> DeviceCode {
    let without = || without_sub_group_sizes(&code.bytes).map(Arc::new);
    let bytes = device.sub_group_sizes.is_empty().then(without).flatten();
    DeviceCode { bytes: bytes.unwrap_or_else(|| Arc::clone(&code.bytes)), ..code.clone() }
}

/// A module without the sizes that it requires of sub-groups, for devices of which none can be required; `None` if it
/// requires none.
fn without_sub_group_sizes(spirv: &[u8]) -> Option<Vec<u8>> {
    let words = words(spirv);
    instructions(&words).take_while(|(opcode, _)| *opcode != OP_FUNCTION).find_map(sub_group_size)?;
    let is_kept = |instruction: &(u32, &[u32])| {
        let (opcode, operands) = instruction;
        sub_group_size(*instruction).is_none()
            && (*opcode, *operands) != (OP_CAPABILITY, &[CAPABILITY_SUBGROUP_DISPATCH])
    };
    let mut kept = words.get(..HEADER_WORDS)?.to_vec();
    for (opcode, operands) in instructions(&words).filter(is_kept) {
        kept.push((operands.len() as u32 + 1) << 16 | opcode);
        kept.extend(operands);
    }
    Some(kept.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// Whether a module with doubles does more with them than pass them to `printf`, for which C promotes floats. Devices
/// without doubles take those.
fn computes_with_doubles(words: &[u32]) -> bool {
    let (mut doubles, mut promoted) = (HashSet::new(), HashSet::new());
    let mut inside = false;
    for (opcode, operands) in instructions(words) {
        match (opcode, operands) {
            (OP_TYPE_FLOAT, [id, 64, ..]) => drop(doubles.insert(*id)),
            (OP_TYPE_VECTOR, [_, element, _]) | (OP_TYPE_POINTER, [_, _, element]) if doubles.contains(element) => {
                return true;
            }
            (OP_CONSTANT | OP_F_CONVERT, [ty, id, ..]) if doubles.contains(ty) => drop(promoted.insert(*id)),
            (OP_FUNCTION, _) => inside = true,
            (OP_LINE, _) | (OP_EXT_INST, [_, _, _, PRINTF, ..]) => {}
            (_, [ty, ..]) if inside && doubles.contains(ty) => return true,
            (_, operands) if inside && operands.iter().any(|operand| promoted.contains(operand)) => return true,
            _ => {}
        }
    }
    false
}

/// The words of a module; none if it is no SPIR-V.
fn words(spirv: &[u8]) -> Vec<u32> {
    let is_spirv = spirv.starts_with(&MAGIC.to_le_bytes());
    let chunks = if is_spirv { spirv.as_chunks::<4>().0 } else { &[] };
    chunks.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// The instructions of a module, up to the first that is not whole: opcode and operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let (instruction, after) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        rest = after;
        Some((first & 0xffff, &instruction[1..]))
    })
}

/// A string operand: the bytes up to the first zero.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::simulator;
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn constant_memory_and_read_only_images_are_recognised() {
        let words: Vec<u32> = [
            &[0x0723_0203, 0x0001_0000, 0, 20, 0][..],
            &[4 << 16 | OP_ENTRY_POINT, 6, 9, u32::from(b'x')],
            &[4 << 16 | OP_ENTRY_POINT, 6, 10, u32::from(b'k')],
            &[4 << 16 | OP_TYPE_POINTER, 1, 5, 7], // global
            &[4 << 16 | OP_TYPE_POINTER, 2, 0, 7], // constant
            &[10 << 16 | OP_TYPE_IMAGE, 3, 7, 1, 0, 0, 0, 0, 0, 0], // read only
            &[10 << 16 | OP_TYPE_IMAGE, 4, 7, 1, 0, 0, 0, 0, 0, 1], // write only
            &[5 << 16 | OP_FUNCTION, 7, 9, 0, 8], &[3 << 16 | OP_FUNCTION_PARAMETER, 2, 11], &[1 << 16 | OP_FUNCTION_END],
            &[5 << 16 | OP_FUNCTION, 7, 10, 0, 8],
            &[3 << 16 | OP_FUNCTION_PARAMETER, 1, 12], &[3 << 16 | OP_FUNCTION_PARAMETER, 2, 13],
            &[3 << 16 | OP_FUNCTION_PARAMETER, 3, 14], &[3 << 16 | OP_FUNCTION_PARAMETER, 4, 15],
            &[1 << 16 | OP_FUNCTION_END],
        ].concat();
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(read_only(&bytes, "k"), [false, true, true, false]);
        assert_eq!(read_only(&bytes, "x"), [true]);
        assert!(read_only(&bytes, "y").is_empty());
        assert_eq!(read_only(&bytes[..bytes.len() - 22], "k"), [false, true]);
    }
    #[test]
    fn what_a_device_does_not_list_is_named() {
        let head = [0x0723_0203, 0x0001_0000, 0, 20, 0];
        let needed = [6, 9, 13, 10].into_iter().flat_map(|number| [2 << 16 | OP_CAPABILITY, number]);
        #[rustfmt::skip]
        let body = [
            3 << 16 | 14, 2, 2,
            3 << 16 | OP_TYPE_FLOAT, 1, 32, 3 << 16 | OP_TYPE_FLOAT, 2, 64,
            5 << 16 | OP_FUNCTION, 7, 9, 0, 8,
            4 << 16 | OP_F_CONVERT, 2, 3, 4,
            6 << 16 | OP_EXT_INST, 5, 6, 11, PRINTF, 3,
        ];
        let sum = [5 << 16 | 129, 2, 10, 3, 3];
        let printing: Vec<u32> = head.into_iter().chain(needed).chain(body).collect();
        assert!(!computes_with_doubles(&printing));
        let module: Vec<u8> = printing.into_iter().chain(sum).flat_map(u32::to_le_bytes).collect();
        let lacking = |fp64, images, fp16, platform: &str| {
            let device = DeviceInfo { fp64, images, fp16, platform: platform.to_owned(), ..simulator::device() };
            lacking(&module, &device)
        };
        assert_eq!(lacking(true, true, true, ""), None);
        assert_eq!(lacking(true, true, false, "").as_deref(), Some("halves"));
        assert_eq!(lacking(true, true, false, POCL), None);
        assert_eq!(lacking(true, false, true, "").as_deref(), Some("images"));
        assert_eq!(lacking(false, true, true, POCL).as_deref(), Some("doubles"));
        assert!(words(b".version 7.0").is_empty());
    }

    #[test]
    fn sizes_of_sub_groups_are_named_or_left_out() {
        let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
        let head = [0x0723_0203, 0x0001_0000, 0, 20, 0, 2 << 16 | OP_CAPABILITY, 6];
        let body = [5 << 16 | OP_FUNCTION, 7, 9, 0, 8, 1 << 16 | OP_FUNCTION_END];
        let required = [
            2 << 16 | OP_CAPABILITY,
            CAPABILITY_SUBGROUP_DISPATCH,
            4 << 16 | OP_EXECUTION_MODE,
            9,
            MODE_SUBGROUP_SIZE,
            8,
        ];
        let plain = bytes(&[&head[..], &body].concat());
        let module = bytes(&[&head[..], &required, &body].concat());
        assert_eq!(without_sub_group_sizes(&module).as_ref(), Some(&plain));
        assert_eq!(without_sub_group_sizes(&plain), None);
        let lacking = |sizes: &[u64]| {
            let device = DeviceInfo { sub_group_sizes: sizes.to_vec(), ..simulator::device() };
            lacking(&module, &device)
        };
        assert_eq!([lacking(&[]), lacking(&[4, 8])], [None, None]);
        assert_eq!(lacking(&[16, 32]).as_deref(), Some("sub-groups of 8 work-items"));
    }
}
