//! Weaves mutants: edits as plain data, and the passes that apply them to a module.

pub mod edit;
mod emitter;
mod expr;
pub mod infection;
mod private_calls;
pub mod privatise;
mod resolve;
pub mod schemata;
pub mod single;
mod thread_arguments;
mod variant;
mod weaver;

pub use edit::{
    Action, AtomicChange, AtomicOperation, Binary, Conversion, EdgeChange, Edit, Expr, Float, LaunchChange,
    LocalVariable, MemoryOrder, PhiValue, Place, Predicate, Slot, Unary, Variant,
};
pub use weaver::Form;
