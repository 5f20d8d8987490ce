//! Deserialises the tree of [`super::document`] into serde types; every error has a place.
//!
//! The types declare the keys (`super::format`); this module explains how a file does not match them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use kassay_base::error::Result;
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, MapAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::document::{Entry, Node, Source, Span, Value, suggestion};

/// A value with its source span.
#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    /// The bytes of the value.
    pub span: Span,
    /// The value.
    pub value: T,
}

/// Reads `node` as a `T`.
///
/// # Errors
/// `Caller`, with its place and where possible a help text, if `node` does not have the shape of a `T`.
pub fn read<T: DeserializeOwned>(source: &Source, node: &Node) -> Result<T> {
    T::deserialize(Reader(node)).map_err(|e| {
        let error = source.error(&e.span.unwrap_or_else(|| node.span.clone()), e.what);
        match e.help {
            Some(help) => error.help(help),
            None => error,
        }
    })
}

/// A deserialisation error, before its span is turned into a place.
#[derive(Debug)]
pub struct ReadError {
    span: Option<Span>,
    what: String,
    help: Option<String>,
}

impl ReadError {
    fn new(what: impl Into<String>) -> Self {
        ReadError { span: None, what: what.into(), help: None }
    }

    /// Adds a span unless an inner node has already set one.
    fn at(mut self, span: &Span) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for ReadError {}

/// How the description of an integer begins.
const INTEGER: &str = "the integer ";

/// Describes the value found, in the terms of suite files.
fn found_name(unexpected: &Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(_) => "a boolean".to_owned(),
        Unexpected::Unsigned(n) => format!("{INTEGER}{n}"),
        Unexpected::Signed(n) => format!("{INTEGER}{n}"),
        Unexpected::Float(_) => "a float".to_owned(),
        Unexpected::Str(s) => format!("the string \"{s}\""),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Other(other) => {
            // serde's name of an integer that 64 bits do not hold.
            let integer = other.strip_prefix("integer `").and_then(|rest| rest.strip_suffix("` as i128"));
            integer.map_or((*other).to_owned(), |n| format!("{INTEGER}{n}"))
        }
        other => other.to_string(),
    }
}

/// Translates serde's description of the expected type into the terms of suite files. Of an integer that such a type
/// does not take, the bound that it misses is named.
fn expected_name(expected: &dyn de::Expected, found: &str) -> String {
    let text = expected.to_string();
    let bounds = match text.as_str() {
        "u32" => Some((0, i128::from(u32::MAX))),
        "u64" => Some((0, i128::from(u64::MAX))),
        "a nonzero u64" => Some((1, i128::from(u64::MAX))),
        "i64" => Some((i128::from(i64::MIN), i128::from(i64::MAX))),
        _ => None,
    };
    let integer = found.strip_prefix(INTEGER).and_then(|n| n.parse::<i128>().ok());
    match (text.as_str(), bounds, integer) {
        (_, Some((least, _)), Some(n)) if n < least => format!("a whole number of {least} or more"),
        (_, Some((_, most)), Some(_)) => format!("a whole number up to {most}"),
        (_, Some((least, _)), None) if least >= 0 => format!("a whole number of {least} or more"),
        (_, Some(_), None) => "a whole number".to_owned(),
        ("f64", ..) => "a number".to_owned(),
        ("a sequence", ..) => "a list".to_owned(),
        (other, ..) if other.starts_with("struct ") => "a table".to_owned(),
        (other, ..) => other.to_owned(),
    }
}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(msg: T) -> Self {
        ReadError::new(msg.to_string())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = found_name(&unexpected);
        let expected = expected_name(expected, &found);
        let help = match unexpected {
            Unexpected::Unsigned(n) if expected == "a list" => Some(format!("put it into brackets: [{n}]")),
            _ => None,
        };
        let what = format!("this is {found}, but {expected} is wanted here");
        ReadError { span: None, what, help }
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        ReadError::invalid_type(unexpected, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let help = Some(suggestion(variant, expected, "possible values"));
        ReadError { span: None, what: format!("unknown value \"{variant}\""), help }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let help = Some(suggestion(field, expected, "keys here"));
        ReadError { span: None, what: format!("unknown key `{field}`"), help }
    }

    fn missing_field(field: &'static str) -> Self {
        ReadError {
            span: None,
            what: format!("the key `{field}` is missing here"),
            help: Some(format!("add `{field}`")),
        }
    }
}

/// Parses an integer written as text, which is how JSON gives large or hexadecimal ones.
pub fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, digits.as_str()),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let n = i128::from_str_radix(digits, radix).ok()?;
    Some(if negative { -n } else { n })
}

/// Parses NaN and the infinities, which JSON can only give as text.
pub fn special_float(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "nan" | "+nan" | "-nan" => Some(f64::NAN),
        "inf" | "+inf" | "infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Deserialises one node.
struct Reader<'a>(&'a Node);

/// Calls the visitor's method for an integer of any width.
fn visit_integer<'de, V: Visitor<'de>>(n: i128, visitor: V) -> std::result::Result<V::Value, ReadError> {
    if let Ok(n) = u64::try_from(n) {
        visitor.visit_u64(n)
    } else if let Ok(n) = i64::try_from(n) {
        visitor.visit_i64(n)
    } else {
        visitor.visit_i128(n)
    }
}

