//! The device that the caller requests: parses the text of `--device`.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A requested device (`--device auto|sim|opencl[:P.D]|NAME`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceRequest {
    /// The first device that takes SPIR-V, or the simulator if there is none (no `--device`, or `auto`).
    #[default]
    Auto,
    /// The first device that takes SPIR-V (`opencl`).
    Any,
    /// `opencl:P.D`: device D of platform P, both from 0 in the loader's order.
    Opencl { platform: u32, device: u32 },
    /// A part of the device's name; case is ignored.
    Name(String),
    /// `sim`.
    Simulator,
}

impl FromStr for DeviceRequest {
    type Err = Infallible;

    /// Never fails: text that is neither `auto`, `sim` nor `opencl[:P.D]` is taken as part of a name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if lower.is_empty() || lower == "auto" {
            return Ok(DeviceRequest::Auto);
        }
        if lower == "opencl" {
            return Ok(DeviceRequest::Any);
        }
        if lower == "sim" || lower == "simulator" {
            return Ok(DeviceRequest::Simulator);
        }
        let index = lower.strip_prefix("opencl:").and_then(|rest| {
            let (platform, device) = rest.split_once('.')?;
            Some((platform.parse().ok()?, device.parse().ok()?))
        });
        Ok(match index {
            Some((platform, device)) => DeviceRequest::Opencl { platform, device },
            None => DeviceRequest::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for DeviceRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceRequest::Auto => write!(f, "auto"),
            DeviceRequest::Any => write!(f, "opencl"),
            DeviceRequest::Opencl { platform, device } => write!(f, "opencl:{platform}.{device}"),
            DeviceRequest::Name(name) => write!(f, "{name}"),
            DeviceRequest::Simulator => write!(f, "sim"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_flag_is_read() {
        let read = |text: &str| text.parse::<DeviceRequest>().unwrap_or_default();
        assert_eq!(read("auto"), DeviceRequest::Auto);
        assert_eq!(read("opencl"), DeviceRequest::Any);
        assert_eq!(read("OpenCL:1.2"), DeviceRequest::Opencl { platform: 1, device: 2 });
        assert_eq!(read("sim"), DeviceRequest::Simulator);
        assert_eq!(read("H200"), DeviceRequest::Name("H200".into()));
        assert_eq!(read("opencl:x"), DeviceRequest::Name("opencl:x".into()));
    }
}
