//! Parses and writes the headers of `.npy` files and their element types (NumPy enhancement proposal 1,
//! versions 1 to 3).

use kassay_model::interface::{Field, Scalar, Struct, Type};

/// The type of an array element. It carries no byte order: elements in memory are little endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dtype {
    Scalar(Scalar),
    /// NumPy's `b1`: one byte, 0 or 1.
    Bool,
    /// Uninterpreted bytes (`V8`), by their number.
    Raw(u64),
    /// A structured type; padding is a field without a name.
    Record(Vec<RecordField>),
}

/// A field of a structured type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordField {
    /// Empty for padding.
    pub name: String,
    /// Type of the field, or of an element of a sub-array.
    pub dtype: Dtype,
    /// Shape of a sub-array; empty for a single value.
    pub shape: Vec<u64>,
}

impl Dtype {
    /// Returns the size in bytes; `None` if it exceeds 64 bits.
    pub fn size(&self) -> Option<u64> {
        match self {
            Dtype::Scalar(s) => Some(s.size()),
            Dtype::Bool => Some(1),
            Dtype::Raw(n) => Some(*n),
            Dtype::Record(fields) => fields.iter().try_fold(0u64, |sum, f| sum.checked_add(f.size()?)),
        }
    }

    /// Returns NumPy's name of the type.
    pub fn name(&self) -> String {
        match self {
            Dtype::Scalar(s) => {
                let kind = if s.is_float() {
                    "float"
                } else if s.is_signed() {
                    "int"
                } else {
                    "uint"
                };
                format!("{kind}{}", s.size() * 8)
            }
            Dtype::Bool => "bool".to_owned(),
            Dtype::Raw(n) => format!("void of {n} bytes"),
            Dtype::Record(fields) => {
                let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).filter(|n| !n.is_empty()).collect();
                format!("record of {}", names.join(", "))
            }
        }
    }

    /// Returns the corresponding type in memory, for arrays whose element type the kernel does not give.
    pub fn to_type(&self) -> Type {
        match self {
            Dtype::Scalar(s) => Type::Scalar(*s),
            Dtype::Bool => Type::Scalar(Scalar::U8),
            Dtype::Raw(n) => Type::Opaque { name: "void".to_owned(), size: *n },
            Dtype::Record(fields) => {
                let mut offset = 0;
                let mut out = Vec::new();
                for f in fields {
                    if !f.name.is_empty() {
                        let ty = f.shape.iter().rev().fold(f.dtype.to_type(), |ty, n| Type::Array(Box::new(ty), *n));
                        out.push(Field { name: f.name.clone(), offset, ty });
                    }
                    offset += f.size().unwrap_or(0);
                }
                Type::Struct(Struct { name: String::new(), size: offset, align: 1, fields: out, is_union: false })
            }
        }
    }
}

impl RecordField {
    /// Returns the size in bytes, sub-array included; `None` if it exceeds 64 bits.
    pub fn size(&self) -> Option<u64> {
        self.shape.iter().try_fold(self.dtype.size()?, |size, n| size.checked_mul(*n))
    }
}

/// Returns NumPy's type code of a scalar, as in a header.
pub fn code(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 => "|i1",
        Scalar::U8 => "|u1",
        Scalar::I16 => "<i2",
        Scalar::U16 => "<u2",
        Scalar::I32 => "<i4",
        Scalar::U32 => "<u4",
        Scalar::I64 => "<i8",
        Scalar::U64 => "<u8",
        Scalar::F16 => "<f2",
        Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
    }
}

/// Returns the `descr` of a type and the trailing dimensions that vectors and arrays add to the shape.
pub fn describe(ty: &Type) -> (String, Vec<u64>) {
    match ty {
        Type::Scalar(s) => (format!("'{}'", code(*s)), vec![]),
        Type::Vector(s, lanes) => {
            // A vector of three components occupies the space of four.
            (format!("'{}'", code(*s)), vec![if *lanes == 3 { 4 } else { u64::from(*lanes) }])
        }
        Type::Array(element, len) => {
            let (descr, mut shape) = describe(element);
            shape.insert(0, *len);
            (descr, shape)
        }
        Type::Struct(s) if !s.is_union => {
            let mut parts = Vec::new();
            let mut at = 0;
            for field in &s.fields {
                if field.offset > at {
                    parts.push(format!("('', '|V{}')", field.offset - at));
                }
                let (descr, shape) = describe(&field.ty);
                let dims: Vec<String> = shape.iter().map(|n| format!("{n},")).collect();
                let name = field.name.replace(['\'', '\\'], "_");
                parts.push(if dims.is_empty() {
                    format!("('{name}', {descr})")
                } else {
                    format!("('{name}', {descr}, ({}))", dims.join(" "))
                });
                at = field.offset + field.ty.size();
            }
            if s.size > at {
                parts.push(format!("('', '|V{}')", s.size - at));
            }
            (format!("[{}]", parts.join(", ")), vec![])
        }
        Type::Pointer { .. } => (format!("'|V{}'", ty.size()), vec![]),
        Type::Struct(Struct { size, .. }) | Type::Opaque { size, .. } => (format!("'|V{size}'"), vec![]),
    }
}

