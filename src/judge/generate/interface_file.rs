//! The interface file (PENG table 5.2): the inferred roles of a kernel's arguments, written for the user to correct,
//! and read back.
//!
//! Must never know: how launches are searched for.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_base::files::{self, Sandbox};
use kassay_model::interface::{Access, Arg, ArgKind, ArgSource, Interface};
use kassay_suite as suite;
use kassay_suite::de::{self, At};
use kassay_suite::declared::Declared;
use kassay_suite::declared::table::{FileArgEntry, InterfaceFile, RangeEntry};
use kassay_suite::declared::write::{Tables, quoted};
use kassay_suite::document::{Node, Source, Span, Value, suggestion};
use kassay_suite::launch::{ArgValue, NdRange};

use super::assign::Number;
use super::model::{KernelModel, Role};
use super::seeds::Seeds;

/// The user's constraints on one argument.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgConstraints {
    /// Whether values other than the first ones are tried.
    pub fuzz: bool,
    /// What it is for, if the user says so instead of the code.
    pub role: Option<Role>,
    /// For buffers and local memory: number of elements.
    pub size: Option<u64>,
    /// The value with which the search begins; without fuzzing, the only one.
    pub value: Option<ArgValue>,
    /// Bounds of its numbers, inclusive.
    pub least: Option<Number>,
    /// The greatest of its numbers; `None`: that of its type.
    pub greatest: Option<Number>,
}

/// The user's constraints on launches.
#[derive(Debug, Clone, PartialEq)]
pub struct UserConstraints {
    /// By position.
    pub args: Vec<ArgConstraints>,
    /// The only NDRange to launch.
    pub range: Option<NdRange>,
    /// The only work-group size.
    pub local: Option<[u64; 3]>,
    /// Upper limit of work-items in a launch.
    pub max_items: u64,
    /// Upper limit of work-items, unless an outcome requires more.
    pub usual_items: u64,
    /// Launches to begin with, from which inputs are made.
    pub seeds: Option<Arc<Seeds>>,
    /// Whether launches keep to what the seeds have in common.
    pub keeps_invariants: bool,
}

/// Work-items that a launch can have and still leave time for others.
const MAX_ITEMS: u64 = 1 << 21;
/// Enough for every work-group size that matters, few enough to run thousands of launches.
const USUAL_ITEMS: u64 = 4096;

impl UserConstraints {
    /// Returns constraints that allow everything.
    pub fn none(interface: &Interface) -> UserConstraints {
        let arg = ArgConstraints { fuzz: true, role: None, size: None, value: None, least: None, greatest: None };
        let of = |a: &Arg| match &a.source {
            // Only earlier launches could have changed it.
            ArgSource::Variable { initial, .. } => {
                ArgConstraints { fuzz: false, value: Some(ArgValue::Buffer(Arc::clone(initial))), ..arg.clone() }
            }
            ArgSource::Parameter | ArgSource::Member { .. } | ArgSource::Element => arg.clone(),
        };
        let args = interface.args.iter().map(of).collect();
        UserConstraints {
            args,
            range: None,
            local: None,
            max_items: MAX_ITEMS,
            usual_items: USUAL_ITEMS,
            seeds: None,
            keeps_invariants: false,
        }
    }

    /// Returns whether what the seeds have in common leaves a number passed by value no choice.
    pub(super) fn settle(&self, position: u32, offset: u64) -> bool {
        self.keeps_invariants && self.seeds.as_ref().is_some_and(|seeds| seeds.invariants.settle(position, offset))
    }

    /// Overrides what the model says of roles and work-group sizes.
    pub fn apply(&self, model: &mut KernelModel) {
        if self.local.is_some() {
            model.groups.required = self.local;
        }
        for (position, constraint) in (0u32..).zip(&self.args) {
            let Some(role) = constraint.role else { continue };
            model.args[position as usize].role = role;
            for scalar in model.scalars.iter_mut().filter(|s| s.arg == position && !s.in_buffer) {
                scalar.role = role;
            }
        }
    }
}

const ROLES: [(&str, Role); 14] = [
    ("input", Role::Input),
    ("output", Role::Output),
    ("in-out", Role::InOut),
    ("size", Role::Bound),
    ("row-length", Role::RowLength),
    ("count", Role::Count),
    ("index", Role::Index),
    ("shift", Role::Shift),
    ("divisor", Role::Divisor),
    ("flag", Role::Flag),
    ("data", Role::Data),
    ("local", Role::Local),
    ("sampler", Role::Sampler),
    ("unused", Role::Unused),
];

