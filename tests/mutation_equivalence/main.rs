//! Equivalent and duplicate mutants: what is claimed, and above all what must not be.

mod normal_form;
mod support;
