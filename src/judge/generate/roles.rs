//! Infers from a kernel's code what its arguments are for.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_ir::llvm::Opcode;
use kassay_model::interface::{ArgKind, Interface, Type};
use kassay_prove::program::{Definition, End, Kind, Op, Program, Region, Shape, ValueId, promoted, reader};
use kassay_suite::scalar_layout;

use super::access_summary::{Access, AccessKind, AccessSummary};
use super::model::{ArgModel, Contents, KernelModel, List, LowerBound, Role, ScalarModel};
use super::polynomial::{Atom, EVERY, Each};
use super::{
    atomic_counters, buffer_lengths, content_roles, group_sizes, id_uses, lists, per_item, pitches, scalar_bounds,
    scalars_in_buffers,
};
use crate::coverage::build::KernelUnderTest;

/// Infers the model of a kernel from its promoted form.
///
/// # Errors
/// `Internal` if a pass fails.
pub fn infer(under_test: &KernelUnderTest<'_>) -> Result<KernelModel> {
    infer_until(under_test, None)
}

/// Does the same as [`infer`], until `deadline` at the latest.
///
/// # Errors
/// As [`infer`]; [`Error::late`] at the deadline.
pub fn infer_until(under_test: &KernelUnderTest<'_>, deadline: Option<Instant>) -> Result<KernelModel> {
    let module = promoted::promote_until(&under_test.module, &under_test.entry, &under_test.machine, deadline)?;
    let program = reader::read(&module, &under_test.entry)?;
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(Error::late("the reading of this kernel"));
    }
    Ok(model(program, &under_test.interface))
}

/// Returns the name of a polynomial's variable, for messages.
pub(crate) fn atom_name(atom: Atom, interface: &Interface, scalars: &[ScalarModel]) -> String {
    match atom {
        Atom::Arg(arg, offset) => match scalars.iter().find(|s| s.arg == arg && s.offset == offset) {
            Some(scalar) => scalar.name.clone(),
            None => interface.args.get(arg as usize).map_or_else(|| arg.to_string(), |a| a.display_name()),
        },
        Atom::Id(id, d) => format!("{}({d})", id.builtin()),
        Atom::Value(_) => "a value".to_owned(),
    }
}

