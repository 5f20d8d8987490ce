//! Changes of what an input is launched with besides its arguments' contents: the NDRange, sizes of images, samplers.

use super::fitting::Sides;
use super::genes::{Edit, Genes};
use super::geometry;
use super::mutate::Mutator;
use crate::program::{Kind, Op};
use crate::suite::launch::{Addressing, Filter};

impl Mutator<'_> {
    /// Other sizes: one group more or fewer, another work-group where the kernel leaves it open, or an offset.
    pub(super) fn range(&mut self, genes: &mut Genes) {
        let model = self.model();
        let dims = genes.geometry.range.dims;
        let d = self.below(dims.into()) as usize;
        let rules = &model.groups;
        let mut local = genes.geometry.local;
        let before = genes.geometry.range.group_counts();
        let mut groups = before;
        let offset = genes.geometry.range.offset;
        match self.below(5) {
            4 => return self.offset(d, genes),
            0 => groups[d] = before[d] + 1,
            1 => groups[d] = (before[d] - 1).max(1),
            _ if rules.required.is_some() || rules.exactly[d].is_some() => groups[d] = 1 + self.below(6),
            2 => {
                let sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];
                local[d] = self.pick(&sizes).unwrap_or(8);
            }
            _ if rules.power_of_two => local[d] = (local[d] / 2).max(1),
            _ => local[d] = (local[d] + self.below(3)).saturating_sub(1).max(1),
        }
        local[d] = local[d].min(rules.at_most[d].unwrap_or(256));
        while local.iter().product::<u64>() > 256 && rules.required.is_none() {
            let Some(largest) = (0..3).max_by_key(|d| local[*d]) else { break };
            local[largest] /= 2;
        }
        let most = self.wishes.max_items;
        while (0..3).map(|d| groups[d] * local[d]).product::<u64>() > most && groups != [1; 3] {
            let Some(largest) = (0..3).max_by_key(|d| groups[*d]) else { break };
            groups[largest] = (groups[largest] / 2).max(1);
        }
        if (0..3).map(|d| groups[d] * local[d]).product::<u64>() <= most {
            genes.geometry = geometry::of_groups(model, local, groups, "fuzzed");
            genes.geometry.range.offset = offset;
            genes.geometry.range.dims = dims;
        }
    }

    /// Ids that begin elsewhere.
    fn offset(&mut self, d: usize, genes: &mut Genes) {
        let local = genes.geometry.local[d];
        let global = genes.geometry.range.global[d];
        let offset = self.pick(&[0, 1, 2, 3, local, global, 16]).unwrap_or(0);
        genes.geometry.range.offset[d] = offset;
    }

    /// Images of other sizes.
    pub(super) fn images(&mut self, genes: &mut Genes) {
        let mut sides = match genes.images {
            Sides::Given(sides) => sides,
            _ => genes.geometry.range.global,
        };
        let d = self.below(3) as usize;
        let global = genes.geometry.range.global[d];
        sides[d] = self.pick(&[1, 2, 3, 5, 8, global, global + 1, global.div_ceil(2), global * 2]).unwrap_or(global);
        genes.images = if self.below(6) == 0 { Sides::Launch } else { Sides::Given(sides) };
    }

    /// Another sampler, of those that all reads through it are defined for (OpenCL C 3.0, section 6.15.15.2): with integer coordinates
    /// neither filters nor normalises, and does not repeat; only floats are filtered.
    pub(super) fn sampler(&mut self, position: usize, genes: &mut Genes) {
        let program = &self.model().program;
        let (mut floats, mut filters) = (true, true);
        for (_, instruction) in program.instructions() {
            let Op::Call(_, base) = &instruction.op else { continue };
            if !base.starts_with("read_image") || instruction.operands.len() < 3 {
                continue;
            }
            filters &= base.starts_with("read_imagef") || base.starts_with("read_imageh");
            floats &= instruction.operands[2..].iter().all(|o| matches!(program.shape(*o).kind, Kind::Float(_)));
        }
        let clamping = [Addressing::ClampToEdge, Addressing::Clamp];
        let all = [Addressing::ClampToEdge, Addressing::Clamp, Addressing::Repeat, Addressing::MirroredRepeat];
        let addressing = if floats { self.pick(&all) } else { self.pick(&clamping) };
        let addressing = addressing.unwrap_or(Addressing::ClampToEdge);
        let repeats = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
        let normalized = repeats || (floats && self.below(2) == 0);
        let filter = if floats && filters && self.below(2) == 0 { Filter::Linear } else { Filter::Nearest };
        genes.add(Edit::Sampler { position, addressing, filter, normalized });
    }
}
