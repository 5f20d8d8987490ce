//! Runs the external programs that this room uses, and interprets a missing program, a crash or a rejected input.
//!
//! Not for what the programs are asked to do (`compile`).

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crate::error::{Error, Result};

/// A program and the Debian package that provides it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    pub program: &'static str,
    /// Where the package installs it, for when it is not on `PATH`.
    pub fallback: &'static str,
    pub package: &'static str,
}

/// The compiler for OpenCL C. Only its path is used, see `clang`.
pub(super) const CLANG: Tool =
    Tool { program: "clang-22", fallback: "/usr/lib/llvm-22/bin/clang", package: "clang-22" };
/// The translator from SPIR-V to LLVM IR.
pub(super) const LLVM_SPIRV: Tool =
    Tool { program: "llvm-spirv-15", fallback: "/usr/bin/llvm-spirv-15", package: "llvm-spirv-15" };

impl Tool {
    /// Calls `spawn` with the program on `PATH`, or with the one at `fallback` if there is none.
    pub fn start<T>(&self, spawn: impl Fn(&mut Command) -> io::Result<T>) -> Result<T> {
        let started = match spawn(&mut Command::new(self.program)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => spawn(&mut Command::new(self.fallback)),
            other => other,
        };
        started.map_err(|error| self.missing(&error))
    }

    /// The path of the program: on `PATH`, or else `fallback`; symbolic links are resolved.
    pub fn find(&self) -> Result<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let candidates = std::env::split_paths(&path).map(|folder| folder.join(self.program));
        candidates
            .chain(std::iter::once(PathBuf::from(self.fallback)))
            .find_map(|candidate| candidate.canonicalize().ok().filter(|file| file.is_file()))
            .ok_or_else(|| self.missing(&io::Error::from(io::ErrorKind::NotFound)))
    }

    fn missing(&self, error: &io::Error) -> Error {
        Error::environment(format!("{} cannot be run: {error}", self.program))
            .help(format!("install the Debian package {} (apt-get install {0})", self.package))
    }

    /// Returns whether a failed run is a crash of the program rather than its rejection of the input.
    pub fn crashed(&self, status: ExitStatus, stderr: &str) -> bool {
        status.signal().is_some()
            || status.code().is_some_and(|code| code >= 128)
            || stderr.contains("PLEASE submit a bug report")
    }

    /// The error for a crash of the program.
    pub fn crash(&self, stderr: &str) -> Error {
        Error::internal(format!("{} crashed", self.program))
            .details(stderr)
            .help("this is a bug of that tool; a smaller kernel that still crashes it helps to report it")
    }
}
