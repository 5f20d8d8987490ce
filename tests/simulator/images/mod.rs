//! Compares the simulator's images with an OpenCL device's: every shape, sampler and format that the device has, read
//! and written.

mod buffers;
mod support;

use kassay_model::native::abi::texel;
use kassay_run::exec::simulator::image::Image;
use kassay_suite::launch::{Addressing, ArgValue, Filter};

use support::*;

const ADDRESSING: [Addressing; 5] =
    [Addressing::None, Addressing::ClampToEdge, Addressing::Clamp, Addressing::Repeat, Addressing::MirroredRepeat];

/// How far a component of a texel may differ (section 8.3): conversions of normalized channels are exact to 1.5 ulp,
/// and filtering adds these errors up.
const TOLERANCE: f32 = 1e-5;

#[test]
fn float_coordinates_find_the_same_texels() -> TestResult {
    let mut device = Device::start()?;
    let mut seen = 0;
    for shape in SHAPES.iter().filter(|s| s.sampled) {
        let program = device.load(&shape.reader("read_imagef", "float", true))?;
        for (order, ty) in [("RGBA", "FLOAT"), ("RGBA", "UNORM_INT8"), ("R", "HALF_FLOAT"), ("RG", "SNORM_INT16")] {
            let value = shape.image(order, ty, 3);
            let image = Image::new(&value)?;
            for addressing in ADDRESSING {
                for (filter, normalized) in
                    [(Filter::Nearest, true), (Filter::Nearest, false), (Filter::Linear, true), (Filter::Linear, false)]
                {
                    let repeats = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
                    if repeats && !normalized {
                        continue;
                    }
                    let sampler = ArgValue::Sampler { addressing, filter, normalized };
                    let inside = addressing == Addressing::None;
                    let coordinates = shape.float_coordinates(normalized, inside);
                    let Some(given) = device.read(program, &value, Some(&sampler), &coordinates)? else { continue };
                    let kind = texel::FLOAT | texel::FLOAT_COORDINATES;
                    for (at, given) in coordinates.iter().zip(given) {
                        let ours = image.read(sampler_of(&sampler), *at, kind).map_err(|e| format!("{e:?}"))?;
                        let what = format!(
                            "{} {order} {ty} {addressing:?} {filter:?} {normalized} at {:?}",
                            shape.ty,
                            at.map(f32::from_bits)
                        );
                        near(&ours, &given, filter == Filter::Nearest && !ty.contains("NORM"), &what)?;
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 10_000, "only {seen} reads were compared");
    Ok(())
}

fn near(ours: &[u32; 4], given: &[u32; 4], exact: bool, what: &str) -> TestResult {
    let close = ours.iter().zip(given).all(|(a, b)| {
        let (x, y) = (f32::from_bits(*a), f32::from_bits(*b));
        a == b || x == y || (!exact && (x - y).abs() <= TOLERANCE * x.abs().max(y.abs()).max(1.0))
    });
    if close {
        return Ok(());
    }
    let show = |c: &[u32; 4]| c.map(f32::from_bits);
    Err(format!("{what}: {:?} here, {:?} on the device", show(ours), show(given)).into())
}

#[test]
fn integer_coordinates_find_the_same_texels() -> TestResult {
    let mut device = Device::start()?;
    let mut seen = 0;
    for shape in &SHAPES {
        for (function, kind, order, ty) in [
            ("read_imagef", texel::FLOAT, "RGBA", "FLOAT"),
            ("read_imagei", texel::INT, "RGBA", "SIGNED_INT16"),
            ("read_imageui", texel::UINT, "R", "UNSIGNED_INT8"),
        ] {
            let value = shape.image(order, ty, 5);
            let image = Image::new(&value)?;
            let unsampled = device.load(&shape.reader(function, "int", false))?;
            let coordinates = shape.integer_coordinates(true);
            let given = device.read(unsampled, &value, None, &coordinates)?.ok_or("a format is missing")?;
            for (at, given) in coordinates.iter().zip(given) {
                assert_eq!(image.read(None, *at, kind), Ok(given), "{} {order} {ty} at {at:?}", shape.ty);
                seen += 1;
            }
            if !shape.sampled {
                continue;
            }
            let program = device.load(&shape.reader(function, "int", true))?;
            for addressing in [Addressing::None, Addressing::ClampToEdge, Addressing::Clamp] {
                let sampler = ArgValue::Sampler { addressing, filter: Filter::Nearest, normalized: false };
                let coordinates = shape.integer_coordinates(addressing == Addressing::None);
                let given = device.read(program, &value, Some(&sampler), &coordinates)?.ok_or("a format is missing")?;
                for (at, given) in coordinates.iter().zip(given) {
                    let ours = image.read(sampler_of(&sampler), *at, kind);
                    assert_eq!(
                        ours,
                        Ok(given),
                        "{} {order} {ty} {addressing:?} at {:?}",
                        shape.ty,
                        at.map(u32::cast_signed)
                    );
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 1000, "only {seen} reads were compared");
    Ok(())
}

#[test]
fn every_format_of_the_device_is_read_and_written_alike() -> TestResult {
    let mut device = Device::start()?;
    let shape = SHAPES.iter().find(|s| s.ty == "image2d_t").ok_or("no 2D images")?;
    let mut formats = Vec::new();
    for (function, kind) in [("f", texel::FLOAT), ("i", texel::INT), ("ui", texel::UINT)] {
        let reader = device.load(&shape.reader(&format!("read_image{function}"), "int", false))?;
        let writer = device.load(&shape.writer(&format!("write_image{function}")))?;
        for (order, ty) in FORMATS.iter().filter(|(_, ty)| kind_of(ty) == kind) {
            let value = shape.image(order, ty, 7);
            let image = Image::new(&value)?;
            let coordinates = shape.every_texel();
            let Some(given) = device.read(reader, &value, None, &coordinates)? else { continue };
            for (at, given) in coordinates.iter().zip(given) {
                let ours = image.read(None, *at, kind).map_err(|e| format!("{e:?}"))?;
                let what = format!("{order} {ty} at {at:?}");
                match kind {
                    texel::FLOAT => near(&ours, &given, false, &what)?,
                    _ => assert_eq!(ours, given, "{what}"),
                }
            }
            let colours = colours(kind, coordinates.len());
            let Some(given) = device.write(writer, &value, &coordinates, &colours)? else { continue };
            for (at, colour) in coordinates.iter().zip(&colours) {
                image.write(*at, kind, *colour).map_err(|e| format!("{e:?}"))?;
            }
            // SAFETY: no other reference to the image exists.
            let ours = unsafe { image.output() }.ok_or("no texels")?;
            same_texels(ours, &given, ty).map_err(|e| format!("{order} {ty}: {e}"))?;
            formats.push(format!("{order}/{ty}"));
        }
    }
    assert!(formats.len() >= 20, "only {formats:?}");
    Ok(())
}

/// Compares texels; rounding to normalized integers and halves is the device's choice, by one unit.
fn same_texels(ours: &[u8], given: &[u8], ty: &str) -> TestResult {
    let units = |bytes: &[u8]| -> Vec<i64> {
        match ty {
            "UNORM_INT8" => bytes.iter().map(|b| i64::from(*b)).collect(),
            "SNORM_INT8" => bytes.iter().map(|b| i64::from(b.cast_signed())).collect(),
            "SNORM_INT16" => pairs(bytes).map(|b| i64::from(i16::from_le_bytes(b))).collect(),
            "UNORM_INT16" | "HALF_FLOAT" => pairs(bytes).map(|b| i64::from(u16::from_le_bytes(b))).collect(),
            _ => bytes.iter().map(|b| 4 * i64::from(*b)).collect(),
        }
    };
    let (ours, given) = (units(ours), units(given));
    match ours.iter().zip(&given).position(|(a, b)| (a - b).abs() > 1) {
        Some(at) => Err(format!("{} here, {} on the device in channel {at}", ours[at], given[at]).into()),
        None => Ok(()),
    }
}

fn pairs(bytes: &[u8]) -> impl Iterator<Item = [u8; 2]> {
    bytes.as_chunks::<2>().0.iter().copied()
}
