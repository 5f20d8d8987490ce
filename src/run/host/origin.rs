//! The code of a captured program, in forms that kassay reads.

use std::path::PathBuf;

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};

use super::build_options::absolute;
use super::records::{Constant, Origin, Program};
use super::spool::Spool;

/// Code that kassay can read.
#[derive(Debug, Clone)]
pub enum Code {
    /// OpenCL C.
    Source {
        /// The text that the kernel's file gets.
        text: Vec<u8>,
        /// The pieces that the program gave, in order.
        pieces: Vec<Vec<u8>>,
        /// Files beside it: headers and texts that it includes.
        files: Vec<(String, Vec<u8>)>,
        /// Files of the disk that it includes, as they were during the build.
        includes: Vec<IncludedFile>,
        /// As the program gave them.
        options: String,
        /// The working directory of the build.
        directory: PathBuf,
    },
    /// A module.
    Module {
        /// Its contents.
        bytes: Vec<u8>,
        /// `spv` or `bc`.
        extension: &'static str,
        /// Values of specialisation constants.
        constants: Vec<Constant>,
    },
}

/// A file of the disk that a source includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludedFile {
    /// The folder in which it was found, absolute: of `-I`, the working directory, or the root.
    pub folder: PathBuf,
    /// Its path in that folder, which it does not leave.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Returns how many forms a program's code may be there in, at most.
pub fn most_forms(program: &Program) -> usize {
    let own = match &program.origin {
        Origin::Binary { binary } => binary.len(),
        Origin::Source { .. } | Origin::Linked { .. } | Origin::Il { .. } | Origin::BuiltIn { .. } => 1,
    };
    own + usize::from(program.built.is_some())
}

/// Returns the forms in which a program's code is there, those first that tell most. Empty: kassay cannot read it.
pub fn code_of(spool: &Spool, program: &Program) -> Vec<Code> {
    let of = |blob: &str| module(spool.contents(blob)?, program);
    let mut forms = Vec::new();
    match &program.origin {
        Origin::Source { .. } => forms.extend(source(spool, &[program])),
        Origin::Linked { inputs } => {
            let inputs: Option<Vec<&Program>> = inputs.iter().map(|id| spool.programs.get(id)).collect();
            forms.extend(source(spool, &inputs.unwrap_or_default()));
        }
        Origin::Il { il } => forms.extend(of(&il.blob)),
        Origin::Binary { binary } => forms.extend(binary.iter().filter_map(|piece| of(&piece.blob))),
        Origin::BuiltIn { .. } => {}
    }
    forms.extend(program.built.as_ref().and_then(|built| of(&built.blob)));
    forms
}

/// Returns the source of a program that was linked from these, or is the only one; `None` if one has no source, their
/// options differ, or contents are missing.
fn source(spool: &Spool, inputs: &[&Program]) -> Option<Code> {
    let (first, others) = inputs.split_first()?;
    if others.iter().any(|other| other.options != first.options) {
        return None;
    }
    let (mut texts, mut files, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
    let mut includes: Vec<IncludedFile> = Vec::new();
    for input in inputs {
        let Origin::Source { pieces: own } = &input.origin else { return None };
        for piece in own {
            pieces.push(spool.contents(&piece.blob)?);
        }
        texts.push(spool.text(own)?);
        for header in &input.headers {
            let file = (header.name.clone(), spool.text(&header.pieces)?);
            if !files.contains(&file) {
                files.push(file);
            }
        }
        for file in input.includes.iter().filter(|file| is_below(&file.name)) {
            let (folder, bytes) = (absolute(&file.folder), spool.contents(&file.blob)?);
            match includes.iter().find(|known| known.folder == folder && known.name == file.name) {
                None => includes.push(IncludedFile { folder, name: file.name.clone(), bytes }),
                Some(known) if known.bytes == bytes => {}
                // It changed from one compilation to the next.
                Some(_) => return None,
            }
        }
    }
    // Names by which sources include headers stay below the kernel's folder.
    if files.iter().any(|(name, _)| !is_below(name)) {
        return None;
    }
    let text = match &texts[..] {
        [only] => only.clone(),
        several => {
            let mut all = String::new();
            for (number, text) in (1..).zip(several) {
                let name = format!("part-{number}.cl");
                all += &format!("#include \"{name}\"\n");
                files.push((name, text.clone()));
            }
            all.into_bytes()
        }
    };
    let options = first.options.clone().unwrap_or_default();
    let directory = first.directory.clone().unwrap_or_default();
    Some(Code::Source { text, pieces, files, includes, options, directory })
}

fn is_below(name: &str) -> bool {
    use std::path::{Component, Path};
    !name.is_empty()
        && !name.contains('\0')
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Recognises SPIR-V, LLVM bitcode, and binaries with such a module in them.
fn module(bytes: Vec<u8>, program: &Program) -> Option<Code> {
    if let Some(extension) = kind(&bytes) {
        return Some(Code::Module { bytes, extension, constants: program.constants.clone() });
    }
    // Intel's runtime keeps the module in the section .ocl.ir, as clang gave it.
    let bytes = section(&bytes, b".ocl.ir")?.to_vec();
    let extension = kind(&bytes)?;
    // The constants have their values in it already.
    Some(Code::Module { bytes, extension, constants: Vec::new() })
}

/// Returns the contents of a section by its header alone: Intel's files have no version, and their sections no type, so
/// that a reader of whole files refuses them.
fn section<'a>(elf: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    // 64 bits, little endian.
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (file, _) = object::pod::from_bytes::<FileHeader64<LittleEndian>>(elf).ok()?;
    let table = file.sections(LittleEndian, elf).ok()?;
    let header = table.iter().find(|header| table.section_name(LittleEndian, header) == Ok(name))?;
    let start = usize::try_from(header.sh_offset(LittleEndian)).ok()?;
    let length = usize::try_from(header.sh_size(LittleEndian)).ok()?;
    elf.get(start..start.checked_add(length)?)
}

/// Tells modules apart by their first bytes.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes.first_chunk()? {
        [0x03, 0x02, 0x23, 0x07] | [0x07, 0x23, 0x02, 0x03] => Some("spv"),
        // With and without LLVM's wrapper.
        [b'B', b'C', 0xC0, 0xDE] | [0xDE, 0xC0, 0x17, 0x0B] => Some("bc"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_told_apart() {
        assert_eq!(kind(b"\x03\x02\x23\x07...."), Some("spv"));
        assert_eq!(kind(b"BC\xC0\xDE...."), Some("bc"));
        assert_eq!((kind(b"\x7FELF"), kind(b"BC")), (None, None));
    }

    #[test]
    fn headers_stay_below_the_kernels_folder() {
        assert!(is_below("a.h") && is_below("inc/./a.h"));
        assert!(!is_below("../a.h") && !is_below("/etc/a.h") && !is_below("inc/../../a.h") && !is_below(""));
    }
}
