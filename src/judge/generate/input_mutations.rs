//! Mutates inputs in small steps: one argument, or the NDRange, at a time (PENG algorithm 1, line 6).

use std::collections::BTreeSet;

use kassay_model::interface::{ArgKind, Scalar, Type};
use kassay_prove::program::{Definition, End, Kind, Op, Program, signed};
use kassay_suite::scalar_layout;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::assign::Number;
use super::fill::Fill;
use super::genotype::{Edit, Genotype, clamped, leaves_of};
use super::interface_file::UserConstraints;
use super::launch_builder::LaunchBuilder;
use super::model::{Contents, KernelModel, Role, ScalarModel};

/// Upper limit of lengths; greater ones would only make launches slow.
pub(super) const MAX_LENGTH: i128 = 1 << 12;
/// Edits of one element pick among this many first ones, because launches are small.
const EDITED_ELEMENTS: u64 = 64;

/// The part of an input that a mutation changes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// Index into [`KernelModel::scalars`].
    Scalar(usize),
    /// The buffer or image at this position.
    Contents(usize),
    Range,
    /// Sizes of images.
    Images,
    /// The sampler at this position.
    Sampler(usize),
}

/// Mutates genotypes at random.
pub struct Mutator<'m> {
    pub(super) launch_builder: &'m LaunchBuilder<'m>,
    pub(super) constraints: &'m UserConstraints,
    pub(super) targets: Vec<Vec<Target>>,
    integers: Vec<i128>,
    floats: Vec<f64>,
    /// Whether divisors may become 0.
    pub(super) allows_faults: bool,
    random: ChaCha8Rng,
}

impl<'m> Mutator<'m> {
    /// Creates a mutator whose choices depend on `seed` only.
    pub fn new(launch_builder: &'m LaunchBuilder<'m>, constraints: &'m UserConstraints, seed: u64) -> Mutator<'m> {
        let (integers, floats) = constants(&launch_builder.model.program);
        let integers = launch_builder.dictionary().iter().copied().chain(integers).collect::<BTreeSet<_>>();
        Mutator {
            launch_builder,
            constraints,
            targets: targets(launch_builder, constraints),
            integers: integers.into_iter().collect(),
            floats,
            allows_faults: false,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Returns the number of things that can be changed: arguments, sizes of images, the NDRange.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// Returns the model of the kernel.
    pub(super) fn model(&self) -> &'m KernelModel {
        self.launch_builder.model
    }

    /// Returns the integer constants of the kernel, with the neighbours of those that it compares with.
    pub(super) fn integers(&self) -> &[i128] {
        &self.integers
    }

    /// Returns whether the NDRange may change.
    pub(super) fn may_resize(&self) -> bool {
        self.constraints.range.is_none()
    }

    /// Returns a random number below `n`; 0 if `n` is 0.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.random.next_u64() % n.max(1)
    }

    /// Returns a random element; `None` if there is none.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let i = self.below(from.len() as u64) as usize;
        from.get(i).copied()
    }

    /// Returns a copy of the parent with one argument changed; `None` if none may be.
    pub fn child(&mut self, parent: &Genotype) -> Option<Genotype> {
        let i = self.below(self.targets.len() as u64) as usize;
        let parts = self.targets.get(i)?.clone();
        let target = self.pick(&parts)?;
        let mut child = parent.clone();
        match target {
            Target::Scalar(i) => self.scalar(i, &mut child),
            Target::Contents(position) => self.contents(position, &mut child),
            Target::Range => self.range(&mut child),
            Target::Images => self.images(&mut child),
            Target::Sampler(position) => self.sampler(position, &mut child),
        }
        Some(child)
    }

    fn scalar(&mut self, i: usize, genotype: &mut Genotype) {
        let model = self.model();
        let scalar: &ScalarModel = &model.scalars[i];
        let key = (scalar.arg, scalar.offset);
        let now = genotype.scalars.get(&key).copied();
        let own =
            (!scalar.dictionary.is_empty() && self.below(2) == 0).then(|| self.pick(&scalar.dictionary)).flatten();
        let number = match own {
            Some(n) => Number::Integer(n),
            None => self.number(scalar.scalar, now, genotype),
        };
        let mut number = clamped(number, scalar.scalar, self.constraints, scalar.arg as usize);
        if let Number::Integer(n) = &mut number {
            if matches!(scalar.role, Role::Bound | Role::RowLength | Role::Count) {
                *n = (*n).clamp(-1, MAX_LENGTH);
            }
            if scalar.divides && *n == 0 && !self.allows_faults {
                *n = 1;
            }
        }
        genotype.scalars.insert(key, number);
        // Vectors are often compared as a whole.
        if let ArgKind::Value(Type::Vector(..)) = &model.interface.args[scalar.arg as usize].kind
            && self.below(2) == 0
        {
            for lane in model.scalars.iter().filter(|s| s.arg == scalar.arg) {
                genotype.scalars.insert((lane.arg, lane.offset), number);
            }
        }
    }

