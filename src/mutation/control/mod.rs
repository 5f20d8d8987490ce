//! How the source's conditions, statements and loops stand in the canonical form: what the operators on control flow have
//! in common.
//!
//! Must never know: how edits become IR.

pub mod boundary;
pub mod conditions;
pub mod effects;
pub mod formula;
pub mod short_circuit_decisions;
pub mod short_circuits;
pub mod text;
