//! Describes how a kernel is to be compiled: the user's options, and the clang arguments derived from them.
//!
//! Not for running clang (`compile`).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kassay_base::error::Place;
use kassay_base::files::Sandbox;

use crate::kernel_files::KernelFile;

/// The options given by `-D`, `-I`, `--cl-std`, `--clang-arg`, `--spec` and the suite's `options` and `spec`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelOptions {
    /// `NAME` or `NAME=VALUE`, without `-D`.
    pub defines: Vec<String>,
    /// Folders for `#include`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// `CL1.2`, `CL2.0`, `CL3.0`, `clc++2021` …, as clang spells it; `None` is the default of the [`Language`].
    pub cl_std: Option<String>,
    /// Passed to clang unchanged, after kassay's own arguments.
    pub clang_args: Vec<String>,
    /// The suite's `options`. They come last, so that they override all others.
    pub suite_options: Vec<String>,
    /// Values of SPIR-V's specialisation constants; a later one for the same constant replaces an earlier one.
    pub spec: Vec<SpecValue>,
    /// The numbers of the specialisation constants whose values the code must not show, because there are tests with
    /// others (`spirv::opaque`).
    pub varying_spec: BTreeSet<u32>,
    /// How many work-items the sub-groups of kernels have that use them and require no size of their own.
    pub sub_group_size: Option<u32>,
    /// Whether to ask spirv-val about SPIR-V.
    pub validate: bool,
    /// The folders of which files may be read; `None`: all files may be.
    pub sandbox: Option<Sandbox>,
    /// When compilation has to end because the caller's time is up.
    pub deadline: Option<Instant>,
}

/// A value for one of SPIR-V's specialisation constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecValue {
    /// The constant's number (`SpecId`) or its name (`OpName`).
    pub constant: String,
    /// `true`, `false` or a number: what it means depends on the constant's type.
    pub value: String,
    /// The places of the constant and of the value in the suite that gives them.
    pub places: Option<(Place, Place)>,
}

impl SpecValue {
    /// Reads `CONSTANT=VALUE`; `None` if there is no `=` or nothing before or after it.
    pub fn parse(text: &str) -> Option<SpecValue> {
        let (constant, value) = text.split_once('=').map(|(constant, value)| (constant.trim(), value.trim()))?;
        let is_whole = !constant.is_empty() && !value.is_empty();
        is_whole.then(|| SpecValue { constant: constant.into(), value: value.into(), places: None })
    }
}

/// The version of OpenCL C if no option names one.
pub const DEFAULT_CL_STD: &str = "CL1.2";

/// The version of C++ for OpenCL if no option names one: that for OpenCL 3.0.
pub const DEFAULT_CPP_STD: &str = "clc++2021";

/// The version of C++ in which CUDA is read if no option names one.
pub const DEFAULT_CUDA_STD: &str = "c++17";

/// The folder in which clang finds kassay's headers for CUDA. They are in memory only.
pub const CUDA_HEADERS: &str = "/kassay/cuda/include";

/// The language of a kernel's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// OpenCL C.
    OpenClC,
    /// C++ for OpenCL 1.0 or 2021.
    CppForOpenCl,
    /// CUDA or HIP, of which device code is compiled.
    Cuda,
}

impl Language {
    /// The name that clang's `-x` takes.
    pub fn clang_name(self) -> &'static str {
        match self {
            Language::OpenClC => "cl",
            Language::CppForOpenCl => "clcpp",
            Language::Cuda => "cuda",
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Language::OpenClC => "OpenCL C",
            Language::CppForOpenCl => "C++ for OpenCL",
            Language::Cuda => "CUDA",
        }
    }

    fn default_version(self) -> &'static str {
        match self {
            Language::OpenClC => DEFAULT_CL_STD,
            Language::CppForOpenCl => DEFAULT_CPP_STD,
            Language::Cuda => DEFAULT_CUDA_STD,
        }
    }
}

/// Which declarations are visible to a compilation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Features {
    /// OpenCL C 3.0 without generic pointers, pipes, device queues and program-scope variables, C++ for OpenCL 2021
    /// without pipes and device queues; every other version with all of its features.
    Reduced,
    /// All features of the language version.
    AllOfVersion,
    /// Those of clang's OpenCL header as well: functions of vendor extensions, which clang does not declare by itself.
    Header,
    /// For CUDA, the device's side only: bodies of host functions are skipped, and missing headers are taken as empty.
    WithoutHost,
    /// For CUDA, only which templates launches make kernels: errors do not matter, and nothing is compiled.
    Instances,
}

