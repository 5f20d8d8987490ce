//! Builds kernels that read and write images by lists of coordinates, and runs them on a device.

use std::sync::Arc;

use kassay_ir::llvm::Context;
use kassay_model::native::abi::texel;
use kassay_run::exec::simulator::image::Sampler;
use kassay_run::exec::{Executor, Fault, Observation, OpenClExecutor, ProgramId, Target};
use kassay_suite::launch::{ArgValue, ImageFormat, ImageShape, Launch, NdRange};

pub use crate::common::TestResult;
use crate::common::devices::{once, opencl};
use crate::common::kernels::{cl_std, open_bare, source_file};

/// A kind of image, with a size.
pub struct Shape {
    pub ty: &'static str,
    pub shape: fn() -> ImageShape,
    extents: [u64; 3],
    /// The dimension that counts layers.
    layers: Option<usize>,
    /// The number of coordinates.
    coordinates: usize,
    /// Whether it can be read with a sampler.
    pub sampled: bool,
}

pub const SHAPES: [Shape; 6] = [
    Shape {
        ty: "image1d_t",
        shape: || ImageShape::D1 { width: 7 },
        extents: [7, 1, 1],
        layers: None,
        coordinates: 1,
        sampled: true,
    },
    Shape {
        ty: "image1d_buffer_t",
        shape: || ImageShape::D1Buffer { width: 9 },
        extents: [9, 1, 1],
        layers: None,
        coordinates: 1,
        sampled: false,
    },
    Shape {
        ty: "image1d_array_t",
        shape: || ImageShape::D1Array { width: 6, layers: 3 },
        extents: [6, 3, 1],
        layers: Some(1),
        coordinates: 2,
        sampled: true,
    },
    Shape {
        ty: "image2d_t",
        shape: || ImageShape::D2 { width: 5, height: 8 },
        extents: [5, 8, 1],
        layers: None,
        coordinates: 2,
        sampled: true,
    },
    Shape {
        ty: "image2d_array_t",
        shape: || ImageShape::D2Array { width: 4, height: 5, layers: 3 },
        extents: [4, 5, 3],
        layers: Some(2),
        coordinates: 3,
        sampled: true,
    },
    Shape {
        ty: "image3d_t",
        shape: || ImageShape::D3 { width: 4, height: 3, depth: 5 },
        extents: [4, 3, 5],
        layers: None,
        coordinates: 3,
        sampled: true,
    },
];

const TYPES: [&str; 12] = [
    "SNORM_INT8",
    "SNORM_INT16",
    "UNORM_INT8",
    "UNORM_INT16",
    "SIGNED_INT8",
    "SIGNED_INT16",
    "SIGNED_INT32",
    "UNSIGNED_INT8",
    "UNSIGNED_INT16",
    "UNSIGNED_INT32",
    "HALF_FLOAT",
    "FLOAT",
];

const ORDERS: [&str; 10] = ["R", "A", "RG", "RA", "RGBA", "BGRA", "ARGB", "INTENSITY", "LUMINANCE", "sRGBA"];

/// All combinations, and the packed ones; a device has some of them.
pub static FORMATS: std::sync::LazyLock<Vec<(&str, &str)>> = std::sync::LazyLock::new(|| {
    let packed = ["UNORM_SHORT_565", "UNORM_SHORT_555", "UNORM_INT_101010"].map(|ty| ("RGB", ty));
    ORDERS.into_iter().flat_map(|order| TYPES.map(|ty| (order, ty))).chain(packed).collect()
});

/// Returns the kind of the functions that read and write it.
pub fn kind_of(ty: &str) -> u32 {
    match ty {
        _ if ty.starts_with("SIGNED") => texel::INT,
        _ if ty.starts_with("UNSIGNED") => texel::UINT,
        _ => texel::FLOAT,
    }
}

/// A generator of numbers that are the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// Returns a number from 0 to 1.
    pub fn unit(&mut self) -> f32 {
        (self.next() % 10_000) as f32 / 10_000.0
    }
}

fn channels(order: &str, ty: &str) -> usize {
    match order {
        "RGB" if ty.starts_with("UNORM_SHORT") || ty.starts_with("UNORM_INT_") => 1,
        "R" | "A" | "INTENSITY" | "LUMINANCE" | "DEPTH" => 1,
        "RG" | "RA" | "Rx" => 2,
        "RGx" => 3,
        _ => 4,
    }
}

impl Shape {
    fn vector(&self, scalar: &str) -> String {
        match self.coordinates {
            1 => scalar.to_owned(),
            2 => format!("{scalar}2"),
            _ => format!("{scalar}4"),
        }
    }

