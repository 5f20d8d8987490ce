//! IMO: weakens memory orders and scopes of atomics and fences (OpenCL C 6.13.11).

use crate::instrument::mutants::{Action, Edit, Expr};
use crate::kernel::builtins::{Builtin, Family, MemoryOrders, demangle, memory_orders};
use crate::llvm::Inst;
use crate::mutation::level::{self, Concept};
use crate::mutation::operators::calls;
use crate::mutation::subject::{Operator, OperatorOutput, Subject};

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

/// Returns the orders that are weaker than one, of an access that reads and writes as said.
fn weaker(order: i64, (reads, writes): (bool, bool)) -> Vec<i64> {
    let all: &[i64] = match order {
        5 => &[4, 2, 3, 0],
        4 => &[2, 3, 0],
        2 | 3 => &[0],
        _ => &[],
    };
    let fits = |order: &i64| match order {
        4 => reads && writes,
        2 => reads,
        3 => writes,
        _ => true,
    };
    all.iter().copied().filter(fits).collect()
}

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let is_ordered = |name: &str| {
        let family = Builtin::of(name).map(Builtin::family);
        matches!(family, None | Some(Family::Atomic | Family::Fence)) && memory_orders(name).is_some()
    };
    for call in calls::find(subject, is_ordered) {
        let Some(MemoryOrders { orders, scope, accesses }) = memory_orders(&call.name) else { continue };
        let mut changes: Vec<(usize, i64, &str)> = Vec::new();
        for (nth, position) in orders.iter().enumerate() {
            let Some(own) = call.constant(*position) else {
                call.exclude(IMO.id, "its memory order is no constant", found);
                continue;
            };
            // The order of a failed exchange is that of a load.
            let accesses = if nth == 0 { accesses } else { (true, false) };
            let names = weaker(own, accesses).into_iter().filter_map(|n| ORDERS.iter().find(|(own, _)| *own == n));
            changes.extend(names.map(|(order, name)| (*position, *order, *name)));
        }
        let own_scope = call.constant(scope);
        let narrower = own_scope.and_then(|own| SCOPES.iter().find(|(number, _)| own > 1 && *number == own - 1));
        changes.extend(narrower.map(|(number, name)| (scope, *number, *name)));
        for (position, number, name) in changes {
            let arg = |i: usize| if i == position { Expr::Integer(number.into()) } else { Expr::Operand(i as u32) };
            let args = (0..call.operand_count()).map(arg).collect();
            let mut texts = call.all_args();
            texts[position] = name.to_owned();
            let edit =
                Edit::Instead { at: call.places.clone(), by: Action::Call { callee: call.callee.clone(), args } };
            found.mutants.push(call.mutant(IMO.id, call.call_text(&call.name, &texts), edit, true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_has_only_the_orders_that_it_can_have() {
        assert_eq!(weaker(5, (true, true)), [4, 2, 3, 0]);
        assert_eq!(weaker(5, (true, false)), [2, 0]);
        assert_eq!(weaker(5, (false, true)), [3, 0]);
        assert_eq!(weaker(4, (true, true)), [2, 3, 0]);
        assert!(weaker(0, (true, true)).is_empty());
    }
}
