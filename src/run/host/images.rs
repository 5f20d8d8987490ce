//! OpenCL's numbers for images and samplers, as suites name them.

use kassay_suite::launch::{Addressing, ArgValue, Filter, ImageFormat, ImageShape};

use super::records;

/// Channel orders from `CL_R` (0x10B0) on.
const ORDERS: [&str; 10] = ["R", "A", "RG", "RA", "RGB", "RGBA", "BGRA", "ARGB", "INTENSITY", "LUMINANCE"];

/// Channel types from `CL_SNORM_INT8` (0x10D0) on.
const TYPES: [&str; 15] = [
    "SNORM_INT8",
    "SNORM_INT16",
    "UNORM_INT8",
    "UNORM_INT16",
    "UNORM_SHORT_565",
    "UNORM_SHORT_555",
    "UNORM_INT_101010",
    "SIGNED_INT8",
    "SIGNED_INT16",
    "SIGNED_INT32",
    "UNSIGNED_INT8",
    "UNSIGNED_INT16",
    "UNSIGNED_INT32",
    "HALF_FLOAT",
    "FLOAT",
];

/// Returns a format by OpenCL's numbers; `None` if suites have no such images.
pub fn format(channel_order: u32, channel_type: u32) -> Option<ImageFormat> {
    let name = |names: &[&str], first: u32, number: u32| {
        let at = usize::try_from(number.checked_sub(first)?).ok()?;
        names.get(at).map(|name| (*name).to_owned())
    };
    Some(ImageFormat {
        channel_order: name(&ORDERS, 0x10B0, channel_order)?,
        channel_type: name(&TYPES, 0x10D0, channel_type)?,
    })
}

/// Returns the size and the format of an image; `None` if suites have no such image.
pub fn image(image: &records::Image) -> Option<(ImageShape, ImageFormat)> {
    let format = format(image.channel_order, image.channel_type)?;
    let [width, height, depth] = image.extent;
    let shape = match image.object {
        0x10F1 => ImageShape::D2 { width, height },
        0x10F2 => ImageShape::D3 { width, height, depth },
        0x10F3 => ImageShape::D2Array { width, height, layers: depth },
        0x10F4 => ImageShape::D1 { width },
        0x10F5 => ImageShape::D1Array { width, layers: height },
        0x10F6 => ImageShape::D1Buffer { width },
        _ => return None,
    };
    Some((shape, format))
}

/// Returns how many bytes an image has whose texels have `element` bytes; `None` if they cannot be counted.
pub fn bytes(shape: &ImageShape, element: u64) -> Option<u64> {
    let sizes = match *shape {
        ImageShape::D1 { width } | ImageShape::D1Buffer { width } => [width, 1, 1],
        ImageShape::D1Array { width, layers } => [width, layers, 1],
        ImageShape::D2 { width, height } => [width, height, 1],
        ImageShape::D2Array { width, height, layers } => [width, height, layers],
        ImageShape::D3 { width, height, depth } => [width, height, depth],
    };
    sizes.into_iter().try_fold(element, u64::checked_mul)
}

/// Returns a sampler; `None` if its numbers mean nothing.
pub fn sampler(normalized: bool, addressing: u32, filter: u32) -> Option<ArgValue> {
    let addressing = match addressing {
        0x1130 => Addressing::None,
        0x1131 => Addressing::ClampToEdge,
        0x1132 => Addressing::Clamp,
        0x1133 => Addressing::Repeat,
        0x1134 => Addressing::MirroredRepeat,
        _ => return None,
    };
    let filter = match filter {
        0x1140 => Filter::Nearest,
        0x1141 => Filter::Linear,
        _ => return None,
    };
    Some(ArgValue::Sampler { addressing, filter, normalized })
}
