//! Reads clang's `-ast-dump=json`, for comparison: streams the translation unit and keeps only functions with a body.
//!
//! clang leaves out `file` and `line` where they are those of the location written just before, over all locations
//! of the document in order; so every location is read, even in parts that are then dropped. Not for interpreting
//! the tree.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::io::{BufReader, Read};
use std::sync::Arc;

use kassay_ir::kernel::ast::{Ast, Function, Loc, Node, Position, Range};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Reads one document; call it on a thread with a large stack, because the tree may be deep.
pub fn read(json: impl Read) -> serde_json::Result<Ast> {
    let state = RefCell::new(State::default());
    let mut deserializer = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, json));
    deserializer.disable_recursion_limit();
    Unit(&state).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(state.into_inner().ast)
}

/// Deeper trees are refused: clang indents them, so that they grow with the square of their depth, and code that walks
/// one would need a large stack.
const MAX_DEPTH: u32 = 1_000;

/// The state that is carried through the document.
#[derive(Default)]
struct State {
    depth: u32,
    file: Arc<str>,
    line: u32,
    strings: HashSet<Arc<str>>,
    ast: Ast,
}

impl State {
    fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.strings.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.strings.insert(new.clone());
        new
    }

    fn keep(&mut self, declaration: Declaration) {
        let Declaration { node, location, .. } = declaration;
        if !node.is("FunctionDecl") {
            return;
        }
        let is_kernel = node.children.iter().any(|child| child.is("DeviceKernelAttr") || child.is("OpenCLKernelAttr"));
        let (Some(name), Some(location)) = (&node.name, location) else { return };
        let name = name.to_string();
        if let Some(body) = node.children.into_iter().find(|child| child.is("CompoundStmt")) {
            self.ast.functions.push(Function { name, is_kernel, location, body });
        }
    }

    /// Enumerators without a value continue from the previous one.
    fn enumerate(&mut self, constants: &[(Arc<str>, Option<i64>)]) {
        let mut next: i64 = 0;
        for (id, value) in constants {
            let value = value.unwrap_or(next);
            self.ast.enum_values.insert(id.clone(), value);
            next = value.wrapping_add(1);
        }
    }
}

/// A node, with the parts that only its parent or the translation unit needs.
#[derive(Default)]
struct Declaration {
    node: Node,
    id: Option<Arc<str>>,
    location: Option<Position>,
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Id,
    Kind,
    Loc,
    Range,
    Name,
    Type,
    ArgType,
    Opcode,
    IsPostfix,
    CastKind,
    Value,
    HasElse,
    #[serde(rename = "isGNURange")]
    IsGnuRange,
    ReferencedDecl,
    Inner,
    #[serde(other)]
    Other,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeText {
    qual_type: String,
    desugared_qual_type: Option<String>,
}

#[derive(serde::Deserialize)]
struct Referenced {
    id: String,
    kind: String,
    name: Option<String>,
}

macro_rules! seed {
    ($name:ident, $value:ty, $method:ident) => {
        #[derive(Clone, Copy)]
        struct $name<'s>(&'s RefCell<State>);

        impl<'de> DeserializeSeed<'de> for $name<'_> {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.$method(self)
            }
        }
    };
}

seed!(Unit, (), deserialize_map);
seed!(Top, (), deserialize_seq);
seed!(Children, Vec<Declaration>, deserialize_seq);
seed!(NodeSeed, Declaration, deserialize_map);
seed!(RangeSeed, Option<Range>, deserialize_map);
seed!(PositionSeed, Option<Position>, deserialize_map);
seed!(Skip, Skipped, deserialize_any);

impl<'de> Visitor<'de> for Unit<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a translation unit")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key()? {
            if matches!(key, Key::Inner) {
                map.next_value_seed(Top(self.0))?;
            } else {
                map.next_value_seed(Skip(self.0))?;
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("top-level declarations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(declaration) = seq.next_element_seed(NodeSeed(self.0))? {
            self.0.borrow_mut().keep(declaration);
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Children<'_> {
    type Value = Vec<Declaration>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Declaration>, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = seq.next_element_seed(NodeSeed(self.0))? {
            nodes.push(node);
        }
        Ok(nodes)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Declaration;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a node")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Declaration, A::Error> {
        let intern = |text: String| self.0.borrow_mut().intern(&text);
        self.0.borrow_mut().depth += 1;
        if self.0.borrow().depth > MAX_DEPTH {
            return Err(A::Error::custom("the tree is too deep"));
        }
        let mut this = Declaration::default();
        let node = &mut this.node;
        let mut children = Vec::new();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Id => this.id = Some(map.next_value::<String>()?.into()),
                Key::Kind => node.kind = intern(map.next_value()?),
                Key::Loc => this.location = map.next_value_seed(PositionSeed(self.0))?,
                Key::Range => node.range = map.next_value_seed(RangeSeed(self.0))?,
                Key::Name => node.name = Some(intern(map.next_value()?)),
                Key::Type => {
                    let text: TypeText = map.next_value()?;
                    node.ty = Some(intern(text.qual_type));
                    node.desugared = text.desugared_qual_type.map(intern);
                }
                Key::ArgType => {
                    let text: TypeText = map.next_value()?;
                    node.argument_type = Some(intern(text.desugared_qual_type.unwrap_or(text.qual_type)));
                }
                Key::Opcode => node.opcode = Some(intern(map.next_value()?)),
                Key::IsPostfix => node.is_postfix = map.next_value()?,
                Key::CastKind => node.cast_kind = Some(intern(map.next_value()?)),
                Key::Value => {
                    node.value = Some(match map.next_value()? {
                        serde_json::Value::String(text) => text,
                        other => other.to_string(),
                    });
                }
                Key::HasElse => node.has_else = map.next_value()?,
                Key::IsGnuRange => node.is_range = map.next_value()?,
                Key::ReferencedDecl => {
                    let referenced: Referenced = map.next_value()?;
                    node.referenced = Some(intern(referenced.id));
                    node.referenced_kind = Some(intern(referenced.kind));
                    node.name = referenced.name.map(intern);
                }
                Key::Inner => children = map.next_value_seed(Children(self.0))?,
                Key::Other => {
                    map.next_value_seed(Skip(self.0))?;
                }
            }
        }
        if node.is("EnumDecl") {
            let constants: Vec<_> = children.iter().filter_map(enumerator).collect();
            self.0.borrow_mut().enumerate(&constants);
        }
        // Documentation is not part of the tree.
        node.children = children.into_iter().map(|child| child.node).filter(|node| !node.is("FullComment")).collect();
        if node.is("VarDecl")
            && let Some(id) = &this.id
            // Attributes follow the value.
            && let Some(init) = node.children.iter().rev().find(|child| !child.kind.ends_with("Attr"))
            && node.canonical_type().is_some_and(|ty| ty.contains("const"))
        {
            self.0.borrow_mut().ast.initializers.insert(id.clone(), init.clone());
        }
        if node.is("CallExpr") {
            node.name = node.children.first().and_then(callee);
        }
        self.0.borrow_mut().depth -= 1;
        Ok(this)
    }
}

