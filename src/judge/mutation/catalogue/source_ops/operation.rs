//! The operators of the source with their instructions, as plain data.

use std::collections::{HashMap, HashSet};

use kassay_ir::cfg::indices::FunctionIndex;
use kassay_ir::instrument::mutants::{Binary, EdgeChange, Expr, Place, Slot};
use kassay_ir::kernel::ast::Node;

use super::super::mutant::{Excluded, SourceRange};
use super::folded::Folded;
use super::instructions::Ty;
use super::kinds::OperationKind;

/// An instruction that computes an operator's value.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Where it is.
    pub place: Place,
    /// The value that the operator computes; for pointers the index, so that negating it reverses the direction.
    pub slot: Slot,
    /// The value of the first operand.
    pub left: Expr,
    /// The value of the second operand.
    pub right: Expr,
    /// The addend, if the operator is a multiplication that one instruction (`llvm.fmuladd`) computes together with
    /// an addition.
    pub addend: Option<Addend>,
    /// The type of both, as the instruction has it.
    pub ty: Ty,
}

/// The value that an instruction adds to a product.
#[derive(Debug, Clone, PartialEq)]
pub struct Addend {
    /// What is added.
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

impl Implementation<'_> {
    /// Removes what stands there a second time: expansions of a macro share instructions.
    pub fn name_each_once(&mut self) {
        let once = |slots: &mut Vec<Slot>| {
            let mut known = HashSet::new();
            slots.retain(|slot| known.insert(*slot));
        };
        match self {
            Implementation::Computed(instances) => {
                let mut known: HashMap<Slot, Vec<Instance>> = HashMap::new();
                instances.retain(|instance| {
                    let known = known.entry(instance.slot).or_default();
                    let is_new = !known.contains(instance);
                    if is_new {
                        known.push(instance.clone());
                    }
                    is_new
                });
            }
            Implementation::Offset(slots) | Implementation::Truth(slots) => once(slots),
            Implementation::Folded(folded) => once(&mut folded.slots),
            Implementation::Edges(_) => {}
        }
    }
}

/// An operator of the source with its instructions.
#[derive(Debug, Clone)]
pub struct Operation<'a> {
    /// Position in `Sites::functions`.
    pub function: FunctionIndex,
    /// The function's name.
    pub function_name: String,
    /// What it is.
    pub kind: OperationKind,
    /// Range of the token; within a macro's body, of the macro's name where it is expanded. `None` without
    /// debug information.
    pub range: Option<SourceRange>,
    /// Where the token is spelled, if in a macro's body.
    pub spelling: Option<SourceRange>,
    /// Whether it is in a macro's body or in an argument of a function-like macro.
    pub in_macro: bool,
    /// Whether it is in an argument of a barrier or fence.
    pub in_barrier_argument: bool,
    /// Type of the operands, after C's conversions.
    pub ty: Ty,
    /// The instructions that compute it.
    pub implementation: Implementation<'a>,
    /// Range of the entire expression, if there is a syntax tree.
    pub expression: Option<SourceRange>,
    /// Its expression in the syntax tree, if there is one.
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
    /// What it is.
    pub kind: OperationKind,
    /// The function that contains it.
    pub function: String,
    /// Where it is in the source.
    pub range: SourceRange,
    /// Whether it is in a macro's body or in an argument of a function-like macro.
    pub in_macro: bool,
    /// Why not, as the end of a sentence.
    pub reason: String,
}

impl Unmutable {
    /// Returns the exclusion that mutation operator `operator` reports for it.
    pub fn excluded(&self, operator: &'static str) -> Excluded {
        let Unmutable { function, range, reason, .. } = self.clone();
        Excluded { operator, function, range: Some(range), reason }
    }
}

/// The operators of a kernel, as [`find`](super::find) returns them.
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
