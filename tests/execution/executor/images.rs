//! Checks images of every shape, their formats, and samplers.

use kassay_run::exec::Fault;
use kassay_suite::launch::{Addressing, ArgValue, Filter, ImageShape};

use super::support::*;

/// Nearest texel, by unnormalized coordinates.
fn nearest() -> ArgValue {
    ArgValue::Sampler { addressing: Addressing::ClampToEdge, filter: Filter::Nearest, normalized: false }
}

#[test]
fn images_of_each_shape_are_read() -> TestResult {
    let (w, h, n) = (4_u64, 3_u64, 2_u64);
    let int4 = "(int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0)";
    for (ty, shape, coordinates, sampler) in [
        ("image1d_t", ImageShape::D1 { width: w }, "(int)get_global_id(0)".to_owned(), true),
        ("image1d_buffer_t", ImageShape::D1Buffer { width: w }, "(int)get_global_id(0)".to_owned(), false),
        ("image1d_array_t", ImageShape::D1Array { width: w, layers: h }, format!("{int4}.xy"), true),
        ("image2d_t", ImageShape::D2 { width: w, height: h }, format!("{int4}.xy"), true),
        ("image2d_array_t", ImageShape::D2Array { width: w, height: h, layers: n }, int4.to_owned(), true),
        ("image3d_t", ImageShape::D3 { width: w, height: h, depth: n }, int4.to_owned(), true),
    ] {
        let read = if sampler { "img, smp" } else { "img" };
        let source = format!(
            "kernel void k(read_only {ty} img, sampler_t smp, global uint *out) {{
                size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
                out[i] = read_imageui({read}, {coordinates}).y; }}"
        );
        let global = match &shape {
            ImageShape::D1 { .. } | ImageShape::D1Buffer { .. } => [w, 1, 1],
            ImageShape::D1Array { .. } | ImageShape::D2 { .. } => [w, h, 1],
            ImageShape::D2Array { .. } | ImageShape::D3 { .. } => [w, h, n],
        };
        let count = global.iter().product::<u64>() as i32;
        let texels: Vec<u8> = (0..count).flat_map(|i| [0, i as u8, 0, 0]).collect();
        let args =
            vec![image(shape, format("RGBA", "UNSIGNED_INT8"), texels), nearest(), ints(&vec![0; count as usize])];
        let seen = completed(run(&source, range(global), args)?).map_err(|e| format!("{ty}: {e}"))?;
        assert_eq!(ints_of(&seen, 2)?, (0..count).collect::<Vec<_>>(), "{ty}");
        assert_eq!(seen.outputs.len(), 1, "a read-only image is no output");
    }
    Ok(())
}

#[test]
fn images_of_several_formats_are_written() -> TestResult {
    let source = "kernel void k(write_only image2d_t img, global int *n) {
            int2 p = (int2)(get_global_id(0), get_global_id(1));
            write_imagef(img, p, (float4)(p.x, p.y * 0.5f, 0, 1)); }";
    for (order, ty, expected) in [
        ("RGBA", "FLOAT", bytes(&[1.0, 0.5, 0.0, 1.0], f32::to_le_bytes)),
        ("RGBA", "UNORM_INT8", vec![255, 128, 0, 255]),
        ("BGRA", "UNORM_INT8", vec![0, 128, 255, 255]),
        ("R", "FLOAT", bytes(&[1.0], f32::to_le_bytes)),
        ("RG", "HALF_FLOAT", vec![0x00, 0x3c, 0x00, 0x38]),
    ] {
        let texel = expected.len();
        let shape = ImageShape::D2 { width: 3, height: 2 };
        let args = vec![image(shape, format(order, ty), vec![0; 6 * texel]), ints(&[0])];
        let seen = completed(run(source, range([3, 2]), args)?).map_err(|e| format!("{order} {ty}: {e}"))?;
        assert_eq!(output(&seen, 0)?[4 * texel..5 * texel], expected, "{order} {ty}");
    }
    Ok(())
}

#[test]
fn an_image_format_that_the_device_lacks_is_rejected_with_those_it_has() -> TestResult {
    let source = "kernel void k(read_only image2d_t img, global int *n) { n[0] = get_image_width(img); }";
    let shape = ImageShape::D2 { width: 2, height: 2 };
    let rejected =
        run(source, range([1]), vec![image(shape.clone(), format("RGB", "FLOAT"), vec![0; 48]), ints(&[0])])?;
    let Err(Fault::Rejected { explanation, .. }) = rejected else { return Err(format!("{rejected:?}").into()) };
    assert!(explanation.contains("RGBA/UNORM_INT8"), "{explanation}");
    let rejected = run(source, range([1]), vec![image(shape, format("RGBA", "WIDE"), vec![0; 48]), ints(&[0])])?;
    assert!(matches!(rejected, Err(Fault::Rejected { explanation, .. }) if explanation.contains("UNSIGNED_INT32")));
    Ok(())
}

#[test]
fn samplers_decide_how_an_image_is_read() -> TestResult {
    let source = "kernel void k(read_only image2d_t img, sampler_t smp, global float *out, float x) {
            out[0] = read_imagef(img, smp, (float2)(x, 0.5f)).x; }";
    let read = |x: f32, addressing, filter, normalized| -> Result<f32, Box<dyn std::error::Error>> {
        let texels = bytes(&[0.0, 1.0, 2.0, 3.0], f32::to_le_bytes);
        let args = vec![
            image(ImageShape::D2 { width: 4, height: 1 }, format("R", "FLOAT"), texels),
            ArgValue::Sampler { addressing, filter, normalized },
            floats(&[0.0]),
            ArgValue::Value(x.to_le_bytes().to_vec()),
        ];
        Ok(floats_of(&completed(run(source, range([1]), args)?)?, 2)?[0])
    };
    assert_eq!(read(2.2, Addressing::ClampToEdge, Filter::Nearest, false)?, 2.0);
    assert_eq!(read(2.0, Addressing::ClampToEdge, Filter::Linear, false)?, 1.5);
    assert_eq!(read(0.9, Addressing::ClampToEdge, Filter::Nearest, true)?, 3.0);
    assert_eq!(read(9.0, Addressing::ClampToEdge, Filter::Nearest, false)?, 3.0);
    assert_eq!(read(1.3, Addressing::Repeat, Filter::Nearest, true)?, 1.0);
    Ok(())
}
