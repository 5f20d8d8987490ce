//! How a kernel is to be compiled: the caller's wishes, and the clang arguments that follow from them.
//!
//! Not for running clang (`compile`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What `-D`, `-I`, `--cl-std`, `--clang-arg` and the suite's `options` say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelOptions {
    /// `NAME` or `NAME=VALUE`, without `-D`.
    pub defines: Vec<String>,
    pub include_dirs: Vec<PathBuf>,
    /// `CL1.2`, `CL2.0`, `CL3.0` …, as clang spells it; `None` is [`DEFAULT_CL_STD`].
    pub cl_std: Option<String>,
    /// Handed to clang as they are, after kassay's own.
    pub clang_args: Vec<String>,
    /// The suite's `options`: they come last, so that they win over all others.
    pub suite_options: Vec<String>,
    /// When whoever waits for the kernel has no more time.
    pub deadline: Option<Instant>,
}

pub const DEFAULT_CL_STD: &str = "CL1.2";

/// Which declarations a compilation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Features {
    /// CL 3.0 goes without generic pointers, pipes, queues and program-scope variables; other versions have all of theirs.
    Reduced,
    /// All of the language version's.
    Whole,
    /// Those of clang's header for OpenCL too: functions of vendors' extensions, which clang does not declare by itself.
    Header,
}

/// Optional features of OpenCL C 3.0 that are switched off at first, because without them C11 atomics and pointers
/// keep their named address spaces, which every consumer of SPIR-V 1.2 takes.
const CL3_WITHOUT: &str = "-cl-ext=-__opencl_c_generic_address_space,-__opencl_c_device_enqueue,-__opencl_c_pipes,\
                           -__opencl_c_program_scope_global_variables";

/// What clang 22 makes errors of by default and OpenCL drivers, built on earlier clangs, accept with a warning.
pub(super) const ACCEPTED_BY_DRIVERS: &[&str] = &[
    "incompatible-pointer-types",
    "incompatible-function-pointer-types",
    "int-conversion",
    "implicit-function-declaration",
    "implicit-int",
    "return-mismatch",
    "vec-elem-size",
    "non-pod-varargs",
];

/// Options that only choose how much clang optimises; kassay needs the raw form, in which clang optimises nothing.
fn only_optimises(option: &str) -> bool {
    option == "-cl-opt-disable"
        || option.strip_prefix("-O").is_some_and(|level| level.is_empty() || level.len() == 1 || level == "fast")
}

impl KernelOptions {
    /// The language version in force: the last `-cl-std=` among the options, else `cl_std`.
    pub fn effective_cl_std(&self) -> &str {
        self.clang_args
            .iter()
            .chain(&self.suite_options)
            .filter_map(|option| option.strip_prefix("-cl-std="))
            .next_back()
            .or(self.cl_std.as_deref())
            .unwrap_or(DEFAULT_CL_STD)
    }

    pub(super) fn is_cl3(&self) -> bool {
        self.effective_cl_std().to_ascii_uppercase().starts_with("CL3")
    }

    /// Whether the caller makes all warnings errors. What is an error by default is one then, as clang has it; single
    /// groups (`-Werror=int-conversion`) need no care, because the last word on a group counts.
    fn wants_errors(&self) -> bool {
        let wishes = self.clang_args.iter().chain(&self.suite_options);
        wishes
            .rev()
            .find(|option| ["-Werror", "-Wno-error"].contains(&option.as_str()))
            .is_some_and(|last| last == "-Werror")
    }

    /// What to try after clang refused the reduced features with `diagnostics`.
    pub(super) fn further_features(&self, diagnostics: &str) -> Vec<Features> {
        let mut further = Vec::new();
        if self.is_cl3() {
            // The kernel may need what was switched off: generic pointers, program-scope variables.
            further.push(Features::Whole);
        }
        if diagnostics.contains("error: use of undeclared identifier") {
            further.push(Features::Header);
        }
        further
    }

