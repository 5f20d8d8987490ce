//! Collects the faults that checks detect, one entry per kind and site.

use rustc_hash::FxHashMap;

use super::observation::{FaultKind, SimulatorFault};

/// Names the work-item that a fault belongs to.
#[derive(Debug, Clone, Copy)]
pub struct ItemIds {
    pub global_id: [u64; 3],
    pub group_id: [u64; 3],
}

/// A position in an object.
#[derive(Debug, Clone, Copy)]
enum FaultPosition {
    /// An offset in bytes.
    At(i64),
    /// That of an access, and its length.
    Access(i64, u64),
    Texel([i64; 3]),
    /// Index and length of an inner array.
    Inner((i64, u64)),
}

/// The faults of a run.
#[derive(Debug, Default)]
pub struct FaultLog {
    list: Vec<SimulatorFault>,
    index: FxHashMap<(FaultKind, u32), usize>,
}

impl FaultLog {
    /// Removes all faults.
    pub fn clear(&mut self) {
        self.list.clear();
        self.index.clear();
    }

    /// Records a fault of `item`; the first of its kind and site is kept as the example.
    pub fn note(&mut self, item: ItemIds, kind: FaultKind, site: u32, object: Option<u32>, offset: i64) {
        self.add(item, kind, site, object, FaultPosition::At(offset));
    }

    /// The same, of an access of `bytes` bytes.
    pub fn note_access(
        &mut self,
        item: ItemIds,
        (kind, site): (FaultKind, u32),
        object: Option<u32>,
        (offset, bytes): (i64, u64),
    ) {
        self.add(item, kind, site, object, FaultPosition::Access(offset, bytes));
    }

    /// Records that `item` accessed a texel outside an image.
    pub fn note_texel(&mut self, item: ItemIds, site: u32, object: u32, texel: [i64; 3]) {
        self.add(item, FaultKind::OutOfBounds, site, Some(object), FaultPosition::Texel(texel));
    }

    /// Records that `item` used this index in an inner array, or a row; `inner`: the index, and the array's length.
    pub fn note_inner(
        &mut self,
        item: ItemIds,
        (kind, site): (FaultKind, u32),
        object: Option<u32>,
        inner: (i64, u64),
    ) {
        self.add(item, kind, site, object, FaultPosition::Inner(inner));
    }

    fn add(&mut self, item: ItemIds, kind: FaultKind, site: u32, object: Option<u32>, place: FaultPosition) {
        if let Some(known) = self.index.get(&(kind, site)) {
            let known = &mut self.list[*known];
            known.count += 1;
            known.span = match (known.span, place) {
                (Some((low, high)), FaultPosition::At(offset) | FaultPosition::Access(offset, _))
                    if known.object == object =>
                {
                    Some((low.min(offset), high.max(offset)))
                }
                _ => None,
            };
            return;
        }
        self.index.insert((kind, site), self.list.len());
        let mut fault = SimulatorFault {
            kind,
            site,
            global_id: item.global_id,
            group_id: item.group_id,
            object,
            offset: 0,
            bytes: 0,
            texel: None,
            inner: None,
            span: None,
            count: 1,
        };
        match place {
            FaultPosition::At(offset) => (fault.offset, fault.span) = (offset, Some((offset, offset))),
            FaultPosition::Access(offset, bytes) => {
                (fault.offset, fault.span, fault.bytes) = (offset, Some((offset, offset)), bytes);
            }
            FaultPosition::Texel(texel) => fault.texel = Some(texel),
            FaultPosition::Inner(inner) => fault.inner = Some(inner),
        }
        self.list.push(fault);
    }

    /// Adds the faults of another thread.
    pub fn absorb(&mut self, other: &mut FaultLog) {
        for fault in other.list.drain(..) {
            match self.index.get(&(fault.kind, fault.site)) {
                Some(known) => {
                    let known = &mut self.list[*known];
                    let count = known.count + fault.count;
                    let span = match (known.span, fault.span) {
                        (Some(a), Some(b)) if known.object == fault.object => Some((a.0.min(b.0), a.1.max(b.1))),
                        _ => None,
                    };
                    let key = |f: &SimulatorFault| [2, 1, 0].map(|d| f.global_id[d]);
                    if key(&fault) < key(known) {
                        *known = fault;
                    }
                    known.count = count;
                    known.span = span;
                }
                None => {
                    self.index.insert((fault.kind, fault.site), self.list.len());
                    self.list.push(fault);
                }
            }
        }
        other.index.clear();
    }

    /// Returns the faults in the order in which they were first recorded, and removes them.
    pub fn take(&mut self) -> Vec<SimulatorFault> {
        self.index.clear();
        std::mem::take(&mut self.list)
    }
}
