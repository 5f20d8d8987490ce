//! Writes suites: launches as a TOML file with `.npy` files beside it. Reading them back gives the same launches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_model::interface::{Arg, ArgKind, ArgSource, Interface, Scalar, Type};
use kassay_model::kernel_files::KernelFile;
use kassay_model::options::SpecValue;
use toml::{Table, Value};

use super::arguments::Expectation;
use super::declared;
use super::faults::{self, AllowedFault};
use super::image;
use super::launch::{Addressing, ArgValue, BufferAccess, Filter, ImageFormat, ImageShape, Launch, NdRange, View};
use super::npy;
use super::scalar_layout::{self, Number};
use super::schedule::Schedule;
use super::spec_values;

/// A suite to write.
#[derive(Debug, Clone, Default)]
pub struct NewSuite<'a> {
    /// The kernel's file, relative to the folder; see [`relative`].
    pub kernel: PathBuf,
    /// The kernel's name.
    pub entry: &'a str,
    /// Compiler options.
    pub options: &'a [String],
    /// Values of specialisation constants.
    pub spec: &'a [SpecValue],
    /// How many work-items the sub-groups had when the tests were made.
    pub sub_group_size: Option<u32>,
    /// Name of the suite, for human readers.
    pub name: Option<&'a str>,
    /// For human readers.
    pub description: Option<&'a str>,
    /// The tests, in order.
    pub tests: Vec<NewTest<'a>>,
}

/// A test to write.
#[derive(Debug, Clone)]
pub struct NewTest<'a> {
    /// Unique within the suite.
    pub name: String,
    /// For human readers.
    pub description: Option<String>,
    /// The launch.
    pub launch: &'a Launch,
    /// Faults to list, if the launch allows faults.
    pub faulted: &'a [AllowedFault],
    /// Expected contents, by position of the argument.
    pub expectations: &'a [Expectation],
}

/// Buffers of at most this many scalars are written into the suite file itself.
const MAX_INLINE: usize = 16;

/// Writes `folder/suite.toml` and its data files; creates the folder. Returns the path of the suite.
///
/// # Errors
/// `Environment` if the folder or a file in it cannot be written; `Internal` if a launch does not fit the interface.
pub fn write(folder: &Path, suite: &NewSuite<'_>, interface: &Interface) -> Result<PathBuf> {
    let written = write_data(folder, suite, interface, &BTreeSet::new())?;
    let path = folder.join("suite.toml");
    std::fs::write(&path, written.text)
        .map_err(|e| Error::environment(format!("cannot write `{}`: {e}", path.display())))?;
    Ok(path)
}

/// A suite whose data files are written, but not the suite file itself.
#[derive(Debug, Clone)]
pub struct WrittenSuite {
    /// Text of the suite file.
    pub text: String,
    /// Names of the data files.
    pub files: Vec<String>,
}

/// Writes the data files of a suite under names that are not in `taken`; creates the folder.
///
/// # Errors
/// As [`write()`].
pub fn write_data(
    folder: &Path,
    suite: &NewSuite<'_>,
    interface: &Interface,
    taken: &BTreeSet<String>,
) -> Result<WrittenSuite> {
    std::fs::create_dir_all(folder).map_err(|e| no_folder(folder, &e))?;
    let mut writer = Writer { folder, taken, files: BTreeMap::new() };
    let text = writer.suite(suite, interface)?;
    Ok(WrittenSuite { text, files: writer.files.into_keys().map(file_name).collect() })
}

fn file_name(name: String) -> String {
    name + ".npy"
}

/// Returns the error for a folder that could not be created.
pub fn no_folder(folder: &Path, error: &std::io::Error) -> Error {
    Error::environment(format!("cannot make the folder {}: {error}", folder.display()))
        .help("name a folder in which files can be made")
}

/// Returns the path of `target` relative to `folder`; `target` itself if either does not exist.
pub fn relative(folder: &Path, target: &Path) -> PathBuf {
    let (Ok(from), Ok(to)) = (folder.canonicalize(), target.canonicalize()) else { return target.to_owned() };
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    up.chain(to[shared..].iter().copied()).collect()
}

