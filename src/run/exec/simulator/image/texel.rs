//! Converts texels between memory and colours: channel orders (OpenCL C 3.0, section 6.15.15.7) and the conversions of
//! section 8.3.

use half::f16;

/// Components of a colour by index: red, green, blue, alpha (3); 4 is a channel that exists only in memory.
const ALPHA: usize = 3;
const PADDING: usize = 4;

/// How channels in memory map to the components of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The component of each channel in memory.
    Components(&'static [usize]),
    /// One channel for all four components.
    Intensity,
    /// One channel for red, green and blue.
    Luminance,
}

/// How a channel is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Snorm8,
    Snorm16,
    Unorm8,
    Unorm16,
    /// Several channels in one number, red in the highest bits: the number of bits of each.
    Packed(&'static [u32]),
    Signed8,
    Signed16,
    Signed32,
    Unsigned8,
    Unsigned16,
    Unsigned32,
    Half,
    Float,
}

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    order: Order,
    channel: Channel,
    /// Whether red, green and blue are stored in the sRGB colour space.
    srgb: bool,
    /// Whether alpha is 1 instead of 0 outside the image (section 6.15.15.2, border colours).
    opaque_border: bool,
    bytes: usize,
}

/// The size of the longest texel in bytes.
pub const MAX_TEXEL_BYTES: usize = 16;

impl Format {
    /// The format with these OpenCL numbers (such as those of `CL_RGBA` and `CL_UNORM_INT8`) and this texel size
    /// in bytes.
    pub fn new(order: u32, channel: u32, bytes: u64) -> Option<Format> {
        let (components, opaque_border): (Order, bool) = match order {
            0x10B0 => (Order::Components(&[0]), true),
            0x10B1 => (Order::Components(&[ALPHA]), false),
            0x10B2 => (Order::Components(&[0, 1]), true),
            0x10B3 => (Order::Components(&[0, ALPHA]), false),
            0x10B4 => (Order::Components(&[0, 1, 2]), true),
            0x10B5 | 0x10C1 => (Order::Components(&[0, 1, 2, ALPHA]), false),
            0x10B6 => (Order::Components(&[2, 1, 0, ALPHA]), false),
            0x10B7 => (Order::Components(&[ALPHA, 0, 1, 2]), false),
            0x10B8 => (Order::Intensity, false),
            0x10B9 => (Order::Luminance, true),
            0x10BA => (Order::Components(&[0, PADDING]), false),
            0x10BB => (Order::Components(&[0, 1, PADDING]), false),
            0x10BC => (Order::Components(&[0, 1, 2, PADDING]), false),
            0x10BD => (Order::Components(&[0]), false),
            _ => return None,
        };
        let channel = match channel {
            0x10D0 => Channel::Snorm8,
            0x10D1 => Channel::Snorm16,
            0x10D2 => Channel::Unorm8,
            0x10D3 => Channel::Unorm16,
            0x10D4 => Channel::Packed(&[5, 6, 5]),
            0x10D5 => Channel::Packed(&[5, 5, 5]),
            0x10D6 => Channel::Packed(&[10, 10, 10]),
            0x10D7 => Channel::Signed8,
            0x10D8 => Channel::Signed16,
            0x10D9 => Channel::Signed32,
            0x10DA => Channel::Unsigned8,
            0x10DB => Channel::Unsigned16,
            0x10DC => Channel::Unsigned32,
            0x10DD => Channel::Half,
            0x10DE => Channel::Float,
            _ => return None,
        };
        let bytes = usize::try_from(bytes).ok().filter(|n| *n <= MAX_TEXEL_BYTES)?;
        Some(Format { order: components, channel, srgb: order == 0x10C1, opaque_border, bytes })
    }

    /// Size of a texel in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether colours are integers.
    pub fn is_integer(&self) -> bool {
        matches!(
            self.channel,
            Channel::Signed8
                | Channel::Signed16
                | Channel::Signed32
                | Channel::Unsigned8
                | Channel::Unsigned16
                | Channel::Unsigned32
        )
    }

    fn is_signed(&self) -> bool {
        matches!(self.channel, Channel::Signed8 | Channel::Signed16 | Channel::Signed32)
    }

    /// The border colour; 0 and 1 are the same numbers as floats and as integers.
    pub fn border(&self) -> [f32; 4] {
        [0.0, 0.0, 0.0, f32::from(u8::from(self.opaque_border))]
    }

