//! Checks equivalent and duplicate mutants: which are claimed, and above all which must not be.

mod classify;
mod launches;
mod normal_form;
mod proofs;
mod support;
