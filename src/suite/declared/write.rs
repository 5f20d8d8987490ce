//! Writes a kernel's interface as the tables that declare it. What is a guess is said in comments.

use std::fmt::Write as _;

use kassay_model::interface::{
    Access, AddressSpace, Arg, ArgKind, ArgSource, Evidence, Field, Interface, Struct, Type,
};

use super::spelling::{Spelling, is_word};
use super::types::arithmetic;

/// The structs of an interface with the names that the tables give them.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// Structs as they are in buffers, those in other structs first.
    structs: Vec<(Struct, String)>,
}

/// Returns the text of an interface file.
pub fn interface_file(interface: &Interface) -> String {
    let mut out = String::from(
        "# The interface of a kernel, as far as its module tells it: correct it, and give it back with --interface, or copy\n\
         # its tables into a suite. Comments say what is a guess.\n\n",
    );
    let _ = writeln!(out, "kernel = {}", quoted(&interface.name));
    out + &tables(interface)
}

/// Returns the tables of all parameters, of the structs that they use and of variables of the program.
pub fn tables(interface: &Interface) -> String {
    let tables = Tables::of(interface);
    let mut out = tables.structs();
    for arg in &interface.args {
        match arg.source {
            ArgSource::Parameter => out += &tables.arg(arg),
            // It follows from the struct, or from the buffer.
            ArgSource::Member { .. } | ArgSource::Element => {}
            ArgSource::Variable { .. } => out += &tables.variable(arg),
        }
    }
    out
}

