//! The keys of a suite file (docs/suite-format.md) as types, and their JSON Schema.
//!
//! What the values mean for a kernel is `resolve`'s to say: here an argument is only known by its form.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::de::{At, read};
use super::document::{Node, Source, Value, closest, suggestion};
use super::launch::{Addressing, Filter};
use crate::error::Result;

/// A suite: one kernel and its tests.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The kernel's file (`.cl`, `.ll`, `.bc`, `.spv`), relative to the suite file.
    pub kernel: At<String>,
    /// The kernel's name; needed only if the file has several.
    pub entry: Option<String>,
    /// Options of the compiler; they win over kassay's own.
    #[serde(default)]
    pub options: Vec<String>,
    /// How far floats may be from what is expected, where nothing nearer says so.
    #[serde(default)]
    pub tolerance: ToleranceSpec,
    /// A name for the suite, for people.
    pub name: Option<String>,
    /// What the suite is for, for people.
    pub description: Option<String>,
    /// Seed of random data that has none of its own, unless `--seed` is given.
    pub seed: Option<u64>,
    #[serde(default)]
    pub test: Vec<At<TestEntry>>,
}

/// `|actual - expected| <= abs + rel * |expected|`; applies to floats only.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToleranceSpec {
    pub abs: Option<At<f64>>,
    pub rel: Option<At<f64>>,
}

/// One launch and what it should leave behind.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestEntry {
    /// Unique in the suite; `test N` (counted from 1) if absent.
    pub name: Option<At<String>>,
    /// What the test is for, for people.
    pub description: Option<String>,
    /// Work-items in 1 to 3 dimensions.
    pub global: At<Vec<At<u64>>>,
    /// Work-items of a work-group; has to divide `global`, unless the kernel is of OpenCL C 2.0 or later.
    pub local: Option<At<Vec<At<u64>>>>,
    /// The first global id.
    pub offset: Option<At<Vec<At<u64>>>>,
    pub schedule: Option<ScheduleSpec>,
    /// Whether the kernel may fault in it; without it, it may not.
    pub faults: Option<At<FaultsName>>,
    /// What it does then, as far as that is known; devices take the test only if margins hold all of it.
    #[serde(default)]
    pub faulted: Vec<At<FaultedSpec>>,
    #[serde(default)]
    pub tolerance: ToleranceSpec,
    /// By argument name; by position (`"0"`) where the IR has no names.
    #[schemars(with = "BTreeMap<String, Form>")]
    pub args: Option<Node>,
    /// What variables of the program in global memory (OpenCL C 2.0) hold before the launch and should hold afterwards, by name; those that
    /// are left out hold what their initialisers say.
    #[schemars(with = "Option<BTreeMap<String, Form>>")]
    pub variables: Option<Node>,
}

/// An order of execution to launch with; what is left out is ascending. Numbers of work-groups and work-items are linear,
/// dimension 0 fastest.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// The n-th launched work-group does the work of group `map[n]`: each group once.
    pub map: Option<At<Vec<At<u64>>>>,
    /// The order in which the work-items of each group run: each item once, by its number in the group.
    pub item_order: Option<At<Vec<At<u64>>>>,
    /// Where work-items are interrupted, in any order.
    #[serde(default)]
    pub preemptions: Vec<At<PreemptionSpec>>,
    /// What the schedule was drawn from, for people: it is what the lists say.
    pub seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultsName {
    /// Accesses that fault are skipped (reads give 0), and the test is none the worse.
    Allowed,
}

/// What a kernel does that no kernel may.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultedSpec {
    pub kind: At<FaultName>,
    /// Of accesses out of bounds: the argument whose buffer they miss.
    pub argument: Option<At<String>>,
    /// The first and the last element that they reach, negative before the buffer's begin.
    pub first: Option<At<i64>>,
    pub last: Option<At<i64>>,
    /// Where in the source, for people.
    pub at: Option<String>,
}

/// The name of a fault; see `kassay check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultName {
    OutOfBounds,
    NullAccess,
    ReadOnlyWrite,
    Misaligned,
    Division,
}

/// Where a work-item is interrupted.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreemptionSpec {
    /// The work-group, as the kernel sees its id.
    pub group: At<u64>,
    /// The work-item, by its number in the group.
    pub item: At<u64>,
    /// Before which of its accesses to global or local memory, counted from 0.
    pub access: u64,
    /// The item of the group that runs next; without it, the next in order that can.
    pub to: Option<At<u64>>,
}

