//! Replaces placeholders by hooks: barriers, exchanges, async copies, fences, images, comparisons,
//! definitions and uses.

use kassay_base::error::{Error, Result};
use kassay_model::native::abi::{OF_GRID, OF_SUB_GROUP, exchange, hook, placeholder, warp};
use kassay_model::native::table::{Mode, Scope};

use super::check::{Length, PointerCheck, checked};
use super::early_exit::Exit;
use super::emit::Emitter;
use super::iteration::Counters;
use super::memory_orders;
use super::objects::{Objects, Origin};
use super::sites::{Shape, Sites};
use super::values;
use crate::kernel::builtins::GRID_BARRIER;
use crate::llvm::{AtomicOrdering, Function, Inst, Opcode, Type, Value, View};

/// The operation of a placeholder, with the numbers of its sites.
enum Kind {
    Barrier(u32),
    Exchange(u32),
    Warp(u32),
    /// Barrier site and write site.
    AsyncCopy(u32, u32),
    Wait(u32, EventList),
    Fence(u32),
    /// LLVM's own `fence` instruction.
    FenceInstruction(u32, AtomicOrdering),
    ImageRead(u32),
    ImageWrite(u32),
    ImageQuery,
    Memory,
    Comparison,
    Pair,
    Flow,
    Returns,
    Trap(u32),
}

/// The event list of `wait_group_events`.
enum EventList {
    Empty,
    /// It lies within one variable of the work-item, and has so many events.
    InBounds(u64),
    /// It is read by this access site.
    Checked(u32, Origin),
}

/// Size and alignment of an event in bytes: those of a pointer.
const EVENT: u32 = 8;

/// A call of a placeholder, or a `fence` instruction.
pub struct Placeholder<'m> {
    pub inst: Inst<'m>,
    kind: Kind,
}

impl Placeholder<'_> {
    /// Returns whether its first operand is a pointer that weaving checks.
    pub fn is_checked(&self) -> bool {
        matches!(self.kind, Kind::Wait(_, EventList::Checked(..)))
    }

    /// Returns whether work-items wait for others there, in certain iterations of the enclosing loops.
    pub fn is_collective(&self) -> bool {
        use Kind::{AsyncCopy, Barrier, Exchange, Wait, Warp};
        matches!(self.kind, Barrier(_) | Exchange(_) | Warp(_) | AsyncCopy(..) | Wait(..))
    }
}

/// Finds all calls of placeholders and all fences, and adds their sites.
pub fn find<'m>(kernel: Function<'m>, sites: &mut Sites<'_, 'm>) -> Vec<Placeholder<'m>> {
    let mut all = Vec::new();
    for inst in kernel.instructions() {
        if let Some(kind) = kind(inst, sites) {
            all.push(Placeholder { inst, kind });
        }
    }
    all
}

