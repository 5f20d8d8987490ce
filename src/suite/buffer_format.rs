//! Declares the forms of a buffer in a suite file (docs/suite-format.md, "Buffers") and of what is expected of it.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;

use kassay_base::error::Result;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::de::{At, read};
use super::document::{Node, Source, Value};
use super::launch::BufferAccess;

/// `|actual - expected| <= abs + rel * |expected|`; applies to floats only.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToleranceSpec {
    /// Permitted absolute deviation; if absent, that of the next outer tolerance, at last 0.
    pub abs: Option<At<f64>>,
    /// Permitted deviation relative to the expected value; if absent, that of the next outer tolerance, at last 0.
    pub rel: Option<At<f64>>,
}

/// Shares the memory of another argument: its buffer, a sub-buffer of it, or a pointer into its SVM allocation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SameSpec {
    /// Name of the argument, of a pointer in a struct (`s.p`) or of a program-scope variable.
    pub same_as: At<String>,
    /// Where the argument begins, in bytes from the start of the other's contents; 0 if absent.
    pub offset: Option<At<u64>>,
    /// Length of the sub-buffer in bytes; if absent, up to the end of the other's contents.
    pub size: Option<At<NonZeroU64>>,
    /// Whether the argument is an SVM pointer, which reaches the whole allocation.
    pub svm: Option<At<bool>>,
    /// What kernels may do with the argument; if absent, read and write it.
    pub access: Option<At<BufferAccess>>,
}

/// The bytes of an argument by value, whatever its type.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BytesSpec {
    /// Two hexadecimal digits a byte, in the order of memory, as many as the type has bytes; spaces and `_` are
    /// skipped.
    pub bytes: At<String>,
}

/// A buffer: exactly one of `npy`, `values`, `fill`, `random`, `arange`; or `null`; or `uninitialised` with `len`
/// alone.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// Path of an `.npy` file, relative to the suite file.
    pub npy: Option<At<String>>,
    /// One value per element: numbers, lists of components for vectors, tables of fields for structs.
    pub values: Option<Node>,
    /// The value of every element; requires `len`.
    pub fill: Option<Node>,
    /// Number of elements.
    pub len: Option<At<u64>>,
    /// Random values.
    pub random: Option<RandomSpec>,
    /// An arithmetic sequence.
    pub arange: Option<ArangeSpec>,
    /// `true`: a null pointer. Nothing else is given then.
    pub null: Option<At<bool>>,
    /// Whether nothing was written to the buffer before the launch. Data beside it are what devices find there by
    /// chance; without data, `len` gives the number of elements.
    pub uninitialised: Option<At<bool>>,
    /// The argument is a sub-buffer of a buffer with the contents given here: where it begins, in bytes; 0 if absent.
    pub offset: Option<At<u64>>,
    /// Length of that sub-buffer in bytes; if absent, up to the end of the contents.
    pub size: Option<At<NonZeroU64>>,
    /// Whether the argument is an SVM pointer, which reaches the whole allocation, before `offset`, too.
    pub svm: Option<At<bool>>,
    /// What kernels may do with the argument, as the host has said when it made the buffer; if absent, read and write
    /// it.
    pub access: Option<At<BufferAccess>>,
    /// Zero-initialised elements added before and after the buffer, so that devices may access them.
    pub margin: Option<At<u64>>,
    /// Expected contents afterwards; if absent, the unmutated kernel's output is the reference.
    pub expect: Option<Expect>,
    /// Tolerance for this buffer.
    #[serde(default)]
    pub tolerance: ToleranceSpec,
    /// Contents set by code; no key of the file gives them.
    #[serde(skip)]
    #[schemars(skip)]
    pub bytes: Option<Arc<Vec<u8>>>,
}

impl BufferSpec {
    /// Returns a buffer for which nothing is given.
    pub fn empty() -> BufferSpec {
        BufferSpec {
            npy: None,
            values: None,
            fill: None,
            len: None,
            random: None,
            arange: None,
            null: None,
            uninitialised: None,
            offset: None,
            size: None,
            svm: None,
            access: None,
            margin: None,
            expect: None,
            tolerance: ToleranceSpec::default(),
            bytes: None,
        }
    }

    /// Returns whether the file gives contents.
    pub fn has_data(&self) -> bool {
        self.npy.is_some()
            || self.values.is_some()
            || self.fill.is_some()
            || self.random.is_some()
            || self.arange.is_some()
    }
}

/// Random data from a seed; by default integers over their full range and floats in [0, 1).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomSpec {
    /// Number of elements; not needed for images, whose size determines it.
    pub len: Option<At<u64>>,
    /// If absent, derived from the run's seed and the names of the test and the argument.
    pub seed: Option<u64>,
    /// The smallest value.
    pub min: Option<Node>,
    /// The largest value for integers; an exclusive upper bound for floats.
    pub max: Option<Node>,
}

/// The sequence `start`, `start + step`, `start + 2 step` …; vectors are filled component by component.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArangeSpec {
    /// Number of elements; not needed where an image's size or the buffer of an expectation determines it.
    pub len: Option<At<u64>>,
    /// 0 if absent.
    pub start: Option<Node>,
    /// 1 if absent.
    pub step: Option<Node>,
}

/// Expected contents of a buffer or an image: a list of values, or one of `npy`, `values`, `fill`, `arange`.
#[derive(Debug, Clone)]
pub struct Expect {
    /// The value as the file has it.
    pub node: Node,
}

/// The table form of [`Expect`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    /// Path of an `.npy` file, relative to the suite file.
    pub npy: Option<At<String>>,
    /// One value per element.
    pub values: Option<Node>,
    /// The value of every element.
    pub fill: Option<Node>,
    /// Number of elements; if absent, as many as the buffer or image has.
    pub len: Option<At<u64>>,
    /// An arithmetic sequence.
    pub arange: Option<ArangeSpec>,
    /// Permitted absolute deviation; overrides any `tolerance`.
    pub abs: Option<At<f64>>,
    /// Permitted deviation relative to the expected value; overrides any `tolerance`.
    pub rel: Option<At<f64>>,
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Node::deserialize(deserializer).map(|node| Expect { node })
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

impl Expect {
    /// Returns the table form; a plain list stands for `values`.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is neither a list nor a valid table.
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
