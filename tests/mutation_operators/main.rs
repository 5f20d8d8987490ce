//! Mutation operators: what they find in kernels, against counts by hand.

mod agreement;
mod families;
mod support;
