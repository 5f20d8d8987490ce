//! Parses the text of a suite file, TOML or JSON, into the tree of [`super::document`].

use kassay_base::error::Result;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::{Entry, Node, Source, Span, Value};
use super::json;

impl Source {
    /// Parses the text: as JSON if the file name ends in `.json`, otherwise as TOML.
    ///
    /// # Errors
    /// `Caller`, with its place, if the text is not well-formed.
    pub fn parse(&self) -> Result<Node> {
        if self.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            json::parse(self)
        } else {
            let root = DeTable::parse(&self.text).map_err(|e| {
                // The parser's span may lie past the last character.
                let span = e.span().unwrap_or(0..0);
                self.error(&span, format!("not valid TOML: {}", e.message().trim()))
            })?;
            let span = root.span();
            self.table(root.get_ref(), span)
        }
    }

    fn table(&self, table: &DeTable<'_>, span: Span) -> Result<Node> {
        let mut entries = table
            .iter()
            .map(|(key, value)| {
                let node = self.node(value)?;
                Ok(Entry { key: key.get_ref().clone().into_owned(), key_span: key.span(), node })
            })
            .collect::<Result<Vec<_>>>()?;
        entries.sort_by_key(|e| e.key_span.start);
        Ok(Node { span, value: Value::Table(entries) })
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Result<Node> {
        let span = value.span();
        let value = match value.get_ref() {
            DeValue::String(s) => Value::Text(s.clone().into_owned()),
            DeValue::Integer(i) => Value::Integer(
                i128::from_str_radix(i.as_str(), i.radix())
                    .map_err(|_| self.error(&span, format!("the integer {i} is too large")))?,
            ),
            DeValue::Float(f) => {
                Value::Float(f.as_str().parse().map_err(|_| self.error(&span, format!("cannot read the float {f}")))?)
            }
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Datetime(_) => {
                return Err(self.error(&span, "a date means nothing in a suite").help("put a string in quotes"));
            }
            DeValue::Array(items) => Value::List(items.iter().map(|i| self.node(i)).collect::<Result<_>>()?),
            DeValue::Table(table) => return self.table(table, span),
        };
        Ok(Node { span, value })
    }
}