/// Optional features of OpenCL C 3.0 that are disabled at first: without them, C11 atomics and pointers keep their
/// named address spaces, which every consumer of SPIR-V 1.2 accepts.
const CL3_DISABLED_FEATURES: &str = "-cl-ext=-__opencl_c_generic_address_space,-__opencl_c_device_enqueue,-__opencl_c_pipes,\
                           -__opencl_c_program_scope_global_variables";

/// Optional features of C++ for OpenCL 2021 that are disabled at first. Objects are generic pointers' targets, and
/// static members are at program scope: these features stay.
const CPP2021_DISABLED_FEATURES: &str = "-cl-ext=-__opencl_c_device_enqueue,-__opencl_c_pipes";

/// Extensions that clang announces for SPIR-V, though no device that takes SPIR-V has their functions: kernels ask by
/// `#ifdef`.
const FOREIGN_EXTENSIONS: &str = "-cl-ext=-cl_amd_media_ops,-cl_amd_media_ops2";

/// The diagnostic of a pointer whose type is not the parameter's.
const POINTER_TYPES: &str = "incompatible-pointer-types";

/// Diagnostics that are errors by default in clang 22, but that OpenCL drivers, built on earlier clangs, accept
/// with a warning.
pub const ACCEPTED_BY_DRIVERS: &[&str] = &[
    POINTER_TYPES,
    "incompatible-function-pointer-types",
    "int-conversion",
    "implicit-function-declaration",
    "implicit-int",
    "return-mismatch",
    "vec-elem-size",
    "non-pod-varargs",
];

/// How an option begins that names a template of CUDA to be instantiated. It stands among those for clang, so that
/// suites can hold it.
pub const INSTANTIATE: &str = "--instantiate=";

/// What every source is compiled with.
const OF_ALL_LANGUAGES: [&str; 11] = [
    // Messages are cut where they are shown.
    "-ferror-limit=0",
    "-ffp-contract=off",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-g",
    // Otherwise clang splits absolute paths at their common prefix with the current folder.
    "-fdebug-compilation-dir=.",
    "-fno-discard-value-names",
    "-fno-crash-diagnostics",
];

/// Those of kassay's own for CUDA. `-target` would name the host.
fn cuda_arguments(features: Features) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![format!("-std={DEFAULT_CUDA_STD}").into()];
    arguments.extend(OF_ALL_LANGUAGES.map(OsString::from));
    arguments.extend(
        [
            "--cuda-device-only",
            "-nocudainc",
            "-nocudalib",
            "--offload=spirv64",
            // `-g` alone means lines only.
            "-Xclang",
            "-debug-info-kind=limited",
            "-isystem",
            CUDA_HEADERS,
            "-include",
            "kassay/cuda.h",
            "-D__CUDACC_VER_MAJOR__=12",
            "-D__CUDACC_VER_MINOR__=4",
            "-D__CUDACC_VER_BUILD__=0",
            // Of functions that do not fit, only the nearest: headers have many of a name.
            "-fshow-overloads=best",
            // What nvcc accepts.
            "-Wno-register",
            "-Wno-c++11-narrowing",
            "-Wno-unknown-attributes",
            "-Wno-error=int-to-pointer-cast",
        ]
        .map(OsString::from),
    );
    match features {
        Features::WithoutHost => arguments.extend(["-Xclang", "-skip-function-bodies"].map(OsString::from)),
        Features::Instances => arguments.extend(["-Xclang", "-fsyntax-only"].map(OsString::from)),
        _ => {}
    }
    arguments
}

/// Returns whether an option only chooses the optimisation level. kassay needs the raw form, in which
/// clang optimises nothing.
fn is_optimisation_level(option: &str) -> bool {
    option == "-cl-opt-disable"
        || option.strip_prefix("-O").is_some_and(|level| level.is_empty() || level.len() == 1 || level == "fast")
}

impl KernelOptions {
    /// The language of the source file: by its extension, or C++ for OpenCL by the version that the options name.
    pub fn language(&self, source: &Path) -> Language {
        if KernelFile::of(source) == Some(KernelFile::Cuda) {
            return Language::Cuda;
        }
        let is_cpp = KernelFile::of(source) == Some(KernelFile::CppForOpenCl);
        let named = self.named_cl_std().unwrap_or_default().to_ascii_lowercase();
        if is_cpp || named.starts_with("clc++") { Language::CppForOpenCl } else { Language::OpenClC }
    }

    /// The effective language version: the last `-cl-std=` among the options, or else `cl_std`, or else the default.
    pub fn effective_cl_std(&self, language: Language) -> &str {
        self.named_cl_std().unwrap_or(language.default_version())
    }

