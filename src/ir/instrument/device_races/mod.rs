//! Looks for races on devices: every access that may race is recorded in shadow memory in the probe buffer, which shows
//! whether an access of another work-item conflicts with it (`runtime-cl/device_races.cl`). The code does not depend on
//! the form that it is lowered to.
//!
//! Two accesses conflict if one of them writes, not both are atomic, and neither are they by one work-item nor does a
//! barrier that orders their memory stand between them in one work-group. Kernels that order accesses in other ways, or
//! that have accesses which are not seen here, are handed over to the simulator ([`HandOver`]): nothing is left out in
//! silence.
//!
//! - `accesses` finds what may race, `subsumed` leaves out what others stand for.
//! - `weave` inserts calls, `layout` says what a launch is given and what it reports.

mod accesses;
mod hand_over;
mod layout;
mod subsumed;
mod weave;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};

pub use self::accesses::{Kind, Place};
pub use self::hand_over::HandOver;
use self::layout::LOCAL_ALIGN;
pub use self::layout::{
    LocalShadow, MOST_INTERVALS, NotRun, PlannedLaunch, RaceLayout, RaceObject, RaceSite, Report, Seen,
};
use super::{components, guard};
use crate::kernel::{canonical, parameters};
use crate::llvm::{AddressSpace, AttributeIndex, Function, Type, View, passes};

/// Weaves the search for races into the kernel `entry` of a module in canonical form, which has `args` arguments of its
/// own. It gets more: local shadow memory, if it needs any, and the probe buffer. Debug information is removed; the
/// result holds what is still needed of it.
///
/// # Errors
/// `Internal` if the module is not as described, or does not verify afterwards. The inner error says why the kernel is
/// one for the simulator; the module is of no use then.
pub fn weave(
    module: &mut Module<'_>,
    entry: &str,
    args: u32,
    local_shadow: LocalShadow,
    machine: &TargetMachine,
) -> Result<std::result::Result<RaceLayout, HandOver>> {
    // Variables are still in memory, which shows what the source reads as a whole.
    for function in View::of(module).functions().into_iter().filter(|function| function.has_body()) {
        components::separate(View::of(module), function);
        components::separate_copies(View::of(module), function);
    }
    guard::inline_and_promote(module, entry, machine)?;
    // So that equal addresses are one value.
    passes::run(module, Some(machine), "function(early-cse)")?;
    let view = View::of(module);
    let kernel = view.function(entry).filter(|kernel| kernel.has_body());
    let mut kernel = kernel.ok_or_else(|| Error::internal(format!("the kernel {entry} is gone")))?;
    let given = kernel.param_count();
    if given != args || kernel.is_used() {
        return Err(Error::internal(format!("{entry} has {given} arguments, not {args}, or is called")));
    }
    let takes_local = local_shadow == LocalShadow::Local && has_local_memory(view, kernel);
    if takes_local {
        let pointer = view.pointer_type(AddressSpace::Local);
        kernel = with_argument(kernel, pointer, "kassay_local_shadow", AddressSpace::Local);
        // NVIDIA's driver takes it at its word: without an alignment it may place the memory at any byte.
        kernel.attributes(AttributeIndex::Parameter(args)).add_number("align", LOCAL_ALIGN);
    }
    kernel = with_argument(kernel, view.pointer_type(AddressSpace::Global), "kassay_probe", AddressSpace::Global);
    let mut found = match accesses::find(view, kernel, args) {
        Ok(found) => found,
        Err(hand_over) => return Ok(Err(hand_over)),
    };
    found.accesses = subsumed::without(found.accesses, &found.barriers);
    found.put_local_first();
    let layout = match weave::layout(view, &found, local_shadow, takes_local) {
        Ok(layout) => layout,
        Err(hand_over) => return Ok(Err(hand_over)),
    };
    // What is woven has no place in the source.
    view.strip_debug_info();
    weave::weave(module, kernel, found, &layout)?;
    canonical::verify(module, "weaving the search for races")?;
    Ok(Ok(layout))
}

/// Returns whether a kernel has memory of its work-group.
fn has_local_memory(view: View<'_>, kernel: Function<'_>) -> bool {
    let is_local = |space: Option<AddressSpace>| space == Some(AddressSpace::Local);
    view.globals().into_iter().any(|global| is_local(global.value().ty().space()) && global.is_used())
        || kernel.params().into_iter().any(|param| param.ty().is_pointer() && is_local(param.ty().space()))
}

/// Returns the kernel with one more, last argument: a pointer to words.
fn with_argument<'m>(kernel: Function<'m>, ty: Type<'m>, name: &str, space: AddressSpace) -> Function<'m> {
    let extended = parameters::append(kernel, ty, name);
    let new = extended.function;
    parameters::describe(new, name, "uint*", space);
    // SAFETY: nothing calls the old function, whose handle is not used again.
    unsafe { extended.replace_old(|_| None) };
    new
}
