//! Reads and writes `.npy` files and converts arrays to the memory layout of a kernel's types.
//!
//! The dtype must match the kernel's type, except that integers of the same width may differ in signedness (the bits
//! are kept). Vector components are the last dimension and arrays are the last dimensions; structs are records matched
//! by field name, or bytes of the struct's size.

use std::io::{Read as _, Write};
use std::path::Path;
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_base::files::{self, Sandbox};
use kassay_model::interface::{Scalar, Struct, Type};

use super::dtype::{self, Dtype, RecordField};

/// An array in memory: C order, little endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Shape, the outermost dimension first; empty for a single value.
    pub shape: Vec<u64>,
    /// Type of an element.
    pub dtype: Dtype,
    /// The elements, without padding between them.
    pub data: Arc<Vec<u8>>,
}

/// The first bytes of every `.npy` file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Upper bound on dimensions; NumPy allows no more either.
const MAX_DIMENSIONS: usize = 64;

/// Reads a file.
///
/// # Errors
/// `Caller` if the file cannot be read, is not an `.npy` file, has a dtype without a counterpart in kernels, or holds
/// more than `limit` bytes.
pub fn read(path: &Path, limit: u64, sandbox: Option<&Sandbox>) -> Result<Array> {
    let wrong = |what: String| Error::caller(format!("cannot read `{}`: {what}", path.display()));
    let lost = |e: std::io::Error| {
        let help = files::escape_help(&e).unwrap_or("give its path relative to the suite file");
        wrong(e.to_string()).help(help)
    };
    let mut file = files::open(path, sandbox).map_err(lost)?;
    let size = file.metadata().map_err(lost)?.len();
    if size.saturating_sub(1 << 16) > limit {
        return Err(
            wrong(format!("it has {size} bytes, and no more than {limit} may be loaded")).help("split the suite")
        );
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX)).map_err(|_| {
        Error::environment(format!("there is no memory for the {size} bytes of `{}`", path.display()))
            .help("use a machine with more memory, or a smaller file")
    })?;
    file.read_to_end(&mut bytes).map_err(lost)?;
    parse(bytes).map_err(|what| wrong(what).help("save it with numpy.save"))
}

/// Parses the bytes of a file.
///
/// # Errors
/// A description of what is wrong.
pub fn parse(mut bytes: Vec<u8>) -> std::result::Result<Array, String> {
    if !bytes.starts_with(MAGIC) {
        return Err("it is no .npy file (it does not begin with \\x93NUMPY)".to_owned());
    }
    let short = || "the file ends inside its header".to_owned();
    let wide = match bytes.get(6).ok_or_else(short)? {
        1 => false,
        2 | 3 => true,
        v => return Err(format!("its version {v} is not known")),
    };
    let length = |i: usize| bytes.get(i).copied().map(usize::from).ok_or_else(short);
    let (start, len) = if wide {
        (12, length(8)? | length(9)? << 8 | length(10)? << 16 | length(11)? << 24)
    } else {
        (10, length(8)? | length(9)? << 8)
    };
    let header = bytes.get(start..start + len).ok_or_else(short)?;
    let header = dtype::parse(&String::from_utf8_lossy(header))?;
    if header.shape.len() > MAX_DIMENSIONS {
        return Err("it has too many dimensions".to_owned());
    }
    let item = header.dtype.size().filter(|n| *n > 0).ok_or("its elements are empty or too large")?;
    let wanted = header.shape.iter().try_fold(item, |a, b| a.checked_mul(*b));
    let wanted = wanted.ok_or_else(|| format!("its shape {:?} is larger than any memory", header.shape))?;
    bytes.drain(..start + len);
    if bytes.len() as u64 != wanted {
        return Err(format!("its header promises {wanted} bytes of data, but it has {}", bytes.len()));
    }
    if header.swaps.iter().any(|(_, swap)| *swap) {
        let mut at = 0;
        while at < bytes.len() {
            for (size, swap) in &header.swaps {
                let end = at + as_usize(*size);
                if *swap {
                    bytes[at..end].reverse();
                }
                at = end;
            }
        }
    }
    if header.fortran && header.shape.len() > 1 {
        bytes = to_c_order(&bytes, &header.shape, as_usize(item));
    }
    Ok(Array { shape: header.shape, dtype: header.dtype, data: Arc::new(bytes) })
}

fn as_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn to_c_order(bytes: &[u8], shape: &[u64], item: usize) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = item;
    for n in shape {
        strides.push(stride);
        stride = stride.saturating_mul(as_usize(*n));
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0u64; shape.len()];
    while out.len() < bytes.len() {
        let at: usize = index.iter().zip(&strides).map(|(i, s)| as_usize(*i) * s).sum();
        out.extend_from_slice(&bytes[at..at + item]);
        for (i, n) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *n {
                break;
            }
            *i = 0;
        }
    }
    out
}

