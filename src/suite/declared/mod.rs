//! The interface of a kernel as a user declares it, for modules that do not tell theirs: read from a suite or from an
//! interface file, checked against what the module has, and applied.

mod spelling;
pub mod table;
mod types;
pub mod write;

use std::path::Path;

use kassay_base::error::{Error, Result};
use kassay_base::files;
use kassay_model::interface::{Access, AddressSpace, Arg, ArgKind, ArgSource, Evidence, ImageKind, Interface, Type};

use self::spelling::is_word;
use self::table::{ArgEntry, InterfaceFile, StructEntry, VariableEntry};
use self::types::{ArgType, Form, Types};
use super::de::{self, At};
use super::document::{Source, Span, suggestion};

/// A declared interface, valid in itself; [`Declared::apply`] checks whether it fits a kernel.
#[derive(Debug, Clone)]
pub struct Declared {
    source: Source,
    kernel: Option<At<String>>,
    structs: Vec<At<StructEntry>>,
    args: Vec<At<ArgEntry>>,
    variables: Vec<At<VariableEntry>>,
}

impl Declared {
    /// Reads an interface file: JSON if the name ends in `.json`, else TOML.
    ///
    /// # Errors
    /// `Caller`, with its place, if it cannot be read or is not one.
    pub fn read(path: &Path) -> Result<Declared> {
        let text = files::read_text(path, None).map_err(|e| {
            Error::caller(format!("cannot read the interface file `{}`: {e}", path.display()))
                .help("`kassay inspect KERNEL --write-interface FILE` writes one")
        })?;
        let source = Source::new(path, text);
        let file: InterfaceFile = de::read(&source, &source.parse()?)?;
        Declared::of_file(source, &file)
    }

    /// Takes what an interface file declares.
    ///
    /// # Errors
    /// `Caller`, with its place, if types or positions are wrong.
    pub fn of_file(source: Source, file: &InterfaceFile) -> Result<Declared> {
        let args = file.arg.iter().map(|at| At { span: at.span.clone(), value: at.value.declaration() }).collect();
        Declared::new(source, file.kernel.clone(), file.structs.clone(), args, file.variable.clone())
    }

    /// Takes what a suite declares.
    ///
    /// # Errors
    /// `Caller`, with its place, if types or positions are wrong.
    pub fn new(
        source: Source,
        kernel: Option<At<String>>,
        structs: Vec<At<StructEntry>>,
        args: Vec<At<ArgEntry>>,
        variables: Vec<At<VariableEntry>>,
    ) -> Result<Declared> {
        let declared = Declared { source, kernel, structs, args, variables };
        declared.types().check()?;
        let placed = declared.placed();
        for (i, (position, entry)) in placed.iter().enumerate() {
            if placed[..i].iter().any(|(other, _)| other == position) {
                let at = entry.value.position.as_ref().map_or(&entry.span, |position| &position.span);
                let what = format!("the argument {position} is described twice");
                return Err(declared.source.error(at, what).help("leave one of them"));
            }
            entry.value.type_name.as_ref().map(|ty| declared.types().of_argument(ty)).transpose()?;
        }
        for variable in &declared.variables {
            declared.types().of_elements(&variable.value.type_name)?;
        }
        Ok(declared)
    }

    /// Returns whether it declares anything.
    pub fn is_empty(&self) -> bool {
        self.structs.is_empty() && self.args.is_empty() && self.variables.is_empty()
    }

    /// Returns whether it is for that kernel: it names this one or none.
    pub fn is_for(&self, kernel: &str) -> bool {
        self.kernel.as_ref().is_none_or(|named| named.value == kernel)
    }

