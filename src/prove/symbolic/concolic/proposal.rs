//! Builds launches from the solver's models.

use std::collections::BTreeMap;
use std::sync::Arc;

use kassay_suite::launch::{ArgValue, Launch, NdRange};

use super::inputs::{self, Inputs};
use super::local_search::Values;
use super::memory::MAX_BUFFER_BYTES;

/// Bytes within an argument's value or buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Position of the argument.
    pub position: usize,
    /// In bytes.
    pub offset: u64,
    /// What is there in the proposed launch.
    pub bytes: Vec<u8>,
}

/// A launch to try, as changes to a launch that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Number of the launch that is changed, as returned by [`super::Engine::parent`].
    pub parent: usize,
    /// The mark that is expected to be covered.
    pub aims_at: u32,
    /// Scalars of arguments passed by value.
    pub scalars: Vec<Element>,
    /// Elements of buffers.
    pub elements: Vec<Element>,
    /// The NDRange, if it is another one.
    pub range: Option<NdRange>,
    /// Buffers and local memory that have to be longer: position and bytes.
    pub sizes: Vec<(usize, u64)>,
    pub(super) node: usize,
}

impl Proposal {
    /// Applies the changes. A buffer grows where an element lies beyond its end or accesses are expected there; new
    /// bytes are 0.
    pub fn apply(&self, parent: &Launch) -> Launch {
        let changes = Changes {
            scalars: keyed(&self.scalars),
            elements: keyed(&self.elements),
            range: self.range.clone(),
            sizes: self.sizes.iter().copied().collect(),
        };
        changes.apply(parent)
    }
}

fn keyed(elements: &[Element]) -> BTreeMap<(usize, u64), Vec<u8>> {
    elements.iter().map(|e| ((e.position, e.offset), e.bytes.clone())).collect()
}

/// Changes to a launch, by position and offset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changes {
    scalars: BTreeMap<(usize, u64), Vec<u8>>,
    elements: BTreeMap<(usize, u64), Vec<u8>>,
    range: Option<NdRange>,
    pub sizes: BTreeMap<usize, u64>,
}

impl Changes {
    /// Returns the changes that give the launch these values. `None` if no launch can have them.
    pub fn of(values: &Values, inputs: &Inputs, launch: &Launch, local: [u64; 3]) -> Option<Changes> {
        let mut changes = Changes::default();
        for (name, bits) in &values.symbols {
            let Some((position, offset)) = inputs::scalar_of(name) else { continue };
            let leaf = inputs.args.get(position)?.leaves.iter().find(|l| l.offset == offset)?;
            let bytes = bits.to_le_bytes()[..leaf.scalar.size().min(8) as usize].to_vec();
            let ArgValue::Value(before) = launch.args.get(position)? else { return None };
            if !is_there(before, offset, &bytes) {
                changes.scalars.insert((position, offset), bytes);
            }
        }
        for (function, cells) in &values.cells {
            let Some((position, granule)) = inputs::buffer_of(function) else { continue };
            let ArgValue::Buffer(before) = launch.args.get(position)? else { return None };
            for (offset, bits) in cells {
                let offset = *offset;
                let bytes = bits.to_le_bytes()[..granule.min(8) as usize].to_vec();
                if offset.checked_add(granule)? > MAX_BUFFER_BYTES.max(before.len() as u64) {
                    return None;
                }
                if !is_there(before, offset, &bytes) {
                    changes.elements.insert((position, offset), bytes);
                    // Beyond the buffer's end, the whole element that contains the cell is added.
                    changes.lengthen(position, inputs.whole(position, offset + granule), before.len() as u64);
                }
            }
        }
        changes.range = range(values, inputs, &launch.range, local)?;
        Some(changes)
    }

