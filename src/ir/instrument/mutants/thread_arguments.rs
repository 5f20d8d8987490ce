//! Passes to the functions of a kernel what their woven code needs: the probe buffer, or the numbers of
//! the active mutants.

use std::cell::Cell;

use kassay_base::error::{Error, Result};

use super::emitter::Emitter;
use super::expr::declare;
use super::weaver::Numbers;
use crate::cfg::indices::FunctionIndex;
use crate::cfg::sites::Sites;
use crate::instrument::layout::{SLOT_FUNCTION, slot};
use crate::kernel::parameters;
use crate::llvm::{AddressSpace, Function, Inst, Type, Value};

/// Returns which functions contain woven code, directly (`own`) or in what they call; the kernel always counts.
///
/// # Errors
/// `Internal` if one of them cannot get another argument because its address is taken.
pub(super) fn needs(
    functions: &[Function<'_>],
    sites: &Sites,
    own: &dyn Fn(FunctionIndex) -> bool,
) -> Result<Vec<bool>> {
    let callers: Vec<Vec<Function<'_>>> =
        functions.iter().map(|f| f.value().user_instructions().into_iter().map(Inst::function).collect()).collect();
    let mut needs: Vec<bool> =
        FunctionIndex::first(functions.len()).map(|f| f == FunctionIndex::KERNEL || own(f)).collect();
    let mut todo: Vec<FunctionIndex> = FunctionIndex::first(functions.len()).filter(|f| needs[*f]).collect();
    while let Some(f) = todo.pop() {
        for caller in FunctionIndex::enumerate(functions).filter(|(_, g)| callers[f].contains(g)).map(|(g, _)| g) {
            if !needs[caller] {
                needs[caller] = true;
                todo.push(caller);
            }
        }
    }
    match FunctionIndex::first(functions.len()).find(|f| needs[*f] && !parameters::only_called(functions[*f])) {
        None => Ok(needs),
        Some(f) => Err(Error::internal(format!(
            "the address of `{}` is taken (by a block or enqueue_kernel): it cannot hold mutants",
            sites.functions[f].cfg.function
        ))),
    }
}

/// The value that the kernel passes to its helpers.
enum KernelValue<'k, 'm> {
    /// The kernel gets an argument of this type, too, from which the value is computed.
    Appended(Type<'m>, &'k dyn Fn(Value<'m>) -> Value<'m>),
    /// It is computed already.
    Known(Value<'m>),
}

/// Appends an argument to all functions that need it: one of type `ty` to helpers, and to the kernel what `kernel`
/// says. Returns the helpers' value by function; `functions` are replaced by the new ones.
fn append<'m>(
    functions: &mut [Function<'m>],
    needs: &[bool],
    ty: Type<'m>,
    name: &str,
    kernel: &KernelValue<'_, 'm>,
) -> Vec<Option<Value<'m>>> {
    let mut all = Vec::new();
    let mut values = vec![None; functions.len()];
    for f in FunctionIndex::first(functions.len()).filter(|f| needs[*f]) {
        let (ty, name) = match (f, kernel) {
            (FunctionIndex::KERNEL, KernelValue::Known(value)) => {
                values[FunctionIndex::KERNEL] = Some(*value);
                continue;
            }
            (FunctionIndex::KERNEL, KernelValue::Appended(ty, _)) => (*ty, "kassay_probe"),
            _ => (ty, name),
        };
        let extended = parameters::append(functions[f], ty, name);
        functions[f] = extended.function;
        values[f] = Some(extended.parameter);
        if let (FunctionIndex::KERNEL, KernelValue::Appended(_, value)) = (f, kernel) {
            parameters::describe(extended.function, "kassay_probe", "uint*", AddressSpace::Global);
            values[FunctionIndex::KERNEL] = Some(value(extended.parameter));
        }
        all.push(extended);
    }
    for extended in all {
        // A caller needs the value too.
        let value_in = |caller| functions.iter().position(|f| *f == caller).map(FunctionIndex).and_then(|f| values[f]);
        // SAFETY: the new function has taken its place in `functions`. What an earlier argument of the old one may be
        // kept for, its caller asks the new one for; no handle of a call is kept.
        unsafe { extended.replace_old(value_in) };
    }
    values
}

fn global_pointer<'m>(emitter: &Emitter<'m>) -> Type<'m> {
    emitter.view.pointer_type(AddressSpace::Global)
}

