//! Programs: where they come from, how they were built, and by which id they are known.

pub mod includes;
pub mod record;

use std::hash::Hasher as _;
use std::sync::Arc;

use serde::Serialize;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::driver::devices::Device;
use crate::spool::blobs::{Id, Piece};
use includes::{Included, Name};

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
    /// For a program from a binary that this process was given before: what that was built from. Its code has lines,
    /// and the binary none.
    pub same_as: Option<Arc<Build>>,
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

/// The option by which a program has no partial work-groups.
pub const UNIFORM: &str = "-cl-uniform-work-group-size";

/// Whether launches may have work-groups of which a part is missing at the edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialGroups {
    Refused,
    Accepted,
    Unknown,
}

impl Build {
    /// Whether this is the build that the program has already. (Drivers then keep its variables, as measured.)
    pub fn repeats(&self, earlier: &Build) -> bool {
        let text = |build: &Build| {
            [
                serde_json::to_string(&build.origin),
                serde_json::to_string(&build.headers),
                serde_json::to_string(&build.constants),
                serde_json::to_string(&build.includes),
            ]
            .map(Result::unwrap_or_default)
        };
        (self.stage, &self.options, text(self)) == (earlier.stage, &earlier.options, text(earlier))
    }

    /// What OpenCL says of sizes that the local size does not divide: OpenCL C before 2.0 has no partial groups, and
    /// without `-cl-std` it is such a version; later ones have them unless `-cl-uniform-work-group-size` is given, as
    /// has SPIR-V.
    pub fn partial_groups(&self) -> PartialGroups {
        let options = self.options.as_deref().unwrap_or_default();
        let mut words = options.split_ascii_whitespace();
        if words.clone().any(|word| word == UNIFORM) {
            return PartialGroups::Refused;
        }
        match self.origin {
            Origin::Source { .. } => match words.rfind(|word| word.starts_with("-cl-std=")) {
                None => PartialGroups::Refused,
                Some(word) if word.starts_with("-cl-std=CL1") => PartialGroups::Refused,
                Some(_) => PartialGroups::Accepted,
            },
            Origin::Il { .. } => PartialGroups::Accepted,
            Origin::Binary { .. } | Origin::BuiltIn { .. } | Origin::Linked { .. } => PartialGroups::Unknown,
        }
    }

    /// Returns the id of this build for a device: the same code with the same options on the same device has the same
    /// id, in every process and on every day.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn build(origin: Origin, options: Option<&str>) -> Build {
        let options = options.map(str::to_owned);
        Build { origin, stage: "build", options, headers: Vec::new(), constants: Vec::new(), includes: Vec::new() }
    }

    #[test]
    fn partial_groups_follow_the_language() {
        let source = |options| build(Origin::Source { pieces: Vec::new() }, options).partial_groups();
        assert_eq!(source(None), PartialGroups::Refused);
        assert_eq!(source(Some("-w -cl-std=CL1.2 -DX")), PartialGroups::Refused);
        assert_eq!(source(Some("-cl-std=CL2.0")), PartialGroups::Accepted);
        assert_eq!(source(Some("-cl-std=CL3.0 -cl-uniform-work-group-size")), PartialGroups::Refused);
        assert_eq!(build(Origin::Linked { inputs: Vec::new() }, None).partial_groups(), PartialGroups::Unknown);
    }

    #[test]
    fn a_build_is_repeated_by_the_same_options_alone() {
        let of = |options| build(Origin::Source { pieces: Vec::new() }, options);
        assert!(of(Some("-w")).repeats(&of(Some("-w"))));
        assert!(!of(Some("-w")).repeats(&of(None)));
    }
}
