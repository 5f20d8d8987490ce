//! A launch: one NDRange, one value per argument, as bytes a device can take, and an order.

use std::sync::Arc;

use super::schedule::Schedule;

/// The NDRange of a launch (OpenCL specification 3.2), in work-items.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NdRange {
    /// 1 to 3; the entries beyond it are 1 (offset: 0).
    pub dims: u32,
    pub global: [u64; 3],
    /// `None`: left to kassay, see [`NdRange::local_or_default`].
    pub local: Option<[u64; 3]>,
    pub offset: [u64; 3],
}

/// An NDRange whose work-group size is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolvedRange {
    /// 1 to 3; the entries beyond it are 1 (offset: 0).
    pub dims: u32,
    pub global: [u64; 3],
    pub local: [u64; 3],
    pub offset: [u64; 3],
}

impl ResolvedRange {
    /// Returns the number of work-items.
    pub fn items(&self) -> u64 {
        self.global.iter().product()
    }

    /// Returns the number of work-groups by dimension, the partial ones at its end too.
    pub fn group_counts(&self) -> [u64; 3] {
        [0, 1, 2].map(|d| self.global[d].div_ceil(self.local[d].max(1)))
    }

    /// Returns the number of work-groups in all.
    pub fn groups(&self) -> u64 {
        self.group_counts().iter().product()
    }

    /// Returns whether all work-groups are of one size.
    pub fn is_even(&self) -> bool {
        (0..3).all(|d| self.global[d].is_multiple_of(self.local[d].max(1)))
    }

    /// Returns the number of work-items of the group with this linear number (dimension 0 fastest): the last ones of a
    /// dimension may have fewer.
    pub fn items_of(&self, group: u64) -> u64 {
        let (counts, local) = (self.group_counts(), self.local);
        let [x, y] = [counts[0].max(1), counts[1].max(1)];
        let id = [group % x, group / x % y, group / x / y];
        (0..3).map(|d| local[d].min(self.global[d].saturating_sub(id[d] * local[d]))).product()
    }

    /// Returns the number of work-items of the first group, which no other exceeds: a launch smaller than a group in some
    /// dimension has no whole one.
    pub fn first_group_items(&self) -> u64 {
        (0..3).map(|d| self.local[d].min(self.global[d])).product()
    }

    /// Returns the number of work-items of a whole group.
    pub fn group_items(&self) -> u64 {
        self.local.iter().product()
    }
}

impl NdRange {
    /// Returns the number of work-items.
    pub fn items(&self) -> u64 {
        self.global.iter().product()
    }

    /// Returns the range with work-groups of this size, whatever its own.
    pub fn with_local(&self, local: [u64; 3]) -> ResolvedRange {
        ResolvedRange { dims: self.dims, global: self.global, local, offset: self.offset }
    }

    /// Returns the range with the size that its work-groups have in a launch ([`NdRange::local_or_default`]).
    pub fn resolve(&self, required: Option<[u64; 3]>, max_group: u64) -> ResolvedRange {
        self.with_local(self.local_or_default(required, max_group))
    }

    /// Decides the size of the work-groups, if it was left open.
    pub fn decide_local(&mut self, required: Option<[u64; 3]>, max_group: u64) {
        self.local = Some(self.local_or_default(required, max_group));
    }

    /// Returns the range as it was decided; a size left open counts as 1. So do the numbers below.
    pub fn decided(&self) -> ResolvedRange {
        self.with_local(self.local.unwrap_or([1; 3]))
    }

    /// Returns the number of work-groups by dimension: see [`ResolvedRange::group_counts`].
    pub fn group_counts(&self) -> [u64; 3] {
        self.decided().group_counts()
    }

    /// Returns the number of work-groups in all.
    pub fn groups(&self) -> u64 {
        self.decided().groups()
    }

    /// Returns whether all work-groups are of one size.
    pub fn is_even(&self) -> bool {
        self.decided().is_even()
    }

    /// Returns the number of work-items of a group: see [`ResolvedRange::items_of`].
    pub fn items_of(&self, group: u64) -> u64 {
        self.decided().items_of(group)
    }

