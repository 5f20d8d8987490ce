//! Describes devices and selects one of several.

use std::fmt;

use kassay_model::code::Target;
use kassay_model::ptx as target;
use serde::{Deserialize, Serialize};

/// [`DeviceInfo::kind`] of the simulator.
pub const SIMULATOR: &str = "simulator";

/// A device's properties as it reports them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// `CL_DEVICE_NAME`.
    pub name: String,
    /// `CL_DRIVER_VERSION`.
    pub driver: String,
    /// `cpu`, `gpu`, `accelerator` or `simulator`.
    pub kind: String,
    /// Such as `SPIR-V_1.2`; empty if it takes no IL.
    pub il_versions: Vec<String>,
    /// `CL_PLATFORM_NAME`.
    pub platform: String,
    /// The platform and device numbers of `opencl:P.D`.
    pub index: Option<(u32, u32)>,
    /// Work-items of a group.
    pub max_work_group_size: u64,
    /// Work-items of a group, by dimension.
    pub max_work_item_sizes: [u64; 3],
    /// Bytes for each work-group.
    pub local_memory: u64,
    /// Bytes of the device.
    pub global_memory: u64,
    /// Bytes of one buffer.
    pub max_allocation: u64,
    /// Whether it has `half`.
    pub fp16: bool,
    /// Whether it has `double`.
    pub fp64: bool,
    /// Whether it has images.
    pub images: bool,
    /// How many work-items sub-groups can be required to have; empty if none can be required.
    pub sub_group_sizes: Vec<u64>,
}

impl DeviceInfo {
    /// Returns whether it is no device of its own, but this host's processors on which a device is simulated.
    pub fn is_simulated(&self) -> bool {
        self.kind == SIMULATOR
    }

    /// Returns the languages that results name: those of IL that it takes, or the PTX that kassay makes for it.
    pub fn languages(&self) -> Vec<String> {
        match self.target() {
            Some(Target::Ptx) => vec![target::NAME.to_owned()],
            _ => self.il_versions.clone(),
        }
    }

    /// Returns the form of code to make for it; `None` if it takes none that kassay can make.
    pub fn target(&self) -> Option<Target> {
        if self.is_simulated() {
            return Some(Target::Native);
        }
        match self.il_versions.is_empty() {
            false => Some(Target::SpirV),
            // NVIDIA's driver has no IL loader, but takes PTX as a program's binary.
            true => self.platform.contains("NVIDIA").then_some(Target::Ptx),
        }
    }
}

/// Selects one device among those of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceSelector {
    /// The first that takes code which kassay can make.
    Any,
    /// Device `device` of platform `platform`, both from 0 in the loader's order.
    Index {
        /// Its number, from 0.
        platform: u32,
        /// Its number in the platform, from 0.
        device: u32,
    },
    /// The device of this number, from 0, among those of its kind.
    Number(u32),
    /// Part of the device's name; case is ignored.
    Name(String),
}

impl DeviceSelector {
    /// Reads what follows a kind's name and a colon: `P.D`, or `N` where devices are numbered within their kind.
    pub fn of_index(text: &str, numbering: Numbering) -> Option<DeviceSelector> {
        if numbering == Numbering::WithinKind {
            return Some(DeviceSelector::Number(text.parse().ok()?));
        }
        let (platform, device) = text.split_once('.')?;
        Some(DeviceSelector::Index { platform: platform.parse().ok()?, device: device.parse().ok()? })
    }
}

/// How the devices of a kind are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// There is one.
    Single,
    /// By the numbers of platform and device.
    ByPlatform,
    /// By their number among those of the kind.
    WithinKind,
}

/// Writes what follows a kind's name and a colon, or the part of a name; nothing for any device.
impl fmt::Display for DeviceSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceSelector::Any => Ok(()),
            DeviceSelector::Index { platform, device } => write!(f, "{platform}.{device}"),
            DeviceSelector::Number(number) => write!(f, "{number}"),
            DeviceSelector::Name(name) => f.write_str(name),
        }
    }
}
