//! Recognises OpenCL builtins by their (mangled) names, above all the atomics: those of OpenCL C 1.x (6.12.11:
//! `atomic_*`, and `atom_*` of the extensions) and the C11 atomics of OpenCL C 2.0 (6.13.11).

/// Splits a mangled name into base name and mangled parameters (Itanium C++ ABI 5.1.4: `_Z`, length, name, types).
pub fn demangle(callee: &str) -> Option<(&str, &str)> {
    let rest = callee.strip_prefix("_Z")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let len: usize = rest[..digits].parse().ok()?;
    Some((rest.get(digits..digits + len)?, rest.get(digits + len..)?))
}

/// The mangled name of a builtin whose parameters are mangled as `params`.
pub fn mangle(name: &str, params: &str) -> String {
    format!("_Z{}{name}{params}", name.len())
}

/// The operation that an atomic performs on the value in memory and its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exchange,
    /// OpenCL C 1.x: returns the old value.
    CompareExchange,
    /// C11: returns whether the exchange happened.
    CompareExchangeBool,
    Load,
    Store,
    TestAndSet,
    Clear,
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

/// Returns whether the builtin with that plain name synchronises work-items or orders their memory accesses: atomics,
/// barriers, fences, functions of a work-group or sub-group, and what SPIR-V translators turn them into. Only
/// meaningful for declarations without a body: a function of the user's may have any name.
pub fn synchronises(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "barrier",
        "work_group_barrier",
        "sub_group_barrier",
        "mem_fence",
        "read_mem_fence",
        "write_mem_fence",
        "wait_group_events",
        "__spirv_ControlBarrier",
        "__spirv_MemoryBarrier",
    ];
    const PREFIXES: [&str; 8] = [
        "atomic_",
        "atom_",
        "async_work_group_",
        "work_group_",
        "sub_group_",
        "intel_sub_group_",
        "__spirv_Atomic",
        "__spirv_Group",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// What follows the qualifiers of a mangled pointer: `jj` in `Vjj`, `Dv4_f` in `U3AS1KDv4_f`.
fn unqualified(mut rest: &str) -> Option<&str> {
    loop {
        if let Some(vendor) = rest.strip_prefix('U') {
            let digits = vendor.bytes().take_while(u8::is_ascii_digit).count();
            rest = vendor.get(digits + vendor[..digits].parse::<usize>().ok()?..)?;
        } else if let Some(unqualified) = rest.strip_prefix(['V', 'K', 'r']) {
            rest = unqualified;
        } else {
            return Some(rest);
        }
    }
}

/// The mangled type that the first parameter points to, after the pointer's qualifiers: `j` for `PU3AS1VU7_Atomicj`.
pub fn pointee(params: &str) -> Option<char> {
    unqualified(params.strip_prefix('P')?)?.chars().next()
}

/// The number of lanes and the bytes per lane of what the first pointer among the parameters points to:
/// `(4, 4)` for `jPU3AS1KDv4_f`.
pub fn pointed(params: &str) -> Option<(u64, u64)> {
    let rest = unqualified(params.get(params.find('P')? + 1..)?)?;
    let (lanes, scalar) = match rest.strip_prefix("Dv") {
        Some(vector) => {
            let (count, scalar) = vector.split_once('_')?;
            (count.parse().ok()?, scalar)
        }
        None => (1, rest),
    };
    let bytes = match scalar.chars().next()? {
        'c' | 'a' | 'h' => 1,
        's' | 't' | 'D' => 2,
        'i' | 'j' | 'f' => 4,
        'l' | 'm' | 'd' | 'x' | 'y' => 8,
        _ => return None,
    };
    Some((lanes, bytes))
}

/// Returns whether a mangled builtin type (Itanium C++ ABI 5.1.5) is a floating-point type.
pub fn is_float(ty: char) -> bool {
    matches!(ty, 'f' | 'd' | 'D')
}

/// Returns whether a mangled builtin type is a signed integer.
pub fn is_signed(ty: char) -> bool {
    matches!(ty, 'c' | 'a' | 's' | 'i' | 'l' | 'x')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_are_taken_apart_and_put_together() {
        assert_eq!(demangle("_Z10atomic_addPU3AS1Vjj"), Some(("atomic_add", "PU3AS1Vjj")));
        assert_eq!(demangle("_Z7barrierj"), Some(("barrier", "j")));
        assert_eq!(demangle("_Z99short"), None);
        assert_eq!(demangle("helper"), None);
        assert_eq!(mangle("atomic_sub", "PU3AS1Vjj"), "_Z10atomic_subPU3AS1Vjj");
    }

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
    fn synchronising_builtins_are_recognised_by_name() {
        for name in
            ["barrier", "atomic_add", "atom_cmpxchg", "mem_fence", "async_work_group_copy", "sub_group_reduce_add"]
        {
            assert!(synchronises(name), "{name}");
        }
        for name in ["get_group_id", "get_sub_group_local_id", "update_barrier_flag", "my_atomic_", "printf"] {
            assert!(!synchronises(name), "{name}");
        }
    }

    #[test]
    fn the_pointee_type_is_read_after_the_qualifiers() {
        assert_eq!(pointee("PU3AS1Vjj"), Some('j'));
        assert_eq!(pointee("PU3AS3VU7_Atomicii12memory_order"), Some('i'));
        assert_eq!(pointee("PVU3AS1ff"), Some('f'));
        assert_eq!(pointee("j"), None);
        assert_eq!(pointed("PU3AS1KDv4_f"), Some((4, 4)));
        assert_eq!(pointed("jPU3AS1Kh"), Some((1, 1)));
        assert_eq!(pointed("ii"), None);
    }
}
