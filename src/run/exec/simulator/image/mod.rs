//! Images and samplers: emulates what kernels read and write through the handles that are their arguments (OpenCL C
//! 3.0, section 6.15.15 and chapter 8).

mod address;
mod sampler;
mod texel;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use half::f16;
use kassay_model::native::abi::{query, texel as kind};
use kassay_suite::launch::{ArgValue, Filter};

use self::address::{TexelIndex, TexelPair};
pub use self::sampler::Sampler;
use self::texel::{Format, MAX_TEXEL_BYTES};
use crate::exec::formats;

/// An image or a sampler argument: the target of its handle.
#[derive(Debug)]
pub struct Image(ImageKind);

#[derive(Debug)]
enum ImageKind {
    Texels(Texels),
    Sampler(Sampler),
}

#[derive(Debug)]
struct Texels {
    format: Format,
    /// As `get_image_channel_order` and `get_image_channel_data_type` return them.
    codes: (u32, u32),
    /// Size in texels by dimension; layers are one more dimension after those of a layer.
    extents: [u64; 3],
    /// Number of dimensions of a layer.
    dimensions: usize,
    layered: bool,
    pristine: Arc<Vec<u8>>,
    /// The current contents. Atomic because work-items on several threads may write.
    current: Box<[AtomicU8]>,
}

/// An access outside the image whose result is undefined, or a write there: the texel's coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutsideImage {
    /// By dimension; of an array, the layer follows the others.
    pub texel: [i64; 3],
}

impl Image {
    /// Creates the image or sampler that a launch passes as an argument.
    ///
    /// # Errors
    /// What is wrong with it: an unknown format, or texels that do not fill it.
    pub fn new(value: &ArgValue) -> Result<Image, String> {
        match value {
            ArgValue::Image { shape, format, texels } => {
                let coded = formats::encode(format)?;
                let extents = formats::region(shape);
                let bytes = texels.len() as u64;
                if formats::size(shape, coded.texel) != Some(bytes) || bytes == 0 {
                    return Err(format!(
                        "{bytes} bytes of texels do not fill an image of {}x{}x{} texels of {} bytes",
                        extents[0], extents[1], extents[2], coded.texel
                    ));
                }
                let (order, ty) = (&format.channel_order, &format.channel_type);
                let (dimensions, layered) = formats::dimensions(shape);
                Ok(Image(ImageKind::Texels(Texels {
                    format: Format::new(coded.order, coded.ty, coded.texel)
                        .ok_or_else(|| format!("the simulator has no images of {order} with {ty}"))?,
                    codes: (coded.order, coded.ty),
                    extents,
                    dimensions,
                    layered,
                    current: texels.iter().map(|byte| AtomicU8::new(*byte)).collect(),
                    pristine: Arc::clone(texels),
                })))
            }
            ArgValue::Sampler { addressing, filter, normalized } => {
                let sampler = Sampler { addressing: *addressing, filter: *filter, normalized: *normalized };
                Ok(Image(ImageKind::Sampler(sampler)))
            }
            ArgValue::Value(_) | ArgValue::Buffer(_) | ArgValue::Same(_) | ArgValue::Local(_) => {
                Err("it is neither an image nor a sampler".to_owned())
            }
        }
    }

    /// Restores the initial texels.
    pub fn reset(&mut self) {
        if let ImageKind::Texels(texels) = &mut self.0 {
            for (current, pristine) in texels.current.iter_mut().zip(texels.pristine.iter()) {
                *current.get_mut() = *pristine;
            }
        }
    }

    /// The current texels; `None` for samplers.
    ///
    /// # Safety
    /// Nothing may write to the image while the bytes are in use: the launch's code must not run.
    pub unsafe fn output(&self) -> Option<&[u8]> {
        match &self.0 {
            // SAFETY: atomic bytes have the layout of plain ones, and the caller guarantees that none of them changes.
            ImageKind::Texels(Texels { current, .. }) => {
                Some(unsafe { std::slice::from_raw_parts(current.as_ptr().cast(), current.len()) })
            }
            ImageKind::Sampler(_) => None,
        }
    }

