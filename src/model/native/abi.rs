//! Defines the interface between the simulator and its code: contexts in memory, names of hooks.
//!
//! The code is one function, [`ENTRY`], `void (ptr item, ptr arguments)`, which runs the kernel for one work-item.
//! `item` is an [`ItemContext`]; `arguments` points to an array of one pointer per argument of the kernel (the probe
//! buffer, if any, last). For an argument passed by value it points to the bytes; for a buffer or local argument to a
//! word that holds its address; for an image or sampler to a word that holds the address of the simulator's own handle.
//!
//! Until weaving is complete, code obtains its item by a call of [`ITEM`]; weaving replaces it by a last parameter of
//! the kernel.

use std::ffi::c_void;

/// The symbol of the compiled kernel.
pub const ENTRY: &str = "__kassay_entry";

/// A function without a body that returns the item's context until everything is inlined: `ptr ()`.
pub const ITEM: &str = "__kassay_item_context";

/// The address and size in bytes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Extent {
    /// Its address.
    pub base: u64,
    /// Its size.
    pub bytes: u64,
}

/// State shared by the work-items of a group.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct GroupContext {
    /// By object of the table; zero for private and constant objects.
    pub extents: *const Extent,
    /// Base address of the group's static local variables.
    pub local_base: *mut u8,
    /// Memory that skipped accesses use instead; reads return 0 unless something was written. At least 4096 bytes and
    /// longer than the longest access, aligned to 4096.
    pub sink: *mut u8,
    /// Number of dimensions of the launch, 1 to 3.
    pub dimensions: u64,
    /// Global size, in work-items.
    pub global_size: [u64; 3],
    /// Size of this group, in work-items.
    pub local_size: [u64; 3],
    /// Differs from `local_size` in the last group if the launch is not divisible by the size.
    pub enqueued_local_size: [u64; 3],
    /// Number of work-groups in each dimension.
    pub groups: [u64; 3],
    /// Global offset: the first global id in each dimension.
    pub offset: [u64; 3],
    /// Id of this group.
    pub group_id: [u64; 3],
    /// Number of work-items of a sub-group, by local linear id, 1 to 64; the last sub-group of a group may have fewer.
    pub sub_group: u64,
}

/// State of a work-item. Code reads it and passes it to hooks.
#[derive(Debug)]
#[repr(C)]
pub struct ItemContext {
    /// State of the work-item's group.
    pub group: *const GroupContext,
    /// Loop iterations until the next call of [`hook::FUEL`]. Read once, when the item begins.
    pub fuel: i64,
    /// Id of the work-item in its group.
    pub local_id: [u64; 3],
    /// Includes the offset.
    pub global_id: [u64; 3],
    /// Linear id within the group.
    pub local_linear_id: u64,
    /// Nonzero if the item is to end. After [`hook::FUEL`], [`hook::BARRIER`] and all other hooks that wait, it
    /// continues at [`placeholder::LEAVE`], if the code contains that.
    pub leaves: u64,
    /// Nonzero once the item has come to a `return` statement, in code that says so ([`placeholder::RETURNS`]).
    pub returned: u64,
    /// Private to the simulator.
    pub host: *mut c_void,
    /// Where the work-item's placed variables lie ([`private`]). Does not change while it runs.
    pub placed: *mut u8,
}

