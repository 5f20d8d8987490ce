//! Lowers to SPIR-V with LLVM's own backend: to version 1.2, which every consumer reads, or to the first later one that
//! has what the kernel uses.

use std::ffi::CString;
use std::sync::Once;
use std::time::Duration;

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use kassay_base::cache;
use kassay_base::error::{Error, Result};
use kassay_model::code::{Code, Effort, Lowered};
use serde::{Deserialize, Serialize};

use super::forked::{self, Failure, Job, Limit};
use super::{
    builtins, cached, copy_alignment, emitted, item_bounds, legalise, names, narrow_atomics, narrowed, traps,
    undefined, vector_selects,
};
use crate::kernel::{canonical, cpp_names, inlined, module};
use crate::llvm::{AddressSpace, AttributeIndex, Block, Context, Function, SPIR_KERNEL, Value, View, passes};

/// The target triple of all modules, and of the code that needs no later version.
pub const TRIPLE: &str = "spirv64v1.2-unknown-unknown";

/// The triples of later versions, in order. Sub-groups' non-uniform functions are of 1.3.
const LATER: [&str; 4] = [
    "spirv64v1.3-unknown-unknown",
    "spirv64v1.4-unknown-unknown",
    "spirv64v1.5-unknown-unknown",
    "spirv64v1.6-unknown-unknown",
];

/// Helpers are inlined if the total stays within this number of instructions, so that probe bits stay in registers;
/// otherwise they remain calls.
const INLINE_BUDGET: u64 = 20_000;

/// Extensions that one module may need. Each costs another run of the backend.
const MAX_EXTENSIONS: usize = 8;

/// What the backend says of a module that its version cannot express.
const VERSION_TOO_OLD: &str = "Unable to meet SPIR-V requirements for this target";

/// Time limit of the backend for one module.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns LLVM's SPIR-V target machine.
///
/// # Errors
/// `Environment` if this LLVM was built without the SPIR-V backend.
pub fn machine() -> Result<TargetMachine> {
    machine_of(TRIPLE)
}

fn machine_of(triple: &str) -> Result<TargetMachine> {
    static INITIALISED: Once = Once::new();
    INITIALISED.call_once(|| Target::initialize_all(&InitializationConfig::default()));
    let triple = TargetTriple::create(triple);
    let missing = |why: String| {
        Error::environment(format!("this LLVM cannot emit SPIR-V: {why}")).help("install LLVM 22 (Debian: llvm-22-dev)")
    };
    let target = Target::from_triple(&triple).map_err(|e| missing(e.to_string()))?;
    // At higher levels, the backend of LLVM 22 emitted wrong constant offsets in address computations.
    target
        .create_target_machine(&triple, "", "", OptimizationLevel::None, RelocMode::Default, CodeModel::Default)
        .ok_or_else(|| missing("no target machine".into()))
}

/// Lowers a (woven) module.
///
/// # Errors
/// As [`prepare`]; the inner error is one of [`emit`].
pub fn lower(module: &mut Module<'_>, entry: &str, effort: Effort) -> Lowered {
    let machine = machine()?;
    prepare(module, entry, &machine)?;
    // A host program asks for the kernels of its own SPIR-V by the names that they have there.
    let entry = if cpp_names::is_of_cuda(module) { names::make_plain(module, entry) } else { entry.to_owned() };
    let spirv = match emit(module) {
        Ok(spirv) => spirv,
        Err(refusal @ Error::Internal(_)) => return Ok(Err(refusal)),
        Err(e) => return Err(e),
    };
    let mut options = build_options(module);
    if effort == Effort::Quick {
        options = format!("{options} -cl-opt-disable").trim_start().to_owned();
    }
    Ok(Ok(Code::spirv(spirv, entry, options)))
}