    /// The sampler, if it is one.
    pub fn sampler(&self) -> Option<Sampler> {
        match &self.0 {
            ImageKind::Sampler(sampler) => Some(*sampler),
            ImageKind::Texels(_) => None,
        }
    }

    /// Size in texels by dimension, layers after the others; empty for samplers.
    pub fn size(&self) -> &[u64] {
        match &self.0 {
            ImageKind::Texels(texels) => &texels.extents[..texels.dimensions + usize::from(texels.layered)],
            ImageKind::Sampler(_) => &[],
        }
    }

    /// Address and size in bytes of the texels; null and 0 for samplers.
    pub fn location(&self) -> (*const u8, u64) {
        match &self.0 {
            ImageKind::Texels(texels) => (texels.current.as_ptr().cast(), texels.current.len() as u64),
            ImageKind::Sampler(_) => (std::ptr::null(), 0),
        }
    }

    /// `read_image{f,i,ui,h}`: coordinates and components as in [`kassay_model::native::abi::texel`]; halves are the
    /// low 16 bits of their words. Other cases that OpenCL leaves undefined (a filter for integers, the wrong function
    /// for a format) give an approximate result.
    ///
    /// # Errors
    /// If a texel outside the image was read without a sampler, or with one that leaves the result undefined.
    pub fn read(&self, sampler: Option<Sampler>, coordinates: [u32; 4], kind: u32) -> Result<[u32; 4], OutsideImage> {
        self.read_with(sampler, coordinates, kind, &mut |_| {})
    }

    /// Like [`Image::read`]; calls `on_read` with the bytes of every texel that is read, counted from the first one's.
    ///
    /// # Errors
    /// As for [`Image::read`].
    pub fn read_with(
        &self,
        sampler: Option<Sampler>,
        coordinates: [u32; 4],
        kind: u32,
        on_read: &mut dyn FnMut(Range<usize>),
    ) -> Result<[u32; 4], OutsideImage> {
        match &self.0 {
            ImageKind::Texels(texels) => texels.read(sampler, coordinates, kind, on_read),
            ImageKind::Sampler(_) => Ok([0; 4]),
        }
    }

    /// The target of `write_image`: the bytes of the texel at these integer coordinates, counted from the
    /// first texel's.
    ///
    /// # Errors
    /// If there is no such texel.
    pub fn texel(&self, coordinates: [u32; 4]) -> Result<Range<usize>, OutsideImage> {
        match &self.0 {
            ImageKind::Texels(texels) => texels.texel(coordinates),
            ImageKind::Sampler(_) => Ok(0..0),
        }
    }

    /// `write_image{f,i,ui,h}`, with integer coordinates.
    ///
    /// # Errors
    /// As for [`Image::texel`]; then nothing is written.
    pub fn write(&self, coordinates: [u32; 4], kind: u32, colour: [u32; 4]) -> Result<(), OutsideImage> {
        match &self.0 {
            ImageKind::Texels(texels) => texels.write(coordinates, kind, colour),
            ImageKind::Sampler(_) => Ok(()),
        }
    }

    /// `get_image_width` and so on: see [`kassay_model::native::abi::query`].
    pub fn query(&self, what: u32) -> u64 {
        let ImageKind::Texels(texels) = &self.0 else { return 0 };
        match what {
            query::WIDTH => texels.extents[0],
            query::HEIGHT if texels.dimensions > 1 => texels.extents[1],
            query::DEPTH if texels.dimensions > 2 => texels.extents[2],
            query::ARRAY_SIZE if texels.layered => texels.extents[texels.dimensions],
            query::CHANNEL_TYPE => texels.codes.1.into(),
            query::CHANNEL_ORDER => texels.codes.0.into(),
            _ => 0,
        }
    }
}

/// A colour, as floats or as integers.
#[derive(Debug, Clone, Copy)]
enum Colour {
    Floats([f32; 4]),
    Integers([i64; 4]),
}

