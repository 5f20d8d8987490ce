//! Inserts the calls that tell accesses to shadow memory.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use inkwell::module::Module;
use kassay_base::error::Result;
use kassay_model::native::table::SourcePlace;

use super::accesses::{Access, Barrier, Found, Kind, Length, Place};
use super::hand_over::HandOver;
use super::layout::{LOCAL_ALIGN, LocalShadow, MOST_LOCAL_SITES, MOST_SITES, RaceLayout, RaceObject, RaceSite, object};
use crate::instrument::guard::loops::Loops;
use crate::instrument::runtime;
use crate::kernel::builtins::{Builtin, Family};
use crate::kernel::inline_frames::frames;
use crate::llvm::IntPredicate::LLVMIntEQ;
use crate::llvm::assumptions::Holder;
use crate::llvm::{AddressSpace, Block, Builder, Function, Inst, Opcode, Type, Value, View};

/// Numbers what is watched.
///
/// # Errors
/// If there are more sites than numbers.
pub fn layout(
    view: View<'_>,
    found: &Found<'_>,
    local_shadow: LocalShadow,
    takes_local: bool,
) -> std::result::Result<RaceLayout, HandOver> {
    let site = |access: &Access<'_>| RaceSite { kind: access.kind, frames: places(access.inst) };
    let sites: Vec<RaceSite> = found.accesses.iter().map(site).collect();
    let is_local = |access: &&Access<'_>| access.targets.iter().any(|target| found.memories[*target].place.is_local());
    let local = found.accesses.iter().take_while(is_local).count();
    if sites.len() > MOST_SITES || (local_shadow == LocalShadow::Local && local > MOST_LOCAL_SITES) {
        return Err(HandOver::because("has too many accesses that may race"));
    }
    let mut first_cell = 0;
    let mut objects = Vec::new();
    for memory in found.memories.iter().filter(|memory| memory.is_watched) {
        let object = RaceObject {
            place: memory.place,
            name: memory.name.clone(),
            shift: memory.cell.trailing_zeros(),
            is_shared: memory.is_shared,
            first_cell,
        };
        if let Place::LocalVariable(bytes) = memory.place {
            first_cell += bytes.div_ceil(memory.cell);
        }
        objects.push(object);
    }
    let variables = view.globals().into_iter().filter(|g| g.value().ty().space() == Some(AddressSpace::Local));
    let variable_bytes = variables.map(|g| view.layout().abi_size(g.value_type()).next_multiple_of(LOCAL_ALIGN)).sum();
    let counts = |barrier: &Barrier<'_>| barrier.global || (barrier.local && local_shadow == LocalShadow::Global);
    let has_barriers = found.barriers.iter().any(counts);
    Ok(RaceLayout { sites, objects, local_shadow, takes_local, variable_bytes, has_barriers })
}

/// Where an instruction is in the source, and the calls that lead there.
fn places(inst: Inst<'_>) -> Vec<SourcePlace> {
    let place = |frame: crate::kernel::inline_frames::Frame| SourcePlace {
        function: frame.function,
        file: frame.location.file,
        line: frame.location.line,
        column: frame.location.column,
    };
    frames(inst).into_iter().map(place).collect()
}

/// Weaves the calls into the kernel, whose last arguments are those that `layout` says.
///
/// # Errors
/// `Internal` if the runtime lacks a function.
pub fn weave<'m>(module: &'m Module<'_>, kernel: Function<'m>, found: Found<'m>, layout: &RaceLayout) -> Result<()> {
    runtime::link_device_races(module)?;
    let weaver = Weaver::new(View::of(module), kernel, &found, layout)?;
    for (site, access) in (0..).zip(&found.accesses) {
        weaver.access(site, access)?;
    }
    for barrier in &found.barriers {
        weaver.barrier(barrier.inst, barrier.global, barrier.local)?;
    }
    weaver.end()?;
    drop(weaver);
    // A kernel that tells its accesses writes memory.
    Holder::Function(kernel).drop_woven_effects();
    Ok(())
}

/// By block of a kernel that lies on a cycle: the blocks of its innermost loop; none if cycles are no loops.
type Repeated<'m> = HashMap<Block<'m>, Rc<HashSet<Block<'m>>>>;

