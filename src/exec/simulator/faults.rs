//! What checks stopped, one entry per kind and site.

use std::collections::HashMap;

use super::observation::{FaultKind, SimulatorFault};
use super::slot::Item;

#[derive(Debug, Default)]
pub struct Faults {
    list: Vec<SimulatorFault>,
    index: HashMap<(FaultKind, u32), usize>,
}

impl Faults {
    pub fn clear(&mut self) {
        self.list.clear();
        self.index.clear();
    }

    /// Notes that `item` did this; the first one stays as the example.
    ///
    /// # Safety
    /// `item` is one of a live slot that has a group.
    pub unsafe fn note(&mut self, item: *const Item, kind: FaultKind, site: u32, object: Option<u32>, offset: i64) {
        if let Some(known) = self.index.get(&(kind, site)) {
            self.list[*known].count += 1;
            return;
        }
        // SAFETY: as promised.
        let (global_id, group_id) = unsafe { ((*item).context.global_id, (*(*item).slot).context.group_id) };
        self.index.insert((kind, site), self.list.len());
        self.list.push(SimulatorFault { kind, site, global_id, group_id, object, offset, count: 1 });
    }

    /// Adds what another lane saw.
    pub fn absorb(&mut self, other: &mut Faults) {
        for fault in other.list.drain(..) {
            match self.index.get(&(fault.kind, fault.site)) {
                Some(known) => {
                    let known = &mut self.list[*known];
                    let count = known.count + fault.count;
                    let key = |f: &SimulatorFault| [2, 1, 0].map(|d| f.global_id[d]);
                    if key(&fault) < key(known) {
                        *known = fault;
                    }
                    known.count = count;
                }
                None => {
                    self.index.insert((fault.kind, fault.site), self.list.len());
                    self.list.push(fault);
                }
            }
        }
        other.index.clear();
    }

    pub fn take(&mut self) -> Vec<SimulatorFault> {
        self.index.clear();
        std::mem::take(&mut self.list)
    }
}
