//! Genotypes: the description of an input from which its launch is built, so that it can be mutated and rebuilt with
//! fitting sizes.

use std::sync::Arc;

use kassay_model::interface::{Arg, ArgKind, Scalar, Type};
use kassay_suite::launch::{Addressing, ArgValue, Filter, ImageFormat};
use kassay_suite::scalar_layout::{self, Leaf};
use serde::{Deserialize, Serialize};

use super::assign::{Number, Scalars};
use super::fill::{self, Fill, Filling, mix};
use super::geometry::Geometry;
use super::interface_file::{UserConstraints, as_f64};
use super::launch_builder::{ImageSides, LaunchBuilder, LaunchPlan};
use super::model::KernelModel;
use super::planned_launch::PlannedLaunch;

/// Edits that a genotype carries; the oldest are dropped.
const MOST_EDITS: usize = 64;

/// A change to the contents of a buffer or image, or to a sampler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// Replaces all contents.
    Contents { position: usize, fill: Fill, seed: u64 },
    /// Sets every scalar to one of `numbers`, drawn at random.
    Among { position: usize, numbers: Vec<Number>, seed: u64 },
    /// Sets one scalar of every element.
    Every { position: usize, leaf: usize, number: Number },
    /// Sets one scalar of one element; `index` wraps around.
    Element { position: usize, index: u64, leaf: usize, number: Number },
    /// Copies one element over another.
    Copy { position: usize, from: u64, to: u64 },
    /// Replaces the sampler.
    Sampler { position: usize, addressing: Addressing, filter: Filter, normalized: bool },
}

impl Edit {
    /// Returns the position of the argument that is edited.
    pub fn position(&self) -> usize {
        match self {
            Edit::Contents { position, .. }
            | Edit::Among { position, .. }
            | Edit::Every { position, .. }
            | Edit::Element { position, .. }
            | Edit::Copy { position, .. }
            | Edit::Sampler { position, .. } => *position,
        }
    }
}

/// A description of an input; sizes are fitted when it is decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Genotype {
    pub geometry: Geometry,
    #[serde(with = "pairs")]
    pub scalars: Scalars,
    pub fill: Fill,
    pub seed: u64,
    pub images: ImageSides,
    /// The seed whose other arguments it has, by its number; `None`: contents are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<usize>,
    /// Applied in order.
    pub edits: Vec<Edit>,
}

/// Serialises scalars as a sorted list of pairs: JSON keys cannot be pairs of numbers.
mod pairs {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Number, Scalars};

    /// Serialises the scalars, ordered by argument and offset.
    pub fn serialize<S: Serializer>(scalars: &Scalars, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all: Vec<(&(u32, u64), &Number)> = scalars.iter().collect();
        all.sort_by_key(|(key, _)| **key);
        serializer.collect_seq(all)
    }

    /// Deserialises what [`serialize`] wrote.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scalars, D::Error> {
        Ok(Vec::<((u32, u64), Number)>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl Genotype {
    /// Returns the genotype of one of the first launches, with the values that the user specifies.
    pub fn from_planned(planned: PlannedLaunch, model: &KernelModel, constraints: &UserConstraints) -> Genotype {
        let PlannedLaunch { geometry, mut scalars, fill, seed, images, .. } = planned;
        for scalar in &model.scalars {
            let constraint = &constraints.args[scalar.arg as usize];
            let key = (scalar.arg, scalar.offset);
            if let Some(ArgValue::Value(bytes)) = &constraint.value
                && let Some(bytes) = bytes.get(scalar.offset as usize..)
            {
                let number = match scalar_layout::decode(scalar.scalar, bytes) {
                    scalar_layout::Number::Integer(n) => Number::Integer(n),
                    scalar_layout::Number::Float(x) => Number::Float(x),
                };
                scalars.insert(key, number);
            }
            if let Some(number) = scalars.get_mut(&key) {
                *number = clamped(*number, scalar.scalar, constraints, scalar.arg as usize);
            }
        }
        Genotype { geometry, scalars, fill, seed, images, base: None, edits: Vec::new() }
    }

    /// Adds an edit, and drops those that it makes redundant.
    pub fn add(&mut self, edit: Edit) {
        let position = edit.position();
        self.edits.retain(|e| match (&edit, e) {
            (Edit::Contents { .. } | Edit::Among { .. } | Edit::Sampler { .. }, other) => other.position() != position,
            (
                Edit::Element { index, leaf, .. },
                Edit::Element { position: other, index: known, leaf: known_leaf, .. },
            ) => (*other, known, known_leaf) != (position, index, leaf),
            _ => true,
        });
        if self.edits.len() >= MOST_EDITS {
            self.edits.remove(0);
        }
        self.edits.push(edit);
    }

    /// Returns everything but the edits.
    pub fn plan(&self) -> LaunchPlan<'_> {
        LaunchPlan {
            geometry: &self.geometry,
            scalars: self.scalars.clone(),
            fill: self.fill,
            seed: self.seed,
            images: self.images,
        }
    }

    /// Returns whether the two differ at most in their edits.
    pub fn same_plan(&self, other: &Genotype) -> bool {
        self.geometry == other.geometry
            && self.scalars == other.scalars
            && self.fill == other.fill
            && self.seed == other.seed
            && self.images == other.images
            && self.base == other.base
    }
}

