//! Asks spirv-val about a module. What it says is only reported: Debian's version rejects some modules that are right.

use std::path::Path;

use kassay_base::external_tools::{How, SPIRV_VAL, run};

/// What spirv-val says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is not installed, or has given no answer.
    None,
    Valid,
    /// Why the module is invalid.
    Invalid(String),
}

/// Asks about a file of SPIR-V of a version, by the rules that hold in every environment.
pub(super) fn ask(module: &Path, (major, minor): (u32, u32)) -> Verdict {
    let Ok(program) = SPIRV_VAL.find() else { return Verdict::None };
    let environment = format!("spv{major}.{minor}");
    match run(&program, &["--target-env".into(), environment.into(), module.into()], None) {
        Ok(ended) => match ended.how {
            How::Succeeded => Verdict::Valid,
            How::Refused => Verdict::Invalid(ended.output.trim().trim_start_matches("error: ").to_owned()),
            How::Crashed(_) => Verdict::None,
        },
        Err(_) => Verdict::None,
    }
}