    /// Returns the difference between two launches in scalars, contents and the NDRange. `None` if they differ in
    /// anything else.
    pub fn between(before: &Launch, after: &Launch, inputs: &Inputs) -> Option<Changes> {
        let range = (before.range != after.range).then(|| after.range.clone());
        let mut changes = Changes { range, ..Changes::default() };
        for (position, (old, new)) in before.args.iter().zip(&after.args).enumerate() {
            let input = inputs.args.get(position)?;
            match (old, new) {
                (ArgValue::Value(old), ArgValue::Value(new)) if old != new => {
                    for leaf in &input.leaves {
                        let place = leaf.offset as usize..(leaf.offset + leaf.scalar.size()) as usize;
                        if old.get(place.clone()) != new.get(place.clone()) {
                            changes.scalars.insert((position, leaf.offset), new.get(place)?.to_vec());
                        }
                    }
                }
                (ArgValue::Buffer(old), ArgValue::Buffer(new)) if old != new => {
                    let size = input.granule.max(1) as usize;
                    for (i, cell) in new.chunks(size).enumerate() {
                        let at = i * size;
                        let is_new = match old.get(at..at + cell.len()) {
                            Some(known) => known != cell,
                            // Bytes beyond the end are 0 unless set explicitly.
                            None => cell.iter().any(|b| *b != 0),
                        };
                        if is_new {
                            changes.elements.insert((position, at as u64), cell.to_vec());
                        }
                    }
                    changes.lengthen(position, new.len() as u64, old.len() as u64);
                }
                (ArgValue::Local(old), ArgValue::Local(new)) => changes.lengthen(position, *new, *old),
                _ if old == new => {}
                _ => return None,
            }
        }
        Some(changes)
    }

    /// Requires a buffer of `before` bytes to have at least `bytes`.
    pub fn lengthen(&mut self, position: usize, bytes: u64, before: u64) {
        if bytes > before {
            let known = self.sizes.entry(position).or_insert(0);
            *known = (*known).max(bytes);
        }
    }

    /// Returns the launch with each change to one element of a buffer applied to all of its elements, or only to those
    /// that held the same value. `None` if no element changes.
    pub fn everywhere(&self, inputs: &Inputs, before: &Launch, among_equals: bool) -> Option<Launch> {
        let mut launch = self.apply(before);
        let mut has_elements = false;
        for ((position, offset), bytes) in &self.elements {
            let element = inputs.args.get(*position)?.element.max(bytes.len() as u64);
            let Some(ArgValue::Buffer(known)) = before.args.get(*position) else { continue };
            let old = known.get(*offset as usize..*offset as usize + bytes.len());
            let Some(ArgValue::Buffer(buffer)) = launch.args.get_mut(*position) else { continue };
            let within = (offset % element) as usize;
            for whole in Arc::make_mut(buffer).chunks_exact_mut(element as usize) {
                if let Some(to) = whole.get_mut(within..within + bytes.len())
                    && (!among_equals || old.is_some_and(|old| old == to))
                {
                    to.copy_from_slice(bytes);
                    has_elements = true;
                }
            }
        }
        has_elements.then_some(launch)
    }

    /// Returns the changes `before` followed by these.
    pub fn after(&self, before: &Changes) -> Changes {
        let mut all = before.clone();
        all.scalars.extend(self.scalars.clone());
        all.elements.extend(self.elements.clone());
        all.range = self.range.clone().or(all.range);
        for (position, bytes) in &self.sizes {
            let known = all.sizes.entry(*position).or_insert(0);
            *known = (*known).max(*bytes);
        }
        all
    }

    /// Applies the changes. Buffers grow where needed; new bytes are 0.
    pub fn apply(&self, launch: &Launch) -> Launch {
        let mut args = launch.args.clone();
        for ((position, offset), bytes) in &self.scalars {
            if let Some(ArgValue::Value(value)) = args.get_mut(*position)
                && let Some(to) = value.get_mut(*offset as usize..*offset as usize + bytes.len())
            {
                to.copy_from_slice(bytes);
            }
        }
        for ((position, offset), bytes) in &self.elements {
            if let Some(ArgValue::Buffer(buffer)) = args.get_mut(*position) {
                let end = *offset as usize + bytes.len();
                let buffer = Arc::make_mut(buffer);
                buffer.resize(buffer.len().max(end), 0);
                buffer[*offset as usize..end].copy_from_slice(bytes);
            }
        }
        for (position, bytes) in &self.sizes {
            match args.get_mut(*position) {
                Some(ArgValue::Buffer(buffer)) if (buffer.len() as u64) < *bytes => {
                    Arc::make_mut(buffer).resize(*bytes as usize, 0);
                }
                Some(ArgValue::Local(local)) => *local = (*local).max(*bytes),
                _ => {}
            }
        }
        let range = self.range.clone().unwrap_or_else(|| launch.range.clone());
        match range == launch.range {
            true => Launch { range, args, ..launch.clone() },
            false => Launch { views: launch.views.clone(), ..Launch::new(range, args) },
        }
    }

