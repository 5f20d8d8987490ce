//! Lowers calls of OpenCL's builtins, because LLVM 22's SPIR-V backend guesses from mangled names what they mean, and
//! libraries of builtins lack some.
//!
//! What LLVM's IR has is written in it, for every target; so is what only SPIR-V has, for the others ([`for_native`]).
//! For SPIR-V, the rest of what the backend has wrong become calls of `__spirv_*`, whose operands are those of the
//! instruction, and pointers point to what the builtin takes ([`for_spirv`]). What is not here, the backend has right,
//! as `scripts/conformance` shows.

mod any_all;
mod async_copies;
mod atomics;
mod barriers;
mod bits;
mod block_accesses;
mod call;
mod conversions;
mod dot_products;
mod exponents;
mod generic_pointers;
mod images;
mod instructions;
mod pointers;
mod untyped_events;
mod warps;

use inkwell::module::Module;

use self::call::Lowering;
use crate::kernel::builtins::{GRID_BARRIER, demangle, types};
use crate::kernel::cpp_names;
use crate::llvm::{Function, View};

/// Builtins by their names, where a star at the end stands for any other characters, and what they become in every
/// target.
const PLAIN: &[(&[&str], Lowering)] = &[
    (&["dot"], dot_products::dot),
    (&["dot_acc_sat"], dot_products::accumulated),
    (&["dot_4x8packed_*"], dot_products::packed),
    (&["dot_acc_sat_4x8packed_*"], dot_products::packed_accumulated),
    (&["bitfield_insert"], bits::insert),
    (&["bitfield_extract_signed"], bits::extract_signed),
    (&["bitfield_extract_unsigned"], bits::extract_unsigned),
    (&["bit_reverse"], bits::reverse),
];

/// As [`PLAIN`], for all targets but SPIR-V, which has instructions for them.
const NATIVE: &[(&[&str], Lowering)] = &[
    (&["intel_sub_group_block_read*"], block_accesses::read),
    (&["intel_sub_group_block_write*"], block_accesses::write),
];

/// As [`PLAIN`], for SPIR-V alone: libclc has these right for the other targets.
const SPIRV: &[(&[&str], Lowering)] = &[
    (&["convert_*"], conversions::convert),
    (&["any"], any_all::any),
    (&["all"], any_all::all),
    (&["barrier", "work_group_barrier"], barriers::work_group),
    (&["sub_group_barrier"], barriers::sub_group),
    (&[GRID_BARRIER], barriers::grid),
    (&["mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence"], barriers::fence),
    (&["atomic_*", "atom_*"], atomics::atomic),
    (&["get_image_channel_data_type", "get_image_channel_order"], images::channels),
    (&["read_imageh"], images::read_halves),
    (&["write_imageh"], images::write_halves),
    (&["__to_global", "__to_local", "__to_private"], generic_pointers::to_named),
    (&["get_fence"], generic_pointers::get_fence),
    (&["ldexp"], exponents::ldexp),
];

/// For devices.
const TOGETHER: &[(&[&str], Lowering)] = &[(&["kassay_warp_*"], warps::together)];

/// For the simulator, in modules that were CUDA.
const OF_WARPS: &[(&[&str], Lowering)] = &[(
    &[
        "sub_group_barrier",
        "sub_group_any",
        "sub_group_all",
        "sub_group_ballot",
        "sub_group_shuffle",
        "sub_group_reduce_add",
        "sub_group_reduce_min",
        "sub_group_reduce_max",
    ],
    warps::with_all_lanes,
)];

/// Rewrites what LLVM's IR can say, for the simulator.
pub fn for_native(module: &Module<'_>) {
    plain(module);
    rewrite(View::of(module), NATIVE);
    if cpp_names::is_of_cuda(module) {
        rewrite(View::of(module), OF_WARPS);
    }
}

/// Rewrites what LLVM's IR can say, for devices of NVIDIA.
pub fn for_ptx(module: &Module<'_>) {
    plain(module);
    rewrite(View::of(module), NATIVE);
    rewrite(View::of(module), TOGETHER);
}

fn plain(module: &Module<'_>) {
    rewrite(View::of(module), PLAIN);
}

/// Rewrites everything for SPIR-V. To be called last, because a pass would fold addresses of first elements away again.
pub fn for_spirv(module: &Module<'_>) {
    untyped_events::rewrite(View::of(module));
    plain(module);
    rewrite(View::of(module), TOGETHER);
    rewrite(View::of(module), SPIRV);
    async_copies::rewrite(module);
    instructions::rewrite(module);
    pointers::rewrite(module);
}

/// Returns a builtin's name without mangling, for messages.
pub fn plain_name(name: &str) -> &str {
    demangle(name).map_or(name, |(plain, _)| plain)
}

fn rewrite(view: View<'_>, table: &[(&[&str], Lowering)]) {
    for builtin in view.functions() {
        let name = builtin.name();
        let Some((plain, lowering)) = lowering(table, builtin, &name) else { continue };
        let parameters = demangle(&name).map_or("", |(_, parameters)| parameters);
        let Some(types) = types::parse(parameters) else { continue };
        // A list of its own, since what is built may call the same builtin.
        let calls: Vec<_> =
            view.instructions().into_iter().filter(|inst| inst.called_function() == Some(builtin)).collect();
        for inst in calls {
            call::replace(view, inst, (plain, parameters), &types, lowering);
        }
        if !builtin.is_used() {
            // SAFETY: nothing uses it, and the loop goes on with the next function.
            unsafe { builtin.delete() };
        }
    }
}

/// Returns the plain name of a builtin, and how its calls are lowered, if the table says it.
fn lowering<'n>(table: &[(&[&str], Lowering)], builtin: Function<'_>, name: &'n str) -> Option<(&'n str, Lowering)> {
    if builtin.has_body() || !builtin.is_used() {
        return None;
    }
    let plain = plain_name(name);
    let fits = |pattern: &str| pattern.strip_suffix('*').map_or(plain == pattern, |start| plain.starts_with(start));
    table.iter().find(|(names, _)| names.iter().any(|pattern| fits(pattern))).map(|(_, lowering)| (plain, *lowering))
}