    /// Returns the number of work-items of the first group: see [`ResolvedRange::first_group_items`].
    pub fn first_group_items(&self) -> u64 {
        self.decided().first_group_items()
    }

    /// Returns the number of work-items of a whole group.
    pub fn group_items(&self) -> u64 {
        self.decided().group_items()
    }
}

/// How an image's texels are laid out in host memory; names as in the contract (`RGBA`, `UNORM_INT8`).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ImageFormat {
    pub channel_order: String,
    pub channel_type: String,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ImageShape {
    D1 { width: u64 },
    D1Array { width: u64, layers: u64 },
    D1Buffer { width: u64 },
    D2 { width: u64, height: u64 },
    D2Array { width: u64, height: u64, layers: u64 },
    D3 { width: u64, height: u64, depth: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Addressing {
    None,
    ClampToEdge,
    Clamp,
    Repeat,
    MirroredRepeat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Filter {
    Nearest,
    Linear,
}

/// What an argument is set to.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgValue {
    /// By value, exactly as long as the argument's type.
    Value(Vec<u8>),
    /// A buffer with these contents; what the kernel leaves in it is an output unless it is `__constant`. Without contents: a null
    /// pointer, for OpenCL has no empty buffers (clCreateBuffer) but takes null for one (clSetKernelArg).
    Buffer(Arc<Vec<u8>>),
    /// The buffer of the argument at this position, which is a [`ArgValue::Buffer`].
    Same(u32),
    /// So many bytes of local memory.
    Local(u64),
    /// Texels row by row without padding.
    Image {
        shape: ImageShape,
        format: ImageFormat,
        texels: Arc<Vec<u8>>,
    },
    Sampler {
        addressing: Addressing,
        filter: Filter,
        normalized: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    pub range: NdRange,
    /// One per argument of the kernel's interface, in order.
    pub args: Vec<ArgValue>,
    /// The order of work-groups and work-items; it fits the range. Only the simulator keeps one that is not natural.
    pub schedule: Schedule,
    /// Whether faults are none of the launch's business: what they skip (reads give 0) is all that comes of them.
    pub allows_faults: bool,
    /// Bytes before and after a buffer that belong to it on devices, by position; empty, or shorter: none. The simulator, which skips what
    /// is out of bounds, needs none.
    pub margins: Vec<u64>,
}

impl Launch {
    /// A launch in the natural order.
    pub fn new(range: NdRange, args: Vec<ArgValue>) -> Launch {
        Launch { range, args, schedule: Schedule::default(), allows_faults: false, margins: Vec::new() }
    }

    /// Bytes before and after the buffer at this position.
    pub fn margin(&self, position: usize) -> u64 {
        self.margins.get(position).copied().unwrap_or(0)
    }

    /// What the argument at `position` is set to, where it shares a buffer: that one.
    pub fn value(&self, position: u32) -> Option<&ArgValue> {
        match self.args.get(position as usize)? {
            ArgValue::Same(other) => self.args.get(*other as usize),
            value => Some(value),
        }
    }
}

/// The most work-items that kassay puts in a work-group on its own account.
const DEFAULT_GROUP: u64 = 64;

impl NdRange {
    /// The work-group size of a launch: the suite's; else the one the kernel requires; else a choice that follows from
    /// `global` and `max_group` (the device's limit) alone, and for limits of 64 and more from `global` alone: in
    /// dimension 0 the largest divisor of `global[0]` up to 64, then in dimensions 1 and 2 the largest divisors that
    /// keep the product within 64.
    pub fn local_or_default(&self, required: Option<[u64; 3]>, max_group: u64) -> [u64; 3] {
        if let Some(local) = self.local.or(required) {
            return local;
        }
        let mut room = DEFAULT_GROUP.min(max_group).max(1);
        self.global.map(|n| {
            let size = (1..=room).rev().find(|d| n % d == 0).unwrap_or(1);
            room /= size;
            size
        })
    }
}
