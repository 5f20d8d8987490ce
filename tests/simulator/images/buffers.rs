//! Compares images that are buffers, as they are on NVIDIA GPUs, with the simulator's: every shape, sampler and format,
//! places inside and outside, and functions that do not go with the format. Both give the same bits.

use kassay_model::native::abi::{query, texel};
use kassay_run::exec::simulator::image::Image;
use kassay_suite::launch::{Addressing, ArgValue, Filter};

use super::support::*;
use super::{ADDRESSING, same_texels};

/// The functions of OpenCL C with the kind of what they read or write.
const FUNCTIONS: [(&str, u32); 3] = [("f", texel::FLOAT), ("i", texel::INT), ("ui", texel::UINT)];

/// Orders that suites cannot name.
const WITH_PADDING: [&str; 3] = ["Rx", "RGx", "RGBx"];

fn samplers() -> Vec<ArgValue> {
    let modes = ADDRESSING
        .into_iter()
        .flat_map(|addressing| [Filter::Nearest, Filter::Linear].into_iter().map(move |filter| (addressing, filter)));
    let all = modes.flat_map(|(addressing, filter)| {
        [false, true].map(|normalized| ArgValue::Sampler { addressing, filter, normalized })
    });
    all.collect()
}

/// Returns whether two results are the same bits, or both no numbers.
fn same(kind: u32, ours: [u32; 4], given: [u32; 4]) -> bool {
    let is_nan = |word: u32| kind == texel::FLOAT && f32::from_bits(word).is_nan();
    ours.into_iter().zip(given).all(|(a, b)| a == b || is_nan(a) && is_nan(b))
}

/// Returns float coordinates inside and outside, between texels, and what is no place at all.
fn hard_coordinates(shape: &Shape, normalized: bool) -> Vec<[u32; 4]> {
    let mut all = shape.float_coordinates(normalized, false);
    let special = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 3.0, 1e9, -1e9, 3e38, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let mut random = Random::new(29);
    for _ in 0..64 {
        let one = |random: &mut Random| special[random.next() as usize % special.len()].to_bits();
        all.push([one(&mut random), one(&mut random), one(&mut random), 0]);
    }
    all
}

