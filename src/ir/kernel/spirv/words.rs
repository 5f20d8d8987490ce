//! Holds a SPIR-V module as the sequence of its instructions, and reads names, strings, decorations and entry points.
//!
//! Layout and numbers are those of the SPIR-V specification, sections 2.3 and 3. Whether a module is a kernel that
//! kassay takes is not asked here (`check`).

use std::collections::HashMap;

const MAGIC: u32 = 0x0723_0203;
/// The number of words of the header: magic number, version, generator, bound of the ids, schema.
const HEADER_WORDS: usize = 5;
/// The word of the header that holds the version.
const VERSION_WORD: usize = 1;
/// The word of the header that holds the generator: who made the module in the upper half, its version in the lower.
const GENERATOR_WORD: usize = 2;
/// The word of the header that holds the bound of the ids.
const BOUND_WORD: usize = 3;

/// The result id of an instruction.
pub type Id = u32;

/// Numbers of instructions ("OpName" is `op::NAME`).
pub mod op {
    #![allow(missing_docs, reason = "the names are the specification's")]
    pub const NAME: u32 = 5;
    pub const STRING: u32 = 7;
    pub const LINE: u32 = 8;
    pub const EXT_INST_IMPORT: u32 = 11;
    pub const EXT_INST: u32 = 12;
    pub const MEMORY_MODEL: u32 = 14;
    pub const ENTRY_POINT: u32 = 15;
    pub const CAPABILITY: u32 = 17;
    pub const TYPE_VOID: u32 = 19;
    pub const TYPE_BOOL: u32 = 20;
    pub const TYPE_INT: u32 = 21;
    pub const TYPE_FLOAT: u32 = 22;
    pub const TYPE_VECTOR: u32 = 23;
    pub const TYPE_POINTER: u32 = 32;
    pub const CONSTANT_TRUE: u32 = 41;
    pub const CONSTANT_FALSE: u32 = 42;
    pub const CONSTANT: u32 = 43;
    pub const CONSTANT_NULL: u32 = 46;
    pub const SPEC_CONSTANT_TRUE: u32 = 48;
    pub const SPEC_CONSTANT_FALSE: u32 = 49;
    pub const SPEC_CONSTANT: u32 = 50;
    pub const SPEC_CONSTANT_COMPOSITE: u32 = 51;
    pub const SPEC_CONSTANT_OP: u32 = 52;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_PARAMETER: u32 = 55;
    pub const FUNCTION_END: u32 = 56;
    pub const FUNCTION_CALL: u32 = 57;
    pub const VARIABLE: u32 = 59;
    pub const LOAD: u32 = 61;
    pub const STORE: u32 = 62;
    pub const COPY_MEMORY_SIZED: u32 = 64;
    pub const ACCESS_CHAIN: u32 = 65;
    pub const PTR_ACCESS_CHAIN: u32 = 67;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u32 = 70;
    pub const DECORATE: u32 = 71;
    pub const COMPOSITE_EXTRACT: u32 = 81;
    pub const COPY_OBJECT: u32 = 83;
    pub const IMAGE_QUERY_FORMAT: u32 = 101;
    pub const IMAGE_QUERY_ORDER: u32 = 102;
    pub const CONVERT_F_TO_U: u32 = 109;
    pub const BITCAST: u32 = 124;
    pub const I_ADD: u32 = 128;
    pub const SELECT: u32 = 169;
    pub const CONTROL_BARRIER: u32 = 224;
    pub const MEMORY_BARRIER: u32 = 225;
    pub const ATOMIC_LOAD: u32 = 227;
    pub const ATOMIC_STORE: u32 = 228;
    pub const ATOMIC_COMPARE_EXCHANGE: u32 = 230;
    pub const ATOMIC_COMPARE_EXCHANGE_WEAK: u32 = 231;
    pub const ATOMIC_XOR: u32 = 242;
    pub const PHI: u32 = 245;
    pub const LABEL: u32 = 248;
    pub const BRANCH: u32 = 249;
    pub const BRANCH_CONDITIONAL: u32 = 250;
    pub const SWITCH: u32 = 251;
    pub const UNREACHABLE: u32 = 255;
    pub const NO_LINE: u32 = 317;
    pub const ATOMIC_FLAG_TEST_AND_SET: u32 = 318;
    pub const ATOMIC_FLAG_CLEAR: u32 = 319;
    pub const ATOMIC_F_MIN: u32 = 5614;
    pub const ATOMIC_F_MAX: u32 = 5615;
    pub const ATOMIC_F_ADD: u32 = 6035;
}

