//! Indented JSON as `serde_json` writes it, in fewer pieces: a result may name tests by the million, each on a line of its own.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Width of an indentation.
const STEP: usize = 2;

/// Writes the JSON that [`serde_json::ser::PrettyFormatter`] writes.
#[derive(Debug)]
pub struct Indented {
    /// What comes before a value on a line of its own, as deep as any was so far: comma, end of line, indentation.
    lead: Vec<u8>,
    depth: usize,
    /// Whether the list or object that ends next has anything in it.
    is_filled: bool,
}

impl Default for Indented {
    fn default() -> Indented {
        Indented { lead: b",\n".to_vec(), depth: 0, is_filled: false }
    }
}

impl Indented {
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: u8) -> io::Result<()> {
        self.depth += 1;
        self.is_filled = false;
        let length = ",\n".len() + STEP * self.depth;
        self.lead.resize(length.max(self.lead.len()), b' ');
        writer.write_all(&[bracket])
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: u8) -> io::Result<()> {
        self.depth -= 1;
        if self.is_filled {
            self.line(writer, true)?;
        }
        writer.write_all(&[bracket])
    }

    /// Begins a line: the `first` of a list or object has no comma before it.
    fn line<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(&self.lead[usize::from(first)..",\n".len() + STEP * self.depth])
    }
}

impl Formatter for Indented {
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
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Serialize as _;
    use serde_json::{Serializer, Value};

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
        fn the_text_is_that_of_serde_json(value in values()) {
            let mut text = Vec::new();
            value.serialize(&mut Serializer::with_formatter(&mut text, Indented::default())).unwrap();
            prop_assert_eq!(String::from_utf8(text).unwrap(), serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
