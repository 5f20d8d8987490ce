//! Reads types from debug information. LLVM's C interface exposes little of it, so the module's text is parsed: lines
//! of the form `!12 = !DICompositeType(tag: …, name: "…", elements: !13)`.
//!
//! Not for functions or locations.

use std::collections::HashMap;

use kassay_model::interface::{Field, POINTER_BYTES, Scalar, Struct, Type};
use kassay_model::options::CUDA_HEADERS;

/// Limit on the nesting of types; deeper ones are opaque (a guard against cycles in malformed metadata).
const MAX_DEPTH: u32 = 64;

/// The size in bytes of the largest vectors of CUDA that are aligned as those of OpenCL C are.
const LARGEST_CUDA_VECTOR: u64 = 16;

/// The nodes of a module's debug information that describe types, subprograms and variables.
#[derive(Debug, Default)]
pub(super) struct DebugTypes {
    nodes: HashMap<u32, Node>,
}

#[derive(Debug)]
enum Node {
    Described {
        class: String,
        keys: HashMap<String, String>,
    },
    /// `!{!1, null, !2}`.
    List(Vec<Option<u32>>),
}

/// A parameter as the source declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Param {
    pub name: Option<String>,
    pub ty: u32,
}

impl DebugTypes {
    /// Parses the text of a module.
    pub fn read(module: &str) -> Self {
        DebugTypes { nodes: module.lines().filter_map(line).collect() }
    }

    pub(super) fn key(&self, id: u32, key: &str) -> Option<&str> {
        match self.nodes.get(&id)? {
            Node::Described { keys, .. } => keys.get(key).map(String::as_str),
            Node::List(_) => None,
        }
    }

    pub(super) fn reference(&self, id: u32, key: &str) -> Option<u32> {
        reference(self.key(id, key)?)
    }

    fn number(&self, id: u32, key: &str) -> Option<u64> {
        self.key(id, key)?.parse().ok()
    }

    pub(super) fn list(&self, id: Option<u32>) -> &[Option<u32>] {
        match id.and_then(|id| self.nodes.get(&id)) {
            Some(Node::List(list)) => list,
            _ => &[],
        }
    }

    /// The class of a node, such as `DISubprogram`; empty for lists and unknown nodes.
    pub(super) fn class(&self, id: u32) -> &str {
        match self.nodes.get(&id) {
            Some(Node::Described { class, .. }) => class,
            _ => "",
        }
    }

    /// The nodes of a class, in any order.
    pub(super) fn of_class(&self, class: &str) -> impl Iterator<Item = u32> {
        self.nodes.keys().copied().filter(move |id| self.class(*id) == class)
    }

    /// The parameters of the function whose source name is `name`.
    pub fn params(&self, name: &str) -> Option<Vec<Param>> {
        let mut subprograms: Vec<u32> = (self.nodes.keys().copied())
            .filter(|&id| self.class(id) == "DISubprogram" && self.key(id, "name") == Some(name))
            .filter(|&id| {
                let flags = self.key(id, "spFlags").unwrap_or_default();
                flags.contains("DISPFlagDefinition") || self.key(id, "isDefinition") == Some("true")
            })
            .collect();
        subprograms.sort_unstable();
        let subprogram = *subprograms.first()?;
        let types = self.list(self.reference(self.reference(subprogram, "type")?, "types"));
        let variables =
            self.list(self.reference(subprogram, "retainedNodes").or_else(|| self.reference(subprogram, "variables")));
        let named = |position: u64| {
            let variable = variables.iter().flatten().find(|&&id| self.number(id, "arg") == Some(position))?;
            self.key(*variable, "name").map(str::to_owned)
        };
        let params = types.iter().enumerate().skip(1);
        params.map(|(i, ty)| Some(Param { name: named(i as u64), ty: (*ty)? })).collect()
    }

    /// The type of the global variable with source name `name` or LLVM name `linkage`.
    pub fn variable(&self, name: &str, linkage: &str) -> Option<Type> {
        let is_it = |id: &u32| {
            let source_name = [self.key(*id, "linkageName"), self.key(*id, "name")].into_iter().flatten().next();
            self.class(*id) == "DIGlobalVariable" && source_name.is_some_and(|n| n == linkage || n == name)
        };
        let mut found: Vec<u32> = self.nodes.keys().copied().filter(is_it).collect();
        found.sort_unstable();
        self.resolve(self.reference(*found.first()?, "type")?)
    }

