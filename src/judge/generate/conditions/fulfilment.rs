//! Builds launches that satisfy a condition.

use std::collections::BTreeSet;
use std::sync::Arc;

use kassay_base::error::Result;
use kassay_model::condition::{Condition, KnownLaunch, Quantity, ScalarArgument};
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout;

use super::known::{Built, Chosen, decode_at, decoded, integers_of};
use crate::generate::assign::{self, Number, Scalars, Style};
use crate::generate::fill::{self, Fill, mix};
use crate::generate::geometry::{self, Geometry};
use crate::generate::launch_builder::{ImageSides, LaunchBuilder, LaunchPlan};
use crate::generate::launches::Request;
use crate::generate::model::{Contents, KernelModel, ScalarModel};
use crate::generate::planned_launch::{GeneratedLaunch, unique};

/// Rounds after which scalars that depend on each other are left as they are.
const ROUNDS: usize = 24;
/// What scalars exceed their bounds by: a condition holds by itself, not because a bound happens to be even or a
/// multiple of something.
const SLACK: [i128; 9] = [0, 1, 3, 0, 5, 1, 2, 7, 0];
/// Scalars are not made greater than this.
const LARGEST: i128 = 1 << 22;
/// Extents of strides are at most this at first.
const LARGEST_EXTENT: i128 = 24;