    fn swizzle(&self) -> &'static str {
        match self.coordinates {
            1 => ".x",
            2 => ".xy",
            _ => "",
        }
    }

    /// Returns the source of a kernel that reads at coordinates of a scalar type.
    pub fn reader(&self, function: &str, scalar: &str, sampled: bool) -> String {
        let (ty, swizzle) = (self.ty, self.swizzle());
        let result = if function.ends_with('f') {
            "float4"
        } else if function.ends_with("ui") {
            "uint4"
        } else {
            "int4"
        };
        let sampler = if sampled { "s, " } else { "" };
        let parameter = if sampled { "sampler_t s, " } else { "" };
        format!(
            "kernel void k(read_only {ty} img, {parameter}global const {scalar}4 *at, global {result} *out) {{
                size_t i = get_global_id(0);
                {} c = at[i]{swizzle};
                out[i] = {function}(img, {sampler}c);
            }}",
            self.vector(scalar)
        )
    }

    /// Returns the source of a kernel that writes colours at coordinates.
    pub fn writer(&self, function: &str) -> String {
        let (ty, swizzle, vector) = (self.ty, self.swizzle(), self.vector("int"));
        let colour = if function.ends_with('f') {
            "float4"
        } else if function.ends_with("ui") {
            "uint4"
        } else {
            "int4"
        };
        format!(
            "kernel void k(write_only {ty} img, global const int4 *at, global const {colour} *in) {{
                size_t i = get_global_id(0);
                {vector} c = at[i]{swizzle};
                {function}(img, c, in[i]);
            }}"
        )
    }

    /// Returns an image of finite values.
    pub fn image(&self, order: &str, ty: &str, seed: u64) -> ArgValue {
        let mut random = Random::new(seed);
        let count = self.extents.iter().product::<u64>() as usize * channels(order, ty);
        let mut texels = Vec::new();
        for _ in 0..count {
            let value = random.unit() * 8.0 - 4.0;
            let bits = random.next();
            match ty {
                "FLOAT" => texels.extend(value.to_le_bytes()),
                "HALF_FLOAT" => texels.extend(half::f16::from_f32(value).to_le_bytes()),
                _ if ty.ends_with('8') => texels.push(bits as u8),
                _ if ty.ends_with("16") || ty.contains("SHORT") => texels.extend((bits as u16).to_le_bytes()),
                _ => texels.extend(bits.wrapping_mul(3).to_le_bytes()),
            }
        }
        let format = ImageFormat { channel_order: order.into(), channel_type: ty.into() };
        ArgValue::Image { shape: (self.shape)(), format, texels: Arc::new(texels) }
    }

    /// Returns coordinates all over the image and, unless `inside`, around it.
    pub fn integer_coordinates(&self, inside: bool) -> Vec<[u32; 4]> {
        let mut random = Random::new(11);
        let one = |random: &mut Random, d: usize| {
            let size = self.extents[d] as u32;
            if inside { random.next() % size } else { (random.next() % (3 * size)).wrapping_sub(size) }
        };
        (0..64)
            .map(|_| [0, 1, 2].map(|d| if d < self.coordinates { one(&mut random, d) } else { 0 }))
            .map(|[x, y, z]| [x, y, z, 0])
            .collect()
    }

    /// Returns the coordinates of each texel once.
    pub fn every_texel(&self) -> Vec<[u32; 4]> {
        let [width, height, depth] = self.extents.map(|n| n as u32);
        let rows = (0..depth).flat_map(|z| (0..height).map(move |y| (y, z)));
        rows.flat_map(|(y, z)| (0..width).map(move |x| [x, y, z, 0])).collect()
    }

    /// Returns places that lie outside by each of the coordinates that the shape has; the others are no matter to it,
    /// so that a place outside by one of them would be a texel.
    pub fn outside(&self) -> Vec<[u32; 4]> {
        let outside = |d: usize, at: u32| std::array::from_fn(|i| if i == d { at } else { 0 });
        (0..self.coordinates).flat_map(|d| [u32::MAX, 1 << 20, 1 << 30].map(|at| outside(d, at))).collect()
    }

    /// Returns float coordinates, as bits; none lies exactly between two texels, where rounding decides.
    pub fn float_coordinates(&self, normalized: bool, inside: bool) -> Vec<[u32; 4]> {
        let mut random = Random::new(13);
        let mut one = |d: usize| {
            let size = self.extents[d] as f32;
            let (low, high) = if inside { (0.0, size) } else { (-size, 2.0 * size) };
            let mut at = low + random.unit() * (high - low);
            if (at - at.round()).abs() < 0.01 {
                at += 0.02;
            }
            // Closer to the edge than the middle of the outermost texels, a filter would need texels outside.
            if inside {
                at = at.clamp(0.5, size - 0.5);
            }
            if normalized && self.layers != Some(d) { at / size } else { at }
        };
        let mut points = Vec::new();
        for _ in 0..64 {
            let mut point = [0; 4];
            for (d, to) in point.iter_mut().enumerate().take(self.coordinates) {
                *to = one(d).to_bits();
            }
            points.push(point);
        }
        points
    }
}