/// The contents of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Type of an element.
    pub dtype: Dtype,
    /// Whether the data is in Fortran (column-major) order.
    pub fortran: bool,
    /// Shape of the array; empty for a single value.
    pub shape: Vec<u64>,
    /// For each scalar of an element, in order: its size and whether its bytes must be swapped. Uninterpreted bytes are
    /// `(n, false)`.
    pub swaps: Vec<(u64, bool)>,
}

/// A Python literal of one of the kinds that occur in headers.
#[derive(Debug, Clone, PartialEq)]
enum Literal {
    Text(String),
    Number(u64),
    Bool(bool),
    /// A list or a tuple.
    Items(Vec<Literal>),
    Dict(Vec<(String, Literal)>),
}

struct Parser<'a> {
    rest: &'a str,
}

type Parsed<T> = Result<T, String>;

/// Upper bound on the scalars in the fields of a record so far, and on how often one is repeated.
const MAX_SCALARS: u64 = 1 << 20;

/// Upper bound on the nesting depth of a header.
const MAX_DEPTH: u32 = 32;

impl Parser<'_> {
    /// Consumes `token` after white space; returns whether it was there.
    fn accept(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.starts_with(token);
        if found {
            self.rest = &self.rest[token.len_utf8()..];
        }
        found
    }

    fn literal(&mut self, depth: u32) -> Parsed<Literal> {
        if depth > MAX_DEPTH {
            return Err("the header nests too deeply".to_owned());
        }
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next();
        match first {
            Some(quote @ ('\'' | '"')) => {
                let end = self.rest[1..].find(quote).ok_or("a string in the header does not end")?;
                let text = self.rest[1..=end].to_owned();
                self.rest = &self.rest[end + 2..];
                Ok(Literal::Text(text))
            }
            Some(open @ ('(' | '[')) => {
                self.rest = &self.rest[1..];
                let close = if open == '(' { ')' } else { ']' };
                let mut items = Vec::new();
                while !self.accept(close) {
                    items.push(self.literal(depth + 1)?);
                    if !self.accept(',') && !self.rest.starts_with(close) {
                        return Err("a list in the header does not end".to_owned());
                    }
                }
                Ok(Literal::Items(items))
            }
            Some('{') => {
                self.rest = &self.rest[1..];
                let mut entries = Vec::new();
                while !self.accept('}') {
                    let Literal::Text(key) = self.literal(depth + 1)? else {
                        return Err("a key of the header is no string".to_owned());
                    };
                    if !self.accept(':') {
                        return Err(format!("the header has no value for `{key}`"));
                    }
                    entries.push((key, self.literal(depth + 1)?));
                    if !self.accept(',') && !self.rest.starts_with('}') {
                        return Err("the header does not end".to_owned());
                    }
                }
                Ok(Literal::Dict(entries))
            }
            _ => {
                let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                match word {
                    "True" => Ok(Literal::Bool(true)),
                    "False" => Ok(Literal::Bool(false)),
                    _ => word
                        .trim_end_matches('L')
                        .parse()
                        .map(Literal::Number)
                        .map_err(|_| format!("the header has `{word}` where a value should be")),
                }
            }
        }
    }
}

fn numbers(literal: &Literal) -> Parsed<Vec<u64>> {
    match literal {
        Literal::Number(n) => Ok(vec![*n]),
        Literal::Items(items) => items
            .iter()
            .map(|i| match i {
                Literal::Number(n) => Ok(*n),
                _ => Err("a dimension is no number".to_owned()),
            })
            .collect(),
        _ => Err("a shape is no tuple".to_owned()),
    }
}

