//! The map of a module for hosts of a user's own (`kassay lower --map`): what its probe buffer holds and means.

use std::collections::BTreeMap;
use std::path::Path;

use kassay_base::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mcdc::McdcDecision;
use super::{Header, Location, mutate, store};

/// The map of a kernel that `kassay lower` wove probes, mutants or guards into: what a host program has to supply, and
/// what it finds in the probe buffer afterwards (docs/bring-your-own-host.md). Numbers of words count 32-bit words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeMap {
    /// The fields that every result begins with; `device` is null.
    #[serde(flatten)]
    pub header: Header,
    /// Version of the probe buffer's layout.
    pub layout: u32,
    /// What was woven in.
    pub purpose: Purpose,
    /// How the kernel was compiled.
    pub options: CompileOptions,
    /// With mutants: the operators, as `kassay mutate` names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operators: Option<String>,
    /// With mutants, by file: hash of the text that locations refer to, as in the results of `kassay mutate`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// The modules, in the order of the mutants in them; without mutants one.
    pub modules: Vec<Module>,
    /// Further kernels of the file that the modules hold as they are, with nothing woven in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_kernels: Vec<String>,
    /// Arguments by position: the kernel's own, then implicit ones, then the probe buffer.
    pub args: Vec<Arg>,
    /// Value of the attribute `reqd_work_group_size`.
    pub required_local: Option<[u64; 3]>,
    /// With coverage probes: the buffer and what its bits mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageMap>,
    /// With mutants or guards: the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guards: Option<GuardMap>,
    /// With mutants: those in the modules, by module and number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<Mutant>,
    /// With mutants: those that no module holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl ProbeMap {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.map/1";

    /// The layout of probe buffers that this version of kassay weaves and reads.
    pub const LAYOUT: u32 = 1;

    /// The layout of those with a slot for each work-item, which kassay reads as well.
    pub const LAYOUT_OF_COUNTS: u32 = 2;
}

/// What was woven into a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Probes that record which outcomes are covered.
    Coverage,
    /// Mutants, selected by number, and guards.
    Mutants,
    /// Guards: checks of bounds and divisions, and a limit for loops.
    Guards,
}

impl Purpose {
    /// Returns the word that maps and messages use.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Coverage => "coverage",
            Purpose::Mutants => "mutants",
            Purpose::Guards => "guards",
        }
    }
}

/// How a kernel was compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompileOptions {
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Folders in which clang looked for included files.
    pub include_dirs: Vec<String>,
    /// The version of OpenCL C, such as `CL2.0`, if an option named one.
    pub cl_std: Option<String>,
    /// Arguments that clang got unchanged.
    pub clang_args: Vec<String>,
}

/// A file of code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// Path of the file as it was given; null if the code was not written to a file.
    pub file: Option<String>,
    /// Format of the code: `SPIR-V`.
    pub format: String,
    /// FNV-1a hash (64 bits) of the file's bytes, in hexadecimal.
    pub hash: String,
    /// Options for clBuildProgram.
    pub build_options: String,
    /// With mutants: how many it has, with the numbers from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutants: Option<u32>,
    /// With mutants: the module that tells which of them a launch reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<ReachModule>,
    /// With mutants or guards: where the guarded instructions and loops are, by their number in a fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<GuardedPlace>,
}

/// A module that computes what the original does, and records which mutants a launch reaches. Its probe buffer, zero
/// before a launch, has a header of 16 words, and 16 mutants in each word after it. Mutant n, from 1, has two bits of
/// word `16 + (n - 1) / 16`, from bit `(n - 1) % 16 * 2` on: it is reached; it would change a value, or has to run to
/// tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReachModule {
    /// Path of the file as it was given; null if the code was not written to a file.
    pub file: Option<String>,
    /// FNV-1a hash (64 bits) of the file's bytes, in hexadecimal.
    pub hash: String,
    /// Options for clBuildProgram.
    pub build_options: String,
    /// Length of the buffer in words.
    pub length: u32,
}

