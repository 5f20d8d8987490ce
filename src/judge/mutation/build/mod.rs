//! Makes modules with mutants in them.

pub mod assumptions;
pub mod module_builder;
