//! What is known about OpenCL's builtins: a table says of each one, by its name, to which family it belongs and which
//! effects it has. What has to know whether a call synchronises, only reads, or differs between work-items asks
//! here.
//!
//! Builtins that only compute (mathematics, relations, geometry) are not in the table: they have none of these effects.
//! Not for what a builtin computes.

mod atomics;
mod mangling;
pub mod types;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use atomics::{MemoryOrders, Operation, is_relaxed, memory_orders, operation, operation_in_cuda};
pub use mangling::{
    Parameter, Spelt, demangle, first_scalar, identifier, is_float, is_same, is_signed, mangle, parameters, pointed,
    pointee, spelt, taking_a_block,
};

pub use kassay_model::native::table::GRID_BARRIER;

/// Name prefix of SPIR-V's built-in variables, through which kernels not compiled from OpenCL C may read their ids.
pub const SPIRV_BUILT_IN: &str = "__spirv_BuiltIn";

/// A family of builtins that do the same with other types or operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Ids of a work-item.
    WorkItemId,
    /// Properties of a launch or work-group.
    LaunchQuery,
    /// Ids within sub-groups, and their sizes.
    SubGroupQuery,
    /// Barriers of a work-group, and of all of them ([`Builtin::is_of_grid`]).
    Barrier,
    /// Barriers of a sub-group.
    SubGroupBarrier,
    /// Memory fences, which wait for no other work-item.
    Fence,
    /// Atomic accesses. (`atomic_work_item_fence` is a fence.)
    Atomic,
    /// Asynchronous copies between local and global memory.
    AsyncCopy,
    /// Waits for asynchronous copies.
    EventWait,
    /// Collective functions of a work-group: votes, broadcasts, reductions and scans.
    WorkGroupFunction,
    /// Collective functions of a sub-group.
    SubGroupFunction,
    /// Functions of sub-groups in Intel's extensions: shuffles, block accesses, motion estimation. Not all of them
    /// wait.
    IntelSubGroupFunction,
    /// What SPIR-V translators leave of collective functions; the scope is an operand.
    SpirvGroup,
    /// Loads of vectors and halves, at an index.
    VectorLoad,
    /// Stores of vectors and halves, at an index.
    VectorStore,
    /// Hints that memory will be read.
    Prefetch,
    /// Reads of a texel.
    ImageRead,
    /// Writes of a texel.
    ImageWrite,
    /// Properties of an image.
    ImageQuery,
    /// Formatted output.
    Printf,
    /// Conversions of values to another type.
    Conversion,
    /// Reinterpretations of bits as another type.
    Reinterpretation,
    /// Mathematics with a second result through a pointer.
    MathWithPointer,
    /// Casts of pointers without an address space; null where it is another one (6.15.10).
    PointerCast,
}

/// An effect of a builtin, or a property of its result. Where two look alike they differ on purpose, because their
/// users ask different questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Synchronises work-items or orders their memory accesses. Outputs of a kernel without such calls do not depend on
    /// the order in which its work-items run, unless these share memory otherwise.
    Synchronises,
    /// Does not return before other work-items have reached it, unlike atomics and fences, which do not wait, and
    /// asynchronous copies, which only begin there.
    Waits,
    /// Has to be reached by every work-item of the work-group, unlike functions of sub-groups.
    GroupWide,
    /// Has a result that depends on what other work-items do, or on how the device forms sub-groups, and so may differ
    /// between runs of one launch. Barriers and fences have no result.
    DependsOnOthers,
    /// Has a result that may differ between the work-items of a group, unlike that of a reduction, which they all get.
    VariesWithinGroup,
    /// Writes no memory through its pointers and images. Atomic loads are not among these: [`Operation::Load`].
    OnlyReads,
    /// Moves data, orders accesses to it or asks for a number, so that its precision is never left to the device.
    MovesData,
    /// Exists for pointers to private memory, too (6.12.2, 6.12.7).
    HasPrivateOverload,
    /// Has a result that the size of the launch limits, unlike `get_global_id`, to which the offset is added.
    LimitedByLaunchSize,
}

/// A row of [`TABLE`].
#[derive(Debug, PartialEq, Eq)]
struct Row {
    family: Family,
    /// The names, without mangling; a star at the end stands for any other characters.
    names: &'static [&'static str],
    effects: &'static [Effect],
}

