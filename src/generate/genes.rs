//! What an input is made of, so that it can be changed a little and made again with sizes that fit; and from that to a launch.

use std::sync::Arc;

use super::assign::{Number, Scalars};
use super::fill::{self, Fill, Filling, mix};
use super::fitting::{Plan, Workshop};
use super::geometry::Geometry;
use super::interface_file::{Wishes, as_f64};
use super::launches::Planned;
use super::model::KernelModel;
use crate::error::Result;
use crate::kernel::interface::{ArgKind, Scalar, Type};
use crate::suite::launch::{ArgValue, ImageFormat, Launch};
use crate::suite::layout::{self, Leaf};

/// A change of a buffer's or an image's contents.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// All of it anew.
    Contents { position: usize, fill: Fill, seed: u64 },
    /// Every scalar one of these, drawn.
    Among { position: usize, numbers: Vec<Number>, seed: u64 },
    /// One scalar of every element.
    Every { position: usize, leaf: usize, number: Number },
    /// One scalar of one element; `index` counts round.
    Element { position: usize, index: u64, leaf: usize, number: Number },
    /// One element becomes what another is.
    Copy { position: usize, from: u64, to: u64 },
}

impl Edit {
    pub fn position(&self) -> usize {
        match self {
            Edit::Contents { position, .. }
            | Edit::Among { position, .. }
            | Edit::Every { position, .. }
            | Edit::Element { position, .. }
            | Edit::Copy { position, .. } => *position,
        }
    }
}

/// An input, before sizes are fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Genes {
    pub geometry: Geometry,
    pub scalars: Scalars,
    pub fill: Fill,
    pub seed: u64,
    pub small_images: bool,
    /// In order.
    pub edits: Vec<Edit>,
}

impl Genes {
    /// Of one of the first launches, with the values that the user gives.
    pub fn of(planned: Planned, model: &KernelModel, wishes: &Wishes) -> Genes {
        let Planned { geometry, mut scalars, fill, seed, small_images, .. } = planned;
        for scalar in &model.scalars {
            let wish = &wishes.args[scalar.arg as usize];
            let key = (scalar.arg, scalar.offset);
            if let Some(ArgValue::Value(bytes)) = &wish.value
                && let Some(bytes) = bytes.get(scalar.offset as usize..)
            {
                let number = match layout::decode(scalar.scalar, bytes) {
                    layout::Number::Integer(n) => Number::Integer(n),
                    layout::Number::Float(x) => Number::Float(x),
                };
                scalars.insert(key, number);
            }
            if let Some(number) = scalars.get_mut(&key) {
                *number = bounded(*number, scalar.scalar, wishes, scalar.arg as usize);
            }
        }
        Genes { geometry, scalars, fill, seed, small_images, edits: Vec::new() }
    }
}

/// Within the user's bounds.
pub fn bounded(number: Number, scalar: Scalar, wishes: &Wishes, position: usize) -> Number {
    let wish = &wishes.args[position];
    let below = |a: Number, b: Number| match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a < b,
        _ => as_f64(a) < as_f64(b),
    };
    let mut bounded = number;
    if let Some(least) = wish.least.filter(|least| below(number, *least)) {
        bounded = least;
    }
    if let Some(greatest) = wish.greatest.filter(|greatest| below(*greatest, number)) {
        bounded = greatest;
    }
    match bounded {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        Number::Float(x) if !scalar.is_float() => Number::Integer(x.trunc() as i128),
        Number::Integer(_) if scalar.is_float() => Number::Float(as_f64(bounded)),
        other => other,
    }
}

/// The scalars of a texel of an image of kassay's own: four channels.
pub fn texel(format: &ImageFormat) -> Type {
    let scalar = match format.channel_type.as_str() {
        "UNSIGNED_INT32" => Scalar::U32,
        "SIGNED_INT32" => Scalar::I32,
        _ => Scalar::F32,
    };
    Type::Vector(scalar, 4)
}

