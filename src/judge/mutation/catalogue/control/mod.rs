//! Maps the source's conditions, statements and loops to the canonical form; shared by the operators on control flow.
//!
//! Must never know: how edits become IR.

pub mod boundary;
pub mod conditions;
pub mod effects;
pub mod formula;
pub mod precedence;
pub mod short_circuit_decisions;
pub mod short_circuits;
pub mod text;