/// Reads a `descr`: the dtype, and for complex numbers the sub-array shape of their two parts. Appends to `swaps`.
fn dtype(descr: &Literal, swaps: &mut Vec<(u64, bool)>, depth: u32) -> Parsed<(Dtype, Vec<u64>)> {
    match descr {
        Literal::Text(text) => {
            let swap = text.starts_with('>');
            let kind = text.trim_start_matches(['<', '>', '=', '|']);
            let scalar = |s: Scalar| Ok((Dtype::Scalar(s), vec![], vec![(s.size(), swap)]));
            let (dtype, shape, order) = match kind {
                "b1" | "?" => Ok((Dtype::Bool, vec![], vec![(1, false)])),
                "i1" | "b" => scalar(Scalar::I8),
                "u1" | "B" => scalar(Scalar::U8),
                "i2" => scalar(Scalar::I16),
                "u2" => scalar(Scalar::U16),
                "i4" => scalar(Scalar::I32),
                "u4" => scalar(Scalar::U32),
                "i8" => scalar(Scalar::I64),
                "u8" => scalar(Scalar::U64),
                "f2" => scalar(Scalar::F16),
                "f4" => scalar(Scalar::F32),
                "f8" => scalar(Scalar::F64),
                // A complex number is read as a sub-array of two floats.
                "c8" => Ok((Dtype::Scalar(Scalar::F32), vec![2], vec![(4, swap); 2])),
                "c16" => Ok((Dtype::Scalar(Scalar::F64), vec![2], vec![(8, swap); 2])),
                _ => match kind.strip_prefix('V').and_then(|n| n.parse().ok()) {
                    Some(n) => Ok((Dtype::Raw(n), vec![], vec![(n, false)])),
                    None => Err(format!("kernels have no counterpart to its dtype `{text}`")),
                },
            }?;
            swaps.extend(order);
            Ok((dtype, shape))
        }
        Literal::Items(items) if depth <= MAX_DEPTH => {
            let fields = items.iter().map(|item| record_field(item, swaps, depth)).collect::<Parsed<_>>()?;
            Ok((Dtype::Record(fields), vec![]))
        }
        _ => Err("its dtype is neither a string nor a list of fields".to_owned()),
    }
}

fn record_field(item: &Literal, swaps: &mut Vec<(u64, bool)>, depth: u32) -> Parsed<RecordField> {
    let Literal::Items(parts) = item else { return Err("a field of its dtype is no tuple".to_owned()) };
    let name = match parts.first() {
        Some(Literal::Text(name)) => name.clone(),
        // A name may be a pair (title, name).
        Some(Literal::Items(names)) => match names.last() {
            Some(Literal::Text(name)) => name.clone(),
            _ => return Err("a field of its dtype has no name".to_owned()),
        },
        _ => return Err("a field of its dtype has no name".to_owned()),
    };
    let descr = parts.get(1).ok_or("a field of its dtype has no type")?;
    let mut shape = parts.get(2).map(numbers).transpose()?.unwrap_or_default();
    let start = swaps.len();
    let (dtype, inner) = dtype(descr, swaps, depth + 1)?;
    let once = swaps.split_off(start);
    let count = shape.iter().try_fold(1u64, |a, b| a.checked_mul(*b));
    let total = |n: u64| n.saturating_mul(once.len() as u64).saturating_add(swaps.len() as u64);
    let count = count.filter(|n| *n <= MAX_SCALARS && total(*n) <= MAX_SCALARS);
    let count = count.ok_or_else(|| format!("the sub-array `{name}` of its dtype is too large"))?;
    for _ in 0..count {
        swaps.extend_from_slice(&once);
    }
    shape.extend(inner);
    Ok(RecordField { name, dtype, shape })
}

/// Parses the text of a header.
///
/// # Errors
/// A description of what is wrong.
pub fn parse(text: &str) -> Parsed<Header> {
    let mut parser = Parser { rest: text };
    let Literal::Dict(entries) = parser.literal(0)? else { return Err("its header is no dictionary".to_owned()) };
    let get = |key: &str| {
        entries.iter().find(|(k, _)| k == key).map(|(_, v)| v).ok_or_else(|| format!("its header has no `{key}`"))
    };
    let mut swaps = Vec::new();
    let (dtype, inner) = dtype(get("descr")?, &mut swaps, 0)?;
    let fortran = *get("fortran_order")? == Literal::Bool(true);
    let mut shape = numbers(get("shape")?)?;
    if fortran && !inner.is_empty() {
        return Err("kassay reads complex numbers in C order only".to_owned());
    }
    shape.extend(inner);
    Ok(Header { dtype, fortran, shape, swaps })
}
