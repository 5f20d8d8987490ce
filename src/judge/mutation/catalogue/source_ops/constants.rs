//! Locates constants of the source in the IR. clang folds constant expressions, so an operator or literal within one
//! has no instruction; the nearest ancestor with an instruction holds the folded value as an operand.

use kassay_ir::instrument::mutants::Slot;
use kassay_ir::kernel::ast::Node;
use kassay_ir::kernel::folding::{self, Value};
use kassay_ir::llvm::Opcode as Op;

use super::super::mutant::{SourceRange, Spot, same_file};
use super::c_types::is_pointer_type;
use super::context::Context;
use super::folded::Folded;
use super::found_operands::Wanted;
use super::instances;
use super::instructions::{Constant, Instruction};
use super::kinds::{BinaryOp, OperationKind};
use super::syntax::{self, SourceOperator};

/// Finds the operands that hold the constant expression around `node`.
///
/// # Errors
/// The reason, if there are none.
pub fn folded<'a>(
    context: &Context<'a, '_>,
    written: &[SourceOperator<'a>],
    node: &'a Node,
    ancestors: &[&'a Node],
) -> Result<Folded<'a>, &'static str> {
    let mut rest = ancestors.len();
    let mut constant = node;
    while let Some(parent) = rest.checked_sub(1).map(|i| ancestors[i]) {
        // The value of a constexpr call is known, but where it is no condition clang emits the call.
        if parent.is("CallExpr") || folding::constant(context.ast, parent).is_none() {
            break;
        }
        constant = parent;
        rest -= 1;
    }
    let value = folding::value(context.ast, constant).ok_or("its value is not known")?;
    // Casts that folding does not evaluate (to half, to vectors) leave a constant in the IR too.
    let mut child = constant;
    while let Some(parent) = rest.checked_sub(1).map(|i| ancestors[i]) {
        if !matches!(&*parent.kind, "ParenExpr" | "ImplicitCastExpr" | "CStyleCastExpr") {
            break;
        }
        child = parent;
        rest -= 1;
    }
    let Some(parent) = rest.checked_sub(1).map(|i| ancestors[i]) else { return Err("nothing uses its value") };
    if matches!(&*parent.kind, "IfStmt" | "SwitchStmt" | "WhileStmt" | "DoStmt" | "ForStmt")
        || (parent.is("ConditionalOperator") && parent.children.first().is_some_and(|c| std::ptr::eq(c, child)))
        || parent.is_short_circuit()
    {
        return Err("clang decides by it which way the code goes: nothing is left of it");
    }
    let search = OperandSearch { context, written, value };
    let (slots, is_negated) = search.operands(parent, child, &ancestors[..rest]);
    let first = *slots.first().ok_or("no operand with its value is found")?;
    let is_float = matches!(search.constant_at(first), Some(Constant::Float(_)));
    Ok(Folded { slots, constant, value, is_negated, is_float })
}

/// Where operands that hold a value may be sought.
enum Where {
    /// In the instructions at a file's line and column.
    At(String, u32, u32),
    /// In these.
    Among(Vec<usize>),
}

struct OperandSearch<'a, 'c, 's> {
    context: &'s Context<'a, 'c>,
    written: &'s [SourceOperator<'a>],
    value: Value,
}

impl<'a> OperandSearch<'a, '_, '_> {
    fn constant_at(&self, slot: Slot) -> Option<Constant> {
        let Slot::Operand(place, operand) = slot else { return None };
        let code = self.context.code;
        let i = code.position(place)?;
        code.constant(i, operand as usize)
    }