/// Prepares a (woven) module for emission: inlines probes and, within limits, helpers; promotes private variables;
/// simplifies control flow, which keeps woven kernels in a shape that device compilers vectorise.
///
/// # Errors
/// `Caller` if the kernel calls a function that is not defined; `Environment` if it has atomics that SPIR-V lacks;
/// `Internal` if a pass fails or leaves a module that does not verify.
pub fn prepare(module: &mut Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    undefined::refuse(module)?;
    let view = View::of(module);
    narrow_atomics::refuse(view)?;
    // Devices would go on after them with whatever code is there.
    traps::drop_all(view);
    // Positions are kept on the host's side; the code carries none.
    view.strip_debug_info();
    module.set_triple(&TargetTriple::create(TRIPLE));
    // Other kernels beside the entry are there as they are.
    let is_kernel = |f: &Function<'_>| f.name() == entry || f.call_conv() == SPIR_KERNEL;
    let (kernels, helpers): (Vec<_>, Vec<_>) =
        view.functions().into_iter().filter(|f| f.has_body()).partition(is_kernel);
    let fits = |f: &Function<'_>| inlined::size(module, &f.name()).is_some_and(|size| size <= INLINE_BUDGET);
    let all_fit = kernels.iter().all(fits);
    for f in helpers.into_iter().filter(|f| all_fit || legalise::must_be_inlined(*f)) {
        f.attributes(AttributeIndex::Function).add_flag("alwaysinline");
    }
    let passes = "always-inline,globaldce,function(sroa,mem2reg,simplifycfg,scalarize-masked-mem-intrin)";
    passes::run(module, Some(machine), passes)?;
    item_bounds::rewrite(module);
    builtins::for_spirv(module);
    // What builtins have become may be intrinsics.
    legalise::module(module)?;
    vector_selects::widen(module);
    narrowed::mask(module);
    copy_alignment::unify(module);
    canonical::verify(module, "inlining and promotion")
}

/// Emits a prepared module in a child process, because the backend of LLVM 22 crashes on some valid modules. The module
/// declares the SPIR-V extensions that it needs.
///
/// # Errors
/// `Internal` with the backend's message if it crashes, hangs or refuses.
pub fn emit(module: &Module<'_>) -> Result<Vec<u8>> {
    let key = cached::key("spirv", module);
    if let Some(known) = key.as_ref().and_then(cache::find) {
        return Ok(known);
    }
    let bitcode = module.write_bitcode_to_memory();
    let mut wanted = Wanted { triple: TRIPLE.to_owned(), extensions: Vec::new() };
    let mut versions = LATER.into_iter();
    let emitted = loop {
        let emitted = forked::run(Limit::of(LIMIT), Job::new(object, &wanted, bitcode.as_slice()));
        let Err(Failure::Crashed { stderr, .. }) = &emitted else { break emitted };
        // The backend names the extension that it lacks, and ends; of a version it says that it is not enough.
        match required_extension(stderr).filter(|name| !wanted.extensions.contains(name)) {
            Some(name) if wanted.extensions.len() < MAX_EXTENSIONS => wanted.extensions.push(name),
            None if stderr.contains(VERSION_TOO_OLD) => match versions.next() {
                Some(later) => wanted.triple = later.to_owned(),
                None => break emitted,
            },
            _ => break emitted,
        }
    };
    let what = "LLVM's SPIR-V backend could not lower this kernel";
    let help = "this is a limit of LLVM 22, not of the kernel; a report with the kernel is welcome";
    match emitted {
        Ok(Ok(bytes)) => {
            let bytes = checked(bytes).map_err(|error| error.help(help))?;
            if let Some(key) = key {
                cache::keep(&key, &bytes);
            }
            Ok(bytes)
        }
        Ok(Err(message)) => Err(Error::internal(what).details(message).help(help)),
        Err(Failure::Crashed { how, stderr }) => {
            let error = Error::internal(format!("{what}: it {how}")).help(help);
            Err(if stderr.is_empty() { error } else { error.details(stderr) })
        }
        Err(Failure::TimedOut(limit)) => {
            Err(Error::internal(format!("{what}: not done after {} s", limit.as_secs())).help(help))
        }
        Err(Failure::Late) => Err(Error::late("SPIR-V of this kernel")),
        Err(Failure::System(why)) => Err(Error::environment(format!("no process for the backend: {why}"))),
    }
}