/// An argument that a launch has to set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Arg {
    /// Position, from 0.
    pub position: u32,
    /// Null where the IR has no names.
    pub name: Option<String>,
    /// Type as written in the source, with typedefs resolved.
    #[serde(rename = "type")]
    pub type_name: String,
    /// `private`, `global`, `constant`, `local`, `generic`.
    pub address_space: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where an argument comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A parameter of the kernel.
    Parameter,
    /// The buffer of a pointer in a struct that the kernel takes by value; the pointer's own value is ignored.
    Member {
        /// Position of the struct.
        parameter: u32,
        /// Bytes from the start of the struct to the pointer.
        offset: u64,
    },
    /// A program-scope variable in global memory: a buffer that has to hold `initial` before each launch.
    Variable {
        /// Size in bytes.
        size: u64,
        /// Its initial contents in hexadecimal, two digits a byte; empty if all bytes are zero.
        initial: String,
    },
    /// The probe buffer.
    Probe,
}

/// The probe buffer of a module with coverage probes, and the sites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageMap {
    /// The number by which the kernel says in the buffer which module it is.
    pub id: u32,
    /// Other kernels with probes in the same module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<KernelBeside>,
    /// What has a slot of its own.
    #[serde(default)]
    pub slots: SlotsOf,
    /// Words before the first slot.
    pub header_words: u32,
    /// Positions of the header's words.
    pub header_layout: HeaderLayout,
    /// Words in a slot.
    pub slot_words: u32,
    /// Words of a slot with bits that work-items set. Words for the bits of barriers at which work-items did not arrive
    /// follow them.
    pub bit_words: u32,
    /// Number of the bits, from bit 0 on, that belong to barriers.
    pub barrier_bits: u32,
    /// The sites: places in the code with outcomes to cover.
    pub sites: Vec<Site>,
    /// If test vectors are recorded: the decisions, in the order of the sites of the kind `decision`, whose outcomes
    /// are their vectors. Of these and of conditions, what was executed and covered is left open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Vec<McdcDecision>>,
}

/// Another kernel with coverage probes in a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelBeside {
    /// The kernel's name.
    pub kernel: String,
    /// The number by which it says in the buffer which one it is.
    pub id: u32,
}

/// What has a slot of its own in a buffer for coverage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlotsOf {
    /// Each work-group.
    #[default]
    WorkGroups,
    /// Each work-item, so that work-items are counted. The slots of a work-group are adjacent, and each work-group has
    /// as many as the first.
    WorkItems,
}

/// Positions of words in the header of a buffer for coverage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeaderLayout {
    /// The buffer's length in words; the only word that the host sets. The kernel sets the others.
    pub length: u32,
    /// Three words: numbers of work-groups by dimension.
    pub groups: u32,
    /// Three words: size of the first work-group by dimension.
    pub local: u32,
    /// Three words: global size by dimension.
    pub global: u32,
    /// The number 0x5953414b: the bytes `KASY`, low byte first.
    pub magic: u32,
    /// The module's number (`id` beside `header_layout`).
    pub id: u32,
}

/// A site: a place in the code with outcomes to cover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Site {
    /// Stable id: the same source and options give the same ids.
    pub id: String,
    /// `branch`, `condition`, `loop`, `barrier`, `line`, `statement`, `region`; `decision`, if test vectors are
    /// recorded.
    pub kind: String,
    /// Source construct: `if`, `switch`, `?:`, `for`, `while`, `do`, `&&`, `barrier` …; `branch` if it is unknown.
    pub construct: String,
    /// Name of the function that contains it.
    pub function: String,
    /// Its location; `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// What is to be covered there.
    pub outcomes: Vec<Outcome>,
}

/// An outcome of a site, and what in a slot shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// As `outcome` in the results of `kassay cover`.
    pub outcome: String,
    /// Whether every launch covers it.
    pub always: bool,
    /// Covered if one of these bits of a slot is set: bit `b` is bit `b % 32` of word `b / 32`. That of a barrier, if
    /// it is below `barrier_bits`, must also be 0 in the word `bit_words` further on: work-items that did not arrive
    /// set it there.
    pub bits: Vec<u32>,
}

