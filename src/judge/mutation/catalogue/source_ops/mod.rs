//! Finds the operators of the source and the instructions that implement them.
//!
//! With the syntax tree, every operator of the source is found, and its instructions by debug location. With debug
//! information alone, the token at each instruction's location identifies the operator; without it, the opcode does.
//! All instructions of one operator at one location are one operation: a macro's argument that is used twice is one
//! piece of source.
//!
//! Not for how operations are mutated (`operators`).

mod c_types;
mod constants;
mod context;
pub mod folded;
pub mod found_operands;
mod instances;
pub mod instructions;
pub mod kinds;
pub mod literals;
mod matching;
mod negation;
pub mod operation;
mod syntax;
pub mod tokens;
mod without_ast;

use kassay_ir::cfg::indices::FunctionIndex;
use kassay_ir::kernel::ast::Node;

use super::mutant::SourceRange;
use super::subject::Subject;
use context::Context;
pub use folded::Folded;
use found_operands::FoundOperands;
pub use instructions::{Class, Ty};
pub use kinds::{BinaryOp, CompareOp, OperationKind};
pub use literals::{Literal, literals};
pub use operation::{Addend, Implementation, Instance, Operation, Operations, Unmutable};

/// Finds the operations of all functions of the kernel.
pub fn find<'a>(subject: &Subject<'a>) -> Operations<'a> {
    let codes = instructions::read(subject.module, subject.sites);
    let tokens = tokens::Tokens::new(subject.sources, &subject.cache.tokens);
    let mut found = Operations::default();
    let mut by_opcode = false;
    for (f, code) in FunctionIndex::enumerate(&codes) {
        match subject.ast.and_then(|ast| Some((ast, ast.function(&code.name)?))) {
            Some((ast, function)) => {
                let sites = &subject.sites.functions[f];
                let context = Context { ast, function, code, sites, index: f, operands: FoundOperands::default() };
                matching::find(&context, &tokens, &mut found);
            }
            None => by_opcode |= without_ast::find(f, code, &tokens, &mut found),
        }
    }
    found.by_opcode = by_opcode;
    found
}

/// Returns the range of an expression in an operation's function.
pub fn extent(subject: &Subject<'_>, operation: &Operation<'_>, node: &Node) -> Option<SourceRange> {
    syntax::extent(subject.ast?.function(&operation.function_name)?, node)
}