/// Names of hooks: functions of the simulator that code calls. `item` is always the first parameter; `site` is an index
/// into the hook's part of the table. C calling convention.
pub mod hook {
    /// `ptr (item, ptr address, i32 site)`: called before an access; returns the address to access instead (the same
    /// address, or the sink).
    pub const ACCESS: &str = "__kassay_access";
    /// `ptr (item, ptr address, i32 site, i64 expected)`: as [`ACCESS`], before a compare-exchange; `expected`: its
    /// bits, zero-extended. A successful one is an access of `site`; a failing one only reads, and is an access of the
    /// next site.
    pub const COMPARE_EXCHANGE: &str = "__kassay_compare_exchange";
    /// `ptr (item, ptr address, i32 site, i64 bytes)`: as [`ACCESS`], for a length known only at run time.
    pub const SPAN: &str = "__kassay_span";
    /// `ptr (item, ptr address, i32 site)`: called for an access that failed the inline check of its bounds, or that
    /// has none because its objects are unknown or read-only; returns the address to access instead. Not for memory
    /// that [`ACCESS`] checks for races.
    pub const CHECK: &str = "__kassay_check";
    /// `void (item, i32 site, i64 index, i64 length)`: called before an access of `site` whose address has an index
    /// beyond an array of `length` elements inside an object. Only with races.
    pub const INNER: &str = "__kassay_inner";
    /// `void (item, i32 site)`: a division by zero, or of the smallest integer by -1; the code then divides by 1.
    pub const DIVISION: &str = "__kassay_division";
    /// `void (item, i32 site)`: an assertion that failed, or another trap. Does not return.
    pub const TRAP: &str = "__kassay_trap";
    /// `i64 (item, i32 site)`: called at a back edge when the fuel is below zero; returns the next slice, or
    /// does not return.
    pub const FUEL: &str = "__kassay_fuel";
    /// `void (item, i32 site, i32 flags, i32 scope, i64 iteration)`: `flags` as `cl_mem_fence_flags` (1 local, 2
    /// global, 4 image); `scope`: `memory_scope`; `iteration`: a hash of the iteration counts of the enclosing loops.
    pub const BARRIER: &str = "__kassay_barrier";
    /// `ptr (item, i32 site, i64 iteration, ptr value, i64 bytes, i32 kind)`: waits for the group or sub-group, as
    /// `kind` says ([`super::exchange`]); returns an array of the values of all its items, by local linear id (for a
    /// sub-group: by sub-group local id), which is valid until the next exchange but one.
    pub const EXCHANGE: &str = "__kassay_exchange";
    /// `i64 (item, i32 site, i64 iteration, i32 mask, i32 kind, i64 value, i32 from)`: a function of CUDA's warps
    /// ([`super::warp`]): waits for the lanes of the warp (which is a sub-group) that `mask` names, and returns what
    /// the function yields of their values; for shuffles: that of lane `from`.
    pub const WARP: &str = "__kassay_warp";
    /// `void (item, i32 site, i32 flags, i32 order, i32 scope)`: a fence; numbers as in OpenCL
    /// C (`memory_order`, `memory_scope`).
    pub const FENCE: &str = "__kassay_fence";
    /// `ptr (item, i32 site, i64 iteration, i32 write_site, ptr destination, ptr source, i64 count, i64 element, i64
    /// destination_stride, i64 source_stride, ptr event)`: `async_work_group_copy` and its strided forms; strides in
    /// elements. `site` is a barrier site; the accesses are those of access site `write_site` (destination) and the
    /// next one (source). Returns the copy's event: `event`, or a new one if that is null. Events are numbers
    /// represented as pointers.
    pub const ASYNC_COPY: &str = "__kassay_async_copy";
    /// `void (item, i32 site, i64 iteration, ptr events, i64 count)`: `wait_group_events`; `events` is null if the list
    /// cannot be read.
    pub const WAIT: &str = "__kassay_wait";
    /// `void (item, i32 site, ptr format, ptr packed)`: `printf`; `format` is used if the site has none. The value of
    /// the call becomes 0.
    pub const PRINT: &str = "__kassay_print";
    /// `void (item, i32 site, ptr image, ptr sampler, ptr coordinates, i32 kind, ptr result)`: reads a texel; `sampler`
    /// may be null; `kind`: see [`super::texel`]; the result has four components.
    pub const IMAGE_READ: &str = "__kassay_image_read";
    /// `void (item, i32 site, ptr image, ptr coordinates, i32 kind, ptr texel)`.
    pub const IMAGE_WRITE: &str = "__kassay_image_write";
    /// `i64 (item, ptr image, i32 what)`: `get_image_*`; see [`super::query`].
    pub const IMAGE_QUERY: &str = "__kassay_image_query";
    /// `i32 (item, ptr address)`: the memory that an address lies in, as `cl_mem_fence_flags`; 0 for private memory,
    /// and for addresses that lie in none.
    pub const MEMORY: &str = "__kassay_memory";
    /// `void (item, i32 number, i32 kind, i64 a, i64 b)`: called before a comparison of two numbers, given by their
    /// bits, zero-extended; `kind`: see [`super::comparison`].
    pub const COMPARISON: &str = "__kassay_comparison";