impl<'a> Reader<'a> {
    fn visit<'de, V: Visitor<'de>>(&self, visitor: V) -> std::result::Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Integer(n) => visit_integer(*n, visitor),
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Text(s) => visitor.visit_str(s),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Table(entries) => visitor.visit_map(Entries { entries: entries.iter(), current: None }),
        }
    }

    fn visit_number<'de, V: Visitor<'de>>(&self, visitor: V) -> std::result::Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Text(s) => match (integer(s), special_float(s)) {
                (Some(n), _) => visit_integer(n, visitor),
                (None, Some(x)) => visitor.visit_f64(x),
                (None, None) => visitor.visit_str(s),
            },
            _ => self.visit(visitor),
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, ReadError> {
        self.visit(visitor).map_err(|e| e.at(&self.0.span))
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, ReadError> {
        self.visit_number(visitor).map_err(|e| e.at(&self.0.span))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, ReadError> {
        self.visit_number(visitor).map_err(|e| e.at(&self.0.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> std::result::Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> std::result::Result<V::Value, ReadError> {
        if name == AT { visitor.visit_map(Spanned { node: self.0, next: 0 }) } else { self.deserialize_any(visitor) }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> std::result::Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Text(s) => visitor.visit_enum(IntoDeserializer::<ReadError>::into_deserializer(s.as_str())),
            _ => Err(ReadError::new(format!("this is {}, but a string is wanted here", self.0.kind()))),
        }
        .map_err(|e| e.at(&self.0.span))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'a>(std::slice::Iter<'a, Node>);

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = ReadError;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> std::result::Result<Option<T::Value>, ReadError> {
        self.0.next().map(|node| seed.deserialize(Reader(node))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, Entry>,
    current: Option<&'a Entry>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> std::result::Result<Option<K::Value>, ReadError> {
        self.current = self.entries.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key = Node { span: entry.key_span.clone(), value: Value::Text(entry.key.clone()) };
        seed.deserialize(Reader(&key)).map(Some).map_err(|e| e.at(&entry.key_span))
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> std::result::Result<V::Value, ReadError> {
        match self.current {
            Some(entry) => seed.deserialize(Reader(&entry.node)),
            None => Err(ReadError::new("a value was asked for before its key")),
        }
    }
}

/// The struct name by which [`At`] asks [`Reader`] for its span; it cannot occur as a type of a file.
const AT: &str = "$kassay::At";

/// Passes an [`At`] its start, end and value as map entries with the keys 1 to 3.
struct Spanned<'a> {
    node: &'a Node,
    next: u8,
}

impl<'de> MapAccess<'de> for Spanned<'_> {
    type Error = ReadError;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> std::result::Result<Option<K::Value>, ReadError> {
        self.next += 1;
        if self.next > 3 { Ok(None) } else { seed.deserialize(u8::into_deserializer(self.next)).map(Some) }
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> std::result::Result<V::Value, ReadError> {
        match self.next {
            1 => seed.deserialize(self.node.span.start.into_deserializer()),
            2 => seed.deserialize(self.node.span.end.into_deserializer()),
            _ => seed.deserialize(Reader(self.node)),
        }
    }
}

struct AtVisitor<T>(PhantomData<T>);

impl<'de, T: de::Deserialize<'de>> Visitor<'de> for AtVisitor<T> {
    type Value = At<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a suite file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<At<T>, A::Error> {
        let start = map.next_entry::<u8, usize>()?;
        let end = map.next_entry::<u8, usize>()?;
        let value = map.next_entry::<u8, T>()?;
        match (start, end, value) {
            (Some((_, start)), Some((_, end)), Some((_, value))) => Ok(At { span: start..end, value }),
            _ => Err(de::Error::custom("only a suite file's reader gives places")),
        }
    }
}

impl<'de, T: de::Deserialize<'de>> de::Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_struct(AT, &["start", "end", "value"], AtVisitor(PhantomData))
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

/// Builds a [`Value`] without its span.
struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, b: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_u64<E>(self, n: u64) -> std::result::Result<Value, E> {
        Ok(Value::Integer(n.into()))
    }

    fn visit_i64<E>(self, n: i64) -> std::result::Result<Value, E> {
        Ok(Value::Integer(n.into()))
    }

    fn visit_i128<E>(self, n: i128) -> std::result::Result<Value, E> {
        Ok(Value::Integer(n))
    }

    fn visit_f64<E>(self, x: f64) -> std::result::Result<Value, E> {
        Ok(Value::Float(x))
    }

    fn visit_str<E>(self, s: &str) -> std::result::Result<Value, E> {
        Ok(Value::Text(s.to_owned()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        let mut items = Vec::with_capacity(seq.size_hint().unwrap_or(0));
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, node)) = map.next_entry::<At<String>, Node>()? {
            entries.push(Entry { key: key.value, key_span: key.span, node });
        }
        Ok(Value::Table(entries))
    }
}

impl<'de> de::Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

impl<'de> de::Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let At { span, value } = At::<Value>::deserialize(deserializer)?;
        Ok(Node { span, value })
    }
}
