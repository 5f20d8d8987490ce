//! Steers inputs towards results that comparisons never had. Where one of the operands occurs in the input, it is
//! replaced by the other (input-to-state correspondence; REDQUEEN, NDSS 2019, section III); otherwise some number moves
//! by the branch distance.

use kassay_model::interface::Scalar;
use kassay_model::native::abi::comparison::{FLOAT, WIDTH};
use kassay_suite::launch::ArgValue;
use kassay_suite::scalar_layout;

use super::assign::Number;
use super::branch_distance::Champion;
use super::genotype::{Edit, Genotype, clamped, leaves_of};
use super::input_mutations::{Mutator, Target};
use super::interface_file::as_f64;
use super::model::{Contents, Role};

/// Occurrences of an operand considered per argument.
const MAX_LOCATIONS: usize = 64;
/// Bytes of a buffer that are searched for them.
const SEARCHED_BYTES: usize = 1 << 14;

/// Location of a number in an input.
#[derive(Debug, Clone, Copy)]
enum InputLocation {
    /// Index into [`super::model::KernelModel::scalars`].
    Scalar(usize),
    Element {
        position: usize,
        index: u64,
        leaf: usize,
        scalar: Scalar,
    },
}

impl Mutator<'_> {
    /// Returns the champion's input with one number changed; `tries`: how often that was done before.
    pub fn steered(&mut self, champion: &Champion, tries: u32) -> Genotype {
        let mut genotype = champion.genotype.clone();
        let (a, b) = champion.operands;
        let (from, to) = if tries.is_multiple_of(2) { (a, b) } else { (b, a) };
        // There are few sizes, and ids often only select elements.
        if self.may_resize()
            && tries % 4 < 2
            && let (Number::Integer(from), Number::Integer(to)) =
                (decode_operand(champion.kind, from), decode_operand(champion.kind, to))
            && self.steer_range(from, to, &mut genotype)
        {
            return genotype;
        }
        let mut locations = self.locations(champion, from);
        let mut to = to;
        if locations.is_empty() {
            locations = self.locations(champion, to);
            to = from;
        }
        let location = match self.pick_location(&locations) {
            // Now and then a value computed from the operand would have to change, too.
            Some(location) if tries < 4 || self.below(4) > 0 => location,
            _ => {
                let Some(location) = self.any_location() else { return genotype };
                if self.below(4) > 0 {
                    self.shift(location, champion.distance, &mut genotype);
                    return genotype;
                }
                location
            }
        };
        // First exactly what was asked for, then its neighbours.
        let near = [0, 0, 1, 1, -1, -1].get(tries as usize).copied();
        let near = near.or_else(|| self.pick(&[0, 0, 1, -1, 2, -2])).unwrap_or(0);
        let scalar = self.scalar_of(location);
        let number = offset_by(decode_operand(champion.kind, to), near, scalar);
        self.put(location, number, &mut genotype);
        genotype
    }

    /// Picks an argument, and one of its locations, often the first.
    fn pick_location(&mut self, locations: &[Vec<InputLocation>]) -> Option<InputLocation> {
        let i = self.below(locations.len() as u64) as usize;
        let own = locations.get(i)?;
        if self.below(3) == 0 { own.first().copied() } else { self.pick(own) }
    }

    /// Returns the locations of a number in the champion's input, by argument.
    fn locations(&self, champion: &Champion, bits: u64) -> Vec<Vec<InputLocation>> {
        let mut all = Vec::new();
        for target in self.targets.iter().flatten() {
            let mut found = Vec::new();
            match *target {
                Target::Scalar(i) => {
                    let scalar = &self.launch_builder.model.scalars[i];
                    let now = champion.genotype.scalars.get(&(scalar.arg, scalar.offset));
                    if now.is_some_and(|now| equals_operand(*now, champion.kind, bits)) {
                        found.push(InputLocation::Scalar(i));
                    }
                }
                Target::Contents(position) if self.is_data(position) => {
                    let value = &champion.launch.args[position];
                    let Some((bytes, ty)) = contents(self, position, value) else { continue };
                    let leaves = scalar_layout::leaves(&ty);
                    let elements = bytes[..bytes.len().min(SEARCHED_BYTES)].chunks_exact(ty.size().max(1) as usize);
                    for (index, element) in (0u64..).zip(elements) {
                        for (leaf, at) in leaves.iter().enumerate() {
                            let number = decode(at.scalar, &element[at.offset as usize..]);
                            if found.len() < MAX_LOCATIONS && equals_operand(number, champion.kind, bits) {
                                found.push(InputLocation::Element { position, index, leaf, scalar: at.scalar });
                            }
                        }
                    }
                }
                _ => {}
            }
            if !found.is_empty() {
                all.push(found);
            }
        }
        all
    }

    fn is_data(&self, position: usize) -> bool {
        self.launch_builder.model.args[position].contents == Contents::Data
    }

    /// Picks any number of the input.
    fn any_location(&mut self) -> Option<InputLocation> {
        let targets: Vec<Target> = self.targets.iter().flatten().copied().collect();
        let numbers: Vec<Target> = targets
            .into_iter()
            .filter(|t| match t {
                Target::Scalar(_) => true,
                Target::Contents(position) => self.is_data(*position),
                _ => false,
            })
            .collect();
        match self.pick(&numbers)? {
            Target::Scalar(i) => Some(InputLocation::Scalar(i)),
            Target::Contents(position) => {
                let scalars = leaves_of(&self.launch_builder.model.interface.args[position]);
                let leaf = self.below(scalars.len() as u64) as usize;
                let index = self.below(16);
                let index = self.pick(&[0, 0, 1, index]).unwrap_or(0);
                Some(InputLocation::Element { position, index, leaf, scalar: *scalars.get(leaf)? })
            }
            _ => None,
        }
    }

    fn scalar_of(&self, location: InputLocation) -> Scalar {
        match location {
            InputLocation::Scalar(i) => self.launch_builder.model.scalars[i].scalar,
            InputLocation::Element { scalar, .. } => scalar,
        }
    }

    /// Moves a number by the distance or a fraction of it, up or down.
    fn shift(&mut self, location: InputLocation, distance: u64, genotype: &mut Genotype) {
        let part = self.pick(&[1, 1, 2, 3, 4, 5, 8, 10, 16, 100]).unwrap_or(1);
        let step = i128::from((distance / part).max(1));
        let step = if self.below(2) == 0 { step } else { -step };
        match location {
            InputLocation::Scalar(i) => {
                let scalar = &self.launch_builder.model.scalars[i];
                let now = genotype.scalars.get(&(scalar.arg, scalar.offset)).copied().unwrap_or(Number::Integer(0));
                let number = offset_by(now, step, scalar.scalar);
                self.put(location, number, genotype);
            }
            // The current value is not known where edits overlap, so the step starts from 0.
            InputLocation::Element { scalar, .. } => {
                let number = offset_by(Number::Integer(0), step, scalar);
                self.put(location, number, genotype);
            }
        }
    }

    fn put(&mut self, location: InputLocation, number: Number, genotype: &mut Genotype) {
        match location {
            InputLocation::Scalar(i) => {
                let scalar = &self.launch_builder.model.scalars[i];
                let mut number = clamped(number, scalar.scalar, self.constraints, scalar.arg as usize);
                if let Number::Integer(n) = &mut number {
                    if matches!(scalar.role, Role::Bound | Role::RowLength | Role::Count) {
                        *n = (*n).clamp(-1, super::input_mutations::MAX_LENGTH);
                    }
                    if scalar.divides && *n == 0 && !self.allows_faults {
                        *n = 1;
                    }
                }
                genotype.scalars.insert((scalar.arg, scalar.offset), number);
            }
            InputLocation::Element { position, index, leaf, scalar } => {
                let number = clamped(number, scalar, self.constraints, position);
                let every = self.below(8) == 0;
                let edit = match every {
                    true => Edit::Every { position, leaf, number },
                    false => Edit::Element { position, index, leaf, number },
                };
                genotype.add(edit);
            }
        }
    }
}

