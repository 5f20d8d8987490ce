//! Remembers in which operands a function holds its constants.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use kassay_ir::instrument::mutants::Slot;
use kassay_ir::kernel::ast::Node;

use super::kinds::OperationKind;

/// What operands are sought: all that decides which instructions at a place have any. Constants in a macro's body are
/// many, at few places, and mostly alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The place: file, line, column.
    pub at: Option<(String, u32, u32)>,
    /// The constant's bits, and whether it is a float.
    pub value: (u128, bool),
    /// Of the node that uses the value.
    pub kind: Option<OperationKind>,
    /// clang's class of that node.
    pub node: String,
    /// How many children that node has.
    pub children: usize,
    /// Whether that node passes an object to a function by value.
    pub passes_object: bool,
    /// The value's position among the node's children.
    pub index: usize,
    /// Whether the value is added to a pointer, so that the IR has it in other units.
    pub moves_pointer: bool,
    /// Whether it is subtracted from a pointer, so that the IR has it negated.
    pub is_negated: bool,
}

/// The operands that were found in one function.
#[derive(Debug, Default)]
pub struct FoundOperands {
    /// By what was sought.
    pub known: RefCell<HashMap<Wanted, Vec<Slot>>>,
    /// The written operators' positions, by their nodes.
    pub written: OnceCell<HashMap<*const Node, usize>>,
}
