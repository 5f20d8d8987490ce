//! Reads and writes values of SPIR-V's specialisation constants: the key `spec` of suites and tests.
//!
//! Which constants a kernel has, and which values their types have, is known to `kernel` alone.

use kassay_base::error::Result;
use kassay_model::options::SpecValue;
use toml::{Table, Value as Toml};

use super::document::{Node, Source, Value};

/// Reads the table of a `spec` key.
///
/// # Errors
/// `Caller`, with its place, if it is no table of booleans and numbers.
pub(super) fn read(source: &Source, node: Option<&Node>) -> Result<Vec<SpecValue>> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let Some(entries) = node.entries() else {
        let what = format!("this is {}, but a table of specialisation constants is wanted here", node.kind());
        return Err(source.error(&node.span, what).help("write them as { 0 = 64, tile = 16 }, by number or name"));
    };
    let mut values = Vec::new();
    for entry in entries {
        let value = match &entry.node.value {
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            // JSON has no other way for infinities.
            Value::Text(value) => value.clone(),
            Value::List(_) | Value::Table(_) => {
                let what =
                    format!("this is {}, but the value of a specialisation constant is wanted here", entry.node.kind());
                return Err(source.error(&entry.node.span, what).help("give true, false or a number"));
            }
        };
        let places = Some((source.place(&entry.key_span), source.place(&entry.node.span)));
        values.push(SpecValue { constant: entry.key.clone(), value, places });
    }
    Ok(values)
}

/// Makes the table that reads back as these values; of several for one key, the last.
pub(super) fn table(values: &[SpecValue]) -> Toml {
    let entry = |value: &SpecValue| {
        let toml = match (value.value.parse::<i64>(), value.value.parse::<bool>()) {
            (Ok(number), _) => Toml::Integer(number),
            (Err(_), Ok(truth)) => Toml::Boolean(truth),
            (Err(_), Err(_)) => Toml::String(value.value.clone()),
        };
        (value.constant.clone(), toml)
    };
    Toml::Table(values.iter().map(entry).collect::<Table>())
}
