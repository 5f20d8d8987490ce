//! Declares the keys of a suite file (docs/suite-format.md) as types and generates their JSON Schema.
//!
//! Only the form of an argument is known here; `resolve` decides what its value means for a kernel.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use kassay_base::error::Result;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

pub use super::buffer_format::{ArangeSpec, Expect, ExpectSpec, RandomSpec, ToleranceSpec};
use super::buffer_format::{BufferSpec, BytesSpec, SameSpec};
use super::de::{At, read};
use super::declared::table::{ArgEntry, StructEntry, VariableEntry};
use super::document::{Node, Source, Value, closest, suggestion};
use super::launch::{Addressing, Filter};

/// A suite: one kernel and its tests.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The kernel's file, relative to the suite file; the extension says what it holds (`.cl`, `.cu`, `.spv` ...).
    pub kernel: At<String>,
    /// The kernel's name; needed only if the file has several.
    pub entry: Option<String>,
    /// Compiler options; they take precedence over kassay's own.
    #[serde(default)]
    pub options: Vec<String>,
    /// Values of a SPIR-V kernel's specialisation constants, by number (`SpecId`) or name; others have their defaults.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub spec: Option<Node>,
    /// How many work-items the sub-groups have, if the kernel uses them and requires no size: 1, 2, 4, 8, 16, 32 or 64.
    #[schemars(with = "Option<u32>")]
    pub sub_group_size: Option<At<u32>>,
    /// Default tolerance for floats; a test, an argument or an expectation may override it.
    #[serde(default)]
    pub tolerance: ToleranceSpec,
    /// Name of the suite, for human readers.
    pub name: Option<String>,
    /// Purpose of the suite, for human readers.
    pub description: Option<String>,
    /// Seed for random data without a seed of its own; `--seed` overrides it.
    pub seed: Option<u64>,
    /// The kernel's arguments, for modules that do not tell their names or types.
    #[serde(default)]
    pub arg: Vec<At<ArgEntry>>,
    /// The structs that these arguments are or point to.
    #[serde(default, rename = "struct")]
    pub structs: Vec<At<StructEntry>>,
    /// Types of variables of the program, for modules that do not tell them.
    #[serde(default)]
    pub variable: Vec<At<VariableEntry>>,
    /// The tests, in order.
    #[serde(default)]
    pub test: Vec<At<TestEntry>>,
}

/// One launch and the outputs expected of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestEntry {
    /// Unique within the suite; defaults to `test N`, counted from 1.
    pub name: Option<At<String>>,
    /// Purpose of the test, for human readers.
    pub description: Option<String>,
    /// Global work size in work-items, in 1 to 3 dimensions; or `grid` and `block`.
    pub global: Option<At<Vec<At<NonZeroU64>>>>,
    /// Work-group size in work-items; must divide `global` unless the kernel is OpenCL C 2.0 or later.
    pub local: Option<At<Vec<At<NonZeroU64>>>>,
    /// Number of blocks in each dimension, as CUDA's launches say it: `global` is `grid` times `block`.
    pub grid: Option<At<Vec<At<NonZeroU64>>>>,
    /// Threads of a block in each dimension: `local` in CUDA's words.
    pub block: Option<At<Vec<At<NonZeroU64>>>>,
    /// Bytes of CUDA's dynamic shared memory, in the place of the argument that it is; 0 is as good as absent.
    pub shared: Option<At<u64>>,
    /// Global offset: the first global id in each dimension; 0 if absent.
    pub offset: Option<At<Vec<At<u64>>>>,
    /// Order of the work-groups and work-items; ascending if absent.
    pub schedule: Option<ScheduleSpec>,
    /// Allows the kernel to fault in this test; if absent, a fault fails the test.
    pub faults: Option<At<FaultsName>>,
    /// The faults, as far as known; devices run the test only if all are listed and stay within margins.
    #[serde(default)]
    pub faulted: Vec<At<FaultedSpec>>,
    /// Values of specialisation constants for this test, in addition to the suite's, which they replace.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub spec: Option<Node>,
    /// Tolerance for the outputs of this test.
    #[serde(default)]
    pub tolerance: ToleranceSpec,
    /// Arguments by name, or by position (`"0"`) where the IR has no names.
    #[schemars(with = "BTreeMap<String, Form>")]
    pub args: Option<Node>,
    /// Program-scope variables in global memory (OpenCL C 2.0) by name: contents before the launch and expected
    /// contents afterwards. Variables left out start with their initialisers.
    #[schemars(with = "Option<BTreeMap<String, Form>>")]
    pub variables: Option<Node>,
}