/// Returns colours to be written: ordinary ones, out-of-range ones, and ties.
pub fn colours(kind: u32, count: usize) -> Vec<[u32; 4]> {
    let mut random = Random::new(17);
    let mut one = || match kind {
        texel::FLOAT => match random.next() % 8 {
            0 => 2.5,
            1 => -1.5,
            2 => 0.0,
            3 => 1.0,
            _ => random.unit() * 2.4 - 1.2,
        }
        .to_bits(),
        _ => match random.next() % 4 {
            0 => random.next() % 100,
            1 => (random.next() % 400).wrapping_sub(200),
            2 => (random.next() % 200_000).wrapping_sub(100_000),
            _ => random.next().wrapping_mul(3),
        },
    };
    (0..count).map(|_| [one(), one(), one(), one()]).collect()
}

pub fn sampler_of(value: &ArgValue) -> Option<Sampler> {
    match value {
        ArgValue::Sampler { addressing, filter, normalized } => {
            Some(Sampler { addressing: *addressing, filter: *filter, normalized: *normalized })
        }
        _ => None,
    }
}

pub struct Device {
    executor: OpenClExecutor,
    /// Whether code gets buffers instead of images.
    image_buffers: bool,
}

pub fn words(values: &[[u32; 4]]) -> ArgValue {
    ArgValue::Buffer(Arc::new(values.iter().flatten().flat_map(|w| w.to_le_bytes()).collect()))
}

impl Device {
    pub fn start() -> TestResult<Device> {
        Ok(Device { executor: opencl()?, image_buffers: false })
    }

    /// Starts a device whose images are buffers, as they are on NVIDIA GPUs.
    pub fn with_image_buffers() -> TestResult<Device> {
        Ok(Device { image_buffers: true, ..Device::start()? })
    }

    pub fn load(&mut self, source: &str) -> TestResult<ProgramId> {
        self.load_as(source, "CL1.2")
    }

    /// Loads a kernel in that version of OpenCL C.
    pub fn load_as(&mut self, source: &str, version: &str) -> TestResult<ProgramId> {
        let (_folder, path) = source_file(source);
        let context = Context::create();
        let mut under_test = open_bare(&context, &path, Some("k"), &cl_std(version))?.under_test;
        under_test.lowering.image_buffers = self.image_buffers;
        Ok(self.executor.load(&under_test.plain(Target::SpirV)?)?)
    }

    /// `None`: the device does not support such images.
    pub fn run(&mut self, program: ProgramId, count: usize, args: Vec<ArgValue>) -> TestResult<Option<Observation>> {
        let range = NdRange { dims: 1, global: [count as u64, 1, 1], local: Some([1; 3]), offset: [0; 3] };
        match self.executor.run(program, &Launch::new(range, args), &once())? {
            Ok(seen) => Ok(Some(seen)),
            Err(Fault::Rejected { .. }) => Ok(None),
            Err(fault) => Err(format!("{fault:?}").into()),
        }
    }

    pub fn read(
        &mut self,
        program: ProgramId,
        image: &ArgValue,
        sampler: Option<&ArgValue>,
        at: &[[u32; 4]],
    ) -> TestResult<Option<Vec<[u32; 4]>>> {
        let mut args = vec![image.clone()];
        args.extend(sampler.cloned());
        args.extend([words(at), words(&vec![[0; 4]; at.len()])]);
        let out = args.len() as u32 - 1;
        let Some(seen) = self.run(program, at.len(), args)? else { return Ok(None) };
        let bytes = &seen.outputs.iter().find(|(p, _)| *p == out).ok_or("no output")?.1;
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        Ok(Some(words.as_chunks::<4>().0.to_vec()))
    }

    pub fn write(
        &mut self,
        program: ProgramId,
        image: &ArgValue,
        at: &[[u32; 4]],
        colours: &[[u32; 4]],
    ) -> TestResult<Option<Vec<u8>>> {
        let args = vec![image.clone(), words(at), words(colours)];
        let Some(seen) = self.run(program, at.len(), args)? else { return Ok(None) };
        Ok(Some(seen.outputs.iter().find(|(p, _)| *p == 0).ok_or("no output")?.1.clone()))
    }
}