    /// Returns the operands of `parent`'s instructions that hold the value of `child`, and whether they hold
    /// its negation.
    fn operands(&self, parent: &Node, child: &Node, ancestors: &[&Node]) -> (Vec<Slot>, bool) {
        let code = self.context.code;
        let index = parent.children.iter().position(|c| std::ptr::eq(c, child)).unwrap_or(0);
        let kind = OperationKind::of(parent);
        let moves_pointer = kind.is_some() && parent.canonical_type().is_some_and(is_pointer_type);
        let is_negated = moves_pointer
            && matches!(
                kind,
                Some(OperationKind::Binary(BinaryOp::Sub) | OperationKind::CompoundAssign(BinaryOp::Sub))
            );
        let wanted = Wanted {
            at: None,
            value: match self.value {
                Value::Integer(value) => (value.cast_unsigned(), false),
                Value::Float(value) => (value.to_bits().into(), true),
            },
            kind,
            node: parent.kind.to_string(),
            children: parent.children.len(),
            passes_object: passes_object(parent),
            index,
            moves_pointer,
            is_negated,
        };
        let among = |here: &[usize]| -> Vec<Slot> {
            let reachable = here.iter().copied().filter(|i| code.instructions[*i].is_reachable);
            reachable.flat_map(|i| self.operands_of(i, parent, &wanted)).collect()
        };
        for place in self.places(parent, child, ancestors) {
            let all = match place {
                Where::Among(here) => among(&here),
                Where::At(file, line, column) => {
                    let find = || among(&code.at(&file, line, column));
                    let wanted = Wanted { at: Some((file.clone(), line, column)), ..wanted.clone() };
                    self.context.operands.known.borrow_mut().entry(wanted).or_insert_with(find).clone()
                }
            };
            // Copies of one macro argument share a location: all of the operator's instructions there are meant.
            if all.len() == 1 || (all.len() > 1 && kind.is_some()) {
                return (all, is_negated);
            }
        }
        (Vec::new(), is_negated)
    }

    /// Returns the operands of one instruction that can hold the value, and do.
    fn operands_of(&self, i: usize, parent: &Node, wanted: &Wanted) -> Vec<Slot> {
        let Wanted { kind, index, moves_pointer, is_negated, passes_object, .. } = *wanted;
        let own = &self.context.code.instructions[i];
        let count = own.operands.len();
        let last = count.saturating_sub(1);
        let is_gep = own.opcode == Op::LLVMGetElementPtr;
        let wanted: Vec<usize> = match kind {
            _ if own.opcode == Op::LLVMPHI || own.opcode == Op::LLVMAlloca || own.opcode == Op::LLVMSwitch => vec![],
            Some(_) if moves_pointer => Vec::from_iter(is_gep.then_some(last)),
            Some(OperationKind::Assign) => Vec::from_iter((own.opcode == Op::LLVMStore).then_some(0)),
            Some(OperationKind::Binary(_) | OperationKind::Compare(_) | OperationKind::CompoundAssign(_)) => {
                let is_binary = count == 2 && !matches!(own.opcode, Op::LLVMStore | Op::LLVMCall) && !is_gep;
                let is_fused = instances::is_fused(own);
                if is_fused { (0..3).collect() } else { Vec::from_iter(is_binary.then_some(index)) }
            }
            Some(_) => vec![],
            None if parent.is("ArraySubscriptExpr") => Vec::from_iter(is_gep.then_some(last)),
            // Arguments in order; the callee is the last operand.
            None if parent.is("CallExpr") && own.opcode == Op::LLVMCall => {
                let hidden = if passes_object { last.saturating_sub(parent.children.len() - 1) } else { 0 };
                let argument = index.checked_sub(1).map(|argument| argument + hidden);
                let is_meant = !is_copy_of_argument(own, parent);
                Vec::from_iter(argument.filter(|argument| *argument < last && is_meant))
            }
            None if parent.is("CallExpr") => vec![],
            None if own.opcode == Op::LLVMCall || is_gep => vec![],
            None if own.opcode == Op::LLVMInsertElement => vec![1],
            None if own.opcode == Op::LLVMStore => vec![0],
            None if own.opcode == Op::LLVMSelect => vec![1, 2],
            None => (0..count).collect(),
        };
        let is_shift = matches!(own.opcode, Op::LLVMShl | Op::LLVMLShr | Op::LLVMAShr);
        (wanted.into_iter())
            .filter(|operand| self.holds(i, *operand, own, is_shift && *operand == 1, is_negated))
            .map(|operand| Slot::Operand(own.place, operand as u32))
            .collect()
    }

