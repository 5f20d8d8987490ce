//! The files that kernels come in: each form has its extensions here, and nowhere else.

use std::path::Path;

/// What a kernel's file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelFile {
    /// OpenCL C, or C++ for OpenCL if an option says so.
    OpenClC,
    /// C++ for OpenCL.
    CppForOpenCl,
    /// CUDA or HIP.
    Cuda,
    /// LLVM IR as text.
    LlvmIr,
    /// LLVM IR as bitcode.
    Bitcode,
    /// A SPIR-V module.
    SpirV,
    /// SPIR-V as `spirv-as` reads it.
    SpirVText,
}

/// The extensions, in lower case.
const EXTENSIONS: &[(&str, KernelFile)] = &[
    ("cl", KernelFile::OpenClC),
    ("ocl", KernelFile::OpenClC),
    ("clcpp", KernelFile::CppForOpenCl),
    ("cu", KernelFile::Cuda),
    ("cuh", KernelFile::Cuda),
    ("hip", KernelFile::Cuda),
    ("ll", KernelFile::LlvmIr),
    ("bc", KernelFile::Bitcode),
    ("spv", KernelFile::SpirV),
    ("spvasm", KernelFile::SpirVText),
];

/// Extensions of files that others include: a folder does not stand for these.
const INCLUDED: &[&str] = &["cuh"];

impl KernelFile {
    /// Returns what the file's extension says; `None` if it is not a kernel's.
    pub fn of(path: &Path) -> Option<KernelFile> {
        let extension = path.extension()?.to_str()?;
        EXTENSIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, file)| *file)
    }

    /// Whether a file of [`KernelFile::Cuda`] is HIP's by its extension.
    pub fn is_hip(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("hip"))
    }

    /// Whether it is text that people write.
    pub fn is_source(self) -> bool {
        matches!(self, KernelFile::OpenClC | KernelFile::CppForOpenCl | KernelFile::Cuda)
    }

    /// Patterns of the names of sources that stand for themselves.
    pub fn source_names() -> Vec<String> {
        sources().map(|extension| format!("*.{extension}")).collect()
    }

    /// The extensions of sources, for people: `.cl, .ocl or .cu`.
    pub fn sources_listed() -> String {
        listed(sources())
    }
}

/// All extensions, for people.
pub fn all_listed() -> String {
    listed(EXTENSIONS.iter().map(|(extension, _)| *extension))
}

fn sources() -> impl Iterator<Item = &'static str> {
    let sources = EXTENSIONS.iter().filter(|(_, file)| file.is_source()).map(|(extension, _)| *extension);
    sources.filter(|extension| !INCLUDED.contains(extension))
}

fn listed(extensions: impl Iterator<Item = &'static str>) -> String {
    let all: Vec<String> = extensions.map(|extension| format!(".{extension}")).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}
