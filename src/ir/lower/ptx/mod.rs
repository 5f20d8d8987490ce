//! Lowers to PTX, which NVIDIA's OpenCL driver builds, by retargeting the module that other devices get as SPIR-V:
//! there is no second run of the front end, so sites and ids agree with other targets by construction.

mod builtins;
mod collectives;
mod emit;
mod printf;
mod retarget;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::code::{Code, Lowered, LoweringOptions};
use kassay_model::ptx::{MOST_ITEMS, WARP};

use super::{builtins as lowered_builtins, names, undefined};
use crate::kernel::canonical;
use crate::kernel::sub_groups;
use crate::llvm::{AddressSpace, AttributeIndex, Function, View};

/// What runs around joint launches on NVIDIA's devices (`runtime-cl/joint_ptx.cl`), as PTX.
pub const JOINT_PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/joint_ptx.ptx"));

/// Lowers a (woven) module.
///
/// # Errors
/// `Caller` if the kernel calls a function that is not defined; `Environment` without libclc, or if this LLVM has no
/// backend for PTX; [`Error::late`] at the deadline. The inner error is `Internal`: a builtin is missing, or LLVM
/// refuses, crashes or hangs.
pub fn lower(module: Module<'_>, entry: &str, options: &LoweringOptions) -> Lowered {
    match lowered(module, entry, options) {
        Err(refusal @ Error::Internal(_)) => Ok(Err(refusal)),
        done => done.map(Ok),
    }
}

fn lowered(module: Module<'_>, entry: &str, options: &LoweringOptions) -> Result<Code> {
    undefined::refuse(&module)?;
    refuse_sub_groups(&module, entry)?;
    lowered_builtins::for_ptx(&module);
    let machine = emit::machine(options.effort)?;
    let mut module = retarget::retarget(module, &machine)?;
    prepare(&module, entry)?;
    builtins::link(&mut module, &machine)?;
    collectives::provide_scratch(&module, MOST_ITEMS)?;
    internalise(&module, entry);
    let entry = names::make_plain(&module, entry);
    canonical::verify(&module, "retargeting to PTX")?;
    let ptx = emit::emit(&module, options)?;
    let build_options = emit::build_options(options.effort, ptx.len());
    Ok(Code::ptx(ptx, entry, build_options))
}

/// Refuses a kernel that requires sub-groups which are no warps.
fn refuse_sub_groups(module: &Module<'_>, entry: &str) -> Result<()> {
    let view = View::of(module);
    let required = view.function(entry).and_then(|kernel| sub_groups::of(view, kernel).required());
    match required.filter(|size| *size != WARP) {
        None => Ok(()),
        Some(size) => Err(Error::environment(format!(
            "kernel `{entry}` requires sub-groups of {size} work-items, where NVIDIA's devices have {WARP}"
        ))
        .help("run it on the simulator with --device sim, or on another device")),
    }
}

/// Gives functions and calls the conventions of PTX.
fn prepare(module: &Module<'_>, entry: &str) -> Result<()> {
    let view = View::of(module);
    let Some(kernel) = view.function(entry) else {
        return Err(Error::internal(format!("`{entry}` is not in its module")));
    };
    for f in view.functions() {
        let attributes = f.attributes(AttributeIndex::Function);
        for name in ["noinline", "optnone"] {
            attributes.remove(name);
        }
        for key in ["target-cpu", "target-features"] {
            attributes.remove_text(key);
        }
    }
    limit_group_size(view, kernel);
    align_local_memory(kernel);
    printf::rewrite(view)
}

/// Says how the local memory that a launch passes is aligned where the kernel does not: the driver takes an argument's
/// alignment from the code, and without one it may place the memory at any byte.
fn align_local_memory(kernel: Function<'_>) {
    for (position, param) in (0..).zip(kernel.params()) {
        let attributes = kernel.attributes(AttributeIndex::Parameter(position));
        if param.ty().is_pointer() && param.ty().space() == Some(AddressSpace::Local) && !attributes.has("align") {
            attributes.add_number("align", LARGEST_LOCAL_UNIT);
        }
    }
}

/// Says how large work-groups are: without a limit, the driver may give a work-item so many registers that a large
/// group has no room.
fn limit_group_size<'m>(view: View<'m>, kernel: Function<'m>) {
    let required = kernel.metadata(view.metadata_kind("reqd_work_group_size"));
    let sizes = required.map(|node| node.operands().iter().filter_map(|operand| operand.number()).collect::<Vec<_>>());
    let (key, sizes) = match sizes.filter(|sizes| sizes.len() == 3) {
        Some(sizes) => ("nvvm.reqntid", sizes),
        None => ("nvvm.maxntid", vec![u64::from(MOST_ITEMS)]),
    };
    let text: Vec<String> = sizes.iter().map(u64::to_string).collect();
    kernel.attributes(AttributeIndex::Function).add_text(key, &text.join(","));
}

/// Leaves nothing but kernels for others to call.
fn internalise(module: &Module<'_>, entry: &str) {
    let view = View::of(module);
    for f in view.functions().into_iter().filter(|f| f.has_body() && f.name() != entry && f.call_conv() != PTX_KERNEL) {
        f.make_internal();
    }
    for global in view.globals().into_iter().filter(|global| !global.is_declaration()) {
        global.make_internal();
    }
}

/// The largest alignment in bytes that one access to local memory takes in PTX.
const LARGEST_LOCAL_UNIT: u64 = 16;

/// LLVM's number of the calling convention of kernels in PTX.
const PTX_KERNEL: u32 = 71;
