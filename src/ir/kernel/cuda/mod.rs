//! What CUDA and HIP need besides clang: headers, and a module in the form of OpenCL C's.
//!
//! Sources are compiled for SPIR-V with the headers of `include/`, which declare device functions as OpenCL's builtins,
//! and host functions so that any call parses. In clang's child, `module.cpp` and the files beside it then bring the
//! module into the form in which clang leaves OpenCL C, so that nothing after it knows of the language.

pub mod headers;
pub mod missing;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_base::files::{self, Sandbox};
use kassay_model::kernel_files::KernelFile;
use kassay_model::options::{KernelOptions, Language};

use super::bytes::Reader;
use super::refusal;

/// How lines of diagnostics begin that `compile.cpp` writes about what was left out.
pub const NOTE: &str = "kassay: note: ";

/// How names of variables begin that make clang instantiate a template.
const INSTANCE: &str = "kassay_instance_";

/// How names of functions begin that the headers declare and kassay does not have (`KASSAY_ABSENT`).
const ABSENT: &str = "cuda.";

/// Refuses a version of OpenCL C for CUDA, and instances of templates for other languages.
///
/// # Errors
/// `Caller` if an option names one.
pub fn check_options(source: &Path, options: &KernelOptions) -> Result<()> {
    let is_cuda = options.language(source) == Language::Cuda;
    if let Some(instance) = options.instances().next().filter(|_| !is_cuda) {
        let what = format!("{} is no CUDA, and has no template `{instance}` to be instantiated", source.display());
        return Err(Error::caller(what).help("leave out --instantiate"));
    }
    match options.named_cl_std() {
        Some(version) if is_cuda => {
            let what = format!("{} is CUDA, which has no version {version}: that is one of OpenCL C", source.display());
            Err(Error::caller(what).help("leave out --cl-std; --std chooses the version of C++, such as c++20"))
        }
        _ => Ok(()),
    }
}

/// The lines at the end of the source by which clang instantiates the templates that the options name.
pub(super) fn instantiations(options: &KernelOptions) -> String {
    // Its address makes clang instantiate a kernel.
    let line = |(number, instance)| format!("\nstatic auto *const {INSTANCE}{number} = &{instance};");
    let mut lines: String = options.instances().enumerate().map(line).collect();
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines
}

/// Whether clang has not found the headers of C++'s standard library.
pub fn lacks_library(diagnostics: &str) -> bool {
    // The second is of clang's own wrapper of the header, which comes first where clang finds its own folder.
    ["'cmath' file not found", "Could not find standard C++ header"].iter().any(|text| diagnostics.contains(text))
}

/// The error for a source that clang refuses.
pub fn refusal(source: &Path, diagnostics: String) -> Error {
    if lacks_library(&diagnostics) {
        let what =
            format!("{} needs the headers of C++'s standard library, which clang-22 does not find", source.display());
        return Error::environment(what)
            .details(diagnostics)
            .help("install them: on Debian 12, `apt-get install libstdc++-12-dev`");
    }
    let launches = diagnostics.contains("kernel launch from __device__ or __global__ function");
    let is_instance = diagnostics.lines().any(|line| line.contains(INSTANCE));
    let error = refusal::of(source, diagnostics, "--std");
    if launches {
        return error.help("kassay has no dynamic parallelism: only a host launches kernels");
    }
    if is_instance {
        return error
            .help("--instantiate must name a template of the file with its arguments, such as 'reduce<float, 64>'");
    }
    match includer(source) {
        Some(other) => error.help(format!(
            "{} includes this file: perhaps that is the one to give; or give what this one needs with -D, -I, --std or \
             --clang-arg",
            other.display()
        )),
        None => error,
    }
}

/// A file of the same folder that includes this one, which is then only a part of a source.
fn includer(source: &Path) -> Option<PathBuf> {
    let name = source.file_name()?.to_str()?;
    let sandbox = Sandbox::around(source).ok()?;
    let includes = |path: &PathBuf| {
        let text = files::read_text(path, Some(&sandbox)).unwrap_or_default();
        let mut included = text.lines().filter_map(|line| line.trim_start().strip_prefix("#include"));
        included.any(|rest| rest.contains(&format!("\"{name}\"")))
    };
    let folder = source.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside: Vec<PathBuf> = folder.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    beside.sort();
    beside.into_iter().filter(|path| KernelFile::of(path) == Some(KernelFile::Cuda) && path != source).find(includes)
}

