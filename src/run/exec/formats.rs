//! Image formats by name (OpenCL 1.2, section 5.3.1.1), as suites write them.

use kassay_model::image_buffer::Descriptor;
use kassay_suite::launch::{ImageFormat, ImageShape};

/// Channel orders: name, OpenCL's number, channels in memory.
const ORDERS: [(&str, u32, u64); 15] = [
    ("R", 0x10B0, 1),
    ("A", 0x10B1, 1),
    ("RG", 0x10B2, 2),
    ("RA", 0x10B3, 2),
    ("RGB", 0x10B4, 3),
    ("RGBA", 0x10B5, 4),
    ("BGRA", 0x10B6, 4),
    ("ARGB", 0x10B7, 4),
    ("INTENSITY", 0x10B8, 1),
    ("LUMINANCE", 0x10B9, 1),
    ("Rx", 0x10BA, 1),
    ("RGx", 0x10BB, 2),
    ("RGBx", 0x10BC, 3),
    ("DEPTH", 0x10BD, 1),
    ("sRGBA", 0x10C1, 4),
];

/// Channel types: name, OpenCL's number, size in bytes, and whether that is the size of a packed texel (rather than of
/// one channel).
const TYPES: [(&str, u32, u64, bool); 15] = [
    ("SNORM_INT8", 0x10D0, 1, false),
    ("SNORM_INT16", 0x10D1, 2, false),
    ("UNORM_INT8", 0x10D2, 1, false),
    ("UNORM_INT16", 0x10D3, 2, false),
    ("UNORM_SHORT_565", 0x10D4, 2, true),
    ("UNORM_SHORT_555", 0x10D5, 2, true),
    ("UNORM_INT_101010", 0x10D6, 4, true),
    ("SIGNED_INT8", 0x10D7, 1, false),
    ("SIGNED_INT16", 0x10D8, 2, false),
    ("SIGNED_INT32", 0x10D9, 4, false),
    ("UNSIGNED_INT8", 0x10DA, 1, false),
    ("UNSIGNED_INT16", 0x10DB, 2, false),
    ("UNSIGNED_INT32", 0x10DC, 4, false),
    ("HALF_FLOAT", 0x10DD, 2, false),
    ("FLOAT", 0x10DE, 4, false),
];

/// An image format in OpenCL's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatCode {
    /// `cl_channel_order`.
    pub order: u32,
    /// `cl_channel_type`.
    pub ty: u32,
    /// Bytes of a texel in host memory.
    pub texel: u64,
}

/// Looks up a format's names; a leading `CL_` and the case are ignored. `Err`: which name is unknown.
pub fn encode(format: &ImageFormat) -> Result<FormatCode, String> {
    let plain = |name: &str| name.strip_prefix("CL_").unwrap_or(name).to_owned();
    let (order, ty) = (plain(&format.channel_order), plain(&format.channel_type));
    let Some(&(_, order_code, channels)) = ORDERS.iter().find(|(n, ..)| n.eq_ignore_ascii_case(&order)) else {
        return Err(format!("channel order `{order}` is none of {}", list(ORDERS.iter().map(|o| o.0))));
    };
    let Some(&(_, ty_code, bytes, whole)) = TYPES.iter().find(|(n, ..)| n.eq_ignore_ascii_case(&ty)) else {
        return Err(format!("channel type `{ty}` is none of {}", list(TYPES.iter().map(|t| t.0))));
    };
    // Orders with an `x` have a padding channel in memory, unless the type packs the texel.
    let channels = if order_code == 0x10BC { 4 } else { channels + u64::from(matches!(order_code, 0x10BA | 0x10BB)) };
    Ok(FormatCode { order: order_code, ty: ty_code, texel: if whole { bytes } else { bytes * channels } })
}

/// The names of OpenCL's numbers, such as `RGBA/UNORM_INT8`; `None` for formats that OpenCL 1.2 does not have.
pub fn name(order: u32, ty: u32) -> Option<String> {
    let order = ORDERS.iter().find(|o| o.1 == order)?.0;
    let ty = TYPES.iter().find(|t| t.1 == ty)?.0;
    Some(format!("{order}/{ty}"))
}

/// The region that covers the image: width, height (or layers of a 1D array), depth (or layers of a 2D array).
pub fn region(shape: &ImageShape) -> [u64; 3] {
    match *shape {
        ImageShape::D1 { width } | ImageShape::D1Buffer { width } => [width, 1, 1],
        ImageShape::D1Array { width, layers } => [width, layers, 1],
        ImageShape::D2 { width, height } => [width, height, 1],
        ImageShape::D2Array { width, height, layers } => [width, height, layers],
        ImageShape::D3 { width, height, depth } => [width, height, depth],
    }
}

/// Number of dimensions of an image, or of a layer of an array of images, and whether it is an array.
pub fn dimensions(shape: &ImageShape) -> (usize, bool) {
    match shape {
        ImageShape::D1 { .. } | ImageShape::D1Buffer { .. } => (1, false),
        ImageShape::D1Array { .. } => (1, true),
        ImageShape::D2 { .. } => (2, false),
        ImageShape::D2Array { .. } => (2, true),
        ImageShape::D3 { .. } => (3, false),
    }
}

/// Describes an image to code for which it is a buffer; `None` if it has no texels or too many of them.
pub fn descriptor(shape: &ImageShape, coded: FormatCode) -> Option<Descriptor> {
    let extents = region(shape).map(|n| i32::try_from(n).ok().filter(|n| *n > 0).map_or(0, i32::cast_unsigned));
    let (dimensions, is_layered) = dimensions(shape);
    (!extents.contains(&0)).then_some(Descriptor {
        extents,
        dimensions: dimensions as u32,
        is_layered,
        order: coded.order,
        ty: coded.ty,
        texel: coded.texel as u32,
    })
}

/// Size of an image's texels in bytes; `None` if it exceeds 64 bits.
pub fn size(shape: &ImageShape, texel: u64) -> Option<u64> {
    region(shape).iter().try_fold(texel, |size, extent| size.checked_mul(*extent))
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(order: &str, ty: &str) -> ImageFormat {
        ImageFormat { channel_order: order.into(), channel_type: ty.into() }
    }

    #[test]
    fn texel_sizes_follow_the_specification() {
        for (order, ty, texel) in [
            ("RGBA", "UNORM_INT8", 4),
            ("R", "FLOAT", 4),
            ("RGBA", "FLOAT", 16),
            ("RGB", "UNORM_SHORT_565", 2),
            ("RGBx", "UNORM_INT_101010", 4),
            ("RGBx", "UNORM_INT8", 4),
            ("CL_RG", "CL_HALF_FLOAT", 4),
        ] {
            assert_eq!(encode(&format(order, ty)).map(|c| c.texel), Ok(texel), "{order} {ty}");
        }
        assert!(encode(&format("RGBA", "FLOAT128")).is_err_and(|e| e.contains("SIGNED_INT32")));
    }
}
