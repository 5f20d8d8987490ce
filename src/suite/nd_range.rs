//! Describes the NDRange of a launch: how many work-items, in which work-groups.

/// Upper bound on the work-items of a work-group whose size kassay chooses.
const MAX_DEFAULT_GROUP: u64 = 64;

/// The NDRange of a launch (OpenCL specification 3.2), in work-items.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NdRange {
    /// Number of dimensions, 1 to 3; array entries beyond it are 1 (`offset`: 0).
    pub dims: u32,
    /// Global size, in work-items.
    pub global: [u64; 3],
    /// `None`: chosen by kassay, see [`NdRange::local_or_default`].
    pub local: Option<[u64; 3]>,
    /// Global offset: the first global id in each dimension.
    pub offset: [u64; 3],
}

/// An NDRange whose work-group size is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolvedRange {
    /// 1 to 3; the entries beyond it are 1 (offset: 0).
    pub dims: u32,
    /// Global size, in work-items.
    pub global: [u64; 3],
    /// Work-group size, in work-items.
    pub local: [u64; 3],
    /// Global offset: the first global id in each dimension.
    pub offset: [u64; 3],
}

impl ResolvedRange {
    /// Returns the number of work-items; the product must fit 64 bits (`range::read` checks it).
    pub fn items(&self) -> u64 {
        self.global.iter().product()
    }

    /// Returns the number of work-groups by dimension, including partial groups at its end.
    pub fn group_counts(&self) -> [u64; 3] {
        [0, 1, 2].map(|d| self.global[d].div_ceil(self.local[d].max(1)))
    }

    /// Returns the total number of work-groups.
    pub fn groups(&self) -> u64 {
        self.group_counts().iter().product()
    }

    /// Returns whether all work-groups have the same size.
    pub fn has_uniform_groups(&self) -> bool {
        (0..3).all(|d| self.global[d].is_multiple_of(self.local[d].max(1)))
    }

    /// Returns the number of work-items in the group with this linear number (dimension 0 fastest); the last groups of
    /// a dimension may have fewer.
    pub fn items_of(&self, group: u64) -> u64 {
        let (counts, local) = (self.group_counts(), self.local);
        let [x, y] = [counts[0].max(1), counts[1].max(1)];
        let id = [group % x, group / x % y, group / x / y];
        (0..3).map(|d| local[d].min(self.global[d].saturating_sub(id[d] * local[d]))).product()
    }

    /// Returns the number of work-items in the first group, which is the largest. It is smaller than `local` if the
    /// launch is smaller than a group in some dimension.
    pub fn first_group_items(&self) -> u64 {
        (0..3).map(|d| self.local[d].min(self.global[d])).product()
    }

    /// Returns the number of work-items in a full group.
    pub fn group_items(&self) -> u64 {
        self.local.iter().product()
    }
}

impl NdRange {
    /// Returns the number of work-items; the product must fit 64 bits (`range::read` checks it).
    pub fn items(&self) -> u64 {
        self.global.iter().product()
    }

    /// Returns the range with work-groups of this size, which overrides its own.
    pub fn with_local(&self, local: [u64; 3]) -> ResolvedRange {
        ResolvedRange { dims: self.dims, global: self.global, local, offset: self.offset }
    }

    /// Returns the range with the size that its work-groups have in a launch ([`NdRange::local_or_default`]).
    pub fn resolve(&self, required: Option<[u64; 3]>, max_group: u64) -> ResolvedRange {
        self.with_local(self.local_or_default(required, max_group))
    }

    /// Decides the work-group size, if it is unset.
    pub fn decide_local(&mut self, required: Option<[u64; 3]>, max_group: u64) {
        self.local = Some(self.local_or_default(required, max_group));
    }

    /// Returns the range as it was decided. An unset size counts as 1, here and in the numbers below.
    pub fn decided(&self) -> ResolvedRange {
        self.with_local(self.local.unwrap_or([1; 3]))
    }

    /// Returns the number of work-groups by dimension: see [`ResolvedRange::group_counts`].
    pub fn group_counts(&self) -> [u64; 3] {
        self.decided().group_counts()
    }

    /// Returns the total number of work-groups.
    pub fn groups(&self) -> u64 {
        self.decided().groups()
    }

    /// Returns whether all work-groups have the same size.
    pub fn has_uniform_groups(&self) -> bool {
        self.decided().has_uniform_groups()
    }

    /// Returns the number of work-items of a group: see [`ResolvedRange::items_of`].
    pub fn items_of(&self, group: u64) -> u64 {
        self.decided().items_of(group)
    }

    /// Returns the number of work-items of the first group: see [`ResolvedRange::first_group_items`].
    pub fn first_group_items(&self) -> u64 {
        self.decided().first_group_items()
    }

    /// Returns the number of work-items in a full group.
    pub fn group_items(&self) -> u64 {
        self.decided().group_items()
    }

    /// Returns the work-group size of a launch: that of the suite; otherwise the one that the kernel requires;
    /// otherwise a choice that depends only on `global` and `max_group` (the device's limit), and for limits of 64 and
    /// more only on `global`: in dimension 0 the largest divisor of `global[0]` up to 64, then in dimensions 1 and 2
    /// the largest divisors that keep the product within 64.
    pub fn local_or_default(&self, required: Option<[u64; 3]>, max_group: u64) -> [u64; 3] {
        if let Some(local) = self.local.or(required) {
            return local;
        }
        let mut limit = MAX_DEFAULT_GROUP.min(max_group).max(1);
        self.global.map(|n| {
            let size = (1..=limit).rev().find(|d| n % d == 0).unwrap_or(1);
            limit /= size;
            size
        })
    }
}
