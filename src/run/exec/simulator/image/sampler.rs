//! Samplers: as arguments, and as the numbers that clang generates for literals.

use kassay_suite::launch::{Addressing, Filter};

/// How an image is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampler {
    /// What is read outside the image.
    pub addressing: Addressing,
    /// Whether one texel is read, or several are interpolated.
    pub filter: Filter,
    /// Whether coordinates run from 0 to 1.
    pub normalized: bool,
}

/// The bits of `CLK_NORMALIZED_COORDS_TRUE`, `CLK_ADDRESS_…` and `CLK_FILTER_LINEAR` (opencl-c-base.h).
const NORMALIZED: u32 = 1;
const ADDRESS_MASK: u32 = 0xE;
const LINEAR: u32 = 0x20;

impl Sampler {
    /// The behaviour of reads without a sampler (OpenCL C 3.0, section 6.15.15.3).
    pub const NONE: Sampler = Sampler { addressing: Addressing::None, filter: Filter::Nearest, normalized: false };

    /// Decodes a literal's bits, `CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST` and so on; `None` if no such addressing
    /// mode exists.
    pub fn from_bits(bits: u32) -> Option<Sampler> {
        let addressing = match bits & ADDRESS_MASK {
            0 => Addressing::None,
            2 => Addressing::ClampToEdge,
            4 => Addressing::Clamp,
            6 => Addressing::Repeat,
            8 => Addressing::MirroredRepeat,
            _ => return None,
        };
        let filter = if bits & LINEAR != 0 { Filter::Linear } else { Filter::Nearest };
        Some(Sampler { addressing, filter, normalized: bits & NORMALIZED != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read() {
        let clamp = Sampler { addressing: Addressing::Clamp, filter: Filter::Nearest, normalized: false };
        assert_eq!(Sampler::from_bits(0x14), Some(clamp));
        let mirrored = Sampler { addressing: Addressing::MirroredRepeat, filter: Filter::Linear, normalized: true };
        assert_eq!(Sampler::from_bits(0x29), Some(mirrored));
        assert_eq!(Sampler::from_bits(0x10), Some(Sampler::NONE));
        assert_eq!(Sampler::from_bits(0x1A), None);
    }
}
