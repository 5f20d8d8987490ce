//! Loads or generates the contents of buffers and images: `npy`, `values`, `fill`, `random` or `arange`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_base::files::Sandbox;
use kassay_model::interface::{Scalar, Type};

use super::buffer_format::{ArangeSpec, RandomSpec, ToleranceSpec};
use super::de::At;
use super::document::{Node, Source, Span, Value};
use super::dtype::Dtype;
use super::random::{self, Bounds, Stream};
use super::scalar_layout::{self, Number};
use super::values::Encoder;
use super::{compare::Tolerance, npy};

/// Upper bound on the data of a suite in bytes: 16 GiB.
pub const LIMIT: u64 = 16 << 30;

/// Every byte of a buffer to which nothing was written: as an integer, a float and an index an unlikely number.
const UNINITIALISED: u8 = 0xdb;

/// How elements are given that have parts of which no value can be written.
const BYTES: &str = "give the bytes of the elements as an .npy file of single untyped bytes, as numpy.frombuffer(data, \"V1\") makes it";

/// Loads the data of one suite: caches the files read and counts bytes against [`LIMIT`].
pub struct Loader<'a> {
    /// The suite file, for messages.
    pub source: &'a Source,
    /// Base folder of relative paths.
    pub folder: &'a Path,
    /// Seed of the run, for random data without a seed of its own.
    pub seed: u64,
    /// The folders of which files may be read; `None`: all files may be.
    pub sandbox: Option<&'a Sandbox>,
    files: HashMap<PathBuf, npy::Array>,
    bytes_left: u64,
}

/// The source of the data: exactly one of `npy`, `values`, `fill`, `random`, `arange` must be given.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The place for messages about the data as a whole.
    pub span: &'a Span,
    /// Path of an `.npy` file.
    pub npy: Option<&'a At<String>>,
    /// One value per element.
    pub values: Option<&'a Node>,
    /// The value of every element.
    pub fill: Option<&'a Node>,
    /// Random values.
    pub random: Option<&'a RandomSpec>,
    /// An arithmetic sequence.
    pub arange: Option<&'a ArangeSpec>,
    /// Number of elements, where the source of the data does not have one of its own.
    pub len: Option<&'a At<u64>>,
}

/// Contents of a buffer or an image; `shape` counts elements of `ty`.
#[derive(Debug, Clone)]
pub struct Data {
    /// The contents.
    pub bytes: Arc<Vec<u8>>,
    /// Shape, the outermost dimension first.
    pub shape: Vec<u64>,
    /// Type of an element.
    pub ty: Type,
}

impl Data {
    /// Wraps `bytes` as elements of `ty`; as single bytes if the type is unknown or does not divide the length.
    pub fn of(bytes: &Arc<Vec<u8>>, ty: Option<&Type>) -> Data {
        let byte = Type::Scalar(Scalar::U8);
        let len = bytes.len() as u64;
        let ty = ty.filter(|t| t.size() > 0 && len.is_multiple_of(t.size())).unwrap_or(&byte);
        Data { bytes: Arc::clone(bytes), shape: vec![len / ty.size()], ty: ty.clone() }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// The requirements on the data to load.
#[derive(Debug, Clone, Copy)]
pub struct DataRequest<'a> {
    /// Element type; `None` if the kernel's interface does not give it.
    pub ty: Option<&'a Type>,
    /// Number of elements, if the context determines it.
    pub len: Option<u64>,
    /// Name of the test; seeds random data together with `argument`.
    pub test: &'a str,
    /// Name of the argument.
    pub argument: &'a str,
}

impl<'a> Loader<'a> {
    /// Returns a loader for the suite `source` that has loaded nothing yet.
    pub fn new(source: &'a Source, folder: &'a Path, seed: u64) -> Self {
        Loader { source, folder, seed, sandbox: None, files: HashMap::new(), bytes_left: LIMIT }
    }

    /// Returns a `Caller` error at a span of the suite.
    pub fn error(&self, span: &Span, what: impl Into<String>) -> Error {
        self.source.error(span, what)
    }

    /// Counts `len` elements of `size` bytes against [`LIMIT`].
    fn charge(&mut self, span: &Span, len: u64, size: u64) -> Result<()> {
        let too_much = |figure: String| {
            self.source
                .error(span, format!("{figure} of data are more than a suite may hold (16 GiB in all)"))
                .help("give a smaller `len`, or split the suite")
        };
        let bytes = len.checked_mul(size).ok_or_else(|| too_much(format!("{len} elements of {size} bytes")))?;
        if bytes > self.bytes_left {
            let before = LIMIT - self.bytes_left;
            return Err(too_much(match before {
                0 => format!("{bytes} bytes"),
                _ => format!("{bytes} bytes, after {before} bytes,"),
            }));
        }
        self.bytes_left -= bytes;
        Ok(())
    }