fn enumerator(declaration: &Declaration) -> Option<(Arc<str>, Option<i64>)> {
    let Declaration { node, id, .. } = declaration;
    let value = || {
        let mut inner = node.children.first()?;
        while inner.value.is_none() {
            inner = inner.children.first()?;
        }
        inner.value.as_ref()?.parse().ok()
    };
    node.is("EnumConstantDecl").then(|| Some((id.clone()?, value())))?
}

/// Returns the name of the function that a call names directly.
fn callee(mut node: &Node) -> Option<Arc<str>> {
    while node.is("ImplicitCastExpr") || node.is("ParenExpr") {
        node = node.children.first()?;
    }
    node.is("DeclRefExpr").then(|| node.name.clone())?
}

impl<'de> Visitor<'de> for RangeSeed<'_> {
    type Value = Option<Range>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a range")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Range>, A::Error> {
        let (mut begin, mut end) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            let position = map.next_value_seed(PositionSeed(self.0))?;
            match key.as_str() {
                "begin" => begin = position,
                _ => end = position,
            }
        }
        Ok(begin.zip(end).map(|(begin, end)| Range { begin, end }))
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum LocKey {
    Offset,
    File,
    Line,
    Col,
    TokLen,
    SpellingLoc,
    ExpansionLoc,
    IsMacroArgExpansion,
    #[serde(other)]
    Other,
}

impl<'de> Visitor<'de> for PositionSeed<'_> {
    type Value = Option<Position>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a location")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Position>, A::Error> {
        let (mut offset, mut column, mut tok_len) = (None, 0, 0);
        let (mut spelling, mut expansion, mut is_macro_arg) = (None, None, false);
        while let Some(key) = map.next_key()? {
            match key {
                LocKey::Offset => offset = Some(map.next_value()?),
                LocKey::File => {
                    let file: String = map.next_value()?;
                    let mut state = self.0.borrow_mut();
                    state.file = state.intern(&file);
                }
                LocKey::Line => self.0.borrow_mut().line = map.next_value()?,
                LocKey::Col => column = map.next_value()?,
                LocKey::TokLen => tok_len = map.next_value()?,
                LocKey::SpellingLoc => spelling = map.next_value_seed(PositionSeed(self.0))?,
                LocKey::ExpansionLoc => expansion = map.next_value_seed(PositionSeed(self.0))?,
                LocKey::IsMacroArgExpansion => is_macro_arg = map.next_value()?,
                // `includedFrom` names a file too, but not that of a location.
                LocKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if let Some(expansion) = expansion {
            let (expansion, spelling): (Position, Option<Position>) = (expansion, spelling);
            let is_macro_arg = is_macro_arg || expansion.is_macro_arg;
            let spelling = spelling.map(|spelling| spelling.expansion);
            return Ok(Some(Position { expansion: expansion.expansion, spelling, is_macro_arg }));
        }
        let state = self.0.borrow();
        Ok(offset.map(|offset| Position {
            expansion: Loc { file: state.file.clone(), line: state.line, column, offset, tok_len },
            spelling: None,
            is_macro_arg,
        }))
    }
}

/// What [`Skip`] skipped.
enum Skipped {
    Text(String),
    Number(u64),
    Other,
}

/// Skips the value of a key that is not read, but reads the locations in it.
impl<'de> Visitor<'de> for Skip<'_> {
    type Value = Skipped;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Skipped, E> {
        Ok(Skipped::Number(value))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_str<E>(self, value: &str) -> Result<Skipped, E> {
        Ok(Skipped::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Skipped, A::Error> {
        while seq.next_element_seed(self)?.is_some() {}
        Ok(Skipped::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Skipped, A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "includedFrom" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            match (key.as_str(), map.next_value_seed(self)?) {
                ("file", Skipped::Text(file)) => {
                    let mut state = self.0.borrow_mut();
                    state.file = state.intern(&file);
                }
                ("line", Skipped::Number(line)) => {
                    self.0.borrow_mut().line = u32::try_from(line).unwrap_or(u32::MAX);
                }
                _ => {}
            }
        }
        Ok(Skipped::Other)
    }
}
