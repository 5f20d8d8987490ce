//! Finds the operators of the source and the instructions that implement them.
//!
//! With the syntax tree, every operator of the source is found, and its instructions by debug location. With debug
//! information alone, the token at each instruction's location identifies the operator; without it, the opcode does.
//! All instructions of one operator at one location are one operation: a macro's argument that is used twice is one
//! piece of source.
//!
//! Not for how operations are mutated (`operators`).

pub mod constants;
mod instances;
pub mod instructions;
pub mod kinds;
pub mod literals;
mod matching;
mod negation;
mod syntax;
pub mod tokens;
mod without_ast;

pub use constants::Folded;
pub use instructions::{Class, Ty};
pub use kinds::{BinaryOp, CompareOp, OperationKind};
pub use literals::{Literal, literals};

use super::mutant::{Excluded, SourceRange};
use super::subject::Subject;
use crate::instrument::mutants::{Binary, EdgeChange, Expr, Place, Slot};
use crate::kernel::ast::Node;

/// An instruction that computes an operator's value.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    pub place: Place,
    /// The value that the operator computes; for pointers the index, so that negating it reverses the direction.
    pub slot: Slot,
    pub left: Expr,
    pub right: Expr,
    /// The addend, if the operator is a multiplication that one instruction (`llvm.fmuladd`) computes together with
    /// an addition.
    pub addend: Option<Addend>,
    pub ty: Ty,
}

/// The value that an instruction adds to a product.
#[derive(Debug, Clone, PartialEq)]
pub struct Addend {
    pub value: Expr,
    /// Whether the product is subtracted from it.
    pub negates_product: bool,
}

impl Instance {
    /// Returns the value that the slot must have for the operator to have the value `by`.
    pub fn holding(&self, by: Expr) -> Expr {
        match &self.addend {
            None => by,
            Some(Addend { value, negates_product }) => {
                let op = if *negates_product { Binary::FSub } else { Binary::FAdd };
                let (left, right) = if *negates_product { (value.clone(), by) } else { (by, value.clone()) };
                Expr::Binary(op, Box::new(left), Box::new(right))
            }
        }
    }
}

/// How the IR implements an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Implementation<'a> {
    /// Instructions that compute it; for `=` the stores.
    Computed(Vec<Instance>),
    /// A GEP that moves a pointer: the slots are its index.
    Offset(Vec<Slot>),
    /// A `!` without an instruction: deleting it negates these truth values.
    Truth(Vec<Slot>),
    /// A `!` without an instruction, applied to `&&` or `||`: deleting it makes these edge changes.
    Edges(Vec<EdgeChange>),
    /// A value that clang folds, part of these constant operands.
    Folded(Folded<'a>),
}

/// An operator of the source with its instructions.
#[derive(Debug, Clone)]
pub struct Operation<'a> {
    /// Position in `Sites::functions`.
    pub function: usize,
    pub function_name: String,
    pub kind: OperationKind,
    /// Range of the token; within a macro's body, of the macro's name where it is expanded. `None` without
    /// debug information.
    pub range: Option<SourceRange>,
    /// Where the token is spelled, if in a macro's body.
    pub spelling: Option<SourceRange>,
    /// Whether it is in a macro's body or in an argument of a function-like macro.
    pub in_macro: bool,
    pub in_barrier_argument: bool,
    /// Type of the operands, after C's conversions.
    pub ty: Ty,
    pub implementation: Implementation<'a>,
    /// Range of the entire expression, if there is a syntax tree.
    pub expression: Option<SourceRange>,
    pub node: Option<&'a Node>,
}

impl Operation<'_> {
    /// Returns the token.
    pub fn text(&self) -> &'static str {
        self.kind.spelling()
    }

    /// Returns the places of its instructions; none if it is implemented by edges.
    pub fn places(&self) -> Vec<Place> {
        match &self.implementation {
            Implementation::Computed(instances) => instances.iter().map(|i| i.place).collect(),
            Implementation::Offset(slots) | Implementation::Truth(slots) => slots.iter().map(Slot::place).collect(),
            Implementation::Edges(_) => Vec::new(),
            Implementation::Folded(folded) => folded.slots.iter().map(Slot::place).collect(),
        }
    }
}

/// An operator of the source that cannot be mutated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmutable {
    pub kind: OperationKind,
    pub function: String,
    pub range: SourceRange,
    pub in_macro: bool,
    pub reason: String,
}

impl Unmutable {
    /// Returns the exclusion that mutation operator `operator` reports for it.
    pub fn excluded(&self, operator: &'static str) -> Excluded {
        let Unmutable { function, range, reason, .. } = self.clone();
        Excluded { operator, function, range: Some(range), reason }
    }
}

/// The operators of a kernel, as [`find`] returns them.
#[derive(Debug, Clone, Default)]
pub struct Operations<'a> {
    /// By function, then place.
    pub list: Vec<Operation<'a>>,
    /// Operators that cannot be mutated.
    pub unmutable: Vec<Unmutable>,
    /// Whether the source is not available: `++`, `op=` and `+` cannot be told apart, nor can stores by `=`
    /// from others.
    pub by_opcode: bool,
}

/// Finds the operations of all functions of the kernel.
pub fn find<'a>(subject: &Subject<'a>) -> Operations<'a> {
    let codes = instructions::read(subject.module, subject.sites);
    let tokens = tokens::Tokens::new(subject.sources, &subject.cache.tokens);
    let mut found = Operations::default();
    let mut by_opcode = false;
    for (f, code) in codes.iter().enumerate() {
        match subject.ast.and_then(|ast| Some((ast, ast.function(&code.name)?))) {
            Some((ast, function)) => {
                let context = matching::Context { ast, function, code, sites: &subject.sites.functions[f], index: f };
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
