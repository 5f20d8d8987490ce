//! Declares the keys of tables that declare a kernel's interface: in suites, and in interface files, which
//! `kassay inspect --write-interface` and `kassay generate` write (docs/suite-format.md, docs/generate.md).

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::de::At;
use crate::document::Node;

/// A struct or union, for arguments that are one or point to one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StructEntry {
    /// The name by which types refer to it; in C, what follows `struct`, or the name of a typedef.
    pub name: At<String>,
    /// Size in bytes, with padding; if absent, that of the fields, rounded up to the alignment.
    pub size: Option<At<u64>>,
    /// Alignment in bytes; if absent, that of the fields.
    pub align: Option<At<u64>>,
    /// Whether the fields overlap.
    #[serde(default)]
    pub union: bool,
    /// The fields, in their order.
    pub fields: Vec<At<FieldEntry>>,
}

/// A field of a struct.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldEntry {
    /// The name that tests use.
    pub name: At<String>,
    /// The type in OpenCL C, such as `float4`, `int[4]`, `struct P` or `float*`.
    #[serde(rename = "type")]
    pub type_name: At<String>,
    /// Bytes from the start of the struct; if absent, the first aligned offset after the field before.
    pub offset: Option<At<u64>>,
    /// Size in bytes of a field that no test sets, whose type need not be one of OpenCL C.
    pub size: Option<At<u64>>,
}

/// An argument of the kernel.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgEntry {
    /// From 0; if absent, the position after that of the entry before, and all arguments have to be declared.
    pub position: Option<At<u64>>,
    /// The name that tests use.
    pub name: Option<At<String>>,
    /// The type in OpenCL C, such as `const uint*`, `struct P` or `image2d_t`.
    #[serde(rename = "type")]
    pub type_name: Option<At<String>>,
    /// `private` (values), `global`, `constant` or `local`; only needed where the module lacks it.
    pub scope: Option<At<String>>,
    /// Access of an image: `read_only`, `write_only` or `read_write`; only needed where the module lacks it.
    pub access: Option<At<String>>,
}

/// A variable of the program in global memory.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariableEntry {
    /// The name that the module has.
    pub name: At<String>,
    /// The type of its elements in OpenCL C.
    #[serde(rename = "type")]
    pub type_name: At<String>,
}

/// An interface file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceFile {
    /// The kernel that it describes.
    pub kernel: Option<At<String>>,
    /// What the user wishes of launches; only for generating suites.
    #[serde(default)]
    pub ndrange: RangeEntry,
    /// `[[struct]]`: types that arguments refer to by name.
    #[serde(default, rename = "struct")]
    pub structs: Vec<At<StructEntry>>,
    /// `[[arg]]`: the arguments.
    #[serde(default)]
    pub arg: Vec<At<FileArgEntry>>,
    /// `[[variable]]`: program-scope variables that the kernel uses.
    #[serde(default)]
    pub variable: Vec<At<VariableEntry>>,
}

/// Sizes of launches, in an interface file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangeEntry {
    /// Work-items by dimension.
    pub global: Option<At<Vec<At<NonZeroU64>>>>,
    /// Work-items of a work-group by dimension.
    pub local: Option<At<Vec<At<NonZeroU64>>>>,
    /// Most work-items of a launch.
    pub max_items: Option<At<NonZeroU64>>,
}

/// An argument in an interface file: what an [`ArgEntry`] has, and what the user wishes of its values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileArgEntry {
    /// As in [`ArgEntry`].
    pub position: Option<At<u64>>,
    /// As in [`ArgEntry`].
    pub name: Option<At<String>>,
    /// As in [`ArgEntry`].
    #[serde(rename = "type")]
    pub type_name: Option<At<String>>,
    /// As in [`ArgEntry`].
    pub scope: Option<At<String>>,
    /// As in [`ArgEntry`].
    pub access: Option<At<String>>,
    /// Whether it is a pointer.
    pub pointer: Option<At<bool>>,
    /// What it is for, as `kassay inspect` names roles.
    pub role: Option<At<String>>,
    /// Elements of a buffer or of local memory.
    pub size: Option<At<NonZeroU64>>,
    /// Whether values other than `value` are tried.
    #[serde(default = "yes")]
    pub fuzz: bool,
    /// The value that is tried first.
    pub value: Option<At<Node>>,
    /// The least of its numbers.
    pub min: Option<Node>,
    /// The greatest of its numbers.
    pub max: Option<Node>,
}

fn yes() -> bool {
    true
}

/// Returns the positions of arguments, as far as they are given; the others follow the one before.
pub fn positions<'a>(given: impl Iterator<Item = Option<&'a At<u64>>>) -> Vec<usize> {
    let mut next = 0;
    let positions = given.map(|given| {
        let position = given.map_or(next, |at| usize::try_from(at.value).unwrap_or(usize::MAX));
        next = position.saturating_add(1);
        position
    });
    positions.collect()
}

impl InterfaceFile {
    /// Returns the entries of arguments with their positions.
    pub fn placed(&self) -> impl Iterator<Item = (usize, &At<FileArgEntry>)> {
        positions(self.arg.iter().map(|entry| entry.value.position.as_ref())).into_iter().zip(&self.arg)
    }
}

impl FileArgEntry {
    /// Returns the part that declares the argument.
    pub fn declaration(&self) -> ArgEntry {
        ArgEntry {
            position: self.position.clone(),
            name: self.name.clone(),
            type_name: self.type_name.clone(),
            scope: self.scope.clone(),
            access: self.access.clone(),
        }
    }
}