    /// Returns a new number: a constant of the code, a boundary value, a size of the launch, a neighbour of the current
    /// value, or a random one.
    fn number(&mut self, scalar: Scalar, now: Option<Number>, genotype: &Genotype) -> Number {
        if scalar.is_float() {
            return Number::Float(self.float(scalar, now));
        }
        let (least, greatest) = scalar_layout::range(scalar).unwrap_or((0, 255));
        let range = &genotype.geometry.range;
        let now = match now {
            Some(Number::Integer(n)) => n,
            _ => 0,
        };
        let small = i128::from(self.below(128));
        let n = match self.below(8) {
            0 | 1 if !self.integers.is_empty() => {
                let all = std::mem::take(&mut self.integers);
                let n = self.pick(&all).unwrap_or(0);
                self.integers = all;
                n
            }
            0 | 2 => {
                let bit = 1i128 << self.below(scalar.size() * 8);
                self.pick(&[0, 1, -1, 2, least, greatest, greatest / 2, bit, bit - 1]).unwrap_or(0)
            }
            3 => {
                let d = self.below(3) as usize;
                let sizes =
                    [range.global[d], genotype.geometry.local[d], range.items(), range.groups(), range.offset[d]];
                let size = self.pick(&sizes).unwrap_or(1);
                i128::from(size) + i128::from(self.below(3)) - 1
            }
            4 => now + i128::from(self.below(9)) - 4,
            5 => {
                let bit = 1 << self.below(scalar.size() * 8);
                self.pick(&[now * 2, now / 2, -now, !now, now ^ bit]).unwrap_or(now)
            }
            6 => i128::from(self.random.next_u64()),
            _ => small,
        };
        // What does not fit wraps, as it would in the kernel.
        let mut out = Vec::new();
        scalar_layout::push_integer(scalar, n, &mut out);
        match scalar_layout::decode(scalar, &out) {
            scalar_layout::Number::Integer(n) => Number::Integer(n),
            scalar_layout::Number::Float(x) => Number::Float(x),
        }
    }

    fn float(&mut self, scalar: Scalar, now: Option<Number>) -> f64 {
        let now = match now {
            Some(Number::Float(x)) => x,
            _ => 0.0,
        };
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let unit = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let step = match scalar {
            Scalar::F16 => 1e-3,
            Scalar::F32 => 2e-7,
            _ => 4e-16,
        };
        match self.below(8) {
            0..=2 if !self.floats.is_empty() => {
                let i = self.below(self.floats.len() as u64) as usize;
                let x = self.floats[i];
                let near = [x, x * (1.0 + step), x * (1.0 - step), x + 1.0, x - 1.0, -x];
                self.pick(&near).unwrap_or(x)
            }
            3 => {
                let special = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-3, 1e3, 6e4, f64::INFINITY, f64::NAN];
                self.pick(&special).unwrap_or(0.0)
            }
            4 => {
                let all = [now * 2.0, now / 2.0, -now, now + 1.0, now - 1.0, now * (1.0 + step)];
                self.pick(&all).unwrap_or(now)
            }
            5 => now + (unit - 0.5) * 4.0,
            6 => (unit - 0.5) * 2000.0,
            _ => unit,
        }
    }

    fn contents(&mut self, position: usize, genotype: &mut Genotype) {
        let scalars = leaves_of(&self.model().interface.args[position]);
        let leaf = self.below(scalars.len() as u64) as usize;
        let Some(scalar) = scalars.get(leaf).copied() else { return };
        let is_data = self.model().args[position].contents == Contents::Data;
        let number = self.number(scalar, None, genotype);
        let number = clamped(number, scalar, self.constraints, position);
        let index = self.below(EDITED_ELEMENTS);
        let edit = match self.below(8) {
            // Contents that determine addresses or loops stay in range: existing elements are copied to other places.
            _ if !is_data => Edit::Copy { position, from: index, to: self.below(EDITED_ELEMENTS) },
            0 => {
                let most = 1 + self.below(300);
                let fills = [
                    Fill::Random,
                    Fill::Rising,
                    Fill::Falling,
                    Fill::Equal,
                    Fill::Zero,
                    Fill::Below(most),
                    Fill::Distinct(most),
                ];
                let fill = self.pick(&fills).unwrap_or(Fill::Random);
                Edit::Contents { position, fill, seed: self.random.next_u64() }
            }
            1 | 2 => {
                // Few distinct numbers, so that long sequences of them occur sooner.
                let count = 1 + self.below(4);
                let numbers = (0..count).map(|_| self.number(scalar, None, genotype)).collect();
                Edit::Among { position, numbers, seed: self.random.next_u64() }
            }
            3 | 4 => Edit::Every { position, leaf, number },
            5 => Edit::Copy { position, from: index, to: self.below(EDITED_ELEMENTS) },
            _ => Edit::Element { position, index: self.pick(&[0, 1, 2, index, index]).unwrap_or(index), leaf, number },
        };
        genotype.add(edit);
    }
}

