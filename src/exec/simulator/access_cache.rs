//! Caches what the access hook needs to know of a site, once per run and slot.

use super::exec_thread::ExecThread;
use super::program::NONE;
use super::shadow::{CheckKind, FastPath};
use super::work_group::GroupSlot;

/// A site whose pointer can only come from one object.
#[derive(Debug, Clone, Copy)]
pub struct CachedSite {
    /// The object's address.
    base: u64,
    /// The number of offsets in the object at which the access fits; 0 if its check is more complex.
    valid_offsets: u64,
    /// The address bits that must be zero.
    misaligned: u32,
    /// Number in the table.
    pub object: u32,
    pub fast_path: FastPath,
}

impl CachedSite {
    /// The offset of the address in the object, if the access is valid there.
    #[inline(always)]
    pub fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.valid_offsets && address & u64::from(self.misaligned) == 0).then_some(offset)
    }
}

/// Fills the site cache of a slot whose group has begun, for the current run of the thread.
///
/// # Safety
/// The thread has begun the run, and no fiber runs.
pub unsafe fn prepare(thread: *mut ExecThread, slot: &mut GroupSlot) {
    // SAFETY: the caller guarantees that the thread has begun the run, so its pointers are valid, and that no fiber
    // runs that could use them meanwhile.
    unsafe {
        let (races, number) = ((*thread).races, slot.number);
        let group = if races { (*(*thread).shadow).group(number) } else { std::ptr::null() };
        let sites = &(&*(*thread).program).sites;
        slot.fill_site_cache((*thread).run, group, |extents, owners, site_cache| {
            site_cache.extend((0..).zip(sites).map(|(site, at)| {
                let object = owners.get(at.object as usize).copied().unwrap_or(at.object);
                let known = extents.get(at.object as usize).filter(|_| at.object != NONE && !at.forbidden);
                let bytes = known.map_or(0, |e| e.bytes);
                let fast_path = match known {
                    Some(_) if races => (*(*thread).shadow).fast_path(number, site, object, u64::from(at.bytes), bytes),
                    _ => FastPath::without_cells(if races { CheckKind::Slow } else { CheckKind::Unchecked }),
                };
                CachedSite {
                    base: known.map_or(0, |e| e.base),
                    valid_offsets: (bytes + 1).saturating_sub(u64::from(at.bytes.max(1))),
                    misaligned: at.misaligned,
                    object,
                    fast_path,
                }
            }));
        });
    }
}
