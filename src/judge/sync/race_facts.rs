//! Finds out what the code and the other races of a launch tell of one race.

use kassay_model::native::table::{BarrierSite, CallPath, Mode, NativeTable, SourcePlace, Space};
use kassay_run::exec::simulator::observation::{Access, Conflict};

use super::causes::{Between, Facts};

/// Returns the facts of one of the `conflicts` of a launch.
pub fn facts(table: &NativeTable, conflicts: &[Conflict], conflict: &Conflict) -> Facts {
    let reader = Code { table };
    Facts {
        equal_values: conflict.benign,
        updates: reader.is_update(conflicts, conflict),
        between: if conflict.inter_group { None } else { reader.between(conflict) },
        gone_in_lockstep: false,
    }
}

struct Code<'a> {
    table: &'a NativeTable,
}

impl<'a> Code<'a> {
    fn path(&self, path: u32) -> Option<&'a CallPath> {
        self.table.paths.get(path as usize)
    }

    fn path_of(&self, access: &Access) -> Option<&'a CallPath> {
        self.path(self.table.accesses.get(access.site as usize)?.path)
    }

    /// Returns whether the accesses are parts of statements that read an element and write it back: `+=` and the like
    /// have one place for both; where the two have places of their own, the write races with itself as well.
    fn is_update(&self, conflicts: &[Conflict], conflict: &Conflict) -> bool {
        let [a, b] = &conflict.accesses;
        let (Some(x), Some(y)) = (self.path_of(a), self.path_of(b)) else { return false };
        let races_with_itself = |write: &Access| {
            conflicts.iter().any(|other| {
                other.object == conflict.object && other.accesses.iter().all(|access| access.site == write.site)
            })
        };
        match (a.mode, b.mode) {
            (Mode::Read, Mode::Write) => x == y || are_on_a_line(x, y) && races_with_itself(b),
            (Mode::Write, Mode::Read) => x == y || are_on_a_line(x, y) && races_with_itself(a),
            (Mode::Write, Mode::Write) => x == y && self.reads_back(a, x),
            _ => false,
        }
    }

    /// Returns whether the line of a write also reads what it writes to.
    fn reads_back(&self, write: &Access, path: &CallPath) -> bool {
        let Some(object) = self.table.accesses.get(write.site as usize).map(|site| site.object) else { return false };
        self.table.accesses.iter().any(|site| {
            let is_read_of_it = site.mode == Mode::Read && site.object == object;
            is_read_of_it && self.path(site.path).is_some_and(|other| are_on_a_line(other, path))
        })
    }

    /// Returns what barrier stands between the lines of the kernel in which the accesses are made, or in which
    /// functions are called that make them.
    fn between(&self, conflict: &Conflict) -> Option<Between> {
        let [a, b] = &conflict.accesses;
        let (x, y) = (self.path_of(a)?.frames.last()?, self.path_of(b)?.frames.last()?);
        let (first, last, is_reversed) = match x.line < y.line {
            true => (x, y, b.number < a.number),
            false => (y, x, a.number < b.number),
        };
        let needed = match self.table.objects.get(conflict.object as usize)?.space {
            Space::Local => 1,
            _ => 2,
        };
        let is_between = |place: &SourcePlace| {
            place.file == first.file && first.file == last.file && first.line < place.line && place.line < last.line
        };
        let barriers = self.table.barriers.iter().filter(|barrier| is_barrier(barrier));
        let stands = |barrier: &&BarrierSite| {
            self.path(barrier.path).and_then(|path| path.frames.last()).is_some_and(is_between)
        };
        let orders = |barrier: &BarrierSite| barrier.flags.is_none_or(|flags| flags & needed != 0);
        let all: Vec<bool> = barriers.filter(stands).map(orders).collect();
        match all.iter().any(|orders| *orders) {
            true => is_reversed.then_some(Between::NextIteration),
            false => (!all.is_empty()).then_some(Between::OtherMemory),
        }
    }
}

/// Returns whether it is for the whole group, and a barrier, not another function for which work-items wait.
fn is_barrier(barrier: &BarrierSite) -> bool {
    !barrier.sub_group && ["barrier", "sync"].iter().any(|part| barrier.builtin.contains(part))
}

/// Returns whether two paths end on one line, reached by the same calls.
fn are_on_a_line(a: &CallPath, b: &CallPath) -> bool {
    let line = |place: &SourcePlace| (place.file.clone(), place.line, place.function.clone());
    let (Some((x, outer_x)), Some((y, outer_y))) = (a.frames.split_first(), b.frames.split_first()) else {
        return false;
    };
    x.line > 0 && line(x) == line(y) && outer_x == outer_y
}
