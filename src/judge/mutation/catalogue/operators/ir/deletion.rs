//! Deletions: `IST` deletes stores, `ICA` calls.

use kassay_ir::instrument::mutants::{Action, Edit};
use kassay_ir::kernel::builtins::{Builtin, Family};
use kassay_ir::llvm::{Inst, Opcode, Type};

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::site::{Site, sites};

/// Deletes stores.
pub const IST: Operator = Operator {
    id: "IST",
    name: "store deletion",
    class: "statement",
    description: "a `store` deleted, but not of a pointer",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Deletion,
    levels: level::IR,
    enumerate: stores,
};

/// Deletes calls.
pub const ICA: Operator = Operator {
    id: "ICA",
    name: "call deletion",
    class: "statement",
    description: "a call deleted, or an `atomicrmw` or `cmpxchg`, its result 0; not of barriers, fences, `printf`, and what gives \
                  a pointer",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Deletion,
    levels: level::IR,
    enumerate: calls,
};

fn delete(site: &Site<'_>, operator: &'static str, found: &mut OperatorOutput) {
    let edit = Edit::Instead { at: vec![site.place], by: Action::Nothing };
    let replacement = if site.inst.is_used() { "0" } else { "" };
    site.add(operator, super::site::shown_whole(site.inst), replacement, edit, true, found);
}

fn stores(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for site in sites(subject, |inst| inst.is(Opcode::LLVMStore)) {
        match may_point(site.inst.operand(0).ty()) {
            true => site.exclude(IST.id, "without it a pointer would lead anywhere", found),
            false => delete(&site, IST.id, found),
        }
    }
}

/// Returns whether values of a type hold a pointer, or what only the device knows.
fn may_point(ty: Type<'_>) -> bool {
    match ty.elements() {
        Some((element, _)) => may_point(element),
        None if ty.is_struct() => ty.fields().into_iter().any(may_point),
        None => !ty.is_integer() && !ty.is_floating_point(),
    }
}

fn calls(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let is_rmw = |inst: Inst<'_>| matches!(inst.opcode(), Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg);
    for site in sites(subject, |inst| inst.is_call() || is_rmw(inst)) {
        let reason = match is_rmw(site.inst) {
            true => (site.inst.is_used() && may_point(site.inst.ty())).then_some("its result cannot be 0"),
            false => kept(site.inst),
        };
        match reason {
            None => delete(&site, ICA.id, found),
            Some("") => {}
            Some(reason) => site.exclude(ICA.id, reason, found),
        }
    }
}

/// Returns why a call is not deleted; nothing to say of what is no call in the kernel.
fn kept(call: Inst<'_>) -> Option<&'static str> {
    let Some(callee) = call.callee() else { return Some("what it calls is not known") };
    let markers = ["llvm.dbg.", "llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias", "llvm.invariant."];
    if markers.iter().any(|start| callee.starts_with(start)) {
        return Some("");
    }
    if callee.contains("__translate_sampler_initializer") {
        return Some("a sampler is no number");
    }
    match Builtin::of(&callee).map(Builtin::family) {
        Some(Family::Barrier | Family::SubGroupBarrier | Family::Fence) => {
            return Some("barriers and fences are SYR's, SCR's and FR's");
        }
        Some(Family::Printf) => return Some("it only prints: no output is another without it"),
        _ => {}
    }
    let ty = call.ty();
    match call.is_used() {
        true if may_point(ty) => Some("its result cannot be 0"),
        false if !ty.is_void() && !super::super::super::control::effects::has_effects(call) => {
            Some("its result is not used")
        }
        _ => None,
    }
}
