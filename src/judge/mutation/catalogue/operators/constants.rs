//! LVR: replaces constants by 0, 1, -1, the value plus one and the value minus one.
//!
//! A literal, or the name of an enumerator, that is part of a larger constant expression changes the value that clang
//! folds that expression to. Covered are initial values, arguments, indices and operands; not covered are array sizes,
//! `case` labels and barrier flags.

use kassay_ir::instrument::mutants::{Edit, Expr, Float, Place, Slot};
use kassay_ir::kernel::ast::{Ast, Node};
use kassay_ir::kernel::folding::{self, Value};
use kassay_ir::llvm::{self, Inst, Opcode};

use super::super::control::effects::{Body, bodies};
use super::super::control::text;
use super::super::level::{self, Concept};
use super::super::mutant::{Excluded, Mutant};
use super::super::source_ops::{Literal, literals};
use super::super::subject::{Operator, OperatorOutput, Subject};

/// Replaces constants.
pub const LVR: Operator = Operator {
    id: "LVR",
    name: "literal value replacement",
    class: "constant",
    description: "a constant `c` by 0, 1, -1, c + 1, c - 1, where different",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Constants,
    levels: level::SOURCE,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    if let Some(ast) = subject.ast {
        for literal in literals(subject) {
            mutate_literal(ast, &literal, found);
        }
    }
    for body in bodies(subject).iter().filter(|body| body.written.is_none()) {
        mutate_constant_operands(subject, body, found);
    }
}

fn mutate_literal(ast: &Ast, literal: &Literal<'_>, found: &mut OperatorOutput) {
    let exclude = |reason: &str| Excluded {
        operator: "LVR",
        function: literal.function_name.clone(),
        range: Some(literal.range.clone()),
        reason: reason.to_owned(),
    };
    if literal.node.name.as_deref().is_some_and(is_order_or_scope) {
        return found.excluded.push(exclude("orders and scopes of atomics have to be known when the kernel is built"));
    }
    let folded = match &literal.folded {
        Ok(folded) => folded,
        Err(reason) => return found.excluded.push(exclude(reason)),
    };
    let Some(value) = folding::value(ast, literal.node) else {
        return found.excluded.push(exclude("its value is not known"));
    };
    for new in replacements(value) {
        let decimal = match new {
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
        };
        // The value after the largest of a type has another type.
        let is_other_type = matches!(new, Value::Integer(n) if n >= 0) && literal.converted(ast, &decimal) != Some(new);
        let Some(by) = literal.replaced(ast, &decimal).filter(|_| !is_other_type) else { continue };
        found.mutants.push(Mutant {
            id: String::new(),
            operator: "LVR",
            function: literal.function_name.clone(),
            original: literal.text.clone(),
            replacement: literal_text(new, &literal.text, literal.node),
            range: Some(literal.range.clone()),
            spelling: literal.spelling.clone(),
            edit: Edit::Value { at: folded.slots.clone(), by },
            is_structural: false,
        });
    }
}

/// Returns whether an enumerator is an order or a scope of an atomic (OpenCL C 2.0, 6.13.11).
fn is_order_or_scope(enumerator: &str) -> bool {
    enumerator.starts_with("memory_order_") || enumerator.starts_with("memory_scope_")
}

/// Returns 0, 1, -1, the value plus one and minus one, without `value` itself and without repetition.
fn replacements(value: Value) -> Vec<Value> {
    let all = match value {
        Value::Integer(c) => [0, 1, -1, c.saturating_add(1), c.saturating_sub(1)].map(Value::Integer),
        Value::Float(c) => [0.0, 1.0, -1.0, c + 1.0, c - 1.0].map(Value::Float),
    };
    let mut found: Vec<Value> = Vec::new();
    for new in all {
        if new != value && !found.contains(&new) {
            found.push(new);
        }
    }
    found
}

/// Returns a value as source text, with the suffix of the original; a negative one in parentheses, because a `-` may
/// precede it.
fn literal_text(value: Value, original: &str, literal: &Node) -> String {
    let suffix = match value {
        Value::Integer(_) if literal.is("IntegerLiteral") => {
            &original[original.trim_end_matches(['u', 'U', 'l', 'L']).len()..]
        }
        // A hexadecimal one has an exponent in decimal digits before its suffix.
        Value::Float(_) => &original[original.trim_end_matches(['f', 'F', 'h', 'H']).len()..],
        _ => "",
    };
    let text = match value {
        Value::Integer(value) => format!("{value}{suffix}"),
        Value::Float(value) => format!("{value:?}{suffix}"),
    };
    if text.starts_with('-') { format!("({text})") } else { text }
}

