//! Encodes values written in a suite as bytes of the kernel's types: little endian, padding zero.

use kassay_base::error::{Error, Result};
use kassay_model::interface::{Scalar, Struct, Type};

use super::de::{self, At};
use super::document::{Node, Source, Value, suggestion};
use super::scalar_layout::{self, Number};

/// Encodes nodes of one file as bytes.
#[derive(Debug, Clone, Copy)]
pub struct Encoder<'a> {
    /// The file.
    pub source: &'a Source,
    /// Whether struct fields left out are zero; otherwise they are an error.
    pub partial: bool,
    /// Whether a single number fills all scalars of a vector, an array or a struct.
    pub broadcast: bool,
    /// How a value is given that has parts of types that no value can be written for; empty if that cannot be.
    pub otherwise: &'a str,
}

fn usize_of(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The type of the coordinates of a struct that is nothing but three of these: CUDA's vectors of three, which have no
/// padding. They may be given as a list, as vectors of other lengths are.
fn coordinates(s: &Struct) -> Option<&Type> {
    let first = &s.fields.first()?.ty;
    let is_alike = matches!(first, Type::Scalar(_)) && s.fields.iter().all(|field| field.ty == *first);
    let is_named = s.fields.iter().map(|field| field.name.as_str()).eq(["x", "y", "z"]);
    (is_alike && is_named && !s.is_union).then_some(first)
}

impl Encoder<'_> {
    /// Appends the value of `node` as exactly `ty.size()` bytes.
    ///
    /// # Errors
    /// `Caller`, with its place, if `node` is not a value of `ty`.
    pub fn encode(&self, node: &Node, ty: &Type, out: &mut Vec<u8>) -> Result<()> {
        let end = out.len() + usize_of(ty.size());
        match ty {
            Type::Scalar(scalar) => self.scalar(node, *scalar, out)?,
            Type::Vector(scalar, lanes) => {
                let element = Type::Scalar(*scalar);
                self.list(node, &element, u64::from(*lanes), ty, "lane", out)?;
            }
            Type::Array(element, len) => self.list(node, element, *len, ty, "element", out)?,
            Type::Struct(s) => match coordinates(s).filter(|_| matches!(node.value, Value::List(_))) {
                Some(one) => self.list(node, one, s.fields.len() as u64, ty, "coordinate", out)?,
                None => self.fields(node, s, ty, out)?,
            },
            // Stays zero here; the launch stores the address of the pointer's buffer.
            Type::Pointer { .. } => {}
            Type::Opaque { name, .. } => {
                let error = self.source.error(&node.span, format!("no test can give a value of the type `{name}`"));
                return Err(if self.otherwise.is_empty() { error } else { error.help(self.otherwise) });
            }
        }
        out.resize(end, 0);
        Ok(())
    }

    fn list(&self, node: &Node, element: &Type, len: u64, whole: &Type, part: &str, out: &mut Vec<u8>) -> Result<()> {
        match &node.value {
            Value::List(items) => {
                if items.len() as u64 != len {
                    return Err(self
                        .source
                        .error(
                            &node.span,
                            format!(
                                "a value of `{}` has {}, but this list has {}",
                                whole.name(),
                                plural(usize_of(len), part),
                                items.len()
                            ),
                        )
                        .help(format!("give {len} values")));
                }
                items.iter().try_for_each(|item| self.encode(item, element, out))
            }
            Value::Integer(_) | Value::Float(_) | Value::Bool(_) if self.broadcast => {
                (0..len).try_for_each(|_| self.encode(node, element, out))
            }
            _ => Err(self
                .source
                .error(&node.span, format!("this is {}, but the type here is `{}`", node.kind(), whole.name()))
                .help(format!("give a list of {}", plural(usize_of(len), part)))),
        }
    }

    fn fields(&self, node: &Node, s: &Struct, whole: &Type, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let names: Vec<&str> = s.fields.iter().map(|f| f.name.as_str()).collect();
        // A nested struct may also be written like a top-level one: `{ fields = { … } }`.
        if let Some([only]) = node.entries()
            && only.key == "fields"
            && !names.contains(&"fields")
        {
            return self.fields(&only.node, s, whole, out);
        }
        let Some(entries) = node.entries() else {
            if self.broadcast && matches!(node.value, Value::Integer(_) | Value::Float(_)) {
                for field in s.fields.iter().take(if s.is_union { 1 } else { usize::MAX }) {
                    out.resize(start + usize_of(field.offset), 0);
                    self.encode(node, &field.ty, out)?;
                }
                return Ok(());
            }
            return Err(self
                .source
                .error(&node.span, format!("this is {}, but the type here is `{}`", node.kind(), whole.name()))
                .help(format!("give a table of its fields: {}", names.join(", "))));
        };
        for entry in entries {
            if !names.contains(&entry.key.as_str()) {
                return Err(self
                    .source
                    .error(&entry.key_span, format!("`{}` has no field `{}`", whole.name(), entry.key))
                    .help(suggestion(&entry.key, &names, "its fields")));
            }
        }
        if s.is_union && entries.len() != 1 {
            return Err(self
                .source
                .error(
                    &node.span,
                    format!("`{}` takes exactly one field, but {} are given", whole.name(), entries.len()),
                )
                .help(format!("choose one of: {}", names.join(", "))));
        }
        for field in &s.fields {
            if let Some(value) = node.get(&field.name) {
                out.resize(start + usize_of(field.offset), 0);
                self.encode(value, &field.ty, out)?;
            } else if !self.partial && !s.is_union {
                return Err(self
                    .source
                    .error(&node.span, format!("the field `{}` of `{}` is not given", field.name, whole.name()))
                    .help("add it, or set `partial = true` beside `fields` to make absent fields zero"));
            }
        }
        Ok(())
    }

    fn scalar(&self, node: &Node, scalar: Scalar, out: &mut Vec<u8>) -> Result<()> {
        match self.number(node, scalar)? {
            Number::Integer(n) => scalar_layout::push_integer(scalar, n, out),
            Number::Float(x) => {
                if !scalar_layout::push_float(scalar, x, out) {
                    return Err(self.out_of_range_error(node, &format!("{x:e}"), scalar));
                }
            }
        }
        Ok(())
    }

    /// Reads a node as a number for `scalar`: an integer within the type's range, or a float (not yet rounded).
    ///
    /// # Errors
    /// `Caller`, with its place, if the node is not a number of that type.
    pub fn number(&self, node: &Node, scalar: Scalar) -> Result<Number> {
        let wrong = || {
            self.source.error(&node.span, format!("this is {}, but the type here is `{}`", node.kind(), scalar.name()))
        };
        if let Some((min, max)) = scalar_layout::range(scalar) {
            let n = match &node.value {
                Value::Integer(n) => *n,
                Value::Bool(b) => i128::from(*b),
                Value::Text(s) => de::integer(s).ok_or_else(|| {
                    wrong().help("give an integer; as a string it is decimal or starts with 0x, 0o or 0b")
                })?,
                Value::Float(x) => {
                    return Err(wrong().help(if x.fract() == 0.0 {
                        format!("write {x:.0}")
                    } else {
                        "give a whole number".to_owned()
                    }));
                }
                _ => return Err(wrong().help("give one integer")),
            };
            if n < min || n > max {
                return Err(self.out_of_range_error(node, &n.to_string(), scalar));
            }
            return Ok(Number::Integer(n));
        }
        match &node.value {
            Value::Float(x) => Ok(Number::Float(*x)),
            Value::Integer(n) => Ok(Number::Float(Number::Integer(*n).as_f64())),
            Value::Text(s) => de::special_float(s).map(Number::Float).ok_or_else(|| {
                wrong().help("give a number; the strings \"nan\", \"inf\" and \"-inf\" are numbers too")
            }),
            _ => Err(wrong().help("give one number")),
        }
    }

    fn out_of_range_error(&self, node: &Node, given: &str, scalar: Scalar) -> Error {
        let error = self.source.error(&node.span, format!("{given} does not fit `{}`", scalar.name()));
        match scalar_layout::range(scalar) {
            Some((min, max)) => error.help(format!("give a value from {min} to {max}")),
            None => error.help("give a smaller value, or inf"),
        }
    }

    /// Appends the elements of a buffer: a list with one value per element, or for vectors a flat list of
    /// all components.
    ///
    /// # Errors
    /// `Caller`, with its place.
    pub fn elements(&self, node: &Node, ty: &Type, out: &mut Vec<u8>) -> Result<()> {
        let Value::List(items) = &node.value else {
            return Err(self
                .source
                .error(&node.span, format!("this is {}, but a list of values is wanted here", node.kind()))
                .help(format!("give a list of `{}`", ty.name())));
        };
        let flat = items.first().is_some_and(|i| !matches!(i.value, Value::List(_)));
        let Type::Vector(scalar, lanes) = ty else {
            return items.iter().try_for_each(|item| self.encode(item, ty, out));
        };
        if !flat {
            return items.iter().try_for_each(|item| self.encode(item, ty, out));
        }
        let lanes = usize_of(u64::from(*lanes));
        if items.len() % lanes != 0 {
            return Err(self
                .source
                .error(
                    &node.span,
                    format!("{} do not make whole elements of `{}`", plural(items.len(), "number"), ty.name()),
                )
                .help(format!("give {lanes} lanes for each element, best as a list of lists")));
        }
        for element in items.chunks(lanes) {
            let end = out.len() + usize_of(ty.size());
            element.iter().try_for_each(|lane| self.scalar(lane, *scalar, out))?;
            out.resize(end, 0);
        }
        Ok(())
    }
}

/// Reads bytes from hexadecimal digits, two for each; white space and `_` between them are skipped.
///
/// # Errors
/// `Caller`, with its place, if there is another character or half a byte.
pub fn hexadecimal(source: &Source, text: &At<String>) -> Result<Vec<u8>> {
    let wrong = |what: String| {
        source.error(&text.span, what).help("give two hexadecimal digits for each byte, such as \"00ff10\"")
    };
    let (mut bytes, mut half) = (Vec::new(), None);
    for c in text.value.chars().filter(|c| !c.is_whitespace() && *c != '_') {
        let digit = c.to_digit(16).and_then(|d| u8::try_from(d).ok());
        let digit = digit.ok_or_else(|| wrong(format!("`{c}` is no hexadecimal digit")))?;
        match half.take() {
            Some(high) => bytes.push(high << 4 | digit),
            None => half = Some(digit),
        }
    }
    match half {
        Some(_) => Err(wrong("the last byte has one digit only".to_owned())),
        None => Ok(bytes),
    }
}
