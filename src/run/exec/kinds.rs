//! The kinds of devices that there are: a row for each says all that differs between them from outside.

use std::fmt;

use kassay_base::error::Result;

use super::device::Numbering;
use super::opencl::{self, WorkerOptions};
use super::{Capabilities, DeviceInfo, DeviceSelector, StartingExecutor, Target, simulator};

/// Begins to start a number of executors of the selected device.
type Start = fn(&DeviceSelector, &WorkerOptions, usize) -> Result<Vec<Box<dyn StartingExecutor>>>;

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
    /// How `--device` selects one of several devices, if not by name.
    pub numbering: Numbering,
    /// Whether `--device auto` may lead to it.
    pub is_automatic: bool,
    /// Returns why there is no device of it, as far as that shows without starting anything.
    pub absence: fn(&WorkerOptions) -> Option<String>,
    /// Lists its devices.
    pub devices: fn(&WorkerOptions) -> Result<Vec<DeviceInfo>>,
    /// Begins to start that many executors of the selected device.
    pub start: Start,
}

/// The help of `--device`.
pub const DEVICE_HELP: &str = "auto (OpenCL, or the simulator if there is no OpenCL device), sim, opencl, opencl:P.D \
                               (platform and device), nvidia, nvidia:N, or part of a device's name";

/// Every kind, those first that `--device auto` prefers. The last one is always there.
pub static KINDS: &[DeviceKind] = &[
    DeviceKind {
        name: "opencl",
        aliases: &[],
        title: "an OpenCL device",
        capabilities: opencl::CAPABILITIES,
        numbering: Numbering::ByPlatform,
        is_automatic: true,
        absence: opencl::absence,
        devices: |options| opencl::devices(options, |target| target != Some(Target::Ptx)),
        start: |selector, options, count| opencl::start(Target::SpirV, selector, options, count),
    },
    // Chosen only by name: results of floating-point code and of races may be others than elsewhere.
    DeviceKind {
        name: "nvidia",
        aliases: &[],
        title: "an NVIDIA GPU",
        capabilities: opencl::NVIDIA_CAPABILITIES,
        numbering: Numbering::WithinKind,
        is_automatic: false,
        absence: opencl::absence,
        devices: |options| opencl::devices(options, |target| target == Some(Target::Ptx)),
        // Further processes would only open contexts of their own on the same GPU, and compile every module again.
        start: |selector, options, _| opencl::start(Target::Ptx, selector, options, 1),
    },
    DeviceKind {
        name: "sim",
        aliases: &["simulator"],
        title: "the simulator",
        capabilities: simulator::CAPABILITIES,
        numbering: Numbering::Single,
        is_automatic: true,
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
        match (self.numbering, device.index) {
            (Numbering::ByPlatform, Some((platform, index))) => format!("{}:{platform}.{index}", self.name),
            (Numbering::WithinKind, Some((_, index))) => format!("{}:{index}", self.name),
            (Numbering::Single, _) | (_, None) => self.name.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Joins;

    #[test]
    fn every_kind_has_a_name_of_its_own_in_the_help() {
        for kind in KINDS {
            let names = || [kind.name].into_iter().chain(kind.aliases.iter().copied());
            for name in names() {
                assert_eq!(DeviceKind::named(name), Some(kind), "{name} names another kind, too");
                assert_eq!(name, name.to_ascii_lowercase(), "names are compared in lower case");
            }
            let words: Vec<&str> = DEVICE_HELP.split([' ', ',', ':']).collect();
            assert!(words.contains(&kind.name), "the help does not mention {}", kind.name);
        }
    }

    #[test]
    fn only_gpus_join_launches_by_themselves() {
        let joins: Vec<&str> =
            KINDS.iter().filter(|kind| kind.capabilities.joins == Joins::Always).map(|kind| kind.name).collect();
        assert_eq!(joins, ["nvidia"]);
    }

    #[test]
    fn ids_select_their_device() {
        for kind in KINDS {
            let device =
                DeviceInfo { index: (kind.numbering != Numbering::Single).then_some((3, 1)), ..simulator::device() };
            let id = kind.id(&device);
            let request: crate::exec::DeviceRequest = id.parse().unwrap();
            assert_eq!(request.to_string(), id);
            assert_eq!(request.candidates().iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [kind]);
        }
    }
}