    /// `void (item, i32 number)`: a use of a private variable has met one of its definitions; each pair of them has a
    /// number, from 0.
    pub const PAIR: &str = "__kassay_pair";
    /// `void (item, i32 access, i32 flags, i64 address, i64 bytes, i64 count, i64 stride)`: called after an access that
    /// defines or uses memory: `count` pieces of `bytes` bytes, `stride` bytes apart; `flags`: see [`super::flow`].
    pub const FLOW: &str = "__kassay_flow";

    /// `ptr (item, i32 object, i64 count, i64 element)`: makes room for `count` elements of `element` bytes, which
    /// lives until the work-item ends or [`RELEASE`]; returns its address among [`super::private`] ones.
    pub const ALLOCATE: &str = "__kassay_allocate";
    /// `i64 (item)`: how many allocations live.
    pub const ALLOCATED: &str = "__kassay_allocated";
    /// `void (item, i64 count)`: ends all allocations but the first `count`.
    pub const RELEASE: &str = "__kassay_release";

    /// All hooks.
    pub const ALL: [&str; 25] = [
        ACCESS,
        COMPARE_EXCHANGE,
        SPAN,
        CHECK,
        INNER,
        DIVISION,
        TRAP,
        FUEL,
        BARRIER,
        EXCHANGE,
        WARP,
        FENCE,
        ASYNC_COPY,
        WAIT,
        PRINT,
        IMAGE_READ,
        IMAGE_WRITE,
        IMAGE_QUERY,
        MEMORY,
        COMPARISON,
        PAIR,
        FLOW,
        ALLOCATE,
        ALLOCATED,
        RELEASE,
    ];
}

/// Addresses of private memory, as far as pointers to it may be mixed up with others: variables that are *placed*, and
/// allocations at run time. They are numbers, not addresses of the processor, and at none of them is memory: whatever
/// checks an access finds out what it refers to, and replaces the address by that of the memory. So they can be as far
/// apart as no index of 32 bits reaches, at no cost, and an access that was not checked cannot hit anything.
pub mod private {
    /// Distance of two objects, in bytes: no power of two, so that no index that is one leads from one to another.
    pub const STEP: u64 = (1 << 40) + (1 << 34) + (1 << 28) + (1 << 22);
    /// The number of the first address.
    pub const BEGIN: u64 = 1 << 60;
    /// Where those of allocations at run time begin: at no power of two from there, for the same reason.
    pub const ALLOCATIONS: u64 = (1 << 61) + (1 << 50) + (1 << 36);
    /// The first number after them.
    pub const END: u64 = 1 << 62;
    /// Maximum number of placed variables, and of allocations.
    pub const MAX_PLACED: u64 = (ALLOCATIONS - BEGIN) / STEP;
    /// See [`MAX_PLACED`].
    pub const MAX_ALLOCATIONS: u64 = (END - ALLOCATIONS) / STEP;

    /// The address of placed variable `number`: in the middle between its neighbours.
    pub const fn placed(number: u64) -> u64 {
        BEGIN + number * STEP + STEP / 2
    }

    /// The address of allocation `number`.
    pub const fn allocation(number: u64) -> u64 {
        ALLOCATIONS + number * STEP + STEP / 2
    }
}

/// Names of placeholders, which represent hooks until everything is inlined: functions without a body, with the hook's
/// parameters except `item`, `site` and `iteration`, which weaving adds. `runtime-cl/host.cl` calls them. For
/// [`hook::PRINT`], `printf` itself is the placeholder.
pub mod placeholder {
    /// `void (i32 flags, i32 scope)`.
    pub const BARRIER: &str = "__kassay_at_barrier";
    /// `ptr (ptr value, i64 bytes, i32 kind)`.
    pub const EXCHANGE: &str = "__kassay_at_exchange";
    /// `i64 (i32 mask, i32 kind, i64 value, i32 from)`.
    pub const WARP: &str = "__kassay_at_warp";
    /// `void (i32 flags, i32 order, i32 scope)`.
    pub const FENCE: &str = "__kassay_at_fence";
    /// `ptr (ptr destination, ptr source, i64 count, i64 element, i64 destination_stride, i64 source_stride, ptr
    /// event)`.
    pub const ASYNC_COPY: &str = "__kassay_at_async_copy";
    /// `void (ptr events, i64 count)`.
    pub const WAIT: &str = "__kassay_at_wait";
    /// `void (ptr image, ptr sampler, ptr coordinates, i32 kind, ptr result)`.
    pub const IMAGE_READ: &str = "__kassay_at_image_read";
    /// `void (ptr image, ptr coordinates, i32 kind, ptr texel)`.
    pub const IMAGE_WRITE: &str = "__kassay_at_image_write";
    /// `i64 (ptr image, i32 what)`.
    pub const IMAGE_QUERY: &str = "__kassay_at_image_query";
    /// `i32 (ptr address)`.
    pub const MEMORY: &str = "__kassay_at_memory";
    /// `void (i32 number, i32 kind, i64 a, i64 b)`.
    pub const COMPARISON: &str = "__kassay_at_comparison";