/// The probe buffer of a module with guards. Positions count words from the buffer's start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuardMap {
    /// Length of the buffer in words. All words that are not named here are 0 before a launch.
    pub length: u32,
    /// In: loop iterations that a work-item may make, at most 2147483647.
    pub fuel: u32,
    /// In: for each buffer and local argument its size in bytes, as two words, low word first. Those of the argument at
    /// position p are at `sizes + 4 * p`; the others are 0.
    pub sizes: u32,
    /// In: number of the active mutant; 0: the original.
    pub mutant: u32,
    /// Out: the greatest of the faults that work-items reported: its kind in the low 8 bits, the number of the guarded
    /// place above; 0: none.
    pub fault: u32,
    /// Out: linear global id of a work-item that reported it.
    pub fault_item: u32,
    /// Out: the most loop iterations that a work-item made.
    pub fuel_used: u32,
    /// The kinds of faults.
    pub fault_kinds: Vec<FaultKind>,
}

/// A kind of fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultKind {
    /// Its number in a fault.
    pub kind: u32,
    /// What it means.
    pub meaning: String,
}

/// A guarded instruction or loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuardedPlace {
    /// Its number in a fault.
    pub number: u32,
    /// Where it is.
    #[serde(flatten)]
    pub location: Location,
}

/// A mutant in a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mutant {
    /// Index of its module in `modules`.
    pub module: u32,
    /// The number that selects it there, from 1.
    pub number: u32,
    /// Stable id, as in the results of `kassay mutate`.
    pub id: String,
    /// The operator's id, such as `ROR`.
    pub operator: String,
    /// Name of the function that contains it.
    pub function: String,
    /// What it changes.
    #[serde(flatten)]
    pub change: Change,
    /// The id of the mutant that it equals, if that is another one: it need not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// Why it is equivalent to the original, if that is proved: it need not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equivalent: Option<String>,
}

/// What a mutant changes in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Where it is; `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// Line of the position just past the original text; 0 if unknown.
    #[serde(default)]
    pub end_line: u32,
    /// Column of that position.
    #[serde(default)]
    pub end_column: u32,
    /// Range of the text in the body of a macro, if it is spelled there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<mutate::Location>,
    /// The original text; empty if there is no source.
    pub original: String,
    /// What it is replaced by; empty for a deletion.
    pub replacement: String,
}

/// A mutant that no module holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Stable id, as in the results of `kassay mutate`.
    pub id: String,
    /// The operator's id.
    pub operator: String,
    /// Why.
    pub reason: String,
    /// Name of the function that contains it.
    #[serde(default)]
    pub function: String,
    /// What it changes.
    #[serde(flatten)]
    pub change: Option<Change>,
    /// The id of the mutant that it equals, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
}

/// Reads a map.
///
/// # Errors
/// `Caller` if the file does not exist, is no map, is one of a newer kassay, or contradicts itself; `Environment` if it
/// cannot be read.
pub fn read(path: &Path) -> Result<ProbeMap> {
    let help = "name a map that `kassay lower --map` wrote";
    let text = store::read_text(path, help)?;
    let schema = store::schema_of(&text, path, "this is not a map of kassay", help)?;
    if schema.as_deref() != Some(ProbeMap::SCHEMA) {
        let found = schema.map_or_else(|| "it has no `schema`".to_owned(), |s| format!("its schema is `{s}`"));
        return Err(Error::caller(format!("{} is not a map that this kassay reads: {found}", path.display()))
            .help(format!("{help}; this kassay ({}) reads `{}`", env!("CARGO_PKG_VERSION"), ProbeMap::SCHEMA)));
    }
    let map: ProbeMap = store::json(&text, path, "this is not a valid map", help)?;
    let counts = map.coverage.as_ref().is_some_and(|coverage| coverage.slots == SlotsOf::WorkItems);
    let layout = if counts { ProbeMap::LAYOUT_OF_COUNTS } else { ProbeMap::LAYOUT };
    if map.layout != layout {
        let what = format!("{} describes version {} of the probe buffer", path.display(), map.layout);
        return Err(Error::caller(what).help(format!(
            "this kassay ({}) reads version {layout} here; use the kassay that wrote the map, version {}",
            env!("CARGO_PKG_VERSION"),
            map.header.version
        )));
    }
    Ok(map)
}
