//! clang's syntax tree of a kernel file, as far as kassay reads it: the functions that have a body.
//!
//! Not for decoding what clang's child sends (`ast_records`), nor for the meaning of nodes (`constructs`).

use std::collections::HashMap;
use std::sync::Arc;

/// The condition of an `if`, `switch` or `while` together with what the head declares before it. The last child is the
/// condition itself.
pub const HEAD: &str = "HeadExpr";

/// The condition of a range-`for`, which the source does not spell. It has no children.
pub const HIDDEN_CONDITION: &str = "HiddenCondition";

/// The functions with bodies of one translation unit, in source order, including those of included files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ast {
    /// In source order.
    pub functions: Vec<Function>,
    /// Values of enumeration constants, by the id that [`Node::referenced`] gives.
    pub enum_values: HashMap<Arc<str>, i64>,
    /// Initialisers of `const` and `__constant` variables, by the same ids: OpenCL C allows integer variables of these
    /// kinds in constant expressions (OpenCL C specification 6.9, as in C++).
    pub initializers: HashMap<Arc<str>, Node>,
}

impl Ast {
    /// The function of that name, if it has a body.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }
}

/// A function definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name in the source.
    pub name: String,
    /// Whether it is declared `__kernel`.
    pub is_kernel: bool,
    /// Position of the name.
    pub location: Position,
    /// A `CompoundStmt`.
    pub body: Node,
}

impl Function {
    /// The location that debug information gives to a token of this function: that of its spelling for a macro
    /// argument, that of the expansion for a token of a macro's body. If the expansion is itself within another macro's
    /// argument, the tree only records where the outermost macro is expanded.
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
    /// clang's class name, such as `IfStmt`; empty for an absent part of a `for` (which always has five children:
    /// initialisation, condition variable, condition, increment, body).
    pub kind: Arc<str>,
    /// `None` for an absent part, or if a token has no position.
    pub range: Option<Range>,
    /// The operator as written: `+`, `&&`, `<<=`.
    pub opcode: Option<Arc<str>>,
    /// Whether a `++` or `--` follows its operand.
    pub is_postfix: bool,
    /// The name of what is declared, referred to, called or selected; for operators such as `sizeof`, the operator; for
    /// labels, the label.
    pub name: Option<Arc<str>>,
    /// The builtin of OpenCL C that a call of CUDA is, if it has another name there: `barrier` of `__syncthreads()`.
    pub builtin: Option<Arc<str>>,
    /// The id of the declaration referred to.
    pub referenced: Option<Arc<str>>,
    /// The kind of the declaration referred to: `ParmVarDecl`, `EnumConstantDecl` …
    pub referenced_kind: Option<Arc<str>>,
    /// Type of an expression or declaration, as the source spells it.
    pub ty: Option<Arc<str>>,
    /// The type without typedefs, if the spelling differs.
    pub desugared: Option<Arc<str>>,
    /// The operand of `sizeof (type)` and its like.
    pub argument_type: Option<Arc<str>>,
    /// `LValueToRValue`, `IntegralCast` …
    pub cast_kind: Option<Arc<str>>,
    /// Value of a literal or constant expression, in decimal.
    pub value: Option<String>,
    /// Whether an `if` has an `else`.
    pub has_else: bool,
    /// Whether a case label is a range (`case 1 ... 3`).
    pub is_range: bool,
    /// In clang's order.
    pub children: Vec<Node>,
}

impl Node {
    /// Returns whether clang's class name is `kind`.
    pub fn is(&self, kind: &str) -> bool {
        &*self.kind == kind
    }

    /// The name that OpenCL C has for what is called.
    pub fn callee(&self) -> Option<&str> {
        self.builtin.as_deref().or(self.name.as_deref())
    }

    /// Returns whether the type is an OpenCL vector.
    pub fn is_vector(&self) -> bool {
        self.canonical_type().is_some_and(|ty| ty.contains("vector_type") || ty.contains("vector_size"))
    }

    /// Returns whether this is `&&` or `||` on scalars, whose right operand is evaluated only if the left one
    /// does not decide.
    pub fn is_short_circuit(&self) -> bool {
        self.is("BinaryOperator") && matches!(self.opcode.as_deref(), Some("&&" | "||")) && !self.is_vector()
    }

    /// The type without typedefs.
    pub fn canonical_type(&self) -> Option<&str> {
        self.desugared.as_deref().or(self.ty.as_deref())
    }

    /// Visits this node and its descendants in source order.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Node)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }

    /// Strips parentheses and implicit casts, and from a condition what its statement declares before it.
    pub fn without_parentheses(&self) -> &Node {
        let mut node = self;
        loop {
            node = match (&*node.kind, node.children.first()) {
                ("ParenExpr" | "ImplicitCastExpr", Some(inner)) => inner,
                (HEAD, Some(first)) => node.children.last().unwrap_or(first),
                _ => return node,
            };
        }
    }
}

/// From the first character of the first token to the first character of the last token.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The first character of its first token.
    pub begin: Position,
    /// The first character of its last token.
    pub end: Position,
}

/// The position of a token: where the outermost macro is expanded and, for a token that comes from a macro, where
/// it is spelt.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// The token itself, or the outermost macro that it comes from.
    pub expansion: Loc,
    /// Where a token that comes from a macro is spelt.
    pub spelling: Option<Loc>,
    /// Whether the token comes from a macro argument.
    pub is_macro_arg: bool,
}

/// A location in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loc {
    /// The file as clang names it: the path as given, or as found on the include path.
    pub file: Arc<str>,
    /// From 1, in the file itself.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
    /// From 0, in bytes from the file's start.
    pub offset: u32,
    /// Length of the token at this location, in bytes.
    pub tok_len: u32,
}
