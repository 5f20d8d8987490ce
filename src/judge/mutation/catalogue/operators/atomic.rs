//! Atomics: `AR` makes an atomic operation a plain one, `AOP` replaces the operation by another.
//!
//! Covers the atomics of OpenCL C 1.x (6.12.11: `atomic_*`, and `atom_*` of the extensions) and those of C11 as in
//! OpenCL C 2.0 (6.13.11).

use kassay_ir::instrument::mutants::AtomicChange;
use kassay_ir::instrument::mutants::edit::{Action, Binary, Edit, Expr, Predicate};
use kassay_ir::kernel::builtins::{self, Operation, is_float, is_signed, operation, pointee};
use kassay_ir::llvm::{AtomicRmwOperation, Inst};

use super::super::level::{self, Concept, OperatorLevel};
use super::super::subject::{Operator, OperatorOutput, Subject};
use super::calls::{self, Call};
use super::ir::atomics;

/// Replaces an atomic by load, computation and store (LIU, table 6.2).
pub const AR: Operator = Operator {
    id: "AR",
    name: "atomic replacement",
    class: "atomic",
    description: "an atomic by load, computation and store",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Synchronisation,
    levels: level::BOTH,
    enumerate: ar,
};

/// Replaces the operation of an atomic by its counterpart.
pub const AOP: Operator = Operator {
    id: "AOP",
    name: "atomic operation",
    class: "atomic",
    description: "the operation of an atomic by its counterpart: `add`/`sub`, `min`/`max`, `and`/`or`, `inc`/`dec`, `xor` by `or`, \
           `xchg` by `add`",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Synchronisation,
    levels: level::BOTH,
    enumerate: aop,
};

fn calls_of_atomics(subject: &Subject<'_>) -> Vec<(Call, Operation)> {
    let calls = calls::find(subject, |name| operation(name).is_some());
    calls.into_iter().filter_map(|call| operation(&call.name).map(|operation| (call, operation))).collect()
}

fn ar(subject: &Subject<'_>, found: &mut OperatorOutput) {
    atomics::plain(subject, AR.id, found);
    for (call, operation) in calls_of_atomics(subject) {
        let Some(ty) = pointee(&call.params) else {
            call.exclude(AR.id, "the type of its memory is not known", found);
            continue;
        };
        match plain(&call, operation, ty) {
            Ok((by, text)) => {
                let edit = Edit::Instead { at: call.places.clone(), by };
                found.mutants.push(call.mutant(AR.id, format!("plain: {text}"), edit, true));
            }
            Err(reason) => call.exclude(AR.id, reason, found),
        }
    }
    for (call, operation, inst) in instructions(subject) {
        match plain(&call, operation, type_of(inst)) {
            Ok((by, text)) => {
                let edit = Edit::Instead { at: call.places.clone(), by };
                found.mutants.push(call.mutant(AR.id, format!("plain: {text}"), edit, true));
            }
            Err(reason) => call.exclude(AR.id, reason, found),
        }
    }
}

/// The calls of CUDA that are atomic instructions. Operators of the IR find these by themselves.
fn instructions<'a>(subject: &Subject<'a>) -> Vec<(Call, Operation, Inst<'a>)> {
    match subject.level {
        OperatorLevel::Source => calls::atomic_instructions(subject),
        OperatorLevel::Ir => Vec::new(),
    }
}

/// Returns the letter of the type in memory, as in mangled names.
fn type_of(inst: Inst<'_>) -> char {
    use AtomicRmwOperation::{LLVMAtomicRMWBinOpUMax, LLVMAtomicRMWBinOpUMin};
    match inst.rmw_operation() {
        _ if inst.ty().is_float() => 'f',
        Some(LLVMAtomicRMWBinOpUMax | LLVMAtomicRMWBinOpUMin) => 'j',
        _ => 'i',
    }
}

/// Returns the plain form of an atomic, as an action and as C text.
fn plain(call: &Call, operation: Operation, ty: char) -> Result<(Action, String), &'static str> {
    use Operation::*;
    let current = || Box::new(Expr::Current);
    let given = || Box::new(Expr::Operand(1));
    let binary = |int: Binary, float: Binary| Expr::Binary(if is_float(ty) { float } else { int }, current(), given());
    let (x, v) = (place_text(&call.arg(0)), call.arg(1));
    let least = |word: &str, signed, unsigned, float| {
        let predicate = match ty {
            ty if is_float(ty) => float,
            ty if is_signed(ty) => signed,
            _ => unsigned,
        };
        let new = Expr::Select(Box::new(Expr::Compare(predicate, current(), given())), current(), given());
        (new, format!("{x} = {word}({x}, {v})"))
    };
    let (new, text) = match operation {
        Add => (binary(Binary::Add, Binary::FAdd), format!("{x} += {v}")),
        Sub => (binary(Binary::Sub, Binary::FSub), format!("{x} -= {v}")),
        And => (binary(Binary::And, Binary::And), format!("{x} &= {v}")),
        Or => (binary(Binary::Or, Binary::Or), format!("{x} |= {v}")),
        Xor => (binary(Binary::Xor, Binary::Xor), format!("{x} ^= {v}")),
        Inc => (Expr::Binary(Binary::Add, current(), Box::new(Expr::Integer(1))), format!("{x}++")),
        Dec => (Expr::Binary(Binary::Sub, current(), Box::new(Expr::Integer(1))), format!("{x}--")),
        Min => least("min", Predicate::Slt, Predicate::Ult, Predicate::FOlt),
        Max => least("max", Predicate::Sgt, Predicate::Ugt, Predicate::FOgt),
        Exchange => (Expr::Operand(1), format!("{x} = {v}")),
        CompareExchange => {
            let same = Expr::Compare(Predicate::Eq, current(), given());
            let new = Expr::Select(Box::new(same), Box::new(Expr::Operand(2)), current());
            (new, format!("{x} = {x} == {v} ? {} : {x}", call.arg(2)))
        }
        CompareExchangeBool => {
            let by = Action::PlainCompareExchange {
                pointer: Expr::Operand(0),
                expected: Expr::Operand(1),
                desired: Expr::Operand(2),
            };
            let (e, d) = (place_text(&v), call.arg(2));
            return Ok((by, format!("{x} == {e} ? ({x} = {d}, true) : ({e} = {x}, false)")));
        }
        Load | Store => return Err("a plain access does the same: the value is read or written at once"),
        Clear => return Err("a plain store does the same: the flag is written at once"),
        TestAndSet => return Err("a flag has no plain form: what it holds is the implementation's choice"),
    };
    Ok((Action::Plain { pointer: Expr::Operand(0), new }, text))
}