impl Texels {
    fn read(
        &self,
        sampler: Option<Sampler>,
        coordinates: [u32; 4],
        kind: u32,
        on_read: &mut dyn FnMut(Range<usize>),
    ) -> Result<[u32; 4], OutsideImage> {
        let floats = kind & kind::FLOAT_COORDINATES != 0;
        let mode = sampler.unwrap_or(Sampler::NONE);
        let colour = if floats && mode.filter == Filter::Linear && !self.format.is_integer() {
            Colour::Floats(self.filtered(mode, coordinates, on_read)?)
        } else {
            let mut indices = [TexelIndex::At(0); 3];
            for (d, place) in indices.iter_mut().enumerate().take(self.dimensions) {
                let (at, size) = (coordinates[d], self.extents[d]);
                *place = match floats {
                    true => address::nearest(mode, f32::from_bits(at), size),
                    false => address::integer(mode, at.cast_signed().into(), size),
                };
            }
            if self.layered {
                let (at, layers) = (coordinates[self.dimensions], self.extents[self.dimensions]);
                indices[self.dimensions] = match (floats, sampler) {
                    (true, _) => TexelIndex::At(address::layer(f32::from_bits(at), layers)),
                    (false, None) => TexelIndex::checked(at.cast_signed().into(), layers),
                    (false, Some(_)) => TexelIndex::At(at.cast_signed().max(0).unsigned_abs().into()).within(layers),
                };
            }
            self.colour(indices, on_read)?
        };
        Ok(words(colour, kind & !kind::FLOAT_COORDINATES))
    }

    /// Linear filtering; for arrays, within one layer.
    fn filtered(
        &self,
        sampler: Sampler,
        coordinates: [u32; 4],
        on_read: &mut dyn FnMut(Range<usize>),
    ) -> Result<[f32; 4], OutsideImage> {
        let mut pairs = [TexelPair { indices: [TexelIndex::At(0); 2], weight: 0.0 }; 3];
        for (d, pair) in pairs.iter_mut().enumerate().take(self.dimensions) {
            *pair = address::linear(sampler, f32::from_bits(coordinates[d]), self.extents[d]);
        }
        if self.layered {
            let layer = address::layer(f32::from_bits(coordinates[self.dimensions]), self.extents[self.dimensions]);
            pairs[self.dimensions].indices = [TexelIndex::At(layer); 2];
        }
        let mut sum = [0.0; 4];
        for corner in 0..1_usize << self.dimensions {
            let (mut indices, mut weight) = ([TexelIndex::At(0); 3], 1.0);
            for (d, pair) in pairs.iter().enumerate() {
                let second = corner >> d & 1;
                indices[d] = pair.indices[second];
                if d < self.dimensions {
                    weight *= if second == 1 { pair.weight } else { 1.0 - pair.weight };
                }
            }
            let Colour::Floats(colour) = self.colour(indices, on_read)? else { continue };
            for (sum, component) in sum.iter_mut().zip(colour) {
                *sum += weight * component;
            }
        }
        Ok(sum)
    }

    /// The colour of a texel, or of the border if one of the indices is there.
    fn colour(&self, indices: [TexelIndex; 3], on_read: &mut dyn FnMut(Range<usize>)) -> Result<Colour, OutsideImage> {
        if indices.iter().any(|place| matches!(place, TexelIndex::Outside(_))) {
            return Err(outside(indices));
        }
        let [TexelIndex::At(x), TexelIndex::At(y), TexelIndex::At(z)] = indices else {
            let border = self.format.border();
            return Ok(match self.format.is_integer() {
                true => Colour::Integers(border.map(|c| c as i64)),
                false => Colour::Floats(border),
            });
        };
        let mut texel = [0; MAX_TEXEL_BYTES];
        let bytes = self.bytes([x, y, z]);
        for (to, from) in texel.iter_mut().zip(self.current.get(bytes.clone()).unwrap_or_default()) {
            *to = from.load(Ordering::Relaxed);
        }
        on_read(bytes);
        Ok(match self.format.is_integer() {
            true => Colour::Integers(self.format.integers(&texel)),
            false => Colour::Floats(self.format.floats(&texel)),
        })
    }

