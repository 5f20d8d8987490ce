//! The words of LLVM's IR for what atomic instructions do and how they are ordered.

use kassay_ir::instrument::accesses::memory_orders;
use kassay_ir::llvm::{AtomicOrdering, AtomicRmwOperation, Inst};

/// Returns the number of an ordering in OpenCL C's `memory_order`.
pub fn number(order: AtomicOrdering) -> i64 {
    memory_orders::number(order).into()
}

/// Returns LLVM's word for an order that is given by its number in OpenCL C.
pub fn word(number: i64) -> &'static str {
    match number {
        2 => "acquire",
        3 => "release",
        4 => "acq_rel",
        5 => "seq_cst",
        _ => "monotonic",
    }
}

/// Returns LLVM's word for an ordering.
pub fn order_word(order: AtomicOrdering) -> &'static str {
    match order {
        AtomicOrdering::LLVMAtomicOrderingUnordered => "unordered",
        _ => word(number(order)),
    }
}

/// Returns the scope and the orders of an atomic instruction as LLVM writes them: `syncscope("device") acquire`;
/// nothing for other instructions.
pub fn order_words(inst: Inst<'_>) -> String {
    match inst.ordering().filter(|_| inst.is_atomic()) {
        Some(own) => {
            words_of(memory_orders::scope_name(inst), order_word(own), inst.failure_ordering().map(order_word))
        }
        None => String::new(),
    }
}

/// Returns a scope and orders as LLVM writes them.
pub fn words_of(scope: &str, order: &str, failure: Option<&str>) -> String {
    let scope = (!scope.is_empty()).then(|| format!("syncscope(\"{scope}\")"));
    let words = scope.into_iter().chain([order.to_owned()]).chain(failure.map(str::to_owned));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns LLVM's word for what an `atomicrmw` does.
pub fn operation_word(operation: AtomicRmwOperation) -> &'static str {
    use AtomicRmwOperation::*;
    match operation {
        LLVMAtomicRMWBinOpXchg => "xchg",
        LLVMAtomicRMWBinOpAdd => "add",
        LLVMAtomicRMWBinOpSub => "sub",
        LLVMAtomicRMWBinOpAnd => "and",
        LLVMAtomicRMWBinOpNand => "nand",
        LLVMAtomicRMWBinOpOr => "or",
        LLVMAtomicRMWBinOpXor => "xor",
        LLVMAtomicRMWBinOpMax => "max",
        LLVMAtomicRMWBinOpMin => "min",
        LLVMAtomicRMWBinOpUMax => "umax",
        LLVMAtomicRMWBinOpUMin => "umin",
        LLVMAtomicRMWBinOpFAdd => "fadd",
        LLVMAtomicRMWBinOpFSub => "fsub",
        LLVMAtomicRMWBinOpFMax => "fmax",
        LLVMAtomicRMWBinOpFMin => "fmin",
        LLVMAtomicRMWBinOpUIncWrap => "uinc_wrap",
        LLVMAtomicRMWBinOpUDecWrap => "udec_wrap",
        _ => "operation",
    }
}
