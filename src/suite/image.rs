//! Resolves image arguments: formats, sizes and texels (OpenCL 1.2, sections 5.3.1.1 and 5.3.1.2).

use std::num::NonZeroU64;

use kassay_base::error::Result;
use kassay_model::interface::{ImageKind, Scalar, Type};

use super::data::{Data, DataRequest, Loader, Origin};
use super::de::At;
use super::document::suggestion;
use super::format::{ImageSpec, Texels};
use super::launch::{ImageFormat, ImageShape};
use super::npy::shape_text;

/// A resolved image; `data.ty` is the type of a texel.
pub struct Image {
    /// Kind and size.
    pub shape: ImageShape,
    /// Layout of the texels.
    pub format: ImageFormat,
    /// The texels.
    pub data: Data,
}

/// `(name, scalar, packed)`: a packed type holds all channels of a texel in one integer.
const CHANNEL_TYPES: [(&str, Scalar, bool); 15] = [
    ("SNORM_INT8", Scalar::I8, false),
    ("SNORM_INT16", Scalar::I16, false),
    ("UNORM_INT8", Scalar::U8, false),
    ("UNORM_INT16", Scalar::U16, false),
    ("UNORM_SHORT_565", Scalar::U16, true),
    ("UNORM_SHORT_555", Scalar::U16, true),
    ("UNORM_INT_101010", Scalar::U32, true),
    ("SIGNED_INT8", Scalar::I8, false),
    ("SIGNED_INT16", Scalar::I16, false),
    ("SIGNED_INT32", Scalar::I32, false),
    ("UNSIGNED_INT8", Scalar::U8, false),
    ("UNSIGNED_INT16", Scalar::U16, false),
    ("UNSIGNED_INT32", Scalar::U32, false),
    ("HALF_FLOAT", Scalar::F16, false),
    ("FLOAT", Scalar::F32, false),
];

/// `(name, number of channels)`.
const CHANNEL_ORDERS: [(&str, u32); 10] = [
    ("R", 1),
    ("A", 1),
    ("RG", 2),
    ("RA", 2),
    ("RGB", 3),
    ("RGBA", 4),
    ("BGRA", 4),
    ("ARGB", 4),
    ("INTENSITY", 1),
    ("LUMINANCE", 1),
];

/// Returns the suite key of an image kind, as in `image2d = …`.
pub fn key(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::D1 => "image1d",
        ImageKind::D1Array => "image1d_array",
        ImageKind::D1Buffer => "image1d_buffer",
        ImageKind::D2 => "image2d",
        ImageKind::D2Array => "image2d_array",
        ImageKind::D3 => "image3d",
        ImageKind::Other => "image",
    }
}

/// Returns the type of a texel in memory; `None` for an unknown format.
pub fn texel_type(format: &ImageFormat) -> Option<Type> {
    let (_, channels) = CHANNEL_ORDERS.iter().find(|(name, _)| *name == format.channel_order)?;
    let (_, scalar, packed) = CHANNEL_TYPES.iter().find(|(name, ..)| *name == format.channel_type)?;
    Some(type_of_channels(*scalar, *channels, *packed))
}

fn type_of_channels(scalar: Scalar, channels: u32, packed: bool) -> Type {
    if packed || channels == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, channels) }
}

/// Returns the format that a test names and the type of its texels; rejects combinations that OpenCL does not have.
fn resolve_format(loader: &Loader<'_>, spec: &ImageSpec) -> Result<(ImageFormat, Type)> {
    let named = |given: &At<String>| given.value.strip_prefix("CL_").unwrap_or(&given.value).to_owned();
    let (order, channel) = (named(&spec.channel_order), named(&spec.channel_type));
    let Some((_, channels)) = CHANNEL_ORDERS.iter().find(|(name, _)| *name == order) else {
        let names = CHANNEL_ORDERS.map(|(name, _)| name);
        return Err(loader
            .error(&spec.channel_order.span, format!("the channel order \"{order}\" is not known"))
            .help(suggestion(&order, &names, "possible values")));
    };
    let Some((_, scalar, packed)) = CHANNEL_TYPES.iter().find(|(name, ..)| *name == channel) else {
        let names = CHANNEL_TYPES.map(|(name, ..)| name);
        return Err(loader
            .error(&spec.channel_type.span, format!("the channel type \"{channel}\" is not known"))
            .help(suggestion(&channel, &names, "possible values")));
    };
    let allowed = match order.as_str() {
        "RGB" => *packed,
        "BGRA" | "ARGB" => scalar.size() == 1,
        "INTENSITY" | "LUMINANCE" => channel.contains("NORM_INT") && !packed || scalar.is_float(),
        _ => !packed,
    };
    if !allowed {
        return Err(loader
            .error(&spec.channel_type.span, format!("OpenCL has no images of {order} with {channel}"))
            .help(match order.as_str() {
                "RGB" => "RGB goes with UNORM_SHORT_565, UNORM_SHORT_555 and UNORM_INT_101010",
                "BGRA" | "ARGB" => "this order goes with the types of 8 bits",
                "INTENSITY" | "LUMINANCE" => "this order goes with the normalised and float types",
                _ => "this type goes with RGB",
            }));
    }
    let ty = type_of_channels(*scalar, *channels, *packed);
    Ok((ImageFormat { channel_order: order, channel_type: channel }, ty))
}

