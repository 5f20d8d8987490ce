//! Makes edits of every shape, for every instruction that can have them.

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::instrument::mutants::edit;
use kassay_ir::instrument::mutants::{
    Action, Binary, Conversion, EdgeChange, Edit, Expr, Place, Predicate, Slot, Unary,
};
use kassay_ir::llvm::{AddressSpace, Block, Inst, Opcode, Value, View};

use super::support::Kernel;

/// The shape of a value: whether its lanes are floats, their width, and whether it is a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    float: bool,
    width: u32,
    vector: bool,
}

fn shape<'m>(value: impl Into<Value<'m>>) -> Option<Shape> {
    let ty = value.into().ty();
    let scalar = ty.scalar();
    let width = scalar.bits().filter(|_| scalar.is_integer() || scalar.is_float())?;
    Some(Shape { float: scalar.is_float(), width: width as u32, vector: ty.is_vector() })
}

fn boxed(e: &Expr) -> Box<Expr> {
    Box::new(e.clone())
}

pub fn binary(op: Binary, a: &Expr, b: &Expr) -> Expr {
    Expr::Binary(op, boxed(a), boxed(b))
}

fn compare(p: Predicate, a: &Expr, b: &Expr) -> Expr {
    Expr::Compare(p, boxed(a), boxed(b))
}

/// Returns other values of that shape for a value, computed from `Original` alone.
fn variants(shape: Shape) -> Vec<Expr> {
    use Expr::{Float, Integer, Original};
    let mut all = if shape.float {
        vec![
            Float(edit::Float(2.5)),
            Expr::Unary(Unary::FNeg, boxed(&Original)),
            binary(Binary::FSub, &Original, &Float(edit::Float(1.0))),
            binary(
                Binary::FMul,
                &Original,
                &Expr::Convert(
                    Conversion::Truth,
                    Box::new(compare(Predicate::FOgt, &Original, &Float(edit::Float(1.0)))),
                ),
            ),
        ]
    } else if shape.width == 1 {
        vec![Integer(0), Integer(1), Expr::Unary(Unary::Not, boxed(&Original))]
    } else {
        vec![
            Integer(3),
            Expr::Unary(Unary::Neg, boxed(&Original)),
            Expr::Unary(Unary::Not, boxed(&Original)),
            binary(Binary::Add, &Original, &Integer(1)),
            binary(Binary::SDiv, &Original, &binary(Binary::Or, &Original, &Integer(1))),
            binary(Binary::AShr, &Original, &Integer(77)),
            Expr::Select(
                Box::new(compare(Predicate::Slt, &Original, &Integer(5))),
                boxed(&Integer(9)),
                boxed(&Original),
            ),
            binary(
                Binary::Add,
                &Original,
                &Expr::Convert(Conversion::Truth, Box::new(compare(Predicate::Ugt, &Original, &Integer(3)))),
            ),
        ]
    };
    if shape.vector && shape.width > 1 {
        all.push(Expr::WithLane(boxed(&Original), 1, Box::new(Expr::Lane(boxed(&Original), 0))));
    }
    all
}

/// Returns other operations on the two operands.
fn operations(shape: Shape) -> Vec<Expr> {
    let (a, b) = (Expr::Operand(0), Expr::Operand(1));
    let ops: &[Binary] = if shape.float {
        &[Binary::FAdd, Binary::FSub, Binary::FMul, Binary::FDiv]
    } else {
        &[Binary::Add, Binary::Sub, Binary::Mul, Binary::And, Binary::Or, Binary::Xor, Binary::Shl, Binary::LShr]
    };
    let mut all: Vec<Expr> = ops.iter().map(|op| binary(*op, &a, &b)).collect();
    if !shape.float {
        let odd = binary(Binary::Or, &b, &Expr::Integer(1));
        all.push(binary(Binary::SRem, &a, &odd));
        all.push(binary(Binary::UDiv, &a, &odd));
    }
    all.push(a);
    all
}

/// Returns the edits of the instructions that `wanted` accepts.
pub fn all(kernel: &Kernel<'_>, wanted: &dyn Fn(Inst<'_>) -> bool) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (function, sites) in FunctionIndex::enumerate(&kernel.sites.functions) {
        let blocks = View::of(&kernel.module).function(&sites.cfg.function).unwrap().blocks();
        for (b, block) in BlockIndex::enumerate(&blocks).filter(|(b, _)| sites.cfg.reachable[*b]) {
            for (i, inst) in block.instructions().into_iter().enumerate().filter(|(_, inst)| wanted(*inst)) {
                let place = Place { function, block: b, instruction: i };
                at(&mut edits, &blocks, place, inst);
            }
        }
    }
    edits
}