    /// The colour of a texel, for formats that are not integers.
    pub fn floats(&self, texel: &[u8]) -> [f32; 4] {
        let mut colour = self.spread(texel, 0.0, 1.0, |bytes, index| self.channel.float(bytes, index));
        if self.srgb {
            for c in &mut colour[..ALPHA] {
                *c = if *c <= 0.04045 { *c / 12.92 } else { ((*c + 0.055) / 1.055).powf(2.4) };
            }
        }
        colour
    }

    /// The colour of a texel, for integer formats.
    pub fn integers(&self, texel: &[u8]) -> [i64; 4] {
        self.spread(texel, 0, 1, |bytes, index| self.channel.integer(bytes, index))
    }

    fn spread<T: Copy>(&self, texel: &[u8], zero: T, one: T, read: impl Fn(&[u8], usize) -> T) -> [T; 4] {
        let mut colour = [zero, zero, zero, one];
        match self.order {
            Order::Components([only]) if *only == ALPHA => colour[ALPHA] = read(texel, 0),
            Order::Components(components) => {
                for (index, component) in components.iter().enumerate().filter(|(_, c)| **c != PADDING) {
                    colour[*component] = read(texel, index);
                }
            }
            Order::Intensity => colour = [read(texel, 0); 4],
            Order::Luminance => colour[..ALPHA].fill(read(texel, 0)),
        }
        colour
    }

    /// A texel of this colour, for formats that are not integers. The bytes after [`Format::bytes`] are 0.
    pub fn encode_floats(&self, mut colour: [f32; 4]) -> [u8; MAX_TEXEL_BYTES] {
        if self.srgb {
            for c in &mut colour[..ALPHA] {
                let clamped = if c.is_nan() { 0.0 } else { c.clamp(0.0, 1.0) };
                *c = if clamped < 0.003_130_8 { 12.92 * clamped } else { 1.055 * clamped.powf(1.0 / 2.4) - 0.055 };
            }
        }
        self.gather(|component| colour[component], |bytes, index, value| self.channel.store_float(bytes, index, value))
    }

    /// A texel of this colour, for integer formats; values are clamped to their range.
    pub fn encode_integers(&self, colour: [i64; 4]) -> [u8; MAX_TEXEL_BYTES] {
        self.gather(
            |component| colour[component],
            |bytes, index, value| self.channel.store_integer(bytes, index, value),
        )
    }

    fn gather<T>(&self, colour: impl Fn(usize) -> T, store: impl Fn(&mut [u8], usize, T)) -> [u8; MAX_TEXEL_BYTES] {
        let mut texel = [0; MAX_TEXEL_BYTES];
        match self.order {
            Order::Components(components) => {
                for (index, component) in components.iter().enumerate().filter(|(_, c)| **c != PADDING) {
                    store(&mut texel, index, colour(*component));
                }
            }
            Order::Intensity | Order::Luminance => store(&mut texel, 0, colour(0)),
        }
        texel
    }

    /// The value of a 32-bit word that a kernel passes as a component of an integer colour.
    pub fn widen(&self, word: u32) -> i64 {
        if self.is_signed() { i64::from(word.cast_signed()) } else { i64::from(word) }
    }
}

/// The `N` bytes of a texel's channel number `index`.
fn read_channel<const N: usize>(texel: &[u8], index: usize) -> [u8; N] {
    let mut bytes = [0; N];
    for (to, from) in bytes.iter_mut().zip(texel.get(N * index..).unwrap_or_default()) {
        *to = *from;
    }
    bytes
}

fn write_channel<const N: usize>(texel: &mut [u8], index: usize, bytes: [u8; N]) {
    if let Some(to) = texel.get_mut(N * index..N * index + N) {
        to.copy_from_slice(&bytes);
    }
}

/// The position of a packed channel: number of bits to shift by, and its greatest value.
fn packed(bits: &[u32], index: usize) -> (u32, u32) {
    let shift = bits.iter().skip(index + 1).sum();
    (shift, (1 << bits.get(index).copied().unwrap_or(0)) - 1)
}

/// Scales and rounds to the nearest integer, ties to even. Casts to integers saturate and map NaN to 0.
fn scaled(value: f32, by: f32) -> f32 {
    (value * by).round_ties_even()
}

