//! The device that the caller requests: parses the text of `--device`.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::kinds::{DeviceKind, KINDS};
use super::{Capabilities, DeviceSelector, Numbering};

/// A requested device (`--device auto|KIND[:P.D]|NAME`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Sent", from = "Sent")]
pub enum DeviceRequest {
    /// A device of the first kind that has a usable one (no `--device`, or `auto`).
    #[default]
    Auto,
    /// A device of this kind; `"sim".into()` makes such values, for example.
    #[doc(hidden)]
    Kind(&'static DeviceKind, DeviceSelector),
    /// Part of the device's name, of whatever kind; case is ignored.
    Name(String),
}

impl DeviceRequest {
    /// The kinds of devices to try, in this order, and the device to select among those of a kind. At least one.
    #[doc(hidden)]
    pub fn candidates(&self) -> Vec<(&'static DeviceKind, DeviceSelector)> {
        match self {
            DeviceRequest::Auto => {
                let automatic = KINDS.iter().filter(|kind| kind.is_automatic);
                automatic.map(|kind| (kind, DeviceSelector::Any)).collect()
            }
            DeviceRequest::Kind(kind, selector) => vec![(kind, selector.clone())],
            DeviceRequest::Name(name) => {
                let several = KINDS.iter().filter(|kind| kind.numbering != Numbering::Single);
                several.map(|kind| (kind, DeviceSelector::Name(name.clone()))).collect()
            }
        }
    }

    /// Returns whether some device that it may lead to has executors of such capabilities.
    #[doc(hidden)]
    pub fn admits(&self, wanted: impl Fn(&Capabilities) -> bool) -> bool {
        self.candidates().iter().any(|(kind, _)| wanted(&kind.capabilities))
    }
}

/// A request on its way to another process: a name may be that of a kind.
#[derive(Serialize, Deserialize)]
enum Sent {
    Auto,
    Kind(String, DeviceSelector),
    Name(String),
}

impl From<DeviceRequest> for Sent {
    fn from(request: DeviceRequest) -> Sent {
        match request {
            DeviceRequest::Auto => Sent::Auto,
            DeviceRequest::Kind(kind, selector) => Sent::Kind(kind.name.to_owned(), selector),
            DeviceRequest::Name(name) => Sent::Name(name),
        }
    }
}

impl From<Sent> for DeviceRequest {
    fn from(sent: Sent) -> DeviceRequest {
        match sent {
            Sent::Auto => DeviceRequest::Auto,
            Sent::Kind(name, selector) => match DeviceKind::named(&name) {
                Some(kind) => DeviceRequest::Kind(kind, selector),
                None => DeviceRequest::Name(name),
            },
            Sent::Name(name) => DeviceRequest::Name(name),
        }
    }
}

impl From<&str> for DeviceRequest {
    /// Reads the value of `--device`.
    fn from(text: &str) -> DeviceRequest {
        text.parse().unwrap_or_else(|never| match never {})
    }
}

impl FromStr for DeviceRequest {
    type Err = Infallible;

    /// Never fails: text that is neither `auto` nor names a kind of device is taken as part of a device's name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if lower.is_empty() || lower == "auto" {
            return Ok(DeviceRequest::Auto);
        }
        if let Some(kind) = DeviceKind::named(&lower) {
            return Ok(DeviceRequest::Kind(kind, DeviceSelector::Any));
        }
        let one_of_several = lower.split_once(':').and_then(|(name, index)| {
            let kind = DeviceKind::named(name).filter(|kind| kind.numbering != Numbering::Single)?;
            Some(DeviceRequest::Kind(kind, DeviceSelector::of_index(index, kind.numbering)?))
        });
        Ok(one_of_several.unwrap_or_else(|| DeviceRequest::Name(text.to_owned())))
    }
}

impl fmt::Display for DeviceRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceRequest::Auto => f.write_str("auto"),
            DeviceRequest::Kind(kind, DeviceSelector::Any) => f.write_str(kind.name),
            DeviceRequest::Kind(kind, selector) => write!(f, "{}:{selector}", kind.name),
            DeviceRequest::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_flag_is_read_and_written() {
        let read = |text: &str| text.parse::<DeviceRequest>().unwrap_or_default();
        let [opencl, nvidia, simulator] = ["opencl", "nvidia", "sim"].map(|name| DeviceKind::named(name).unwrap());
        let second = DeviceSelector::Index { platform: 1, device: 2 };
        for (text, request, written) in [
            ("auto", DeviceRequest::Auto, "auto"),
            (" ", DeviceRequest::Auto, "auto"),
            ("opencl", DeviceRequest::Kind(opencl, DeviceSelector::Any), "opencl"),
            ("OpenCL:1.2", DeviceRequest::Kind(opencl, second), "opencl:1.2"),
            ("sim", DeviceRequest::Kind(simulator, DeviceSelector::Any), "sim"),
            ("Simulator", DeviceRequest::Kind(simulator, DeviceSelector::Any), "sim"),
            ("nvidia", DeviceRequest::Kind(nvidia, DeviceSelector::Any), "nvidia"),
            ("nvidia:1", DeviceRequest::Kind(nvidia, DeviceSelector::Number(1)), "nvidia:1"),
            ("H200", DeviceRequest::Name("H200".into()), "H200"),
            ("opencl:x", DeviceRequest::Name("opencl:x".into()), "opencl:x"),
            ("sim:0.0", DeviceRequest::Name("sim:0.0".into()), "sim:0.0"),
        ] {
            assert_eq!(read(text), request, "{text}");
            assert_eq!(request.to_string(), written);
        }
    }

    #[test]
    fn automatic_requests_lead_to_every_automatic_kind() {
        let read = |text: &str| text.parse::<DeviceRequest>().unwrap_or_default();
        let automatic = read("auto").candidates();
        assert_eq!(automatic.iter().map(|(kind, _)| kind.name).collect::<Vec<_>>(), ["opencl", "sim"]);
        let checks_races = |text: &str| read(text).admits(|can| can.checks.races);
        assert!(checks_races("auto") && checks_races("sim"));
        assert!(!checks_races("opencl") && !checks_races("opencl:0.0") && !checks_races("H200"));
    }
}
