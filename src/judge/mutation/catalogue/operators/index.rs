//! Indices of work-items and work-groups: `GIR` replaces one by another, `GII` and `GID` add and subtract 1.

use std::collections::BTreeSet;

use kassay_ir::instrument::mutants::edit::{Binary, Edit, Expr, Slot};
use kassay_ir::kernel::builtins;

use super::super::level::{self, Concept};
use super::super::subject::{Operator, OperatorOutput, Preset, Subject};
use super::calls::{self, Call};

/// Replaces an index by another of the three (LIU, table 6.2), or by that of another dimension.
pub const GIR: Operator = Operator {
    id: "GIR",
    name: "index replacement",
    class: "index",
    description: "`get_global_id`, `get_local_id`, `get_group_id` by another of the three; by another dimension that the kernel \
           asks for (ours, not in preset `liu`)",
    origin: "LIU, ours",
    peng: false,
    liu: true,
    concept: Concept::Index,
    levels: level::SOURCE,
    enumerate: gir,
};

/// Adds 1 to an index (LIU).
pub const GII: Operator = Operator {
    id: "GII",
    name: "index increment",
    class: "index",
    description: "`get_global_id`, `get_local_id`, `get_group_id` plus 1",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Index,
    levels: level::SOURCE,
    enumerate: gii,
};

/// Subtracts 1 from an index (LIU).
pub const GID: Operator = Operator {
    id: "GID",
    name: "index decrement",
    class: "index",
    description: "`get_global_id`, `get_local_id`, `get_group_id` minus 1",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Index,
    levels: level::SOURCE,
    enumerate: gid,
};

const INDICES: [&str; 3] = ["get_global_id", "get_local_id", "get_group_id"];

fn indices(subject: &Subject<'_>) -> Vec<Call> {
    calls::find(subject, |name| INDICES.contains(&name))
}

fn change(call: &Call, operator: &'static str, replacement: String, by: Expr, found: &mut OperatorOutput) {
    let at = call.places.iter().map(|place| Slot::Result(*place)).collect();
    found.mutants.push(call.mutant(operator, replacement, Edit::Value { at, by }, false));
}

fn gir(subject: &Subject<'_>, found: &mut OperatorOutput) {
    replace(subject, GIR.id, found);
}

/// Replaces each index by the others, and by that of other dimensions.
pub(super) fn replace(subject: &Subject<'_>, operator: &'static str, found: &mut OperatorOutput) {
    let calls = indices(subject);
    let dimension = |call: &Call| call.constant(0).filter(|d| (0..3).contains(d));
    // In a dimension that the kernel does not use, the index is always 0.
    let used: BTreeSet<i64> = calls.iter().filter_map(dimension).collect();
    for call in &calls {
        let Some(own) = dimension(call) else {
            call.exclude(operator, "its dimension is no constant below 3", found);
            continue;
        };
        for other in INDICES.into_iter().filter(|other| *other != call.name) {
            let callee = builtins::mangle(other, &call.params);
            let text = words(call, other, &call.arg_or(0, own), own);
            change(call, operator, text, Expr::Call { callee, args: vec![Expr::Operand(0)] }, found);
        }
        if matches!(subject.preset, Preset::Liu | Preset::MutGpu) {
            continue;
        }
        for other in used.iter().filter(|other| **other != own) {
            let by = Expr::Call { callee: call.callee.clone(), args: vec![Expr::Integer((*other).into())] };
            change(call, operator, words(call, &call.name, &other.to_string(), *other), by, found);
        }
    }
}

/// Returns the text that asks for an index; `argument`: the text of the dimension.
fn words(call: &Call, name: &str, argument: &str, dimension: i64) -> String {
    let letter = ['x', 'y', 'z'].get(dimension as usize).filter(|_| call.is_of_cuda);
    match (name, letter) {
        ("get_local_id", Some(letter)) => format!("threadIdx.{letter}"),
        ("get_group_id", Some(letter)) => format!("blockIdx.{letter}"),
        (_, Some(letter)) => format!("(blockIdx.{letter} * blockDim.{letter} + threadIdx.{letter})"),
        (_, None) => call.call_text(name, &[argument.to_owned()]),
    }
}

/// Adds 1 to each index, or subtracts it.
pub(super) fn step(
    subject: &Subject<'_>,
    operator: &'static str,
    binary: Binary,
    sign: char,
    found: &mut OperatorOutput,
) {
    for call in indices(subject) {
        let by = Expr::Binary(binary, Box::new(Expr::Original), Box::new(Expr::Integer(1)));
        change(&call, operator, format!("{} {sign} 1", call.text), by, found);
    }
}

fn gii(subject: &Subject<'_>, found: &mut OperatorOutput) {
    step(subject, GII.id, Binary::Add, '+', found);
}

fn gid(subject: &Subject<'_>, found: &mut OperatorOutput) {
    step(subject, GID.id, Binary::Sub, '-', found);
}
