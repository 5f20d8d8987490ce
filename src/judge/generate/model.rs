//! The model of a kernel: what the analysis of its code infers about arguments and work-groups.

use std::sync::Arc;

use kassay_model::interface::{Interface, Scalar};
use kassay_prove::program::{Program, Region};

use super::polynomial::{Each, Poly};

/// The purpose of an argument, as far as the code shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A buffer or image that is only read.
    Input,
    /// One that is only written.
    Output,
    /// One that is read and written.
    InOut,
    /// A length: something that grows with the number of work-items stays below it.
    Bound,
    /// A row length: an index is multiplied by it.
    RowLength,
    /// A trip count of a loop.
    Count,
    /// An index: it becomes part of an address unchanged.
    Index,
    /// A shift amount.
    Shift,
    /// A divisor.
    Divisor,
    /// A number that only takes part in comparisons.
    Flag,
    /// Any other value.
    Data,
    /// Local memory.
    Local,
    /// A sampler.
    Sampler,
    /// Neither read nor written.
    Unused,
}

/// The purpose of the integers in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Values on which no address or loop depends, or that the kernel itself keeps in range.
    Data,
    /// Indices into another region, in units of `scale` elements; distinct if they say where to write.
    Indices {
        /// The region that they point into.
        target: Region,
        /// Elements of it for each step of the index.
        scale: u64,
        /// Whether no two are equal.
        distinct: bool,
        /// Number of elements of the array that they index, if its type gives it.
        room: Option<u64>,
    },
    /// Offsets at which segments of another buffer begin; they do not decrease.
    Offsets,
    /// Trip counts of loops.
    TripCounts,
    /// A number for each dimension.
    List(List),
    /// A number for each work-item or group of a dimension.
    PerItem(Each),
    /// How long the segments are that begin at the offsets in another buffer.
    Lengths {
        /// That buffer's position.
        of: u32,
    },
}

/// A list of numbers, one for each dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum List {
    /// Lengths of the dimensions.
    Sizes,
    /// How far apart neighbours are in a dimension.
    Strides,
    /// Which dimension it is of those of another array.
    Order,
}

impl List {
    /// Returns the number at `index` in a launch of so many work-items. The dimensions are those of one dense array:
    /// all but the first are 2 long, and the first has room for what is left of a number after the others are taken
    /// from it.
    pub(crate) fn number(self, index: u64, items: u64) -> u64 {
        match self {
            List::Sizes if index == 0 => items.max(2),
            List::Sizes => 2,
            List::Order => index,
            List::Strides => 1 << (DIMENSIONS - 1).saturating_sub(index),
        }
    }
}

/// Dimensions of the arrays that lists describe, at most: counts of them are no greater.
pub(super) const DIMENSIONS: u64 = 8;

/// The inferred properties of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgModel {
    /// What the argument is for.
    pub role: Role,
    /// For buffers: what their contents are for.
    pub contents: Contents,
    /// For buffers: numbers of elements below which the kernel's own checks keep its accesses; the buffer has the
    /// largest of them.
    pub(crate) lengths: Vec<Poly>,
    /// For buffers: the accesses that those checks guard, by instruction.
    pub(crate) checked: Vec<u32>,
    /// For buffers: atomics increment its elements, and the kernel uses the results.
    pub is_counter: bool,
    /// `lengths` as text, such as `width * height`.
    pub length: Option<String>,
}

/// `extent < coefficient * scalar + rest` must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LowerBound {
    pub extent: Poly,
    pub coefficient: i128,
    pub rest: Poly,
    /// Nothing checks it: with a smaller scalar, rows would overlap or accesses precede the buffer.
    pub is_hard: bool,
    /// `extent` is the start of a loop that runs up to the scalar, so the scalar should be larger than required.
    pub is_start: bool,
}

/// `coefficient * scalar + rest <= most` must hold, or an array of fixed size overflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UpperBound {
    pub coefficient: i128,
    pub rest: Poly,
    pub most: i128,
}

