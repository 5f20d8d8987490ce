//! What is known of a kernel's arguments without a suite.

use crate::kernel::interface::Interface;

/// What an argument is for, as far as the code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A buffer or image that is only read.
    Input,
    /// One that is only written.
    Output,
    /// One that is read and written.
    InOut,
    /// A number that something which grows with the work-items stays below: a length.
    Bound,
    /// A number that an index is multiplied by: the length of a row.
    RowLength,
    /// A number of turns of a loop.
    Count,
    /// A number that becomes part of an address as it is.
    Index,
    /// A number that values are shifted by.
    Shift,
    /// A number that is divided by.
    Divisor,
    /// A number that only decides.
    Flag,
    /// Any other value.
    Data,
    /// Memory of a work-group.
    Local,
    Sampler,
    /// Neither read nor written.
    Unused,
}

/// What a buffer's contents are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Values that no address and no loop depends on.
    Data,
    /// Places in another buffer (or in local or private memory), by argument if it is one; distinct where work-items write there.
    Places { target: Option<u32>, distinct: bool },
    /// Where parts of another buffer begin: they do not fall.
    Offsets,
    /// Numbers of turns of loops.
    Counts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgModel {
    pub role: Role,
    /// Of buffers.
    pub contents: Contents,
    /// Of buffers: how many elements the kernel's own checks say there are, in terms of the arguments, such as `width * height`.
    pub length: Option<String>,
}

/// A kernel's interface and what follows from its code.
#[derive(Debug, Clone)]
pub struct KernelModel {
    pub interface: Interface,
    /// By position.
    pub args: Vec<ArgModel>,
    /// How many dimensions the kernel asks ids of: 1 to 3.
    pub dims: u32,
    /// What is assumed of every launch, as sentences.
    pub preconditions: Vec<String>,
}
