//! Takes mangled names of builtins apart and makes them (Itanium C++ ABI, chapter 5.1).

/// Splits a mangled name into base name and mangled parameters (Itanium C++ ABI 5.1.4: `_Z`, length, name, types).
pub fn demangle(callee: &str) -> Option<(&str, &str)> {
    identifier(callee.strip_prefix("_Z")?)
}

/// Splits off a name that is preceded by its length: `(image, f)` for `5imagef`.
pub fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let len: usize = text[..digits].parse().ok()?;
    text[digits..].split_at_checked(len)
}

/// The mangled name of a builtin whose parameters are mangled as `params`.
pub fn mangle(name: &str, params: &str) -> String {
    format!("_Z{}{name}{params}", name.len())
}

/// What follows the qualifiers of a mangled pointer: `jj` in `Vjj`, `Dv4_f` in `U3AS1KDv4_f`.
fn unqualified(mut rest: &str) -> Option<&str> {
    loop {
        if let Some(vendor) = rest.strip_prefix('U') {
            rest = identifier(vendor)?.1;
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
        assert_eq!(demangle("_Z"), None);
        assert_eq!(identifier("9ocl_eventm"), Some(("ocl_event", "m")));
        assert_eq!(identifier("f"), None);
        assert_eq!(mangle("atomic_sub", "PU3AS1Vjj"), "_Z10atomic_subPU3AS1Vjj");
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