/// Returns whether a dtype can be taken bit for bit as a scalar: equal types, or integers of the same width.
fn same_bits(dtype: &Dtype, scalar: Scalar) -> bool {
    match dtype {
        Dtype::Scalar(s) => *s == scalar || (s.size() == scalar.size() && !s.is_float() && !scalar.is_float()),
        Dtype::Bool => scalar.size() == 1,
        _ => false,
    }
}

/// Returns the number of elements in an array and its shape, without the `inner` dimensions that belong to an element.
fn split_outer(array: &Array, inner: usize) -> (u64, Vec<u64>) {
    let outer = array.shape[..array.shape.len() - inner].to_vec();
    (outer.iter().product(), outer)
}

/// Returns the dimensions within one element of a type: `(shape, alternative)`, the latter for vectors of three
/// components saved as four.
fn inner_shapes(ty: &Type) -> (Vec<u64>, Vec<u64>) {
    match ty {
        Type::Vector(_, lanes) => (vec![u64::from(*lanes)], vec![if *lanes == 3 { 4 } else { u64::from(*lanes) }]),
        Type::Array(element, len) => {
            let (mut a, mut b) = inner_shapes(element);
            a.insert(0, *len);
            b.insert(0, *len);
            (a, b)
        }
        _ => (vec![], vec![]),
    }
}

/// An array converted to the memory layout of a kernel's type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The contents in the layout of the kernel's type.
    pub bytes: Arc<Vec<u8>>,
    /// Shape in elements.
    pub shape: Vec<u64>,
}

/// The reason why an array does not fit a type, with a help text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionError {
    /// What does not fit.
    pub what: String,
    /// What helps.
    pub help: String,
}

/// Converts an array to the contents of a buffer of `ty`.
///
/// # Errors
/// The reason why it does not fit.
pub fn convert(array: &Array, ty: &Type) -> std::result::Result<Converted, ConversionError> {
    let item = as_usize(array.dtype.size().unwrap_or(0));
    // Rows of single bytes with the struct's size are taken as they are.
    if let Type::Struct(Struct { size, .. }) | Type::Opaque { size, .. } = ty {
        let byte_rows = item == 1 && *size > 0 && array.shape.last() == Some(size);
        if byte_rows {
            return Ok(Converted { bytes: Arc::clone(&array.data), shape: split_outer(array, 1).1 });
        }
    }
    let (shape, alternative) = inner_shapes(ty);
    let inner = [shape.clone(), alternative].into_iter().find(|s| array.shape.ends_with(s)).ok_or_else(|| {
        let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
        ConversionError {
            what: format!("its shape is {}, which does not make elements of `{}`", shape_text(&array.shape), ty.name()),
            help: format!("save it with the shape (…, {})", dims.join(", ")),
        }
    })?;
    let field = RecordField { name: String::new(), dtype: array.dtype.clone(), shape: inner.clone() };
    let mut plan = Vec::new();
    plan_copy(&field.dtype, &inner, 0, ty, 0, &mut plan).map_err(|what| {
        let help = match super::scalar_layout::leaves(ty).as_slice() {
            [leaf, ..] if matches!(array.dtype, Dtype::Scalar(_) | Dtype::Bool) => {
                format!("save it with dtype {}", Dtype::Scalar(leaf.scalar).name())
            }
            _ => format!("save records with the fields of `{}`, or bytes of its size ({})", ty.name(), ty.size()),
        };
        ConversionError { what, help }
    })?;
    let (count, outer_shape) = split_outer(array, inner.len());
    let (from, to) = (as_usize(field.size().unwrap_or(0)), as_usize(ty.size()));
    if from == to && is_identity(&plan, from) {
        return Ok(Converted { bytes: Arc::clone(&array.data), shape: outer_shape });
    }
    let mut out = vec![0; as_usize(count).saturating_mul(to)];
    if from > 0 {
        for (source, target) in array.data.chunks_exact(from).zip(out.chunks_exact_mut(to.max(1))) {
            for step in &plan {
                target[step.to..step.to + step.len].copy_from_slice(&source[step.from..step.from + step.len]);
            }
        }
    }
    Ok(Converted { bytes: Arc::new(out), shape: outer_shape })
}

