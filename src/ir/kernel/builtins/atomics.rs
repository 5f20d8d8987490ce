//! Operations of the atomic builtins: those of OpenCL C 1.x (6.12.11: `atomic_*`, and `atom_*` of the extensions) and
//! the C11 atomics of OpenCL C 2.0 (6.13.11).

/// The operation that an atomic performs on the value in memory and its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Adds the operand.
    Add,
    /// Subtracts the operand.
    Sub,
    /// The lesser of both.
    Min,
    /// The greater of both.
    Max,
    /// Both, bit by bit.
    And,
    /// Either, bit by bit.
    Or,
    /// Exactly one, bit by bit.
    Xor,
    /// Adds 1.
    Inc,
    /// Subtracts 1.
    Dec,
    /// Puts the operand in place of the value.
    Exchange,
    /// OpenCL C 1.x: returns the old value.
    CompareExchange,
    /// C11: returns whether the exchange happened.
    CompareExchangeBool,
    /// Reads the value.
    Load,
    /// Writes the operand and returns nothing.
    Store,
    /// Sets a flag and returns whether it was set.
    TestAndSet,
    /// Clears a flag.
    Clear,
}

/// The operation of the atomic of CUDA with that name; `None` if it is none that OpenCL has.
pub fn operation_in_cuda(name: &str) -> Option<Operation> {
    let word = name.strip_prefix("atomic")?;
    let word = word.strip_suffix("_block").or(word.strip_suffix("_system")).unwrap_or(word);
    Some(match word {
        "Add" => Operation::Add,
        "Sub" => Operation::Sub,
        "Min" => Operation::Min,
        "Max" => Operation::Max,
        "And" => Operation::And,
        "Or" => Operation::Or,
        "Xor" => Operation::Xor,
        "Exch" => Operation::Exchange,
        "CAS" => Operation::CompareExchange,
        _ => return None,
    })
}

/// The operation of the builtin with that plain name; `None` if it is not an atomic operation.
pub fn operation(name: &str) -> Option<Operation> {
    use Operation::*;
    let c11 = name.strip_suffix("_explicit").unwrap_or(name);
    let named = match c11 {
        "atomic_exchange" => Some(Exchange),
        "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak" => Some(CompareExchangeBool),
        "atomic_load" => Some(Load),
        "atomic_store" => Some(Store),
        "atomic_flag_test_and_set" => Some(TestAndSet),
        "atomic_flag_clear" => Some(Clear),
        _ => None,
    };
    if named.is_some() {
        return named;
    }
    let (word, is_c11) = match c11.strip_prefix("atomic_fetch_") {
        Some(word) => (word, true),
        None => (name.strip_prefix("atomic_").or_else(|| name.strip_prefix("atom_"))?, false),
    };
    Some(match word {
        "add" => Add,
        "sub" => Sub,
        "min" => Min,
        "max" => Max,
        "and" => And,
        "or" => Or,
        "xor" => Xor,
        "inc" if !is_c11 => Inc,
        "dec" if !is_c11 => Dec,
        "xchg" if !is_c11 => Exchange,
        "cmpxchg" if !is_c11 => CompareExchange,
        _ => return None,
    })
}

/// Returns whether the builtin with that plain name is an atomic of OpenCL C 1.x, which orders no other accesses.
pub fn is_relaxed(name: &str) -> bool {
    let words = ["add", "sub", "xchg", "inc", "dec", "cmpxchg", "min", "max", "and", "or", "xor"];
    name.strip_prefix("atomic_").or_else(|| name.strip_prefix("atom_")).is_some_and(|word| words.contains(&word))
}

/// The positions of a builtin's arguments that are memory orders and scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryOrders {
    /// The orders; of a compare-exchange, that of success and that of failure.
    pub orders: Vec<usize>,
    /// The scope.
    pub scope: usize,
    /// Whether it reads, and whether it writes; a fence orders both.
    pub accesses: (bool, bool),
}

/// Returns where the builtin with that plain name has its memory orders, if it has any (6.13.11).
pub fn memory_orders(name: &str) -> Option<MemoryOrders> {
    use Operation::*;
    if name == "atomic_work_item_fence" {
        return Some(MemoryOrders { orders: vec![1], scope: 2, accesses: (true, true) });
    }
    let operation = operation(name).filter(|_| name.ends_with("_explicit"))?;
    let (first, count, accesses) = match operation {
        Load => (1, 1, (true, false)),
        Store => (2, 1, (false, true)),
        Clear => (1, 1, (false, true)),
        TestAndSet => (1, 1, (true, true)),
        CompareExchangeBool | CompareExchange => (3, 2, (true, true)),
        Add | Sub | Min | Max | And | Or | Xor | Inc | Dec | Exchange => (2, 1, (true, true)),
    };
    Some(MemoryOrders { orders: (first..first + count).collect(), scope: first + count, accesses })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomic_operations_are_recognised_by_name() {
        assert_eq!(operation("atomic_add"), Some(Operation::Add));
        assert_eq!(operation("atom_cmpxchg"), Some(Operation::CompareExchange));
        assert_eq!(operation("atomic_fetch_max_explicit"), Some(Operation::Max));
        assert_eq!(operation("atomic_exchange"), Some(Operation::Exchange));
        assert_eq!(operation("atomic_compare_exchange_weak_explicit"), Some(Operation::CompareExchangeBool));
        assert_eq!(operation("atomic_init"), None);
        assert_eq!(operation("atomic_work_item_fence"), None);
        assert_eq!(operation("atomic_fetch_inc"), None);
    }

    #[test]
    fn atomics_of_the_first_versions_are_relaxed() {
        assert!(is_relaxed("atomic_cmpxchg") && is_relaxed("atom_add"));
        assert!(!is_relaxed("atomic_exchange") && !is_relaxed("atomic_fetch_add") && !is_relaxed("atomic_load"));
    }

    #[test]
    fn orders_and_scopes_are_found_by_name() {
        let positions = |name| memory_orders(name).map(|o| (o.orders, o.scope));
        assert_eq!(positions("atomic_fetch_add_explicit"), Some((vec![2], 3)));
        assert_eq!(positions("atomic_load_explicit"), Some((vec![1], 2)));
        assert_eq!(positions("atomic_compare_exchange_strong_explicit"), Some((vec![3, 4], 5)));
        assert_eq!(positions("atomic_work_item_fence"), Some((vec![1], 2)));
        assert_eq!(positions("atomic_add"), None);
    }
}
