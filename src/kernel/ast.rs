//! clang's syntax tree of a kernel file, as far as kassay reads it: the functions that have a body.
//!
//! Not for reading clang's JSON (`ast_json`), nor for what the nodes mean (`constructs`).

use std::collections::HashMap;
use std::sync::Arc;

/// The functions with bodies of one translation unit, in source order, those of included files too.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ast {
    pub functions: Vec<Function>,
    /// Values of enumeration constants, by the id that [`Node::referenced`] gives.
    pub enum_values: HashMap<Arc<str>, i64>,
    /// Initial values of `const` and `__constant` variables, by the same ids: OpenCL C lets constant expressions use
    /// those of integers (specification 6.9, as C++ does).
    pub initializers: HashMap<Arc<str>, Node>,
}

impl Ast {
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    pub name: String,
    pub is_kernel: bool,
    /// Of the name.
    pub location: Position,
    /// A `CompoundStmt`.
    pub body: Node,
}

impl Function {
    /// Where debug information places a token of this function: one of a macro's argument where it is spelt, one of a
    /// macro's body where the macro is expanded. Where that is within another macro's argument, the tree tells only where
    /// the outermost one is expanded.
    pub fn place<'p>(&self, position: &'p Position) -> &'p Loc {
        let is_own = |spelling: &Loc| {
            self.body.range.as_ref().is_some_and(|range| {
                let (begin, end) = (&range.begin.expansion, &range.end.expansion);
                begin.file == spelling.file && (begin.offset..=end.offset).contains(&spelling.offset)
            })
        };
        match &position.spelling {
            Some(spelling) if position.is_macro_arg && is_own(spelling) => spelling,
            _ => &position.expansion,
        }
    }
}

/// A statement, expression or declaration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// clang's class name, such as `IfStmt`; empty for an absent part of a `for` (its children are always five:
    /// initialisation, condition variable, condition, increment, body).
    pub kind: Arc<str>,
    /// `None` for an absent part.
    pub range: Option<Range>,
    /// Of operators, as written: `+`, `&&`, `<<=`.
    pub opcode: Option<Arc<str>>,
    /// Of `++` and `--`.
    pub is_postfix: bool,
    /// What is declared, referred to, called or selected; `sizeof` and its kin; a label.
    pub name: Option<Arc<str>>,
    /// The id of the declaration referred to.
    pub referenced: Option<Arc<str>>,
    /// The kind of the declaration referred to: `ParmVarDecl`, `EnumConstantDecl` …
    pub referenced_kind: Option<Arc<str>>,
    /// Of an expression or declaration, as the source spells it.
    pub ty: Option<Arc<str>>,
    /// The same without typedefs, where that differs.
    pub desugared: Option<Arc<str>>,
    /// Of `sizeof (type)` and its kin: the type.
    pub argument_type: Option<Arc<str>>,
    /// `LValueToRValue`, `IntegralCast` …
    pub cast_kind: Option<Arc<str>>,
    /// Of literals and constant expressions, in decimal.
    pub value: Option<String>,
    pub has_else: bool,
    /// Of a case label: whether it is a range (`case 1 ... 3`).
    pub is_range: bool,
    pub children: Vec<Node>,
}

impl Node {
    pub fn is(&self, kind: &str) -> bool {
        &*self.kind == kind
    }

    /// Whether the type is a vector of OpenCL.
    pub fn is_vector(&self) -> bool {
        self.canonical_type().is_some_and(|ty| ty.contains("vector_type") || ty.contains("vector_size"))
    }

    /// Whether this is `&&` or `||` on scalars, which evaluates its right side only where the left one leaves it open.
    pub fn is_short_circuit(&self) -> bool {
        self.is("BinaryOperator") && matches!(self.opcode.as_deref(), Some("&&" | "||")) && !self.is_vector()
    }

    /// The type without typedefs.
    pub fn canonical_type(&self) -> Option<&str> {
        self.desugared.as_deref().or(self.ty.as_deref())
    }

    /// This node and all below it, in source order.
    pub fn walk(&self, visit: &mut impl FnMut(&Node)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }
}

/// From the first character of the first token to the first character of the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub begin: Position,
    pub end: Position,
}

/// Where a token is: where the outermost macro is expanded and, for a token from a macro, where it is spelt.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    pub expansion: Loc,
    pub spelling: Option<Loc>,
    /// The token comes from the argument of a macro.
    pub is_macro_arg: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loc {
    /// As clang names it: the path as given, or as found on the include path.
    pub file: Arc<str>,
    /// From 1, of the file itself.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
    /// From 0, in bytes from the file's start.
    pub offset: u32,
    /// Of the token here, in bytes.
    pub tok_len: u32,
}
