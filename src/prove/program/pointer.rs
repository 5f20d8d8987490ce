//! Encodes pointers of interpreted kernels: the region that a pointer points into, and the offset there. Regions are
//! the arguments by position, then the program's variables; each work-item's private variables have regions of its own.

/// Regions from this number on are private.
pub const PRIVATE: u64 = 1 << 12;

const OFFSET_BITS: u32 = 40;
const OFFSET_MIDDLE: u64 = 1 << (OFFSET_BITS - 1);

/// Encodes a pointer.
pub fn encode(region: u64, offset: i64) -> u64 {
    ((region + 1) << OFFSET_BITS).wrapping_add(OFFSET_MIDDLE).wrapping_add(offset.cast_unsigned())
}

/// Decodes a pointer to region and offset; `None` if the bits are not a pointer.
pub fn decode(bits: u64) -> Option<(u64, i64)> {
    let region = (bits >> OFFSET_BITS).checked_sub(1)?;
    Some((region, ((bits & ((1 << OFFSET_BITS) - 1)).cast_signed()).wrapping_sub(OFFSET_MIDDLE.cast_signed())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_decode_to_region_and_offset() {
        for (region, offset) in [(0, 0), (7, -12), (PRIVATE + 9, 1 << 30)] {
            assert_eq!(decode(encode(region, offset)), Some((region, offset)));
        }
        assert_eq!(decode(12), None);
    }
}
