//! Weaves hooks for the simulator. Every memory access, barrier, loop, division and `printf` of
//! a kernel in which everything is inlined gets a number and, where needed, a call of the
//! simulator (see [`kassay_model::native::abi::hook`]).
//!
//! The kernel is in the raw form that [`crate::lower::native::prepare`] produces: private variables are still in
//! memory, so that every construct of the source is still present. Sites are read before anything is inserted.

mod blocks;
mod check;
mod division;
mod early_exit;
mod emit;
mod group_sync;
mod inner_arrays;
mod item_argument;
mod iteration;
mod locals;
mod loops;
mod memory_instructions;
pub mod memory_orders;
mod objects;
mod printf;
mod private;
mod proofs;
mod sites;
mod transfers;
mod values;

use std::collections::HashSet;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::interface::Interface;
use kassay_model::native::table::NativeTable;
use kassay_model::sub_groups;

use self::emit::Emitter;
use self::group_sync::Placeholder;
use self::memory_instructions::Access;
use self::objects::Objects;
use self::sites::Sites;
use self::transfers::Transfer;
use crate::instrument::components;
use crate::kernel::canonical;
use crate::llvm::{Inst, View};

/// Options of [`weave`].
#[derive(Debug, Clone, Copy)]
pub struct AccessOptions<'a> {
    /// Whether every access to global and local memory calls the simulator. If not, only bounds are compared, inline.
    pub races: bool,
    /// Interface of the kernel as written in the source.
    pub interface: &'a Interface,
    /// Whether the probe buffer follows the kernel's own arguments.
    pub probe: bool,
}

/// Weaves hooks into the kernel `entry`, in raw form and the only function with a body in its module. The kernel gets
/// the work-item's context as an additional last argument.
///
/// # Errors
/// `Internal` if the kernel is not as described, or the woven module does not verify.
pub fn weave(module: &Module<'_>, entry: &str, options: &AccessOptions<'_>) -> Result<NativeTable> {
    let view = View::of(module);
    let kernel = view.function(entry).filter(|f| f.has_body());
    let kernel = kernel.ok_or_else(|| Error::internal(format!("the kernel {entry} is gone")))?;
    let arguments = options.interface.args.len() as u32;
    let given = kernel.param_count();
    if given != arguments + u32::from(options.probe) {
        return Err(Error::internal(format!("{entry} has {given} arguments, not {arguments} and the probe buffer")));
    }
    let required_sub_group = options.interface.sub_groups.required();
    if let Some(size) = required_sub_group.filter(|size| !sub_groups::is_size(*size)) {
        let what = format!("{entry} requires sub-groups of {size} work-items");
        return Err(Error::caller(what).help("the simulator has them of 1, 2, 4 and so on up to 64"));
    }
    let (kernel, item) = item_argument::append(view, kernel)?;
    blocks::gather_variables(kernel);
    let exit = early_exit::find(view);
    components::separate(view, kernel);

    let mut objects = Objects::find(view, kernel, options.interface)?;
    let mut sites = Sites::new(module, entry, &mut objects, arguments, options.races);
    let accesses = memory_instructions::accesses(kernel, &mut sites);
    let transfers = transfers::find(kernel, &mut sites);
    let placeholders = group_sync::find(kernel, &mut sites);
    let divisions = division::find(kernel, &mut sites);
    let loops = loops::find(kernel, &mut sites, &placeholders);
    let prints = printf::find(kernel, &mut sites);
    let mut table = sites.finish();

    let emitter = Emitter::new(view, kernel, item, options.races);
    locals::replace(&emitter, &mut objects)?;
    let checked = checked(&accesses, &transfers, &placeholders);
    private::weave(&emitter, &mut objects, &checked, &mut table)?;
    let counters = loops::weave(&emitter, &loops, exit.as_ref());
    group_sync::weave(&emitter, &objects, placeholders, &counters, exit.as_ref());
    division::weave(&emitter, &divisions);
    printf::weave(&emitter, prints);
    transfers::weave(&emitter, &objects, &transfers);
    for access in &accesses {
        if options.races {
            inner_arrays::weave(&emitter, access.inst, access.site, &access.inner);
        }
        check::weave(&emitter, &objects, access);
    }
    drop(emitter);
    table.leaves = exit.is_some();
    if let Some(exit) = exit {
        exit.finish();
    }
    group_sync::drop_declarations(view)?;
    table.objects = objects.table();
    table.granule = objects.granules();
    table.local_bytes = objects.local_bytes();
    table.required_sub_group = required_sub_group;
    table.stack_bytes = values::stack_bytes(view.layout(), kernel);
    canonical::verify(module, "weaving hooks")?;
    proofs::verify(view, kernel)?;
    Ok(table)
}

/// Returns the pointers that weaving checks, by instruction and position.
fn checked<'m>(
    accesses: &[Access<'m>],
    transfers: &[Transfer<'m>],
    placeholders: &[Placeholder<'m>],
) -> HashSet<(Inst<'m>, u32)> {
    let single = accesses.iter().map(|access| (access.inst, access.operand));
    let lists = placeholders.iter().filter(|p| p.is_checked()).map(|p| (p.inst, 0));
    single.chain(transfers.iter().flat_map(Transfer::checked)).chain(lists).collect()
}
