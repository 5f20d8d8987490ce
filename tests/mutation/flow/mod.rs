//! Checks operators on control flow, statements and constants: which mutants they find, and that each mutant does what
//! the same change of the source does.

mod counts;
mod differential;
mod meeting;
mod support;
