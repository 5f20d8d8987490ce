//! `--sub-group-size` and the suite's `sub_group_size`: the simulator and devices agree about sub-groups of every size.

use std::path::Path;

use serde_json::Value;

use crate::common::TestResult;
use crate::common::kernels::source_file;
use crate::common::program::{at, json, run as kassay};

/// What it leaves depends on the size of sub-groups. The second kernel requires one, the third does not use any.
const KERNEL: &str = "#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void k(global uint *out, global const uint *in)
{
    uint i = get_global_id(0);
    global uint *o = out + 8 * i;
    o[0] = get_sub_group_local_id();
    o[1] = get_sub_group_id() * 1000 + get_num_sub_groups();
    o[2] = get_sub_group_size();
    o[3] = sub_group_reduce_add(in[i]);
    o[4] = sub_group_scan_inclusive_max(in[i]);
    o[5] = sub_group_scan_exclusive_add(in[i]);
    o[6] = sub_group_broadcast(in[i], get_sub_group_size() - 1);
    o[7] = sub_group_any(in[i] % 16 == 3) + 2 * sub_group_all(in[i] % 16 < 14);
}
__attribute__((intel_reqd_sub_group_size(8)))
kernel void eight(global uint *out, global const uint *in)
{
    out[get_global_id(0)] = sub_group_reduce_add(in[get_global_id(0)]);
}
kernel void none(global uint *out, global const uint *in)
{
    out[get_global_id(0)] = in[get_global_id(0)];
}
";

fn suite(folder: &Path, entry: &str, size: &str) -> TestResult<std::path::PathBuf> {
    let path = folder.join(format!("{entry}.toml"));
    let mut text = format!("kernel = \"k.cl\"\nentry = \"{entry}\"\noptions = [\"-cl-std=CL3.0\"]\n{size}\n");
    for (name, global, local) in [("full", 128, 64), ("ragged", 216, 72)] {
        text += &format!(
            "[[test]]\nname = \"{name}\"\nglobal = [{global}]\nlocal = [{local}]\n[test.args]
in = {{ random = {{ len = {global}, seed = 3, min = 0, max = 1000 }} }}\nout = {{ fill = 0, len = {} }}\n",
            8 * global
        );
    }
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Returns what the tests leave on a device, by file.
fn left(suite: &Path, options: &[&str]) -> TestResult<(Vec<Vec<u8>>, String)> {
    let folder = tempfile::tempdir()?;
    let (out, error, code) = kassay(&[&["run", at(suite), "--save-outputs", at(folder.path())], options].concat())?;
    assert_eq!(code, 0, "{out}{error}");
    let mut files: Vec<_> = walk(folder.path())?;
    files.sort();
    Ok((files.iter().map(std::fs::read).collect::<Result<_, _>>()?, error))
}

fn walk(folder: &Path) -> TestResult<Vec<std::path::PathBuf>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { all.extend(walk(&path)?) } else { all.push(path) }
    }
    Ok(all)
}

#[test]
fn devices_and_the_simulator_agree_about_every_size() -> TestResult {
    let devices = json(&["devices"], 0)?;
    let device =
        devices["devices"].as_array().and_then(|all| all.iter().find(|d| d["code"] == "spirv")).ok_or("none")?;
    let sizes: Vec<u64> =
        device["sub_group_sizes"].as_array().ok_or("no list")?.iter().filter_map(Value::as_u64).collect();
    let (folder, _) = source_file(KERNEL);
    let path = suite(folder.path(), "k", "")?;
    let mut seen = Vec::new();
    for size in sizes.iter().filter(|size| **size <= 64).map(u64::to_string) {
        let of = |device: &str| left(&path, &["--device", device, "--sub-group-size", &size]);
        let (simulated, _) = of("sim")?;
        let (on_device, _) = of("opencl")?;
        assert!(!simulated.is_empty());
        assert!(simulated == on_device, "sub-groups of {size}");
        assert!(!seen.contains(&simulated), "sub-groups of {size} are like others");
        seen.push(simulated);
    }
    // The suite's size is as good as the command's, which takes precedence; the kernel's own stays.
    let (default, _) = left(&path, &["--device", "sim"])?;
    let path = suite(folder.path(), "k", "sub_group_size = 16")?;
    assert!(left(&path, &["--device", "sim"])?.0 == default);
    assert!(left(&path, &["--device", "sim", "--sub-group-size", "4"])?.0 != default);
    let path = suite(folder.path(), "eight", "")?;
    let (eight, _) = left(&path, &["--device", "sim"])?;
    for device in ["sim", "opencl"] {
        assert!(left(&path, &["--device", device, "--sub-group-size", "32"])?.0 == eight, "on {device}");
    }
    Ok(())
}