/// Returns the C text of a pointer's target: `bins[b]` for `&bins[b]`.
fn place_text(pointer: &str) -> String {
    let pointer = pointer.trim();
    let is_plain = |text: &str| {
        let mut depth = 0;
        !text.is_empty()
            && text.chars().all(|c| {
                depth += i32::from(matches!(c, '[' | '(')) - i32::from(matches!(c, ']' | ')'));
                depth > 0 || c.is_ascii_alphanumeric() || "_.[]()".contains(c)
            })
    };
    match pointer.strip_prefix('&').map(str::trim_start) {
        Some(object) if is_plain(object) => object.to_owned(),
        _ if is_plain(pointer) => format!("*{pointer}"),
        _ => format!("*({pointer})"),
    }
}

fn aop(subject: &Subject<'_>, found: &mut OperatorOutput) {
    use Operation::*;
    atomics::counterparts(subject, AOP.id, found);
    for (call, operation) in calls_of_atomics(subject) {
        let (from, to) = match operation {
            Add => ("add", "sub"),
            Sub => ("sub", "add"),
            Min => ("min", "max"),
            Max => ("max", "min"),
            And => ("and", "or"),
            Or => ("or", "and"),
            Xor => ("xor", "or"),
            Inc => ("inc", "dec"),
            Dec => ("dec", "inc"),
            Exchange if call.name.contains("xchg") => ("xchg", "add"),
            Exchange => ("exchange", "fetch_add"),
            CompareExchange | CompareExchangeBool | Load | Store | TestAndSet | Clear => {
                call.exclude(AOP.id, "the operation has no counterpart", found);
                continue;
            }
        };
        if pointee(&call.params).is_none_or(is_float) {
            call.exclude(AOP.id, "the counterpart is not there for floats", found);
            continue;
        }
        // The operation is the last word of the name, apart from `_explicit`.
        let Some(at) = call.name.rfind(from) else { continue };
        let name = format!("{}{to}{}", &call.name[..at], &call.name[at + from.len()..]);
        let args = (0..call.operand_count()).map(|i| Expr::Operand(i as u32)).collect();
        let by = Action::Call { callee: builtins::mangle(&name, &call.params), args };
        let edit = Edit::Instead { at: call.places.clone(), by };
        let spelt = if call.is_of_cuda { cuda_name(to).to_owned() } else { name };
        found.mutants.push(call.mutant(AOP.id, call.call_text(&spelt, &call.all_args()), edit, true));
    }
    for (call, _, inst) in instructions(subject) {
        let Some((operation, word)) = inst.rmw_operation().and_then(atomics::counterpart) else {
            call.exclude(AOP.id, "the operation has no counterpart", found);
            continue;
        };
        if inst.ty().is_float() {
            call.exclude(AOP.id, "the counterpart is not there for floats", found);
            continue;
        }
        let by = Action::Atomic(AtomicChange::Operation(operation));
        let edit = Edit::Instead { at: call.places.clone(), by };
        let scope = call.name.find('_').map_or("", |at| &call.name[at..]);
        let name = format!("{}{scope}", cuda_name(word.trim_start_matches('u')));
        found.mutants.push(call.mutant(AOP.id, call.call_text(&name, &call.all_args()), edit, true));
    }
}

/// Returns the name of CUDA's atomic that does what one of OpenCL does whose name ends like this.
fn cuda_name(operation: &str) -> &'static str {
    match operation {
        "sub" => "atomicSub",
        "min" => "atomicMin",
        "max" => "atomicMax",
        "and" => "atomicAnd",
        "or" => "atomicOr",
        _ => "atomicAdd",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_dereferenced_in_c_syntax() {
        assert_eq!(place_text("&bins[b + 1]"), "bins[b + 1]");
        assert_eq!(place_text("p"), "*p");
        assert_eq!(place_text("p + 1"), "*(p + 1)");
        assert_eq!(place_text("&a[0] + 1"), "*(&a[0] + 1)");
    }
}
