//! Finds the literals of the source, with the operands that hold them or the constant they are folded into.

use kassay_ir::cfg::indices::FunctionIndex;
use kassay_ir::instrument::mutants::Expr;
use kassay_ir::kernel::ast::{Ast, Node};
use kassay_ir::kernel::folding::{self, Value};

use super::super::mutant::{SourceRange, TOO_WIDE};
use super::super::subject::Subject;
use super::constants;
use super::context::Context;
use super::folded::Folded;
use super::found_operands::FoundOperands;
use super::instructions;
use super::syntax;
use super::tokens::Tokens;

/// A literal, or the name of an enumerator, in the source.
#[derive(Debug, Clone)]
pub struct Literal<'a> {
    /// Position in `Sites::functions`.
    pub function: FunctionIndex,
    /// The function's name.
    pub function_name: String,
    /// `IntegerLiteral`, `FloatingLiteral`, `CharacterLiteral`, or the `DeclRefExpr` of an enumerator.
    pub node: &'a Node,
    /// Source text.
    pub text: String,
    /// Range of the token; within a macro's body, of the macro's name where it is expanded.
    pub range: SourceRange,
    /// Where the token is spelled, if in a macro's body.
    pub spelling: Option<SourceRange>,
    /// Whether it is in a macro's body or in an argument of a function-like macro.
    pub in_macro: bool,
    /// Whether it is in an argument of a barrier or fence.
    pub in_barrier_argument: bool,
    /// The operands that hold it, or why there are none.
    pub folded: Result<Folded<'a>, &'static str>,
}

impl Literal<'_> {
    /// Returns the operands' new value if the literal is `value` (in decimal) instead; `None` if that is unknown or
    /// no change.
    pub fn replaced(&self, ast: &Ast, value: &str) -> Option<Expr> {
        let folded = self.folded.as_ref().ok()?;
        folded.changed(ast, self.node, &|literal| set(literal, value))
    }

    /// Converts `value` (in decimal) to the literal's type.
    pub fn converted(&self, ast: &Ast, value: &str) -> Option<Value> {
        let mut copy = self.node.clone();
        set(&mut copy, value);
        folding::value(ast, &copy)
    }
}

/// Sets the value of a literal; turns the name of an enumerator into a literal.
fn set(literal: &mut Node, value: &str) {
    literal.value = Some(value.into());
    if literal.is("DeclRefExpr") {
        literal.kind = "IntegerLiteral".into();
    }
}

/// Returns the literals of all functions of the kernel; none without the syntax tree.
pub fn literals<'a>(subject: &Subject<'a>) -> Vec<Literal<'a>> {
    let Some(ast) = subject.ast else { return Vec::new() };
    let tokens = Tokens::new(subject.sources, &subject.cache.tokens);
    let mut all = Vec::new();
    for (f, code) in FunctionIndex::enumerate(&instructions::read(subject.module, subject.sites)) {
        let Some(function) = ast.function(&code.name) else { continue };
        let sites = &subject.sites.functions[f];
        let context = Context { ast, function, code, sites, index: f, operands: FoundOperands::default() };
        let (written, _, literals) = syntax::operators(ast, function, &tokens);
        for literal in literals {
            let folded = match literal.omitted {
                Some(reason) => Err(reason),
                None if literal.in_barrier_argument => Err("a barrier's flags are another operator's"),
                None => constants::folded(&context, &written, literal.node, &literal.ancestors)
                    .map_err(|reason| if literal.range.is_too_wide() { TOO_WIDE } else { reason }),
            };
            all.push(Literal {
                function: f,
                function_name: code.name.clone(),
                node: literal.node,
                text: literal.text,
                range: literal.range,
                spelling: literal.spelling,
                in_macro: literal.in_macro,
                in_barrier_argument: literal.in_barrier_argument,
                folded,
            });
        }
    }
    all
}