/// The launch that genes come to, with what is assumed of it.
///
/// # Errors
/// As of [`Workshop::launch`].
pub fn express(workshop: &Workshop<'_>, wishes: &Wishes, genes: &Genes) -> Result<(Launch, Vec<String>)> {
    let plan = Plan {
        geometry: &genes.geometry,
        scalars: genes.scalars.clone(),
        fill: genes.fill,
        seed: genes.seed,
        small_images: genes.small_images,
    };
    let mut outcome = workshop.try_out(&plan);
    for (position, (wish, arg)) in wishes.args.iter().zip(&workshop.model.interface.args).enumerate() {
        if let Some(size) = wish.size {
            outcome.resize(position, size.saturating_mul(Workshop::element(arg).size()));
        }
    }
    let mut launch = workshop.launch(&plan, &outcome)?;
    for (position, (wish, value)) in wishes.args.iter().zip(&mut launch.args).enumerate() {
        if let Some(given) = wish.value.as_ref().filter(|v| !matches!(v, ArgValue::Value(_))) {
            *value = given.clone();
        }
        if wish.least.is_some() || wish.greatest.is_some() {
            change(workshop, position, value, |bytes, ty| bound(bytes, ty, wishes, position));
        }
    }
    for edit in &genes.edits {
        let position = edit.position();
        if let Some(value) = launch.args.get_mut(position) {
            change(workshop, position, value, |bytes, ty| apply(edit, bytes, ty, workshop, wishes));
        }
    }
    let mut preconditions = workshop.model.preconditions.clone();
    preconditions.extend(outcome.notes);
    Ok((launch, preconditions))
}

/// Changes the contents of a buffer or image; nothing where an argument has none.
fn change(workshop: &Workshop<'_>, position: usize, value: &mut ArgValue, with: impl FnOnce(&mut Vec<u8>, &Type)) {
    let arg = &workshop.model.interface.args[position];
    match value {
        ArgValue::Buffer(bytes) if matches!(arg.kind, ArgKind::Buffer { .. }) => {
            with(Arc::make_mut(bytes), &Workshop::element(arg));
        }
        ArgValue::Image { format, texels, .. } if format.channel_order == "RGBA" => {
            let ty = texel(format);
            // The user's own images may have smaller channels.
            if ["FLOAT", "UNSIGNED_INT32", "SIGNED_INT32"].contains(&format.channel_type.as_str()) {
                with(Arc::make_mut(texels), &ty);
            }
        }
        _ => {}
    }
}

fn bound(bytes: &mut [u8], ty: &Type, wishes: &Wishes, position: usize) {
    let leaves = layout::leaves(ty);
    for element in bytes.chunks_exact_mut(ty.size().max(1) as usize) {
        for leaf in &leaves {
            let at = &mut element[leaf.offset as usize..];
            let number = match layout::decode(leaf.scalar, at) {
                layout::Number::Integer(n) => Number::Integer(n),
                layout::Number::Float(x) => Number::Float(x),
            };
            let allowed = bounded(number, leaf.scalar, wishes, position);
            if allowed != number {
                put(at, leaf.scalar, allowed);
            }
        }
    }
}

fn put(at: &mut [u8], scalar: Scalar, number: Number) {
    let mut out = Vec::with_capacity(8);
    match number {
        Number::Integer(n) => fill::push(scalar, n, &mut out),
        Number::Float(x) => fill::push_float(scalar, x, &mut out),
    }
    at[..out.len()].copy_from_slice(&out);
}

fn apply(edit: &Edit, bytes: &mut [u8], ty: &Type, workshop: &Workshop<'_>, wishes: &Wishes) {
    let size = ty.size().max(1) as usize;
    let count = bytes.len() / size;
    if count == 0 {
        return;
    }
    let leaves: Vec<Leaf> = layout::leaves(ty);
    let place = |index: u64| (index % count as u64) as usize * size;
    match edit {
        Edit::Contents { position, fill, seed } => {
            let seed = mix(*seed, *position as u64);
            let filling = Filling { ty: ty.clone(), fill: *fill, seed, dictionary: workshop.dictionary().into() };
            bytes[..count * size].copy_from_slice(&filling.bytes(0, (count * size) as u64));
            bound(bytes, ty, wishes, *position);
        }
        Edit::Among { position, numbers, seed } => {
            let mut word = 0;
            for element in bytes.chunks_exact_mut(size) {
                for leaf in &leaves {
                    word += 1;
                    let drawn = mix(*seed, word) % numbers.len().max(1) as u64;
                    if let Some(number) = numbers.get(drawn as usize) {
                        let number = bounded(*number, leaf.scalar, wishes, *position);
                        put(&mut element[leaf.offset as usize..], leaf.scalar, number);
                    }
                }
            }
        }
        Edit::Every { leaf, number, .. } => {
            let Some(leaf) = leaves.get(*leaf) else { return };
            for element in bytes.chunks_exact_mut(size) {
                put(&mut element[leaf.offset as usize..], leaf.scalar, *number);
            }
        }
        Edit::Element { index, leaf, number, .. } => {
            let Some(leaf) = leaves.get(*leaf) else { return };
            put(&mut bytes[place(*index) + leaf.offset as usize..], leaf.scalar, *number);
        }
        Edit::Copy { from, to, .. } => {
            let from = place(*from);
            bytes.copy_within(from..from + size, place(*to));
        }
    }
}
