//! Finds where seeds are not what kassay takes a kernel's arguments for, or what the interface file says.

use kassay_model::interface::Scalar;
use kassay_prove::program::Region;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout;

use super::assign::Number;
use super::genotype::{Genotype, clamped};
use super::interface_file::UserConstraints;
use super::launch_builder::LaunchBuilder;
use super::likely_invariants::{Quantity, arg_name};
use super::model::{Contents, KernelModel, Role};
use super::seeded_genotype::decoded;
use super::seeds::Seed;

/// Returns where a seed is not as the code's analysis says, a sentence each.
pub(super) fn of_model(launch_builder: &LaunchBuilder<'_>, seed: &Seed, genotype: Option<&Genotype>) -> Vec<String> {
    let model = launch_builder.model;
    let mut found = Vec::new();
    for scalar in &model.scalars {
        let of = Quantity::Scalar { arg: scalar.arg, offset: scalar.offset, scalar: scalar.scalar };
        let Some(value) = of.get(&seed.launch) else { continue };
        let name = &scalar.name;
        let is_size = matches!(scalar.role, Role::Index | Role::RowLength | Role::Count);
        if scalar.divides && value == 0 {
            found.push(format!("kassay takes {name} for a part of a divisor, but it is 0 in \"{}\"", seed.name));
        } else if is_size && value < 0 {
            found.push(format!("kassay takes {name} for a count or an index, but it is {value} in \"{}\"", seed.name));
        }
    }
    let lengths = model.interface.args.iter().zip(&model.args).enumerate();
    for (position, (arg, known)) in lengths {
        let element = LaunchBuilder::element(arg);
        let length = |at: u32| {
            let element = LaunchBuilder::element(&model.interface.args[at as usize]).size().max(1);
            Quantity::Length { arg: at, element }.get(&seed.launch)
        };
        let at = position as u32;
        let name = arg_name(&model.interface, at);
        if let (Some(text), Some(genotype), Some(is)) = (&known.length, genotype, length(at))
            && let Some(needed) = launch_builder.length(position, &genotype.plan()).map(i128::from)
            && needed > is
        {
            found.push(format!(
                "the kernel's checks let it access {needed} elements of {name} ({text}), which has {is} in \"{}\"",
                seed.name
            ));
        }
        let Some(scalar) = scalar_layout::dense_scalar(&element).filter(|s| scalar_layout::range(*s).is_some()) else {
            continue;
        };
        let numbers = integers(seed, at, scalar);
        match known.contents {
            Contents::Indices { target: Region::Argument(to), scale: 1, .. } => {
                let Some(room) = length(to) else { continue };
                if let Some(outside) = numbers.iter().find(|n| !(0..room).contains(*n)) {
                    found.push(format!(
                        "kassay takes {name} for places in {}, which has {room} elements in \"{}\"; {outside} is none of them",
                        arg_name(&model.interface, to),
                        seed.name
                    ));
                }
            }
            Contents::Offsets if !numbers.is_sorted() => {
                found.push(format!(
                    "kassay takes {name} for offsets that do not fall, but they do in \"{}\"",
                    seed.name
                ));
            }
            _ => {}
        }
    }
    found
}

/// Returns where a launch of this name is not as the interface file says, a sentence each.
pub(super) fn of_file(constraints: &UserConstraints, model: &KernelModel, name: &str, launch: &Launch) -> Vec<String> {
    let mut found = Vec::new();
    let range = &launch.range;
    if constraints.range.as_ref().is_some_and(|wanted| wanted.global != range.global) {
        found.push(format!("the interface file gives `global`, but \"{}\" has {:?}", name, range.global));
    }
    if constraints.local.is_some_and(|wanted| range.local.is_some_and(|local| local != wanted)) {
        found.push(format!("the interface file gives `local`, but \"{}\" has {:?}", name, range.local));
    }
    if range.items() > constraints.max_items {
        let (items, most) = (range.items(), constraints.max_items);
        found.push(format!("`max_items` is {most} in the interface file, but \"{name}\" has {items}"));
    }
    for (at, (arg, wanted)) in (0u32..).zip(model.interface.args.iter().zip(&constraints.args)) {
        if !arg.is_parameter() {
            continue;
        }
        let label = arg_name(&model.interface, at);
        let element = LaunchBuilder::element(arg).size().max(1);
        let length = Quantity::Length { arg: at, element }.get(launch);
        if let (Some(size), Some(is)) = (wanted.size, length)
            && is != i128::from(size)
        {
            found.push(format!("the interface file gives {label} {size} elements; it has {is} in \"{name}\""));
        }
        if let (Some(value), false) = (&wanted.value, wanted.fuzz)
            && launch.args.get(at as usize) != Some(value)
        {
            found.push(format!("the interface file fixes {label}, which has another value in \"{name}\""));
        }
        for scalar in model.scalars.iter().filter(|s| s.arg == at) {
            let Some(ArgValue::Value(bytes)) = launch.args.get(at as usize) else { continue };
            let Some(at_scalar) = bytes.get(scalar.offset as usize..) else { continue };
            let is = decoded(scalar.scalar, at_scalar);
            if clamped(is, scalar.scalar, constraints, at as usize) != is && !is_nan(is) {
                let is = scalar_layout::text(scalar.scalar, at_scalar);
                found.push(format!(
                    "{} is {is} in \"{name}\", beyond `min` or `max` of the interface file",
                    scalar.name
                ));
            }
        }
    }
    found
}

fn is_nan(number: Number) -> bool {
    matches!(number, Number::Float(x) if x.is_nan())
}

fn integers(seed: &Seed, arg: u32, scalar: Scalar) -> Vec<i128> {
    super::likely_invariants::integers(&seed.launch, arg, scalar).collect()
}
