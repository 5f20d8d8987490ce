//! Passes to the functions of a kernel what their woven code needs: the probe buffer, or the numbers of
//! the active mutants.

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::expr::declare;
use super::ir_tools::Tools;
use super::weaver::Numbers;
use crate::cfg::sites::Sites;
use crate::error::{Error, Result};
use crate::instrument::layout::slot;
use crate::kernel::ir::{self, Function};
use crate::kernel::parameters;

/// The function that returns the words of the run's slot in the probe buffer. The weavers declare it;
/// [`crate::instrument::ids`] defines it, depending on how many slots a launch has.
pub(super) const SLOT: &std::ffi::CStr = c"__kassay_slot";

/// Returns which functions contain woven code, directly (`own`) or in what they call; the kernel always counts.
///
/// # Errors
/// `Internal` if one of them cannot get another argument because its address is taken.
pub(super) fn needs(functions: &[Function], sites: &Sites, own: &dyn Fn(usize) -> bool) -> Result<Vec<bool>> {
    let callers: Vec<Vec<Function>> = functions
        .iter()
        .map(|f| {
            let calls = ir::users(f.0).into_iter().filter(|u| {
                // SAFETY: alive; users of a function are constants or instructions.
                unsafe { !LLVMIsAInstruction(*u).is_null() }
            });
            // SAFETY: alive and inside a block of a function.
            calls.map(|c| unsafe { Function(LLVMGetBasicBlockParent(LLVMGetInstructionParent(c))) }).collect()
        })
        .collect();
    let mut needs: Vec<bool> = (0..functions.len()).map(|f| f == 0 || own(f)).collect();
    let mut todo: Vec<usize> = (0..functions.len()).filter(|f| needs[*f]).collect();
    while let Some(f) = todo.pop() {
        for caller in functions.iter().enumerate().filter(|(_, g)| callers[f].contains(g)).map(|(g, _)| g) {
            if !needs[caller] {
                needs[caller] = true;
                todo.push(caller);
            }
        }
    }
    match (0..functions.len()).find(|f| needs[*f] && !parameters::only_called(functions[*f])) {
        None => Ok(needs),
        Some(f) => Err(Error::internal(format!(
            "the address of `{}` is taken (by a block or enqueue_kernel): it cannot hold mutants",
            sites.functions[f].cfg.function
        ))),
    }
}

/// Computes the value that the kernel passes to its helpers from the kernel's new argument.
type KernelValue<'a> = dyn Fn(LLVMValueRef) -> LLVMValueRef + 'a;

/// Appends an argument to all functions that need it: one of type `kernel.0` to the kernel (none if absent), one of
/// type `ty` to helpers, whose value in the kernel `kernel.1` computes. Returns the helpers' value by function;
/// `functions` are replaced by the new ones.
fn append(
    functions: &mut [Function],
    needs: &[bool],
    ty: LLVMTypeRef,
    name: &str,
    kernel: (Option<LLVMTypeRef>, &KernelValue<'_>),
) -> Vec<Option<LLVMValueRef>> {
    let mut calls = Vec::new();
    let mut values = vec![None; functions.len()];
    for f in (0..functions.len()).filter(|f| needs[*f]) {
        let ty = match (f, kernel.0) {
            (0, None) => {
                values[0] = Some((kernel.1)(std::ptr::null_mut()));
                continue;
            }
            (0, Some(ty)) => ty,
            _ => ty,
        };
        let old = functions[f];
        let (new, old_calls) = parameters::append(old, ty, if f == 0 { "kassay_probe" } else { name });
        functions[f] = new;
        // SAFETY: alive; the last parameter is the one just added.
        let last = unsafe { LLVMGetLastParam(new.0) };
        if f == 0 {
            parameters::describe(new, "kassay_probe", "uint*", 1);
            values[0] = Some((kernel.1)(last));
        } else {
            values[f] = Some(last);
        }
        calls.push((old, new, old_calls));
    }
    for (old, new, old_calls) in calls {
        for call in old_calls {
            // SAFETY: alive; a user of a function that is only called is a call.
            let caller = Function(unsafe { LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) });
            // A caller either needs the value too, or is not reachable from the kernel and therefore not in the list.
            if let Some(value) = functions.iter().position(|f| *f == caller).and_then(|f| values[f]) {
                parameters::call_with(call, new, value);
            }
        }
        // SAFETY: its body has moved and its calls are rewritten.
        unsafe { LLVMDeleteFunction(old.0) };
    }
    values
}

fn global_pointer(tools: &Tools) -> LLVMTypeRef {
    // SAFETY: the context is alive.
    unsafe { LLVMPointerTypeInContext(tools.context, 1) }
}