/// The error for a source without kernels.
pub fn no_kernel(source: &Path) -> Error {
    Error::caller(format!("{} has no kernel", source.display())).help(
        "a kernel is a function with a body that is declared __global__; a template is one once it is instantiated, by a \
         launch or by --instantiate, such as --instantiate 'reduce<float, 64>'",
    )
}

/// Reads the names of instances that clang found (`instances.cpp`).
pub fn instances(records: &[u8]) -> Vec<String> {
    let mut reader = Reader::new(records);
    std::iter::from_fn(|| reader.block()).map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Says which templates became kernels because host functions launch them.
pub fn note_of_instances(source: &Path, names: &[String]) -> String {
    const SHOWN: usize = 8;
    let listed: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let others = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        others => format!(" and {others} others"),
    };
    format!(
        "{NOTE}{} has the kernels {}{others} because skipped host functions launch them\n",
        source.display(),
        listed.join(", ")
    )
}

/// Says that the search for such templates was given up.
pub fn note_of_search(source: &Path) -> String {
    format!(
        "{NOTE}{}: templates that its host functions launch were sought in vain for long; --instantiate names them, such \
         as --instantiate 'reduce<float, 64>'\n",
        source.display()
    )
}

/// The numbers of the instances that clang refuses.
pub fn wrong_instances(error: &Error) -> BTreeSet<usize> {
    let text = error.to_string();
    let after = text.match_indices(INSTANCE).map(|(at, name)| &text[at + name.len()..]);
    after.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()).collect()
}

/// What is said of a function that the headers declare and kassay does not have; `None` for other functions.
pub fn absent(callee: &str) -> Option<(String, &'static str)> {
    let name = callee.strip_prefix(ABSENT)?;
    if let Some(instruction) = name.strip_prefix("ptx ") {
        let what = format!("`{instruction}` in inline assembly");
        return Some((what, "kassay does not have that of PTX (docs/cuda.md lists what it has): write it in C++"));
    }
    if let Some(function) = name.strip_prefix("apart ") {
        let what = format!("`{function}` in two steps that stand apart");
        return Some((
            what,
            "kassay has barriers at which all threads arrive and wait: put the wait right behind the arrival, or use \
             arrive_and_wait or sync (docs/cuda.md)",
        ));
    }
    Some(match name {
        "other_texel" => (
            "a function of textures or surfaces for a type that kassay has no texels of".to_owned(),
            "texels are char, short, int (signed and unsigned) and float, and vectors of 1, 2 and 4 of these",
        ),
        "pointer many" => (
            "one of more than 64 functions through a pointer".to_owned(),
            "kassay chooses among at most 64: divide the table, or choose by a `switch`",
        ),
        "pointer unknown" => (
            "a function through a pointer of which is not known what it may be".to_owned(),
            "a host can set it, or no function of its type has its address taken: make the variable or table `const`, \
             or let the host pass a number by which the kernel chooses",
        ),
        "boundary" => (
            "a function of surfaces whose boundary mode is not known to be cudaBoundaryModeTrap".to_owned(),
            "kassay has no other: compare coordinates with the surface's size",
        ),
        _ => match of_handle(name) {
            Some(function) => (
                format!("`{function}` with a handle that cannot become an image"),
                "textures and surfaces become images if their handles are parameters, or variables of the program, \
                 that only such functions use, all for images of one kind: handles in structs and arrays, and those \
                 that are chosen or compared, are none (docs/cuda.md)",
            ),
            None => (format!("`{name}`"), "kassay does not have it for CUDA yet (docs/cuda.md lists what it has)"),
        },
    })
}

/// The name in the source of a function of textures or surfaces that still takes a handle (`textures.cpp`).
fn of_handle(name: &str) -> Option<&str> {
    let (of, rest) = name.split_once('.')?;
    let (function, _) = rest.split_once('.')?;
    matches!(of, "texture" | "fetch" | "surface").then_some(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_declared_only_are_named() {
        assert_eq!(absent("cuda.texCubemap").unwrap().0, "`texCubemap`");
        let handle = absent("cuda.texture.tex1D._Z11read_imagef14ocl_image1d_ro11ocl_samplerf").unwrap().0;
        assert!(handle.starts_with("`tex1D` with a handle"), "{handle}");
        assert!(absent("cuda.pointer many").unwrap().0.contains("64 functions through a pointer"));
        assert!(absent("tex2D").is_none());
        assert_eq!(absent("cuda.ptx cp.async.ca").unwrap().0, "`cp.async.ca` in inline assembly");
    }
}
