//! Numbers sites and records their places in the source.

use std::collections::HashMap;

use inkwell::module::Module;
use kassay_model::native::abi::mark;
use kassay_model::native::table::{
    AccessSite, BarrierSite, CallPath, Mode, NativeTable, Ordering, PlainSite, PrintArg, PrintSite, Scope, SourcePlace,
    Space, TrapSite,
};

use super::objects::{Objects, Origin};
use super::proofs::{Proof, record};
use crate::kernel::builtins::{self, Builtin, Family};
use crate::kernel::inline_frames::{self, Frame, frames};
use crate::llvm::{Inst, MetadataKind, Value, View};
use crate::lower::traps;

/// Properties of an access that follow from the instruction.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub mode: Mode,
    /// For dynamic lengths: the size of an element.
    pub bytes: u64,
    pub align: u32,
    /// Bytes by which it lies behind an address with this alignment.
    pub lead: u32,
    pub ordering: Option<Ordering>,
}

impl Shape {
    /// The alignment of the address itself.
    fn own_align(self) -> u32 {
        if self.lead == 0 { self.align } else { self.align.min(1 << self.lead.trailing_zeros()) }
    }
}

/// The table under construction.
pub struct Sites<'a, 'm> {
    pub view: View<'m>,
    pub objects: &'a mut Objects<'m>,
    entry: String,
    table: NativeTable,
    paths: HashMap<CallPath, u32>,
    loops_by_path: HashMap<u32, u32>,
    /// Next number for [`BarrierSite::source`].
    next_source: u32,
    /// Numbers already given to barriers of the source, by place and builtin.
    source_numbers: HashMap<(SourcePlace, String), u32>,
    builtin_kind: MetadataKind,
    trusted_kind: MetadataKind,
    loop_kind: MetadataKind,
    /// See [`mark::COMPONENT`].
    pub component_kind: MetadataKind,
    /// Whether the kernel has atomics, of any ordering.
    atomics: bool,
}

impl<'a, 'm> Sites<'a, 'm> {
    /// Starts an empty table for the kernel `entry`, which has so many arguments in the source.
    pub fn new(
        module: &'m Module<'_>,
        entry: &str,
        objects: &'a mut Objects<'m>,
        arguments: u32,
        races: bool,
    ) -> Sites<'a, 'm> {
        let table = NativeTable { arguments, races, ..NativeTable::default() };
        let view = View::of(module);
        Sites {
            view,
            objects,
            entry: entry.to_owned(),
            table,
            paths: HashMap::new(),
            loops_by_path: HashMap::new(),
            next_source: 0,
            source_numbers: HashMap::new(),
            trusted_kind: view.metadata_kind(mark::TRUSTED),
            builtin_kind: view.metadata_kind(mark::BUILTIN),
            loop_kind: view.metadata_kind("llvm.loop"),
            component_kind: view.metadata_kind(mark::COMPONENT),
            atomics: false,
        }
    }

    /// Name of the builtin that an instruction belongs to, if any.
    fn builtin(&self, inst: Inst<'m>) -> Option<String> {
        note(inst, self.builtin_kind)
    }

    fn path(&mut self, frames: Vec<Frame>) -> u32 {
        let place = |f: Frame| SourcePlace {
            function: f.function,
            file: f.location.file,
            line: f.location.line,
            column: f.location.column,
        };
        let mut frames: Vec<SourcePlace> = frames.into_iter().map(place).collect();
        if frames.is_empty() {
            frames.push(SourcePlace { function: self.entry.clone(), file: String::new(), line: 0, column: 0 });
        }
        let path = CallPath { frames };
        if let Some(known) = self.paths.get(&path) {
            return *known;
        }
        let number = self.table.paths.len() as u32;
        self.table.paths.push(path.clone());
        self.paths.insert(path, number);
        number
    }