/// Gives the kernel and the helpers that need it the probe buffer as their last argument.
pub(super) fn probe<'m>(
    emitter: &Emitter<'m>,
    functions: &mut [Function<'m>],
    needs: &[bool],
) -> Vec<Option<Value<'m>>> {
    let ty = global_pointer(emitter);
    append(functions, needs, ty, "kassay_probe", &KernelValue::Appended(ty, &|probe| probe))
}

/// Gives the kernel the probe buffer as its last argument, and the helpers that need them the numbers of the active
/// mutants, which the kernel loads once, at its start, from the words of its slot. Returns the numbers by function.
pub(super) fn numbers<'m>(
    emitter: &Emitter<'m>,
    functions: &mut [Function<'m>],
    needs: &[bool],
    pairs: bool,
) -> Vec<Option<Numbers<'m>>> {
    let (b, int, pointer) = (&emitter.builder, emitter.int(), global_pointer(emitter));
    let read = |slot: Value<'m>, word: u32| {
        let address = b.in_bounds_gep(int, slot, &[emitter.number(word)], "");
        b.load(int, address, "kassay.mutant").value()
    };
    let loaded_second = Cell::new(None);
    let at_entry = |probe: Value<'m>| {
        // The call gets no debug location, for its callee has none.
        probe.function().into_iter().for_each(|kernel| stand_at_start(emitter, kernel));
        let find = emitter.view.function(SLOT_FUNCTION);
        let find =
            find.unwrap_or_else(|| declare(emitter.view, SLOT_FUNCTION, pointer.function(&[pointer], false), false));
        let slot = b.call(find, &[probe], "kassay.slot").value();
        let first = read(slot, slot::MUTANT);
        loaded_second.set(pairs.then(|| read(slot, slot::SECOND)));
        first
    };
    let first = append(functions, needs, int, "kassay_mutant", &KernelValue::Appended(pointer, &at_entry));
    let second = match loaded_second.get() {
        Some(second) => append(functions, needs, int, "kassay_second", &KernelValue::Known(second)),
        None => Vec::new(),
    };
    let numbers = |(f, first): (usize, Option<Value<'m>>)| {
        let Some(second) = second.get(f).copied().flatten() else {
            return Some(Numbers { first: first?, second: None });
        };
        // Where a second argument was appended, the function is another one since, and the first number the last but
        // one.
        let first = match f {
            0 => first?,
            _ => second.function()?.params().into_iter().nth_back(1)?,
        };
        Some(Numbers { first, second: Some(second) })
    };
    first.into_iter().enumerate().map(numbers).collect()
}

/// Positions the builder at the start of `function`.
fn stand_at_start<'m>(emitter: &Emitter<'m>, function: Function<'m>) {
    let entry = function.entry();
    emitter.builder.before(entry.walk().next().unwrap_or_else(|| entry.terminator()));
}

/// Inserts stand-ins for the active numbers at the start of `function`, which [`settle`] replaces.
pub(super) fn stand_in<'m>(emitter: &Emitter<'m>, function: Function<'m>, pairs: bool) -> Numbers<'m> {
    stand_at_start(emitter, function);
    // A `freeze` is never folded.
    let one = || emitter.builder.freeze(emitter.int().poison(), "");
    Numbers { first: one(), second: pairs.then(one) }
}

/// Replaces the stand-ins by the numbers.
pub(super) fn settle<'m>(stand_in: Numbers<'m>, numbers: Option<Numbers<'m>>) {
    settle_one(stand_in.first, numbers.map(|n| n.first));
    if let Some(second) = stand_in.second {
        settle_one(second, numbers.and_then(|n| n.second));
    }
}

/// Inserts a stand-in for the probe buffer in `function`, which [`settle_one`] replaces.
pub(super) fn stand_in_probe<'m>(emitter: &Emitter<'m>, function: Function<'m>) -> Value<'m> {
    stand_at_start(emitter, function);
    emitter.builder.freeze(global_pointer(emitter).poison(), "")
}

/// Replaces a stand-in by a value of its type and function that stands before all its uses. A function that gets none
/// holds nothing woven.
pub(super) fn settle_one<'m>(stand_in: Value<'m>, value: Option<Value<'m>>) {
    if let Some(value) = value {
        stand_in.replace_uses(value);
    }
    if let Some(stand_in) = stand_in.as_instruction() {
        stand_in.erase();
    }
}