    /// `void (i32 number)`.
    pub const PAIR: &str = "__kassay_at_pair";
    /// `void (i32 access, i32 flags, i64 address, i64 bytes, i64 count, i64 stride)`.
    pub const FLOW: &str = "__kassay_at_flow";

    /// `void ()`: a `return` statement of a kernel, which notes that in the context of the work-item.
    pub const RETURNS: &str = "__kassay_at_return";
    /// `void ()`: a failed assertion, or another trap.
    pub const TRAP: &str = "__kassay_at_trap";

    /// `void ()`: not a hook, but the point in the kernel at which an item that is ended early continues, to do what
    /// remains to be done. The code from there on uses only constants, arguments and variables of the kernel's entry.
    pub const LEAVE: &str = "__kassay_at_leave";

    /// All placeholders.
    pub const ALL: [&str; 16] = [
        BARRIER,
        EXCHANGE,
        WARP,
        FENCE,
        ASYNC_COPY,
        WAIT,
        IMAGE_READ,
        IMAGE_WRITE,
        IMAGE_QUERY,
        MEMORY,
        COMPARISON,
        PAIR,
        FLOW,
        RETURNS,
        TRAP,
        LEAVE,
    ];
}

/// Kinds of exchanges, added together.
pub mod exchange {
    /// Of a sub-group, not of the group.
    pub const OF_SUB_GROUP: u32 = 1;
    /// A value that occurs once more changes nothing.
    pub const REPEATABLE: u32 = 2;
}

/// Kinds of functions of warps. Lanes that the same mask names meet in functions of the same kind.
pub mod warp {
    /// `__syncwarp`; the value is `cl_mem_fence_flags`.
    pub const BARRIER: u32 = 0;
    /// `__ballot_sync`; the value is 0 or 1.
    pub const BALLOT: u32 = 1;
    /// `__any_sync`; the value is 0 or 1.
    pub const ANY: u32 = 2;
    /// `__all_sync`; the value is 0 or 1.
    pub const ALL: u32 = 3;
    /// `__reduce_add_sync`.
    pub const ADD: u32 = 4;
    /// `__reduce_min_sync` of signed integers.
    pub const MIN_SIGNED: u32 = 5;
    /// The same of unsigned ones.
    pub const MIN_UNSIGNED: u32 = 6;
    /// `__reduce_max_sync` of signed integers.
    pub const MAX_SIGNED: u32 = 7;
    /// The same of unsigned ones.
    pub const MAX_UNSIGNED: u32 = 8;
    /// `__activemask`, which waits for no lane in particular.
    pub const ACTIVE: u32 = 9;
    /// `__shfl_sync`; from here on, all are shuffles, which take the value of another lane.
    pub const SHUFFLE: u32 = 16;
    /// `__shfl_up_sync`.
    pub const SHUFFLE_UP: u32 = 17;
    /// `__shfl_down_sync`.
    pub const SHUFFLE_DOWN: u32 = 18;
    /// `__shfl_xor_sync`.
    pub const SHUFFLE_XOR: u32 = 19;
    /// Added for values of 64 bits.
    pub const WIDE: u32 = 32;

    /// What the function is called in CUDA.
    pub fn name(kind: u32) -> &'static str {
        match kind & !WIDE {
            BARRIER => "__syncwarp",
            BALLOT => "__ballot_sync",
            ANY => "__any_sync",
            ALL => "__all_sync",
            ADD => "__reduce_add_sync",
            MIN_SIGNED | MIN_UNSIGNED => "__reduce_min_sync",
            MAX_SIGNED | MAX_UNSIGNED => "__reduce_max_sync",
            ACTIVE => "__activemask",
            SHUFFLE_UP => "__shfl_up_sync",
            SHUFFLE_DOWN => "__shfl_down_sync",
            SHUFFLE_XOR => "__shfl_xor_sync",
            _ => "__shfl_sync",
        }
    }
}

