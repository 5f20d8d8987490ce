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
    /// `image1d_t`.
    D1 {
        /// In texels.
        width: u64,
    },
    /// `image1d_array_t`.
    D1Array {
        /// In texels.
        width: u64,
        /// How many.
        layers: u64,
    },
    /// `image1d_buffer_t`.
    D1Buffer {
        /// In texels.
        width: u64,
    },
    /// `image2d_t`.
    D2 {
        /// In texels.
        width: u64,
        /// In texels.
        height: u64,
    },
    /// `image2d_array_t`.
    D2Array {
        /// In texels.
        width: u64,
        /// In texels.
        height: u64,
        /// How many.
        layers: u64,
    },
    /// `image3d_t`.
    D3 {
        /// In texels.
        width: u64,
        /// In texels.
        height: u64,
        /// In texels.
        depth: u64,
    },
}

/// The addressing mode of a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "the names are OpenCL's, without `CL_ADDRESS_`")]
pub enum Addressing {
    None,
    ClampToEdge,
    Clamp,
    Repeat,
    MirroredRepeat,
}

/// The filter mode of a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "the names are OpenCL's, without `CL_FILTER_`")]
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
    /// Points into the memory of the argument at this position, which is an [`ArgValue::Buffer`]; its [`View`] says
    /// where.
    Same(u32),
    /// Local memory of this size in bytes.
    Local(u64),
    /// An image; texels are stored row by row without padding.
    Image {
        /// Its kind and size.
        shape: ImageShape,
        /// What a texel consists of.
        format: ImageFormat,
        /// Row by row, layer by layer, without padding.
        texels: Arc<Vec<u8>>,
    },
    /// A `sampler_t`.
    Sampler {
        /// What is read outside an image.
        addressing: Addressing,
        /// Whether one texel is read, or several are interpolated.
        filter: Filter,
        /// Whether coordinates run from 0 to 1.
        normalized: bool,
    },
}

/// What kernels may do with a buffer, as the host has said when it made it (`clCreateBuffer`).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum BufferAccess {
    /// Read and write it.
    #[default]
    ReadWrite,
    /// Read it (`CL_MEM_READ_ONLY`).
    ReadOnly,
    /// Write to it (`CL_MEM_WRITE_ONLY`).
    WriteOnly,
}

impl BufferAccess {
    /// Returns the name as spelt in suites.
    pub fn name(self) -> &'static str {
        match self {
            BufferAccess::ReadWrite => "read-write",
            BufferAccess::ReadOnly => "read-only",
            BufferAccess::WriteOnly => "write-only",
        }
    }
}

/// The part of a memory that a buffer argument is. By default, the argument is all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct View {
    /// Where the argument points to, in bytes from the start of the memory.
    pub offset: u64,
    /// Length of the sub-buffer in bytes; `None`: up to the end of the memory.
    pub size: Option<u64>,
    /// Whether the program passed a pointer to shared virtual memory (clSetKernelArgSVMPointer). Such a pointer reaches
    /// its whole allocation, before it, too; `size` is `None`.
    pub svm: bool,
    /// Whether nothing was written to the memory before the launch. Only of an argument that holds the memory.
    pub uninitialised: bool,
    /// What kernels may do with the argument.
    #[serde(default)]
    pub access: BufferAccess,
}

impl View {
    /// Returns what the argument may access of a memory of `len` bytes: start and length in bytes. `None` if it does
    /// not lie in the memory.
    pub fn window(&self, len: u64) -> Option<(u64, u64)> {
        let rest = len.checked_sub(self.offset)?;
        let size = self.size.unwrap_or(rest);
        let is_inside = size <= rest && (len == 0 || (size > 0 && self.offset < len));
        is_inside.then_some(if self.svm { (0, len) } else { (self.offset, size) })
    }

    /// Returns the bytes from where the argument points to up to the end of what it may access.
    pub fn reach(&self, len: u64) -> u64 {
        self.window(len).map_or(0, |(start, size)| (start + size).saturating_sub(self.offset))
    }

    /// Returns whether the argument is all of its memory.
    pub fn is_whole(&self) -> bool {
        self.offset == 0 && self.size.is_none()
    }
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
    /// By position of an argument that is a buffer; entries left out at the end are the default.
    pub views: Vec<View>,
}

impl Launch {
    /// Returns a launch in natural order that allows no faults and has no margins.
    pub fn new(range: NdRange, args: Vec<ArgValue>) -> Launch {
        let (schedule, margins, views) = (Schedule::default(), Vec::new(), Vec::new());
        Launch { range, args, schedule, allows_faults: false, margins, views }
    }

    /// Returns the margin in bytes on either side of the buffer at this position.
    pub fn margin(&self, position: usize) -> u64 {
        self.margins.get(position).copied().unwrap_or(0)
    }

    /// Returns which part of its memory the argument at `position` is.
    pub fn view(&self, position: u32) -> View {
        self.views.get(position as usize).copied().unwrap_or_default()
    }

    /// Returns whether no argument is a part of a buffer only.
    pub fn has_whole_buffers(&self) -> bool {
        self.views.iter().all(View::is_whole)
    }

    /// Returns the position of the argument that holds the memory of the one at `position`: mostly itself.
    pub fn owner(&self, position: u32) -> u32 {
        match self.args.get(position as usize) {
            Some(ArgValue::Same(other)) => *other,
            _ => position,
        }
    }

    /// Returns the bytes from where a buffer argument points to up to the end of what it may access; `None` if the
    /// argument is no buffer. A null pointer reaches 0 bytes.
    pub fn reach(&self, position: u32) -> Option<u64> {
        match self.value(position)? {
            ArgValue::Buffer(bytes) => Some(self.view(position).reach(bytes.len() as u64)),
            _ => None,
        }
    }

    /// Returns the positions of the arguments whose memory is another one's, too.
    pub fn sharing(&self) -> impl Iterator<Item = u32> {
        (0..)
            .zip(&self.args)
            .filter_map(|(position, value)| match value {
                ArgValue::Same(owner) => Some([position, *owner]),
                _ => None,
            })
            .flatten()
    }

    /// Returns the value of the argument at `position`; if it shares a buffer, the value that holds the buffer.
    pub fn value(&self, position: u32) -> Option<&ArgValue> {
        match self.args.get(position as usize)? {
            ArgValue::Same(other) => self.args.get(*other as usize),
            value => Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_reaches_from_its_pointer_to_the_end_of_its_part() {
        let part = |offset, size| View { offset, size, ..View::default() };
        assert_eq!((part(10, Some(20)).window(100), part(10, Some(20)).reach(100)), (Some((10, 20)), 20));
        assert_eq!((part(10, None).window(100), part(10, None).reach(100)), (Some((10, 90)), 90));
        // An SVM pointer may go back.
        let svm = View { svm: true, ..part(10, None) };
        assert_eq!((svm.window(100), svm.reach(100)), (Some((0, 100)), 90));
        // A null pointer has no parts, and nothing lies beyond the end.
        assert_eq!(View::default().window(0), Some((0, 0)));
        for (view, len) in
            [(part(10, Some(91)), 100), (part(100, None), 100), (part(0, Some(0)), 100), (part(4, None), 0)]
        {
            assert_eq!((view.window(len), view.reach(len)), (None, 0), "{view:?} of {len}");
        }
        assert_eq!(part(u64::MAX, Some(u64::MAX)).window(u64::MAX), None);
    }
}