fn repeated<'m>(kernel: Function<'m>) -> Repeated<'m> {
    let loops = Loops::of(kernel);
    let mut all = Repeated::new();
    if !loops.irregular.is_empty() {
        let none = Rc::new(HashSet::new());
        return loops.blocks.into_iter().map(|block| (block, none.clone())).collect();
    }
    // Inner loops follow those that contain them.
    for one in &loops.all {
        let blocks: Rc<HashSet<_>> = Rc::new(one.blocks.iter().map(|block| loops.blocks[*block]).collect());
        all.extend(blocks.iter().map(|block| (*block, blocks.clone())));
    }
    all
}

/// Returns whether a value depends on one that blocks of a loop hand on from one iteration to the next.
fn varies<'m>(value: Value<'m>, blocks: &HashSet<Block<'m>>) -> bool {
    let mut known = HashSet::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        let Some(inst) = value.as_instruction().filter(|inst| blocks.contains(&inst.block())) else { continue };
        if inst.is(Opcode::LLVMPHI) {
            return true;
        }
        if known.insert(value) {
            left.extend(inst.operands());
        }
    }
    false
}

/// Returns whether neighbouring work-items are expected to access different places: where an access is to depends on
/// the id in the first dimension, as far as it is computed from values.
fn is_apart(access: &Access<'_>) -> bool {
    let mut known = HashSet::new();
    let mut left: Vec<Value<'_>> =
        [Some(access.pointer), access.index.map(|(index, _)| index)].into_iter().flatten().collect();
    while let Some(value) = left.pop() {
        let Some(inst) = value.as_instruction().filter(|_| known.insert(value)) else { continue };
        match inst.callee().as_deref().and_then(Builtin::of).map(|builtin| builtin.family()) {
            // A linear id has no dimension.
            Some(Family::WorkItemId) if inst.args().first().is_none_or(|dimension| dimension.as_u64() == Some(0)) => {
                return true;
            }
            _ if inst.is(Opcode::LLVMCall) || inst.is(Opcode::LLVMLoad) => {}
            _ => left.extend(inst.operands()),
        }
    }
    false
}

/// The shadow memory of an object, as values of the kernel's entry.
#[derive(Clone, Copy)]
struct Shadow<'m> {
    number: u32,
    /// Its first word, or its first cell.
    cells: Value<'m>,
    bytes: Value<'m>,
    start: Option<Value<'m>>,
}

struct Weaver<'a, 'm> {
    view: View<'m>,
    kernel: Function<'m>,
    found: &'a Found<'m>,
    layout: &'a RaceLayout,
    builder: Builder<'m>,
    int: Type<'m>,
    long: Type<'m>,
    probe: Value<'m>,
    local_shadow: Option<Value<'m>>,
    /// The work-item's words: for global memory, and for local memory (of 64 bits with [`LocalShadow::Global`]).
    me: Value<'m>,
    local_me: Option<Value<'m>>,
    first: Value<'m>,
    repeated: Repeated<'m>,
    /// By memory.
    shadows: HashMap<usize, Shadow<'m>>,
}