    /// Loads or generates data.
    ///
    /// # Errors
    /// `Caller`, with its place.
    pub fn load(&mut self, origin: Origin<'_>, request: DataRequest<'_>) -> Result<Data> {
        let given: Vec<&str> = [
            ("npy", origin.npy.is_some()),
            ("values", origin.values.is_some()),
            ("fill", origin.fill.is_some()),
            ("random", origin.random.is_some()),
            ("arange", origin.arange.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, is_given)| is_given.then_some(key))
        .collect();
        if given.len() > 1 {
            return Err(self
                .error(origin.span, format!("`{}` are given together", given.join("` and `")))
                .help("give one of them"));
        }
        if let Some(path) = origin.npy {
            let data = self.file(path, request.ty)?;
            return self.with_len(data, origin.len);
        }
        let Some(ty) = request.ty else {
            return Err(self
                .error(origin.span, format!("the kernel does not tell the element type of `{}`", request.argument))
                .help(
                    "declare its type by [[arg]], or give the data as { npy = \"file.npy\" }, whose dtype tells it",
                ));
        };
        let data = if let Some(values) = origin.values {
            self.values(values, ty)?
        } else if let Some(fill) = origin.fill {
            self.fill(fill, self.count(origin, None, "fill", request)?, ty)?
        } else if let Some(random) = origin.random {
            let len = self.count(origin, random.len.as_ref(), "random", request)?;
            self.random(origin.span, random, len, ty, request)?
        } else if let Some(spec) = origin.arange {
            let len = self.count(origin, spec.len.as_ref(), "arange", request)?;
            self.arange(origin.span, spec, len, ty)?
        } else {
            return Err(self
                .error(origin.span, "nothing here gives the data")
                .help("add one of `npy`, `values`, `fill`, `random`, `arange`"));
        };
        self.with_len(data, origin.len)
    }

    fn with_len(&self, data: Data, len: Option<&At<u64>>) -> Result<Data> {
        match len {
            Some(len) if len.value != data.len() => Err(self
                .error(&len.span, format!("`len` is {}, but the data has {} elements", len.value, data.len()))
                .help("leave `len` out, or give the data that many elements")),
            _ => Ok(data),
        }
    }

    /// Returns the number of elements to generate.
    fn count(&self, origin: Origin<'_>, own: Option<&At<u64>>, key: &str, request: DataRequest<'_>) -> Result<u64> {
        match (own.or(origin.len), request.len) {
            (Some(len), Some(other)) if len.value != other => Err(self
                .error(&len.span, format!("`len` is {}, but there are {other} elements", len.value))
                .help("leave `len` out here")),
            (Some(len), _) => Ok(len.value),
            (None, Some(len)) => Ok(len),
            (None, None) => {
                let help = match key {
                    "fill" => "add `len` beside `fill`".to_owned(),
                    _ => format!("add `len` to `{key}`"),
                };
                Err(self.error(origin.span, format!("`{key}` does not say how many elements")).help(help))
            }
        }
    }

    /// Returns the contents of a buffer to which nothing was written: elements of [`UNINITIALISED`].
    ///
    /// # Errors
    /// `Caller`, with its place, if `len` is missing or too large.
    pub fn uninitialised(&mut self, span: &Span, len: Option<&At<u64>>, ty: Option<&Type>) -> Result<Data> {
        let len = len.ok_or_else(|| {
            self.error(span, "`uninitialised` does not say how many elements").help("add `len`, or data beside it")
        })?;
        let size = ty.map_or(1, Type::size).max(1);
        self.charge(&len.span, len.value, size)?;
        let bytes = usize::try_from(len.value * size).unwrap_or(usize::MAX);
        Ok(Data::of(&Arc::new(vec![UNINITIALISED; bytes]), ty))
    }

