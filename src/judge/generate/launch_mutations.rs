//! Mutates what an input is launched with besides its arguments' contents: the NDRange, sizes of images, samplers.

use kassay_ir::kernel::builtins::{Builtin, Family};
use kassay_prove::program::{Kind, Op};
use kassay_suite::launch::{Addressing, Filter};

use super::genotype::{Edit, Genotype};
use super::geometry;
use super::input_mutations::Mutator;
use super::launch_builder::ImageSides;

/// Largest work-group, per dimension and in total, unless a comparison asks for a larger one.
const LARGEST: u64 = 256;
/// Largest launch and work-group if one does.
const STEERED_ITEMS: u64 = 1 << 14;
const STEERED_GROUP: u64 = 1024;

/// A work-group size and numbers of work-groups.
#[derive(Clone, Copy)]
struct Sizes {
    local: [u64; 3],
    groups: [u64; 3],
}

impl Sizes {
    fn of(genotype: &Genotype) -> Sizes {
        Sizes { local: genotype.geometry.local, groups: genotype.geometry.range.group_counts() }
    }
}

/// A component of the NDRange.
#[derive(Clone, Copy)]
enum RangeComponent {
    Groups,
    Local,
    Global,
    Offset,
}

impl Mutator<'_> {
    /// Changes the NDRange: one group more or fewer, another work-group size where the kernel leaves it open, sizes
    /// that the code names, or an offset.
    pub(super) fn range(&mut self, genotype: &mut Genotype) {
        let dims = genotype.geometry.range.dims;
        let d = self.below(dims.into()) as usize;
        let rules = &self.model().groups;
        let is_fixed = rules.required.is_some() || rules.exactly[d].is_some();
        let mut sizes = Sizes::of(genotype);
        let before = sizes.groups[d];
        match self.below(7) {
            4 => return self.offset(d, genotype),
            0 => sizes.groups[d] = before + 1,
            1 => sizes.groups[d] = (before - 1).max(1),
            5 => sizes.groups[d] = self.named_size(),
            6 if !is_fixed => sizes.local[d] = self.named_size(),
            _ if is_fixed => sizes.groups[d] = 1 + self.below(6),
            2 => {
                let usual = [1, 2, 4, 8, 16, 32, 64, 128, 256];
                sizes.local[d] = self.pick(&usual).unwrap_or(8);
            }
            _ if rules.power_of_two => sizes.local[d] = (sizes.local[d] / 2).max(1),
            _ => sizes.local[d] = (sizes.local[d] + self.below(3)).saturating_sub(1).max(1),
        }
        self.resize(sizes, (self.constraints.usual_items, LARGEST), genotype);
    }

    /// Returns a size that the code names, or a slightly larger one that makes an id as large as that.
    fn named_size(&mut self) -> u64 {
        let most = i128::from(self.constraints.usual_items);
        let named: Vec<u64> =
            self.integers().iter().filter(|n| (1..=most).contains(*n)).filter_map(|n| u64::try_from(*n).ok()).collect();
        let next = self.below(3);
        self.pick(&named).map_or(1 + next, |n| n + next).max(1)
    }

    /// Sets the sizes of an input, as far as the kernel's rules and the limits (of launches, of groups) allow. Returns
    /// whether the NDRange has changed.
    fn resize(&self, sizes: Sizes, (most, most_of_group): (u64, u64), genotype: &mut Genotype) -> bool {
        let Sizes { mut local, mut groups } = sizes;
        let model = self.model();
        let rules = &model.groups;
        for d in 0..3 {
            if rules.one_group[d] {
                groups[d] = 1;
            }
            local[d] = match rules.required.map(|r| r[d]).or(rules.exactly[d]) {
                Some(fixed) => fixed,
                None => local[d].clamp(1, rules.at_most[d].unwrap_or(most_of_group).min(most_of_group)),
            };
        }
        if rules.required.is_none() {
            local[0] = rules.of_whole_sub_groups(local[0]);
        }
        while local.iter().product::<u64>() > most_of_group && rules.required.is_none() {
            // Dimension 0 keeps whole sub-groups as long as another one can shrink.
            let may_shrink = |d: &usize| *d > 0 || rules.sub_group.is_none() || local[1..] == [1; 2];
            let Some(largest) = (0..3).filter(may_shrink).max_by_key(|d| local[*d]) else { break };
            local[largest] /= 2;
        }
        let items = |groups: [u64; 3]| {
            let sizes = groups.into_iter().chain(local);
            sizes.into_iter().try_fold(1u64, u64::checked_mul).unwrap_or(u64::MAX)
        };
        while items(groups) > most && groups != [1; 3] {
            let Some(largest) = (0..3).max_by_key(|d| groups[*d]) else { break };
            groups[largest] = (groups[largest] / 2).max(1);
        }
        if items(groups) > most {
            return false;
        }
        let before = genotype.geometry.range.clone();
        genotype.geometry = geometry::of_groups(model, local, groups, "fuzzed");
        genotype.geometry.range.offset = before.offset;
        genotype.geometry.range.dims = before.dims;
        genotype.geometry.range != before
    }

    /// Changes a size or id of the NDRange that equals `from` into `to`, or a neighbour of it. Returns `false` if there
    /// is none, or it may not change.
    pub(super) fn steer_range(&mut self, from: i128, to: i128, genotype: &mut Genotype) -> bool {
        let (Ok(from), Ok(to)) = (u64::try_from(from), u64::try_from(to)) else { return false };
        let range = &genotype.geometry.range;
        let sizes = Sizes::of(genotype);
        let mut found = Vec::new();
        for d in 0..range.dims as usize {
            let (groups, local, global) = (sizes.groups[d], sizes.local[d], range.global[d]);
            // The greatest id is one less than the size.
            let places =
                [(RangeComponent::Groups, groups), (RangeComponent::Local, local), (RangeComponent::Global, global)];
            for (component, size) in places {
                found.extend((size == from).then_some((component, d, to)));
                found.extend((size == from + 1).then_some((component, d, to.saturating_add(1))));
            }
            let last = range.offset[d] + global - 1;
            if from == range.offset[d] || from == last && range.offset[d] > 0 {
                found.push((RangeComponent::Offset, d, to));
            }
        }
        let Some((component, d, to)) = self.pick(&found) else { return false };
        let beside = self.below(3);
        let to = match beside {
            1 => to.saturating_add(1),
            2 => to.saturating_sub(1),
            _ => to,
        };
        let most = (self.constraints.max_items.min(STEERED_ITEMS.max(self.constraints.usual_items)), STEERED_GROUP);
        let mut sizes = sizes;
        match component {
            RangeComponent::Offset => {
                genotype.geometry.range.offset[d] = to.min(1 << 62);
                return true;
            }
            _ if to == 0 || to > most.0 => return false,
            RangeComponent::Groups => sizes.groups[d] = to,
            RangeComponent::Local => sizes.local[d] = to,
            RangeComponent::Global => {
                let rules = &self.model().groups;
                let is_fixed = rules.required.is_some() || rules.exactly[d].is_some();
                let divisor = (1..=sizes.local[d].max(8)).rev().find(|n| to.is_multiple_of(*n)).unwrap_or(1);
                if !is_fixed {
                    sizes.local[d] = divisor;
                }
                sizes.groups[d] = to.div_ceil(sizes.local[d]);
            }
        }
        self.resize(sizes, most, genotype)
    }

    /// Changes the global offset.
    fn offset(&mut self, d: usize, genotype: &mut Genotype) {
        let local = genotype.geometry.local[d];
        let global = genotype.geometry.range.global[d];
        let offset = self.pick(&[0, 1, 2, 3, local, global, 16]).unwrap_or(0);
        genotype.geometry.range.offset[d] = offset;
    }

    /// Changes the sizes of images.
    pub(super) fn images(&mut self, genotype: &mut Genotype) {
        let mut sides = match genotype.images {
            ImageSides::Given(sides) => sides,
            _ => genotype.geometry.range.global,
        };
        let d = self.below(3) as usize;
        let global = genotype.geometry.range.global[d];
        sides[d] = self.pick(&[1, 2, 3, 5, 8, global, global + 1, global.div_ceil(2), global * 2]).unwrap_or(global);
        genotype.images = if self.below(6) == 0 { ImageSides::Launch } else { ImageSides::Given(sides) };
    }

    /// Picks another sampler, among those for which all reads through it are defined (OpenCL C 3.0, section 6.15.15.2):
    /// with integer coordinates, they neither filter nor normalise nor repeat; only floats are filtered.
    pub(super) fn sampler(&mut self, position: usize, genotype: &mut Genotype) {
        let program = &self.model().program;
        let (mut floats, mut filters) = (true, true);
        for (_, instruction) in program.instructions() {
            let Op::Call(_, base) = &instruction.op else { continue };
            let read = Builtin::of(base).filter(|builtin| builtin.family() == Family::ImageRead);
            let Some(texel) = read.and_then(Builtin::texel).filter(|_| instruction.operands.len() >= 3) else {
                continue;
            };
            filters &= matches!(texel, "f" | "h");
            floats &= instruction.operands[2..].iter().all(|o| matches!(program.shape(*o).kind, Kind::Float(_)));
        }
        let clamping = [Addressing::ClampToEdge, Addressing::Clamp];
        let all = [Addressing::ClampToEdge, Addressing::Clamp, Addressing::Repeat, Addressing::MirroredRepeat];
        let addressing = if floats { self.pick(&all) } else { self.pick(&clamping) };
        let addressing = addressing.unwrap_or(Addressing::ClampToEdge);
        let repeats = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
        let normalized = repeats || (floats && self.below(2) == 0);
        let filter = if floats && filters && self.below(2) == 0 { Filter::Linear } else { Filter::Nearest };
        genotype.add(Edit::Sampler { position, addressing, filter, normalized });
    }
}
