//! Weaving mutants: edits as plain data, and the passes that put them into a module.

pub mod edit;

pub use edit::{
    Action, Binary, Conversion, EdgeChange, Edit, Expr, LaunchChange, LocalVariable, Place, Predicate, Slot, Unary,
};