/// A scalar in a by-value argument, or one in a buffer that is the same for all work-items and takes part in addresses
/// or bounds, as a member of a struct of parameters does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalarModel {
    /// Position of the argument.
    pub arg: u32,
    /// Byte offset within the argument or the buffer.
    pub offset: u64,
    /// It lies in a buffer.
    pub in_buffer: bool,
    /// The list of which it is an element, and which one.
    pub list: Option<(List, u64)>,
    /// Its type.
    pub scalar: Scalar,
    /// Name in messages, such as `n` or `size.s1`.
    pub name: String,
    /// What it is for.
    pub role: Role,
    pub(crate) lower_bounds: Vec<LowerBound>,
    pub(crate) upper_bounds: Vec<UpperBound>,
    /// Addresses step by it in bytes, and are aligned for multiples of this.
    pub(crate) multiple_of: i128,
    /// A floating-point number from which addresses are computed: where it is negative or 0, these mean nothing.
    pub(crate) is_positive: bool,
    /// Something is divided by it, so it must not be 0.
    pub divides: bool,
    /// Values that the code compares it with, and their neighbours.
    pub dictionary: Vec<i128>,
}

impl ScalarModel {
    /// A scalar of an argument that is passed by value, of which nothing else is known yet.
    pub(crate) fn new(arg: u32, offset: u64, scalar: Scalar, name: String) -> ScalarModel {
        ScalarModel {
            arg,
            offset,
            in_buffer: false,
            list: None,
            scalar,
            name,
            role: Role::Unused,
            lower_bounds: Vec::new(),
            upper_bounds: Vec::new(),
            multiple_of: 1,
            is_positive: false,
            divides: false,
            dictionary: Vec::new(),
        }
    }
}

/// Work-group sizes that the kernel supports, by dimension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupRules {
    /// `reqd_work_group_size`.
    pub required: Option<[u64; 3]>,
    /// `work_group_size_hint`.
    pub hint: Option<[u64; 3]>,
    /// The code relies on exactly this size.
    pub exactly: [Option<u64>; 3],
    /// Static local arrays have room for no more work-items.
    pub at_most: [Option<u64>; 3],
    /// Loops step by such a part of the group's size that it has to be a multiple of this.
    pub multiple_of: [Option<u64>; 3],
    /// Nothing tells work-groups apart in the dimension, so that a launch has one of them there.
    pub one_group: [bool; 3],
    /// A loop halves or doubles its way through the work-group.
    pub power_of_two: bool,
    /// How many work-items the sub-groups have, if the kernel uses them.
    pub sub_group: Option<u64>,
}

impl GroupRules {
    /// Returns the size in dimension 0 next to `size` that has whole sub-groups only, if the kernel allows one: hosts
    /// launch no others, and devices differ in how they divide the work-items of ragged rows.
    pub fn of_whole_sub_groups(&self, size: u64) -> u64 {
        let Some(of) = self.sub_group.filter(|_| self.exactly[0].is_none()) else { return size };
        let most = self.at_most[0].map_or(u64::MAX, |most| most / of * of);
        if most == 0 { size } else { size.next_multiple_of(of).min(most) }
    }
}

/// A kernel's interface and what is inferred from its code.
#[derive(Debug, Clone)]
pub struct KernelModel {
    /// The kernel's interface.
    pub interface: Interface,
    /// By position.
    pub args: Vec<ArgModel>,
    /// All scalars passed by value, then those in buffers.
    pub scalars: Vec<ScalarModel>,
    /// The sizes of work-groups.
    pub groups: GroupRules,
    /// Number of dimensions in which the kernel queries ids: 1 to 3.
    pub dims: u32,
    /// Assumptions about every launch, as sentences.
    pub preconditions: Vec<String>,
    pub(crate) program: Arc<Program>,
}