    /// Everything before the input file and the kind of output.
    pub(super) fn clang_arguments(&self, features: Features) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        arguments.push(format!("-cl-std={}", self.cl_std.as_deref().unwrap_or(DEFAULT_CL_STD)).into());
        arguments.extend(
            [
                "-target",
                "spirv64-unknown-unknown",
                "-ffp-contract=off",
                "-O1",
                "-Xclang",
                "-disable-llvm-passes",
                "-Xclang",
                "-disable-lifetime-markers",
                "-g",
                "-fdebug-macro",
                // Else clang splits absolute paths at what they share with the current folder.
                "-fdebug-compilation-dir=.",
                "-fno-discard-value-names",
                "-cl-kernel-arg-info",
                "-fno-crash-diagnostics",
            ]
            .map(OsString::from),
        );
        if !self.wants_errors() {
            arguments.extend(ACCEPTED_BY_DRIVERS.iter().map(|group| OsString::from(format!("-Wno-error={group}"))));
        }
        if features != Features::Whole && self.is_cl3() {
            arguments.extend(["-Xclang", CL3_WITHOUT].map(OsString::from));
        }
        if features == Features::Header {
            arguments.extend(["-cl-no-stdinc", "-include", "opencl-c.h"].map(OsString::from));
        }
        arguments.extend(self.defines.iter().map(|define| OsString::from(format!("-D{define}"))));
        for dir in &self.include_dirs {
            arguments.push("-I".into());
            arguments.push(dir.into());
        }
        let wishes = self.clang_args.iter().chain(&self.suite_options);
        arguments.extend(wishes.filter(|option| !only_optimises(option)).map(OsString::from));
        arguments
    }

    /// All wishes as arguments of clang that mean the same wherever kassay runs: what a suite's `options` can hold.
    pub fn as_arguments(&self) -> Vec<String> {
        let mut all: Vec<String> = self.cl_std.iter().map(|std| format!("-cl-std={std}")).collect();
        all.extend(self.defines.iter().map(|define| format!("-D{define}")));
        let absolute = |dir: &PathBuf| std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        all.extend(self.include_dirs.iter().map(|dir| format!("-I{}", absolute(dir).display())));
        all.extend(self.clang_args.iter().chain(&self.suite_options).cloned());
        all
    }

    /// Folders that `#include` looks in, in order, as far as the options name them.
    pub(super) fn include_path(&self) -> Vec<PathBuf> {
        let mut dirs = self.include_dirs.clone();
        let mut wishes = self.clang_args.iter().chain(&self.suite_options);
        while let Some(option) = wishes.next() {
            if ["-I", "-iquote", "-isystem"].contains(&option.as_str()) {
                dirs.extend(wishes.next().map(PathBuf::from));
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
        let arguments = options.clang_arguments(Features::Reduced);
        let arguments = strings(&arguments);
        assert_eq!(arguments[arguments.len() - 3..], ["-DA=1", "-Wall", "-DA=2"]);
        assert_eq!(arguments.iter().filter(|argument| argument.starts_with("-O")).collect::<Vec<_>>(), [&"-O1"]);
    }

    #[test]
    fn the_last_language_version_decides() {
        let mut options = KernelOptions { cl_std: Some("CL2.0".into()), ..KernelOptions::default() };
        assert_eq!(options.effective_cl_std(), "CL2.0");
        assert!(!options.is_cl3());
        options.suite_options = vec!["-cl-std=CL1.2".into(), "-cl-std=CL3.0".into()];
        assert_eq!(options.effective_cl_std(), "CL3.0");
        assert!(options.is_cl3());
        assert!(strings(&options.clang_arguments(Features::Reduced)).contains(&CL3_WITHOUT));
        assert!(!strings(&options.clang_arguments(Features::Whole)).contains(&CL3_WITHOUT));
    }
}
