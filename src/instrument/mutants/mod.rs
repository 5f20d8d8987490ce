//! Weaving mutants: edits as plain data, and the passes that put them into a module.

pub mod edit;
mod private_calls;
pub mod privatise;

pub use edit::{
    Action, Binary, Conversion, EdgeChange, Edit, Expr, LaunchChange, LocalVariable, Place, Predicate, Slot, Unary,
};