fn kind<'m>(inst: Inst<'m>, sites: &mut Sites<'_, 'm>) -> Option<Kind> {
    if inst.is(Opcode::LLVMFence) {
        let order = inst.ordering()?;
        return Some(Kind::FenceInstruction(sites.fence(inst), order));
    }
    let callee = inst.callee()?;
    let operands = inst.operands();
    Some(match callee.as_str() {
        placeholder::BARRIER => {
            let has = |flag: u32| values::constant(operands[0]).is_some_and(|flags| flags & u64::from(flag) != 0);
            let sub_group = has(OF_SUB_GROUP);
            let what = match (sub_group, has(OF_GRID)) {
                (true, _) => "sub_group_barrier",
                (false, true) => GRID_BARRIER,
                (false, false) => "barrier",
            };
            let site = sites.barrier(inst, what, sub_group);
            let number = |operand: Value<'_>| values::constant(operand).map(|number| number as u32);
            let flags = match number(operands[1]) {
                // Of a single work-item, whose accesses are in order anyway.
                Some(0) => Some(0),
                _ => number(operands[0]).map(|flags| flags & !(OF_SUB_GROUP | OF_GRID)),
            };
            sites.set_flags(site, flags);
            Kind::Barrier(site)
        }
        placeholder::EXCHANGE => {
            let sub_group = values::constant(operands[2]).is_some_and(|n| n & u64::from(exchange::OF_SUB_GROUP) != 0);
            let what = if sub_group { "a sub-group function" } else { "a work-group function" };
            Kind::Exchange(sites.barrier(inst, what, sub_group))
        }
        placeholder::WARP => {
            let kind = values::constant(operands[1]).and_then(|kind| u32::try_from(kind).ok());
            Kind::Warp(sites.warp_function(inst, kind.map_or("a function of warps", warp::name)))
        }
        placeholder::ASYNC_COPY => {
            let site = sites.barrier(inst, "async_work_group_copy", false);
            let bytes = values::constant(operands[3]).unwrap_or(1).max(1);
            let align = 1u32 << bytes.trailing_zeros().min(7);
            let shape = |mode| Shape { mode, bytes, align, lead: 0, ordering: None };
            let write = sites.hook_access(inst, operands[0], shape(Mode::Write));
            sites.hook_access(inst, operands[1], shape(Mode::Read));
            Kind::AsyncCopy(site, write)
        }
        placeholder::WAIT => {
            let site = sites.barrier(inst, "wait_group_events", false);
            let shape = Shape { mode: Mode::Read, bytes: u64::from(EVENT), align: EVENT, lead: 0, ordering: None };
            let list = match values::constant(operands[1]) {
                Some(0) => EventList::Empty,
                count => {
                    let bytes = count.map(|n| n.saturating_mul(u64::from(EVENT)));
                    let read = sites.access(inst, operands[0], shape, bytes);
                    let within = EventList::InBounds(count.unwrap_or(0));
                    read.map_or(within, |(site, origin)| EventList::Checked(site, origin))
                }
            };
            Kind::Wait(site, list)
        }
        placeholder::FENCE => Kind::Fence(sites.fence(inst)),
        placeholder::IMAGE_READ => Kind::ImageRead(sites.texel(inst, operands[0], Mode::Read)),
        placeholder::IMAGE_WRITE => Kind::ImageWrite(sites.texel(inst, operands[0], Mode::Write)),
        placeholder::IMAGE_QUERY => Kind::ImageQuery,
        placeholder::MEMORY => Kind::Memory,
        placeholder::COMPARISON => Kind::Comparison,
        placeholder::PAIR => Kind::Pair,
        placeholder::FLOW => Kind::Flow,
        placeholder::RETURNS => Kind::Returns,
        placeholder::TRAP => Kind::Trap(sites.trap(inst)),
        _ => return None,
    })
}