/// Without a syntax tree: mutates constant operands of arithmetic, comparisons, stores and calls.
fn mutate_constant_operands(subject: &Subject<'_>, body: &Body<'_>, found: &mut OperatorOutput) {
    for (place, inst) in body.instructions() {
        let at = body.location(place).filter(|at| at.line > 0);
        let here = at.and_then(|at| subject.sources.at(&at.file, at.line, at.column)).unwrap_or_default();
        for operand in constant_operands(inst, &here) {
            let Some(value) = inst.operands().get(operand as usize).copied().and_then(constant_number) else {
                continue;
            };
            for new in replacements(value) {
                let by = match new {
                    Value::Integer(value) => Expr::Integer(value),
                    Value::Float(value) => Expr::Float(Float(value)),
                };
                found.mutants.push(operand_mutant(body, place, operand, value, new, by));
            }
        }
    }
}

fn operand_mutant(body: &Body<'_>, place: Place, operand: u32, old: Value, new: Value, by: Expr) -> Mutant {
    let text = |value| match value {
        Value::Integer(value) => format!("{value}"),
        Value::Float(value) => format!("{value:?}"),
    };
    Mutant {
        id: String::new(),
        operator: "LVR",
        function: body.name().to_owned(),
        original: text(old),
        replacement: text(new),
        range: text::spot(body.location(place), 0),
        spelling: None,
        edit: Edit::Value { at: vec![Slot::Operand(place, operand)], by },
        is_structural: false,
    }
}

/// Returns the operands in which a constant may stem from the source, by opcode and the token at the
/// instruction's location.
fn constant_operands(inst: Inst<'_>, here: &str) -> Vec<u32> {
    let is_constant = |operand: u32| inst.operands().get(operand as usize).copied().and_then(constant_number);
    let is_zero = |operand| is_constant(operand) == Some(Value::Integer(0));
    match inst.opcode() {
        // A truth test compares with a 0 that is not in the source; `!`, `~` and `-` are implemented with a constant.
        Opcode::LLVMICmp if is_zero(1) && !here.starts_with(['<', '>', '=']) && !here.starts_with("!=") => vec![],
        Opcode::LLVMXor if is_constant(1) == Some(Value::Integer(-1)) => vec![],
        Opcode::LLVMSub if is_zero(0) => vec![1],
        Opcode::LLVMAnd if here.starts_with("<<") || here.starts_with(">>") => vec![],
        Opcode::LLVMAdd | Opcode::LLVMFAdd if here.starts_with("++") || here.starts_with("--") => vec![],
        Opcode::LLVMAdd
        | Opcode::LLVMSub
        | Opcode::LLVMMul
        | Opcode::LLVMSDiv
        | Opcode::LLVMUDiv
        | Opcode::LLVMSRem
        | Opcode::LLVMURem
        | Opcode::LLVMShl
        | Opcode::LLVMLShr
        | Opcode::LLVMAShr
        | Opcode::LLVMAnd
        | Opcode::LLVMOr
        | Opcode::LLVMXor
        | Opcode::LLVMFAdd
        | Opcode::LLVMFSub
        | Opcode::LLVMFMul
        | Opcode::LLVMFDiv
        | Opcode::LLVMICmp
        | Opcode::LLVMFCmp => vec![0, 1],
        Opcode::LLVMStore => vec![0],
        Opcode::LLVMCall => {
            let callee = inst.callee().unwrap_or_default();
            let is_excluded = callee.starts_with("llvm.")
                || callee.contains("memory_order")
                || super::super::control::effects::barrier_or_fence(&callee).is_some();
            let count = inst.operands().len().saturating_sub(1) as u32;
            if is_excluded { vec![] } else { (0..count).collect() }
        }
        _ => vec![],
    }
}

/// Returns the value of a constant scalar number other than a truth value.
fn constant_number(value: llvm::Value<'_>) -> Option<Value> {
    if value.ty().is_bool() {
        return None;
    }
    let integer = value.as_i64().map(|n| Value::Integer(i128::from(n)));
    integer.or_else(|| value.as_f64().map(|(n, _)| Value::Float(n)))
}
