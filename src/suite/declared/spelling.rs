//! Reads types as OpenCL C spells them: `const uint*`, `float4[2]`, `struct P`, `read_only image2d_t`.

use kassay_model::interface::{Access, AddressSpace};

/// Upper bound on the dimensions of an array: types are taken apart by recursion.
const MOST_DIMENSIONS: usize = 64;

/// A type's spelling, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    /// What is left without qualifiers, pointers and dimensions: `unsigned int`, `struct P`.
    pub base: String,
    /// The number of stars.
    pub pointers: usize,
    /// The dimensions of an array, outermost first.
    pub dimensions: Vec<u64>,
    /// Whether what is pointed to is const.
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
    /// The address space, if it is spelt out.
    pub space: Option<AddressSpace>,
    /// The access qualifier, if it is spelt out.
    pub access: Option<Access>,
}

impl Spelling {
    /// Returns a spelling that consists of a name alone.
    pub fn plain_name(base: &str) -> Spelling {
        Spelling {
            base: base.to_owned(),
            pointers: 0,
            dimensions: Vec::new(),
            is_const: false,
            is_restrict: false,
            is_volatile: false,
            space: None,
            access: None,
        }
    }

    /// Takes a spelling apart; `None` if it is not that of a type.
    pub fn of(text: &str) -> Option<Spelling> {
        let mut spelling = Spelling::plain_name("");
        let (text, dimensions) = match text.split_once('[') {
            Some((before, dimensions)) => (before, dimensions.trim_end().strip_suffix(']')?),
            None => (text, ""),
        };
        if !dimensions.is_empty() {
            let counts = dimensions.split(']').map(|count| count.trim().trim_start_matches('[').trim().parse().ok());
            spelling.dimensions = counts.collect::<Option<Vec<u64>>>().filter(|counts| !counts.contains(&0))?;
            if spelling.dimensions.len() > MOST_DIMENSIONS {
                return None;
            }
        }
        let spaced = text.replace('*', " * ");
        let mut base: Vec<&str> = Vec::new();
        for word in spaced.split_whitespace() {
            match word {
                "*" => spelling.pointers += 1,
                // After the last star it qualifies the parameter itself, which is of no concern to launches.
                "const" | "__const" => spelling.is_const |= spelling.pointers == 0,
                "volatile" => spelling.is_volatile |= spelling.pointers == 0,
                "restrict" | "__restrict" | "__restrict__" => spelling.is_restrict = true,
                "global" | "__global" => spelling.space = Some(AddressSpace::Global),
                "constant" | "__constant" => spelling.space = Some(AddressSpace::Constant),
                "local" | "__local" => spelling.space = Some(AddressSpace::Local),
                "private" | "__private" => spelling.space = Some(AddressSpace::Private),
                "read_only" | "__read_only" => spelling.access = Some(Access::ReadOnly),
                "write_only" | "__write_only" => spelling.access = Some(Access::WriteOnly),
                "read_write" | "__read_write" => spelling.access = Some(Access::ReadWrite),
                _ if spelling.pointers > 0 || !is_word(word) => return None,
                word => base.push(word),
            }
        }
        spelling.base = base.join(" ");
        (!spelling.base.is_empty()).then_some(spelling)
    }

    /// Returns the spelling without qualifiers: `uint*`.
    pub fn plain(&self) -> String {
        let dimensions: String = self.dimensions.iter().map(|count| format!("[{count}]")).collect();
        format!("{}{}{dimensions}", self.base, "*".repeat(self.pointers))
    }

    /// Returns the name of the struct that the base may be.
    pub fn struct_name(&self) -> &str {
        let base = self.base.as_str();
        base.strip_prefix("struct ").or_else(|| base.strip_prefix("union ")).unwrap_or(base)
    }
}

/// Returns whether a text consists of letters, digits and `_`.
pub fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_pointers_and_dimensions_are_taken_apart() {
        let spelling = Spelling::of("__global const unsigned int * restrict").unwrap();
        assert_eq!(
            (spelling.base.as_str(), spelling.pointers, spelling.plain().as_str()),
            ("unsigned int", 1, "unsigned int*")
        );
        assert!(spelling.is_const && spelling.is_restrict && !spelling.is_volatile);
        assert_eq!((spelling.space, spelling.access), (Some(AddressSpace::Global), None));
        let array = Spelling::of("struct P [2][ 3 ]").unwrap();
        assert_eq!(
            (array.struct_name(), &array.dimensions[..], array.plain().as_str()),
            ("P", &[2, 3][..], "struct P[2][3]")
        );
        assert_eq!(Spelling::of("read_only image2d_t").unwrap().access, Some(Access::ReadOnly));
        assert!(!Spelling::of("float* const").unwrap().is_const);
        for wrong in ["", "*", "const", "int[", "int[0]", "int[x]", "int* x", "a-b", "int[2]x]"] {
            assert_eq!(Spelling::of(wrong), None, "{wrong}");
        }
    }
}