/// Builds launches of several sizes that satisfy the condition, and hands each to `take` until that returns false; none
/// if it cannot be satisfied so. The first ones have sizes and scalars of `examples`, but for what the condition
/// changes.
///
/// # Errors
/// `Caller` if an argument has a type that cannot be generated, or the requested sizes do not fit the kernel.
pub fn launches_under(
    builder: &LaunchBuilder<'_>,
    request: &Request,
    condition: &Condition,
    examples: &[&Launch],
    take: &mut dyn FnMut(GeneratedLaunch) -> Result<bool>,
) -> Result<()> {
    let model = &with_group_sizes(builder.model, condition);
    let builder = builder.with_model(model);
    let mut geometries = match &request.range {
        Some(range) => vec![geometry::fixed(model, range)?],
        None => geometry::choices(model),
    };
    geometries.iter_mut().for_each(|geometry| resize(geometry, condition));
    let pick = |i: usize| geometries[i.min(geometries.len() - 1)].clone();
    let mut plans: Vec<(Geometry, Source<'_>, Fill)> =
        examples.iter().map(|launch| (adapted(launch, condition), Source::Example(launch), Fill::Random)).collect();
    plans.extend(
        [
            (pick(1), Style::Even, Fill::Random),
            (pick(0), Style::Even, Fill::Random),
            (pick(1), Style::Uneven, Fill::Rising),
            (pick(2), Style::Even, Fill::Random),
            (pick(2), Style::Uneven, Fill::Falling),
            (pick(1), Style::Least, Fill::Random),
            (pick(2), Style::Even, Fill::Equal),
            (pick(1), Style::Even, Fill::Zero),
        ]
        .map(|(geometry, style, fill)| (geometry, Source::Style(style), fill)),
    );
    if request.range.is_none() {
        plans.extend(geometry::uneven(model).map(|mut geometry| {
            resize(&mut geometry, condition);
            (geometry, Source::Style(Style::Even), Fill::Random)
        }));
    }
    let mut known: Vec<(String, Launch)> = Vec::new();
    for (variant, (geometry, source, fill)) in (0u64..).zip(plans) {
        let seed = mix(request.seed, 1000 + variant);
        let mut scalars = match source {
            Source::Example(launch) => scalars_of(model, launch),
            Source::Style(style) => assign::scalars(model, &builder.summary, &geometry, style, variant, seed),
        };
        let slack = SLACK[variant as usize % SLACK.len()];
        if !fulfil(condition, model, &geometry, &mut scalars, slack) {
            continue;
        }
        let images = ImageSides::Launch;
        let plan = LaunchPlan { geometry: &geometry, scalars, fill, seed, images };
        let fitted = builder.fit(&plan);
        if fitted.too_large {
            continue;
        }
        let mut launch = builder.launch(&plan, &fitted)?;
        set_contents(condition, model, &mut launch, seed);
        let holds = condition.holds(&Built { interface: &model.interface, launch: &launch });
        if holds != Some(true) || known.iter().any(|(_, other)| *other == launch) {
            continue;
        }
        let mut preconditions = model.preconditions.clone();
        preconditions.extend(fitted.notes);
        let name = unique(
            geometry.name.clone().into_owned() + ", kept to the condition",
            known.iter().map(|(name, _)| name.as_str()),
        );
        known.push((name.clone(), launch.clone()));
        if !take(GeneratedLaunch { launch, name, preconditions, guesses: fitted.guesses })? {
            break;
        }
    }
    Ok(())
}

/// Where the scalars of a launch come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    Style(Style),
    Example(&'a Launch),
}

/// Returns the scalars of a launch.
fn scalars_of(model: &KernelModel, launch: &Launch) -> Scalars {
    let value = |scalar: &ScalarModel| {
        let number = match decode_at(launch, scalar.arg, scalar.offset, scalar.scalar)? {
            scalar_layout::Number::Integer(n) => Number::Integer(n),
            scalar_layout::Number::Float(x) => Number::Float(x),
        };
        Some(((scalar.arg, scalar.offset), number))
    };
    model.scalars.iter().filter_map(value).collect()
}

/// Returns the sizes of a launch, with groups of the sizes that the condition asks for, and as many of them.
fn adapted(launch: &Launch, condition: &Condition) -> Geometry {
    let range = launch.range.clone();
    let (mut local, groups) = (range.decided().local, range.group_counts());
    for part in condition.parts() {
        match part {
            Condition::Equal(Quantity::LocalSize(d), Quantity::Constant(n)) => {
                local[usize::from(*d).min(2)] = u64::try_from(*n).unwrap_or(1).max(1);
            }
            Condition::PowerOfTwo(Quantity::LocalSize(d)) => {
                let size = &mut local[usize::from(*d).min(2)];
                *size = (*size / 2 + 1).next_power_of_two();
            }
            _ => {}
        }
    }
    let mut geometry = Geometry { local, name: "sizes of another launch".into(), range };
    for d in 0..3 {
        if local[d] != geometry.range.decided().local[d] {
            geometry.range.global[d] = local[d] * groups[d];
        }
    }
    resize(&mut geometry, condition);
    geometry
}

/// Returns the model with the sizes of work-groups that the condition asks for.
fn with_group_sizes(model: &KernelModel, condition: &Condition) -> KernelModel {
    let mut model = model.clone();
    for part in condition.parts() {
        match part {
            Condition::Equal(Quantity::LocalSize(d), Quantity::Constant(n)) if model.groups.required.is_none() => {
                if let (Some(size), Ok(n)) = (model.groups.exactly.get_mut(usize::from(*d)), u64::try_from(*n)) {
                    *size = Some(n);
                }
            }
            Condition::PowerOfTwo(Quantity::LocalSize(_)) => model.groups.power_of_two = true,
            _ => {}
        }
    }
    model
}

/// Makes launches of as many work-items and groups as the condition wants.
fn resize(geometry: &mut Geometry, condition: &Condition) {
    for part in condition.parts() {
        match part {
            Condition::Equal(Quantity::Groups(d), Quantity::Constant(n)) => {
                let (d, n) = (usize::from(*d).min(2), u64::try_from(*n).unwrap_or(1).max(1));
                geometry.range.global[d] = geometry.local[d].saturating_mul(n);
            }
            Condition::Equal(Quantity::GlobalSize(d), Quantity::Constant(1)) => {
                let d = usize::from(*d).min(2);
                (geometry.range.global[d], geometry.local[d]) = (1, 1);
            }
            Condition::AtLeast(Quantity::GlobalSize(d), Quantity::Constant(n)) => {
                let (d, n) = (usize::from(*d).min(2), u64::try_from(*n).unwrap_or(1).max(1));
                if geometry.range.global[d] < n {
                    geometry.range.global[d] = n.next_multiple_of(geometry.local[d].max(1));
                }
            }
            Condition::OneWorkItem => (geometry.range.global, geometry.local) = ([1; 3], [1; 3]),
            _ => {}
        }
    }
    geometry.range.local = Some(geometry.local);
}

/// Changes scalars until the condition holds of them. Returns whether it does.
fn fulfil(condition: &Condition, model: &KernelModel, geometry: &Geometry, scalars: &mut Scalars, slack: i128) -> bool {
    start_small(condition, scalars);
    assign::align(model, scalars);
    for _ in 0..ROUNDS {
        let mut has_changed = false;
        for part in condition.parts() {
            let Some((scalar, value)) = wanted(part, &Chosen { geometry, scalars }, slack) else { continue };
            let key = (scalar.position, scalar.offset);
            let Some(known) = model.scalars.iter().find(|known| (known.arg, known.offset) == key) else { return false };
            let Some((least, most)) = scalar_layout::range(known.scalar) else { return false };
            // A greater step in bytes is aligned, too.
            let is_least = matches!(part, Condition::AtLeast(..) | Condition::Strides { .. });
            let value = if is_least { value + (-value).rem_euclid(known.multiple_of.max(1)) } else { value };
            if value < least || value > most.min(LARGEST) {
                return false;
            }
            scalars.insert(key, Number::Integer(value));
            has_changed = true;
        }
        if !has_changed {
            return true;
        }
    }
    false
}

/// Makes strides and their extents small, so that those that build on others stay within limits.
fn start_small(condition: &Condition, scalars: &mut Scalars) {
    for part in condition.parts() {
        let Condition::Strides { outer, inner, extent } = part else { continue };
        for (quantity, most) in [(outer, 1), (inner, 1), (extent, LARGEST_EXTENT)] {
            let Quantity::Scalar(scalar) = quantity else { continue };
            if let Some(Number::Integer(n)) = scalars.get_mut(&(scalar.position, scalar.offset)) {
                *n = (*n).min(most);
            }
        }
    }
}

/// Returns the scalar that has to change for a part of a condition to hold, and its next value: `slack` more than it
/// must be, where it may.
fn wanted<'c>(part: &'c Condition, known: &Chosen<'_>, slack: i128) -> Option<(&'c ScalarArgument, i128)> {
    if part.holds(known) != Some(false) {
        return None;
    }
    match part {
        Condition::AtLeast(Quantity::Scalar(scalar), other) => Some((scalar, other.value(known)?.checked_add(slack)?)),
        Condition::AtMost(Quantity::Scalar(scalar), other) | Condition::Equal(Quantity::Scalar(scalar), other) => {
            Some((scalar, other.value(known)?))
        }
        Condition::Strides { outer: Quantity::Scalar(scalar), inner, extent } => {
            Some((scalar, inner.value(known)?.checked_mul(extent.value(known)?)?.checked_add(slack)?))
        }
        Condition::MultipleOf(Quantity::Scalar(scalar), of) => {
            let (now, of) = (known.scalar(scalar)?, of.value(known)?);
            let rest = now.checked_rem_euclid(of)?;
            Some((scalar, now.checked_add(of.abs() - rest)?))
        }
        _ => None,
    }
}