#[test]
fn a_device_that_picks_another_size_is_told_of() -> TestResult {
    let (folder, _) = source_file(KERNEL);
    let path = suite(folder.path(), "k", "")?;
    let (_, note) = left(&path, &["--device", "opencl"])?;
    // Where the device happens to have the simulator's size, there is nothing to report.
    let (on_device, simulated) = (left(&path, &["--device", "opencl"])?.0, left(&path, &["--device", "sim"])?.0);
    assert_eq!(note.contains("`k` has sub-groups of "), on_device != simulated, "{note}");
    let none = suite(folder.path(), "none", "")?;
    assert!(!left(&none, &["--device", "opencl", "--sub-group-size", "4"])?.1.contains("sub-groups"));
    Ok(())
}

/// Rows of four work-items, where the simulator has one sub-group of them all.
const ROWS: &str = "#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void rows(global uint *out, uint width)
{
    size_t i = get_global_id(1) * width + get_global_id(0);
    out[i] = sub_group_reduce_add((uint)get_local_id(0)) + get_num_sub_groups();
}
";

#[test]
fn a_device_that_forms_other_sub_groups_is_told_of_and_generated_groups_have_whole_ones() -> TestResult {
    let (folder, kernel) = source_file(ROWS);
    let path = folder.path().join("rows.toml");
    let test = "[[test]]\nname = \"t\"\nglobal = [8, 8]\nlocal = [4, 4]
[test.args]\nout = { fill = 0, len = 64 }\nwidth = 8\n";
    std::fs::write(&path, format!("kernel = \"k.cl\"\noptions = [\"-cl-std=CL3.0\"]\n{test}"))?;
    let (on_device, run_note) = left(&path, &["--device", "opencl"])?;
    let is_other = on_device != left(&path, &["--device", "sim"])?.0;
    let (_, mutate_note, _) = kassay(&["mutate", at(&path), "--device", "opencl", "--operators", "AOR"])?;
    for note in [run_note, mutate_note] {
        assert_eq!(note.contains("`rows` has 4 sub-groups in each work-group on "), is_other, "{note}");
    }
    let made = folder.path().join("made");
    let options = ["generate", at(&kernel), "--cl-std", "CL3.0", "--max-execs", "60", "-o", at(&made)];
    let (out, error, code) = kassay(&options)?;
    assert_eq!(code, 0, "{out}{error}");
    let path = made.join("suite.toml");
    let text = std::fs::read_to_string(&path)?;
    let widths: Vec<u64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("local = ["))
        .filter_map(|sizes| sizes.split([',', ']']).next()?.parse().ok())
        .collect();
    assert!(!widths.is_empty() && widths.iter().all(|width| width.is_multiple_of(16)), "{text}");
    let (on_device, note) = left(&path, &["--device", "opencl"])?;
    assert!(on_device == left(&path, &["--device", "sim"])?.0 && !note.contains("sub-groups"), "{note}");
    Ok(())
}

/// Elements of every width, one to sixteen for each work-item.
const BLOCKS: &str =
    "kernel void blocks(global uint *o, global const uint *in, global ushort *s, global uchar *c, global ulong *l)
{
    uint base = get_group_id(0) * get_local_size(0) + get_sub_group_id() * get_max_sub_group_size();
    uint one = intel_sub_group_block_read(in + base);
    uint4 four = intel_sub_group_block_read4(in + 4 * base);
    uint8 eight = intel_sub_group_block_read8(in + 8 * base);
    intel_sub_group_block_write(o + base, one + eight.s7);
    intel_sub_group_block_write4(o + 128 + 4 * base, four * 3u + eight.lo);
    global const ushort *shorts = (global const ushort *)in;
    intel_sub_group_block_write_us2(s + 2 * base, intel_sub_group_block_read_us2(shorts + 2 * base) + (ushort2)(1, 2));
    global const uchar *bytes = (global const uchar *)in;
    intel_sub_group_block_write_uc16(c + 16 * base, intel_sub_group_block_read_uc16(bytes + 16 * base) + (uchar16)(5));
    intel_sub_group_block_write_ul(l + base, intel_sub_group_block_read_ul((global const ulong *)in + base) * 7);
}
";

#[test]
fn block_reads_and_writes_are_those_of_the_device() -> TestResult {
    let (folder, _) = source_file(BLOCKS);
    let path = folder.path().join("blocks.toml");
    let suite = "kernel = \"k.cl\"\noptions = [\"-cl-std=CL3.0\"]\nsub_group_size = 8\n[[test]]\nname = \"t\"\nglobal = [128]
local = [64]\n[test.args]\nin = { random = { len = 1024, seed = 5 } }\no = { fill = 0, len = 640 }\ns = { fill = 0, len = 256 }
c = { fill = 0, len = 2048 }\nl = { fill = 0, len = 128 }\n";
    std::fs::write(&path, suite)?;
    assert!(left(&path, &["--device", "sim"])?.0 == left(&path, &["--device", "opencl"])?.0);
    // One element less than the blocks have is one access out of bounds.
    std::fs::write(&path, suite.replace("len = 2048", "len = 2047"))?;
    let (out, error, code) = kassay(&["check", at(&path)])?;
    assert!(code == 1 && out.contains("c[2047]"), "{out}{error}");
    Ok(())
}