    fn file(&mut self, name: &At<String>, ty: Option<&Type>) -> Result<Data> {
        let path = self.folder.join(&name.value);
        if !self.files.contains_key(&path) {
            let array =
                npy::read(&path, self.bytes_left, self.sandbox).map_err(|e| e.at(self.source.place(&name.span)))?;
            self.files.insert(path.clone(), array);
        }
        let array = match self.files.get(&path) {
            Some(array) => array.clone(),
            None => return Err(Error::internal(format!("`{}` was read but not kept", path.display()))),
        };
        if array.dtype == Dtype::Raw(1) && array.shape.len() == 1 {
            self.charge(&name.span, array.data.len() as u64, 1)?;
            return Ok(Data::of(&array.data, ty));
        }
        let from_file = array.dtype.to_type();
        let ty = ty.unwrap_or(&from_file);
        let npy::Converted { bytes, shape } = npy::convert(&array, ty).map_err(|misfit| {
            self.error(&name.span, format!("`{}` does not fit: {}", name.value, misfit.what)).help(misfit.help)
        })?;
        self.charge(&name.span, bytes.len() as u64, 1)?;
        Ok(Data { bytes, shape, ty: ty.clone() })
    }

    /// Encodes a list of values, which may be nested like the dimensions of the data.
    fn values(&mut self, node: &Node, ty: &Type) -> Result<Data> {
        let encoder = Encoder { source: self.source, partial: false, broadcast: false, otherwise: BYTES };
        let mut bytes = Vec::new();
        let mut shape = Vec::new();
        let inner = list_depth(ty);
        // The first elements determine the nesting depth; `rows` checks that the rest agrees.
        let mut depth = 0;
        let mut first = node;
        while let Value::List(items) = &first.value {
            shape.push(items.len() as u64);
            depth += 1;
            match items.first() {
                Some(item) => first = item,
                None => break,
            }
        }
        if depth <= inner + 1 {
            encoder.elements(node, ty, &mut bytes)?;
            shape = vec![bytes.len() as u64 / ty.size().max(1)];
        } else {
            shape.truncate(depth - inner);
            self.rows(node, &shape, &mut |row: &Node| encoder.elements(row, ty, &mut bytes))?;
        }
        self.charge(&node.span, bytes.len() as u64, 1)?;
        Ok(Data { bytes: Arc::new(bytes), shape, ty: ty.clone() })
    }

    /// Calls `leaf` for every innermost row; fails if the list does not have the given shape throughout.
    fn rows(&self, node: &Node, shape: &[u64], leaf: &mut dyn FnMut(&Node) -> Result<()>) -> Result<()> {
        let rectangular = match &node.value {
            Value::List(items) if Some(&(items.len() as u64)) == shape.first() => items,
            _ => {
                return Err(self
                    .error(&node.span, "the rows of this list do not have the same length")
                    .help(format!("give every row the shape {}", npy::shape_text(shape))));
            }
        };
        if shape.len() == 1 {
            return leaf(node);
        }
        rectangular.iter().try_for_each(|row| self.rows(row, &shape[1..], leaf))
    }