    fn holds(&self, i: usize, operand: usize, own: &Instruction, is_amount: bool, is_negated: bool) -> bool {
        let Some(constant) = self.context.code.constant(i, operand) else { return false };
        match (constant, self.value) {
            (Constant::Integer(..), Value::Integer(value)) => {
                let value = if is_negated { -value } else { value };
                let amount = own.ty.map_or(value, |ty| value.rem_euclid(i128::from(ty.bits.max(1))));
                constant.is_integer(value) || (is_amount && constant.is_integer(amount))
            }
            (Constant::Float(constant), value) => {
                let value = match value {
                    Value::Integer(value) => value as f64,
                    Value::Float(value) => value,
                };
                // A half is less precise than the arithmetic of folding.
                constant == value || (constant - value).abs() <= value.abs() * 1e-3
            }
            (Constant::Integer(..), Value::Float(value)) => constant.is_integer(value as i128),
            // The null pointer is no number that could be another one.
            (Constant::Null, _) => false,
        }
    }

    /// Returns where the instructions of `parent` may be, most likely candidates first.
    fn places(&self, parent: &Node, child: &Node, ancestors: &[&Node]) -> Vec<Where> {
        let at = |range: &SourceRange| Where::At(range.file.clone(), range.start.line, range.start.column);
        let begin = |node: &Node| {
            let range = node.range.as_ref()?;
            let at = self.context.function.place(&range.begin);
            Some(Where::At(at.file.to_string(), at.line, at.column))
        };
        let mut all = Vec::new();
        // Of several for one node, the first.
        let by_node =
            || self.written.iter().enumerate().rev().map(|(i, own)| (std::ptr::from_ref(own.node), i)).collect();
        let written = self.context.operands.written.get_or_init(by_node);
        if let Some(own) = written.get(&std::ptr::from_ref(parent)) {
            all.push(at(&self.written[*own].range));
        }
        if parent.is("VarDecl") {
            all.extend(self.initialiser(parent, child).map(Where::Among));
        }
        all.extend(begin(parent));
        // Calls of members and of overloaded operators (C++ for OpenCL) are at the member's name or the operator.
        if parent.is("CallExpr")
            && passes_object(parent)
            && let Some(range) = parent.children.first().and_then(|callee| callee.range.as_ref())
        {
            let named = self.context.function.place(&range.end);
            all.push(Where::At(named.file.to_string(), named.line, named.column));
        }
        let outer = ancestors.iter().rev().skip(1);
        match parent.is("InitListExpr") || parent.is("CompoundLiteralExpr") || parent.is("CallExpr") {
            true => {}
            false if parent.canonical_type().is_some_and(is_pointer_type) => {
                all.extend(outer.take(3).filter_map(|a| begin(a)))
            }
            false => {}
        }
        all
    }

    /// Returns the stores at a variable's name, which is between its type and its initial value.
    fn initialiser(&self, parent: &Node, child: &Node) -> Option<Vec<usize>> {
        let whole = syntax::extent(self.context.function, parent)?;
        let value = syntax::extent(self.context.function, child)?;
        let code = self.context.code;
        let is_there = |i: &usize| {
            let own = &code.instructions[*i];
            own.opcode == Op::LLVMStore
                && own.location.as_ref().is_some_and(|at| {
                    let here = Spot { line: at.line, column: at.column };
                    same_file(&at.file, &whole.file) && whole.start <= here && here < value.start
                })
        };
        Some((0..code.instructions.len()).filter(is_there).collect())
    }
}

/// Returns whether an instruction at a call in the source is not that call, but what brings an argument or a result to
/// its place: clang copies and marks memory by intrinsics.
fn is_copy_of_argument(own: &Instruction, call: &Node) -> bool {
    let is_intrinsic = |callee: &String| callee.starts_with("llvm.mem") || callee.starts_with("llvm.lifetime");
    own.callee.as_ref().is_some_and(is_intrinsic) && !call.name.as_deref().is_some_and(|name| name.contains("mem"))
}

/// Returns whether a call may have operands before its arguments: those of members and constructors (C++ for OpenCL)
/// get the object, and the memory for a result that is an object.
fn passes_object(call: &Node) -> bool {
    let callee = call.children.first();
    callee.is_some_and(|callee| {
        let named = callee.without_parentheses();
        matches!(&*named.kind, "" | "MemberExpr") || named.referenced_kind.as_deref() == Some("CXXMethodDecl")
    })
}
