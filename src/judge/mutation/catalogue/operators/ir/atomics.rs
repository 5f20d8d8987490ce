//! What the operators of synchronisation do to atomic instructions and fences, as opposed to calls of builtins: IR that
//! was not compiled from these has them (clang's own `__opencl_atomic_*` and `__atomic_*`, modules written by hand).

use kassay_ir::instrument::accesses::memory_orders;
use kassay_ir::instrument::mutants::{
    Action, AtomicChange, AtomicOperation, Binary, Edit, Expr, MemoryOrder, Predicate, Unary,
};
use kassay_ir::llvm::{AtomicRmwOperation, Inst, Opcode};
use kassay_model::native::table::Scope;

use super::super::super::level::OperatorLevel;
use super::super::super::subject::{OperatorOutput, Subject};
use super::atomic_words::{number, operation_word, order_word, order_words, word, words_of};
use super::site::{Site, is_number, shown_whole, sites};
use super::weakening::{fitting_failure, weaker};

/// Returns the instructions of these opcodes that are atomic; none at the level of the source, whose words they do not
/// have.
fn atomics<'a>(subject: &Subject<'a>, opcodes: &[Opcode]) -> Vec<Site<'a>> {
    match subject.level {
        OperatorLevel::Source => Vec::new(),
        OperatorLevel::Ir => sites(subject, |inst| inst.is_atomic() && opcodes.contains(&inst.opcode())),
    }
}

/// `FR`: deletes fences.
pub fn fences(subject: &Subject<'_>, id: &'static str, found: &mut OperatorOutput) {
    for site in atomics(subject, &[Opcode::LLVMFence]) {
        let edit = Edit::Instead { at: vec![site.place], by: Action::Nothing };
        site.add(id, shown_whole(site.inst), "", edit, true, found);
    }
}

/// `AR`: an atomic instruction by load, computation and store.
pub fn plain(subject: &Subject<'_>, id: &'static str, found: &mut OperatorOutput) {
    let wanted = [Opcode::LLVMAtomicRMW, Opcode::LLVMAtomicCmpXchg, Opcode::LLVMLoad, Opcode::LLVMStore];
    for site in atomics(subject, &wanted) {
        let new = match site.inst.rmw_operation() {
            Some(operation) => stored(operation),
            None if site.inst.is(Opcode::LLVMAtomicCmpXchg) => {
                let expected = Expr::Compare(Predicate::Eq, current(), given());
                Some((Expr::Select(Box::new(expected), Box::new(Expr::Operand(2)), current()), "load, icmp eq, store"))
            }
            None => {
                site.exclude(id, "a plain access does the same: the value is read or written at once", found);
                continue;
            }
        };
        match new.filter(|_| !site.inst.operand(1).ty().is_pointer() || site.inst.is(Opcode::LLVMAtomicCmpXchg)) {
            Some((new, text)) => {
                let by = Action::Plain { pointer: Expr::Operand(0), new };
                let edit = Edit::Instead { at: vec![site.place], by };
                site.add(id, shown_whole(site.inst), format!("plain: {text}"), edit, true, found);
            }
            None => site.exclude(id, "what it computes has no plain form among the edits", found),
        }
    }
}

fn current() -> Box<Expr> {
    Box::new(Expr::Current)
}

fn given() -> Box<Expr> {
    Box::new(Expr::Operand(1))
}

/// Returns what an `atomicrmw` stores, and its plain form in words.
fn stored(operation: AtomicRmwOperation) -> Option<(Expr, &'static str)> {
    use AtomicRmwOperation::*;
    let binary = |op| Expr::Binary(op, current(), given());
    let chosen = |predicate| Expr::Select(Box::new(Expr::Compare(predicate, current(), given())), current(), given());
    // A number is taken where the other operand is none.
    let of_floats = |predicate| {
        let by_order = Box::new(Expr::Compare(predicate, current(), given()));
        let no_number = Box::new(Expr::Compare(Predicate::FUno, given(), given()));
        Expr::Select(Box::new(Expr::Binary(Binary::Or, by_order, no_number)), current(), given())
    };
    Some(match operation {
        LLVMAtomicRMWBinOpXchg => (Expr::Operand(1), "load, store"),
        LLVMAtomicRMWBinOpAdd => (binary(Binary::Add), "load, add, store"),
        LLVMAtomicRMWBinOpSub => (binary(Binary::Sub), "load, sub, store"),
        LLVMAtomicRMWBinOpAnd => (binary(Binary::And), "load, and, store"),
        LLVMAtomicRMWBinOpNand => (Expr::Unary(Unary::Not, Box::new(binary(Binary::And))), "load, nand, store"),
        LLVMAtomicRMWBinOpOr => (binary(Binary::Or), "load, or, store"),
        LLVMAtomicRMWBinOpXor => (binary(Binary::Xor), "load, xor, store"),
        LLVMAtomicRMWBinOpMax => (chosen(Predicate::Sgt), "load, max, store"),
        LLVMAtomicRMWBinOpMin => (chosen(Predicate::Slt), "load, min, store"),
        LLVMAtomicRMWBinOpUMax => (chosen(Predicate::Ugt), "load, umax, store"),
        LLVMAtomicRMWBinOpUMin => (chosen(Predicate::Ult), "load, umin, store"),
        LLVMAtomicRMWBinOpFAdd => (binary(Binary::FAdd), "load, fadd, store"),
        LLVMAtomicRMWBinOpFSub => (binary(Binary::FSub), "load, fsub, store"),
        LLVMAtomicRMWBinOpFMax => (of_floats(Predicate::FOgt), "load, fmax, store"),
        LLVMAtomicRMWBinOpFMin => (of_floats(Predicate::FOlt), "load, fmin, store"),
        _ => return None,
    })
}