fn model(program: Program, interface: &Interface) -> KernelModel {
    let summary = per_item::summarise(&program, interface);
    let mut scalars = scalars(interface);
    let shifts = shifts(&summary);
    let offsets = pitches::offsets(&summary);
    let multiples = pitches::multiples(&offsets);
    let floats = floats_in_addresses(&summary);
    scalars.extend(scalars_in_buffers::find(&summary, interface));
    for scalar in &mut scalars {
        let scalar_use = ScalarUse::of(&summary, &shifts, scalar.arg, scalar.offset);
        scalar.lower_bounds = scalar_bounds::lower_bounds(&summary, &offsets, Atom::Arg(scalar.arg, scalar.offset));
        scalar.is_positive = floats.contains(&Atom::Arg(scalar.arg, scalar.offset));
        scalar.multiple_of = multiples.get(&Atom::Arg(scalar.arg, scalar.offset)).copied().unwrap_or(1);
        scalar.upper_bounds = scalar_bounds::upper_bounds(&summary, Atom::Arg(scalar.arg, scalar.offset));
        scalar.dictionary = scalar_use.dictionary.iter().copied().collect();
        scalar.divides = scalar_use.divides && !scalar.scalar.is_float();
        scalar.role = scalar_use.role(!scalar.lower_bounds.is_empty());
    }
    scalars.retain(scalars_in_buffers::matters);
    for mut scalar in per_item::scalars(&summary, interface) {
        scalar.lower_bounds = scalar_bounds::lower_bounds(&summary, &offsets, Atom::Arg(scalar.arg, scalar.offset));
        scalar.lower_bounds.extend(per_item::bounds(&summary, scalar.arg));
        scalars.push(scalar);
    }
    let lists = lists::find(&summary, interface);
    scalars.retain(|scalar| !(scalar.in_buffer && lists.buffers.contains_key(&scalar.arg)));
    for scalar in &mut scalars {
        scalar.list = lists.elements.get(&(scalar.arg, scalar.offset)).copied();
        match scalar.list {
            Some((List::Sizes, _)) => (scalar.role, scalar.divides) = (Role::Divisor, true),
            Some((List::Strides, _)) => scalar.role = Role::RowLength,
            Some((List::Order, _)) => scalar.role = Role::Index,
            None => {}
        }
        let (least, most) = lists.bounds(Atom::Arg(scalar.arg, scalar.offset));
        scalar.lower_bounds.extend(least);
        scalar.upper_bounds.extend(most);
    }
    let args: Vec<ArgModel> = interface
        .args
        .iter()
        .map(|arg| {
            let mut model = ArgModel {
                role: Role::Unused,
                contents: Contents::Data,
                lengths: Vec::new(),
                checked: Vec::new(),
                length: None,
                is_counter: false,
            };
            match &arg.kind {
                ArgKind::Buffer { element, .. } => {
                    model.role = buffer_role(&summary, arg.position);
                    let is_scalar = |load| {
                        let place = scalars_in_buffers::place(&summary, load);
                        place.is_some_and(|place| scalars.iter().any(|s| s.in_buffer && (s.arg, s.offset) == place))
                    };
                    let held = interface.indices.iter().find(|index| index.parameter == arg.position);
                    let per_item = summary.symbols.per_item.get(&arg.position);
                    model.contents = match (held, lists.buffers.get(&arg.position), per_item) {
                        (Some(held), ..) => {
                            let target = Region::Argument(held.into);
                            Contents::Indices { target, scale: 1, distinct: true, room: None }
                        }
                        (None, Some(list), _) => Contents::List(*list),
                        (None, None, Some(each)) => Contents::PerItem(*each),
                        (None, None, None) => content_roles::find(&summary, arg.position, &is_scalar),
                    };
                    model.is_counter = atomic_counters::is_counter(&summary, arg.position);
                    let size = element.as_ref().map_or(1, Type::size).max(1);
                    let found = buffer_lengths::of(&summary, arg.position, size);
                    let texts: Vec<String> =
                        found.lengths.iter().map(|l| l.text(&|atom| atom_name(atom, interface, &scalars))).collect();
                    model.length = (!texts.is_empty()).then(|| texts.join(" or "));
                    (model.lengths, model.checked) = (found.lengths, found.checked);
                }
                ArgKind::Image(_) => model.role = image_role(arg.access),
                ArgKind::Local { .. } => model.role = Role::Local,
                ArgKind::Sampler => model.role = Role::Sampler,
                ArgKind::Value(_) => {
                    let of = scalars.iter().filter(|s| s.arg == arg.position).map(|s| s.role);
                    // The strictest role of its scalars; roles are declared in that order.
                    model.role = of.filter(|r| *r != Role::Unused).min().unwrap_or(Role::Unused);
                }
                ArgKind::Unsupported(_) => {}
            }
            model
        })
        .collect();
    let dims = dims(&program, interface.required_local);
    let groups = group_sizes::find(&summary, interface, dims);
    let mut preconditions = preconditions(interface, &args, &scalars, &groups);
    preconditions.extend(lists.names.iter().map(|(name, list)| match list {
        List::Sizes => format!("{name} holds the lengths of dimensions"),
        List::Order => format!("{name} holds the order of dimensions"),
        List::Strides => format!("{name} holds the strides of a dense array, the first one the greatest"),
    }));
    drop(summary);
    KernelModel { interface: interface.clone(), args, scalars, groups, dims, preconditions, program: Arc::new(program) }
}

fn image_role(access: kassay_model::interface::Access) -> Role {
    use kassay_model::interface::Access;
    match access {
        Access::WriteOnly => Role::Output,
        Access::ReadWrite => Role::InOut,
        Access::None | Access::ReadOnly => Role::Input,
    }
}

fn scalars(interface: &Interface) -> Vec<ScalarModel> {
    let mut all = Vec::new();
    for arg in &interface.args {
        let ArgKind::Value(ty) = &arg.kind else { continue };
        for leaf in scalar_layout::leaves(ty) {
            let label = arg.display_name();
            let name = match (leaf.path.is_empty(), leaf.path.starts_with('[')) {
                (true, _) => label,
                (false, true) => format!("{label}{}", leaf.path),
                (false, false) => format!("{label}.{}", leaf.path),
            };
            all.push(ScalarModel::new(arg.position, leaf.offset, leaf.scalar, name));
        }
    }
    all
}

/// Returns the floating-point scalars from which addresses are computed, such as scales of images.
fn floats_in_addresses(summary: &AccessSummary<'_>) -> HashSet<Atom> {
    let program = summary.program;
    let pointers = summary.accesses.iter().flat_map(|access| [Some(access.pointer), access.number]).flatten();
    let sources: HashSet<ValueId> = pointers.flat_map(|value| summary.sources(value)).collect();
    let scalar = |value: ValueId| match program.values[value as usize] {
        _ if !matches!(program.shape(value), Shape { kind: Kind::Float(_), lanes: 0 }) => None,
        Definition::Param(position) => Some(Atom::Arg(position, 0)),
        _ => {
            let load = program.instruction(value).filter(|i| matches!(i.op, Op::Load))?;
            let address = summary.symbols.address(load.operands[0]);
            let Region::Argument(position) = address.region else { return None };
            program.by_value[position as usize]?;
            Some(Atom::Arg(position, u64::try_from(address.offset.as_constant()?).ok()?))
        }
    };
    sources.into_iter().filter_map(scalar).collect()
}

