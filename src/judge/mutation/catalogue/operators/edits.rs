//! Builds the edits that several operators on control flow make.

use kassay_ir::cfg::loops::Loop;
use kassay_ir::instrument::mutants::{Action, Edit, Expr, Place, Slot};

use super::super::control::effects::Body;

/// Returns the edit that forces a loop's condition; `None` if the loop has none.
pub fn forced_loop(body: &Body<'_>, l: &Loop, value: bool) -> Option<Edit> {
    let place = body.terminator(l.condition?);
    Some(constant_condition(place, value == (l.continue_successor == 0)))
}

/// Returns the edit that replaces a condition (operand 0 of a `br` or `select`) by a constant.
pub fn constant_condition(place: Place, value: bool) -> Edit {
    Edit::Value { at: vec![Slot::Operand(place, 0)], by: Expr::Integer(i128::from(value)) }
}

/// Combines the edit with the removal of these stores and calls.
pub fn with_effects_left_out(edit: Edit, effects: Vec<Place>) -> Edit {
    match effects.is_empty() {
        true => edit,
        false => Edit::All(vec![edit, Edit::Instead { at: effects, by: Action::Nothing }]),
    }
}