/// Gives the kernel and the helpers that need it the probe buffer as their last argument.
pub(super) fn probe(tools: &Tools, functions: &mut [Function], needs: &[bool]) -> Vec<Option<LLVMValueRef>> {
    let ty = global_pointer(tools);
    append(functions, needs, ty, "kassay_probe", (Some(ty), &|probe| probe))
}

/// Gives the kernel the probe buffer as its last argument, and the helpers that need them the numbers of the active
/// mutants, which the kernel loads once, at its start, from the words of its slot. Returns the numbers by function.
pub(super) fn numbers(tools: &Tools, functions: &mut [Function], needs: &[bool], pairs: bool) -> Vec<Option<Numbers>> {
    let read = |slot: LLVMValueRef, word: u32| {
        let mut index = [tools.number(word)];
        // SAFETY: alive; a slot has that many words.
        unsafe {
            let b = tools.builder;
            let address = LLVMBuildInBoundsGEP2(b, tools.int(), slot, index.as_mut_ptr(), 1, c"".as_ptr());
            LLVMBuildLoad2(b, tools.int(), address, c"kassay.mutant".as_ptr())
        }
    };
    let loaded = std::cell::Cell::new((std::ptr::null_mut(), std::ptr::null_mut()));
    let at_entry = |probe: LLVMValueRef| {
        // SAFETY: alive; the entry block has a terminator. The call gets no debug location, for its callee has none.
        unsafe {
            let entry = LLVMGetEntryBasicBlock(LLVMGetParamParent(probe));
            tools.before(LLVMGetFirstInstruction(entry));
            let mut pointer = global_pointer(tools);
            let ty = LLVMFunctionType(pointer, &mut pointer, 1, 0);
            let known = LLVMGetNamedFunction(tools.module, SLOT.as_ptr());
            let find = if known.is_null() { declare(tools, SLOT, ty, false) } else { known };
            let mut argument = probe;
            let slot = LLVMBuildCall2(tools.builder, ty, find, &mut argument, 1, c"kassay.slot".as_ptr());
            LLVMSetInstructionCallConv(slot, LLVMGetFunctionCallConv(find));
            let first = read(slot, slot::MUTANT);
            loaded.set((first, if pairs { read(slot, slot::SECOND) } else { first }));
            first
        }
    };
    let pointer = global_pointer(tools);
    let first = append(functions, needs, tools.int(), "kassay_mutant", (Some(pointer), &at_entry));
    let second = if pairs {
        append(functions, needs, tools.int(), "kassay_second", (None, &|_| loaded.get().1))
    } else {
        Vec::new()
    };
    let numbers = |(f, first): (usize, Option<LLVMValueRef>)| {
        let Some(second) = second.get(f).copied().flatten() else {
            return Some(Numbers { first: first?, second: None });
        };
        // Where a second argument was appended, the function is another one since, and the first number the last but one.
        // SAFETY: alive; helpers got two arguments.
        let first = if f == 0 { first? } else { unsafe { LLVMGetPreviousParam(second) } };
        Some(Numbers { first, second: Some(second) })
    };
    first.into_iter().enumerate().map(numbers).collect()
}

/// Inserts stand-ins for the active numbers at the start of `function`, which [`settle`] replaces.
pub(super) fn stand_in(tools: &Tools, function: Function, pairs: bool) -> Numbers {
    // SAFETY: alive; the entry block has a terminator. A `freeze` is never folded.
    unsafe {
        tools.before(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function.0)));
        let one = || LLVMBuildFreeze(tools.builder, LLVMGetPoison(tools.int()), c"".as_ptr());
        Numbers { first: one(), second: pairs.then(one) }
    }
}

/// Replaces the stand-ins by the numbers.
pub(super) fn settle(stand_in: Numbers, numbers: Option<Numbers>) {
    settle_one(stand_in.first, numbers.map(|n| n.first));
    if let Some(second) = stand_in.second {
        settle_one(second, numbers.and_then(|n| n.second));
    }
}

/// Inserts a stand-in for the probe buffer in `function`, which [`settle_one`] replaces.
pub(super) fn stand_in_probe(tools: &Tools, function: Function) -> LLVMValueRef {
    // SAFETY: as of `stand_in`.
    unsafe {
        tools.before(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function.0)));
        LLVMBuildFreeze(tools.builder, LLVMGetPoison(global_pointer(tools)), c"".as_ptr())
    }
}

/// Replaces a stand-in by a value.
pub(super) fn settle_one(stand_in: LLVMValueRef, value: Option<LLVMValueRef>) {
    // SAFETY: alive; both are of one type and function, and the value stands before all uses. A function that gets no
    // value holds nothing woven.
    unsafe {
        if let Some(value) = value {
            LLVMReplaceAllUsesWith(stand_in, value);
        }
        LLVMInstructionEraseFromParent(stand_in);
    }
}
