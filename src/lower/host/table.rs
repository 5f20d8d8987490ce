//! What the hooks in a kernel's code for the simulator stand for: accesses, barriers, loops, divisions, by site number.
//!
//! Sites are numbered after everything is inlined into the kernel, so that a site is a place in the source *and* the way of calls
//! that leads there. Several sites share a source place; findings are told by place.

use serde::{Deserialize, Serialize};

/// A kind of memory (OpenCL C 6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    Private,
    Global,
    Constant,
    Local,
    /// A pointer without an address space: any but constant.
    Generic,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mode {
    Read,
    Write,
    /// Reads and writes in one step, or writes atomically.
    Atomic,
    /// Only reads, atomically: no conflict with other atomics, nor with plain reads.
    AtomicRead,
}

/// Orders and scopes of atomics and fences (OpenCL C 3.0, 6.15.12), with the numbers of `opencl-c-base.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ordering {
    pub acquire: bool,
    pub release: bool,
    pub scope: Scope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    WorkItem,
    SubGroup,
    WorkGroup,
    Device,
    AllDevices,
}

/// A place in the source; line 0: not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePlace {
    pub function: String,
    /// As debug information names it.
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// Where an instruction stands and how it is reached: innermost place first, then the calls that lead there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallPath {
    pub frames: Vec<SourcePlace>,
}

/// A thing in memory that accesses are checked against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The argument's or variable's name; `argument 3` where the IR has none.
    pub name: String,
    pub space: Space,
    pub storage: Storage,
    /// Of its elements in bytes, as far as accesses tell: what an index counts in. At least 1.
    pub element: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// What the kernel's argument at this position points to; its extent is the launch's.
    Argument(u32),
    /// A static `__local` variable: bytes, and where it begins in the group's local memory.
    Local { bytes: u64, offset: u64 },
    /// A `__constant` variable of the module: bytes.
    Constant { bytes: u64 },
    /// A private variable: bytes.
    Private { bytes: u64 },
}

/// An access to memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessSite {
    /// Index into [`HostTable::paths`].
    pub path: u32,
    pub mode: Mode,
    /// Of the pointer as the source has it.
    pub space: Space,
    /// Index into [`HostTable::objects`], where the pointer can only come from that one.
    pub object: Option<u32>,
    /// Bytes; of accesses whose length is only known when they run: of one element.
    pub bytes: u32,
    /// What the hardware may rely on, in bytes: a misaligned access is a fault.
    pub align: u32,
    /// Of atomics with an order stronger than relaxed, or a scope narrower than the device.
    pub ordering: Option<Ordering>,
    /// The builtin that makes it (`vload4`), if one does.
    pub builtin: Option<String>,
}

/// A point where the work-items of a group (or sub-group) wait for each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierSite {
    pub path: u32,
    /// `barrier`, `work_group_reduce_add`, `wait_group_events`...
    pub builtin: String,
    /// Whether only the sub-group waits.
    pub sub_group: bool,
    /// Sites that are the same `barrier` in the source share this number.
    pub source: u32,
}

/// A back edge, or a division, or a fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainSite {
    pub path: u32,
}

/// An argument of `printf` after the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrintArg {
    /// Bytes of an integer (1, 2, 4, 8), components (1: a scalar), where it lies in the packed arguments.
    Integer { bytes: u32, components: u32, offset: u32 },
    /// Of a float likewise (2, 4, 8).
    Float { bytes: u32, components: u32, offset: u32 },
    /// A pointer; what `%s` takes if it points to constant memory.
    Pointer { offset: u32 },
}

/// A call of `printf`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintSite {
    pub path: u32,
    /// `None`: not a literal.
    pub format: Option<Vec<u8>>,
    pub args: Vec<PrintArg>,
}

/// All of a kernel's sites. Hooks are given indices into these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTable {
    pub paths: Vec<CallPath>,
    /// The kernel's own arguments first, one per position, also those that are no pointers.
    pub objects: Vec<Object>,
    pub accesses: Vec<AccessSite>,
    pub barriers: Vec<BarrierSite>,
    pub loops: Vec<PlainSite>,
    pub divisions: Vec<PlainSite>,
    pub fences: Vec<PlainSite>,
    pub prints: Vec<PrintSite>,
    /// Bytes of local memory that static variables take.
    pub local_bytes: u64,
    /// The kernel's arguments, without the probe buffer.
    pub arguments: u32,
    /// Whether accesses to global and local memory call the hook that knows races ([`super::abi::hook::ACCESS`]); else
    /// only bounds are checked.
    pub races: bool,
    /// Whether the code holds atomics or fences that order other accesses, so that races need happens-before.
    pub synchronises: bool,
    /// Bytes of stack a work-item needs at most for its private variables.
    pub stack_bytes: u64,
    /// Whether an item that waits or spins can be told to leave ([`super::abi::ItemContext::leaves`]).
    pub leaves: bool,
    /// The longest access of known length, in bytes.
    pub longest_access: u32,
    /// By object: the bytes that one shadow cell may stand for (a power of two up to 16): every access that may touch the object covers
    /// whole cells if it is aligned.
    pub granule: Vec<u32>,
}