/// Builds the text of one suite and writes its data files.
struct Writer<'a> {
    folder: &'a Path,
    /// File names that must not be used.
    taken: &'a BTreeSet<String>,
    /// Size and hash of the files written so far, by name without the extension.
    files: BTreeMap<String, (usize, u128)>,
}

/// Encodes an entry of `faulted`.
fn fault_table(fault: &AllowedFault, interface: &Interface) -> Table {
    let mut all = entries([("kind", text(fault.kind.name()))]);
    if let Some(reach) = fault.reach
        && let Some(arg) = interface.args.get(reach.position as usize)
    {
        all.insert("argument".to_owned(), text(&arg.label()));
        all.insert("first".to_owned(), Value::Integer(reach.first));
        all.insert("last".to_owned(), Value::Integer(reach.last));
    }
    if let Some(at) = &fault.at {
        all.insert("at".to_owned(), text(at));
    }
    all
}

/// Returns the keys of an NDRange with their values; of CUDA's a grid of blocks, if it is one.
fn sizes(range: &NdRange, is_cuda: bool) -> Vec<(&'static str, Value)> {
    let value = |sizes: [u64; 3]| numbers(sizes.into_iter().take(range.dims as usize));
    let is_grid = |local: &[u64; 3]| {
        range.offset == [0; 3] && range.global.iter().zip(local).all(|(all, size)| all.is_multiple_of(*size))
    };
    if let Some(local) = range.local.filter(|local| is_cuda && is_grid(local)) {
        let blocks = [0, 1, 2].map(|d| range.global[d] / local[d]);
        return vec![("grid", value(blocks)), ("block", value(local))];
    }
    let mut keys = vec![("global", value(range.global))];
    keys.extend(range.local.map(|local| ("local", value(local))));
    keys.extend((range.offset != [0; 3]).then(|| ("offset", value(range.offset))));
    keys
}

/// Returns the position and the bytes of the local memory whose size the launch says, if there is one such argument.
fn shared_memory(launch: &Launch, interface: &Interface) -> Option<(u32, u64)> {
    let mut all = interface.args.iter().zip(&launch.args).filter_map(|(arg, value)| match (&arg.source, value) {
        (ArgSource::Parameter, ArgValue::Local(bytes)) => Some((arg.position, *bytes)),
        _ => None,
    });
    all.next().filter(|_| all.next().is_none())
}