/// Returns what may be changed, grouped by argument.
fn targets(launch_builder: &LaunchBuilder<'_>, constraints: &UserConstraints) -> Vec<Vec<Target>> {
    let model: &KernelModel = launch_builder.model;
    let mut all = Vec::new();
    for (position, (arg, known)) in model.interface.args.iter().zip(&model.args).enumerate() {
        if !constraints.args[position].fuzz || known.role == Role::Unused {
            continue;
        }
        match &arg.kind {
            ArgKind::Value(_) => {
                let own = |(_, s): &(usize, &ScalarModel)| {
                    s.arg == arg.position && s.role != Role::Unused && !constraints.settle(s.arg, s.offset)
                };
                let parts = model.scalars.iter().enumerate().filter(own).map(|(i, _)| Target::Scalar(i)).collect();
                all.push(parts);
            }
            ArgKind::Buffer { element, .. } if known.role != Role::Output => {
                let is_opaque = matches!(element, Some(Type::Opaque { .. }));
                if !is_opaque {
                    all.push(vec![Target::Contents(position)]);
                }
            }
            ArgKind::Image(_) if known.role != Role::Output => all.push(vec![Target::Contents(position)]),
            ArgKind::Sampler => all.push(vec![Target::Sampler(position)]),
            _ => {}
        }
    }
    all.retain(|parts| !parts.is_empty());
    let has_image = model.interface.args.iter().any(|a| matches!(a.kind, ArgKind::Image(_)));
    if has_image && launch_builder.asks_sizes() {
        all.push(vec![Target::Images]);
    }
    if constraints.range.is_none() {
        all.push(vec![Target::Range]);
    }
    all
}

/// Returns the constants in comparisons, switches, arithmetic and calls: integers, and floats.
fn constants(program: &Program) -> (Vec<i128>, Vec<f64>) {
    let (mut integers, mut floats) = (Vec::new(), Vec::new());
    for block in &program.blocks {
        for instruction in &block.instructions {
            let counts =
                matches!(instruction.op, Op::Binary(_) | Op::Compare(_) | Op::FCompare(_) | Op::Select | Op::Call(..));
            if !counts {
                continue;
            }
            for operand in &instruction.operands {
                let Definition::Constant(lanes) = &program.values[*operand as usize] else { continue };
                for bits in lanes.iter().take(16) {
                    #[expect(clippy::cast_possible_truncation, reason = "constants hold the bits of their width")]
                    match program.shape(*operand).kind {
                        Kind::Int(width) if width > 1 => integers.push(i128::from(signed(*bits, width))),
                        Kind::Float(32) => floats.push(f64::from(f32::from_bits(*bits as u32))),
                        Kind::Float(16) => floats.push(half::f16::from_bits(*bits as u16).into()),
                        Kind::Float(64) => floats.push(f64::from_bits(*bits)),
                        _ => {}
                    }
                }
            }
        }
        if let End::Switch { value, cases, .. } = &block.end
            && let Kind::Int(width) = program.shape(*value).kind
        {
            integers.extend(cases.iter().map(|(bits, _)| i128::from(signed(*bits, width))));
        }
    }
    floats.retain(|x| x.is_finite());
    floats.sort_by(f64::total_cmp);
    floats.dedup();
    (integers, floats)
}
