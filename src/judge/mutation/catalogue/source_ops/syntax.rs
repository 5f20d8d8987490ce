//! Finds the operators of a function in clang's syntax tree, each with its token and the place that debug information
//! gives it.
//!
//! The tree gives the ranges of operands, not the position of the operator: that is the token between them.

use kassay_ir::kernel::ast::{Ast, Function, Loc, Node, Position};
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::kernel::constant_switch::{self, Nodes};
use kassay_ir::kernel::folding;

use super::super::mutant::{SourceRange, Spot};
use super::kinds::OperationKind;
use super::tokens::{Token, Tokens};

/// What clang emits for an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emission {
    /// Instructions.
    Emitted,
    /// A constant: clang folds its value.
    Folded,
    /// Nothing, for the given reason.
    Omitted(&'static str),
}

/// An operator in the source.
#[derive(Debug, Clone)]
pub struct SourceOperator<'n> {
    pub kind: OperationKind,
    pub node: &'n Node,
    /// From the function's body to the parent.
    pub ancestors: Vec<&'n Node>,
    pub emission: Emission,
    /// Range of the token, or of the macro's name where it is expanded.
    pub range: SourceRange,
    /// Where it is spelled, if that is in a macro's body.
    pub spelling: Option<SourceRange>,
    pub in_macro: bool,
    pub in_barrier_argument: bool,
}

/// A literal number in the source, or the name of an enumerator.
#[derive(Debug, Clone)]
pub struct SourceLiteral<'n> {
    pub node: &'n Node,
    pub ancestors: Vec<&'n Node>,
    /// Why clang emits nothing for it.
    pub omitted: Option<&'static str>,
    pub text: String,
    pub range: SourceRange,
    pub spelling: Option<SourceRange>,
    pub in_macro: bool,
    pub in_barrier_argument: bool,
}

/// Operators, operators whose token is not found (with an approximate range), and literals.
pub type SourceOperators<'n> = (Vec<SourceOperator<'n>>, Vec<(SourceRange, &'n Node)>, Vec<SourceLiteral<'n>>);

/// Returns the operators of `function`, in the order in which clang evaluates them.
pub fn operators<'n>(ast: &Ast, function: &'n Function, tokens: &Tokens<'_>) -> SourceOperators<'n> {
    let dropped = constant_switch::dropped(ast, &function.body);
    let mut walk = Walk {
        ast,
        function,
        tokens,
        dropped,
        ancestors: Vec::new(),
        found: Vec::new(),
        unlocated: Vec::new(),
        literals: Vec::new(),
    };
    walk.node(&function.body, None, false);
    (walk.found, walk.unlocated, walk.literals)
}

struct Walk<'n, 'w, 't> {
    ast: &'w Ast,
    function: &'n Function,
    tokens: &'w Tokens<'t>,
    dropped: Nodes,
    ancestors: Vec<&'n Node>,
    found: Vec<SourceOperator<'n>>,
    unlocated: Vec<(SourceRange, &'n Node)>,
    literals: Vec<SourceLiteral<'n>>,
}

impl<'n> Walk<'n, '_, '_> {
    fn node(&mut self, node: &'n Node, omitted: Option<&'static str>, in_barrier: bool) {
        let omitted = omitted
            .or_else(|| self.dropped.contains(&std::ptr::from_ref(node)).then_some(UNREACHED))
            .or_else(|| not_evaluated(node));
        if matches!(&*node.kind, "" | "OpaqueValueExpr") {
            return;
        }
        let in_barrier = in_barrier || is_barrier(node);
        self.ancestors.push(node);
        let is_assignment = matches!(OperationKind::of(node), Some(k) if k.assigns());
        let mut order: Vec<usize> = (0..node.children.len()).collect();
        if is_assignment {
            order.reverse();
        }
        let mut ended = false;
        for i in order {
            let child = &node.children[i];
            ended &= !folding::contains_label(child);
            let is_out = folding::is_ruled_out(self.ast, node, i) && !folding::contains_label(child);
            let child_omitted = omitted.or((ended || is_out).then_some(UNREACHED));
            // A label within makes code reachable again that an outer jump or condition had ruled out.
            let child_omitted = child_omitted.filter(|why| *why != UNREACHED || !folding::contains_label(child));
            self.node(child, child_omitted, in_barrier);
            ended |= node.is("CompoundStmt") && folding::ends_flow(child);
        }
        self.ancestors.pop();
        self.operator(node, omitted, in_barrier);
        let is_enumerator = node.is("DeclRefExpr") && node.referenced_kind.as_deref() == Some("EnumConstantDecl");
        if is_enumerator || matches!(&*node.kind, "IntegerLiteral" | "FloatingLiteral" | "CharacterLiteral") {
            self.literal(node, omitted, in_barrier);
        }
    }

    fn literal(&mut self, node: &'n Node, omitted: Option<&'static str>, in_barrier_argument: bool) {
        let Some(range) = &node.range else { return };
        let spelt = range.begin.spelling.as_ref().unwrap_or(&range.begin.expansion);
        let Some(token) = self.tokens.at(&spelt.file, spot(spelt)) else { return };
        let TokenPlace { range, spelling, in_macro } =
            self.token_place(&token, &range.begin, range.begin.spelling.is_some());
        let ancestors = self.ancestors.clone();
        self.literals.push(SourceLiteral {
            node,
            ancestors,
            omitted,
            text: token.text,
            range,
            spelling,
            in_macro,
            in_barrier_argument,
        });
    }

