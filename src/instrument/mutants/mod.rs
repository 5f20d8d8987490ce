//! Weaving mutants: edits as plain data, and the passes that put them into a module.

pub mod single;
pub mod edit;
mod expr;
pub mod infection;
mod private_calls;
pub mod privatise;
mod resolve;
pub mod schemata;
mod thread_arguments;
pub(super) mod ir_tools;
mod weaver;

pub use edit::{
    Action, Binary, Conversion, EdgeChange, Edit, Expr, LaunchChange, LocalVariable, Place, Predicate, Slot, Unary,
};
pub use weaver::Form;
