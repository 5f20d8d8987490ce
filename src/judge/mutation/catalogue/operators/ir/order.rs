//! IMO: weakens memory orders and scopes of atomics and fences (OpenCL C 6.13.11).

use kassay_ir::instrument::mutants::{Action, Edit, Expr};
use kassay_ir::kernel::builtins::{Builtin, Family, MemoryOrders, demangle, memory_orders};
use kassay_ir::llvm::Inst;

use super::super::super::level::{self, Concept};
use super::super::super::operators::calls;
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::atomics;
use super::weakening::{fitting_failure, weaker};

/// Weakens memory orders and scopes.
pub const IMO: Operator = Operator {
    id: "IMO",
    name: "memory order",
    class: "atomic",
    description: "the memory order of an atomic or fence by each weaker one that it can have, its scope by the next narrower one",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Synchronisation,
    levels: level::IR,
    enumerate,
};

/// The numbers of `memory_order` that clang gives them, and their names.
const ORDERS: [(i64, &str); 5] = [
    (0, "memory_order_relaxed"),
    (2, "memory_order_acquire"),
    (3, "memory_order_release"),
    (4, "memory_order_acq_rel"),
    (5, "memory_order_seq_cst"),
];

/// The numbers of `memory_scope`, and their names.
const SCOPES: [(i64, &str); 3] =
    [(1, "memory_scope_work_group"), (2, "memory_scope_device"), (3, "memory_scope_all_svm_devices")];

/// Returns whether an argument of a call is a memory order or scope.
pub fn is_order(call: Inst<'_>, argument: u32) -> bool {
    let Some(callee) = call.callee() else { return false };
    let orders = demangle(&callee).and_then(|(name, _)| memory_orders(name));
    orders.is_some_and(|o| o.orders.contains(&(argument as usize)) || o.scope == argument as usize)
}

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let is_ordered = |name: &str| {
        let family = Builtin::of(name).map(Builtin::family);
        matches!(family, None | Some(Family::Atomic | Family::Fence)) && memory_orders(name).is_some()
    };
    for call in calls::find(subject, is_ordered) {
        let Some(MemoryOrders { orders, scope, accesses }) = memory_orders(&call.name) else { continue };
        let mut changes: Vec<Vec<(usize, i64)>> = Vec::new();
        for (nth, position) in orders.iter().enumerate() {
            let Some(own) = call.constant(*position) else {
                call.exclude(IMO.id, "its memory order is no constant", found);
                continue;
            };
            // The order of a failed exchange is that of a load.
            let accesses = if nth == 0 { accesses } else { (true, false) };
            let failure = orders.get(1).filter(|_| nth == 0).and_then(|at| Some((*at, call.constant(*at)?)));
            for order in weaker(own, accesses) {
                let along = failure.map(|(at, own)| (at, own, fitting_failure(order, own)));
                let along = along.filter(|(_, own, new)| own != new).map(|(at, _, new)| (at, new));
                changes.push(std::iter::once((*position, order)).chain(along).collect());
            }
        }
        let own_scope = call.constant(scope);
        let narrower = own_scope.filter(|own| SCOPES.iter().skip(1).any(|(number, _)| number == own));
        changes.extend(narrower.map(|own| vec![(scope, own - 1)]));
        for change in changes {
            let new = |i: usize| change.iter().find(|(position, _)| *position == i).map(|(_, number)| *number);
            let arg = |i: usize| new(i).map_or(Expr::Operand(i as u32), |number| Expr::Integer(number.into()));
            let args = (0..call.operand_count()).map(arg).collect();
            let mut texts = call.all_args();
            for (position, number) in &change {
                let names: &[(i64, &str)] = if *position == scope { &SCOPES } else { &ORDERS };
                let name = names.iter().find(|(own, _)| own == number).map(|(_, name)| *name);
                texts[*position] = name.unwrap_or_default().to_owned();
            }
            let edit =
                Edit::Instead { at: call.places.clone(), by: Action::Call { callee: call.callee.clone(), args } };
            found.mutants.push(call.mutant(IMO.id, call.call_text(&call.name, &texts), edit, true));
        }
    }
    atomics::weakened(subject, IMO.id, found);
}