impl<'a, 'm> Weaver<'a, 'm> {
    fn new(
        view: View<'m>,
        kernel: Function<'m>,
        found: &'a Found<'m>,
        layout: &'a RaceLayout,
    ) -> Result<Weaver<'a, 'm>> {
        let (int, long) = (view.int_type(32), view.int_type(64));
        let params = kernel.params();
        let probe = params[params.len() - 1];
        let local_shadow = layout.takes_local.then(|| params[params.len() - 2]);
        let builder = view.builder();
        builder.before(kernel.entry().walk().next().expect("the entry has a terminator"));
        let me = builder.alloca(long, "kassay.me").value();
        let watches_local = layout.objects.iter().any(|object| object.place.is_local());
        let local_type = if layout.local_shadow == LocalShadow::Local { int } else { long };
        let local_me = watches_local.then(|| builder.alloca(local_type, "kassay.local").value());
        builder.after_variables(kernel);
        let call = |name: &str, args: &[Value<'m>]| -> Result<Value<'m>> {
            Ok(builder.call(runtime::find(view, name)?, args, "").value())
        };
        let initial = call("__kassay_race_begin", &[probe])?;
        builder.store(initial, me);
        let first = call("__kassay_race_first", &[probe])?;
        match (local_me, layout.local_shadow) {
            (Some(local_me), LocalShadow::Local) => {
                builder.store(call("__kassay_race_local_begin", &[])?, local_me);
            }
            (Some(local_me), LocalShadow::Global) => {
                builder.store(initial, local_me);
            }
            (None, _) => {}
        }
        let mut shadows = HashMap::new();
        let watched = found.memories.iter().enumerate().filter(|(_, memory)| memory.is_watched);
        for ((at, memory), (number, object)) in watched.zip(layout.objects.iter().enumerate()) {
            let word = |offset: u32| int.int(u64::from(RaceLayout::object_word(number) + offset));
            let number_at = |offset: u32| call("__kassay_race_long", &[probe, word(offset)]);
            let (cells, bytes, start) = match (memory.place, layout.local_shadow) {
                (Place::Buffer(_), _) => (
                    call("__kassay_race_cells", &[probe, word(object::CELLS)])?,
                    number_at(object::BYTES)?,
                    Some(number_at(object::START)?),
                ),
                (Place::LocalVariable(bytes), LocalShadow::Local) => {
                    (long.int(object.first_cell), long.int(bytes), None)
                }
                (Place::LocalArgument(_), LocalShadow::Local) => {
                    (number_at(object::CELLS)?, number_at(object::BYTES)?, None)
                }
                (Place::LocalVariable(_) | Place::LocalArgument(_), LocalShadow::Global) => {
                    let args = [probe, word(object::CELLS), word(object::STRIDE)];
                    (call("__kassay_race_group_cells", &args)?, number_at(object::BYTES)?, None)
                }
            };
            if let (Place::LocalVariable(_), Some(global)) = (memory.place, memory.pointer.as_global()) {
                let align = memory.pointer.alignment().unwrap_or_default().max(LOCAL_ALIGN as u32);
                global.set_alignment(align);
            }
            shadows.insert(at, Shadow { number: number as u32, cells, bytes, start });
        }
        if let (Some(shadow), true) = (local_shadow, watches_local) {
            call("__kassay_race_clear", &[probe, shadow])?;
        }
        Ok(Weaver {
            view,
            kernel,
            found,
            layout,
            builder,
            int,
            long,
            probe,
            local_shadow,
            me,
            local_me,
            first,
            repeated: repeated(kernel),
            shadows,
        })
    }

    fn call(&self, name: &str, args: &[Value<'m>]) -> Result<Value<'m>> {
        Ok(self.builder.call(runtime::find(self.view, name)?, args, "").value())
    }

    /// Records an access before it; a compare-exchange after it, when it is known whether it has succeeded.
    fn access(&self, site: u64, access: &Access<'m>) -> Result<()> {
        let b = &self.builder;
        let succeeded = match access.kind {
            Kind::Exchange => {
                b.after(access.inst);
                Some(self.has_succeeded(access.inst))
            }
            _ => {
                b.before(access.inst);
                None
            }
        };
        for target in &access.targets {
            let (memory, Some(shadow)) = (&self.found.memories[*target], self.shadows.get(target)) else { continue };
            let offset = self.offset(access, memory.pointer, shadow);
            let (size, is_one) = match access.length {
                Length::Fixed(size) => (self.long.int(size), size <= memory.cell),
                Length::Dynamic(size) => (b.int_cast(size, self.long, false, ""), false),
            };
            let in_local = memory.place.is_local() && self.layout.local_shadow == LocalShadow::Local;
            let name = format!(
                "__kassay_race_{}{}{}",
                if in_local { "local_" } else { "" },
                match access.kind {
                    Kind::Read if in_local && is_apart(access) => "read_apart",
                    Kind::Read => "read",
                    Kind::Write if in_local && is_apart(access) => "write_apart",
                    Kind::Write if !in_local && self.writes_once(access) => "write_once",
                    Kind::Write => "write",
                    Kind::Atomic => "atomic",
                    Kind::AtomicRead => "atomic_read",
                    Kind::Exchange => "exchange",
                },
                if is_one { "" } else { "_all" }
            );
            let shift = self.int.int(u64::from(memory.cell.trailing_zeros()));
            let (site, object) = (self.int.int(site), self.int.int(u64::from(shadow.number)));
            let strict = self.int.int(u64::from(access.is_certain));
            let mut args = match (self.local_shadow.filter(|_| in_local), self.local_me) {
                (Some(local), Some(me)) => {
                    let me = b.load(self.int, me, "").value();
                    vec![self.probe, local, shadow.cells, shadow.bytes, offset, size, shift, me, site, object, strict]
                }
                (_, local_me) => {
                    let me = local_me.filter(|_| memory.place.is_local()).unwrap_or(self.me);
                    let me = b.load(self.long, me, "").value();
                    vec![
                        self.probe,
                        shadow.cells,
                        shadow.bytes,
                        offset,
                        size,
                        shift,
                        me,
                        self.first,
                        site,
                        object,
                        strict,
                    ]
                }
            };
            args.extend(succeeded);
            self.call(&name, &args)?;
        }
        Ok(())
    }

    /// Whether a work-item is expected not to write the same place again and again.
    fn writes_once(&self, access: &Access<'m>) -> bool {
        let values = [Some(access.pointer), access.index.map(|(index, _)| index)];
        self.repeated
            .get(&access.inst.block())
            .is_none_or(|blocks| values.into_iter().flatten().any(|value| varies(value, blocks)))
    }

    /// Whether a compare-exchange has succeeded, as a number: it says so, or returns what it expected.
    fn has_succeeded(&self, exchange: Inst<'m>) -> Value<'m> {
        let b = &self.builder;
        let success = match exchange.args().get(1) {
            _ if exchange.is(Opcode::LLVMAtomicCmpXchg) => b.extract_field(exchange, 1, ""),
            Some(expected) if expected.ty() == exchange.ty() => b.icmp(LLVMIntEQ, exchange, *expected, ""),
            _ => exchange.value(),
        };
        b.int_cast(success, self.int, false, "")
    }

    /// The distance of an access from the start of a memory, in bytes.
    fn offset(&self, access: &Access<'m>, memory: Value<'m>, shadow: &Shadow<'m>) -> Value<'m> {
        let b = &self.builder;
        let pointer = access.pointer;
        let start = match memory.ty().address_space() == pointer.ty().address_space() {
            true => memory,
            false => b.address_space_cast(memory, pointer.ty(), ""),
        };
        let (at, from) = (b.ptr_to_int(pointer, self.long, ""), b.ptr_to_int(start, self.long, ""));
        let mut offset = b.sub(at, from, "");
        if let Some((index, step)) = access.index {
            let index = b.int_cast(index, self.long, true, "");
            offset = b.add(offset, b.mul(index, self.long.int(step), ""), "");
        }
        shadow.start.map_or(offset, |start| b.add(offset, start, ""))
    }

    /// Advances the intervals of the memories that a barrier orders, after it.
    fn barrier(&self, barrier: Inst<'m>, global: bool, local: bool) -> Result<()> {
        let b = &self.builder;
        b.after(barrier);
        if global {
            self.advance(self.me, self.long, "__kassay_race_advance")?;
        }
        if let Some(me) = self.local_me.filter(|_| local) {
            match self.layout.local_shadow {
                LocalShadow::Local => self.advance(me, self.int, "__kassay_race_local_advance")?,
                LocalShadow::Global => self.advance(me, self.long, "__kassay_race_advance")?,
            }
        }
        Ok(())
    }

    fn advance(&self, variable: Value<'m>, ty: Type<'m>, how: &str) -> Result<()> {
        let now = self.builder.load(ty, variable, "").value();
        let next = self.call(how, &[self.probe, now])?;
        self.builder.store(next, variable);
        Ok(())
    }

    /// Tells the last interval where the kernel ends.
    fn end(&self) -> Result<()> {
        if !self.layout.has_barriers {
            return Ok(());
        }
        let local = self.local_me.filter(|_| self.layout.local_shadow == LocalShadow::Global);
        let returns = self.kernel.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMRet));
        for inst in returns {
            self.builder.before(inst);
            for variable in [Some(self.me), local].into_iter().flatten() {
                let me = self.builder.load(self.long, variable, "").value();
                self.call("__kassay_race_end", &[self.probe, me])?;
            }
        }
        Ok(())
    }
}
