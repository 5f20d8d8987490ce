//! The files that the layer writes of programs and launches, as `layer/README.md` describes them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::hexadecimal::hexadecimal;

/// `programs/ID.json`: a program as it was built.
#[derive(Debug, Clone, Deserialize)]
pub struct Program {
    /// Its id.
    pub id: String,
    /// What it was built from.
    #[serde(flatten)]
    pub origin: Origin,
    /// `build`, `compile` or `link`.
    #[serde(default)]
    pub stage: String,
    /// The build options; `None` if the program passed null.
    #[serde(default)]
    pub options: Option<String>,
    /// Headers of `clCompileProgram`.
    #[serde(default)]
    pub headers: Vec<Header>,
    /// Values of specialisation constants.
    #[serde(default)]
    pub constants: Vec<Constant>,
    /// Files that its source includes, as they were during the build.
    #[serde(default)]
    pub includes: Vec<Included>,
    /// What it was built for.
    pub device: Device,
    /// How the build ended.
    pub status: BuildStatus,
    /// What the driver's build log says, if it failed.
    #[serde(default)]
    pub log: Option<String>,
    /// What the driver hands out for a program that has no source.
    #[serde(default)]
    pub built: Option<Piece>,
    /// The working directory during the build.
    #[serde(default)]
    pub directory: Option<PathBuf>,
}

/// How a build ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildStatus {
    /// It was built.
    Success,
    /// The driver refused it.
    Error,
    /// It went on while the program did something else.
    Unknown,
}

/// Where a program's code comes from.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "origin")]
pub enum Origin {
    /// Texts, one after the other.
    Source {
        /// The texts.
        pieces: Vec<Piece>,
    },
    /// An intermediate language, such as SPIR-V.
    Il {
        /// The module.
        il: Piece,
    },
    /// Binaries, one for each device that has one.
    Binary {
        /// The binaries.
        binary: Vec<Piece>,
    },
    /// Names of kernels that the driver has.
    BuiltIn {
        /// Their names, as the host program wrote them, divided by semicolons.
        kernels: String,
    },
    /// The programs that it was linked from.
    Linked {
        /// Their ids.
        inputs: Vec<String>,
    },
}

/// Contents in the spool: a file's name and size.
#[derive(Debug, Clone, Deserialize)]
pub struct Piece {
    /// The name in `blobs/`.
    pub blob: String,
}

/// A header of `clCompileProgram`.
#[derive(Debug, Clone, Deserialize)]
pub struct Header {
    /// The name by which sources include it.
    pub name: String,
    /// Its texts, one after the other.
    pub pieces: Vec<Piece>,
}

/// A file that a source includes.
#[derive(Debug, Clone, Deserialize)]
pub struct Included {
    /// The folder in which it was found: of `-I`, or the working directory.
    pub folder: PathBuf,
    /// Its path in that folder.
    pub name: String,
    /// The name of its contents in `blobs/`.
    pub blob: String,
}

/// A value of `clSetProgramSpecializationConstant`.
#[derive(Debug, Clone, Deserialize)]
pub struct Constant {
    /// Its number.
    pub id: u32,
    /// The bytes of its value in hexadecimal.
    pub value: String,
}

impl Constant {
    /// The bits of its value; `None` if it has more than 64, or none.
    pub fn bits(&self) -> Option<u64> {
        let bytes = hexadecimal(&self.value).filter(|bytes| (1..=8).contains(&bytes.len()))?;
        Some(bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }
}

/// A device as its driver describes it.
#[derive(Debug, Clone, Deserialize)]
pub struct Device {
    pub name: String,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub driver: String,
    /// `cpu`, `gpu` or `accelerator`; other words if the driver does not tell.
    #[serde(default)]
    pub kind: String,
    /// Intermediate languages that it takes, with blanks between them.
    #[serde(default)]
    pub il_version: String,
}

/// `launches/N.json`: a launch that was kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Launch {
    /// The program's id.
    pub program: String,
    /// The kernel's name.
    pub name: String,
    /// Its number among those of its kernel in its process, from 1.
    pub launch: u64,
    /// Its number among all launches of its process.
    pub sequence: u64,
    /// Linux's number of the host thread that asked for it.
    #[serde(default)]
    pub thread: u64,
    /// Why it was chosen: `all`, `shape`, `scalar`, `number` or `coverage`.
    #[serde(default)]
    pub chosen: String,
    /// `global_work_offset`; `None`: it was null.
    #[serde(default)]
    pub offset: Option<Vec<u64>>,
    /// `global_work_size`.
    pub global: Vec<u64>,
    /// `local_work_size`; `None`: it was null.
    #[serde(default)]
    pub local: Option<Vec<u64>>,
    /// By position.
    pub arguments: Vec<Argument>,
    /// The buffers and images that arguments lead to.
    pub memory: Vec<Memory>,
    /// Regions that only other memory points to.
    #[serde(default)]
    pub indirect: Vec<usize>,
}

impl Launch {
    /// Whether it was chosen because it covers what no earlier launch of its kernel had covered.
    pub fn is_for_coverage(&self) -> bool {
        self.chosen == "coverage"
    }
}

/// An argument of a launch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Argument {
    /// By value: bytes in hexadecimal.
    Value {
        bytes: String,
    },
    /// Local memory, in bytes.
    Local {
        size: u64,
    },
    /// A null pointer.
    Null,
    /// A part of a region, in bytes.
    Memory {
        memory: usize,
        offset: u64,
        size: u64,
        /// `CL_MEM_FLAGS` of the buffer or image that the argument is.
        #[serde(default)]
        flags: u64,
    },
    /// A pointer into shared virtual memory, in bytes from the start of the region.
    Svm {
        memory: usize,
        offset: u64,
    },
    Sampler {
        normalized: bool,
        addressing: u32,
        filter: u32,
    },
}

/// A region of memory that no other region overlaps.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Memory {
    pub size: u64,
    /// Whether the kernel may write to it.
    #[serde(default)]
    pub may_be_written: bool,
    /// Whether anything may have written to it before; `None`: not known.
    #[serde(default)]
    pub written: Option<bool>,
    /// The contents before the launch.
    #[serde(default)]
    pub before: Option<String>,
    /// The contents after it.
    #[serde(default)]
    pub after: Option<String>,
    #[serde(default)]
    pub image: Option<Image>,
}

/// What is known of an image; constants are OpenCL's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// `CL_MEM_OBJECT_IMAGE2D`, …
    pub object: u32,
    pub channel_order: u32,
    pub channel_type: u32,
    /// Bytes of a texel.
    pub element: u64,
    /// Sizes as regions of commands have them.
    pub extent: [u64; 3],
}
