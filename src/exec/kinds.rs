//! The kinds of devices that there are: a row for each says all that differs between them from outside.

use std::fmt;

use super::opencl::{self, WorkerOptions};
use super::{Capabilities, DeviceInfo, DeviceSelector, StartingExecutor, simulator};
use crate::error::Result;

/// A kind of device.
pub struct DeviceKind {
    /// Its name in `--device` and in the ids of its devices.
    pub name: &'static str,
    /// Other names that `--device` takes.
    pub aliases: &'static [&'static str],
    /// What messages call that which runs a kernel.
    pub title: &'static str,
    /// What its executors can do, as far as that is known before one is ready.
    pub capabilities: Capabilities,
    /// Whether there may be several devices of it, which `--device` then selects by index or by name.
    pub has_several: bool,
    /// Returns why there is no device of it, as far as that shows without starting anything.
    pub absence: fn(&WorkerOptions) -> Option<String>,
    /// Lists its devices.
    pub devices: fn(&WorkerOptions) -> Result<Vec<DeviceInfo>>,
    /// Begins to start that many executors of the selected device.
    pub start: fn(&DeviceSelector, &WorkerOptions, usize) -> Result<Vec<Box<dyn StartingExecutor>>>,
}

/// Every kind, those first that `--device auto` prefers. The last one is always there.
pub static KINDS: [DeviceKind; 2] = [
    DeviceKind {
        name: "opencl",
        aliases: &[],
        title: "an OpenCL device",
        capabilities: opencl::CAPABILITIES,
        has_several: true,
        absence: opencl::absence,
        devices: opencl::probe_devices,
        start: opencl::start,
    },
    DeviceKind {
        name: "sim",
        aliases: &["simulator"],
        title: "the simulator",
        capabilities: simulator::CAPABILITIES,
        has_several: false,
        absence: |_| None,
        devices: |_| Ok(vec![simulator::device()]),
        start: |_, _, count| Ok(simulator::start(count)),
    },
];

impl DeviceKind {
    /// Finds the kind of a name in lower case.
    pub fn named(name: &str) -> Option<&'static DeviceKind> {
        KINDS.iter().find(|kind| kind.name == name || kind.aliases.contains(&name))
    }

    /// The value of `--device` for one of its devices.
    pub fn id(&self, device: &DeviceInfo) -> String {
        match device.index {
            Some((platform, index)) => format!("{}:{platform}.{index}", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// A kind is its name.
impl PartialEq for DeviceKind {
    fn eq(&self, other: &DeviceKind) -> bool {
        self.name == other.name
    }
}

impl Eq for DeviceKind {}

impl fmt::Debug for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceKind({})", self.name)
    }
}
