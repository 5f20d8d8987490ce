//! Types in mangled names of builtins (Itanium C++ ABI, 5.1.5): reads the parameters of a name, and writes them again.
//!
//! Replacing text is not sufficient: an address space is a component that later parts of the name may refer to by
//! number, so removing one changes the numbers.

use super::mangling::identifier;

/// A parameter's type, as far as it occurs in OpenCL C's builtins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// A builtin type (`f`, `Dh`).
    Plain(String),
    /// A type with a name of its own: enumerations, and OpenCL's own types.
    Named(String),
    /// A pointer to this type.
    Pointer(Box<Type>),
    /// The number of components, and their type.
    Vector(u32, Box<Type>),
    /// `_Atomic` and similar vendor-extended qualifiers.
    Extended(String, Box<Type>),
    /// Address space, those of `r`, `V`, `K` that are present, and the type.
    Qualified(Option<String>, String, Box<Type>),
}

struct Parser<'a> {
    rest: &'a str,
    /// The components that back references refer to, in order.
    components: Vec<Type>,
    /// Whether what a pointer to private memory points to is a component, although its address space is not written: so
    /// clang has it.
    counts_private: bool,
}

/// Reads mangled parameters, with what refers to earlier ones; `None` if they are of no such types.
pub fn parse(text: &str) -> Option<Vec<Type>> {
    let parsed = |counts_private| {
        let mut parser = Parser { rest: text, components: Vec::new(), counts_private };
        let mut all = Vec::new();
        while !parser.rest.is_empty() {
            all.push(parser.ty()?);
        }
        Some(all)
    };
    // Translators of SPIR-V count as the ABI says.
    parsed(false).or_else(|| parsed(true))
}

/// Writes parameters as they are mangled.
pub fn print<'a>(types: impl IntoIterator<Item = &'a Type>) -> String {
    let mut printer = Printer::default();
    types.into_iter().for_each(|ty| printer.ty(ty));
    printer.text
}

impl Type {
    /// Returns what the type points to, without qualifiers.
    pub fn pointee(&self) -> Option<&Type> {
        match self {
            Type::Pointer(to) => Some(to.unqualified()),
            _ => None,
        }
    }

    /// Returns the type without qualifiers.
    pub fn unqualified(&self) -> &Type {
        match self {
            Type::Qualified(_, _, of) | Type::Extended(_, of) => of.unqualified(),
            other => other,
        }
    }

    /// Returns the number of components, 1 for scalars, and the mangled name of a component; `None` unless it is
    /// arithmetic.
    pub fn lanes(&self) -> Option<(u32, &str)> {
        let (count, of) = match self {
            Type::Vector(count, of) => (*count, &**of),
            other => (1, other),
        };
        match of {
            Type::Plain(name) if name == "Dh" || "bcahstijlmxyfd".contains(name.as_str()) => Some((count, name)),
            _ => None,
        }
    }
}

impl<'a> Parser<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }

    fn digits(&mut self) -> Option<&'a str> {
        let count = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        self.take(count)
    }

    /// Reads a length and a name of that length.
    fn name(&mut self) -> Option<String> {
        let (name, rest) = identifier(self.rest)?;
        self.rest = rest;
        Some(name.to_owned())
    }

    fn ty(&mut self) -> Option<Type> {
        let ty = match self.rest.bytes().next()? {
            b'P' => {
                self.take(1)?;
                let is_private = !self.rest.starts_with('U');
                let to = self.ty()?;
                if is_private && self.counts_private {
                    self.components.push(to.clone());
                }
                Type::Pointer(Box::new(to))
            }
            b'0'..=b'9' => Type::Named(self.name()?),
            b'S' => return self.back_reference(),
            b'D' if self.rest.starts_with("Dv") => {
                self.take(2)?;
                let count = self.digits()?.parse().ok()?;
                self.rest = self.rest.strip_prefix('_')?;
                Type::Vector(count, Box::new(self.ty()?))
            }
            b'D' => return self.take(2).map(|text| Type::Plain(text.to_owned())),
            b'U' | b'r' | b'V' | b'K' => self.qualified()?,
            _ => return self.take(1).map(|text| Type::Plain(text.to_owned())),
        };
        self.components.push(ty.clone());
        Some(ty)
    }

    fn qualified(&mut self) -> Option<Type> {
        let mut space = None;
        if let Some(rest) = self.rest.strip_prefix('U') {
            self.rest = rest;
            let name = self.name()?;
            if !name.starts_with("AS") {
                return Some(Type::Extended(name, Box::new(self.ty()?)));
            }
            space = Some(name);
        }
        let count = self.rest.bytes().take_while(|byte| b"rVK".contains(byte)).count();
        let qualifiers = self.take(count)?.to_owned();
        Some(Type::Qualified(space, qualifiers, Box::new(self.ty()?)))
    }

    /// `S_` is the first component, `S0_` the second; numbers are base 36.
    fn back_reference(&mut self) -> Option<Type> {
        let (number, rest) = self.rest[1..].split_once('_')?;
        self.rest = rest;
        let index = if number.is_empty() { 0 } else { usize::from_str_radix(number, 36).ok()? + 1 };
        self.components.get(index).cloned()
    }
}

#[derive(Default)]
struct Printer {
    text: String,
    components: Vec<Type>,
}

impl Printer {
    fn ty(&mut self, ty: &Type) {
        if let Type::Plain(name) = ty {
            self.text += name;
            return;
        }
        if let Some(index) = self.components.iter().position(|known| known == ty) {
            self.text += &match index.checked_sub(1) {
                None => "S_".to_owned(),
                Some(number) => format!("S{}_", base36(number)),
            };
            return;
        }
        match ty {
            Type::Plain(_) => {}
            Type::Named(name) => self.text += &format!("{}{name}", name.len()),
            Type::Pointer(to) => {
                self.text.push('P');
                self.ty(to);
            }
            Type::Vector(count, of) => {
                self.text += &format!("Dv{count}_");
                self.ty(of);
            }
            Type::Extended(name, of) => {
                self.text += &format!("U{}{name}", name.len());
                self.ty(of);
            }
            Type::Qualified(space, qualifiers, of) => {
                if let Some(space) = space {
                    self.text += &format!("U{}{space}", space.len());
                }
                self.text += qualifiers;
                self.ty(of);
            }
        }
        self.components.push(ty.clone());
    }
}

fn base36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]);
        number /= 36;
        if number == 0 {
            digits.reverse();
            return String::from_utf8_lossy(&digits).into_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_with_what_they_refer_to() {
        let types = parse("Dv4_fPU3AS1KS_m").unwrap();
        assert_eq!(types.len(), 3);
        assert_eq!(types[0].lanes(), Some((4, "f")));
        assert_eq!(types[1].pointee().and_then(Type::lanes), Some((4, "f")));
        assert_eq!(types[1].lanes(), None);
        assert_eq!(print(&types), "Dv4_fPU3AS1KS_m");
        assert_eq!(parse("S_"), None);
    }

    #[test]
    fn private_memory_is_counted_as_clang_does() {
        for numbered in ["PU3AS1VU7_AtomicfPff12memory_orderS4_", "PU3AS1VU7_AtomicfPff12memory_orderS3_"] {
            let types = parse(numbered).unwrap();
            assert_eq!((types.len(), &types[4]), (5, &Type::Named("memory_order".to_owned())), "{numbered}");
        }
    }

    #[test]
    fn numbers_are_of_base_36() {
        assert_eq!([0, 9, 10, 35, 36, 71].map(base36), ["0", "9", "A", "Z", "10", "1Z"]);
    }
}