/// An execution order for a launch; parts left out are ascending. Work-groups and work-items are numbered linearly,
/// dimension 0 fastest.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// The n-th launched work-group does the work of group `map[n]`; names each group once.
    pub map: Option<At<Vec<At<u64>>>>,
    /// Order in which the work-items of each group run; names each item once, by its number in the group.
    pub item_order: Option<At<Vec<At<u64>>>>,
    /// Points at which work-items are interrupted, in any order.
    #[serde(default)]
    pub preemptions: Vec<At<PreemptionSpec>>,
    /// Seed from which the schedule was drawn, for human readers; only the lists have an effect.
    pub seed: Option<u64>,
}

/// Values of a test's `faults` key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultsName {
    /// Faulting accesses are skipped (reads give 0) and do not fail the test.
    Allowed,
}

/// A fault that the kernel commits in this test.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultedSpec {
    /// The kind of the fault.
    pub kind: At<FaultName>,
    /// For accesses out of bounds: the argument whose buffer they miss.
    pub argument: Option<At<String>>,
    /// The first element accessed; negative before the start of the buffer.
    pub first: Option<At<i64>>,
    /// The last element accessed; negative before the start of the buffer.
    pub last: Option<At<i64>>,
    /// Source location, for human readers.
    pub at: Option<String>,
}

/// The kind of a fault; see `kassay check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are those of `FaultClass`; the schema lists them")]
pub enum FaultName {
    OutOfBounds,
    NullAccess,
    ReadOnlyWrite,
    Misaligned,
    Division,
}

/// A point at which a work-item is interrupted.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreemptionSpec {
    /// Linear number of the work-group, by the id that the kernel sees.
    pub group: At<u64>,
    /// Linear number of the work-item in its group.
    pub item: At<u64>,
    /// Index, from 0, of the access to global or local memory before which it is interrupted.
    pub access: u64,
    /// The work-item of the group that runs next; if absent, the next in order that can run.
    pub to: Option<At<u64>>,
}

/// The forms in which a test may give an argument.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
#[expect(missing_docs, reason = "the type of each says what it is; the schema has its text")]
pub enum Form {
    /// A scalar, the components of a vector, or the values of a buffer.
    Plain(Node),
    Fields(FieldsSpec),
    Bytes(BytesSpec),
    Same(SameSpec),
    Buffer(Box<BufferSpec>),
    Local(LocalSpec),
    Image(Box<ImageSpec>),
    Sampler(SamplerForm),
}

/// A struct by value. Pointers in it to global or constant memory take the forms of a buffer argument, or `same_as`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldsSpec {
    /// Values by field name.
    pub fields: Node,
    /// Whether fields left out are zero; otherwise every field is required.
    #[serde(default)]
    pub partial: bool,
}

/// Local memory for a `__local` pointer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalSpec {
    /// Size in bytes.
    pub local: At<NonZeroU64>,
}