    /// Strips typedefs and qualifiers.
    fn strip(&self, mut id: u32) -> Option<u32> {
        for _ in 0..MAX_DEPTH {
            match self.key(id, "tag") {
                Some(
                    "DW_TAG_typedef"
                    | "DW_TAG_const_type"
                    | "DW_TAG_volatile_type"
                    | "DW_TAG_restrict_type"
                    | "DW_TAG_atomic_type"
                    | "DW_TAG_member",
                ) => id = self.reference(id, "baseType")?,
                _ => return Some(id),
            }
        }
        None
    }

    /// The pointee of a pointer type; `None` for other types and for `void *`.
    pub fn pointee(&self, id: u32) -> Option<u32> {
        let pointer = self.strip(id)?;
        (self.key(pointer, "tag") == Some("DW_TAG_pointer_type")).then(|| self.reference(pointer, "baseType"))?
    }

    /// Returns whether the pointee of `id` is const.
    pub fn points_to_const(&self, id: u32) -> bool {
        let mut at = self.pointee(id);
        for _ in 0..MAX_DEPTH {
            match at.and_then(|id| Some((id, self.key(id, "tag")?))) {
                Some((_, "DW_TAG_const_type")) => return true,
                Some((id, "DW_TAG_typedef" | "DW_TAG_volatile_type" | "DW_TAG_restrict_type")) => {
                    at = self.reference(id, "baseType");
                }
                _ => return false,
            }
        }
        false
    }

    /// The in-memory type; `None` for functions, incomplete structs and unknown nodes.
    pub fn resolve(&self, id: u32) -> Option<Type> {
        self.resolve_within(id, MAX_DEPTH, false)
    }

    /// Like [`resolve`](Self::resolve), for what a launch gives, by value or in a buffer: pointers in it become
    /// [`Type::Pointer`]; those that they point to are opaque.
    pub fn resolve_value(&self, id: u32) -> Option<Type> {
        self.resolve_within(id, MAX_DEPTH, true)
    }

    fn resolve_within(&self, id: u32, depth: u32, is_value: bool) -> Option<Type> {
        let depth = depth.checked_sub(1)?;
        let id = self.strip(id)?;
        let bytes = self.number(id, "size").unwrap_or(0).div_ceil(8);
        if self.class(id) == "DIBasicType" {
            let scalar = basic(self.key(id, "encoding").unwrap_or_default(), bytes);
            let name = self.key(id, "name").unwrap_or_default().to_owned();
            return Some(scalar.map_or(Type::Opaque { name, size: bytes }, Type::Scalar));
        }
        match self.key(id, "tag")? {
            "DW_TAG_pointer_type" if is_value && bytes == POINTER_BYTES => {
                let pointee = self.pointee(id).and_then(|base| self.resolve_within(base, depth, false));
                Some(Type::Pointer { name: self.pointer_name(id, depth), pointee: pointee.map(Box::new) })
            }
            "DW_TAG_pointer_type" => Some(Type::Opaque { name: self.pointer_name(id, depth), size: bytes }),
            "DW_TAG_enumeration_type" => {
                let base = self.reference(id, "baseType").and_then(|base| self.resolve_within(base, depth, false));
                base.or_else(|| basic("DW_ATE_unsigned", bytes).map(Type::Scalar))
            }
            "DW_TAG_array_type" => self.array(id, depth, is_value),
            tag @ ("DW_TAG_structure_type" | "DW_TAG_class_type" | "DW_TAG_union_type") => {
                if self.key(id, "flags").is_some_and(|flags| flags.contains("DIFlagFwdDecl")) {
                    return None;
                }
                let is_union = tag == "DW_TAG_union_type";
                let record = self.record(id, is_union, bytes, depth, is_value && !is_union)?;
                Some(self.of_cuda(id, &record).unwrap_or(record))
            }
            _ => None,
        }
    }

    /// The number or vector that a class of the headers for CUDA stands for, which clang knows as a struct only:
    /// `__half`, `float2`.
    fn of_cuda(&self, id: u32, record: &Type) -> Option<Type> {
        let file = self.key(self.reference(id, "file")?, "filename")?;
        let Type::Struct(Struct { fields, size, .. }) = record else { return None };
        if !file.starts_with(CUDA_HEADERS) || *size > LARGEST_CUDA_VECTOR {
            return None;
        }
        let scalars = fields.iter().map(|field| if let Type::Scalar(scalar) = field.ty { Some(scalar) } else { None });
        let scalars = scalars.collect::<Option<Vec<_>>>()?;
        match scalars[..] {
            [one] => Some(Type::Scalar(one)),
            [first, ..] if matches!(scalars.len(), 2 | 4) && scalars.iter().all(|one| *one == first) => {
                Some(Type::Vector(first, scalars.len() as u32))
            }
            _ => None,
        }
    }