const fn row(family: Family, names: &'static [&'static str], effects: &'static [Effect]) -> Row {
    Row { family, names, effects }
}

/// All builtins with effects. A name that is listed in full takes precedence over one with a star, and of the latter
/// the longest.
const TABLE: &[Row] = {
    use Effect::*;
    &[
        row(
            Family::WorkItemId,
            &["get_local_id", "get_local_linear_id"],
            &[VariesWithinGroup, MovesData, LimitedByLaunchSize],
        ),
        row(Family::WorkItemId, &["get_global_id", "get_global_linear_id"], &[VariesWithinGroup, MovesData]),
        row(
            Family::LaunchQuery,
            &["get_local_size", "get_enqueued_local_size", "get_group_id", "get_num_groups", "get_global_size"],
            &[MovesData, LimitedByLaunchSize],
        ),
        row(
            Family::LaunchQuery,
            &["get_work_dim", "get_global_offset", "get_num_sub_groups", "get_enqueued_num_sub_groups"],
            &[MovesData],
        ),
        row(
            Family::SubGroupQuery,
            &["get_sub_group_*", "get_max_sub_group_size"],
            &[DependsOnOthers, VariesWithinGroup, MovesData],
        ),
        row(
            Family::Barrier,
            &["barrier", "work_group_barrier", "__spirv_ControlBarrier*", GRID_BARRIER],
            &[Synchronises, Waits, GroupWide],
        ),
        row(Family::SubGroupBarrier, &["sub_group_barrier", "kassay_warp_barrier"], &[Synchronises, Waits]),
        row(
            Family::Fence,
            &["mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence", "__spirv_MemoryBarrier*"],
            &[Synchronises, MovesData],
        ),
        row(
            Family::Atomic,
            &["atomic_*", "atom_*", "__spirv_Atomic*"],
            &[Synchronises, DependsOnOthers, VariesWithinGroup, MovesData],
        ),
        row(Family::AsyncCopy, &["async_work_group_*"], &[Synchronises, GroupWide, DependsOnOthers, MovesData]),
        row(Family::EventWait, &["wait_group_events"], &[Synchronises, Waits, GroupWide]),
        row(
            Family::WorkGroupFunction,
            &["work_group_scan_*"],
            &[Synchronises, Waits, GroupWide, DependsOnOthers, VariesWithinGroup],
        ),
        row(Family::WorkGroupFunction, &["work_group_*"], &[Synchronises, Waits, GroupWide, DependsOnOthers]),
        row(Family::SubGroupFunction, &["sub_group_*"], &[Synchronises, Waits, DependsOnOthers, VariesWithinGroup]),
        row(Family::SubGroupFunction, &["kassay_warp_*"], &[Synchronises, Waits, DependsOnOthers, VariesWithinGroup]),
        row(Family::IntelSubGroupFunction, &["intel_sub_group_*"], &[Synchronises, DependsOnOthers, VariesWithinGroup]),
        row(Family::SpirvGroup, &["__spirv_Group*"], &[Synchronises, Waits, DependsOnOthers]),
        row(Family::VectorLoad, &["vload*"], &[OnlyReads, MovesData, HasPrivateOverload]),
        row(Family::VectorStore, &["vstore*"], &[MovesData, HasPrivateOverload]),
        row(Family::Prefetch, &["prefetch"], &[OnlyReads]),
        row(Family::ImageRead, &["read_imagef", "read_imagei", "read_imageui", "read_imageh"], &[OnlyReads, MovesData]),
        row(
            Family::ImageWrite,
            &["write_imagef", "write_imagei", "write_imageui", "write_imageh", "__spirv_ImageWrite*"],
            &[MovesData],
        ),
        row(Family::ImageQuery, &["get_image_*"], &[OnlyReads, MovesData]),
        row(Family::Printf, &["printf"], &[]),
        row(Family::Conversion, &["convert_*"], &[MovesData]),
        row(Family::Reinterpretation, &["as_*"], &[MovesData]),
        row(
            Family::MathWithPointer,
            &["fract", "modf", "sincos", "frexp", "lgamma_r", "remquo"],
            &[HasPrivateOverload],
        ),
        row(Family::PointerCast, &["__to_global", "__to_local", "__to_private"], &[OnlyReads, MovesData]),
    ]
};

