//! Summarises access sites for the race detector.

use kassay_model::native::table::{AccessSite, Mode, NativeTable, Ordering, Scope, Space};

use super::launch::Memory;

/// An access site.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    pub mode: Mode,
    /// The mode in the first pass outside of local memory (where scopes do not matter): atomics whose scope may exclude
    /// work-items count as plain accesses.
    shared: Mode,
    /// Whether it writes without reading, so that releases of earlier writes are no longer visible.
    pub stores: bool,
    pub ordering: Option<Ordering>,
}

impl Site {
    fn of(site: &AccessSite) -> Site {
        let scope = site.ordering.map_or(Scope::AllDevices, |o| o.scope);
        let plain = match site.mode {
            Mode::Atomic => Mode::Write,
            Mode::AtomicRead => Mode::Read,
            mode => mode,
        };
        let builtin = site.builtin.as_deref().unwrap_or_default();
        Site {
            mode: site.mode,
            shared: if scope < Scope::Device { plain } else { site.mode },
            stores: ["store", "init", "flag_clear"].iter().any(|part| builtin.contains(part)),
            ordering: site.ordering,
        }
    }

    /// Returns whether it stores without releasing everything that the work-item knows: readers may then need to know
    /// what the work-item released there before.
    pub fn restores(&self) -> bool {
        self.stores && self.ordering.is_none_or(|o| !o.release || o.scope < Scope::Device)
    }

    /// The mode in the first pass.
    #[inline]
    pub fn first_mode(&self, memory: Memory) -> Mode {
        if memory == Memory::Local { self.mode } else { self.shared }
    }
}

/// All access sites of the table.
pub fn sites(table: &NativeTable) -> Vec<Site> {
    table.accesses.iter().map(Site::of).collect()
}

/// Returns whether some atomic's scope is narrower than `scope`.
pub fn has_narrower_scopes(table: &NativeTable, scope: Scope) -> bool {
    table.accesses.iter().filter_map(|a| a.ordering).any(|o| o.scope < scope)
}

/// Returns whether some access may write to the object.
pub fn may_write(table: &NativeTable, object: u32) -> bool {
    let space = table.objects.get(object as usize).map(|o| o.space);
    table.accesses.iter().filter(|a| matches!(a.mode, Mode::Write | Mode::Atomic)).any(|a| match a.object {
        Some(only) => only == object,
        None => a.space == Space::Generic || space.is_none_or(|s| s == a.space || s == Space::Generic),
    })
}

/// Returns whether some access is atomic.
pub fn has_atomics(table: &NativeTable) -> bool {
    table.accesses.iter().any(|a| matches!(a.mode, Mode::Atomic | Mode::AtomicRead))
}

/// The scope with this number in `opencl-c-base.h`.
pub fn scope(number: u32) -> Scope {
    match number {
        0 => Scope::WorkItem,
        1 => Scope::WorkGroup,
        2 => Scope::Device,
        4 => Scope::SubGroup,
        _ => Scope::AllDevices,
    }
}

/// Returns whether a memory order (a number of `opencl-c-base.h`) acquires, and whether it releases.
pub fn acquires_and_releases(order: u32) -> (bool, bool) {
    match order {
        0 => (false, false),
        1 | 2 => (true, false),
        3 => (false, true),
        _ => (true, true),
    }
}