impl Writer<'_> {
    fn suite(&mut self, suite: &NewSuite<'_>, interface: &Interface) -> Result<String> {
        let mut out = String::new();
        push_line(&mut out, "kernel", text(&suite.kernel.to_string_lossy()));
        push_line(&mut out, "entry", text(suite.entry));
        if !suite.options.is_empty() {
            push_line(&mut out, "options", Value::Array(suite.options.iter().map(|o| text(o)).collect()));
        }
        if !suite.spec.is_empty() {
            push_line(&mut out, "spec", spec_values::table(suite.spec));
        }
        if let Some(size) = suite.sub_group_size {
            push_line(&mut out, "sub_group_size", Value::Integer(size.into()));
        }
        for (key, value) in [("name", suite.name), ("description", suite.description)] {
            if let Some(value) = value {
                push_line(&mut out, key, text(value));
            }
        }
        if interface.is_declared() {
            out += &declared::write::tables(interface);
        }
        let is_cuda = KernelFile::of(&suite.kernel) == Some(KernelFile::Cuda);
        for test in &suite.tests {
            out.push_str("\n[[test]]\n");
            self.test(&mut out, test, interface, is_cuda)?;
        }
        Ok(out)
    }

    fn test(&mut self, out: &mut String, test: &NewTest<'_>, interface: &Interface, is_cuda: bool) -> Result<()> {
        push_line(out, "name", text(&test.name));
        if let Some(description) = &test.description {
            push_line(out, "description", text(description));
        }
        for (key, value) in sizes(&test.launch.range, is_cuda) {
            push_line(out, key, value);
        }
        let shared = shared_memory(test.launch, interface).filter(|_| is_cuda);
        if let Some((_, bytes)) = shared {
            push_line(out, "shared", number(i128::from(bytes)));
        }
        if !test.launch.schedule.is_natural() {
            push_line(out, "schedule", schedule_value(&test.launch.schedule));
        }
        if test.launch.allows_faults {
            push_line(out, "faults", text("allowed"));
            if !test.faulted.is_empty() {
                let all = test.faulted.iter().map(|f| Value::Table(fault_table(f, interface))).collect();
                push_line(out, "faulted", Value::Array(all));
            }
        }
        if interface.args.len() != test.launch.args.len() {
            return Err(Error::internal(format!(
                "a launch of {} has {} arguments, but the kernel {}",
                interface.name,
                test.launch.args.len(),
                interface.args.len()
            )));
        }
        if !interface.args.is_empty() {
            out.push_str("\n[test.args]\n");
        }
        let mut variables = Vec::new();
        for (arg, value) in interface.args.iter().zip(&test.launch.args) {
            let value_text = match &arg.source {
                ArgSource::Parameter if shared.is_some_and(|(position, _)| position == arg.position) => continue,
                ArgSource::Parameter | ArgSource::Element => self.argument(arg.position, test, interface)?,
                // Written as part of its struct.
                ArgSource::Member { .. } => continue,
                ArgSource::Variable { initial, .. } => {
                    let is_initial = matches!(value, ArgValue::Buffer(bytes) if bytes == initial);
                    let is_expected = test.expectations.iter().any(|e| e.position == arg.position);
                    if !is_initial || is_expected {
                        variables.push((arg.label(), self.argument(arg.position, test, interface)?));
                    }
                    continue;
                }
            };
            push_line(out, &arg.label(), value_text);
        }
        if !variables.is_empty() {
            out.push_str("\n[test.variables]\n");
        }
        variables.into_iter().for_each(|(label, value)| push_line(out, &label, value));
        Ok(())
    }

    /// Encodes the value, the expectation and the margin of the argument at `position`.
    fn argument(&mut self, position: u32, test: &NewTest<'_>, interface: &Interface) -> Result<Value> {
        let at = position as usize;
        let (Some(arg), Some(value)) = (interface.args.get(at), test.launch.args.get(at)) else {
            return Err(Error::internal(format!("a launch of {} has no argument {position}", interface.name)));
        };
        if let (ArgValue::Value(bytes), ArgKind::Value(ty)) = (value, &arg.kind) {
            let mut members = Vec::new();
            for member in interface.args.iter().filter(|a| a.is_member()) {
                if let ArgSource::Member { parameter, offset, .. } = member.source
                    && parameter == position
                {
                    members.push((offset, self.argument(member.position, test, interface)?));
                }
            }
            let pointer = |offset: u64| members.iter().find(|(at, _)| *at == offset).map(|(_, value)| value.clone());
            if members.is_empty() && bytes.len() as u64 == ty.size() && !can_be_written(ty, bytes) {
                return Ok(table([("bytes", digits(bytes))]));
            }
            return match (value_of(ty, bytes, 0, &pointer), ty) {
                (Some(value), Type::Struct(_)) => Ok(table([("fields", value)])),
                (Some(value), _) => Ok(value),
                // What cannot be written by its parts.
                (None, _) if members.is_empty() && bytes.len() as u64 == ty.size() => {
                    Ok(table([("bytes", digits(bytes))]))
                }
                (None, _) => Err(type_mismatch(arg)),
            };
        }
        let view = view_entries(&test.launch.view(position));
        if let ArgValue::Same(target) = value {
            let label = interface.args.get(*target as usize).map(Arg::label).ok_or_else(|| type_mismatch(arg))?;
            let mut written = entries([("same_as", text(&label))]);
            written.extend(view);
            return Ok(Value::Table(written));
        }
        let expectation = test.expectations.iter().find(|e| e.position == position);
        let mut written = self.storage(arg, value, expectation)?;
        let margin = test.launch.margin(at) / faults::element_size(arg);
        if let Value::Table(entries) = &mut written
            && margin > 0
        {
            entries.insert("margin".to_owned(), number(margin.into()));
        }
        if let Value::Table(entries) = &mut written {
            entries.extend(view);
        }
        Ok(written)
    }

    /// Encodes the contents of an argument other than a value or a shared buffer, with its expectation.
    fn storage(&mut self, arg: &Arg, value: &ArgValue, expectation: Option<&Expectation>) -> Result<Value> {
        let label = arg.label();
        let type_mismatch = || type_mismatch(arg);
        let mut written = match (value, &arg.kind) {
            (ArgValue::Local(bytes), _) => return Ok(table([("local", number(i128::from(*bytes)))])),
            (ArgValue::Sampler { addressing, filter, normalized }, _) => {
                return Ok(table([("sampler", sampler(*addressing, *filter, *normalized))]));
            }
            (ArgValue::Buffer(bytes), ArgKind::Buffer { element, .. }) => {
                let known = element.as_ref().filter(|t| !matches!(t, Type::Opaque { .. }) && t.size() > 0);
                self.buffer(&label, known, bytes).ok_or_else(type_mismatch)??
            }
            (ArgValue::Image { shape, format, texels }, _) => self.image(&label, shape, format, texels)?,
            _ => return Err(type_mismatch()),
        };
        if let Some(expected) = expectation {
            let name = format!("{label}_expected");
            let mut value = self.buffer(&name, Some(&expected.ty), &expected.bytes).ok_or_else(type_mismatch)??;
            let tolerance = expected.tolerance;
            for (key, bound) in [("abs", tolerance.abs), ("rel", tolerance.rel)] {
                if bound > 0.0 {
                    value.insert(key.to_owned(), Value::Float(bound));
                }
            }
            written.insert("expect".to_owned(), Value::Table(value));
        }
        Ok(Value::Table(written))
    }

    /// Encodes the contents of a buffer; as raw bytes if they are not a whole number of elements. `None` if the type
    /// has no size.
    fn buffer(&mut self, label: &str, element: Option<&Type>, bytes: &[u8]) -> Option<Result<Table>> {
        let byte = Type::Scalar(Scalar::U8);
        let ty = element.unwrap_or(&byte);
        let size = usize::try_from(ty.size()).ok().filter(|size| *size > 0)?;
        let count = bytes.len() / size;
        if bytes.is_empty() {
            return Some(Ok(entries([("null", Value::Boolean(true))])));
        }
        if !bytes.len().is_multiple_of(size) {
            let raw = Type::Opaque { name: "void".to_owned(), size: 1 };
            let name = self.file(label, &raw, &[bytes.len() as u64], bytes);
            return Some(name.map(|name| entries([("npy", text(&name))])));
        }
        if let (Type::Scalar(scalar), Some(_)) = (ty, element) {
            let first = bytes.chunks_exact(size).next()?;
            let finite = |b: &[u8]| !matches!(scalar_layout::decode(*scalar, b), Number::Float(x) if !x.is_finite());
            if count > 1 && finite(first) && bytes.chunks_exact(size).all(|b| b == first) {
                let len = i64::try_from(count).ok()?;
                return Some(Ok(entries([("fill", scalar_of(*scalar, first)), ("len", Value::Integer(len))])));
            }
            if count <= MAX_INLINE && bytes.chunks_exact(size).all(finite) {
                let values = bytes.chunks_exact(size).map(|b| scalar_of(*scalar, b)).collect();
                return Some(Ok(entries([("values", Value::Array(values))])));
            }
        }
        Some(self.file(label, ty, &[count as u64], bytes).map(|name| entries([("npy", text(&name))])))
    }

    fn image(&mut self, label: &str, shape: &ImageShape, format: &ImageFormat, texels: &[u8]) -> Result<Table> {
        let (key, sizes) = match *shape {
            ImageShape::D1 { width } => ("image1d", vec![width]),
            ImageShape::D1Array { width, layers } => ("image1d_array", vec![layers, width]),
            ImageShape::D1Buffer { width } => ("image1d_buffer", vec![width]),
            ImageShape::D2 { width, height } => ("image2d", vec![height, width]),
            ImageShape::D2Array { width, height, layers } => ("image2d_array", vec![layers, height, width]),
            ImageShape::D3 { width, height, depth } => ("image3d", vec![depth, height, width]),
        };
        let ty = image::texel_type(format).ok_or_else(|| {
            Error::internal(format!("no image has {} with {}", format.channel_order, format.channel_type))
        })?;
        let name = self.file(label, &ty, &sizes, texels)?;
        Ok(entries([
            (key, text(&name)),
            ("channel_order", text(&format.channel_order)),
            ("channel_type", text(&format.channel_type)),
        ]))
    }

    /// Writes an array and returns the name of its file. Arrays with the same label and contents share one file.
    fn file(&mut self, label: &str, ty: &Type, shape: &[u64], bytes: &[u8]) -> Result<String> {
        let header = npy::header(ty, shape);
        let digest = (header.len() + bytes.len(), hash::wide(&[&header, bytes]));
        let safe: String = label.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let mut name = safe.clone();
        let mut number = 1;
        let is_other = |name: &String| {
            self.files.get(name).is_some_and(|known| *known != digest) || self.taken.contains(&file_name(name.clone()))
        };
        while is_other(&name) {
            number += 1;
            name = format!("{safe}-{number}");
        }
        let file = file_name(name.clone());
        if !self.files.contains_key(&name) {
            npy::write(&self.folder.join(&file), ty, shape, bytes)?;
            self.files.insert(name, digest);
        }
        Ok(file)
    }
}