/// Names of extended instruction sets.
pub mod set {
    /// Debug information of OpenCL kernels.
    pub const OPENCL_DEBUG_INFO: &str = "OpenCL.DebugInfo.100";
}

/// Numbers of instructions of `OpenCL.DebugInfo.100`, and constants that they take.
pub mod debug {
    #![allow(missing_docs, reason = "the names are the specification's")]
    pub const INFO_NONE: u32 = 0;
    pub const COMPILATION_UNIT: u32 = 1;
    pub const TYPE_FUNCTION: u32 = 8;
    pub const FUNCTION: u32 = 20;
    pub const LEXICAL_BLOCK_DISCRIMINATOR: u32 = 22;
    pub const SCOPE: u32 = 23;
    pub const NO_SCOPE: u32 = 24;
    pub const DECLARE: u32 = 28;
    pub const VALUE: u32 = 29;
    pub const SOURCE: u32 = 35;

    pub const VERSION: u32 = 0x1_0000;
    pub const DWARF_VERSION: u32 = 4;
    pub const LANGUAGE_OPENCL_C: u32 = 3;
    pub const FLAG_IS_DEFINITION: u32 = 1 << 3;
}

/// Why bytes are no sequence of instructions. The messages continue a sentence that names the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The first word is not SPIR-V's.
    #[error("it does not begin with SPIR-V's magic number")]
    Magic,
    /// The last word is incomplete.
    #[error("its length is no multiple of four bytes")]
    Length,
    /// There are fewer words than a header has.
    #[error("it ends within its header")]
    Header,
    /// An instruction counts no words.
    #[error("the instruction at word {word} has no length")]
    Empty {
        /// Its position in the module, in words from 0.
        word: usize,
    },
    /// An instruction counts more words than there are.
    #[error("it ends within the instruction at word {word}")]
    Truncated {
        /// Its position in the module, in words from 0.
        word: usize,
    },
}

/// A module: a header and whole instructions, in this machine's byte order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(Vec<u32>);

/// An instruction of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction<'m> {
    /// Its number, see [`op`].
    pub opcode: u32,
    /// The words after the first one.
    pub operands: &'m [u32],
}

impl<'m> Instruction<'m> {
    /// Returns the number, the result and the operands of an instruction of an extended set; `None` for others.
    pub fn of_set(&self, set: Id) -> Option<(u32, Id, &'m [u32])> {
        match (self.opcode, self.operands) {
            (op::EXT_INST, [_, id, of, number, operands @ ..]) if *of == set => Some((*number, *id, operands)),
            _ => None,
        }
    }
}

/// A decoration of an id (`OpDecorate`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoration<'m> {
    /// What is decorated.
    pub target: Id,
    /// The decoration's number in the specification.
    pub kind: u32,
    /// The decoration's own operands.
    pub operands: &'m [u32],
}

/// An entry point (`OpEntryPoint`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    /// The execution model's number.
    pub model: u32,
    /// The id of its function.
    pub function: Id,
    /// Its name.
    pub name: String,
}

impl Words {
    /// Reads a module in either byte order.
    ///
    /// # Errors
    /// [`Malformed`] if there is no header, or an instruction is not whole.
    pub fn parse(bytes: &[u8]) -> Result<Words, Malformed> {
        let words = words_of(bytes)?;
        let mut at = HEADER_WORDS;
        while at < words.len() {
            match (words[at] >> 16) as usize {
                0 => return Err(Malformed::Empty { word: at }),
                length if length > words.len() - at => return Err(Malformed::Truncated { word: at }),
                length => at += length,
            }
        }
        Ok(Words(words))
    }

