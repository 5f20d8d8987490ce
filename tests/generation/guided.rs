//! Checks what guides `kassay generate` beyond coverage: branch distances of comparisons, sizes and offsets of
//! launches, images and samplers, and arguments of all types.

use std::path::Path;

use serde_json::Value;

use crate::common::TestResult;
use crate::common::kernels::source_file;
use crate::common::program::{at, json};
use crate::common::testdata;

/// Generates without solving, reruns the suite, and checks that it gives what was claimed. Returns the lines and
/// outcomes of the uncovered goals.
fn open(kernel: &Path, more: &[&str]) -> TestResult<Vec<(u64, String)>> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let limits = ["--no-smt", "--max-execs", "3000", "--attempts", "800"];
    let result = json(&[&["generate", at(kernel), "-o", at(&out)], &limits[..], more].concat(), 0)?;
    let covered = json(&["cover", at(&out.join("suite.toml")), "--device", "sim", "--repeats", "1"], 0)?;
    assert_eq!(covered["coverage"], result["coverage"], "{kernel:?}");
    let goals = result["goals"].as_array().into_iter().flatten().filter(|g| g["status"] != "covered");
    let place = |g: &Value| (g["line"].as_u64().unwrap_or(0), g["outcome"].as_str().unwrap_or_default().to_owned());
    Ok(goals.map(place).collect())
}

fn covers_all(source: &str, more: &[&str]) -> TestResult {
    let (_folder, kernel) = source_file(source);
    let open = open(&kernel, more)?;
    assert!(open.is_empty(), "{open:?}: {source}");
    Ok(())
}

#[test]
fn operands_that_are_nearly_equal_are_made_equal() -> TestResult {
    // Neither number occurs in the code.
    covers_all("kernel void k(global int *out, int a, int b) { out[0] = a == b * 7 + 1000003 ? 1 : 2; }", &[])?;
    covers_all(
        "kernel void k(global int *out, global const uint *in) {
            uint i = get_global_id(0);
            if (in[3] == (in[1] ^ 0x5bd1e995u)) out[i] = 1;
            else out[i] = 0;
        }",
        &[],
    )?;
    covers_all(
        "kernel void k(global int *out, global const char *text) {
            int state = 0;
            for (int i = 0; i < 24; i++) {
                char c = text[i];
                if (state == 0 && c == 'k') state = 1;
                else if (state == 1 && c == '=') state = 2;
                else if (state == 2 && c == '7') state = 3;
            }
            if (state == 3) out[get_global_id(0)] = 1;
        }",
        &[],
    )
}

#[test]
fn floats_halves_vectors_and_nested_structs_are_changed_by_their_parts() -> TestResult {
    covers_all("kernel void k(global int *out, float x) { if (x > 1234.5f && x < 1234.75f) out[0] = 1; }", &[])?;
    covers_all(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void k(global int *out, global const half *in) {
            if (in[1] == (half)12.5f) out[0] = 1;
        }",
        &[],
    )?;
    covers_all(
        "kernel void k(global int *out, int4 v, global const uchar16 *w) {
            if (v.z == 987654) out[0] = 1;
            if (w[1].sb == 199) out[1] = 1;
        }",
        &[],
    )?;
    covers_all(
        "typedef struct { short tag; float3 at; } inner;
        typedef struct { char flag; inner parts[2]; long id; } outer;
        kernel void k(global int *out, outer o, global const outer *all) {
            if (o.parts[1].tag == 321) out[0] = 1;
            if (o.id == 0x123456789abcL) out[1] = 1;
            if (all[0].parts[0].at.y == 42.5f) out[2] = 1;
        }",
        &[],
    )
}

#[test]
fn launches_get_offsets() -> TestResult {
    covers_all("kernel void k(global int *out) { if (get_global_offset(0) == 3) out[0] = 1; }", &[])
}

#[test]
fn images_get_other_sizes_and_samplers() -> TestResult {
    covers_all(
        "kernel void k(global int *out, read_only image2d_t image, sampler_t s) {
            if (get_image_width(image) == 3) out[0] = 1;
            float4 beyond = read_imagef(image, s, (float2)(-4.0f, -4.0f));
            float4 first = read_imagef(image, s, (float2)(0.5f, 0.5f));
            if (beyond.w == 0.0f && first.w != 0.0f) out[1] = 1;
        }",
        &[],
    )
}

#[test]
fn kernels_with_images_are_covered_on_several_threads() -> TestResult {
    for name in ["blur_image", "sobel_image", "palette_1d", "volume_slice"] {
        let open = open(&testdata::kernel(name), &["-j", "3"])?;
        assert!(open.is_empty(), "{name}: {open:?}");
    }
    Ok(())
}