/// The names of the table.
struct Names {
    whole: HashMap<&'static str, Builtin>,
    /// How other names begin, the longest first.
    starts: Vec<(&'static str, Builtin)>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names { whole: HashMap::new(), starts: Vec::new() };
    for (row, name) in TABLE.iter().flat_map(|row| row.names.iter().map(move |name| (row, *name))) {
        let builtin = Builtin { row, name };
        match name.strip_suffix('*') {
            Some(start) => names.starts.push((start, builtin)),
            None => _ = names.whole.entry(name).or_insert(builtin),
        }
    }
    names.starts.sort_by_key(|(start, _)| std::cmp::Reverse(start.len()));
    names
});

/// A builtin of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    row: &'static Row,
    /// The name in the table.
    name: &'static str,
}

impl Builtin {
    /// Returns the builtin that a callee names, mangled or not. Only meaningful for functions without a body: one of
    /// the user's may have any name.
    pub fn of(callee: &str) -> Option<Builtin> {
        let plain = demangle(callee).map_or(callee, |(plain, _)| plain);
        let known = &*NAMES;
        let begins = |start: &&(&str, Builtin)| plain.starts_with(start.0);
        known.whole.get(plain).or_else(|| known.starts.iter().find(begins).map(|(_, builtin)| builtin)).copied()
    }

    /// The builtin's family.
    pub fn family(self) -> Family {
        self.row.family
    }

    /// Returns whether the builtin has an effect.
    pub fn has(self, effect: Effect) -> bool {
        self.row.effects.contains(&effect)
    }

    /// Returns whether the name is one that SPIR-V translators use, whose operands are those of the instruction.
    pub fn is_spirv(self) -> bool {
        self.name.starts_with("__spirv_")
    }

    /// Returns whether it is a barrier, of a work-group or of a sub-group.
    pub fn is_barrier(self) -> bool {
        matches!(self.family(), Family::Barrier | Family::SubGroupBarrier)
    }

    /// Whether it is a function of CUDA's warps that takes or makes a mask (`cuda/include/kassay/warps.h`).
    pub fn takes_lanes(self) -> bool {
        self.name.starts_with("kassay_warp_")
    }

    /// Whether it is the barrier of all work-groups of a launch.
    pub fn is_of_grid(self) -> bool {
        self.name == GRID_BARRIER
    }

    /// The name of a work-group's barrier, or of a fence, in OpenCL C; `None` for other builtins.
    pub fn barrier_or_fence(self) -> Option<&'static str> {
        match self.family() {
            Family::Barrier if self.is_spirv() => Some("barrier"),
            Family::Fence if self.is_spirv() => Some("mem_fence"),
            Family::Barrier | Family::Fence => Some(self.name),
            _ => None,
        }
    }

    /// The type of the texels that an access to an image reads or writes: `f`, `i`, `ui` or `h`. `None` for builtins
    /// that access no image, and where the name does not say it.
    pub fn texel(self) -> Option<&'static str> {
        self.name.strip_prefix("read_image").or_else(|| self.name.strip_prefix("write_image"))
    }
}

/// Returns the family of the builtin that a callee names, if it is in the table.
pub fn family(callee: &str) -> Option<Family> {
    Builtin::of(callee).map(Builtin::family)
}

/// Returns whether a callee is a builtin with that effect.
pub fn has(callee: &str, effect: Effect) -> bool {
    Builtin::of(callee).is_some_and(|builtin| builtin.has(effect))
}