impl Channel {
    fn float(self, texel: &[u8], index: usize) -> f32 {
        match self {
            Channel::Snorm8 => (f32::from(i8::from_le_bytes(read_channel(texel, index))) / 127.0).max(-1.0),
            Channel::Snorm16 => (f32::from(i16::from_le_bytes(read_channel(texel, index))) / 32767.0).max(-1.0),
            Channel::Unorm8 => f32::from(u8::from_le_bytes(read_channel(texel, index))) / 255.0,
            Channel::Unorm16 => f32::from(u16::from_le_bytes(read_channel(texel, index))) / 65535.0,
            Channel::Packed(bits) => {
                let (shift, most) = packed(bits, index);
                // No channel has more than 10 bits.
                (u32::from_le_bytes(read_channel(texel, 0)) >> shift & most) as f32 / most as f32
            }
            Channel::Half => f16::from_le_bytes(read_channel(texel, index)).to_f32(),
            Channel::Float => f32::from_le_bytes(read_channel(texel, index)),
            Channel::Signed8
            | Channel::Signed16
            | Channel::Signed32
            | Channel::Unsigned8
            | Channel::Unsigned16
            | Channel::Unsigned32 => self.integer(texel, index) as f32,
        }
    }

    fn integer(self, texel: &[u8], index: usize) -> i64 {
        match self {
            Channel::Signed8 => i8::from_le_bytes(read_channel(texel, index)).into(),
            Channel::Signed16 => i16::from_le_bytes(read_channel(texel, index)).into(),
            Channel::Signed32 => i32::from_le_bytes(read_channel(texel, index)).into(),
            Channel::Unsigned8 => u8::from_le_bytes(read_channel(texel, index)).into(),
            Channel::Unsigned16 => u16::from_le_bytes(read_channel(texel, index)).into(),
            Channel::Unsigned32 => u32::from_le_bytes(read_channel(texel, index)).into(),
            _ => self.float(texel, index) as i64,
        }
    }

    fn store_float(self, texel: &mut [u8], index: usize, value: f32) {
        match self {
            Channel::Snorm8 => write_channel(texel, index, (scaled(value, 127.0) as i8).to_le_bytes()),
            Channel::Snorm16 => write_channel(texel, index, (scaled(value, 32767.0) as i16).to_le_bytes()),
            Channel::Unorm8 => write_channel(texel, index, (scaled(value, 255.0) as u8).to_le_bytes()),
            Channel::Unorm16 => write_channel(texel, index, (scaled(value, 65535.0) as u16).to_le_bytes()),
            Channel::Packed(bits) => {
                let (shift, most) = packed(bits, index);
                let number = (scaled(value, most as f32) as u32).min(most) << shift;
                write_channel(texel, 0, (u32::from_le_bytes(read_channel(texel, 0)) | number).to_le_bytes());
            }
            Channel::Half => write_channel(texel, index, f16::from_f32(value).to_le_bytes()),
            Channel::Float => write_channel(texel, index, value.to_le_bytes()),
            _ => self.store_integer(texel, index, value as i64),
        }
    }