/// Formats a shape as NumPy does.
pub fn shape_text(shape: &[u64]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A contiguous run of bytes to copy from an element of the file to an element in memory.
struct CopyStep {
    from: usize,
    to: usize,
    len: usize,
}

/// Returns whether the plan copies all `size` bytes of an element to the same offsets, so that no conversion is needed.
fn is_identity(plan: &[CopyStep], size: usize) -> bool {
    plan.iter().all(|s| s.from == s.to) && plan.iter().map(|s| s.len).sum::<usize>() == size
}

/// Appends a step, merged with the last one if contiguous.
fn push_step(plan: &mut Vec<CopyStep>, from: u64, to: u64, len: u64) {
    let (from, to, len) = (as_usize(from), as_usize(to), as_usize(len));
    match plan.last_mut() {
        Some(last) if last.from + last.len == from && last.to + last.len == to => last.len += len,
        _ => plan.push(CopyStep { from, to, len }),
    }
}

/// Plans how to copy one element: from a sub-array of `dtype` at offset `from` to a value of `ty` at offset `to`.
fn plan_copy(
    dtype: &Dtype,
    shape: &[u64],
    from: u64,
    ty: &Type,
    to: u64,
    plan: &mut Vec<CopyStep>,
) -> std::result::Result<(), String> {
    let item = dtype.size().unwrap_or(0);
    let mismatch = || Err(format!("its dtype is {}, but the type here is `{}`", dtype.name(), ty.name()));
    match (ty, shape) {
        (Type::Scalar(s), []) if same_bits(dtype, *s) => push_step(plan, from, to, item),
        (Type::Vector(s, lanes), [n]) if *n == u64::from(*lanes) || (*lanes, *n) == (3, 4) => {
            if !same_bits(dtype, *s) {
                return mismatch();
            }
            push_step(plan, from, to, item * u64::from(*lanes));
        }
        (Type::Array(element, len), [n, rest @ ..]) if n == len => {
            let stride = rest.iter().product::<u64>() * item;
            for i in 0..*len {
                plan_copy(dtype, rest, from + i * stride, element, to + i * element.size(), plan)?;
            }
        }
        (Type::Struct(s), []) => {
            if let (Dtype::Record(fields), false) = (dtype, s.is_union)
                && s.fields.iter().all(|f| fields.iter().any(|r| r.name == f.name))
            {
                let mut at = from;
                for record in fields {
                    match s.fields.iter().find(|f| f.name == record.name) {
                        Some(f) => plan_copy(&record.dtype, &record.shape, at, &f.ty, to + f.offset, plan)
                            .map_err(|what| format!("field `{}`: {what}", f.name))?,
                        None if record.name.is_empty() || matches!(record.dtype, Dtype::Raw(_)) => {}
                        None => return Err(format!("its field `{}` is none of `{}`", record.name, ty.name())),
                    }
                    at += record.size().unwrap_or(0);
                }
            } else if matches!(dtype, Dtype::Record(_) | Dtype::Raw(_)) && item == s.size {
                push_step(plan, from, to, item);
            } else if let Dtype::Record(fields) = dtype
                && let Some(missing) = s.fields.iter().find(|f| fields.iter().all(|r| r.name != f.name))
            {
                return Err(format!("its records have no field `{}`, which `{}` has", missing.name, ty.name()));
            } else {
                return mismatch();
            }
        }
        (Type::Opaque { size, .. }, []) if item == *size && *size > 0 => push_step(plan, from, to, item),
        _ if shape.is_empty() => return mismatch(),
        _ => {
            return Err(format!("a sub-array of shape {} is no `{}`", shape_text(shape), ty.name()));
        }
    }
    Ok(())
}

/// Returns the bytes of a file that holds `data` as elements of `ty` (format version 1.0, or 2.0 for long headers).
pub fn encode(ty: &Type, shape: &[u64], data: &[u8]) -> Vec<u8> {
    let mut out = header(ty, shape);
    out.extend_from_slice(data);
    out
}

/// Returns what stands before the data in a file of elements of `ty`.
pub fn header(ty: &Type, shape: &[u64]) -> Vec<u8> {
    let (descr, inner) = dtype::describe(ty);
    let shape: Vec<u64> = shape.iter().copied().chain(inner).collect();
    let dict = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {}, }}", shape_text(&shape));
    let mut out = MAGIC.to_vec();
    let prefix = if dict.len() + 74 > usize::from(u16::MAX) { 12 } else { 10 };
    // The data starts at a multiple of 64 bytes; the header ends with a newline.
    let total = (prefix + dict.len() + 1).next_multiple_of(64);
    let header = total - prefix;
    out.extend_from_slice(if prefix == 10 { &[1, 0] } else { &[2, 0] });
    out.extend_from_slice(&header.to_le_bytes()[..prefix - 8]);
    out.extend_from_slice(dict.as_bytes());
    out.resize(total - 1, b' ');
    out.push(b'\n');
    out
}

/// Writes `data`, an array of `ty` with the given shape in elements, as an `.npy` file.
///
/// # Errors
/// `Environment` if the file cannot be written; `Internal` if `data` does not have the shape.
pub fn write(path: &Path, ty: &Type, shape: &[u64], data: &[u8]) -> Result<()> {
    let size = shape.iter().try_fold(ty.size(), |a, b| a.checked_mul(*b));
    if size != Some(data.len() as u64) {
        return Err(Error::internal(format!(
            "{} bytes are no array of `{}` of the shape {}",
            data.len(),
            ty.name(),
            shape_text(shape)
        )));
    }
    let failed = |e: std::io::Error| Error::environment(format!("cannot write `{}`: {e}", path.display()));
    let mut file = std::fs::File::create(path).map_err(failed)?;
    file.write_all(&header(ty, shape)).and_then(|()| file.write_all(data)).map_err(failed)
}