/// Returns the size keys of an image kind, outermost first, with the sizes given.
fn sizes(kind: ImageKind, spec: &ImageSpec) -> Vec<(&'static str, Option<&At<NonZeroU64>>)> {
    let width = ("width", spec.width.as_ref());
    let height = ("height", spec.height.as_ref());
    let layers = ("layers", spec.layers.as_ref());
    match kind {
        ImageKind::D1 | ImageKind::D1Buffer | ImageKind::Other => vec![width],
        ImageKind::D1Array => vec![layers, width],
        ImageKind::D2 => vec![height, width],
        ImageKind::D2Array => vec![layers, height, width],
        ImageKind::D3 => vec![("depth", spec.depth.as_ref()), height, width],
    }
}

/// Resolves the image that a test gives for an argument of that kind.
///
/// # Errors
/// `Caller`, with its place.
pub fn resolve(loader: &mut Loader<'_>, spec: &ImageSpec, kind: ImageKind, request: DataRequest<'_>) -> Result<Image> {
    let texels = texels_of_kind(loader, spec, kind, request.argument)?;
    let (format, ty) = resolve_format(loader, spec)?;
    let sizes = sizes(kind, spec);
    for (name, size) in
        [("width", &spec.width), ("height", &spec.height), ("depth", &spec.depth), ("layers", &spec.layers)]
    {
        if let Some(size) = size
            && sizes.iter().all(|(n, _)| *n != name)
        {
            return Err(loader
                .error(&size.span, format!("`{}` has no `{name}`", key(kind)))
                .help(format!("leave `{name}` out")));
        }
    }
    let names = sizes.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let explicit: Option<Vec<u64>> = sizes.iter().map(|(_, size)| size.map(|s| s.value.get())).collect();
    let origin = texels.spec(loader.source)?;
    let span = &texels.node.span;
    let count = explicit.as_ref().map(|dims| dims.iter().try_fold(1u64, |a, b| a.checked_mul(*b)));
    let count = match count {
        Some(None) => return Err(loader.error(span, "the image has more than 2^64 texels").help("give smaller sizes")),
        Some(count) => count,
        None => None,
    };
    let generated = origin.fill.is_some() || origin.random.is_some() || origin.arange.is_some();
    if generated && count.is_none() {
        return Err(loader
            .error(span, format!("the size of the image `{}` is not given", request.argument))
            .help(format!("add {names} beside `{}`", key(kind))));
    }
    let origin = Origin {
        span,
        npy: origin.npy.as_ref(),
        values: origin.values.as_ref(),
        fill: origin.fill.as_ref(),
        random: origin.random.as_ref(),
        arange: origin.arange.as_ref(),
        len: None,
    };
    let mut data = loader.load(origin, DataRequest { ty: Some(&ty), len: count, ..request })?;
    let dims = match explicit {
        Some(dims) if data.shape == dims || (data.shape.len() == 1 && Some(data.len()) == count) => dims,
        None if data.shape.len() == sizes.len()
            && data.shape.iter().zip(&sizes).all(|(n, (_, size))| size.is_none_or(|s| s.value.get() == *n)) =>
        {
            data.shape.clone()
        }
        _ => {
            return Err(loader
                .error(
                    span,
                    format!("the data has the shape {}, which is not ({names}) of the image", shape_text(&data.shape)),
                )
                .help(format!("give data of the shape ({names}), with the channels last where there are several")));
        }
    };
    if dims.contains(&0) {
        return Err(loader.error(span, "the image has no texels").help("give at least one"));
    }
    data.shape.clone_from(&dims);
    let at = |i: usize| dims.get(i).copied().unwrap_or(1);
    let shape = match kind {
        ImageKind::D1 | ImageKind::Other => ImageShape::D1 { width: at(0) },
        ImageKind::D1Buffer => ImageShape::D1Buffer { width: at(0) },
        ImageKind::D1Array => ImageShape::D1Array { layers: at(0), width: at(1) },
        ImageKind::D2 => ImageShape::D2 { height: at(0), width: at(1) },
        ImageKind::D2Array => ImageShape::D2Array { layers: at(0), height: at(1), width: at(2) },
        ImageKind::D3 => ImageShape::D3 { depth: at(0), height: at(1), width: at(2) },
    };
    Ok(Image { shape, format, data })
}

/// Returns the value of the only `image…` key, which must be that of the argument's kind.
fn texels_of_kind<'a>(loader: &Loader<'_>, spec: &'a ImageSpec, kind: ImageKind, argument: &str) -> Result<&'a Texels> {
    let keys = [
        ("image1d", &spec.image1d),
        ("image1d_array", &spec.image1d_array),
        ("image1d_buffer", &spec.image1d_buffer),
        ("image2d", &spec.image2d),
        ("image2d_array", &spec.image2d_array),
        ("image3d", &spec.image3d),
    ];
    let mut found = keys.iter().filter_map(|(key, texels)| texels.as_ref().map(|t| (*key, t)));
    match (found.next(), found.next()) {
        (Some((name, texels)), None) if name == key(kind) => Ok(texels),
        (Some((name, texels)), None) => Err(loader
            .error(
                &texels.node.span,
                format!("the argument `{argument}` is an `{}_t`, but this is an `{name}`", key(kind)),
            )
            .help(format!("write `{} = …`", key(kind)))),
        (Some(_), Some((name, texels))) => Err(loader
            .error(&texels.node.span, format!("`{name}` is a second image for the argument `{argument}`"))
            .help(format!("give `{}` only", key(kind)))),
        (None, _) => Err(loader.error(&spec.channel_order.span, "there is no image here").help("add an `image…` key")),
    }
}
