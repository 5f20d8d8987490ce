//! Translates the names of builtins to libclc's: parses the parameter types in a mangled name (Itanium C++ ABI, 5.1.5)
//! and prints them with other address spaces.
//!
//! Replacing text is not sufficient: an address space is a component that later parts of the name may refer to by
//! number, so removing one changes the numbers.

use crate::kernel::builtins::{demangle, identifier, mangle};

/// A parameter's type, as far as it occurs in OpenCL C's builtins.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Type {
    /// A builtin type (`f`, `Dh`).
    Plain(String),
    /// A type with a name of its own: enumerations, and OpenCL's own types.
    Named(String),
    Pointer(Box<Type>),
    /// The number of components as written, and the component type.
    Vector(String, Box<Type>),
    /// `_Atomic` and similar vendor-extended qualifiers.
    Extended(String, Box<Type>),
    /// Address space, those of `r`, `V`, `K` that are present, and the type.
    Qualified(Option<String>, String, Box<Type>),
}

struct Parser<'a> {
    rest: &'a str,
    /// The components that back references refer to, in order.
    components: Vec<Type>,
}

impl<'a> Parser<'a> {
    fn parameters(text: &'a str) -> Option<Vec<Type>> {
        let mut parser = Parser { rest: text, components: Vec::new() };
        let mut all = Vec::new();
        while !parser.rest.is_empty() {
            all.push(parser.ty()?);
        }
        Some(all)
    }

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
                Type::Pointer(Box::new(self.ty()?))
            }
            b'0'..=b'9' => Type::Named(self.name()?),
            b'S' => return self.back_reference(),
            b'D' if self.rest.starts_with("Dv") => {
                self.take(2)?;
                let count = self.digits()?.to_owned();
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

/// Where libclc's functions find what a kernel calls constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constants {
    /// In constant memory, address space 4 of NVPTX.
    Constant,
    /// In global memory, address space 1.
    Global,
}

/// Replaces SPIR's address spaces by those of libclc for NVPTX, where generic is private.
fn with_libclc_address_spaces(ty: &Type, constants: Constants) -> Type {
    let inner = |ty: &Type| Box::new(with_libclc_address_spaces(ty, constants));
    match ty {
        Type::Plain(_) | Type::Named(_) => ty.clone(),
        Type::Pointer(to) => Type::Pointer(inner(to)),
        Type::Vector(count, of) => Type::Vector(count.clone(), inner(of)),
        Type::Extended(name, of) => Type::Extended(name.clone(), inner(of)),
        Type::Qualified(space, qualifiers, of) => {
            let space = match space.as_deref() {
                Some("AS2") => Some(if constants == Constants::Constant { "AS4" } else { "AS1" }.to_owned()),
                Some("AS4" | "AS0") | None => None,
                Some(other) => Some(other.to_owned()),
            };
            match space.is_none() && qualifiers.is_empty() {
                true => with_libclc_address_spaces(of, constants),
                false => Type::Qualified(space, qualifiers.clone(), inner(of)),
            }
        }
    }
}

/// Returns the name in libclc for NVPTX of the builtin that is called `name` for SPIR; `None` if that is not
/// a mangled name.
pub fn name_in_libclc(name: &str, constants: Constants) -> Option<String> {
    let (base, parameters) = demangle(name)?;
    let mut printer = Printer::default();
    for ty in Parser::parameters(parameters)? {
        printer.ty(&with_libclc_address_spaces(&ty, constants));
    }
    Some(mangle(base, &printer.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn maps(spir: &str, libclc: &str) {
        assert_eq!(name_in_libclc(spir, Constants::Constant).as_deref(), Some(libclc), "{spir}");
    }

    #[test]
    fn address_spaces_are_mapped() {
        maps("_Z3sinDv4_f", "_Z3sinDv4_f");
        maps("_Z5fractfPU3AS4f", "_Z5fractfPf");
        maps("_Z5fractfPU3AS1f", "_Z5fractfPU3AS1f");
        maps("_Z6vload4mPU3AS2Kf", "_Z6vload4mPU3AS4Kf");
        maps("_Z6vload4mPU3AS4Kf", "_Z6vload4mPKf");
        maps("_Z5clampDv4_fS_S_", "_Z5clampDv4_fS_S_");
        let vload = name_in_libclc("_Z6vload4mPU3AS2Kf", Constants::Global);
        assert_eq!(vload.as_deref(), Some("_Z6vload4mPU3AS1Kf"));
    }

    #[test]
    fn back_references_are_renumbered() {
        // Components: the vector, the vector with its address space, the pointer to that.
        maps("_Z6sincosDv4_fPU3AS4S_", "_Z6sincosDv4_fPS_");
        maps("_Z6remquoDv2_fS_PU3AS4Dv2_i", "_Z6remquoDv2_fS_PDv2_i");
        maps("_Z1fPU3AS4Dv2_fPU3AS4Dv2_iS3_", "_Z1fPDv2_fPDv2_iS1_");
        maps("_Z1fPU3AS4iPU3AS2KiS1_", "_Z1fPiPU3AS4KiS0_");
        maps("_Z39atomic_compare_exchange_strong_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_", {
            // Components in libclc: the atomic, volatile, the pointer, the pointer to int, the order.
            "_Z39atomic_compare_exchange_strong_explicitPVU7_AtomiciPii12memory_orderS3_"
        });
    }

    #[test]
    fn other_names_are_none() {
        assert_eq!(name_in_libclc("helper", Constants::Constant), None);
        assert_eq!(name_in_libclc("_Z1fS_", Constants::Constant), None);
        assert_eq!(name_in_libclc("_Z1fDv2", Constants::Constant), None);
        assert_eq!(name_in_libclc("_Z1fPU", Constants::Constant), None);
    }

    #[test]
    fn numbers_are_of_base_36() {
        assert_eq!([0, 9, 10, 35, 36, 71].map(base36), ["0", "9", "A", "Z", "10", "1Z"]);
    }
}