    fn fill(&mut self, node: &Node, len: u64, ty: &Type) -> Result<Data> {
        self.charge(&node.span, len, ty.size())?;
        let mut one = Vec::new();
        Encoder { source: self.source, partial: false, broadcast: true, otherwise: BYTES }
            .encode(node, ty, &mut one)?;
        let bytes = one.repeat(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(Data { bytes: Arc::new(bytes), shape: vec![len], ty: ty.clone() })
    }

    fn random(
        &mut self,
        span: &Span,
        spec: &RandomSpec,
        len: u64,
        ty: &Type,
        request: DataRequest<'_>,
    ) -> Result<Data> {
        self.charge(spec.len.as_ref().map_or(span, |l| &l.span), len, ty.size())?;
        let encoder = Encoder { source: self.source, partial: false, broadcast: false, otherwise: BYTES };
        let mut bounds = Bounds::default();
        for scalar in scalars(ty) {
            bounds.min = spec.min.as_ref().map(|n| encoder.number(n, scalar)).transpose()?;
            bounds.max = spec.max.as_ref().map(|n| encoder.number(n, scalar)).transpose()?;
            let (least, greatest) = match scalar_layout::range(scalar) {
                Some((least, greatest)) => (Number::Integer(least), Number::Integer(greatest)),
                None => (Number::Float(0.0), Number::Float(1.0)),
            };
            let (min, max) = (bounds.min.unwrap_or(least), bounds.max.unwrap_or(greatest));
            let place = spec.max.as_ref().or(spec.min.as_ref()).map_or(span, |n| &n.span);
            let reversed = match (min, max) {
                (Number::Integer(min), Number::Integer(max)) => min > max,
                _ => min.as_f64() > max.as_f64(),
            };
            if reversed {
                return Err(self
                    .error(place, format!("`min` {} is more than `max` {}", text(min), text(max)))
                    .help("give both, `min` not above `max`"));
            }
            for bound in [min, max] {
                let mut rounded = Vec::new();
                if let Number::Float(x) = bound
                    && (!x.is_finite() || !scalar_layout::push_float(scalar, x, &mut rounded))
                {
                    return Err(self
                        .error(place, format!("{x:?} is no bound for random `{}`", scalar.name()))
                        .help("give finite values of the type"));
                }
            }
        }
        let mut stream = match spec.seed {
            Some(seed) => Stream::from_seed(seed),
            None => Stream::for_argument(self.seed, request.test, request.argument),
        };
        let mut bytes = Vec::new();
        stream.fill(ty, len, &bounds, &mut bytes);
        Ok(Data { bytes: Arc::new(bytes), shape: vec![len], ty: ty.clone() })
    }

    fn arange(&mut self, span: &Span, spec: &ArangeSpec, len: u64, ty: &Type) -> Result<Data> {
        self.charge(spec.len.as_ref().map_or(span, |l| &l.span), len, ty.size())?;
        let (scalar, lanes) = match ty {
            Type::Scalar(s) => (*s, 1),
            Type::Vector(s, lanes) => (*s, u64::from(*lanes)),
            _ => {
                return Err(self
                    .error(span, format!("`arange` cannot count in `{}`", ty.name()))
                    .help("give `values`, `random` or an .npy file"));
            }
        };
        let encoder = Encoder { source: self.source, partial: false, broadcast: false, otherwise: BYTES };
        let number = |node: Option<&Node>, default: i128| match node {
            Some(node) if scalar.is_float() => encoder.number(node, scalar),
            // A step may be negative even if the type is unsigned.
            Some(node) => encoder.number(node, Scalar::I64),
            None => Ok(Number::Integer(default)),
        };
        let start = match &spec.start {
            Some(node) => encoder.number(node, scalar)?,
            None => Number::Integer(0),
        };
        let step = number(spec.step.as_ref(), 1)?;
        let mut flat = Vec::new();
        random::arange(scalar, len * lanes, start, step, &mut flat).map_err(|n| {
            self.error(span, format!("`arange` comes to {n}, which does not fit `{}`", scalar.name()))
                .help("give a smaller `len` or `step`")
        })?;
        let bytes = if lanes == 3 { pad_lanes(&flat, scalar) } else { flat };
        Ok(Data { bytes: Arc::new(bytes), shape: vec![len], ty: ty.clone() })
    }

    /// Returns the effective tolerance: for each bound the first that is given, 0 if none is.
    ///
    /// # Errors
    /// `Caller`, with its place, if the bound is negative or NaN.
    pub fn tolerance(&self, nearest_first: &[&ToleranceSpec]) -> Result<Tolerance> {
        let pick = |values: Vec<&At<f64>>| match values.first() {
            Some(x) if x.value.is_nan() || x.value < 0.0 => Err(self
                .error(&x.span, format!("the tolerance {:?} is negative or NaN", x.value))
                .help("give 0 or more")),
            Some(x) => Ok(x.value),
            None => Ok(0.0),
        };
        Ok(Tolerance {
            abs: pick(nearest_first.iter().filter_map(|t| t.abs.as_ref()).collect())?,
            rel: pick(nearest_first.iter().filter_map(|t| t.rel.as_ref()).collect())?,
        })
    }
}

fn text(n: Number) -> String {
    match n {
        Number::Integer(n) => n.to_string(),
        Number::Float(x) => format!("{x:?}"),
    }
}

/// Pads vectors of three components to the four that they occupy in memory.
fn pad_lanes(flat: &[u8], scalar: Scalar) -> Vec<u8> {
    let size = usize::try_from(scalar.size()).unwrap_or(8);
    let mut out = Vec::with_capacity(flat.len() / 3 * 4);
    for element in flat.chunks(size * 3) {
        out.extend_from_slice(element);
        out.resize(out.len() + size, 0);
    }
    out
}

/// Returns the distinct scalar types in a type.
fn scalars(ty: &Type) -> Vec<Scalar> {
    let mut out: Vec<Scalar> = Vec::new();
    for leaf in scalar_layout::leaves(ty) {
        if !out.contains(&leaf.scalar) {
            out.push(leaf.scalar);
        }
    }
    out
}

/// Returns the number of list levels of one value of a type.
fn list_depth(ty: &Type) -> usize {
    match ty {
        Type::Vector(..) => 1,
        Type::Array(element, _) => 1 + list_depth(element),
        _ => 0,
    }
}
