//! IID: changes the ids of work-items and work-groups.

use kassay_ir::instrument::mutants::Binary;

use super::super::super::level::{self, Concept};
use super::super::super::operators::index;
use super::super::super::subject::{Operator, OperatorOutput, Subject};

/// Replaces ids.
pub const IID: Operator = Operator {
    id: "IID",
    name: "id replacement",
    class: "index",
    description: "a call of `get_global_id`, `get_local_id`, `get_group_id` by another of the three, by another dimension that the \
                  kernel asks for; plus 1; minus 1",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Index,
    levels: level::IR,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    index::replace(subject, IID.id, found);
    index::step(subject, IID.id, Binary::Add, '+', found);
    index::step(subject, IID.id, Binary::Sub, '-', found);
}
