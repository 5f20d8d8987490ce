//! Lists the OpenCL devices and selects the requested one.

use opencl3::device::{self, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU};
use opencl3::platform::platform;
use opencl3::types::{cl_device_id, cl_platform_id};

use super::super::errors;
use super::drivers;
use crate::exec::protocol::Reply;
use crate::exec::{DeviceInfo, DeviceSelector, Target};

/// A device with its platform.
#[derive(Debug, Clone, Copy)]
pub struct FoundDevice {
    pub platform: cl_platform_id,
    pub device: cl_device_id,
    index: (u32, u32),
}

/// All devices that the loader reports, those of kassay's own runtime first. `Err`: the reply to the parent.
pub fn all() -> Result<Vec<FoundDevice>, Box<Reply>> {
    // -1001: the loader found no driver at all.
    let mut platforms = match platform::get_platform_ids() {
        Ok(platforms) => platforms,
        Err(-1001 | -32) => Vec::new(),
        Err(-2000) => {
            return Err(Box::new(Reply::Broken {
                what: "OpenCL's loader libOpenCL.so.1 cannot be loaded".into(),
                help: "install it (Debian: apt-get install ocl-icd-libopencl1)".into(),
            }));
        }
        Err(code) => {
            return Err(Box::new(Reply::Broken {
                what: format!("OpenCL lists no platforms: {}", errors::name(code)),
                help: "`clinfo` may tell which driver fails".into(),
            }));
        }
    };
    drivers::sort(&mut platforms);
    let mut found = Vec::new();
    for (p, platform) in (0..).zip(platforms) {
        // A platform that returns an error counts as having no devices; the others may still serve.
        for (d, device) in (0..).zip(device::get_device_ids(platform, CL_DEVICE_TYPE_ALL).unwrap_or_default()) {
            found.push(FoundDevice { platform, device, index: (p, d) });
        }
    }
    Ok(found)
}

/// The device that `selector` selects among those that take code of the form `target`, with its properties.
pub fn choose(selector: &DeviceSelector, target: Target) -> Result<(FoundDevice, DeviceInfo), Box<Reply>> {
    let found = all()?;
    let mut seen = Vec::new();
    let mut named = None;
    let mut number = 0;
    for candidate in found {
        let info = describe(candidate);
        let is_of_kind = info.target() == Some(target);
        let fits = match selector {
            DeviceSelector::Any => is_of_kind,
            DeviceSelector::Number(wanted) => is_of_kind && number == *wanted,
            DeviceSelector::Index { platform, device } => candidate.index == (*platform, *device),
            DeviceSelector::Name(name) => info.name.to_lowercase().contains(&name.to_lowercase()),
        };
        number += u32::from(is_of_kind);
        if fits && is_of_kind {
            return Ok((candidate, info));
        }
        if fits && named.is_none() {
            named = Some(info.clone());
        }
        seen.push(info);
    }
    Err(Box::new(match named {
        Some(info) => Reply::NoIl(info),
        None => Reply::NoDevice(seen),
    }))
}

/// The query of the extension cl_intel_required_subgroup_size.
const CL_DEVICE_SUB_GROUP_SIZES_INTEL: u32 = 0x4108;

/// Queries a device's properties; those that it does not report are empty or 0.
pub fn describe(found: FoundDevice) -> DeviceInfo {
    use device::{
        CL_DEVICE_EXTENSIONS, CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_IL_VERSION, CL_DEVICE_IMAGE_SUPPORT,
        CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
        CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_NAME, CL_DEVICE_TYPE, CL_DRIVER_VERSION,
    };
    let data = |param| device::get_device_data(found.device, param).unwrap_or_default();
    let text = |param| trimmed(&data(param));
    let numbers = |param| {
        data(param).chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default())).collect::<Vec<_>>()
    };
    let number = |param| numbers(param).first().copied().unwrap_or(0);
    let extensions = text(CL_DEVICE_EXTENSIONS);
    let has = |name: &str| extensions.split_whitespace().any(|e| e == name);
    // The extension cl_khr_il_program uses the same query number as OpenCL 2.1.
    let il_versions = text(CL_DEVICE_IL_VERSION).split_whitespace().map(str::to_owned).collect();
    let sizes = numbers(CL_DEVICE_MAX_WORK_ITEM_SIZES);
    let size = |dim: usize| sizes.get(dim).copied().unwrap_or(1);
    let kind = match number(CL_DEVICE_TYPE) {
        t if t & CL_DEVICE_TYPE_GPU != 0 => "gpu",
        t if t & CL_DEVICE_TYPE_CPU != 0 => "cpu",
        _ => "accelerator",
    };
    let mut info = DeviceInfo {
        name: text(CL_DEVICE_NAME),
        driver: text(CL_DRIVER_VERSION),
        kind: kind.to_owned(),
        il_versions,
        platform: trimmed(&platform::get_platform_data(found.platform, platform::CL_PLATFORM_NAME).unwrap_or_default()),
        index: Some(found.index),
        max_work_group_size: number(CL_DEVICE_MAX_WORK_GROUP_SIZE),
        max_work_item_sizes: [size(0), size(1), size(2)],
        local_memory: number(CL_DEVICE_LOCAL_MEM_SIZE),
        global_memory: number(CL_DEVICE_GLOBAL_MEM_SIZE),
        max_allocation: number(CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        fp16: has("cl_khr_fp16"),
        fp64: has("cl_khr_fp64"),
        images: data(CL_DEVICE_IMAGE_SUPPORT).first().is_some_and(|b| *b != 0),
        sub_group_sizes: match has("cl_intel_required_subgroup_size") {
            true => numbers(CL_DEVICE_SUB_GROUP_SIZES_INTEL),
            false => Vec::new(),
        },
    };
    // In PTX, images are buffers.
    info.images |= info.target() == Some(Target::Ptx);
    info
}

fn trimmed(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned()
}