    fn pointer_name(&self, id: u32, depth: u32) -> String {
        let Some(base) = self.reference(id, "baseType") else { return "void*".to_owned() };
        let stripped = self.strip(base);
        let name = stripped.and_then(|base| self.key(base, "name")).map(str::to_owned);
        let name = name.or_else(|| {
            // Structs may point to themselves: they are named, not followed.
            let followed = stripped.filter(|&base| self.key(base, "elements").is_none());
            self.resolve_within(followed?, depth, false).map(|ty| ty.name())
        });
        format!("{}*", name.unwrap_or_default())
    }

    fn array(&self, id: u32, depth: u32, is_value: bool) -> Option<Type> {
        let element = self.resolve_within(self.reference(id, "baseType")?, depth, is_value)?;
        let counts: Vec<u64> = (self.list(self.reference(id, "elements")).iter().flatten())
            .map(|&range| self.number(range, "count").unwrap_or(0))
            .collect();
        if self.key(id, "flags").is_some_and(|flags| flags.contains("DIFlagVector")) {
            let Type::Scalar(scalar) = element else { return None };
            return Some(Type::Vector(scalar, u32::try_from(*counts.first()?).ok()?));
        }
        Some(counts.iter().rev().fold(element, |element, &count| Type::Array(Box::new(element), count)))
    }

    fn record(&self, id: u32, is_union: bool, size: u64, depth: u32, is_value: bool) -> Option<Type> {
        let mut fields: Vec<Field> = Vec::new();
        for &member in self.list(self.reference(id, "elements")).iter().flatten() {
            let flags = self.key(member, "flags").unwrap_or_default();
            if self.key(member, "tag") == Some("DW_TAG_inheritance") {
                fields.extend(self.inherited(member, depth, is_value));
            }
            if self.key(member, "tag") != Some("DW_TAG_member") || flags.contains("DIFlagStaticMember") {
                continue;
            }
            let bits = self.number(member, "size").unwrap_or(0);
            let is_bit_field = flags.contains("DIFlagBitField");
            let offset = self.number(member, "offset").unwrap_or(0) / 8;
            let position = fields.len().to_string();
            let name = self.key(member, "name").map_or(position, str::to_owned);
            let ty = if is_bit_field {
                Type::Opaque { name: format!("{bits}-bit field"), size: bits.div_ceil(8) }
            } else {
                let size = bits.div_ceil(8);
                let opaque = || Type::Opaque { name: self.key(member, "name").unwrap_or_default().to_owned(), size };
                self.resolve_within(member, depth, is_value).unwrap_or_else(opaque)
            };
            fields.push(Field { name, offset, ty });
        }
        let natural = fields.iter().map(|field| field.ty.alignment()).max().unwrap_or(1);
        let misplaced = |field: &Field| !field.offset.is_multiple_of(field.ty.alignment());
        let is_packed = !size.is_multiple_of(natural) || fields.iter().any(misplaced);
        let declared_align = self.number(id, "align").map(|bits| bits / 8).unwrap_or(0);
        let align = declared_align.max(if is_packed { 1 } else { natural });
        let name = self.key(id, "name").unwrap_or_default().to_owned();
        Some(Type::Struct(Struct { name, size, align, fields, is_union }))
    }

    /// The fields that a class has from one of its bases (C++ for OpenCL).
    fn inherited(&self, base: u32, depth: u32, is_value: bool) -> Vec<Field> {
        let start = self.number(base, "offset").unwrap_or(0) / 8;
        let class = self.reference(base, "baseType").and_then(|class| self.resolve_within(class, depth, is_value));
        let Some(Type::Struct(class)) = class else { return Vec::new() };
        class.fields.into_iter().map(|field| Field { offset: field.offset + start, ..field }).collect()
    }
}