    /// Returns the changes as a proposal to cover the mark `aims_at`.
    pub fn proposal(&self, parent: usize, aims_at: u32, node: usize) -> Proposal {
        let elements = |of: &BTreeMap<(usize, u64), Vec<u8>>| {
            let one = |((position, offset), bytes): (&(usize, u64), &Vec<u8>)| Element {
                position: *position,
                offset: *offset,
                bytes: bytes.clone(),
            };
            of.iter().map(one).collect()
        };
        Proposal {
            parent,
            aims_at,
            scalars: elements(&self.scalars),
            elements: elements(&self.elements),
            range: self.range.clone(),
            sizes: self.sizes.iter().map(|(p, b)| (*p, *b)).collect(),
            node,
        }
    }
}

/// Returns whether `before` has these bytes already; a range beyond its end never matches.
fn is_there(before: &[u8], offset: u64, bytes: &[u8]) -> bool {
    before.get(offset as usize..offset as usize + bytes.len()) == Some(bytes)
}

/// Returns the NDRange for these values if it is a different one. `None` if it is invalid or too large.
fn range(values: &Values, inputs: &Inputs, before: &NdRange, local: [u64; 3]) -> Option<Option<NdRange>> {
    let mut after = before.clone();
    let mut sizes = local;
    let counts = before.with_local(local).group_counts();
    let symbol = |name, d| values.symbols.get(&inputs::range_symbol(name, d)).copied();
    for d in 0..3 {
        sizes[d] = symbol(inputs::LOCAL_SIZE, d).unwrap_or(local[d]);
        let groups = symbol(inputs::GROUPS, d).unwrap_or(counts[d]);
        if (groups, sizes[d]) != (counts[d], local[d]) {
            after.global[d] = groups.checked_mul(sizes[d])?;
        }
        after.offset[d] = symbol(inputs::OFFSET, d).unwrap_or(before.offset[d]);
    }
    if let Some(dims) = symbol(inputs::DIMS, 0) {
        after.dims = u32::try_from(dims).ok().filter(|dims| (1..=3).contains(dims))?;
    }
    let is_outside = |d: usize| after.global[d] != 1 || sizes[d] != 1 || after.offset[d] != 0;
    if (after.dims as usize..3).any(is_outside) {
        return None;
    }
    if after == *before && sizes == local {
        return Some(None);
    }
    after.local = Some(sizes);
    let product = |factors: [u64; 3]| factors.into_iter().try_fold(1u64, u64::checked_mul);
    let (items, group) = inputs.ranges.most(inputs::ALL);
    let is_within = |factors, most| product(factors).is_some_and(|n| (1..=most).contains(&n));
    (is_within(after.global, items) && is_within(sizes, group)).then_some(Some(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_changes_override_earlier_ones_and_buffers_grow() {
        let range = NdRange { dims: 1, global: [4, 1, 1], local: Some([4, 1, 1]), offset: [0; 3] };
        let args = vec![ArgValue::Value(vec![0; 8]), ArgValue::Buffer(Arc::new(vec![0; 4]))];
        let parent = Launch::new(range, args);
        let first = Changes {
            scalars: [((0, 4), vec![1, 2, 3, 4])].into(),
            elements: [((1, 0), vec![9; 4])].into(),
            ..Changes::default()
        };
        let second = Changes {
            scalars: [((0, 4), vec![7, 7, 7, 7])].into(),
            elements: [((1, 8), vec![5; 4])].into(),
            sizes: [(1, 16)].into(),
            ..Changes::default()
        };
        let all = second.after(&first);
        let proposal = all.proposal(0, 3, 1);
        let child = proposal.apply(&parent);
        assert_eq!(child, all.apply(&parent));
        assert_eq!(child, second.apply(&first.apply(&parent)));
        assert_eq!(child.args[0], ArgValue::Value(vec![0, 0, 0, 0, 7, 7, 7, 7]));
        let grown = vec![9, 9, 9, 9, 0, 0, 0, 0, 5, 5, 5, 5, 0, 0, 0, 0];
        assert_eq!(child.args[1], ArgValue::Buffer(Arc::new(grown)));
    }
}
