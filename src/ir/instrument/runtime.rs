//! Links the device runtime, the compiled `runtime-cl`, into a module that is to be woven.

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use crate::llvm::{self, Function, Linkage, View};

/// `runtime-cl/coverage.cl` as bitcode (see `build.rs`).
const COVERAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/coverage.bc"));

/// `runtime-cl/infection.cl` likewise.
const INFECTION: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/infection.bc"));
/// `runtime-cl/guard.cl` likewise.
const GUARD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guard.bc"));
/// `runtime-cl/ids.cl` likewise.
const IDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ids.bc"));
/// `runtime-cl/joint.cl` likewise.
const JOINT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/joint.bc"));

/// `runtime-cl/device_races.cl` likewise.
const DEVICE_RACES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/device_races.bc"));

/// Links the coverage probes' functions into `module`.
pub fn link_coverage(module: &Module<'_>) -> Result<()> {
    link(module, COVERAGE, "coverage.cl")
}

/// Links the function that records infections into `module`.
pub fn link_infection(module: &Module<'_>) -> Result<()> {
    link(module, INFECTION, "infection.cl")
}

/// Links the guards' functions into `module`.
pub fn link_guard(module: &Module<'_>) -> Result<()> {
    link(module, GUARD, "guard.cl")
}

/// Links the virtual id functions into `module`.
pub fn link_ids(module: &Module<'_>) -> Result<()> {
    link(module, IDS, "ids.cl")
}

/// Links the functions of joint launches into `module`.
pub fn link_joint(module: &Module<'_>) -> Result<()> {
    link(module, JOINT, "joint.cl")
}

/// Links the functions that look for races on devices into `module`.
pub fn link_device_races(module: &Module<'_>) -> Result<()> {
    link(module, DEVICE_RACES, "device_races.cl")
}

fn link(module: &Module<'_>, bitcode: &[u8], name: &str) -> Result<()> {
    let broken = |e: &dyn std::fmt::Display| Error::internal(format!("the device runtime cannot be linked: {e}"));
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, name);
    let runtime = Module::parse_bitcode_from_buffer(&buffer, module.get_context()).map_err(|e| broken(&e))?;
    runtime.set_triple(&module.get_triple());
    runtime.set_data_layout(&module.get_data_layout());
    let defined = View::of(&runtime).functions().into_iter().filter(|f| f.has_body());
    let names: Vec<String> = defined.map(Function::name).collect();
    let view = View::of(module);
    llvm::link_beside(view, runtime).map_err(|e| broken(&e))?;
    for function in names.iter().filter_map(|name| view.function(name)) {
        // So that nothing of it is left once it is inlined.
        function.set_linkage(Linkage::LLVMInternalLinkage);
    }
    Ok(())
}

/// Returns a function of the linked runtime.
pub fn find<'m>(view: View<'m>, name: &str) -> Result<Function<'m>> {
    view.function(name).ok_or_else(|| Error::internal(format!("the device runtime lacks `{name}`")))
}