/// Returns the roles that an argument of this kind can have.
fn roles_for(kind: &ArgKind) -> &'static [(&'static str, Role)] {
    match kind {
        ArgKind::Buffer { .. } | ArgKind::Image(_) => &ROLES[..3],
        ArgKind::Value(_) => &ROLES[3..11],
        ArgKind::Local { .. } => &ROLES[11..12],
        ArgKind::Sampler => &ROLES[12..13],
        ArgKind::Unsupported(_) => &ROLES[13..],
    }
}

fn role_name(role: Role) -> &'static str {
    ROLES.iter().find(|(_, r)| *r == role).map_or("unused", |(name, _)| name)
}

fn is_pointer(arg: &Arg) -> bool {
    matches!(arg.kind, ArgKind::Buffer { .. } | ArgKind::Local { .. })
}

/// Returns the text of the file as it is first written for a kernel.
pub fn text(model: &KernelModel) -> String {
    let mut out = String::from(
        "# What kassay takes this kernel's arguments for. Edit it and generate again; what is commented out is a choice of\n\
         # kassay's. Structs, and `position`, `name`, `scope`, `type`, `access` and `pointer` of arguments, describe the\n\
         # kernel. Of OpenCL C they must stay true; of other modules, correct what is a guess.\n\
         #\n\
         # role   buffers and images: input, output, in-out; values: size (something that grows with the work-items stays\n\
         #        below it), row-length, count, index, shift, divisor, flag, data\n\
         # size   elements of a buffer or of local memory\n\
         # fuzz   false: only the first values are used\n\
         # value  the first value, in any form that a suite's [test.args] has: 5, [1, 2], { fields = { x = 1 } },\n\
         #        { npy = \"x.npy\" }, { fill = 0, len = 64 }, { local = 256 }; paths start from this file's folder\n\
         # min    bounds of its numbers; also max\n\n",
    );
    let _ = writeln!(out, "kernel = {}\n", quoted(&model.interface.name));
    range_text(model, &mut out);
    let tables = Tables::of(&model.interface);
    out += &tables.structs();
    // The host has no influence on what program-scope variables hold before a launch.
    for arg in model.interface.args.iter().filter(|a| !matches!(a.source, ArgSource::Variable { .. })) {
        arg_text(model, arg, &tables, &mut out);
    }
    out
}

fn range_text(model: &KernelModel, out: &mut String) {
    let rules = &model.groups;
    out.push_str("[ndrange]\n");
    let _ = writeln!(out, "# The kernel asks ids of {} of 3 dimensions.", model.dims);
    let sizes = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let dims = model.dims as usize;
    if let Some(required) = rules.required {
        let _ = writeln!(out, "# It requires work-groups of [{}].", sizes(&required[..dims]));
    }
    for d in 0..dims {
        match (rules.exactly[d], rules.at_most[d]) {
            (Some(1), _) => drop(writeln!(out, "# It counts on 1 work-item of a group in dimension {d}.")),
            (Some(n), _) => drop(writeln!(out, "# It counts on {n} work-items of a group in dimension {d}.")),
            (None, Some(n)) => {
                let _ = writeln!(out, "# It has room for {n} work-items of a group in dimension {d}.");
            }
            (None, None) => {}
        }
    }
    for d in (0..dims).filter(|d| rules.one_group[*d]) {
        let _ = writeln!(out, "# It counts on one work-group in dimension {d}.");
    }
    if rules.power_of_two {
        out.push_str("# It counts on work-groups of a power of two.\n");
    }
    let example = sizes(&[64, 8, 8][..dims]);
    let _ = writeln!(out, "# global = [{example}]    # the only sizes to launch");
    let _ = writeln!(out, "# local = [{example}]     # the only work-group size");
    let _ = writeln!(
        out,
        "# max_items = {MAX_ITEMS}    # work-items of a launch; most launches have {USUAL_ITEMS} at most"
    );
}

fn arg_text(model: &KernelModel, arg: &Arg, tables: &Tables, out: &mut String) {
    let known = &model.args[arg.position as usize];
    *out += &tables.arg(arg);
    let _ = writeln!(out, "pointer = {}", is_pointer(arg));
    let commented = if roles_for(&arg.kind).iter().any(|(_, r)| *r == known.role) { "" } else { "# " };
    let _ = writeln!(out, "{commented}role = {}", quoted(role_name(known.role)));
    if is_pointer(arg) {
        let length = known.length.as_deref().map_or("as far as its accesses reach", |l| l);
        let _ = writeln!(out, "# size = 64    # inferred: {length}");
    }
    let _ = writeln!(out, "fuzz = true");
    let scalars: Vec<_> = model.scalars.iter().filter(|s| s.arg == arg.position).collect();
    for scalar in &scalars {
        if scalar.divides {
            let _ = writeln!(out, "# something is divided by {}: it is not 0", scalar.name);
        }
        if let ([_], false) = (&scalars[..], scalar.dictionary.is_empty()) {
            let all: Vec<String> = scalar.dictionary.iter().map(i128::to_string).collect();
            let _ = writeln!(out, "# the code compares it with values near {}", all.join(", "));
        }
    }
}

