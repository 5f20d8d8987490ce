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