/// Returns the text as a TOML string.
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl Tables {
    /// Collects the structs of an interface.
    pub fn of(interface: &Interface) -> Tables {
        let mut tables = Tables::default();
        for arg in &interface.args {
            let ty = match &arg.kind {
                ArgKind::Value(ty) => Some(ty),
                ArgKind::Buffer { element, .. } | ArgKind::Local { element } => element.as_ref(),
                ArgKind::Image(_) | ArgKind::Sampler | ArgKind::Unsupported(_) => None,
            };
            if let Some(ty) = ty {
                let spelt = Spelling::of(&arg.type_name).map(|spelling| spelling.struct_name().to_owned());
                tables.collect(ty, spelt.as_deref());
            }
        }
        tables
    }

    /// Adds the structs in a type. `name` is that by which the source calls the type, if it is known.
    fn collect(&mut self, ty: &Type, name: Option<&str>) {
        match ty {
            Type::Array(element, _) => self.collect(element, name),
            Type::Pointer { pointee: Some(pointee), .. } => self.collect(pointee, None),
            Type::Struct(record) => {
                record.fields.iter().for_each(|field| self.collect(&field.ty, None));
                let plain = in_buffer(record);
                if self.name_of(&plain).is_none() {
                    let name = self.free_name(&record.name, name);
                    self.structs.push((plain, name));
                }
            }
            Type::Scalar(_) | Type::Vector(..) | Type::Pointer { pointee: None, .. } | Type::Opaque { .. } => {}
        }
    }

    fn name_of(&self, plain: &Struct) -> Option<&str> {
        self.structs.iter().find(|(other, _)| other == plain).map(|(_, name)| name.as_str())
    }

    /// Returns a name for a struct that no other has.
    fn free_name(&self, own: &str, spelt: Option<&str>) -> String {
        let is_free = |name: &str| {
            is_word(name)
                && name != "void"
                && arithmetic(name).is_none()
                && self.structs.iter().all(|(_, other)| other != name)
        };
        if let Some(name) = [Some(own), spelt].into_iter().flatten().find(|name| is_free(name)) {
            return name.to_owned();
        }
        let base = if is_word(own) { own } else { "anonymous" };
        let numbered = (1..).map(|number| format!("{base}_{number}"));
        numbered.into_iter().find(|name| is_free(name)).unwrap_or_default()
    }

    /// Returns the tables of the structs.
    pub fn structs(&self) -> String {
        let mut out = String::new();
        for (record, name) in &self.structs {
            let _ = writeln!(out, "\n[[struct]]\nname = {}\nsize = {}", quoted(name), record.size);
            let natural = record.fields.iter().map(|field| field.ty.alignment()).max().unwrap_or(1);
            if record.align != natural {
                let _ = writeln!(out, "align = {}", record.align);
            }
            if record.is_union {
                out.push_str("union = true\n");
            }
            if record.fields.iter().all(|field| field.name.starts_with(|c: char| c.is_ascii_digit())) {
                out.push_str("# The module has no names of fields, and no signedness.\n");
            }
            out.push_str("fields = [\n");
            record.fields.iter().for_each(|field| out.push_str(&self.field(field)));
            out.push_str("]\n");
        }
        out
    }

    fn field(&self, field: &Field) -> String {
        let size = match &field.ty {
            Type::Opaque { name, size } if !self.is_pointer(name) => format!(", size = {size}"),
            _ => String::new(),
        };
        let (name, ty) = (quoted(&field.name), quoted(&self.spelt(&field.ty)));
        format!("    {{ name = {name}, type = {ty}, offset = {}{size} }},\n", field.offset)
    }

    /// Returns whether the name of an opaque type is that of a pointer which the tables can express.
    fn is_pointer(&self, name: &str) -> bool {
        Spelling::of(name).is_some_and(|spelling| {
            let is_struct = self.structs.iter().any(|(_, name)| name == spelling.struct_name());
            spelling.pointers > 0 && (is_struct || spelling.base == "void" || arithmetic(&spelling.base).is_some())
        })
    }

    /// Returns a type as it is spelt in the tables.
    fn spelt(&self, ty: &Type) -> String {
        match ty {
            Type::Scalar(_) | Type::Vector(..) => ty.name(),
            Type::Array(..) => {
                let (mut element, mut dimensions) = (ty, String::new());
                while let Type::Array(inner, len) = element {
                    let _ = write!(dimensions, "[{len}]");
                    element = inner;
                }
                self.spelt(element) + &dimensions
            }
            Type::Struct(record) => self.name_of(&in_buffer(record)).unwrap_or_default().to_owned(),
            Type::Pointer { name, .. } if self.is_pointer(name) => name.clone(),
            Type::Pointer { pointee: Some(pointee), .. } => format!("{}*", self.spelt(pointee)),
            Type::Pointer { pointee: None, .. } => "void*".to_owned(),
            Type::Opaque { name, .. } if name.is_empty() => "unknown".to_owned(),
            Type::Opaque { name, .. } => name.clone(),
        }
    }

    /// Returns the type of an argument as it is spelt in the tables, without qualifiers.
    fn type_of(&self, arg: &Arg) -> String {
        let (ty, star) = match &arg.kind {
            ArgKind::Value(ty) => (ty, ""),
            ArgKind::Buffer { element: Some(ty), .. } | ArgKind::Local { element: Some(ty) } => (ty, "*"),
            ArgKind::Buffer { element: None, .. } | ArgKind::Local { element: None } => return "void*".to_owned(),
            ArgKind::Image(_) | ArgKind::Sampler | ArgKind::Unsupported(_) => return arg.type_name.clone(),
        };
        let spelt = format!("{}{star}", self.spelt(ty));
        // `struct P*` and `P*` are the same; so are C's names of integers.
        let own = Spelling::of(&arg.type_name);
        match own {
            Some(own) if format!("{}{star}", own.struct_name()) == spelt => arg.type_name.clone(),
            _ => spelt,
        }
    }

    /// Returns the table of an argument up to what declares it, for keys of other kinds to follow.
    pub fn arg(&self, arg: &Arg) -> String {
        let mut out = format!("\n[[arg]]\nposition = {}\n", arg.position);
        match &arg.name {
            Some(name) => drop(writeln!(out, "name = {}", quoted(name))),
            None => out.push_str("# name = \"…\"    # the module has none; without one, tests use the position\n"),
        }
        let _ = writeln!(out, "scope = {}", quoted(arg.address_space().name()));
        let is_pointer = matches!(arg.kind, ArgKind::Buffer { .. } | ArgKind::Local { .. });
        let is_constant = arg.address_space() == AddressSpace::Constant;
        let word = |is: bool, word: &'static str| if is && is_pointer { word } else { "" };
        let ty = format!(
            "{}{}{}{}",
            word(arg.is_const && !is_constant, "const "),
            word(arg.is_volatile, "volatile "),
            self.type_of(arg),
            word(arg.is_restrict, " restrict"),
        );
        let _ = writeln!(out, "type = {}{}", quoted(&ty), self.remark(arg));
        if arg.access != Access::None {
            let _ = writeln!(out, "access = {}", quoted(arg.access.name()));
        }
        out
    }

    /// Returns a comment that says how sure the type is.
    fn remark(&self, arg: &Arg) -> &'static str {
        match (arg.evidence, &arg.kind) {
            (Evidence::Declared | Evidence::Recorded, _) => "",
            (Evidence::Signless, ArgKind::Value(Type::Struct(_))) => "",
            (Evidence::Signless, _) => "    # whether integers are signed is a guess",
            (Evidence::Uses, _) => "    # a guess from how the code uses it",
            (Evidence::Nothing, _) => "    # the module does not tell the type of the elements",
        }
    }

    fn variable(&self, arg: &Arg) -> String {
        let ArgKind::Buffer { element: Some(element), .. } = &arg.kind else { return String::new() };
        let (name, ty) = (quoted(&arg.label()), quoted(&self.spelt(element)));
        format!("\n[[variable]]\nname = {name}\ntype = {ty}{}\n", self.remark(arg))
    }
}

/// Returns a struct as it is in buffers, where pointers are opaque.
fn in_buffer(record: &Struct) -> Struct {
    let plain = |ty: &Type| -> Type {
        fn go(ty: &Type) -> Type {
            match ty {
                Type::Pointer { name, .. } => Type::Opaque { name: name.clone(), size: ty.size() },
                Type::Array(element, len) => Type::Array(Box::new(go(element)), *len),
                Type::Struct(record) => Type::Struct(in_buffer(record)),
                Type::Scalar(_) | Type::Vector(..) | Type::Opaque { .. } => ty.clone(),
            }
        }
        go(ty)
    };
    let fields = record.fields.iter().map(|field| Field { ty: plain(&field.ty), ..field.clone() }).collect();
    Struct { fields, ..record.clone() }
}
