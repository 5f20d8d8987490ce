//! The result of `kassay inspect`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::def_use::PairKind;
use super::{Header, Location};

/// The result of `kassay inspect`: the interfaces of the kernels of a file and their sites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InspectResult {
    /// The fields that every result begins with; `device` is null.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// The kernels of the file, or only the requested one.
    pub kernels: Vec<Kernel>,
    /// The specialisation constants of a SPIR-V file, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spec_constants: Vec<SpecConstant>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

/// A specialisation constant of SPIR-V.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpecConstant {
    /// Its number (`SpecId`).
    pub id: u32,
    /// Its name (`OpName`); null if it has none.
    pub name: Option<String>,
    /// Type, as in OpenCL C.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its default, as suites write values.
    pub default: String,
    /// The value that it has here.
    pub value: String,
}

impl InspectResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.inspect/1";
}

/// A kernel with the functions that it reaches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// Name of the kernel function.
    pub name: String,
    /// Parameters by position, followed by implicit arguments: buffers that no parameter names.
    pub args: Vec<Arg>,
    /// Value of the attribute `reqd_work_group_size`.
    pub required_local: Option<[u64; 3]>,
    /// How many work-items its sub-groups are required to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_group_size: Option<u32>,
    /// `__local` variables of the kernel and of the functions that it calls.
    pub local_variables: Vec<LocalVariable>,
    /// Functions whose sites count: the kernel and every function that it reaches.
    pub functions: Vec<String>,
    /// The level at which mutants are counted, as `--level` takes it.
    #[serde(default = "super::mutate::canonical")]
    pub level: String,
    /// Numbers of sites, basic blocks and mutants, over all of `functions`.
    pub counts: Counts,
    /// Mutants by operator id, for the requested operators except launch operators, which need a suite.
    pub mutants_by_operator: BTreeMap<String, u64>,
    /// Sites of all of `functions`, ordered by kind, then by function, then by place.
    pub sites: Vec<Site>,
}

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arg {
    /// Null where the IR has no names.
    pub name: Option<String>,
    /// Position, from 0.
    pub position: u32,
    /// Type as written in the source, with typedefs resolved.
    #[serde(rename = "type")]
    pub type_name: String,
    /// `private`, `global`, `constant`, `local`, `generic`.
    pub address_space: String,
    /// For images `read_only`, `write_only` or `read_write`; otherwise `none`.
    pub access: String,
    /// For structs (by value or through a pointer): the fields with their offsets in bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
}

/// A field of a struct or union; `offset` from its start and `size` in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Field {
    /// Name, or the index as text if the IR has no names.
    pub name: String,
    /// Name of the type in OpenCL C.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Bytes from the start of the struct that contains it.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Fields of a struct, or of the elements of an array of structs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
}

/// A `__local` variable of a kernel; `size` in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocalVariable {
    /// Name of the variable.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
}

/// Numbers of sites, basic blocks and mutants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Branch decisions: `if`, `switch`, `?:`.
    pub branches: u64,
    /// Outcomes of the branches.
    pub branch_outcomes: u64,
    /// Operands of short-circuit decisions, with two outcomes each.
    pub conditions: u64,
    /// Decisions of two conditions or more, which MC/DC is about.
    #[serde(default)]
    pub decisions: u64,
    /// Conditions whose independent effect can be shown: what MC/DC counts.
    #[serde(default)]
    pub mcdc_conditions: u64,
    /// Loops: `for`, `while`, `do`.
    pub loops: u64,
    /// Calls of barriers.
    pub barriers: u64,
    /// Basic blocks that can be reached from their function's entry.
    pub basic_blocks: u64,
    /// Lines with code, as the debug information has it; 0 without.
    pub lines: u64,
    /// Statements; 0 without the source's syntax tree.
    pub statements: u64,
    /// Pairs of a definition and a use that it can reach; null if there are too many.
    #[serde(default)]
    pub def_use_pairs: Option<u64>,
    /// The same by kind, for the kinds that there are.
    #[serde(default)]
    pub def_use_pairs_by_kind: BTreeMap<PairKind, u64>,
    /// First-order mutants of the requested operators, without launch mutants.
    pub mutants: u64,
}

/// A site: a place in the code with outcomes to cover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Site {
    /// Stable id: the same source and options give the same ids.
    pub id: String,
    /// `branch`, `condition`, `loop`, `barrier`, `statement`, `line`.
    pub kind: String,
    /// Source construct: `if`, `switch`, `?:`, `for`, `while`, `do`, `&&`, `barrier` …; `branch` if it is unknown.
    pub construct: String,
    /// Name of the function that contains it.
    pub function: String,
    /// Its location; `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// Outcomes that can be covered.
    pub outcomes: Vec<String>,
}
