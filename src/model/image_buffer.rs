//! What code that has buffers for images, and executors that run it, agree on (`runtime-cl/image_buffers.cl`).

/// What an image's buffer begins with, `struct kassay_image`: eight 32-bit words, and nothing up to the texels, which
/// lie row by row without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// In texels, by dimension; layers are one more dimension after those of a layer. Unused ones are 1.
    pub extents: [u32; 3],
    /// Number of dimensions of a layer.
    pub dimensions: u32,
    /// Whether the image is an array.
    pub is_layered: bool,
    /// OpenCL's numbers for the order and the type of the channels.
    pub order: u32,
    /// See `order`.
    pub ty: u32,
    /// Size of a texel in bytes.
    pub texel: u32,
}

impl Descriptor {
    /// Where the texels begin, in bytes from the start of the buffer: aligned for every texel.
    pub const TEXELS: usize = 64;

    /// Returns the bytes in front of the texels.
    pub fn bytes(&self) -> [u8; Descriptor::TEXELS] {
        let Descriptor { extents: [x, y, z], dimensions, is_layered, order, ty, texel } = *self;
        let mut bytes = [0; Descriptor::TEXELS];
        let words = [x, y, z, dimensions, u32::from(is_layered), order, ty, texel];
        for (to, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        bytes
    }
}

/// Bits of a sampler, those of OpenCL C's literals (`CLK_ADDRESS_CLAMP` and so on), added together.
pub mod sampler {
    /// `CLK_NORMALIZED_COORDS_TRUE`.
    pub const NORMALIZED: u32 = 1;
    /// What the number of an addressing mode, in the order `CLK_ADDRESS_NONE`, `CLAMP_TO_EDGE`, `CLAMP`, `REPEAT`,
    /// `MIRRORED_REPEAT`, is multiplied with.
    pub const ADDRESSING: u32 = 2;
    /// `CLK_FILTER_NEAREST`.
    pub const NEAREST: u32 = 0x10;
    /// `CLK_FILTER_LINEAR`.
    pub const LINEAR: u32 = 0x20;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_words_in_front_of_the_texels() {
        let all =
            Descriptor { extents: [5, 4, 1], dimensions: 2, is_layered: false, order: 0x10B5, ty: 0x10DE, texel: 16 };
        let bytes = all.bytes();
        assert_eq!(bytes[..12], [5, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!((bytes[12], bytes[16], bytes[20], bytes[24], bytes[28], bytes[32]), (2, 0, 0xB5, 0xDE, 16, 0));
    }
}
