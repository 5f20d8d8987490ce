//! Defines the table of sites that the hooks in a kernel's code for the simulator refer to: accesses, barriers, loops,
//! divisions, by number.
//!
//! Sites are numbered after everything is inlined into the kernel, so that a site is a place in the source *and* the
//! call path that leads there. Several sites share a source place; findings are reported by place.

use serde::{Deserialize, Serialize};

use crate::sub_groups;

/// An address space (OpenCL C 6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// Of one work-item.
    Private,
    /// Of all work-items.
    Global,
    /// Of all work-items, and only read.
    Constant,
    /// Of one work-group.
    Local,
    /// A pointer without an address space: any but constant.
    Generic,
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mode {
    /// Reads, and is not atomic.
    Read,
    /// Writes, and is not atomic.
    Write,
    /// Reads and writes in one step, or writes atomically.
    Atomic,
    /// Only reads, atomically: no conflict with other atomics, nor with plain reads.
    AtomicRead,
}

/// Orders and scopes of atomics and fences (OpenCL C 3.0, 6.15.12), with the numbers of `opencl-c-base.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ordering {
    /// Whether it acquires.
    pub acquire: bool,
    /// Whether it releases.
    pub release: bool,
    /// The work-items with which it synchronises.
    pub scope: Scope,
}

/// Memory scopes, from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of OpenCL C's `memory_scope`")]
pub enum Scope {
    WorkItem,
    SubGroup,
    WorkGroup,
    Device,
    AllDevices,
}

/// How a definition of memory and a use of it are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// Of the work-item's own private memory.
    Private,
    /// Of local or global memory, by the same work-item.
    SameWorkItem,
    /// By different work-items of a group, with a barrier in between that orders the memory.
    AcrossBarrier,
    /// By different work-items of a group, without such a barrier.
    WithinGroup,
    /// By work-items of different groups.
    AcrossGroups,
    /// The host has defined what the kernel uses.
    HostToKernel,
}

/// A place in the source; line 0 if it is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePlace {
    /// Name of the function that contains it.
    pub function: String,
    /// As in the debug information.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// The position of an instruction and the calls that lead there: innermost place first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallPath {
    /// The places; at least one.
    pub frames: Vec<SourcePlace>,
}

/// An object in memory that accesses are checked against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The argument's or variable's name; `argument 3` if the IR has none.
    pub name: String,
    /// Address space of the object.
    pub space: Space,
    /// What holds it.
    pub storage: Storage,
    /// Size of its elements in bytes, as far as accesses reveal it: the unit of an index. At least 1.
    pub element: u32,
}

/// The kind of memory that holds an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// Memory passed as the kernel's argument at this position; the launch sets its extent.
    Argument(u32),
    /// A static `__local` variable: size in bytes, and offset in the group's local memory.
    Local {
        /// Its size.
        bytes: u64,
        /// Its distance from the start of the group's local memory, in bytes.
        offset: u64,
    },
    /// A `__constant` variable of the module: size in bytes.
    Constant {
        /// Its size.
        bytes: u64,
    },
    /// A private variable: size in bytes.
    Private {
        /// Its size.
        bytes: u64,
    },
    /// A private variable whose size is known at run time only, or of which there may be several at a time.
    Allocated,
}

/// A private variable that is placed: it lies in memory of its own, apart from the stack (see
/// [`super::abi::private`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Index into [`NativeTable::objects`].
    pub object: u32,
    /// Its size.
    pub bytes: u64,
    /// Offset of its first byte in the memory of placed variables.
    pub offset: u64,
}

/// An access to memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessSite {
    /// Index into [`NativeTable::paths`].
    pub path: u32,
    /// What it does.
    pub mode: Mode,
    /// Address space of the pointer in the source.
    pub space: Space,
    /// Index into [`NativeTable::objects`], if the pointer can only come from that one.
    pub object: Option<u32>,
    /// Size in bytes; for accesses whose length is known only at run time: of one element.
    pub bytes: u32,
    /// Alignment that the hardware may rely on, in bytes: a misaligned access is a fault.
    pub align: u32,
    /// Bytes by which it lies behind an address with this alignment: that of a component in its vector.
    pub lead: u32,
    /// For atomics with an order stronger than relaxed, or a scope narrower than the device.
    pub ordering: Option<Ordering>,
    /// The builtin that performs it (`vload4`), if any.
    pub builtin: Option<String>,
}

/// The builtin at which all work-items of a launch wait for each other (`cuda/include/kassay/cooperative_groups.h`).
pub const GRID_BARRIER: &str = "kassay_grid_barrier";

/// A point where the work-items of a group (or sub-group, or launch) wait for each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierSite {
    /// Index into [`NativeTable::paths`].
    pub path: u32,
    /// `barrier`, `work_group_reduce_add`, `wait_group_events`...
    pub builtin: String,
    /// Whether it only synchronises the sub-group.
    pub sub_group: bool,
    /// Sites of the same `barrier` in the source share this number.
    pub source: u32,
    /// The memory that it orders between work-items, as `cl_mem_fence_flags`; `None` if only its run tells.
    #[serde(default)]
    pub flags: Option<u32>,
    /// Whether it synchronises all groups of the launch.
    #[serde(default)]
    pub grid: bool,
}