    /// The bytes of a texel of the image.
    fn bytes(&self, [x, y, z]: [u64; 3]) -> Range<usize> {
        let [width, height, _] = self.extents;
        let bytes = self.format.bytes();
        // The texels fit into memory, so their indices do.
        let start = ((z * height + y) * width + x) as usize * bytes;
        start..start + bytes
    }

    fn texel(&self, coordinates: [u32; 4]) -> Result<Range<usize>, OutsideImage> {
        let mut indices = [TexelIndex::At(0); 3];
        for (d, place) in indices.iter_mut().enumerate().take(self.dimensions + usize::from(self.layered)) {
            *place = TexelIndex::checked(coordinates[d].cast_signed().into(), self.extents[d]);
        }
        match indices {
            [TexelIndex::At(x), TexelIndex::At(y), TexelIndex::At(z)] => Ok(self.bytes([x, y, z])),
            _ => Err(outside(indices)),
        }
    }

    fn write(&self, coordinates: [u32; 4], kind: u32, colour: [u32; 4]) -> Result<(), OutsideImage> {
        let bytes = self.texel(coordinates)?;
        let texel = match self.format.is_integer() {
            true => self.format.encode_integers(colour.map(|word| match kind {
                kind::INT | kind::UINT => self.format.widen(word),
                _ => float(word, kind) as i64,
            })),
            false => self.format.encode_floats(colour.map(|word| float(word, kind))),
        };
        for (to, byte) in self.current.get(bytes).unwrap_or_default().iter().zip(texel) {
            to.store(byte, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl TexelIndex {
    fn within(self, size: u64) -> TexelIndex {
        match self {
            TexelIndex::At(at) => TexelIndex::At(at.min(size - 1)),
            other => other,
        }
    }
}

fn outside(indices: [TexelIndex; 3]) -> OutsideImage {
    let number = |place| match place {
        TexelIndex::At(at) => i64::try_from(at).unwrap_or(i64::MAX),
        TexelIndex::Outside(at) => at,
        TexelIndex::Border => -1,
    };
    OutsideImage { texel: indices.map(number) }
}

/// Converts a component from the form in which a kernel passes it.
fn float(word: u32, kind: u32) -> f32 {
    match kind {
        kind::HALF => f16::from_bits(word as u16).to_f32(),
        kind::INT => word.cast_signed() as f32,
        kind::UINT => word as f32,
        _ => f32::from_bits(word),
    }
}

/// Converts a colour to the form in which a kernel receives it.
fn words(colour: Colour, kind: u32) -> [u32; 4] {
    match (kind, colour) {
        (kind::INT | kind::UINT, Colour::Integers(c)) => c.map(|c| c as u32),
        (kind::INT, Colour::Floats(c)) => c.map(|c| (c as i32).cast_unsigned()),
        (kind::UINT, Colour::Floats(c)) => c.map(|c| c as u32),
        (kind::HALF, Colour::Floats(c)) => c.map(|c| f16::from_f32(c).to_bits().into()),
        (kind::HALF, Colour::Integers(c)) => c.map(|c| f16::from_f32(c as f32).to_bits().into()),
        (_, Colour::Floats(c)) => c.map(f32::to_bits),
        (_, Colour::Integers(c)) => c.map(|c| (c as f32).to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use kassay_suite::launch::{Addressing, ImageFormat, ImageShape};

    use super::*;

    fn image(shape: ImageShape, order: &str, ty: &str, texels: Vec<u8>) -> Image {
        let format = ImageFormat { channel_order: order.into(), channel_type: ty.into() };
        Image::new(&ArgValue::Image { shape, format, texels: Arc::new(texels) }).unwrap()
    }

    #[test]
    fn texels_lie_layer_by_layer() {
        let texels = image(ImageShape::D3 { width: 3, height: 2, depth: 2 }, "R", "UNSIGNED_INT8", (0..12).collect());
        assert_eq!(texels.read(None, [2, 1, 1, 0], kind::UINT), Ok([11, 0, 0, 1]));
        let layers = image(ImageShape::D1Array { width: 3, layers: 2 }, "R", "UNSIGNED_INT8", (0..6).collect());
        assert_eq!(layers.read(None, [1, 1, 0, 0], kind::UINT), Ok([4, 0, 0, 1]));
        assert_eq!((layers.query(query::WIDTH), layers.query(query::ARRAY_SIZE)), (3, 2));
        assert_eq!((layers.query(query::HEIGHT), layers.query(query::CHANNEL_ORDER)), (0, 0x10B0));
    }

    #[test]
    fn reads_outside_the_image_depend_on_the_sampler() {
        let shape = ImageShape::D2 { width: 2, height: 2 };
        let texels = image(shape, "RG", "UNSIGNED_INT8", (1..9).collect());
        let out_of_range = [5, u32::MAX, 0, 0];
        assert_eq!(texels.read(None, out_of_range, kind::UINT), Err(OutsideImage { texel: [5, -1, 0] }));
        let read = |addressing, at| {
            let sampler = Sampler { addressing, filter: Filter::Nearest, normalized: false };
            texels.read(Some(sampler), at, kind::UINT)
        };
        assert_eq!(read(Addressing::None, out_of_range), Err(OutsideImage { texel: [5, -1, 0] }));
        assert_eq!(read(Addressing::ClampToEdge, out_of_range), Ok([3, 4, 0, 1]));
        assert_eq!(read(Addressing::Clamp, out_of_range), Ok([0, 0, 0, 1]));
        assert_eq!(texels.write([2, 0, 0, 0], kind::UINT, [1; 4]), Err(OutsideImage { texel: [2, 0, 0] }));
    }

    #[test]
    fn writes_stay_until_the_image_is_reset() {
        let mut texels = image(ImageShape::D1 { width: 2 }, "RGBA", "HALF_FLOAT", vec![0; 16]);
        let colour = [1.0_f32, -2.0, 0.5, 1e9].map(f32::to_bits);
        assert_eq!(texels.write([1, 0, 0, 0], kind::FLOAT, colour), Ok(()));
        let halves = [1.0, -2.0, 0.5, f32::INFINITY].map(|x| u32::from(f16::from_f32(x).to_bits()));
        assert_eq!(texels.read(None, [1, 0, 0, 0], kind::HALF), Ok(halves));
        // SAFETY: the image belongs to this test, and no code runs that could write to it.
        let output = |texels: &Image| unsafe { texels.output() }.map(<[u8]>::to_vec);
        assert_eq!(output(&texels).map(|bytes| bytes[8..10].to_vec()), Some(f16::ONE.to_le_bytes().to_vec()));
        texels.reset();
        assert_eq!(output(&texels), Some(vec![0; 16]));
    }

    #[test]
    fn reads_report_their_texels() {
        let texels = image(ImageShape::D2 { width: 3, height: 2 }, "RG", "UNORM_INT8", (0..12).collect());
        let sampler = Sampler { addressing: Addressing::Clamp, filter: Filter::Linear, normalized: false };
        let mut seen = Vec::new();
        let at = [0.25_f32, 1.0, 0.0, 0.0].map(f32::to_bits);
        let kind = kind::FLOAT | kind::FLOAT_COORDINATES;
        assert!(texels.read_with(Some(sampler), at, kind, &mut |bytes| seen.push(bytes)).is_ok());
        assert_eq!(seen, [0..2, 6..8]);
        assert_eq!(texels.texel([2, 1, 9, 9]), Ok(10..12));
    }

    #[test]
    fn arguments_of_other_kinds_are_refused() {
        assert!(Image::new(&ArgValue::Local(4)).is_err());
        let format = ImageFormat { channel_order: "R".into(), channel_type: "FLOAT".into() };
        let shape = ImageShape::D1 { width: 2 };
        assert!(Image::new(&ArgValue::Image { shape, format, texels: Arc::new(vec![0; 7]) }).is_err());
    }
}