/// Returns whether a function without a body may be a builtin or an intrinsic: these are mangled (`_Z`), or have
/// reserved names of clang and LLVM; only `printf` is not mangled.
pub fn may_be_builtin(callee: &str) -> bool {
    callee.starts_with('_') || callee.starts_with("llvm.") || family(callee) == Some(Family::Printf)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The builtins of OpenCL C 3.0 with effects, those of extensions that kernels use, names of SPIR-V's; some that
    /// only compute, and some functions that are none.
    const NAMES: &str = "get_work_dim get_global_size get_global_id get_local_size get_enqueued_local_size \
        get_local_id get_num_groups get_group_id get_global_offset get_global_linear_id get_local_linear_id \
        get_sub_group_size get_max_sub_group_size get_num_sub_groups get_enqueued_num_sub_groups get_sub_group_id \
        get_sub_group_local_id get_sub_group_eq_mask barrier work_group_barrier sub_group_barrier \
        __spirv_ControlBarrier mem_fence read_mem_fence write_mem_fence atomic_work_item_fence __spirv_MemoryBarrier \
        atomic_add atomic_sub atomic_xchg atomic_inc atomic_dec atomic_cmpxchg atomic_min atomic_max atomic_and \
        atomic_or atomic_xor atom_add atom_cmpxchg atomic_init atomic_load atomic_load_explicit atomic_store \
        atomic_store_explicit atomic_exchange atomic_fetch_add_explicit atomic_compare_exchange_strong \
        atomic_compare_exchange_weak_explicit atomic_flag_test_and_set atomic_flag_clear_explicit __spirv_AtomicIAdd \
        __spirv_AtomicLoad async_work_group_copy async_work_group_strided_copy wait_group_events prefetch \
        work_group_all work_group_any work_group_broadcast work_group_reduce_add work_group_reduce_max \
        work_group_scan_exclusive_add work_group_scan_inclusive_min sub_group_all sub_group_any sub_group_broadcast \
        sub_group_reduce_add sub_group_scan_inclusive_add sub_group_shuffle sub_group_ballot intel_sub_group_shuffle \
        __spirv_GroupIAdd vload2 vload16 vload_half vload_half4 vloada_half3 vstore2 vstore16 vstore_half_rte \
        vstore_half4 vstorea_half3_rtz read_imagef read_imagei read_imageui read_imageh write_imagef write_imagei \
        write_imageui write_imageh __spirv_ImageWrite get_image_width get_image_height get_image_depth \
        get_image_channel_data_type get_image_channel_order get_image_dim get_image_array_size printf \
        convert_int4_sat_rte convert_float as_float4 fract modf sincos frexp lgamma_r remquo sin native_sin fma mad24 \
        clamp select shuffle2 dot isnan popcount fmin asin update_barrier_flag my_printf my_atomic_add reread_image";

    /// A list of names that some file once kept for itself, and what it asks now.
    struct List {
        file: &'static str,
        /// The names, as in the table.
        names: &'static str,
        /// What the list took by its beginning, but excluded.
        but: &'static str,
        now: fn(Builtin) -> bool,
        /// Where it is classified otherwise now, each with a reason beside it.
        differs: &'static str,
    }

    const LISTS: &[List] = &[
        List {
            file: "cfg/taint: only_reads",
            names: "prefetch vload* read_image* get_image*",
            but: "",
            now: |b| b.has(Effect::OnlyReads),
            differs: "",
        },
        List {
            file: "cfg/taint: is_atomic, exchanges",
            names: "get_max_sub_group_size atomic_* atom_* __spirv_Atomic* work_group_* async_work_group_* \
                sub_group_* intel_sub_group_* get_sub_group_* __spirv_Group*",
            but: "",
            now: |b| b.has(Effect::DependsOnOthers),
            // They have no result that could depend on anything; `barrier` and `mem_fence` were never listed.
            differs: "atomic_work_item_fence work_group_barrier sub_group_barrier",
        },
        List {
            file: "cfg/taint: writes_images",
            names: "write_image* __spirv_ImageWrite*",
            but: "",
            now: |b| b.family() == Family::ImageWrite,
            differs: "",
        },
        List {
            file: "cfg/uniformity: is_item_specific",
            names: "get_global_id get_local_id get_global_linear_id get_local_linear_id get_max_sub_group_size \
                get_sub_group_* sub_group_* intel_sub_group_* work_group_scan* atomic_* atom_* __spirv_Atomic*",
            but: "atomic_work_item_fence",
            now: |b| b.has(Effect::VariesWithinGroup),
            // It has no result.
            differs: "sub_group_barrier",
        },
        List {
            file: "cfg/schedule_dependence, sync/schedule_independence: is_atomic",
            names: "atomic_* atom_* __spirv_Atomic*",
            but: "atomic_work_item_fence",
            now: |b| b.family() == Family::Atomic,
            differs: "",
        },
        List {
            file: "cfg/schedule_dependence: waits at a barrier",
            names: "barrier work_group_barrier sub_group_barrier __spirv_ControlBarrier*",
            but: "",
            now: Builtin::is_barrier,
            differs: "",
        },
        List {
            file: "cfg/schedule_dependence: is_image",
            names: "read_image* write_image*",
            but: "",
            now: |b| matches!(b.family(), Family::ImageRead | Family::ImageWrite),
            // Its operands are in the same order.
            differs: "__spirv_ImageWrite",
        },
        List {
            file: "cfg/sites: barrier_name; mutation/operators/barrier; kernel/constructs; mutation/source_ops/syntax",
            names: "barrier work_group_barrier __spirv_ControlBarrier*",
            but: "",
            now: |b| b.family() == Family::Barrier,
            differs: "",
        },
        List {
            file: "sync/information_flow: synchronises",
            names: "barrier wait_group_events work_group_* sub_group_* __spirv_Group* __spirv_ControlBarrier*",
            but: "",
            now: |b| b.has(Effect::Waits),
            differs: "",
        },
        List {
            file: "mutation/item_interaction",
            names: "barrier mem_fence read_mem_fence write_mem_fence wait_group_events __spirv_ControlBarrier \
                __spirv_MemoryBarrier atomic_* atom_* async_work_group_* work_group_* sub_group_* intel_sub_group_* \
                __spirv_Atomic* __spirv_Group*",
            but: "",
            now: |b| b.has(Effect::Synchronises),
            differs: "",
        },
        List {
            file: "mutation/operators/fence",
            names: "mem_fence read_mem_fence write_mem_fence atomic_work_item_fence __spirv_MemoryBarrier",
            but: "",
            now: |b| b.family() == Family::Fence,
            differs: "",
        },
        List {
            file: "mutation/control/effects: barrier_or_fence",
            names: "barrier work_group_barrier mem_fence read_mem_fence write_mem_fence atomic_work_item_fence \
                __spirv_ControlBarrier __spirv_MemoryBarrier",
            but: "",
            now: |b| b.barrier_or_fence().is_some(),
            differs: "",
        },
        List {
            file: "instrument/guard/builtin_accesses: group_sync",
            names: "barrier work_group_barrier __spirv_ControlBarrier wait_group_events work_group_all \
                work_group_any async_work_group* work_group_broadcast* work_group_reduce_* work_group_scan_*",
            but: "",
            now: |b| b.has(Effect::GroupWide),
            differs: "",
        },
        List {
            file: "instrument/mutants/private_calls",
            names: "vload* vstore* fract* modf* sincos* frexp* lgamma_r* remquo*",
            but: "",
            now: |b| b.has(Effect::HasPrivateOverload),
            differs: "",
        },
        List {
            file: "kernel/precision: moves",
            names: "vload* vstore* convert_* as_* atomic_* async_* read_image* write_image* get_*",
            but: "",
            now: |b| b.has(Effect::MovesData),
            // Their operands are no floats, so this is never asked; and SPIR-V's atomics and writes of images move
            // data, too.
            differs: "mem_fence read_mem_fence write_mem_fence __spirv_MemoryBarrier atom_add atom_cmpxchg \
                __spirv_AtomicIAdd __spirv_AtomicLoad __spirv_ImageWrite",
        },
        List {
            file: "generate/solving: SIZE_BUILTINS",
            names: "get_local_id get_local_size get_enqueued_local_size get_group_id get_num_groups \
                get_global_size get_local_linear_id",
            but: "",
            now: |b| b.has(Effect::LimitedByLaunchSize),
            differs: "",
        },
        List {
            file: "generate/access_summary, sync/information_flow, instrument/guard/builtin_accesses: vload",
            names: "vload*",
            but: "",
            now: |b| b.family() == Family::VectorLoad,
            differs: "",
        },
        List {
            file: "the same: vstore",
            names: "vstore*",
            but: "",
            now: |b| b.family() == Family::VectorStore,
            differs: "",
        },
        List {
            file: "the same, instrument/mutants/private_calls, generate/faulting_launches: async_work_group",
            names: "async_work_group*",
            but: "",
            now: |b| b.family() == Family::AsyncCopy,
            differs: "",
        },
        List {
            file: "generate/launch_builder: get_image",
            names: "get_image*",
            but: "",
            now: |b| b.family() == Family::ImageQuery,
            differs: "",
        },
        List {
            file: "instrument/guard/images, mutation/operators/image: reads",
            names: "read_imagef read_imagei read_imageui read_imageh",
            but: "",
            now: |b| b.family() == Family::ImageRead,
            differs: "",
        },
        List {
            file: "instrument/accesses/sites: sub_group",
            names: "sub_group_*",
            but: "",
            now: |b| matches!(b.family(), Family::SubGroupBarrier | Family::SubGroupFunction),
            differs: "",
        },
        List {
            file: "instrument/accesses/printf, mutation/operators/deletion, lower/undefined",
            names: "printf",
            but: "",
            now: |b| b.family() == Family::Printf,
            differs: "",
        },
        List {
            file: "lower/native/builtins: convert_",
            names: "convert_*",
            but: "",
            now: |b| b.family() == Family::Conversion,
            differs: "",
        },
    ];

    /// Returns whether a list has the name.
    fn lists(list: &str, name: &str) -> bool {
        list.split_whitespace().any(|word| word.strip_suffix('*').map_or(word == name, |start| name.starts_with(start)))
    }

    #[test]
    fn every_builtin_is_classified_as_in_the_lists_of_before() {
        for list in LISTS {
            for name in NAMES.split_whitespace() {
                let was = lists(list.names, name) && !lists(list.but, name);
                let now = Builtin::of(name).is_some_and(list.now);
                assert_eq!(was != now, lists(list.differs, name), "{}: {name} was {was} and is {now}", list.file);
            }
        }
    }

    #[test]
    fn mangled_names_are_classified_like_plain_ones() {
        for name in NAMES.split_whitespace() {
            assert_eq!(Builtin::of(&mangle(name, "PU3AS1Vjj")), Builtin::of(name), "{name}");
        }
    }

    #[test]
    fn each_name_of_the_table_finds_its_own_row() {
        for row in TABLE {
            for name in row.names {
                assert_eq!(Builtin::of(name.trim_end_matches('*')).map(|b| b.row), Some(row), "{name}");
            }
        }
    }

    #[test]
    fn fences_are_no_atomic_accesses_and_wait_for_nobody() {
        let fence = Builtin::of("_Z22atomic_work_item_fencej12memory_order12memory_scope").unwrap();
        assert_eq!(fence.family(), Family::Fence);
        assert!(fence.has(Effect::Synchronises) && !fence.has(Effect::Waits) && !fence.has(Effect::DependsOnOthers));
    }

    #[test]
    fn asynchronous_copies_need_the_whole_group_but_do_not_wait_for_it() {
        assert!(has("async_work_group_copy", Effect::GroupWide) && !has("async_work_group_copy", Effect::Waits));
        assert!(has("wait_group_events", Effect::GroupWide) && has("wait_group_events", Effect::Waits));
        assert!(has("sub_group_all", Effect::Waits) && !has("sub_group_all", Effect::GroupWide));
    }

    #[test]
    fn scans_vary_within_a_group_and_reductions_do_not() {
        assert!(has("work_group_scan_inclusive_add", Effect::VariesWithinGroup));
        assert!(!has("work_group_reduce_add", Effect::VariesWithinGroup));
        assert!(has("work_group_reduce_add", Effect::DependsOnOthers));
        assert!(has("get_local_id", Effect::VariesWithinGroup) && !has("get_local_id", Effect::DependsOnOthers));
    }

    #[test]
    fn barriers_and_fences_have_names_in_opencl_c() {
        let name = |callee: &str| Builtin::of(callee).and_then(Builtin::barrier_or_fence);
        assert_eq!(name("_Z18work_group_barrierj12memory_scope"), Some("work_group_barrier"));
        assert_eq!(name("_Z22__spirv_ControlBarrierjjj"), Some("barrier"));
        assert_eq!(name("__spirv_MemoryBarrier"), Some("mem_fence"));
        assert_eq!(name("sub_group_barrier"), None);
        assert!(Builtin::of("__spirv_ControlBarrier").is_some_and(Builtin::is_spirv));
    }

    #[test]
    fn accesses_to_images_say_the_type_of_texels() {
        let texel = |callee: &str| Builtin::of(callee).and_then(Builtin::texel);
        assert_eq!(texel("_Z12read_imageui14ocl_image2d_ro11ocl_samplerDv2_i"), Some("ui"));
        assert_eq!(texel("write_imagef"), Some("f"));
        assert_eq!(texel("get_image_width"), None);
    }

    #[test]
    fn reserved_names_may_be_builtins() {
        assert!(["_Z3sinf", "__spirv_ocl_sin", "llvm.fabs.f32", "printf"].iter().all(|name| may_be_builtin(name)));
        assert!(!may_be_builtin("helper") && !may_be_builtin("my_printf"));
    }
}