fn at<'m>(edits: &mut Vec<Edit>, blocks: &[Block<'m>], place: Place, inst: Inst<'m>) {
    use Opcode::*;
    let value = |slot: Slot, by: Expr| Edit::Value { at: vec![slot], by };
    let result = Slot::Result(place);
    let operand = |i| Slot::Operand(place, i);
    let operands = inst.operands();
    match inst.opcode() {
        LLVMAdd | LLVMSub | LLVMMul | LLVMAnd | LLVMOr | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr | LLVMFAdd
        | LLVMFSub | LLVMFMul | LLVMFDiv => {
            let Some(shape) = shape(inst).filter(|s| s.width > 1) else { return };
            edits.extend(operations(shape).into_iter().map(|by| value(result, by)));
            edits.extend(variants(shape).into_iter().map(|by| value(result, by)));
            edits.extend(variants(shape).into_iter().map(|by| value(operand(0), by)));
            edits.extend(variants(shape).into_iter().take(3).map(|by| value(operand(1), by)));
            // Exchanges the operands; edits an operand and the result.
            edits.push(Edit::All(vec![value(operand(0), Expr::Operand(1)), value(operand(1), Expr::Operand(0))]));
            let first = variants(shape)[1].clone();
            edits.push(Edit::All(vec![value(operand(0), first.clone()), value(result, first)]));
        }
        LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem | LLVMFNeg => {
            let Some(shape) = shape(inst) else { return };
            edits.extend(variants(shape).into_iter().map(|by| value(result, by)));
            edits.extend(variants(shape).into_iter().take(2).map(|by| value(operand(0), by)));
        }
        LLVMICmp | LLVMFCmp => {
            let (Some(of), Some(own)) = (shape(operands[0]), shape(inst)) else { return };
            use Predicate::*;
            let predicates: &[Predicate] =
                if of.float { &[FOeq, FUne, FOlt, FOge] } else { &[Eq, Ne, Slt, Sge, Ult, Uge] };
            let both = |p: &Predicate| compare(*p, &Expr::Operand(0), &Expr::Operand(1));
            edits.extend(predicates.iter().map(|p| value(result, both(p))));
            edits.extend(variants(own).into_iter().map(|by| value(result, by)));
            edits.extend(variants(of).into_iter().take(2).map(|by| value(operand(1), by)));
        }
        LLVMStore => {
            let Some(shape) = shape(operands[0]) else { return };
            edits.extend(variants(shape).into_iter().map(|by| value(operand(0), by)));
            let add = if shape.float { Binary::FAdd } else { Binary::Xor };
            // The contents of private and local variables before their first store are undefined.
            if operands[1].ty().space() == Some(AddressSpace::Global) {
                edits.push(value(operand(0), binary(add, &Expr::Current, &Expr::Original)));
                edits.push(value(operand(0), Expr::Current));
                edits.push(Edit::Instead { at: vec![place], by: Action::Nothing });
            }
        }
        LLVMSelect => {
            edits.push(value(operand(0), Expr::Unary(Unary::Not, Box::new(Expr::Original))));
            edits.push(value(result, Expr::Operand(2)));
        }
        LLVMRet | LLVMSwitch => {
            let Some(shape) = operands.first().and_then(|o| shape(*o)) else { return };
            edits.extend(variants(shape).into_iter().take(4).map(|by| value(operand(0), by)));
            if inst.is(LLVMSwitch) {
                edits.extend(redirects(blocks, place, inst));
            }
        }
        LLVMPHI => {
            let Some(shape) = shape(inst) else { return };
            edits.extend(variants(shape).into_iter().map(|by| value(result, by)));
        }
        LLVMBr if inst.successors().len() == 2 => {
            edits.extend(variants(shape(operands[0]).unwrap()).into_iter().map(|by| value(operand(0), by)));
            let redirects = redirects(blocks, place, inst);
            // Edits a condition and an edge at once.
            if let Some(edge) = redirects.first() {
                let not = Expr::Unary(Unary::Not, Box::new(Expr::Original));
                edits.push(Edit::All(vec![value(operand(0), not), edge.clone()]));
            }
            edits.extend(redirects);
        }
        LLVMCall => {
            let callee = inst.callee().unwrap_or_default();
            if callee == "_Z3maxii" {
                let args = vec![Expr::Operand(0), Expr::Operand(1)];
                edits.push(value(result, Expr::Call { callee: "_Z3minii".into(), args }));
                edits.push(value(operand(1), Expr::Integer(50)));
            }
            if callee.contains("barrier") {
                edits.push(Edit::Instead { at: vec![place], by: Action::Nothing });
            }
            if let Some(rest) = callee.strip_prefix("_Z10atomic_add") {
                let args = vec![Expr::Operand(0), Expr::Operand(1)];
                let by = Action::Call { callee: format!("_Z10atomic_sub{rest}"), args };
                edits.push(Edit::Instead { at: vec![place], by });
                edits.push(Edit::Instead { at: vec![place], by: Action::Nothing });
                edits.push(value(operand(1), Expr::Integer(1)));
            }
            if shape(inst).is_some_and(|s| s.width == 32 && !s.float && !s.vector) && !callee.starts_with("_Z") {
                edits.extend(variants(shape(inst).unwrap()).into_iter().map(|by| value(result, by)));
            }
        }
        _ => {}
    }
}

/// Redirects each edge to the target of the next one, and exchanges two edges, where `phi`s allow it.
fn redirects<'m>(blocks: &[Block<'m>], place: Place, inst: Inst<'m>) -> Vec<Edit> {
    let successors = inst.successors();
    let to = |s: usize| blocks.iter().position(|b| *b == successors[s]).map(BlockIndex).unwrap();
    let change = |successor: usize, target: usize, phi| EdgeChange {
        function: place.function,
        block: place.block,
        successor,
        to: to(target),
        phi,
    };
    let n = successors.len();
    let mut all: Vec<Edit> = (0..n).map(|s| Edit::Redirect { edges: vec![change(s, (s + 1) % n, None)] }).collect();
    all.push(Edit::Redirect { edges: vec![change(0, 1, None), change(1, 0, None)] });
    for (s, successor) in successors.iter().enumerate() {
        let phis = successor.instructions();
        if phis[0].is(Opcode::LLVMPHI) && shape(phis[0]).is_some_and(|s| s.width == 1) {
            all.push(Edit::Redirect { edges: vec![change((s + 1) % n, s, Some(true))] });
            all.push(Edit::Redirect { edges: vec![change(s, s, Some(true))] });
            all.push(Edit::Redirect { edges: vec![change(s, s, Some(false))] });
        }
    }
    all
}
