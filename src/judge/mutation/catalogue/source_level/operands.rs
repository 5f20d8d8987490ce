//! Finds the operands of a binary operator by the place of its token, and which of them need parentheses when the token
//! becomes another one.

use kassay_ir::kernel::ast::{Ast, Function, Loc, Node, Position};
use kassay_ir::kernel::source::Sources;

use super::super::control::text;
use super::super::mutant::{SourceRange, Spot};

/// An expression with a binary operator. `None`: a range that is not one piece of the text.
#[derive(Debug, Clone)]
pub struct Operands {
    pub whole: Option<SourceRange>,
    pub sides: [Option<SourceRange>; 2],
    /// Whether other operators in it could bind to its operands in another way.
    pub is_loose: [bool; 2],
    /// Whether it is the operand of an operator itself.
    pub is_operand: bool,
}

/// Returns the expression of the operator whose token is at `token`. `in_body`: the token is in a macro's body, and so
/// are the ranges.
pub fn of_token(ast: &Ast, sources: &Sources, token: &SourceRange, in_body: bool) -> Option<Operands> {
    let mut found = None;
    for function in &ast.functions {
        let search = Search { sources, function, token, in_body };
        search.node(&function.body, None, &mut found);
        if found.is_some() {
            break;
        }
    }
    found
}

struct Search<'a> {
    sources: &'a Sources,
    function: &'a Function,
    token: &'a SourceRange,
    in_body: bool,
}

impl Search<'_> {
    /// `parent`: the nearest ancestor that the source spells.
    fn node(&self, node: &Node, parent: Option<&Node>, found: &mut Option<Operands>) {
        if found.is_some() {
            return;
        }
        if let Some([left, right]) = self.operands(node) {
            *found = Some(Operands {
                whole: self.range(node),
                sides: [self.range(left), self.range(right)],
                is_loose: [is_loose(left), is_loose(right)],
                is_operand: parent.is_some_and(is_computing),
            });
            return;
        }
        let parent = if node.is("ImplicitCastExpr") { parent } else { Some(node) };
        node.children.iter().for_each(|child| self.node(child, parent, found));
    }

    /// Returns the operands of the node if the token stands between them.
    fn operands<'n>(&self, node: &'n Node) -> Option<[&'n Node; 2]> {
        let is_binary = node.is("BinaryOperator") || node.is("CompoundAssignOperator");
        let [left, right] = node.children.get(..).filter(|_| is_binary)? else { return None };
        let end = self.place(&left.range.as_ref()?.end)?;
        let begin = self.place(&right.range.as_ref()?.begin)?;
        let is_here = |loc: &Loc| *loc.file == *self.token.file;
        (is_here(end) && is_here(begin) && spot(end) < self.token.start && self.token.end <= spot(begin))
            .then_some([left, right])
    }

    fn place<'p>(&self, position: &'p Position) -> Option<&'p Loc> {
        match self.in_body {
            true => position.spelling.as_ref(),
            false => Some(self.function.place(position)),
        }
    }

    fn range(&self, node: &Node) -> Option<SourceRange> {
        let range = node.range.as_ref()?;
        if !self.in_body {
            return text::piece(self.sources, self.function, range).map(|piece| piece.range);
        }
        // An argument of the macro is spelled elsewhere.
        let own = |position: &'_ Position| position.spelling.clone().filter(|_| !position.is_macro_arg);
        let (begin, end) = (own(&range.begin)?, own(&range.end)?);
        let end_spot = Spot { line: end.line, column: end.column + end.tok_len };
        (begin.file == end.file && spot(&begin) < end_spot).then(|| SourceRange {
            file: begin.file.to_string(),
            start: spot(&begin),
            end: end_spot,
        })
    }
}

fn spot(loc: &Loc) -> Spot {
    Spot { line: loc.line, column: loc.column }
}

/// Returns whether an expression has an operator with two or three operands outside parentheses.
fn is_loose(mut node: &Node) -> bool {
    while let ("ImplicitCastExpr", Some(inner)) = (&*node.kind, node.children.first()) {
        node = inner;
    }
    ["BinaryOperator", "CompoundAssignOperator", "ConditionalOperator", "BinaryConditionalOperator"]
        .contains(&&*node.kind)
}

/// Returns whether a node computes from two operands: neither assigns nor only evaluates them.
fn is_computing(node: &Node) -> bool {
    node.is("BinaryOperator") && !matches!(node.opcode.as_deref(), Some("=" | ","))
}
