//! What code for the simulator and the simulator agree on: contexts in memory, names of hooks.
//!
//! The code is one function, [`ENTRY`], `void (ptr item, ptr arguments)`: it runs the kernel for one work-item. `item` is an
//! [`ItemContext`]; `arguments` points to one pointer per argument of the kernel (the probe buffer, if any, last): of values to their
//! bytes, of buffers and local arguments to a word that holds their address, of images and samplers likewise (the address is the
//! simulator's own handle).
//!
//! Before weaving ends, code gets at its item through a call of [`ITEM`]; weaving gives the kernel a last parameter instead.

use std::ffi::c_void;

/// The symbol of the compiled kernel.
pub const ENTRY: &str = "__kassay_entry";

/// A function without a body that stands for the item's context until everything is inlined: `ptr ()`.
pub const ITEM: &str = "__kassay_item_context";

/// Where something begins and how many bytes it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Extent {
    pub base: u64,
    pub bytes: u64,
}

/// What the work-items of a group share.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct GroupContext {
    /// By object of the table; private and constant ones are zero.
    pub extents: *const Extent,
    /// Where the group's static local variables begin.
    pub local_base: *mut u8,
    /// Memory that skipped accesses use instead: reads give 0 there unless something was written. At least 4096 bytes and longer
    /// than the longest access, aligned to 4096.
    pub sink: *mut u8,
    pub dimensions: u64,
    pub global_size: [u64; 3],
    pub local_size: [u64; 3],
    /// Differs from `local_size` in the last group of a launch that the size does not divide evenly.
    pub enqueued_local_size: [u64; 3],
    pub groups: [u64; 3],
    pub offset: [u64; 3],
    pub group_id: [u64; 3],
}

/// A work-item. Code reads what stands here and calls hooks with it.
#[derive(Debug)]
#[repr(C)]
pub struct ItemContext {
    pub group: *const GroupContext,
    /// Loop iterations until [`hook::FUEL`] is called next. Read once, when the item begins.
    pub fuel: i64,
    pub local_id: [u64; 3],
    /// With the offset.
    pub global_id: [u64; 3],
    /// Linear in its group.
    pub local_linear_id: u64,
    /// Not 0: the item is at its end. After [`hook::FUEL`], [`hook::BARRIER`] and what else waits for others it goes on at
    /// [`placeholder::LEAVE`], if the code has that.
    pub leaves: u64,
    /// The simulator's own.
    pub host: *mut c_void,
}

/// Hooks: functions of the simulator that code calls. `item` is always the first parameter; `site` an index into the part of the table
/// that belongs to the hook. C calling convention.
pub mod hook {
    /// `ptr (item, ptr address, i32 site)`: before an access; returns where to access instead (the address, or the sink).
    pub const ACCESS: &str = "__kassay_access";
    /// `ptr (item, ptr address, i32 site, i64 expected)`: the same before a compare-exchange; `expected`: its bits, zero-extended. One that
    /// succeeds is an access of `site`; one that fails only reads, and is an access of the next site.
    pub const COMPARE_EXCHANGE: &str = "__kassay_compare_exchange";
    /// `ptr (item, ptr address, i32 site, i64 bytes)`: the same for a length known only now.
    pub const SPAN: &str = "__kassay_span";
    /// `ptr (item, ptr address, i32 site)`: an access failed the inline check of its bounds, or its pointer may come from several
    /// objects: returns where to access. Without races.
    pub const CHECK: &str = "__kassay_check";
    /// `void (item, i32 site, i64 index, i64 length)`: before an access of `site` whose address has an index beyond an array of `length`
    /// elements that lies inside an object. Only with races.
    pub const INNER: &str = "__kassay_inner";
    /// `void (item, i32 site)`: a division by zero, or of the least integer by -1; the code then divides by 1.
    pub const DIVISION: &str = "__kassay_division";
    /// `i64 (item, i32 site)`: at a back edge, when the fuel is below zero: returns the next slice, or never.
    pub const FUEL: &str = "__kassay_fuel";
    /// `void (item, i32 site, i32 flags, i32 scope, i64 iteration)`: `flags` as `cl_mem_fence_flags` (1 local, 2 global, 4 image);
    /// `scope`: `memory_scope`; `iteration`: a hash of how often the enclosing loops went round.
    pub const BARRIER: &str = "__kassay_barrier";
    /// `ptr (item, i32 site, i64 iteration, ptr value, i64 bytes, i32 sub_group)`: waits for the group, or sub-group; returns where
    /// all its items' values lie, by local linear id (of a sub-group: by sub-group local id), until the next exchange but one.
    pub const EXCHANGE: &str = "__kassay_exchange";
    /// `void (item, i32 site, i32 flags, i32 order, i32 scope)`: a fence; numbers as in OpenCL C (`memory_order`, `memory_scope`).
    pub const FENCE: &str = "__kassay_fence";
    /// `ptr (item, i32 site, i64 iteration, i32 write_site, ptr destination, ptr source, i64 count, i64 element, i64 destination_stride,
    /// i64 source_stride, ptr event)`: `async_work_group_copy` and its strided forms; strides in elements. `site`: of barriers; accesses
    /// are those of site `write_site` (destination) and the next one (source). Returns the copy's event: `event`, or a new one if
    /// that is null. Events are numbers in the guise of pointers.
    pub const ASYNC_COPY: &str = "__kassay_async_copy";
    /// `void (item, i32 site, i64 iteration, ptr events, i64 count)`: `wait_group_events`; `events` is null where the list cannot be
    /// read.
    pub const WAIT: &str = "__kassay_wait";
    /// `void (item, i32 site, ptr format, ptr packed)`: `printf`; `format` is used if the site has none; returns 0 as the call's value.
    pub const PRINT: &str = "__kassay_print";
    /// `void (item, i32 site, ptr image, ptr sampler, ptr coordinates, i32 kind, ptr result)`: reads a texel; `sampler` may be null;
    /// `kind`: see [`super::texel`]; the result has four components.
    pub const IMAGE_READ: &str = "__kassay_image_read";
    /// `void (item, i32 site, ptr image, ptr coordinates, i32 kind, ptr texel)`.
    pub const IMAGE_WRITE: &str = "__kassay_image_write";
    /// `i64 (item, ptr image, i32 what)`: `get_image_*`; see [`super::query`].
    pub const IMAGE_QUERY: &str = "__kassay_image_query";
    /// `void (item, i32 number, i32 kind, i64 a, i64 b)`: before a comparison of two numbers, whose bits are zero-extended; `kind`: see
    /// [`super::comparison`].
    pub const COMPARISON: &str = "__kassay_comparison";

