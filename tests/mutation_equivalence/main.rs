//! Equivalent and duplicate mutants: what is claimed, and above all what must not be.

mod classify;
mod normal_form;
mod proofs;
mod support;