/// A back edge, or a division, or a fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainSite {
    /// Index into [`NativeTable::paths`].
    pub path: u32,
}

/// An argument of `printf` after the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrintArg {
    /// Size of an integer in bytes (1, 2, 4, 8), number of components (1: a scalar), offset in the packed arguments.
    Integer {
        /// Size of a component.
        bytes: u32,
        /// How many there are; 1: a scalar.
        components: u32,
        /// In bytes within the packed arguments.
        offset: u32,
    },
    /// As `Integer`, for a float (2, 4, 8 bytes).
    Float {
        /// Size of a component.
        bytes: u32,
        /// How many there are; 1: a scalar.
        components: u32,
        /// In bytes within the packed arguments.
        offset: u32,
    },
    /// A pointer; printed by `%s` if it points to constant memory.
    Pointer {
        /// In bytes within the packed arguments.
        offset: u32,
    },
}

/// A call of `printf`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintSite {
    /// Index into [`NativeTable::paths`].
    pub path: u32,
    /// `None` if it is not a literal.
    pub format: Option<Vec<u8>>,
    /// The arguments after the format, in order.
    pub args: Vec<PrintArg>,
}

/// A failed assertion, or another trap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrapSite {
    /// Index into [`NativeTable::paths`].
    pub path: u32,
    /// The text of the condition, if it is an assertion's.
    pub condition: Option<String>,
}

/// All sites of a kernel. Hooks get indices into these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeTable {
    /// Places in the source with their call paths; sites refer to them by index.
    pub paths: Vec<CallPath>,
    /// The kernel's own arguments come first, one per position, including those that are not pointers.
    pub objects: Vec<Object>,
    /// Accesses to memory.
    pub accesses: Vec<AccessSite>,
    /// Points where work-items wait for each other.
    pub barriers: Vec<BarrierSite>,
    /// Loops; the back edges of a loop share a site.
    pub loops: Vec<PlainSite>,
    /// Integer divisions that may trap.
    pub divisions: Vec<PlainSite>,
    /// Assertions and other traps.
    pub traps: Vec<TrapSite>,
    /// Memory fences.
    pub fences: Vec<PlainSite>,
    /// Calls of `printf`.
    pub prints: Vec<PrintSite>,
    /// Bytes of local memory taken by static variables.
    pub local_bytes: u64,
    /// Number of the kernel's arguments, without the probe buffer.
    pub arguments: u32,
    /// Whether accesses to global and local memory call the hook that detects races ([`super::abi::hook::ACCESS`]);
    /// else only bounds are checked.
    pub races: bool,
    /// Whether the code contains atomics or fences that order other accesses, so that race
    /// detection needs happens-before.
    pub synchronises: bool,
    /// Upper bound of the stack that a work-item needs for its private variables, in bytes.
    pub stack_bytes: u64,
    /// The placed variables, by number.
    pub placed: Vec<Placed>,
    /// Bytes of memory that they take.
    pub placed_bytes: u64,
    /// Whether the kernel makes variables at run time ([`super::abi::hook::ALLOCATE`]).
    pub allocates: bool,
    /// Whether an item that waits or spins can be made to leave ([`super::abi::ItemContext::leaves`]).
    pub leaves: bool,
    /// Length of the longest access of known length, in bytes.
    pub longest_access: u32,
    /// The number of work-items of a sub-group that the kernel requires ([`crate::sub_groups`]).
    pub required_sub_group: Option<u32>,
    /// By object: the size in bytes of one shadow cell (a power of two up to 16), such that every aligned access that
    /// may touch the object covers complete cells.
    pub granule: Vec<u32>,
}

impl NativeTable {
    /// Says what happens at a trap and where: ``the assertion `n > 0` fails at k.cu:7:3``.
    pub fn trap_text(&self, site: u32) -> String {
        let trap = self.traps.get(site as usize);
        let what = match trap.and_then(|trap| trap.condition.as_ref()) {
            Some(condition) => format!("the assertion `{condition}` fails"),
            None => "a work-item traps".to_owned(),
        };
        let frame = trap.and_then(|trap| self.paths.get(trap.path as usize)?.frames.first());
        match frame.filter(|frame| frame.line > 0) {
            Some(at) => format!("{what} at {}:{}:{}", at.file, at.line, at.column),
            None => what,
        }
    }
}

impl NativeTable {
    /// Returns whether groups of a launch wait for each other, so that all have to be active at the same time.
    pub fn waits_for_grid(&self) -> bool {
        self.barriers.iter().any(|barrier| barrier.grid)
    }

    /// The number of work-items of a full sub-group: what the kernel requires, or else the same for all.
    pub fn sub_group(&self) -> u32 {
        self.required_sub_group.unwrap_or(sub_groups::SIMULATED)
    }
}