/// An image: exactly one of the `image…` keys, each an `.npy` file or a table with one of `npy`, `values`, `fill`,
/// `random`, `arange`. Numbers are raw channel values (0 to 255 for `UNORM_INT8`). Array shapes are (width), (layers,
/// width), (height, width), (layers, height, width), (depth, height, width), with channels last if there are several.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageSpec {
    /// Data of an `image1d_t`.
    pub image1d: Option<Texels>,
    /// Data of an `image1d_array_t`.
    pub image1d_array: Option<Texels>,
    /// Data of an `image1d_buffer_t`.
    pub image1d_buffer: Option<Texels>,
    /// Data of an `image2d_t`.
    pub image2d: Option<Texels>,
    /// Data of an `image2d_array_t`.
    pub image2d_array: Option<Texels>,
    /// Data of an `image3d_t`.
    pub image3d: Option<Texels>,
    /// Size in texels; if absent, taken from the shape of the data.
    pub width: Option<At<NonZeroU64>>,
    /// Height in texels, for images of two or three dimensions; if absent, taken from the shape of the data.
    pub height: Option<At<NonZeroU64>>,
    /// Depth in texels, for images of three dimensions; if absent, taken from the shape of the data.
    pub depth: Option<At<NonZeroU64>>,
    /// Number of layers of an image array; if absent, taken from the shape of the data.
    pub layers: Option<At<NonZeroU64>>,
    /// OpenCL's name without the prefix `CL_`, such as `RGBA`.
    pub channel_order: At<String>,
    /// OpenCL's name without the prefix `CL_`, such as `UNORM_INT8`.
    pub channel_type: At<String>,
    /// Expected contents afterwards; if absent, the unmutated kernel's output is the reference.
    pub expect: Option<Expect>,
    /// Tolerance for this image.
    #[serde(default)]
    pub tolerance: ToleranceSpec,
}

/// The data of an image: the path of an `.npy` file, a list of values, or a [`TexelsSpec`].
#[derive(Debug, Clone)]
pub struct Texels {
    /// The value as the file has it.
    pub node: Node,
}

/// The table form of [`Texels`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TexelsSpec {
    /// Path of an `.npy` file, relative to the suite file.
    pub npy: Option<At<String>>,
    /// The texels, as a list nested like the shape of the image.
    pub values: Option<Node>,
    /// The value of every texel.
    pub fill: Option<Node>,
    /// Random values.
    pub random: Option<RandomSpec>,
    /// An arithmetic sequence.
    pub arange: Option<ArangeSpec>,
}

/// A sampler argument.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplerForm {
    /// The properties of the sampler.
    pub sampler: SamplerSpec,
}

/// The properties of a sampler (clCreateSampler).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplerSpec {
    /// Treatment of coordinates outside the image.
    pub addressing: At<AddressingName>,
    /// Whether the nearest texel is read, or neighbours are interpolated.
    pub filter: FilterName,
    /// Whether coordinates are normalised to 0..1.
    pub normalized: bool,
}

/// OpenCL's name of an addressing mode without the prefix `CL_ADDRESS_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are OpenCL's; the schema lists them")]
pub enum AddressingName {
    None,
    ClampToEdge,
    Clamp,
    Repeat,
    MirroredRepeat,
}

/// OpenCL's name of a filter mode without the prefix `CL_FILTER_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are OpenCL's; the schema lists them")]
pub enum FilterName {
    Nearest,
    Linear,
}

impl From<AddressingName> for Addressing {
    fn from(name: AddressingName) -> Self {
        match name {
            AddressingName::None => Addressing::None,
            AddressingName::ClampToEdge => Addressing::ClampToEdge,
            AddressingName::Clamp => Addressing::Clamp,
            AddressingName::Repeat => Addressing::Repeat,
            AddressingName::MirroredRepeat => Addressing::MirroredRepeat,
        }
    }
}

impl From<FilterName> for Filter {
    fn from(name: FilterName) -> Self {
        match name {
            FilterName::Nearest => Filter::Nearest,
            FilterName::Linear => Filter::Linear,
        }
    }
}

const BUFFER_KEYS: [&str; 7] = ["npy", "values", "fill", "random", "arange", "uninitialised", "null"];
const IMAGE_KEYS: [&str; 6] = ["image1d", "image1d_array", "image1d_buffer", "image2d", "image2d_array", "image3d"];
const OTHER_KEYS: [&str; 5] = ["fields", "bytes", "same_as", "local", "sampler"];

impl Form {
    /// Returns the form of a null pointer to global or constant memory.
    pub fn null() -> Form {
        Form::contents(&Arc::new(Vec::new()))
    }

    /// Returns the form of a buffer with the given bytes.
    pub fn contents(bytes: &Arc<Vec<u8>>) -> Form {
        Form::Buffer(Box::new(BufferSpec { bytes: Some(Arc::clone(bytes)), ..BufferSpec::empty() }))
    }