fn basic(encoding: &str, bytes: u64) -> Option<Scalar> {
    Some(match (encoding, bytes) {
        ("DW_ATE_float", 2) => Scalar::F16,
        ("DW_ATE_float", 4) => Scalar::F32,
        ("DW_ATE_float", 8) => Scalar::F64,
        ("DW_ATE_signed" | "DW_ATE_signed_char", 1) => Scalar::I8,
        ("DW_ATE_signed", 2) => Scalar::I16,
        ("DW_ATE_signed", 4) => Scalar::I32,
        ("DW_ATE_signed", 8) => Scalar::I64,
        ("DW_ATE_unsigned" | "DW_ATE_unsigned_char" | "DW_ATE_boolean", 1) => Scalar::U8,
        ("DW_ATE_unsigned", 2) => Scalar::U16,
        ("DW_ATE_unsigned", 4) => Scalar::U32,
        ("DW_ATE_unsigned", 8) => Scalar::U64,
        _ => return None,
    })
}

fn reference(value: &str) -> Option<u32> {
    value.strip_prefix('!')?.parse().ok()
}

/// Parses one line of the module's text; `None` if it is not a node of a known class.
fn line(line: &str) -> Option<(u32, Node)> {
    let (id, value) = line.strip_prefix('!')?.split_once(" = ")?;
    let id = id.parse().ok()?;
    let value = value.strip_prefix("distinct ").unwrap_or(value).strip_prefix('!')?;
    if let Some(list) = value.strip_prefix('{') {
        let list = list.strip_suffix('}')?;
        return Some((id, Node::List(list.split(", ").map(reference).collect())));
    }
    let (class, rest) = value.split_once('(')?;
    if !matches!(
        class,
        "DIBasicType"
            | "DIDerivedType"
            | "DICompositeType"
            | "DISubrange"
            | "DIFile"
            | "DISubroutineType"
            | "DISubprogram"
            | "DILocalVariable"
            | "DIGlobalVariable"
            | "DIGlobalVariableExpression"
            | "DINamespace"
    ) {
        return None;
    }
    Some((id, Node::Described { class: class.to_owned(), keys: keys(rest.strip_suffix(')')?) }))
}

/// Splits `key: value, key: "text", …` at the commas outside quotes and brackets.
fn keys(text: &str) -> HashMap<String, String> {
    let mut keys = HashMap::new();
    let (mut quoted, mut depth, mut start) = (false, 0_i32, 0);
    let mut add = |part: &str| {
        if let Some((key, value)) = part.trim().split_once(": ") {
            keys.insert(key.to_owned(), unquote(value));
        }
    };
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'(' | b'{' if !quoted => depth += 1,
            b')' | b'}' if !quoted => depth -= 1,
            b',' if !quoted && depth == 0 => {
                add(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    add(&text[start..]);
    keys
}

/// Unquotes a string. LLVM escapes bytes in quotes as `\` and two hexadecimal digits.
fn unquote(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut out = Vec::new();
    let mut rest = inner.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = (*first == b'\\').then(|| std::str::from_utf8(tail.get(..2)?).ok()).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &tail[2..];
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_split_outside_quotes_and_brackets() {
        let keys = keys(r#"tag: X, name: "a, \22b\22", expr: !DIExpression(1, 2), flags: A | B, size: 8"#);
        assert_eq!(keys["name"], "a, \"b\"");
        assert_eq!(keys["expr"], "!DIExpression(1, 2)");
        assert_eq!(keys["flags"], "A | B");
        assert_eq!(keys["size"], "8");
    }

    #[test]
    fn a_struct_that_points_to_itself_ends() {
        let text = "!1 = !DICompositeType(tag: DW_TAG_structure_type, name: \"N\", size: 64, elements: !2)\n\
                    !2 = !{!3}\n\
                    !3 = !DIDerivedType(tag: DW_TAG_member, name: \"next\", baseType: !4, size: 64)\n\
                    !4 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !1, size: 64)";
        let Some(Type::Struct(record)) = DebugTypes::read(text).resolve(1) else { panic!() };
        assert_eq!(record.align, 8);
        assert_eq!(record.fields[0].ty, Type::Opaque { name: "N*".into(), size: 8 });
        let circle = "!1 = !DIDerivedType(tag: DW_TAG_typedef, baseType: !1)\n\
                      !2 = !DICompositeType(tag: DW_TAG_array_type, baseType: !2, elements: !3)";
        assert_eq!(DebugTypes::read(circle).resolve(1), None);
        assert_eq!(DebugTypes::read(circle).resolve(2), None);
    }
}