/// Changes the contents of buffers as the condition asks for.
fn set_contents(condition: &Condition, model: &KernelModel, launch: &mut Launch, seed: u64) {
    let interface = &model.interface;
    let buffer = |part: &Condition| match part {
        Condition::Within(buffer, _) | Condition::Rising(buffer) | Condition::Distinct(buffer) => Some(buffer.position),
        _ => None,
    };
    let asked: BTreeSet<u32> = condition.parts().iter().filter_map(buffer).collect();
    for position in asked {
        let Some(scalar) = integers_of(interface, position) else { continue };
        let Some(ArgValue::Buffer(bytes)) = launch.args.get(position as usize) else { continue };
        let mut elements = decoded(scalar, bytes);
        let count = elements.len() as u64;
        for part in condition.parts().iter().filter(|part| buffer(part) == Some(position)) {
            let room = match model.args[position as usize].contents {
                Contents::Indices { room, .. } => room,
                _ => None,
            };
            match part {
                // More than there are places cannot differ.
                Condition::Distinct(_) if room.is_some_and(|room| room < count) => {}
                Condition::Distinct(_) => {
                    let all = fill::Filling {
                        ty: kassay_model::interface::Type::Scalar(scalar),
                        fill: Fill::Distinct(count),
                        seed,
                        dictionary: Arc::default(),
                        fixed: None,
                        held: Vec::new(),
                        placed: Arc::default(),
                    };
                    elements = decoded(scalar, &all.bytes(0, count * scalar.size()));
                }
                Condition::Within(_, length) => {
                    let length = length.value(&Built { interface, launch }).filter(|length| *length > 0);
                    if let Some(length) = length {
                        elements.iter_mut().for_each(|element| *element = element.rem_euclid(length));
                    }
                }
                _ => {}
            }
        }
        if condition.parts().iter().any(|part| matches!(part, Condition::Rising(b) if b.position == position)) {
            elements.sort_unstable();
        }
        let mut bytes = Vec::new();
        elements.iter().for_each(|element| fill::push(scalar, *element, &mut bytes));
        launch.args[position as usize] = ArgValue::Buffer(Arc::new(bytes));
    }
}
