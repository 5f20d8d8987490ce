//! The operators of the IR: they change instructions, whatever source these come from (`docs/operators.md`).

pub mod arithmetic;
mod atomic_words;
pub(super) mod atomics;
pub mod branches;
pub mod constants;
pub mod conversions;
pub mod deletion;
pub mod exchange;
pub mod index;
pub mod negation;
pub mod order;
pub mod pointers;
pub mod predicates;
mod site;
mod weakening;

pub use site::shown;
