//! Checks and normalises a SPIR-V module as a sequence of words: header, instruction lengths, scalar null constants.
//!
//! Layout and numbers are those of the SPIR-V specification, sections 2.3 and 3. Not for translating to LLVM IR
//! (`compile` calls llvm-spirv for that).

use std::collections::{HashMap, HashSet};

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

const OP_MEMORY_MODEL: u32 = 14;
const OP_ENTRY_POINT: u32 = 15;
const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_CONSTANT_FALSE: u32 = 42;
const OP_CONSTANT: u32 = 43;
const OP_CONSTANT_NULL: u32 = 46;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_END: u32 = 56;

const EXECUTION_MODEL_KERNEL: u32 = 6;
const ADDRESSING_PHYSICAL_32: u32 = 1;
const ADDRESSING_PHYSICAL_64: u32 = 2;

/// Why a file is rejected. The messages continue a sentence that names the file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("it does not begin with SPIR-V's magic number")]
    Magic,
    #[error("its length is no multiple of four bytes")]
    Length,
    #[error("it ends within its header")]
    Header,
    #[error("the instruction at word {word} has no length")]
    Empty { word: usize },
    #[error("it ends within the instruction at word {word}")]
    Truncated { word: usize },
    #[error("it uses 32-bit addresses; kassay takes kernels for 64-bit devices")]
    Address32,
    #[error("it has logical addresses, as shaders have: it is no module for OpenCL")]
    Logical,
    #[error("it has no kernel entry point")]
    NoKernel,
    #[error("it ends within a function")]
    Unfinished,
    #[error("the function of its kernel is missing")]
    NoBody,
}

