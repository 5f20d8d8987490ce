//! What is known of a kernel without a suite.

use std::sync::Arc;

use super::polynomial::Poly;
use crate::kernel::interface::{Interface, Scalar};
use crate::program::{Program, Region};

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

/// What a buffer's integers are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Values that no address and no loop depends on, or that the code itself keeps in range.
    Data,
    /// Places in another region, `scale` elements apart; distinct where they say what to write.
    Places {
        target: Region,
        scale: u64,
        distinct: bool,
        /// Elements of the array that is picked from, where its type says so.
        room: Option<u64>,
    },
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
    /// Of buffers: numbers of elements that the kernel's own checks keep its accesses below; the buffer has the largest of them.
    pub(crate) lengths: Vec<Poly>,
    /// Of buffers: which accesses those checks cover, by instruction.
    pub(crate) checked: Vec<u32>,
    /// Of buffers: atomics count up in it, and the kernel uses the numbers that they give.
    pub is_counter: bool,
    /// [`ArgModel::lengths`] in words, such as `width * height`.
    pub length: Option<String>,
}

/// `extent < coefficient * scalar + rest` has to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Demand {
    pub extent: Poly,
    pub coefficient: i128,
    pub rest: Poly,
    /// Nothing checks it: a smaller scalar would make rows overlap.
    pub is_hard: bool,
    /// `extent` is where a loop starts that goes on to the scalar: more than it asks for is wanted.
    pub is_start: bool,
}

/// `coefficient * scalar + rest <= most` has to hold, or an array of fixed size overflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cap {
    pub coefficient: i128,
    pub rest: Poly,
    pub most: i128,
}

/// A scalar in a by-value argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalarModel {
    /// Position of the argument.
    pub arg: u32,
    /// In bytes, in the argument.
    pub offset: u64,
    pub scalar: Scalar,
    /// Such as `n` or `size.s1`.
    pub name: String,
    pub role: Role,
    pub(crate) demands: Vec<Demand>,
    pub(crate) caps: Vec<Cap>,
    /// Something is divided by it: it must not be 0.
    pub divides: bool,
    /// Values that the code compares it with, and their neighbours.
    pub dictionary: Vec<i128>,
}

/// What work-group sizes the kernel can have, by dimension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupRules {
    /// `reqd_work_group_size`.
    pub required: Option<[u64; 3]>,
    pub hint: Option<[u64; 3]>,
    /// The code counts on exactly this size.
    pub exactly: [Option<u64>; 3],
    /// Static local arrays have room for no more.
    pub at_most: [Option<u64>; 3],
    /// A loop halves or doubles its way through the work-group.
    pub power_of_two: bool,
}

/// A kernel's interface and what follows from its code.
#[derive(Debug, Clone)]
pub struct KernelModel {
    pub interface: Interface,
    /// By position.
    pub args: Vec<ArgModel>,
    /// All scalars passed by value.
    pub scalars: Vec<ScalarModel>,
    pub groups: GroupRules,
    /// How many dimensions the kernel asks ids of: 1 to 3.
    pub dims: u32,
    /// What is assumed of every launch, as sentences.
    pub preconditions: Vec<String>,
    pub(crate) program: Arc<Program>,
}
