//! Reads types as clang prints them.

/// Returns whether a type, as clang prints it, is a pointer.
pub fn is_pointer_type(ty: &str) -> bool {
    ty.trim_end().trim_end_matches("restrict").trim_end_matches("const").trim_end().ends_with('*')
        || ty.contains("*__")
        || ty.contains("* const")
}

/// Returns whether a type without typedefs is unsigned, or a vector of an unsigned type.
pub fn is_unsigned(ty: &str) -> bool {
    let word = ty.split_whitespace().find(|word| {
        let is_qualifier = matches!(*word, "const" | "volatile" | "restrict");
        !is_qualifier && (!word.starts_with("__") || word.contains('('))
    });
    matches!(word, Some("unsigned" | "uchar" | "ushort" | "uint" | "ulong" | "bool" | "_Bool" | "size_t" | "uintptr_t"))
}

/// The numbers of a type without typedefs, as far as they tell instructions apart: whether they are floating-point,
/// their bits, and how many there are. `None` for what is no number and no vector of numbers.
pub fn numbers(ty: &str) -> Option<(bool, u32, u32)> {
    let (element, lanes) = match ty.split_once("__attribute__((ext_vector_type(") {
        Some((element, rest)) => (element, rest.split_once(')')?.0.parse().ok()?),
        None => (ty, 1),
    };
    let is_qualifier = |word: &&str| !matches!(*word, "const" | "volatile" | "restrict") && !word.starts_with("__");
    let words: Vec<&str> = element.split_whitespace().filter(is_qualifier).collect();
    let number = match words[..] {
        ["half" | "_Float16"] => (true, 16),
        ["float"] => (true, 32),
        ["double"] => (true, 64),
        ["char" | "uchar"] | ["signed" | "unsigned", "char"] => (false, 8),
        ["short" | "ushort"] | ["unsigned", "short"] => (false, 16),
        ["int" | "uint" | "unsigned"] | ["unsigned", "int"] => (false, 32),
        ["long" | "ulong"] | ["unsigned", "long"] => (false, 64),
        _ => return None,
    };
    Some((number.0, number.1, lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_types() {
        assert_eq!(numbers("float"), Some((true, 32, 1)));
        assert_eq!(numbers("const unsigned char"), Some((false, 8, 1)));
        assert_eq!(numbers("__private unsigned long"), Some((false, 64, 1)));
        assert_eq!(numbers("double __attribute__((ext_vector_type(4)))"), Some((true, 64, 4)));
        for other in ["__global int *", "struct point", "bool", "event_t", ""] {
            assert_eq!(numbers(other), None, "{other}");
        }
    }
}