/// The forms of an argument.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum Form {
    /// A scalar, a vector's lanes, or a buffer's values.
    Plain(Node),
    Fields(FieldsSpec),
    Same(SameSpec),
    Buffer(Box<BufferSpec>),
    Local(LocalSpec),
    Image(Box<ImageSpec>),
    Sampler(SamplerForm),
}

/// A struct by value. Pointers to global and constant memory in it take what a buffer argument does, or `same_as`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldsSpec {
    pub fields: Node,
    /// Whether fields that are not named are zero; otherwise each has to be named.
    #[serde(default)]
    pub partial: bool,
}

/// The buffer of another argument: for a pointer in a struct.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SameSpec {
    /// The argument's name, or that of a pointer in a struct (`s.p`), or of a variable of the program.
    pub same_as: At<String>,
}

/// A buffer: exactly one of `npy`, `values`, `fill`, `random`, `arange`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// A file, relative to the suite file.
    pub npy: Option<At<String>>,
    /// One value per element: numbers, lists of lanes for vectors, tables of fields for structs.
    pub values: Option<Node>,
    /// The value of every element; goes with `len`.
    pub fill: Option<Node>,
    /// Elements.
    pub len: Option<At<u64>>,
    pub random: Option<RandomSpec>,
    pub arange: Option<ArangeSpec>,
    /// Elements before and after the buffer that belong to it, zero at first, so that devices may access them.
    pub margin: Option<At<u64>>,
    /// What the kernel should leave in the buffer. Absent: the unmutated kernel's output is the reference.
    pub expect: Option<Expect>,
    #[serde(default)]
    pub tolerance: ToleranceSpec,
    /// Contents that no key of the file gives.
    #[serde(skip)]
    #[schemars(skip)]
    pub bytes: Option<Arc<Vec<u8>>>,
}

/// Data from a seed: integers over their whole range, floats in [0, 1), unless told otherwise.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomSpec {
    /// Elements; an image takes them from its size.
    pub len: Option<At<u64>>,
    /// Absent: from the run's seed and the names of test and argument.
    pub seed: Option<u64>,
    /// The least value.
    pub min: Option<Node>,
    /// The greatest value of integers; floats stay below it.
    pub max: Option<Node>,
}

/// `start`, `start + step`, `start + 2 step` …; vectors are counted lane by lane.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArangeSpec {
    /// Elements; absent where something else tells (an expectation's buffer, an image's size).
    pub len: Option<At<u64>>,
    /// 0 if absent.
    pub start: Option<Node>,
    /// 1 if absent.
    pub step: Option<Node>,
}

/// What a buffer or an image should hold afterwards: a list of values, or one of `npy`, `values`, `fill`, `arange`.
#[derive(Debug, Clone)]
pub struct Expect {
    pub node: Node,
}

/// The table form of [`Expect`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    pub npy: Option<At<String>>,
    pub values: Option<Node>,
    pub fill: Option<Node>,
    pub len: Option<At<u64>>,
    pub arange: Option<ArangeSpec>,
    pub abs: Option<At<f64>>,
    pub rel: Option<At<f64>>,
}

/// Local memory.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalSpec {
    /// Bytes.
    pub local: At<u64>,
}

/// An image: exactly one of the `image…` keys, each an `.npy` file or a table with one of `npy`, `values`, `fill`,
/// `random`, `arange`. Numbers are raw channel values (0 to 255 for `UNORM_INT8`). Array shapes are (width), (layers,
/// width), (height, width), (layers, height, width), (depth, height, width), with the channels last where there are several.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageSpec {
    pub image1d: Option<Texels>,
    pub image1d_array: Option<Texels>,
    pub image1d_buffer: Option<Texels>,
    pub image2d: Option<Texels>,
    pub image2d_array: Option<Texels>,
    pub image3d: Option<Texels>,
    /// Texels; absent: from the data's shape.
    pub width: Option<At<u64>>,
    pub height: Option<At<u64>>,
    pub depth: Option<At<u64>>,
    pub layers: Option<At<u64>>,
    /// OpenCL's name without `CL_`, such as `RGBA`.
    pub channel_order: At<String>,
    /// OpenCL's name without `CL_`, such as `UNORM_INT8`.
    pub channel_type: At<String>,
    pub expect: Option<Expect>,
    #[serde(default)]
    pub tolerance: ToleranceSpec,
}

/// An image's data: the path of an `.npy` file, a list of values, or a [`TexelsSpec`].
#[derive(Debug, Clone)]
pub struct Texels {
    pub node: Node,
}