    /// The version of OpenCL C that some option names.
    pub fn named_cl_std(&self) -> Option<&str> {
        self.clang_args
            .iter()
            .chain(&self.suite_options)
            .filter_map(|option| option.strip_prefix("-cl-std="))
            .next_back()
            .or(self.cl_std.as_deref())
    }

    /// The features that are disabled at first; `None` if the version has all of its features.
    fn disabled_features(&self, language: Language) -> Option<&'static str> {
        let version = self.effective_cl_std(language).to_ascii_uppercase();
        match language {
            Language::OpenClC => version.starts_with("CL3").then_some(CL3_DISABLED_FEATURES),
            Language::CppForOpenCl => (version == "CLC++2021").then_some(CPP2021_DISABLED_FEATURES),
            Language::Cuda => None,
        }
    }

    /// Returns whether the user turns all warnings into errors. Diagnostics that are errors by default then stay
    /// errors, as in clang. Single groups (`-Werror=int-conversion`) need no special treatment, because the last option
    /// for a group wins.
    fn turns_warnings_into_errors(&self) -> bool {
        let user_options = self.clang_args.iter().chain(&self.suite_options);
        user_options
            .rev()
            .find(|option| ["-Werror", "-Wno-error"].contains(&option.as_str()))
            .is_some_and(|last| last == "-Werror")
    }

    /// The features to try in turn after clang has rejected the reduced set with `diagnostics`.
    pub fn fallback_features(&self, language: Language, diagnostics: &str) -> Vec<Features> {
        if language == Language::Cuda {
            return vec![Features::WithoutHost];
        }
        let mut fallbacks = Vec::new();
        if self.disabled_features(language).is_some() {
            // The kernel may need a disabled feature: generic pointers or program-scope variables.
            fallbacks.push(Features::AllOfVersion);
        }
        if diagnostics.contains("error: use of undeclared identifier") {
            fallbacks.push(Features::Header);
        }
        fallbacks
    }

    /// The arguments that precede the input file and the kind of output.
    pub fn clang_arguments(&self, language: Language, features: Features) -> Vec<OsString> {
        let mut arguments = match language {
            Language::Cuda => cuda_arguments(features),
            Language::OpenClC | Language::CppForOpenCl => self.opencl_arguments(language, features),
        };
        arguments.extend(self.defines.iter().map(|define| OsString::from(format!("-D{define}"))));
        for dir in &self.include_dirs {
            arguments.push("-I".into());
            arguments.push(dir.into());
        }
        let user_options = self.clang_args.iter().chain(&self.suite_options);
        let is_for_clang = |option: &&String| !is_optimisation_level(option) && !option.starts_with(INSTANTIATE);
        arguments.extend(user_options.filter(is_for_clang).map(OsString::from));
        arguments
    }

    /// The templates of CUDA, with their arguments, that are to be kernels: `reduce<float, 64>`.
    pub fn instances(&self) -> impl Iterator<Item = &str> {
        let user_options = self.clang_args.iter().chain(&self.suite_options);
        user_options.filter_map(|option| option.strip_prefix(INSTANTIATE))
    }

    /// Returns the options with these templates to be kernels, too.
    #[must_use]
    pub fn with_instances(&self, names: &[String]) -> KernelOptions {
        let mut with = self.clone();
        with.clang_args.extend(names.iter().map(|name| format!("{INSTANTIATE}{name}")));
        with
    }

    /// Those of kassay's own for OpenCL.
    fn opencl_arguments(&self, language: Language, features: Features) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        arguments.push(format!("-cl-std={}", self.cl_std.as_deref().unwrap_or(language.default_version())).into());
        arguments.extend(
            [
                "-target",
                "spirv64-unknown-unknown",
                "-fdebug-macro",
                "-cl-kernel-arg-info",
                // The device's version (OpenCL C 3.0, 6.13), which clang leaves to the driver; all devices that take
                // SPIR-V as kassay makes it are of 3.0.
                "-D__OPENCL_VERSION__=300",
            ]
            .map(OsString::from),
        );
        arguments.extend(OF_ALL_LANGUAGES.map(OsString::from));
        arguments.extend(["-Xclang", FOREIGN_EXTENSIONS].map(OsString::from));
        let disabled = self.disabled_features(language).filter(|_| features != Features::AllOfVersion);
        if !self.turns_warnings_into_errors() {
            // Without generic pointers, an overload for another type may be the only one that takes a pointer, with a
            // warning.
            let is_accepted =
                |group: &&&str| **group != POINTER_TYPES || disabled.is_none() || features != Features::Reduced;
            let accepted = ACCEPTED_BY_DRIVERS.iter().filter(is_accepted);
            arguments.extend(accepted.map(|group| OsString::from(format!("-Wno-error={group}"))));
        }
        if let Some(disabled) = disabled {
            arguments.extend(["-Xclang", disabled].map(OsString::from));
        }
        if features == Features::Header {
            arguments.extend(["-cl-no-stdinc", "-include", "opencl-c.h"].map(OsString::from));
        }
        arguments
    }

    /// All options as clang arguments that mean the same in every working directory: what a suite's `options` can hold.
    pub fn as_arguments(&self) -> Vec<String> {
        let mut all: Vec<String> = self.cl_std.iter().map(|std| format!("-cl-std={std}")).collect();
        all.extend(self.defines.iter().map(|define| format!("-D{define}")));
        let absolute = |dir: &PathBuf| std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        all.extend(self.include_dirs.iter().map(|dir| format!("-I{}", absolute(dir).display())));
        all.extend(self.clang_args.iter().chain(&self.suite_options).cloned());
        all
    }

    /// The folders to which clang is confined, with that of temporary copies of files; empty: it is not confined.
    pub fn confined_to(&self, copies: &[&Path]) -> Vec<PathBuf> {
        let Some(sandbox) = &self.sandbox else { return Vec::new() };
        let copies = copies.iter().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()));
        sandbox.folders().iter().cloned().chain(copies).collect()
    }

    /// The folders that `#include` searches, in order, as far as the options name them.
    pub fn include_path(&self) -> Vec<PathBuf> {
        let mut dirs = self.include_dirs.clone();
        let mut user_options = self.clang_args.iter().chain(&self.suite_options);
        while let Some(option) = user_options.next() {
            if ["-I", "-iquote", "-isystem"].contains(&option.as_str()) {
                dirs.extend(user_options.next().map(PathBuf::from));
            } else if let Some(dir) = option.strip_prefix("-I") {
                dirs.push(Path::new(dir).to_owned());
            }
        }
        dirs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(arguments: &[OsString]) -> Vec<&str> {
        arguments.iter().map(|argument| argument.to_str().unwrap()).collect()
    }

    #[test]
    fn suite_options_come_last_and_optimisation_levels_are_dropped() {
        let options = KernelOptions {
            defines: vec!["A=1".into()],
            clang_args: vec!["-Wall".into(), "-O3".into()],
            suite_options: vec!["-DA=2".into(), "-cl-opt-disable".into()],
            ..KernelOptions::default()
        };
        let arguments = options.clang_arguments(Language::OpenClC, Features::Reduced);
        let arguments = strings(&arguments);
        assert_eq!(arguments[arguments.len() - 3..], ["-DA=1", "-Wall", "-DA=2"]);
        assert_eq!(arguments.iter().filter(|argument| argument.starts_with("-O")).collect::<Vec<_>>(), [&"-O1"]);
    }

    #[test]
    fn the_last_language_version_decides() {
        let mut options = KernelOptions { cl_std: Some("CL2.0".into()), ..KernelOptions::default() };
        assert_eq!(options.effective_cl_std(Language::OpenClC), "CL2.0");
        assert_eq!(options.disabled_features(Language::OpenClC), None);
        options.suite_options = vec!["-cl-std=CL1.2".into(), "-cl-std=CL3.0".into()];
        assert_eq!(options.effective_cl_std(Language::OpenClC), "CL3.0");
        assert!(
            strings(&options.clang_arguments(Language::OpenClC, Features::Reduced)).contains(&CL3_DISABLED_FEATURES)
        );
        assert!(
            !strings(&options.clang_arguments(Language::OpenClC, Features::AllOfVersion))
                .contains(&CL3_DISABLED_FEATURES)
        );
    }

    #[test]
    fn the_extension_or_the_version_makes_it_cpp() {
        let mut options = KernelOptions::default();
        let (c, cpp) = (Path::new("k.cl"), Path::new("k.CLCPP"));
        assert_eq!((options.language(c), options.language(cpp)), (Language::OpenClC, Language::CppForOpenCl));
        let reduced = options.clang_arguments(Language::CppForOpenCl, Features::Reduced);
        assert!(strings(&reduced).contains(&"-cl-std=clc++2021"));
        assert!(strings(&reduced).contains(&CPP2021_DISABLED_FEATURES));
        options.suite_options = vec!["-cl-std=CLC++1.0".into()];
        assert_eq!(options.language(c), Language::CppForOpenCl);
        assert_eq!(options.disabled_features(Language::CppForOpenCl), None);
    }
}
