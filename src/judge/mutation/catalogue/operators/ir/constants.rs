//! ICN: replaces constant operands.

use kassay_ir::instrument::mutants::edit::{Float, PhiValue};
use kassay_ir::instrument::mutants::{Binary, Expr};
use kassay_ir::kernel::builtins::{Builtin, Family};
use kassay_ir::llvm::{AttributeIndex, Inst, Opcode, Value};

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::order;
use super::site::{Site, is_number, shown_with, sites};

/// Replaces constants.
pub const ICN: Operator = Operator {
    id: "ICN",
    name: "constant operand replacement",
    class: "constant",
    description: "a constant operand `c` by 0, 1, -1, c + 1, c - 1, where different; a boolean by the other one",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Constants,
    levels: level::IR,
    enumerate,
};

/// A constant as edits have it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Constant {
    /// An integer of so many bits, its sign extended.
    Integer(i128, u32),
    Float(f64, u64),
    /// A vector of different lanes; true if these are floats.
    Lanes(bool),
}

/// What stands for a constant.
enum Replacement {
    Integer(i128),
    Float(f64),
    /// The constant plus this, in each lane.
    Step(i128, bool),
}

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for site in sites(subject, |inst| !is_left_out(inst)) {
        match site.inst.is(Opcode::LLVMPHI) {
            true => phi(&site, found),
            false => operands(&site, found),
        }
    }
}

/// Returns whether an instruction has no operands that could be other constants: it has none, an index of it is for
/// another operator, or what is reached follows from it.
fn is_left_out(inst: Inst<'_>) -> bool {
    use Opcode::*;
    matches!(inst.opcode(), LLVMAlloca | LLVMGetElementPtr | LLVMBr | LLVMSwitch | LLVMFence | LLVMUnreachable)
}

fn operands(site: &Site<'_>, found: &mut OperatorOutput) {
    let count = if site.inst.is_call() { site.inst.arg_count() } else { site.inst.operand_count() };
    for i in (0..count).filter(|i| !is_fixed(site.inst, *i)) {
        let Some(own) = constant(site.inst.operand(i)) else { continue };
        for replacement in replacements(own) {
            let text = shown_with(site.inst, &|at| (at == i).then(|| replacement.text(site.inst.operand(i))));
            site.replace(ICN.id, site.operand(i), replacement.expr(), text, found);
        }
    }
}

/// Replaces constants that a `phi` takes. A predecessor that stands there twice gives one value, so such are left.
fn phi(site: &Site<'_>, found: &mut OperatorOutput) {
    let incoming = site.inst.incoming();
    let constants: Vec<Option<Constant>> = incoming.iter().map(|(value, _)| constant(*value)).collect();
    if constants.iter().all(Option::is_none) {
        return;
    }
    if (1..incoming.len()).any(|i| incoming[..i].iter().any(|(_, block)| *block == incoming[i].1)) {
        return site.exclude(ICN.id, "one block leads to it in several ways", found);
    }
    for (i, own) in (0..).zip(constants).filter_map(|(i, own): (u32, _)| Some((i, own?))) {
        for replacement in replacements(own) {
            let Some(by) = replacement.phi_value() else {
                site.exclude(ICN.id, "a vector of different constants", found);
                break;
            };
            let values = (0..incoming.len() as u32).map(|at| if at == i { by.clone() } else { PhiValue::Incoming(at) });
            let value = incoming[i as usize].0;
            let text = shown_with(site.inst, &|at| (at == i).then(|| replacement.text(value)));
            site.replace(ICN.id, site.result(), Expr::Phi(values.collect()), text, found);
        }
    }
}

/// Returns whether an operand has to be the constant that it is, or belongs to another operator.
fn is_fixed(inst: Inst<'_>, operand: u32) -> bool {
    match inst.opcode() {
        // Components are chosen by constants.
        Opcode::LLVMExtractElement => operand == 1,
        Opcode::LLVMInsertElement => operand == 2,
        Opcode::LLVMCall => is_fixed_argument(inst, operand),
        _ => false,
    }
}