/// `AOP`: the operation of an `atomicrmw` by its counterpart.
pub fn counterparts(subject: &Subject<'_>, id: &'static str, found: &mut OperatorOutput) {
    for site in atomics(subject, &[Opcode::LLVMAtomicRMW, Opcode::LLVMAtomicCmpXchg]) {
        let Some((operation, word)) = site.inst.rmw_operation().and_then(counterpart) else {
            site.exclude(id, "the operation has no counterpart", found);
            continue;
        };
        if !is_number(site.inst.ty()) || site.inst.ty().is_float() {
            site.exclude(id, "the counterpart is there for integers only", found);
            continue;
        }
        let change = Action::Atomic(AtomicChange::Operation(operation));
        let edit = Edit::Instead { at: vec![site.place], by: change };
        let original = shown_whole(site.inst);
        let own = site.inst.rmw_operation().map_or("", operation_word);
        // The opcode's word comes first, and has the operation's in it.
        let replacement = original.replacen(&format!("atomicrmw {own}"), &format!("atomicrmw {word}"), 1);
        site.add(id, original, replacement, edit, true, found);
    }
}

/// Returns the operation that takes another's place, with its word.
pub fn counterpart(operation: AtomicRmwOperation) -> Option<(AtomicOperation, &'static str)> {
    use AtomicRmwOperation::*;
    Some(match operation {
        LLVMAtomicRMWBinOpAdd => (AtomicOperation::Sub, "sub"),
        LLVMAtomicRMWBinOpSub | LLVMAtomicRMWBinOpXchg => (AtomicOperation::Add, "add"),
        LLVMAtomicRMWBinOpAnd | LLVMAtomicRMWBinOpXor => (AtomicOperation::Or, "or"),
        LLVMAtomicRMWBinOpOr | LLVMAtomicRMWBinOpNand => (AtomicOperation::And, "and"),
        LLVMAtomicRMWBinOpMax => (AtomicOperation::Min, "min"),
        LLVMAtomicRMWBinOpMin => (AtomicOperation::Max, "max"),
        LLVMAtomicRMWBinOpUMax => (AtomicOperation::UMin, "umin"),
        LLVMAtomicRMWBinOpUMin => (AtomicOperation::UMax, "umax"),
        _ => return None,
    })
}

/// `IMO`: weaker memory orders, and narrower scopes.
pub fn weakened(subject: &Subject<'_>, id: &'static str, found: &mut OperatorOutput) {
    use Opcode::*;
    for site in atomics(subject, &[LLVMLoad, LLVMStore, LLVMAtomicRMW, LLVMAtomicCmpXchg, LLVMFence]) {
        let inst = site.inst;
        let Some(own) = inst.ordering() else { continue };
        let accesses = (!inst.is(LLVMStore), !inst.is(LLVMLoad));
        let failure = inst.failure_ordering();
        let mut changes = Vec::new();
        // A relaxed fence is no instruction: that mutant is FR's.
        let orders = weaker(number(own), accesses).into_iter().filter(|order| *order != 0 || !inst.is(LLVMFence));
        for order in orders {
            changes.push((order, failure.map(|failure| fitting_failure(order, number(failure)))));
        }
        for weaker in failure.into_iter().flat_map(|failure| weaker(number(failure), (true, false))) {
            changes.push((number(own), Some(weaker)));
        }
        let mut add = |change: AtomicChange, orders: String| {
            let edit = Edit::Instead { at: vec![site.place], by: Action::Atomic(change) };
            let original = shown_whole(inst);
            let kept = original.strip_suffix(&order_words(inst)).unwrap_or(&original);
            let replacement = format!("{kept}{orders}");
            site.add(id, original, replacement, edit, true, found);
        };
        for (order, failure) in changes {
            let Some(new) = memory_order(order) else { continue };
            let words = words_of(memory_orders::scope_name(inst), word(order), failure.map(word));
            add(AtomicChange::Order { order: new, failure: failure.and_then(memory_order) }, words);
        }
        if let Some(name) = narrower(subject, inst) {
            let words = words_of(name, order_word(own), failure.map(order_word));
            add(AtomicChange::Scope(name), words);
        }
    }
}

/// Returns the name of the next narrower scope.
fn narrower(subject: &Subject<'_>, inst: Inst<'_>) -> Option<&'static str> {
    match memory_orders::scope(subject.module, inst) {
        Scope::AllDevices => Some("device"),
        Scope::Device => Some("workgroup"),
        Scope::WorkGroup | Scope::SubGroup | Scope::WorkItem => None,
    }
}

fn memory_order(number: i64) -> Option<MemoryOrder> {
    Some(match number {
        0 => MemoryOrder::Monotonic,
        2 => MemoryOrder::Acquire,
        3 => MemoryOrder::Release,
        4 => MemoryOrder::AcquireRelease,
        5 => MemoryOrder::SequentiallyConsistent,
        _ => return None,
    })
}
