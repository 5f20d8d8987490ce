//! Weaving mutants: edits as plain data, and the passes that put them into a module.

pub mod alone;
pub mod edit;
mod expr;
pub mod infection;
mod private_calls;
pub mod privatise;
mod resolve;
pub mod schemata;
mod threads;
pub(super) mod tools;
mod weaver;

pub use edit::{
    Action, Binary, Conversion, EdgeChange, Edit, Expr, LaunchChange, LocalVariable, Place, Predicate, Slot, Unary,
};
pub use weaver::Form;