/// Returns the checked module in little-endian bytes, with `OpConstantNull` of scalar types rewritten to `OpConstant 0`
/// or `OpConstantFalse`, which older readers require.
pub(super) fn normalise(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let words = words(bytes)?;
    let mut out: Vec<u32> = words[..HEADER_WORDS].to_vec();
    // The number of literal words of each scalar type's constants; 0 for bool.
    let mut scalars: HashMap<u32, u32> = HashMap::new();
    let mut kernels = Vec::new();
    // Readers crash on truncated modules, so completeness is checked: every function ends, every kernel has one.
    let (mut functions, mut in_function) = (HashSet::new(), false);
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let (length, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        if length == 0 {
            return Err(Malformed::Empty { word: at });
        }
        let instruction = words.get(at..at + length).ok_or(Malformed::Truncated { word: at })?;
        match (opcode, &instruction[1..]) {
            (OP_MEMORY_MODEL, [ADDRESSING_PHYSICAL_32, ..]) => return Err(Malformed::Address32),
            (OP_MEMORY_MODEL, [model, ..]) if *model != ADDRESSING_PHYSICAL_64 => return Err(Malformed::Logical),
            (OP_ENTRY_POINT, [EXECUTION_MODEL_KERNEL, function, ..]) => kernels.push(*function),
            (OP_FUNCTION, [_, id, ..]) => {
                functions.insert(*id);
                in_function = true;
            }
            (OP_FUNCTION_END, _) => in_function = false,
            (OP_TYPE_BOOL, [id, ..]) => {
                scalars.insert(*id, 0);
            }
            (OP_TYPE_INT | OP_TYPE_FLOAT, [id, width, ..]) => {
                scalars.insert(*id, width.div_ceil(32).max(1));
            }
            _ => {}
        }
        match (opcode, &instruction[1..]) {
            (OP_CONSTANT_NULL, [ty, result]) if scalars.contains_key(ty) => {
                let literal = scalars[ty];
                let spelt = if literal == 0 { OP_CONSTANT_FALSE } else { OP_CONSTANT };
                out.extend([(3 + literal) << 16 | spelt, *ty, *result]);
                out.extend(std::iter::repeat_n(0, literal as usize));
            }
            _ => out.extend_from_slice(instruction),
        }
        at += length;
    }
    match () {
        () if in_function => return Err(Malformed::Unfinished),
        () if kernels.is_empty() => return Err(Malformed::NoKernel),
        () if !kernels.iter().all(|k| functions.contains(k)) => return Err(Malformed::NoBody),
        () => {}
    }
    Ok(out.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn words(bytes: &[u8]) -> Result<Vec<u32>, Malformed> {
    let first: [u8; 4] = bytes.get(..4).and_then(|first| first.try_into().ok()).ok_or(Malformed::Magic)?;
    let read: fn([u8; 4]) -> u32 = if u32::from_le_bytes(first) == MAGIC {
        u32::from_le_bytes
    } else if u32::from_be_bytes(first) == MAGIC {
        u32::from_be_bytes
    } else {
        return Err(Malformed::Magic);
    };
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Malformed::Length);
    }
    if chunks.len() < HEADER_WORDS {
        return Err(Malformed::Header);
    }
    Ok(chunks.iter().map(|&chunk| read(chunk)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(instructions: &[&[u32]]) -> Vec<u32> {
        let mut words = vec![MAGIC, 0x0001_0200, 0, 100, 0];
        words.extend([3 << 16 | OP_MEMORY_MODEL, ADDRESSING_PHYSICAL_64, 2]);
        words.extend([4 << 16 | OP_ENTRY_POINT, EXECUTION_MODEL_KERNEL, 99, 0x6b]);
        for instruction in instructions {
            words.push((instruction.len() as u32) << 16 | instruction[0]);
            words.extend(&instruction[1..]);
        }
        words.extend([5 << 16 | OP_FUNCTION, 97, 99, 0, 98, 1 << 16 | OP_FUNCTION_END]);
        words
    }

    fn little(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn scalar_nulls_are_spelt_out_and_others_kept() {
        let types: [&[u32]; 4] =
            [&[OP_TYPE_BOOL, 1], &[OP_TYPE_INT, 2, 32, 0], &[OP_TYPE_FLOAT, 3, 64], &[30, 4, 2, 2]];
        let nulls: [&[u32]; 4] = [
            &[OP_CONSTANT_NULL, 1, 5],
            &[OP_CONSTANT_NULL, 2, 6],
            &[OP_CONSTANT_NULL, 3, 7],
            &[OP_CONSTANT_NULL, 4, 8],
        ];
        let spelt: [&[u32]; 4] = [
            &[OP_CONSTANT_FALSE, 1, 5],
            &[OP_CONSTANT, 2, 6, 0],
            &[OP_CONSTANT, 3, 7, 0, 0],
            &[OP_CONSTANT_NULL, 4, 8],
        ];
        let given = module(&[types, nulls].concat());
        let wanted = little(&module(&[types, spelt].concat()));
        assert_eq!(normalise(&little(&given)).unwrap(), wanted);
        let big: Vec<u8> = given.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(normalise(&big).unwrap(), wanted);
    }

    #[test]
    fn ill_formed_modules_are_named() {
        let good = little(&module(&[]));
        assert_eq!(normalise(b"\x7fELF"), Err(Malformed::Magic));
        assert_eq!(normalise(b""), Err(Malformed::Magic));
        assert_eq!(normalise(&good[..8]), Err(Malformed::Header));
        assert_eq!(normalise(&good[..good.len() - 1]), Err(Malformed::Length));
        assert_eq!(normalise(&good[..good.len() - 4]), Err(Malformed::Unfinished));
        assert_eq!(normalise(&good[..good.len() - 8]), Err(Malformed::Truncated { word: 12 }));
        assert_eq!(normalise(&good[..48]), Err(Malformed::NoBody));
        assert_eq!(normalise(&good[..32]), Err(Malformed::NoKernel));
        let mut zero = good.clone();
        zero.extend([0; 4]);
        assert_eq!(normalise(&zero), Err(Malformed::Empty { word: 18 }));
        let mut narrow = good.clone();
        narrow[24] = 1;
        assert_eq!(normalise(&narrow), Err(Malformed::Address32));
        narrow[24] = 0;
        assert_eq!(normalise(&narrow), Err(Malformed::Logical));
    }
}