    fn store_integer(self, texel: &mut [u8], index: usize, value: i64) {
        match self {
            Channel::Signed8 => write_channel(texel, index, (value.clamp(-0x80, 0x7F) as i8).to_le_bytes()),
            Channel::Signed16 => write_channel(texel, index, (value.clamp(-0x8000, 0x7FFF) as i16).to_le_bytes()),
            Channel::Signed32 => write_channel(texel, index, (value as i32).to_le_bytes()),
            Channel::Unsigned8 => write_channel(texel, index, (value.clamp(0, 0xFF) as u8).to_le_bytes()),
            Channel::Unsigned16 => write_channel(texel, index, (value.clamp(0, 0xFFFF) as u16).to_le_bytes()),
            Channel::Unsigned32 => write_channel(texel, index, (value as u32).to_le_bytes()),
            _ => self.store_float(texel, index, value as f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use kassay_suite::launch::ImageFormat;

    use super::*;
    use crate::exec::formats;

    fn format(order: &str, ty: &str) -> Format {
        let names = ImageFormat { channel_order: order.into(), channel_type: ty.into() };
        let coded = formats::encode(&names).unwrap();
        Format::new(coded.order, coded.ty, coded.texel).unwrap()
    }

    #[test]
    fn channels_lie_in_memory_as_their_order_says() {
        let colour = |order| format(order, "UNSIGNED_INT8").integers(&[10, 20, 30, 40]);
        assert_eq!(colour("RGBA"), [10, 20, 30, 40]);
        assert_eq!(colour("BGRA"), [30, 20, 10, 40]);
        assert_eq!(colour("ARGB"), [20, 30, 40, 10]);
        assert_eq!(colour("R"), [10, 0, 0, 1]);
        assert_eq!(colour("A"), [0, 0, 0, 10]);
        assert_eq!(colour("RA"), [10, 0, 0, 20]);
        assert_eq!(colour("RG"), [10, 20, 0, 1]);
        assert_eq!(colour("RGBx"), [10, 20, 30, 1]);
        assert_eq!(format("INTENSITY", "FLOAT").floats(&2.0_f32.to_le_bytes()), [2.0; 4]);
        assert_eq!(format("LUMINANCE", "FLOAT").floats(&2.0_f32.to_le_bytes()), [2.0, 2.0, 2.0, 1.0]);
    }

    #[test]
    fn packed_texels_have_red_in_the_highest_bits() {
        let of = |ty, texel: &[u8]| format("RGB", ty).floats(texel).map(|c| (c * 31.0).round() as u32);
        assert_eq!(of("UNORM_SHORT_565", &0xF801_u16.to_le_bytes()), [31, 0, 1, 31]);
        assert_eq!(of("UNORM_SHORT_555", &0x8FE0_u16.to_le_bytes()), [3, 31, 0, 31]);
        let ten = format("RGB", "UNORM_INT_101010");
        let texel = ten.encode_floats([1.0, 0.0, 2.0 / 1023.0, 0.0]);
        assert_eq!(u32::from_le_bytes([texel[0], texel[1], texel[2], texel[3]]), 1023 << 20 | 2);
    }

    #[test]
    fn values_saturate_and_ties_go_to_even() {
        let store = |ty, x: f32| format("R", ty).encode_floats([x, 0.0, 0.0, 0.0])[0];
        assert_eq!([-1.0, 0.5, 2.5 / 255.0, 9.0, f32::NAN].map(|x| store("UNORM_INT8", x)), [0, 128, 2, 255, 0]);
        assert_eq!([-2.0, -1.0, 9.0].map(|x| store("SNORM_INT8", x) as i8), [-128, -127, 127]);
        let store = |ty, x| format("R", ty).encode_integers([x, 0, 0, 0]);
        assert_eq!(store("SIGNED_INT8", -1000)[0] as i8, -128);
        assert_eq!(store("UNSIGNED_INT16", 70000)[..2], [255, 255]);
        assert_eq!(format("R", "SIGNED_INT32").widen(u32::MAX), -1);
        assert_eq!(format("R", "UNSIGNED_INT32").widen(u32::MAX), i64::from(u32::MAX));
    }

    #[test]
    fn the_ends_of_normalised_ranges_are_exact() {
        let read = |ty, bytes: &[u8]| format("R", ty).floats(bytes)[0];
        assert_eq!([[0_u8], [255]].map(|b| read("UNORM_INT8", &b)), [0.0, 1.0]);
        assert_eq!([-128_i8, -127, 0, 127].map(|b| read("SNORM_INT8", &b.to_le_bytes())), [-1.0, -1.0, 0.0, 1.0]);
        assert_eq!([i16::MIN, -32767, 32767].map(|b| read("SNORM_INT16", &b.to_le_bytes())), [-1.0, -1.0, 1.0]);
        assert_eq!(read("UNORM_INT16", &u16::MAX.to_le_bytes()), 1.0);
    }

    #[test]
    fn every_value_of_eight_bits_survives_reading_and_writing() {
        for (order, ty) in [("R", "UNORM_INT8"), ("R", "SNORM_INT8"), ("sRGBA", "UNORM_INT8")] {
            let format = format(order, ty);
            // -128 and -127 are the same number.
            for byte in (0..=255_u8).filter(|b| ty != "SNORM_INT8" || *b != 0x80) {
                assert_eq!(format.encode_floats(format.floats(&[byte; 4]))[0], byte, "{order} {ty}");
            }
        }
    }
}