    /// Supplies `bytes` as the contents of a buffer for which the suite gives no data; other forms are unchanged.
    pub fn with_contents(mut self, bytes: &Arc<Vec<u8>>) -> Form {
        if let Form::Buffer(spec) = &mut self
            && !spec.has_data()
        {
            spec.bytes = Some(Arc::clone(bytes));
        }
        self
    }

    /// Reads an argument; its keys select the form.
    ///
    /// # Errors
    /// `Caller`, with its place, if no form matches.
    pub fn read(source: &Source, node: &Node) -> Result<Form> {
        let Some(entries) = node.entries() else { return Ok(Form::Plain(node.clone())) };
        let has = |keys: &[&str]| entries.iter().any(|e| keys.contains(&e.key.as_str()));
        if has(&["fields"]) {
            read(source, node).map(Form::Fields)
        } else if has(&["bytes"]) {
            read(source, node).map(Form::Bytes)
        } else if has(&["same_as"]) {
            read(source, node).map(Form::Same)
        } else if has(&["local"]) {
            read(source, node).map(Form::Local)
        } else if has(&["sampler"]) {
            read(source, node).map(Form::Sampler)
        } else if has(&IMAGE_KEYS) {
            read(source, node).map(|s| Form::Image(Box::new(s)))
        } else if has(&BUFFER_KEYS) || has(&["expect", "len"]) {
            read(source, node).map(|s| Form::Buffer(Box::new(s)))
        } else {
            let known: Vec<&str> = BUFFER_KEYS.into_iter().chain(OTHER_KEYS).chain(IMAGE_KEYS).collect();
            // If one key is almost right, the message points at it.
            let near = entries.iter().find(|e| closest(&e.key, known.iter().copied()).is_some());
            let (span, given) = near.or(entries.first()).map_or((&node.span, ""), |e| (&e.key_span, e.key.as_str()));
            Err(source.error(span, "the form of this argument is not known").help(suggestion(
                given,
                &known,
                "one of these keys gives a table its form",
            )))
        }
    }

    /// Returns a name of the form for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Form::Plain(node) => node.kind(),
            Form::Fields(_) => "a struct (`fields`)",
            Form::Bytes(_) => "raw bytes (`bytes`)",
            Form::Same(_) => "another argument's buffer (`same_as`)",
            Form::Buffer(_) => "a buffer",
            Form::Local(_) => "local memory (`local`)",
            Form::Image(_) => "an image",
            Form::Sampler(_) => "a sampler",
        }
    }
}

/// Returns the JSON Schema of a suite file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(SuiteFile).to_value()
}

impl JsonSchema for Node {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, a list of lanes or elements, or a table of fields. As strings: \"nan\", \"inf\", \
                            \"-inf\", and integers that JSON cannot write, such as \"0xffffffffffffffff\".",
            "type": ["boolean", "number", "string", "array", "object"]
        })
    }
}

impl<'de> Deserialize<'de> for Texels {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Node::deserialize(deserializer).map(|node| Texels { node })
    }
}

impl JsonSchema for Texels {
    fn schema_name() -> Cow<'static, str> {
        "Texels".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<TexelsSpec>();
        json_schema!({
            "description": "An image's data: the path of an .npy file, its values, or a table.",
            "anyOf": [{ "type": "string" }, { "type": "array" }, table]
        })
    }
}

impl Texels {
    /// Returns the table form; a string stands for `npy`, a list for `values`.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is neither a string, a list nor a valid table.
    pub fn spec(&self, source: &Source) -> Result<TexelsSpec> {
        let none = TexelsSpec { npy: None, values: None, fill: None, random: None, arange: None };
        match &self.node.value {
            Value::Text(path) => {
                Ok(TexelsSpec { npy: Some(At { span: self.node.span.clone(), value: path.clone() }), ..none })
            }
            Value::List(_) => Ok(TexelsSpec { values: Some(self.node.clone()), ..none }),
            _ => read(source, &self.node),
        }
    }
}
