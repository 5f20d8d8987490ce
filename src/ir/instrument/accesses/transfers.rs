//! Checks the memory intrinsics of LLVM: `memcpy`, `memmove`, `memset`.

use kassay_model::native::abi::hook;
use kassay_model::native::table::Mode;

use super::check::{Length, PointerCheck, checked};
use super::emit::Emitter;
use super::objects::{Objects, Origin};
use super::sites::{Shape, Sites};
use super::values;
use crate::instrument::components;
use crate::llvm::IntPredicate::LLVMIntULT;
use crate::llvm::{Attribute, AttributeIndex, Function, Inst, Value};
use crate::lower::memory_intrinsics;

/// Maximum of a dynamic length after a pointer was replaced: the sink for skipped accesses has at least this
/// many bytes ([`kassay_model::native::abi::GroupContext::sink`]).
const SINK_BYTES: u64 = 4096;

/// One memory operand of a transfer.
struct Side {
    operand: u32,
    site: u32,
    origin: Origin,
    align: u32,
    writes: bool,
    /// Of a struct with padding in memory that is watched: its members are accessed, and not the padding.
    members: Vec<Member>,
}

/// Members of a struct with nothing in between.
struct Member {
    /// Bytes from the beginning of the struct.
    distance: u64,
    site: u32,
}

/// A call of a memory intrinsic with at least one operand to check.
pub struct Transfer<'m> {
    inst: Inst<'m>,
    /// `None`: known at run time only.
    bytes: Option<u64>,
    sides: Vec<Side>,
}

impl<'m> Transfer<'m> {
    /// Returns the pointers that are checked, by instruction and position.
    pub fn checked(&self) -> impl Iterator<Item = (Inst<'m>, u32)> + '_ {
        self.sides.iter().map(|side| (self.inst, side.operand))
    }
}

/// Finds the memory intrinsics that need a check and adds their sites.
pub fn find<'m>(kernel: Function<'m>, sites: &mut Sites<'_, 'm>) -> Vec<Transfer<'m>> {
    let mut all = Vec::new();
    for inst in kernel.instructions() {
        let Some(callee) = inst.callee() else { continue };
        let Some(pointers) = memory_intrinsics::transferred(&callee) else { continue };
        let operands = inst.operands();
        let bytes = values::constant(operands[2]);
        let parts = sites.races().then(|| components::members(sites.view, inst)).flatten().unwrap_or_default();
        let mut sides = Vec::new();
        for &(operand, writes) in pointers.iter().filter(|_| bytes != Some(0)) {
            let mode = if writes { Mode::Write } else { Mode::Read };
            let align = align(inst, operand);
            let shape = Shape { mode, bytes: bytes.unwrap_or(u64::from(align)), align, lead: 0, ordering: None };
            if let Some((site, origin)) = sites.access(inst, operands[operand as usize], shape, bytes) {
                let is_watched = sites.is_watched(&origin);
                let members = parts.iter().filter(|_| is_watched).map(|part| {
                    let align =
                        if part.start == 0 { align } else { align.min(1 << part.start.trailing_zeros().min(16)) };
                    let shape = Shape { bytes: part.end - part.start, align, ..shape };
                    Member { distance: part.start, site: sites.hook_access(inst, operands[operand as usize], shape) }
                });
                let members = members.collect();
                sides.push(Side { operand, site, origin, align, writes, members });
            }
        }
        if !sides.is_empty() {
            all.push(Transfer { inst, bytes, sides });
        }
    }
    all
}

/// Alignment that the call's attributes give for a pointer.
fn align(call: Inst<'_>, operand: u32) -> u32 {
    let given = call.attributes(AttributeIndex::Parameter(operand)).get("align").and_then(Attribute::number);
    given.map_or(1, |bytes| bytes.clamp(1, 1 << 16) as u32)
}

/// Replaces the pointers of `transfers` by checked ones and limits their length if one is the sink.
pub fn weave<'m>(e: &Emitter<'m>, objects: &Objects<'m>, transfers: &[Transfer<'m>]) {
    let b = &e.builder;
    for transfer in transfers {
        let inst = transfer.inst;
        if let Some(bytes) = transfer.bytes {
            // It may be a variable that is read before it is written.
            inst.set_operand(2, inst.operand(2).ty().int(bytes));
        }
        let length_operand = inst.operand(2);
        e.before(inst);
        let length = match transfer.bytes {
            Some(bytes) => Length::Fixed(bytes),
            None => Length::Dynamic(b.int_cast(length_operand, e.long, false, "")),
        };
        let mut replaced: Option<Value<'m>> = None;
        for side in &transfer.sides {
            let old = inst.operand(side.operand);
            let check = PointerCheck {
                site: side.site,
                origin: &side.origin,
                length,
                align: side.align,
                lead: 0,
                writes: side.writes,
                is_watched: side.members.is_empty(),
                expected: None,
            };
            let new = checked(e, objects, inst, old, &check);
            if !side.members.is_empty() {
                e.before(inst);
                let goes = e.builder.not(e.is_skipped(new), "");
                e.emit_if(inst, goes, || {
                    for member in &side.members {
                        let place = e.flat(e.byte_offset(old, member.distance));
                        e.hook(hook::ACCESS, e.pointer, &[place, e.const_i32(member.site)]);
                    }
                });
            }
            inst.set_operand(side.operand, new);
            if matches!(length, Length::Dynamic(_)) {
                e.before(inst);
                let skipped = e.is_skipped(new);
                replaced = Some(replaced.map_or(skipped, |others| b.or(others, skipped, "")));
            }
        }
        if let Some(skipped) = replaced {
            e.before(inst);
            let most = length_operand.ty().int(SINK_BYTES);
            let small = e.compare(LLVMIntULT, length_operand, most);
            let least = b.select(small, length_operand, most, "");
            inst.set_operand(2, b.select(skipped, least, length_operand, ""));
        }
    }
}
