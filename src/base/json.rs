//! JSON, read in one way and written in one way: the code of a type is made anew for each reader, writer and layout,
//! and results have hundreds of types.

use std::io::{self, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::ser::Formatter;
use serde_json::{Serializer, Value};

/// How a text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// On one line, without spaces.
    Compact,
    /// As [`serde_json::to_string_pretty`] does it.
    Indented,
}

/// Reads a value from the text of a file or message.
///
/// # Errors
/// Says where the text is not JSON, or does not fit the type.
pub fn read<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(text)
}

/// Reads a value from a tree.
///
/// # Errors
/// Says what does not fit the type. Lines and columns are those of the tree's text.
pub fn read_tree<T: DeserializeOwned>(tree: &Value) -> serde_json::Result<T> {
    read(tree.to_string().as_bytes())
}

/// Writes a value's text to `sink`.
///
/// # Errors
/// Errors of `sink`; that a key is no text.
pub fn write<T: Serialize + ?Sized>(value: &T, layout: Layout, sink: &mut dyn Write) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(sink, Lines::new(layout)))
}

/// Returns the bytes of a value's compact text.
///
/// # Errors
/// That a key is no text.
pub fn bytes<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(128);
    write(value, Layout::Compact, &mut bytes)?;
    Ok(bytes)
}

/// Returns a value's text.
///
/// # Errors
/// That a key is no text.
pub fn text<T: Serialize + ?Sized>(value: &T, layout: Layout) -> serde_json::Result<String> {
    let mut bytes = Vec::with_capacity(128);
    write(value, layout, &mut bytes)?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// Returns a value as a tree.
///
/// # Errors
/// That a key is no text.
pub fn tree<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Value> {
    read(&bytes(value)?)
}

/// Width of an indentation.
const STEP: usize = 2;

/// Writes the JSON that [`serde_json::ser::PrettyFormatter`] writes, in fewer pieces (a result may name tests by the
/// million, each on a line of its own), or that of [`serde_json::ser::CompactFormatter`].
#[derive(Debug)]
struct Lines {
    layout: Layout,
    /// What comes before a value on a line of its own, as deep as any was so far: comma, end of line, indentation.
    lead: Vec<u8>,
    depth: usize,
    /// Whether the list or object that ends next has anything in it.
    is_filled: bool,
}

impl Lines {
    fn new(layout: Layout) -> Lines {
        Lines { layout, lead: b",\n".to_vec(), depth: 0, is_filled: false }
    }

    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: u8) -> io::Result<()> {
        self.depth += 1;
        self.is_filled = false;
        if self.layout == Layout::Indented {
            let length = ",\n".len() + STEP * self.depth;
            self.lead.resize(length.max(self.lead.len()), b' ');
        }
        writer.write_all(&[bracket])
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: u8) -> io::Result<()> {
        self.depth -= 1;
        if self.is_filled && self.layout == Layout::Indented {
            self.line(writer, true)?;
        }
        writer.write_all(&[bracket])
    }

    /// Begins a line: the `first` of a list or object has no comma before it.
    fn line<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        match (self.layout, first) {
            (Layout::Compact, true) => Ok(()),
            (Layout::Compact, false) => writer.write_all(b","),
            (Layout::Indented, _) => writer.write_all(&self.lead[usize::from(first)..",\n".len() + STEP * self.depth]),
        }
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b'[')
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b']')
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.line(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b'{')
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b'}')
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.line(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.layout == Layout::Indented { b": " } else { b":" })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..5).prop_map(|map| map.into_iter().collect::<Value>()),
            ]
        })
    }

    proptest! {
        #[test]
        fn texts_are_those_of_serde_json(value in values()) {
            prop_assert_eq!(text(&value, Layout::Indented).unwrap(), serde_json::to_string_pretty(&value).unwrap());
            prop_assert_eq!(text(&value, Layout::Compact).unwrap(), serde_json::to_string(&value).unwrap());
            prop_assert_eq!(tree(&value).unwrap(), value);
        }
    }
}