    /// Checks that it is clear which of these kernels of a file it declares.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is for none of them, or does not say for which.
    pub fn check_kernels(&self, kernels: &[String]) -> Result<()> {
        match (&self.kernel, kernels) {
            (Some(named), [only]) if named.value != *only => {
                let what = format!("this is for the kernel `{}`, not for `{only}`", named.value);
                Err(self.source.error(&named.span, what).help("give the file of this kernel, or correct its name"))
            }
            (Some(named), all) if !all.contains(&named.value) => {
                let what = format!("this is for the kernel `{}`, which is not there", named.value);
                Err(self.source.error(&named.span, what).help(format!("the kernels are: {}", all.join(", "))))
            }
            (None, [_, _, ..]) => {
                let what = "it does not say which of several kernels it declares";
                Err(self.source.error(&(0..0), what).help("begin it with kernel = \"…\", or name one with --entry"))
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    fn types(&self) -> Types<'_> {
        Types { source: &self.source, structs: &self.structs }
    }

    /// The entries of arguments with their positions.
    fn placed(&self) -> Vec<(usize, &At<ArgEntry>)> {
        let given = self.args.iter().map(|entry| entry.value.position.as_ref());
        table::positions(given).into_iter().zip(&self.args).collect()
    }

    /// Applies what is declared of the kernel's parameters, before its implicit arguments are known.
    ///
    /// # Errors
    /// `Caller`, with its place, if it contradicts what the module has.
    pub fn apply(&self, interface: &mut Interface) -> Result<()> {
        let count = interface.args.len();
        let placed = self.placed();
        let is_ordered = self.args.iter().any(|entry| entry.value.position.is_none());
        if is_ordered && placed.len() != count {
            // The first that is too many, or the last one.
            let at = placed.iter().find(|(position, _)| *position >= count).or(placed.last());
            let span = at.map_or(0..0, |(_, entry)| entry.span.clone());
            let what = format!("`{}` has {count} arguments, but the declaration has {}", interface.name, placed.len());
            return Err(self
                .source
                .error(&span, what)
                .help(format!("declare all in their order, or give each its `position`; {}", outline(interface))));
        }
        for (position, entry) in placed {
            if let Some(arg) = interface.args.get_mut(position) {
                self.apply_arg(&entry.value, arg)?;
            }
        }
        self.check_names(interface)
    }

    /// Applies what is declared of implicit arguments.
    ///
    /// # Errors
    /// `Caller`, with its place, if there is no such argument or variable, or its type contradicts what the module has.
    pub fn apply_implicit(&self, interface: &mut Interface) -> Result<()> {
        let count = interface.args.len();
        for (position, entry) in self.placed() {
            let Some(arg) = interface.args.get_mut(position) else {
                let at = entry.value.position.as_ref().map_or(&entry.span, |position| &position.span);
                let what = format!("the kernel has no argument {position}, only {count}");
                return Err(self.source.error(at, what).help(outline(interface)));
            };
            if arg.is_parameter() {
                continue;
            }
            let named = entry.value.name.as_ref().filter(|name| name.value != arg.label());
            if let Some(name) = named {
                let what = format!("the name of this argument is `{}`, not `{}`", arg.label(), name.value);
                return Err(self
                    .source
                    .error(&name.span, what)
                    .help("it follows from what holds the pointer: correct it"));
            }
            self.apply_arg(&ArgEntry { name: None, ..entry.value.clone() }, arg)?;
        }
        for At { value: entry, .. } in &self.variables {
            let is_variable = |arg: &Arg| matches!(arg.source, ArgSource::Variable { .. });
            // A variable of a function that the front end has inlined keeps that function's name in front.
            let scoped = format!(".{}", entry.name.value);
            let is_named = |arg: &Arg| arg.label() == entry.name.value;
            let found =
                interface.args.iter().position(|arg| is_variable(arg) && is_named(arg)).or_else(|| {
                    interface.args.iter().position(|arg| is_variable(arg) && arg.label().ends_with(&scoped))
                });
            let found = found.and_then(|position| interface.args.get_mut(position));
            let Some(arg) = found else {
                let labels: Vec<String> =
                    interface.args.iter().filter(|arg| is_variable(arg)).map(Arg::label).collect();
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                let what = format!("`{}` uses no variable `{}` of the program", interface.name, entry.name.value);
                let help = match labels.is_empty() {
                    true => "leave it out; the kernel uses none in global memory that it may write".to_owned(),
                    false => suggestion(&entry.name.value, &labels, "its variables"),
                };
                return Err(self.source.error(&entry.name.span, what).help(help));
            };
            let element = self.types().of_elements(&entry.type_name)?;
            let ArgSource::Variable { initial, .. } = &arg.source else { continue };
            let (size, bytes) = (element.size(), initial.len() as u64);
            if size == 0 || !bytes.is_multiple_of(size) {
                let what =
                    format!("`{}` has {bytes} bytes, no multiple of the {size} of a `{}`", arg.label(), element.name());
                return Err(self.source.error(&entry.type_name.span, what).help("give the type of one element"));
            }
            arg.name = Some(entry.name.value.clone());
            arg.type_name = format!("{}*", element.name());
            arg.kind = ArgKind::Buffer { element: Some(element), space: AddressSpace::Global };
            arg.evidence = Evidence::Declared;
        }
        Ok(())
    }

    /// Returns whether a spelling is that of an argument's type, possibly in other words.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is not spelt like a type.
    pub fn is_type_of(&self, at: &At<String>, arg: &Arg) -> Result<bool> {
        if at.value == arg.type_name {
            return Ok(true);
        }
        let ty = self.types().of_argument(at)?;
        let is_same_kind = match (&arg.kind, &ty.form) {
            (ArgKind::Value(Type::Struct(have)), Form::Value(Type::Struct(given))) => have.size == given.size,
            (ArgKind::Value(have), Form::Value(given)) => have == given,
            (ArgKind::Buffer { element, .. } | ArgKind::Local { element }, Form::Pointer(given)) => {
                match (element, given) {
                    // Structs without a name in the source have one in the file.
                    (Some(Type::Struct(have)), Some(Type::Struct(given))) => have.size == given.size,
                    _ => element == given,
                }
            }
            (ArgKind::Image(have), Form::Image(given)) => have == given,
            (ArgKind::Sampler, Form::Sampler) => true,
            _ => false,
        };
        Ok(ty.name == arg.type_name || is_same_kind)
    }

    fn check_names(&self, interface: &Interface) -> Result<()> {
        for (position, At { value: entry, .. }) in self.placed() {
            let Some(name) = &entry.name else { continue };
            let is_number = name.value.starts_with(|c: char| c.is_ascii_digit());
            let is_parameter = position < interface.args.len();
            if is_parameter && (is_number || !is_word(&name.value)) {
                let what = format!("`{}` cannot be the name of an argument", name.value);
                return Err(self.source.error(&name.span, what).help("give it a name of C"));
            }
            // Of two that are declared, the later one is wrong.
            let is_later = |other: usize| {
                self.placed().iter().any(|(at, e)| *at == other && e.value.name.is_some() && *at > position)
            };
            let is_other = |arg: &&Arg| {
                let other = arg.position as usize;
                other != position && arg.label() == name.value && !is_later(other)
            };
            if let Some(other) = interface.args.iter().find(is_other) {
                let what = format!("`{}` is the name of the argument {}, too", name.value, other.position);
                return Err(self.source.error(&name.span, what).help("give each argument its own name"));
            }
        }
        Ok(())
    }

    fn apply_arg(&self, entry: &ArgEntry, arg: &mut Arg) -> Result<()> {
        let ty = match &entry.type_name {
            Some(at) => Some((at, self.types().of_argument(at)?)),
            None => None,
        };
        let spelt = ty.as_ref().map(|(at, ty)| (&at.span, ty.spelling.space, ty.spelling.access));
        let (space, access) = (self.space(entry, spelt)?, self.access(entry, spelt)?);
        if let Some((span, space)) = space {
            let is_open = matches!(arg.kind, ArgKind::Unsupported(_));
            if !is_open && space != arg.address_space() {
                let what =
                    format!("the scope of this argument is `{}`, not `{}`", arg.address_space().name(), space.name());
                return Err(self.source.error(span, what).help("correct it, or leave it out: the module tells it"));
            }
        }
        if let Some((at, ty)) = &ty {
            self.apply_type(at, ty, space.map(|(_, space)| space), arg)?;
        }
        if let Some((span, access)) = access {
            match (&arg.kind, arg.access) {
                (ArgKind::Image(_), Access::None) => arg.access = access,
                (ArgKind::Image(_), have) if have == access => {}
                (ArgKind::Image(_), have) => {
                    let what = format!("the access of this image is `{}`, not `{}`", have.name(), access.name());
                    return Err(self.source.error(span, what).help("correct it, or leave it out: the module tells it"));
                }
                (_, _) => {
                    let what = format!("{} is no image, so it has no access qualifier", named(arg));
                    return Err(self.source.error(span, what).help("leave `access` out"));
                }
            }
        }
        if let Some(name) = &entry.name {
            arg.name = Some(name.value.clone());
        }
        Ok(())
    }

    /// Returns the declared address space and its place.
    fn space<'a>(
        &self,
        entry: &'a ArgEntry,
        spelt: Option<(&'a Span, Option<AddressSpace>, Option<Access>)>,
    ) -> Result<Option<(&'a Span, AddressSpace)>> {
        const ALL: [AddressSpace; 4] =
            [AddressSpace::Private, AddressSpace::Global, AddressSpace::Constant, AddressSpace::Local];
        let Some(given) = &entry.scope else {
            return Ok(spelt.and_then(|(span, space, _)| Some((span, space?))));
        };
        match ALL.into_iter().find(|space| space.name() == given.value) {
            Some(space) => Ok(Some((&given.span, space))),
            None => {
                let names = ALL.map(AddressSpace::name);
                let what = format!("there is no address space `{}`", given.value);
                Err(self.source.error(&given.span, what).help(suggestion(&given.value, &names, "address spaces")))
            }
        }
    }

    /// Returns the declared access and its place.
    fn access<'a>(
        &self,
        entry: &'a ArgEntry,
        spelt: Option<(&'a Span, Option<AddressSpace>, Option<Access>)>,
    ) -> Result<Option<(&'a Span, Access)>> {
        const ALL: [Access; 3] = [Access::ReadOnly, Access::WriteOnly, Access::ReadWrite];
        let Some(given) = &entry.access else {
            return Ok(spelt.and_then(|(span, _, access)| Some((span, access?))));
        };
        match ALL.into_iter().find(|access| access.name() == given.value) {
            Some(access) => Ok(Some((&given.span, access))),
            None => {
                let names = ALL.map(Access::name);
                let what = format!("there is no access `{}`", given.value);
                Err(self.source.error(&given.span, what).help(suggestion(&given.value, &names, "accesses")))
            }
        }
    }

    /// Gives an argument its declared type, if the module's own has the same size and form.
    fn apply_type(&self, at: &At<String>, ty: &ArgType, space: Option<AddressSpace>, arg: &mut Arg) -> Result<()> {
        let contradiction = |what: String, help: String| Err(self.source.error(&at.span, what).help(help));
        let kind = match (&arg.kind, &ty.form) {
            // The module has a type that cannot be declared, and it is named correctly.
            (_, Form::Unknown) if ty.name == arg.type_name || at.value == arg.type_name => return Ok(()),
            (_, Form::Unknown) => return Err(self.types().unknown(at)),
            (ArgKind::Value(have), Form::Value(given)) if have.size() != given.size() => {
                return contradiction(
                    format!(
                        "{} has {} bytes in the module, but `{}` has {}",
                        named(arg),
                        have.size(),
                        ty.name,
                        given.size()
                    ),
                    format!("declare a type of {} bytes, and the arguments in their order", have.size()),
                );
            }
            (ArgKind::Value(have), Form::Value(given)) if !may_be(have, given) => {
                return contradiction(
                    format!("{} is `{}` in the module, which cannot be `{}`", named(arg), have.name(), ty.name),
                    "only whether integers are signed is open; declare the arguments in their order".to_owned(),
                );
            }
            (ArgKind::Value(_), Form::Value(given)) => ArgKind::Value(given.clone()),
            (
                ArgKind::Buffer { element: Some(have), .. } | ArgKind::Local { element: Some(have) },
                Form::Pointer(Some(given)),
            ) if arg.evidence == Evidence::Recorded && have.size() != given.size() => {
                return contradiction(
                    format!(
                        "{} points to `{}` of {} bytes in the module, but `{}` has {}",
                        named(arg),
                        have.name(),
                        have.size(),
                        given.name(),
                        given.size()
                    ),
                    format!("declare an element type of {} bytes, and the arguments in their order", have.size()),
                );
            }
            (ArgKind::Buffer { space, .. }, Form::Pointer(element)) => {
                ArgKind::Buffer { element: element.clone(), space: *space }
            }
            (ArgKind::Local { .. }, Form::Pointer(element)) => ArgKind::Local { element: element.clone() },
            (ArgKind::Image(have), Form::Image(given)) if have == given || *have == ImageKind::Other => {
                ArgKind::Image(*given)
            }
            (ArgKind::Sampler, Form::Sampler) => ArgKind::Sampler,
            // A pointer whose address space the module has lost.
            (ArgKind::Unsupported(name), Form::Pointer(element))
                if name.contains('*') || name.starts_with("pointer") =>
            {
                match space {
                    Some(space @ (AddressSpace::Global | AddressSpace::Constant)) => {
                        ArgKind::Buffer { element: element.clone(), space }
                    }
                    Some(AddressSpace::Local) => ArgKind::Local { element: element.clone() },
                    Some(AddressSpace::Private | AddressSpace::Generic) | None => {
                        return contradiction(
                            format!("the module does not tell which memory {} points to", named(arg)),
                            "add scope = \"global\", \"constant\" or \"local\"".to_owned(),
                        );
                    }
                }
            }
            (have, _) => {
                return contradiction(
                    format!("{} is {} in the module, not `{}`", named(arg), words(have), ty.name),
                    "correct the type, and declare the arguments in their order".to_owned(),
                );
            }
        };
        let spelling = &ty.spelling;
        arg.is_const = spelling.is_const || matches!(kind, ArgKind::Buffer { space: AddressSpace::Constant, .. });
        arg.is_restrict = spelling.is_restrict;
        arg.is_volatile = spelling.is_volatile;
        arg.type_name = ty.name.clone();
        arg.kind = kind;
        arg.evidence = Evidence::Declared;
        Ok(())
    }
}

/// Returns whether a value that is `have` in the module can be `given` in the source, apart from its size: the IR tells
/// integers, floats, vectors and structs apart.
fn may_be(have: &Type, given: &Type) -> bool {
    match (have, given) {
        (Type::Scalar(have), Type::Scalar(given)) => have.is_float() == given.is_float(),
        (Type::Vector(have, lanes), Type::Vector(given, given_lanes)) => {
            have.is_float() == given.is_float() && lanes == given_lanes
        }
        // clang passes small structs as integers.
        (Type::Scalar(_) | Type::Vector(..), Type::Struct(_) | Type::Array(..)) => true,
        (Type::Scalar(_), Type::Vector(..)) => false,
        (Type::Struct(_) | Type::Array(..), Type::Struct(_) | Type::Array(..)) => true,
        (_, Type::Scalar(_) | Type::Vector(..)) => false,
        (Type::Pointer { .. } | Type::Opaque { .. }, _) | (_, Type::Pointer { .. } | Type::Opaque { .. }) => true,
    }
}

/// Names an argument in messages.
fn named(arg: &Arg) -> String {
    match &arg.name {
        Some(name) => format!("the argument `{name}`"),
        None => arg.display_name(),
    }
}

/// Says what kind of argument it is.
fn words(kind: &ArgKind) -> String {
    match kind {
        ArgKind::Value(ty) => format!("a value of {} bytes (`{}`)", ty.size(), ty.name()),
        ArgKind::Buffer { space, .. } => format!("a pointer to {} memory", space.name()),
        ArgKind::Local { .. } => "a pointer to local memory".to_owned(),
        ArgKind::Image(kind) => format!("an image (`{}`)", kind.name()),
        ArgKind::Sampler => "a sampler".to_owned(),
        ArgKind::Unsupported(name) => format!("`{name}`"),
    }
}

/// Lists what the module has, for help.
fn outline(interface: &Interface) -> String {
    if interface.args.is_empty() {
        return "the module has no arguments".to_owned();
    }
    let all: Vec<String> = interface.args.iter().map(|arg| format!("{}: {}", arg.label(), words(&arg.kind))).collect();
    format!("the module has {}", all.join(", "))
}