    /// All of them.
    pub const ALL: [&str; 17] = [
        ACCESS,
        COMPARE_EXCHANGE,
        SPAN,
        CHECK,
        INNER,
        DIVISION,
        FUEL,
        BARRIER,
        EXCHANGE,
        FENCE,
        ASYNC_COPY,
        WAIT,
        PRINT,
        IMAGE_READ,
        IMAGE_WRITE,
        IMAGE_QUERY,
        COMPARISON,
    ];
}

/// What stands for a hook until everything is inlined: functions without a body, with the hook's parameters but for `item`, `site`
/// and `iteration`, which weaving adds. `runtime-cl/host.cl` calls them. `printf` stands for [`hook::PRINT`] itself.
pub mod placeholder {
    /// `void (i32 flags, i32 scope)`.
    pub const BARRIER: &str = "__kassay_at_barrier";
    /// `ptr (ptr value, i64 bytes, i32 sub_group)`.
    pub const EXCHANGE: &str = "__kassay_at_exchange";
    /// `void (i32 flags, i32 order, i32 scope)`.
    pub const FENCE: &str = "__kassay_at_fence";
    /// `ptr (ptr destination, ptr source, i64 count, i64 element, i64 destination_stride, i64 source_stride, ptr event)`.
    pub const ASYNC_COPY: &str = "__kassay_at_async_copy";
    /// `void (ptr events, i64 count)`.
    pub const WAIT: &str = "__kassay_at_wait";
    /// `void (ptr image, ptr sampler, ptr coordinates, i32 kind, ptr result)`.
    pub const IMAGE_READ: &str = "__kassay_at_image_read";
    /// `void (ptr image, ptr coordinates, i32 kind, ptr texel)`.
    pub const IMAGE_WRITE: &str = "__kassay_at_image_write";
    /// `i64 (ptr image, i32 what)`.
    pub const IMAGE_QUERY: &str = "__kassay_at_image_query";
    /// `void (i32 number, i32 kind, i64 a, i64 b)`.
    pub const COMPARISON: &str = "__kassay_at_comparison";

    /// `void ()`: no hook, but a place in the kernel from which on everything is done that an item has to do which is ended early.
    /// It uses nothing but constants, arguments and variables of the kernel's entry.
    pub const LEAVE: &str = "__kassay_at_leave";

    /// All of them.
    pub const ALL: [&str; 10] =
        [BARRIER, EXCHANGE, FENCE, ASYNC_COPY, WAIT, IMAGE_READ, IMAGE_WRITE, IMAGE_QUERY, COMPARISON, LEAVE];
}

/// Kinds of texels and coordinates, added up: a component's kind, and whether coordinates are floats (else integers). Coordinates are
/// four 32-bit words, those not used are 0.
pub mod texel {
    pub const FLOAT: u32 = 0;
    pub const INT: u32 = 1;
    pub const UINT: u32 = 2;
    pub const HALF: u32 = 3;
    pub const FLOAT_COORDINATES: u32 = 8;
}

/// What [`hook::COMPARISON`] compares, added up: one relation, what the numbers are, and their width in bits above.
pub mod comparison {
    pub const EQUAL: u32 = 1;
    pub const UNEQUAL: u32 = 2;
    pub const LESS: u32 = 3;
    pub const NOT_LESS: u32 = 4;
    /// The bits of the relation.
    pub const RELATION: u32 = 7;
    pub const SIGNED: u32 = 8;
    /// Of 16, 32 or 64 bits, as IEEE 754 has them.
    pub const FLOAT: u32 = 16;
    /// Where the width begins.
    pub const WIDTH: u32 = 8;
}

/// What [`hook::IMAGE_QUERY`] is asked.
pub mod query {
    pub const WIDTH: u32 = 0;
    pub const HEIGHT: u32 = 1;
    pub const DEPTH: u32 = 2;
    pub const ARRAY_SIZE: u32 = 3;
    /// `CLK_SNORM_INT8` and so on.
    pub const CHANNEL_TYPE: u32 = 4;
    /// `CLK_RGBA` and so on.
    pub const CHANNEL_ORDER: u32 = 5;
}

/// Metadata of instructions that builtins brought (a node of one string, the builtin's name such as `vload4`); inlining keeps it.
pub mod mark {
    /// Of accesses to what the builtin was given a pointer to, and of placeholders.
    pub const BUILTIN: &str = "kassay.builtin";
    /// Of accesses that need no check: to the builtin's own variables and tables, to the item's context, to exchanged values.
    pub const TRUSTED: &str = "kassay.trusted";
}

/// Added to the flags of a barrier that only the sub-group meets at.
pub const OF_SUB_GROUP: u32 = 1 << 31;

/// Work-items of a sub-group, by local linear id; the last one of a group may have fewer.
pub const SUB_GROUP: u64 = 16;
