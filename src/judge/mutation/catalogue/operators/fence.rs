//! Memory fences: `FR` deletes one.

use kassay_ir::instrument::mutants::edit::{Action, Edit};
use kassay_ir::kernel::builtins::{self, Family};

use super::super::level::{self, Concept};
use super::super::subject::{Operator, OperatorOutput, Subject};
use super::calls;
use super::ir::atomics;

/// Deletes a fence (LIU, table 6.2: `__threadfence`).
pub const FR: Operator = Operator {
    id: "FR",
    name: "fence removal",
    class: "fence",
    description: "delete a `mem_fence`, `read_mem_fence`, `write_mem_fence` or `atomic_work_item_fence`",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Synchronisation,
    levels: level::BOTH,
    enumerate: fr,
};

fn fr(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for call in calls::find(subject, |name| builtins::family(name) == Some(Family::Fence)) {
        let edit = Edit::Instead { at: call.places.clone(), by: Action::Nothing };
        found.mutants.push(call.mutant(FR.id, String::new(), edit, true));
    }
    atomics::fences(subject, FR.id, found);
}