/// The uses of a scalar.
#[derive(Debug, Default)]
struct ScalarUse {
    is_used: bool,
    in_address: bool,
    multiplies: bool,
    shifts: bool,
    divides: bool,
    bounds_loop: bool,
    decides: bool,
    computes: bool,
    dictionary: BTreeSet<i128>,
}

/// Returns the arguments' scalars that are used as shift amounts, directly or through a mask.
fn shifts(summary: &AccessSummary<'_>) -> HashSet<Atom> {
    let mut amounts = HashSet::new();
    let mut found = HashSet::new();
    for (_, instruction) in summary.program.instructions() {
        if let Op::Binary(Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr) = &instruction.op
            && summary.program.constant(instruction.operands[1]).is_none()
            && amounts.insert(instruction.operands[1])
        {
            for value in summary.sources(instruction.operands[1]) {
                found.extend(summary.symbols.poly(value).atoms().filter(|a| matches!(a, Atom::Arg(..))));
            }
        }
    }
    found
}

impl ScalarUse {
    fn of(summary: &AccessSummary<'_>, shifts: &HashSet<Atom>, arg: u32, offset: u64) -> ScalarUse {
        let atom = Atom::Arg(arg, offset);
        let program = summary.program;
        let mut found = ScalarUse { shifts: shifts.contains(&atom), ..ScalarUse::default() };
        let is = |value: ValueId| summary.symbols.poly(value).has(atom);
        for access in summary.accesses.iter().filter(|a| a.offset.has(atom)) {
            found.is_used = true;
            found.in_address = true;
            found.multiplies |= access.offset.0.keys().any(|product| product.len() > 1 && product.contains(&atom));
        }
        for (_, instruction) in program.instructions() {
            let operands = &instruction.operands;
            match &instruction.op {
                Op::Binary(Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr) => {
                    found.computes |= is(operands[0]);
                }
                Op::Binary(Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem) => {
                    found.divides |= is(operands[1]);
                    found.computes |= is(operands[0]);
                }
                Op::Compare(_) => {
                    let apart = summary.symbols.poly(operands[0]).sub(&summary.symbols.poly(operands[1]));
                    if let Some((n, rest)) = apart.linear_in(atom) {
                        found.decides = true;
                        if let Some(constant) = rest.as_constant() {
                            let at = -constant / n;
                            found.dictionary.extend([at - 1, at, at + 1]);
                        }
                    }
                    found.decides |= is(operands[0]) || is(operands[1]);
                }
                Op::Phi(_) | Op::Select | Op::Store | Op::Call(..) | Op::Binary(_) | Op::Cast(_) => {
                    found.computes |= operands.iter().any(|o| is(*o));
                }
                _ => {}
            }
        }
        for code in &program.blocks {
            if let End::Switch { value, cases, .. } = &code.end
                && is(*value)
            {
                found.decides = true;
                let shape = program.shape(*value);
                found.dictionary.extend(cases.iter().map(|(bits, _)| i128::from(reader::case_value(*bits, shape))));
            }
        }
        let counted = |fact: &super::path_conditions::Fact| {
            fact.rhs.has(atom) && fact.lhs.atoms().any(|a| matches!(a, Atom::Value(v) if program.is_counter(v)))
        };
        found.bounds_loop = summary.facts.all().any(|(_, fact)| counted(fact));
        found.is_used |= found.decides || found.computes || found.shifts || found.divides || found.bounds_loop;
        found.is_used |= used_otherwise(program, arg);
        found
    }

    fn role(&self, has_lower_bound: bool) -> Role {
        match self {
            ScalarUse { is_used: false, .. } => Role::Unused,
            ScalarUse { multiplies: true, .. } if !has_lower_bound || !self.decides => Role::RowLength,
            _ if has_lower_bound => Role::Bound,
            ScalarUse { bounds_loop: true, .. } => Role::Count,
            ScalarUse { in_address: true, .. } => Role::Index,
            ScalarUse { shifts: true, .. } => Role::Shift,
            ScalarUse { divides: true, .. } => Role::Divisor,
            ScalarUse { decides: true, .. } => Role::Flag,
            _ => Role::Data,
        }
    }
}

/// Returns whether any instruction has the argument as an operand.
fn used_otherwise(program: &Program, arg: u32) -> bool {
    let Some(param) = program.params.get(arg as usize) else { return false };
    // What else a buffer is used for says nothing of one scalar in it.
    if program.shape(*param).kind == Kind::Pointer && program.by_value[arg as usize].is_none() {
        return false;
    }
    program.instructions().any(|(_, i)| i.operands.contains(param))
}