    fn operator(&mut self, node: &'n Node, omitted: Option<&'static str>, in_barrier_argument: bool) {
        let Some(kind) = OperationKind::of(node) else { return };
        let Some(range) = &node.range else { return };
        let emission = match omitted {
            Some(reason) => Emission::Omitted(reason),
            None if !kind.assigns() && folding::constant(self.ast, node).is_some() => Emission::Folded,
            None => Emission::Emitted,
        };
        let Some(found) = self.token(node, kind.spelling()) else {
            let at = self.function.place(&range.begin);
            self.unlocated.push((one_character(at), node));
            return;
        };
        self.found.push(SourceOperator {
            kind,
            node,
            ancestors: self.ancestors.clone(),
            emission,
            range: found.range,
            spelling: found.spelling,
            in_macro: found.in_macro,
            in_barrier_argument,
        });
    }

    /// Finds the operator's token.
    fn token(&self, node: &Node, text: &str) -> Option<TokenPlace> {
        let range = node.range.as_ref()?;
        if node.is("UnaryOperator") {
            let position = if node.is_postfix { &range.end } else { &range.begin };
            let spelt = position.spelling.as_ref().unwrap_or(&position.expansion);
            let token = self.tokens.at(&spelt.file, spot(spelt)).filter(|token| token.text == text)?;
            return Some(self.token_place(&token, position, position.spelling.is_some()));
        }
        let [left, right] = &node.children[..] else { return None };
        let (end, begin) = (&left.range.as_ref()?.end, &right.range.as_ref()?.begin);
        let before = |loc: &Loc| self.tokens.before(&loc.file, spot(loc)).filter(|token| token.text == text);
        let after = |loc: &Loc| self.tokens.after(&loc.file, spot(loc)).filter(|token| token.text == text);
        let same_expansion = end.spelling.is_some() && end.expansion == begin.expansion;
        if let Some(spelt) = begin.spelling.as_ref().filter(|_| same_expansion)
            && let Some(token) = before(spelt)
        {
            return Some(self.token_place(&token, begin, true));
        }
        if let Some(spelt) = end.spelling.as_ref().filter(|_| same_expansion)
            && let Some(token) = after(spelt)
        {
            return Some(self.token_place(&token, end, true));
        }
        if same_expansion {
            // Between two arguments, or from a macro within the macro: only the expansion is known.
            return Some(self.in_body(&begin.expansion, None));
        }
        if let Some(token) = before(&begin.expansion) {
            return Some(self.token_place(&token, begin, false));
        }
        if end.spelling.is_none()
            && let Some(token) = after(&end.expansion)
        {
            return Some(self.token_place(&token, end, false));
        }
        // The operator itself is a macro, such as `and`.
        let name = self.tokens.before(&begin.expansion.file, spot(&begin.expansion)).filter(Token::is_name)?;
        let range = name.range(&begin.expansion.file);
        Some(TokenPlace { range, spelling: None, in_macro: true })
    }

    /// Returns the place of a token. `of`: the adjacent end of an operand; `from_macro`: whether the token is spelled
    /// in a macro or its argument.
    fn token_place(&self, token: &Token, of: &Position, from_macro: bool) -> TokenPlace {
        if !from_macro {
            return TokenPlace { range: token.range(&of.expansion.file), spelling: None, in_macro: false };
        }
        let spelt = of.spelling.as_ref().unwrap_or(&of.expansion);
        let spelling = token.range(&spelt.file);
        if std::ptr::eq(self.function.place(of), spelt) {
            return TokenPlace { range: spelling, spelling: None, in_macro: true };
        }
        self.in_body(&of.expansion, Some(spelling))
    }

    /// Returns the place of a token in the body of a macro.
    fn in_body(&self, expansion: &Loc, spelling: Option<SourceRange>) -> TokenPlace {
        let name = self.tokens.at(&expansion.file, spot(expansion));
        let range = name.map_or_else(|| one_character(expansion), |name| name.range(&expansion.file));
        TokenPlace { range, spelling, in_macro: true }
    }
}

/// The place of a token.
struct TokenPlace {
    range: SourceRange,
    spelling: Option<SourceRange>,
    in_macro: bool,
}

const UNREACHED: &str = "clang emits nothing here: a condition is constant or a jump stands before it";

fn not_evaluated(node: &Node) -> Option<&'static str> {
    match &*node.kind {
        "UnaryExprOrTypeTraitExpr" => Some("the operand of `sizeof` and its kin is not evaluated"),
        "ConstantExpr" => Some("a `case` label or another constant that the compiler itself needs"),
        "EnumDecl" | "RecordDecl" | "FieldDecl" | "TypedefDecl" => Some("part of a type"),
        "VarDecl" if node.ty.as_deref().is_some_and(|ty| ty.contains("__constant ") && !ty.contains('*')) => {
            Some("the value of a constant that is set before the kernel runs")
        }
        _ => None,
    }
}

/// Returns whether a node is a call of a work-group barrier.
pub fn is_barrier(node: &Node) -> bool {
    node.is("CallExpr") && node.name.as_deref().and_then(builtins::family) == Some(Family::Barrier)
}

/// Returns a location as line and column.
pub fn spot(loc: &Loc) -> Spot {
    Spot { line: loc.line, column: loc.column }
}

fn one_character(at: &Loc) -> SourceRange {
    let start = spot(at);
    let end = Spot { line: at.line, column: at.column + at.tok_len.max(1) };
    SourceRange { file: at.file.to_string(), start, end }
}

/// Returns the range of an expression, where debug information places it.
pub fn extent(function: &Function, node: &Node) -> Option<SourceRange> {
    let range = node.range.as_ref()?;
    let (begin, end) = (function.place(&range.begin), function.place(&range.end));
    let end = Spot { line: end.line, column: end.column + end.tok_len.max(1) };
    let file = begin.file.to_string();
    Some(SourceRange { file, start: spot(begin), end })
}