    /// Returns the version, as major and minor number.
    pub fn version(&self) -> (u32, u32) {
        let version = self.0[VERSION_WORD];
        (version >> 16 & 0xff, version >> 8 & 0xff)
    }

    /// Sets the version. What the instructions mean does not depend on it; some versions lack some of them.
    pub fn set_version(&mut self, (major, minor): (u32, u32)) {
        self.0[VERSION_WORD] = major << 16 | minor << 8;
    }

    /// Returns the number of the program that made the module.
    pub fn generator(&self) -> u32 {
        self.0[GENERATOR_WORD] >> 16
    }

    /// Sets the number of the program that made the module.
    #[cfg(test)]
    pub(super) fn set_generator(&mut self, generator: u32) {
        self.0[GENERATOR_WORD] = generator << 16;
    }

    /// Returns the bound: all ids are less.
    pub fn bound(&self) -> Id {
        self.0[BOUND_WORD]
    }

    /// Sets the bound of the ids.
    pub fn set_bound(&mut self, bound: Id) {
        self.0[BOUND_WORD] = bound;
    }

    /// Returns the instructions in order.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'_>> {
        let mut rest = &self.0[HEADER_WORDS..];
        std::iter::from_fn(move || {
            let first = *rest.first()?;
            // Lengths were checked when the module was read.
            let (instruction, others) = rest.split_at_checked((first >> 16) as usize)?;
            rest = others;
            Some(Instruction { opcode: first & 0xffff, operands: instruction.get(1..)? })
        })
    }

    /// Returns a module with the instructions that `rewrite` appends to the given words for each of this one's (see
    /// [`push`]).
    #[must_use]
    pub fn rewritten(&self, mut rewrite: impl FnMut(Instruction<'_>, &mut Vec<u32>)) -> Words {
        let mut words = self.0[..HEADER_WORDS].to_vec();
        for instruction in self.instructions() {
            rewrite(instruction, &mut words);
        }
        Words(words)
    }

    /// Returns the module with these words, which are whole instructions, after its own.
    #[must_use]
    pub(super) fn followed_by(mut self, words: &[u32]) -> Words {
        self.0.extend_from_slice(words);
        self
    }

    /// Returns the module as little-endian bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Returns the names of ids (`OpName`), the first where an id has several; empty names are left out.
    pub fn names(&self) -> HashMap<Id, String> {
        self.texts(op::NAME)
    }

    /// Returns the texts of `OpString`.
    pub fn strings(&self) -> HashMap<Id, String> {
        self.texts(op::STRING)
    }

    /// Returns the extended instruction sets with debug information that the module imports, by id and name.
    pub fn debug_sets(&self) -> Vec<(Id, String)> {
        let mut sets: Vec<(Id, String)> = self.texts(op::EXT_INST_IMPORT).into_iter().collect();
        sets.retain(|(_, name)| name.contains("DebugInfo"));
        sets.sort_unstable();
        sets
    }

    fn texts(&self, opcode: u32) -> HashMap<Id, String> {
        let mut texts = HashMap::new();
        for instruction in self.instructions().filter(|instruction| instruction.opcode == opcode) {
            let Some((id, words)) = instruction.operands.split_first() else { continue };
            if let Some(text) = text(words).map(|(text, _)| text).filter(|text| !text.is_empty()) {
                texts.entry(*id).or_insert(text);
            }
        }
        texts
    }

    /// Returns the decorations of ids (`OpDecorate`), in order.
    pub fn decorations(&self) -> impl Iterator<Item = Decoration<'_>> {
        self.instructions().filter(|instruction| instruction.opcode == op::DECORATE).filter_map(|instruction| {
            let [target, kind, operands @ ..] = instruction.operands else { return None };
            Some(Decoration { target: *target, kind: *kind, operands })
        })
    }

    /// Returns the entry points, in order; an ill-formed one is left out.
    pub fn entry_points(&self) -> impl Iterator<Item = EntryPoint> {
        self.instructions().filter(|instruction| instruction.opcode == op::ENTRY_POINT).filter_map(|instruction| {
            let [model, function, rest @ ..] = instruction.operands else { return None };
            let (name, _) = text(rest)?;
            Some(EntryPoint { model: *model, function: *function, name })
        })
    }
}