/// Kinds of texels and coordinates, added together: a component's kind, and whether coordinates are floats (else
/// integers). Coordinates are four 32-bit words; unused ones are 0.
pub mod texel {
    /// Components are 32-bit floats.
    pub const FLOAT: u32 = 0;
    /// Components are signed 32-bit integers.
    pub const INT: u32 = 1;
    /// Components are unsigned 32-bit integers.
    pub const UINT: u32 = 2;
    /// Components are 16-bit floats.
    pub const HALF: u32 = 3;
    /// Added if coordinates are floats.
    pub const FLOAT_COORDINATES: u32 = 8;
}

/// The kind of a comparison in [`hook::COMPARISON`], added together: a relation, the type of the operands, and their
/// width in bits, shifted by [`WIDTH`](comparison::WIDTH).
pub mod comparison {
    /// `a == b`.
    pub const EQUAL: u32 = 1;
    /// `a != b`.
    pub const UNEQUAL: u32 = 2;
    /// `a < b`.
    pub const LESS: u32 = 3;
    /// `a >= b`.
    pub const NOT_LESS: u32 = 4;
    /// Mask of the relation.
    pub const RELATION: u32 = 7;
    /// Signed integers; without this and [`FLOAT`] unsigned ones.
    pub const SIGNED: u32 = 8;
    /// 16, 32 or 64 bits wide, in IEEE 754 format.
    pub const FLOAT: u32 = 16;
    /// Position of the width.
    pub const WIDTH: u32 = 8;
}

/// Flags of [`hook::FLOW`], added together.
pub mod flow {
    /// The access defines what it accesses; without this, it uses it.
    pub const DEFINES: u32 = 1;
    /// The whole group makes the access (an asynchronous copy), although every work-item calls the hook.
    pub const COLLECTIVE: u32 = 2;
    /// Together with [`DEFINES`]: what was there is forgotten. A private variable begins to exist.
    pub const FORGETS: u32 = 4;
}

/// Properties that [`hook::IMAGE_QUERY`] returns.
pub mod query {
    /// `get_image_width`.
    pub const WIDTH: u32 = 0;
    /// `get_image_height`; 0 for images of one dimension.
    pub const HEIGHT: u32 = 1;
    /// `get_image_depth`; 0 for images of fewer than three dimensions.
    pub const DEPTH: u32 = 2;
    /// `get_image_array_size`; 0 for images without layers.
    pub const ARRAY_SIZE: u32 = 3;
    /// `CLK_SNORM_INT8` and so on.
    pub const CHANNEL_TYPE: u32 = 4;
    /// `CLK_RGBA` and so on.
    pub const CHANNEL_ORDER: u32 = 5;
}

/// Metadata kinds of instructions that come from builtins (a node of one string, the builtin's name such as `vload4`);
/// inlining keeps them.
pub mod mark {
    /// For accesses through pointers that were passed to the builtin, and for placeholders.
    pub const BUILTIN: &str = "kassay.builtin";
    /// For accesses that need no check: to the builtin's own variables and tables, to the item's context,
    /// to exchanged values.
    pub const TRUSTED: &str = "kassay.trusted";
    /// For accesses to a part of a vector: the vector's alignment, and the distance of the part from its beginning,
    /// both in bytes.
    pub const COMPONENT: &str = "kassay.component";
    /// For stores of the addresses that variables of the program begin with: no work-item's own accesses. The only mark
    /// that kernels have before anything is woven.
    pub const BEGINS: &str = "kassay.begins";
    /// For copies of structs: where the members lie, as first byte and end of each run of them.
    pub const MEMBERS: &str = "kassay.members";
    /// For the values that are checked addresses, and for accesses to memory of kassay's own: contexts, the probe
    /// buffer. The node's string says which.
    pub const PROOF: &str = "kassay.proof";
}

/// Flag of the length of an inner array that is a row of an array of arrays, in no struct.
pub const OF_ROWS: u64 = 1 << 63;

/// Flag of a barrier that only synchronises the sub-group.
pub const OF_SUB_GROUP: u32 = 1 << 31;

/// Flag of a barrier that synchronises all groups of the launch.
pub const OF_GRID: u32 = 1 << 30;