/// Returns the number, clamped to the user's bounds and converted to the scalar's kind.
pub fn clamped(number: Number, scalar: Scalar, constraints: &UserConstraints, position: usize) -> Number {
    let constraint = &constraints.args[position];
    let below = |a: Number, b: Number| match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a < b,
        _ => as_f64(a) < as_f64(b),
    };
    let mut clamped = number;
    if let Some(least) = constraint.least.filter(|least| below(number, *least)) {
        clamped = least;
    }
    if let Some(greatest) = constraint.greatest.filter(|greatest| below(*greatest, number)) {
        clamped = greatest;
    }
    match clamped {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        Number::Float(x) if !scalar.is_float() => Number::Integer(x.trunc() as i128),
        Number::Integer(_) if scalar.is_float() => Number::Float(as_f64(clamped)),
        other => other,
    }
}

/// Returns the scalars that an element of a buffer or a texel of an image consists of. The channels of an image are
/// only known from the launch, so four of 32 bits are assumed.
pub fn leaves_of(arg: &Arg) -> Vec<Scalar> {
    match &arg.kind {
        ArgKind::Image(_) => vec![Scalar::F32; 4],
        _ => scalar_layout::leaves(&LaunchBuilder::element(arg)).into_iter().map(|l| l.scalar).collect(),
    }
}

/// Returns whether an image has a format that kassay generates: four channels of 32 bits. Images of the user's may
/// have others.
pub fn is_generated_format(format: &ImageFormat) -> bool {
    format.channel_order == "RGBA"
        && ["FLOAT", "UNSIGNED_INT32", "SIGNED_INT32"].contains(&format.channel_type.as_str())
}

/// Returns the type of a texel of a generated image.
pub fn texel_type(format: &ImageFormat) -> Type {
    let scalar = match format.channel_type.as_str() {
        "UNSIGNED_INT32" => Scalar::U32,
        "SIGNED_INT32" => Scalar::I32,
        _ => Scalar::F32,
    };
    Type::Vector(scalar, 4)
}

/// Applies `with` to the contents of a buffer or image; does nothing for arguments that have none.
pub fn edit_contents(
    launch_builder: &LaunchBuilder<'_>,
    position: usize,
    value: &mut ArgValue,
    with: impl FnOnce(&mut Vec<u8>, &Type),
) {
    let arg = &launch_builder.model.interface.args[position];
    match value {
        ArgValue::Buffer(bytes) if matches!(arg.kind, ArgKind::Buffer { .. }) => {
            with(Arc::make_mut(bytes), &LaunchBuilder::element(arg));
        }
        ArgValue::Image { format, texels, .. } if is_generated_format(format) => {
            with(Arc::make_mut(texels), &texel_type(format))
        }
        _ => {}
    }
}

/// Clamps every number in a buffer or image to the user's bounds.
pub fn clamp_contents(bytes: &mut [u8], ty: &Type, constraints: &UserConstraints, position: usize) {
    let leaves = scalar_layout::leaves(ty);
    for element in bytes.chunks_exact_mut(ty.size().max(1) as usize) {
        for leaf in &leaves {
            let at = &mut element[leaf.offset as usize..];
            let number = match scalar_layout::decode(leaf.scalar, at) {
                scalar_layout::Number::Integer(n) => Number::Integer(n),
                scalar_layout::Number::Float(x) => Number::Float(x),
            };
            let allowed = clamped(number, leaf.scalar, constraints, position);
            if allowed != number {
                put(at, leaf.scalar, allowed);
            }
        }
    }
}

/// Stores a number in the representation of `scalar`.
fn put(at: &mut [u8], scalar: Scalar, number: Number) {
    let mut out = Vec::with_capacity(8);
    match number {
        Number::Integer(n) => fill::push(scalar, n, &mut out),
        Number::Float(x) => fill::push_float(scalar, x, &mut out),
    }
    at[..out.len()].copy_from_slice(&out);
}

/// Applies the edit.
pub fn apply(
    edit: &Edit,
    bytes: &mut [u8],
    ty: &Type,
    launch_builder: &LaunchBuilder<'_>,
    constraints: &UserConstraints,
) {
    let size = ty.size().max(1) as usize;
    let count = bytes.len() / size;
    if count == 0 {
        return;
    }
    let leaves: Vec<Leaf> = scalar_layout::leaves(ty);
    let place = |index: u64| (index % count as u64) as usize * size;
    match edit {
        Edit::Contents { position, fill, seed } => {
            let seed = mix(*seed, *position as u64);
            let filling = Filling {
                ty: ty.clone(),
                fill: *fill,
                seed,
                dictionary: launch_builder.dictionary().into(),
                fixed: None,
                held: Vec::new(),
                placed: Arc::default(),
            };
            bytes[..count * size].copy_from_slice(&filling.bytes(0, (count * size) as u64));
            clamp_contents(bytes, ty, constraints, *position);
        }
        Edit::Among { position, numbers, seed } => {
            let mut word = 0;
            for element in bytes.chunks_exact_mut(size) {
                for leaf in &leaves {
                    word += 1;
                    let drawn = mix(*seed, word) % numbers.len().max(1) as u64;
                    if let Some(number) = numbers.get(drawn as usize) {
                        let number = clamped(*number, leaf.scalar, constraints, *position);
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
        Edit::Sampler { .. } => {}
    }
}