/// Reads the file.
///
/// # Errors
/// `Caller`, with the location, if it is malformed or belongs to another kernel; `Environment` if it cannot be read.
pub fn read(
    path: &Path,
    interface: &Interface,
    dims: u32,
    seed: u64,
    sandbox: Option<&Sandbox>,
) -> Result<UserConstraints> {
    let text = files::read_text(path, sandbox).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => Error::caller(format!("{} is not UTF-8", path.display())),
        _ => Error::environment(format!("cannot read {}: {e}", path.display())),
    })?;
    let source = Source::new(path, text);
    let spec: InterfaceFile = de::read(&source, &source.parse()?)?;
    let declared = Declared::of_file(source.clone(), &spec)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let reader = Reader { source: &source, folder, interface, declared: &declared, seed, sandbox };
    reader.constraints(&spec, dims)
}

struct Reader<'a> {
    source: &'a Source,
    folder: &'a Path,
    interface: &'a Interface,
    declared: &'a Declared,
    seed: u64,
    /// The folders of which files may be read; `None`: all files may be.
    sandbox: Option<&'a Sandbox>,
}

impl Reader<'_> {
    fn constraints(&self, spec: &InterfaceFile, dims: u32) -> Result<UserConstraints> {
        let renew = "correct it, or delete the file: a new one is written then";
        if let Some(kernel) = spec.kernel.as_ref().filter(|kernel| kernel.value != self.interface.name) {
            let what = format!("this is for the kernel `{}`, not for `{}`", kernel.value, self.interface.name);
            return Err(self.source.error(&kernel.span, what).help(renew));
        }
        let mut constraints = UserConstraints::none(self.interface);
        self.range(&spec.ndrange, dims, &mut constraints)?;
        for (index, At { value: given, span }) in spec.placed() {
            let Some(arg) = self.interface.args.get(index) else {
                let at = given.position.as_ref().map_or(span, |position| &position.span);
                let what = format!("the kernel has no argument {index}, only {}", self.interface.args.len());
                return Err(self.source.error(at, what).help(renew));
            };
            self.same("name", given.name.as_ref(), &arg.label())?;
            self.same("scope", given.scope.as_ref(), arg.address_space().name())?;
            if let Some(ty) = given.type_name.as_ref()
                && !self.declared.is_type_of(ty, arg)?
            {
                self.same("type", Some(ty), &arg.type_name)?;
            }
            self.same("access", given.access.as_ref(), arg.access.name())?;
            if let Some(pointer) = given.pointer.as_ref().filter(|p| p.value != is_pointer(arg)) {
                let what =
                    format!("the argument `{}` is {}a pointer", arg.label(), if pointer.value { "not " } else { "" });
                return Err(self.source.error(&pointer.span, what).help(renew));
            }
            constraints.args[index] = self.arg(given, span, arg)?;
        }
        Ok(constraints)
    }

    fn same(&self, key: &str, given: Option<&At<String>>, is: &str) -> Result<()> {
        match given.filter(|g| g.value != is) {
            None => Ok(()),
            Some(given) => Err(self
                .source
                .error(&given.span, format!("the {key} of this argument is `{is}`, not `{}`", given.value))
                .help("correct it, or delete the file: a new one is written then")),
        }
    }

    fn arg(&self, spec: &FileArgEntry, at: &Span, arg: &Arg) -> Result<ArgConstraints> {
        let label = arg.label();
        let mut constraint =
            ArgConstraints { fuzz: spec.fuzz, role: None, size: None, value: None, least: None, greatest: None };
        if let Some(role) = &spec.role {
            let known = roles_for(&arg.kind);
            // Any argument can turn out to be unused.
            let found = known.iter().chain(&ROLES[13..]).find(|(name, _)| *name == role.value);
            let Some((_, found)) = found else {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                let what = format!("`{}` is no role that `{label}` (`{}`) can have", role.value, arg.type_name);
                return Err(self.source.error(&role.span, what).help(suggestion(&role.value, &names, "its roles")));
            };
            constraint.role = Some(*found);
        }
        if let Some(size) = &spec.size {
            if !is_pointer(arg) {
                let what = format!("`{label}` is no buffer, so it has no size");
                return Err(self.source.error(&size.span, what).help("leave `size` out"));
            }
            constraint.size = Some(size.value.get());
        }
        if let Some(value) = &spec.value {
            let key = At { span: value.span.clone(), value: label };
            let node = &value.value;
            constraint.value =
                Some(suite::argument_value((self.source, self.folder, self.sandbox), arg, &key, node, self.seed)?);
        }
        constraint.least = spec.min.as_ref().map(|node| self.number(node)).transpose()?;
        constraint.greatest = spec.max.as_ref().map(|node| self.number(node)).transpose()?;
        if let (Some(least), Some(greatest), Some(node)) = (constraint.least, constraint.greatest, &spec.max)
            && as_f64(least) > as_f64(greatest)
        {
            return Err(self.source.error(&node.span, "`max` is less than `min`").help("exchange them"));
        }
        if (spec.min.is_some() || spec.max.is_some())
            && (matches!(arg.kind, ArgKind::Local { .. } | ArgKind::Sampler | ArgKind::Unsupported(_))
                || arg.access == Access::WriteOnly)
        {
            let node = spec.min.as_ref().or(spec.max.as_ref());
            let span = node.map_or(at.clone(), |n| n.span.clone());
            return Err(self
                .source
                .error(&span, "this argument has no numbers to bound")
                .help("leave `min` and `max` out"));
        }
        Ok(constraint)
    }

    fn number(&self, node: &Node) -> Result<Number> {
        match node.value {
            Value::Integer(n) => Ok(Number::Integer(n)),
            Value::Float(x) if !x.is_nan() => Ok(Number::Float(x)),
            _ => Err(self
                .source
                .error(&node.span, format!("this is {}, but a bound is a number", node.kind()))
                .help("write a number, such as 0 or 1.5")),
        }
    }

    fn range(&self, spec: &RangeEntry, dims: u32, constraints: &mut UserConstraints) -> Result<()> {
        if let Some(most) = &spec.max_items {
            (constraints.max_items, constraints.usual_items) = (most.value.get(), most.value.get());
        }
        let local = spec.local.as_ref().map(|l| self.sizes(l)).transpose()?;
        if let (Some((_, given)), Some(required), Some(at)) = (local, self.interface.required_local, &spec.local)
            && given != required
        {
            let what = format!("the kernel requires work-groups of {required:?}");
            return Err(self.source.error(&at.span, what).help("leave `local` out"));
        }
        constraints.local = local.map(|(_, sizes)| sizes);
        let Some(at) = &spec.global else { return Ok(()) };
        let (given, global) = self.sizes(at)?;
        let local = constraints.local.or(self.interface.required_local);
        if self.interface.uniform_groups
            && let Some(local) = local
            && let Some(d) = (0..3).find(|d| !global[*d].is_multiple_of(local[*d]))
        {
            let what = format!("{} work-items in dimension {d} are no whole groups of {}", global[d], local[d]);
            return Err(self.source.error(&at.span, what).help("give a multiple of the work-group size"));
        }
        let items = global.iter().try_fold(1u64, |n, size| n.checked_mul(*size));
        if items.is_none_or(|n| n > constraints.max_items) {
            let what = format!("these are more work-items than `max_items` allows ({})", constraints.max_items);
            return Err(self.source.error(&at.span, what).help("give smaller sizes, or raise `max_items`"));
        }
        constraints.range = Some(NdRange { dims: dims.max(given), global, local, offset: [0; 3] });
        Ok(())
    }

    /// Returns the number of sizes given, and all three sizes.
    fn sizes(&self, given: &At<Vec<At<NonZeroU64>>>) -> Result<(u32, [u64; 3])> {
        match given.value.len() {
            n @ 1..=3 => Ok((n as u32, [0, 1, 2].map(|d| given.value.get(d).map_or(1, |size| size.value.get())))),
            _ => Err(self
                .source
                .error(&given.span, "there are one to three dimensions")
                .help("give one to three sizes, such as [64]")),
        }
    }
}

/// Converts a bound for comparisons, since bounds may be integers or floats.
pub(super) fn as_f64(number: Number) -> f64 {
    match number {
        #[expect(clippy::cast_precision_loss, reason = "bounds are compared coarsely")]
        Number::Integer(n) => n as f64,
        Number::Float(x) => x,
    }
}
