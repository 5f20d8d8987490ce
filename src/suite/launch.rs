//! Describes a launch: an NDRange, one value per argument as bytes that a device accepts, and a schedule.

use std::sync::Arc;

use super::schedule::Schedule;

pub use super::nd_range::{NdRange, ResolvedRange};

/// The layout of an image's texels in host memory, by OpenCL's names without the prefix `CL_` (`RGBA`, `UNORM_INT8`).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ImageFormat {
    /// Number and order of the channels, such as `RGBA`.
    pub channel_order: String,
    /// Type of a channel, such as `UNORM_INT8`.
    pub channel_type: String,
}

/// The kind of an image and its size in texels.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ImageShape {
    D1 { width: u64 },
    D1Array { width: u64, layers: u64 },
    D1Buffer { width: u64 },
    D2 { width: u64, height: u64 },
    D2Array { width: u64, height: u64, layers: u64 },
    D3 { width: u64, height: u64, depth: u64 },
}

/// The addressing mode of a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Addressing {
    None,
    ClampToEdge,
    Clamp,
    Repeat,
    MirroredRepeat,
}

/// The filter mode of a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Filter {
    Nearest,
    Linear,
}

/// The value that an argument is set to.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgValue {
    /// By value; exactly as long as the argument's type.
    Value(Vec<u8>),
    /// A buffer with these contents, which is also an output unless it is `__constant`. Empty contents stand for a null
    /// pointer: OpenCL has no empty buffers (clCreateBuffer) but accepts null in place of one (clSetKernelArg).
    Buffer(Arc<Vec<u8>>),
    /// Shares the buffer of the argument at this position, which is an [`ArgValue::Buffer`].
    Same(u32),
    /// Local memory of this size in bytes.
    Local(u64),
    /// An image; texels are stored row by row without padding.
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

/// One launch of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Sizes and offset.
    pub range: NdRange,
    /// One per argument of the kernel's interface, in order.
    pub args: Vec<ArgValue>,
    /// The order of work-groups and work-items; it fits the range. Devices support at most an order of work-groups
    /// (`map`); the simulator follows every schedule.
    pub schedule: Schedule,
    /// Whether faults are allowed: a faulting access is skipped (reads give 0) and has no other consequence.
    pub allows_faults: bool,
    /// Margin in bytes on either side of each buffer on devices, by argument position; entries left out at the end are
    /// 0. The simulator needs none because it skips accesses out of bounds.
    pub margins: Vec<u64>,
}

impl Launch {
    /// Returns a launch in natural order that allows no faults and has no margins.
    pub fn new(range: NdRange, args: Vec<ArgValue>) -> Launch {
        Launch { range, args, schedule: Schedule::default(), allows_faults: false, margins: Vec::new() }
    }

    /// Returns the margin in bytes on either side of the buffer at this position.
    pub fn margin(&self, position: usize) -> u64 {
        self.margins.get(position).copied().unwrap_or(0)
    }

    /// Returns the value of the argument at `position`; if it shares a buffer, the value that holds the buffer.
    pub fn value(&self, position: u32) -> Option<&ArgValue> {
        match self.args.get(position as usize)? {
            ArgValue::Same(other) => self.args.get(*other as usize),
            value => Some(value),
        }
    }
}