fn buffer_role(summary: &AccessSummary<'_>, position: u32) -> Role {
    let region = Region::Argument(position);
    let is_mine = |a: &&Access| a.region == region || summary.program.roots[a.pointer as usize].contains(&region);
    let (mut reads, mut writes) = (false, false);
    for access in summary.accesses.iter().filter(is_mine) {
        reads |= access.kind != AccessKind::Write;
        writes |= access.kind != AccessKind::Read;
    }
    match (reads, writes) {
        (true, true) => Role::InOut,
        (true, false) => Role::Input,
        (false, true) => Role::Output,
        (false, false) => Role::Unused,
    }
}

/// Returns the number of dimensions in which the kernel queries ids, or that its required work-group size has.
fn dims(program: &Program, required: Option<[u64; 3]>) -> u32 {
    let mut dims = 1;
    let needed = id_uses::needed(program);
    for (_, instruction) in program.instructions().filter(|(_, i)| needed.contains(&i.result)) {
        if let Op::Call(_, base) = &instruction.op
            && super::polynomial::id_of(base).is_some()
            && let Some(d) = instruction.operands.first().and_then(|o| program.constant(*o))
        {
            dims = dims.max(u32::try_from(d.clamp(0, 2)).unwrap_or(0) + 1);
        }
    }
    if let Some(required) = required {
        dims = dims.max((1..=3u32).rev().find(|d| required[*d as usize - 1] > 1).unwrap_or(1));
    }
    dims
}

fn preconditions(
    interface: &Interface,
    args: &[ArgModel],
    scalars: &[ScalarModel],
    groups: &super::model::GroupRules,
) -> Vec<String> {
    let mut all = Vec::new();
    let label = |position: usize| interface.args[position].display_name();
    for (position, arg) in args.iter().enumerate() {
        if let Some(length) = &arg.length {
            all.push(format!("{} has {length} elements", label(position)));
        }
        let what = match arg.contents {
            Contents::Data | Contents::List(_) => continue,
            Contents::Indices { target: Region::Argument(to), distinct, .. } => {
                format!("{}places in {}", if distinct { "distinct " } else { "" }, label(to as usize))
            }
            Contents::Indices { .. } => "places in memory of the work-group or work-item".to_owned(),
            Contents::Offsets => "offsets that do not fall".to_owned(),
            Contents::TripCounts => "numbers of turns of a loop".to_owned(),
            Contents::PerItem(Each::Start) => "where parts of other buffers begin, one behind the other".to_owned(),
            Contents::PerItem(Each::Pitch) => "the same pitch for all parts".to_owned(),
            Contents::Lengths { of } => format!("how far apart the offsets in {} are", label(of as usize)),
        };
        all.push(format!("{} holds {what}", label(position)));
    }
    for scalar in scalars.iter().filter(|scalar| scalar.list.is_none() && scalar.offset != EVERY) {
        let what = match scalar.role {
            _ if scalar.divides => "is not 0",
            Role::Shift => "is less than the width of what is shifted",
            Role::Index | Role::RowLength | Role::Count => "is not negative",
            _ => continue,
        };
        all.push(format!("{} {what}", scalar.name));
    }
    for scalar in scalars.iter().filter(|scalar| scalar.is_positive) {
        all.push(format!("{} is positive", scalar.name));
    }
    for scalar in scalars.iter().filter(|scalar| scalar.multiple_of > 1) {
        all.push(format!("{} is a multiple of {}", scalar.name, scalar.multiple_of));
    }
    for scalar in scalars {
        let is_given = |d: &&LowerBound| d.extent.atoms().all(|a| matches!(a, Atom::Arg(..)));
        for bound in scalar.lower_bounds.iter().filter(|d| d.is_hard && d.coefficient == 1).filter(is_given) {
            let least = bound.extent.sub(&bound.rest).text(&|atom| atom_name(atom, interface, scalars));
            all.push(format!("{} is greater than {least}", scalar.name));
        }
    }
    for d in 0..3 {
        match (groups.exactly[d], groups.at_most[d]) {
            _ if groups.required.is_some() => {}
            (Some(1), _) => all.push(format!("a work-group has 1 work-item in dimension {d}")),
            (Some(n), _) => all.push(format!("a work-group has {n} work-items in dimension {d}")),
            (None, Some(n)) => all.push(format!("a work-group has at most {n} work-items in dimension {d}")),
            (None, None) => {}
        }
    }
    for d in (0..3).filter(|d| groups.one_group[*d]) {
        all.push(format!("there is one work-group in dimension {d}"));
    }
    for (d, of) in groups.multiple_of.iter().enumerate().filter_map(|(d, of)| Some((d, (*of)?))) {
        all.push(format!("a work-group's size in dimension {d} is a multiple of {of}"));
    }
    if groups.power_of_two {
        all.push("a work-group's size is a power of two".to_owned());
    }
    all
}