    /// Adds the site of an access through `pointer`. Returns `None` if it needs no check: it is to kassay's own memory,
    /// or provably in bounds of memory that no other item sees.
    pub fn access(
        &mut self,
        inst: Inst<'m>,
        pointer: Value<'m>,
        shape: Shape,
        length: Option<u64>,
    ) -> Option<(u32, Origin)> {
        let in_bounds = length
            .is_some_and(|bytes| self.objects.is_in_bounds(pointer, bytes, shape.align.into(), shape.lead.into()));
        if in_bounds && self.objects.is_variable(pointer) {
            return None;
        }
        let origin = self.objects.origin(pointer);
        if note(inst, self.trusted_kind).is_some() {
            return None;
        }
        if origin == Origin::Internal {
            record(self.view, inst.value(), Proof::Own);
            return None;
        }
        let space = self.objects.space(pointer, &origin);
        let shared = self.is_shared(&origin);
        let writes = matches!(shape.mode, Mode::Write | Mode::Atomic);
        let forbidden = match &origin {
            Origin::Known(all) => writes && all.iter().any(|o| self.objects.is_read_only(*o)),
            _ => false,
        };
        self.objects.note_access(&origin, space, shape.bytes, shape.own_align());
        if in_bounds && !forbidden && !(shared && self.table.races) {
            return None;
        }
        if matches!(shape.mode, Mode::Atomic | Mode::AtomicRead) && shared {
            self.atomics = true;
            self.table.synchronises |= shape.ordering.is_some();
        }
        if let Some(bytes) = length {
            self.table.longest_access = self.table.longest_access.max(bytes.min(u64::from(u32::MAX)) as u32);
        }
        Some((self.site(inst, shape, space, &origin), origin))
    }

    fn is_shared(&self, origin: &Origin) -> bool {
        match origin {
            Origin::Known(all) => all.iter().any(|o| self.objects.is_shared(*o)),
            _ => true,
        }
    }

    /// Whether races are looked for.
    pub fn races(&self) -> bool {
        self.table.races
    }

    /// Whether races are looked for in what a pointer of this origin may lead to.
    pub fn is_watched(&self, origin: &Origin) -> bool {
        self.table.races && self.is_shared(origin)
    }

    /// Adds the site of an access that a hook makes through `pointer`.
    pub fn hook_access(&mut self, inst: Inst<'m>, pointer: Value<'m>, shape: Shape) -> u32 {
        let origin = self.objects.origin(pointer);
        let space = self.objects.space(pointer, &origin);
        self.objects.note_access(&origin, space, shape.bytes, shape.own_align());
        self.site(inst, shape, space, &origin)
    }

    /// Adds the site for failing executions, which only read, directly after the site of the compare-exchange that was
    /// added last.
    pub fn failed_exchange(&mut self, ordering: Option<Ordering>) {
        if let Some(site) = self.table.accesses.last().cloned() {
            self.table.accesses.push(AccessSite { mode: Mode::AtomicRead, ordering, ..site });
        }
    }

    /// Adds the site of a texel access; the simulator knows the size of the texel.
    pub fn texel(&mut self, inst: Inst<'m>, image: Value<'m>, mode: Mode) -> u32 {
        let origin = self.objects.origin(image);
        self.site(inst, Shape { mode, bytes: 16, align: 1, lead: 0, ordering: None }, Space::Global, &origin)
    }

    fn site(&mut self, inst: Inst<'m>, shape: Shape, space: Space, origin: &Origin) -> u32 {
        let path = self.path(frames(inst));
        let object = match origin {
            Origin::Known(all) if all.len() == 1 => Some(all[0]),
            _ => None,
        };
        let bytes = shape.bytes.min(u64::from(u32::MAX)) as u32;
        let builtin = self.builtin(inst);
        let Shape { mode, align, lead, ordering, .. } = shape;
        self.table.accesses.push(AccessSite { path, mode, space, object, bytes, align, lead, ordering, builtin });
        self.table.accesses.len() as u32 - 1
    }