/// Returns the bytes of a buffer or image, and the type of its elements.
fn contents<'v>(
    mutator: &Mutator<'_>,
    position: usize,
    value: &'v ArgValue,
) -> Option<(&'v [u8], kassay_model::interface::Type)> {
    match value {
        ArgValue::Buffer(bytes) => Some((
            bytes,
            super::launch_builder::LaunchBuilder::element(&mutator.launch_builder.model.interface.args[position]),
        )),
        ArgValue::Image { format, texels, .. } if super::genotype::is_generated_format(format) => {
            Some((texels, super::genotype::texel_type(format)))
        }
        _ => None,
    }
}

fn decode(scalar: Scalar, bytes: &[u8]) -> Number {
    match scalar_layout::decode(scalar, bytes) {
        scalar_layout::Number::Integer(n) => Number::Integer(n),
        scalar_layout::Number::Float(x) => Number::Float(x),
    }
}

/// Decodes an operand; integers are taken as signed.
fn decode_operand(kind: u32, bits: u64) -> Number {
    let width = kind >> WIDTH;
    #[expect(clippy::cast_possible_truncation, reason = "bits beyond the width are zero")]
    match (kind & FLOAT != 0, width) {
        (true, 16) => Number::Float(half::f16::from_bits(bits as u16).into()),
        (true, 32) => Number::Float(f32::from_bits(bits as u32).into()),
        (true, _) => Number::Float(f64::from_bits(bits)),
        (false, _) => {
            let unused = 64 - width.clamp(1, 64);
            Number::Integer(i128::from((bits << unused).cast_signed() >> unused))
        }
    }
}

