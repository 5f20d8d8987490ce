//! Decodes the syntax tree that `clang/records.cpp` encodes. The format is private to these two files.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{Ast, Function, Loc, Node, Position, Range};
use super::ast_cpp::{self, HeadParts};
use super::builtins;
use super::bytes::Reader;

const END: u8 = 0;
const ABSENT: u8 = 1;

/// The parts of a node, with the values of `records.cpp`.
mod part {
    /// The first and the last token.
    pub const RANGE: u64 = 1 << 0;
    /// The operator.
    pub const OPCODE: u64 = 1 << 1;
    /// A flag: the `++` or `--` follows its operand.
    pub const POSTFIX: u64 = 1 << 2;
    /// The name.
    pub const NAME: u64 = 1 << 3;
    /// The declaration referred to, and its kind.
    pub const REFERENCE: u64 = 1 << 4;
    /// The type as spelt.
    pub const TYPE: u64 = 1 << 5;
    /// The type without typedefs.
    pub const DESUGARED: u64 = 1 << 6;
    /// The operand of `sizeof (type)` and its like.
    pub const ARGUMENT_TYPE: u64 = 1 << 7;
    /// The kind of a cast.
    pub const CAST: u64 = 1 << 8;
    /// The value of a literal or constant expression.
    pub const VALUE: u64 = 1 << 9;
    /// A flag: the `if` has an `else`.
    pub const ELSE: u64 = 1 << 10;
    /// A flag: the case label is a range.
    pub const IS_RANGE: u64 = 1 << 11;
    /// A flag: an initial statement precedes the condition.
    pub const INIT: u64 = 1 << 12;
    /// A flag: the condition declares a variable.
    pub const VARIABLE: u64 = 1 << 13;
    /// The mangled name of the builtin that is called.
    pub const BUILTIN: u64 = 1 << 14;
}

/// Decodes the tree; `None` if `bytes` holds none.
pub(super) fn read(bytes: &[u8]) -> Option<Ast> {
    if bytes.is_empty() {
        return None;
    }
    let mut records = Records { reader: Reader::new(bytes), texts: Vec::new(), declarations: HashMap::new() };
    let texts = records.reader.count()?;
    for _ in 0..texts {
        let text = String::from_utf8_lossy(records.reader.block()?);
        records.texts.push(text.into());
    }
    let mut ast = Ast::default();
    for _ in 0..records.reader.count()? {
        let id = records.declaration()?;
        let value = records.reader.number()?;
        ast.enum_values.insert(id, (value >> 1) as i64 ^ -((value & 1) as i64));
    }
    for _ in 0..records.reader.count()? {
        let id = records.declaration()?;
        ast.initializers.insert(id, records.node()?);
    }
    for _ in 0..records.reader.count()? {
        let name = records.text()?.to_string();
        let is_kernel = records.reader.number()? != 0;
        let location = records.position()??;
        ast.functions.push(Function { name, is_kernel, location, body: records.node()? });
    }
    records.reader.is_done().then_some(ast)
}

struct Records<'b> {
    reader: Reader<'b>,
    texts: Vec<Arc<str>>,
    declarations: HashMap<u64, Arc<str>>,
}

impl Records<'_> {
    fn text(&mut self) -> Option<Arc<str>> {
        let index = usize::try_from(self.reader.number()?).ok()?;
        self.texts.get(index).cloned()
    }

    fn declaration(&mut self) -> Option<Arc<str>> {
        let id = self.reader.number()?;
        Some(self.declarations.entry(id).or_insert_with(|| id.to_string().into()).clone())
    }

    /// Decodes a node with its descendants. Iterative, because trees may be deep.
    fn node(&mut self) -> Option<Node> {
        let mut open: Vec<(Node, HeadParts)> = Vec::new();
        loop {
            match self.reader.byte()? {
                END => {
                    let (done, parts) = open.pop()?;
                    let done = ast_cpp::normalised(done, parts);
                    match open.last_mut() {
                        Some((parent, _)) => parent.children.push(done),
                        None => return Some(done),
                    }
                }
                ABSENT => open.push(Default::default()),
                _ => open.push(self.present()?),
            }
        }
    }

    fn present(&mut self) -> Option<(Node, HeadParts)> {
        let kind = self.text()?;
        let parts = self.reader.number()?;
        let has = |part| parts & part != 0;
        let mut node = Node { kind, ..Node::default() };
        if has(part::RANGE) {
            node.range = self.position()?.zip(self.position()?).map(|(begin, end)| Range { begin, end });
        }
        let mut text = |part| if has(part) { self.text().map(Some) } else { Some(None) };
        node.opcode = text(part::OPCODE)?;
        node.name = text(part::NAME)?;
        if has(part::REFERENCE) {
            node.referenced = Some(self.declaration()?);
            node.referenced_kind = Some(self.text()?);
        }
        let mut text = |part| if has(part) { self.text().map(Some) } else { Some(None) };
        node.ty = text(part::TYPE)?;
        node.desugared = text(part::DESUGARED)?;
        node.argument_type = text(part::ARGUMENT_TYPE)?;
        node.cast_kind = text(part::CAST)?;
        node.value = text(part::VALUE)?.map(|value| value.to_string());
        let builtin = text(part::BUILTIN)?;
        node.builtin = builtin.and_then(|label| Some(builtins::demangle(&label)?.0.into()));
        node.is_postfix = has(part::POSTFIX);
        node.has_else = has(part::ELSE);
        node.is_range = has(part::IS_RANGE);
        Some((node, HeadParts { has_init: has(part::INIT), has_variable: has(part::VARIABLE) }))
    }

    /// The outer `None` is malformed input, the inner one a token without a position.
    fn position(&mut self) -> Option<Option<Position>> {
        let tag = self.reader.number()?;
        let (is_spelt, is_macro_arg) = match tag {
            0 => return Some(None),
            1 => (false, false),
            2..=5 => ((tag - 2) & 1 != 0, (tag - 2) & 2 != 0),
            _ => return None,
        };
        let expansion = self.location()?;
        let spelling = if is_spelt { Some(self.location()?) } else { None };
        Some(Some(Position { expansion, spelling, is_macro_arg }))
    }

    fn location(&mut self) -> Option<Loc> {
        let file = self.text()?;
        let mut number = || u32::try_from(self.reader.number()?).ok();
        Some(Loc { file, line: number()?, column: number()?, offset: number()?, tok_len: number()? })
    }
}
