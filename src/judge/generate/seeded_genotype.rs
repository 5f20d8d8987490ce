//! Genotypes of seeds, and launches made of them: a seed's arguments with other sizes and numbers.

use kassay_model::interface::Scalar;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout;

use super::assign::{self, Number};
use super::fill::{Fill, mix};
use super::genotype::Genotype;
use super::geometry::Geometry;
use super::launch_builder::ImageSides;
use super::model::KernelModel;
use super::seeds::Seeds;

/// What is assumed in making a launch of a seed.
pub(super) const PRECONDITION: &str = "sizes and values belong together as in the launches of the seeds";

/// Returns the genotype of a seed; `None` for launches that cannot be made of genotypes because memory is shared,
/// only in part an argument's, or accessed beyond its ends.
pub(super) fn of_seed(seeds: &Seeds, at: usize, model: &KernelModel) -> Option<Genotype> {
    let launch = &seeds.all.get(at)?.launch;
    if launch.sharing().next().is_some() || !launch.has_whole_buffers() || launch.allows_faults {
        return None;
    }
    let number = |arg: u32, offset: u64, scalar| match launch.args.get(arg as usize) {
        Some(ArgValue::Value(bytes)) => bytes.get(offset as usize..).map(|at| decoded(scalar, at)),
        _ => None,
    };
    let scalars = model.scalars.iter();
    let scalars = scalars.filter_map(|s| Some(((s.arg, s.offset), number(s.arg, s.offset, s.scalar)?))).collect();
    let range = launch.range.clone();
    let local = range.decided().local;
    Some(Genotype {
        geometry: Geometry { range, local, name: "of a seed".into() },
        scalars,
        fill: Fill::Random,
        seed: mix(0, at as u64),
        images: ImageSides::Launch,
        base: Some(at),
        edits: Vec::new(),
    })
}

/// Returns the launch of a seed with the sizes and numbers of a genotype, in natural order. `None` if there is no such
/// seed.
pub(super) fn based_on(seeds: &Seeds, at: usize, genotype: &Genotype, model: &KernelModel) -> Option<Launch> {
    let seed = &seeds.all.get(at)?.launch;
    let mut range = genotype.geometry.range.clone();
    range.local = Some(genotype.geometry.local);
    let mut launch = Launch::new(range, seed.args.clone());
    for scalar in &model.scalars {
        let Some(ArgValue::Value(bytes)) = launch.args.get_mut(scalar.arg as usize) else { continue };
        let Some(number) = genotype.scalars.get(&(scalar.arg, scalar.offset)) else { continue };
        let Some(at) = bytes.get_mut(scalar.offset as usize..) else { continue };
        // Bits that a number does not show, such as those of NaN, stay.
        if decoded(scalar.scalar, at) != *number {
            let mut out = Vec::with_capacity(8);
            assign::put(scalar.scalar, *number, &mut out);
            at.iter_mut().zip(&out).for_each(|(to, from)| *to = *from);
        }
    }
    Some(launch)
}
/// Returns the number at the start of `bytes`.
pub(super) fn decoded(scalar: Scalar, bytes: &[u8]) -> Number {
    match scalar_layout::decode(scalar, bytes) {
        scalar_layout::Number::Integer(n) => Number::Integer(n),
        scalar_layout::Number::Float(x) => Number::Float(x),
    }
}
