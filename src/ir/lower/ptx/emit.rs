//! Optimises a retargeted module and emits it as PTX, in a child process.

use std::sync::Once;
use std::time::Duration;

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use kassay_base::cache;
use kassay_base::error::{Error, Result};
use kassay_model::code::{Effort, LoweringOptions};
use kassay_model::ptx::{ARCHITECTURE, FEATURES, TRIPLE};

use crate::kernel::module;
use crate::llvm::{Context, passes};
use crate::lower::cached;
use crate::lower::forked::{self, Job, Limit};

/// LLVM's time limit for one module.
const LIMIT: Duration = Duration::from_secs(120);

/// Returns LLVM's target machine for PTX.
///
/// # Errors
/// `Environment` if this LLVM was built without the NVPTX backend.
pub fn machine(effort: Effort) -> Result<TargetMachine> {
    static INITIALISED: Once = Once::new();
    INITIALISED.call_once(|| Target::initialize_all(&InitializationConfig::default()));
    let triple = TargetTriple::create(TRIPLE);
    let missing = |why: String| {
        Error::environment(format!("this LLVM cannot emit PTX: {why}")).help("install LLVM 22 (Debian: llvm-22-dev)")
    };
    let target = Target::from_triple(&triple).map_err(|e| missing(e.to_string()))?;
    let level = match effort {
        Effort::Quick => OptimizationLevel::Less,
        Effort::Full => OptimizationLevel::Default,
    };
    // No products and sums become one operation, unless the kernel says so: LLVM's default.
    target
        .create_target_machine(&triple, ARCHITECTURE, FEATURES, level, RelocMode::Default, CodeModel::Default)
        .ok_or_else(|| missing("no target machine".into()))
}

/// Quick code of more bytes is not optimised by the driver, which takes 5 to 7 ms for a KB, and half of that if it does
/// not. What it does not optimise runs up to eight times as long, so that this pays off only for long code.
const MOST_OPTIMISED_BYTES: usize = 256 << 10;

/// Returns the options with which the driver builds code of so many bytes.
pub fn build_options(effort: Effort, bytes: usize) -> String {
    match effort {
        Effort::Quick if bytes > MOST_OPTIMISED_BYTES => "-cl-opt-disable".to_owned(),
        Effort::Quick | Effort::Full => String::new(),
    }
}

/// Emits PTX. The same module gives the same text on every machine.
///
/// # Errors
/// `Internal` if LLVM refuses, crashes or hangs; [`Error::late`] at the deadline.
pub fn emit(module: &Module<'_>, options: &LoweringOptions) -> Result<Vec<u8>> {
    let key = cached::key("ptx", module).map(|key| key.with(&[u8::from(options.effort == Effort::Full)]));
    if let Some(known) = key.as_ref().and_then(cache::find) {
        return Ok(known);
    }
    let limit = Limit::of(LIMIT).until(options.deadline);
    let bitcode = module.write_bitcode_to_memory();
    let ptx = forked::attempt(limit, "PTX of this kernel", Job::new(text, &options.effort, bitcode.as_slice()))?;
    if let Some(key) = key {
        cache::keep(&key, &ptx);
    }
    Ok(ptx)
}

/// Returns LLVM's passes for code of this effort. Quick code needs calls inlined and private variables in registers,
/// and addresses whose memory is known; the driver does the rest.
fn passes_of(effort: Effort) -> &'static str {
    match effort {
        Effort::Quick => {
            "always-inline,globaldce,\
             function(sroa,early-cse,infer-address-spaces,instcombine<no-verify-fixpoint>,simplifycfg)"
        }
        Effort::Full => "default<O2>",
    }
}

/// Does the work, in the child.
fn text(effort: Effort, bitcode: &[u8]) -> Result<Vec<u8>> {
    let (context, machine) = (Context::create(), machine(effort)?);
    let mut module = module::parse_own(&context, bitcode)?;
    passes::run_scalar(&mut module, &machine, passes_of(effort))?;
    let text = machine
        .write_to_memory_buffer(&module, FileType::Assembly)
        .map_err(|e| Error::internal("LLVM's PTX backend could not lower this kernel").details(e.to_string()))?;
    let mut text = text.as_slice().to_vec();
    while text.last() == Some(&0) {
        text.pop();
    }
    Ok(text)
}
