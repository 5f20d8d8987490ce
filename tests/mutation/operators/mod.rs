//! Compares the mutants that operators find in kernels with counts by hand.

mod agreement;
mod families;
pub(crate) mod support;