/// Returns whether a number of the input equals an operand; integers are compared modulo the operand's width.
fn equals_operand(number: Number, kind: u32, bits: u64) -> bool {
    match (number, decode_operand(kind, bits)) {
        (Number::Integer(n), Number::Integer(_)) => {
            let unused = 64 - (kind >> WIDTH).clamp(1, 64);
            #[expect(clippy::cast_possible_truncation, reason = "modulo the width")]
            let low = ((n as u64) << unused) >> unused;
            low == bits
        }
        (number, operand) => as_f64(number) == as_f64(operand),
    }
}

/// Returns the number `steps` away, as the scalar can represent it. Integers wrap; a step of a float is about a unit in
/// the last place, with a greater minimum for more than two steps.
fn offset_by(number: Number, steps: i128, scalar: Scalar) -> Number {
    if scalar.is_float() {
        let x = as_f64(number);
        let ulp = match scalar {
            Scalar::F16 => 1e-3,
            Scalar::F32 => 1.2e-7,
            _ => 2.3e-16,
        };
        #[expect(clippy::cast_precision_loss, reason = "a distance need not be exact")]
        let step = steps as f64;
        return Number::Float(match steps.abs() {
            0 => x,
            1 | 2 => x + step * ulp * x.abs().max(ulp),
            _ => x + step * ulp * x.abs().max(1e-3),
        });
    }
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let whole = match number {
        Number::Integer(n) => n,
        Number::Float(x) => x as i128,
    };
    let mut out = Vec::with_capacity(8);
    scalar_layout::push_integer(scalar, whole.wrapping_add(steps), &mut out);
    decode(scalar, &out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_found_in_numbers_of_other_widths() {
        let int = 32 << WIDTH;
        let minus = u64::from((-5i32).cast_unsigned());
        assert!(equals_operand(Number::Integer(-5), int, minus));
        assert!(equals_operand(Number::Integer(i128::from(u32::MAX - 4)), int, minus));
        assert!(!equals_operand(Number::Integer(5), int, minus));
        assert!(equals_operand(Number::Integer(3), int | FLOAT, 3.0f32.to_bits().into()));
        assert_eq!(decode_operand(int, minus), Number::Integer(-5));
        assert_eq!(offset_by(Number::Integer(-5), 0, Scalar::U8), Number::Integer(251));
        assert_eq!(offset_by(Number::Float(7.9), 1, Scalar::I32), Number::Integer(8));
    }
}