/// What the backend is to make of a module.
#[derive(Serialize, Deserialize)]
struct Wanted {
    /// The version of SPIR-V.
    triple: String,
    extensions: Vec<String>,
}

/// In the child: returns the object file of a module.
fn object(wanted: Wanted, bitcode: &[u8]) -> std::result::Result<Vec<u8>, String> {
    if !wanted.extensions.is_empty() {
        let enabled: Vec<String> = wanted.extensions.iter().map(|name| format!("+{name}")).collect();
        let option = CString::new(format!("--spirv-ext={}", enabled.join(","))).map_err(|e| e.to_string())?;
        // SAFETY: a child has no other threads. Names of extensions come from LLVM itself, so it knows the option.
        unsafe { passes::set_option(&option) };
    }
    let (context, text) = (Context::create(), |error: Error| error.to_string());
    let machine = machine_of(&wanted.triple).map_err(text)?;
    let module = module::parse_own(&context, bitcode).map_err(text)?;
    if wanted.triple != TRIPLE {
        module.set_triple(&TargetTriple::create(&wanted.triple));
    }
    let buffer = machine.write_to_memory_buffer(&module, FileType::Object).map_err(|e| e.to_string())?;
    Ok(buffer.as_slice().to_vec())
}

/// Returns the extension whose lack the backend complains of, if it does.
fn required_extension(stderr: &str) -> Option<String> {
    let (_, names) = stderr.split_once("following SPIR-V extension")?;
    let name = &names[names.find("SPV_")?..];
    Some(name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
}

/// Corrects emitted code.
///
/// # Errors
/// `Internal` if it calls a builtin for which the backend has no instruction, or is no SPIR-V.
fn checked(mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    // A module consists of complete words; a memory buffer may end in a NUL that is not part of it.
    bytes.truncate(bytes.len() / 4 * 4);
    let words = emitted::corrected(&bytes)
        .map_err(|why| Error::internal(format!("LLVM's SPIR-V backend made no SPIR-V: {why}")))?;
    match emitted::imported_functions(&words)[..] {
        [] => Ok(words.bytes()),
        ref names => {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", builtins::plain_name(name))).collect();
            Err(Error::internal(format!("SPIR-V has no instruction for {}, which the kernel calls", names.join(", "))))
        }
    }
}

/// Returns the options with which a runtime has to build the module. Generic pointers are a feature of OpenCL 2.0, and
/// Intel's runtime has the builtins for them only if such a version is requested.
pub fn build_options(module: &Module<'_>) -> String {
    let functions = View::of(module).functions().into_iter();
    let mut instructions = functions.flat_map(Function::blocks).flat_map(Block::walk);
    let generic =
        instructions.any(|i| i.operands().into_iter().any(is_generic_pointer) || is_generic_pointer(i.value()));
    if generic { "-cl-std=CL3.0".to_owned() } else { String::new() }
}

fn is_generic_pointer(value: Value<'_>) -> bool {
    value.ty().is_pointer() && value.ty().space() == Some(AddressSpace::Generic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_that_the_backend_lacks_is_found_in_its_words() {
        let of = |text: &str| required_extension(text);
        let words = "LLVM ERROR: f: the builtin requires the following SPIR-V extension: SPV_INTEL_subgroups\nmore";
        assert_eq!(of(words).as_deref(), Some("SPV_INTEL_subgroups"));
        let words = "LLVM ERROR: Inline assembly instructions require the following SPIR-V extension: SPV_INTEL_inline_assembly";
        assert_eq!(of(words).as_deref(), Some("SPV_INTEL_inline_assembly"));
        assert_eq!(of("LLVM ERROR: unable to legalize"), None);
        assert_eq!(of("requires the following SPIR-V extension: (none)"), None);
    }
}