/// Encodes the part of a memory that an argument is.
fn view_entries(view: &View) -> Table {
    let mut all = Table::new();
    let is_set = |flag: bool| flag.then_some(Value::Boolean(true));
    let known = [
        ("offset", (view.offset > 0).then(|| number(view.offset.into()))),
        ("size", view.size.map(|size| number(size.into()))),
        ("svm", is_set(view.svm)),
        ("uninitialised", is_set(view.uninitialised)),
        ("access", (view.access != BufferAccess::default()).then(|| text(view.access.name()))),
    ];
    all.extend(known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    all
}

/// Returns whether the scalars of a value can be written as numbers: a NaN has bits that `nan` does not tell.
fn can_be_written(ty: &Type, bytes: &[u8]) -> bool {
    scalar_layout::leaves(ty).iter().all(|leaf| {
        let Some(bytes) = usize::try_from(leaf.offset).ok().and_then(|at| bytes.get(at..)) else { return true };
        let mut again = Vec::new();
        match scalar_layout::decode(leaf.scalar, bytes) {
            Number::Float(x) if x.is_nan() => {
                scalar_layout::push_float(leaf.scalar, f64::NAN, &mut again) && bytes.starts_with(&again)
            }
            _ => true,
        }
    })
}

/// Encodes bytes as hexadecimal digits.
fn digits(bytes: &[u8]) -> Value {
    Value::String(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn type_mismatch(arg: &Arg) -> Error {
    Error::internal(format!("the value of `{}` does not fit its type `{}`", arg.label(), arg.type_name))
}

fn push_line(out: &mut String, key: &str, value: Value) {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if bare { key.to_owned() } else { text(key).to_string() };
    let _ = writeln!(out, "{key} = {value}");
}

fn text(s: &str) -> Value {
    Value::String(s.to_owned())
}

fn entries<const N: usize>(all: [(&str, Value); N]) -> Table {
    all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn table<const N: usize>(all: [(&str, Value); N]) -> Value {
    Value::Table(entries(all))
}

/// Encodes an integer; as a hexadecimal string if it does not fit TOML's 64 bits.
fn number(n: i128) -> Value {
    match i64::try_from(n) {
        Ok(n) => Value::Integer(n),
        Err(_) => Value::String(format!("{n:#x}")),
    }
}

fn numbers<T: Into<u64>>(all: impl IntoIterator<Item = T>) -> Value {
    Value::Array(all.into_iter().map(|n| number(i128::from(n.into()))).collect())
}

fn schedule_value(schedule: &Schedule) -> Value {
    let mut out = Table::new();
    for (key, list) in [("map", &schedule.map), ("item_order", &schedule.item_order)] {
        if !list.is_empty() {
            out.insert(key.to_owned(), numbers(list.iter().copied()));
        }
    }
    let preemptions: Vec<Value> = schedule
        .preemptions
        .iter()
        .map(|p| {
            let known = [("group", Some(p.group)), ("item", Some(p.item)), ("access", Some(p.access)), ("to", p.to)];
            let known = known.into_iter().filter_map(|(key, n)| Some((key.to_owned(), number(i128::from(n?)))));
            Value::Table(known.collect())
        })
        .collect();
    if !preemptions.is_empty() {
        out.insert("preemptions".to_owned(), Value::Array(preemptions));
    }
    Value::Table(out)
}

fn sampler(addressing: Addressing, filter: Filter, normalized: bool) -> Value {
    let addressing = match addressing {
        Addressing::None => "NONE",
        Addressing::ClampToEdge => "CLAMP_TO_EDGE",
        Addressing::Clamp => "CLAMP",
        Addressing::Repeat => "REPEAT",
        Addressing::MirroredRepeat => "MIRRORED_REPEAT",
    };
    let filter = match filter {
        Filter::Nearest => "NEAREST",
        Filter::Linear => "LINEAR",
    };
    table([("addressing", text(addressing)), ("filter", text(filter)), ("normalized", Value::Boolean(normalized))])
}

fn scalar_of(scalar: Scalar, bytes: &[u8]) -> Value {
    match scalar_layout::decode(scalar, bytes) {
        Number::Integer(n) => number(n),
        // The shortest digits that identify the value in its own type, not in double precision.
        Number::Float(x) => Value::Float(scalar_layout::text(scalar, bytes).parse().unwrap_or(x)),
    }
}

/// Encodes a value of `ty` that starts at byte offset `at` of the argument; `pointer` returns the encoding of a pointer
/// at an offset. `None` if there are too few bytes or a test cannot give such a value.
fn value_of(ty: &Type, bytes: &[u8], at: u64, pointer: &dyn Fn(u64) -> Option<Value>) -> Option<Value> {
    let inner = |offset: u64, ty: &Type| {
        let start = usize::try_from(offset).ok()?;
        let part = bytes.get(start..start.checked_add(usize::try_from(ty.size()).ok()?)?)?;
        value_of(ty, part, at + offset, pointer)
    };
    match ty {
        Type::Scalar(scalar) => Some(scalar_of(*scalar, bytes.get(..usize::try_from(scalar.size()).ok()?)?)),
        Type::Vector(scalar, lanes) => {
            let lane = Type::Scalar(*scalar);
            let lanes = (0..u64::from(*lanes)).map(|i| inner(i * scalar.size(), &lane));
            Some(Value::Array(lanes.collect::<Option<_>>()?))
        }
        Type::Array(element, len) => {
            let all = (0..*len).map(|i| inner(i * element.size(), element));
            Some(Value::Array(all.collect::<Option<_>>()?))
        }
        Type::Struct(s) => {
            // The largest member of a union covers the bytes of all others.
            let fields: Vec<_> = match s.is_union {
                true => s.fields.iter().max_by_key(|f| f.ty.size()).into_iter().collect(),
                false => s.fields.iter().collect(),
            };
            let fields = fields.into_iter().map(|f| Some((f.name.clone(), inner(f.offset, &f.ty)?)));
            Some(Value::Table(fields.collect::<Option<_>>()?))
        }
        Type::Pointer { .. } => pointer(at),
        Type::Opaque { .. } => None,
    }
}