/// Replaces `placeholders` by calls of their hooks. After a collective operation, items that are to leave branch to
/// `exit`.
pub fn weave<'m>(
    e: &Emitter<'m>,
    objects: &Objects<'m>,
    placeholders: Vec<Placeholder<'m>>,
    counters: &Counters<'m>,
    exit: Option<&Exit<'m>>,
) {
    for placeholder in placeholders {
        let inst = placeholder.inst;
        e.before(inst);
        let operands = inst.operands();
        let iteration = || counters.iteration(e, inst);
        let plain = |i: usize| e.flat(operands[i]);
        let (long, int) = (|i: usize| integer(e, operands[i], e.long), |i: usize| integer(e, operands[i], e.int));
        let number = |n: u32| e.const_i32(n);
        let result = match placeholder.kind {
            Kind::Barrier(site) => {
                e.hook(hook::BARRIER, e.void(), &[number(site), int(0), int(1), iteration()]);
                None
            }
            Kind::Exchange(site) => {
                let arguments = [number(site), iteration(), plain(0), long(1), int(2)];
                Some(e.hook(hook::EXCHANGE, e.pointer, &arguments))
            }
            Kind::Warp(site) => {
                let arguments = [number(site), iteration(), int(0), int(1), long(2), int(3)];
                Some(e.hook(hook::WARP, e.long, &arguments))
            }
            Kind::AsyncCopy(site, write) => {
                let copy = [plain(0), plain(1), long(2), long(3), long(4), long(5), plain(6)];
                let mut arguments = vec![number(site), iteration(), number(write)];
                arguments.extend(copy);
                Some(e.hook(hook::ASYNC_COPY, e.pointer, &arguments))
            }
            Kind::Wait(site, ref list) => {
                let (events, count) = waited(e, objects, inst, list);
                e.hook(hook::WAIT, e.void(), &[number(site), iteration(), events, count]);
                None
            }
            Kind::Fence(site) => {
                e.hook(hook::FENCE, e.void(), &[number(site), int(0), int(1), int(2)]);
                None
            }
            Kind::FenceInstruction(site, order) => {
                let scope = scope_number(memory_orders::scope(e.view, inst));
                // 3: local and global memory.
                let arguments = [number(site), number(3), number(memory_orders::number(order)), number(scope)];
                e.hook(hook::FENCE, e.void(), &arguments);
                continue;
            }
            Kind::ImageRead(site) => {
                let arguments = [number(site), plain(0), plain(1), plain(2), int(3), plain(4)];
                e.hook(hook::IMAGE_READ, e.void(), &arguments);
                None
            }
            Kind::ImageWrite(site) => {
                e.hook(hook::IMAGE_WRITE, e.void(), &[number(site), plain(0), plain(1), int(2), plain(3)]);
                None
            }
            Kind::ImageQuery => Some(e.hook(hook::IMAGE_QUERY, e.long, &[plain(0), int(1)])),
            Kind::Memory => Some(e.hook(hook::MEMORY, e.int, &[plain(0)])),
            Kind::Comparison => {
                e.hook(hook::COMPARISON, e.void(), &[int(0), int(1), long(2), long(3)]);
                None
            }
            Kind::Pair => {
                e.hook(hook::PAIR, e.void(), &[int(0)]);
                None
            }
            Kind::Trap(site) => {
                e.hook(hook::TRAP, e.void(), &[number(site)]);
                None
            }
            Kind::Returns => {
                e.note_return();
                None
            }
            Kind::Flow => {
                e.hook(hook::FLOW, e.void(), &[int(0), int(1), long(2), long(3), long(4), long(5)]);
                None
            }
        };
        if let Some(exit) = exit.filter(|_| placeholder.is_collective()) {
            exit.leave_before(e, inst);
        }
        if let Some(result) = result {
            inst.replace_uses(result);
        }
        inst.erase();
    }
}

/// Returns the event list, null if it cannot be read, and its length.
fn waited<'m>(e: &Emitter<'m>, objects: &Objects<'m>, wait: Inst<'m>, list: &EventList) -> (Value<'m>, Value<'m>) {
    let (events, count) = (wait.operand(0), wait.operand(1));
    let null = e.pointer.null();
    let (site, origin) = match list {
        EventList::Empty => return (null, e.const_i64(0)),
        EventList::InBounds(count) => return (e.flat(events), e.const_i64(*count)),
        EventList::Checked(site, origin) => (*site, origin),
    };
    let bytes = e.builder.mul(count, e.const_i64(u64::from(EVENT)), "");
    let length = Length::Dynamic(bytes);
    let check =
        PointerCheck { site, origin, length, align: EVENT, lead: 0, writes: false, is_watched: true, expected: None };
    let allowed = checked(e, objects, wait, events, &check);
    e.before(wait);
    let skipped = e.is_skipped(allowed);
    (e.builder.select(skipped, null, e.flat(allowed), ""), count)
}

/// Casts an integer to the given type, zero-extending.
fn integer<'m>(e: &Emitter<'m>, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
    e.builder.int_cast(value, ty, false, "")
}

/// Returns the number of a scope in OpenCL C's `memory_scope` (`opencl-c-base.h`).
fn scope_number(scope: Scope) -> u32 {
    match scope {
        Scope::WorkItem => 0,
        Scope::WorkGroup => 1,
        Scope::Device => 2,
        Scope::AllDevices => 3,
        Scope::SubGroup => 4,
    }
}

/// Removes the declarations of the placeholders.
///
/// # Errors
/// `Internal` if one still has a use other than a call in the kernel.
pub fn drop_declarations(view: View<'_>) -> Result<()> {
    for name in placeholder::ALL {
        let Some(function) = view.function(name) else { continue };
        if function.is_used() {
            return Err(Error::internal(format!("a use of {name} is left")));
        }
        // SAFETY: nothing uses it; functions are looked up by their names.
        unsafe { function.delete() };
    }
    Ok(())
}