#[test]
fn reads_with_samplers_give_the_simulators_bits() -> TestResult {
    let mut device = Device::with_image_buffers()?;
    let mut seen = 0;
    for shape in SHAPES.iter().filter(|s| s.sampled) {
        for (function, kind) in FUNCTIONS {
            let at_floats = device.load(&shape.reader(&format!("read_image{function}"), "float", true))?;
            let at_integers = device.load(&shape.reader(&format!("read_image{function}"), "int", true))?;
            let fits = |order: &str, ty: &str| {
                kind_of(ty) == kind
                    && (["RGBA", "RGB"].contains(&order) || ["UNORM_INT8", "SIGNED_INT16"].contains(&ty))
            };
            // And one format whose function is another.
            let formats = FORMATS.iter().filter(|(order, ty)| fits(order, ty)).copied();
            for (order, ty) in formats.chain([("RG", "SIGNED_INT8"), ("RG", "HALF_FLOAT")]) {
                let value = shape.image(order, ty, 3);
                let image = Image::new(&value)?;
                for sampler in samplers() {
                    let ArgValue::Sampler { normalized, .. } = sampler else { continue };
                    for (program, coordinates, offered) in [
                        (at_floats, hard_coordinates(shape, normalized), texel::FLOAT_COORDINATES),
                        (at_integers, shape.integer_coordinates(false), 0),
                    ] {
                        let given = device.read(program, &value, Some(&sampler), &coordinates)?.ok_or("refused")?;
                        for (at, given) in coordinates.iter().zip(given) {
                            // What is undefined reads as zero.
                            let ours = image.read(sampler_of(&sampler), *at, kind | offered).unwrap_or_default();
                            let what =
                                || format!("{} {order} {ty} {sampler:?} at {:?}", shape.ty, at.map(f32::from_bits));
                            match order {
                                // By powers, which every device computes in its own way.
                                "sRGBA" => super::near(&ours, &given, false, &what())?,
                                _ => assert!(same(kind, ours, given), "{}: {ours:x?}, {given:x?}", what()),
                            }
                            seen += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 500_000, "only {seen} reads were compared");
    Ok(())
}

#[test]
fn texels_of_every_format_are_read_and_written_to_the_bit() -> TestResult {
    let mut device = Device::with_image_buffers()?;
    for shape in &SHAPES {
        for (function, kind) in FUNCTIONS {
            let reader = device.load(&shape.reader(&format!("read_image{function}"), "int", false))?;
            let writer = device.load(&shape.writer(&format!("write_image{function}")))?;
            let padded =
                WITH_PADDING.into_iter().flat_map(|order| ["UNORM_INT8", "UNSIGNED_INT16"].map(|ty| (order, ty)));
            // OpenCL has sRGB with one type only.
            let exists = |(order, ty): &(&str, &str)| *order != "sRGBA" || *ty == "UNORM_INT8";
            for (order, ty) in FORMATS.iter().copied().filter(exists).chain(padded) {
                let value = shape.image(order, ty, 7);
                let image = Image::new(&value)?;
                let what = |at: &[u32; 4]| format!("{function} {} {order} {ty} at {at:?}", shape.ty);
                let coordinates = [shape.every_texel(), shape.integer_coordinates(false)].concat();
                let given = device.read(reader, &value, None, &coordinates)?.ok_or("refused")?;
                for (at, given) in coordinates.iter().zip(given) {
                    let ours = image.read(None, *at, kind).unwrap_or_default();
                    match order {
                        "sRGBA" if kind == texel::FLOAT => super::near(&ours, &given, false, &what(at))?,
                        "sRGBA" => {}
                        _ => assert!(same(kind, ours, given), "{}: {ours:x?}, {given:x?}", what(at)),
                    }
                }
                // Each place once, since it is not defined who writes last.
                let places = [shape.every_texel(), shape.outside()].concat();
                let colours = colours(kind, places.len());
                let given = device.write(writer, &value, &places, &colours)?.ok_or("refused")?;
                for (at, colour) in places.iter().zip(&colours) {
                    // Outside the image, nothing is written.
                    let _ = image.write(*at, kind, *colour);
                }
                // SAFETY: the image belongs to this test, and no code runs that could write to it.
                let ours = unsafe { image.output() }.ok_or("no texels")?;
                match order {
                    "sRGBA" => same_texels(ours, &given, ty)?,
                    _ => assert_eq!(ours, given, "{function} {} {order} {ty}", shape.ty),
                }
            }
        }
    }
    Ok(())
}

#[test]
fn images_tell_their_properties() -> TestResult {
    let mut device = Device::with_image_buffers()?;
    for shape in &SHAPES {
        let (flat, solid) = (shape.ty.starts_with("image2d"), shape.ty.starts_with("image3d"));
        let queries = [
            ("get_image_width(img)", Some(query::WIDTH)),
            ("get_image_height(img)", (flat || solid).then_some(query::HEIGHT)),
            ("get_image_depth(img)", solid.then_some(query::DEPTH)),
            ("(int)get_image_array_size(img)", shape.ty.contains("array").then_some(query::ARRAY_SIZE)),
            ("get_image_channel_data_type(img)", Some(query::CHANNEL_TYPE)),
            ("get_image_channel_order(img)", Some(query::CHANNEL_ORDER)),
            ("get_image_dim(img).x", (flat || solid).then_some(query::WIDTH)),
            ("get_image_dim(img).y", (flat || solid).then_some(query::HEIGHT)),
            ("get_image_dim(img).z", solid.then_some(query::DEPTH)),
        ];
        let asked: Vec<(&str, u32)> = queries.into_iter().filter_map(|(text, what)| Some((text, what?))).collect();
        let lines: String =
            asked.iter().enumerate().map(|(i, (text, _))| format!("out[{i}] = (int4)({text});\n")).collect();
        for access in ["read_only", "write_only"] {
            let ty = shape.ty;
            let source = format!(
                "kernel void k({access} {ty} img, global const int4 *at, global int4 *out) {{ if (get_global_id(0) == 0) {{ {lines} }} }}"
            );
            let program = device.load(&source)?;
            let value = shape.image("BGRA", "UNORM_INT8", 1);
            let given = device.read(program, &value, None, &vec![[0; 4]; asked.len()])?.ok_or("refused")?;
            let image = Image::new(&value)?;
            for ((text, what), given) in asked.iter().zip(given) {
                assert_eq!(u64::from(given[0]), image.query(*what), "{text} of {ty}");
            }
        }
    }
    Ok(())
}

#[test]
fn samplers_are_literals_variables_and_arguments_of_functions() -> TestResult {
    let mut device = Device::with_image_buffers()?;
    let shape = SHAPES.iter().find(|s| s.ty == "image2d_t").ok_or("no 2D images")?;
    let source = "constant sampler_t CLAMPED = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
        float4 through(read_only image2d_t img, sampler_t s, float2 at) { return read_imagef(img, s, at); }
        kernel void k(read_only image2d_t img, sampler_t given, global const float4 *at, global float4 *out) {
            const sampler_t own = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;
            size_t i = get_global_id(0);
            float2 c = at[i].xy;
            out[i] = i % 3 == 0 ? through(img, CLAMPED, c) : i % 3 == 1 ? through(img, own, c) : through(img, given, c);
        }";
    let program = device.load(source)?;
    let value = shape.image("RGBA", "FLOAT", 2);
    let image = Image::new(&value)?;
    let sampler = |addressing, filter, normalized| ArgValue::Sampler { addressing, filter, normalized };
    let given = sampler(Addressing::ClampToEdge, Filter::Linear, false);
    let all = [
        sampler(Addressing::Clamp, Filter::Nearest, false),
        sampler(Addressing::MirroredRepeat, Filter::Linear, true),
        given.clone(),
    ];
    let coordinates = hard_coordinates(shape, false);
    let seen = device.read(program, &value, Some(&given), &coordinates)?.ok_or("refused")?;
    for (i, (at, seen)) in coordinates.iter().zip(seen).enumerate() {
        let ours =
            image.read(sampler_of(&all[i % 3]), *at, texel::FLOAT | texel::FLOAT_COORDINATES).unwrap_or_default();
        assert!(same(texel::FLOAT, ours, seen), "{i}: {ours:x?}, {seen:x?}");
    }
    Ok(())
}

#[test]
fn depth_images_and_images_that_are_read_and_written_are_buffers_too() -> TestResult {
    let mut device = Device::with_image_buffers()?;
    let shape = SHAPES.iter().find(|s| s.ty == "image2d_t").ok_or("no 2D images")?;
    let source = "kernel void k(read_write image2d_depth_t img, global const int4 *at, global const float4 *in) {
        int2 c = at[get_global_id(0)].xy;
        write_imagef(img, c, read_imagef(img, c) + in[get_global_id(0)].x);
    }";
    let program = device.load_as(source, "CL2.0")?;
    let value = shape.image("DEPTH", "FLOAT", 2);
    let places = shape.every_texel();
    let colours = vec![[1.5_f32.to_bits(), 0, 0, 0]; places.len()];
    let given = device.write(program, &value, &places, &colours)?.ok_or("refused")?;
    let ArgValue::Image { texels, .. } = &value else { return Err("no image".into()) };
    let floats =
        |bytes: &[u8]| -> Vec<f32> { bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect() };
    let sums: Vec<f32> = floats(texels).iter().map(|depth| depth + 1.5).collect();
    assert_eq!(floats(&given), sums);
    Ok(())
}