    /// Adds the site of a collective operation; `what` names it if its builtin is unknown.
    pub fn barrier(&mut self, inst: Inst<'m>, what: &str, sub_group: bool) -> u32 {
        let builtin = self.builtin(inst).unwrap_or_else(|| what.to_owned());
        let sub_group =
            sub_group || matches!(builtins::family(&builtin), Some(Family::SubGroupBarrier | Family::SubGroupFunction));
        self.collective(inst, builtin, sub_group)
    }

    /// Says which memory a barrier orders, if that is known.
    pub fn set_flags(&mut self, barrier: u32, flags: Option<u32>) {
        if let Some(site) = self.table.barriers.get_mut(barrier as usize) {
            site.flags = flags;
        }
    }

    /// Adds the site of a function of warps, under its name in CUDA.
    pub fn warp_function(&mut self, inst: Inst<'m>, name: &str) -> u32 {
        self.collective(inst, name.to_owned(), true)
    }

    fn collective(&mut self, inst: Inst<'m>, builtin: String, sub_group: bool) -> u32 {
        let path = self.path(frames(inst));
        let place = self.table.paths[path as usize].frames[0].clone();
        let number = self.table.barriers.len() as u32;
        let next = self.next_source;
        let source = match place.line {
            // Without a line, it cannot be identified with any other.
            0 => next,
            _ => *self.source_numbers.entry((place, builtin.clone())).or_insert(next),
        };
        self.next_source = self.next_source.max(source + 1);
        let grid = Builtin::of(&builtin).is_some_and(Builtin::is_of_grid);
        self.table.barriers.push(BarrierSite { path, builtin, sub_group, source, flags: Some(0), grid });
        number
    }

    /// Adds the site of a fence.
    pub fn fence(&mut self, inst: Inst<'m>) -> u32 {
        let path = self.path(frames(inst));
        self.table.fences.push(PlainSite { path });
        self.table.fences.len() as u32 - 1
    }

    /// Adds the site of a division.
    pub fn division(&mut self, inst: Inst<'m>) -> u32 {
        let path = self.path(frames(inst));
        self.table.divisions.push(PlainSite { path });
        self.table.divisions.len() as u32 - 1
    }

    /// Adds the site of an assertion or another trap.
    pub fn trap(&mut self, inst: Inst<'m>) -> u32 {
        let path = self.path(frames(inst));
        self.table.traps.push(TrapSite { path, condition: traps::condition(inst) });
        self.table.traps.len() as u32 - 1
    }

    /// Adds a back edge with this terminator; the back edges of a loop share a number.
    pub fn back_edge(&mut self, terminator: Inst<'m>) -> u32 {
        let path = self.path(inline_frames::loop_frames(terminator, self.loop_kind));
        let next = self.table.loops.len() as u32;
        let number = *self.loops_by_path.entry(path).or_insert(next);
        if number == next {
            self.table.loops.push(PlainSite { path });
        }
        number
    }

    /// Adds the site of a call of `printf`.
    pub fn print(&mut self, inst: Inst<'m>, format: Option<Vec<u8>>, args: Vec<PrintArg>) -> u32 {
        let path = self.path(frames(inst));
        self.table.prints.push(PrintSite { path, format, args });
        self.table.prints.len() as u32 - 1
    }

    /// Returns the table, without what [`Objects`] contributes.
    pub fn finish(mut self) -> NativeTable {
        // Fences only order what atomics observe.
        self.table.synchronises |= self.atomics && !self.table.fences.is_empty();
        self.table
    }
}

/// Returns `None` for relaxed atomics of at least device scope, which order nothing.
pub fn ordering(acquire: bool, release: bool, scope: Scope) -> Option<Ordering> {
    (acquire || release || scope < Scope::Device).then_some(Ordering { acquire, release, scope })
}

/// Returns the string that is the first operand of an instruction's metadata of that kind.
fn note(inst: Inst<'_>, kind: MetadataKind) -> Option<String> {
    inst.metadata(kind)?.operands().first()?.text().map(str::to_owned)
}
