//! What can be mutated: operators of the IR and of the source, the places where they apply, and the mutants that come
//! of it.

pub mod changed_lines;
pub mod control;
pub mod enumerate;
pub mod higher_order;
pub mod indices;
pub mod item_interaction;
pub mod level;
pub mod moved_places;
pub mod mutant;
pub mod operators;
pub mod prunable;
pub mod redirect_legality;
pub mod reference;
pub mod selection;
pub mod source_level;
pub mod source_ops;
pub mod subject;