/// The table form of [`Texels`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TexelsSpec {
    pub npy: Option<At<String>>,
    pub values: Option<Node>,
    pub fill: Option<Node>,
    pub random: Option<RandomSpec>,
    pub arange: Option<ArangeSpec>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplerForm {
    pub sampler: SamplerSpec,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplerSpec {
    pub addressing: At<AddressingName>,
    pub filter: FilterName,
    pub normalized: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AddressingName {
    None,
    ClampToEdge,
    Clamp,
    Repeat,
    MirroredRepeat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
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

const BUFFER_KEYS: [&str; 5] = ["npy", "values", "fill", "random", "arange"];
const IMAGE_KEYS: [&str; 6] = ["image1d", "image1d_array", "image1d_buffer", "image2d", "image2d_array", "image3d"];
const OTHER_KEYS: [&str; 4] = ["fields", "same_as", "local", "sampler"];

impl Form {
    /// A null pointer to global or constant memory.
    pub fn null() -> Form {
        Form::contents(&Arc::new(Vec::new()))
    }

    /// A buffer with these bytes.
    pub fn contents(bytes: &Arc<Vec<u8>>) -> Form {
        let none = BufferSpec {
            npy: None,
            values: None,
            fill: None,
            len: None,
            random: None,
            arange: None,
            margin: None,
            expect: None,
            tolerance: ToleranceSpec::default(),
            bytes: None,
        };
        Form::Buffer(Box::new(BufferSpec { bytes: Some(Arc::clone(bytes)), ..none }))
    }

    /// The same, with these bytes where a buffer's data are left out.
    pub fn with_contents(mut self, bytes: &Arc<Vec<u8>>) -> Form {
        if let Form::Buffer(spec) = &mut self
            && spec.npy.is_none()
            && spec.values.is_none()
            && spec.fill.is_none()
            && spec.random.is_none()
            && spec.arange.is_none()
        {
            spec.bytes = Some(Arc::clone(bytes));
        }
        self
    }

    /// Reads an argument by the keys it has.
    ///
    /// # Errors
    /// `Caller`, with its place, if it has none of the forms.
    pub fn read(source: &Source, node: &Node) -> Result<Form> {
        let Some(entries) = node.entries() else { return Ok(Form::Plain(node.clone())) };
        let has = |keys: &[&str]| entries.iter().any(|e| keys.contains(&e.key.as_str()));
        if has(&["fields"]) {
            read(source, node).map(Form::Fields)
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
            // The key that is nearly right, if there is one, is the best place to point to.
            let near = entries.iter().find(|e| closest(&e.key, known.iter().copied()).is_some());
            let (span, given) = near.or(entries.first()).map_or((&node.span, ""), |e| (&e.key_span, e.key.as_str()));
            Err(source.error(span, "the form of this argument is not known").help(suggestion(
                given,
                &known,
                "one of these keys gives a table its form",
            )))
        }
    }

    /// The name of the form, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Form::Plain(node) => node.kind(),
            Form::Fields(_) => "a struct (`fields`)",
            Form::Same(_) => "another argument's buffer (`same_as`)",
            Form::Buffer(_) => "a buffer",
            Form::Local(_) => "local memory (`local`)",
            Form::Image(_) => "an image",
            Form::Sampler(_) => "a sampler",
        }
    }
}

/// The JSON Schema of a suite file.
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

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Node::deserialize(deserializer).map(|node| Expect { node })
    }
}

impl<'de> Deserialize<'de> for Texels {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Node::deserialize(deserializer).map(|node| Texels { node })
    }
}

impl JsonSchema for Expect {
    fn schema_name() -> Cow<'static, str> {
        "Expect".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<ExpectSpec>();
        json_schema!({
            "description": "What the argument should hold afterwards: its values, or a table.",
            "anyOf": [{ "type": "array" }, table]
        })
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

impl Expect {
    /// The table form; a list stands for `values`.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is neither.
    pub fn spec(&self, source: &Source) -> Result<ExpectSpec> {
        match &self.node.value {
            Value::List(_) => Ok(ExpectSpec {
                npy: None,
                values: Some(self.node.clone()),
                fill: None,
                len: None,
                arange: None,
                abs: None,
                rel: None,
            }),
            _ => read(source, &self.node),
        }
    }
}

impl Texels {
    /// The table form; a string stands for `npy`, a list for `values`.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is none of the three.
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