fn is_fixed_argument(call: Inst<'_>, argument: u32) -> bool {
    let Some(function) = call.called_function() else { return true };
    let name = function.name();
    if name.starts_with("llvm.") {
        return name.starts_with("llvm.mem")
            || name.starts_with("llvm.lifetime")
            || name.starts_with("llvm.assume")
            || function.attributes(AttributeIndex::Parameter(argument)).has("immarg");
    }
    if function.has_body() {
        return false;
    }
    if name.contains("__translate_sampler_initializer") {
        return true;
    }
    let Some(builtin) = Builtin::of(&name) else { return false };
    match builtin.family() {
        Family::WorkItemId
        | Family::LaunchQuery
        | Family::SubGroupQuery
        | Family::Barrier
        | Family::SubGroupBarrier
        | Family::Fence
        | Family::WorkGroupFunction
        | Family::SubGroupFunction
        | Family::IntelSubGroupFunction
        | Family::SpirvGroup
        | Family::Printf => true,
        _ if builtin.is_spirv() => true,
        _ => order::is_order(call, argument),
    }
}

/// Returns the constant of a value; `None` if it is no number.
fn constant(value: Value<'_>) -> Option<Constant> {
    if !value.is_constant() || value.is_undef() || !is_number(value.ty()) {
        return None;
    }
    if let Some(number) = value.as_i64() {
        return Some(Constant::Integer(number.into(), value.ty().int_width()?));
    }
    if let Some((number, _)) = value.as_f64() {
        return Some(Constant::Float(number, value.ty().bits()?));
    }
    let lanes = value.ty().lanes().filter(|_| value.is_constant_vector())?;
    let lanes: Vec<Option<Constant>> = (0..lanes).map(|i| value.element(i).and_then(constant)).collect();
    let first = (*lanes.first()?)?;
    match lanes.iter().all(|lane| *lane == Some(first)) {
        true => Some(first),
        false if lanes.iter().all(Option::is_some) => Some(Constant::Lanes(value.ty().scalar().is_float())),
        false => None,
    }
}

fn replacements(own: Constant) -> Vec<Replacement> {
    match own {
        Constant::Integer(own, 1) => vec![Replacement::Integer(i128::from(own == 0))],
        Constant::Integer(own, width) => {
            // Numbers of a width are told apart by their bits.
            let mask = (1i128 << width) - 1;
            let mut all: Vec<i128> = Vec::new();
            for other in [0, 1, -1, own + 1, own - 1] {
                if other & mask != own & mask && !all.iter().any(|known| known & mask == other & mask) {
                    all.push(other);
                }
            }
            all.into_iter().map(Replacement::Integer).collect()
        }
        Constant::Float(own, width) => {
            let rounded = |x: f64| if width <= 32 { f64::from(x as f32) } else { x };
            let mut all: Vec<f64> = Vec::new();
            for other in [0.0, 1.0, -1.0, rounded(own + 1.0), rounded(own - 1.0)] {
                if other.is_finite() && other != own && !all.contains(&other) {
                    all.push(other);
                }
            }
            all.into_iter().map(Replacement::Float).collect()
        }
        Constant::Lanes(is_float) => {
            let same = [0, 1, -1]
                .map(|n| if is_float { Replacement::Float(f64::from(n)) } else { Replacement::Integer(n.into()) });
            let steps = [1, -1].map(|by| Replacement::Step(by, is_float));
            same.into_iter().chain(steps).collect()
        }
    }
}

impl Replacement {
    fn expr(&self) -> Expr {
        match self {
            Replacement::Integer(n) => Expr::Integer(*n),
            Replacement::Float(x) => Expr::Float(Float(*x)),
            Replacement::Step(by, is_float) => {
                let op = if *is_float { Binary::FAdd } else { Binary::Add };
                Expr::Binary(op, Box::new(Expr::Original), Box::new(Expr::Integer(*by)))
            }
        }
    }

    fn phi_value(&self) -> Option<PhiValue> {
        match self {
            Replacement::Integer(n) => Some(PhiValue::Integer(*n)),
            Replacement::Float(x) => Some(PhiValue::Float(Float(*x))),
            Replacement::Step(..) => None,
        }
    }

    /// The text in place of the constant `own`.
    fn text(&self, own: Value<'_>) -> String {
        match self {
            Replacement::Integer(n) if own.ty().scalar().is_bool() => (*n != 0).to_string(),
            Replacement::Integer(n) => n.to_string(),
            Replacement::Float(x) => format!("{x:?}"),
            Replacement::Step(by, _) => format!("{} {by:+}", super::site::shown(own)),
        }
    }
}