/// Appends an instruction to words. Its operands must be fewer than 65,535.
pub fn push(words: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | opcode);
    words.extend_from_slice(operands);
}

/// Reads a literal string: UTF-8 in little-endian words, ended by a zero byte. Returns it with the words after it;
/// `None` if it does not end.
pub fn text(words: &[u32]) -> Option<(String, &[u32])> {
    let last = words.iter().position(|word| word.to_le_bytes().contains(&0))?;
    let bytes: Vec<u8> = words[..=last].iter().flat_map(|word| word.to_le_bytes()).take_while(|b| *b != 0).collect();
    Some((String::from_utf8_lossy(&bytes).into_owned(), &words[last + 1..]))
}

/// Writes a literal string, the inverse of [`text`].
pub fn literal(text: &str) -> Vec<u32> {
    let mut bytes: Vec<u8> = text.bytes().take_while(|byte| *byte != 0).collect();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytes.as_chunks::<4>().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect()
}

fn words_of(bytes: &[u8]) -> Result<Vec<u32>, Malformed> {
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
pub(super) mod tests {
    use super::*;

    /// Makes a module of these instructions, each its opcode and operands.
    pub fn module(instructions: &[&[u32]]) -> Words {
        let mut words = vec![MAGIC, 0x0001_0200, 0, 100, 0];
        for instruction in instructions {
            push(&mut words, instruction[0], &instruction[1..]);
        }
        Words(words)
    }

    #[test]
    fn names_decorations_and_entry_points_are_read() {
        let ab = u32::from_le_bytes(*b"ab\0\0");
        let module = module(&[
            &[op::NAME, 7, ab],
            &[op::NAME, 7, 0x63],
            &[op::NAME, 8, 0],
            // A text without an end.
            &[op::NAME, 9, 0x6161_6161],
            &[op::STRING, 3, u32::from_le_bytes(*b"long"), 0],
            &[op::DECORATE, 7, 1, 5],
            &[op::DECORATE, 7],
            &[op::ENTRY_POINT, 6, 7, ab, 8],
        ]);
        assert_eq!(module.names(), HashMap::from([(7, "ab".to_owned())]));
        assert_eq!(module.strings(), HashMap::from([(3, "long".to_owned())]));
        let decorations: Vec<_> = module.decorations().collect();
        assert_eq!(decorations, [Decoration { target: 7, kind: 1, operands: &[5] }]);
        let entries: Vec<_> = module.entry_points().collect();
        assert_eq!(entries, [EntryPoint { model: 6, function: 7, name: "ab".to_owned() }]);
        assert_eq!(literal("ab"), [ab]);
        assert_eq!(literal("long"), [u32::from_le_bytes(*b"long"), 0]);
        assert_eq!(module.version(), (1, 2));
        for written in ["", "a", "long", "longer"] {
            assert_eq!(text(&literal(written)), Some((written.to_owned(), &[][..])));
        }
        assert_eq!(Words::parse(&module.bytes()), Ok(module));
    }

    #[test]
    fn either_byte_order_is_read_and_broken_modules_are_named() {
        let module = module(&[&[op::CAPABILITY, 6]]);
        let little = module.bytes();
        let big: Vec<u8> = little.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
        assert_eq!(Words::parse(&big), Ok(module));
        assert_eq!(Words::parse(b"\x7fELF"), Err(Malformed::Magic));
        assert_eq!(Words::parse(b""), Err(Malformed::Magic));
        assert_eq!(Words::parse(&little[..8]), Err(Malformed::Header));
        assert_eq!(Words::parse(&little[..little.len() - 1]), Err(Malformed::Length));
        assert_eq!(Words::parse(&little[..little.len() - 4]), Err(Malformed::Truncated { word: 5 }));
        let mut zero = little.clone();
        zero.extend([0; 4]);
        assert_eq!(Words::parse(&zero), Err(Malformed::Empty { word: 7 }));
    }
}
