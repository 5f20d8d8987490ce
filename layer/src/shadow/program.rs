//! Programs: where they come from, how they were built, and by which id they are known.

use std::hash::Hasher as _;
use std::sync::Arc;

use serde::Serialize;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::includes::{Included, Name};

/// A device, as results tell it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    pub name: String,
    pub vendor: String,
    /// `CL_DEVICE_VERSION`.
    pub version: String,
    /// `CL_DRIVER_VERSION`.
    pub driver: String,
}

/// A 128-bit hash (SipHash-1-3 with zero keys) in 32 hexadecimal digits.
pub type Id = String;

/// Where a program's code comes from.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case", tag = "origin")]
pub enum Origin {
    Source { pieces: Vec<Piece> },
    Il { il: Piece },
    Binary { binary: Vec<Piece> },
    BuiltIn { kernels: String },
    Linked { inputs: Vec<Id> },
}

/// Contents in the spool.
#[derive(Debug, Clone, Serialize)]
pub struct Piece {
    pub blob: Id,
    pub bytes: u64,
}

/// A header of `clCompileProgram`.
#[derive(Debug, Clone, Serialize)]
pub struct Header {
    pub name: String,
    pub pieces: Vec<Piece>,
}

/// A value of `clSetProgramSpecializationConstant`.
#[derive(Debug, Clone, Serialize)]
pub struct SpecialisationConstant {
    pub id: u32,
    /// The bytes in hexadecimal, in the host's order.
    pub value: String,
}

/// A program object.
pub struct Program {
    pub references: u32,
    pub origin: Origin,
    pub constants: Vec<SpecialisationConstant>,
    /// What its source includes.
    pub includes: Vec<Name>,
    /// The last build, compilation or link.
    pub build: Option<Arc<Build>>,
}

/// One build of a program.
#[derive(Debug, Clone)]
pub struct Build {
    pub origin: Origin,
    /// `build`, `compile` or `link`.
    pub stage: &'static str,
    pub options: Option<String>,
    pub headers: Vec<Header>,
    pub constants: Vec<SpecialisationConstant>,
    /// The files that its source includes, as they were.
    pub includes: Vec<Included>,
}

impl Build {
    /// Returns the id of this build for a device: the same code with the same options on the same device has the same id,
    /// in every process and on every day.
    pub fn id(&self, device: &Device) -> Id {
        let mut hash = SipHasher13::new();
        let mut add = |text: &str| {
            hash.write_u64(text.len() as u64);
            hash.write(text.as_bytes());
        };
        // The hash of how it is shown covers every field, of whatever kind.
        for part in [
            serde_json::to_string(&self.origin),
            serde_json::to_string(&self.headers),
            serde_json::to_string(&self.constants),
            serde_json::to_string(&self.includes),
            serde_json::to_string(device),
        ] {
            add(&part.unwrap_or_default());
        }
        add(self.stage);
        add(self.options.as_deref().unwrap_or("\0"));
        format!("{:032x}", hash.finish128().as_u128())
    }
}
